/* LAS: coordinate reference systems, what the header says of them and of times, and records. */
#include "unit/las_test.h"

void crs_travels(void **state) {
    (void)state;
    static const char *const systems[] = {"EPSG:25832", "EPSG:4326", "EPSG:4978", TINY_WKT, ""};
    mote_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        mote_cloud *cloud = tiny_cloud(ctx);
        assert_int_equal(mote_cloud_set_crs(cloud, systems[i]), MOTE_OK);
        write_ok(ctx, cloud, test_path("crs.las"), NULL);
        mote_cloud_destroy(cloud);
        cloud = read_ok(ctx, test_path("crs.las"));
        assert_string_equal(mote_cloud_crs(cloud), systems[i]);
        assert_int_equal((cloud->las.global_encoding & LAS_ENCODING_WKT) != 0, strchr(systems[i], '[') != NULL);
        assert_int_equal(mote_cloud_set_crs(cloud, "EPSG:32633"), MOTE_OK); /* the old records must not stay */
        write_ok(ctx, cloud, test_path("crs2.las"), NULL);
        mote_cloud_destroy(cloud);
        cloud = read_ok(ctx, test_path("crs2.las"));
        assert_string_equal(mote_cloud_crs(cloud), "EPSG:32633");
        assert_int_equal(cloud->record_count, 3);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* What a new file says of its times and its CRS, without anything to go by. */
void new_files_state_their_encoding(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec more[] = {{"gps_time", MOTE_FLOAT64, 0, 0}, {"scan_angle", MOTE_INT16, 0.006, 0}};
    for (uint32_t count = 1; count <= 2; count++) {
        for (int week = 0; week < 2; week++) {
            mote_cloud *cloud = las_cloud_with(ctx, more, count);
            set_value(cloud, "gps_time", 1, week == 0 ? 604799 : 1.3e8);
            las_write_and_look(ctx, cloud);
            const file_bytes file = load(test_path("choice.las"));
            assert_int_equal(las_u16(file.data + 6),
                             (week != 0 ? LAS_ENCODING_ADJUSTED : 0) | (count == 2 ? LAS_ENCODING_WKT : 0));
            assert_int_equal(las_u32(file.data + 90), 0);
            free(file.data);
            mote_cloud_destroy(cloud);
        }
    }
    mote_context_destroy(ctx);
}

void waveforms_keep_their_place(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (uint8_t minor = 3; minor <= 4; minor++) {
        const mote_column_spec wave = {"wave_packet_index", MOTE_UINT8, 0, 0};
        mote_cloud *cloud = las_cloud_with(ctx, &wave, 1);
        mote_record record = {.user_id = "before", .record_id = 1, .extended = true, .size_bytes = 3, .data = "abc"};
        assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
        const mote_record packets = {
            .user_id = "LASF_Spec", .record_id = 65535, .extended = true, .size_bytes = 4, .data = "wave"};
        assert_int_equal(mote_cloud_add_record(cloud, &packets), MOTE_OK);
        const mote_las_origin origin = {.present = true, .version_minor = minor, .format = 4, .global_encoding = 4};
        cloud->las = origin;
        write_ok(ctx, cloud, test_path("wave.las"), NULL);
        const file_bytes file = load(test_path("wave.las"));
        const uint64_t at = las_u64(file.data + 227);
        assert_int_equal(file.data[25], minor);
        assert_int_equal(las_u16(file.data + 6), LAS_ENCODING_INTERNAL);
        assert_memory_equal(file.data + at + 60, "wave", 4);
        free(file.data);
        mote_cloud *back = read_ok(ctx, test_path("wave.las"));
        assert_int_equal(back->record_count, 2);
        assert_true(las_same_record(&packets, mote_cloud_record(back, 1)));
        mote_cloud_destroy(back);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Long payloads need 1.4 and stand behind the points. */
void long_records(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = las_cloud_with(ctx, NULL, 0);
    char *payload = calloc(1, 70000);
    const mote_record record = {.user_id = "long", .record_id = 1, .size_bytes = 70000, .data = payload};
    assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
    const las_written found = las_write_and_look(ctx, cloud);
    assert_int_equal(found.minor, 4);
    assert_int_equal(found.format, 0);
    mote_write_params params = mote_write_defaults();
    params.las_version_minor = 2;
    las_assert_refused(ctx, cloud, &params, MOTE_ERROR_ARGUMENT, "65535 bytes");
    mote_cloud *back = read_ok(ctx, test_path("choice.las"));
    assert_int_equal(mote_cloud_record(back, 0)->size_bytes, 70000);
    assert_true(mote_cloud_record(back, 0)->extended);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    free(payload);
    mote_context_destroy(ctx);
}
