/* Wavefront OBJ: polygons of v, vt and vn, with materials of MTL files. */
#include <float.h>
#include <math.h>

#include "io/scene/obj_lines.h"
#include "io/text/text.h"

#define MAX_CORNERS       65536u /* of a polygon */
#define MAX_LIBRARY_WORDS 16     /* of the names in a line of mtllib that are tried as one name */

/* A corner of a polygon: places in the file's lists, from 0. */
typedef struct obj_corner {
    uint32_t position;
    float u, v;
} obj_corner;

/* A colour as it stands behind a position. */
typedef struct obj_color {
    uint32_t position;
    float rgba[4];
} obj_color;

typedef struct obj_reader {
    scene_draft *d;
    obj_lines lines;
    obj_notes notes;
    obj_materials materials;
    scene_names libraries; /* that were read */
    float *coordinates;    /* [2 · coordinate_count] of vt */
    uint64_t coordinate_count, coordinate_capacity;
    uint32_t libraries_so_far;
    uint64_t positions_so_far, coordinates_so_far; /* before the line that is read */
    obj_color *colors;
    uint64_t color_count, color_capacity;
    double color_max, alpha_max;
    obj_corner *corners;
    uint64_t corner_capacity;
    uint32_t material;
    bool unknown_positions; /* some are NaN */
    uint64_t progress;      /* bytes at the last report */
} obj_reader;

/* ---- the lists: what faces may name, wherever it stands */

/* Colours behind a place: red, green and blue as screens have them, and maybe alpha. One number more is a weight of
   curves. False: there are none. */
static bool read_colors(obj_reader *r, double rgba[4]) {
    uint32_t count = 0;
    for (; count < 4 && obj_has_word(&r->lines); count++) {
        if (!obj_numbers(&r->lines, "v", 1, rgba + count)) return false;
    }
    rgba[3] = count == 4 ? fmax(rgba[3], 0) : -1; /* -1: there is none */
    r->alpha_max = fmax(r->alpha_max, rgba[3]);
    for (int k = 0; k < 3 && count >= 3; k++) r->color_max = fmax(r->color_max, rgba[k]);
    return count >= 3;
}

