/* Free points, evenly spaced in the order: for the host, or to vote. */
#include "device/cuda/warp.cuh"
#include "math/search.h"
#include "planes/planes_cuda.h"

#define THREADS PLANES_CUDA_BLOCK
#define WARPS   (THREADS / CUDA_WARP)

/* Columns of a sample on the device, one behind the other: x y z, normal, place. */
#define SAMPLE_COLUMNS 5u

static __device__ inline void take_point(const planes_cuda_point *points, uint32_t at, uint32_t *out, uint32_t i,
                                         uint32_t count) {
    const uint4 raw = *(const uint4 *)(const void *)&points[at];
    out[i] = raw.x;
    out[count + i] = raw.y;
    out[2 * (uint64_t)count + i] = raw.z;
    out[3 * (uint64_t)count + i] = raw.w;
    out[4 * (uint64_t)count + i] = at;
}

/* A warp finds the free point of a rank: its block by the sums, then its place among the block's flags.
   out, kept: where points go, columns or whole; one of them is NULL */
static __global__ void choose_kernel(const planes_cuda_point *points, const uint8_t *free_points,
                                     const uint32_t *first_free, uint32_t blocks, uint32_t point_count,
                                     uint64_t free_count, uint32_t wanted, uint32_t *out, planes_cuda_point *kept) {
    const uint32_t i = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    if (i >= wanted) return;
    const uint64_t rank = (2 * (uint64_t)i + 1) * free_count / (2 * (uint64_t)wanted);
    const uint32_t low = mote_lower_bound32(first_free, blocks, (uint32_t)rank + 1) - 1;
    uint32_t remaining = (uint32_t)(rank - first_free[low]);
    for (uint32_t k = 0; k < PLANES_CUDA_BLOCK; k += CUDA_WARP) {
        const uint64_t at = (uint64_t)low * PLANES_CUDA_BLOCK + k + lane;
        const uint32_t flags = __ballot_sync(CUDA_ALL, at < point_count && free_points[at] != 0);
        const bool mine = (flags >> lane & 1) != 0 && warp_rank(flags) == remaining;
        if (mine && out != NULL) take_point(points, (uint32_t)at, out, i, wanted);
        if (mine && kept != NULL) kept[i] = points[at];
        if (remaining < (uint32_t)__popc(flags)) return; /* all lanes */
        remaining -= (uint32_t)__popc(flags);
    }
}

static mote_status download_sample(planes_cuda *p, const uint32_t *device, uint32_t count, planes_sample *sample) {
    const uint64_t bytes = count * sizeof(uint32_t);
    uint8_t *host = planes_cuda_scratch(p, SAMPLE_COLUMNS * bytes);
    if (host == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_download(p->base.device, host, device, SAMPLE_COLUMNS * bytes));
    memcpy(sample->x, host, bytes);
    memcpy(sample->y, host + bytes, bytes);
    memcpy(sample->z, host + 2 * bytes, bytes);
    memcpy(sample->normal, host + 3 * bytes, bytes);
    memcpy(sample->place, host + 4 * bytes, bytes);
    sample->count = count;
    return MOTE_OK;
}

static mote_status launch_choice(const planes_cuda *p, uint32_t wanted, uint32_t *out, planes_cuda_point *kept) {
    CUDA_LAUNCH(p->base.device, choose_kernel, cuda_blocks(wanted, WARPS), THREADS, p->points, p->free_points,
                p->first_free, p->block_count, p->base.count, p->free_count, wanted, out, kept);
    return cuda_launched(p->base.device, "choosing points");
}

static uint32_t count_chosen(const planes_cuda *p, uint32_t max) {
    return p->free_count < max ? (uint32_t)p->free_count : max;
}

/* Nothing waits. */
mote_status planes_choose_voters_cuda(planes_cuda *p, uint32_t max) {
    mote_device *gpu = p->base.device;
    cuda_free(gpu, p->voters);
    p->voters = NULL;
    p->voter_count = count_chosen(p, max);
    if (p->voter_count == p->base.count) return MOTE_OK;
    p->voters = (planes_cuda_point *)cuda_alloc(gpu, p->voter_count * sizeof *p->voters, "planes sample");
    if (p->voters == NULL) return MOTE_ERROR_MEMORY;
    return p->voter_count > 0 ? launch_choice(p, p->voter_count, NULL, p->voters) : MOTE_OK;
}

mote_status planes_read_sample_cuda(planes_points *points, uint32_t max, planes_sample *sample) {
    planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    const uint32_t wanted = count_chosen(p, max);
    sample->count = 0;
    if (wanted == 0) return MOTE_OK;
    uint32_t *out = (uint32_t *)cuda_alloc(gpu, SAMPLE_COLUMNS * (uint64_t)wanted * sizeof *out, "planes sample");
    if (out == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = launch_choice(p, wanted, out, NULL);
    if (status == MOTE_OK) status = download_sample(p, out, wanted, sample);
    cuda_free(gpu, out);
    return status;
}
