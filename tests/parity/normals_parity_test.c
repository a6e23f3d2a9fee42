/* Normals, density and outliers of the GPU are those of the CPU, byte for byte. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mote/normals.h"
#include "parity/parity_support.h"

#define ARRAYS      6
#define GUARD_BYTES 8u /* behind each array, which nobody may write */

/* The arrays of a result; which of them are wanted is a trial's. */
typedef struct answer {
    mote_normals_result result;
    void *array[ARRAYS];
    uint64_t count;
} answer;

static void take_answer(answer *a, uint64_t count) {
    memset(a, 0, sizeof *a);
    a->count = count;
    for (int i = 0; i < ARRAYS; i++) {
        a->array[i] = malloc(count * sizeof(float) + GUARD_BYTES);
        assert_non_null(a->array[i]);
        memset(a->array[i], 0x5A, count * sizeof(float) + GUARD_BYTES);
    }
}

static void free_answer(answer *a) {
    for (int i = 0; i < ARRAYS; i++) free(a->array[i]);
}

static void point_at(mote_normals_result *result, void *const array[ARRAYS], unsigned wanted) {
    float **const all[ARRAYS] = {&result->normal_x,  &result->normal_y,        &result->normal_z,
                                 &result->curvature, &result->surface_density, &result->volume_density};
    for (int i = 0; i < ARRAYS; i++) *all[i] = (wanted >> i & 1) != 0 ? array[i] : NULL;
}

static void same_answers(const answer *a, const answer *b, const char *what) {
    static const char *const names[ARRAYS] = {"normal_x",  "normal_y",        "normal_z",
                                              "curvature", "surface_density", "volume_density"};
    for (int i = 0; i < ARRAYS; i++) {
        const uint8_t *one = a->array[i], *other = b->array[i];
        for (uint64_t at = 0; at < a->count * sizeof(float) + GUARD_BYTES; at++) {
            if (one[at] == other[at]) continue;
            if (at >= a->count * sizeof(float)) fail_msg("%s: %s: written behind its end", what, names[i]);
            fail_msg("%s: %s of point %llu of %llu is %.9g, on the CPU %.9g", what, names[i],
                     (unsigned long long)at / 4, (unsigned long long)a->count,
                     (double)((const float *)b->array[i])[at / 4], (double)((const float *)a->array[i])[at / 4]);
        }
    }
}

/* ---- one estimate on both */

#define NORMALS   7u
#define CURVATURE 8u
#define DENSITY   48u
#define ALL       (NORMALS | CURVATURE | DENSITY)

typedef struct trial {
    parity_pair *pair;
    const mote_cloud *cloud;
    mote_normals_params params;
    unsigned wanted; /* arrays, by bit */
    bool on_device;  /* cloud and arrays are the device's */
    const char *name;
} trial;

/* Clouds are tried one by one, or some of them. */
static uint32_t cloud_step(void) { return (uint32_t)parity_extent(5, 1, 1); }

static trial trial_of(void **state, const mote_cloud *cloud, uint32_t k, const char *name) {
    trial t = {*state, cloud, mote_normals_defaults(), ALL, false, name};
    t.params.k = k;
    return t;
}

