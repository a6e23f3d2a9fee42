/* Refining winners on the GPU: a block has a winner, all of a batch run side by side, and one block then accepts what
   stands, one candidate after the other. Nothing waits for the host before all batches are done. */
#include "planes/fit/planes_refine_cuda.h"

#define POOL_BYTES (64u << 20) /* of all blocks that run at once, if that is enough for one */

/* ---- refining */

/* first: the winner that the batch begins with; skip: how many of the batch ran before. */
static __global__ void refine_kernel(refine_job job, uint32_t first, uint32_t skip) {
    __shared__ refine_state s;
    const uint32_t in_batch = skip + blockIdx.x;
    const planes_start *start = &job.starts[first + in_batch];
    if (job.accepted->count >= job.how.most) return;
    refine(&job, start, job.pool + (uint64_t)blockIdx.x * job.count, &s);
    __syncthreads();
    const bool valid = s.r.fit.valid;
    if (threadIdx.x == 0) s.plane = planes_plane_from(&s.r.fit, job.how.tolerance, job.how.guard, job.how.cone);
    __syncthreads();
    if (valid) mark(&job, masks_of(&job, in_batch), &s);
    if (threadIdx.x != 0) return;
    planes_candidate c;
    memset(&c, 0, sizeof c);
    c.fit = s.r.fit;
    c.votes = start->votes;
    if (valid) {
        c.count = s.counts[PLANES_MASK_IN];
        c.inner = s.counts[PLANES_MASK_INNER];
        c.beside[0] = s.counts[PLANES_MASK_BELOW];
        c.beside[1] = s.counts[PLANES_MASK_ABOVE];
    }
    job.batch[in_batch] = c;
}

/* ---- accepting */

/* What one block shares that tries candidates one after the other. */
typedef struct accept_state {
    uint32_t order[PLANES_WINNERS];
    bool possible[PLANES_WINNERS], stands[PLANES_WINNERS]; /* as long as no other is accepted */
    unsigned long long of_warp[REFINE_WARPS][2];
    uint32_t counts[4]; /* of the candidate */
} accept_state;

static __device__ inline unsigned long long sum_of_warp(unsigned long long value, uint32_t lanes) {
    for (uint32_t away = lanes / 2; away > 0; away /= 2) value += __shfl_xor_sync(CUDA_ALL, value, (int)away);
    return value;
}

/* Four counts of free points, two in a number. Every thread has its own words, here and in claim. */
static __device__ void count_masks(const refine_job *job, const uint32_t *masks, accept_state *s) {
    const uint32_t warp = threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    unsigned long long counts[2] = {0, 0};
    for (uint32_t w = threadIdx.x; w < job->words; w += REFINE_THREADS) {
        const uint32_t open = job->free_points[w];
        for (uint32_t m = 0; m < 4; m++) {
            const uint32_t mask = masks[(uint64_t)m * job->words + w];
            counts[m / 2] += (unsigned long long)__popc(mask & open) << (m % 2 * 32);
        }
    }
    for (uint32_t k = 0; k < 2; k++) {
        const unsigned long long all = sum_of_warp(counts[k], CUDA_WARP);
        if (lane == 0) s->of_warp[warp][k] = all;
    }
    __syncthreads();
    if (warp == 0) {
        for (uint32_t k = 0; k < 2; k++) {
            const unsigned long long all = sum_of_warp(s->of_warp[lane % REFINE_WARPS][k], REFINE_WARPS);
            if (lane == 0) s->counts[2 * k] = (uint32_t)all;
            if (lane == 0) s->counts[2 * k + 1] = (uint32_t)(all >> 32);
        }
    }
    __syncthreads();
}

static __device__ inline void claim(const refine_job *job, const uint32_t *masks) {
    const uint32_t *guard = masks + (uint64_t)PLANES_MASK_GUARD * job->words;
    for (uint32_t w = threadIdx.x; w < job->words; w += REFINE_THREADS) job->free_points[w] &= ~guard[w];
}

