/* What the layers of the layered format share. The first layer says of each point of a block what the others need to
   know of it; every other layer then runs over the block on its own, with its own arithmetic coder. */
#ifndef MOTE_LAZ_LAYER_H
#define MOTE_LAZ_LAYER_H

#include "io/laz/items/laz_format14.h"
#include "io/laz/laz_bytes.h"
#include "io/laz/laz_codec.h"
#include "io/laz/laz_integer.h"

#define LAZ_BLOCK_POINTS 256u

/* What each point of a block is, by the first layer. */
typedef struct laz_points {
    uint8_t channel[LAZ_BLOCK_POINTS];
    uint8_t changed[LAZ_BLOCK_POINTS];   /* LAZ_CHANGED_… */
    uint8_t place[LAZ_BLOCK_POINTS];     /* among the returns of its pulse: LAZ_LAST_RETURN | LAZ_FIRST_RETURN */
    uint8_t level[LAZ_BLOCK_POINTS];     /* returns between it and the last one, at most 7 */
    uint8_t z_context[LAZ_BLOCK_POINTS]; /* of the model of z: how large the steps in x and y were */
    /* For the items behind POINT14: whose models are used, and whose last value. */
    uint8_t model[LAZ_BLOCK_POINTS], value[LAZ_BLOCK_POINTS];
} laz_points;

/* The channels that a layer has met in this chunk. */
typedef struct laz_channels {
    uint32_t met;     /* bit by channel */
    uint32_t current; /* of the last point */
} laz_channels;

static inline void laz_channels_start(laz_channels *channels, uint32_t first) {
    channels->met = 1u << first;
    channels->current = first;
}

/* Goes to the channel of the next point. Is it new? Then the models of the layer are to be started, and its last values
   copied from those of *from. */
static inline bool laz_channels_enter(laz_channels *channels, uint32_t next, uint32_t *from) {
    const bool met = channels->met >> next & 1u;
    *from = channels->current;
    channels->met |= 1u << next;
    channels->current = next;
    return __builtin_expect(!met, 0);
}

/* Which channel the items behind POINT14 go by. From version 4 on, that of the point. Before, two oddities of the
   reference are the format: the channel counts as 0 where it is that of the point before, and where it was met before,
   the last value is that of the channel before. */
typedef struct laz_following {
    bool plain; /* version 4 or newer */
    laz_channels channels;
} laz_following;

static inline void laz_follow_channels(laz_following *f, laz_points *points, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const bool same = !(points->changed[i] & LAZ_CHANGED_CHANNEL);
        const uint32_t model = same && !f->plain ? 0 : points->channel[i];
        uint32_t from;
        const bool fresh = laz_channels_enter(&f->channels, model, &from);
        points->model[i] = (uint8_t)model;
        points->value[i] = (uint8_t)(fresh || f->plain ? model : from);
    }
}

/* Codes point i of a block in one layer. value: its field in the record. What the loops of laz_layered.c are made of:
   each is a constant there, so that it is inlined. */
typedef void laz_point_reader(void *models, laz_reader *r, const laz_points *points, uint32_t i, uint8_t *value);
typedef void laz_point_writer(void *models, laz_writer *w, const laz_points *points, uint32_t i, const uint8_t *value);

/* ---- A field coded by models of symbols, chosen by 64 contexts. They are started when first used. */
static inline laz_model *laz_table_model(laz_model *models, uint64_t *used, uint32_t index, uint32_t symbols) {
    laz_model *m = models + (uint64_t)index * LAZ_MODEL_WORDS(symbols);
    if (__builtin_expect(!(*used >> index & 1u), 0)) {
        *used |= UINT64_C(1) << index;
        mote_laz_model_start(m, symbols, symbols);
    }
    return m;
}

#endif
