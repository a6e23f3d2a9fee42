/* From a cell of the accumulator to a plane: coarse to fine, on the sample. Each level is a small Hough transform of
   its own, of the points near the plane so far, around their centroid: 7 x 7 directions over what the level before
   left open, bins of rho as wide as these directions deserve. What it ends with is fitted by least squares while the
   distance that counts shrinks to the tolerance.

   One copy for C and CUDA of all that decides. A backend passes over the points: it counts and sums up whole numbers,
   so the order of points does not matter. */
#ifndef MOTE_PLANES_REFINE_MATH_H
#define MOTE_PLANES_REFINE_MATH_H

#include "planes/fit/planes_fit_math.h"

#define PLANES_SIDE        3 /* directions on either side of the middle one */
#define PLANES_SPREAD      (2 * PLANES_SIDE + 1)
#define PLANES_TILTS       49u /* SPREAD² */
#define PLANES_HALF_BINS   64  /* of rho, of a level, on either side */
#define PLANES_LEVELS      8
#define PLANES_POOL        1.2 /* steps between directions, at a typical point: how far is looked at all */
#define PLANES_SHRINK      0.6
#define PLANES_ENOUGH      512u /* points for a level; of more, about these vote */
#define PLANES_SETTLING    8u   /* fits at the tolerance */
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

/* ---- passes over points */

/* Sums over the points within reach of a plane whose normal it allows; of a pass, inner is how many of them are within
   half of it, beside[0] how many more are within twice the reach. */
MOTE_HD planes_plane planes_pass_plane(const planes_refining *how, const planes_fit *fit, double reach) {
    return planes_plane_from(fit, reach, reach, how->cone);
}

MOTE_HD double planes_pool_reach(const planes_refining *how) {
    return how->bin + PLANES_POOL * how->resolution * how->typical;
}

/* ---- levels */

typedef struct planes_refinement {
    planes_fit fit;
    double open, reach; /* radians; steps */
    uint32_t before;    /* points of the last fit */
    uint32_t settled;   /* fits at the tolerance */
} planes_refinement;

typedef struct planes_level {
    double normal[3], u[3], v[3]; /* the middle direction and two perpendicular to it */
    double step, width;           /* radians between directions; steps of a bin */
    double pivot[3], size;        /* about the centroid of the points, and how far they are from it */
    int32_t bins;                 /* on either side of the middle one */
    uint32_t share;               /* points vote whose planes_turn is below */
} planes_level;

MOTE_HD planes_refinement planes_refinement_begin(const planes_refining *how, const planes_start *start) {
    planes_refinement r;
    memset(&r, 0, sizeof r);
    for (int k = 0; k < 3; k++) r.fit.normal[k] = start->normal[k];
    r.fit.offset = start->offset;
    r.open = how->resolution;
    r.reach = how->bin + 0.5 * how->resolution * how->typical;
    return r;
}

/* Whole numbers that any run of points of the sample takes evenly: multiples of the golden ratio. */
MOTE_HD uint32_t planes_turn(uint32_t point) { return point * 2654435769u; }

/* near: a pass with r's fit and reach. False: there are too few. */
MOTE_HD bool planes_level_begin(const planes_refining *how, const planes_sums *near, const planes_refinement *r,
                                planes_level *level) {
    if (near->count < how->min) return false;
    const double n = (double)near->count;
    for (int k = 0; k < 3; k++) level->normal[k] = r->fit.normal[k];
    for (int k = 0; k < 3; k++) level->pivot[k] = rint((double)near->first[k] / n);
    planes_perpendicular(level->normal, level->u, level->v);
    level->size = planes_size_of(near);
    level->step = r->open / PLANES_SIDE;
    level->width = fmax(how->tolerance, 0.5 * level->step * level->size);
    const double bins = ceil(r->reach / level->width) + 1;
    level->bins = bins < PLANES_HALF_BINS ? (int32_t)bins : PLANES_HALF_BINS;
    level->width = fmax(level->width, r->reach / level->bins);
    level->share = UINT32_MAX / (uint32_t)(near->count / PLANES_ENOUGH + 1);
    return true;
}

/* tilt: below PLANES_TILTS. */
MOTE_HD void planes_level_direction(const planes_level *level, uint32_t tilt, float direction[3]) {
    const double along_u = ((int)(tilt / PLANES_SPREAD) - PLANES_SIDE) * level->step;
    const double along_v = ((int)(tilt % PLANES_SPREAD) - PLANES_SIDE) * level->step;
    double at[3], square = 0;
    for (int k = 0; k < 3; k++) {
        at[k] = level->normal[k] + along_u * level->u[k] + along_v * level->v[k];
        square += at[k] * at[k];
    }
    for (int k = 0; k < 3; k++) direction[k] = (float)(at[k] / sqrt(square));
}

