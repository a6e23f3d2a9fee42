/* Planes of scenes of many kinds: how many are found, how many are none, how far off they are.
     planes_scenes_test table [SEEDS [POINTS [KIND [verbose]]]]
   prints the table of docs/planes.md; SEEDS: how many, or FIRST-LAST.
     planes_scenes_test write FOLDER [SEEDS [POINTS]]
   writes the scenes, N.xyz (doubles) and N.noise (its noise, a text), for other programs;
     planes_scenes_test judge FOLDER [SEEDS [POINTS]]
   judges what they made of them: N.labels, an int32 a point.
     planes_scenes_test hash [SEEDS [POINTS [KIND]]]
   prints a hash of the answer to each scene, and seconds, to compare two builds: labels, planes, hulls, facts and what
   was refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "math/hash.h"
#include "reference/planes_scenes.h"
#include "support/support.h"

/* Which scene: noise and outliers differ from seed to seed, the same for all kinds. Where outliers are most, the noise
   is not the largest as well: stairs of 30 mm among 80 % are nobody's. */
static planes_scene_params scene_of(uint64_t kind, uint64_t seed, uint64_t points) {
    static const double noise[8] = {0, 0.001, 0.003, 0.01, 0.006, 0.03, 0.02, 0.01};
    static const double outliers[8] = {0, 0.1, 0.3, 0, 0.6, 0.05, 0.3, 0.8};
    planes_scene_params p;
    memset(&p, 0, sizeof p);
    p.kind = (planes_scene_kind)kind;
    p.seed = seed;
    p.points = points;
    p.noise_m = noise[seed % 8];
    p.outliers = outliers[seed % 8];
    p.scanned = seed / 2 % 2 == 1;
    p.turned = seed % 2 == 1;
    p.far_away = seed % 4 >= 2;
    return p;
}

static void add_score(planes_scene_score *all, const planes_scene_score *one) {
    all->planes += one->planes;
    all->found += one->found;
    all->false_planes += one->false_planes;
    all->split += one->split;
    all->angle_deg = fmax(all->angle_deg, one->angle_deg);
    all->offset_m = fmax(all->offset_m, one->offset_m);
}

/* What was refused, of at least half the points that a plane has. */
static void print_refused(const mote_planes *planes, uint64_t points) {
    for (uint32_t i = 0; i < mote_planes_refused_count(planes); i++) {
        const mote_plane_refused *r = mote_planes_refused_at(planes, i);
        if (r->points * 400 < points) continue;
        printf("   refused: %llu points, normal %.3f %.3f %.3f, %.2f mm, %.2f m: %d, %g, limit %g\n",
               (unsigned long long)r->points, r->normal[0], r->normal[1], r->normal[2], 1e3 * r->noise, r->size,
               (int)r->reason, r->value, r->limit);
    }
}

static planes_scene_score try_scene(const planes_scene_params *p, int threads, bool missed, double *seconds) {
    mote_context *ctx = test_context(threads);
    planes_scene scene;
    mote_planes *planes;
    planes_scene_make(ctx, p, NULL, &scene);
    int32_t *labels = planes_scene_array(p->points, sizeof *labels);
    const clock_t start = clock();
    mote_planes_params params = mote_planes_defaults();
    params.components = p->kind == PLANES_SCENE_FACADE; /* its panes are on one plane */
    params.explain = missed;
    assert_int_equal(mote_planes_find(ctx, scene.cloud, &params, labels, &planes), MOTE_OK);
    *seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    const planes_scene_score score = planes_scene_judge(&scene, labels, mote_planes_count(planes), planes);
    if (missed) planes_scene_print_missed(&scene, labels, mote_planes_count(planes));
    if (missed) print_refused(planes, p->points);
    mote_planes_destroy(planes);
    free(labels);
    planes_scene_free(&scene);
    mote_context_destroy(ctx);
    return score;
}

