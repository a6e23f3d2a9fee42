/* A LAS or LAZ file opened for reading: what it says of itself, columns, and where its points are. From here it is read
   whole (las_read.c) or in pieces (reader.c). */
#ifndef MOTE_LAS_SOURCE_H
#define MOTE_LAS_SOURCE_H

#include "io/las/las_format.h"
#include "io/laz/laz.h"
#include "order/order_streaming.h"
#include "where/where_expression.h"

#define LAS_TABLE_OFFSET_BYTES 8u /* the offset of the chunk table, in front of the first chunk */

/* A chunk of compressed points in the file. */
typedef struct las_chunk {
    uint64_t at, size_bytes;
    const uint8_t *mended; /* its bytes where those of the file will not do; else NULL */
    uint64_t points;
    uint64_t first;  /* number of its first point in the file, from 0 */
    uint64_t number; /* in the file, from 1; for messages */
    bool open_end;   /* where it ends is not known: size_bytes is all that is left */
    bool cut;        /* open_end, and the file is known to end too early */
} las_chunk;

/* The chunks that are to be decoded, in the order of the points. */
typedef struct las_chunks {
    las_chunk *list;
    uint64_t count, capacity;
    uint64_t points;  /* of all of them */
    uint64_t in_file; /* chunks of the file, whether to be decoded or not */
    uint8_t *mended;
} las_chunks;

/* Leaves out points that do not meet a condition, as soon as they are decoded. */
typedef struct las_filter {
    where_program *program;
    where_bound bound;      /* columns of the records that are decoded */
    laz_selection first;    /* what the condition names alone */
    laz_decoder **decoders; /* of it, per thread; NULL until they are needed */
    bool settled, in_steps; /* in_steps: chunks are decoded by `first`, and wholly only where a point meets it */
    uint64_t left_out;      /* points so far */
} las_filter;

typedef struct las_source {
    mote_context *ctx;
    mote_input *input;
    las_header header;
    bool salvage;
    bool is_sampled;            /* nothing but the first points of chunks is wanted */
    struct las_upload *upload;  /* where chunks go one by one as they are decoded; NULL: all to one place */
    las_filter *filter;         /* of compressed points; NULL: all are kept */
    order_streaming *streaming; /* told of the points as they are decoded; NULL: nobody is */
    mote_cloud *cloud;          /* columns look at plain records at the start of the points, until they are placed */
    laz_schema schema;          /* compressed points: */
    las_chunks chunks;
    laz_selection selection; /* what of a record is read */
    laz_decoder **decoders;  /* per thread; NULL until chunks are decoded */
} las_source;

/* ---- las_read.c */
/* Reads header, records and columns and finds the points; params->select is obeyed. Close it in any case. */
mote_status mote_las_open(mote_context *ctx, mote_input *input, const mote_read_params *params, las_source *source);
void mote_las_close(las_source *source);
/* Memory for the records of the selection, owned by the cloud; its columns look there from now on. */
mote_status mote_las_take_records(las_source *source, uint64_t points, uint8_t **records);

/* ---- las_chunk_list.c */
/* Appends to the list; number and first are counted here. */
mote_status mote_las_add_chunk(las_source *source, const las_chunk *chunk);
/* Where the first chunk starts: behind the offset of the chunk table. */
uint64_t mote_las_chunks_at(const las_source *source);

/* ---- las_chunks.c */
/* Finds all chunks of the file: by the chunk table, or without it by what is there, with a warning. */
mote_status mote_las_find_chunks(las_source *source);

/* ---- las_chunks_scan.c: finds the chunks without a table, one after the other, up to end. */
mote_status mote_las_scan_chunks(las_source *source, uint64_t end);
/* A layered chunk at the end of a file that was cut: lets its layers end where the file does, so that the points before
   that can be salvaged. */