/* The direction in bins per step. */
MOTE_HD void planes_level_bins(const planes_level *level, uint32_t tilt, float direction[3]) {
    const float by = (float)(1 / level->width);
    planes_level_direction(level, tilt, direction);
    for (int k = 0; k < 3; k++) direction[k] *= by;
}

#define PLANES_LEVEL_ROWS (2 * PLANES_HALF_BINS + 3)

/* Where a point counts: bins from 1 to 2 · bins, what is outside in the one before and those behind. x y z: from the
   pivot. */
MOTE_HD uint32_t planes_level_row(const float direction[3], float x, float y, float z, float bins) {
    const float top = 2.0f * bins;
    const float rho = fmaf(direction[2], z, fmaf(direction[1], y, fmaf(direction[0], x, bins)));
    const float cut = rho < 0.0f ? -1.0f : rho > top ? top + 1.0f : rho;
    return (uint32_t)(int32_t)(cut + 1.0f);
}

/* Takes the tilt and the first of the two rows (from 0, without the one for what is outside) that have the most points
   between them. Returns whether directions are still so coarse that another level is worth it. */
MOTE_HD bool planes_level_end(const planes_refining *how, const planes_level *level, uint32_t tilt, uint32_t row,
                              planes_refinement *r) {
    float best[3];
    planes_level_direction(level, tilt, best);
    double rho = ((int32_t)row + 1 - level->bins) * level->width; /* what is between two bins is their middle */
    for (int k = 0; k < 3; k++) {
        r->fit.normal[k] = (double)best[k];
        rho += (double)best[k] * level->pivot[k];
    }
    r->fit.offset = rho;
    r->open = 0.75 * level->step;
    r->reach = fmin(r->reach, level->width + r->open * level->size);
    return r->open * level->size > how->tolerance;
}

/* ---- least squares */

/* near: a pass with r's fit and reach. Returns whether another is due; in the end fit.valid says whether it worked. */
MOTE_HD bool planes_refinement_fit(const planes_refining *how, const planes_sums *near, planes_refinement *r) {
    if (r->reach <= how->tolerance && near->count == r->before) return false;
    r->before = (uint32_t)near->count;
    const planes_fit next = planes_fit_sums(near);
    r->fit.valid = next.valid;
    if (!next.valid) return false;
    r->fit = next;
    r->settled += r->reach <= how->tolerance;
    r->reach = fmax(how->tolerance, PLANES_SHRINK * r->reach);
    return r->settled < PLANES_SETTLING;
}

/* ---- the test */

/* Whether there are enough more points in a plane than beside it for it to be one: least, at least. */
MOTE_HD bool planes_stands(uint64_t count, uint64_t inner, uint64_t below, uint64_t above, uint64_t min, bool peaked) {
    const double n = (double)count, max = (double)(below > above ? below : above);
    const double mean = 0.5 * ((double)below + (double)above);
    if (n - mean < (double)min || n - mean < 3) return false;
    if (n < PLANES_CONTRAST * max || n - mean < PLANES_SIGNIFICANT * sqrt(mean + 1)) return false;
    return !peaked || (double)inner >= PLANES_PEAKED * n - sqrt(n);
}

MOTE_HD bool planes_candidate_stands(const planes_refining *how, const planes_candidate *c) {
    return planes_stands(c->count, c->inner, c->in_bands[0], c->in_bands[1], how->min, how->peaked);
}

/* Whether it is worth a test; points only get fewer. */
MOTE_HD bool planes_is_candidate(const planes_refining *how, const planes_candidate *c) {
    return c->fit.valid && c->count >= how->min;
}

/* The order in which candidates of a batch are tried; i and j: where they stand in it. */
MOTE_HD bool planes_goes_before(const planes_candidate *a, uint32_t i, const planes_candidate *b, uint32_t j) {
    if (a->count != b->count) return a->count > b->count;
    if (a->votes != b->votes) return a->votes > b->votes;
    if (a->fit.offset != b->fit.offset) return a->fit.offset < b->fit.offset;
    return i < j;
}

#define PLANES_MAX_PEAKS    256u   /* of a round */
#define PLANES_FIRST_BATCH  16u    /* peaks refined side by side: each batch without the points of those before */
#define PLANES_LARGE_SAMPLE 65536u /* of which large batches would take too much memory */

/* The batch of the peak first; count is of all. */
MOTE_HD uint32_t planes_batch_size(uint32_t sample, uint32_t first, uint32_t count) {
    const uint32_t size = first < PLANES_FIRST_BATCH || sample > PLANES_LARGE_SAMPLE ? PLANES_FIRST_BATCH : 2 * first;
    return size < count - first ? size : count - first;
}

/* Masks of a plane's points, as candidates are tested: a bit a point. */
enum { PLANES_MASK_IN, PLANES_MASK_INNER, PLANES_MASK_BELOW, PLANES_MASK_ABOVE, PLANES_MASK_GUARD, PLANES_MASKS };

