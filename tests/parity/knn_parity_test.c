/* Nearest neighbours: rows and lists of the GPU are those of the CPU, byte for byte. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda.h"
#include "core/core.h"
#include "math/hash.h"
#include "parity/parity_support.h"
#include "reference/knn_reference.h"

#define ARRAYS 5

/* The arrays of a result, with some bytes behind that nobody may write. */
typedef struct rows {
    mote_knn_result result;
    void *array[ARRAYS];
    uint64_t size_bytes[ARRAYS];
} rows;

#define GUARD_BYTES 8u

static void take_rows(rows *r, uint64_t count, uint32_t k) {
    const uint64_t sizes[ARRAYS] = {count * k * 4, count * k * 8, count * k * 4, count * k * 8, count * 4};
    memset(r, 0, sizeof *r);
    for (int i = 0; i < ARRAYS; i++) {
        r->size_bytes[i] = sizes[i];
        r->array[i] = malloc(sizes[i] + GUARD_BYTES);
        assert_non_null(r->array[i]);
        memset(r->array[i], 0x5A, sizes[i] + GUARD_BYTES);
    }
}

static void point_at(rows *r, void *const array[ARRAYS]) {
    r->result.index32 = array[0];
    r->result.index64 = array[1];
    r->result.distance2 = array[2];
    r->result.distance2_wide = array[3];
    r->result.count = array[4];
}

static void free_rows(rows *r) {
    for (int i = 0; i < ARRAYS; i++) free(r->array[i]);
}

static void same_rows(const rows *a, const rows *b, uint32_t k, const char *what) {
    static const char *const names[ARRAYS] = {"index32", "index64", "distance2", "distance2_wide", "count"};
    for (int i = 0; i < ARRAYS; i++) {
        const uint8_t *one = a->array[i], *other = b->array[i];
        for (uint64_t at = 0; at < a->size_bytes[i] + GUARD_BYTES; at++) {
            if (one[at] == other[at]) continue;
            const uint64_t width = i == 1 || i == 3 ? 8 : 4, cell = at / width, row = i == 4 ? cell : cell / k;
            fail_msg("%s: %s of row %llu, place %llu: index %d by distance %g, on the CPU %d by %g", what, names[i],
                     (unsigned long long)row, (unsigned long long)(i == 4 ? 0 : cell % k),
                     i == 4 ? 0 : ((const int32_t *)b->array[0])[cell], i == 4 ? 0 : ((double *)b->array[3])[cell],
                     i == 4 ? 0 : ((const int32_t *)a->array[0])[cell], i == 4 ? 0 : ((double *)a->array[3])[cell]);
        }
    }
}

/* ---- one search on both */

typedef struct trial {
    parity_pair *pair;
    const mote_cloud *cloud, *queries; /* of the host */
    mote_knn_params params;
    bool on_device; /* clouds and rows are the device's */
    const char *name;
} trial;

