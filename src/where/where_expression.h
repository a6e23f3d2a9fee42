/* Expressions over the attributes of points: a condition that chooses points, or assignments that change values.

     text --where_token--> words --where_parse--> nodes --where_compile--> operations --where_run--> masks and values

   A program is compiled once and knows no cloud. Bound to one it names columns, and is then read by any number of
   threads, each of which runs it over blocks of points, one operation after the other over the whole block. */
#ifndef MOTE_WHERE_EXPRESSION_H
#define MOTE_WHERE_EXPRESSION_H

#include "core/cloud.h"
#include "mote/where.h"

#define WHERE_BLOCK_POINTS 512u /* values of a block: 4 KB, a few of which stay in the first cache */
#define WHERE_SLOTS        16u  /* intermediate results that wait at the same time */

typedef struct where_program where_program;

/* What a thread needs to run a program. */
typedef struct where_scratch {
    double numbers[WHERE_SLOTS][WHERE_BLOCK_POINTS];
    uint8_t masks[WHERE_SLOTS][WHERE_BLOCK_POINTS];
} where_scratch;

/* A name of the program in a cloud. */
typedef struct where_column {
    mote_column column;
    mote_column_limits limits;
} where_column;

/* A program for the columns of a cloud, whose data it reads where they lie when it is bound. */
typedef struct where_bound {
    const where_program *program;
    where_column *columns; /* [names of the program] */
} where_bound;

/* ---- where_parse.c */
/* Parses and compiles a condition. A mistake is MOTE_ERROR_ARGUMENT, with a message that shows its place. */
mote_status mote_where_condition(mote_context *ctx, const char *text, where_program **out);
/* Compiles assignments, "name = value", with " where condition" behind each and ";" between them. */
mote_status mote_where_assignments(mote_context *ctx, const char *text, where_program **out);
void mote_where_free(where_program *program);

/* ---- where_names.c */
/* Finds the columns of the program's names. source: what the points come from, for the message; NULL: nothing is
   said of it. Free it also when it fails. */
mote_status mote_where_bind(const where_program *program, const mote_cloud *cloud, const char *source,
                            where_bound *bound);
void mote_where_unbind(where_bound *bound);
/* Lets the columns look at the same records elsewhere. */
void mote_where_move(where_bound *bound, const uint8_t *from, const uint8_t *to);
/* The attributes of a list (see mote_read_params.select) and those of the program, as such a list, for mote_free.
   NULL: all, or there is no memory, which *status then says. */
char *mote_where_select(const where_program *program, const char *select, mote_status *status);
/* Marks the columns [column_count] of a cloud that the program reads. */
void mote_where_mark(const where_program *program, const mote_cloud *cloud, bool *marks);

/* ---- where_box.c */
/* A box outside of which no point with finite coordinates meets the condition; min > max: none does anywhere. */
void mote_where_box(const where_program *program, mote_box *box);

/* ---- where_run.c */
/* Which of the points [first, first + count), at most a block, meet the condition: mask [count] of 0 and 1. Returns how
   many do. */
uint64_t mote_where_test(const where_bound *bound, uint64_t first, uint64_t count, where_scratch *scratch,
                         uint8_t *mask);

/* ---- where.c */
/* Tells in parallel which of count points from the first on meet the condition: chosen [count]. */
uint64_t mote_where_choose(const mote_context *ctx, const where_bound *bound, uint64_t count, bool *chosen);
/* Moves the records of the points that meet the condition together; bound has columns that look at these records, which
   follow each other every stride_bytes from point first on. Returns how many there are. */
uint64_t mote_where_compact(const where_bound *bound, uint64_t first, uint64_t count, uint8_t *records,
                            uint64_t stride_bytes);
/* Replaces *cloud by its points that meet the condition; leaves it alone if that is all of them. On failure it is still
   there. */
mote_status mote_where_keep(mote_context *ctx, mote_cloud **cloud, const where_program *program, const char *source);

/* ---- where_assign.c */
/* Runs assignments on a cloud whose memory may be written. chosen: [count] which points; NULL: all. *changed grows by
   the points that any assignment reached. first: number of the first point in its source, for the message. */
mote_status mote_where_assign(mote_context *ctx, mote_cloud *cloud, const where_program *assignments,
                              const where_program *condition, const char *source, uint64_t first, uint64_t *changed);
/* Makes the memory of the cloud one that may be written: a copy where it looks at files. */
mote_status mote_where_make_writable(mote_context *ctx, mote_cloud **cloud);

#endif
