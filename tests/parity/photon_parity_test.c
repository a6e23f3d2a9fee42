/* Photon maps, what is gathered from them, and pictures of the GPU are those of the CPU, byte for byte. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mote/photon.h"
#include "parity/parity_support.h"

static void must(mote_context *ctx, mote_status status, const char *what) {
    if (status != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
}

static bool same_bits(float a, float b) {
    uint32_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

/* ---- scenes: built in, and small ones that are awkward */

#define MAX_TRIANGLES 4000

enum { GREY, BRIGHT, LAMP, GLASS, SHEET, MASKED, BLENDED, UNLIT, SCREEN, MATERIALS };

typedef struct small_scene {
    double positions[9 * MAX_TRIANGLES];
    uint32_t triangles[3 * MAX_TRIANGLES], materials_of[MAX_TRIANGLES];
    uint32_t count;
    mote_material materials[MATERIALS];
    mote_sphere spheres[2];
    mote_light lights[2];
    uint8_t texels[3 * 3 * 2], alpha[3 * 2];
    float colors[4 * 3 * MAX_TRIANGLES];
    mote_texture texture;
    float coordinates[6 * MAX_TRIANGLES];
    mote_scene_params params;
} small_scene;

static small_scene *scene_begin(void) {
    small_scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int i = 0; i < MATERIALS; i++) {
        for (int k = 0; k < 3; k++) s->materials[i].color[k] = i == BRIGHT ? 0.93 : i == GLASS ? 1 : 0.4 + 0.1 * k;
    }
    for (int k = 0; k < 3; k++) s->materials[LAMP].emission[k] = 2 + k;
    s->materials[GLASS].kind = MOTE_MATERIAL_GLASS;
    s->materials[GLASS].refraction = 1.5;
    s->params.camera = mote_camera_defaults();
    const double eye[3] = {0.3, -4, 1.6};
    memcpy(s->params.camera.eye, eye, sizeof eye);
    return s;
}

static void add_triangle(small_scene *s, const double a[3], const double b[3], const double c[3], uint32_t material) {
    double *const to = s->positions + 9 * (size_t)s->count;
    memcpy(to, a, 24);
    memcpy(to + 3, b, 24);
    memcpy(to + 6, c, 24);
    for (uint32_t j = 0; j < 3; j++) s->triangles[3 * s->count + j] = 3 * s->count + j;
    s->materials_of[s->count++] = material;
}

static void add_light(small_scene *s, mote_light_kind kind, double x, double y, double z) {
    mote_light *light = &s->lights[s->params.light_count++];
    const double at[3] = {x, y, z};
    light->kind = kind;
    memcpy(light->position, at, sizeof at);
    light->direction[0] = 0.2;
    light->direction[2] = -1;
    light->inner_rad = 0.3;
    light->outer_rad = 1.1;
    for (int k = 0; k < 3; k++) light->intensity[k] = 1 + k;
}

/* A texture over all grey triangles, also beyond its edges. */
static void add_texture(small_scene *s) {
    for (uint32_t i = 0; i < sizeof s->texels; i++) s->texels[i] = (uint8_t)(i * 83 + 20);
    for (uint32_t i = 0; i < 6 * s->count; i++) s->coordinates[i] = 0.37f * (float)(i % 13) - 1.5f;
    s->texture.srgb = s->texels;
    s->texture.width = 3;
    s->texture.height = 2;
    s->texture.wrap_v = MOTE_TEXTURE_MIRROR;
    s->materials[GREY].texture = 1;
    s->params.textures = &s->texture;
    s->params.texture_count = 1;
    s->params.texture_coordinates = s->coordinates;
}

static mote_scene *scene_end(mote_context *ctx, small_scene *s) {
    mote_scene *scene = NULL;
    s->params.positions = s->positions;
    s->params.position_count = 3ull * s->count;
    s->params.triangles = s->triangles;
    s->params.triangle_materials = s->materials_of;
    s->params.triangle_count = s->count;
    s->params.spheres = s->spheres;
    s->params.materials = s->materials;
    s->params.material_count = MATERIALS;
    s->params.lights = s->lights;
    must(ctx, mote_scene_create(ctx, &s->params, &scene), "a scene");
    free(s);
    return scene;
}

