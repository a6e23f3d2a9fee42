/* Visits of neighbourhoods on a GPU, for .cu files of other folders: as knn_visit.h, in three ways, by how many
   neighbours a point has.

     knn_visit_args ──▶ up to KNN_CUDA_SMALL_K   small_k_launch           right after a point's search, a lane each
                   ├──▶ up to MOTE_KNN_MAX_K     knn_cuda_search_large_k  rows of some points at a time
                   └──▶ all within a radius      knn_cuda_list_within     sorted lists of some points at a time

   small_k_launch(gpu, args, &output): output is a struct, copied to the device, with
     static constexpr bool keys       whether found->key is needed; without, searches are faster
     template <int KIND, int T> __device__ void write(args, place, number, found, memory) const
       place   the point's place in the sorted order: its row is args->tree.points.order[place], and
               knn_exact_of<KIND>(&args->tree.points, place, &exact) its exact position. There is a point only if
               place < args->queries.count; the lanes of a warp come together, those without a point too
       number  of the lane in its warp
       found   found->place[i], i < args->k, in registers: the places of the neighbours, nearest first, equal distances
               by row; SMALL_K_NONE: there are no more. knn_distance2(&args->tree.metric, found->key[i])
       memory  [T][32] in shared memory, the warp's own until it returns

   Rows: args->by_place, first and end say which points; row r is that of the place args->first + r. Lists: those of
   places first to end; entries of row r are lists.pairs.values[lists.first[r]] and on, which number lists.index.

   Order    Warps visit in any order; each point is visited once, except in a launch that failed.
   Keeping  found and memory end with the visit. What it writes goes by row, so no two lanes meet; what they share is
            added up by atomic operations on integers.
   Missing  Points without a finite position are at the last places, and have no neighbours. */
#ifndef MOTE_KNN_VISIT_CUDA_H
#define MOTE_KNN_VISIT_CUDA_H

#include "knn/cuda/knn_cuda.h"
#include "knn/cuda/search/knn_candidates_cuda.cuh"
#include "knn/cuda/search/knn_small_k_cuda.cuh"
#include "knn/cuda/search/knn_walk_cuda.cuh"

/* A search for the k nearest within a radius (0: any distance) of each point of the index. */
static inline knn_search_args knn_visit_args(const mote_knn_index *index, uint32_t k, double radius,
                                             bool exclude_self) {
    knn_search_args args;
    memset(&args, 0, sizeof args);
    args.tree = index->cuda->stored.tree;
    args.queries = args.tree.points;
    args.end = args.queries.count;
    args.own = true;
    args.exclude_self = exclude_self;
    args.k = k;
    args.deferred_buffers = &index->cuda->deferred_buffers;
    args.limit = knn_key_limit(&args.tree.metric, radius);
    return args;
}

#endif
