/* Any bytes as a LAZ file: read whole, in part, with salvage and in pieces. What is sound must be the same each way. */
#include <stdio.h>

#include "fuzz/fuzz_support.h"

#define SMALL_BYTES (256u << 10) /* larger files are only read whole */

static mote_cloud *read_bytes(mote_context *ctx, const uint8_t *data, size_t size, const mote_read_params *params) {
    mote_input input = {.path = "fuzz", .data = data, .size_bytes = size};
    mote_cloud *cloud = NULL;
    mote_context_clear(ctx);
    const mote_status status = mote_las_read(ctx, &input, params, &cloud);
    fuzz_require(ctx, (status == MOTE_OK) == (cloud != NULL), "a cloud and a failure");
    if (cloud != NULL) fuzz_touch(ctx, cloud);
    return cloud;
}

/* Attributes alone have the values that they have among all others. */
static void compare_selected(mote_context *ctx, const uint8_t *data, size_t size, mote_cloud *whole) {
    mote_read_params params = mote_read_defaults();
    params.select = "intensity,gps_time,red,extra_1";
    mote_cloud *part = read_bytes(ctx, data, size, &params);
    fuzz_require(ctx, part != NULL, "not read in part");
    mote_cloud_keep_columns(whole, params.select);
    fuzz_require_same(ctx, part, whole);
    mote_cloud_destroy(part);
}

static void compare_pieces(mote_context *ctx, const uint8_t *data, size_t size, const mote_cloud *whole) {
    const char *path = fuzz_path("pieces.laz");
    FILE *file = fopen(path, "wb");
    fuzz_require(ctx, file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0, "no scratch file");
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    uint64_t points = 0;
    fuzz_require(ctx, mote_reader_open(ctx, path, NULL, &reader) == MOTE_OK, "not opened");
    do {
        fuzz_require(ctx, mote_reader_next(reader, &piece) == MOTE_OK, "no next piece");
        if (piece != NULL) fuzz_touch(ctx, piece);
        points += piece != NULL ? mote_cloud_count(piece) : 0;
    } while (piece != NULL);
    fuzz_require(ctx, points == whole->count, "another count in pieces");
    mote_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4 || data[0] != 'L' || data[3] != 'F') return 0;
    mote_context *ctx = fuzz_context();
    mote_read_params params = mote_read_defaults();
    mote_cloud *whole = read_bytes(ctx, data, size, &params);
    if (size <= SMALL_BYTES) {
        params.salvage = true;
        mote_cloud *salvaged = read_bytes(ctx, data, size, &params);
        if (whole != NULL) {
            fuzz_require(ctx, salvaged != NULL, "only read without salvage");
            fuzz_require(ctx, salvaged->count >= whole->count, "salvage has lost sound points");
            compare_pieces(ctx, data, size, whole);
            compare_selected(ctx, data, size, whole);
        }
        mote_cloud_destroy(salvaged);
    }
    fuzz_end(ctx, whole);
    return 0;
}
