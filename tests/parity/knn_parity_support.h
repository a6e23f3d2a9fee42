/* What parity tests of nearest neighbours share: one search on both backends, compared byte for byte, and normals for
   clouds that have none. */
#ifndef MOTE_KNN_PARITY_SUPPORT_H
#define MOTE_KNN_PARITY_SUPPORT_H

#include "parity/parity_support.h"

#define KNN_ARRAYS 5

/* The arrays of a result, with some bytes behind that nobody may write. */
typedef struct knn_rows {
    mote_knn_result result;
    void *array[KNN_ARRAYS];
    uint64_t size_bytes[KNN_ARRAYS];
} knn_rows;

void knn_take_rows(knn_rows *r, uint64_t count, uint32_t k);
void knn_point_at(knn_rows *r, void *const array[KNN_ARRAYS]);
void knn_free_rows(knn_rows *r);
void knn_same_rows(const knn_rows *a, const knn_rows *b, uint32_t k, const char *what);

typedef struct knn_trial {
    parity_pair *pair;
    const mote_cloud *cloud, *queries; /* of the host */
    mote_knn_params params;
    bool on_device; /* clouds and rows are the device's */
    const char *name;
    bool again; /* on the device: twice by one index, so that a search finds the memory of another */
} knn_trial;

knn_trial knn_trial_of(void **state, const mote_cloud *cloud, uint32_t k, const char *name);
/* Fails the test when rows differ, or errors. */
void knn_compare(const knn_trial *t);
void knn_must(mote_context *ctx, mote_status status, const char *what);

/* Normals that are much alike, of any direction and length, or awkward: along axes, 0, infinite or no number. */
typedef enum knn_normals { KNN_NORMALS_ALIKE, KNN_NORMALS_ANY, KNN_NORMALS_AWKWARD, KNN_NORMALS_KINDS } knn_normals;
/* type: float32, float64, or int8 of a scale */
void knn_add_normals(mote_cloud *cloud, knn_normals kind, mote_type type);
/* awkward_cloud_make of the kind of that number, with normals of one type or another. */
mote_cloud *knn_awkward_cloud(const parity_pair *pair, uint32_t kind, uint64_t count, uint64_t shuffle,
                              knn_normals normals);

/* Sizes of clouds at which squares vanish or overflow, or products with normals do. */
#define KNN_SIZES 10u
/* count random points between low and low + 1 times the i-th size; NULL where floats, if it is to have these, do not
   reach so far. */
mote_cloud *knn_cloud_of_size(mote_context *ctx, uint32_t i, double low, bool floats, uint64_t count);

/* A search with less memory than it needs, a bit more each time, fails cleanly until it fits. */
void knn_fails_until_it_fits(const mote_cloud *cloud, const mote_knn_params *params);

#endif
