/* What the nodes hold, in the order of the file. Nodes stand level by level and, within a level, in Morton order, so
   their points are a stable partition of the sorted positions by level: each tile counts its points of each level, a
   sum over all counts, level after level, says where they go. In the additive scheme a point stands in one node; in the
   replacing scheme in one of each level from its own to its leaf's. */
#include "backend/cuda_kernel.h"
#include "backend/cuda_primitives.h"
#include "lod/lod_cuda.h"

#define THREADS       256u
#define WARPS         (THREADS / CUDA_WARP)
#define THREAD_POINTS 16u /* in a row: one load */
#define WARP_POINTS   (CUDA_WARP * THREAD_POINTS)
#define TILE          (WARPS * WARP_POINTS)

typedef struct items_input {
    const uint8_t *level, *leaf_level;
    uint64_t count;
    uint32_t tiles, levels;
    bool replacing;
} items_input;

/* The levels of a thread's points, and which points stand at the level that is being looked at: a bit each. */
typedef struct thread_points {
    uint4 low, high;
    uint32_t there; /* points of the cloud */
    uint32_t standing;
} thread_points;

static __device__ uint4 load_levels(const uint8_t *levels, uint64_t first, uint64_t count) {
    uint4 four = make_uint4(0, 0, 0, 0);
    if (first + THREAD_POINTS <= count) return *(const uint4 *)(levels + first);
    if (first < count) memcpy(&four, levels + first, (size_t)(count - first));
    return four;
}

static __device__ thread_points load_points(const items_input *in) {
    const uint64_t first = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) * THREAD_POINTS;
    const uint64_t left = first < in->count ? in->count - first : 0;
    thread_points points;
    points.low = load_levels(in->level, first, in->count);
    points.high = in->replacing ? load_levels(in->leaf_level, first, in->count) : points.low;
    points.there = left >= THREAD_POINTS ? (1u << THREAD_POINTS) - 1 : (1u << left) - 1;
    points.standing = 0;
    return points;
}

/* Four bits: which bytes of a word are those of same. */
static __device__ uint32_t equal_bytes(uint32_t word, uint32_t same) {
    const uint32_t other = word ^ same;
    const uint32_t equal = ~(((other & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | other) & 0x80808080u;
    return (equal >> 7) * 0x10204080u >> 28;
}

static __device__ uint32_t equal_levels(uint4 levels, uint32_t level) {
    const uint32_t same = level * 0x01010101u;
    return equal_bytes(levels.x, same) | equal_bytes(levels.y, same) << 4 | equal_bytes(levels.z, same) << 8 |
           equal_bytes(levels.w, same) << 12;
}

/* The points that stand at a level; levels are asked for one after the other, from 0 on. */
static __device__ uint32_t stand_at(const items_input *in, thread_points *points, uint32_t level) {
    const uint32_t begin = equal_levels(points->low, level);
    if (!in->replacing) return begin & points->there;
    const uint32_t standing = points->standing | begin;
    points->standing = standing & ~equal_levels(points->high, level);
    return standing & points->there;
}

/* Adds up over the lanes before this one, and this one. */
static __device__ uint32_t sum_lanes(uint32_t value) {
    for (uint32_t d = 1; d < CUDA_WARP; d *= 2) {
        const uint32_t other = __shfl_up_sync(CUDA_ALL, value, d);
        if (threadIdx.x % CUDA_WARP >= d) value += other;
    }
    return value;
}

/* counts[warp][level] of the tile's points. */
static __device__ void count_tile(const items_input *in, thread_points points,
                                  uint32_t counts[WARPS][LOD_MOST_LEVELS]) {
    for (uint32_t l = 0; l < in->levels; l++) {
        const uint32_t sum = sum_lanes((uint32_t)__popc(stand_at(in, &points, l)));
        if (threadIdx.x % CUDA_WARP == CUDA_WARP - 1) counts[threadIdx.x / CUDA_WARP][l] = sum;
    }
    __syncthreads();
}

/* counts [levels · tiles + 1] */
static __global__ void __launch_bounds__(THREADS) count_items(items_input in, uint32_t *counts) {
    __shared__ uint32_t own[WARPS][LOD_MOST_LEVELS];
    count_tile(&in, load_points(&in), own);
    for (uint32_t l = threadIdx.x; l < in.levels; l += THREADS) {
        uint32_t sum = 0;
        for (uint32_t w = 0; w < WARPS; w++) sum += own[w][l];
        counts[(uint64_t)l * in.tiles + blockIdx.x] = sum;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[(uint64_t)in.levels * in.tiles] = 0;
}

/* Gathers the warp's points of a level and writes them in one go. */
static __device__ void place_level(uint32_t stands, uint16_t *gathered, uint32_t *out) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, own = (uint32_t)__popc(stands), sum = sum_lanes(own);
    const uint32_t total = __shfl_sync(CUDA_ALL, sum, CUDA_WARP - 1);
    const uint32_t warp_first = (uint32_t)((uint64_t)blockIdx.x * TILE) + (threadIdx.x - lane) * THREAD_POINTS;
    uint32_t at = sum - own;
    for (; stands != 0; stands &= stands - 1) {
        gathered[at++] = (uint16_t)(lane * THREAD_POINTS + (uint32_t)__ffs((int)stands) - 1);
    }
    __syncwarp();
    for (uint32_t i = lane; i < total; i += CUDA_WARP) out[i] = warp_first + gathered[i];
    __syncwarp();
}

/* firsts: the sums of the counts. */
static __global__ void __launch_bounds__(THREADS) place_items(items_input in, const uint64_t *firsts, uint32_t *items) {
    __shared__ uint32_t before[WARPS][LOD_MOST_LEVELS]; /* in the tile's items of a level */
    __shared__ uint64_t first[LOD_MOST_LEVELS];
    __shared__ uint16_t gathered[WARPS][WARP_POINTS];
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    thread_points points = load_points(&in);
    count_tile(&in, points, before);
    for (uint32_t l = threadIdx.x; l < in.levels; l += THREADS) {
        uint32_t sum = 0;
        for (uint32_t w = 0; w < WARPS; w++) {
            const uint32_t own = before[w][l];
            before[w][l] = sum;
            sum += own;
        }
        first[l] = firsts[(uint64_t)l * in.tiles + blockIdx.x];
    }
    __syncthreads();
    for (uint32_t l = 0; l < in.levels; l++) {
        const uint32_t stands = stand_at(&in, &points, l);
        if (__any_sync(CUDA_ALL, stands != 0)) {
            place_level(stands, gathered[warp], items + first[l] + before[warp][l]);
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
