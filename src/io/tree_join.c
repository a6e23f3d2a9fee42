#include "io/tree_join.h"

#define LEVELS_MAX 256u /* a level is a byte */

typedef struct tree_join {
    const tree_part *parts;
    uint32_t count;
    tree_take take;
    void *user;
    uint32_t *next; /* [count] node of each part that comes next */
    mote_lod_node *nodes;
    uint64_t node_count;
} tree_join;

/* A node of a part: another one of the whole, or more of the last one. */
static void join_node(tree_join *join, uint32_t part, uint32_t of_part, bool is_more) {
    const mote_lod_node *node = &join->parts[part].nodes[of_part];
    const uint64_t n = is_more ? join->node_count - 1 : join->node_count++;
    mote_lod_node *to = &join->nodes[n];
    if (is_more) {
        to->total += node->total;
        to->point_count += node->point_count;
        to->child_mask |= node->child_mask;
    } else {
        *to = *node;
    }
    join->take(join->user, n, part, of_part, is_more);
}

/* The nodes of a level, of all parts in turn. False: there are none. */
static bool join_level(tree_join *join, uint8_t level) {
    const uint64_t first = join->node_count;
    uint32_t last_part = 0;
    for (uint32_t p = 0; p < join->count; p++) {
        const tree_part *part = &join->parts[p];
        while (join->next[p] < part->node_count && part->nodes[join->next[p]].level == level) {
            const uint32_t n = join->next[p]++;
            const bool is_more = level <= MOTE_ORDER_BITS && join->node_count > first && p != last_part &&
                                 join->nodes[join->node_count - 1].prefix == part->nodes[n].prefix;
            join_node(join, p, n, is_more);
            last_part = p;
        }
    }
    return join->node_count > first;
}

/* Children are beside each other, in the order of their parents; so are the ranges of the order. False: the parts do
   not say so, as they are not what was written. */
static bool link_nodes(tree_join *join) {
    uint64_t child = 1;
    for (uint64_t n = 0; n < join->node_count; n++) {
        mote_lod_node *node = &join->nodes[n];
        const uint32_t children = (uint32_t)__builtin_popcount(node->child_mask);
        if (n == 0) node->first = 0;
        if (child + children > join->node_count || (children > 0 && n >= child)) return false;
        node->first_child = children > 0 ? (uint32_t)child : 0;
        uint64_t below = 0;
        for (uint64_t c = child; c < child + children; c++) {
            if (join->nodes[c].level != node->level + 1) return false;
            below += join->nodes[c].total;
        }
        if (below > node->total) return false;
        uint64_t first = node->first + node->total - below; /* of a chain, behind what the node keeps */
        for (uint64_t c = child; c < child + children; c++) {
            join->nodes[c].parent = (uint32_t)n;
            join->nodes[c].first = first;
            first += join->nodes[c].total;
        }
        child += children;
    }
    return child == join->node_count;
}

mote_status mote_tree_join(mote_context *ctx, const tree_part *parts, uint32_t count, tree_take take, void *user,
                           mote_lod_node **nodes, uint64_t *node_count) {
    tree_join join = {.parts = parts, .count = count, .take = take, .user = user};
    mote_status status = MOTE_ERROR_MEMORY;
    uint64_t most = 0;
    *nodes = NULL;
    for (uint32_t p = 0; p < count; p++) most += parts[p].node_count;
    if (most > UINT32_MAX / 2) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "more than 2^31 nodes");
    join.next = mote_alloc_zero(ctx, count * sizeof *join.next, "nodes");
    join.nodes = mote_alloc(ctx, most * sizeof *join.nodes, "nodes");
    if (join.next != NULL && join.nodes != NULL) {
        for (uint32_t level = 0; level < LEVELS_MAX && join_level(&join, (uint8_t)level);) level++;
        status = link_nodes(&join) ? MOTE_OK : mote_fail(ctx, MOTE_ERROR_DATA, "the nodes of the parts are no tree");
    }
    mote_free(ctx, join.next);
    if (status != MOTE_OK) {
        mote_free(ctx, join.nodes);
        return status;
    }
    *nodes = join.nodes;
    *node_count = join.node_count;
    return MOTE_OK;
}
