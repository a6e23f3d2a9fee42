/* Colours of representatives on the device. A block takes some items in order, which lie in few tiles of 8³ cells. The
   cells of a tile and around it get their places in a dense grid, one tile after the other, and then each thread adds
   up what lies around its item. */
#include "lod/lod_filter_cuda.h"

#define AROUND_THREADS 128u
#define AROUND_WARPS   (AROUND_THREADS / CUDA_WARP)
#define CHUNK_ROWS     8u
#define CHUNK_ITEMS    (AROUND_THREADS * CHUNK_ROWS) /* most items of a block */
#define CHUNK_BLOCKS   4096u                         /* where there are fewer, they get fewer items */
#define SLOTS          8u                            /* tiles whose neighbours a block holds at a time */
#define AROUND         27u
#define BRICKS         64u /* of a tile and around it: 4³ */
#define GRID_SIDE      10u
#define GRID_ROWS      (GRID_SIDE * GRID_SIDE)
#define GRID_CELLS     (GRID_SIDE * GRID_SIDE * GRID_SIDE)
#define GRID_ROUNDS    8u /* of AROUND_THREADS cells */
#define GRID_WORDS     (GRID_ROUNDS * AROUND_WARPS)
#define MIRRORED       512u            /* so many weights per direction: three bits an axis, which mirror each other */
#define WEIGHTS        (MIRRORED * 8u) /* the most of all directions */
#define FEW_SOURCES    4u              /* per cell: from so many on, lanes share a target */
#define MANY_SOURCES   12u             /* more lanes */

/* The items of a level. */
typedef struct target_view {
    const uint32_t *items;
    uint64_t count;
    const uint8_t *leaf_level;
    const uint64_t *codes;
    uint32_t level;
    filter_color *colors;
} target_view;

typedef struct weight_view {
    const uint16_t *table;  /* as lod_filter.weights */
    uint32_t rows, entries; /* in each row */
    uint32_t shift;         /* from a source's place to its place within the cell */
} weight_view;

template <typename T> struct color_sum { T v[3], weight; };

/* ---- averages */

static __device__ void put_average(filter_color *to, const color_sum<uint64_t> &sum) {
    const double reciprocal = 1.0 / (double)sum.weight;
    filter_color color;
    for (int k = 0; k < 3; k++) color.v[k] = filter_mean(sum.v[k], sum.weight, reciprocal);
    color.v[3] = 1;
    *to = color;
}

/* weight <= SLICE_POINTS */
static __device__ void put_average(filter_color *to, const color_sum<uint32_t> &sum) {
    const float reciprocal = 1.0f / (float)sum.weight;
    filter_color color;
    for (int k = 0; k < 3; k++) color.v[k] = filter_mean32(sum.v[k], sum.weight, reciprocal);
    color.v[3] = 1;
    *to = color;
}

/* At once, which the compiler would not do. */
static __device__ filter_source load_source(const filter_source *from) {
    const uint4 words = *(const uint4 *)from;
    return {{words.x, words.y, words.z}, words.w};
}

template <typename T> static __device__ void add_source(color_sum<T> *sum, const filter_source &source) {
    for (int k = 0; k < 3; k++) sum->v[k] += source.sum[k];
    sum->weight += source.place & ((1u << SOURCE_COUNT_BITS) - 1);
}

static __device__ void add_weighted(color_sum<uint64_t> *sum, const filter_source &source, uint32_t weight) {
    for (int k = 0; k < 3; k++) sum->v[k] += (uint64_t)source.sum[k] * weight;
    sum->weight += (uint64_t)(source.place & ((1u << SOURCE_COUNT_BITS) - 1)) * weight;
}

/* ---- each cell alone */

/* The last source in [first, last] that begins at a position or before it. */
static __device__ uint64_t source_at(const filter_sources &sources, uint64_t first, uint64_t last, uint32_t position) {
    while (first < last) {
        const uint64_t middle = last - (last - first) / 2;
        if (sources.first[middle] <= position) {
            first = middle;
        } else {
            last = middle - 1;
        }
    }
    return first;
}

