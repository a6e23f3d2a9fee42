/* Neighbours in clouds whose positions, normals, types, scales and parameters are the input's bytes: the grid must
   answer what looking at every point answers, for the points themselves and for other queries, in spheres and
   ellipsoids; shifted sorting must find nothing that is nearer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_support.h"

#define HEADER_BYTES 16
#define MAX_POINTS   700u

static void require(bool condition) {
    if (!condition) abort();
}

typedef struct answer {
    uint32_t *index, *count;
    double *distance2;
} answer;

static mote_status search(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                          const mote_knn_params *params, answer *to) {
    const uint64_t rows = mote_cloud_count(queries != NULL ? queries : cloud);
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    to->index = result.index32 = malloc((rows * params->k + 1) * sizeof *to->index);
    to->distance2 = result.distance2_wide = malloc((rows * params->k + 1) * sizeof *to->distance2);
    to->count = result.count = malloc((rows + 1) * sizeof *to->count);
    require(to->index != NULL && to->distance2 != NULL && to->count != NULL);
    return mote_knn(ctx, cloud, queries, params, &result);
}

static void check_shifted(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries, mote_knn_params params,
                          const answer *exact) {
    const uint64_t cells = mote_cloud_count(queries != NULL ? queries : cloud) * params.k;
    answer found;
    params.method = MOTE_KNN_SHIFTED;
    require(search(ctx, cloud, queries, &params, &found) == MOTE_OK);
    for (uint64_t i = 0; i < cells; i++) require(found.distance2[i] >= exact->distance2[i]);
    free(found.index);
    free(found.distance2);
    free(found.count);
}

static void compare(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries, mote_knn_params params) {
    const uint64_t rows = mote_cloud_count(queries != NULL ? queries : cloud);
    answer grid, brute;
    params.method = MOTE_KNN_GRID;
    const mote_status status = search(ctx, cloud, queries, &params, &grid);
    params.method = MOTE_KNN_BRUTE;
    require(search(ctx, cloud, queries, &params, &brute) == status);
    require(status == MOTE_OK || status == MOTE_ERROR_DATA);
    if (status == MOTE_OK) {
        require(memcmp(grid.index, brute.index, rows * params.k * sizeof *grid.index) == 0);
        require(memcmp(grid.distance2, brute.distance2, rows * params.k * sizeof *grid.distance2) == 0);
        require(memcmp(grid.count, brute.count, rows * sizeof *grid.count) == 0);
        check_shifted(ctx, cloud, queries, params, &grid);
    } else {
        mote_context_clear(ctx);
    }
    free(grid.index);
    free(grid.distance2);
    free(grid.count);
    free(brute.index);
    free(brute.distance2);
    free(brute.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER_BYTES) return 0;
    mote_context_params context = mote_context_defaults();
    context.threads = 1;
    context.device = MOTE_DEVICE_CPU;
    mote_context *ctx = NULL;
    require(mote_context_create(&context, &ctx) == MOTE_OK);
    const size_t part = (size - HEADER_BYTES) / 4; /* queries: the last quarter, in another type if the input says so */
    const uint8_t *positions = data + HEADER_BYTES, *last = data + size - part;
    mote_cloud *cloud = fuzz_cloud(ctx, data, positions, size - HEADER_BYTES - part, MAX_POINTS);
    mote_cloud *queries = fuzz_cloud(ctx, data[6] & 1 ? data : data + 7, last, part, MAX_POINTS);
    mote_knn_params params = mote_knn_defaults();
    params.k = 1 + data[13] % 40u;
    params.radius = data[14] & 1 ? ldexp(1, (int8_t)data[15]) : 0;
    params.exclude_self = (data[14] & 2) != 0;
    compare(ctx, cloud, NULL, params);
    params.exclude_self = false;
    compare(ctx, cloud, queries, params);
    params.compression = ldexp(1, data[13] % 20);
    params.buckets = (data[14] & 4) != 0;
    compare(ctx, cloud, queries, params);
    compare(ctx, cloud, NULL, params);
    mote_cloud_destroy(queries);
    mote_cloud_destroy(cloud);
    require(mote_context_memory_bytes(ctx) == 0);
    mote_context_destroy(ctx);
    return 0;
}
