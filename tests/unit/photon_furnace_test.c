/* The furnace: a closed box whose walls shine with the radiance 1 and reflect one half. Everywhere its radiance is
   L = Le / (1 - rho) = 2, in each pixel and at each edge and corner, within 1 %. How many photons, samples and rays
   there are is what their noise needs to be well below that. */
#include <math.h>
#include <mote/mote.h>
#include <string.h>

#include "reference/photon_reference.h"
#include "support/support.h"

#define RADIANCE 2.0
#define ALLOWED  (0.01 * RADIANCE)

static mote_scene *furnace_of(mote_context *ctx) {
    mote_scene *scene = NULL;
    assert_int_equal(mote_scene_builtin(ctx, "furnace", &scene), MOTE_OK);
    return scene;
}

/* ---- pictures */

#define MAX_SIDE 8u

static void check_picture(uint64_t photons, const mote_photon_params *params, const char *name) {
    float rgb[3 * MAX_SIDE * MAX_SIDE];
    mote_context *ctx = test_context(2);
    mote_scene *scene = furnace_of(ctx);
    mote_photon_map *map = photons > 0 ? photon_reference_map(scene, photons, 0) : NULL;
    const mote_camera camera = mote_scene_camera(scene);
    assert_true(params->width <= MAX_SIDE && params->height <= MAX_SIDE);
    assert_int_equal(mote_photon_render(scene, map, &camera, params, rgb), MOTE_OK);
    for (uint32_t i = 0; i < params->width * params->height; i++) {
        const double got = (double)rgb[3 * i];
        if (fabs(got - RADIANCE) > ALLOWED) {
            fail_msg("%s: pixel %u, %u is %g", name, i % params->width, i / params->width, got);
        }
    }
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static mote_photon_params params_of(mote_photon_method method, uint32_t side, uint32_t samples) {
    mote_photon_params params = mote_photon_defaults();
    params.method = method;
    params.width = params.height = side;
    params.samples = samples;
    params.gathering.k = 100;
    return params;
}

static void full_pictures_are_twice_as_bright(void **state) {
    (void)state;
    mote_photon_params params = params_of(MOTE_PHOTON_FULL, 8, 8);
    params.shadow_rays = 256; /* half of the light comes from walls, which also shine near by */
    params.gather_rays = 64;
    check_picture(300000, &params, "full");
}

static void maps_are_twice_as_bright(void **state) {
    (void)state;
    const mote_photon_params params = params_of(MOTE_PHOTON_MAP, 4, 48);
    check_picture(1000000, &params, "map");
}

static void paths_are_twice_as_bright(void **state) {
    (void)state;
    const mote_photon_params params = params_of(MOTE_PHOTON_PATH, 4, 160);
    check_picture(0, &params, "path");
}

/* ---- edges and corners */

#define ALONG 5 /* places along an edge */
#define MAPS  6

typedef struct places {
    mote_cloud *cloud;
    uint64_t count;
} places;

static void put(places *p, const double place[3], const double normal[3]) {
    static const char *const names[] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    for (int k = 0; k < 6; k++) {
        const mote_column *column = mote_cloud_find(p->cloud, names[k]);
        const float value = (float)(k < 3 ? place[k] : normal[k - 3]);
        memcpy((char *)mote_cloud_column_data(p->cloud, names[k]) + p->count * column->stride_bytes, &value, 4);
    }
    p->count++;
}

/* On each of the six walls, at a distance from edges: along all four edges, or in all four corners. */
static void put_around(places *p, double distance, bool corners) {
    for (int wall = 0; wall < 24; wall++) {
        const int k = wall / 8, u = (k + 1) % 3, v = (k + 2) % 3, edge = wall % 4;
        const double out = wall / 4 % 2 == 0 ? -1 : 1, at = 1 - distance;
        for (int i = 0; i < (corners ? 1 : ALONG); i++) {
            const double along = corners ? at : -0.7 + 1.4 * i / (ALONG - 1);
            double place[3], normal[3] = {0, 0, 0};
            place[k] = out;
            place[u] = edge == 0 ? at : edge == 1 ? -at : edge == 2 ? along : -along;
            place[v] = edge == 0 ? along : edge == 1 ? -along : edge == 2 ? -at : at;
            normal[k] = -out;
            put(p, place, normal);
        }
    }
}

typedef struct around {
    double distance;
    bool corners;
    mote_photon_gathering gathering;
    places at;
    double sum;
} around;

static void put_all(mote_context *ctx, around *a) {
    static const mote_column_spec specs[] = {{"x", MOTE_FLOAT32, 1, 0},        {"y", MOTE_FLOAT32, 1, 0},
                                             {"z", MOTE_FLOAT32, 1, 0},        {"normal_x", MOTE_FLOAT32, 1, 0},
                                             {"normal_y", MOTE_FLOAT32, 1, 0}, {"normal_z", MOTE_FLOAT32, 1, 0}};
    assert_int_equal(mote_cloud_create(ctx, a->corners ? 24 : 24 * ALONG, specs, 6, &a->at.cloud), MOTE_OK);
    put_around(&a->at, a->distance, a->corners);
}

/* A disc of 800 photons has a radius of 0.12 here: at its edge, within it, and far inside, by all filters. The last
   case is as published: most of the disc is outside. */
#define CASES 7
static void make_cases(mote_context *ctx, around cases[CASES]) {
    static const double distances[] = {0.002, 0.06, 0.3};
    memset(cases, 0, CASES * sizeof *cases);
    for (int i = 0; i < CASES; i++) {
        mote_photon_gathering *g = &cases[i].gathering;
        const bool last = i == CASES - 1;
        *g = mote_photon_gathering_defaults();
        g->k = 800;
        g->compression = i / 2 == 1 ? 1 : 4;
        g->filter = last ? MOTE_PHOTON_FILTER_NONE : (mote_photon_filter)(i / 2);
        g->area = last ? MOTE_PHOTON_AREA_DISC : MOTE_PHOTON_AREA_SURFACE;
        cases[i].distance = last ? distances[0] : distances[i / 2];
        cases[i].corners = last || i % 2 == 1;
        put_all(ctx, &cases[i]);
    }
}

static void add_map(mote_scene *scene, uint64_t seed, around cases[CASES]) {
    mote_photon_map *map = photon_reference_map(scene, 200000, seed);
    for (int i = 0; i < CASES; i++) {
        float irradiance[3 * 24 * ALONG];
        const places *at = &cases[i].at;
        assert_int_equal(mote_photon_gather(map, at->cloud, &cases[i].gathering, irradiance), MOTE_OK);
        for (uint64_t j = 0; j < at->count; j++) cases[i].sum += (double)irradiance[3 * j];
    }
    mote_photon_destroy(map);
}

/* The means over all such places and some maps: 1 + irradiance · 0.5 / pi. */
static void edges_and_corners_are_as_bright(void **state) {
    (void)state;
    around cases[CASES];
    mote_context *ctx = test_context(2);
    mote_scene *scene = furnace_of(ctx);
    make_cases(ctx, cases);
    for (uint64_t seed = 0; seed < MAPS; seed++) add_map(scene, seed, cases);
    for (int i = 0; i < CASES; i++) {
        const around *a = &cases[i];
        const double got = 1 + a->sum / (double)(MAPS * a->at.count) * 0.5 / 3.14159265358979323846;
        if (i == CASES - 1 ? got > 0.8 * RADIANCE : fabs(got - RADIANCE) > ALLOWED) {
            fail_msg("case %d, %g from %s: %g", i, a->distance, a->corners ? "corners" : "edges", got);
        }
        mote_cloud_destroy(a->at.cloud);
    }
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_pictures_are_twice_as_bright),
        cmocka_unit_test(maps_are_twice_as_bright),
        cmocka_unit_test(paths_are_twice_as_bright),
        cmocka_unit_test(edges_and_corners_are_as_bright),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
