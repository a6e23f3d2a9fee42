/* The layers of the layered items, each decoded by a warp from the first point of a chunk to the last. What a layer
   keeps of its last points stands in registers, a value per lane, by scanner channel; only models are in memory.
   laz_format14.h says what the format says; the CPU's twins are laz_point14.h, laz_fields14.h and so on. */
#ifndef MOTE_LAZ_WARP_ITEMS_H
#define MOTE_LAZ_WARP_ITEMS_H

#include "io/laz/laz_device.h"
#include "io/laz/laz_format10.h"
#include "io/laz/laz_warp.h"

/* What all warps of a launch have in common: a parameter of the kernel. */
typedef struct warp_bases {
    const uint8_t *data, *return_kind;
    uint64_t data_bytes;
    uint8_t *records, *models;
    uint16_t *described; /* what each point of the wave is */
    const laz_device_field *fields;
    uint32_t stride_bytes; /* of records */
    bool plain_channels;
    bool pointwise; /* formats 0 to 5: one channel, and GPS times have a symbol more */
} warp_bases;

/* Where a layer of a chunk has its things; in shared memory, for registers are scarce. */
typedef struct warp_places {
    uint64_t at, first_value; /* of the layer, and of the field in the first record; in data */
    uint64_t models, described, records;
    uint32_t size_bytes, points, channel, field;
} warp_places;

/* A layer of a chunk. */
typedef struct warp_task {
    const warp_bases *bases;
    const warp_places *places;
} warp_task;

WARP_INLINE const laz_device_field *warp_field(const warp_task *t) { return t->bases->fields + t->places->field; }
WARP_INLINE const uint8_t *warp_first_value(const warp_task *t) { return t->bases->data + t->places->first_value; }
WARP_INLINE uint16_t *warp_described(const warp_task *t) { return t->bases->described + t->places->described; }
WARP_INLINE warp_model *warp_models_of(const warp_task *t) {
    return (warp_model *)(void *)(t->bases->models + t->places->models);
}
/* The record of point i, as it is put out. */
WARP_INLINE uint8_t *warp_record(const warp_task *t, uint32_t i) {
    return t->bases->records + t->places->records + (uint64_t)i * t->bases->stride_bytes;
}

/* The models of a scanner channel. All channels' are started with the chunk, so that no loop has the code for it. */
template <class Models> WARP_INLINE Models *warp_models(const warp_reader *r, uint32_t channel) {
    return (Models *)(void *)r->models + channel;
}

WARP_INLINE uint32_t warp_channel_count(const warp_task *t) { return t->bases->pointwise ? 1 : LAZ_CHANNELS; }

/* ---- values in lanes */

WARP_INLINE uint32_t warp_get(uint32_t values, uint32_t lane) { return __shfl_sync(CUDA_ALL, values, (int)lane); }
WARP_INLINE uint64_t warp_get(uint64_t values, uint32_t lane) {
    return __shfl_sync(CUDA_ALL, (unsigned long long)values, (int)lane);
}
template <class T> WARP_INLINE void warp_set(const warp_reader *r, T *values, uint32_t lane, T value) {
    if (r->lane == lane) *values = value;
}

/* Values of count bytes at any place. */
WARP_INLINE uint64_t warp_load(const uint8_t *at, uint32_t count) {
    uint64_t value = 0;
    for (uint32_t b = 0; b < count; b++) value |= (uint64_t)at[b] << 8 * b;
    return value;
}

/* even: the place is even. */
WARP_INLINE void warp_store(uint8_t *at, uint64_t value, uint32_t count, bool even) {
    if (even && count > 1) {
        for (uint32_t b = 0; b < count; b += 2) *(uint16_t *)(void *)(at + b) = (uint16_t)(value >> 8 * b);
    } else {
        for (uint32_t b = 0; b < count; b++) at[b] = (uint8_t)(value >> 8 * b);
    }
}

/* Puts a unit of the layer into the record of point i. */
WARP_INLINE void warp_put(const warp_task *t, uint32_t unit, uint32_t i, uint64_t value, uint32_t count) {
    const uint32_t to = warp_field(t)->to[unit];
    if (to == LAZ_NOWHERE) return;
    warp_store(warp_record(t, i) + to, value, count, ((t->bases->stride_bytes | to) & 1u) == 0);
}

/* ---- what a point is, in 16 bits */

enum { WARP_IS_GPS = 1 << 2, WARP_IS_ANGLE = 1 << 3, WARP_IS_SOURCE = 1 << 4, WARP_IS_CHANNEL = 1 << 5 };

WARP_INLINE uint32_t warp_describe(uint32_t channel, uint32_t changed, uint32_t number, uint32_t count, uint32_t kx,
                                   uint32_t ky) {
    const uint32_t what = (changed & LAZ_CHANGED_GPS ? (uint32_t)WARP_IS_GPS : 0u) |
                          (changed & LAZ_CHANGED_ANGLE ? (uint32_t)WARP_IS_ANGLE : 0u) |
                          (changed & LAZ_CHANGED_SOURCE ? (uint32_t)WARP_IS_SOURCE : 0u) |
                          (changed & LAZ_CHANGED_CHANNEL ? (uint32_t)WARP_IS_CHANNEL : 0u);
    return channel | what | laz_place_of(number, count) << 6 | laz_level_of(number, count) << 8 |
           laz_z_context(count, kx, ky) << 11;
}

