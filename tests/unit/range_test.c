/* Coordinates and scales over the whole range of doubles: each function that takes positions answers for a cloud at any
   size what it answers for the same cloud at size 1, times the factor, or refuses it and says why. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#define POINTS 240u
#define K      6u

static double stored[3 * POINTS]; /* whole numbers below 2^20: a floor and a wall, a little rough */

static void make_points(void) {
    for (uint64_t i = 0; i < POINTS; i++) {
        double *const at = stored + 3 * i;
        for (uint64_t k = 0; k < 3; k++) at[k] = 1 + floor(test_random(k, i) * 0xFFFF0);
        at[i % 2 == 0 ? 2 : 0] = 1 + floor(test_random(4, i) * 900);
    }
}

/* ---- the same points, in several ways */

typedef enum way { DOUBLES, NEGATIVE, FLOATS, STEPS, SCALED_DOUBLES, WIDE_STEPS, AWAY, WAYS } way;
static const char *const way_names[WAYS] = {
    "doubles",         "doubles of a negative scale", "floats", "integers", "doubles of half the size and a scale",
    "64-bit integers", "integers, an offset away"};

/* Points of 2^exponent times what is stored; false: the way has none of that size. */
static mote_cloud *make_cloud(mote_context *ctx, way how, int exponent) {
    static const mote_type types[WAYS] = {MOTE_FLOAT64, MOTE_FLOAT64, MOTE_FLOAT32, MOTE_INT32,
                                          MOTE_FLOAT64, MOTE_UINT64,  MOTE_INT32};
    static const char *const names[6] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    const int half = how == SCALED_DOUBLES ? exponent / 2 : how == DOUBLES || how == NEGATIVE ? 0 : exponent;
    const double scale = how == NEGATIVE ? -1 : ldexp(1, half), offset = how == AWAY ? ldexp(1, exponent + 20) : 0;
    mote_column_spec specs[6];
    mote_cloud *cloud = NULL;
    if (scale == 0 || isinf(scale) || isinf(offset) || isinf(ldexp(0x1p20, exponent))) return NULL;
    for (int k = 0; k < 6; k++) {
        specs[k] =
            (mote_column_spec){names[k], k < 3 ? types[how] : MOTE_FLOAT32, k < 3 ? scale : 1, k < 3 ? offset : 0};
    }
    assert_int_equal(mote_cloud_create(ctx, POINTS, specs, 6, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < POINTS; i++) {
        for (uint64_t k = 0; k < 6; k++) {
            const mote_column *const column = mote_cloud_find(cloud, names[k]);
            uint8_t *const to = (uint8_t *)mote_cloud_column_data(cloud, names[k]) + i * column->stride_bytes;
            const double real = k >= 3 ? (k == (i % 2 == 0 ? 5 : 3))
                                       : ldexp(stored[3 * i + k], exponent - half) * (how == NEGATIVE ? -1 : 1);
            const float narrow = (float)real;
            const int64_t whole = (int64_t)(k < 3 ? stored[3 * i + k] : 0);
            if (column->type == MOTE_FLOAT64) memcpy(to, &real, 8);
            if (column->type == MOTE_FLOAT32) memcpy(to, &narrow, 4);
            if (!mote_type_is_float(column->type)) memcpy(to, &whole, mote_type_size(column->type));
        }
    }
    return cloud;
}

/* ---- what a function says of a cloud: numbers that are the same at any size, or go with a power of it */

#define MAX_NUMBERS 8192u

typedef struct answer {
    mote_status status;
    uint32_t count;
    uint32_t levels; /* the first so many numbers are levels of colours: one may be rounded the other way, for shading
                        adds logarithms, which are not as exact at every size */
    double number[MAX_NUMBERS];
} answer;

/* power: how the number goes with the size of the cloud; 0: it does not. */
static void say(answer *to, double value, int exponent, int power) {
    assert_true(to->count < MAX_NUMBERS);
    to->number[to->count++] =
        power == 0 ? value : ldexp(ldexp(value, -power * exponent / 2), -power * exponent + power * exponent / 2);
}

static void neighbors(mote_context *ctx, const mote_cloud *cloud, mote_knn_params params, int exponent, answer *to) {
    static uint32_t index[POINTS * K], count[POINTS];
    static double distance2[POINTS * K];
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    result.index32 = index;
    result.count = count;
    result.distance2_wide = distance2;
    params.k = K;
    to->status = mote_knn(ctx, cloud, NULL, &params, &result);
    for (uint32_t i = 0; i < POINTS * K && to->status == MOTE_OK; i++) {
        say(to, index[i], exponent, 0);
        say(to, distance2[i], exponent, 2);
    }
}

static void grid(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    neighbors(ctx, cloud, mote_knn_defaults(), exponent, to);
}

static void brute(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    mote_knn_params params = mote_knn_defaults();
    params.method = MOTE_KNN_BRUTE;
    params.radius = ldexp(0xFFFFF, exponent);
    neighbors(ctx, cloud, params, exponent, to);
}

static void shifted(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    mote_knn_params params = mote_knn_defaults();
    params.method = MOTE_KNN_SHIFTED;
    neighbors(ctx, cloud, params, exponent, to);
}

static void ellipsoids(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    mote_knn_params params = mote_knn_defaults();
    params.compression = MOTE_KNN_MAX_COMPRESSION;
    neighbors(ctx, cloud, params, exponent, to);
}

static void shifted_ellipsoids(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    mote_knn_params params = mote_knn_defaults();
    params.method = MOTE_KNN_SHIFTED;
    params.compression = 4;
    params.buckets = true;
    neighbors(ctx, cloud, params, exponent, to);
}

/* Queries of another type: between world values. */
static void queries(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    static uint32_t index[K];
    static double distance2[K], origin[3];
    const mote_column columns[3] = {{"x", "", "", &origin[0], 8, MOTE_FLOAT64, 0, 0, 1, 0},
                                    {"y", "", "", &origin[1], 8, MOTE_FLOAT64, 0, 0, 1, 0},
                                    {"z", "", "", &origin[2], 8, MOTE_FLOAT64, 0, 0, 1, 0}};
    mote_cloud *one = NULL;
    mote_knn_params params = mote_knn_defaults();
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    params.k = K;
    result.index32 = index;
    result.distance2_wide = distance2;
    assert_int_equal(mote_cloud_wrap(ctx, 1, columns, 3, &one), MOTE_OK);
    to->status = mote_knn(ctx, cloud, one, &params, &result);
    for (uint32_t i = 0; i < K && to->status == MOTE_OK; i++) {
        say(to, index[i], exponent, 0);
        say(to, distance2[i], exponent, 2);
    }
    mote_cloud_destroy(one);
}

static void within(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    static uint32_t counts[POINTS];
    mote_knn_index *index = NULL;
    to->status = mote_knn_build(ctx, cloud, &index);
    if (to->status == MOTE_OK) to->status = mote_knn_within(index, NULL, ldexp(200000, exponent), true, counts, NULL);
    for (uint32_t i = 0; i < POINTS && to->status == MOTE_OK; i++) say(to, counts[i], exponent, 0);
    mote_knn_destroy(index);
}

static void normals(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    static float normal[3][POINTS], curvature[POINTS];
    mote_normals_params params = mote_normals_defaults();
    mote_normals_result result;
    memset(&result, 0, sizeof result);
    params.orient = MOTE_ORIENT_VIEWPOINT;
    params.viewpoint[0] = params.viewpoint[2] = fmin(ldexp(0x1p24, exponent), MOTE_MAX_COORDINATE);
    result.normal_x = normal[0], result.normal_y = normal[1], result.normal_z = normal[2];
    result.curvature = curvature;
    to->status = mote_normals(ctx, cloud, &params, &result);
    for (uint32_t i = 0; i < POINTS && to->status == MOTE_OK; i++) {
        for (int k = 0; k < 3; k++) say(to, (double)normal[k][i], exponent, 0);
        say(to, (double)curvature[i], exponent, 0);
    }
}

static void outliers(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    static uint8_t outlier[POINTS];
    mote_outliers_result result;
    memset(&result, 0, sizeof result);
    result.outlier = outlier;
    to->status = mote_outliers(ctx, cloud, NULL, &result);
    if (to->status != MOTE_OK) return;
    for (uint32_t i = 0; i < POINTS; i++) say(to, outlier[i], exponent, 0);
    say(to, result.mean, exponent, 1);
    say(to, result.deviation, exponent, 1);
    say(to, result.threshold, exponent, 1);
}

static void planes(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    static int32_t labels[POINTS];
    mote_planes *found = NULL;
    to->status = mote_planes_find(ctx, cloud, NULL, labels, &found);
    if (to->status != MOTE_OK) return;
    say(to, mote_planes_count(found), exponent, 0);
    for (uint32_t i = 0; i < POINTS; i++) say(to, labels[i], exponent, 0);
    for (uint32_t i = 0; i < mote_planes_count(found); i++) {
        const mote_plane *const plane = mote_planes_at(found, i);
        for (int k = 0; k < 3; k++) say(to, plane->normal[k], exponent, 0);
        say(to, plane->offset, exponent, 1);
        say(to, plane->rms, exponent, 1);
        say(to, plane->area, exponent, 2);
        say(to, plane->hull_area, exponent, 2);
        say(to, plane->confidence, exponent, 0);
    }
    mote_planes_destroy(found);
}

static void picture(mote_context *ctx, const mote_cloud *cloud, mote_render_mode mode, int exponent, answer *to) {
    static uint8_t color[4 * 32 * 24];
    static float depth[32 * 24];
    static const double from[3] = {1, -1, 1};
    mote_renderer *renderer = NULL;
    mote_camera camera = mote_camera_defaults();
    mote_render_params params = mote_render_defaults();
    mote_render_result result;
    memset(&result, 0, sizeof result);
    params.width = 32, params.height = 24;
    params.mode = mode;
    result.color8 = color;
    result.depth = depth;
    to->status = mote_render_create(ctx, cloud, &renderer);
    if (to->status == MOTE_OK) to->status = mote_render_fit(renderer, &camera, from, &params);
    if (to->status == MOTE_OK) to->status = mote_render_draw(renderer, &camera, &params, &result);
    for (uint32_t i = 0; i < sizeof color && to->status == MOTE_OK; i++) say(to, color[i], exponent, 0);
    to->levels = to->count;
    for (uint32_t i = 0; i < 32 * 24 && to->status == MOTE_OK; i++) {
        if (!isinf(depth[i])) say(to, (double)depth[i], exponent, 1);
    }
    mote_render_destroy(renderer);
}

static void points_of_a_picture(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    picture(ctx, cloud, MOTE_RENDER_POINTS, exponent, to);
}

static void average_of_a_picture(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    picture(ctx, cloud, MOTE_RENDER_AVERAGE, exponent, to);
}

static void surface_of_a_picture(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    picture(ctx, cloud, MOTE_RENDER_SURFACE, exponent, to);
}

static void octree(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    mote_lod_params params = mote_lod_defaults();
    mote_lod *lod = NULL;
    params.grid = 4;
    params.merge_points = 8;
    params.sampling = MOTE_LOD_POISSON;
    to->status = mote_lod_build(ctx, cloud, &params, &lod);
    if (to->status != MOTE_OK) return;
    for (uint32_t n = 0; n < mote_lod_node_count(lod); n++) {
        say(to, (double)mote_lod_nodes(lod)[n].total, exponent, 0);
        say(to, (double)mote_lod_nodes(lod)[n].point_count, exponent, 0);
    }
    mote_lod_destroy(lod);
}

static void strays(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to) {
    mote_strays found;
    mote_box box;
    to->status = mote_cloud_bounds(ctx, cloud, &box, NULL);
    if (to->status == MOTE_OK) to->status = mote_cloud_strays(ctx, cloud, NULL, &found);
    if (to->status != MOTE_OK) return;
    for (int k = 0; k < 3; k++) say(to, box.max[k] - box.min[k], exponent, 1);
    say(to, (double)found.count, exponent, 0);
}

/* ---- */

/* low, high: from 2^low to 2^high clouds must be answered. Coordinates of whole numbers below 2^20, 2^20 away from 0,
   are below 2^21 times the size. */
static const struct {
    const char *name;
    void (*ask)(mote_context *ctx, const mote_cloud *cloud, int exponent, answer *to);
    int low, high;
} functions[] = {
    {"grid", grid, -480, 480},
    {"brute", brute, -480, 480},
    {"shifted", shifted, -480, 480},
    {"ellipsoids", ellipsoids, -480, 480},
    {"shifted ellipsoids", shifted_ellipsoids, -480, 480},
    {"queries", queries, -480, 480},
    {"within", within, -480, 480},
    {"normals", normals, -480, 480},
    {"outliers", outliers, -480, 480},
    {"planes", planes, -480, 480},
    {"points of a picture", points_of_a_picture, -60, 60},
    {"average of a picture", average_of_a_picture, -60, 60},
    {"surface of a picture", surface_of_a_picture, -60, 60},
    {"octree", octree, -1074, 1022},
    {"strays", strays, -1074, 1022},
};
#define FUNCTIONS (sizeof functions / sizeof functions[0])

static bool is_alike(const answer *a, const answer *b, uint32_t *where) {
    *where = UINT32_MAX;
    if (a->count != b->count) return false;
    for (*where = 0; *where < a->count; ++*where) {
        const double x = a->number[*where], y = b->number[*where];
        if (!(fabs(x - y) <= (*where < a->levels ? 1 : 1e-6 * fmax(fabs(x), fabs(y))))) return false;
    }
    return true;
}

/* Refusals name an axis, or what all of a cloud is, and the limit as a power of two; by lattices: that there is none.
 */
static bool is_clear(const char *message) {
    return (strstr(message, "lengths are measured") != NULL && strstr(message, "(2^") != NULL) ||
           strstr(message, "no cube around that has a side in a double") != NULL;
}

static void check_size(mote_context *ctx, uint32_t f, way how, int exponent, const answer *expected) {
    static answer found;
    uint32_t where;
    mote_cloud *cloud = make_cloud(ctx, how, exponent);
    if (cloud == NULL) return;
    memset(&found, 0, sizeof found);
    functions[f].ask(ctx, cloud, exponent, &found);
    const bool within = exponent >= functions[f].low && exponent + 21 <= functions[f].high;
    if (found.status == MOTE_OK && !is_alike(expected, &found, &where)) {
        fail_msg("%s, %s of 2^%d: another answer at number %u of %u", functions[f].name, way_names[how], exponent,
                 where, found.count);
    }
    if (found.status != MOTE_OK &&
        (within || found.status != MOTE_ERROR_DATA || !is_clear(mote_context_message(ctx)))) {
        fail_msg("%s, %s of 2^%d: %s", functions[f].name, way_names[how], exponent, mote_context_message(ctx));
    }
    mote_context_clear(ctx);
    mote_cloud_destroy(cloud);
}

/* What is in the range is answered, what is not is answered as well or refused. */
static void every_size_is_answered_or_refused(void **state) {
    (void)state;
    static answer expected;
    const int step = (int)test_watched(199, test_extent(41, 7)); /* prime */
    make_points();
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        for (int how = 0; how < WAYS; how++) {
            mote_context *ctx = test_context(1);
            mote_cloud *cloud = make_cloud(ctx, (way)how, 0);
            memset(&expected, 0, sizeof expected);
            functions[f].ask(ctx, cloud, 0, &expected);
            assert_int_equal(expected.status, MOTE_OK);
            assert_true(expected.count > 0);
            mote_cloud_destroy(cloud);
            for (int exponent = -1074; exponent <= 1023; exponent += step) {
                check_size(ctx, f, (way)how, exponent, &expected);
            }
            for (int side = -1; side <= 1; side += 2) { /* about the ends of both ranges */
                for (int near = -3; near <= 3; near++) {
                    check_size(ctx, f, (way)how, (side < 0 ? -480 : 480 - 21) + near, &expected);
                    check_size(ctx, f, (way)how, (side < 0 ? -60 : 60 - 21) + near, &expected);
                }
            }
            mote_context_trim(ctx);
            assert_int_equal(mote_context_memory_bytes(ctx), 0);
            mote_context_destroy(ctx);
        }
    }
}

