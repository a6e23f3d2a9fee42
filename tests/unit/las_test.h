/* What the parts of the test of LAS share. */
#ifndef MOTE_LAS_TEST_H
#define MOTE_LAS_TEST_H

#include "support/las_files.h"

bool las_same_record(const mote_record *a, const mote_record *b);
/* A cloud of three points with x, y, z and count more columns, all zero. */
mote_cloud *las_cloud_with(mote_context *ctx, const mote_column_spec *more, uint32_t count);

typedef struct las_written {
    uint8_t minor, format;
    uint16_t bytes;
} las_written;
/* What the header of test_path("choice.las") says, written without parameters. */
las_written las_write_and_look(mote_context *ctx, const mote_cloud *cloud);
/* Expects a refusal whose message has part. */
void las_assert_refused(mote_context *ctx, const mote_cloud *cloud, const mote_write_params *params, mote_status status,
                        const char *part);

/* las_test_extra_bytes.c */
void extra_bytes_of_every_type(void **state);
void long_and_equal_names(void **state);
void many_extra_columns(void **state);
void extra_bytes_named_like_dimensions(void **state);

/* las_test_records.c */
void crs_travels(void **state);
void new_files_state_their_encoding(void **state);
void waveforms_keep_their_place(void **state);
void long_records(void **state);

#endif
