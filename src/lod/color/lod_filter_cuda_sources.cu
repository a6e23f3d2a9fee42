/* Cells of many levels in one pass over the sorted points: sums of colours, and bricks. */
#include "lod/color/lod_filter_cuda.cuh"

/* Few warps: a block keeps its shared memory until its last warp is done. As set here: 2.7 ms for the sums and bricks
   of 100 M points of a city (H200). */
struct sources_policy {
    static constexpr uint32_t warps = 2, threads = warps * CUDA_WARP;
    static constexpr uint32_t rows = filter_policy::tile / CUDA_WARP; /* of a tile */
    static constexpr uint32_t buffer_bytes = 60; /* a point, of what is made in one pass: deep trees take several */
};

/* ---- a tile */

/* Sums over a tile's points before one: sum_at. A gap after each lane's keeps lanes off each other's banks. */
template <typename T> struct tile_sums {
    typedef T value;
    T of[3][filter_policy::tile + CUDA_WARP + 1];
};

/* 8-bit colours of a tile add up to 16 bits. */
template <int COLORS> struct tile_sums_of { typedef tile_sums<uint32_t> type; };
template <> struct tile_sums_of<FILTER_COLORS_8> { typedef tile_sums<uint16_t> type; };

/* What a warp knows of its tile. Its list are the cells of a level that begin in the tile, preceded by the one that the
   first point lies in if that began before. */
typedef struct tile_state {
    /* Of the list's cells as bricks: which cells two levels finer there are. */
    unsigned long long masks[filter_policy::tile];
    uint32_t begun[8][sources_policy::rows];       /* by level % 8, of sources: which points of a row begin them */
    uint8_t begun_before[8][sources_policy::rows]; /* and how many in rows before */
    alignas(8) uint8_t marks[filter_policy::tile];
    uint8_t points[filter_policy::tile]; /* where the list's cells begin */
    /* The first cell within, in the lists of the last two levels. */
    uint8_t child[filter_policy::tile], grandchild[filter_policy::tile];
} tile_state;

typedef struct tile_list {
    uint32_t tile, points; /* how many points it has */
    uint64_t first;        /* position */
    uint32_t level, count;
    bool goes_on;  /* the first began before */
    uint32_t mark; /* of the first point */
    /* Lane t keeps how many cells, and rows, of level t begin before the tile */
    uint32_t cells_before, rows_before;
    /* Numbers of the first cells of the lists of this level, and of one and two finer, were they all begun here */
    uint32_t base, child_base, grandchild_base;
} tile_list;

/* How many cells of a list begin before a tile. */
static __device__ uint32_t begun_before(const filter_cells_view &view, uint32_t list, uint32_t tile) {
    const uint32_t *const before = view.before + (uint64_t)list * view.tiles;
    return before[tile] - before[0];
}

/* The number that the first cell of a list has, were it begun here. */
static __device__ uint32_t base_of(const tile_list *list, uint32_t level) {
    return warp_broadcast(list->cells_before, level) - (list->mark > level ? 1 : 0);
}

static __device__ void set_level(tile_list *list, uint32_t level) {
    list->level = level;
    list->goes_on = list->mark > level;
    list->grandchild_base = list->child_base;
    list->child_base = list->base;
    list->base = base_of(list, level);
}

/* A lane for each level. */
static __device__ void load_before(const filter_cells_view &view, tile_list *list) {
    const uint32_t level = threadIdx.x % CUDA_WARP;
    list->cells_before = level <= view.finest ? begun_before(view, level, list->tile) : 0;
    list->rows_before = level <= view.finest_brick ? begun_before(view, view.finest + 1 + level, list->tile) : 0;
    list->mark = view.marks[list->first];
}

static __device__ uint32_t sum_at(uint32_t point) { return point + point / filter_policy::lane_points; }

