/* Chunks of formats 0 to 5, each one stream for all items, decoded by a warp: POINT10, and the items behind it by what
   decodes their layered relatives, which differ in what follows them only. The CPU's twins: laz_pointwise.c and what
   it includes. Newest versions of the items. */
#ifndef MOTE_LAZ_WARP_POINTWISE_H
#define MOTE_LAZ_WARP_POINTWISE_H

#include "io/laz/warp/laz_warp_items.cuh"
#include "io/laz/warp/laz_warp_xy.cuh"

/* The items of a record, in the order in which they are coded. */
enum { WARP_POINT10, WARP_GPS11, WARP_RGB12, WARP_WAVE13, WARP_BYTES, WARP_ITEMS };

typedef struct warp_record10 {
    bool has[WARP_ITEMS];
    uint32_t byte_count;
    uint64_t models_at[WARP_ITEMS], model_bytes; /* in the models of a chunk; of all */
    uint32_t field[WARP_ITEMS];                  /* the first of the item's */
} warp_record10;

/* ---- POINT10 */

/* The parts that a symbol says to have changed, from its highest bit down, in the order in which they are coded. */
enum { WARP_RETURNS10, WARP_INTENSITY10, WARP_CLASS10, WARP_ANGLE10, WARP_USER10, WARP_SOURCE10, WARP_PARTS10 };

typedef struct warp_point10 {
    warp_model changed[WARP_MODEL_WORDS(LAZ_POINT10_CHANGES)];
    warp_model angles[2][WARP_MODEL_WORDS(LAZ_BYTE_SYMBOLS)];     /* by the direction of the scan */
    warp_model after[3][256][WARP_MODEL_WORDS(LAZ_BYTE_SYMBOLS)]; /* returns, class, user data: by the byte before */
    warp_integer xyz[3], intensity, source;
    uint32_t medians[LAZ_POINT10_KINDS][2][8];
} warp_point10;

typedef struct warp_point10_item {
    uint32_t xyz;         /* lanes 0 to 2 */
    uint32_t parts;       /* by part; intensity: of this point */
    uint32_t intensities; /* by kind of return: the last one */
    uint32_t heights;     /* by level: the last z */
    uint32_t to;          /* where this lane's unit goes, or LAZ_NO_FIELD */
} warp_point10_item;

WARP_INLINE void warp_start_point10_models(const warp_reader *r) {
    warp_point10 *of = warp_models<warp_point10>(r, 0);
    warp_start_models(of->changed, 1, LAZ_POINT10_CHANGES, LAZ_POINT10_CHANGES, r->lane);
    warp_start_models(of->angles[0], 2, LAZ_BYTE_SYMBOLS, LAZ_BYTE_SYMBOLS, r->lane);
    warp_start_models(of->after[0][0], 3 * 256, LAZ_BYTE_SYMBOLS, LAZ_BYTE_SYMBOLS, r->lane);
    warp_start_integer(&of->xyz[0], 32, LAZ_X_CONTEXTS, r->lane);
    warp_start_integer(&of->xyz[1], 32, LAZ_Y_CONTEXTS, r->lane);
    warp_start_integer(&of->xyz[2], 32, LAZ_Z_CONTEXTS, r->lane);
    warp_start_integer(&of->intensity, 16, LAZ_PLACES, r->lane);
    warp_start_integer(&of->source, 16, 1, r->lane);
    for (uint32_t kind = r->lane / 8; kind < LAZ_POINT10_KINDS; kind += CUDA_WARP / 8) {
        of->medians[kind][0][r->lane % 8] = of->medians[kind][1][r->lane % 8] = 0;
    }
    __syncwarp();
}

/* Each lane puts its unit. */
WARP_INLINE void warp_put_point10(const warp_point10_item *item, const warp_task *t, const warp_reader *r, uint32_t i) {
    const uint32_t unit = r->lane;
    const uint32_t part = unit == 3 ? (uint32_t)WARP_INTENSITY10 : unit == 4 ? (uint32_t)WARP_RETURNS10 : unit - 3;
    const uint32_t coordinate = warp_get(item->xyz, unit), value = warp_get(item->parts, part);
    uint32_t at;
    if (item->to == LAZ_NO_FIELD) return;
    warp_store(warp_record(t, i) + item->to, unit < 3 ? coordinate : value, laz_point10_unit_bytes(unit, &at), false);
}

