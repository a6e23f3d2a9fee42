/* BYTE14: extra bytes. Each has a layer of its own: the difference from the last one.
   Source: M. Isenburg, LASzip, 2013, and LASzip 3. */
#ifndef MOTE_LAZ_BYTE14_H
#define MOTE_LAZ_BYTE14_H

#include "io/laz/laz_layer.h"

typedef struct laz_byte14 {
    _Alignas(64) laz_model difference[LAZ_CHANNELS][LAZ_MODEL_WORDS(LAZ_BYTE14_SYMBOLS)];
    laz_channels channels;
    uint8_t last[LAZ_CHANNELS];
} laz_byte14;

static inline void laz_start_byte14(void *models, uint32_t channel, const uint8_t *value) {
    laz_byte14 *m = models;
    laz_channels_start(&m->channels, channel);
    mote_laz_model_start(m->difference[channel], LAZ_BYTE14_SYMBOLS, LAZ_BYTE14_SYMBOLS);
    m->last[channel] = *value;
}

LAZ_INLINE void laz_enter_byte14(laz_byte14 *m, uint32_t channel) {
    uint32_t from;
    if (laz_channels_enter(&m->channels, channel, &from)) {
        mote_laz_model_start(m->difference[channel], LAZ_BYTE14_SYMBOLS, LAZ_BYTE14_SYMBOLS);
        m->last[channel] = m->last[from];
    }
}

LAZ_INLINE void laz_read_byte14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    laz_byte14 *m = models;
    laz_enter_byte14(m, points->model[i]);
    uint8_t *last = &m->last[points->value[i]];
    *value = *last = (uint8_t)(*last + laz_read_symbol(r, m->difference[points->model[i]], LAZ_BYTE14_SYMBOLS));
}

LAZ_INLINE void laz_write_byte14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                 const uint8_t *value) {
    laz_byte14 *m = models;
    laz_enter_byte14(m, points->model[i]);
    uint8_t *last = &m->last[points->value[i]];
    laz_write_symbol(w, m->difference[points->model[i]], LAZ_BYTE14_SYMBOLS, (uint32_t)(*value - *last) & 255u);
    *last = *value;
}

#endif
