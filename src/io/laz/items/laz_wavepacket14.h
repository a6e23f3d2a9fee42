/* WAVEPACKET14: a series of wave packets for each scanner channel. */
#ifndef MOTE_LAZ_WAVEPACKET14_H
#define MOTE_LAZ_WAVEPACKET14_H

#include "io/laz/items/laz_wavepacket.h"
#include "io/laz/laz_layer.h"

typedef struct laz_wave14 {
    laz_channels channels;
    laz_wave of[LAZ_CHANNELS];
} laz_wave14;

static inline void laz_start_wave14(void *models, uint32_t channel, const uint8_t *value) {
    laz_wave14 *m = models;
    laz_channels_start(&m->channels, channel);
    laz_start_wave(&m->of[channel], value);
}

static inline laz_wave *laz_enter_wave14(laz_wave14 *m, const laz_points *points, uint32_t i) {
    uint32_t from;
    laz_wave *c = &m->of[points->model[i]];
    if (laz_channels_enter(&m->channels, points->model[i], &from)) laz_start_wave(c, m->of[from].last);
    return c;
}

static inline void laz_read_wave14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    laz_wave14 *m = models;
    laz_wave *c = laz_enter_wave14(m, points, i);
    uint8_t *last = m->of[points->value[i]].last;
    laz_read_wave(c, r, last);
    memcpy(value, last, LAZ_WAVEPACKET_BYTES);
}

static inline void laz_write_wave14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                    const uint8_t *value) {
    laz_wave14 *m = models;
    laz_wave *c = laz_enter_wave14(m, points, i);
    laz_write_wave(c, w, m->of[points->value[i]].last, value);
}

#endif
