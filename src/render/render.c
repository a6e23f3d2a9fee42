/* Pictures, public entries: validate, dispatch. */
#include <float.h>
#include <math.h>

#include "core/cloud.h"
#include "core/range.h"
#include "device/backend.h"
#include "render/render_ops.h"

/* ---- checks */

static bool is_between(double value, double low, double high) { return value >= low && value <= high; }

static mote_status check_size(mote_context *ctx, const mote_render_params *p) {
    const bool whole = p->part_x == 0 && p->part_y == 0 && p->part_width == 0 && p->part_height == 0;
    if (p->samples < 1 || p->samples > MOTE_RENDER_MAX_SAMPLES) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%u samples, needs 1 to %u", p->samples, MOTE_RENDER_MAX_SAMPLES);
    }
    const uint64_t width = whole ? p->width : p->part_width, height = whole ? p->height : p->part_height;
    if (width < 1 || height < 1 || width * p->samples > MOTE_RENDER_MAX_SIZE ||
        height * p->samples > MOTE_RENDER_MAX_SIZE) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a picture of %llu x %llu pixels, needs 1 to %u samples a side",
                         (unsigned long long)width, (unsigned long long)height, MOTE_RENDER_MAX_SIZE);
    }
    if (p->width > INT32_MAX / p->samples || p->height > INT32_MAX / p->samples) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a picture of %u x %u pixels is too large", p->width, p->height);
    }
    if (whole || ((uint64_t)p->part_x + width <= p->width && (uint64_t)p->part_y + height <= p->height)) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the part reaches beyond the picture");
}

static mote_status check_lights(mote_context *ctx, const mote_render_params *p) {
    if (p->light_count > MOTE_RENDER_MAX_LIGHTS) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%u lights, needs up to %u", p->light_count, MOTE_RENDER_MAX_LIGHTS);
    }
    for (uint32_t i = 0; i < p->light_count; i++) {
        const mote_render_light *light = &p->lights[i];
        MOTE_TRY(mote_check_reserved(ctx, light->reserved, sizeof light->reserved, "mote_render_light",
                                     "mote_render_defaults()"));
        const double *t = light->toward, length = (t[0] * t[0] + t[1] * t[1]) + t[2] * t[2];
        if (!(length > 0 && length <= DBL_MAX) || !is_between(light->strength, 0, DBL_MAX)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "light %u has no direction, or no strength of 0 or more", i);
        }
    }
    if (is_between(p->ambient, 0, 1) && is_between(p->specular, 0, 1)) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "ambient is %g, specular %g, need 0 to 1", p->ambient, p->specular);
}

static mote_status check_look(mote_context *ctx, const mote_render_params *p) {
    if (!is_between(p->edl_strength, 0, DBL_MAX) ||
        (p->edl_strength > 0 && !is_between(p->edl_radius, DBL_MIN, 1000))) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "eye-dome lighting of %g over %g pixels is out of range",
                         p->edl_strength, p->edl_radius);
    }
    if (p->close_pixels > 64) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "close_pixels is %u, needs up to 64", p->close_pixels);
    }
    if ((unsigned)p->show > MOTE_RENDER_SHOW_NORMAL_ERROR || !isfinite(p->show_min) || !isfinite(p->show_max)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "what is to be shown is out of range");
    }
    const bool surface = p->show == MOTE_RENDER_SHOW_RADIUS || p->show == MOTE_RENDER_SHOW_ITERATIONS;
    if (!surface || p->mode == MOTE_RENDER_SURFACE) return check_lights(ctx, p);
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "only surfaces have radius and iterations to show");
}

static mote_status check_params(mote_context *ctx, const mote_render_params *p) {
    MOTE_TRY(mote_check_reserved(ctx, p->reserved, sizeof p->reserved, "mote_render_params", "mote_render_defaults()"));
    if ((unsigned)p->mode > MOTE_RENDER_SURFACE || (unsigned)p->normals > MOTE_RENDER_NORMALS_GIVEN) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "mode or normals are out of range");
    }
    if (!is_between(p->tolerance, 0, DBL_MAX) || !is_between(p->max_radius, 0, DBL_MAX) ||
        !is_between(p->max_pixels, 0, DBL_MAX)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "tolerance, max_radius and max_pixels need 0 or more");
    }
    if (!is_between(p->point_size, 0, MOTE_RENDER_MAX_POINT)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "point_size is %g pixels, needs 0 to %g", p->point_size,
                         MOTE_RENDER_MAX_POINT);
    }
    if (p->k < 4 || p->k > MOTE_RENDER_MAX_K || !is_between(p->share, 1, 64)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "k is %u, needs 4 to %u; share is %g, needs 1 to 64", p->k,
                         MOTE_RENDER_MAX_K, p->share);
    }
    if (p->layers < 1 || p->layers > MOTE_RENDER_MAX_LAYERS) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%u layers, needs 1 to %u", p->layers, MOTE_RENDER_MAX_LAYERS);
    }
    MOTE_TRY(check_size(ctx, p));
    return check_look(ctx, p);
}

