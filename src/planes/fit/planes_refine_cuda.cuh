/* What a block does with a peak, for .cu files: from the plane in the middle of a cell to one that least squares has
   settled, and to masks of the points in and beside it. What decides is in planes_refine_math.h; here points are
   counted and summed up, in any order. */
#ifndef MOTE_PLANES_REFINE_CUDA_H
#define MOTE_PLANES_REFINE_CUDA_H

#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define REFINE_THREADS 512u
#define REFINE_WARPS   (REFINE_THREADS / CUDA_WARP)
#define REFINE_AHEAD   4u /* points of a thread whose loads are on their way together */
#define REFINE_SUMS    (3 + PLANES_PRODUCTS)
#define REFINE_COUNTS  3u
#define REFINE_CHUNK   131072u /* points whose products 64 bits hold: 2^17 of 2^46 */
#define REFINE_COLUMNS 64u     /* counters of a row, one a tilt: each lane has a bank of its own */

/* What was accepted so far in a round. */
typedef struct accepted_list {
    uint32_t count;
    planes_candidate list[PLANES_MAX_PEAKS];
} accepted_list;

typedef struct refine_job {
    const planes_cuda_point *sample;
    uint32_t count, words; /* points; words of a bit for each */
    planes_refining how;
    const planes_start *starts;
    uint32_t *free_points;   /* [words] */
    uint32_t *pool;          /* [blocks at once][count] points near a peak's plane */
    uint32_t *masks;         /* [batch][PLANES_MASKS][words] */
    planes_candidate *batch; /* [batch] */
    accepted_list *accepted;
    planes_calibrated *calibrated_list; /* [peaks] */
} refine_job;

/* What a block shares. Thread 0 decides; the others see it behind a barrier. */
typedef struct refine_state {
    planes_refinement r;
    planes_level level;
    planes_plane plane; /* of the pass that is due */
    planes_sums sums;
    planes_calibrated calibrated;
    bool go_on;
    uint32_t pool_count;
    uint32_t counts[PLANES_MASKS]; /* free points of each mask */
    long long of_warp[REFINE_WARPS][REFINE_SUMS];
    uint32_t counts_of_warp[REFINE_WARPS][REFINE_COUNTS];
    unsigned long long best[REFINE_WARPS + 1]; /* of each warp, then of all */
    float direction[PLANES_TILTS][3];
    uint32_t counters[PLANES_LEVEL_ROWS][REFINE_COLUMNS];
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
    for (uint64_t base = threadIdx.x - lane; base < job->count; base += REFINE_THREADS * REFINE_AHEAD) {
        planes_cuda_point p[REFINE_AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < REFINE_AHEAD; k++) {
            const uint64_t i = base + k * REFINE_THREADS + lane;
            p[k] = load_point(job->sample, i < job->count ? (uint32_t)i : 0);
        }
#pragma unroll
        for (uint32_t k = 0; k < REFINE_AHEAD; k++) {
            const uint64_t i = base + k * REFINE_THREADS + lane;
            const uint32_t open = base + k * REFINE_THREADS < job->count ? job->free_points[i / CUDA_WARP] : 0;
            const bool near =
                (open >> lane & 1) != 0 && fabsf(planes_distance(&plane, p[k].x, p[k].y, p[k].z)) <= plane.tolerance;
            const uint32_t found = __ballot_sync(CUDA_ALL, near);
            if (found == 0) continue;
            const uint32_t place = warp_reserve(&s->pool_count, found);
            if (near) pool[place] = (uint32_t)i;
        }
    }
    __syncthreads();
}

/* ---- sums */

typedef struct near_sums {
    long long sums[REFINE_SUMS];
    uint32_t counts[REFINE_COUNTS]; /* within the tolerance, within half of it, within twice */
} near_sums;

static __device__ inline void add_near(near_sums *to, const planes_plane *plane, const planes_cuda_point *p) {
    const float size = fabsf(planes_distance(plane, p->x, p->y, p->z));
    if (size > 2.0f * plane->tolerance || !planes_normal_allows(p->normal, plane->normal, plane->cone)) return;
    to->counts[2] += size > plane->tolerance;
    if (size > plane->tolerance) return;
    const long long x = (long long)p->x, y = (long long)p->y, z = (long long)p->z;
    const long long mine[REFINE_SUMS] = {x, y, z, x * x, x * y, x * z, y * y, y * z, z * z};
    to->counts[0]++;
    to->counts[1] += size <= 0.5f * plane->tolerance;
#pragma unroll
    for (uint32_t k = 0; k < REFINE_SUMS; k++) to->sums[k] += mine[k];
}

