/* The records around the points of a LAS file to be written. */
#ifndef MOTE_LAS_VLR_WRITE_H
#define MOTE_LAS_VLR_WRITE_H

#include "io/las/write/las_plan.h"
#include "io/laz/laz.h"

typedef struct las_records {
    mote_record *front, *behind; /* before and after the points */
    uint64_t front_count, behind_count;
    void *owned, *owned_keys; /* payloads made here */
    uint64_t waveforms;       /* 1 + index in behind of the waveform packets; 0 if none */
    bool wkt, geo_keys;
    laz_schema schema;              /* of compressed files */
    uint8_t laszip[LAZ_RECORD_MAX]; /* the payload that states it: records look here, so this is not to be moved */
} las_records;

mote_status mote_las_records_make(mote_context *ctx, const las_plan *plan, las_records *records);
void mote_las_records_free(mote_context *ctx, las_records *records);
/* Bytes in the file. */
uint64_t mote_las_records_bytes(const mote_record *records, uint64_t count, bool extended);
/* Writes records at *at and moves it on. */
mote_status mote_las_records_write(mote_context *ctx, mote_output *output, const mote_record *records, uint64_t count,
                                   bool extended, uint64_t *at);

#endif