/* Which points of the cloud the lane's are. index: by sorted position; NULL where the cloud is sorted */
static __device__ void load_indices(const uint32_t *index, uint64_t position, uint32_t count, uint32_t *indices) {
    if (index == NULL || count < filter_policy::lane_points) {
        for (uint32_t i = 0; i < filter_policy::lane_points; i++) {
            indices[i] = (uint32_t)position + i;
            if (index != NULL && i < count) indices[i] = index[position + i];
        }
        return;
    }
    for (uint32_t i = 0; i < filter_policy::lane_points; i += 4) {
        const uint4 four = *(const uint4 *)(index + position + i);
        indices[i] = four.x;
        indices[i + 1] = four.y;
        indices[i + 2] = four.z;
        indices[i + 3] = four.w;
    }
}

static __device__ void put_colors(filter_color *to, const filter_color *colors, uint32_t count) {
    if (count < filter_policy::lane_points) {
        for (uint32_t i = 0; i < filter_policy::lane_points; i++) {
            if (i < count) to[i] = colors[i];
        }
        return;
    }
    for (uint32_t i = 0; i < filter_policy::lane_points; i += 2) {
        const uint16_t *const v = colors[i].v, *const w = colors[i + 1].v;
        *(uint4 *)(to + i) = make_uint4(v[0] | (uint32_t)v[1] << 16, v[2], w[0] | (uint32_t)w[1] << 16, w[2]);
    }
}

/* Colours are sorted, and summed up over the points before each. Missing points begin no cell. */
template <int COLORS, typename SUMS>
static __device__ void load_points(const filter_cells_view &view, const filter_columns &columns, const uint32_t *index,
                                   filter_color *sorted, const tile_list *list, tile_state *s, SUMS *sums) {
    const uint32_t first = threadIdx.x % CUDA_WARP * filter_policy::lane_points;
    const uint64_t position = list->first + first;
    const uint32_t own = filter_lane_count(position, view.count);
    const unsigned long long missing = own == 0 ? ~0ull : own < filter_policy::lane_points ? ~0ull << 8 * own : 0;
    uint32_t indices[filter_policy::lane_points], before[3] = {0, 0, 0};
    filter_color colors[filter_policy::lane_points];
    load_indices(index, position, own, indices);
    ((unsigned long long *)s->marks)[first / filter_policy::lane_points] =
        filter_load_bytes(view.marks + position, own) | missing;
    for (uint32_t i = 0; i < filter_policy::lane_points; i++) {
        colors[i] = filter_color{{0, 0, 0, 0}};
        if (i < own) colors[i] = filter_read_color<COLORS>(columns, indices[i]);
    }
    if (sorted != NULL) put_colors(sorted + position, colors, own);
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < filter_policy::lane_points; i++) before[k] += colors[i].v[k];
        before[k] = warp_scan_exclusive(before[k]);
        for (uint32_t i = 0; i < filter_policy::lane_points; i++) {
            sums->of[k][sum_at(first + i)] = (typename SUMS::value)before[k];
            before[k] += colors[i].v[k];
        }
        if (first + filter_policy::lane_points == filter_policy::tile) {
            sums->of[k][sum_at(filter_policy::tile)] = (typename SUMS::value)before[k];
        }
    }
    __syncwarp();
}

/* The list of the finest level visited. Nothing is asked of its masks but that they are not 0. */
static __device__ void open_list(const filter_cells_view &view, tile_state *s, tile_list *list) {
    const uint32_t finest = CUDA_WARP - 1 - (uint32_t)__clz((int)view.visited);
    set_level(list, finest);
    list->count = 0;
    for (uint32_t r = 0; r < sources_policy::rows; r++) {
        const uint32_t i = r * CUDA_WARP + threadIdx.x % CUDA_WARP;
        const bool begins = i == 0 || s->marks[i] <= finest;
        const uint32_t at = warp_append(begins, &list->count);
        if (begins) {
            s->points[at] = (uint8_t)i;
            s->masks[at] = 1;
        }
    }
    __syncwarp();
}

