/* Clouds whose shape or density is unlike a uniform one's. */
#include "bench/bench_shapes.h"
#include "pi.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLUSTERS 50u
#define OCTAVES  12u

/* ---- where points are: doubles, by a hash of their number */

static uint64_t hash(uint64_t value) {
    value += 0x9E3779B97F4A7C15ull;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ value >> 27) * 0x94D049BB133111EBull;
    return value ^ value >> 31;
}

/* The i-th of a row of numbers, 0 to below 1; and of a normal distribution. */
static double unit(uint64_t row, uint64_t i) { return (double)(hash(hash(row) ^ i) >> 11) * 0x1p-53; }

static double normal(uint64_t row, uint64_t i) {
    return sqrt(-2 * log(1 - unit(row, i))) * cos(2 * PI * unit(row + 1000, i));
}

static void place_uniform(uint64_t i, uint64_t n, double at[3]) {
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = unit(k, i);
}

/* Six walls of 10 x 8 x 3 m, each by its area, with noise of 1 mm, at UTM coordinates. */
static void place_room(uint64_t i, uint64_t n, double at[3]) {
    static const double size[3] = {10, 8, 3}, origin[3] = {500000, 5400000, 100};
    static const double share[3] = {24 / 134.0, 54 / 134.0, 1}; /* walls across x, y, z: 2 · 24, 2 · 30, 2 · 80 m² */
    const double wall = unit(3, i);
    const int across = wall < share[0] ? 0 : wall < share[1] ? 1 : 2;
    place_uniform(i, n, at);
    for (int k = 0; k < 3; k++) at[k] *= size[k];
    at[across] = (unit(4, i) < 0.5 ? 0 : size[across]) + 0.001 * normal(5, i);
    for (int k = 0; k < 3; k++) at[k] += origin[k];
}

static void place_room_and_zero(uint64_t i, uint64_t n, double at[3]) {
    place_room(i, n, at);
    for (int k = 0; k < 3 && i == n / 3; k++) at[k] = 0;
}

static void place_room_and_far(uint64_t i, uint64_t n, double at[3]) {
    place_room(i, n, at);
    for (int k = 0; k < 3 && i == n / 3; k++) at[k] = 1e9;
}

/* Clusters of a normal distribution, with deviations of nine decades. */
static void place_clusters(uint64_t i, uint64_t n, double at[3]) {
    const uint64_t c = (uint64_t)(unit(3, i) * CLUSTERS);
    const double deviation = pow(10, -6 + 9.0 * (double)c / (CLUSTERS - 1));
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = 1000 * unit(20 + k, c) + deviation * normal(k, i);
}

static void place_two_scales(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i, n, at);
    for (int k = 0; k < 3; k++) at[k] = i == 0 ? 1e5 : i % 2 == 0 ? at[k] : 1e-7 * at[k];
}

static void place_cauchy(uint64_t i, uint64_t n, double at[3]) {
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = tan(PI * (unit(k, i) - 0.5));
}

/* Heights of a terrain of 1 km: octaves of waves, each half as long and half as high, in directions of their own. */
static void place_terrain(uint64_t i, uint64_t n, double at[3]) {
    (void)n;
    const double x = 1000 * unit(0, i), y = 1000 * unit(1, i);
    double height = 0, length = 1000, high = 100;
    for (uint64_t o = 0; o < OCTAVES; o++, length /= 2, high /= 2) {
        const double angle = 2 * PI * unit(30, o), phase = 2 * PI * unit(31, o);
        height += high * sin(2 * PI * (x * cos(angle) + y * sin(angle)) / length + phase);
    }
    at[0] = 500000 + x;
    at[1] = 5400000 + y;
    at[2] = 300 + height;
}

/* A cubic grid of one point each: each has many at the same distance. */
static void place_lattice(uint64_t i, uint64_t n, double at[3]) {
    const uint64_t side = (uint64_t)ceil(cbrt((double)n));
    const uint64_t row = i / side, layer = row / side;
    at[0] = (double)layer;
    at[1] = (double)(row % side);
    at[2] = (double)(i % side);
}

