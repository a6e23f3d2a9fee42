/* Refining peaks on the GPU: a block has a peak, all of a batch run side by side, and one block then accepts what
   stands, one candidate after the other. Nothing waits for the host before all batches are done. */
#include "planes/fit/planes_refine_cuda.cuh"

#define POOL_BYTES (64u << 20) /* of all blocks that run at once, if that is enough for one */

/* ---- refining */

/* first: the peak that the batch begins with; skip: how many of the batch ran before. */
static __global__ void refine_kernel(refine_job job, uint32_t first, uint32_t skip) {
    __shared__ refine_state s;
    const uint32_t in_batch = skip + blockIdx.x;
    const planes_start *start = &job.starts[first + in_batch];
    if (job.accepted->count >= job.how.max) return;
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
        c.in_bands[0] = s.counts[PLANES_MASK_BELOW];
        c.in_bands[1] = s.counts[PLANES_MASK_ABOVE];
    }
    job.batch[in_batch] = c;
}

/* ---- accepting */

/* What one block shares that tries candidates one after the other. */
typedef struct accept_state {
    uint32_t order[PLANES_MAX_PEAKS];
    bool possible[PLANES_MAX_PEAKS], stands[PLANES_MAX_PEAKS]; /* as long as no other is accepted */
    unsigned long long of_warp[REFINE_WARPS][2];
    uint32_t counts[4]; /* of the candidate */
} accept_state;

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
        const unsigned long long all = warp_sum(counts[k]);
        if (lane == 0) s->of_warp[warp][k] = all;
    }
    __syncthreads();
    if (warp == 0) {
        for (uint32_t k = 0; k < 2; k++) {
            const unsigned long long all = warp_sum<REFINE_WARPS>(s->of_warp[lane % REFINE_WARPS][k]);
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
    if (accepted >= job.how.max) return;
    __syncthreads(); /* all have read it */
    sort_batch(&job, size, &s);
    for (uint32_t i = 0; i < size && accepted < job.how.max; i++) {
        if (!s.possible[i] || (!claimed && !s.stands[i])) continue;
        const uint32_t *masks = masks_of(&job, s.order[i]);
        planes_candidate c = job.batch[s.order[i]];
        if (claimed) {
            count_masks(&job, masks, &s);
            c.count = s.counts[PLANES_MASK_IN];
            c.inner = s.counts[PLANES_MASK_INNER];
            c.in_bands[0] = s.counts[PLANES_MASK_BELOW];
            c.in_bands[1] = s.counts[PLANES_MASK_ABOVE];
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

static __device__ void measure_calibrated(const refine_job *job, uint32_t *pool, refine_state *s) {
    double t = 0.5 * job->how.tolerance, far = 0;
    bool found = false;
    CUDA_ROLLED
    for (int turn = 0; turn < PLANES_TURNS && t < INFINITY && !found;
         turn++, t = planes_calibrated_wider(&job->how, t)) {
        const double reach = planes_calibrated_pool(&job->how, t);
        if (reach > far) {
            if (threadIdx.x == 0) s->plane = planes_pass_plane(&job->how, &s->r.fit, reach);
            take_pool(job, pool, s);
        }
        far = reach;
        if (!fit_twice(job, pool, t, s)) continue;
        if (threadIdx.x == 0) s->plane = planes_pass_plane(&job->how, &s->r.fit, 2 * t);
        __syncthreads();
        sum_pool(job, pool, s);
        if (threadIdx.x == 0) s->go_on = planes_calibrated_within(&s->sums, &s->r.fit, t, &s->calibrated);
        __syncthreads();
        found = s->go_on;
        __syncthreads();
    }
}

static __global__ void calibrate_kernel(refine_job job, uint32_t first, uint32_t skip) {
    __shared__ refine_state s;
    const uint32_t in_batch = skip + blockIdx.x;
    uint32_t *pool = job.pool + (uint64_t)blockIdx.x * job.count;
    if (threadIdx.x == 0) s.calibrated = planes_calibrated_begin(&job.starts[first + in_batch]);
    refine(&job, &job.starts[first + in_batch], pool, &s);
    __syncthreads();
    if (s.r.fit.valid) measure_calibrated(&job, pool, &s);
    __syncthreads();
    if (threadIdx.x == 0) {
        s.plane = planes_calibrated_plane(&job.how, &s.r.fit, &s.calibrated);
        job.calibrated_list[first + in_batch] = s.calibrated;
    }
    __syncthreads();
    if (s.calibrated.weight > 0) mark(&job, masks_of(&job, in_batch), &s);
}

/* How many points are in a plane, free or not. */
static __device__ uint32_t count_all(const refine_job *job, const uint32_t *masks, accept_state *s) {
    const uint32_t warp = threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    unsigned long long count = 0;
    for (uint32_t w = threadIdx.x; w < job->words; w += REFINE_THREADS) count += (uint32_t)__popc(masks[w]);
    count = warp_sum(count);
    if (lane == 0) s->of_warp[warp][0] = count;
    __syncthreads();
    const uint32_t all = (uint32_t)warp_sum<REFINE_WARPS>(s->of_warp[lane % REFINE_WARPS][0]);
    __syncthreads();
    return all;
}

/* Drops what is mostly of peaks before it. */
static __global__ void keep_kernel(refine_job job, uint32_t first, uint32_t size) {
    __shared__ accept_state s;
    planes_calibrated *calibrated_list = job.calibrated_list + first;
    if (threadIdx.x < size) {
        const planes_calibrated mine = calibrated_list[threadIdx.x];
        uint32_t rank = 0;
        for (uint32_t j = 0; j < size; j++)
            rank += planes_calibrated_goes_before(&calibrated_list[j], j, &mine, threadIdx.x);
        s.order[rank] = threadIdx.x;
        s.possible[rank] = mine.weight > 0;
    }
    __syncthreads();
    for (uint32_t i = 0; i < size; i++) {
        if (!s.possible[i]) continue;
        const uint32_t *masks = masks_of(&job, s.order[i]);
        const uint32_t all = count_all(&job, masks, &s);
        count_masks(&job, masks, &s);
        if (planes_calibrated_is_new(all, s.counts[PLANES_MASK_IN])) {
            claim(&job, masks);
        } else if (threadIdx.x == 0) {
            calibrated_list[s.order[i]].weight = 0;
        }
    }
}

/* ---- memory and launches */

static __global__ void free_kernel(uint32_t *free_points, uint32_t count, uint32_t words) {
    const uint32_t w = blockIdx.x * REFINE_THREADS + threadIdx.x;
    if (w < words) free_points[w] = count - w * CUDA_WARP < CUDA_WARP ? (1u << count % CUDA_WARP) - 1 : UINT32_MAX;
}

static void close_job(mote_device *gpu, refine_job *job) {
    cuda_free(gpu, (void *)(uintptr_t)job->starts);
    cuda_free(gpu, job->free_points);
    cuda_free(gpu, job->pool);
    cuda_free(gpu, job->masks);
    cuda_free(gpu, job->batch);
    cuda_free(gpu, job->accepted);
    cuda_free(gpu, job->calibrated_list);
}

/* at_once: how many blocks may have a pool. */
static mote_status open_job(planes_cuda *p, const planes_refining *how, const planes_start *starts, uint32_t count,
                            uint32_t batch, uint32_t at_once, refine_job *job) {
    mote_device *gpu = p->base.device;
    memset(job, 0, sizeof *job);
    job->sample = p->voters != NULL ? p->voters : p->points;
    job->count = p->voter_count;
    job->words = (uint32_t)(((uint64_t)job->count + CUDA_WARP - 1) / CUDA_WARP);
    job->how = *how;
    planes_start *on_device = (planes_start *)cuda_alloc(gpu, count * sizeof *starts, "planes refinement");
    job->starts = on_device;
    job->free_points = (uint32_t *)cuda_alloc(gpu, job->words * sizeof(uint32_t), "planes refinement");
    job->pool = (uint32_t *)cuda_alloc(gpu, (uint64_t)at_once * job->count * sizeof(uint32_t), "planes refinement");
    job->masks = (uint32_t *)cuda_alloc(gpu, (uint64_t)batch * PLANES_MASKS * job->words * sizeof(uint32_t),
                                        "planes refinement");
    job->batch = (planes_candidate *)cuda_alloc(gpu, batch * sizeof *job->batch, "planes refinement");
    job->accepted = (accepted_list *)cuda_alloc(gpu, sizeof *job->accepted, "planes refinement");
    job->calibrated_list =
        (planes_calibrated *)cuda_alloc(gpu, count * sizeof *job->calibrated_list, "planes refinement");
    MOTE_TRY(mote_context_status(gpu->ctx));
    MOTE_TRY(cuda_upload(gpu, on_device, starts, count * sizeof *starts));
    MOTE_TRY(cuda_fill(gpu, job->accepted, 0, sizeof *job->accepted)); /* both lists are brought to the host whole */
    MOTE_TRY(cuda_fill(gpu, job->calibrated_list, 0, count * sizeof *job->calibrated_list));
    CUDA_LAUNCH(gpu, free_kernel, cuda_blocks(job->words, REFINE_THREADS), REFINE_THREADS, job->free_points, job->count,
                job->words);
    return cuda_launched(gpu, "free points");
}

static uint32_t blocks_at_once(uint32_t sample, uint32_t batch) {
    const uint64_t fitting = POOL_BYTES / ((uint64_t)sample * sizeof(uint32_t));
    return fitting < 1 ? 1 : fitting < batch ? (uint32_t)fitting : batch;
}

static mote_status refine_batches(mote_device *gpu, const refine_job *job, uint32_t count, uint32_t at_once) {
    for (uint32_t first = 0, size; first < count; first += size) {
        size = planes_batch_size(job->count, first, count);
        for (uint32_t skip = 0; skip < size; skip += at_once) {
            CUDA_LAUNCH(gpu, refine_kernel, size - skip < at_once ? size - skip : at_once, REFINE_THREADS, *job, first,
                        skip);
        }
        CUDA_LAUNCH(gpu, accept_kernel, 1, REFINE_THREADS, *job, size);
        MOTE_TRY(cuda_launched(gpu, "refining peaks"));
    }
    return MOTE_OK;
}

static uint32_t largest_batch(uint32_t sample, uint32_t count) {
    uint32_t max = 0;
    for (uint32_t first = 0, size; first < count; first += size) {
        size = planes_batch_size(sample, first, count);
        max = size > max ? size : max;
    }
    return max;
}

static mote_status refine_all(planes_cuda *p, const planes_refining *how, const planes_start *starts, uint32_t count,
                              planes_refined *refined) {
    mote_device *gpu = p->base.device;
    const uint32_t batch = largest_batch(p->voter_count, count), at_once = blocks_at_once(p->voter_count, batch);
    const uint64_t bytes = sizeof(uint64_t) + count * sizeof(planes_candidate);
    refine_job job;
    accepted_list *list = (accepted_list *)(void *)planes_cuda_scratch(p, sizeof *list);
    if (list == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = open_job(p, how, starts, count, batch, at_once, &job);
    if (status == MOTE_OK) status = refine_batches(gpu, &job, count, at_once);
    if (status == MOTE_OK) status = cuda_download(gpu, list, job.accepted, bytes);
    if (status == MOTE_OK) {
        refined->accepted_count = list->count;
        memcpy(refined->accepted, list->list, list->count * sizeof *refined->accepted);
    }
    close_job(gpu, &job);
    return status;
}

static mote_status calibrate_all(planes_cuda *p, const planes_refining *how, const planes_start *starts, uint32_t count,
                                 planes_calibrated *calibrated_list) {
    mote_device *gpu = p->base.device;
    const uint32_t batch = count < PLANES_CALIBRATED_BATCH ? count : PLANES_CALIBRATED_BATCH;
    const uint32_t at_once = blocks_at_once(p->voter_count, batch);
    refine_job job;
    mote_status status = open_job(p, how, starts, count, batch, at_once, &job);
    for (uint32_t first = 0; first < count && status == MOTE_OK; first += PLANES_CALIBRATED_BATCH) {
        const uint32_t size = count - first < PLANES_CALIBRATED_BATCH ? count - first : PLANES_CALIBRATED_BATCH;
        for (uint32_t skip = 0; skip < size; skip += at_once) {
            CUDA_LAUNCH(gpu, calibrate_kernel, size - skip < at_once ? size - skip : at_once, REFINE_THREADS, job,
                        first, skip);
        }
        CUDA_LAUNCH(gpu, keep_kernel, 1, REFINE_THREADS, job, first, size);
        status = cuda_launched(gpu, "noise of planes");
    }
    if (status == MOTE_OK)
        status = cuda_download(gpu, calibrated_list, job.calibrated_list, count * sizeof *calibrated_list);
    close_job(gpu, &job);
    return status;
}

mote_status planes_refine_cuda(planes_points *points, const planes_refining *how, const planes_start *starts,
                               uint32_t count, planes_refined *refined) {
    planes_cuda *p = planes_on_cuda(points);
    refined->accepted_count = 0;
    if (count == 0) return MOTE_OK;
    return refined->calibrated != NULL ? calibrate_all(p, how, starts, count, refined->calibrated)
                                       : refine_all(p, how, starts, count, refined);
}
