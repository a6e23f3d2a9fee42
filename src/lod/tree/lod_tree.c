/* The octree from the sorted codes. A cell with more than merge_points points is divided; whether it is follows from
   two positions in the order, so no counting grid is needed. Where cells finer than those of codes are needed, the
   points get fine codes, and the tree is built once more. Cells whose points are all in one place are not divided:
   duplicates stay in one leaf, unless that leaf would be larger than a file can hold; then a chain of nodes below it
   takes a share each. */
#include "lod/lod_math.h"
#include "lod/lod_octree.h"
#include "order/sort/order_ties.h"

mote_status lod_fail_replacing_duplicates(mote_lod *lod, uint64_t points) {
    return mote_fail(lod->ctx, MOTE_ERROR_UNSUPPORTED,
                     "%llu points in one place do not fit a node of %llu; the additive scheme can divide them",
                     (unsigned long long)points, (unsigned long long)lod->params.max_node_points);
}

mote_status lod_fail_duplicates(mote_lod *lod) {
    return mote_fail(lod->ctx, MOTE_ERROR_UNSUPPORTED, "more than %llu points in one place",
                     (unsigned long long)(lod->params.max_node_points * LOD_MAX_LEVELS));
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
    const uint32_t level = parent.level + 1u;
    const lod_window window = lod_window_at(lod, level);
    const uint64_t mask_of_window = (1ull << 3 * (level - window.first)) - 1;
    uint64_t first = parent.first;
    const uint64_t last = parent.first + parent.total;
    uint8_t mask = 0;
    const uint32_t first_child = (uint32_t)lod->node_count;
    for (uint64_t octant = 0; octant < 8 && first < last; octant++) {
        const uint64_t prefix = mote_lod_child_prefix(parent.prefix, octant);
        uint64_t begin, end;
        mote_order_range(window.codes + first, last - first, prefix & mask_of_window, level - window.first, &begin,
                         &end);
        if (begin == end) continue;
        if (add_node(lod, index, prefix, level, first, end) == NULL) return MOTE_ERROR_MEMORY;
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
    const uint64_t max = lod->params.max_node_points;
    if (lod->params.scheme == MOTE_LOD_REPLACING) { return lod_fail_replacing_duplicates(lod, leaf.total); }
    if (leaf.level + 1u >= LOD_MAX_LEVELS) { return lod_fail_duplicates(lod); }
    uint64_t octant = 0, prefix = leaf.prefix;
    if (leaf.level < lod->finest) {
        const lod_window window = lod_window_at(lod, leaf.level + 1u);
        octant = window.codes[leaf.first] >> lod_window_shift(&window, leaf.level + 1u) & 7;
        prefix = mote_lod_child_prefix(leaf.prefix, octant);
    }
    const uint32_t child = (uint32_t)lod->node_count;
    if (add_node(lod, index, prefix, leaf.level + 1u, leaf.first + max, leaf.total - max) == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    lod->nodes[index].child_mask = (uint8_t)(1u << octant);
    lod->nodes[index].first_child = child;
    lod->nodes[index].point_count = max;
    return MOTE_OK;
}

/* The points of a node, with those that other parts have. */
static uint64_t points_of_all(const mote_lod *lod, const mote_lod_node *node) {
    if (lod->whole == NULL || node->level > MOTE_ORDER_BITS) return node->total;
    const lod_border *border = lod_whole_border(lod->whole, node->prefix, node->level);
    return border != NULL ? border->points[node->level] : node->total;
}

/* Whether the points of a node are in one place, as far as codes tell. */
static bool has_one_code(const mote_lod *lod, const mote_lod_node *node) {
    const uint64_t first = node->first, last = node->first + node->total - 1;
    if (points_of_all(lod, node) != node->total) return false; /* two parts have no place in common */
    return lod->codes[first] == lod->codes[last] && (lod->fine == NULL || lod->fine[first] == lod->fine[last]);
}

/* needs_fine  out: without fine codes this is not the tree that is wanted; nodes of one code are then leaves */
static mote_status grow(mote_lod *lod, bool *needs_fine) {
    const uint64_t max = lod->params.max_node_points > 0 ? lod->params.max_node_points : UINT64_MAX;
    const uint64_t merge = lod_leaf_points(lod);
    const bool divisible = lod->fine == NULL && order_is_divisible(&lod->lattice);
    const uint32_t grid_bits = (uint32_t)__builtin_ctz(lod->params.grid);
    *needs_fine = false;
    lod->node_count = 0;
    if (add_node(lod, UINT32_MAX, 0, 0, 0, lod->count) == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < lod->node_count; i++) { /* the table grows while it is walked: breadth first */
        const mote_lod_node *node = &lod->nodes[i];
        if (points_of_all(lod, node) <= merge) continue;
        const bool one_code = has_one_code(lod, node);
        if (divisible && mote_lod_needs_fine(node->level, grid_bits, one_code)) *needs_fine = true;
        if (!one_code) {
            MOTE_TRY(divide(lod, (uint32_t)i));
        } else if (node->total > max && !divisible) {
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

/* The order of points that share a code: by content, which fine codes say as well where they tell all steps apart. For
   the sampling "first" the order of the input counts. */
static mote_status settle_order(mote_lod *lod, bool needs_fine) {
    mote_context *ctx = lod->ctx;
    const bool by_content = lod->params.sampling != MOTE_LOD_FIRST;
    if (by_content && !(needs_fine && order_fine_tells_all(&lod->lattice))) {
        MOTE_TRY(order_settle_ties(ctx, lod->cloud, &lod->lattice, lod->codes, lod->order, lod->count));
    }
    if (!needs_fine) return MOTE_OK;
    lod->finest = ORDER_FINE_BITS;
    const mote_progress_span whole = mote_progress_hold(ctx);
    const mote_status status =
        order_fine_codes(ctx, lod->cloud, &lod->lattice, lod->codes, lod->order, lod->count, &lod->fine);
    mote_progress_leave(ctx, whole);
    return status;
}

mote_status lod_tree_build(mote_lod *lod) {
    bool needs_fine;
    MOTE_TRY(grow(lod, &needs_fine));
    if (lod->whole != NULL) {
        lod->lacks_fine = needs_fine && !lod->whole->fine;
        needs_fine = lod->whole->fine;
    }
    MOTE_TRY(settle_order(lod, needs_fine));
    if (needs_fine) MOTE_TRY(grow(lod, &needs_fine));
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
