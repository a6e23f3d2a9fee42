/* Colours of representatives on levels whose cells have many sources: each source is read once, and added to all cells
   around its own.

   A warp takes a brick, two of its cells at a time. Half a warp's lanes are the directions in which there are cells;
   all of them read the same source, whose weights by direction lie side by side. Sums are integers in device memory,
   which do not mind the order in which cells add to them. */
#include "lod/lod_filter_cuda_sums.h"

#define SCATTER_THREADS 512u
#define SCATTER_WARPS   (SCATTER_THREADS / CUDA_WARP)
#define HALF            (CUDA_WARP / 2)
#define PLACES          (MOTE_LOD_EIGHTHS * MOTE_LOD_EIGHTHS * MOTE_LOD_EIGHTHS)
#define PLACE_BITS      9u
#define PLACE_STEP_BITS 6u    /* bytes of a place in the table of weights */
#define MOST_BRICKS     8u    /* that a warp takes, one after the other: the table is loaded once for them */
#define MANY_BLOCKS     1024u /* from so many on they take more than one */
#define NO_CELL         64u
#define NO_TARGET       UINT32_MAX

static_assert(PLACES == 1u << PLACE_BITS, "three bits of a place along each axis");
static_assert(CUDA_WARP * sizeof(uint16_t) == 1u << PLACE_STEP_BITS, "a weight for each direction");

/* Red, green, blue, and the weight, of a cell. */
typedef struct alignas(32) cell_sum {
    unsigned long long v[4];
} cell_sum;

typedef struct scatter_view {
    const filter_brick *bricks;
    const uint32_t *around;
    uint32_t count; /* bricks, all of which are rows */
    const void *sources;
    const uint32_t *first_source;
    const uint16_t *weights; /* lod_filter.scatter_weights */
    uint32_t shift;          /* from a source's place to its place within the cell */
    cell_sum *sums;
    uint32_t warp_bricks; /* that a warp takes */
} scatter_view;

/* What a warp knows of its brick, and of two of its cells. */
typedef struct scatter_state {
    uint4 around[FILTER_AROUND];     /* bricks: mask, and first cell */
    uint32_t target[2][CUDA_WARP];   /* the cells around, */
    uint8_t direction[2][CUDA_WARP]; /* and in which direction */
} scatter_state;

/* Of the direction that is a lane's number: how far along each axis, plus 1. */
typedef struct lane_away {
    int32_t along[3];
} lane_away;

/* Lists the cells around one, each found by the lane of its direction; returns how many there are. */
static __device__ uint32_t list_targets(scatter_state *s, uint32_t half, uint32_t cell, const lane_away &away) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    uint32_t code = 0, brick = 0;
    for (uint32_t axis = 0; axis < 3; axis++) {
        const int32_t own = (int32_t)((cell >> (5 - axis) & 1) << 1 | (cell >> (2 - axis) & 1));
        const int32_t at = own + away.along[axis] - 1;  /* -1 to 4: beside the brick, in it, beside it */
        code |= ((uint32_t)(at * 5) & 9) << (2 - axis); /* the lower two bits, three apart */
        brick = 3 * brick + (uint32_t)((at >> 2) + 1);
    }
    uint4 words = make_uint4(0, 0, 0, 0);
    if (lane < FILTER_AROUND && cell != NO_CELL) words = s->around[brick];
    const unsigned long long mask = (unsigned long long)words.y << 32 | words.x;
    const bool there = (mask >> code & 1) != 0;
    const uint32_t all = __ballot_sync(CUDA_ALL, there);
    if (there) {
        const uint32_t slot = (uint32_t)__popc(all & ((1u << lane) - 1));
        s->target[half][slot] = words.z + (uint32_t)__popcll(mask & ((1ull << code) - 1));
        s->direction[half][slot] = (uint8_t)lane;
    }
    return (uint32_t)__popc(all);
}

