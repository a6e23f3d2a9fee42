/* Names of attributes as other programs write them, in every format that is read. */
#include "core/standard_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cloud_files.h"

static void knows_what_programs_write(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"ReturnNumber", "return_number"},
        {"returnnumber", "return_number"},
        {"return number", "return_number"},
        {"scalar_Return_Number", "return_number"},
        {"NumberOfReturns", "number_of_returns"},
        {"num_returns", "number_of_returns"},
        {"GpsTime", "gps_time"},
        {"gps-time", "gps_time"},
        {"GPS.Time", "gps_time"},
        {"scalar_GPS_Time", "gps_time"},
        {"PointSourceId", "point_source_id"},
        {"point_source_ID", "point_source_id"},
        {"pt_src_id", "point_source_id"},
        {"ScanAngleRank", "scan_angle_rank"},
        {"Scan Angle", "scan_angle"},
        {"scalar_Intensity", "intensity"},
        {"Classification", "classification"},
        {"class", "classification"},
        {"Synthetic", "synthetic"},
        {"KeyPoint", "key_point"},
        {"Key Point flag", "key_point"},
        {"Withheld", "withheld"},
        {"Overlap flag", "overlap"},
        {"ScanChannel", "scanner_channel"},
        {"EdgeOfFlightLine", "edge_of_flight_line"},
        {"ScanDirectionFlag", "scan_direction_flag"},
        {"direction_of_scan_flag", "scan_direction_flag"},
        {"UserData", "user_data"},
        {"Infrared", "nir"},
        {"NormalX", "normal_x"},
        {"scalar_Nx", "normal_x"},
        {"diffuse_red", "red"},
        {"Rf", "red"},
        {"Curvature", "curvature"},
        {"raw_classification", "classification"},
        {"scan_dir_flag", "scan_direction_flag"},
        {"edge_flight_line", "edge_of_flight_line"},
        {"wave_packet_desc_index", "wave_packet_index"},
        {"waveform_packet_size", "wave_packet_size"},
        {"return_point_waveform_loc", "wave_return_location"},
        {"x_t", "wave_x"},
        {"scalar_Scan_Direction", "scan_direction_flag"},
        {"scalar_Flightline_Edge", "edge_of_flight_line"},
        {"scalar_[Classif]_Value", "classification"},
        {"[Classif] Synthetic flag", "synthetic"},
        {"[Classif] Key-point flag", "key_point"},
        {"[Classif] Withheld flag", "withheld"},
        {"[Classif] Overlap flag", "overlap"},
        {"X", "x"},
        {"scalar_X", NULL},
        {"Scalar_field_#2", NULL},
        {"Amplitude", NULL},
        {"Reflectance", NULL},
        {"label", NULL},
        {"", NULL},
        {"a name that is longer than any other of those that are known", NULL},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const found = mote_standard_name(names[i][0]);
        if (found == NULL && names[i][1] == NULL) continue;
        if (found == NULL || names[i][1] == NULL || strcmp(found, names[i][1]) != 0) {
            fail_msg("\"%s\" is %s, not %s", names[i][0], found != NULL ? found : "none",
                     names[i][1] != NULL ? names[i][1] : "none");
        }
    }
}

static void each_meaning_has_one_name(void **state) {
    (void)state;
    /* The best spelling, then the first; letters in groups, and only where nothing else means the same. */
    static const char *const names[] = {"GpsTime", "gps_time", "Class", "CLASSIFICATION", "r",  "g", "b", "a", "nx",
                                        "ny",      "i",        NULL,    "time",           "x_t"};
    static const char *const expected[] = {NULL, "gps_time", "classification", NULL, "red", "green", "blue", "alpha",
                                           NULL, NULL,       "intensity",      NULL, NULL,  NULL};
    enum { COUNT = sizeof names / sizeof names[0] };
    const char *found[COUNT];
    mote_standard_names(names, COUNT, found);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(found[i] == NULL, expected[i] == NULL);
        if (found[i] != NULL) assert_string_equal(found[i], expected[i]);
    }
    static const char *const taken[] = {"r", "g", "b", "Red", "i", "Intensity"};
    mote_standard_names(taken, 6, found);
    assert_null(found[0]);
    assert_null(found[4]);
    assert_string_equal(found[3], "red");
}

