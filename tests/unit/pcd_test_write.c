/* PCD: that writing gives the same points back, of clouds made up and of real files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "unit/pcd_test.h"

/* A bit of everything: LAS-like positions and angles, packed bits, names that PCD cannot hold, arrays, colours. */
static mote_cloud *rich_cloud(mote_context *ctx, uint64_t count) {
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.001, 500000},     {"y", MOTE_INT32, 0.001, 0},
                                      {"z", MOTE_INT32, 0.00025, 0},        {"blue", MOTE_UINT8, 0, 0},
                                      {"a b", MOTE_FLOAT32, 0, 0},          {"_", MOTE_INT8, 0, 0},
                                      {"scan_angle", MOTE_INT16, 0.006, 0}, {"v[0]", MOTE_UINT16, 0, 0},
                                      {"v[1]", MOTE_UINT16, 0, 0},          {"red", MOTE_UINT8, 0, 0},
                                      {"green", MOTE_UINT8, 0, 0},          {"w[0]", MOTE_UINT16, 0, 0},
                                      {"w[1]", MOTE_UINT8, 0, 0},           {"X", MOTE_UINT64, 0, 0},
                                      {"GpsTime", MOTE_FLOAT64, 0, 0},      {"gps_time", MOTE_FLOAT64, 0, 0},
                                      {"alpha", MOTE_UINT8, 0, 0}};
    const uint32_t column_count = sizeof specs / sizeof specs[0];
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, count, specs, column_count, &cloud), MOTE_OK);
    for (uint32_t c = 0; c < column_count; c++) {
        const mote_column *const column = mote_cloud_column(cloud, c);
        uint8_t *at = mote_cloud_column_data(cloud, column->name);
        for (uint64_t i = 0; i < count; i++, at += column->stride_bytes) {
            const uint64_t n = (i / 3) * 0x9E3779B97F4A7C15ull >> c;
            const float f = (float)(n >> 40) / 7;
            const double d = (double)(n >> 11) / 3e9;
            const void *from = column->type == MOTE_FLOAT32   ? (const void *)&f
                               : column->type == MOTE_FLOAT64 ? (const void *)&d
                                                              : (const void *)&n;
            memcpy(at, from, mote_type_size(column->type));
        }
    }
    cloud->columns[6].unit = "degree";
    cloud->columns[4].description = "two words, 50%";
    assert_int_equal(mote_cloud_set_crs(cloud, "PROJCS[\"a b\",\n1]"), MOTE_OK);
    return cloud;
}

