/* glTF 2.0: nodes with their transforms, lights and the camera. */
#include "io/scene/gltf.h"

#include <math.h>
#include <mote_have.h>

#if MOTE_HAVE_JANSSON

/* ---- matrices: columns, as in glTF */

static void multiply(const double a[16], const double b[16], double to[16]) {
    for (int c = 0; c < 4; c++) {
        for (int r = 0; r < 4; r++) {
            to[4 * c + r] =
                a[r] * b[4 * c] + a[4 + r] * b[4 * c + 1] + a[8 + r] * b[4 * c + 2] + a[12 + r] * b[4 * c + 3];
        }
    }
}

/* Its matrix, or its translation, rotation (a quaternion) and scale. */
static bool local_matrix(const json_t *node, double m[16]) {
    double t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    if (json_object_get(node, "matrix") != NULL) return gltf_reals(node, "matrix", 16, m);
    if (!gltf_reals(node, "translation", 3, t) || !gltf_reals(node, "rotation", 4, q) ||
        !gltf_reals(node, "scale", 3, s)) {
        return false;
    }
    const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    const double two = square > 0 ? 2 / square : 0;
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double rotation[9] = {1 - two * (y * y + z * z), two * (x * y + z * w),     two * (x * z - y * w),
                                two * (x * y - z * w),     1 - two * (x * x + z * z), two * (y * z + x * w),
                                two * (x * z + y * w),     two * (y * z - x * w),     1 - two * (x * x + y * y)};
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++) m[4 * c + r] = rotation[3 * c + r] * s[c];
        m[4 * c + 3] = 0;
        m[12 + c] = t[c];
    }
    m[15] = 1;
    return true;
}

/* ---- cameras and lights: both look along their -z */

static void set_camera(scene_draft *d, const json_t *json, const double m[16]) {
    const json_t *perspective = json_object_get(json, "perspective");
    const json_t *orthographic = json_object_get(json, "orthographic");
    mote_camera c = mote_camera_defaults();
    double angle = 0.7, half = 1;
    if (!gltf_real(perspective, "yfov", &angle) || !gltf_real(orthographic, "ymag", &half)) return;
    c.projection = orthographic != NULL ? MOTE_ORTHOGRAPHIC : MOTE_PERSPECTIVE;
    c.angle_rad = fmin(fmax(angle, 1e-3), 3.14);
    c.height = half > 0 ? 2 * half : 1;
    for (int k = 0; k < 3; k++) {
        c.eye[k] = m[12 + k];
        c.target[k] = m[12 + k] - m[8 + k];
        c.up[k] = m[4 + k];
    }
    if (!(m[8] * m[8] + m[9] * m[9] + m[10] * m[10] > 0)) return; /* it looks nowhere */
    d->camera = c;
    d->has_camera = true;
}

static mote_status add_light(gltf_file *f, uint64_t i, const double m[16]) {
    const json_t *lights = json_object_get(gltf_extension(f->root, "KHR_lights_punctual"), "lights");
    const json_t *json = json_array_get(lights, (size_t)i);
    const char *type = json_string_value(json_object_get(json, "type"));
    const json_t *spot = json_object_get(json, "spot");
    double color[3] = {1, 1, 1}, intensity = 1, inner = 0, outer = 0.78539816339744831;
    if (type == NULL) return gltf_wrong(f, "lights", i, "it is not there, or has no type");
    const bool is_spot = strcmp(type, "spot") == 0;
    if (!is_spot && strcmp(type, "point") != 0) {
        mote_warn(f->draft->ctx, "%s: lights[%llu]: a light of type \"%.32s\" is left out", f->input->path,
                  (unsigned long long)i, type);
        return MOTE_OK;
    }
    if (!gltf_reals(json, "color", 3, color) || !gltf_real(json, "intensity", &intensity) ||
        !gltf_real(spot, "innerConeAngle", &inner) || !gltf_real(spot, "outerConeAngle", &outer)) {
        return gltf_wrong(f, "lights", i, "a value of it is no number");
    }
    mote_light *light = scene_draft_add_light(f->draft);
    if (light == NULL) return MOTE_ERROR_MEMORY;
    light->kind = is_spot ? MOTE_LIGHT_SPOT : MOTE_LIGHT_POINT;
    light->outer_rad = fmin(fmax(outer, 1e-6), 1.5707963267948966);
    light->inner_rad = fmin(fmax(inner, 0), light->outer_rad * (1 - 1e-6));
    for (int k = 0; k < 3; k++) {
        light->position[k] = m[12 + k];
        light->direction[k] = -m[8 + k];
        light->intensity[k] = fmin(fmax(color[k] * intensity, 0), 1e30);
    }
    return MOTE_OK;
}

