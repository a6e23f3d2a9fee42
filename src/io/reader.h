/* The inside of a reader, for those that take what it reads as it comes. */
#ifndef MOTE_READER_H
#define MOTE_READER_H

#include "io/choice.h"
#include "io/crs/crs_change.h"
#include "io/e57/e57.h"
#include "io/las/las_source.h"

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
    uint64_t changed;                    /* points that assignments changed, since the start */
    bool told;                           /* what was left out and lost */
    las_losses losses;
    crs_change change;
};

/* Before the first piece of a reader with params.to_crs: where the points lie, in their own system. New positions are
   then the ones that a cloud of all of them gets, and the columns of the piece count in them. */
mote_status mote_reader_place(mote_reader *reader, const mote_box *box);

/* Moves the points of the piece together that have a finite position; *dropped grows by the others. */
mote_status mote_reader_keep_finite(mote_reader *reader, uint64_t *dropped);

#endif
