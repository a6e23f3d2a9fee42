/* glTF 2.0: the file and its chunks. */
#include "io/scene/gltf.h"
#include "io/text/text.h"

#include <mote_have.h>

#if MOTE_HAVE_JANSSON

#define GLB_HEADER_BYTES 12u
#define GLB_CHUNK_BYTES  8u
#define GLB_JSON         0x4e4f534au
#define GLB_BIN          0x004e4942u

/* ---- the file */

static uint32_t word_at(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The JSON of a .glb, and its binary chunk. */
static mote_status find_chunks(gltf_file *f, const uint8_t **json, uint64_t *json_bytes) {
    const mote_input *in = f->input;
    mote_context *ctx = f->draft->ctx;
    if (in->size_bytes < GLB_HEADER_BYTES + GLB_CHUNK_BYTES) {
        return mote_malformed(ctx, in, in->size_bytes, "the .glb ends within its header");
    }
    if (word_at(in->data + 4) != 2) {
        return mote_malformed(ctx, in, 4, "version %u of glTF; 2 is read", word_at(in->data + 4));
    }
    const uint64_t stated = word_at(in->data + 8);
    if (stated > in->size_bytes) {
        return mote_malformed(ctx, in, 8, "the .glb should have %llu bytes, and has %llu", (unsigned long long)stated,
                              (unsigned long long)in->size_bytes);
    }
    for (uint64_t at = GLB_HEADER_BYTES; at + GLB_CHUNK_BYTES <= stated;) {
        const uint64_t bytes = word_at(in->data + at);
        const uint32_t kind = word_at(in->data + at + 4);
        const uint8_t *data = in->data + at + GLB_CHUNK_BYTES;
        if (bytes > stated - at - GLB_CHUNK_BYTES) {
            return mote_malformed(ctx, in, at, "a chunk of %llu bytes ends beyond the file", (unsigned long long)bytes);
        }
        if (kind == GLB_JSON && *json == NULL) {
            *json = data;
            *json_bytes = bytes;
        } else if (kind == GLB_BIN && f->chunk == NULL) {
            f->chunk = data;
            f->chunk_bytes = bytes;
        }
        at += GLB_CHUNK_BYTES + bytes;
    }
    return *json != NULL ? MOTE_OK : mote_malformed(ctx, in, GLB_HEADER_BYTES, "the .glb has no chunk of JSON");
}

static mote_status parse(gltf_file *f) {
    const mote_input *in = f->input;
    const uint8_t *json = NULL;
    uint64_t bytes = 0;
    json_error_t error;
    if (in->size_bytes >= 4 && memcmp(in->data, "glTF", 4) == 0) {
        MOTE_TRY(find_chunks(f, &json, &bytes));
    } else {
        const uint64_t mark = mote_text_mark_bytes(in);
        json = in->data + mark;
        bytes = in->size_bytes - mark;
    }
    while (bytes > 0 && json[bytes - 1] == '\0') bytes--; /* as some programs pad it, where blanks are prescribed */
    f->root = json_loadb((const char *)json, bytes, JSON_REJECT_DUPLICATES, &error);
    if (f->root == NULL) {
        return gltf_wrong(f, NULL, 0, "line %d, column %d: no JSON: %s", error.line, error.column, error.text);
    }
    if (!json_is_object(f->root)) return gltf_wrong(f, NULL, 0, "the JSON is no object");
    const char *version = json_string_value(json_object_get(json_object_get(f->root, "asset"), "version"));
    const char *needed = json_string_value(json_object_get(json_object_get(f->root, "asset"), "minVersion"));
    if (version == NULL) return gltf_wrong(f, NULL, 0, "no asset.version: it is no glTF");
    if (needed != NULL && strcmp(needed, "2.0") != 0) {
        return gltf_wrong(f, NULL, 0, "its reader must know version %.16s of glTF; 2.0 is known", needed);
    }
    if (version[0] == '2' && version[1] == '.') return MOTE_OK;
    return gltf_wrong(f, NULL, 0, "version %.16s of glTF; 2 is read", version);
}

/* Extensions that a file may require of who reads it; those without an effect are told of. */
static const struct {
    const char *name;
    bool has_effect;
} extensions[] = {{"KHR_lights_punctual", true},       {"KHR_materials_transmission", true},
                  {"KHR_materials_ior", true},         {"KHR_materials_emissive_strength", true},
                  {"KHR_texture_transform", true},     {"KHR_mesh_quantization", true},
                  {"KHR_materials_volume", true},      {"KHR_materials_unlit", true},
                  {"KHR_materials_specular", false},   {"KHR_materials_clearcoat", false},
                  {"KHR_materials_sheen", false},      {"KHR_materials_iridescence", false},
                  {"KHR_materials_anisotropy", false}, {"KHR_materials_dispersion", false},
                  {"KHR_materials_variants", false}};
#define EXTENSIONS (sizeof extensions / sizeof extensions[0])

/* The place of a name among these; EXTENSIONS: it is none of them. */
static size_t find_extension(const char *name) {
    size_t i = 0;
    while (i < EXTENSIONS && (name == NULL || strcmp(name, extensions[i].name) != 0)) i++;
    return i;
}

static mote_status check_extensions(const gltf_file *f) {
    const json_t *required = json_object_get(f->root, "extensionsRequired");
    const json_t *used = json_object_get(f->root, "extensionsUsed");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        if (find_extension(name) < EXTENSIONS) continue;
        return mote_fail(f->draft->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: it requires the extension \"%.64s\", which mote does not read", f->input->path,
                         name != NULL ? name : "");
    }
    for (size_t i = 0; i < json_array_size(used); i++) {
        const char *name = json_string_value(json_array_get(used, i));
        const size_t known = find_extension(name);
        if (name == NULL || (known < EXTENSIONS && extensions[known].has_effect)) continue;
        gltf_note(f, GLTF_NOTE_EXTENSION, "%.64s", name);
    }
    return MOTE_OK;
}

