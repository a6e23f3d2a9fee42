/* Reference systems: what texts state, the series of transverse Mercator projections against PROJ, and clouds from one
   system to another. tests/cli/crs.test compares with cs2cs. */
#include <math.h>
#include <stdio.h>

#include "core/cloud.h"
#include "io/crs/crs_codes.h"
#include "io/crs/crs_pipeline.h"
#include "io/crs/crs_proj.h"
#include "io/crs/crs_step.h"
#include "support/support.h"
#include <mote_have.h>
#if MOTE_HAVE_PROJ
#include <proj.h>
#endif

#define POINTS 4096

/* ---- texts */

static void codes_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t whole, horizontal, vertical;
        bool only_codes;
    } rows[] = {
        {"EPSG:25832", 25832, 25832, 0, true},
        {" epsg:25832\n", 25832, 25832, 0, true},
        {"EPSG:25832+7837", 0, 25832, 7837, true},
        {"urn:ogc:def:crs:EPSG::4979", 4979, 4979, 0, true},
        {"urn:ogc:def:crs:EPSG:9.8:4979", 4979, 4979, 0, true},
        {"EPSG:", 0, 0, 0, false},
        {"EPSG:25832x", 0, 0, 0, false},
        {"EPSG:99999999999", 0, 0, 0, false},
        {"", 0, 0, 0, false},
        {"PROJCS[\"a\",GEOGCS[\"g\",AUTHORITY[\"EPSG\",\"4326\"]],AUTHORITY[\"EPSG\",\"32633\"]]", 32633, 32633, 0,
         false},
        /* The code of a part is none of the whole. */
        {"PROJCS[\"a\",GEOGCS[\"g\",AUTHORITY[\"EPSG\",\"4326\"]],UNIT[\"metre\",1,AUTHORITY[\"EPSG\",\"9001\"]]]", 0,
         0, 0, false},
        {"COMPD_CS[\"c\",PROJCS[\"p\",AUTHORITY[\"EPSG\",\"6341\"]],VERT_CS[\"v\",AUTHORITY[\"EPSG\",\"5703\"]]]", 0,
         6341, 5703, false},
        {"COMPD_CS[\"c\",PROJCS[\"p\",AUTHORITY[\"EPSG\",\"28992\"]],VERT_CS[\"v\",AUTHORITY[\"EPSG\",\"5709\"]],"
         "AUTHORITY[\"EPSG\",\"7415\"]]",
         7415, 28992, 5709, false},
        {"COMPOUNDCRS[\"c\",PROJCRS[\"p\",ID[\"EPSG\",28992]],VERTCRS[\"v\",ID[\"EPSG\",5709]],ID[\"EPSG\",7415,\"9."
         "8\"]]",
         7415, 28992, 5709, false},
        {"PROJCS[\"p\",AUTHORITY[\"ESRI\",\"102100\"]]", 0, 0, 0, false},
        {"PROJCS[\"p\",AUTHORITY[\"EPSG\",\"28992\"]],VERTCS[\"v\",AUTHORITY[\"EPSG\",\"5709\"]]", 0, 28992, 5709,
         false},
        {"BOUNDCRS[SOURCECRS[PROJCRS[\"p\",ID[\"EPSG\",31467]]],TARGETCRS[GEOGCRS[\"t\",ID[\"EPSG\",4326]]]]", 31467,
         31467, 0, false},
        {"VERT_CS[\"v\",AUTHORITY[\"EPSG\",\"5703\"]]", 5703, 0, 5703, false},
        {"PROJCS[\"AUTHORITY[\"\"EPSG\"\",\"\"1\"\"]\"]", 0, 0, 0, false},
        {"PROJCS[\"p\",AUTHORITY[\"EPSG\",\"32633\"]", 0, 0, 0, false}, /* broken */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        crs_codes codes;
        const bool only = mote_crs_codes(rows[i].text, &codes);
        if (codes.whole != rows[i].whole || codes.horizontal != rows[i].horizontal ||
            codes.vertical != rows[i].vertical || only != rows[i].only_codes) {
            fail_msg("%s: %u %u %u", rows[i].text, codes.whole, codes.horizontal, codes.vertical);
        }
    }
}