/* LAS positions become doubles; from then on nothing changes. */
void writes_a_bit_of_everything(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = rich_cloud(ctx, 3000);
    pcd_write(ctx, cloud, test_path("rich.pcd"), BINARY);
    mote_cloud *again = test_read(ctx, test_path("rich.pcd"));
    test_columns_are(again, "x:double y:double z:double red:uint8 green:uint8 blue:uint8 alpha:uint8 a b:float _:int8 "
                            "scan_angle:int16 v[0]:uint16 v[1]:uint16 w[0]:uint16 w[1]:uint8 X:uint64 GpsTime:double "
                            "gps_time:double");
    for (uint32_t c = 0; c < mote_cloud_column_count(cloud); c++) {
        const mote_column *const a = mote_cloud_column(cloud, c), *const b = test_column(again, a->name);
        assert_string_equal(a->unit, b->unit);
        if (a->description[0] != '\0') assert_string_equal(a->description, b->description);
        for (uint64_t i = 0; i < 3000; i += 7) {
            const double wanted = mote_column_value(a, i), got = mote_column_value(b, i);
            if (!(fabs(wanted - got) <= 1e-9 * (fabs(wanted) < 1 ? fabs(wanted) : 1) || wanted == got))
                fail_msg("%s: %.17g is %.17g", a->name, wanted, got);
        }
    }
    assert_true(again->position_step == 0.00001);
    assert_true(test_column(again, "scan_angle")->scale == 0.006);
    assert_string_equal(mote_cloud_crs(again), "PROJCS[\"a b\",\n1]");
    pcd_check_round_trips(ctx, again);
    size_t size = 0;
    char *const bytes = test_load(test_path("rich.pcd"), &size);
    assert_non_null(strstr(bytes, "\nCOUNT 1 1 1 1 1 1 1 2 1 1 1 1 1\n"));
    free(bytes);
    mote_cloud_destroy(again);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void writes_chosen_columns(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = rich_cloud(ctx, 10), *again = NULL;
    mote_write_params params = mote_write_defaults();
    params.columns = "z,y,x,red,green,blue,v[1]";
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("chosen.pcd"), &params), MOTE_OK);
    again = test_read(ctx, test_path("chosen.pcd"));
    test_columns_are(again, "z:double y:double x:double red:uint8 green:uint8 blue:uint8 v[1]:uint16");
    assert_string_equal(test_column(again, "red")->description, "rgb");
    mote_cloud_destroy(again);
    params.columns = "x,y,z,red,green";
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("chosen.pcd"), &params), MOTE_OK);
    again = test_read(ctx, test_path("chosen.pcd"));
    test_columns_are(again, "x:double y:double z:double red:uint8 green:uint8");
    mote_cloud_destroy(again);
    params.columns = "x,y";
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("never.pcd"), &params), MOTE_ERROR_ARGUMENT);
    params = pcd_params(ASCII);
    params.compress = true;
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("never.pcd"), &params), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void same_bytes_for_any_threads(void **state) {
    (void)state;
    const int threads[] = {1, 2, 7};
    for (int way = 0; way < WAYS; way++) {
        char *first = NULL;
        size_t first_size = 0;
        for (int t = 0; t < 3; t++) {
            mote_context *ctx = test_context(threads[t]);
            mote_cloud *cloud = rich_cloud(ctx, 200000);
            pcd_write(ctx, cloud, test_path("threads.pcd"), way);
            size_t size = 0;
            char *const bytes = test_load(test_path("threads.pcd"), &size);
            if (t > 0) {
                assert_int_equal(size, first_size);
                assert_int_equal(memcmp(first, bytes, size), 0);
                free(bytes);
            } else {
                first = bytes;
                first_size = size;
            }
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        free(first);
    }
}

/* Writes count points to source in an encoding, to be copied to target in the same. */
static test_copy make_copy(const char *source, const char *target, uint64_t count, int way) {
    const test_copy copy = {test_path(source), test_path(target), pcd_params(way)};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = rich_cloud(ctx, count);
    pcd_write(ctx, cloud, copy.source, way);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return copy;
}

void survives_failing_allocations(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        test_copy copy = make_copy("source.pcd", "target.pcd", 1000, way);
        test_each_allocation_fails(test_copy_file, &copy);
    }
    /* Positions that are widened, and points that LAS cannot hold. */
    static const char text[] = XYZ REST "VIEWPOINT 1 0 0 1 0 0 0\nDATA ascii\n289814.15 4320978.61 170.76\n1 nan 3\n";
    test_copy copy = {test_path("wide.pcd"), test_path("wide.las"), mote_write_defaults()};
    test_write_file(copy.source, text, sizeof text - 1);
    test_each_allocation_fails(test_copy_file, &copy);
}

void cancel_leaves_nothing(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        test_copy copy = make_copy("cancel.pcd", "cancelled.pcd", 100000, way);
        test_each_step_cancels(test_copy_file, &copy);
    }
}

/* ---- real files */

static uint32_t crc32_of(uint32_t crc, uint8_t byte) {
    crc ^= byte;
    for (int k = 0; k < 8; k++) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1)));
    return crc;
}

/* The checksum of the bytes of one column, or of several whose bytes stand side by side. */
static uint32_t checksum(const mote_cloud *cloud, const char *const *names, int count) {
    uint32_t crc = UINT32_MAX;
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        for (int k = 0; k < count; k++) {
            const mote_column *const column = mote_cloud_find(cloud, names[k]);
            for (uint32_t b = 0; column != NULL && b < mote_type_size(column->type); b++) {
                crc = crc32_of(crc, mote_column_at(column, i)[b]);
            }
            if (column == NULL) crc = crc32_of(crc, 0);
        }
    }
    return ~crc;
}

