/* Scenes: checked, copied, and made ready for rays. */
#include "photon/photon_scene.h"

#include <float.h>

#include "device/backend.h"
#include "photon/photon_ops.h"

/* ---- checks */

static bool is_color(const double c[3], double max) {
    for (int k = 0; k < 3; k++) {
        if (!(c[k] >= 0 && c[k] <= max)) return false;
    }
    return true;
}

static bool is_finite(const double p[3]) {
    for (int k = 0; k < 3; k++) {
        if (!(fabs(p[k]) <= 1e100)) return false;
    }
    return true;
}

static mote_status check_materials(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->material_count; i++) {
        const mote_material *m = &p->materials[i];
        MOTE_TRY(mote_check_reserved(ctx, m->reserved, sizeof m->reserved, "mote_material", "a struct of zeros"));
        if ((unsigned)m->kind > MOTE_MATERIAL_GLASS || !is_color(m->color, 1) || !is_color(m->emission, 1e30)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                             "material %llu: its kind is unknown, its color not in 0..1, or its emission below 0",
                             (unsigned long long)i);
        }
        if (m->texture > p->texture_count) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "material %llu: texture %llu of %llu", (unsigned long long)i,
                             (unsigned long long)m->texture, (unsigned long long)p->texture_count);
        }
        if (m->kind == MOTE_MATERIAL_GLASS && !(m->refraction >= 1 && m->refraction <= 10)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "material %llu: an index of refraction of %g, needs 1 to 10",
                             (unsigned long long)i, m->refraction);
        }
    }
    return MOTE_OK;
}

static mote_status check_textures(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->texture_count; i++) {
        const mote_texture *t = &p->textures[i];
        MOTE_TRY(mote_check_reserved(ctx, t->reserved, sizeof t->reserved, "mote_texture", "a struct of zeros"));
        if (t->srgb == NULL || t->width < 1 || t->height < 1 || t->width > MOTE_TEXTURE_MAX_SIDE ||
            t->height > MOTE_TEXTURE_MAX_SIDE || (unsigned)t->wrap_u > MOTE_TEXTURE_MIRROR ||
            (unsigned)t->wrap_v > MOTE_TEXTURE_MIRROR) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                             "texture %llu: no texels, a side not in 1..%u, or its wrap is out of range",
                             (unsigned long long)i, MOTE_TEXTURE_MAX_SIDE);
        }
    }
    if (p->texture_count == 0 || p->texture_coordinates == NULL) return MOTE_OK;
    for (uint64_t i = 0; i < 6 * p->triangle_count; i++) {
        if (fabsf(p->texture_coordinates[i]) <= 1e30f) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "triangle %llu: a texture coordinate is not finite",
                         (unsigned long long)(i / 6));
    }
    return MOTE_OK;
}

static mote_status check_lights(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->light_count; i++) {
        const mote_light *l = &p->lights[i];
        const bool spot = l->kind == MOTE_LIGHT_SPOT;
        MOTE_TRY(mote_check_reserved(ctx, l->reserved, sizeof l->reserved, "mote_light", "a struct of zeros"));
        if ((unsigned)l->kind > MOTE_LIGHT_SPOT || !is_finite(l->position) || !is_color(l->intensity, 1e30)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                             "light %llu: its kind is unknown, its position not finite, or its intensity below 0",
                             (unsigned long long)i);
        }
        if (!spot) continue;
        if (!is_finite(l->direction) || !(photon_length(photon_vec_from(l->direction)) > 0) ||
            !(l->inner_rad >= 0 && l->inner_rad < l->outer_rad && l->outer_rad <= PHOTON_PI)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                             "light %llu: a spot needs a direction, and angles 0 <= inner < outer <= pi",
                             (unsigned long long)i);
        }
    }
    return MOTE_OK;
}

static mote_status check_positions(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->position_count; i++) {
        const double *const at = p->positions + 3 * i;
        if (is_finite(at)) continue;
        const bool is_number = at[0] - at[0] == 0 && at[1] - at[1] == 0 && at[2] - at[2] == 0;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "position %llu is %s", (unsigned long long)i,
                         is_number ? "beyond 1e+100" : "not finite");
    }
    return MOTE_OK;
}

