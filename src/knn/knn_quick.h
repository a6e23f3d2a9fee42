/* Few neighbours from one list of leaves, with hardly a branch that could be guessed wrong. For each query:
   1. the squares of all distances in floats, and the least of each of 16 subsets of the points. The k-th least of
      those 16 is the distance of some point, and k points are no farther: it bounds the k-th neighbour, and for k = 10
      lets some 15 points pass;
   2. what passes is decided exactly: its key, and its rank among the keys of all that pass. */
#ifndef MOTE_KNN_QUICK_H
#define MOTE_KNN_QUICK_H

#include "knn/knn_best.h"
#include "knn/knn_walk.h"

#define KNN_QUICK_MOST 12u /* above, too many pass: the least of 16 subsets bound the 16th of 54 points */
#define KNN_QUICK_ROOM 64u /* that may pass */
#define KNN_SUBSETS    16u

typedef struct knn_quick {
    float squares[KNN_LEAF][KNN_CHUNK + KNN_LEAF];
    float least[KNN_LEAF][KNN_SUBSETS];
    float bound[KNN_LEAF];
    uint8_t hits[KNN_LIST + 8];
    uint64_t keys[KNN_QUICK_ROOM + 8], ranks[KNN_QUICK_ROOM + 8];
    uint32_t at[KNN_QUICK_ROOM + 8];
} knn_quick;

typedef struct knn_quick_ask {
    const knn_points *points, *queries;
    const knn_metric *metric;
    const knn_chunk *chunk;
    const knn_frame *frame;
    float (*offset)[KNN_LEAF];
    uint32_t first, k;
    uint32_t beside; /* k, and one for a query that does not count itself */
    uint64_t limit;
    float threshold;
    bool exclude_self;
} knn_quick_ask;

/* Squares of one query, and the least of each subset. The number of leaves is made even by one that is nowhere. */
SIMD_INLINE void knn_quick_squares(const knn_quick_ask *ask, knn_quick *quick, uint32_t q) {
    const knn_chunk *chunk = ask->chunk;
    const simd_f x = simd_f_set(ask->offset[0][q]), y = simd_f_set(ask->offset[1][q]),
                 z = simd_f_set(ask->offset[2][q]);
    simd_f even = simd_f_set(INFINITY), odd = even;
    uint32_t i = 0;
    for (; i + 2 <= chunk->leaf_count; i += 2) {
        const simd_f a = knn_chunk_squares(chunk, i, x, y, z), b = knn_chunk_squares(chunk, i + 1, x, y, z);
        simd_f_store(quick->squares[q] + KNN_LEAF * i, a);
        simd_f_store(quick->squares[q] + KNN_LEAF * i + KNN_LEAF, b);
        even = simd_f_min(even, a);
        odd = simd_f_min(odd, b);
    }
    if (i < chunk->leaf_count) {
        const simd_f a = knn_chunk_squares(chunk, i, x, y, z);
        simd_f_store(quick->squares[q] + KNN_LEAF * i, a);
        even = simd_f_min(even, a);
    }
    simd_f_store(quick->least[q], even);
    simd_f_store(quick->least[q] + KNN_LEAF, odd);
}

/* Sorts 16 rows, each lane for itself: Batcher's merge exchange. */
SIMD_INLINE void knn_sort_rows(simd_f rows[KNN_SUBSETS]) {
#pragma GCC unroll 16
    for (uint32_t p = 1; p < KNN_SUBSETS; p *= 2) {
#pragma GCC unroll 16
        for (uint32_t d = p; d >= 1; d /= 2) {
#pragma GCC unroll 16
            for (uint32_t i = 0; i + d < KNN_SUBSETS; i++) {
                const bool paired = i >= d % p && ((i - d % p) / d) % 2 == 0 && i / (2 * p) == (i + d) / (2 * p);
                if (!paired) continue;
                const simd_f a = rows[i], b = rows[i + d];
                rows[i] = simd_f_min(a, b);
                rows[i + d] = simd_f_max(a, b);
            }
        }
    }
}

/* For each query a threshold that its k nearest pass. The k-th least square b is that of a point, at a distance of at
   most sqrt(b) (1 + 3 u) + what knn_leaf.h says of the frame; the threshold of that distance, again as there. Where
   offsets may have been cut, or the rule's squares overflow, squares of floats bound nothing. */
