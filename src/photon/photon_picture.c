/* Pictures: batches of samples, each through the steps of a method, summed to pixels in their order. */
#include "core/cloud.h"
#include "photon/photon_map.h"

#define BATCH_SAMPLES 65536u  /* about as many at once, whole pixels */
#define BATCH_RAYS    262144u /* of final gathering */

typedef struct drawing {
    mote_context *ctx;
    const mote_scene *scene;
    mote_photon_map *map;
    const mote_photon_ops *ops;
    const mote_photon_params *params;
    photon_picture picture;
    uint32_t batch; /* samples */
    photon_sample *samples, *rays;
    photon_query *queries; /* of samples, or of rays */
    float *irradiance;     /* [3 · samples] what arrives at each, summed over the steps */
    float *part;           /* [3 · queries] of one step */
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

/* Its rays at three pixels tell those of all. */
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

static void add_part(float *to, const float *part, uint32_t count) {
    for (uint64_t i = 0; i < 3ull * count; i++) to[i] += part[i];
}

static void set_query(photon_query *query, const photon_sample *sample) {
    query->place[0] = (float)sample->place.x;
    query->place[1] = (float)sample->place.y;
    query->place[2] = (float)sample->place.z;
    query->normal[0] = (float)sample->normal.x;
    query->normal[1] = (float)sample->normal.y;
    query->normal[2] = (float)sample->normal.z;
    if (!(photon_sum(sample->weight) > 0)) query->place[0] = NAN; /* nothing is searched for it */
}

/* The irradiance of samples by photons; of NULL gathering what is known at the nearest. */
static mote_status ask_photons(drawing *d, const photon_cloud *photons, const photon_sample *samples, uint64_t count,
                               const mote_photon_gathering *gathering) {
    mote_cloud *queries = NULL;
    for (uint64_t i = 0; i < count; i++) set_query(&d->queries[i], &samples[i]);
    mote_status status = photon_wrap_queries(d->ctx, d->queries, count, &queries);
    if (status == MOTE_OK) {
        status = gathering != NULL ? d->ops->gather(photons, queries, gathering, d->part)
                                   : d->ops->look_up(photons, queries, d->part);
    }
    mote_cloud_destroy(queries);
    return status;
}

static mote_status add_gathered(drawing *d, const photon_cloud *photons, uint32_t count) {
    MOTE_TRY(ask_photons(d, photons, d->samples, count, &d->params->gathering));
    add_part(d->irradiance, d->part, count);
    return MOTE_OK;
}

static mote_status add_shadow_rays(drawing *d, uint64_t first, uint32_t count) {
    MOTE_TRY(d->ops->light(d->scene, &d->picture, first, count, d->samples, d->part));
    add_part(d->irradiance, d->part, count);
    return MOTE_OK;
}

/* Final gathering: of light that comes off diffuse surfaces, what is known at the photons there. */
static mote_status add_final(drawing *d, uint64_t first, uint32_t count) {
    const uint32_t rays = d->params->gather_rays;
    const photon_cloud *known = &d->map->chosen[PHOTON_CHOSEN_IRRADIANCE];
    const uint32_t step = BATCH_RAYS / rays > 0 ? BATCH_RAYS / rays : 1;
    for (uint32_t begin = 0; begin < count; begin += step) {
        const uint32_t part = count - begin < step ? count - begin : step;
        MOTE_TRY(d->ops->scatter(d->scene, &d->picture, first + begin, part, d->samples + begin, d->rays));
        MOTE_TRY(ask_photons(d, known, d->rays, (uint64_t)part * rays, NULL));
        for (uint32_t i = 0; i < part; i++) {
            photon_vec sum = photon_vec_of(0, 0, 0);
            for (uint64_t j = (uint64_t)i * rays; j < (uint64_t)(i + 1) * rays; j++) {
                const float *e = d->part + 3 * j;
                sum = photon_add(
                    sum, photon_mul(d->rays[j].weight, photon_vec_of((double)e[0], (double)e[1], (double)e[2])));
            }
            float *const to = d->irradiance + 3ull * (begin + i);
            to[0] += (float)sum.x;
            to[1] += (float)sum.y;
            to[2] += (float)sum.z;
        }
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

static mote_status draw_samples(drawing *d, uint64_t first, uint32_t count) {
    if (d->params->method == MOTE_PHOTON_PATH) {
        return d->ops->path(d->scene, &d->picture, first, count, d->irradiance);
    }
    MOTE_TRY(d->ops->look(d->scene, &d->picture, first, count, d->samples));
    memset(d->irradiance, 0, 3ull * count * sizeof *d->irradiance);
    MOTE_TRY(light_samples(d, first, count));
    for (uint32_t i = 0; i < count; i++) {
        const photon_sample *s = &d->samples[i];
        float *const to = d->irradiance + 3ull * i;
        to[0] = (float)(s->shine.x + s->weight.x * (double)to[0]);
        to[1] = (float)(s->shine.y + s->weight.y * (double)to[1]);
        to[2] = (float)(s->shine.z + s->weight.z * (double)to[2]);
    }
    return MOTE_OK;
}

/* The means of pixels, whose samples follow each other. */
static void write_pixels(const drawing *d, uint32_t count, float *rgb) {
    const uint32_t per_pixel = d->picture.samples * d->picture.samples;
    for (uint32_t pixel = 0; pixel < count / per_pixel; pixel++) {
        const float *from = d->irradiance + 3ull * pixel * per_pixel;
        double sum[3] = {0, 0, 0};
        for (uint64_t i = 0; i < 3ull * per_pixel; i++) sum[i % 3] += (double)from[i];
        for (int k = 0; k < 3; k++) rgb[3ull * pixel + (uint32_t)k] = (float)(sum[k] / per_pixel);
    }
}

static mote_status draw(drawing *d, float *rgb) {
    const uint32_t per_pixel = d->picture.samples * d->picture.samples;
    const uint64_t total = (uint64_t)d->picture.width * d->picture.height * per_pixel;
    for (uint64_t first = 0; first < total; first += d->batch) {
        const uint32_t count = total - first < d->batch ? (uint32_t)(total - first) : d->batch;
        const double from = 0.1 + 0.9 * (double)first / (double)total;
        const double to = 0.1 + 0.9 * (double)(first + count) / (double)total;
        MOTE_TRY(mote_progress(d->ctx, from, "picture"));
        mote_progress_share(d->ctx, from, to);
        const mote_status status = draw_samples(d, first, count);
        mote_progress_share(d->ctx, 0, 1);
        if (status != MOTE_OK) return status;
        write_pixels(d, count, rgb + 3 * (first / per_pixel));
    }
    return MOTE_OK;
}

static mote_status prepare(drawing *d) {
    const uint32_t per_pixel = d->picture.samples * d->picture.samples;
    const uint32_t rays = d->params->gather_rays > BATCH_RAYS ? d->params->gather_rays : BATCH_RAYS;
    const bool final = d->params->method == MOTE_PHOTON_FULL;
    d->batch = per_pixel > BATCH_SAMPLES ? per_pixel : BATCH_SAMPLES / per_pixel * per_pixel;
    const uint64_t queries = final && rays > d->batch ? rays : d->batch;
    d->samples = mote_alloc(d->ctx, d->batch * sizeof *d->samples, "picture samples");
    d->irradiance = mote_alloc(d->ctx, 3ull * d->batch * sizeof *d->irradiance, "picture samples");
    d->queries = mote_alloc(d->ctx, queries * sizeof *d->queries, "picture samples");
    d->part = mote_alloc(d->ctx, 3 * queries * sizeof *d->part, "picture samples");
    d->rays = mote_alloc(d->ctx, (final ? rays : 0) * sizeof *d->rays, "picture rays");
    const bool complete =
        d->samples != NULL && d->irradiance != NULL && d->queries != NULL && d->part != NULL && d->rays != NULL;
    if (!complete) return MOTE_ERROR_MEMORY;
    mote_progress_share(d->ctx, 0, 0.1);
    mote_status status = MOTE_OK;
    if (d->params->method == MOTE_PHOTON_DIRECT) {
        status = photon_map_choose(d->map, PHOTON_CHOSEN_DIRECT, NULL);
    } else if (final) {
        status = photon_map_choose(d->map, PHOTON_CHOSEN_CAUSTIC, NULL);
        if (status == MOTE_OK) status = photon_map_choose(d->map, PHOTON_CHOSEN_IRRADIANCE, &d->params->gathering);
    }
    mote_progress_share(d->ctx, 0, 1);
    return status;
}

static void release(drawing *d) {
    mote_free(d->ctx, d->rays);
    mote_free(d->ctx, d->part);
    mote_free(d->ctx, d->queries);
    mote_free(d->ctx, d->irradiance);
    mote_free(d->ctx, d->samples);
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
    drawing d = {.ctx = ctx, .scene = scene, .map = map, .params = &p};
    MOTE_TRY(photon_find_ops(ctx, 0, &d.ops));
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
