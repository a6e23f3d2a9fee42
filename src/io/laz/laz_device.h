/* Layered chunks decoded by a backend: what the host found in them, and where their points go. */
#ifndef MOTE_LAZ_DEVICE_H
#define MOTE_LAZ_DEVICE_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LAZ_DEVICE_FIELDS_MAX 128u
#define LAZ_UNITS_MAX         9u         /* what of a layer goes to places of its own */
#define LAZ_NO_FIELD          UINT32_MAX /* a unit that is not kept */
#define LAZ_SET_ASIDE         UINT32_MAX /* points of a chunk that the device is to leave alone */

/* What a layer is of, alike in all chunks. */
typedef struct laz_device_field {
    uint32_t kind;              /* laz_layer_kind */
    uint32_t layer;             /* its number among those of the chunk */
    uint32_t from;              /* byte of the record */
    uint32_t to[LAZ_UNITS_MAX]; /* bytes of the record that is put out, or LAZ_NO_FIELD */
} laz_device_field;

typedef struct laz_device_chunk {
    uint64_t at;     /* of its first record, in data */
    uint32_t first;  /* number of its first point */
    uint32_t points; /* or LAZ_SET_ASIDE */
} laz_device_chunk;

/* The bytes of a layer, in data. None: all points have the value of the first record. */
typedef struct laz_device_layer {
    uint64_t at;
    uint32_t size_bytes;
} laz_device_layer;

/* Chunks of formats 0 to 5 have one layer, which has all items; the fields are those of POINT10 (of no kind), and where
   the record has them GPS time, colour, wave packet and up to LAZ_DEVICE_BYTES_MAX extra bytes, in this order. */
#define LAZ_DEVICE_BYTES_MAX 32u

/* data and records are device memory, the rest the host's. Points of the chunks follow each other without gaps. */
typedef struct laz_device_job {
    const uint8_t *data; /* whole words of 4 bytes */
    uint64_t data_bytes;
    uint8_t *records;
    uint32_t stride_bytes; /* of records */
    bool pointwise;        /* formats 0 to 5 */
    bool plain_channels;   /* items of version 4 or newer: see laz_following */
    uint32_t chunk_count, layer_count, field_count;
    const laz_device_chunk *chunks; /* [chunk_count] */
    const laz_device_layer *layers; /* [chunk_count · layer_count] */
    const laz_device_field *fields; /* [field_count] of the layers that are wanted; the first one is that of x and y */
    uint64_t max_chunk_points;
} laz_device_job;

typedef struct mote_laz_ops {
    /* Decodes all chunks that are not set aside. faulty [chunk_count] out: not 0 where a layer has a fault or does not
       end at its last byte; the points of such a chunk are not to be used. *declined: nothing was done, for there is
       not enough memory. Nothing outside the chunks is read, whatever their bytes are. Waits until it is done. */
    mote_status (*decode)(mote_device *device, const laz_device_job *job, uint32_t *faulty, bool *declined);
} mote_laz_ops;
extern const mote_laz_ops mote_laz_on_cuda; /* laz_cuda.cu */

#ifdef __cplusplus
}
#endif
#endif
