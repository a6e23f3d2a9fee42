/* A photon map: all photons, those of caustics alone, and what was made of them. */
#ifndef MOTE_PHOTON_MAP_H
#define MOTE_PHOTON_MAP_H

#include "photon/photon_ops.h"

struct mote_photon_map {
    mote_context *ctx;
    mote_scene *scene;
    mote_device *device; /* on which the photons are */
    const mote_photon_ops *ops;
    mote_photon_facts facts;
    photon_cloud all;
    photon_cloud chosen[PHOTON_KEPT]; /* made when they are asked for */
    photon_record *host_records;      /* of a device with memory of its own: a copy, made when it is asked for */
    mote_cloud *host_cloud;
};

/* The photons of a choice, with their index, if they were not made yet. */
mote_status photon_map_choose(mote_photon_map *map, int choice);
/* These, and the irradiance at each of them: of IRRADIANCE that of all light, of CAUSTIC that of caustics. */
mote_status photon_map_gather(mote_photon_map *map, int choice, const mote_photon_gathering *gathering);

/* The device that the context was made for; MOTE_ERROR_UNSUPPORTED where it has no photon mapping. */
mote_status photon_find_device(mote_context *ctx, uint64_t photons, mote_device **device);
/* Refuses a scene that is out of the range of coordinates that floats have squares of; see mote/render.h. */
mote_status photon_check_range(const mote_scene *scene);
/* Whether these are ones that gather can work by. */
mote_status photon_check_gathering(mote_context *ctx, const mote_photon_gathering *gathering);
/* A cloud of x, y, z and normals that looks at queries on a device. */
mote_status photon_wrap_queries(mote_device *device, const photon_query *queries, uint64_t count, mote_cloud **out);

#endif
