/* What a backend supplies for planes: passes over points, and the accumulator. What is small (choosing parameters,
   judging planes) planes.c does on the host, the same for all backends. planes_math.h, planes_fit_math.h,
   planes_noise_math.h, planes_refine_math.h and planes_weight_math.h say what each step computes; sums and counts are
   integers, and lists have an order, so the answers are the same bytes everywhere. */
#ifndef MOTE_PLANES_OPS_H
#define MOTE_PLANES_OPS_H

#include "core/core.h"
#include "planes/fit/planes_noise_math.h"
#include "planes/fit/planes_refine_math.h"
#include "planes/vote/planes_weight_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The points of a cloud that are in the lattice, in the order of (planes_code, index). Backends have more behind it. */
typedef struct planes_points {
    mote_context *ctx;
    const mote_cloud *cloud; /* its columns normal_x normal_y normal_z, if it has all three, are the normals */
    mote_box box;            /* of the points with a finite position; empty if there are none */
    uint64_t finite;
    planes_frame frame;
    uint32_t count; /* of points in the lattice */
    bool normals;   /* wanted, and there are some */
} planes_points;

/* Points on the host: a column each, with room for a multiple of 8. Or, of a backend that keeps its samples, just how
   many were chosen last; the columns are NULL then. */
typedef struct planes_sample {
    uint32_t count, capacity;
    float *x, *y, *z;
    uint32_t *normal; /* packed; zeros if points->normals is false */
    uint32_t *place;  /* in the order */
} planes_sample;

/* Directions, in bins of rho per step; all on the host. kind, resolution and least_cosine say what xyz, first and near
   are: they may be kept between calls. */
typedef struct planes_table {
    int kind;                  /* a mote_planes_directions */
    double resolution;         /* radians between directions */
    uint32_t directions, bins; /* bins is odd */
    float middle;              /* (bins - 1) / 2 */
    double bin;                /* steps */
    double *xyz;               /* [3 · directions] unit length */
    double least_cosine;       /* of directions that are near each other */
    int32_t cone;              /* see planes_normal_allows; 0: every point votes for every direction */
    /* What follows from these; NULL for backends that make it themselves. */
    float *a, *b, *c; /* [directions] xyz over bin */
    uint32_t *normal; /* [directions] packed, for cones */
    /* What suppression compares a direction with: near[first[i]] … near[first[i + 1] - 1], each 2 · direction, plus 1
       where the other side of the sphere is meant, on which bin b stands for bins - 1 - b. Not itself. */
    uint32_t *first; /* [directions + 1] */
    uint32_t *near;
    struct planes_table *room; /* for itself while it is kept; NULL: it is not */
} planes_table;

/* Whether two have the same directions, near each other the same ones: xyz, first and near. */
static inline bool planes_table_alike(const planes_table *a, const planes_table *b) {
    return a->kind == b->kind && a->resolution == b->resolution && a->least_cosine == b->least_cosine;
}

/* A local maximum. */
typedef struct planes_winner {
    uint32_t votes, direction, bin;
} planes_winner;

/* How footprints are found. */
typedef struct planes_footing {
    bool whole;     /* every point of a plane is in it */
    bool parts;     /* connected parts are listed; otherwise a plane is one part, without islands of few points */
    uint64_t least; /* points of a part that is listed: 1 or more */
} planes_footing;

/* A connected part of a plane, or all of one that is kept. */
typedef struct planes_part {
    uint32_t plane;
    uint32_t number; /* what the backend knows it by; ascends with plane, then with the first core cell by v, u */
    uint64_t points;
    uint64_t area; /* cells, times PLANES_CELL_WHOLE */
} planes_part;

