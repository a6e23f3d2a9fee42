/* A cloud that keeps its order: octrees and pictures are those of one that does not, whoever sorted the points first,
   and what is kept goes when positions change. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "math/hash.h"
#include "support/support.h"

#define WIDTH  64u
#define HEIGHT 48u

/* What came of a cloud. */
typedef struct outcome {
    uint64_t octree_hash, picture_hash;
} outcome;

/* Where the value of a point is in a column of the cloud's own memory. */
static void *value_at(mote_cloud *cloud, const char *name, uint64_t i) {
    return (uint8_t *)mote_cloud_column_data(cloud, name) + i * mote_cloud_find(cloud, name)->stride_bytes;
}

static double *place_at(mote_cloud *cloud, const char *name, uint64_t i) { return value_at(cloud, name, i); }

/* A town's worth of places, of which many share a code, some a place, and some are none; double: wider than a code's
   cells, so that ties have an order of their own. */
static mote_cloud *made_cloud(mote_context *ctx, uint64_t count, uint64_t seed) {
    static const char *const names[7] = {"x", "y", "z", "red", "green", "blue", "intensity"}; /* records of 32 bytes */
    mote_column_spec specs[7];
    mote_cloud *cloud = NULL;
    memset(specs, 0, sizeof specs);
    for (int k = 0; k < 7; k++) {
        specs[k].name = names[k];
        specs[k].type = k < 3 ? MOTE_FLOAT64 : MOTE_UINT16;
    }
    assert_int_equal(mote_cloud_create(ctx, count, specs, 7, &cloud), MOTE_OK);
    for (int k = 0; k < 3; k++) {
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t h = mote_hash_pair(seed + (uint64_t)k, i % 5 == 0 ? i / 7 : i);
            *place_at(cloud, names[k], i) = i % 997 == 996 ? NAN
                                            : i % 3 == 0   ? (double)(h % 50)
                                                           : (double)(h >> 11) * 0x1p-53 * 1e4;
        }
    }
    for (int k = 3; k < 7; k++) {
        for (uint64_t i = 0; i < count; i++) {
            const uint16_t shade = (uint16_t)mote_hash_pair(seed + (uint64_t)k, i);
            memcpy(value_at(cloud, names[k], i), &shade, sizeof shade);
        }
    }
    return cloud;
}

static mote_status octree_of(mote_context *ctx, const mote_cloud *cloud, uint64_t *hash) {
    const mote_lod_params params = mote_lod_defaults();
    mote_lod *lod = NULL;
    MOTE_TRY(mote_lod_build(ctx, cloud, &params, &lod));
    const uint32_t nodes = mote_lod_node_count(lod);
    uint64_t sum = mote_hash_pair(nodes, mote_lod_skipped(lod));
    uint32_t *points = malloc((mote_cloud_count(cloud) + 1) * sizeof *points);
    for (uint32_t n = 0; n < nodes && points != NULL; n++) {
        const mote_lod_node *node = &mote_lod_nodes(lod)[n];
        mote_lod_node_points(lod, n, points, NULL);
        sum = mote_hash_pair(sum, node->prefix);
        for (uint64_t i = 0; i < node->point_count; i++) sum = mote_hash_pair(sum, points[i]);
    }
    *hash = sum;
    free(points);
    mote_lod_destroy(lod);
    return points != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status draw(mote_renderer *renderer, uint64_t *hash) {
    static const double from[3] = {0.3, -1, 0.5};
    static uint8_t color[4 * WIDTH * HEIGHT];
    static uint32_t index[WIDTH * HEIGHT];
    mote_camera camera = mote_camera_defaults();
    mote_render_params params = mote_render_defaults();
    mote_render_result result = {.color8 = color, .index = index};
    params.width = WIDTH;
    params.height = HEIGHT;
    params.mode = MOTE_RENDER_POINTS;
    MOTE_TRY(mote_render_fit(renderer, &camera, from, &params));
    MOTE_TRY(mote_render_draw(renderer, &camera, &params, &result));
    *hash = 0;
    for (size_t i = 0; i < sizeof color; i++) *hash = mote_hash_pair(*hash, color[i]);
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) *hash = mote_hash_pair(*hash, index[i]);
    return MOTE_OK;
}

static mote_status picture_of(mote_context *ctx, const mote_cloud *cloud, uint64_t *hash) {
    mote_renderer *renderer = NULL;
    MOTE_TRY(mote_render_create(ctx, cloud, &renderer));
    const mote_status status = draw(renderer, hash);
    mote_render_destroy(renderer);
    return status;
}

