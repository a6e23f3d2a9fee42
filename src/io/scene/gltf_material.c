/* glTF 2.0: materials and textures. */
#include "io/scene/gltf.h"
#include "photon/scene/photon_scene.h"

#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>

#if MOTE_HAVE_JANSSON

#define MIRROR_METALLIC    0.5 /* a metal that is smoother than this is a mirror, any other is diffuse */
#define MIRROR_ROUGHNESS   0.25
#define GLASS_TRANSMISSION 0.5
#define MOST_EMISSION      1e30 /* products of it stay finite */
#define MOST_CUTOFF        1e30 /* it stays finite as a float */
#define MOST_IOR           10.0 /* no known body reaches 5 */

/* ---- textures */

/* What an image is called, so that one that is named twice is decoded once: its uri, else the bufferView, which no uri
   looks like. *key for mote_free. */
static mote_status key_of(gltf_file *f, uint64_t image, char **key) {
    const json_t *json = gltf_element(f, "images", image), *uri = json_object_get(json, "uri");
    char text[32];
    uint64_t view;
    *key = NULL;
    if (!json_is_string(uri)) {
        if (!gltf_index(f, json, "bufferView", "bufferViews", &view) || view == GLTF_NONE) {
            return gltf_wrong(f, "images", image, "it has neither a uri nor a bufferView that is there");
        }
        snprintf(text, sizeof text, "\n%llu", (unsigned long long)view);
    }
    *key = mote_strdup(f->draft->ctx, json_is_string(uri) ? json_string_value(uri) : text);
    return *key != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* Opens the bytes of an image of a key. */
static mote_status open_image(gltf_file *f, uint64_t image, const char *key, gltf_buffer *buffer) {
    uint64_t stride;
    if (key[0] != '\n') return gltf_open_uri(f, key, "images", image, buffer);
    return gltf_buffer_view(f, strtoull(key + 1, NULL, 10), &buffer->data, &buffer->size_bytes, &stride);
}

/* Whether an image that cannot be read costs its textures alone: then it is noted, not failed. */
static bool forgive_image(gltf_file *f, mote_status status) {
    if (!scene_file_is_dispensable(status)) return false;
    const char *why = mote_context_message(f->draft->ctx);
    const size_t path = strlen(f->input->path);
    if (strncmp(why, f->input->path, path) == 0 && strncmp(why + path, ": ", 2) == 0) why += path + 2;
    gltf_note(f, GLTF_NOTE_TEXTURE, "%s", why);
    mote_context_clear(f->draft->ctx);
    return true;
}

/* Decodes an image that was not met before. */
static mote_status add_image(gltf_file *f, uint64_t image, const char *key, uint32_t *place) {
    gltf_buffer buffer;
    char title[600];
    memset(&buffer, 0, sizeof buffer);
    const mote_status opened = open_image(f, image, key, &buffer);
    mote_status status = opened;
    if (opened == MOTE_OK || forgive_image(f, opened)) {
        snprintf(title, sizeof title, "%.256s: images[%llu]%s%.256s", f->input->path, (unsigned long long)image,
                 buffer.file.path != NULL ? ": " : "", buffer.file.path != NULL ? buffer.file.path : "");
        status = scene_image_add(f->draft, key, strlen(key), title, opened == MOTE_OK ? buffer.data : NULL,
                                 buffer.size_bytes, place);
    }
    gltf_close_buffer(f->draft->ctx, &buffer);
    return status == MOTE_OK || forgive_image(f, status) ? MOTE_OK : status;
}

/* *place: of the draft's images; SCENE_NO_NAME: it cannot be read, which is noted. */
static mote_status need_image(gltf_file *f, uint64_t image, uint32_t *place) {
    char *key = NULL;
    *place = SCENE_NO_NAME;
    mote_status status = key_of(f, image, &key);
    if (status != MOTE_OK) return forgive_image(f, status) ? MOTE_OK : status;
    *place = scene_image_find(f->draft, key, strlen(key));
    const bool known = *place != SCENE_NO_NAME;
    if (!known) status = add_image(f, image, key, place);
    mote_free(f->draft->ctx, key);
    if (status != MOTE_OK || *place == SCENE_NO_NAME) return status;
    if (f->draft->images[*place].srgb != NULL) return MOTE_OK;
    if (known) gltf_note(f, GLTF_NOTE_TEXTURE, "images[%llu]", (unsigned long long)image);
    *place = SCENE_NO_NAME;
    return MOTE_OK;
}

static mote_texture_wrap wrap_of(const json_t *sampler, const char *key) {
    uint64_t wrap;
    if (!gltf_integer(sampler, key, 10497, &wrap)) return MOTE_TEXTURE_REPEAT;
    return wrap == 33071 ? MOTE_TEXTURE_CLAMP : wrap == 33648 ? MOTE_TEXTURE_MIRROR : MOTE_TEXTURE_REPEAT;
}

/* *place: 1 + its place in the draft, where it is read once; 0: it is left out. */
static mote_status need_texture(gltf_file *f, uint64_t i, uint64_t *place) {
    const json_t *json = gltf_element(f, "textures", i);
    uint64_t source, sampler;
    uint32_t image = SCENE_NO_NAME;
    *place = f->textures[i] == GLTF_NONE ? 0 : f->textures[i];
    if (f->textures[i] != 0) return MOTE_OK;
    if (!gltf_index(f, json, "source", "images", &source) || !gltf_index(f, json, "sampler", "samplers", &sampler)) {
        return gltf_wrong(f, "textures", i, "its source or sampler is not there");
    }
    f->textures[i] = GLTF_NONE;
    if (source != GLTF_NONE) {
        MOTE_TRY(need_image(f, source, &image));
    } else {
        gltf_note(f, GLTF_NOTE_TEXTURE, "textures[%llu]: it has no PNG or JPEG", (unsigned long long)i);
    }
    if (image == SCENE_NO_NAME) return MOTE_OK;
    const json_t *options = sampler != GLTF_NONE ? gltf_element(f, "samplers", sampler) : NULL;
    MOTE_TRY(scene_draft_need_texture(f->draft, image, wrap_of(options, "wrapS"), wrap_of(options, "wrapT"), place));
    f->textures[i] = *place;
    return MOTE_OK;
}

/* Finds the texture that a material names under a key; its place is that of need_texture. */
static mote_status named_texture(gltf_file *f, const json_t *object, const char *key, uint64_t material,
                                 uint64_t *place) {
    const json_t *info = json_object_get(object, key);
    uint64_t texture;
    *place = 0;
    if (info == NULL) return MOTE_OK;
    if (!gltf_index(f, info, "index", "textures", &texture) || texture == GLTF_NONE) {
        return gltf_wrong(f, "materials", material, "the texture of its %s is not there", key);
    }
    return need_texture(f, texture, place);
}

/* ---- materials */

/* How a texture lies that a material names; GLTF_NONE as the set: there is none. As KHR_texture_transform says: scaled,
   turned, moved. */
static mote_status read_mapping(gltf_file *f, const json_t *info, uint64_t material, gltf_mapping *mapping) {
    const json_t *moved = gltf_extension(info, "KHR_texture_transform");
    double offset[2] = {0, 0}, scale[2] = {1, 1}, angle = 0;
    memset(mapping, 0, sizeof *mapping);
    mapping->set = GLTF_NONE;
    if (info == NULL) return MOTE_OK;
    if (!gltf_integer(info, "texCoord", 0, &mapping->set) ||
        !gltf_integer(moved, "texCoord", mapping->set, &mapping->set) || !gltf_reals(moved, "offset", 2, offset) ||
        !gltf_reals(moved, "scale", 2, scale) || !gltf_real(moved, "rotation", &angle)) {
        return gltf_wrong(f, "materials", material, "how its texture lies is no number");
    }
    const double u[3] = {cos(angle) * scale[0], sin(angle) * scale[1], offset[0]};
    const double v[3] = {-sin(angle) * scale[0], cos(angle) * scale[1], offset[1]};
    memcpy(mapping->u, u, sizeof u);
    memcpy(mapping->v, v, sizeof v);
    return MOTE_OK;
}

static const json_t *color_info(const json_t *material) {
    return json_object_get(json_object_get(material, "pbrMetallicRoughness"), "baseColorTexture");
}

/* A mesh has one set of coordinates: that of the colour, else that of the emission. */
mote_status gltf_mapping_of(gltf_file *f, uint64_t material, gltf_mapping *mapping) {
    const json_t *json = material != GLTF_NONE ? gltf_element(f, "materials", material) : NULL;
    const json_t *info = color_info(json);
    return read_mapping(f, info != NULL ? info : json_object_get(json, "emissiveTexture"), material, mapping);
}

static bool same_mapping(const gltf_mapping *a, const gltf_mapping *b) {
    bool same = a->set == b->set;
    for (int k = 0; k < 3; k++) same = same && a->u[k] == b->u[k] && a->v[k] == b->v[k];
    return same;
}

/* The mean of a texture's colours, linear. */
static void mean_of(const mote_texture *texture, double mean[3]) {
    const uint64_t count = (uint64_t)texture->width * texture->height;
    double linear[256], sum[3] = {0, 0, 0};
    for (int i = 0; i < 256; i++) linear[i] = (double)photon_linear_of((uint8_t)i);
    for (uint64_t i = 0; i < 3 * count; i++) sum[i % 3] += linear[texture->srgb[i]];
    for (int k = 0; k < 3; k++) mean[k] = sum[k] / (double)count;
}

/* One that cannot be read gives no light: its factor is that of what little of it shines. */
static mote_status read_emission_texture(gltf_file *f, const json_t *json, uint64_t i, mote_material *m) {
    gltf_mapping own, used;
    uint64_t texture;
    double mean[3] = {1, 1, 1};
    const json_t *const info = json_object_get(json, "emissiveTexture");
    if (info == NULL || !(m->emission[0] + m->emission[1] + m->emission[2] > 0)) return MOTE_OK;
    MOTE_TRY(named_texture(f, json, "emissiveTexture", i, &texture));
    MOTE_TRY(read_mapping(f, info, i, &own));
    MOTE_TRY(gltf_mapping_of(f, i, &used));
    if (texture == 0) {
        memset(m->emission, 0, sizeof m->emission);
    } else if (same_mapping(&own, &used)) {
        m->emission_texture = (uint32_t)texture;
    } else {
        gltf_note(f, GLTF_NOTE_EMISSION, "materials[%llu]", (unsigned long long)i);
        mean_of(&f->draft->textures[texture - 1], mean);
    }
    for (int k = 0; k < 3; k++) m->emission[k] *= mean[k];
    return MOTE_OK;
}

static mote_status read_emission(gltf_file *f, const json_t *json, uint64_t i, mote_material *m) {
    double strength = 1, emission[3] = {0, 0, 0};
    if (!gltf_reals(json, "emissiveFactor", 3, emission) ||
        !gltf_real(gltf_extension(json, "KHR_materials_emissive_strength"), "emissiveStrength", &strength)) {
        return gltf_wrong(f, "materials", i, "its emissiveFactor or emissiveStrength is no number");
    }
    strength = gltf_within(f, "materials", i, "emissiveStrength", strength, 0, MOST_EMISSION);
    for (int k = 0; k < 3; k++) {
        const double factor = gltf_within(f, "materials", i, "emissiveFactor", emission[k], 0, MOST_EMISSION);
        m->emission[k] = fmin(factor * strength, MOST_EMISSION);
    }
    m->shines_on_both = json_is_true(json_object_get(json, "doubleSided"));
    return read_emission_texture(f, json, i, m);
}

/* Alpha is of the colour's texture and factor, and of the corners. */
static mote_status read_alpha(gltf_file *f, const json_t *json, uint64_t i, double opacity, mote_material *m) {
    const char *mode = json_string_value(json_object_get(json, "alphaMode"));
    double cutoff = 0.5;
    if (mode == NULL || strcmp(mode, "OPAQUE") == 0) return MOTE_OK;
    if (!gltf_real(json, "alphaCutoff", &cutoff)) {
        return gltf_wrong(f, "materials", i, "its alphaCutoff is no number");
    }
    if (strcmp(mode, "MASK") != 0 && strcmp(mode, "BLEND") != 0) {
        return gltf_wrong(f, "materials", i, "its alphaMode is none of OPAQUE, MASK, BLEND");
    }
    m->alpha = mode[0] == 'M' ? MOTE_ALPHA_MASK : MOTE_ALPHA_BLEND;
    m->opacity = (float)opacity;
    m->alpha_cutoff = (float)gltf_within(f, "materials", i, "alphaCutoff", cutoff, 0, MOST_CUTOFF);
    return MOTE_OK;
}

/* A sheet lets light through as it came; a body, which has a thickness, bends it. */
static mote_status read_glass(gltf_file *f, const json_t *json, uint64_t i, double transmission, mote_material *m) {
    const json_t *volume = gltf_extension(json, "KHR_materials_volume");
    double ior = 1.5, thickness = 0;
    if (!gltf_real(gltf_extension(json, "KHR_materials_ior"), "ior", &ior) ||
        !gltf_real(volume, "thicknessFactor", &thickness)) {
        return gltf_wrong(f, "materials", i, "its ior or thicknessFactor is no number");
    }
    /* An ior of 0 stands for one without end, which reflects all. */
    m->refraction = gltf_within(f, "materials", i, "ior", ior == 0 ? INFINITY : ior, 1, MOST_IOR);
    m->thin = !(thickness > 0);
    if (transmission >= GLASS_TRANSMISSION) {
        m->kind = MOTE_MATERIAL_GLASS;
        if (!m->thin && json_object_get(volume, "attenuationDistance") != NULL) {
            gltf_note(f, GLTF_NOTE_ATTENUATION, "materials[%llu]", (unsigned long long)i);
        }
    } else if (transmission > 0) {
        gltf_note(f, GLTF_NOTE_TRANSMISSION, "materials[%llu]: %g", (unsigned long long)i, transmission);
    }
    return MOTE_OK;
}

/* Textures of a material that change nothing. */
static void note_maps(const gltf_file *f, const json_t *json, uint64_t i) {
    static const char *const names[] = {"normalTexture", "occlusionTexture"};
    const json_t *pbr = json_object_get(json, "pbrMetallicRoughness");
    const json_t *transmission = gltf_extension(json, "KHR_materials_transmission");
    for (int k = 0; k < 2; k++) {
        if (json_object_get(json, names[k]) == NULL) continue;
        gltf_note(f, GLTF_NOTE_MAP, "materials[%llu]: %s", (unsigned long long)i, names[k]);
    }
    if (json_object_get(pbr, "metallicRoughnessTexture") != NULL) {
        gltf_note(f, GLTF_NOTE_MAP, "materials[%llu]: metallicRoughnessTexture", (unsigned long long)i);
    }
    if (json_object_get(transmission, "transmissionTexture") != NULL) {
        gltf_note(f, GLTF_NOTE_MAP, "materials[%llu]: transmissionTexture", (unsigned long long)i);
    }
}

static mote_status read_material(gltf_file *f, const json_t *json, uint64_t i) {
    const json_t *pbr = json_object_get(json, "pbrMetallicRoughness");
    double color[4] = {1, 1, 1, 1}, metallic = 1, roughness = 1, transmission = 0;
    mote_material *const m = scene_draft_add_material(f->draft);
    if (m == NULL) return MOTE_ERROR_MEMORY;
    if (!gltf_reals(pbr, "baseColorFactor", 4, color) || !gltf_real(pbr, "metallicFactor", &metallic) ||
        !gltf_real(pbr, "roughnessFactor", &roughness) ||
        !gltf_real(gltf_extension(json, "KHR_materials_transmission"), "transmissionFactor", &transmission)) {
        return gltf_wrong(f, "materials", i, "a factor of it is no number, or not of its length");
    }
    for (int k = 0; k < 4; k++) color[k] = gltf_within(f, "materials", i, "baseColorFactor", color[k], 0, 1);
    metallic = gltf_within(f, "materials", i, "metallicFactor", metallic, 0, 1);
    roughness = gltf_within(f, "materials", i, "roughnessFactor", roughness, 0, 1);
    transmission = gltf_within(f, "materials", i, "transmissionFactor", transmission, 0, 1);
    for (int k = 0; k < 3; k++) m->color[k] = color[k];
    MOTE_TRY(named_texture(f, pbr, "baseColorTexture", i, &m->texture));
    MOTE_TRY(read_alpha(f, json, i, color[3], m));
    if (gltf_extension(json, "KHR_materials_unlit") != NULL) { /* which leaves all that follows out */
        m->kind = MOTE_MATERIAL_UNLIT;
        return MOTE_OK;
    }
    const bool textured = json_object_get(pbr, "metallicRoughnessTexture") != NULL;
    const bool metal = metallic >= MIRROR_METALLIC;
    if (metal && roughness <= MIRROR_ROUGHNESS && !textured) m->kind = MOTE_MATERIAL_MIRROR;
    if (metal && !textured && m->kind != MOTE_MATERIAL_MIRROR) {
        gltf_note(f, GLTF_NOTE_ROUGH, "materials[%llu]", (unsigned long long)i);
    }
    note_maps(f, json, i);
    MOTE_TRY(read_glass(f, json, i, transmission, m));
    return read_emission(f, json, i, m);
}

mote_status gltf_read_materials(gltf_file *f) {
    const json_t *materials = json_object_get(f->root, "materials");
    for (size_t i = 0; i < json_array_size(materials); i++) {
        MOTE_TRY(read_material(f, json_array_get(materials, i), i));
    }
    return MOTE_OK;
}

#endif
