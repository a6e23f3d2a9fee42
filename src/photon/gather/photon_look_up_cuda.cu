/* What final gathering is told, on a GPU: rows of the known photons around each place, of which a lane takes what is
   known at one of them. The few places where none is accepted are collected, and light is gathered there in a second
   search, among all photons, so that the lanes of a warp do alike. */
#include "core/cloud.h"
#include "device/cuda/cuda_kernel.cuh"
#include "knn/knn.h"
#include "photon/gather/photon_gather_cuda.h"
#include "photon/gather/photon_look_up.h"

#define THREADS 128u

typedef struct look_up_args {
    photon_view scene;
    photon_known known;
    const photon_record *records; /* of all photons */
    photon_query_columns queries;
    const uint32_t *index; /* [queries][PHOTON_LOOK_UP_K] */
    float *irradiance;     /* [3 · queries], zeros */
    uint8_t *unknown;      /* [queries] zeros; out: none of the photons is accepted */
} look_up_args;

static __device__ inline photon_place read_place(const look_up_args *args, uint64_t row) {
    const photon_vec at =
        photon_vec_of(column_value(&args->queries.axes[0], row), column_value(&args->queries.axes[1], row),
                      column_value(&args->queries.axes[2], row));
    float normal[3];
    photon_read_normal(&args->queries, row, normal);
    return photon_place_of(at, normal, args->index + row * PHOTON_LOOK_UP_K);
}

static __global__ __launch_bounds__(THREADS) void take_known(const look_up_args args, uint64_t count) {
    const uint64_t row = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (row >= count || args.index[row * PHOTON_LOOK_UP_K] == UINT32_MAX) return;
    const photon_place place = read_place(&args, row);
    const uint32_t found = photon_find_known(&args.scene, &args.known, &place);
    if (found == PHOTON_LOOK_UP_K) {
        args.unknown[row] = 1;
        return;
    }
    const float *const from = args.known.irradiance + 3ull * place.near[found];
    for (uint32_t k = 0; k < 3; k++) args.irradiance[3 * row + k] = from[k];
}

/* rows: which of all places these are. */
static __global__ __launch_bounds__(THREADS) void gather_places(const look_up_args args, const uint32_t *rows,
                                                                uint64_t count, float *irradiance) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const photon_place place = read_place(&args, i);
    photon_gather_near(&args.scene, args.records, args.known.compression, &place, irradiance + 3ull * rows[i]);
}

/* The nearest photons of each query: index, [queries][PHOTON_LOOK_UP_K]. */
static mote_status search_rows(mote_device *gpu, const photon_cloud *photons, const mote_cloud *queries,
                               uint32_t *index) {
    knn_cuda_query_set query_set;
    knn_search_args args;
    memset(&args, 0, sizeof args);
    mote_status status = knn_cuda_query_set_open(photons->index, queries, &query_set);
    if (status == MOTE_OK) {
        args.tree = *query_set.tree;
        args.queries = query_set.points;
        args.end = args.queries.count;
        args.k = PHOTON_LOOK_UP_K;
        args.keys = args.tree.metric;
        args.limit = knn_key_limit(&args.tree.metric, 0);
        args.deferred_buffers = &photons->index->cuda->deferred_buffers;
        args.rows.index32 = index;
        status = knn_cuda_search_small_k(gpu, &args);
    }
    knn_cuda_query_set_close(gpu, &query_set);
    return status;
}

/* Light at the places where none of the known photons is accepted. index: of all queries, used once more */
static mote_status gather_unknown(mote_device *gpu, const look_up_args *args, const photon_cloud *all,
                                  const uint32_t *rows, uint64_t count, uint32_t *index) {
    look_up_args some = *args;
    mote_cloud *subset = NULL;
    device_cloud device;
    memset(&device, 0, sizeof device);
    uint8_t *const memory = (uint8_t *)cuda_alloc(gpu, PHOTON_QUERY_AXES * count * sizeof(double), "photon queries");
    mote_status status = memory != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = photon_wrap_subset(gpu, &args->queries, rows, count, memory, &subset);
    if (status == MOTE_OK) status = search_rows(gpu, all, subset, index);
    if (status == MOTE_OK) status = photon_open_queries(gpu, subset, &device, &some.queries);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, gather_places, cuda_blocks(count, THREADS), THREADS, some, rows, count, args->irradiance);
        status = cuda_launched(gpu, "final gathering");
    }
    device_cloud_close(&device);
    mote_cloud_destroy(subset);
    cuda_free(gpu, memory);
    return status;
}

/* The arrays of all queries in one piece of memory: found, index, rows, unknown. */
static mote_status look_up_queries(mote_device *gpu, look_up_args *args, const photon_cloud *known,
                                   const photon_cloud *all, const mote_cloud *queries) {
    const uint64_t count = mote_cloud_count(queries), row_bytes = (PHOTON_LOOK_UP_K + 1) * sizeof(uint32_t) + 1;
    uint64_t unknown = 0;
    uint64_t *const found = (uint64_t *)cuda_alloc(gpu, sizeof *found + count * row_bytes, "photon rows");
    if (found == NULL) return MOTE_ERROR_MEMORY;
    uint32_t *const index = (uint32_t *)(found + 1), *const rows = index + count * PHOTON_LOOK_UP_K;
    args->index = index;
    args->unknown = (uint8_t *)(rows + count);
    mote_status status = cuda_fill(gpu, args->unknown, 0, count);
    if (status == MOTE_OK) status = search_rows(gpu, known, queries, index);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, take_known, cuda_blocks(count, THREADS), THREADS, *args, count);
        status = cuda_launched(gpu, "final gathering");
    }
    if (status == MOTE_OK) status = cuda_select(gpu, args->unknown, count, rows, found);
    if (status == MOTE_OK) status = cuda_download(gpu, &unknown, found, sizeof unknown);
    if (status == MOTE_OK && unknown > 0) status = gather_unknown(gpu, args, all, rows, unknown, index);
    cuda_free(gpu, found);
    return status;
}

mote_status photon_look_up_on_cuda(mote_device *gpu, const mote_scene *scene, const photon_cloud *known,
                                   const photon_cloud *all, const mote_cloud *queries,
                                   const mote_photon_gathering *params, float *irradiance) {
    device_cloud device;
    look_up_args args;
    if (mote_cloud_count(queries) == 0) return MOTE_OK;
    memset(&device, 0, sizeof device);
    memset(&args, 0, sizeof args);
    args.scene = scene->cuda->view;
    args.known = photon_known_of(known, params);
    args.records = all->records;
    args.irradiance = irradiance;
    MOTE_TRY(cuda_fill(gpu, irradiance, 0, 3 * mote_cloud_count(queries) * sizeof *irradiance));
    mote_status status = photon_open_queries(gpu, queries, &device, &args.queries);
    if (status == MOTE_OK) status = look_up_queries(gpu, &args, known, all, queries);
    device_cloud_close(&device);
    return status;
}