WARP_INLINE uint32_t warp_channel(uint32_t is) { return is & 3u; }
WARP_INLINE uint32_t warp_gps_changed(uint32_t is) { return is >> 2 & 1u; }
WARP_INLINE uint32_t warp_place(uint32_t is) { return is >> 6 & 3u; }
WARP_INLINE uint32_t warp_level(uint32_t is) { return is >> 8 & 7u; }
WARP_INLINE uint32_t warp_z_context(uint32_t is) { return is >> 11; }

/* The channels that a layer has met, and that of the last point. */
typedef struct warp_channels {
    uint32_t met, current;
} warp_channels;

/* Goes to the channel of the next point. Is it new? */
WARP_INLINE bool warp_enter(warp_channels *c, uint32_t next, uint32_t *from) {
    const bool met = c->met >> next & 1u;
    *from = c->current;
    c->met |= 1u << next;
    c->current = next;
    return !met;
}

/* The same for the items behind POINT14, with the oddities that laz_following describes. */
typedef struct warp_follower {
    warp_channels channels;
    bool plain;
} warp_follower;

WARP_INLINE bool warp_follow(warp_follower *f, uint32_t is, uint32_t *model, uint32_t *value, uint32_t *from) {
    *model = is & WARP_IS_CHANNEL || f->plain ? warp_channel(is) : 0;
    const bool fresh = warp_enter(&f->channels, *model, from);
    *value = fresh || f->plain ? *model : *from;
    return fresh;
}

WARP_INLINE warp_follower warp_follower_of(const warp_task *t) {
    const warp_follower f = {{1u << t->places->channel, t->places->channel}, t->bases->plain_channels};
    return f;
}

/* ---- the loop: what each point of the layer is, a value, 32 of which are put into their records at a time */

/* Points 1 and on: the first one is known. Item: a layer, with warp_start_item and warp_read_item. */
template <class Item> WARP_INLINE bool warp_read_points(const warp_task *t, Item *item) {
    warp_reader r;
    warp_reader_start(&r, t->bases->data, t->bases->data_bytes, t->places->at, warp_models_of(t));
    warp_start_item(item, t, &r);
    uint32_t next = 1 + r.lane < t->places->points ? warp_described(t)[1 + r.lane] : 0;
    CUDA_ROLLED for (uint32_t first = 1; first < t->places->points; first += CUDA_WARP) {
        const uint32_t left = t->places->points - first, count = left < CUDA_WARP ? left : CUDA_WARP, are = next;
        if (left > CUDA_WARP + r.lane) next = warp_described(t)[first + CUDA_WARP + r.lane];
        decltype(item->value) mine = 0;
        CUDA_ROLLED for (uint32_t i = 0; i < count; i++) {
            warp_read_item(item, t, &r, warp_get(are, i), first + i);
            if (r.lane == i) mine = item->value;
        }
        if (r.lane < count) warp_put_item(item, t, first + r.lane, mine);
    }
    return warp_reader_is_sound(&r, t->places->at + t->places->size_bytes);
}

/* ---- integers: z, intensity, scan angle, point source */

typedef struct warp_integer_item {
    warp_channels channels;
    uint32_t last;  /* by 8 · channel + slot */
    uint32_t value; /* of the last point */
    uint32_t kind, width;
} warp_integer_item;

WARP_INLINE void warp_put_item(const warp_integer_item *item, const warp_task *t, uint32_t i, uint32_t value) {
    warp_put(t, 0, i, value, item->width / 8);
}

WARP_INLINE void warp_start_item(warp_integer_item *item, const warp_task *t, const warp_reader *r) {
    item->kind = warp_field(t)->kind;
    item->width = item->kind == LAZ_LAYER_Z ? 32 : 16;
    item->channels.met = 1u << t->places->channel;
    item->channels.current = t->places->channel;
    item->last = item->value = (uint32_t)warp_load(warp_first_value(t), item->width / 8);
    const uint32_t contexts = item->kind == LAZ_LAYER_Z           ? LAZ_Z_CONTEXTS
                              : item->kind == LAZ_LAYER_INTENSITY ? LAZ_PLACES
                                                                  : LAZ_ANGLE_CONTEXTS;
    CUDA_ROLLED for (uint32_t c = 0; c < LAZ_CHANNELS; c++) {
        warp_start_integer(warp_models<warp_integer>(r, c), item->width, contexts, r->lane);
    }
    if (r->lane == 0) warp_put_item(item, t, 0, item->value);
}

/* Which of the last values of its channel a point goes by, in which context, and whether anything is coded. */
WARP_INLINE bool warp_integer_case(uint32_t kind, uint32_t is, uint32_t *slot, uint32_t *context) {
    *slot = *context = 0;
    switch (kind) {
    case LAZ_LAYER_Z:
        *slot = warp_level(is);
        *context = warp_z_context(is);
        return true;
    case LAZ_LAYER_INTENSITY:
        *slot = warp_place(is) * 2 | warp_gps_changed(is);
        *context = warp_place(is);
        return true;
    case LAZ_LAYER_SCAN_ANGLE: *context = warp_gps_changed(is); return (is & WARP_IS_ANGLE) != 0;
    default: return (is & WARP_IS_SOURCE) != 0;
    }
}

