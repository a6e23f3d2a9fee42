/* The rows of a result. */
#include "knn/knn_cpu.h"

/* What is behind the last neighbour. */
static void fill_row(const mote_knn_result *result, uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; i++) {
        if (result->index32 != NULL) result->index32[i] = UINT32_MAX;
        if (result->index64 != NULL) result->index64[i] = -1;
        if (result->distance2 != NULL) result->distance2[i] = INFINITY;
        if (result->distance2_wide != NULL) result->distance2_wide[i] = INFINITY;
    }
}

void knn_row_write(const mote_knn_result *result, const knn_metric *metric, uint32_t k, uint64_t row,
                   const knn_near *list, uint32_t count) {
    const uint64_t first = row * k;
    if (result->index32 != NULL) {
        for (uint32_t i = 0; i < count; i++) result->index32[first + i] = list[i].index;
    }
    if (result->index64 != NULL) {
        for (uint32_t i = 0; i < count; i++) result->index64[first + i] = list[i].index;
    }
    if (result->distance2 != NULL) {
        for (uint32_t i = 0; i < count; i++) result->distance2[first + i] = (float)knn_distance2(metric, list[i].key);
    }
    if (result->distance2_wide != NULL) {
        for (uint32_t i = 0; i < count; i++) result->distance2_wide[first + i] = knn_distance2(metric, list[i].key);
    }
    if (result->count != NULL) result->count[row] = count;
    if (count < k) fill_row(result, first + count, first + k);
}
