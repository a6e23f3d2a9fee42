/* Nearest neighbours: rows and lists of the GPU are those of the CPU, byte for byte. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda.h"
#include "math/hash.h"
#include "parity/knn_parity_support.h"
#include "reference/knn_reference.h"

/* ---- rows */

static const uint32_t some_k[] = {1, 2, 4, 5, 10, 11, 16, 17, 32, 33, 64, 100};
#define SOME_K (sizeof some_k / sizeof some_k[0])

static void awkward_clouds_have_the_same_neighbours(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 7, 8, 9, 31, 32, 33, 255, 256, 257, 500, 1025};
    const uint32_t step = (uint32_t)parity_extent(11, 3, 1);
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = (turn + c) % step; s < sizeof sizes / sizeof sizes[0]; s += step) {
            parity_pair *pair = *state;
            mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], sizes[s], 0);
            assert_non_null(cloud);
            const uint32_t few = sizes[s] > 300 ? 5 : 3;
            for (uint32_t i = turn % few; i < SOME_K; i += few) {
                knn_trial t = knn_trial_of(state, cloud, some_k[i], awkward_clouds[c].name);
                t.params.exclude_self = (turn + i) % 2 == 0;
                t.on_device = (turn + i) % 3 == 0;
                knn_compare(&t);
            }
            turn++;
            mote_cloud_destroy(cloud);
        }
    }
}

static void generated_clouds_have_the_same_neighbours(void **state) {
    static const char *const kinds[] = {"uniform", "clusters", "torus", "city", "lattice"};
    const uint64_t count = parity_extent(600, 3000, 200000);
    parity_pair *pair = *state;
    for (size_t c = 0; c < sizeof kinds / sizeof kinds[0]; c++) {
        mote_cloud *cloud = NULL;
        knn_must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        static const uint32_t ks[] = {10, 1, 16, 64};
        for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            knn_trial t = knn_trial_of(state, cloud, ks[i], kinds[c]);
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
    static const uint32_t ks[] = {65, 128, 129, 256, 257, 512, 1000, 1024};
    const uint32_t step = (uint32_t)parity_extent(8, 4, 4), turn = (uint32_t)test_turn(step);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named(names[c]), 60 * c + 900 / (c + 1), 0);
        for (uint32_t i = (c + turn) % step; i < sizeof ks / sizeof ks[0]; i += step) {
            knn_trial t = knn_trial_of(state, cloud, ks[i], names[c]);
            t.params.exclude_self = i % 2 == 0;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* Around the sizes at which the search on the device changes how it keeps and sorts its candidates. */
static void many_neighbours_are_the_same(void **state) {
    static const uint32_t ks[] = {17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1024};
    const uint32_t step = (uint32_t)parity_extent(23, 5, 1);
    const uint64_t count = parity_extent(150, 500, 3000);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], count + c, 0);
        mote_cloud *queries = awkward_cloud_make(pair->cpu, &awkward_clouds[c], count / 5, 7);
        for (uint32_t i = c % step; i < sizeof ks / sizeof ks[0]; i += step) {
            knn_trial t = knn_trial_of(state, cloud, ks[i], awkward_clouds[c].name);
            t.params.exclude_self = (c + i) % 3 == 0;
            t.on_device = (c + i) % 2 == 0;
            knn_compare(&t);
            t.params.exclude_self = false;
            t.queries = queries;
            knn_compare(&t);
        }
        mote_cloud_destroy(queries);
        mote_cloud_destroy(cloud);
    }
}

/* As many queries as make warps take four and eight of them. */
static void large_clouds_have_the_same_neighbours(void **state) {
    static const char *const kinds[] = {"uniform", "clusters"};
    static const uint64_t extra[] = {0, 50000};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < 2; c++) {
        const uint64_t count = parity_extent(500, c == 0 ? 16390 : 500, 16390 + extra[c]);
        mote_cloud *cloud = NULL;
        knn_must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        knn_trial t = knn_trial_of(state, cloud, 17 + 30 * c, kinds[c]);
        knn_compare(&t);
        mote_cloud_destroy(cloud);
    }
}

/* Dense heaps far from each other: queries beside each other on the curve are of several, and walk alone. */
static void heaps_apart_have_the_same_neighbours(void **state) {
    enum { HEAPS = 9, HEAP = 70, COUNT = HEAPS * HEAP };
    parity_pair *pair = *state;
    double points[3 * COUNT];
    for (uint64_t i = 0; i < 3 * COUNT; i++) {
        const uint64_t heap = i / 3 / HEAP, size = heap % 2 == 0 ? 1u << 20 : 1u << 12;
        points[i] = (double)(mote_hash_pair(5, 3 * heap + i % 3) % 16) + (double)(mote_hash_pair(6, i) % size) * 1e-9;
    }
    for (uint32_t k = 1; k <= 16; k += 3) {
        mote_cloud *cloud =
            knn_reference_cloud(pair->cpu, k % 2 == 0 ? MOTE_FLOAT32 : MOTE_FLOAT64, 1, 0, points, COUNT);
        knn_trial t = knn_trial_of(state, cloud, k, "heaps apart");
        t.params.exclude_self = k % 2 == 0;
        knn_compare(&t);
        mote_cloud_destroy(cloud);
    }
}