/* Makes of a list that of a coarser level, which is never longer, in place. */
static __device__ void coarsen_list(const filter_cells_view &view, tile_state *s, tile_list *list, uint32_t level) {
    const uint32_t fine = list->level, count = list->count;
    uint32_t found = 0;
    __syncwarp(); /* what was made of the finer list has been read */
    for (uint32_t first = 0; first < count; first += CUDA_WARP) {
        const uint32_t k = first + threadIdx.x % CUDA_WARP;
        const bool there = k < count;
        const uint32_t point = there ? s->points[k] : 0, below = there ? s->child[k] : 0;
        const bool begins = there && (k == 0 || s->marks[point] <= level);
        const uint32_t cells = there ? filter_bytes(s->masks[k]) : 0;
        const uint32_t octant = there ? filter_octant(view, list->first + point, fine) : 0;
        const uint32_t at = warp_append(begins, &found) - (begins ? 0 : 1);
        __syncwarp();
        if (begins) { /* at <= k, and the row is read */
            s->points[at] = (uint8_t)point;
            s->child[at] = (uint8_t)k;
            s->grandchild[at] = (uint8_t)below;
            s->masks[at] = (unsigned long long)cells << 8 * octant;
        }
        __syncwarp();
        /* Where a level is left out, cells share octants, and masks need only not be 0. */
        if (there && !begins && level + 1 == fine) ((uint8_t *)&s->masks[at])[octant] = (uint8_t)cells;
        __syncwarp();
    }
    list->count = found;
    set_level(list, level);
    __syncwarp();
}

/* Notes where the points that begin sources are, for the cells of coarser levels. */
static __device__ void note_sources(tile_state *s, uint32_t level) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    uint32_t begun = 0;
    for (uint32_t r = 0; r < sources_policy::rows; r++) {
        const uint32_t i = r * CUDA_WARP + lane;
        const uint32_t row = __ballot_sync(CUDA_ALL, i == 0 || s->marks[i] <= level);
        if (lane == r) begun = row;
    }
    const uint32_t before = warp_scan_exclusive((uint32_t)__popc(begun));
    __syncwarp();
    if (lane < sources_policy::rows) {
        s->begun[level % 8][lane] = begun;
        s->begun_before[level % 8][lane] = (uint8_t)before;
    }
    __syncwarp();
}

/* The number in its list of the source that a point begins. */
static __device__ uint32_t source_of(const tile_state *s, uint32_t level, uint32_t point) {
    const uint32_t row = point / CUDA_WARP, begun = s->begun[level % 8][row];
    return s->begun_before[level % 8][row] + (uint32_t)__popc(begun & ((1u << point % CUDA_WARP) - 1));
}

template <typename SUMS> static __device__ filter_source sum_between(const SUMS *sums, uint32_t first, uint32_t last) {
    filter_source source;
    for (uint32_t k = 0; k < 3; k++) source.sum[k] = (uint32_t)sums->of[k][sum_at(last)] - sums->of[k][sum_at(first)];
    source.place = last - first;
    return source;
}

static __device__ filter_source *head_of(const filter_cells_view &view, uint32_t tile, uint32_t level) {
    const uint32_t number = (uint32_t)__popc(view.summed & ((1u << level) - 1));
    return &view.heads[(uint64_t)tile * (uint32_t)__popc(view.summed) + number];
}

static __device__ void put_source(const filter_cells_view &view, uint32_t level, uint32_t at, filter_source source,
                                  uint32_t place) {
    if (view.wide >> level & 1) {
        const filter_wide_source wide = {{source.sum[0], source.sum[1], source.sum[2]}, source.place, place};
        ((filter_wide_source *)view.sources[level])[at] = wide;
    } else {
        source.place |= place << SOURCE_COUNT_BITS;
        ((uint4 *)view.sources[level])[at] = make_uint4(source.sum[0], source.sum[1], source.sum[2], source.place);
    }
}

