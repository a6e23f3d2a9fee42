/* From the neighbours of a point to what is wanted of it, on the device. For .cu files only. */
#ifndef MOTE_NORMALS_POINT_CUDA_H
#define MOTE_NORMALS_POINT_CUDA_H

#include "core/column_math.h"
#include "normals/normals_cuda.cuh"
#include "normals/normals_math.h"

/* Adds a neighbour at a sorted place to the sums. */
template <int KIND>
static __device__ inline void normals_take(const normals_cuda_shapes *to, const knn_cuda_points *points, uint32_t at,
                                           const knn_exact *mine, normals_sums *sums) {
    knn_exact other;
    double d[3];
    knn_exact_of<KIND>(points, at, &other);
#pragma unroll
    for (int k = 0; k < 3; k++) {
        d[k] = KIND == KNN_INT ? (double)(other.step[k] - mine->step[k]) : other.value[k] - mine->value[k];
        if (KIND == KNN_DOUBLE) d[k] *= to->unit[k];
    }
    normals_add(sums, d[0], d[1], d[2]);
}

static __device__ inline bool normals_is_to_be_flipped(const normals_cuda_shapes *to, uint32_t row,
                                                       const double normal[3]) {
    double away[3];
    if (to->orient == MOTE_ORIENT_UP) return normals_is_down(normal);
    if (to->orient != MOTE_ORIENT_VIEWPOINT) return false;
#pragma unroll
    for (int k = 0; k < 3; k++) away[k] = to->viewpoint[k] - column_value(&to->axes[k], row);
    return normals_is_away(normal, away[0], away[1], away[2]);
}

/* The bits of eigen3_solve, in a loop instead of unrolled: less code for a kernel that is short of registers. */
static __device__ inline void normals_solve(double m[EIGEN3_NUMBERS]) {
    eigen3_begin(m, 1);
    CUDA_ROLLED
    for (int sweep = 0; sweep < EIGEN3_SWEEPS; sweep++) {
        eigen3_rotate_xy(m, 1);
        eigen3_rotate_xz(m, 1);
        eigen3_rotate_yz(m, 1);
    }
}

/* Writes the normal and the curvature. Returns whether there is a normal. */
static __device__ inline bool normals_write_shape(const normals_cuda_shapes *to, uint32_t row,
                                                  const normals_sums *sums) {
    double m[EIGEN3_NUMBERS];
    normals_covariance(sums, m, 1);
    normals_solve(m);
    normals_shape shape = normals_shape_of(m, 1);
    if (normals_is_to_be_flipped(to, row, shape.normal)) normals_flip(shape.normal);
    if (to->normal_x != NULL) {
        to->normal_x[row] = (float)shape.normal[0];
        to->normal_y[row] = (float)shape.normal[1];
        to->normal_z[row] = (float)shape.normal[2];
    }
    if (to->curvature != NULL) to->curvature[row] = (float)shape.curvature;
    return shape.normal[0] != 0 || shape.normal[1] != 0 || shape.normal[2] != 0;
}

/* farthest: the key of the last neighbour. */
static __device__ inline void normals_write_density(const normals_cuda_shapes *to, const knn_metric *metric,
                                                    uint32_t row, uint32_t count, uint64_t farthest) {
    const bool ended = to->radius > 0 && (to->k == 0 || count < to->k);
    const double others = count > 0 ? (double)(count - 1) : 0;
    const double distance2 = ended ? to->radius * to->radius : count > 0 ? knn_distance2(metric, farthest) : 0;
    if (to->surface_density != NULL) to->surface_density[row] = normals_surface_density(others, distance2);
    if (to->volume_density != NULL) to->volume_density[row] = normals_volume_density(others, distance2);
}

template <class LIST>
static __device__ inline void normals_write_edges(const normals_cuda_shapes *to, const knn_cuda_points *points,
                                                  uint32_t row, const LIST &list) {
    uint32_t *const edges = to->graph + (uint64_t)row * to->graph_k;
    uint32_t found = 0;
    for (uint32_t i = 0; i < list.count && found < to->graph_k; i++) {
        const uint32_t index = __ldg(points->order + list.at(i));
        if (index != row) edges[found++] = index;
    }
    while (found < to->graph_k) edges[found++] = UINT32_MAX;
}

/* The key of a neighbour, made anew. */
template <int KIND, class LIST>
static __device__ inline uint64_t normals_key_of(const knn_cuda_tree *tree, const knn_exact *mine, const LIST &list,
                                                 uint32_t i) {
    knn_exact other;
    knn_exact_of<KIND>(&tree->points, list.at(i), &other);
    return knn_key_between(KIND, &tree->metric, mine, &other);
}

/* Writes what is wanted of the point at a sorted place. A list has count neighbours, ordered by (distance, index);
   at(i) is the sorted place of one of them. Returns whether the point is there and has no normal. */
template <int KIND, class LIST>
static __device__ inline bool normals_of_neighbours(const knn_cuda_tree *tree, const normals_cuda_shapes *to,
                                                    uint32_t place, const LIST &list) {
    const uint32_t row = tree->points.order[place];
    normals_sums sums = {(double)list.count, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    knn_exact mine;
    knn_exact_of<KIND>(&tree->points, place, &mine);
    if (to->surface_density != NULL || to->volume_density != NULL) {
        const uint64_t farthest = list.count > 0 ? normals_key_of<KIND>(tree, &mine, list, list.count - 1) : 0;
        normals_write_density(to, &tree->metric, row, list.count, farthest);
    }
    if (to->graph != NULL) normals_write_edges(to, &tree->points, row, list);
    if (!to->wants_shape) return false;
#pragma unroll 4
    for (uint32_t i = 0; i < list.count; i++) normals_take<KIND>(to, &tree->points, list.at(i), &mine, &sums);
    return !normals_write_shape(to, row, &sums) && list.count > 0;
}

/* The mean distance to the neighbours, and how many they are. */
template <int KIND, class LIST>
static __device__ inline void normals_distance_of(const knn_cuda_tree *tree, const normals_cuda_distances *to,
                                                  uint32_t place, const LIST &list) {
    const uint32_t row = tree->points.order[place];
    double sum = 0;
    knn_exact mine;
    knn_exact_of<KIND>(&tree->points, place, &mine);
    if (to->count != NULL) to->count[row] = list.count;
    if (to->mean == NULL) return;
    for (uint32_t i = 0; i < list.count; i++) {
        sum += sqrt(knn_distance2(&tree->metric, normals_key_of<KIND>(tree, &mine, list, i)));
    }
    const double none = place < tree->points.extent->finite ? NORMALS_ALONE : NORMALS_NON_FINITE;
    to->mean[row] = list.count > 0 ? sum / (double)list.count : none;
}

/* One of the points without a normal: all lanes of a warp call it. */
static __device__ inline void normals_count_without(const normals_cuda_shapes *to, bool is_without, uint32_t lane) {
    const uint32_t lanes = __ballot_sync(CUDA_ALL, is_without);
    if (lane == 0 && lanes != 0 && to->without != NULL) atomicAdd(to->without, (unsigned long long)__popc(lanes));
}

#endif