static void print_score(const char *name, const planes_scene_score *s, double seconds) {
    printf("%-16s %5u planes  %5u found (%5.1f %%)  %3u false  %3u split  %7.3f deg  %7.2f mm  %6.2f s\n", name,
           s->planes, s->found, s->planes > 0 ? 100.0 * s->found / s->planes : 100.0, s->false_planes, s->split,
           s->angle_deg, 1e3 * s->offset_m, seconds);
}

static int print_table(uint64_t first, uint64_t last, uint64_t points, uint64_t only, bool verbose) {
    planes_scene_score all = {0, 0, 0, 0, 0, 0};
    double all_seconds = 0;
    for (uint64_t kind = 0; kind < PLANES_SCENE_KINDS; kind++) {
        planes_scene_score sum = {0, 0, 0, 0, 0, 0};
        double seconds = 0;
        if (only < PLANES_SCENE_KINDS && kind != only) continue;
        for (uint64_t seed = first; seed <= last; seed++) {
            const planes_scene_params p = scene_of(kind, seed, points);
            double taken = 0;
            const planes_scene_score one = try_scene(&p, 1, verbose, &taken);
            char name[64];
            snprintf(name, sizeof name, " seed %2d %2.0f mm %2.0f %%", (int)seed, 1e3 * p.noise_m, 100 * p.outliers);
            if (verbose) print_score(name, &one, taken);
            add_score(&sum, &one);
            seconds += taken;
        }
        print_score(planes_scene_name((planes_scene_kind)kind), &sum, seconds);
        fflush(stdout);
        add_score(&all, &sum);
        all_seconds += seconds;
    }
    print_score("all", &all, all_seconds);
    return 0;
}

/* ---- for other programs */

static FILE *open_file(const char *folder, uint64_t number, const char *ending, const char *mode) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%llu.%s", folder, (unsigned long long)number, ending);
    return fopen(path, mode);
}

static int write_scenes(const char *folder, uint64_t seeds, uint64_t points) {
    double *positions = planes_scene_array(3 * points, sizeof *positions);
    for (uint64_t i = 0; i < seeds * PLANES_SCENE_KINDS; i++) {
        const planes_scene_params p = scene_of(i / seeds, i % seeds, points);
        planes_scene scene;
        planes_scene_make(NULL, &p, positions, &scene);
        FILE *file = open_file(folder, i, "xyz", "wb");
        assert_non_null(file);
        fwrite(positions, sizeof *positions, 3 * points, file);
        fclose(file);
        file = open_file(folder, i, "noise", "w");
        assert_non_null(file);
        fprintf(file, "%g\n", p.noise_m);
        fclose(file);
        planes_scene_free(&scene);
    }
    free(positions);
    return 0;
}

static int judge_scenes(const char *folder, uint64_t seeds, uint64_t points) {
    int32_t *labels = planes_scene_array(points, sizeof *labels);
    planes_scene_score all = {0, 0, 0, 0, 0, 0};
    for (uint64_t kind = 0; kind < PLANES_SCENE_KINDS; kind++) {
        planes_scene_score sum = {0, 0, 0, 0, 0, 0};
        for (uint64_t seed = 0; seed < seeds; seed++) {
            const planes_scene_params p = scene_of(kind, seed, points);
            planes_scene scene;
            FILE *file = open_file(folder, kind * seeds + seed, "labels", "rb");
            uint32_t count = 0;
            if (file == NULL || fread(labels, sizeof *labels, points, file) != points) return 1;
            fclose(file);
            for (uint64_t i = 0; i < points; i++) count = labels[i] >= (int32_t)count ? (uint32_t)labels[i] + 1 : count;
            planes_scene_make(NULL, &p, NULL, &scene);
            const planes_scene_score one = planes_scene_judge(&scene, labels, count, NULL);
            add_score(&sum, &one);
            planes_scene_free(&scene);
        }
        print_score(planes_scene_name((planes_scene_kind)kind), &sum, 0);
        add_score(&all, &sum);
    }
    print_score("all", &all, 0);
    free(labels);
    return 0;
}

