/* The points of a renderer on a GPU: their order, by content, and the boxes of its ranges.

   Sorted by code, by the order that octrees have as well. Where two points share one, all are sorted anew: by index,
   colour, z, y, x and code, each stably, so that the last decides first. No run of ties is too long for that. Whether
   two do, the host is told with the boxes, so that a cloud whose points have codes of their own, as most do, takes
   three waits: for its bounds, for how many points the sort takes out (order_cuda.h), and at the end. */
#include "device/cuda/warp.cuh"
#include "math/ordered.h"
#include "order/order_cuda.h"
#include "order/sort/order_keys_cuda.h"
#include "render/points/render_groups_cuda.cuh"
#include "render/points/render_load.h"
#include "render/points/render_record_cuda.cuh"
#include "render/render_cuda.h"

#define THREADS 256u

/* The columns of a cloud that a renderer reads, on the device. */
typedef struct render_source {
    device_cloud view;
    mote_column axes[3], normal[3];
    render_color_source colors;
    bool has_normals;
} render_source;

/* What a load found, behind the last batch, so that one copy brings both to the host. */
typedef struct load_notes {
    uint32_t shared_code, shared_place; /* 1: two points share one */
} load_notes;

static __host__ __device__ load_notes *notes_of(const render_points *points) {
    return (load_notes *)(points->batches + points->batch_count);
}

/* ---- keys */

static __global__ void code_keys(const uint64_t *codes, const uint32_t *index, uint64_t count, uint64_t *keys) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) keys[i] = codes[index[i]];
}

static __global__ void color_keys(render_color_source colors, const uint32_t *index, uint64_t count, uint64_t *keys) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) keys[i] = render_color_of(&colors, index[i]);
}

/* + 0.0: both zeros are one place. */
static __global__ void axis_keys(mote_column axis, const uint32_t *index, uint64_t count, uint64_t *keys) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) keys[i] = mote_ordered_real(column_value(&axis, index[i]) + 0.0);
}

static __global__ void find_shared_code(const uint64_t *keys, render_points points) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x + 1;
    if (i < points.count && keys[i] == keys[i - 1]) notes_of(&points)->shared_code = 1;
}

static __device__ __forceinline__ bool is_same_place(const render_points *points, uint32_t i) {
    double one[3], before[3];
    render_load_at(points, i, one);
    render_load_at(points, i - 1, before);
    return one[0] == before[0] && one[1] == before[1] && one[2] == before[2];
}

static __global__ void find_shared_place(render_points points) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x + 1;
    if (i < points.count && is_same_place(&points, (uint32_t)i)) { notes_of(&points)->shared_place = 1; }
}

/* codes: by row */
static mote_status sort_by_content_of(mote_device *gpu, const render_source *from, const uint64_t *codes,
                                      uint64_t count, cuda_pairs64 *pairs) {
    const uint32_t blocks = cuda_blocks(count, THREADS);
    MOTE_TRY(order_cuda_number(gpu, pairs->values, count));
    CUDA_LAUNCH(gpu, color_keys, blocks, THREADS, from->colors, pairs->values, count, pairs->keys);
    MOTE_TRY(cuda_sort64(gpu, pairs, count, 0, 32));
    for (int k = 2; k >= 0; k--) {
        CUDA_LAUNCH(gpu, axis_keys, blocks, THREADS, from->axes[k], pairs->values, count, pairs->keys);
        MOTE_TRY(cuda_sort64(gpu, pairs, count, 0, 64));
    }
    CUDA_LAUNCH(gpu, code_keys, blocks, THREADS, codes, pairs->values, count, pairs->keys);
    MOTE_TRY(cuda_launched(gpu, "sorting"));
    return cuda_sort64(gpu, pairs, count, 0, 64);
}