/* A patch of z = height, facing up or down. */
static void add_patch(small_scene *s, double height, double size, bool down, uint32_t material) {
    const double a[3] = {-size, -size, height}, b[3] = {size, -size, height}, c[3] = {size, size, height},
                 d[3] = {-size, size, height};
    add_triangle(s, a, down ? c : b, down ? b : c, material);
    add_triangle(s, a, down ? d : c, down ? c : d, material);
}

static mote_scene *open_scene_of(mote_context *ctx) {
    small_scene *s = scene_begin();
    add_patch(s, 0, 2, false, GREY);
    add_patch(s, 1.5, 0.3, true, LAMP);
    add_patch(s, 0.5, 0.6, false, BRIGHT);
    add_light(s, MOTE_LIGHT_SPOT, 0.4, 0.2, 3);
    add_light(s, MOTE_LIGHT_POINT, -1, -1, 1);
    add_texture(s);
    s->params.sphere_count = 1;
    s->spheres[0].radius = 0.4;
    s->spheres[0].center[0] = 1;
    s->spheres[0].center[2] = 0.7;
    s->spheres[0].material = GLASS;
    return scene_end(ctx, s);
}

/* Light from afar, textures with alpha, colours of corners, screens that shine on both sides, sheets of glass, and what
   is shown without light. */
static mote_scene *all_of_gltf(mote_context *ctx) {
    small_scene *s = scene_begin();
    add_patch(s, 0, 2, false, GREY);
    add_patch(s, 0.4, 0.7, false, MASKED);
    add_patch(s, 0.6, 0.6, true, BLENDED);
    add_patch(s, 0.8, 0.5, false, SHEET);
    add_patch(s, 1.2, 0.3, true, UNLIT);
    add_patch(s, 1.5, 0.3, true, SCREEN);
    for (int i = 0; i < 12 * (int)s->count; i++) s->colors[i] = (float)(i * 37 % 101) / 100;
    s->params.colors = s->colors;
    add_light(s, MOTE_LIGHT_SKY, 0, 0, 0);
    add_light(s, MOTE_LIGHT_DIRECTIONAL, 0, 0, 0);
    add_texture(s);
    for (int i = 0; i < 6; i++) s->alpha[i] = (uint8_t)(i * 50);
    s->texture.alpha = s->alpha;
    s->materials[SHEET].kind = MOTE_MATERIAL_GLASS;
    s->materials[SHEET].refraction = 1.5;
    s->materials[SHEET].thin = true;
    s->materials[MASKED].texture = s->materials[BLENDED].texture = 1;
    s->materials[MASKED].alpha = MOTE_ALPHA_MASK;
    s->materials[MASKED].alpha_cutoff = 0.3f;
    s->materials[MASKED].opacity = s->materials[BLENDED].opacity = 0.9f;
    s->materials[BLENDED].alpha = MOTE_ALPHA_BLEND;
    s->materials[UNLIT].kind = MOTE_MATERIAL_UNLIT;
    s->materials[SCREEN].emission_texture = 1;
    s->materials[SCREEN].shines_on_both = true;
    for (int k = 0; k < 3; k++) s->materials[SCREEN].emission[k] = 3 - k;
    return scene_end(ctx, s);
}

static mote_scene *one_triangle(mote_context *ctx) {
    small_scene *s = scene_begin();
    const double a[3] = {-1, -1, 0}, b[3] = {1, -1, 0}, c[3] = {0, 1.5, 0};
    add_triangle(s, a, b, c, GREY);
    add_light(s, MOTE_LIGHT_POINT, 0, 0, 1);
    return scene_end(ctx, s);
}

static mote_scene *nothing_at_all(mote_context *ctx) {
    small_scene *s = scene_begin();
    add_light(s, MOTE_LIGHT_POINT, 0, 0, 1);
    return scene_end(ctx, s);
}

static mote_scene *no_light(mote_context *ctx) {
    small_scene *s = scene_begin();
    add_patch(s, 0, 2, false, GREY);
    return scene_end(ctx, s);
}

