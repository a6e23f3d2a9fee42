/* glTF 2.0: the camera and the lights of nodes, which look along their -z. */
#include "io/scene/gltf.h"
#include "math/pi.h"

#include <math.h>
#include <mote_have.h>

#if MOTE_HAVE_JANSSON

/* ---- the camera */

/* The angle or the height that it sees, of the kind that it is. */
static mote_status read_lens(gltf_file *f, uint64_t i, const json_t *json, mote_camera *c) {
    const json_t *perspective = json_object_get(json, "perspective");
    const json_t *orthographic = json_object_get(json, "orthographic");
    double angle = NAN, half = NAN;
    if (!gltf_real(perspective, "yfov", &angle) || !gltf_real(orthographic, "ymag", &half)) {
        return gltf_wrong(f, "cameras", i, "its yfov or ymag is no number");
    }
    if (orthographic != NULL) {
        if (!(half > 0)) return gltf_wrong(f, "cameras", i, "its ymag is %g, needs more than 0", half);
        c->projection = MOTE_ORTHOGRAPHIC;
        c->height = 2 * half;
        return MOTE_OK;
    }
    if (perspective == NULL) return gltf_wrong(f, "cameras", i, "it is neither perspective nor orthographic");
    if (!(angle > 0 && angle < MOTE_PI)) {
        return gltf_wrong(f, "cameras", i, "its yfov is %g, needs more than 0 and less than pi", angle);
    }
    c->projection = MOTE_PERSPECTIVE;
    c->angle_rad = fmin(fmax(angle, 1e-3), 3.14);
    return MOTE_OK;
}

mote_status gltf_set_camera(gltf_file *f, uint64_t i, const double m[16]) {
    mote_camera c = mote_camera_defaults();
    if (f->draft->has_camera || !(m[8] * m[8] + m[9] * m[9] + m[10] * m[10] > 0)) { /* or it looks nowhere */
        gltf_note(f, GLTF_NOTE_CAMERA, "cameras[%llu]", (unsigned long long)i);
        return MOTE_OK;
    }
    MOTE_TRY(read_lens(f, i, gltf_element(f, "cameras", i), &c));
    for (int k = 0; k < 3; k++) {
        c.eye[k] = m[12 + k];
        c.target[k] = m[12 + k] - m[8 + k];
        c.up[k] = m[4 + k];
    }
    f->draft->camera = c;
    f->draft->has_camera = true;
    return MOTE_OK;
}

/* ---- lights */

static const struct {
    const char *name;
    mote_light_kind kind;
} light_types[] = {{"point", MOTE_LIGHT_POINT}, {"spot", MOTE_LIGHT_SPOT}, {"directional", MOTE_LIGHT_DIRECTIONAL}};
#define MOST        1e30 /* of a light: products of it stay finite */
#define LIGHT_TYPES (sizeof light_types / sizeof light_types[0])

mote_status gltf_add_light(gltf_file *f, uint64_t i, const double m[16]) {
    const json_t *lights = json_object_get(gltf_extension(f->root, "KHR_lights_punctual"), "lights");
    const json_t *json = json_array_get(lights, (size_t)i), *spot = json_object_get(json, "spot");
    const char *type = json_string_value(json_object_get(json, "type"));
    double color[3] = {1, 1, 1}, intensity = 1, inner = 0, outer = MOTE_PI / 4;
    size_t t = 0;
    if (type == NULL) return gltf_wrong(f, "lights", i, "it is not there, or has no type");
    while (t < LIGHT_TYPES && strcmp(type, light_types[t].name) != 0) t++;
    const bool aimed = t < LIGHT_TYPES && light_types[t].kind != MOTE_LIGHT_POINT;
    const bool nowhere = aimed && !(m[8] * m[8] + m[9] * m[9] + m[10] * m[10] > 0);
    if (t == LIGHT_TYPES || nowhere) {
        gltf_note(f, GLTF_NOTE_LIGHT, "lights[%llu]: \"%.32s\"", (unsigned long long)i, type);
        return MOTE_OK;
    }
    if (!gltf_reals(json, "color", 3, color) || !gltf_real(json, "intensity", &intensity) ||
        !gltf_real(spot, "innerConeAngle", &inner) || !gltf_real(spot, "outerConeAngle", &outer)) {
        return gltf_wrong(f, "lights", i, "a value of it is no number");
    }
    if (json_object_get(json, "range") != NULL) gltf_note(f, GLTF_NOTE_RANGE, "lights[%llu]", (unsigned long long)i);
    mote_light *light = scene_draft_add_light(f->draft);
    if (light == NULL) return MOTE_ERROR_MEMORY;
    light->kind = light_types[t].kind;
    outer = gltf_within(f, "lights", i, "outerConeAngle", outer, 0, MOTE_PI / 2);
    inner = gltf_within(f, "lights", i, "innerConeAngle", inner, 0, outer);
    intensity = gltf_within(f, "lights", i, "intensity", intensity, 0, MOST);
    light->outer_rad = fmax(outer, 1e-6);
    light->inner_rad = fmin(inner, light->outer_rad * (1 - 1e-6));
    for (int k = 0; k < 3; k++) {
        light->position[k] = m[12 + k];
        light->direction[k] = -m[8 + k];
        light->intensity[k] = fmin(gltf_within(f, "lights", i, "color", color[k], 0, MOST) * intensity, MOST);
    }
    return MOTE_OK;
}

#endif
