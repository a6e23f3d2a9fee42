/* From planes that were found to the answer: what belongs to them, the last fit, outlines, world coordinates. */
#include "planes/footprint/planes_extent.h"

#include <stdlib.h>

#include "planes/footprint/planes_grid.h"

#define LIKELY_TURNS  2
#define MIN_DEVIATION 0.16 /* tolerances: points of a plane may be closer together than the noise says */
#define MIN_WEIGHT    0.25 /* of a plane's points, or they are no measure */

static planes_axes axes_of(const double normal[3], double cell) {
    planes_axes axes;
    double u[3], v[3];
    planes_perpendicular(normal, u, v);
    for (int k = 0; k < 3; k++) {
        axes.u[k] = (float)u[k];
        axes.v[k] = (float)v[k];
    }
    axes.by = (float)(1 / cell);
    return axes;
}

/* ---- which parts are planes */

/* Parts of planes, as the backend lists them. */
typedef struct planes_footprint {
    planes_component *components;
    uint64_t count;
} planes_footprint;

/* The most points first. */
static int compare_components(const void *a, const void *b) {
    const planes_component *x = a, *y = b;
    if (x->points != y->points) return x->points > y->points ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* ---- world coordinates */

static void to_world(const planes_frame *frame, const double steps[3], double world[3]) {
    for (int k = 0; k < 3; k++) world[k] = frame->centre[k] + steps[k] * frame->step;
}

/* A place along the axes of a plane, brought onto it. */
static void corner_to_world(const planes_frame *frame, const planes_fit *fit, const planes_axes *axes, double u,
                            double v, double world[3]) {
    double steps[3], away = fit->offset;
    for (int k = 0; k < 3; k++) {
        steps[k] = u * (double)axes->u[k] + v * (double)axes->v[k];
        away -= fit->normal[k] * steps[k];
    }
    for (int k = 0; k < 3; k++) steps[k] += away * fit->normal[k];
    to_world(frame, steps, world);
}

static void describe(const planes_run *run, const planes_found *found, const planes_component *component,
                     const planes_fit *fit, uint64_t inliers, mote_plane *out) {
    const planes_frame *frame = &run->points->frame;
    const double cell = found->cell > 0 ? found->cell * frame->step : run->facts.cell,
                 in_bands = 0.5 * (double)(found->sums.in_bands[0] + found->sums.in_bands[1]);
    const double share = 1 - in_bands / (double)found->sums.count;
    memcpy(out->normal, fit->normal, sizeof out->normal);
    to_world(frame, fit->centroid, out->centroid);
    out->offset = planes_dot(fit->normal, out->centroid);
    out->votes = found->votes;
    out->inliers = inliers;
    out->rms = fit->rms * frame->step;
    out->area = (double)component->area / PLANES_CELL_WHOLE * cell * cell;
    out->confidence = share > 0 ? share : 0;
}

/* ---- outlines */

static mote_status write_hull(mote_planes *out, const planes_run *run, uint32_t plane, const planes_fit *fit,
                              const planes_axes *axes, const planes_corner *hull, uint32_t count, uint64_t *capacity) {
    const planes_frame *frame = &run->points->frame;
    const uint64_t first = out->first_corner[plane];
    double rectangle[4][2];
    if (!mote_reserve(run->ctx, (void **)&out->corners, capacity, 3 * (first + count), sizeof *out->corners,
                      "planes outlines")) {
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        corner_to_world(frame, fit, axes, hull[i].u, hull[i].v, out->corners + 3 * (first + i));
    }
    planes_hull_rectangle(hull, count, rectangle);
    for (int k = 0; k < 4; k++) {
        corner_to_world(frame, fit, axes, rectangle[k][0], rectangle[k][1], out->planes[plane].rectangle[k]);
    }
    out->planes[plane].hull_area = planes_hull_area(hull, count) * frame->step * frame->step;
    out->first_corner[plane + 1] = (uint32_t)(first + count);
    return MOTE_OK;
}

static mote_status make_outlines(planes_run *run, const planes_fit *fits, mote_planes *out) {
    mote_context *ctx = run->ctx;
    uint64_t capacity = 0;
    planes_hulls h;
    planes_axes *axes = mote_alloc(ctx, out->count * sizeof *axes, "planes outlines");
    if (axes == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < out->count; i++) axes[i] = axes_of(fits[i].normal, 2);
    mote_status status = planes_find_hulls(run, axes, out->count, &h);
    for (uint32_t i = 0; i < out->count && status == MOTE_OK; i++) {
        status = write_hull(out, run, i, &fits[i], &axes[i], h.corners + h.first[i], h.size[i], &capacity);
    }
    planes_hulls_free(ctx, &h);
    mote_free(ctx, axes);
    return status;
}

/* ---- the last fit */

/* The planes of the answer, [count] of each. */
typedef struct answer_planes {
    uint32_t count;
    const planes_component *component; /* the part that each is */
    planes_sums *sums, *weighted;      /* of the points with its label; of these by how likely each is the plane's */
    planes_mixture *mixtures;
    planes_fit *fits;
} answer_planes;

static const planes_found *found_of(const planes_run *run, const answer_planes *a, uint32_t i) {
    return &run->found[a->component[i].plane];
}

/* Fits planes to their points by how likely each is the plane's. */
static mote_status weigh(planes_run *run, answer_planes *a) {
    for (uint32_t i = 0; i < a->count; i++) {
        const double tolerance = planes_tolerance_of(run, found_of(run, a, i));
        a->mixtures[i] = planes_mixture_of(&a->fits[i], fmax(a->fits[i].rms, MIN_DEVIATION * tolerance), tolerance);
    }
    const planes_assignment how = {NULL, a->mixtures, a->count, a->weighted, NULL};
    MOTE_TRY(run->ops->assign(run->points, &how));
    for (uint32_t i = 0; i < a->count; i++) {
        const planes_fit next = planes_fit_found(found_of(run, a, i), &a->weighted[i]);
        const double weight = (double)a->weighted[i].count / PLANES_WEIGHT_ONE;
        if (!next.valid || weight < MIN_WEIGHT * (double)a->sums[i].count) continue;
        /* All its points were within the tolerance: a plane that is farther from them has gone over to others. */
        const double rms = planes_mean_distance(&a->sums[i], &next);
        if (rms > planes_tolerance_of(run, found_of(run, a, i))) continue;
        a->fits[i] = next;
        a->fits[i].rms = rms;
    }
    return MOTE_OK;
}

static mote_status fit_answer(planes_run *run, answer_planes *a) {
    const planes_assignment how = {NULL, NULL, a->count, a->sums, NULL};
    MOTE_TRY(run->ops->assign(run->points, &how));
    for (uint32_t i = 0; i < a->count; i++) {
        a->fits[i] = planes_fit_found(found_of(run, a, i), &a->sums[i]);
        if (!a->fits[i].valid) a->fits[i] = found_of(run, a, i)->fit;
    }
    for (int turn = 0; turn < LIKELY_TURNS && a->count > 0; turn++) MOTE_TRY(weigh(run, a));
    return MOTE_OK;
}

/* ---- all of it */

static mote_status make_answer(planes_run *run, const planes_component *component, mote_planes *out) {
    mote_context *ctx = run->ctx;
    const uint64_t count = out->count;
    answer_planes a = {out->count, component, NULL, NULL, NULL, NULL};
    a.sums = mote_alloc(ctx, count * sizeof *a.sums, "planes found");
    a.weighted = mote_alloc(ctx, count * sizeof *a.weighted, "planes found");
    a.mixtures = mote_alloc(ctx, count * sizeof *a.mixtures, "planes found");
    a.fits = mote_alloc(ctx, count * sizeof *a.fits, "planes found");
    out->planes = mote_alloc_zero(ctx, count * sizeof *out->planes, "planes found");
    out->first_corner = mote_alloc_zero(ctx, (count + 1) * sizeof *out->first_corner, "planes found");
    mote_status status = mote_context_status(ctx);
    if (status == MOTE_OK) status = fit_answer(run, &a);
    for (uint32_t i = 0; i < a.count && status == MOTE_OK; i++) {
        describe(run, found_of(run, &a, i), &component[i], &a.fits[i], a.sums[i].count, &out->planes[i]);
        out->facts.labelled += a.sums[i].count;
    }
    if (status == MOTE_OK && count > 0) status = make_outlines(run, a.fits, out);
    mote_free(ctx, a.sums);
    mote_free(ctx, a.weighted);
    mote_free(ctx, a.mixtures);
    mote_free(ctx, a.fits);
    return status;
}

/* Planes of which no part is large enough go, so that others get their points. Returns how many. */
static uint32_t drop_hollow(planes_run *run, const planes_footprint *footprint) {
    uint32_t kept = 0;
    uint64_t at = 0; /* parts go by plane */
    for (uint32_t i = 0; i < run->found_count; i++) {
        const bool large = at < footprint->count && footprint->components[at].plane == i;
        while (at < footprint->count && footprint->components[at].plane == i) at++;
        if (large) {
            run->found[kept++] = run->found[i];
        } else {
            planes_refuse_found(run, &run->found[i], MOTE_PLANES_SCATTERED, 0, (double)run->support);
        }
    }
    const uint32_t dropped = run->found_count - kept;
    run->found_count = kept;
    return dropped;
}

/* Ranks components; their points have the place of each among them, but for those that are too many. */
static mote_status choose_components(planes_run *run, const planes_footprint *footprint, mote_planes *out) {
    const uint32_t max = run->params.max_planes > 0 ? run->params.max_planes : MOTE_PLANES_MAX;
    planes_component *ranked = footprint->components;
    out->count = footprint->count < max ? (uint32_t)footprint->count : max;
    if (footprint->count > 0) qsort(ranked, footprint->count, sizeof *ranked, compare_components);
    for (uint32_t i = 0; i < out->count; i++) ranked[i].label = (int32_t)i;
    MOTE_TRY(run->ops->relabel(run->points, ranked, footprint->count));
    return make_answer(run, ranked, out);
}

#define MAX_DOUBLINGS 24 /* then a cell is as large as the lattice */

static void scale_cells(planes_run *run, double by) {
    run->facts.cell *= by;
    for (uint32_t i = 0; i < run->found_count; i++) run->found[i].cell *= by;
}

/* axes, in_bands: room for all planes. Where planes have so few points in so much room that their grids would be too
   large, cells become wider; that does not help where no plane has a point left. */
static mote_status find_footprints(planes_run *run, planes_axes *axes, uint64_t *in_bands,
                                   planes_footprint *footprint) {
    const planes_footprint_params footprint_params = {run->params.whole, run->params.components, run->support};
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0.9, 0.95);
    mote_status status = MOTE_OK;
    mote_free(run->ctx, footprint->components);
    footprint->components = NULL;
    for (int turn = 0; turn <= MAX_DOUBLINGS && status == MOTE_OK && footprint->components == NULL; turn++) {
        if (turn > 0) scale_cells(run, 2);
        for (uint32_t i = 0; i < run->found_count; i++) {
            const planes_found *found = &run->found[i];
            axes[i] =
                axes_of(found->fit.normal, found->cell > 0 ? found->cell : run->facts.cell / run->points->frame.step);
            in_bands[i] = found->sums.in_bands[0] + found->sums.in_bands[1];
        }
        status = run->ops->footprint(run->points, axes, in_bands, run->found_count, &footprint_params,
                                     &footprint->components, &footprint->count);
    }
    if (footprint->components == NULL) scale_cells(run, ldexp(1, -MAX_DOUBLINGS));
    mote_progress_leave(run->ctx, whole);
    return status;
}

mote_status planes_finish(planes_run *run, mote_planes *out) {
    mote_context *ctx = run->ctx;
    planes_footprint footprint = {NULL, 0};
    if (run->found_count == 0) return MOTE_OK;
    planes_axes *axes = mote_alloc(ctx, run->found_count * sizeof *axes, "planes parts");
    uint64_t *in_bands = mote_alloc(ctx, run->found_count * sizeof *in_bands, "planes parts");
    mote_status status = axes != NULL && in_bands != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    mote_stage(ctx, "outlining planes");
    if (status == MOTE_OK) status = mote_progress(ctx, 0.9, "outlining planes");
    if (status == MOTE_OK) status = find_footprints(run, axes, in_bands, &footprint);
    while (status == MOTE_OK && drop_hollow(run, &footprint) > 0) {
        status = planes_label_all(run);
        mote_stage(ctx, "outlining planes");
        if (status == MOTE_OK) status = find_footprints(run, axes, in_bands, &footprint);
    }
    if (status == MOTE_OK) status = choose_components(run, &footprint, out);
    mote_free(ctx, footprint.components);
    mote_free(ctx, axes);
    mote_free(ctx, in_bands);
    return status;
}
