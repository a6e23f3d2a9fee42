#include "io/laz/laz_codec.h"
static uint64_t state_bytes(const laz_schema *s) {
    (void)s;
    return 64;
}
static mote_status write_points(mote_context *ctx, void *state, const laz_schema *schema, const uint8_t *records,
                                uint64_t count, laz_writer *w) {
    (void)state;
    (void)schema;
    (void)records;
    (void)count;
    (void)w;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "not yet");
}
static void release(mote_context *ctx, void *state) {
    (void)ctx;
    (void)state;
}
const laz_writing mote_laz_write_layered = {state_bytes, write_points, release};
