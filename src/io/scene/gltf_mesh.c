/* glTF 2.0: the triangles of meshes. */
#include "io/scene/gltf.h"

#include <math.h>
#include <mote_have.h>
#include <stdio.h>

#if MOTE_HAVE_JANSSON

enum { MODE_TRIANGLES = 4, MODE_STRIP, MODE_FAN };

/* A primitive while its triangles are made. */
typedef struct primitive {
    gltf_file *f;
    uint64_t mesh, number; /* for messages */
    const json_t *weights; /* of morph targets; NULL: all 0 */
    gltf_accessor positions, coordinates, colors, indices;
    bool has_coordinates, has_colors, has_indices;
    double *moved; /* [3 · positions] with morph targets; NULL: they have none that counts */
    gltf_mapping mapping;
    uint64_t mode, corner_count;
    uint32_t material;
    bool flipped; /* its matrix mirrors: corners run the other way */
} primitive;

__attribute__((format(printf, 2, 3))) static mote_status wrong(const primitive *p, const char *format, ...) {
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return gltf_wrong(p->f, "meshes", p->mesh, "primitives[%llu]: %s", (unsigned long long)p->number, why);
}

static mote_status open_coordinates(primitive *p, const json_t *attributes) {
    char name[32];
    uint64_t accessor;
    if (p->mapping.set == GLTF_NONE) return MOTE_OK;
    snprintf(name, sizeof name, "TEXCOORD_%llu", (unsigned long long)p->mapping.set);
    if (!gltf_index(p->f, attributes, name, "accessors", &accessor)) return wrong(p, "its %s is not there", name);
    if (accessor == GLTF_NONE) { /* the texture's corner everywhere */
        gltf_note(p->f, GLTF_NOTE_COORDINATES, "meshes[%llu]: primitives[%llu]: %s", (unsigned long long)p->mesh,
                  (unsigned long long)p->number, name);
        return MOTE_OK;
    }
    MOTE_TRY(gltf_open_accessor(p->f, accessor, &p->coordinates));
    if (p->coordinates.components != 2 || p->coordinates.count < p->positions.count) {
        return wrong(p, "its %s are not two numbers for each position", name);
    }
    p->has_coordinates = true;
    return MOTE_OK;
}

/* Colours by which that of the material is multiplied; three or four numbers. */
static mote_status open_colors(primitive *p, const json_t *attributes) {
    uint64_t accessor;
    if (!gltf_index(p->f, attributes, "COLOR_0", "accessors", &accessor)) return wrong(p, "its COLOR_0 is not there");
    if (accessor == GLTF_NONE) return MOTE_OK;
    MOTE_TRY(gltf_open_accessor(p->f, accessor, &p->colors));
    if (p->colors.components < 3 || p->colors.count < p->positions.count) {
        return wrong(p, "its COLOR_0 are not three or four numbers for each position");
    }
    p->has_colors = true;
    return MOTE_OK;
}

/* Moves the positions by a morph target, as far as its weight says. */
static mote_status add_target(primitive *p, const json_t *target, double weight) {
    uint64_t accessor;
    gltf_accessor moves;
    if (!gltf_index(p->f, target, "POSITION", "accessors", &accessor)) return wrong(p, "a morph target is not there");
    if (accessor == GLTF_NONE || weight == 0) return MOTE_OK;
    MOTE_TRY(gltf_open_accessor(p->f, accessor, &moves));
    const bool fits = moves.components == 3 && moves.count >= p->positions.count;
    for (uint64_t i = 0; i < 3 * p->positions.count && fits; i++) {
        p->moved[i] += weight * gltf_value(&moves, i / 3, (uint32_t)(i % 3));
    }
    gltf_close_accessor(p->f, &moves);
    return fits ? MOTE_OK : wrong(p, "a morph target is not three numbers for each position");
}

