/* Colours of representatives on the device: sums over a cell and the 26 around it.

   A thread, or a few, work for one item. The cells around one lie in up to eight bricks, of which few are there and
   fewer have occupied cells in reach: these are listed first, each with the cells that count, and then gone through as
   one list, so that the threads of a warp stay together however their cells are spread over bricks. */
#include "lod/color/lod_filter_cuda.cuh"

#define SLOTS   8u /* bricks that the cells around one can lie in: two along each axis */
#define WINDOW  4u /* cells of a brick along an axis */
#define EIGHTHS (MOTE_LOD_EIGHTHS * MOTE_LOD_EIGHTHS * MOTE_LOD_EIGHTHS)
#define WEIGHTS (8u * EIGHTHS)
#define MIRROR  0x49u /* of three bits along an axis, all */
/* Lanes share a target where its cells have that number of sources each, or where a level has so few targets that the
   device would be idle. Measured by level of 100 M points of a city (H200): with 1, 2, 4 and 8 lanes, 11 sources a cell
   take 6.6, 4.6, 4.3 and 5.4 ms; 1.5 sources 5.6, 7.8, 11.9 and 20.6 ms. */
struct average_policy {
    static constexpr uint32_t shared_by_2 = 3, shared_by_4 = 8, shared_by_8 = 24; /* sources of a cell */
    static constexpr uint32_t min_targets = 1u << 16;
    static constexpr uint32_t max_chunks = 16;      /* of items, that a block takes one after the other */
    static constexpr uint32_t single_blocks = 8192; /* beyond these they take more than one */
};

/* The cells of a brick that lie around a coordinate within a brick: [axis][this brick, or the one
   beside][coordinate] */
typedef struct around_windows {
    unsigned long long of[3][2][WINDOW];
} around_windows;

/* The items of a level. */
typedef struct target_view {
    const uint32_t *items;
    uint64_t count;
    const uint8_t *leaf_level;
    const uint64_t *codes, *fine;
    uint32_t level;
    filter_color *colors;
} target_view;

typedef struct weight_view {
    const uint16_t *table; /* as lod_filter.weights */
    uint32_t bits;         /* of a place along each axis */
    uint32_t above;        /* what a bit of weight_key's above is in a place in the table */
    uint32_t shift;        /* from a source's place to its place within the cell */
} weight_view;

/* The cells of a level, and the bricks they lie in. */
typedef struct brick_view {
    uint32_t cell_level;
    const void *sources;
    const uint32_t *first_source;
    const filter_brick *bricks;
    const uint32_t *around, *row_point, *rows_before;
    uint32_t first_row, row_count; /* that there are in around */
} brick_view;

/* Bricks with cells in reach, and which cells: a list for each thread of a block. The words of an entry
   lie as far apart as a block has threads; the lists of two threads lie beside each other. */
enum { LIST_LOW, LIST_HIGH, LIST_BRICK, LIST_WORDS };
#define LIST_STEP (LIST_WORDS * filter_policy::threads)

typedef struct brick_list {
    uint32_t *begin, *end;
} brick_list;

/* ---- sources */

static __device__ uint32_t count_of(const filter_source &source) {
    return source.place & ((1u << SOURCE_COUNT_BITS) - 1);
}
static __device__ uint32_t count_of(const filter_wide_source &source) { return source.count; }
static __device__ uint32_t place_of(const filter_source &source) { return source.place >> SOURCE_COUNT_BITS; }
static __device__ uint32_t place_of(const filter_wide_source &source) { return source.place; }

/* Loads a source in one instruction, which the compiler would not do by itself. */
static __device__ filter_source load_source(const filter_source *from) {
    const uint4 words = *(const uint4 *)from;
    return {{words.x, words.y, words.z}, words.w};
}
static __device__ filter_wide_source load_source(const filter_wide_source *from) { return *from; }

/* ---- the bricks around */

static __device__ uint32_t coordinate_of(uint32_t cell, uint32_t axis) {
    return (cell >> (5 - axis) & 1) << 1 | (cell >> (2 - axis) & 1);
}

/* Lists the bricks around a cell, given by its row and its code within the brick. Which bricks there are decides
   nothing but what is listed: those that are missing, or asked for twice, have no cells. */
