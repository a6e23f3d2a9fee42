/* What reading and writing formats 0 to 5 share: the items of a record and the state of each. */
#ifndef MOTE_LAZ_POINTWISE_H
#define MOTE_LAZ_POINTWISE_H

#include "io/laz/items/laz_byte.h"
#include "io/laz/items/laz_gps_time11.h"
#include "io/laz/items/laz_point10.h"
#include "io/laz/items/laz_rgb12.h"
#include "io/laz/items/laz_wavepacket.h"
#include "io/laz/laz_codec.h"

#define LAZ_STATE_ALIGNMENT 64u

/* An item of the record: version 0 if it has none. */
typedef struct laz_part {
    uint32_t version, at, size_bytes;
} laz_part;

typedef struct laz_parts {
    laz_part point10, gps, rgb, wave, extra; /* coded in this order */
    uint32_t record_bytes;
} laz_parts;

typedef struct laz_pointwise {
    laz_parts parts;
    laz_reader reader;    /* of the bytes behind the first record; where nothing is being read */
    const uint8_t *first; /* the first record, which is raw, until it has been put out */
    laz_point10 point10;
    laz_gps_time11 gps;
    laz_rgb12 rgb;
    laz_wave wave;
    laz_byte extra; /* its memory lies behind this structure */
} laz_pointwise;

/* Returns NULL, or what is wrong with the schema for this codec. */
const char *mote_laz_pointwise_parts(const laz_schema *schema, laz_parts *parts);
uint64_t mote_laz_pointwise_bytes(const laz_schema *schema);
/* All models of a chunk anew; record is its first one. state->parts is set. */
void mote_laz_pointwise_start(laz_pointwise *state, const uint8_t *record);

#endif
