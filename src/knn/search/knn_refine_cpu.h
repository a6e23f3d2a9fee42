/* Long runs of points in one cell of the finest level, brought in order among themselves. */
#ifndef MOTE_KNN_REFINE_CPU_H
#define MOTE_KNN_REFINE_CPU_H

#include "knn/index/knn_index.h"

/* index->codes and order are sorted; codes stay as they are. */
mote_status knn_refine(mote_knn_index *index);

#endif
