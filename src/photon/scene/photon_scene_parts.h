/* Making a scene: what its parts share. */
#ifndef MOTE_PHOTON_SCENE_PARTS_H
#define MOTE_PHOTON_SCENE_PARTS_H

#include "photon/scene/photon_scene.h"

/* photon_scene_check.c */
mote_status photon_scene_check(mote_context *ctx, const mote_scene_params *params);

/* photon_scene_textures.c: textures, and what lies on the corners of triangles, which are not sorted yet. */
mote_status photon_scene_textures(mote_scene *scene, const mote_scene_params *params);

/* photon_scene_lights.c: how many lights there are at most, and all of them, behind shapes, surfaces and textures. */
uint64_t photon_scene_light_count(const mote_scene_params *params);
void photon_scene_lights(mote_scene *scene, const mote_scene_params *params);

/* photon_scene_shares.c: what share of photons and shadow rays each light gets, in a scene that is ready for rays. */
mote_status photon_scene_shares(mote_scene *scene);

#endif
