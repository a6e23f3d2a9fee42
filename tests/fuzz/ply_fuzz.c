/* Any bytes as a PLY file: read, look at every value, write in every encoding, read again. What reads must write, and
   its points must be the same after that. */
#include "fuzz/fuzz_support.h"

static mote_cloud *write_and_read(mote_context *ctx, const mote_cloud *cloud, bool text, bool big_endian) {
    mote_write_params params = mote_write_defaults();
    mote_cloud *back = NULL;
    params.text = text;
    params.big_endian = big_endian;
    const char *path = fuzz_path("out.ply");
    fuzz_require(ctx, mote_ply_write(ctx, cloud, path, &params) == MOTE_OK, "not written");
    fuzz_require(ctx, mote_cloud_read(ctx, path, NULL, &back) == MOTE_OK, "not read again");
    return back;
}

static void write_and_compare(mote_context *ctx, const mote_cloud *cloud) {
    /* 64-bit integers and scaled positions become doubles where that loses nothing; from then on nothing changes. */
    mote_cloud *const first = write_and_read(ctx, cloud, false, false);
    for (int way = 0; way < 3; way++) {
        mote_cloud *const back = write_and_read(ctx, first, way == 1, way == 2);
        fuzz_require_same(ctx, first, back);
        mote_cloud_destroy(back);
    }
    mote_cloud_destroy(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_cloud *cloud = NULL;
    mote_ply_probe(&input);
    if (mote_ply_read(ctx, &input, NULL, &cloud) == MOTE_OK) {
        fuzz_touch(ctx, cloud);
        write_and_compare(ctx, cloud);
    }
    fuzz_salvage(ctx, mote_ply_read, data, size);
    fuzz_end(ctx, cloud);
    return 0;
}
