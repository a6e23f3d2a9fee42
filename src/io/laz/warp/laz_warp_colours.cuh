/* Colours decoded by a warp. The CPU's twins: laz_rgb14.h, laz_rgb12.h. */
#ifndef MOTE_LAZ_WARP_COLOURS_H
#define MOTE_LAZ_WARP_COLOURS_H

#include "io/laz/warp/laz_warp_layer.cuh"

/* ---- colours: a lane per byte, which puts it into the record itself */

typedef struct warp_rgb {
    warp_model used[WARP_MODEL_WORDS(LAZ_RGB_USED)];
    warp_model difference[LAZ_RGB_BYTES][WARP_MODEL_WORDS(LAZ_COLOUR_SYMBOLS)];
} warp_rgb;

typedef struct warp_rgb_item {
    warp_follower follower;
    uint32_t last; /* by 8 · channel + byte */
    uint32_t to;   /* where this lane's byte goes, or LAZ_NO_FIELD */
    uint32_t value;
} warp_rgb_item;

#define WARP_BYTES_OF(lane) ((lane)&7u) /* which byte of the colour a lane has, in each channel */

WARP_INLINE void warp_put_item(const warp_rgb_item *, const warp_task *, uint32_t, uint32_t) {}

WARP_INLINE void warp_put_byte(const warp_task *t, uint32_t to, uint32_t i, uint32_t byte) {
    if (to != LAZ_NO_FIELD) warp_record(t, i)[to] = (uint8_t)byte;
}

/* Where byte b of units of two bytes goes. */
WARP_INLINE uint32_t warp_byte_place(const warp_task *t, uint32_t b, uint32_t bytes) {
    if (b >= bytes || warp_field(t)->to[b / 2] == LAZ_NO_FIELD) return LAZ_NO_FIELD;
    return warp_field(t)->to[b / 2] + b % 2;
}

WARP_INLINE void warp_start_rgb_models(const warp_task *t, const warp_reader *r) {
    CUDA_ROLLED for (uint32_t c = 0; c < warp_channel_count(t); c++) {
        warp_rgb *of = warp_models<warp_rgb>(r, c);
        warp_start_models(of->used, 1, LAZ_RGB_USED, LAZ_RGB_USED, r->lane);
        warp_start_models(of->difference[0], LAZ_RGB_BYTES, LAZ_COLOUR_SYMBOLS, LAZ_COLOUR_SYMBOLS, r->lane);
    }
}

WARP_INLINE void warp_start_item(warp_rgb_item *item, const warp_task *t, const warp_reader *r) {
    item->follower = warp_follower_of(t);
    item->last = WARP_BYTES_OF(r->lane) < LAZ_RGB_BYTES ? warp_first_value(t)[WARP_BYTES_OF(r->lane)] : 0;
    item->to = warp_byte_place(t, r->lane, LAZ_RGB_BYTES);
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
    const uint32_t turns = used & LAZ_RGB_COLOURED ? LAZ_RGB_BYTES : 2;
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

#endif
