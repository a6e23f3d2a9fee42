/* Neighbours by shifted sorting: rows of the GPU are those of the CPU, byte for byte. */
#include <math.h>

#include "math/hash.h"
#include "parity/knn_parity_support.h"
#include "reference/knn_reference.h"

static knn_trial trial_of(void **state, const mote_cloud *cloud, uint32_t k, const char *name) {
    knn_trial t = knn_trial_of(state, cloud, k, name);
    t.params.method = MOTE_KNN_SHIFTED;
    t.again = true;
    return t;
}

/* ---- rows */

static const uint32_t some_k[] = {1, 10, 31, 32, 33, 64, 2, 16, 17, 48, 65, 63};
#define SOME_K (sizeof some_k / sizeof some_k[0])

/* Different each turn: squeezed, in buckets, farther candidates, not itself, within a radius. */
static void vary(knn_trial *t, uint32_t turn, double size) {
    static const double compressions[] = {1, 4, 1.5, 100, 4, 1, 1e6};
    static const double radii[] = {0, 0, 0, 0.4, 0.03, 3, 1e-9};
    t->params.compression = compressions[turn % 7];
    t->params.buckets = turn % 4 < 2;
    t->params.lambda = turn % 3 == 0 ? 1 + turn % 5 : 1;
    t->params.exclude_self = turn % 2 == 0 && t->queries == NULL;
    t->params.radius = radii[turn / 7 % 7] * size;
    t->on_device = turn % 5 == 0;
}

static void awkward_clouds_have_the_same_neighbours(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 31, 32, 33, 127, 128, 129, 300, 700};
    const uint32_t step = (uint32_t)parity_extent(37, 3, 1);
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++, turn++) {
            if ((turn + c) % step != 0) continue;
            mote_cloud *cloud = knn_awkward_cloud(*state, c, sizes[s], 0, turn % KNN_NORMALS_KINDS);
            for (uint32_t i = turn % 3; i < SOME_K; i += 3) {
                knn_trial t = trial_of(state, cloud, some_k[i], awkward_clouds[c].name);
                vary(&t, turn + 5 * i, awkward_cloud_size(&awkward_clouds[c]));
                knn_compare(&t);
            }
            mote_cloud_destroy(cloud);
        }
    }
}

