/* GPS times decoded by a warp. The CPU's twins: laz_gpstime14.h, laz_gps_time11.h. */
#ifndef MOTE_LAZ_WARP_GPS_H
#define MOTE_LAZ_WARP_GPS_H

#include "io/laz/warp/laz_warp_layer.cuh"

/* ---- GPS time */

typedef struct warp_gps {
    warp_model multiple[WARP_MODEL_WORDS(LAZ_GPS_MULTI_TYPES + 1)]; /* one more than format 6 and later have */
    warp_model still[WARP_MODEL_WORDS(LAZ_GPS_STILL_SYMBOLS + 1)];
    warp_integer integer;
} warp_gps;

typedef struct warp_gps_item {
    warp_channels channels;
    uint64_t time;           /* by 4 · channel + sequence */
    uint32_t step, extremes; /* likewise */
    uint32_t last, newest;   /* sequences, by channel */
    uint32_t old;            /* 1: of formats 0 to 5, where a symbol says that nothing changed */
    uint64_t value;
} warp_gps_item;

WARP_INLINE void warp_begin_gps(warp_gps_item *item, const warp_reader *r, uint32_t channel, uint64_t time) {
    if (r->lane / LAZ_GPS_SEQUENCES == channel) {
        item->time = r->lane % LAZ_GPS_SEQUENCES == 0 ? time : 0;
        item->step = item->extremes = 0;
    }
    if (r->lane == channel) item->last = item->newest = 0;
}

WARP_INLINE void warp_start_gps_models(const warp_task *t, const warp_reader *r) {
    const uint32_t old = t->bases->pointwise;
    CUDA_ROLLED for (uint32_t c = 0; c < warp_channel_count(t); c++) {
        warp_gps *of = warp_models<warp_gps>(r, c);
        warp_start_models(of->multiple, 1, LAZ_GPS_MULTI_TYPES + old, LAZ_GPS_MULTI_TYPES + 1, r->lane);
        warp_start_models(of->still, 1, LAZ_GPS_STILL_SYMBOLS + old, LAZ_GPS_STILL_SYMBOLS + 1, r->lane);
        warp_start_integer(&of->integer, 32, LAZ_GPS_CONTEXTS, r->lane);
    }
}

WARP_INLINE void warp_put_item(const warp_gps_item *item, const warp_task *t, uint32_t i, uint64_t value) {
    (void)item;
    warp_put(t, 0, i, value, 8);
}

WARP_INLINE void warp_start_item(warp_gps_item *item, const warp_task *t, const warp_reader *r) {
    item->channels.met = 1u << t->places->channel;
    item->channels.current = t->places->channel;
    item->time = 0;
    item->step = item->extremes = item->last = item->newest = 0;
    item->value = warp_load(warp_first_value(t), 8);
    item->old = t->bases->pointwise;
    warp_start_gps_models(t, r);
    warp_begin_gps(item, r, t->places->channel, item->value);
    if (r->lane == 0) warp_put_item(item, t, 0, item->value);
}

/* A new sequence of times in the place of the oldest one; returns its number. */
WARP_INLINE uint32_t warp_begin_sequence(warp_gps_item *item, const warp_reader *r, uint32_t channel, uint64_t time) {
    const uint32_t next = (warp_get(item->newest, channel) + 1) % LAZ_GPS_SEQUENCES;
    warp_set(r, &item->newest, channel, next);
    if (r->lane == LAZ_GPS_SEQUENCES * channel + next) {
        item->time = time;
        item->step = item->extremes = 0;
    }
    return next;
}

/* What the next symbols of a time are. */
typedef enum warp_gps_kind {
    WARP_GPS_SWITCH,
    WARP_GPS_INTEGER,
    WARP_GPS_FAR,
    WARP_GPS_FIRST,
    WARP_GPS_SAME
} warp_gps_kind;

