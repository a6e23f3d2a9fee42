/* Planes by what is flat nearby: patches of windows of the order, each with a noise of its own, are grown over their
   surroundings, tested, and hold points against each other. All of it runs on the host, on a sample: the same for all
   backends.

       windows -> patches -> growth -> test -> claim -> growth again, without the points of others
                              ^________________|  the best patch first

   A point is owned by the plane under which it is likeliest. */
#ifndef MOTE_PLANES_LOCAL_H
#define MOTE_PLANES_LOCAL_H

#include "planes/planes_ops.h"
#include "planes/planes_refused.h"

#define PLANES_LOCAL_ASIDE  64u   /* planes of another noise than most, that may be sheets */
#define PLANES_LOCAL_MAX    1024u /* planes of a call */
#define PLANES_LOCAL_WINDOW 256u  /* points of a window that are looked at */
#define PLANES_LOCAL_BLOCK  32u   /* consecutive points that share a box */
#define PLANES_LOCAL_LANES  8u    /* boxes that are looked at at once, and that share one */
#define PLANES_LOCAL_NATS   40.0  /* what a plane costs */
#define PLANES_CLEARLY_FLAT 0.01  /* noise to the root of the area, of what may have a noise of its own */
#define PLANES_ALIKE        3.0   /* times the middle noise: what is noisier is no plane of this cloud */
#define PLANES_MAX_BENDS    12.0  /* nats, where nothing else is known of the cloud */
#define PLANES_REACH_NOISES 3.0   /* standard deviations that a point may be off its plane */
#define PLANES_PATCH_REACH  2.5   /* the same of a patch */

/* A plane that was found in another way. */
typedef struct planes_local_claim {
    double normal[3], offset, noise, cell;
    bool stands; /* out, of planes_local_confirm */
} planes_local_claim;

typedef struct planes_local_params {
    double floor;                     /* steps: no noise is less */
    double known_noise;               /* that of planes; 0: unknown */
    double nearby_noise;              /* steps: what neighbours tell of it; 0: nothing */
    double owned;                     /* of the cloud's points, planes have that are not in the sample */
    bool centred;                     /* planes may grow centred */
    const planes_local_claim *claims; /* [claim_count] candidates of the vote */
    uint32_t claim_count;
    uint32_t min_points;       /* of the sample, that a plane has */
    planes_refusals *refusals; /* what is refused; NULL: not asked for */
} planes_local_params;

/* What a plane is to others. All but those alone keep the direction and at most the noise that they were found with. */
typedef enum planes_role {
    PLANES_ALONE,
    PLANES_JOINT,   /* of a series of parallel planes, or upright on one: they were found together (planes_series.c) */
    PLANES_SCAFFOLD /* it holds points that joint ones would take along, until these stand; it is no plane itself */
} planes_role;

/* A flat part of a window. */
typedef struct planes_patch {
    double normal[3], at[3]; /* unit length; the middle of its points */
    double noise, size;      /* standard deviation along the normal; root mean square distance to the middle; steps */
    double score;            /* nats gained over points spread evenly through the window */
    uint32_t first, window;  /* the window: where it begins and how many points it has, of which each */
    uint32_t stride;         /*   stride-th was looked at */
    uint32_t count;          /* points looked at that are on it */
    bool turned;             /* the normal is known better than its points tell */
    bool centred, warped;    /* see planes_growth */
    planes_role role;
} planes_patch;

/* Where a plane may be that ends at a crease: only in cells between two lines across a direction. */
typedef struct planes_strip {
    bool bounded;
    double along[3], low, high; /* the direction, and places along it from the origin, steps */
} planes_strip;

/* A plane that was grown. Its footprint, while it is in the scratch:

       v ^   . . . . . .        . cells of the grid, about 8 points of the plane each
         |   . # # # . .        # cells of the component: connected, each with more points than strays account for
         |   . # # # # .
         |   . . # # . .        points within 3 noises are the plane's, those from there to 9 on either
         +------------> u       side are beside it */
