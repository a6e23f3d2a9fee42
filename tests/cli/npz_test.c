/* cli/npz.c and cli/crc.c: a reader of its own, byte by byte, finds what was written, with and without zip64 fields. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/crc.h"
#include "files/npz.h"

#define PATH "npz_test.npz"

static uint64_t number(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | at[i];
    return value;
}

/* The definition, bit by bit. */
static uint32_t plain_crc(const uint8_t *data, uint64_t bytes) {
    uint32_t crc = UINT32_MAX;
    for (uint64_t i = 0; i < 8 * bytes; i++) {
        const uint32_t bit = (crc ^ (uint32_t)data[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (bit != 0 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static void pieces_join(void **state) {
    (void)state;
    static crc_tables tables;
    uint8_t data[300];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * i + 7 * i);
    crc_prepare(&tables);
    assert_int_equal(crc_of(&tables, "123456789", 9), 0xCBF43926); /* the check value of the catalogue */
    for (size_t size = 0; size <= sizeof data; size += 13) {
        const uint32_t whole = plain_crc(data, size);
        assert_int_equal(crc_of(&tables, data, size), whole);
        for (size_t cut = 0; cut <= size; cut += 29) {
            const uint32_t first = crc_of(&tables, data, cut), second = crc_of(&tables, data + cut, size - cut);
            assert_int_equal(crc_join(first, second, size - cut), whole);
        }
    }
}

/* The whole file; for free. */
static uint8_t *load(uint64_t *size_bytes) {
    struct stat info;
    assert_int_equal(stat(PATH, &info), 0);
    uint8_t *data = malloc((size_t)info.st_size);
    FILE *file = fopen(PATH, "rb");
    assert_non_null(data);
    assert_non_null(file);
    assert_int_equal(fread(data, 1, (size_t)info.st_size, file), info.st_size);
    fclose(file);
    *size_bytes = (uint64_t)info.st_size;
    return data;
}

/* The field of an extra block; NULL if there is none. */
static const uint8_t *find_field(const uint8_t *extra, uint64_t bytes, uint64_t id) {
    for (uint64_t at = 0; at + 4 <= bytes; at += 4 + number(extra + at + 2, 2)) {
        if (number(extra + at, 2) == id) return extra + at + 4;
    }
    return NULL;
}

/* Checks the member whose central header is at; returns the next one. */
static const uint8_t *check_member(const uint8_t *file, const uint8_t *at, const npz_array *array, bool is_large) {
    const uint64_t name_bytes = number(at + 28, 2), extra_bytes = number(at + 30, 2);
    const uint8_t *wide = find_field(at + 46 + name_bytes, extra_bytes, 1);
    uint64_t size = number(at + 24, 4), offset = number(at + 42, 4);
    assert_int_equal(number(at, 4), 0x02014B50);
    assert_int_equal(wide != NULL, is_large);
    if (is_large) {
        assert_int_equal(size, UINT32_MAX);
        assert_int_equal(offset, UINT32_MAX);
        size = number(wide, 8);
        assert_int_equal(number(wide + 8, 8), size);
        offset = number(wide + 16, 8);
    }
    const uint8_t *local = file + offset;
    const uint64_t local_extra = number(local + 28, 2);
    assert_int_equal(number(local, 4), 0x04034B50);
    assert_int_equal(number(local + 4, 2), is_large ? 45 : 20);
    assert_memory_equal(local + 6, at + 8, 20); /* flags … sizes: as in the directory */
    assert_memory_equal(local + 30, at + 46, name_bytes);
    assert_memory_equal(local + 30, array->name, name_bytes - 4);
    const uint8_t *local_wide = find_field(local + 30 + name_bytes, local_extra, 1);
    assert_int_equal(local_wide != NULL, is_large);
    if (is_large) assert_memory_equal(local_wide, wide, 16);
    assert_non_null(find_field(local + 30 + name_bytes, local_extra, 0xA11E));
    const uint8_t *npy = local + 30 + name_bytes + local_extra;
    const uint64_t header = 10 + number(npy + 8, 2);
    assert_int_equal((npy - file) % 64, 0);
    assert_int_equal(header % 64, 0);
    assert_int_equal(size, header + npz_bytes(array));
    assert_int_equal(number(at + 16, 4), plain_crc(npy, size));
    assert_memory_equal(npy, "\x93NUMPY\x01\x00", 8);
    if (npz_bytes(array) > 0) assert_memory_equal(npy + header, array->data, npz_bytes(array));
    return at + 46 + name_bytes + extra_bytes;
}

static void check_file(const npz_array *arrays, int count, const bool is_large[], bool end_is_large) {
    uint64_t size = 0;
    uint8_t *file = load(&size);
    const uint8_t *end = file + size - 22;
    uint64_t directory = number(end + 16, 4);
    assert_int_equal(number(end, 4), 0x06054B50);
    assert_int_equal(number(end + 10, 2), count);
    if (end_is_large) {
        const uint8_t *locator = end - 20;
        assert_int_equal(directory, UINT32_MAX);
        assert_int_equal(number(locator, 4), 0x07064B50);
        const uint8_t *wide = file + number(locator + 8, 8);
        assert_ptr_equal(wide, locator - 56);
        assert_int_equal(number(wide, 4), 0x06064B50);
        assert_int_equal(number(wide + 32, 8), count);
        assert_int_equal(number(wide + 40, 8), number(end + 12, 4));
        directory = number(wide + 48, 8);
    }
    const uint8_t *at = file + directory;
    for (int i = 0; i < count; i++) at = check_member(file, at, &arrays[i], is_large[i]);
    assert_int_equal(at - (file + directory), number(end + 12, 4));
    assert_ptr_equal(at, end_is_large ? end - 76 : end);
    free(file);
}

static void write_file(const npz_array *arrays, int count, const npz_params *params, mote_status wanted) {
    mote_context *ctx = NULL;
    mote_output *output = NULL;
    mote_context_params host = mote_context_defaults();
    host.device = MOTE_DEVICE_CPU;
    assert_int_equal(mote_context_create(&host, &ctx), MOTE_OK);
    assert_int_equal(mote_output_create(ctx, PATH, false, &output), MOTE_OK);
    const mote_status status = npz_write(ctx, output, arrays, count, params);
    assert_int_equal(status, wanted);
    assert_int_equal(mote_output_finish(ctx, output, status), wanted);
    mote_context_destroy(ctx);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static void arrays_read_back(void **state) {
    (void)state;
    static const int64_t first[] = {0, 2, 5};
    static const float values[] = {1, 2.5F, -3, 1e30F, 0};
    const npz_array arrays[] = {
        {"first", "<i8", 1, {3, 0}, first}, {"values", "<f4", 2, {5, 1}, values}, {"nothing", "<u4", 2, {0, 7}, NULL}};
    const bool none[] = {false, false, false}, all[] = {true, true, true}, later[] = {false, true, true};
    npz_params params = {.threads = 2, .zip64_from = UINT32_MAX};
    write_file(arrays, 3, &params, MOTE_OK);
    check_file(arrays, 3, none, false);
    params.zip64_from = 100; /* below every size */
    write_file(arrays, 3, &params, MOTE_OK);
    check_file(arrays, 3, all, true);
    params.zip64_from = 153; /* the size of the first is 152 */
    write_file(arrays, 3, &params, MOTE_OK);
    check_file(arrays, 3, later, true);
    unlink(PATH);
}

/* Several pieces, the last one short. */
static void large_array_reads_back(void **state) {
    (void)state;
    const uint64_t count = 2500000;
    uint32_t *values = malloc(count * 4);
    const bool none[] = {false};
    assert_non_null(values);
    for (uint64_t i = 0; i < count; i++) values[i] = (uint32_t)(i * 2654435761u);
    const npz_array array = {"values", "<u4", 1, {count, 0}, values};
    const npz_params params = {.threads = 3, .zip64_from = UINT32_MAX};
    write_file(&array, 1, &params, MOTE_OK);
    check_file(&array, 1, none, false);
    unlink(PATH);
    free(values);
}

static bool never(void *user, double done) {
    *(double *)user = done;
    return false;
}

static void cancel_leaves_nothing(void **state) {
    (void)state;
    static const float values[4] = {1, 2, 3, 4};
    const npz_array array = {"values", "<f4", 1, {4, 0}, values};
    double done = -1;
    const npz_params params = {.threads = 1, .zip64_from = UINT32_MAX, .progress = never, .user = &done};
    char temporary[100];
    write_file(&array, 1, &params, MOTE_CANCELLED);
    snprintf(temporary, sizeof temporary, "%s.%ld.part", PATH, (long)getpid());
    assert_true(done > 0 && done <= 1);
    assert_false(is_there(PATH));
    assert_false(is_there(temporary));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_join),
        cmocka_unit_test(arrays_read_back),
        cmocka_unit_test(large_array_reads_back),
        cmocka_unit_test(cancel_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
