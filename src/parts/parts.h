/* A cloud that memory does not hold becomes an octree in parts, ranges of Morton codes.

     input     ──1──> counts of points by cell ──> parts: ranges of cells of about as many points
     input     ──2──> scratch, a part behind the other  │ part 0 │ part 1 │ part 2 │
     a part    ──3──> its octree in memory ──> its records, level by level, in a file
     all files ──4──> octree.bin, a level behind the other; hierarchy.bin, metadata.json

   What is decided at any level is decided within a cell of the level that parts are made of (lod/lod_whole.h), so that
   the bytes are those that one piece gives. */
#ifndef MOTE_PARTS_INTERNAL_H
#define MOTE_PARTS_INTERNAL_H

#include "io/potree/potree.h"
#include "io/reader.h"
#include "lod/lod_whole.h"
#include "mote/parts.h"

#define PARTS_LEVEL         7u             /* of the cells, at most: 2^21 counts are 16 MB, and fit a cache */
#define PARTS_MAX           1000u          /* parts: files that are open while they are joined */
#define PARTS_BUFFER_BYTES  (8u << 20)     /* written to one part at once, at most: a disk that turns then is busy writing */
#define PARTS_BUFFERS_BYTES (256ull << 20) /* of all parts together */
#define PARTS_FIXED_BYTES   (24ull << 20)  /* tables of cells and nodes, the buffers of outputs and of joining */
#define PARTS_THREAD_BYTES  (4ull << 20)   /* what a thread gathers and writes in */
#define PARTS_LEAST_POINTS  100000u

/* Cells [first, end) of the level of parts. */
typedef struct parts_range {
    uint64_t first, end;
    uint64_t points;
    uint64_t at; /* of its first record in the scratch file, in records */
} parts_range;

typedef struct parts_run {
    mote_context *ctx;
    mote_reader *reader;
    const mote_lod_params *params;
    const mote_potree_params *potree;
    mote_parts_report *report;
    uint64_t begin_bytes;    /* of the context's memory, when it began */
    mote_cloud *whole_cloud; /* what is the same for all points: columns without values, system, records */
    uint64_t record_bytes;   /* of the reader's records, which go to the scratch file as they are */
    uint32_t *column_at;     /* where in them each column is */
    lod_whole whole;
    uint64_t *first; /* whole.first */
    uint64_t flags[POTREE_MERGED];
    uint64_t points, skipped;
    uint64_t room_bytes;  /* for the points of a part */
    uint64_t part_points; /* that it holds */
    parts_range *ranges;
    uint32_t *part_of; /* [8^level] by cell */
    uint32_t part_count;
    mote_potree_output output;
    mote_output scratch;
    potree_part_tree *trees; /* [part_count] */
    int *files;              /* [part_count] of their records; -1: none */
    potree_stats stats;
    uint64_t node_count; /* of the whole */
} parts_run;

/* ---- parts_count.c: the box, the flags, and the points of each cell */
mote_status parts_count(parts_run *run);
/* Cuts the cells into ranges that memory holds. */
mote_status parts_cut(parts_run *run);
/* Computes the cell of each point of a piece; UINT64_MAX: it has no place. */
mote_status parts_cells(const parts_run *run, const mote_cloud *piece, uint64_t *cells);

/* ---- parts_distribute.c: the records of each part beside each other */
mote_status parts_distribute(parts_run *run);

/* ---- parts_build.c: a part in memory, and its octree */
mote_status parts_build(parts_run *run);

#endif