/* ---- answers as hashes */

/* In words of 64 bits; size: a multiple of 4. */
static uint64_t hash_bytes(uint64_t hash, const void *data, uint64_t size) {
    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, (const uint8_t *)data + i, size - i < 8 ? size - i : 8);
        hash = mote_hash_pair(hash, word);
    }
    return hash;
}

static uint64_t hash_answer(const mote_planes *planes, const int32_t *labels, uint64_t points) {
    const mote_planes_facts facts = mote_planes_get_facts(planes);
    uint64_t hash = hash_bytes(mote_planes_count(planes), labels, points * sizeof *labels);
    for (uint32_t i = 0; i < mote_planes_count(planes); i++) {
        uint32_t corners;
        const double *hull = mote_planes_hull(planes, i, &corners);
        hash = hash_bytes(hash, mote_planes_at(planes, i), sizeof(mote_plane));
        hash = hash_bytes(hash, hull, 3 * corners * sizeof *hull);
    }
    for (uint32_t i = 0; i < mote_planes_refused_count(planes); i++) {
        hash = hash_bytes(hash, mote_planes_refused_at(planes, i), sizeof(mote_plane_refused));
    }
    hash = hash_bytes(hash, &facts.noise, sizeof facts.noise);
    hash = hash_bytes(hash, &facts.tolerance, sizeof facts.tolerance);
    return hash_bytes(hash, &facts.labelled, sizeof facts.labelled);
}

/* What was refused is asked for every second time, as it leaves fewer ways to stop early. */
static int print_hashes(uint64_t first, uint64_t last, uint64_t points, uint64_t only) {
    mote_context *ctx = test_context(1);
    int32_t *labels = planes_scene_array(points, sizeof *labels);
    double all_seconds = 0;
    for (uint64_t kind = 0; kind < PLANES_SCENE_KINDS; kind++) {
        for (uint64_t seed = first; seed <= last; seed++) {
            const planes_scene_params p = scene_of(kind, seed, points);
            planes_scene scene;
            mote_planes *planes;
            if (only < PLANES_SCENE_KINDS && kind != only) continue;
            planes_scene_make(ctx, &p, NULL, &scene);
            mote_planes_params params = mote_planes_defaults();
            params.components = p.kind == PLANES_SCENE_FACADE;
            params.explain = seed % 2 == 1;
            const clock_t start = clock();
            assert_int_equal(mote_planes_find(ctx, scene.cloud, &params, labels, &planes), MOTE_OK);
            const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
            printf("%-16s %2llu  %016llx  %.3f s\n", planes_scene_name(p.kind), (unsigned long long)seed,
                   (unsigned long long)hash_answer(planes, labels, points), seconds);
            fflush(stdout);
            all_seconds += seconds;
            mote_planes_destroy(planes);
            planes_scene_free(&scene);
        }
    }
    printf("all %.2f s\n", all_seconds);
    free(labels);
    mote_context_destroy(ctx);
    return 0;
}

static uint64_t number_of(int argc, char **argv, int i, uint64_t otherwise) {
    return argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
}

/* ---- tests */

#define POINTS           10000u
#define SCALED_POINTS    5000u
#define FEW_POINTS_FOUND 0.95
#define SEEDS            test_extent(1, 4)

/* Planes that are missed, and false or split ones, of four scenes at most: what was measured, and one more where that
   is not 0. Anything beyond is a change that makes planes worse. */
static const struct {
    uint32_t missed, wrong;
} bounds[PLANES_SCENE_KINDS] = {
    {0, 0},  /* room */
    {4, 0},  /* room, tables */
    {10, 0}, /* room, clutter */
    {0, 0},  /* L room */
    {2, 0},  /* stairs */
    {0, 0},  /* slabs */
    {0, 0},  /* fan */
    {2, 0},  /* gable roofs */
    {2, 0},  /* hip roofs */
    {3, 0},  /* boxes */
    {0, 2},  /* round things */
    {3, 0},  /* roofs, balls */
    {0, 0},  /* 30 rectangles */
    {2, 0},  /* 100 rectangles */
    {0, 0},  /* terrain, houses */
    {0, 0},  /* facade */
    {0, 4},  /* nothing flat */
};