WARP_INLINE void warp_read_item(warp_integer_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    const uint32_t channel = warp_channel(is);
    uint32_t from, slot, context, k;
    (void)t, (void)i;
    /* A new channel goes by the last point, whatever it was. */
    if (warp_enter(&item->channels, channel, &from) && r->lane / 8 == channel) item->last = item->value;
    const bool coded = warp_integer_case(item->kind, is, &slot, &context);
    item->value = warp_get(item->last, 8 * channel + slot);
    if (!coded) return;
    item->value = warp_read_integer(r, warp_models<warp_integer>(r, channel), item->width, context, item->value, &k);
    warp_set(r, &item->last, 8 * channel + slot, item->value);
    warp_settle(r);
}

/* ---- symbols chosen by the last one: classification, flags, user data */

typedef struct warp_table {
    warp_model models[LAZ_TABLE_MODELS][WARP_MODEL_WORDS(LAZ_BYTE_SYMBOLS)];
} warp_table;

typedef struct warp_table_item {
    warp_channels channels;
    uint32_t last; /* by channel */
    uint32_t value;
    uint32_t kind, symbols;
} warp_table_item;

WARP_INLINE void warp_put_item(const warp_table_item *item, const warp_task *t, uint32_t i, uint32_t value) {
    (void)item;
    warp_put(t, 0, i, value, 1);
}

WARP_INLINE void warp_start_item(warp_table_item *item, const warp_task *t, const warp_reader *r) {
    item->kind = warp_field(t)->kind;
    item->symbols = item->kind == LAZ_LAYER_FLAGS ? LAZ_FLAG_SYMBOLS : LAZ_BYTE_SYMBOLS;
    item->channels.met = 1u << t->places->channel;
    item->channels.current = t->places->channel;
    item->value = warp_first_value(t)[0];
    item->last = item->kind == LAZ_LAYER_FLAGS ? laz_pack_flags(item->value) : item->value;
    warp_start_models(r->models, LAZ_CHANNELS * LAZ_TABLE_MODELS, item->symbols, LAZ_BYTE_SYMBOLS, r->lane);
    if (r->lane == 0) warp_put_item(item, t, 0, item->value);
}

WARP_INLINE uint32_t warp_table_context(uint32_t kind, uint32_t is, uint32_t last) {
    if (kind == LAZ_LAYER_CLASSIFICATION) return laz_class14_context(last, warp_place(is));
    return kind == LAZ_LAYER_FLAGS ? last : laz_user14_context(last);
}

WARP_INLINE void warp_read_item(warp_table_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    const uint32_t channel = warp_channel(is);
    uint32_t from;
    (void)t, (void)i;
    if (warp_enter(&item->channels, channel, &from)) {
        const uint32_t last = warp_get(item->last, from);
        warp_set(r, &item->last, channel, last);
    }
    const uint32_t context = warp_table_context(item->kind, is, warp_get(item->last, channel));
    warp_model *m = warp_models<warp_table>(r, channel)->models[context];
    const uint32_t symbol = warp_read_deep(r, m, item->symbols, LAZ_BYTE_SYMBOLS);
    warp_set(r, &item->last, channel, symbol);
    item->value = symbol;
    if (item->kind == LAZ_LAYER_FLAGS) item->value = laz_unpack_flags(symbol) | channel << LAZ_CHANNEL_SHIFT;
    warp_settle(r);
}

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
    if (kind == WARP_GPS_INTEGER && laz_gps14_is_extreme(symbol) && ++item->extremes > LAZ_GPS_EXTREMES) {
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
    if (kind == WARP_GPS_INTEGER) predicted = laz_gps14_predict(step, symbol, &context);
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
        uint32_t left = item->old > 0 ? LAZ_GPS11_SWITCHES : LAZ_GPS_SWITCHES;
        bool found;
        CUDA_ROLLED do {
            found = warp_read_gps_time(item, r, channel, &sequence);
            warp_settle(r);
        }
        while (!found && --left > 0)
            ;
        r->bad = r->bad || !found;
        warp_set(r, &item->last, channel, sequence);
    }
    item->value = warp_get(item->time, LAZ_GPS_SEQUENCES * channel + sequence);
}

/* ---- bytes of their own: extra bytes */

typedef struct warp_byte {
    warp_model difference[WARP_MODEL_WORDS(LAZ_BYTE14_SYMBOLS)];
} warp_byte;

typedef struct warp_byte_item {
    warp_follower follower;
    uint32_t last; /* by channel */
    uint32_t value;
} warp_byte_item;

WARP_INLINE void warp_put_item(const warp_byte_item *item, const warp_task *t, uint32_t i, uint32_t value) {
    (void)item;
    warp_put(t, 0, i, value, 1);
}

WARP_INLINE void warp_start_item(warp_byte_item *item, const warp_task *t, const warp_reader *r) {
    item->follower = warp_follower_of(t);
    item->last = item->value = warp_first_value(t)[0];
    warp_start_models(r->models, LAZ_CHANNELS, LAZ_BYTE14_SYMBOLS, LAZ_BYTE14_SYMBOLS, r->lane);
    if (r->lane == 0) warp_put_item(item, t, 0, item->value);
}