static mote_status open_targets(primitive *p, const json_t *json) {
    const json_t *targets = json_object_get(json, "targets");
    if (json_array_size(targets) == 0) return MOTE_OK;
    gltf_note(p->f, GLTF_NOTE_MORPH, "meshes[%llu]", (unsigned long long)p->mesh);
    if (json_array_size(p->weights) == 0) return MOTE_OK;
    p->moved = mote_alloc(p->f->draft->ctx, 3 * p->positions.count * sizeof *p->moved, "scene file");
    if (p->moved == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < 3 * p->positions.count; i++) {
        p->moved[i] = gltf_value(&p->positions, i / 3, (uint32_t)(i % 3));
    }
    for (size_t i = 0; i < json_array_size(targets); i++) {
        const json_t *weight = json_array_get(p->weights, i);
        MOTE_TRY(add_target(p, json_array_get(targets, i), json_is_number(weight) ? json_number_value(weight) : 0));
    }
    return MOTE_OK;
}

/* The material that glTF prescribes where none is named: white and diffuse. */
static mote_status need_default(gltf_file *f, uint32_t *material) {
    if (f->default_material == GLTF_NONE) {
        mote_material *m = scene_draft_add_material(f->draft);
        if (m == NULL) return MOTE_ERROR_MEMORY;
        m->color[0] = m->color[1] = m->color[2] = 1;
        f->default_material = f->draft->material_count - 1;
    }
    *material = (uint32_t)f->default_material;
    return MOTE_OK;
}

static mote_status open_primitive(primitive *p, const json_t *json) {
    const json_t *attributes = json_object_get(json, "attributes");
    uint64_t positions, indices, material;
    if (!gltf_index(p->f, attributes, "POSITION", "accessors", &positions) || positions == GLTF_NONE) {
        return wrong(p, "its POSITION is not there");
    }
    if (!gltf_index(p->f, json, "indices", "accessors", &indices) ||
        !gltf_index(p->f, json, "material", "materials", &material)) {
        return wrong(p, "its indices or its material are not there");
    }
    MOTE_TRY(gltf_open_accessor(p->f, positions, &p->positions));
    if (p->positions.components != 3) return wrong(p, "its POSITION has no three numbers");
    p->corner_count = p->positions.count;
    p->has_indices = indices != GLTF_NONE;
    if (p->has_indices) {
        MOTE_TRY(gltf_open_accessor(p->f, indices, &p->indices));
        if (p->indices.components != 1 || p->indices.type == 5126) return wrong(p, "its indices are no whole numbers");
        p->indices.normalized = false;
        p->corner_count = p->indices.count;
    }
    p->material = (uint32_t)material;
    if (material == GLTF_NONE) MOTE_TRY(need_default(p->f, &p->material));
    if (json_object_get(attributes, "NORMAL") != NULL) {
        gltf_note(p->f, GLTF_NOTE_NORMALS, "meshes[%llu]: primitives[%llu]", (unsigned long long)p->mesh,
                  (unsigned long long)p->number);
    }
    MOTE_TRY(gltf_mapping_of(p->f, material, &p->mapping));
    MOTE_TRY(open_coordinates(p, attributes));
    MOTE_TRY(open_colors(p, attributes));
    return open_targets(p, json);
}

static mote_status add_positions(primitive *p, const double m[16]) {
    for (uint64_t i = 0; i < p->positions.count; i++) {
        double from[3], at[3], rgba[4] = {1, 1, 1, 1};
        for (uint32_t k = 0; k < 3; k++) {
            from[k] = p->moved != NULL ? p->moved[3 * i + k] : gltf_value(&p->positions, i, k);
        }
        const double x = from[0], y = from[1], z = from[2];
        for (int k = 0; k < 3; k++) at[k] = ((m[k] * x + m[4 + k] * y) + m[8 + k] * z) + m[12 + k];
        if (!(fabs(at[0]) <= 1e100 && fabs(at[1]) <= 1e100 && fabs(at[2]) <= 1e100)) {
            return wrong(p, "position %llu is not finite", (unsigned long long)i);
        }
        scene_draft_add_position(p->f->draft, at[0], at[1], at[2]);
        if (!p->has_colors) continue;
        for (uint32_t k = 0; k < p->colors.components; k++) rgba[k] = gltf_value(&p->colors, i, k);
        MOTE_TRY(scene_draft_color(p->f->draft, rgba));
    }
    return MOTE_OK;
}

