/* mote bench knn --case shapes: clouds whose shape or density is unlike a uniform one's, beside that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_knn.h"

#define LEFT       30   /* columns of a cloud's name */
#define PATIENCE_S 3.0  /* no more runs of a search after this; */
#define LIMIT_MS   20e3 /* and none for more neighbours after one as slow as this */
#define CLUSTERS   50u
#define OCTAVES    12u
#define PI         3.14159265358979323846

static const uint32_t shape_k[] = {1, 10, 32, 100};
#define SHAPE_KS 4

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

/* Of a million points, some 15 in each place. */
static void place_integers(uint64_t i, uint64_t n, double at[3]) {
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = floor(41 * unit(k, i));
}

/* The same of steps that doubles do not hold: distances between neighbours differ in their last bits. */
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

typedef struct shape {
    const char *name;
    void (*place)(uint64_t i, uint64_t n, double at[3]);
} shape;

static const shape shapes[] = {
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
#define SHAPES (sizeof shapes / sizeof shapes[0])

static mote_status make_cloud(session *s, const shape *of, uint64_t count, mote_cloud **out) {
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

/* ---- the table */

static void print_head(const session *s, uint64_t count, int threads, int runs) {
    char device[200];
    bench_device_name(s, device, sizeof device);
    printf("knn of clouds of many shapes, %s points in doubles, %s, %d CPU thread%s:\n"
           "index and search of all, milliseconds, median of up to %d runs; in brackets: times that of uniform\n",
           text_count(count).chars, device, threads, threads == 1 ? "" : "s", runs);
    printf("%-*s", LEFT, "cloud");
    for (int i = 0; i < SHAPE_KS; i++) {
        char head[20];
        snprintf(head, sizeof head, "k = %u", shape_k[i]);
        printf(" %18s", head);
    }
    putchar('\n');
}

/* One cloud: a line of the table. uniform: the milliseconds that the others are compared with; those of the first */
static int run_shape(session *s, const bench_options *o, const shape *of, const mote_cloud *cloud, int threads,
                     double uniform[SHAPE_KS]) {
    double last = 0;
    printf("%-*s", LEFT, of->name);
    for (int i = 0; i < SHAPE_KS; i++) {
        const knn_case c = {.name = of->name, .kind = of->name, .k = shape_k[i]};
        knn_timing timing;
        bool is_right = false;
        if (last > LIMIT_MS) {
            printf(" %18s", "-");
            continue;
        }
        const mote_status status = knn_measure_cloud(s, o, &c, cloud, threads, PATIENCE_S, &timing, &is_right);
        if (status != MOTE_OK) {
            putchar('\n');
            return knn_case_failed(s, of->name, status);
        }
        last = timing.both.median;
        if (of == shapes) uniform[i] = last;
        printf(" %10.*f (%5.*f)", last < 100 ? 3 : 0, last, last < 10 * uniform[i] ? 2 : 0,
               uniform[i] > 0 ? last / uniform[i] : 0);
        fflush(stdout);
        if (!is_right) return knn_wrong_answer(s, of->name);
        const int code = knn_record(s, o, &c, "file", &timing);
        if (code != EXIT_DONE) return code;
    }
    putchar('\n');
    return EXIT_DONE;
}

/* Whether a cloud is measured: all, or the first, and those whose name begins as the case ends: "shapes room". */
static bool wanted(const shape *of, const char *only) {
    const char *name = only + strlen(KNN_SHAPES);
    while (*name == ' ') name++;
    return of == shapes || strncmp(of->name, name, strlen(name)) == 0;
}

bool knn_shapes_wanted(const char *only) {
    if (only == NULL || strncmp(only, KNN_SHAPES, strlen(KNN_SHAPES)) != 0) return false;
    if (only[strlen(KNN_SHAPES)] == '\0') return true;
    for (size_t i = 1; i < SHAPES && only[strlen(KNN_SHAPES)] == ' '; i++) {
        if (wanted(&shapes[i], only)) return true;
    }
    return false;
}

int bench_knn_shapes(session *s, const bench_options *o, int threads) {
    double uniform[SHAPE_KS] = {0};
    int code = EXIT_DONE;
    print_head(s, o->count, threads, o->runs);
    for (size_t i = 0; i < SHAPES && code == EXIT_DONE; i++) {
        mote_cloud *cloud = NULL;
        if (!wanted(&shapes[i], o->only)) continue;
        const mote_status status = make_cloud(s, &shapes[i], o->count, &cloud);
        code = status == MOTE_OK ? run_shape(s, o, &shapes[i], cloud, threads, uniform)
                                 : knn_case_failed(s, shapes[i].name, status);
        mote_cloud_destroy(cloud);
    }
    if (code == EXIT_DONE) {
        printf("\nroom: six walls of 10 x 8 x 3 m with noise of 1 mm, at UTM coordinates. clusters: %u, of deviations "
               "from 1e-6\n"
               "to 1e3. two scales: half of the points in a cube of 1e-7, half in one of 1. spiral: radius 1 to 2e-9.\n"
               "-: not tried, as fewer neighbours took over %.0f s.\n",
               CLUSTERS, LIMIT_MS / 1e3);
    }
    return code;
}