static void must(mote_context *ctx, mote_status status, const char *what) {
    if (status != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
}

static void estimate_on_device(const trial *t, answer *a, const char *what) {
    mote_context *ctx = t->pair->cuda;
    const uint64_t size_bytes = a->count * sizeof(float) + GUARD_BYTES;
    void *device[ARRAYS];
    mote_cloud *cloud = NULL;
    must(ctx, mote_cloud_to_device(ctx, t->cloud, &cloud), what);
    for (int i = 0; i < ARRAYS; i++) {
        device[i] = mote_device_alloc(ctx, size_bytes);
        assert_non_null(device[i]);
        must(ctx, mote_device_copy(ctx, device[i], a->array[i], size_bytes), what);
    }
    point_at(&a->result, device, t->wanted);
    a->result.on_device = true;
    must(ctx, mote_normals(ctx, cloud, &t->params, &a->result), what);
    for (int i = 0; i < ARRAYS; i++) {
        must(ctx, mote_device_copy(ctx, a->array[i], device[i], size_bytes), what);
        mote_device_free(ctx, device[i]);
    }
    mote_cloud_destroy(cloud);
}

static void compare_refusals(const trial *t, mote_status status, answer *cuda) {
    point_at(&cuda->result, cuda->array, t->wanted);
    assert_int_equal(mote_normals(t->pair->cuda, t->cloud, &t->params, &cuda->result), status);
    assert_string_equal(mote_context_message(t->pair->cuda), mote_context_message(t->pair->cpu));
    mote_context_clear(t->pair->cuda);
    mote_context_clear(t->pair->cpu);
}

static void compare(const trial *t) {
    char what[256];
    answer cpu, cuda;
    if (!parity_is_mine()) return;
    snprintf(what, sizeof what, "%s, %llu points, k %u, radius %g, orient %d%s", t->name,
             (unsigned long long)mote_cloud_count(t->cloud), t->params.k, t->params.radius, (int)t->params.orient,
             t->on_device ? ", on the device" : "");
    take_answer(&cpu, mote_cloud_count(t->cloud));
    take_answer(&cuda, mote_cloud_count(t->cloud));
    point_at(&cpu.result, cpu.array, t->wanted);
    const mote_status status = mote_normals(t->pair->cpu, t->cloud, &t->params, &cpu.result);
    if (status != MOTE_OK) {
        compare_refusals(t, status, &cuda);
    } else if (t->on_device) {
        estimate_on_device(t, &cuda, what);
        same_answers(&cpu, &cuda, what);
    } else {
        point_at(&cuda.result, cuda.array, t->wanted);
        must(t->pair->cuda, mote_normals(t->pair->cuda, t->cloud, &t->params, &cuda.result), what);
        same_answers(&cpu, &cuda, what);
        assert_int_equal(cuda.result.skipped, cpu.result.skipped);
        assert_int_equal(cuda.result.without, cpu.result.without);
        assert_int_equal(cuda.result.parts, cpu.result.parts);
    }
    free_answer(&cpu);
    free_answer(&cuda);
}

/* ---- normals */

static const uint32_t some_k[] = {3, 4, 8, 10, 11, 16, 17, 32, 100};
#define SOME_K (sizeof some_k / sizeof some_k[0])

/* Some of the sizes and numbers of neighbours for each cloud, others for the next. */
static void awkward_clouds_have_the_same_normals(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 300, 1025};
    static const unsigned wanted[] = {ALL, NORMALS, CURVATURE, DENSITY, NORMALS | DENSITY};
    const uint32_t step = (uint32_t)parity_extent(11, 3, 1);
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = (turn + c) % step; s < sizeof sizes / sizeof sizes[0]; s += step) {
            parity_pair *pair = *state;
            mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], sizes[s], 0);
            assert_non_null(cloud);
            for (uint32_t i = turn % 4; i < SOME_K; i += 4) {
                trial t = trial_of(state, cloud, some_k[i], awkward_clouds[c].name);
                t.wanted = wanted[(turn + i) % 5];
                t.on_device = (turn + i) % 3 == 0;
                if ((turn + i) % 2 == 0) t.params.orient = MOTE_ORIENT_NONE;
                compare(&t);
            }
            turn++;
            mote_cloud_destroy(cloud);
        }
    }
}

static void generated_clouds_have_the_same_normals(void **state) {
    static const char *const kinds[] = {"uniform", "clusters", "torus", "city", "room", "lattice"};
    static const uint32_t ks[] = {16, 3, 8, 40};
    const uint64_t count = parity_extent(600, 3000, 200000);
    parity_pair *pair = *state;
    for (size_t c = 0; c < sizeof kinds / sizeof kinds[0]; c++) {
        mote_cloud *cloud = NULL;
        must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            trial t = trial_of(state, cloud, ks[i], kinds[c]);
            t.on_device = i == 0;
            compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* With k the nearest of those within a radius; without, all: none but itself, few, many, every point. */
static void radii_bound_the_same(void **state) {
    static const double parts[] = {1e-9, 0.03, 0.125, 0.4, 3};
    static const uint32_t ks[] = {0, 9, 0, 40, 0};
    const uint32_t step = cloud_step();
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c += step) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 150 + 10 * (c % 7), 0);
        for (uint32_t i = c % 2; i < sizeof parts / sizeof parts[0]; i += 2) {
            trial t = trial_of(state, cloud, ks[(i + c / 2) % 5], awkward_clouds[c].name);
            t.params.radius = parts[i] * awkward_cloud_size(&awkward_clouds[c]);
            t.on_device = i == 3;
            compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* More neighbours than rows take, with room for all lists at once and without. */
static void thousands_within_a_radius_are_the_same(void **state) {
    static const char *const names[] = {"uniform float", "heap of duplicates", "far clusters"};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < parity_extent(1, 3, 3); c++) {
        const awkward_cloud *kind = awkward_cloud_named(names[c]);
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, kind, 1100, 0);
        mote_context *small = parity_context(24u << 20);
        parity_pair pairs[2] = {*pair, {pair->cpu, small}};
        for (int i = 0; i < 2; i++) {
            trial t = trial_of(state, cloud, 0, names[c]);
            t.pair = &pairs[i];
            t.params.radius = 3 * awkward_cloud_size(kind);
            compare(&t);
        }
        mote_context_destroy(small);
        mote_cloud_destroy(cloud);
    }
}

