/* Levels of detail on the GPU: the steps in order, and what comes back. The kernels are in lod_tree_cuda.cu,
   lod_sample_cuda.cu, lod_poisson_cuda.cu, lod_node_points_cuda.cu and lod_filter_cuda.cu. */
#include "lod/lod_cuda.h"

#include "lod/lod_math.h"
#include "lod/lod_ops.h"
#include "order/order_cuda.h"

/* ---- what fits */

/* Bytes of a point on the device: of its record, where all columns lie in one. */
static uint64_t record_bytes(const mote_cloud *cloud) {
    const mote_column *columns = cloud->columns;
    uint64_t all = 0, low = UINT64_MAX, high = 0;
    bool is_one = cloud->column_count > 0;
    for (uint64_t c = 0; c < cloud->column_count; c++) {
        const uint64_t at = (uintptr_t)columns[c].data, size_bytes = mote_type_size(columns[c].type);
        all += size_bytes;
        low = at < low ? at : low;
        high = at + size_bytes > high ? at + size_bytes : high;
        is_one = is_one && columns[c].stride_bytes == columns[0].stride_bytes;
    }
    return is_one && high - low <= columns[0].stride_bytes ? columns[0].stride_bytes : all;
}

static bool fits_device(const mote_lod *lod) {
    const uint64_t point_bytes = record_bytes(lod->cloud) + mote_lod_device_point_bytes(&lod->params);
    return lod->cloud->device != NULL || cuda_available(lod->device) / point_bytes >= lod->cloud->count;
}

/* Whether a sorted copy of the points does as well. */
static bool sorted_points_fit(const mote_lod *lod) {
    const uint64_t copy_bytes = 16; /* a point: only short records are copied */
    return cuda_available(lod->device) / (copy_bytes + mote_lod_device_point_bytes(&lod->params)) >= lod->cloud->count;
}

/* ---- the steps */

/* What the tree will need fine codes for, which are the order of coordinates where they tell all steps apart. */
static order_ties ties_of(const mote_lod *lod) {
    order_ties ties = {0, mote_lod_fine_level(lod_cell_level(lod, 0))};
    if (order_fine_tells_all(&lod->lattice)) ties.crowd = lod_leaf_points(lod);
    return ties;
}

static mote_status build_order(mote_lod *lod, lod_cuda *device) {
    mote_device *gpu = lod->device;
    mote_stage(gpu->ctx, "upload");
    MOTE_TRY(device_cloud_open(gpu, lod->cloud, &device->cloud));
    MOTE_TRY(mote_progress(gpu->ctx, 0.1, "copying points to the GPU"));
    mote_stage(gpu->ctx, "bounds");
    if (lod->whole != NULL) {
        lod->lattice = lod->whole->lattice; /* whose points are all in it */
    } else {
        MOTE_TRY(order_cuda_lattice(&device->cloud, &lod->lattice, &lod->skipped));
    }
    lod->count = lod->cloud->count - lod->skipped;
    mote_stage(gpu->ctx, "sort");
    const order_ties ties = ties_of(lod);
    device_cloud sorted;
    memset(&sorted, 0, sizeof sorted);
    MOTE_TRY(order_cuda_build(&device->cloud, &lod->lattice, lod->skipped,
                              lod->params.sampling != MOTE_LOD_FIRST ? &ties : NULL, &device->codes, &device->order,
                              sorted_points_fit(lod) ? &sorted : NULL));
    if (sorted.columns != NULL) { /* what was uploaded is not needed any more */
        device_cloud_close(&device->cloud);
        device->cloud = sorted;
        device->cloud_sorted = true;
    }
    return mote_progress(gpu->ctx, 0.5, "sorting");
}

static mote_status sample(mote_lod *lod, lod_cuda *device) {
    mote_device *gpu = lod->device;
    if (lod->params.sampling != MOTE_LOD_POISSON) return lod_cuda_sample(lod, device);
    device->level = (uint8_t *)cuda_alloc(gpu, lod->count, "levels");
    if (device->level == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_copy(gpu, device->level, device->leaf_level, lod->count));
    return lod->level_count < 2 ? MOTE_OK : lod_cuda_poisson(lod, device);
}

static mote_status download_nodes(mote_lod *lod, const lod_cuda *device) {
    mote_free(lod->ctx, lod->nodes);
    lod->nodes = (mote_lod_node *)mote_alloc(lod->ctx, lod->node_count * sizeof *lod->nodes, "nodes");
    if (lod->nodes == NULL) return MOTE_ERROR_MEMORY;
    return cuda_download(lod->device, lod->nodes, device->nodes, lod->node_count * sizeof *lod->nodes);
}