template <typename SUMS>
static __device__ void put_sources(const filter_cells_view &view, const tile_state *s, const SUMS *sums,
                                   const tile_list *list) {
    const uint32_t places = (1u << 3 * SOURCE_LEVELS) - 1;
    for (uint32_t k = threadIdx.x % CUDA_WARP; k < list->count; k += CUDA_WARP) {
        const uint32_t first = s->points[k], last = k + 1 < list->count ? s->points[k + 1] : list->points;
        const filter_source source = sum_between(sums, first, last);
        if (k == 0 && list->goes_on) {
            *head_of(view, list->tile, list->level) = source;
            continue;
        }
        const uint64_t code = view.placed ? filter_code(view.codes, view.fine, list->first + first, list->level) : 0;
        const uint32_t place = (uint32_t)code & places;
        put_source(view, list->level, list->base + k, source, place);
    }
}

static __device__ void put_first_sources(const filter_cells_view &view, const tile_state *s, const tile_list *list) {
    const uint32_t level = view.source_level[list->level];
    const uint32_t base = base_of(list, level);
    for (uint32_t k = threadIdx.x % CUDA_WARP; k < list->count; k += CUDA_WARP) {
        if (k == 0 && list->goes_on) continue;
        view.first_source[list->level][list->base + k] = base + source_of(s, level, s->points[k]);
    }
}

static __device__ unsigned long long *head_mask_of(const filter_cells_view &view, uint32_t tile, uint32_t level) {
    return &view.head_masks[(uint64_t)tile * (view.finest_brick + 1) + level];
}

static __device__ void put_bricks(const filter_cells_view &view, const tile_state *s, const tile_list *list) {
    const uint32_t level = list->level;
    uint32_t rows = warp_broadcast(list->rows_before, level);
    for (uint32_t first = 0; first < list->count; first += CUDA_WARP) {
        const uint32_t k = first + threadIdx.x % CUDA_WARP;
        const bool begins = k < list->count && !(k == 0 && list->goes_on);
        const uint64_t point = begins ? list->first + s->points[k] : 0;
        const bool is_row = begins && level < filter_row_limit(view.leaf_level[point], view.grid_bits);
        const uint32_t row = warp_append(is_row, &rows);
        if (begins) {
            const unsigned long long mask = s->masks[k];
            ((uint4 *)view.bricks[level])[list->base + k] =
                make_uint4((uint32_t)mask, (uint32_t)(mask >> 32), list->grandchild_base + s->grandchild[k],
                           list->child_base + s->child[k]);
        } else if (k == 0) {
            *head_mask_of(view, list->tile, level) = s->masks[0];
        }
        if (is_row) view.row_point[level][row] = (uint32_t)point;
    }
}

/* What lies within one cell of a level lies so on all coarser levels, and adds no cells to their bricks. */
template <typename SUMS>
static __device__ void put_rest(const filter_cells_view &view, const SUMS *sums, const tile_list *list) {
    const uint32_t level = threadIdx.x % CUDA_WARP;
    if (level >= list->level) return;
    if (view.summed >> level & 1) *head_of(view, list->tile, level) = sum_between(sums, 0, list->points);
    if (view.bricked >> level & 1) *head_mask_of(view, list->tile, level) = 0;
}

template <int COLORS>
static __global__ void sum_tiles(filter_cells_view view, filter_columns columns, const uint32_t *index,
                                 filter_color *colors) {
    __shared__ tile_state states[sources_policy::warps];
    __shared__ typename tile_sums_of<COLORS>::type sums_of[sources_policy::warps];
    tile_state *const s = &states[threadIdx.x / CUDA_WARP];
    auto *const sums = &sums_of[threadIdx.x / CUDA_WARP];
    tile_list list;
    list.tile = blockIdx.x * sources_policy::warps + threadIdx.x / CUDA_WARP;
    if (list.tile >= view.tiles) return;
    list.first = (uint64_t)list.tile * filter_policy::tile;
    list.points =
        view.count - list.first < filter_policy::tile ? (uint32_t)(view.count - list.first) : filter_policy::tile;
    list.base = list.child_base = 0;
    load_before(view, &list);
    load_points<COLORS>(view, columns, index, colors, &list, s, sums);
    open_list(view, s, &list);
    CUDA_ROLLED
    while (true) {
        const uint32_t level = list.level;
        if (view.summed >> level & 1) {
            if (view.placed) note_sources(s, level);
            put_sources(view, s, sums, &list);
        }
        if (view.placed && (view.averaged >> level & 1)) put_first_sources(view, s, &list);
        if (view.bricked >> level & 1) put_bricks(view, s, &list);
        const uint32_t coarser = view.visited & ((1u << level) - 1);
        if (coarser == 0) return;
        const bool quiet = list.count == 1 && list.goes_on;
        coarsen_list(view, s, &list, CUDA_WARP - 1 - (uint32_t)__clz((int)coarser));
        if (quiet) break;
    }
    /* The list before had no cell that begins: this one's bricks may still get cells of one level finer. */
    if (view.bricked >> list.level & 1) put_bricks(view, s, &list);
    if (view.summed >> list.level & 1) put_sources(view, s, sums, &list);
    put_rest(view, sums, &list);
}

