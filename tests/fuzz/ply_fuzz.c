/* Any bytes as a PLY file: read, look at every value, write in every encoding, read again. What reads must write, and
   its points must be the same after that. */
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
        snprintf(path, sizeof path, "%s/out.ply", folder);
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
    fprintf(stderr, "ply_fuzz: %s: %s\n", what, mote_context_message(ctx));
    abort();
}

/* Integers by bits, floats by bits but for which NaN it is. */
static bool same_value(const mote_column *a, const mote_column *b, uint64_t i) {
    if (!mote_type_is_float(a->type)) return mote_column_integer(a, i) == mote_column_integer(b, i);
    const double left = mote_column_stored(a, i), right = mote_column_stored(b, i);
    return (isnan(left) && isnan(right)) || (left == right && signbit(left) == signbit(right));
}

static void require_same(mote_context *ctx, const mote_cloud *a, const mote_cloud *b) {
    require(ctx, a->count == b->count, "another count");
    require(ctx, a->column_count == b->column_count, "other columns");
    for (uint32_t c = 0; c < a->column_count; c++) {
        const mote_column *const left = mote_cloud_column(a, c), *const right = mote_cloud_column(b, c);
        require(ctx, left->type == right->type && left->scale == right->scale && left->offset == right->offset,
                "another kind of column");
        for (uint64_t i = 0; i < a->count; i++) require(ctx, same_value(left, right, i), "other values");
    }
}

static mote_cloud *write_and_read(mote_context *ctx, const mote_cloud *cloud, bool text, bool big_endian) {
    mote_write_params params = mote_write_defaults();
    mote_cloud *back = NULL;
    params.text = text;
    params.big_endian = big_endian;
    require(ctx, mote_ply_write(ctx, cloud, path, &params) == MOTE_OK, "not written");
    require(ctx, mote_cloud_read(ctx, path, NULL, &back) == MOTE_OK, "not read again");
    return back;
}

static void write_and_compare(mote_context *ctx, const mote_cloud *cloud) {
    /* 64-bit integers and scaled positions become doubles where that loses nothing; from then on nothing changes. */
    mote_cloud *const first = write_and_read(ctx, cloud, false, false);
    for (int way = 0; way < 3; way++) {
        mote_cloud *const back = write_and_read(ctx, first, way == 1, way == 2);
        require_same(ctx, first, back);
        mote_cloud_destroy(back);
    }
    mote_cloud_destroy(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = make_context();
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_cloud *cloud = NULL;
    uint64_t hash;
    mote_ply_probe(&input);
    if (mote_ply_read(ctx, &input, NULL, &cloud) == MOTE_OK) {
        require(ctx, mote_cloud_hash(ctx, cloud, &hash) == MOTE_OK, "no checksum");
        write_and_compare(ctx, cloud);
    }
    mote_cloud_destroy(cloud);
    require(ctx, mote_context_memory_bytes(ctx) == 0, "memory is left");
    mote_context_destroy(ctx);
    return 0;
}
