/* Keys of a few points, sorted with few launches: there a radix sort is all waiting.

   A sample of the keys, put in order, splits them into buckets of some 800 (sample sort, Frazer and McKellar 1970);
   each point goes to its bucket, and a block sorts one, again by a sample. Keys are unique, so that even many points
   in one cell are split evenly. The order within a bucket, in which points happen to come, does not outlast its sort.
   A bucket that is full, which a sample makes unlikely, sends the rest behind all others: order is only speed here. */
#include "device/cuda/warp.cuh"
#include "knn/cuda/index/knn_curve_cuda.cuh"
#include "knn/cuda/index/knn_sample.h"

#define SPLIT_THREADS 512u
#define SPLIT_BLOCKS  128u /* each makes the whole sample */
#define DEAL_THREADS  512u
#define DEAL_ITEMS    4u
#define SORT_THREADS  512u
/* Blocks of a multiprocessor: all 510 buckets of 424,000 points are sorted at once by an H200. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
#define SORT_AT_ONCE 4u
#else
#define SORT_AT_ONCE 2u /* of 1,024 threads */
#endif
#define SORT_WARPS   (SORT_THREADS / CUDA_WARP)
#define SORT_ITEMS   (KNN_SAMPLE_CAPACITY / SORT_THREADS) /* keys of a thread in a full bucket */
#define USUAL_ITEMS  4u /* keys of a thread in nearly all buckets: so few stay in registers */
#define CAPACITY     KNN_SAMPLE_CAPACITY
#define BUCKETS_MAX  (KNN_SAMPLE_MAX / KNN_SAMPLE_BUCKET + 1)
#define SPLIT_PLACES 2048u /* a power of two, above the most buckets */
#define PARTS        128u  /* of a bucket, in its sort */
#define PART_PLACES  4096u /* a power of two, above the most keys of a part */

/* The state of a deal in device memory: all blocks read the splitters and count what comes to each bucket. */
typedef struct sample_deal {
    uint64_t splitter[BUCKETS_MAX];  /* the least key of bucket 1, 2, … */
    uint32_t count[BUCKETS_MAX + 1]; /* keys that came to each bucket; the last: points that are not finite */
    uint32_t spilled;
} sample_deal;

typedef struct deal_arrays {
    uint64_t *buckets; /* [bucket][CAPACITY] */
    uint64_t *keys;    /* [count] out */
    sample_deal *deal;
    uint32_t bucket_count;
} deal_arrays;

/* How many of the splitters, a power of two less one in ascending order, are not above a key; of some keys at once. */
template <uint32_t KEYS>
static __device__ inline void places_among(const uint64_t *splitter, uint32_t places, const uint64_t key[KEYS],
                                           uint32_t at[KEYS]) {
    for (uint32_t i = 0; i < KEYS; i++) at[i] = 0;
    for (uint32_t step = places / 2; step > 0; step /= 2) {
        for (uint32_t i = 0; i < KEYS; i++) at[i] += splitter[at[i] + step - 1] <= key[i] ? step : 0;
    }
}

/* The number of those who joined a counter before. All lanes of a warp join some counter. */
static __device__ inline uint32_t join_counter(uint32_t *counters, uint32_t which) {
    const uint32_t peers = __match_any_sync(CUDA_ALL, which), leader = warp_first(peers);
    uint32_t before = 0;
    if (warp_lane() == leader) before = atomicAdd(&counters[which], (uint32_t)__popc(peers));
    return warp_broadcast(before, leader) + warp_rank(peers);
}

/* ---- splitters */

/* The extent of all points from its parts; and every fourth key of a sample. Each block puts some samples in their
   places by counting smaller ones. */
