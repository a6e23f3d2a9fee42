/* Pictures: batches of samples, each through the steps of a method, summed to pixels in their order. */
#include "device/backend.h"
#include "photon/photon_map.h"
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
    uint32_t batch, batch_rays; /* samples, rays of final gathering; whole pixels, and whole samples */
    photon_sample *samples, *rays;
    photon_query *queries; /* of samples, or of rays */
    float *irradiance;     /* [3 · samples] what arrives at each, summed over the steps */
    float *part;           /* [3 · queries] of one step */
    float *pixels;         /* [3 · batch] */
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

/* The irradiance of samples by photons; known: by what is known at photons. */
static mote_status ask_photons(drawing *d, photon_cloud *photons, const photon_sample *samples, uint64_t count,
                               bool known) {
    mote_cloud *queries = NULL;
    MOTE_TRY(d->ops->ask(d->device, samples, count, d->queries));
    MOTE_TRY(photon_wrap_queries(d->device, d->queries, count, &queries));
    const mote_photon_gathering *gathering = &d->params->gathering;
    const mote_status status =
        known ? d->ops->look_up(d->device, d->scene, photons, &d->map->all, queries, gathering, d->part)
              : d->ops->gather(d->device, d->scene, photons, queries, gathering, d->part, NULL);
    mote_cloud_destroy(queries);
    return status;
}

static mote_status add_gathered(drawing *d, photon_cloud *photons, uint32_t count) {
    MOTE_TRY(ask_photons(d, photons, d->samples, count, false));
    return d->ops->add(d->device, d->irradiance, d->part, 3ull * count);
}

static mote_status add_shadow_rays(drawing *d, uint64_t first, uint32_t count) {
    MOTE_TRY(d->ops->light(d->device, d->scene, &d->picture, first, count, d->samples, d->part));
    return d->ops->add(d->device, d->irradiance, d->part, 3ull * count);
}

/* Final gathering: of light that comes off diffuse surfaces, what is known at the photons there. */
static mote_status add_final(drawing *d, uint64_t first, uint32_t count) {
    const uint32_t rays = d->params->gather_rays, step = d->batch_rays / rays;
    photon_cloud *known = &d->map->chosen[PHOTON_CHOSEN_IRRADIANCE];
    for (uint32_t begin = 0; begin < count; begin += step) {
        const uint32_t part = count - begin < step ? count - begin : step;
        MOTE_TRY(d->ops->scatter(d->device, d->scene, &d->picture, first + begin, part, d->samples + begin, d->rays));
        MOTE_TRY(ask_photons(d, known, d->rays, (uint64_t)part * rays, true));
        MOTE_TRY(d->ops->add_rays(d->device, d->rays, rays, d->part, part, d->irradiance + 3ull * begin));
    }
    return MOTE_OK;
}

static mote_status light_samples(drawing *d, uint64_t first, uint32_t count) {
    switch (d->params->method) {
    case MOTE_PHOTON_MAP: return add_gathered(d, &d->map->all, count);
    case MOTE_PHOTON_DIRECT: return add_gathered(d, &d->map->chosen[PHOTON_CHOSEN_DIRECT], count);
    case MOTE_PHOTON_SHADOW: return add_shadow_rays(d, first, count);
    default:
        MOTE_TRY(add_shadow_rays(d, first, count));
        MOTE_TRY(add_gathered(d, &d->map->chosen[PHOTON_CHOSEN_CAUSTIC], count));
        return add_final(d, first, count);
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

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* How much goes together: what the device likes, at least a pixel and a sample's rays, no more than the picture has. */
static void plan_batches(drawing *d) {
    const uint32_t per_pixel = d->picture.samples * d->picture.samples, rays = d->params->gather_rays;
    const uint64_t samples = (uint64_t)d->picture.width * d->picture.height * per_pixel;
    const uint32_t batch =
        d->ops->batch_samples > per_pixel ? d->ops->batch_samples / per_pixel * per_pixel : per_pixel;
    const uint32_t batch_rays = d->ops->batch_rays > rays ? d->ops->batch_rays / rays * rays : rays;
    d->batch = (uint32_t)least(batch, samples);
    d->batch_rays = (uint32_t)least(batch_rays, (uint64_t)d->batch * rays);
}

static mote_status allocate(drawing *d) {
    mote_device *device = d->device;
    const uint64_t rays = d->params->method == MOTE_PHOTON_FULL ? d->batch_rays : 0;
    const uint64_t queries = rays > d->batch ? rays : d->batch;
    d->samples = photon_alloc(device, d->batch * sizeof *d->samples, "picture samples");
    d->irradiance = photon_alloc(device, 3ull * d->batch * sizeof *d->irradiance, "picture samples");
    d->queries = photon_alloc(device, queries * sizeof *d->queries, "picture samples");
    d->part = photon_alloc(device, 3 * queries * sizeof *d->part, "picture samples");
    d->pixels = photon_alloc(device, 3ull * d->batch * sizeof *d->pixels, "picture samples");
    d->rays = photon_alloc(device, rays * sizeof *d->rays, "picture rays");
    const bool complete = d->samples != NULL && d->irradiance != NULL && d->queries != NULL && d->part != NULL &&
                          d->pixels != NULL && d->rays != NULL;
    return complete ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status prepare(drawing *d) {
    const bool final = d->params->method == MOTE_PHOTON_FULL;
    plan_batches(d);
    MOTE_TRY(allocate(d));
    MOTE_TRY(d->ops->open_scene(d->device, d->scene));
    const mote_progress_span whole = mote_progress_enter(d->ctx, 0, 0.1);
    mote_status status = MOTE_OK;
    if (d->params->method == MOTE_PHOTON_DIRECT) {
        status = photon_map_choose(d->map, PHOTON_CHOSEN_DIRECT, NULL);
    } else if (final) {
        status = photon_map_choose(d->map, PHOTON_CHOSEN_CAUSTIC, NULL);
        if (status == MOTE_OK) status = photon_map_choose(d->map, PHOTON_CHOSEN_IRRADIANCE, &d->params->gathering);
    }
    mote_progress_leave(d->ctx, whole);
    return status;
}

static void release(drawing *d) {
    photon_free(d->device, d->rays);
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
    mote_stage(ctx, "picture");
    mote_status status = prepare(&d);
    if (status == MOTE_OK) status = draw(&d, rgb);
    release(&d);
    mote_stage(ctx, NULL);
    return status;
}
