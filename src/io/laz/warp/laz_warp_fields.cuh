/* Layers decoded by a warp: z, intensity, scan angle, point source; classification, flags, user data; extra bytes. The
   CPU's twins: laz_fields14.h, laz_byte14.h. */
#ifndef MOTE_LAZ_WARP_FIELDS_H
#define MOTE_LAZ_WARP_FIELDS_H

#include "io/laz/warp/laz_warp_layer.cuh"

/* ---- integers: z, intensity, scan angle, point source */

typedef struct warp_integer_item {
    warp_channels channels;
    uint32_t last;  /* by 8 · channel + slot */
    uint32_t value; /* of the last point */
    uint32_t kind, width;
} warp_integer_item;

WARP_INLINE void warp_put_item(const warp_integer_item *item, const warp_task *t, uint32_t i, uint32_t value) {
    warp_put(t, 0, i, value, item->width / 8);
}

WARP_INLINE void warp_start_item(warp_integer_item *item, const warp_task *t, const warp_reader *r) {
    item->kind = warp_field(t)->kind;
    item->width = item->kind == LAZ_LAYER_Z ? 32 : 16;
    item->channels.met = 1u << t->places->channel;
    item->channels.current = t->places->channel;
    item->last = item->value = (uint32_t)warp_load(warp_first_value(t), item->width / 8);
    const uint32_t contexts = item->kind == LAZ_LAYER_Z           ? LAZ_Z_CONTEXTS
                              : item->kind == LAZ_LAYER_INTENSITY ? LAZ_PLACES
                                                                  : LAZ_ANGLE_CONTEXTS;
    CUDA_ROLLED for (uint32_t c = 0; c < LAZ_CHANNELS; c++) {
        warp_start_integer(warp_models<warp_integer>(r, c), item->width, contexts, r->lane);
    }
    if (r->lane == 0) warp_put_item(item, t, 0, item->value);
}

/* Which of the last values of its channel a point goes by, in which context, and whether anything is coded. */
WARP_INLINE bool warp_integer_case(uint32_t kind, uint32_t is, uint32_t *slot, uint32_t *context) {
    *slot = *context = 0;
    switch (kind) {
    case LAZ_LAYER_Z:
        *slot = warp_level(is);
        *context = warp_z_context(is);
        return true;
    case LAZ_LAYER_INTENSITY:
        *slot = warp_place(is) * 2 | warp_gps_changed(is);
        *context = warp_place(is);
        return true;
    case LAZ_LAYER_SCAN_ANGLE: *context = warp_gps_changed(is); return (is & WARP_IS_ANGLE) != 0;
    default: return (is & WARP_IS_SOURCE) != 0;
    }
}

WARP_INLINE void warp_read_item(warp_integer_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    const uint32_t channel = warp_channel(is);
    uint32_t from, slot, context, k;
    (void)t, (void)i;
    /* A new channel goes by the last point, whatever it was. */
    if (warp_enter(&item->channels, channel, &from) && r->lane / 8 == channel) item->last = item->value;
    const bool coded = warp_integer_case(item->kind, is, &slot, &context);
    item->value = warp_get(item->last, 8 * channel + slot);
    if (!coded) return;
    item->value = warp_read_integer(r, warp_models<warp_integer>(r, channel), item->width, context, item->value, &k);
    warp_set(r, &item->last, 8 * channel + slot, item->value);
    warp_settle(r);
}

/* ---- symbols chosen by the last one: classification, flags, user data */

typedef struct warp_table {
    warp_model models[LAZ_TABLE_MODELS][WARP_MODEL_WORDS(LAZ_BYTE_SYMBOLS)];
} warp_table;

typedef struct warp_table_item {
    warp_channels channels;
    uint32_t last; /* by channel */
    uint32_t value;
    uint32_t kind, symbols;
} warp_table_item;

