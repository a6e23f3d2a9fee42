/* Boxes over leaves. */
#ifndef MOTE_KNN_TREE_CPU_H
#define MOTE_KNN_TREE_CPU_H

#include "knn/knn.h"

/* Makes the boxes of tree->points, which tree->metric describes. */
mote_status knn_tree_build(mote_context *ctx, knn_tree *tree);
void knn_tree_free(mote_context *ctx, knn_tree *tree);

#endif
