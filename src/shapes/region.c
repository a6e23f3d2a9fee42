/* Which places polygons hold: the parity of the edges that a ray to the left crosses (Shimrat 1962), in integers. */
#include "shapes/region.h"

#define MAX_SLABS       4096u
#define LISTED_PER_EDGE 8u /* slabs are made higher until they list no more than this, and then some */
#define LISTED_MORE     64u

/* ---- making */

static bool is_wanted(const mote_shape *shape, uint32_t feature) {
    return shape->kind == MOTE_SHAPE_POLYGON && (feature == MOTE_ALL_FEATURES || shape->feature == feature);
}

static void widen(mote_region *region, const double position[3]) {
    for (int k = 0; k < 2; k++) {
        if (position[k] < region->min[k]) region->min[k] = position[k];
        if (position[k] > region->max[k]) region->max[k] = position[k];
    }
}

static double size_of(double value) { return value < 0 ? -value : value; }

static mote_status choose_steps(mote_region *region) {
    double max = 0;
    for (int k = 0; k < 2; k++) {
        if (size_of(region->min[k]) > max) max = size_of(region->min[k]);
        if (size_of(region->max[k]) > max) max = size_of(region->max[k]);
    }
    if (!(max <= REGION_MAX_STEPS)) {
        return mote_fail(region->ctx, MOTE_ERROR_DATA, "a polygon has a coordinate of %g; the largest is %g", max,
                         REGION_MAX_STEPS);
    }
    region->steps_per_unit = region_steps_for(max);
    for (int k = 0; k < 2; k++) {
        region->reach_min[k] = region->min[k] - 2 / region->steps_per_unit;
        region->reach_max[k] = region->max[k] + 2 / region->steps_per_unit;
        region->low[k] = region_steps(region, region->min[k]);
        region->high[k] = region_steps(region, region->max[k]);
    }
    return MOTE_OK;
}

static void add_ring(mote_region *region, const double (*ring)[3], uint64_t count, uint32_t polygon) {
    for (uint64_t i = 0, last = count - 1; i < count; last = i++) {
        region_edge *edge = &region->edges[region->edge_count++];
        const double *from = ring[last], *to = ring[i];
        for (int k = 0; k < 2; k++) {
            edge->low[k] = region_steps(region, from[k]);
            edge->high[k] = region_steps(region, to[k]);
        }
        edge->polygon = polygon;
        if (edge->low[1] <= edge->high[1]) continue;
        for (int k = 0; k < 2; k++) {
            const int64_t low = edge->low[k];
            edge->low[k] = edge->high[k];
            edge->high[k] = low;
        }
    }
}

static mote_status collect_edges(mote_region *region, const mote_shapes *shapes, uint32_t feature) {
    uint64_t corners = 0;
    for (int k = 0; k < 2; k++) region->min[k] = 1 / 0.0, region->max[k] = -1 / 0.0;
    for (uint32_t s = 0; s < mote_shapes_count(shapes); s++) {
        const mote_shape *shape = mote_shapes_at(shapes, s);
        if (!is_wanted(shape, feature)) continue;
        for (uint64_t i = shape->part_starts[0]; i < shape->part_starts[shape->part_count]; i++, corners++) {
            widen(region, shape->positions[i]);
        }
    }
    if (corners == 0) return mote_fail(region->ctx, MOTE_ERROR_ARGUMENT, "there is no polygon");
    if (corners > UINT32_MAX)
        return mote_fail(region->ctx, MOTE_ERROR_DATA, "the polygons have more than 2^32 corners");
    MOTE_TRY(choose_steps(region));
    region->edges = mote_alloc(region->ctx, corners * sizeof *region->edges, "polygons");
    if (region->edges == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t s = 0; s < mote_shapes_count(shapes); s++) {
        const mote_shape *shape = mote_shapes_at(shapes, s);
        for (uint32_t p = 0; is_wanted(shape, feature) && p < shape->part_count; p++) {
            const uint64_t first = shape->part_starts[p];
            if (shape->part_starts[p + 1] == first) continue;
            add_ring(region, shape->positions + first, shape->part_starts[p + 1] - first, s);
        }
    }
    return MOTE_OK;
}

static uint32_t slab_of(const mote_region *region, int64_t y) {
    return (uint32_t)((uint64_t)(y - region->low[1]) / region->slab_height);
}

