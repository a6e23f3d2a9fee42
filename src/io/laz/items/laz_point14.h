/* POINT14: the 30 bytes that all records of formats 6 to 10 begin with. Nine layers; this is the first one (scanner
   channel, returns, x, y); the others are in laz_fields14.h and laz_gpstime14.h.
   Source: M. Isenburg, LASzip, 2013, and LASzip 3. */
#ifndef MOTE_LAZ_POINT14_H
#define MOTE_LAZ_POINT14_H

#include "io/laz/laz_layer.h"
#include "io/laz/laz_median.h"

typedef struct laz_xy14_channel {
    LAZ_MODEL(channel, LAZ_CHANNELS - 1);
    LAZ_MODEL(return_step, LAZ_RETURN_STEPS);
    _Alignas(32) laz_model changed[LAZ_CHANGED_CONTEXTS][LAZ_MODEL_WORDS(LAZ_CHANGED_SYMBOLS)];
    _Alignas(32) laz_model count[LAZ_RETURNS][LAZ_MODEL_WORDS(LAZ_RETURNS)];
    _Alignas(32) laz_model number[LAZ_RETURNS][LAZ_MODEL_WORDS(LAZ_RETURNS)];
    laz_integer dx, dy;
    laz_median x_steps[LAZ_MEDIANS], y_steps[LAZ_MEDIANS];
    uint32_t x, y;
    uint32_t return_number, return_count;
} laz_xy14_channel;

typedef struct laz_xy14 {
    laz_channels channels;
    uint32_t gps_changed; /* at the last point: 0 or 1 */
    laz_points points;    /* of the block */
    laz_xy14_channel of[LAZ_CHANNELS];
    uint8_t last[LAZ_CHANNELS][LAZ_POINT14_BYTES]; /* records, for writing only */
} laz_xy14;

static inline void laz_start_xy14_models(laz_xy14_channel *c) {
    for (uint32_t i = 0; i < LAZ_CHANGED_CONTEXTS; i++) {
        mote_laz_model_start(c->changed[i], LAZ_CHANGED_SYMBOLS, LAZ_CHANGED_SYMBOLS);
    }
    mote_laz_model_start(c->channel, LAZ_CHANNELS - 1, LAZ_CHANNELS - 1);
    mote_laz_model_start(c->return_step, LAZ_RETURN_STEPS, LAZ_RETURN_STEPS);
    for (uint32_t i = 0; i < LAZ_RETURNS; i++) {
        mote_laz_model_start(c->count[i], LAZ_RETURNS, LAZ_RETURNS);
        mote_laz_model_start(c->number[i], LAZ_RETURNS, LAZ_RETURNS);
    }
    laz_integer_start(&c->dx, 32, LAZ_X_CONTEXTS);
    laz_integer_start(&c->dy, 32, LAZ_Y_CONTEXTS);
    for (uint32_t i = 0; i < LAZ_MEDIANS; i++) {
        laz_median_start(&c->x_steps[i]);
        laz_median_start(&c->y_steps[i]);
    }
}

static inline uint32_t laz_channel_of(const uint8_t *record) {
    return (record[LAZ_AT_FLAGS] & LAZ_CHANNEL_MASK) >> LAZ_CHANNEL_SHIFT;
}

static inline void laz_start_xy14(void *models, uint32_t channel, const uint8_t *record) {
    laz_xy14 *m = models;
    laz_xy14_channel *c = &m->of[channel];
    laz_channels_start(&m->channels, channel);
    m->gps_changed = 0;
    laz_start_xy14_models(c);
    c->x = laz_get_u32(record + LAZ_AT_X);
    c->y = laz_get_u32(record + LAZ_AT_Y);
    c->return_number = record[LAZ_AT_RETURNS] & 15u;
    c->return_count = record[LAZ_AT_RETURNS] >> 4;
    memcpy(m->last[channel], record, LAZ_POINT14_BYTES);
}

static inline laz_xy14_channel *laz_enter_xy14(laz_xy14 *m, uint32_t channel) {
    uint32_t from;
    laz_xy14_channel *c = &m->of[channel];
    if (laz_channels_enter(&m->channels, channel, &from)) {
        laz_start_xy14_models(c);
        c->x = m->of[from].x;
        c->y = m->of[from].y;
        c->return_number = m->of[from].return_number;
        c->return_count = m->of[from].return_count;
    }
    return c;
}

