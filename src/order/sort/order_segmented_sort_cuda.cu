/* The second half of the sort: keys lie in runs that share their upper bits, in the order of the input. A run of up to
   128 points is sorted where it stands: each point counts how many of its run come before it. Longer runs are sorted by
   order_long_runs_cuda.cu. Packed keys lack the bits that runs are sorted by: points are fetched, and codes made of
   them again. */
#include "core/core.h"
#include "order/sort/order_runs_cuda.cuh"

#define UNKNOWN_PLACE UINT16_MAX /* a place that is not known yet */

/* How many keys of the run are below the one at a place. same: how many are equal to it, itself too. REMAINING_BITS: an
   integer with a bit more than those in which keys of a run differ, so that the highest bit of a difference is its
   sign. */
template <typename REMAINING_BITS>
static __device__ inline uint32_t rank_in_run(const uint64_t tile_keys[runs_policy::tile_and_halo], run r, uint32_t at,
                                              uint32_t *same) {
    const uint32_t sign = 8 * sizeof(REMAINING_BITS) - 1;
    const REMAINING_BITS own = (REMAINING_BITS)tile_keys[at];
    uint32_t below = 0, above = 0;
    CUDA_ROLLED /* runs differ in length: the rest of an unrolled loop would part the threads */
        for (const uint64_t *k = tile_keys + r.first; k < tile_keys + r.end; k++) {
        const REMAINING_BITS other = (REMAINING_BITS)*k;
        below += (uint32_t)((REMAINING_BITS)(other - own) >> sign);
        above += (uint32_t)((REMAINING_BITS)(own - other) >> sign);
    }
    *same = r.end - r.first - below - above;
    return below;
}

/* How many keys equal to the one at a place stood before it: they stay there, so that the sort is stable. */
static __device__ inline uint32_t equals_before(const uint64_t tile_keys[runs_policy::tile_and_halo], run r,
                                                uint32_t at) {
    uint32_t n = 0;
    CUDA_ROLLED
    for (uint32_t k = r.first; k < at; k++) n += tile_keys[k] == tile_keys[at];
    return n;
}

/* What a block notes of ties: that the tile before, its own or the next has some; that there are long ones. */
enum { TIED_BEFORE = 1, TIED_HERE = 2, TIED_AFTER = 4, TIED_LONG = 8 };

static __device__ inline uint32_t tie_notes(uint32_t same, uint32_t to) {
    const uint32_t where = to < runs_policy::halo                       ? TIED_BEFORE
                           : to < runs_policy::halo + runs_policy::tile ? TIED_HERE
                                                                        : TIED_AFTER;
    return where | (same > ORDER_SHORT_TIE ? TIED_LONG : 0);
}

/* Where the key at a place goes in its run, which is not long. notes: gets what is to be noted of ties */
template <typename REMAINING_BITS>
static __device__ inline uint32_t place_in_run(const uint64_t tile_keys[runs_policy::tile_and_halo], run r, uint32_t at,
                                               uint32_t *notes) {
    uint32_t same;
    uint32_t to = r.first + rank_in_run<REMAINING_BITS>(tile_keys, r, at, &same);
    if (same > 1) {
        to += equals_before(tile_keys, r, at);
        *notes |= tie_notes(same, to);
    }
    return to;
}

/* One thread of a block adds what the block has found: points of long runs, and ties. */
static __device__ inline void write_notes(const run_output *out, uint32_t far, uint32_t notes) {
    uint32_t *const tile = out->tiles + blockIdx.x;
    if (far > 0) {
        atomicAdd((unsigned long long *)&out->found->far, (unsigned long long)far);
        atomicOr(tile, (unsigned int)ORDER_TILE_FAR);
    }
    if (notes == 0) return;
    if (notes & TIED_BEFORE) atomicOr(tile - 1, (unsigned int)ORDER_TILE_TIED);
    if (notes & TIED_HERE) atomicOr(tile, (unsigned int)ORDER_TILE_TIED);
    if (notes & TIED_AFTER) atomicOr(tile + 1, (unsigned int)ORDER_TILE_TIED);
    atomicOr((unsigned long long *)&out->found->ties,
             (unsigned long long)(ORDER_TIES_ANY | (notes & TIED_LONG ? ORDER_TIES_LONG : 0)));
}

