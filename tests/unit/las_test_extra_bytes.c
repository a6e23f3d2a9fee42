/* LAS: columns that the format lacks are extra bytes. */
#include "unit/las_test.h"

void extra_bytes_of_every_type(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    static const char *const names[10] = {"int8",   "uint8", "int16",  "uint16", "int32",
                                          "uint32", "int64", "uint64", "float",  "double"};
    mote_column_spec more[10];
    for (int t = 0; t < 10; t++) {
        const mote_column_spec spec = {names[t], (mote_type)t, t % 2 == 0 ? 1 : 0.25, t % 3 == 0 ? 0 : 7};
        more[t] = spec;
    }
    mote_cloud *cloud = las_cloud_with(ctx, more, 10);
    uint8_t *record = mote_cloud_column_data(cloud, "int8");
    const uint32_t stride = mote_cloud_find(cloud, "int8")->stride_bytes;
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < stride - 12; k++) record[i * stride + k] = (uint8_t)(i == 0 ? 0xFF : 37 * k + i * 11);
    }
    write_ok(ctx, cloud, test_path("extra.las"), NULL);
    mote_cloud *back = read_ok(ctx, test_path("extra.las"));
    for (int t = 0; t < 10; t++) {
        const mote_column *a = mote_cloud_find(cloud, names[t]), *b = mote_cloud_find(back, names[t]);
        assert_non_null(b);
        assert_int_equal(a->type, b->type);
        assert_true(a->scale == b->scale && a->offset == b->offset);
        for (uint64_t i = 0; i < 3; i++) {
            assert_memory_equal(mote_column_at(a, i), mote_column_at(b, i), mote_type_size(a->type));
        }
    }
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void long_and_equal_names(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec more[] = {
        {"a_name_that_is_longer_than_32_bytes_1", MOTE_UINT8, 0, 0},
        {"a_name_that_is_longer_than_32_bytes_2", MOTE_UINT8, 0, 0},
        {"caf\xC3\xA9_caf\xC3\xA9_caf\xC3\xA9_caf\xC3\xA9_caf\xC3\xA9_\xC3\xA9\xC3\xA9", MOTE_UINT8, 0, 0}};
    mote_cloud *cloud = las_cloud_with(ctx, more, 3);
    for (int k = 0; k < 3; k++) set_value(cloud, more[k].name, 0, k + 1);
    write_ok(ctx, cloud, test_path("names.las"), NULL);
    mote_cloud *back = read_ok(ctx, test_path("names.las"));
    assert_near(mote_column_value(mote_cloud_find(back, "a_name_that_is_longer_than_32_by"), 0), 1, 0);
    assert_near(mote_column_value(mote_cloud_find(back, "a_name_that_is_longer_than_32__2"), 0), 2, 0);
    assert_near(mote_column_value(mote_cloud_column(back, mote_cloud_column_count(back) - 1), 0), 3, 0);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* More columns than one record of descriptions holds. */
void many_extra_columns(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = las_cloud_with(ctx, NULL, 0);
    for (int k = 0; k < 700; k++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", k);
        const mote_column_spec spec = {name, MOTE_UINT16, 0, 0};
        assert_int_equal(mote_cloud_add_column(cloud, &spec), MOTE_OK);
        set_value(cloud, name, 2, k);
    }
    write_ok(ctx, cloud, test_path("many.las"), NULL);
    mote_cloud *back = read_ok(ctx, test_path("many.las"));
    assert_int_equal(back->column_count, 15 + 700);
    assert_int_equal(back->record_count, 0);
    assert_near(mote_column_value(mote_cloud_find(back, "c699"), 2), 699, 0);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Extra bytes named like a dimension that the format lacks: the file must come back as it was. */
void extra_bytes_named_like_dimensions(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec more[] = {{"nir", MOTE_UINT16, 0, 0}, {"scan_angle", MOTE_INT16, 0.006, 0}};
    mote_cloud *cloud = las_cloud_with(ctx, more, 2);
    mote_write_params params = mote_write_defaults();
    params.las_format = 0;
    set_value(cloud, "nir", 2, 12345);
    write_ok(ctx, cloud, test_path("named.las"), &params);
    mote_cloud_destroy(cloud);
    cloud = read_ok(ctx, test_path("named.las"));
    assert_int_equal(las_write_and_look(ctx, cloud).format, 0);
    assert_same_file(test_path("named.las"), test_path("choice.las"));
    params.las_format = 8;
    write_ok(ctx, cloud, test_path("named.las"), &params);
    mote_cloud_destroy(cloud);
    cloud = read_ok(ctx, test_path("named.las"));
    assert_int_equal(mote_cloud_find(cloud, "nir")->stride_bytes, 38);
    assert_near(mote_column_value(mote_cloud_find(cloud, "nir"), 2), 12345, 0);
    params.las_format = 1;
    write_ok(ctx, cloud, test_path("named.las"),
             &params); /* overlap and channel are 0 and go, the rest is extra bytes */
    mote_cloud_destroy(cloud);
    cloud = read_ok(ctx, test_path("named.las"));
    assert_int_equal(mote_cloud_find(cloud, "x")->stride_bytes, 28 + 2 + 2 + 6);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