static mote_status sort_by_content(const render_source *from, const mote_lattice *lattice, cuda_pairs64 *pairs) {
    mote_device *gpu = from->view.device;
    const uint64_t count = from->view.count;
    uint64_t *codes = (uint64_t *)cuda_alloc(gpu, count * sizeof *codes, "codes");
    if (codes == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = order_cuda_codes(&from->view, lattice, codes);
    if (status == MOTE_OK) status = sort_by_content_of(gpu, from, codes, count, pairs);
    cuda_free(gpu, codes);
    return status;
}

/* ---- points by place */

/* index: of finite points. end: of whole batches */
static __global__ void gather(mote_column x, mote_column y, mote_column z, render_color_source colors,
                              const uint32_t *index, render_points points, uint64_t end) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= end) return;
    const uint64_t row = index[i < points.count ? i : points.count - 1];
    const render_record record = {column_value(&x, row), column_value(&y, row), column_value(&z, row), (uint32_t)row};
    ((render_record *)points.at[0])[i] = record;
    points.color[i] = i < points.count ? render_color_of(&colors, row) : RENDER_NO_COLOR;
}

static __global__ void gather_colors(render_color_source colors, render_points points) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < points.count) points.color[i] = render_color_of(&colors, render_row(&points, (uint32_t)i));
}

/* ---- batches: a block each, a warp for each of its sub-batches */

#define SUBBATCHES (RENDER_BATCH / RENDER_SUBBATCH)
#define BOX_BLOCK  (SUBBATCHES * CUDA_WARP)

static __global__ void bound_batches(render_points points) {
    __shared__ double low[SUBBATCHES][3], high[SUBBATCHES][3];
    __shared__ float spacings[SUBBATCHES];
    const uint32_t part = threadIdx.x / CUDA_WARP, first = blockIdx.x * RENDER_BATCH;
    const uint32_t from = first + part * RENDER_SUBBATCH;
    const uint32_t end = points.count - first < RENDER_BATCH ? points.count : first + RENDER_BATCH;
    const uint32_t to = from >= end ? from : end - from < RENDER_SUBBATCH ? end : from + RENDER_SUBBATCH;
    double extent[3];
    for (int k = 0; k < 3; k++) {
        double min_here = 1.7976931348623157e308, max_here = -1.7976931348623157e308;
        for (uint32_t i = from + warp_lane(); i < to; i += CUDA_WARP) {
            min_here = min(min_here, render_at(&points, k, i));
            max_here = max(max_here, render_at(&points, k, i));
        }
        min_here = warp_min(min_here);
        max_here = warp_max(max_here);
        extent[k] = max_here - min_here;
        if (warp_lane() == 0) low[part][k] = min_here, high[part][k] = max_here;
    }
    if (warp_lane() == 0 && to > from) spacings[part] = render_spacing(extent, to - from);
    __syncthreads();
    if (threadIdx.x != 0) return;
    render_batch *batch = &points.batches[blockIdx.x];
    const uint32_t parts = (end - first + RENDER_SUBBATCH - 1) / RENDER_SUBBATCH;
    for (int k = 0; k < 3; k++) {
        batch->min[k] = low[0][k];
        batch->max[k] = high[0][k];
        for (uint32_t p = 1; p < parts; p++) {
            batch->min[k] = min(batch->min[k], low[p][k]);
            batch->max[k] = max(batch->max[k], high[p][k]);
        }
    }
    batch->spacing = render_median(spacings, parts);
    batch->drawn = 0;
    points.batch_shown[blockIdx.x] = 0;
}

/* The sum of the colours of a group, as group_sums has it, from four points of each of its lanes. */
static __device__ __forceinline__ uint64_t sum_group(const render_points *points, uint64_t first) {
    uint64_t sum[4] = {0, 0, 0, 0};
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        const uint32_t color = points->color[first + j];
        if (color == RENDER_NO_COLOR) continue;
        for (int c = 0; c < 3; c++) sum[c] += color >> 8 * c & 255u;
        sum[3]++;
    }
    return render_pack_sums(warp_sum<RENDER_GROUP_LANES>(sum[0]), warp_sum<RENDER_GROUP_LANES>(sum[1]),
                            warp_sum<RENDER_GROUP_LANES>(sum[2]), warp_sum<RENDER_GROUP_LANES>(sum[3]));
}

