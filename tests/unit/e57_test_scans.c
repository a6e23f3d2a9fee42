/* Scans: poses, spherical coordinates, invalid points, fields that differ, and real files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "e57_test.h"

#define POSE                                                                                                           \
    "<pose type=\"Structure\"><rotation type=\"Structure\"><w type=\"Float\">%.17g</w><x type=\"Float\">%.17g</x>"     \
    "<y type=\"Float\">%.17g</y><z type=\"Float\">%.17g</z></rotation><translation type=\"Structure\">"                \
    "<x type=\"Float\">%.17g</x><y type=\"Float\">%.17g</y><z type=\"Float\">%.17g</z></translation></pose>\n"

/* Three coordinates of n points as fields. */
typedef struct points {
    double *values[3];
    uint64_t *bits[3];
    e57_reference_field fields[8];
    uint32_t field_count;
    uint64_t count;
} points;

static points make_points(uint64_t seed, uint64_t count) {
    static const char *const names[] = {"cartesianX", "cartesianY", "cartesianZ"};
    points p = {.field_count = 3, .count = count};
    for (uint64_t k = 0; k < 3; k++) {
        p.values[k] = e57_coordinates(3 * seed + k, count);
        p.bits[k] = e57_doubles(p.values[k], count);
        p.fields[k] = (e57_reference_field){names[k], E57_DOUBLE_FIELD, 64, p.bits[k], NULL};
    }
    return p;
}

static void free_points(points *p) {
    for (int k = 0; k < 3; k++) {
        free(p->values[k]);
        free(p->bits[k]);
    }
}