static mote_status check_ready(const mote_renderer *renderer) {
    if (renderer->ready) return MOTE_OK;
    return mote_fail(renderer->ctx, MOTE_ERROR_ARGUMENT, "the renderer could not be updated: it has no points");
}

/* ---- renderer */

/* Loading puts points in order, and measures nothing: the bounds that it finds say whether the cloud is in range. */
static mote_status load(mote_renderer *renderer) {
    mote_context *ctx = renderer->ctx;
    const mote_column *axes[3];
    renderer->ready = false;
    MOTE_TRY(mote_cloud_positions(ctx, renderer->cloud, axes));
    MOTE_TRY(range_check_axes(ctx, axes, MOTE_RENDER_MAX_COORDINATE));
    mote_status status = renderer->ops->load(renderer);
    if (status == MOTE_OK) status = mote_cloud_check(renderer->cloud);
    if (status == MOTE_OK) status = range_check_box(ctx, &renderer->bounds, MOTE_RENDER_MAX_COORDINATE, true);
    mote_stage(ctx, NULL);
    renderer->ready = status == MOTE_OK;
    return status;
}

static mote_status create_on(mote_device *device, const mote_cloud *cloud, mote_renderer **out) {
    mote_context *ctx = device->ctx;
    const mote_render_ops *ops = device->backend->render;
    if (ops == NULL) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no pictures", device->backend->name);
    }
    mote_renderer *renderer = mote_alloc_zero(ctx, sizeof *renderer, "renderer");
    if (renderer == NULL) return MOTE_ERROR_MEMORY;
    renderer->ctx = ctx;
    renderer->device = device;
    renderer->cloud = cloud;
    renderer->ops = ops;
    renderer->exposure = 1;
    const mote_status status = load(renderer);
    if (status != MOTE_OK) {
        mote_render_destroy(renderer);
        return status;
    }
    *out = renderer;
    return MOTE_OK;
}

mote_status mote_render_create(mote_context *ctx, const mote_cloud *cloud, mote_renderer **out) {
    *out = NULL;
    if (cloud == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no cloud");
    if (cloud->count >= UINT32_MAX) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%llu points: a renderer takes up to 4,294,967,294",
                         (unsigned long long)cloud->count);
    }
    mote_device *device = mote_device_of_cloud(ctx, cloud);
    const mote_status before = mote_context_status(ctx), status = create_on(device, cloud, out);
    if (status == MOTE_OK || !mote_device_falls_back(device, cloud, before, status)) return status;
    return create_on(mote_cpu_device(ctx), cloud, out);
}

mote_status mote_render_update(mote_renderer *renderer) {
    mote_cloud *const cloud = (mote_cloud *)(uintptr_t)renderer->cloud;
    mote_cloud_forget_order(cloud); /* its points may have moved */
    mote_cloud_forget_uploads(cloud);
    renderer->ctx->last_used = renderer->device;
    return load(renderer);
}

void mote_render_destroy(mote_renderer *renderer) {
    if (renderer == NULL) return;
    renderer->ops->unload(renderer);
    mote_free(renderer->ctx, renderer->boxes);
    mote_free(renderer->ctx, renderer);
}

mote_status mote_render_set_colors(mote_renderer *renderer, const uint8_t *rgba, bool on_device) {
    MOTE_TRY(check_ready(renderer));
    if (on_device && renderer->device->ops == NULL) {
        return mote_fail(renderer->ctx, MOTE_ERROR_UNSUPPORTED, "the renderer is on the CPU: it reads host memory");
    }
    return renderer->ops->set_colors(renderer, rgba, on_device);
}

