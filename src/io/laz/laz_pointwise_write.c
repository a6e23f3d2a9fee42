/* Writes chunks of formats 0 to 5, in the newest version of each item. */
#include "io/laz/laz_pointwise.h"

#define BLOCK_POINTS 256u /* room is made for these at once */
/* What a point takes at most, at LAZ_SYMBOL_BYTES a symbol and 8 bytes for an integer: POINT10 50, GPSTIME11 18, RGB12
   14, WAVEPACKET13 52. */
#define POINT_BYTES_MAX 144u

static uint64_t state_bytes(const laz_schema *schema) { return mote_laz_pointwise_bytes(schema); }

static void write_block(laz_pointwise *state, const uint8_t *record, uint64_t count, laz_writer *writer) {
    const laz_parts parts = state->parts;
    laz_writer w = *writer;
    for (uint64_t i = 0; i < count; i++, record += parts.record_bytes) {
        laz_point10_write(&w, &state->point10, record + parts.point10.at);
        if (parts.gps.version > 0) laz_gps_write(&w, &state->gps, record + parts.gps.at);
        if (parts.rgb.version > 0) laz_rgb_write(&w, &state->rgb, record + parts.rgb.at);
        if (parts.wave.version > 0) laz_write_wave(&state->wave, &w, state->wave.last, record + parts.wave.at);
        if (parts.extra.version > 0) laz_byte_write(&w, &state->extra, record + parts.extra.at);
    }
    *writer = w;
}

static bool is_newest(const laz_parts *p) {
    return p->point10.version == 2 && p->gps.version != 1 && p->rgb.version != 1 && p->extra.version != 1;
}

static mote_status write_points(mote_context *ctx, void *memory, const laz_schema *schema, const uint8_t *records,
                                uint64_t count, laz_writer *w) {
    laz_pointwise *state = memory;
    const char *wrong = mote_laz_pointwise_parts(schema, &state->parts);
    if (wrong != NULL) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s", wrong);
    if (!is_newest(&state->parts)) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "items of version 1 are only read");
    const uint64_t record_bytes = state->parts.record_bytes, begin = w->at;
    const uint64_t max = POINT_BYTES_MAX + LAZ_SYMBOL_BYTES * (uint64_t)state->parts.extra.size_bytes;
    MOTE_TRY(laz_writer_reserve(ctx, w, record_bytes));
    memcpy(w->data + begin, records, record_bytes);
    mote_laz_pointwise_start(state, records);
    laz_writer_start(w);
    w->at = begin + record_bytes;
    for (uint64_t i = 1; i < count; i += BLOCK_POINTS) {
        const uint64_t block = count - i < BLOCK_POINTS ? count - i : BLOCK_POINTS;
        MOTE_TRY(laz_writer_reserve(ctx, w, block * max));
        write_block(state, records + i * record_bytes, block, w);
    }
    MOTE_TRY(laz_writer_reserve(ctx, w, LAZ_WRITER_SLACK));
    laz_writer_finish(w);
    return MOTE_OK;
}

static void release(mote_context *ctx, void *memory) {
    (void)ctx;
    (void)memory;
}

const laz_writing mote_laz_write_pointwise = {state_bytes, write_points, release};