/* Four points, whose colours tell which are drawn; lanes of a group add up what it is. */
static __global__ void make_steps(render_points points, uint64_t words) {
    const uint64_t w = (uint64_t)blockIdx.x * THREADS + threadIdx.x, group = w / RENDER_GROUP_LANES;
    if (w >= words) return; /* all of a batch's words have threads of the same warps */
    const render_batch *batch = &points.batches[w * RENDER_AT_ONCE / RENDER_BATCH];
    const bool tells = w % RENDER_GROUP_LANES == 0;
    for (int k = 0; k < 3; k++) {
        uint64_t word = 0;
        uint32_t low = RENDER_STEP_MAX, high = 0;
        for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
            const uint64_t i = w * RENDER_AT_ONCE + j;
            uint32_t step = render_step_of(render_at(&points, k, (uint32_t)i), batch->min[k], batch->max[k]);
            if (k == 0 && points.color[i] == RENDER_NO_COLOR) step &= ~RENDER_STEP_DRAWN;
            word |= (uint64_t)step << 16 * j;
            if (points.color[i] == RENDER_NO_COLOR) continue;
            low = min(low, step & RENDER_STEP_MAX);
            high = max(high, step & RENDER_STEP_MAX);
        }
        points.steps[group * RENDER_GROUP_WORDS + (uint64_t)k * RENDER_GROUP_LANES + w % RENDER_GROUP_LANES] = word;
        low = warp_min<RENDER_GROUP_LANES>(low);
        high = warp_max<RENDER_GROUP_LANES>(high);
        if (tells) points.group_box[k][group] = high << 16 | low;
    }
    const uint64_t sums = sum_group(&points, w * RENDER_AT_ONCE);
    if (tells) points.group_sums[group] = sums;
}

static void launch_steps(mote_renderer *renderer) {
    const uint64_t words = (uint64_t)renderer->points.batch_count * (RENDER_BATCH / RENDER_AT_ONCE);
    CUDA_LAUNCH(renderer->device, make_steps, cuda_blocks(words, THREADS), THREADS, renderer->points, words);
}

