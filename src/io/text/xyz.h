/* XYZ and its kin (CSV, PTS, ASC, TXT): what the reader's parts share. Facts: docs/formats/text.md. */
#ifndef MOTE_XYZ_H
#define MOTE_XYZ_H

#include "io/text/text.h"

#define MOTE_XYZ_NAME_BYTES 104 /* with the zero; mote_cloud_free_name keeps 100 */
#define MOTE_XYZ_WORD_BYTES 336 /* a name of 100 bytes, escaped, with its type */

/* What stands before the rows. */
typedef struct mote_xyz_preamble {
    mote_text_table table; /* from the first row on */
    uint32_t columns;      /* of the first row; 0 if there is no row */
    bool open_end;         /* behind them a separator, and perhaps an empty one */
    bool has_count;        /* a line with one whole number */
    uint64_t count_offset, count;
    uint64_t header, header_end; /* the line with the names, without comment signs; equal if there is none */
    bool header_is_comment;
    uint64_t crs, crs_end; /* of "# mote crs …" */
    uint64_t stray;        /* offset of a line that is none of these; UINT64_MAX if none */
} mote_xyz_preamble;

typedef struct mote_xyz_column {
    char name[MOTE_XYZ_WORD_BYTES];
    char unit[MOTE_XYZ_NAME_BYTES];
    bool skipped;
    bool has_type; /* the header states it */
    mote_type type;
} mote_xyz_column;

/* Looks at the lines until the first row. params: the separator and the columns, where they are given; NULL: they are
   not. */
void mote_xyz_find_rows(const mote_input *input, const mote_read_params *params, mote_xyz_preamble *preamble);
/* The names in the header line; how many there are, at most most. */
uint32_t mote_xyz_header_names(const mote_xyz_preamble *preamble, mote_xyz_column *columns, uint32_t max);
/* Are x, y and z among them? */
bool mote_xyz_has_positions(const mote_xyz_column *columns, uint32_t count);
/* Names separated by commas; "-" leaves a column out. How many there are. */
uint32_t mote_xyz_given_names(const char *names, mote_xyz_column *columns, uint32_t max);
/* Names by the number of columns and what they hold. */
void mote_xyz_guess_names(const mote_text_survey *survey, mote_xyz_column *columns, uint32_t count);
/* Types by what the columns hold, where the header states none. */
void mote_xyz_choose_types(const mote_text_survey *survey, mote_xyz_column *columns, uint32_t count);

#endif
