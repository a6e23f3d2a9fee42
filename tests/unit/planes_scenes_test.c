/* Planes of scenes of many kinds: how many are found, how many are none, how far off they are.
     planes_scenes_test table [SEEDS [POINTS [KINDS [verbose]]]]
   prints the table of docs/speed/planes.md; SEEDS: how many, or FIRST-LAST; KINDS: a number, or FIRST-LAST.
     planes_scenes_test noises [SEEDS [POINTS [KINDS]]]
   prints what is found, and wrong, of the same scenes with 0 to 40 mm of noise, of 20,000, 40,000 ... up to POINTS, and
   how often that jumps from one noise to the next;
     planes_scenes_test write FOLDER [SEEDS [POINTS [KINDS]]]
   writes the scenes, N.xyz (doubles) and N.noise (its noise, a text), for other programs;
     planes_scenes_test judge FOLDER [SEEDS [POINTS [KINDS]]]
   judges what they made of them: N.labels, an int32 a point.
     planes_scenes_test hash [SEEDS [POINTS [KINDS]]]
   prints a hash of the answer to each scene, and seconds, to compare two builds: labels, planes, hulls, facts and what
   was refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/planes_scenes_test.h"

#define POINTS           10000u
#define SCALED_POINTS    5000u
#define FEW_POINTS_FOUND 0.95
#define TILE_FOUND       0.96
#define OTHERS_FOUND     0.96
#define TILE_WRONG       3u
#define SEEDS            test_extent(1, 2)

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
    {2, 2},  /* tile */
};

static planes_scene_score try_scene(uint64_t kind, uint64_t seed, uint64_t points) {
    const planes_scene_params p = planes_scenes_params(kind, seed, points);
    double seconds = 0;
    return planes_scenes_try(&p, 2, false, &seconds);
}

static void planes_of_scenes_are_found(void **state) {
    (void)state;
    for (uint64_t kind = 0; kind < PLANES_SCENE_KINDS; kind++) {
        planes_scene_score sum = {0, 0, 0, 0, 0, 0};
        double seconds = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            const planes_scene_params p = planes_scenes_params(kind, seed, POINTS);
            const planes_scene_score one = planes_scenes_try(&p, 2, false, &seconds);
            planes_scenes_add(&sum, &one);
        }
        if (sum.planes - sum.found <= bounds[kind].missed && sum.false_planes + sum.split <= bounds[kind].wrong) {
            continue;
        }
        planes_scenes_print(planes_scene_name((planes_scene_kind)kind), &sum, seconds);
        fail_msg("worse than it was");
    }
}

/* Stairs of 30 mm of noise: all their planes are found within one body, whose treads and risers turn each other. The
   risers are some 5 noises high: what was measured is 2.9 and 4.4 degrees; each family alone is 14 to 17 off. */
static void planes_of_bodies_are_turned_together(void **state) {
    (void)state;
    for (uint64_t seed = 5; seed <= 13; seed += 8) {
        const planes_scene_score score = try_scene(PLANES_SCENE_STAIRS, seed, 40000);
        assert_true(score.found >= 19);
        assert_true(score.angle_deg < 5.5);
    }
}

/* Stands of 50 mm of noise, whose rises are seven noises and more. The vote takes each stand for one slope, twice as
   thick as the ground, and that was all: of 49 planes the ground was found, and two slopes. Of what grows 31 and 21 are
   planes. */
static void stands_are_no_slopes(void **state) {
    (void)state;
    static const uint64_t seeds[] = {12, 28};
    for (uint64_t i = test_turn(2); i < 2; i += 2) {
        planes_scene_params p = planes_scenes_params(PLANES_SCENE_STANDS, seeds[i], 60000);
        double seconds = 0;
        p.noise_m = 0.05;
        p.outliers = 0;
        const planes_scene_score score = planes_scenes_try(&p, 2, false, &seconds);
        assert_int_equal(score.planes, 49);
        assert_true(score.found >= 18);
        assert_true(score.false_planes + score.split <= 3);
    }
}

