/* Where nearly all points of an octree are, if a few others stretch its cube: what a viewer shows first. Seen in the
   leaves alone, so that it is the same wherever the points are.

     leaf with a stray            leaves of the rest
     ┌───────────────────────────────────┬─────────────────┐      lower edges of leaves on an axis, sorted; those of a
     │ .                                 │         ┌┬┬┐    │      hundredth of the points are cut off: the next one is
     └───────────────────────────────────┴─────────┴┴┴┴────┘      the lower side of the core. Upper edges alike. */
#include <math.h>
#include <stdlib.h>

#include "io/potree/potree.h"

#define CELLS     (1u << POTREE_REST_BITS)
#define CUT_SHARE 100u /* of the points, at either end of an axis */

typedef struct leaf_edge {
    uint32_t at;
    uint64_t points;
} leaf_edge;

static int compare_edges(const void *a, const void *b) {
    const leaf_edge *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* The first edge behind which the others have more points than skip. */
static uint32_t cut_edges(leaf_edge *edges, uint64_t count, uint64_t skip) {
    uint64_t points = 0, i = 0;
    qsort(edges, count, sizeof *edges, compare_edges);
    while (i + 1 < count && (points += edges[i].points) <= skip) i++;
    return edges[i].at;
}

static void list_edges(const potree_source *source, uint32_t axis, bool upper, leaf_edge *edges) {
    uint64_t count = 0;
    for (uint32_t n = 0; n < source->node_count; n++) {
        const mote_lod_node *node = &source->nodes[n];
        if (node->child_mask != 0) continue;
        /* Lower and upper side of the leaf on the axis. */
        const uint32_t depth = node->level, level = depth < source->finest ? depth : source->finest;
        const uint32_t shift = POTREE_REST_BITS - level;
        uint32_t cell[3];
        lod_node_cell(source->nodes, n, source->finest, cell);
        const uint32_t low = cell[axis] << shift, high = low + (1u << shift);
        edges[count++] = (leaf_edge){upper ? CELLS - high : low, node->total};
    }
}

mote_status potree_rest(mote_context *ctx, const potree_source *source, uint32_t low[3], uint32_t high[3],
                        bool *is_stretched) {
    uint64_t leaves = 0;
    for (uint32_t n = 0; n < source->node_count; n++) leaves += source->nodes[n].child_mask == 0;
    leaf_edge *edges = mote_alloc(ctx, leaves * sizeof *edges, "leaves of the rest");
    uint32_t side = 0;
    if (edges == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t axis = 0; axis < 3; axis++) {
        const uint64_t skip = source->nodes[0].total / CUT_SHARE;
        list_edges(source, axis, false, edges);
        low[axis] = cut_edges(edges, leaves, skip);
        list_edges(source, axis, true, edges);
        high[axis] = CELLS - cut_edges(edges, leaves, skip);
        if (high[axis] > low[axis] && high[axis] - low[axis] > side) side = high[axis] - low[axis];
    }
    mote_free(ctx, edges);
    *is_stretched = side > 0 && side <= CELLS / POTREE_REST_TIMES;
    return MOTE_OK;
}