/* Leaves in points what the other layers need of point i. single: the only return of its pulse; kx, ky: the widths of
   its steps. */
LAZ_INLINE void laz_describe(laz_points *points, uint32_t i, uint32_t channel, uint32_t changed, uint32_t number,
                             uint32_t count, uint32_t kx, uint32_t ky) {
    points->channel[i] = (uint8_t)channel;
    points->changed[i] = (uint8_t)changed;
    points->place[i] = (uint8_t)laz_place_of(number, count);
    points->level[i] = (uint8_t)laz_level_of(number, count);
    points->z_context[i] = (uint8_t)laz_z_context(count, kx, ky);
}

LAZ_INLINE uint32_t laz_changed_context_of(const laz_xy14 *m, const laz_xy14_channel *c) {
    return laz_changed_context(c->return_number, c->return_count, m->gps_changed);
}

LAZ_INLINE void laz_read_returns(laz_xy14_channel *c, laz_reader *r, uint32_t changed) {
    const uint32_t last = c->return_number;
    if (changed & LAZ_CHANGED_RETURNS) c->return_count = laz_read_symbol(r, c->count[c->return_count], LAZ_RETURNS);
    if ((changed & LAZ_CHANGED_RETURN) != LAZ_CHANGED_RETURN) {
        c->return_number = laz_next_return(last, changed);
    } else if (changed & LAZ_CHANGED_GPS) {
        c->return_number = laz_read_symbol(r, c->number[last], LAZ_RETURNS);
    } else {
        c->return_number = (last + laz_read_symbol(r, c->return_step, LAZ_RETURN_STEPS) + 2) & 15u;
    }
}

/* A point on its way through the first layer, which a lane reads in steps: its kind, x, y. */
typedef struct laz_xy14_point {
    laz_xy14_channel *of;
    uint32_t changed, number, count;
    laz_median *x_steps, *y_steps;
    uint32_t kx, ky;
} laz_xy14_point;

LAZ_INLINE void laz_read_kind14(laz_xy14 *m, laz_reader *r, laz_xy14_point *p) {
    laz_xy14_channel *c = &m->of[m->channels.current];
    p->changed = laz_read_likely(r, c->changed[laz_changed_context_of(m, c)], LAZ_CHANGED_SYMBOLS);
    if (__builtin_expect(p->changed & LAZ_CHANGED_CHANNEL, 0)) {
        const uint32_t step = laz_read_symbol(r, c->channel, LAZ_CHANNELS - 1) + 1;
        c = laz_enter_xy14(m, (m->channels.current + step) % LAZ_CHANNELS);
    }
    m->gps_changed = (p->changed & LAZ_CHANGED_GPS) != 0;
    laz_read_returns(c, r, p->changed);
    p->of = c;
    p->number = c->return_number;
    p->count = c->return_count;
    const uint32_t median = laz_return_kind[p->count][p->number] * 2u | m->gps_changed;
    p->x_steps = &c->x_steps[median];
    p->y_steps = &c->y_steps[median];
}

LAZ_INLINE void laz_read_x14(laz_reader *r, laz_xy14_point *p) {
    const uint32_t dx = laz_read_integer(r, &p->of->dx, 32, p->count == 1, laz_median_get(p->x_steps), &p->kx);
    laz_median_add(p->x_steps, dx);
    p->of->x += dx;
}

LAZ_INLINE void laz_read_y14(laz_reader *r, laz_xy14_point *p) {
    const uint32_t context = laz_y_context(p->count, p->kx);
    const uint32_t dy = laz_read_integer(r, &p->of->dy, 32, context, laz_median_get(p->y_steps), &p->ky);
    laz_median_add(p->y_steps, dy);
    p->of->y += dy;
}

/* Puts the fields of point i into its record, and what it is where the other layers look. The flags around the channel
   are zero. */
LAZ_INLINE void laz_put_xy14(laz_xy14 *m, const laz_xy14_point *p, uint32_t i, uint8_t *record) {
    laz_put_u32(record + LAZ_AT_X, p->of->x);
    laz_put_u32(record + LAZ_AT_Y, p->of->y);
    record[LAZ_AT_RETURNS] = (uint8_t)(p->number | p->count << 4);
    record[LAZ_AT_FLAGS] = (uint8_t)(m->channels.current << LAZ_CHANNEL_SHIFT);
    laz_describe(&m->points, i, m->channels.current, p->changed, p->number, p->count, p->kx, p->ky);
}

