/* Any bytes as a LAS file: read, look at every value, write, read again. What reads must write, and its points
   must be the same after that. */
#include "fuzz/fuzz_support.h"

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
    const char *path = fuzz_path("out.las");
    mote_cloud *back = NULL;
    fuzz_require(ctx, mote_las_write(ctx, cloud, path, &params) == MOTE_OK, "not written");
    fuzz_require(ctx, mote_cloud_read(ctx, path, NULL, &back) == MOTE_OK, "not read again");
    fuzz_require(ctx, back->count == cloud->count, "another count");
    fuzz_require(ctx, back->column_count == cloud->column_count, "other columns");
    fuzz_require(ctx, position_sum(back) == position_sum(cloud), "other positions");
    mote_cloud_destroy(back);
}

/* The first points of chunks, wherever the table says that these are. */
static void sample(mote_context *ctx, const uint8_t *data, size_t size) {
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_read_sample of = mote_read_sample_defaults();
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    params.sample = &of;
    if (mote_las_read(ctx, &input, &params, &cloud) == MOTE_OK) {
        fuzz_touch(ctx, cloud);
        fuzz_require(ctx, cloud->count <= of.points, "more points than the whole");
    }
    mote_cloud_destroy(cloud);
    mote_context_clear(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_cloud *cloud = NULL;
    if (mote_las_read(ctx, &input, NULL, &cloud) == MOTE_OK) {
        fuzz_touch(ctx, cloud);
        write_and_compare(ctx, cloud);
    }
    sample(ctx, data, size);
    fuzz_salvage(ctx, mote_las_read, data, size);
    fuzz_end(ctx, cloud);
    return 0;
}