/* Spiral stairs of 30 and 20 mm of noise: risers are six and nine noises high, all of them within reach of their
   treads, and each faces another way. None of these planes grows by itself. Of the four 25 to 28 of 28 are found; each
   thread count gives the same bytes. */
static void spiral_stairs_are_found(void **state) {
    (void)state;
    static const uint64_t seeds[] = {5, 6, 13, 14};
    for (uint64_t i = test_turn(2); i < 4; i += 2) {
        const planes_scene_params p = planes_scenes_params(PLANES_SCENE_SPIRAL, seeds[i], 40000);
        double seconds = 0;
        const planes_scene_score score = planes_scenes_try(&p, 2, false, &seconds);
        assert_true(score.found >= 25);
        assert_true(score.false_planes <= 1 && score.split <= (seeds[i] == 13 ? 6 : 0));
        assert_true(score.angle_deg < 5);
        assert_true(planes_scenes_hash(&p, 1, &seconds) == planes_scenes_hash(&p, 7, &seconds));
    }
}

/* Facades of 30 mm of noise whose panes are set back by four to six noises: what grows freely lies across the wall and
   its panes, and the vote's planes of both have structure. */
static void panes_are_told_from_their_wall(void **state) {
    (void)state;
    static const uint64_t seeds[] = {109, 157, 229, 237};
    for (uint64_t i = test_turn(2); i < 4; i += 2) {
        const planes_scene_score score = try_scene(PLANES_SCENE_FACADE, seeds[i], 40000);
        assert_true(score.found + 1 >= score.planes);
        assert_true(score.false_planes + score.split <= (seeds[i] == 229 ? 4 : 0)); /* there one pane is in pieces */
        assert_true(score.angle_deg < 1.5);
    }
}

/* Many houses on hills: no roof has a share of the points, and all are found. */
static void roofs_of_a_tile_are_found(void **state) {
    (void)state;
    static const struct { uint64_t seed, points; } tiles[] = {{5, 120000}, {3, 200000}, {0, 160000}, {6, 400000}};
    for (uint64_t i = 0; i < test_extent(1, 3); i++) {
        const planes_scene_params p = planes_scenes_params(PLANES_SCENE_TILE, tiles[i].seed, tiles[i].points);
        double seconds = 0;
        const planes_scene_score score = planes_scenes_try(&p, 2, false, &seconds);
        assert_true(score.planes > 20);
        if (score.found >= TILE_FOUND * score.planes && score.false_planes + score.split <= TILE_WRONG) continue;
        planes_scenes_print("tile", &score, seconds);
        fail_msg("worse than it was");
    }
}

/* Patches that are grown ahead of their turn, side by side, become what they would one after the other: among hills,
   where nearly all come to nothing, and where planes take points from each other all the time. */
static void threads_grow_patches_alike(void **state) {
    (void)state;
    static const struct {
        planes_scene_kind kind;
        uint64_t seed, points;
    } scenes[] = {{PLANES_SCENE_STAIRS, 5, 10000},
                  {PLANES_SCENE_SOLIDS, 5, 20000},
                  {PLANES_SCENE_ROAD, 5, 40000},
                  {PLANES_SCENE_TILE, 2, 30000},
                  {PLANES_SCENE_TILE, 5, 70000}};
    for (uint64_t i = test_turn(2); i < 5; i += 2) {
        const planes_scene_params p = planes_scenes_params(scenes[i].kind, scenes[i].seed, scenes[i].points);
        double seconds = 0;
        const uint64_t alone = planes_scenes_hash(&p, 1, &seconds);
        for (int threads = 2; threads <= 20; threads += 9) {
            assert_true(planes_scenes_hash(&p, threads, &seconds) == alone);
        }
    }
}

/* Hills and balls where pieces of them stood as planes while a plane might have a quarter of its variance between its
   cells, and any surface around it. */
