/* The octree from the sorted codes. A cell with more than merge_points points is divided; whether it is follows from
   two positions in the order, so no counting grid is needed. Cells whose points all have one code are not divided:
   duplicates stay in one leaf, unless that leaf would be larger than a file can hold; then a chain of nodes below it
   takes a share each. */
#include "lod/lod.h"

mote_status lod_fail_replacing(mote_lod *lod, uint64_t points) {
    return mote_fail(lod->ctx, MOTE_ERROR_UNSUPPORTED,
                     "%llu points in one place do not fit a node of %llu; the additive scheme can divide them",
                     (unsigned long long)points, (unsigned long long)lod->params.max_node_points);
}

mote_status lod_fail_chain(mote_lod *lod) {
    return mote_fail(lod->ctx, MOTE_ERROR_UNSUPPORTED, "more than %llu points in one place",
                     (unsigned long long)(lod->params.max_node_points * LOD_MOST_LEVELS));
}

mote_status lod_fail_nodes(mote_lod *lod) {
    return mote_fail(lod->ctx, MOTE_ERROR_UNSUPPORTED, "more than 2^31 nodes: raise the merge threshold");
}

static mote_lod_node *add_node(mote_lod *lod, uint32_t parent, uint64_t prefix, uint32_t level, uint64_t first,
                               uint64_t total) {
    if (!mote_reserve(lod->ctx, (void **)&lod->nodes, &lod->node_capacity, lod->node_count + 1, sizeof *lod->nodes,
                      "nodes")) {
        return NULL;
    }
    mote_lod_node *node = &lod->nodes[lod->node_count++];
    memset(node, 0, sizeof *node);
    node->prefix = prefix;
    node->first = first;
    node->total = total;
    node->point_count = total;
    node->parent = parent;
    node->level = (uint8_t)level;
    return node;
}

/* Divides a node into the octants that hold points. */
static mote_status divide(mote_lod *lod, uint32_t index) {
    const mote_lod_node parent = lod->nodes[index];
    uint64_t first = parent.first;
    const uint64_t last = parent.first + parent.total;
    uint8_t mask = 0;
    const uint32_t first_child = (uint32_t)lod->node_count;
    for (uint64_t octant = 0; octant < 8 && first < last; octant++) {
        const uint64_t prefix = parent.prefix << 3 | octant;
        uint64_t begin, end;
        mote_order_range(lod->codes + first, last - first, prefix, parent.level + 1u, &begin, &end);
        if (begin == end) continue;
        if (add_node(lod, index, prefix, parent.level + 1u, first, end) == NULL) return MOTE_ERROR_MEMORY;
        mask |= (uint8_t)(1u << octant);
        first += end;
    }
    lod->nodes[index].child_mask = mask;
    lod->nodes[index].first_child = first_child;
    return MOTE_OK;
}

/* Puts all but max_node_points of a leaf's points into a node below it. */
static mote_status extend_chain(mote_lod *lod, uint32_t index) {
    const mote_lod_node leaf = lod->nodes[index];
    const uint64_t most = lod->params.max_node_points;
    if (lod->params.scheme == MOTE_LOD_REPLACING) { return lod_fail_replacing(lod, leaf.total); }
    if (leaf.level + 1u >= LOD_MOST_LEVELS) { return lod_fail_chain(lod); }
    const bool coded = leaf.level < MOTE_ORDER_BITS;
    const uint32_t below = coded ? 3 * (MOTE_ORDER_BITS - leaf.level - 1u) : 0;
    const uint64_t prefix = coded ? lod->codes[leaf.first] >> below : leaf.prefix;
    const uint32_t child = (uint32_t)lod->node_count;
    if (add_node(lod, index, prefix, leaf.level + 1u, leaf.first + most, leaf.total - most) == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    lod->nodes[index].child_mask = (uint8_t)(1u << (coded ? prefix & 7 : 0));
    lod->nodes[index].first_child = child;
    lod->nodes[index].point_count = most;
    return MOTE_OK;
}

static mote_status grow(mote_lod *lod) {
    const uint64_t most = lod->params.max_node_points > 0 ? lod->params.max_node_points : UINT64_MAX;
    const uint64_t merge = lod->params.merge_points < most ? lod->params.merge_points : most;
    if (add_node(lod, UINT32_MAX, 0, 0, 0, lod->count) == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < lod->node_count; i++) { /* the table grows while it is walked: breadth first */
        const mote_lod_node *node = &lod->nodes[i];
        if (node->total <= merge) continue;
        const bool one_code = lod->codes[node->first] == lod->codes[node->first + node->total - 1];
        if (!one_code) {
            MOTE_TRY(divide(lod, (uint32_t)i));
        } else if (node->total > most) {
            MOTE_TRY(extend_chain(lod, (uint32_t)i));
        }
        if (lod->node_count > UINT32_MAX / 2) { return lod_fail_nodes(lod); }
    }
    return MOTE_OK;
}

mote_status lod_index_levels(mote_lod *lod) {
    lod->level_count = lod->nodes[lod->node_count - 1].level + 1u;
    lod->level_first = mote_alloc(lod->ctx, (lod->level_count + 1) * sizeof *lod->level_first, "nodes");
    if (lod->level_first == NULL) return MOTE_ERROR_MEMORY;
    uint32_t level = 0;
    lod->level_first[0] = 0;
    for (uint32_t i = 0; i < lod->node_count; i++) {
        while (level < lod->nodes[i].level) lod->level_first[++level] = i;
    }
    lod->level_first[lod->level_count] = (uint32_t)lod->node_count;
    return MOTE_OK;
}

mote_status lod_tree_build(mote_lod *lod) {
    MOTE_TRY(grow(lod));
    MOTE_TRY(lod_index_levels(lod));
    const int64_t nodes = (int64_t)lod->node_count;
#pragma omp parallel for schedule(dynamic, 16) num_threads(lod->ctx->threads)
    for (int64_t i = 0; i < nodes; i++) {
        const mote_lod_node *node = &lod->nodes[i];
        /* A node of a chain keeps the first of its points; what follows belongs to the nodes below. */
        const bool chained = lod_is_inner(node) && lod->nodes[node->first_child].first != node->first;
        if (!lod_is_inner(node) || chained) memset(lod->level + node->first, node->level, node->point_count);
    }
    return MOTE_OK;
}
