/* The item WAVEPACKET13: where the wave of a pulse lies in the file, and how it runs. Version 1 is the only one.
   Source: M. Isenburg, LASzip, 2013. */
#ifndef MOTE_LAZ_WAVEPACKET13_H
#define MOTE_LAZ_WAVEPACKET13_H

#include "io/laz/laz_integer.h"

/* How the offset goes on from the one before. */
enum { LAZ_WAVE_SAME, LAZ_WAVE_NEXT, LAZ_WAVE_NEAR, LAZ_WAVE_FAR, LAZ_WAVE_CASES };

typedef struct laz_wave_fields {
    uint64_t offset;
    uint32_t size_bytes;
    uint32_t place;        /* of the return in the wave: bits of a float, as the next ones */
    uint32_t direction[3]; /* x, y, z */
} laz_wave_fields;

typedef struct laz_wavepacket13 {
    uint8_t index;
    laz_wave_fields last;
    uint32_t offset_case, step; /* of the record before; the last step that was coded */
    LAZ_MODEL(indices, 256);
    _Alignas(32) laz_model cases[LAZ_WAVE_CASES][LAZ_MODEL_WORDS(LAZ_WAVE_CASES)];
    laz_integer steps, sizes, places, directions;
} laz_wavepacket13;

static inline laz_wave_fields laz_wave_get(const uint8_t *record) {
    laz_wave_fields f;
    memcpy(&f.offset, record + 1, 8);
    memcpy(&f.size_bytes, record + 9, 4);
    memcpy(&f.place, record + 13, 4);
    memcpy(f.direction, record + 17, 12);
    return f;
}

static inline void laz_wave_put(const laz_wavepacket13 *v, uint8_t *record) {
    record[0] = v->index;
    memcpy(record + 1, &v->last.offset, 8);
    memcpy(record + 9, &v->last.size_bytes, 4);
    memcpy(record + 13, &v->last.place, 4);
    memcpy(record + 17, v->last.direction, 12);
}

static inline void laz_wave_start(laz_wavepacket13 *v, const uint8_t *record) {
    v->index = record[0];
    v->last = laz_wave_get(record);
    v->offset_case = v->step = 0;
    mote_laz_model_start(v->indices, 256, 256);
    for (uint32_t i = 0; i < LAZ_WAVE_CASES; i++) mote_laz_model_start(v->cases[i], LAZ_WAVE_CASES, LAZ_WAVE_CASES);
    laz_integer_start(&v->steps, 32, 1);
    laz_integer_start(&v->sizes, 32, 1);
    laz_integer_start(&v->places, 32, 1);
    laz_integer_start(&v->directions, 32, 3);
}

static inline void laz_wave_read_offset(laz_reader *r, laz_wavepacket13 *v) {
    uint32_t bits;
    v->offset_case = laz_read_symbol(r, v->cases[v->offset_case], LAZ_WAVE_CASES);
    if (v->offset_case == LAZ_WAVE_NEXT) v->last.offset += v->last.size_bytes;
    if (v->offset_case == LAZ_WAVE_NEAR) {
        v->step = laz_read_integer(r, &v->steps, 32, 0, v->step, &bits);
        v->last.offset += (uint64_t)(int64_t)(int32_t)v->step;
    }
    if (v->offset_case == LAZ_WAVE_FAR) v->last.offset = laz_read_u64(r);
}

static inline void laz_wave_read(laz_reader *r, laz_wavepacket13 *v) {
    uint32_t bits;
    v->index = (uint8_t)laz_read_symbol(r, v->indices, 256);
    laz_wave_read_offset(r, v);
    v->last.size_bytes = laz_read_integer(r, &v->sizes, 32, 0, v->last.size_bytes, &bits);
    v->last.place = laz_read_integer(r, &v->places, 32, 0, v->last.place, &bits);
    for (uint32_t i = 0; i < 3; i++) {
        v->last.direction[i] = laz_read_integer(r, &v->directions, 32, i, v->last.direction[i], &bits);
    }
}

static inline uint32_t laz_wave_case(uint64_t moved, uint32_t size_bytes) {
    const uint32_t step = (uint32_t)moved;
    if (moved != (uint64_t)(int64_t)(int32_t)step) return LAZ_WAVE_FAR;
    return step == 0 ? LAZ_WAVE_SAME : moved == size_bytes ? LAZ_WAVE_NEXT : LAZ_WAVE_NEAR;
}

static inline void laz_wave_write_offset(laz_writer *w, laz_wavepacket13 *v, uint64_t offset) {
    const uint64_t moved = offset - v->last.offset;
    const uint32_t offset_case = laz_wave_case(moved, v->last.size_bytes);
    laz_write_symbol(w, v->cases[v->offset_case], LAZ_WAVE_CASES, offset_case);
    v->offset_case = offset_case;
    if (offset_case == LAZ_WAVE_NEAR) {
        laz_write_integer(w, &v->steps, 32, 0, v->step, (uint32_t)moved);
        v->step = (uint32_t)moved;
    }
    if (offset_case == LAZ_WAVE_FAR) laz_write_u64(w, offset);
}

static inline void laz_wave_write(laz_writer *w, laz_wavepacket13 *v, const uint8_t *record) {
    const laz_wave_fields f = laz_wave_get(record);
    laz_write_symbol(w, v->indices, 256, record[0]);
    laz_wave_write_offset(w, v, f.offset);
    laz_write_integer(w, &v->sizes, 32, 0, v->last.size_bytes, f.size_bytes);
    laz_write_integer(w, &v->places, 32, 0, v->last.place, f.place);
    for (uint32_t i = 0; i < 3; i++) laz_write_integer(w, &v->directions, 32, i, v->last.direction[i], f.direction[i]);
    v->last = f;
}

#endif