static __device__ color_sum<uint64_t> sum_cell(const filter_sources &sources, uint64_t at, uint32_t cell_level) {
    color_sum<uint64_t> sum = {{0, 0, 0}, 0};
    while (!filter_begins<FILTER_CELLS>(sources.marks[at], at, cell_level)) at--;
    do {
        add_source(&sum, sources.sums[at]);
        at++;
    } while (at < sources.count && !filter_begins<FILTER_CELLS>(sources.marks[at], at, cell_level));
    return sum;
}

/* A block's items are near each other, and so are their sources. */
static __global__ void average_cells(target_view targets, filter_sources sources, uint32_t cell_level) {
    __shared__ uint64_t ends[2];
    const uint64_t first = (uint64_t)blockIdx.x * FILTER_THREADS, j = first + threadIdx.x;
    if (threadIdx.x < 2) {
        const uint64_t end = first + FILTER_THREADS < targets.count ? first + FILTER_THREADS : targets.count;
        ends[threadIdx.x] = source_at(sources, 0, sources.count - 1, targets.items[threadIdx.x == 0 ? first : end - 1]);
    }
    __syncthreads();
    if (j >= targets.count) return;
    const uint32_t position = targets.items[j];
    if (targets.leaf_level[position] <= targets.level) return;
    put_average(&targets.colors[j], sum_cell(sources, source_at(sources, ends[0], ends[1], position), cell_level));
}

/* ---- cells and those around them */

/* The sources of a cell. */
typedef struct alignas(8) source_span {
    uint32_t first, count;
} source_span;

/* What a block knows: the targets among its items, their tiles, and what lies around one of these. The cells of a tile
   and the layer around it have their place in a grid of 10³, in which 100x + 10y + z is the lowest neighbour of the
   tile's cell (x, y, z). */
typedef struct surroundings {
    union {
        unsigned long long codes[CHUNK_ITEMS]; /* of the cells of targets, until their tiles are listed */
        source_span spans[GRID_CELLS];         /* of occupied cells */
    };
    uint32_t occupied[GRID_WORDS + 1]; /* a bit per cell */
    uint32_t rows[GRID_ROWS];          /* the same, a word per row along z */
    uint16_t items[CHUNK_ITEMS];       /* targets, from the block's first item on */
    uint16_t cells[CHUNK_ITEMS];       /* and their cells within the tile */
    uint16_t tiles[CHUNK_ITEMS + 1];   /* the first target of each tile */
    uint32_t warp_count[AROUND_WARPS];
    unsigned long long tile_code[SLOTS];
    uint32_t tile_brick[SLOTS * AROUND];   /* the tiles around: first brick */
    uint32_t tile_octants[SLOTS * AROUND]; /* and which there are */
    uint32_t masks[2 * BRICKS];            /* halves of the bricks in and around a tile: 16x + 4y + z */
    uint32_t half_cell[2 * BRICKS];        /* their first cells */
    uint32_t steps[AROUND];                /* by direction: see step_of */
} surroundings;

/* Each warp's count of what its lanes chose, in CHUNK_ROWS rows: how many warps before chose, and how many all. */
static __device__ uint32_t count_before(surroundings *s, const uint32_t *chosen, uint32_t *all) {
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    uint32_t own = 0, before = 0;
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) own += (uint32_t)__popc(chosen[r]);
    __syncthreads();
    if (threadIdx.x % CUDA_WARP == 0) s->warp_count[warp] = own;
    __syncthreads();
    *all = 0;
    for (uint32_t w = 0; w < AROUND_WARPS; w++) {
        if (w < warp) before += s->warp_count[w];
        *all += s->warp_count[w];
    }
    return before;
}

static __device__ uint32_t lanes_below() { return (1u << (threadIdx.x % CUDA_WARP)) - 1; }

/* A thread's item in a row: those of a warp follow each other. */
static __device__ uint32_t item_of_row(uint32_t row) {
    return (threadIdx.x / CUDA_WARP * CHUNK_ROWS + row) * CUDA_WARP + threadIdx.x % CUDA_WARP;
}

