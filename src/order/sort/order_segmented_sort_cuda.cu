/* The second half of the sort: keys lie in runs that share their upper bits, in the order of the input. A run of up to
   128 points is sorted where it stands: each point counts how many of its run come before it. The points of longer runs
   are taken out, sorted together by run and by the bits in which points of a run differ, and put back into the places
   that they had; where they are nearly all, they are sorted where they stand. Packed keys lack the bits that runs are
   sorted by: points are fetched, and codes made of them again. */
#include "core/core.h"
#include "device/cuda/warp.cuh"
#include "order/lattice/order_points.cuh"
#include "order/sort/order_keys_cuda.h"

/* A tile and what lies on both sides of it:

     | halo | tile                                        | halo |
       128    2,048, eight for each of 256 threads          128      a run of up to 128 is never cut

   As set here: 1.35 ms for the runs of 100 M points of a city with their records of 16 bytes (H200, 6.8 GB); runs are
   of about eight points there, so that counting within them costs little. */
struct runs_policy {
    static constexpr uint32_t threads = 256, tile = ORDER_TILE, items = tile / threads;
    static constexpr uint32_t halo = 128, tile_and_halo = tile + 2 * halo; /* halo: also the longest run that stays */
    static constexpr uint32_t words = tile_and_halo / CUDA_WARP;           /* of a bit for each key */
};

#define UNKNOWN_PLACE UINT16_MAX /* a place that is not known yet */

static_assert(runs_policy::tile_and_halo % runs_policy::threads == 0, "all threads of a block take as many keys");
static_assert(2 * runs_policy::halo == runs_policy::threads, "a thread for each key beside a tile");

/* Keys of a tile and of a halo on both sides of it; UINT64_MAX where there is none: no
   key is like that in its upper bits. */
static __device__ inline void load_tile(const uint64_t *keys, uint64_t count, uint64_t tile,
                                        uint64_t tile_keys[runs_policy::tile_and_halo]) {
    if (tile >= runs_policy::halo && tile + runs_policy::tile + runs_policy::halo <= count) {
        const uint64_t *from = keys + (tile - runs_policy::halo);
        for (uint32_t i = 0; i < runs_policy::tile_and_halo / runs_policy::threads; i++)
            tile_keys[i * runs_policy::threads + threadIdx.x] = from[i * runs_policy::threads + threadIdx.x];
        return;
    }
    for (uint32_t j = threadIdx.x; j < runs_policy::tile_and_halo; j += runs_policy::threads) {
        const uint64_t at = tile + j; /* a halo too far */
        tile_keys[j] =
            at >= runs_policy::halo && at - runs_policy::halo < count ? keys[at - runs_policy::halo] : UINT64_MAX;
    }
}

/* One bit for each key: whether a run begins there. Both ends count as such: a run that reaches one from the tile is
   long in any case. */
static __device__ inline void find_heads(const uint64_t tile_keys[runs_policy::tile_and_halo], uint32_t run_bits,
                                         uint32_t heads[runs_policy::words + 1]) {
    const uint64_t upper = ~order_low_mask(run_bits);
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    uint32_t word = 0; /* of the words that a warp finds, a lane keeps the one of its number */
    for (uint32_t i = 0; i < runs_policy::tile_and_halo / runs_policy::threads; i++) {
        const uint64_t *own = tile_keys + threadIdx.x + i * runs_policy::threads;
        const uint64_t before = i > 0 ? own[-1] : *(own - (threadIdx.x > 0));
        const uint32_t found = __ballot_sync(CUDA_ALL, ((*own ^ before) & upper) != 0);
        word = lane == i ? found : word;
    }
    if (threadIdx.x == 0) word |= 1;
    if (lane < runs_policy::tile_and_halo / runs_policy::threads)
        heads[lane * (runs_policy::threads / CUDA_WARP) + warp] = word;
    if (threadIdx.x == 0) heads[runs_policy::words] = 1;
}

