#include "reference/awkward_clouds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "support/random.h"

static void place_uniform(uint64_t i, uint64_t n, double at[3]) {
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = test_random(k, i);
}

static void place_one(uint64_t i, uint64_t n, double at[3]) {
    (void)i, (void)n;
    for (int k = 0; k < 3; k++) at[k] = 0.37;
}

/* All but eight points in one place; those eight at the corners of a small box around it. */
static void place_pile(uint64_t i, uint64_t n, double at[3]) {
    place_one(i, n, at);
    for (int k = 0; k < 3 && i < 8; k++) at[k] += (i >> k & 1) != 0 ? 0.1 : -0.05;
}

/* 90 % of the points in one place, some of the rest twice. */
static void place_heap(uint64_t i, uint64_t n, double at[3]) {
    if (i % 10 != 0) {
        place_one(i, n, at);
    } else {
        place_uniform(i / 20, n, at);
    }
}

static void place_diagonal(uint64_t i, uint64_t n, double at[3]) {
    (void)n;
    for (int k = 0; k < 3; k++) at[k] = test_random(7, i);
}

static void place_axis(uint64_t i, uint64_t n, double at[3]) {
    at[0] = 0.5, at[2] = 0.25;
    at[1] = (double)(i * 7919 % n) / (double)n;
}

static void place_sheet(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i, n, at);
    at[2] = 0.5;
}

/* A grid of 9³ places: distances that equal a spacing exactly, points on cell borders, duplicates. */
static void place_ticks(uint64_t i, uint64_t n, double at[3]) {
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = floor(test_random(k, i) * 9) / 8;
}

/* Ever smaller cubes around an off-centre place: every level of the tree has something to divide. */
static void place_shells(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i, n, at);
    for (int k = 0; k < 3; k++) at[k] = 0.3 + 0.7 * ldexp(at[k], -(int)(i % 18));
}

/* The same around the middle of the cube, where the borders of all levels meet. */
static void place_center(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i, n, at);
    for (int k = 0; k < 3; k++) at[k] = 0.5 + ldexp(at[k] - 0.5, -(int)(i % 16));
}

/* One point far from all others, whose place, a plane with copies, is a millionth of the cube. */
static void place_stray(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i % 7 == 0 ? i / 2 : i, n, at);
    at[2] = at[2] < 0.5 ? 0 : at[0];
    for (int k = 0; k < 3; k++) at[k] = i == n / 2 ? 1 : 0.3 + ldexp(at[k], -20);
}

/* Ever smaller cubes, as deep as a cube of 2^31 steps can be divided; and the same around the middle. */
static void place_deep(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i, n, at);
    for (int k = 0; k < 3; k++) at[k] = 0.3 + 0.7 * ldexp(at[k], -(int)(i % 32));
}

static void place_deep_center(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i, n, at);
    for (int k = 0; k < 3; k++) at[k] = 0.5 + ldexp(at[k] - 0.5, -(int)(i < 8 ? 0 : 20 + i % 10));
}

/* Two dense clusters far apart and next to nothing between them. */
static void place_far(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i, n, at);
    for (int k = 0; k < 3 && i % 50 != 0; k++) at[k] = ldexp(at[k], -20) + (i % 2 == 0 ? 0 : 0.999);
}

static void place_some_bad(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i, n, at);
    if (i % 7 == 3) at[i % 3] = NAN;
    if (i % 11 == 5) at[i % 2] = INFINITY;
    if (i % 13 == 1) at[2] = -INFINITY;
}

static void place_all_bad(uint64_t i, uint64_t n, double at[3]) {
    place_uniform(i, n, at);
    at[i % 3] = NAN;
}

#define ALL(type)                                                                                                      \
    { type, type, type }
#define CUBE(size)                                                                                                     \
    { size, size, size }
#define UTM                                                                                                            \
    { 500123.4567, 5312345.678, 98.7 }
#define NO_COLORS MOTE_INT64

