/* Which points are the sample that a sort of keys splits the others by; see knn_sample_sort_cuda.cu. */
#ifndef MOTE_KNN_SAMPLE_H
#define MOTE_KNN_SAMPLE_H

#include "math/hash.h"

/* Points that are sorted so. Building takes 1.4 to 1.6 times as long by the radix sort at 10,000 to 424,000 points, and
   the same at a million (H200, docs/history/knn.md, 0045). */
#define KNN_SAMPLE_MAX      (1u << 20)
#define KNN_SAMPLE_BUCKET   832u  /* points of a bucket, on average */
#define KNN_SAMPLE_CAPACITY 3584u /* and at the most */
#define KNN_SAMPLE_EACH     4u    /* samples of a bucket */

MOTE_HD uint32_t knn_sample_buckets(uint64_t count) {
    return count <= KNN_SAMPLE_CAPACITY / 2 ? 1 : (uint32_t)((count + KNN_SAMPLE_BUCKET - 1) / KNN_SAMPLE_BUCKET);
}

/* The cloud is cut into as many stretches as there are samples; a stretch's length, times 2^32. */
MOTE_HD uint64_t knn_sample_stretch(uint32_t samples, uint64_t count) {
    return samples > 0 ? (count << 32) / samples : 0;
}

/* A place in the i-th of them, the same in each build. */
MOTE_HD uint64_t knn_sample_point(uint32_t i, uint64_t stretch) {
    const uint64_t first = i * stretch >> 32, end = (i + 1) * stretch >> 32;
    return first + mote_mul_high(mote_hash64(i), end - first);
}

#endif
