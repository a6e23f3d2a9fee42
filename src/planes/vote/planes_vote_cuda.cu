/* The vote on the GPU. Lanes are directions, and all lanes of a warp take the same point: a lane's counters lie in a
   bank of shared memory of their own, so the votes of a warp never wait for each other. Counters have 16 bits, two in
   a word: a block takes fewer points than one could overflow by, then adds its rows to the accumulator.

   Which two share a word:
   few bins   those of two directions of a lane in the same bin: what is added is a constant, and the place is a shift
   else       those of two bins of one direction: half as many rows
   With more bins yet a warp takes several points at once, for fewer directions, whose lanes then may meet in a bank. */
#include "device/cuda/cuda_kernel.cuh"
#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define THREADS  256u
#define WARPS    (THREADS / CUDA_WARP)
#define RESIDENT 4u     /* blocks on a multiprocessor: what its shared memory holds */
#define WORDS    12288u /* of counters: 48 KB */
#define BATCH    8u     /* points of a lane whose loads are on their way together */
#define PART_MAX                                                                                                       \
    65472u             /* points of a block: as many votes as a counter of 16 bits takes; whole batches of all warps   \
                        */
#define PART_MIN 1024u /* below, writing the rows would take longer than the votes */

typedef struct vote_job {
    const planes_cuda_point *points, *directions;
    uint32_t *counters;
    uint32_t point_count, direction_count, bins;
    uint32_t groups; /* of directions */
    uint32_t parts, part_points;
    uint32_t rows;      /* of shared memory that are used: a multiple of 32 */
    uint32_t tile_bins; /* that they have */
    uint32_t tiles;     /* more than 1: for as many bins as there are blocks for */
    float middle;
    int32_t cone;
} vote_job;

static __device__ inline uint32_t vote_bits(const planes_cuda_point *p, const planes_cuda_point *d, float middle) {
    return planes_bin_bits(p->x, p->y, p->z, d->x, d->y, d->z, middle);
}

/* How far the bits of a bin lead among the counters, in bytes: rows of COLUMNS words, one for a bin of two directions
   (TWO) or for two bins of one. */
template <uint32_t COLUMNS, bool TWO> static __host__ __device__ constexpr uint32_t bytes_to(uint32_t bits) {
    return TWO ? bits * (COLUMNS * 4) : (bits & ~1u) * (COLUMNS * 2);
}

/* Where a lane's counters would be for the bits 0: then a place takes one shift and one sum. The compiler must
   not see through it, or it would subtract for each vote: a shuffle hides it. */
template <uint32_t COLUMNS, bool TWO> static __device__ inline uint8_t *place_of(uint32_t *counters, uint32_t column) {
    const long long away = (long long)column * 4 - (long long)bytes_to<COLUMNS, TWO>(PLANES_MAGIC_BITS);
    return (uint8_t *)(void *)counters + warp_broadcast(away, threadIdx.x % CUDA_WARP);
}

/* One vote. high: of a lane's second direction. */
template <uint32_t COLUMNS, bool TWO, bool TILED>
static __device__ inline void count_vote(uint8_t *place, uint32_t bits, bool high, const vote_job *job, uint32_t tile) {
    if (TILED) {
        const uint32_t bin = bits - PLANES_MAGIC_BITS - tile * job->tile_bins;
        if (bin >= job->tile_bins) return;
        bits = PLANES_MAGIC_BITS + bin;
    }
    uint32_t *counter = (uint32_t *)(void *)(place + bytes_to<COLUMNS, TWO>(bits));
    if (TWO) {
        atomicAdd(counter, high ? 0x10000u : 1u);
    } else {
        atomicAdd(counter, __funnelshift_l(0u, 1u, bits << 4)); /* 1 or 2^16: the shift is taken modulo 32 */
    }
}

/* The direction of no point: it lets all vote in the middle, for nobody. */
static __device__ inline planes_cuda_point direction_at(const vote_job *job, uint32_t d) {
    planes_cuda_point none;
    memset(&none, 0, sizeof none);
    return d < job->direction_count ? job->directions[d] : none;
}

/* A lane's directions vote on the batch of points from there on. */
template <uint32_t COLUMNS, bool TWO, bool CONE>
static __device__ inline void vote_batch(uint8_t *place, const vote_job *job, const planes_cuda_point *points,
                                         uint32_t count, const planes_cuda_point mine[2], uint32_t tile) {
    const uint32_t at_once = CUDA_WARP / COLUMNS, sub = threadIdx.x % CUDA_WARP / COLUMNS;
    planes_cuda_point p[BATCH];
#pragma unroll
    for (uint32_t k = 0; k < BATCH; k++) {
        const uint32_t i = k * at_once + sub;
        const uint4 raw = *(const uint4 *)(const void *)&points[i < count ? i : 0];
        memcpy(&p[k], &raw, sizeof raw);
    }
#pragma unroll
    for (uint32_t k = 0; k < BATCH; k++) {
        if (k * at_once + sub >= count) continue;
#pragma unroll
        for (int h = 0; h < (TWO ? 2 : 1); h++) {
            if (CONE && !planes_normal_allows(p[k].normal, mine[h].normal, job->cone)) continue;
            count_vote<COLUMNS, TWO, COLUMNS == 1>(place, vote_bits(&p[k], &mine[h], job->middle), h == 1, job, tile);
        }
    }
}

