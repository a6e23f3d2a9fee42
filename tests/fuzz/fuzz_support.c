#define _GNU_SOURCE /* mkdtemp */
#include "fuzz/fuzz_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], path[160];

static void remove_folder(void) {
    unlink(path);
    rmdir(folder);
}

const char *fuzz_path(const char *name) {
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "/tmp/mote-fuzz-XXXXXX");
        if (mkdtemp(folder) == NULL) abort();
        atexit(remove_folder);
        snprintf(path, sizeof path, "%s/%s", folder, name);
    }
    return path;
}

mote_context *fuzz_context(void) {
    mote_context_params params = mote_context_defaults();
    params.threads = 1;
    mote_context *ctx = NULL;
    if (mote_context_create(&params, &ctx) != MOTE_OK) abort();
    return ctx;
}

void fuzz_require(mote_context *ctx, bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, mote_context_message(ctx));
    abort();
}

void fuzz_salvage(mote_context *ctx, fuzz_reader *read, const uint8_t *data, size_t size) {
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    params.salvage = true;
    mote_context_clear(ctx);
    if (read(ctx, &input, &params, &cloud) == MOTE_OK) fuzz_touch(ctx, cloud);
    mote_cloud_destroy(cloud);
    mote_context_clear(ctx);
}

static mote_column axis_of(const uint8_t *head, const uint8_t *positions, int k) {
    static const char *const names[6] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    static const double scales[] = {1, 0.001, 1e-7, -2, 1e300, 1e-300, INFINITY, NAN};
    static const double offsets[] = {0, 500000.5, -1e17, 1e308};
    mote_column column;
    memset(&column, 0, sizeof column);
    column.name = names[k];
    column.type = (mote_type)(head[0] % 10);
    column.stride_bytes = 3 * mote_type_size(column.type);
    column.data = positions + (uint32_t)(k % 3) * mote_type_size(column.type);
    column.scale = k >= 3 ? 1 : scales[head[1] & 1 ? head[2 + k] % 8 : head[2] % 8];
    if (k < 3) column.offset = offsets[head[5] >> 2 * k & 3];
    return column;
}

mote_cloud *fuzz_cloud(mote_context *ctx, const uint8_t *head, const uint8_t *positions, size_t size, uint64_t max) {
    mote_column columns[6];
    mote_cloud *cloud = NULL;
    for (int k = 0; k < 6; k++) columns[k] = axis_of(head, positions, k);
    const uint64_t count = size / columns[0].stride_bytes;
    const mote_status status = mote_cloud_wrap(ctx, count < max ? count : max, columns, 6, &cloud);
    fuzz_require(ctx, status == MOTE_OK, "no cloud");
    return cloud;
}

void fuzz_touch(mote_context *ctx, const mote_cloud *cloud) {
    uint64_t hash;
    fuzz_require(ctx, mote_cloud_hash(ctx, cloud, &hash) == MOTE_OK, "no checksum");
}

/* Integers by bits, floats by bits but for which NaN it is. */
static bool same_value(const mote_column *a, const mote_column *b, uint64_t i) {
    if (!mote_type_is_float(a->type)) return mote_column_integer(a, i) == mote_column_integer(b, i);
    const double left = mote_column_stored(a, i), right = mote_column_stored(b, i);
    return (isnan(left) && isnan(right)) || (left == right && signbit(left) == signbit(right));
}

void fuzz_require_same(mote_context *ctx, const mote_cloud *a, const mote_cloud *b) {
    fuzz_require(ctx, a->count == b->count, "another count");
    fuzz_require(ctx, a->column_count == b->column_count, "other columns");
    for (uint32_t c = 0; c < a->column_count; c++) {
        const mote_column *const left = mote_cloud_column(a, c), *const right = mote_cloud_column(b, c);
        fuzz_require(ctx, strcmp(left->name, right->name) == 0, "another name of a column");
        fuzz_require(ctx, left->type == right->type && left->scale == right->scale && left->offset == right->offset,
                     "another kind of column");
        for (uint64_t i = 0; i < a->count; i++) fuzz_require(ctx, same_value(left, right, i), "other values");
    }
}

void fuzz_end(mote_context *ctx, mote_cloud *cloud) {
    mote_cloud_destroy(cloud);
    mote_context_trim(ctx); /* what is kept for the next call is not lost */
    fuzz_require(ctx, mote_context_memory_bytes(ctx) == 0, "memory is left");
    mote_context_destroy(ctx);
}