static void pieces_of_curves_are_no_planes(void **state) {
    (void)state;
    static const struct {
        planes_scene_kind kind;
        uint64_t seed;
    } scenes[] = {
        {PLANES_SCENE_NOTHING, 109}, {PLANES_SCENE_NOTHING, 118}, {PLANES_SCENE_TERRAIN, 101},
        {PLANES_SCENE_NOTHING, 123}, {PLANES_SCENE_TERRAIN, 107}, {PLANES_SCENE_TERRAIN, 110},
    };
    for (uint64_t i = test_turn(2); i < 6; i += 2) {
        planes_scene_params p = planes_scenes_params((uint64_t)scenes[i].kind, scenes[i].seed, 5000);
        double seconds = 0;
        p.far_away = false;
        const planes_scene_score score = planes_scenes_try(&p, 2, false, &seconds);
        assert_int_equal(score.false_planes, 0);
        assert_true(score.found + 2 >= score.planes);
    }
}

/* Curtains and corrugated sheets, pieces of which are as flat as the noise of 6 to 30 mm: next to each the surface
   bends on. Of the first three 2, 14 and 17 pieces were planes, of the sheet 41, and of the dunes the vote's planes
   were 18 and 31, slices through flanks in a row. The treads of a stair of 20 mm, of four and a half noises from their
   middle to the edge, meet the risers in creases. */
static void facets_are_no_planes(void **state) {
    (void)state;
    static const struct {
        planes_scene_kind kind;
        uint64_t seed;
    } scenes[] = {{PLANES_SCENE_CURTAIN, 5}, {PLANES_SCENE_DUNES, 6},   {PLANES_SCENE_CORRUGATED, 5},
                  {PLANES_SCENE_DUNES, 8},   {PLANES_SCENE_CURTAIN, 3}, {PLANES_SCENE_CURTAIN, 4}};
    for (uint64_t i = test_turn(2); i < 6; i += 2) {
        assert_int_equal(try_scene((uint64_t)scenes[i].kind, scenes[i].seed, 40000).false_planes, 0);
    }
    /* Facets that have no others beside them: 2 and 10 of these curtains were planes. */
    assert_int_equal(try_scene(PLANES_SCENE_CURTAIN, 16 + test_turn(2), 40000).false_planes, 0);
    const planes_scene_score score = try_scene(PLANES_SCENE_STAIRS, 6, 40000);
    assert_int_equal(score.found, score.planes);
}

/* Rooms in steps of a centimetre, of 10 and 20 mm of noise: of the first three 5 of 33 walls were found, as layers. */
static void walls_in_steps_are_no_layers(void **state) {
    (void)state;
    static const uint64_t seeds[] = {3, 11, 19, 6};
    for (uint64_t i = test_turn(2); i < 4; i += 2) {
        const planes_scene_score score = try_scene(PLANES_SCENE_VOXELS, seeds[i], 20000);
        assert_true(score.found + 1 >= score.planes);
        assert_int_equal(score.false_planes + score.split, 0);
    }
}

/* Rooms and stairs of 1 mm of noise in whole millimetres: a wall along two axes has its points in three layers, of
   which too few were in the middle. Of the first two rooms one wall of twelve was found. */
static void noise_as_large_as_steps_is_noise(void **state) {
    (void)state;
    static const struct {
        planes_scene_kind kind;
        uint64_t seed;
    } scenes[] = {{PLANES_SCENE_ROOM, 2}, {PLANES_SCENE_ROOM, 10}, {PLANES_SCENE_CORNER, 2}, {PLANES_SCENE_STAIRS, 2}};
    for (uint64_t i = test_turn(2); i < 4; i += 2) {
        planes_scene_params p = planes_scenes_params(scenes[i].kind, scenes[i].seed, 20000);
        double seconds = 0;
        p.noise_m = 0.001;
        const planes_scene_score score = planes_scenes_try(&p, 2, false, &seconds);
        assert_int_equal(score.found, score.planes);
        assert_int_equal(score.false_planes + score.split, 0);
    }
}

/* Walls whose coordinates are rounded to 3 and 50 cm have no noise, and stand beside ground and roofs of 3 and 10 mm:
   7 of 16 planes were found in each scene. */
