/* The steps of photon mapping on CPU cores: an element after the other, by the maths that GPUs use too. */
#include "photon/emit/photon_emit_cpu.h"
#include "photon/gather/photon_gather_cpu.h"

static mote_status cpu_open_scene(mote_device *device, mote_scene *scene) {
    (void)device;
    (void)scene;
    return MOTE_OK;
}

static void cpu_close_scene(mote_scene *scene) { (void)scene; }

static mote_status cpu_look(mote_device *device, const mote_scene *scene, const photon_picture *picture, uint64_t first,
                            uint32_t count, photon_sample *samples) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(device->ctx->threads)
    for (uint32_t i = 0; i < count; i++) samples[i] = photon_look(&scene->view, picture, first + i);
    return MOTE_OK;
}

static mote_status cpu_light(mote_device *device, const mote_scene *scene, const photon_picture *picture,
                             uint64_t first, uint32_t count, const photon_sample *samples, float *irradiance) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(device->ctx->threads)
    for (uint32_t i = 0; i < count; i++) {
        photon_write_color(irradiance + 3ull * i, photon_light_sample(&scene->view, picture, first + i, &samples[i]));
    }
    return MOTE_OK;
}

static mote_status cpu_scatter(mote_device *device, const mote_scene *scene, const photon_picture *picture,
                               uint64_t first, uint32_t count, const photon_sample *samples, photon_sample *rays) {
    const uint32_t each = picture->gather_rays;
#pragma omp parallel for schedule(dynamic, 64) num_threads(device->ctx->threads)
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t ray = 0; ray < each; ray++) {
            rays[(uint64_t)i * each + ray] = photon_scatter_ray(&scene->view, picture, &samples[i], first + i, ray);
        }
    }
    return MOTE_OK;
}

static mote_status cpu_path(mote_device *device, const mote_scene *scene, const photon_picture *picture, uint64_t first,
                            uint32_t count, float *radiance) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(device->ctx->threads)
    for (uint32_t i = 0; i < count; i++) {
        photon_write_color(radiance + 3ull * i, photon_path(&scene->view, picture, first + i));
    }
    return MOTE_OK;
}

static mote_status cpu_ask(mote_device *device, const photon_sample *samples, uint64_t count, photon_query *queries) {
#pragma omp parallel for num_threads(device->ctx->threads)
    for (uint64_t i = 0; i < count; i++) queries[i] = photon_query_of(&samples[i]);
    return MOTE_OK;
}

static mote_status cpu_add(mote_device *device, float *to, const float *part, uint64_t count) {
    (void)device;
    for (uint64_t i = 0; i < count; i++) to[i] += part[i];
    return MOTE_OK;
}

static mote_status cpu_add_rays(mote_device *device, const photon_sample *rays, uint32_t rays_each, const float *known,
                                uint32_t count, float *irradiance) {
#pragma omp parallel for num_threads(device->ctx->threads)
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t first = (uint64_t)i * rays_each;
        photon_add_color(irradiance + 3ull * i, photon_sum_rays(rays + first, known + 3 * first, rays_each));
    }
    return MOTE_OK;
}

/* ---- rays that go on */

static mote_status cpu_collect(mote_device *device, const photon_sample *rays, const uint64_t *numbers, uint64_t first,
                               const uint8_t *unknown, uint64_t count, photon_sample *to, uint64_t *to_numbers,
                               uint64_t *found) {
    (void)device;
    *found = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!unknown[i]) continue;
        to[*found] = rays[i];
        to_numbers[(*found)++] = numbers != NULL ? numbers[i] : first + i;
    }
    return MOTE_OK;
}

static mote_status cpu_go_on(mote_device *device, const mote_scene *scene, const photon_picture *picture,
                             const photon_sample *ends, const uint64_t *slots, const uint64_t *numbers, uint64_t count,
                             uint32_t depth, const float *caustics, float *told, photon_sample *next) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(device->ctx->threads)
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t slot = slots != NULL ? slots[i] : i;
        next[i] =
            photon_go_on(&scene->view, picture, &ends[i], numbers[slot], depth, caustics + 3 * i, told + 3 * slot);
    }
    return MOTE_OK;
}

static mote_status cpu_go_to_end(mote_device *device, const mote_scene *scene, const photon_picture *picture,
                                 const photon_sample *ends, const uint64_t *slots, const uint64_t *numbers,
                                 uint64_t count, uint32_t depth, float *told) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(device->ctx->threads)
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t slot = slots != NULL ? slots[i] : i;
        photon_go_to_end(&scene->view, picture, &ends[i], numbers[slot], depth, told + 3 * slot);
    }
    return MOTE_OK;
}

static mote_status cpu_tell(mote_device *device, const photon_sample *rays, const uint64_t *slots, uint64_t count,
                            const float *known, float *told) {
    (void)device;
    for (uint64_t i = 0; i < count; i++) {
        photon_tell(&rays[i], known + 3 * i, told + 3 * (slots != NULL ? slots[i] : i));
    }
    return MOTE_OK;
}

static mote_status cpu_add_told(mote_device *device, const uint64_t *numbers, const float *told, uint64_t count,
                                uint32_t rays_each, uint64_t first, float *irradiance) {
    (void)device;
    for (uint64_t i = 0; i < count; i++) photon_add_told(numbers, told, count, rays_each, first, i, irradiance);
    return MOTE_OK;
}

static mote_status cpu_finish(mote_device *device, const photon_sample *samples, uint32_t count, float *irradiance) {
    (void)device;
    for (uint32_t i = 0; i < count; i++) photon_finish_sample(&samples[i], irradiance + 3ull * i);
    return MOTE_OK;
}

static mote_status cpu_average(mote_device *device, const float *radiance, uint32_t samples_each, uint32_t count,
                               float *pixels) {
    (void)device;
    for (uint32_t i = 0; i < count; i++) {
        photon_average(radiance + 3ull * i * samples_each, samples_each, pixels + 3ull * i);
    }
    return MOTE_OK;
}

const mote_photon_ops mote_photon_cpu = {.batch_samples = 65536,
                                         .batch_rays = 262144,
                                         .open_scene = cpu_open_scene,
                                         .close_scene = cpu_close_scene,
                                         .emit = photon_emit_on_cpu,
                                         .choose = photon_choose_on_cpu,
                                         .look = cpu_look,
                                         .light = cpu_light,
                                         .scatter = cpu_scatter,
                                         .path = cpu_path,
                                         .gather = photon_gather_on_cpu,
                                         .look_up = photon_look_up_on_cpu,
                                         .collect = cpu_collect,
                                         .go_on = cpu_go_on,
                                         .go_to_end = cpu_go_to_end,
                                         .tell = cpu_tell,
                                         .add_told = cpu_add_told,
                                         .ask = cpu_ask,
                                         .add = cpu_add,
                                         .add_rays = cpu_add_rays,
                                         .finish = cpu_finish,
                                         .average = cpu_average};
