/* device/cuda/warp.cuh: what lanes tell each other, against loops over the values of all. */
#include "device/cuda/warp.cuh"

#include <math.h>
#include <string.h>

#include "emulator/emulator_fixture.h"

#define WARPS (BLOCK / CUDA_WARP)

static uint32_t value_of(uint32_t thread) { return thread * 2654435761u >> 20; }
static bool is_wanted(uint32_t thread) { return value_of(thread) % 3 != 0; }

/* ---- reduce and scan */

struct reduced {
    uint32_t min, max, sum, sum_of_eight, bits, inclusive, exclusive, of_block, before_in_block, total, seventh;
    uint64_t wide_max, wide_bits;
    int64_t negative_sum;
    float min_real;
    double max_real, sum_real;
};

static __global__ void reduce_kernel(reduced *results) {
    __shared__ uint32_t sums[WARPS], others[WARPS];
    const uint32_t value = value_of(threadIdx.x);
    reduced *r = &results[threadIdx.x];
    r->min = warp_min(value);
    r->max = warp_max(value);
    r->sum = warp_sum(value);
    r->sum_of_eight = warp_sum<8>(value);
    r->bits = warp_or(value);
    r->inclusive = warp_scan_inclusive(value);
    r->exclusive = warp_scan_exclusive(value);
    r->seventh = warp_broadcast(value, 7);
    r->wide_max = warp_max((uint64_t)value << 33);
    r->wide_bits = warp_or((uint64_t)value << 33);
    r->negative_sum = warp_sum(-(int64_t)value);
    r->min_real = warp_min(warp_lane() == 5 ? NAN : (float)value);
    r->max_real = warp_max((double)value);
    r->sum_real = warp_sum(value * 0.5);
    r->of_block = block_sum<WARPS>(value, sums);
    r->before_in_block = block_scan_exclusive<WARPS>(value, others, &r->total);
}

/* What the threads [first, first + count) add up to. */
static uint32_t sum_of(uint32_t first, uint32_t count) {
    uint32_t sum = 0;
    for (uint32_t i = first; i < first + count; i++) sum += value_of(i);
    return sum;
}

static void check_reduced(const reduced *r, uint32_t thread) {
    const uint32_t first = thread / CUDA_WARP * CUDA_WARP;
    uint32_t least = UINT32_MAX, greatest = 0, bits = 0, number_min = UINT32_MAX;
    for (uint32_t i = first; i < first + CUDA_WARP; i++) {
        const uint32_t value = value_of(i);
        least = min(least, value);
        if (i % CUDA_WARP != 5) number_min = min(number_min, value);
        greatest = max(greatest, value);
        bits |= value;
    }
    assert_int_equal(r->min, least);
    assert_int_equal(r->max, greatest);
    assert_int_equal(r->sum, sum_of(first, CUDA_WARP));
    assert_int_equal(r->sum_of_eight, sum_of(thread / 8 * 8, 8));
    assert_int_equal(r->bits, bits);
    assert_int_equal(r->inclusive, sum_of(first, thread - first + 1));
    assert_int_equal(r->exclusive, sum_of(first, thread - first));
    assert_int_equal(r->seventh, value_of(first + 7));
    assert_true(r->wide_max == (uint64_t)greatest << 33 && r->wide_bits == (uint64_t)bits << 33);
    assert_true(r->negative_sum == -(int64_t)sum_of(first, CUDA_WARP));
    assert_true(r->min_real == (float)number_min && r->max_real == greatest);
    assert_true(r->sum_real == 0.5 * sum_of(first, CUDA_WARP));
    assert_int_equal(r->of_block, sum_of(0, BLOCK));
    assert_int_equal(r->before_in_block, sum_of(0, thread));
    assert_int_equal(r->total, sum_of(0, BLOCK));
}

static void reduce_by_warps(mote_device *gpu) {
    reduced *results = take<reduced>(gpu, BLOCK);
    CUDA_LAUNCH(gpu, reduce_kernel, 1, BLOCK, results);
    for (uint32_t i = 0; i < BLOCK; i++) check_reduced(&results[i], i);
    cuda_free(gpu, results);
}

static void test_reduce(void **state) {
    (void)state;
    in_all_orders(reduce_by_warps);
}

/* ---- compaction */

static __global__ void compact_kernel(uint32_t *rows, uint32_t *shared_list, uint32_t *length) {
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    uint32_t count = 0;
    for (uint32_t turn = 0; turn < 2; turn++) {
        const uint32_t place = warp_append(is_wanted(threadIdx.x), &count);
        if (is_wanted(threadIdx.x)) rows[warp * 2 * CUDA_WARP + place] = turn * BLOCK + threadIdx.x;
    }
    const uint32_t lanes = __ballot_sync(CUDA_ALL, is_wanted(threadIdx.x));
    const uint32_t place = warp_reserve(length, lanes);
    if (is_wanted(threadIdx.x)) shared_list[place] = threadIdx.x;
    if (threadIdx.x % CUDA_WARP == warp_first(lanes)) atomicAdd(length + 1, 1u);
    if (threadIdx.x == 0) length[2] = warp_nth(0x80022008u, 1) + warp_nth(0x80022008u, 2);
}

/* Rows are in order; the list that warps share has each warp's items together, in order. */
static void compact_by_warps(mote_device *gpu) {
    uint32_t *rows = take<uint32_t>(gpu, 2 * BLOCK), *list = take<uint32_t>(gpu, BLOCK),
             *length = take<uint32_t>(gpu, 3);
    bool found[BLOCK] = {};
    length[0] = length[1] = 0;
    CUDA_LAUNCH(gpu, compact_kernel, 1, BLOCK, rows, list, length);
    uint32_t all = 0;
    for (uint32_t warp = 0; warp < WARPS; warp++) {
        uint32_t at = warp * 2 * CUDA_WARP;
        for (uint32_t i = 0; i < 2 * CUDA_WARP; i++) {
            const uint32_t thread = warp * CUDA_WARP + i % CUDA_WARP;
            if (!is_wanted(thread)) continue;
            assert_int_equal(rows[at++], i / CUDA_WARP * BLOCK + thread);
            if (i < CUDA_WARP) all++;
        }
    }
    assert_int_equal(length[0], all);
    assert_int_equal(length[1], WARPS);
    assert_int_equal(length[2], 13 + 17);
    for (uint32_t i = 0; i < all; i++) {
        assert_true(is_wanted(list[i]) && !found[list[i]]);
        found[list[i]] = true;
        if (i > 0 && list[i] / CUDA_WARP == list[i - 1] / CUDA_WARP) assert_true(list[i] > list[i - 1]);
    }
    cuda_free(gpu, rows);
    cuda_free(gpu, list);
    cuda_free(gpu, length);
}

static void test_compact(void **state) {
    (void)state;
    in_all_orders(compact_by_warps);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reduce), cmocka_unit_test(test_compact)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
