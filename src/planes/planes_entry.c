/* What stands around a search for planes: parameters and clouds are checked, the points are opened on a device, and the
   answer is read. */
#include "planes/planes.h"

#include "core/limits.h"
#include "device/backend.h"
#include "order/cloud_range.h"

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

/* ---- runs */

static bool wants_normals(const mote_planes_params *params) {
    return params->normal_deg < 90 || params->votes == MOTE_PLANES_VOTE_NORMALS;
}

static mote_status open_run(planes_run *run, mote_device *device, const mote_cloud *cloud,
                            const mote_planes_params *params) {
    mote_context *ctx = device->ctx;
    memset(run, 0, sizeof *run);
    run->ctx = ctx;
    run->params = params != NULL ? *params : mote_planes_defaults();
    MOTE_TRY(check_params(ctx, &run->params));
    MOTE_TRY(order_check_range(ctx, cloud, MOTE_MAX_COORDINATE, true));
    MOTE_TRY(find_ops(device, &run->ops));
    MOTE_TRY(mote_progress(ctx, 0, "ordering points"));
    mote_stage(ctx, "ordering points");
    const bool normals = wants_normals(&run->params);
    run->cloud = *cloud;
    if (normals) MOTE_TRY(mote_cloud_known_normals(ctx, cloud, &run->cloud, &run->known));
    return run->ops->open(device, &run->cloud, normals, &run->points);
}

static void close_run(planes_run *run) {
    mote_context *ctx = run->ctx;
    planes_directions_close(ctx, run->table);
    planes_close_pools(ctx, run->pools);
    mote_free(ctx, run->found);
    mote_free(ctx, run->refusals);
    if (run->points != NULL) run->ops->release(run->points);
    mote_free(ctx, run->known);
    mote_stage(ctx, NULL);
}

static mote_status work_on(mote_device *device, const mote_cloud *cloud, const mote_planes_params *params,
                           planes_work work, void *user) {
    planes_run run;
    mote_status status = open_run(&run, device, cloud, params);
    if (status == MOTE_OK) status = work(&run, user);
    close_run(&run);
    return status == MOTE_OK ? mote_cloud_check(cloud) : status;
}

mote_status planes_run_on_any(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params,
                              planes_work work, void *user) {
    MOTE_TRY(check_cloud(ctx, cloud));
    mote_device *device = mote_device_of_cloud(ctx, cloud);
    const mote_status before = mote_context_status(ctx), status = work_on(device, cloud, params, work, user);
    if (status == MOTE_OK || !mote_device_falls_back(device, cloud, before, status)) return status;
    return work_on(mote_cpu_device(ctx), cloud, params, work, user);
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
