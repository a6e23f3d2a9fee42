/* Non-maximum suppression and peaks on the GPU. The best are found first: cells are looked at in bands of votes,
   those of half the most votes and more, of a quarter and more and so on, until there are as many maxima as are wanted;
   the most votes of every 32 bins say where to look. A cell is asked for in its own row, then in a few near directions
   from all sides, which most do not survive; then all lanes of a warp ask all near directions for one cell. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define THREADS  256u
#define WARPS    (THREADS / CUDA_WARP)
#define BANDS    4u
#define SIDE     8u /* lanes that read a tile, each 32 / SIDE of its bins */
#define ROUNDS   4u /* of that number of tiles at once, that a warp measures */
#define MEASURED (ROUNDS * CUDA_WARP / SIDE)
#define TILES    8u    /* that a warp looks for maxima in */
#define TRIES    8u    /* near directions that are asked first */
#define AT_ONCE  4u    /* that a lane asks then */
#define FEW      4096u /* maxima that one block sorts */
#define SORTERS  1024u
#define CAPACITY (1u << 20) /* for maxima, at first */

/* What the device tells: how many maxima each band has, then the best of them. */
typedef struct maxima_head {
    unsigned long long counts[BANDS];
    unsigned long long max_peaks; /* votes of a cell */
} maxima_head;

typedef struct maxima_job {
    const uint32_t *counters, *first, *near;
    uint32_t directions, bins, radius, min;
    uint32_t row_tiles; /* pieces of 32 bins of a row */
    uint32_t tiles;
    uint32_t wanted;
    uint32_t *tile_max;       /* [tiles] most votes of a cell */
    maxima_head *head;        /* followed by the keys */
    unsigned long long *keys; /* [capacity] */
    uint64_t capacity;
} maxima_job;

/* ---- where votes are */

static __device__ inline uint32_t tile_votes(const maxima_job *job, uint32_t tile) {
    const uint32_t *row = job->counters + (uint64_t)(tile / job->row_tiles) * job->bins;
    const uint32_t first = tile % job->row_tiles * CUDA_WARP + threadIdx.x % SIDE;
    uint32_t max_peaks = 0;
#pragma unroll
    for (uint32_t k = 0; k < CUDA_WARP; k += SIDE) {
        if (first + k < job->bins) max_peaks = max(max_peaks, row[first + k]);
    }
    return max_peaks;
}

static __global__ void __launch_bounds__(THREADS) measure_tiles(maxima_job job) {
    __shared__ uint32_t of_warp[WARPS];
    const uint32_t warp = threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    const uint32_t begin = (blockIdx.x * WARPS + warp) * MEASURED + lane / SIDE;
    uint32_t votes[ROUNDS], max_peaks = 0;
#pragma unroll
    for (uint32_t r = 0; r < ROUNDS; r++) {
        const uint32_t tile = begin + r * (CUDA_WARP / SIDE);
        votes[r] = tile < job.tiles ? tile_votes(&job, tile) : 0;
    }
#pragma unroll
    for (uint32_t r = 0; r < ROUNDS; r++) {
        const uint32_t tile = begin + r * (CUDA_WARP / SIDE);
        votes[r] = warp_max<SIDE>(votes[r]);
        if (lane % SIDE == 0 && tile < job.tiles) job.tile_max[tile] = votes[r];
        max_peaks = max(max_peaks, votes[r]);
    }
    max_peaks = warp_max(max_peaks);
    if (lane == 0) of_warp[warp] = max_peaks;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (uint32_t w = 1; w < WARPS; w++) max_peaks = max(max_peaks, of_warp[w]);
    /* Asked first: it seldom is, and one after the other is slow. */
    if (max_peaks > *(volatile unsigned long long *)&job.head->max_peaks) {
        atomicMax(&job.head->max_peaks, (unsigned long long)max_peaks);
    }
}

/* ---- which are maxima */

