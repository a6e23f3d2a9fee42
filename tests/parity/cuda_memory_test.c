/* Memory, copies and clouds of a GPU. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <stdlib.h>
#include <sys/mman.h>

#include "device/device_cloud.h"
#include "parity/parity_support.h"
#include "support/support.h"

#define MIB (1ull << 20)

static uint8_t pattern(uint64_t i, uint64_t seed) {
    const uint64_t v = (i + seed) * 0x9E3779B97F4A7C15u;
    return (uint8_t)(v >> 56);
}

static void fill_pattern(uint8_t *memory, uint64_t size_bytes, uint64_t seed) {
    for (uint64_t i = 0; i < size_bytes; i++) memory[i] = pattern(i, seed);
}

static void check_pattern(const uint8_t *memory, uint64_t size_bytes, uint64_t seed) {
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < size_bytes; i++) wrong += memory[i] != pattern(i, seed);
    assert_int_equal(wrong, 0);
}

static mote_context *make_context(uint64_t memory_limit_bytes) {
    mote_context *ctx = parity_context(memory_limit_bytes);
    assert_non_null(ctx);
    return ctx;
}

/* Nothing is left, and nothing failed. */
static void close_clean(mote_context *ctx) {
    assert_int_equal(mote_context_device_bytes(ctx), 0);
    assert_string_equal(mote_context_message(ctx), "");
    mote_context_destroy(ctx);
}

static void *take(mote_context *ctx, uint64_t size_bytes) {
    void *device = cuda_alloc(gpu_of(ctx), size_bytes, "test");
    assert_non_null(device);
    assert_int_equal((uintptr_t)device % 256, 0);
    assert_true(cuda_is_device_memory(gpu_of(ctx), device));
    return device;
}

/* ---- copies */

/* Bytes go up and come down again as they were, and those around the target stay. */
static void check_round_trip(mote_context *ctx, uint64_t size_bytes, uint32_t host_shift, uint32_t device_shift) {
    enum { GUARD = 64 };
    uint8_t *from = malloc(size_bytes + host_shift + 1), *to = malloc(size_bytes + 2 * GUARD);
    uint8_t *device = take(ctx, size_bytes + device_shift);
    assert_true(from != NULL && to != NULL);
    fill_pattern(from + host_shift, size_bytes, size_bytes);
    memset(to, 0xEE, size_bytes + 2 * GUARD);
    assert_int_equal(cuda_upload(gpu_of(ctx), device + device_shift, from + host_shift, size_bytes), MOTE_OK);
    memset(from, 0, size_bytes + host_shift); /* it may be used again */
    assert_int_equal(cuda_download(gpu_of(ctx), to + GUARD - host_shift, device + device_shift, size_bytes), MOTE_OK);
    check_pattern(to + GUARD - host_shift, size_bytes, size_bytes);
    for (uint64_t i = 0; i < GUARD - host_shift; i++) assert_int_equal(to[i], 0xEE);
    for (uint64_t i = 0; i < GUARD + host_shift; i++) {
        assert_int_equal(to[GUARD - host_shift + size_bytes + i], 0xEE);
    }
    cuda_free(gpu_of(ctx), device);
    free(from);
    free(to);
}

static const uint64_t copy_sizes[] = {
    0, 1, 3, 255, 65535, 65536, 65537, MIB + 1, 16 * MIB - 1, 16 * MIB, 16 * MIB + 1, 64 * MIB, 81 * MIB + 7};

static void copies_any_size(void **state) {
    (void)state;
    mote_context *ctx = make_context(0);
    for (size_t i = 0; i < sizeof copy_sizes / sizeof copy_sizes[0]; i++) {
        check_round_trip(ctx, copy_sizes[i], 0, 0);
        if (copy_sizes[i] < 17 * MIB) check_round_trip(ctx, copy_sizes[i], 1, 5);
    }
    close_clean(ctx);
}

static void copies_under_a_low_limit(void **state) {
    (void)state;
    mote_context *ctx = make_context(4 * MIB);
    check_round_trip(ctx, 3 * MIB + 1, 3, 1);
    close_clean(ctx);
}