/* Bytes from the table's begin to the weights of a source's place. */
static __device__ uint32_t place_bytes(const filter_source &source, uint32_t shift) {
    const uint32_t to = SOURCE_COUNT_BITS - PLACE_STEP_BITS; /* above it is the place, so what it leaves is masked */
    return source.place >> (to + shift) & (PLACES - 1) << PLACE_STEP_BITS;
}
static __device__ uint32_t place_bytes(const filter_wide_source &source, uint32_t shift) {
    return (source.place >> shift & (PLACES - 1)) << PLACE_STEP_BITS;
}

template <typename S>
static __device__ void weigh(color_sum<uint64_t> *sum, const S &source, uint32_t shift, uint32_t direction_bytes,
                             const uint8_t *weights) {
    add_weighted(sum, source, *(const uint16_t *)(weights + (place_bytes(source, shift) | direction_bytes)));
}

#define AT_ONCE 4u /* sources that are being loaded */

/* The weighted sum of a cell's sources for one direction. */
template <typename S>
static __device__ color_sum<uint64_t> weigh_cell(const S *source, uint32_t count, uint32_t shift,
                                                 uint32_t direction_bytes, const uint8_t *weights) {
    color_sum<uint64_t> sum = {{0, 0, 0}, 0};
    S some[AT_ONCE];
    CUDA_ROLLED
    for (; count >= AT_ONCE; count -= AT_ONCE, source += AT_ONCE) {
        for (uint32_t i = 0; i < AT_ONCE; i++) some[i] = load_source(source + i);
        for (uint32_t i = 0; i < AT_ONCE; i++) weigh(&sum, some[i], shift, direction_bytes, weights);
    }
    for (uint32_t i = 0; i + 1 < AT_ONCE; i++) {
        if (i < count) some[i] = load_source(source + i);
    }
    for (uint32_t i = 0; i + 1 < AT_ONCE; i++) {
        if (i < count) weigh(&sum, some[i], shift, direction_bytes, weights);
    }
    return sum;
}

/* Swaps a lane's numbers with those of the lane beside, so that in the end two lanes have the same of each's. */
static __device__ void swap_lanes(unsigned long long *low, unsigned long long *high, uint32_t beside) {
    const bool upper = (threadIdx.x & beside) != 0;
    const unsigned long long got = __shfl_xor_sync(CUDA_ALL, upper ? *low : *high, (int)beside);
    if (upper) {
        *low = got;
    } else {
        *high = got;
    }
}

/* Adds the sums of lanes to their targets. Four lanes trade numbers, so that they add to one target at a time: what
   lies in one sector goes in one go. */
static __device__ void add_sums(cell_sum *sums, const color_sum<uint64_t> &sum, uint32_t target) {
    unsigned long long v[4] = {sum.v[0], sum.v[1], sum.v[2], sum.weight};
    const uint32_t lane = threadIdx.x % CUDA_WARP, own = lane % 4;
    swap_lanes(&v[0], &v[1], 1);
    swap_lanes(&v[2], &v[3], 1);
    swap_lanes(&v[0], &v[2], 2);
    swap_lanes(&v[1], &v[3], 2);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t to = __shfl_sync(CUDA_ALL, target, (int)(lane - own + i));
        if (to != NO_TARGET) atomicAdd(&sums[to].v[own], v[i]);
    }
}

