/* What the nodes hold, in the order of the file. Nodes stand level by level and, within a level, in Morton order, so
   their points are a stable partition of the sorted positions by level: each tile counts its points of each level, a
   sum over all counts, level after level, says where they go. In the additive scheme a point stands in one node; in the
   replacing scheme in one of each level from its own to its leaf's. */
#include "backend/cuda_kernel.h"
#include "backend/cuda_primitives.h"
#include "lod/lod_cuda.h"

#define THREADS     256u
#define WARPS       (THREADS / CUDA_WARP)
#define WARP_POINTS 512u /* in a row */
#define TILE        (WARPS * WARP_POINTS)

typedef struct items_input {
    const uint8_t *level, *leaf_level;
    uint64_t count;
    uint32_t tiles, levels;
    bool replacing;
} items_input;

/* The levels at which a point stands; none: low > high. */
typedef struct level_span {
    uint32_t low, high;
} level_span;

static __device__ level_span span_at(const items_input *in, uint64_t position) {
    level_span span = {1, 0};
    if (position >= in->count) return span;
    span.low = in->level[position];
    span.high = in->replacing ? in->leaf_level[position] : span.low;
    return span;
}

static __device__ uint64_t warp_first() {
    return (uint64_t)blockIdx.x * TILE + (uint64_t)(threadIdx.x / CUDA_WARP) * WARP_POINTS;
}

/* The lanes whose point stands at a level. */
static __device__ uint32_t lanes_at(level_span span, uint32_t level) {
    return __ballot_sync(CUDA_ALL, span.low <= level && level <= span.high);
}

/* counts[warp][level] of the tile's points. */
static __device__ void count_tile(const items_input *in, uint32_t counts[WARPS][LOD_MOST_LEVELS]) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    for (uint32_t l = lane; l < in->levels; l += CUDA_WARP) counts[warp][l] = 0;
    __syncwarp();
    for (uint32_t k = 0; k < WARP_POINTS; k += CUDA_WARP) {
        const level_span span = span_at(in, warp_first() + k + lane);
        for (uint32_t l = 0; l < in->levels; l++) {
            const uint32_t lanes = lanes_at(span, l);
            if (lane == 0) counts[warp][l] += (uint32_t)__popc(lanes);
        }
    }
    __syncthreads();
}

