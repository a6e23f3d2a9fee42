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

/* What of a file has no effect, or another one than the file says. */
typedef enum gltf_note_kind {
    GLTF_NOTE_TEXTURE,
    GLTF_NOTE_ELEMENT,
    GLTF_NOTE_NORMALS,
    GLTF_NOTE_COORDINATES,
    GLTF_NOTE_SKIN,
    GLTF_NOTE_MORPH,
    GLTF_NOTE_ANIMATION,
    GLTF_NOTE_MAP,
    GLTF_NOTE_ROUGH,
    GLTF_NOTE_TRANSMISSION,
    GLTF_NOTE_ATTENUATION,
    GLTF_NOTE_EMISSION,
    GLTF_NOTE_LIGHT,
    GLTF_NOTE_RANGE,
    GLTF_NOTE_CAMERA,
    GLTF_NOTE_VALUE,
    GLTF_NOTE_EXTENSION,
    GLTF_NOTE_KINDS
} gltf_note_kind;

/* What is left out: of each kind how many there are, and which is the first, for one line in the log. */
typedef struct gltf_notes {
    uint64_t counts[GLTF_NOTE_KINDS];
    char first[GLTF_NOTE_KINDS][600];
} gltf_notes;

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
    uint64_t default_material; /* GLTF_NONE: not made yet */
    gltf_notes *notes;
} gltf_file;

/* Numbers of a file: count elements of some components each. */
typedef struct gltf_accessor {
    const uint8_t *data;
    uint8_t *owned; /* what data is, where the file does not have it as it is; for mote_free */
    uint64_t count, stride_bytes;
    uint32_t type; /* glTF's number of the component type */
    uint32_t components;
    bool normalized;
} gltf_accessor;

/* How a texture lies on a mesh. */
typedef struct gltf_mapping {
    uint64_t set;      /* of TEXCOORD_n; GLTF_NONE: there is no texture */
    double u[3], v[3]; /* u = u[0] s + u[1] t + u[2] */
} gltf_mapping;

/* Notes MOTE_ERROR_DATA as "PATH: KIND[i]: why"; kind NULL: "PATH: why". */
__attribute__((format(printf, 4, 5))) mote_status gltf_wrong(const gltf_file *f, const char *kind, uint64_t i,
                                                             const char *format, ...);
/* Counts what has no effect; what is kept of the first of its kind. */
__attribute__((format(printf, 3, 4))) void gltf_note(const gltf_file *f, gltf_note_kind kind, const char *format, ...);
/* The value, or the nearest to it from low to high, which is noted: of KIND[i], by the name that glTF gives it. */
double gltf_within(const gltf_file *f, const char *kind, uint64_t i, const char *name, double value, double low,
                   double high);
/* Warns of each kind once. */
void gltf_tell_notes(const gltf_file *f);
/* A whole number from 0 on, also when written as 1e3; fallback where there is none; false where it is something else.
 */
bool gltf_integer(const json_t *object, const char *key, uint64_t fallback, uint64_t *out);
/* count finite numbers of an array of that length; out is left alone where there is none. False: something else. */
bool gltf_reals(const json_t *object, const char *key, uint32_t count, double *out);
/* Reads a number, if there is one; false where it is something else. */
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
/* The numbers of an accessor stay as long as the file's buffers, and until gltf_close_accessor. */
mote_status gltf_open_accessor(gltf_file *f, uint64_t i, gltf_accessor *accessor);
void gltf_close_accessor(const gltf_file *f, gltf_accessor *accessor);
double gltf_value(const gltf_accessor *accessor, uint64_t i, uint32_t component);
/* An index of a triangle's corner, from an accessor of whole numbers. */
uint64_t gltf_whole(const gltf_accessor *accessor, uint64_t i);

/* Makes all materials of the file, in its order. */
mote_status gltf_read_materials(gltf_file *f);
/* Where the textures of a material lie on a mesh. GLTF_NONE: the material that glTF prescribes where a mesh names
   none. */
mote_status gltf_mapping_of(gltf_file *f, uint64_t material, gltf_mapping *mapping);
/* All meshes, lights and the camera of the nodes of the scene. */
mote_status gltf_read_nodes(gltf_file *f);
/* The triangles of the mesh of a node, moved by a matrix (columns, as in glTF). */
mote_status gltf_add_mesh(gltf_file *f, uint64_t mesh, const json_t *node, const double matrix[16]);
/* Looks along the -z of a matrix, if the file has shown no camera before. */
mote_status gltf_set_camera(gltf_file *f, uint64_t i, const double m[16]);
mote_status gltf_add_light(gltf_file *f, uint64_t i, const double m[16]);

#endif
#endif
