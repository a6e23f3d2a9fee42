/* Averages of each cell alone, where every cell of a level's grid has one item in inner nodes (random and first).

   An item of an inner node stands for its whole cell, one of a leaf for itself. So the sum of an inner item's cell is
   the sum over the items of the next finer level that lie in it. These follow each other in the list of items, and the
   i-th such run is the cell of the coarser level's i-th inner item: nothing is searched for. From the finest level on,
   each item is read once: it writes its colour, and adds its sum to that of its run.

   A warp takes a chunk of items. What it finds of a run that began before its chunk is added by a kernel of its own. */
#include "device/cuda/cuda_primitives.h"
#include "lod/color/lod_filter_cuda.cuh"

/* A warp's chunk of items, in rows of an item for each lane:

     | tile: 4 rows, added up at a time | tile | tile | tile |

   As set here: 2.66 ms for the colours of 206 M items of a city of 100 M points (H200, 7.1 GB), 62 % of the speed of a
   device copy. */
struct cells_policy {
    static constexpr uint32_t row = CUDA_WARP;
    static constexpr uint32_t tile_rows = 4, tile_items = tile_rows * row;
    static constexpr uint32_t chunk_rows = 16, chunk_items = chunk_rows * row;
    static constexpr uint32_t lane_stage = tile_rows + 1; /* sums of a lane, staged with a gap: no bank conflicts */
    static constexpr uint32_t staged = CUDA_WARP * lane_stage;
};

/* Bits of a row's items. */
typedef struct alignas(8) item_row {
    uint32_t begins; /* the item begins a run: it shares no cell of the next coarser level with the one before */
    uint32_t inner;  /* it stands in an inner node */
} item_row;

/* Where the items of each level and their chunks begin. */
typedef struct item_levels {
    uint64_t item[LOD_MAX_LEVELS + 1];
    uint32_t chunk[LOD_MAX_LEVELS + 1];
    uint32_t first_cell_level; /* that of level 0 */
    uint32_t finest;           /* cell level */
} item_levels;

/* ---- runs */

/* The level of the cells over which the next coarser level averages. */
static __device__ uint32_t run_level(const item_levels &levels, uint32_t level) {
    const uint32_t cell_level = levels.first_cell_level + (level > 0 ? level - 1 : 0);
    return cell_level < levels.finest ? cell_level : levels.finest;
}

/* What tells the cells of runs apart; above: lod_window_above. */
typedef struct run_code {
    uint64_t code;
    uint32_t above;
} run_code;

template <bool FINE>
static __device__ run_code run_code_at(const lod_window &window, uint32_t shift, uint32_t position) {
    const run_code of = {window.codes[position] >> shift, FINE ? lod_window_above(&window, position) : 0};
    return of;
}

/* counts [2 · chunks]: runs that begin in each chunk, then inner items */
template <bool FINE>
static __global__ void mark_items(item_levels levels, uint32_t level_count, const uint32_t *items,
                                  const uint64_t *codes, const uint64_t *fine, const uint8_t *leaf_level,
                                  item_row *rows, uint32_t *counts) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, chunks = levels.chunk[level_count];
    const uint32_t chunk = blockIdx.x * filter_policy::warps + threadIdx.x / CUDA_WARP;
    if (chunk >= chunks) return;
    uint32_t level = 0;
    while (chunk >= levels.chunk[level + 1]) level++;
    const uint64_t count = levels.item[level + 1] - levels.item[level];
    const uint64_t first = (uint64_t)(chunk - levels.chunk[level]) * cells_policy::chunk_items;
    const uint32_t *own = items + levels.item[level];
    const uint32_t cell_level = run_level(levels, level), window_first = FINE ? lod_window_first(cell_level) : 0;
    const lod_window window = {window_first > 0 ? fine : codes, window_first > 0 ? codes : NULL, window_first};
    const uint32_t shift = lod_window_shift(&window, cell_level);
    const run_code none = {UINT64_MAX, 0};
    run_code last = first > 0 ? run_code_at<FINE>(window, shift, own[first - 1]) : none;
    uint32_t runs = 0, inner = 0;
    item_row mine = {0, 0};
    for (uint32_t tile = 0; tile < cells_policy::chunk_rows; tile += cells_policy::tile_rows) {
        run_code code[cells_policy::tile_rows];
        bool is_inner[cells_policy::tile_rows];
        for (uint32_t r = 0; r < cells_policy::tile_rows; r++) {
            const uint64_t j = first + (tile + r) * cells_policy::row + lane;
            const uint32_t position = own[j < count ? j : count - 1];
            code[r] = run_code_at<FINE>(window, shift, position);
            is_inner[r] = j < count && leaf_level[position] > level;
        }
        for (uint32_t r = 0; r < cells_policy::tile_rows; r++) {
            const uint64_t before = warp_before(code[r].code);
            bool begins = code[r].code != (lane > 0 ? before : last.code);
            if constexpr (FINE) {
                const uint32_t above_before = warp_before(code[r].above);
                begins = begins || code[r].above != (lane > 0 ? above_before : last.above);
                last.above = warp_broadcast(code[r].above, CUDA_WARP - 1);
            }
            item_row row;
            /* Behind the last item its code repeats: no run begins. */
            row.begins = __ballot_sync(CUDA_ALL, begins);
            row.inner = __ballot_sync(CUDA_ALL, is_inner[r]);
            last.code = warp_broadcast(code[r].code, CUDA_WARP - 1);
            runs += (uint32_t)__popc(row.begins);
            inner += (uint32_t)__popc(row.inner);
            if (lane == tile + r) mine = row;
        }
    }
    if (lane < cells_policy::chunk_rows) rows[(uint64_t)chunk * cells_policy::chunk_rows + lane] = mine;
    if (lane == 0) {
        counts[chunk] = runs;
        counts[(uint64_t)chunks + chunk] = inner;
    }
}

