/* Leaf after leaf of a list for one query, a sphere or an ellipsoid (a constant like the kind): what squares of floats
   do not rule out is decided by exact keys.

   Ellipsoids. A box of middle m and half sides h, seen from a query q with the unit normal n: its points are farther
   than the gap between q and the box, and the planes through them across n at least |n·(m - q)| - (|n|·h) from that
   through q. So
       gap² + s² max(0, |n·(m - q)| - |n|·h)²,   s² = c² - 1,
   bounds their squared distances from below. Floats take twice the second term's inside, from which comes 2^-19 of all
   that went into it and of the frame's size: its rounding is below 12 u of the former and 18 u of the latter, u = 2^-24
   (offsets are off by u each, and n, the products and the sums are rounded). What the gap's rounding does is what
   knn_threshold_ellipsoid bounds. */
#ifndef MOTE_KNN_STREAM_H
#define MOTE_KNN_STREAM_H

#include "knn/cpu/knn_search.h"

/* A query's ellipsoid in floats, as offsets are: s n, and the absolute values of that. */
typedef struct knn_disc {
    simd_f at[3], normal[3], flat[3];
    float slack;
} knn_disc;

SIMD_INLINE float knn_stream_threshold(bool ellipsoid, const knn_search *search, const knn_scratch *scratch,
                                       double distance) {
    return ellipsoid ? knn_threshold_ellipsoid(&scratch->frame, distance, search->ellipsoids->compression)
                     : knn_threshold(&scratch->frame, distance);
}

/* Offsets of doubles are mirrored where the scale is negative. */
static inline void knn_disc_make(knn_kind kind, const knn_search *search, const knn_scratch *scratch,
                                 const knn_ellipsoid *of, uint32_t q, knn_disc *disc) {
    const double s = sqrt(of->normal_weight);
    for (int k = 0; k < 3; k++) {
        const double sign = kind == KNN_DOUBLE && search->tree->metric.scale[k] < 0 ? -1 : 1;
        const float normal = (float)(s * sign * of->normal[k]);
        disc->at[k] = simd_f_set(scratch->group.offset[k][q]);
        disc->normal[k] = simd_f_set(normal);
        disc->flat[k] = simd_f_set(fabsf(normal));
    }
    disc->slack = (float)(s * 0x1p-19);
}

/* The boxes of the group's list, side by side. */
static inline void knn_list_boxes(knn_scratch *scratch) {
    for (int row = 0; row < 6; row++) {
        for (uint32_t i = 0; i < scratch->list.count; i++) {
            scratch->list_box[row][i] = scratch->chunk.box[row][scratch->list.at[i]];
        }
    }
}

/* Which of eight leaves of the list, from the i-th on, may hold a point within the threshold. */
SIMD_INLINE uint32_t knn_disc_leaves(const knn_disc *disc, const knn_scratch *scratch, uint32_t i, float threshold) {
    const simd_f zero = simd_f_set(0);
    simd_f square = zero, along = zero, flat = zero, all = simd_f_set((float)scratch->frame.size);
    for (int k = 0; k < 3; k++) {
        const simd_f above = simd_f_sub(simd_f_load(scratch->list_box[k] + i), disc->at[k]);
        const simd_f below = simd_f_sub(disc->at[k], simd_f_load(scratch->list_box[3 + k] + i));
        const simd_f gap = simd_f_max(simd_f_max(above, below), zero);
        const simd_f middle = simd_f_sub(above, below), side = simd_f_sub(zero, simd_f_add(above, below));
        square = simd_f_fma(gap, gap, square);
        along = simd_f_fma(disc->normal[k], middle, along);
        flat = simd_f_fma(disc->flat[k], side, flat);
        all = simd_f_add(all, simd_f_add(simd_f_max(middle, simd_f_sub(zero, middle)), side));
    }
    const simd_f away = simd_f_sub(simd_f_max(along, simd_f_sub(zero, along)), flat);
    const simd_f sure = simd_f_max(simd_f_sub(away, simd_f_mul(all, simd_f_set(disc->slack))), zero);
    const simd_f half = simd_f_mul(sure, simd_f_set(0.5f));
    const uint32_t remaining = scratch->list.count - i;
    const uint32_t leaves = simd_f_at_most(simd_f_fma(half, half, square), simd_f_set(threshold));
    return remaining < KNN_LEAF ? leaves & ((1u << remaining) - 1) : leaves;
}