mote_status mote_render_set_exposure(mote_renderer *renderer, double exposure) {
    MOTE_TRY(check_ready(renderer));
    if (!is_between(exposure, 1 / MOTE_RENDER_MAX_EXPOSURE, MOTE_RENDER_MAX_EXPOSURE)) {
        return mote_fail(renderer->ctx, MOTE_ERROR_ARGUMENT, "exposure is %g, needs 1/%g to %g", exposure,
                         MOTE_RENDER_MAX_EXPOSURE, MOTE_RENDER_MAX_EXPOSURE);
    }
    renderer->exposure = exposure;
    return renderer->ops->set_colors(renderer, NULL, false);
}

mote_status mote_render_set_normals(mote_renderer *renderer, const float *const normal[3], const float *spacing,
                                    bool on_device) {
    MOTE_TRY(check_ready(renderer));
    if (on_device && renderer->device->ops == NULL) {
        return mote_fail(renderer->ctx, MOTE_ERROR_UNSUPPORTED, "the renderer is on the CPU: it reads host memory");
    }
    if (normal == NULL || normal[0] == NULL || normal[1] == NULL || normal[2] == NULL) {
        return mote_fail(renderer->ctx, MOTE_ERROR_ARGUMENT, "normals need x, y and z");
    }
    return renderer->ops->set_normals(renderer, normal, spacing, on_device);
}

/* ---- cameras that see all of it */

mote_box mote_render_bounds(const mote_renderer *renderer) { return renderer->bounds; }

/* The box without points that are far from all others. */
static mote_status find_crowd(const mote_renderer *renderer, mote_box *crowd) {
    mote_strays strays;
    *crowd = renderer->bounds;
    if (mote_cloud_on_device(renderer->cloud)) return MOTE_OK;
    memset(&strays, 0, sizeof strays);
    MOTE_TRY(mote_cloud_strays(renderer->ctx, renderer->cloud, &renderer->bounds, &strays));
    if (strays.count > 0) *crowd = strays.rest;
    return MOTE_OK;
}

mote_status mote_render_fit(mote_renderer *renderer, mote_camera *camera, const double from[3],
                            const mote_render_params *params) {
    const mote_render_params p = params != NULL ? *params : mote_render_defaults();
    mote_box crowd;
    MOTE_TRY(check_ready(renderer));
    MOTE_TRY(check_params(renderer->ctx, &p));
    if (renderer->points.count == 0) {
        return mote_fail(renderer->ctx, MOTE_ERROR_ARGUMENT, "there is nothing to fit a camera to");
    }
    MOTE_TRY(find_crowd(renderer, &crowd));
    return render_fit_renderer(renderer, camera, &crowd, from, p.width, p.height);
}

/* ---- frames */

static void set_part(const mote_render_params *p, render_part *part) {
    const bool whole = p->part_width == 0;
    const render_part drawn = {p->width,
                               p->height,
                               p->part_x,
                               p->part_y,
                               whole ? p->width : p->part_width,
                               whole ? p->height : p->part_height};
    *part = drawn;
}

static mote_status make_job(mote_renderer *renderer, const mote_camera *camera, const mote_render_params *params,
                            render_job *job) {
    memset(job, 0, sizeof *job);
    MOTE_TRY(check_ready(renderer));
    MOTE_TRY(check_params(renderer->ctx, params));
    if (camera == NULL) return mote_fail(renderer->ctx, MOTE_ERROR_ARGUMENT, "no camera");
    job->params = params;
    set_part(params, &job->part);
    renderer->ctx->last_used = renderer->device;
    return render_make_view(renderer->ctx, camera, &job->part, params->samples, &job->view);
}

/* Points are lit where normals were given; without any, nothing is. */
static bool shows_normals(const mote_renderer *renderer, const mote_render_params *p) {
    const bool has_normals = p->mode == MOTE_RENDER_SURFACE || renderer->points.normal[0] != NULL;
    return p->show == MOTE_RENDER_SHOW_NORMALS || p->show == MOTE_RENDER_SHOW_NORMAL_ERROR ||
           (p->show == MOTE_RENDER_SHOW_COLOR && p->light_count > 0 && has_normals);
}