/* More small uploads than any ring has places, each from memory that changes at once. */
static void uploads_many_small_pieces(void **state) {
    (void)state;
    enum { PIECES = 1000, PIECE = 997 };
    mote_context *ctx = make_context(0);
    uint8_t piece[PIECE], *all = malloc((size_t)PIECES * PIECE), *device = take(ctx, (uint64_t)PIECES * PIECE);
    assert_non_null(all);
    for (uint64_t i = 0; i < PIECES; i++) {
        fill_pattern(piece, PIECE, i * PIECE);
        assert_int_equal(cuda_upload(gpu_of(ctx), device + i * PIECE, piece, PIECE), MOTE_OK);
        memset(piece, 0, PIECE);
    }
    assert_int_equal(cuda_download(gpu_of(ctx), all, device, (uint64_t)PIECES * PIECE), MOTE_OK);
    check_pattern(all, (uint64_t)PIECES * PIECE, 0);
    cuda_free(gpu_of(ctx), device);
    free(all);
    close_clean(ctx);
}

static void copies_within_the_device(void **state) {
    (void)state;
    mote_context *ctx = make_context(0);
    uint8_t host[5000], *a = take(ctx, sizeof host), *b = take(ctx, sizeof host);
    fill_pattern(host, sizeof host, 1);
    assert_false(cuda_is_device_memory(gpu_of(ctx), host));
    assert_int_equal(cuda_upload(gpu_of(ctx), a, host, sizeof host), MOTE_OK);
    assert_int_equal(cuda_copy(gpu_of(ctx), b, a, sizeof host), MOTE_OK);
    assert_int_equal(cuda_fill(gpu_of(ctx), a, 0x5A, sizeof host - 1), MOTE_OK);
    assert_int_equal(cuda_download(gpu_of(ctx), a + 100, b + 100, 1000),
                     MOTE_OK); /* the host side may be the device's */
    assert_int_equal(cuda_upload(gpu_of(ctx), a + 2000, b + 2000, 1000), MOTE_OK);
    assert_int_equal(cuda_download(gpu_of(ctx), host, a, sizeof host), MOTE_OK);
    for (uint64_t i = 0; i < sizeof host; i++) {
        const bool copied = (i >= 100 && i < 1100) || (i >= 2000 && i < 3000) || i == sizeof host - 1;
        assert_int_equal(host[i], copied ? pattern(i, 1) : 0x5A);
    }
    assert_int_equal(cuda_copy(gpu_of(ctx), b, a, 0), MOTE_OK);
    assert_int_equal(cuda_fill(gpu_of(ctx), b, 0, 0), MOTE_OK);
    cuda_free(gpu_of(ctx), a);
    cuda_free(gpu_of(ctx), b);
    cuda_free(gpu_of(ctx), NULL);
    close_clean(ctx);
}