WARP_INLINE void warp_read_item(warp_byte_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    uint32_t model, value, from;
    (void)t, (void)i;
    if (warp_follow(&item->follower, is, &model, &value, &from)) {
        const uint32_t last = warp_get(item->last, from);
        warp_set(r, &item->last, model, last);
    }
    const uint32_t more = warp_read_symbol(r, warp_models<warp_byte>(r, model)->difference, LAZ_BYTE14_SYMBOLS);
    item->value = (warp_get(item->last, value) + more) & 255u;
    warp_set(r, &item->last, value, item->value);
    warp_settle(r);
}

/* ---- colours: a lane per byte, which puts it into the record itself */

typedef struct warp_rgb {
    warp_model used[WARP_MODEL_WORDS(LAZ_RGB_USED)];
    warp_model difference[LAZ_RGB14_BYTES][WARP_MODEL_WORDS(LAZ_COLOUR_SYMBOLS)];
} warp_rgb;

typedef struct warp_rgb_item {
    warp_follower follower;
    uint32_t last; /* by 8 · channel + byte */
    uint32_t to;   /* where this lane's byte goes, or LAZ_NOWHERE */
    uint32_t value;
} warp_rgb_item;

#define WARP_BYTES_OF(lane) ((lane)&7u) /* which byte of the colour a lane has, in each channel */

WARP_INLINE void warp_put_item(const warp_rgb_item *, const warp_task *, uint32_t, uint32_t) {}

WARP_INLINE void warp_put_byte(const warp_task *t, uint32_t to, uint32_t i, uint32_t byte) {
    if (to != LAZ_NOWHERE) warp_record(t, i)[to] = (uint8_t)byte;
}

/* Where byte b of units of two bytes goes. */
WARP_INLINE uint32_t warp_byte_place(const warp_task *t, uint32_t b, uint32_t bytes) {
    if (b >= bytes || warp_field(t)->to[b / 2] == LAZ_NOWHERE) return LAZ_NOWHERE;
    return warp_field(t)->to[b / 2] + b % 2;
}

WARP_INLINE void warp_start_rgb_models(const warp_task *t, const warp_reader *r) {
    CUDA_ROLLED for (uint32_t c = 0; c < warp_channel_count(t); c++) {
        warp_rgb *of = warp_models<warp_rgb>(r, c);
        warp_start_models(of->used, 1, LAZ_RGB_USED, LAZ_RGB_USED, r->lane);
        warp_start_models(of->difference[0], LAZ_RGB14_BYTES, LAZ_COLOUR_SYMBOLS, LAZ_COLOUR_SYMBOLS, r->lane);
    }
}

WARP_INLINE void warp_start_item(warp_rgb_item *item, const warp_task *t, const warp_reader *r) {
    item->follower = warp_follower_of(t);
    item->last = WARP_BYTES_OF(r->lane) < LAZ_RGB14_BYTES ? warp_first_value(t)[WARP_BYTES_OF(r->lane)] : 0;
    item->to = warp_byte_place(t, r->lane, LAZ_RGB14_BYTES);
    item->value = 0;
    warp_start_rgb_models(t, r);
    warp_put_byte(t, item->to, 0, item->last);
}

/* Copies the last value of one channel to another: per lanes to a channel. */
WARP_INLINE uint32_t warp_copy_last(const warp_reader *r, uint32_t last, uint32_t per, uint32_t from, uint32_t to) {
    const uint32_t copied = warp_get(last, per * from + r->lane % per);
    return r->lane / per == to ? copied : last;
}

/* Red's two bytes, then green and blue by halves: 0, 1, 2, 4, 3, 5. */
WARP_INLINE uint32_t warp_rgb_byte(uint32_t turn) { return 0x534210u >> 4 * turn & 7u; }

/* All lanes have the colour of their byte: before, and so far. */
WARP_INLINE uint32_t warp_predict_byte(uint32_t byte, uint32_t before, uint32_t now) {
    const uint32_t changes = now - before, half = byte & 1u;
    const int32_t red = (int32_t)warp_get(changes, half), green = (int32_t)warp_get(changes, 2 + half);
    const uint32_t last = warp_get(before, byte);
    if (byte < 2) return last;
    return byte < 4 ? laz_predict_green(red, (int32_t)last) : laz_predict_blue(red, green, (int32_t)last);
}

WARP_INLINE void warp_read_item(warp_rgb_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    uint32_t model, value, from;
    if (warp_follow(&item->follower, is, &model, &value, &from)) {
        item->last = warp_copy_last(r, item->last, 8, from, model);
    }
    warp_rgb *of = warp_models<warp_rgb>(r, model);
    const uint32_t used = warp_read_symbol(r, of->used, LAZ_RGB_USED), mine = WARP_BYTES_OF(r->lane);
    const uint32_t before = warp_get(item->last, 8 * value + mine);
    const uint32_t turns = used & LAZ_RGB_COLOURED ? LAZ_RGB14_BYTES : 2;
    uint32_t now = before;
    CUDA_ROLLED for (uint32_t turn = 0; turn < turns; turn++) {
        const uint32_t byte = warp_rgb_byte(turn);
        if (!(used >> byte & 1u)) continue;
        const uint32_t predicted = warp_predict_byte(byte, before, now);
        const uint32_t more = warp_read_symbol(r, of->difference[byte], LAZ_COLOUR_SYMBOLS);
        if (mine == byte) now = (predicted + more) & 255u;
    }
    if (!(used & LAZ_RGB_COLOURED)) now = warp_get(now, mine & 1u);
    if (r->lane / 8 == value) item->last = now;
    warp_put_byte(t, item->to, i, now);
    warp_settle(r);
}