typedef struct planes_growth {
    double normal[3], at[3], noise;
    double u[3], v[3]; /* axes in the plane */
    double cell;
    double low_u, low_v; /* where the grid begins, from at */
    uint32_t columns, rows;
    double look;      /* points farther from at are not looked at */
    double farthest;  /* point of the component */
    double radius;    /* around at, where components begin */
    double max_noise; /* of planes of a cloud whose noise is known; 0: unknown */
    double max_cell;  /* 0: any */
    int32_t self;     /* its number among the planes; -1: none yet */
    uint32_t level;   /* every 2^level-th point takes part: counts are of those */
    bool turned;      /* the normal is known better than its points tell, and stays */
    planes_role role;
    bool centred; /* only cells whose points lie to both sides are its own: it does not lean over to a neighbour */
    bool warped;  /* a sheet that may bend a little: see planes_bodies.c */
    planes_strip strip;
    uint64_t work; /* points that were near it, of all turns */
    /* Of the component. */
    double count, area;
    double density, strays, crowding; /* points, strays, and points where a typical point is, of a cell */
    double measured_noise;            /* before max_noise */
    /* Of the component that is final. */
    double pieces;          /* points of all large components that begin near the patch */
    double central;         /* share of its points within 0.67 noises: 0.5 if they are normal */
    double shoulders[2];    /* density at 2.25 noises against the middle's: the lower side, the higher */
    double structure;       /* share of the variance that is between cells */
    double likeness;        /* of this structure to itself some cells on; 1: that is not known */
    double along;           /* of its points that face a way that is known, the share that face along it closely */
    double curvature;       /* share of the variance that a quadratic surface explains beyond a plane; 0: many points */
    double going_on;        /* of a centred one: share of its rim beside which points lie to one side */
    double bending;         /* where the noise is known: share of its rim beside which a surface bends away */
    double low[2], high[2]; /* of its points along u and v, from at */
    /* Where it came to nothing: why; see mote_plane_refused. */
    mote_planes_reason reason;
    double value, limit;
} planes_growth;

/* The share of the variance that lies between the cells of one plane, at most: 0.15, for one plane has next to nothing,
   and three deviations of what chance gives so many cells of so few points. */
static inline double planes_one_structure(const planes_growth *growth) {
    const double cells = growth->area / (growth->cell * growth->cell);
    return 0.15 + 3 * sqrt(2 * cells) / growth->count;
}

/* Notes why a growth comes to nothing; false. */
static inline bool growth_refuse(planes_growth *growth, mote_planes_reason reason, double value, double limit) {
    growth->reason = reason;
    growth->value = value;
    growth->limit = limit;
    return false;
}

/* A plane that stands. */
typedef struct planes_local_plane {
    double normal[3], offset, centroid[3];
    double u[3], v[3], low[2], high[2]; /* the rectangle around its footprint, from the centroid */
    double noise, area, cell;
    uint32_t count; /* points that it owns */
    int32_t number; /* before planes were dropped and sorted */
    bool turned;    /* see planes_patch */
    bool centred;   /* see planes_growth */
    bool warped;    /* the same: its noise is no plane's */
    planes_role role;
    uint32_t candidate; /* the number of the vote's that it is, from 1; 0: it has grown */
    bool closely;       /* a candidate along which its points' neighbours lie closely */
    double bends;       /* nats by which bends explain what is around it better than creases: a facet of a curve */
    planes_strip strip;
} planes_local_plane;

/* Boxes by axis, with memory for a multiple of PLANES_LOCAL_LANES. */
typedef struct planes_local_boxes {
    uint32_t count;
    float *low[3], *high[3];
} planes_local_boxes;

/* A patch that is to be grown, and what it becomes. */
typedef struct planes_growing {
    planes_patch patch;
    double max_noise, max_cell; /* see planes_growth */
    int32_t self;
    bool stands;     /* out: whether the growth is a plane */
    uint64_t number; /* for the caller */
    planes_growth growth;
} planes_growing;

/* By how much directions differ. The direction of a plane is known to a degree or so, and most planes that meet cross
   at far more than these angles. */
#define PLANES_CLOSELY   0.985 /* cosine of 10 degrees: points lie so near along what bends, by their neighbours */
#define PLANES_SAME_BODY 0.97  /* cosine of 14 degrees: parallel planes of one body */
#define PLANES_PARALLEL  0.94  /* cosine of 20 degrees: what crosses at more is another plane */
#define PLANES_LEAVING   0.1   /* slope, 6 degrees: walls that bend and steps of sensors have less, from cell to cell */