/* Lists the targets of a block's items; returns how many. */
static __device__ uint32_t list_targets(surroundings *s, const target_view &targets, uint64_t first, uint32_t count,
                                        uint32_t shift) {
    uint32_t chosen[CHUNK_ROWS], all;
    uint64_t codes[CHUNK_ROWS];
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
        const uint32_t i = item_of_row(r);
        const uint32_t position = i < count ? targets.items[first + i] : 0;
        codes[r] = i < count ? targets.codes[position] >> shift : 0;
        chosen[r] = __ballot_sync(CUDA_ALL, i < count && targets.leaf_level[position] > targets.level);
    }
    uint32_t at = count_before(s, chosen, &all);
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
        const uint32_t own = at + (uint32_t)__popc(chosen[r] & lanes_below());
        if (filter_is_chosen(chosen[r])) {
            s->codes[own] = codes[r];
            s->items[own] = (uint16_t)item_of_row(r);
            s->cells[own] = (uint16_t)(codes[r] & 511);
        }
        at += (uint32_t)__popc(chosen[r]);
    }
    __syncthreads();
    return all;
}

/* Lists where their tiles begin; returns how many. */
static __device__ uint32_t list_tiles(surroundings *s, uint32_t targets) {
    uint32_t chosen[CHUNK_ROWS], all;
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
        const uint32_t i = item_of_row(r);
        const bool begins = i < targets && (i == 0 || s->codes[i] >> 9 != s->codes[i - 1] >> 9);
        chosen[r] = __ballot_sync(CUDA_ALL, begins);
    }
    uint32_t at = count_before(s, chosen, &all);
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
        const uint32_t own = at + (uint32_t)__popc(chosen[r] & lanes_below());
        if (filter_is_chosen(chosen[r])) s->tiles[own] = (uint16_t)item_of_row(r);
        at += (uint32_t)__popc(chosen[r]);
    }
    if (threadIdx.x == 0) s->tiles[all] = (uint16_t)targets;
    __syncthreads();
    return all;
}

/* Finds the tile beside another. octants is 0 if there is none. */
static __device__ void find_tile(const filter_index &index, uint64_t tile, uint32_t direction, uint32_t *brick,
                                 uint32_t *octants) {
    const uint32_t x = mote_morton_compact(tile >> 2) + direction / 9 - 1;
    const uint32_t y = mote_morton_compact(tile >> 1) + direction / 3 % 3 - 1;
    const uint32_t z = mote_morton_compact(tile) + direction % 3 - 1;
    *octants = 0;
    if ((x | y | z) > MOTE_MORTON_MASK) return; /* below zero */
    const uint64_t code = mote_morton_encode(x, y, z);
    for (uint64_t at = mote_hash64(code) & index.table_mask;; at = (at + 1) & index.table_mask) {
        const filter_tile found = index.table[at];
        if (found.code == UINT64_MAX) return;
        if (found.code != code) continue;
        *brick = found.brick;
        *octants = found.octants;
        return;
    }
}

/* Of the bricks 0 … 3 along an axis, 1 and 2 are the tile's own: the tile that one lies in, and its half of it. */
static __device__ uint32_t tile_of(uint32_t brick) { return (brick + 1) / 2; }
static __device__ uint32_t half_of(uint32_t brick) { return (brick + 1) & 1; }

static __device__ void load_brick(surroundings *s, const filter_index &index, uint32_t slot, uint32_t at) {
    const uint32_t x = at >> 4, y = at >> 2 & 3, z = at & 3;
    const uint32_t tile = slot * AROUND + 9 * tile_of(x) + 3 * tile_of(y) + tile_of(z);
    const uint32_t octant = 4 * half_of(x) + 2 * half_of(y) + half_of(z);
    const uint32_t octants = s->tile_octants[tile];
    filter_brick brick = {0, 0, 0};
    if (octants >> octant & 1) {
        const uint32_t before = (uint32_t)__popc(octants & ((1u << octant) - 1));
        brick = index.bricks[s->tile_brick[tile] + before];
    }
    s->masks[2 * at] = (uint32_t)brick.mask;
    s->masks[2 * at + 1] = (uint32_t)(brick.mask >> 32);
    s->half_cell[2 * at] = brick.cell;
    s->half_cell[2 * at + 1] = brick.cell + (uint32_t)__popc((uint32_t)brick.mask);
}

