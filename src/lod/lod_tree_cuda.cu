/* The octree on the GPU, level by level: whether a node is divided, and where its octants begin, follows from the
   sorted codes, so a warp per node finds it by searching; a sum over the level gives the children their numbers. The
   host only looks now and then whether there is a level more. */
#include "backend/cuda_kernel.h"
#include "lod/lod_cuda.h"

#define THREADS      256u
#define SCAN_THREADS 1024u
#define LANES        4u /* of a warp, that search for the beginning of one octant */
#define LEVELS_AHEAD 2u /* launched before the host looks again */
#define MOST_BLOCKS  2048u

#define NO_NODE UINT32_MAX

/* What the levels tell each other; in device memory. */
typedef struct tree_state {
    uint32_t level_first[LOD_MOST_LEVELS + 2]; /* [level + 1] is known once level was divided */
    uint32_t bad_node;                         /* the first that is too large and cannot be divided; NO_NODE */
    uint32_t full_level;                       /* whose children found no room; NO_NODE */
} tree_state;

typedef struct tree_input {
    const uint64_t *codes;
    mote_lod_node *nodes;
    uint32_t *starts; /* [8 · capacity] where the octants of a node of the running level begin */
    tree_state *state;
    uint64_t merge, most;
    uint32_t capacity;
    bool replacing;
} tree_input;

/* The first of codes[first, last) that is at least code: every step, each of LANES lanes looks at one place. */
static __device__ uint64_t search_together(const uint64_t *codes, uint64_t first, uint64_t last, uint64_t code) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, own = lane % LANES, group = lane - own;
    while (__any_sync(CUDA_ALL, first < last)) {
        const uint64_t step = (last - first) / (LANES + 1) + 1, at = first + (own + 1) * step - 1;
        const bool below = first < last && at < last && codes[at] < code;
        const uint32_t passed = (uint32_t)__popc(__ballot_sync(CUDA_ALL, below) >> group & ((1u << LANES) - 1));
        if (first < last) {
            const uint64_t next_last = first + (passed + 1) * step - 1;
            first += passed * step;
            if (next_last < last) last = next_last;
        }
    }
    return first;
}

/* Whether an earlier level met what cannot be. */
static __device__ bool has_failed(const tree_state *state, uint32_t level) {
    return state->full_level != NO_NODE || state->bad_node < state->level_first[level];
}

/* The child of a node whose points all have one code and are too many: takes what the node cannot hold. */
static __device__ uint32_t chain_mask(const tree_input *in, uint32_t index, const mote_lod_node *node) {
    if (in->replacing || node->level + 1u >= LOD_MOST_LEVELS) {
        atomicMin(&in->state->bad_node, index);
        return 0;
    }
    const bool coded = node->level < MOTE_ORDER_BITS;
    const uint32_t below = coded ? 3 * (MOTE_ORDER_BITS - node->level - 1u) : 0;
    return 1u << (coded ? in->codes[node->first] >> below & 7 : 0);
}

/* Which octants of the nodes of a level become children, and where they begin. A warp per node. */
static __global__ void find_children(tree_input in, uint32_t level) {
    const uint32_t begin = in.state->level_first[level], end = in.state->level_first[level + 1];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warps = gridDim.x * (blockDim.x / CUDA_WARP);
    if (has_failed(in.state, level)) return;
    for (uint32_t i = begin + (blockIdx.x * blockDim.x + threadIdx.x) / CUDA_WARP; i < end; i += warps) {
        const mote_lod_node node = in.nodes[i];
        uint32_t mask = 0;
        if (node.total > in.merge) {
            const uint64_t last = node.first + node.total;
            if (in.codes[node.first] != in.codes[last - 1]) {
                const uint32_t octant = lane / LANES, below = 3 * (MOTE_ORDER_BITS - node.level - 1u);
                const uint64_t start =
                    search_together(in.codes, node.first, last, (node.prefix << 3 | octant) << below);
                const uint64_t after = __shfl_down_sync(CUDA_ALL, start, LANES);
                const bool any = start < (octant == 7 ? last : after);
                if (lane % LANES == 0) in.starts[8ull * (i - begin) + octant] = (uint32_t)start;
                const uint32_t votes = __ballot_sync(CUDA_ALL, any && lane % LANES == 0);
                for (uint32_t o = 0; o < 8; o++) mask |= (votes >> (o * LANES) & 1) << o;
            } else if (node.total > in.most) {
                mask = lane == 0 ? chain_mask(&in, i, &node) : 0;
            }
        }
        if (lane == 0) in.nodes[i].child_mask = (uint8_t)mask;
    }
}

