/* Final gathering. Rays are traced in batches and told what is known where they ended. Those at whose end nothing is
   known wait until there are many of them, so that a step for all of them is worth its start on a GPU:

     batch of rays ─▶ known: to their samples
          ...      └▶ unknown: waiting ... ─▶ go on, step by step, until none is left ─▶ to their samples

   How many wait does not show in the picture: what rays of a sample told is added up by sample. */
#include "photon/photon_final.h"

#include "device/backend.h"

#define WAITING 2u /* batches of rays have a share of one in so many that waits before they go on */

static mote_status fill_zero(mote_device *device, void *values, uint64_t size_bytes) {
    if (device->ops != NULL) return device_fill(device, values, 0, size_bytes);
    memset(values, 0, size_bytes);
    return MOTE_OK;
}

/* ---- what is known at the ends of rays */

/* choice: of the photons at which irradiance is known; irradiance: [3 · count] out */
static mote_status look_up(photon_final *f, int choice, const photon_sample *rays, uint64_t count, float *irradiance) {
    mote_cloud *queries = NULL;
    MOTE_TRY(f->ops->ask(f->device, rays, count, f->queries));
    MOTE_TRY(photon_wrap_queries(f->device, f->queries, count, &queries));
    const mote_status status =
        f->ops->look_up(f->device, f->scene, &f->map->chosen[choice], queries, rays, irradiance, f->unknown);
    mote_cloud_destroy(queries);
    return status;
}

/* ---- rays that go on */

/* What the rays that wait have while they go on; slots are their places among them. */
typedef struct onward {
    float *told;                /* [3 · waiting] */
    float *caustics;            /* [3 · waiting], at the ends of those that still go on */
    uint64_t *slots, *to_slots; /* [waiting] of those that still go on; of the next step */
} onward;

/* One step of count rays; those that are left are then the first of f->waiting. */
static mote_status step(photon_final *f, onward *o, uint32_t depth, uint64_t *count) {
    const uint64_t *const slots = depth > 0 ? o->slots : NULL;
    if (f->map->chosen[PHOTON_CHOSEN_CAUSTIC].count > 0) { /* else these are zeros */
        MOTE_TRY(look_up(f, PHOTON_CHOSEN_CAUSTIC, f->waiting, *count, o->caustics));
    }
    MOTE_TRY(f->ops->go_on(f->device, f->scene, f->picture, f->waiting, slots, f->numbers, *count, depth, o->caustics,
                           o->told, f->rays));
    MOTE_TRY(look_up(f, PHOTON_CHOSEN_IRRADIANCE, f->rays, *count, f->known));
    MOTE_TRY(f->ops->tell(f->device, f->rays, slots, *count, f->known, o->told));
    MOTE_TRY(f->ops->collect(f->device, f->rays, slots, 0, f->unknown, *count, f->waiting, o->to_slots, count));
    uint64_t *const before = o->slots;
    o->slots = o->to_slots;
    o->to_slots = before;
    return MOTE_OK;
}

/* All rays that wait go on, to their end. first: the first sample of the batch */
static mote_status go_on(photon_final *f, uint64_t first, float *irradiance) {
    uint64_t count = f->waiting_count;
    if (count == 0) return MOTE_OK;
    const uint64_t values = 3 * count * sizeof(float);
    onward o = {.told = photon_alloc(f->device, values, "picture rays"),
                .caustics = photon_alloc(f->device, values, "picture rays"),
                .slots = photon_alloc(f->device, count * sizeof *o.slots, "picture rays"),
                .to_slots = photon_alloc(f->device, count * sizeof *o.slots, "picture rays")};
    const bool complete = o.told != NULL && o.caustics != NULL && o.slots != NULL && o.to_slots != NULL;
    mote_status status = complete ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = fill_zero(f->device, o.told, values);
    if (status == MOTE_OK) status = fill_zero(f->device, o.caustics, values);
    for (uint32_t depth = 0; status == MOTE_OK && count > 0 && depth < PHOTON_MAX_ASKED; depth++) {
        status = step(f, &o, depth, &count);
    }
    if (status == MOTE_OK && count > 0) {
        status = f->ops->go_to_end(f->device, f->scene, f->picture, f->waiting, o.slots, f->numbers, count,
                                   PHOTON_MAX_ASKED, o.told);
    }
    if (status == MOTE_OK) {
        status = f->ops->add_told(f->device, f->numbers, o.told, f->waiting_count, f->picture->gather_rays, first,
                                  irradiance);
    }
    f->waiting_count = 0;
    photon_free(f->device, o.to_slots);
    photon_free(f->device, o.slots);
    photon_free(f->device, o.caustics);
    photon_free(f->device, o.told);
    return status;
}