/* The run of the key at a place: from its first to before its end. */
typedef struct run {
    uint32_t first, end;
} run;

/* Of a long run, a part that is long as well. */
static __device__ inline run find_run(const uint32_t heads[runs_policy::words + 1], uint32_t at) {
    const uint32_t up_to = (2u << at % CUDA_WARP) - 1, word = heads[at / CUDA_WARP];
    const uint32_t far = runs_policy::halo / CUDA_WARP + 1; /* words on either side that are looked at */
    uint32_t k = at / CUDA_WARP, found = word & up_to;
    run r;
    for (uint32_t last = k > far ? k - far : 0; found == 0 && k > last;) found = heads[--k];
    r.first = k * CUDA_WARP + (found != 0 ? 31 - (uint32_t)__clz((int)found) : 0);
    k = at / CUDA_WARP;
    found = word & ~up_to;
    for (uint32_t last = min(k + far, runs_policy::words); found == 0 && k < last;) found = heads[++k];
    if (found == 0) found = 1; /* it goes on */
    r.end = k * CUDA_WARP + (uint32_t)__ffs((int)found) - 1;
    return r;
}

/* at: a place of the tile itself. Most runs end within a word's length on both sides. */
static __device__ inline run run_of(const uint32_t heads[runs_policy::words + 1], uint32_t at) {
    const uint32_t *own = heads + at / CUDA_WARP;
    const uint32_t lane = at % CUDA_WARP;
    const uint32_t back = (uint32_t)(((uint64_t)own[0] << 32 | own[-1]) << (31 - lane) >> 32);
    const uint32_t ahead = (uint32_t)(((uint64_t)own[1] << 32 | own[0]) >> lane) >> 1;
    run r;
    if (back == 0 || ahead == 0) return find_run(heads, at);
    r.first = at - (uint32_t)__clz((int)back);
    r.end = at + (uint32_t)__ffs((int)ahead);
    return r;
}

static __device__ inline bool run_is_long(run r) { return r.end - r.first > runs_policy::halo; }

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

/* Of the keys equal to the one at a place, those that stood before it. */
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

typedef struct run_output {
    uint64_t *codes;
    uint32_t *order;
    uint4 *records; /* packed keys only */
    order_found *found;
    uint32_t *tiles;
} run_output;

static run_output output_of(const order_sort *sort) {
    const run_output out = {sort->pairs.other_keys, sort->pairs.other_values, sort->records, sort->notes,
                            order_tiles(sort)};
    return out;
}

/* By one thread of a block. */
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

static __device__ inline uint4 fetch_record(const order_records &from, uint32_t index) {
    return __ldg(index < from.last_index ? (const uint4 *)from.points.axes[0] + index : from.last);
}

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

/* ---- long runs */

/* flags: 1 where a point is of a long run. */
static __global__ void flag_long_runs(const uint64_t *keys, uint64_t count, uint32_t run_bits, const uint32_t *tiles,
                                      uint8_t *flags) {
    __shared__ uint64_t tile_keys[runs_policy::tile_and_halo];
    __shared__ uint32_t heads[runs_policy::words + 1];
    const uint64_t tile = (uint64_t)blockIdx.x * runs_policy::tile;
    const bool any = (tiles[blockIdx.x] & ORDER_TILE_FAR) != 0; /* the same in the whole block */
    if (any) {
        load_tile(keys, count, tile, tile_keys);
        __syncthreads();
        find_heads(tile_keys, run_bits, heads);
        __syncthreads();
    }
    for (uint32_t j = threadIdx.x; j < runs_policy::tile && tile + j < count; j += runs_policy::threads) {
        flags[tile + j] = any && run_is_long(run_of(heads, runs_policy::halo + j));
    }
}

