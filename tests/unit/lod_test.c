/* Levels of detail against the naive reference and the rules, on clouds of every awkward kind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/awkward_clouds.h"
#include "reference/lod_reference.h"
#include "support/random.h"
#include "support/support.h"

/* Builds with the library and the reference and compares them in every way. Returns the number of levels. */
static uint32_t check_build(mote_context *ctx, const mote_cloud *cloud, const char *name, const mote_lod_params *p) {
    char why[REFERENCE_WHY_BYTES] = "", what[REFERENCE_NAME_BYTES];
    uint32_t levels;
    lod_combination_name(p, name, mote_cloud_count(cloud), what);
    if (!lod_reference_agrees(ctx, cloud, p, &levels, why)) fail_msg("%s: %s", what, why);
    return levels;
}

/* On one thread: on a busy machine small builds spend their time waiting for each other's threads. That threads change
   nothing is tested below. */
static void matches_reference(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        const awkward_cloud *kind = &awkward_clouds[c];
        mote_cloud *cloud = awkward_cloud_make(ctx, kind, 420, 0);
        uint32_t deepest = 0;
        for (uint32_t i = 0; i < lod_combination_count; i++) {
            const uint32_t levels = check_build(ctx, cloud, kind->name, &lod_combinations[i]);
            if (levels > deepest) deepest = levels;
        }
        if (strncmp(kind->name, "shells", 6) == 0) assert_true(deepest > 14); /* the clouds are there for that */
        if (strncmp(kind->name, "deep", 4) == 0) assert_true(deepest > 26);
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* Counts around the sizes of blocks and vectors, and none, one and two points. */
static void matches_reference_at_any_count(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 511, 512, 513};
    mote_context *ctx = test_context(1);
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        for (uint32_t c = 0; c < awkward_cloud_count; c += counts[n] < 10 ? 1 : 6) {
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], counts[n], 0);
            for (uint32_t i = n % 3; i < lod_combination_count; i += counts[n] < 10 ? 1 : 4) {
                check_build(ctx, cloud, awkward_clouds[c].name, &lod_combinations[i]);
            }
            mote_cloud_destroy(cloud);
        }
    }
    mote_context_destroy(ctx);
}

static void matches_reference_when_larger(void **state) {
    (void)state;
    static const char *const names[] = {"uniform float", "shells", "around the middle", "ticks of a centimetre"};
    mote_context *ctx = test_context(1);
    for (size_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        const awkward_cloud *kind = awkward_cloud_named(names[c]);
        mote_cloud *cloud = awkward_cloud_make(ctx, kind, 2500, 0);
        for (uint32_t i = c; i < lod_combination_count; i += 4)
            check_build(ctx, cloud, kind->name, &lod_combinations[i]);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void lattices_hold_every_point(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint64_t n = 0; n < 600; n = 2 * n + 1) {
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], n, 0);
            char why[REFERENCE_WHY_BYTES] = "";
            mote_lattice lattice;
            uint64_t skipped;
            assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, &skipped), MOTE_OK);
            if (!lod_reference_check_lattice(cloud, &lattice, skipped, why)) {
                fail_msg("%s, %llu points: %s", awkward_clouds[c].name, (unsigned long long)n, why);
            }
            mote_cloud_destroy(cloud);
        }
    }
    mote_context_destroy(ctx);
}

/* ---- the same for any number of threads */

typedef struct result {
    mote_lod_node *nodes;
    uint32_t *indices;
    uint16_t *colors;
    uint64_t points;
    uint32_t node_count;
} result;

static void free_result(result *r) {
    free(r->nodes);
    free(r->indices);
    free(r->colors);
}

