/* Scenes: their lights. */
#include <float.h>

#include "device/backend.h"
#include "photon/photon_ops.h"
#include "photon/scene/photon_scene_parts.h"

static void add_light(mote_scene *scene, const photon_light *light) {
    photon_view *view = &scene->view;
    if (!(light->power > 0 && light->power <= DBL_MAX)) return;
    photon_light *to = &scene->lights[view->light_count++];
    *to = *light;
    to->power_before = view->power;
    view->power += light->power;
}

/* ---- triangles that shine */

#define TEXELS_PER_PART 0.5  /* along a side of the parts of a triangle of which the mean is made */
#define MAX_PARTS       256u /* along a side */

/* How many parts a side of a triangle has, so that no texel of its texture is passed over. */
static uint32_t parts_of(const mote_scene *scene, const photon_surface *surface, uint64_t i) {
    const photon_texture *const texture = &scene->textures[surface->emission_texture];
    const photon_corners *const at = &scene->corners[i];
    double longest = 0;
    for (int j = 0; j < 3; j++) {
        const int k = (j + 1) % 3;
        longest = fmax(longest, fabs((double)at->u[j] - (double)at->u[k]) * texture->width);
        longest = fmax(longest, fabs((double)at->v[j] - (double)at->v[k]) * texture->height);
    }
    const double parts = ceil(longest / TEXELS_PER_PART);
    return parts < 1 ? 1 : parts < MAX_PARTS ? (uint32_t)parts : MAX_PARTS;
}

/* The mean radiance of a triangle: of the middles of n · n parts of it, in rows along its first side. */
static photon_vec mean_emission(const mote_scene *scene, const photon_surface *surface, uint64_t i) {
    if (surface->emission_texture == PHOTON_NO_TEXTURE) return surface->emission;
    const uint32_t n = parts_of(scene, surface, i);
    photon_vec sum = photon_vec_of(0, 0, 0);
    for (uint32_t row = 0; row < n; row++) {
        for (uint32_t k = 0; k < 2 * (n - row) - 1; k++) { /* each second part stands on its tip */
            const uint32_t column = k / 2;
            const double third = k % 2 == 0 ? 1.0 / 3 : 2.0 / 3;
            const double b = (column + third) / n, c = (row + third) / n;
            sum =
                photon_add(sum, photon_emission_of(&scene->view, surface, (uint32_t)i, photon_vec_of(1 - b - c, b, c)));
        }
    }
    return photon_scale(sum, 1.0 / ((double)n * n));
}

static void add_area_lights(mote_scene *scene, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->triangle_count; i++) {
        const photon_shape *shape = &scene->shapes[i];
        const photon_surface *surface = &scene->surfaces[shape->material];
        photon_light light;
        if (!surface->shines) continue;
        memset(&light, 0, sizeof light);
        light.a = shape->a;
        light.b = shape->b;
        light.c = shape->c;
        light.strength = mean_emission(scene, surface, i);
        light.kind = PHOTON_LIGHT_AREA;
        const photon_vec cross = photon_cross(photon_sub(shape->b, shape->a), photon_sub(shape->c, shape->a));
        light.power = PHOTON_PI * 0.5 * photon_length(cross) * photon_sum(light.strength);
        add_light(scene, &light);
        if (!surface->shines_on_both) continue;
        light.b = shape->c;
        light.c = shape->b;
        add_light(scene, &light);
    }
}

/* ---- lights without a surface */

/* The cosine of an angle in [0, pi]; the C library's differs from machine to machine. */
static double cosine_of(double angle_rad) {
    double sine, cosine;
    photon_turn(angle_rad / (2 * PHOTON_PI), &sine, &cosine);
    return cosine;
}

/* The ramp of a spot light is never narrower than this (KHR_lights_punctual). */
#define SPOT_RAMP 0.001

static void make_spot(photon_light *light, const mote_light *from) {
    light->cos_outer = cosine_of(from->outer_rad);
    light->cos_inner = fmin(fmax(cosine_of(from->inner_rad), light->cos_outer + SPOT_RAMP), 1);
    const double solid = (1 - light->cos_inner) + (light->cos_inner - light->cos_outer) / 3;
    light->power = 2 * PHOTON_PI * solid * photon_sum(light->strength);
}

/* A ball around all shapes: its middle, and its radius, with some room. */
static photon_vec ball_of(const mote_scene *scene, double *radius) {
    photon_vec low = photon_vec_of(INFINITY, INFINITY, INFINITY), high = photon_scale(low, -1);
    for (uint32_t i = 0; i < scene->view.shape_count; i++) {
        const photon_shape *s = &scene->shapes[i];
        const photon_vec corners[3] = {s->a, s->is_sphere ? s->a : s->b, s->is_sphere ? s->a : s->c};
        const double r = s->is_sphere ? s->b.x : 0;
        for (int k = 0; k < 3; k++) {
            low.x = photon_min(low.x, corners[k].x - r);
            low.y = photon_min(low.y, corners[k].y - r);
            low.z = photon_min(low.z, corners[k].z - r);
            high.x = photon_max(high.x, corners[k].x + r);
            high.y = photon_max(high.y, corners[k].y + r);
            high.z = photon_max(high.z, corners[k].z + r);
        }
    }
    *radius = 0;
    if (scene->view.shape_count == 0) return photon_vec_of(0, 0, 0);
    *radius = 1.001 * 0.5 * photon_length(photon_sub(high, low));
    return photon_scale(photon_add(low, high), 0.5);
}