/* Whole keys of the points of long runs. */
template <bool PACKED>
static __global__ void take(const uint32_t *places, uint64_t count, const uint64_t *keys, uint32_t index_bits,
                            order_records from, order_compaction compaction, uint64_t *out) {
    const uint64_t i = (uint64_t)blockIdx.x * runs_policy::threads + threadIdx.x;
    if (i >= count) return;
    const uint64_t key = keys[places[i]];
    const uint32_t index = (uint32_t)(key & order_low_mask(index_bits));
    out[i] = PACKED ? points_int32_key(&from.points, fetch_record(from, index), compaction, 0) : key;
}

/* What the host asks of long runs. */
typedef struct far_found {
    uint64_t selected;
    unsigned long long heads;     /* points, behind the first, that a run begins with */
    unsigned long long differing; /* bits in which points of one run differ */
    unsigned long long parting;   /* bits in which runs differ */
} far_found;

/* By a warp, whose lanes have bits each. Most warps find nothing new. */
static __device__ inline void add_bits(unsigned long long *to, uint64_t bits) {
    const unsigned long long all = warp_or((unsigned long long)bits);
    if (warp_lane() == 0 && (all & ~*(volatile unsigned long long *)to) != 0) atomicOr(to, all);
}

/* heads [count + 1]: 1 where a run begins behind the first. */
static __global__ void compare_keys(const uint64_t *keys, uint64_t count, uint32_t remaining_bits, uint32_t *heads,
                                    far_found *found) {
    const uint64_t i = (uint64_t)blockIdx.x * runs_policy::threads + threadIdx.x;
    const uint64_t difference = i > 0 && i < count ? keys[i] ^ keys[i - 1] : 0;
    const bool begins = difference >> remaining_bits != 0;
    const uint32_t beginning = (uint32_t)__syncthreads_count(begins);
    if (i <= count) heads[i] = begins;
    add_bits(&found->differing, begins ? 0 : difference);
    if (threadIdx.x == 0 && beginning > 0) atomicAdd(&found->heads, (unsigned long long)beginning);
}

/* The bits that tell points of a run apart, and those that tell runs apart. */
static __global__ void compare_all(const uint64_t *keys, uint64_t count, uint32_t remaining_bits, far_found *found) {
    const uint64_t i = (uint64_t)blockIdx.x * runs_policy::threads + threadIdx.x;
    const uint64_t difference = i > 0 && i < count ? keys[i] ^ keys[i - 1] : 0;
    const uint64_t remaining = order_low_mask(remaining_bits);
    add_bits(&found->differing, difference > remaining ? 0 : difference);
    add_bits(&found->parting, difference & ~remaining);
}

/* The bits that a sort of long runs looks at, and how many there are. */
typedef struct key_window {
    uint32_t first, bits;
} key_window;

static key_window key_window_of(uint64_t differing) {
    key_window w = {0, 0};
    if (differing == 0) return w;
    w.first = (uint32_t)__builtin_ctzll(differing);
    w.bits = 64 - (uint32_t)__builtin_clzll(differing) - w.first;
    return w;
}

/* In place: the number of the run, and below it what its points differ in. heads_before [count + 1] */
static __global__ void number_runs(const uint32_t *heads_before, uint64_t count, key_window window, uint64_t *keys,
                                   uint32_t *numbers) {
    const uint64_t i = (uint64_t)blockIdx.x * runs_policy::threads + threadIdx.x;
    if (i >= count) return;
    const uint64_t within = keys[i] >> window.first & order_low_mask(window.bits);
    keys[i] = (uint64_t)heads_before[i + 1] << window.bits | within;
    numbers[i] = (uint32_t)i;
}

/* numbers: those of places, in their new order. */
template <bool PACKED>
static __global__ void put_back(const uint32_t *places, uint64_t count, const uint32_t *numbers, const uint64_t *keys,
                                const uint32_t *values, uint32_t index_bits, order_records from,
                                order_compaction compaction, run_output out) {
    const uint64_t i = (uint64_t)blockIdx.x * runs_policy::threads + threadIdx.x;
    if (i >= count) return;
    const uint32_t place = places[numbers[i]], to = places[i];
    const uint64_t key = keys[place];
    if (PACKED) {
        const uint32_t index = (uint32_t)(key & order_low_mask(index_bits));
        const uint4 record = fetch_record(from, index);
        out.codes[to] = points_int32_code(&from.points, record);
        out.order[to] = index;
        out.records[to] = record;
    } else {
        out.codes[to] = order_key_code(key, compaction);
        out.order[to] = values[place];
    }
}