const awkward_cloud awkward_clouds[] = {
    {"uniform float", place_uniform, ALL(MOTE_FLOAT32), {0}, {0}, {0}, CUBE(10), 0, MOTE_UINT8},
    {"uniform double at UTM", place_uniform, ALL(MOTE_FLOAT64), {0}, {0}, UTM, {900, 700, 40}, 0, MOTE_UINT16},
    {"one place", place_one, ALL(MOTE_FLOAT32), {0}, {0}, {0}, CUBE(1), 0, MOTE_UINT16},
    {"one place of integers", place_one, ALL(MOTE_INT32), CUBE(0.01), {0}, {0}, CUBE(1000), 0, MOTE_UINT8},
    {"heap of duplicates", place_heap, ALL(MOTE_INT32), CUBE(0.001), UTM, {0}, CUBE(1e6), 0, MOTE_UINT16},
    {"diagonal", place_diagonal, ALL(MOTE_FLOAT64), {0}, {0}, CUBE(-0.5), CUBE(1), 0, MOTE_FLOAT32},
    {"along y", place_axis, ALL(MOTE_FLOAT32), {0}, {0}, {0}, CUBE(3), 0, MOTE_UINT8},
    {"sheet", place_sheet, ALL(MOTE_INT32), CUBE(0.001), UTM, {0}, CUBE(54321), 0, MOTE_UINT16},
    {"ticks", place_ticks, ALL(MOTE_INT16), CUBE(1), {0}, {0}, CUBE(8), 0, MOTE_UINT16},
    {"ticks of a centimetre", place_ticks, ALL(MOTE_INT32), CUBE(0.01), UTM, {0}, CUBE(800), 0, MOTE_UINT16},
    {"ticks of a tenth", place_ticks, ALL(MOTE_FLOAT32), {0}, {0}, {0}, CUBE(0.8), 0, MOTE_UINT8},
    {"shells", place_shells, ALL(MOTE_FLOAT64), {0}, {0}, {0}, CUBE(100), 0, MOTE_UINT16},
    {"shells of integers", place_shells, ALL(MOTE_INT32), CUBE(0.001), UTM, {0}, CUBE(2e9), 0, MOTE_UINT16},
    {"around the middle", place_center, ALL(MOTE_FLOAT32), {0}, {0}, CUBE(-50), CUBE(100), 0, MOTE_UINT16},
    {"a stray", place_stray, ALL(MOTE_FLOAT64), {0}, {0}, UTM, CUBE(5e6), 0, MOTE_UINT16},
    {"a stray among integers", place_stray, ALL(MOTE_INT32), CUBE(0.001), {0}, {0}, CUBE(2e9), 0, MOTE_UINT8},
    {"deep shells", place_deep, ALL(MOTE_FLOAT64), {0}, {0}, {0}, CUBE(100), 0, MOTE_UINT16},
    {"deep around the middle", place_deep_center, ALL(MOTE_FLOAT64), {0}, {0}, CUBE(-50), CUBE(100), 0, MOTE_UINT8},
    {"far clusters", place_far, ALL(MOTE_FLOAT64), {0}, {0}, UTM, CUBE(5000), 0, MOTE_UINT8},
    {"some not finite", place_some_bad, ALL(MOTE_FLOAT32), {0}, {0}, {0}, CUBE(10), 0, MOTE_UINT16},
    {"none finite", place_all_bad, ALL(MOTE_FLOAT64), {0}, {0}, {0}, CUBE(10), 0, MOTE_UINT8},
    {"degrees and metres",
     place_uniform,
     ALL(MOTE_INT32),
     {1e-7, 1e-7, 0.01},
     {0},
     {8e7, 4.7e8, 0},
     {2e4, 3e4, 5e3},
     0,
     MOTE_UINT16},
    {"a country in degrees",
     place_uniform,
     ALL(MOTE_INT32),
     {1e-7, 1e-7, 0.01},
     {0},
     {-9e8, 3e8, -100},
     {1.8e9, 5e8, 2e3},
     0,
     MOTE_FLOAT32},
    {"all of int32", place_shells, ALL(MOTE_INT32), CUBE(0.001), UTM, CUBE(-2147483648.0), CUBE(4294967295.0), 0,
     MOTE_UINT16},
    {"int64 beyond a double",
     place_uniform,
     ALL(MOTE_INT64),
     CUBE(1e-6),
     {0},
     CUBE(-9e18),
     CUBE(1.8e19),
     0,
     MOTE_UINT16},
    {"text in millimetres", place_uniform, ALL(MOTE_FLOAT64), {0}, {0}, UTM, {1000, 800, 30}, 0.001, MOTE_UINT8},
    {"text finer than fits", place_uniform, ALL(MOTE_FLOAT64), {0}, {0}, {0}, CUBE(1e5), 1e-6, MOTE_UINT8},
    {"mixed types",
     place_uniform,
     {MOTE_FLOAT32, MOTE_INT16, MOTE_FLOAT64},
     {0, 0.1, 0},
     {0, 100, 0},
     {0},
     {10, 90, 9},
     0,
     MOTE_UINT16},
    {"backwards", place_uniform, ALL(MOTE_INT32), CUBE(-0.001), UTM, CUBE(-500), CUBE(7e4), 0, MOTE_UINT16},
    {"pile", place_pile, ALL(MOTE_FLOAT32), {0}, {0}, {0}, CUBE(1), 0, MOTE_UINT16},
    {"bytes", place_uniform, ALL(MOTE_UINT8), {0}, {0}, {0}, {255, 200, 3}, 0, MOTE_UINT8},
    {"no colours", place_uniform, ALL(MOTE_FLOAT32), {0}, {0}, {0}, CUBE(1), 0, NO_COLORS},
};
const uint32_t awkward_cloud_count = sizeof awkward_clouds / sizeof awkward_clouds[0];

