/* Candidates of shifted sorting: squares in floats, which rule out, and exact keys. For .cu files only.

   Let E(d) = sqrt(|d|² + (c² - 1) (n·d)²), a norm of at most c |d|, and u = 2^-24. Two views are together off by less
   than slack + u |d| (knn_frame_cuda.cuh), so E of their difference is off by c · slack + c u E. Floats: each
   difference is off by a factor of 1 + u, each component of m = sqrt(c² - 1) n by 1 + 3 u, and the three terms of m·d
   by three more roundings at most: m·d is off by less than 8 u sqrt(c² - 1) |d|, and its square, since 2 |m·d| |d| <=
   E², by 8 u c E² and 64 u² c² E². |d|² and the last sum add less than 8 u. Keys have the same errors with 2^-53 for u.
   So a point at E is found at (E ± c slack)² (1 ± e), e = 2^-20 c + 2^-42 c² + 2^-20, with room. If e is at most 0.1,
   - a point whose E is at most D is found at most at (D + c slack)² (1 + 2.5 e);
   - points found at most at s have E of at most sqrt(s (1 + 1.2 e)) + c slack; others as near are found at most at
     (sqrt(s) + 2 c slack)² (1 + 2.5 e).
   What vanishes in squares of floats is below 2 c² 2^-126; what vanishes in those of doubles is below 2^-500 of a
   distance, and where they may overflow, beyond 2^500, nothing is ruled out. */
#ifndef MOTE_KNN_SHIFTED_WALK_CUDA_H
#define MOTE_KNN_SHIFTED_WALK_CUDA_H

#include "knn/search/knn_frame_cuda.cuh"
#include "knn/shifted/knn_shifted_search_cuda.cuh"

static __device__ inline float knn_float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static __device__ inline uint32_t knn_bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- a query: the same in all lanes */

typedef struct knn_shifted_query {
    float at[3], along[3];                         /* the view, and m */
    uint32_t first[KNN_SHIFTS], count[KNN_SHIFTS]; /* its windows */
    uint32_t self;                                 /* its own curve place, if it does not count */
} knn_shifted_query;

template <bool ELLIPSOID>
static __device__ inline knn_shifted_query knn_shifted_query_of(const knn_shifted_args *args, uint32_t place) {
    knn_shifted_query q;
    const uint64_t at = (uint64_t)(place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + place % KNN_CUDA_LEAF;
    const uint4 insertion_places = __ldg(args->insertion_places + place);
    const uint32_t stand[KNN_SHIFTS] = {insertion_places.x, insertion_places.y, insertion_places.z, insertion_places.w};
    const uint32_t points = args->points.extent->finite;
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) {
        q.at[k] = __ldg(args->queries.views + at + KNN_CUDA_LEAF * k);
        q.along[k] = 0;
        if (ELLIPSOID) q.along[k] = (float)__ldg(args->normals + 3 * (uint64_t)place + k) * args->bounds.along;
    }
#pragma unroll
    for (uint32_t s = 0; s < KNN_SHIFTS; s++) {
        uint32_t end;
        knn_shifted_window(stand[s], args->beside, points, &q.first[s], &end);
        q.count[s] = end - q.first[s];
    }
    q.self = args->exclude_self ? place : UINT32_MAX;
    return q;
}

/* ---- squares of views, as bits, which order as they do: there is no NaN */

#define KNN_SHIFTED_NONE 0x7FFFFFFFu /* no candidate, or one that is not to be looked at */

template <bool ELLIPSOID> static __device__ inline uint32_t knn_shifted_square(const knn_shifted_query *q, uint4 near) {
    const float dx = knn_float_of(near.x) - q->at[0], dy = knn_float_of(near.y) - q->at[1],
                dz = knn_float_of(near.z) - q->at[2];
    float square = knn_square(dx, dy, dz);
    if (ELLIPSOID) {
        const float t = fmaf(q->along[2], dz, fmaf(q->along[1], dy, q->along[0] * dx));
        square = fmaf(t, t, square);
    }
    return knn_bits_of(fminf(square, INFINITY));
}

/* Whether the point at a place of an order is a candidate of an order before. */
static __device__ inline bool knn_shifted_seen(const knn_shifted_orders *orders, const knn_shifted_query *q,
                                               uint32_t order, uint32_t place) {
    if (order == 1) return __ldg(orders->before1 + place) - q->first[0] < q->count[0];
    if (order == 2) {
        const uint2 before = __ldg(orders->before2 + place);
        return (before.x - q->first[0] < q->count[0]) | (before.y - q->first[1] < q->count[1]);
    }
    if (order == 3) {
        const uint4 before = __ldg(orders->before3 + place);
        return (before.x - q->first[0] < q->count[0]) | (before.y - q->first[1] < q->count[1]) |
               (before.z - q->first[2] < q->count[2]);
    }
    return false;
}

