/* The Morton order of a cloud in device memory: codes, and the sort of all points by them.
   1. One kernel makes squeezed codes (order_squeeze_math.h) and numbers the points.
   2. A stable radix sort by so many of the upper bits that few points share them.
   3. order_finish_cuda.cu sorts the short runs that do by the rest, and makes codes of them again.
   The order is that of a stable sort by the whole code. */
#include "order/order_cuda.h"

#include "core/core.h"
#include "order/lattice.h"
#include "order/order_keys_cuda.h"
#include "order/order_points.h"

#define THREADS 256u
#define ITEMS   4u /* points of a thread: their loads are on their way together */
#define PASS    8u /* bits that a pass of the radix sort takes */

mote_status order_axes_find(const cuda_cloud *cloud, const mote_column *axes[3]) {
    static const char *const names[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        axes[k] = cuda_cloud_find(cloud, names[k]);
        if (axes[k] == NULL) {
            return mote_fail(cloud->ctx, MOTE_ERROR_ARGUMENT, "the cloud has no column %s", names[k]);
        }
    }
    return MOTE_OK;
}

order_reading order_reading_of(const mote_column *const axes[3]) {
    bool plain = true;
    for (int k = 0; k < 3; k++) {
        const uint32_t size = mote_type_size(axes[k]->type);
        if ((uintptr_t)axes[k]->data % size != 0 || axes[k]->stride_bytes % size != 0) return ORDER_READ_BYTES;
        plain = plain && lattice_axis_is_plain(axes[k]);
    }
    return plain ? ORDER_READ_PLAIN : ORDER_READ_ALIGNED;
}

mote_status order_points_of(const cuda_cloud *cloud, const mote_lattice *lattice, order_points *points) {
    const mote_column *axes[3];
    memset(points, 0, sizeof *points);
    MOTE_TRY(order_axes_find(cloud, axes));
    points->lattice = *lattice;
    points->reading = order_reading_of(axes);
    if (points->reading == ORDER_READ_PLAIN && (!lattice->integer || lattice->shift != 0)) {
        points->reading = ORDER_READ_ALIGNED;
    }
    for (int k = 0; k < 3; k++) {
        points->axes[k] = *axes[k];
        points->by[k] = mote_cell_divisor_make(lattice->side[k]);
    }
    return MOTE_OK;
}

mote_status order_pairs_alloc(mote_context *ctx, uint64_t count, cuda_pairs64 *pairs) {
    pairs->keys = (uint64_t *)cuda_alloc(ctx, count * sizeof *pairs->keys, "codes");
    pairs->values = (uint32_t *)cuda_alloc(ctx, count * sizeof *pairs->values, "order");
    pairs->other_keys = (uint64_t *)cuda_alloc(ctx, count * sizeof *pairs->keys, "sort codes");
    pairs->other_values = (uint32_t *)cuda_alloc(ctx, count * sizeof *pairs->values, "sort indices");
    const bool all =
        pairs->keys != NULL && pairs->values != NULL && pairs->other_keys != NULL && pairs->other_values != NULL;
    return all ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void order_pairs_free(mote_context *ctx, cuda_pairs64 *pairs) {
    cuda_free(ctx, pairs->keys);
    cuda_free(ctx, pairs->values);
    cuda_free(ctx, pairs->other_keys);
    cuda_free(ctx, pairs->other_values);
    memset(pairs, 0, sizeof *pairs);
}

/* ---- codes */

/* The point of this thread's item; the last of the cloud where there are no more. */
static __device__ inline uint64_t item_point(uint32_t item, uint64_t count) {
    const uint64_t i = (uint64_t)blockIdx.x * (THREADS * ITEMS) + item * THREADS + threadIdx.x;
    return i < count ? i : count - 1;
}

/* indices NULL: codes as they are; else squeezed, and the points numbered. bad is for points that are not finite. */
template <int READING>
static __global__ void make_codes(order_points points, order_squeeze squeeze, uint64_t count, uint64_t bad,
                                  uint64_t *codes, uint32_t *indices) {
    uint32_t steps[ITEMS][3];
    bool finite[ITEMS];
    for (uint32_t item = 0; item < ITEMS; item++) {
        finite[item] = order_steps<READING>(&points, item_point(item, count), steps[item]);
    }
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint64_t i = (uint64_t)blockIdx.x * (THREADS * ITEMS) + item * THREADS + threadIdx.x;
        if (i >= count) continue;
        const uint64_t code = order_code_of(&points, steps[item]);
        if (indices == NULL) {
            codes[i] = finite[item] ? code : bad;
        } else {
            codes[i] = finite[item] ? order_squeezed(code, squeeze) : bad;
            indices[i] = (uint32_t)i;
        }
    }
}