/* The leaves of the group's list that may hold a point within the threshold. */
SIMD_INLINE void knn_disc_list(const knn_disc *disc, knn_scratch *scratch, float threshold) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < scratch->list.count; i += KNN_LEAF) {
        uint32_t leaves = knn_disc_leaves(disc, scratch, i, threshold);
        for (; leaves != 0; leaves &= leaves - 1) {
            scratch->disc_leaves[count++] = scratch->list.at[i + (uint32_t)__builtin_ctz(leaves)];
        }
    }
    scratch->disc_count = count;
}

/* Squared distances to the points of a leaf of the chunk. */
SIMD_INLINE simd_f knn_disc_squares(const knn_disc *disc, const knn_chunk *chunk, uint32_t leaf) {
    simd_f square = simd_f_set(0), along = square;
    for (int k = 0; k < 3; k++) {
        const simd_f d = simd_f_sub(simd_f_load(chunk->offset[k] + KNN_LEAF * leaf), disc->at[k]);
        square = simd_f_fma(d, d, square);
        along = simd_f_fma(disc->normal[k], d, along);
    }
    return simd_f_fma(along, along, square);
}

/* What is done with a point that floats do not rule out. Returns the threshold from then on. */
typedef float (*knn_take)(const void *user, knn_scratch *scratch, uint32_t q, uint64_t key, uint32_t at,
                          float threshold);

/* The points of a list of leaves for the q-th query of the group, within a threshold of squares. best: the list
   that they are for, or NULL. Once it wants only points at distance 0, their indices are compared before their keys are
   made, because squares close to the smallest double are slow. */
SIMD_INLINE void knn_stream(knn_kind kind, bool ellipsoid, const knn_search *search, knn_scratch *scratch, uint32_t q,
                            float threshold, const knn_best *best, knn_take take, const void *user) {
    const knn_tree *tree = search->tree;
    const knn_chunk *chunk = &scratch->chunk;
    const uint32_t query = scratch->group.first + q, self = search->exclude_self ? query : UINT32_MAX;
    const simd_f x = simd_f_set(scratch->group.offset[0][q]), y = simd_f_set(scratch->group.offset[1][q]),
                 z = simd_f_set(scratch->group.offset[2][q]);
    const uint32_t *leaves = scratch->list.at;
    uint32_t count = scratch->list.count;
    knn_ellipsoid of;
    knn_disc disc;
    knn_exact mine, other;
    knn_exact_of(kind, search->queries, query, &mine);
    if (ellipsoid) {
        knn_ellipsoid_of_row(search->ellipsoids, search->queries->order[query], &of);
        knn_disc_make(kind, search, scratch, &of, q, &disc);
        knn_disc_list(&disc, scratch, threshold);
        leaves = scratch->disc_leaves;
        count = scratch->disc_count;
    }
    for (uint32_t i = 0; i < count; i++) {
        const simd_f squares =
            ellipsoid ? knn_disc_squares(&disc, chunk, leaves[i]) : knn_squares(chunk, leaves[i], x, y, z);
        for (uint32_t hits = simd_f_at_most(squares, simd_f_set(threshold)); hits != 0; hits &= hits - 1) {
            const uint32_t at = KNN_LEAF * chunk->leaves[leaves[i]] + (uint32_t)__builtin_ctz(hits);
            if (at >= tree->points.count || at == self) continue;
            if (best != NULL && best->limit == 0 && tree->points.order[at] > best->limit_index) continue;
            knn_exact_of(kind, &tree->points, at, &other);
            const uint64_t key = ellipsoid ? knn_key_of_ellipsoid(kind, &tree->metric, &of, &mine, &other)
                                           : knn_key_between(kind, &tree->metric, &mine, &other);
            threshold = take(user, scratch, q, key, at, threshold);
        }
    }
}

#endif
