/* What the tests of LAS share: files as bytes, reading and writing that must work, a small cloud with a bit of
   everything. */
#ifndef MOTE_TEST_LAS_FILES_H
#define MOTE_TEST_LAS_FILES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/las/las_format.h"
#include "support/support.h"

typedef struct file_bytes {
    uint8_t *data;
    size_t size;
} file_bytes;

/* cmocka compares as float, which is too coarse for coordinates. */
static inline void assert_near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

static inline file_bytes load(const char *path) {
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

static inline void assert_same_file(const char *path_a, const char *path_b) {
    const file_bytes a = load(path_a), b = load(path_b);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    free(a.data);
    free(b.data);
}

static inline mote_cloud *read_ok(mote_context *ctx, const char *path) {
    mote_cloud *cloud = NULL;
    const mote_status status = mote_cloud_read(ctx, path, NULL, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return cloud;
}

static inline void write_ok(mote_context *ctx, const mote_cloud *cloud, const char *path,
                            const mote_write_params *params) {
    const mote_status status = mote_cloud_write(ctx, cloud, path, params);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
}

/* Sets value i of a column of mote_cloud_create. */
static inline void set_value(mote_cloud *cloud, const char *name, uint64_t i, double value) {
    const mote_column *column = mote_cloud_find(cloud, name);
    uint8_t *at = mote_cloud_column_data(cloud, name);
    assert_non_null(at);
    at += i * column->stride_bytes;
    if (column->type == MOTE_FLOAT32) {
        const float single = (float)value;
        memcpy(at, &single, 4);
    } else if (column->type == MOTE_FLOAT64) {
        memcpy(at, &value, 8);
    } else if (column->type == MOTE_UINT64) {
        const uint64_t whole = (uint64_t)value;
        memcpy(at, &whole, 8);
    } else {
        const int64_t whole = (int64_t)value;
        memcpy(at, &whole, mote_type_size(column->type));
    }
}

#define TINY_WKT "PROJCS[\"tiny\",GEOGCS[\"WGS 84\"]]"

/* 10 points of format 6: WKT, two columns of extra bytes, a record before and one after the points. */
static inline mote_cloud *tiny_cloud(mote_context *ctx) {
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 500000},   {"y", MOTE_INT32, 0.01, 5000000},
                                      {"z", MOTE_INT32, 0.01, 0},        {"scan_angle", MOTE_INT16, 0.006, 0},
                                      {"amplitude", MOTE_FLOAT32, 0, 0}, {"ring", MOTE_UINT8, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 10, specs, 6, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < 10; i++) {
        for (uint32_t k = 0; k < 6; k++) set_value(cloud, specs[k].name, i, (double)(i * (k + 1)));
    }
    mote_record record = {.user_id = "test", .record_id = 7, .size_bytes = 5, .data = "front"};
    assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
    record.extended = true;
    record.size_bytes = 6;
    record.data = "behind";
    assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
    assert_int_equal(mote_cloud_set_crs(cloud, TINY_WKT), MOTE_OK);
    const mote_las_origin origin = {.present = true, .version_minor = 4, .format = 6};
    cloud->las = origin;
    return cloud;
}

#endif