/* Finds the tiles around those listed from first on. */
static __device__ void find_around(surroundings *s, const filter_index &index, const target_view &targets,
                                   uint64_t first_item, uint32_t first, uint32_t count) {
    if (threadIdx.x < count) {
        const uint32_t item = s->items[s->tiles[first + threadIdx.x]];
        const uint32_t shift = 3 * (MOTE_ORDER_BITS - index.level);
        s->tile_code[threadIdx.x] = targets.codes[targets.items[first_item + item]] >> shift >> 9;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count * AROUND; i += AROUND_THREADS) {
        find_tile(index, s->tile_code[i / AROUND], i % AROUND, &s->tile_brick[i], &s->tile_octants[i]);
    }
    __syncthreads();
}

/* Where a cell of the grid lies in the bricks around: its brick, and below, in 6 bits, its code within it; so the half
   of a brick, and 5 bits. */
static __device__ uint32_t place_in_bricks(uint32_t cell) {
    const uint32_t at[3] = {cell / (GRID_SIDE * GRID_SIDE) + 3, cell / GRID_SIDE % GRID_SIDE + 3, cell % GRID_SIDE + 3};
    uint32_t place = 0;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t apart = (at[k] & 1) | (at[k] & 2) << 2;
        place |= (at[k] >> 2) << (10 - 2 * k) | apart << (2 - k);
    }
    return place;
}

/* Fills the grid around a tile. */
static __device__ void fill_grid(surroundings *s, const filter_index &index, uint32_t slot, const uint32_t *places) {
    if (threadIdx.x < BRICKS) load_brick(s, index, slot, threadIdx.x);
    __syncthreads();
    for (uint32_t r = 0; r < GRID_ROUNDS; r++) {
        const uint32_t cell = r * AROUND_THREADS + threadIdx.x, half = places[r] / 32, bit = 1u << places[r] % 32;
        const uint32_t mask = cell < GRID_CELLS ? s->masks[half] : 0;
        const bool occupied = (mask & bit) != 0;
        const uint32_t lanes = __ballot_sync(CUDA_ALL, occupied);
        if (threadIdx.x % CUDA_WARP == 0) s->occupied[cell / CUDA_WARP] = lanes;
        if (!occupied) continue;
        const uint32_t at = s->half_cell[half] + (uint32_t)__popc(mask & (bit - 1));
        source_span span = {at, 1};
        if (index.cell_first != NULL) {
            span.first = index.cell_first[at];
            span.count = index.cell_first[at + 1] - span.first;
        }
        s->spans[cell] = span;
    }
    __syncthreads();
    if (threadIdx.x < GRID_ROWS) {
        const uint32_t at = threadIdx.x * GRID_SIDE, word = at / CUDA_WARP;
        const uint64_t bits = (uint64_t)s->occupied[word + 1] << 32 | s->occupied[word];
        s->rows[threadIdx.x] = (uint32_t)(bits >> at % CUDA_WARP) & ((1u << GRID_SIDE) - 1);
    }
    __syncthreads();
}

/* A direction's step in the grid and, above, its key: a source's weight is at its place within its cell, xor the key,
   which names the row of weights and flips places: with all bits known, weights beyond a cell's middle mirror those
   before it. */
#define STEP_BITS 8u

static __device__ uint32_t step_of(uint32_t direction, uint32_t entries) {
    const uint32_t at[3] = {direction / 9, direction / 3 % 3, direction % 3};
    const uint32_t step = GRID_SIDE * (GRID_SIDE * at[0] + at[1]) + at[2];
    if (entries < MIRRORED) return step | direction * entries << STEP_BITS;
    uint32_t row = 0, flip = 0;
    for (uint32_t k = 0; k < 3; k++) {
        row = 2 * row + (at[k] & 1);
        if (at[k] == 2) flip |= 0x49u << (2 - k);
    }
    return step | (row * entries | flip) << STEP_BITS;
}

