/* How long planes take among points where there are hardly any: no cloud may take far longer than a town of as many
   points, nor larger clouds longer for each point.
     planes_speed_test table [POINTS]
   prints microseconds of one thread a point, and how many planes are found, of each surface at 0, 10 and 100 mm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reference/knn_reference.h"
#include "reference/planes_scenes.h"
#include "support/support.h"

#define POINTS      test_extent(5000, 20000)
#define MANY_POINTS test_extent(10000, 80000)
#define MAX_TOWNS   10.0 /* times what a town takes; of 20,000 points 1.3 at most was measured */
#define MAX_GROWTH  3.0  /* times what a point takes of a fourth of the points */
#define DENSITY     10.0 /* points a square metre, seen from above */
#define TURN        6.283185307179586

/* ---- clouds without planes, or with next to none */

typedef enum speed_surface {
    SPEED_HILLS,  /* wavelengths of 70 to 230 m */
    SPEED_BOWL,   /* the same bend everywhere */
    SPEED_TREES,  /* hills, and half of the points in crowns on them */
    SPEED_ROCK,   /* rough at every scale down to 0.5 m */
    SPEED_WAVES,  /* long ones of 0.3 m */
    SPEED_SINE,   /* crossed, of 0.5 m */
    SPEED_STEPS,  /* treads of 0.7 m without risers, 5 cm each */
    SPEED_TUBES,  /* radii of 0.2 to 2 m */
    SPEED_SHELLS, /* spheres of 1 to 6 m */
    SPEED_BALLS,  /* the same, dense in the middle */
    SPEED_FOG,    /* a cube */
    SPEED_SURFACES
} speed_surface;

static const char *const names[SPEED_SURFACES] = {"hills", "bowl",  "trees",  "rock",  "waves", "sine",
                                                  "steps", "tubes", "shells", "balls", "fog"};

static double smooth(double at) { return at * at * (3 - 2 * at); }

/* Random heights of 0 to 1 at whole places, smooth in between. */
static double height_between(double x, double y, uint64_t row) {
    const double i = floor(x), k = floor(y), u = smooth(x - i), v = smooth(y - k);
    double corners[2][2];
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            const uint64_t place = (uint64_t)(int64_t)(i + a + 1e6) << 32 | (uint64_t)(int64_t)(k + b + 1e6);
            corners[a][b] = test_random(row, place);
        }
    }
    return (corners[0][0] * (1 - u) + corners[1][0] * u) * (1 - v) + (corners[0][1] * (1 - u) + corners[1][1] * u) * v;
}

static double rock_at(double x, double y) {
    double height = 0, width = 64;
    for (uint64_t octave = 0; octave < 8; octave++, width /= 2) {
        height += 0.3 * width * height_between(x / width, y / width, 100 + octave);
    }
    return height;
}

static double hills_at(double x, double y) { return 10 * sin(x / 37) + 8 * sin(y / 23 + 1) + 3 * sin((x + y) / 11); }

/* A point of a sphere, or in it (inside). */
static void place_on_sphere(uint64_t i, uint64_t spheres, double side, bool inside, double p[3]) {
    const uint64_t one = (uint64_t)(test_random(10, i) * (double)spheres);
    const double z = 2 * test_random(11, i) - 1, angle = TURN * test_random(12, i), flat = sqrt(1 - z * z);
    const double radius = (1 + 5 * test_random(20, one)) * (inside ? test_random(13, i) : 1);
    p[0] = side * test_random(21, one) + radius * flat * cos(angle);
    p[1] = side * test_random(22, one) + radius * flat * sin(angle);
    p[2] = 40 * test_random(23, one) + radius * z;
}

static void place_on_tube(uint64_t i, double side, double p[3]) {
    const uint64_t tube = (uint64_t)(50 * test_random(10, i));
    const double angle = TURN * test_random(12, i), radius = 0.2 + 0.3 * (double)(tube % 7);
    p[1] = side / 50 * (double)(7919 * tube % 50) + radius * cos(angle);
    p[2] = 3 * (double)(tube % 11) + radius * sin(angle);
}

