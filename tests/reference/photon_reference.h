/* Photon mapping, naively: every shape for each ray, every photon for each place. */
#ifndef MOTE_PHOTON_REFERENCE_H
#define MOTE_PHOTON_REFERENCE_H

#include <mote/mote.h>

/* Random triangles and spheres within 1.3 sizes of the origin; every eighth triangle has no area, and of many every
   eighth is the one before it once more. */
mote_scene *photon_reference_scene(mote_context *ctx, uint32_t triangles, uint32_t spheres, double size, uint64_t seed);
/* Random rays through a scene of that size: the tree finds the hit that trying all shapes does, and of two triangles
   alike the first. */
void photon_reference_check_rays(mote_scene *scene, uint32_t rays, double size, uint64_t seed);
/* Where nothing is said to be near rays, none of them meets a shape. Returns of how many of so many that is said. */
uint32_t photon_reference_check_free(mote_scene *scene, uint32_t spans, double size, uint64_t seed);
/* The part of discs that is surface, of triangles alone or one sphere alone: pieces of it are counted. */
void photon_reference_check_area(mote_scene *scene, uint32_t places, uint64_t seed);
/* mote_photon_gather at so many places. */
void photon_reference_check_gather(mote_context *ctx, mote_photon_map *map, const mote_photon_gathering *gathering,
                                   uint32_t places);
/* The map of so many photons. */
mote_photon_map *photon_reference_map(mote_scene *scene, uint64_t photons, uint64_t seed);

#endif
