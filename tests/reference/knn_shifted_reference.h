/* Which points shifted sorting looks at for a query, by its definition in docs/knn_shifted.md and nothing else: lists
   that are sorted and counted. */
#ifndef MOTE_KNN_SHIFTED_REFERENCE_H
#define MOTE_KNN_SHIFTED_REFERENCE_H

#include "mote/knn.h"

typedef struct shifted_reference shifted_reference;

/* queries  NULL: the points themselves */
shifted_reference *shifted_reference_make(const mote_cloud *cloud, const mote_cloud *queries,
                                          const mote_knn_params *params);
/* candidates  [points] out: 1 for those */
void shifted_reference_candidates(const shifted_reference *reference, uint64_t query, uint8_t *candidates);
void shifted_reference_free(shifted_reference *reference);

/* The unit normal of a query, zeros if it has none. */
void shifted_reference_normal(const mote_cloud *queries, uint64_t query, double normal[3]);

#endif