/* Power is of what goes through the ball: a disc of it in each direction. */
static void make_afar(mote_scene *scene, photon_light *light) {
    double radius;
    light->a = ball_of(scene, &radius);
    light->c.x = radius;
    light->power = PHOTON_PI * radius * radius * photon_sum(light->strength);
    if (light->kind == PHOTON_LIGHT_DIRECTIONAL) return;
    light->power *= 2 * PHOTON_PI; /* the mean over the whole sphere is one half */
    scene->view.has_sky = photon_sum(light->strength) > 0;
    scene->view.sky = light->strength;
    scene->view.sky_up = photon_scale(light->b, -1);
}

static void add_other_light(mote_scene *scene, const mote_light *from) {
    static const uint32_t kinds[] = {PHOTON_LIGHT_POINT, PHOTON_LIGHT_SPOT, PHOTON_LIGHT_DIRECTIONAL, PHOTON_LIGHT_SKY};
    photon_light light;
    memset(&light, 0, sizeof light);
    light.kind = kinds[from->kind];
    light.a = photon_vec_from(from->position);
    light.b = photon_vec_of(0, 0, 1);
    light.strength = photon_vec_from(from->intensity);
    light.cos_inner = light.cos_outer = -1;
    if (light.kind == PHOTON_LIGHT_POINT) {
        light.power = 4 * PHOTON_PI * photon_sum(light.strength);
    } else {
        light.b = photon_unit(photon_vec_from(from->direction));
    }
    if (light.kind == PHOTON_LIGHT_SPOT) make_spot(&light, from);
    if (light.kind >= PHOTON_LIGHT_DIRECTIONAL) make_afar(scene, &light);
    add_light(scene, &light);
}

uint64_t photon_scene_light_count(const mote_scene_params *p) {
    uint64_t count = p->light_count;
    for (uint64_t i = 0; i < p->triangle_count; i++) {
        const mote_material *m = &p->materials[p->triangle_materials != NULL ? p->triangle_materials[i] : 0];
        if (m->emission[0] > 0 || m->emission[1] > 0 || m->emission[2] > 0) count += m->shines_on_both ? 2 : 1;
    }
    return count;
}

void photon_scene_lights(mote_scene *scene, const mote_scene_params *p) {
    add_area_lights(scene, p);
    for (uint64_t i = 0; i < p->light_count; i++) add_other_light(scene, &p->lights[i]);
}

/* ---- of a scene that has none of its own */

/* The key light gives what faces it about twice what the sky gives from above. */
static const double sky_radiance[3] = {0.50, 0.56, 0.64}, key_light[3] = {3.2, 3.0, 2.7};

/* The axis that a direction is nearest to. */
static photon_vec axis_near(photon_vec v) {
    const double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z);
    if (x > y && x > z) return photon_vec_of(v.x < 0 ? -1 : 1, 0, 0);
    if (y >= z) return photon_vec_of(0, v.y < 0 ? -1 : 1, 0);
    return photon_vec_of(0, 0, v.z < 0 ? -1 : 1);
}

/* Over the left shoulder of who looks, and from above. */
static photon_vec key_direction(const mote_camera *camera, photon_vec up) {
    const photon_vec look = photon_sub(photon_vec_from(camera->target), photon_vec_from(camera->eye));
    photon_vec ahead = photon_unit(photon_along(look, up, -photon_dot(look, up)));
    if (!(photon_length(ahead) > 0)) ahead = photon_unit(photon_vec_from(camera->up)); /* it looks straight down */
    const photon_vec right = photon_cross(ahead, up);
    return photon_unit(photon_along(photon_along(photon_scale(ahead, 0.6), right, 0.5), up, -1));
}

mote_status mote_scene_add_default_light(mote_scene *scene, const mote_camera *camera) {
    mote_context *const ctx = scene->ctx;
    if (scene->view.has_sky) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the scene has a sky");
    photon_light *const lights = mote_alloc(ctx, (scene->view.light_count + 2ull) * sizeof *lights, "scene");
    if (lights == NULL) return MOTE_ERROR_MEMORY;
    memcpy(lights, scene->lights, scene->view.light_count * sizeof *lights);
    if (scene->cuda != NULL) mote_gpu_backend->photon->close_scene(scene); /* a copy without these */
    mote_free(ctx, scene->lights);
    scene->lights = lights;
    scene->view.lights = lights;
    const photon_vec up = axis_near(photon_vec_from(camera->up)), key = key_direction(camera, up);
    mote_light sky = {.kind = MOTE_LIGHT_SKY, .direction = {-up.x, -up.y, -up.z}};
    mote_light sun = {.kind = MOTE_LIGHT_DIRECTIONAL, .direction = {key.x, key.y, key.z}};
    memcpy(sky.intensity, sky_radiance, sizeof sky_radiance);
    memcpy(sun.intensity, key_light, sizeof key_light);
    add_other_light(scene, &sky);
    add_other_light(scene, &sun);
    return photon_scene_shares(scene);
}
