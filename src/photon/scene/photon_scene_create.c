/* Scenes: checked, copied, and made ready for rays. */
#include "photon/scene/photon_scene_parts.h"

#include "device/backend.h"
#include "photon/photon_ops.h"

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

static uint32_t place_of_texture(uint64_t number) { return number > 0 ? (uint32_t)(number - 1) : PHOTON_NO_TEXTURE; }

static void copy_surfaces(mote_scene *scene, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->material_count; i++) {
        photon_surface *to = &scene->surfaces[i];
        to->color = photon_vec_from(p->materials[i].color);
        to->emission = photon_vec_from(p->materials[i].emission);
        to->refraction = p->materials[i].refraction;
        to->kind = (uint32_t)p->materials[i].kind;
        to->shines = photon_sum(to->emission) > 0;
        to->shines_on_both = p->materials[i].shines_on_both;
        to->texture = place_of_texture(p->materials[i].texture);
        to->emission_texture = place_of_texture(p->materials[i].emission_texture);
        to->alpha = (uint32_t)p->materials[i].alpha;
        to->opacity = (double)p->materials[i].opacity;
        to->cutoff = (double)p->materials[i].alpha_cutoff;
        to->thin = p->materials[i].thin;
        scene->view.has_glass |= to->kind == MOTE_MATERIAL_GLASS;
        scene->view.has_alpha |= to->alpha != MOTE_ALPHA_OPAQUE;
    }
}

/* ---- the scene */

static mote_status allocate(mote_scene *scene, const mote_scene_params *p) {
    mote_context *ctx = scene->ctx;
    scene->view.shape_count = (uint32_t)(p->triangle_count + p->sphere_count);
    scene->shapes = mote_alloc(ctx, scene->view.shape_count * sizeof *scene->shapes, "scene");
    scene->surfaces = mote_alloc(ctx, p->material_count * sizeof *scene->surfaces, "scene");
    scene->lights = mote_alloc(ctx, photon_scene_light_count(p) * sizeof *scene->lights, "scene");
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
    MOTE_TRY(photon_scene_check(ctx, params));
    mote_scene *scene = mote_alloc_zero(ctx, sizeof *scene, "scene");
    if (scene == NULL) return MOTE_ERROR_MEMORY;
    scene->ctx = ctx;
    scene->camera = params->camera;
    mote_status status = allocate(scene, params);
    if (status == MOTE_OK) {
        copy_shapes(scene, params);
        copy_surfaces(scene, params);
        status = photon_scene_textures(scene, params);
        if (status == MOTE_OK) photon_scene_lights(scene, params);
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
    scene->view.tints = scene->tints;
    status = photon_scene_shares(scene);
    if (status == MOTE_OK) {
        *out = scene;
    } else {
        mote_scene_destroy(scene);
    }
    return status;
}

void mote_scene_destroy(mote_scene *scene) {
    if (scene == NULL) return;
    mote_context *ctx = scene->ctx;
    if (scene->cuda != NULL) mote_gpu_backend->photon->close_scene(scene);
    mote_free(ctx, scene->linear);
    mote_free(ctx, scene->texels);
    mote_free(ctx, scene->textures);
    mote_free(ctx, scene->corners);
    mote_free(ctx, scene->tints);
    mote_free(ctx, scene->lights);
    mote_free(ctx, scene->surfaces);
    mote_free(ctx, scene->nodes);
    mote_free(ctx, scene->shapes);
    mote_free(ctx, scene);
}

mote_camera mote_scene_camera(const mote_scene *scene) { return scene->camera; }

mote_box mote_scene_bounds(const mote_scene *scene) { return scene->bounds; }
