/* Reads chunks of formats 0 to 5: the first record is raw, all others are one stream of the arithmetic coder, item by
   item. A symbol depends on the one before, so a chunk alone leaves the processor waiting; two chunks are read in step,
   a piece of a point of one, then of the other, which it overlaps. */
#include "io/laz/laz_pointwise.h"

static const char *const ended_early = "the chunk ends before its last point";

/* ---- Items and state */
static laz_part *part_of(laz_parts *parts, uint32_t kind) {
    switch (kind) {
    case LAZ_POINT10: return &parts->point10;
    case LAZ_GPSTIME11: return &parts->gps;
    case LAZ_RGB12: return &parts->rgb;
    case LAZ_WAVEPACKET13: return &parts->wave;
    case LAZ_BYTE: return &parts->extra;
    default: return NULL;
    }
}

const char *mote_laz_pointwise_parts(const laz_schema *schema, laz_parts *parts) {
    uint32_t at = 0;
    memset(parts, 0, sizeof *parts);
    for (uint32_t i = 0; i < schema->item_count; i++) {
        const laz_item *item = &schema->items[i];
        laz_part *part = part_of(parts, item->kind);
        if (part == NULL || item->version < 1 || item->version > 2) return "an item that pointwise records do not have";
        if (part->version != 0) return "two items of one kind";
        *part = (laz_part){item->version, at, item->size_bytes};
        at += item->size_bytes;
    }
    if (parts->point10.version == 0) return "a record without POINT10";
    parts->record_bytes = at;
    return NULL;
}

static uint64_t aligned(uint64_t size_bytes) {
    return (size_bytes + LAZ_STATE_ALIGNMENT - 1) / LAZ_STATE_ALIGNMENT * LAZ_STATE_ALIGNMENT;
}

uint64_t mote_laz_pointwise_bytes(const laz_schema *schema) {
    laz_parts parts;
    const bool known = mote_laz_pointwise_parts(schema, &parts) == NULL;
    return aligned(sizeof(laz_pointwise)) + (known ? LAZ_EXTRA_BYTES(parts.extra.size_bytes) : 0);
}

void mote_laz_pointwise_start(laz_pointwise *state, const uint8_t *record) {
    const laz_parts *p = &state->parts;
    uint8_t *behind = (uint8_t *)state + aligned(sizeof *state);
    laz_point10_start(&state->point10, p->point10.version, record + p->point10.at);
    if (p->gps.version > 0) laz_gps_start(&state->gps, p->gps.version, record + p->gps.at);
    if (p->rgb.version > 0) laz_rgb_start(&state->rgb, p->rgb.version, record + p->rgb.at);
    if (p->wave.version > 0) laz_start_wave(&state->wave, record + p->wave.at);
    if (p->extra.version > 0)
        laz_byte_start(&state->extra, p->extra.version, p->extra.size_bytes, behind, record + p->extra.at);
}

/* ---- A point */

/* What a lane is at, in registers as far as they go. */
typedef struct lane {
    laz_reader r;
    laz_pointwise *state;
    uint8_t *record;
    laz_return kind;
    uint32_t x_bits, y_bits;
} lane;

/* Each step is taken for all lanes before the next one. */
#define FOR_LANES _Pragma("GCC unroll 2") for (uint32_t l = 0; l < lanes; l++)

static inline __attribute__((always_inline)) void read_point10(lane *at, uint32_t lanes) {
    FOR_LANES at[l].kind = laz_point10_read_bytes(&at[l].r, &at[l].state->point10);
    FOR_LANES at[l].x_bits = laz_point10_read_x(&at[l].r, &at[l].state->point10, at[l].kind);
    FOR_LANES at[l].y_bits = laz_point10_read_y(&at[l].r, &at[l].state->point10, at[l].kind, at[l].x_bits);
    FOR_LANES laz_point10_read_z(&at[l].r, &at[l].state->point10, at[l].kind, at[l].x_bits, at[l].y_bits);
    FOR_LANES laz_point10_put(&at[l].state->point10.last, at[l].record);
}

static inline __attribute__((always_inline)) void read_old_point10(lane *at, uint32_t lanes) {
    FOR_LANES {
        laz_point10_read_v1(&at[l].r, &at[l].state->point10);
        laz_point10_put(&at[l].state->point10.last, at[l].record);
    }
}

static inline __attribute__((always_inline)) void read_gps(lane *at, uint32_t lanes, laz_part part) {
    FOR_LANES {
        if (part.version == 2) laz_gps_read_v2(&at[l].r, &at[l].state->gps);
        if (part.version == 1) laz_gps_read_v1(&at[l].r, &at[l].state->gps);
        laz_gps_put(&at[l].state->gps, at[l].record + part.at);
    }
}

static inline __attribute__((always_inline)) void read_rgb(lane *at, uint32_t lanes, laz_part part) {
    FOR_LANES {
        if (part.version == 2) laz_rgb_read_v2(&at[l].r, &at[l].state->rgb);
        if (part.version == 1) laz_rgb_read_v1(&at[l].r, &at[l].state->rgb);
        laz_rgb_put(&at[l].state->rgb, at[l].record + part.at);
    }
}

