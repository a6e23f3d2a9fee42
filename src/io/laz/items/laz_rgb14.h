/* RGB14 and RGBNIR14: a symbol says which bytes changed and whether the colour is grey; then the bytes' differences,
   those of green and blue beyond what red did. Near infrared has a layer of its own.
   Source: M. Isenburg, LASzip, 2013, and LASzip 3. */
#ifndef MOTE_LAZ_RGB14_H
#define MOTE_LAZ_RGB14_H

#include "io/laz/laz_layer.h"

typedef struct laz_rgb14 {
    laz_channels channels;
    struct {
        LAZ_MODEL(used, LAZ_RGB_USED);
        _Alignas(32) laz_model difference[LAZ_RGB_BYTES][LAZ_MODEL_WORDS(LAZ_COLOUR_SYMBOLS)];
        uint8_t last[LAZ_RGB_BYTES];
    } of[LAZ_CHANNELS];
} laz_rgb14;

typedef struct laz_nir14 {
    laz_channels channels;
    struct {
        LAZ_MODEL(used, LAZ_NIR_USED);
        _Alignas(32) laz_model difference[LAZ_NIR14_BYTES][LAZ_MODEL_WORDS(LAZ_COLOUR_SYMBOLS)];
        uint8_t last[LAZ_NIR14_BYTES];
    } of[LAZ_CHANNELS];
} laz_nir14;

static inline void laz_begin_rgb14(laz_rgb14 *m, uint32_t channel, const uint8_t *last) {
    mote_laz_model_start(m->of[channel].used, LAZ_RGB_USED, LAZ_RGB_USED);
    for (uint32_t b = 0; b < LAZ_RGB_BYTES; b++) {
        mote_laz_model_start(m->of[channel].difference[b], LAZ_COLOUR_SYMBOLS, LAZ_COLOUR_SYMBOLS);
        m->of[channel].last[b] = last[b];
    }
}

static inline void laz_start_rgb14(void *models, uint32_t channel, const uint8_t *value) {
    laz_rgb14 *m = models;
    laz_channels_start(&m->channels, channel);
    laz_begin_rgb14(m, channel, value);
}

/* Enters the channel whose models point i uses; returns the last colour that it goes by. */
LAZ_INLINE uint8_t *laz_enter_rgb14(laz_rgb14 *m, const laz_points *points, uint32_t i) {
    uint32_t from;
    if (laz_channels_enter(&m->channels, points->model[i], &from)) {
        laz_begin_rgb14(m, points->model[i], m->of[from].last);
    }
    return m->of[points->value[i]].last;
}

LAZ_INLINE void laz_read_rgb14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    laz_rgb14 *m = models;
    uint8_t *last = laz_enter_rgb14(m, points, i);
    laz_model(*difference)[LAZ_MODEL_WORDS(LAZ_COLOUR_SYMBOLS)] = m->of[points->model[i]].difference;
    const uint32_t used = laz_read_symbol(r, m->of[points->model[i]].used, LAZ_RGB_USED);
    uint8_t now[LAZ_RGB_BYTES];
    memcpy(now, last, sizeof now);
    for (uint32_t b = 0; b < 2; b++) {
        if (used >> b & 1u) now[b] = (uint8_t)(last[b] + laz_read_symbol(r, difference[b], LAZ_COLOUR_SYMBOLS));
    }
    if (used & LAZ_RGB_COLOURED) {
        for (uint32_t half = 0; half < 2; half++) {
            const uint32_t green = 2 + half, blue = 4 + half;
            if (used >> green & 1u) {
                const uint32_t more = laz_read_symbol(r, difference[green], LAZ_COLOUR_SYMBOLS);
                now[green] = (uint8_t)(laz_green(last, now, half) + more);
            }
            if (used >> blue & 1u) {
                const uint32_t more = laz_read_symbol(r, difference[blue], LAZ_COLOUR_SYMBOLS);
                now[blue] = (uint8_t)(laz_blue(last, now, half) + more);
            }
        }
    } else {
        memcpy(now + 2, now, 2);
        memcpy(now + 4, now, 2);
    }
    memcpy(last, now, sizeof now);
    memcpy(value, now, sizeof now);
}