static mote_status build_levels(mote_lod *lod, lod_cuda *device) {
    mote_device *gpu = lod->device;
    mote_stage(gpu->ctx, "tree");
    MOTE_TRY(lod_cuda_tree(lod, device));
    if (lod->lacks_fine) return MOTE_OK;
    if (lod->params.sampling == MOTE_LOD_POISSON) MOTE_TRY(download_nodes(lod, device));
    mote_stage(gpu->ctx, "sampling");
    MOTE_TRY(sample(lod, device));
    MOTE_TRY(mote_progress(gpu->ctx, 0.7, "sampling"));
    mote_stage(gpu->ctx, "nodes");
    MOTE_TRY(lod_cuda_node_points(lod, device));
    MOTE_TRY(download_nodes(lod, device));
    if (lod->params.filter != MOTE_LOD_FILTER_NONE && lod->rgb[0] != NULL) {
        mote_stage(gpu->ctx, "filter");
        MOTE_TRY(lod_cuda_filter(lod, device));
    }
    cuda_free(gpu, device->codes);
    cuda_free(gpu, device->fine);
    device->codes = device->fine = NULL;
    return mote_progress(gpu->ctx, 0.9, "filtering colours");
}

/* ---- to the host */

/* The colours of representatives as the host keeps them: those of inner nodes, without the fourth value. */
static void pack_colors(mote_lod *lod, const uint16_t *item_colors) {
    uint64_t item = 0;
    for (uint64_t n = 0; n < lod->node_count; n++) {
        const mote_lod_node *node = &lod->nodes[n];
        uint16_t *to = lod->colors + 3 * lod->color_first[n];
        for (uint64_t i = 0; i < node->point_count && lod_is_inner(node); i++) {
            memcpy(to + 3 * i, item_colors + 4 * (item + i), 3 * sizeof *to);
        }
        item += node->point_count;
    }
}

static mote_status cuda_fetch(mote_lod *lod) {
    mote_device *gpu = lod->device;
    const lod_cuda *device = lod->cuda;
    mote_stage(gpu->ctx, "download");
    lod->order = (uint32_t *)mote_alloc(gpu->ctx, lod->count * sizeof *lod->order, "order");
    lod->level = (uint8_t *)mote_alloc(gpu->ctx, lod->count, "levels");
    if (lod->order == NULL || lod->level == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_download(gpu, lod->order, device->order, lod->count * sizeof *lod->order));
    MOTE_TRY(cuda_download(gpu, lod->level, device->level, lod->count));
    if (device->item_colors == NULL || lod->level_count < 2) return MOTE_OK;
    MOTE_TRY(lod_place_colors(lod));
    const uint64_t size_bytes = device->item_count * 4 * sizeof(uint16_t);
    uint16_t *item_colors = (uint16_t *)mote_alloc(gpu->ctx, size_bytes, "filter colours");
    if (item_colors == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = cuda_download(gpu, item_colors, device->item_colors, size_bytes);
    if (status == MOTE_OK) pack_colors(lod, item_colors);
    mote_free(gpu->ctx, item_colors);
    return status;
}

/* Whether the steps of a part, which see no other, are those of the whole. */
static bool is_local(const mote_lod_params *params) {
    return params->sampling != MOTE_LOD_POISSON &&
           (params->filter == MOTE_LOD_FILTER_NONE || params->filter == MOTE_LOD_FILTER_CELL);
}

static mote_status build_whole(mote_lod *lod) {
    lod_cuda *device = (lod_cuda *)mote_alloc_zero(lod->ctx, sizeof *device, "nodes");
    if (device == NULL) return MOTE_ERROR_MEMORY;
    lod->cuda = device;
    MOTE_TRY(build_order(lod, device));
    MOTE_TRY(build_levels(lod, device));
    if (!lod->params.on_device && !lod->lacks_fine) MOTE_TRY(cuda_fetch(lod));
    return mote_progress(lod->ctx, 1.0, "building the octree");
}

static mote_status cuda_build(mote_lod *lod) {
    const mote_device *gpu = lod->device;
    const bool is_in_steps = lod->whole == NULL || is_local(&lod->params);
    if (!is_in_steps || !fits_device(lod)) return lod_cuda_build_parts(lod);
    const uint64_t shortages = gpu->shortages;
    const mote_status status = build_whole(lod);
    if (status != MOTE_ERROR_MEMORY || gpu->shortages == shortages || lod->cloud->device != NULL) return status;
    /* It took more than points mostly take: in parts it takes as much as there is. */
    mote_context_clear(lod->ctx);
    lod_forget(lod);
    return lod_cuda_build_parts(lod);
}

static bool cuda_view(const mote_lod *lod, lod_device_view *view) {
    const lod_cuda *device = lod->cuda;
    if (device == NULL) return false;
    view->columns = device->cloud.columns;
    view->column_count = device->cloud.column_count;
    view->index = lod_cuda_index(device);
    view->order = device->order;
    view->level = device->level;
    view->items = device->items;
    view->item_count = device->item_count;
    view->item_colors = device->item_colors;
    return true;
}

static void cuda_release(mote_lod *lod) {
    mote_device *gpu = lod->device;
    lod_cuda *device = lod->cuda;
    if (device == NULL) return;
    void *const owned[] = {device->codes,      device->fine,  device->order, device->level,
                           device->leaf_level, device->nodes, device->items, device->item_colors};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuda_free(gpu, owned[i]);
    device_cloud_close(&device->cloud);
    mote_free(gpu->ctx, device);
    lod->cuda = NULL;
}

const mote_lod_ops mote_lod_on_cuda = {cuda_build, cuda_fetch, cuda_view, cuda_release};
