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
    fuzz_require(ctx, mote_context_memory_bytes(ctx) == 0, "memory is left");
    mote_context_destroy(ctx);
}
