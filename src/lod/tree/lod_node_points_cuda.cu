/* What the nodes hold, in the order of the file. Nodes stand level by level and, within a level, in Morton order, so
   their points are a stable partition of the sorted positions by level: each tile counts its points of each level, a
   sum over all counts, level after level, says where they go. Each thread counts its points in columns of its own, a
   row of which summed up ranks the points of a level. In the additive scheme a point stands in one node, in the
   replacing scheme in one of each level from its own to its leaf's. Trees of very many levels go level by level, a bit
   per point. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "lod/lod_cuda.h"
#include "math/search.h"

/* With these values the step takes 0.28 ms for 100 M points of a city (H200). */
struct node_points_policy {
    static constexpr uint32_t threads = 256, warps = threads / CUDA_WARP;
    static constexpr uint32_t items = 16; /* points of a thread, in a row: one load of 16 bytes */
    static constexpr uint32_t warp_items = CUDA_WARP * items;
    static constexpr uint32_t tile = warps * warp_items;
    static constexpr uint32_t staged = 3 * tile; /* items that change places at a time: those of some levels */
};

typedef struct items_input {
    const uint8_t *level, *leaf_level;
    uint64_t count;
    uint32_t tiles, levels;
    bool replacing;
} items_input;

/* ---- any scheme, any number of levels */

/* The levels of a thread's points, and which points stand at the level that is being looked at: a bit each. */
typedef struct thread_points {
    uint4 low, high;
    uint32_t there; /* points of the cloud */
    uint32_t standing;
} thread_points;

static __device__ uint4 load_levels(const uint8_t *levels, uint64_t first, uint64_t count) {
    uint4 four = make_uint4(0, 0, 0, 0);
    if (first + node_points_policy::items <= count) return *(const uint4 *)(levels + first);
    if (first < count) memcpy(&four, levels + first, (size_t)(count - first));
    return four;
}