static void systems_are_compared(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"EPSG:25832", "epsg:25832", true},
        {"EPSG:25832", "EPSG:25833", false},
        {"EPSG:25832", "EPSG:25832+7837", true}, /* one does not say of what its heights are */
        {"EPSG:25832+5783", "EPSG:25832+7837", false},
        {"EPSG:25832", "PROJCS[\"p\",AUTHORITY[\"EPSG\",\"25832\"]]", true},
        {"LOCAL_CS[\"a\"]", "LOCAL_CS[\"b\"]", false},
        {"LOCAL_CS[\"a\"]", "LOCAL_CS[\"a\"]", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(mote_crs_same(rows[i].a, rows[i].b), rows[i].same);
        assert_int_equal(mote_crs_same(rows[i].b, rows[i].a), rows[i].same);
    }
}

static void names_are_read(void **state) {
    (void)state;
    mote_crs_facts facts;
    mote_crs_describe("PROJCS[\"a \"\"b\"\"\",AUTHORITY[\"EPSG\",\"5\"]]", &facts);
    assert_int_equal(facts.code, 5);
    mote_crs_describe("EPSG:25832+7837\nmore", &facts);
    assert_string_equal(facts.name, "EPSG:25832+7837");
    mote_crs_describe("PROJCS[no quotes here, in a text that is longer than a line may be]", &facts);
    assert_string_equal(facts.name, "PROJCS[no quotes here, in a text that is…");
    mote_crs_describe("", &facts);
    assert_string_equal(facts.name, "");
}

/* ---- the series */

#define P "+proj=pipeline +step "

static void pipelines_are_recognised(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_mercator;
    } rows[] = {
        {P "+inv +proj=utm +zone=32 +ellps=GRS80 +step +proj=utm +zone=33 +ellps=WGS84", true},
        {P "+inv +proj=utm +zone=32 +south +ellps=GRS80 +step +proj=utm +zone=31 +ellps=GRS80", true},
        {P "+inv +proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +ellps=airy +step +proj=utm "
           "+zone=30 +ellps=airy",
         true},
        {P "+proj=unitconvert +xy_in=us-ft +xy_out=m +step +inv +proj=tmerc +lat_0=31 +lon_0=-104.333333333333 "
           "+k=0.999909091 +x_0=165000 +y_0=0 +ellps=GRS80 +step +proj=utm +zone=13 +ellps=GRS80",
         true},
        {P "+inv +proj=utm +zone=13 +ellps=GRS80 +step +proj=tmerc +lat_0=31 +lon_0=-104.333333333333 +k=0.999909091 "
           "+x_0=165000 +y_0=0 +ellps=GRS80 +step +proj=unitconvert +xy_in=m +xy_out=us-ft",
         true},
        {P "+inv +proj=utm +zone=32 +ellps=bessel +step +proj=utm +zone=33 +ellps=WGS84", false}, /* another datum's */
        {P "+inv +proj=utm +zone=32 +ellps=GRS80 +step +inv +proj=utm +zone=33 +ellps=WGS84", false},
        {P "+proj=utm +zone=32 +ellps=GRS80 +step +proj=utm +zone=33 +ellps=WGS84", false},
        {P "+inv +proj=utm +zone=32 +ellps=GRS80 +step +proj=utm +zone=33 +approx +ellps=WGS84", false},
        {P "+inv +proj=utm +zone=32 +ellps=GRS80 +step +proj=unitconvert +xy_in=rad +xy_out=deg", false},
        {P "+inv +proj=utm +zone=32 +ellps=GRS80 +step +proj=hgridshift +grids=a.tif +step +proj=utm +zone=33 "
           "+ellps=GRS80",
         false},
        {P "+inv +proj=utm +zone=5 +ellps=GRS80 +step +proj=utm +zone=33 +ellps=WGS84", false}, /* the far side */
        {P "+proj=axisswap +order=2,1 +step +inv +proj=utm +zone=32 +ellps=GRS80 +step +proj=utm +zone=33 +ellps=GRS80",
         false},
        {"+proj=utm +zone=32", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mercator_change change;
        if (mote_crs_pipeline_is_mercator(rows[i].text, &change) != rows[i].is_mercator) fail_msg("%s", rows[i].text);
    }
}

