/* How several clouds become one: which columns, of which type, and how each input's values get there. */
#ifndef MOTE_UNITE_PLAN_H
#define MOTE_UNITE_PLAN_H

#include "core/color.h"
#include "io/io_internal.h"

/* What an input gives to a column. */
typedef struct unite_source {
    const mote_column *column; /* NULL: the input has none, the values are 0 */
    int64_t factor, shift;     /* united = stored · factor + shift, if either is not 1 and 0 */
    bool is_color;             /* united = column_color of color */
    mote_column color;
    bool is_rank; /* whole degrees for an angle in finer steps */
} unite_source;

typedef struct unite_column {
    const char *name, *unit, *description;
    mote_type type;
    double scale, offset;
    bool world;            /* takes the world's value, scale and offset applied, as double */
    uint32_t at;           /* byte within the united record */
    unite_source *sources; /* [input_count] */
} unite_column;

typedef struct unite_plan {
    mote_context *ctx;
    mote_cloud *const *clouds;
    const char *const *names;
    uint32_t input_count;
    uint64_t column_count, column_capacity;
    unite_column *columns;
    uint64_t record_bytes;
    double position_step;
    bool adjusted_time; /* some GPS times are adjusted standard time, as all others then are or might be */
} unite_plan;

/* Decides everything. Fails with the reason when something would be lost. Close the plan in either case. */
mote_status unite_plan_open(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count,
                            unite_plan *plan);
void unite_plan_close(unite_plan *plan);

/* The column of a plan by that name; NULL if there is none. */
unite_column *unite_find(const unite_plan *plan, const char *name);

/* Lets the whole degrees of one input become the finer steps of another: scan_angle_rank and scan_angle. */
void unite_scan_angles(unite_plan *plan);
/* Fails where some GPS times are seconds of the week and others are not; src/io/merge/unite_time.c */
mote_status unite_times(unite_plan *plan);
/* Decides on x, y, z together; src/io/merge/unite_position.c */
mote_status unite_positions(unite_plan *plan);
/* Brings colours, infrared and intensity of different depths to 16 bits; src/io/merge/unite_color.c */
mote_status unite_colors(unite_plan *plan);

/* Whether a column holds a position. */
bool unite_is_position(const char *name);
/* The type of a column's stored values when they stand alone: bit fields become whole integers. */
mote_type unite_whole_type(const mote_column *column);
/* Fails if a double cannot hold all stored values of a 64-bit integer column. */
mote_status unite_check_double(unite_plan *plan, uint32_t input, const mote_column *column);
/* The smallest and largest stored value of an integer column (int64; uint64 saturates); low > high if there is none. */
void unite_range(const mote_context *ctx, const mote_column *column, uint64_t count, int64_t *low, int64_t *high);

#endif