mote_status mote_las_mend_chunk(las_source *source, las_chunk *chunk);
/* Points that a layered chunk says it holds; 0 if it is no chunk. *size_bytes: its bytes, at most left. */
uint64_t mote_las_layered_points(const laz_schema *schema, const uint8_t *data, uint64_t remaining,
                                 uint64_t *size_bytes);

/* ---- las_decode.c */
/* What was salvaged around. Zeroed at first. */
typedef struct las_losses {
    uint64_t chunks, points;
    char numbers[128]; /* of the chunks, as text */
    bool more;         /* than numbers has room for */
    char why[192];     /* of the first one */
} las_losses;

/* Before memory for the points is taken: where that is far more than files usually need, decodes all chunks into
   nowhere to see that they hold them. */
mote_status mote_las_prove_chunks(las_source *source, uint64_t points, las_losses *losses);
/* Decodes chunks [first, first + count) of the list to records; *points: how many there are. Where points are to be
   salvaged, those of damaged chunks are left out. */
mote_status mote_las_decode(las_source *source, uint64_t first, uint64_t count, uint8_t *records, uint64_t *points,
                            las_losses *losses);
/* Decodes all chunks to source->upload. Damage fails also where points are to be salvaged, then without a message. */
#define LAS_GROUP_CHUNKS 2u /* what a thread decodes at once; see mote_laz_decode */
mote_status mote_las_decode_away(las_source *source);
void mote_las_free_decoders(mote_context *ctx, laz_decoder **decoders);
/* The warning what was lost; an error if it was everything. */
mote_status mote_las_report_losses(const las_source *source, const las_losses *losses, uint64_t kept);

/* ---- las_pieces.c: a piece is as many chunks as keep all threads busy. */
uint64_t mote_las_piece_points(const las_source *source);
/* The same of records of another format. */
uint64_t mote_piece_points(const mote_context *ctx, uint64_t record_bytes);
/* Chunks of the piece that starts at chunk first; *points: what they hold. */
uint64_t mote_las_piece_chunks(const las_source *source, uint64_t first, uint64_t *points);
/* Points of the largest piece, wherever it starts, and whichever chunks are left out. */
uint64_t mote_las_largest_piece(const las_source *source);

/* ---- las_filter.c */
/* Compiles a condition for the columns of the cloud, which look at plain records, and notes what it needs of them.
   After mote_las_select. */
mote_status mote_las_filter_open(las_source *source, const char *condition);
/* Closes all but the decoders. */
void mote_las_filter_close(las_source *source);
/* The columns look elsewhere now. */
mote_status mote_las_filter_bind(las_source *source);
/* Whether decoding in steps pays: by some chunks of the file, so that it does not depend on the threads. base: where
   the columns look. */
mote_status mote_las_filter_settle(las_source *source, const uint8_t *base);
/* Decodes what the condition names of a chunk; whether a point meets it, or a fault must be told. */
bool mote_las_filter_meets(const las_source *source, laz_decoder *decoder, const uint8_t *base, laz_chunk *chunk);
/* Moves points of a decoded chunk that meet the condition to its front; returns how many. base: where the columns look.
 */
uint64_t mote_las_filter_chunk(const las_source *source, const uint8_t *base, const laz_chunk *chunk, uint64_t points);

/* ---- las_select.c */
/* The parts of a record (LAZ_WANT_…) that marked columns lie in, before columns are placed. */
uint32_t mote_las_parts_of(const las_source *source, const bool *marks);
/* Finds out what must be read of each record for the cloud's columns. */
mote_status mote_las_select(las_source *source);
/* Lets the columns look at records, which are as the selection says. Once. */
void mote_las_place_columns(las_source *source, const uint8_t *records);
/* Copies what is selected of count whole records. */
void mote_las_copy_selected(const las_source *source, const uint8_t *from, uint64_t count, uint8_t *to);

/* ---- las_sample.c */
/* Reads the first point of each chunk, of plain LAS one in as many, and adds to sample what the header states. */
mote_status mote_las_sample(las_source *source, mote_read_sample *sample);

#endif
