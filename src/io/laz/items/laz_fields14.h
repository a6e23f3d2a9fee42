/* POINT14: the layers of a few lines each: z, classification, flags, intensity, scan angle, user data, point source.
   Each has its models by scanner channel, a start from the first record of a chunk, and a point read and written.
   Source: M. Isenburg, LASzip, 2013, and LASzip 3. */
#ifndef MOTE_LAZ_FIELDS14_H
#define MOTE_LAZ_FIELDS14_H

#include "io/laz/laz_layer.h"

/* ---- z: from the last z of as many returns below */
typedef struct laz_z14 {
    laz_channels channels;
    uint32_t z; /* of the last point */
    struct {
        laz_integer z;
        uint32_t last[LAZ_LEVELS];
    } of[LAZ_CHANNELS];
} laz_z14;

static inline void laz_begin_z14(laz_z14 *m, uint32_t channel) {
    laz_integer_start(&m->of[channel].z, 32, LAZ_Z_CONTEXTS);
    for (uint32_t i = 0; i < LAZ_LEVELS; i++) m->of[channel].last[i] = m->z;
}

static inline void laz_start_z14(void *models, uint32_t channel, const uint8_t *value) {
    laz_z14 *m = models;
    laz_channels_start(&m->channels, channel);
    m->z = laz_get_u32(value);
    laz_begin_z14(m, channel);
}

/* The last z of the level of point i. */
LAZ_INLINE uint32_t *laz_last_z14(laz_z14 *m, const laz_points *points, uint32_t i) {
    uint32_t from;
    if (laz_channels_enter(&m->channels, points->channel[i], &from)) laz_begin_z14(m, points->channel[i]);
    return &m->of[points->channel[i]].last[points->level[i]];
}

LAZ_INLINE void laz_read_z14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    laz_z14 *m = models;
    uint32_t *last = laz_last_z14(m, points, i), k;
    m->z = *last = laz_read_integer(r, &m->of[points->channel[i]].z, 32, points->z_context[i], *last, &k);
    laz_put_u32(value, *last);
}

LAZ_INLINE void laz_write_z14(void *models, laz_writer *w, const laz_points *points, uint32_t i, const uint8_t *value) {
    laz_z14 *m = models;
    uint32_t *last = laz_last_z14(m, points, i);
    const uint32_t z = laz_get_u32(value);
    laz_write_integer(w, &m->of[points->channel[i]].z, 32, points->z_context[i], *last, z);
    m->z = *last = z;
}

/* ---- Classification, flags and user data: a symbol whose model is chosen by the last one */
typedef struct laz_symbols14 {
    laz_channels channels;
    struct {
        _Alignas(32) laz_model models[LAZ_TABLE_MODELS][LAZ_MODEL_WORDS(LAZ_BYTE_SYMBOLS)];
        uint64_t used; /* models that are started */
        uint32_t last;
    } of[LAZ_CHANNELS];
} laz_symbols14;

static inline void laz_start_symbols14(laz_symbols14 *m, uint32_t channel, uint32_t value) {
    laz_channels_start(&m->channels, channel);
    m->of[channel].used = 0;
    m->of[channel].last = value;
}

LAZ_INLINE void laz_enter_symbols14(laz_symbols14 *m, uint32_t channel) {
    uint32_t from;
    if (laz_channels_enter(&m->channels, channel, &from)) {
        m->of[channel].used = 0;
        m->of[channel].last = m->of[from].last;
    }
}

LAZ_INLINE uint32_t laz_read_symbol14(laz_symbols14 *m, laz_reader *r, uint32_t channel, uint32_t model, uint32_t n) {
    laz_model *symbols = laz_table_model(m->of[channel].models[0], &m->of[channel].used, model, n);
    return m->of[channel].last = laz_read_symbol(r, symbols, n);
}

LAZ_INLINE void laz_write_symbol14(laz_symbols14 *m, laz_writer *w, uint32_t channel, uint32_t model, uint32_t n,
                                   uint32_t symbol) {
    laz_write_symbol(w, laz_table_model(m->of[channel].models[0], &m->of[channel].used, model, n), n, symbol);
    m->of[channel].last = symbol;
}

