/* glTF 2.0: materials and textures. */
#include "io/scene/gltf.h"

#include <math.h>
#include <mote_have.h>
#include <stdio.h>

#if MOTE_HAVE_JANSSON

#define MIRROR_METALLIC    0.5 /* a metal that is smoother than this is a mirror, any other is diffuse */
#define MIRROR_ROUGHNESS   0.25
#define GLASS_TRANSMISSION 0.5

/* ---- textures */

static mote_status decode(gltf_file *f, uint64_t image, mote_texture *texture, bool *known) {
    const json_t *json = gltf_element(f, "images", image);
    const json_t *uri = json_object_get(json, "uri");
    gltf_buffer buffer;
    uint64_t view, stride;
    char name[600];
    memset(&buffer, 0, sizeof buffer);
    snprintf(name, sizeof name, "%.256s: images[%llu]", f->input->path, (unsigned long long)image);
    mote_status status = MOTE_OK;
    if (json_is_string(uri)) {
        status = gltf_open_uri(f, json_string_value(uri), "images", image, &buffer);
    } else if (gltf_index(f, json, "bufferView", "bufferViews", &view) && view != GLTF_NONE) {
        status = gltf_buffer_view(f, view, &buffer.data, &buffer.size_bytes, &stride);
    } else {
        status = gltf_wrong(f, "images", image, "it has neither a uri nor a bufferView that is there");
    }
    if (status == MOTE_OK) {
        const size_t length = strlen(name);
        if (buffer.file.path != NULL) snprintf(name + length, sizeof name - length, ": %s", buffer.file.path);
        status = scene_image_decode(f->draft->ctx, name, buffer.data, buffer.size_bytes, texture, known);
    }
    gltf_close_buffer(f->draft->ctx, &buffer);
    return status;
}

/* Whether an image that cannot be read costs its texture alone: then it is noted, not failed. */
static bool forgive_image(gltf_file *f, mote_status status) {
    if (!scene_file_is_dispensable(status)) return false;
    const char *why = mote_context_message(f->draft->ctx);
    const size_t path = strlen(f->input->path);
    if (strncmp(why, f->input->path, path) == 0 && strncmp(why + path, ": ", 2) == 0) why += path + 2;
    if (f->unread_textures++ == 0) snprintf(f->first_unread, sizeof f->first_unread, "%s", why);
    mote_context_clear(f->draft->ctx);
    return true;
}

static mote_texture_wrap wrap_of(const json_t *sampler, const char *key) {
    uint64_t wrap;
    if (!gltf_integer(sampler, key, 10497, &wrap)) return MOTE_TEXTURE_REPEAT;
    return wrap == 33071 ? MOTE_TEXTURE_CLAMP : wrap == 33648 ? MOTE_TEXTURE_MIRROR : MOTE_TEXTURE_REPEAT;
}

/* *place: 1 + its place in the draft, where it is read once; 0: it is left out. */
static mote_status need_texture(gltf_file *f, uint64_t i, uint64_t *place) {
    const json_t *json = gltf_element(f, "textures", i);
    uint64_t image, sampler;
    mote_texture texture;
    bool known = false;
    *place = f->textures[i] == GLTF_NONE ? 0 : f->textures[i];
    if (f->textures[i] != 0) return MOTE_OK;
    memset(&texture, 0, sizeof texture);
    if (!gltf_index(f, json, "source", "images", &image) || !gltf_index(f, json, "sampler", "samplers", &sampler)) {
        return gltf_wrong(f, "textures", i, "its source or sampler is not there");
    }
    mote_status status = MOTE_OK;
    if (image != GLTF_NONE) {
        status = decode(f, image, &texture, &known);
        if (forgive_image(f, status)) {
            status = MOTE_OK;
            known = false;
        }
    } else {
        mote_warn(f->draft->ctx, "%s: textures[%llu]: it has no PNG or JPEG and is left out", f->input->path,
                  (unsigned long long)i);
    }
    const json_t *options = sampler != GLTF_NONE ? gltf_element(f, "samplers", sampler) : NULL;
    texture.wrap_u = wrap_of(options, "wrapS");
    texture.wrap_v = wrap_of(options, "wrapT");
    mote_texture *to = status == MOTE_OK && known ? scene_draft_add_texture(f->draft) : NULL;
    f->textures[i] = GLTF_NONE;
    if (to == NULL) {
        mote_free(f->draft->ctx, (void *)(uintptr_t)texture.srgb);
        return status == MOTE_OK && known ? MOTE_ERROR_MEMORY : status;
    }
    *to = texture;
    *place = f->textures[i] = f->draft->texture_count;
    return MOTE_OK;
}

