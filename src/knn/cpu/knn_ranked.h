/* Not too many neighbours from one list of leaves, with hardly a branch that could be guessed wrong. For each query:
   1. the squares of all distances in floats. For few neighbours also the least of each of 16 subsets of the points: the
      k-th least of those 16 is the distance of some point, and k points are no farther, so it bounds the k-th
      neighbour; for k = 10 some 13 points are within it. For more neighbours the reach is a bound as good;
   2. what is within the bound is decided exactly: its key, and its rank among the keys of all of them. */
#ifndef MOTE_KNN_RANKED_H
#define MOTE_KNN_RANKED_H

#include "knn/cpu/knn_search.h"

#define KNN_RANKED_MAX 128u /* k; above, lists that are sorted are quicker than ranks */
#define KNN_SUBSET_MAX 12u  /* above, too many pass: the most of the least of 16 subsets bounds 54 points */

/* Squares of one query, and the least of each subset. */
SIMD_INLINE void knn_ranked_squares(knn_scratch *scratch, uint32_t q) {
    const knn_chunk *chunk = &scratch->chunk;
    const knn_list *list = &scratch->list;
    const simd_f x = simd_f_set(scratch->group.offset[0][q]), y = simd_f_set(scratch->group.offset[1][q]),
                 z = simd_f_set(scratch->group.offset[2][q]);
    float *squares = scratch->ranked.squares[q];
    simd_f even = simd_f_set(INFINITY), odd = even;
    uint32_t i = 0;
    for (; i + 2 <= list->count; i += 2) {
        const simd_f a = knn_squares(chunk, list->at[i], x, y, z), b = knn_squares(chunk, list->at[i + 1], x, y, z);
        simd_f_store(squares + KNN_LEAF * i, a);
        simd_f_store(squares + KNN_LEAF * i + KNN_LEAF, b);
        even = simd_f_min(even, a);
        odd = simd_f_min(odd, b);
    }
    if (i < list->count) {
        const simd_f a = knn_squares(chunk, list->at[i], x, y, z);
        simd_f_store(squares + KNN_LEAF * i, a);
        even = simd_f_min(even, a);
    }
    simd_f_store(scratch->ranked.min[q], even);
    simd_f_store(scratch->ranked.min[q] + KNN_LEAF, odd);
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
SIMD_INLINE void knn_ranked_bounds(knn_scratch *scratch, uint32_t beside, float max) {
    const double size = scratch->frame.size, norm = scratch->frame.norm;
    knn_ranked *ranked = &scratch->ranked;
    simd_f rows[KNN_SUBSETS];
    for (uint32_t i = 0; i < KNN_GROUP; i++) {
        rows[i] = simd_f_load(ranked->min[i]);
        rows[KNN_GROUP + i] = simd_f_load(ranked->min[i] + KNN_LEAF);
    }
    simd_f_transpose(rows);
    simd_f_transpose(rows + KNN_LEAF);
    knn_sort_rows(rows);
    float sorted[KNN_SUBSETS][KNN_GROUP];
    for (uint32_t i = 0; i < KNN_SUBSETS; i++) simd_f_store(sorted[i], rows[i]);
    const simd_f distance = simd_f_sqrt(simd_f_load(sorted[beside - 1]));
    const simd_f search_radius = simd_f_add(simd_f_mul(distance, simd_f_set(1 + 0x1p-17f)),
                                            simd_f_set((float)(size * 0x1p-18 + norm * KNN_VANISHED)));
    const simd_f bound = simd_f_add(simd_f_mul(search_radius, search_radius), simd_f_set(FLT_MIN));
    const bool cut = size > 0x1p50 || norm < 0x1p-440;
    simd_f_store(ranked->bound, simd_f_min(bound, simd_f_set(max)));
    for (uint32_t q = 0; q < KNN_GROUP; q++) {
        if (cut || !(ranked->bound[q] < 0x1p100f)) ranked->bound[q] = max;
    }
}

/* The slots of the squares that pass, in order; how many, or more than KNN_RANKED_CAPACITY if there is no room for
 * them. */
SIMD_INLINE uint32_t knn_ranked_slots(knn_scratch *scratch, uint32_t q) {
    knn_ranked *ranked = &scratch->ranked;
    const simd_f bound = simd_f_set(ranked->bound[q]);
    const uint32_t leaves = scratch->list.count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < leaves; i++) {
        ranked->hits[i] = (uint8_t)simd_f_at_most(simd_f_load(ranked->squares[q] + KNN_LEAF * i), bound);
    }
    memset(ranked->hits + leaves, 0, 8);
    for (uint32_t i = 0; i < leaves; i += 8) {
        uint64_t hits;
        memcpy(&hits, ranked->hits + i, sizeof hits);
        const uint32_t here = (uint32_t)__builtin_popcountll(hits);
        if (count + here > KNN_RANKED_CAPACITY) return KNN_RANKED_CAPACITY + 1;
        uint32_t *slots = ranked->slots + count;
        count += here;
        for (uint32_t j = 0; j < 4; j++) { /* mostly enough; what is too much is overwritten */
            slots[j] = KNN_LEAF * i + ((uint32_t)__builtin_ctzll(hits | 1ull << 63));
            hits &= hits - 1;
        }
        for (uint32_t j = 4; j < here; j++, hits &= hits - 1) {
            slots[j] = KNN_LEAF * i + (uint32_t)__builtin_ctzll(hits);
        }
    }
    return count;
}

