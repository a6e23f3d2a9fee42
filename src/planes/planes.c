/* Planes, public entries: validate, put the steps in order, dispatch. */
#include "planes/planes.h"

#include "core/limits.h"
#include "device/backend.h"
#include "order/cloud_range.h"

#define PI            3.14159265358979323846
#define SAMPLE        16384u /* points that vote in a round */
#define CELL_SPACINGS 3.0
#define MAX_CELLS     (1ull << 31) /* of an accumulator */

mote_planes_params mote_planes_defaults(void) {
    mote_planes_params params;
    memset(&params, 0, sizeof params);
    params.directions = MOTE_PLANES_BALL;
    params.resolution_deg = 2;
    params.votes = MOTE_PLANES_VOTE_ALL;
    params.cone_deg = 20;
    params.normal_deg = 45;
    return params;
}

static bool is_length(double value) { return value >= 0 && value - value == 0; }

static mote_status check_params(mote_context *ctx, const mote_planes_params *p) {
    MOTE_TRY(mote_check_reserved(ctx, p->reserved, sizeof p->reserved, "mote_planes_params", "mote_planes_defaults()"));
    if ((unsigned)p->directions > MOTE_PLANES_GRID || (unsigned)p->votes > MOTE_PLANES_VOTE_NORMALS) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "directions or votes are out of range");
    }
    if (!(p->resolution_deg >= 0.5 && p->resolution_deg <= 10)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the resolution is %g degrees, needs 0.5 to 10", p->resolution_deg);
    }
    if (!(p->cone_deg > 0 && p->cone_deg <= 90) || !(p->normal_deg > 0 && p->normal_deg <= 90)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "normals differ by %g or %g degrees, needs above 0, up to 90",
                         p->cone_deg, p->normal_deg);
    }
    if (!is_length(p->bin) || !is_length(p->tolerance)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "bin is %g and tolerance %g, need 0 or more", p->bin, p->tolerance);
    }
    if (!(p->suppress_deg >= 0 && p->suppress_deg <= 45) || p->suppress_bins > 1000) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "suppression over %g degrees and %u bins, needs at most 45 and 1000",
                         p->suppress_deg, p->suppress_bins);
    }
    if (p->max_planes <= MOTE_PLANES_MAX) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%u planes at most, needs up to %u", p->max_planes, MOTE_PLANES_MAX);
}

static mote_status check_cloud(mote_context *ctx, const mote_cloud *cloud) {
    if (cloud == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no cloud");
    if (cloud->count < UINT32_MAX) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%llu points: planes are found among up to 4,294,967,294",
                     (unsigned long long)cloud->count);
}

static mote_status find_ops(const mote_device *device, const mote_planes_ops **ops) {
    *ops = device->backend->planes;
    if (*ops != NULL) return MOTE_OK;
    return mote_fail(device->ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no planes", device->backend->name);
}

/* ---- what a run needs */

static mote_status choose_max_voters(planes_run *run) {
    const uint64_t points = run->points->count, wanted = run->params.sample > 0 ? run->params.sample : SAMPLE;
    const uint64_t capacity = wanted < points ? wanted : points;
    if (capacity > INT32_MAX) {
        return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED, "a sample has at most 2,147,483,647 points");
    }
    run->max_voters = (uint32_t)capacity;
    run->free_points = points;
    return MOTE_OK;
}

static mote_status make_table(planes_run *run) {
    MOTE_TRY(planes_directions_open(run->ctx, &run->params, run->scale.radius, run->bin, &run->table));
    if (!run->points->normals) run->table.cone = 0;
    if ((uint64_t)run->table.directions * run->table.bins < MAX_CELLS) return MOTE_OK;
    return mote_fail(run->ctx, MOTE_ERROR_ARGUMENT, "%u directions of %u bins are too many", run->table.directions,
                     run->table.bins);
}

/* What voting may have changed. */
static void write_measures(planes_run *run) {
    const double step = run->points->frame.step;
    run->facts.min_points = run->support;
    run->facts.spacing = run->scale.spacing * step;
    run->facts.noise = run->scale.noise * step;
    run->facts.tolerance = run->tolerance * step;
    run->facts.cell = fmax(CELL_SPACINGS * run->scale.spacing, fmax(2, 2 * run->tolerance)) * step;
}

static void write_facts(planes_run *run) {
    const planes_points *points = run->points;
    const double step = points->frame.step;
    mote_planes_facts *facts = &run->facts;
    facts->extent = 2 * run->scale.radius * step;
    facts->bin = run->bin * step;
    facts->resolution_deg = run->resolution * 180 / PI;
    facts->sample = run->max_voters;
    facts->directions = run->table.directions;
    facts->bins = run->table.bins;
    facts->points = points->cloud->count;
    facts->skipped = points->cloud->count - points->finite;
    facts->outside = points->finite - points->count;
    facts->normals = points->normals;
    write_measures(run);
}

