/* What a warp that selects (photon_select_cuda.cuh) keeps: points in shared memory, a query in each lane, and what is
   known of its k-th. For .cu files only. */
#ifndef MOTE_PHOTON_SELECT_MEMORY_CUDA_H
#define MOTE_PHOTON_SELECT_MEMORY_CUDA_H

#include <type_traits>

#include "knn/cuda/knn_visit_cuda.cuh"

/* Points in memory, queries of a group, bins of a query's histogram, and points of a query that are compared by keys,
   at most. */
template <uint32_t POINTS, uint32_t QUERIES, uint32_t BINS, uint32_t EDGE> struct photon_select_policy {
    typedef std::conditional_t<(QUERIES > 8), uint16_t, uint8_t> slots; /* a bit for each query */
    static constexpr uint32_t points = POINTS, queries = QUERIES, bins = BINS, edge = EDGE;
    static constexpr uint32_t usual_parts_log2 = QUERIES == 16  ? 1
                                                 : QUERIES == 8 ? 2
                                                 : QUERIES == 4 ? 3
                                                                : 5; /* where all are tried */
    static constexpr uint32_t words = (POINTS * QUERIES + 1023) / 1024 * CUDA_WARP;
    static constexpr uint32_t listed = 128; /* leaves at once */
    static constexpr uint32_t groups = 4;   /* of a warp, one after the other, at most */
    static constexpr uint32_t tries = 10;   /* of a query */
    static constexpr float slack = 1.2f;    /* times what a group needed is what the next one begins with */
};

template <class POLICY> struct alignas(16) photon_select_memory {
    float4 point[POLICY::points];                  /* w: the bits of its place */
    typename POLICY::slots counts[POLICY::points]; /* for which queries */
    uint32_t within[POLICY::words];                /* words of the lanes */
    union {
        struct {
            uint32_t waiting[KNN_WAITING], listed[1][POLICY::listed];
        } walk;
        uint32_t histogram[POLICY::bins / 2 * POLICY::queries]; /* two bins in a word: b, and b + bins / 2 */
        struct {                                                /* what is compared by keys */
            uint64_t key[POLICY::queries * POLICY::edge];
            uint16_t at[POLICY::queries * POLICY::edge];
        } edge;
    };
    uint32_t edge_count[POLICY::queries], kth[POLICY::queries];
};

/* A lane's query: the same in all its lanes. */
typedef struct photon_select_query {
    uint32_t slot, part, parts_log2; /* the lane is a part of those of the slot */
    uint32_t number, place, row;     /* number: in the group */
    bool exists;
    float4 at, normal;
    float3 direction;
} photon_select_query;

/* What a query knows of its k-th. */
typedef struct photon_select_kth {
    uint32_t total;      /* points within the radius */
    float certain, most; /* squares below certain are before the k-th, above most behind it */
    uint64_t key;
    bool found;
    bool by_radius; /* there are fewer than k within the caller's radius, which key is then */
} photon_select_kth;

/* The box around the queries. Where they have one normal, a box of points is as far as their ellipsoids have it: that
   of the differences of the two is seen from zero. One more rounding is well within what the distance is less by. */
template <bool ELLIPSOID> struct photon_select_box_test {
    float low[3], high[3], max;
    float4 normal; /* zeros: spheres */
    float compression;

    __device__ inline uint32_t operator()(const knn_cuda_box *box) const {
        const float4 zero = make_float4(0, 0, 0, 0);
        knn_cuda_box away;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            away.low[k] = box->low[k] - high[k];
            away.high[k] = box->high[k] - low[k];
        }
        return knn_bounded_box_square<ELLIPSOID>(&away, zero, normal, compression) <= max;
    }
};

#endif