/* The most votes of a row around a bin. RADIUS 0: the job's. */
template <uint32_t RADIUS>
static __device__ inline uint32_t max_around(const maxima_job *job, const uint32_t *row, uint32_t bin) {
    const uint32_t radius = RADIUS > 0 ? RADIUS : job->radius, last = job->bins - 1;
    uint32_t max_peaks = 0;
#pragma unroll
    for (uint32_t k = 0; k <= 2 * radius; k++) {
        const uint32_t at = bin + k > radius ? bin + k - radius : 0; /* at the ends the same twice */
        max_peaks = max(max_peaks, row[at < last ? at : last]);
    }
    return max_peaks;
}

/* Whether a cell of another row beats votes: with more, or with as many if it comes first. */
template <uint32_t RADIUS>
static __device__ inline bool is_beaten_by(const maxima_job *job, uint32_t near, uint32_t direction, uint32_t bin,
                                           uint32_t votes) {
    const uint32_t other = near >> 1, at = (near & 1) != 0 ? job->bins - 1 - bin : bin;
    const uint32_t max_peaks = max_around<RADIUS>(job, job->counters + (uint64_t)other * job->bins, at);
    return other < direction ? max_peaks >= votes : max_peaks > votes;
}

static __device__ inline bool beats_own_row(const maxima_job *job, const uint32_t *row, uint32_t bin, uint32_t votes) {
    bool stands = true;
    for (uint32_t r = 1; r <= job->radius; r++) {
        if (bin >= r && row[bin - r] >= votes) stands = false;
        if (bin + r < job->bins && row[bin + r] > votes) stands = false;
    }
    return stands;
}

/* All lanes, for one cell. */
template <uint32_t RADIUS>
static __device__ bool is_beaten(const maxima_job *job, uint32_t direction, uint32_t bin, uint32_t votes) {
    const uint32_t first = job->first[direction], last = job->first[direction + 1];
    for (uint32_t i = first; i < last; i += AT_ONCE * CUDA_WARP) {
        bool beaten = false;
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const uint32_t mine = i + k * CUDA_WARP + threadIdx.x % CUDA_WARP;
            if (mine < last && is_beaten_by<RADIUS>(job, job->near[mine], direction, bin, votes)) beaten = true;
        }
        if (__any_sync(CUDA_ALL, beaten)) return true;
    }
    return false;
}

/* Whether a lane's cell stands against some near directions, evenly along their list; each lane brings one. */
template <uint32_t RADIUS>
static __device__ bool stands_at_first(const maxima_job *job, uint32_t direction, uint32_t bin, uint32_t votes,
                                       bool stands) {
    const uint32_t first = job->first[direction], count = job->first[direction + 1] - first;
    const uint32_t tries = count < TRIES ? count : TRIES, lane = threadIdx.x % CUDA_WARP;
    const uint32_t brought = lane < tries ? job->near[first + lane * count / tries] : 0;
    for (uint32_t k = 0; k < tries; k++) {
        const uint32_t near = warp_broadcast(brought, k);
        if (stands && is_beaten_by<RADIUS>(job, near, direction, bin, votes)) stands = false;
        if ((k & 1) != 0 && !__any_sync(CUDA_ALL, stands)) break;
    }
    return stands;
}

/* The best first: fewer votes make a larger key, and so does a later cell. */
static __device__ inline uint64_t key_of(uint32_t votes, uint32_t cell) { return (uint64_t)~votes << 32 | cell; }

/* Cells of low votes up to fewer than high. */
typedef struct vote_band {
    uint32_t number, low, high;
    uint64_t before; /* maxima of the bands before */
} vote_band;

static __device__ inline uint32_t low_of(const maxima_job *job, uint32_t band) {
    const uint32_t share = (uint32_t)job->head->max_peaks >> (band + 1);
    return band == BANDS - 1 || share < job->min ? job->min : share;
}

static __device__ inline vote_band band_of(const maxima_job *job, uint32_t number) {
    vote_band band;
    band.number = number;
    band.low = low_of(job, number);
    band.high = number == 0 ? UINT32_MAX : low_of(job, number - 1);
    band.before = 0;
    for (uint32_t b = 0; b < number; b++) band.before += job->head->counts[b];
    return band;
}

