/* The Morton order of a cloud in device memory: codes, and the sort of all points by them.
   1. A kernel of order_keys_cuda.cu makes compact codes (order_compact_codes_math.h) and numbers the points; or puts
   the number of the point below the upper bits of its code, in one word, where the points are short records to be
   sorted as well.
   2. A stable radix sort by enough of the upper bits that few points share them.
   3. order_segmented_sort_cuda.cu sorts the short runs that do by the rest, and makes codes of them again.
   The order is that of a stable sort by the whole code. */
#include "order/order_cuda.h"

#include "core/core.h"
#include "order/lattice/lattice.h"
#include "order/lattice/order_points.cuh"
#include "order/sort/order_keys_cuda.h"

#define PASS 8u /* bits that a pass of the radix sort takes */

static uint32_t bit_length(uint64_t v) { return v == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(v); }

/* The bits that the points of a lattice may use. */
static order_compaction compaction_of(const mote_lattice *lattice) {
    uint32_t bits[3];
    for (int k = 0; k < 3; k++) {
        bits[k] = bit_length(mote_cell_of(lattice->extent[k], mote_cell_divisor_make(lattice->side[k])));
    }
    return order_compaction_make(bits);
}

/* How many of the upper bits part the points into short runs: of some eight points, or a few times as many where
   that saves a pass. Scans are surfaces: where all three axes have bits, only two of three tell points apart. At least
   one pass, for points without a place are told apart by the highest bit. */
static uint32_t parting_bits(order_compaction compaction, uint64_t count) {
    const uint32_t flat = compaction.top_levels + 2 * compaction.middle_levels;
    const uint32_t length = bit_length(count), wanted = length > 3 ? length - 3 : 0;
    const uint32_t bits = wanted <= flat ? wanted : flat + (3 * (wanted - flat) + 1) / 2;
    const uint32_t passes = (bits + PASS / 2) / PASS;
    return passes > 0 ? passes * PASS : PASS;
}

/* ---- as pairs */

static mote_status sort_pairs(order_sort *sort, const order_points *points, uint64_t all) {
    const bool skipped = sort->count < all;
    const uint64_t bad = 1ull << (sort->key_bits - skipped); /* one bit more: points without a place go last */
    sort->run_bits = sort->remaining_bits;
    MOTE_TRY(order_pairs_alloc(sort->gpu, all, &sort->pairs));
    MOTE_TRY(
        order_cuda_compact_keys(sort->gpu, points, sort->compaction, all, bad, sort->pairs.keys, sort->pairs.values));
    if (sort->key_bits > sort->remaining_bits) {
        MOTE_TRY(cuda_sort64(sort->gpu, &sort->pairs, all, (int)sort->remaining_bits, (int)sort->key_bits));
    }
    return sort->remaining_bits == 0 ? order_cuda_expand_keys(sort) : order_cuda_segmented_sort(sort);
}

/* ---- packed, with the records */

/* A word holds the upper bits of a key and an index, with a bit to spare: none is UINT64_MAX in its upper bits. */
static bool can_pack(order_sort *sort, const device_cloud *cloud, const order_points *points) {
    const uint32_t index_bits = bit_length(sort->count - 1), upper_bits = sort->key_bits - sort->remaining_bits;
    points_int32 *as_int32 = &sort->from.points;
    sort->run_bits = index_bits;
    return sort->count == cloud->count && sort->count > 0 && index_bits + upper_bits < 64 &&
           points_int32_of(points, as_int32) && points_int32_are_records(as_int32) &&
           device_cloud_record_bytes(cloud, as_int32->axes[0], sizeof(uint4)) > 0;
}

/* The end of the cloud's memory may cut the last record short. */
static mote_status alloc_records(order_sort *sort, const device_cloud *cloud) {
    const uint64_t last = sort->count - 1;
    const uint8_t *const records = sort->from.points.axes[0];
    sort->records = (uint4 *)cuda_alloc(sort->gpu, (sort->count + 1) * sizeof *sort->records, "sorted points");
    sort->pairs.other_values = (uint32_t *)cuda_alloc(sort->gpu, sort->count * sizeof(uint32_t), "order");
    if (sort->records == NULL || sort->pairs.other_values == NULL) return MOTE_ERROR_MEMORY;
    sort->from.last = sort->records + sort->count;
    sort->from.last_index = (uint32_t)last;
    MOTE_TRY(cuda_fill(sort->gpu, sort->records + sort->count, 0, sizeof *sort->records));
    return cuda_copy(sort->gpu, sort->records + sort->count, records + last * sizeof(uint4),
                     device_cloud_record_bytes(cloud, records, sizeof(uint4)));
}