/* The symbol in front of a time. sequence: the current one, to which it is added where they are switched. */
WARP_INLINE warp_gps_kind warp_read_gps_kind(warp_gps *of, warp_reader *r, uint32_t step, uint32_t old,
                                             uint32_t *symbol, uint32_t *sequence) {
    if (step == 0) {
        *symbol = warp_read_flat(r, of->still, LAZ_GPS_STILL_SYMBOLS + old, LAZ_GPS_STILL_SYMBOLS + 1);
        if (old > 0 && (*symbol)-- == 0) return WARP_GPS_SAME;
        if (*symbol == LAZ_GPS_STEP) return WARP_GPS_FIRST;
        if (*symbol == LAZ_GPS_NEW) return WARP_GPS_FAR;
        *sequence = (*sequence + *symbol - LAZ_GPS_NEW) % LAZ_GPS_SEQUENCES;
        return WARP_GPS_SWITCH;
    }
    *symbol = warp_read_deep(r, of->multiple, LAZ_GPS_MULTI_TYPES + old, LAZ_GPS_MULTI_TYPES + 1);
    if (old > 0 && *symbol == LAZ_GPS_NEW_AFTER) return WARP_GPS_SAME;
    if (old > 0 && *symbol > LAZ_GPS_NEW_AFTER) *symbol -= 1;
    if (*symbol < LAZ_GPS_NEW_AFTER) return WARP_GPS_INTEGER;
    if (*symbol == LAZ_GPS_NEW_AFTER) return WARP_GPS_FAR;
    *sequence = (*sequence + *symbol - LAZ_GPS_NEW_AFTER) % LAZ_GPS_SEQUENCES;
    return WARP_GPS_SWITCH;
}

/* After a step of the sequence in lane at: it goes on, and what is usual may change. */
WARP_INLINE void warp_note_step(warp_gps_item *item, const warp_reader *r, uint32_t at, warp_gps_kind kind,
                                uint32_t symbol, uint32_t step) {
    if (r->lane != at) return;
    item->time += laz_widen(step);
    if (kind == WARP_GPS_FIRST) item->step = step;
    if (kind == WARP_GPS_FIRST || symbol == 1) item->extremes = 0;
    if (kind == WARP_GPS_INTEGER && laz_gps_is_extreme(symbol) && ++item->extremes > LAZ_GPS_EXTREMES) {
        item->step = step;
        item->extremes = 0;
    }
}

/* Reads a time, or goes to another sequence: then false. */
WARP_INLINE bool warp_read_gps_time(warp_gps_item *item, warp_reader *r, uint32_t channel, uint32_t *sequence) {
    warp_gps *of = warp_models<warp_gps>(r, channel);
    const uint32_t at = LAZ_GPS_SEQUENCES * channel + *sequence, step = warp_get(item->step, at);
    uint32_t symbol, context = LAZ_GPS_FIRST_STEP, predicted = 0, k;
    const warp_gps_kind kind = warp_read_gps_kind(of, r, step, item->old, &symbol, sequence);
    if (kind == WARP_GPS_SWITCH || kind == WARP_GPS_SAME) return kind == WARP_GPS_SAME;
    if (kind == WARP_GPS_INTEGER) predicted = laz_gps_predict(step, symbol, &context);
    if (kind == WARP_GPS_FAR) {
        context = LAZ_GPS_HIGH;
        predicted = (uint32_t)(warp_get(item->time, at) >> 32);
    }
    const uint32_t read = warp_read_integer(r, &of->integer, 32, context, predicted, &k);
    if (kind == WARP_GPS_FAR) {
        *sequence = warp_begin_sequence(item, r, channel, (uint64_t)read << 32 | warp_read_bits(r, 32));
    } else {
        warp_note_step(item, r, at, kind, symbol, read);
    }
    return true;
}

WARP_INLINE void warp_read_item(warp_gps_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    const uint32_t channel = warp_channel(is);
    uint32_t from, sequence;
    (void)t, (void)i;
    if (warp_enter(&item->channels, channel, &from)) {
        const uint32_t last = LAZ_GPS_SEQUENCES * from + warp_get(item->last, from);
        warp_begin_gps(item, r, channel, warp_get(item->time, last));
    }
    sequence = warp_get(item->last, channel);
    if (is & WARP_IS_GPS) {
        uint32_t remaining = item->old > 0 ? LAZ_GPS11_SWITCHES : LAZ_GPS_SWITCHES;
        bool found;
        CUDA_ROLLED do {
            found = warp_read_gps_time(item, r, channel, &sequence);
            warp_settle(r);
        }
        while (!found && --remaining > 0)
            ;
        r->bad = r->bad || !found;
        warp_set(r, &item->last, channel, sequence);
    }
    item->value = warp_get(item->time, LAZ_GPS_SEQUENCES * channel + sequence);
}

#endif
