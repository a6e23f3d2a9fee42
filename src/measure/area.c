#include "measure/area.h"

/* Where corners are on the ground, from the lower left one of the region. */
typedef struct area_frame {
    const mote_region *region;
    double scale[3]; /* what one of a coordinate is on the ground */
} area_frame;

static void place(const area_frame *frame, const double corner[3], double out[3]) {
    for (int k = 0; k < 2; k++) {
        const int64_t steps = region_steps(frame->region, corner[k]) - frame->region->low[k];
        out[k] = (double)steps / frame->region->steps_per_unit * frame->scale[k];
    }
    const double z = corner[2] == corner[2] ? corner[2] : 0; /* without a height: seen from above */
    out[2] = (double)region_round(z * MEASURE_HEIGHT_STEPS) / MEASURE_HEIGHT_STEPS * frame->scale[2];
}

static double length_of(double x, double y, double z) { return __builtin_sqrt(x * x + y * y + z * z); }

/* Adds the border of a ring, and the length of the sum of the cross products of its edges (Newell). */
static void add_ring(const area_frame *frame, const double (*ring)[3], uint64_t count, bool has_heights, double *around,
                     double *surface) {
    double first[3], before[3], sum[3] = {0, 0, 0};
    place(frame, ring[0], first);
    place(frame, ring[count - 1], before);
    for (uint64_t i = 0; i < count; i++) {
        double at[3], u[3], v[3];
        place(frame, ring[i], at);
        *around += length_of(at[0] - before[0], at[1] - before[1], has_heights ? at[2] - before[2] : 0);
        for (int k = 0; k < 3; k++) u[k] = before[k] - first[k], v[k] = at[k] - first[k], before[k] = at[k];
        sum[0] += u[1] * v[2] - u[2] * v[1];
        sum[1] += u[2] * v[0] - u[0] * v[2];
        sum[2] += u[0] * v[1] - u[1] * v[0];
    }
    *surface = length_of(sum[0], sum[1], sum[2]) / 2;
}

static bool is_wanted(const mote_shape *shape, uint32_t feature) {
    return shape->kind == MOTE_SHAPE_POLYGON && (feature == MOTE_ALL_FEATURES || shape->feature == feature);
}

static mote_status check_heights(mote_context *ctx, const mote_shape *shape, bool *has_heights) {
    for (uint64_t i = shape->part_starts[0]; i < shape->part_starts[shape->part_count]; i++) {
        const double z = shape->positions[i][2];
        if (z != z) *has_heights = false;
        if (!(measure_size(z) > MEASURE_MAX_HEIGHT)) continue;
        return mote_fail(ctx, MOTE_ERROR_DATA, "a corner has a height of %g; the highest is %g", z, MEASURE_MAX_HEIGHT);
    }
    return MOTE_OK;
}

static mote_status add_polygons(mote_context *ctx, const area_frame *frame, const mote_shapes *shapes, uint32_t feature,
                                mote_area *area) {
    const double steps = frame->region->steps_per_unit;
    bool has_heights = true;
    double squares = 0;
    for (uint32_t s = 0; s < mote_shapes_count(shapes); s++) {
        if (is_wanted(mote_shapes_at(shapes, s), feature)) {
            MOTE_TRY(check_heights(ctx, mote_shapes_at(shapes, s), &has_heights));
        }
    }
    for (uint32_t s = 0; s < mote_shapes_count(shapes); s++) {
        const mote_shape *shape = mote_shapes_at(shapes, s);
        for (uint32_t p = 0; is_wanted(shape, feature) && p < shape->part_count; p++) {
            const double(*ring)[3] = shape->positions + shape->part_starts[p];
            const uint64_t count = shape->part_starts[p + 1] - shape->part_starts[p];
            const double own = measure_size(polygon_ring_area(frame->region, ring, count));
            double surface;
            add_ring(frame, ring, count, has_heights, &area->around, &surface);
            squares += p == 0 ? own : -own;
            area->surface += p == 0 ? surface : -surface;
        }
    }
    area->area = squares / 2 / steps / steps * frame->scale[0] * frame->scale[1];
    if (!has_heights) area->surface = __builtin_nan("");
    return MOTE_OK;
}

mote_status area_measure(mote_context *ctx, const mote_shapes *shapes, uint32_t feature, const measure_unit *horizontal,
                         const measure_unit *vertical, mote_area *area) {
    mote_region *region = NULL;
    double min[2], max[2];
    memset(area, 0, sizeof *area);
    MOTE_TRY(mote_region_create(ctx, shapes, feature, &region));
    mote_region_bounds(region, min, max);
    const measure_ground ground = measure_ground_of(horizontal, vertical, min[1] / 2 + max[1] / 2);
    const area_frame frame = {region, {ground.x, ground.y, ground.z}};
    const mote_status status = add_polygons(ctx, &frame, shapes, feature, area);
    mote_region_destroy(region);
    return status;
}