/* What of the record changed since last, the record before it in its channel. */
static inline uint32_t laz_changes(const uint8_t *last, const uint8_t *record) {
    const uint32_t step = (record[LAZ_AT_RETURNS] - last[LAZ_AT_RETURNS]) & 15u;
    const uint32_t number = step == 15 ? 2 : (step < 2 ? step : 3);
    const bool count = record[LAZ_AT_RETURNS] >> 4 != last[LAZ_AT_RETURNS] >> 4;
    const bool angle = laz_get_u16(record + LAZ_AT_SCAN_ANGLE) != laz_get_u16(last + LAZ_AT_SCAN_ANGLE);
    const bool gps = laz_get_u64(record + LAZ_AT_GPS_TIME) != laz_get_u64(last + LAZ_AT_GPS_TIME);
    const bool source = laz_get_u16(record + LAZ_AT_POINT_SOURCE) != laz_get_u16(last + LAZ_AT_POINT_SOURCE);
    return number | (count ? LAZ_CHANGED_RETURNS : 0u) | (angle ? LAZ_CHANGED_ANGLE : 0u) |
           (gps ? LAZ_CHANGED_GPS : 0u) | (source ? LAZ_CHANGED_SOURCE : 0u);
}

LAZ_INLINE void laz_write_returns(laz_xy14_channel *c, laz_writer *w, uint32_t changed, uint32_t returns) {
    const uint32_t last = c->return_number, number = returns & 15u, count = returns >> 4;
    if (changed & LAZ_CHANGED_RETURNS) laz_write_symbol(w, c->count[c->return_count], LAZ_RETURNS, count);
    if ((changed & LAZ_CHANGED_RETURN) == LAZ_CHANGED_RETURN) {
        if (changed & LAZ_CHANGED_GPS) {
            laz_write_symbol(w, c->number[last], LAZ_RETURNS, number);
        } else {
            laz_write_symbol(w, c->return_step, LAZ_RETURN_STEPS, ((number - last) & 15u) - 2);
        }
    }
    c->return_number = number;
    c->return_count = count;
}

/* Writes point i and says what it is. */
LAZ_INLINE void laz_write_xy14(void *models, laz_writer *w, const laz_points *points, uint32_t i,
                               const uint8_t *record) {
    (void)points;
    laz_xy14 *m = models;
    const uint32_t channel = laz_channel_of(record), from = m->channels.current;
    laz_xy14_channel *c = &m->of[from];
    if (!(m->channels.met >> channel & 1u)) memcpy(m->last[channel], m->last[from], LAZ_POINT14_BYTES);
    const uint32_t changed = laz_changes(m->last[channel], record) | (channel != from ? LAZ_CHANGED_CHANNEL : 0u);
    laz_write_symbol(w, c->changed[laz_changed_context_of(m, c)], LAZ_CHANGED_SYMBOLS, changed);
    if (channel != from) {
        laz_write_symbol(w, c->channel, LAZ_CHANNELS - 1, (channel - from + LAZ_CHANNELS - 1) % LAZ_CHANNELS);
        c = laz_enter_xy14(m, channel);
    }
    m->gps_changed = (changed & LAZ_CHANGED_GPS) != 0;
    laz_write_returns(c, w, changed, record[LAZ_AT_RETURNS]);
    const uint32_t number = c->return_number, count = c->return_count;
    const uint32_t median = laz_return_kind[count][number] * 2u | m->gps_changed;
    laz_median *x_steps = &c->x_steps[median], *y_steps = &c->y_steps[median];
    const uint32_t dx = laz_get_u32(record + LAZ_AT_X) - c->x, dy = laz_get_u32(record + LAZ_AT_Y) - c->y;
    const uint32_t kx = laz_write_integer(w, &c->dx, 32, count == 1, laz_median_get(x_steps), dx);
    const uint32_t ky = laz_write_integer(w, &c->dy, 32, laz_y_context(count, kx), laz_median_get(y_steps), dy);
    laz_median_add(x_steps, dx);
    laz_median_add(y_steps, dy);
    c->x += dx;
    c->y += dy;
    memcpy(m->last[channel], record, LAZ_POINT14_BYTES);
    laz_describe(&m->points, i, channel, changed, number, count, kx, ky);
}

#endif