static void generated_clouds_have_the_same_neighbours(void **state) {
    static const char *const kinds[] = {"uniform", "clusters", "torus", "city", "lattice", "box"};
    static const uint32_t ks[] = {64, 10, 33, 200};
    const uint64_t count = parity_extent(300, 2000, 200000);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof kinds / sizeof kinds[0]; c++) {
        mote_cloud *cloud = NULL;
        knn_must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        const bool has_normals = mote_cloud_find(cloud, "normal_x") != NULL || mote_cloud_find(cloud, "nx") != NULL;
        if (!has_normals) knn_add_normals(cloud, KNN_NORMALS_ALIKE, MOTE_FLOAT32);
        for (uint32_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            knn_trial t = trial_of(state, cloud, ks[i], kinds[c]);
            t.params.compression = i % 2 == 0 ? 4 : 1;
            t.params.buckets = (i + c) % 2 == 1;
            t.params.exclude_self = i == 1;
            t.on_device = i % 2 == 0;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

static void hundreds_of_neighbours_are_the_same(void **state) {
    static const char *const names[] = {"uniform float", "heap of duplicates", "ticks",
                                        "far clusters",  "shells of integers", "some not finite"};
    static const uint32_t ks[] = {65, 256, 1000, 255, 257, 1024, 400};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        const uint64_t count = parity_extent(150, 60 * c + 900 / (c + 1), 4000);
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named(names[c]), count, 0);
        knn_add_normals(cloud, KNN_NORMALS_AWKWARD, MOTE_FLOAT32);
        for (uint32_t i = c % 4; i < sizeof ks / sizeof ks[0]; i += 4) {
            knn_trial t = trial_of(state, cloud, ks[i], names[c]);
            t.params.exclude_self = i % 2 == 0;
            t.params.compression = i < 4 ? 4 : 1;
            t.params.lambda = ks[i] <= 256 ? 1 + c % 4 : 1;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* Points of every cloud are asked for in others: other types, other scales, far away or not finite. */
static void other_queries_are_answered_alike(void **state) {
    const uint32_t step = (uint32_t)parity_extent(61, 3, 1);
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_cloud *cloud = awkward_cloud_make(((parity_pair *)*state)->cpu, &awkward_clouds[c], 260 + 37 * c, 0);
        for (uint32_t o = c % step; o < awkward_cloud_count; o += step, turn++) {
            mote_cloud *queries = knn_awkward_cloud(*state, o, (c + 5 * o) % 83, 3, turn % KNN_NORMALS_KINDS);
            knn_trial t = trial_of(state, cloud, some_k[turn % SOME_K], awkward_clouds[c].name);
            t.queries = queries;
            vary(&t, turn, awkward_cloud_size(&awkward_clouds[c]));
            knn_compare(&t);
            mote_cloud_destroy(queries);
        }
        mote_cloud *alike = knn_awkward_cloud(*state, c, 100, 5, c % KNN_NORMALS_KINDS);
        knn_trial t = trial_of(state, cloud, 12, awkward_clouds[c].name);
        t.queries = alike;
        vary(&t, 4 * c + 1, awkward_cloud_size(&awkward_clouds[c]));
        knn_compare(&t);
        mote_cloud_destroy(alike);
        mote_cloud_destroy(cloud);
    }
}

static void any_magnitude_is_borne(void **state) {
    parity_pair *pair = *state;
    for (uint32_t i = 0; i < 2 * KNN_SIZES; i++) {
        mote_cloud *cloud = knn_cloud_of_size(pair->cpu, i / 2, 0, i % 2 == 1, 220);
        if (cloud == NULL) continue;
        knn_add_normals(cloud, KNN_NORMALS_AWKWARD, MOTE_FLOAT64);
        for (uint32_t turn = 0; turn < 3; turn++) {
            knn_trial t = trial_of(state, cloud, turn == 2 ? 40 : 7, "of any size");
            t.params.compression = turn == 0 ? 1 : 4;
            t.params.buckets = turn == 2;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

static void integers_of_any_scale_are_borne(void **state) {
    static const double scales[] = {1e-310, 1e-140, -0.001, 1, 1e140, 1e200};
    parity_pair *pair = *state;
    for (uint32_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        double points[600];
        for (uint64_t j = 0; j < 600; j++) points[j] = (double)(mote_hash_pair(i, j) % 1000);
        mote_cloud *cloud = knn_reference_cloud(pair->cpu, MOTE_INT32, scales[i], 0, points, 200);
        knn_add_normals(cloud, KNN_NORMALS_ANY, MOTE_FLOAT32);
        for (uint32_t turn = 0; turn < 3; turn++) {
            knn_trial t = trial_of(state, cloud, 40, "integers of any scale");
            t.params.compression = turn == 0 ? 1 : 4;
            t.params.radius = turn == 2 ? 100 * fabs(scales[i]) : 0;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

static void little_memory_fails_cleanly(void **state) {
    parity_pair *pair = *state;
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), 3000, 0);
    mote_knn_params params = mote_knn_defaults();
    params.method = MOTE_KNN_SHIFTED;
    params.compression = 4;
    params.buckets = true;
    knn_add_normals(cloud, KNN_NORMALS_ANY, MOTE_FLOAT32);
    knn_fails_until_it_fits(cloud, &params);
    mote_cloud_destroy(cloud);
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        PARITY_TEST(awkward_clouds_have_the_same_neighbours),
        PARITY_TEST(generated_clouds_have_the_same_neighbours),
        PARITY_TEST(hundreds_of_neighbours_are_the_same),
        PARITY_TEST(other_queries_are_answered_alike),
        PARITY_TEST(any_magnitude_is_borne),
        PARITY_TEST(integers_of_any_scale_are_borne),
        PARITY_TEST(little_memory_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
