/* What a backend supplies for planes: coarse steps over the points of a cloud, in the order in which a search takes
   them, and what the host may read on the way.

       open -> place -> vote -> assign -> footprint -> relabel -> outline -> release
                         ^- round -'

   What is small (choosing parameters, windows that say the noise, refining peaks, judging planes) the host does, the
   same for all backends. planes_math.h, planes_fit_math.h and planes_weight_math.h say what each step computes; sums
   and counts are integers, and lists have an order, so the answers are the same bytes everywhere. */
#ifndef MOTE_PLANES_OPS_H
#define MOTE_PLANES_OPS_H

#include "core/core.h"
#include "planes/fit/planes_fit_math.h"
#include "planes/fit/planes_weight_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The points of a cloud that are in the lattice, in the order of (planes_code, index). Backends have more behind it. */
typedef struct planes_points {
    mote_context *ctx;
    mote_device *device;
    const mote_cloud *cloud; /* its columns normal_x normal_y normal_z, if it has all three, are the normals */
    mote_box box;            /* of the points with a finite position; empty if there are none */
    uint64_t finite;
    planes_frame frame;
    uint32_t count; /* of points in the lattice */
    bool normals;   /* wanted, and there are some */
} planes_points;

/* Points on the host: a column each, with memory for a multiple of 8. */
typedef struct planes_sample {
    uint32_t count, capacity;
    float *x, *y, *z;
    uint32_t *normal; /* packed; zeros if points->normals is false */
    uint32_t *place;  /* in the order */
} planes_sample;

mote_status planes_sample_make(mote_context *ctx, uint32_t capacity, planes_sample *sample);
void planes_sample_free(mote_context *ctx, planes_sample *sample);
/* A point of one sample becomes that of another, or of itself. */
static inline void planes_sample_copy(planes_sample *to, uint32_t at, const planes_sample *from, uint32_t i) {
    to->x[at] = from->x[i];
    to->y[at] = from->y[i];
    to->z[at] = from->z[i];
    to->normal[at] = from->normal[i];
    to->place[at] = from->place[i];
}
/* Points in one place, which follow each other in the order, become one: a scanner may write the same for all that it
   did not see. */
void planes_sample_drop_copies(planes_sample *sample);
/* Spreads points whose coordinates on each axis are rounded to a step evenly within it, each by a hash of its place: a
   plane of noise then has noise, and no layers. 0: the axis stays. */
void planes_sample_spread(planes_sample *sample, const double steps[3]);

/* The smallest and the largest of some values. */
void planes_find_ends(const float *values, uint32_t count, float *low, float *high);
/* For qsort: the least first. */
int planes_compare_doubles(const void *a, const void *b);
/* The median by weight: the least value that those of half of all weights, at least, do not exceed; 0: there is none.
   weights  not negative */
double planes_weighted_median(const double *values, const double *weights, uint32_t count);

/* Directions, in bins of rho per step; all on the host. kind, resolution and min_cosine say what xyz, first and near
   are: they may be kept between calls. */
typedef struct planes_directions {
    int kind;                  /* a mote_planes_directions */
    double resolution;         /* radians between directions */
    uint32_t directions, bins; /* bins is odd */
    float middle;              /* (bins - 1) / 2 */
    double bin;                /* steps */
    double *xyz;               /* [3 · directions] unit length */
    double min_cosine;         /* of directions that are near each other */
    int32_t cone;              /* see planes_normal_allows; 0: every point votes for every direction */
    /* What follows from these, from planes_directions_fill on; NULL before. */
    double filled_bin; /* the bin for which a b c were made */
    float *a, *b, *c;  /* [directions] xyz over bin */
    uint32_t *normal;  /* [directions] packed, for cones */
    /* What suppression compares a direction with: near[first[i]] … near[first[i + 1] - 1], each 2 · direction, plus 1
       where the other side of the sphere is meant, on which bin b stands for bins - 1 - b. Not itself. */
    uint32_t *first; /* [directions + 1] */
    uint32_t *near;
} planes_directions;

/* Makes what follows from the directions and the bin, if it is not there yet. */
mote_status planes_directions_fill(mote_context *ctx, planes_directions *table);

/* Whether two have the same directions, near each other the same ones: xyz, first and near. */
static inline bool planes_directions_alike(const planes_directions *a, const planes_directions *b) {
    return a->kind == b->kind && a->resolution == b->resolution && a->min_cosine == b->min_cosine;
}

/* A local maximum. */
typedef struct planes_peak {
    uint32_t votes, direction, bin;
} planes_peak;

/* A vote. */
typedef struct planes_voting {
    uint32_t voters; /* how many free points vote, those that sample would give; all that are in the lattice, if that is
                        as many are free */
    planes_directions *directions;
    uint32_t radius, min, max; /* peaks: see vote */
} planes_voting;

