/* What searches rest on: the curve, boxes that hold their points, leaves that are small where points are dense, lists
   that keep the best. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "knn/cpu/knn_best.h"
#include "knn/knn_index.h"
#include "math/hash.h"
#include "math/hilbert.h"
#include "math/morton.h"
#include "reference/awkward_clouds.h"
#include "reference/knn_reference.h"
#include "support/support.h"

/* A corner of 16 cells a side is one range of the curve, and each step in it goes to a cell that touches. */
static void the_curve_goes_from_cell_to_cell(void **state) {
    (void)state;
    enum { SIDE = 16, CELLS = SIDE * SIDE * SIDE };
    static int at[CELLS][3];
    static bool visited[CELLS];
    mote_hilbert table;
    mote_hilbert_make(&table);
    const uint64_t range = mote_hilbert_code(&table, 0) / CELLS;
    for (int i = 0; i < CELLS; i++) {
        const int cell[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        const uint64_t morton = mote_morton_encode((uint32_t)cell[0], (uint32_t)cell[1], (uint32_t)cell[2]);
        const uint64_t code = mote_hilbert_code(&table, morton);
        assert_int_equal(code / CELLS, range);
        assert_false(visited[code % CELLS]);
        visited[code % CELLS] = true;
        memcpy(at[code % CELLS], cell, sizeof cell);
    }
    for (int i = 1; i < CELLS; i++) {
        int steps = 0;
        for (int k = 0; k < 3; k++) steps += abs(at[i][k] - at[i - 1][k]);
        assert_int_equal(steps, 1);
    }
}

/* Of all cells, those of 2^level a side that share a parent share a range. */
static void a_cell_is_a_range_of_the_curve(void **state) {
    (void)state;
    mote_hilbert table;
    mote_hilbert_make(&table);
    for (uint64_t i = 0; i < 2000; i++) {
        const uint64_t morton = mote_hash64(i) >> 1;
        const uint64_t code = mote_hilbert_code(&table, morton);
        assert_true(code >> 63 == 0);
        for (uint32_t level = 1; level < 21; level++) {
            const uint64_t inside = (1ull << 3 * level) - 1;
            const uint64_t other =
                mote_hilbert_code(&table, (morton & ~inside) | (mote_hash64(i * 31 + level) & inside));
            assert_int_equal(other >> 3 * level, code >> 3 * level);
        }
    }
}

static double box_value(const knn_tree *tree, uint32_t level, uint64_t node, uint64_t row) {
    const uint64_t at = ((tree->first_block[level] + node / 8) * 6 + row) * 8 + node % 8;
    return tree->metric.kind == KNN_INT     ? ((const int32_t *)tree->boxes)[at]
           : tree->metric.kind == KNN_FLOAT ? (double)((const float *)tree->boxes)[at]
                                            : ((const double *)tree->boxes)[at];
}

static double point_value(const knn_tree *tree, uint64_t place, uint64_t axis) {
    const uint64_t at = (3 * (place / 8) + axis) * 8 + place % 8;
    return tree->metric.kind == KNN_INT     ? ((const int32_t *)tree->points.leaves)[at]
           : tree->metric.kind == KNN_FLOAT ? (double)((const float *)tree->points.leaves)[at]
                                            : ((const double *)tree->points.leaves)[at];
}

static void check_boxes(const knn_tree *tree) {
    for (uint64_t i = 0; i < tree->points.count; i++) {
        uint64_t node = i / 8;
        for (uint32_t level = 0; level < tree->level_count; level++, node /= 8) {
            assert_true(node < tree->nodes[level]);
            for (uint64_t k = 0; k < 3; k++) {
                const double value = point_value(tree, i, k);
                assert_true(box_value(tree, level, node, k) <= value && value <= box_value(tree, level, node, 3 + k));
            }
        }
    }
    if (tree->points.count > 0) assert_true(tree->nodes[tree->level_count - 1] <= 8);
}

static void boxes_hold_their_points(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 8, 9, 64, 65, 511, 512, 513, 5000};
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            mote_context *ctx = test_context(2);
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], sizes[s], 0);
            mote_knn_index *index = NULL;
            assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
            assert_int_equal(index->stored.points.count + index->skipped, sizes[s]);
            check_boxes(&index->stored);
            mote_knn_destroy(index);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

/* One stray point so far off that all others share a cell of the finest level: their leaves are small all the same. */
static void leaves_are_small_beside_a_stray_point(void **state) {
    (void)state;
    const uint64_t count = test_extent(5000, 20000);
    double *stored = malloc(3 * count * sizeof *stored);
    assert_non_null(stored);
    for (int heap = 0; heap < 2; heap++) {
        mote_context *ctx = test_context(2);
        for (uint64_t i = 0; i < 3 * count; i++) { stored[i] = heap && i > 3000 ? 0.5 : test_random(0, i); }
        for (int k = 0; k < 3; k++) stored[k] = 1e30;
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count);
        mote_knn_index *index = NULL;
        assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
        check_boxes(&index->stored);
        uint64_t large = 0;
        for (uint64_t leaf = 0; leaf < index->stored.nodes[0]; leaf++) {
            bool is_large = false;
            for (uint64_t k = 0; k < 3; k++) {
                const double side = box_value(&index->stored, 0, leaf, 3 + k) - box_value(&index->stored, 0, leaf, k);
                is_large = is_large || side > 0.5;
            }
            large += is_large;
        }
        assert_true(large < 10);
        assert_int_equal(index->stored.copies.counts != NULL, heap);
        for (uint64_t i = 1; i < count; i++) assert_true(index->codes[i - 1] <= index->codes[i]);
        mote_knn_params p = mote_knn_defaults();
        knn_reference_check(ctx, cloud, NULL, &p, heap ? "stray, heap" : "stray");
        mote_knn_destroy(index);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
    free(stored);
}

