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

static __device__ inline void take(const look_up_args *args, uint64_t row, uint32_t photon) {
    const float *const from = args->known.irradiance + 3ull * photon;
    for (uint32_t k = 0; k < 3; k++) args->irradiance[3 * row + k] = from[k];
}

/* At most places the nearest photon is known to hold without a ray. */
static __global__ __launch_bounds__(THREADS) void take_nearest(const look_up_args args, uint64_t count) {
    const uint64_t row = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (row >= count) return;
    args.unknown[row] = 0;
    if (!photon_sample_seen(&args.rays[row])) return;
    const photon_place place = read_place(&args, row);
    if (photon_nearest_holds(&args.scene, &args.known, &place)) {
        take(&args, row, place.near[0]);
    } else {
        args.unknown[row] = 1;
    }
}

/* rows: [*count] the others */
static __global__ __launch_bounds__(THREADS) void take_known(const look_up_args args, const uint32_t *rows,
                                                             const uint64_t *count) {
    const uint64_t stride = (uint64_t)gridDim.x * THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < *count; i += stride) {
        const photon_place place = read_place(&args, rows[i]);
        const uint32_t found = photon_find_known(&args.scene, &args.known, &place);
        if (found == PHOTON_LOOK_UP_K) continue;
        args.unknown[rows[i]] = 0;
        take(&args, rows[i], place.near[found]);
    }
}

/* The others are collected: one of them would keep all lanes of its warp for as long as it takes to ask all of its
   photons, and rays take many registers. memory: 4 bytes for each query, and 8 */
static mote_status take_all(mote_device *gpu, const look_up_args *args, uint64_t count, uint64_t *memory) {
    uint32_t *const rows = (uint32_t *)(memory + 1);
    CUDA_LAUNCH(gpu, take_nearest, cuda_blocks(count, THREADS), THREADS, *args, count);
    MOTE_TRY(cuda_launched(gpu, "final gathering"));
    MOTE_TRY(cuda_select(gpu, args->unknown, count, rows, memory));
    CUDA_LAUNCH(gpu, take_known, cuda_blocks(count, 8 * THREADS), THREADS, *args, rows, memory);
    return cuda_launched(gpu, "final gathering");
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
                                   const mote_cloud *queries, const photon_sample *rays, float *irradiance,
                                   uint8_t *unknown) {
    const uint64_t count = mote_cloud_count(queries);
    device_cloud device;
    look_up_args args;
    if (count == 0) return MOTE_OK;
    memset(&device, 0, sizeof device);
    memset(&args, 0, sizeof args);
    args.scene = scene->cuda->view;
    args.known = photon_known_of(known);
    args.rays = rays;
    args.irradiance = irradiance;
    args.unknown = unknown;
    MOTE_TRY(cuda_fill(gpu, irradiance, 0, 3 * count * sizeof *irradiance));
    const uint64_t row_bytes = (1 + PHOTON_LOOK_UP_K) * sizeof(uint32_t);
    uint32_t *const index = (uint32_t *)cuda_alloc(gpu, count * row_bytes + sizeof(uint64_t), "photon rows");
    if (index == NULL) return MOTE_ERROR_MEMORY;
    args.index = index;
    mote_status status = photon_open_queries(gpu, queries, &device, &args.queries);
    if (status == MOTE_OK) status = search_rows(gpu, known, queries, index);
    if (status == MOTE_OK) status = take_all(gpu, &args, count, (uint64_t *)(index + count * PHOTON_LOOK_UP_K));
    device_cloud_close(&device);
    cuda_free(gpu, index);
    return status;
}
