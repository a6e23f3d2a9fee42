/* Exact neighbours by ellipsoids: rows of the GPU are those of the CPU, byte for byte. */
#include <math.h>
#include <string.h>

#include "math/hash.h"
#include "parity/knn_parity_support.h"
#include "reference/knn_reference.h"

static const double compressions[] = {4, 1.5, 8, 1.0000001, 100, 4, 1e6};
#define COMPRESSIONS (sizeof compressions / sizeof compressions[0])

static void awkward_clouds_have_the_same_neighbours(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 8, 33, 256, 300, 1025};
    static const uint32_t ks[] = {1, 10, 16, 17, 33, 64, 2, 65, 100};
    const uint32_t step = (uint32_t)parity_extent(31, 3, 1);
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++, turn++) {
            if ((turn + c) % step != 0) continue;
            mote_cloud *cloud = knn_awkward_cloud(*state, c, sizes[s], 0, turn % KNN_NORMALS_KINDS);
            for (uint32_t i = turn % 3; i < sizeof ks / sizeof ks[0]; i += 3) {
                knn_trial t = knn_trial_of(state, cloud, ks[i], awkward_clouds[c].name);
                t.params.compression = compressions[(turn + i) % COMPRESSIONS];
                t.params.exclude_self = (turn + i) % 2 == 0;
                t.params.radius = (turn + i) % 5 == 0 ? 0.2 * awkward_cloud_size(&awkward_clouds[c]) : 0;
                t.on_device = (turn + i) % 4 == 0;
                knn_compare(&t);
            }
            mote_cloud_destroy(cloud);
        }
    }
}

static void generated_clouds_have_the_same_neighbours(void **state) {
    static const char *const kinds[] = {"uniform", "box", "torus", "clusters", "lattice"};
    static const uint32_t ks[] = {64, 10, 128, 256};
    const uint64_t count = parity_extent(200, 1500, 100000);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof kinds / sizeof kinds[0]; c++) {
        mote_cloud *cloud = NULL;
        knn_must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        if (mote_cloud_find(cloud, "normal_x") == NULL) knn_add_normals(cloud, KNN_NORMALS_ANY, MOTE_FLOAT32);
        for (uint32_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            knn_trial t = knn_trial_of(state, cloud, ks[i], kinds[c]);
            t.params.compression = i % 2 == 0 ? 4 : 8;
            t.params.exclude_self = i == 1;
            t.on_device = i == 0;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

static void hundreds_of_neighbours_are_the_same(void **state) {
    static const uint32_t ks[] = {129, 257, 512, 513, 1000, 1024, 256};
    const uint32_t step = (uint32_t)parity_extent(7, 2, 1);
    const uint64_t count = parity_extent(200, 700, 3000);
    for (uint32_t c = 0; c < awkward_cloud_count; c += step) {
        mote_cloud *cloud = knn_awkward_cloud(*state, c, count, 0, c % KNN_NORMALS_KINDS);
        knn_trial t = knn_trial_of(state, cloud, ks[c % 7], awkward_clouds[c].name);
        t.params.compression = compressions[c % COMPRESSIONS];
        t.params.exclude_self = c % 2 == 0;
        knn_compare(&t);
        mote_cloud_destroy(cloud);
    }
}

/* Normals are those of the queries, which may be of another type than the points. */
static void other_queries_are_answered_alike(void **state) {
    const uint32_t step = (uint32_t)parity_extent(13, 5, 1);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 300 + 11 * c, 0);
        for (uint32_t o = c % step; o < awkward_cloud_count; o += step) {
            mote_cloud *queries = knn_awkward_cloud(pair, o, (3 * c + o) % 70, 3, (c + o) % KNN_NORMALS_KINDS);
            knn_trial t = knn_trial_of(state, cloud, 1 + (c + 5 * o) % 70, awkward_clouds[c].name);
            t.queries = queries;
            t.params.compression = compressions[(c + o) % COMPRESSIONS];
            t.on_device = (c + o) % 3 == 0;
            knn_compare(&t);
            mote_cloud_destroy(queries);
        }
        mote_cloud *alike = knn_awkward_cloud(pair, c, 90, 5, KNN_NORMALS_AWKWARD);
        knn_trial t = knn_trial_of(state, cloud, 20, awkward_clouds[c].name);
        t.queries = alike;
        t.params.compression = 4;
        knn_compare(&t);
        mote_cloud_destroy(alike);
        mote_cloud_destroy(cloud);
    }
}

/* Gives all points the same normal. */
static void add_normal(mote_cloud *cloud, const double normal[3]) {
    static const char *const names[3] = {"nx", "ny", "nz"};
    for (int k = 0; k < 3; k++) {
        const mote_column_spec spec = {names[k], MOTE_FLOAT64, 0, 0};
        assert_int_equal(mote_cloud_add_column(cloud, &spec), MOTE_OK);
        const uint64_t stride = mote_cloud_find(cloud, names[k])->stride_bytes;
        uint8_t *const data = mote_cloud_column_data(cloud, names[k]);
        for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) memcpy(data + i * stride, &normal[k], sizeof normal[k]);
    }
}

