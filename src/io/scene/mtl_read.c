/* Wavefront MTL: materials of OBJ files. */
#include <math.h>
#include <strings.h>

#include "io/scene/obj_lines.h"

/* A material as its lines say it. */
typedef struct mtl_material {
    double diffuse[3], specular[3], transmitted[3], emitted[3], refraction;
    double illumination, opacity;
    uint64_t texture;
    obj_mapping mapping;
} mtl_material;

#define UNMAPPED                                                                                                       \
    {                                                                                                                  \
        {1, 1}, { 0, 0 }                                                                                               \
    }

static mtl_material plain(void) {
    const mtl_material m = {{0.8, 0.8, 0.8}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1.5, 2, 1, 0, UNMAPPED};
    return m;
}

uint32_t obj_materials_find(const obj_materials *materials, const char *name) {
    const uint32_t found = scene_names_find(&materials->names, name, strlen(name));
    if (found != SCENE_NO_NAME) return found;
    return scene_names_find(&materials->bare_names, name, obj_name_bytes(name, false));
}

mote_status obj_materials_add(scene_draft *d, obj_materials *materials, const char *name) {
    static const obj_mapping unmapped = UNMAPPED;
    const uint32_t place = (uint32_t)materials->count;
    if (!mote_reserve(d->ctx, (void **)&materials->list, &materials->capacity, materials->count + 1,
                      sizeof *materials->list, "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    MOTE_TRY(scene_names_set(d->ctx, &materials->names, name, strlen(name), place));
    MOTE_TRY(scene_names_set(d->ctx, &materials->bare_names, name, obj_name_bytes(name, false), place));
    materials->list[materials->count++].mapping = unmapped;
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

/* Illumination models 3 and 5 are mirrors; 4, 6, 7 and 9 are glass. */
static void finish(scene_draft *d, const mtl_material *m, obj_materials *materials) {
    mote_material *to = &d->materials[d->material_count - 1];
    const int model = (int)m->illumination;
    const bool mirror = model == 3 || model == 5, glass = model == 4 || model == 6 || model == 7 || model == 9;
    const double *specular = m->specular[0] + m->specular[1] + m->specular[2] > 0 ? m->specular : m->diffuse;
    to->kind = mirror ? MOTE_MATERIAL_MIRROR : glass ? MOTE_MATERIAL_GLASS : MOTE_MATERIAL_DIFFUSE;
    set_color(to->color, mirror ? specular : glass ? m->transmitted : m->diffuse, 1);
    set_color(to->emission, m->emitted, 1e30);
    to->refraction = fmin(fmax(m->refraction, 1), 10);
    if (m->opacity < 1 && to->kind == MOTE_MATERIAL_DIFFUSE) {
        to->alpha = MOTE_ALPHA_BLEND;
        to->opacity = (float)fmax(m->opacity, 0);
    }
    to->texture = to->kind == MOTE_MATERIAL_DIFFUSE ? m->texture : 0;
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
static void read_color(obj_lines *l, const char *what, double color[3]) {
    double rgb[3];
    if (!obj_numbers(l, what, 1, rgb)) return;
    rgb[1] = rgb[2] = rgb[0];
    if (obj_has_word(l) && !obj_numbers(l, what, 2, rgb + 1)) return;
    memcpy(color, rgb, sizeof rgb);
}

/* d, or Tr, which is what d lacks of 1; "-halo" makes it one of what faces the eye, which has no effect. */
static void read_opacity(obj_lines *l, bool through, double *opacity) {
    double value = 1;
    if (obj_numbers(l, through ? "Tr" : "d", 1, &value)) *opacity = through ? 1 - value : value;
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
    const struct {
        const char *name;
        double *color;
    } colors[] = {{"Kd", m->diffuse}, {"Ks", m->specular}, {"Ke", m->emitted}, {"Tf", m->transmitted}};
    for (size_t i = 0; i < sizeof colors / sizeof colors[0]; i++) {
        if (strcasecmp(l->word, colors[i].name) != 0) continue;
        read_color(l, colors[i].name, colors[i].color);
        return MOTE_OK;
    }
    if (strcasecmp(l->word, "map_Kd") == 0) return obj_read_texture(d, l, &m->mapping, &m->texture);
    if (strcasecmp(l->word, "illum") == 0) {
        read_illumination(l, &m->illumination);
    } else if (strcasecmp(l->word, "Ni") == 0) {
        read_refraction(l, &m->refraction);
    } else if (strcasecmp(l->word, "d") == 0 || strcasecmp(l->word, "Tr") == 0) {
        read_opacity(l, strcasecmp(l->word, "Tr") == 0, &m->opacity);
    } else {
        note_property(l);
    }
    return MOTE_OK;
}

mote_status obj_read_material_lines(scene_draft *d, obj_lines *l, obj_materials *materials) {
    mtl_material m = plain();
    bool any = false;
    do {
        if (!obj_next_word(l)) continue;
        if (strcasecmp(l->word, "newmtl") == 0) {
            if (any) finish(d, &m, materials);
            m = plain();
            MOTE_TRY(begin(d, l, materials, &any));
        } else if (any) {
            MOTE_TRY(read_line(d, l, &m));
        }
    } while (obj_next_line(l));
    if (any) finish(d, &m, materials);
    return MOTE_OK;
}