/* Boxes and notes, to the host; waits. */
static mote_status keep_boxes(mote_renderer *renderer, load_notes *notes) {
    const uint64_t size_bytes = ((uint64_t)renderer->points.batch_count + 1) * sizeof(render_batch);
    render_batch *batches = (render_batch *)mote_alloc(renderer->ctx, size_bytes, "points of a picture");
    if (batches == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = cuda_download(renderer->device, batches, renderer->points.batches, size_bytes);
    if (status == MOTE_OK) {
        render_keep_boxes(renderer, batches);
        memcpy(notes, batches + renderer->points.batch_count, sizeof *notes);
    }
    mote_free(renderer->ctx, batches);
    return status;
}

/* ---- load */

static bool reserve_points(mote_renderer *renderer) {
    mote_device *gpu = renderer->device;
    render_points *points = &renderer->points;
    const uint64_t rows = renderer->cloud->count, batches = (rows + RENDER_BATCH - 1) / RENDER_BATCH;
    const uint64_t padded = batches * RENDER_BATCH;
    const char *what = "points of a picture";
    if (points->index != NULL) return true;
    points->apart = RENDER_RECORD;
    points->index_apart = sizeof(render_record) / sizeof(uint32_t);
    points->at[0] = (double *)cuda_alloc(gpu, padded * sizeof(render_record), what);
    points->color = (uint32_t *)cuda_alloc(gpu, padded * sizeof(uint32_t), what);
    points->batches = (render_batch *)cuda_alloc(gpu, (batches + 1) * sizeof(render_batch), what);
    renderer->boxes = (mote_box *)mote_alloc(renderer->ctx, batches * sizeof(mote_box), what);
    bool complete = points->at[0] != NULL && points->color != NULL && points->batches != NULL;
    for (int k = 0; k < 3; k++) {
        points->group_box[k] = (uint32_t *)cuda_alloc(gpu, padded / RENDER_GROUP * sizeof(uint32_t), what);
        complete = complete && points->group_box[k] != NULL;
    }
    points->steps = (uint64_t *)cuda_alloc(gpu, batches * RENDER_BATCH_WORDS * sizeof(uint64_t), what);
    points->group_sums = (uint64_t *)cuda_alloc(gpu, padded / RENDER_GROUP * sizeof(uint64_t), what);
    points->batch_shown = (uint8_t *)cuda_alloc(gpu, batches, what);
    complete = complete && points->steps != NULL && points->group_sums != NULL && points->batch_shown != NULL;
    if (!complete || renderer->boxes == NULL) return false;
    render_record *records = (render_record *)points->at[0];
    points->at[1] = &records->y;
    points->at[2] = &records->z;
    points->index = &records->index;
    return true;
}

static mote_status place_points(mote_renderer *renderer, const render_source *from, const uint32_t *index) {
    mote_device *gpu = renderer->device;
    const render_points *points = &renderer->points;
    const uint64_t end = (uint64_t)points->batch_count * RENDER_BATCH;
    if (points->count == 0) return MOTE_OK;
    CUDA_LAUNCH(gpu, gather, cuda_blocks(end, THREADS), THREADS, from->axes[0], from->axes[1], from->axes[2],
                from->colors, index, *points, end);
    CUDA_LAUNCH(gpu, bound_batches, points->batch_count, BOX_BLOCK, *points);
    launch_steps(renderer);
    return cuda_launched(gpu, "reading points");
}

/* Puts points in order by code alone, as octrees have it (order_cuda.h). */
static mote_status put_in_order_of_codes(mote_renderer *renderer, const render_source *from,
                                         const mote_lattice *lattice, uint64_t skipped, load_notes *notes) {
    mote_device *gpu = renderer->device;
    const render_points points = renderer->points;
    uint64_t *codes = NULL;
    uint32_t *order = NULL;
    MOTE_TRY(cuda_fill(gpu, notes_of(&points), 0, sizeof(render_batch)));
    mote_status status = order_cuda_build(&from->view, lattice, skipped, NULL, &codes, &order, NULL);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, find_shared_code, cuda_blocks(points.count, THREADS), THREADS, codes, points);
        status = place_points(renderer, from, order);
    }
    cuda_free(gpu, codes);
    cuda_free(gpu, order);
    return status == MOTE_OK ? keep_boxes(renderer, notes) : status;
}

static mote_status put_in_order_of_content(mote_renderer *renderer, const render_source *from,
                                           const mote_lattice *lattice, load_notes *notes) {
    mote_device *gpu = renderer->device;
    const render_points points = renderer->points;
    cuda_pairs64 pairs;
    memset(&pairs, 0, sizeof pairs);
    mote_status status = order_pairs_alloc(gpu, from->view.count, &pairs);
    if (status == MOTE_OK) status = sort_by_content(from, lattice, &pairs);
    if (status == MOTE_OK) status = place_points(renderer, from, pairs.values);
    order_pairs_free(gpu, &pairs);
    MOTE_TRY(status);
    CUDA_LAUNCH(gpu, find_shared_place, cuda_blocks(points.count, THREADS), THREADS, points);
    MOTE_TRY(cuda_launched(gpu, "reading points"));
    return keep_boxes(renderer, notes);
}

