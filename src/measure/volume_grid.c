#include "measure/volume_grid.h"

#define FINEST_CELLS 1024u /* along the longer side */
#define LOW_BITS     32
#define LOW_MASK     0xFFFFFFFFll
#define NONE_YET     __builtin_inf() /* farther and higher than any point */
#define FLAT         1e-12 /* of the square of the corners' spread: corners in a line have no slope across it */

/* ---- the base */

/* The corners of outer rings: how many; to: NULL, or where they go. */
static uint64_t list_corners(const mote_shapes *shapes, uint32_t feature, double (*to)[3]) {
    uint64_t count = 0;
    for (uint32_t s = 0; s < mote_shapes_count(shapes); s++) {
        const mote_shape *shape = mote_shapes_at(shapes, s);
        if (!volume_grid_wants(shape, feature)) continue;
        for (uint64_t i = shape->part_starts[0]; i < shape->part_starts[1]; i++, count++) {
            if (to != NULL) memcpy(to[count], shape->positions[i], sizeof *to);
        }
    }
    return count;
}

void volume_grid_fit(volume_grid *grid) {
    const uint64_t n = grid->corner_count;
    volume_plane *plane = &grid->plane;
    double xx = 0, xy = 0, yy = 0, xz = 0, yz = 0, mean[3] = {0, 0, 0};
    if (grid->base != MOTE_VOLUME_PLANE) return;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < n; i++) {
            const double *at = grid->corners[i];
            const double x = (double)(region_steps(grid->region, at[0]) - grid->region->low[0]);
            const double y = (double)(region_steps(grid->region, at[1]) - grid->region->low[1]);
            const double z = (double)region_round(at[2] * MEASURE_HEIGHT_STEPS);
            if (pass == 0) {
                mean[0] += x / (double)n, mean[1] += y / (double)n, mean[2] += z / (double)n;
                continue;
            }
            const double u = x - mean[0], v = y - mean[1], w = z - mean[2];
            xx += u * u, xy += u * v, yy += v * v, xz += u * w, yz += v * w;
        }
    }
    const double d = xx * yy - xy * xy, spread = xx + yy;
    const bool has_slope = d > FLAT * spread * spread;
    plane->slope[0] = has_slope ? (xz * yy - yz * xy) / d : 0;
    plane->slope[1] = has_slope ? (yz * xx - xz * xy) / d : 0;
    plane->middle[0] = mean[0];
    plane->middle[1] = mean[1];
    plane->height = mean[2];
}

/* ---- corners without heights */

bool volume_grid_needs_heights(const volume_grid *grid) {
    for (uint64_t c = 0; c < grid->corner_count; c++) {
        if (grid->corners[c][2] != grid->corners[c][2]) return grid->base == MOTE_VOLUME_PLANE;
    }
    return false;
}

uint64_t volume_grid_nearest_count(const volume_grid *grid) {
    return (grid->corner_count + VOLUME_NEAREST_CORNERS - 1) / VOLUME_NEAREST_CORNERS;
}

/* How many corners the i-th nearest has. */
static uint32_t corners_of(const volume_grid *grid, uint64_t i) {
    const uint64_t left = grid->corner_count - i * VOLUME_NEAREST_CORNERS;
    return left < VOLUME_NEAREST_CORNERS ? (uint32_t)left : VOLUME_NEAREST_CORNERS;
}

void volume_grid_start_nearest(const volume_grid *grid, volume_nearest *nearest) {
    for (uint64_t i = 0; i < volume_grid_nearest_count(grid); i++) {
        volume_nearest *of = &nearest[i];
        of->low[0] = of->low[1] = INT64_MAX;
        of->high[0] = of->high[1] = INT64_MIN;
        of->reach = -1;
        for (uint32_t c = 0; c < corners_of(grid, i); c++) {
            const double *corner = grid->corners[i * VOLUME_NEAREST_CORNERS + c];
            const bool is_wanted = corner[2] != corner[2];
            of->distance[c] = is_wanted ? NONE_YET : -1;
            of->height[c] = NONE_YET;
            if (!is_wanted) continue;
            of->reach = NONE_YET;
            for (int k = 0; k < 2; k++) {
                const int64_t at = region_steps(grid->region, corner[k]);
                of->low[k] = at < of->low[k] ? at : of->low[k];
                of->high[k] = at > of->high[k] ? at : of->high[k];
            }
        }
    }
}

