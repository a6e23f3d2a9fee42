/* A cloud that memory does not hold becomes an octree in parts, ranges of Morton codes.

     inputs    ──1──> counts of points by cell ──> parts: ranges of cells of about as many points
     inputs    ──2──> scratch, a part behind the other  │ part 0 │ part 1 │ part 2 │
     a part    ──3──> its octree in memory ──> its records, level by level, in a file
     all files ──4──> octree.bin, a level behind the other; hierarchy.bin, metadata.json

   The bytes are those that one piece gives: lod/lod_whole.h says what a part knows of the others. */
#ifndef MOTE_PARTS_INTERNAL_H
#define MOTE_PARTS_INTERNAL_H

#include "io/potree/potree.h"
#include "lod/lod_whole.h"
#include "mote/parts.h"
#include "parts/parts_source.h"

#define PARTS_LEVEL         7u             /* of the cells that are counted first, at most: 2^21 counts are 16 MB */
#define PARTS_CELL_POINTS   8u             /* of the points for each cell: then counts are few bytes a point */
#define PARTS_STEP          4u             /* levels that a crowded cell is divided by: 4,096 cells, 32 KB of counts */
#define PARTS_MAX           1000u          /* parts: files that are open while they are joined */
#define PARTS_BUFFER_BYTES  (8u << 20)     /* written to a part at once, at most: a disk seeks once for it */
#define PARTS_BUFFERS_BYTES (256ull << 20) /* of all parts together */
#define PARTS_FIXED_BYTES   (24ull << 20)  /* tables of cells and nodes, the buffers of outputs and of joining */
#define PARTS_THREAD_BYTES  (4ull << 20)   /* what a thread gathers and writes in */
#define PARTS_LEAST_POINTS  100000u

/* A range of codes that becomes a part, and what it knows of the whole. */
typedef struct parts_range {
    lod_whole whole;
    uint64_t points;
    uint64_t at; /* of its first record in the scratch file, in records */
} parts_range;

/* The points of the cells that a crowded cell is divided into, PARTS_STEP levels finer or single codes. */
typedef struct parts_block {
    uint32_t level; /* of the crowded cell */
    uint64_t cell;
    uint64_t *first; /* [8^step + 1] points in the finer cells before, in Morton order */
} parts_block;

/* By how many levels a crowded cell of a level is divided: down to single codes. */
static inline uint32_t parts_step_of(uint32_t level) {
    return MOTE_ORDER_BITS - level < PARTS_STEP ? MOTE_ORDER_BITS - level : PARTS_STEP;
}

typedef struct parts_run {
    mote_context *ctx;
    parts_source source;
    const mote_lod_params *params;
    const mote_potree_params *potree;
    mote_parts_report *report;
    uint64_t begin_bytes;  /* of the context's memory, when it began */
    uint64_t record_bytes; /* of the source's records, which go to the scratch file as they are */
    mote_lattice lattice;
    uint32_t level;      /* of the cells that are counted first */
    uint64_t cell_count; /* 8^level */
    uint64_t *first;     /* [8^level + 1] points in the cells of that level before, in Morton order */
    parts_block *blocks; /* by level and cell */
    uint64_t block_count, block_capacity;
    uint64_t flags[POTREE_MERGED];
    uint64_t points, skipped;
    uint64_t room_bytes;  /* for the points of a part */
    uint64_t part_points; /* that it holds */
    parts_range *ranges;
    uint64_t range_capacity;
    uint32_t *part_of; /* [8^level + 1] the part that has the first code of the cell */
    uint32_t part_count;
    bool fine; /* lod_whole.fine */
    mote_potree_output output;
    mote_output scratch;
    potree_part_tree *trees; /* [part_count] */
    int *files;              /* [part_count] of their records; -1: none */
    potree_stats stats;
} parts_run;

/* ---- parts_count.c: the box, the flags, and the points of each cell */
mote_status parts_count(parts_run *run);
/* Once room_bytes and part_points are known: the points of finer cells, where one has more than a part may. */
mote_status parts_count_crowded(parts_run *run);
/* The block of a crowded cell; NULL: it is none. */
const parts_block *parts_block_of(const parts_run *run, uint32_t level, uint64_t cell);
/* The Morton code of each point of a piece; UINT64_MAX: it has no place. */
mote_status parts_codes(const parts_run *run, const mote_cloud *piece, uint64_t *codes);

/* ---- parts_cut.c: ranges that memory holds */
mote_status parts_cut(parts_run *run);
/* Which part has a code. */
uint32_t parts_find(const parts_run *run, uint64_t code);

/* ---- parts_load.c: a cloud of a part's points, from the scratch file */
mote_status parts_load(parts_run *run, const parts_range *range, mote_cloud **out);

/* ---- parts_borders.c: which part has the representative of a cell that several share */
mote_status parts_borders(parts_run *run);

/* ---- parts_distribute.c: the records of each part beside each other */
mote_status parts_distribute(parts_run *run);

/* ---- parts_build.c: a part in memory, and its octree */
mote_status parts_build(parts_run *run);

#endif
