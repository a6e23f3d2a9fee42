/* The inside of a reader, for those that take what it reads as it comes. */
#ifndef MOTE_READER_H
#define MOTE_READER_H

#include "io/choice.h"
#include "io/crs/crs_change.h"
#include "io/e57/e57.h"
#include "io/las/las_source.h"

/* A range of a file's units, in the order of their points: chunks of LAZ, records of LAS. Other files have none. */
typedef struct reader_span {
    uint64_t first, end;
    uint64_t before;     /* points that a reader gives of the units before them */
    uint64_t before_end; /* and of these, too */
} reader_span;

struct mote_reader {
    mote_context *ctx;
    char *path;
    mote_input input;
    mote_read_params params; /* as asked for */
    mote_box bounds;
    char *select, *where, *set;
    mote_choice choice;  /* what they mean */
    bool is_las, is_e57; /* neither: whole is the one piece */
    las_source source;
    e57_source e57;
    mote_cloud *piece;     /* of whichever is read */
    uint64_t stride_bytes; /* of its records */
    where_bound bound;     /* E57: the condition */
    mote_cloud *whole;
    uint8_t *records;
    uint64_t all_columns, shown_columns; /* of the piece; those behind the shown ones are read for expressions alone */
    bool *chosen;                        /* of a piece of plain LAS, where there is a condition */
    uint64_t count, next;                /* points in all; chunk (LAZ), point (LAS) or piece that comes next */
    uint64_t kept, given;                /* points that were read; that are gone to the caller */
    uint64_t piece_first, piece_end;     /* units that the last piece is of */
    uint64_t place;                      /* points that it gives before the last piece, if it gives all */
    const reader_span *spans;            /* units that are read; NULL: all */
    uint64_t span_count, span;           /* the one that is read */
    uint64_t span_end, span_given;       /* where next is behind it; given, when it began */
    uint64_t points_end;                 /* of the file: where its points end */
    bool spans_apart;                    /* no piece is of several */
    uint64_t changed;                    /* points that assignments changed, since the start */
    bool told;                           /* what was left out and lost */
    las_losses losses;
    crs_change change;
};

/* Before the first piece of a reader with params.to_crs: where the points lie, in their own system. New positions are
   then the ones that a cloud of all of them gets, and the columns of the piece count in them. */
mote_status mote_reader_place(mote_reader *reader, const mote_box *box);

/* ---- reader_spans.c: parts of a file */
/* Before the first piece: only these units are read, which ascend. They outlive the reader.
   apart  no piece is of several: then reader->place is right; else pieces of LAZ are larger, and decoded in less time
   False: they are no units of this file. */
bool mote_reader_take_spans(mote_reader *reader, const reader_span *spans, uint64_t count, bool apart);
/* How many units of its file come next, of at most so many; 0: that was all. */
uint64_t mote_reader_next_units(mote_reader *reader, uint64_t most);
/* The units that point i of the last piece is of, fewer than those of all the piece where that is known.
   end  out: where in the piece their points end */
reader_span mote_reader_units_of(const mote_reader *reader, uint64_t i, uint64_t *end);
/* Marks the blocks of the file that it reads: all that are not of points, and those of the spans. */
void mote_reader_mark_blocks(const mote_reader *reader, uint64_t block_bytes, bool *blocks);

/* Moves the points of the piece together that have a finite position; *dropped grows by the others. */
mote_status mote_reader_keep_finite(mote_reader *reader, uint64_t *dropped);

#endif
