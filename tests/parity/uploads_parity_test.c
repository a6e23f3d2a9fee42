/* Clouds that keep what is uploaded (mote_cloud_keep_uploads): several calls need one copy to the GPU, results are
   those of clouds that keep nothing, and all is given back, whoever goes first. */
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "device/device_cloud.h"
#include "parity_support.h"

#define POINTS 600u

typedef mote_status (*gpu_work)(mote_context *ctx, mote_cloud *cloud);

static float found[4][POINTS]; /* the last normals and curvatures */

static mote_status find_normals(mote_context *ctx, mote_cloud *cloud) {
    mote_normals_params params = mote_normals_defaults();
    mote_normals_result result = {
        .normal_x = found[0], .normal_y = found[1], .normal_z = found[2], .curvature = found[3]};
    params.k = 5;
    return mote_normals(ctx, cloud, &params, &result);
}

static mote_status build_octree(mote_context *ctx, mote_cloud *cloud) {
    mote_lod *lod = NULL;
    const mote_status status = mote_lod_build(ctx, cloud, NULL, &lod);
    mote_lod_destroy(lod);
    return status;
}

static mote_status load_picture(mote_context *ctx, mote_cloud *cloud) {
    mote_renderer *renderer = NULL;
    const mote_status status = mote_render_create(ctx, cloud, &renderer);
    mote_render_destroy(renderer);
    return status;
}

static mote_status find_planes(mote_context *ctx, mote_cloud *cloud) {
    mote_planes *planes = NULL;
    mote_planes_params params = mote_planes_defaults();
    params.resolution_deg = 10;
    const mote_status status = mote_planes_find(ctx, cloud, &params, NULL, &planes);
    mote_planes_destroy(planes);
    return status;
}

/* How many bytes of points the work copies to the GPU. */
static uint64_t uploaded_by(gpu_work work, mote_cloud *cloud) {
    const uint64_t before = mote_context_uploaded_bytes(cloud->ctx);
    assert_int_equal(work(cloud->ctx, cloud), MOTE_OK);
    return mote_context_uploaded_bytes(cloud->ctx) - before;
}

/* A city, whose columns lie interleaved in records. */
static mote_cloud *city_of(mote_context *ctx, bool keeps) {
    mote_cloud *city = NULL;
    assert_int_equal(mote_generate(ctx, "city", POINTS, NULL, &city), MOTE_OK);
    assert_int_equal(mote_cloud_keep_uploads(city, keeps), MOTE_OK);
    return city;
}

static uint64_t record_bytes_of(const mote_cloud *cloud) { return cloud->columns[0].stride_bytes; }

/* ---- how often points are copied */

static void one_copy_serves_all(void **state) {
    static const gpu_work works[] = {find_normals, build_octree, load_picture, find_planes, find_normals};
    parity_pair *const pair = *state;
    mote_cloud *const kept = city_of(pair->cuda, true), *const other = city_of(pair->cuda, false);
    const uint64_t all_bytes = POINTS * record_bytes_of(kept);
    assert_int_equal(find_planes(pair->cuda, other), MOTE_OK);
    const uint64_t held = mote_context_device_bytes(pair->cuda); /* directions, which the context keeps */
    for (uint32_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        assert_int_equal(uploaded_by(works[i], kept), i == 0 ? all_bytes : 0);
        /* Of a record only what lies between the values that are wanted is copied, of the last one. */
        assert_in_range(uploaded_by(works[i], other), all_bytes - record_bytes_of(other), all_bytes);
    }
    mote_cloud_destroy(kept);
    mote_cloud_destroy(other);
    assert_int_equal(mote_context_device_bytes(pair->cuda), held);
}

/* Columns that lie apart are copied when they are wanted first. */
static void columns_are_copied_when_they_are_wanted(void **state) {
    static const mote_column_spec normal[3] = {
        {"normal_x", MOTE_FLOAT32, 0, 0}, {"normal_y", MOTE_FLOAT32, 0, 0}, {"normal_z", MOTE_FLOAT32, 0, 0}};
    parity_pair *const pair = *state;
    mote_cloud *const city = city_of(pair->cuda, true);
    assert_int_equal(uploaded_by(find_normals, city), POINTS * record_bytes_of(city));
    for (int k = 0; k < 3; k++) {
        assert_int_equal(mote_cloud_put_column(city, &normal[k]), MOTE_OK);
        float *const to = mote_cloud_column_data(city, normal[k].name);
        memcpy(to, found[k], sizeof found[k]);
    }
    assert_int_equal(uploaded_by(find_normals, city), 0);
    assert_int_equal(uploaded_by(build_octree, city), 3 * POINTS * sizeof(float));
    assert_int_equal(uploaded_by(load_picture, city), 0);
    assert_int_equal(mote_cloud_put_column(city, &normal[0]), MOTE_OK); /* other values in its place */
    assert_int_equal(uploaded_by(build_octree, city), POINTS * sizeof(float));
    mote_cloud_destroy(city);
}