static void copies_that_only_begin(void **state) {
    (void)state;
    const uint64_t size_bytes = 20 * MIB + 3;
    mote_context *ctx = make_context(0);
    uint8_t *up = cuda_pinned_alloc(gpu_of(ctx), size_bytes, "test"),
            *down = cuda_pinned_alloc(gpu_of(ctx), size_bytes, "test");
    uint8_t *a = take(ctx, size_bytes), *b = take(ctx, size_bytes);
    device_transfer uploaded, downloaded, nothing;
    assert_true(up != NULL && down != NULL);
    assert_true(mote_context_memory_bytes(ctx) >= 2 * size_bytes);
    for (uint64_t round = 0; round < 3; round++) {
        fill_pattern(up, size_bytes, round);
        assert_int_equal(cuda_upload_begin(gpu_of(ctx), a, up, size_bytes, &uploaded), MOTE_OK);
        assert_int_equal(cuda_copy(gpu_of(ctx), b, a, size_bytes), MOTE_OK);
        assert_int_equal(cuda_download_begin(gpu_of(ctx), down, b, size_bytes, &downloaded), MOTE_OK);
        /* What is given back while it is read may be handed out and overwritten. */
        cuda_free(gpu_of(ctx), b);
        b = take(ctx, size_bytes);
        assert_int_equal(cuda_fill(gpu_of(ctx), b, 0, size_bytes), MOTE_OK);
        if (round == 1) assert_int_equal(cuda_finish(gpu_of(ctx), "test"), MOTE_OK);
        assert_int_equal(cuda_wait(gpu_of(ctx), &uploaded), MOTE_OK);
        memset(up, 0, size_bytes);
        assert_int_equal(cuda_wait(gpu_of(ctx), &downloaded), MOTE_OK);
        check_pattern(down, size_bytes, round);
    }
    assert_int_equal(cuda_download_begin(gpu_of(ctx), down, a, 0, &nothing), MOTE_OK);
    assert_int_equal(cuda_wait(gpu_of(ctx), &nothing), MOTE_OK);
    assert_int_equal(cuda_finish(gpu_of(ctx), "test"), MOTE_OK);
    cuda_free(gpu_of(ctx), a);
    cuda_free(gpu_of(ctx), b);
    cuda_pinned_free(gpu_of(ctx), up);
    cuda_pinned_free(gpu_of(ctx), down);
    cuda_pinned_free(gpu_of(ctx), NULL);
    close_clean(ctx);
}

/* ---- memory */

static void keeps_the_limit(void **state) {
    (void)state;
    mote_context *ctx = make_context(MIB);
    void *a = take(ctx, 600000);
    assert_int_equal(cuda_available(gpu_of(ctx)), MIB - 600000);
    assert_null(cuda_alloc(gpu_of(ctx), MIB - 600000 + 1, "too much"));
    assert_int_equal(mote_context_status(ctx), MOTE_ERROR_MEMORY);
    assert_non_null(strstr(mote_context_message(ctx), "too much"));
    mote_context_clear(ctx);
    cuda_free(gpu_of(ctx), a);
    a = take(ctx, MIB);
    assert_int_equal(cuda_available(gpu_of(ctx)), 0);
    cuda_free(gpu_of(ctx), a);
    assert_int_equal(mote_context_device_peak_bytes(ctx), MIB);
    close_clean(ctx);
}

/* More than any GPU has; after it the device still works. */
static void runs_out_of_memory(void **state) {
    (void)state;
    mote_context *ctx = make_context(0);
    assert_true(cuda_available(gpu_of(ctx)) > 0);
    assert_null(cuda_alloc(gpu_of(ctx), 1ull << 50, "far too much"));
    assert_int_equal(mote_context_status(ctx), MOTE_ERROR_MEMORY);
    assert_non_null(strstr(mote_context_message(ctx), "far too much"));
    mote_context_clear(ctx);
    assert_null(cuda_alloc(gpu_of(ctx), UINT64_MAX, "far too much"));
    mote_context_clear(ctx);
    check_round_trip(ctx, MIB, 0, 0);
    close_clean(ctx);
}

/* ---- clouds */

#define POINTS 1001u

/* The device's columns hold the host's values, and say the same of them. */
static void check_cloud(mote_context *ctx, const mote_cloud *cloud, uint32_t blocks) {
    device_cloud device;
    assert_int_equal(device_cloud_open(gpu_of(ctx), cloud, &device), MOTE_OK);
    assert_int_equal(device.count, mote_cloud_count(cloud));
    assert_int_equal(device.column_count, mote_cloud_column_count(cloud));
    assert_int_equal(device.block_count, blocks);
    for (uint32_t c = 0; c < device.column_count; c++) {
        const mote_column *host = mote_cloud_column(cloud, c), *column = &device.columns[c];
        const uint64_t size_bytes = mote_type_size(host->type);
        uint8_t *copy = malloc(POINTS * host->stride_bytes);
        assert_non_null(copy);
        assert_ptr_equal(device_cloud_find(&device, host->name), column);
        assert_int_equal(column->stride_bytes, host->stride_bytes);
        assert_int_equal(column->type, host->type);
        const uint64_t all = (device.count - 1) * host->stride_bytes + size_bytes;
        assert_int_equal(cuda_download(gpu_of(ctx), copy, column->data, all), MOTE_OK);
        for (uint64_t i = 0; i < device.count; i++) {
            assert_memory_equal(copy + i * host->stride_bytes, mote_column_at(host, i), size_bytes);
        }
        free(copy);
    }
    assert_null(device_cloud_find(&device, "none"));
    device_cloud_close(&device);
}

