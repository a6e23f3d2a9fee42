/* Wave packets: which descriptor, where the packet lies (usually behind the last one), its size, the place of the
   return in it and how the pulse runs; floats are taken as integers. The item WAVEPACKET13 of formats 0 to 5 is one
   such series; WAVEPACKET14, one layer of formats 6 to 10, is one for each scanner channel. Source: M. Isenburg,
   LASzip, 2013, and LASzip 3. */
#ifndef MOTE_LAZ_WAVEPACKET_H
#define MOTE_LAZ_WAVEPACKET_H

#include "io/laz/items/laz_rules.h"
#include "io/laz/laz_bytes.h"
#include "io/laz/laz_integer.h"

typedef struct laz_wave {
    LAZ_MODEL(index, LAZ_WAVE_INDICES);
    _Alignas(32) laz_model place[LAZ_WAVE_PLACES][LAZ_MODEL_WORDS(LAZ_WAVE_PLACES)]; /* by the last one */
    laz_integer offset, size, return_point, axes;
    uint32_t last_place, last_step;
    uint8_t last[LAZ_WAVEPACKET_BYTES];
} laz_wave;

static inline void laz_start_wave(laz_wave *c, const uint8_t *last) {
    mote_laz_model_start(c->index, LAZ_WAVE_INDICES, LAZ_WAVE_INDICES);
    for (uint32_t i = 0; i < LAZ_WAVE_PLACES; i++) mote_laz_model_start(c->place[i], LAZ_WAVE_PLACES, LAZ_WAVE_PLACES);
    laz_integer_start(&c->offset, 32, 1);
    laz_integer_start(&c->size, 32, 1);
    laz_integer_start(&c->return_point, 32, 1);
    laz_integer_start(&c->axes, 32, LAZ_WAVE_AXES);
    c->last_place = LAZ_WAVE_SAME;
    c->last_step = 0;
    memmove(c->last, last, LAZ_WAVEPACKET_BYTES);
}

static inline uint64_t laz_read_wave_offset(laz_wave *c, laz_reader *r, const uint8_t *last) {
    uint32_t k;
    const uint64_t offset = laz_get_u64(last + LAZ_AT_WAVE_OFFSET);
    c->last_place = laz_read_symbol(r, c->place[c->last_place], LAZ_WAVE_PLACES);
    if (c->last_place == LAZ_WAVE_SAME) return offset;
    if (c->last_place == LAZ_WAVE_BEHIND) return offset + laz_get_u32(last + LAZ_AT_WAVE_SIZE);
    if (c->last_place == LAZ_WAVE_ANYWHERE) return laz_read_u64(r);
    c->last_step = laz_read_integer(r, &c->offset, 32, 0, c->last_step, &k);
    return offset + laz_widen(c->last_step);
}

static inline void laz_read_wave_field(laz_integer *m, laz_reader *r, uint32_t context, uint8_t *last) {
    uint32_t k;
    laz_put_u32(last, laz_read_integer(r, m, 32, context, laz_get_u32(last), &k));
}

/* last: becomes the packet that is read. A call, as few files have waves: inlined into the loops of layers it would
   take the compiler's room for what all files have (7 % of the instructions of format 8). */
__attribute__((noinline, unused)) static void laz_read_wave(laz_wave *c, laz_reader *r, uint8_t *last) {
    last[0] = (uint8_t)laz_read_symbol(r, c->index, LAZ_WAVE_INDICES);
    laz_put_u64(last + LAZ_AT_WAVE_OFFSET, laz_read_wave_offset(c, r, last));
    laz_read_wave_field(&c->size, r, 0, last + LAZ_AT_WAVE_SIZE);
    laz_read_wave_field(&c->return_point, r, 0, last + LAZ_AT_WAVE_RETURN);
    for (uint32_t a = 0; a < LAZ_WAVE_AXES; a++) laz_read_wave_field(&c->axes, r, a, last + LAZ_AT_WAVE_AXES + 4 * a);
}

static inline void laz_write_wave_offset(laz_wave *c, laz_writer *w, const uint8_t *last, const uint8_t *value) {
    const uint64_t offset = laz_get_u64(value + LAZ_AT_WAVE_OFFSET);
    const uint64_t step = offset - laz_get_u64(last + LAZ_AT_WAVE_OFFSET);
    const uint32_t place = laz_wave_place(step, laz_get_u32(last + LAZ_AT_WAVE_SIZE));
    laz_write_symbol(w, c->place[c->last_place], LAZ_WAVE_PLACES, place);
    c->last_place = place;
    if (place == LAZ_WAVE_ANYWHERE) laz_write_u64(w, offset);
    if (place != LAZ_WAVE_NEAR) return;
    laz_write_integer(w, &c->offset, 32, 0, c->last_step, (uint32_t)step);
    c->last_step = (uint32_t)step;
}

static inline void laz_write_wave(laz_wave *c, laz_writer *w, uint8_t *last, const uint8_t *value) {
    laz_write_symbol(w, c->index, LAZ_WAVE_INDICES, value[0]);
    laz_write_wave_offset(c, w, last, value);
    laz_write_integer(w, &c->size, 32, 0, laz_get_u32(last + LAZ_AT_WAVE_SIZE), laz_get_u32(value + LAZ_AT_WAVE_SIZE));
    laz_write_integer(w, &c->return_point, 32, 0, laz_get_u32(last + LAZ_AT_WAVE_RETURN),
                      laz_get_u32(value + LAZ_AT_WAVE_RETURN));
    for (uint32_t a = 0; a < LAZ_WAVE_AXES; a++) {
        const uint32_t at = LAZ_AT_WAVE_AXES + 4 * a;
        laz_write_integer(w, &c->axes, 32, a, laz_get_u32(last + at), laz_get_u32(value + at));
    }
    memcpy(last, value, LAZ_WAVEPACKET_BYTES);
}

#endif