template <int KIND, bool PLAIN>
static __global__ __launch_bounds__(SPLIT_THREADS) void choose_splitters(knn_cuda_reading from, uint64_t stretch,
                                                                         knn_cuda_curve_key of, knn_cuda_extent *parts,
                                                                         sample_deal *deal, uint32_t buckets) {
    __shared__ uint64_t key[KNN_SAMPLE_EACH * BUCKETS_MAX];
    const uint32_t samples = stretch > 0 ? KNN_SAMPLE_EACH * buckets : 0, lane = threadIdx.x % CUDA_WARP;
    __shared__ knn_hilbert hilbert;
    knn_hilbert_load(&hilbert);
    knn_cuda_extent all;
    knn_extent_of_parts<SPLIT_THREADS>(parts, of.part_count, &all);
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) parts[KNN_CUDA_EXTENT] = all;
        if (threadIdx.x == 0) deal->spilled = 0;
        for (uint32_t b = threadIdx.x; b <= buckets; b += SPLIT_THREADS) deal->count[b] = 0;
    }
    const knn_cuda_extent own[2] = {all, parts[KNN_CUDA_NEARLY]};
    const knn_grid grid = knn_grid_within(of.divided != NULL ? of.divided : own, of.deep, of.cell_bits, of.index_bits);
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < samples; i += SPLIT_THREADS) {
        const uint64_t point = knn_sample_point(i, stretch);
        float view[3];
        const bool exists = knn_view_of<KIND, PLAIN>(&from, point, view);
        key[i] = knn_key_of(&hilbert, &grid, point, exists, view);
    }
    __syncthreads();
    const uint32_t warp = (blockIdx.x * SPLIT_THREADS + threadIdx.x) / CUDA_WARP;
    for (uint32_t i = warp; i < samples; i += gridDim.x * (SPLIT_THREADS / CUDA_WARP)) {
        const uint64_t mine = key[i];
        uint32_t smaller = 0;
        for (uint32_t j = lane; j < samples; j += CUDA_WARP) smaller += key[j] < mine;
        smaller = warp_sum(smaller);
        if (lane > 0 || smaller == 0 || smaller % KNN_SAMPLE_EACH != 0) continue;
        deal->splitter[smaller / KNN_SAMPLE_EACH - 1] = mine;
    }
}

/* ---- into buckets */

static __device__ inline void put_key(const deal_arrays *to, uint64_t count, uint64_t finite, uint32_t bucket,
                                      uint32_t slot, uint64_t key) {
    if (bucket == to->bucket_count) {
        to->keys[count - 1 - slot] = key;
    } else if (slot < CAPACITY) {
        to->buckets[(uint64_t)bucket * CAPACITY + slot] = key;
    } else {
        to->keys[finite - 1 - atomicAdd(&to->deal->spilled, 1u)] = key;
    }
}

template <int KIND, bool PLAIN>
static __global__ __launch_bounds__(DEAL_THREADS, 2) void deal_points(knn_cuda_reading from, uint64_t count,
                                                                      knn_cuda_curve_key of,
                                                                      const knn_cuda_extent *extent, deal_arrays to) {
    __shared__ uint64_t splitter[SPLIT_PLACES];
    __shared__ uint32_t counter[BUCKETS_MAX + 2]; /* the last: lanes without a point */
    __shared__ knn_hilbert hilbert;
    const uint64_t first = (uint64_t)blockIdx.x * (DEAL_THREADS * DEAL_ITEMS) + threadIdx.x;
    float view[DEAL_ITEMS][3];
    bool exists[DEAL_ITEMS];
    if (count == 0) return;
#pragma unroll
    for (uint32_t item = 0; item < DEAL_ITEMS; item++) { /* asked for at once, and before all else */
        const uint64_t i = first + item * DEAL_THREADS;
        exists[item] = knn_view_of<KIND, PLAIN>(&from, i < count ? i : count - 1, view[item]);
    }
    knn_hilbert_load(&hilbert);
    const uint32_t buckets = to.bucket_count;
    const knn_grid grid =
        knn_grid_within(of.divided != NULL ? of.divided : extent, of.deep, of.cell_bits, of.index_bits);
    uint32_t places = 1;
    while (places < buckets) places *= 2;
    for (uint32_t b = threadIdx.x; b < places; b += DEAL_THREADS) {
        splitter[b] = b + 1 < buckets ? to.deal->splitter[b] : UINT64_MAX;
    }
    for (uint32_t b = threadIdx.x; b < buckets + 2; b += DEAL_THREADS) counter[b] = 0;
    __syncthreads();
    uint64_t key[DEAL_ITEMS];
    uint32_t bucket[DEAL_ITEMS], slot[DEAL_ITEMS];
#pragma unroll
    for (uint32_t item = 0; item < DEAL_ITEMS; item++) {
        key[item] = knn_key_of(&hilbert, &grid, first + item * DEAL_THREADS, exists[item], view[item]);
    }
    places_among<DEAL_ITEMS>(splitter, places, key, bucket);
#pragma unroll
    for (uint32_t item = 0; item < DEAL_ITEMS; item++) {
        if (knn_key_is_non_finite(key[item], &grid)) bucket[item] = buckets;
        if (first + item * DEAL_THREADS >= count) bucket[item] = buckets + 1;
        slot[item] = join_counter(counter, bucket[item]);
    }
    __syncthreads();
    for (uint32_t b = threadIdx.x; b <= buckets; b += DEAL_THREADS) {
        if (counter[b] > 0) counter[b] = atomicAdd(&to.deal->count[b], counter[b]);
    }
    __syncthreads();
    const uint64_t finite = extent->finite;
#pragma unroll
    for (uint32_t item = 0; item < DEAL_ITEMS; item++) {
        if (bucket[item] > buckets) continue;
        put_key(&to, count, finite, bucket[item], counter[bucket[item]] + slot[item], key[item]);
    }
}

