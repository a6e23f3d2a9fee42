/* Neighbours by shifted sorting: rows of the GPU are those of the CPU, byte for byte. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda.h"
#include "core/core.h"
#include "math/hash.h"
#include "parity/parity_support.h"
#include "reference/knn_reference.h"

#define ARRAYS      5
#define GUARD_BYTES 8u

/* The arrays of a result, with some bytes behind that nobody may write. */
typedef struct rows {
    mote_knn_result result;
    void *array[ARRAYS];
    uint64_t size_bytes[ARRAYS];
} rows;

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

static void same_rows(const rows *cpu, const rows *cuda, uint32_t k, const char *what) {
    static const char *const names[ARRAYS] = {"index32", "index64", "distance2", "distance2_wide", "count"};
    for (int i = 0; i < ARRAYS; i++) {
        const uint8_t *one = cpu->array[i], *other = cuda->array[i];
        for (uint64_t at = 0; at < cpu->size_bytes[i] + GUARD_BYTES; at++) {
            if (one[at] == other[at]) continue;
            const uint64_t width = i == 1 || i == 3 ? 8 : 4, cell = at / width, row = i == 4 ? cell : cell / k;
            const uint64_t shown = i == 4 ? 0 : cell;
            fail_msg("%s: %s of row %llu, place %llu: index %d by distance %.17g, on the CPU %d by %.17g", what,
                     names[i], (unsigned long long)row, (unsigned long long)(i == 4 ? 0 : cell % k),
                     ((const int32_t *)cuda->array[0])[shown], ((const double *)cuda->array[3])[shown],
                     ((const int32_t *)cpu->array[0])[shown], ((const double *)cpu->array[3])[shown]);
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

/* Two searches by one index: the second finds the memory of the first. */
static void search_twice(const trial *t, const mote_cloud *cloud, const mote_cloud *queries, mote_knn_result *result,
                         const char *what) {
    mote_context *ctx = t->pair->cuda;
    mote_knn_index *index = NULL;
    must(ctx, mote_knn_build(ctx, cloud, &index), what);
    for (int i = 0; i < 2; i++) must(ctx, mote_knn_search(index, queries, &t->params, result), what);
    mote_knn_destroy(index);
}

static void search_on_device(const trial *t, rows *r, const char *what) {
    mote_context *ctx = t->pair->cuda;
    mote_cloud *cloud = NULL, *queries = NULL;
    void *device[ARRAYS];
    must(ctx, mote_cloud_to_device(ctx, t->cloud, &cloud), what);
    if (t->queries != NULL) must(ctx, mote_cloud_to_device(ctx, t->queries, &queries), what);
    for (int i = 0; i < ARRAYS; i++) {
        device[i] = mote_device_alloc(ctx, r->size_bytes[i] + GUARD_BYTES);
        assert_non_null(device[i]);
        must(ctx, mote_device_copy(ctx, device[i], r->array[i], r->size_bytes[i] + GUARD_BYTES), what);
    }
    point_at(r, device);
    r->result.on_device = true;
    search_twice(t, cloud, queries, &r->result, what);
    for (int i = 0; i < ARRAYS; i++) {
        must(ctx, mote_device_copy(ctx, r->array[i], device[i], r->size_bytes[i] + GUARD_BYTES), what);
        mote_device_free(ctx, device[i]);
    }
    mote_cloud_destroy(queries);
    mote_cloud_destroy(cloud);
}

static void compare(const trial *t) {
    const uint64_t count = mote_cloud_count(t->queries != NULL ? t->queries : t->cloud);
    const mote_knn_params *p = &t->params;
    char what[256];
    rows cpu, cuda;
    snprintf(what, sizeof what, "%s, %llu points, k %u, lambda %u, c %g%s, radius %g%s%s%s", t->name,
             (unsigned long long)mote_cloud_count(t->cloud), p->k, p->lambda, p->compression,
             p->buckets ? ", buckets" : "", p->radius, p->exclude_self ? ", not itself" : "",
             t->queries != NULL ? ", other queries" : "", t->on_device ? ", on the device" : "");
    take_rows(&cpu, count, p->k);
    take_rows(&cuda, count, p->k);
    point_at(&cpu, cpu.array);
    point_at(&cuda, cuda.array);
    const mote_status status = mote_knn(t->pair->cpu, t->cloud, t->queries, p, &cpu.result);
    if (status != MOTE_OK) {
        assert_int_equal(mote_knn(t->pair->cuda, t->cloud, t->queries, p, &cuda.result), status);
        assert_string_equal(mote_context_message(t->pair->cuda), mote_context_message(t->pair->cpu));
        mote_context_clear(t->pair->cuda);
        mote_context_clear(t->pair->cpu);
    } else if (t->on_device) {
        search_on_device(t, &cuda, what);
        same_rows(&cpu, &cuda, p->k, what);
    } else {
        must(t->pair->cuda, mote_knn(t->pair->cuda, t->cloud, t->queries, p, &cuda.result), what);
        assert_int_equal(cuda.result.skipped, cpu.result.skipped);
        same_rows(&cpu, &cuda, p->k, what);
    }
    free_rows(&cpu);
    free_rows(&cuda);
}

static trial trial_of(void **state, const mote_cloud *cloud, uint32_t k, const char *name) {
    trial t = {*state, cloud, NULL, mote_knn_defaults(), false, name};
    t.params.method = MOTE_KNN_SHIFTED;
    t.params.k = k;
    return t;
}

/* ---- clouds with normals */

typedef enum normals_kind { NORMALS_ALIKE, NORMALS_ANY, NORMALS_AWKWARD, NORMALS_KINDS } normals_kind;

/* One direction with a little noise; any direction, not of unit length; axes, zeros, infinities and NaN among them. */
static double normal_at(normals_kind kind, uint64_t i, uint64_t k) {
    const double any = (double)(mote_hash_pair(77 + k, i) >> 11) * 0x1p-52 - 1;
    const uint64_t way = mote_hash_pair(99, i) % 12;
    if (kind == NORMALS_ALIKE) return (k == 2 ? 1 : 0.3) + any * 0.05;
    if (kind == NORMALS_ANY) return any * (double)(1 + i % 7);
    if (way < 3) return way == k ? -2 : 0;
    if (way == 3) return 0;
    if (way == 4) return k == 1 ? NAN : 1;
    if (way == 5) return k == 0 ? (double)INFINITY : any;
    if (way == 6) return any * 1e-30;
    return any;
}

static void add_normals(mote_cloud *cloud, normals_kind kind, mote_type type) {
    static const char *const names[2][3] = {{"normal_x", "normal_y", "normal_z"}, {"nx", "ny", "nz"}};
    for (uint64_t k = 0; k < 3; k++) {
        const char *name = names[kind == NORMALS_ANY][k];
        const mote_column_spec spec = {name, type, type == MOTE_INT8 ? 1 / 127.0 : 0, 0};
        assert_int_equal(mote_cloud_add_column(cloud, &spec), MOTE_OK);
        uint8_t *const data = mote_cloud_column_data(cloud, name);
        const uint64_t stride = mote_cloud_find(cloud, name)->stride_bytes;
        for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
            const double value = normal_at(kind, i, k);
            const float narrow = (float)value;
            const int8_t byte = isfinite(value) ? (int8_t)(127 * fmax(fmin(value, 1), -1)) : 0;
            uint8_t *const to = data + i * stride;
            if (type == MOTE_FLOAT64) memcpy(to, &value, sizeof value);
            if (type == MOTE_FLOAT32) memcpy(to, &narrow, sizeof narrow);
            if (type == MOTE_INT8) memcpy(to, &byte, sizeof byte);
        }
    }
}

static mote_cloud *awkward_with_normals(parity_pair *pair, uint32_t kind, uint64_t count, uint64_t shuffle,
                                        normals_kind normals) {
    static const mote_type types[] = {MOTE_FLOAT32, MOTE_FLOAT64, MOTE_INT8};
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[kind], count, shuffle);
    assert_non_null(cloud);
    add_normals(cloud, normals, types[(kind + normals) % 3]);
    return cloud;
}

/* ---- rows */

static const uint32_t some_k[] = {1, 10, 31, 32, 33, 64, 2, 16, 17, 48, 65, 63};
#define SOME_K (sizeof some_k / sizeof some_k[0])

/* Different each turn: squeezed, in buckets, farther candidates, not itself, within a radius. */
static void vary(trial *t, uint32_t turn, double size) {
    static const double compressions[] = {1, 4, 1.5, 100, 4, 1, 1e6};
    static const double radii[] = {0, 0, 0, 0.4, 0.03, 3, 1e-9};
    t->params.compression = compressions[turn % 7];
    t->params.buckets = turn % 4 < 2;
    t->params.lambda = turn % 3 == 0 ? 1 + turn % 5 : 1;
    t->params.exclude_self = turn % 2 == 0 && t->queries == NULL;
    t->params.radius = radii[turn / 7 % 7] * size;
    t->on_device = turn % 5 == 0;
}

static double size_of(const awkward_cloud *kind) {
    return kind->size[0] * (kind->scale[0] != 0 ? fabs(kind->scale[0]) : 1);
}

static void awkward_clouds_have_the_same_neighbours(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 31, 32, 33, 127, 128, 129, 300, 700};
    const uint32_t step = (uint32_t)parity_extent(37, 3, 1);
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++, turn++) {
            if ((turn + c) % step != 0) continue;
            mote_cloud *cloud = awkward_with_normals(*state, c, sizes[s], 0, turn % NORMALS_KINDS);
            for (uint32_t i = turn % 3; i < SOME_K; i += 3) {
                trial t = trial_of(state, cloud, some_k[i], awkward_clouds[c].name);
                vary(&t, turn + 5 * i, size_of(&awkward_clouds[c]));
                compare(&t);
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
        must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        const bool has_normals = mote_cloud_find(cloud, "normal_x") != NULL || mote_cloud_find(cloud, "nx") != NULL;
        if (!has_normals) add_normals(cloud, NORMALS_ALIKE, MOTE_FLOAT32);
        for (uint32_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            trial t = trial_of(state, cloud, ks[i], kinds[c]);
            t.params.compression = i % 2 == 0 ? 4 : 1;
            t.params.buckets = (i + c) % 2 == 1;
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
    static const uint32_t ks[] = {65, 256, 1000, 255, 257, 1024, 400};
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        const uint64_t count = parity_extent(150, 60 * c + 900 / (c + 1), 4000);
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named(names[c]), count, 0);
        add_normals(cloud, NORMALS_AWKWARD, MOTE_FLOAT32);
        for (uint32_t i = c % 4; i < sizeof ks / sizeof ks[0]; i += 4) {
            trial t = trial_of(state, cloud, ks[i], names[c]);
            t.params.exclude_self = i % 2 == 0;
            t.params.compression = i < 4 ? 4 : 1;
            t.params.lambda = ks[i] <= 256 ? 1 + c % 4 : 1;
            compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* Points of every cloud are asked for in others: other types, other scales, far away or not finite. */
static void other_queries_are_answered_alike(void **state) {
    const uint32_t step = (uint32_t)parity_extent(31, 3, 1);
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_cloud *cloud = awkward_cloud_make(((parity_pair *)*state)->cpu, &awkward_clouds[c], 260 + 37 * c, 0);
        for (uint32_t o = c % step; o < awkward_cloud_count; o += step, turn++) {
            mote_cloud *queries = awkward_with_normals(*state, o, (c + 5 * o) % 83, 3, turn % NORMALS_KINDS);
            trial t = trial_of(state, cloud, some_k[turn % SOME_K], awkward_clouds[c].name);
            t.queries = queries;
            vary(&t, turn, size_of(&awkward_clouds[c]));
            compare(&t);
            mote_cloud_destroy(queries);
        }
        mote_cloud *alike = awkward_with_normals(*state, c, 100, 5, c % NORMALS_KINDS);
        trial t = trial_of(state, cloud, 12, awkward_clouds[c].name);
        t.queries = alike;
        vary(&t, 4 * c + 1, size_of(&awkward_clouds[c]));
        compare(&t);
        mote_cloud_destroy(alike);
        mote_cloud_destroy(cloud);
    }
}

static void any_magnitude_is_borne(void **state) {
    static const double sizes[] = {1e-38, 1e-30, 1e-12, 1e15, 1e25, 2e38, 1e-290, 1e150, 4e307};
    parity_pair *pair = *state;
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        enum { COUNT = 220 };
        double points[3 * COUNT];
        for (uint64_t j = 0; j < 3 * COUNT; j++) {
            points[j] = sizes[i] * (double)(mote_hash_pair(i, j) >> 11) * 0x1p-53;
        }
        for (int narrow = 0; narrow < 2; narrow++) {
            if (narrow != 0 && (sizes[i] > 3e38 || sizes[i] < 1e-40)) continue;
            mote_cloud *cloud =
                knn_reference_cloud(pair->cpu, narrow != 0 ? MOTE_FLOAT32 : MOTE_FLOAT64, 1, 0, points, COUNT);
            add_normals(cloud, NORMALS_AWKWARD, MOTE_FLOAT64);
            for (uint32_t turn = 0; turn < 3; turn++) {
                trial t = trial_of(state, cloud, turn == 2 ? 40 : 7, "of any size");
                t.params.compression = turn == 0 ? 1 : 4;
                t.params.buckets = turn == 2;
                compare(&t);
            }
            mote_cloud_destroy(cloud);
        }
    }
}

static void integers_of_any_scale_are_borne(void **state) {
    static const double scales[] = {1e-310, 1e-200, -0.001, 1, 1e150, 1e200};
    parity_pair *pair = *state;
    for (uint32_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        double points[600];
        for (uint64_t j = 0; j < 600; j++) points[j] = (double)(mote_hash_pair(i, j) % 1000);
        mote_cloud *cloud = knn_reference_cloud(pair->cpu, MOTE_INT32, scales[i], 0, points, 200);
        add_normals(cloud, NORMALS_ANY, MOTE_FLOAT32);
        for (uint32_t turn = 0; turn < 3; turn++) {
            trial t = trial_of(state, cloud, 40, "integers of any scale");
            t.params.compression = turn == 0 ? 1 : 4;
            t.params.radius = turn == 2 ? 100 * fabs(scales[i]) : 0;
            compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

static void little_memory_fails_cleanly(void **state) {
    parity_pair *pair = *state;
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), 3000, 0);
    static uint32_t index[30000];
    mote_knn_params params = mote_knn_defaults();
    bool fitted = false, failed = false;
    params.method = MOTE_KNN_SHIFTED;
    params.compression = 4;
    params.buckets = true;
    add_normals(cloud, NORMALS_ANY, MOTE_FLOAT32);
    for (uint64_t limit = 1 << 16; limit <= 16 << 20 && !fitted; limit += limit / 2) {
        mote_context *ctx = parity_context(limit);
        mote_knn_result result = {.index32 = index};
        const mote_status status = ctx != NULL ? mote_knn(ctx, cloud, NULL, &params, &result) : MOTE_ERROR_MEMORY;
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        fitted = status == MOTE_OK;
        failed = failed || (ctx != NULL && !fitted);
        if (ctx != NULL) assert_int_equal(mote_context_device_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
    assert_true(fitted && failed);
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