template <uint32_t RADIUS>
static __device__ void look_at_tile(const maxima_job *job, const vote_band *band, uint32_t tile) {
    const uint32_t d = tile / job->row_tiles, begin = tile % job->row_tiles * CUDA_WARP;
    const uint32_t bin = begin + threadIdx.x % CUDA_WARP;
    const uint32_t *row = job->counters + (uint64_t)d * job->bins;
    const uint32_t votes = bin < job->bins ? row[bin] : 0;
    bool stands = votes >= band->low && votes < band->high;
    if (!__any_sync(CUDA_ALL, stands)) return;
    stands = stands && beats_own_row(job, row, bin, votes);
    if (!__any_sync(CUDA_ALL, stands)) return;
    stands = stands_at_first<RADIUS>(job, d, bin, votes, stands);
    for (uint32_t rest = __ballot_sync(CUDA_ALL, stands); rest != 0; rest &= rest - 1) {
        const uint32_t lane = warp_first(rest), mine = warp_broadcast(votes, lane);
        if (is_beaten<RADIUS>(job, d, begin + lane, mine) || threadIdx.x % CUDA_WARP != 0) continue;
        const uint64_t at = band->before + atomicAdd(&job->head->counts[band->number], 1ull);
        if (at < job->capacity) job->keys[at] = key_of(mine, d * job->bins + begin + lane);
    }
}

template <uint32_t RADIUS>
static __global__ void __launch_bounds__(THREADS) find_maxima(maxima_job job, uint32_t number) {
    const uint32_t first = (blockIdx.x * WARPS + threadIdx.x / CUDA_WARP) * TILES, lane = threadIdx.x % CUDA_WARP;
    const vote_band band = band_of(&job, number);
    if (band.before >= job.wanted || band.low >= band.high) return; /* the whole grid */
    const bool any = lane < TILES && first + lane < job.tiles && job.tile_max[first + lane] >= band.low;
    for (uint32_t rest = __ballot_sync(CUDA_ALL, any); rest != 0; rest &= rest - 1) {
        look_at_tile<RADIUS>(&job, &band, first + warp_first(rest));
    }
}

/* ---- sorting */

/* Puts few keys in order, where they are. */
static __global__ void __launch_bounds__(SORTERS) sort_short_list(const maxima_head *head, unsigned long long *found) {
    __shared__ unsigned long long keys[FEW];
    unsigned long long all = 0;
    for (uint32_t b = 0; b < BANDS; b++) all += head->counts[b];
    if (all > FEW || all < 2) return; /* the whole block */
    uint32_t size = 2;
    while (size < all) size *= 2;
    for (uint32_t i = threadIdx.x; i < size; i += SORTERS) keys[i] = i < all ? found[i] : UINT64_MAX;
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
    for (uint32_t i = threadIdx.x; i < all; i += SORTERS) found[i] = keys[i];
}