/* Clouds at the small end of the range of coordinates, and beyond, where both are refused; of few neighbours and many.
 */
static void tiny_clouds_have_the_same_normals(void **state) {
    enum { COUNT = 300 };
    static const int exponents[] = {-300, -479, -482, -1040};
    static const char *const names[3] = {"x", "y", "z"};
    parity_pair *pair = *state;
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
        double stored[3][COUNT];
        mote_column columns[3];
        mote_cloud *cloud = NULL;
        memset(columns, 0, sizeof columns);
        for (uint64_t k = 0; k < 3; k++) {
            for (uint64_t at = 0; at < COUNT; at++) stored[k][at] = ldexp(test_random(k, at), exponents[i]);
            columns[k].name = names[k];
            columns[k].type = MOTE_FLOAT64;
            columns[k].data = stored[k];
        }
        must(pair->cpu, mote_cloud_wrap(pair->cpu, COUNT, columns, 3, &cloud), "tiny");
        for (uint32_t k = 9; k <= 27; k += 9) {
            const trial t = trial_of(state, cloud, k, "tiny");
            compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* ---- directions */

static void directions_are_the_same(void **state) {
    static const double places[][3] = {{0, 0, 1.7}, {-1e6, 3, 0.5}, {1e18, -1e18, 0}, {0, 0, 0}};
    const uint32_t step = cloud_step();
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c += step) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 90 + c, 0);
        trial t = trial_of(state, cloud, c % 3 == 0 ? 20 : 7 + c % 9, awkward_clouds[c].name);
        t.params.orient = MOTE_ORIENT_VIEWPOINT;
        memcpy(t.params.viewpoint, places[c % 4], sizeof t.params.viewpoint);
        t.on_device = c % 2 == 0;
        compare(&t);
        mote_cloud_destroy(cloud);
    }
}

/* The graph comes with the normals, or, where it needs more neighbours than they do, or a radius bounds those, not. */
static void propagation_is_the_same(void **state) {
    static const uint32_t cases[][2] = {{16, 8}, {9, 8}, {8, 8}, {5, 12}, {40, 20}, {17, 1}};
    const uint32_t step = cloud_step();
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c += step) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 200 + c, 0);
        trial t = trial_of(state, cloud, cases[c % 6][0], awkward_clouds[c].name);
        t.params.orient = MOTE_ORIENT_PROPAGATE;
        t.params.graph_k = cases[c % 6][1];
        if (c % 5 == 4) t.params.radius = 0.2 * awkward_cloud_size(&awkward_clouds[c]);
        compare(&t);
        mote_cloud_destroy(cloud);
    }
}

/* ---- density alone */

static void densities_are_the_same(void **state) {
    static const uint32_t ks[] = {1, 2, 15, 16, 30};
    const uint32_t step = cloud_step();
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c += step) {
        const uint32_t k = ks[c % 5];
        answer cpu, cuda;
        if (!parity_is_mine()) continue;
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 77 + c, 0);
        take_answer(&cpu, mote_cloud_count(cloud));
        take_answer(&cuda, mote_cloud_count(cloud));
        const mote_status status = mote_density(pair->cpu, cloud, k, cpu.array[4], cpu.array[5]);
        assert_int_equal(mote_density(pair->cuda, cloud, k, cuda.array[4], cuda.array[5]), status);
        same_answers(&cpu, &cuda, awkward_clouds[c].name);
        free_answer(&cpu);
        free_answer(&cuda);
        mote_cloud_destroy(cloud);
    }
}

/* ---- outliers */

/* Flags and distances, with some bytes behind that nobody may write. */
typedef struct judgement {
    mote_outliers_result result;
    uint8_t flags[1100];
    float distances[1100];
} judgement;

static mote_status judge(mote_context *ctx, const mote_cloud *cloud, const mote_outliers_params *params,
                         judgement *out) {
    memset(out, 0x5A, sizeof *out);
    memset(&out->result, 0, sizeof out->result);
    out->result.outlier = out->flags;
    out->result.distance = params->method == MOTE_OUTLIERS_STATISTICAL ? out->distances : NULL;
    return mote_outliers(ctx, cloud, params, &out->result);
}

