/* A photon map: all photons, those of caustics alone, and what was made of them. */
#ifndef MOTE_PHOTON_MAP_H
#define MOTE_PHOTON_MAP_H

#include "photon/photon_ops.h"

struct mote_photon_map {
    mote_context *ctx;
    mote_scene *scene;
    const mote_photon_ops *ops;
    mote_photon_facts facts;
    photon_record *records; /* [facts.stored] */
    photon_cloud all;
    photon_cloud chosen[3]; /* direct alone, caustics alone, those with irradiance; made when they are asked for */
};

enum { PHOTON_CHOSEN_DIRECT, PHOTON_CHOSEN_CAUSTIC, PHOTON_CHOSEN_IRRADIANCE };

/* The photons of a choice, with their index; of IRRADIANCE, also the irradiance at each, gathered so. */
mote_status photon_map_choose(mote_photon_map *map, int choice, const mote_photon_gathering *gathering);
/* The index of all. */
mote_status photon_map_index(mote_photon_map *map);

/* The steps of the device that the context was made for; MOTE_ERROR_UNSUPPORTED where it has none. */
mote_status photon_find_ops(mote_context *ctx, uint64_t photons, const mote_photon_ops **ops);
/* Whether these are ones that gather can work by. */
mote_status photon_check_gathering(mote_context *ctx, const mote_photon_gathering *gathering);
/* A cloud of x, y, z and normals that looks at queries. */
mote_status photon_wrap_queries(mote_context *ctx, const photon_query *queries, uint64_t count, mote_cloud **out);

#endif
