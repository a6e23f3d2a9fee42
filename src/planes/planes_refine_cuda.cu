/* Refining winners on the GPU: a block has a winner, all of a batch run side by side, and one block then accepts what
   stands, one candidate after the other. Nothing waits for the host before all batches are done. What decides is in
   planes_refine_math.h; here points are counted and summed up, in any order. */
#include "backend/cuda_kernel.h"
#include "planes/planes_cuda.h"

#define THREADS    512u
#define WARPS      (THREADS / CUDA_WARP)
#define AHEAD      4u /* points of a thread whose loads are on their way together */
#define SUMS       (3 + PLANES_PRODUCTS)
#define COUNTS     3u
#define CHUNK      131072u     /* points whose products 64 bits hold: 2^17 of 2^46 */
#define COLUMNS    64u         /* counters of a row, one a tilt: each lane has a bank of its own */
#define POOL_BYTES (64u << 20) /* of all blocks that run at once, if that is enough for one */

/* What was accepted so far in a round. */
typedef struct accepted_list {
    uint32_t count;
    planes_candidate list[PLANES_WINNERS];
} accepted_list;

typedef struct refine_job {
    const planes_cuda_point *sample;
    uint32_t count, words; /* points; words of a bit for each */
    planes_refining how;
    const planes_start *starts;
    uint32_t *free_points;   /* [words] */
    uint32_t *pool;          /* [blocks at once][count] points near a winner's plane */
    uint32_t *masks;         /* [batch][PLANES_MASKS][words] */
    planes_candidate *batch; /* [batch] */
    accepted_list *accepted;
    planes_peak *peaks; /* [winners] */
} refine_job;

/* What a block shares. Thread 0 decides; the others see it behind a barrier. */
typedef struct refine_state {
    planes_refinement r;
    planes_level level;
    planes_plane plane; /* of the pass that is due */
    planes_sums sums;
    planes_peak peak;
    bool go_on;
    uint32_t pool_count;
    uint32_t counts[PLANES_MASKS]; /* free points of each mask */
    long long of_warp[WARPS][SUMS];
    uint32_t counts_of_warp[WARPS][COUNTS];
    unsigned long long best[WARPS];
    float direction[PLANES_TILTS][3];
    uint32_t counters[PLANES_LEVEL_ROWS][COLUMNS];
} refine_state;

static __device__ inline planes_cuda_point load_point(const planes_cuda_point *points, uint32_t i) {
    planes_cuda_point p;
    const uint4 raw = *(const uint4 *)(const void *)&points[i];
    memcpy(&p, &raw, sizeof raw);
    return p;
}

/* ---- the pool */

/* The free points within reach of the plane that is due, in any order. */
static __device__ void take_pool(const refine_job *job, uint32_t *pool, refine_state *s) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    __syncthreads();
    if (threadIdx.x == 0) s->pool_count = 0;
    __syncthreads();
    const planes_plane plane = s->plane;
    for (uint64_t base = threadIdx.x - lane; base < job->count; base += THREADS * AHEAD) {
        planes_cuda_point p[AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++) {
            const uint64_t i = base + k * THREADS + lane;
            p[k] = load_point(job->sample, i < job->count ? (uint32_t)i : 0);
        }
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++) {
            const uint64_t i = base + k * THREADS + lane;
            const uint32_t open = base + k * THREADS < job->count ? job->free_points[i / CUDA_WARP] : 0;
            const bool near =
                (open >> lane & 1) != 0 && fabsf(planes_distance(&plane, p[k].x, p[k].y, p[k].z)) <= plane.tolerance;
            const uint32_t found = __ballot_sync(CUDA_ALL, near);
            if (found == 0) continue;
            uint32_t at = lane == 0 ? atomicAdd(&s->pool_count, (uint32_t)__popc(found)) : 0;
            at = __shfl_sync(CUDA_ALL, at, 0);
            if (near) pool[at + (uint32_t)__popc(found & ((1u << lane) - 1))] = (uint32_t)i;
        }
    }
    __syncthreads();
}

/* ---- sums */

typedef struct near_sums {
    long long sums[SUMS];
    uint32_t counts[COUNTS]; /* within the tolerance, within half of it, within twice */
} near_sums;

static __device__ inline void add_near(near_sums *to, const planes_plane *plane, const planes_cuda_point *p) {
    const float size = fabsf(planes_distance(plane, p->x, p->y, p->z));
    if (size > 2.0f * plane->tolerance || !planes_normal_allows(p->normal, plane->normal, plane->cone)) return;
    to->counts[2] += size > plane->tolerance;
    if (size > plane->tolerance) return;
    const long long x = (long long)p->x, y = (long long)p->y, z = (long long)p->z;
    const long long mine[SUMS] = {x, y, z, x * x, x * y, x * z, y * y, y * z, z * z};
    to->counts[0]++;
    to->counts[1] += size <= 0.5f * plane->tolerance;
#pragma unroll
    for (uint32_t k = 0; k < SUMS; k++) to->sums[k] += mine[k];
}

