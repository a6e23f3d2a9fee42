/* Any bytes as rows of numbers: read, look at every value, write, read again. What reads must write, and its names,
   types and values must be the same after that. */
#include "fuzz/fuzz_support.h"

static void write_and_compare(mote_context *ctx, const mote_cloud *cloud) {
    const mote_write_params params = mote_write_defaults();
    const mote_read_params defaults = mote_read_defaults();
    const char *path = fuzz_path("out.xyz");
    mote_input input;
    mote_cloud *back = NULL;
    fuzz_require(ctx, mote_xyz_write(ctx, cloud, path, &params) == MOTE_OK, "not written");
    fuzz_require(ctx, mote_input_open(ctx, path, &input) == MOTE_OK, "not opened");
    fuzz_require(ctx, mote_xyz_read(ctx, &input, &defaults, &back) == MOTE_OK, "not read again");
    mote_input_close(ctx, &input);
    fuzz_require_same(ctx, cloud, back);
    mote_cloud_destroy(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_cloud *cloud = NULL;
    mote_read_params params = mote_read_defaults();
    /* The last byte chooses a separator now and then. */
    if (size > 0 && data[size - 1] == '|') params.separator = '|';
    mote_xyz_probe(&input);
    if (mote_xyz_read(ctx, &input, &params, &cloud) == MOTE_OK) {
        fuzz_touch(ctx, cloud);
        write_and_compare(ctx, cloud);
    }
    fuzz_salvage(ctx, mote_xyz_read, data, size);
    fuzz_end(ctx, cloud);
    return 0;
}