/* Of the position that was added last. What its numbers mean is known when all were read. */
static mote_status keep_color(obj_reader *r, const double rgba[4]) {
    static const double white[4] = {1, 1, 1, 1};
    if (!mote_reserve(r->d->ctx, (void **)&r->colors, &r->color_capacity, r->color_count + 1, sizeof *r->colors,
                      "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    obj_color *const to = &r->colors[r->color_count++];
    to->position = (uint32_t)(r->d->position_count - 1);
    for (int k = 0; k < 4; k++) to->rgba[k] = (float)fmin(k < 3 ? fmax(rgba[k], 0) : rgba[k], 1e9);
    return scene_draft_color(r->d, white);
}

/* 0..1, or, where one of the file is beyond, 0..255, as it is for point clouds. */
static void finish_colors(obj_reader *r) {
    const double white = obj_color_white(r->color_max), full = r->alpha_max > 1.01 ? white : 1;
    if (r->color_max > 1.01) {
        obj_note_at(&r->lines, 1, OBJ_NOTE_COLOR, "colours of v of up to %g: taken as of %g", r->color_max, white);
    }
    for (uint64_t i = 0; i < r->color_count; i++) {
        const obj_color *const from = &r->colors[i];
        float *const to = r->d->colors + 4ull * from->position;
        for (int k = 0; k < 3; k++) {
            const double v = fmin((double)from->rgba[k] / white, 1);
            to[k] = (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
        }
        to[3] = from->rgba[3] < 0 ? 1 : (float)fmin((double)from->rgba[3] / full, 1);
    }
}

/* A place that cannot be read keeps its number, as NaN; the faces that have it cannot be read either. */
static mote_status read_position(obj_reader *r) {
    double p[3], rgba[4];
    const bool known = obj_numbers(&r->lines, "v", 3, p);
    if (!known) p[0] = p[1] = p[2] = (double)NAN;
    r->unknown_positions |= !known;
    MOTE_TRY(scene_draft_reserve(r->d, 1, 0));
    scene_draft_add_position(r->d, p[0], p[1], p[2]);
    return known && read_colors(r, rgba) ? keep_color(r, rgba) : MOTE_OK;
}

/* v runs upwards in OBJ. */
static mote_status read_coordinates(obj_reader *r) {
    double uv[2] = {0, 0};
    bool right = obj_numbers(&r->lines, "vt", 1, uv);
    if (right && obj_has_word(&r->lines)) right = obj_numbers(&r->lines, "vt", 1, uv + 1);
    if (right && !(fabs(uv[0]) <= (double)FLT_MAX && fabs(uv[1]) <= (double)FLT_MAX)) {
        obj_note(&r->lines, OBJ_NOTE_LINE, "vt: a number beyond floats");
        right = false;
    }
    if (!right) uv[0] = uv[1] = 0;
    if (!mote_reserve(r->d->ctx, (void **)&r->coordinates, &r->coordinate_capacity, r->coordinate_count + 1,
                      2 * sizeof(float), "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    r->coordinates[2 * r->coordinate_count] = (float)uv[0];
    r->coordinates[2 * r->coordinate_count++ + 1] = (float)(1 - uv[1]);
    return MOTE_OK;
}

/* Reads the library at a path, once. */
static mote_status read_library_file(obj_reader *r, const char *path) {
    scene_draft *const d = r->d;
    if (scene_names_find(&r->libraries, path, strlen(path)) != SCENE_NO_NAME) return MOTE_OK;
    MOTE_TRY(scene_names_set(d->ctx, &r->libraries, path, strlen(path), 0));
    r->materials.library++;
    scene_file file;
    mote_status status = scene_file_open_path(d, path, &file);
    if (status == MOTE_OK) status = mote_text_check_encoding(d->ctx, &file.input);
    if (status == MOTE_OK) {
        obj_lines lines = obj_lines_of(d, path, &file.input, &r->notes);
        status = obj_read_material_lines(d, &lines, &r->materials);
    } else if (obj_forgive(&r->lines, OBJ_NOTE_LIBRARY, status)) {
        status = MOTE_OK;
    }
    scene_file_close(d->ctx, &file);
    return status;
}

/* Reads the file whose name is the first words of a text, as many as make one that is there. *bytes: of the name; 0:
   none is there. */
static mote_status read_first_library(obj_reader *r, char *names, size_t *bytes) {
    int words = 0;
    *bytes = 0;
    for (size_t end = strlen(names); end > 0 && words < MAX_LIBRARY_WORDS; words++) {
        const char cut = names[end];
        char *path = NULL;
        names[end] = '\0';
        const mote_status status = scene_file_find(r->d, r->d->path, names, &path);
        names[end] = cut;
        MOTE_TRY(status);
        if (path != NULL) {
            *bytes = end;
            const mote_status read = read_library_file(r, path);
            mote_free(r->d->ctx, path);
            return read;
        }
        while (end > 0 && names[end - 1] != ' ' && names[end - 1] != '\t') end--;
        while (end > 0 && (names[end - 1] == ' ' || names[end - 1] == '\t')) end--;
    }
    return MOTE_OK;
}

/* Of a name that is not there: up to its closing quote, all of it where it seems to be one name with blanks, or a word.
 */
static size_t missing_name_bytes(const char *name, bool first) {
    const char *const closing = name[0] == '"' ? strchr(name + 1, '"') : NULL;
    if (closing != NULL) return (size_t)(closing - name) + 1;
    return first && strstr(name, ".mtl ") == NULL ? strlen(name) : strcspn(name, " \t");
}

/* mtllib may name several files, and a name may hold blanks: what is there decides. */
static mote_status read_libraries(obj_reader *r) {
    size_t bytes = 0;
    r->materials.statement++;
    if (!obj_next_rest(&r->lines)) {
        obj_note(&r->lines, OBJ_NOTE_LINE, "mtllib names no file");
        return MOTE_OK;
    }
    char *const names = r->lines.word;
    names[obj_name_bytes(names, false)] = '\0';
    for (char *at = names; *at != '\0'; at += strspn(at, " \t")) {
        MOTE_TRY(read_first_library(r, at, &bytes));
        if (bytes == 0) {
            bytes = missing_name_bytes(at, at == names);
            obj_note(&r->lines, OBJ_NOTE_LIBRARY,
                     "mtllib: there is no file \"%.*s\" in the folder of the scene or below it",
                     bytes < 200 ? (int)bytes : 200, at);
        }
        at += bytes;
    }
    return MOTE_OK;
}

static mote_status read_list_line(obj_reader *r) {
    const char *word = r->lines.word;
    if (strcmp(word, "v") == 0) return read_position(r);
    if (strcmp(word, "vt") == 0) return read_coordinates(r);
    return strcmp(word, "mtllib") == 0 ? read_libraries(r) : MOTE_OK;
}

/* ---- faces */

/* An index at *at, which is moved behind it: 1 is the first of a list, -1 the last so far. False: there is none. */
static bool read_index(const char **at, uint64_t so_far, uint64_t count, uint64_t *index) {
    const bool negative = **at == '-';
    const char *digit = *at + negative;
    uint64_t value = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (value <= UINT32_MAX) value = 10 * value + (uint64_t)(*digit - '0');
    }
    *at = digit;
    if (value < 1 || value > (negative ? so_far : count)) return false;
    *index = negative ? so_far - value : value - 1;
    return true;
}

static bool no_corner(obj_reader *r) {
    obj_note(&r->lines, OBJ_NOTE_LINE, "f: \"%.64s\" is no corner", r->lines.word);
    return false;
}

static bool begins_index(const char *at) {
    return at[0] == '-' ? at[1] >= '0' && at[1] <= '9' : *at >= '0' && *at <= '9';
}

/* position, position/coordinates, position//normal or position/coordinates/normal; normals are not used. False: it is
   none, which was noted. */
static bool read_corner(obj_reader *r, obj_corner *corner) {
    const char *at = r->lines.word;
    uint64_t position = 0, coordinates = 0;
    if (!begins_index(at)) return no_corner(r);
    if (!read_index(&at, r->positions_so_far, r->d->position_count, &position)) {
        obj_note(&r->lines, OBJ_NOTE_LINE, "f: corner \"%.64s\": there are %llu positions", r->lines.word,
                 (unsigned long long)r->d->position_count);
        return false;
    }
    if (isnan(r->d->positions[3 * position])) {
        obj_note(&r->lines, OBJ_NOTE_LINE, "f: corner \"%.64s\": that position cannot be read", r->lines.word);
        return false;
    }
    corner->position = (uint32_t)position;
    corner->u = corner->v = 0;
    if (at[0] == '\0') return true;
    if (at[0] != '/') return no_corner(r);
    at++;
    if (*at == '/' || *at == '\0') return true;
    if (!begins_index(at)) return no_corner(r);
    if (read_index(&at, r->coordinates_so_far, r->coordinate_count, &coordinates)) {
        corner->u = r->coordinates[2 * coordinates];
        corner->v = r->coordinates[2 * coordinates + 1];
    } else {
        obj_note(&r->lines, OBJ_NOTE_COORDINATES, "f: corner \"%.64s\": there are %llu texture coordinates",
                 r->lines.word, (unsigned long long)r->coordinate_count);
    }
    return *at == '\0' || *at == '/' || no_corner(r);
}

/* Material of faces that name none: one that is made when it is first needed. */
static mote_status need_material(obj_reader *r) {
    if (r->material != UINT32_MAX) return MOTE_OK;
    r->material = obj_materials_find(&r->materials, "", 0);
    if (r->material != UINT32_MAX) return MOTE_OK;
    r->material = (uint32_t)r->materials.count;
    MOTE_TRY(obj_materials_add(r->d, &r->materials, ""));
    if (r->d->color_count > 0) { /* the colours of corners are those of the surface then */
        mote_material *const m = &r->d->materials[r->d->material_count - 1];
        m->color[0] = m->color[1] = m->color[2] = 1;
    }
    return MOTE_OK;
}

/* How the texture of the material lies; v, which runs upwards in OBJ, is already turned. */
static void map_corner(const obj_mapping *m, const obj_corner *corner, float uv[2]) {
    uv[0] = corner->u;
    uv[1] = corner->v;
    if (m->scale[0] == 1 && m->scale[1] == 1 && m->offset[0] == 0 && m->offset[1] == 0) return;
    const double u = (double)corner->u * m->scale[0] + m->offset[0];
    const double v = 1 - ((1 - (double)corner->v) * m->scale[1] + m->offset[1]);
    if (fabs(u) <= (double)FLT_MAX && fabs(v) <= (double)FLT_MAX) {
        uv[0] = (float)u;
        uv[1] = (float)v;
    }
}

/* A polygon becomes a fan around its first corner: right where it is convex. */
static mote_status add_fan(obj_reader *r, uint32_t count) {
    MOTE_TRY(need_material(r));
    MOTE_TRY(scene_draft_reserve(r->d, 0, count - 2));
    const obj_mapping *const mapping = &r->materials.list[r->material].mapping;
    for (uint32_t i = 1; i + 1 < count; i++) {
        const obj_corner *const of[3] = {&r->corners[0], &r->corners[i], &r->corners[i + 1]};
        uint32_t corners[3];
        float coordinates[6];
        for (int k = 0; k < 3; k++) {
            corners[k] = of[k]->position;
            map_corner(mapping, of[k], coordinates + 2 * k);
        }
        scene_draft_add_triangle(r->d, corners, r->material, coordinates);
    }
    return MOTE_OK;
}

static mote_status read_face(obj_reader *r) {
    uint32_t count = 0;
    for (; obj_next_word(&r->lines); count++) {
        if (count == MAX_CORNERS) {
            obj_note(&r->lines, OBJ_NOTE_LINE, "f has more than %u corners", MAX_CORNERS);
            return MOTE_OK;
        }
        if (!mote_reserve(r->d->ctx, (void **)&r->corners, &r->corner_capacity, count + 1ull, sizeof *r->corners,
                          "scene file")) {
            return MOTE_ERROR_MEMORY;
        }
        if (!read_corner(r, &r->corners[count])) return MOTE_OK;
    }
    if (count >= 3) return add_fan(r, count);
    obj_note(&r->lines, OBJ_NOTE_LINE, "f has %u corners, needs 3", count);
    return MOTE_OK;
}

/* A material that is not known is that of faces that name none. */
static void use_material(obj_reader *r) {
    r->material = UINT32_MAX;
    if (!obj_next_rest(&r->lines)) {
        obj_note(&r->lines, OBJ_NOTE_MATERIAL, "usemtl has no name");
        return;
    }
    r->material = obj_materials_find(&r->materials, r->lines.word, r->libraries_so_far);
    if (r->material == UINT32_MAX) obj_note(&r->lines, OBJ_NOTE_MATERIAL, "usemtl %.64s", r->lines.word);
}

static bool is_one_of(const char *word, const char *const *words) {
    while (*words != NULL && strcmp(word, *words) != 0) words++;
    return *words != NULL;
}

static mote_status read_face_line(obj_reader *r) {
    static const char *const elements[] = {"l", "p", "curv", "curv2", "surf", NULL};
    static const char *const silent[] = {
        "v",      "vt",     "vn",    "vp",       "g",      "o",        "s",     "mg",         "mtllib",
        "usemap", "maplib", "bevel", "c_interp", "lod",    "d_interp", "ctech", "stech",      "deg",
        "bmat",   "step",   "parm",  "trim",     "cstype", "hole",     "sp",    "shadow_obj", "trace_obj",
        "scrv",   "end",    "con",   "bsp",      "bzp",    "cdc",      "cdp",   "res",        NULL};
    const char *word = r->lines.word;
    r->libraries_so_far += strcmp(word, "mtllib") == 0;
    r->positions_so_far += strcmp(word, "v") == 0;
    r->coordinates_so_far += strcmp(word, "vt") == 0;
    if (strcmp(word, "f") == 0 || strcmp(word, "fo") == 0) return read_face(r);
    if (strcmp(word, "usemtl") == 0) {
        use_material(r);
    } else if (is_one_of(word, elements)) {
        obj_note(&r->lines, OBJ_NOTE_ELEMENT, "%s", word);
    } else if (!is_one_of(word, silent)) {
        obj_note(&r->lines, OBJ_NOTE_KEYWORD, "\"%.64s\"", word);
    }
    return MOTE_OK; /* names, groups, smoothing */
}

/* ---- the file */

/* part: 0 or 1, the first or second time through the file. */
static mote_status report(obj_reader *r, const mote_input *input, int part) {
    const uint64_t at = (uint64_t)(r->lines.at - input->data);
    if (at - r->progress < 1u << 20) return MOTE_OK;
    r->progress = at;
    const double done = (double)at / (double)input->size_bytes;
    return mote_progress(r->d->ctx, (done + part) / 2, "reading scene");
}

/* Twice through the file: faces may name what comes behind them. */
static mote_status read_lines(obj_reader *r, const mote_input *input) {
    mote_status status = MOTE_OK;
    for (int part = 0; part < 2; part++) {
        r->lines = obj_lines_of(r->d, input->path, input, &r->notes);
        r->progress = 0;
        do {
            const bool any = obj_next_keyword(&r->lines);
            if (any) status = part == 0 ? read_list_line(r) : read_face_line(r);
            if (status == MOTE_OK) status = report(r, input, part);
        } while (status == MOTE_OK && obj_next_line(&r->lines));
        MOTE_TRY(status);
        if (part == 0) finish_colors(r);
    }
    return MOTE_OK;
}

static mote_status finish(obj_reader *r) {
    scene_draft *const d = r->d;
    if (d->triangle_count == 0) {
        const obj_notes *const n = &r->notes;
        const bool unknown =
            n->counts[OBJ_NOTE_KEYWORD] > 0 && (d->position_count == 0 || n->counts[OBJ_NOTE_LINE] == 0);
        const obj_note_kind kind = unknown ? OBJ_NOTE_KEYWORD : OBJ_NOTE_LINE;
        if (n->counts[kind] > 0) {
            return mote_fail(d->ctx, MOTE_ERROR_DATA,
                             "%s: it has no face that can be drawn; %llu lines %s, the first: %s", d->path,
                             (unsigned long long)n->counts[kind],
                             unknown ? "begin with a word that is not known" : "cannot be read", n->first[kind]);
        }
        return mote_fail(d->ctx, MOTE_ERROR_DATA, "%s: it has no face%s", d->path,
                         d->degenerate > 0 ? " that has an area" : "");
    }
    for (uint64_t i = 0; i < 3 * d->position_count && r->unknown_positions; i++) {
        if (isnan(d->positions[i])) d->positions[i] = 0; /* no face has it */
    }
    obj_tell_notes(d, &r->notes);
    return MOTE_OK;
}

mote_status scene_read_obj(scene_draft *d, const mote_input *input) {
    obj_reader *r = mote_alloc_zero(d->ctx, sizeof *r, "scene file");
    if (r == NULL) return MOTE_ERROR_MEMORY;
    r->d = d;
    r->material = UINT32_MAX;
    mote_status status = read_lines(r, input);
    if (status == MOTE_OK) status = finish(r);
    scene_names_free(d->ctx, &r->libraries);
    obj_materials_free(d->ctx, &r->materials);
    mote_free(d->ctx, r->coordinates);
    mote_free(d->ctx, r->colors);
    mote_free(d->ctx, r->corners);
    mote_free(d->ctx, r);
    return status;
}
