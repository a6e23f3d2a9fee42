/* Wavefront MTL: materials of OBJ files. */
#include <math.h>
#include <strings.h>

#include "io/scene/obj_lines.h"

/* A material as its lines say it. */
typedef struct mtl_material {
    double diffuse[3], specular[3], transmitted[3], emitted[3], refraction;
    double illumination, opacity, transparency; /* d and Tr; below 0: not said */
    uint64_t transparency_line;
    bool has_diffuse, has_specular, has_transmitted; /* a line says it */
    uint64_t texture;
    obj_mapping mapping;
} mtl_material;

#define UNMAPPED                                                                                                       \
    {                                                                                                                  \
        {1, 1}, { 0, 0 }                                                                                               \
    }

static mtl_material plain(void) {
    const mtl_material m = {.diffuse = {0.8, 0.8, 0.8},
                            .transmitted = {1, 1, 1},
                            .refraction = 1.5,
                            .illumination = 2,
                            .opacity = -1,
                            .transparency = -1,
                            .mapping = UNMAPPED};
    return m;
}

/* Whether a material counts more than another one of the same name, behind so many mtllib. */
static bool counts_more(const obj_material *a, const obj_material *b, uint32_t statements) {
    const bool before_a = a->statement <= statements, before_b = b->statement <= statements;
    if (before_a != before_b) return before_a;
    if (a->statement != b->statement) return (a->statement > b->statement) == before_a;
    return a->library < b->library;
}

uint32_t obj_materials_find(const obj_materials *materials, const char *name, uint32_t statements) {
    uint32_t found = scene_names_find(&materials->names, name, strlen(name));
    const bool bare = found == SCENE_NO_NAME;
    if (bare) found = scene_names_find(&materials->bare_names, name, obj_name_bytes(name, false));
    if (found == SCENE_NO_NAME) return found;
    const obj_material *const list = materials->list;
    for (uint32_t i = bare ? list[found].same_bare : list[found].same; i > 0;
         i = bare ? list[i - 1].same_bare : list[i - 1].same) {
        if (counts_more(&list[i - 1], &list[found], statements)) found = i - 1;
    }
    return found;
}

/* Gives the name to the material at a place. *same: 1 + the one of that name in the libraries before; of those of one
   library the last alone counts. */
static mote_status set_name(scene_draft *d, obj_materials *materials, scene_names *names, const char *name,
                            size_t bytes, uint32_t place, bool bare) {
    const obj_material *const list = materials->list;
    uint32_t *const same = bare ? &materials->list[place].same_bare : &materials->list[place].same;
    const uint32_t before = scene_names_find(names, name, bytes);
    *same = 0;
    if (before != SCENE_NO_NAME) {
        const bool replaced = list[before].library == list[place].library;
        *same = !replaced ? before + 1 : bare ? list[before].same_bare : list[before].same;
    }
    return scene_names_set(d->ctx, names, name, bytes, place);
}

