/* Boxes over leaves. */
#ifndef MOTE_KNN_TREE_CPU_H
#define MOTE_KNN_TREE_CPU_H

#include "knn/index/knn_index.h"
#include "order/sort/order_sort_cpu.h"

/* Makes room for leaves and boxes of count points, of four bytes a value. Until they are made, the order that they
   are to stand in can be sorted there. */
mote_status knn_tree_reserve(mote_context *ctx, knn_tree *tree, uint64_t count);
order_scratch knn_tree_lend(const knn_tree *tree);
/* Makes the boxes of tree->points, which tree->metric describes. */
mote_status knn_tree_build(mote_context *ctx, knn_tree *tree);
void knn_tree_free(mote_context *ctx, knn_tree *tree);

#endif