WARP_INLINE void warp_start_point10(warp_point10_item *item, const warp_task *t, const warp_reader *r) {
    const uint32_t unit = r->lane < LAZ_POINT10_UNITS ? r->lane : 0;
    uint32_t at;
    const uint32_t bytes = laz_point10_unit_bytes(unit, &at);
    const uint32_t value = (uint32_t)warp_load(warp_first_value(t) + at, bytes);
    /* Parts come in another order than units: returns, intensity, then as they stand in the record. */
    item->xyz = value;
    item->parts = warp_get(value, r->lane == WARP_RETURNS10 ? 4 : r->lane == WARP_INTENSITY10 ? 3 : r->lane + 3);
    item->intensities = item->heights = 0;
    item->to = r->lane < LAZ_POINT10_UNITS ? warp_field(t)->to[r->lane] : LAZ_NO_FIELD;
    warp_start_point10_models(r);
    warp_put_point10(item, t, r, 0);
}

/* What the returns of a point choose. */
typedef struct warp_return10 {
    uint32_t kind, level, count;
} warp_return10;

WARP_INLINE warp_return10 warp_return10_of(const warp_task *t, uint32_t returns) {
    const uint32_t number = returns & 7u, count = returns >> 3 & 7u;
    const warp_return10 made = {t->bases->return_kind[returns & 63u], count > number ? count - number : number - count,
                                count};
    return made;
}

/* A part that is a byte: behind the byte before, the angle as the difference from it. */
WARP_INLINE uint32_t warp_read_byte10(warp_point10 *of, warp_reader *r, uint32_t part, uint32_t last,
                                      uint32_t returns) {
    const uint32_t table = part == WARP_RETURNS10 ? 0 : part == WARP_CLASS10 ? 1 : 2;
    warp_model *m = part == WARP_ANGLE10 ? of->angles[returns >> 6 & 1u] : of->after[table][last];
    const uint32_t symbol = warp_read_symbol(r, m, LAZ_BYTE_SYMBOLS);
    return part == WARP_ANGLE10 ? (last + symbol) & 255u : symbol;
}

/* All but the coordinates. */
WARP_INLINE warp_return10 warp_read_parts10(warp_point10_item *item, const warp_task *t, warp_reader *r) {
    warp_point10 *of = warp_models<warp_point10>(r, 0);
    const uint32_t changed = warp_read_symbol(r, of->changed, LAZ_POINT10_CHANGES);
    warp_return10 kind = {0, 0, 0};
    uint32_t k;
    CUDA_ROLLED for (uint32_t part = 0; part < WARP_PARTS10; part++) {
        const uint32_t returns = warp_get(item->parts, WARP_RETURNS10);
        const bool coded = changed << part >> (WARP_PARTS10 - 1) & 1u,
                   wide = part == WARP_INTENSITY10 || part == WARP_SOURCE10;
        if (part == WARP_INTENSITY10) kind = warp_return10_of(t, returns);
        uint32_t value =
            part == WARP_INTENSITY10 ? warp_get(item->intensities, kind.kind) : warp_get(item->parts, part);
        if (coded && wide) {
            warp_integer *m = part == WARP_INTENSITY10 ? &of->intensity : &of->source;
            const uint32_t context = part == WARP_SOURCE10 ? 0 : kind.kind < 3 ? kind.kind : 3;
            value = warp_read_integer(r, m, 16, context, value, &k);
        } else if (coded) {
            value = warp_read_byte10(of, r, part, value, returns);
        }
        if (part == WARP_INTENSITY10) warp_set(r, &item->intensities, kind.kind, value);
        warp_set(r, &item->parts, part, value);
    }
    return kind;
}

WARP_INLINE void warp_read_point10(warp_point10_item *item, const warp_task *t, warp_reader *r, uint32_t i) {
    const warp_return10 kind = warp_read_parts10(item, t, r);
    warp_point10 *of = warp_models<warp_point10>(r, 0);
    uint32_t kx = 0, ky = 0;
    CUDA_ROLLED for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t *median = of->medians[kind.kind][axis < 2 ? axis : 0], k;
        const uint32_t word = warp_median_word(r, median);
        const uint32_t context = axis == 0   ? (uint32_t)(kind.count == 1)
                                 : axis == 1 ? laz_y_context(kind.count, kx)
                                             : laz_z_context(kind.count, kx, ky);
        const uint32_t predicted = axis < 2 ? warp_get(word, 2) : warp_get(item->heights, kind.level);
        uint32_t value = warp_read_integer(r, &of->xyz[axis], 32, context, predicted, &k);
        if (axis < 2) {
            warp_median_add(r, median, word, value);
            value += warp_get(item->xyz, axis);
        } else {
            warp_set(r, &item->heights, kind.level, value);
        }
        warp_set(r, &item->xyz, axis, value);
        kx = axis == 0 ? k : kx;
        ky = axis == 1 ? k : ky;
    }
    warp_settle(r);
    warp_put_point10(item, t, r, i);
}