static double squared(const volume_grid *grid, int64_t u, int64_t v) {
    const double x = (double)u * grid->ground.x, y = (double)v * grid->ground.y;
    return x * x + y * y;
}

/* How far a number lies from a range. */
static int64_t gap(int64_t at, int64_t low, int64_t high) { return at < low ? low - at : at > high ? at - high : 0; }

static void keep_nearer(volume_nearest *nearest, uint32_t c, double distance, double height) {
    const bool is_nearer = distance < nearest->distance[c];
    if (!is_nearer && !(distance == nearest->distance[c] && height < nearest->height[c])) return;
    nearest->distance[c] = distance;
    nearest->height[c] = height;
}

static void find_reach(volume_nearest *nearest, uint32_t count) {
    nearest->reach = -1;
    for (uint32_t c = 0; c < count; c++) {
        if (nearest->distance[c] > nearest->reach) nearest->reach = nearest->distance[c];
    }
}

void volume_grid_look_for_nearest(const volume_grid *grid, double x, double y, double z, volume_nearest *nearest) {
    const mote_region *region = grid->region;
    if (!(measure_size(z) <= MEASURE_MAX_HEIGHT) || !mote_region_contains(region, x, y)) return;
    const int64_t u = region_steps(region, x), v = region_steps(region, y);
    for (uint64_t i = 0; i < volume_grid_nearest_count(grid); i++) {
        volume_nearest *of = &nearest[i];
        const uint32_t count = corners_of(grid, i);
        /* No corner is nearer than the box: the roundings of larger differences are not smaller. */
        if (of->reach < 0 ||
            squared(grid, gap(u, of->low[0], of->high[0]), gap(v, of->low[1], of->high[1])) > of->reach)
            continue;
        for (uint32_t c = 0; c < count; c++) {
            const double *corner = grid->corners[i * VOLUME_NEAREST_CORNERS + c];
            const int64_t du = u - region_steps(region, corner[0]), dv = v - region_steps(region, corner[1]);
            keep_nearer(of, c, squared(grid, du, dv), z);
        }
        find_reach(of, count);
    }
}

void volume_grid_join_nearest(const volume_grid *grid, const volume_nearest *other, volume_nearest *nearest) {
    for (uint64_t i = 0; i < volume_grid_nearest_count(grid); i++) {
        const uint32_t count = corners_of(grid, i);
        for (uint32_t c = 0; c < count; c++) keep_nearer(&nearest[i], c, other[i].distance[c], other[i].height[c]);
        find_reach(&nearest[i], count);
    }
}

uint64_t volume_grid_drape(volume_grid *grid, const volume_nearest *nearest) {
    uint64_t draped = 0;
    for (uint64_t c = 0; c < grid->corner_count; c++) {
        const volume_nearest *of = &nearest[c / VOLUME_NEAREST_CORNERS];
        const uint32_t at = (uint32_t)(c % VOLUME_NEAREST_CORNERS);
        double *height = &grid->corners[c][2];
        if (*height == *height) continue;
        *height = of->distance[at] < NONE_YET ? of->height[at] : 0;
        draped++;
    }
    return draped;
}

/* ---- points */