/* A brick. */
template <typename S>
static __device__ void scatter_brick(const scatter_view &view, uint32_t brick, const lane_away &away,
                                     const uint8_t *weights, scatter_state *s) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, half = lane / HALF;
    if (lane < FILTER_AROUND) {
        const uint32_t beside = view.around[filter_around(brick) + lane * FILTER_AROUND_STEP];
        s->around[lane] = *(const uint4 *)&view.bricks[beside];
    }
    __syncwarp();
    const uint4 own = s->around[FILTER_AROUND / 2];
    unsigned long long left = (unsigned long long)own.y << 32 | own.x;
    CUDA_ROLLED
    for (uint32_t cell = own.z; left != 0; cell += 2) {
        const uint32_t one = (uint32_t)__ffsll((long long)left) - 1;
        left &= left - 1;
        const uint32_t other = left != 0 ? (uint32_t)__ffsll((long long)left) - 1 : NO_CELL;
        left &= left - 1;
        const uint32_t of_one = list_targets(s, 0, one, away), of_other = list_targets(s, 1, other, away);
        const uint32_t targets = half == 0 ? of_one : of_other, most = of_one > of_other ? of_one : of_other;
        uint32_t first = 0, count = 0;
        if (targets > 0) {
            first = view.first_source[cell + half];
            count = view.first_source[cell + half + 1] - first;
        }
        __syncwarp();
        CUDA_ROLLED
        for (uint32_t begin = 0; begin < most; begin += HALF) {
            const uint32_t slot = begin + lane % HALF;
            const bool has = slot < targets;
            const uint32_t target = has ? s->target[half][slot] : NO_TARGET;
            const uint32_t direction_bytes = has ? s->direction[half][slot] * (uint32_t)sizeof(uint16_t) : 0;
            const color_sum<uint64_t> sum =
                weigh_cell((const S *)view.sources + first, has ? count : 0, view.shift, direction_bytes, weights);
            add_sums(view.sums, sum, target);
        }
        __syncwarp();
    }
}