static result copy_result(const mote_lod *lod) {
    result r = {NULL, NULL, NULL, 0, mote_lod_node_count(lod)};
    const mote_lod_node *nodes = mote_lod_nodes(lod);
    for (uint32_t n = 0; n < r.node_count; n++) r.points += nodes[n].point_count;
    r.nodes = calloc(r.node_count, sizeof *r.nodes);
    r.indices = malloc((r.points + 1) * sizeof *r.indices);
    r.colors = malloc((3 * r.points + 1) * sizeof *r.colors);
    assert_true(r.nodes != NULL && r.indices != NULL && r.colors != NULL);
    uint64_t at = 0;
    for (uint32_t n = 0; n < r.node_count; n++) {
        r.nodes[n] = nodes[n];
        mote_lod_node_points(lod, n, r.indices + at, r.colors + 3 * at);
        at += nodes[n].point_count;
    }
    return r;
}

static bool same_node(const mote_lod_node *a, const mote_lod_node *b) {
    return a->prefix == b->prefix && a->first == b->first && a->total == b->total && a->point_count == b->point_count &&
           a->parent == b->parent && a->first_child == b->first_child && a->child_mask == b->child_mask &&
           a->level == b->level;
}

static void require_same(const result *a, const result *b, const char *what) {
    bool same = a->node_count == b->node_count && a->points == b->points;
    for (uint32_t n = 0; same && n < a->node_count; n++) same = same_node(&a->nodes[n], &b->nodes[n]);
    if (!same) fail_msg("%s: the node tables differ", what);
    if (memcmp(a->indices, b->indices, a->points * sizeof *a->indices) != 0) fail_msg("%s: the points differ", what);
    if (memcmp(a->colors, b->colors, 3 * a->points * sizeof *a->colors) != 0) fail_msg("%s: the colours differ", what);
}

static result build_with(int threads, const awkward_cloud *kind, uint64_t n, const mote_lod_params *p) {
    mote_context *ctx = test_context(threads);
    mote_lod *lod = NULL;
    mote_cloud *cloud = awkward_cloud_make(ctx, kind, n, 0);
    assert_int_equal(mote_lod_build(ctx, cloud, p, &lod), MOTE_OK);
    const result r = copy_result(lod);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
    return r;
}

static void check_threads(const awkward_cloud *kind, uint64_t n, const mote_lod_params *p) {
    char what[REFERENCE_NAME_BYTES];
    lod_combination_name(p, kind->name, n, what);
    result alone = build_with(1, kind, n, p);
    for (int threads = 2; threads <= 7; threads += 5) {
        result many = build_with(threads, kind, n, p);
        require_same(&alone, &many, what);
        free_result(&many);
    }
    free_result(&alone);
}

static void same_for_any_number_of_threads(void **state) {
    (void)state;
    static const char *const names[] = {"heap of duplicates", "shells of integers", "around the middle"};
    for (size_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        const awkward_cloud *kind = awkward_cloud_named(names[c]);
        for (uint32_t i = c; i < lod_combination_count; i += 5) {
            if (lod_combinations[i].max_node_points == 0) check_threads(kind, 5000, &lod_combinations[i]);
        }
    }
    /* Large enough that every step is really divided among the threads. */
    const awkward_cloud *kind = awkward_cloud_named("uniform double at UTM");
    const mote_lod_params large[] = {
        {MOTE_LOD_ADDITIVE, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, 32, 500, 0, 1, false, {0}},
        {MOTE_LOD_REPLACING, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_GAUSSIAN, 32, 500, 0, 1, false, {0}}};
    for (int i = 0; i < 2; i++) check_threads(kind, 120000, &large[i]);
}

/* ---- the order of the input only names the points */

/* Of each point of a node its place in the cloud's making; sorted. */
static void sorted_places(const mote_lod *lod, uint32_t node, uint64_t n, uint64_t shuffle, uint32_t *places) {
    const uint64_t count = mote_lod_nodes(lod)[node].point_count;
    mote_lod_node_points(lod, node, places, NULL);
    for (uint64_t i = 0; i < count; i++) places[i] = (uint32_t)awkward_cloud_slot(places[i], n, shuffle);
    for (uint64_t i = 1; i < count; i++) {
        const uint32_t place = places[i];
        uint64_t j = i;
        for (; j > 0 && places[j - 1] > place; j--) places[j] = places[j - 1];
        places[j] = place;
    }
}

