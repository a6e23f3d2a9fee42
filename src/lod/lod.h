/* The inside of a level-of-detail octree.

   Everything is said by the order (indices sorted by Morton code), the node table, and one byte per point: the
   coarsest level at which the point was chosen, or the level of its leaf if it never was. Because each level
   chooses among what the next finer level chose, that byte tells the content of every node, in both schemes:
   additive    a node of level l holds the points of its range whose byte is l
   replacing   an inner node holds those whose byte is at most l; a leaf holds all of its range */
#ifndef MOTE_LOD_INTERNAL_H
#define MOTE_LOD_INTERNAL_H

#include "core/color.h"
#include "mote/lod.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LOD_MOST_LEVELS 256u /* a level is a byte; more than 22 only by chains of equal points */

struct mote_lod {
    mote_context *ctx;
    const mote_cloud *source; /* the caller's */
    const mote_cloud *cloud;  /* the same, with colours that column_color takes; source or &colored */
    mote_cloud colored;
    mote_color_rule color_rules[3]; /* of red, green and blue */
    mote_lod_params params;
    mote_lattice lattice;
    uint64_t skipped;
    uint64_t count;  /* points with finite coordinates */
    uint32_t *order; /* [count] sorted position → index in the cloud */
    uint64_t *codes; /* [count] sorted; NULL once the tree is complete */
    uint8_t *level;  /* [count] by sorted position */
    mote_lod_node *nodes;
    uint64_t node_count, node_capacity;
    uint32_t *level_first; /* [level_count + 1] index of the first node of each level */
    uint32_t level_count;
    uint64_t *kept;                 /* [node_count] inner nodes: points chosen from below */
    uint64_t *color_first;          /* [node_count] inner nodes: their first representative in colors */
    uint16_t *colors;               /* [3 · representatives]; NULL without a filter */
    const mote_column *rgb[3];      /* of the cloud; NULL if it has none */
    const struct mote_lod_ops *ops; /* of the backend that built it */
    struct lod_cuda *device;        /* what a GPU has of it; NULL if the CPU built it */
};

/* The caller's cloud. */
const mote_cloud *mote_lod_cloud(const mote_lod *lod);

/* Refuses parameters that are out of range. src/lod/lod_params.c */
mote_status lod_check_params(mote_context *ctx, const mote_lod_params *p);

/* What a tree cannot be; each notes the failure and returns its status. */
mote_status lod_fail_replacing(mote_lod *lod, uint64_t points); /* a heap in one place, in the replacing scheme */
mote_status lod_fail_chain(mote_lod *lod);                      /* a heap larger than a chain of nodes */
mote_status lod_fail_nodes(mote_lod *lod);

/* Fills level_count and level_first from the nodes. src/lod/tree/lod_tree.c */
mote_status lod_index_levels(mote_lod *lod);
/* Builds nodes, level_first and point_count of leaves from codes. src/lod/tree/lod_tree.c */
mote_status lod_tree_build(mote_lod *lod);

/* Room for the colours of all representatives: color_first and colors. src/lod/lod.c */
mote_status lod_place_colors(mote_lod *lod);

/* column_color of the index-th point. */
uint16_t lod_color(const mote_column *column, uint64_t index);

static inline bool lod_is_inner(const mote_lod_node *node) { return node->child_mask != 0; }

/* The level whose cells are the sampling grid of nodes of a level: log2(grid) below, at most that of single codes. */
uint32_t lod_cell_level(const mote_lod *lod, uint32_t level);

#ifdef __cplusplus
}
#endif
#endif
