/* A search that is cut into slabs gives the rows of one index, byte for byte. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/cloud.h"
#include "knn/knn_cut.h"
#include "reference/awkward_clouds.h"
#include "reference/knn_reference.h"
#include "reference/shaped_clouds.h"
#include "support/support.h"

/* All arrays of a result. */
typedef struct test_rows {
    mote_knn_result result;
    uint64_t places, queries;
} test_rows;

static test_rows rows_of(uint64_t queries, uint32_t k) {
    test_rows rows = {.places = queries * k, .queries = queries};
    mote_knn_result *r = &rows.result;
    r->index32 = malloc(rows.places * 4 + 1);
    r->index64 = malloc(rows.places * 8 + 1);
    r->distance2 = malloc(rows.places * 4 + 1);
    r->distance2_wide = malloc(rows.places * 8 + 1);
    r->count = malloc(queries * 4 + 1);
    return rows;
}

static void free_rows(test_rows *rows) {
    mote_knn_result *r = &rows->result;
    void *const owned[] = {r->index32, r->index64, r->distance2, r->distance2_wide, r->count};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

static void expect_same(const test_rows *a, const test_rows *b, const char *name) {
    const mote_knn_result *x = &a->result, *y = &b->result;
    if (memcmp(x->index32, y->index32, a->places * 4) != 0) fail_msg("%s: index32", name);
    if (memcmp(x->index64, y->index64, a->places * 8) != 0) fail_msg("%s: index64", name);
    if (memcmp(x->distance2, y->distance2, a->places * 4) != 0) fail_msg("%s: distance2", name);
    if (memcmp(x->distance2_wide, y->distance2_wide, a->places * 8) != 0) fail_msg("%s: distance2_wide", name);
    if (memcmp(x->count, y->count, a->queries * 4) != 0) fail_msg("%s: count", name);
    assert_int_equal(x->skipped, y->skipped);
}

static void compare(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries, const mote_knn_params *p,
                    uint32_t slabs, const char *name) {
    const uint64_t asking = mote_cloud_count(queries != NULL ? queries : cloud);
    test_rows one = rows_of(asking, p->k), cut = rows_of(asking, p->k);
    char what[256];
    snprintf(what, sizeof what, "%s, k %u, radius %g, %u slabs%s", name, p->k, p->radius, slabs,
             queries != NULL ? ", others" : "");
    assert_int_equal(mote_knn(ctx, cloud, queries, p, &one.result), MOTE_OK);
    if (knn_cut_applies(ctx, cloud, queries, p, &cut.result)) {
        const mote_status status = knn_cut_search(ctx, slabs, cloud, queries, p, &cut.result);
        if (status != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
        expect_same(&one, &cut, what);
    }
    assert_int_equal(mote_context_status(ctx), MOTE_OK);
    free_rows(&one);
    free_rows(&cut);
}

static mote_knn_params params_of(uint32_t k, double radius, bool exclude_self) {
    mote_knn_params p = mote_knn_defaults();
    p.k = k;
    p.radius = radius;
    p.exclude_self = exclude_self;
    return p;
}

static const uint32_t ks[] = {1, 10, 16, 40};

static void any_cloud_can_be_cut(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 9, 65, 700};
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_context *ctx = test_context(2);
        for (uint32_t s = (uint32_t)test_extent(c % 6, 0); s < 6; s += (uint32_t)test_extent(6, 1), turn++) {
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], sizes[s], 0);
            mote_cloud *others = awkward_cloud_make(ctx, &awkward_clouds[c], 90, 3);
            mote_cloud *strangers = awkward_cloud_make(ctx, &awkward_clouds[(c + 1) % awkward_cloud_count], 90, 1);
            const double radius = turn % 3 == 0 ? awkward_cloud_size(&awkward_clouds[c]) / 10 : 0;
            const mote_knn_params own = params_of(ks[turn % 4], radius, turn % 2 == 0);
            const mote_knn_params of_others = params_of(ks[turn % 4], radius, false);
            compare(ctx, cloud, NULL, &own, 2 + turn % 3, awkward_clouds[c].name);
            compare(ctx, cloud, others, &of_others, 2 + turn % 3, awkward_clouds[c].name);
            compare(ctx, cloud, strangers, &of_others, 2 + turn % 3, awkward_clouds[c].name);
            mote_cloud_destroy(strangers);
            mote_cloud_destroy(others);
            mote_cloud_destroy(cloud);
        }
        mote_context_destroy(ctx);
    }
}

