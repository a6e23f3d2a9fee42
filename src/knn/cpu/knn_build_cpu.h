/* What makes an index on CPU cores:

     knn_order_points ──▶ knn_points_read ──▶ knn_tree_build
     order, codes         leaves              boxes over them            */
#ifndef MOTE_KNN_BUILD_CPU_H
#define MOTE_KNN_BUILD_CPU_H

#include "knn/knn_cells.h"
#include "knn/knn_index.h"
#include "order/sort/order_sort_cpu.h"

/* ---- the order: knn_order_cpu.c */

/* Finds index->lattice and skipped, and sorts the points: codes and order, finite ones first. */
mote_status knn_order_points(mote_knn_index *index);
/* The place of a world position on the curve through the cells; UINT64_MAX where it is not finite. */
uint64_t knn_code_of_world(const mote_column *const axes[3], const knn_cells *by, uint64_t i);

/* ---- positions: knn_points_cpu.c */

/* How the positions of a cloud are read. */
typedef struct knn_reading {
    const mote_column *axes[3];
    knn_kind kind;
    bool world;        /* KNN_DOUBLE: with scale and offset */
    int64_t origin[3]; /* KNN_INT: what counts as 0; see knn_integer_bounds */
} knn_reading;

/* Smallest and largest of the points in order: integers of any type, as ones that order and subtract as the stored
   ones do. */
void knn_integer_bounds(const mote_context *ctx, const mote_column *const axes[3], const uint32_t *order,
                        uint64_t count, int64_t low[3], int64_t high[3]);
/* Makes room for leaves of count points. */
bool knn_points_reserve(mote_context *ctx, knn_points *points, uint64_t count, uint64_t value_bytes);
/* Reads the count points of order into leaves. */
mote_status knn_points_read(mote_context *ctx, const knn_reading *reading, const uint32_t *order, uint64_t count,
                            knn_points *points);

/* ---- boxes: knn_tree_cpu.c */

/* Makes room for leaves and boxes of count points, of four bytes a value. Until they are made, the order that they
   are to stand in can be sorted there. */
mote_status knn_tree_reserve(mote_context *ctx, knn_tree *tree, uint64_t count);
order_scratch knn_tree_lend(const knn_tree *tree);
/* Makes the boxes of tree->points, which tree->metric describes. dense: see mote_knn_index */
mote_status knn_tree_build(mote_context *ctx, bool dense, knn_tree *tree);
void knn_tree_free(mote_context *ctx, knn_tree *tree);

#endif