/* The arrays of the sort of long runs. */
typedef struct far_sort {
    uint8_t *flags;
    far_found *found; /* in device memory */
    uint32_t *places;
    cuda_pairs64 pairs; /* of one point more */
} far_sort;

static mote_status far_alloc(const order_sort *sort, far_sort *f) {
    mote_device *gpu = sort->gpu;
    f->flags = (uint8_t *)cuda_alloc(gpu, sort->count, "sort flags");
    f->found = (far_found *)cuda_alloc(gpu, sizeof *f->found, "sort flags");
    f->places = (uint32_t *)cuda_alloc(gpu, sort->found.far * sizeof *f->places, "sort indices");
    if (f->flags == NULL || f->found == NULL || f->places == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, f->found, 0, sizeof *f->found));
    return order_pairs_alloc(gpu, sort->found.far + 1, &f->pairs);
}

/* Places and whole keys of the points of long runs. */
static mote_status take_far(const order_sort *sort, const far_sort *f) {
    mote_device *gpu = sort->gpu;
    const uint64_t far = sort->found.far;
    const uint32_t blocks = cuda_blocks(far, runs_policy::threads);
    CUDA_LAUNCH(gpu, flag_long_runs, cuda_blocks(sort->count, runs_policy::tile), runs_policy::threads,
                sort->pairs.keys, sort->count, sort->run_bits, order_tiles(sort), f->flags);
    MOTE_TRY(cuda_launched(gpu, "sort of long runs"));
    MOTE_TRY(cuda_select(gpu, f->flags, sort->count, f->places, &f->found->selected));
    if (sort->packed) {
        CUDA_LAUNCH(gpu, (take<true>), blocks, runs_policy::threads, f->places, far, sort->pairs.keys, sort->run_bits,
                    sort->from, sort->compaction, f->pairs.keys);
    } else {
        CUDA_LAUNCH(gpu, (take<false>), blocks, runs_policy::threads, f->places, far, sort->pairs.keys, sort->run_bits,
                    sort->from, sort->compaction, f->pairs.keys);
    }
    return cuda_launched(gpu, "sort of long runs");
}

static uint32_t bit_length(uint64_t v) { return v == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(v); }

/* By the numbers of the runs, so that these keep their places among each other, and by the bits in which points of a
   run differ: of a dense spot, only those below its size. Of few points, where that would not pay, by the whole key. */
static mote_status sort_keys(const order_sort *sort, far_sort *f) {
    mote_device *gpu = sort->gpu;
    const uint64_t far = sort->found.far;
    far_found found;
    if (far <= sort->count / 4) {
        MOTE_TRY(order_cuda_number(gpu, f->pairs.values, far));
        return cuda_sort64(gpu, &f->pairs, far, 0, (int)sort->key_bits);
    }
    CUDA_LAUNCH(gpu, compare_keys, cuda_blocks(far + 1, runs_policy::threads), runs_policy::threads, f->pairs.keys, far,
                sort->remaining_bits, f->pairs.other_values, f->found);
    MOTE_TRY(cuda_launched(gpu, "sort of long runs"));
    MOTE_TRY(cuda_sum32(gpu, f->pairs.other_values, f->pairs.other_values, far + 1));
    MOTE_TRY(cuda_download(gpu, &found, f->found, sizeof found));
    const key_window window = key_window_of(found.differing);
    CUDA_LAUNCH(gpu, number_runs, cuda_blocks(far, runs_policy::threads), runs_policy::threads, f->pairs.other_values,
                far, window, f->pairs.keys, f->pairs.values);
    MOTE_TRY(cuda_launched(gpu, "sort of long runs"));
    if (window.bits == 0) return MOTE_OK;
    return cuda_sort64(gpu, &f->pairs, far, 0, (int)(window.bits + bit_length(found.heads)));
}