/* What assign does with the points of each plane. */
typedef struct planes_assignment {
    const planes_plane *planes;     /* [count] a point's plane is planes_nearest_of; NULL: that of its label */
    const planes_mixture *mixtures; /* [count] without planes, after relabel: each point counts planes_weight times;
                                       NULL: once */
    uint32_t count;
    planes_sums *sums;     /* [count] out; NULL: not wanted */
    uint64_t *free_points; /* out: with planes, labels the points and says how many are free; NULL: not wanted */
} planes_assignment;

/* How footprints are found. */
typedef struct planes_footprint_params {
    bool whole;      /* every point of a plane is in it */
    bool components; /* connected parts are listed; otherwise a plane is one part, without islands of few points */
    uint64_t min;    /* points of a part that is listed: 1 or more */
} planes_footprint_params;

/* A connected part of a plane, or all of one that is kept. */
typedef struct planes_component {
    uint32_t plane;
    uint32_t number; /* what the backend knows it by; ascends with plane, then with the first core cell by v, u */
    uint64_t points;
    uint64_t area; /* cells, times PLANES_CELL_WHOLE */
    int32_t label; /* what relabel gives its points; -1: none */
} planes_component;

/* Which points of planes are listed. */
typedef struct planes_outlining {
    const planes_axes *axes;        /* [planes] */
    const planes_polygon *polygons; /* [planes] NULL: there are none */
    uint32_t planes;                /* how many labels there are */
    uint32_t step;                  /* every so-many-th point is asked; 1 with polygons */
} planes_outlining;

typedef struct mote_planes_ops {
    /* Takes in the positions (and the normals, if wanted) and finds box and finite. *out is NULL on failure. */
    mote_status (*open)(mote_device *device, const mote_cloud *cloud, bool normals, planes_points **out);
    void (*release)(planes_points *points); /* NULL is allowed */

    /* 1. Places the points in a lattice: frame, count and the order. May come again with another frame. All points are
       free and without label afterwards.
       ordered  false: any order will do, since only a vote of all points, and release, follow */
    mote_status (*place)(planes_points *points, const planes_frame *frame, bool ordered);

    /* 2. Lets points vote, one vote a point and direction: counter [direction · bins + planes_bin]. The peaks are
       cells of min votes or more that are a maximum: better than all cells of their own and the near directions whose
       bins differ by at most radius; better is: more votes, or as many and a smaller number direction · bins + bin.
       The counters and the voters stay until the next vote or release.
       peaks  [max] out, the best first
       count  out: how many are in peaks */
    mote_status (*vote)(planes_points *points, const planes_voting *how, planes_peak *peaks, uint32_t *count);

    /* 3. Assigns every point in the lattice to a plane. Sums are those of each plane's points and, with planes, of the
       points that have none, how many are in the bands beside each; by label own, inner and in_bands are 0. Free are
       the points with no plane whose normal they allow within its guard. */
    mote_status (*assign)(planes_points *points, const planes_assignment *how);

    /* 4. The footprints of planes: of the cells that labelled points are in, the components that planes_grid.h makes.
       axes        [planes] and how wide a cell is; planes: how many labels there are
       in_bands    [planes] strays in the bands beside each, both together
       components  out, from mote_alloc, for the caller to free: ascending by number. NULL: there would be too many
                   cells, which must be wider */
    mote_status (*footprint)(planes_points *points, const planes_axes *axes, const uint64_t *in_bands, uint32_t planes,
                             const planes_footprint_params *footprint_params, planes_component **components,
                             uint64_t *count);

    /* 5. Gives the points of each component that the last footprint listed, since which labels are as they were, its
       label; all other points have none then. From now on the odds of its cell (planes_odds_at) are kept of a point,
       and no more whether it is free.
       components  [count] in any order */
    mote_status (*relabel)(planes_points *points, const planes_component *components, uint64_t count);

    /* 6. Points of planes, in any order; none that is inside its plane's polygon, if there are polygons. *corners is
       from mote_alloc, for the caller to free. */
    mote_status (*outline)(planes_points *points, const planes_outlining *how, planes_corner **corners,
                           uint64_t *count);

    /* ---- reading */

    /* The positions of count points of the cloud, by their numbers. xyz  [3 · count] out */
    mote_status (*read_positions)(planes_points *points, const uint64_t *at, uint32_t count, double *xyz);
    /* Free points of the ranks floor((2 i + 1) · free / (2 max)), in their order; all, if there are at most max.
       sample has memory for max. */
    mote_status (*read_sample)(planes_points *points, uint32_t max, planes_sample *sample);
    /* The points at the sample's places in the order. */
    mote_status (*read_places)(planes_points *points, planes_sample *sample);
    /* The points that voted last, in memory of the backend's that lasts until the next vote or release. */
    mote_status (*read_voters)(planes_points *points, planes_sample *voters);
    /* The counters [directions · bins] of the last vote. For tests. */
    mote_status (*read_votes)(planes_points *points, uint32_t *counters);
    /* labels  [points of the cloud] out, in its order; -1: none */
    mote_status (*read_labels)(planes_points *points, int32_t *labels);
} mote_planes_ops;

extern const mote_planes_ops mote_planes_cpu;
extern const mote_planes_ops mote_planes_on_cuda;

#ifdef __cplusplus
}
#endif
#endif
