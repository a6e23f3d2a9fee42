/* Final gathering: the light that comes to samples off diffuse surfaces. */
#ifndef MOTE_PHOTON_FINAL_H
#define MOTE_PHOTON_FINAL_H

#include "photon/photon_map.h"

/* Arrays are in the memory of the device. */
typedef struct photon_final {
    mote_device *device;
    mote_scene *scene;
    mote_photon_map *map;
    const mote_photon_ops *ops;
    const photon_picture *picture;
    uint32_t batch_rays; /* that are traced at once; rays of whole samples */
    uint64_t capacity;   /* of each array */
    photon_sample *rays;
    photon_query *queries; /* of their ends */
    float *known;          /* [3 · capacity] there */
    uint8_t *unknown;
    photon_sample *waiting; /* rays that will go on */
    uint64_t *numbers;      /* of these in the picture */
    uint64_t waiting_count;
} photon_final;

/* f: device, scene, map and picture are set. samples: of a batch, at most. */
mote_status photon_final_open(photon_final *f, uint32_t samples);
void photon_final_close(photon_final *f);
/* Adds to the irradiance of samples first to first + count of the picture. */
mote_status photon_final_add(photon_final *f, const photon_sample *samples, uint64_t first, uint32_t count,
                             float *irradiance);

#endif
