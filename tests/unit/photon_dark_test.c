/* Places that light hardly reaches, or not at all, against the path tracer: behind thin walls, in cupboards, under
   tables, in attics, behind slits. Also rooms that a wall of random direction divides. */
#include <math.h>
#include <mote/mote.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photon/photon_math.h"
#include "reference/photon_reference.h"
#include "support/support.h"

#define SIDE 4u

static const double lit_tolerance = 0.03;   /* of what the path tracer says */
static const double dark_tolerance = 0.005; /* of what it says of the scene's lit region */

/* What a camera sees of a scene. The first region of a scene is a lit one. */
typedef struct region {
    const char *scene, *name;
    double eye[3], target[3], angle_deg;
} region;
static const region regions[] = {
    {"leak", "lit floor", {0.5, 0, 1.5}, {0.5, 0.1, 0}, 40},
    {"leak", "lit foot of the wall", {0.5, -0.2, 0.5}, {0.05, 0, 0}, 15},
    {"leak", "lit back", {0.5, -0.5, 1}, {0.5, 1, 1}, 30},
    {"leak", "dark floor", {-0.5, -0.2, 1.5}, {-0.5, 0, 0}, 40},
    {"leak", "dark foot of the wall", {-0.5, -0.2, 0.5}, {-0.05, 0, 0}, 20},
    {"leak", "dark back", {-0.5, -0.5, 1}, {-0.5, 1, 1}, 40},
    {"cupboard", "room", {0.5, 0, 1.5}, {0.5, 0.1, 0}, 40},
    {"cupboard", "behind it", {-0.4, 0.8, 1.5}, {-0.4, 0, 0}, 25},
    {"cupboard", "bottom", {-0.4, -0.7, 0.8}, {-0.4, -0.6, 0.1}, 60},
    {"cupboard", "back", {-0.4, -0.95, 0.5}, {-0.4, -0.3, 0.5}, 60},
    {"slit", "room", {0.5, 0, 1.5}, {0.5, 0.1, 0}, 40},
    {"slit", "bottom", {-0.4, -0.7, 0.8}, {-0.4, -0.6, 0.1}, 60},
    {"slit", "side", {-0.1, -0.6, 0.4}, {-0.8, -0.6, 0.4}, 60},
    {"low_table", "top", {0, 0.1, 1}, {0, 0, 0.1}, 30},
    {"low_table", "beside it", {0.2, -0.9, 1}, {0.2, -0.85, 0}, 10},
    {"low_table", "under it", {0, 0, 0.09}, {0.05, 0, 0}, 90},
    {"low_table", "under its edge", {0.5, -0.2, 0.05}, {0.6, -0.15, 0}, 60},
    {"attic", "room", {0, 0, 1}, {0, 0.1, 0}, 50},
    {"attic", "floor", {0.4, 0, 1.9}, {0.4, 0.1, 1.2}, 50},
    {"attic", "floor beside the hole", {-0.2, -0.9, 1.9}, {-0.2, -0.4, 1.2}, 30},
    {"attic", "roof", {0.4, 0.1, 1.3}, {0.4, 0, 2}, 50},
    {"attic", "roof above the hole", {-0.45, -0.6, 1.25}, {-0.45, 0, 2}, 30},
};

static mote_camera camera_of(const double eye[3], const double target[3], double angle_deg) {
    mote_camera camera = mote_camera_defaults();
    memcpy(camera.eye, eye, sizeof camera.eye);
    memcpy(camera.target, target, sizeof camera.target);
    camera.angle_rad = angle_deg * PHOTON_PI / 180;
    return camera;
}

/* The mean of a picture; *most: its largest value. */
static double mean_of(mote_scene *scene, mote_photon_map *map, const mote_camera *camera, mote_photon_method method,
                      uint32_t samples, double *most) {
    float rgb[3 * SIDE * SIDE];
    double sum = 0;
    mote_photon_params params = mote_photon_defaults();
    params.method = method;
    params.width = params.height = SIDE;
    params.samples = samples;
    assert_int_equal(mote_photon_render(scene, map, camera, &params, rgb), MOTE_OK);
    *most = 0;
    for (uint32_t i = 0; i < 3 * SIDE * SIDE; i++) {
        sum += (double)rgb[i];
        *most = fmax(*most, (double)rgb[i]);
    }
    return sum / (3 * SIDE * SIDE);
}

