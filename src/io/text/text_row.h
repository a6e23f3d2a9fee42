/* One row of a table of numbers: its fields, one after the other. */
#ifndef MOTE_TEXT_ROW_H
#define MOTE_TEXT_ROW_H

#include "io/text/text.h"

/* Why a row is not as it should be. */
typedef enum row_error {
    ROW_FINE,
    ROW_SHORT,
    ROW_LONG,
    ROW_WORD,
    ROW_EMPTY_VALUE,
    ROW_DECIMAL,
    ROW_QUOTE,
    ROW_RANGE,
    ROW_LIST_LENGTH,
    ROW_LIST_SHORT
} row_error;

/* The first bad row of a piece, and what the piece found. */
typedef struct piece_result {
    row_error error;
    mote_type type;    /* that did not fit */
    uint32_t field;    /* values read before it */
    uint32_t last;     /* field of a row: behind its separator there may be nothing */
    uint64_t offset;   /* in the input */
    uint32_t decimals; /* most that a field needs */
    bool wide;         /* a watched field has digits that no float holds */
    uint64_t left_out; /* rows */
} piece_result;

/* A place in a row. */
typedef struct row_cursor {
    const uint8_t *at, *end;
    uint8_t separator, decimal;
    uint8_t bare_decimal; /* of numbers without quotes: where commas separate, they have no decimal commas */
    bool comments;
} row_cursor;

/* A cursor over bytes [begin, end) of the input. */
row_cursor row_cursor_of(const mote_text_table *table, uint64_t begin, uint64_t end);
/* Reads all fields into record. In a line, nothing may follow them. */
row_error row_read(row_cursor *row, const mote_text_rows *rows, bool in_line, uint8_t *record, piece_result *result);
/* Notes what the fields hold. */
row_error row_examine(row_cursor *row, const mote_text_field *fields, uint32_t columns, const uint8_t *data,
                      mote_text_survey *survey, piece_result *result);
/* Moves behind the values of a row without reading more of them than the lengths of its lists. */
row_error row_skip(row_cursor *row, const mote_text_rows *rows, piece_result *result);
/* Whether nothing but blanks is left. */
bool row_is_at_end(row_cursor *row);

#endif