/* ---- refusals, one by one */

static mote_status ask_of(mote_context *ctx, mote_type type, double scale, double offset, const void *values) {
    mote_column columns[3];
    mote_cloud *cloud = NULL;
    mote_knn_index *index = NULL;
    memset(columns, 0, sizeof columns);
    for (int k = 0; k < 3; k++) {
        static const char *const names[3] = {"x", "y", "z"};
        columns[k].name = names[k];
        columns[k].type = type;
        columns[k].data = values;
        columns[k].scale = k == 1 ? scale : 1;
        columns[k].offset = k == 1 ? offset : 0;
    }
    assert_int_equal(mote_cloud_wrap(ctx, 2, columns, 3, &cloud), MOTE_OK);
    const mote_status status = mote_knn_build(ctx, cloud, &index);
    mote_knn_destroy(index);
    mote_cloud_destroy(cloud);
    return status;
}

static void check_refusal(mote_type type, double scale, double offset, const void *values, const char *message) {
    mote_context *ctx = test_context(1);
    assert_int_equal(ask_of(ctx, type, scale, offset, values), message != NULL ? MOTE_ERROR_DATA : MOTE_OK);
    assert_string_equal(mote_context_message(ctx), message != NULL ? message : "");
    mote_context_destroy(ctx);
}