/* The directions in which a cell, given by its lowest neighbour, has an occupied neighbour. */
static __device__ uint32_t occupied_around(const surroundings *s, uint32_t row, uint32_t z) {
    uint32_t directions = 0;
    for (uint32_t i = 0; i < 9; i++) { directions |= (s->rows[row + GRID_SIDE * (i / 3) + i % 3] >> z & 7) << 3 * i; }
    return directions;
}

/* The cells around a target that a lane has still to add. */
typedef struct cell_walk {
    uint32_t directions;
    uint32_t lowest; /* of all 27, in the grid */
} cell_walk;

static __device__ cell_walk walk_around(const surroundings *s, uint32_t code) {
    uint32_t at[3];
    for (int k = 0; k < 3; k++) at[k] = mote_morton_compact(code >> (2 - k) & 0x49);
    const uint32_t line = GRID_SIDE * at[0] + at[1];
    return {occupied_around(s, line, at[2]), GRID_SIDE * line + at[2]};
}

static __device__ source_span next_cell(cell_walk *walk, const surroundings *s, uint32_t *key) {
    const uint32_t step = s->steps[__ffs((int)walk->directions) - 1];
    walk->directions &= walk->directions - 1;
    *key = step >> STEP_BITS;
    return s->spans[walk->lowest + (step & ((1u << STEP_BITS) - 1))];
}

/* A lane's share of the sums over a cell and the 26 around it. The cells' lists of sources are gone through as one, so
   that lanes whose lists differ in length stay together. */
template <uint32_t LANES>
static __device__ color_sum<uint64_t> weigh_around(const surroundings *s, uint32_t code, const filter_source *sources,
                                                   const uint16_t *weights, const weight_view &view) {
    const uint32_t lane = threadIdx.x % LANES, mask = view.entries - 1;
    cell_walk walk = walk_around(s, code);
    color_sum<uint64_t> sum = {{0, 0, 0}, 0};
    uint32_t next = 0, key = 0;
    int32_t left = 0;
    while (true) {
        if (left <= 0) {
            if (walk.directions == 0) break;
            const source_span span = next_cell(&walk, s, &key);
            next = span.first + lane;
            left = (int32_t)(span.count - lane);
            if (LANES > 1 && left <= 0) continue;
        }
        const filter_source source = load_source(&sources[next]);
        add_weighted(&sum, source, weights[(source.place >> view.shift & mask) ^ key]);
        next += LANES;
        left -= (int32_t)LANES;
    }
    return sum;
}

/* The same, unweighted, of one lane. Most cells have one source. */
template <typename T>
static __device__ color_sum<T> sum_around(const surroundings *s, uint32_t code, const filter_source *sources) {
    cell_walk walk = walk_around(s, code);
    color_sum<T> sum = {{0, 0, 0}, 0};
    while (walk.directions != 0) {
        uint32_t key;
        const source_span span = next_cell(&walk, s, &key);
        add_source(&sum, load_source(&sources[span.first]));
        for (uint32_t i = 1; i < span.count; i++) add_source(&sum, load_source(&sources[span.first + i]));
    }
    return sum;
}

/* The sum of a target's lanes, in each. */
template <uint32_t LANES> static __device__ void unite_lanes(color_sum<uint64_t> *sum) {
    for (uint32_t d = LANES / 2; d > 0; d /= 2) {
        for (int k = 0; k < 3; k++) sum->v[k] += __shfl_xor_sync(CUDA_ALL, sum->v[k], (int)d);
        sum->weight += __shfl_xor_sync(CUDA_ALL, sum->weight, (int)d);
    }
}

