/* The LAS and LAZ writer: one file, whose points come at once or in pieces. */
#ifndef MOTE_LAS_WRITE_H
#define MOTE_LAS_WRITE_H

#include "io/las/write/las_vlr_write.h"

#define LAS_RETURNS 15u

/* What the header says of the points; one per thread, then their sum. */
typedef struct las_tally {
    int32_t low[3], high[3];
    uint64_t returns[LAS_RETURNS + 1];
    uint64_t beyond_week; /* GPS times that no week holds; counted where the header before could not say so */
    uint8_t padding[64];  /* threads write to their own cache lines */
} las_tally;

/* Where things stand in the file. */
typedef struct las_layout {
    uint32_t header_bytes;
    uint64_t points_at;
    uint64_t behind_at; /* the records behind the points */
} las_layout;

/* What is to be written. */
typedef struct las_job {
    const mote_cloud *cloud;
    uint64_t count;           /* points of the file */
    bool in_pieces;           /* the cloud holds some of them at a time */
    const las_pieces *pieces; /* in_pieces: how to come to all of them before they are added; NULL: there is no way */
} las_job;

typedef struct las_chunk_writer las_chunk_writer;

typedef struct las_writer {
    mote_context *ctx;
    char *path;
    mote_write_params params;
    las_plan plan;
    las_records records;
    las_layout layout;
    mote_output output;
    uint64_t added;           /* points of the pieces before */
    uint64_t block_points;    /* what a thread takes at a time: of LAZ a chunk */
    uint64_t threads;         /* at most as many as there are blocks */
    uint8_t *buffers;         /* records of a block, per thread; NULL where the source has them as they are */
    las_tally *tallies;       /* per thread */
    las_chunk_writer *chunks; /* NULL: not compressed */
} las_writer;

/* ---- las_write.c */
/* Opens the output and settles everything but the points; job->pieces may have been read for that. A writer that failed
 * to open is closed all the same. */
mote_status mote_las_writer_open(mote_context *ctx, const las_job *job, const char *path,
                                 const mote_write_params *params, las_writer *w);
/* Appends the points that the cloud holds now. */
mote_status mote_las_writer_add(las_writer *w);
/* Completes the file (status MOTE_OK) or removes it (any other); frees what the writer has. */
mote_status mote_las_writer_close(las_writer *w, mote_status status);

/* ---- las_write_points.c */
/* The records of points [first, first + count) of the cloud, counted: the source's own, or converted to the thread's
   buffer. */
const uint8_t *mote_las_writer_records(las_writer *w, uint64_t thread, uint64_t first, uint64_t count);

/* ---- las_write_header.c */
void mote_las_tally_clear(las_tally *tally);
void mote_las_tally_count(const las_plan *plan, const uint8_t *records, uint64_t count, las_tally *tally);
void mote_las_tally_add(las_tally *sum, const las_tally *part);
/* LAS 1.0 and 1.1 cannot say that GPS times are adjusted standard time. Where the times themselves say it, so does the
   new header, with a warning. */
void mote_las_settle_times(mote_context *ctx, las_plan *plan, const las_tally *tally);
/* Settles the header's size and where the points start. */
mote_status mote_las_lay_out(mote_context *ctx, const las_plan *plan, const las_records *records, las_layout *layout);
/* Fills in layout->header_bytes of the header, zeroed before. */
void mote_las_header_fill(const las_plan *plan, const las_records *records, const las_layout *layout,
                          const las_tally *tally, uint8_t *header);

/* ---- las_laz_write.c: the points of a compressed file. */
mote_status mote_las_chunk_writer_make(las_writer *w, bool in_pieces);
void mote_las_chunk_writer_free(las_writer *w);
/* Codes and writes all chunks that the cloud's points complete, and keeps the rest for the next piece. */
mote_status mote_las_chunk_writer_add(las_writer *w);
/* No more points come: plan.count is what was added, fewer than was said. Codes those that wait for a whole chunk. */
mote_status mote_las_chunk_writer_end(las_writer *w);
/* Writes the chunk table; settles layout.behind_at. */
mote_status mote_las_chunk_writer_finish(las_writer *w);

#endif
