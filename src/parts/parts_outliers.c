/* Outliers of a cloud that memory does not hold. */
#include <math.h>

#include "normals/normals_index.h"
#include "normals/outliers_sums.h"
#include "parts/parts.h"

#define BLOCKS 64u /* read at once */

typedef struct outliers_run {
    parts_run run;
    mote_outliers_params params;
    bool marks, has_distance;
    uint64_t outliers, remaining;
    double mean, deviation, threshold;
} outliers_run;

static bool is_statistical(const outliers_run *o) { return o->params.method == MOTE_OUTLIERS_STATISTICAL; }

/* ---- results of a part: the mean distance of each point, or how many others are within the radius */

typedef struct measuring {
    const outliers_run *outliers;
    double *results;
} measuring;

static mote_status measure_index(mote_knn_index *index, void *user) {
    const measuring *m = user;
    const mote_outliers_params *p = &m->outliers->params;
    const uint64_t points = mote_cloud_count(index->cloud);
    const mote_normals_ops *ops;
    MOTE_TRY(normals_find_ops(index, &ops));
    if (is_statistical(m->outliers)) return ops->distances(index, p->k, 0, m->results, NULL);
    uint32_t *counts = mote_alloc(index->ctx, points * sizeof *counts, "neighbour counts");
    if (counts == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = ops->distances(index, p->min_neighbors, p->radius, NULL, counts);
    for (uint64_t i = 0; i < points && status == MOTE_OK; i++) m->results[i] = counts[i];
    mote_free(index->ctx, counts);
    return status;
}

static mote_status measure(void *user, mote_context *ctx, const parts_points *points) {
    measuring m = {user, mote_alloc(ctx, points->cloud->count * sizeof(double), "results")};
    mote_status status = m.results != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = normals_with_index(ctx, points->cloud, measure_index, &m);
    for (uint64_t i = 0; i < points->own_count && status == MOTE_OK; i++) m.results[i] = m.results[points->own[i]];
    if (status == MOTE_OK) status = parts_keep(points, 0, points->own_count, (uint8_t *)m.results);
    mote_free(ctx, m.results);
    return status;
}

/* ---- who is one */

static bool is_outlier(const outliers_run *o, double result) {
    return is_statistical(o) ? result > o->threshold : result < o->params.min_neighbors;
}

/* Visits the results of all points, some blocks at a time. */
typedef void (*use_blocks)(outliers_run *o, const double *results, uint64_t count, void *user);

static mote_status each_block(outliers_run *o, const parts_run *run, int file, use_blocks use, void *user) {
    const uint64_t bytes = BLOCKS * OUTLIERS_BLOCK * sizeof(double), all = run->points * sizeof(double);
    double *results = mote_alloc(run->ctx, bytes, "results");
    mote_status status = results != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t at = 0; at < all && status == MOTE_OK; at += bytes) {
        const uint64_t now = all - at < bytes ? all - at : bytes;
        status = parts_read_at(run->ctx, file, "the scratch file of results", at, now, results);
        if (status == MOTE_OK) use(o, results, now / sizeof *results, user);
        if (status == MOTE_OK) status = mote_progress_again(run->ctx);
    }
    mote_free(run->ctx, results);
    return status;
}

typedef struct summing {
    outliers_moments all;
    const double *from;
} summing;

static void sum_blocks(outliers_run *o, const double *results, uint64_t count, void *user) {
    summing *sum = user;
    (void)o;
    for (uint64_t first = 0; first < count; first += OUTLIERS_BLOCK) {
        const uint64_t rest = count - first;
        const outliers_moments block =
            outliers_sum_block(results + first, rest < OUTLIERS_BLOCK ? rest : OUTLIERS_BLOCK, sum->from);
        sum->all.count += block.count;
        sum->all.sum += block.sum;
    }
}

static void count_outliers(outliers_run *o, const double *results, uint64_t count, void *user) {
    (void)user;
    for (uint64_t i = 0; i < count; i++) o->outliers += is_outlier(o, results[i]);
}