/* Centimetres of a map in UTM: doubles, and ties by the thousand. */
static void ticks_of_a_map_are_told_apart(void **state) {
    static const mote_type types[] = {MOTE_FLOAT64, MOTE_INT32, MOTE_FLOAT32};
    enum { COUNT = 700 };
    const uint32_t step = (uint32_t)parity_extent(4, 1, 1), of_types = (uint32_t)parity_extent(3, 1, 1);
    parity_pair *pair = *state;
    for (uint32_t type = (uint32_t)test_turn(of_types); type < 3; type += of_types) {
        double points[3 * COUNT];
        for (uint64_t i = 0; i < 3 * COUNT; i++) {
            const double tick = (double)(mote_hash_pair(3, i) % 10);
            points[i] = type == 0 ? (i % 3 == 1 ? 5.4e6 : 4.5e5) + tick * 0.01 : tick;
        }
        mote_cloud *cloud = knn_reference_cloud(pair->cpu, types[type], 1, 0, points, COUNT);
        for (uint32_t k = 20; k <= 600; k += 30 * step + k) {
            knn_trial t = knn_trial_of(state, cloud, k, "ticks of a map");
            t.params.exclude_self = k % 20 != 0;
            t.params.radius = k > 300 ? 0.05 : 0;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

static void radii_keep_the_same(void **state) {
    static const double parts[] = {1e-9, 0.03, 0.125, 0.4, 3};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 300, 0);
        for (uint32_t i = c % 2; i < sizeof parts / sizeof parts[0]; i += 2) {
            knn_trial t = knn_trial_of(state, cloud, i == 0 ? 40 : 9, awkward_clouds[c].name);
            t.params.radius = parts[i] * awkward_cloud_size(&awkward_clouds[c]);
            t.params.exclude_self = i % 3 == 0;
            t.on_device = i == 3;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* Points of every cloud are asked for in others: other types, other scales, far away or not finite. */
static void other_queries_are_answered_alike(void **state) {
    const uint32_t step = (uint32_t)parity_extent(29, 4, 1);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 260 + 37 * c, 0);
        for (uint32_t o = c % step; o < awkward_cloud_count; o += step) {
            mote_cloud *queries = awkward_cloud_make(pair->cpu, &awkward_clouds[o], (c + 5 * o) % 83, 3);
            knn_trial t = knn_trial_of(state, cloud, 1 + (c + 7 * o) % 20, awkward_clouds[c].name);
            t.queries = queries;
            t.on_device = (c + o) % 3 == 0;
            knn_compare(&t);
            mote_cloud_destroy(queries);
        }
        mote_cloud *alike = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 100, 5);
        knn_trial t = knn_trial_of(state, cloud, 12, awkward_clouds[c].name);
        t.queries = alike;
        knn_compare(&t);
        mote_cloud_destroy(alike);
        mote_cloud_destroy(cloud);
    }
}

static void queries_from_afar_are_answered_alike(void **state) {
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < KNN_FAR_CASES; c++) {
        knn_far far = knn_far_make(pair->cpu, c);
        for (uint32_t k = 1; k <= 101; k += 20) {
            knn_trial t = knn_trial_of(state, far.points, k, "far");
            t.queries = far.queries;
            knn_compare(&t);
            t.queries = far.others;
            knn_compare(&t);
            t = knn_trial_of(state, far.queries, k, "far apart");
            knn_compare(&t);
        }
        knn_far_free(&far);
    }
}

static void any_magnitude_is_borne(void **state) {
    parity_pair *pair = *state;
    for (uint32_t i = 0; i < 2 * KNN_SIZES; i++) {
        mote_cloud *cloud = knn_cloud_of_size(pair->cpu, i / 2, 0, i % 2 == 1, 120);
        if (cloud == NULL) continue;
        const knn_trial t = knn_trial_of(state, cloud, 7, "of any size");
        knn_compare(&t);
        mote_cloud_destroy(cloud);
    }
}

static void brute_force_is_the_same(void **state) {
    static const char *const names[] = {"uniform float", "ticks of a centimetre", "far clusters", "some not finite"};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named(names[c]), 200, 0);
        knn_trial t = knn_trial_of(state, cloud, c % 2 == 0 ? 5 : 70, names[c]);
        t.params.method = MOTE_KNN_BRUTE;
        t.params.exclude_self = c == 1;
        knn_compare(&t);
        mote_cloud_destroy(cloud);
    }
}

/* ---- lists */