/* The square of the i-th candidate of an order, and the point. There are points, so that each order has candidates. */
template <bool ELLIPSOID>
static __device__ inline uint32_t knn_shifted_try(const knn_shifted_args *args, const knn_shifted_query *q,
                                                  uint32_t order, uint32_t i, uint4 *near) {
    const uint32_t place =
        q->first[order] + min(i, q->count[order] - 1); /* no branch: loads are on their way together */
    *near = __ldg(args->orders.near[order] + place);
    const bool seen = knn_shifted_seen(&args->orders, q, order, place) | (i >= q->count[order]) | (near->w == q->self);
    const uint32_t square = knn_shifted_square<ELLIPSOID>(q, *near);
    return seen ? KNN_SHIFTED_NONE : square;
}

/* ---- bounds */

/* Of the query at a sorted place. */
template <int KIND> static __device__ inline float knn_shifted_slack(const knn_shifted_args *args, uint32_t place) {
    const float *const at = args->queries.views + (uint64_t)(place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF);
    const float *const view = at + place % KNN_CUDA_LEAF;
    return args->bounds.compression * knn_slack<KIND, false>(args->points.extent, args->queries.extent, view[0],
                                                      view[KNN_CUDA_LEAF], view[2 * KNN_CUDA_LEAF]);
}

/* As bits. */
static __device__ inline uint32_t knn_shifted_within(const knn_shifted_bounds *bounds, float search_radius) {
    const bool rules = search_radius < bounds->farthest; /* not NaN either */
    return knn_bits_of(rules ? fmaf(search_radius * search_radius, bounds->loose, bounds->tiny) : INFINITY);
}

/* The largest square of a point whose key is not too large. */
static __device__ inline uint32_t knn_shifted_max(const knn_shifted_bounds *bounds, float slack) {
    return knn_shifted_within(bounds, bounds->search_radius + slack);
}

/* The largest square of a point that is not farther than all those found at most at this square. */
static __device__ inline uint32_t knn_shifted_insertion_place(const knn_shifted_bounds *bounds, uint32_t square,
                                                              float slack) {
    const float search_radius = sqrtf(knn_float_of(square) + bounds->tiny) * (1 + 0x1p-20f);
    return knn_shifted_within(bounds, search_radius + (2 * slack + bounds->vanished));
}

/* ---- exact keys */

/* A query as exact as it is known. */
typedef struct knn_shifted_exact {
    knn_exact at;
    knn_ellipsoid of;
} knn_shifted_exact;

template <int KIND, bool ELLIPSOID>
static __device__ inline knn_shifted_exact knn_shifted_exact_of(const knn_shifted_args *args, uint32_t place) {
    knn_shifted_exact query;
    knn_exact_of<KIND>(&args->queries, place, &query.at);
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) {
        query.of.normal[k] = 0;
        if (ELLIPSOID) query.of.normal[k] = __ldg(args->normals + 3 * (uint64_t)place + k);
    }
    query.of.normal_weight = args->normal_weight;
    return query;
}

/* near: the point, as orders have it. */
template <int KIND, bool ELLIPSOID>
static __device__ inline uint64_t knn_shifted_key(const knn_shifted_args *args, const knn_shifted_exact *query,
                                                  uint4 near) {
    knn_exact point;
    uint64_t key;
    if (KIND == KNN_FLOAT) {
        point.value[0] = (double)knn_float_of(near.x);
        point.value[1] = (double)knn_float_of(near.y);
        point.value[2] = (double)knn_float_of(near.z);
    } else {
        knn_exact_of<KIND>(&args->points, near.w, &point);
    }
    if (ELLIPSOID) {
        double d[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            if (KIND == KNN_INT) {
                d[k] = (double)((int64_t)point.step[k] - query->at.step[k]) * args->metric.scale[k];
            } else {
                d[k] = point.value[k] - query->at.value[k];
                if (KIND == KNN_DOUBLE) d[k] *= args->metric.scale[k];
            }
        }
        key = knn_key_ellipsoid(d[0], d[1], d[2], &query->of);
    } else {
        key = knn_key<KIND>(&args->metric, &query->at, &point);
    }
    return key;
}

/* ---- rows */

/* The i-th neighbour of a query; index UINT32_MAX: there is none. */
template <bool ELLIPSOID>
static __device__ inline void knn_shifted_write(const knn_shifted_args *args, uint32_t row, uint32_t i, uint64_t key,
                                                uint32_t index) {
    const knn_cuda_rows *to = &args->rows;
    const uint64_t out = (uint64_t)row * args->k + i;
    const bool found = index != UINT32_MAX;
    const double distance2 = !found ? (double)INFINITY : ELLIPSOID ? knn_real(key) : knn_distance2(&args->metric, key);
    if (to->index32 != NULL) to->index32[out] = index;
    if (to->index64 != NULL) to->index64[out] = found ? (int64_t)index : -1;
    if (to->distance2 != NULL) to->distance2[out] = (float)distance2;
    if (to->distance2_wide != NULL) to->distance2_wide[out] = distance2;
}

#endif