/* ---- sums */

/* A level's items, and the sums of its inner items and of its runs. */
template <typename IN, typename OUT> struct cell_level {
    const uint32_t *items, *index;
    uint64_t count;
    const item_row *rows;
    const uint32_t *runs_before, *inner_before; /* [chunks] counted from the first chunk's */
    uint32_t chunks;
    const filter_sum<IN> *sums;
    filter_sum<OUT> *runs, *heads; /* heads [chunks]: of runs that began before the chunk; NULL on the coarsest level */
    filter_color *colors;
};

/* What a warp knows while it goes through its chunk. */
template <typename OUT> struct run_state {
    filter_sum<OUT> open; /* of the run that goes on */
    uint32_t runs;        /* of the level that began before */
    bool began;           /* one within this chunk */
};

template <typename TO, typename FROM> static __device__ void add_sum(filter_sum<TO> *to, const filter_sum<FROM> &sum) {
    for (int k = 0; k < 4; k++) to->v[k] += (TO)sum.v[k];
}

/* Writes the colour of the item and returns its sum. rank: inner items before it */
template <typename IN, typename OUT, int COLORS>
static __device__ filter_sum<OUT> color_item(const cell_level<IN, OUT> &level, const filter_columns &columns,
                                             uint64_t j, bool inner, uint32_t rank) {
    filter_sum<OUT> own = {{0, 0, 0, 0}};
    filter_color color;
    if (inner) {
        const filter_sum<IN> sum = level.sums[rank];
        add_sum(&own, sum);
        color = filter_average_of(sum);
    } else {
        color = filter_read_color<COLORS>(columns, lod_device_row(level.index, level.items[j]));
        for (int k = 0; k < 3; k++) own.v[k] = color.v[k];
        own.v[3] = 1;
    }
    level.colors[j] = color;
    return own;
}

/* Where the sum of an item of a tile is staged: a lane adds up tile_rows items in a row. */
static __device__ uint32_t staged_at(uint32_t item) {
    return item / cells_policy::tile_rows * cells_policy::lane_stage + item % cells_policy::tile_rows;
}

/* Colours a tile's items and stages their sums. */
template <typename IN, typename OUT, int COLORS>
static __device__ void load_tile(const cell_level<IN, OUT> &level, const filter_columns &columns, uint64_t first,
                                 const item_row *rows, uint32_t *inner_before, filter_sum<OUT> *staged) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    for (uint32_t r = 0; r < cells_policy::tile_rows; r++) {
        const uint64_t j = first + r * cells_policy::row + lane;
        const uint32_t inner = rows[r].inner, rank = *inner_before + warp_rank(inner);
        filter_sum<OUT> own = {{0, 0, 0, 0}};
        if (j < level.count) { own = color_item<IN, OUT, COLORS>(level, columns, j, (inner >> lane & 1) != 0, rank); }
        if (level.runs != NULL) staged[staged_at(r * cells_policy::row + lane)] = own;
        *inner_before += (uint32_t)__popc(inner);
    }
}

