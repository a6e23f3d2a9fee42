/* Bodies, whose planes hide in their noise: what must not matter, and what may go wrong. */
#include <stdlib.h>
#include <string.h>

#include "unit/planes_scenes_test.h"

/* ---- bodies: what must not matter */

#define BODY_POINTS 5000u
#define BODY_PLANES 15u /* without those within the body at most one is found */

static mote_cloud *make_body(mote_context *ctx, planes_scene *scene) {
    const planes_scene_params p = planes_scenes_params(PLANES_SCENE_STAIRS, 5, BODY_POINTS);
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

void bodies_split_alike(void **state) {
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
    const planes_scene_params p = planes_scenes_params(PLANES_SCENE_STAIRS, 5, BODY_POINTS);
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
void bodies_survive_failing_allocations(void **state) {
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

void bodies_cancel_at_every_step(void **state) {
    (void)state;
    double *positions = points_of_a_body();
    test_each_step_cancels(use_body, positions);
    free(positions);
}

/* ---- the vote's planes with grown ones beside them */

#define BESIDE_SEED        109u /* stairs of 30 mm: the vote's slope stays */
#define BESIDE_POINTS      5000u
#define FACING_SEED        5u /* icosahedra of 30 mm */
#define BESIDE_ALLOCATIONS 64 /* the last of a call: from where both answers are there */

/* fail_at  which allocation fails; 0: none does. first, last: out, allocations before the search and in all */
static mote_status find_failing(planes_scene_kind kind, uint64_t seed, long fail_at, long *first, long *last) {
    static int32_t labels[BESIDE_POINTS];
    test_allocator allocator = {.fail_at = fail_at};
    mote_context *ctx = test_context_failing(&allocator, 2);
    const planes_scene_params p = planes_scenes_params(kind, seed, BESIDE_POINTS);
    mote_planes *found = NULL;
    planes_scene scene;
    planes_scene_make(ctx, &p, NULL, &scene);
    *first = allocator.calls;
    const mote_status status = mote_planes_find(ctx, scene.cloud, NULL, labels, &found);
    *last = allocator.calls;
    mote_planes_destroy(found);
    planes_scene_free(&scene);
    mote_context_destroy(ctx);
    assert_int_equal(allocator.open, 0);
    return status;
}

/* Whichever allocation fails, of the last ones: those after both answers are there. */
void both_answers_survive_failing_allocations(void **state) {
    (void)state;
    long first, last, ignored;
    assert_int_equal(find_failing(PLANES_SCENE_STAIRS, BESIDE_SEED, 0, &first, &last), MOTE_OK);
    assert_true(last - first > BESIDE_ALLOCATIONS);
    for (long n = last - BESIDE_ALLOCATIONS; n <= last; n += (long)test_extent(4, 1)) {
        const mote_status status = find_failing(PLANES_SCENE_STAIRS, BESIDE_SEED, n, &ignored, &ignored);
        assert_int_equal(status, MOTE_ERROR_MEMORY);
    }
}

/* Whichever allocation fails while planes grow: where it is asked which way points face, too, as in these solids, of
   whose faces few grow freely. How often it is told how far that is depends on the clock, so all between are tried. */
void facing_survives_failing_allocations(void **state) {
    (void)state;
    const planes_scene_params p = planes_scenes_params(PLANES_SCENE_SOLIDS, FACING_SEED, BESIDE_POINTS);
    static int32_t labels[BESIDE_POINTS];
    growing_steps steps;
    mote_planes *found = NULL;
    planes_scene scene;
    long first, last;
    memset(&steps, 0, sizeof steps);
    mote_context *ctx = test_context_failing_watched(&steps.allocator, 2, note_step, &steps);
    planes_scene_make(ctx, &p, NULL, &scene);
    assert_int_equal(mote_planes_find(ctx, scene.cloud, NULL, labels, &found), MOTE_OK);
    mote_planes_destroy(found);
    planes_scene_free(&scene);
    mote_context_destroy(ctx);
    assert_true(steps.count >= 2);
    for (long n = steps.calls[0] + 1; n <= steps.calls[steps.count - 1]; n++) {
        assert_int_equal(find_failing(PLANES_SCENE_SOLIDS, FACING_SEED, n, &first, &last), MOTE_ERROR_MEMORY);
    }
}

/* Stairs of 11.5 to 12.5 mm of noise, whose treads grow alone, but lean over to the risers: all were facets in the end.
   0, 0 and 11 of 20 planes were found. */
void treads_that_lean_are_a_series(void **state) {
    (void)state;
    static const double noises_m[] = {0.0115, 0.012, 0.0125};
    for (uint64_t i = test_turn(2); i < 3; i += 2) {
        planes_scene_params p = planes_scenes_params(PLANES_SCENE_STAIRS, 2, 20000);
        double seconds = 0;
        p.noise_m = noises_m[i];
        const planes_scene_score score = planes_scenes_try(&p, 2, false, &seconds);
        assert_true(score.found + 1 >= score.planes);
        assert_true(score.false_planes + score.split <= 1);
    }
}
