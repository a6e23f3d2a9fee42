/* What the caller did not give, chosen by what was measured; and how peaks are refined by it. */
#include "math/pi.h"
#include "planes/planes.h"

#define NOISES        3.0   /* standard deviations that a point may be off its plane */
#define UNKNOWN       0.005 /* of the typical distance to the centre: the tolerance where nothing is flat */
#define BIN_SHARE     0.4   /* of what a step between directions moves a typical point */
#define MIN_SHARE     200u  /* the support of a plane is one point in these, */
#define ENOUGH        100u  /*   or so many points: they are evidence enough, however many others there are */
#define MIN_POINTS    12u
#define SAMPLE        16384u /* points that vote in a round */
#define CELL_SPACINGS 3.0
#define MAX_CELLS     (1ull << 31) /* of an accumulator */
#define CHOSEN_BINS   2047u        /* more are only there if the caller asks for them */
#define MAX_BINS      65535u
#define MAX_RADII     4.0 /* a longer tolerance or bin says no more, and may be more than a float holds */

void planes_choose_tolerance(planes_run *run) {
    const double step = run->points->frame.step;
    run->tolerance_given = run->params.tolerance > 0;
    run->tolerance = NOISES * run->scale.noise;
    if (!run->scale.flat) run->tolerance = UNKNOWN * run->scale.typical;
    run->tolerance = fmax(run->tolerance, fmax(4, run->scale.resolution));
    if (run->tolerance_given) run->tolerance = fmax(run->params.tolerance / step, 1);
    run->tolerance = fmin(run->tolerance, MAX_RADII * run->scale.radius);
    run->cone = run->points->normals && run->params.normal_deg < 90
                    ? (int32_t)(PLANES_NORMAL_ONE * PLANES_NORMAL_ONE * cos(run->params.normal_deg * MOTE_PI / 180))
                    : 0;
}

mote_status planes_choose_bin(planes_run *run) {
    const double radius = run->scale.radius;
    const double given = fmin(run->params.bin / run->points->frame.step, MAX_RADII * radius);
    run->resolution = planes_directions_resolution(&run->params);
    run->bin = fmax(2 * run->tolerance, BIN_SHARE * run->resolution * run->scale.typical);
    run->bin = fmax(run->bin, 2 * radius / (CHOSEN_BINS - 8));
    if (given > 0) run->bin = given;
    if (2 * radius / run->bin < MAX_BINS - 8) return MOTE_OK;
    return mote_fail(run->ctx, MOTE_ERROR_ARGUMENT, "bins of %g would be more than %u over an extent of %g",
                     run->params.bin, MAX_BINS, 2 * radius * run->points->frame.step);
}

void planes_choose_support(planes_run *run) {
    const uint64_t share = run->points->count / MIN_SHARE;
    run->min_points = share < MIN_POINTS ? MIN_POINTS : share < ENOUGH ? share : ENOUGH;
    run->vote_points = share > MIN_POINTS ? share : MIN_POINTS;
    if (run->params.min_points > 0) run->min_points = run->vote_points = run->params.min_points;
    run->support = run->vote_points;
}

planes_refining planes_how_to_refine(const planes_run *run, uint32_t min) {
    planes_refining how;
    how.resolution = run->resolution;
    how.typical = run->scale.typical;
    how.bin = run->bin;
    how.tolerance = run->tolerance;
    how.guard = PLANES_GUARD * run->tolerance;
    how.min = min;
    how.max = run->params.greedy ? 1 : MOTE_PLANES_MAX - run->found_count;
    how.cone = run->cone;
    how.peaked = !run->tolerance_given;
    return how;
}

mote_status planes_choose_max_voters(planes_run *run) {
    const uint64_t points = run->points->count, wanted = run->params.sample > 0 ? run->params.sample : SAMPLE;
    const uint64_t capacity = wanted < points ? wanted : points;
    if (capacity > INT32_MAX) {
        return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED, "a sample has at most 2,147,483,647 points");
    }
    run->max_voters = (uint32_t)capacity;
    run->free_points = points;
    return MOTE_OK;
}

mote_status planes_make_table(planes_run *run) {
    MOTE_TRY(planes_directions_open(run->ctx, &run->params, run->scale.radius, run->bin, &run->table));
    if (!run->points->normals) run->table->cone = 0;
    if ((uint64_t)run->table->directions * run->table->bins < MAX_CELLS) return MOTE_OK;
    return mote_fail(run->ctx, MOTE_ERROR_ARGUMENT, "%u directions of %u bins are too many", run->table->directions,
                     run->table->bins);
}

void planes_write_measures(planes_run *run) {
    const double step = run->points->frame.step;
    run->facts.min_points = run->support;
    run->facts.spacing = run->scale.spacing * step;
    run->facts.noise = run->scale.noise * step;
    run->facts.tolerance = run->tolerance * step;
    run->facts.cell = fmax(CELL_SPACINGS * run->scale.spacing, fmax(2, 2 * run->tolerance)) * step;
}

void planes_write_facts(planes_run *run) {
    const planes_points *points = run->points;
    const double step = points->frame.step;
    mote_planes_facts *facts = &run->facts;
    facts->extent = 2 * run->scale.radius * step;
    facts->bin = run->bin * step;
    facts->resolution_deg = run->resolution * 180 / MOTE_PI;
    facts->sample = run->max_voters;
    facts->directions = run->table->directions;
    facts->bins = run->table->bins;
    facts->points = points->cloud->count;
    facts->skipped = points->cloud->count - points->finite;
    facts->outside = points->finite - points->count;
    facts->normals = points->normals;
    planes_write_measures(run);
}
