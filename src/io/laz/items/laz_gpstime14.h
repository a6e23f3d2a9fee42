/* POINT14: the layer of GPS times, taken as integers of 64 bits. Four sequences of times are kept; in each, a step is
   coded as a multiple of the last one. Coded only where the first layer says that the time changed.
   Source: M. Isenburg, LASzip, 2013, and LASzip 3. */
#ifndef MOTE_LAZ_GPSTIME14_H
#define MOTE_LAZ_GPSTIME14_H

#include "io/laz/laz_layer.h"

typedef struct laz_gps14_channel {
    LAZ_MODEL(multiple, LAZ_GPS_MULTI_TYPES);
    LAZ_MODEL(still, LAZ_GPS_STILL_SYMBOLS);
    laz_integer integer;
    uint32_t last, next; /* sequences: the current one, the newest one */
    uint64_t time[LAZ_GPS_SEQUENCES];
    uint32_t step[LAZ_GPS_SEQUENCES];
    uint32_t extremes[LAZ_GPS_SEQUENCES];
} laz_gps14_channel;

typedef struct laz_gps14 {
    laz_channels channels;
    laz_gps14_channel of[LAZ_CHANNELS];
} laz_gps14;

static inline void laz_begin_gps14(laz_gps14_channel *c, uint64_t time) {
    mote_laz_model_start(c->multiple, LAZ_GPS_MULTI_TYPES, LAZ_GPS_MULTI_TYPES);
    mote_laz_model_start(c->still, LAZ_GPS_STILL_SYMBOLS, LAZ_GPS_STILL_SYMBOLS);
    laz_integer_start(&c->integer, 32, LAZ_GPS_CONTEXTS);
    c->last = c->next = 0;
    for (uint32_t i = 0; i < LAZ_GPS_SEQUENCES; i++) c->time[i] = c->step[i] = c->extremes[i] = 0;
    c->time[0] = time;
}

static inline void laz_start_gps14(void *models, uint32_t channel, const uint8_t *value) {
    laz_gps14 *m = models;
    laz_channels_start(&m->channels, channel);
    laz_begin_gps14(&m->of[channel], laz_get_u64(value));
}

LAZ_INLINE laz_gps14_channel *laz_enter_gps14(laz_gps14 *m, uint32_t channel) {
    uint32_t from;
    if (laz_channels_enter(&m->channels, channel, &from)) {
        laz_begin_gps14(&m->of[channel], m->of[from].time[m->of[from].last]);
    }
    return &m->of[channel];
}

static inline void laz_gps14_sequence(laz_gps14_channel *c, uint64_t time) {
    c->last = c->next = (c->next + 1) % LAZ_GPS_SEQUENCES;
    c->time[c->last] = time;
    c->step[c->last] = c->extremes[c->last] = 0;
}

/* After a step that is no multiple: if such come in a row, they are what is usual. */
static inline void laz_gps14_extreme(laz_gps14_channel *c, uint32_t step) {
    if (++c->extremes[c->last] <= LAZ_GPS_EXTREMES) return;
    c->step[c->last] = step;
    c->extremes[c->last] = 0;
}

static inline void laz_read_gps14_new(laz_gps14_channel *c, laz_reader *r) {
    uint32_t k;
    const uint64_t time = c->time[c->last];
    const uint64_t high = laz_read_integer(r, &c->integer, 32, LAZ_GPS_HIGH, (uint32_t)(time >> 32), &k);
    laz_gps14_sequence(c, high << 32 | laz_read_u32(r));
}

/* Reads a time, or goes to another sequence: then false. */
static inline bool laz_read_gps14_time(laz_gps14_channel *c, laz_reader *r) {
    uint32_t k, context;
    if (c->step[c->last] == 0) {
        const uint32_t symbol = laz_read_symbol(r, c->still, LAZ_GPS_STILL_SYMBOLS);
        if (symbol >= LAZ_GPS_OTHER) {
            c->last = (c->last + symbol - 1) % LAZ_GPS_SEQUENCES;
            return false;
        }
        if (symbol == LAZ_GPS_STEP) {
            c->step[c->last] = laz_read_integer(r, &c->integer, 32, LAZ_GPS_FIRST_STEP, 0, &k);
            c->time[c->last] += laz_widen(c->step[c->last]);
            c->extremes[c->last] = 0;
        } else {
            laz_read_gps14_new(c, r);
        }
        return true;
    }
    const uint32_t symbol = laz_read_symbol(r, c->multiple, LAZ_GPS_MULTI_TYPES);
    if (symbol > LAZ_GPS_NEW_AFTER) {
        c->last = (c->last + symbol - LAZ_GPS_NEW_AFTER) % LAZ_GPS_SEQUENCES;
        return false;
    }
    if (symbol == LAZ_GPS_NEW_AFTER) {
        laz_read_gps14_new(c, r);
        return true;
    }
    const uint32_t predicted = laz_gps_predict(c->step[c->last], symbol, &context);
    const uint32_t step = laz_read_integer(r, &c->integer, 32, context, predicted, &k);
    c->time[c->last] += laz_widen(step);
    if (symbol == 1) c->extremes[c->last] = 0;
    if (laz_gps_is_extreme(symbol)) laz_gps14_extreme(c, step);
    return true;
}