/* ---- what reaches over tiles */

static __device__ void add_head(const filter_cells_view &view, uint32_t level, uint32_t at, const filter_source &head) {
    if (view.wide >> level & 1) {
        filter_wide_source *const to = (filter_wide_source *)view.sources[level] + at;
        for (uint32_t k = 0; k < 3; k++) atomicAdd(&to->sum[k], (unsigned long long)head.sum[k]);
        atomicAdd(&to->count, head.place);
    } else {
        filter_source *const to = (filter_source *)view.sources[level] + at;
        for (uint32_t k = 0; k < 3; k++) atomicAdd(&to->sum[k], head.sum[k]);
        atomicAdd(&to->place, head.place);
    }
}

/* Adds what a tile has of cells and bricks that began before it. */
static __global__ void join_tiles(filter_cells_view view) {
    const uint64_t tile = (uint64_t)blockIdx.x * filter_policy::threads + threadIdx.x;
    if (tile >= view.tiles) return;
    const uint32_t mark = view.marks[tile * filter_policy::tile];
    for (uint32_t level = 0; level <= view.finest && level < mark; level++) {
        const uint32_t at = begun_before(view, level, (uint32_t)tile) - 1;
        if (view.summed >> level & 1) add_head(view, level, at, *head_of(view, (uint32_t)tile, level));
        if ((view.bricked >> level & 1) == 0) continue;
        const unsigned long long mask = *head_mask_of(view, (uint32_t)tile, level);
        if (mask != 0) atomicOr(&view.bricks[level][at].mask, mask);
    }
}

/* The ends of the lists: a thread for each level. */
static __global__ void end_lists(filter_cells_view view) {
    const uint32_t level = threadIdx.x;
    if (level > view.finest) return;
    const filter_brick none = {0, 0, 0};
    const uint64_t end = view.cells[level];
    if (view.bricked >> level & 1) view.bricks[level][end] = none;
    if (view.placed && (view.averaged >> level & 1)) {
        view.first_source[level][end] = (uint32_t)view.cells[view.source_level[level]];
    }
}

/* ---- the host's side */

/* Takes room from an arena; without one, only counts. */
static void *take_buffer(uint8_t *arena, uint64_t *used, uint64_t size_bytes) {
    void *const buffer = arena != NULL ? arena + *used : NULL;
    *used += (size_bytes + 255) / 256 * 256;
    return buffer;
}

/* Returns how much room the lists of a pass take. */
static uint64_t place_lists(filter_cells_view *view, uint8_t *arena) {
    uint64_t used = 0;
    for (uint32_t l = 0; l <= view->finest; l++) {
        const uint64_t cells = view->cells[l];
        const uint64_t source_bytes = view->wide >> l & 1 ? sizeof(filter_wide_source) : sizeof(filter_source);
        const bool lists = view->placed && (view->averaged >> l & 1);
        if (view->summed >> l & 1) view->sources[l] = take_buffer(arena, &used, cells * source_bytes);
        if (lists) view->first_source[l] = (uint32_t *)take_buffer(arena, &used, (cells + 1) * sizeof(uint32_t));
        if ((view->bricked >> l & 1) == 0) continue;
        view->bricks[l] = (filter_brick *)take_buffer(arena, &used, (cells + 1) * sizeof(filter_brick));
        view->row_point[l] = (uint32_t *)take_buffer(arena, &used, view->rows[l] * sizeof(uint32_t));
    }
    const uint64_t source_levels = (uint64_t)__builtin_popcount(view->summed), brick_levels = view->finest_brick + 1;
    view->heads = (filter_source *)take_buffer(arena, &used, source_levels * view->tiles * sizeof(filter_source));
    view->head_masks = (unsigned long long *)take_buffer(arena, &used, brick_levels * view->tiles * sizeof(uint64_t));
    return used;
}

