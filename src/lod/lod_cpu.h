/* The parts of the CPU's levels of detail. */
#ifndef MOTE_LOD_CPU_H
#define MOTE_LOD_CPU_H

#include "lod/lod_octree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scratch of sampling: the points that inner nodes chose, each node's from its first position on. */
typedef struct lod_lists {
    uint32_t *chosen; /* [count] sorted positions, ascending within a node */
} lod_lists;

/* Whether an inner node takes a sample from below: nodes of a chain hold their own share instead. */
static inline bool lod_samples(const mote_lod *lod, const mote_lod_node *node) {
    return lod_is_inner(node) && lod->nodes[node->first_child].first == node->first;
}

/* The candidates of an inner node from one child: its chosen points, or all of a leaf's. */
typedef struct lod_candidates {
    const uint32_t *positions; /* NULL: first, first + 1 … */
    uint64_t first, count;
} lod_candidates;

static inline lod_candidates lod_child_candidates(const mote_lod *lod, const lod_lists *lists, uint32_t child) {
    const mote_lod_node *node = &lod->nodes[child];
    lod_candidates candidates = {NULL, node->first, node->point_count};
    if (lod_samples(lod, node)) {
        candidates.positions = lists->chosen + node->first;
        candidates.count = lod->representatives[child];
    }
    return candidates;
}

/* Chooses points of one level: of those whose byte is level + 1, some get level. Of the octree it asks for codes and
   parameters, but for no nodes.
   list  the same points, with the same bytes */
mote_status lod_sample_poisson(mote_lod *lod, const lod_list *list, uint32_t level);
/* All levels, and how many points nodes hold; of a part as lod_whole.levels says. */
mote_status lod_poisson_cpu(mote_lod *lod);
/* What lod_list_part makes; takes the octree's bytes. */
mote_status lod_list_points(mote_lod *lod, lod_list *list);

/* Chooses the points of all inner nodes: fills level, kept and the nodes' point_count. */
mote_status lod_sample_cpu(mote_lod *lod);
/* Averages the colours of all representatives: fills colors. */
mote_status lod_filter_cpu(mote_lod *lod);

#ifdef __cplusplus
}
#endif
#endif
