/* Between samples, what photons tell of them, and pixels: one copy for C and CUDA. */
#ifndef MOTE_PHOTON_PIXEL_H
#define MOTE_PHOTON_PIXEL_H

#include "photon/picture/photon_eye.h"

/* A place whose irradiance is asked for. */
typedef struct photon_query {
    float place[3], normal[3];
} photon_query;

MOTE_HD bool photon_sample_seen(const photon_sample *sample) { return photon_sum(sample->weight) > 0; }

MOTE_HD photon_query photon_query_of(const photon_sample *sample) {
    photon_query query;
    query.place[0] = (float)sample->place.x;
    query.place[1] = (float)sample->place.y;
    query.place[2] = (float)sample->place.z;
    query.normal[0] = (float)sample->normal.x;
    query.normal[1] = (float)sample->normal.y;
    query.normal[2] = (float)sample->normal.z;
    if (!photon_sample_seen(sample)) query.place[0] = NAN; /* nothing is searched for it */
    return query;
}

MOTE_HD void photon_write_color(float *to, photon_vec color) {
    to[0] = (float)color.x;
    to[1] = (float)color.y;
    to[2] = (float)color.z;
}

MOTE_HD void photon_add_color(float *to, photon_vec color) {
    to[0] += (float)color.x;
    to[1] += (float)color.y;
    to[2] += (float)color.z;
}

/* Irradiance of a sample by shadow rays. */
MOTE_HD photon_vec photon_light_sample(const photon_view *scene, const photon_picture *picture, uint64_t number,
                                       const photon_sample *sample) {
    photon_sequence sequence = photon_sequence_of_pixel(picture, PHOTON_STREAM_LIGHT, number, picture->shadow_rays, 0);
    if (!photon_sample_seen(sample)) return photon_vec_of(0, 0, 0);
    return photon_direct(scene, sample->place, sample->normal, picture->shadow_rays, &sequence);
}

/* A ray of final gathering; one of a sample that sees no surface has no weight. */
MOTE_HD photon_sample photon_scatter_ray(const photon_view *scene, const photon_picture *picture,
                                         const photon_sample *sample, uint64_t number, uint32_t ray) {
    return photon_sample_seen(sample) ? photon_gather_ray(scene, picture, sample, number, ray) : photon_no_sample();
}

/* What the rays of a sample tell, each the irradiance that is known where it ended. known: [3 · count] */
MOTE_HD photon_vec photon_sum_rays(const photon_sample *rays, const float *known, uint32_t count) {
    photon_vec sum = photon_vec_of(0, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        const float *e = known + 3ull * i;
        sum = photon_add(sum, photon_mul(rays[i].weight, photon_vec_of((double)e[0], (double)e[1], (double)e[2])));
    }
    return sum;
}

/* Radiance of a sample whose irradiance is in color. */
MOTE_HD void photon_finish_sample(const photon_sample *sample, float color[3]) {
    const photon_vec in = photon_vec_of((double)color[0], (double)color[1], (double)color[2]);
    photon_write_color(color, photon_add(sample->shine, photon_mul(sample->weight, in)));
}

/* The mean of samples in a row. */
MOTE_HD void photon_average(const float *samples, uint32_t count, float pixel[3]) {
    photon_vec sum = photon_vec_of(0, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        const float *s = samples + 3ull * i;
        sum = photon_add(sum, photon_vec_of((double)s[0], (double)s[1], (double)s[2]));
    }
    photon_write_color(pixel, photon_vec_of(sum.x / count, sum.y / count, sum.z / count));
}

#endif