static mote_status sort_far_with(order_sort *sort, far_sort *f) {
    mote_device *gpu = sort->gpu;
    const uint64_t far = sort->found.far;
    const uint32_t blocks = cuda_blocks(far, runs_policy::threads);
    const run_output out = output_of(sort);
    MOTE_TRY(take_far(sort, f));
    MOTE_TRY(sort_keys(sort, f));
    if (sort->packed) {
        CUDA_LAUNCH(gpu, (put_back<true>), blocks, runs_policy::threads, f->places, far, f->pairs.values,
                    sort->pairs.keys, sort->pairs.values, sort->run_bits, sort->from, sort->compaction, out);
    } else {
        CUDA_LAUNCH(gpu, (put_back<false>), blocks, runs_policy::threads, f->places, far, f->pairs.values,
                    sort->pairs.keys, sort->pairs.values, sort->run_bits, sort->from, sort->compaction, out);
    }
    return cuda_launched(gpu, "sort of long runs");
}

static mote_status sort_far(order_sort *sort) {
    far_sort f;
    memset(&f, 0, sizeof f);
    mote_status status = far_alloc(sort, &f);
    if (status == MOTE_OK) status = sort_far_with(sort, &f);
    order_pairs_free(sort->gpu, &f.pairs);
    cuda_free(sort->gpu, f.places);
    cuda_free(sort->gpu, f.found);
    cuda_free(sort->gpu, f.flags);
    return status;
}

/* ---- where nearly all points are of long runs */

/* Whole keys need not be taken out then: all points are sorted by what points of a run differ in, and then by what runs
   differ in. That is as many passes or a few more, but nothing is selected, gathered and put back: 4 M points and a
   stray take 7 to 12 % less in all. Where only most are of long runs, which differ in many bits, it is 7 to 11 % more
   (nine decades of density, H200). */
static bool nearly_all_are_far(const order_sort *sort) {
    return !sort->packed && sort->found.far > sort->count - sort->count / 16;
}

static mote_status sort_by(order_sort *sort, uint64_t differing) {
    const key_window window = key_window_of(differing);
    if (window.bits == 0) return MOTE_OK;
    return cuda_sort64(sort->gpu, &sort->pairs, sort->count, (int)window.first, (int)(window.first + window.bits));
}

static mote_status sort_all_with(order_sort *sort, far_found *device_found) {
    mote_device *gpu = sort->gpu;
    far_found found;
    MOTE_TRY(cuda_fill(gpu, device_found, 0, sizeof found));
    CUDA_LAUNCH(gpu, compare_all, cuda_blocks(sort->count, runs_policy::threads), runs_policy::threads,
                sort->pairs.keys, sort->count, sort->remaining_bits, device_found);
    MOTE_TRY(cuda_launched(gpu, "sort of long runs"));
    MOTE_TRY(cuda_download(gpu, &found, device_found, sizeof found));
    MOTE_TRY(sort_by(sort, found.differing));
    MOTE_TRY(sort_by(sort, found.parting));
    return order_cuda_expand_keys(sort);
}

static mote_status sort_all(order_sort *sort) {
    far_found *const found = (far_found *)cuda_alloc(sort->gpu, sizeof *found, "sort flags");
    const mote_status status = found != NULL ? sort_all_with(sort, found) : MOTE_ERROR_MEMORY;
    cuda_free(sort->gpu, found);
    return status;
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
    if (nearly_all_are_far(sort)) return sort_all(sort);
    if (sort->found.far > 0) MOTE_TRY(sort_far(sort));
    const cuda_pairs64 was = sort->pairs;
    sort->pairs.keys = was.other_keys;
    sort->pairs.values = was.other_values;
    sort->pairs.other_keys = was.keys;
    sort->pairs.other_values = was.values;
    return MOTE_OK;
}
