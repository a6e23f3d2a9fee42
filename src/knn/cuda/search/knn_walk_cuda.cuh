/* The walk of a warp from node to node: 32 boxes at once, the children of one node. For .cu files only.

     waiting  [the top][children of one of them][children of one of those] ◀─ the next node is taken from the end
     boxes    of its 32 children, one a lane ─▶ a test ─▶ nodes: they wait; leaves: they are listed

   A test says, as bits, to which of GROUPS of queries something in a box may matter, and each group has its list. */
#ifndef MOTE_KNN_WALK_CUDA_H
#define MOTE_KNN_WALK_CUDA_H

#include "knn/cuda/search/knn_frame_cuda.cuh"

#define KNN_WAITING 256u /* 64 of the top, 32 of each level below */
#define KNN_NO_NODE UINT32_MAX

static __device__ inline uint32_t knn_node_pack(uint32_t level, uint32_t node) { return level << 28 | node; }

static __device__ inline uint32_t knn_node_level(uint32_t packed) { return packed >> 28; }

static __device__ inline uint32_t knn_node_number(uint32_t packed) { return packed & 0x0FFFFFFFu; }

/* Pushes the lanes' nodes that are wanted, the first on top. Returns how many wait then. */
static __device__ inline uint32_t knn_push(uint32_t *waiting, uint32_t count, uint32_t level, uint32_t node,
                                           bool wanted, uint32_t lane) {
    const uint32_t lanes = __ballot_sync(CUDA_ALL, wanted);
    if (wanted) waiting[count + __popc(lanes >> lane >> 1)] = knn_node_pack(level, node);
    __syncwarp();
    return count + __popc(lanes);
}

/* One node, or two, above all that there are. Returns how many wait then. */
static __device__ __forceinline__ uint32_t knn_push_top(const knn_cuda_tree *tree, uint32_t *waiting, uint32_t lane) {
    const uint32_t count = tree->nodes[tree->level_count - 1] > KNN_CUDA_WIDE ? 2 : 1;
    if (lane < count) waiting[lane] = knn_node_pack(tree->level_count, count - 1 - lane);
    __syncwarp();
    return count;
}

/* Where a walk stands: the same in all lanes. */
template <uint32_t GROUPS> struct knn_walk {
    uint32_t waiting;        /* nodes */
    uint32_t listed[GROUPS]; /* leaves of each list, */
    uint32_t longest;        /* and of the longest */
};

/* Lists leaves as long as nodes wait, and there is room for 32 of each: nodes, and leaves in each list.
   test   uint32_t operator()(const knn_cuda_box *) const
   first  a lowest node before all others; KNN_NO_NODE: none
   skip   leaves that are not listed, except as those of first */
template <uint32_t GROUPS, uint32_t STACK, uint32_t LISTED, int KIND, bool LOCAL, class TEST>
static __device__ __forceinline__ void knn_list_leaves(const knn_cuda_tree *tree, const knn_frame<KIND, LOCAL> *frame,
                                                       const TEST &test, uint32_t first, knn_leaf_range skip,
                                                       uint32_t lane, uint32_t *waiting, uint32_t (*leaves)[LISTED],
                                                       knn_walk<GROUPS> *w) {
    w->longest = 0;
#pragma unroll
    for (uint32_t g = 0; g < GROUPS; g++) w->listed[g] = 0;
    __syncwarp(); /* all have read the lists */
    while (w->waiting > 0 && w->waiting <= STACK - CUDA_WARP && w->longest <= LISTED - KNN_CUDA_WIDE) {
        const bool is_first = first != KNN_NO_NODE;
        const uint32_t packed = is_first ? knn_node_pack(1, first) : waiting[--w->waiting];
        const uint32_t level = knn_node_level(packed) - 1, child = knn_node_number(packed) * KNN_CUDA_WIDE + lane;
        __syncwarp();
        first = KNN_NO_NODE;
        const uint32_t begin = child - lane;
        if (level == 0 && !is_first && begin >= skip.first && begin + KNN_CUDA_WIDE <= skip.end) continue;
        uint32_t near = 0;
        if (child < tree->nodes[level]) {
            const knn_cuda_box box = knn_load_box<KIND, LOCAL>(tree, frame, (uint64_t)tree->first[level] + child);
            near = test(&box);
        }
        if (level > 0) {
            w->waiting = knn_push(waiting, w->waiting, level, child, near != 0, lane);
            continue;
        }
        if (!is_first && child >= skip.first && child < skip.end) near = 0;
#pragma unroll
        for (uint32_t g = 0; g < GROUPS; g++) {
            const bool listed = (near >> g & 1) != 0;
            const uint32_t at = warp_append(listed, &w->listed[g]);
            if (listed) leaves[g][at] = child;
            w->longest = w->listed[g] > w->longest ? w->listed[g] : w->longest;
        }
    }
    __syncwarp();
}

#endif