/* Two planes so near that only more compression than floats take tells which one is the query's. */
static void near_planes_are_told_apart(void **state) {
    enum { COUNT = 200 };
    static const double normal[3] = {0, 0, 1};
    parity_pair *pair = *state;
    double points[3 * COUNT];
    for (uint64_t i = 0; i < 3 * COUNT; i++) {
        const double any = test_random(9, i);
        points[i] = i % 3 == 2 ? (i % 2 == 0 ? 1e-5 : 0) : any * (i % 2 == 0 ? 0.01 : 2);
    }
    mote_cloud *cloud = knn_reference_cloud(pair->cpu, MOTE_FLOAT32, 1, 0, points, COUNT);
    add_normal(cloud, normal);
    for (uint32_t k = 4; k < 200; k *= 4) {
        knn_trial t = knn_trial_of(state, cloud, k, "planes");
        t.params.compression = 1e6;
        knn_compare(&t);
    }
    mote_cloud_destroy(cloud);
}

/* So far that views of the queries are cut, which turns them: across the normal, the points are within the radius. */
static void queries_from_afar_are_answered_alike(void **state) {
    enum { COUNT = 60, FAR = 8 };
    static const double away[3] = {0x1p43, -0x1p41, 0}, normal[3] = {1, 4, 0};
    parity_pair *pair = *state;
    double points[3 * COUNT], far[3 * FAR];
    for (uint64_t i = 0; i < 3 * COUNT; i++) points[i] = test_random(8, i);
    for (uint64_t i = 0; i < 3 * FAR; i++) far[i] = away[i % 3] * (double)(1 + i / 3);
    mote_cloud *cloud = knn_reference_cloud(pair->cpu, MOTE_FLOAT64, 1, 0, points, COUNT);
    mote_cloud *queries = knn_reference_cloud(pair->cpu, MOTE_FLOAT64, 1, 0, far, FAR);
    add_normal(queries, normal);
    for (uint32_t k = 5; k < 300; k *= 6) {
        knn_trial t = knn_trial_of(state, cloud, k, "far");
        t.queries = queries;
        t.params.compression = 100;
        t.params.radius = 0x1p43 * 1.1;
        knn_compare(&t);
    }
    mote_cloud_destroy(queries);
    mote_cloud_destroy(cloud);
}

static void any_magnitude_is_borne(void **state) {
    const uint32_t step = (uint32_t)parity_extent(3, 1, 1);
    parity_pair *pair = *state;
    for (uint32_t i = 0; i < 2 * KNN_SIZES; i++) {
        if (i / 2 % step != 0) continue;
        mote_cloud *cloud = knn_cloud_of_size(pair->cpu, i / 2, -0.5, i % 2 == 1, 200);
        if (cloud == NULL) continue;
        knn_add_normals(cloud, KNN_NORMALS_ANY, MOTE_FLOAT32);
        for (uint32_t c = 0; c < COMPRESSIONS; c += 2) {
            knn_trial t = knn_trial_of(state, cloud, 7 + 20 * c, "of any size");
            t.params.compression = compressions[c];
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* Steps of scales near the ends of the range, beyond one, which both refuse, and of one that is negative. */
static void steps_of_any_scale_are_borne(void **state) {
    static const double scales[] = {0.001, -0.01, 1e-140, 1e137, 1e-310};
    parity_pair *pair = *state;
    for (uint32_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        double points[900];
        for (uint64_t j = 0; j < 900; j++) points[j] = (double)(mote_hash_pair(20 + i, j) % 2000000);
        mote_cloud *cloud = knn_reference_cloud(pair->cpu, MOTE_INT32, scales[i], 0, points, 300);
        knn_add_normals(cloud, KNN_NORMALS_AWKWARD, MOTE_FLOAT64);
        for (uint32_t c = 0; c < 3; c++) {
            knn_trial t = knn_trial_of(state, cloud, 9 + 40 * c, "steps");
            t.params.compression = compressions[c];
            t.params.radius = c == 1 ? 6e5 * fabs(scales[i]) : 0;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

static void brute_force_is_the_same(void **state) {
    static const uint32_t ks[] = {5, 70, 200, 600};
    const uint32_t step = (uint32_t)parity_extent(6, 3, 1);
    for (uint32_t c = 0; c < awkward_cloud_count; c += step) {
        mote_cloud *cloud = knn_awkward_cloud(*state, c, 250, 0, c % KNN_NORMALS_KINDS);
        knn_trial t = knn_trial_of(state, cloud, ks[c % 4], awkward_clouds[c].name);
        t.params.method = MOTE_KNN_BRUTE;
        t.params.compression = compressions[c % COMPRESSIONS];
        t.params.exclude_self = c % 2 == 1;
        knn_compare(&t);
        mote_cloud_destroy(cloud);
    }
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        PARITY_TEST(awkward_clouds_have_the_same_neighbours),
        PARITY_TEST(generated_clouds_have_the_same_neighbours),
        PARITY_TEST(hundreds_of_neighbours_are_the_same),
        PARITY_TEST(other_queries_are_answered_alike),
        PARITY_TEST(near_planes_are_told_apart),
        PARITY_TEST(queries_from_afar_are_answered_alike),
        PARITY_TEST(any_magnitude_is_borne),
        PARITY_TEST(steps_of_any_scale_are_borne),
        PARITY_TEST(brute_force_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
