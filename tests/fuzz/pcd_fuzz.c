/* Any bytes as a PCD file: read, look at every value, write in every encoding, read again. What reads must write, and
   its points must be the same after that. */
#include "fuzz/fuzz_support.h"

static mote_cloud *write_and_read(mote_context *ctx, const mote_cloud *cloud, bool text, bool compress) {
    mote_write_params params = mote_write_defaults();
    mote_cloud *back = NULL;
    params.text = text;
    params.compress = compress;
    const char *path = fuzz_path("out.pcd");
    fuzz_require(ctx, mote_pcd_write(ctx, cloud, path, &params) == MOTE_OK, "not written");
    fuzz_require(ctx, mote_cloud_read(ctx, path, NULL, &back) == MOTE_OK, "not read again");
    return back;
}

static void write_and_compare(mote_context *ctx, const mote_cloud *cloud) {
    for (int way = 0; way < 3; way++) {
        mote_cloud *const back = write_and_read(ctx, cloud, way == 1, way == 2);
        fuzz_require_same(ctx, cloud, back);
        mote_cloud_destroy(back);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_cloud *cloud = NULL;
    mote_pcd_probe(&input);
    if (mote_pcd_read(ctx, &input, NULL, &cloud) == MOTE_OK) {
        fuzz_touch(ctx, cloud);
        write_and_compare(ctx, cloud);
    }
    fuzz_salvage(ctx, mote_pcd_read, data, size);
    fuzz_end(ctx, cloud);
    return 0;
}