/* What a pass makes for some levels: their cells, sources and bricks, and the next coarser bricks, or all: what is
   around bricks follows from level to level. */
static void plan_pass(lod_filter *f, uint32_t first, uint32_t last) {
    const mote_lod *lod = f->lod;
    filter_cells_view *view = &f->view;
    const uint32_t coarsest = filter_brick_level(lod_cell_level(lod, first));
    const uint32_t finest = lod_cell_level(lod, last), min = first == 0 ? 0 : coarsest > 0 ? coarsest - 1 : 0;
    const uint32_t skipped = (1u << min) - 1;
    view->averaged = view->summed = 0;
    for (uint32_t l = first; l <= last; l++) {
        const uint32_t cell = lod_cell_level(lod, l);
        view->averaged |= 1u << cell;
        view->summed |= 1u << view->source_level[cell];
    }
    view->bricked = ((2u << filter_brick_level(finest)) - 1) & ~skipped;
    view->visited = (((2u << (finest < 2 ? 2 : finest)) - 1) & ~skipped) | view->summed;
    view->wide = f->crowd < FILTER_LEVELS ? view->summed & ((1u << f->crowd) - 1) : view->summed;
}

/* Opens a pass over as many levels as its memory holds, at least all levels that share cells. */
static mote_status open_pass(lod_filter *f, uint32_t first, uint32_t *next) {
    mote_device *gpu = f->lod->device;
    const uint32_t levels = f->lod->level_count - 1;
    uint32_t end = first, cell;
    do {
        cell = lod_cell_level(f->lod, end);
        while (end < levels && lod_cell_level(f->lod, end) == cell) end++;
        if (end == levels) break;
        plan_pass(f, first, end);
    } while (place_lists(&f->view, NULL) <= f->lod->count * sources_policy::buffer_bytes);
    *next = end;
    plan_pass(f, first, end - 1);
    cuda_free(gpu, f->arena);
    f->arena = cuda_alloc(gpu, place_lists(&f->view, NULL), "filter cells");
    if (f->arena == NULL) return MOTE_ERROR_MEMORY;
    place_lists(&f->view, (uint8_t *)f->arena);
    return MOTE_OK;
}

mote_status filter_make_cells(lod_filter *f, uint32_t first_level, uint32_t *next_level) {
    mote_device *gpu = f->lod->device;
    filter_cells_view *view = &f->view;
    static void (*const sum[])(filter_cells_view, filter_columns, const uint32_t *, filter_color *) = {
        sum_tiles<FILTER_COLORS_ANY>, sum_tiles<FILTER_COLORS_16>, sum_tiles<FILTER_COLORS_8>};
    MOTE_TRY(open_pass(f, first_level, next_level));
    CUDA_LAUNCH(gpu, sum[f->columns.kind], cuda_blocks(view->tiles, sources_policy::warps), sources_policy::threads,
                *view, f->columns, lod_cuda_index(f->device), f->colors);
    CUDA_LAUNCH(gpu, end_lists, 1u, CUDA_WARP, *view);
    CUDA_LAUNCH(gpu, join_tiles, cuda_blocks(view->tiles, filter_policy::threads), filter_policy::threads, *view);
    return cuda_launched(gpu, "summing up colours");
}

void filter_free_cells(lod_filter *f) {
    cuda_free(f->lod->device, f->marks);
    cuda_free(f->lod->device, f->before);
    cuda_free(f->lod->device, f->arena);
    cuda_free(f->lod->device, f->colors);
}