static inline void laz_start_class14(void *models, uint32_t channel, const uint8_t *value) {
    laz_start_symbols14(models, channel, *value);
}

LAZ_INLINE uint32_t laz_class14_model(laz_symbols14 *m, const laz_points *points, uint32_t i) {
    laz_enter_symbols14(m, points->channel[i]);
    return laz_class14_context(m->of[points->channel[i]].last, points->place[i]);
}

LAZ_INLINE void laz_read_class14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    const uint32_t model = laz_class14_model(models, points, i);
    *value = (uint8_t)laz_read_symbol14(models, r, points->channel[i], model, LAZ_BYTE_SYMBOLS);
}

LAZ_INLINE void laz_write_class14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                  const uint8_t *value) {
    const uint32_t model = laz_class14_model(models, points, i);
    laz_write_symbol14(models, w, points->channel[i], model, LAZ_BYTE_SYMBOLS, *value);
}

static inline void laz_start_flags14(void *models, uint32_t channel, const uint8_t *value) {
    laz_start_symbols14(models, channel, laz_pack_flags(*value));
}

/* The channel stands there already. */
LAZ_INLINE void laz_read_flags14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    laz_symbols14 *m = models;
    const uint32_t channel = points->channel[i];
    laz_enter_symbols14(m, channel);
    const uint32_t flags = laz_read_symbol14(m, r, channel, m->of[channel].last, LAZ_FLAG_SYMBOLS);
    *value = (uint8_t)(*value | laz_unpack_flags(flags));
}

LAZ_INLINE void laz_write_flags14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                  const uint8_t *value) {
    laz_symbols14 *m = models;
    const uint32_t channel = points->channel[i];
    laz_enter_symbols14(m, channel);
    laz_write_symbol14(m, w, channel, m->of[channel].last, LAZ_FLAG_SYMBOLS, laz_pack_flags(*value));
}

static inline void laz_start_user14(void *models, uint32_t channel, const uint8_t *value) {
    laz_start_symbols14(models, channel, *value);
}

LAZ_INLINE void laz_read_user14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    laz_symbols14 *m = models;
    const uint32_t channel = points->channel[i];
    laz_enter_symbols14(m, channel);
    *value = (uint8_t)laz_read_symbol14(m, r, channel, laz_user14_context(m->of[channel].last), LAZ_BYTE_SYMBOLS);
}

LAZ_INLINE void laz_write_user14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                 const uint8_t *value) {
    laz_symbols14 *m = models;
    const uint32_t channel = points->channel[i];
    laz_enter_symbols14(m, channel);
    laz_write_symbol14(m, w, channel, laz_user14_context(m->of[channel].last), LAZ_BYTE_SYMBOLS, *value);
}

/* ---- Intensity: from the last one of a return of the same kind */
typedef struct laz_intensity14 {
    laz_channels channels;
    uint32_t intensity; /* of the last point */
    struct {
        laz_integer intensity;
        uint32_t last[LAZ_INTENSITIES];
    } of[LAZ_CHANNELS];
} laz_intensity14;

static inline void laz_begin_intensity14(laz_intensity14 *m, uint32_t channel) {
    laz_integer_start(&m->of[channel].intensity, 16, LAZ_PLACES);
    for (uint32_t i = 0; i < LAZ_INTENSITIES; i++) m->of[channel].last[i] = m->intensity;
}

static inline void laz_start_intensity14(void *models, uint32_t channel, const uint8_t *value) {
    laz_intensity14 *m = models;
    laz_channels_start(&m->channels, channel);
    m->intensity = laz_get_u16(value);
    laz_begin_intensity14(m, channel);
}