/* The sum from where the last run begins, in this lane or before it: of sums that begin one in the lanes given. */
template <typename T> static __device__ void scan_runs(filter_sum<T> *sum, uint32_t begun) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, upto = begun & ((2u << lane) - 1);
    const uint32_t reach = lane - (upto != 0 ? CUDA_WARP - 1 - (uint32_t)__clz((int)upto) : 0);
    for (uint32_t d = 1; d < CUDA_WARP; d *= 2) {
        for (int k = 0; k < 4; k++) {
            const T before = warp_before(sum->v[k], d);
            if (d <= reach) sum->v[k] += before;
        }
    }
}

/* Adds up the runs of a staged tile; those that end are written. */
template <typename IN, typename OUT>
static __device__ void sum_tile(const cell_level<IN, OUT> &level, uint32_t chunk, const item_row *rows,
                                const filter_sum<OUT> *staged, run_state<OUT> *state) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, row = lane / (CUDA_WARP / cells_policy::tile_rows);
    const uint32_t bit = lane * cells_policy::tile_rows % cells_policy::row;
    uint32_t bits = 0, runs = state->runs, all = 0;
    for (uint32_t r = 0; r < cells_policy::tile_rows; r++) {
        const uint32_t begins = rows[r].begins;
        if (r == row) bits = begins >> bit & ((1u << cells_policy::tile_rows) - 1);
        if (r < row) runs += (uint32_t)__popc(begins);
        if (r == row) runs += (uint32_t)__popc(begins & ((1u << bit) - 1));
        all += (uint32_t)__popc(begins);
    }
    const bool first_of_chunk = !state->began && runs == state->runs;
    const uint32_t runs_before = runs;
    filter_sum<OUT> head = {{0, 0, 0, 0}}, sum = {{0, 0, 0, 0}};
    for (uint32_t i = 0; i < cells_policy::tile_rows; i++) {
        if (bits >> i & 1) {
            if (runs > runs_before) {
                level.runs[runs - 1] = sum;
            } else {
                head = sum;
            }
            runs++;
            sum = filter_sum<OUT>{{0, 0, 0, 0}};
        }
        add_sum(&sum, staged[lane * cells_policy::lane_stage + i]);
    }
    const uint32_t begun = __ballot_sync(CUDA_ALL, bits != 0);
    scan_runs(&sum, begun);
    if ((begun & ((2u << lane) - 1)) == 0) add_sum(&sum, state->open);
    for (int k = 0; k < 4; k++) {
        const OUT before = warp_before(sum.v[k]);
        head.v[k] += lane > 0 ? before : state->open.v[k];
        state->open.v[k] = warp_broadcast(sum.v[k], CUDA_WARP - 1);
    }
    if (bits != 0) {
        filter_sum<OUT> *const to = first_of_chunk ? &level.heads[chunk] : &level.runs[runs_before - 1];
        *to = head;
    }
    state->runs += all;
    state->began = state->began || begun != 0;
}

template <typename IN, typename OUT, int COLORS>
static __global__ void color_cells(cell_level<IN, OUT> level, filter_columns columns) {
    __shared__ filter_sum<OUT> stages[filter_policy::warps][cells_policy::staged];
    filter_sum<OUT> *const staged = stages[threadIdx.x / CUDA_WARP];
    const uint32_t chunk = blockIdx.x * filter_policy::warps + threadIdx.x / CUDA_WARP;
    if (chunk >= level.chunks) return;
    uint32_t inner = level.inner_before[chunk] - level.inner_before[0];
    run_state<OUT> state = {{{0, 0, 0, 0}}, level.runs_before[chunk] - level.runs_before[0], false};
    for (uint32_t tile = 0; tile < cells_policy::chunk_rows; tile += cells_policy::tile_rows) {
        const uint64_t first = (uint64_t)chunk * cells_policy::chunk_items + tile * cells_policy::row;
        if (first >= level.count) break;
        item_row rows[cells_policy::tile_rows];
        for (uint32_t r = 0; r < cells_policy::tile_rows; r++)
            rows[r] = level.rows[(uint64_t)chunk * cells_policy::chunk_rows + tile + r];
        load_tile<IN, OUT, COLORS>(level, columns, first, rows, &inner, staged);
        __syncwarp();
        if (level.runs != NULL) sum_tile(level, chunk, rows, staged, &state);
        __syncwarp();
    }
    if (level.runs == NULL || threadIdx.x % CUDA_WARP != 0) return;
    filter_sum<OUT> *const to = state.began ? &level.runs[state.runs - 1] : &level.heads[chunk];
    *to = state.open;
}

