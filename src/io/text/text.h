/* Tables of numbers as text, for PLY, XYZ, CSV and their kin: exact and independent of the locale in both
   directions. */
#ifndef MOTE_TEXT_H
#define MOTE_TEXT_H

#include "io/io_internal.h"

/* Blanks, tabs, and line ends that are not the table's own. */
static inline bool mote_text_is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/* Is it x, y or z? */
static inline bool mote_text_is_axis(const char *name) { return name[0] >= 'x' && name[0] <= 'z' && name[1] == '\0'; }

/* ---- what a text begins with, and where its lines end */

/* Refuses a text that mote_text_encoding knows, by that name, with MOTE_ERROR_DATA. */
mote_status mote_text_check_encoding(mote_context *ctx, const mote_input *input);
/* Bytes of the byte order mark of UTF-8 that a text begins with: 3 or 0. */
uint64_t mote_text_mark_bytes(const mote_input *input);
/* Do some of the lines from begin on end in CR alone? */
bool mote_text_has_lone_cr(const mote_input *input, uint64_t begin);

/* The beginning of bytes that a message quotes, as they stand there, ended by a zero: whole characters of UTF-8, and a
   zero byte as \x00, which is how the command shows the other bytes that do not print. */
void mote_text_quote(const uint8_t *bytes, uint64_t length, char *out, size_t out_bytes);

/* A line of a header in front of what may be binary. */
typedef struct mote_text_line {
    uint64_t begin, end; /* without the line end */
    uint64_t next;       /* where the next line begins */
    bool lone_cr;        /* a line ended in CR alone: an LF behind a later CR is then a line of its own, or the body */
} mote_text_line;

/* The line that begins at line->next. format, last: the name of the format and what its header ends with, for
   messages. */
mote_status mote_text_next_header_line(mote_context *ctx, const mote_input *input, const char *format, const char *last,
                                       mote_text_line *line);

/* ---- one number */

typedef enum mote_text_kind {
    MOTE_TEXT_INTEGER, /* digits alone, so that an integer column can hold it */
    MOTE_TEXT_REAL,
    MOTE_TEXT_INFINITE,
    MOTE_TEXT_NAN
} mote_text_kind;

/* A number as it stands in the text: ± digits · 10^exponent. */
typedef struct mote_text_number {
    const uint8_t *begin, *end;
    uint64_t digits;
    int32_t exponent;
    mote_text_kind kind;
    bool negative;
    bool inexact; /* too long for digits and exponent: they are not to be used */
} mote_text_number;

/* Parses a number; what follows it is not looked at. False if there is none at *at.
   [+-] digits [. digits] [e [+-] digits], or [+-] inf, infinity, nan, nan(…), in any case of letters. The minus sign
   of Unicode, U+2212, is one as well. */
bool mote_text_scan(const uint8_t *at, const uint8_t *end, mote_text_number *number);
/* Scans a number whose decimal mark is the one given, a point or a comma. */
bool mote_text_scan_decimal(const uint8_t *at, const uint8_t *end, uint8_t decimal, mote_text_number *number);
/* The nearest double or float; false if the number is finite but beyond the range. */
bool mote_text_double(const mote_text_number *number, double *value);
bool mote_text_float(const mote_text_number *number, float *value);
/* Stores the number as type. False, and nothing stored, if it is out of range or (integer types) not whole. */
bool mote_text_store(const mote_text_number *number, mote_type type, void *at);
/* Decimals that the number needs, without trailing zeros; 0 for inf and nan, a large number for e-999. */
uint32_t mote_text_decimals(const mote_text_number *number);
/* Is the nearest float the same number, to the last digit of the text? */
bool mote_text_fits_float(const mote_text_number *number);
/* Magnitude ≤ 1? */
bool mote_text_within_one(const mote_text_number *number);

/* 10^0 … 10^19. */
extern const uint64_t mote_text_power10[20];

/* ---- one number, written */

#define MOTE_TEXT_NUMBER_BYTES 48 /* no number is longer */

/* Each writes to out, without a zero at its end, and returns the length. */
size_t mote_text_put_unsigned(char *out, uint64_t value);
size_t mote_text_put_integer(char *out, int64_t value);
/* value · 10^-decimals, all decimals. decimals ≤ 19 */
size_t mote_text_put_fixed(char *out, int64_t value, uint32_t decimals);
/* The fewest decimals (for very large and very small magnitudes: digits) that read back as the same number. *guess
   makes it fast, not different: keep one per column, 0 at first. */
