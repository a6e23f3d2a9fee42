/* The steps of photon mapping on CPU cores: an element after the other, by the maths that GPUs would use. */
#include "photon/photon_gather_cpu.h"

static void tally_add(photon_tally *to, const photon_tally *from) {
    to->hits += from->hits;
    for (int i = 0; i < 3; i++) to->stored[i] += from->stored[i];
    for (int i = 0; i < PHOTON_FATES; i++) {
        to->fates[i] += from->fates[i];
        photon_tally_power(to->power[i], from->power[i][0]);
        to->power[i][1] += from->power[i][1];
    }
}

static mote_status cpu_count(const mote_scene *scene, uint64_t seed, uint64_t first, uint32_t count, double unit,
                             uint32_t *counts, photon_tally *tally) {
#pragma omp parallel num_threads(scene->ctx->threads)
    {
        photon_tally mine;
        memset(&mine, 0, sizeof mine);
#pragma omp for schedule(dynamic, 256)
        for (uint32_t i = 0; i < count; i++) {
            counts[i] = photon_fly(&scene->view, seed, first + i, unit, NULL, &mine);
        }
#pragma omp critical(photon_tallies)
        tally_add(tally, &mine);
    }
    return MOTE_OK;
}

static mote_status cpu_store(const mote_scene *scene, uint64_t seed, uint64_t first, uint32_t count, double unit,
                             const uint64_t *starts, photon_record *records) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(scene->ctx->threads)
    for (uint32_t i = 0; i < count; i++) { photon_fly(&scene->view, seed, first + i, unit, records + starts[i], NULL); }
    return MOTE_OK;
}

static mote_status cpu_look(const mote_scene *scene, const photon_picture *picture, uint64_t first, uint32_t count,
                            photon_sample *samples) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(scene->ctx->threads)
    for (uint32_t i = 0; i < count; i++) samples[i] = photon_look(&scene->view, picture, first + i);
    return MOTE_OK;
}

static void write_color(float *to, photon_vec color) {
    to[0] = (float)color.x;
    to[1] = (float)color.y;
    to[2] = (float)color.z;
}

static mote_status cpu_light(const mote_scene *scene, const photon_picture *picture, uint64_t first, uint32_t count,
                             const photon_sample *samples, float *irradiance) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(scene->ctx->threads)
    for (uint32_t i = 0; i < count; i++) {
        photon_random random = photon_random_of(picture->seed, PHOTON_STREAM_LIGHT, first + i);
        const bool seen = photon_sum(samples[i].weight) > 0;
        write_color(irradiance + 3ull * i, seen ? photon_direct(&scene->view, samples[i].place, samples[i].normal,
                                                                picture->shadow_rays, &random)
                                                : photon_vec_of(0, 0, 0));
    }
    return MOTE_OK;
}

static mote_status cpu_scatter(const mote_scene *scene, const photon_picture *picture, uint64_t first, uint32_t count,
                               const photon_sample *samples, photon_sample *rays) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(scene->ctx->threads)
    for (uint32_t i = 0; i < count; i++) {
        photon_sample *to = rays + (uint64_t)i * picture->gather_rays;
        const bool seen = photon_sum(samples[i].weight) > 0;
        if (!seen) memset(to, 0, picture->gather_rays * sizeof *to);
        for (uint32_t ray = 0; ray < picture->gather_rays && seen; ray++) {
            to[ray] = photon_gather_ray(&scene->view, picture, &samples[i], first + i, ray);
        }
    }
    return MOTE_OK;
}

static mote_status cpu_path(const mote_scene *scene, const photon_picture *picture, uint64_t first, uint32_t count,
                            float *radiance) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(scene->ctx->threads)
    for (uint32_t i = 0; i < count; i++) {
        write_color(radiance + 3ull * i, photon_path(&scene->view, picture, first + i));
    }
    return MOTE_OK;
}

const mote_photon_ops mote_photon_cpu = {cpu_count,   cpu_store, cpu_look,          cpu_light,
                                         cpu_scatter, cpu_path,  photon_gather_cpu, photon_look_up_cpu};
