/* Ties of the Morton order on the device: points that share a code go by coordinates, then by index. Short runs are
   sorted by the thread of their first point. Long ones are mostly heaps of equal points, in order already; if some are
   not, the points of all long runs are taken out, sorted by a radix sort of their coordinates, and put back. */
#include "core/core.h"
#include "order/lattice/order_points.cuh"
#include "order/order_fine.h"
#include "order/sort/order_keys_cuda.h"

/* With these values the step takes 0.07 ms for 100 M points of a city (H200). */
struct ties_policy {
    static constexpr uint32_t threads = 256;
    static constexpr uint32_t short_run = ORDER_SHORT_TIE; /* points that one thread puts in order */
};

typedef struct tie {
    uint32_t xyz[3], index;
} tie;

template <int READING> static __device__ inline tie tie_of(const order_points *points, uint32_t index) {
    tie t;
    order_steps<READING>(points, index, t.xyz);
    t.index = index;
    return t;
}

static __device__ inline bool comes_before(const tie *a, const tie *b) {
    for (int k = 0; k < 3; k++) {
        if (a->xyz[k] != b->xyz[k]) return a->xyz[k] < b->xyz[k];
    }
    return a->index < b->index;
}

/* What a kernel looks at. */
typedef struct tied {
    const uint64_t *codes;
    uint32_t *order;
    uint64_t count;
} tied;

/* Points that share the code of the one at i, counted in one direction, up to most. */
static __device__ inline uint32_t run_after(const tied *t, uint64_t i, uint32_t max) {
    const uint64_t code = t->codes[i];
    uint32_t n = 0;
    while (n < max && i + n + 1 < t->count && t->codes[i + n + 1] == code) n++;
    return n;
}
static __device__ inline uint32_t run_before(const tied *t, uint64_t i, uint32_t max) {
    const uint64_t code = t->codes[i];
    uint32_t n = 0;
    while (n < max && i > n && t->codes[i - n - 1] == code) n++;
    return n;
}

template <int READING>
static __device__ void insertion_sort(const order_points *points, uint32_t *order, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const tie moving = tie_of<READING>(points, order[i]);
        uint32_t j = i;
        for (; j > 0; j--) {
            const tie other = tie_of<READING>(points, order[j - 1]);
            if (!comes_before(&moving, &other)) break;
            order[j] = other.index;
        }
        order[j] = moving.index;
    }
}

/* Settles the run that begins at i, if one does; true if it is long and stays as it is. */
template <int READING> static __device__ inline bool settle_at(const order_points *points, const tied *t, uint64_t i) {
    if (i + 1 >= t->count || t->codes[i + 1] != t->codes[i] || run_before(t, i, 1) > 0) return false;
    const uint32_t run = 1 + run_after(t, i, ties_policy::short_run);
    if (run <= ties_policy::short_run) insertion_sort<READING>(points, t->order + i, run);
    return run > ties_policy::short_run;
}

/* tiles: looks at those that are not 0; at all if NULL. any: set to 1 if there are long runs. */
template <int READING>
static __global__ void settle_short(order_points points, tied t, const uint32_t *tiles, uint32_t *any) {
    if (tiles != NULL && tiles[blockIdx.x] == 0) return;
    bool found = false;
    for (uint32_t j = threadIdx.x; j < ORDER_TILE; j += ties_policy::threads) {
        found = settle_at<READING>(&points, &t, (uint64_t)blockIdx.x * ORDER_TILE + j) || found;
    }
    if (found) atomicOr(any, 1u);
}

/* flags: 1 where a point is of a long run. found: how many are, and whether some are not in order. */
template <int READING>
static __global__ void find_long(order_points points, tied t, uint8_t *flags, unsigned long long *found) {
    const uint64_t i = (uint64_t)blockIdx.x * ties_policy::threads + threadIdx.x;
    bool is_long = false, unsorted = false;
    if (i < t.count) {
        const uint32_t after = run_after(&t, i, ties_policy::short_run),
                       before = run_before(&t, i, ties_policy::short_run);
        is_long = before + 1 + after > ties_policy::short_run;
        flags[i] = is_long;
        if (is_long && after > 0) {
            const tie own = tie_of<READING>(&points, t.order[i]), next = tie_of<READING>(&points, t.order[i + 1]);
            unsorted = comes_before(&next, &own);
        }
    }
    const int of_block = __syncthreads_count(is_long), any_unsorted = __syncthreads_or(unsorted);
    if (threadIdx.x > 0) return;
    if (of_block > 0) atomicAdd(&found[0], (unsigned long long)of_block);
    if (any_unsorted) atomicOr(&found[1], 1ull);
}

