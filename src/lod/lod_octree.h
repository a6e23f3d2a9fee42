/* The inside of a level-of-detail octree.

   Everything is said by the order (indices sorted by Morton code), the node table, and one byte per point: the
   coarsest level at which the point was chosen, or the level of its leaf if it never was. Because each level
   chooses among what the next finer level chose, that byte tells the content of every node, in both schemes:
   additive    a node of level l holds the points of its range whose byte is l
   replacing   an inner node holds those whose byte is at most l; a leaf holds all of its range

     order    7 3 9 0 | 5 2 | 8 1 4 6       indices of the cloud, by Morton code
     level    1 0 1 1 | 1 1 | 2 1 2 2       the byte of each

     nodes    r: 0..10                      level by level, children of a node beside each other; a node has a range of
              r0: 0..4   r3: 4..6   r5: 6..10       the order (first, total)
              r52: 6..10
     additive: r holds 3; r0 holds 7 9 0; r3 holds 5 2; r5 holds 1; r52 holds 8 4 6 */
#ifndef MOTE_LOD_OCTREE_H
#define MOTE_LOD_OCTREE_H

#include "core/color.h"
#include "core/column_math.h"
#include "lod/lod_whole.h"
#include "mote/lod.h"
#include "order/order_fine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LOD_MAX_LEVELS 256u /* a level is a byte; more than 32 only by chains of equal points */

struct mote_lod {
    mote_context *ctx;
    mote_device *device;      /* that built it */
    const mote_cloud *source; /* the caller's */
    const mote_cloud *cloud;  /* the same, with colours that column_color takes; source or &colored */
    mote_cloud colored;
    mote_color_rule color_rules[3]; /* of red, green and blue */
    mote_lod_params params;
    const lod_whole *whole; /* of whose points the cloud has a range; NULL: it has them all */
    bool lacks_fine;        /* lod_build_part */
    mote_lattice lattice;
    uint64_t skipped;
    uint64_t count;  /* points with finite coordinates */
    uint32_t *order; /* [count] sorted position → index in the cloud */
    uint64_t *codes; /* [count] sorted; NULL once the tree is complete */
    uint64_t *fine;  /* [count] fine codes (order/order_fine.h), where codes leave too many in a cell; else NULL */
    uint32_t finest; /* level of cells: MOTE_ORDER_BITS, or ORDER_FINE_BITS with fine codes */
    uint8_t *level;  /* [count] by sorted position */
    mote_lod_node *nodes;
    uint64_t node_count, node_capacity;
    uint32_t *level_first; /* [level_count + 1] index of the first node of each level */
    uint32_t level_count;
    uint64_t *representatives;      /* [node_count] inner nodes: points chosen from below */
    uint64_t *color_first;          /* [node_count] inner nodes: their first representative in colors */
    uint16_t *colors;               /* [3 · representatives]; NULL without a filter */
    const mote_column *rgb[3];      /* of the cloud; NULL if it has none */
    const struct mote_lod_ops *ops; /* of the backend that built it */
    struct lod_cuda *cuda;          /* what a GPU has of it; NULL if the CPU built it */
    void *device_records;           /* of mote_potree_records, in device memory; NULL until they are asked for */
};

/* The caller's cloud. */
const mote_cloud *mote_lod_cloud(const mote_lod *lod);

/* Refuses parameters that are out of range. src/lod/lod_params.c */
mote_status lod_check_params(mote_context *ctx, const mote_lod_params *p);

/* What a tree cannot be; each notes the failure and returns its status. */
mote_status lod_fail_replacing_duplicates(mote_lod *lod,
                                          uint64_t points); /* a heap in one place, in the replacing scheme */
mote_status lod_fail_duplicates(mote_lod *lod);             /* a heap larger than a chain of nodes */
mote_status lod_fail_nodes(mote_lod *lod);

/* Fills level_count and level_first from the nodes. src/lod/tree/lod_tree.c */
mote_status lod_index_levels(mote_lod *lod);
/* Builds nodes, level_first and point_count of leaves from sorted codes, and puts points that share one into their
   final order. src/lod/tree/lod_tree.c */
mote_status lod_tree_build(mote_lod *lod);

/* How many points nodes hold, by the bytes of all. */
void lod_count_node_points(mote_lod *lod);

/* Frees all that was built: it can be built anew. src/lod/lod.c */
void lod_forget(mote_lod *lod);

/* Frees codes and fine codes, which nothing asks for once the tree is complete. */
void lod_drop_codes(mote_lod *lod);

/* Room for the colours of all representatives: color_first and colors. */
mote_status lod_place_colors(mote_lod *lod);

/* column_color of the index-th point. */
static inline uint16_t lod_color(const mote_column *column, uint64_t index) {
    return column_color(column, column_at(column, index));
}

static inline bool lod_is_inner(const mote_lod_node *node) { return node->child_mask != 0; }

/* The most points of a cell that is not divided. */
static inline uint64_t lod_leaf_points(const mote_lod *lod) {
    const uint64_t merge = lod->params.merge_points, max = lod->params.max_node_points;
    return max > 0 && max < merge ? max : merge;
}

/* The level whose cells are the sampling grid of nodes of a level: log2(grid) below, at most the finest. */
uint32_t lod_cell_level(const mote_lod *lod, uint32_t level);

/* The cell of a node among 2^level a side, level that of the node, at most finest. */
void lod_node_cell(const mote_lod_node *nodes, uint32_t node, uint32_t finest, uint32_t cell[3]);

/* The codes that tell the cells of a level: codes themselves, or fine codes, which are alike in cells of different
   ORDER_FINE_FIRST-level ones. */
typedef struct lod_window {
    const uint64_t *codes; /* [count] */
    const uint64_t *above; /* [count] what order_fine_above is asked of; NULL: codes tell cells apart by themselves */
    uint32_t first;        /* the level that codes begin at */
} lod_window;

MOTE_HD uint32_t lod_window_first(uint32_t cell_level) { return cell_level > MOTE_ORDER_BITS ? ORDER_FINE_FIRST : 0; }

static inline lod_window lod_window_at(const mote_lod *lod, uint32_t cell_level) {
    const uint32_t first = lod_window_first(cell_level);
    const lod_window window = {first > 0 ? lod->fine : lod->codes, first > 0 ? lod->codes : NULL, first};
    return window;
}

/* How far to move a code right for the cell of a level. */
MOTE_HD uint32_t lod_window_shift(const lod_window *w, uint32_t cell_level) {
    return 3 * (MOTE_ORDER_BITS + w->first - cell_level);
}

MOTE_HD uint32_t lod_window_above(const lod_window *w, uint64_t position) {
    return w->above != NULL ? order_fine_above(w->above[position]) : 0;
}

/* Whether a point lies in another cell than the one before. position > 0 */
MOTE_HD bool lod_window_begins(const lod_window *w, uint64_t position, uint32_t shift) {
    return w->codes[position] >> shift != w->codes[position - 1] >> shift ||
           (w->above != NULL && lod_window_above(w, position) != lod_window_above(w, position - 1));
}

/* The codes that ranks are made of: mote_lod_rank. */
static inline const uint64_t *lod_rank_codes(const mote_lod *lod) { return lod->fine != NULL ? lod->fine : lod->codes; }

#ifdef __cplusplus
}
#endif
#endif
