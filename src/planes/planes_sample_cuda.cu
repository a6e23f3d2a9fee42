/* Some of the points, for the host or to vote. */
#include "backend/cuda_kernel.h"
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

/* place is where out has the places. */
static __global__ void fetch_kernel(const planes_cuda_point *points, uint32_t count, uint32_t *out) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) take_point(points, out[4 * (uint64_t)count + i], out, i, count);
}

/* A warp finds the free point of a rank: its block by the sums, then its place among the block's flags.
   out, kept: where points go, columns or whole; one of them is NULL */
static __global__ void choose_kernel(const planes_cuda_point *points, const uint8_t *free_points,
                                     const uint32_t *first_free, uint32_t blocks, uint32_t point_count,
                                     uint64_t free_count, uint32_t wanted, uint32_t *out, planes_cuda_point *kept) {
    const uint32_t i = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    if (i >= wanted) return;
    const uint64_t rank = (2 * (uint64_t)i + 1) * free_count / (2 * (uint64_t)wanted);
    uint32_t low = 0, high = blocks; /* first_free[low] <= rank < first_free[high] */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (first_free[middle] <= rank) {
            low = middle;
        } else {
            high = middle;
        }
    }
    uint32_t left = (uint32_t)(rank - first_free[low]);
    for (uint32_t k = 0; k < PLANES_CUDA_BLOCK; k += CUDA_WARP) {
        const uint64_t at = (uint64_t)low * PLANES_CUDA_BLOCK + k + lane;
        const uint32_t flags = __ballot_sync(CUDA_ALL, at < point_count && free_points[at] != 0);
        const bool mine = (flags >> lane & 1) != 0 && (uint32_t)__popc(flags & ((1u << lane) - 1)) == left;
        if (mine && out != NULL) take_point(points, (uint32_t)at, out, i, wanted);
        if (mine && kept != NULL) kept[i] = points[at];
        if (left < (uint32_t)__popc(flags)) return; /* all lanes */
        left -= (uint32_t)__popc(flags);
    }
}

static mote_status download_sample(planes_cuda *p, const uint32_t *device, uint32_t count, planes_sample *sample) {
    const uint64_t bytes = count * sizeof(uint32_t);
    uint8_t *host = planes_cuda_scratch(p, SAMPLE_COLUMNS * bytes);
    if (host == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_download(p->base.ctx, host, device, SAMPLE_COLUMNS * bytes));
    memcpy(sample->x, host, bytes);
    memcpy(sample->y, host + bytes, bytes);
    memcpy(sample->z, host + 2 * bytes, bytes);
    memcpy(sample->normal, host + 3 * bytes, bytes);
    memcpy(sample->place, host + 4 * bytes, bytes);
    sample->count = count;
    return MOTE_OK;
}

mote_status planes_fetch_cuda(planes_points *points, const uint32_t *place, uint32_t count, planes_sample *sample) {
    planes_cuda *p = planes_on_cuda(points);
    mote_context *ctx = points->ctx;
    sample->count = 0;
    if (count == 0) return MOTE_OK;
    uint32_t *out = (uint32_t *)cuda_alloc(ctx, SAMPLE_COLUMNS * (uint64_t)count * sizeof *out, "planes sample");
    if (out == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_upload(ctx, out + 4 * (uint64_t)count, place, count * sizeof *place);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(ctx, fetch_kernel, cuda_blocks(count, THREADS), THREADS, p->points, count, out);
        status = cuda_launched(ctx, "fetching points");
    }
    if (status == MOTE_OK) status = download_sample(p, out, count, sample);
    cuda_free(ctx, out);
    return status;
}

static mote_status launch_choice(const planes_cuda *p, uint32_t wanted, uint32_t *out, planes_cuda_point *kept) {
    CUDA_LAUNCH(p->base.ctx, choose_kernel, cuda_blocks(wanted, WARPS), THREADS, p->points, p->free_points,
                p->first_free, p->block_count, p->base.count, p->free_count, wanted, out, kept);
    return cuda_launched(p->base.ctx, "choosing points");
}

/* A sample that stays here, to vote; nothing waits. */
static mote_status choose_voters(planes_cuda *p, uint32_t wanted, planes_sample *sample) {
    mote_context *ctx = p->base.ctx;
    cuda_free(ctx, p->voters);
    p->voters = (planes_cuda_point *)cuda_alloc(ctx, wanted * sizeof *p->voters, "planes sample");
    if (p->voters == NULL) return MOTE_ERROR_MEMORY;
    sample->count = wanted;
    return launch_choice(p, wanted, NULL, p->voters);
}

mote_status planes_choose_cuda(planes_points *points, uint32_t most, planes_sample *sample) {
    planes_cuda *p = planes_on_cuda(points);
    mote_context *ctx = points->ctx;
    const uint32_t wanted = p->free_count < most ? (uint32_t)p->free_count : most;
    sample->count = 0;
    if (wanted == 0) return MOTE_OK;
    if (sample->x == NULL) return choose_voters(p, wanted, sample);
    uint32_t *out = (uint32_t *)cuda_alloc(ctx, SAMPLE_COLUMNS * (uint64_t)wanted * sizeof *out, "planes sample");
    if (out == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = launch_choice(p, wanted, out, NULL);
    if (status == MOTE_OK) status = download_sample(p, out, wanted, sample);
    cuda_free(ctx, out);
    return status;
}