#define PLANES_LOCAL_BODIES 8u  /* composites of a search */
#define PLANES_LOCAL_SHEETS 64u /* bodies of sheets of a search */
#define PLANES_LOCAL_LEVELS 6u

/* Every 2^l-th point of the sample, with a box around each PLANES_LOCAL_BLOCK of them, and one around each
   PLANES_LOCAL_LANES of these boxes: a growth with very many points takes few of them until it has settled.

   level 0   [0][1][2][3][4][5][6][7] ...   the sample
   level 1   [0]   [2]   [4]   [6]    ...
   level 2   [0]         [4]          ... */
typedef struct planes_local_level {
    uint32_t count;
    const float *x, *y, *z;
    planes_local_boxes blocks, groups; /* a group is PLANES_LOCAL_LANES blocks */
    float *boxes;                      /* memory of both */
} planes_local_level;

/* Which way each point of the sample faces: x, y, z of a normal. NULL: it is not asked for. Where it is not known, the
   normal is 0 and unknown is 1, more than a cosine may need; otherwise unknown is 0. */
typedef struct planes_facing {
    float *normal[3], *unknown; /* [sample] */
    uint32_t known_count;       /* points that face a way that is known */
} planes_facing;

/* What grew and is no plane, but may be several; the most points first. */
typedef struct planes_bodies {
    uint32_t count, max;
    planes_growth growths[PLANES_LOCAL_SHEETS]; /* [count], at most max */
} planes_bodies;

/* Planes, and how they share the points out: a copy of what a search has. */
typedef struct planes_owners {
    uint32_t count;
    planes_local_plane *planes; /* [count] */
    int32_t *owner;             /* [sample] a plane; -1: none */
    float *likelihood;          /* [sample] by the owner, nats */
} planes_owners;

/* A search. */
typedef struct planes_local {
    mote_context *ctx;
    const planes_sample *sample;
    planes_local_params params;
    double background; /* nats: how likely a point of no plane is where it is */
    planes_local_level levels[PLANES_LOCAL_LEVELS];
    float *thinned;        /* points of all levels but the first */
    planes_patch *patches; /* [patch_count] the best first */
    uint64_t patch_count;
    planes_local_plane *planes; /* [PLANES_LOCAL_MAX] */
    uint32_t plane_count;
    int32_t *owner;    /* [sample] a plane; -1: none */
    float *likelihood; /* [sample] by the owner, nats */
    uint8_t *failures; /* [sample] patches with this point that came to nothing */
    planes_facing facing;
    planes_owners candidates;     /* of the vote, as they share the points out among themselves */
    planes_growing *growing;      /* [PLANES_LOCAL_MAX] side by side */
    uint32_t *tally;              /* [PLANES_LOCAL_MAX] */
    int32_t *renumber;            /* [PLANES_LOCAL_MAX] */
    struct planes_local *workers; /* [worker_count - 1] this search, each with a scratch of its own */
    uint32_t worker_count;
    /* Scratch of a growth: points near its plane, and the cells of its grid. */
    void *scratch;
    uint32_t near_count;
    uint32_t *near_point;
    float *near_distance, *near_u, *near_v;
    uint32_t *near_cell;
    uint32_t *component; /* of the near points, those of the component */
    uint32_t cell_capacity;
    uint32_t *cell_in, *cell_beside;   /* points; beside: below and above; of a grid one follows the other */
    uint8_t *cell_mark;                /* 1: a cell of the component; 0: none */
    uint32_t marked_first, marked_end; /* the component has no cells outside of this range */
    uint32_t *cell_stack;
    float *cell_sum; /* of distances */
    planes_bodies bodies;
    planes_patch
        aside[PLANES_LOCAL_ASIDE]; /* planes of a noise of their own, until it is known that they are no sheets */
    uint32_t aside_count;
    planes_bodies sheets; /* what is flat, but thicker than planes are, once their noise is known */
} planes_local;