WARP_INLINE void warp_put_item(const warp_table_item *item, const warp_task *t, uint32_t i, uint32_t value) {
    (void)item;
    warp_put(t, 0, i, value, 1);
}

WARP_INLINE void warp_start_item(warp_table_item *item, const warp_task *t, const warp_reader *r) {
    item->kind = warp_field(t)->kind;
    item->symbols = item->kind == LAZ_LAYER_FLAGS ? LAZ_FLAG_SYMBOLS : LAZ_BYTE_SYMBOLS;
    item->channels.met = 1u << t->places->channel;
    item->channels.current = t->places->channel;
    item->value = warp_first_value(t)[0];
    item->last = item->kind == LAZ_LAYER_FLAGS ? laz_pack_flags(item->value) : item->value;
    warp_start_models(r->models, LAZ_CHANNELS * LAZ_TABLE_MODELS, item->symbols, LAZ_BYTE_SYMBOLS, r->lane);
    if (r->lane == 0) warp_put_item(item, t, 0, item->value);
}

WARP_INLINE uint32_t warp_table_context(uint32_t kind, uint32_t is, uint32_t last) {
    if (kind == LAZ_LAYER_CLASSIFICATION) return laz_class14_context(last, warp_place(is));
    return kind == LAZ_LAYER_FLAGS ? last : laz_user14_context(last);
}

WARP_INLINE void warp_read_item(warp_table_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    const uint32_t channel = warp_channel(is);
    uint32_t from;
    (void)t, (void)i;
    if (warp_enter(&item->channels, channel, &from)) {
        const uint32_t last = warp_get(item->last, from);
        warp_set(r, &item->last, channel, last);
    }
    const uint32_t context = warp_table_context(item->kind, is, warp_get(item->last, channel));
    warp_model *m = warp_models<warp_table>(r, channel)->models[context];
    const uint32_t symbol = warp_read_deep(r, m, item->symbols, LAZ_BYTE_SYMBOLS);
    warp_set(r, &item->last, channel, symbol);
    item->value = symbol;
    if (item->kind == LAZ_LAYER_FLAGS) item->value = laz_unpack_flags(symbol) | channel << LAZ_CHANNEL_SHIFT;
    warp_settle(r);
}

/* ---- bytes of their own: extra bytes */

typedef struct warp_byte {
    warp_model difference[WARP_MODEL_WORDS(LAZ_BYTE14_SYMBOLS)];
} warp_byte;

typedef struct warp_byte_item {
    warp_follower follower;
    uint32_t last; /* by channel */
    uint32_t value;
} warp_byte_item;

WARP_INLINE void warp_put_item(const warp_byte_item *item, const warp_task *t, uint32_t i, uint32_t value) {
    (void)item;
    warp_put(t, 0, i, value, 1);
}

WARP_INLINE void warp_start_item(warp_byte_item *item, const warp_task *t, const warp_reader *r) {
    item->follower = warp_follower_of(t);
    item->last = item->value = warp_first_value(t)[0];
    warp_start_models(r->models, LAZ_CHANNELS, LAZ_BYTE14_SYMBOLS, LAZ_BYTE14_SYMBOLS, r->lane);
    if (r->lane == 0) warp_put_item(item, t, 0, item->value);
}

WARP_INLINE void warp_read_item(warp_byte_item *item, const warp_task *t, warp_reader *r, uint32_t is, uint32_t i) {
    uint32_t model, value, from;
    (void)t, (void)i;
    if (warp_follow(&item->follower, is, &model, &value, &from)) {
        const uint32_t last = warp_get(item->last, from);
        warp_set(r, &item->last, model, last);
    }
    const uint32_t more = warp_read_symbol(r, warp_models<warp_byte>(r, model)->difference, LAZ_BYTE14_SYMBOLS);
    item->value = (warp_get(item->last, value) + more) & 255u;
    warp_set(r, &item->last, value, item->value);
    warp_settle(r);
}

#endif