static __device__ void list_bricks(const brick_view &view, const around_windows &windows, uint32_t row, uint32_t cell,
                                   brick_list *list) {
    unsigned long long along[3][2];
    uint32_t step[3]; /* to the brick beside */
    for (uint32_t axis = 0; axis < 3; axis++) {
        const uint32_t at = coordinate_of(cell, axis), unit = FILTER_AROUND_STEP * (axis == 0 ? 9 : axis == 1 ? 3 : 1);
        for (uint32_t neighbor = 0; neighbor < 2; neighbor++) along[axis][neighbor] = windows.of[axis][neighbor][at];
        step[axis] = at == 0 ? 0 - unit : at == WINDOW - 1 ? unit : 0;
    }
    const uint32_t *const around = view.around + filter_around(row);
    uint32_t *end = list->begin;
    for (uint32_t xy = 0; xy < SLOTS / 2; xy++) {
        const unsigned long long column = along[0][xy >> 1] & along[1][xy & 1];
        const uint32_t to = FILTER_AROUND / 2 * FILTER_AROUND_STEP + (xy >> 1 ? step[0] : 0) + (xy & 1 ? step[1] : 0);
        for (uint32_t z = 0; z < 2; z++) {
            const uint32_t brick = around[to + (z ? step[2] : 0)];
            const unsigned long long cells = view.bricks[brick].mask & column & along[2][z];
            const uint32_t low = (uint32_t)cells, high = (uint32_t)(cells >> 32);
            if ((low | high) != 0) {
                end[LIST_LOW * filter_policy::threads] = low;
                end[LIST_HIGH * filter_policy::threads] = high;
                end[LIST_BRICK * filter_policy::threads] = brick;
                end += LIST_STEP;
            }
        }
    }
    list->end = end;
}

/* A way through the cells of the bricks listed, from the last to the first. */
typedef struct cell_walk {
    unsigned long long cells; /* to come in this brick */
    unsigned long long mask;  /* the brick's */
    uint32_t first;           /* cell of the brick */
    const uint32_t *end;      /* of the bricks to come */
} cell_walk;

/* Goes to the next cell; below: the bits below that of its code within the brick. */
static __device__ bool next_cell(cell_walk *walk, const filter_brick *bricks, const brick_list &list, uint32_t *cell,
                                 unsigned long long *below) {
    if (walk->cells == 0) {
        if (walk->end == list.begin) return false;
        const uint32_t *const words = walk->end - LIST_STEP;
        const uint4 brick = *(const uint4 *)&bricks[words[LIST_BRICK * filter_policy::threads]];
        walk->mask = (unsigned long long)brick.y << 32 | brick.x;
        walk->first = brick.z;
        walk->cells = (unsigned long long)words[LIST_HIGH * filter_policy::threads] << 32 |
                      words[LIST_LOW * filter_policy::threads];
        walk->end = words;
    }
    *below = (walk->cells - 1) & ~walk->cells;
    *cell = walk->first + (uint32_t)__popcll(walk->mask & *below);
    walk->cells &= walk->cells - 1;
    return true;
}

/* ---- sums */

/* What the threads of a level share. */
typedef struct around_view {
    target_view targets;
    brick_view cells;
    weight_view weights;
    around_windows windows;
} around_view;

/* Adds up all points around a target. */
template <typename T, typename S>
static __device__ filter_sum<T> sum_around(const around_view &view, const brick_list &list) {
    filter_sum<T> sum = {{0, 0, 0, 0}};
    cell_walk walk = {0, 0, 0, list.end};
    uint32_t cell;
    unsigned long long below;
    while (next_cell(&walk, view.cells.bricks, list, &cell, &below)) {
        const S source = load_source((const S *)view.cells.sources + cell);
        for (int k = 0; k < 3; k++) sum.v[k] += (T)source.sum[k];
        sum.v[3] += count_of(source);
    }
    return sum;
}

/* What turns the place of a point within its cell into its place in the table of weights. cell, other: codes within
   bricks of the target's cell and of the point's, which is the same or a neighbour. Along an axis, the lowest bits of
   their coordinates differ if the cells do, and the next bits say in which direction. */
