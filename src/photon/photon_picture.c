/* Pictures: batches of samples, each through the steps of a method, summed to pixels in their order. */
#include "device/backend.h"
#include "photon/photon_final.h"
#include "render/camera/render_camera.h"

/* Arrays are in the memory of the device. */
typedef struct drawing {
    mote_context *ctx;
    mote_device *device;
    mote_scene *scene;
    mote_photon_map *map;
    const mote_photon_ops *ops;
    const mote_photon_params *params;
    photon_picture picture;
    uint32_t batch; /* samples; of whole pixels */
    photon_sample *samples;
    photon_query *queries;
    float *irradiance; /* [3 · batch] what arrives at each sample, summed over the steps */
    float *part;       /* [3 · batch] of one step */
    float *pixels;     /* [3 · batch] */
    photon_final final;
} drawing;

mote_photon_params mote_photon_defaults(void) {
    mote_photon_params params;
    memset(&params, 0, sizeof params);
    params.width = params.height = 512;
    params.samples = 2;
    params.gather_rays = 16;
    params.shadow_rays = 4;
    params.gathering = mote_photon_gathering_defaults();
    return params;
}

/* ---- the camera */

static photon_vec unproject(const mote_camera *camera, const mote_photon_params *p, double x, double y, double depth) {
    double place[3];
    mote_camera_unproject(camera, p->width, p->height, x, y, depth, place);
    return photon_vec_from(place);
}

/* Makes the camera of a picture: its rays at three pixels tell those of all. */
static photon_camera camera_of(const mote_camera *camera, const mote_photon_params *p) {
    const double w = p->width, h = p->height;
    photon_camera c;
    c.origin = unproject(camera, p, 0, 0, 0);
    c.origin_x = photon_scale(photon_sub(unproject(camera, p, w, 0, 0), c.origin), 1 / w);
    c.origin_y = photon_scale(photon_sub(unproject(camera, p, 0, h, 0), c.origin), 1 / h);
    c.direction = photon_sub(unproject(camera, p, 0, 0, 1), c.origin);
    c.direction_x = photon_scale(photon_sub(unproject(camera, p, w, 0, 1), unproject(camera, p, 0, 0, 1)), 1 / w);
    c.direction_y = photon_scale(photon_sub(unproject(camera, p, 0, h, 1), unproject(camera, p, 0, 0, 1)), 1 / h);
    c.direction_x = photon_sub(c.direction_x, c.origin_x);
    c.direction_y = photon_sub(c.direction_y, c.origin_y);
    return c;
}

/* ---- steps */

static mote_status add_gathered(drawing *d, photon_cloud *photons, uint32_t count) {
    mote_cloud *queries = NULL;
    MOTE_TRY(d->ops->ask(d->device, d->samples, count, d->queries));
    MOTE_TRY(photon_wrap_queries(d->device, d->queries, count, &queries));
    const mote_status status =
        d->ops->gather(d->device, d->scene, photons, queries, &d->params->gathering, d->part, NULL);
    mote_cloud_destroy(queries);
    if (status != MOTE_OK) return status;
    return d->ops->add(d->device, d->irradiance, d->part, 3ull * count);
}

static mote_status add_shadow_rays(drawing *d, uint64_t first, uint32_t count) {
    MOTE_TRY(d->ops->light(d->device, d->scene, &d->picture, first, count, d->samples, d->part));
    return d->ops->add(d->device, d->irradiance, d->part, 3ull * count);
}

static mote_status light_samples(drawing *d, uint64_t first, uint32_t count) {
    switch (d->params->method) {
    case MOTE_PHOTON_MAP: return add_gathered(d, &d->map->all, count);
    case MOTE_PHOTON_DIRECT: return add_gathered(d, &d->map->chosen[PHOTON_CHOSEN_DIRECT], count);
    case MOTE_PHOTON_SHADOW: return add_shadow_rays(d, first, count);
    default:
        MOTE_TRY(add_shadow_rays(d, first, count));
        MOTE_TRY(add_gathered(d, &d->map->chosen[PHOTON_CHOSEN_CAUSTIC], count));
        return photon_final_add(&d->final, d->samples, first, count, d->irradiance);
    }
}

