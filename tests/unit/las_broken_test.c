/* LAS: malformed input, failing memory, cancel, full disk, threads, pipes. */
#define _GNU_SOURCE /* mkfifo, opendir */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cloud_files.h"
#include "support/las_files.h"

static char warning[1024];

static void keep_warning(void *user, mote_log_level level, const char *message) {
    (void)user, (void)level;
    snprintf(warning, sizeof warning, "%s", message);
}

static mote_context *listening_context(void) {
    mote_context_params params = mote_context_defaults();
    params.threads = 1;
    params.log = keep_warning;
    warning[0] = '\0';
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* Touches every value, so that a view past its memory is seen. */
static void touch(mote_context *ctx, const mote_cloud *cloud) {
    uint64_t hash;
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash), MOTE_OK);
}

/* Reads bytes as a file; the cloud is touched and freed. */
static mote_status read_bytes(mote_context *ctx, const uint8_t *data, size_t size, uint64_t *count) {
    uint8_t *exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees a read past the end */
    memcpy(exact, data, size);
    mote_input input = {.path = "patched.las", .data = exact, .size_bytes = size};
    mote_cloud *cloud = NULL;
    mote_context_clear(ctx);
    warning[0] = '\0';
    const mote_status status = mote_las_read(ctx, &input, NULL, &cloud);
    if (status == MOTE_OK) {
        touch(ctx, cloud);
        *count = mote_cloud_count(cloud);
    }
    mote_cloud_destroy(cloud);
    free(exact);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    return status;
}

static file_bytes tiny_file(mote_context *ctx) {
    mote_cloud *cloud = tiny_cloud(ctx);
    write_ok(ctx, cloud, test_path("tiny.las"), NULL);
    mote_cloud_destroy(cloud);
    return load(test_path("tiny.las"));
}

/* Where the parts of the tiny file are. */
enum { FIRST_RECORD = 375, EXTRA_RECORD = 375 + 54 + 5 + 54 + (int)sizeof TINY_WKT };

/* One change and what must come of it: a part of the message of a failure, or of a warning when it must work. */
typedef struct patch {
    uint32_t at, size;
    uint64_t value;
    bool works;
    const char *says;
} patch;

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static void check_patch(mote_context *ctx, const file_bytes *good, const patch *p) {
    uint8_t *data = malloc(good->size);
    memcpy(data, good->data, good->size);
    las_put(data + p->at, p->value, p->size);
    uint64_t count = 0;
    const mote_status status = read_bytes(ctx, data, good->size, &count);
    const char *message = p->works ? warning : mote_context_message(ctx);
    if ((status == MOTE_OK) != p->works || strstr(message, p->says) == NULL) {
        fail_msg("patch at %u of %llu: %s, \"%s\", lacks \"%s\"", p->at, (unsigned long long)p->value,
                 mote_status_name(status), message, p->says);
    }
    if (!p->works) assert_non_null(strstr(message, "patched.las: offset "));
    if (p->works) assert_int_equal(count, 10);
    free(data);
}

