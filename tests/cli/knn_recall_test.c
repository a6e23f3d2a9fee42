/* cli/knn_recall.c: answers that miss neighbours, by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "knn/knn_recall.h"

#define INF INFINITY

static knn_recall compare(uint64_t queries, uint32_t k, float *found, uint32_t *found_count, float *exact,
                          uint32_t *exact_count) {
    knn_answer a = {.queries = queries, .k = k}, b = a;
    knn_recall recall = {0};
    a.rows.distance2 = found;
    a.rows.count = found_count;
    b.rows.distance2 = exact;
    b.rows.count = exact_count;
    knn_recall_compare(&a, &b, &recall);
    return recall;
}

static void same_answer_is_perfect(void **state) {
    (void)state;
    float d[] = {0, 1, 4, 0, 2, INF};
    uint32_t count[] = {3, 2};
    const knn_recall r = compare(2, 3, d, count, d, count);
    assert_true(r.recall == 1 && r.complete == 1 && r.mean == 1 && r.max == 1 && r.with_fewer == 0);
}

/* The first query misses the neighbour at 4 and has one at 16 for it; the second has all. */
static void farther_neighbour_is_a_miss(void **state) {
    (void)state;
    float exact[] = {0, 1, 4, 0, 2, 3}, found[] = {0, 1, 16, 0, 2, 3};
    uint32_t count[] = {3, 3};
    const knn_recall r = compare(2, 3, found, count, exact, count);
    assert_true(r.recall == 5.0 / 6 && r.complete == 0.5 && r.mean == 1.5 && r.max == 2);
}

/* What misses a near one and so has the next ones: found are those not beyond the true farthest. */
static void missed_near_neighbour_counts_once(void **state) {
    (void)state;
    float exact[] = {0, 1, 4}, found[] = {0, 4, 9};
    uint32_t count[] = {3};
    const knn_recall r = compare(1, 3, found, count, exact, count);
    assert_true(r.recall == 2.0 / 3 && r.complete == 0 && r.mean == 1.5 && r.max == 1.5);
}

static void fewer_neighbours_have_no_factor(void **state) {
    (void)state;
    float exact[] = {0, 1, 0, 1}, found[] = {0, INF, 0, 1};
    uint32_t exact_count[] = {2, 2}, found_count[] = {1, 2};
    const knn_recall r = compare(2, 2, found, found_count, exact, exact_count);
    assert_true(r.recall == 0.75 && r.complete == 0.5 && r.mean == 1 && r.max == 1 && r.with_fewer == 1);
}

/* Points without neighbours do not count; something for nothing is infinitely far. */
static void nothing_and_duplicates(void **state) {
    (void)state;
    float exact[] = {INF, INF, 0, 0}, found[] = {INF, INF, 0, 1};
    uint32_t count[] = {0, 2};
    knn_recall r = compare(2, 2, found, count, exact, count);
    assert_true(r.recall == 0.5 && r.complete == 0 && isinf(r.max) && isinf(r.mean));
    r = compare(0, 2, NULL, NULL, NULL, NULL);
    assert_true(r.recall == 1 && r.complete == 1 && r.mean == 1 && r.max == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_answer_is_perfect),
        cmocka_unit_test(farther_neighbour_is_a_miss),
        cmocka_unit_test(missed_near_neighbour_counts_once),
        cmocka_unit_test(fewer_neighbours_have_no_factor),
        cmocka_unit_test(nothing_and_duplicates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