/* ---- batches */

static mote_status fill_zero(mote_device *device, float *values, uint64_t count) {
    if (device->ops != NULL) return device_fill(device, values, 0, count * sizeof *values);
    memset(values, 0, count * sizeof *values);
    return MOTE_OK;
}

static mote_status draw_samples(drawing *d, uint64_t first, uint32_t count) {
    if (d->params->method == MOTE_PHOTON_PATH) {
        return d->ops->path(d->device, d->scene, &d->picture, first, count, d->irradiance);
    }
    MOTE_TRY(d->ops->look(d->device, d->scene, &d->picture, first, count, d->samples));
    MOTE_TRY(fill_zero(d->device, d->irradiance, 3ull * count));
    MOTE_TRY(light_samples(d, first, count));
    return d->ops->finish(d->device, d->samples, count, d->irradiance);
}

/* The means of pixels, whose samples follow each other. */
static mote_status write_pixels(const drawing *d, uint32_t count, float *rgb) {
    const uint32_t per_pixel = d->picture.samples * d->picture.samples, pixels = count / per_pixel;
    MOTE_TRY(d->ops->average(d->device, d->irradiance, per_pixel, pixels, d->pixels));
    return photon_fetch(d->device, rgb, d->pixels, 3ull * pixels * sizeof *rgb);
}

static mote_status draw(drawing *d, float *rgb) {
    const uint32_t per_pixel = d->picture.samples * d->picture.samples;
    const uint64_t total = (uint64_t)d->picture.width * d->picture.height * per_pixel;
    for (uint64_t first = 0; first < total; first += d->batch) {
        const uint32_t count = total - first < d->batch ? (uint32_t)(total - first) : d->batch;
        const double from = 0.1 + 0.9 * (double)first / (double)total;
        const double to = 0.1 + 0.9 * (double)(first + count) / (double)total;
        MOTE_TRY(mote_progress(d->ctx, from, "picture"));
        const mote_progress_span whole = mote_progress_enter(d->ctx, from, to);
        mote_status status = draw_samples(d, first, count);
        if (status == MOTE_OK) status = write_pixels(d, count, rgb + 3 * (first / per_pixel));
        mote_progress_leave(d->ctx, whole);
        if (status != MOTE_OK) return status;
    }
    return MOTE_OK;
}

/* How much goes together: what the device likes, at least a pixel, no more than the picture has. */
static void plan_batch(drawing *d) {
    const uint32_t per_pixel = d->picture.samples * d->picture.samples;
    const uint64_t samples = (uint64_t)d->picture.width * d->picture.height * per_pixel;
    const uint32_t batch =
        d->ops->batch_samples > per_pixel ? d->ops->batch_samples / per_pixel * per_pixel : per_pixel;
    d->batch = (uint32_t)(batch < samples ? batch : samples);
}

static mote_status allocate(drawing *d) {
    mote_device *device = d->device;
    d->samples = photon_alloc(device, d->batch * sizeof *d->samples, "picture samples");
    d->irradiance = photon_alloc(device, 3ull * d->batch * sizeof *d->irradiance, "picture samples");
    d->queries = photon_alloc(device, d->batch * sizeof *d->queries, "picture samples");
    d->part = photon_alloc(device, 3ull * d->batch * sizeof *d->part, "picture samples");
    d->pixels = photon_alloc(device, 3ull * d->batch * sizeof *d->pixels, "picture samples");
    const bool complete =
        d->samples != NULL && d->irradiance != NULL && d->queries != NULL && d->part != NULL && d->pixels != NULL;
    if (!complete) return MOTE_ERROR_MEMORY;
    return d->params->method == MOTE_PHOTON_FULL ? photon_final_open(&d->final, d->batch) : MOTE_OK;
}