static void patched_headers(void **state) {
    (void)state;
    mote_context *ctx = listening_context();
    const file_bytes good = tiny_file(ctx);
    const uint32_t points_at = las_u32(good.data + 96);
    const uint64_t behind_at = las_u64(good.data + 235);
    const patch patches[] = {
        {0, 1, 'X', false, "does not start with"},
        {24, 1, 2, false, "version 2.4"},
        {25, 1, 6, false, "version 1.6"},
        {94, 2, 10, false, "header of 10 bytes"},
        {94, 2, 0, false, "header of 0 bytes"},
        {94, 2, 65535, false, "header of 65535 bytes"},
        {94, 2, 374, false, "needs 375"},
        {96, 4, 100, false, "inside the header"},
        {96, 4, good.size + 1, false, "past the end"},
        {96, 4, 0xFFFFFFFF, false, "past the end"},
        {100, 4, 0xFFFFFFFF, true, "does not fit before the points"},
        {100, 4, 4, true, "does not fit before the points"},
        {104, 1, 11, false, "point format 11"},
        {104, 1, 63, false, "point format 63"},
        {104, 1, 7, false, "format 7 needs 36"},
        {105, 2, 0, false, "records of 0 bytes"},
        {105, 2, 29, false, "records of 29 bytes"},
        {105, 2, 65535, false, "the file holds 0"},
        {105, 2, 34, true, "need 1 bytes, the records have 0 left"},
        {107, 4, 0xFFFFFFFF, true, "64-bit one, which is taken"},
        {247, 8, 11, false, "the header says 11 points of 35 bytes, the file holds 10"},
        {247, 8, 0xFFFFFFFF, false, "the header says 4294967295"},
        {247, 8, 1ull << 63, false, "the header says 9223372036854775808"},
        {247, 8, 0, true, "interrupted"},
        {131, 8, bits_of(0), false, "the scale of x is 0"},
        {139, 8, bits_of(NAN), false, "the scale of y is"},
        {147, 8, bits_of(1e300), false, "the scale of z is 1e+300"},
        {147, 8, bits_of(INFINITY), false, "the scale of z is inf"},
        {131, 8, bits_of(-0.01), true, ""},
        {155, 8, bits_of(INFINITY), false, "the offset of x is inf"},
        {163, 8, bits_of(NAN), false, "the offset of y"},
        {179, 8, bits_of(NAN), true, "bounding box"},
        {187, 8, bits_of(1e9), true, "bounding box"},
        {227, 8, 1ull << 63, true, ""}, /* without the flag, the start of waveforms means nothing */
        {235, 8, 0, true, "before the points"},
        {235, 8, points_at + 1, true, "among the points"},
        {235, 8, good.size, true, "0 bytes before the end"},
        {235, 8, 1ull << 63, true, "0 bytes before the end"},
        {243, 4, 0xFFFFFFFF, true, "before the end of the file"},
        {243, 4, 2, true, "0 bytes before the end"},
        {(uint32_t)behind_at + 20, 8, UINT64_MAX, true, "an extended record of 18446744073709551615"},
        {(uint32_t)behind_at + 20, 8, 7, true, "an extended record of 7 bytes where the file has 6"},
        {FIRST_RECORD + 20, 2, 65535, true, "runs over the points"},
        {FIRST_RECORD + 20, 2, 6, true, "record"},
        {EXTRA_RECORD + 54 + 2, 1, 200, true, "unknown type 200"},
        {EXTRA_RECORD + 54 + 2, 1, 31, true, "unknown type 31"},
        {EXTRA_RECORD + 54 + 2, 1, 10, true, "need 8 bytes, the records have 5 left"},
        {EXTRA_RECORD + 54 + 2, 1, 30, true, "need 24 bytes"},
        {EXTRA_RECORD + 54 + 2, 2, 0xFF00, true, "need 255 bytes"},
        {EXTRA_RECORD + 54 + 4, 8, 0x4141414141414141, true, ""},
        {EXTRA_RECORD + 54 + 192 + 2, 1, 0, true, ""},
    };
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) { check_patch(ctx, &good, &patches[i]); }
    free(good.data);
    mote_context_destroy(ctx);
}

static void cut_anywhere(void **state) {
    (void)state;
    mote_context *ctx = listening_context();
    const file_bytes good = tiny_file(ctx);
    const size_t points_end = las_u64(good.data + 235);
    for (size_t size = 0; size < good.size; size++) { /* behind the points, only a record is lost */
        uint64_t count = 0;
        assert_int_equal(read_bytes(ctx, good.data, size, &count), size < points_end ? MOTE_ERROR_DATA : MOTE_OK);
        if (size < points_end) assert_non_null(strstr(mote_context_message(ctx), "patched.las: offset "));
        if (size >= points_end) assert_non_null(strstr(warning, "patched.las: offset "));
        if (size >= points_end) assert_int_equal(count, 10);
    }
    free(good.data);
    mote_context_destroy(ctx);
}

