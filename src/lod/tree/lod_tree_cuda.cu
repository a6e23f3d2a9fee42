/* The octree on the GPU, a launch per level: whether a node is divided, and where its octants begin, follows from the
   sorted codes, so a warp per node finds it by searching. The block that is done last numbers the children; they are
   written by the launch for their own level. The host only looks now and then whether there is a level more. Where
   cells finer than those of codes are needed, the points get fine codes, and the tree is built once more. */
#include "device/cuda/warp.cuh"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"
#include "order/order_cuda.h"

/* As set here: 0.19 ms for the tree of 100 M points of a city (H200), most of it launches. */
struct tree_policy {
    static constexpr uint32_t threads = 256;
    static constexpr uint32_t lanes = 4;        /* that search for the beginning of one octant: a warp has eight */
    static constexpr uint32_t items = 16;       /* nodes whose children a thread numbers: masks loaded together */
    static constexpr uint32_t levels_ahead = 2; /* launched before the host looks again */
    static constexpr uint32_t max_rounds = 2;   /* blocks of a level: of what the GPU holds at once */
};

#define NO_NODE UINT32_MAX

/* What the levels tell each other; in device memory. */
typedef struct tree_state {
    uint32_t level_first[LOD_MAX_LEVELS + 2]; /* [level + 1] is known once level - 1 was divided */
    uint32_t blocks_done[LOD_MAX_LEVELS];
    uint32_t bad_node;   /* the first that is too large and cannot be divided; NO_NODE */
    uint32_t full_level; /* whose children found no room; NO_NODE */
    uint32_t needs_fine; /* without fine codes this is not the tree that is wanted */
} tree_state;

/* Of each node, [capacity]. */
typedef struct tree_nodes {
    mote_lod_node *nodes;
    uint32_t *starts;  /* [8 · capacity] where its octants begin */
    uint32_t *parents; /* known before the node is */
    uint8_t *masks;    /* child_mask of the nodes of the running level, from 0 on */
    uint32_t capacity;
} tree_nodes;

typedef struct tree_input {
    const uint64_t *codes;
    const uint64_t *fine; /* NULL without */
    tree_nodes to;
    tree_state *state;
    uint64_t merge, max;
    uint32_t grid_bits;
    bool divisible; /* points of one code may differ, and fine codes can be made: nodes of one code are leaves */
    bool replacing;
} tree_input;

static __device__ uint32_t finest_level(const tree_input *in) {
    return in->fine != NULL ? ORDER_FINE_BITS : MOTE_ORDER_BITS;
}

/* The octant of a point in its cell of a level, at most the finest. */
static __device__ uint32_t octant_of(const tree_input *in, uint64_t position, uint32_t level) {
    const uint32_t first = lod_window_first(level);
    const uint64_t code = first > 0 ? in->fine[position] : in->codes[position];
    return (uint32_t)(code >> 3 * (MOTE_ORDER_BITS + first - level)) & 7;
}

/* The first of codes[first, last) that is at least code: in every step, each lane of an octant looks at one place. */
static __device__ uint64_t search_together(const uint64_t *codes, uint64_t first, uint64_t last, uint64_t code) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, own = lane % tree_policy::lanes, group = lane - own;
    while (__any_sync(CUDA_ALL, first < last)) {
        const uint64_t step = (last - first) / (tree_policy::lanes + 1) + 1, at = first + (own + 1) * step - 1;
        const bool below = first < last && at < last && codes[at] < code;
        const uint32_t passed =
            (uint32_t)__popc(__ballot_sync(CUDA_ALL, below) >> group & ((1u << tree_policy::lanes) - 1));
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
    if (in->replacing || node->level + 1u >= LOD_MAX_LEVELS) {
        atomicMin(&in->state->bad_node, index);
        return 0;
    }
    return 1u << (node->level < finest_level(in) ? octant_of(in, node->first, node->level + 1u) : 0);
}

static __device__ bool has_one_code(const tree_input *in, const mote_lod_node *node) {
    const uint64_t first = node->first, last = node->first + node->total - 1;
    return in->codes[first] == in->codes[last] && (in->fine == NULL || in->fine[first] == in->fine[last]);
}

