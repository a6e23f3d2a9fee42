#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parity/knn_parity_support.h"

#include "device/cuda/cuda.h"
#include "math/hash.h"
#include "reference/knn_reference.h"

#define GUARD_BYTES 8u

void knn_take_rows(knn_rows *r, uint64_t count, uint32_t k) {
    const uint64_t sizes[KNN_ARRAYS] = {count * k * 4, count * k * 8, count * k * 4, count * k * 8, count * 4};
    memset(r, 0, sizeof *r);
    for (int i = 0; i < KNN_ARRAYS; i++) {
        r->size_bytes[i] = sizes[i];
        r->array[i] = malloc(sizes[i] + GUARD_BYTES);
        assert_non_null(r->array[i]);
        memset(r->array[i], 0x5A, sizes[i] + GUARD_BYTES);
    }
}

void knn_point_at(knn_rows *r, void *const array[KNN_ARRAYS]) {
    r->result.index32 = array[0];
    r->result.index64 = array[1];
    r->result.distance2 = array[2];
    r->result.distance2_wide = array[3];
    r->result.count = array[4];
}

void knn_free_rows(knn_rows *r) {
    for (int i = 0; i < KNN_ARRAYS; i++) free(r->array[i]);
}

void knn_same_rows(const knn_rows *a, const knn_rows *b, uint32_t k, const char *what) {
    static const char *const names[KNN_ARRAYS] = {"index32", "index64", "distance2", "distance2_wide", "count"};
    for (int i = 0; i < KNN_ARRAYS; i++) {
        const uint8_t *one = a->array[i], *other = b->array[i];
        for (uint64_t at = 0; at < a->size_bytes[i] + GUARD_BYTES; at++) {
            if (one[at] == other[at]) continue;
            const uint64_t width = i == 1 || i == 3 ? 8 : 4, cell = at / width, row = i == 4 ? cell : cell / k;
            fail_msg("%s: %s of row %llu, place %llu: index %d by distance %.17g, on the CPU %d by %.17g", what,
                     names[i], (unsigned long long)row, (unsigned long long)(i == 4 ? 0 : cell % k),
                     i == 4 ? 0 : ((const int32_t *)b->array[0])[cell], i == 4 ? 0 : ((double *)b->array[3])[cell],
                     i == 4 ? 0 : ((const int32_t *)a->array[0])[cell], i == 4 ? 0 : ((double *)a->array[3])[cell]);
        }
    }
}

/* ---- one search on both */

