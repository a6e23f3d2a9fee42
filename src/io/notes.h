/* Notes: comments of PLY and PCD files in which mote says what these formats have no words for, and which other
   programs ignore. Words stand between blanks; blanks, line ends and % within a word are %XX. */
#ifndef MOTE_NOTES_H
#define MOTE_NOTES_H

#include "io/text/text.h"

/* Words of an input that are no_data, min and max: [begin, end), equal if it is not stated. */
typedef struct mote_limit_words {
    uint64_t no_data[2], min[2], max[2];
} mote_limit_words;

/* What "column FIELD key word …" says. */
typedef struct mote_column_note {
    uint64_t field, field_end;             /* the word in the input */
    const char *name, *unit, *description; /* they live as long as the cloud; NULL if not stated */
    double scale, offset;                  /* 1 and 0 if not stated */
    bool has_scale, has_offset;
    uint64_t joined; /* offset of the word behind "joined"; 0 if not stated */
    mote_type joined_type;
    mote_limit_words limit_words; /* reading */
    mote_column_limits limits;    /* writing: numbers of limits_type */
    mote_type limits_type;
} mote_column_note;

/* The next word of *at … end; false if there is none. */
bool mote_notes_next_word(const mote_input *input, uint64_t *at, uint64_t end, uint64_t *word, uint64_t *word_end);
/* Is that word the text? */
bool mote_notes_word_is(const mote_input *input, uint64_t word, uint64_t word_end, const char *text);

/* Reads a note, [begin, end) behind "mote". What the whole cloud has is set; *is_column says that it is one of a
   column, whose texts will belong to the cloud. Unknown notes and keys are skipped. */
mote_status mote_notes_read(mote_context *ctx, const mote_input *input, uint64_t begin, uint64_t end, mote_cloud *cloud,
                            mote_column_note *note, bool *is_column);

/* Gives the column of that name and type the limits that the words state. */
mote_status mote_notes_keep_limits(mote_context *ctx, const mote_input *input, const mote_limit_words *words,
                                   const char *name, mote_type type, mote_cloud *cloud);

/* ---- limits_text.c: numbers of mote_column_limits as text. */
/* out  [MOTE_TEXT_NUMBER_BYTES] */
void mote_limit_put(uint64_t limit, mote_type type, char *out);
/* false: the text is no number of the type. */
bool mote_limit_read(const uint8_t *text, size_t length, mote_type type, uint64_t *limit);

/* "PREFIX crs …" and "PREFIX position_step …", lines of their own; step 0: none. */
mote_status mote_notes_put_cloud(mote_context *ctx, mote_output *output, const char *prefix, const mote_cloud *cloud,
                                 double step);
/* "PREFIX column FIELD …", if the note says anything. */
mote_status mote_notes_put_column(mote_context *ctx, mote_output *output, const char *prefix, const char *field,
                                  const mote_column_note *note);

#endif