const awkward_cloud *awkward_cloud_named(const char *name) {
    for (uint32_t i = 0; i < awkward_cloud_count; i++) {
        if (strcmp(awkward_clouds[i].name, name) == 0) return &awkward_clouds[i];
    }
    abort();
}

static int64_t to_integer(double value, mote_type type) {
    static const double low[] = {-128, 0, -32768, 0, -2147483648.0, 0, -9.2e18, 0};
    static const double high[] = {127, 255, 32767, 65535, 2147483647.0, 4294967295.0, 9.2e18, 9.2e18};
    return (int64_t)rint(fmin(fmax(value, low[type]), high[type]));
}

static void store(mote_type type, double value, void *at) {
    if (type == MOTE_FLOAT64) {
        memcpy(at, &value, sizeof value);
    } else if (type == MOTE_FLOAT32) {
        const float narrow = (float)value;
        memcpy(at, &narrow, sizeof narrow);
    } else {
        const int64_t whole = to_integer(value, type);
        memcpy(at, &whole, mote_type_size(type)); /* little-endian hosts, as the build checks */
    }
}

/* Colours that vary smoothly in space, with noise on top; of a pile white, and black around it. */
static double color_at(const awkward_cloud *kind, uint64_t i, int k, const double at[3]) {
    const double wave = 0.5 + 0.3 * sin(9 * at[k] + 5 * at[(k + 1) % 3]);
    if (kind->place == place_pile) return i < 8 ? 0 : 1;
    return isfinite(wave) ? wave + 0.2 * (test_random((uint64_t)k + 20, i) - 0.5) : 0.5;
}

