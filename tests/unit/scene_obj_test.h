/* What the tests of OBJ and MTL share. */
#ifndef MOTE_SCENE_OBJ_TEST_H
#define MOTE_SCENE_OBJ_TEST_H

#include "photon/scene/photon_texture.h"
#include "support/support.h"

#define CORNERS "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
#define SQUARE  "f 1/1 2/2 3/3 4/4\n"

/* A PNG of one red pixel. */
extern const uint8_t scene_obj_png[73];
/* What a context of scene_obj_listening has told. */
extern char scene_obj_warnings[4096];

mote_context *scene_obj_listening(void);
void scene_obj_text(const char *name, const char *text);
mote_scene *scene_obj_read_text(mote_context *ctx, const char *text, mote_scene_facts *facts);
photon_hit scene_obj_hit(const mote_scene *scene, double x, double y);

void what_tr_means(void **state);
void illumination_models_keep_textures(void **state);
void colours_may_be_bytes(void **state);
void names_are_those_of_the_library_before(void **state);
void words_of_materials_are_told(void **state);

#endif