/* ---- adding rows to the accumulator */

static __device__ inline void add_count(const vote_job *job, uint32_t direction, uint32_t bin, uint32_t votes) {
    if (direction >= job->direction_count || bin >= job->bins) return;
    uint32_t *to = &job->counters[(uint64_t)direction * job->bins + bin];
    if (job->parts == 1) {
        *to = votes;
    } else if (votes > 0) {
        atomicAdd(to, votes);
    }
}

template <uint32_t COLUMNS, bool TWO>
static __device__ inline void add_word(const vote_job *job, uint32_t group, uint32_t tile, uint32_t row,
                                       uint32_t column, uint32_t word) {
    if (TWO) {
        const uint32_t d = group * (2 * COLUMNS) + column;
        add_count(job, d, row, word & 0xFFFF);
        add_count(job, d + COLUMNS, row, word >> 16);
    } else {
        const uint32_t d = group * COLUMNS + column, bin = tile * job->tile_bins + 2 * row;
        if (2 * row >= job->tile_bins) return;
        add_count(job, d, bin, word & 0xFFFF);
        add_count(job, d, bin + 1, word >> 16);
    }
}

/* Rows lie across, one for each bin; the accumulator has them along. A warp turns 32 of them at a time: each is moved
   round by its own number, so that neither rows nor columns meet in a bank. */
template <bool TWO> static __device__ void add_rows_turned(const vote_job *job, uint32_t group, uint32_t *counters) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    for (uint32_t first = warp * CUDA_WARP; first < job->rows; first += WARPS * CUDA_WARP) {
        uint32_t *square = counters + first * CUDA_WARP;
        for (uint32_t row = 0; row < CUDA_WARP; row += BATCH) {
            uint32_t words[BATCH];
#pragma unroll
            for (uint32_t k = 0; k < BATCH; k++) words[k] = square[(row + k) * CUDA_WARP + lane];
            __syncwarp();
#pragma unroll
            for (uint32_t k = 0; k < BATCH; k++) {
                square[(row + k) * CUDA_WARP + ((lane + row + k) & (CUDA_WARP - 1))] = words[k];
            }
        }
        __syncwarp();
        for (uint32_t column = 0; column < CUDA_WARP; column++) {
            const uint32_t word = square[lane * CUDA_WARP + ((lane + column) & (CUDA_WARP - 1))];
            add_word<CUDA_WARP, TWO>(job, group, 0, first + lane, column, word);
        }
    }
}

template <uint32_t COLUMNS>
static __device__ void add_rows(const vote_job *job, uint32_t group, uint32_t tile, const uint32_t *counters) {
    for (uint32_t column = 0; column < COLUMNS; column++) {
        for (uint32_t row = threadIdx.x; row < job->rows; row += THREADS) {
            add_word<COLUMNS, false>(job, group, tile, row, column, counters[row * COLUMNS + column]);
        }
    }
}

/* ---- the kernel */

/* A block lets a part of the points vote for a group of directions. Blocks beside each other share the part. */
template <uint32_t COLUMNS, bool TWO, bool CONE>
static __global__ void __launch_bounds__(THREADS, RESIDENT) vote_kernel(vote_job job) {
    __shared__ uint32_t counters[WORDS];
    const uint32_t group = blockIdx.x % job.groups, tile = blockIdx.x / job.groups % job.tiles;
    const uint32_t part = blockIdx.x / job.groups / job.tiles;
    const uint32_t warp = threadIdx.x / CUDA_WARP, column = threadIdx.x % COLUMNS;
    const uint32_t step = BATCH * (CUDA_WARP / COLUMNS); /* points that a warp takes at once */
    const uint32_t begin = part * job.part_points;
    const uint32_t count = min(job.part_points, job.point_count - begin);
    const planes_cuda_point *points = job.points + begin;
    uint8_t *place = place_of<COLUMNS, TWO>(counters, column);
    planes_cuda_point mine[2];
    mine[0] = direction_at(&job, group * (TWO ? 2 * COLUMNS : COLUMNS) + column);
    mine[1] = direction_at(&job, TWO ? group * (2 * COLUMNS) + COLUMNS + column : UINT32_MAX);
    for (uint32_t i = threadIdx.x; i < job.rows * COLUMNS; i += THREADS) counters[i] = 0;
    __syncthreads();
    uint32_t i = warp * step;
    CUDA_ROLLED for (; i + step <= count; i += WARPS * step) {
        vote_batch<COLUMNS, TWO, CONE>(place, &job, points + i, step, mine, tile);
    }
    if (i < count) vote_batch<COLUMNS, TWO, CONE>(place, &job, points + i, count - i, mine, tile);
    __syncthreads();
    if (COLUMNS == CUDA_WARP) {
        add_rows_turned<TWO>(&job, group, counters);
    } else {
        add_rows<COLUMNS>(&job, group, tile, counters);
    }
}

