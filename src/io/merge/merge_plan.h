/* How several clouds become one: which columns, of which type, and how each input's values get there. */
#ifndef MOTE_MERGE_PLAN_H
#define MOTE_MERGE_PLAN_H

#include "core/color.h"
#include "io/io_internal.h"

/* What an input gives to a column. */
typedef struct merge_source {
    const mote_column *column; /* NULL: the input has none, the values are 0 */
    int64_t factor, shift;     /* merged = stored · factor + shift, if either is not 1 and 0 */
    bool is_color;             /* merged = column_color of color */
    mote_column color;
    bool is_rank; /* whole degrees for an angle in finer steps */
} merge_source;

typedef struct merge_column {
    const char *name, *unit, *description;
    mote_type type;
    double scale, offset;
    mote_column_limits limits; /* as all inputs that have the column state them */
    bool world;                /* takes the world's value, scale and offset applied, as double */
    uint32_t at;               /* byte within the merged record */
    merge_source *sources;     /* [input_count] */
} merge_column;

typedef struct merge_plan {
    mote_context *ctx;
    mote_cloud *const *clouds;
    const char *const *names;
    uint32_t input_count;
    uint64_t column_count, column_capacity;
    merge_column *columns;
    uint64_t record_bytes;
    double position_step;
    bool adjusted_time; /* some GPS times are adjusted standard time, as all others then are or might be */
} merge_plan;

/* Decides everything. Fails with the reason when something would be lost. Close the plan in either case. */
mote_status merge_plan_open(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count,
                            merge_plan *plan);
void merge_plan_close(merge_plan *plan);

/* Lets the whole degrees of one input become the finer steps of another: scan_angle_rank and scan_angle. Degrees with
   fractions are kept as they are, in doubles. */
void merge_scan_angles(merge_plan *plan);
/* Fails where some GPS times are seconds of the week and others are not; src/io/merge/merge_time.c */
mote_status merge_times(merge_plan *plan);
/* Decides on x, y, z together; src/io/merge/merge_position.c */
mote_status merge_positions(merge_plan *plan);
/* Brings colours, infrared and intensity of different depths to 16 bits; src/io/merge/merge_color.c */
mote_status merge_colors(merge_plan *plan);

/* Whether a column holds a position. */
bool merge_is_position(const char *name);

/* ---- merge_column.c */
/* Settles the limits of a column whose type is settled; inputs that disagree are told of. */
void merge_limits(const merge_plan *plan, merge_column *column);
/* The column of a plan by that name; NULL if there is none. */
merge_column *merge_find(const merge_plan *plan, const char *name);
/* The type of a column's stored values when they stand alone: bit fields become whole integers. */
mote_type merge_whole_type(const mote_column *column);
/* The smallest and largest stored value of an integer column (int64; uint64 saturates); low > high if there is none. */
void merge_range(const mote_context *ctx, const mote_column *column, uint64_t count, int64_t *low, int64_t *high);
/* Fails if a double cannot hold all stored values of a 64-bit integer column. */
mote_status merge_check_double(merge_plan *plan, uint32_t input, const mote_column *column);

#endif