LAZ_INLINE uint32_t *laz_last_intensity14(laz_intensity14 *m, const laz_points *points, uint32_t i) {
    uint32_t from;
    if (laz_channels_enter(&m->channels, points->channel[i], &from)) laz_begin_intensity14(m, points->channel[i]);
    const uint32_t gps = (points->changed[i] & LAZ_CHANGED_GPS) != 0;
    return &m->of[points->channel[i]].last[points->place[i] * 2u | gps];
}

LAZ_INLINE void laz_read_intensity14(void *models, laz_reader *r, const laz_points *points, uint32_t i,
                                     uint8_t *value) {
    laz_intensity14 *m = models;
    uint32_t *last = laz_last_intensity14(m, points, i), k;
    laz_integer *integer = &m->of[points->channel[i]].intensity;
    m->intensity = *last = laz_read_integer(r, integer, 16, points->place[i], *last, &k);
    laz_put_u16(value, *last);
}

LAZ_INLINE void laz_write_intensity14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                      const uint8_t *value) {
    laz_intensity14 *m = models;
    uint32_t *last = laz_last_intensity14(m, points, i);
    const uint32_t intensity = laz_get_u16(value);
    laz_write_integer(w, &m->of[points->channel[i]].intensity, 16, points->place[i], *last, intensity);
    m->intensity = *last = intensity;
}

/* ---- Scan angle and point source: coded only where the first layer says that they changed */
typedef struct laz_short14 {
    laz_channels channels;
    struct {
        laz_integer value;
        uint32_t last;
    } of[LAZ_CHANNELS];
} laz_short14;

static inline void laz_start_short14(void *models, uint32_t channel, const uint8_t *value) {
    laz_short14 *m = models;
    laz_channels_start(&m->channels, channel);
    laz_integer_start(&m->of[channel].value, 16, LAZ_ANGLE_CONTEXTS);
    m->of[channel].last = laz_get_u16(value);
}

LAZ_INLINE void laz_enter_short14(laz_short14 *m, uint32_t channel) {
    uint32_t from;
    if (laz_channels_enter(&m->channels, channel, &from)) {
        laz_integer_start(&m->of[channel].value, 16, LAZ_ANGLE_CONTEXTS);
        m->of[channel].last = m->of[from].last;
    }
}

LAZ_INLINE void laz_read_short14(laz_short14 *m, laz_reader *r, uint32_t channel, bool changed, uint32_t context,
                                 uint8_t *value) {
    uint32_t k;
    laz_enter_short14(m, channel);
    uint32_t *last = &m->of[channel].last;
    if (changed) *last = laz_read_integer(r, &m->of[channel].value, 16, context, *last, &k);
    laz_put_u16(value, *last);
}

LAZ_INLINE void laz_write_short14(laz_short14 *m, laz_writer *w, uint32_t channel, bool changed, uint32_t context,
                                  const uint8_t *value) {
    laz_enter_short14(m, channel);
    if (!changed) return;
    uint32_t *last = &m->of[channel].last;
    laz_write_integer(w, &m->of[channel].value, 16, context, *last, laz_get_u16(value));
    *last = laz_get_u16(value);
}

LAZ_INLINE void laz_read_angle14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    const uint32_t changed = points->changed[i];
    const uint32_t context = (changed & LAZ_CHANGED_GPS) != 0;
    laz_read_short14(models, r, points->channel[i], (changed & LAZ_CHANGED_ANGLE) != 0, context, value);
}

LAZ_INLINE void laz_write_angle14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                  const uint8_t *value) {
    const uint32_t changed = points->changed[i];
    const uint32_t context = (changed & LAZ_CHANGED_GPS) != 0;
    laz_write_short14(models, w, points->channel[i], (changed & LAZ_CHANGED_ANGLE) != 0, context, value);
}

LAZ_INLINE void laz_read_source14(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value) {
    laz_read_short14(models, r, points->channel[i], (points->changed[i] & LAZ_CHANGED_SOURCE) != 0, 0, value);
}

LAZ_INLINE void laz_write_source14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                                   const uint8_t *value) {
    laz_write_short14(models, w, points->channel[i], (points->changed[i] & LAZ_CHANGED_SOURCE) != 0, 0, value);
}

#endif