/* The key that a pass sorts the long runs' points by: from the last that counts to the first. */
enum tie_pass { BY_YZ, BY_X, BY_CODE };

template <int READING>
static __global__ void make_keys(order_points points, tied t, const uint32_t *places, uint64_t count, int pass,
                                 const uint32_t *values, uint64_t *keys) {
    const uint64_t i = (uint64_t)blockIdx.x * ties_policy::threads + threadIdx.x;
    if (i >= count) return;
    const uint32_t place = places[values[i]];
    const tie own = tie_of<READING>(&points, t.order[place]);
    if (pass == BY_YZ) {
        keys[i] = (uint64_t)own.xyz[1] << 32 | own.xyz[2];
    } else {
        keys[i] = pass == BY_X ? own.xyz[0] : t.codes[place];
    }
}

static __global__ void take(const uint32_t *order, const uint32_t *places, uint64_t count, const uint32_t *values,
                            uint32_t *out) {
    const uint64_t i = (uint64_t)blockIdx.x * ties_policy::threads + threadIdx.x;
    if (i < count) out[i] = order[places[values[i]]];
}

static __global__ void put_back(uint32_t *order, const uint32_t *places, uint64_t count, const uint32_t *sorted) {
    const uint64_t i = (uint64_t)blockIdx.x * ties_policy::threads + threadIdx.x;
    if (i < count) order[places[i]] = sorted[i];
}

/* The kernels of one way to read. */
typedef struct tie_kernels {
    void (*settle_short)(order_points points, tied t, const uint32_t *tiles, uint32_t *any);
    void (*find_long)(order_points points, tied t, uint8_t *flags, unsigned long long *found);
    void (*make_keys)(order_points points, tied t, const uint32_t *places, uint64_t count, int pass,
                      const uint32_t *values, uint64_t *keys);
} tie_kernels;

static const tie_kernels kernels_of[] = {
    {settle_short<ORDER_READ_PLAIN>, find_long<ORDER_READ_PLAIN>, make_keys<ORDER_READ_PLAIN>},
    {settle_short<ORDER_READ_ALIGNED>, find_long<ORDER_READ_ALIGNED>, make_keys<ORDER_READ_ALIGNED>},
    {settle_short<ORDER_READ_BYTES>, find_long<ORDER_READ_BYTES>, make_keys<ORDER_READ_BYTES>},
};

typedef struct tie_sort {
    mote_device *gpu;
    order_points points;
    tie_kernels kernels;
    tied t;
    const order_sort *sort;
    uint64_t *found; /* [2] in device memory */
} tie_sort;

static mote_status sort_long_with(const tie_sort *s, uint32_t *places, uint64_t count, const uint8_t *flags,
                                  cuda_pairs64 *pairs) {
    mote_device *gpu = s->gpu;
    const uint32_t blocks = cuda_blocks(count, ties_policy::threads);
    static const int bits[] = {64, 32, 64};
    MOTE_TRY(cuda_select(gpu, flags, s->t.count, places, s->found));
    MOTE_TRY(order_cuda_number(gpu, pairs->values, count));
    for (int pass = BY_YZ; pass <= BY_CODE; pass++) {
        CUDA_LAUNCH(gpu, s->kernels.make_keys, blocks, ties_policy::threads, s->points, s->t, places, count, pass,
                    pairs->values, pairs->keys);
        MOTE_TRY(cuda_launched(gpu, "ties"));
        MOTE_TRY(cuda_sort64(gpu, pairs, count, 0, bits[pass]));
    }
    CUDA_LAUNCH(gpu, take, blocks, ties_policy::threads, s->t.order, places, count, pairs->values, pairs->other_values);
    CUDA_LAUNCH(gpu, put_back, blocks, ties_policy::threads, s->t.order, places, count, pairs->other_values);
    return cuda_launched(gpu, "ties");
}

static mote_status sort_long(const tie_sort *s, uint64_t count, const uint8_t *flags) {
    cuda_pairs64 pairs;
    mote_status status = MOTE_ERROR_MEMORY;
    memset(&pairs, 0, sizeof pairs);
    uint32_t *const places = (uint32_t *)cuda_alloc(s->gpu, count * sizeof *places, "order ties");
    if (places != NULL) status = order_pairs_alloc(s->gpu, count, &pairs);
    if (status == MOTE_OK) status = sort_long_with(s, places, count, flags, &pairs);
    order_pairs_free(s->gpu, &pairs);
    cuda_free(s->gpu, places);
    return status;
}