static __device__ uint32_t weight_key(const weight_view &view, uint32_t cell, uint32_t other) {
    const uint32_t differing = cell ^ other, axes = differing & 7, above = (differing >> 3 ^ ~cell) & axes;
    return (axes << 3 * view.bits) + above * view.above;
}

template <typename S>
static __device__ void weigh_source(filter_sum<uint64_t> *sum, const S &source, const weight_view &view, uint32_t key,
                                    const uint16_t *weights) {
    const uint32_t weight = weights[(place_of(source) >> view.shift & ((1u << 3 * view.bits) - 1)) ^ key];
    for (int k = 0; k < 3; k++) sum->v[k] += (uint64_t)source.sum[k] * weight;
    sum->v[3] += (uint64_t)count_of(source) * weight;
}

/* A lane's share of the weighted sum around a target. */
template <uint32_t LANES, typename S>
static __device__ filter_sum<uint64_t> weigh_around(const around_view &view, const brick_list &list, uint32_t cell,
                                                    const uint16_t *weights) {
    filter_sum<uint64_t> sum = {{0, 0, 0, 0}};
    cell_walk walk = {0, 0, 0, list.end};
    uint32_t other;
    unsigned long long below;
    while (next_cell(&walk, view.cells.bricks, list, &other, &below)) {
        const uint32_t key = weight_key(view.weights, cell, (uint32_t)__popcll(below));
        const uint32_t *const ends = view.cells.first_source + other;
        const uint32_t first = ends[0] + threadIdx.x % LANES, last = ends[1];
        const S *source = (const S *)view.cells.sources + first;
        int32_t remaining = (int32_t)(last - first);
        CUDA_ROLLED
        for (; remaining > (int32_t)LANES; remaining -= 2 * (int32_t)LANES, source += 2 * LANES) {
            const S one = load_source(source), other_one = load_source(source + LANES);
            weigh_source(&sum, one, view.weights, key, weights);
            weigh_source(&sum, other_one, view.weights, key, weights);
        }
        if (remaining > 0) weigh_source(&sum, load_source(source), view.weights, key, weights);
    }
    return sum;
}

/* ---- the kernels */

/* The j-th item: the bricks around it are listed, none if it is no target now. */
static __device__ brick_list open_target(const around_view &view, const around_windows &windows, uint64_t j,
                                         uint32_t *lists, uint32_t *cell) {
    const target_view &targets = view.targets;
    brick_list list = {lists + threadIdx.x, lists + threadIdx.x};
    if (j >= targets.count) return list;
    const uint32_t position = targets.items[j];
    if (targets.leaf_level[position] <= targets.level) return list;
    *cell = (uint32_t)filter_code(targets.codes, targets.fine, position, view.cells.cell_level) & 63;
    const uint32_t row = filter_row_at(view.cells.rows_before, view.cells.row_point, position) - view.cells.first_row;
    if (row < view.cells.row_count) list_bricks(view.cells, windows, row, *cell, &list);
    return list;
}

static __device__ void load_windows(const around_windows &from, around_windows *to) {
    if (threadIdx.x < 6 * WINDOW) (&to->of[0][0][0])[threadIdx.x] = (&from.of[0][0][0])[threadIdx.x];
}

/* The sums of up to FILTER_CROWD points fit 32 bits; the number of points always does. */
template <typename S> static __global__ void average_plain(around_view view) {
    __shared__ uint32_t lists[SLOTS * LIST_STEP];
    __shared__ around_windows windows;
    load_windows(view.windows, &windows);
    __syncthreads();
    const uint64_t j = (uint64_t)blockIdx.x * filter_policy::threads + threadIdx.x;
    uint32_t cell;
    const brick_list list = open_target(view, windows, j, lists, &cell);
    if (list.end == list.begin) return;
    const filter_sum<uint32_t> sum = sum_around<uint32_t, S>(view, list);
    view.targets.colors[j] =
        sum.v[3] <= FILTER_CROWD ? filter_average_of(sum) : filter_average_of(sum_around<uint64_t, S>(view, list));
}