/* ---- what is found is what there is now */

static void stretch(mote_cloud **cloud) {
    uint64_t changed = 0;
    assert_int_equal(mote_cloud_assign((*cloud)->ctx, cloud, "x = x * 3", NULL, &changed), MOTE_OK);
    assert_int_equal(changed, POINTS);
}

static void stretch_by_hand(mote_cloud *cloud) {
    uint8_t *const x = mote_cloud_column_data(cloud, "x");
    for (uint64_t i = 0; i < POINTS; i++) {
        int32_t value;
        memcpy(&value, x + i * record_bytes_of(cloud), sizeof value);
        value *= 3;
        memcpy(x + i * record_bytes_of(cloud), &value, sizeof value);
    }
}

static void changed_values_are_copied_anew(void **state) {
    parity_pair *const pair = *state;
    static float expected[4][POINTS];
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        mote_cloud *clouds[2] = {city_of(pair->cpu, false), city_of(pair->cuda, true)};
        assert_int_equal(find_normals(pair->cuda, clouds[1]), MOTE_OK);
        for (int i = 0; i < 2; i++) {
            if (by_hand) stretch_by_hand(clouds[i]);
            if (!by_hand) stretch(&clouds[i]);
            if (by_hand && i == 1) assert_int_equal(mote_cloud_keep_uploads(clouds[i], true), MOTE_OK);
            assert_int_equal(find_normals(clouds[i]->ctx, clouds[i]), MOTE_OK);
            if (i == 0) memcpy(expected, found, sizeof found);
        }
        assert_memory_equal(found, expected, sizeof found);
        for (int i = 0; i < 2; i++) mote_cloud_destroy(clouds[i]);
    }
}

static void an_index_is_made_anew_of_what_is_there(void **state) {
    parity_pair *const pair = *state;
    static uint32_t rows[2][POINTS * 4];
    for (int i = 0; i < 2; i++) {
        mote_context *const ctx = i == 0 ? pair->cpu : pair->cuda;
        mote_cloud *const city = city_of(ctx, true);
        mote_knn_index *index = NULL;
        mote_knn_params params = mote_knn_defaults();
        mote_knn_result result = {.index32 = rows[i]};
        params.k = 4;
        assert_int_equal(mote_knn_build(ctx, city, &index), MOTE_OK);
        stretch_by_hand(city);
        assert_int_equal(mote_knn_rebuild(index), MOTE_OK);
        assert_int_equal(mote_knn_search(index, NULL, &params, &result), MOTE_OK);
        mote_knn_destroy(index);
        mote_cloud_destroy(city);
    }
    assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
}

/* ---- memory */