/* The light is in the plane of a patch, and another between two that touch. */
static mote_scene *light_in_wall(mote_context *ctx) {
    small_scene *s = scene_begin();
    add_patch(s, 0, 2, false, GREY);
    add_patch(s, 0, 2, true, GREY);
    add_patch(s, 1, 2, true, BRIGHT);
    add_light(s, MOTE_LIGHT_POINT, 0.1, 0.2, 0);
    add_light(s, MOTE_LIGHT_SPOT, 0, 0, 1);
    return scene_end(ctx, s);
}

/* A closed box of walls that keep 0.93 of the light: more records than the GPU keeps in its first pass. */
static mote_scene *bright_box(mote_context *ctx) {
    small_scene *s = scene_begin();
    for (int k = 0; k < 3; k++) {
        for (int side = -1; side <= 1; side += 2) {
            double p[4][3];
            for (int j = 0; j < 4; j++) {
                p[j][k] = side;
                p[j][(k + 1) % 3] = j == 0 || j == 3 ? -1 : 1;
                p[j][(k + 2) % 3] = j < 2 ? -1 : 1;
            }
            add_triangle(s, p[0], p[1], p[2], BRIGHT);
            add_triangle(s, p[0], p[2], p[3], BRIGHT);
        }
    }
    add_light(s, MOTE_LIGHT_POINT, 0.2, 0.1, 0.3);
    return scene_end(ctx, s);
}

/* Many triangles over a wavy ground, some without area, with holes, some facing down. */
static mote_scene *many_triangles(mote_context *ctx) {
    small_scene *s = scene_begin();
    const uint32_t side = 40;
    for (uint32_t y = 0; y < side; y++) {
        for (uint32_t x = 0; x < side; x++) {
            double p[4][3];
            if ((x * 7 + y * 13) % 29 == 0) continue;
            for (uint32_t j = 0; j < 4; j++) {
                const uint32_t at_x = x + (j == 1 || j == 2), at_y = y + (j > 1);
                p[j][0] = 0.1 * at_x - 2;
                p[j][1] = 0.1 * at_y - 2;
                p[j][2] = 0.05 * ((at_x * at_x + 3 * at_y) % 5);
            }
            add_triangle(s, p[0], p[(x + y) % 11 == 0 ? 2 : 1], p[(x + y) % 11 == 0 ? 1 : 2], GREY);
            add_triangle(s, p[0], p[2], (x + y) % 17 == 0 ? p[2] : p[3], BRIGHT);
        }
    }
    add_light(s, MOTE_LIGHT_SPOT, 0, 0, 2);
    return scene_end(ctx, s);
}

/* A light whose photons meet the ground in places that floats hardly tell apart, many in one place, and a wide one. */
static mote_scene *needle(mote_context *ctx) {
    small_scene *s = scene_begin();
    add_patch(s, 0, 2, false, GREY);
    add_light(s, MOTE_LIGHT_SPOT, 0.4, 0.2, 3);
    s->lights[0].inner_rad = 2e-7;
    s->lights[0].outer_rad = 4e-7;
    for (int k = 0; k < 3; k++) s->lights[0].intensity[k] = 3e12;
    add_light(s, MOTE_LIGHT_SPOT, -0.4, 0.2, 2);
    return scene_end(ctx, s);
}

typedef struct scene_row {
    const char *name;
    mote_scene *(*make)(mote_context *ctx); /* NULL: built in */
} scene_row;
static const scene_row scenes[] = {{"cornell", NULL},
                                   {"leak", NULL},
                                   {"open scene", open_scene_of},
                                   {"one triangle", one_triangle},
                                   {"nothing", nothing_at_all},
                                   {"no light", no_light},
                                   {"light in a wall", light_in_wall},
                                   {"bright box", bright_box},
                                   {"many triangles", many_triangles},
                                   {"needle", needle},
                                   {"all of glTF", all_of_gltf},
                                   {"ring", NULL},
                                   {"furnace", NULL},
                                   {"cornell-empty", NULL},
                                   {"attic", NULL},
                                   {"slit", NULL}};
#define SCENES (sizeof scenes / sizeof scenes[0])

