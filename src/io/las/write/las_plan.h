/* The LAS writer's plan: which format, and for each dimension of the record where its values come from. */
#ifndef MOTE_LAS_PLAN_H
#define MOTE_LAS_PLAN_H

#include "core/color.h"
#include "io/las/las_format.h"

#define LAS_FORMAT_COPC (-2) /* asked for in mote_write_params.las_format: 6, 7 or 8, as the attributes need */

/* How stored values of a column become stored values of a dimension. */
typedef enum las_conversion {
    LAS_COPY,    /* the same bytes */
    LAS_INTEGER, /* (stored - shift) · factor */
    LAS_ROUND,   /* the integer nearest to (value - offset) / scale */
    LAS_FLOAT,   /* value */
    LAS_COLOR    /* a colour in 16 bits, as core/color.h has it */
} las_conversion;

typedef struct las_item {
    const mote_column *source;
    las_field field;
    las_conversion how;
    int64_t shift, factor;
    double scale, offset;
    const mote_color_rule *color; /* LAS_COLOR */
} las_item;

/* A run of bytes of the record that stands in the source as it is. */
typedef struct las_run {
    const uint8_t *source;
    uint32_t stride_bytes, at, size_bytes;
} las_run;

/* The dimensions that hold brightness in 16 bits: the first three are one thing. */
#define LAS_COLORS    5u
#define LAS_RGB       3u
#define LAS_NIR       3u
#define LAS_INTENSITY 4u
extern const char *const mote_las_colors[LAS_COLORS];

/* Range of a column's value / divisor. */
typedef struct las_range {
    double low, high; /* of the finite values; low > high if there are none */
    bool whole;       /* all finite and integers */
    bool finite;      /* all finite */
} las_range;

/* A column to be looked at, and what was found. */
typedef struct las_scan {
    const mote_column *column;
    double divisor;
    las_range range;
} las_scan;

/* The points of a cloud that holds some of them at a time: as often as they are asked for, and then for writing. */
typedef struct las_pieces {
    mote_status (*begin)(void *user);           /* goes back to the start */
    mote_status (*next)(void *user, bool *any); /* the cloud holds the next points; *any false: there are none left */
    void *user;
    bool knows_count; /* how many points there are is known: they are visited only where values decide something */
} las_pieces;

/* What was seen of the values of all points; see las_look.c. */
typedef struct las_seen {
    uint64_t count;
    mote_box box; /* where positions are floats */
    uint64_t broken;
    int64_t low[3], high[3]; /* of positions that are integers of more than 32 bits */
    mote_color_range rgb[2], nir[2], intensity;
    double steps[3]; /* of the axes that are floats, which tell all values apart; las_position.c */
    bool has_steps;
} las_seen;

typedef struct las_plan {
    const mote_cloud *cloud; /* or a piece of it */
    const mote_write_params *params;
    const char *path;
    const las_pieces *pieces; /* NULL: the cloud holds all points */
    uint64_t count;           /* points of the file */
    uint32_t chunk_points;    /* of compressed files, LAZ_VARIABLE too; 0: not compressed */
    bool passthrough;         /* LAS to LAS unchanged: types alone decide, no value has to be looked at */
    uint8_t format, version_minor;
    bool adjusted_time; /* GPS times cannot be seconds of the week, though nothing said so before */
    bool origin_layout; /* the columns look at records of the cloud's LAS origin */
    uint32_t record_bytes;
    double scale[3], offset[3];
    bool *chosen;    /* per column: it is to be written */
    bool *used;      /* per column: some dimension holds it */
    las_scan *scans; /* of columns whose values decide what becomes of them */
    uint32_t scan_count;
    las_seen seen;
    bool *singles;                           /* per column: a dimension asks whether its values are floats */
    const mote_column *channels[LAS_COLORS]; /* of mote_las_colors; NULL: there is none */
    mote_color_rule colors[LAS_COLORS];      /* what their values mean */
    bool exact_intensity;                    /* those of floats are steps of 16 bits */
    las_item *items;
    uint64_t item_count;
    uint8_t *extra; /* entries of LAS_EXTRA_BYTES */
    uint64_t extra_count;
    las_run *runs;
    uint64_t run_count;
} las_plan;

/* ---- las_scan.c */
/* A scan of nothing yet. */
las_scan mote_las_scan_of(const mote_column *column, double divisor);
/* Widens the ranges of all scans by one parallel pass over the points. */
mote_status mote_las_scan(mote_context *ctx, las_scan *scans, uint32_t scan_count, uint64_t count);
/* Whether a column of floats holds only what a float (32 bits) holds. */
bool mote_las_is_single(const mote_context *ctx, const mote_column *column, uint64_t count);

