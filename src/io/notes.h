/* Notes: comments of PLY and PCD files in which mote says what these formats have no words for, and which other
   programs ignore. Words stand between blanks; blanks, line ends and % within a word are %XX. */
#ifndef MOTE_NOTES_H
#define MOTE_NOTES_H

#include "io/text/text.h"

/* What "column FIELD key word …" says. */
typedef struct mote_column_note {
    uint64_t field, field_end;             /* the word in the input */
    const char *name, *unit, *description; /* they live as long as the cloud; NULL if not stated */
    double scale, offset;                  /* 1 and 0 if not stated */
    bool has_scale, has_offset;
    uint64_t joined; /* offset of the word behind "joined"; 0 if not stated */
    mote_type joined_type;
} mote_column_note;

/* The next word of *at … end; false if there is none. */
bool mote_notes_next_word(const mote_input *input, uint64_t *at, uint64_t end, uint64_t *word, uint64_t *word_end);
/* Is that word the text? */
bool mote_notes_word_is(const mote_input *input, uint64_t word, uint64_t word_end, const char *text);

/* Reads a note, [begin, end) behind "mote". What the whole cloud has is set; *is_column says that it is one of a
   column, whose texts will belong to the cloud. Unknown notes and keys are skipped. */
mote_status mote_notes_read(mote_context *ctx, const mote_input *input, uint64_t begin, uint64_t end, mote_cloud *cloud,
                            mote_column_note *note, bool *is_column);

/* "PREFIX crs …" and "PREFIX position_step …", lines of their own; step 0: none. */
mote_status mote_notes_put_cloud(mote_context *ctx, mote_output *output, const char *prefix, const mote_cloud *cloud,
                                 double step);
/* "PREFIX column FIELD …", if the note says anything. */
mote_status mote_notes_put_column(mote_context *ctx, mote_output *output, const char *prefix, const char *field,
                                  const mote_column_note *note);

#endif
