/* Lists of points that sampling by distance may take, on the disk, in Morton order; and which of their places hold all
   points of a box.

     points    ●   ●  ● ●      ● ●●   ●     ●  ●   ● ...       12 bytes, and one for the level
     marks     ^          ^           ^           ^            the code of every step-th: in memory
     box       ------------------     ---------                places from one mark to another: a few points too many */
#ifndef MOTE_PARTS_LISTED_H
#define MOTE_PARTS_LISTED_H

#include "parts/parts.h"

#define LISTED_POINT_BYTES 13u /* on the disk */

/* Points that are beside each other in the files too. */
typedef struct listed_run {
    uint64_t first; /* place in the list */
    uint64_t at;    /* in the files */
} listed_run;

/* A cell of a level, or where it begins in the order: beyond the levels of codes, the same cell of that level, and the
   way down from there. */
typedef struct listed_cell {
    uint64_t code;  /* of min(level, MOTE_ORDER_BITS) levels */
    uint32_t below; /* of the levels that follow */
    uint32_t level;
} listed_cell;
listed_cell parts_listed_child(const listed_cell *cell, uint64_t octant);

typedef struct listed_mark {
    listed_cell at; /* of the finest level that the order tells apart */
    uint64_t place;
} listed_mark;

typedef struct parts_listed {
    mote_context *ctx;
    mote_output xyz, level;
    uint64_t count;
    listed_run *runs; /* [run_count], the first at place 0 */
    uint32_t run_count;
    listed_mark *marks;
    uint64_t mark_count;
    uint64_t step;
    mote_cell_divisor by[3]; /* what makes codes of coordinates */
    uint32_t finest;         /* level of cells that the order tells apart */
} parts_listed;

/* Opens the files of a list in the folder that is written, or beside the output. */
mote_status parts_listed_open(parts_run *run, const char *output, const char *name, parts_listed *list);
/* Opens one such file. */
mote_status parts_listed_file(parts_run *run, const char *output, const char *name, mote_output *to);
/* Once the points are in their files, and count, runs and run_count are set: makes marks, of bytes at most.
   is_fine  they are sorted by fine codes, too */
mote_status parts_listed_mark(parts_listed *list, bool is_fine, uint64_t bytes);
void parts_listed_close(parts_listed *list);

/* The first of count coordinates, in order, that does not lie before a cell; or behind it: before its end. */
uint64_t parts_listed_begin(const parts_listed *list, const uint32_t *xyz, uint64_t count, const listed_cell *cell);
uint64_t parts_listed_end(const parts_listed *list, const uint32_t *xyz, uint64_t count, const listed_cell *cell);

/* Places [first, end), ascending. */
typedef struct listed_range {
    uint64_t first, end;
} listed_range;

typedef struct listed_ranges {
    listed_range *list;
    uint64_t count, capacity;
    uint64_t points;
} listed_ranges;

lod_box parts_listed_box(const listed_cell *cell);
/* Points that lie in a cell, or some more. */
listed_range parts_listed_range(const parts_listed *list, const listed_cell *cell);
/* Where all points of a box are; stops once they are more than most. ranges: zeroed, or of the call before */
mote_status parts_listed_find(const parts_listed *list, const lod_box *box, uint64_t most, listed_ranges *ranges);
/* Reads them, one range behind the other. */
mote_status parts_listed_read(const parts_listed *list, const listed_ranges *ranges, uint32_t *xyz, uint8_t *level);

#endif
