/* The item RGB12: one symbol says which of the six bytes changed; these are predicted from how the channels before
   changed. Source: M. Isenburg, LASzip, 2013. Version 1 predicts from the same byte only; it is only read. */
#ifndef MOTE_LAZ_RGB12_H
#define MOTE_LAZ_RGB12_H

#include "io/laz/items/laz_rules.h"
#include "io/laz/laz_integer.h"

/* Bytes by their place in the record: low and high byte of red, green, blue. */
typedef struct laz_rgb12 {
    uint8_t last[LAZ_RGB_BYTES];
    LAZ_MODEL(changed, 128);
    _Alignas(32) laz_model bytes[LAZ_RGB_BYTES][LAZ_MODEL_WORDS(256)];
    laz_integer byte; /* version 1 */
} laz_rgb12;

static inline void laz_rgb_start(laz_rgb12 *c, uint32_t version, const uint8_t *record) {
    memcpy(c->last, record, sizeof c->last);
    mote_laz_model_start(c->changed, version == 1 ? 64 : 128, 128);
    if (version == 1) {
        laz_integer_start(&c->byte, 8, LAZ_RGB_BYTES);
        return;
    }
    for (uint32_t i = 0; i < LAZ_RGB_BYTES; i++) mote_laz_model_start(c->bytes[i], 256, 256);
}

static inline void laz_rgb_read_byte(laz_reader *r, laz_rgb12 *c, uint8_t *now, uint32_t i, uint32_t expected) {
    now[i] = (uint8_t)(expected + laz_read_symbol(r, c->bytes[i], 256));
}

static inline void laz_rgb_read_v2(laz_reader *r, laz_rgb12 *c) {
    const uint32_t changed = laz_read_likely(r, c->changed, 128);
    uint8_t now[LAZ_RGB_BYTES];
    memcpy(now, c->last, sizeof now);
    if (changed & 1u << 0) laz_rgb_read_byte(r, c, now, 0, c->last[0]);
    if (changed & 1u << 1) laz_rgb_read_byte(r, c, now, 1, c->last[1]);
    if (changed & LAZ_RGB_COLOURED) {
        if (changed & 1u << 2) laz_rgb_read_byte(r, c, now, 2, laz_green(c->last, now, 0));
        if (changed & 1u << 4) laz_rgb_read_byte(r, c, now, 4, laz_blue(c->last, now, 0));
        if (changed & 1u << 3) laz_rgb_read_byte(r, c, now, 3, laz_green(c->last, now, 1));
        if (changed & 1u << 5) laz_rgb_read_byte(r, c, now, 5, laz_blue(c->last, now, 1));
    } else {
        memcpy(now + 2, now, 2);
        memcpy(now + 4, now, 2);
    }
    memcpy(c->last, now, sizeof now);
}

static inline void laz_rgb_read_v1(laz_reader *r, laz_rgb12 *c) {
    const uint32_t changed = laz_read_symbol_of(r, c->changed, 64, 128);
    uint32_t bits;
    for (uint32_t i = 0; i < LAZ_RGB_BYTES; i++) {
        if (changed & 1u << i) c->last[i] = (uint8_t)laz_read_integer(r, &c->byte, 8, i, c->last[i], &bits);
    }
}

static inline void laz_rgb_put(const laz_rgb12 *c, uint8_t *record) { memcpy(record, c->last, sizeof c->last); }

/* ---- Writing, version 2 */
static inline uint32_t laz_rgb_changes(const uint8_t *last, const uint8_t *now) {
    uint32_t changed = 0;
    for (uint32_t i = 0; i < LAZ_RGB_BYTES; i++) changed |= (last[i] != now[i] ? 1u : 0u) << i;
    return changed | (memcmp(now, now + 2, 4) != 0 ? LAZ_RGB_COLOURED : 0u);
}

static inline void laz_rgb_write_byte(laz_writer *w, laz_rgb12 *c, const uint8_t *now, uint32_t i, uint32_t expected) {
    laz_write_symbol(w, c->bytes[i], 256, (uint8_t)(now[i] - expected));
}

static inline void laz_rgb_write(laz_writer *w, laz_rgb12 *c, const uint8_t *now) {
    const uint32_t changed = laz_rgb_changes(c->last, now);
    laz_write_symbol(w, c->changed, 128, changed);
    if (changed & 1u << 0) laz_rgb_write_byte(w, c, now, 0, c->last[0]);
    if (changed & 1u << 1) laz_rgb_write_byte(w, c, now, 1, c->last[1]);
    if (changed & LAZ_RGB_COLOURED) {
        if (changed & 1u << 2) laz_rgb_write_byte(w, c, now, 2, laz_green(c->last, now, 0));
        if (changed & 1u << 4) laz_rgb_write_byte(w, c, now, 4, laz_blue(c->last, now, 0));
        if (changed & 1u << 3) laz_rgb_write_byte(w, c, now, 3, laz_green(c->last, now, 1));
        if (changed & 1u << 5) laz_rgb_write_byte(w, c, now, 5, laz_blue(c->last, now, 1));
    }
    memcpy(c->last, now, sizeof c->last);
}

#endif