/* ---- the tree */

typedef struct waiting {
    uint64_t node;
    double parent[16];
} waiting;

typedef struct walk {
    gltf_file *f;
    waiting *stack;
    uint64_t height, capacity;
    uint8_t *seen; /* [nodes] */
} walk;

/* Those of a list of nodes, the first on top. */
static mote_status push(walk *w, const json_t *list, const char *kind, uint64_t owner, const double matrix[16]) {
    mote_context *ctx = w->f->draft->ctx;
    const uint64_t nodes = json_array_size(json_object_get(w->f->root, "nodes"));
    const size_t count = json_array_size(list);
    if (list != NULL && !json_is_array(list)) return gltf_wrong(w->f, kind, owner, "its list of nodes is no array");
    if (!mote_reserve(ctx, (void **)&w->stack, &w->capacity, w->height + count, sizeof *w->stack, "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    for (size_t i = count; i > 0; i--) {
        const json_t *value = json_array_get(list, i - 1);
        const json_int_t node = json_is_integer(value) ? json_integer_value(value) : -1;
        if (node < 0 || (uint64_t)node >= nodes) {
            return gltf_wrong(w->f, kind, owner, "node %lld of %llu", (long long)node, (unsigned long long)nodes);
        }
        if (w->seen[node]) {
            return gltf_wrong(w->f, "nodes", (uint64_t)node,
                              "it is reached twice: nodes go in a circle, or share a child");
        }
        w->seen[node] = 1;
        w->stack[w->height].node = (uint64_t)node;
        memcpy(w->stack[w->height++].parent, matrix, 16 * sizeof *matrix);
    }
    return MOTE_OK;
}

static mote_status visit(walk *w, const waiting *at) {
    gltf_file *f = w->f;
    const json_t *node = gltf_element(f, "nodes", at->node);
    double local[16], matrix[16];
    uint64_t mesh, camera, light;
    if (!json_is_object(node) || !local_matrix(node, local)) {
        return gltf_wrong(f, "nodes", at->node, "its transform is no list of numbers of its length");
    }
    multiply(at->parent, local, matrix);
    if (!gltf_index(f, node, "mesh", "meshes", &mesh) || !gltf_index(f, node, "camera", "cameras", &camera) ||
        !gltf_integer(gltf_extension(node, "KHR_lights_punctual"), "light", GLTF_NONE, &light)) {
        return gltf_wrong(f, "nodes", at->node, "its mesh, camera or light is not there");
    }
    if (mesh != GLTF_NONE) MOTE_TRY(gltf_add_mesh(f, mesh, matrix));
    if (camera != GLTF_NONE && !f->draft->has_camera) {
        set_camera(f->draft, gltf_element(f, "cameras", camera), matrix);
    }
    if (light != GLTF_NONE) MOTE_TRY(add_light(f, light, matrix));
    return push(w, json_object_get(node, "children"), "nodes", at->node, matrix);
}

mote_status gltf_read_nodes(gltf_file *f) {
    static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    mote_context *ctx = f->draft->ctx;
    const uint64_t nodes = json_array_size(json_object_get(f->root, "nodes"));
    uint64_t scene, visited = 0;
    if (!gltf_index(f, f->root, "scene", "scenes", &scene)) return gltf_wrong(f, NULL, 0, "its scene is not there");
    if (scene == GLTF_NONE) scene = 0;
    const json_t *json = gltf_element(f, "scenes", scene);
    if (json == NULL) return gltf_wrong(f, NULL, 0, "it has no scene");
    walk w = {.f = f, .seen = mote_alloc_zero(ctx, nodes, "scene file")};
    mote_status status =
        w.seen != NULL ? push(&w, json_object_get(json, "nodes"), "scenes", scene, identity) : MOTE_ERROR_MEMORY;
    while (status == MOTE_OK && w.height > 0) {
        const waiting at = w.stack[--w.height];
        status = mote_progress(ctx, (double)visited++ / (double)nodes, "reading scene");
        if (status == MOTE_OK) status = visit(&w, &at);
    }
    mote_free(ctx, w.stack);
    mote_free(ctx, w.seen);
    return status;
}

#endif