static void planes_of_scenes_are_found(void **state) {
    (void)state;
    for (uint64_t kind = 0; kind < PLANES_SCENE_KINDS; kind++) {
        planes_scene_score sum = {0, 0, 0, 0, 0, 0};
        double seconds = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            const planes_scene_params p = scene_of(kind, seed, POINTS);
            const planes_scene_score one = try_scene(&p, 2, false, &seconds);
            add_score(&sum, &one);
        }
        if (sum.planes - sum.found <= bounds[kind].missed && sum.false_planes + sum.split <= bounds[kind].wrong) {
            continue;
        }
        print_score(planes_scene_name((planes_scene_kind)kind), &sum, seconds);
        fail_msg("worse than it was");
    }
}

/* Stairs of 30 mm of noise: all their planes are found within one body, whose treads and risers turn each other. The
   risers are some 5 noises high: what was measured is 2.9 and 4.4 degrees; each family alone is 14 to 17 off. */
static void planes_of_bodies_are_turned_together(void **state) {
    (void)state;
    for (uint64_t seed = 5; seed <= 13; seed += 8) {
        const planes_scene_params p = scene_of(PLANES_SCENE_STAIRS, seed, 40000);
        double seconds = 0;
        const planes_scene_score score = try_scene(&p, 2, false, &seconds);
        assert_true(score.found >= 19);
        assert_true(score.angle_deg < 5.5);
    }
}

/* Facades of 30 mm of noise whose panes are set back by four to six noises: what grows freely lies across the wall and
   its panes, and the vote's planes of both have structure. */
static void panes_are_told_from_their_wall(void **state) {
    (void)state;
    static const uint64_t seeds[] = {109, 157, 229, 237};
    for (uint64_t i = 0; i < test_extent(2, 4); i++) {
        const planes_scene_params p = scene_of(PLANES_SCENE_FACADE, seeds[i], 40000);
        double seconds = 0;
        const planes_scene_score score = try_scene(&p, 2, false, &seconds);
        assert_true(score.found + 1 >= score.planes);
        assert_int_equal(score.false_planes + score.split, 0);
        assert_true(score.angle_deg < 1);
    }
}

/* ---- bodies: what must not matter */

#define BODY_POINTS 5000u
#define BODY_PLANES 15u /* without those within the body at most one is found */

static mote_cloud *make_body(mote_context *ctx, planes_scene *scene) {
    const planes_scene_params p = scene_of(PLANES_SCENE_STAIRS, 5, BODY_POINTS);
    planes_scene_make(ctx, &p, NULL, scene);
    return scene->cloud;
}

/* Point i of the one is point i * 7 + 3 of the other, round and round. */
static uint64_t shuffled(uint64_t i) { return (i * 7 + 3) % BODY_POINTS; }

static void shuffle_points(mote_cloud *cloud) {
    static const char *const names[3] = {"x", "y", "z"};
    uint8_t *copy = planes_scene_array(BODY_POINTS, sizeof(double));
    for (int k = 0; k < 3; k++) {
        const mote_column *column = mote_cloud_find(cloud, names[k]);
        uint8_t *data = mote_cloud_column_data(cloud, names[k]);
        const uint64_t size = mote_type_size(column->type);
        for (uint64_t i = 0; i < BODY_POINTS; i++) memcpy(copy + i * size, data + i * column->stride_bytes, size);
        for (uint64_t i = 0; i < BODY_POINTS; i++) {
            memcpy(data + shuffled(i) * column->stride_bytes, copy + i * size, size);
        }
    }
    free(copy);
}

