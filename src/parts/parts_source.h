/* The points of all inputs in order, piece by piece, as often as they are wanted: each is a record of the same columns.

     input 0   │ piece │ piece │          one input: its pieces are the source's, as they come
     input 1   │ piece │ piece │ piece │  several: the union's records, by the plan of io/merge (merge_piece)

   Inputs are opened one after the other, in each walk anew, so that thousands of them take no memory. */
#ifndef PARTS_SOURCE_H
#define PARTS_SOURCE_H

#include "io/merge/inputs.h"
#include "io/merge/merge_plan.h"
#include "io/potree/potree_ops.h"
#include "io/reader.h"

/* Where points lie: stored values where positions are integers, else places in the world. */
typedef struct parts_box {
    int64_t low[3], high[3];
    mote_box world;
    uint64_t points, skipped;
} parts_box;

/* The units of an input that have points of a part (reader_span); none: all are read. */
typedef struct parts_spans {
    const reader_span *list;
    uint64_t count;
} parts_spans;

typedef struct parts_source {
    mote_context *ctx;
    mote_read_params reading;
    mote_input_list list;
    mote_cloud **shapes; /* [list.count] the columns of each, and what belongs to it; without values */
    merge_facts *facts;  /* [list.count] of several inputs */
    merge_plan plan;
    uint64_t count;           /* points that the inputs have, before conditions */
    bool is_stated;           /* the box is known before all points were seen */
    parts_box stated;         /* by the header of LAS, which may lie, or by facts */
    mote_cloud *whole;        /* what is the same for all points: columns without values, system, records */
    uint64_t record_bytes;    /* of all columns of a point */
    uint32_t *column_at;      /* where in them each column is */
    mote_cloud *piece;        /* of several inputs */
    uint8_t *piece_records;   /* its */
    mote_reader *reader;      /* of the input that is read; NULL: none is open */
    mote_box *boxes;          /* [list.count] where points lie that are brought to another system; NULL: none are */
    const mote_cloud *from;   /* the piece of it that is being converted */
    uint64_t from_at;         /* points of it that are */
    uint64_t next;            /* input */
    const bool *wanted;       /* [list.count] inputs that walks read; NULL: all */
    const parts_spans *spans; /* [list.count] units of them that are read; NULL: all */
    bool spans_apart;         /* no piece is of several spans, so that parts_source_place is right */
    uint64_t walked;          /* points of the inputs before */
    uint64_t largest_piece;   /* points that an input gave at once */
    double open_seconds;      /* of processors, to look at all inputs */
    bool was_opened;          /* all inputs: what opening them tells is told */
    bool was_walked;          /* what reading them tells */
    /* Of the walk, and of the input that is read, in the progress of the call. */
    mote_progress_span share, input_share;
} parts_source;

/* Opens the inputs one after the other, and learns which columns they have. Close the source in either case.
   boxes  [inputs] where the points of each lie before they are brought to another system, which become the source's;
          NULL: they are read for them, where that is asked for */
mote_status parts_source_begin(mote_context *ctx, const char *const *paths, uint32_t count,
                               const mote_read_params *reading, mote_box *boxes, parts_source *source);
/* Learns what several inputs have in common.
   facts  [list.count] of their values, which become the source's: then nothing is told that was told when they were
          found; NULL: all inputs are read for them */
mote_status parts_source_unite(parts_source *source, merge_facts *facts);
/* Looks at all points of inputs, as they are before the union.
   wanted  [list.count] of which; NULL: of all
   facts   [list.count] out, of those that are wanted; the caller's
   flags   [list.count] what potree_flag_bits finds joins them; NULL: not asked */
mote_status parts_source_look(parts_source *source, const bool *wanted, merge_facts *facts,
                              uint64_t (*flags)[POTREE_MERGED]);
void parts_source_close(parts_source *source);
/* Of all threads of this process, so far. */
double parts_processor_seconds(void);

/* Begins a walk, which is the share first … last of the call's progress. */
void parts_source_rewind(parts_source *source, double first, double last);
/* The next piece, valid until the next call, and its records; NULL: that was all. */
mote_status parts_source_next(parts_source *source, const mote_cloud **piece, const uint8_t **records);
/* The input that the last piece is of, and the points that this gives before it. */
uint64_t parts_source_input(const parts_source *source);
uint64_t parts_source_place(const parts_source *source);
/* Of a walk that reads some of the inputs: the place of the last piece's first point among the points of all. */
uint64_t parts_source_number(const parts_source *source);
/* The units of the input that point i of the last piece is of. No units: it has none. end: where their points end */
reader_span parts_source_units(const parts_source *source, uint64_t i, uint64_t *end);
/* Marks the blocks of an input's file that walks read. */
mote_status parts_source_mark(parts_source *source, uint64_t input, uint64_t block_bytes, bool *blocks);
/* Gives back what a walk takes. */
void parts_source_rest(parts_source *source);

#endif