/* Whether a point of the sample is within reach of a plane through a place. */
static inline bool planes_is_on(const planes_local *search, const double normal[3], const double at[3], double reach,
                                uint32_t point) {
    const planes_sample *p = search->sample;
    const double away[3] = {(double)p->x[point] - at[0], (double)p->y[point] - at[1], (double)p->z[point] - at[2]};
    return fabs(planes_dot(normal, away)) <= reach;
}

/* ---- planes_windows.c */

/* Finds the patches. */
mote_status planes_find_patches(planes_local *search);

/* ---- planes_near.c */

/* Takes the points within reach of a growth's plane that no other plane explains better into the scratch. */
void planes_take_near(planes_local *search, const planes_growth *growth, double reach);
/* Lays the grid around the points that are near; cells become larger where the scratch has not enough. False: no point
   is near. */
bool planes_lay_grid(const planes_local *search, planes_growth *growth);
/* Counts the near points of each cell. */
void planes_count_cells(planes_local *search, const planes_growth *growth);

/* ---- planes_growth.c */

/* Grows a patch over its surroundings until it stays as it is; its component is then in the scratch. False: it comes to
   nothing. max_noise, max_cell, self: see planes_growth. */
bool planes_grow(planes_local *search, const planes_patch *patch, double max_noise, double max_cell, int32_t self,
                 planes_growth *growth);
/* The axes in the plane of a growth: of one that has a strip the first is across it, so that the rectangle around its
   points ends where the strip does. */
void planes_find_axes(planes_growth *growth);
/* Brings the component of a growth back into the scratch. */
bool planes_grow_again(planes_local *search, planes_growth *growth);
/* Brings the component of a growth back into the scratch, and lists, of the near points, its own without a plane. */
uint32_t planes_list_free(planes_local *search, planes_growth *growth);
/* Fits and measures a plane where it is, in all of the sample. growth: normal, at, noise, cell and self are given; in:
   its points, of any component. False: it has no component. */
bool planes_measure(planes_local *search, planes_growth *growth, uint32_t *in);
/* Lays a plane out in all of the sample, where it is: every cell that has more points than strays account for is in the
   scratch; area and count are theirs. growth: normal, at, noise, cell and self are given. False: there is none. */
bool planes_lay(planes_local *search, planes_growth *growth);
/* Finds the component of the most points of a plane that stays where it is, and measures it. growth: normal, at, noise
   and cell are given. */
bool planes_lay_component(planes_local *search, planes_growth *growth);
/* Whether the i-th near point is the component's. */
bool planes_in_component(const planes_local *search, const planes_growth *growth, uint32_t i);
/* Takes every 2^level-th point from now on, in cells that have as many of them as before. */
void planes_take_level(planes_growth *growth, uint32_t level);
/* How many points of the sample a growth has. */
static inline double planes_growth_points(const planes_growth *growth) {
    return growth->count * (double)(1u << growth->level);
}
/* Whether a growth is a plane; if not, why is in it. */
bool planes_growth_stands(const planes_local *search, planes_growth *growth);
/* The same, less strictly: points of others that cross it may still count. */
bool planes_growth_may_stand(const planes_local *search, planes_growth *growth);
/* Notes a growth that came to nothing, with about that many points of the sample. */
void planes_refuse_growth(const planes_local *search, const planes_growth *growth, double points);

/* The search as this thread of a parallel region has it, of worker_count threads. */
planes_local *planes_worker(planes_local *search);
/* Grows patches side by side; none takes points. Each becomes what planes_grow makes of it; the scratch is lost. */
void planes_grow_all(planes_local *search, planes_growing *growing, uint32_t count);

/* ---- planes_facing.c */

/* Finds which way points face, for all growths from now on. */
mote_status planes_find_facing(planes_local *search);
/* No growth asks for it any more. */
void planes_drop_facing(planes_local *search);

/* ---- planes_neighbours.c */

#define PLANES_ALONG 0.9063 /* cosine of 25 degrees: what lies so near along a plane is of it */

/* Whether the points of the component in the scratch lie flat along the plane, each by what is around it; cosine: of
   the angle, at most. Refused otherwise. What the points are listed in goes. */
bool planes_is_supported(planes_local *search, planes_growth *growth, double cosine);

/* ---- planes_bends.c */

/* Finds what bends around each plane. */
mote_status planes_find_bends(planes_local *search);

