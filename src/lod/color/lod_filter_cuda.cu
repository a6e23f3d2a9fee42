/* Colours of all items on the device: leaves keep their points' own, inner nodes get averages over sums of
   cells. */
#include "lod/color/lod_filter_cuda.cuh"

/* Items of a thread: their loads do not wait for each other. As set here: 0.8 ms for the leaves of 100 M points of a
   city (H200). */
struct leaves_policy {
    static constexpr uint32_t items = 4;
};

typedef struct level_bounds {
    uint64_t first[LOD_MAX_LEVELS + 1];
} level_bounds;

/* The colours of items of leaves, which are points: there is nothing to average. */
template <int KIND>
static __global__ void color_points(filter_columns columns, const uint32_t *index, const uint32_t *items,
                                    uint64_t count, filter_color *out) {
    const uint64_t j = (uint64_t)blockIdx.x * filter_policy::threads + threadIdx.x;
    if (j < count) out[j] = filter_read_color<KIND>(columns, lod_device_row(index, items[j]));
}

/* A thread takes some items, as far apart as a block has threads, whose loads do not wait for each other. */
static __global__ void color_leaves(const uint32_t *items, uint64_t count, level_bounds levels,
                                    const uint8_t *leaf_level, const filter_color *colors, filter_color *out) {
    const uint64_t first = (uint64_t)blockIdx.x * (filter_policy::threads * leaves_policy::items) + threadIdx.x;
    uint32_t position[leaves_policy::items], level = 0;
    uint8_t leaf[leaves_policy::items];
    for (uint32_t i = 0; i < leaves_policy::items; i++) {
        const uint64_t j = first + i * filter_policy::threads;
        position[i] = items[j < count ? j : count - 1];
    }
    for (uint32_t i = 0; i < leaves_policy::items; i++) leaf[i] = leaf_level[position[i]];
    for (uint32_t i = 0; i < leaves_policy::items; i++) {
        const uint64_t j = first + i * filter_policy::threads;
        if (j >= count) return;
        while (j >= levels.first[level + 1]) level++;
        if (leaf[i] <= level) out[j] = colors[position[i]];
    }
}

/* Whether all are plain numbers of a type whose addresses and strides are multiples of that number of bytes. */
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

static mote_status color_single_level(lod_filter *f) {
    mote_device *gpu = f->lod->device;
    const lod_cuda *device = f->device;
    static void (*const kernels[])(filter_columns, const uint32_t *, const uint32_t *, uint64_t, filter_color *) = {
        color_points<FILTER_COLORS_ANY>, color_points<FILTER_COLORS_16>, color_points<FILTER_COLORS_8>};
    CUDA_LAUNCH(gpu, kernels[f->columns.kind], cuda_blocks(device->item_count, filter_policy::threads),
                filter_policy::threads, f->columns, lod_cuda_index(device), device->items, device->item_count,
                (filter_color *)device->item_colors);
    return cuda_launched(gpu, "reading colours");
}

/* The items in leaves; sorted colours are then of no more use. */
static mote_status color_leaf_items(lod_filter *f) {
    mote_device *gpu = f->lod->device;
    const lod_cuda *device = f->device;
    level_bounds levels;
    memcpy(levels.first, device->level_items, sizeof levels.first);
    CUDA_LAUNCH(gpu, color_leaves, cuda_blocks(device->item_count, filter_policy::threads * leaves_policy::items),
                filter_policy::threads, device->items, device->item_count, levels, device->leaf_level, f->colors,
                (filter_color *)device->item_colors);
    cuda_free(gpu, f->colors);
    f->colors = NULL;
    return cuda_launched(gpu, "sorting colours");
}

/* The levels of a pass. bricks: levels of which it is known what is around all rows */
static mote_status average_levels(lod_filter *f, uint32_t first, uint32_t end, uint32_t *bricks) {
    mote_lod *lod = f->lod;
    const uint32_t finest = f->view.finest_brick;
    for (uint32_t level = first; level < end; level++) {
        const uint32_t own = filter_brick_level(lod_cell_level(lod, level));
        for (; *bricks <= own && *bricks < finest; (*bricks)++) MOTE_TRY(filter_make_around(f, *bricks, 0));
        if (own < finest) MOTE_TRY(filter_average(f, level));
        for (uint64_t row = 0; own == finest && row < f->view.rows[own]; row += f->around_rows) {
            MOTE_TRY(filter_make_around(f, own, row));
            MOTE_TRY(filter_average(f, level));
        }
        const double done = (double)(level + 1) / lod->level_count;
        MOTE_TRY(mote_progress(lod->ctx, 0.7 + 0.2 * done, "filtering colours"));
    }
    return MOTE_OK;
}

/* The coarsest level first, for the sake of what is around bricks; mostly all in one pass. */
static mote_status average_in_passes(lod_filter *f) {
    uint32_t bricks = 0;
    MOTE_TRY(filter_count_cells(f));
    for (uint32_t level = 0, next; level < f->lod->level_count - 1; level = next) {
        MOTE_TRY(filter_make_cells(f, level, &next));
        if (level == 0) MOTE_TRY(color_leaf_items(f));
        MOTE_TRY(average_levels(f, level, next, &bricks));
    }
    return MOTE_OK;
}

/* Finds the columns of colours, and how they can be read. */
static mote_status find_columns(lod_filter *f) {
    const lod_cuda *device = f->device;
    static const char *const names[3] = {"red", "green", "blue"};
    for (int k = 0; k < 3; k++) {
        const mote_column *column = device_cloud_find(&device->cloud, names[k]);
        if (column == NULL) {
            return mote_fail(device->cloud.device->ctx, MOTE_ERROR_ARGUMENT, "no column %s to filter", names[k]);
        }
        f->columns.of[k] = *column;
    }
    f->columns.kind = FILTER_COLORS_ANY;
    if (are_plain(&f->columns, MOTE_UINT16, sizeof(uint16_t))) f->columns.kind = FILTER_COLORS_16;
    if (are_plain(&f->columns, MOTE_UINT8, 1) && share_word(&f->columns)) f->columns.kind = FILTER_COLORS_8;
    return MOTE_OK;
}

static mote_status color_items(lod_filter *f) {
    const mote_lod_params *params = &f->lod->params;
    MOTE_TRY(find_columns(f));
    const uint64_t bytes = f->device->item_count * sizeof(filter_color);
    f->device->item_colors = (uint16_t *)cuda_alloc(f->lod->device, bytes, "colours");
    if (f->device->item_colors == NULL) return MOTE_ERROR_MEMORY;
    /* Poisson chooses none or several points of a cell; else cells and items in inner nodes match. */
    if (params->filter == MOTE_LOD_FILTER_CELL && params->sampling != MOTE_LOD_POISSON) return filter_cells(f);
    return f->lod->level_count > 1 ? average_in_passes(f) : color_single_level(f);
}

mote_status lod_cuda_filter(mote_lod *lod, lod_cuda *device) {
    lod_filter f;
    memset(&f, 0, sizeof f);
    f.lod = lod;
    f.device = device;
    const mote_status status = color_items(&f);
    filter_free_cells(&f);
    filter_free_around(&f);
    cuda_free(lod->device, f.weights);
    return status;
}
