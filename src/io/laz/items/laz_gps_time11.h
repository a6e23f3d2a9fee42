/* The item GPSTIME11: times as the bits of a double. Differences come as multiples of one before, as pulses are
   regular. Version 2 follows up to four sequences of times, between which it switches. Source: M. Isenburg, LASzip,
   2013. */
#ifndef MOTE_LAZ_GPS_TIME11_H
#define MOTE_LAZ_GPS_TIME11_H

#include "io/laz/items/laz_format10.h"
#include "io/laz/items/laz_rules.h"
#include "io/laz/laz_integer.h"

#define LAZ_GPS_BYTES 8u

/* Symbols behind a difference of 0, both versions; higher ones switch to another sequence. */
enum { LAZ_GPS_SAME = 0, LAZ_GPS_NEAR = 1, LAZ_GPS_FAR = 2, LAZ_GPS_ZERO_SYMBOLS = 6, LAZ_GPS_ZERO_SYMBOLS_V1 = 3 };

/* Symbols behind any other difference: those of laz_rules.h, of which one more says that the time is the same. */
enum { LAZ_GPS_UNCHANGED = LAZ_GPS_NEW_AFTER, LAZ_GPS_FULL, LAZ_GPS_SYMBOLS = LAZ_GPS_FULL + LAZ_GPS_SEQUENCES };

/* Symbols of version 1 of the item: multiples 0..509, then: */
enum { LAZ_GPS_MULTIPLE_MAX_V1 = 509, LAZ_GPS_FULL_V1 = 510, LAZ_GPS_SYMBOLS_V1 = 512 };

typedef struct laz_gps_time11 {
    uint64_t times[LAZ_GPS_SEQUENCES];
    uint32_t differences[LAZ_GPS_SEQUENCES];
    uint32_t extremes[LAZ_GPS_SEQUENCES];
    uint32_t now, newest; /* sequences */
    LAZ_MODEL(zero, LAZ_GPS_ZERO_SYMBOLS);
    LAZ_MODEL(multiple, LAZ_GPS_SYMBOLS);
    laz_integer difference;
} laz_gps_time11;

static inline void laz_gps_start(laz_gps_time11 *g, uint32_t version, const uint8_t *record) {
    const bool old = version == 1;
    memset(g->times, 0, sizeof g->times);
    memset(g->differences, 0, sizeof g->differences);
    memset(g->extremes, 0, sizeof g->extremes);
    g->now = g->newest = 0;
    memcpy(&g->times[0], record, LAZ_GPS_BYTES);
    mote_laz_model_start(g->zero, old ? LAZ_GPS_ZERO_SYMBOLS_V1 : LAZ_GPS_ZERO_SYMBOLS, LAZ_GPS_ZERO_SYMBOLS);
    mote_laz_model_start(g->multiple, old ? LAZ_GPS_SYMBOLS_V1 : LAZ_GPS_SYMBOLS, LAZ_GPS_SYMBOLS);
    laz_integer_start(&g->difference, 32, old ? 6 : 9);
}

/* After a difference that came as this symbol: several extreme ones in a row are the new measure. */
static inline void laz_gps_note(laz_gps_time11 *g, bool extreme, uint32_t difference) {
    if (extreme && ++g->extremes[g->now] > LAZ_GPS_EXTREMES) {
        g->differences[g->now] = difference;
        g->extremes[g->now] = 0;
    }
}

static inline void laz_gps_note_symbol(laz_gps_time11 *g, uint32_t symbol, uint32_t difference) {
    if (symbol == 1) g->extremes[g->now] = 0;
    laz_gps_note(g, laz_gps_is_extreme(symbol), difference);
}

static inline void laz_gps_switch(laz_gps_time11 *g, uint32_t by) { g->now = (g->now + by) % LAZ_GPS_SEQUENCES; }

/* A new sequence in place of the oldest one. */
static inline void laz_gps_begin(laz_gps_time11 *g, uint64_t time) {
    g->now = g->newest = (g->newest + 1) % LAZ_GPS_SEQUENCES;
    g->times[g->now] = time;
    g->differences[g->now] = g->extremes[g->now] = 0;
}