/* ---- near infrared */

typedef struct warp_nir {
    warp_model used[WARP_MODEL_WORDS(LAZ_NIR_USED)];
    warp_model difference[LAZ_NIR14_BYTES][WARP_MODEL_WORDS(LAZ_COLOUR_SYMBOLS)];
} warp_nir;

typedef struct warp_nir_item {
    warp_follower follower;
    uint32_t last; /* by 2 · channel + byte */
    uint32_t value;
} warp_nir_item;

WARP_INLINE void warp_put_item(const warp_nir_item *item, const warp_task *t, uint32_t i, uint32_t value) {
    (void)item;
    warp_put(t, 0, i, value, LAZ_NIR14_BYTES);
}

WARP_INLINE void warp_start_nir_models(const warp_reader *r) {
    CUDA_ROLLED for (uint32_t c = 0; c < LAZ_CHANNELS; c++) {
        warp_nir *of = warp_models<warp_nir>(r, c);
        warp_start_models(of->used, 1, LAZ_NIR_USED, LAZ_NIR_USED, r->lane);
        warp_start_models(of->difference[0], LAZ_NIR14_BYTES, LAZ_COLOUR_SYMBOLS, LAZ_COLOUR_SYMBOLS, r->lane);
    }
}

WARP_INLINE void warp_start_item(warp_nir_item *item, const warp_task *t, const warp_reader *r) {
    item->follower = warp_follower_of(t);
    item->last = warp_first_value(t)[r->lane % LAZ_NIR14_BYTES];
    item->value = (uint32_t)warp_load(warp_first_value(t), LAZ_NIR14_BYTES);
    warp_start_nir_models(r);
    if (r->lane == 0) warp_put_item(item, t, 0, item->value);
}

WARP_INLINE void warp_read_item(warp_nir_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    uint32_t model, value, from;
    (void)t, (void)i;
    if (warp_follow(&item->follower, is, &model, &value, &from)) {
        item->last = warp_copy_last(r, item->last, LAZ_NIR14_BYTES, from, model);
    }
    warp_nir *of = warp_models<warp_nir>(r, model);
    const uint32_t used = warp_read_symbol(r, of->used, LAZ_NIR_USED);
    item->value = 0;
    CUDA_ROLLED for (uint32_t b = 0; b < LAZ_NIR14_BYTES; b++) {
        uint32_t byte = warp_get(item->last, LAZ_NIR14_BYTES * value + b);
        if (used >> b & 1u) byte = (byte + warp_read_symbol(r, of->difference[b], LAZ_COLOUR_SYMBOLS)) & 255u;
        warp_set(r, &item->last, LAZ_NIR14_BYTES * value + b, byte);
        item->value |= byte << 8 * b;
    }
    warp_settle(r);
}

/* ---- wave packets: a lane per word of the packet, in each channel */

/* Words: the index, the offset's halves, size, place of the return, three axes. */
enum {
    WARP_WAVE_INDEX,
    WARP_WAVE_LOW,
    WARP_WAVE_HIGH,
    WARP_WAVE_SIZE,
    WARP_WAVE_RETURN,
    WARP_WAVE_AXES,
    WARP_WAVE_WORDS = 8
};

typedef struct warp_wave {
    warp_model index[WARP_MODEL_WORDS(LAZ_WAVE_INDICES)];
    warp_model place[LAZ_WAVE_PLACES][WARP_MODEL_WORDS(LAZ_WAVE_PLACES)]; /* by the last one */
    warp_integer offset, fields[3];                                       /* size, place of the return, axes */
} warp_wave;

typedef struct warp_wave_item {
    warp_follower follower;
    uint32_t last;                  /* by 8 · channel + word */
    uint32_t last_place, last_step; /* by channel */
    uint32_t to;                    /* where this lane's word goes, or LAZ_NOWHERE */
    uint32_t value;
} warp_wave_item;

WARP_INLINE void warp_put_item(const warp_wave_item *, const warp_task *, uint32_t, uint32_t) {}

WARP_INLINE void warp_put_wave(const warp_wave_item *item, const warp_task *t, const warp_reader *r, uint32_t i,
                               uint32_t word) {
    if (item->to == LAZ_NOWHERE) return;
    uint8_t *at = warp_record(t, i) + item->to;
    warp_store(at, word, r->lane == WARP_WAVE_INDEX ? 1 : 4, false);
}

WARP_INLINE void warp_start_wave_models(const warp_task *t, const warp_reader *r) {
    CUDA_ROLLED for (uint32_t c = 0; c < warp_channel_count(t); c++) {
        warp_wave *of = warp_models<warp_wave>(r, c);
        warp_start_models(of->index, 1, LAZ_WAVE_INDICES, LAZ_WAVE_INDICES, r->lane);
        warp_start_models(of->place[0], LAZ_WAVE_PLACES, LAZ_WAVE_PLACES, LAZ_WAVE_PLACES, r->lane);
        warp_start_integer(&of->offset, 32, 1, r->lane);
        CUDA_ROLLED for (uint32_t f = 0; f < 3; f++) {
            warp_start_integer(&of->fields[f], 32, f < 2 ? 1 : LAZ_WAVE_AXES, r->lane);
        }
    }
}