static __device__ void add_atomically(uint32_t *to, uint32_t value) { atomicAdd(to, value); }
static __device__ void add_atomically(uint64_t *to, uint64_t value) {
    atomicAdd((unsigned long long *)to, (unsigned long long)value);
}

template <typename T>
static __global__ void join_heads(const filter_sum<T> *heads, const uint32_t *runs_before, uint32_t chunks,
                                  filter_sum<T> *runs) {
    const uint32_t chunk = blockIdx.x * filter_policy::threads + threadIdx.x;
    if (chunk >= chunks) return;
    const filter_sum<T> head = heads[chunk];
    if (head.v[3] == 0) return;
    filter_sum<T> *const run = &runs[runs_before[chunk] - runs_before[0] - 1];
    for (int k = 0; k < 4; k++) add_atomically(&run->v[k], head.v[k]);
}

/* ---- the host's side */

typedef struct cells_scratch {
    item_levels levels;
    uint64_t inner[LOD_MAX_LEVELS + 1]; /* items of each level in inner nodes */
    uint32_t wide_level;                /* sums of levels below this may not fit 32 bits */
    item_row *rows;
    uint32_t *before; /* [2 · chunks] runs, then inner items */
    unsigned long long *crowd;
    void *sums[2]; /* of even and of odd levels */
    void *heads;
} cells_scratch;

static uint64_t sum_bytes(const cells_scratch *s, uint32_t level) {
    return level < s->wide_level ? sizeof(filter_sum<uint64_t>) : sizeof(filter_sum<uint32_t>);
}

static void plan_levels(const lod_filter *f, cells_scratch *s) {
    const mote_lod *lod = f->lod;
    memcpy(s->levels.item, f->device->level_items, sizeof s->levels.item);
    s->levels.first_cell_level = lod_cell_level(lod, 0);
    s->levels.finest = lod->finest;
    for (uint32_t l = 0; l < lod->level_count; l++) {
        const uint64_t count = s->levels.item[l + 1] - s->levels.item[l];
        s->levels.chunk[l + 1] =
            s->levels.chunk[l] + (uint32_t)((count + cells_policy::chunk_items - 1) / cells_policy::chunk_items);
    }
    for (uint64_t i = 0; i < lod->node_count; i++) {
        if (lod_is_inner(&lod->nodes[i])) s->inner[lod->nodes[i].level] += lod->nodes[i].point_count;
    }
}

