/* Any bytes as a LAS file: read, look at every value, write, read again. What reads must write, and its points
   must be the same after that. */
#define _GNU_SOURCE /* mkdtemp */
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
        snprintf(path, sizeof path, "%s/out.las", folder);
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
    fprintf(stderr, "las_fuzz: %s: %s\n", what, mote_context_message(ctx));
    abort();
}

/* The stored integers of the positions, the one thing that no writing may change. */
static uint64_t position_sum(const mote_cloud *cloud) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < 3; k++) {
        for (uint64_t i = 0; i < cloud->count; i++) {
            sum = sum * 31 + (uint64_t)mote_column_integer(mote_cloud_column(cloud, k), i);
        }
    }
    return sum;
}

static void write_and_compare(mote_context *ctx, const mote_cloud *cloud) {
    const mote_write_params params = mote_write_defaults();
    mote_cloud *back = NULL;
    require(ctx, mote_las_write(ctx, cloud, path, &params) == MOTE_OK, "not written");
    require(ctx, mote_cloud_read(ctx, path, NULL, &back) == MOTE_OK, "not read again");
    require(ctx, back->count == cloud->count, "another count");
    require(ctx, back->column_count == cloud->column_count, "other columns");
    require(ctx, position_sum(back) == position_sum(cloud), "other positions");
    mote_cloud_destroy(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = make_context();
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_cloud *cloud = NULL;
    uint64_t hash;
    if (mote_las_read(ctx, &input, NULL, &cloud) == MOTE_OK) {
        require(ctx, mote_cloud_hash(ctx, cloud, &hash) == MOTE_OK, "no checksum");
        write_and_compare(ctx, cloud);
    }
    mote_cloud_destroy(cloud);
    require(ctx, mote_context_memory_bytes(ctx) == 0, "memory is left");
    mote_context_destroy(ctx);
    return 0;
}
