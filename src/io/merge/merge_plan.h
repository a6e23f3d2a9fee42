/* How several clouds become one: which columns, of which type, and how each input's values get there. Only the columns
   of the inputs and the facts of their values decide, so that inputs may as well come in pieces:

     inputs ──merge_facts_see──> facts ──merge_plan_open──> plan ──merge_piece──> records of the union */
#ifndef MOTE_MERGE_PLAN_H
#define MOTE_MERGE_PLAN_H

#include "core/color.h"
#include "io/io_internal.h"

#define MERGE_COLORS 3u /* groups of channels that are judged together: colours, infrared, intensity */

/* What a plan has to know of the values of an input. */
typedef struct merge_facts {
    uint64_t points;
    int64_t low[3], high[3]; /* stored coordinates; low > high: none, or no integers */
    mote_color_range colors[MERGE_COLORS];
    uint64_t times, no_week; /* GPS times that are not 0; that no week holds */
    uint64_t ranks_between;  /* scan angles that are no whole degrees, as LAS's ranks are */
    uint64_t *not_double;    /* [columns] values of 64-bit integers that a double does not hold */
} merge_facts;

/* What an input gives to a column. */
typedef struct merge_source {
    const mote_column *column; /* NULL: the input has none, the values are 0 */
    uint32_t index;            /* of it in the input */
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
    const merge_facts *facts; /* [input_count] */
    merge_facts *own_facts;   /* where the caller has none */
    uint16_t *stations;       /* [input_count] what is added to the numbers of its scans */
    uint32_t input_count;
    uint64_t column_count, column_capacity;
    merge_column *columns;
    uint64_t record_bytes;
    const char *crs; /* of all */
    double position_step;
    bool adjusted_time; /* some GPS times are adjusted standard time, as all others then are or might be */
} merge_plan;

/* ---- merge_facts.c */
/* like: has the columns of the input. Free the facts in either case. */
mote_status merge_facts_begin(mote_context *ctx, const mote_cloud *like, merge_facts *facts);
/* places: also the range of positions, which inputs whose positions are alike do not need. */
void merge_facts_see(const mote_context *ctx, const mote_cloud *piece, bool places, merge_facts *facts);
void merge_facts_free(mote_context *ctx, merge_facts *facts);
/* The channels of a group that a cloud has. */
uint32_t merge_color_channels(const mote_cloud *cloud, uint32_t group, const mote_column *channels[3]);

/* ---- merge_plan.c */
/* The one coordinate reference system of all inputs; those without one are told of. */
mote_status merge_crs(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count,
                      const char **crs);
/* Decides everything. Fails with the reason when something would be lost. Close the plan in either case. The clouds,
   which outlive the plan, need no points where facts are given: but then their counts are those of the facts. Without
   facts their points are looked at. */
mote_status merge_plan_open(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count,
                            const merge_facts *facts, merge_plan *plan);
void merge_plan_close(merge_plan *plan);

/* ---- merge.c */
/* A cloud with the columns of the plan and what belongs to all inputs; its records are for the caller to fill. */
mote_status merge_make_cloud(const merge_plan *plan, uint64_t points, mote_cloud **out, uint8_t **records);
/* Takes the values of an input from a piece of it from now on. */
void merge_take_piece(merge_plan *plan, uint32_t input, const mote_cloud *piece);
/* Converts points first … of an input to records, in parallel. */
void merge_piece(const merge_plan *plan, uint32_t input, uint64_t first, uint64_t count, uint8_t *records);
/* Gives scans that came from different files different numbers, in the points and in what is kept of each scan;
   merge_stations.c */
mote_status merge_stations(merge_plan *plan);

/* Lets the whole degrees of one input become the finer steps of another: scan_angle_rank and scan_angle. Degrees with
   fractions are kept as they are, in doubles. */
void merge_scan_angles(merge_plan *plan);
/* Fails where some GPS times are seconds of the week and others are not; src/io/merge/merge_time.c */
mote_status merge_times(merge_plan *plan);
/* Decides on x, y, z together; src/io/merge/merge_position.c */
mote_status merge_positions(merge_plan *plan);
/* Whether all inputs hold their positions the same way. */
bool merge_positions_alike(const merge_plan *plan);
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
/* Fails if a double cannot hold all stored values of a 64-bit integer column. */
mote_status merge_check_double(merge_plan *plan, uint32_t input, const mote_column *column);

#endif
