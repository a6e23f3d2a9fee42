/* glTF 2.0: what the reader's parts share. */
#ifndef MOTE_GLTF_H
#define MOTE_GLTF_H

#include "io/scene/scene_draft.h"

#include <mote_have.h>

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define GLTF_NONE UINT64_MAX

/* A buffer's bytes: of a file beside the scene, of a data: address, or of the .glb itself. */
typedef struct gltf_buffer {
    const uint8_t *data; /* NULL: not opened yet */
    uint64_t size_bytes;
    scene_file file;
    uint8_t *decoded;
} gltf_buffer;

typedef struct gltf_file {
    scene_draft *draft;
    const mote_input *input;
    json_t *root;
    const uint8_t *chunk; /* of a .glb; NULL: there is none */
    uint64_t chunk_bytes;
    gltf_buffer *buffers;
    uint64_t buffer_count;
    uint64_t *textures; /* [of the file's textures] 1 + place in the draft; 0: not read yet, GLTF_NONE: left out */
    uint64_t texture_count;
    uint64_t unread_textures;  /* how many could not be read */
    char first_unread[600];    /* and why the first could not */
    uint64_t default_material; /* GLTF_NONE: not made yet */
} gltf_file;

/* Numbers of a file: count elements of some components each. */
typedef struct gltf_accessor {
    const uint8_t *data;
    uint64_t count, stride_bytes;
    uint32_t type; /* glTF's number of the component type */
    uint32_t components;
    bool normalized;
} gltf_accessor;

/* How the base colour's texture lies on a mesh. */
typedef struct gltf_mapping {
    uint64_t set;      /* of TEXCOORD_n; GLTF_NONE: there is no texture */
    double u[3], v[3]; /* u = u[0] s + u[1] t + u[2] */
} gltf_mapping;

/* Notes MOTE_ERROR_DATA as "PATH: KIND[i]: why"; kind NULL: "PATH: why". */
__attribute__((format(printf, 4, 5))) mote_status gltf_wrong(const gltf_file *f, const char *kind, uint64_t i,
                                                             const char *format, ...);
/* A whole number from 0 on, also when written as 1e3; fallback where there is none; false where it is something else.
 */
bool gltf_integer(const json_t *object, const char *key, uint64_t fallback, uint64_t *out);
/* count finite numbers of an array of that length; out is left alone where there is none. False: something else. */
bool gltf_reals(const json_t *object, const char *key, uint32_t count, double *out);
/* One number. */
bool gltf_real(const json_t *object, const char *key, double *out);
/* Element i of an array of the file; NULL: there is none. */
const json_t *gltf_element(const gltf_file *f, const char *array, uint64_t i);
/* The extension of an object; NULL: it has none. */
const json_t *gltf_extension(const json_t *object, const char *name);
/* The place that an object names in an array of the file. False: what it names is not there. GLTF_NONE: it names none.
 */
bool gltf_index(const gltf_file *f, const json_t *object, const char *key, const char *array, uint64_t *out);

/* Bytes of a data: address, decoded, for mote_free; or of a file. */
mote_status gltf_open_uri(gltf_file *f, const char *uri, const char *kind, uint64_t i, gltf_buffer *to);
void gltf_close_buffer(mote_context *ctx, gltf_buffer *buffer);
/* Bytes of a bufferView. */
mote_status gltf_buffer_view(gltf_file *f, uint64_t i, const uint8_t **data, uint64_t *size_bytes,
                             uint64_t *stride_bytes);
mote_status gltf_open_accessor(gltf_file *f, uint64_t i, gltf_accessor *accessor);
double gltf_value(const gltf_accessor *accessor, uint64_t i, uint32_t component);
/* An index of a triangle's corner, from an accessor of whole numbers. */
uint64_t gltf_whole(const gltf_accessor *accessor, uint64_t i);

/* Makes all materials of the file, in its order. */
mote_status gltf_read_materials(gltf_file *f);
/* Of a material: GLTF_NONE is the one that glTF prescribes where a mesh names none. */
mote_status gltf_mapping_of(gltf_file *f, uint64_t material, gltf_mapping *mapping);
/* All meshes, lights and the camera of the nodes of the scene. */
mote_status gltf_read_nodes(gltf_file *f);
/* The triangles of a mesh, moved by a matrix (columns, as in glTF). */
mote_status gltf_add_mesh(gltf_file *f, uint64_t mesh, const double matrix[16]);

#endif
#endif
