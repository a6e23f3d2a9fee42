/* The tree of a whole, of those of its parts, ranges of Morton codes. As nodes are stored level by level and those of a
   level in Morton order, a level of the whole is that of the parts, one after the other; only a node that a border
   divides is in several of them, the last of its level in one and the first in the next.

     part 0   │ r  │ r0 │ r00 r01 │          the whole  │ r      │ r0 │ r4 │ r00 r01 │ r40 r47 │
     part 1   │ r  │ r4 │ r40 r47 │                       0 1      0    1    0         1          of which part */
#ifndef MOTE_TREE_JOIN_H
#define MOTE_TREE_JOIN_H

#include "core/core.h"
#include "mote/lod.h"

/* The nodes of a part: level, prefix, total, point_count and child_mask are looked at. */
typedef struct tree_part {
    const mote_lod_node *nodes;
    uint32_t node_count;
} tree_part;

/* Learns of each node of each part, in the order of the whole, which node of the whole it is. is_more: an earlier part
   had points of that node, too. */
typedef void (*tree_take)(void *user, uint64_t node, uint32_t part, uint32_t of_part, bool is_more);

/* nodes  out, linked, for mote_free; node_count of them. NULL after a failure */
mote_status mote_tree_join(mote_context *ctx, const tree_part *parts, uint32_t count, tree_take take, void *user,
                           mote_lod_node **nodes, uint64_t *node_count);

#endif