#define SCALES ": lengths are measured with scales from 3.20333e-145 to 3.12175e+144 (2^480)"
#define UP_TO  ": lengths are measured among coordinates up to 3.12175e+144 (2^480)"

/* The column, its value and the limit are named. What is not finite is left out, as ever, and does not count. */
static void refusals_name_column_value_and_limit(void **state) {
    (void)state;
    static const int32_t steps[2] = {1, 2};
    static const double plain[2] = {1, 2}, huge[2] = {1, -1e300}, ends[2] = {MOTE_MAX_COORDINATE, -MOTE_MAX_COORDINATE},
                        tiny[2] = {0, 1e-200}, zero[2] = {0, -0.0}, broken[2] = {NAN, INFINITY},
                        beside[2] = {NAN, 1e200};
    check_refusal(MOTE_INT32, 1e300, 0, steps, "the scale of y is 1e+300" SCALES);
    check_refusal(MOTE_INT32, -1e300, 0, steps, "the scale of y is -1e+300" SCALES);
    check_refusal(MOTE_INT32, 1e-300, 0, steps, "the scale of y is 1e-300" SCALES);
    check_refusal(MOTE_FLOAT64, 4.9e-324, 0, plain, "the scale of y is 4.94066e-324" SCALES);
    check_refusal(MOTE_INT32, 1, -1e308, steps, "the offset of y is -1e+308" UP_TO);
    check_refusal(MOTE_FLOAT64, 1, 0, huge, "x runs from -1e+300 to 1" UP_TO);
    check_refusal(MOTE_FLOAT64, 1, 0, beside, "x runs from 1e+200 to 1e+200" UP_TO);
    check_refusal(MOTE_FLOAT64, 1, 0, tiny,
                  "x runs from 0 to 1e-200, and no axis is farther from 0: lengths are measured among coordinates of "
                  "which one is 3.20333e-145 (2^-480) or more");
    check_refusal(MOTE_FLOAT64, 1, 0, ends, NULL);
    check_refusal(MOTE_FLOAT64, 1, 0, zero, NULL);
    check_refusal(MOTE_FLOAT64, 1, 0, broken, NULL);
    check_refusal(MOTE_FLOAT64, NAN, 0, plain, NULL);
    check_refusal(MOTE_INT32, INFINITY, 0, steps, NULL);
    check_refusal(MOTE_INT32, 0, 0, steps, NULL); /* counts as 1 */
}

