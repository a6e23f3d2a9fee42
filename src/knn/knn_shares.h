/* The k nearest neighbours by several GPUs, each of which has an index of all points, and is asked a share of the
   queries:

             index of all      rows of the result
     GPU 0   . : . : . : .     [0 ........ m)         m queries that follow each other in their cloud, so that a GPU's
     GPU 1   . : . : . : .     [m ...... 2 m)         rows are one piece of each array, and nothing is merged

   Indices are made at the same time, and take a small part of it: rows are what takes long, mostly to be copied to the
   host. A cloud whose index one GPU does not hold is cut (knn_cut.h). */
#ifndef MOTE_KNN_SHARES_H
#define MOTE_KNN_SHARES_H

#include "mote/knn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Searches with so many GPUs; params are valid, and knn_cut_applies. MOTE_ERROR_MEMORY: some GPU does not hold the
   index, or its rows. */
mote_status knn_shares_search(mote_context *ctx, uint32_t count, const mote_cloud *cloud, const mote_cloud *queries,
                              const mote_knn_params *params, mote_knn_result *result);

#ifdef __cplusplus
}
#endif
#endif
