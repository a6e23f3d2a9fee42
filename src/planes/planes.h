/* The inside of planes: what the steps on the host share. They are the same for all backends. */
#ifndef MOTE_PLANES_INTERNAL_H
#define MOTE_PLANES_INTERNAL_H

#include "core/cloud.h"
#include "mote/planes.h"
#include "planes/fit/planes_flatness.h"
#include "planes/planes_ops.h"
#include "planes/planes_refused.h"

#define PLANES_GUARD 2.0 /* tolerances: points so near a plane that was found do not vote for others */

/* ---- what refining peaks takes and gives, and what a plane of the vote must be */

#define PLANES_MAX_PEAKS   256u /* of a round */
#define PLANES_CALIBRATED  24u  /* peaks whose noise is measured */
#define PLANES_CONTRAST    1.5  /* times as many points in a plane as beside it, on either side */
#define PLANES_SIGNIFICANT 5.0  /* standard deviations above the points beside */
#define PLANES_PEAKED      0.55 /* of the points within half the measured tolerance; half if they were spread evenly */

/* How a round refines; lengths in steps. */
typedef struct planes_refining {
    double resolution; /* radians between directions */
    double typical;    /* distance of points to the centre */
    double bin, tolerance, guard;
    uint32_t min; /* points of the sample that a plane has */
    uint32_t max; /* planes that are accepted at most */
    int32_t cone; /* of planes */
    bool peaked;  /* whether the points of a plane must peak */
} planes_refining;

/* The plane in the middle of a cell. */
typedef struct planes_start {
    double normal[3], offset;
    uint32_t votes;
} planes_start;

/* What a start leads to. */
typedef struct planes_candidate {
    planes_fit fit;
    uint32_t votes;
    uint32_t count;       /* free points of the sample in the plane */
    uint32_t inner;       /* of them within half the tolerance */
    uint32_t in_bands[2]; /* free points in the bands */
} planes_candidate;

/* The noise of the plane that a start leads to. */
typedef struct planes_calibrated {
    double noise;
    double weight; /* points of the peak; 0: there is none */
} planes_calibrated;

/* Whether there are enough more points in a plane than beside it for it to be one: least, at least. */
static inline bool planes_stands(uint64_t count, uint64_t inner, uint64_t below, uint64_t above, uint64_t min,
                                 bool peaked) {
    const double n = (double)count, max = (double)(below > above ? below : above);
    const double mean = 0.5 * ((double)below + (double)above);
    if (n - mean < (double)min || n - mean < 3) return false;
    if (n < PLANES_CONTRAST * max || n - mean < PLANES_SIGNIFICANT * sqrt(mean + 1)) return false;
    return !peaked || (double)inner >= PLANES_PEAKED * n - sqrt(n);
}

/* ---- a run */

/* One that is kept, with what is known of it so far. */
typedef struct planes_found {
    planes_fit fit;
    planes_sums sums;
    uint64_t votes;
    double tolerance;   /* of its own, steps; 0: that of the run */
    double cell;        /* of its footprint, steps; 0: that of the run */
    planes_reach reach; /* as far as it was seen to go */
    bool turned;        /* its normal is known better than its points tell, and stays */
    bool grown;         /* found by what is flat nearby, not by the vote */
    bool stands;        /* of the vote, and confirmed by a sample */
} planes_found;

/* What was measured of a cloud, in steps. */
typedef struct planes_scale {
    double radius;     /* of the sphere around the centre with all points */
    double typical;    /* distance of points to the centre, root of the mean square */
    double resolution; /* of the source's own positions */
    double step;       /* that coordinates of all three axes are multiples of; 0: there is none */
    double steps[3];   /* that those of each axis are rounded to */
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
    uint32_t refused_count;
    mote_plane_refused *refused;
};

/* One run. */
typedef struct planes_run {
    mote_context *ctx;
    const mote_planes_ops *ops;
    mote_planes_params params;
    mote_cloud cloud; /* a view of the caller's, in which no-data normals are zero */
    void *known;      /* what it looks at besides */
    planes_points *points;
    planes_scale scale;
    planes_directions *table; /* NULL until votes are prepared */
    uint32_t max_voters;      /* of a round */
    uint32_t voters;          /* of this round */
    double resolution;        /* radians between directions */
    double tolerance, bin;    /* steps */
    bool tolerance_given;
    int32_t cone; /* of planes */
    uint64_t min_points, free_points;
    uint64_t vote_points; /* what a plane of the vote has at least, which sees few of many points */
    uint64_t support;     /* what a plane has at least, of those that are looked for now */
    double nearby_noise;  /* steps: what neighbours tell of the noise */
    planes_found *found;
    uint32_t found_count;
    planes_refusals *refusals;  /* NULL: not asked for */
    struct planes_pools *pools; /* of refinement */
    mote_planes_facts facts;
} planes_run;

/* ---- planes_entry.c */

/* Does work in a run on the device that is chosen for the cloud, and where that cannot, once more on another one. What
   the caller gives is checked before, and the points are taken in. */
typedef mote_status (*planes_work)(planes_run *run, void *user);
mote_status planes_run_on_any(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params,
                              planes_work work, void *user);

/* ---- planes.c */

/* Measures what is in the cloud, and chooses by it what the caller did not give: all but what a vote takes. */
mote_status planes_measure_cloud(planes_run *run);

/* ---- planes_frame.c */