#if MOTE_HAVE_PROJ

static void expect_series(const char *text, double scale, double easting, double northing) {
    double x[MERCATOR_POINTS], y[MERCATOR_POINTS], from[2][MERCATOR_POINTS], worst = 0;
    bool valid[MERCATOR_POINTS];
    uint64_t valid_count = 0;
    mercator_change change;
    assert_true(mote_crs_pipeline_is_mercator(text, &change));
    PJ_CONTEXT *proj = proj_context_create();
    PJ *operation = proj_create(proj, text);
    assert_non_null(operation);
    for (uint32_t turn = 0; turn < 40; turn++) {
        for (uint32_t i = 0; i < MERCATOR_POINTS; i++) {
            /* 500 km to each side, which is what a zone has at the equator, and from there to 84 degrees. */
            from[0][i] = x[i] = (easting + (test_random(turn, 2 * i) - 0.5) * 1e6) / scale;
            from[1][i] = y[i] = (northing + test_random(turn, 2 * i + 1) * 9.3e6) / scale;
        }
        mercator_change_run(&change, MERCATOR_POINTS, x, y, valid);
        for (uint32_t i = 0; i < MERCATOR_POINTS; i++) {
            const PJ_COORD want = proj_trans(operation, PJ_FWD, proj_coord(from[0][i], from[1][i], 0, HUGE_VAL));
            if (!valid[i]) continue;
            valid_count++;
            const double away = hypot(want.xy.x - x[i], want.xy.y - y[i]);
            if (!(away <= worst)) worst = away;
        }
    }
    if (!(worst < 1e-6)) fail_msg("%s: %g", text, worst); /* a hundredth of what is promised */
    assert_true(valid_count > 40ull * MERCATOR_POINTS / 2);
    proj_destroy(operation);
    proj_context_destroy(proj);
}

static void series_agrees_with_proj(void **state) {
    (void)state;
    expect_series(P "+inv +proj=utm +zone=32 +ellps=GRS80 +step +proj=utm +zone=33 +ellps=WGS84", 1, 500000, 0);
    expect_series(P "+inv +proj=utm +zone=32 +ellps=WGS84 +step +proj=utm +zone=31 +ellps=GRS80", 1, 500000, 0);
    expect_series(P "+inv +proj=utm +zone=32 +ellps=GRS80 +step +proj=utm +zone=34 +ellps=GRS80", 1, 500000, 0);
    expect_series(P "+inv +proj=utm +zone=56 +south +ellps=GRS80 +step +proj=utm +zone=55 +south +ellps=GRS80", 1,
                  500000, 500000);
    expect_series(P "+inv +proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +ellps=airy +step "
                    "+proj=utm +zone=30 +ellps=airy",
                  1, 400000, -5500000);
    expect_series(
        P "+inv +proj=tmerc +lat_0=0 +lon_0=9 +k=1 +x_0=3500000 +y_0=0 +ellps=bessel +step +proj=tmerc +lat_0=0 "
          "+lon_0=12 +k=1 +x_0=4500000 +y_0=0 +ellps=bessel",
        1, 3500000, 0);
    expect_series(P
                  "+proj=unitconvert +xy_in=us-ft +xy_out=m +step +inv +proj=tmerc +lat_0=31 +lon_0=-104.333333333333 "
                  "+k=0.999909091 +x_0=165000 +y_0=0 +ellps=GRS80 +step +proj=utm +zone=13 +ellps=GRS80",
                  0.3048006096012192, 165000, -3400000);
}