/* Whole 32-bit integers in a lattice whose sides take quick divisions: all are finite, and few steps make a key. */
typedef struct quick_points {
    const uint8_t *axes[3];
    uint32_t stride_bytes[3];
    uint32_t source_min[3];
    lattice_divisor by[3];
} quick_points;

static bool quick_points_of(const order_points *points, quick_points *quick) {
    if (points->reading != ORDER_READ_PLAIN) return false;
    for (int k = 0; k < 3; k++) {
        if (!lattice_divisor_fits(points->lattice.side[k])) return false;
        quick->axes[k] = (const uint8_t *)points->axes[k].data;
        quick->stride_bytes[k] = points->axes[k].stride_bytes;
        quick->source_min[k] = (uint32_t)points->lattice.source_min[k];
        quick->by[k] = lattice_divisor_make((uint32_t)points->lattice.side[k]);
    }
    return true;
}

/* Aligned records of 16 bytes that begin with the coordinates: each is one load. */
static bool quick_points_are_records(const quick_points *quick) {
    bool records = (uintptr_t)quick->axes[0] % sizeof(uint4) == 0;
    for (int k = 0; k < 3; k++) {
        records = records && quick->axes[k] == quick->axes[0] + 4 * k && quick->stride_bytes[k] == sizeof(uint4);
    }
    return records;
}

/* The memory may end with the last point's z. */
template <bool RECORDS>
static __device__ inline uint4 quick_load(const quick_points *points, uint64_t i, uint64_t last) {
    if (RECORDS && i < last) {
        return __ldg((const uint4 *)points->axes[0] + i);
    } else {
        uint32_t xyz[3];
        for (int k = 0; k < 3; k++) xyz[k] = __ldg((const uint32_t *)(points->axes[k] + i * points->stride_bytes[k]));
        return make_uint4(xyz[0], xyz[1], xyz[2], 0);
    }
}

/* indices may be NULL. */
template <bool RECORDS>
static __global__ void make_keys(quick_points points, order_squeeze squeeze, uint64_t count, uint64_t *keys,
                                 uint32_t *indices) {
    const uint64_t first = (uint64_t)blockIdx.x * (THREADS * ITEMS);
    const uint32_t left = count - first < THREADS * ITEMS ? (uint32_t)(count - first) : THREADS * ITEMS;
    uint4 found[ITEMS];
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t at = item * THREADS + threadIdx.x;
        found[item] = make_uint4(0, 0, 0, 0);
        if (at < left) found[item] = quick_load<RECORDS>(&points, first + at, count - 1);
    }
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t at = item * THREADS + threadIdx.x;
        const uint32_t x = lattice_quick_cell(found[item].x - points.source_min[0], points.by[0]);
        const uint32_t y = lattice_quick_cell(found[item].y - points.source_min[1], points.by[1]);
        const uint32_t z = lattice_quick_cell(found[item].z - points.source_min[2], points.by[2]);
        const uint64_t key = order_cell_key(x, y, z, squeeze);
        if (at >= left) continue;
        keys[first + at] = key;
        if (indices != NULL) indices[first + at] = (uint32_t)first + at;
    }
}

static mote_status launch_codes(mote_context *ctx, const order_points *points, order_squeeze squeeze, uint64_t count,
                                uint64_t bad, uint64_t *codes, uint32_t *indices) {
    const uint32_t blocks = cuda_blocks(count, THREADS * ITEMS);
    quick_points quick;
    if (count == 0) return MOTE_OK;
    if (quick_points_of(points, &quick)) {
        if (quick_points_are_records(&quick)) {
            CUDA_LAUNCH(ctx, (make_keys<true>), blocks, THREADS, quick, squeeze, count, codes, indices);
        } else {
            CUDA_LAUNCH(ctx, (make_keys<false>), blocks, THREADS, quick, squeeze, count, codes, indices);
        }
    } else if (points->reading == ORDER_READ_PLAIN) {
        CUDA_LAUNCH(ctx, (make_codes<ORDER_READ_PLAIN>), blocks, THREADS, *points, squeeze, count, bad, codes, indices);
    } else if (points->reading == ORDER_READ_ALIGNED) {
        CUDA_LAUNCH(ctx, (make_codes<ORDER_READ_ALIGNED>), blocks, THREADS, *points, squeeze, count, bad, codes,
                    indices);
    } else {
        CUDA_LAUNCH(ctx, (make_codes<ORDER_READ_BYTES>), blocks, THREADS, *points, squeeze, count, bad, codes, indices);
    }
    return cuda_launched(ctx, "codes");
}

mote_status order_cuda_codes(const cuda_cloud *cloud, const mote_lattice *lattice, uint64_t *codes) {
    static const uint32_t all[3] = {MOTE_MORTON_BITS, MOTE_MORTON_BITS, MOTE_MORTON_BITS};
    order_points points;
    MOTE_TRY(order_points_of(cloud, lattice, &points));
    return launch_codes(cloud->ctx, &points, order_squeeze_make(all), cloud->count, UINT64_MAX, codes, NULL);
}