static void must(mote_context *ctx, mote_status status, const char *what) {
    if (status != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
}

/* Rows of the device, fetched for comparing. */
static void search_there(const trial *t, const mote_cloud *cloud, const mote_cloud *queries, rows *r,
                         const char *what) {
    mote_context *ctx = t->pair->cuda;
    void *device[ARRAYS];
    mote_knn_index *index = NULL;
    for (int i = 0; i < ARRAYS; i++) {
        device[i] = mote_device_alloc(ctx, r->size_bytes[i] + GUARD_BYTES);
        assert_non_null(device[i]);
        must(ctx, mote_device_copy(ctx, device[i], r->array[i], r->size_bytes[i] + GUARD_BYTES), what);
    }
    point_at(r, device);
    r->result.on_device = true;
    must(ctx, mote_knn_build(ctx, cloud, &index), what);
    must(ctx, mote_knn_search(index, queries, &t->params, &r->result), what);
    mote_knn_destroy(index);
    for (int i = 0; i < ARRAYS; i++) {
        must(ctx, mote_device_copy(ctx, r->array[i], device[i], r->size_bytes[i] + GUARD_BYTES), what);
        mote_device_free(ctx, device[i]);
    }
}

static void search_on_device(const trial *t, rows *r, const char *what) {
    mote_context *ctx = t->pair->cuda;
    mote_cloud *cloud = NULL, *queries = NULL;
    must(ctx, mote_cloud_to_device(ctx, t->cloud, &cloud), what);
    if (t->queries != NULL) must(ctx, mote_cloud_to_device(ctx, t->queries, &queries), what);
    search_there(t, cloud, queries, r, what);
    mote_cloud_destroy(queries);
    mote_cloud_destroy(cloud);
}

static void compare(const trial *t) {
    const uint64_t count = mote_cloud_count(t->queries != NULL ? t->queries : t->cloud);
    char what[256];
    rows cpu, cuda;
    snprintf(what, sizeof what, "%s, %llu points, k %u, radius %g%s%s%s", t->name,
             (unsigned long long)mote_cloud_count(t->cloud), t->params.k, t->params.radius,
             t->params.exclude_self ? ", not itself" : "", t->queries != NULL ? ", other queries" : "",
             t->on_device ? ", on the device" : "");
    take_rows(&cpu, count, t->params.k);
    take_rows(&cuda, count, t->params.k);
    point_at(&cpu, cpu.array);
    point_at(&cuda, cuda.array);
    const mote_status status = mote_knn(t->pair->cpu, t->cloud, t->queries, &t->params, &cpu.result);
    if (status != MOTE_OK) {
        assert_int_equal(mote_knn(t->pair->cuda, t->cloud, t->queries, &t->params, &cuda.result), status);
        assert_string_equal(mote_context_message(t->pair->cuda), mote_context_message(t->pair->cpu));
        mote_context_clear(t->pair->cuda);
        mote_context_clear(t->pair->cpu);
    } else if (t->on_device) {
        search_on_device(t, &cuda, what);
        same_rows(&cpu, &cuda, t->params.k, what);
    } else {
        must(t->pair->cuda, mote_knn(t->pair->cuda, t->cloud, t->queries, &t->params, &cuda.result), what);
        assert_int_equal(cuda.result.skipped, cpu.result.skipped);
        same_rows(&cpu, &cuda, t->params.k, what);
    }
    free_rows(&cpu);
    free_rows(&cuda);
}

static trial trial_of(void **state, const mote_cloud *cloud, uint32_t k, const char *name) {
    trial t = {*state, cloud, NULL, mote_knn_defaults(), false, name};
    t.params.k = k;
    return t;
}

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
                trial t = trial_of(state, cloud, some_k[i], awkward_clouds[c].name);
                t.params.exclude_self = (turn + i) % 2 == 0;
                t.on_device = (turn + i) % 3 == 0;
                compare(&t);
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
        must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        static const uint32_t ks[] = {10, 1, 16, 64};
        for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            trial t = trial_of(state, cloud, ks[i], kinds[c]);
            t.params.exclude_self = i == 1;
            t.on_device = i % 2 == 0;
            compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

static void hundreds_of_neighbours_are_the_same(void **state) {
    static const char *const names[] = {"uniform float", "heap of duplicates", "ticks",
                                        "far clusters",  "shells of integers", "some not finite"};
    static const uint32_t ks[] = {65, 128, 129, 256, 257, 512, 1000, 1024};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named(names[c]), 60 * c + 900 / (c + 1), 0);
        for (uint32_t i = c % 4; i < sizeof ks / sizeof ks[0]; i += 4) {
            trial t = trial_of(state, cloud, ks[i], names[c]);
            t.params.exclude_self = i % 2 == 0;
            compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

static double size_of(const awkward_cloud *kind) {
    return kind->size[0] * (kind->scale[0] != 0 ? fabs(kind->scale[0]) : 1);
}

static void radii_keep_the_same(void **state) {
    static const double parts[] = {1e-9, 0.03, 0.125, 0.4, 3};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 300, 0);
        for (uint32_t i = c % 2; i < sizeof parts / sizeof parts[0]; i += 2) {
            trial t = trial_of(state, cloud, i == 0 ? 40 : 9, awkward_clouds[c].name);
            t.params.radius = parts[i] * size_of(&awkward_clouds[c]);
            t.params.exclude_self = i % 3 == 0;
            t.on_device = i == 3;
            compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* Points of every cloud are asked for in others: other types, other scales, far away or not finite. */
static void other_queries_are_answered_alike(void **state) {
    const uint32_t step = (uint32_t)parity_extent(13, 4, 1);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 260 + 37 * c, 0);
        for (uint32_t o = c % step; o < awkward_cloud_count; o += step) {
            mote_cloud *queries = awkward_cloud_make(pair->cpu, &awkward_clouds[o], (c + 5 * o) % 83, 3);
            trial t = trial_of(state, cloud, 1 + (c + 7 * o) % 20, awkward_clouds[c].name);
            t.queries = queries;
            t.on_device = (c + o) % 3 == 0;
            compare(&t);
            mote_cloud_destroy(queries);
        }
        mote_cloud *alike = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 100, 5);
        trial t = trial_of(state, cloud, 12, awkward_clouds[c].name);
        t.queries = alike;
        compare(&t);
        mote_cloud_destroy(alike);
        mote_cloud_destroy(cloud);
    }
}

