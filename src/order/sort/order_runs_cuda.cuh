/* What the sort of runs and that of long runs share: tiles of keys, and the runs in them. */
#ifndef MOTE_ORDER_RUNS_CUDA_CUH
#define MOTE_ORDER_RUNS_CUDA_CUH

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

/* The run of the key at a place. Of a run that reaches beyond the tile and its halo only a part is seen, but one that
   is long enough to be taken for long. */
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

typedef struct run_output {
    uint64_t *codes;
    uint32_t *order;
    uint4 *records; /* packed keys only */
    order_found *found;
    uint32_t *tiles;
} run_output;

static inline run_output output_of(const order_sort *sort) {
    const run_output out = {sort->pairs.other_keys, sort->pairs.other_values, sort->records, sort->notes,
                            order_tiles(sort)};
    return out;
}

static __device__ inline uint4 fetch_record(const order_records &from, uint32_t index) {
    return __ldg(index < from.last_index ? (const uint4 *)from.points.axes[0] + index : from.last);
}

#endif