/* The corners of triangle i, of those that the mode makes of the list. */
static void corners_of(const primitive *p, uint64_t i, uint64_t corners[3]) {
    const bool strip = p->mode == MODE_STRIP, odd = strip && i % 2 == 1;
    const uint64_t first = p->mode == MODE_TRIANGLES ? 3 * i : i;
    corners[0] = p->mode == MODE_FAN ? 0 : first;
    corners[1] = first + 1 + odd; /* each second triangle of a strip runs the other way */
    corners[2] = first + 2 - odd;
    if (p->flipped) {
        const uint64_t swapped = corners[1];
        corners[1] = corners[2];
        corners[2] = swapped;
    }
}

static void coordinates_at(const primitive *p, uint64_t corner, float uv[2]) {
    const double s = gltf_value(&p->coordinates, corner, 0), t = gltf_value(&p->coordinates, corner, 1);
    uv[0] = (float)(p->mapping.u[0] * s + p->mapping.u[1] * t + p->mapping.u[2]);
    uv[1] = (float)(p->mapping.v[0] * s + p->mapping.v[1] * t + p->mapping.v[2]);
}

static mote_status add_triangles(primitive *p, uint64_t count, uint64_t first) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t corners[3];
        uint32_t places[3];
        float coordinates[6];
        corners_of(p, i, corners);
        for (int k = 0; k < 3; k++) {
            const uint64_t corner = p->has_indices ? gltf_whole(&p->indices, corners[k]) : corners[k];
            if (corner >= p->positions.count) {
                return wrong(p, "index %llu is %llu, of %llu positions", (unsigned long long)corners[k],
                             (unsigned long long)corner, (unsigned long long)p->positions.count);
            }
            places[k] = (uint32_t)(first + corner);
            if (p->has_coordinates) coordinates_at(p, corner, coordinates + 2 * k);
        }
        scene_draft_add_triangle(p->f->draft, places, p->material, p->has_coordinates ? coordinates : NULL);
    }
    return MOTE_OK;
}

static double determinant(const double m[16]) {
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) +
           m[8] * (m[1] * m[6] - m[2] * m[5]);
}

static mote_status add_lists(primitive *p, const double matrix[16]) {
    const uint64_t corners = p->corner_count, first = p->f->draft->position_count;
    const uint64_t count = p->mode == MODE_TRIANGLES ? corners / 3 : corners < 3 ? 0 : corners - 2;
    MOTE_TRY(scene_draft_reserve(p->f->draft, p->positions.count, count));
    MOTE_TRY(add_positions(p, matrix));
    return add_triangles(p, count, first);
}

static mote_status add_primitive(primitive *p, const json_t *json, const double matrix[16]) {
    if (!gltf_integer(json, "mode", MODE_TRIANGLES, &p->mode) || p->mode > MODE_FAN) {
        return wrong(p, "its mode is out of range");
    }
    if (p->mode < MODE_TRIANGLES) {
        gltf_note(p->f, GLTF_NOTE_ELEMENT, "meshes[%llu]: primitives[%llu]", (unsigned long long)p->mesh,
                  (unsigned long long)p->number);
        return MOTE_OK;
    }
    mote_status status = open_primitive(p, json);
    if (status == MOTE_OK) status = add_lists(p, matrix);
    gltf_accessor *const opened[] = {&p->positions, &p->coordinates, &p->colors, &p->indices};
    for (int i = 0; i < 4; i++) gltf_close_accessor(p->f, opened[i]);
    mote_free(p->f->draft->ctx, p->moved);
    return status;
}

mote_status gltf_add_mesh(gltf_file *f, uint64_t mesh, const json_t *node, const double matrix[16]) {
    const json_t *json = gltf_element(f, "meshes", mesh), *primitives = json_object_get(json, "primitives");
    const json_t *weights = json_object_get(node, "weights"); /* which count more than the mesh's */
    if (weights == NULL) weights = json_object_get(json, "weights");
    if (!json_is_array(primitives)) return gltf_wrong(f, "meshes", mesh, "it has no primitives");
    for (size_t i = 0; i < json_array_size(primitives); i++) {
        primitive p = {.f = f, .mesh = mesh, .number = i, .weights = weights, .flipped = determinant(matrix) < 0};
        MOTE_TRY(add_primitive(&p, json_array_get(primitives, i), matrix));
    }
    return MOTE_OK;
}

#endif