/* ---- las_look.c */
/* Visits the points of the cloud, all or piece by piece, until *enough. */
typedef mote_status las_visit(mote_context *ctx, las_plan *plan, void *user, bool *enough);
mote_status mote_las_each_piece(mote_context *ctx, las_plan *plan, las_visit *visit, void *user);
/* Looks at the values of all points: fills in scans, singles, seen and count. */
mote_status mote_las_look(mote_context *ctx, las_plan *plan);
void mote_las_see_nothing(las_seen *seen);
/* Whether a column of integers may hold more than LAS's 32 bits. */
bool mote_las_is_wide(const mote_column *column);

/* ---- las_position.c: makes the items of x, y and z and the header's scale and offset. */
mote_status mote_las_plan_positions(mote_context *ctx, las_plan *plan);

/* ---- las_origin.c */
/* Whether the columns still look at records as a file of the cloud's origin has them. */
bool mote_las_has_origin_layout(const mote_cloud *cloud);
/* Whether a column looks at extra bytes of the file that the cloud came from. Those stay extra bytes, even under the
   name of a dimension, so that a file comes back as it was; a format that was asked for overrides that. */
bool mote_las_is_extra_of_origin(const las_plan *plan, const mote_column *column);

/* ---- las_passthrough.c */
/* Whether the chosen columns are dimensions as the cloud's LAS origin has them, or no dimensions at all, so that the
   plan is the same for all values. */
bool mote_las_is_passthrough(const las_plan *plan);

/* ---- las_fit.c */
/* The column for a dimension; NULL if there is none. */
const mote_column *mote_las_find_chosen(const las_plan *plan, const char *name);
/* The numbers that a dimension holds. */
las_range mote_las_field_range(const las_field *field);
bool mote_las_is_within(const las_range *inner, const las_range *outer);
/* What the scan found of value / divisor; everything where the column was not looked at so. */
las_range mote_las_range_of(const las_plan *plan, const mote_column *column, double divisor);
/* Whether whatever a column may store is a number that the dimension holds. */
bool mote_las_type_fits(const mote_column *column, const las_field *field);
/* Whether a column's values are numbers that the dimension holds, by its type or by a look at them. */
bool mote_las_integers_fit(const las_plan *plan, const mote_column *column, const las_field *field);

/* ---- las_choose_format.c: makes format and version_minor, after a look at the values. */
mote_status mote_las_choose_format(mote_context *ctx, las_plan *plan);

/* ---- las_plan.c */
/* Plans the records of a cloud that is written as a whole. A path that ends in .laz asks for compression. */
mote_status mote_las_plan_make(mote_context *ctx, const mote_cloud *cloud, const mote_write_params *params,
                               const char *path, las_plan *plan);
/* For a file of count points of which the cloud holds some at a time; pieces: how to come to the others, where the
   values of all of them must be known. NULL: that is MOTE_ERROR_UNSUPPORTED. */
mote_status mote_las_plan_pieces(mote_context *ctx, const mote_cloud *piece, uint64_t count, const las_pieces *pieces,
                                 const mote_write_params *params, const char *path, las_plan *plan);
/* The same plan for other points of the same columns, by what a plan saw of the values of all. The parameters and the
   path of that plan are lent. */
mote_status mote_las_plan_again(mote_context *ctx, const las_plan *of, const mote_cloud *cloud, las_plan *plan);
void mote_las_plan_free(mote_context *ctx, las_plan *plan);

/* ---- las_convert.c */
#define LAS_BATCH_POINTS 512u /* the values of a batch stay in the first cache */
/* Stored integers of a batch as two's complement in 64 bits. */
void mote_las_load_integers(const mote_column *column, uint64_t first, uint64_t count, uint64_t *out);
/* Values of a batch, with scale and offset applied. */
void mote_las_load_values(const mote_column *column, uint64_t first, uint64_t count, double *out);
/* Finds what of the record can be copied as it is: fills plan->runs, marks those items LAS_COPY. */
mote_status mote_las_plan_runs(mote_context *ctx, las_plan *plan);
/* Writes the records of points [first, first + count) to out, zeroed before. Several threads at once. */
void mote_las_convert(const las_plan *plan, uint64_t first, uint64_t count, uint8_t *out);
/* Makes the records of points in any order. */
void mote_las_gather(const las_plan *plan, const uint32_t *indices, uint64_t count, uint8_t *out);
/* The source's own bytes where records of the cloud are already records of the plan; NULL where they are not. */
const uint8_t *mote_las_same_records(const las_plan *plan, uint64_t first);

#endif
