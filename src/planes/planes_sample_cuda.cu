/* Free points, evenly spaced in the order: for the host, or to vote. */
#include "device/cuda/warp.cuh"
#include "math/search.h"
#include "planes/planes_cuda.h"

#define THREADS PLANES_CUDA_BLOCK
#define WARPS   (THREADS / CUDA_WARP)

/* A warp finds the free point of a rank: its block by the sums, then its place among the block's flags.
   chosen  [wanted] out, and behind them as many places */
static __global__ void choose_kernel(const planes_cuda_point *points, const uint8_t *free_points,
                                     const uint32_t *first_free, uint32_t blocks, uint32_t point_count,
                                     uint64_t free_count, uint32_t wanted, planes_cuda_point *chosen) {
    const uint32_t i = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    if (i >= wanted) return;
    const uint64_t rank = (2 * (uint64_t)i + 1) * free_count / (2 * (uint64_t)wanted);
    const uint32_t low = mote_lower_bound32(first_free, blocks, (uint32_t)rank + 1) - 1;
    uint32_t remaining = (uint32_t)(rank - first_free[low]);
    for (uint32_t k = 0; k < PLANES_CUDA_BLOCK; k += CUDA_WARP) {
        const uint64_t at = (uint64_t)low * PLANES_CUDA_BLOCK + k + lane;
        const uint32_t flags = __ballot_sync(CUDA_ALL, at < point_count && free_points[at] != 0);
        if ((flags >> lane & 1) != 0 && warp_rank(flags) == remaining) {
            chosen[i] = points[at];
            ((uint32_t *)(void *)(chosen + wanted))[i] = (uint32_t)at;
        }
        if (remaining < (uint32_t)__popc(flags)) return; /* all lanes */
        remaining -= (uint32_t)__popc(flags);
    }
}

static __global__ void gather_places(const planes_cuda_point *points, const uint32_t *places, uint32_t count,
                                     planes_cuda_point *chosen) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) chosen[i] = points[places[i]];
}

static uint32_t count_chosen(const planes_cuda *p, uint32_t max) {
    return p->free_count < max ? (uint32_t)p->free_count : max;
}

/* Nothing waits. */
static mote_status choose(const planes_cuda *p, uint32_t wanted, planes_cuda_point **chosen) {
    const uint64_t bytes = wanted * (sizeof **chosen + sizeof(uint32_t));
    *chosen = (planes_cuda_point *)cuda_alloc(p->base.device, bytes, "planes sample");
    if (*chosen == NULL) return MOTE_ERROR_MEMORY;
    if (wanted == 0) return MOTE_OK;
    CUDA_LAUNCH(p->base.device, choose_kernel, cuda_blocks(wanted, WARPS), THREADS, p->points, p->free_points,
                p->first_free, p->block_count, p->base.count, p->free_count, wanted, *chosen);
    return cuda_launched(p->base.device, "choosing points");
}

/* Brings points to the host, and if they have places behind them, those. */
static mote_status download(planes_cuda *p, const planes_cuda_point *device, bool places, uint32_t count,
                            planes_sample *sample) {
    const uint64_t point_bytes = count * sizeof *device, place_bytes = places ? count * sizeof(uint32_t) : 0;
    uint8_t *host = planes_cuda_scratch(p, point_bytes + place_bytes);
    if (host == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_download(p->base.device, host, device, point_bytes + place_bytes));
    const planes_cuda_point *points = (const planes_cuda_point *)(const void *)host;
    for (uint32_t i = 0; i < count; i++) {
        sample->x[i] = points[i].x;
        sample->y[i] = points[i].y;
        sample->z[i] = points[i].z;
        sample->normal[i] = points[i].normal;
    }
    memcpy(sample->place, host + point_bytes, place_bytes);
    sample->count = count;
    return MOTE_OK;
}

mote_status planes_choose_voters_cuda(planes_cuda *p, uint32_t max) {
    cuda_free(p->base.device, p->voters);
    p->voters = NULL;
    p->voter_count = count_chosen(p, max);
    return p->voter_count < p->base.count ? choose(p, p->voter_count, &p->voters) : MOTE_OK;
}

mote_status planes_read_voters_cuda(planes_points *points, planes_sample *voters) {
    planes_cuda *p = planes_on_cuda(points);
    if (p->read_voters.capacity < p->voter_count) {
        planes_sample_free(points->ctx, &p->read_voters);
        MOTE_TRY(planes_sample_make(points->ctx, p->voter_count, &p->read_voters));
    }
    MOTE_TRY(download(p, p->voters != NULL ? p->voters : p->points, false, p->voter_count, &p->read_voters));
    *voters = p->read_voters;
    return MOTE_OK;
}

mote_status planes_read_sample_cuda(planes_points *points, uint32_t max, planes_sample *sample) {
    planes_cuda *p = planes_on_cuda(points);
    const uint32_t wanted = count_chosen(p, max);
    planes_cuda_point *chosen = NULL;
    sample->count = 0;
    if (wanted == 0) return MOTE_OK;
    mote_status status = choose(p, wanted, &chosen);
    if (status == MOTE_OK) status = download(p, chosen, true, wanted, sample);
    cuda_free(points->device, chosen);
    return status;
}

mote_status planes_read_places_cuda(planes_points *points, planes_sample *sample) {
    planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    const uint32_t count = sample->count;
    if (count == 0) return MOTE_OK;
    planes_cuda_point *chosen = (planes_cuda_point *)cuda_alloc(gpu, count * sizeof *chosen, "planes sample");
    uint32_t *places = (uint32_t *)cuda_alloc(gpu, count * sizeof *places, "planes sample");
    mote_status status = mote_context_status(gpu->ctx);
    if (status == MOTE_OK) status = cuda_upload(gpu, places, sample->place, count * sizeof *places);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, gather_places, cuda_blocks(count, THREADS), THREADS, p->points, places, count, chosen);
        status = cuda_launched(gpu, "points of windows");
    }
    if (status == MOTE_OK) status = download(p, chosen, false, count, sample);
    cuda_free(gpu, places);
    cuda_free(gpu, chosen);
    return status;
}