static mote_status reserve(volume_grid *grid) {
    const uint64_t cells = (uint64_t)grid->grid.columns * grid->grid.rows;
    grid->high = mote_alloc_zero(grid->ctx, cells * sizeof *grid->high, "volume");
    grid->low = mote_alloc_zero(grid->ctx, cells * sizeof *grid->low, "volume");
    grid->counts = mote_alloc_zero(grid->ctx, cells * sizeof *grid->counts, "volume");
    grid->corners = mote_alloc(grid->ctx, grid->corner_count * sizeof *grid->corners, "volume");
    return grid->high != NULL && grid->low != NULL && grid->counts != NULL && grid->corners != NULL ? MOTE_OK
                                                                                                    : MOTE_ERROR_MEMORY;
}

mote_status volume_grid_start(mote_context *ctx, const mote_shapes *shapes, uint32_t feature, mote_volume_base base,
                              double level, const measure_unit *horizontal, const measure_unit *vertical,
                              volume_grid *out) {
    double min[2], max[2];
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->shapes = shapes;
    out->feature = feature;
    out->base = base;
    out->lowest = INT64_MAX;
    MOTE_TRY(mote_region_create(ctx, shapes, feature, &out->region));
    mote_region_bounds(out->region, min, max);
    out->ground = measure_ground_of(horizontal, vertical, min[1] / 2 + max[1] / 2);
    const double step = 1 / out->region->steps_per_unit;
    polygon_grid_make(out->region, out->ground.x * step, out->ground.y * step, FINEST_CELLS, &out->grid);
    out->corner_count = list_corners(shapes, feature, NULL);
    if (base == MOTE_VOLUME_LEVEL) {
        if (!(measure_size(level) <= MEASURE_MAX_HEIGHT)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the base is a level of %g; the highest is %g", level,
                             MEASURE_MAX_HEIGHT);
        }
        out->level = region_round(level * MEASURE_HEIGHT_STEPS);
    }
    MOTE_TRY(reserve(out));
    list_corners(shapes, feature, out->corners);
    for (uint64_t i = 0; i < out->corner_count; i++) {
        if (!(measure_size(out->corners[i][2]) > MEASURE_MAX_HEIGHT)) continue;
        return mote_fail(ctx, MOTE_ERROR_DATA, "a corner has a height of %g; the highest is %g", out->corners[i][2],
                         MEASURE_MAX_HEIGHT);
    }
    return MOTE_OK;
}

void volume_grid_free(volume_grid *grid) {
    mote_region_destroy(grid->region);
    mote_free(grid->ctx, grid->high);
    mote_free(grid->ctx, grid->low);
    mote_free(grid->ctx, grid->counts);
    mote_free(grid->ctx, grid->corners);
}

volume_answer volume_grid_look(const volume_grid *grid, double x, double y, double z, volume_point *point) {
    const mote_region *region = grid->region;
    const volume_plane *plane = &grid->plane;
    if (!mote_region_contains(region, x, y) || z != z) return VOLUME_OUTSIDE;
    if (!(measure_size(z) <= MEASURE_MAX_HEIGHT)) return VOLUME_TOO_HIGH;
    const uint64_t u = (uint64_t)(region_steps(region, x) - region->low[0]);
    const uint64_t v = (uint64_t)(region_steps(region, y) - region->low[1]);
    const double base = plane->height + plane->slope[0] * ((double)u - plane->middle[0]) +
                        plane->slope[1] * ((double)v - plane->middle[1]);
    if (!(measure_size(base) <= MEASURE_MAX_HEIGHT * MEASURE_HEIGHT_STEPS)) return VOLUME_TOO_HIGH;
    point->cell = polygon_grid_cell(&grid->grid, u, v);
    point->height = region_round(z * MEASURE_HEIGHT_STEPS) - region_round(base);
    return VOLUME_INSIDE;
}

bool volume_grid_add(volume_grid *grid, volume_point point) {
    if (grid->points == UINT32_MAX) return false;
    grid->high[point.cell] += point.height >> LOW_BITS;
    grid->low[point.cell] += (uint64_t)(point.height & LOW_MASK);
    grid->counts[point.cell]++;
    grid->points++;
    if (point.height < grid->lowest) grid->lowest = point.height;
    return true;
}