static mote_scene *make_scene(mote_context *ctx, const scene_row *row) {
    mote_scene *scene = NULL;
    if (row->make != NULL) return row->make(ctx);
    must(ctx, mote_scene_builtin(ctx, row->name, &scene), row->name);
    return scene;
}

/* ---- a scene and its map on both */

typedef struct lit_scene {
    mote_context *ctx;
    mote_scene *scene;
    mote_photon_map *map;
} lit_scene;

static lit_scene light_scene(mote_context *ctx, const scene_row *row, uint64_t photons, uint64_t seed) {
    lit_scene lit = {ctx, make_scene(ctx, row), NULL};
    mote_photon_emission emission = mote_photon_emission_defaults();
    emission.photons = photons;
    emission.seed = seed;
    must(ctx, mote_photon_emit(lit.scene, &emission, &lit.map), row->name);
    return lit;
}

static void put_out(lit_scene *lit) {
    mote_photon_destroy(lit->map);
    mote_scene_destroy(lit->scene);
}

/* ---- maps */

static void compare_maps(parity_pair *pair, const scene_row *row, uint64_t photons) {
    if (!parity_is_mine()) return;
    lit_scene cpu = light_scene(pair->cpu, row, photons, photons),
              cuda = light_scene(pair->cuda, row, photons, photons);
    const mote_photon_facts a = mote_photon_map_facts(cpu.map), b = mote_photon_map_facts(cuda.map);
    uint64_t hash_a, hash_b;
    assert_memory_equal(&a, &b, sizeof a);
    must(pair->cpu, mote_cloud_hash(pair->cpu, mote_photon_cloud(cpu.map), &hash_a), row->name);
    must(pair->cuda, mote_cloud_hash(pair->cuda, mote_photon_cloud(cuda.map), &hash_b), row->name);
    if (hash_a != hash_b) fail_msg("%s, %llu photons: the maps differ", row->name, (unsigned long long)photons);
    put_out(&cuda);
    put_out(&cpu);
}

static void maps_are_the_same(void **state) {
    static const uint64_t sizes[] = {1, 31, 33, 129, 2000, 20000};
    const uint64_t count = parity_extent(4, 5, sizeof sizes / sizeof sizes[0]);
    for (uint32_t i = 0; i < SCENES; i++) {
        for (uint64_t j = i % 2; j < count; j++) compare_maps(*state, &scenes[i], sizes[j]);
    }
    if (parity_extent(0, 0, 1) != 0) compare_maps(*state, &scenes[0], 1200000); /* more than one batch */
}

/* ---- gathering */

/* Queries on the photons of a map and off them, with normals of all kinds. */
static mote_cloud *make_queries(mote_context *ctx, const mote_cloud *photons, mote_type type, uint64_t count,
                                uint8_t *memory) {
    static const char *const names[] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    mote_column columns[6];
    mote_cloud *cloud = NULL;
    const uint64_t known = mote_cloud_count(photons);
    memset(columns, 0, sizeof columns);
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < 6; k++) {
            double value = known > 0 ? mote_column_value(mote_cloud_find(photons, names[k]), i * 37 % known) : 0.1 * k;
            if (k < 3) value += i % 3 == 0 ? 0 : 0.01 * (double)((i * 7 + k) % 11);
            if (k >= 3 && i % 7 == 0) value = i % 2 == 0 ? 0 : -value;
            if (i == 5 && k == 1) value = NAN;
            if (type == MOTE_FLOAT32) {
                const float narrow = (float)value;
                memcpy(memory + 4 * (6 * i + k), &narrow, 4);
            } else {
                memcpy(memory + 8 * (6 * i + k), &value, 8);
            }
        }
    }
    for (uint32_t k = 0; k < 6; k++) {
        columns[k].name = names[k];
        columns[k].type = type;
        columns[k].data = memory + mote_type_size(type) * k;
        columns[k].stride_bytes = 6ull * mote_type_size(type);
    }
    must(ctx, mote_cloud_wrap(ctx, count, columns, 6, &cloud), "queries");
    return cloud;
}

