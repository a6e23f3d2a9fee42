/* Which points are the sample that a sort of keys splits the others by; see knn_sample_sort_cuda.cu. */
#ifndef MOTE_KNN_SAMPLE_H
#define MOTE_KNN_SAMPLE_H

#include "math/hash.h"

#define KNN_SAMPLE_MOST   (1u << 20) /* points that are sorted so */
#ifndef KNN_SAMPLE_BUCKET
#define KNN_SAMPLE_BUCKET 832u       /* points of a bucket, on average */
#endif
#define KNN_SAMPLE_ROOM   4096u      /* and at the most */
#ifndef KNN_SAMPLE_EACH
#define KNN_SAMPLE_EACH   4u         /* samples of a bucket */
#endif

MOTE_HD uint32_t knn_sample_buckets(uint64_t count) {
    return count <= KNN_SAMPLE_ROOM / 2 ? 1 : (uint32_t)((count + KNN_SAMPLE_BUCKET - 1) / KNN_SAMPLE_BUCKET);
}

/* A place in the i-th of so many stretches of the cloud, the same in each build. */
MOTE_HD uint64_t knn_sample_point(uint32_t i, uint32_t samples, uint64_t count) {
    const uint64_t first = count * i / samples, end = count * (i + 1) / samples;
    return first + mote_hash64(i) % (end - first);
}

#endif