/* A query may be as small as it likes, and no larger than points. */
static void queries_have_the_upper_end(void **state) {
    (void)state;
    static const double points[2] = {1, 2}, small[1] = {1e-300}, large[1] = {1e200};
    for (int turn = 0; turn < 2; turn++) {
        mote_context *ctx = test_context(1);
        mote_column columns[3], asked[3];
        mote_cloud *cloud = NULL, *query = NULL;
        uint32_t index[1] = {0};
        mote_knn_params params = mote_knn_defaults();
        mote_knn_result result = {.index32 = index};
        memset(columns, 0, sizeof columns);
        for (int k = 0; k < 3; k++) {
            columns[k].name = k == 0 ? "x" : k == 1 ? "y" : "z";
            columns[k].type = MOTE_FLOAT64;
            columns[k].data = points;
            asked[k] = columns[k];
            asked[k].data = turn == 0 ? small : large;
        }
        params.k = 1;
        assert_int_equal(mote_cloud_wrap(ctx, 2, columns, 3, &cloud), MOTE_OK);
        assert_int_equal(mote_cloud_wrap(ctx, 1, asked, 3, &query), MOTE_OK);
        assert_int_equal(mote_knn(ctx, cloud, query, &params, &result), turn == 0 ? MOTE_OK : MOTE_ERROR_DATA);
        assert_string_equal(mote_context_message(ctx), turn == 0 ? "" : "x runs from 1e+200 to 1e+200" UP_TO);
        mote_cloud_destroy(query);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* ---- cameras, and scenes */

static void cameras_have_a_range(void **state) {
    (void)state;
    static const double from[3] = {1, 1, 1};
    static const mote_box box = {{-1e19, 0, 0}, {1, 1, 1}};
    mote_context *ctx = test_context(1);
    mote_camera camera = mote_camera_defaults();
    mote_scene *scene = NULL;
    mote_photon_params params = mote_photon_defaults();
    float rgb[3 * 4];
    assert_int_equal(mote_camera_fit(ctx, &camera, &box, from, 4, 4), MOTE_ERROR_ARGUMENT);
    assert_string_equal(mote_context_message(ctx), "the box reaches farther from 0 than 1.15292e+18 (2^60)");
    mote_context_clear(ctx);
    assert_int_equal(mote_scene_builtin(ctx, "cornell", &scene), MOTE_OK);
    params.method = MOTE_PHOTON_SHADOW;
    params.width = params.height = 2;
    camera = mote_scene_camera(scene);
    assert_int_equal(mote_photon_render(scene, NULL, &camera, &params, rgb), MOTE_OK);
    camera.eye[0] = 1e200;
    assert_int_equal(mote_photon_render(scene, NULL, &camera, &params, rgb), MOTE_ERROR_ARGUMENT);
    assert_string_equal(mote_context_message(ctx), "the camera's eye or target is farther from 0 than 1.2e+24 (2^80)");
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static void scenes_have_a_range(void **state) {
    (void)state;
    static const double sizes[] = {1, 1e17, 1e-17, 1e40, 1e-40, 1e99};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const double s = sizes[i], positions[9] = {0, 0, 0, s, 0, 0, 0, s, 0};
        static const uint32_t triangle[3] = {0, 1, 2};
        mote_material material = {.kind = MOTE_MATERIAL_DIFFUSE, .color = {0.5, 0.5, 0.5}, .emission = {1, 1, 1}};
        mote_scene_params params = {.positions = positions,
                                    .position_count = 3,
                                    .triangles = triangle,
                                    .triangle_count = 1,
                                    .materials = &material,
                                    .material_count = 1,
                                    .camera = mote_camera_defaults()};
        mote_context *ctx = test_context(1);
        mote_scene *scene = NULL;
        mote_photon_map *map = NULL;
        mote_photon_emission emission = mote_photon_emission_defaults();
        emission.photons = 100;
        assert_int_equal(mote_scene_create(ctx, &params, &scene), MOTE_OK);
        assert_int_equal(mote_photon_emit(scene, &emission, &map), i < 3 ? MOTE_OK : MOTE_ERROR_DATA);
        if (i >= 3) assert_true(is_clear(mote_context_message(ctx)));
        mote_photon_destroy(map);
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_is_answered_or_refused),
        cmocka_unit_test(refusals_name_column_value_and_limit),
        cmocka_unit_test(queries_have_the_upper_end),
        cmocka_unit_test(cameras_have_a_range),
        cmocka_unit_test(scenes_have_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