/* v turned by a quaternion, by q v q*. */
static void rotate(const double q[4], const double v[3], double out[3]) {
    const double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double w = q[0] / n, u[3] = {q[1] / n, q[2] / n, q[3] / n};
    const double c[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    const double d[3] = {u[1] * c[2] - u[2] * c[1], u[2] * c[0] - u[0] * c[2], u[0] * c[1] - u[1] * c[0]};
    for (int k = 0; k < 3; k++) out[k] = v[k] + 2 * (w * c[k] + d[k]);
}

static mote_cloud *read_scans(mote_context *ctx, const e57_reference_scan *scans, uint32_t count,
                              const mote_read_params *params) {
    const e57_reference_file file = {" xmlns:nor=\"http://www.libe57.org/E57_NOR_surface_normals.txt\"", NULL, scans,
                                     count};
    size_t size = 0;
    uint8_t *const bytes = e57_reference_make(&file, &size);
    mote_cloud *const cloud = e57_read_bytes(ctx, bytes, size, params);
    free(bytes);
    return cloud;
}

/* ---- poses */

void poses_are_applied_or_kept(void **state) {
    (void)state;
    enum { SCANS = 5, POINTS = 700 };
    mote_context *ctx = test_context(2);
    char xml[SCANS][1000];
    double q[SCANS][4], t[SCANS][3];
    points p[SCANS];
    e57_reference_scan scans[SCANS];
    for (uint64_t s = 0; s < SCANS; s++) {
        for (uint64_t k = 0; k < 4; k++) q[s][k] = test_random(s + 50, k) - 0.5;
        for (uint64_t k = 0; k < 3; k++) t[s][k] = 1e6 * test_random(s + 60, k);
        p[s] = make_points(s, POINTS + s);
        snprintf(xml[s], sizeof xml[s], "<name type=\"String\">station %d</name>\n" POSE, (int)s, q[s][0], q[s][1],
                 q[s][2], q[s][3], t[s][0], t[s][1], t[s][2]);
        scans[s] = (e57_reference_scan){xml[s], p[s].fields, 3, p[s].count, 0, 300, false};
    }
    mote_read_params params = mote_read_defaults();
    for (int keeps = 0; keeps < 2; keeps++) {
        params.keep_poses = keeps;
        mote_cloud *const cloud = read_scans(ctx, scans, SCANS, &params);
        uint64_t i = 0;
        for (uint64_t s = 0; s < SCANS; s++) {
            const mote_record *const record = mote_cloud_record(cloud, (uint32_t)s);
            char text[1000] = "", number[40];
            assert_int_equal(record->record_id, s + 1);
            memcpy(text, record->data, record->size_bytes);
            snprintf(number, sizeof number, "name station %d\nposition ", (int)s);
            assert_memory_equal(text, number, strlen(number));
            assert_non_null(strstr(text, keeps ? "pose kept" : "pose applied"));
            for (uint64_t n = 0; n < p[s].count; n++, i++) {
                const double v[3] = {p[s].values[0][n], p[s].values[1][n], p[s].values[2][n]};
                double turned[3];
                rotate(q[s], v, turned);
                for (int k = 0; k < 3; k++) {
                    const double expected = keeps ? v[k] : turned[k] + t[s][k];
                    assert_true(fabs(mote_column_value(mote_cloud_column(cloud, (uint32_t)k), i) - expected) <=
                                (keeps ? 0 : 1e-9));
                }
                assert_int_equal(test_value(cloud, "point_source_id", i), s + 1);
            }
        }
        assert_int_equal(mote_cloud_count(cloud), i);
        mote_cloud_destroy(cloud);
    }
    for (int s = 0; s < SCANS; s++) free_points(&p[s]);
    mote_context_destroy(ctx);
}

void normals_turn_with_the_pose(void **state) {
    (void)state;
    enum { POINTS = 300 };
    static const char *const names[] = {"nor:normalX", "nor:normalY", "nor:normalZ"};
    mote_context *ctx = test_context(1);
    points p = make_points(1, POINTS);
    uint64_t *bits[3];
    float normals[3][POINTS];
    const double q[4] = {0.5, -0.5, 0.5, 0.5};
    char xml[1000];
    for (uint64_t k = 0; k < 3; k++) {
        for (uint64_t i = 0; i < POINTS; i++) normals[k][i] = (float)(2 * test_random(k + 9, i) - 1);
        bits[k] = e57_singles(normals[k], POINTS);
        p.fields[3 + k] = (e57_reference_field){names[k], E57_SINGLE_FIELD, 32, bits[k], NULL};
    }
    snprintf(xml, sizeof xml, POSE, q[0], q[1], q[2], q[3], 1.0, 2.0, 3.0);
    const e57_reference_scan scan = {xml, p.fields, 6, POINTS, 0, 100, false};
    mote_read_params params = mote_read_defaults();
    for (int keeps = 0; keeps < 2; keeps++) {
        params.keep_poses = keeps;
        mote_cloud *const cloud = read_scans(ctx, &scan, 1, &params);
        test_columns_are(cloud, "x:double y:double z:double point_source_id:uint16 normal_x:float normal_y:float "
                                "normal_z:float");
        for (uint64_t i = 0; i < POINTS; i++) {
            const double v[3] = {(double)normals[0][i], (double)normals[1][i], (double)normals[2][i]};
            double turned[3];
            rotate(q, v, turned);
            for (uint32_t k = 0; k < 3; k++) {
                const double value = mote_column_value(mote_cloud_column(cloud, 4 + k), i);
                assert_true(fabs(value - (keeps ? v[k] : turned[k])) <= 1e-7);
            }
        }
        mote_cloud_destroy(cloud);
    }
    for (int k = 0; k < 3; k++) free(bits[k]);
    free_points(&p);
    mote_context_destroy(ctx);
}

/* ---- spherical */

void spherical_coordinates_are_converted(void **state) {
    (void)state;
    enum { POINTS = 2000 };
    static const char *const names[] = {"sphericalRange", "sphericalAzimuth", "sphericalElevation"};
    char warning[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(warning);
    points p = make_points(4, POINTS);
    for (int k = 0; k < 3; k++) p.values[0][k] = 0;
    for (int k = 0; k < 3; k++) {
        p.fields[k].name = names[k];
        for (uint64_t i = 0; i < POINTS; i++) p.values[k][i] *= k == 0 ? 1 : 0.03;
        free(p.bits[k]);
        p.fields[k].values = p.bits[k] = e57_doubles(p.values[k], POINTS);
    }
    const e57_reference_scan scan = {"", p.fields, 3, POINTS, 0, 333, false};
    mote_cloud *const cloud = read_scans(ctx, &scan, 1, NULL);
    assert_non_null(strstr(warning, "3 points that the file does not call invalid are at 0 0 0"));
    for (uint64_t i = 0; i < POINTS; i++) {
        const double r = p.values[0][i], a = p.values[1][i], e = p.values[2][i];
        assert_true(fabs(test_value(cloud, "x", i) - r * cos(e) * cos(a)) < 1e-12);
        assert_true(fabs(test_value(cloud, "y", i) - r * cos(e) * sin(a)) < 1e-12);
        assert_true(fabs(test_value(cloud, "z", i) - r * sin(e)) < 1e-12);
    }
    mote_cloud_destroy(cloud);
    free_points(&p);
    mote_context_destroy(ctx);
}

/* ---- invalid */

void invalid_points_are_left_out(void **state) {
    (void)state;
    enum { POINTS = 5000 };
    char warning[TEST_MESSAGE_BYTES], told[100];
    mote_context *ctx = test_context_listening(warning);
    points p = make_points(5, POINTS);
    uint64_t states[POINTS], invalid = 0, k = 0;
    for (uint64_t i = 0; i < POINTS; i++) {
        states[i] = i < 2000 ? i % 3 : i < 4000 ? 2 : 0; /* some blocks are whole, some empty */
        invalid += states[i] != 0;
    }
    p.fields[3] =
        (e57_reference_field){"cartesianInvalidState", "type=\"Integer\" minimum=\"0\" maximum=\"2\"", 2, states, NULL};
    const e57_reference_scan scan = {"", p.fields, 4, POINTS, 0, 200, false};
    mote_cloud *const cloud = read_scans(ctx, &scan, 1, NULL);
    snprintf(told, sizeof told, "%d records that the file calls invalid", (int)invalid);
    assert_non_null(strstr(warning, told));
    assert_int_equal(mote_cloud_count(cloud), POINTS - invalid);
    for (uint64_t i = 0; i < POINTS; i++) {
        if (states[i] == 0) assert_true(test_value(cloud, "y", k++) == p.values[1][i]);
    }
    test_columns_are(cloud, "x:double y:double z:double point_source_id:uint16");
    mote_cloud_destroy(cloud);
    free_points(&p);
    mote_context_destroy(ctx);
}

/* ---- fields that differ */

void scans_of_different_fields_are_united(void **state) {
    (void)state;
    enum { POINTS = 100 };
    mote_context *ctx = test_context(1);
    points a = make_points(6, POINTS), b = make_points(7, POINTS);
    uint64_t *const bytes = e57_random(20, POINTS, 8), *const words = e57_random(21, POINTS, 16);
    float singles[POINTS];
    for (uint64_t i = 0; i < POINTS; i++) singles[i] = (float)test_random(22, i);
    uint64_t *const reals = e57_singles(singles, POINTS);
    /* Intensity of two kinds, colour of two depths, rows of two ranges, and one that only the second scan has. */
    a.fields[3] =
        (e57_reference_field){"intensity", "type=\"Integer\" minimum=\"-100\" maximum=\"155\"", 8, bytes, NULL};
    a.fields[4] = (e57_reference_field){"colorRed", "type=\"Integer\" minimum=\"0\" maximum=\"255\"", 8, bytes, NULL};
    a.fields[5] = (e57_reference_field){"rowIndex", "type=\"Integer\" minimum=\"0\" maximum=\"255\"", 8, bytes, NULL};
    b.fields[3] = (e57_reference_field){"intensity", E57_SINGLE_FIELD, 32, reals, NULL};
    b.fields[4] =
        (e57_reference_field){"colorRed", "type=\"Integer\" minimum=\"0\" maximum=\"65535\"", 16, words, NULL};
    b.fields[5] =
        (e57_reference_field){"rowIndex", "type=\"Integer\" minimum=\"-10\" maximum=\"65525\"", 16, words, NULL};
    b.fields[6] = (e57_reference_field){"oddName", "type=\"Integer\" minimum=\"5\" maximum=\"260\"", 8, bytes, NULL};
    const e57_reference_scan scans[] = {{"", a.fields, 6, POINTS, 0, 50, false},
                                        {"", b.fields, 7, POINTS, 0, 50, true}};
    mote_cloud *const cloud = read_scans(ctx, scans, 2, NULL);
    test_columns_are(cloud, "x:double y:double z:double point_source_id:uint16 intensity:double red:uint16 "
                            "row_index:int32 oddName:uint16");
    for (uint64_t i = 0; i < POINTS; i++) {
        assert_true(test_value(cloud, "intensity", i) == (double)bytes[i] - 100);
        assert_true(test_value(cloud, "intensity", POINTS + i) == (double)singles[i]);
        assert_true(test_value(cloud, "red", i) == (double)bytes[i] * 257);
        assert_true(test_value(cloud, "red", POINTS + i) == (double)words[i]);
        assert_true(test_value(cloud, "row_index", i) == (double)bytes[i]);
        assert_true(test_value(cloud, "row_index", POINTS + i) == (double)words[i] - 10);
        assert_true(test_value(cloud, "oddName", i) == 0);
        assert_true(test_value(cloud, "oddName", POINTS + i) == (double)bytes[i] + 5);
    }
    mote_cloud_destroy(cloud);
    free(bytes);
    free(words);
    free(reals);
    free_points(&a);
    free_points(&b);
    mote_context_destroy(ctx);
}

void colours_of_any_depth(void **state) {
    (void)state;
    enum { POINTS = 1024 };
    static const struct {
        const char *limits, *attributes, *type;
        uint32_t bits;
        double low, high; /* of the stored numbers; high 0: they stay as they are */
    } cases[] = {
        {"", "type=\"Integer\" minimum=\"0\" maximum=\"255\"", "uint8", 8, 0, 0},
        /* What some programs call limits is the range of the points. */
        {"<colorLimits type=\"Structure\"><colorRedMinimum type=\"Integer\">3</colorRedMinimum>"
         "<colorRedMaximum type=\"Integer\">90</colorRedMaximum></colorLimits>",
         "type=\"Integer\" minimum=\"0\" maximum=\"255\"", "uint8", 8, 0, 0},
        {"", "type=\"Integer\" minimum=\"0\" maximum=\"65535\"", "uint16", 16, 0, 0},
        {"", "type=\"Integer\" minimum=\"0\" maximum=\"1023\"", "uint16", 10, 0, 1023},
        {"<colorLimits type=\"Structure\"><colorRedMinimum type=\"Integer\">0</colorRedMinimum>"
         "<colorRedMaximum type=\"Integer\">1000</colorRedMaximum></colorLimits>",
         "type=\"Integer\" minimum=\"0\" maximum=\"1023\"", "uint16", 10, 0, 1000},
        {"<colorLimits type=\"Structure\"><colorRedMinimum type=\"Integer\"/>"
         "<colorRedMaximum type=\"Integer\">1023</colorRedMaximum></colorLimits>",
         "type=\"Integer\" minimum=\"0\"", "uint16", 63, 0, 1023},
    };
    mote_context *ctx = test_context(1);
    points p = make_points(8, POINTS);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char expected[100];
        uint64_t *const values = e57_random(30 + c, POINTS, cases[c].bits == 63 ? 11 : cases[c].bits);
        p.fields[3] = (e57_reference_field){"colorRed", cases[c].attributes, cases[c].bits, values, NULL};
        const e57_reference_scan scan = {cases[c].limits, p.fields, 4, POINTS, 0, 500, false};
        mote_cloud *const cloud = read_scans(ctx, &scan, 1, NULL);
        snprintf(expected, sizeof expected, "x:double y:double z:double point_source_id:uint16 red:%s", cases[c].type);
        test_columns_are(cloud, expected);
        for (uint64_t i = 0; i < POINTS; i++) {
            const double stored = (double)values[i];
            const double share = cases[c].high > 0 ? stored / cases[c].high * 65535 : stored;
            assert_true(test_value(cloud, "red", i) == (share > 65535 ? 65535 : rint(share)));
        }
        mote_cloud_destroy(cloud);
        free(values);
    }
    free_points(&p);
    mote_context_destroy(ctx);
}

void time_stamps_and_returns(void **state) {
    (void)state;
    enum { POINTS = 64 };
    static const struct {
        const char *xml, *name;
        double shift;
    } cases[] = {
        {"", "time_stamp", 0},
        {"<acquisitionStart type=\"Structure\"><dateTimeValue type=\"Float\">1.3e9</dateTimeValue>"
         "<isAtomicClockReferenced type=\"Integer\"/></acquisitionStart>",
         "time_stamp", 0},
        {"<acquisitionStart type=\"Structure\"><dateTimeValue type=\"Float\">1.3e9</dateTimeValue>"
         "<isAtomicClockReferenced type=\"Integer\">1</isAtomicClockReferenced></acquisitionStart>",
         "gps_time", 0.3e9},
    };
    mote_context *ctx = test_context(1);
    points p = make_points(9, POINTS);
    double *const times = e57_coordinates(99, POINTS);
    uint64_t *const stamps = e57_doubles(times, POINTS), *const returns = e57_random(98, POINTS, 3);
    p.fields[3] = (e57_reference_field){"timeStamp", E57_DOUBLE_FIELD, 64, stamps, NULL};
    p.fields[4] =
        (e57_reference_field){"returnIndex", "type=\"Integer\" minimum=\"0\" maximum=\"7\"", 3, returns, NULL};
    p.fields[5] =
        (e57_reference_field){"returnCount", "type=\"Integer\" minimum=\"1\" maximum=\"8\"", 3, returns, NULL};
    for (size_t c = 0; c < 3; c++) {
        const e57_reference_scan scan = {cases[c].xml, p.fields, 6, POINTS, 0, 500, false};
        mote_cloud *const cloud = read_scans(ctx, &scan, 1, NULL);
        for (uint64_t i = 0; i < POINTS; i++) {
            assert_true(test_value(cloud, cases[c].name, i) == times[i] + cases[c].shift);
            assert_true(test_value(cloud, "return_number", i) == (double)returns[i] + 1);
            assert_true(test_value(cloud, "number_of_returns", i) == (double)returns[i] + 1);
        }
        mote_cloud_destroy(cloud);
    }
    free(times);
    free(stamps);
    free(returns);
    free_points(&p);
    mote_context_destroy(ctx);
}

/* ---- real files */

static const struct {
    const char *name, *message; /* message NULL: it is read */
    uint64_t count;
    double box[6];
} real_files[] = {
    {"e57/A_B.e57", NULL, 6, {-44.9522018, -1.3493, -0.6077, -42.6394997, 2.0578001, 0.6667}},
    {"e57/A_moved_B.e57", NULL, 6, {-44.1194382, 0.7053028, -0.6077, -42.6394997, 2.0578001, 0.6667}},
    {"e57/ColouredCubeFloat.e57", NULL, 7680, {-0.5, -0.5, -0.5, 0.5, 0.5, 0.5}},
    {"e57/PinholeImageWithDistortionParameters.e57", "no scans", 0, {0}},
    {"e57/ZeroPoints.e57", NULL, 0, {0}},
    {"e57/bunnyDouble.e57", NULL, 30571, {-0.094689, 0.040011, -0.061873, 0.061009, 0.187321, 0.058799}},
    {"e57/bunnyInt19.e57", NULL, 30571, {-0.094689, 0.040011, -0.061873, 0.061009, 0.187321, 0.058799}},
    {"e57/bunnyInt32.e57", NULL, 30571, {-0.094689, 0.040011, -0.061873, 0.061009, 0.187321, 0.058799}},
    {"e57/cryinc_bunnyFloat.e57", NULL, 30571, {-0.094689, 0.040011, -0.061873, 0.061009, 0.187321, 0.058799}},
    {"e57/cryinc_bunnyInt24.e57", NULL, 30571, {-0.094689, 0.040011, -0.061873, 0.061009, 0.187321, 0.058799}},
    {"e57/cryinc_cartesian_invalid_state_single.e57", NULL, 1, {-1, -2, -3, -1, -2, -3}},
    {"e57/cryinc_empty_pc.e57", NULL, 0, {0}},
    {"e57/cryinc_float_intensity_without_min_max.e57", NULL, 1, {1, 1, 1, 1, 1, 1}},
    {"e57/cryinc_integer_intensity.e57", NULL, 2, {1.1, 2.2, 3.3, 4.4, 5.5, 6.6}},
    {"e57/cryinc_tiny_pc_with_extension.e57", NULL, 1, {1, 2, 3, 1, 2, 3}},
    {"e57/olv_synthetic-normals.e57", NULL, 6, {0, 0, 0, 1.5, 3, 6}},
    {"e57/pdal_A4.e57", NULL, 4, {-44.9522018, -1.3493, -0.6077, -44.300098, -0.886, 0.3694}},
    {"e57/pdal_A_merged_B.e57", NULL, 6, {-44.9522018, -1.3493, -0.6077, -42.6394997, 2.0578001, 0.6667}},
    {"e57/pdal_B2.e57", NULL, 2, {-42.6422997, 1.8726, 0.5101, -42.6394997, 2.0578001, 0.6667}},
    {"e57/pumpARowColumnIndexNoInvalidPoints.e57",
     NULL,
     155201,
     {-2.903763, -5.301102, -1.899704, 1.721603, -0.792648, 1.843002}},
    {"e57/pye57_testWithNormals.e57", NULL, 2, {1, 0, 0, 2, 0, 0}},
    {"e57/tinyCartesianFloatRgb.e57",
     NULL,
     2090,
     {-9.7795296, 4.5138793, 295.5246887, -6.7742381, 7.5154605, 298.5321655}},
    {"e57/tiny_pc_and_images.e57", NULL, 2, {0, 0, 0, 1, 1, 1}},
    {"e57/tiny_spherical.e57", NULL, 180, {6.3413623e-07, -0.4999986, 0, 1, 0.4999998, 0.9999997}},
    {"e57/broken/InvalidFileLength.e57", "offset 120: the file ends within the first page", 0, {0}},
    {"broken/InvalidCVHeader.e57", NULL, 0, {0}},
    {"broken/ZeroPointsInvalid.e57", NULL, 0, {0}},
    {"broken/bad-crc.e57", "offset 0: the checksum", 0, {0}},
    {"broken/cryinc_corrupt_crc.e57", "offset 33792: the checksum", 0, {0}},
    {"broken/cryinc_read_error.e57", NULL, 2651, {0}},
    {"broken/empty.e57", "no scans", 0, {0}},
};

void real_files_are_read(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof real_files / sizeof real_files[0]; f++) {
        const char *const path = test_data(real_files[f].name);
        mote_context *ctx = test_context(2);
        mote_cloud *cloud = NULL;
        mote_box box;
        if (path == NULL) {
            mote_context_destroy(ctx);
            continue;
        }
        const mote_status status = mote_cloud_read(ctx, path, NULL, &cloud);
        if (real_files[f].message != NULL) {
            assert_int_equal(status, MOTE_ERROR_DATA);
            assert_non_null(strstr(mote_context_message(ctx), real_files[f].message));
        } else {
            if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
            assert_int_equal(status, MOTE_OK);
            assert_int_equal(mote_cloud_count(cloud), real_files[f].count);
            assert_int_equal(mote_cloud_bounds(ctx, cloud, &box, NULL), MOTE_OK);
            for (int k = 0; k < 3 && real_files[f].count > 0; k++) {
                assert_true(fabs(box.min[k] - real_files[f].box[k]) < 1e-6);
                assert_true(fabs(box.max[k] - real_files[f].box[3 + k]) < 1e-6);
            }
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}