static mote_status settle_long(const tie_sort *s) {
    mote_device *gpu = s->gpu;
    uint64_t found[2] = {0, 0};
    uint8_t *const flags = (uint8_t *)cuda_alloc(gpu, s->t.count, "order ties");
    if (flags == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(gpu, s->found, 0, sizeof found);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, s->kernels.find_long, cuda_blocks(s->t.count, ties_policy::threads), ties_policy::threads,
                    s->points, s->t, flags, (unsigned long long *)s->found);
        status = cuda_launched(gpu, "ties");
    }
    if (status == MOTE_OK) status = cuda_download(gpu, found, s->found, sizeof found);
    if (status == MOTE_OK && found[1] != 0) status = sort_long(s, found[0], flags);
    cuda_free(gpu, flags);
    return status;
}

/* any: set to 1 if a cell holds more than crowd points. cut: the bits of a code below the cell's */
static __global__ void find_crowd(const uint64_t *codes, uint64_t count, uint64_t crowd, uint32_t cut, uint32_t *any) {
    const uint64_t i = (uint64_t)blockIdx.x * ties_policy::threads + threadIdx.x;
    const bool found = i + crowd < count && codes[i] >> cut == codes[i + crowd] >> cut;
    if (__syncthreads_or(found) && threadIdx.x == 0) *(volatile uint32_t *)any = 1;
}

/* Whether fine codes will be asked for. */
static mote_status is_left_to_fine(const tie_sort *s, const order_ties *ties, uint32_t *is_left) {
    mote_device *gpu = s->gpu;
    *is_left = 0;
    if (ties->crowd == 0 || ties->crowd >= s->t.count) return MOTE_OK;
    MOTE_TRY(cuda_fill(gpu, s->found, 0, sizeof *is_left));
    CUDA_LAUNCH(gpu, find_crowd, cuda_blocks(s->t.count - ties->crowd, ties_policy::threads), ties_policy::threads,
                s->t.codes, s->t.count, ties->crowd, 3 * (MOTE_ORDER_BITS - ties->crowd_level), (uint32_t *)s->found);
    MOTE_TRY(cuda_launched(gpu, "ties"));
    return cuda_download(gpu, is_left, s->found, sizeof *is_left);
}

/* Whether the sort of runs has seen all ties. */
static bool ties_are_known(const order_sort *sort) { return sort->notes != NULL && sort->found.far == 0; }

static mote_status settle(const tie_sort *s, const order_ties *ties) {
    mote_device *gpu = s->gpu;
    uint32_t any = (s->sort->found.ties & ORDER_TIES_LONG) != 0, is_left = 0;
    if (any || !ties_are_known(s->sort)) MOTE_TRY(is_left_to_fine(s, ties, &is_left));
    if (is_left) return MOTE_OK;
    MOTE_TRY(cuda_fill(gpu, s->found, 0, sizeof any));
    CUDA_LAUNCH(gpu, s->kernels.settle_short, cuda_blocks(s->t.count, ORDER_TILE), ties_policy::threads, s->points,
                s->t, order_tiles(s->sort), (uint32_t *)s->found);
    MOTE_TRY(cuda_launched(gpu, "ties"));
    if (!ties_are_known(s->sort)) MOTE_TRY(cuda_download(gpu, &any, s->found, sizeof any));
    return any ? settle_long(s) : MOTE_OK;
}

mote_status order_cuda_settle_ties(const device_cloud *cloud, const mote_lattice *lattice, const order_ties *ties,
                                   const order_sort *sort) {
    tie_sort s;
    if (!order_is_divisible(lattice) || sort->count == 0) return MOTE_OK;
    if (ties_are_known(sort) && sort->found.ties == 0) return MOTE_OK;
    memset(&s, 0, sizeof s);
    s.gpu = cloud->device;
    s.t.codes = sort->pairs.keys;
    s.t.order = sort->pairs.values;
    s.t.count = sort->count;
    s.sort = sort;
    MOTE_TRY(order_points_of(cloud, lattice, &s.points));
    s.kernels = kernels_of[s.points.reading];
    s.found = (uint64_t *)cuda_alloc(s.gpu, 2 * sizeof *s.found, "order ties");
    if (s.found == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = settle(&s, ties);
    if (status == MOTE_OK && sort->records != NULL) status = order_cuda_move_tied(sort);
    cuda_free(s.gpu, s.found);
    return status;
}