/* ---- runs */

static bool wants_normals(const mote_planes_params *params) {
    return params->normal_deg < 90 || params->votes == MOTE_PLANES_VOTE_NORMALS;
}

static mote_status open_run(planes_run *run, mote_context *ctx, const mote_cloud *cloud,
                            const mote_planes_params *params) {
    memset(run, 0, sizeof *run);
    run->ctx = ctx;
    run->params = params != NULL ? *params : mote_planes_defaults();
    MOTE_TRY(check_cloud(ctx, cloud));
    MOTE_TRY(check_params(ctx, &run->params));
    MOTE_TRY(order_check_range(ctx, cloud, MOTE_MAX_COORDINATE, true));
    mote_device *device = mote_device_of_cloud(ctx, cloud);
    MOTE_TRY(find_ops(device, &run->ops));
    MOTE_TRY(mote_progress(ctx, 0, "ordering points"));
    mote_stage(ctx, "ordering points");
    const bool normals = wants_normals(&run->params);
    run->cloud = *cloud;
    if (normals) MOTE_TRY(mote_cloud_known_normals(ctx, cloud, &run->cloud, &run->known));
    return run->ops->open(device, &run->cloud, normals, &run->points);
}

/* What is in the cloud: all that can be measured before a vote. */
static mote_status measure_run(planes_run *run) {
    MOTE_TRY(planes_frame_points(run));
    mote_stage(run->ctx, "measuring noise");
    MOTE_TRY(mote_progress(run->ctx, 0.15, "measuring noise"));
    MOTE_TRY(planes_measure_noise(run));
    run->nearby_noise = run->scale.noise;
    planes_choose_tolerance(run);
    return MOTE_OK;
}

static mote_status prepare_run(planes_run *run) {
    MOTE_TRY(measure_run(run));
    planes_choose_support(run);
    MOTE_TRY(planes_choose_bin(run));
    MOTE_TRY(choose_max_voters(run));
    mote_stage(run->ctx, "making directions");
    MOTE_TRY(make_table(run));
    write_facts(run);
    return MOTE_OK;
}

static void close_run(planes_run *run) {
    mote_context *ctx = run->ctx;
    planes_directions_close(ctx, &run->table);
    planes_close_pools(ctx, run->pools);
    mote_free(ctx, run->found);
    mote_free(ctx, run->refusals);
    if (run->points != NULL) run->ops->release(run->points);
    mote_free(ctx, run->known);
    mote_stage(ctx, NULL);
}

/* Whether the caller asks for the vote in a way that a search by what is flat nearby does not know. */
static bool is_vote_enough(const mote_planes_params *params) {
    return params->greedy || params->whole || params->votes == MOTE_PLANES_VOTE_NORMALS;
}

/* Searches by votes first, because they see all of a plane at once; and where they cannot have found all there is, by
   what is flat nearby, with what they found among it. */
static mote_status search(planes_run *run) {
    planes_sample all;
    bool sure = false;
    if (is_vote_enough(&run->params)) return planes_search(run);
    mote_status status = planes_sample_all(run, &all);
    if (status == MOTE_OK) status = planes_search(run);
    if (status == MOTE_OK) status = planes_is_all(run, &all, &sure);
    if (status == MOTE_OK && !sure) status = planes_search_locally(run);
    if (status == MOTE_OK) status = planes_end(run, &all);
    planes_sample_free(run->ctx, &all);
    return status;
}

static mote_status find_planes(planes_run *run, int32_t *labels, mote_planes *out) {
    mote_context *ctx = run->ctx;
    if (run->points->finite > 0) {
        run->found = mote_alloc(ctx, MOTE_PLANES_MAX * sizeof *run->found, "planes found");
        if (run->found == NULL) return MOTE_ERROR_MEMORY;
        if (run->params.explain) {
            run->refusals = mote_alloc_zero(ctx, sizeof *run->refusals, "planes refused");
            if (run->refusals == NULL) return MOTE_ERROR_MEMORY;
        }
        MOTE_TRY(prepare_run(run));
        MOTE_TRY(search(run));
    } else {
        run->facts.points = run->facts.skipped = run->points->cloud->count;
    }
    if (run->points->finite > 0) write_measures(run);
    out->facts = run->facts;
    MOTE_TRY(planes_finish(run, out));
    MOTE_TRY(planes_explain(run, out));
    if (labels != NULL && run->points->finite > 0) MOTE_TRY(run->ops->read_labels(run->points, labels));
    if (labels != NULL && run->points->finite == 0) memset(labels, 0xFF, run->points->cloud->count * sizeof *labels);
    return mote_progress(ctx, 1, "finding planes");
}