static void set_point(const awkward_cloud *kind, uint8_t *const columns[6], uint32_t stride_bytes, uint64_t slot,
                      uint64_t i, uint64_t n) {
    const double full = kind->colors == MOTE_UINT8 ? 255 : kind->colors == MOTE_UINT16 ? 65535 : 1;
    double at[3];
    kind->place(i, n, at);
    for (int k = 0; k < 3; k++) {
        double value = kind->origin[k] + at[k] * kind->size[k];
        if (kind->step > 0) value = rint(value / kind->step) * kind->step;
        store(kind->type[k], value, columns[k] + slot * stride_bytes);
        if (columns[3 + k] == NULL) continue;
        store(kind->colors, color_at(kind, i, k, at) * full, columns[3 + k] + slot * stride_bytes);
    }
}

/* Backwards, and from another start: its own inverse. */
uint64_t awkward_cloud_slot(uint64_t i, uint64_t n, uint64_t shuffle) {
    return shuffle > 0 ? (mote_hash64(shuffle) % n + n - i) % n : i;
}

double awkward_cloud_size(const awkward_cloud *kind) {
    return kind->size[0] * (kind->scale[0] != 0 ? fabs(kind->scale[0]) : 1);
}

mote_cloud *awkward_cloud_make(mote_context *ctx, const awkward_cloud *kind, uint64_t n, uint64_t shuffle) {
    static const char *const names[6] = {"x", "y", "z", "red", "green", "blue"};
    const bool colored = kind->colors != NO_COLORS;
    mote_column_spec specs[6];
    mote_cloud *cloud = NULL;
    memset(specs, 0, sizeof specs);
    for (int k = 0; k < 6; k++) {
        specs[k].name = names[k];
        specs[k].type = k < 3 ? kind->type[k] : kind->colors;
        specs[k].scale = k < 3 ? kind->scale[k] : 0;
        specs[k].offset = k < 3 ? kind->offset[k] : 0;
    }
    if (mote_cloud_create(ctx, n, specs, colored ? 6 : 3, &cloud) != MOTE_OK) return NULL;
    cloud->position_step = kind->step;
    if (n == 0) return cloud;
    uint8_t *columns[6];
    for (int k = 0; k < 6; k++) columns[k] = mote_cloud_column_data(cloud, names[k]);
    const uint32_t stride_bytes = mote_cloud_find(cloud, "x")->stride_bytes;
    for (uint64_t i = 0; i < n; i++) {
        set_point(kind, columns, stride_bytes, awkward_cloud_slot(i, n, shuffle), i, n);
    }
    return cloud;
}

/* A number by the point's position, so that a shuffle takes it along. */
static double normal_at(const mote_column *const axes[3], uint64_t i, int k) {
    uint64_t hash = 1;
    for (int axis = 0; axis < 3; axis++) {
        const double value = mote_column_value(axes[axis], i);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = mote_hash_pair(hash, bits);
    }
    switch (hash % 16) {
    case 0: return k == (int)(hash >> 8 & 1) ? -3 : 0;
    case 1: return 1e-3;
    case 2: return 0;
    case 3: return k == 1 ? NAN : 1;
    case 4: return k == 2 ? INFINITY : 0;
    case 5: return 1e-30 * (k - 1);
    default: return 2 * test_random((uint64_t)k + 40, hash) - 1;
    }
}

void awkward_cloud_add_normals(mote_cloud *cloud) {
    static const char *const names[3] = {"normal_x", "normal_y", "normal_z"};
    for (int k = 0; k < 3; k++) {
        const mote_column_spec spec = {names[k], k == 1 ? MOTE_FLOAT64 : MOTE_FLOAT32, 0, 0};
        if (mote_cloud_add_column(cloud, &spec) != MOTE_OK) abort();
        const mote_column *const axes[3] = {mote_cloud_find(cloud, "x"), mote_cloud_find(cloud, "y"),
                                            mote_cloud_find(cloud, "z")};
        const uint32_t stride_bytes = mote_cloud_find(cloud, names[k])->stride_bytes;
        uint8_t *at = mote_cloud_column_data(cloud, names[k]);
        for (uint64_t i = 0; i < mote_cloud_count(cloud); i++, at += stride_bytes) {
            store(spec.type, normal_at(axes, i, k), at);
        }
    }
}