WARP_INLINE void warp_start_item(warp_wave_item *item, const warp_task *t, const warp_reader *r) {
    const uint32_t word = r->lane % WARP_WAVE_WORDS;
    uint32_t at;
    item->follower = warp_follower_of(t);
    const uint32_t bytes = laz_unit_bytes(LAZ_LAYER_WAVEPACKET, word, &at);
    item->last = (uint32_t)warp_load(warp_first_value(t) + at, bytes);
    item->last_place = item->last_step = item->value = 0;
    item->to = r->lane < WARP_WAVE_WORDS ? warp_field(t)->to[word] : LAZ_NOWHERE;
    warp_start_wave_models(t, r);
    warp_put_wave(item, t, r, 0, item->last);
}

/* The offset, from the last packet's, of which every lane has a word. */
WARP_INLINE uint64_t warp_read_wave_offset(warp_wave_item *item, warp_reader *r, uint32_t model, uint32_t last) {
    warp_wave *of = warp_models<warp_wave>(r, model);
    const uint64_t offset = (uint64_t)warp_get(last, WARP_WAVE_HIGH) << 32 | warp_get(last, WARP_WAVE_LOW);
    const uint32_t place = warp_read_symbol(r, of->place[warp_get(item->last_place, model)], LAZ_WAVE_PLACES);
    uint32_t step = warp_get(item->last_step, model), k;
    warp_set(r, &item->last_place, model, place);
    if (place == LAZ_WAVE_SAME) return offset;
    if (place == LAZ_WAVE_BEHIND) return offset + warp_get(last, WARP_WAVE_SIZE);
    if (place == LAZ_WAVE_ANYWHERE) {
        const uint32_t low = warp_read_bits(r, 32);
        return (uint64_t)warp_read_bits(r, 32) << 32 | low;
    }
    step = warp_read_integer(r, &of->offset, 32, 0, step, &k);
    warp_set(r, &item->last_step, model, step);
    return offset + laz_widen(step);
}

WARP_INLINE void warp_read_item(warp_wave_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    uint32_t model, value, from, k;
    if (warp_follow(&item->follower, is, &model, &value, &from)) {
        if (r->lane == model) item->last_place = item->last_step = 0;
        item->last = warp_copy_last(r, item->last, WARP_WAVE_WORDS, from, model);
    }
    warp_wave *of = warp_models<warp_wave>(r, model);
    const uint32_t word = r->lane % WARP_WAVE_WORDS;
    const uint32_t last = warp_get(item->last, WARP_WAVE_WORDS * value + word);
    uint32_t now = warp_read_symbol(r, of->index, LAZ_WAVE_INDICES);
    const uint64_t offset = warp_read_wave_offset(item, r, model, last);
    if (word == WARP_WAVE_LOW) now = (uint32_t)offset;
    if (word == WARP_WAVE_HIGH) now = (uint32_t)(offset >> 32);
    CUDA_ROLLED for (uint32_t f = WARP_WAVE_SIZE; f < WARP_WAVE_WORDS; f++) {
        const uint32_t axis = f < WARP_WAVE_AXES ? 0 : f - WARP_WAVE_AXES;
        warp_integer *m = &of->fields[f < WARP_WAVE_AXES ? f - WARP_WAVE_SIZE : 2];
        const uint32_t read = warp_read_integer(r, m, 32, axis, warp_get(last, f), &k);
        if (word == f) now = read;
        warp_settle(r);
    }
    if (r->lane / WARP_WAVE_WORDS == value) item->last = now;
    warp_put_wave(item, t, r, i, now);
}

/* ---- the first layer */

typedef struct warp_xy {
    warp_model channel[WARP_MODEL_WORDS(LAZ_CHANNELS - 1)];
    warp_model return_step[WARP_MODEL_WORDS(LAZ_RETURN_STEPS)];
    warp_model changed[LAZ_CHANGED_CONTEXTS][WARP_MODEL_WORDS(LAZ_CHANGED_SYMBOLS)];
    warp_model count[LAZ_RETURNS][WARP_MODEL_WORDS(LAZ_RETURNS)];
    warp_model number[LAZ_RETURNS][WARP_MODEL_WORDS(LAZ_RETURNS)];
    warp_integer dx, dy;
    uint32_t medians[2][LAZ_MEDIANS][8]; /* of x and y: five steps, ascending, and which goes next; see laz_median.h */
} warp_xy;

/* A channel's last point. */
typedef struct warp_xy_last {
    uint32_t x, y, number, count;
} warp_xy_last;

typedef struct warp_xy_item {
    warp_channels channels;
    warp_xy_last last; /* of the current channel */
    warp_xy_last by;   /* by channel, of the others */
    uint32_t gps_changed;
} warp_xy_item;

#define WARP_DROP_LOW 5u /* word of a median */