/* A node other than the root, from what its parent's level has found. */
static __device__ mote_lod_node make_node(const tree_input *in, uint32_t index) {
    const uint32_t parent_index = in->to.parents[index];
    const mote_lod_node parent = in->to.nodes[parent_index];
    const uint64_t last = parent.first + parent.total;
    mote_lod_node node;
    const uint32_t octant = warp_nth(parent.child_mask, index - parent.first_child);
    node.child_mask = 0;
    node.first_child = 0;
    node.parent = parent_index;
    node.level = (uint8_t)(parent.level + 1);
    if (parent.point_count == parent.total) { /* else it is one of a chain */
        const uint32_t *starts = &in->to.starts[8ull * parent_index];
        node.prefix = mote_lod_child_prefix(parent.prefix, octant);
        node.first = starts[octant];
        node.total = (octant == 7 ? last : starts[octant + 1]) - node.first;
    } else {
        const bool coded = parent.level < finest_level(in);
        node.prefix = coded ? mote_lod_child_prefix(parent.prefix, octant) : parent.prefix;
        node.first = parent.first + in->max;
        node.total = parent.total - in->max;
    }
    node.point_count = node.total;
    return node;
}

/* Which octants of a node become children, and where they begin. A warp. */
static __device__ uint32_t find_children(const tree_input *in, uint32_t index, mote_lod_node *node) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    if (node->total <= in->merge) return 0;
    const bool one_code = has_one_code(in, node);
    if (in->divisible && mote_lod_needs_fine(node->level, in->grid_bits, one_code) && lane == 0) {
        *(volatile uint32_t *)&in->state->needs_fine = 1;
    }
    if (one_code) {
        if (node->total <= in->max || in->divisible) return 0;
        node->point_count = in->max;
        return warp_broadcast(lane == 0 ? chain_mask(in, index, node) : 0, 0);
    }
    const uint64_t last = node->first + node->total;
    const uint32_t octant = lane / tree_policy::lanes, level = node->level + 1u, window_first = lod_window_first(level);
    const uint64_t *const codes = window_first > 0 ? in->fine : in->codes;
    const uint64_t within = (1ull << 3 * (level - window_first)) - 1;
    const uint64_t wanted = (mote_lod_child_prefix(node->prefix, octant) & within)
                            << 3 * (MOTE_ORDER_BITS + window_first - level);
    const uint64_t start = search_together(codes, node->first, last, wanted);
    const uint64_t after = warp_after(start, tree_policy::lanes);
    const bool any = start < (octant == 7 ? last : after);
    if (lane % tree_policy::lanes == 0) in->to.starts[8ull * index + octant] = (uint32_t)start;
    const uint32_t votes = __ballot_sync(CUDA_ALL, any && lane % tree_policy::lanes == 0);
    uint32_t mask = 0;
    for (uint32_t o = 0; o < 8; o++) mask |= (votes >> (o * tree_policy::lanes) & 1) << o;
    return mask;
}

/* Whether this block is the last of all to come here: then it sees what all others have written. */
static __device__ bool is_last_block(tree_state *state, uint32_t level, uint32_t blocks) {
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(&state->blocks_done[level], 1u) == blocks - 1;
    __syncthreads();
    __threadfence();
    return is_last;
}

/* The masks of a thread's nodes, of those from first on; 0 behind the last. */
static __device__ void load_masks(const volatile uint32_t *masks, uint32_t first, uint32_t nodes,
                                  uint32_t words[tree_policy::items / 4]) {
#pragma unroll
    for (uint32_t w = 0; w < tree_policy::items / 4; w++) {
        const uint32_t at = first + 4 * w, remaining = at < nodes ? nodes - at : 0;
        words[w] = remaining == 0 ? 0 : masks[at / 4] & (remaining < 4 ? (1u << 8 * remaining) - 1 : UINT32_MAX);
    }
}