static __device__ void sort_batch(const refine_job *job, uint32_t size, accept_state *s) {
    const uint32_t i = threadIdx.x;
    if (i < size) {
        const planes_candidate mine = job->batch[i];
        uint32_t rank = 0;
        for (uint32_t j = 0; j < size; j++) rank += planes_goes_before(&job->batch[j], j, &mine, i);
        s->order[rank] = i;
        s->possible[rank] = planes_is_candidate(&job->how, &mine);
        s->stands[rank] = s->possible[rank] && planes_candidate_stands(&job->how, &mine);
    }
    __syncthreads();
}

static __global__ void accept_kernel(refine_job job, uint32_t size) {
    __shared__ accept_state s;
    uint32_t accepted = job.accepted->count;
    bool claimed = false;
    if (accepted >= job.how.most) return;
    __syncthreads(); /* all have read it */
    sort_batch(&job, size, &s);
    for (uint32_t i = 0; i < size && accepted < job.how.most; i++) {
        if (!s.possible[i] || (!claimed && !s.stands[i])) continue;
        const uint32_t *masks = masks_of(&job, s.order[i]);
        planes_candidate c = job.batch[s.order[i]];
        if (claimed) {
            count_masks(&job, masks, &s);
            c.count = s.counts[PLANES_MASK_IN];
            c.inner = s.counts[PLANES_MASK_INNER];
            c.beside[0] = s.counts[PLANES_MASK_BELOW];
            c.beside[1] = s.counts[PLANES_MASK_ABOVE];
            if (!planes_candidate_stands(&job.how, &c)) continue;
        }
        claim(&job, masks);
        claimed = true;
        if (threadIdx.x == 0) job.accepted->list[accepted] = c;
        accepted++;
    }
    if (threadIdx.x == 0) job.accepted->count = accepted;
}

/* ---- noise */

/* Fits the plane to what is within t of it, twice; the first is of what the plane before it had. */
static __device__ bool fit_twice(const refine_job *job, const uint32_t *pool, double t, refine_state *s) {
    bool valid = true;
    CUDA_ROLLED
    for (int k = 0; k < 2 && valid; k++) {
        if (threadIdx.x == 0) s->plane = planes_pass_plane(&job->how, &s->r.fit, t);
        __syncthreads();
        sum_pool(job, pool, s);
        if (threadIdx.x == 0) {
            const planes_fit next = planes_fit_sums(&s->sums);
            s->go_on = next.valid;
            if (next.valid) s->r.fit = next;
        }
        __syncthreads();
        valid = s->go_on;
        __syncthreads(); /* before it is written again */
    }
    return valid;
}

static __device__ void measure_peak(const refine_job *job, uint32_t *pool, refine_state *s) {
    double t = 0.5 * job->how.tolerance, far = 0;
    bool found = false;
    CUDA_ROLLED
    for (int turn = 0; turn < PLANES_TURNS && t < INFINITY && !found; turn++, t = planes_peak_wider(&job->how, t)) {
        const double reach = planes_peak_pool(&job->how, t);
        if (reach > far) {
            if (threadIdx.x == 0) s->plane = planes_pass_plane(&job->how, &s->r.fit, reach);
            take_pool(job, pool, s);
        }
        far = reach;
        if (!fit_twice(job, pool, t, s)) continue;
        if (threadIdx.x == 0) s->plane = planes_pass_plane(&job->how, &s->r.fit, 2 * t);
        __syncthreads();
        sum_pool(job, pool, s);
        if (threadIdx.x == 0) s->go_on = planes_peak_within(&s->sums, &s->r.fit, t, &s->peak);
        __syncthreads();
        found = s->go_on;
        __syncthreads();
    }
}

static __global__ void peak_kernel(refine_job job, uint32_t first, uint32_t skip) {
    __shared__ refine_state s;
    const uint32_t in_batch = skip + blockIdx.x;
    uint32_t *pool = job.pool + (uint64_t)blockIdx.x * job.count;
    if (threadIdx.x == 0) s.peak = planes_peak_begin(&job.starts[first + in_batch]);
    refine(&job, &job.starts[first + in_batch], pool, &s);
    __syncthreads();
    if (s.r.fit.valid) measure_peak(&job, pool, &s);
    __syncthreads();
    if (threadIdx.x == 0) {
        s.plane = planes_peak_plane(&job.how, &s.r.fit, &s.peak);
        job.peaks[first + in_batch] = s.peak;
    }
    __syncthreads();
    if (s.peak.weight > 0) mark(&job, masks_of(&job, in_batch), &s);
}