/* ---- planes_claims.c */

/* The nats that the growth in the scratch gains, and the points that it wins. number: the plane that takes them, or -1:
   none does. */
double planes_claim_points(planes_local *search, const planes_growth *growth, int32_t number, uint32_t *won);
/* A new plane without points. Returns its number. */
int32_t planes_add_empty(planes_local *search);
/* A plane that lies as the growth does. */
void planes_describe(const planes_growth *growth, planes_local_plane *plane);
/* The growth in the scratch becomes that plane, with the points that it wins and those that the plane had. */
void planes_commit(planes_local *search, const planes_growth *growth, int32_t number);
/* Makes the growth in the scratch a new plane, if it gains enough. */
bool planes_add_growth(planes_local *search, planes_growth *growth);

/* Takes the last planes back: their points are nobody's. first: the first of them */
void planes_take_back(planes_local *search, uint32_t first);
/* Keeps a copy of planes and owners; free: also on failure. */
mote_status planes_keep_owners(const planes_local *search, planes_owners *kept);
/* What was kept is again as it was. */
void planes_put_back(planes_local *search, const planes_owners *kept);
void planes_free_owners(mote_context *ctx, planes_owners *kept);
/* How many points planes have. */
double planes_owned_points(const planes_local *search);
/* The nats that all planes gain together over no plane, less what it costs to describe them. */
double planes_gain_of_all(const planes_local *search);
/* The noise of planes: of the one that has the middle point. */
double planes_middle_noise(const planes_local *search);
/* A growth that lies where the plane is claimed to be. */
void planes_begin_claim(const planes_local_claim *claim, planes_growth *growth);

/* ---- planes_candidates.c */

/* Lets the candidates share the points out, before anything has grown; nobody has a point afterwards. */
mote_status planes_share_candidates(planes_local *search);
/* The candidates that explain their points better than what has grown among these become planes, and take them.
   What loses most of its points has none afterwards. */
void planes_claim_candidates(planes_local *search);

/* ---- planes_keep.c */

/* Keeps planes of enough points (max_noise infinite), of a noise up to max_noise, no facets; the most points first.
   What the others own is nobody's.
   own  what is clearly flat may have a noise of its own; or else it is put aside, for it may be sheets */
void planes_keep(planes_local *search, double max_noise, bool own);
/* The same with a noise up to ratio times the middle. */
void planes_keep_alike(planes_local *search, double ratio, bool own);
/* A plane as a patch that it may grow of again. */
planes_patch planes_patch_of(const planes_local_plane *plane);

/* ---- planes_selection.c */

/* Grows the best patches first, and keeps what explains its points better than what has them. */
mote_status planes_select(planes_local *search);

/* ---- planes_bodies.c */

/* Notes a growth that is no plane, but may be several: its points are not normal about it. */
void planes_note_body(const planes_local *search, const planes_growth *growth, planes_bodies *bodies);
/* Notes a growth that is as flat as a plane everywhere, but may be sheets along each other: it is thicker than planes
   of the cloud are, or has no peak. */
void planes_note_sheets(planes_local *search, const planes_growth *growth);
/* Parts the sheets that are thicker than planes of the cloud. If together they have more points than these, the noise
   of the cloud is theirs, and each of them is one plane: all was scanned twice. */
mote_status planes_find_sheets(planes_local *search, double noise);
/* What no plane explains in the end, though it is flat and in one piece, is one plane as thick as its sheets: two scans
   of a floor that are some noises apart. */
void planes_take_sheets(planes_local *search);

/* What no plane explains in the end, though it is one thin sheet that hardly bends, is one plane as thick as it bends.
 */
void planes_take_warped(planes_local *search);

/* ---- planes_composites.c */

/* Looks for planes within the bodies; any: whether there are. They stand loosely, for all of them are to be grown
   again. */
mote_status planes_split_bodies(planes_local *search, bool *any);
/* Parts sheets along each other into planes of a noise that is known. Nothing is asked of them, for all are to be grown
   again. */
mote_status planes_part_sheets(planes_local *search, const planes_bodies *sheets, double noise);

/* ---- planes_series.c */