/* Each byte set to a few values: anything but a crash or a leak. */
static void any_byte_wrong(void **state) {
    (void)state;
    static const uint8_t values[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    mote_context *ctx = listening_context();
    const file_bytes good = tiny_file(ctx);
    for (size_t at = 0; at < good.size; at++) {
        const uint8_t before = good.data[at];
        for (size_t v = 0; v < sizeof values; v++) {
            uint64_t count = 0;
            good.data[at] = values[v];
            read_bytes(ctx, good.data, good.size, &count);
        }
        good.data[at] = before;
    }
    free(good.data);
    mote_context_destroy(ctx);
}

/* A file that some writer did not finish: no counts, perhaps no layout. */
static void unfinished_files(void **state) {
    (void)state;
    mote_context *ctx = listening_context();
    mote_cloud *cloud = tiny_cloud(ctx);
    cloud->record_count = 0;
    write_ok(ctx, cloud, test_path("unfinished.las"), NULL);
    mote_cloud_destroy(cloud);
    const file_bytes file = load(test_path("unfinished.las"));
    uint64_t count = 0;
    las_put(file.data + 247, 0, 8);
    assert_int_equal(read_bytes(ctx, file.data, file.size, &count), MOTE_OK);
    assert_int_equal(count, 10);
    assert_int_equal(read_bytes(ctx, file.data, file.size - 1, &count), MOTE_ERROR_DATA);
    assert_non_null(strstr(mote_context_message(ctx), "no whole number of records"));
    assert_int_equal(read_bytes(ctx, file.data, las_u32(file.data + 96) + 3, &count), MOTE_OK);
    assert_int_equal(count, 0);
    las_put(file.data + 94, 0, 6); /* size of the header and start of the points */
    assert_int_equal(read_bytes(ctx, file.data, file.size, &count), MOTE_OK);
    assert_int_equal(count, 10);
    assert_non_null(strstr(warning, "interrupted"));
    assert_int_equal(read_bytes(ctx, file.data, 390, &count), MOTE_ERROR_DATA);
    free(file.data);
    mote_context_destroy(ctx);
}

/* Records far longer than their format, without a description. */
static void long_tails(void **state) {
    (void)state;
    mote_context *ctx = listening_context();
    uint8_t *file = calloc(1, 227 + 2 * 65535);
    memcpy(file, "LASF", 4);
    file[24] = 1;
    file[25] = 2;
    las_put(file + 94, 227, 2);
    las_put(file + 96, 227, 4);
    las_put(file + 105, 65535, 2);
    las_put(file + 107, 2, 4);
    for (uint32_t k = 0; k < 3; k++) las_put_f64(file + 131 + 8 * k, 1);
    for (uint32_t i = 227; i < 227 + 2 * 65535; i++) file[i] = (uint8_t)(i * 7);
    uint64_t count = 0;
    assert_int_equal(read_bytes(ctx, file, 227 + 2 * 65535, &count), MOTE_OK);
    test_write_file(test_path("tail.las"), file, 227 + 2 * 65535);
    mote_cloud *cloud = read_ok(ctx, test_path("tail.las"));
    write_ok(ctx, cloud, test_path("tail2.las"), NULL);
    const file_bytes back = load(test_path("tail2.las"));
    assert_memory_equal(file + 227, back.data + las_u32(back.data + 96), 2 * 65535);
    free(back.data);
    mote_cloud_destroy(cloud);
    free(file);
    mote_context_destroy(ctx);
}

/* ---- the folder of broken files */

typedef struct broken_case {
    const char *name;
    const char *says; /* part of the message; NULL: works */
    uint64_t count;
} broken_case;

static void real_broken_files(void **state) {
    (void)state;
    static const broken_case cases[] = {
        {"1.2-empty-geotiff-vlrs.las", NULL, 43},
        {"1.2-no-points.las", "1065 points of 34 bytes, the file holds 0", 0},
        {"bad-geotiff-keys.las", NULL, 10},
        {"bad_points_1.1.las", NULL, 1},
        {"bad_vlr_count.las", NULL, 10},
        {"garbage_nVariableLength.las", "719 points of 20 bytes, the file holds 718", 0},
        {"gps-time-nan.las", NULL, 1},
        {"no-points.las", NULL, 0},
        {"synthetic_test.las", NULL, 1},
        {"unregistered_extra_bytes.las", NULL, 4},
        {"gen/h02_trunc_226.las", "offset 226: the header is cut short", 0},
        {"gen/h04_hs_ffff.las", "offset 94", 0},
        {"gen/h06_off_past_eof.las", "offset 96", 0},
        {"gen/h08_nvlr_max.las", NULL, 1065},
        {"gen/h12_reclen_short.las", "offset 105", 0},
        {"gen/h14_count_max.las", "4294967295 points of 34 bytes, the file holds 1065", 0},
        {"gen/h18_scale_0.las", "scale of x is 0", 0},
        {"gen/h20_scale_1e300.las", "scale of x is 1e+300", 0},
        {"gen/h22_offset_inf.las", "offset of x is inf", 0},
        {"gen/h24_bbox_nan.las", NULL, 1065},
        {"gen/v02_vlr_past_eof.las", "offset 96", 0},
    };
    if (test_data("broken/no-points.las") == NULL) skip();
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[256];
        snprintf(name, sizeof name, "broken/%s", cases[i].name);
        const char *path = test_data(name);
        mote_cloud *cloud = NULL;
        mote_context_clear(ctx);
        const mote_status status = mote_cloud_read(ctx, path, NULL, &cloud);
        assert_int_equal(status == MOTE_OK, cases[i].says == NULL);
        if (status == MOTE_OK) {
            touch(ctx, cloud);
            assert_int_equal(mote_cloud_count(cloud), cases[i].count);
            write_ok(ctx, cloud, test_path("mended.las"), NULL);
            mote_cloud_destroy(cloud);
        } else if (strstr(mote_context_message(ctx), cases[i].says) == NULL ||
                   strstr(mote_context_message(ctx), path) == NULL) {
            fail_msg("%s: \"%s\" lacks \"%s\"", name, mote_context_message(ctx), cases[i].says);
        }
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* ---- memory, cancel, disk, threads */

/* A cloud of several blocks, of two layouts: all fields from columns elsewhere. */
static mote_cloud *large_cloud(mote_context *ctx, uint64_t count) {
    const mote_column_spec specs[] = {{"x", MOTE_FLOAT64, 0, 0},
                                      {"y", MOTE_FLOAT64, 0, 0},
                                      {"z", MOTE_FLOAT32, 0, 0},
                                      {"return_number", MOTE_UINT8, 0, 0},
                                      {"classification", MOTE_INT16, 0, 0},
                                      {"gps_time", MOTE_FLOAT64, 0, 0},
                                      {"red", MOTE_UINT8, 0, 0},
                                      {"weight", MOTE_FLOAT32, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, count, specs, 8, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < count; i++) {
        set_value(cloud, "x", i, 500000 + 0.001 * (double)(i % 7919));
        set_value(cloud, "y", i, 5000000 + 0.001 * (double)(i % 104729));
        set_value(cloud, "z", i, 0.25 * (double)(i % 401));
        set_value(cloud, "return_number", i, (double)(i % 5 + 1));
        set_value(cloud, "classification", i, (double)(i % 32));
        set_value(cloud, "gps_time", i, 1e-6 * (double)i);
        set_value(cloud, "red", i, (double)(i % 256));
        set_value(cloud, "weight", i, (double)i / 3);
    }
    return cloud;
}

static void same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    static const int threads[3] = {1, 2, 7};
    for (int t = 0; t < 3; t++) {
        mote_context *ctx = test_context(threads[t]);
        mote_cloud *cloud = large_cloud(ctx, 300000);
        write_ok(ctx, cloud, test_path(t == 0 ? "one.las" : "more.las"), NULL);
        mote_cloud_destroy(cloud);
        cloud = read_ok(ctx, test_path(t == 0 ? "one.las" : "more.las"));
        write_ok(ctx, cloud, test_path("copy.las"), NULL);
        mote_cloud_destroy(cloud);
        if (t > 0) assert_same_file(test_path("one.las"), test_path("more.las"));
        const file_bytes a = load(test_path("one.las")), b = load(test_path("copy.las"));
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        assert_int_equal(las_u32(a.data + 111 + 4 * 4), 60000);
        assert_near(las_f64(a.data + 187), 500000, 0);
        assert_near(las_f64(a.data + 179), 500007.918, 1e-9);
        free(a.data);
        free(b.data);
        mote_context_destroy(ctx);
    }
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    mote_context *plain = test_context(1);
    mote_cloud *tiny = tiny_cloud(plain);
    write_ok(plain, tiny, test_path("memory.las"), NULL);
    mote_cloud_destroy(tiny);
    mote_context_destroy(plain);
    bool done = false;
    for (long n = 2; !done; n++) {
        test_allocator allocator = {.fail_at = n};
        mote_context *ctx = test_context_failing(&allocator, 2);
        mote_cloud *cloud = NULL;
        mote_status status = mote_cloud_read(ctx, test_path("memory.las"), NULL, &cloud);
        if (status == MOTE_OK) status = mote_cloud_set_crs(cloud, "EPSG:25832");
        unlink(test_path("memory2.las"));
        if (status == MOTE_OK) status = mote_cloud_write(ctx, cloud, test_path("memory2.las"), NULL);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        assert_int_equal(access(test_path("memory2.las"), F_OK) == 0, status == MOTE_OK);
        done = allocator.calls < n;
        assert_int_equal(done, status == MOTE_OK);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
        assert_true(n < 10000);
    }
}

/* How many entries of the test folder start with name. */
static int count_entries(const char *name) {
    int found = 0;
    DIR *entries = opendir(test_folder());
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        found += strncmp(entry->d_name, name, strlen(name)) == 0;
    }
    closedir(entries);
    return found;
}

static bool stop_at_zero(void *user, double done, const char *stage) {
    (void)done, (void)stage;
    return (*(int *)user)-- > 0;
}

static void cancel_leaves_nothing(void **state) {
    (void)state;
    bool finished = false;
    for (int calls = 0; !finished; calls++) {
        int remaining = calls;
        mote_context_params params = mote_context_defaults();
        params.threads = 2;
        params.progress = stop_at_zero;
        params.progress_user = &remaining;
        mote_context *ctx = NULL;
        assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
        mote_cloud *cloud = large_cloud(ctx, 600000);
        const mote_status status = mote_cloud_write(ctx, cloud, test_path("cancel.las"), NULL);
        finished = status == MOTE_OK;
        if (!finished) {
            assert_int_equal(status, MOTE_CANCELLED);
            assert_int_equal(count_entries("cancel.las"), 0);
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
        if (finished) assert_true(calls >= 3);
    }
    assert_int_equal(count_entries("cancel.las"), 1);
}

static void full_disk_keeps_the_old_file(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = large_cloud(ctx, 100000);
    test_full_disk(ctx, cloud, "out.las");
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- pipes, output onto input */

static void *feed_pipe(void *path) {
    const file_bytes file = load(test_path("pipe_source.las"));
    FILE *pipe = fopen(path, "wb");
    fwrite(file.data, 1, file.size, pipe);
    fclose(pipe);
    free(file.data);
    return NULL;
}

static void reads_a_pipe(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = large_cloud(ctx, 20000);
    uint64_t hash[2];
    write_ok(ctx, cloud, test_path("pipe_source.las"), NULL);
    mote_cloud_destroy(cloud);
    cloud = read_ok(ctx, test_path("pipe_source.las"));
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash[0]), MOTE_OK);
    mote_cloud_destroy(cloud);
    char path[512];
    snprintf(path, sizeof path, "%s", test_path("pipe.las"));
    assert_int_equal(mkfifo(path, 0600), 0);
    pthread_t feeder;
    assert_int_equal(pthread_create(&feeder, NULL, feed_pipe, path), 0);
    cloud = read_ok(ctx, path);
    pthread_join(feeder, NULL);
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash[1]), MOTE_OK);
    assert_int_equal(hash[0], hash[1]);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void output_onto_input(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = large_cloud(ctx, 100000);
    write_ok(ctx, cloud, test_path("onto.las"), NULL);
    write_ok(ctx, cloud, test_path("onto_reference.las"), NULL);
    mote_cloud_destroy(cloud);
    cloud = read_ok(ctx, test_path("onto.las"));
    write_ok(ctx, cloud, test_path("onto.las"), NULL);
    mote_cloud_destroy(cloud);
    assert_same_file(test_path("onto.las"), test_path("onto_reference.las"));
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patched_headers),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(any_byte_wrong),
        cmocka_unit_test(unfinished_files),
        cmocka_unit_test(long_tails),
        cmocka_unit_test(real_broken_files),
        cmocka_unit_test(same_bytes_for_any_number_of_threads),
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(cancel_leaves_nothing),
        cmocka_unit_test(full_disk_keeps_the_old_file),
        cmocka_unit_test(reads_a_pipe),
        cmocka_unit_test(output_onto_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