/* A block's sums of threads, added to s->sums. */
static __device__ void add_sums(near_sums *mine, refine_state *s) {
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    if (__any_sync(CUDA_ALL, (mine->counts[0] | mine->counts[2]) != 0)) {
        CUDA_ROLLED
        for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
#pragma unroll
            for (uint32_t k = 0; k < SUMS; k++) mine->sums[k] += __shfl_xor_sync(CUDA_ALL, mine->sums[k], away);
#pragma unroll
            for (uint32_t k = 0; k < COUNTS; k++) mine->counts[k] += __shfl_xor_sync(CUDA_ALL, mine->counts[k], away);
        }
    }
    if (threadIdx.x % CUDA_WARP == 0) {
        for (uint32_t k = 0; k < SUMS; k++) s->of_warp[warp][k] = mine->sums[k];
        for (uint32_t k = 0; k < COUNTS; k++) s->counts_of_warp[warp][k] = mine->counts[k];
    }
    __syncthreads();
    if (threadIdx.x < SUMS) {
        long long all = 0;
        for (uint32_t w = 0; w < WARPS; w++) all += s->of_warp[w][threadIdx.x];
        if (threadIdx.x < 3) s->sums.first[threadIdx.x] += all;
        if (threadIdx.x >= 3) planes_add_product(&s->sums, (int)threadIdx.x - 3, all);
    } else if (threadIdx.x < SUMS + COUNTS) {
        uint32_t all = 0;
        const uint32_t k = threadIdx.x - SUMS;
        for (uint32_t w = 0; w < WARPS; w++) all += s->counts_of_warp[w][k];
        uint64_t *to = k == 0 ? &s->sums.count : k == 1 ? &s->sums.inner : &s->sums.beside[0];
        *to += all;
    }
    __syncthreads();
}

/* A pass over the pool for the plane that is due. */
static __device__ void sum_pool(const refine_job *job, const uint32_t *pool, refine_state *s) {
    const planes_plane plane = s->plane;
    const uint32_t count = s->pool_count;
    if (threadIdx.x == 0) memset(&s->sums, 0, sizeof s->sums);
    uint32_t first = 0;
    do {
        const uint32_t end = count - first < CHUNK ? count : first + CHUNK;
        near_sums mine;
        memset(&mine, 0, sizeof mine);
#pragma unroll 4
        for (uint32_t k = first + threadIdx.x; k < end; k += THREADS) {
            const planes_cuda_point p = load_point(job->sample, pool[k]);
            add_near(&mine, &plane, &p);
        }
        add_sums(&mine, s);
        first = end;
    } while (first < count);
}

/* ---- one level */

static __device__ inline void make_counters(refine_state *s) {
    uint32_t *counters = &s->counters[0][0];
    const uint32_t rows = 2 * (uint32_t)s->level.bins + 3;
    for (uint32_t i = threadIdx.x; i < rows * COLUMNS; i += THREADS) counters[i] = 0;
    if (threadIdx.x < PLANES_TILTS) planes_level_bins(&s->level, threadIdx.x, s->direction[threadIdx.x]);
    __syncthreads();
}

/* A warp finds voters among its points of the pool; its lanes are the tilts that they vote for. */
static __device__ void vote(const refine_job *job, const uint32_t *pool, refine_state *s) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, share = s->level.share, count = s->pool_count;
    const float pivot[3] = {(float)s->level.pivot[0], (float)s->level.pivot[1], (float)s->level.pivot[2]};
    const float bins = (float)s->level.bins;
    const bool two = lane + CUDA_WARP < PLANES_TILTS;
    const planes_plane plane = s->plane;
    float one[3], other[3];
    for (int k = 0; k < 3; k++) {
        one[k] = s->direction[lane][k];
        other[k] = s->direction[two ? lane + CUDA_WARP : lane][k];
    }
    for (uint32_t base = threadIdx.x - lane; base < count; base += THREADS) {
        float x = 0, y = 0, z = 0;
        bool votes = false;
        const uint32_t i = base + lane < count ? pool[base + lane] : 0;
        if (base + lane < count && planes_turn(i) <= share) {
            const planes_cuda_point p = load_point(job->sample, i);
            votes = fabsf(planes_distance(&plane, p.x, p.y, p.z)) <= plane.tolerance &&
                    planes_normal_allows(p.normal, plane.normal, plane.cone);
            x = p.x - pivot[0];
            y = p.y - pivot[1];
            z = p.z - pivot[2];
        }
        for (uint32_t voters = __ballot_sync(CUDA_ALL, votes); voters != 0; voters &= voters - 1) {
            const int from = __ffs((int)voters) - 1;
            const float at_x = __shfl_sync(CUDA_ALL, x, from), at_y = __shfl_sync(CUDA_ALL, y, from);
            const float at_z = __shfl_sync(CUDA_ALL, z, from);
            atomicAdd(&s->counters[planes_level_row(one, at_x, at_y, at_z, bins)][lane], 1u);
            if (two) atomicAdd(&s->counters[planes_level_row(other, at_x, at_y, at_z, bins)][lane + CUDA_WARP], 1u);
        }
    }
    __syncthreads();
}