static void walls_without_noise_are_planes(void **state) {
    (void)state;
    for (uint64_t seed = 2; seed <= 3; seed++) {
        const planes_scene_score score = try_scene(PLANES_SCENE_FLOATS, seed, 40000);
        assert_int_equal(score.planes, 16);
        assert_true(score.found >= 14);
        assert_true(score.false_planes + score.split <= 1);
    }
}

/* Walls whose lines are off by one to two noises were cut along the lines, into 41 pieces of 4 walls; of 30 mm of noise
   3 of 10 planes were found, and 35 pieces. */
static void stripes_are_noise(void **state) {
    (void)state;
    planes_scene_score score = try_scene(PLANES_SCENE_STRIPES, 1, 40000);
    assert_true(score.found + 2 >= score.planes);
    assert_true(score.false_planes + score.split <= 8);
    score = try_scene(PLANES_SCENE_STRIPES, 5, 40000);
    assert_true(score.found + 2 >= score.planes);
    assert_true(score.false_planes + score.split <= 4);
}

/* A room whose floor was scanned twice, some noises apart: it had no plane. */
static void sheets_are_one_plane(void **state) {
    (void)state;
    const planes_scene_score score = try_scene(PLANES_SCENE_SHEETS, 1, 40000);
    assert_int_equal(score.planes, 3);
    assert_int_equal(score.found, 3);
    assert_int_equal(score.false_planes + score.split, 0);
}

/* Floors that sag and walls that bulge by 0.3 to 12 noises, their slopes by up to 2 degrees: each was lost where it
   bent by 0.7 noises and more. */
static void planes_that_bend_a_little_are_found(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < test_extent(4, 8); seed++) {
        if (seed == 4 || seed == 6) continue; /* 60 and 30 % of strays: one of two is missing */
        const planes_scene_score score = try_scene(PLANES_SCENE_SAGGING, seed, 40000);
        assert_int_equal(score.found, score.planes);
        assert_int_equal(score.false_planes + score.split, 0);
    }
}

/* Roads that fall by 2 to 3 % to either side, with 20 and 30 mm of noise: what grew went over the middle, and the
   pavements, was bent and lost: 2 and 3 of 6 planes were found, of a bridge 12 of 16. */
static void planes_are_told_apart_along_creases(void **state) {
    (void)state;
    static const struct {
        planes_scene_kind kind;
        uint64_t seed;
    } scenes[] = {{PLANES_SCENE_ROAD, 6}, {PLANES_SCENE_ROAD, 5}, {PLANES_SCENE_BRIDGE, 5}};
    for (uint64_t i = 0; i < test_extent(2, 3); i++) {
        const planes_scene_score score = try_scene((uint64_t)scenes[i].kind, scenes[i].seed, 40000);
        assert_int_equal(score.found, score.planes);
        assert_int_equal(score.false_planes + score.split, 0);
    }
}

/* ---- kinds that the search was not made with */

/* With 1 and 3 mm of noise; what was measured: 502 of 513, 4 wrong. */
static void planes_of_other_kinds_are_found(void **state) {
    (void)state;
    planes_scene_score all = {0, 0, 0, 0, 0, 0};
    double seconds = 0;
    for (uint64_t kind = PLANES_SCENE_KINDS; kind < PLANES_SCENE_AIRBORNE; kind++) {
        for (uint64_t seed = 1; seed <= test_extent(1, 2); seed++) {
            const planes_scene_params p = planes_scenes_params(kind, seed, POINTS);
            const planes_scene_score one = planes_scenes_try(&p, 2, false, &seconds);
            planes_scenes_add(&all, &one);
        }
    }
    if (all.found >= OTHERS_FOUND * all.planes && all.false_planes + all.split <= 6) return;
    planes_scenes_print("other kinds", &all, seconds);
    fail_msg("worse than it was");
}

/* Both faces of boards of 25 mm, 2.5 and 4.2 noises apart: grown freely they are one plane each, 1.6 and 2.3 times as
   noisy as the others. */