template <typename S> static __global__ void __launch_bounds__(SCATTER_THREADS) scatter_cells(scatter_view view) {
    __shared__ uint4 table[PLACES * CUDA_WARP * sizeof(uint16_t) / sizeof(uint4)];
    __shared__ scatter_state states[SCATTER_WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    for (uint32_t i = threadIdx.x; i < sizeof table / sizeof table[0]; i += SCATTER_THREADS) {
        table[i] = ((const uint4 *)view.weights)[i];
    }
    __syncthreads();
    const lane_away away = {{(int32_t)(lane / 9), (int32_t)(lane / 3 % 3), (int32_t)(lane % 3)}};
    const uint64_t first = (uint64_t)blockIdx.x * (SCATTER_WARPS * view.warp_bricks) + warp;
    CUDA_ROLLED
    for (uint32_t i = 0; i < view.warp_bricks; i++) {
        const uint64_t brick = first + i * SCATTER_WARPS;
        if (brick >= view.count) return;
        scatter_brick<S>(view, (uint32_t)brick, away, (const uint8_t *)table, &states[warp]);
        __syncwarp();
    }
}

/* ---- averages */

typedef struct scattered_items {
    const uint32_t *items;
    uint64_t count;
    const uint8_t *leaf_level;
    const uint64_t *codes;
    uint32_t level, cell_level;
    const filter_brick *bricks;
    const uint32_t *row_point, *rows_before;
    const cell_sum *sums;
    filter_color *colors;
} scattered_items;

static __global__ void color_scattered(scattered_items view) {
    const uint64_t j = (uint64_t)blockIdx.x * FILTER_THREADS + threadIdx.x;
    if (j >= view.count) return;
    const uint32_t position = view.items[j];
    if (view.leaf_level[position] <= view.level) return;
    const uint32_t code = (uint32_t)(view.codes[position] >> 3 * (MOTE_ORDER_BITS - view.cell_level)) & 63;
    const filter_brick brick = view.bricks[filter_row_at(view.rows_before, view.row_point, position)];
    const uint32_t cell = brick.cell + (uint32_t)__popcll(brick.mask & ((1ull << code) - 1));
    const unsigned long long *const v = view.sums[cell].v;
    const color_sum<uint64_t> sum = {{v[0], v[1], v[2]}, v[3]};
    put_average(&view.colors[j], sum);
}

/* ---- a level */

static mote_status load_scatter_weights(lod_filter *f) {
    mote_context *ctx = f->lod->ctx;
    if (f->scatter_weights != NULL) return MOTE_OK;
    const mote_lod_weights weights = mote_lod_gaussian();
    const uint64_t size_bytes = (uint64_t)PLACES * CUDA_WARP * sizeof(uint16_t);
    uint16_t *table = (uint16_t *)mote_alloc_zero(ctx, size_bytes, "filter weights");
    f->scatter_weights = (uint16_t *)cuda_alloc(ctx, size_bytes, "filter weights");
    if (table == NULL || f->scatter_weights == NULL) {
        mote_free(ctx, table);
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < PLACES * CUDA_WARP; i++) {
        const uint32_t place = i / CUDA_WARP, d = i % CUDA_WARP;
        uint32_t eighth[3];
        mote_lod_eighths((uint64_t)place << (MOTE_MORTON_BITS * 3 - PLACE_BITS), 0, eighth);
        if (d >= FILTER_AROUND) continue;
        table[i] = (uint16_t)mote_lod_weight(weights.axis[d / 9][eighth[0]], weights.axis[d / 3 % 3][eighth[1]],
                                             weights.axis[d % 3][eighth[2]]);
    }
    const mote_status status = cuda_upload(ctx, f->scatter_weights, table, size_bytes);
    mote_free(ctx, table);
    return status;
}

static void scatter_level(const lod_filter *f, uint32_t level, cell_sum *sums) {
    mote_context *ctx = f->lod->ctx;
    const lod_cuda *device = f->device;
    const filter_cells_view *cells = &f->view;
    const uint64_t *items = device->level_items;
    const uint32_t cell_level = lod_cell_level(f->lod, level), rows = filter_brick_level(cell_level);
    const uint32_t source_level = cells->source_level[cell_level];
    const uint32_t wanted = (uint32_t)(cells->rows[rows] / SCATTER_WARPS / MANY_BLOCKS);
    const filter_brick *const bricks = cell_level > 1 ? cells->bricks[rows] : f->top;
    const scatter_view view = {bricks,
                               f->around[rows % 2],
                               (uint32_t)cells->rows[rows],
                               cells->sources[source_level],
                               cells->first_source[cell_level],
                               f->scatter_weights,
                               3 * (source_level - cell_level) - PLACE_BITS,
                               sums,
                               wanted < 1             ? 1
                               : wanted > MOST_BRICKS ? MOST_BRICKS
                                                      : wanted};
    const scattered_items targets = {device->items + items[level],
                                     items[level + 1] - items[level],
                                     device->leaf_level,
                                     device->codes,
                                     level,
                                     cell_level,
                                     bricks,
                                     cells->row_point[rows],
                                     cells->before + (uint64_t)filter_row_list(cells, rows) * cells->tiles,
                                     sums,
                                     (filter_color *)device->item_colors + items[level]};
    const bool wide = (cells->wide >> source_level & 1) != 0;
    CUDA_LAUNCH(ctx, (wide ? scatter_cells<filter_wide_source> : scatter_cells<filter_source>),
                cuda_blocks(view.count, SCATTER_WARPS * view.warp_bricks), SCATTER_THREADS, view);
    CUDA_LAUNCH(ctx, color_scattered, cuda_blocks(targets.count, FILTER_THREADS), FILTER_THREADS, targets);
}

mote_status filter_scatter(lod_filter *f, uint32_t level) {
    mote_context *ctx = f->lod->ctx;
    const uint64_t *items = f->device->level_items;
    const uint64_t size_bytes = f->view.cells[lod_cell_level(f->lod, level)] * sizeof(cell_sum);
    if (items[level + 1] == items[level]) return MOTE_OK;
    MOTE_TRY(load_scatter_weights(f));
    cell_sum *sums = (cell_sum *)cuda_alloc(ctx, size_bytes, "filter sums");
    if (sums == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(ctx, sums, 0, size_bytes);
    if (status == MOTE_OK) {
        scatter_level(f, level, sums);
        status = cuda_launched(ctx, "filtering colours");
    }
    cuda_free(ctx, sums);
    return status;
}