/* A block's sums of threads, added to s->sums. */
static __device__ void add_sums(near_sums *mine, refine_state *s) {
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    if (__any_sync(CUDA_ALL, (mine->counts[0] | mine->counts[2]) != 0)) {
        CUDA_ROLLED
        for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
#pragma unroll
            for (uint32_t k = 0; k < REFINE_SUMS; k++) mine->sums[k] += warp_exchange(mine->sums[k], away);
#pragma unroll
            for (uint32_t k = 0; k < REFINE_COUNTS; k++) mine->counts[k] += warp_exchange(mine->counts[k], away);
        }
    }
    if (threadIdx.x % CUDA_WARP == 0) {
        for (uint32_t k = 0; k < REFINE_SUMS; k++) s->of_warp[warp][k] = mine->sums[k];
        for (uint32_t k = 0; k < REFINE_COUNTS; k++) s->counts_of_warp[warp][k] = mine->counts[k];
    }
    __syncthreads();
    if (threadIdx.x < REFINE_SUMS) {
        long long all = 0;
        for (uint32_t w = 0; w < REFINE_WARPS; w++) all += s->of_warp[w][threadIdx.x];
        if (threadIdx.x < 3) s->sums.first[threadIdx.x] += all;
        if (threadIdx.x >= 3) planes_add_product(&s->sums, (int)threadIdx.x - 3, all);
    } else if (threadIdx.x < REFINE_SUMS + REFINE_COUNTS) {
        uint32_t all = 0;
        const uint32_t k = threadIdx.x - REFINE_SUMS;
        for (uint32_t w = 0; w < REFINE_WARPS; w++) all += s->counts_of_warp[w][k];
        uint64_t *to = k == 0 ? &s->sums.count : k == 1 ? &s->sums.inner : &s->sums.in_bands[0];
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
        const uint32_t end = count - first < REFINE_CHUNK ? count : first + REFINE_CHUNK;
        near_sums mine;
        memset(&mine, 0, sizeof mine);
#pragma unroll 4
        for (uint32_t k = first + threadIdx.x; k < end; k += REFINE_THREADS) {
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
    for (uint32_t i = threadIdx.x; i < rows * REFINE_COLUMNS; i += REFINE_THREADS) counters[i] = 0;
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
    for (uint32_t base = threadIdx.x - lane; base < count; base += REFINE_THREADS) {
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
            const uint32_t from = warp_first(voters);
            const float at_x = warp_broadcast(x, from), at_y = warp_broadcast(y, from), at_z = warp_broadcast(z, from);
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

static __device__ void find_best(refine_state *s) {
    const uint32_t tilt = threadIdx.x % REFINE_COLUMNS, rows = 2 * (uint32_t)s->level.bins - 1;
    unsigned long long key = 0;
    for (uint32_t row = threadIdx.x / REFINE_COLUMNS; row < rows && tilt < PLANES_TILTS;
         row += REFINE_THREADS / REFINE_COLUMNS) {
        const uint32_t votes = s->counters[row + 1][tilt] + s->counters[row + 2][tilt];
        const unsigned long long found = vote_key(votes, tilt, row);
        key = found > key ? found : key;
    }
    key = warp_max(key);
    if (threadIdx.x % CUDA_WARP == 0) s->best[threadIdx.x / CUDA_WARP] = key;
    __syncthreads();
    if (threadIdx.x >= CUDA_WARP) return;
    key = warp_max(s->best[threadIdx.x % REFINE_WARPS]);
    if (threadIdx.x == 0) s->best[REFINE_WARPS] = key;
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
    const unsigned long long best = s->best[REFINE_WARPS];
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

/* ---- one peak */

/* s->r.fit.valid in the end says whether there is a plane. */
static __device__ void refine(const refine_job *job, const planes_start *start, uint32_t *pool, refine_state *s) {
    if (threadIdx.x == 0) {
        s->r = planes_refinement_begin(&job->how, start);
        s->plane = planes_pass_plane(&job->how, &s->r.fit, planes_pool_reach(&job->how));
    }
    take_pool(job, pool, s);
    if (s->pool_count < job->how.min) return;
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
    for (uint32_t w = threadIdx.x / CUDA_WARP; w < job->words; w += REFINE_WARPS) {
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

#endif
