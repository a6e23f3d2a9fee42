/* Spheres and ellipsoids for a warp's search: exact keys, and what floats may rule out. For .cu files only.

   ELLIPSOID: the squares of ellipsoids are |d|² + (m·d)² in floats, of views d and of m, the rounded root of c² - 1
   times the normal. Let E be the error of d, below slack + u (2 d + slack) with u = 2^-24. That of n·d is below
   E + 5 u (d + E): m is rounded, and three operations are. Both are parts of a vector whose second part counts
   sqrt(c² - 1) times: its length is off by less than c (E + 5 u (d + E)), and the sum by 1 + 3 u. So a point whose
   ellipsoidal distance is B, hence d at most B, is found at most at
       (B (1 + (1 + c) 2^-19) + c slack (1 + 2^-6))²,
   and c times 2^-500 of the norm covers what vanishes in doubles. For compressions above 2^12 floats take 2^12: this
   makes distances less. Where products might overflow, or views are cut, they see spheres, which are nearer still. */
#ifndef MOTE_KNN_DISTANCE_BOUNDS_CUDA_H
#define MOTE_KNN_DISTANCE_BOUNDS_CUDA_H

#include "knn/cuda/search/knn_frame_cuda.cuh"

#define KNN_MAX_DISTANCE_BOUND 4096.0f

/* What floats may rule out of a query, by their errors and by its shape. */
typedef struct knn_distance_bounds {
    float slack;         /* of the query */
    float compression;   /* 1: spheres */
    float normal_weight; /* its square less 1, the root of that */
    bool bounds;         /* what they see is no nearer than it is: some points bound others */
} knn_distance_bounds;

template <int KIND, bool ELLIPSOID>
static __device__ inline knn_distance_bounds knn_distance_bounds_of(const knn_search_args *args) {
    const knn_cuda_extent *const points = args->tree.points.extent, *const queries = args->queries.extent;
    knn_distance_bounds distance_bounds = {0, 1, 0, true};
    if (ELLIPSOID) {
        const float size = fmaxf(knn_extent_size(points), knn_extent_size(queries));
        const float c = fminf((float)args->compression, KNN_MAX_DISTANCE_BOUND);
        const bool compresses = size < 0x1p46f;
        distance_bounds.compression = compresses ? c : 1;
        distance_bounds.normal_weight = compresses ? sqrtf(c * c - 1) : 0;
        distance_bounds.bounds = compresses && args->compression <= KNN_MAX_DISTANCE_BOUND;
    }
    return distance_bounds;
}

/* The bounds for one query: how far floats may err depends on where its view is. */
template <int KIND, bool LOCAL>
static __device__ inline knn_distance_bounds knn_distance_bounds_at(const knn_search_args *args, const float4 &at,
                                                                    const knn_distance_bounds *distance_bounds) {
    knn_distance_bounds of_query = *distance_bounds;
    of_query.slack = knn_slack<KIND, LOCAL>(args->tree.points.extent, args->queries.extent, at.x, at.y, at.z);
    return of_query;
}

/* The largest square that a point with this key may have. */
template <int KIND, bool ELLIPSOID>
static __device__ inline float knn_distance_bound_of_key(const knn_search_args *args, uint64_t key,
                                                         const knn_distance_bounds *distance_bounds) {
    if (!ELLIPSOID) return knn_square_of_key<KIND>(&args->tree.metric, key, distance_bounds->slack);
    const float c = distance_bounds->compression, distance = (float)(sqrt(knn_real(key)) * args->keys.norm);
    const float vanished = (float)(args->keys.norm * 0x1p-500);
    const float farthest =
        distance * (1 + (1 + c) * 0x1p-19f) + c * (distance_bounds->slack * (1 + 0x1p-6f) + vanished);
    return farthest * farthest * (1 + 0x1p-19f) + FLT_MIN;
}

/* What knn_square_bound_near tells of spheres, for ellipsoids too: floats of these err more, with the compression. */
template <int KIND, bool ELLIPSOID>
static __device__ inline float knn_distance_bound_near(const knn_search_args *args, float square,
                                                       const knn_distance_bounds *distance_bounds) {
    if (!ELLIPSOID) return knn_square_bound_near<KIND>(&args->tree.metric, square, distance_bounds->slack);
    const float c = distance_bounds->compression, vanished = (float)(args->keys.norm * 0x1p-500);
    const float farthest =
        sqrtf(square) * (1 + (1 + c) * 0x1p-18f) + c * (distance_bounds->slack * 2.5f + 2 * vanished);
    if (!distance_bounds->bounds || !((double)farthest < args->keys.norm * 0x1p510)) return INFINITY;
    return farthest * farthest * (1 + 0x1p-18f) + 2 * FLT_MIN;
}

/* A query's normal for floats. */
static __device__ inline float4 knn_scaled_normal(const knn_search_args *args, uint32_t place,
                                                  const knn_distance_bounds *distance_bounds) {
    const double *const n = args->normals + 3 * (uint64_t)place;
    return make_float4((float)__ldg(n) * distance_bounds->normal_weight,
                       (float)__ldg(n + 1) * distance_bounds->normal_weight,
                       (float)__ldg(n + 2) * distance_bounds->normal_weight, 0);
}

template <bool ELLIPSOID>
static __device__ inline float knn_bounded_square(float dx, float dy, float dz, const float4 &normal) {
    const float square = knn_square(dx, dy, dz);
    if (!ELLIPSOID) return square;
    const float along = fmaf(normal.z, dz, fmaf(normal.y, dy, normal.x * dx));
    return fmaf(along, along, square);
}

/* No more than the square of any point in the box. With m the normal for floats, the planes across it through the
   points are at least |m·(middle - q)| - (|m|·half) from that through the query: twice as much is compared, less 2^-19
   of all that went into it, which is more than its rounding, 12 u. */
template <bool ELLIPSOID>
static __device__ inline float knn_bounded_box_square(const knn_cuda_box *box, const float4 &at, const float4 &normal,
                                                      float compression) {
    const float *const low = box->low, *const high = box->high;
    const float place[3] = {at.x, at.y, at.z}, m[3] = {normal.x, normal.y, normal.z};
    const float square = knn_gap_square(box, place, place);
    if (!ELLIPSOID) return square;
    float along = 0, half = 0, all = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const float above = low[k] - place[k], below = place[k] - high[k];
        const float middle = above - below, side = -(above + below);
        along = fmaf(m[k], middle, along);
        half = fmaf(fabsf(m[k]), side, half);
        all += fabsf(middle) + side;
    }
    const float away = fmaxf(fabsf(along) - half - all * (compression * 0x1p-19f), 0) * 0.5f;
    return fmaf(away, away, square);
}

/* ---- exact */

/* Keys are those of ask->keys. */
template <int KIND, bool ELLIPSOID>
static __device__ inline uint64_t knn_key_from(const knn_search_args *args, const knn_exact *query,
                                               const knn_exact *point, const knn_ellipsoid *of) {
    return ELLIPSOID ? knn_key_of_ellipsoid(KIND, &args->tree.metric, of, query, point)
                     : knn_key_between(KIND, &args->tree.metric, query, point);
}

static __device__ inline knn_ellipsoid knn_ellipsoid_at(const knn_search_args *args, uint32_t place) {
    const double *const n = args->normals + 3 * (uint64_t)place;
    const knn_ellipsoid of = {{__ldg(n), __ldg(n + 1), __ldg(n + 2)}, args->normal_weight};
    return of;
}

#endif