static mote_column view(const char *name, mote_type type, const void *data, uint32_t stride_bytes) {
    mote_column column;
    memset(&column, 0, sizeof column);
    column.name = name;
    column.type = type;
    column.data = data;
    column.stride_bytes = stride_bytes;
    return column;
}

static void check_columns(mote_context *ctx, const mote_column *columns, uint32_t count, uint32_t blocks) {
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, POINTS, columns, count, &cloud), MOTE_OK);
    check_cloud(ctx, cloud, blocks);
    mote_cloud_destroy(cloud);
}

static void uploads_interleaved_columns(void **state) {
    (void)state;
    mote_context *ctx = make_context(0);
    uint8_t *records = malloc(POINTS * 34 + 64);
    assert_non_null(records);
    fill_pattern(records, POINTS * 34 + 64, 3);
    for (uint32_t shift = 0; shift < 17; shift++) { /* as in a mapped file */
        const uint8_t *r = records + shift;
        const mote_column columns[] = {view("blue", MOTE_UINT16, r + 32, 34),     view("x", MOTE_INT32, r, 34),
                                       view("y", MOTE_INT32, r + 4, 34),          view("z", MOTE_INT32, r + 8, 34),
                                       view("flags", MOTE_UINT8, r + 14, 34),     view("bits", MOTE_UINT8, r + 14, 34),
                                       view("gps_time", MOTE_FLOAT64, r + 20, 34)};
        check_columns(ctx, columns, 7, 1);
    }
    free(records);
    close_clean(ctx);
}

static void uploads_separate_columns(void **state) {
    (void)state;
    mote_context *ctx = make_context(0);
    uint8_t *memory = malloc(POINTS * 64);
    assert_non_null(memory);
    fill_pattern(memory, POINTS * 64, 4);
    const mote_column arrays[] = {view("x", MOTE_FLOAT32, memory, 4), view("y", MOTE_FLOAT32, memory + 4 * POINTS, 4),
                                  view("z", MOTE_FLOAT32, memory + 8 * POINTS, 4)};
    check_columns(ctx, arrays, 3, 3);
    /* Two blocks of records, of which the strides differ, and one of another place. */
    const mote_column mixed[] = {view("x", MOTE_FLOAT64, memory, 24),
                                 view("y", MOTE_FLOAT64, memory + 8, 24),
                                 view("z", MOTE_FLOAT64, memory + 16, 24),
                                 view("red", MOTE_UINT16, memory + 24 * POINTS, 6),
                                 view("green", MOTE_UINT16, memory + 24 * POINTS + 2, 6),
                                 view("time", MOTE_FLOAT64, memory + 30 * POINTS, 24)};
    check_columns(ctx, mixed, 6, 3);
    check_columns(ctx, mixed, 0, 0);
    free(memory);
    close_clean(ctx);
}

/* The last value ends where the mapped pages end, well before its record would. */
static void reads_nothing_behind_the_last_value(void **state) {
    (void)state;
    const uint64_t used = (POINTS - 1) * 100 + 12, mapped = (used + 4095) / 4096 * 4096;
    mote_context *ctx = make_context(0);
    uint8_t *pages = mmap(NULL, mapped + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + mapped, 4096, PROT_NONE), 0);
    fill_pattern(pages, mapped, 5);
    const uint8_t *r = pages + mapped - used;
    const mote_column columns[] = {view("x", MOTE_INT32, r, 100), view("z", MOTE_INT32, r + 8, 100)};
    check_columns(ctx, columns, 2, 1);
    munmap(pages, mapped + 4096);
    close_clean(ctx);
}

