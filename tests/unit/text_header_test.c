/* Headers of text files in the words of the field, and names with the number of an element. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"
#include "support/cloud_files.h"

/* A header, and which of its columns (from 1) become x, y and z; 0: refused. */
typedef struct header_case {
    const char *header;
    int x, y, z;
} header_case;

static const header_case headers[] = {
    {"x,y,z", 1, 2, 3},
    {"X,Y,Z", 1, 2, 3},
    {"longitude,latitude,elevation", 1, 2, 3},
    {"latitude,longitude,elevation", 2, 1, 3},
    {"Lat,Lon,Height", 2, 1, 3},
    {"LAT,LONG,ALT", 2, 1, 3},
    {"lng,lat,altitude", 1, 2, 3},
    {"Easting,Northing,Elevation", 1, 2, 3},
    {"Northing,Easting,Elev", 2, 1, 3},
    {"elev,easting,northing", 2, 3, 1},
    {"E,N,H", 1, 2, 3},
    {"POINT_X,POINT_Y,POINT_Z", 1, 2, 3},
    {"x_coord,y_coord,z_coord", 1, 2, 3},
    {"X-Coordinate,Y-Coordinate,Z-Coordinate", 1, 2, 3},
    {"coord_x,coord_y,coord_z", 1, 2, 3},
    {"cartesianX,cartesianY,cartesianZ", 1, 2, 3},
    {"pos.x,pos.y,pos.z", 1, 2, 3},
    {"X [m],Y [m],Z [m]", 1, 2, 3},
    {"Longitude (deg),Latitude (deg),Height (m)", 1, 2, 3},
    {"\"Longitude\",\"Latitude\",\"Ellipsoidal Height\"", 1, 2, 3},
    {"'lon','lat','elev'", 1, 2, 3},
    {"\xEF\xBB\xBFlon,lat,elev", 1, 2, 3},
    {"\xEF\xBB\xBF\"Lat [°]\",\"Lon [°]\",\"Elev [m]\"", 2, 1, 3},
    {"# lat lon height", 2, 1, 3},
    {"//Lon,Lat,Elev", 1, 2, 3},
    {"lon;lat;height", 1, 2, 3},
    {"lon\tlat\theight", 1, 2, 3},
    {"lon lat height", 1, 2, 3},
    {"lon,lat,depth", 0, 0, 0},
    {"lon,northing,z", 0, 0, 0},
    {"a,b,c", 0, 0, 0},
    {"x,y,nothing", 0, 0, 0},
};

static mote_status read_text(mote_context *ctx, const char *name, const char *text, const char *columns,
                             mote_cloud **cloud) {
    mote_read_params params = mote_read_defaults();
    params.columns = columns;
    test_write_file(test_path(name), text, strlen(text));
    mote_context_clear(ctx);
    return mote_cloud_read(ctx, test_path(name), &params, cloud);
}