/* Found with a decoder in Python: CRC-32 of the bytes of x, y, z, and of rgb or another column. */
static const struct {
    const char *name;
    uint64_t count, width;
    uint32_t xyz[3];
    const char *other; /* "": the packed colour */
    uint32_t other_crc;
} real_files[] = {
    {"Zaghetto.pcd", 59750, 0, {0x3d5b027d, 0x22a63710, 0x89611285}, NULL, 0},
    {"autzen-utm.pcd", 1065, 0, {0x49a9ec1c, 0xdf7da724, 0x394ec198}, "gps_time", 0xb7212424},
    {"car6.pcd", 10031, 0, {0x8c6ce60b, 0x70765e91, 0xe9be0e9a}, NULL, 0},
    {"fragment.pcd", 113662, 0, {0x6da53a39, 0x31f2fe81, 0x1fdfc29f}, "", 0x603f27e5},
    {"milk_color.pcd", 13704, 0, {0xdee7de1a, 0x7f726a96, 0xafa152f2}, "", 0x7f7c775b},
    {"room_scan1.pcd", 112586, 0, {0xc5a3fcf8, 0x522f75d3, 0x4deed030}, NULL, 0},
    {"sac_plane_test.pcd", 3283, 0, {0x7b79dd37, 0xbaddbe48, 0x3e62cfe5}, "curvature", 0x98104aa7},
    {"samp11-utm.pcd", 38010, 0, {0x1f6012f7, 0x534a9e1f, 0x02b699f2}, NULL, 0},
    {"table_scene_mug_stereo_textured.pcd", 307200, 640, {0x61fa1d54, 0x6ef73f52, 0x054865e3}, "", 0xc9066922},
};

void reads_real_files(void **state) {
    (void)state;
    static const char *const axes[] = {"x", "y", "z"}, *const color[] = {"blue", "green", "red", "alpha"};
    mote_context *ctx = test_context(2);
    for (size_t f = 0; f < sizeof real_files / sizeof real_files[0]; f++) {
        char name[128];
        uint64_t width = 0, height = 0;
        snprintf(name, sizeof name, "pcd/%s", real_files[f].name);
        const char *const path = test_data(name);
        if (path == NULL) continue;
        assert_string_equal(mote_file_format(ctx, path), "pcd");
        mote_cloud *cloud = test_read(ctx, path);
        assert_int_equal(mote_cloud_count(cloud), real_files[f].count);
        for (int k = 0; k < 3; k++) assert_int_equal(checksum(cloud, &axes[k], 1), real_files[f].xyz[k]);
        if (real_files[f].other != NULL) {
            const bool packed = real_files[f].other[0] == '\0';
            const uint32_t crc = checksum(cloud, packed ? color : &real_files[f].other, packed ? 4 : 1);
            assert_int_equal(crc, real_files[f].other_crc);
        }
        assert_int_equal(mote_cloud_grid(cloud, &width, &height), real_files[f].width > 0);
        assert_int_equal(width, real_files[f].width);
        pcd_check_round_trips(ctx, cloud);
        mote_cloud_destroy(cloud);
    }
    static const char *const utm[] = {"pcd/utm17_comma.pcd", "pcd/utm17_tab.pcd"};
    for (int i = 0; i < 2; i++) {
        const char *const path = test_data(utm[i]);
        if (path == NULL) continue;
        mote_cloud *cloud = test_read(ctx, path);
        assert_true(mote_cloud_count(cloud) == 10 && test_value(cloud, "y", 9) == 4320980.59);
        mote_cloud_destroy(cloud);
    }
    const char *const path = test_data("broken/missingheader.pcd");
    mote_cloud *cloud = NULL;
    if (path != NULL) {
        assert_int_equal(mote_cloud_read(ctx, path, NULL, &cloud), MOTE_ERROR_DATA);
        assert_non_null(strstr(mote_context_message(ctx), "offset 0: \"289814.15\" begins no line of a PCD header"));
    }
    mote_context_destroy(ctx);
}