mote_status mote_planes_find(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params,
                             int32_t *labels, mote_planes **out) {
    planes_run run;
    *out = NULL;
    mote_planes *planes = mote_alloc_zero(ctx, sizeof *planes, "planes found");
    if (planes == NULL) return MOTE_ERROR_MEMORY;
    planes->ctx = ctx;
    mote_status status = open_run(&run, ctx, cloud, params);
    if (status == MOTE_OK) status = find_planes(&run, labels, planes);
    close_run(&run);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    if (status == MOTE_OK) {
        *out = planes;
    } else {
        mote_planes_destroy(planes);
    }
    return status;
}

/* ---- the transform alone */

/* A bin that was given needs no noise and no typical distance: then only what the vote itself takes is looked at. */
static mote_status measure_for_vote(planes_run *run) {
    const bool some = run->params.sample > 0 && run->params.sample < run->points->finite;
    if (run->params.bin <= 0) return measure_run(run);
    MOTE_TRY(planes_place_points(run, some));
    run->tolerance = run->params.tolerance / run->points->frame.step;
    return MOTE_OK;
}

static mote_status vote_once(planes_run *run, uint32_t max, planes_peak *cells, uint32_t *count) {
    const bool some = run->params.sample > 0 && run->params.sample < run->points->count;
    const uint32_t radius = run->params.suppress_bins > 0 ? run->params.suppress_bins : 2;
    run->max_voters = run->points->count;
    if (some) MOTE_TRY(choose_max_voters(run));
    MOTE_TRY(make_table(run));
    write_facts(run);
    run->facts.cell = 0;
    run->facts.votes = run->facts.sample * run->table.directions;
    run->facts.rounds = 1;
    mote_stage(run->ctx, "voting");
    MOTE_TRY(mote_progress(run->ctx, 0.2, "voting"));
    const planes_voting how = {run->max_voters, &run->table, radius, 1, max};
    return run->ops->vote(run->points, &how, cells, count);
}

/* cells [max] out: the peaks with the most votes; count: how many there are. */
static mote_status run_vote(planes_run *run, uint32_t max, planes_peak *cells, uint32_t *count) {
    MOTE_TRY(measure_for_vote(run));
    planes_choose_support(run);
    MOTE_TRY(planes_choose_bin(run));
    return vote_once(run, max, cells, count);
}

static void describe_peak(const planes_run *run, const planes_peak *cell, mote_planes_peak *peak) {
    const planes_frame *frame = &run->points->frame;
    double offset;
    planes_directions_cell(&run->table, cell->direction, cell->bin, peak->normal, &offset);
    peak->votes = cell->votes;
    memset(peak->reserved, 0, sizeof peak->reserved);
    peak->offset = offset * frame->step;
    for (int k = 0; k < 3; k++) peak->offset += peak->normal[k] * frame->centre[k];
}

mote_status mote_planes_vote(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params, uint32_t max,
                             mote_planes_peak *peaks, uint32_t *count, mote_planes_facts *facts) {
    planes_run run;
    planes_peak *cells = NULL;
    *count = 0;
    if (max < 1) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no room for peaks");
    mote_status status = open_run(&run, ctx, cloud, params);
    if (status == MOTE_OK && run.points->finite > 0) {
        cells = mote_alloc(ctx, max * sizeof *cells, "planes peaks");
        status = cells != NULL ? run_vote(&run, max, cells, count) : MOTE_ERROR_MEMORY;
        for (uint32_t i = 0; i < *count && status == MOTE_OK; i++) describe_peak(&run, &cells[i], &peaks[i]);
    }
    if (facts != NULL) *facts = run.facts;
    mote_free(ctx, cells);
    close_run(&run);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    return status == MOTE_OK ? mote_progress(ctx, 1, "voting") : status;
}

/* ---- the answer */

void mote_planes_destroy(mote_planes *planes) {
    if (planes == NULL) return;
    mote_context *ctx = planes->ctx;
    mote_free(ctx, planes->planes);
    mote_free(ctx, planes->first_corner);
    mote_free(ctx, planes->corners);
    mote_free(ctx, planes->refused);
    mote_free(ctx, planes);
}

uint32_t mote_planes_count(const mote_planes *planes) { return planes->count; }

const mote_plane *mote_planes_at(const mote_planes *planes, uint32_t i) {
    return i < planes->count ? &planes->planes[i] : NULL;
}

const double *mote_planes_hull(const mote_planes *planes, uint32_t i, uint32_t *count) {
    *count = 0;
    if (i >= planes->count) return NULL;
    *count = planes->first_corner[i + 1] - planes->first_corner[i];
    return planes->corners + 3 * (uint64_t)planes->first_corner[i];
}

uint32_t mote_planes_refused_count(const mote_planes *planes) { return planes->refused_count; }

const mote_plane_refused *mote_planes_refused_at(const mote_planes *planes, uint32_t i) {
    return i < planes->refused_count ? &planes->refused[i] : NULL;
}

mote_planes_facts mote_planes_get_facts(const mote_planes *planes) { return planes->facts; }