static void regions_are_as_the_path_tracer_says(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_scene *scene = NULL;
    mote_photon_map *map = NULL;
    double lit = 0, most;
    for (uint32_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        const region *r = &regions[i];
        const bool is_first = i == 0 || strcmp(r->scene, regions[i - 1].scene) != 0;
        if (is_first) {
            mote_photon_destroy(map);
            mote_scene_destroy(scene);
            assert_int_equal(mote_scene_builtin(ctx, r->scene, &scene), MOTE_OK);
            map = photon_reference_map(scene, 100000, 0);
        }
        const mote_camera camera = camera_of(r->eye, r->target, r->angle_deg);
        const double path = mean_of(scene, NULL, &camera, MOTE_PHOTON_PATH, 48, &most);
        const double full = mean_of(scene, map, &camera, MOTE_PHOTON_FULL, 12, &most);
        if (is_first) lit = path;
        if (fabs(full - path) > fmax(lit_tolerance * path, dark_tolerance * lit)) {
            fail_msg("%s, %s: full %g, path %g, where it is lit %g", r->scene, r->name, full, path, lit);
        }
    }
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* ---- a closed room that a thin wall of any direction divides, with a lamp on one side */

static double next_in(photon_random *random, double low, double high) {
    return low + (high - low) * photon_next(random);
}

static void add_quad(mote_scene_params *p, double *positions, uint32_t *triangles, photon_vec at, photon_vec u,
                     photon_vec v) {
    const photon_vec corners[4] = {at, photon_add(at, u), photon_add(photon_add(at, u), v), photon_add(at, v)};
    const uint32_t first = (uint32_t)p->position_count, places[6] = {0, 1, 2, 0, 2, 3};
    memcpy(positions + 3 * p->position_count, corners, sizeof corners);
    for (uint32_t i = 0; i < 6; i++) triangles[3 * p->triangle_count + i] = first + places[i];
    p->position_count += 4;
    p->triangle_count += 2;
}

/* The wall goes through middle, and the lamp is on the side that its normal points to. */
static mote_scene *divided_room(mote_context *ctx, photon_vec middle, photon_vec normal) {
    double positions[3 * 4 * 7];
    uint32_t triangles[3 * 2 * 7];
    const photon_vec x = photon_vec_of(2, 0, 0), y = photon_vec_of(0, 2, 0), z = photon_vec_of(0, 0, 2);
    const photon_vec low = photon_vec_of(-1, -1, -1), u = photon_around(normal, 0, 0.1), v = photon_cross(normal, u),
                     lamp = photon_along(middle, normal, 0.4);
    const mote_material material = {.color = {0.75, 0.75, 0.75}};
    mote_light light = {.kind = MOTE_LIGHT_POINT, .intensity = {1, 1, 1}};
    mote_scene_params p;
    mote_scene *scene = NULL;
    memset(&p, 0, sizeof p);
    add_quad(&p, positions, triangles, low, x, y);
    add_quad(&p, positions, triangles, low, y, z);
    add_quad(&p, positions, triangles, low, z, x);
    add_quad(&p, positions, triangles, photon_add(low, z), x, y);
    add_quad(&p, positions, triangles, photon_add(low, x), y, z);
    add_quad(&p, positions, triangles, photon_add(low, y), z, x);
    add_quad(&p, positions, triangles, photon_along(photon_along(middle, u, -5), v, -5), photon_scale(u, 10),
             photon_scale(v, 10));
    memcpy(light.position, &lamp, sizeof light.position);
    p.positions = positions;
    p.triangles = triangles;
    p.materials = &material;
    p.material_count = 1;
    p.lights = &light;
    p.light_count = 1;
    p.camera = mote_camera_defaults();
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_OK);
    return scene;
}

/* A camera on one side of the wall that looks at its foot. */
static mote_camera beside_wall(photon_vec middle, photon_vec normal, double side, photon_vec direction) {
    const photon_vec eye = photon_along(middle, normal, 0.3 * side);
    const photon_vec target = photon_along(eye, direction, 1);
    const double from[3] = {eye.x, eye.y, eye.z}, to[3] = {target.x, target.y, target.z};
    return camera_of(from, to, 80);
}

static void no_light_comes_through_walls(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint64_t seed = test_turn(2); seed < 8; seed += 2) {
        photon_random random = photon_random_of(seed, 200, 0);
        const photon_vec middle =
            photon_vec_of(next_in(&random, -0.3, 0.3), next_in(&random, -0.3, 0.3), next_in(&random, -0.3, 0.3));
        const photon_vec normal = photon_around(photon_vec_of(0, 0, 1), next_in(&random, -1, 1), photon_next(&random));
        const photon_vec direction = photon_around(normal, 0, photon_next(&random)); /* along the wall */
        mote_scene *scene = divided_room(ctx, middle, normal);
        mote_photon_map *map = photon_reference_map(scene, 30000, 0);
        const mote_camera lit_side = beside_wall(middle, normal, 1, direction),
                          dark_side = beside_wall(middle, normal, -1, direction);
        double most;
        const double lit = mean_of(scene, map, &lit_side, MOTE_PHOTON_FULL, 4, &most);
        for (int method = MOTE_PHOTON_FULL; method <= MOTE_PHOTON_MAP; method++) {
            const double dark = mean_of(scene, map, &dark_side, (mote_photon_method)method, 4, &most);
            if (!(lit > 0) || dark > dark_tolerance * lit || most > 0.03 * lit) {
                fail_msg("seed %d, method %d: %g, at most %g, behind the wall; %g in front of it", (int)seed, method,
                         dark, most, lit);
            }
        }
        mote_photon_destroy(map);
        mote_scene_destroy(scene);
    }
    mote_context_destroy(ctx);
}

