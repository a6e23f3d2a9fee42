/* Fine codes on the device. Points that share a code are a run; its points are sorted by what fine codes have below
   codes, by the second half of the sort of codes, to which keys are the number of the run and those bits. */
#include "order/order_fine.h"

#include "core/core.h"
#include "order/lattice/order_points.cuh"
#include "order/order_cuda.h"
#include "order/sort/order_keys_cuda.h"

/* A point for each thread; other numbers were not measured. */
struct fine_policy {
    static constexpr uint32_t threads = 256;
};

#define FINE_BITS (3 * (ORDER_FINE_BITS - MOTE_ORDER_BITS)) /* of a fine code, that its code does not have */
#define FINE_MASK ((1ull << FINE_BITS) - 1)

/* fine [count]: what fine codes have below codes; starts [count + 1]: 1 where a run begins behind the first. order
   NULL: the cloud is sorted */
template <int READING>
static __global__ void make_codes(order_points points, const uint32_t *order, const uint64_t *codes, uint64_t count,
                                  uint64_t *fine, uint32_t *starts) {
    const uint64_t i = (uint64_t)blockIdx.x * fine_policy::threads + threadIdx.x;
    if (i == count) starts[i] = 0;
    if (i >= count) return;
    uint32_t steps[3];
    order_steps<READING>(&points, order != NULL ? order[i] : i, steps);
    fine[i] = order_fine_code(steps, points.by) & FINE_MASK;
    starts[i] = i > 0 && codes[i] != codes[i - 1];
}

/* keys: fine, and the number of the run above. runs_before [count + 1]: starts before a point. values: what is sorted
   with keys, the order, or positions in it if NULL */
static __global__ void make_keys(const uint32_t *runs_before, const uint32_t *order, uint64_t count, uint64_t *keys,
                                 uint32_t *values) {
    const uint64_t i = (uint64_t)blockIdx.x * fine_policy::threads + threadIdx.x;
    if (i >= count) return;
    keys[i] |= (uint64_t)runs_before[i + 1] << FINE_BITS;
    values[i] = order != NULL ? order[i] : (uint32_t)i;
}

/* Sorted keys to fine codes: a place has the code that it had, whose lower levels fine codes begin with. */
static __global__ void finish_codes(const uint64_t *codes, uint64_t count, uint64_t *keys) {
    const uint64_t i = (uint64_t)blockIdx.x * fine_policy::threads + threadIdx.x;
    const uint64_t within = (1ull << 3 * (MOTE_ORDER_BITS - ORDER_FINE_FIRST)) - 1;
    if (i < count) keys[i] = (codes[i] & within) << FINE_BITS | (keys[i] & FINE_MASK);
}

static __global__ void gather(const uint32_t *from, const uint32_t *positions, uint64_t count, uint32_t *out) {
    const uint64_t i = (uint64_t)blockIdx.x * fine_policy::threads + threadIdx.x;
    if (i < count) out[i] = from[positions[i]];
}

/* Halves of records of 16 bytes: out of their places, and back. */
static __global__ void take_halves(const uint2 *records, uint32_t half, const uint32_t *positions, uint64_t count,
                                   uint2 *out) {
    const uint64_t i = (uint64_t)blockIdx.x * fine_policy::threads + threadIdx.x;
    if (i < count) out[i] = records[2ull * positions[i] + half];
}

static __global__ void put_halves(const uint2 *halves, uint32_t half, uint64_t count, uint2 *records) {
    const uint64_t i = (uint64_t)blockIdx.x * fine_policy::threads + threadIdx.x;
    if (i < count) records[2 * i + half] = halves[i];
}

typedef struct fine_sort {
    mote_device *gpu;
    uint64_t count;
    uint32_t blocks;
    uint32_t *runs; /* [count + 1] */
    cuda_pairs64 pairs;
} fine_sort;

static mote_status make_fine(const fine_sort *s, const device_cloud *cloud, const mote_lattice *lattice, bool sorted,
                             const uint64_t *codes, const uint32_t *order) {
    static void (*const kernels[])(order_points, const uint32_t *, const uint64_t *, uint64_t, uint64_t *,
                                   uint32_t *) = {make_codes<ORDER_READ_PLAIN>, make_codes<ORDER_READ_ALIGNED>,
                                                  make_codes<ORDER_READ_BYTES>};
    mote_device *gpu = s->gpu;
    order_points points;
    MOTE_TRY(order_points_of(cloud, lattice, &points));
    CUDA_LAUNCH(gpu, kernels[points.reading], cuda_blocks(s->count + 1, fine_policy::threads), fine_policy::threads,
                points, sorted ? NULL : order, codes, s->count, s->pairs.keys, s->runs);
    MOTE_TRY(cuda_launched(gpu, "fine codes"));
    return cuda_sum32(gpu, s->runs, s->runs, s->count + 1);
}