mote_status obj_materials_add(scene_draft *d, obj_materials *materials, const char *name) {
    static const obj_mapping unmapped = UNMAPPED;
    const uint32_t place = (uint32_t)materials->count;
    if (!mote_reserve(d->ctx, (void **)&materials->list, &materials->capacity, materials->count + 1,
                      sizeof *materials->list, "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    materials->list[place] = (obj_material){unmapped, materials->statement, materials->library, 0, 0};
    MOTE_TRY(set_name(d, materials, &materials->names, name, strlen(name), place, false));
    MOTE_TRY(set_name(d, materials, &materials->bare_names, name, obj_name_bytes(name, false), place, true));
    materials->count++;
    return scene_draft_add_material(d) != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void obj_materials_free(mote_context *ctx, obj_materials *materials) {
    scene_names_free(ctx, &materials->names);
    scene_names_free(ctx, &materials->bare_names);
    mote_free(ctx, materials->list);
}

static void set_color(double to[3], const double from[3], double max) {
    for (int k = 0; k < 3; k++) to[k] = fmin(fmax(from[k], 0), max);
}

/* d says it where it is there. What Tr hides completely was seen where it came from: many programs write it the other
   way round, 1 for what is opaque. */
static double opacity_of(obj_lines *l, const mtl_material *m) {
    const double through = m->transparency;
    if (m->opacity < 0 && through < 0) return 1;
    const bool contradict = m->opacity >= 0 && through >= 0 && fabs(m->opacity - (1 - through)) > 0.01;
    if (contradict) { obj_note_at(l, m->transparency_line, OBJ_NOTE_OPACITY, "Tr %g, and d %g", through, m->opacity); }
    if (m->opacity >= 0) return m->opacity;
    if (through < 1) return 1 - through;
    obj_note_at(l, m->transparency_line, OBJ_NOTE_OPACITY, "Tr %g", through);
    return 1;
}

/* Illumination models 3 and 5 are mirrors; 4, 6, 7 and 9 are glass, unless a texture shows what they are: some programs
   write them for every material. *stated: its colour is of a line. */
static void finish(scene_draft *d, obj_lines *l, const mtl_material *m, obj_materials *materials, bool *stated) {
    mote_material *to = &d->materials[d->material_count - 1];
    const int model = (int)m->illumination;
    const bool mirror = model == 3 || model == 5, clear = model == 4 || model == 6 || model == 7 || model == 9;
    const bool textured = m->texture != 0, glass = clear && !textured;
    const bool by_specular = mirror && !textured && m->specular[0] + m->specular[1] + m->specular[2] > 0;
    const double opacity = opacity_of(l, m);
    to->kind = mirror ? MOTE_MATERIAL_MIRROR : glass ? MOTE_MATERIAL_GLASS : MOTE_MATERIAL_DIFFUSE;
    set_color(to->color, by_specular ? m->specular : glass ? m->transmitted : m->diffuse, 1e30);
    *stated = by_specular ? m->has_specular : glass ? m->has_transmitted : m->has_diffuse;
    set_color(to->emission, m->emitted, 1e30);
    to->refraction = fmin(fmax(m->refraction, 1), 10);
    if (opacity < 1 && !glass) {
        to->alpha = MOTE_ALPHA_BLEND;
        to->opacity = (float)fmax(opacity, 0);
    }
    if (opacity < 1 && glass) obj_note(l, OBJ_NOTE_PROPERTY, "d or Tr of glass, illum %d", model);
    if (clear && textured) obj_note(l, OBJ_NOTE_GLASS, "illum %d", model);
    to->texture = m->texture;
    materials->list[materials->count - 1].mapping = m->mapping;
}

/* Of newmtl. *any: there is a material that the next lines are of. */
static mote_status begin(scene_draft *d, obj_lines *l, obj_materials *materials, bool *any) {
    *any = obj_next_rest(l);
    if (!*any) obj_note(l, OBJ_NOTE_LINE, "newmtl has no name");
    if (!*any) return MOTE_OK;
    if (materials->count >= MOTE_SCENE_MAX_SIZE) {
        return mote_fail(d->ctx, MOTE_ERROR_UNSUPPORTED, "%s: more than %u materials", d->path, MOTE_SCENE_MAX_SIZE);
    }
    return obj_materials_add(d, materials, l->word);
}

static void read_refraction(obj_lines *l, double *refraction) {
    double index = 0;
    if (obj_numbers(l, "Ni", 1, &index)) *refraction = index;
}

/* A colour of one number is grey. */
static bool read_color(obj_lines *l, const char *what, double color[3]) {
    double rgb[3];
    if (!obj_numbers(l, what, 1, rgb)) return false;
    rgb[1] = rgb[2] = rgb[0];
    if (obj_has_word(l) && !obj_numbers(l, what, 2, rgb + 1)) return false;
    memcpy(color, rgb, sizeof rgb);
    return true;
}

/* d, or Tr, which is what d lacks of 1; "-halo" makes it one of what faces the eye, which has no effect. */
static void read_opacity(obj_lines *l, bool through, mtl_material *m) {
    double value = 1;
    if (!obj_numbers(l, through ? "Tr" : "d", 1, &value)) return;
    value = fmin(fmax(value, 0), 1);
    if (through) m->transparency_line = l->line;
    *(through ? &m->transparency : &m->opacity) = value;
}

/* What changes how a material looks, and is not drawn. Ambient light and the width of highlights are of other ways to
   draw. */
static void note_property(obj_lines *l) {
    static const char *const silent[] = {"Ka", "Ns", "sharpness", "map_Ka"};
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        if (strcasecmp(l->word, silent[i]) == 0) return;
    }
    obj_note(l, OBJ_NOTE_PROPERTY, "%.64s", l->word);
}

static void read_illumination(obj_lines *l, double *illumination) {
    double model = 0;
    if (!obj_numbers(l, "illum", 1, &model)) return;
    if (model >= 0 && model <= 10) {
        *illumination = model;
    } else {
        obj_note(l, OBJ_NOTE_LINE, "illum: %g is not in 0..10", model);
    }
}

static mote_status read_line(scene_draft *d, obj_lines *l, mtl_material *m) {
    bool ignored = false;
    const struct {
        const char *name;
        double *color;
        bool *stated;
    } colors[] = {{"Kd", m->diffuse, &m->has_diffuse},
                  {"Ks", m->specular, &m->has_specular},
                  {"Ke", m->emitted, &ignored},
                  {"Tf", m->transmitted, &m->has_transmitted}};
    for (size_t i = 0; i < sizeof colors / sizeof colors[0]; i++) {
        if (strcasecmp(l->word, colors[i].name) != 0) continue;
        *colors[i].stated |= read_color(l, colors[i].name, colors[i].color);
        return MOTE_OK;
    }
    if (strcasecmp(l->word, "map_Kd") == 0) return obj_read_texture(d, l, &m->mapping, &m->texture);
    if (strcasecmp(l->word, "illum") == 0) {
        read_illumination(l, &m->illumination);
    } else if (strcasecmp(l->word, "Ni") == 0) {
        read_refraction(l, &m->refraction);
    } else if (strcasecmp(l->word, "d") == 0 || strcasecmp(l->word, "Tr") == 0) {
        read_opacity(l, strcasecmp(l->word, "Tr") == 0, m);
    } else {
        note_property(l);
    }
    return MOTE_OK;
}

/* A word that is not newmtl, and may have been meant so: what follows it is another material's. */
static bool is_like_newmtl(const char *word) {
    const size_t length = strlen(word);
    for (size_t i = 0; i + 6 <= length; i++) {
        if (strncasecmp(word + i, "newmtl", 6) == 0) return true;
    }
    return strcasecmp(word, "new_mtl") == 0 || strcasecmp(word, "newmat") == 0 || strcasecmp(word, "newmaterial") == 0;
}

/* Colours of 0..255, of the materials of a file together: of those from `first` on that say one. */
static void scale_colors(scene_draft *d, obj_lines *l, uint64_t first, const uint8_t *stated) {
    double max = 0;
    for (uint64_t i = first; i < d->material_count; i++) {
        for (int k = 0; k < 3 && stated[i - first] != 0; k++) max = fmax(max, d->materials[i].color[k]);
    }
    const double white = obj_color_white(max);
    if (max > 1.01 && white > 1) obj_note(l, OBJ_NOTE_COLOR, "materials of up to %g: taken as of %g", max, white);
    if (max > 1.01 && white <= 1) obj_note(l, OBJ_NOTE_COLOR, "materials of up to %g: taken as 1", max);
    for (uint64_t i = first; i < d->material_count; i++) {
        for (int k = 0; k < 3; k++) {
            double *const c = &d->materials[i].color[k];
            *c = fmin(stated[i - first] != 0 ? *c / white : *c, 1);
        }
    }
}

typedef struct mtl_reader {
    obj_materials *materials;
    uint64_t first;  /* material of the file */
    uint8_t *stated; /* [capacity] of each since, whether a line says its colour */
    uint64_t capacity;
} mtl_reader;

static mote_status finish_material(scene_draft *d, obj_lines *l, mtl_reader *r, const mtl_material *m) {
    const uint64_t count = d->material_count - r->first;
    bool stated;
    if (!mote_reserve(d->ctx, (void **)&r->stated, &r->capacity, count, 1, "scene file")) return MOTE_ERROR_MEMORY;
    finish(d, l, m, r->materials, &stated);
    r->stated[count - 1] = stated;
    return MOTE_OK;
}

static mote_status read_materials(scene_draft *d, obj_lines *l, mtl_reader *r) {
    mtl_material m = plain();
    bool any = false, begun = false;
    do {
        if (!obj_next_keyword(l)) continue;
        if (strcasecmp(l->word, "newmtl") == 0) {
            if (any) MOTE_TRY(finish_material(d, l, r, &m));
            m = plain();
            begun = true;
            MOTE_TRY(begin(d, l, r->materials, &any));
        } else if (is_like_newmtl(l->word)) {
            obj_note(l, OBJ_NOTE_KEYWORD, "%.64s", l->word);
        } else if (any) {
            MOTE_TRY(read_line(d, l, &m));
        } else if (!begun) {
            obj_note(l, OBJ_NOTE_LINE, "%.64s before the first newmtl", l->word);
        }
    } while (obj_next_line(l));
    return any ? finish_material(d, l, r, &m) : MOTE_OK;
}

mote_status obj_read_material_lines(scene_draft *d, obj_lines *l, obj_materials *materials) {
    mtl_reader r = {.materials = materials, .first = d->material_count};
    const mote_status status = read_materials(d, l, &r);
    if (status == MOTE_OK && d->material_count > r.first) scale_colors(d, l, r.first, r.stated);
    mote_free(d->ctx, r.stated);
    return status;
}
