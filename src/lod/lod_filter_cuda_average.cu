/* Colours of representatives on the device. Items of the order are taken in blocks; those of a block lie in few tiles
   of 8³ cells, whose surroundings of 4³ bricks are looked up once, and then each thread adds up what lies around its
   item. */
#include "lod/lod_filter_cuda.h"

#define SLOTS        8u /* tiles whose surroundings a block holds at a time */
#define AROUND       27u
#define BRICKS       64u /* of a tile and around it: 4³ */
#define WEIGHTS      (AROUND * MOTE_LOD_EIGHTHS * MOTE_LOD_EIGHTHS * MOTE_LOD_EIGHTHS)
#define FEW_SOURCES  4u    /* per cell: from so many on, lanes share a target */
#define MANY_SOURCES 12u   /* more lanes */
#define MOST_CHUNKS  16u   /* of FILTER_THREADS items, that a block takes one after the other */
#define CHUNK_BLOCKS 2048u /* from so many blocks on they take more than one */

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
    const uint16_t *table; /* as lod_filter.weights */
    uint32_t entries;      /* for each direction */
    uint32_t shift;        /* from a source's place to its place within the cell */
} weight_view;

typedef struct color_sum {
    uint64_t v[3], weight;
} color_sum;

/* ---- averages */

static __device__ void put_average(filter_color *to, const color_sum &sum) {
    const double reciprocal = 1.0 / (double)sum.weight;
    filter_color color;
    for (int k = 0; k < 3; k++) color.v[k] = filter_mean(sum.v[k], sum.weight, reciprocal);
    color.v[3] = 1;
    *to = color;
}

static __device__ void add_source(color_sum *sum, const filter_source &source) {
    for (int k = 0; k < 3; k++) sum->v[k] += source.sum[k];
    sum->weight += source.place & ((1u << SOURCE_COUNT_BITS) - 1);
}