static mote_status judge(void *user, const parts_run *run, int results) {
    outliers_run *o = user;
    if (is_statistical(o)) {
        summing sum = {{0, 0}, NULL}, squares = {{0, 0}, &o->mean};
        MOTE_TRY(each_block(o, run, results, sum_blocks, &sum));
        if (sum.all.count > 0) o->mean = sum.all.sum / sum.all.count;
        MOTE_TRY(each_block(o, run, results, sum_blocks, &squares));
        if (squares.all.count > 1) o->deviation = sqrt(squares.all.sum / (squares.all.count - 1));
        o->threshold = o->mean + o->params.sigmas * o->deviation;
    }
    MOTE_TRY(each_block(o, run, results, count_outliers, NULL));
    o->remaining = run->points - (o->marks ? 0 : o->outliers);
    return MOTE_OK;
}

static uint64_t take_points(void *user, const parts_found *found) {
    const outliers_run *o = user;
    const double *results = (const double *)(const void *)found->results;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < found->count; i++) {
        const uint8_t outlier = is_outlier(o, results[i]);
        const float distance = results[i] > 0 ? (float)results[i] : 0;
        if (outlier && !o->marks) continue;
        if (o->has_distance) memcpy(found->columns[0] + kept * found->strides[0], &distance, sizeof distance);
        if (o->marks) found->columns[o->has_distance][kept * found->strides[o->has_distance]] = outlier;
        if (!o->marks) found->kept[kept] = (uint32_t)i;
        kept++;
    }
    return kept;
}

/* ---- all */

static mote_status write_outliers(outliers_run *o, const char *output, const mote_write_params *writing,
                                  const mote_parts_params *params) {
    static const mote_column_spec distance = {"mean_distance", MOTE_FLOAT32, 0, 0},
                                  mark = {"outlier", MOTE_UINT8, 0, 0};
    mote_column_spec specs[2];
    uint32_t count = 0;
    if (o->has_distance) specs[count++] = distance;
    if (o->marks) specs[count++] = mark;
    const parts_search search = {is_statistical(o) ? o->params.k : o->params.min_neighbors,
                                 is_statistical(o) ? 0 : o->params.radius, sizeof(double), measure, o};
    const parts_rewrite rewrite = {specs, count, !o->marks, &o->remaining, NULL, take_points, o, judge};
    o->run.point_bytes = parts_search_bytes(&o->run) + 3 * sizeof(double);
    return parts_search_write(&o->run, &search, &rewrite, output, writing, params);
}

mote_status mote_outliers_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                      const mote_read_params *reading, const mote_outliers_params *params, bool marks,
                                      bool distances, const char *output, const mote_write_params *writing,
                                      const mote_parts_params *parts, mote_parts_report *report,
                                      mote_outliers_result *facts) {
    const mote_parts_params own = parts != NULL ? *parts : mote_parts_defaults();
    mote_parts_report unread;
    outliers_run o;
    memset(&o, 0, sizeof o);
    o.params = params != NULL ? *params : mote_outliers_defaults();
    o.marks = marks;
    o.has_distance = distances && is_statistical(&o);
    parts_start(ctx, report != NULL ? report : &unread, &o.run);
    if (inputs == NULL || output == NULL || output[0] == '\0') {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no input, or no output");
    }
    MOTE_TRY(outliers_check(ctx, &o.params));
    o.run.has_numbers = true;
    mote_status status = parts_open(ctx, inputs, input_count, reading, NULL, NULL, &own, &o.run);
    if (status == MOTE_OK) status = write_outliers(&o, output, writing, &own);
    status = parts_end(&o.run, status);
    if (facts != NULL && status == MOTE_OK) {
        facts->count = o.outliers;
        facts->skipped = 0;
        facts->mean = o.mean;
        facts->deviation = o.deviation;
        facts->threshold = o.threshold;
    }
    return status;
}