/* ---- a closed hut of many walls on a lit floor, as docs/speed/photon.md has it */

#define HUT_WALLS 64u

static mote_scene *hut_on_floor(mote_context *ctx) {
    double positions[3 * (4 + 4 * HUT_WALLS + 3 * HUT_WALLS)];
    uint32_t triangles[3 * (2 + 2 * HUT_WALLS + HUT_WALLS)];
    const mote_material material = {.color = {0.75, 0.75, 0.75}};
    mote_light light = {.kind = MOTE_LIGHT_POINT, .position = {1.5, 0, 2}, .intensity = {5, 5, 5}};
    mote_scene_params p;
    mote_scene *scene = NULL;
    memset(&p, 0, sizeof p);
    add_quad(&p, positions, triangles, photon_vec_of(-3, -3, 0), photon_vec_of(6, 0, 0), photon_vec_of(0, 6, 0));
    for (uint32_t i = 0; i < HUT_WALLS; i++) {
        const double a = 2 * PHOTON_PI * i / HUT_WALLS, b = 2 * PHOTON_PI * (i + 1) / HUT_WALLS;
        const photon_vec from = photon_vec_of(0.5 * cos(a), 0.5 * sin(a), 0),
                         to = photon_vec_of(0.5 * cos(b), 0.5 * sin(b), 0), up = photon_vec_of(0, 0, 0.8);
        const photon_vec roof[3] = {photon_add(from, up), photon_add(to, up), up};
        add_quad(&p, positions, triangles, from, photon_sub(to, from), up);
        memcpy(positions + 3 * p.position_count, roof, sizeof roof);
        for (uint32_t k = 0; k < 3; k++) triangles[3 * p.triangle_count + k] = (uint32_t)p.position_count + k;
        p.position_count += 3;
        p.triangle_count += 1;
    }
    p.positions = positions;
    p.triangles = triangles;
    p.materials = &material;
    p.material_count = 1;
    p.lights = &light;
    p.light_count = 1;
    p.camera = mote_camera_defaults();
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_OK);
    return scene;
}

static void no_light_comes_into_a_hut(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_scene *scene = hut_on_floor(ctx);
    mote_photon_map *map = photon_reference_map(scene, 100000, 0);
    const double inside_eye[3] = {0, 0.01, 0.75}, inside[3] = {0, 0, 0}, lit_eye[3] = {1.5, 0.01, 0.75},
                 lit_floor[3] = {1.5, 0, 0};
    const mote_camera dark = camera_of(inside_eye, inside, 60), lit = camera_of(lit_eye, lit_floor, 60);
    for (int method = MOTE_PHOTON_FULL; method <= MOTE_PHOTON_MAP; method++) {
        double most, most_lit;
        const double beside = mean_of(scene, map, &lit, (mote_photon_method)method, 8, &most_lit);
        const double within = mean_of(scene, map, &dark, (mote_photon_method)method, 8, &most);
        if (!(beside > 0) || within > 0.006 * beside || most > 0.06 * beside) {
            fail_msg("method %d: %g, at most %g, in the hut; %g beside it", method, within, most, beside);
        }
    }
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* ---- behind slits: a wall close behind a board, which light reaches through a gap of the board

   The photons there are few, and their discs wider than what is lit:

       room, with a lamp   |   wall          gap  of the board: how high it is
                           |  |              behind: how far the wall is from it
            ---------------   |  region      at   where its middle is; 0: the board ends above the floor
                           |  |                                                                             */

typedef struct slit {
    double gap, behind, at;
    double seen; /* height of what is looked at */
} slit;
static const slit slits[] = {
    {0.01, 0.01, 1, 0.1}, {0.003, 0.01, 1, 0.1}, {0.02, 0.005, 0.5, 0.1}, {0.05, 0.05, 1.2, 0.5}, {0.005, 0.02, 0, 0.1},
};

static mote_scene *room_with_slit(mote_context *ctx, const slit *s) {
    double positions[3 * 4 * 8];
    uint32_t triangles[3 * 2 * 8];
    const double low = fmax(s->at - s->gap / 2, 0), high = s->at > 0 ? low + s->gap : s->gap, x = s->behind - 1;
    const photon_vec along = photon_vec_of(2, 0, 0), deep = photon_vec_of(0, 2, 0), up = photon_vec_of(0, 0, 2);
    const mote_material material = {.color = {0.75, 0.75, 0.75}};
    mote_light light = {.kind = MOTE_LIGHT_POINT, .position = {0, 0, 1.9}, .intensity = {1, 1, 1}};
    mote_scene_params p;
    mote_scene *scene = NULL;
    memset(&p, 0, sizeof p);
    add_quad(&p, positions, triangles, photon_vec_of(-1, -1, 0), along, deep);
    add_quad(&p, positions, triangles, photon_vec_of(-1, -1, 2), along, deep);
    add_quad(&p, positions, triangles, photon_vec_of(-1, 1, 0), along, up);
    add_quad(&p, positions, triangles, photon_vec_of(-1, -1, 0), deep, up);
    add_quad(&p, positions, triangles, photon_vec_of(1, -1, 0), deep, up);
    if (low > 0) add_quad(&p, positions, triangles, photon_vec_of(x, -1, 0), deep, photon_vec_of(0, 0, low));
    add_quad(&p, positions, triangles, photon_vec_of(x, -1, high), deep, photon_vec_of(0, 0, 2 - high));
    p.positions = positions;
    p.triangles = triangles;
    p.materials = &material;
    p.material_count = 1;
    p.lights = &light;
    p.light_count = 1;
    p.camera = mote_camera_defaults();
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_OK);
    return scene;
}

