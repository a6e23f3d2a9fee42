/* Normals of a cloud that memory does not hold. */
#include "mote/normals.h"
#include "parts/parts.h"

static const char *const names[] = {"normal_x",  "normal_y",        "normal_z",
                                    "curvature", "surface_density", "volume_density"};
#define SHAPES 4u /* results without densities */
#define ALL    6u

typedef struct normals_run {
    parts_run run;
    mote_normals_params params;
    uint32_t count; /* results of a point, floats */
    uint64_t without;
} normals_run;

/* ---- results of a part */

static mote_status estimate(void *user, mote_context *ctx, const parts_points *points) {
    const normals_run *n = user;
    mote_normals_result result;
    float *arrays[ALL] = {NULL};
    float *results = mote_alloc(ctx, points->own_count * n->count * sizeof *results, "results");
    mote_status status = results != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    memset(&result, 0, sizeof result);
    for (uint32_t a = 0; a < n->count; a++) {
        arrays[a] = mote_alloc(ctx, points->cloud->count * sizeof(float), "results");
        if (arrays[a] == NULL) status = MOTE_ERROR_MEMORY;
    }
    result.normal_x = arrays[0];
    result.normal_y = arrays[1];
    result.normal_z = arrays[2];
    result.curvature = arrays[3];
    result.surface_density = arrays[4];
    result.volume_density = arrays[5];
    if (status == MOTE_OK) status = mote_normals(ctx, points->cloud, &n->params, &result);
    for (uint64_t i = 0; i < points->own_count && status == MOTE_OK; i++) {
        for (uint32_t a = 0; a < n->count; a++) results[i * n->count + a] = arrays[a][points->own[i]];
    }
    if (status == MOTE_OK) status = parts_keep(points, 0, points->own_count, (uint8_t *)results);
    for (uint32_t a = 0; a < ALL; a++) mote_free(ctx, arrays[a]);
    mote_free(ctx, results);
    return status;
}

/* ---- the last walk */

static void begin_points(void *user) { ((normals_run *)user)->without = 0; }

static uint64_t take_points(void *user, const parts_found *found) {
    normals_run *n = user;
    const float *from = (const float *)(const void *)found->results;
    for (uint64_t i = 0; i < found->count; i++, from += n->count) {
        n->without += from[0] == 0 && from[1] == 0 && from[2] == 0;
        for (uint32_t a = 0; a < n->count; a++) {
            memcpy(found->columns[a] + i * found->strides[a], &from[a], sizeof(float));
        }
    }
    return found->count;
}

/* ---- all */

/* Results are there as arrays, also of the halo, and of own points once more. */
static uint64_t point_bytes(const normals_run *n) { return parts_search_bytes(&n->run) + 3 * n->count * sizeof(float); }

static mote_status check_normals(mote_context *ctx, const mote_normals_params *p) {
    if (p->orient == MOTE_ORIENT_PROPAGATE) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "normals in parts: which way they look along a graph is decided by all points");
    }
    if (p->k > 0 || p->radius > 0) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "neither k nor a radius bounds the neighbours");
}

mote_status mote_normals_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                     const mote_read_params *reading, const mote_normals_params *params, bool density,
                                     const char *output, const mote_write_params *writing,
                                     const mote_parts_params *parts, mote_parts_report *report,
                                     mote_normals_result *facts) {
    const mote_parts_params own = parts != NULL ? *parts : mote_parts_defaults();
    mote_parts_report unread;
    normals_run n;
    memset(&n, 0, sizeof n);
    n.params = params != NULL ? *params : mote_normals_defaults();
    n.count = density ? ALL : SHAPES;
    parts_start(ctx, report != NULL ? report : &unread, &n.run);
    if (inputs == NULL || output == NULL || output[0] == '\0') {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no input, or no output");
    }
    MOTE_TRY(check_normals(ctx, &n.params));
    mote_column_spec specs[ALL];
    for (uint32_t a = 0; a < n.count; a++) specs[a] = (mote_column_spec){names[a], MOTE_FLOAT32, 0, 0};
    const parts_search search = {n.params.k > 0 ? n.params.k - 1 : 0, n.params.radius,
                                 n.count * (uint32_t)sizeof(float), estimate, &n};
    const parts_rewrite rewrite = {specs, n.count, false, NULL, begin_points, take_points, &n, NULL};
    n.run.has_numbers = true;
    mote_status status = parts_open(ctx, inputs, input_count, reading, NULL, NULL, &own, &n.run);
    n.run.point_bytes = point_bytes(&n);
    if (status == MOTE_OK) status = parts_search_write(&n.run, &search, &rewrite, output, writing, &own);
    status = parts_end(&n.run, status);
    if (facts != NULL && status == MOTE_OK) {
        facts->skipped = 0;
        facts->without = n.without;
        facts->parts = 0;
    }
    return status;
}