static inline void laz_gps_read_far(laz_reader *r, laz_gps_time11 *g) {
    uint32_t bits;
    const uint32_t high = (uint32_t)(g->times[g->now] >> 32);
    const uint64_t time = (uint64_t)laz_read_integer(r, &g->difference, 32, LAZ_GPS_HIGH, high, &bits) << 32;
    laz_gps_begin(g, time | laz_read_u32(r));
}

/* Both return how far to switch; 0 when the time is found. */
static inline uint32_t laz_gps_read_zero(laz_reader *r, laz_gps_time11 *g) {
    const uint32_t symbol = laz_read_likely(r, g->zero, LAZ_GPS_ZERO_SYMBOLS);
    if (symbol > LAZ_GPS_FAR) return symbol - LAZ_GPS_FAR;
    if (symbol == LAZ_GPS_NEAR) {
        uint32_t bits;
        const uint32_t difference = laz_read_integer(r, &g->difference, 32, 0, 0, &bits);
        g->differences[g->now] = difference;
        g->times[g->now] += laz_widen(difference);
        g->extremes[g->now] = 0;
    } else if (symbol == LAZ_GPS_FAR) {
        laz_gps_read_far(r, g);
    }
    return 0;
}

static inline uint32_t laz_gps_read_multiple(laz_reader *r, laz_gps_time11 *g) {
    const uint32_t symbol = laz_read_likely(r, g->multiple, LAZ_GPS_SYMBOLS);
    if (symbol < LAZ_GPS_UNCHANGED) {
        uint32_t bits, context;
        const uint32_t predicted = laz_gps_predict(g->differences[g->now], symbol, &context);
        const uint32_t difference = laz_read_integer(r, &g->difference, 32, context, predicted, &bits);
        g->times[g->now] += laz_widen(difference);
        laz_gps_note_symbol(g, symbol, difference);
    } else if (symbol == LAZ_GPS_FULL) {
        laz_gps_read_far(r, g);
    }
    return symbol > LAZ_GPS_FULL ? symbol - LAZ_GPS_FULL : 0;
}

static inline void laz_gps_read_v2(laz_reader *r, laz_gps_time11 *g) {
    for (uint32_t switches = 0; switches < LAZ_GPS11_SWITCHES; switches++) {
        const uint32_t by = g->differences[g->now] == 0 ? laz_gps_read_zero(r, g) : laz_gps_read_multiple(r, g);
        if (by == 0) return;
        laz_gps_switch(g, by);
    }
    r->bad = true;
}

/* ---- Version 1: one sequence */
static inline uint32_t laz_gps_context_v1(uint32_t symbol) {
    if (symbol <= 1) return symbol == 0 ? 2 : 1;
    return symbol < 10 ? 3 : symbol < 50 ? 4 : 5;
}

static inline void laz_gps_read_multiple_v1(laz_reader *r, laz_gps_time11 *g) {
    const uint32_t symbol = laz_read_symbol_of(r, g->multiple, LAZ_GPS_SYMBOLS_V1, LAZ_GPS_SYMBOLS);
    const uint32_t last = g->differences[0];
    if (symbol <= LAZ_GPS_MULTIPLE_MAX_V1) {
        uint32_t bits;
        const uint32_t predicted = symbol == 0 ? (uint32_t)((int32_t)last / 4) : symbol * last;
        const uint32_t difference =
            laz_read_integer(r, &g->difference, 32, laz_gps_context_v1(symbol), predicted, &bits);
        g->times[0] += laz_widen(difference);
        if (symbol == 1) {
            g->differences[0] = difference;
            g->extremes[0] = 0;
        }
        laz_gps_note(g, symbol == 0 || symbol == LAZ_GPS_MULTIPLE_MAX_V1, difference);
    } else if (symbol == LAZ_GPS_FULL_V1) {
        g->times[0] = laz_read_u64(r);
    }
}

