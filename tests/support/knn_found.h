/* Rows of neighbours with room of their own, for tests that compare answers with each other. */
#ifndef MOTE_TEST_KNN_FOUND_H
#define MOTE_TEST_KNN_FOUND_H

#include "mote/knn.h"

typedef struct knn_found {
    uint32_t *index, *count;
    float *distance2;
    double *distance2_wide;
    uint64_t rows, cells, skipped;
} knn_found;

/* The search must succeed.
   queries  NULL: the points themselves */
knn_found knn_found_of(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                       const mote_knn_params *params);
/* The same by an index of so many points, which are the queries. */
knn_found knn_found_by(mote_knn_index *index, uint64_t points, const mote_knn_params *params);
void knn_found_free(knn_found *a);

/* They must be the same in all. */
void knn_found_same(const knn_found *a, const knn_found *b);
/* b: of the same points as awkward_cloud_make shuffles them. The distances must be the same, and by them the points,
   unless two are equally far. */
void knn_found_same_shuffled(const knn_found *a, const knn_found *b, uint64_t shuffle);

#endif