/* Puts points on integers from 0 to 40: of a million some 15 are in each place. */
static void place_integers(uint64_t i, uint64_t n, double at[3]) {
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = floor(41 * unit(k, i));
}

/* Places points in steps that doubles do not hold: distances between neighbours differ in their last bits. */
static void place_tenths(uint64_t i, uint64_t n, double at[3]) {
    place_integers(i, n, at);
    for (int k = 0; k < 3; k++) at[k] = 0.1 * at[k];
}

static void place_spiral(uint64_t i, uint64_t n, double at[3]) {
    const double t = (double)i / (double)n, radius = exp(-20 * t);
    at[0] = radius * cos(200 * PI * t);
    at[1] = radius * sin(200 * PI * t);
    at[2] = t * radius;
}

static void place_line(uint64_t i, uint64_t n, double at[3]) {
    (void)n;
    at[0] = 1000 * unit(0, i);
    at[1] = at[2] = 7;
}

static const bench_shape shapes[] = {
    {"uniform", place_uniform}, /* the first: what others are compared with */
    {"terrain, fractal", place_terrain},
    {"room", place_room},
    {"room, one point at 0", place_room_and_zero},
    {"room, one point at 1e9", place_room_and_far},
    {"clusters of nine decades", place_clusters},
    {"two scales, one point at 1e5", place_two_scales},
    {"Cauchy", place_cauchy},
    {"lattice", place_lattice},
    {"integers 0 to 40", place_integers},
    {"tenths 0 to 4", place_tenths},
    {"spiral of nine decades", place_spiral},
    {"line", place_line},
};
_Static_assert(sizeof shapes / sizeof shapes[0] == BENCH_SHAPES, "the table's length");

const bench_shape *bench_shapes(void) { return shapes; }

mote_status bench_shape_cloud(session *s, const bench_shape *of, uint64_t count, mote_cloud **out) {
    static const mote_column_spec specs[] = {
        {"x", MOTE_FLOAT64, 1, 0}, {"y", MOTE_FLOAT64, 1, 0}, {"z", MOTE_FLOAT64, 1, 0}};
    const mote_status status = mote_cloud_create(s->ctx, count, specs, 3, out);
    uint8_t *data[3] = {NULL, NULL, NULL};
    uint32_t stride_bytes[3] = {0, 0, 0};
    for (int k = 0; k < 3 && status == MOTE_OK; k++) {
        data[k] = mote_cloud_column_data(*out, specs[k].name);
        stride_bytes[k] = mote_cloud_find(*out, specs[k].name)->stride_bytes;
    }
    for (uint64_t i = 0; i < count && status == MOTE_OK; i++) {
        double at[3];
        of->place(i, count, at);
        for (int k = 0; k < 3; k++) memcpy(data[k] + i * stride_bytes[k], &at[k], sizeof at[k]);
    }
    return status;
}

/* ---- which of them */

bool bench_shape_wanted(const bench_shape *of, const char *only) {
    const char *name = only + strlen(BENCH_SHAPES_CASE);
    while (*name == ' ') name++;
    return of == shapes || strncmp(of->name, name, strlen(name)) == 0;
}

bool bench_shapes_wanted(const char *only) {
    if (only == NULL || strncmp(only, BENCH_SHAPES_CASE, strlen(BENCH_SHAPES_CASE)) != 0) return false;
    if (only[strlen(BENCH_SHAPES_CASE)] == '\0') return true;
    for (size_t i = 1; i < BENCH_SHAPES && only[strlen(BENCH_SHAPES_CASE)] == ' '; i++) {
        if (bench_shape_wanted(&shapes[i], only)) return true;
    }
    return false;
}

void bench_shapes_print_end(void) {
    printf("\nroom: six walls of 10 x 8 x 3 m with noise of 1 mm, at UTM coordinates. clusters: %u, of deviations from "
           "1e-6\n"
           "to 1e3. two scales: half of the points in a cube of 1e-7, half in one of 1. spiral: radius 1 to 2e-9.\n",
           CLUSTERS);
}