/* What a point is to a plane: bits by the numbers above. */
MOTE_HD uint32_t planes_bands(const planes_plane *plane, float x, float y, float z, uint32_t normal) {
    const float d = planes_distance(plane, x, y, z), size = fabsf(d), t = plane->tolerance;
    if (!planes_normal_allows(normal, plane->normal, plane->cone)) return 0;
    return (uint32_t)(size <= t) << PLANES_MASK_IN | (uint32_t)(size <= 0.5f * t) << PLANES_MASK_INNER |
           (uint32_t)(d < -t && d >= -3.0f * t) << PLANES_MASK_BELOW |
           (uint32_t)(d > t && d <= 3.0f * t) << PLANES_MASK_ABOVE |
           (uint32_t)(size <= plane->guard) << PLANES_MASK_GUARD;
}

/* ---- the noise of a plane */

#define PLANES_CALIBRATED       24u /* peaks that are looked at */
#define PLANES_CALIBRATED_BATCH 8u  /* side by side, each batch without the points of those before */
#define PLANES_GROWTH           1.3
#define PLANES_TURNS            24
#define PLANES_EXCESS           0.12 /* of the peak may be outside */
#define PLANES_CALIBRATED_MAX   1.5  /* bins: the widest distance that counts, where no peak is within a bin */
#define PLANES_CALIBRATED_FAR   4.0  /* times the distance that counts: how far is looked */
#define PLANES_CALIBRATED_SHARE 0.25 /* points of a peak to votes, or it is a step of the sensor's, not the plane */

typedef struct planes_calibrated {
    double noise;
    double weight; /* points of the peak; 0: there is none */
    double votes;  /* of the cell that led to it */
} planes_calibrated;

MOTE_HD planes_calibrated planes_calibrated_begin(const planes_start *start) {
    const planes_calibrated calibrated = {0, 0, (double)start->votes};
    return calibrated;
}

/* The distance that counts next; infinite after the widest. */
MOTE_HD double planes_calibrated_wider(const planes_refining *how, double t) {
    if (PLANES_GROWTH * t < how->bin) return PLANES_GROWTH * t;
    return t < how->bin ? PLANES_CALIBRATED_MAX * how->bin : INFINITY;
}

/* How far is looked with a distance that counts: two pools. */
MOTE_HD double planes_calibrated_pool(const planes_refining *how, double t) {
    return PLANES_CALIBRATED_FAR * fmax(t, how->bin);
}

/* wide: a pass with a reach of 2 t. Returns whether the peak of the residuals is within t, and enough of one. Without a
   plane there were strays points in a slab of 2 t, evenly. */
MOTE_HD bool planes_calibrated_within(const planes_sums *wide, const planes_fit *fit, double t,
                                      planes_calibrated *calibrated) {
    const double in = (double)wide->inner, side = (double)(wide->count - wide->inner);
    const double strays = 0.5 * (double)wide->in_bands[0];
    if (side - strays > PLANES_EXCESS * (in - strays) + 2 * sqrt(strays + 1) || !(in > 2 * strays)) return false;
    const double mean = planes_mean_distance(wide, fit), weight = in + side - 2 * strays;
    const double squares = (in + side) * (mean * mean) - 2 * strays * (4 * t * t / 3);
    if (weight < fmax(5 * sqrt(strays + 1), PLANES_CALIBRATED_SHARE * calibrated->votes) || squares < 0) return false;
    calibrated->noise = sqrt(squares / weight);
    calibrated->weight = weight;
    return true;
}

/* The peaks of a batch are taken the densest first, those of the same density in their order. */
MOTE_HD double planes_calibrated_density(const planes_calibrated *calibrated) {
    return calibrated->weight > 0 ? calibrated->weight / (calibrated->noise + 1e-300) : -1;
}

MOTE_HD bool planes_calibrated_goes_before(const planes_calibrated *a, uint32_t i, const planes_calibrated *b,
                                           uint32_t j) {
    const double x = planes_calibrated_density(a), y = planes_calibrated_density(b);
    return x != y ? x > y : i < j;
}

/* Whether a peak is its own: of the `in` points within its tolerance enough are free. */
MOTE_HD bool planes_calibrated_is_new(uint64_t in, uint64_t free_points) { return 4 * free_points >= 3 * in; }

/* Its points: those within the tolerance; and within the guard, what is free no more. */
MOTE_HD planes_plane planes_calibrated_plane(const planes_refining *how, const planes_fit *fit,
                                             const planes_calibrated *calibrated) {
    const double tolerance = fmax(how->tolerance, 3 * calibrated->noise);
    return planes_plane_from(fit, tolerance, how->guard / how->tolerance * tolerance, how->cone);
}

#endif
