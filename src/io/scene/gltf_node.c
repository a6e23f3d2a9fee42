/* glTF 2.0: nodes with their transforms. */
#include "io/scene/gltf.h"

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

/* A node states its matrix, or its translation, rotation (a quaternion) and scale. */
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

/* Pushes a list of nodes, so that the first is on top. */
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
    if (mesh != GLTF_NONE && json_object_get(node, "skin") != NULL) {
        gltf_note(f, GLTF_NOTE_SKIN, "nodes[%llu]", (unsigned long long)at->node);
    }
    if (mesh != GLTF_NONE) MOTE_TRY(gltf_add_mesh(f, mesh, node, matrix));
    if (camera != GLTF_NONE) MOTE_TRY(gltf_set_camera(f, camera, matrix));
    if (light != GLTF_NONE) MOTE_TRY(gltf_add_light(f, light, matrix));
    return push(w, json_object_get(node, "children"), "nodes", at->node, matrix);
}

/* A file without scenes shows all nodes that are nobody's child. What is wrong with children is said on the way. */
static mote_status push_roots(walk *w, const double matrix[16]) {
    const json_t *nodes = json_object_get(w->f->root, "nodes");
    const size_t count = json_array_size(nodes);
    uint8_t *const is_child = mote_alloc_zero(w->f->draft->ctx, count, "scene file");
    json_t *const roots = json_array();
    mote_status status = is_child != NULL && roots != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (size_t i = 0; i < count && status == MOTE_OK; i++) {
        const json_t *children = json_object_get(json_array_get(nodes, i), "children");
        for (size_t k = 0; k < json_array_size(children); k++) {
            const json_int_t child = json_integer_value(json_array_get(children, k));
            if (child >= 0 && (uint64_t)child < count) is_child[child] = 1;
        }
    }
    for (size_t i = 0; i < count && status == MOTE_OK; i++) {
        if (!is_child[i] && json_array_append_new(roots, json_integer((json_int_t)i)) != 0) status = MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) status = push(w, roots, "scenes", 0, matrix);
    json_decref(roots);
    mote_free(w->f->draft->ctx, is_child);
    return status;
}

static mote_status push_scene(walk *w) {
    static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    gltf_file *const f = w->f;
    uint64_t scene;
    if (!gltf_index(f, f->root, "scene", "scenes", &scene)) return gltf_wrong(f, NULL, 0, "its scene is not there");
    if (json_array_size(json_object_get(f->root, "scenes")) == 0) return push_roots(w, identity);
    if (scene == GLTF_NONE) scene = 0;
    return push(w, json_object_get(gltf_element(f, "scenes", scene), "nodes"), "scenes", scene, identity);
}

mote_status gltf_read_nodes(gltf_file *f) {
    mote_context *ctx = f->draft->ctx;
    const uint64_t nodes = json_array_size(json_object_get(f->root, "nodes"));
    uint64_t visited = 0;
    walk w = {.f = f, .seen = mote_alloc_zero(ctx, nodes, "scene file")};
    mote_status status = w.seen != NULL ? push_scene(&w) : MOTE_ERROR_MEMORY;
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
