/* Boxes over leaves. */
#ifndef MOTE_KNN_TREE_CPU_H
#define MOTE_KNN_TREE_CPU_H

#include "knn/knn.h"
#include "order/order_sort_cpu.h"

/* Makes room for leaves and boxes of so many points, of four bytes a value. Until they are made, the order that they
   are to stand in can be sorted there. */
mote_status knn_tree_make_room(mote_context *ctx, knn_tree *tree, uint64_t count);
order_room knn_tree_lend(const knn_tree *tree);
/* Makes the boxes of tree->points, which tree->metric describes. */
mote_status knn_tree_build(mote_context *ctx, knn_tree *tree);
void knn_tree_free(mote_context *ctx, knn_tree *tree);

#endif