static void compare_gathering(const lit_scene *cpu, const lit_scene *cuda, mote_type type, uint64_t count,
                              const mote_photon_gathering *g, const char *name) {
    if (!parity_is_mine()) return;
    uint8_t *memory = malloc(count * 48 + 1);
    float *one = malloc(count * 12 + 12), *other = malloc(count * 12 + 12);
    assert_non_null(memory);
    assert_non_null(one);
    assert_non_null(other);
    memset(one, 0x5A, count * 12 + 12);
    memset(other, 0x5A, count * 12 + 12);
    mote_cloud *queries = make_queries(cpu->ctx, mote_photon_cloud(cpu->map), type, count, memory);
    must(cpu->ctx, mote_photon_gather(cpu->map, queries, g, one), name);
    must(cuda->ctx, mote_photon_gather(cuda->map, queries, g, other), name);
    for (uint64_t i = 0; i < 3 * count + 3; i++) {
        if (same_bits(one[i], other[i])) continue;
        fail_msg("%s, k %u, compression %g, radius %g, filter %d: query %llu is %.9g, on the CPU %.9g", name, g->k,
                 g->compression, g->radius, (int)g->filter, (unsigned long long)i / 3, (double)other[i],
                 (double)one[i]);
    }
    mote_cloud_destroy(queries);
    free(other);
    free(one);
    free(memory);
}

static const mote_photon_gathering gatherings[] = {
    {.k = 20, .compression = 4, .filter = MOTE_PHOTON_FILTER_CONE},
    {.k = 2, .compression = 1},
    {.k = 64, .compression = 1, .filter = MOTE_PHOTON_FILTER_CONE, .area = MOTE_PHOTON_AREA_DISC},
    {.k = 33, .compression = 2.5, .radius = 0.2, .filter = MOTE_PHOTON_FILTER_EPANECHNIKOV},
    {.k = 7, .compression = 1, .radius = 0.05, .filter = MOTE_PHOTON_FILTER_NONE},
    {.k = 300, .compression = 7, .filter = MOTE_PHOTON_FILTER_CONE, .area = MOTE_PHOTON_AREA_DISC},
    {.k = 200, .compression = 3, .filter = MOTE_PHOTON_FILTER_EPANECHNIKOV},
    {.k = 1024, .compression = 1, .radius = 1, .filter = MOTE_PHOTON_FILTER_CONE},
    {.k = 64, .compression = 4, .filter = MOTE_PHOTON_FILTER_NONE},
    {.k = 97, .compression = 30, .radius = 0.3, .filter = MOTE_PHOTON_FILTER_CONE, .area = MOTE_PHOTON_AREA_DISC},
    {.k = 288, .compression = 4, .filter = MOTE_PHOTON_FILTER_CONE},
    {.k = 576, .compression = 2, .filter = MOTE_PHOTON_FILTER_EPANECHNIKOV, .area = MOTE_PHOTON_AREA_DISC},
};
#define GATHERINGS (sizeof gatherings / sizeof gatherings[0])

static void gathered_light_is_the_same(void **state) {
    const parity_pair *pair = *state;
    const uint64_t photons = parity_extent(1200, 1500, 40000), count = parity_extent(70, 200, 4000);
    const uint64_t last = parity_extent(4, SCENES, SCENES), step = parity_extent(4, 2, 1);
    for (uint32_t i = 0; i < last; i++) {
        lit_scene cpu = light_scene(pair->cpu, &scenes[i], photons, 1),
                  cuda = light_scene(pair->cuda, &scenes[i], photons, 1);
        for (uint32_t j = i % step; j < GATHERINGS; j += (uint32_t)step) {
            const mote_type type = (i + j) % 3 == 2 ? MOTE_FLOAT64 : MOTE_FLOAT32;
            compare_gathering(&cpu, &cuda, type, j == 0 ? 1 : count, &gatherings[j], scenes[i].name);
        }
        put_out(&cuda);
        put_out(&cpu);
    }
}