mote_status mote_render_draw(mote_renderer *renderer, const mote_camera *camera, const mote_render_params *params,
                             mote_render_result *result) {
    const mote_render_params p = params != NULL ? *params : mote_render_defaults();
    mote_context *ctx = renderer->ctx;
    render_job job;
    if (result == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no place for the result");
    MOTE_TRY(
        mote_check_reserved(ctx, result->reserved, sizeof result->reserved, "mote_render_result", "a struct of zeros"));
    MOTE_TRY(make_job(renderer, camera, &p, &job));
    const bool needs_given = p.show == MOTE_RENDER_SHOW_NORMAL_ERROR ||
                             (p.mode == MOTE_RENDER_SURFACE && p.normals == MOTE_RENDER_NORMALS_GIVEN);
    if (needs_given && renderer->points.normal[0] == NULL) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no normals were given: see mote_render_set_normals");
    }
    if (result->on_device && renderer->device->ops == NULL) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the renderer is on the CPU: it writes to host memory");
    }
    job.wants_normals = result->normal != NULL || shows_normals(renderer, &p);
    job.wants_values = p.show == MOTE_RENDER_SHOW_RADIUS || p.show == MOTE_RENDER_SHOW_ITERATIONS;
    job.point_radius = p.mode == MOTE_RENDER_POINTS ? 0.5 * p.point_size * p.samples : 0;
    job.wants_splats = result->index != NULL || p.show == MOTE_RENDER_SHOW_NORMAL_ERROR || job.wants_values;
    job.wants_index = job.wants_splats || p.mode == MOTE_RENDER_SURFACE || p.close_pixels > 0;
    result->covered = result->closed = result->seen = result->splats = 0;
    result->batches = result->batches_drawn = 0;
    result->iterations = result->normal_error_deg = result->normal_error_deviation_deg = 0;
    const mote_status status = renderer->ops->draw(renderer, &job, result);
    mote_stage(ctx, NULL);
    return status;
}

mote_status mote_render(mote_context *ctx, const mote_cloud *cloud, const mote_camera *camera,
                        const mote_render_params *params, mote_render_result *result) {
    mote_renderer *renderer = NULL;
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.5);
    mote_status status = mote_render_create(ctx, cloud, &renderer);
    mote_progress_next(ctx, whole, 0.5, 1);
    if (status == MOTE_OK) status = mote_render_draw(renderer, camera, params, result);
    mote_progress_leave(ctx, whole);
    mote_render_destroy(renderer);
    return status;
}

/* ---- neighbours of the screen */

mote_status mote_render_find_neighbors(mote_renderer *renderer, const mote_camera *camera,
                                       const mote_render_params *params, uint32_t k, mote_render_neighbors **out) {
    const mote_render_params p = params != NULL ? *params : mote_render_defaults();
    render_job job;
    *out = NULL;
    if (k < 1 || k > MOTE_RENDER_MAX_K) {
        return mote_fail(renderer->ctx, MOTE_ERROR_ARGUMENT, "k is %u, needs 1 to %u", k, MOTE_RENDER_MAX_K);
    }
    MOTE_TRY(make_job(renderer, camera, &p, &job));
    if (renderer->ops->find_neighbors == NULL) {
        return mote_fail(renderer->ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no neighbours of the screen",
                         renderer->device->backend->name);
    }
    mote_render_neighbors *found = mote_alloc_zero(renderer->ctx, sizeof *found, "neighbours of the screen");
    if (found == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = renderer->ops->find_neighbors(renderer, &job, k, found);
    mote_stage(renderer->ctx, NULL);
    if (status == MOTE_OK) *out = found;
    if (status != MOTE_OK) mote_render_free_neighbors(renderer->ctx, found);
    return status;
}

mote_status render_reserve_neighbors(mote_context *ctx, uint64_t seen, uint32_t k, mote_render_neighbors *out) {
    const char *what = "neighbours of the screen";
    out->seen = seen;
    out->point = mote_alloc(ctx, seen * sizeof *out->point, what);
    out->neighbor = mote_alloc(ctx, seen * k * sizeof *out->neighbor, what);
    out->distance2 = mote_alloc(ctx, seen * k * sizeof *out->distance2, what);
    out->iterations = mote_alloc(ctx, seen, what);
    const bool enough =
        out->point != NULL && out->neighbor != NULL && out->distance2 != NULL && out->iterations != NULL;
    return enough ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void mote_render_free_neighbors(mote_context *ctx, mote_render_neighbors *neighbors) {
    if (neighbors == NULL) return;
    mote_free(ctx, neighbors->point);
    mote_free(ctx, neighbors->neighbor);
    mote_free(ctx, neighbors->distance2);
    mote_free(ctx, neighbors->iterations);
    mote_free(ctx, neighbors);
}