/* Some lanes share a target. A block takes some chunks of items: the table of weights is loaded once for them. */
template <uint32_t LANES, typename S> static __global__ void average_weighted(around_view view, uint32_t chunks) {
    __shared__ uint32_t lists[SLOTS * LIST_STEP];
    __shared__ around_windows windows;
    __shared__ uint4 table[WEIGHTS * sizeof(uint16_t) / sizeof(uint4)];
    const uint16_t *const weights = (const uint16_t *)table;
    load_windows(view.windows, &windows);
    for (uint32_t i = threadIdx.x; i < sizeof table / sizeof table[0]; i += filter_policy::threads) {
        table[i] = ((const uint4 *)view.weights.table)[i];
    }
    __syncthreads();
    CUDA_ROLLED
    for (uint32_t c = 0; c < chunks; c++) {
        const uint64_t chunk = (uint64_t)blockIdx.x * chunks + c;
        const uint64_t j = chunk * (filter_policy::threads / LANES) + threadIdx.x / LANES;
        uint32_t cell = 0;
        const brick_list list = open_target(view, windows, j, lists, &cell);
        filter_sum<uint64_t> sum = weigh_around<LANES, S>(view, list, cell, weights);
        for (int k = 0; k < 4; k++) sum.v[k] = warp_sum<LANES>(sum.v[k]);
        if (list.end != list.begin && threadIdx.x % LANES == 0) view.targets.colors[j] = filter_average_of(sum);
    }
}

/* ---- a level */

/* Which cells of a brick, and of the one beside it, are at most so far from a coordinate. reach: 0 or 1 */
static around_windows make_windows(int reach) {
    around_windows windows;
    memset(&windows, 0, sizeof windows);
    for (uint32_t bit = 0; bit < 64; bit++) {
        for (uint32_t axis = 0; axis < 3; axis++) {
            const int at = (int)mote_morton_compact(bit >> (2 - axis));
            for (int from = 0; from < (int)WINDOW; from++) {
                const bool last = from == 0 ? at == (int)WINDOW - 1 : from == (int)WINDOW - 1 && at == 0;
                if (at - from <= reach && from - at <= reach) windows.of[axis][0][from] |= 1ull << bit;
                if (last && reach > 0) windows.of[axis][1][from] |= 1ull << bit;
            }
        }
    }
    return windows;
}

/* The weight of a point at a place within its cell, which lies beside the target's along axes (bits as in codes), and
   above it along some of these. The axes of the weights have the target's cell minus the point's. */
static uint16_t weight_at(const mote_lod_weights *weights, const uint32_t eighth[3], uint32_t axes, uint32_t above) {
    uint64_t along[3];
    for (int k = 0; k < 3; k++) {
        const uint32_t bit = 4u >> k;
        const int row = (axes & bit) == 0 ? 1 : (above & bit) != 0 ? 0 : 2;
        along[k] = weights->axis[row][eighth[k]];
    }
    return (uint16_t)mote_lod_weight(along[0], along[1], along[2]);
}

/* The table that weight_key speaks of. Places of three bits along each axis mirror each other. */
static mote_status load_weights(lod_filter *f, uint32_t bits) {
    mote_device *gpu = f->lod->device;
    if (f->weights != NULL && f->weight_bits == bits) return MOTE_OK;
    const mote_lod_weights axis = mote_lod_gaussian();
    const uint64_t size_bytes = WEIGHTS * sizeof(uint16_t);
    uint16_t *table = (uint16_t *)mote_alloc_zero(gpu->ctx, size_bytes, "filter weights");
    if (f->weights == NULL) f->weights = (uint16_t *)cuda_alloc(gpu, size_bytes, "filter weights");
    if (table == NULL || f->weights == NULL) {
        mote_free(gpu->ctx, table);
        return MOTE_ERROR_MEMORY;
    }
    const uint32_t places = 1u << 3 * bits, rows = bits == 3 ? 8 : 64;
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t place = 0; place < places; place++) {
            uint32_t eighth[3];
            mote_lod_eighths(place, MOTE_ORDER_BITS - bits, eighth);
            table[row * places + place] = weight_at(&axis, eighth, row & 7, row >> 3);
        }
    }
    f->weight_bits = bits;
    const mote_status status = cuda_upload(gpu, f->weights, table, size_bytes);
    mote_free(gpu->ctx, table);
    return status;
}