/* The keys of the slots; returns how many are within the limit. */
SIMD_INLINE uint32_t knn_ranked_keys(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t q,
                                     uint32_t slots) {
    knn_ranked *ranked = &scratch->ranked;
    const knn_points *points = &search->tree->points;
    const uint32_t query = scratch->group.first + q, self = search->exclude_self ? query : UINT32_MAX;
    uint32_t count = 0;
    knn_exact mine, other;
    knn_exact_of(kind, search->queries, query, &mine);
    for (uint32_t i = 0; i < slots; i++) {
        const uint32_t at = knn_list_place(&scratch->list, &scratch->chunk, ranked->slots[i]);
        if (at >= points->count || at == self) continue;
        knn_exact_of(kind, points, at, &other);
        const uint64_t key = knn_key_between(kind, &search->tree->metric, &mine, &other);
        ranked->keys[count] = key;
        ranked->heads[count] = (int32_t)knn_key_head(kind, key);
        ranked->at[count] = at;
        count += key <= search->limit;
    }
    return count;
}

/* Sorts the keys by rank into best; by insertion where heads do not tell some apart. */
SIMD_INLINE void knn_ranked_place(const knn_search *search, knn_ranked *ranked, uint32_t passed, knn_best *best) {
    uint64_t places[KNN_RANKED_CAPACITY / 64] = {0}, taken = 0;
    simd_rank(ranked->heads, passed, ranked->ranks);
    for (uint32_t i = 0; i < passed; i++) {
        knn_near *near = &best->list[ranked->ranks[i]];
        places[ranked->ranks[i] / 64] |= 1ull << ranked->ranks[i] % 64;
        near->key = ranked->keys[i];
        near->at = ranked->at[i];
        near->index = search->tree->points.order[ranked->at[i]];
    }
    best->count = passed < search->k ? passed : search->k;
    for (uint32_t i = 0; i < KNN_RANKED_CAPACITY / 64; i++) taken += (uint64_t)__builtin_popcountll(places[i]);
    if (taken == passed) return;
    for (uint32_t i = 0; i < passed; i++) {
        best->list[i].key = ranked->keys[i];
        best->list[i].at = ranked->at[i];
        best->list[i].index = search->tree->points.order[ranked->at[i]];
    }
    knn_sort(NULL, best->list, passed);
}

/* Finds the neighbours of the group's queries asked for, and returns those for whom too much passed.
   beside  k, and one for a query that does not count itself */
SIMD_INLINE uint32_t knn_ranked_search(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t queries,
                                       uint32_t beside, float max) {
    uint32_t overflowed = 0;
    for (uint32_t remaining = queries; remaining != 0; remaining &= remaining - 1) {
        knn_ranked_squares(scratch, (uint32_t)__builtin_ctz(remaining));
    }
    if (beside <= KNN_SUBSET_MAX) {
        knn_ranked_bounds(scratch, beside, max);
    } else {
        for (uint32_t q = 0; q < KNN_GROUP; q++) scratch->ranked.bound[q] = max;
    }
    for (uint32_t remaining = queries; remaining != 0; remaining &= remaining - 1) {
        const uint32_t q = (uint32_t)__builtin_ctz(remaining);
        const uint32_t slots = knn_ranked_slots(scratch, q);
        if (slots > KNN_RANKED_CAPACITY) {
            overflowed |= 1u << q;
            continue;
        }
        const uint32_t passed = knn_ranked_keys(kind, search, scratch, q, slots);
        knn_ranked_place(search, &scratch->ranked, passed, &scratch->best[q]);
    }
    return overflowed;
}

#endif
