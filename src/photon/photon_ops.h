/* What a backend supplies for photon mapping. Steps are coarse: each is many photons, samples or queries at once.
   Arrays are in the memory of the device, except where it says otherwise. */
#ifndef MOTE_PHOTON_OPS_H
#define MOTE_PHOTON_OPS_H

#include "mote/knn.h"
#include "photon/emit/photon_emit.h"
#include "photon/picture/photon_onward.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where irradiance holds that was gathered at photons: photon_look_up.h. */
typedef struct photon_reach {
    double compression; /* of the discs that it was gathered in */
    double near2;       /* the square of the farthest distance, of that of the radius of a disc */
    double width;       /* the radius of a disc, at most, of the length of a ray */
} photon_reach;

/* Photons, their index, and the irradiance of those at which it was made once. */
typedef struct photon_cloud {
    mote_cloud *cloud; /* of records */
    mote_knn_index *index;
    photon_record *records;
    uint64_t count;
    double unit;       /* the mean power of photons */
    double share;      /* of the photons of the map */
    float *irradiance; /* [3 · count]; NULL: not made */
    double *radius2;   /* [count] of the discs that it was gathered in */
    photon_reach reach;
    void *in_order;    /* on a GPU: what gathering reads of them, in the order of the index; NULL: not made */
    int in_order_area; /* mote_photon_area that it was made for */
} photon_cloud;

/* Photons that are to leave the lights of a scene that has some. */
typedef struct photon_emitting {
    const mote_scene *scene;
    uint64_t seed, photons;
    double unit;
} photon_emitting;

