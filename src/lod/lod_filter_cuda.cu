/* Colours of all items on the device: leaves keep their points' own, inner nodes get averages, level by level from the
   finest, over sums that are built from level to level. */
#include "core/column_math.h"
#include "lod/lod_filter_cuda.h"

typedef struct rgb_columns {
    mote_column of[3];
} rgb_columns;

typedef struct level_bounds {
    uint64_t first[LOD_MOST_LEVELS + 1];
} level_bounds;

/* PLAIN: all columns are aligned 16-bit numbers, read at once and not byte by byte. */
template <bool PLAIN>
static __global__ void sort_colors(rgb_columns columns, const uint32_t *order, uint64_t count, filter_color *colors) {
    const uint64_t i = (uint64_t)blockIdx.x * FILTER_THREADS + threadIdx.x;
    if (i >= count) return;
    const uint64_t index = order[i];
    filter_color color;
    for (int k = 0; k < 3; k++) {
        const uint8_t *at = column_at(&columns.of[k], index);
        color.v[k] = PLAIN ? *(const uint16_t *)at : column_color(&columns.of[k], at);
    }
    color.v[3] = 0;
    colors[i] = color;
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

static mote_status find_columns(const lod_cuda *device, rgb_columns *columns) {
    static const char *const names[3] = {"red", "green", "blue"};
    for (int k = 0; k < 3; k++) {
        const mote_column *column = cuda_cloud_find(&device->cloud, names[k]);
        if (column == NULL) {
            return mote_fail(device->cloud.ctx, MOTE_ERROR_ARGUMENT, "no column %s to filter", names[k]);
        }
        columns->of[k] = *column;
    }
    return MOTE_OK;
}

static bool are_plain(const rgb_columns *columns) {
    bool plain = true;
    for (int k = 0; k < 3; k++) {
        const mote_column *column = &columns->of[k];
        const bool aligned = ((uintptr_t)column->data | column->stride_bytes) % sizeof(uint16_t) == 0;
        plain = plain && column->type == MOTE_UINT16 && column->bit_count == 0 && aligned;
    }
    return plain;
}

/* Colours by sorted position, and those of the items in leaves. */
static mote_status own_colors(lod_filter *f) {
    mote_context *ctx = f->lod->ctx;
    lod_cuda *device = f->device;
    rgb_columns columns;
    level_bounds levels;
    MOTE_TRY(find_columns(device, &columns));
    memcpy(levels.first, device->level_items, sizeof levels.first);
    f->colors = (filter_color *)cuda_alloc(ctx, f->lod->count * sizeof *f->colors, "filter colours");
    device->item_colors = (uint16_t *)cuda_alloc(ctx, device->item_count * sizeof(filter_color), "colours");
    if (f->colors == NULL || device->item_colors == NULL) return MOTE_ERROR_MEMORY;
    void (*const sort)(rgb_columns, const uint32_t *, uint64_t, filter_color *) =
        are_plain(&columns) ? sort_colors<true> : sort_colors<false>;
    CUDA_LAUNCH(ctx, sort, cuda_blocks(f->lod->count, FILTER_THREADS), FILTER_THREADS, columns, device->order,
                f->lod->count, f->colors);
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

mote_status lod_cuda_filter(mote_lod *lod, lod_cuda *device) {
    lod_filter f;
    memset(&f, 0, sizeof f);
    f.lod = lod;
    f.device = device;
    mote_status status = own_colors(&f);
    if (status == MOTE_OK && lod->level_count > 1) status = filter_levels_of(&f);
    filter_free_sources(&f);
    filter_free_index(&f);
    void *const owned[] = {f.colors, f.marks, f.selected, f.weights};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuda_free(lod->ctx, owned[i]);
    return status;
}