static mote_status check_triangles(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->triangle_count; i++) {
        for (uint64_t j = 0; j < 3; j++) {
            if (p->triangles[3 * i + j] < p->position_count) continue;
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "triangle %llu: corner %u of %llu positions",
                             (unsigned long long)i, p->triangles[3 * i + j], (unsigned long long)p->position_count);
        }
        const uint32_t material = p->triangle_materials != NULL ? p->triangle_materials[i] : 0;
        if (material < p->material_count) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "triangle %llu: material %u of %llu", (unsigned long long)i,
                         material, (unsigned long long)p->material_count);
    }
    return MOTE_OK;
}

static mote_status check_spheres(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->sphere_count; i++) {
        const mote_sphere *s = &p->spheres[i];
        MOTE_TRY(mote_check_reserved(ctx, s->reserved, sizeof s->reserved, "mote_sphere", "a struct of zeros"));
        if (!is_finite(s->center) || !(s->radius > 0 && s->radius <= 1e100) || s->material >= p->material_count) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "sphere %llu: its center, radius or material is out of range",
                             (unsigned long long)i);
        }
        const double *e = p->materials[s->material].emission;
        if (e[0] == 0 && e[1] == 0 && e[2] == 0) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "sphere %llu: its material shines; only triangles are lights",
                         (unsigned long long)i);
    }
    return MOTE_OK;
}

static mote_status check(mote_context *ctx, const mote_scene_params *p) {
    MOTE_TRY(mote_check_reserved(ctx, p->reserved, sizeof p->reserved, "mote_scene_params", "a struct of zeros"));
    if (p->triangle_count > MOTE_SCENE_MAX_SIZE || p->sphere_count > MOTE_SCENE_MAX_SIZE - p->triangle_count ||
        p->light_count > MOTE_SCENE_MAX_SIZE || p->material_count > MOTE_SCENE_MAX_SIZE ||
        p->texture_count > MOTE_SCENE_MAX_SIZE) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "a scene of more than %u triangles, spheres, lights, materials or textures",
                         MOTE_SCENE_MAX_SIZE);
    }
    if ((p->position_count > 0 && p->positions == NULL) || (p->triangle_count > 0 && p->triangles == NULL) ||
        (p->sphere_count > 0 && p->spheres == NULL) || (p->material_count > 0 && p->materials == NULL) ||
        (p->light_count > 0 && p->lights == NULL) || (p->texture_count > 0 && p->textures == NULL)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "an array of the scene is missing");
    }
    MOTE_TRY(check_materials(ctx, p));
    MOTE_TRY(check_lights(ctx, p));
    MOTE_TRY(check_textures(ctx, p));
    MOTE_TRY(check_positions(ctx, p));
    MOTE_TRY(check_triangles(ctx, p));
    return check_spheres(ctx, p);
}

/* ---- copies */

static void copy_shapes(mote_scene *scene, const mote_scene_params *p) {
    photon_shape *to = scene->shapes;
    for (uint64_t i = 0; i < p->triangle_count; i++, to++) {
        to->a = photon_vec_from(p->positions + 3ull * p->triangles[3 * i]);
        to->b = photon_vec_from(p->positions + 3ull * p->triangles[3 * i + 1]);
        to->c = photon_vec_from(p->positions + 3ull * p->triangles[3 * i + 2]);
        to->material = p->triangle_materials != NULL ? p->triangle_materials[i] : 0;
        to->is_sphere = 0;
    }
    for (uint64_t i = 0; i < p->sphere_count; i++, to++) {
        to->a = photon_vec_from(p->spheres[i].center);
        to->b = photon_vec_of(p->spheres[i].radius, 0, 0);
        to->c = photon_vec_of(0, 0, 0);
        to->material = p->spheres[i].material;
        to->is_sphere = 1;
    }
}

