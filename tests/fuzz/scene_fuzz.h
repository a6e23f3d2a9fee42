/* What the fuzz targets of scenes share. */
#ifndef MOTE_SCENE_FUZZ_H
#define MOTE_SCENE_FUZZ_H

#include "fuzz/fuzz_support.h"
#include "io/scene/scene_draft.h"

/* Reads bytes as a scene of that name; of one that can be read, emits some photons and makes a small picture. */
static inline int scene_fuzz(const char *path, const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    const mote_input input = {.path = path, .data = data, .size_bytes = size};
    mote_scene *scene = NULL;
    mote_photon_map *map = NULL;
    if (scene_read_input(ctx, &input, &scene, NULL) == MOTE_OK) {
        float rgb[3 * 4 * 4];
        mote_photon_emission emission = mote_photon_emission_defaults();
        mote_photon_params params = mote_photon_defaults();
        const mote_camera camera = mote_scene_camera(scene);
        emission.photons = 20;
        params.width = params.height = 4;
        params.samples = params.gather_rays = params.shadow_rays = 1;
        fuzz_require(ctx, mote_photon_emit(scene, &emission, &map) == MOTE_OK, "no photons");
        mote_photon_render(scene, map, &camera, &params, rgb);
    }
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    fuzz_end(ctx, NULL);
    return 0;
}

#endif
