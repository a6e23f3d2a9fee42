/* Any bytes as rows of numbers: read, look at every value, write, read again. What reads must write, and its names,
   types and values must be the same after that. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/io_internal.h"
#include "mote/mote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[96];

static void remove_folder(void) {
    unlink(path);
    rmdir(folder);
}

static mote_context *make_context(void) {
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "/tmp/mote-fuzz-XXXXXX");
        if (mkdtemp(folder) == NULL) abort();
        snprintf(path, sizeof path, "%s/out.xyz", folder);
        atexit(remove_folder);
    }
    mote_context_params params = mote_context_defaults();
    params.threads = 1;
    mote_context *ctx = NULL;
    if (mote_context_create(&params, &ctx) != MOTE_OK) abort();
    return ctx;
}

static void require(mote_context *ctx, bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "xyz_fuzz: %s: %s\n", what, mote_context_message(ctx));
    abort();
}

static bool same_value(const mote_column *a, const mote_column *b, uint64_t i) {
    if (!mote_type_is_float(a->type)) return mote_column_integer(a, i) == mote_column_integer(b, i);
    const double left = mote_column_stored(a, i), right = mote_column_stored(b, i);
    return (isnan(left) && isnan(right)) || (left == right && signbit(left) == signbit(right));
}

static void write_and_compare(mote_context *ctx, const mote_cloud *cloud) {
    const mote_write_params params = mote_write_defaults();
    mote_input input;
    mote_cloud *back = NULL;
    require(ctx, mote_xyz_write(ctx, cloud, path, &params) == MOTE_OK, "not written");
    require(ctx, mote_input_open(ctx, path, &input) == MOTE_OK, "not opened");
    const mote_read_params defaults = mote_read_defaults();
    require(ctx, mote_xyz_read(ctx, &input, &defaults, &back) == MOTE_OK, "not read again");
    mote_input_close(ctx, &input);
    require(ctx, back->count == cloud->count, "another count");
    require(ctx, back->column_count == cloud->column_count, "other columns");
    for (uint32_t c = 0; c < cloud->column_count; c++) {
        const mote_column *const left = mote_cloud_column(cloud, c), *const right = mote_cloud_column(back, c);
        require(ctx, strcmp(left->name, right->name) == 0 && left->type == right->type, "another kind of column");
        for (uint64_t i = 0; i < cloud->count; i++) require(ctx, same_value(left, right, i), "other values");
    }
    mote_cloud_destroy(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = make_context();
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_read_params params = mote_read_defaults();
    /* The last byte chooses a separator now and then. */
    if (size > 0 && data[size - 1] == '|') params.separator = '|';
    mote_cloud *cloud = NULL;
    uint64_t hash;
    mote_xyz_probe(&input);
    if (mote_xyz_read(ctx, &input, &params, &cloud) == MOTE_OK) {
        require(ctx, mote_cloud_hash(ctx, cloud, &hash) == MOTE_OK, "no checksum");
        write_and_compare(ctx, cloud);
    }
    mote_cloud_destroy(cloud);
    require(ctx, mote_context_memory_bytes(ctx) == 0, "memory is left");
    mote_context_destroy(ctx);
    return 0;
}