/* ---- the entry */

/* first: of the batch of rays. */
static mote_status add_rays(photon_final *f, const photon_sample *samples, uint64_t first, uint32_t count,
                            float *irradiance) {
    const uint32_t each = f->picture->gather_rays;
    const uint64_t rays = (uint64_t)count * each;
    uint64_t more = 0;
    MOTE_TRY(f->ops->scatter(f->device, f->scene, f->picture, first, count, samples, f->rays));
    MOTE_TRY(look_up(f, PHOTON_CHOSEN_IRRADIANCE, f->rays, rays, f->known));
    MOTE_TRY(f->ops->add_rays(f->device, f->rays, each, f->known, count, irradiance));
    MOTE_TRY(f->ops->collect(f->device, f->rays, NULL, first * each, f->unknown, rays, f->waiting + f->waiting_count,
                             f->numbers + f->waiting_count, &more));
    f->waiting_count += more;
    return MOTE_OK;
}

mote_status photon_final_add(photon_final *f, const photon_sample *samples, uint64_t first, uint32_t count,
                             float *irradiance) {
    const uint32_t step = f->batch_rays / f->picture->gather_rays;
    f->waiting_count = 0;
    for (uint32_t begin = 0; begin < count; begin += step) {
        const uint32_t part = count - begin < step ? count - begin : step;
        MOTE_TRY(add_rays(f, samples + begin, first + begin, part, irradiance + 3ull * begin));
        if (f->waiting_count > f->capacity - f->batch_rays) MOTE_TRY(go_on(f, first, irradiance));
    }
    return go_on(f, first, irradiance);
}

mote_status photon_final_open(photon_final *f, uint32_t samples) {
    mote_device *const device = f->device;
    const uint32_t each = f->picture->gather_rays, most = f->ops->batch_rays;
    const uint64_t all = (uint64_t)samples * each, batch = most > each ? most / each * each : each;
    f->batch_rays = (uint32_t)(all < batch ? all : batch);
    f->capacity = f->batch_rays + (all > batch ? f->batch_rays / WAITING : 0);
    f->rays = photon_alloc(device, f->capacity * sizeof *f->rays, "picture rays");
    f->queries = photon_alloc(device, f->capacity * sizeof *f->queries, "picture rays");
    f->known = photon_alloc(device, 3 * f->capacity * sizeof *f->known, "picture rays");
    f->unknown = photon_alloc(device, f->capacity, "picture rays");
    f->waiting = photon_alloc(device, f->capacity * sizeof *f->waiting, "picture rays");
    f->numbers = photon_alloc(device, f->capacity * sizeof *f->numbers, "picture rays");
    const bool complete = f->rays != NULL && f->queries != NULL && f->known != NULL && f->unknown != NULL &&
                          f->waiting != NULL && f->numbers != NULL;
    return complete ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void photon_final_close(photon_final *f) {
    photon_free(f->device, f->numbers);
    photon_free(f->device, f->waiting);
    photon_free(f->device, f->unknown);
    photon_free(f->device, f->known);
    photon_free(f->device, f->queries);
    photon_free(f->device, f->rays);
}