static void any_shape_can_be_cut(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    for (uint32_t f = 0; f < shaped_cloud_count; f++) {
        const mote_type type = f % 2 == 0 ? MOTE_FLOAT64 : MOTE_FLOAT32;
        mote_cloud *cloud = shaped_cloud_make(ctx, &shaped_clouds[f], type, test_extent(500, 3000), 1);
        for (uint32_t slabs = 2; slabs <= 4; slabs++) {
            const mote_knn_params p = params_of(ks[(f + slabs) % 4], 0, slabs == 3);
            compare(ctx, cloud, NULL, &p, slabs, shaped_clouds[f].name);
        }
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Whole numbers on a lattice: nearly all distances are ties, and the planes go through points. */
static void ties_go_by_index(void **state) {
    (void)state;
    enum { SIDE = 12, COUNT = SIDE * SIDE * SIDE };
    static double stored[3 * COUNT];
    mote_context *ctx = test_context(2);
    for (int i = 0; i < COUNT; i++) {
        const int at = (int)((uint32_t)i * 1103u % COUNT); /* in no order */
        stored[3 * i] = at % SIDE;
        stored[3 * i + 1] = at / SIDE % SIDE;
        stored[3 * i + 2] = at / SIDE / SIDE;
    }
    static const mote_type types[] = {MOTE_INT32, MOTE_FLOAT32, MOTE_FLOAT64};
    for (int t = 0; t < 3; t++) {
        mote_cloud *cloud = knn_reference_cloud(ctx, types[t], t == 0 ? 0.01 : 1, t == 0 ? 5e6 : 0, stored, COUNT);
        for (uint32_t i = 0; i < 4; i++) {
            const mote_knn_params p = params_of(ks[i], 0, i % 2 == 0);
            compare(ctx, cloud, NULL, &p, 2 + i, "lattice");
        }
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Where slabs would measure in steps and the whole does not, there is one index. */
static void what_slabs_would_measure_otherwise_is_not_cut(void **state) {
    (void)state;
    static const double near[] = {0, 0, 0, 1, 1, 1, 2, 2, 2}, far[] = {-1.5e9, 0, 0, 1, 1, 1, 1.5e9, 2, 2};
    mote_context *ctx = test_context(1);
    const mote_knn_params p = params_of(2, 0, false);
    const mote_knn_result none = {.on_device = false}, on_device = {.on_device = true};
    mote_cloud *a = knn_reference_cloud(ctx, MOTE_INT32, 0.01, 0, near, 3);
    mote_cloud *b = knn_reference_cloud(ctx, MOTE_INT32, 0.01, 0, far, 3);
    assert_true(knn_cut_applies(ctx, a, NULL, &p, &none));
    assert_false(knn_cut_applies(ctx, b, NULL, &p, &none));
    assert_false(knn_cut_applies(ctx, a, b, &p, &none));
    assert_false(knn_cut_applies(ctx, a, NULL, &p, &on_device));
    mote_cloud_destroy(a);
    mote_cloud_destroy(b);
    mote_context_destroy(ctx);
}

typedef struct test_search {
    const mote_cloud *cloud;
    test_rows rows;
} test_search;

static mote_status search(mote_context *ctx, void *user) {
    test_search *job = user;
    const mote_knn_params p = params_of(10, 0, true);
    mote_knn_result few = {.distance2 = job->rows.result.distance2};
    return knn_cut_search(ctx, 3, job->cloud, NULL, &p, &few);
}

static void survives_failures(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    test_search job = {awkward_cloud_make(ctx, &awkward_clouds[0], 400, 0), rows_of(400, 10)};
    test_each_allocation_fails(search, &job);
    test_each_step_cancels(search, &job);
    free_rows(&job.rows);
    mote_cloud_destroy((mote_cloud *)(uintptr_t)job.cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cloud_can_be_cut), cmocka_unit_test(any_shape_can_be_cut),
        cmocka_unit_test(ties_go_by_index),     cmocka_unit_test(what_slabs_would_measure_otherwise_is_not_cut),
        cmocka_unit_test(survives_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