/* So many queries that they go in larger groups, and groups one after the other. */
static void many_queries_find_the_same(void **state) {
    static const mote_photon_gathering many[] = {
        {.k = 64, .compression = 4, .filter = MOTE_PHOTON_FILTER_CONE},
        {.k = 24, .compression = 1, .filter = MOTE_PHOTON_FILTER_NONE},
        {.k = 150, .compression = 4, .radius = 0.15, .filter = MOTE_PHOTON_FILTER_EPANECHNIKOV}};
    const parity_pair *pair = *state;
    const uint64_t photons = parity_extent(1300, 20000, 100000);
    const uint64_t counts[] = {parity_extent(100, 33000, 140000), parity_extent(100, 100, 20000),
                               parity_extent(100, 16500, 20000)};
    lit_scene cpu = light_scene(pair->cpu, &scenes[0], photons, 2),
              cuda = light_scene(pair->cuda, &scenes[0], photons, 2);
    for (uint32_t j = 0; j < sizeof many / sizeof many[0]; j++) {
        compare_gathering(&cpu, &cuda, MOTE_FLOAT32, counts[j], &many[j], "many queries");
    }
    put_out(&cuda);
    put_out(&cpu);
}

/* ---- pictures */

static void compare_pictures(parity_pair *pair, const scene_row *row, mote_photon_method method, uint32_t samples) {
    if (!parity_is_mine()) return;
    const uint32_t width = (uint32_t)parity_extent(7, 13, 64), height = (uint32_t)parity_extent(5, 9, 48);
    lit_scene cpu = light_scene(pair->cpu, row, parity_extent(200, 1500, 10000), 3),
              cuda = light_scene(pair->cuda, row, parity_extent(200, 1500, 10000), 3);
    float *one = calloc(3ull * width * height, sizeof *one), *other = calloc(3ull * width * height, sizeof *other);
    mote_photon_params params = mote_photon_defaults();
    const mote_camera camera = mote_scene_camera(cpu.scene);
    params.method = method;
    params.width = width;
    params.height = height;
    params.samples = samples;
    params.gather_rays = 3;
    params.gathering.k = 24;
    assert_non_null(one);
    assert_non_null(other);
    must(pair->cpu, mote_photon_render(cpu.scene, cpu.map, &camera, &params, one), row->name);
    must(pair->cuda, mote_photon_render(cuda.scene, cuda.map, &camera, &params, other), row->name);
    for (uint32_t i = 0; i < 3 * width * height; i++) {
        if (same_bits(one[i], other[i])) continue;
        fail_msg("%s, method %d: pixel %u, %u is %.9g, on the CPU %.9g", row->name, (int)method, i / 3 % width,
                 i / 3 / width, (double)other[i], (double)one[i]);
    }
    free(other);
    free(one);
    put_out(&cuda);
    put_out(&cpu);
}

static void pictures_are_the_same(void **state) {
    const uint64_t last = parity_extent(2, SCENES, SCENES);
    for (uint32_t i = 0; i < last; i++) {
        for (int method = MOTE_PHOTON_FULL; method <= MOTE_PHOTON_PATH; method++) {
            compare_pictures(*state, &scenes[i], (mote_photon_method)method, 1 + (i + (uint32_t)method) % 3);
        }
    }
}

/* A scene that both a map and pictures without one are made of, in one context. */
static void a_scene_needs_no_map(void **state) {
    const parity_pair *pair = *state;
    mote_scene *scene = make_scene(pair->cuda, &scenes[0]);
    mote_photon_params params = mote_photon_defaults();
    const mote_camera camera = mote_scene_camera(scene);
    float rgb[3 * 6 * 4], again[3 * 6 * 4];
    params.method = MOTE_PHOTON_PATH;
    params.width = 6;
    params.height = 4;
    must(pair->cuda, mote_photon_render(scene, NULL, &camera, &params, rgb), "no map");
    must(pair->cuda, mote_photon_render(scene, NULL, &camera, &params, again), "no map");
    assert_memory_equal(rgb, again, sizeof rgb);
    mote_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PARITY_TEST(maps_are_the_same),          PARITY_TEST(gathered_light_is_the_same),
        PARITY_TEST(many_queries_find_the_same), PARITY_TEST(pictures_are_the_same),
        PARITY_TEST(a_scene_needs_no_map),
    };
    if (!parity_can_run()) return PARITY_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
