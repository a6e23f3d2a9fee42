#include "reference/shaped_clouds.h"

#include <math.h>
#include <stdlib.h>

#include "reference/knn_reference.h"
#include "support/random.h"

#define PI 3.14159265358979323846

/* The i-th number of a row, 0 to below 1, of a seed; and of a normal distribution. */
static double uniform(uint64_t seed, uint64_t row, uint64_t i) { return test_random(seed * 64 + row, i); }

static double normal(uint64_t seed, uint64_t row, uint64_t i) {
    return sqrt(-2 * log(1 - uniform(seed, row, i))) * cos(2 * PI * uniform(seed, row + 32, i));
}

static void place_uniform(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = uniform(seed, k, i);
}

/* Four walls of 10 x 8 x 3 m at UTM coordinates, with noise of a millimetre. */
static void place_room(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    static const double size[3] = {10, 8, 3}, origin[3] = {500000, 5400000, 100};
    place_uniform(i, n, seed, at);
    for (int k = 0; k < 3; k++) at[k] *= size[k];
    at[i % 2] = (i % 4 < 2 ? 0 : size[i % 2]) + 0.001 * normal(seed, 5, i);
    for (int k = 0; k < 3; k++) at[k] += origin[k];
}

static void place_room_and_zero(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    place_room(i, n, seed, at);
    for (int k = 0; k < 3 && i == n / 3; k++) at[k] = 0;
}

static void place_room_and_far(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    place_room(i, n, seed, at);
    for (int k = 0; k < 3 && i == n / 3; k++) at[k] = 1e9;
}

/* A few strays: a zero, two far away, one beyond what floats can square, and points that are no numbers. */
static void place_room_and_all(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    static const double strays[6] = {0, 1e9, -3e12, 1e30, NAN, INFINITY};
    place_room(i, n, seed, at);
    for (uint64_t s = 0; s < 6; s++) {
        if (i == n / 7 * (s + 1)) at[s % 3] = strays[s];
    }
}

/* Ten clusters with deviations of nine decades. */
static void place_clusters(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    const uint64_t cluster = i % 10;
    const double deviation = pow(10, (double)cluster - 6);
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = 1000 * uniform(0, 20 + k, cluster) + deviation * normal(seed, k, i);
}

static void place_two_scales(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    place_uniform(i, n, seed, at);
    for (int k = 0; k < 3; k++) at[k] = i == 0 ? 1e5 : i % 2 == 0 ? at[k] : 1e-7 * at[k];
}

/* Nearly all in a heap of a ten-millionth of what a few others are spread over: a search near the heap, but not in it,
   has all of it at about one distance. */
static void place_heap_beside_few(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    place_uniform(i, n, seed, at);
    for (int k = 0; k < 3 && i % 128 != 0; k++) at[k] = 0.4 + 1e-7 * at[k];
}

static void place_cauchy(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = tan(PI * (uniform(seed, k, i) - 0.5));
}

/* Heights of a square kilometre: waves, each half as long and half as high as the one before. */
static void place_terrain(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    double height = 0, length = 1000;
    (void)n;
    at[0] = 500000 + 1000 * uniform(seed, 0, i);
    at[1] = 5400000 + 1000 * uniform(seed, 1, i);
    for (uint64_t wave = 0; wave < 8; wave++, length /= 2) {
        const double angle = 2 * PI * uniform(0, 30, wave);
        height += length / 10 * sin(2 * PI * (at[0] * cos(angle) + at[1] * sin(angle)) / length);
    }
    at[2] = 300 + height;
}

/* Points nearer and nearer to a place that none reaches. */
static void place_spiral(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    const double t = ((double)i + uniform(seed, 0, i)) / (double)n, radius = exp(-20 * t);
    at[0] = radius * cos(200 * PI * t);
    at[1] = radius * sin(200 * PI * t);
    at[2] = t * radius;
}

static void place_line(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    (void)n;
    at[0] = 1000 * uniform(seed, 0, i);
    at[1] = at[2] = 7;
}

/* Each binade of doubles down to 2^-900 has as many points: squares of most distances vanish, in floats or in doubles.
 */
static void place_binades(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    const double size = ldexp(1, -(int)(i * 900 / n));
    for (uint64_t k = 0; k < 3; k++) at[k] = size * uniform(seed, k, i);
}

static void place_lattice(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    const uint64_t side = (uint64_t)ceil(cbrt((double)n));
    (void)seed;
    at[0] = (double)(i / side / side);
    at[1] = (double)(i / side % side);
    at[2] = (double)(i % side);
}

/* Some 58 in each place. */
static void place_duplicates(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    const double side = ceil(cbrt((double)n / 58));
    for (uint64_t k = 0; k < 3; k++) at[k] = floor(side * uniform(seed, k, i));
}

static void place_all_but_one(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    (void)seed;
    for (int k = 0; k < 3; k++) at[k] = i == n / 2 ? 1e6 : 0.1;
}

const shaped_cloud shaped_clouds[] = {
    {"room, one at zero", place_room_and_zero},
    {"room, one at 1e9", place_room_and_far},
    {"room, all kinds of strays", place_room_and_all},
    {"clusters of nine decades", place_clusters},
    {"two scales", place_two_scales},
    {"a heap beside a few", place_heap_beside_few},
    {"Cauchy", place_cauchy},
    {"terrain at UTM offsets", place_terrain},
    {"spiral", place_spiral},
    {"line", place_line},
    {"900 binades", place_binades},
    {"lattice", place_lattice},
    {"58 in each place", place_duplicates},
    {"all equal but one", place_all_but_one},
};
const uint32_t shaped_cloud_count = sizeof shaped_clouds / sizeof shaped_clouds[0];

mote_cloud *shaped_cloud_make(mote_context *ctx, const shaped_cloud *family, mote_type type, uint64_t n,
                              uint64_t seed) {
    double *const stored = malloc((3 * n + 1) * sizeof *stored);
    if (stored == NULL) abort();
    for (uint64_t i = 0; i < n; i++) family->place(i, n, seed, stored + 3 * i);
    mote_cloud *cloud = knn_reference_cloud(ctx, type, 1, 0, stored, n);
    free(stored);
    return cloud;
}
