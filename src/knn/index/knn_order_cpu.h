/* The order of the points of an index. */
#ifndef MOTE_KNN_ORDER_CPU_H
#define MOTE_KNN_ORDER_CPU_H

#include "knn/index/knn_index.h"

/* Finds index->lattice and skipped, and sorts the points: codes and order, finite ones first. */
mote_status knn_order_points(mote_knn_index *index);

#endif