SIMD_INLINE void knn_quick_bounds(const knn_quick_ask *ask, knn_quick *quick) {
    simd_f rows[KNN_SUBSETS];
    for (uint32_t i = 0; i < KNN_LEAF; i++) {
        rows[i] = simd_f_load(quick->least[i]);
        rows[KNN_LEAF + i] = simd_f_load(quick->least[i] + KNN_LEAF);
    }
    simd_f_transpose(rows);
    simd_f_transpose(rows + KNN_LEAF);
    knn_sort_rows(rows);
    float sorted[KNN_SUBSETS][KNN_LEAF];
    for (uint32_t i = 0; i < KNN_SUBSETS; i++) simd_f_store(sorted[i], rows[i]);
    const simd_f distance = simd_f_sqrt(simd_f_load(sorted[ask->beside - 1]));
    const simd_f reach = simd_f_add(simd_f_mul(distance, simd_f_set(1 + 0x1p-17f)),
                                    simd_f_set((float)(ask->frame->size * 0x1p-18 + ask->metric->norm * 0x1p-500)));
    const simd_f bound = simd_f_add(simd_f_mul(reach, reach), simd_f_set(FLT_MIN));
    const bool cut = ask->frame->size > 0x1p50 || ask->metric->norm < 0x1p-440;
    simd_f_store(quick->bound, simd_f_min(bound, simd_f_set(ask->threshold)));
    for (uint32_t q = 0; q < KNN_LEAF; q++) {
        if (cut || !(quick->bound[q] < 0x1p100f)) quick->bound[q] = ask->threshold;
    }
}

/* The keys of what passes; false if it is too much. */
SIMD_INLINE bool knn_quick_keys(knn_kind kind, const knn_quick_ask *ask, knn_quick *quick, uint32_t q,
                                uint32_t *passed) {
    const simd_f bound = simd_f_set(quick->bound[q]);
    const uint32_t leaves = ask->chunk->leaf_count, self = ask->exclude_self ? ask->first + q : UINT32_MAX;
    uint32_t count = 0;
    knn_place mine, other;
    knn_place_of(kind, ask->queries, ask->first + q, &mine);
    for (uint32_t i = 0; i < leaves; i++) {
        quick->hits[i] = (uint8_t)simd_f_at_most(simd_f_load(quick->squares[q] + KNN_LEAF * i), bound);
    }
    memset(quick->hits + leaves, 0, 8);
    for (uint32_t i = 0; i < leaves; i += 8) {
        uint64_t hits;
        memcpy(&hits, quick->hits + i, sizeof hits);
        for (; hits != 0; hits &= hits - 1) {
            const uint32_t at = knn_chunk_place(ask->chunk, KNN_LEAF * i + (uint32_t)__builtin_ctzll(hits));
            if (at >= ask->points->count || at == self) continue;
            knn_place_of(kind, ask->points, at, &other);
            const uint64_t key = knn_key_of(kind, ask->metric, &mine, &other);
            quick->keys[count] = key;
            quick->at[count] = at;
            count += key <= ask->limit;
            if (count > KNN_QUICK_ROOM) return false;
        }
    }
    *passed = count;
    return true;
}

/* Sorts the keys by rank into best; by insertion where some are equal. */
SIMD_INLINE void knn_quick_rank(const knn_quick_ask *ask, knn_quick *quick, uint32_t passed, knn_best *best) {
    uint64_t places = 0;
    for (uint32_t i = 0; i < 4; i++) quick->keys[passed + i] = UINT64_MAX;
    simd_rank(quick->keys, passed, quick->ranks);
    for (uint32_t i = 0; i < passed; i++) places |= 1ull << quick->ranks[i];
    const bool distinct = places == (passed == 64 ? UINT64_MAX : (1ull << passed) - 1);
    for (uint32_t i = 0; i < passed; i++) {
        knn_near *near = &best->list[distinct ? quick->ranks[i] : i];
        near->key = quick->keys[i];
        near->at = quick->at[i];
        near->index = ask->points->order[quick->at[i]];
    }
    if (!distinct) knn_insertion_sort(best->list, passed);
    best->count = passed < ask->k ? passed : ask->k;
}

/* Finds the neighbours of the queries asked for, and returns those for whom too much passed. */
SIMD_INLINE uint32_t knn_quick_look(knn_kind kind, const knn_quick_ask *ask, knn_quick *quick, uint32_t queries,
                                    knn_best *best) {
    uint32_t overflowed = 0;
    for (uint32_t left = queries; left != 0; left &= left - 1) {
        knn_quick_squares(ask, quick, (uint32_t)__builtin_ctz(left));
    }
    knn_quick_bounds(ask, quick);
    for (uint32_t left = queries; left != 0; left &= left - 1) {
        const uint32_t q = (uint32_t)__builtin_ctz(left);
        uint32_t passed = 0;
        if (knn_quick_keys(kind, ask, quick, q, &passed)) {
            knn_quick_rank(ask, quick, passed, &best[q]);
        } else {
            overflowed |= 1u << q;
        }
    }
    return overflowed;
}

#endif