static void people_may_spell_as_they_like(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {{"x", MOTE_FLOAT64, 0, 0},
                                      {"gps_time", MOTE_FLOAT64, 0, 0},
                                      {"Echo Width", MOTE_UINT8, 0, 0},
                                      {"class", MOTE_UINT8, 0, 0},
                                      {"classification", MOTE_UINT8, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 1, specs, 5, &cloud), MOTE_OK);
    assert_string_equal(mote_cloud_match(cloud, "GpsTime")->name, "gps_time");
    assert_string_equal(mote_cloud_match(cloud, "time")->name, "gps_time");
    assert_string_equal(mote_cloud_match(cloud, "echo_width")->name, "Echo Width");
    assert_string_equal(mote_cloud_match(cloud, "class")->name, "class");
    assert_string_equal(mote_cloud_match(cloud, "Class")->name, "classification");
    assert_null(mote_cloud_match(cloud, "echo"));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- in files */

#define LAS_COLUMNS                                                                                                    \
    "x:int32 y:int32 z:int32 intensity:uint16 return_number:uint8 number_of_returns:uint8 scan_direction_flag:uint8 "  \
    "edge_of_flight_line:uint8 classification:uint8 synthetic:uint8 key_point:uint8 withheld:uint8 "                   \
    "scan_angle_rank:int8 user_data:uint8 point_source_id:uint16 gps_time:double"

/* What a text becomes as LAS. */
static mote_cloud *as_las(mote_context *ctx, const char *ending, const char *text) {
    char name[32];
    snprintf(name, sizeof name, "names.%s", ending);
    test_write_file(test_path(name), text, strlen(text));
    mote_cloud *cloud = test_read(ctx, test_path(name));
    test_write(ctx, cloud, test_path("names.las"), NULL);
    mote_cloud_destroy(cloud);
    return test_read(ctx, test_path("names.las"));
}

static void become_the_fields_of_las(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    static const char *const texts[][2] = {
        {"ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty double X\nproperty double Y\nproperty double Z\n"
                "property uint16 Intensity\nproperty uint8 ReturnNumber\nproperty uint8 NumberOfReturns\n"
                "property float Classification\nproperty float ScanAngleRank\nproperty uint8 UserData\n"
                "property uint16 PointSourceId\nproperty double GpsTime\nend_header\n1 2 3 70 2 3 5 -7 9 11 1234.5\n"},
        {"pcd",
         "VERSION 0.7\nFIELDS X Y Z Intensity ReturnNumber NumberOfReturns Classification ScanAngleRank UserData "
         "PointSourceId GpsTime\nSIZE 8 8 8 2 1 1 4 4 1 2 8\nTYPE F F F U U U F F U U F\nWIDTH 1\nHEIGHT 1\n"
         "DATA ascii\n1 2 3 70 2 3 5 -7 9 11 1234.5\n"},
        {"csv", "X,Y,Z,Intensity,ReturnNumber,NumberOfReturns,Classification,ScanAngleRank,UserData,PointSourceId,"
                "GpsTime\n1,2,3,70,2,3,5,-7,9,11,1234.5\n"},
        {"txt", "//X Y Z scalar_Intensity scalar_Return_Number scalar_Number_Of_Returns scalar_Classification "
                "scalar_Scan_Angle_Rank scalar_User_Data scalar_Point_Source_ID scalar_GPS_Time\n"
                "1 2 3 70 2 3 5 -7 9 11 1234.5\n"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mote_cloud *cloud = as_las(ctx, texts[i][0], texts[i][1]);
        test_columns_are(cloud, LAS_COLUMNS);
        static const char *const names[] = {"intensity",       "return_number", "number_of_returns", "classification",
                                            "scan_angle_rank", "user_data",     "point_source_id",   "gps_time"};
        static const double values[] = {70, 2, 3, 5, -7, 9, 11, 1234.5};
        for (int k = 0; k < 8; k++) assert_true(test_value(cloud, names[k], 0) == values[k]);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* A PLY of one float attribute; what LAS makes of it. */
static mote_cloud *of_float(mote_context *ctx, const char *name, double value) {
    char text[400];
    snprintf(text, sizeof text,
             "ply\nformat ascii 1.0\nelement vertex 2\nproperty double x\nproperty double y\nproperty double z\n"
             "property float %s\nend_header\n1 2 3 %.9g\n1 2 4 %.9g\n",
             name, (double)(float)value, (double)(float)value);
    return as_las(ctx, "ply", text);
}

static void nothing_is_lost_where_a_field_is_narrower(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    /* Steps of 0.006 degrees are the scan angle of formats 6 and later. */
    mote_cloud *cloud = of_float(ctx, "ScanAngleRank", 2001 * 0.006);
    assert_int_equal(mote_column_integer(test_column(cloud, "scan_angle"), 0), 2001);
    assert_null(mote_cloud_find(cloud, "scan_angle_rank"));
    mote_cloud_destroy(cloud);
    /* Other fractions are extra bytes as well. */
    cloud = of_float(ctx, "ScanAngleRank", 12.0071);
    assert_true(test_value(cloud, "scan_angle_rank", 1) == (double)12.0071f ||
                test_value(cloud, "scan_angle_rank_2", 1) == (double)12.0071f);
    mote_cloud_destroy(cloud);
    /* Whole degrees under the name of the finer angle. */
    cloud = of_float(ctx, "ScanAngle", -8);
    assert_true(test_value(cloud, "scan_angle_rank", 0) == -8);
    mote_cloud_destroy(cloud);
    /* Shares of white are 16 bits; what these do not hold is kept besides. */
    cloud = of_float(ctx, "Intensity", 1000.0 / 65535);
    assert_true(test_value(cloud, "intensity", 0) == 1000);
    assert_null(mote_cloud_find(cloud, "intensity_2"));
    mote_cloud_destroy(cloud);
    cloud = of_float(ctx, "Intensity", 0.123);
    assert_true(test_value(cloud, "intensity", 0) == 8061);
    assert_true(test_value(cloud, "intensity_2", 1) == (double)0.123f);
    mote_cloud_destroy(cloud);
    /* Out of range: extra bytes alone. */
    cloud = of_float(ctx, "Classification", 300);
    assert_true(test_value(cloud, "classification", 0) == 0);
    assert_true(test_value(cloud, "classification_2", 1) == 300);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A name that means something else in another format stays what it was. */
static void a_name_that_is_taken_comes_back(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {
        {"x", MOTE_FLOAT64, 0, 0},     {"y", MOTE_FLOAT64, 0, 0},     {"z", MOTE_FLOAT64, 0, 0},
        {"GpsTime", MOTE_UINT8, 0, 0}, {"NormalX", MOTE_UINT8, 0, 0}, {"r", MOTE_UINT8, 0, 0},
        {"g", MOTE_UINT8, 0, 0},       {"b", MOTE_UINT8, 0, 0},       {"scalar_Intensity", MOTE_FLOAT32, 0, 0}};
    static const char *const endings[] = {"again.ply", "again.pcd"};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 2, specs, 9, &cloud), MOTE_OK);
    for (int e = 0; e < 2; e++) {
        test_write(ctx, cloud, test_path(endings[e]), NULL);
        mote_cloud *again = test_read(ctx, test_path(endings[e]));
        test_same_columns(cloud, again, true);
        mote_cloud_destroy(again);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_programs_write),
        cmocka_unit_test(each_meaning_has_one_name),
        cmocka_unit_test(people_may_spell_as_they_like),
        cmocka_unit_test(become_the_fields_of_las),
        cmocka_unit_test(nothing_is_lost_where_a_field_is_narrower),
        cmocka_unit_test(a_name_that_is_taken_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
