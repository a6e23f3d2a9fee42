/* Colours of representatives on the device. A block takes some items in order, which lie in few tiles of 8³ cells. The
   cells of a tile and around it get their places in a dense grid, one tile after the other, and then each thread adds
   up what lies around its item. */
#include "lod/lod_filter_cuda_grid.h"

#define WEIGHTS      (MIRRORED * 8u) /* the most of all directions */
#define FEW_SOURCES  4u              /* per cell: from so many on, lanes share a target */
#define MANY_SOURCES 12u             /* more lanes */

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

/* A lane's share of the sums over a cell and the 26 around it. The cells' lists of sources are gone through as one, so
   that lanes whose lists differ in length stay together. While a source is on its way, the one before is added. */
template <uint32_t LANES>
static __device__ color_sum<uint64_t> weigh_around(const surroundings *s, uint32_t code, const filter_source *sources,
                                                   const uint16_t *weights, const weight_view &view) {
    const uint32_t lane = threadIdx.x % LANES, mask = view.entries - 1;
    cell_walk walk = walk_around(s, code);
    color_sum<uint64_t> sum = {{0, 0, 0}, 0};
    filter_source loaded = {{0, 0, 0}, 0};
    uint32_t next = 0, key = 0, loaded_key = 0;
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
        add_weighted(&sum, loaded, weights[(loaded.place >> view.shift & mask) ^ loaded_key]);
        loaded = source;
        loaded_key = key;
        next += LANES;
        left -= (int32_t)LANES;
    }
    add_weighted(&sum, loaded, weights[(loaded.place >> view.shift & mask) ^ loaded_key]);
    return sum;
}

/* The same, unweighted, of one lane. Most cells have one source. */
template <typename T>
static __device__ color_sum<T> sum_around(const surroundings *s, uint32_t code, const filter_source *sources) {
    cell_walk walk = walk_around(s, code);
    color_sum<T> sum = {{0, 0, 0}, 0};
    filter_source loaded = {{0, 0, 0}, 0};
    while (walk.directions != 0) {
        uint32_t key;
        const source_span span = next_cell(&walk, s, &key);
        const filter_source source = load_source(&sources[span.first]);
        add_source(&sum, loaded);
        loaded = source;
        for (uint32_t i = 1; i < span.count; i++) add_source(&sum, load_source(&sources[span.first + i]));
    }
    add_source(&sum, loaded);
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
