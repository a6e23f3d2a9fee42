/* The Morton order of a cloud in device memory: codes, and the sort of all points by them.
   1. One kernel makes squeezed codes (order_squeeze_math.h) and numbers the points; or puts the number of the point
      below the upper bits of its code, in one word, where the points are short records to be sorted as well.
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

/* What a kernel leaves of a key, and puts below it: the whole key and nothing if all are 0. */
typedef struct key_packing {
    uint32_t levels, rest_bits; /* levels that cells lose before, and bits of the key that is left */
    uint32_t index_bits, index_mask;
} key_packing;

/* Levels of all axes take three bits each: those are not even interleaved. */
static key_packing key_packing_make(order_squeeze squeeze, uint32_t rest_bits, uint32_t index_bits) {
    const uint32_t levels = (rest_bits < squeeze.low_bits ? rest_bits : squeeze.low_bits) / 3;
    const key_packing packing = {levels, rest_bits - 3 * levels, index_bits, (uint32_t)order_low_mask(index_bits)};
    return packing;
}

/* indices may be NULL. */
template <bool RECORDS>
static __global__ void make_keys(quick_points points, order_squeeze squeeze, key_packing packing, uint64_t count,
                                 uint64_t *keys, uint32_t *indices) {
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
        const uint64_t key = quick_key(&points, found[item], squeeze, packing.levels);
        const uint32_t index = (uint32_t)first + at;
        if (at >= left) continue;
        keys[first + at] = (key >> packing.rest_bits << packing.index_bits) | (index & packing.index_mask);
        if (indices != NULL) indices[first + at] = index;
    }
}

static void launch_keys(mote_context *ctx, const quick_points *quick, order_squeeze squeeze, key_packing packing,
                        uint64_t count, uint64_t *keys, uint32_t *indices) {
    const uint32_t blocks = cuda_blocks(count, THREADS * ITEMS);
    const order_squeeze coarser = order_squeeze_coarser(squeeze, packing.levels);
    if (quick_points_are_records(quick)) {
        CUDA_LAUNCH(ctx, (make_keys<true>), blocks, THREADS, *quick, coarser, packing, count, keys, indices);
    } else {
        CUDA_LAUNCH(ctx, (make_keys<false>), blocks, THREADS, *quick, coarser, packing, count, keys, indices);
    }
}