static mote_status fill_points(mote_renderer *renderer, const render_source *from) {
    mote_context *ctx = renderer->ctx;
    mote_lattice lattice;
    load_notes notes;
    uint64_t skipped = 0;
    mote_stage(ctx, "order");
    MOTE_TRY(order_cuda_lattice(&from->view, &lattice, &skipped));
    MOTE_TRY(mote_progress(ctx, 0.1, "finding the bounds"));
    renderer->points.count = (uint32_t)(renderer->cloud->count - skipped);
    renderer->points.batch_count = (renderer->points.count + RENDER_BATCH - 1) / RENDER_BATCH;
    MOTE_TRY(put_in_order_of_codes(renderer, from, &lattice, skipped, &notes));
    /* Where no code is shared, no place is, either. */
    if (notes.shared_code != 0) MOTE_TRY(put_in_order_of_content(renderer, from, &lattice, &notes));
    renderer->points.tied = notes.shared_place != 0;
    return mote_progress(ctx, 1, "reading points");
}

/* The columns that are read, uploaded where the cloud is on the host. */
static mote_status open_source(mote_renderer *renderer, const uint8_t *rgba, render_source *from) {
    static const char *const names[9] = {"x", "y", "z", "red", "green", "blue", "normal_x", "normal_y", "normal_z"};
    const mote_cloud *cloud = renderer->cloud;
    const mote_column *axes[3];
    mote_column columns[9], channels[3];
    uint32_t found = 0;
    memset(from, 0, sizeof *from);
    MOTE_TRY(mote_cloud_positions(renderer->ctx, cloud, axes));
    from->colors.rgba = rgba;
    from->colors.present =
        rgba == NULL && render_find_colors(renderer->ctx, renderer->cloud, renderer->exposure, channels);
    from->has_normals = true;
    for (int n = 6; n < 9; n++) from->has_normals = from->has_normals && mote_cloud_find(cloud, names[n]) != NULL;
    for (int n = 0; n < 9; n++) {
        if ((n >= 3 && n < 6 && !from->colors.present) || (n >= 6 && !from->has_normals)) continue;
        columns[found++] = n >= 3 && n < 6 ? channels[n - 3] : *mote_cloud_find(cloud, names[n]);
    }
    MOTE_TRY(device_cloud_open_columns(renderer->device, cloud, columns, found, &from->view));
    for (int k = 0; k < 3; k++) {
        from->axes[k] = *device_cloud_find(&from->view, names[k]);
        if (from->colors.present) from->colors.channels[k] = *device_cloud_find(&from->view, names[3 + k]);
        if (from->has_normals) from->normal[k] = *device_cloud_find(&from->view, names[6 + k]);
    }
    return MOTE_OK;
}

static __global__ void copy_column(mote_column column, uint64_t count, float *to) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) to[i] = (float)column_value(&column, i);
}

static void drop_normals(mote_renderer *renderer) {
    render_points *points = &renderer->points;
    for (int k = 0; k < 3; k++) {
        cuda_free(renderer->device, points->normal[k]);
        points->normal[k] = NULL;
    }
    cuda_free(renderer->device, points->spacing);
    points->spacing = NULL;
}

