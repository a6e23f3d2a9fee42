/* LAS: real files there and back, the writer's choices, extra bytes, coordinates. */
#define _GNU_SOURCE /* mount, for the full disk */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/las_format.h"
#include "support/support.h"

typedef struct file_bytes {
    uint8_t *data;
    size_t size;
} file_bytes;

static file_bytes load(const char *path) {
    file_bytes file = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    file.size = (size_t)ftell(stream);
    rewind(stream);
    file.data = malloc(file.size + 1);
    assert_non_null(file.data);
    assert_int_equal(fread(file.data, 1, file.size, stream), file.size);
    fclose(stream);
    return file;
}

static void assert_same_file(const char *path_a, const char *path_b) {
    const file_bytes a = load(path_a), b = load(path_b);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    free(a.data);
    free(b.data);
}

static mote_cloud *read_ok(mote_context *ctx, const char *path) {
    mote_cloud *cloud = NULL;
    const mote_status status = mote_cloud_read(ctx, path, NULL, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return cloud;
}

static void write_ok(mote_context *ctx, const mote_cloud *cloud, const char *path) {
    const mote_status status = mote_cloud_write(ctx, cloud, path, NULL);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
}

static bool same_record(const mote_record *a, const mote_record *b) {
    return memcmp(a->user_id, b->user_id, 16) == 0 && a->record_id == b->record_id && a->extended == b->extended &&
           strcmp(a->description, b->description) == 0 && a->size_bytes == b->size_bytes &&
           memcmp(a->data, b->data, a->size_bytes) == 0;
}

/* A cloud like another, but with each column dense in memory of its own, bit fields unpacked. */
static mote_cloud *unpacked(mote_context *ctx, const mote_cloud *cloud) {
    mote_cloud *copy = NULL;
    assert_int_equal(mote_cloud_new(ctx, cloud->count, &copy), MOTE_OK);
    for (uint32_t i = 0; i < cloud->column_count; i++) {
        const mote_column *column = &cloud->columns[i];
        const mote_column_spec spec = {column->name, column->type, column->scale, column->offset};
        assert_int_equal(mote_cloud_add_column(copy, &spec), MOTE_OK);
        mote_column_read(column, 0, cloud->count, column->type, mote_cloud_column_data(copy, column->name));
    }
    assert_int_equal(mote_cloud_copy_extras(copy, cloud), MOTE_OK);
    return copy;
}

/* The point records of two files are the same bytes. */
static void assert_same_points(const char *path_a, const char *path_b) {
    const file_bytes a = load(path_a), b = load(path_b);
    const uint32_t at_a = las_u32(a.data + 96), at_b = las_u32(b.data + 96);
    const uint16_t bytes = las_u16(a.data + 105);
    uint64_t count = las_u32(a.data + 107);
    if (a.data[25] >= 4 && las_u64(a.data + 247) != 0) count = las_u64(a.data + 247);
    assert_int_equal(bytes, las_u16(b.data + 105));
    assert_int_equal(a.data[104], b.data[104]);
    assert_true(at_b + count * bytes <= b.size);
    assert_memory_equal(a.data + at_a, b.data + at_b, count * bytes);
    free(a.data);
    free(b.data);
}

static void check_round_trip(mote_context *ctx, const char *path, uint64_t points) {
    mote_cloud *cloud = read_ok(ctx, path);
    assert_int_equal(mote_cloud_count(cloud), points);
    const char *out = test_path("round.las"), *slow = test_path("slow.las");
    write_ok(ctx, cloud, out);
    assert_same_points(path, out);
    mote_cloud *copy = unpacked(ctx, cloud);
    write_ok(ctx, copy, slow);
    assert_same_points(path, slow);
    mote_cloud_destroy(copy);

    mote_cloud *back = read_ok(ctx, out);
    uint64_t hash[2];
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash[0]), MOTE_OK);
    assert_int_equal(mote_cloud_hash(ctx, back, &hash[1]), MOTE_OK);
    assert_int_equal(hash[0], hash[1]);
    assert_string_equal(mote_cloud_crs(cloud), mote_cloud_crs(back));
    assert_int_equal(cloud->record_count, back->record_count);
    for (uint32_t i = 0; i < cloud->record_count; i++) {
        assert_true(same_record(mote_cloud_record(cloud, i), mote_cloud_record(back, i)));
    }
    const char *again = test_path("again.las");
    write_ok(ctx, back, again);
    assert_same_file(out, again);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
}

static void real_files_round_trip(void **state) {
    (void)state;
    const char *manifest_path = test_data("MANIFEST.md");
    if (manifest_path == NULL) skip();
    mote_context *ctx = test_context(2);
    FILE *manifest = fopen(manifest_path, "r");
    assert_non_null(manifest);
    char line[4096], name[256];
    int files = 0;
    while (fgets(line, sizeof line, manifest) != NULL) {
        unsigned long long points;
        if (sscanf(line, "| %255s | %*u | %*s | %llu |", name, &points) != 2 || strncmp(name, "las/", 4) != 0) continue;
        print_message("%s\n", name);
        check_round_trip(ctx, test_data(name), points);
        files++;
    }
    fclose(manifest);
    assert_true(files > 40);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_files_round_trip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