static void copies_go_when_memory_runs_short(void **state) {
    (void)state;
    const uint64_t record_bytes = 36, limit = 4000 * POINTS * record_bytes;
    mote_context *const ctx = parity_context(limit);
    mote_cloud *const city = city_of(ctx, true);
    const uint64_t available = device_available(gpu_of(ctx));
    assert_true(uploaded_by(build_octree, city) > 0);
    const uint64_t held = mote_context_device_bytes(ctx);
    assert_in_range(held, POINTS * record_bytes, limit);
    assert_int_equal(device_available(gpu_of(ctx)), available); /* what is kept is as good as free */
    void *const large = device_alloc(gpu_of(ctx), limit - POINTS * record_bytes / 2, "all the rest");
    assert_non_null(large);
    device_free(gpu_of(ctx), large);
    assert_true(mote_context_device_bytes(ctx) < held);
    assert_true(uploaded_by(build_octree, city) > 0);
    mote_context_trim(ctx);
    assert_int_equal(mote_context_device_bytes(ctx), 0);
    assert_true(uploaded_by(build_octree, city) > 0);
    mote_cloud_destroy(city);
    assert_int_equal(mote_context_device_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* What somebody looks at stays, though the cloud is gone or keeps nothing any more. */
static void copies_in_use_stay(void **state) {
    parity_pair *const pair = *state;
    for (int way = 0; way < 3; way++) {
        mote_cloud *city = city_of(pair->cuda, true);
        device_cloud a, b;
        assert_int_equal(device_cloud_open_positions(gpu_of(pair->cuda), city, &a), MOTE_OK);
        assert_int_equal(device_cloud_open(gpu_of(pair->cuda), city, &b), MOTE_OK);
        assert_ptr_equal(device_cloud_find(&a, "y")->data, device_cloud_find(&b, "y")->data);
        mote_context_trim(pair->cuda);
        if (way == 1) assert_int_equal(mote_cloud_keep_uploads(city, false), MOTE_OK);
        if (way == 2) mote_cloud_destroy(city), city = NULL;
        device_cloud_close(&a);
        assert_in_range(mote_context_device_bytes(pair->cuda), POINTS * 36, POINTS * 37);
        device_cloud_close(&b);
        if (way > 0) assert_int_equal(mote_context_device_bytes(pair->cuda), 0);
        mote_cloud_destroy(city);
        assert_int_equal(mote_context_device_bytes(pair->cuda), 0);
    }
}

/* A copy for the caller is the caller's, and a context of its own sees nothing of another's. */
static void copies_are_nobody_elses(void **state) {
    parity_pair *const pair = *state;
    mote_context *const second = parity_context(0);
    mote_cloud *const city = city_of(pair->cuda, true);
    mote_cloud *device = NULL;
    assert_true(uploaded_by(build_octree, city) > 0);
    assert_int_equal(mote_cloud_to_device(pair->cuda, city, &device), MOTE_OK);
    assert_int_equal(build_octree(second, city), MOTE_OK);
    assert_true(mote_context_uploaded_bytes(second) > 0);
    assert_int_equal(mote_context_device_bytes(second), 0);
    mote_context_destroy(second);
    mote_cloud_destroy(city);
    assert_int_equal(uploaded_by(build_octree, device), 0);
    assert_int_equal(mote_cloud_keep_uploads(device, true), MOTE_OK); /* it is there already */
    assert_int_equal(uploaded_by(build_octree, device), 0);
    mote_cloud_destroy(device);
}

static void many_clouds_keep_theirs(void **state) {
    enum { CLOUDS = MOTE_CACHE_MAX_ENTRIES + 3 };
    parity_pair *const pair = *state;
    mote_cloud *clouds[CLOUDS];
    for (int i = 0; i < CLOUDS; i++) {
        clouds[i] = city_of(pair->cuda, true);
        assert_true(uploaded_by(load_picture, clouds[i]) > 0);
    }
    for (int i = CLOUDS - 2; i < CLOUDS; i++) assert_int_equal(uploaded_by(load_picture, clouds[i]), 0);
    for (int i = 0; i < CLOUDS; i++) assert_int_equal(find_normals(pair->cuda, clouds[i]), MOTE_OK);
    for (int i = 0; i < CLOUDS; i++) mote_cloud_destroy(clouds[i]);
    assert_int_equal(mote_context_device_bytes(pair->cuda), 0);
}

/* ---- failures */

typedef struct fragile {
    long calls, fail_at, open;
} fragile;

static void *fragile_allocate(void *user, size_t size_bytes) {
    fragile *const memory = user;
    if (++memory->calls == memory->fail_at) return NULL;
    memory->open++;
    return aligned_alloc(64, (size_bytes + 63) / 64 * 64);
}

static void fragile_release(void *user, void *memory, size_t size_bytes) {
    (void)size_bytes;
    ((fragile *)user)->open--;
    free(memory);
}

static mote_status use_twice(mote_context *ctx) {
    mote_cloud *city = NULL;
    mote_status status = mote_generate(ctx, "city", 40, NULL, &city);
    if (status == MOTE_OK) status = mote_cloud_keep_uploads(city, true);
    if (status == MOTE_OK) status = load_picture(ctx, city);
    if (status == MOTE_OK) status = build_octree(ctx, city);
    mote_cloud_destroy(city);
    return status;
}

static void failures_leave_nothing(void **state) {
    (void)state;
    mote_status status = MOTE_ERROR_MEMORY;
    for (long n = 1; status != MOTE_OK; n++) {
        fragile memory = {.fail_at = n};
        mote_context_params params = mote_context_defaults();
        mote_context *ctx = NULL;
        params.device = MOTE_DEVICE_CUDA;
        params.threads = 1;
        params.allocator = (mote_allocator){&memory, fragile_allocate, fragile_release};
        status = mote_context_create(&params, &ctx);
        if (status == MOTE_OK) {
            status = use_twice(ctx);
            assert_int_equal(mote_context_device_bytes(ctx), 0);
        }
        mote_context_destroy(ctx);
        assert_int_equal(memory.open, 0);
        assert_true(n < 10000);
    }
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        PARITY_TEST(one_copy_serves_all),
        PARITY_TEST(columns_are_copied_when_they_are_wanted),
        PARITY_TEST(changed_values_are_copied_anew),
        PARITY_TEST(an_index_is_made_anew_of_what_is_there),
        cmocka_unit_test(copies_go_when_memory_runs_short),
        PARITY_TEST(copies_in_use_stay),
        PARITY_TEST(copies_are_nobody_elses),
        PARITY_TEST(many_clouds_keep_theirs),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