/* Lanes 0 to 5 have the words of a median. */
WARP_INLINE uint32_t warp_median_word(const warp_reader *r, const uint32_t *median) {
    return median[r->lane < 8 ? r->lane : 7];
}

/* Puts a step among those of a median, of which the lanes have the words. */
WARP_INLINE void warp_median_add(const warp_reader *r, uint32_t *median, uint32_t word, uint32_t step) {
    const uint32_t drop_low = warp_get(word, WARP_DROP_LOW), i = r->lane;
    const int32_t added = (int32_t)step, middle = (int32_t)warp_get(word, 2);
    const int32_t here = (int32_t)warp_get(word, (i < 4 ? i : 3) + drop_low); /* of the four that stay */
    const int32_t before = (int32_t)warp_get(word, (i > 0 && i < 5 ? i - 1 : 0) + drop_low);
    const int32_t most = i < 4 && here < added ? here : added;
    int32_t now = i > 0 && before > most ? before : most;
    if (i == WARP_DROP_LOW) now = (int64_t)added - (int64_t)drop_low >= middle;
    if (i <= WARP_DROP_LOW) median[i] = (uint32_t)now;
}

WARP_INLINE void warp_start_xy_models(const warp_reader *r, uint32_t channel) {
    warp_xy *of = warp_models<warp_xy>(r, channel);
    warp_start_models(of->channel, 1, LAZ_CHANNELS - 1, LAZ_CHANNELS - 1, r->lane);
    warp_start_models(of->return_step, 1, LAZ_RETURN_STEPS, LAZ_RETURN_STEPS, r->lane);
    warp_start_models(of->changed[0], LAZ_CHANGED_CONTEXTS, LAZ_CHANGED_SYMBOLS, LAZ_CHANGED_SYMBOLS, r->lane);
    warp_start_models(of->count[0], LAZ_RETURNS, LAZ_RETURNS, LAZ_RETURNS, r->lane);
    warp_start_models(of->number[0], LAZ_RETURNS, LAZ_RETURNS, LAZ_RETURNS, r->lane);
    warp_start_integer(&of->dx, 32, LAZ_X_CONTEXTS, r->lane);
    warp_start_integer(&of->dy, 32, LAZ_Y_CONTEXTS, r->lane);
    for (uint32_t m = r->lane / 8; m < LAZ_MEDIANS; m += CUDA_WARP / 8) {
        of->medians[0][m][r->lane % 8] = of->medians[1][m][r->lane % 8] = 0;
    }
    __syncwarp();
}

WARP_INLINE void warp_put_xy(const warp_task *t, uint32_t i, const warp_xy_last *last) {
    warp_put(t, 0, i, last->x, 4);
    warp_put(t, 1, i, last->y, 4);
    warp_put(t, 2, i, last->number | last->count << 4, 1);
}

WARP_INLINE void warp_start_xy(warp_xy_item *item, const warp_task *t, const warp_reader *r) {
    item->channels.met = 1u << t->places->channel;
    item->channels.current = t->places->channel;
    item->gps_changed = 0;
    item->last.x = (uint32_t)warp_load(warp_first_value(t) + LAZ_AT_X, 4);
    item->last.y = (uint32_t)warp_load(warp_first_value(t) + LAZ_AT_Y, 4);
    item->last.number = warp_first_value(t)[LAZ_AT_RETURNS] & 15u;
    item->last.count = warp_first_value(t)[LAZ_AT_RETURNS] >> 4;
    item->by = item->last;
    CUDA_ROLLED for (uint32_t c = 0; c < LAZ_CHANNELS; c++) warp_start_xy_models(r, c);
    if (r->lane == 0) warp_put_xy(t, 0, &item->last);
}

/* Goes on in another channel. */
WARP_INLINE void warp_switch_xy(warp_xy_item *item, const warp_reader *r, uint32_t channel) {
    uint32_t from;
    if (r->lane == item->channels.current) item->by = item->last;
    if (warp_enter(&item->channels, channel, &from)) return;
    item->last.x = warp_get(item->by.x, channel);
    item->last.y = warp_get(item->by.y, channel);
    item->last.number = warp_get(item->by.number, channel);
    item->last.count = warp_get(item->by.count, channel);
}

WARP_INLINE void warp_read_returns(warp_xy *of, warp_xy_last *last, warp_reader *r, uint32_t changed) {
    const uint32_t number = last->number;
    if (changed & LAZ_CHANGED_RETURNS) last->count = warp_read_symbol(r, of->count[last->count], LAZ_RETURNS);
    if ((changed & LAZ_CHANGED_RETURN) != LAZ_CHANGED_RETURN) {
        last->number = laz_next_return(number, changed);
    } else if (changed & LAZ_CHANGED_GPS) {
        last->number = warp_read_symbol(r, of->number[number], LAZ_RETURNS);
    } else {
        last->number = (number + warp_read_symbol(r, of->return_step, LAZ_RETURN_STEPS) + 2) & 15u;
    }
}