/* The planes of the body, and the labels in the order of the scene. Returns how many planes. */
static uint32_t find_in_body(int threads, bool shuffle, int32_t *labels, mote_plane *planes) {
    mote_context *ctx = test_context(threads);
    planes_scene scene;
    mote_planes *found;
    int32_t *all = planes_scene_array(BODY_POINTS, sizeof *all);
    mote_cloud *cloud = make_body(ctx, &scene);
    if (shuffle) shuffle_points(cloud);
    assert_int_equal(mote_planes_find(ctx, cloud, NULL, all, &found), MOTE_OK);
    for (uint64_t i = 0; i < BODY_POINTS; i++) labels[i] = all[shuffle ? shuffled(i) : i];
    const uint32_t count = mote_planes_count(found);
    assert_true(count >= BODY_PLANES && count <= PLANES_SCENES_MAX);
    for (uint32_t i = 0; i < count; i++) planes[i] = *mote_planes_at(found, i);
    mote_planes_destroy(found);
    free(all);
    planes_scene_free(&scene);
    mote_context_destroy(ctx);
    return count;
}

static void bodies_split_alike(void **state) {
    (void)state;
    static int32_t labels[BODY_POINTS], others[BODY_POINTS];
    static mote_plane planes[PLANES_SCENES_MAX], other_planes[PLANES_SCENES_MAX];
    const uint32_t count = find_in_body(1, false, labels, planes);
    for (int turn = 0; turn < 3; turn++) {
        const int threads = turn == 0 ? 2 : 7;
        assert_int_equal(find_in_body(threads, turn == 2, others, other_planes), count);
        assert_memory_equal(labels, others, sizeof labels);
        assert_memory_equal(planes, other_planes, count * sizeof *planes);
    }
}

/* ---- bodies: what may go wrong */

#define MAX_STEPS 64u

/* Fails and stops wherever that is asked for, also while a body is split. */
static mote_status use_body(mote_context *ctx, void *user) {
    static int32_t labels[BODY_POINTS];
    mote_planes *found = NULL;
    mote_planes_params params = mote_planes_defaults();
    params.resolution_deg = 6;
    mote_cloud *cloud = NULL;
    const mote_column_spec specs[3] = {{"x", MOTE_FLOAT32, 1, 0}, {"y", MOTE_FLOAT32, 1, 0}, {"z", MOTE_FLOAT32, 1, 0}};
    mote_status status = mote_cloud_create(ctx, BODY_POINTS, specs, 3, &cloud);
    for (uint64_t i = 0; status == MOTE_OK && i < 3 * BODY_POINTS; i++) {
        const float value = (float)((const double *)user)[i];
        const char *axis = specs[i % 3].name;
        const uint64_t at = i / 3 * mote_cloud_find(cloud, axis)->stride_bytes;
        memcpy((uint8_t *)mote_cloud_column_data(cloud, axis) + at, &value, sizeof value);
    }
    if (status == MOTE_OK) status = mote_planes_find(ctx, cloud, &params, labels, &found);
    if (status == MOTE_OK) assert_true(mote_planes_count(found) >= BODY_PLANES);
    mote_context_trim(ctx);
    mote_planes_destroy(found);
    mote_cloud_destroy(cloud);
    return status;
}

static double *points_of_a_body(void) {
    const planes_scene_params p = scene_of(PLANES_SCENE_STAIRS, 5, BODY_POINTS);
    double *positions = planes_scene_array(3 * BODY_POINTS, sizeof *positions);
    planes_scene scene;
    planes_scene_make(NULL, &p, positions, &scene);
    planes_scene_free(&scene);
    return positions;
}

/* Allocations before each report of progress while planes are grown: those of a step are around it. */
typedef struct growing_steps {
    test_allocator allocator;
    uint32_t count;
    long calls[MAX_STEPS];
} growing_steps;

static bool note_step(void *user, double done, const char *stage) {
    growing_steps *steps = user;
    const long calls = steps->allocator.calls;
    const bool again = steps->count > 0 && steps->calls[steps->count - 1] == calls;
    (void)done;
    if (strcmp(stage, "growing planes") == 0 && !again && steps->count < MAX_STEPS)
        steps->calls[steps->count++] = calls;
    return true;
}

