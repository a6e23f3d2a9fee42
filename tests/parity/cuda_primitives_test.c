/* Sorting, sums and selection on a GPU against loops. */
#include <stdlib.h>

#include "device/cuda/cuda_primitives.h"
#include "parity/parity_support.h"
#include "support/support.h"

static const uint64_t counts[] = {0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 65537, 1000003};

static size_t count_of_counts(void) { return sizeof counts / sizeof counts[0] - parity_extent(1, 0, 0); }

static uint64_t random_at(uint64_t i) {
    uint64_t v = (i + 1) * 0x9E3779B97F4A7C15u;
    v = (v ^ v >> 30) * 0xBF58476D1CE4E5B9u;
    return v ^ v >> 27;
}

static mote_context *make_context(void) {
    mote_context *ctx = parity_context(0);
    assert_non_null(ctx);
    return ctx;
}

/* Device memory of that content; NULL: anything. */
static void *put(mote_context *ctx, const void *values, uint64_t size_bytes) {
    void *device = cuda_alloc(gpu_of(ctx), size_bytes, "test");
    assert_non_null(device);
    const mote_status status = values != NULL ? cuda_upload(gpu_of(ctx), device, values, size_bytes)
                                              : cuda_fill(gpu_of(ctx), device, 0xA5, size_bytes);
    assert_int_equal(status, MOTE_OK);
    return device;
}

static void get(mote_context *ctx, void *values, void *device, uint64_t size_bytes) {
    assert_int_equal(cuda_download(gpu_of(ctx), values, device, size_bytes), MOTE_OK);
    cuda_free(gpu_of(ctx), device);
}

static void *room(uint64_t size_bytes) {
    void *memory = malloc(size_bytes + 1);
    assert_non_null(memory);
    return memory;
}

static void close_clean(mote_context *ctx) {
    assert_int_equal(mote_context_device_bytes(ctx), 0);
    assert_string_equal(mote_context_message(ctx), "");
    mote_context_destroy(ctx);
}

/* ---- sorting: keys ascend by their bits, equal ones in the order they came, and each value goes with its key */

static void check_sorted(const uint64_t *before, const uint64_t *after, const uint32_t *values, uint64_t count,
                         uint64_t mask) {
    for (uint64_t i = 0; i < count; i++) {
        assert_true(values[i] < count);
        assert_int_equal(after[i], before[values[i]]);
        if (i == 0) continue;
        const uint64_t last = after[i - 1] & mask, now = after[i] & mask;
        assert_true(last < now || (last == now && values[i - 1] < values[i]));
    }
}

static uint64_t mask_of(int first_bit, int last_bit) {
    const uint64_t below = last_bit < 64 ? (1ull << last_bit) - 1 : UINT64_MAX;
    return below >> first_bit << first_bit;
}

/* spread: how many bits of the keys vary, so that there are many equal ones too. */
static void check_sort64(mote_context *ctx, uint64_t count, int spread, int first_bit, int last_bit) {
    uint64_t *before = room(8 * count), *after = room(8 * count);
    uint32_t *values = room(4 * count);
    for (uint64_t i = 0; i < count; i++) before[i] = random_at(i) >> (64 - spread);
    for (uint64_t i = 0; i < count; i++) values[i] = (uint32_t)i;
    cuda_pairs64 pairs = {put(ctx, before, 8 * count), put(ctx, values, 4 * count), put(ctx, NULL, 8 * count),
                          put(ctx, NULL, 4 * count)};
    assert_int_equal(cuda_sort64(gpu_of(ctx), &pairs, count, first_bit, last_bit), MOTE_OK);
    get(ctx, after, pairs.keys, 8 * count);
    get(ctx, values, pairs.values, 4 * count);
    cuda_free(gpu_of(ctx), pairs.other_keys);
    cuda_free(gpu_of(ctx), pairs.other_values);
    check_sorted(before, after, values, count, mask_of(first_bit, last_bit));
    free(before);
    free(after);
    free(values);
}

/* Keys with their number below the bits that they are sorted by. */
static void check_sort_keys(mote_context *ctx, uint64_t count, int first_bit, int spread) {
    uint64_t *before = room(8 * count), *after = room(8 * count);
    uint32_t *values = room(4 * count);
    for (uint64_t i = 0; i < count; i++) before[i] = random_at(i) >> (64 - spread) << first_bit | i;
    cuda_keys64 keys = {put(ctx, before, 8 * count), put(ctx, NULL, 8 * count)};
    assert_int_equal(cuda_sort_keys64(gpu_of(ctx), &keys, count, first_bit, first_bit + spread), MOTE_OK);
    get(ctx, after, keys.keys, 8 * count);
    cuda_free(gpu_of(ctx), keys.other_keys);
    for (uint64_t i = 0; i < count; i++) values[i] = (uint32_t)(after[i] & mask_of(0, first_bit));
    check_sorted(before, after, values, count, mask_of(first_bit, first_bit + spread));
    free(before);
    free(after);
    free(values);
}

static void check_sort32(mote_context *ctx, uint64_t count, int spread, int first_bit, int last_bit) {
    uint64_t *before = room(8 * count), *after = room(8 * count);
    uint32_t *keys = room(4 * count), *values = room(4 * count);
    for (uint64_t i = 0; i < count; i++) before[i] = keys[i] = (uint32_t)(random_at(i) >> (64 - spread));
    for (uint64_t i = 0; i < count; i++) values[i] = (uint32_t)i;
    cuda_pairs32 pairs = {put(ctx, keys, 4 * count), put(ctx, values, 4 * count), put(ctx, NULL, 4 * count),
                          put(ctx, NULL, 4 * count)};
    assert_int_equal(cuda_sort32(gpu_of(ctx), &pairs, count, first_bit, last_bit), MOTE_OK);
    get(ctx, keys, pairs.keys, 4 * count);
    get(ctx, values, pairs.values, 4 * count);
    cuda_free(gpu_of(ctx), pairs.other_keys);
    cuda_free(gpu_of(ctx), pairs.other_values);
    for (uint64_t i = 0; i < count; i++) after[i] = keys[i];
    check_sorted(before, after, values, count, mask_of(first_bit, last_bit));
    free(before);
    free(after);
    free(keys);
    free(values);
}

