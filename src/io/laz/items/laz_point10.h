/* The item POINT10: what every record of formats 0 to 5 begins with. Each coordinate is predicted from the points
   before that were the same return of a pulse; bytes seldom change, so one symbol says which ones did. Source: M.
   Isenburg, LASzip, 2013. Version 1 (2010) does with less context; it is only read. */
#ifndef MOTE_LAZ_POINT10_H
#define MOTE_LAZ_POINT10_H

#include "io/laz/items/laz_format10.h"
#include "io/laz/laz_integer.h"
#include "io/laz/laz_median.h"

#define LAZ_POINT10_BYTES 20u

/* The byte behind a byte of the point before: a model for each of these, started when it is first met. */
typedef struct laz_bytes_after {
    bool started[256];
    _Alignas(32) laz_model models[256][LAZ_MODEL_WORDS(256)];
} laz_bytes_after;

typedef struct laz_point10_fields {
    uint32_t x, y, z;
    uint16_t intensity;
    uint8_t returns; /* number, count, direction of the scan, edge of the flight line: 3, 3, 1, 1 bits */
    uint8_t classification, scan_angle, user_data;
    uint16_t point_source;
} laz_point10_fields;

typedef struct laz_point10 {
    laz_point10_fields last; /* the point before */
    laz_median medians[16][2];
    uint16_t intensities[16];
    uint32_t heights[8];
    uint32_t differences[2][3], oldest; /* version 1 */
    LAZ_MODEL(changed, 64);
    laz_bytes_after returns, classification, user_data;
    _Alignas(32) laz_model scan_angles[2][LAZ_MODEL_WORDS(256)];
    laz_integer scan_angle; /* version 1 */
    laz_integer x, y, z, intensity, point_source;
} laz_point10;

/* What the returns of a point choose. */
typedef struct laz_return {
    uint32_t kind;   /* 0..15, by number and count */
    uint32_t level;  /* 0..7, returns between this one and the last */
    uint32_t single; /* 1 if it is the only one, else 0 */
} laz_return;

static inline laz_return laz_return_of(uint8_t returns) {
    const uint32_t number = returns & 7u, count = returns >> 3 & 7u;
    const laz_return made = {laz_return10_kind[returns & 63u], count > number ? count - number : number - count,
                             count == 1};
    return made;
}

static inline laz_point10_fields laz_point10_get(const uint8_t *record) {
    laz_point10_fields f;
    memcpy(&f, record, sizeof f);
    return f;
}

static inline void laz_point10_put(const laz_point10_fields *f, uint8_t *record) { memcpy(record, f, sizeof *f); }

_Static_assert(sizeof(laz_point10_fields) == LAZ_POINT10_BYTES, "the fields lie as in the record");

static inline void laz_point10_start_v1(laz_point10 *p) {
    laz_integer_start(&p->x, 32, 1);
    laz_integer_start(&p->y, 32, 20);
    laz_integer_start(&p->z, 32, 20);
    laz_integer_start(&p->intensity, 16, 1);
    laz_integer_start(&p->scan_angle, 8, 2);
    memset(p->differences, 0, sizeof p->differences);
    p->oldest = 0;
}

static inline void laz_point10_start_v2(laz_point10 *p) {
    laz_integer_start(&p->x, 32, 2);
    laz_integer_start(&p->y, 32, 22);
    laz_integer_start(&p->z, 32, 20);
    laz_integer_start(&p->intensity, 16, 4);
    for (uint32_t i = 0; i < 2; i++) mote_laz_model_start(p->scan_angles[i], 256, 256);
    memset(p->medians, 0, sizeof p->medians);
    memset(p->intensities, 0, sizeof p->intensities);
    memset(p->heights, 0, sizeof p->heights);
}

static inline void laz_point10_start(laz_point10 *p, uint32_t version, const uint8_t *record) {
    if (version == 1) laz_point10_start_v1(p);
    if (version == 2) laz_point10_start_v2(p);
    laz_integer_start(&p->point_source, 16, 1);
    mote_laz_model_start(p->changed, 64, 64);
    memset(p->returns.started, 0, sizeof p->returns.started);
    memset(p->classification.started, 0, sizeof p->classification.started);
    memset(p->user_data.started, 0, sizeof p->user_data.started);
    p->last = laz_point10_get(record);
}

static inline laz_model *laz_model_after(laz_bytes_after *m, uint8_t before) {
    if (__builtin_expect(!m->started[before], 0)) {
        mote_laz_model_start(m->models[before], 256, 256);
        m->started[before] = true;
    }
    return m->models[before];
}

static inline uint8_t laz_read_byte_after(laz_reader *r, laz_bytes_after *m, uint8_t before) {
    return (uint8_t)laz_read_symbol(r, laz_model_after(m, before), 256);
}

static inline void laz_write_byte_after(laz_writer *w, laz_bytes_after *m, uint8_t before, uint8_t value) {
    laz_write_symbol(w, laz_model_after(m, before), 256, value);
}