/* Each allocation near a step of the growth fails in turn, those of bodies that are split among them. */
static void bodies_survive_failing_allocations(void **state) {
    (void)state;
    double *positions = points_of_a_body();
    growing_steps steps;
    memset(&steps, 0, sizeof steps);
    mote_context *ctx = test_context_failing_watched(&steps.allocator, 2, note_step, &steps);
    assert_int_equal(use_body(ctx, positions), MOTE_OK);
    mote_context_destroy(ctx);
    assert_true(steps.count >= 2);
    for (uint32_t i = 0; i < 3 * steps.count; i++) {
        test_allocator allocator = {.fail_at = steps.calls[i / 3] - 1 + i % 3};
        ctx = test_context_failing(&allocator, 2);
        assert_int_equal(use_body(ctx, positions), MOTE_ERROR_MEMORY);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
    }
    free(positions);
}

static void bodies_cancel_at_every_step(void **state) {
    (void)state;
    double *positions = points_of_a_body();
    test_each_step_cancels(use_body, positions);
    free(positions);
}

/* ---- sizes and scales */

/* Of 5,000 points planes have 25 or more: all kinds together, what was measured of seeds 0 to 3 and 1 % more. */
static void planes_of_few_points_are_found(void **state) {
    (void)state;
    const uint64_t seeds = test_extent(1, 4);
    planes_scene_score all = {0, 0, 0, 0, 0, 0};
    double seconds = 0;
    for (uint64_t kind = 0; kind < PLANES_SCENE_KINDS; kind++) {
        for (uint64_t seed = 0; seed < seeds; seed++) {
            const planes_scene_params p = scene_of(kind, seed, 5000);
            const planes_scene_score one = try_scene(&p, 2, false, &seconds);
            add_score(&all, &one);
        }
    }
    if (all.found >= FEW_POINTS_FOUND * all.planes && all.false_planes + all.split <= 8) return;
    print_score("5,000 points", &all, seconds);
    fail_msg("worse than it was");
}

/* Multiplies the coordinates of a scene of floats. */
static void scale_cloud(mote_cloud *cloud, uint64_t points, double by) {
    static const char *const names[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        const uint64_t stride = mote_cloud_find(cloud, names[k])->stride_bytes;
        uint8_t *data = mote_cloud_column_data(cloud, names[k]);
        for (uint64_t i = 0; i < points; i++) {
            float value;
            memcpy(&value, data + i * stride, sizeof value);
            value = (float)(by * (double)value);
            memcpy(data + i * stride, &value, sizeof value);
        }
    }
}

/* labels [SCALED_POINTS] out. Returns how many planes are found; right: of them, those that are there. */
static uint32_t find_scaled(uint64_t kind, double by, int32_t *labels, uint32_t *right) {
    const planes_scene_params p = scene_of(kind, 1, SCALED_POINTS);
    mote_context *ctx = test_context(2);
    planes_scene scene;
    mote_planes *found;
    planes_scene_make(ctx, &p, NULL, &scene);
    scale_cloud(scene.cloud, p.points, by);
    assert_int_equal(mote_planes_find(ctx, scene.cloud, NULL, labels, &found), MOTE_OK);
    const uint32_t count = mote_planes_count(found);
    *right = planes_scene_judge(&scene, labels, count, NULL).found;
    mote_planes_destroy(found);
    planes_scene_free(&scene);
    mote_context_destroy(ctx);
    return count;
}

/* In other units planes are the same: by a power of two, which changes no digit of a float, every label is; otherwise
   coordinates are rounded anew, and as many planes are found, or up to two more or less. */