static void words_of_the_field_are_known(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++) {
        const header_case *c = &headers[h];
        char text[512];
        mote_cloud *cloud = NULL;
        const char separator = strpbrk(c->header, ",;\t") != NULL ? *strpbrk(c->header, ",;\t") : ' ';
        snprintf(text, sizeof text, "%s\n1.5%c2.5%c3.5\n4.5%c5.5%c6.5\n", c->header, separator, separator, separator,
                 separator);
        const mote_status status = read_text(ctx, "in.csv", text, NULL, &cloud);
        if (c->x == 0) {
            assert_int_equal(status, MOTE_ERROR_DATA);
            assert_non_null(strstr(mote_context_message(ctx), "--columns"));
            continue;
        }
        if (status != MOTE_OK) fail_msg("%s: %s", c->header, mote_context_message(ctx));
        const double found[] = {test_value(cloud, "x", 0), test_value(cloud, "y", 0), test_value(cloud, "z", 0)};
        if (found[0] != c->x + 0.5 || found[1] != c->y + 0.5 || found[2] != c->z + 0.5) {
            fail_msg("%s: %g %g %g", c->header, found[0], found[1], found[2]);
        }
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* What else a file may have: the better words are the positions, the others stay attributes. */
static void attributes_keep_their_names(void **state) {
    (void)state;
    static const struct {
        const char *header, *columns;
    } rows[] = {
        {"x,y,z,height,lat", "x:double y:double z:double height:double lat:double"},
        {"lon,lat,easting,northing,elevation", "lon:double lat:double x:double y:double z:double"},
        {"x,y,elevation,height,h", "x:double y:double z:double height:double h:double"},
        {"X,Y,Z,I,C", "x:double y:double z:double intensity:double C:double"},
        {"X,Y,Z,Intensity,GpsTime", "x:double y:double z:double intensity:double gps_time:double"},
        {"R,G,B,x,y,z", "red:double green:double blue:double x:double y:double z:double"},
        {"x,y,z,r,g,b,a,i",
         "x:double y:double z:double red:double green:double blue:double alpha:double intensity:double"},
        {"x,y,z,Rf,Gf,Bf", "x:double y:double z:double red:double green:double blue:double"},
        {"x,y,z,r,g", "x:double y:double z:double r:double g:double"},
        {"x,y,z,ReturnNumber,NumberOfReturns,ScanAngleRank",
         "x:double y:double z:double return_number:double number_of_returns:double scan_angle_rank:double"},
        {"x,y,z,Intensity [a.u.],Near Infrared", "x:double y:double z:double intensity:double nir:double"},
        {"x,y,z,colors[0],colors[1],colors[2]",
         "x:double y:double z:double colors[0]:double colors[1]:double colors[2]:double"},
        {"x,y,z,wave[10] [m]", "x:double y:double z:double wave[10]:double"},
    };
    mote_context *ctx = test_context(1);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        char text[512];
        mote_cloud *cloud = NULL;
        size_t commas = 0;
        for (const char *p = rows[r].header; *p != '\0'; p++) commas += *p == ',';
        int length = snprintf(text, sizeof text, "%s\n0.5", rows[r].header);
        for (size_t c = 0; c < commas; c++) length += snprintf(text + length, sizeof text - (size_t)length, ",0.5");
        snprintf(text + length, sizeof text - (size_t)length, "\n");
        if (read_text(ctx, "in.csv", text, NULL, &cloud) != MOTE_OK)
            fail_msg("%s: %s", rows[r].header, mote_context_message(ctx));
        test_columns_are(cloud, rows[r].columns);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Such words may be names where the caller names the columns. */
static void given_names_may_be_such_words(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    assert_int_equal(read_text(ctx, "in.txt", "1.5 2.5 3.5 4.5\n", "lat,-,lon,height", &cloud), MOTE_OK);
    test_columns_are(cloud, "y:double x:double z:double");
    assert_true(test_value(cloud, "x", 0) == 3.5 && test_value(cloud, "y", 0) == 1.5 &&
                test_value(cloud, "z", 0) == 4.5);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void elements_of_arrays_come_back(void **state) {
    (void)state;
    static const char *const outputs[] = {"a.csv", "a.xyz", "a.txt", "a.asc", "a.las", "a.ply", "a.pcd"};
    const mote_column_spec specs[] = {{"x", MOTE_FLOAT64, 0, 0},          {"y", MOTE_FLOAT64, 0, 0},
                                      {"z", MOTE_FLOAT64, 0, 0},          {"colors[0]", MOTE_UINT8, 0, 0},
                                      {"colors[1]", MOTE_UINT8, 0, 0},    {"colors[12]", MOTE_UINT16, 0, 0},
                                      {"speed [m/s]", MOTE_FLOAT32, 0, 0}};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 3, specs, 7, &cloud), MOTE_OK);
    for (size_t o = 0; o < sizeof outputs / sizeof outputs[0]; o++) {
        mote_cloud *back = NULL;
        test_write(ctx, cloud, test_path(outputs[o]), NULL);
        back = test_read(ctx, test_path(outputs[o]));
        for (uint32_t c = 3; c < 6; c++) {
            if (mote_cloud_find(back, specs[c].name) == NULL) fail_msg("%s: lost %s", outputs[o], specs[c].name);
        }
        mote_cloud_destroy(back);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_the_field_are_known),
        cmocka_unit_test(attributes_keep_their_names),
        cmocka_unit_test(given_names_may_be_such_words),
        cmocka_unit_test(elements_of_arrays_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