/* Looks for a series of parallel planes so near to each other that none grows by itself, as treads are, and for what
   stands between them; any: whether there is one. Then the planes before are gone, for they will grow again. */
mote_status planes_find_series(planes_local *search, bool *any);

/* ---- planes_creases.c */

/* Cuts bodies that are planes side by side along their creases; any: whether there are. They stand loosely, for all of
   them are to be grown again. */
mote_status planes_cut_bodies(planes_local *search, planes_bodies *bodies, bool *any);

/* ---- planes_local.c */

/* What a search found. */
typedef struct planes_local_found {
    planes_local_plane *planes; /* [count] from mote_alloc, for the caller to free */
    uint32_t count;
} planes_local_found;

/* Finds planes of a sample. */
mote_status planes_local_find(mote_context *ctx, const planes_sample *sample, const planes_local_params *params,
                              planes_local_found *found);

/* Whether each of these planes is one: its points are normal about it, have no structure, and are in one piece.
   sample: of all points; pieces: they may be in several */
mote_status planes_local_confirm(mote_context *ctx, const planes_sample *sample, const planes_local_params *params,
                                 planes_local_claim *claims, uint32_t count, bool pieces, bool *all_stand);

/* ---- least squares, in doubles: points are summed up in their order */

typedef struct planes_moments {
    double count, first[3], products[PLANES_PRODUCTS];
} planes_moments;

/* Which coordinates the products are of. */
static const int planes_rows[PLANES_PRODUCTS] = {0, 0, 0, 1, 1, 2},
                 planes_columns[PLANES_PRODUCTS] = {0, 1, 2, 1, 2, 2};

static inline void planes_moments_add_part(planes_moments *m, const double p[3], double part) {
    m->count += part;
    for (int k = 0; k < 3; k++) m->first[k] += part * p[k];
    for (int k = 0; k < PLANES_PRODUCTS; k++) m->products[k] += part * p[planes_rows[k]] * p[planes_columns[k]];
}

static inline void planes_moments_add(planes_moments *m, double x, double y, double z) {
    const double p[3] = {x, y, z};
    planes_moments_add_part(m, p, 1);
}

/* a + by b */
static inline planes_moments planes_moments_sum(const planes_moments *a, double by, const planes_moments *b) {
    planes_moments sums = *a;
    sums.count += by * b->count;
    for (int k = 0; k < 3; k++) sums.first[k] += by * b->first[k];
    for (int k = 0; k < PLANES_PRODUCTS; k++) sums.products[k] += by * b->products[k];
    return sums;
}

static inline void planes_moments_covariance(const planes_moments *m, double covariance[PLANES_PRODUCTS]) {
    const double middle[3] = {m->first[0] / m->count, m->first[1] / m->count, m->first[2] / m->count};
    for (int k = 0; k < PLANES_PRODUCTS; k++) {
        covariance[k] = m->products[k] / m->count - middle[planes_rows[k]] * middle[planes_columns[k]];
    }
}

/* The mean square distance of points to a plane through their middle. */
static inline double planes_moments_along(const planes_moments *m, const double n[3]) {
    double covariance[PLANES_PRODUCTS], sum = 0;
    planes_moments_covariance(m, covariance);
    for (int k = 0; k < PLANES_PRODUCTS; k++) {
        const int row = planes_rows[k], column = planes_columns[k];
        sum += (row == column ? 1 : 2) * n[row] * n[column] * covariance[k];
    }
    return fmax(sum, 0);
}

/* The middle of points, and how far they are from it and from their plane, root mean square. */
typedef struct planes_local_fit {
    double normal[3], middle[3], size, rms;
} planes_local_fit;

/* False: there is no plane. */
static inline bool planes_moments_fit(const planes_moments *m, planes_local_fit *fit) {
    double covariance[PLANES_PRODUCTS], min = 0;
    if (m->count < 3) return false;
    for (int k = 0; k < 3; k++) fit->middle[k] = m->first[k] / m->count;
    planes_moments_covariance(m, covariance);
    fit->size = sqrt((covariance[0] + covariance[3]) + covariance[5]);
    if (!planes_min_direction(covariance, fit->normal, &min)) return false;
    planes_turn_up(fit->normal);
    fit->rms = sqrt(min);
    return true;
}

#endif
