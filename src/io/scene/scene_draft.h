/* A scene while it is read from files: growing arrays, of which mote_scene_create makes the scene.

     scene_read.c ── .glb .gltf ──▶ gltf_read.c ── gltf_mesh.c, gltf_material.c ─┐
                 └── .obj ────────▶ obj_read.c ─── mtl_read.c ──────────────────┴─▶ scene_draft ─▶ mote_scene
                                        both: scene_image.c, textures */
#ifndef MOTE_SCENE_DRAFT_H
#define MOTE_SCENE_DRAFT_H

#include "io/io_internal.h"
#include "mote/photon.h"

typedef struct scene_draft {
    mote_context *ctx;
    const char *path; /* of the scene's file: others are looked for beside it */
    double *positions;
    uint32_t *triangles, *triangle_materials;
    float *coordinates; /* [6 · triangle_count] */
    mote_material *materials;
    mote_light *lights;
    mote_texture *textures; /* their texels are the draft's */
    uint64_t position_count, triangle_count, material_count, light_count, texture_count;
    uint64_t position_capacity, triangle_capacity, triangle_material_capacity, coordinate_capacity, material_capacity,
        light_capacity, texture_capacity;
    uint64_t degenerate; /* triangles that were left out because they have no area */
    mote_camera camera;
    bool has_camera;
} scene_draft;

/* Makes room for further ones, and refuses more than a scene may have. */
mote_status scene_draft_reserve(scene_draft *d, uint64_t positions, uint64_t triangles);
/* Room was made. */
uint32_t scene_draft_add_position(scene_draft *d, double x, double y, double z);
/* Room was made. Leaves it out where it has no area. coordinates: u v of each corner; NULL: zeros */
void scene_draft_add_triangle(scene_draft *d, const uint32_t corners[3], uint32_t material, const float *coordinates);
/* Diffuse, grey of 0.8; NULL: no memory. */
mote_material *scene_draft_add_material(scene_draft *d);
mote_light *scene_draft_add_light(scene_draft *d);
mote_texture *scene_draft_add_texture(scene_draft *d);
void scene_draft_free(scene_draft *d);

/* What the scene's file names: a file beside it or in a folder below. */
typedef struct scene_file {
    mote_input input;
    char *path;
} scene_file;

/* Opens it. Refused: absolute paths, addresses, and paths that leave the folder of the scene: a scene of a stranger
   reads nothing but its own files. The same holds for where links lead. Pipes and devices are refused. Backslashes count
   as slashes. The failure does not name the scene. */
mote_status scene_file_open(const scene_draft *d, const char *name, scene_file *file);
/* The same by its path, as scene_file_find gives it. */
mote_status scene_file_open_path(const scene_draft *d, const char *path, scene_file *file);
/* Whether a failure is one of a file beside the scene, which may cost that file alone. */
bool scene_file_is_dispensable(mote_status status);
/* Where the file of that name is: beside `beside`, a file of the scene, or beside the scene's own file, or in either
   folder by the last part of its name, for many programs write the folders of their own machine; else of a name in
   other case, for many programs do not tell it apart; the name may stand in quotes. NULL: in none of them, or not in
   the folder of the scene or below it. *path is for mote_free. */
mote_status scene_file_find(const scene_draft *d, const char *beside, const char *name, char **path);
void scene_file_close(mote_context *ctx, scene_file *file);

/* Decodes a PNG or JPEG into a texture, whose texels are for mote_free. name: for messages.
 *known: false where it is of another format, or one that this build has no library for; the reason was warned of. */
mote_status scene_image_decode(mote_context *ctx, const char *name, const uint8_t *data, uint64_t size_bytes,
                               mote_texture *texture, bool *known);
/* The mean of its colours, linear. */
void scene_image_mean(const mote_texture *texture, double mean[3]);

/* Each reads an input that is open. */
mote_status scene_read_gltf(scene_draft *d, const mote_input *input);
mote_status scene_read_obj(scene_draft *d, const mote_input *input);
/* mote_scene_read of an input that is open. */
mote_status scene_read_input(mote_context *ctx, const mote_input *input, mote_scene **out, mote_scene_facts *facts);

#endif