static void planes_are_the_same_in_other_units(void **state) {
    (void)state;
    static int32_t labels[SCALED_POINTS], others[SCALED_POINTS];
    static const double scales[4] = {1.0 / 8192, 8192, 1e-4, 1e4};
    for (uint64_t kind = 0; kind < PLANES_SCENE_KINDS; kind += test_extent(4, 2)) {
        uint32_t right, right_scaled;
        const uint32_t count = find_scaled(kind, 1, labels, &right);
        for (int i = 0; i < 4; i++) {
            const uint32_t count_scaled = find_scaled(kind, scales[i], others, &right_scaled);
            if (i < 2) assert_int_equal(count_scaled, count);
            if (i < 2) assert_memory_equal(labels, others, sizeof labels);
            assert_true(right_scaled + 2 >= right && right_scaled <= right + 2);
        }
    }
}

/* What judges must be judged: the true labels are all right, one plane in two halves is a split, any points are a false
   plane, and two planes as one are found at most once. */
static void scores_tell_right_from_wrong(void **state) {
    (void)state;
    const planes_scene_params p = scene_of(PLANES_SCENE_ROOM, 1, 4000);
    planes_scene scene;
    planes_scene_make(NULL, &p, NULL, &scene);
    int32_t *labels = planes_scene_array(p.points, sizeof *labels);
    const uint32_t all = scene.count;
    memcpy(labels, scene.labels, p.points * sizeof *labels);
    planes_scene_score score = planes_scene_judge(&scene, labels, all, NULL);
    assert_int_equal(score.found, all);
    assert_int_equal(score.planes, all);
    assert_int_equal(score.false_planes + score.split, 0);
    for (uint64_t i = 0; i < p.points; i++)
        labels[i] = scene.labels[i] == 0 && i % 2 == 0 ? (int32_t)all : scene.labels[i];
    score = planes_scene_judge(&scene, labels, all + 1, NULL);
    assert_true(score.found >= all - 1 && score.split >= 1);
    for (uint64_t i = 0; i < p.points; i++) labels[i] = (int32_t)(i % 3);
    score = planes_scene_judge(&scene, labels, 3, NULL);
    assert_int_equal(score.found, 0);
    assert_int_equal(score.false_planes, 3);
    free(labels);
    planes_scene_free(&scene);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "table") == 0) {
        const char *range = argc > 2 ? strchr(argv[2], '-') : NULL;
        const uint64_t seeds = number_of(argc, argv, 2, 8), first = range != NULL ? seeds : 0;
        const uint64_t last = range != NULL ? strtoull(range + 1, NULL, 10) : seeds - 1;
        return print_table(first, last, number_of(argc, argv, 3, 40000), number_of(argc, argv, 4, PLANES_SCENE_KINDS),
                           argc > 5);
    }
    if (argc > 1 && strcmp(argv[1], "hash") == 0) {
        const char *range = argc > 2 ? strchr(argv[2], '-') : NULL;
        const uint64_t seeds = number_of(argc, argv, 2, 8), first = range != NULL ? seeds : 0;
        const uint64_t last = range != NULL ? strtoull(range + 1, NULL, 10) : seeds - 1;
        return print_hashes(first, last, number_of(argc, argv, 3, 40000), number_of(argc, argv, 4, PLANES_SCENE_KINDS));
    }
    if (argc > 2 && strcmp(argv[1], "write") == 0) {
        return write_scenes(argv[2], number_of(argc, argv, 3, 8), number_of(argc, argv, 4, 40000));
    }
    if (argc > 2 && strcmp(argv[1], "judge") == 0) {
        return judge_scenes(argv[2], number_of(argc, argv, 3, 8), number_of(argc, argv, 4, 40000));
    }
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_tell_right_from_wrong),
        cmocka_unit_test(planes_of_scenes_are_found),
        cmocka_unit_test(planes_of_bodies_are_turned_together),
        cmocka_unit_test(panes_are_told_from_their_wall),
        cmocka_unit_test(bodies_split_alike),
        cmocka_unit_test(bodies_survive_failing_allocations),
        cmocka_unit_test(bodies_cancel_at_every_step),
        cmocka_unit_test(planes_of_few_points_are_found),
        cmocka_unit_test(planes_are_the_same_in_other_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