static __device__ thread_points load_points(const items_input *in) {
    const uint64_t first =
        ((uint64_t)blockIdx.x * node_points_policy::threads + threadIdx.x) * node_points_policy::items;
    const uint64_t remaining = first < in->count ? in->count - first : 0;
    thread_points points;
    points.low = load_levels(in->level, first, in->count);
    points.high = in->replacing ? load_levels(in->leaf_level, first, in->count) : points.low;
    points.there =
        remaining >= node_points_policy::items ? (1u << node_points_policy::items) - 1 : (1u << remaining) - 1;
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

/* counts[warp][level] of the tile's points. */
static __device__ void count_tile(const items_input *in, thread_points points,
                                  uint32_t counts[node_points_policy::warps][LOD_MAX_LEVELS]) {
    for (uint32_t l = 0; l < in->levels; l++) {
        const uint32_t sum = warp_scan_inclusive((uint32_t)__popc(stand_at(in, &points, l)));
        if (threadIdx.x % CUDA_WARP == CUDA_WARP - 1) counts[threadIdx.x / CUDA_WARP][l] = sum;
    }
    __syncthreads();
}

/* counts [levels · tiles + 1] */
static __global__ void __launch_bounds__(node_points_policy::threads) count_items(items_input in, uint32_t *counts) {
    __shared__ uint32_t own[node_points_policy::warps][LOD_MAX_LEVELS];
    count_tile(&in, load_points(&in), own);
    for (uint32_t l = threadIdx.x; l < in.levels; l += node_points_policy::threads) {
        uint32_t sum = 0;
        for (uint32_t w = 0; w < node_points_policy::warps; w++) sum += own[w][l];
        counts[(uint64_t)l * in.tiles + blockIdx.x] = sum;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[(uint64_t)in.levels * in.tiles] = 0;
}

/* Gathers the warp's points of a level and writes them in one go. */
static __device__ void place_level(uint32_t stands, uint16_t *gathered, uint32_t *out) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, own = (uint32_t)__popc(stands);
    const uint32_t sum = warp_scan_inclusive(own), total = warp_broadcast(sum, CUDA_WARP - 1);
    const uint32_t warp_first =
        (uint32_t)((uint64_t)blockIdx.x * node_points_policy::tile) + (threadIdx.x - lane) * node_points_policy::items;
    uint32_t at = sum - own;
    for (; stands != 0; stands &= stands - 1) {
        gathered[at++] = (uint16_t)(lane * node_points_policy::items + (uint32_t)__ffs((int)stands) - 1);
    }
    __syncwarp();
    for (uint32_t i = lane; i < total; i += CUDA_WARP) out[i] = warp_first + gathered[i];
    __syncwarp();
}

/* firsts: the sums of the counts. */
static __global__ void __launch_bounds__(node_points_policy::threads)
    place_items(items_input in, const uint64_t *firsts, uint32_t *items) {
    __shared__ uint32_t before[node_points_policy::warps][LOD_MAX_LEVELS]; /* in the tile's items of a level */
    __shared__ uint64_t first[LOD_MAX_LEVELS];
    __shared__ uint16_t gathered[node_points_policy::warps][node_points_policy::warp_items];
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    thread_points points = load_points(&in);
    count_tile(&in, points, before);
    for (uint32_t l = threadIdx.x; l < in.levels; l += node_points_policy::threads) {
        uint32_t sum = 0;
        for (uint32_t w = 0; w < node_points_policy::warps; w++) {
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

/* ---- up to COLUMN levels */

#define COLUMN     16u
#define POINT_BITS 12u /* of a point of the tile */

static_assert(node_points_policy::tile == 1u << POINT_BITS && COLUMN == 1u << (16 - POINT_BITS),
              "level and point are 16 bits");
static_assert(node_points_policy::threads == CUDA_WARP * 8, "a warp sums up a row, 8 threads' counts per lane");

typedef struct alignas(16) item_columns {
    uint32_t counts[COLUMN + 1][node_points_policy::threads];
} item_columns;

/* k is known when it is compiled. */
static __device__ uint32_t level_of(uint4 levels, uint32_t k) {
    const uint32_t word = k < 4 ? levels.x : k < 8 ? levels.y : k < 12 ? levels.z : levels.w;
    return word >> 8 * (k % 4) & 0xFF;
}

/* Counts each thread's points of each level. before: how many of a point's level the thread has before it. */
static __device__ uint4 count_columns(const items_input *in, item_columns *columns,
                                      uint32_t before[node_points_policy::items]) {
    const thread_points points = load_points(in);
    for (uint32_t l = 0; l < in->levels; l++) columns->counts[l][threadIdx.x] = 0;
#pragma unroll
    for (uint32_t k = 0; k < node_points_policy::items; k++) {
        uint32_t *const count = &columns->counts[level_of(points.low, k)][threadIdx.x];
        before[k] = *count;
        *count = before[k] + (points.there >> k & 1);
    }
    return points.low;
}

/* Counts where each point stands at some levels in a row, by differences of one level from the one before. */
static __device__ thread_points count_runs(const items_input *in, item_columns *columns) {
    const thread_points points = load_points(in);
    for (uint32_t l = 0; l <= in->levels; l++) columns->counts[l][threadIdx.x] = 0;
#pragma unroll
    for (uint32_t k = 0; k < node_points_policy::items; k++) {
        const uint32_t there = points.there >> k & 1;
        columns->counts[level_of(points.low, k)][threadIdx.x] += there;
        columns->counts[level_of(points.high, k) + 1][threadIdx.x] -= there;
    }
    uint32_t standing = 0;
    for (uint32_t l = 0; l < in->levels; l++) {
        standing += columns->counts[l][threadIdx.x];
        columns->counts[l][threadIdx.x] = standing;
    }
    return points;
}

/* counts [levels · tiles + 1] */
template <bool REPLACING>
static __global__ void __launch_bounds__(node_points_policy::threads)
    count_in_columns(items_input in, uint32_t *counts) {
    __shared__ item_columns columns;
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    if (REPLACING) {
        count_runs(&in, &columns);
    } else {
        uint32_t before[node_points_policy::items];
        count_columns(&in, &columns, before);
    }
    __syncthreads();
    for (uint32_t l = threadIdx.x / CUDA_WARP; l < in.levels; l += node_points_policy::warps) {
        uint32_t sum = 0;
        for (uint32_t t = lane; t < node_points_policy::threads; t += CUDA_WARP) sum += columns.counts[l][t];
        sum = warp_scan_inclusive(sum);
        if (lane == CUDA_WARP - 1) counts[(uint64_t)l * in.tiles + blockIdx.x] = sum;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[(uint64_t)in.levels * in.tiles] = 0;
}

/* Turns a row's counts into sums of those before, from a first one on. A warp. */
static __device__ void sum_row(uint32_t row[node_points_policy::threads], uint32_t first) {
    uint4 *const own = (uint4 *)row + 2 * (threadIdx.x % CUDA_WARP);
    uint4 a = own[0], b = own[1];
    const uint32_t all = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
    uint32_t sum = first + warp_scan_exclusive(all), next;
    next = sum + a.x, a.x = sum, sum = next;
    next = sum + a.y, a.y = sum, sum = next;
    next = sum + a.z, a.z = sum, sum = next;
    next = sum + a.w, a.w = sum, sum = next;
    next = sum + b.x, b.x = sum, sum = next;
    next = sum + b.y, b.y = sum, sum = next;
    next = sum + b.z, b.z = sum, sum = next;
    b.w = sum;
    own[0] = a;
    own[1] = b;
}

/* Where the points of each level begin: in the tile, whose end follows, and less that, among all items. The first
   warp. */
static __device__ void find_rows(const items_input *in, const uint64_t *firsts, uint32_t in_tile[COLUMN + 1],
                                 uint64_t in_items[COLUMN]) {
    const uint32_t l = threadIdx.x;
    const uint64_t *const of_tile = firsts + (uint64_t)(l < in->levels ? l : 0) * in->tiles + blockIdx.x;
    const uint64_t first = of_tile[0];
    const uint32_t own = l < in->levels ? (uint32_t)(of_tile[1] - first) : 0, before = warp_scan_exclusive(own);
    if (l <= in->levels) in_tile[l] = before;
    if (l < in->levels) in_items[l] = first - before;
}

/* firsts: the sums of the counts. Points change places in shared memory first, so that they leave in rows. */
static __global__ void __launch_bounds__(node_points_policy::threads)
    place_additive(items_input in, const uint64_t *firsts, uint32_t *items) {
    __shared__ item_columns columns;
    __shared__ uint32_t in_tile[COLUMN + 1];
    __shared__ uint64_t in_items[COLUMN];
    __shared__ uint16_t sorted[node_points_policy::tile]; /* level, and point of the tile */
    const uint64_t tile_first = (uint64_t)blockIdx.x * node_points_policy::tile, remaining = in.count - tile_first;
    const uint32_t size = remaining < node_points_policy::tile ? (uint32_t)remaining : node_points_policy::tile;
    uint32_t before[node_points_policy::items];
    const uint4 levels = count_columns(&in, &columns, before);
    if (threadIdx.x < CUDA_WARP) find_rows(&in, firsts, in_tile, in_items);
    __syncthreads();
    for (uint32_t l = threadIdx.x / CUDA_WARP; l < in.levels; l += node_points_policy::warps)
        sum_row(columns.counts[l], in_tile[l]);
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < node_points_policy::items; k++) {
        const uint32_t level = level_of(levels, k), point = threadIdx.x * node_points_policy::items + k;
        if (point < size)
            sorted[columns.counts[level][threadIdx.x] + before[k]] = (uint16_t)(level << POINT_BITS | point);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < size; i += node_points_policy::threads) {
        const uint32_t item = sorted[i];
        items[in_items[item >> POINT_BITS] + i] = (uint32_t)tile_first + (item & (node_points_policy::tile - 1));
    }
}

/* Sorts the thread's items of some levels. base: of the first of them */
static __device__ void sort_runs(const thread_points &points, uint32_t level, uint32_t end, uint32_t base,
                                 item_columns *columns, uint16_t *sorted) {
#pragma unroll
    for (uint32_t k = 0; k < node_points_policy::items; k++) {
        const uint32_t own = level_of(points.low, k), leaf = level_of(points.high, k);
        const uint32_t last = (points.there >> k & 1) == 0 ? 0 : leaf + 1 < end ? leaf + 1 : end;
        for (uint32_t l = own > level ? own : level; l < last; l++) {
            const uint32_t at = columns->counts[l][threadIdx.x]++;
            sorted[at - base] = (uint16_t)(l << POINT_BITS | (threadIdx.x * node_points_policy::items + k));
        }
    }
}

/* firsts: the sums of the counts. */
static __global__ void __launch_bounds__(node_points_policy::threads)
    place_replacing(items_input in, const uint64_t *firsts, uint32_t *items) {
    __shared__ item_columns columns;
    __shared__ uint32_t in_tile[COLUMN + 1];
    __shared__ uint64_t in_items[COLUMN];
    __shared__ uint16_t sorted[node_points_policy::staged]; /* level, and point of the tile */
    const uint32_t tile_first = (uint32_t)((uint64_t)blockIdx.x * node_points_policy::tile);
    const thread_points points = count_runs(&in, &columns);
    if (threadIdx.x < CUDA_WARP) find_rows(&in, firsts, in_tile, in_items);
    __syncthreads();
    for (uint32_t l = threadIdx.x / CUDA_WARP; l < in.levels; l += node_points_policy::warps)
        sum_row(columns.counts[l], in_tile[l]);
    for (uint32_t level = 0, end; level < in.levels; level = end) {
        const uint32_t base = in_tile[level];
        for (end = level + 1; end < in.levels && in_tile[end + 1] - base <= node_points_policy::staged;) end++;
        __syncthreads();
        sort_runs(points, level, end, base, &columns, sorted);
        __syncthreads();
        for (uint32_t i = threadIdx.x, size = in_tile[end] - base; i < size; i += node_points_policy::threads) {
            const uint32_t item = sorted[i];
            items[in_items[item >> POINT_BITS] + base + i] = tile_first + (item & (node_points_policy::tile - 1));
        }
    }
}

/* ---- what levels and nodes have of it */

/* How many items stand before a position's of a level: those of tiles before, and some of its own. */
static __device__ uint64_t find_item(const items_input *in, const uint64_t *firsts, const uint32_t *items,
                                     uint32_t level, uint64_t position) {
    const uint64_t *const of_tile = firsts + (uint64_t)level * in->tiles + position / node_points_policy::tile;
    const uint64_t first = of_tile[0];
    if (position % node_points_policy::tile == 0) return first;
    return first + mote_lower_bound32(items + first, (uint32_t)(of_tile[1] - first), (uint32_t)position);
}

/* Fills point_count, and level_items [levels + 1]. Two threads per node, for its beginning and its end. */
static __global__ void __launch_bounds__(node_points_policy::threads)
    count_node_points(items_input in, const uint64_t *firsts, const uint32_t *items, mote_lod_node *nodes,
                      uint32_t node_count, uint64_t *level_items) {
    const uint32_t t = blockIdx.x * node_points_policy::threads + threadIdx.x, i = t / 2;
    uint64_t at = 0;
    if (t <= in.levels) level_items[t] = firsts[(uint64_t)t * in.tiles];
    if (i < node_count) {
        const uint64_t first = nodes[i].first, position = t % 2 == 0 ? first : first + nodes[i].total;
        at = find_item(&in, firsts, items, nodes[i].level, position);
    }
    const uint64_t other = warp_exchange(at, 1);
    if (i < node_count && t % 2 == 0) nodes[i].point_count = other - at;
}

/* ---- the host's side */

typedef struct items_scratch {
    uint32_t *counts;
    uint64_t *firsts, *level_items;
} items_scratch;

typedef struct items_kernels {
    void (*count)(items_input, uint32_t *);
    void (*place)(items_input, const uint64_t *, uint32_t *);
} items_kernels;

static const items_kernels *choose_kernels(const items_input *in) {
    static const items_kernels any = {count_items, place_items};
    static const items_kernels additive = {count_in_columns<false>, place_additive};
    static const items_kernels replacing = {count_in_columns<true>, place_replacing};
    return in->levels > COLUMN ? &any : in->replacing ? &replacing : &additive;
}

static mote_status find_items(mote_lod *lod, lod_cuda *device, const items_input *in, items_scratch *scratch) {
    mote_device *gpu = lod->device;
    const uint64_t counts = (uint64_t)in->levels * in->tiles + 1;
    scratch->counts = (uint32_t *)cuda_alloc(gpu, counts * sizeof *scratch->counts, "items scratch");
    scratch->firsts = (uint64_t *)cuda_alloc(gpu, counts * sizeof *scratch->firsts, "items scratch");
    scratch->level_items = (uint64_t *)cuda_alloc(gpu, sizeof device->level_items, "items scratch");
    if (scratch->counts == NULL || scratch->firsts == NULL || scratch->level_items == NULL) return MOTE_ERROR_MEMORY;
    const items_kernels *kernels = choose_kernels(in);
    CUDA_LAUNCH(gpu, kernels->count, in->tiles, node_points_policy::threads, *in, scratch->counts);
    MOTE_TRY(cuda_sum32_wide(gpu, scratch->counts, scratch->firsts, counts));
    MOTE_TRY(cuda_launched(gpu, "counting points of levels"));
    device->item_count = lod->count;
    if (in->replacing) {
        MOTE_TRY(cuda_download(gpu, &device->item_count, scratch->firsts + (counts - 1), sizeof device->item_count));
    }
    device->items = (uint32_t *)cuda_alloc(gpu, device->item_count * sizeof *device->items, "items");
    if (device->items == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(gpu, kernels->place, in->tiles, node_points_policy::threads, *in, scratch->firsts, device->items);
    CUDA_LAUNCH(gpu, count_node_points, cuda_blocks(2 * lod->node_count + in->levels, node_points_policy::threads),
                node_points_policy::threads, *in, scratch->firsts, device->items, device->nodes,
                (uint32_t)lod->node_count, scratch->level_items);
    MOTE_TRY(cuda_launched(gpu, "placing points in levels"));
    return cuda_download(gpu, device->level_items, scratch->level_items,
                         (in->levels + 1) * sizeof *device->level_items);
}

mote_status lod_cuda_node_points(mote_lod *lod, lod_cuda *device) {
    mote_device *gpu = lod->device;
    const items_input in = {device->level,    device->leaf_level,
                            lod->count,       cuda_blocks(lod->count, node_points_policy::tile),
                            lod->level_count, lod->params.scheme == MOTE_LOD_REPLACING};
    items_scratch scratch;
    memset(&scratch, 0, sizeof scratch);
    const mote_status status = find_items(lod, device, &in, &scratch);
    cuda_free(gpu, scratch.counts);
    cuda_free(gpu, scratch.firsts);
    cuda_free(gpu, scratch.level_items);
    return status;
}