static __device__ void add_weighted(color_sum *sum, const filter_source &source, uint32_t weight) {
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

static __device__ color_sum sum_cell(const filter_sources &sources, uint64_t at, uint32_t cell_level) {
    color_sum sum = {{0, 0, 0}, 0};
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

/* What a block knows of the tiles of its items. */
typedef struct surroundings {
    unsigned long long tiles[FILTER_THREADS]; /* one after the other */
    uint32_t warp_tiles[FILTER_WARPS];        /* that begin in each warp */
    uint32_t tile_brick[SLOTS * AROUND];      /* the tiles around: first brick */
    uint32_t tile_octants[SLOTS * AROUND];    /* and which there are */
    unsigned long long masks[SLOTS * BRICKS]; /* the bricks in and around a tile: 16x + 4y + z */
    uint32_t cells[SLOTS * BRICKS];           /* their first cells */
} surroundings;

/* Lists the tiles of a block's items; returns which is this item's, if it is a target. */
static __device__ uint32_t list_tiles(surroundings *s, bool target, uint64_t tile, uint32_t *count) {
    const uint32_t t = threadIdx.x, lane = t % CUDA_WARP, warp = t / CUDA_WARP;
    s->tiles[t] = target ? tile : UINT64_MAX;
    __syncthreads();
    const bool begins = target && (t == 0 || s->tiles[t - 1] != tile);
    const uint32_t begun = __ballot_sync(CUDA_ALL, begins);
    if (lane == 0) s->warp_tiles[warp] = (uint32_t)__popc(begun);
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t w = 0; w < FILTER_WARPS; w++) {
        if (w < warp) before += s->warp_tiles[w];
        all += s->warp_tiles[w];
    }
    const uint32_t rank = before + (uint32_t)__popc(begun & ((2u << lane) - 1)) - 1;
    if (begins) s->tiles[rank] = tile;
    __syncthreads();
    *count = all;
    return rank;
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

static __device__ void load_brick(surroundings *s, const filter_index &index, uint32_t at) {
    const uint32_t slot = at / BRICKS, x = at >> 4 & 3, y = at >> 2 & 3, z = at & 3;
    const uint32_t tile = slot * AROUND + 9 * tile_of(x) + 3 * tile_of(y) + tile_of(z);
    const uint32_t octant = 4 * half_of(x) + 2 * half_of(y) + half_of(z);
    const uint32_t octants = s->tile_octants[tile];
    s->masks[at] = 0;
    if ((octants >> octant & 1) == 0) return;
    const uint32_t before = (uint32_t)__popc(octants & ((1u << octant) - 1));
    const filter_brick brick = index.bricks[s->tile_brick[tile] + before];
    s->masks[at] = brick.mask;
    s->cells[at] = brick.cell;
}

/* Loads what lies around the tiles listed from first on. */
static __device__ void load_around(surroundings *s, const filter_index &index, uint32_t first, uint32_t count) {
    for (uint32_t i = threadIdx.x; i < count * AROUND; i += FILTER_THREADS) {
        find_tile(index, s->tiles[first + i / AROUND], i % AROUND, &s->tile_brick[i], &s->tile_octants[i]);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count * BRICKS; i += FILTER_THREADS) load_brick(s, index, i);
    __syncthreads();
}

/* What a cell's coordinate along an axis, 0 … 15 from the corner of the bricks around, adds to its place: bits 6 and up
   are its brick, 16x + 4y + z, below its code within the brick. */
static __device__ uint32_t place_along(uint32_t at, uint32_t axis) {
    const uint32_t apart = (at & 1) | (at & 2) << 2;
    return (at >> 2) << (10 - 2 * axis) | apart << (2 - axis);
}

/* Adds a lane's share of the sources of a cell: evenly, or by the weights of a direction. */
template <bool WEIGHTED, uint32_t LANES>
static __device__ void add_cell(color_sum *sum, const filter_sources &sources, const uint32_t *cell_first,
                                uint32_t cell, const uint16_t *weights, const weight_view &view) {
    const uint64_t first = cell_first != NULL ? cell_first[cell] : cell;
    const uint64_t last = cell_first != NULL ? cell_first[cell + 1] : first + 1;
    for (uint64_t i = first + threadIdx.x % LANES; i < last; i += LANES) {
        const filter_source source = sources.sums[i];
        if (WEIGHTED) {
            add_weighted(sum, source, weights[source.place >> view.shift & (view.entries - 1)]);
        } else {
            add_source(sum, source);
        }
    }
}

/* A lane's share of the sums over a cell, given by its code, and the 26 around it. */
template <bool WEIGHTED, uint32_t LANES>
static __device__ color_sum sum_around(const surroundings *s, uint32_t slot, uint32_t code,
                                       const filter_sources &sources, const uint32_t *cell_first,
                                       const uint16_t *weights, const weight_view &view) {
    color_sum sum = {{0, 0, 0}, 0};
    uint32_t least[3], z[3]; /* the lowest neighbour */
    for (int k = 0; k < 3; k++) least[k] = mote_morton_compact(code >> (2 - k) & 0x49) + 3;
    for (uint32_t k = 0; k < 3; k++) z[k] = place_along(least[2] + k, 2) + (slot * BRICKS << 6);
    for (uint32_t i = 0; i < 9; i++) {
        const uint32_t xy = place_along(least[0] + i / 3, 0) + place_along(least[1] + i % 3, 1);
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t place = xy + z[k], bit = place & 63;
            const unsigned long long mask = s->masks[place >> 6];
            if ((mask >> bit & 1) == 0) continue;
            const uint32_t cell = s->cells[place >> 6] + (uint32_t)__popcll(mask & ((1ull << bit) - 1));
            const uint16_t *row = WEIGHTED ? weights + (3 * i + k) * view.entries : weights;
            add_cell<WEIGHTED, LANES>(&sum, sources, cell_first, cell, row, view);
        }
    }
    return sum;
}

/* The sum of a target's lanes, in each. */
template <uint32_t LANES> static __device__ void unite_lanes(color_sum *sum) {
    for (uint32_t d = LANES / 2; d > 0; d /= 2) {
        for (int k = 0; k < 3; k++) sum->v[k] += __shfl_xor_sync(CUDA_ALL, sum->v[k], (int)d);
        sum->weight += __shfl_xor_sync(CUDA_ALL, sum->weight, (int)d);
    }
}

/* Some lanes share a target, the more the longer its cells' lists of sources are. A block takes some chunks of items:
   the table of weights is loaded once for them. */
template <bool WEIGHTED, uint32_t LANES>
static __global__ void average_around(target_view targets, uint32_t chunks, filter_sources sources, filter_index index,
                                      weight_view view) {
    __shared__ surroundings around;
    __shared__ uint16_t weights[WEIGHTED ? WEIGHTS : 1];
    for (uint32_t i = threadIdx.x; WEIGHTED && i < AROUND * view.entries; i += FILTER_THREADS) {
        weights[i] = view.table[i];
    }
    __syncthreads();
    const uint32_t shift = 3 * (MOTE_ORDER_BITS - index.level);
    for (uint32_t c = 0; c < chunks; c++) {
        const uint64_t chunk = (uint64_t)blockIdx.x * chunks + c;
        const uint64_t j = chunk * (FILTER_THREADS / LANES) + threadIdx.x / LANES;
        const uint32_t position = j < targets.count ? targets.items[j] : 0;
        const bool target = j < targets.count && targets.leaf_level[position] > targets.level;
        const uint64_t code = target ? targets.codes[position] >> shift : 0;
        uint32_t tiles;
        const uint32_t tile = list_tiles(&around, target, code >> 9, &tiles);
        for (uint32_t first = 0; first < tiles; first += SLOTS) {
            const bool now = target && tile >= first && tile - first < SLOTS;
            color_sum sum = {{0, 0, 0}, 0};
            load_around(&around, index, first, tiles - first < SLOTS ? tiles - first : SLOTS);
            if (now) {
                sum = sum_around<WEIGHTED, LANES>(&around, tile - first, (uint32_t)(code & 511), sources,
                                                  index.cell_first, weights, view);
            }
            unite_lanes<LANES>(&sum);
            if (now && threadIdx.x % LANES == 0) put_average(&targets.colors[j], sum);
            __syncthreads();
        }
    }
}

typedef void (*around_kernel)(target_view, uint32_t, filter_sources, filter_index, weight_view);

typedef struct around_way {
    around_kernel kernel;
    uint32_t lanes;
} around_way;

/* The lists of sources of a level's cells have about the same length everywhere. */
static around_way choose_way(bool weighted, uint64_t sources_per_cell) {
    if (!weighted) return {average_around<false, 1>, 1};
    if (sources_per_cell < FEW_SOURCES) return {average_around<true, 1>, 1};
    if (sources_per_cell < MANY_SOURCES) return {average_around<true, 4>, 4};
    return {average_around<true, 8>, 8};
}

/* ---- a level */

/* The weights of sources, by the direction of their cell from the target's and their place within it. */
static mote_status load_weights(lod_filter *f, uint32_t cell_level, uint32_t bits) {
    mote_context *ctx = f->lod->ctx;
    if (f->weights != NULL && f->weight_bits == bits) return MOTE_OK;
    const mote_lod_weights axis = mote_lod_gaussian();
    const uint32_t entries = 1u << 3 * bits;
    uint16_t *table = (uint16_t *)mote_alloc(ctx, WEIGHTS * sizeof *table, "filter weights");
    if (f->weights == NULL) f->weights = (uint16_t *)cuda_alloc(ctx, WEIGHTS * sizeof *table, "filter weights");
    if (table == NULL || f->weights == NULL) {
        mote_free(ctx, table);
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t d = 0; d < AROUND; d++) {
        for (uint32_t place = 0; place < entries; place++) {
            uint32_t e[3];
            mote_lod_eighths((uint64_t)place << 3 * (MOTE_ORDER_BITS - cell_level - bits), cell_level, e);
            /* The axes have the target's cell minus the source's. */
            table[d * entries + place] = (uint16_t)mote_lod_weight(
                axis.axis[2 - d / 9][e[0]], axis.axis[2 - d / 3 % 3][e[1]], axis.axis[2 - d % 3][e[2]]);
        }
    }
    f->weight_bits = bits;
    const mote_status status = cuda_upload(ctx, f->weights, table, AROUND * entries * sizeof *table);
    mote_free(ctx, table);
    return status;
}

static mote_status average_neighbors(lod_filter *f, const target_view *targets, uint32_t cell_level, uint32_t bits) {
    mote_context *ctx = f->lod->ctx;
    const bool weighted = f->lod->params.filter == MOTE_LOD_FILTER_GAUSSIAN;
    weight_view view = {NULL, 1, 0};
    if (weighted) {
        view.table = f->weights;
        view.entries = 1u << 3 * bits;
        view.shift = SOURCE_COUNT_BITS + (bits > 0 ? 3 * (f->sources.level - cell_level - bits) : 0);
    }
    MOTE_TRY(filter_make_index(f, cell_level));
    const around_way way = choose_way(weighted, f->sources.count / f->index.cell_count);
    const uint32_t chunk_items = FILTER_THREADS / way.lanes;
    const uint64_t wanted = targets->count / chunk_items / CHUNK_BLOCKS;
    const uint32_t chunks = wanted < 1 ? 1 : wanted > MOST_CHUNKS ? MOST_CHUNKS : (uint32_t)wanted;
    CUDA_LAUNCH(ctx, way.kernel, cuda_blocks(targets->count, chunk_items * chunks), FILTER_THREADS, *targets, chunks,
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