/* Averages around the targets [first, last) of a block, all of one tile. item_colors: of the block's items */
template <uint32_t LANES>
static __device__ void average_weighted(const surroundings *s, uint32_t first, uint32_t last,
                                        const filter_source *sources, const uint16_t *weights, const weight_view &view,
                                        filter_color *item_colors) {
    for (uint32_t group = first; group < last; group += AROUND_THREADS / LANES) {
        const uint32_t target = group + threadIdx.x / LANES;
        color_sum<uint64_t> sum = {{0, 0, 0}, 0};
        if (target < last) sum = weigh_around<LANES>(s, s->cells[target], sources, weights, view);
        unite_lanes<LANES>(&sum);
        if (target < last && threadIdx.x % LANES == 0) put_average(&item_colors[s->items[target]], sum);
    }
}

/* Up to SLICE_POINTS points' sums fit 32 bits; how many points there are always does. */
static __device__ void average_plain(const surroundings *s, uint32_t first, uint32_t last, const filter_source *sources,
                                     filter_color *item_colors) {
    for (uint32_t target = first + threadIdx.x; target < last; target += AROUND_THREADS) {
        filter_color *const to = &item_colors[s->items[target]];
        const color_sum<uint32_t> sum = sum_around<uint32_t>(s, s->cells[target], sources);
        if (sum.weight <= SLICE_POINTS) {
            put_average(to, sum);
        } else {
            put_average(to, sum_around<uint64_t>(s, s->cells[target], sources));
        }
    }
}

/* Some lanes share a target, the more the longer its cells' lists of sources are. */
template <bool WEIGHTED, uint32_t LANES>
static __global__ void __launch_bounds__(AROUND_THREADS, 8)
    average_around(target_view targets, uint32_t chunk_items, filter_sources sources, filter_index index,
                   weight_view view) {
    __shared__ surroundings s;
    __shared__ uint16_t weights[WEIGHTED ? WEIGHTS : 1];
    if (WEIGHTED) {
        for (uint32_t i = threadIdx.x; i < view.rows * view.entries; i += AROUND_THREADS) weights[i] = view.table[i];
    }
    if (threadIdx.x < AROUND) s.steps[threadIdx.x] = step_of(threadIdx.x, view.entries);
    if (threadIdx.x == 0) s.occupied[GRID_WORDS] = 0;
    uint32_t places[GRID_ROUNDS];
    for (uint32_t r = 0; r < GRID_ROUNDS; r++) places[r] = place_in_bricks(r * AROUND_THREADS + threadIdx.x);
    const uint64_t first = (uint64_t)blockIdx.x * chunk_items, rest = targets.count - first;
    const uint32_t count = rest < chunk_items ? (uint32_t)rest : chunk_items;
    const uint32_t shift = 3 * (MOTE_ORDER_BITS - index.level);
    const uint32_t tiles = list_tiles(&s, list_targets(&s, targets, first, count, shift));
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint32_t slot = tile % SLOTS, ahead = tiles - tile < SLOTS ? tiles - tile : SLOTS;
        if (slot == 0) find_around(&s, index, targets, first, tile, ahead);
        fill_grid(&s, index, slot, places);
        if (WEIGHTED) {
            average_weighted<LANES>(&s, s.tiles[tile], s.tiles[tile + 1], sources.sums, weights, view,
                                    targets.colors + first);
        } else {
            average_plain(&s, s.tiles[tile], s.tiles[tile + 1], sources.sums, targets.colors + first);
        }
        __syncthreads();
    }
}

typedef void (*around_kernel)(target_view, uint32_t, filter_sources, filter_index, weight_view);

/* The lists of sources of a level's cells have about the same length everywhere. */
static around_kernel choose_kernel(bool weighted, uint64_t sources_per_cell) {
    if (!weighted) return average_around<false, 1>;
    if (sources_per_cell < FEW_SOURCES) return average_around<true, 1>;
    return sources_per_cell < MANY_SOURCES ? average_around<true, 4> : average_around<true, 8>;
}

/* ---- a level */

/* The weights of sources, by the direction of their cell from the target's and their place within it. Where these
   mirror each other, an axis has two directions only: below, and the same. */