static void faces_of_boards_are_told_apart(void **state) {
    (void)state;
    for (uint64_t seed = 3; seed <= 4; seed++) {
        planes_scene_params p = planes_scenes_params(PLANES_SCENE_SHELVES, seed, 40000);
        double seconds = 0;
        p.far_away = false;
        const planes_scene_score score = planes_scenes_try(&p, 2, false, &seconds);
        assert_int_equal(score.planes, 14);
        assert_int_equal(score.found, 14);
        assert_int_equal(score.false_planes + score.split, 0);
        assert_true(score.offset_m < 0.004);
    }
}

/* Faces of icosahedra whose noise is 3 % of their size: none is found without asking which way points face, and 62 were
   when patches were held at their noise instead. Of fewer points none was when a pass ended for its large patches. */
static void faces_of_solids_are_found(void **state) {
    (void)state;
    const planes_scene_score score = try_scene(PLANES_SCENE_SOLIDS, 5, 40000);
    assert_int_equal(score.planes, 80);
    assert_int_equal(score.found, 80);
    assert_int_equal(score.false_planes + score.split, 0);
    const planes_scene_score fewer = try_scene(PLANES_SCENE_SOLIDS, 5, 12000);
    assert_int_equal(fewer.planes, 80);
    assert_true(fewer.found >= 60);
    assert_int_equal(fewer.false_planes, 0);
}

/* Sides of containers on each other, out of line by one or two noises: they grew to one plane, which fell once the
   noise was known, and 4 and 6 of 31 planes were lost. */
static void sides_that_nearly_lie_in_one_are_found(void **state) {
    (void)state;
    const planes_scene_score score = try_scene(PLANES_SCENE_STACK, 1, 40000);
    assert_int_equal(score.planes, 31);
    assert_int_equal(score.found, 31);
    assert_int_equal(score.false_planes + score.split, 0);
    if (test_extent(0, 1) == 0) return;
    const planes_scene_score noisier = try_scene(PLANES_SCENE_STACK, 3, 40000);
    assert_int_equal(noisier.planes, 31);
    assert_true(noisier.found >= 29);
    assert_int_equal(noisier.false_planes + noisier.split, 0);
}

/* Steps of 10 mm among 80 % of strays: a slab of a third of all points was their only plane. */
static void steps_among_strays_are_no_slab(void **state) {
    (void)state;
    const planes_scene_score score = try_scene(PLANES_SCENE_STAIRS, 7, 40000);
    assert_true(score.found >= 7);
    assert_true(score.false_planes + score.split <= 4);
}

/* Doors three noises back took their wall along, and 2 of the corridor's 21 planes were found; among 80 % of strays a
   road's 6 were 2. */
static void planes_beside_steps_are_found(void **state) {
    (void)state;
    planes_scene_score score = try_scene(PLANES_SCENE_CORRIDOR, 5, 40000);
    assert_true(score.found >= 8);
    assert_true(score.false_planes + score.split <= 1);
    score = try_scene(PLANES_SCENE_ROAD, 7, 40000);
    assert_int_equal(score.found, score.planes);
}

/* Six roofs of 250 points beside 20,000 of woods: a sample of these showed none, and 1 of 7 planes was found. */
static void planes_as_small_as_asked_for_are_found(void **state) {
    (void)state;
    const planes_scene_score score = try_scene(PLANES_SCENE_AIRBORNE, 3, 40000);
    assert_int_equal(score.found, 7);
    assert_int_equal(score.false_planes + score.split, 0);
}

/* Planes have a sixth of the points, and yet tell that none is six times as thick: a slab through four sides was. */
static void planes_among_strays_tell_their_noise(void **state) {
    (void)state;
    const planes_scene_score score = try_scene(PLANES_SCENE_STACK, 7, 40000);
    assert_true(score.found >= 10);
    assert_true(score.false_planes + score.split <= 1);
}