/* Contexts of y and z by the bits that the coordinates before took. */
static inline uint32_t laz_context_y(laz_return kind, uint32_t x_bits) {
    return kind.single + (x_bits < 20 ? x_bits & ~1u : 20);
}

static inline uint32_t laz_context_z(laz_return kind, uint32_t x_bits, uint32_t y_bits) {
    const uint32_t bits = (x_bits + y_bits) / 2;
    return kind.single + (bits < 18 ? bits & ~1u : 18);
}

static inline uint32_t laz_context_intensity(laz_return kind) { return kind.kind < 3 ? kind.kind : 3; }

/* What changed, in version 2. */
enum {
    LAZ_CHANGED_POINT_SOURCE = 1,
    LAZ_CHANGED_USER_DATA = 2,
    LAZ_CHANGED_SCAN_ANGLE = 4,
    LAZ_CHANGED_CLASSIFICATION = 8,
    LAZ_CHANGED_INTENSITY = 16,
    LAZ_CHANGED_RETURNS = 32
};

/* Version 2 in steps, which the caller takes for one lane and then for the other. First all but the coordinates. */
static inline laz_return laz_point10_read_bytes(laz_reader *r, laz_point10 *p) {
    laz_point10_fields *f = &p->last;
    const uint32_t changed = laz_read_likely(r, p->changed, 64);
    uint32_t bits;
    if (changed & LAZ_CHANGED_RETURNS) f->returns = laz_read_byte_after(r, &p->returns, f->returns);
    const laz_return kind = laz_return_of(f->returns);
    if (changed & LAZ_CHANGED_INTENSITY) {
        p->intensities[kind.kind] = (uint16_t)laz_read_integer(r, &p->intensity, 16, laz_context_intensity(kind),
                                                               p->intensities[kind.kind], &bits);
    }
    f->intensity = p->intensities[kind.kind];
    if (changed & LAZ_CHANGED_CLASSIFICATION)
        f->classification = laz_read_byte_after(r, &p->classification, f->classification);
    if (changed & LAZ_CHANGED_SCAN_ANGLE)
        f->scan_angle = (uint8_t)(f->scan_angle + laz_read_symbol(r, p->scan_angles[f->returns >> 6 & 1], 256));
    if (changed & LAZ_CHANGED_USER_DATA) f->user_data = laz_read_byte_after(r, &p->user_data, f->user_data);
    if (changed & LAZ_CHANGED_POINT_SOURCE)
        f->point_source = (uint16_t)laz_read_integer(r, &p->point_source, 16, 0, f->point_source, &bits);
    return kind;
}

static inline uint32_t laz_point10_read_x(laz_reader *r, laz_point10 *p, laz_return kind) {
    laz_median *median = &p->medians[kind.kind][0];
    uint32_t bits;
    const uint32_t step = laz_read_integer(r, &p->x, 32, kind.single, laz_median_get(median), &bits);
    p->last.x += step;
    laz_median_add(median, step);
    return bits;
}

static inline uint32_t laz_point10_read_y(laz_reader *r, laz_point10 *p, laz_return kind, uint32_t x_bits) {
    laz_median *median = &p->medians[kind.kind][1];
    uint32_t bits;
    const uint32_t step = laz_read_integer(r, &p->y, 32, laz_context_y(kind, x_bits), laz_median_get(median), &bits);
    p->last.y += step;
    laz_median_add(median, step);
    return bits;
}

static inline void laz_point10_read_z(laz_reader *r, laz_point10 *p, laz_return kind, uint32_t x_bits,
                                      uint32_t y_bits) {
    uint32_t bits;
    p->last.z = p->heights[kind.level] =
        laz_read_integer(r, &p->z, 32, laz_context_z(kind, x_bits, y_bits), p->heights[kind.level], &bits);
}

/* ---- Version 1 */
enum { LAZ_CHANGED_RETURNS_V1 = 16, LAZ_CHANGED_INTENSITY_V1 = 32 };

static inline uint32_t laz_median_of_3(const uint32_t *values) {
    const int32_t a = (int32_t)values[0], b = (int32_t)values[1], c = (int32_t)values[2];
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return (uint32_t)(c < low ? low : c > high ? high : c);
}

static inline uint32_t laz_point10_read_coordinates_v1(laz_reader *r, laz_point10 *p) {
    uint32_t x_bits, y_bits, z_bits;
    const uint32_t dx = laz_read_integer(r, &p->x, 32, 0, laz_median_of_3(p->differences[0]), &x_bits);
    const uint32_t dy =
        laz_read_integer(r, &p->y, 32, x_bits < 19 ? x_bits : 19, laz_median_of_3(p->differences[1]), &y_bits);
    const uint32_t bits = (x_bits + y_bits) / 2;
    p->last.x += dx;
    p->last.y += dy;
    p->last.z = laz_read_integer(r, &p->z, 32, bits < 19 ? bits : 19, p->last.z, &z_bits);
    p->differences[0][p->oldest] = dx;
    p->differences[1][p->oldest] = dy;
    p->oldest = p->oldest < 2 ? p->oldest + 1 : 0;
    return bits;
}