/* ---- launching */

template <uint32_t COLUMNS, bool TWO> static mote_status launch_vote(mote_device *gpu, const vote_job *given) {
    vote_job job = *given;
    const uint32_t max_rows = WORDS / COLUMNS, directions = TWO ? 2 * COLUMNS : COLUMNS;
    const uint32_t rows = TWO ? job.bins : (job.bins + 1) / 2;
    job.rows = rows < max_rows ? (rows + CUDA_WARP - 1) / CUDA_WARP * CUDA_WARP : max_rows;
    job.tile_bins = TWO ? job.rows : 2 * job.rows;
    job.tiles = (job.bins + job.tile_bins - 1) / job.tile_bins;
    job.groups = (job.direction_count + directions - 1) / directions;
    /* As many parts as overflow asks for, or as fill the device twice, if they are not too small; one if that nearly
       fills it, for then nothing is cleared or added. */
    const uint32_t needed = job.point_count / PART_MAX + (job.point_count % PART_MAX != 0);
    const uint32_t alone = job.groups * job.tiles, worth = job.point_count / PART_MIN;
    const uint32_t resident = cuda_resident_blocks(gpu, (const void *)vote_kernel<COLUMNS, TWO, false>, THREADS);
    const uint32_t filling = alone >= resident / 8 * 7 ? 1 : 2 * resident / alone;
    job.parts = filling < worth ? filling : worth;
    if (job.parts < needed) job.parts = needed;
    if (job.parts < 1) job.parts = 1;
    const uint32_t round = BATCH * WARPS, share = job.point_count / job.parts + (job.point_count % job.parts != 0);
    job.part_points = (share + round - 1) / round * round;
    if (share > 0) job.parts = job.point_count / job.part_points + (job.point_count % job.part_points != 0);
    if (job.parts > 1) {
        MOTE_TRY(cuda_fill(gpu, job.counters, 0, (uint64_t)job.direction_count * job.bins * sizeof *job.counters));
    }
    const uint64_t blocks = (uint64_t)job.groups * job.tiles * job.parts;
    if (blocks > INT32_MAX) return mote_fail(gpu->ctx, MOTE_ERROR_UNSUPPORTED, "too many votes for one launch");
    if (job.cone > 0) {
        CUDA_LAUNCH(gpu, (vote_kernel<COLUMNS, TWO, true>), (uint32_t)blocks, THREADS, job);
    } else {
        CUDA_LAUNCH(gpu, (vote_kernel<COLUMNS, TWO, false>), (uint32_t)blocks, THREADS, job);
    }
    return cuda_launched(gpu, "votes");
}

static mote_status launch(mote_device *gpu, const vote_job *job) {
    const uint32_t bins = job->bins, counters = 2 * WORDS;
    if (bins <= WORDS / CUDA_WARP) return launch_vote<32, true>(gpu, job);
    if (bins <= counters / 32) return launch_vote<32, false>(gpu, job);
    if (bins <= counters / 16) return launch_vote<16, false>(gpu, job);
    if (bins <= counters / 8) return launch_vote<8, false>(gpu, job);
    if (bins <= counters / 4) return launch_vote<4, false>(gpu, job);
    return launch_vote<1, false>(gpu, job);
}

/* ---- counters */

static mote_status make_counters(planes_cuda *p, const planes_directions *table) {
    const uint64_t cells = (uint64_t)table->directions * table->bins;
    p->cells = 0;
    if (p->counter_capacity < cells) {
        cuda_free(p->base.device, p->counters);
        p->counter_capacity = 0;
        p->counters = (uint32_t *)cuda_alloc(p->base.device, cells * sizeof *p->counters, "planes accumulator");
        if (p->counters == NULL) return MOTE_ERROR_MEMORY;
        p->counter_capacity = cells;
    }
    p->cells = cells;
    return MOTE_OK;
}

mote_status planes_vote_cuda(planes_points *points, const planes_voting *how, planes_peak *peaks, uint32_t *count) {
    planes_cuda *p = planes_on_cuda(points);
    planes_directions *table = how->directions;
    vote_job job;
    memset(&job, 0, sizeof job);
    MOTE_TRY(planes_choose_voters_cuda(p, how->voters));
    MOTE_TRY(make_counters(p, table));
    MOTE_TRY(planes_directions_cuda(p, table));
    job.points = p->voters != NULL ? p->voters : p->points;
    job.point_count = p->voter_count;
    job.directions = p->table->direction;
    job.counters = p->counters;
    job.direction_count = table->directions;
    job.bins = table->bins;
    job.middle = table->middle;
    job.cone = points->normals ? table->cone : 0;
    MOTE_TRY(launch(points->device, &job));
    return planes_peaks_cuda(points, how, peaks, count);
}

mote_status planes_read_votes_cuda(planes_points *points, uint32_t *counters) {
    const planes_cuda *p = planes_on_cuda(points);
    return cuda_download(points->device, counters, p->counters, p->cells * sizeof *counters);
}