/* A shaft: the vote's planes were 17 strips of it, each of which a curve explains better. */
static void strips_of_a_shaft_are_no_planes(void **state) {
    (void)state;
    if (test_extent(0, 1) == 0) return; /* the same steps as in other scenes */
    const planes_scene_score score = try_scene(PLANES_SCENE_TUNNEL, 3, 40000);
    assert_int_equal(score.found, 3);
    assert_int_equal(score.false_planes + score.split, 0);
}

/* ---- sizes and scales */

/* Of 5,000 points planes have 25 or more: all kinds together, what was measured of seeds 0 to 3 and 1 % more. */
static void planes_of_few_points_are_found(void **state) {
    (void)state;
    const uint64_t seeds = test_extent(1, 2);
    planes_scene_score all = {0, 0, 0, 0, 0, 0};
    double seconds = 0;
    for (uint64_t kind = 0; kind < PLANES_SCENE_KINDS; kind++) {
        for (uint64_t seed = 0; seed < seeds; seed++) {
            const planes_scene_params p = planes_scenes_params(kind, seed, 5000);
            const planes_scene_score one = planes_scenes_try(&p, 2, false, &seconds);
            planes_scenes_add(&all, &one);
        }
    }
    if (all.found >= FEW_POINTS_FOUND * all.planes && all.false_planes + all.split <= 8) return;
    planes_scenes_print("5,000 points", &all, seconds);
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
    const planes_scene_params p = planes_scenes_params(kind, 1, SCALED_POINTS);
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
    for (uint64_t kind = 2 * test_turn(2); kind < PLANES_SCENE_KINDS; kind += 4) {
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
    const planes_scene_params p = planes_scenes_params(PLANES_SCENE_ROOM, 1, 4000);
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
    bool asked;
    const int result = planes_scenes_command(argc, argv, &asked);
    if (asked) return result;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_tell_right_from_wrong),
        cmocka_unit_test(planes_of_scenes_are_found),
        cmocka_unit_test(planes_of_bodies_are_turned_together),
        cmocka_unit_test(stands_are_no_slopes),
        cmocka_unit_test(spiral_stairs_are_found),
        cmocka_unit_test(treads_that_lean_are_a_series),
        cmocka_unit_test(panes_are_told_from_their_wall),
        cmocka_unit_test(roofs_of_a_tile_are_found),
        cmocka_unit_test(threads_grow_patches_alike),
        cmocka_unit_test(pieces_of_curves_are_no_planes),
        cmocka_unit_test(facets_are_no_planes),
        cmocka_unit_test(walls_in_steps_are_no_layers),
        cmocka_unit_test(noise_as_large_as_steps_is_noise),
        cmocka_unit_test(walls_without_noise_are_planes),
        cmocka_unit_test(stripes_are_noise),
        cmocka_unit_test(sheets_are_one_plane),
        cmocka_unit_test(planes_that_bend_a_little_are_found),
        cmocka_unit_test(planes_are_told_apart_along_creases),
        cmocka_unit_test(bodies_split_alike),
        cmocka_unit_test(bodies_survive_failing_allocations),
        cmocka_unit_test(bodies_cancel_at_every_step),
        cmocka_unit_test(both_answers_survive_failing_allocations),
        cmocka_unit_test(facing_survives_failing_allocations),
        cmocka_unit_test(planes_of_other_kinds_are_found),
        cmocka_unit_test(faces_of_solids_are_found),
        cmocka_unit_test(faces_of_boards_are_told_apart),
        cmocka_unit_test(sides_that_nearly_lie_in_one_are_found),
        cmocka_unit_test(steps_among_strays_are_no_slab),
        cmocka_unit_test(planes_beside_steps_are_found),
        cmocka_unit_test(planes_as_small_as_asked_for_are_found),
        cmocka_unit_test(planes_among_strays_tell_their_noise),
        cmocka_unit_test(strips_of_a_shaft_are_no_planes),
        cmocka_unit_test(planes_of_few_points_are_found),
        cmocka_unit_test(planes_are_the_same_in_other_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
