/* The inside of planes: what the steps on the host share. They are the same for all backends. */
#ifndef MOTE_PLANES_INTERNAL_H
#define MOTE_PLANES_INTERNAL_H

#include "core/cloud.h"
#include "mote/planes.h"
#include "planes/planes_ops.h"

#define PLANES_GUARD 2.0 /* tolerances: points so near a plane that was found do not vote for others */

/* A plane in steps: normal · q = offset. */
typedef struct planes_fit {
    double normal[3], offset, centroid[3];
    double rms;
    bool valid; /* false: the points are in one place or on a line */
} planes_fit;

/* One that is kept, with what is known of it so far. */
typedef struct planes_found {
    planes_fit fit;
    planes_sums sums;
    uint64_t votes;
} planes_found;

/* What was measured of a cloud, in steps. */
typedef struct planes_scale {
    double radius;     /* of the sphere around the centre with all points */
    double typical;    /* distance of points to the centre, root of the mean square */
    double resolution; /* of the source's own positions */
    bool flat;         /* noise could be measured */
    double noise;
    double spacing;
} planes_scale;

struct mote_planes {
    mote_context *ctx;
    mote_planes_facts facts;
    uint32_t count;
    mote_plane *planes;
    uint32_t *first_corner; /* [count + 1] */
    double *corners;        /* x y z each */
};

/* Points of the sample near a plane, from a pivot; chosen from a pool of those within a larger distance. */
typedef struct planes_near {
    uint32_t pool_count;
    uint32_t *pool;
    uint32_t count;
    float *x, *y, *z;
    double pivot[3];
    double size; /* root of the mean squared distance to the pivot */
} planes_near;

/* One run. */
typedef struct planes_run {
    mote_context *ctx;
    const mote_planes_ops *ops;
    mote_planes_params params;
    planes_points *points;
    planes_scale scale;
    planes_table table;
    planes_sample sample;
    uint8_t *claimed;      /* [sample] by planes of this round */
    planes_near *near;     /* [threads] */
    double resolution;     /* radians between directions */
    double tolerance, bin; /* steps */
    bool tolerance_given;
    int32_t cone; /* of planes */
    uint64_t min_points, free_points;
    planes_found *found;
    uint32_t found_count;
    mote_planes_facts facts;
} planes_run;

/* ---- planes_frame.c */

/* Places the points in a lattice, without strays that would blur it, and measures all but noise and spacing. */
mote_status planes_frame_points(planes_run *run);
/* The same but for how far points typically are from the centre, and in any order unless it is asked for. */
mote_status planes_place_points(planes_run *run, bool ordered);

/* ---- planes_table.c */

/* The directions of params and what suppression compares; bins of that many steps reach as far as radius. */
mote_status planes_table_make(mote_context *ctx, const mote_planes_params *params, double radius, double bin,
                              planes_table *table);
/* The same for a run: what the context kept of another is taken over, and close gives it back to be kept.
   lists  false: directions and bins alone, for backends that make the rest themselves */
mote_status planes_table_open(mote_context *ctx, const mote_planes_params *params, double radius, double bin,
                              bool lists, planes_table *table);
void planes_table_close(mote_context *ctx, planes_table *table);
void planes_table_free(mote_context *ctx, planes_table *table);
double planes_table_resolution(const mote_planes_params *params); /* radians */
/* Direction and rho in steps of a cell. */
void planes_table_cell(const planes_table *table, uint32_t direction, uint32_t bin, double normal[3], double *offset);

/* ---- planes_sample.c */

mote_status planes_sample_make(mote_context *ctx, uint32_t capacity, planes_sample *sample);
void planes_sample_free(mote_context *ctx, planes_sample *sample);

/* ---- planes_noise.c */

/* Measures noise and spacing. */
mote_status planes_measure_noise(planes_run *run);

/* ---- planes_fit.c */

planes_fit planes_fit_sums(const planes_sums *sums);
/* Of count points given by their sums of differences to a pivot. */
typedef struct planes_moments {
    double n, first[3], products[PLANES_PRODUCTS];
} planes_moments;
static inline void planes_moments_add(planes_moments *m, double x, double y, double z) {
    m->n += 1;
    m->first[0] += x;
    m->first[1] += y;
    m->first[2] += z;
    m->products[0] += x * x;
    m->products[1] += x * y;
    m->products[2] += x * z;
    m->products[3] += y * y;
    m->products[4] += y * z;
    m->products[5] += z * z;
}
planes_fit planes_fit_moments(const planes_moments *moments, const double pivot[3]);
/* The plane as passes over points take it. */
planes_plane planes_plane_of(const planes_run *run, const planes_fit *fit);
/* Two perpendicular directions in a plane of that normal. */
void planes_perpendicular(const double normal[3], double u[3], double v[3]);
/* Root of the mean squared distance of what is summed up to a plane. */
double planes_mean_distance(const planes_sums *sums, const planes_fit *to);

/* ---- planes.c */

/* The tolerance that was given, or what the noise makes of it. */
void planes_choose_tolerance(planes_run *run);

/* ---- planes_refine.c */

mote_status planes_near_make(mote_context *ctx, uint32_t count, planes_near *near);
void planes_near_free(mote_context *ctx, planes_near *near);
/* The pool: those unclaimed within reach of a plane. */
void planes_take_pool(const planes_run *run, const planes_fit *fit, double reach, planes_near *near);
/* Of the pool those within reach of a plane whose normal it allows. */
void planes_find_near(const planes_run *run, const planes_fit *fit, double reach, planes_near *near);
planes_fit planes_fit_near(const planes_near *near);

typedef struct planes_candidate {
    planes_fit fit;
    uint32_t votes;
    uint32_t count;     /* free points of the sample in the plane */
    uint32_t inner;     /* of them within half the tolerance */
    uint32_t beside[2]; /* free points in the bands */
} planes_candidate;

/* From a cell of the accumulator to the plane that the sample's unclaimed points around it make; count 0 if they are
   fewer than least. */
void planes_refine(const planes_run *run, const planes_winner *winner, uint32_t least, planes_near *near,
                   planes_candidate *candidate);
/* Counts the unclaimed points in and beside a plane. */
void planes_count_points(const planes_run *run, planes_candidate *candidate);
/* Unclaimed points within the guard become claimed. */
void planes_claim(planes_run *run, const planes_fit *fit);

/* ---- planes_calibrate.c */

/* Sets the tolerance, unless it was given, by how far the points of the most voted planes lie around them, of those
   that have at least so many of the sample. */
void planes_calibrate(planes_run *run, const planes_winner *winners, uint32_t count, uint32_t least);

/* ---- planes_search.c */

/* Whether there are enough more points in a plane than beside it for it to be one: least, at least. */
bool planes_is_plane(const planes_run *run, uint64_t count, uint64_t inner, const uint64_t beside[2], uint64_t least);
/* Finds planes, round by round. */
mote_status planes_search(planes_run *run);
/* Labels all points with the planes that were found. */
mote_status planes_label_all(planes_run *run);

/* ---- planes_extent.c */

/* Labels, footprints, parts and outlines: from what was found to the answer. */
mote_status planes_finish(planes_run *run, mote_planes *out);

#endif