static void must(mote_context *ctx, mote_status status) {
    if (status != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
}

static outcome outcome_of(mote_context *ctx, const mote_cloud *cloud) {
    outcome all;
    must(ctx, octree_of(ctx, cloud, &all.octree_hash));
    must(ctx, picture_of(ctx, cloud, &all.picture_hash));
    return all;
}

static void assert_same(const outcome *one, const outcome *other) {
    assert_int_equal(one->octree_hash, other->octree_hash);
    assert_int_equal(one->picture_hash, other->picture_hash);
}

static void whoever_sorts_first(void **state) {
    (void)state;
    const uint64_t counts[] = {1, 2, 63, 1000, 100000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        mote_context *ctx = test_context(c % 2 == 0 ? 2 : 1);
        mote_cloud *cloud = made_cloud(ctx, counts[c], 7);
        const outcome expected = outcome_of(ctx, cloud);
        mote_cloud_keep_order(cloud, true);
        outcome kept = outcome_of(ctx, cloud); /* the octree sorts */
        assert_same(&kept, &expected);
        kept = outcome_of(ctx, cloud); /* nobody does */
        assert_same(&kept, &expected);
        mote_cloud_keep_order(cloud, true);
        must(ctx, picture_of(ctx, cloud, &kept.picture_hash)); /* the picture does */
        kept = outcome_of(ctx, cloud);
        assert_same(&kept, &expected);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Moves all points of a cloud of its own memory, without the library's knowledge. */
static void move(mote_cloud *cloud) {
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        double *x = place_at(cloud, "x", i), *y = place_at(cloud, "y", i);
        const double before = *x;
        *x = *y;
        *y = 3 * before;
    }
}

/* Where positions change without a word the old order stays, which shows that it was taken; told, all is as anew. */
static void what_is_kept_goes_when_told(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = made_cloud(ctx, 5000, 3);
    mote_cloud_keep_order(cloud, true);
    uint64_t before, stale, expected;
    must(ctx, octree_of(ctx, cloud, &before));
    move(cloud);
    must(ctx, octree_of(ctx, cloud, &stale));
    assert_int_equal(stale, before);
    mote_cloud_keep_order(cloud, false);
    must(ctx, octree_of(ctx, cloud, &expected));
    assert_int_not_equal(expected, before);
    mote_cloud_keep_order(cloud, true);
    uint64_t again;
    must(ctx, octree_of(ctx, cloud, &again));
    assert_int_equal(again, expected);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void the_library_tells_itself(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = made_cloud(ctx, 5000, 3), *other = made_cloud(ctx, 5000, 4);
    mote_cloud_keep_order(cloud, true);
    uint64_t hash, expected;

    mote_renderer *renderer = NULL; /* a renderer that is told to look again */
    assert_int_equal(mote_render_create(ctx, cloud, &renderer), MOTE_OK);
    move(cloud);
    assert_int_equal(mote_render_update(renderer), MOTE_OK);
    assert_int_equal(draw(renderer, &hash), MOTE_OK);
    mote_render_destroy(renderer);
    mote_cloud_keep_order(cloud, true);
    must(ctx, picture_of(ctx, cloud, &expected));
    assert_int_equal(hash, expected);

    const mote_column_spec spec = {.name = "x", .type = MOTE_FLOAT64}; /* another column of positions */
    assert_int_equal(mote_cloud_put_column(cloud, &spec), MOTE_OK);
    for (int k = 0; k < 3; k++) {
        static const char *const names[3] = {"x", "y", "z"};
        for (uint64_t i = 0; i < 5000; i++) *place_at(cloud, names[k], i) = *place_at(other, names[k], i);
    }
    must(ctx, octree_of(ctx, cloud, &hash));
    mote_cloud_keep_order(cloud, false);
    must(ctx, octree_of(ctx, cloud, &expected));
    assert_int_equal(hash, expected);
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(other);
    mote_context_destroy(ctx);
}

static mote_status keep_and_draw(mote_context *ctx, void *user) {
    (void)user;
    static const char *const names[3] = {"x", "y", "z"};
    mote_column_spec specs[3] = {{.name = "x"}, {.name = "y"}, {.name = "z"}};
    mote_cloud *cloud = NULL;
    uint64_t hash;
    for (int k = 0; k < 3; k++) specs[k].type = MOTE_FLOAT64;
    MOTE_TRY(mote_cloud_create(ctx, 3, specs, 3, &cloud));
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) *place_at(cloud, names[k], (uint64_t)i) = i;
    }
    mote_cloud_keep_order(cloud, true);
    mote_status status = octree_of(ctx, cloud, &hash);
    if (status == MOTE_OK) status = picture_of(ctx, cloud, &hash);
    mote_cloud_destroy(cloud);
    return status;
}

static void failures_and_cancels(void **state) {
    (void)state;
    test_each_allocation_fails(keep_and_draw, NULL);
    test_each_step_cancels(keep_and_draw, NULL);
}

/* A picture in one call: sorting is a share of loading, which is one of all. */
static void progress_does_not_go_back(void **state) {
    (void)state;
    test_progress progress = {0};
    mote_context *ctx = test_context_watched(&progress);
    mote_cloud *cloud = made_cloud(ctx, 100000, 5);
    static uint8_t color[4 * WIDTH * HEIGHT];
    mote_camera camera = mote_camera_defaults();
    mote_render_params params = mote_render_defaults();
    mote_render_result result = {.color8 = color};
    params.width = WIDTH;
    params.height = HEIGHT;
    must(ctx, mote_render(ctx, cloud, &camera, &params, &result));
    assert_false(progress.backwards);
    assert_true(progress.calls > 4 && progress.last == 1);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_sorts_first),       cmocka_unit_test(what_is_kept_goes_when_told),
        cmocka_unit_test(the_library_tells_itself),  cmocka_unit_test(failures_and_cancels),
        cmocka_unit_test(progress_does_not_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
