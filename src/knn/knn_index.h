/* The inside of an index of neighbours. */
#ifndef MOTE_KNN_INDEX_H
#define MOTE_KNN_INDEX_H

#include "core/core.h"
#include "knn/knn_cells.h"
#include "knn/knn_metric.h"
#include "mote/knn.h"
#include "mote/order.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KNN_LEAF      8u  /* points of a leaf, and boxes tested at once */
#define KNN_MAX_LEVEL 12u /* 8^12 > 2^32 leaves */

#define KNN_MAX_SIDE_CANDIDATES 4096u /* lambda * k: candidates on one side of a query in one shifted order */

/* Consecutive points of the Morton order: leaf i has those from 8 i on. Each leaf stands as x[8] y[8] z[8]; the last
   one is filled up with its last point. */
typedef struct knn_points {
    void *leaves;          /* int32, float or double by the metric's kind */
    const uint32_t *order; /* [count] which points they are */
    uint32_t count;
    uint64_t leaf_bytes; /* that leaves have room for */
} knn_points;

/* How many leaves just before a leaf, or a node's first, hold nothing but copies of the point that all of its own are
   (of a node: the least of its leaves; 255 at most). A leaf with enough of them before it has no neighbour to offer,
   for ties go by index, and copies stand in its order. counts: [node] by level as boxes; NULL: too few to matter. */
typedef struct knn_copies {
    const uint8_t *counts;
    void *memory;
    uint64_t capacity_bytes;
} knn_copies;

/* Points of a box whose sides, in the world, are at most this are copies for queries to which they are all at the same
   distance, after rounding: squares of four times as much vanish in doubles. */
#define KNN_NEAR 0x1p-542

/* Boxes over them: node i of a level has the eight nodes, or points, from 8 i on of the level below. Eight boxes stand
   together as min x[8] y[8] z[8], max x[8] y[8] z[8], in the type of the points. */
typedef struct knn_tree {
    knn_metric metric;
    knn_points points;
    uint32_t level_count; /* level 0: the leaves. The last has at most eight nodes */
    uint32_t nodes[KNN_MAX_LEVEL];
    uint64_t first_block[KNN_MAX_LEVEL]; /* of eight boxes, in boxes */
    void *boxes;
    uint64_t box_bytes;        /* that they have room for */
    knn_copies copies, near;   /* of points in one place; of points within KNN_NEAR */
    const uint32_t *min_index; /* [node] by level, as boxes: the smallest index of its points; NULL if near.counts is */
    void *min_index_memory;
    uint64_t min_index_bytes; /* that it has room for */
} knn_tree;

static inline double knn_box_value(const knn_tree *tree, uint64_t value) {
    switch (tree->metric.kind) {
    case KNN_INT: return ((const int32_t *)tree->boxes)[value];
    case KNN_FLOAT: return (double)((const float *)tree->boxes)[value];
    default: return ((const double *)tree->boxes)[value];
    }
}

static inline uint64_t knn_box_at(const knn_tree *tree, uint32_t level, uint64_t node) {
    return (tree->first_block[level] + node / KNN_LEAF) * 6 * KNN_LEAF + node % KNN_LEAF;
}

struct mote_knn_index {
    mote_context *ctx;
    mote_device *device; /* that built it, and searches */
    const mote_cloud *cloud;
    bool is_slab; /* knn_build_slab */
    bool ready;   /* false after a rebuild that failed */
    mote_lattice lattice;
    knn_cells cells; /* in whose order the points stand; as those below, the CPU's */
    bool dense;      /* some stand so close that squares of floats do not tell their distances from 0 */
    uint64_t skipped;
    uint32_t *order; /* [points]: finite ones first */
    uint64_t *codes; /* by sorted place */
    uint64_t order_capacity, codes_capacity;
    int64_t origin[3]; /* KNN_INT: the stored values that are step 0; see knn_integer */
    uint64_t span[3];  /* KNN_INT: the largest step */
    knn_tree stored;   /* over the stored values */
    knn_tree other;    /* over doubles, for queries of another kind; made when the first come */
    bool other_is_set, other_is_world;
    struct knn_cuda *cuda; /* all that the GPU has of it; knn_cuda.h */
};

#ifdef __cplusplus
}
#endif
#endif
