/* Planes of the GPU are those of the CPU, byte for byte; and each entry against the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "mote/gen.h"
#include "mote/planes.h"
#include "parity/parity_support.h"
#include "planes/planes.h"
#include "reference/planes_reference.h"
#include "reference/planes_scenes.h"

#define GUARD 3u /* labels behind the last, which nobody may write */

static void must(mote_context *ctx, mote_status status, const char *what) {
    if (status != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
}

/* ---- what both give */

typedef struct answer {
    mote_planes *planes;
    int32_t *labels;
    uint64_t count;
} answer;

static answer find(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params, const char *what) {
    answer a = {NULL, NULL, mote_cloud_count(cloud)};
    a.labels = malloc((a.count + GUARD) * sizeof *a.labels);
    assert_non_null(a.labels);
    memset(a.labels, 0x5A, (a.count + GUARD) * sizeof *a.labels);
    must(ctx, mote_planes_find(ctx, cloud, params, a.labels, &a.planes), what);
    return a;
}

static void free_answer(answer *a) {
    mote_planes_destroy(a->planes);
    free(a->labels);
}

static void same_bytes(const void *a, const void *b, uint64_t size_bytes, const char *what, const char *component,
                       uint64_t i) {
    if (memcmp(a, b, size_bytes) != 0) fail_msg("%s: %s %llu differs", what, component, (unsigned long long)i);
}

static void same_facts(const mote_planes_facts *a, const mote_planes_facts *b, const char *what) {
    const double x[] = {a->extent, a->spacing, a->noise, a->tolerance, a->bin, a->cell, a->resolution_deg};
    const double y[] = {b->extent, b->spacing, b->noise, b->tolerance, b->bin, b->cell, b->resolution_deg};
    for (uint32_t i = 0; i < sizeof x / sizeof x[0]; i++)
        same_bytes(&x[i], &y[i], sizeof x[i], what, "facts, measure", i);
    const uint64_t m[] = {a->min_points, a->sample,   a->directions, a->bins,    a->rounds, a->votes,
                          a->points,     a->labelled, a->skipped,    a->outside, a->normals};
    const uint64_t n[] = {b->min_points, b->sample,   b->directions, b->bins,    b->rounds, b->votes,
                          b->points,     b->labelled, b->skipped,    b->outside, b->normals};
    for (uint32_t i = 0; i < sizeof m / sizeof m[0]; i++)
        same_bytes(&m[i], &n[i], sizeof m[i], what, "facts, count", i);
}

static void same_answers(const answer *a, const answer *b, const char *what) {
    const mote_planes_facts facts = mote_planes_get_facts(a->planes), others = mote_planes_get_facts(b->planes);
    same_facts(&facts, &others, what);
    if (mote_planes_count(a->planes) != mote_planes_count(b->planes)) {
        fail_msg("%s: %u planes, on the CPU %u", what, mote_planes_count(b->planes), mote_planes_count(a->planes));
    }
    for (uint32_t i = 0; i < mote_planes_count(a->planes); i++) {
        uint32_t one, other;
        const double *hull = mote_planes_hull(a->planes, i, &one), *hull_b = mote_planes_hull(b->planes, i, &other);
        same_bytes(mote_planes_at(a->planes, i), mote_planes_at(b->planes, i), sizeof(mote_plane), what, "plane", i);
        same_bytes(&one, &other, sizeof one, what, "size of hull", i);
        same_bytes(hull, hull_b, 3 * (uint64_t)one * sizeof *hull, what, "hull", i);
    }
    for (uint64_t i = 0; i < a->count + GUARD; i++) {
        same_bytes(&a->labels[i], &b->labels[i], sizeof *a->labels, what, "label", i);
    }
}

/* ---- one search on both */

static void compare(const parity_pair *pair, const mote_cloud *cloud, const mote_planes_params *params,
                    const char *name) {
    char what[200];
    if (!parity_is_mine()) return;
    snprintf(what, sizeof what, "%s, %llu points", name, (unsigned long long)mote_cloud_count(cloud));
    answer cpu = find(pair->cpu, cloud, params, what), cuda = find(pair->cuda, cloud, params, what);
    same_answers(&cpu, &cuda, what);
    free_answer(&cpu);
    free_answer(&cuda);
}

/* Winners, too few directions to take long: all, and the best of them alone. on_device: the cloud or its copy there. */
static void compare_votes_of(const parity_pair *pair, const mote_cloud *cloud, const mote_cloud *on_device,
                             const mote_planes_params *params, const char *name) {
    enum { MAX_PEAKS = 5000 };
    if (!parity_is_mine()) return;
    static const uint32_t wanted[] = {MAX_PEAKS, 1, 6};
    mote_planes_peak *cpu = calloc(MAX_PEAKS, sizeof *cpu), *other = calloc(MAX_PEAKS, sizeof *other);
    mote_planes_facts facts, others;
    uint32_t count, count_b;
    assert_non_null(cpu);
    assert_non_null(other);
    must(pair->cpu, mote_planes_vote(pair->cpu, cloud, params, MAX_PEAKS, cpu, &count, &facts), name);
    for (uint32_t turn = 0; turn < 6; turn++) {
        mote_context *ctx = turn % 2 == 0 ? pair->cuda : pair->cpu;
        /* How the CPU chooses among its own is as true of small clouds, and here most of a run's time. */
        if (turn % 2 == 1 && parity_extent(1, 1, 0) == 0) continue;
        const uint32_t max = wanted[turn / 2];
        must(ctx, mote_planes_vote(ctx, turn % 2 == 0 ? on_device : cloud, params, max, other, &count_b, &others),
             name);
        same_facts(&facts, &others, name);
        const uint32_t expected = count < max ? count : max;
        same_bytes(&expected, &count_b, sizeof expected, name, "number of peaks", turn);
        for (uint32_t i = 0; i < expected; i++) same_bytes(&cpu[i], &other[i], sizeof *cpu, name, "peak", i);
    }
    free(cpu);
    free(other);
}

static void compare_votes(const parity_pair *pair, const mote_cloud *cloud, const mote_planes_params *params,
                          const char *name) {
    compare_votes_of(pair, cloud, cloud, params, name);
}

static mote_cloud *generate(mote_context *ctx, const char *kind, uint64_t count, double noise_m, double outliers) {
    mote_gen_params params = mote_gen_defaults(kind);
    mote_cloud *cloud = NULL;
    params.noise_m = noise_m;
    params.outlier_ratio = outliers;
    must(ctx, mote_generate(ctx, kind, count, &params, &cloud), kind);
    return cloud;
}

/* Few directions: the CPU plays the GPU. */
static mote_planes_params coarse(void) {
    mote_planes_params params = mote_planes_defaults();
    params.resolution_deg = (double)parity_extent(10, 8, 2);
    return params;
}

/* ---- clouds of our own: x y z double, and normals if wanted */

typedef void (*place_fn)(uint64_t i, double at[3], float normal[3]);

static mote_cloud *make_cloud(mote_context *ctx, uint64_t count, place_fn place) {
    static const mote_column_spec specs[6] = {{"x", MOTE_FLOAT64, 0, 0},        {"y", MOTE_FLOAT64, 0, 0},
                                              {"z", MOTE_FLOAT64, 0, 0},        {"normal_x", MOTE_FLOAT32, 0, 0},
                                              {"normal_y", MOTE_FLOAT32, 0, 0}, {"normal_z", MOTE_FLOAT32, 0, 0}};
    mote_cloud *cloud = NULL;
    must(ctx, mote_cloud_create(ctx, count, specs, 6, &cloud), "making a cloud");
    for (uint64_t i = 0; i < count; i++) {
        double at[3];
        float normal[3];
        place(i, at, normal);
        for (uint32_t k = 0; k < 6; k++) {
            const mote_column *column = mote_cloud_find(cloud, specs[k].name);
            uint8_t *to = (uint8_t *)mote_cloud_column_data(cloud, specs[k].name) + i * column->stride_bytes;
            memcpy(to, k < 3 ? (const void *)&at[k] : (const void *)&normal[k - 3], k < 3 ? 8 : 4);
        }
    }
    return cloud;
}

static double unit(uint64_t seed, uint64_t i) { return (double)(mote_hash_pair(seed, i) >> 11) * 0x1p-53; }

/* Two walls and a floor far from the origin; some positions are not finite, some normals are none. */
static void place_corner(uint64_t i, double at[3], float normal[3]) {
    const int wall = (int)(i % 3);
    for (int k = 0; k < 3; k++) {
        at[k] = 4 * unit((uint64_t)k, i);
        normal[k] = k == wall ? 1.0f : 0.02f * (float)unit(7, i);
    }
    at[wall] = 0.004 * unit(9, i);
    if (i % 41 == 5) at[i % 3] = i % 2 == 0 ? NAN : INFINITY;
    if (i % 29 == 3) memset(normal, 0, 3 * sizeof *normal);
    if (i % 31 == 4) normal[1] = NAN;
    at[0] += 483200;
    at[1] += 5455300;
}

static void place_sphere(uint64_t i, double at[3], float normal[3]) {
    const double phi = acos(2 * unit(1, i) - 1), theta = 6.283185307179586 * unit(2, i);
    at[0] = sin(phi) * cos(theta);
    at[1] = sin(phi) * sin(theta);
    at[2] = cos(phi);
    for (int k = 0; k < 3; k++) normal[k] = (float)at[k];
}

static void place_once(uint64_t i, double at[3], float normal[3]) {
    (void)i;
    at[0] = at[1] = 3;
    at[2] = -1;
    normal[0] = normal[1] = normal[2] = 0;
}

/* Mostly a floor, and strays so far out that they blur the lattice. */
static void place_strays(uint64_t i, double at[3], float normal[3]) {
    place_corner(3 * i, at, normal);
    if (i % 900 == 7) at[1] += 1e9;
}

/* Places strays, so few that they are left out. */
static void place_few_strays(uint64_t i, double at[3], float normal[3]) {
    place_corner(3 * i, at, normal);
    if (i % 2500 == 7) at[1] += 1e9;
}

/* A floor: of 25 points 15 in one place, which says how dense points are, and an island of ten. */
static void place_islands(uint64_t i, double at[3], float normal[3]) {
    const uint64_t island = i / 25, k = i % 25, of_floor = 15 * island + k - 10;
    at[0] = k < 10 ? (double)(island % 40) + 0.01 * (double)(k % 5) : -2 + 0.01 * (double)(of_floor % 100);
    at[1] = k < 10 ? (double)(island / 40) + 0.01 * (double)(k / 5) : 0.01 * (double)(of_floor / 100);
    at[2] = 0.001 * unit(11, i);
    memset(normal, 0, 3 * sizeof *normal);
}

/* A table of 2 m, and two sides of a box of 0.3 m on it, whose planes cross it from edge to edge. */
static void place_box(uint64_t i, double at[3], float normal[3]) {
    const double off = 0.002 * (unit(3, i) + unit(4, i) + unit(5, i) - 1.5);
    const uint64_t along = i % 20;
    if (along > 1) {
        at[0] = 2 * unit(1, i) - 1, at[1] = 2 * unit(2, i) - 1, at[2] = off;
    } else {
        at[along] = 0.3 * unit(1, i), at[1 - along] = off, at[2] = 0.3 * unit(2, i);
    }
    memset(normal, 0, 3 * sizeof *normal);
}

/* ---- tests */

/* Planes of the vote end, the same on both: what they cross beyond their ends belongs to the table. */
static void ends_are_the_same(void **state) {
    const parity_pair *pair = *state;
    const uint64_t count = parity_extent(8000, 20000, 200000);
    const mote_planes_params params = coarse();
    uint32_t lines = 0, others = 0;
    if (!parity_is_mine()) return;
    mote_cloud *cloud = make_cloud(pair->cpu, count, place_box);
    answer cpu = find(pair->cpu, cloud, &params, "a box"), cuda = find(pair->cuda, cloud, &params, "a box");
    assert_int_equal(mote_planes_count(cpu.planes), 3);
    for (uint64_t i = 0; i < count; i++) {
        double at[3];
        float normal[3];
        place_box(i, at, normal);
        const bool beyond = fmin(at[0], at[1]) < -0.15 || fmax(at[0], at[1]) > 0.45;
        if (i % 20 <= 1 || !beyond || fmin(fabs(at[0]), fabs(at[1])) > 0.001) continue;
        lines++;
        others += cpu.labels[i] != 0; /* the table has the most points */
    }
    assert_true(lines > 0 && 10 * others < lines); /* half of them, if planes had no ends */
    same_answers(&cpu, &cuda, "a box");
    free_answer(&cpu);
    free_answer(&cuda);
    mote_cloud_destroy(cloud);
}

/* A stair whose noise hides its steps: one body, which is split into its treads and risers. */
static void bodies_are_the_same(void **state) {
    const parity_pair *pair = *state;
    planes_scene_params how;
    planes_scene scene;
    const mote_planes_params params = coarse();
    if (!parity_is_mine()) return;
    memset(&how, 0, sizeof how);
    how.kind = PLANES_SCENE_STAIRS;
    how.seed = 5;
    how.points = 5000;
    how.noise_m = 0.03;
    planes_scene_make(pair->cpu, &how, NULL, &scene);
    answer cpu = find(pair->cpu, scene.cloud, &params, "a stair");
    answer cuda = find(pair->cuda, scene.cloud, &params, "a stair");
    assert_true(mote_planes_count(cpu.planes) >= 15); /* otherwise the body was left as it is */
    same_answers(&cpu, &cuda, "a stair");
    free_answer(&cpu);
    free_answer(&cuda);
    planes_scene_free(&scene);
}

/* One coarse cloud of each kind. */
static void rooms_are_the_same(void **state) {
    const parity_pair *pair = *state;
    static const double kinds[][2] = {{0.003, 0.1}, {0.02, 0.5}, {0, 0}};
    static const char *const names[] = {"room", "a hard room", "a room without noise"};
    for (uint32_t i = 0; i < parity_extent(1, 3, 3); i++) {
        const mote_planes_params params = coarse();
        mote_cloud *cloud = generate(pair->cpu, "room", parity_extent(600, 5000, 1000000), kinds[i][0], kinds[i][1]);
        compare(pair, cloud, &params, names[i]);
        mote_cloud_destroy(cloud);
    }
}

static void ways_are_the_same(void **state) {
    const parity_pair *pair = *state;
    for (uint32_t way = 0; way < parity_extent(2, 7, 7); way++) {
        mote_planes_params params = coarse();
        mote_cloud *cloud = make_cloud(pair->cpu, parity_extent(400, 2500, 200000), place_corner);
        params.votes = way == 0 ? MOTE_PLANES_VOTE_NORMALS : MOTE_PLANES_VOTE_ALL;
        params.components = way == 1;
        params.greedy = way == 2;
        params.whole = way == 3;
        params.normal_deg = way == 4 ? 90 : 45;
        params.sample = way == 5 ? UINT64_MAX : way == 6 ? 300 : 0;
        params.tolerance = way == 6 ? 0.01 : 0;
        compare(pair, cloud, &params, "a corner far away");
        mote_cloud_destroy(cloud);
    }
}

static void shapes_are_the_same(void **state) {
    const parity_pair *pair = *state;
    static const place_fn shapes[] = {place_sphere, place_once, place_strays};
    static const uint64_t counts[] = {2000, 10, 4000};
    for (uint32_t i = 0; i < parity_extent(2, 3, 3); i++) {
        const mote_planes_params params = coarse();
        mote_cloud *cloud = make_cloud(pair->cpu, counts[i], shapes[i]);
        compare(pair, cloud, &params, i == 0 ? "a sphere" : i == 1 ? "ten equal points" : "strays");
        mote_cloud_destroy(cloud);
    }
}

static void sizes_are_the_same(void **state) {
    const parity_pair *pair = *state;
    static const uint64_t counts[] = {33, 1, 257, 0, 2, 3, 31, 32, 127, 128, 129, 255, 256, 1000};
    for (uint32_t i = 0; i < parity_extent(3, 14, 14); i++) {
        mote_planes_params params = coarse();
        params.min_points = 8;
        mote_cloud *cloud = make_cloud(pair->cpu, counts[i], place_corner);
        compare(pair, cloud, &params, "a corner");
        mote_cloud_destroy(cloud);
    }
}

/* More parts than come to the host with their number. */
static void many_parts_are_the_same(void **state) {
    const parity_pair *pair = *state;
    const uint64_t islands = parity_extent(60, 1200, 4000);
    if (!parity_is_mine()) return;
    mote_planes_params params = coarse();
    params.components = true;
    params.tolerance = 0.005;
    params.min_points = 8;
    mote_cloud *cloud = make_cloud(pair->cpu, 25 * islands, place_islands);
    answer cpu = find(pair->cpu, cloud, &params, "islands"), cuda = find(pair->cuda, cloud, &params, "islands");
    assert_int_equal(mote_planes_count(cpu.planes), islands + 1);
    same_answers(&cpu, &cuda, "islands");
    free_answer(&cpu);
    free_answer(&cuda);
    mote_cloud_destroy(cloud);
}

/* From few bins to so many that they take turns: all ways to lay out counters. */
static void votes_are_the_same(void **state) {
    const parity_pair *pair = *state;
    static const double bins[] = {150, 600, 1500, 3000, 6000, 30000, 60000};
    for (uint32_t i = 0; i < parity_extent(2, 7, 7); i++) {
        for (uint32_t way = 0; way < parity_extent(1, 2, 3); way++) {
            char what[100];
            mote_planes_params params = coarse();
            if (i >= 3) params.resolution_deg = 10;
            if (way == 2) params.directions = MOTE_PLANES_GRID;
            if (way == 1) params.votes = MOTE_PLANES_VOTE_NORMALS;
            params.bin = 6.94 / bins[i];
            params.suppress_bins = i == 1 ? 7 : 0;
            params.sample = i == 2 ? 700 : 0;
            mote_cloud *cloud = make_cloud(pair->cpu, parity_extent(200, 3000 / (1 + i), 100000), place_corner);
            snprintf(what, sizeof what, "%g bins, way %u", bins[i], way);
            compare_votes(pair, cloud, &params, what);
            mote_cloud_destroy(cloud);
        }
    }
}

/* ---- the first directions of the grid, which crowd around the pole: all take the emulated GPU too long */

typedef struct crowd {
    uint32_t directions, bins, count;
    uint32_t *counters;
    planes_peak peaks[500];
} crowd;

static void keep_first(planes_directions *table, uint32_t directions) {
    uint32_t representatives = 0;
    for (uint32_t d = 0; d < directions; d++) {
        const uint32_t from = table->first[d];
        table->first[d] = representatives;
        for (uint32_t i = from; i < table->first[d + 1]; i++) {
            if (table->near[i] >> 1 < directions) table->near[representatives++] = table->near[i];
        }
    }
    table->first[directions] = representatives;
    table->directions = directions;
}

static crowd *vote_in_crowd(mote_device *device, const mote_cloud *cloud) {
    mote_context *ctx = device->ctx;
    const mote_planes_ops *ops = device->backend->planes;
    mote_planes_params params = mote_planes_defaults();
    planes_run run;
    crowd *c = calloc(1, sizeof *c);
    assert_non_null(c);
    memset(&run, 0, sizeof run);
    params.directions = MOTE_PLANES_GRID;
    run.ctx = ctx;
    run.ops = ops;
    must(ctx, ops->open(device, cloud, false, &run.points), "open");
    must(ctx, planes_frame_points(&run), "place");
    must(ctx, planes_directions_open(ctx, &params, run.scale.radius, run.scale.radius / 20.3, &run.table), "table");
    must(ctx, planes_directions_fill(ctx, run.table), "table");
    if (parity_extent(0, 0, 1) == 0) keep_first(run.table, 3 * 180 + 7);
    c->directions = run.table->directions;
    c->bins = run.table->bins;
    c->counters = calloc((uint64_t)c->directions * c->bins, sizeof *c->counters);
    assert_non_null(c->counters);
    const planes_voting how = {run.points->count, run.table, 2, 2, 500};
    must(ctx, ops->vote(run.points, &how, c->peaks, &c->count), "vote");
    must(ctx, ops->read_votes(run.points, c->counters), "votes");
    planes_directions_free(ctx, run.table);
    ops->release(run.points);
    return c;
}

static void crowded_directions_are_the_same(void **state) {
    const parity_pair *pair = *state;
    if (!parity_is_mine()) return;
    mote_cloud *cloud = make_cloud(pair->cpu, parity_extent(100, 700, 20000), place_corner);
    crowd *cpu = vote_in_crowd(mote_cpu_device(pair->cpu), cloud);
    crowd *cuda = vote_in_crowd(gpu_of(pair->cuda), cloud);
    assert_int_equal(cuda->directions, cpu->directions);
    assert_int_equal(cuda->bins, cpu->bins);
    assert_int_equal(cuda->count, cpu->count);
    assert_in_range(cpu->count, 1, 500);
    same_bytes(cpu->counters, cuda->counters, 4ull * cpu->directions * cpu->bins, "grid", "votes", 0);
    same_bytes(cpu->peaks, cuda->peaks, cpu->count * sizeof *cpu->peaks, "grid", "peaks", 0);
    free(cpu->counters);
    free(cuda->counters);
    free(cpu);
    free(cuda);
    mote_cloud_destroy(cloud);
}

/* All points vote for the same: a counter of 16 bits would not hold it, and blocks share a direction. */
static void many_votes_are_counted(void **state) {
    const parity_pair *pair = *state;
    mote_planes_params params = coarse();
    params.resolution_deg = 10;
    params.bin = 1;
    mote_cloud *cloud = make_cloud(pair->cpu, parity_extent(2000, 140000, 140000), place_once);
    compare_votes(pair, cloud, &params, "one place");
    mote_cloud_destroy(cloud);
}

/* Votes with and without what is measured beside them, where points are left out and where they are not. */
static void shapes_vote_the_same(void **state) {
    const parity_pair *pair = *state;
    static const place_fn shapes[] = {place_few_strays, place_corner, place_once, place_sphere};
    for (uint32_t i = 0; i < parity_extent(2, 8, 8); i++) {
        mote_planes_params params = coarse();
        params.bin = i < 4 ? 0.3 : 0;
        params.tolerance = i % 2 == 0 ? 0.01 : 0;
        mote_cloud *cloud = make_cloud(pair->cpu, parity_extent(1200, 12000, 100000), shapes[i % 4]), *copy = NULL;
        must(pair->cuda, mote_cloud_to_device(pair->cuda, cloud, &copy), "uploading");
        compare_votes_of(pair, cloud, cloud, &params, "on the host");
        compare_votes_of(pair, cloud, copy, &params, "on the device");
        mote_cloud_destroy(copy);
        mote_cloud_destroy(cloud);
    }
}

/* Directions stay with the context: others, and the same with other bins, take their place. */
static void directions_may_change(void **state) {
    const parity_pair *pair = *state;
    static const double resolutions[] = {10, 10, 7, 10, 7}, bins[] = {0.3, 0.2, 0.2, 0.2, 0.3};
    static const double radii[] = {0, 0, 0, 9, 0};
    mote_cloud *cloud = make_cloud(pair->cpu, 300, place_corner);
    for (uint32_t i = 0; i < 5; i++) {
        mote_planes_params params = mote_planes_defaults();
        params.resolution_deg = resolutions[i];
        params.suppress_deg = radii[i];
        params.bin = bins[i];
        compare_votes(pair, cloud, &params, "other directions");
        if (i == 2) mote_context_trim(pair->cuda);
        if (i == 3) mote_context_trim(pair->cpu);
    }
    mote_cloud_destroy(cloud);
}

static void clouds_may_lie_on_the_device(void **state) {
    const parity_pair *pair = *state;
    const mote_planes_params params = coarse();
    if (!parity_is_mine()) return;
    mote_cloud *cloud = make_cloud(pair->cpu, 1200, place_corner), *copy = NULL;
    answer cpu = find(pair->cpu, cloud, &params, "on the host");
    must(pair->cuda, mote_cloud_to_device(pair->cuda, cloud, &copy), "uploading");
    answer cuda = find(pair->cuda, copy, &params, "on the device");
    same_answers(&cpu, &cuda, "on the device");
    free_answer(&cpu);
    free_answer(&cuda);
    mote_cloud_destroy(copy);
    mote_cloud_destroy(cloud);
}

static void entries_are_right(void **state) {
    const parity_pair *pair = *state;
    static const uint64_t sizes[] = {300, 1, 9, 700};
    const uint32_t step = (uint32_t)parity_extent(9, 2, 1);
    for (uint32_t c = 0, turn = 0; c < awkward_cloud_count; c += step) {
        for (uint32_t s = 0; s < parity_extent(1, 3, 4); s++, turn++) {
            char what[160];
            if (!parity_is_mine()) continue;
            mote_planes_params params = mote_planes_defaults();
            params.resolution_deg = 8 + turn % 3;
            params.suppress_deg = 5 + 4 * (turn % 5);
            mote_cloud *cloud = awkward_cloud_make(pair->cuda, &awkward_clouds[c], sizes[s], 0);
            snprintf(what, sizeof what, "%s, %llu points", awkward_clouds[c].name, (unsigned long long)sizes[s]);
            planes_reference_check(mote_device_choose(pair->cuda, UINT64_MAX), cloud, &params, what);
            mote_cloud_destroy(cloud);
        }
    }
}

/* Wherever memory ends, it is said so, and nothing is kept: closing the context would tell. */
static void memory_may_run_out(void **state) {
    const parity_pair *pair = *state;
    const mote_planes_params params = coarse();
    const uint64_t steps = parity_extent(6, 20, 40);
    uint32_t refused = 0, found = 0;
    if (!parity_is_mine()) return;
    mote_cloud *cloud = make_cloud(pair->cpu, 1500, place_corner);
    for (uint64_t i = 0; i < steps; i++) {
        mote_planes *planes = NULL;
        const uint64_t limit = 100000 + (i + 1) * (i + 1) * (30000000 / (steps * steps));
        mote_context *ctx = parity_context(i + 1 < steps ? limit : 0);
        assert_non_null(ctx);
        const mote_status status = mote_planes_find(ctx, cloud, &params, NULL, &planes);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        assert_true((status == MOTE_OK) == (planes != NULL));
        if (status == MOTE_OK) found++;
        if (status == MOTE_ERROR_MEMORY) refused++;
        mote_planes_destroy(planes);
        mote_context_destroy(ctx);
    }
    assert_true(refused > 0 && found > 0);
    mote_cloud_destroy(cloud);
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        PARITY_TEST(votes_are_the_same),      PARITY_TEST(crowded_directions_are_the_same),
        PARITY_TEST(many_votes_are_counted),  PARITY_TEST(entries_are_right),
        PARITY_TEST(sizes_are_the_same),      PARITY_TEST(shapes_are_the_same),
        PARITY_TEST(rooms_are_the_same),      PARITY_TEST(shapes_vote_the_same),
        PARITY_TEST(directions_may_change),   PARITY_TEST(ways_are_the_same),
        PARITY_TEST(many_parts_are_the_same), PARITY_TEST(clouds_may_lie_on_the_device),
        PARITY_TEST(memory_may_run_out),      PARITY_TEST(bodies_are_the_same),
        PARITY_TEST(ends_are_the_same),
    };
    return cmocka_run_group_tests_name("planes, CPU = GPU", tests, NULL, NULL);
}