/* Queries of the cloud's own type, so far from it that steps no longer fit 31 bits or floats their squares. */
static void queries_from_afar_are_answered_alike(void **state) {
    static const struct {
        mote_type type;
        double near, far;
    } cases[] = {{MOTE_INT32, 1e9, -2e9},  {MOTE_INT64, 1e6, 9e15},  {MOTE_FLOAT32, 1, 3e37},
                 {MOTE_FLOAT32, 1, -1e10}, {MOTE_FLOAT64, 1, 1e300}, {MOTE_UINT64, 1e8, 1.2e19}};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double points[300], far[90];
        for (uint64_t i = 0; i < 300; i++) points[i] = cases[c].near * (double)(mote_hash64(i) >> 11) * 0x1p-53;
        for (uint64_t i = 0; i < 90; i++) far[i] = i % 7 == 0 ? cases[c].far * (1 - (double)i * 1e-3) : points[i];
        mote_cloud *cloud = knn_reference_cloud(pair->cpu, cases[c].type, 0.5, 7, points, 100);
        mote_cloud *queries = knn_reference_cloud(pair->cpu, cases[c].type, 0.5, 7, far, 30);
        mote_cloud *others = knn_reference_cloud(pair->cpu, cases[c].type, 0.25, 7, far, 30);
        for (uint32_t k = 1; k <= 101; k += 20) {
            trial t = trial_of(state, cloud, k, "far");
            t.queries = queries;
            compare(&t);
            t.queries = others;
            compare(&t);
            t = trial_of(state, queries, k, "far apart");
            compare(&t);
        }
        mote_cloud_destroy(others);
        mote_cloud_destroy(queries);
        mote_cloud_destroy(cloud);
    }
}

static void any_magnitude_is_borne(void **state) {
    static const double sizes[] = {1e-38, 1e-30, 1e-12, 1e15, 1e25, 2e38, 1e-290, 1e150, 4e307};
    parity_pair *pair = *state;
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double points[360];
        for (uint64_t j = 0; j < 360; j++) points[j] = sizes[i] * (double)(mote_hash_pair(i, j) >> 11) * 0x1p-53;
        for (int narrow = 0; narrow < 2; narrow++) {
            if (narrow != 0 && (sizes[i] > 3e38 || sizes[i] < 1e-40)) continue;
            mote_cloud *cloud =
                knn_reference_cloud(pair->cpu, narrow != 0 ? MOTE_FLOAT32 : MOTE_FLOAT64, 1, 0, points, 120);
            trial t = trial_of(state, cloud, 7, "of any size");
            compare(&t);
            mote_cloud_destroy(cloud);
        }
    }
}

static void brute_force_is_the_same(void **state) {
    static const char *const names[] = {"uniform float", "ticks of a centimetre", "far clusters", "some not finite"};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named(names[c]), 200, 0);
        trial t = trial_of(state, cloud, c % 2 == 0 ? 5 : 70, names[c]);
        t.params.method = MOTE_KNN_BRUTE;
        t.params.exclude_self = c == 1;
        compare(&t);
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
        const double radius = parts[c % 4] * size_of(&awkward_clouds[c]);
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
    must(pair->cuda, mote_cloud_wrap_device(pair->cuda, COUNT, columns, 3, &cloud), "wrap");
    for (uint64_t frame = 0; frame < 4; frame++) {
        double stored[3 * COUNT];
        rows cpu, cuda;
        for (uint64_t i = 0; i < 3 * COUNT; i++) {
            positions[i] = (float)(mote_hash_pair(frame, i) >> 40) * (float)(1 + frame * frame * 50);
            if (frame == 2 && i % 50 == 0) positions[i] = NAN;
            stored[i] = positions[i];
        }
        must(pair->cuda, mote_device_copy(pair->cuda, device, positions, sizeof positions), "copy");
        must(pair->cuda, index == NULL ? mote_knn_build(pair->cuda, cloud, &index) : mote_knn_rebuild(index), "build");
        take_rows(&cpu, COUNT, K);
        take_rows(&cuda, COUNT, K);
        point_at(&cpu, cpu.array);
        point_at(&cuda, cuda.array);
        must(pair->cuda, mote_knn_search(index, NULL, &params, &cuda.result), "search");
        mote_cloud *host = knn_reference_cloud(pair->cpu, MOTE_FLOAT32, 1, 0, stored, COUNT);
        must(pair->cpu, mote_knn(pair->cpu, host, NULL, &params, &cpu.result), "search");
        assert_int_equal(cuda.result.skipped, cpu.result.skipped);
        same_rows(&cpu, &cuda, K, "frame");
        mote_cloud_destroy(host);
        free_rows(&cpu);
        free_rows(&cuda);
    }
    mote_knn_destroy(index);
    mote_cloud_destroy(cloud);
    mote_device_free(pair->cuda, device);
}

static void little_memory_fails_cleanly(void **state) {
    parity_pair *pair = *state;
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), 3000, 0);
    static uint32_t index[30000];
    bool fitted = false, failed = false;
    for (uint64_t limit = 1 << 16; limit <= 16 << 20 && !fitted; limit += limit / 2) {
        mote_context *ctx = parity_context(limit);
        mote_knn_result result = {.index32 = index};
        const mote_status status = ctx != NULL ? mote_knn(ctx, cloud, NULL, NULL, &result) : MOTE_ERROR_MEMORY;
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        fitted = status == MOTE_OK;
        failed = failed || (ctx != NULL && !fitted);
        if (ctx != NULL) assert_int_equal(mote_context_device_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
    assert_true(fitted && failed);
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