template <typename REMAINING_BITS>
static __global__ void sort_runs(const uint64_t *keys, const uint32_t *values, uint64_t count, uint32_t remaining_bits,
                                 order_compaction compaction, run_output out) {
    __shared__ uint64_t tile_keys[runs_policy::tile_and_halo];
    __shared__ uint32_t heads[runs_policy::words + 1];
    __shared__ unsigned int block_far, block_notes;
    const uint64_t tile = (uint64_t)blockIdx.x * runs_policy::tile;
    const uint32_t points = count - tile < runs_policy::tile ? (uint32_t)(count - tile) : runs_policy::tile;
    uint64_t *const codes = out.codes + tile;
    uint32_t *const order = out.order + tile;
    uint32_t far = 0, notes = 0;
    if (threadIdx.x == 0) block_far = block_notes = 0;
    load_tile(keys, count, tile, tile_keys);
    __syncthreads();
    find_heads(tile_keys, remaining_bits, heads);
    __syncthreads();
    CUDA_ROLLED
    for (uint32_t j = threadIdx.x; j < points; j += runs_policy::threads) {
        const uint32_t value = (values + tile)[j], at = runs_policy::halo + j;
        const run r = run_of(heads, at);
        if (run_is_long(r)) {
            far++;
            continue;
        }
        const uint32_t to = place_in_run<REMAINING_BITS>(tile_keys, r, at, &notes);
        codes[(int32_t)(to - runs_policy::halo)] = order_key_code(tile_keys[at], compaction);
        order[(int32_t)(to - runs_policy::halo)] = value;
    }
    if (far > 0) atomicAdd(&block_far, far);
    if (notes > 0) atomicOr(&block_notes, notes);
    __syncthreads();
    if (threadIdx.x == 0) write_notes(&out, block_far, block_notes);
}

/* ---- packed keys */

/* Codes of the keys beside the tile whose short runs reach into it. Each thread looks at one. */
static __device__ inline void fetch_adjacent(const order_records &from, const uint32_t heads[runs_policy::words + 1],
                                             uint32_t mask, uint32_t points,
                                             uint64_t tile_keys[runs_policy::tile_and_halo]) {
    const bool before = threadIdx.x < runs_policy::halo;
    const uint32_t at = before ? threadIdx.x : runs_policy::tile + threadIdx.x;
    const run r = run_of(heads, before ? runs_policy::halo : runs_policy::halo + points - 1);
    if (run_is_long(r) || at < r.first || at >= r.end) return;
    tile_keys[at] = points_int32_code(&from.points, fetch_record(from, (uint32_t)tile_keys[at] & mask));
}

