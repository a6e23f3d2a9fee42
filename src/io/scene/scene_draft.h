/* A scene while it is read from files: growing arrays, of which mote_scene_create makes the scene.

     scene_read.c ── .glb .gltf ──▶ gltf_read.c ── gltf_mesh.c, gltf_material.c ─┐
                 └── .obj ────────▶ obj_read.c ─── mtl_read.c ──────────────────┴─▶ scene_draft ─▶ mote_scene
                                        both: scene_image.c, textures; scene_file.c */
#ifndef MOTE_SCENE_DRAFT_H
#define MOTE_SCENE_DRAFT_H

#include "io/io_internal.h"
#include "io/scene/scene_names.h"
#include "mote/photon.h"

/* An image, decoded once, however often it is named. */
typedef struct scene_image {
    uint8_t *srgb, *alpha; /* as of mote_texture; both NULL: it could not be read, which was told */
    uint32_t width, height;
    uint32_t textures[9]; /* 1 + place of the texture that shows it, by wrap_u and wrap_v; 0: none does */
} scene_image;

/* What is in folders that were looked through: "FOLDER" and "FOLDER\nname", in lower case, to its place in names. */
typedef struct scene_folders {
    scene_names entries;
    char **names;
    uint64_t count, capacity;
} scene_folders;

typedef struct scene_draft {
    mote_context *ctx;
    const char *path; /* of the scene's file: others are looked for beside it */
    double *positions;
    float *colors; /* [4 · color_count] of the first positions; NULL: none has one */
    uint64_t color_count, color_capacity;
    uint32_t *triangles, *triangle_materials;
    float *coordinates; /* [6 · triangle_count] */
    mote_material *materials;
    mote_light *lights;
    mote_texture *textures; /* their texels are those of images */
    scene_image *images;
    scene_names image_names; /* by what the file calls them, to their place in images */
    uint64_t image_count, image_capacity, texel_count;
    scene_folders folders;
    uint64_t position_count, triangle_count, material_count, light_count, texture_count;
    uint64_t position_capacity, triangle_capacity, triangle_material_capacity, coordinate_capacity, material_capacity,
        light_capacity, texture_capacity;
    uint64_t degenerate; /* triangles that were left out because they have no area */
    mote_camera camera;
    bool has_camera;
} scene_draft;

/* Makes room for further ones, and refuses more than a scene may have. */
mote_status scene_draft_reserve(scene_draft *d, uint64_t positions, uint64_t triangles);
/* Adds a position, for which room was made. */
uint32_t scene_draft_add_position(scene_draft *d, double x, double y, double z);
/* Colours of the position that was added last: linear red, green, blue, and alpha, which are brought to 0..1. */
mote_status scene_draft_color(scene_draft *d, const double rgba[4]);
/* Once all positions are there: those without a colour get 1 1 1 1, if any has one. */
mote_status scene_draft_finish_colors(scene_draft *d);
/* Room was made. Leaves it out where it has no area. coordinates: u v of each corner; NULL: zeros */
void scene_draft_add_triangle(scene_draft *d, const uint32_t corners[3], uint32_t material, const float *coordinates);
/* Diffuse, grey of 0.8; NULL: no memory. */
mote_material *scene_draft_add_material(scene_draft *d);
mote_light *scene_draft_add_light(scene_draft *d);
/* The texture that shows an image in this way; *place: 1 + its place. */
mote_status scene_draft_need_texture(scene_draft *d, uint32_t image, mote_texture_wrap wrap_u, mote_texture_wrap wrap_v,
                                     uint64_t *place);
void scene_draft_free(scene_draft *d);

/* What the scene's file names: a file beside it or in a folder below. */
typedef struct scene_file {
    mote_input input;
    char *path;
} scene_file;

/* Opens it. Refused: absolute paths, addresses, and paths that leave the folder of the scene: a scene of a stranger
   reads nothing but its own files. The same holds for where links lead. Pipes and devices are refused. Backslashes
   count as slashes. The failure does not name the scene. */
mote_status scene_file_open(const scene_draft *d, const char *name, scene_file *file);
/* Opens a file of the scene by the path that scene_file_find gave. */
mote_status scene_file_open_path(const scene_draft *d, const char *path, scene_file *file);
/* Whether a failure is one of a file beside the scene, which may cost that file alone. */
bool scene_file_is_dispensable(mote_status status);
/* Where the file of that name is: beside `beside`, a file of the scene, or beside the scene's own file, or in either
   folder by the last part of its name, for many programs write the folders of their own machine; else of a name in
   other case, for many programs do not tell it apart; the name may stand in quotes. NULL: in none of them, or not in
   the folder of the scene or below it. *path is for mote_free. */
mote_status scene_file_find(scene_draft *d, const char *beside, const char *name, char **path);
void scene_folders_free(mote_context *ctx, scene_folders *folders);
void scene_file_close(mote_context *ctx, scene_file *file);

/* The image of a key, which is what the file calls it, of any length: its place; SCENE_NO_NAME: it was not met yet. */
uint32_t scene_image_find(const scene_draft *d, const char *key, uint64_t key_bytes);
/* Decodes a PNG or JPEG and keeps it under a key. title: for messages. data NULL, or a failure that only costs the
   image (scene_file_is_dispensable): it is kept as one that cannot be read. */
mote_status scene_image_add(scene_draft *d, const char *key, uint64_t key_bytes, const char *title, const uint8_t *data,
                            uint64_t size_bytes, uint32_t *image);

/* Each reads an input that is open. */
mote_status scene_read_gltf(scene_draft *d, const mote_input *input);
mote_status scene_read_obj(scene_draft *d, const mote_input *input);
/* mote_scene_read of an input that is open. */
mote_status scene_read_input(mote_context *ctx, const mote_input *input, mote_scene **out, mote_scene_facts *facts);

#endif
