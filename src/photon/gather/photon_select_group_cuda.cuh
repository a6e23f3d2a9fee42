/* The tries of a warp that selects (photon_select_cuda.cuh): with which radius, and of how many queries at once. For
   .cu files only.

     low    max    high     squares of radii: low was too small for a query, with high points were too many
      |------x------|       next is one between, or half of the queries */
#ifndef MOTE_PHOTON_SELECT_GROUP_CUDA_H
#define MOTE_PHOTON_SELECT_GROUP_CUDA_H

#include "photon/gather/photon_select_warp_cuda.cuh"

template <bool ELLIPSOID, class POLICY, class VISITOR>
struct photon_select : photon_select_try<ELLIPSOID, POLICY, VISITOR> {
    typedef photon_select_try<ELLIPSOID, POLICY, VISITOR> single_try;
    using single_try::args;
    using single_try::bounds;
    using single_try::first;
    using single_try::lane;
    using single_try::limit;
    using single_try::share_lanes;
    using single_try::square_to;
    using single_try::try_queries;
    using single_try::visitor;
    using typename single_try::result;

    /* A square that about k points around a query do not exceed. */
    __device__ inline float guess_for(uint32_t number) const {
        const photon_select_query q = share_lanes(1u << number);
        const knn_leaf_range around = knn_leaves_around(&args->tree, knn_leaf_of(args, q.place), CUDA_WARP);
        const knn_frame<KNN_FLOAT, false> frame = {};
        const uint32_t finite = args->tree.points.extent->finite;
        const uint32_t leaf = around.first + lane < around.end ? around.first + lane : around.end - 1;
        float square[KNN_CUDA_LEAF];
        knn_leaf_views v;
        knn_load_leaf<KNN_FLOAT, false>(&args->tree, &frame, leaf, &v);
#pragma unroll
        for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
            const uint32_t place = leaf * KNN_CUDA_LEAF + j;
            const bool counts = around.first + lane < around.end && place < finite &&
                                visitor->counts(visitor->of_point(place), q.direction);
            const float4 at = make_float4(v.x[j], v.y[j], v.z[j], 0);
            square[j] = counts ? square_to(&q, at) : NAN;
        }
        const uint32_t all = count_within(square, FLT_MAX), half = all / 2 > 0 ? all / 2 : 1;
        if (all == 0) return 0;
        const uint32_t nth = args->k < half ? args->k : half;
        return 1.3f * knn_bound_of(square, nth, largest_of(square) / 2) * (float)args->k / (float)nth;
    }

    __device__ inline void defer(uint32_t numbers) const {
        if (numbers >> lane & 1) visitor->defer(__ldg(args->queries.order + first + lane), first + lane);
    }

    /* Some of the queries, the first ones. */
    static __device__ inline uint32_t first_of(uint32_t queries, uint32_t count) {
        while ((uint32_t)__popc(queries) > count) queries &= ~(1u << (31 - __clz((int)queries)));
        return queries;
    }

    /* *guess: what to begin with; 0: not known. Becomes that of the next group.
       Some of the queries are tried at once: with max, which is above low, that was too small for some, and below high,
       with which points were too many. */
    __device__ inline void search_group(uint32_t queries, float *guess) const {
        uint32_t remaining = UINT32_MAX >> (CUDA_WARP - queries), at_once = queries, tries = 0, most_done = 0;
        float max = *guess, low = 0, high = INFINITY;
        *guess = 0;
        while (remaining != 0) {
            const uint32_t active = first_of(remaining, at_once), count = (uint32_t)__popc(active);
            result r = {false, false, true, 0, 0, 0};
            if (!(max > 0)) { /* not known, or less than so much */
                const float anew = guess_for(warp_nth(active, count / 2));
                const bool is_smaller = anew > 0 && anew < -0.7f * max;
                if (max < 0 && !is_smaller && count > 1) {
                    at_once = (count + 1) / 2;
                    max = -max;
                    tries = 0;
                    high = INFINITY;
                    continue;
                }
                max = max == 0 || is_smaller ? anew : -0.35f * max;
            }
            max = fminf(max, limit);
            const bool sees = max > 0x1p-100f && max <= FLT_MAX && (!ELLIPSOID || bounds.bounds);
            if (sees && tries < POLICY::tries) r = try_queries(active, max);
            const uint32_t done = (uint32_t)__popc(r.done);
            tries++;
            remaining &= ~r.done;
            if (done > most_done) {
                most_done = done;
                *guess = POLICY::slack * r.most;
            }
            if (r.all || r.rare) { /* no radius will do */
                defer(active & ~r.done);
                remaining &= ~active;
                max = low = 0;
                high = INFINITY;
                tries = 0;
            } else if (r.done == active) {
                max = *guess;
                low = 0;
                high = INFINITY;
                tries = 0;
            } else if (r.fits) {
                low = r.next > max ? max : 0;
                high = done > 0 ? INFINITY : high;
                tries = done > 0 ? 0 : tries;
                max = r.next < high ? r.next : sqrtf(low) * sqrtf(high);
            } else {
                high = max;
                if (low > 0 && count > 1) {
                    at_once = (count + 1) / 2;
                    low = 0;
                    high = INFINITY;
                    tries = 0;
                } else {
                    max = low > 0 ? sqrtf(low) * sqrtf(high) : -max;
                }
            }
        }
    }
};

#endif
