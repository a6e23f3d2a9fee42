/* What a backend supplies for photon mapping. Steps are coarse: each is many photons, samples or queries at once. */
#ifndef MOTE_PHOTON_OPS_H
#define MOTE_PHOTON_OPS_H

#include "mote/knn.h"
#include "photon/photon_emit.h"
#include "photon/photon_eye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A place whose irradiance is asked for. */
typedef struct photon_query {
    float place[3], normal[3];
} photon_query;

/* Photons, their index, and the irradiance of those at which it was made once. */
typedef struct photon_cloud {
    mote_cloud *cloud; /* of records */
    mote_knn_index *index;
    photon_record *records;
    uint64_t count;
    float *irradiance; /* [3 · count]; NULL: not made */
} photon_cloud;

typedef struct mote_photon_ops {
    /* Photons first to first + count: how many records each has, and what became of them all. */
    mote_status (*count)(const mote_scene *scene, uint64_t seed, uint64_t first, uint32_t count, double unit,
                         uint32_t *counts, photon_tally *tally);
    /* Their records; those of photon first + i from starts[i] on. */
    mote_status (*store)(const mote_scene *scene, uint64_t seed, uint64_t first, uint32_t count, double unit,
                         const uint64_t *starts, photon_record *records);
    /* Samples first to first + count of a picture. */
    mote_status (*look)(const mote_scene *scene, const photon_picture *picture, uint64_t first, uint32_t count,
                        photon_sample *samples);
    /* Irradiance of samples by shadow rays. */
    mote_status (*light)(const mote_scene *scene, const photon_picture *picture, uint64_t first, uint32_t count,
                         const photon_sample *samples, float *irradiance);
    /* Rays of final gathering, gather_rays for each sample. */
    mote_status (*scatter)(const mote_scene *scene, const photon_picture *picture, uint64_t first, uint32_t count,
                           const photon_sample *samples, photon_sample *rays);
    /* Radiance of samples by the path tracer. */
    mote_status (*path)(const mote_scene *scene, const photon_picture *picture, uint64_t first, uint32_t count,
                        float *radiance);
    /* Irradiance of queries by the k nearest photons in front of them. */
    mote_status (*gather)(const photon_cloud *photons, const mote_cloud *queries,
                          const mote_photon_gathering *gathering, float *irradiance);
    /* The irradiance of the nearest photon of a surface of that direction. */
    mote_status (*look_up)(const photon_cloud *photons, const mote_cloud *queries, float *irradiance);
} mote_photon_ops;

extern const mote_photon_ops mote_photon_cpu;

#ifdef __cplusplus
}
#endif
#endif