static inline void laz_gps_read_v1(laz_reader *r, laz_gps_time11 *g) {
    if (g->differences[0] != 0) {
        laz_gps_read_multiple_v1(r, g);
        return;
    }
    const uint32_t symbol = laz_read_symbol_of(r, g->zero, LAZ_GPS_ZERO_SYMBOLS_V1, LAZ_GPS_ZERO_SYMBOLS);
    if (symbol == LAZ_GPS_NEAR) {
        uint32_t bits;
        g->differences[0] = laz_read_integer(r, &g->difference, 32, 0, 0, &bits);
        g->times[0] += laz_widen(g->differences[0]);
    } else if (symbol == LAZ_GPS_FAR) {
        g->times[0] = laz_read_u64(r);
    }
}

static inline void laz_gps_put(const laz_gps_time11 *g, uint8_t *record) {
    memcpy(record, &g->times[g->now], LAZ_GPS_BYTES);
}

/* ---- Writing, version 2 */

/* Whether the time can be told as a difference of 32 bits in a sequence. */
static inline bool laz_gps_is_near(uint64_t time, uint64_t last) {
    return time - last == laz_widen((uint32_t)(time - last));
}

static inline void laz_gps_write_near(laz_writer *w, laz_gps_time11 *g, uint64_t time) {
    const uint32_t last = g->differences[g->now];
    const uint32_t difference = (uint32_t)(time - g->times[g->now]);
    if (last == 0) {
        laz_write_symbol(w, g->zero, LAZ_GPS_ZERO_SYMBOLS, LAZ_GPS_NEAR);
        laz_write_integer(w, &g->difference, 32, 0, 0, difference);
        g->differences[g->now] = difference;
        g->extremes[g->now] = 0;
    } else {
        const uint32_t symbol = laz_gps_symbol(difference, last);
        laz_write_symbol(w, g->multiple, LAZ_GPS_SYMBOLS, symbol);
        uint32_t context;
        const uint32_t predicted = laz_gps_predict(last, symbol, &context);
        laz_write_integer(w, &g->difference, 32, context, predicted, difference);
        laz_gps_note_symbol(g, symbol, difference);
    }
    g->times[g->now] = time;
}

/* What is not a difference has a number in both models: the same, far, or far with a switch. */
static inline void laz_gps_write_special(laz_writer *w, laz_gps_time11 *g, uint32_t in_zero, uint32_t in_multiple) {
    if (g->differences[g->now] == 0) {
        laz_write_symbol(w, g->zero, LAZ_GPS_ZERO_SYMBOLS, in_zero);
    } else {
        laz_write_symbol(w, g->multiple, LAZ_GPS_SYMBOLS, in_multiple);
    }
}

/* A time that is far from its sequence: in another one, or the first of a new one. */
static inline void laz_gps_write_far(laz_writer *w, laz_gps_time11 *g, uint64_t time) {
    uint32_t by = 1;
    while (by < LAZ_GPS_SEQUENCES && !laz_gps_is_near(time, g->times[(g->now + by) % LAZ_GPS_SEQUENCES])) by++;
    if (by < LAZ_GPS_SEQUENCES) {
        laz_gps_write_special(w, g, LAZ_GPS_FAR + by, LAZ_GPS_FULL + by);
        laz_gps_switch(g, by);
        if (time != g->times[g->now]) {
            laz_gps_write_near(w, g, time);
        } else {
            laz_gps_write_special(w, g, LAZ_GPS_SAME, LAZ_GPS_UNCHANGED);
        }
        return;
    }
    laz_gps_write_special(w, g, LAZ_GPS_FAR, LAZ_GPS_FULL);
    laz_write_integer(w, &g->difference, 32, LAZ_GPS_HIGH, (uint32_t)(g->times[g->now] >> 32), (uint32_t)(time >> 32));
    laz_write_u32(w, (uint32_t)time);
    laz_gps_begin(g, time);
}

static inline void laz_gps_write(laz_writer *w, laz_gps_time11 *g, const uint8_t *record) {
    uint64_t time;
    memcpy(&time, record, LAZ_GPS_BYTES);
    if (time == g->times[g->now]) {
        laz_gps_write_special(w, g, LAZ_GPS_SAME, LAZ_GPS_UNCHANGED);
    } else if (laz_gps_is_near(time, g->times[g->now])) {
        laz_gps_write_near(w, g, time);
    } else {
        laz_gps_write_far(w, g, time);
    }
}

#endif
