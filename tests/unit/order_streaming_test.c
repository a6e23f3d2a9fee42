/* Morton codes made while LAZ is decoded: the octree is the one that is built without them, whatever the header says of
   the box, and for any number of threads. */
#include "core/cloud.h"
#include "support/laz_files.h"

#define POINTS 123457u

/* A city in LAZ, three chunks, the last one not full. */
static const char *write_city(mote_context *ctx) {
    mote_cloud *city = NULL;
    assert_int_equal(mote_generate(ctx, "city", POINTS, NULL, &city), MOTE_OK);
    const char *path = test_path("city.laz");
    assert_int_equal(mote_cloud_write(ctx, city, path, NULL), MOTE_OK);
    mote_cloud_destroy(city);
    return path;
}

/* Puts a number into the header. */
static void patch(const char *path, long at, double value) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static mote_cloud *read_city(mote_context *ctx, const char *path, bool prepare) {
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    params.prepare_order = prepare;
    assert_int_equal(mote_cloud_read(ctx, path, &params, &cloud), MOTE_OK);
    return cloud;
}

/* Nodes and the points of each are the same. */
static void assert_same_octree(const mote_lod *a, const mote_lod *b) {
    assert_int_equal(mote_lod_node_count(a), mote_lod_node_count(b));
    assert_memory_equal(mote_lod_lattice(a), mote_lod_lattice(b), sizeof(mote_lattice));
    const uint32_t count = mote_lod_node_count(a);
    assert_memory_equal(mote_lod_nodes(a), mote_lod_nodes(b), count * sizeof(mote_lod_node));
    uint32_t *left = malloc(POINTS * sizeof *left), *right = malloc(POINTS * sizeof *right);
    assert_non_null(left);
    assert_non_null(right);
    for (uint32_t n = 0; n < count; n++) {
        mote_lod_node_points(a, n, left, NULL);
        mote_lod_node_points(b, n, right, NULL);
        assert_memory_equal(left, right, mote_lod_nodes(a)[n].point_count * sizeof *left);
    }
    free(left);
    free(right);
}

/* codes: whether reading is to have made them. */
static void check(const char *path, int threads, bool codes) {
    mote_context *ctx = test_context(threads);
    mote_cloud *early = read_city(ctx, path, true), *late = read_city(ctx, path, false);
    mote_lod *a = NULL, *b = NULL;
    assert_int_equal(early->prepared.codes != NULL, codes);
    assert_null(late->prepared.codes);
    assert_int_equal(mote_lod_build(ctx, early, NULL, &a), MOTE_OK);
    assert_null(early->prepared.codes);
    assert_int_equal(mote_lod_build(ctx, late, NULL, &b), MOTE_OK);
    assert_same_octree(a, b);
    mote_lod_destroy(a);
    assert_int_equal(mote_lod_build(ctx, early, NULL, &a), MOTE_OK); /* a second time, without them */
    assert_same_octree(a, b);
    mote_lod_destroy(a);
    mote_lod_destroy(b);
    mote_cloud_destroy(early);
    mote_cloud_destroy(late);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void octree_is_the_same(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const char *path = write_city(ctx);
    mote_context_destroy(ctx);
    for (int threads = 1; threads <= 7; threads += 3) check(path, threads, true);
    patch(path, 179, 1e5); /* the largest x, farther out than it is */
    check(path, 3, false);
    patch(path, 179, 500001); /* nearer than it is */
    check(path, 3, false);
    patch(path, 179, -1e300);
    check(path, 3, false);
    patch(path, 187, NAN);
    check(path, 3, false);
}

/* What is left of a damaged file is no whole, so nothing is kept of what was made on the way. */
static void salvaged_points_have_no_codes(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const char *path = write_city(ctx);
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    patch(path, 600000, -1.0);
    params.prepare_order = true;
    assert_int_equal(mote_cloud_read(ctx, path, &params, &cloud), MOTE_ERROR_DATA);
    mote_context_clear(ctx);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    params.salvage = true;
    assert_int_equal(mote_cloud_read(ctx, path, &params, &cloud), MOTE_OK);
    assert_true(cloud->count < POINTS);
    assert_false(cloud->prepared.box_known);
    assert_null(cloud->prepared.codes);
    assert_int_equal(mote_lod_build(ctx, cloud, NULL, &lod), MOTE_OK);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static mote_status read_and_build(mote_context *ctx, void *user) {
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    params.prepare_order = true;
    mote_status status = mote_cloud_read(ctx, user, &params, &cloud);
    if (status == MOTE_OK) status = mote_lod_build(ctx, cloud, NULL, &lod);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return status;
}

static void failures_leave_nothing(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    char path[512];
    snprintf(path, sizeof path, "%s", write_city(ctx));
    mote_context_destroy(ctx);
    test_each_allocation_fails(read_and_build, path);
    test_each_step_cancels(read_and_build, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octree_is_the_same),
        cmocka_unit_test(salvaged_points_have_no_codes),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
