/* Normals and mean distances on the GPU: arrays of the device, and which search they come from. */
#include "normals/normals_cuda.cuh"

#include "core/cloud.h"
#include "device/cuda/cuda_kernel.cuh"
#include "normals/normals_math.h"

/* ---- arrays that the caller wants */

#define ARRAYS 7

/* An array of the caller's, and where the device writes it. */
typedef struct wanted_array {
    void *wanted, *written;
    uint64_t size_bytes;
} wanted_array;

static mote_status make_arrays(mote_device *gpu, bool on_device, wanted_array *arrays, int count) {
    for (int i = 0; i < count; i++) {
        wanted_array *a = &arrays[i];
        if (a->wanted == NULL) continue;
        a->written = on_device ? a->wanted : cuda_alloc(gpu, a->size_bytes, "normals");
        if (a->written == NULL) return MOTE_ERROR_MEMORY;
    }
    return MOTE_OK;
}

static mote_status fetch_arrays(mote_device *gpu, const wanted_array *arrays, int count) {
    for (int i = 0; i < count; i++) {
        if (arrays[i].wanted == arrays[i].written) continue;
        MOTE_TRY(cuda_download(gpu, arrays[i].wanted, arrays[i].written, arrays[i].size_bytes));
    }
    return MOTE_OK;
}

static void free_arrays(mote_device *gpu, wanted_array *arrays, int count) {
    for (int i = 0; i < count; i++) {
        if (arrays[i].wanted != arrays[i].written) cuda_free(gpu, arrays[i].written);
    }
}

/* ---- the search */