size_t mote_text_put_double(char *out, double value, uint32_t *guess);
size_t mote_text_put_float(char *out, float value, uint32_t *guess);

/* A scale and offset that are short decimals: stored · scale + offset = (stored · factor + shift) / 10^decimals. */
typedef struct mote_text_decimal {
    bool exact; /* false: they are not, use floating point */
    int64_t factor, shift;
    uint32_t decimals;
} mote_text_decimal;
mote_text_decimal mote_text_decimal_find(double scale, double offset);
/* (stored · factor + shift); false if it does not fit 63 bits. */
bool mote_text_decimal_apply(const mote_text_decimal *decimal, int64_t stored, int64_t *scaled);
/* The double nearest to an integer column's stored · scale + offset. */
double mote_text_decimal_value(const mote_text_decimal *decimal, const mote_column *column, uint64_t i);

/* ---- words in header lines: percent-escaped, so that blanks, line ends and % survive */

/* also: further characters to escape. out has 3 · strlen(text) + 1 bytes. */
size_t mote_text_escape(const char *text, const char *also, char *out);
/* Turns percent escapes back, in place on [text, text + length], and ends the text with a zero. */
void mote_text_unescape(char *text, size_t length);

/* ---- reading a table */

typedef struct mote_text_table {
    const mote_input *input;
    uint64_t begin, end;   /* the bytes of the table */
    bool lone_cr;          /* lines may end in CR alone; else in LF or CRLF */
    char separator;        /* ' ': runs of blanks and tabs; else this one, with blanks around it */
    char decimal;          /* ',' where numbers have decimal commas; else points */
    bool comments;         /* lines that begin with #, // or ; are not rows, and # and // end a row */
    uint32_t marked;       /* columns of a table whose first column holds text that may begin like a comment: a line
                              with as many values is a row; 0: it is none */
    bool salvage;          /* rows that are wrong are left out, with a warning, instead of an error */
    uint64_t piece_count;  /* made by mote_text_count and mote_text_survey: */
    uint64_t *piece_first; /* [piece_count + 1] number of the first row of each piece */
} mote_text_table;

/* One column of a row, or a list. */
typedef struct mote_text_field {
    mote_type type;
    uint32_t offset; /* in the record */
    bool skipped;    /* checked to be a number, not stored */
    bool anything;   /* not stored, and not looked at: text, dates, nothing at all */
    bool words;      /* for mote_text_examine: what is no number, or nothing, is counted */
    bool empties;    /* of type double: nothing between two separators, or behind the last one, is NaN */
    bool list;       /* a count, then that number of numbers; not stored */
    bool decimals;   /* counts for mote_text_rows.decimals */
    bool watched;    /* counts for mote_text_rows.wide */
} mote_text_field;

typedef struct mote_text_rows {
    uint64_t first, count;         /* rows of the table; out: without those left out */
    bool prefix;                   /* what is skipped: all rows from the first wrong one on */
    bool trial;                    /* a wrong row is no error: fits tells */
    bool fits;                     /* out: all rows are right */
    uint64_t *begins;              /* of mote_text_find_values, for mote_free; NULL: rows are lines */
    uint64_t broken, first_broken; /* of mote_text_find_values: rows over several lines that begin or end within one */
    const mote_text_field *fields;
    uint32_t field_count;
    uint32_t record_bytes;
    uint8_t *records;  /* count of them; NULL if all fields are skipped */
    uint32_t decimals; /* out: the most that a field needs */
    bool wide;         /* out: a watched field has digits that no float holds */
} mote_text_rows;

/* What a column holds, over all rows. */
typedef struct mote_text_survey {
    uint64_t words;            /* values that are no numbers, of a field that may have them */
    uint64_t first_word;       /* offset of the first of them */
    uint64_t empties;          /* fields that hold nothing, likewise */
    uint64_t first_empty;      /* offset of the first of them */
    uint64_t other_decimals;   /* those of them that are numbers with the other decimal sign */
    bool numbers;              /* there is a number */
    bool fraction;             /* a value is no integer of 64 bits */
    bool beyond_one;           /* a magnitude is larger than 1 */
    uint64_t max, max_negated; /* largest value and largest −value, integers only; 0 if none */
    uint32_t decimals;
} mote_text_survey;

/* Lines that are comments, and would be rows without their signs. */
typedef struct mote_text_passed {
    uint64_t count;
    uint64_t first; /* offset of the first */
} mote_text_passed;

