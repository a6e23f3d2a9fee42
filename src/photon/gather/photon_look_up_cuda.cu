/* What final gathering is told, on a GPU: rows of the known photons around each place, of which a lane takes what is
   known at one of them. */
#include "core/cloud.h"
#include "device/cuda/cuda_kernel.cuh"
#include "knn/knn.h"
#include "photon/gather/photon_gather_cuda.h"
#include "photon/gather/photon_look_up.h"

#define THREADS 128u

typedef struct look_up_args {
    photon_view scene;
    photon_known known;
    photon_query_columns queries;
    const photon_sample *rays; /* [queries] that ended there */
    const uint32_t *index;     /* [queries][PHOTON_LOOK_UP_K] */
    float *irradiance;         /* [3 · queries], zeros */
    uint8_t *unknown;          /* [queries] out */
} look_up_args;

static __device__ inline photon_place read_place(const look_up_args *args, uint64_t row) {
    const photon_vec at =
        photon_vec_of(column_value(&args->queries.axes[0], row), column_value(&args->queries.axes[1], row),
                      column_value(&args->queries.axes[2], row));
    float normal[3];
    photon_read_normal(&args->queries, row, normal);
    return photon_place_of(at, normal, args->rays[row].length, args->index + row * PHOTON_LOOK_UP_K);
}

static __global__ __launch_bounds__(THREADS) void take_known(const look_up_args args, uint64_t count) {
    const uint64_t row = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (row >= count) return;
    args.unknown[row] = 0;
    if (!photon_sample_seen(&args.rays[row])) return;
    const photon_place place = read_place(&args, row);
    const uint32_t found = photon_find_known(&args.scene, &args.known, &place);
    if (found == PHOTON_LOOK_UP_K) {
        args.unknown[row] = 1;
        return;
    }
    const float *const from = args.known.irradiance + 3ull * place.near[found];
    for (uint32_t k = 0; k < 3; k++) args.irradiance[3 * row + k] = from[k];
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

mote_status photon_look_up_on_cuda(mote_device *gpu, const mote_scene *scene, const photon_cloud *known,
                                   const mote_cloud *queries, const photon_sample *rays,
                                   const mote_photon_gathering *params, float *irradiance, uint8_t *unknown) {
    const uint64_t count = mote_cloud_count(queries);
    device_cloud device;
    look_up_args args;
    if (count == 0) return MOTE_OK;
    memset(&device, 0, sizeof device);
    memset(&args, 0, sizeof args);
    args.scene = scene->cuda->view;
    args.known = photon_known_of(known, params);
    args.rays = rays;
    args.irradiance = irradiance;
    args.unknown = unknown;
    MOTE_TRY(cuda_fill(gpu, irradiance, 0, 3 * count * sizeof *irradiance));
    uint32_t *const index = (uint32_t *)cuda_alloc(gpu, count * PHOTON_LOOK_UP_K * sizeof *index, "photon rows");
    if (index == NULL) return MOTE_ERROR_MEMORY;
    args.index = index;
    mote_status status = photon_open_queries(gpu, queries, &device, &args.queries);
    if (status == MOTE_OK) status = search_rows(gpu, known, queries, index);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, take_known, cuda_blocks(count, THREADS), THREADS, args, count);
        status = cuda_launched(gpu, "final gathering");
    }
    device_cloud_close(&device);
    cuda_free(gpu, index);
    return status;
}