static void sorts(void **state) {
    (void)state;
    mote_context *ctx = make_context();
    for (size_t i = 0; i < count_of_counts(); i++) {
        check_sort64(ctx, counts[i], 64, 0, 64);
        check_sort64(ctx, counts[i], 6, 0, 6);
        check_sort64(ctx, counts[i], 63, 0, 63);
        check_sort64(ctx, counts[i], 20, 5, 17);
        check_sort32(ctx, counts[i], 32, 0, 32);
        check_sort32(ctx, counts[i], 9, 0, 9);
        check_sort32(ctx, counts[i], 30, 12, 30);
        check_sort32(ctx, counts[i], 3, 0, 0); /* by no bit at all: as they came */
        check_sort_keys(ctx, counts[i], 20, 32);
        check_sort_keys(ctx, counts[i], 20, 7);
        check_sort_keys(ctx, counts[i], 32, 31);
    }
    close_clean(ctx);
}

/* ---- sums */

static void check_sum32(mote_context *ctx, uint64_t count, bool in_place) {
    uint32_t *values = room(4 * count), *sums = room(4 * count), sum = 0;
    for (uint64_t i = 0; i < count; i++) values[i] = (uint32_t)random_at(i); /* sums wrap, as in C */
    void *in = put(ctx, values, 4 * count), *out = in_place ? in : put(ctx, NULL, 4 * count);
    assert_int_equal(cuda_sum32(gpu_of(ctx), in, out, count), MOTE_OK);
    get(ctx, sums, out, 4 * count);
    if (!in_place) cuda_free(gpu_of(ctx), in);
    for (uint64_t i = 0; i < count; sum += values[i++]) assert_int_equal(sums[i], sum);
    free(values);
    free(sums);
}

static void check_sum64(mote_context *ctx, uint64_t count) {
    uint64_t *values = room(8 * count), *sums = room(8 * count), sum = 0;
    for (uint64_t i = 0; i < count; i++) values[i] = random_at(i) >> 20;
    void *in = put(ctx, values, 8 * count);
    assert_int_equal(cuda_sum64(gpu_of(ctx), in, in, count), MOTE_OK);
    get(ctx, sums, in, 8 * count);
    for (uint64_t i = 0; i < count; sum += values[i++]) assert_int_equal(sums[i], sum);
    free(values);
    free(sums);
}

/* Sums beyond 32 bits. */
static void check_sum_wide(mote_context *ctx, uint64_t count) {
    uint32_t *values = room(4 * count);
    uint64_t *sums = room(8 * count), sum = 0;
    for (uint64_t i = 0; i < count; i++) values[i] = UINT32_MAX - (uint32_t)(i % 7);
    void *in = put(ctx, values, 4 * count), *out = put(ctx, NULL, 8 * count);
    assert_int_equal(cuda_sum32_wide(gpu_of(ctx), in, out, count), MOTE_OK);
    get(ctx, sums, out, 8 * count);
    cuda_free(gpu_of(ctx), in);
    for (uint64_t i = 0; i < count; sum += values[i++]) assert_int_equal(sums[i], sum);
    free(values);
    free(sums);
}

static void sums(void **state) {
    (void)state;
    mote_context *ctx = make_context();
    for (size_t i = 0; i < count_of_counts(); i++) {
        check_sum32(ctx, counts[i], false);
        check_sum32(ctx, counts[i], true);
        check_sum64(ctx, counts[i]);
        check_sum_wide(ctx, counts[i]);
    }
    close_clean(ctx);
}

/* ---- selection */

/* Flags are any byte but 0, one in so many; 0: none. */
static void check_select(mote_context *ctx, uint64_t count, uint64_t one_in) {
    uint8_t *flags = room(count);
    uint32_t *numbers = room(4 * count);
    uint64_t found = UINT64_MAX, expected = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t random = random_at(i);
        flags[i] = one_in > 0 && random % one_in == 0 ? (uint8_t)(1 + (random >> 32) % 255) : 0;
    }
    void *in = put(ctx, flags, count), *out = put(ctx, NULL, 4 * count), *total = put(ctx, &found, 8);
    assert_int_equal(cuda_select(gpu_of(ctx), in, count, out, total), MOTE_OK);
    get(ctx, &found, total, 8);
    assert_true(found <= count);
    get(ctx, numbers, out, 4 * count);
    cuda_free(gpu_of(ctx), in);
    for (uint64_t i = 0; i < count; i++) {
        if (flags[i] == 0) continue;
        assert_true(expected < found);
        assert_int_equal(numbers[expected++], i);
    }
    assert_int_equal(found, expected);
    free(flags);
    free(numbers);
}

static void selects(void **state) {
    (void)state;
    mote_context *ctx = make_context();
    for (size_t i = 0; i < count_of_counts(); i++) {
        for (uint64_t one_in = 0; one_in < 4; one_in++) check_select(ctx, counts[i], one_in);
        check_select(ctx, counts[i], 1000);
    }
    close_clean(ctx);
}

int main(void) {
    mote_context *ctx = parity_context(0);
    if (ctx == NULL) return PARITY_SKIPPED;
    mote_context_destroy(ctx);
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts), cmocka_unit_test(sums), cmocka_unit_test(selects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