/* Adds what was found of columns to what was found of them before. */
void mote_text_merge_surveys(mote_text_survey *into, const mote_text_survey *from, uint32_t columns);

/* Finds the next row at or after *at: [*row, *row_end) without the line end; *at moves behind it. False at the end. */
bool mote_text_next_row(const mote_text_table *table, uint64_t *at, uint64_t *row, uint64_t *row_end);
/* The next field of a row: [*field, *field_end), blanks trimmed, with the quotes that it may stand in; false at the end
   of the row. */
bool mote_text_next_field(const mote_text_table *table, uint64_t *at, uint64_t row_end, uint64_t *field,
                          uint64_t *field_end);
/* Is a field a number and nothing else, in quotes or not? */
bool mote_text_field_number(const mote_text_table *table, uint64_t field, uint64_t field_end, mote_text_number *number);
/* A row of a counted table: its number and where it, or a line before it that is no row, begins. */
typedef struct mote_text_place {
    uint64_t row, at;
} mote_text_place;
/* Whether a line that begins like a comment is a row of so many columns, the first of which begins with the signs; and
   whether it would be one without them. */
bool mote_text_is_marked_row(const mote_text_table *table, uint64_t at, uint64_t end, uint32_t columns);
bool mote_text_is_passed_row(const mote_text_table *table, uint64_t at, uint64_t end, uint32_t columns);
/* Moves forward to a row. All moves together pass over each byte of the table once at most. */
void mote_text_seek(const mote_text_table *table, uint64_t row, mote_text_place *place);
/* Where the table is to be salvaged: a last line without an end may be cut within a number, and is left out. */
void mote_text_leave_cut_line(mote_context *ctx, mote_text_table *table);
/* Counts the rows. */
mote_status mote_text_count(mote_context *ctx, mote_text_table *table, uint64_t *rows);
/* Counts the rows and looks at all values; each row must have columns values, at most MOTE_TEXT_COLUMNS. Of fields,
   anything and words count. *passed: comments that look like rows. */
#define MOTE_TEXT_COLUMNS 1024
mote_status mote_text_examine(mote_context *ctx, mote_text_table *table, const mote_text_field *fields,
                              uint32_t columns, mote_text_survey *survey, mote_text_passed *passed, uint64_t *rows);
/* Finds rows->count rows that are runs of values, wherever lines end, from *at on: what mote_text_parse then reads. *at
   moves behind the last whole one; *whole: how many there are. Blanks must separate. */
mote_status mote_text_find_values(mote_context *ctx, const mote_text_table *table, mote_text_rows *rows, uint64_t *at,
                                  uint64_t *whole);
/* Is nothing but blanks left from at on? */
bool mote_text_ends(const mote_text_table *table, uint64_t at);
/* Reads rows into records, in parallel. The table must have been counted or examined. */
mote_status mote_text_parse(mote_context *ctx, const mote_text_table *table, mote_text_rows *rows);
void mote_text_close(mote_context *ctx, mote_text_table *table);
/* The line that an offset is in, from 1, and the byte in it, from 1. */
void mote_text_find_line(const mote_text_table *table, uint64_t offset, uint64_t *line, uint64_t *column);
/* Notes MOTE_ERROR_DATA with the line and column of offset. */
__attribute__((format(printf, 4, 5))) mote_status mote_text_malformed(mote_context *ctx, const mote_text_table *table,
                                                                      uint64_t offset, const char *format, ...);

/* ---- writing a table */

/* The columns that params->columns names (separated by commas), in that order; all of them for NULL. x, y and z must be
   among them. *picked is from mote_alloc. */
mote_status mote_text_pick_columns(mote_context *ctx, const mote_cloud *cloud, const char *names,
                                   const mote_column ***picked, uint32_t *count);

/* How a column is written. */
typedef struct mote_text_column {
    const mote_column *column; /* NULL: always 0 */
    mote_text_decimal decimal;
    bool scaled;                      /* scale or offset count */
    bool pointed;                     /* whole floats get ".0", so that they read back as floats */
    const mote_column_limits *limits; /* the no-data value is written as nan; NULL: there is none */
} mote_text_column;

mote_text_column mote_text_column_of(const mote_column *column, bool pointed);
/* Appends all rows to output, in parallel. separator stands between values, "\n" behind rows. */
mote_status mote_text_write(mote_context *ctx, mote_output *output, uint64_t rows, const mote_text_column *columns,
                            uint32_t column_count, char separator, const char *stage);

#endif
