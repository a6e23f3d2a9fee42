/* The second half of the sort: keys lie in runs that share their upper bits, in the order of the input. A run of up to
   LONG_RUN is sorted where it stands: each point counts how many of its run come before it. The points of longer runs
   are taken out, sorted together by the whole key, and put back into the places that they had. */
#include "core/core.h"
#include "order/order_keys_cuda.h"
#include "order/order_points.h"

#define THREADS  256u
#define TILE     2048u
#define LONG_RUN 128u

/* Where a point goes within its run. */
typedef struct place {
    uint32_t before; /* points of the run that stood before it */
    uint32_t rank;   /* that come before it now */
    bool far;        /* the run is long: neither is known */
} place;

static __device__ inline bool same_run(uint64_t a, uint64_t b, uint32_t rest_bits) { return (a ^ b) >> rest_bits == 0; }

/* key: in shared memory, with LONG_RUN keys on both sides. */
static __device__ inline place find_place(const uint64_t *key, uint32_t rest_bits) {
    const uint64_t own = *key;
    uint32_t before = 0, after = 0, rank = 0;
    place p;
    p.far = same_run(*(key - LONG_RUN), own, rest_bits) || same_run(*(key + LONG_RUN), own, rest_bits);
    while (!p.far && before < LONG_RUN) {
        const uint64_t other = *(key - before - 1);
        if (!same_run(other, own, rest_bits)) break;
        rank += other <= own;
        before++;
    }
    while (!p.far && before + after < LONG_RUN) {
        const uint64_t other = *(key + after + 1);
        if (!same_run(other, own, rest_bits)) break;
        rank += other < own;
        after++;
    }
    p.far = p.far || before + after == LONG_RUN;
    p.before = before;
    p.rank = rank;
    return p;
}

/* UINT64_MAX where there is none: no key is like that in its upper bits. */
static __device__ inline void load_tile(const uint64_t *keys, uint64_t count, uint64_t tile,
                                        uint64_t near[TILE + 2 * LONG_RUN]) {
    for (uint32_t j = threadIdx.x; j < TILE + 2 * LONG_RUN; j += THREADS) {
        const uint64_t at = tile + j; /* LONG_RUN too far */
        near[j] = at >= LONG_RUN && at - LONG_RUN < count ? keys[at - LONG_RUN] : UINT64_MAX;
    }
}

/* flags: 1 where a point is of a long run; far_count: how many are. */
static __global__ void sort_runs(const uint64_t *keys, const uint32_t *values, uint64_t count, uint32_t rest_bits,
                                 order_squeeze squeeze, uint64_t *codes, uint32_t *order, uint8_t *flags,
                                 unsigned long long *far_count) {
    __shared__ uint64_t near[TILE + 2 * LONG_RUN];
    __shared__ unsigned int block_far;
    const uint64_t tile = (uint64_t)blockIdx.x * TILE;
    uint32_t far = 0;
    if (threadIdx.x == 0) block_far = 0;
    load_tile(keys, count, tile, near);
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < TILE && tile + j < count; j += THREADS) {
        const uint64_t *key = &near[LONG_RUN + j];
        const place p = find_place(key, rest_bits);
        flags[tile + j] = p.far;
        far += p.far;
        if (p.far) continue;
        const uint64_t to = tile + j - p.before + p.rank;
        codes[to] = order_unsqueezed(*key, squeeze);
        order[to] = values[tile + j];
    }
    if (far > 0) atomicAdd(&block_far, far);
    __syncthreads();
    if (threadIdx.x == 0 && block_far > 0) atomicAdd(far_count, (unsigned long long)block_far);
}

static __global__ void take(const uint32_t *places, uint64_t count, const uint64_t *keys, const uint32_t *values,
                            uint64_t *out_keys, uint32_t *out_values) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    out_keys[i] = keys[places[i]];
    out_values[i] = values[places[i]];
}