/* Sorts more than FEW maxima, and brings the best ones to the host. keys: [max_peaks] out */
static mote_status sort_large_k(mote_device *gpu, unsigned long long *found, uint64_t all, uint32_t max_peaks,
                                uint64_t *keys) {
    uint64_t *other = (uint64_t *)cuda_alloc(gpu, all * sizeof *other, "planes maxima");
    cuda_keys64 sorted = {(uint64_t *)(void *)found, other};
    if (other == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_sort_keys64(gpu, &sorted, all, 0, 64);
    if (status == MOTE_OK)
        status = cuda_download(gpu, keys, sorted.keys, (all < max_peaks ? all : max_peaks) * sizeof *keys);
    cuda_free(gpu, other);
    return status;
}

/* ---- all of it */

static maxima_job job_of(const planes_cuda *p, const planes_voting *how) {
    const planes_directions *table = how->directions;
    maxima_job job;
    memset(&job, 0, sizeof job);
    job.counters = p->counters;
    job.first = p->table->first;
    job.near = p->table->near;
    job.directions = table->directions;
    job.bins = table->bins;
    job.radius = how->radius < table->bins ? how->radius : table->bins;
    job.min = how->min > 1 ? how->min : 1; /* a cell without votes is no maximum */
    job.row_tiles = (table->bins + CUDA_WARP - 1) / CUDA_WARP;
    job.tiles = job.row_tiles * table->directions;
    return job;
}

static void launch_bands(mote_device *gpu, const maxima_job *job) {
    const uint32_t blocks = cuda_blocks(job->tiles, WARPS * TILES);
    for (uint32_t band = 0; band < BANDS; band++) {
        if (job->radius == 2) {
            CUDA_LAUNCH(gpu, find_maxima<2>, blocks, THREADS, *job, band);
        } else {
            CUDA_LAUNCH(gpu, find_maxima<0>, blocks, THREADS, *job, band);
        }
    }
}

/* head [1] out, of the host, and behind it as many of the best keys as are wanted. */
static mote_status find_into(mote_device *gpu, const maxima_job *job, uint64_t head_keys, maxima_head *head) {
    const uint64_t bytes = sizeof *head + head_keys * sizeof *job->keys;
    MOTE_TRY(cuda_fill(gpu, job->head, 0, bytes));
    CUDA_LAUNCH(gpu, measure_tiles, cuda_blocks(job->tiles, WARPS * MEASURED), THREADS, *job);
    launch_bands(gpu, job);
    CUDA_LAUNCH(gpu, sort_short_list, 1, SORTERS, job->head, job->keys);
    MOTE_TRY(cuda_launched(gpu, "maxima"));
    return cuda_download(gpu, head, job->head, bytes);
}

/* What a download brings. */
typedef struct short_list {
    maxima_head head;
    uint64_t keys[FEW];
} short_list;

static mote_status find_best(mote_device *gpu, maxima_job *job, uint32_t max_peaks, uint64_t *keys, uint64_t *all) {
    short_list found;
    const uint64_t head_keys = max_peaks < FEW ? max_peaks : FEW;
    job->wanted = max_peaks;
    job->tile_max = (uint32_t *)cuda_alloc(gpu, job->tiles * sizeof *job->tile_max, "planes maxima");
    if (job->tile_max == NULL) return MOTE_ERROR_MEMORY;
    for (job->capacity = CAPACITY;; job->capacity = *all) {
        job->head =
            (maxima_head *)cuda_alloc(gpu, sizeof *job->head + job->capacity * sizeof *job->keys, "planes maxima");
        if (job->head == NULL) return MOTE_ERROR_MEMORY;
        job->keys = (unsigned long long *)(void *)(job->head + 1);
        MOTE_TRY(find_into(gpu, job, head_keys, &found.head));
        *all = 0;
        for (uint32_t b = 0; b < BANDS; b++) *all += found.head.counts[b];
        if (*all <= job->capacity) break;
        cuda_free(gpu, job->head); /* rare: again with the room that they need */
    }
    if (*all > FEW) return sort_large_k(gpu, job->keys, *all, max_peaks, keys);
    memcpy(keys, found.keys, (*all < head_keys ? *all : head_keys) * sizeof *keys);
    return MOTE_OK;
}

mote_status planes_peaks_cuda(planes_points *points, const planes_voting *how, planes_peak *peaks, uint32_t *count) {
    const planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    const uint32_t max_peaks = how->max, bins = how->directions->bins;
    maxima_job job = job_of(p, how);
    uint64_t all = 0, *keys = (uint64_t *)mote_alloc(gpu->ctx, max_peaks * sizeof *keys, "planes peaks");
    *count = 0;
    if (keys == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = find_best(gpu, &job, max_peaks, keys, &all);
    if (status == MOTE_OK) *count = all < max_peaks ? (uint32_t)all : max_peaks;
    for (uint32_t i = 0; i < *count; i++) {
        const uint32_t cell = (uint32_t)keys[i];
        peaks[i].votes = ~(uint32_t)(keys[i] >> 32);
        peaks[i].direction = cell / bins;
        peaks[i].bin = cell % bins;
    }
    cuda_free(gpu, job.tile_max);
    cuda_free(gpu, job.head);
    mote_free(gpu->ctx, keys);
    return status;
}
