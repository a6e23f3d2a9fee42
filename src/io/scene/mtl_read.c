/* Wavefront MTL: materials of OBJ files. */
#include <math.h>

#include "io/scene/obj_lines.h"

/* A material as its lines say it. */
typedef struct mtl_material {
    double diffuse[3], specular[3], transmitted[3], emitted[3], refraction;
    double illumination;
    uint64_t texture;
    bool has_refraction;
} mtl_material;

static mtl_material plain(void) {
    const mtl_material m = {{0.8, 0.8, 0.8}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1.5, 2, 0, false};
    return m;
}

uint32_t obj_names_find(const obj_names *names, const char *name) {
    for (uint64_t i = names->count; i > 0; i--) {
        if (strcmp(names->names[i - 1], name) == 0) return (uint32_t)(i - 1);
    }
    return UINT32_MAX;
}

mote_status obj_names_add(scene_draft *d, obj_names *names, const char *name) {
    if (!mote_reserve(d->ctx, (void **)&names->names, &names->capacity, names->count + 1, sizeof *names->names,
                      "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    char *const copy = mote_strdup(d->ctx, name);
    if (copy == NULL) return MOTE_ERROR_MEMORY;
    names->names[names->count++] = copy;
    return scene_draft_add_material(d) != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void set_color(double to[3], const double from[3], double max) {
    for (int k = 0; k < 3; k++) to[k] = fmin(fmax(from[k], 0), max);
}

/* Illumination models 3 and 5 are mirrors; 4, 6, 7 and 9 are glass. */
static void finish(scene_draft *d, const mtl_material *m) {
    mote_material *to = &d->materials[d->material_count - 1];
    const int model = (int)m->illumination;
    const bool mirror = model == 3 || model == 5, glass = model == 4 || model == 6 || model == 7 || model == 9;
    const double *specular = m->specular[0] + m->specular[1] + m->specular[2] > 0 ? m->specular : m->diffuse;
    to->kind = mirror ? MOTE_MATERIAL_MIRROR : glass ? MOTE_MATERIAL_GLASS : MOTE_MATERIAL_DIFFUSE;
    set_color(to->color, mirror ? specular : glass ? m->transmitted : m->diffuse, 1);
    set_color(to->emission, m->emitted, 1e30);
    to->refraction = fmin(fmax(m->refraction, 1), 10);
    to->texture = to->kind == MOTE_MATERIAL_DIFFUSE ? m->texture : 0;
}

static mote_status begin(scene_draft *d, obj_lines *l, obj_names *names) {
    if (!obj_next_rest(l)) return obj_malformed(l, "newmtl has no name");
    if (names->count >= MOTE_SCENE_MAX_SIZE) return obj_malformed(l, "too many materials");
    return obj_names_add(d, names, l->word);
}

/* The file of map_Kd: what follows its options, of which each has as many words as it needs. */
static mote_status read_texture(scene_draft *d, obj_lines *l, mtl_material *m) {
    static const struct {
        const char *name;
        int words;
    } options[] = {{"-blendu", 1}, {"-blendv", 1},  {"-bm", 1}, {"-boost", 1},  {"-cc", 1},
                   {"-clamp", 1},  {"-imfchan", 1}, {"-mm", 2}, {"-texres", 1}, {"-type", 1},
                   {"-o", 3},      {"-s", 3},       {"-t", 3}};
    bool clamp = false;
    const uint8_t *start = l->at;
    while (obj_next_word(l) && l->word[0] == '-') {
        size_t i = 0;
        while (i < sizeof options / sizeof options[0] && strcmp(l->word, options[i].name) != 0) i++;
        if (i == sizeof options / sizeof options[0]) break;
        for (int j = 0; j < options[i].words; j++) {
            if (!obj_next_word(l)) return obj_malformed(l, "map_Kd: %s needs more words", options[i].name);
            if (strcmp(options[i].name, "-clamp") == 0) clamp = strcmp(l->word, "on") == 0;
        }
        start = l->at;
    }
    l->at = start;
    if (!obj_next_rest(l)) return obj_malformed(l, "map_Kd names no file");
    scene_file file;
    mote_texture texture;
    bool known = false;
    memset(&texture, 0, sizeof texture);
    mote_status status = scene_file_open(d, l->word, &file);
    if (status == MOTE_OK) {
        status = scene_image_decode(d->ctx, file.path, file.input.data, file.input.size_bytes, &texture, &known);
    }
    texture.wrap_u = texture.wrap_v = clamp ? MOTE_TEXTURE_CLAMP : MOTE_TEXTURE_REPEAT;
    mote_texture *to = status == MOTE_OK && known ? scene_draft_add_texture(d) : NULL;
    if (to != NULL) {
        *to = texture;
        m->texture = d->texture_count;
    } else {
        mote_free(d->ctx, (void *)(uintptr_t)texture.srgb);
        if (status == MOTE_OK && known) status = MOTE_ERROR_MEMORY;
    }
    scene_file_close(d->ctx, &file);
    return status;
}

/* A colour of one number is grey. */
static mote_status read_color(obj_lines *l, const char *what, double color[3]) {
    MOTE_TRY(obj_numbers(l, what, 1, color));
    color[1] = color[2] = color[0];
    return obj_has_word(l) ? obj_numbers(l, what, 2, color + 1) : MOTE_OK;
}

static mote_status read_line(scene_draft *d, obj_lines *l, mtl_material *m) {
    const char *word = l->word;
    if (strcmp(word, "Kd") == 0) return read_color(l, "Kd", m->diffuse);
    if (strcmp(word, "Ks") == 0) return read_color(l, "Ks", m->specular);
    if (strcmp(word, "Ke") == 0) return read_color(l, "Ke", m->emitted);
    if (strcmp(word, "Tf") == 0) return read_color(l, "Tf", m->transmitted);
    if (strcmp(word, "Ni") == 0) return obj_numbers(l, "Ni", 1, &m->refraction);
    if (strcmp(word, "illum") == 0) {
        MOTE_TRY(obj_numbers(l, "illum", 1, &m->illumination));
        if (m->illumination >= 0 && m->illumination <= 10) return MOTE_OK;
        return obj_malformed(l, "illum: %g is not in 0..10", m->illumination);
    }
    return strcmp(word, "map_Kd") == 0 ? read_texture(d, l, m) : MOTE_OK;
}

mote_status obj_read_material_lines(scene_draft *d, obj_lines *l, obj_names *names) {
    mtl_material m = plain();
    const uint64_t first = d->material_count;
    do {
        if (!obj_next_word(l)) continue;
        if (strcmp(l->word, "newmtl") == 0) {
            if (d->material_count > first) finish(d, &m);
            m = plain();
            MOTE_TRY(begin(d, l, names));
        } else if (d->material_count > first) {
            MOTE_TRY(read_line(d, l, &m));
        }
    } while (obj_next_line(l));
    if (d->material_count > first) finish(d, &m);
    return MOTE_OK;
}

mote_status obj_read_materials(scene_draft *d, const char *name, obj_names *names) {
    scene_file file;
    mote_status status = scene_file_open(d, name, &file);
    if (status == MOTE_OK) {
        obj_lines lines = obj_lines_of(d->ctx, file.path, &file.input);
        status = obj_read_material_lines(d, &lines, names);
    }
    scene_file_close(d->ctx, &file);
    return status;
}