/* Leaves the new order in pairs.values, or its positions in the order that was if that is NULL: the second half of the
   sort of codes, of keys that are in order but for what fine codes have below codes. */
static mote_status sort_runs(fine_sort *s, const uint32_t *order) {
    static const uint32_t all[3] = {MOTE_MORTON_BITS, MOTE_MORTON_BITS, MOTE_MORTON_BITS};
    mote_device *gpu = s->gpu;
    order_sort sort;
    CUDA_LAUNCH(gpu, make_keys, s->blocks, fine_policy::threads, s->runs, order, s->count, s->pairs.keys,
                s->pairs.values);
    MOTE_TRY(cuda_launched(gpu, "fine codes"));
    cuda_free(gpu, s->runs);
    s->runs = NULL;
    memset(&sort, 0, sizeof sort);
    sort.gpu = gpu;
    sort.count = s->count;
    sort.compaction = order_compaction_make(all); /* keys are what they are */
    sort.remaining_bits = sort.run_bits = FINE_BITS;
    sort.key_bits = FINE_BITS + 32 - (uint32_t)__builtin_clz((uint32_t)(s->count | 1)); /* runs are not more */
    sort.pairs = s->pairs;
    const mote_status status = order_cuda_segmented_sort(&sort);
    s->pairs = sort.pairs;
    cuda_free(gpu, sort.notes);
    return status;
}

/* sorted: pairs.values are positions */
static mote_status put_in_order(const fine_sort *s, bool sorted, const uint64_t *codes, uint32_t *order) {
    mote_device *gpu = s->gpu;
    CUDA_LAUNCH(gpu, finish_codes, s->blocks, fine_policy::threads, codes, s->count, s->pairs.keys);
    if (sorted) {
        CUDA_LAUNCH(gpu, gather, s->blocks, fine_policy::threads, order, s->pairs.values, s->count,
                    s->pairs.other_values);
    }
    MOTE_TRY(cuda_launched(gpu, "fine codes"));
    const uint32_t *const new_order = sorted ? s->pairs.other_values : s->pairs.values;
    return cuda_copy(gpu, order, new_order, s->count * sizeof *order);
}

/* The octree's own copy of the points, half a record after the other: in memory that is there anyway. */
static mote_status move_records(const fine_sort *s, const device_cloud *cloud) {
    mote_device *gpu = s->gpu;
    const mote_column *axes[3];
    MOTE_TRY(device_cloud_positions(cloud, axes));
    uint2 *const records = (uint2 *)(uintptr_t)axes[0]->data, *const halves = (uint2 *)s->pairs.other_keys;
    for (uint32_t half = 0; half < 2; half++) {
        CUDA_LAUNCH(gpu, take_halves, s->blocks, fine_policy::threads, records, half, s->pairs.values, s->count,
                    halves);
        CUDA_LAUNCH(gpu, put_halves, s->blocks, fine_policy::threads, halves, half, s->count, records);
    }
    return cuda_launched(gpu, "fine codes");
}

static bool allocate(fine_sort *s) {
    s->runs = (uint32_t *)cuda_alloc(s->gpu, (s->count + 1) * sizeof *s->runs, "fine codes");
    return s->runs != NULL && order_pairs_alloc(s->gpu, s->count, &s->pairs) == MOTE_OK;
}

mote_status order_cuda_fine_codes(const device_cloud *cloud, const mote_lattice *lattice, bool sorted,
                                  const uint64_t *codes, uint32_t *order, uint64_t count, uint64_t **fine) {
    fine_sort s;
    memset(&s, 0, sizeof s);
    s.gpu = cloud->device;
    s.count = count;
    s.blocks = cuda_blocks(count, fine_policy::threads);
    mote_status status = allocate(&s) ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = make_fine(&s, cloud, lattice, sorted, codes, order);
    if (status == MOTE_OK) status = sort_runs(&s, sorted ? NULL : order);
    if (status == MOTE_OK) status = put_in_order(&s, sorted, codes, order);
    if (status == MOTE_OK && sorted) status = move_records(&s, cloud);
    if (status == MOTE_OK) {
        *fine = s.pairs.keys;
        s.pairs.keys = NULL;
    }
    cuda_free(s.gpu, s.runs);
    order_pairs_free(s.gpu, &s.pairs);
    return status;
}