static inline uint32_t laz_rgb14_used(const uint8_t *last, const uint8_t *value) {
    uint32_t used = memcmp(value, value + 2, 2) != 0 || memcmp(value, value + 4, 2) != 0 ? LAZ_RGB_COLOURED : 0;
    for (uint32_t b = 0; b < LAZ_RGB_BYTES; b++) used |= (uint32_t)(value[b] != last[b]) << b;
    return used;
}

LAZ_INLINE void laz_write_difference(laz_writer *w, laz_model *m, uint32_t predicted, uint32_t value) {
    laz_write_symbol(w, m, LAZ_COLOUR_SYMBOLS, (value - predicted) & 255u);
}

LAZ_INLINE void laz_write_rgb14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                const uint8_t *value) {
    laz_rgb14 *m = models;
    uint8_t *last = laz_enter_rgb14(m, points, i);
    laz_model(*difference)[LAZ_MODEL_WORDS(LAZ_COLOUR_SYMBOLS)] = m->of[points->model[i]].difference;
    const uint32_t used = laz_rgb14_used(last, value);
    laz_write_symbol(w, m->of[points->model[i]].used, LAZ_RGB_USED, used);
    for (uint32_t b = 0; b < 2; b++) {
        if (used >> b & 1u) laz_write_difference(w, difference[b], last[b], value[b]);
    }
    for (uint32_t half = 0; half < 2 && used & LAZ_RGB_COLOURED; half++) {
        const uint32_t green = 2 + half, blue = 4 + half;
        if (used >> green & 1u) {
            laz_write_difference(w, difference[green], laz_green(last, value, half), value[green]);
        }
        if (used >> blue & 1u) { laz_write_difference(w, difference[blue], laz_blue(last, value, half), value[blue]); }
    }
    memcpy(last, value, LAZ_RGB_BYTES);
}

/* ---- Near infrared */
static inline void laz_begin_nir14(laz_nir14 *m, uint32_t channel, const uint8_t *last) {
    mote_laz_model_start(m->of[channel].used, LAZ_NIR_USED, LAZ_NIR_USED);
    for (uint32_t b = 0; b < LAZ_NIR14_BYTES; b++) {
        mote_laz_model_start(m->of[channel].difference[b], LAZ_COLOUR_SYMBOLS, LAZ_COLOUR_SYMBOLS);
        m->of[channel].last[b] = last[b];
    }
}

static inline void laz_start_nir14(void *models, uint32_t channel, const uint8_t *value) {
    laz_nir14 *m = models;
    laz_channels_start(&m->channels, channel);
    laz_begin_nir14(m, channel, value);
}

LAZ_INLINE uint8_t *laz_enter_nir14(laz_nir14 *m, const laz_points *points, uint32_t i) {
    uint32_t from;
    if (laz_channels_enter(&m->channels, points->model[i], &from)) {
        laz_begin_nir14(m, points->model[i], m->of[from].last);
    }
    return m->of[points->value[i]].last;
}

LAZ_INLINE void laz_read_nir14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    laz_nir14 *m = models;
    uint8_t *last = laz_enter_nir14(m, points, i);
    const uint32_t used = laz_read_symbol(r, m->of[points->model[i]].used, LAZ_NIR_USED);
    for (uint32_t b = 0; b < LAZ_NIR14_BYTES; b++) {
        laz_model *difference = m->of[points->model[i]].difference[b];
        if (used >> b & 1u) last[b] = (uint8_t)(last[b] + laz_read_symbol(r, difference, LAZ_COLOUR_SYMBOLS));
        value[b] = last[b];
    }
}

LAZ_INLINE void laz_write_nir14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                const uint8_t *value) {
    laz_nir14 *m = models;
    uint8_t *last = laz_enter_nir14(m, points, i);
    const uint32_t used = (uint32_t)(value[0] != last[0]) | (uint32_t)(value[1] != last[1]) << 1;
    laz_write_symbol(w, m->of[points->model[i]].used, LAZ_NIR_USED, used);
    for (uint32_t b = 0; b < LAZ_NIR14_BYTES; b++) {
        if (used >> b & 1u) laz_write_difference(w, m->of[points->model[i]].difference[b], last[b], value[b]);
        last[b] = value[b];
    }
}

#endif