static void compare_outliers(parity_pair *pair, const mote_cloud *cloud, const mote_outliers_params *params,
                             const char *what) {
    static judgement cpu, cuda;
    if (!parity_is_mine()) return;
    const mote_status status = judge(pair->cpu, cloud, params, &cpu);
    assert_int_equal(judge(pair->cuda, cloud, params, &cuda), status);
    cpu.result.outlier = cuda.result.outlier = NULL;
    cpu.result.distance = cuda.result.distance = NULL;
    if (memcmp(cpu.flags, cuda.flags, sizeof cpu.flags) != 0) fail_msg("%s: flags differ", what);
    if (memcmp(cpu.distances, cuda.distances, sizeof cpu.distances) != 0) fail_msg("%s: distances differ", what);
    assert_memory_equal(&cpu.result, &cuda.result, sizeof cpu.result);
    if (status == MOTE_OK) return;
    assert_string_equal(mote_context_message(pair->cuda), mote_context_message(pair->cpu));
    mote_context_clear(pair->cuda);
    mote_context_clear(pair->cpu);
}

static void outliers_are_the_same(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 31, 33, 128, 500, 1000};
    static const uint32_t ks[] = {1, 8, 16, 17, 70};
    const uint32_t step = cloud_step();
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c += step) {
        for (uint32_t s = c % 3; s < sizeof sizes / sizeof sizes[0]; s += 3) {
            mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], sizes[s], 0);
            mote_outliers_params params = mote_outliers_defaults();
            params.k = ks[(c + s) % 5];
            params.sigmas = s % 2;
            compare_outliers(pair, cloud, &params, awkward_clouds[c].name);
            params.method = MOTE_OUTLIERS_RADIUS;
            params.min_neighbors = ks[(c + s + 1) % 5];
            params.radius = (s % 2 == 0 ? 0.05 : 0.3) * awkward_cloud_size(&awkward_clouds[c]);
            compare_outliers(pair, cloud, &params, awkward_clouds[c].name);
            mote_cloud_destroy(cloud);
        }
    }
}

/* ---- what is refused, and little memory */

static void little_memory_fails_cleanly(void **state) {
    parity_pair *pair = *state;
    if (!parity_is_mine()) return;
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), 2000, 0);
    mote_normals_params params = mote_normals_defaults();
    answer expected;
    const uint64_t divisor = parity_extent(1, 8, 8);
    bool fitted = false, failed = false;
    params.k = 60; /* rows in one part, or in several */
    take_answer(&expected, 2000);
    point_at(&expected.result, expected.array, ALL);
    must(pair->cpu, mote_normals(pair->cpu, cloud, &params, &expected.result), "normals");
    for (uint64_t limit = 1 << 16; limit <= 16 << 20 && !fitted; limit += limit / divisor) {
        mote_context *ctx = parity_context(limit);
        answer a;
        take_answer(&a, 2000);
        point_at(&a.result, a.array, ALL);
        const mote_status status = ctx != NULL ? mote_normals(ctx, cloud, &params, &a.result) : MOTE_ERROR_MEMORY;
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        fitted = status == MOTE_OK;
        failed = failed || (ctx != NULL && !fitted);
        if (fitted) same_answers(&expected, &a, "with little memory");
        if (ctx != NULL) assert_int_equal(mote_context_device_bytes(ctx), 0);
        mote_context_destroy(ctx);
        free_answer(&a);
    }
    assert_true(fitted && failed);
    free_answer(&expected);
    mote_cloud_destroy(cloud);
}

static void results_are_where_they_can_be(void **state) {
    parity_pair *pair = *state;
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), 20, 0), *there = NULL;
    mote_normals_params params = mote_normals_defaults();
    float arrays[3][20];
    mote_normals_result result = {.normal_x = arrays[0], .normal_y = arrays[1], .normal_z = arrays[2]};
    params.orient = MOTE_ORIENT_PROPAGATE;
    must(pair->cuda, mote_cloud_to_device(pair->cuda, cloud, &there), "upload");
    assert_int_equal(mote_normals(pair->cuda, there, &params, &result), MOTE_ERROR_UNSUPPORTED);
    result.on_device = true;
    assert_int_equal(mote_normals(pair->cuda, cloud, &params, &result), MOTE_ERROR_UNSUPPORTED);
    assert_int_equal(mote_normals(pair->cpu, cloud, NULL, &result), MOTE_ERROR_UNSUPPORTED);
    mote_cloud_destroy(there);
    mote_cloud_destroy(cloud);
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        PARITY_TEST(awkward_clouds_have_the_same_normals),
        PARITY_TEST(generated_clouds_have_the_same_normals),
        PARITY_TEST(radii_bound_the_same),
        PARITY_TEST(thousands_within_a_radius_are_the_same),
        PARITY_TEST(tiny_clouds_have_the_same_normals),
        PARITY_TEST(directions_are_the_same),
        PARITY_TEST(propagation_is_the_same),
        PARITY_TEST(densities_are_the_same),
        PARITY_TEST(outliers_are_the_same),
        PARITY_TEST(little_memory_fails_cleanly),
        PARITY_TEST(results_are_where_they_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
