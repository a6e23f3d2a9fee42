/* What the layers that warps decode share: where a warp finds its things, values in lanes, what a point is, the loop
   over the points. What a layer keeps of its last points stands in registers, a value per lane, by scanner channel;
   only models are in memory. laz_format14.h says what the format says. */
#ifndef MOTE_LAZ_WARP_LAYER_H
#define MOTE_LAZ_WARP_LAYER_H

#include "io/laz/items/laz_format10.h"
#include "io/laz/laz_device.h"
#include "io/laz/warp/laz_warp.cuh"

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

template <class T> WARP_INLINE T warp_get(T values, uint32_t lane) { return warp_broadcast(values, lane); }
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
    if (to == LAZ_NO_FIELD) return;
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
        const uint32_t remaining = t->places->points - first, count = remaining < CUDA_WARP ? remaining : CUDA_WARP,
                       are = next;
        if (remaining > CUDA_WARP + r.lane) next = warp_described(t)[first + CUDA_WARP + r.lane];
        decltype(item->value) mine = 0;
        CUDA_ROLLED for (uint32_t i = 0; i < count; i++) {
            warp_read_item(item, t, &r, warp_get(are, i), first + i);
            if (r.lane == i) mine = item->value;
        }
        if (r.lane < count) warp_put_item(item, t, first + r.lane, mine);
    }
    return warp_reader_is_sound(&r, t->places->at + t->places->size_bytes);
}

#endif
