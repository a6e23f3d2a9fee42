/* What needs a cloud's values on the host must refuse a cloud whose values are on a GPU, not read them. */
#include <stdio.h>

#include "core/cloud.h"
#include "lod/lod_octree.h"
#include "support/support.h"

/* Columns at addresses that must never be read. */
static mote_cloud *far_cloud(mote_context *ctx) {
    static const char *const names[] = {"x", "y", "z", "red", "green", "blue"};
    mote_column columns[6];
    mote_cloud *cloud = NULL;
    memset(columns, 0, sizeof columns);
    for (uint32_t i = 0; i < 6; i++) {
        columns[i].name = names[i];
        columns[i].type = i < 3 ? MOTE_INT32 : MOTE_UINT16;
        columns[i].data = (const void *)(uintptr_t)(64 * (i + 1)); /* the first page is mapped nowhere */
    }
    assert_int_equal(mote_cloud_wrap(ctx, 10, columns, 6, &cloud), MOTE_OK);
    static mote_device elsewhere; /* of another context */
    cloud->device = &elsewhere;
    return cloud;
}

static void refuse(mote_context *ctx, mote_status status) {
    assert_int_equal(status, MOTE_ERROR_UNSUPPORTED);
    assert_non_null(strstr(mote_context_message(ctx), "the points are in the memory of the GPU"));
    mote_context_clear(ctx);
}

static void refuses_to_read(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = far_cloud(ctx), *other = NULL;
    const uint64_t chosen[] = {3, 4};
    uint64_t codes[10], hash, skipped;
    mote_box box;
    mote_lattice lattice;
    memset(&lattice, 0, sizeof lattice);
    refuse(ctx, mote_cloud_bounds(ctx, cloud, &box, &skipped));
    refuse(ctx, mote_cloud_hash(ctx, cloud, &hash));
    refuse(ctx, mote_cloud_select(ctx, cloud, chosen, 2, &other));
    assert_null(other);
    refuse(ctx, mote_order_lattice(ctx, cloud, &lattice, &skipped));
    refuse(ctx, mote_order_codes(ctx, cloud, &lattice, codes));
    mote_lod *lod = NULL;
    refuse(ctx, mote_lod_build(ctx, cloud, NULL, &lod));
    assert_null(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void refuses_to_write(void **state) {
    (void)state;
    static const char *const endings[] = {"las", "laz", "ply", "pcd", "xyz", "csv"};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = far_cloud(ctx);
    mote_writer *writer = NULL;
    char name[32];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "far.%s", endings[i]);
        refuse(ctx, mote_cloud_write(ctx, cloud, test_path(name), NULL));
    }
    refuse(ctx, mote_writer_open(ctx, cloud, 10, test_path("far.las"), NULL, &writer));
    assert_null(writer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void refuses_octrees(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = far_cloud(ctx);
    mote_lod lod;
    memset(&lod, 0, sizeof lod);
    lod.ctx = ctx;
    lod.source = cloud;
    lod.cloud = cloud;
    refuse(ctx, mote_copc_write(ctx, &lod, test_path("far.copc.laz"), NULL, NULL));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void adds_nothing_of_the_host(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = far_cloud(ctx);
    const mote_column_spec spec = {"intensity", MOTE_UINT16, 1, 0};
    refuse(ctx, mote_cloud_add_column(cloud, &spec));
    assert_int_equal(mote_cloud_column_count(cloud), 6);
    assert_null(mote_cloud_column_data(cloud, "x"));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void needs_a_device(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_wrap_device(ctx, 0, NULL, 0, &cloud), MOTE_ERROR_UNSUPPORTED);
    assert_null(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_to_read), cmocka_unit_test(refuses_to_write),
                                       cmocka_unit_test(refuses_octrees), cmocka_unit_test(adds_nothing_of_the_host),
                                       cmocka_unit_test(needs_a_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