static mote_status read_all(gltf_file *f) {
    mote_context *ctx = f->draft->ctx;
    MOTE_TRY(parse(f));
    MOTE_TRY(check_extensions(f));
    f->buffer_count = json_array_size(json_object_get(f->root, "buffers"));
    f->texture_count = json_array_size(json_object_get(f->root, "textures"));
    f->buffers = mote_alloc_zero(ctx, f->buffer_count * sizeof *f->buffers, "scene file");
    f->textures = mote_alloc_zero(ctx, f->texture_count * sizeof *f->textures, "scene file");
    if (f->buffers == NULL || f->textures == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(gltf_read_materials(f));
    MOTE_TRY(gltf_read_nodes(f));
    if (json_array_size(json_object_get(f->root, "animations")) > 0) {
        gltf_note(f, GLTF_NOTE_ANIMATION, "animations[0]");
        f->notes->counts[GLTF_NOTE_ANIMATION] = json_array_size(json_object_get(f->root, "animations"));
    }
    gltf_tell_notes(f);
    return MOTE_OK;
}

mote_status scene_read_gltf(scene_draft *d, const mote_input *input) {
    gltf_file f = {.draft = d, .input = input, .default_material = GLTF_NONE};
    f.notes = mote_alloc_zero(d->ctx, sizeof *f.notes, "scene file");
    const mote_status status = f.notes != NULL ? read_all(&f) : MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < f.buffer_count && f.buffers != NULL; i++) gltf_close_buffer(d->ctx, &f.buffers[i]);
    mote_free(d->ctx, f.buffers);
    mote_free(d->ctx, f.textures);
    mote_free(d->ctx, f.notes);
    json_decref(f.root);
    return status;
}

#else

mote_status scene_read_gltf(scene_draft *d, const mote_input *input) {
    return mote_fail(d->ctx, MOTE_ERROR_UNSUPPORTED, "%s: mote was built without jansson, which glTF needs",
                     input->path);
}

#endif