static mote_status launch_codes(mote_context *ctx, const order_points *points, order_squeeze squeeze, uint64_t count,
                                uint64_t bad, uint64_t *codes, uint32_t *indices) {
    const uint32_t blocks = cuda_blocks(count, THREADS * ITEMS);
    const key_packing unpacked = {0, 0, 0, 0};
    quick_points quick;
    if (count == 0) return MOTE_OK;
    if (quick_points_of(points, &quick)) {
        launch_keys(ctx, &quick, squeeze, unpacked, count, codes, indices);
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

/* ---- as pairs */

static mote_status sort_pairs(order_sort *sort, const order_points *points, uint64_t all) {
    const bool skipped = sort->count < all;
    const uint64_t bad = 1ull << (sort->key_bits - skipped); /* one bit more: points without a place go last */
    sort->run_bits = sort->rest_bits;
    MOTE_TRY(order_pairs_alloc(sort->ctx, all, &sort->pairs));
    MOTE_TRY(launch_codes(sort->ctx, points, sort->squeeze, all, bad, sort->pairs.keys, sort->pairs.values));
    if (sort->key_bits > sort->rest_bits) {
        MOTE_TRY(cuda_sort64(sort->ctx, &sort->pairs, all, (int)sort->rest_bits, (int)sort->key_bits));
    }
    return sort->rest_bits == 0 ? order_cuda_unsqueeze(sort) : order_cuda_finish(sort);
}

/* ---- packed, with the records */

/* A word holds the upper bits of a key and an index, with a bit to spare: none is UINT64_MAX in its upper bits. */
static bool can_pack(order_sort *sort, const cuda_cloud *cloud, const order_points *points) {
    const uint32_t index_bits = bit_length(sort->count - 1), upper_bits = sort->key_bits - sort->rest_bits;
    quick_points *quick = &sort->from.points;
    sort->run_bits = index_bits;
    return sort->count == cloud->count && sort->count > 0 && index_bits + upper_bits < 64 &&
           quick_points_of(points, quick) && quick_points_are_records(quick) &&
           cuda_cloud_reach(cloud, quick->axes[0], sizeof(uint4)) > 0;
}

/* The end of the cloud's memory may cut the last record short. */
static mote_status alloc_records(order_sort *sort, const cuda_cloud *cloud) {
    const uint64_t last = sort->count - 1;
    const uint8_t *const records = sort->from.points.axes[0];
    sort->records = (uint4 *)cuda_alloc(sort->ctx, (sort->count + 1) * sizeof *sort->records, "sorted points");
    sort->pairs.other_values = (uint32_t *)cuda_alloc(sort->ctx, sort->count * sizeof(uint32_t), "order");
    if (sort->records == NULL || sort->pairs.other_values == NULL) return MOTE_ERROR_MEMORY;
    sort->from.last = sort->records + sort->count;
    sort->from.last_index = (uint32_t)last;
    MOTE_TRY(cuda_fill(sort->ctx, sort->records + sort->count, 0, sizeof *sort->records));
    return cuda_copy(sort->ctx, sort->records + sort->count, records + last * sizeof(uint4),
                     cuda_cloud_reach(cloud, records, sizeof(uint4)));
}

static mote_status sort_packed(order_sort *sort, const cuda_cloud *cloud, bool *crowded) {
    mote_context *ctx = sort->ctx;
    const uint64_t keys_bytes = sort->count * sizeof(uint64_t);
    const uint32_t index_bits = sort->run_bits, upper_bits = sort->key_bits - sort->rest_bits;
    const key_packing packing = key_packing_make(sort->squeeze, sort->rest_bits, index_bits);
    sort->packed = true;
    sort->pairs.keys = (uint64_t *)cuda_alloc(ctx, keys_bytes, "codes");
    sort->pairs.other_keys = (uint64_t *)cuda_alloc(ctx, keys_bytes, "sort codes");
    if (sort->pairs.keys == NULL || sort->pairs.other_keys == NULL) return MOTE_ERROR_MEMORY;
    launch_keys(ctx, &sort->from.points, sort->squeeze, packing, sort->count, sort->pairs.keys, NULL);
    MOTE_TRY(cuda_launched(ctx, "codes"));
    cuda_keys64 keys = {sort->pairs.keys, sort->pairs.other_keys};
    MOTE_TRY(cuda_sort_keys64(ctx, &keys, sort->count, (int)index_bits, (int)(index_bits + upper_bits)));
    sort->pairs.keys = keys.keys;
    sort->pairs.other_keys = keys.other_keys;
    MOTE_TRY(alloc_records(sort, cloud));
    return order_cuda_finish_packed(sort, crowded);
}

/* ---- the way to sort */

/* What only the sort needs. */
static void free_twins(order_sort *sort) {
    cuda_free(sort->ctx, sort->pairs.other_keys);
    cuda_free(sort->ctx, sort->pairs.other_values);
    sort->pairs.other_keys = NULL;
    sort->pairs.other_values = NULL;
}

static void free_arrays(order_sort *sort) {
    cuda_free(sort->ctx, sort->notes);
    cuda_free(sort->ctx, sort->records);
    order_pairs_free(sort->ctx, &sort->pairs);
    sort->notes = NULL;
    sort->records = NULL;
    sort->packed = false;
}

static mote_status build(order_sort *sort, const cuda_cloud *cloud, const mote_lattice *lattice, bool ties,
                         bool wants_records) {
    order_points points;
    bool crowded = false;
    MOTE_TRY(order_points_of(cloud, lattice, &points));
    sort->squeeze = squeeze_of(lattice);
    sort->key_bits = sort->squeeze.bits + (sort->count < cloud->count);
    const uint32_t parting = parting_bits(sort->squeeze, cloud->count);
    sort->rest_bits = sort->key_bits > parting ? sort->key_bits - parting : 0;
    const bool packed = wants_records && can_pack(sort, cloud, &points);
    if (packed) MOTE_TRY(sort_packed(sort, cloud, &crowded));
    if (crowded) {
        free_arrays(sort);
        sort->rest_bits = 0;
    }
    if (!packed || crowded) MOTE_TRY(sort_pairs(sort, &points, cloud->count));
    free_twins(sort);
    return ties ? order_cuda_settle_ties(cloud, lattice, sort) : MOTE_OK;
}

/* codes and order are the caller's then. */
static mote_status hand_over(order_sort *sort, const cuda_cloud *cloud, uint64_t **codes, uint32_t **order,
                             cuda_cloud *sorted) {
    if (sort->records != NULL) {
        MOTE_TRY(cuda_cloud_move(cloud, sort->from.points.axes[0], sort->records, sorted));
        sort->records = NULL;
    }
    *codes = sort->pairs.keys;
    *order = sort->pairs.values;
    sort->pairs.keys = NULL;
    sort->pairs.values = NULL;
    return MOTE_OK;
}

mote_status order_cuda_build(const cuda_cloud *cloud, const mote_lattice *lattice, uint64_t skipped, bool ties,
                             uint64_t **codes, uint32_t **order, cuda_cloud *sorted) {
    order_sort sort;
    memset(&sort, 0, sizeof sort);
    sort.ctx = cloud->ctx;
    sort.count = cloud->count - skipped;
    *codes = NULL;
    *order = NULL;
    if (sorted != NULL) memset(sorted, 0, sizeof *sorted);
    if (cloud->count > UINT32_MAX) {
        return mote_fail(cloud->ctx, MOTE_ERROR_UNSUPPORTED, "%llu points: one sort takes up to 4,294,967,295",
                         (unsigned long long)cloud->count);
    }
    mote_status status = build(&sort, cloud, lattice, ties, sorted != NULL);
    if (status == MOTE_OK) status = hand_over(&sort, cloud, codes, order, sorted);
    free_arrays(&sort);
    return status;
}