/* Numbers the children of a thread's nodes from next on. */
static __device__ void number_own(const tree_input *in, uint32_t node, uint64_t next,
                                  const uint32_t words[tree_policy::items / 4]) {
#pragma unroll
    for (uint32_t k = 0; k < tree_policy::items; k++) {
        const uint32_t children = (uint32_t)__popc(words[k / 4] >> 8 * (k % 4) & 0xFF);
        if (children == 0) continue;
        in->to.nodes[node + k].first_child = (uint32_t)next;
        for (uint32_t c = 0; c < children && next + c < in->to.capacity; c++) in->to.parents[next + c] = node + k;
        next += children;
    }
}

/* Numbers the children of a level, in one block. */
static __device__ void number_children(const tree_input *in, uint32_t level) {
    __shared__ uint32_t sums[tree_policy::threads / CUDA_WARP];
    const uint32_t begin = in->state->level_first[level], end = in->state->level_first[level + 1];
    uint64_t next = end;
    for (uint32_t first = 0; first < end - begin; first += tree_policy::threads * tree_policy::items) {
        const uint32_t own_first = first + threadIdx.x * tree_policy::items;
        uint32_t words[tree_policy::items / 4], own = 0, total;
        load_masks((const uint32_t *)in->to.masks, own_first, end - begin, words);
        for (uint32_t w = 0; w < tree_policy::items / 4; w++) own += (uint32_t)__popc(words[w]);
        const uint32_t before = block_scan_exclusive<tree_policy::threads / CUDA_WARP>(own, sums, &total);
        number_own(in, begin + own_first, next + before, words);
        next += total;
        __syncthreads();
    }
    if (threadIdx.x != 0) return;
    const bool failed = *(volatile uint32_t *)&in->state->bad_node != NO_NODE;
    if (next > in->to.capacity && !failed) in->state->full_level = level;
    in->state->level_first[level + 2] = failed || next > in->to.capacity ? end : (uint32_t)next;
}

