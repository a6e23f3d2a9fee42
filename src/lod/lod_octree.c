/* What follows from an octree: its cloud, its cells, room for its colours, what its nodes hold. */
#include "lod/lod_octree.h"

#include "math/morton.h"

const mote_cloud *mote_lod_cloud(const mote_lod *lod) { return lod->source; }

uint32_t lod_cell_level(const mote_lod *lod, uint32_t level) {
    const uint32_t cell = level + (uint32_t)__builtin_ctz(lod->params.grid);
    return cell < lod->finest ? cell : lod->finest;
}

/* A prefix has the last MOTE_ORDER_BITS levels; those above are in the prefix of the node that is
   MOTE_ORDER_BITS levels up. */
void lod_node_cell(const mote_lod_node *nodes, uint32_t node, uint32_t finest, uint32_t cell[3]) {
    const mote_lod_node *own = &nodes[node], *upper = own;
    const uint32_t level = own->level < finest ? own->level : finest;
    mote_morton_coordinates(own->prefix, cell);
    if (level <= MOTE_ORDER_BITS) return;
    while (upper->level > level - MOTE_ORDER_BITS) upper = &nodes[upper->parent];
    for (int k = 0; k < 3; k++) {
        cell[k] = cell[k] | mote_morton_compact(upper->prefix >> (2 - k)) << MOTE_ORDER_BITS;
    }
}

void lod_drop_codes(mote_lod *lod) {
    mote_free(lod->ctx, lod->codes);
    mote_free(lod->ctx, lod->fine);
    lod->codes = lod->fine = NULL;
}

mote_status lod_place_colors(mote_lod *lod) {
    uint64_t representatives = 0;
    lod->color_first = mote_alloc_zero(lod->ctx, lod->node_count * sizeof *lod->color_first, "nodes");
    if (lod->color_first == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < lod->node_count; i++) {
        lod->color_first[i] = representatives;
        if (lod_is_inner(&lod->nodes[i])) representatives += lod->nodes[i].point_count;
    }
    lod->colors = mote_alloc(lod->ctx, representatives * 3 * sizeof *lod->colors, "colours");
    return lod->colors != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void lod_count_node_points(mote_lod *lod) {
    const bool additive = lod->params.scheme == MOTE_LOD_ADDITIVE;
#pragma omp parallel for schedule(dynamic, 1) num_threads(lod->ctx->threads)
    for (uint64_t n = 0; n < lod->node_count; n++) {
        mote_lod_node *node = &lod->nodes[n];
        if (!additive && !lod_is_inner(node)) continue;
        const uint8_t min = additive ? node->level : 0;
        uint64_t count = 0;
        for (uint64_t i = node->first; i < node->first + node->total; i++) {
            count += (uint8_t)(lod->level[i] - min) <= node->level - min;
        }
        node->point_count = count;
    }
}