static inline __attribute__((always_inline)) void read_rest(lane *at, uint32_t lanes, const laz_parts *parts) {
    FOR_LANES {
        if (parts->wave.version > 0) {
            laz_wave *const wave = &at[l].state->wave;
            laz_read_wave(wave, &at[l].r, wave->last);
            memcpy(at[l].record + parts->wave.at, wave->last, LAZ_WAVEPACKET_BYTES);
        }
        if (parts->extra.version == 2) laz_byte_read_v2(&at[l].r, &at[l].state->extra);
        if (parts->extra.version == 1) laz_byte_read_v1(&at[l].r, &at[l].state->extra);
        if (parts->extra.version > 0) laz_byte_put(&at[l].state->extra, at[l].record + parts->extra.at);
    }
}

/* ---- Chunks */
static inline __attribute__((always_inline)) uint64_t read_lanes(laz_pointwise *const *states, uint32_t lanes,
                                                                 uint8_t *const *records, uint64_t count) {
    const laz_parts parts = states[0]->parts;
    lane at[LAZ_LANES];
    bool failed = false;
    uint64_t done = 0;
    FOR_LANES at[l] = (lane){.r = states[l]->reader, .state = states[l], .record = records[l]};
    for (; done < count && !failed; done++) {
        if (parts.point10.version == 2) read_point10(at, lanes);
        if (parts.point10.version == 1) read_old_point10(at, lanes);
        if (parts.gps.version > 0) read_gps(at, lanes, parts.gps);
        if (parts.rgb.version > 0) read_rgb(at, lanes, parts.rgb);
        if (parts.wave.version + parts.extra.version > 0) read_rest(at, lanes, &parts);
        FOR_LANES {
            failed = failed || laz_reader_failed(&at[l].r);
            at[l].record += parts.record_bytes;
        }
    }
    FOR_LANES states[l]->reader = at[l].r;
    return done;
}

static uint64_t read_one(laz_pointwise *const *states, uint8_t *const *records, uint64_t count) {
    return read_lanes(states, 1, records, count);
}

static uint64_t read_two(laz_pointwise *const *states, uint8_t *const *records, uint64_t count) {
    return read_lanes(states, 2, records, count);
}

static const char *start(void *memory, const laz_schema *schema, uint32_t wanted, const uint8_t *data,
                         uint64_t size_bytes, uint64_t points, uint64_t *fault_at) {
    laz_pointwise *state = memory;
    (void)wanted; /* one stream: all must be decoded */
    (void)points;
    *fault_at = 0;
    const char *wrong = mote_laz_pointwise_parts(schema, &state->parts);
    if (wrong != NULL) return wrong;
    const uint32_t record_bytes = state->parts.record_bytes;
    if (size_bytes < record_bytes) {
        *fault_at = size_bytes;
        return "the chunk ends within its first point";
    }
    mote_laz_pointwise_start(state, data);
    laz_reader_start(&state->reader, data + record_bytes, size_bytes - record_bytes);
    state->first = data;
    return NULL;
}

/* The first point of each lane that is at its beginning, another point of the others. */
static void read_first(laz_pointwise *const *states, uint32_t lanes, uint8_t *const *records) {
    for (uint32_t l = 0; l < lanes; l++) {
        if (states[l]->first == NULL) {
            read_one(&states[l], &records[l], 1);
        } else {
            memcpy(records[l], states[l]->first, states[l]->parts.record_bytes);
            states[l]->first = NULL;
        }
    }
}

static uint64_t read_points(void *const *memories, uint32_t lanes, uint8_t *const *records, uint64_t count) {
    laz_pointwise *states[LAZ_LANES] = {memories[0]};
    uint8_t *next[LAZ_LANES] = {records[0]};
    uint64_t done = 0;
    bool begins = false, failed = false;
    for (uint32_t l = 0; l < lanes; l++) {
        states[l] = memories[l];
        begins = begins || states[l]->first != NULL;
    }
    if (begins && count > 0) {
        read_first(states, lanes, records);
        done = 1;
    }
    for (uint32_t l = 0; l < lanes; l++) {
        failed = failed || laz_reader_failed(&states[l]->reader);
        next[l] = records[l] + done * states[l]->parts.record_bytes;
    }
    if (failed) return done;
    return done + (lanes == LAZ_LANES ? read_two(states, next, count - done) : read_one(states, next, count - done));
}

static uint64_t used_bytes(const void *memory) {
    const laz_pointwise *state = memory;
    const laz_reader *r = &state->reader;
    return state->parts.record_bytes + (r->at < r->size_bytes ? r->at : r->size_bytes);
}

static const char *fault(const void *memory, uint64_t *fault_at) {
    const laz_pointwise *state = memory;
    *fault_at = used_bytes(state);
    if (state->reader.at > state->reader.size_bytes) return ended_early;
    return state->reader.bad ? "bits that no writer makes" : NULL;
}

static uint64_t state_bytes(const laz_schema *schema) { return mote_laz_pointwise_bytes(schema); }

/* A chunk of one point has only that; its writer starts and ends a coder all the same. */
static bool at_end(const void *memory) {
    const laz_pointwise *state = memory;
    return state->first == NULL && laz_reader_at_end(&state->reader);
}

const laz_reading mote_laz_read_pointwise = {state_bytes, start, read_points, fault, used_bytes, at_end};