/* Near the poles, on the far side, and where there is no number, the series says that it does not know. */
static void series_knows_its_limits(void **state) {
    (void)state;
    static const double places[][2] = {{500000, 9.9e6}, {500000, -9.9e6}, {5e6, 100},  {NAN, 0},
                                       {500000, NAN},   {INFINITY, 0},    {0, -1e300}, {1e300, 1e300}};
    mercator_change change;
    assert_true(mote_crs_pipeline_is_mercator(
        P "+inv +proj=utm +zone=32 +ellps=GRS80 +step +proj=utm +zone=33 +ellps=GRS80", &change));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        double x = places[i][0], y = places[i][1];
        bool valid = true;
        mercator_change_run(&change, 1, &x, &y, &valid);
        assert_false(valid);
    }
}

/* ---- clouds */

typedef struct log_text {
    char chars[2000];
} log_text;

static void on_log(void *user, mote_log_level level, const char *message) {
    log_text *log = user;
    const size_t length = strlen(log->chars);
    (void)level;
    snprintf(log->chars + length, sizeof log->chars - length, "%s\n", message);
}

static mote_context *logging_context(int threads, log_text *log) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    memset(log, 0, sizeof *log);
    params.threads = threads;
    params.device = MOTE_DEVICE_CPU;
    params.log = on_log;
    params.log_user = log;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* Points about a place, with normals if asked. */
static mote_cloud *make_cloud(mote_context *ctx, const char *crs, const double middle[3], double size, double step,
                              bool normals) {
    mote_column_spec specs[6] = {{"x", MOTE_INT32, step, middle[0]}, {"y", MOTE_INT32, step, middle[1]},
                                 {"z", MOTE_INT32, 0.001, 0},        {"normal_x", MOTE_FLOAT32, 0, 0},
                                 {"normal_y", MOTE_FLOAT32, 0, 0},   {"normal_z", MOTE_FLOAT32, 0, 0}};
    mote_cloud *cloud = NULL;
    if (step == 0) {
        for (int k = 0; k < 3; k++) specs[k] = (mote_column_spec){specs[k].name, MOTE_FLOAT64, 1, 0};
    }
    assert_int_equal(mote_cloud_create(ctx, POINTS, specs, normals ? 6 : 3, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < POINTS; i++) {
        for (uint32_t k = 0; k < (normals ? 6u : 3u); k++) {
            const mote_column *column = mote_cloud_column(cloud, k);
            uint8_t *at = (uint8_t *)mote_cloud_column_data(cloud, column->name) + i * column->stride_bytes;
            const double random = test_random(k, i) - 0.5;
            const double value = k < 2 ? middle[k] + random * size : k == 2 ? middle[2] + 100 * random : 2 * random;
            const float narrow = (float)value;
            const int32_t stored = (int32_t)nearbyint((value - column->offset) / column->scale);
            if (column->type == MOTE_INT32) memcpy(at, &stored, 4);
            if (column->type == MOTE_FLOAT32) memcpy(at, &narrow, 4);
            if (column->type == MOTE_FLOAT64) memcpy(at, &value, 8);
        }
    }
    assert_int_equal(mote_cloud_set_crs(cloud, crs), MOTE_OK);
    return cloud;
}

static const double in_utm[3] = {560000, 5600000, 120}, in_degrees[3] = {9.5, 50.5, 120};

/* There and back again gives the same stored numbers, or at most one step beside them where steps are as coarse. */
static void steps_keep_what_was_there(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        double step, size;
    } rows[] = {{"EPSG:25832", "EPSG:25833", 0.01, 20000},   {"EPSG:25832", "EPSG:25833", 0.001, 2000},
                {"EPSG:25832", "EPSG:4258", 0.01, 20000},    {"EPSG:4258", "EPSG:25832", 1e-7, 0.2},
                {"EPSG:25832", "EPSG:3035", 0.01, 20000},    {"EPSG:25832", "EPSG:4936", 0.001, 2000},
                {"EPSG:25832", "EPSG:25833", 0.00025, 2000}, {"EPSG:25832", "EPSG:3857", 0.001, 2000}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        log_text log;
        mote_context *ctx = logging_context(2, &log);
        const bool degrees = rows[r].step < 1e-5;
        mote_cloud *cloud =
            make_cloud(ctx, rows[r].from, degrees ? in_degrees : in_utm, rows[r].size, rows[r].step, false);
        mote_cloud *old =
            make_cloud(ctx, rows[r].from, degrees ? in_degrees : in_utm, rows[r].size, rows[r].step, false);
        assert_int_equal(mote_cloud_transform(ctx, &cloud, rows[r].to, NULL), MOTE_OK);
        assert_int_equal(mote_cloud_column(cloud, 0)->type, MOTE_INT32);
        assert_int_equal(mote_cloud_transform(ctx, &cloud, rows[r].from, NULL), MOTE_OK);
        assert_int_equal(mote_cloud_count(cloud), POINTS);
        for (uint32_t k = 0; k < 3; k++) {
            for (uint64_t i = 0; i < POINTS; i++) {
                const double a = mote_column_value(mote_cloud_column(old, k), i);
                const double b = mote_column_value(mote_cloud_column(cloud, k), i);
                const double step = mote_cloud_column(old, k)->scale;
                if (!(fabs(a - b) <= 1.01 * step)) fail_msg("%s %s: %.9f %.9f", rows[r].from, rows[r].to, a, b);
            }
        }
        mote_cloud_destroy(cloud);
        mote_cloud_destroy(old);
        mote_context_destroy(ctx);
    }
}