static __global__ void put_back(const uint32_t *places, uint64_t count, const uint64_t *keys, const uint32_t *values,
                                order_squeeze squeeze, uint64_t *codes, uint32_t *order) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    codes[places[i]] = order_unsqueezed(keys[i], squeeze);
    order[places[i]] = values[i];
}

/* Runs keep their places among each other, for the upper bits of a key say which run it is of. */
static mote_status sort_far_with(order_sort *sort, const uint8_t *flags, uint64_t far, uint32_t *places,
                                 uint64_t *found, cuda_pairs64 *pairs) {
    mote_context *ctx = sort->ctx;
    const uint32_t blocks = cuda_blocks(far, THREADS);
    MOTE_TRY(cuda_select(ctx, flags, sort->count, places, found));
    CUDA_LAUNCH(ctx, take, blocks, THREADS, places, far, sort->pairs.keys, sort->pairs.values, pairs->keys,
                pairs->values);
    MOTE_TRY(cuda_launched(ctx, "sort of long runs"));
    MOTE_TRY(cuda_sort64(ctx, pairs, far, 0, (int)sort->key_bits));
    CUDA_LAUNCH(ctx, put_back, blocks, THREADS, places, far, pairs->keys, pairs->values, sort->squeeze,
                sort->pairs.other_keys, sort->pairs.other_values);
    return cuda_launched(ctx, "sort of long runs");
}

static mote_status sort_far(order_sort *sort, const uint8_t *flags, uint64_t far, uint64_t *found) {
    cuda_pairs64 pairs;
    mote_status status = MOTE_ERROR_MEMORY;
    memset(&pairs, 0, sizeof pairs);
    uint32_t *const places = (uint32_t *)cuda_alloc(sort->ctx, far * sizeof *places, "sort indices");
    if (places != NULL) status = order_pairs_alloc(sort->ctx, far, &pairs);
    if (status == MOTE_OK) status = sort_far_with(sort, flags, far, places, found, &pairs);
    order_pairs_free(sort->ctx, &pairs);
    cuda_free(sort->ctx, places);
    return status;
}

static void exchange(cuda_pairs64 *pairs) {
    const cuda_pairs64 was = *pairs;
    pairs->keys = was.other_keys;
    pairs->values = was.other_values;
    pairs->other_keys = was.keys;
    pairs->other_values = was.values;
}

static mote_status finish_with(order_sort *sort, uint8_t *flags, uint64_t *counter) {
    mote_context *ctx = sort->ctx;
    uint64_t far = 0;
    MOTE_TRY(cuda_fill(ctx, counter, 0, sizeof *counter));
    CUDA_LAUNCH(ctx, sort_runs, cuda_blocks(sort->count, TILE), THREADS, sort->pairs.keys, sort->pairs.values,
                sort->count, sort->rest_bits, sort->squeeze, sort->pairs.other_keys, sort->pairs.other_values, flags,
                (unsigned long long *)counter);
    MOTE_TRY(cuda_launched(ctx, "sort of runs"));
    MOTE_TRY(cuda_download(ctx, &far, counter, sizeof far));
    if (far > sort->count / 4) { /* then all at once is cheaper, and takes no more memory */
        MOTE_TRY(cuda_sort64(ctx, &sort->pairs, sort->count, 0, (int)sort->key_bits));
        return order_cuda_unsqueeze(sort);
    }
    if (far > 0) MOTE_TRY(sort_far(sort, flags, far, counter));
    exchange(&sort->pairs);
    return MOTE_OK;
}

mote_status order_cuda_finish(order_sort *sort) {
    mote_context *ctx = sort->ctx;
    mote_status status = MOTE_ERROR_MEMORY;
    uint8_t *const flags = (uint8_t *)cuda_alloc(ctx, sort->count, "sort flags");
    uint64_t *const counter = (uint64_t *)cuda_alloc(ctx, sizeof *counter, "sort flags");
    if (flags != NULL && counter != NULL) status = finish_with(sort, flags, counter);
    cuda_free(ctx, counter);
    cuda_free(ctx, flags);
    return status;
}