static __global__ void number(uint32_t *indices, uint64_t count) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) indices[i] = (uint32_t)i;
}

mote_status order_cuda_number(mote_context *ctx, uint32_t *indices, uint64_t count) {
    CUDA_LAUNCH(ctx, number, cuda_blocks(count, THREADS), THREADS, indices, count);
    return cuda_launched(ctx, "numbers");
}

static __global__ void unsqueeze(uint64_t *codes, uint64_t count, order_squeeze squeeze) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) codes[i] = order_key_code(codes[i], squeeze);
}

mote_status order_cuda_unsqueeze(order_sort *sort) {
    if (order_squeeze_is_identity(sort->squeeze)) return MOTE_OK;
    CUDA_LAUNCH(sort->ctx, unsqueeze, cuda_blocks(sort->count, THREADS), THREADS, sort->pairs.keys, sort->count,
                sort->squeeze);
    return cuda_launched(sort->ctx, "codes");
}

/* ---- the sort */

static uint32_t bit_length(uint64_t v) { return v == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(v); }

/* The bits that the points of a lattice may use. */
static order_squeeze squeeze_of(const mote_lattice *lattice) {
    uint32_t bits[3];
    for (int k = 0; k < 3; k++) {
        bits[k] = bit_length(mote_cell_of(lattice->extent[k], mote_cell_divisor_make(lattice->side[k])));
    }
    return order_squeeze_make(bits);
}

/* How many of the upper bits part the points into short runs: of some eight points, or a few times as many where
   that saves a pass. Scans are surfaces: where all three axes have bits, only two of three tell points apart. At least
   one pass, for points without a place are told apart by the highest bit. */
static uint32_t parting_bits(order_squeeze squeeze, uint64_t count) {
    const uint32_t flat = squeeze.top_levels + 2 * squeeze.middle_levels;
    const uint32_t length = bit_length(count), wanted = length > 3 ? length - 3 : 0;
    const uint32_t bits = wanted <= flat ? wanted : flat + (3 * (wanted - flat) + 1) / 2;
    const uint32_t passes = (bits + PASS / 2) / PASS;
    return passes > 0 ? passes * PASS : PASS;
}

static mote_status sort_keys(order_sort *sort, uint64_t all) {
    if (sort->key_bits > sort->rest_bits) {
        MOTE_TRY(cuda_sort64(sort->ctx, &sort->pairs, all, (int)sort->rest_bits, (int)sort->key_bits));
    }
    return sort->rest_bits == 0 ? order_cuda_unsqueeze(sort) : order_cuda_finish(sort);
}

static mote_status build(order_sort *sort, const cuda_cloud *cloud, const mote_lattice *lattice, uint64_t skipped,
                         bool ties) {
    const uint64_t all = cloud->count;
    order_points points;
    MOTE_TRY(order_points_of(cloud, lattice, &points));
    sort->squeeze = squeeze_of(lattice);
    sort->key_bits = sort->squeeze.bits + (skipped > 0); /* one bit more puts those without a place behind the others */
    const uint32_t parting = parting_bits(sort->squeeze, all);
    sort->rest_bits = sort->key_bits > parting ? sort->key_bits - parting : 0;
    MOTE_TRY(order_pairs_alloc(sort->ctx, all, &sort->pairs));
    MOTE_TRY(launch_codes(sort->ctx, &points, sort->squeeze, all, 1ull << (sort->key_bits - (skipped > 0)),
                          sort->pairs.keys, sort->pairs.values));
    MOTE_TRY(sort_keys(sort, all));
    return ties ? order_cuda_settle_ties(cloud, lattice, sort) : MOTE_OK;
}

mote_status order_cuda_build(const cuda_cloud *cloud, const mote_lattice *lattice, uint64_t skipped, bool ties,
                             uint64_t **codes, uint32_t **order) {
    order_sort sort;
    memset(&sort, 0, sizeof sort);
    sort.ctx = cloud->ctx;
    sort.count = cloud->count - skipped;
    *codes = NULL;
    *order = NULL;
    if (cloud->count > UINT32_MAX) {
        return mote_fail(cloud->ctx, MOTE_ERROR_UNSUPPORTED, "%llu points: one sort takes up to 4,294,967,295",
                         (unsigned long long)cloud->count);
    }
    const mote_status status = build(&sort, cloud, lattice, skipped, ties);
    if (status == MOTE_OK) {
        *codes = sort.pairs.keys;
        *order = sort.pairs.values;
        sort.pairs.keys = NULL;
        sort.pairs.values = NULL;
    }
    cuda_free(sort.ctx, sort.notes);
    order_pairs_free(sort.ctx, &sort.pairs);
    return status;
}