typedef struct mote_photon_ops {
    /* Samples, and rays of final gathering, that a picture has in memory at once. */
    uint32_t batch_samples, batch_rays;

    /* Makes what the device needs of a scene, if it was not made yet; photon_scene_close frees it. */
    mote_status (*open_scene)(mote_device *device, mote_scene *scene);
    void (*close_scene)(mote_scene *scene);

    /* Emits photons: records, by the number of the photon and then along its path, and count of to. tally: of the host,
       zero before. */
    mote_status (*emit)(mote_device *device, const photon_emitting *e, photon_cloud *to, photon_tally *tally);
    /* Copies the photons of a choice, in the same order: records and count of to. */
    mote_status (*choose)(mote_device *device, const photon_cloud *from, int choice, photon_cloud *to);

    /* Samples first to first + count of a picture. */
    mote_status (*look)(mote_device *device, const mote_scene *scene, const photon_picture *picture, uint64_t first,
                        uint32_t count, photon_sample *samples);
    /* Irradiance of samples by shadow rays. */
    mote_status (*light)(mote_device *device, const mote_scene *scene, const photon_picture *picture, uint64_t first,
                         uint32_t count, const photon_sample *samples, float *irradiance);
    /* Rays of final gathering, gather_rays for each sample. */
    mote_status (*scatter)(mote_device *device, const mote_scene *scene, const photon_picture *picture, uint64_t first,
                           uint32_t count, const photon_sample *samples, photon_sample *rays);
    /* Radiance of samples by the path tracer. */
    mote_status (*path)(mote_device *device, const mote_scene *scene, const photon_picture *picture, uint64_t first,
                        uint32_t count, float *radiance);

    /* Irradiance of queries by the k nearest photons that count there. queries: on the device or the host. radius2: of
       the discs, 0 where there is none; NULL: not asked for. */
    mote_status (*gather)(mote_device *device, mote_scene *scene, photon_cloud *photons, const mote_cloud *queries,
                          const mote_photon_gathering *gathering, float *irradiance, double *radius2);
    /* What is known at the photons around the ends of rays, where it holds: photon_look_up.h.
       queries: the ends of the rays; irradiance: out, 0 where nothing is known; unknown: out, 1 where a ray ended and
       nothing is known, else 0. */
    mote_status (*look_up)(mote_device *device, const mote_scene *scene, const photon_cloud *known,
                           const mote_cloud *queries, const photon_sample *rays, float *irradiance, uint8_t *unknown);
    /* Copies rays at whose ends nothing is known, in their order, with their numbers.
       numbers  [count]; NULL: those from first on
       *found   on the host */
    mote_status (*collect)(mote_device *device, const photon_sample *rays, const uint64_t *numbers, uint64_t first,
                           const uint8_t *unknown, uint64_t count, photon_sample *to, uint64_t *to_numbers,
                           uint64_t *found);
    /* Goes on from the ends of rays: photon_onward.h.
       slots   [count] which of the rays that began these are; NULL: all of them, in order
       numbers by slot, of these rays in the picture; told: [3 · slots] is added to
       caustics [3 · count] of the ends
       next    [count] out: the rays that leave */
    mote_status (*go_on)(mote_device *device, const mote_scene *scene, const photon_picture *picture,
                         const photon_sample *ends, const uint64_t *slots, const uint64_t *numbers, uint64_t count,
                         uint32_t depth, const float *caustics, float *told, photon_sample *next);
    /* Goes on so to the ends of rays, at which no photons are asked. */
    mote_status (*go_to_end)(mote_device *device, const mote_scene *scene, const photon_picture *picture,
                             const photon_sample *ends, const uint64_t *slots, const uint64_t *numbers, uint64_t count,
                             uint32_t depth, float *told);
    /* told[slot] += what is known at the end of the ray */
    mote_status (*tell)(mote_device *device, const photon_sample *rays, const uint64_t *slots, uint64_t count,
                        const float *known, float *told);
    /* Adds to the irradiance of samples from first on what rays told. numbers: [count] of these rays, ascending. */
    mote_status (*add_told)(mote_device *device, const uint64_t *numbers, const float *told, uint64_t count,
                            uint32_t rays_each, uint64_t first, float *irradiance);

    /* What photons are asked for: the places of samples. */
    mote_status (*ask)(mote_device *device, const photon_sample *samples, uint64_t count, photon_query *queries);
    /* to[i] += part[i] */
    mote_status (*add)(mote_device *device, float *to, const float *part, uint64_t count);
    /* Adds to the irradiance of count samples what their rays, rays_each of each sample, tell. known: [3 · rays] */
    mote_status (*add_rays)(mote_device *device, const photon_sample *rays, uint32_t rays_each, const float *known,
                            uint32_t count, float *irradiance);
    /* Irradiance of samples becomes their radiance. */
    mote_status (*finish)(mote_device *device, const photon_sample *samples, uint32_t count, float *irradiance);
    /* The means of pixels, each of samples_each samples in a row. pixels: [3 · count] */
    mote_status (*average)(mote_device *device, const float *radiance, uint32_t samples_each, uint32_t count,
                           float *pixels);
} mote_photon_ops;

extern const mote_photon_ops mote_photon_cpu;
extern const mote_photon_ops mote_photon_on_cuda;

/* How many records a tally tells of; MOTE_ERROR_UNSUPPORTED where these are too many for one map. */
mote_status photon_check_stored(mote_context *ctx, const photon_tally *tally, uint64_t *count);

/* ---- memory of a device, which may be the host */

static inline void *photon_alloc(mote_device *device, uint64_t size_bytes, const char *structure) {
    return device->ops == NULL ? mote_alloc(device->ctx, size_bytes, structure)
                               : device_alloc(device, size_bytes, structure);
}
static inline void photon_free(mote_device *device, void *memory) {
    if (device->ops == NULL) {
        mote_free(device->ctx, memory);
    } else {
        device_free(device, memory);
    }
}
/* Brings memory of the device to the host. */
static inline mote_status photon_fetch(mote_device *device, void *host, const void *memory, uint64_t size_bytes) {
    if (device->ops != NULL) return device_download(device, host, memory, size_bytes);
    memcpy(host, memory, size_bytes);
    return MOTE_OK;
}

#ifdef __cplusplus
}
#endif
#endif