/* Points in each of many binades, shuffled: of doubles the smallest count as copies, and floats as close are doubles.
 */
static void dense_points_are_noticed(void **state) {
    (void)state;
    enum { COUNT = 6000 };
    static double stored[3 * COUNT];
    for (int narrow = 0; narrow < 2; narrow++) {
        mote_context *ctx = test_context(2);
        for (uint64_t i = 0; i < COUNT; i++) {
            const double size = ldexp(1, -(int)(i * 7919 % COUNT * (narrow ? 140 : 900) / COUNT));
            for (uint64_t k = 0; k < 3; k++) stored[3 * i + k] = size * test_random(k, i);
        }
        mote_cloud *cloud = knn_reference_cloud(ctx, narrow ? MOTE_FLOAT32 : MOTE_FLOAT64, 1, 0, stored, COUNT);
        mote_knn_index *index = NULL;
        assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
        assert_true(index->dense);
        assert_int_equal(index->stored.metric.kind, KNN_DOUBLE);
        assert_int_equal(index->stored.near.counts != NULL, !narrow);
        for (uint32_t k = 1; k <= 200; k = 14 * k - 4) {
            mote_knn_params p = mote_knn_defaults();
            p.k = k;
            p.exclude_self = k > 1;
            knn_reference_check(ctx, cloud, NULL, &p, narrow ? "140 binades of floats" : "900 binades");
        }
        mote_knn_destroy(index);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* The cells are those of the points without the strays, but for one in a thousand, not one in a hundred. */
static void a_few_strays_do_not_stretch_the_cells(void **state) {
    (void)state;
    const uint64_t count = 30000;
    double *stored = malloc(3 * count * sizeof *stored);
    assert_non_null(stored);
    for (uint64_t every = 100; every <= 10000; every *= 100) {
        mote_context *ctx = test_context(2);
        for (uint64_t i = 0; i < 3 * count; i++) stored[i] = test_random(0, i) * (i / 3 % every == 7 ? 1e6 : 1);
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count);
        mote_knn_index *index = NULL;
        assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
        const double side = KNN_CELLS / index->cells.per_unit[0];
        if (every == 100) assert_true(side > 9e5);
        if (every == 10000) assert_true(side > 1 && side < 2.5);
        mote_knn_destroy(index);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
    free(stored);
}

/* ---- lists */

static int by_key_and_index(const void *a, const void *b) { return knn_before(a, b) ? -1 : 1; }

static uint64_t pattern_key(uint32_t pattern, uint64_t i, uint64_t count) {
    switch (pattern) {
    case 0: return mote_hash64(i) >> 20;
    case 1: return i;
    case 2: return count - i;
    case 3: return mote_hash64(i) % 3;
    case 4: return i < count / 2 ? i : count - i;
    default: return i % 2 == 0 ? i : UINT64_MAX - i;
    }
}

static void lists_are_sorted_and_cut(void **state) {
    (void)state;
    static knn_near list[3000], expected[3000];
    for (uint32_t pattern = 0; pattern < 6; pattern++) {
        for (uint64_t count = 1; count < 3000; count += 1 + count / 3) {
            for (uint64_t i = 0; i < count; i++) {
                const knn_near near = {pattern_key(pattern, i, count), 0, (uint32_t)(i * 7919 % count)};
                list[i] = expected[i] = near;
            }
            qsort(expected, count, sizeof expected[0], by_key_and_index);
            const uint64_t k = count / 3 + 1;
            knn_select(list, count, k);
            qsort(list, k, sizeof list[0], by_key_and_index);
            for (uint64_t i = 0; i < k; i++) assert_int_equal(list[i].key, expected[i].key);
            knn_sort(NULL, list, count);
            for (uint64_t i = 0; i < count; i++) {
                assert_int_equal(list[i].key, expected[i].key);
                assert_int_equal(list[i].index, expected[i].index);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_goes_from_cell_to_cell), cmocka_unit_test(a_cell_is_a_range_of_the_curve),
        cmocka_unit_test(boxes_hold_their_points),          cmocka_unit_test(leaves_are_small_beside_a_stray_point),
        cmocka_unit_test(dense_points_are_noticed),         cmocka_unit_test(a_few_strays_do_not_stretch_the_cells),
        cmocka_unit_test(lists_are_sorted_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
