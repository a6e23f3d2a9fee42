/* Wavefront OBJ: polygons of v, vt and vn, with materials of MTL files. */
#include "io/scene/obj_lines.h"

#define MAX_CORNERS 65536u /* of a polygon */

/* A corner of a polygon: places in the file's lists, from 0. */
typedef struct obj_corner {
    uint32_t position;
    float u, v;
} obj_corner;

typedef struct obj_reader {
    scene_draft *d;
    obj_lines lines;
    obj_names names;
    float *coordinates; /* [2 · coordinate_count] of vt */
    uint64_t coordinate_count, coordinate_capacity;
    obj_corner *corners;
    uint64_t corner_capacity;
    uint32_t material;
    uint64_t progress; /* bytes at the last report */
} obj_reader;

static mote_status read_position(obj_reader *r) {
    double p[3];
    MOTE_TRY(obj_numbers(&r->lines, "v", 3, p));
    MOTE_TRY(scene_draft_reserve(r->d, 1, 0));
    scene_draft_add_position(r->d, p[0], p[1], p[2]);
    return MOTE_OK;
}

/* v runs upwards in OBJ. */
static mote_status read_coordinates(obj_reader *r) {
    double uv[2] = {0, 0};
    MOTE_TRY(obj_numbers(&r->lines, "vt", 1, uv));
    if (obj_has_word(&r->lines)) MOTE_TRY(obj_numbers(&r->lines, "vt", 1, uv + 1));
    if (!mote_reserve(r->d->ctx, (void **)&r->coordinates, &r->coordinate_capacity, r->coordinate_count + 1,
                      2 * sizeof(float), "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    r->coordinates[2 * r->coordinate_count] = (float)uv[0];
    r->coordinates[2 * r->coordinate_count++ + 1] = (float)(1 - uv[1]);
    return MOTE_OK;
}

/* An index at *at, which is moved behind it: 1 is the first of a list, -1 the last so far. */
static mote_status read_index(obj_reader *r, const char **at, const char *what, uint64_t count, uint64_t *index) {
    const bool negative = **at == '-';
    const char *digit = *at + negative;
    uint64_t value = 0;
    if (*digit < '0' || *digit > '9') return obj_malformed(&r->lines, "f: \"%.64s\" is no corner", r->lines.word);
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (value <= UINT32_MAX) value = 10 * value + (uint64_t)(*digit - '0');
    }
    *at = digit;
    if (value < 1 || value > count) {
        return obj_malformed(&r->lines, "f: corner \"%.64s\": there are %llu %s so far", r->lines.word,
                             (unsigned long long)count, what);
    }
    *index = negative ? count - value : value - 1;
    return MOTE_OK;
}

/* position, position/coordinates, position//normal or position/coordinates/normal; normals are not used. */
static mote_status read_corner(obj_reader *r, obj_corner *corner) {
    const char *at = r->lines.word;
    uint64_t position = 0, coordinates = 0;
    MOTE_TRY(read_index(r, &at, "positions", r->d->position_count, &position));
    corner->position = (uint32_t)position;
    corner->u = corner->v = 0;
    if (at[0] == '\0') return MOTE_OK;
    if (at[0] != '/') return obj_malformed(&r->lines, "f: \"%.64s\" is no corner", r->lines.word);
    at++;
    if (*at == '/' || *at == '\0') return MOTE_OK;
    MOTE_TRY(read_index(r, &at, "texture coordinates", r->coordinate_count, &coordinates));
    corner->u = r->coordinates[2 * coordinates];
    corner->v = r->coordinates[2 * coordinates + 1];
    if (*at == '\0' || *at == '/') return MOTE_OK;
    return obj_malformed(&r->lines, "f: \"%.64s\" is no corner", r->lines.word);
}

/* Material of faces that name none: one that is made when it is first needed. */
static mote_status need_material(obj_reader *r) {
    if (r->material != UINT32_MAX) return MOTE_OK;
    r->material = obj_names_find(&r->names, "");
    if (r->material != UINT32_MAX) return MOTE_OK;
    r->material = (uint32_t)r->names.count;
    return obj_names_add(r->d, &r->names, "");
}

/* A polygon becomes a fan around its first corner: right where it is convex. */
static mote_status read_face(obj_reader *r) {
    uint32_t count = 0;
    for (; obj_next_word(&r->lines); count++) {
        if (count == MAX_CORNERS) return obj_malformed(&r->lines, "f has more than %u corners", MAX_CORNERS);
        if (!mote_reserve(r->d->ctx, (void **)&r->corners, &r->corner_capacity, count + 1ull, sizeof *r->corners,
                          "scene file")) {
            return MOTE_ERROR_MEMORY;
        }
        MOTE_TRY(read_corner(r, &r->corners[count]));
    }
    if (count < 3) return obj_malformed(&r->lines, "f has %u corners, needs 3", count);
    MOTE_TRY(need_material(r));
    MOTE_TRY(scene_draft_reserve(r->d, 0, count - 2));
    for (uint32_t i = 1; i + 1 < count; i++) {
        const obj_corner *a = &r->corners[0], *b = &r->corners[i], *c = &r->corners[i + 1];
        const uint32_t corners[3] = {a->position, b->position, c->position};
        const float coordinates[6] = {a->u, a->v, b->u, b->v, c->u, c->v};
        scene_draft_add_triangle(r->d, corners, r->material, coordinates);
    }
    return MOTE_OK;
}

/* mtllib may name several files; a name with blanks is one file where the line has no other. */
static mote_status read_library(obj_reader *r) {
    if (!obj_next_rest(&r->lines)) return obj_malformed(&r->lines, "mtllib names no file");
    char *const name = mote_strdup(r->d->ctx, r->lines.word);
    if (name == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = MOTE_OK;
    const size_t length = strlen(name);
    const bool one = strchr(name, ' ') == NULL || (length > 4 && strstr(name, ".mtl ") == NULL);
    for (char *at = name; status == MOTE_OK && at != NULL && *at != '\0';) {
        char *blank = one ? NULL : strchr(at, ' ');
        if (blank != NULL) *blank = '\0';
        if (*at != '\0') status = obj_read_materials(r->d, at, &r->names);
        at = blank != NULL ? blank + 1 : NULL;
    }
    mote_free(r->d->ctx, name);
    return status;
}

static mote_status use_material(obj_reader *r) {
    if (!obj_next_rest(&r->lines)) return obj_malformed(&r->lines, "usemtl has no name");
    r->material = obj_names_find(&r->names, r->lines.word);
    if (r->material != UINT32_MAX) return MOTE_OK;
    return obj_malformed(&r->lines, "usemtl: there is no material \"%.64s\" in the files of mtllib", r->lines.word);
}

static mote_status read_line(obj_reader *r) {
    const char *word = r->lines.word;
    if (strcmp(word, "v") == 0) return read_position(r);
    if (strcmp(word, "vt") == 0) return read_coordinates(r);
    if (strcmp(word, "f") == 0 || strcmp(word, "fo") == 0) return read_face(r);
    if (strcmp(word, "mtllib") == 0) return read_library(r);
    if (strcmp(word, "usemtl") == 0) return use_material(r);
    return MOTE_OK; /* names, groups, smoothing, lines, points, curves */
}

static mote_status report(obj_reader *r, const mote_input *input) {
    const uint64_t at = (uint64_t)(r->lines.at - input->data);
    if (at - r->progress < 1u << 20) return MOTE_OK;
    r->progress = at;
    return mote_progress(r->d->ctx, (double)at / (double)input->size_bytes, "reading scene");
}

mote_status scene_read_obj(scene_draft *d, const mote_input *input) {
    obj_reader *r = mote_alloc_zero(d->ctx, sizeof *r, "scene file");
    if (r == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = MOTE_OK;
    r->d = d;
    r->lines = obj_lines_of(d->ctx, input->path, input);
    r->material = UINT32_MAX;
    do {
        if (obj_next_word(&r->lines)) status = read_line(r);
        if (status == MOTE_OK) status = report(r, input);
    } while (status == MOTE_OK && obj_next_line(&r->lines));
    for (uint64_t i = 0; i < r->names.count; i++) mote_free(d->ctx, r->names.names[i]);
    mote_free(d->ctx, r->names.names);
    mote_free(d->ctx, r->coordinates);
    mote_free(d->ctx, r->corners);
    mote_free(d->ctx, r);
    return status;
}
