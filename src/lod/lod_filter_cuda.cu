/* Colours of all items on the device: leaves keep their points' own, inner nodes get averages, level by level from the
   finest, over sums that are built from level to level. */
#include "lod/lod_filter_cuda.h"

typedef struct level_bounds {
    uint64_t first[LOD_MOST_LEVELS + 1];
} level_bounds;

template <int KIND>
static __global__ void sort_colors(filter_columns columns, const uint32_t *index, uint64_t count,
                                   filter_color *colors) {
    const uint64_t i = (uint64_t)blockIdx.x * FILTER_THREADS + threadIdx.x;
    if (i < count) colors[i] = filter_read_color<KIND>(columns, lod_cuda_point(index, (uint32_t)i));
}

static __global__ void color_leaves(const uint32_t *items, uint64_t count, level_bounds levels,
                                    const uint8_t *leaf_level, const filter_color *colors, filter_color *out) {
    const uint64_t j = (uint64_t)blockIdx.x * FILTER_THREADS + threadIdx.x;
    if (j >= count) return;
    uint32_t level = 0;
    while (j >= levels.first[level + 1]) level++;
    const uint32_t position = items[j];
    if (leaf_level[position] <= level) out[j] = colors[position];
}

/* Whether all are plain numbers of a type whose addresses and strides are multiples of so many bytes. */
static bool are_plain(const filter_columns *columns, mote_type type, uint32_t aligned) {
    bool plain = true;
    for (int k = 0; k < 3; k++) {
        const mote_column *column = &columns->of[k];
        const bool fits = ((uintptr_t)column->data | column->stride_bytes) % aligned == 0;
        plain = plain && column->type == type && column->bit_count == 0 && fits;
    }
    return plain;
}

/* Whether bytes of the same index lie in one aligned word. */
static bool share_word(const filter_columns *columns) {
    const mote_column *first = &columns->of[0];
    bool share = first->stride_bytes % sizeof(uint32_t) == 0;
    for (int k = 1; k < 3; k++) {
        const mote_column *column = &columns->of[k];
        share = share && column->stride_bytes == first->stride_bytes &&
                (uintptr_t)column->data / sizeof(uint32_t) == (uintptr_t)first->data / sizeof(uint32_t);
    }
    return share;
}

static mote_status find_columns(const lod_cuda *device, filter_columns *columns) {
    static const char *const names[3] = {"red", "green", "blue"};
    for (int k = 0; k < 3; k++) {
        const mote_column *column = cuda_cloud_find(&device->cloud, names[k]);
        if (column == NULL) {
            return mote_fail(device->cloud.ctx, MOTE_ERROR_ARGUMENT, "no column %s to filter", names[k]);
        }
        columns->of[k] = *column;
    }
    columns->kind = FILTER_COLORS_ANY;
    if (are_plain(columns, MOTE_UINT16, sizeof(uint16_t))) columns->kind = FILTER_COLORS_16;
    if (are_plain(columns, MOTE_UINT8, 1) && share_word(columns)) columns->kind = FILTER_COLORS_8;
    return MOTE_OK;
}

/* Colours by sorted position, and those of the items in leaves. */
static mote_status own_colors(lod_filter *f, const filter_columns *columns) {
    mote_context *ctx = f->lod->ctx;
    const lod_cuda *device = f->device;
    static void (*const sort[])(filter_columns, const uint32_t *, uint64_t, filter_color *) = {
        sort_colors<FILTER_COLORS_ANY>, sort_colors<FILTER_COLORS_16>, sort_colors<FILTER_COLORS_8>};
    level_bounds levels;
    memcpy(levels.first, device->level_items, sizeof levels.first);
    f->colors = (filter_color *)cuda_alloc(ctx, f->lod->count * sizeof *f->colors, "filter colours");
    if (f->colors == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(ctx, sort[columns->kind], cuda_blocks(f->lod->count, FILTER_THREADS), FILTER_THREADS, *columns,
                lod_cuda_index(device), f->lod->count, f->colors);
    CUDA_LAUNCH(ctx, color_leaves, cuda_blocks(device->item_count, FILTER_THREADS), FILTER_THREADS, device->items,
                device->item_count, levels, device->leaf_level, f->colors, (filter_color *)device->item_colors);
    return cuda_launched(ctx, "sorting colours");
}

static mote_status filter_levels_of(lod_filter *f) {
    mote_lod *lod = f->lod;
    const uint64_t selected = 3ull * cuda_blocks(lod->count, FILTER_ITEMS);
    MOTE_TRY(filter_mark(f));
    f->selected = (uint32_t *)cuda_alloc(lod->ctx, selected * sizeof *f->selected, "filter counts");
    if (f->selected == NULL) return MOTE_ERROR_MEMORY;
    /* The finest level first: it needs the most scratch, which then serves all others. */
    for (uint32_t level = lod->level_count - 1; level-- > 0;) {
        MOTE_TRY(filter_average(f, level));
        const double done = 1 - (double)level / lod->level_count;
        MOTE_TRY(mote_progress(lod->ctx, 0.7 + 0.2 * done, "filtering colours"));
    }
    return MOTE_OK;
}

/* Poisson chooses none or several points of a cell; else cells and items in inner nodes match. */
static mote_status color_items(lod_filter *f) {
    const mote_lod_params *params = &f->lod->params;
    filter_columns columns;
    MOTE_TRY(find_columns(f->device, &columns));
    const uint64_t bytes = f->device->item_count * sizeof(filter_color);
    f->device->item_colors = (uint16_t *)cuda_alloc(f->lod->ctx, bytes, "colours");
    if (f->device->item_colors == NULL) return MOTE_ERROR_MEMORY;
    if (params->filter == MOTE_LOD_FILTER_CELL && params->sampling != MOTE_LOD_POISSON) {
        return filter_cells(f, &columns);
    }
    MOTE_TRY(own_colors(f, &columns));
    return f->lod->level_count > 1 ? filter_levels_of(f) : MOTE_OK;
}

mote_status lod_cuda_filter(mote_lod *lod, lod_cuda *device) {
    lod_filter f;
    memset(&f, 0, sizeof f);
    f.lod = lod;
    f.device = device;
    const mote_status status = color_items(&f);
    filter_free_sources(&f);
    filter_free_index(&f);
    void *const owned[] = {f.colors, f.marks, f.selected, f.weights};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuda_free(lod->ctx, owned[i]);
    return status;
}