/* Numbers the children of a level, in one block. */
static __global__ void number_children(tree_input in, uint32_t level) {
    __shared__ uint32_t sums[SCAN_THREADS / CUDA_WARP];
    const uint32_t begin = in.state->level_first[level], end = in.state->level_first[level + 1];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    uint64_t next = end;
    for (uint32_t first = begin; first < end; first += SCAN_THREADS) {
        const uint32_t i = first + threadIdx.x;
        const uint32_t own = i < end ? (uint32_t)__popc(in.nodes[i].child_mask) : 0;
        uint32_t sum = own;
        for (uint32_t d = 1; d < CUDA_WARP; d *= 2) {
            const uint32_t other = __shfl_up_sync(CUDA_ALL, sum, d);
            if (lane >= d) sum += other;
        }
        if (lane == CUDA_WARP - 1) sums[warp] = sum;
        __syncthreads();
        uint32_t before = 0, total = 0;
        for (uint32_t w = 0; w < SCAN_THREADS / CUDA_WARP; w++) {
            before += w < warp ? sums[w] : 0;
            total += sums[w];
        }
        if (i < end && own > 0) in.nodes[i].first_child = (uint32_t)(next + before + sum - own);
        next += total;
        __syncthreads();
    }
    if (threadIdx.x != 0) return;
    const bool failed = has_failed(in.state, level) || in.state->bad_node != NO_NODE;
    if (next > in.capacity && !failed) in.state->full_level = level;
    in.state->level_first[level + 2] = failed || next > in.capacity ? end : (uint32_t)next;
}

/* Writes the children of a level: a thread per node and octant. */
static __global__ void write_children(tree_input in, uint32_t level) {
    if (in.state->full_level != NO_NODE || in.state->bad_node != NO_NODE) return;
    const uint32_t begin = in.state->level_first[level], end = in.state->level_first[level + 1];
    const uint64_t all = 8ull * (end - begin), threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t t = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; t < all; t += threads) {
        const uint32_t i = begin + (uint32_t)(t / 8), octant = (uint32_t)(t % 8);
        const mote_lod_node parent = in.nodes[i];
        if ((parent.child_mask >> octant & 1) == 0) continue;
        const uint32_t rank = (uint32_t)__popc(parent.child_mask & ((1u << octant) - 1));
        const uint64_t last = parent.first + parent.total;
        mote_lod_node child;
        child.child_mask = 0;
        child.first_child = 0;
        child.parent = i;
        child.level = (uint8_t)(parent.level + 1);
        if (in.codes[parent.first] != in.codes[last - 1]) {
            const uint32_t *starts = &in.starts[8ull * (i - begin)];
            child.prefix = parent.prefix << 3 | octant;
            child.first = starts[octant];
            child.total = (octant == 7 ? last : starts[octant + 1]) - child.first;
        } else {
            const bool coded = parent.level < MOTE_ORDER_BITS;
            const uint32_t below = coded ? 3 * (MOTE_ORDER_BITS - parent.level - 1u) : 0;
            child.prefix = coded ? in.codes[parent.first] >> below : parent.prefix;
            child.first = parent.first + in.most;
            child.total = parent.total - in.most;
            in.nodes[i].point_count = in.most;
        }
        child.point_count = child.total;
        in.nodes[parent.first_child + rank] = child;
    }
}

/* leaf_level of the points that leaves, and nodes of a chain, hold themselves: a block per node. */
static __global__ void write_leaf_levels(const mote_lod_node *nodes, uint32_t node_count, uint8_t *leaf_level) {
    for (uint32_t i = blockIdx.x; i < node_count; i += gridDim.x) {
        const mote_lod_node node = nodes[i];
        const bool holds = node.child_mask == 0 || nodes[node.first_child].first != node.first;
        if (!holds) continue;
        const uint64_t end = node.first + node.point_count;
        const uint32_t four = node.level * 0x01010101u;
        const uint64_t aligned = (node.first + 15) & ~15ull, aligned_end = end & ~15ull;
        for (uint64_t p = node.first + threadIdx.x; p < end && p < aligned; p += blockDim.x) leaf_level[p] = node.level;
        for (uint64_t p = aligned + 16ull * threadIdx.x; p < aligned_end; p += 16ull * blockDim.x) {
            *(uint4 *)(leaf_level + p) = make_uint4(four, four, four, four);
        }
        const uint64_t rest = aligned_end > aligned ? aligned_end : aligned;
        for (uint64_t p = rest + threadIdx.x; p < end; p += blockDim.x) leaf_level[p] = node.level;
    }
}

/* ---- the host's side */

static mote_status make_room(mote_lod *lod, tree_input *in, uint32_t capacity) {
    mote_context *ctx = lod->ctx;
    mote_lod_node *nodes = (mote_lod_node *)cuda_alloc(ctx, capacity * sizeof *nodes, "nodes");
    uint32_t *starts = (uint32_t *)cuda_alloc(ctx, 8ull * capacity * sizeof *starts, "tree scratch");
    mote_status status = nodes != NULL && starts != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = cuda_fill(ctx, nodes, 0, capacity * sizeof *nodes); /* what lies between fields */
    if (status == MOTE_OK && in->nodes != NULL) {
        status = cuda_copy(ctx, nodes, in->nodes, in->capacity * sizeof *nodes);
    }
    cuda_free(ctx, in->nodes);
    cuda_free(ctx, in->starts);
    in->nodes = nodes;
    in->starts = starts;
    in->capacity = capacity;
    return status;
}