static void copy_surfaces(mote_scene *scene, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->material_count; i++) {
        photon_surface *to = &scene->surfaces[i];
        to->color = photon_vec_from(p->materials[i].color);
        to->emission = photon_vec_from(p->materials[i].emission);
        to->refraction = p->materials[i].refraction;
        to->kind = (uint32_t)p->materials[i].kind;
        to->shines = photon_sum(to->emission) > 0;
        to->texture = p->materials[i].texture > 0 ? (uint32_t)(p->materials[i].texture - 1) : PHOTON_NO_TEXTURE;
        scene->view.has_glass |= to->kind == MOTE_MATERIAL_GLASS;
    }
}

/* ---- textures */

float photon_linear_of(uint8_t srgb) {
    const double v = srgb / 255.0;
    return (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
}

static void copy_corners(mote_scene *scene, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->triangle_count && p->texture_coordinates != NULL; i++) {
        for (uint64_t j = 0; j < 3; j++) {
            scene->corners[i].u[j] = p->texture_coordinates[6 * i + 2 * j];
            scene->corners[i].v[j] = p->texture_coordinates[6 * i + 2 * j + 1];
        }
    }
}

static mote_status copy_textures(mote_scene *scene, const mote_scene_params *p) {
    mote_context *ctx = scene->ctx;
    photon_view *view = &scene->view;
    if (p->texture_count == 0) return MOTE_OK;
    for (uint64_t i = 0; i < p->texture_count; i++) {
        view->texel_bytes += 3ull * p->textures[i].width * p->textures[i].height;
    }
    view->texture_count = (uint32_t)p->texture_count;
    scene->corners = mote_alloc_zero(ctx, view->shape_count * sizeof *scene->corners, "scene textures");
    scene->textures = mote_alloc(ctx, p->texture_count * sizeof *scene->textures, "scene textures");
    scene->texels = mote_alloc(ctx, view->texel_bytes, "scene textures");
    scene->linear = mote_alloc(ctx, 256 * sizeof *scene->linear, "scene textures");
    if (scene->corners == NULL || scene->textures == NULL || scene->texels == NULL || scene->linear == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    uint64_t first = 0;
    for (uint64_t i = 0; i < p->texture_count; i++) {
        const mote_texture *from = &p->textures[i];
        const photon_texture to = {first, from->width, from->height, (uint32_t)from->wrap_u, (uint32_t)from->wrap_v};
        const uint64_t size_bytes = 3ull * from->width * from->height;
        scene->textures[i] = to;
        memcpy(scene->texels + first, from->srgb, size_bytes);
        first += size_bytes;
    }
    for (uint32_t i = 0; i < 256; i++) scene->linear[i] = photon_linear_of((uint8_t)i);
    copy_corners(scene, p);
    return MOTE_OK;
}

/* ---- lights */

static void add_light(mote_scene *scene, const photon_light *light) {
    photon_view *view = &scene->view;
    if (!(light->power > 0 && light->power <= DBL_MAX)) return;
    photon_light *to = &scene->lights[view->light_count++];
    *to = *light;
    to->power_before = view->power;
    view->power += light->power;
}

static void add_area_lights(mote_scene *scene, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->triangle_count; i++) {
        const photon_shape *shape = &scene->shapes[i];
        const photon_surface *surface = &scene->surfaces[shape->material];
        photon_light light;
        memset(&light, 0, sizeof light);
        light.a = shape->a;
        light.b = shape->b;
        light.c = shape->c;
        light.strength = surface->emission;
        light.kind = PHOTON_LIGHT_AREA;
        const photon_vec cross = photon_cross(photon_sub(shape->b, shape->a), photon_sub(shape->c, shape->a));
        light.power = PHOTON_PI * 0.5 * photon_length(cross) * photon_sum(surface->emission);
        add_light(scene, &light);
    }
}

/* The cosine of an angle in [0, pi]; the C library's differs from machine to machine. */
static double cosine_of(double angle_rad) {
    double sine, cosine;
    photon_turn(angle_rad / (2 * PHOTON_PI), &sine, &cosine);
    return cosine;
}