static void place(speed_surface surface, uint64_t i, double side, double p[3]) {
    const double x = side * test_random(1, i), y = side * test_random(2, i), across = side / 2;
    p[0] = x;
    p[1] = y;
    p[2] = 0;
    if (surface == SPEED_HILLS || surface == SPEED_TREES) p[2] = hills_at(x, y);
    if (surface == SPEED_BOWL) p[2] = 0.1 * ((x - across) * (x - across) + (y - across) * (y - across)) / side;
    if (surface == SPEED_ROCK) p[2] = rock_at(x, y);
    if (surface == SPEED_WAVES) p[2] = 0.3 * sin(0.5 * x);
    if (surface == SPEED_SINE) p[2] = 0.5 * sin(0.7 * x) + 0.5 * sin(0.7 * y);
    if (surface == SPEED_STEPS) p[2] = 0.05 * floor(x / 0.7);
    if (surface == SPEED_TUBES) place_on_tube(i, side, p);
    if (surface == SPEED_FOG) p[2] = side * test_random(3, i);
    if (surface == SPEED_SHELLS || surface == SPEED_BALLS) place_on_sphere(i, 60, 100, surface == SPEED_BALLS, p);
    if (surface == SPEED_TREES && i % 2 == 1) {
        place_on_sphere(i, (uint64_t)(side * side / 100) + 1, side, true, p);
        p[2] = 6 + hills_at(p[0], p[1]) + fmod(p[2], 8);
    }
}

static mote_cloud *make_cloud(mote_context *ctx, speed_surface surface, uint64_t points, double noise_m) {
    const double side = sqrt((double)points / DENSITY);
    double *positions = planes_scene_array(3 * points, sizeof *positions);
    for (uint64_t i = 0; i < points; i++) {
        place(surface, i, side, positions + 3 * i);
        const double size = sqrt(-2 * log(1 - test_random(4, i)));
        positions[3 * i + 2] += noise_m * size * cos(TURN * test_random(5, i));
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, positions, points);
    free(positions);
    return cloud;
}

/* ---- time */

/* Microseconds of a core a point. planes: out, how many are found. */
static double time_planes(mote_context *ctx, const mote_cloud *cloud, uint64_t points, uint32_t *planes) {
    mote_planes *found;
    const clock_t start = clock();
    assert_int_equal(mote_planes_find(ctx, cloud, NULL, NULL, &found), MOTE_OK);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    *planes = mote_planes_count(found);
    mote_planes_destroy(found);
    return 1e6 * seconds / (double)points;
}

static double time_surface(speed_surface surface, uint64_t points, double noise_m, uint32_t *planes) {
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = make_cloud(ctx, surface, points, noise_m);
    const double us = time_planes(ctx, cloud, points, planes);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return us;
}

static double time_town(uint64_t points, uint32_t *planes) {
    planes_scene_params p;
    planes_scene scene;
    mote_context *ctx = test_context(1);
    memset(&p, 0, sizeof p);
    p.kind = PLANES_SCENE_TILE;
    p.seed = 3;
    p.points = points;
    p.noise_m = 0.01;
    planes_scene_make(ctx, &p, NULL, &scene);
    const double us = time_planes(ctx, scene.cloud, points, planes);
    planes_scene_free(&scene);
    mote_context_destroy(ctx);
    return us;
}

static void no_cloud_takes_far_longer_than_a_town(void **state) {
    (void)state;
    uint32_t planes;
    const double town_us = time_town(POINTS, &planes);
    for (int surface = 0; surface < SPEED_SURFACES; surface++) {
        const double us = time_surface((speed_surface)surface, POINTS, 0.01, &planes);
        if (us > MAX_TOWNS * town_us) fail_msg("%s: %.1f us a point, a town %.1f", names[surface], us, town_us);
    }
}

static void work_grows_no_faster_than_the_points(void **state) {
    (void)state;
    static const speed_surface surfaces[] = {SPEED_WAVES, SPEED_SINE, SPEED_STEPS};
    for (uint64_t i = 0; i < test_extent(1, 3); i++) {
        uint32_t planes;
        const double few_us = time_surface(surfaces[i], MANY_POINTS / 4, 0.01, &planes);
        const double many_us = time_surface(surfaces[i], MANY_POINTS, 0.01, &planes);
        if (many_us > MAX_GROWTH * few_us) fail_msg("%s: %.1f, %.1f us", names[surfaces[i]], few_us, many_us);
    }
}

static int print_table(uint64_t points) {
    static const double noises_m[3] = {0, 0.01, 0.1};
    uint32_t planes;
    const double town_us = time_town(points, &planes);
    printf("%-8s %8.1f us a point, %u planes\n", "town", town_us, planes);
    for (int surface = 0; surface < SPEED_SURFACES; surface++) {
        printf("%-8s", names[surface]);
        for (int i = 0; i < 3; i++) {
            const double us = time_surface((speed_surface)surface, points, noises_m[i], &planes);
            printf(" %8.1f us %4u planes", us, planes);
            fflush(stdout);
        }
        printf("\n");
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "table") == 0) return print_table(argc > 2 ? strtoull(argv[2], NULL, 10) : 100000);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cloud_takes_far_longer_than_a_town),
        cmocka_unit_test(work_grows_no_faster_than_the_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