static void check_shuffle(mote_context *ctx, const awkward_cloud *kind, uint64_t n, const mote_lod_params *p) {
    mote_cloud *clouds[2];
    mote_lod *lods[2] = {NULL, NULL};
    uint32_t *places[2];
    char what[REFERENCE_NAME_BYTES];
    lod_combination_name(p, kind->name, n, what);
    for (uint64_t s = 0; s < 2; s++) {
        clouds[s] = awkward_cloud_make(ctx, kind, n, 77 * s);
        assert_int_equal(mote_lod_build(ctx, clouds[s], p, &lods[s]), MOTE_OK);
        places[s] = malloc((n + 1) * sizeof **places);
        assert_non_null(places[s]);
    }
    assert_int_equal(mote_lod_node_count(lods[0]), mote_lod_node_count(lods[1]));
    for (uint32_t node = 0; node < mote_lod_node_count(lods[0]); node++) {
        assert_true(same_node(&mote_lod_nodes(lods[0])[node], &mote_lod_nodes(lods[1])[node]));
        for (uint64_t s = 0; s < 2; s++) sorted_places(lods[s], node, n, 77 * s, places[s]);
        const size_t size = mote_lod_nodes(lods[0])[node].point_count * sizeof **places;
        if (memcmp(places[0], places[1], size) != 0) fail_msg("%s: node %u holds other points", what, node);
    }
    for (int s = 0; s < 2; s++) {
        mote_lod_destroy(lods[s]);
        mote_cloud_destroy(clouds[s]);
        free(places[s]);
    }
}

static void shuffling_renames_points(void **state) {
    (void)state;
    /* No two points of these clouds share a place, but some of the last two share a code. */
    static const char *const names[] = {"uniform double at UTM", "uniform float", "degrees and metres", "shells",
                                        "far clusters"};
    mote_context *ctx = test_context(1);
    for (size_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        for (uint32_t i = 0; i < lod_combination_count; i++) {
            if (lod_combinations[i].sampling == MOTE_LOD_FIRST || lod_combinations[i].max_node_points > 0) continue;
            check_shuffle(ctx, awkward_cloud_named(names[c]), 700, &lod_combinations[i]);
        }
    }
    mote_context_destroy(ctx);
}

/* ---- colours */

/* A gaussian average over smooth colours, against distances that no eighth rounds. A point moves by up to a sixteenth
   of a cell an axis; of colours that change by at most slope a cell, that costs a small part of the slope. */
static void gaussian_is_near_the_exact_one(void **state) {
    (void)state;
    const mote_lod_params p = {MOTE_LOD_REPLACING, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_GAUSSIAN, 8, 60, 0, 0, false, {0}};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named("uniform float"), 2500, 0);
    lod_reference *r = lod_reference_build(ctx, cloud, &p);
    double worst = 0;
    for (uint64_t i = 0; i < r->count; i++) { /* a ramp along the diagonal */
        for (int k = 0; k < 3; k++) {
            const double at = (double)(r->points[i].p[0] + r->points[i].p[1] + (uint64_t)r->points[i].p[k]);
            r->points[i].rgb[k] = (uint16_t)(at / 3 / (double)r->lattice.side[0] * 65535);
        }
    }
    for (uint32_t level = 0; level + 1 < r->level_count; level++) {
        reference_filter f;
        reference_filter_begin(r, level, &f);
        for (uint64_t i = 0; i < r->count; i++) {
            if (r->taken[level * r->count + i] == 0) continue;
            double exact[3], rounded[3];
            reference_average_weighted(&f, i, false, exact);
            reference_average_weighted(&f, i, true, rounded);
            const double slope = 65535.0 / p.grid / (double)(1u << level);
            for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(exact[k] - rounded[k]) / slope);
        }
        reference_filter_end(&f);
    }
    assert_true(worst > 0 && worst < 0.1);
    lod_reference_destroy(r);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- a few points that stretch the cube */