static mote_status find_runs(lod_filter *f, cells_scratch *s) {
    mote_device *gpu = f->lod->device;
    const lod_cuda *device = f->device;
    const uint32_t levels = f->lod->level_count, chunks = s->levels.chunk[levels];
    unsigned long long crowd = 0;
    s->rows = (item_row *)cuda_alloc(gpu, (uint64_t)chunks * cells_policy::chunk_rows * sizeof *s->rows, "filter runs");
    s->before = (uint32_t *)cuda_alloc(gpu, 2ull * chunks * sizeof *s->before, "filter runs");
    s->crowd = (unsigned long long *)cuda_alloc(gpu, sizeof crowd, "filter runs");
    if (s->rows == NULL || s->before == NULL || s->crowd == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(filter_find_crowd(f, s->crowd));
    MOTE_TRY(cuda_download(gpu, &crowd, s->crowd, sizeof crowd));
    while (s->wide_level < levels && lod_cell_level(f->lod, s->wide_level) < crowd) s->wide_level++;
    void (*const mark)(item_levels, uint32_t, const uint32_t *, const uint64_t *, const uint64_t *, const uint8_t *,
                       item_row *, uint32_t *) = device->fine != NULL ? mark_items<true> : mark_items<false>;
    CUDA_LAUNCH(gpu, mark, cuda_blocks(chunks, filter_policy::warps), filter_policy::threads, s->levels, levels,
                device->items, device->codes, device->fine, device->leaf_level, s->rows, s->before);
    MOTE_TRY(cuda_sum32(gpu, s->before, s->before, 2ull * chunks));
    return cuda_launched(gpu, "finding cells");
}

static mote_status open_sums(lod_filter *f, cells_scratch *s) {
    mote_device *gpu = f->lod->device;
    uint64_t sums[2] = {0, 0}, heads = 0;
    for (uint32_t l = 0; l < f->lod->level_count; l++) {
        const uint64_t own = s->inner[l] * sum_bytes(s, l);
        const uint64_t head = l > 0 ? (s->levels.chunk[l + 1] - s->levels.chunk[l]) * sum_bytes(s, l - 1) : 0;
        if (sums[l % 2] < own) sums[l % 2] = own;
        if (heads < head) heads = head;
    }
    for (int k = 0; k < 2; k++) s->sums[k] = cuda_alloc(gpu, sums[k], "filter sums");
    s->heads = cuda_alloc(gpu, heads, "filter sums");
    return s->sums[0] != NULL && s->sums[1] != NULL && s->heads != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

template <typename IN, typename OUT> static void launch_level(lod_filter *f, const cells_scratch *s, uint32_t l) {
    mote_device *gpu = f->lod->device;
    const uint32_t chunk = s->levels.chunk[l], chunks = s->levels.chunk[l + 1] - chunk;
    cell_level<IN, OUT> level;
    level.items = f->device->items + s->levels.item[l];
    level.index = lod_cuda_index(f->device);
    level.count = s->levels.item[l + 1] - s->levels.item[l];
    level.rows = s->rows + (uint64_t)chunk * cells_policy::chunk_rows;
    level.runs_before = s->before + chunk;
    level.inner_before = s->before + s->levels.chunk[f->lod->level_count] + chunk;
    level.chunks = chunks;
    level.sums = (const filter_sum<IN> *)s->sums[l % 2];
    level.runs = l > 0 ? (filter_sum<OUT> *)s->sums[(l + 1) % 2] : NULL;
    level.heads = l > 0 ? (filter_sum<OUT> *)s->heads : NULL;
    level.colors = (filter_color *)f->device->item_colors + s->levels.item[l];
    typedef void (*color_kernel)(cell_level<IN, OUT>, filter_columns);
    static const color_kernel kernels[] = {color_cells<IN, OUT, FILTER_COLORS_ANY>,
                                           color_cells<IN, OUT, FILTER_COLORS_16>,
                                           color_cells<IN, OUT, FILTER_COLORS_8>};
    CUDA_LAUNCH(gpu, kernels[f->columns.kind], cuda_blocks(chunks, filter_policy::warps), filter_policy::threads, level,
                f->columns);
    if (l == 0) return;
    CUDA_LAUNCH(gpu, join_heads<OUT>, cuda_blocks(chunks, filter_policy::threads), filter_policy::threads, level.heads,
                level.runs_before, chunks, level.runs);
}

static mote_status color_levels(lod_filter *f, const cells_scratch *s) {
    mote_lod *lod = f->lod;
    for (uint32_t l = lod->level_count; l-- > 0;) {
        if (s->levels.chunk[l + 1] == s->levels.chunk[l]) continue;
        const bool wide = l < s->wide_level, out_wide = l == 0 ? wide : l - 1 < s->wide_level;
        if (wide) {
            launch_level<uint64_t, uint64_t>(f, s, l);
        } else if (out_wide) {
            launch_level<uint32_t, uint64_t>(f, s, l);
        } else {
            launch_level<uint32_t, uint32_t>(f, s, l);
        }
        MOTE_TRY(cuda_launched(lod->device, "filtering colours"));
        MOTE_TRY(mote_progress(lod->ctx, 0.7 + 0.2 * (1 - (double)l / lod->level_count), "filtering colours"));
    }
    return MOTE_OK;
}

mote_status filter_cells(lod_filter *f) {
    mote_device *gpu = f->lod->device;
    cells_scratch s;
    if (f->device->item_count == 0) return MOTE_OK;
    memset(&s, 0, sizeof s);
    plan_levels(f, &s);
    mote_status status = find_runs(f, &s);
    if (status == MOTE_OK) status = open_sums(f, &s);
    if (status == MOTE_OK) status = color_levels(f, &s);
    void *const owned[] = {s.rows, s.before, s.crowd, s.sums[0], s.sums[1], s.heads};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuda_free(gpu, owned[i]);
    return status;
}
