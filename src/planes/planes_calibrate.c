/* The noise of planes. What neighbours tell of it is too little where a scanner's errors or a wall's own shape are
   wider than a neighbourhood. So the planes of the most votes are looked at: starting from what neighbours tell, the
   distance that counts grows until the peak of the residuals is within it. What lies farther out says how many points
   there would be without the plane. */
#include <stdlib.h>

#include "planes/planes.h"

#define WINNERS 24u /* that are looked at */
#define LEAST   6u  /* points of a plane's peak */
#define GROWTH  1.3
#define TURNS   24
#define EXCESS  0.12 /* of the peak may be outside */
#define REACH   4.0  /* times the distance that counts: how far is looked */

typedef struct plane_noise {
    double noise;
    double weight; /* points of the peak; 0: there is none */
} plane_noise;

/* Points by their distance to a plane: within t, 2 t, 4 t; and the squares of those within 2 t. */
typedef struct residuals {
    double in, side, far, squares;
} residuals;

static residuals measure(const planes_near *near, const planes_fit *fit, double t) {
    residuals r = {0, 0, 0, 0};
    const double *n = fit->normal, *p = near->pivot;
    const double offset = fit->offset - ((n[0] * p[0] + n[1] * p[1]) + n[2] * p[2]);
    for (uint32_t i = 0; i < near->count; i++) {
        const double x = (double)near->x[i], y = (double)near->y[i], z = (double)near->z[i];
        const double distance = fabs((n[0] * x + n[1] * y) + (n[2] * z - offset));
        r.in += distance <= t;
        r.side += distance > t && distance <= 2 * t;
        r.far += distance > 2 * t;
        r.squares += distance <= 2 * t ? distance * distance : 0;
    }
    return r;
}

/* Without a plane there were strays points in a slab of 2 t, evenly. */
static plane_noise noise_of(const residuals *r, double strays, double t) {
    plane_noise found = {0, 0};
    const double peak = r->in + r->side - 2 * strays, squares = r->squares - 2 * strays * (4 * t * t / 3);
    if (peak < 5 * sqrt(strays + 1) || squares < 0) return found;
    found.noise = sqrt(squares / peak);
    found.weight = peak;
    return found;
}

/* Twice: the first fit is of what the plane before it had. */
static bool fit_twice(const planes_run *run, double reach, planes_near *near, planes_fit *fit) {
    for (int turn = 0; turn < 2; turn++) {
        planes_find_near(run, fit, reach, near);
        const planes_fit next = planes_fit_near(near);
        if (!next.valid) return false;
        *fit = next;
    }
    return true;
}

static plane_noise measure_plane(const planes_run *run, planes_fit *fit, planes_near *near) {
    const plane_noise none = {0, 0};
    double t = 0.5 * run->tolerance;
    planes_take_pool(run, fit, REACH * run->bin, near);
    for (int turn = 0; turn < TURNS && t < run->bin; turn++, t *= GROWTH) {
        if (!fit_twice(run, t, near, fit)) continue;
        planes_find_near(run, fit, REACH * t, near);
        const residuals r = measure(near, fit, t);
        const double strays = 0.5 * r.far;
        const bool contained = r.side - strays <= EXCESS * (r.in - strays) + 2 * sqrt(strays + 1);
        if (contained && r.in > 2 * strays) return noise_of(&r, strays, t);
    }
    return none;
}

/* Points this near a plane that was measured are its own, and no other's. */
static void claim(planes_run *run, planes_fit *fit, double noise) {
    const double tolerance = run->tolerance;
    run->tolerance = fmax(tolerance, 3 * noise);
    planes_claim(run, fit);
    run->tolerance = tolerance;
}

static plane_noise measure_winner(planes_run *run, const planes_winner *winner, uint32_t least) {
    plane_noise found = {0, 0};
    planes_candidate candidate;
    planes_refine(run, winner, least, &run->near[0], &candidate);
    if (!candidate.fit.valid) return found;
    found = measure_plane(run, &candidate.fit, &run->near[0]);
    if (found.weight > 0) claim(run, &candidate.fit, found.noise);
    return found;
}

static int compare_noise(const void *a, const void *b) {
    const plane_noise *x = a, *y = b;
    if (x->noise != y->noise) return x->noise < y->noise ? -1 : 1;
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* The median by weight; below 0 if there is none. */
static double middle_noise(plane_noise *found, uint32_t count) {
    double all = 0, so_far = 0;
    qsort(found, count, sizeof *found, compare_noise);
    for (uint32_t i = 0; i < count; i++) all += found[i].weight;
    for (uint32_t i = 0; i < count; i++) {
        so_far += found[i].weight;
        if (found[i].weight > 0 && 2 * so_far >= all) return found[i].noise;
    }
    return -1;
}

void planes_calibrate(planes_run *run, const planes_winner *winners, uint32_t count, uint32_t least) {
    plane_noise found[WINNERS];
    const uint32_t looked_at = count < WINNERS ? count : WINNERS;
    if (run->tolerance_given) return;
    for (uint32_t i = 0; i < looked_at; i++) found[i] = measure_winner(run, &winners[i], least);
    memset(run->claimed, 0, run->sample.count);
    const double noise = middle_noise(found, looked_at);
    if (noise < 0) return;
    run->scale.noise = noise;
    run->scale.flat = true;
    planes_choose_tolerance(run);
}