/* What an octree is like. */
typedef struct shape {
    uint64_t largest_leaf, inner, held; /* held: points of inner nodes */
} shape;

static shape shape_of(const mote_lod *lod) {
    shape s = {0, 0, 0};
    for (uint32_t n = 0; n < mote_lod_node_count(lod); n++) {
        const mote_lod_node *node = &mote_lod_nodes(lod)[n];
        if (node->child_mask == 0) {
            s.largest_leaf = node->total > s.largest_leaf ? node->total : s.largest_leaf;
        } else {
            s.inner++;
            s.held += node->point_count;
        }
    }
    return s;
}

static shape build_shape(mote_context *ctx, double (*xyz)[3], uint64_t count, mote_lod_sampling sampling) {
    static const char *const names[3] = {"x", "y", "z"};
    mote_column columns[3];
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_lod_params params = mote_lod_defaults();
    memset(columns, 0, sizeof columns);
    for (int k = 0; k < 3; k++) {
        columns[k] = (mote_column){
            .name = names[k], .data = &xyz[0][k], .stride_bytes = sizeof *xyz, .type = MOTE_FLOAT64, .scale = 1};
    }
    params.sampling = sampling;
    params.merge_points = 1000;
    assert_int_equal(mote_cloud_wrap(ctx, count, columns, 3, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
    const shape s = shape_of(lod);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return s;
}

/* A scan of a hillside at UTM offsets, with one point at zero and with one a hundred times as far away, is divided and
   sampled as it is without: but for the nodes above, and for where its cells lie. */
static void strays_change_little(void **state) {
    (void)state;
    enum { COUNT = 60000 };
    static const double strays[][3] = {{0, 0, 0}, {5e8, -5e8, 3}, {500010, 5400005, 9000}};
    static const mote_lod_sampling samplings[] = {MOTE_LOD_RANDOM, MOTE_LOD_FIRST, MOTE_LOD_POISSON};
    mote_context *ctx = test_context(2);
    double(*xyz)[3] = calloc(COUNT, sizeof *xyz);
    assert_non_null(xyz);
    for (uint64_t i = 0; i < COUNT; i++) {
        const double x = test_random(0, i) * 400, y = test_random(1, i) * 300;
        xyz[i][0] = 500000 + x, xyz[i][1] = 5400000 + y, xyz[i][2] = 300 + 20 * sin(x / 40) + y / 9;
    }
    for (size_t m = 0; m < 3; m++) {
        const shape without = build_shape(ctx, xyz, COUNT, samplings[m]);
        assert_true(without.largest_leaf <= 2000 && without.inner > 20);
        for (size_t s = 0; s < sizeof strays / sizeof strays[0]; s++) {
            double kept[3];
            memcpy(kept, xyz[COUNT / 3], sizeof kept);
            memcpy(xyz[COUNT / 3], strays[s], sizeof kept);
            const shape with = build_shape(ctx, xyz, COUNT, samplings[m]);
            memcpy(xyz[COUNT / 3], kept, sizeof kept);
            assert_true(with.largest_leaf <= 2000);
            assert_in_range(with.inner, without.inner / 2, 2 * without.inner + 31);
            assert_in_range(with.held, without.held / 2, 2 * without.held);
        }
    }
    free(xyz);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_reference),
        cmocka_unit_test(matches_reference_at_any_count),
        cmocka_unit_test(matches_reference_when_larger),
        cmocka_unit_test(lattices_hold_every_point),
        cmocka_unit_test(same_for_any_number_of_threads),
        cmocka_unit_test(shuffling_renames_points),
        cmocka_unit_test(gaussian_is_near_the_exact_one),
        cmocka_unit_test(strays_change_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
