/* What the two codecs, pointwise (formats 0 to 5) and layered (6 to 10), supply to laz_decode.c and laz_encode.c. */
#ifndef MOTE_LAZ_CODEC_H
#define MOTE_LAZ_CODEC_H

#include "io/laz/laz.h"
#include "io/laz/laz_writer.h"

#define LAZ_LANES 2u /* chunks that one thread decodes in turn, so that each hides the other's latency */

/* Reads chunks. state: memory of state_bytes, 64-byte aligned, its content the codec's own between start and the last
   read. Nothing allocates. */
typedef struct laz_reading {
    uint64_t (*state_bytes)(const laz_schema *schema);
    /* Begins a chunk. Returns NULL or what is wrong with it (then *fault_at is set). */
    const char *(*start)(void *state, const laz_schema *schema, uint32_t wanted, const uint8_t *data,
                         uint64_t size_bytes, uint64_t points, uint64_t *fault_at);
    /* Reads the next count points of each of the lanes (1 or 2, all of one schema) to records[lane], stride
       schema.record_bytes. Parts that are not wanted are left as they are. Stops after the first point at which a lane
       has a fault; returns how many points were read, of which the last one is not good in a lane with a fault. */
    uint64_t (*read)(void *const *states, uint32_t lanes, uint8_t *const *records, uint64_t count);
    /* NULL, or what is wrong with the lane; the byte of its chunk where it showed. */
    const char *(*fault)(const void *state, uint64_t *fault_at);
    /* Bytes of the chunk that the points read took; after the last one: the size of the chunk. */
    uint64_t (*used_bytes)(const void *state);
    /* Whether a writer could have ended the chunk after the points read. NULL: the chunk itself says where it ends. */
    bool (*at_end)(const void *state);
} laz_reading;

extern const laz_reading mote_laz_read_pointwise; /* laz_pointwise.c */
extern const laz_reading mote_laz_read_layered;   /* laz_layered.c */

/* Writes chunks. state as above, but it may own memory from ctx (the layers' writers): zeroed at first, given back by
   release. */
typedef struct laz_writing {
    uint64_t (*state_bytes)(const laz_schema *schema);
    /* Codes count records as one chunk behind w->at. */
    mote_status (*write)(mote_context *ctx, void *state, const laz_schema *schema, const uint8_t *records,
                         uint64_t count, laz_writer *w);
    void (*release)(mote_context *ctx, void *state);
} laz_writing;

extern const laz_writing mote_laz_write_pointwise; /* laz_pointwise_write.c */
extern const laz_writing mote_laz_write_layered;   /* laz_layered_write.c */

#endif
