/* Non-maximum suppression and winners on the GPU. A warp looks at 32 bins of a direction; most have too few votes or a
   better one beside them, and what is left asks near directions until one of them is better. */
#include "backend/cuda_kernel.h"
#include "backend/cuda_primitives.h"
#include "planes/planes_cuda.h"

#define THREADS 256u
#define WARPS   (THREADS / CUDA_WARP)
#define FEW     4096u /* maxima that one block sorts */
#define SORTERS 1024u
#define ROOM    (1u << 20) /* for maxima, at first */

typedef struct maxima_job {
    const uint32_t *counters, *first, *near;
    uint32_t directions, bins, radius, least;
    uint32_t row_tiles; /* pieces of 32 bins of a row */
    uint32_t tiles;
    unsigned long long *found; /* how many, then room for so many keys */
    uint64_t room;
} maxima_job;

/* Whether a cell of another row beats votes: with more, or with as many if it comes first. */
static __device__ inline bool row_beats(const maxima_job *job, uint32_t direction, uint32_t bin, uint32_t votes,
                                        bool comes_first) {
    const uint32_t *row = job->counters + (uint64_t)direction * job->bins;
    const uint32_t low = bin > job->radius ? bin - job->radius : 0;
    const uint32_t high = min(bin + job->radius, job->bins - 1);
    uint32_t most = 0;
    for (uint32_t b = low; b <= high; b++) most = max(most, row[b]);
    return comes_first ? most >= votes : most > votes;
}

static __device__ inline bool beats_own_row(const maxima_job *job, const uint32_t *row, uint32_t bin, uint32_t votes) {
    bool stands = true;
    for (uint32_t r = 1; r <= job->radius; r++) {
        if (bin >= r && row[bin - r] >= votes) stands = false;
        if (bin + r < job->bins && row[bin + r] > votes) stands = false;
    }
    return stands;
}

/* The best first: fewer votes make a larger key, and so does a later cell. */
static __device__ inline uint64_t key_of(uint32_t votes, uint32_t cell) { return (uint64_t)~votes << 32 | cell; }

static __global__ void find_maxima(maxima_job job) {
    const uint32_t tile = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    if (tile >= job.tiles) return;
    const uint32_t d = tile / job.row_tiles, bin = tile % job.row_tiles * CUDA_WARP + lane;
    const uint32_t *row = job.counters + (uint64_t)d * job.bins;
    const uint32_t votes = bin < job.bins ? row[bin] : 0;
    bool stands = votes >= job.least && votes > 0;
    if (!__any_sync(CUDA_ALL, stands)) return;
    stands = stands && beats_own_row(&job, row, bin, votes);
    for (uint32_t i = job.first[d]; i < job.first[d + 1]; i++) {
        if (!__any_sync(CUDA_ALL, stands)) return;
        const uint32_t other = job.near[i] >> 1, at = (job.near[i] & 1) != 0 ? job.bins - 1 - bin : bin;
        if (stands && row_beats(&job, other, at, votes, other < d)) stands = false;
    }
    const uint32_t standing = __ballot_sync(CUDA_ALL, stands);
    unsigned long long base = 0;
    if (lane == 0 && standing != 0) base = atomicAdd(job.found, (unsigned long long)__popc(standing));
    base = __shfl_sync(CUDA_ALL, base, 0) + (uint32_t)__popc(standing & ((1u << lane) - 1));
    if (stands && base < job.room) job.found[1 + base] = key_of(votes, d * job.bins + bin);
}

/* ---- sorting */

/* Puts few keys in order, where they are. */
static __global__ void __launch_bounds__(SORTERS) sort_few(unsigned long long *found) {
    __shared__ unsigned long long keys[FEW];
    const unsigned long long all = found[0];
    if (all > FEW || all < 2) return; /* the whole block */
    uint32_t size = 2;
    while (size < all) size *= 2;
    for (uint32_t i = threadIdx.x; i < size; i += SORTERS) keys[i] = i < all ? found[1 + i] : UINT64_MAX;
    __syncthreads();
    for (uint32_t run = 2; run <= size; run *= 2) {
        for (uint32_t away = run / 2; away > 0; away /= 2) {
            for (uint32_t i = threadIdx.x; i < size / 2; i += SORTERS) {
                const uint32_t low = i / away * (2 * away) + i % away, high = low + away;
                const unsigned long long a = keys[low], b = keys[high];
                if ((a > b) == ((low & run) == 0)) {
                    keys[low] = b;
                    keys[high] = a;
                }
            }
            __syncthreads();
        }
    }
    for (uint32_t i = threadIdx.x; i < all; i += SORTERS) found[1 + i] = keys[i];
}