static mote_status reserve_normals(mote_renderer *renderer) {
    render_points *points = &renderer->points;
    const uint64_t size_bytes = renderer->cloud->count * sizeof(float);
    bool complete = true;
    for (int k = 0; k < 3; k++) {
        points->normal[k] = (float *)cuda_alloc(renderer->device, size_bytes, "normals of a picture");
        complete = complete && points->normal[k] != NULL;
    }
    if (!complete) drop_normals(renderer);
    return complete ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status take_normals(mote_renderer *renderer, const render_source *from) {
    const uint64_t rows = renderer->cloud->count;
    drop_normals(renderer);
    if (!from->has_normals) return MOTE_OK;
    MOTE_TRY(reserve_normals(renderer));
    for (int k = 0; k < 3 && rows > 0; k++) {
        CUDA_LAUNCH(renderer->device, copy_column, cuda_blocks(rows, THREADS), THREADS, from->normal[k], rows,
                    renderer->points.normal[k]);
    }
    return cuda_launched(renderer->device, "reading normals");
}

static mote_status load_from(mote_renderer *renderer, const render_source *from) {
    if (!reserve_points(renderer)) return MOTE_ERROR_MEMORY;
    renderer->points.count = renderer->points.batch_count = 0;
    if (renderer->frame != NULL) ((render_frame_cuda *)renderer->frame)->number = 0; /* new batches are marked with 0 */
    render_keep_boxes(renderer, NULL);
    return renderer->cloud->count > 0 ? fill_points(renderer, from) : MOTE_OK;
}

mote_status render_load_cuda(mote_renderer *renderer) {
    render_source from;
    mote_status status = open_source(renderer, NULL, &from);
    if (status == MOTE_OK) status = load_from(renderer, &from);
    if (status == MOTE_OK) status = take_normals(renderer, &from);
    device_cloud_close(&from.view);
    return status;
}

/* Points in one place are in the order of their colours: then all are sorted anew. */
static mote_status recolor(mote_renderer *renderer, const uint8_t *rgba) {
    render_source from;
    mote_device *gpu = renderer->device;
    mote_status status = open_source(renderer, rgba, &from);
    if (status == MOTE_OK && renderer->points.tied) status = load_from(renderer, &from);
    if (status == MOTE_OK && !renderer->points.tied && renderer->points.count > 0) {
        CUDA_LAUNCH(gpu, gather_colors, cuda_blocks(renderer->points.count, THREADS), THREADS, from.colors,
                    renderer->points);
        launch_steps(renderer);
        status = cuda_launched(gpu, "colouring points");
    }
    device_cloud_close(&from.view);
    return status;
}

mote_status render_set_colors_cuda(mote_renderer *renderer, const uint8_t *rgba, bool on_device) {
    mote_device *gpu = renderer->device;
    const uint64_t size_bytes = 4 * renderer->cloud->count;
    if (rgba == NULL || on_device) return recolor(renderer, rgba);
    uint8_t *copy = (uint8_t *)cuda_alloc(gpu, size_bytes, "colours");
    if (copy == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_upload(gpu, copy, rgba, size_bytes);
    if (status == MOTE_OK) status = recolor(renderer, copy);
    cuda_free(gpu, copy);
    return status;
}

static mote_status take_array(mote_device *gpu, float *to, const float *from, uint64_t size_bytes, bool on_device) {
    return on_device ? cuda_copy(gpu, to, from, size_bytes) : cuda_upload(gpu, to, from, size_bytes);
}

mote_status render_set_normals_cuda(mote_renderer *renderer, const float *const normal[3], const float *spacing,
                                    bool on_device) {
    mote_device *gpu = renderer->device;
    render_points *points = &renderer->points;
    const uint64_t size_bytes = renderer->cloud->count * sizeof(float);
    drop_normals(renderer);
    MOTE_TRY(reserve_normals(renderer));
    for (int k = 0; k < 3; k++) MOTE_TRY(take_array(gpu, points->normal[k], normal[k], size_bytes, on_device));
    if (spacing == NULL) return MOTE_OK;
    points->spacing = (float *)cuda_alloc(gpu, size_bytes, "normals of a picture");
    if (points->spacing == NULL) return MOTE_ERROR_MEMORY;
    return take_array(gpu, points->spacing, spacing, size_bytes, on_device);
}

void render_unload_points_cuda(mote_renderer *renderer) {
    mote_device *gpu = renderer->device;
    render_points *points = &renderer->points;
    drop_normals(renderer);
    for (int k = 0; k < 3; k++) { cuda_free(gpu, points->group_box[k]); }
    cuda_free(gpu, points->steps);
    cuda_free(gpu, points->group_sums);
    cuda_free(gpu, points->batch_shown);
    cuda_free(gpu, points->at[0]);
    cuda_free(gpu, points->color);
    cuda_free(gpu, points->batches);
}