static mote_status prepare(drawing *d) {
    const bool final = d->params->method == MOTE_PHOTON_FULL;
    plan_batch(d);
    MOTE_TRY(allocate(d));
    MOTE_TRY(d->ops->open_scene(d->device, d->scene));
    const mote_progress_span whole = mote_progress_enter(d->ctx, 0, 0.1);
    mote_status status = MOTE_OK;
    if (d->params->method == MOTE_PHOTON_DIRECT) {
        status = photon_map_choose(d->map, PHOTON_CHOSEN_DIRECT);
    } else if (final) {
        status = photon_map_gather(d->map, PHOTON_CHOSEN_CAUSTIC, &d->params->gathering);
        if (status == MOTE_OK) status = photon_map_gather(d->map, PHOTON_CHOSEN_IRRADIANCE, &d->params->gathering);
    }
    mote_progress_leave(d->ctx, whole);
    return status;
}

static void release(drawing *d) {
    photon_final_close(&d->final);
    photon_free(d->device, d->pixels);
    photon_free(d->device, d->part);
    photon_free(d->device, d->queries);
    photon_free(d->device, d->irradiance);
    photon_free(d->device, d->samples);
}

/* ---- the entry */

static mote_status check(mote_context *ctx, const mote_photon_map *map, const mote_photon_params *p) {
    MOTE_TRY(mote_check_reserved(ctx, p->reserved, sizeof p->reserved, "mote_photon_params", "mote_photon_defaults()"));
    if ((unsigned)p->method > MOTE_PHOTON_PATH)
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the method is out of range");
    if (p->width < 1 || p->height < 1 || p->width > MOTE_RENDER_MAX_SIZE || p->height > MOTE_RENDER_MAX_SIZE) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a picture of %u x %u pixels, needs 1 to %u", p->width, p->height,
                         MOTE_RENDER_MAX_SIZE);
    }
    if (p->samples < 1 || p->samples > MOTE_PHOTON_MAX_SAMPLES) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%u samples, needs 1 to %u", p->samples, MOTE_PHOTON_MAX_SAMPLES);
    }
    if (p->gather_rays < 1 || p->gather_rays > 65536 || p->shadow_rays < 1 || p->shadow_rays > 65536) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%u gather rays and %u shadow rays, need 1 to 65536", p->gather_rays,
                         p->shadow_rays);
    }
    if (map == NULL && p->method != MOTE_PHOTON_PATH && p->method != MOTE_PHOTON_SHADOW) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "this method needs a photon map");
    }
    return photon_check_gathering(ctx, &p->gathering);
}

/* Finds the device that holds the photons, or, without photons, the one that would. */
static mote_status find_device(drawing *d) {
    if (d->map != NULL) {
        d->device = d->map->device;
    } else {
        MOTE_TRY(photon_find_device(d->ctx, 0, &d->device));
    }
    d->ops = d->device->backend->photon;
    return MOTE_OK;
}

mote_status mote_photon_render(mote_scene *scene, mote_photon_map *map, const mote_camera *camera,
                               const mote_photon_params *params, float *rgb) {
    const mote_photon_params p = params != NULL ? *params : mote_photon_defaults();
    mote_context *ctx = scene->ctx;
    if (camera == NULL || rgb == NULL)
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no camera, or no place for the picture");
    MOTE_TRY(check(ctx, map, &p));
    if (map != NULL && map->scene != scene) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the photon map is of another scene");
    }
    render_view view;
    MOTE_TRY(photon_check_range(scene));
    MOTE_TRY(render_check_camera(ctx, camera, p.height, &view));
    drawing d = {.ctx = ctx, .scene = scene, .map = map, .params = &p};
    MOTE_TRY(find_device(&d));
    d.picture.camera = camera_of(camera, &p);
    d.picture.width = p.width;
    d.picture.height = p.height;
    d.picture.samples = p.samples;
    d.picture.gather_rays = p.gather_rays;
    d.picture.shadow_rays = p.shadow_rays;
    d.picture.seed = p.seed;
    d.final = (photon_final){.device = d.device, .scene = scene, .map = map, .ops = d.ops, .picture = &d.picture};
    mote_stage(ctx, "picture");
    mote_status status = prepare(&d);
    if (status == MOTE_OK) status = draw(&d, rgb);
    release(&d);
    mote_stage(ctx, NULL);
    return status;
}
