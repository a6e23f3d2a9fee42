#include "support/knn_found.h"

#include <stdlib.h>
#include <string.h>

#include "reference/awkward_clouds.h"
#include "support/support.h"

static void *room(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static knn_found take(uint64_t rows, uint32_t k, mote_knn_result *result) {
    const knn_found a = {room(rows * k, sizeof *a.index),
                         room(rows, sizeof *a.count),
                         room(rows * k, sizeof *a.distance2),
                         room(rows * k, sizeof *a.distance2_wide),
                         rows,
                         rows * k,
                         0};
    memset(result, 0, sizeof *result);
    result->index32 = a.index;
    result->count = a.count;
    result->distance2 = a.distance2;
    result->distance2_wide = a.distance2_wide;
    return a;
}

knn_found knn_found_of(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                       const mote_knn_params *params) {
    mote_knn_result result;
    knn_found a = take(mote_cloud_count(queries != NULL ? queries : cloud), params->k, &result);
    if (mote_knn(ctx, cloud, queries, params, &result) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    a.skipped = result.skipped;
    return a;
}

knn_found knn_found_by(mote_knn_index *index, uint64_t points, const mote_knn_params *params) {
    mote_knn_result result;
    knn_found a = take(points, params->k, &result);
    assert_int_equal(mote_knn_search(index, NULL, params, &result), MOTE_OK);
    a.skipped = result.skipped;
    return a;
}

void knn_found_free(knn_found *a) {
    free(a->index);
    free(a->count);
    free(a->distance2);
    free(a->distance2_wide);
}

void knn_found_same(const knn_found *a, const knn_found *b) {
    assert_true(a->rows == b->rows && a->cells == b->cells && a->skipped == b->skipped);
    assert_memory_equal(a->index, b->index, a->cells * sizeof *a->index);
    assert_memory_equal(a->count, b->count, a->rows * sizeof *a->count);
    assert_memory_equal(a->distance2, b->distance2, a->cells * sizeof *a->distance2);
    assert_memory_equal(a->distance2_wide, b->distance2_wide, a->cells * sizeof *a->distance2_wide);
}

void knn_found_same_shuffled(const knn_found *a, const knn_found *b, uint64_t shuffle) {
    const uint64_t n = a->rows, k = a->cells / n;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t j = awkward_cloud_slot(i, n, shuffle);
        const double *const far = a->distance2_wide + i * k;
        assert_int_equal(a->count[i], b->count[j]);
        assert_memory_equal(far, b->distance2_wide + j * k, k * sizeof *far);
        for (uint64_t m = 0; m + 1 < a->count[i]; m++) {
            if ((m > 0 && far[m - 1] == far[m]) || far[m + 1] == far[m]) continue;
            assert_int_equal(awkward_cloud_slot(a->index[i * k + m], n, shuffle), b->index[j * k + m]);
        }
    }
}