/* A level: its nodes, and numbers for their children. */
static __global__ void __launch_bounds__(tree_policy::threads) divide_level(tree_input in, uint32_t level) {
    const uint32_t begin = in.state->level_first[level], end = in.state->level_first[level + 1];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warps = gridDim.x * (tree_policy::threads / CUDA_WARP);
    const uint32_t needed = (end - begin + tree_policy::threads / CUDA_WARP - 1) / (tree_policy::threads / CUDA_WARP);
    const uint32_t blocks = min(gridDim.x, max(needed, 1u));
    if (blockIdx.x >= blocks) return;
    if (has_failed(in.state, level)) { /* the same in all blocks */
        if (blockIdx.x == 0 && threadIdx.x == 0) in.state->level_first[level + 2] = end;
        return;
    }
    for (uint32_t i = begin + (blockIdx.x * tree_policy::threads + threadIdx.x) / CUDA_WARP; i < end; i += warps) {
        mote_lod_node node = level > 0 ? make_node(&in, i) : in.to.nodes[i];
        const uint32_t mask = find_children(&in, i, &node);
        node.child_mask = (uint8_t)mask;
        if (lane == 0) {
            in.to.nodes[i] = node;
            in.to.masks[i - begin] = (uint8_t)mask;
        }
    }
    if (is_last_block(in.state, level, blocks)) number_children(&in, level);
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

static mote_status copy_nodes(mote_device *gpu, const tree_nodes *from, const tree_nodes *to) {
    if (from->nodes == NULL) return MOTE_OK;
    MOTE_TRY(cuda_copy(gpu, to->nodes, from->nodes, from->capacity * sizeof *to->nodes));
    MOTE_TRY(cuda_copy(gpu, to->starts, from->starts, 8ull * from->capacity * sizeof *to->starts));
    return cuda_copy(gpu, to->parents, from->parents, from->capacity * sizeof *to->parents);
}

static void free_nodes(mote_device *gpu, tree_nodes *nodes) {
    cuda_free(gpu, nodes->nodes);
    cuda_free(gpu, nodes->starts);
    cuda_free(gpu, nodes->parents);
    cuda_free(gpu, nodes->masks);
}

/* Room for that number of nodes; those that are there move. */
static mote_status reserve(mote_lod *lod, tree_input *in, uint32_t capacity) {
    mote_device *gpu = lod->device;
    tree_nodes to;
    to.nodes = (mote_lod_node *)cuda_alloc(gpu, capacity * sizeof *to.nodes, "nodes");
    to.starts = (uint32_t *)cuda_alloc(gpu, 8ull * capacity * sizeof *to.starts, "tree scratch");
    to.parents = (uint32_t *)cuda_alloc(gpu, capacity * sizeof *to.parents, "tree scratch");
    to.masks = (uint8_t *)cuda_alloc(gpu, capacity + 4ull, "tree scratch"); /* read in words */
    to.capacity = capacity;
    mote_status status = MOTE_ERROR_MEMORY;
    if (to.nodes != NULL && to.starts != NULL && to.parents != NULL && to.masks != NULL) {
        /* What lies between fields, behind the last mask, and of nodes that are not there yet, moves with the rest. */
        status = cuda_fill(gpu, to.nodes, 0, capacity * sizeof *to.nodes);
        if (status == MOTE_OK) status = cuda_fill(gpu, to.starts, 0, 8ull * capacity * sizeof *to.starts);
        if (status == MOTE_OK) status = cuda_fill(gpu, to.parents, 0, capacity * sizeof *to.parents);
        if (status == MOTE_OK) status = cuda_fill(gpu, to.masks, 0, capacity + 4ull);
    }
    if (status == MOTE_OK) status = copy_nodes(gpu, &in->to, &to);
    free_nodes(gpu, &in->to);
    in->to = to;
    return status;
}

static mote_status report(mote_lod *lod, const tree_input *in, const tree_state *state) {
    mote_lod_node node;
    MOTE_TRY(cuda_download(lod->device, &node, in->to.nodes + state->bad_node, sizeof node));
    return in->replacing ? lod_fail_replacing_duplicates(lod, node.total) : lod_fail_duplicates(lod);
}

/* A node that is divided has more than merge points, so a level has no more of them than that; and no more nodes than
   cells. */
static uint32_t blocks_of_level(const mote_lod *lod, const tree_input *in, uint32_t level) {
    const uint64_t nodes = 8 * (lod->count / in->merge + 1), cells = level < 8 ? 1ull << 3 * level : nodes;
    const uint32_t max = tree_policy::max_rounds * cuda_full_blocks(lod->device, tree_policy::threads);
    return cuda_blocks_up_to(max, nodes < cells ? nodes : cells, tree_policy::threads / CUDA_WARP);
}

/* Divides levels until there is none more. On the way state is the host's copy. */
static mote_status grow(mote_lod *lod, tree_input *in, tree_state *state) {
    mote_device *gpu = lod->device;
    /* On a surface a level divides the points of a node by four. */
    uint32_t level = 0, look = 2 + (65 - (uint32_t)__builtin_clzll(lod->count / in->merge + 1)) / 2;
    for (;;) {
        for (; level < look && level < LOD_MAX_LEVELS; level++) {
            CUDA_LAUNCH(gpu, divide_level, blocks_of_level(lod, in, level), tree_policy::threads, *in, level);
        }
        MOTE_TRY(cuda_launched(gpu, "building the octree"));
        MOTE_TRY(cuda_download(gpu, state, in->state, sizeof *state));
        if (state->full_level != NO_NODE) {
            if (in->to.capacity > UINT32_MAX / 8) return lod_fail_nodes(lod);
            level = state->full_level;
            MOTE_TRY(reserve(lod, in, in->to.capacity * 4));
            state->full_level = NO_NODE;
            state->blocks_done[level] = 0;
            state->level_first[level + 2] = state->level_first[level + 1];
            MOTE_TRY(cuda_upload(gpu, in->state, state, sizeof *state));
            look = level + 1;
            continue;
        }
        if (state->bad_node != NO_NODE) return report(lod, in, state);
        if (state->level_first[level + 1] == state->level_first[level]) return MOTE_OK;
        look = level + tree_policy::levels_ahead;
    }
}

static mote_status finish(mote_lod *lod, const tree_input *in, const tree_state *state) {
    uint32_t levels = 1;
    while (levels < LOD_MAX_LEVELS && state->level_first[levels + 1] > state->level_first[levels]) levels++;
    lod->level_count = levels;
    lod->node_count = state->level_first[levels];
    lod->level_first = (uint32_t *)mote_alloc(lod->ctx, (levels + 1) * sizeof *lod->level_first, "nodes");
    if (lod->level_first == NULL) return MOTE_ERROR_MEMORY;
    memcpy(lod->level_first, state->level_first, (levels + 1) * sizeof *lod->level_first);
    const uint32_t blocks = lod->node_count < (1u << 20) ? (uint32_t)lod->node_count : 1u << 20;
    CUDA_LAUNCH(lod->device, write_leaf_levels, blocks, 128u, in->to.nodes, (uint32_t)lod->node_count,
                lod->cuda->leaf_level);
    return cuda_launched(lod->device, "building the octree");
}

static void free_tree(mote_device *gpu, tree_input *in) {
    free_nodes(gpu, &in->to);
    cuda_free(gpu, in->state);
    memset(&in->to, 0, sizeof in->to);
    in->state = NULL;
}

/* From the root. On return state is the host's copy. */
static mote_status build(mote_lod *lod, tree_input *in, tree_state *state) {
    mote_device *gpu = lod->device;
    mote_lod_node root;
    memset(&root, 0, sizeof root);
    memset(state, 0, sizeof *state);
    root.total = root.point_count = lod->count;
    root.parent = UINT32_MAX;
    state->level_first[1] = 1;
    state->bad_node = state->full_level = NO_NODE;
    const uint64_t guess = 4096 + 16 * (lod->count / in->merge);
    MOTE_TRY(reserve(lod, in, guess < (1u << 20) ? (uint32_t)guess : 1u << 20));
    in->state = (tree_state *)cuda_alloc(gpu, sizeof *state, "tree scratch");
    if (in->state == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_upload(gpu, in->to.nodes, &root, sizeof root));
    MOTE_TRY(cuda_upload(gpu, in->state, state, sizeof *state));
    return lod->count > 0 ? grow(lod, in, state) : MOTE_OK;
}

/* The tree; where it shows that finer cells are needed, fine codes, and the tree of these. */
static mote_status build_as_deep(mote_lod *lod, lod_cuda *device, tree_input *in) {
    tree_state state;
    MOTE_TRY(build(lod, in, &state));
    if (state.needs_fine != 0) {
        free_tree(lod->device, in);
        const uint32_t *index = lod_cuda_index(device);
        MOTE_TRY(order_cuda_fine_codes(&device->cloud, &lod->lattice, index == NULL, device->codes, device->order,
                                       lod->count, &device->fine));
        lod->finest = ORDER_FINE_BITS;
        in->fine = device->fine;
        in->divisible = false;
        MOTE_TRY(build(lod, in, &state));
    }
    return finish(lod, in, &state);
}

mote_status lod_cuda_tree(mote_lod *lod, lod_cuda *device) {
    mote_device *gpu = lod->device;
    tree_input in;
    memset(&in, 0, sizeof in);
    in.codes = device->codes;
    in.max = lod->params.max_node_points > 0 ? lod->params.max_node_points : UINT64_MAX;
    in.merge = lod->params.merge_points < in.max ? lod->params.merge_points : in.max;
    in.grid_bits = lod_cell_level(lod, 0);
    in.divisible = order_is_divisible(&lod->lattice);
    in.replacing = lod->params.scheme == MOTE_LOD_REPLACING;
    device->leaf_level = (uint8_t *)cuda_alloc(gpu, lod->count, "levels of leaves");
    const mote_status status = device->leaf_level != NULL ? build_as_deep(lod, device, &in) : MOTE_ERROR_MEMORY;
    device->nodes = in.to.nodes;
    in.to.nodes = NULL;
    free_tree(gpu, &in);
    return status;
}
