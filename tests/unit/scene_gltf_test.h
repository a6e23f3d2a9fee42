/* What the parts of the test of glTF share. */
#ifndef MOTE_SCENE_GLTF_TEST_H
#define MOTE_SCENE_GLTF_TEST_H

#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene/scene_draft.h"
#include "photon/emit/photon_scatter.h"
#include "support/cloud_files.h"

/* A square of y = 0 from -1 to 1 that looks up. Accessors: 0 positions, 1 indices, 2 colours of 0.25, 3 colours of four
   bytes, 51 51 51 0, 4 texture coordinates from 0 to 1, 5 zeros that are two numbers, 6 the positions with the third
   moved to 5 0 5, 7 zeros but for the third, 5 0 5. */
#define GLTF_BYTES                                                                                                     \
    "AACAvwAAAAAAAIC/AACAvwAAAAAAAIA/AACAPwAAAAAAAIA/AACAPwAAAAAAAIC/AAABAAIAAAACAAMAAACAPgAAgD4AAIA+AACAPgAAgD4AAIA+" \
    "AACAPgAAgD4AAIA+AACAPgAAgD4AAIA+MzMzADMzMwAzMzMAMzMzAAAAAAAAAAAAAAAAAAAAgD8AAIA/AACAPwAAgD8AAAAAAgAAAAAAoEAAAAAA" \
    "AACgQA=="
#define GLTF_BUFFER "\"buffers\":[{\"byteLength\":172,\"uri\":\"data:application/octet-stream;base64," GLTF_BYTES "\"}]"
#define GLTF_SPARSE                                                                                                    \
    "\"sparse\":{\"count\":1,\"indices\":{\"bufferView\":0,\"byteOffset\":156,\"componentType\":5121},"                \
    "\"values\":{\"bufferView\":0,\"byteOffset\":160}}"
#define GLTF_FLOOR                                                                                                     \
    GLTF_BUFFER ",\"bufferViews\":[{\"buffer\":0,\"byteLength\":172}],\"accessors\":["                                 \
                "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"                             \
                "{\"bufferView\":0,\"byteOffset\":48,\"componentType\":5123,\"count\":6,\"type\":\"SCALAR\"},"         \
                "{\"bufferView\":0,\"byteOffset\":60,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"           \
                "{\"bufferView\":0,\"byteOffset\":108,\"componentType\":5121,\"normalized\":true,\"count\":4,"         \
                "\"type\":\"VEC4\"},"                                                                                  \
                "{\"bufferView\":0,\"byteOffset\":124,\"componentType\":5126,\"count\":4,\"type\":\"VEC2\"},"          \
                "{\"componentType\":5126,\"count\":4,\"type\":\"VEC2\"},"                                              \
                "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"," GLTF_SPARSE "},"             \
                "{\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"," GLTF_SPARSE "}]"
#define GLTF_ASSET "{\"asset\":{\"version\":\"2.0\"},"

mote_scene *gltf_test_read(mote_context *ctx, const char *name, const char *text, mote_scene_facts *facts);

/* scene_gltf_test_files.c */
void accessors_may_be_sparse_or_zeros(void **state);
void files_without_scenes_show_their_roots(void **state);
void padding_is_passed_over(void **state);
void morph_targets_have_their_weights(void **state);
void what_is_left_out_is_told(void **state);
void values_out_of_range_are_told(void **state);
void files_of_later_versions_are_refused(void **state);

/* scene_gltf_test_images.c */
void samples_of_png_are_srgb(void **state);
void textures_shine_where_they_are_bright(void **state);
void an_image_is_decoded_once(void **state);
void texels_are_bounded(void **state);
void only_files_of_the_folder_are_read(void **state);

#endif
