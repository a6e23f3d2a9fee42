/* Any bytes as an E57 file: checksums are made right first, so that what is behind them is reached; read, with poses
   and without, look at every value, write, read again. What reads must write, and its points must be the same then. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_support.h"
#include "reference/e57_reference.h"

/* Points without a finite position are invalid once they were written. */
static bool is_finite(const mote_cloud *cloud) {
    const mote_column *axes[3];
    mote_cloud_find_positions(cloud, axes);
    for (uint64_t i = 0; i < cloud->count; i++) {
        for (int k = 0; k < 3; k++) {
            if (!isfinite(mote_column_value(axes[k], i))) return false;
        }
    }
    return true;
}

/* reading: what cloud was read with. */
static void write_and_compare(mote_context *ctx, const mote_cloud *cloud, const mote_read_params *reading) {
    const mote_write_params params = mote_write_defaults();
    const char *const path = fuzz_path("out.e57");
    mote_cloud *back = NULL;
    fuzz_require(ctx, mote_e57_write(ctx, cloud, path, &params) == MOTE_OK, "not written");
    fuzz_require(ctx, mote_cloud_read(ctx, path, reading, &back) == MOTE_OK, "not read again");
    if (is_finite(cloud)) fuzz_require(ctx, back->count == cloud->count, "another number of points");
    for (uint32_t c = 0; c < mote_cloud_column_count(cloud) && is_finite(cloud); c++) {
        const mote_column *const a = mote_cloud_column(cloud, c), *const b = mote_cloud_find(back, a->name);
        fuzz_require(ctx, b != NULL && a->type == b->type, "a column that changed");
        for (uint64_t i = 0; i < cloud->count; i++) {
            uint64_t u = 0, v = 0;
            mote_column_read(a, i, 1, a->type, &u);
            mote_column_read(b, i, 1, b->type, &v);
            fuzz_require(ctx, u == v, "a value that changed");
        }
    }
    mote_cloud_destroy(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    uint8_t *const bytes = malloc(size + 1);
    mote_cloud *cloud = NULL;
    mote_read_params params = mote_read_defaults();
    if (bytes == NULL) abort();
    if (size > 0) memcpy(bytes, data, size);
    if (size > 0 && data[size - 1] % 4 != 0) e57_reference_seal(bytes, size); /* else they stay as they are */
    mote_input input = {.path = "fuzz", .data = bytes, .size_bytes = size};
    mote_e57_probe(&input);
    params.keep_poses = size > 0 && data[size - 1] % 8 > 3;
    if (mote_e57_read(ctx, &input, &params, &cloud) == MOTE_OK) {
        fuzz_touch(ctx, cloud);
        write_and_compare(ctx, cloud, &params);
    }
    fuzz_salvage(ctx, mote_e57_read, bytes, size);
    fuzz_end(ctx, cloud);
    free(bytes);
    return 0;
}