static mote_status sort_packed(order_sort *sort, const device_cloud *cloud) {
    mote_device *gpu = sort->gpu;
    const uint64_t keys_bytes = sort->count * sizeof(uint64_t);
    const uint32_t index_bits = sort->run_bits, upper_bits = sort->key_bits - sort->remaining_bits;
    sort->packed = true;
    sort->pairs.keys = (uint64_t *)cuda_alloc(gpu, keys_bytes, "codes");
    sort->pairs.other_keys = (uint64_t *)cuda_alloc(gpu, keys_bytes, "sort codes");
    if (sort->pairs.keys == NULL || sort->pairs.other_keys == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(order_cuda_packed(sort));
    cuda_keys64 keys = {sort->pairs.keys, sort->pairs.other_keys};
    MOTE_TRY(cuda_sort_keys64(gpu, &keys, sort->count, (int)index_bits, (int)(index_bits + upper_bits)));
    sort->pairs.keys = keys.keys;
    sort->pairs.other_keys = keys.other_keys;
    MOTE_TRY(alloc_records(sort, cloud));
    return order_cuda_segmented_sort(sort);
}

/* ---- the way to sort */

static void free_arrays(order_sort *sort) {
    cuda_free(sort->gpu, sort->notes);
    cuda_free(sort->gpu, sort->records);
    order_pairs_free(sort->gpu, &sort->pairs);
}

static mote_status build(order_sort *sort, const device_cloud *cloud, const mote_lattice *lattice,
                         const order_ties *ties, bool wants_records) {
    order_points points;
    MOTE_TRY(order_points_of(cloud, lattice, &points));
    sort->compaction = compaction_of(lattice);
    sort->key_bits = sort->compaction.bits + (sort->count < cloud->count);
    const uint32_t parting = parting_bits(sort->compaction, cloud->count);
    sort->remaining_bits = sort->key_bits > parting ? sort->key_bits - parting : 0;
    MOTE_TRY(wants_records && can_pack(sort, cloud, &points) ? sort_packed(sort, cloud)
                                                             : sort_pairs(sort, &points, cloud->count));
    /* What only the sort needed. */
    cuda_free(sort->gpu, sort->pairs.other_keys);
    cuda_free(sort->gpu, sort->pairs.other_values);
    sort->pairs.other_keys = NULL;
    sort->pairs.other_values = NULL;
    return ties != NULL ? order_cuda_settle_ties(cloud, lattice, ties, sort) : MOTE_OK;
}

/* codes and order are the caller's then. */
static mote_status hand_over(order_sort *sort, const device_cloud *cloud, uint64_t **codes, uint32_t **order,
                             device_cloud *sorted) {
    if (sort->records != NULL) {
        MOTE_TRY(device_cloud_move(cloud, sort->from.points.axes[0], sort->records, sorted));
        sort->records = NULL;
    }
    *codes = sort->pairs.keys;
    *order = sort->pairs.values;
    sort->pairs.keys = NULL;
    sort->pairs.values = NULL;
    return MOTE_OK;
}

mote_status order_cuda_build(const device_cloud *cloud, const mote_lattice *lattice, uint64_t skipped,
                             const order_ties *ties, uint64_t **codes, uint32_t **order, device_cloud *sorted) {
    order_sort sort;
    memset(&sort, 0, sizeof sort);
    sort.gpu = cloud->device;
    sort.count = cloud->count - skipped;
    *codes = NULL;
    *order = NULL;
    if (sorted != NULL) memset(sorted, 0, sizeof *sorted);
    if (cloud->count > UINT32_MAX) {
        return mote_fail(cloud->device->ctx, MOTE_ERROR_UNSUPPORTED, "%llu points: one sort takes up to 4,294,967,295",
                         (unsigned long long)cloud->count);
    }
    mote_status status = build(&sort, cloud, lattice, ties, sorted != NULL);
    if (status == MOTE_OK) status = hand_over(&sort, cloud, codes, order, sorted);
    free_arrays(&sort);
    return status;
}