static mote_status report(mote_lod *lod, const tree_input *in, const tree_state *state) {
    mote_lod_node node;
    MOTE_TRY(cuda_download(lod->ctx, &node, in->nodes + state->bad_node, sizeof node));
    return in->replacing ? lod_fail_replacing(lod, node.total) : lod_fail_chain(lod);
}

/* Divides levels until there is none more. On the way state is the host's copy. */
static mote_status grow(mote_lod *lod, tree_input *in, tree_state *state) {
    mote_context *ctx = lod->ctx;
    /* On a surface a level divides the points of a node by four. */
    uint32_t level = 0, look = 2 + (65 - (uint32_t)__builtin_clzll(lod->count / in->merge + 1)) / 2;
    for (;;) {
        for (; level < look && level < LOD_MOST_LEVELS; level++) {
            /* A node that is divided has more than merge points, so a level has no more of them than that. */
            const uint64_t nodes = 8 * (lod->count / in->merge + 1);
            const uint32_t blocks = nodes < MOST_BLOCKS * 8 ? cuda_blocks(nodes, 8) : MOST_BLOCKS;
            CUDA_LAUNCH(ctx, find_children, blocks, THREADS, *in, level);
            CUDA_LAUNCH(ctx, number_children, 1, SCAN_THREADS, *in, level);
            CUDA_LAUNCH(ctx, write_children, blocks, THREADS, *in, level);
        }
        MOTE_TRY(cuda_launched(ctx, "building the octree"));
        MOTE_TRY(cuda_download(ctx, state, in->state, sizeof *state));
        if (state->full_level != NO_NODE) {
            if (in->capacity > UINT32_MAX / 8) return lod_fail_nodes(lod);
            level = state->full_level;
            MOTE_TRY(make_room(lod, in, in->capacity * 4));
            state->full_level = NO_NODE;
            state->level_first[level + 2] = state->level_first[level + 1];
            MOTE_TRY(cuda_upload(ctx, in->state, state, sizeof *state));
            look = level + 1;
            continue;
        }
        if (state->bad_node != NO_NODE) return report(lod, in, state);
        if (state->level_first[level + 1] == state->level_first[level]) return MOTE_OK;
        look = level + LEVELS_AHEAD;
    }
}

static mote_status finish(mote_lod *lod, const tree_input *in, const tree_state *state) {
    uint32_t levels = 1;
    while (levels < LOD_MOST_LEVELS && state->level_first[levels + 1] > state->level_first[levels]) levels++;
    lod->level_count = levels;
    lod->node_count = state->level_first[levels];
    lod->level_first = (uint32_t *)mote_alloc(lod->ctx, (levels + 1) * sizeof *lod->level_first, "nodes");
    if (lod->level_first == NULL) return MOTE_ERROR_MEMORY;
    memcpy(lod->level_first, state->level_first, (levels + 1) * sizeof *lod->level_first);
    const uint32_t blocks = lod->node_count < (1u << 20) ? (uint32_t)lod->node_count : 1u << 20;
    CUDA_LAUNCH(lod->ctx, write_leaf_levels, blocks, 128u, in->nodes, (uint32_t)lod->node_count,
                lod->device->leaf_level);
    return cuda_launched(lod->ctx, "building the octree");
}

static mote_status build(mote_lod *lod, tree_input *in) {
    mote_context *ctx = lod->ctx;
    mote_lod_node root;
    tree_state state;
    memset(&root, 0, sizeof root);
    memset(&state, 0, sizeof state);
    root.total = root.point_count = lod->count;
    root.parent = UINT32_MAX;
    state.level_first[1] = 1;
    state.bad_node = state.full_level = NO_NODE;
    const uint64_t guess = 4096 + 16 * (lod->count / in->merge);
    MOTE_TRY(make_room(lod, in, guess < (1u << 20) ? (uint32_t)guess : 1u << 20));
    in->state = (tree_state *)cuda_alloc(ctx, sizeof state, "tree scratch");
    if (in->state == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_upload(ctx, in->nodes, &root, sizeof root));
    MOTE_TRY(cuda_upload(ctx, in->state, &state, sizeof state));
    if (lod->count > 0) MOTE_TRY(grow(lod, in, &state));
    return finish(lod, in, &state);
}

mote_status lod_cuda_tree(mote_lod *lod, lod_cuda *device) {
    mote_context *ctx = lod->ctx;
    tree_input in;
    memset(&in, 0, sizeof in);
    in.codes = device->codes;
    in.most = lod->params.max_node_points > 0 ? lod->params.max_node_points : UINT64_MAX;
    in.merge = lod->params.merge_points < in.most ? lod->params.merge_points : in.most;
    in.replacing = lod->params.scheme == MOTE_LOD_REPLACING;
    device->leaf_level = (uint8_t *)cuda_alloc(ctx, lod->count, "levels of leaves");
    const mote_status status = device->leaf_level != NULL ? build(lod, &in) : MOTE_ERROR_MEMORY;
    device->nodes = in.nodes;
    cuda_free(ctx, in.starts);
    cuda_free(ctx, in.state);
    return status;
}