/* Each thread fetches its points at once and keeps them until it knows where they go. */
template <typename REMAINING_BITS>
static __global__ void __launch_bounds__(runs_policy::threads)
    sort_packed_runs(const uint64_t *keys, uint64_t count, uint32_t index_bits, order_records from, run_output out) {
    __shared__ uint64_t tile_keys[runs_policy::tile_and_halo]; /* packed keys, then codes */
    __shared__ uint32_t heads[runs_policy::words + 1];
    __shared__ uint16_t places[runs_policy::tile];
    __shared__ unsigned int block_far, block_notes;
    const uint64_t tile = (uint64_t)blockIdx.x * runs_policy::tile;
    const uint32_t points = count - tile < runs_policy::tile ? (uint32_t)(count - tile) : runs_policy::tile;
    const uint32_t mask = (uint32_t)order_low_mask(index_bits);
    uint64_t *const codes = out.codes + tile;
    uint32_t *const order = out.order + tile;
    uint4 *const sorted = out.records + tile;
    uint32_t index[runs_policy::items], far = 0, notes = 0;
    uint4 records[runs_policy::items];
    if (threadIdx.x == 0) block_far = block_notes = 0;
    load_tile(keys, count, tile, tile_keys);
    __syncthreads();
    find_heads(tile_keys, index_bits, heads);
    __syncthreads();

    /* Keys behind the last lead to the last record, or to none that is kept. */
#pragma unroll
    for (uint32_t i = 0; i < runs_policy::items; i++) {
        index[i] = (uint32_t)tile_keys[runs_policy::halo + i * runs_policy::threads + threadIdx.x] & mask;
        records[i] = fetch_record(from, index[i]);
    }
    fetch_adjacent(from, heads, mask, points, tile_keys);
#pragma unroll
    for (uint32_t i = 0; i < runs_policy::items; i++) {
        tile_keys[runs_policy::halo + i * runs_policy::threads + threadIdx.x] =
            points_int32_code(&from.points, records[i]);
    }
    __syncthreads();

    CUDA_ROLLED
    for (uint32_t j = threadIdx.x; j < points; j += runs_policy::threads) {
        const run r = run_of(heads, runs_policy::halo + j);
        if (run_is_long(r)) {
            far++;
            places[j] = UNKNOWN_PLACE;
        } else {
            places[j] = (uint16_t)place_in_run<REMAINING_BITS>(tile_keys, r, runs_policy::halo + j, &notes);
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < runs_policy::items; i++) {
        const uint32_t j = i * runs_policy::threads + threadIdx.x; /* what this thread has just written */
        if (j >= points || places[j] == UNKNOWN_PLACE) continue;
        const int32_t to = (int32_t)(places[j] - runs_policy::halo);
        codes[to] = tile_keys[runs_policy::halo + j];
        order[to] = index[i];
        sorted[to] = records[i];
    }
    if (far > 0) atomicAdd(&block_far, far);
    if (notes > 0) atomicOr(&block_notes, notes);
    __syncthreads();
    if (threadIdx.x == 0) write_notes(&out, block_far, block_notes);
}

/* tiles: looks at those that are not 0; at all if NULL. */
static __global__ void fetch_tied(const uint64_t *codes, const uint32_t *order, uint64_t count, const uint32_t *tiles,
                                  order_records from, uint4 *records) {
    if (tiles != NULL && tiles[blockIdx.x] == 0) return;
    for (uint32_t j = threadIdx.x; j < runs_policy::tile; j += runs_policy::threads) {
        const uint64_t i = (uint64_t)blockIdx.x * runs_policy::tile + j;
        if (i >= count) return;
        const bool tied = (i > 0 && codes[i - 1] == codes[i]) || (i + 1 < count && codes[i + 1] == codes[i]);
        if (tied) records[i] = fetch_record(from, order[i]);
    }
}

mote_status order_cuda_move_tied(const order_sort *sort) {
    mote_device *gpu = sort->gpu;
    CUDA_LAUNCH(gpu, fetch_tied, cuda_blocks(sort->count, runs_policy::tile), runs_policy::threads, sort->pairs.keys,
                sort->pairs.values, sort->count, order_tiles(sort), sort->from, sort->records);
    return cuda_launched(gpu, "ties");
}

/* ---- all runs */

static void launch_pairs(const order_sort *sort, uint32_t blocks, run_output out) {
    mote_device *gpu = sort->gpu;
    if (sort->remaining_bits < 32) {
        CUDA_LAUNCH(gpu, (sort_runs<uint32_t>), blocks, runs_policy::threads, sort->pairs.keys, sort->pairs.values,
                    sort->count, sort->remaining_bits, sort->compaction, out);
    } else {
        CUDA_LAUNCH(gpu, (sort_runs<uint64_t>), blocks, runs_policy::threads, sort->pairs.keys, sort->pairs.values,
                    sort->count, sort->remaining_bits, sort->compaction, out);
    }
}

static void launch_packed(const order_sort *sort, uint32_t blocks, run_output out) {
    mote_device *gpu = sort->gpu;
    const uint64_t differing =
        order_key_code(order_low_mask(sort->remaining_bits), sort->compaction); /* in a run of codes */
    if (differing < 1ull << 31) {
        CUDA_LAUNCH(gpu, (sort_packed_runs<uint32_t>), blocks, runs_policy::threads, sort->pairs.keys, sort->count,
                    sort->run_bits, sort->from, out);
    } else {
        CUDA_LAUNCH(gpu, (sort_packed_runs<uint64_t>), blocks, runs_policy::threads, sort->pairs.keys, sort->count,
                    sort->run_bits, sort->from, out);
    }
}

/* Fills the other keys and values, except those of long runs; and found. */
static mote_status sort_short_runs(order_sort *sort) {
    mote_device *gpu = sort->gpu;
    const uint32_t blocks = cuda_blocks(sort->count, runs_policy::tile);
    const uint64_t notes_bytes = sizeof *sort->notes + blocks * sizeof(uint32_t);
    sort->notes = (order_found *)cuda_alloc(gpu, notes_bytes, "sort notes");
    if (sort->notes == NULL) return MOTE_ERROR_MEMORY;
    const run_output out = output_of(sort);
    MOTE_TRY(cuda_fill(gpu, sort->notes, 0, notes_bytes));
    if (sort->packed) {
        launch_packed(sort, blocks, out);
    } else {
        launch_pairs(sort, blocks, out);
    }
    MOTE_TRY(cuda_launched(gpu, "sort of runs"));
    return cuda_download(gpu, &sort->found, sort->notes, sizeof sort->found);
}

mote_status order_cuda_segmented_sort(order_sort *sort) {
    MOTE_TRY(sort_short_runs(sort));
    if (sort->found.far > 0) MOTE_TRY(order_cuda_sort_long_runs(sort));
    order_pairs_swap(&sort->pairs);
    return MOTE_OK;
}