static void aligns_records(void **state) {
    (void)state;
    mote_context *ctx = make_context(0);
    static uint8_t memory[POINTS * 16 + 8];
    const uint8_t *r = memory + 3; /* as far from aligned as can be */
    const mote_column columns[] = {view("x", MOTE_FLOAT32, r, 16), view("y", MOTE_FLOAT32, r + 4, 16),
                                   view("z", MOTE_FLOAT32, r + 8, 16), view("red", MOTE_UINT8, r + 12, 16)};
    mote_cloud *cloud = NULL;
    device_cloud device;
    assert_int_equal(mote_cloud_wrap(ctx, POINTS, columns, 4, &cloud), MOTE_OK);
    assert_int_equal(device_cloud_open(gpu_of(ctx), cloud, &device), MOTE_OK);
    assert_int_equal((uintptr_t)device.columns[0].data % 16, 0);
    device_cloud_close(&device);
    mote_cloud_destroy(cloud);
    close_clean(ctx);
}

static void looks_at_device_columns(void **state) {
    (void)state;
    mote_context *ctx = make_context(0);
    uint8_t host[POINTS * 4], *memory = take(ctx, sizeof host);
    mote_cloud *cloud = NULL;
    device_cloud device;
    const mote_column column = view("x", MOTE_FLOAT32, memory, 4);
    assert_int_equal(mote_cloud_wrap_device(ctx, POINTS, &column, 1, &cloud), MOTE_OK);
    assert_true(mote_cloud_on_device(cloud));
    assert_int_equal(device_cloud_open(gpu_of(ctx), cloud, &device), MOTE_OK);
    assert_int_equal(device.block_count, 0);
    assert_ptr_equal(device.columns[0].data, memory);
    device_cloud_close(&device);
    mote_cloud_destroy(cloud);
    cuda_free(gpu_of(ctx), memory);
    close_clean(ctx);
}

/* Each allocation on the device fails in turn: a cloud of two blocks leaves nothing behind. */
static void cleans_up_when_a_block_does_not_fit(void **state) {
    (void)state;
    static uint8_t memory[POINTS * 12];
    mote_context *ctx = make_context(4 * MIB);
    const mote_column columns[] = {view("x", MOTE_FLOAT32, memory, 4), view("t", MOTE_FLOAT64, memory + 4 * POINTS, 8)};
    mote_cloud *cloud = NULL;
    device_cloud device;
    assert_int_equal(mote_cloud_wrap(ctx, POINTS, columns, 2, &cloud), MOTE_OK);
    void *rest = take(ctx, 4 * MIB - POINTS * 12 + 1); /* room for the first, not for both */
    assert_int_equal(device_cloud_open(gpu_of(ctx), cloud, &device), MOTE_ERROR_MEMORY);
    device_cloud_close(&device);
    mote_context_clear(ctx);
    cuda_free(gpu_of(ctx), rest);
    check_cloud(ctx, cloud, 2);
    mote_cloud_destroy(cloud);
    close_clean(ctx);
}

int main(void) {
    mote_context *ctx = parity_context(0);
    if (ctx == NULL) return PARITY_SKIPPED;
    mote_context_destroy(ctx);
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_any_size),
                                       cmocka_unit_test(copies_under_a_low_limit),
                                       cmocka_unit_test(uploads_many_small_pieces),
                                       cmocka_unit_test(copies_within_the_device),
                                       cmocka_unit_test(copies_that_only_begin),
                                       cmocka_unit_test(keeps_the_limit),
                                       cmocka_unit_test(runs_out_of_memory),
                                       cmocka_unit_test(uploads_interleaved_columns),
                                       cmocka_unit_test(uploads_separate_columns),
                                       cmocka_unit_test(reads_nothing_behind_the_last_value),
                                       cmocka_unit_test(aligns_records),
                                       cmocka_unit_test(looks_at_device_columns),
                                       cmocka_unit_test(cleans_up_when_a_block_does_not_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