typedef struct mote_planes_ops {
    /* Takes in the positions (and the normals, if wanted) and finds box and finite. *out is NULL on failure. */
    mote_status (*open)(mote_context *ctx, const mote_cloud *cloud, bool normals, planes_points **out);
    void (*release)(planes_points *points); /* NULL is allowed */
    /* The positions of count points of the cloud, by their numbers. xyz  [3 · count] out */
    mote_status (*peek)(planes_points *points, const uint64_t *at, uint32_t count, double *xyz);
    /* Places the points in a lattice: frame, count and the order. May come again with another frame. All points are
       free and without label afterwards.
       ordered  false: in any order will do, for vote (sample NULL), winners and release are all that follows */
    mote_status (*place)(planes_points *points, const planes_frame *frame, bool ordered);

    /* The points at count places of the order; sample has the room. place may be sample->place. */
    mote_status (*fetch)(planes_points *points, const uint32_t *place, uint32_t count, planes_sample *sample);
    /* Chooses among the free points those of the ranks floor((2 i + 1) · free / (2 most)), in their order; all, if
       there are not more. sample has room for most, or no columns. */
    mote_status (*choose)(planes_points *points, uint32_t most, planes_sample *sample);

    /* Empties the accumulator, lets the points vote (sample NULL: all in the lattice), one vote a point and direction:
       counter [direction · bins + planes_bin]. It stays until the next call or release. */
    mote_status (*vote)(planes_points *points, const planes_sample *sample, const planes_table *table);
    /* The counters [directions · bins] of the last vote. For tests. */
    mote_status (*read_votes)(planes_points *points, uint32_t *counters);
    /* Cells of least votes or more that are a maximum: better than all cells of its own and the near directions whose
       bins differ by at most radius; better is: more votes, or as many and a smaller number direction · bins + bin.
       table is that of the last vote.
       winners  [most] out, the best first
       count    out: how many are in winners */
    mote_status (*winners)(planes_points *points, const planes_table *table, uint32_t radius, uint32_t least,
                           uint32_t most, planes_winner *winners, uint32_t *count);

    /* How flat windows of the order are, each at the first scale at which it is.
       windows  at most count / PLANES_WINDOW, and PLANES_WINDOWS
       found    [windows] out */
    mote_status (*flatness)(planes_points *points, uint32_t windows, double resolution, planes_flatness *found);

    /* Both on the sample that voted last.
       starts  [count] of its winners, at most PLANES_WINNERS, the best first */
    /* The noise of the plane that each start leads to, measured with distances from half the tolerance to 1.5 bins; in
       batches of PLANES_PEAKS, on points that are free. Those within a peak's guard are free no more.
       peaks  [count] out */
    mote_status (*calibrate)(planes_points *points, const planes_sample *sample, const planes_refining *how,
                             const planes_start *starts, uint32_t count, planes_peak *peaks);
    /* Refines in batches (planes_batch_size), on points that are free. Candidates of a batch are tried in their order;
       one that stands is accepted, and the points within its guard are free no more.
       accepted        [count] out, in that order
       accepted_count  out */
    mote_status (*refine)(planes_points *points, const planes_sample *sample, const planes_refining *how,
                          const planes_start *starts, uint32_t count, planes_candidate *accepted,
                          uint32_t *accepted_count);

    /* Over all points in the lattice: the sums of those of each plane (planes_nearest); of those that have none, how
       many are in the bands beside each plane. sums  [count] out */
    mote_status (*sums)(planes_points *points, const planes_plane *planes, uint32_t count, planes_sums *sums);
    /* Labels every point with its plane (planes_nearest), and says which are free: those with no plane whose normal
       they allow within its guard; and how many these are. */
    mote_status (*label)(planes_points *points, const planes_plane *planes, uint32_t count, uint64_t *free_points);
    /* The footprints of planes: of the cells that labelled points are in, the parts that planes_grid.h makes of them.
       axes    [planes] and how wide a cell is; planes: how many labels there are
       beside  [planes] strays in the bands beside each, both together
       parts   out, from mote_alloc, for the caller to free: ascending by number */
    mote_status (*cover)(planes_points *points, const planes_axes *axes, const uint64_t *beside, uint32_t planes,
                         const planes_footing *footing, planes_part **parts, uint64_t *count);
    /* Gives the points of each part that the last cover listed, since which labels are as they were, the label of that
       place; all other points have none then. What is kept of a point is then the odds of its cell (planes_odds_at)
       and no more whether it is free. */
    mote_status (*relabel)(planes_points *points, const planes_part *parts, uint64_t count, const int32_t *labels);
    /* Points among which are all corners of the convex hulls of the planes; more do no harm, in any order. *corners is
       from mote_alloc, for the caller to free.
       planes  how many labels there are */
    mote_status (*outline)(planes_points *points, const planes_axes *axes, uint32_t planes, planes_corner **corners,
                           uint64_t *count);
    /* The sums of what carries each label now, whatever its distance; own, inner and beside are 0.
       mixtures  [count] after relabel: each point counts planes_weight times; NULL: once
       sums      [count] out */
    mote_status (*sums_of_labels)(planes_points *points, const planes_mixture *mixtures, uint32_t count,
                                  planes_sums *sums);
    /* labels  [points of the cloud] out, in its order; -1: none */
    mote_status (*labels)(planes_points *points, int32_t *labels);
    /* Whether it makes itself what follows from the directions of a table. */
    bool fills_tables;
    /* Whether what was chosen may stay with it until the next choice or vote: a sample without columns. */
    bool keeps_samples;
} mote_planes_ops;

extern const mote_planes_ops mote_planes_cpu;
extern const mote_planes_ops mote_planes_on_cuda;

#ifdef __cplusplus
}
#endif
#endif