static inline void laz_point10_read_v1(laz_reader *r, laz_point10 *p) {
    laz_point10_fields *f = &p->last;
    uint32_t bits = laz_point10_read_coordinates_v1(r, p);
    const uint32_t angle_context = bits < 3;
    const uint32_t changed = laz_read_likely(r, p->changed, 64);
    if (changed & LAZ_CHANGED_INTENSITY_V1)
        f->intensity = (uint16_t)laz_read_integer(r, &p->intensity, 16, 0, f->intensity, &bits);
    if (changed & LAZ_CHANGED_RETURNS_V1) f->returns = laz_read_byte_after(r, &p->returns, f->returns);
    if (changed & LAZ_CHANGED_CLASSIFICATION)
        f->classification = laz_read_byte_after(r, &p->classification, f->classification);
    if (changed & LAZ_CHANGED_SCAN_ANGLE)
        f->scan_angle = (uint8_t)laz_read_integer(r, &p->scan_angle, 8, angle_context, f->scan_angle, &bits);
    if (changed & LAZ_CHANGED_USER_DATA) f->user_data = laz_read_byte_after(r, &p->user_data, f->user_data);
    if (changed & LAZ_CHANGED_POINT_SOURCE)
        f->point_source = (uint16_t)laz_read_integer(r, &p->point_source, 16, 0, f->point_source, &bits);
}

/* ---- Writing, version 2 */
static inline uint32_t laz_point10_changes(const laz_point10 *p, const laz_point10_fields *f, laz_return kind) {
    uint32_t changed = f->point_source != p->last.point_source ? LAZ_CHANGED_POINT_SOURCE : 0;
    changed |= f->user_data != p->last.user_data ? LAZ_CHANGED_USER_DATA : 0;
    changed |= f->scan_angle != p->last.scan_angle ? LAZ_CHANGED_SCAN_ANGLE : 0;
    changed |= f->classification != p->last.classification ? LAZ_CHANGED_CLASSIFICATION : 0;
    changed |= f->intensity != p->intensities[kind.kind] ? LAZ_CHANGED_INTENSITY : 0;
    return changed | (f->returns != p->last.returns ? LAZ_CHANGED_RETURNS : 0);
}

static inline void laz_point10_write_bytes(laz_writer *w, laz_point10 *p, const laz_point10_fields *f,
                                           laz_return kind) {
    const laz_point10_fields *last = &p->last;
    const uint32_t changed = laz_point10_changes(p, f, kind);
    laz_write_symbol(w, p->changed, 64, changed);
    if (changed & LAZ_CHANGED_RETURNS) laz_write_byte_after(w, &p->returns, last->returns, f->returns);
    if (changed & LAZ_CHANGED_INTENSITY) {
        laz_write_integer(w, &p->intensity, 16, laz_context_intensity(kind), p->intensities[kind.kind], f->intensity);
        p->intensities[kind.kind] = f->intensity;
    }
    if (changed & LAZ_CHANGED_CLASSIFICATION)
        laz_write_byte_after(w, &p->classification, last->classification, f->classification);
    if (changed & LAZ_CHANGED_SCAN_ANGLE)
        laz_write_symbol(w, p->scan_angles[f->returns >> 6 & 1], 256, (uint8_t)(f->scan_angle - last->scan_angle));
    if (changed & LAZ_CHANGED_USER_DATA) laz_write_byte_after(w, &p->user_data, last->user_data, f->user_data);
    if (changed & LAZ_CHANGED_POINT_SOURCE)
        laz_write_integer(w, &p->point_source, 16, 0, last->point_source, f->point_source);
}

static inline void laz_point10_write_coordinates(laz_writer *w, laz_point10 *p, const laz_point10_fields *f,
                                                 laz_return kind) {
    laz_median *medians = p->medians[kind.kind];
    const uint32_t dx = f->x - p->last.x, dy = f->y - p->last.y;
    const uint32_t x_bits = laz_write_integer(w, &p->x, 32, kind.single, laz_median_get(&medians[0]), dx);
    laz_median_add(&medians[0], dx);
    const uint32_t y_bits =
        laz_write_integer(w, &p->y, 32, laz_context_y(kind, x_bits), laz_median_get(&medians[1]), dy);
    laz_median_add(&medians[1], dy);
    laz_write_integer(w, &p->z, 32, laz_context_z(kind, x_bits, y_bits), p->heights[kind.level], f->z);
    p->heights[kind.level] = f->z;
}

static inline void laz_point10_write(laz_writer *w, laz_point10 *p, const uint8_t *record) {
    const laz_point10_fields f = laz_point10_get(record);
    const laz_return kind = laz_return_of(f.returns);
    laz_point10_write_bytes(w, p, &f, kind);
    laz_point10_write_coordinates(w, p, &f, kind);
    p->last = f;
}

#endif