/* ---- within buckets */

typedef struct sort_memory {
    uint64_t key[CAPACITY]; /* part by part, then in order */
    uint8_t part[CAPACITY]; /* of each of them */
    uint64_t sample[PARTS], splitter[PARTS];
    uint32_t begin[PARTS + 1]; /* of each part; counters before */
    uint32_t before[SORT_WARPS];
} sort_memory;

static __device__ inline uint32_t bucket_size(const sample_deal *deal, uint32_t bucket) {
    return deal->count[bucket] < CAPACITY ? deal->count[bucket] : CAPACITY;
}

/* Keys that split a bucket into parts: some of its own in order, then UINT64_MAX where it has too few. A key's place is
   counted by some threads. */
static __device__ inline void split_bucket(sort_memory *m, const uint64_t *from, uint32_t count) {
    if (threadIdx.x < PARTS) {
        const uint32_t i = count < PARTS ? threadIdx.x : (threadIdx.x + 1) * count / PARTS;
        m->sample[threadIdx.x] = i < count ? from[i] : UINT64_MAX;
        m->splitter[threadIdx.x] = UINT64_MAX;
        m->begin[threadIdx.x] = 0;
    }
    __syncthreads();
    constexpr uint32_t threads = SORT_THREADS / PARTS;
    const uint64_t key = m->sample[threadIdx.x / threads];
    uint32_t before = 0;
#pragma unroll 8
    for (uint32_t j = threadIdx.x % threads; j < PARTS; j += threads) before += m->sample[j] < key;
    before = warp_sum<threads>(before);
    if (threadIdx.x % threads == 0) m->splitter[before] = key;
    __syncthreads();
}

/* Counters of the parts become their beginnings; by one warp. */
static __device__ inline void begin_parts(sort_memory *m, uint32_t lane) {
    uint32_t sum = 0, part[PARTS / CUDA_WARP];
    for (uint32_t i = 0; i < PARTS / CUDA_WARP; i++) {
        part[i] = sum;
        sum += m->begin[lane * (PARTS / CUDA_WARP) + i];
    }
    const uint32_t end = warp_scan_inclusive(sum);
    for (uint32_t i = 0; i < PARTS / CUDA_WARP; i++) m->begin[lane * (PARTS / CUDA_WARP) + i] = end - sum + part[i];
    if (lane == CUDA_WARP - 1) m->begin[PARTS] = end;
}

/* Brings keys to their parts in the block's memory. */
template <uint32_t ITEMS, uint32_t UNROLL>
static __device__ inline void deal_parts(sort_memory *m, const uint64_t *from, uint32_t count) {
    uint64_t key[ITEMS];
    uint32_t at[ITEMS]; /* part · PART_PLACES + which of it */
#pragma unroll UNROLL
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t i = item * SORT_THREADS + threadIdx.x;
        key[item] = i < count ? from[i] : UINT64_MAX;
    }
#pragma unroll UNROLL
    for (uint32_t item = 0; item < ITEMS; item++) {
        if (item * SORT_THREADS + threadIdx.x - threadIdx.x % CUDA_WARP >= count) break;
        uint32_t part = 0;
        places_among<1>(m->splitter, PARTS, &key[item], &part);
        const bool exists = item * SORT_THREADS + threadIdx.x < count;
        at[item] = part * PART_PLACES + join_counter(m->begin, exists ? part : PARTS);
    }
    __syncthreads();
    if (threadIdx.x < CUDA_WARP) begin_parts(m, threadIdx.x);
    __syncthreads();
#pragma unroll UNROLL
    for (uint32_t item = 0; item < ITEMS; item++) {
        if (item * SORT_THREADS + threadIdx.x >= count) break;
        const uint32_t part = at[item] / PART_PLACES, i = m->begin[part] + at[item] % PART_PLACES;
        m->key[i] = key[item];
        m->part[i] = (uint8_t)part;
    }
    __syncthreads();
}

/* Puts up to ITEMS keys a thread in order in the block's memory: into parts, then by counting the smaller ones of a
   part. */
