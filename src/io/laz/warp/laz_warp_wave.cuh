/* Wave packets decoded by a warp. The CPU's twins: laz_wavepacket14.h, laz_wavepacket13.h. */
#ifndef MOTE_LAZ_WARP_WAVE_H
#define MOTE_LAZ_WARP_WAVE_H

#include "io/laz/warp/laz_warp_layer.cuh"

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
    uint32_t to;                    /* where this lane's word goes, or LAZ_NO_FIELD */
    uint32_t value;
} warp_wave_item;

WARP_INLINE void warp_put_item(const warp_wave_item *, const warp_task *, uint32_t, uint32_t) {}

WARP_INLINE void warp_put_wave(const warp_wave_item *item, const warp_task *t, const warp_reader *r, uint32_t i,
                               uint32_t word) {
    if (item->to == LAZ_NO_FIELD) return;
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
    item->to = r->lane < WARP_WAVE_WORDS ? warp_field(t)->to[word] : LAZ_NO_FIELD;
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

#endif