/* The most neighbours of any point where the radius alone bounds them: a first walk counts, the second has room. */
static mote_status count_max(mote_device *gpu, const knn_search_args *given, uint32_t *max) {
    knn_search_args args = *given;
    args.rows.count = (uint32_t *)cuda_alloc(gpu, (uint64_t)args.end * sizeof(uint32_t), "neighbour counts");
    if (args.rows.count == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = knn_cuda_count_within(gpu, &args);
    if (status == MOTE_OK) status = normals_cuda_max(gpu, args.rows.count, args.end, max);
    cuda_free(gpu, args.rows.count);
    return status;
}

/* ---- normals */

static void set_shapes(const mote_knn_index *index, const mote_normals_params *params, normals_cuda_shapes *to) {
    const knn_metric *metric = &index->cuda->stored.tree.metric;
    to->graph_k = params->graph_k;
    to->orient = params->orient;
    memcpy(to->viewpoint, params->viewpoint, sizeof to->viewpoint);
    memcpy(to->axes, index->cuda->stored.reading.axes, sizeof to->axes);
    for (int k = 0; k < 3; k++) to->unit[k] = normals_unit(metric->scale[k], metric->norm);
    to->k = params->k;
    to->radius = params->radius;
}

static mote_status shape_points(mote_knn_index *index, knn_search_args *args, const normals_cuda_shapes *to) {
    mote_device *gpu = index->device;
    if (args->end == 0) return MOTE_OK;
    if (args->k == 0) {
        MOTE_TRY(count_max(gpu, args, &args->k));
        if (args->k > MOTE_KNN_MAX_K) return normals_cuda_shape_all(gpu, args, args->k, to);
        if (args->k == 0) args->k = 1; /* no point has a finite position */
    }
    if (args->k > KNN_CUDA_SMALL_K) return normals_cuda_shape_large_k(gpu, args, to);
    return normals_cuda_shape_small_k(gpu, args, to);
}

static mote_status estimate_into(mote_knn_index *index, const mote_normals_params *params, mote_normals_result *result,
                                 const wanted_array arrays[ARRAYS], unsigned long long *counter) {
    mote_device *gpu = index->device;
    unsigned long long without = 0;
    knn_search_args args = knn_visit_args(index, params->k, params->radius, false);
    normals_cuda_shapes to;
    memset(&to, 0, sizeof to);
    if (counter != NULL) MOTE_TRY(cuda_fill(gpu, counter, 0, sizeof *counter));
    set_shapes(index, params, &to);
    to.normal_x = (float *)arrays[0].written;
    to.normal_y = (float *)arrays[1].written;
    to.normal_z = (float *)arrays[2].written;
    to.curvature = (float *)arrays[3].written;
    to.surface_density = (float *)arrays[4].written;
    to.volume_density = (float *)arrays[5].written;
    to.graph = (uint32_t *)arrays[6].written;
    to.without = counter;
    to.wants_shape = to.normal_x != NULL || to.curvature != NULL;
    MOTE_TRY(shape_points(index, &args, &to));
    if (result->on_device) return MOTE_OK;
    MOTE_TRY(fetch_arrays(gpu, arrays, ARRAYS));
    if (counter != NULL) MOTE_TRY(cuda_download(gpu, &without, counter, sizeof without));
    result->without = without;
    return knn_cuda_count_skipped(index);
}

static mote_status cuda_estimate(mote_knn_index *index, const mote_normals_params *params, mote_normals_result *result,
                                 uint32_t *graph) {
    mote_device *gpu = index->device;
    const uint64_t bytes = index->cloud->count * sizeof(float);
    wanted_array arrays[ARRAYS] = {{result->normal_x, NULL, bytes},        {result->normal_y, NULL, bytes},
                                   {result->normal_z, NULL, bytes},        {result->curvature, NULL, bytes},
                                   {result->surface_density, NULL, bytes}, {result->volume_density, NULL, bytes},
                                   {graph, NULL, params->graph_k * bytes}};
    const bool counts = !result->on_device && result->normal_x != NULL;
    unsigned long long *counter = NULL; /* of points without a normal */
    result->without = 0;
    mote_stage(gpu->ctx, "normals");
    mote_status status = make_arrays(gpu, result->on_device, arrays, ARRAYS);
    if (status == MOTE_OK && counts) {
        counter = (unsigned long long *)cuda_alloc(gpu, sizeof *counter, "normals");
        if (counter == NULL) status = MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) status = estimate_into(index, params, result, arrays, counter);
    cuda_free(gpu, counter);
    free_arrays(gpu, arrays, ARRAYS);
    return status != MOTE_OK ? status : mote_progress(gpu->ctx, 1.0, "searching neighbours");
}

/* ---- mean distances */

static mote_status measure_into(mote_knn_index *index, const knn_search_args *args, const wanted_array arrays[2]) {
    mote_device *gpu = index->device;
    const normals_cuda_distances to = {(double *)arrays[0].written, (uint32_t *)arrays[1].written};
    if (args->end > 0) {
        MOTE_TRY(args->k > KNN_CUDA_SMALL_K ? normals_cuda_measure_large_k(gpu, args, &to)
                                            : normals_cuda_measure_small_k(gpu, args, &to));
    }
    MOTE_TRY(fetch_arrays(gpu, arrays, 2));
    return knn_cuda_count_skipped(index);
}

static mote_status cuda_distances(mote_knn_index *index, uint32_t k, double radius, double *mean, uint32_t *count) {
    mote_device *gpu = index->device;
    const uint64_t points = index->cloud->count;
    const knn_search_args args = knn_visit_args(index, k, radius, true);
    wanted_array arrays[2] = {{mean, NULL, points * sizeof *mean}, {count, NULL, points * sizeof *count}};
    mote_stage(gpu->ctx, "distances");
    mote_status status = make_arrays(gpu, false, arrays, 2);
    if (status == MOTE_OK) status = measure_into(index, &args, arrays);
    free_arrays(gpu, arrays, 2);
    return status != MOTE_OK ? status : mote_progress(gpu->ctx, 1.0, "searching neighbours");
}

const mote_normals_ops mote_normals_on_cuda = {cuda_estimate, cuda_distances};