/* How many points are in a plane, free or not. */
static __device__ uint32_t count_all(const refine_job *job, const uint32_t *masks, accept_state *s) {
    const uint32_t warp = threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    unsigned long long count = 0;
    for (uint32_t w = threadIdx.x; w < job->words; w += REFINE_THREADS) count += (uint32_t)__popc(masks[w]);
    count = sum_of_warp(count, CUDA_WARP);
    if (lane == 0) s->of_warp[warp][0] = count;
    __syncthreads();
    const uint32_t all = (uint32_t)sum_of_warp(s->of_warp[lane % REFINE_WARPS][0], REFINE_WARPS);
    __syncthreads();
    return all;
}

/* Drops what is mostly of peaks before it. */
static __global__ void keep_kernel(refine_job job, uint32_t first, uint32_t size) {
    __shared__ accept_state s;
    planes_peak *peaks = job.peaks + first;
    if (threadIdx.x < size) {
        const planes_peak mine = peaks[threadIdx.x];
        uint32_t rank = 0;
        for (uint32_t j = 0; j < size; j++) rank += planes_peak_goes_before(&peaks[j], j, &mine, threadIdx.x);
        s.order[rank] = threadIdx.x;
        s.possible[rank] = mine.weight > 0;
    }
    __syncthreads();
    for (uint32_t i = 0; i < size; i++) {
        if (!s.possible[i]) continue;
        const uint32_t *masks = masks_of(&job, s.order[i]);
        const uint32_t all = count_all(&job, masks, &s);
        count_masks(&job, masks, &s);
        if (planes_peak_is_new(all, s.counts[PLANES_MASK_IN])) {
            claim(&job, masks);
        } else if (threadIdx.x == 0) {
            peaks[s.order[i]].weight = 0;
        }
    }
}

/* ---- memory and launches */

static __global__ void free_kernel(uint32_t *free_points, uint32_t count, uint32_t words) {
    const uint32_t w = blockIdx.x * REFINE_THREADS + threadIdx.x;
    if (w < words) free_points[w] = count - w * CUDA_WARP < CUDA_WARP ? (1u << count % CUDA_WARP) - 1 : UINT32_MAX;
}

static void close_job(mote_context *ctx, refine_job *job) {
    cuda_free(ctx, (void *)(uintptr_t)job->starts);
    cuda_free(ctx, job->free_points);
    cuda_free(ctx, job->pool);
    cuda_free(ctx, job->masks);
    cuda_free(ctx, job->batch);
    cuda_free(ctx, job->accepted);
    cuda_free(ctx, job->peaks);
}

/* at_once: how many blocks may have a pool. */
static mote_status open_job(planes_cuda *p, const planes_sample *sample, const planes_refining *how,
                            const planes_start *starts, uint32_t count, uint32_t batch, uint32_t at_once,
                            refine_job *job) {
    mote_context *ctx = p->base.ctx;
    memset(job, 0, sizeof *job);
    job->sample = p->voters != NULL ? p->voters : p->points;
    job->count = sample->count;
    job->words = (uint32_t)(((uint64_t)sample->count + CUDA_WARP - 1) / CUDA_WARP);
    job->how = *how;
    planes_start *on_device = (planes_start *)cuda_alloc(ctx, count * sizeof *starts, "planes refinement");
    job->starts = on_device;
    job->free_points = (uint32_t *)cuda_alloc(ctx, job->words * sizeof(uint32_t), "planes refinement");
    job->pool = (uint32_t *)cuda_alloc(ctx, (uint64_t)at_once * job->count * sizeof(uint32_t), "planes refinement");
    job->masks = (uint32_t *)cuda_alloc(ctx, (uint64_t)batch * PLANES_MASKS * job->words * sizeof(uint32_t),
                                        "planes refinement");
    job->batch = (planes_candidate *)cuda_alloc(ctx, batch * sizeof *job->batch, "planes refinement");
    job->accepted = (accepted_list *)cuda_alloc(ctx, sizeof *job->accepted, "planes refinement");
    job->peaks = (planes_peak *)cuda_alloc(ctx, count * sizeof *job->peaks, "planes refinement");
    MOTE_TRY(mote_context_status(ctx));
    MOTE_TRY(cuda_upload(ctx, on_device, starts, count * sizeof *starts));
    MOTE_TRY(cuda_fill(ctx, job->accepted, 0, sizeof job->accepted->count));
    CUDA_LAUNCH(ctx, free_kernel, cuda_blocks(job->words, REFINE_THREADS), REFINE_THREADS, job->free_points, job->count,
                job->words);
    return cuda_launched(ctx, "free points");
}