static void threads_make_no_difference(void **state) {
    (void)state;
    static const char *const targets[] = {"EPSG:25833", "EPSG:3035", "EPSG:4978", "EPSG:4258"};
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        uint64_t hash[3] = {0, 0, 0};
        for (int n = 0; n < 3; n++) {
            log_text log;
            mote_context *ctx = logging_context(n == 0 ? 1 : n == 1 ? 2 : 7, &log);
            mote_cloud *cloud = make_cloud(ctx, "EPSG:25832", in_utm, 5e5, 0.01, true);
            assert_int_equal(mote_cloud_transform(ctx, &cloud, targets[t], NULL), MOTE_OK);
            assert_int_equal(mote_cloud_hash(ctx, cloud, &hash[n]), MOTE_OK);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    }
}

/* The normal of a small triangle, before and behind. */
static void triangle_normal(const double corners[3][3], double out[3]) {
    double u[3], v[3];
    for (int k = 0; k < 3; k++) u[k] = corners[1][k] - corners[0][k], v[k] = corners[2][k] - corners[0][k];
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        out[k] = u[p] * v[q] - u[q] * v[p];
    }
    const double length = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    for (int k = 0; k < 3; k++) out[k] /= length;
}

static void normals_turn_along(void **state) {
    (void)state;
    static const char *const targets[] = {"EPSG:25833", "EPSG:4978", "EPSG:3035"};
    const double corners[3][3] = {{560000, 5600000, 100}, {560003, 5600001, 101}, {559999, 5600004, 98}};
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        log_text log;
        mote_context *ctx = logging_context(1, &log);
        mote_column_spec specs[6] = {{"x", MOTE_FLOAT64, 1, 0},        {"y", MOTE_FLOAT64, 1, 0},
                                     {"z", MOTE_FLOAT64, 1, 0},        {"normal_x", MOTE_FLOAT64, 1, 0},
                                     {"normal_y", MOTE_FLOAT64, 1, 0}, {"normal_z", MOTE_FLOAT64, 1, 0}};
        mote_cloud *cloud = NULL;
        double normal[3], now[3][3], want[3];
        triangle_normal(corners, normal);
        assert_int_equal(mote_cloud_create(ctx, 4, specs, 6, &cloud), MOTE_OK);
        for (uint32_t i = 0; i < 4; i++) {
            for (uint32_t k = 0; k < 3; k++) {
                memcpy((double *)mote_cloud_column_data(cloud, specs[k].name) + 6 * i, &corners[i % 3][k], 8);
                if (i < 3) memcpy((double *)mote_cloud_column_data(cloud, specs[3 + k].name) + 6 * i, &normal[k], 8);
            }
        }
        assert_int_equal(mote_cloud_set_crs(cloud, "EPSG:25832"), MOTE_OK);
        assert_int_equal(mote_cloud_transform(ctx, &cloud, targets[t], NULL), MOTE_OK);
        for (uint32_t i = 0; i < 3; i++) {
            for (uint32_t k = 0; k < 3; k++) now[i][k] = mote_column_value(mote_cloud_column(cloud, k), i);
        }
        triangle_normal((const double(*)[3])now, want);
        for (uint32_t i = 0; i < 4; i++) {
            for (uint32_t k = 0; k < 3; k++) {
                const double found = mote_column_value(mote_cloud_column(cloud, 3 + k), i);
                assert_true(fabs(found - (i < 3 ? want[k] : 0)) < 1e-5); /* the fourth has none */
            }
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void expect_refused(const char *from, const char *to, const char *why) {
    log_text log;
    mote_context *ctx = logging_context(1, &log);
    const double middle[3] = {500000, 4800000, 10};
    mote_cloud *cloud = make_cloud(ctx, from, middle, 1000, 0.01, false);
    mote_transform_params params = mote_transform_defaults();
    uint64_t before = 0, after = 1;
    assert_int_equal(mote_cloud_hash(ctx, cloud, &before), MOTE_OK);
    assert_int_equal(mote_cloud_transform(ctx, &cloud, to, NULL), MOTE_ERROR_ARGUMENT);
    if (strstr(mote_context_message(ctx), why) == NULL) fail_msg("%s", mote_context_message(ctx));
    mote_context_clear(ctx);
    assert_int_equal(mote_cloud_hash(ctx, cloud, &after), MOTE_OK);
    assert_true(before == after);
    params.ballpark = true;
    if (strstr(why, "ballpark") != NULL) {
        assert_int_equal(mote_cloud_transform(ctx, &cloud, to, &params), MOTE_OK);
        assert_non_null(strstr(log.chars, "coordinates are transformed"));
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void rough_operations_are_refused(void **state) {
    (void)state;
    expect_refused("EPSG:26710", "EPSG:26910", "--crs-ballpark takes"); /* NAD27: its grids are not in Debian */
    expect_refused("EPSG:25832+5783", "EPSG:4979", "there is only a rough operation");
    expect_refused("LOCAL_CS[\"here\",UNIT[\"metre\",1]]", "EPSG:25832", "no operation leads from");
    expect_refused("PROJCS[\"cut", "EPSG:25832", "is not understood");
    expect_refused("EPSG:25832", "EPSG:1", "is not understood");
    expect_refused("", "EPSG:25832", "--crs says what it is");
    expect_refused("EPSG:25832", "EPSG:5783", "heights alone");
}

/* What lies nowhere on the map is left out, and counted. */
static void lost_points_are_told(void **state) {
    (void)state;
    log_text log;
    mote_context *ctx = logging_context(2, &log);
    mote_cloud *cloud = make_cloud(ctx, "EPSG:4258", in_degrees, 0.1, 0, false);
    const double beyond = 95, nothing = NAN;
    uint8_t *y = mote_cloud_column_data(cloud, "y");
    memcpy(y + 7 * mote_cloud_column(cloud, 1)->stride_bytes, &beyond, 8);
    memcpy(y + 9 * mote_cloud_column(cloud, 1)->stride_bytes, &nothing, 8);
    assert_int_equal(mote_cloud_transform(ctx, &cloud, "EPSG:25832", NULL), MOTE_OK);
    assert_int_equal(mote_cloud_count(cloud), POINTS - 2);
    assert_non_null(strstr(log.chars, "have no place in the new reference system"));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Records of scans say where the scanner stood, in the system that was: told, unless it stays the system. */
static void places_of_scanners_are_told(void **state) {
    static const char *const texts[] = {"name Hall\nposition 1 2 3\nrotation 1 0 0 0\npose applied\n",
                                        "position 1 2 3\n", "name position\nguid 1\n"};
    (void)state;
    for (int same = 0; same < 2; same++) {
        log_text log;
        mote_context *ctx = logging_context(1, &log);
        mote_cloud *cloud = make_cloud(ctx, same != 0 ? "EPSG:25833" : "EPSG:25832", in_utm, 1000, 0.01, false);
        for (uint32_t i = 0; i < 3; i++) {
            mote_record record = {.user_id = "mote", .description = "E57 scan", .record_id = (uint16_t)(i + 1)};
            record.data = texts[i];
            record.size_bytes = strlen(texts[i]);
            assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
        }
        assert_int_equal(mote_cloud_transform(ctx, &cloud, "EPSG:25833", NULL), MOTE_OK);
        assert_int_equal(strstr(log.chars, "2 positions of scanners") != NULL, same == 0);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Heights stay where the target states none, and what they are of comes along. */
static void heights_are_kept(void **state) {
    (void)state;
    log_text log;
    mote_crs_facts facts;
    mote_context *ctx = logging_context(1, &log);
    mote_cloud *cloud = make_cloud(ctx, "EPSG:25832+5783", in_utm, 1000, 0.01, false);
    const int64_t z = mote_column_integer(mote_cloud_find(cloud, "z"), 5);
    assert_int_equal(mote_cloud_transform(ctx, &cloud, "EPSG:25833", NULL), MOTE_OK);
    mote_crs_describe(mote_cloud_crs(cloud), &facts);
    assert_int_equal(facts.horizontal_code, 25833);
    assert_int_equal(facts.vertical_code, 5783);
    assert_int_equal(mote_column_integer(mote_cloud_find(cloud, "z"), 5), z);
    /* And where a system is assigned. */
    assert_int_equal(mote_cloud_assign_crs(ctx, cloud, "25832"), MOTE_OK);
    mote_crs_describe(mote_cloud_crs(cloud), &facts);
    assert_int_equal(facts.horizontal_code, 25832);
    assert_int_equal(facts.vertical_code, 5783);
    assert_non_null(strstr(log.chars, "is not believed"));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static mote_status assign_and_transform(mote_context *ctx, void *user) {
    const char *const *targets = user;
    const mote_column_spec specs[6] = {{"x", MOTE_INT32, 0.01, 500000},  {"y", MOTE_INT32, 0.01, 5600000},
                                       {"z", MOTE_INT32, 0.01, 0},       {"normal_x", MOTE_FLOAT32, 0, 0},
                                       {"normal_y", MOTE_FLOAT32, 0, 0}, {"normal_z", MOTE_FLOAT32, 0, 0}};
    mote_cloud *cloud = NULL;
    mote_status status = mote_cloud_create(ctx, 1000, specs, 6, &cloud);
    if (status == MOTE_OK) status = mote_cloud_assign_crs(ctx, cloud, targets[0]);
    if (status == MOTE_OK) status = mote_cloud_transform(ctx, &cloud, targets[1], NULL);
    mote_cloud_destroy(cloud);
    return status;
}

static void survives_missing_memory(void **state) {
    (void)state;
    const char *targets[] = {"EPSG:25832+5783", "EPSG:25833"};
    test_each_allocation_fails(assign_and_transform, targets);
    test_each_step_cancels(assign_and_transform, targets);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_read),
        cmocka_unit_test(systems_are_compared),
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(pipelines_are_recognised),
#if MOTE_HAVE_PROJ
        cmocka_unit_test(series_agrees_with_proj),
        cmocka_unit_test(series_knows_its_limits),
        cmocka_unit_test(steps_keep_what_was_there),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(normals_turn_along),
        cmocka_unit_test(rough_operations_are_refused),
        cmocka_unit_test(lost_points_are_told),
        cmocka_unit_test(places_of_scanners_are_told),
        cmocka_unit_test(heights_are_kept),
        cmocka_unit_test(survives_missing_memory),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