static uint32_t lanes_of(uint64_t targets, uint64_t sources_per_cell) {
    if (targets < average_policy::min_targets) return 16;
    if (sources_per_cell < average_policy::shared_by_2) return 1;
    if (sources_per_cell < average_policy::shared_by_4) return 2;
    return sources_per_cell < average_policy::shared_by_8 ? 4 : 8;
}

template <typename S>
static void launch_weighted(mote_device *gpu, const around_view *view, uint64_t sources_per_cell) {
    const uint64_t count = view->targets.count;
    const uint32_t lanes = lanes_of(count, sources_per_cell);
    const uint32_t chunk_items = filter_policy::threads / lanes;
    const uint64_t wanted = count / chunk_items / average_policy::single_blocks;
    const uint32_t chunks = wanted < 1                            ? 1
                            : wanted > average_policy::max_chunks ? average_policy::max_chunks
                                                                  : (uint32_t)wanted;
    void (*const kernel)(around_view, uint32_t) = lanes == 1   ? average_weighted<1, S>
                                                  : lanes == 2 ? average_weighted<2, S>
                                                  : lanes == 4 ? average_weighted<4, S>
                                                  : lanes == 8 ? average_weighted<8, S>
                                                               : average_weighted<16, S>;
    CUDA_LAUNCH(gpu, kernel, cuda_blocks(count, chunk_items * chunks), filter_policy::threads, *view, chunks);
}

static brick_view view_cells(const lod_filter *f, uint32_t cell_level) {
    const filter_cells_view *cells = &f->view;
    const uint32_t bricks = filter_brick_level(cell_level);
    brick_view view;
    view.cell_level = cell_level;
    view.sources = cells->sources[cells->source_level[cell_level]];
    view.first_source = cells->first_source[cell_level];
    view.bricks = cell_level > 1 ? cells->bricks[bricks] : f->top;
    view.around = f->around[bricks % 2];
    view.row_point = cells->row_point[bricks];
    view.first_row = (uint32_t)f->first_row;
    view.row_count = bricks == cells->finest_brick ? (uint32_t)f->around_rows : UINT32_MAX;
    view.rows_before = cells->before + (uint64_t)(cells->finest + 1 + bricks) * cells->tiles;
    return view;
}

mote_status filter_average(lod_filter *f, uint32_t level) {
    mote_device *gpu = f->lod->device;
    const uint64_t *items = f->device->level_items;
    const mote_lod_filter filter = f->lod->params.filter;
    const uint32_t cell_level = lod_cell_level(f->lod, level), source_level = f->view.source_level[cell_level];
    const uint32_t remaining = f->lod->finest - cell_level, bits = remaining < 3 ? remaining : 3;
    const bool wide = (f->view.wide >> source_level & 1) != 0;
    around_view view;
    view.targets = {f->device->items + items[level],
                    items[level + 1] - items[level],
                    f->device->leaf_level,
                    f->device->codes,
                    f->device->fine,
                    level,
                    (filter_color *)f->device->item_colors + items[level]};
    view.cells = view_cells(f, cell_level);
    view.windows = make_windows(filter == MOTE_LOD_FILTER_CELL ? 0 : 1);
    view.weights = {NULL, 0, 0, 0};
    if (view.targets.count == 0) return MOTE_OK;
    if (filter == MOTE_LOD_FILTER_GAUSSIAN) {
        MOTE_TRY(load_weights(f, bits));
        const uint32_t above = bits == 3 ? MIRROR : 8u << 3 * bits;
        view.weights = {f->weights, bits, above, bits > 0 ? 3 * (source_level - cell_level - bits) : 0};
        const uint64_t sources_per_cell = f->view.cells[source_level] / f->view.cells[cell_level];
        (wide ? launch_weighted<filter_wide_source> : launch_weighted<filter_source>)(gpu, &view, sources_per_cell);
    } else {
        void (*const kernel)(around_view) = wide ? average_plain<filter_wide_source> : average_plain<filter_source>;
        CUDA_LAUNCH(gpu, kernel, cuda_blocks(view.targets.count, filter_policy::threads), filter_policy::threads, view);
    }
    return cuda_launched(gpu, "filtering colours");
}