/* Places the points in a lattice, without strays that would blur it, and measures all but noise and spacing. */
mote_status planes_frame_points(planes_run *run);
/* Places them, and measures how far they reach, no more; ordered only on request. */
mote_status planes_place_points(planes_run *run, bool ordered);

/* ---- planes_directions.c */

/* The directions of params; bins of that number of steps reach as far as radius. What the context kept of another run
   is taken over. out: also on failure */
mote_status planes_directions_open(mote_context *ctx, const mote_planes_params *params, double radius, double bin,
                                   planes_directions **out);
/* Gives it back to the context, to be kept. NULL: nothing */
void planes_directions_close(mote_context *ctx, planes_directions *table);
void planes_directions_free(mote_context *ctx, planes_directions *table);
double planes_directions_resolution(const mote_planes_params *params); /* radians */
/* Direction and rho in steps of a cell. */
void planes_directions_cell(const planes_directions *table, uint32_t direction, uint32_t bin, double normal[3],
                            double *offset);

/* ---- planes_noise.c */

/* How flat windows of the order are, each at the first scale at which it is.
   windows  at most count / PLANES_WINDOW, and PLANES_WINDOWS
   found    [windows] out */
mote_status planes_find_flatness(planes_run *run, uint32_t windows, planes_flatness *found);
/* Measures noise and spacing. */
mote_status planes_measure_noise(planes_run *run);

/* ---- planes_settings.c */

/* The tolerance that was given, or what the noise makes of it. */
void planes_choose_tolerance(planes_run *run);
/* The resolution, and the bin that was given or suits it and the tolerance. */
mote_status planes_choose_bin(planes_run *run);
/* How many points a plane has at least. */
void planes_choose_support(planes_run *run);
/* How many points vote in a round, at most. */
mote_status planes_choose_max_voters(planes_run *run);
mote_status planes_make_table(planes_run *run);
/* What is told to the caller; measures: what voting may have changed. */
void planes_write_facts(planes_run *run);
void planes_write_measures(planes_run *run);
/* How peaks are refined now. */
planes_refining planes_how_to_refine(const planes_run *run, uint32_t min);

/* ---- planes_calibrate.c */

/* Sets the tolerance, unless it was given, by how far the points of the most voted planes lie around them. */
mote_status planes_calibrate(planes_run *run, const planes_start *starts, uint32_t count, uint32_t min);
/* The noise of the plane that each start leads to, measured with distances from half the tolerance to 1.5 bins. Those
   within the guard of a plane are free no more.
   calibrated  [count] out */
mote_status planes_measure_peaks(planes_run *run, const planes_refining *how, const planes_start *starts,
                                 uint32_t count, planes_calibrated *calibrated);

/* ---- planes_refine_batch.c */

/* Refines peaks on the voters of the last vote, in batches; all are free at first.
   starts    [count] at most PLANES_MAX_PEAKS, the best first
   accepted  [count] out: candidates are tried in their order; one that stands is accepted, and the points within its
             guard are free no more
   found     out: how many are accepted */
mote_status planes_refine(planes_run *run, const planes_refining *how, const planes_start *starts, uint32_t count,
                          planes_candidate *accepted, uint32_t *found);
/* Keeps what refinement took in the context, or frees it. NULL is allowed */
void planes_close_pools(mote_context *ctx, struct planes_pools *pools);
/* ---- planes_fit.c */

/* Fits a plane to the points of sums; that of a plane that keeps its normal moves along it only. */
planes_fit planes_fit_found(const planes_found *found, const planes_sums *sums);

/* Fits planes to all points, and drops those that do not stand or are another.
   quick  a few turns, before others are looked for; else until that changes nothing */
mote_status planes_fit_all(planes_run *run, bool quick);
/* Labels all points with the planes that were found. */
mote_status planes_label_all(planes_run *run);

double planes_tolerance_of(const planes_run *run, const planes_found *found); /* steps */
/* The plane as passes over all points take it. */
planes_plane planes_plane_of(const planes_run *run, const planes_found *found);

/* ---- planes_ends.c */

/* Ends planes that have none where their own points end, and labels all points anew if that changes any.
   all: a sample of all points */
mote_status planes_end(planes_run *run, const planes_sample *all);

/* ---- planes_locally.c */

/* Points spread evenly over all, while none belongs to a plane. sample: for planes_sample_free, also on failure */
mote_status planes_sample_all(planes_run *run, planes_sample *sample);
/* Whether what the vote found can be all there is: each plane is one, and no points that belong to none have more.
   all: that sample */
mote_status planes_is_all(planes_run *run, const planes_sample *all, bool *sure);
/* Steps of a cell that has nine points of an even plane in a sample of all. */
double planes_cell_of_sample(const planes_run *run, const planes_sample *sample);
/* Finds planes by what is flat nearby; those that the vote found are candidates among these. */
mote_status planes_search_locally(planes_run *run);

/* ---- planes_explain.c */

/* Notes that a plane that was found is none. */
void planes_refuse_found(planes_run *run, const planes_found *found, mote_planes_reason reason, double value,
                         double limit);
/* What was refused becomes part of the answer. */
mote_status planes_explain(const planes_run *run, mote_planes *out);

/* ---- planes_extent.c */

/* Labels, footprints, parts and outlines: from what was found to the answer. */
mote_status planes_finish(planes_run *run, mote_planes *out);

#endif