/* What lies straight ahead of a place, a square. */
static mote_camera square_at(double x, double z, double direction, double side) {
    const double eye[3] = {x, 0, z}, target[3] = {x + direction, 0, z};
    mote_camera camera = camera_of(eye, target, 40);
    camera.projection = MOTE_ORTHOGRAPHIC;
    camera.height = side;
    return camera;
}

static void walls_behind_slits_are_as_the_path_tracer_says(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint32_t i = 0; i < sizeof slits / sizeof slits[0]; i++) {
        const slit *s = &slits[i];
        mote_scene *scene = room_with_slit(ctx, s);
        mote_photon_map *map = photon_reference_map(scene, 200000, 0);
        const double middle = s->at > 0 ? s->at : s->seen / 2;
        const mote_camera lit = square_at(0, 1, 1, 0.5), dark = square_at(s->behind / 2 - 1, middle, -1, s->seen);
        double most;
        const double bright = mean_of(scene, NULL, &lit, MOTE_PHOTON_PATH, 40, &most);
        const double path = mean_of(scene, NULL, &dark, MOTE_PHOTON_PATH, 120, &most);
        const double full = mean_of(scene, map, &dark, MOTE_PHOTON_FULL, 24, &most);
        if (fabs(full - path) > fmax(lit_tolerance * path, dark_tolerance * bright)) {
            fail_msg("gap %g, wall %g behind: full %g, path %g, where it is lit %g", s->gap, s->behind, full, path,
                     bright);
        }
        mote_photon_destroy(map);
        mote_scene_destroy(scene);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* All regions, with less noise: the table of docs/speed/photon.md. */
static void print_table(void) {
    mote_context *ctx = test_context(2);
    double lit = 0, most;
    printf("| region | `path` | `full` | `map` | `full` is off by |\n|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        const region *r = &regions[i];
        mote_scene *scene = NULL;
        assert_int_equal(mote_scene_builtin(ctx, r->scene, &scene), MOTE_OK);
        mote_photon_map *map = photon_reference_map(scene, 200000, 0);
        const mote_camera camera = camera_of(r->eye, r->target, r->angle_deg);
        const double path = mean_of(scene, NULL, &camera, MOTE_PHOTON_PATH, 250, &most);
        const double full = mean_of(scene, map, &camera, MOTE_PHOTON_FULL, 48, &most);
        const double direct = mean_of(scene, map, &camera, MOTE_PHOTON_MAP, 48, &most);
        if (i == 0 || strcmp(r->scene, regions[i - 1].scene) != 0) lit = path;
        printf("| `%s`, %s | %.5f | %.5f | %.5f | %.2f %%, %.2f %% of lit |\n", r->scene, r->name, path, full, direct,
               path > 0 ? 100 * (full / path - 1) : 0, 100 * (full - path) / lit);
        fflush(stdout);
        mote_photon_destroy(map);
        mote_scene_destroy(scene);
    }
    mote_context_destroy(ctx);
}

/* photon_dark_test table: prints it. */
int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "table") == 0) {
        print_table();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_as_the_path_tracer_says),
        cmocka_unit_test(no_light_comes_through_walls),
        cmocka_unit_test(no_light_comes_into_a_hut),
        cmocka_unit_test(walls_behind_slits_are_as_the_path_tracer_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