/* The most votes of two rows, then the lowest tilt, then the lowest row: as one number. */
static __device__ inline unsigned long long vote_key(uint32_t votes, uint32_t tilt, uint32_t row) {
    return (unsigned long long)votes << 32 | (0xFFFFu - tilt) << 16 | (0xFFFFu - row);
}

static __device__ unsigned long long best_of_warp(unsigned long long key) {
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
        const unsigned long long other = __shfl_xor_sync(CUDA_ALL, key, away);
        key = other > key ? other : key;
    }
    return key;
}

static __device__ void find_best(refine_state *s) {
    const uint32_t tilt = threadIdx.x % COLUMNS, rows = 2 * (uint32_t)s->level.bins - 1;
    unsigned long long key = 0;
    for (uint32_t row = threadIdx.x / COLUMNS; row < rows && tilt < PLANES_TILTS; row += THREADS / COLUMNS) {
        const uint32_t votes = s->counters[row + 1][tilt] + s->counters[row + 2][tilt];
        const unsigned long long found = vote_key(votes, tilt, row);
        key = found > key ? found : key;
    }
    key = best_of_warp(key);
    if (threadIdx.x % CUDA_WARP == 0) s->best[threadIdx.x / CUDA_WARP] = key;
    __syncthreads();
    if (threadIdx.x >= CUDA_WARP) return;
    key = best_of_warp(s->best[threadIdx.x % WARPS]);
    if (threadIdx.x == 0) s->best[0] = key;
}

/* Sets the pass that is due. Returns whether there is a plane; *coarse: whether another level is worth it. */
static __device__ bool improve(const refine_job *job, const uint32_t *pool, refine_state *s, bool *coarse) {
    sum_pool(job, pool, s);
    if (threadIdx.x == 0) s->go_on = planes_level_begin(&job->how, &s->sums, &s->r, &s->level);
    __syncthreads();
    if (!s->go_on) return false;
    make_counters(s);
    vote(job, pool, s);
    find_best(s);
    __syncthreads();
    const unsigned long long best = s->best[0];
    if (best >> 32 < 3) return false;
    if (threadIdx.x == 0) {
        const uint32_t tilt = 0xFFFFu - (uint32_t)(best >> 16 & 0xFFFF), row = 0xFFFFu - (uint32_t)(best & 0xFFFF);
        s->go_on = planes_level_end(&job->how, &s->level, tilt, row, &s->r);
        s->plane = planes_pass_plane(&job->how, &s->r.fit, s->r.reach);
    }
    __syncthreads();
    *coarse = s->go_on;
    return true;
}

/* ---- one winner */

/* s->r.fit.valid in the end says whether there is a plane. */
static __device__ void refine(const refine_job *job, const planes_start *start, uint32_t *pool, refine_state *s) {
    if (threadIdx.x == 0) {
        s->r = planes_refinement_begin(&job->how, start);
        s->plane = planes_pass_plane(&job->how, &s->r.fit, planes_pool_reach(&job->how));
    }
    take_pool(job, pool, s);
    if (s->pool_count < job->how.least) return;
    if (threadIdx.x == 0) s->plane = planes_pass_plane(&job->how, &s->r.fit, s->r.reach);
    __syncthreads();
    bool coarse = true;
    CUDA_ROLLED
    for (int turn = 0; turn < PLANES_LEVELS && coarse; turn++) {
        if (!improve(job, pool, s, &coarse)) return;
    }
    bool go_on = true;
    while (go_on) {
        sum_pool(job, pool, s);
        if (threadIdx.x == 0) {
            s->go_on = planes_refinement_fit(&job->how, &s->sums, &s->r);
            s->plane = planes_pass_plane(&job->how, &s->r.fit, s->r.reach);
        }
        __syncthreads();
        go_on = s->go_on;
        __syncthreads(); /* before it is written again */
    }
}