void knn_must(mote_context *ctx, mote_status status, const char *what) {
    if (status != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
}

/* Rows of the device, fetched for comparing. */
static void search_there(const knn_trial *t, const mote_cloud *cloud, const mote_cloud *queries, knn_rows *r,
                         const char *what) {
    mote_context *ctx = t->pair->cuda;
    void *device[KNN_ARRAYS];
    mote_knn_index *index = NULL;
    for (int i = 0; i < KNN_ARRAYS; i++) {
        device[i] = mote_device_alloc(ctx, r->size_bytes[i] + GUARD_BYTES);
        assert_non_null(device[i]);
        knn_must(ctx, mote_device_copy(ctx, device[i], r->array[i], r->size_bytes[i] + GUARD_BYTES), what);
    }
    knn_point_at(r, device);
    r->result.on_device = true;
    knn_must(ctx, mote_knn_build(ctx, cloud, &index), what);
    for (int turn = 0; turn <= (int)t->again; turn++) {
        knn_must(ctx, mote_knn_search(index, queries, &t->params, &r->result), what);
    }
    mote_knn_destroy(index);
    for (int i = 0; i < KNN_ARRAYS; i++) {
        knn_must(ctx, mote_device_copy(ctx, r->array[i], device[i], r->size_bytes[i] + GUARD_BYTES), what);
        mote_device_free(ctx, device[i]);
    }
}

static void search_on_device(const knn_trial *t, knn_rows *r, const char *what) {
    mote_context *ctx = t->pair->cuda;
    mote_cloud *cloud = NULL, *queries = NULL;
    knn_must(ctx, mote_cloud_to_device(ctx, t->cloud, &cloud), what);
    if (t->queries != NULL) knn_must(ctx, mote_cloud_to_device(ctx, t->queries, &queries), what);
    search_there(t, cloud, queries, r, what);
    mote_cloud_destroy(queries);
    mote_cloud_destroy(cloud);
}

void knn_compare(const knn_trial *t) {
    if (!parity_is_mine()) return;
    const uint64_t count = mote_cloud_count(t->queries != NULL ? t->queries : t->cloud);
    char what[KNN_WHAT_BYTES];
    knn_rows cpu, cuda;
    knn_reference_what(t->cloud, t->queries, &t->params, t->name, what);
    knn_take_rows(&cpu, count, t->params.k);
    knn_take_rows(&cuda, count, t->params.k);
    knn_point_at(&cpu, cpu.array);
    knn_point_at(&cuda, cuda.array);
    const mote_status status = mote_knn(t->pair->cpu, t->cloud, t->queries, &t->params, &cpu.result);
    if (status != MOTE_OK) {
        assert_int_equal(mote_knn(t->pair->cuda, t->cloud, t->queries, &t->params, &cuda.result), status);
        assert_string_equal(mote_context_message(t->pair->cuda), mote_context_message(t->pair->cpu));
        mote_context_clear(t->pair->cuda);
        mote_context_clear(t->pair->cpu);
    } else if (t->on_device) {
        strncat(what, ", on the device", sizeof what - strlen(what) - 1);
        search_on_device(t, &cuda, what);
        knn_same_rows(&cpu, &cuda, t->params.k, what);
    } else {
        knn_must(t->pair->cuda, mote_knn(t->pair->cuda, t->cloud, t->queries, &t->params, &cuda.result), what);
        assert_int_equal(cuda.result.skipped, cpu.result.skipped);
        knn_same_rows(&cpu, &cuda, t->params.k, what);
    }
    knn_free_rows(&cpu);
    knn_free_rows(&cuda);
}

knn_trial knn_trial_of(void **state, const mote_cloud *cloud, uint32_t k, const char *name) {
    knn_trial t = {*state, cloud, NULL, mote_knn_defaults(), false, name, false};
    t.params.k = k;
    return t;
}

/* ---- normals */

/* One direction with a little noise; any direction, not of unit length; axes, zeros, infinities and NaN among them. */
static double normal_at(knn_normals kind, uint64_t i, uint64_t k) {
    const double any = (double)(mote_hash_pair(40 + k, i) >> 11) * 0x1p-52 - 1;
    const uint64_t way = mote_hash_pair(50, i) % 16;
    if (kind == KNN_NORMALS_ALIKE) return (k == 2 ? 1 : 0.4) + any * 0.1;
    if (kind == KNN_NORMALS_ANY || way > 7) return any * (double)(1 + i % 5);
    if (way < 3) return way == k ? -3 : 0;
    if (way == 3) return 0;
    if (way == 4) return k == 2 ? NAN : 1;
    if (way == 5) return k == 1 ? (double)INFINITY : any;
    return way == 6 ? any * 1e-30 : any * 1e30;
}

void knn_add_normals(mote_cloud *cloud, knn_normals kind, mote_type type) {
    static const char *const names[2][3] = {{"normal_x", "normal_y", "normal_z"}, {"nx", "ny", "nz"}};
    for (uint64_t k = 0; k < 3; k++) {
        const char *name = names[kind == KNN_NORMALS_ANY][k];
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

mote_cloud *knn_awkward_cloud(const parity_pair *pair, uint32_t kind, uint64_t count, uint64_t shuffle,
                              knn_normals normals) {
    static const mote_type types[] = {MOTE_FLOAT32, MOTE_FLOAT64, MOTE_INT8};
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[kind], count, shuffle);
    assert_non_null(cloud);
    knn_add_normals(cloud, normals, types[(kind + normals) % 3]);
    return cloud;
}

/* ---- extremes */

mote_cloud *knn_cloud_of_size(mote_context *ctx, uint32_t i, double low, bool floats, uint64_t count) {
    static const double sizes[KNN_SIZES] = {1e-38, 1e-30, 1e-12, 1e13, 1e15, 1e25, 2e38, 1e-140, 1e140, 4e307};
    if (floats && (sizes[i] > 3e38 || sizes[i] < 1e-40)) return NULL;
    double *const points = malloc(3 * count * sizeof *points);
    assert_non_null(points);
    for (uint64_t j = 0; j < 3 * count; j++) points[j] = sizes[i] * (low + test_random(i, j));
    mote_cloud *cloud = knn_reference_cloud(ctx, floats ? MOTE_FLOAT32 : MOTE_FLOAT64, 1, 0, points, count);
    free(points);
    return cloud;
}

void knn_fails_until_it_fits(const mote_cloud *cloud, const mote_knn_params *params) {
    uint32_t *const index = malloc(mote_cloud_count(cloud) * params->k * sizeof *index);
    bool fitted = false, failed = false;
    assert_non_null(index);
    for (uint64_t limit = 1 << 16; limit <= 16 << 20 && !fitted; limit += limit / 2) {
        mote_context *ctx = parity_context(limit);
        mote_knn_result result = {.index32 = index};
        const mote_status status = ctx != NULL ? mote_knn(ctx, cloud, NULL, params, &result) : MOTE_ERROR_MEMORY;
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        fitted = status == MOTE_OK;
        failed = failed || (ctx != NULL && !fitted);
        if (ctx != NULL) assert_int_equal(mote_context_device_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
    assert_true(fitted && failed);
    free(index);
}