template <uint32_t ITEMS, uint32_t UNROLL>
static __device__ inline void sort_items(sort_memory *m, const uint64_t *from, uint32_t count) {
    uint64_t key[ITEMS];
    uint32_t at[ITEMS];
    deal_parts<ITEMS, UNROLL>(m, from, count);
#pragma unroll UNROLL
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t i = item * SORT_THREADS + threadIdx.x;
        if (i >= count) break;
        const uint32_t begin = m->begin[m->part[i]], end = m->begin[m->part[i] + 1];
        key[item] = m->key[i];
        at[item] = begin;
#pragma unroll 4
        for (uint32_t j = begin; j < end; j++) at[item] += m->key[j] < key[item];
    }
    __syncthreads();
#pragma unroll UNROLL
    for (uint32_t item = 0; item < ITEMS; item++) {
        if (item * SORT_THREADS + threadIdx.x >= count) break;
        m->key[at[item]] = key[item];
    }
    __syncthreads();
}

static __device__ inline void sort_keys(sort_memory *m, const uint64_t *from, uint32_t count) {
    split_bucket(m, from, count);
    if (count <= USUAL_ITEMS * SORT_THREADS) {
        sort_items<USUAL_ITEMS, USUAL_ITEMS>(m, from, count);
    } else {
        sort_items<SORT_ITEMS, 1>(m, from, count);
    }
}

/* A block sorts a bucket. */
static __global__ __launch_bounds__(SORT_THREADS, SORT_AT_ONCE) void sort_buckets(deal_arrays to) {
    __shared__ sort_memory m;
    const uint32_t bucket = blockIdx.x, count = bucket_size(to.deal, bucket);
    uint32_t before = 0; /* keys of the buckets before */
    for (uint32_t b = threadIdx.x; b < bucket; b += SORT_THREADS) before += bucket_size(to.deal, b);
    if (count == 0) return;
    sort_keys(&m, to.buckets + (uint64_t)bucket * CAPACITY, count);
    uint64_t *const out = to.keys + block_sum<SORT_WARPS>(before, m.before);
    for (uint32_t i = threadIdx.x; i < count; i += SORT_THREADS) out[i] = m.key[i];
}

/* ---- launches */

typedef struct sort_step {
    const knn_cuda_reading *reading;
    uint64_t count;
    const knn_cuda_curve_key *of;
    knn_cuda_extent *parts;
    deal_arrays to;
} sort_step;

template <int KIND, bool PLAIN> static void launch_steps(mote_device *gpu, const sort_step *s) {
    const uint32_t buckets = s->to.bucket_count;
    const uint32_t samples = buckets > 1 ? KNN_SAMPLE_EACH * buckets : 0;
    const uint32_t all_blocks = cuda_blocks(samples, SPLIT_THREADS / CUDA_WARP);
    const uint32_t split_blocks = all_blocks < SPLIT_BLOCKS ? all_blocks : SPLIT_BLOCKS;
    const uint64_t stretch = knn_sample_stretch(samples, s->count);
    const uint32_t deal_blocks = cuda_blocks(s->count, DEAL_THREADS * DEAL_ITEMS);
    const knn_cuda_extent *extent = s->parts + KNN_CUDA_EXTENT;
    CUDA_LAUNCH(gpu, (choose_splitters<KIND, PLAIN>), split_blocks, SPLIT_THREADS, *s->reading, stretch, *s->of,
                s->parts, s->to.deal, buckets);
    CUDA_LAUNCH(gpu, (deal_points<KIND, PLAIN>), deal_blocks, DEAL_THREADS, *s->reading, s->count, *s->of, extent,
                s->to);
    CUDA_LAUNCH(gpu, sort_buckets, buckets, SORT_THREADS, s->to);
}

/* Returns how many bytes it takes. */
static uint64_t lay_out(void *scratch, uint64_t count, deal_arrays *to) {
    uint64_t used_bytes = 0;
    to->bucket_count = knn_sample_buckets(count);
    to->buckets = (uint64_t *)knn_cuda_part(scratch, &used_bytes, (uint64_t)to->bucket_count * CAPACITY, 8);
    to->deal = (sample_deal *)knn_cuda_part(scratch, &used_bytes, 1, sizeof(sample_deal));
    return used_bytes;
}

uint64_t knn_cuda_sample_sort_bytes(uint64_t count) {
    deal_arrays to;
    return lay_out(NULL, count, &to);
}

mote_status knn_cuda_sample_sort(mote_device *gpu, const knn_cuda_reading *r, uint64_t count,
                                 const knn_cuda_curve_key *of, knn_cuda_extent *parts, knn_cuda_curve *curve) {
    deal_arrays to;
    lay_out(curve->scratch, count, &to);
    to.keys = curve->keys;
    const sort_step s = {r, count, of, parts, to};
    knn_for_reading(r, [&](auto as) { launch_steps<as.kind, as.plain>(gpu, &s); });
    return cuda_launched(gpu, "sorting");
}
