/* Rows of binary values as files hold them, made from columns: PLY and PCD. */
#ifndef MOTE_ROWS_H
#define MOTE_ROWS_H

#include "io/text/text.h"

/* One value of a row. */
typedef struct mote_row_field {
    mote_column view; /* the source, or bits of it; its scale and offset count only if world */
    mote_type type;   /* as written */
    uint32_t offset;  /* in the row */
    bool world;       /* the double with scale and offset applied */
    mote_text_decimal decimal;
} mote_row_field;

/* Fields may leave gaps in a row; these are zero. */
typedef struct mote_rows {
    const mote_row_field *fields;
    uint32_t field_count;
    uint32_t row_bytes;
    uint32_t begin; /* offset of the first byte of a row: these may be some fields of larger rows */
    bool swap;      /* big-endian */
} mote_rows;

/* Copies a value of 1, 2, 4 or 8 bytes, with its bytes in reverse if swap. */
void mote_rows_copy_value(uint8_t *to, const uint8_t *from, uint32_t size_bytes, bool swap);
/* A position with scale and offset applied, as a double. */
void mote_rows_set_world(mote_row_field *field, const mote_column *column);
/* The decimal step of the positions as they are written, 0 if they have none. */
double mote_rows_step(const mote_rows *rows, const mote_cloud *cloud);
/* Makes the points [first, first + count) to rows. On the calling thread. */
void mote_rows_fill(const mote_rows *rows, uint64_t first, uint64_t count, uint8_t *out);
/* Appends the rows of all points to output, in parallel; straight from memory where it holds them so. */
mote_status mote_rows_write(mote_context *ctx, mote_output *output, const mote_rows *rows, uint64_t count,
                            const char *stage);

#endif
