/* What a backend supplies to the Potree writer: the records of an octree in device memory. */
#ifndef MOTE_POTREE_OPS_H
#define MOTE_POTREE_OPS_H

#include "io/potree/program/potree_encode_program.h"
#include "lod/lod_octree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records on their way to the host. */
typedef struct potree_stream potree_stream;

typedef struct mote_potree_ops {
    /* The union over all points of the bits (potree_raw_bits) of each of up to POTREE_MERGED columns. */
    mote_status (*merge_bits)(mote_device *device, const mote_column *columns, uint32_t column_count, uint64_t count,
                              uint64_t *bits);
    /* The records of all items, in device memory that is the octree's. */
    mote_status (*records)(mote_lod *lod, const encode_program *program, uint64_t item_count, const void **records);
    /* The records of some items after others, in host memory; up to batch_items at a time. program may go then. */
    mote_status (*open)(mote_device *device, const encode_program *program, uint64_t batch_items,
                        potree_stream **stream);
    /* Begins to make and fetch those of count > 0 items from the first-th on; POTREE_IN_FLIGHT may be begun and not
       yet taken. */
    mote_status (*begin)(potree_stream *stream, uint64_t first, uint64_t count);
    /* Waits for the oldest that was not taken. Its memory is free again once POTREE_IN_FLIGHT others are begun. */
    mote_status (*take)(potree_stream *stream, const uint8_t **records);
    /* What was learnt of all that was begun. findings  [encode_finding_count] */
    mote_status (*findings)(potree_stream *stream, uint64_t *findings);
    void (*close)(potree_stream *stream);
} mote_potree_ops;

#define POTREE_MERGED    7u
#define POTREE_IN_FLIGHT 3u

extern const mote_potree_ops mote_potree_on_cuda;

#ifdef __cplusplus
}
#endif
#endif