static uint32_t blocks_at_once(uint32_t sample, uint32_t batch) {
    const uint64_t room = POOL_BYTES / ((uint64_t)sample * sizeof(uint32_t));
    return room < 1 ? 1 : room < batch ? (uint32_t)room : batch;
}

static mote_status refine_batches(mote_context *ctx, const refine_job *job, uint32_t count, uint32_t at_once) {
    for (uint32_t first = 0, size; first < count; first += size) {
        size = planes_batch_size(job->count, first, count);
        for (uint32_t skip = 0; skip < size; skip += at_once) {
            CUDA_LAUNCH(ctx, refine_kernel, size - skip < at_once ? size - skip : at_once, REFINE_THREADS, *job, first,
                        skip);
        }
        CUDA_LAUNCH(ctx, accept_kernel, 1, REFINE_THREADS, *job, size);
        MOTE_TRY(cuda_launched(ctx, "refining winners"));
    }
    return MOTE_OK;
}

static uint32_t largest_batch(uint32_t sample, uint32_t count) {
    uint32_t most = 0;
    for (uint32_t first = 0, size; first < count; first += size) {
        size = planes_batch_size(sample, first, count);
        most = size > most ? size : most;
    }
    return most;
}

mote_status planes_refine_cuda(planes_points *points, const planes_sample *sample, const planes_refining *how,
                               const planes_start *starts, uint32_t count, planes_candidate *accepted,
                               uint32_t *accepted_count) {
    planes_cuda *p = planes_on_cuda(points);
    mote_context *ctx = points->ctx;
    const uint32_t batch = largest_batch(sample->count, count), at_once = blocks_at_once(sample->count, batch);
    const uint64_t bytes = sizeof(uint64_t) + count * sizeof(planes_candidate);
    refine_job job;
    *accepted_count = 0;
    if (count == 0) return MOTE_OK;
    accepted_list *list = (accepted_list *)(void *)planes_cuda_scratch(p, sizeof *list);
    if (list == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = open_job(p, sample, how, starts, count, batch, at_once, &job);
    if (status == MOTE_OK) status = refine_batches(ctx, &job, count, at_once);
    if (status == MOTE_OK) status = cuda_download(ctx, list, job.accepted, bytes);
    if (status == MOTE_OK) {
        *accepted_count = list->count;
        memcpy(accepted, list->list, list->count * sizeof *accepted);
    }
    close_job(ctx, &job);
    return status;
}

mote_status planes_calibrate_cuda(planes_points *points, const planes_sample *sample, const planes_refining *how,
                                  const planes_start *starts, uint32_t count, planes_peak *peaks) {
    planes_cuda *p = planes_on_cuda(points);
    mote_context *ctx = points->ctx;
    const uint32_t batch = count < PLANES_PEAKS ? count : PLANES_PEAKS;
    refine_job job;
    if (count == 0) return MOTE_OK;
    const uint32_t at_once = blocks_at_once(sample->count, batch);
    mote_status status = open_job(p, sample, how, starts, count, batch, at_once, &job);
    for (uint32_t first = 0; first < count && status == MOTE_OK; first += PLANES_PEAKS) {
        const uint32_t size = count - first < PLANES_PEAKS ? count - first : PLANES_PEAKS;
        for (uint32_t skip = 0; skip < size; skip += at_once) {
            CUDA_LAUNCH(ctx, peak_kernel, size - skip < at_once ? size - skip : at_once, REFINE_THREADS, job, first,
                        skip);
        }
        CUDA_LAUNCH(ctx, keep_kernel, 1, REFINE_THREADS, job, first, size);
        status = cuda_launched(ctx, "noise of planes");
    }
    if (status == MOTE_OK) status = cuda_download(ctx, peaks, job.peaks, count * sizeof *peaks);
    close_job(ctx, &job);
    return status;
}