static mote_status load_weights(lod_filter *f, uint32_t cell_level, uint32_t bits) {
    mote_context *ctx = f->lod->ctx;
    if (f->weights != NULL && f->weight_bits == bits) return MOTE_OK;
    const mote_lod_weights axis = mote_lod_gaussian();
    const uint32_t entries = 1u << 3 * bits, ways = entries < MIRRORED ? 3 : 2, rows = ways * ways * ways;
    uint16_t *table = (uint16_t *)mote_alloc(ctx, WEIGHTS * sizeof *table, "filter weights");
    if (f->weights == NULL) f->weights = (uint16_t *)cuda_alloc(ctx, WEIGHTS * sizeof *table, "filter weights");
    if (table == NULL || f->weights == NULL) {
        mote_free(ctx, table);
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t d = 0; d < rows; d++) {
        for (uint32_t place = 0; place < entries; place++) {
            uint32_t e[3];
            mote_lod_eighths((uint64_t)place << 3 * (MOTE_ORDER_BITS - cell_level - bits), cell_level, e);
            /* The axes have the target's cell minus the source's. */
            table[d * entries + place] =
                (uint16_t)mote_lod_weight(axis.axis[2 - d / (ways * ways)][e[0]], axis.axis[2 - d / ways % ways][e[1]],
                                          axis.axis[2 - d % ways][e[2]]);
        }
    }
    f->weight_bits = bits;
    f->weight_rows = rows;
    const mote_status status = cuda_upload(ctx, f->weights, table, rows * entries * sizeof *table);
    mote_free(ctx, table);
    return status;
}

static mote_status average_neighbors(lod_filter *f, const target_view *targets, uint32_t cell_level, uint32_t bits) {
    mote_context *ctx = f->lod->ctx;
    const bool weighted = f->lod->params.filter == MOTE_LOD_FILTER_GAUSSIAN;
    weight_view view = {NULL, 0, 1, 0};
    if (weighted) {
        view.table = f->weights;
        view.rows = f->weight_rows;
        view.entries = 1u << 3 * bits;
        view.shift = SOURCE_COUNT_BITS + (bits > 0 ? 3 * (f->sources.level - cell_level - bits) : 0);
    }
    MOTE_TRY(filter_make_index(f, cell_level));
    const around_kernel kernel = choose_kernel(weighted, f->sources.count / f->index.cell_count);
    const uint64_t wanted = targets->count / CHUNK_BLOCKS / AROUND_THREADS;
    const uint32_t rows = wanted < 1 ? 1 : wanted > CHUNK_ROWS ? CHUNK_ROWS : (uint32_t)wanted;
    const uint32_t chunk_items = rows * AROUND_THREADS;
    CUDA_LAUNCH(ctx, kernel, cuda_blocks(targets->count, chunk_items), AROUND_THREADS, *targets, chunk_items,
                f->sources, f->index, view);
    return cuda_launched(ctx, "filtering colours");
}

mote_status filter_average(lod_filter *f, uint32_t level) {
    mote_context *ctx = f->lod->ctx;
    const uint64_t *items = f->device->level_items;
    const target_view targets = {f->device->items + items[level],
                                 items[level + 1] - items[level],
                                 f->device->leaf_level,
                                 f->device->codes,
                                 level,
                                 (filter_color *)f->device->item_colors + items[level]};
    const uint32_t cell_level = lod_cell_level(f->lod, level);
    const uint32_t left = MOTE_ORDER_BITS - cell_level;
    const uint32_t bits = f->lod->params.filter != MOTE_LOD_FILTER_GAUSSIAN ? 0 : left < 3 ? left : 3;
    if (targets.count == 0) return MOTE_OK;
    if (f->lod->params.filter == MOTE_LOD_FILTER_GAUSSIAN) MOTE_TRY(load_weights(f, cell_level, bits));
    MOTE_TRY(filter_make_sources(f, cell_level + bits, cell_level));
    if (f->lod->params.filter != MOTE_LOD_FILTER_CELL) return average_neighbors(f, &targets, cell_level, bits);
    CUDA_LAUNCH(ctx, average_cells, cuda_blocks(targets.count, FILTER_THREADS), FILTER_THREADS, targets, f->sources,
                cell_level);
    return cuda_launched(ctx, "filtering colours");
}