static void lists_are_the_same(void **state) {
    static const double parts[] = {0, 0.03, 0.2, 3};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 150 + 10 * (c % 7), 0);
        mote_cloud *queries = awkward_cloud_make(pair->cpu, &awkward_clouds[(c + 1) % awkward_cloud_count], 40, 0);
        const double radius = parts[c % 4] * awkward_cloud_size(&awkward_clouds[c]);
        knn_reference_check_within(pair->cuda, cloud, NULL, radius, c % 2 == 0, awkward_clouds[c].name);
        knn_reference_check_within(pair->cuda, cloud, queries, radius, false, awkward_clouds[c].name);
        mote_cloud_destroy(queries);
        mote_cloud_destroy(cloud);
    }
}

/* ---- an index of many frames, and of little memory */

static void an_index_is_made_anew(void **state) {
    enum { COUNT = 700, K = 10 };
    static float positions[3 * COUNT];
    static const char *const names[3] = {"x", "y", "z"};
    parity_pair *pair = *state;
    mote_column columns[3];
    mote_cloud *cloud = NULL;
    mote_knn_index *index = NULL;
    mote_knn_params params = mote_knn_defaults();
    memset(columns, 0, sizeof columns);
    float *const device = mote_device_alloc(pair->cuda, sizeof positions);
    assert_non_null(device);
    for (int k = 0; k < 3; k++) {
        columns[k].name = names[k];
        columns[k].type = MOTE_FLOAT32;
        columns[k].stride_bytes = 12;
        columns[k].data = device + k;
    }
    knn_must(pair->cuda, mote_cloud_wrap_device(pair->cuda, COUNT, columns, 3, &cloud), "wrap");
    for (uint64_t frame = 0; frame < 4; frame++) {
        double stored[3 * COUNT];
        knn_rows cpu, cuda;
        for (uint64_t i = 0; i < 3 * COUNT; i++) {
            positions[i] = (float)(mote_hash_pair(frame, i) >> 40) * (float)(1 + frame * frame * 50);
            if (frame == 2 && i % 50 == 0) positions[i] = NAN;
            stored[i] = positions[i];
        }
        knn_must(pair->cuda, mote_device_copy(pair->cuda, device, positions, sizeof positions), "copy");
        knn_must(pair->cuda, index == NULL ? mote_knn_build(pair->cuda, cloud, &index) : mote_knn_rebuild(index),
                 "build");
        knn_take_rows(&cpu, COUNT, K);
        knn_take_rows(&cuda, COUNT, K);
        knn_point_at(&cpu, cpu.array);
        knn_point_at(&cuda, cuda.array);
        knn_must(pair->cuda, mote_knn_search(index, NULL, &params, &cuda.result), "search");
        mote_cloud *host = knn_reference_cloud(pair->cpu, MOTE_FLOAT32, 1, 0, stored, COUNT);
        knn_must(pair->cpu, mote_knn(pair->cpu, host, NULL, &params, &cpu.result), "search");
        assert_int_equal(cuda.result.skipped, cpu.result.skipped);
        knn_same_rows(&cpu, &cuda, K, "frame");
        mote_cloud_destroy(host);
        knn_free_rows(&cpu);
        knn_free_rows(&cuda);
    }
    mote_knn_destroy(index);
    mote_cloud_destroy(cloud);
    mote_device_free(pair->cuda, device);
}

static void little_memory_fails_cleanly(void **state) {
    parity_pair *pair = *state;
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), 3000, 0);
    const mote_knn_params params = mote_knn_defaults();
    knn_fails_until_it_fits(cloud, &params);
    mote_cloud_destroy(cloud);
}

static void results_of_the_cpu_are_on_the_host(void **state) {
    parity_pair *pair = *state;
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), 20, 0);
    mote_knn_result result = {.on_device = true};
    assert_int_equal(mote_knn(pair->cpu, cloud, NULL, NULL, &result), MOTE_ERROR_UNSUPPORTED);
    mote_cloud_destroy(cloud);
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        PARITY_TEST(awkward_clouds_have_the_same_neighbours),
        PARITY_TEST(generated_clouds_have_the_same_neighbours),
        PARITY_TEST(hundreds_of_neighbours_are_the_same),
        PARITY_TEST(many_neighbours_are_the_same),
        PARITY_TEST(large_clouds_have_the_same_neighbours),
        PARITY_TEST(heaps_apart_have_the_same_neighbours),
        PARITY_TEST(ticks_of_a_map_are_told_apart),
        PARITY_TEST(radii_keep_the_same),
        PARITY_TEST(other_queries_are_answered_alike),
        PARITY_TEST(queries_from_afar_are_answered_alike),
        PARITY_TEST(any_magnitude_is_borne),
        PARITY_TEST(brute_force_is_the_same),
        PARITY_TEST(lists_are_the_same),
        PARITY_TEST(an_index_is_made_anew),
        PARITY_TEST(little_memory_fails_cleanly),
        PARITY_TEST(results_of_the_cpu_are_on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
