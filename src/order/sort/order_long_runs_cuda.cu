/* Points of runs that are too long to be sorted where they stand. They are taken out, sorted together by run and by the
   bits in which points of a run differ, and put back into the places that they had. Where they are nearly all, all
   points are sorted instead. Packed keys lack the bits that runs are sorted by: points are fetched, and codes made of
   them again. */
#include "core/core.h"
#include "order/sort/order_runs_cuda.cuh"

/* ---- taken out and put back */

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

/* Adds the bits that the lanes of a warp have. Most warps find nothing new, and spare the atomic operation. */
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

/* Replaces each key by the number of its run, and below it what the run's points differ in. heads_before [count + 1] */
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
    MOTE_TRY(order_cuda_expand_keys(sort));
    order_pairs_swap(&sort->pairs);
    return MOTE_OK;
}

static mote_status sort_all(order_sort *sort) {
    far_found *const found = (far_found *)cuda_alloc(sort->gpu, sizeof *found, "sort flags");
    const mote_status status = found != NULL ? sort_all_with(sort, found) : MOTE_ERROR_MEMORY;
    cuda_free(sort->gpu, found);
    return status;
}

mote_status order_cuda_sort_long_runs(order_sort *sort) {
    return nearly_all_are_far(sort) ? sort_all(sort) : sort_far(sort);
}
