/* PDAL's stages about neighbours, with its names of options, defaults and attributes. */
#include <inttypes.h>
#include <mote_have.h>
#include <stdlib.h>
#include <string.h>

#include "run/pipeline.h"

#if MOTE_HAVE_JANSSON

/* PDAL gives outliers a class; the stage of mote called "outliers" leaves them out. */
static int mark(stage_call *call, const mote_outliers_params *params, uint64_t class_code) {
    const mote_column_spec spec = {"classification", MOTE_UINT8, 0, 0};
    int code = stage_own(call);
    if (code != EXIT_DONE) return code;
    const uint64_t count = mote_cloud_count(call->cloud);
    uint8_t *flags = malloc((size_t)count * 2 + 1), *classes = flags + count;
    if (flags == NULL) return session_error(call->s, EXIT_RESOURCES, "out of memory: two bytes for each point");
    mote_outliers_result result = {.outlier = flags};
    mote_status status = mote_outliers(call->s->ctx, call->cloud, params, &result);
    const mote_column *column = mote_cloud_find(call->cloud, "classification");
    if (status == MOTE_OK && column != NULL) mote_column_read(column, 0, count, MOTE_UINT8, classes);
    if (status == MOTE_OK && column == NULL) memset(classes, 0, (size_t)count);
    if (status == MOTE_OK) status = mote_cloud_put_column(call->cloud, &spec);
    if (status == MOTE_OK) {
        uint8_t *to = mote_cloud_column_data(call->cloud, "classification");
        const uint32_t stride = mote_cloud_find(call->cloud, "classification")->stride_bytes;
        for (uint64_t i = 0; i < count; i++) to[i * stride] = flags[i] != 0 ? (uint8_t)class_code : classes[i];
        session_note(call->s, "%sfilters.outlier: %s of %s points got class %" PRIu64, stage_place(),
                     text_count(result.count).chars, text_count(count).chars, class_code);
    }
    free(flags);
    return status == MOTE_OK ? EXIT_DONE : session_fail(call->s, status, false);
}

int stage_outlier(stage_call *call) {
    mote_outliers_params params = mote_outliers_defaults();
    uint64_t k = 8, min_k = 2, class_code = 7;
    int method = 0;
    params.radius = 1;
    const option rows[] = {
        {"method", 0, OPTION_CHOICE, &method, NULL, "statistical|radius", "default statistical"},
        {"mean-k", 0, OPTION_COUNT, &k, NULL, "N", "statistical: mean distance to the N nearest; default 8"},
        {"multiplier", 0, OPTION_REAL, &params.sigmas, NULL, "S",
         "statistical: an outlier is farther than mean + S standard deviations; default 2"},
        {"radius", 0, OPTION_REAL, &params.radius, NULL, "R",
         "radius: an outlier has too few others so near; default 1"},
        {"min-k", 0, OPTION_COUNT, &min_k, NULL, "N", "radius: fewer than N; default 2"},
        {"class", 0, OPTION_COUNT, &class_code, NULL, "C",
         "that outliers get; default 7, noise. The stage \"outliers\" leaves them out instead"},
        {0},
    };
    const int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    if (k < 1 || k > MOTE_KNN_MAX_K)
        return stage_wrong(call, "mean_k", "%" PRIu64 " is not in 1..%u", k, MOTE_KNN_MAX_K);
    if (min_k < 1 || min_k > MOTE_KNN_MAX_K) {
        return stage_wrong(call, "min_k", "%" PRIu64 " is not in 1..%u", min_k, MOTE_KNN_MAX_K);
    }
    if (!(params.sigmas >= 0)) return stage_wrong(call, "multiplier", "%g is below 0", params.sigmas);
    if (!(params.radius > 0)) return stage_wrong(call, "radius", "%g is not above 0", params.radius);
    if (class_code > 255) return stage_wrong(call, "class", "%" PRIu64 " is not in 0..255", class_code);
    params.method = method == 0 ? MOTE_OUTLIERS_STATISTICAL : MOTE_OUTLIERS_RADIUS;
    params.k = (uint32_t)k;
    params.min_neighbors = (uint32_t)min_k;
    return call->checking ? EXIT_DONE : mark(call, &params, class_code);
}

static float *add_column(stage_call *call, const char *name, mote_status *status) {
    const mote_column_spec spec = {name, MOTE_FLOAT32, 0, 0};
    if (*status == MOTE_OK) *status = mote_cloud_put_column(call->cloud, &spec);
    return *status == MOTE_OK ? mote_cloud_column_data(call->cloud, name) : NULL;
}

static int estimate(stage_call *call, const mote_normals_params *params) {
    mote_normals_result result = {.skipped = 0};
    mote_status status = MOTE_OK;
    const int code = stage_own(call);
    if (code != EXIT_DONE) return code;
    result.normal_x = add_column(call, "normal_x", &status);
    result.normal_y = add_column(call, "normal_y", &status);
    result.normal_z = add_column(call, "normal_z", &status);
    result.curvature = add_column(call, "curvature", &status);
    if (status == MOTE_OK) status = mote_normals(call->s->ctx, call->cloud, params, &result);
    if (status != MOTE_OK) return session_fail(call->s, status, false);
    if (result.without + result.skipped > 0) {
        session_note(call->s, "%sfilters.normal: %s points have no normal", stage_place(),
                     text_count(result.without + result.skipped).chars);
    }
    return EXIT_DONE;
}

int stage_normal(stage_call *call) {
    mote_normals_params params = mote_normals_defaults();
    const char *viewpoint = NULL;
    uint64_t k = 8;
    bool always_up = true;
    const option rows[] = {
        {"knn", 0, OPTION_COUNT, &k, NULL, "N", "from the point and the N nearest others; default 8"},
        {"viewpoint", 0, OPTION_TEXT, &viewpoint, NULL, "X,Y,Z", "normals look towards it"},
        {"always-up", 0, OPTION_FLAG, &always_up, NULL, NULL, "normals look up; default true"},
        {0},
    };
    const int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    const uint32_t max = MOTE_KNN_MAX_K - 1; /* the point itself is one of the library's */
    if (k < 3 || k > max) return stage_wrong(call, "knn", "%" PRIu64 " is not in 3..%u", k, max);
    params.k = (uint32_t)k + 1;
    params.orient = viewpoint != NULL ? MOTE_ORIENT_VIEWPOINT : always_up ? MOTE_ORIENT_UP : MOTE_ORIENT_NONE;
    if (viewpoint != NULL && !parse_place(viewpoint, params.viewpoint)) {
        return stage_wrong(call, "viewpoint", "\"%s\" is not [X, Y, Z]", viewpoint);
    }
    return call->checking ? EXIT_DONE : estimate(call, &params);
}

#endif