LAZ_INLINE void laz_read_gps14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    laz_gps14_channel *c = laz_enter_gps14(models, points->channel[i]);
    if (points->changed[i] & LAZ_CHANGED_GPS) {
        uint32_t remaining = LAZ_GPS_SWITCHES;
        while (!laz_read_gps14_time(c, r)) {
            if (--remaining == 0) {
                r->bad = true;
                break;
            }
        }
    }
    laz_put_u64(value, c->time[c->last]);
}

static inline bool laz_gps14_near(const laz_gps14_channel *c, uint32_t sequence, uint64_t time, uint32_t *step) {
    const uint64_t difference = time - c->time[sequence];
    *step = (uint32_t)difference;
    return laz_widen(*step) == difference;
}

/* Another sequence that the time is near to, as 1 to 3 behind the current one; 0: none. */
static inline uint32_t laz_gps14_other(const laz_gps14_channel *c, uint64_t time) {
    uint32_t step;
    for (uint32_t i = 1; i < LAZ_GPS_SEQUENCES; i++) {
        if (laz_gps14_near(c, (c->last + i) % LAZ_GPS_SEQUENCES, time, &step)) return i;
    }
    return 0;
}

static inline void laz_write_gps14_step(laz_gps14_channel *c, laz_writer *w, uint32_t step) {
    uint32_t context;
    if (c->step[c->last] == 0) {
        laz_write_symbol(w, c->still, LAZ_GPS_STILL_SYMBOLS, LAZ_GPS_STEP);
        laz_write_integer(w, &c->integer, 32, LAZ_GPS_FIRST_STEP, 0, step);
        c->step[c->last] = step;
        c->extremes[c->last] = 0;
        return;
    }
    const uint32_t symbol = laz_gps_symbol(step, c->step[c->last]);
    laz_write_symbol(w, c->multiple, LAZ_GPS_MULTI_TYPES, symbol);
    const uint32_t predicted = laz_gps_predict(c->step[c->last], symbol, &context);
    laz_write_integer(w, &c->integer, 32, context, predicted, step);
    if (symbol == 1) c->extremes[c->last] = 0;
    if (laz_gps_is_extreme(symbol)) laz_gps14_extreme(c, step);
}

static inline void laz_write_gps14_switch(laz_gps14_channel *c, laz_writer *w, uint32_t other) {
    if (c->step[c->last] == 0) {
        laz_write_symbol(w, c->still, LAZ_GPS_STILL_SYMBOLS, other == 0 ? LAZ_GPS_NEW : LAZ_GPS_NEW + other);
    } else {
        laz_write_symbol(w, c->multiple, LAZ_GPS_MULTI_TYPES, LAZ_GPS_NEW_AFTER + other);
    }
}

static inline void laz_write_gps14_time(laz_gps14_channel *c, laz_writer *w, uint64_t time) {
    uint32_t step;
    if (!laz_gps14_near(c, c->last, time, &step)) {
        const uint32_t other = laz_gps14_other(c, time);
        laz_write_gps14_switch(c, w, other);
        if (other == 0) {
            laz_write_integer(w, &c->integer, 32, LAZ_GPS_HIGH, (uint32_t)(c->time[c->last] >> 32),
                              (uint32_t)(time >> 32));
            laz_write_u32(w, (uint32_t)time);
            laz_gps14_sequence(c, time);
            return;
        }
        c->last = (c->last + other) % LAZ_GPS_SEQUENCES;
        laz_gps14_near(c, c->last, time, &step);
    }
    laz_write_gps14_step(c, w, step);
    c->time[c->last] = time;
}

LAZ_INLINE void laz_write_gps14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                const uint8_t *value) {
    laz_gps14_channel *c = laz_enter_gps14(models, points->channel[i]);
    if (points->changed[i] & LAZ_CHANGED_GPS) laz_write_gps14_time(c, w, laz_get_u64(value));
}

#endif