/* Of more than FEW maxima the best, sorted: keys [most] out, of the host. */
static mote_status sort_many(mote_context *ctx, unsigned long long *found, uint64_t all, uint32_t most,
                             uint64_t *keys) {
    uint64_t *other = (uint64_t *)cuda_alloc(ctx, all * sizeof *other, "planes maxima");
    cuda_keys64 sorted = {(uint64_t *)(void *)(found + 1), other};
    if (other == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_sort_keys64(ctx, &sorted, all, 0, 64);
    if (status == MOTE_OK) status = cuda_download(ctx, keys, sorted.keys, (all < most ? all : most) * sizeof *keys);
    cuda_free(ctx, other);
    return status;
}

/* ---- all of it */

static maxima_job job_of(const planes_cuda *p, const planes_table *table, uint32_t radius, uint32_t least) {
    maxima_job job;
    memset(&job, 0, sizeof job);
    job.counters = p->counters;
    job.first = p->table.first;
    job.near = p->table.near;
    job.directions = table->directions;
    job.bins = table->bins;
    job.radius = radius < table->bins ? radius : table->bins;
    job.least = least;
    job.row_tiles = (table->bins + CUDA_WARP - 1) / CUDA_WARP;
    job.tiles = job.row_tiles * table->directions;
    return job;
}

/* Fills job->found; head [1 + FEW] out, of the host: how many there are, and as many of the best as are wanted. */
static mote_status find_into(mote_context *ctx, const maxima_job *job, uint64_t head_keys, uint64_t *head) {
    MOTE_TRY(cuda_fill(ctx, job->found, 0, sizeof *job->found));
    CUDA_LAUNCH(ctx, find_maxima, cuda_blocks(job->tiles, WARPS), THREADS, *job);
    CUDA_LAUNCH(ctx, sort_few, 1, SORTERS, job->found);
    MOTE_TRY(cuda_launched(ctx, "maxima"));
    return cuda_download(ctx, head, job->found, (1 + head_keys) * sizeof *head);
}

static mote_status find_best(mote_context *ctx, maxima_job *job, uint32_t most, uint64_t *keys, uint64_t *all) {
    uint64_t head[1 + FEW];
    const uint64_t head_keys = most < FEW ? most : FEW;
    for (job->room = ROOM;; job->room = *all) {
        job->found = (unsigned long long *)cuda_alloc(ctx, (1 + job->room) * sizeof *job->found, "planes maxima");
        if (job->found == NULL) return MOTE_ERROR_MEMORY;
        MOTE_TRY(find_into(ctx, job, head_keys, head));
        *all = head[0];
        if (*all <= job->room) break;
        cuda_free(ctx, job->found); /* rare: again with the room that they need */
    }
    if (*all > FEW) return sort_many(ctx, job->found, *all, most, keys);
    memcpy(keys, head + 1, (*all < head_keys ? *all : head_keys) * sizeof *keys);
    return MOTE_OK;
}

mote_status planes_winners_cuda(planes_points *points, const planes_table *table, uint32_t radius, uint32_t least,
                                uint32_t most, planes_winner *winners, uint32_t *count) {
    const planes_cuda *p = planes_on_cuda(points);
    mote_context *ctx = points->ctx;
    maxima_job job = job_of(p, table, radius, least);
    uint64_t all = 0, *keys = (uint64_t *)mote_alloc(ctx, most * sizeof *keys, "planes winners");
    *count = 0;
    if (keys == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = find_best(ctx, &job, most, keys, &all);
    if (status == MOTE_OK) *count = all < most ? (uint32_t)all : most;
    for (uint32_t i = 0; i < *count; i++) {
        const uint32_t cell = (uint32_t)keys[i];
        winners[i].votes = ~(uint32_t)(keys[i] >> 32);
        winners[i].direction = cell / table->bins;
        winners[i].bin = cell % table->bins;
    }
    cuda_free(ctx, job.found);
    mote_free(ctx, keys);
    return status;
}
