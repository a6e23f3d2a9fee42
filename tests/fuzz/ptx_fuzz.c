/* Any bytes as a PTX file: read, look at every value, write as PCD, read that. What reads must write, and its points
   and grid must be the same after that. */
#include "fuzz/fuzz_support.h"

static void write_and_compare(mote_context *ctx, const mote_cloud *cloud) {
    const mote_write_params params = mote_write_defaults();
    const char *path = fuzz_path("ptx.pcd");
    mote_cloud *back = NULL;
    uint64_t width, height;
    fuzz_require(ctx, mote_pcd_write(ctx, cloud, path, &params) == MOTE_OK, "not written");
    fuzz_require(ctx, mote_cloud_read(ctx, path, NULL, &back) == MOTE_OK, "not read again");
    fuzz_require_same(ctx, cloud, back);
    if (mote_cloud_grid(cloud, &width, &height)) {
        fuzz_require(ctx, width * height == cloud->count, "a grid that is not the points'");
    }
    mote_cloud_destroy(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_cloud *cloud = NULL;
    mote_ptx_probe(&input);
    if (mote_ptx_read(ctx, &input, NULL, &cloud) == MOTE_OK) {
        fuzz_touch(ctx, cloud);
        write_and_compare(ctx, cloud);
    }
    fuzz_salvage(ctx, mote_ptx_read, data, size);
    fuzz_end(ctx, cloud);
    return 0;
}