/* Writes the masks of the plane that is due and counts the free points in them. */
static __device__ void mark(const refine_job *job, uint32_t *masks, refine_state *s) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    uint32_t counted = 0; /* of the lane's mask */
    if (threadIdx.x < PLANES_MASKS) s->counts[threadIdx.x] = 0;
    __syncthreads();
    const planes_plane plane = s->plane;
#pragma unroll 4
    for (uint32_t w = threadIdx.x / CUDA_WARP; w < job->words; w += WARPS) {
        const uint64_t i = (uint64_t)w * CUDA_WARP + lane;
        const planes_cuda_point p = load_point(job->sample, i < job->count ? (uint32_t)i : 0);
        const uint32_t bands = i < job->count ? planes_bands(&plane, p.x, p.y, p.z, p.normal) : 0;
        uint32_t mine = 0;
#pragma unroll
        for (uint32_t m = 0; m < PLANES_MASKS; m++) {
            const uint32_t mask = __ballot_sync(CUDA_ALL, (bands >> m & 1) != 0);
            mine = lane == m ? mask : mine;
        }
        if (lane >= PLANES_MASKS) continue;
        masks[(uint64_t)lane * job->words + w] = mine;
        counted += (uint32_t)__popc(mine & job->free_points[w]);
    }
    __syncwarp();
    if (lane < PLANES_MASKS) atomicAdd(&s->counts[lane], counted);
    __syncthreads();
}

static __device__ inline uint32_t *masks_of(const refine_job *job, uint32_t in_batch) {
    return job->masks + (uint64_t)in_batch * PLANES_MASKS * job->words;
}

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
    unsigned long long of_warp[WARPS][2];
    uint32_t counts[4]; /* of the candidate */
} accept_state;

static __device__ inline unsigned long long sum_of_warp(unsigned long long value, uint32_t lanes) {
    for (uint32_t away = lanes / 2; away > 0; away /= 2) value += __shfl_xor_sync(CUDA_ALL, value, (int)away);
    return value;
}

/* Four counts of points, two in a number. all: not only the free ones. Every thread has its own words, here and in
   claim. */
static __device__ void count_masks(const refine_job *job, const uint32_t *masks, accept_state *s) {
    const uint32_t warp = threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    unsigned long long counts[2] = {0, 0};
    for (uint32_t w = threadIdx.x; w < job->words; w += THREADS) {
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
            const unsigned long long all = sum_of_warp(s->of_warp[lane % WARPS][k], WARPS);
            if (lane == 0) s->counts[2 * k] = (uint32_t)all;
            if (lane == 0) s->counts[2 * k + 1] = (uint32_t)(all >> 32);
        }
    }
    __syncthreads();
}

static __device__ inline void claim(const refine_job *job, const uint32_t *masks) {
    const uint32_t *guard = masks + (uint64_t)PLANES_MASK_GUARD * job->words;
    for (uint32_t w = threadIdx.x; w < job->words; w += THREADS) job->free_points[w] &= ~guard[w];
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
    double t = 0.5 * job->how.tolerance;
    bool found = false;
    if (threadIdx.x == 0) s->plane = planes_pass_plane(&job->how, &s->r.fit, PLANES_PEAK_FAR * job->how.bin);
    take_pool(job, pool, s);
    CUDA_ROLLED
    for (int turn = 0; turn < PLANES_TURNS && t < job->how.bin && !found; turn++, t *= PLANES_GROWTH) {
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
    if (threadIdx.x == 0) memset(&s.peak, 0, sizeof s.peak);
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
    for (uint32_t w = threadIdx.x; w < job->words; w += THREADS) count += (uint32_t)__popc(masks[w]);
    count = sum_of_warp(count, CUDA_WARP);
    if (lane == 0) s->of_warp[warp][0] = count;
    __syncthreads();
    const uint32_t all = (uint32_t)sum_of_warp(s->of_warp[lane % WARPS][0], WARPS);
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
    const uint32_t w = blockIdx.x * THREADS + threadIdx.x;
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
    CUDA_LAUNCH(ctx, free_kernel, cuda_blocks(job->words, THREADS), THREADS, job->free_points, job->count, job->words);
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
            CUDA_LAUNCH(ctx, refine_kernel, size - skip < at_once ? size - skip : at_once, THREADS, *job, first, skip);
        }
        CUDA_LAUNCH(ctx, accept_kernel, 1, THREADS, *job, size);
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
            CUDA_LAUNCH(ctx, peak_kernel, size - skip < at_once ? size - skip : at_once, THREADS, job, first, skip);
        }
        CUDA_LAUNCH(ctx, keep_kernel, 1, THREADS, job, first, size);
        status = cuda_launched(ctx, "noise of planes");
    }
    if (status == MOTE_OK) status = cuda_download(ctx, peaks, job.peaks, count * sizeof *peaks);
    close_job(ctx, &job);
    return status;
}