/* Of a texture that a material names under a key: its place as of need_texture. */
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

static double clamp(double value, double low, double high) { return fmin(fmax(value, low), high); }

/* A texture of light would need lights that are not all alike: its mean is taken. */
static mote_status read_emission(gltf_file *f, const json_t *json, uint64_t i, double emission[3]) {
    double strength = 1, mean[3] = {1, 1, 1};
    uint64_t texture;
    if (!gltf_reals(json, "emissiveFactor", 3, emission) ||
        !gltf_real(gltf_extension(json, "KHR_materials_emissive_strength"), "emissiveStrength", &strength)) {
        return gltf_wrong(f, "materials", i, "its emissiveFactor or emissiveStrength is no number");
    }
    if (emission[0] + emission[1] + emission[2] > 0) {
        MOTE_TRY(named_texture(f, json, "emissiveTexture", i, &texture));
        if (texture > 0) scene_image_mean(&f->draft->textures[texture - 1], mean);
    }
    for (int k = 0; k < 3; k++) emission[k] = clamp(emission[k] * strength * mean[k], 0, 1e30);
    return MOTE_OK;
}

static mote_status read_material(gltf_file *f, const json_t *json, uint64_t i) {
    const json_t *pbr = json_object_get(json, "pbrMetallicRoughness");
    double color[4] = {1, 1, 1, 1}, metallic = 1, roughness = 1, transmission = 0, ior = 1.5, emission[3] = {0, 0, 0};
    uint64_t texture;
    if (!gltf_reals(pbr, "baseColorFactor", 4, color) || !gltf_real(pbr, "metallicFactor", &metallic) ||
        !gltf_real(pbr, "roughnessFactor", &roughness) ||
        !gltf_real(gltf_extension(json, "KHR_materials_transmission"), "transmissionFactor", &transmission) ||
        !gltf_real(gltf_extension(json, "KHR_materials_ior"), "ior", &ior)) {
        return gltf_wrong(f, "materials", i, "a factor of it is no number, or not of its length");
    }
    MOTE_TRY(read_emission(f, json, i, emission));
    MOTE_TRY(named_texture(f, pbr, "baseColorTexture", i, &texture));
    mote_material *m = scene_draft_add_material(f->draft);
    if (m == NULL) return MOTE_ERROR_MEMORY;
    const bool glass = transmission >= GLASS_TRANSMISSION;
    const bool mirror = metallic >= MIRROR_METALLIC && roughness <= MIRROR_ROUGHNESS &&
                        json_object_get(pbr, "metallicRoughnessTexture") == NULL;
    m->kind = glass ? MOTE_MATERIAL_GLASS : mirror ? MOTE_MATERIAL_MIRROR : MOTE_MATERIAL_DIFFUSE;
    for (int k = 0; k < 3; k++) m->color[k] = clamp(color[k], 0, 1);
    memcpy(m->emission, emission, sizeof m->emission);
    m->refraction = ior > 0 ? clamp(ior, 1, 10) : 1.5;
    m->texture = texture;
    return MOTE_OK;
}

mote_status gltf_read_materials(gltf_file *f) {
    const json_t *materials = json_object_get(f->root, "materials");
    for (size_t i = 0; i < json_array_size(materials); i++) {
        MOTE_TRY(read_material(f, json_array_get(materials, i), i));
    }
    if (f->unread_textures == 0) return MOTE_OK;
    mote_warn(f->draft->ctx, "%s: %llu textures cannot be read: the colour of the material is taken; the first: %s",
              f->input->path, (unsigned long long)f->unread_textures, f->first_unread);
    return MOTE_OK;
}

/* As KHR_texture_transform says: scaled, turned, moved. */
mote_status gltf_mapping_of(gltf_file *f, uint64_t material, gltf_mapping *mapping) {
    const json_t *json = material != GLTF_NONE ? gltf_element(f, "materials", material) : NULL;
    const json_t *info = json_object_get(json_object_get(json, "pbrMetallicRoughness"), "baseColorTexture");
    const json_t *moved = gltf_extension(info, "KHR_texture_transform");
    double offset[2] = {0, 0}, scale[2] = {1, 1}, angle = 0;
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

#endif