/* ---- extra bytes: a lane per byte */

typedef struct warp_bytes_item {
    uint32_t count, last, to;
} warp_bytes_item;

WARP_INLINE void warp_start_bytes(warp_bytes_item *item, const warp_task *t, const warp_reader *r, uint32_t count) {
    item->count = count;
    item->last = r->lane < count ? warp_first_value(t)[r->lane] : 0;
    item->to = r->lane < count ? warp_field(t)[r->lane].to[0] : LAZ_NO_FIELD;
    warp_start_models(r->models, count, LAZ_BYTE14_SYMBOLS, LAZ_BYTE14_SYMBOLS, r->lane);
    warp_put_byte(t, item->to, 0, item->last);
}

WARP_INLINE void warp_read_bytes(warp_bytes_item *item, const warp_task *t, warp_reader *r, uint32_t i) {
    CUDA_ROLLED for (uint32_t b = 0; b < item->count; b++) {
        const uint32_t more = warp_read_symbol(r, warp_models<warp_byte>(r, b)->difference, LAZ_BYTE14_SYMBOLS);
        if (r->lane == b) item->last = (item->last + more) & 255u;
    }
    warp_settle(r);
    warp_put_byte(t, item->to, i, item->last);
}

/* ---- a chunk */

typedef struct warp_items10 {
    warp_point10_item point10;
    warp_gps_item gps;
    warp_rgb_item rgb;
    warp_wave_item wave;
    warp_bytes_item bytes;
} warp_items10;

/* What follows is of this item. */
WARP_INLINE const warp_task *warp_turn_to(warp_reader *r, const warp_task *tasks, uint32_t item) {
    r->models = warp_models_of(&tasks[item]);
    return &tasks[item];
}

WARP_INLINE void warp_start_items10(warp_items10 *items, const warp_task *tasks, const warp_record10 *record,
                                    warp_reader *r) {
    warp_start_point10(&items->point10, warp_turn_to(r, tasks, WARP_POINT10), r);
    if (record->has[WARP_GPS11]) warp_start_item(&items->gps, warp_turn_to(r, tasks, WARP_GPS11), r);
    if (record->has[WARP_RGB12]) warp_start_item(&items->rgb, warp_turn_to(r, tasks, WARP_RGB12), r);
    if (record->has[WARP_WAVE13]) warp_start_item(&items->wave, warp_turn_to(r, tasks, WARP_WAVE13), r);
    if (record->has[WARP_BYTES]) {
        warp_start_bytes(&items->bytes, warp_turn_to(r, tasks, WARP_BYTES), r, record->byte_count);
    }
}

/* tasks [WARP_ITEMS]: of the items that the record has. Returns whether the chunk is sound. */
WARP_INLINE bool warp_read_pointwise(const warp_task *tasks, const warp_record10 *record) {
    const warp_task *first = &tasks[WARP_POINT10];
    const warp_places *places = first->places;
    warp_reader r;
    warp_items10 items = {};
    warp_reader_start(&r, first->bases->data, first->bases->data_bytes, places->at, warp_models_of(first));
    warp_start_items10(&items, tasks, record, &r);
    CUDA_ROLLED for (uint32_t i = 1; i < places->points; i++) {
        warp_read_point10(&items.point10, warp_turn_to(&r, tasks, WARP_POINT10), &r, i);
        if (record->has[WARP_GPS11]) {
            const warp_task *t = warp_turn_to(&r, tasks, WARP_GPS11);
            warp_read_item(&items.gps, t, &r, WARP_IS_GPS, i);
            if (r.lane == 0) warp_put_item(&items.gps, t, i, items.gps.value);
        }
        if (record->has[WARP_RGB12]) warp_read_item(&items.rgb, warp_turn_to(&r, tasks, WARP_RGB12), &r, 0, i);
        if (record->has[WARP_WAVE13]) warp_read_item(&items.wave, warp_turn_to(&r, tasks, WARP_WAVE13), &r, 0, i);
        if (record->has[WARP_BYTES]) warp_read_bytes(&items.bytes, warp_turn_to(&r, tasks, WARP_BYTES), &r, i);
    }
    return warp_reader_is_sound(&r, places->at + places->size_bytes);
}

#endif