/* Channel and returns; returns what changed. */
WARP_INLINE uint32_t warp_read_kind(warp_xy_item *item, warp_reader *r) {
    warp_xy *of = warp_models<warp_xy>(r, item->channels.current);
    const uint32_t context = laz_changed_context(item->last.number, item->last.count, item->gps_changed);
    const uint32_t changed = warp_read_symbol(r, of->changed[context], LAZ_CHANGED_SYMBOLS);
    if (changed & LAZ_CHANGED_CHANNEL) {
        const uint32_t step = warp_read_symbol(r, of->channel, LAZ_CHANNELS - 1) + 1;
        warp_switch_xy(item, r, (item->channels.current + step) % LAZ_CHANNELS);
    }
    item->gps_changed = (changed & LAZ_CHANGED_GPS) != 0;
    warp_read_returns(warp_models<warp_xy>(r, item->channels.current), &item->last, r, changed);
    return changed;
}

/* Reads a point; returns what it is. */
WARP_INLINE uint32_t warp_read_xy_point(warp_xy_item *item, const warp_task *t, warp_reader *r) {
    const uint32_t changed = warp_read_kind(item, r), number = item->last.number, count = item->last.count;
    warp_xy *of = warp_models<warp_xy>(r, item->channels.current);
    const uint32_t median = t->bases->return_kind[count * LAZ_RETURNS + number] * 2u | item->gps_changed;
    const uint32_t x_word = warp_median_word(r, of->medians[0][median]);
    const uint32_t y_word = warp_median_word(r, of->medians[1][median]);
    uint32_t kx, ky;
    const uint32_t dx = warp_read_integer(r, &of->dx, 32, count == 1, warp_get(x_word, 2), &kx);
    warp_median_add(r, of->medians[0][median], x_word, dx);
    const uint32_t dy = warp_read_integer(r, &of->dy, 32, laz_y_context(count, kx), warp_get(y_word, 2), &ky);
    warp_median_add(r, of->medians[1][median], y_word, dy);
    item->last.x += dx;
    item->last.y += dy;
    warp_settle(r);
    return warp_describe(item->channels.current, changed, number, count, kx, ky);
}

/* Returns whether the layer is sound, as all that follow. */
WARP_INLINE bool warp_read_xy(const warp_task *t) {
    warp_reader r;
    warp_xy_item item;
    warp_reader_start(&r, t->bases->data, t->bases->data_bytes, t->places->at, warp_models_of(t));
    warp_start_xy(&item, t, &r);
    CUDA_ROLLED for (uint32_t first = 1; first < t->places->points; first += CUDA_WARP) {
        const uint32_t left = t->places->points - first, count = left < CUDA_WARP ? left : CUDA_WARP;
        warp_xy_last mine = item.last;
        uint32_t mine_is = 0;
        CUDA_ROLLED for (uint32_t i = 0; i < count; i++) {
            const uint32_t is = warp_read_xy_point(&item, t, &r);
            if (r.lane == i) {
                mine_is = is;
                mine = item.last;
            }
        }
        if (r.lane < count) {
            warp_described(t)[first + r.lane] = (uint16_t)mine_is;
            warp_put_xy(t, first + r.lane, &mine);
        }
    }
    return warp_reader_is_sound(&r, t->places->at + t->places->size_bytes);
}

/* ---- any other layer */

WARP_INLINE bool warp_read_integers(const warp_task *t) {
    warp_integer_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_table(const warp_task *t) {
    warp_table_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_gps(const warp_task *t) {
    warp_gps_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_rgb(const warp_task *t) {
    warp_rgb_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_nir(const warp_task *t) {
    warp_nir_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_wave(const warp_task *t) {
    warp_wave_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_byte(const warp_task *t) {
    warp_byte_item item;
    return warp_read_points(t, &item);
}

WARP_INLINE bool warp_read_layer(const warp_task *t) {
    switch (warp_field(t)->kind) {
    case LAZ_LAYER_Z:
    case LAZ_LAYER_INTENSITY:
    case LAZ_LAYER_SCAN_ANGLE:
    case LAZ_LAYER_POINT_SOURCE: return warp_read_integers(t);
    case LAZ_LAYER_CLASSIFICATION:
    case LAZ_LAYER_FLAGS:
    case LAZ_LAYER_USER_DATA: return warp_read_table(t);
    case LAZ_LAYER_GPS_TIME: return warp_read_gps(t);
    case LAZ_LAYER_RGB: return warp_read_rgb(t);
    case LAZ_LAYER_NIR: return warp_read_nir(t);
    case LAZ_LAYER_WAVEPACKET: return warp_read_wave(t);
    default: return warp_read_byte(t);
    }
}

/* ---- a layer without bytes: all points have the value of the first one */

WARP_INLINE void warp_copy_value(const warp_task *t) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, kind = warp_field(t)->kind;
    CUDA_ROLLED for (uint32_t unit = 0; unit < LAZ_UNITS_MOST; unit++) {
        uint32_t at;
        const uint32_t bytes = laz_unit_bytes(kind, unit, &at);
        if (bytes == 0) break;
        const uint64_t value = warp_load(warp_first_value(t) + at, bytes);
        CUDA_ROLLED for (uint32_t i = lane; i < t->places->points; i += CUDA_WARP) {
            uint64_t here = value;
            if (kind == LAZ_LAYER_FLAGS && i > 0) { /* around the scanner channel */
                here = (value & ~(uint64_t)LAZ_CHANNEL_MASK) | warp_channel(warp_described(t)[i]) << LAZ_CHANNEL_SHIFT;
            }
            warp_put(t, unit, i, here, bytes);
        }
    }
}

#endif