static void set_slabs(mote_region *region, uint32_t count) {
    const uint64_t height = (uint64_t)(region->high[1] - region->low[1]);
    region->slab_height = height / count + 1;
    region->slab_count = (uint32_t)(height / region->slab_height) + 1;
}

/* How many times edges are listed. */
static uint64_t count_listed(const mote_region *region) {
    uint64_t listed = 0;
    for (uint64_t e = 0; e < region->edge_count; e++) {
        const region_edge *edge = &region->edges[e];
        listed += slab_of(region, edge->high[1]) - slab_of(region, edge->low[1]) + 1;
    }
    return listed;
}

static mote_status list_edges(mote_region *region) {
    uint32_t count = 1;
    while (count < MAX_SLABS && count < region->edge_count) count *= 2;
    for (set_slabs(region, count); count > 1; set_slabs(region, count /= 2)) {
        if (count_listed(region) <= LISTED_PER_EDGE * region->edge_count + LISTED_MORE) break;
    }
    region->starts = mote_alloc_zero(region->ctx, (region->slab_count + 1ull) * sizeof *region->starts, "polygons");
    region->list = mote_alloc(region->ctx, count_listed(region) * sizeof *region->list, "polygons");
    if (region->starts == NULL || region->list == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t e = 0; e < region->edge_count; e++) {
        const region_edge *edge = &region->edges[e];
        for (uint32_t s = slab_of(region, edge->low[1]); s <= slab_of(region, edge->high[1]); s++) {
            region->starts[s + 1]++;
        }
    }
    for (uint32_t s = 0; s < region->slab_count; s++) region->starts[s + 1] += region->starts[s];
    /* Each start moves to its end, and so to the next slab's start, while edges are listed; then all move back. */
    for (uint64_t e = 0; e < region->edge_count; e++) {
        const region_edge *edge = &region->edges[e];
        for (uint32_t s = slab_of(region, edge->low[1]); s <= slab_of(region, edge->high[1]); s++) {
            region->list[region->starts[s]++] = (uint32_t)e;
        }
    }
    for (uint32_t s = region->slab_count; s > 0; s--) region->starts[s] = region->starts[s - 1];
    region->starts[0] = 0;
    return MOTE_OK;
}

mote_status mote_region_create(mote_context *ctx, const mote_shapes *shapes, uint32_t feature, mote_region **out) {
    *out = NULL;
    if (shapes == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "shapes is NULL");
    mote_region *region = mote_alloc_zero(ctx, sizeof *region, "polygons");
    if (region == NULL) return MOTE_ERROR_MEMORY;
    region->ctx = ctx;
    mote_status status = collect_edges(region, shapes, feature);
    if (status == MOTE_OK) status = list_edges(region);
    if (status != MOTE_OK) {
        mote_region_destroy(region);
        return status;
    }
    *out = region;
    return MOTE_OK;
}

void mote_region_destroy(mote_region *region) {
    if (region == NULL) return;
    mote_free(region->ctx, region->edges);
    mote_free(region->ctx, region->starts);
    mote_free(region->ctx, region->list);
    mote_free(region->ctx, region);
}

/* ---- asking */

bool region_holds(const mote_region *region, int64_t x, int64_t y) {
    if (x < region->low[0] || x > region->high[0] || y < region->low[1] || y > region->high[1]) return false;
    const uint32_t slab = slab_of(region, y);
    uint32_t polygon = UINT32_MAX;
    bool is_inside = false;
    for (uint64_t i = region->starts[slab]; i < region->starts[slab + 1]; i++) {
        const region_edge *edge = &region->edges[region->list[i]];
        if (edge->polygon != polygon) {
            if (is_inside) return true;
            polygon = edge->polygon;
        }
        const region_side side = region_side_of(edge, x, y);
        if (side == REGION_ON) return true;
        is_inside ^= side == REGION_RIGHT;
    }
    return is_inside;
}

bool mote_region_contains(const mote_region *region, double x, double y) {
    if (!(x >= region->reach_min[0] && x <= region->reach_max[0])) return false;
    if (!(y >= region->reach_min[1] && y <= region->reach_max[1])) return false;
    return region_holds(region, region_steps(region, x), region_steps(region, y));
}

void mote_region_bounds(const mote_region *region, double min[2], double max[2]) {
    for (int k = 0; k < 2; k++) {
        min[k] = region->min[k];
        max[k] = region->max[k];
    }
}