/* counts [levels · tiles + 1] */
static __global__ void __launch_bounds__(THREADS) count_items(items_input in, uint32_t *counts) {
    __shared__ uint32_t own[WARPS][LOD_MOST_LEVELS];
    count_tile(&in, own);
    for (uint32_t l = threadIdx.x; l < in.levels; l += THREADS) {
        uint32_t sum = 0;
        for (uint32_t w = 0; w < WARPS; w++) sum += own[w][l];
        counts[(uint64_t)l * in.tiles + blockIdx.x] = sum;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[(uint64_t)in.levels * in.tiles] = 0;
}

/* firsts: the sums of the counts. */
static __global__ void __launch_bounds__(THREADS) place_items(items_input in, const uint64_t *firsts, uint32_t *items) {
    __shared__ uint32_t next[WARPS][LOD_MOST_LEVELS]; /* within the tile's items of a level */
    __shared__ uint64_t first[LOD_MOST_LEVELS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    count_tile(&in, next);
    for (uint32_t l = threadIdx.x; l < in.levels; l += THREADS) {
        uint32_t sum = 0;
        for (uint32_t w = 0; w < WARPS; w++) {
            const uint32_t own = next[w][l];
            next[w][l] = sum;
            sum += own;
        }
        first[l] = firsts[(uint64_t)l * in.tiles + blockIdx.x];
    }
    __syncthreads();
    for (uint32_t k = 0; k < WARP_POINTS; k += CUDA_WARP) {
        const uint64_t position = warp_first() + k + lane;
        const level_span span = span_at(&in, position);
        for (uint32_t l = 0; l < in.levels; l++) {
            const uint32_t lanes = lanes_at(span, l), before = next[warp][l];
            if (lanes >> lane & 1) {
                items[first[l] + before + (uint32_t)__popc(lanes & ((1u << lane) - 1))] = (uint32_t)position;
            }
            __syncwarp();
            if (lane == 0) next[warp][l] = before + (uint32_t)__popc(lanes);
            __syncwarp();
        }
    }
}

static __global__ void find_levels(const uint64_t *firsts, uint32_t levels, uint32_t tiles, uint64_t *level_items) {
    for (uint32_t l = threadIdx.x; l <= levels; l += blockDim.x) level_items[l] = firsts[(uint64_t)l * tiles];
}

/* The first of items[low, high) whose position is at least so much. */
static __device__ uint64_t first_item(const uint32_t *items, uint64_t low, uint64_t high, uint64_t position) {
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (items[middle] < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static __global__ void count_node_points(mote_lod_node *nodes, uint32_t node_count, const uint32_t *items,
                                         const uint64_t *level_items) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= node_count) return;
    const mote_lod_node node = nodes[i];
    const uint64_t low = level_items[node.level], high = level_items[node.level + 1u];
    const uint64_t first = first_item(items, low, high, node.first);
    nodes[i].point_count = first_item(items, first, high, node.first + node.total) - first;
}

/* ---- the host's side */

typedef struct items_scratch {
    uint32_t *counts;
    uint64_t *firsts, *level_items;
} items_scratch;

static mote_status find_items(mote_lod *lod, lod_cuda *device, const items_input *in, items_scratch *scratch) {
    mote_context *ctx = lod->ctx;
    const uint64_t counts = (uint64_t)in->levels * in->tiles + 1;
    scratch->counts = (uint32_t *)cuda_alloc(ctx, counts * sizeof *scratch->counts, "items scratch");
    scratch->firsts = (uint64_t *)cuda_alloc(ctx, counts * sizeof *scratch->firsts, "items scratch");
    scratch->level_items = (uint64_t *)cuda_alloc(ctx, sizeof device->level_items, "items scratch");
    if (scratch->counts == NULL || scratch->firsts == NULL || scratch->level_items == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(ctx, count_items, in->tiles, THREADS, *in, scratch->counts);
    MOTE_TRY(cuda_sum32_wide(ctx, scratch->counts, scratch->firsts, counts));
    CUDA_LAUNCH(ctx, find_levels, 1u, THREADS, scratch->firsts, in->levels, in->tiles, scratch->level_items);
    MOTE_TRY(cuda_launched(ctx, "counting points of levels"));
    MOTE_TRY(
        cuda_download(ctx, device->level_items, scratch->level_items, (in->levels + 1) * sizeof *device->level_items));
    device->item_count = device->level_items[in->levels];
    device->items = (uint32_t *)cuda_alloc(ctx, device->item_count * sizeof *device->items, "items");
    if (device->items == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(ctx, place_items, in->tiles, THREADS, *in, scratch->firsts, device->items);
    CUDA_LAUNCH(ctx, count_node_points, cuda_blocks(lod->node_count, THREADS), THREADS, device->nodes,
                (uint32_t)lod->node_count, device->items, scratch->level_items);
    return cuda_launched(ctx, "placing points in levels");
}

mote_status lod_cuda_items(mote_lod *lod, lod_cuda *device) {
    mote_context *ctx = lod->ctx;
    const items_input in = {device->level,    device->leaf_level,
                            lod->count,       cuda_blocks(lod->count, TILE),
                            lod->level_count, lod->params.scheme == MOTE_LOD_REPLACING};
    items_scratch scratch;
    memset(&scratch, 0, sizeof scratch);
    const mote_status status = find_items(lod, device, &in, &scratch);
    cuda_free(ctx, scratch.counts);
    cuda_free(ctx, scratch.firsts);
    cuda_free(ctx, scratch.level_items);
    return status;
}