static void add_other_lights(mote_scene *scene, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->light_count; i++) {
        const mote_light *from = &p->lights[i];
        const bool spot = from->kind == MOTE_LIGHT_SPOT;
        photon_light light;
        memset(&light, 0, sizeof light);
        light.kind = spot ? PHOTON_LIGHT_SPOT : PHOTON_LIGHT_POINT;
        light.a = photon_vec_from(from->position);
        light.b = spot ? photon_unit(photon_vec_from(from->direction)) : photon_vec_of(0, 0, 1);
        light.strength = photon_vec_from(from->intensity);
        light.cos_inner = spot ? cosine_of(from->inner_rad) : -1;
        light.cos_outer = spot ? cosine_of(from->outer_rad) : -1;
        const double solid = spot ? (1 - light.cos_inner) + 0.5 * (light.cos_inner - light.cos_outer) : 2;
        light.power = 2 * PHOTON_PI * solid * photon_sum(light.strength);
        add_light(scene, &light);
    }
}

/* ---- */

static mote_status allocate(mote_scene *scene, const mote_scene_params *p) {
    mote_context *ctx = scene->ctx;
    scene->view.shape_count = (uint32_t)(p->triangle_count + p->sphere_count);
    scene->shapes = mote_alloc(ctx, scene->view.shape_count * sizeof *scene->shapes, "scene");
    scene->surfaces = mote_alloc(ctx, p->material_count * sizeof *scene->surfaces, "scene");
    uint64_t lights = p->light_count;
    for (uint64_t i = 0; i < p->triangle_count; i++) {
        const double *e = p->materials[p->triangle_materials != NULL ? p->triangle_materials[i] : 0].emission;
        lights += e[0] > 0 || e[1] > 0 || e[2] > 0;
    }
    scene->lights = mote_alloc(ctx, lights * sizeof *scene->lights, "scene");
    return scene->shapes != NULL && scene->surfaces != NULL && scene->lights != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static double largest_of(const mote_box *bounds) {
    double largest = 0;
    for (int k = 0; k < 3; k++) largest = fmax(largest, fmax(fabs(bounds->min[k]), fabs(bounds->max[k])));
    return largest;
}

mote_status mote_scene_create(mote_context *ctx, const mote_scene_params *params, mote_scene **out) {
    *out = NULL;
    if (params == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no scene");
    MOTE_TRY(check(ctx, params));
    mote_scene *scene = mote_alloc_zero(ctx, sizeof *scene, "scene");
    if (scene == NULL) return MOTE_ERROR_MEMORY;
    scene->ctx = ctx;
    scene->camera = params->camera;
    mote_status status = allocate(scene, params);
    if (status == MOTE_OK) {
        copy_shapes(scene, params);
        copy_surfaces(scene, params);
        add_area_lights(scene, params);
        add_other_lights(scene, params);
        status = copy_textures(scene, params);
        if (status == MOTE_OK) status = photon_tree_build(scene);
    }
    if (status != MOTE_OK) {
        mote_scene_destroy(scene);
        return status;
    }
    /* What is nearer than this to where a ray starts is the surface itself: a billionth of the largest coordinate. */
    scene->view.largest = scene->view.shape_count > 0 ? largest_of(&scene->bounds) : 0;
    scene->view.near_t = 1e-9 * scene->view.largest;
    scene->view.shapes = scene->shapes;
    scene->view.nodes = scene->nodes;
    scene->view.surfaces = scene->surfaces;
    scene->view.lights = scene->lights;
    scene->view.corners = scene->corners;
    scene->view.textures = scene->textures;
    scene->view.texels = scene->texels;
    scene->view.linear = scene->linear;
    *out = scene;
    return MOTE_OK;
}

void mote_scene_destroy(mote_scene *scene) {
    if (scene == NULL) return;
    mote_context *ctx = scene->ctx;
    if (scene->cuda != NULL) mote_gpu_backend->photon->close_scene(scene);
    mote_free(ctx, scene->linear);
    mote_free(ctx, scene->texels);
    mote_free(ctx, scene->textures);
    mote_free(ctx, scene->corners);
    mote_free(ctx, scene->lights);
    mote_free(ctx, scene->surfaces);
    mote_free(ctx, scene->nodes);
    mote_free(ctx, scene->shapes);
    mote_free(ctx, scene);
}

mote_camera mote_scene_camera(const mote_scene *scene) { return scene->camera; }

mote_box mote_scene_bounds(const mote_scene *scene) { return scene->bounds; }
