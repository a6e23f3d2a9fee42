/* The points of a renderer on CPU cores: their order, by content, and the boxes of its ranges. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "order/order_of_cloud.h"
#include "render/points/render_load.h"
#include "render/points/render_short_math.h"
#include "render/render_cpu.h"

#define BATCHES_AT_ONCE 64
#define AHEAD           16 /* points of which the rows are on their way to the cache */

/* ---- ties: points of one code, by content */

typedef struct tie {
    double at[3];
    uint32_t color, index;
} tie;

static int compare_ties(const void *a, const void *b) {
    const tie *one = a, *other = b;
    for (int k = 0; k < 3; k++) {
        if (one->at[k] != other->at[k]) return one->at[k] < other->at[k] ? -1 : 1;
    }
    if (one->color != other->color) return one->color < other->color ? -1 : 1;
    return one->index < other->index ? -1 : 1;
}

static bool is_one_place(const tie *a, const tie *b) {
    return a->at[0] == b->at[0] && a->at[1] == b->at[1] && a->at[2] == b->at[2];
}

/* Puts the points [first, end) into order. */
static mote_status settle_run(mote_renderer *renderer, uint32_t first, uint32_t end, bool *tied) {
    render_points *points = &renderer->points;
    tie *ties = mote_alloc(renderer->ctx, (uint64_t)(end - first) * sizeof *ties, "points of a picture");
    if (ties == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = first; i < end; i++) {
        const tie t = {{points->at[0][i], points->at[1][i], points->at[2][i]}, points->color[i], points->index[i]};
        ties[i - first] = t;
    }
    qsort(ties, end - first, sizeof *ties, compare_ties);
    for (uint32_t i = first; i < end; i++) {
        const tie *t = &ties[i - first];
        for (int k = 0; k < 3; k++) points->at[k][i] = t->at[k];
        points->color[i] = t->color;
        points->index[i] = t->index;
        if (i > first && is_one_place(t, t - 1)) *tied = true;
    }
    mote_free(renderer->ctx, ties);
    return MOTE_OK;
}

static bool is_same_place(const render_points *points, uint32_t a, uint32_t b) {
    return points->at[0][a] == points->at[0][b] && points->at[1][a] == points->at[1][b] &&
           points->at[2][a] == points->at[2][b];
}

/* Whether a point belongs to the run of the one before it: of one code, or, without codes, in one place. */
static bool continues(const render_points *points, const uint64_t *codes, uint32_t i) {
    return codes != NULL ? codes[i] == codes[i - 1] : is_same_place(points, i, i - 1);
}

/* Runs are few and short, except those of duplicates. */
static mote_status settle_ties(mote_renderer *renderer, const uint64_t *codes) {
    render_points *points = &renderer->points;
    const int64_t parts = (int64_t)points->batch_count;
    bool failed = false, tied = false;
#pragma omp parallel for schedule(dynamic, BATCHES_AT_ONCE) num_threads(renderer->ctx->threads)                        \
    reduction(||                                                                                                       \
              : failed, tied)
    for (int64_t p = 0; p < parts; p++) {
        if (mote_stop(renderer->ctx)) continue;
        uint32_t first = (uint32_t)p * RENDER_BATCH;
        const uint32_t last = points->count - first < RENDER_BATCH ? points->count : first + RENDER_BATCH;
        while (first > 0 && first < last && continues(points, codes, first)) first++;
        while (first < last) {
            uint32_t end = first + 1;
            while (end < points->count && continues(points, codes, end)) end++;
            bool here = false;
            if (end - first > 1 && settle_run(renderer, first, end, &here) != MOTE_OK) failed = true;
            tied = tied || here;
            first = end;
        }
    }
    points->tied = tied;
    const mote_status status = mote_stopped(renderer->ctx);
    return failed ? MOTE_ERROR_MEMORY : status;
}

/* ---- batches */

void render_shorten_batch(render_points *points, uint32_t b) {
    const render_batch *batch = &points->batches[b];
    for (int k = 0; k < 3; k++) {
        const double middle = render_batch_middle(batch->min[k], batch->max[k]);
        const double *at = points->at[k] + (uint64_t)b * RENDER_BATCH;
        float *to = points->local[k] + (uint64_t)b * RENDER_BATCH;
        for (uint32_t i = 0; i < RENDER_BATCH; i++) to[i] = (float)(at[i] - middle);
    }
}

static void bound_batch(render_points *points, uint32_t b) {
    render_batch *batch = &points->batches[b];
    const uint32_t first = b * RENDER_BATCH;
    const uint32_t end = points->count - first < RENDER_BATCH ? points->count : first + RENDER_BATCH;
    float spacings[RENDER_BATCH / RENDER_SUBBATCH];
    uint32_t parts = 0;
    for (int k = 0; k < 3; k++) batch->min[k] = DBL_MAX, batch->max[k] = -DBL_MAX;
    for (uint32_t from = first; from < end; from += RENDER_SUBBATCH) {
        const uint32_t to = end - from < RENDER_SUBBATCH ? end : from + RENDER_SUBBATCH;
        double extent[3];
        for (int k = 0; k < 3; k++) {
            double low = DBL_MAX, high = -DBL_MAX;
            for (uint32_t i = from; i < to; i++) {
                low = points->at[k][i] < low ? points->at[k][i] : low;
                high = points->at[k][i] > high ? points->at[k][i] : high;
            }
            extent[k] = high - low;
            batch->min[k] = low < batch->min[k] ? low : batch->min[k];
            batch->max[k] = high > batch->max[k] ? high : batch->max[k];
        }
        spacings[parts++] = render_spacing(extent, to - from);
    }
    batch->spacing = render_median(spacings, parts);
    batch->drawn = 0;
}

static mote_status bound_batches(mote_renderer *renderer) {
    render_points *points = &renderer->points;
#pragma omp parallel for schedule(dynamic, BATCHES_AT_ONCE) num_threads(renderer->ctx->threads)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        if (!mote_stop(renderer->ctx)) bound_batch(points, (uint32_t)b);
    }
    MOTE_TRY(mote_stopped(renderer->ctx));
    points->shortened = false;
    render_keep_boxes(renderer, points->batches);
    return MOTE_OK;
}

/* ---- load */

static bool reserve_points(mote_renderer *renderer) {
    render_points *points = &renderer->points;
    mote_context *ctx = renderer->ctx;
    const uint64_t rows = renderer->cloud->count, batches = (rows + RENDER_BATCH - 1) / RENDER_BATCH;
    const uint64_t padded = batches * RENDER_BATCH;
    const char *what = "points of a picture";
    if (points->color != NULL) return true;
    points->apart = points->index_apart = 1;
    points->color = mote_alloc(ctx, padded * sizeof *points->color, what);
    points->batches = mote_alloc(ctx, batches * sizeof *points->batches, what);
    renderer->boxes = mote_alloc(ctx, batches * sizeof *renderer->boxes, what);
    bool complete = points->color != NULL && points->batches != NULL;
    for (int k = 0; k < 3; k++) {
        points->at[k] = mote_alloc(ctx, padded * sizeof *points->at[k], what);
        points->local[k] = mote_alloc(ctx, padded * sizeof *points->local[k], what);
        complete = complete && points->at[k] != NULL && points->local[k] != NULL;
    }
    return complete && renderer->boxes != NULL;
}

/* Takes the order of the points; codes: for the caller to free. */
static mote_status sort_points(mote_renderer *renderer, uint64_t **codes) {
    mote_context *ctx = renderer->ctx;
    order_of_cloud made;
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.7);
    const mote_status status = order_of_cloud_make(ctx, renderer->cloud, &made);
    mote_progress_leave(ctx, whole);
    if (status != MOTE_OK) return status;
    mote_free(ctx, renderer->points.index);
    renderer->points.index = made.order;
    *codes = made.codes;
    renderer->points.count = (uint32_t)(renderer->cloud->count - made.skipped);
    renderer->points.batch_count = (renderer->points.count + RENDER_BATCH - 1) / RENDER_BATCH;
    return MOTE_OK;
}

/* Coordinates of files are mostly whole numbers of 32 bits: read without asking for each what it is. */
static bool are_integers(const mote_column *const axes[3]) {
    bool all = true;
    for (int k = 0; k < 3; k++) all = all && axes[k]->type == MOTE_INT32 && axes[k]->bit_count == 0;
    return all;
}

/* Does what column_value does, where are_integers holds. */
static inline double integer_value(const mote_column *column, uint64_t row) {
    int32_t value;
    memcpy(&value, column_at(column, row), sizeof value);
    return (double)value * column->scale + column->offset;
}

/* Positions and colours by place; behind the last point copies of it that are not drawn, up to a whole batch. */
static void gather_batch(render_points *points, const mote_column *const axes[3], bool integers,
                         const render_color_source *colors, uint64_t first) {
    const uint64_t count = points->count;
    for (uint64_t i = first; i < first + RENDER_BATCH; i++) {
        const uint64_t row = points->index[i < count ? i : count - 1];
        const uint64_t later = points->index[i + AHEAD < count ? i + AHEAD : count - 1];
        __builtin_prefetch(column_at(axes[0], later));
        if (colors->present) __builtin_prefetch(column_at(&colors->channels[2], later));
        for (int k = 0; k < 3; k++) {
            points->at[k][i] = integers ? integer_value(axes[k], row) : column_value(axes[k], row);
        }
        points->color[i] = i < count ? render_color_of(colors, row) : RENDER_NO_COLOR;
    }
}

static mote_status gather_points(mote_renderer *renderer, const mote_column *const axes[3],
                                 const render_color_source *colors) {
    render_points *points = &renderer->points;
    const bool integers = are_integers(axes);
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        if (!mote_stop(renderer->ctx)) gather_batch(points, axes, integers, colors, (uint64_t)b * RENDER_BATCH);
    }
    return mote_stopped(renderer->ctx);
}

static mote_status fill_points(mote_renderer *renderer) {
    const mote_column *axes[3];
    uint64_t *codes;
    render_color_source colors;
    memset(&colors, 0, sizeof colors);
    MOTE_TRY(mote_cloud_positions(renderer->ctx, renderer->cloud, axes));
    colors.present = render_find_colors(renderer->ctx, renderer->cloud, renderer->exposure, colors.channels);
    MOTE_TRY(sort_points(renderer, &codes));
    mote_stage(renderer->ctx, "points of a picture");
    mote_status status = gather_points(renderer, axes, &colors);
    if (status == MOTE_OK) status = settle_ties(renderer, codes);
    mote_free(renderer->ctx, codes);
    if (status == MOTE_OK) status = bound_batches(renderer);
    if (status != MOTE_OK) {
        renderer->points.count = renderer->points.batch_count = 0; /* half of them are not shown */
        return status;
    }
    return mote_progress(renderer->ctx, 1, "reading points");
}

mote_status render_load_cpu(mote_renderer *renderer) {
    MOTE_TRY(mote_cloud_need_host(renderer->ctx, renderer->cloud, "a picture on the CPU"));
    if (!reserve_points(renderer)) return MOTE_ERROR_MEMORY;
    mote_status status = fill_points(renderer);
    render_drop_normals_cpu(renderer);
    if (status == MOTE_OK) status = render_own_normals_cpu(renderer);
    return status;
}

mote_status render_set_colors_cpu(mote_renderer *renderer, const uint8_t *rgba, bool on_device) {
    render_points *points = &renderer->points;
    render_color_source colors;
    (void)on_device;
    memset(&colors, 0, sizeof colors);
    colors.rgba = rgba;
    if (rgba == NULL)
        colors.present = render_find_colors(renderer->ctx, renderer->cloud, renderer->exposure, colors.channels);
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t p = 0; p < render_piece_count(points->count); p++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = (uint64_t)p * RENDER_PIECE; i < render_piece_end(p, points->count); i++) {
            points->color[i] = render_color_of(&colors, points->index[i]);
        }
    }
    MOTE_TRY(mote_stopped(renderer->ctx));
    return points->tied ? settle_ties(renderer, NULL) : MOTE_OK;
}

/* ---- normals */

void render_drop_normals_cpu(mote_renderer *renderer) {
    render_points *points = &renderer->points;
    for (int k = 0; k < 3; k++) {
        mote_free(renderer->ctx, points->normal[k]);
        points->normal[k] = NULL;
    }
    mote_free(renderer->ctx, points->spacing);
    points->spacing = NULL;
}

static bool reserve_normals(mote_renderer *renderer) {
    render_points *points = &renderer->points;
    bool complete = true;
    for (int k = 0; k < 3; k++) {
        points->normal[k] = mote_alloc(renderer->ctx, renderer->cloud->count * sizeof(float), "normals of a picture");
        complete = complete && points->normal[k] != NULL;
    }
    if (!complete) render_drop_normals_cpu(renderer);
    return complete;
}

mote_status render_set_normals_cpu(mote_renderer *renderer, const float *const normal[3], const float *spacing,
                                   bool on_device) {
    render_points *points = &renderer->points;
    const uint64_t size_bytes = renderer->cloud->count * sizeof(float);
    (void)on_device;
    render_drop_normals_cpu(renderer);
    if (!reserve_normals(renderer)) return MOTE_ERROR_MEMORY;
    for (int k = 0; k < 3; k++) memcpy(points->normal[k], normal[k], size_bytes);
    if (spacing == NULL) return MOTE_OK;
    points->spacing = mote_alloc(renderer->ctx, size_bytes, "normals of a picture");
    if (points->spacing == NULL) return MOTE_ERROR_MEMORY;
    memcpy(points->spacing, spacing, size_bytes);
    return MOTE_OK;
}

mote_status render_own_normals_cpu(mote_renderer *renderer) {
    static const char *const names[3] = {"normal_x", "normal_y", "normal_z"};
    const mote_column *columns[3];
    for (int k = 0; k < 3; k++) {
        columns[k] = mote_cloud_find(renderer->cloud, names[k]);
        if (columns[k] == NULL) return MOTE_OK;
    }
    if (!reserve_normals(renderer)) return MOTE_ERROR_MEMORY;
    const uint64_t count = renderer->cloud->count;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t p = 0; p < render_piece_count(count); p++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = (uint64_t)p * RENDER_PIECE; i < render_piece_end(p, count); i++) {
            for (int k = 0; k < 3; k++) renderer->points.normal[k][i] = (float)column_value(columns[k], i);
        }
    }
    return mote_stopped(renderer->ctx);
}

void render_unload_points_cpu(mote_renderer *renderer) {
    render_points *points = &renderer->points;
    render_drop_normals_cpu(renderer);
    for (int k = 0; k < 3; k++) {
        mote_free(renderer->ctx, points->at[k]);
        mote_free(renderer->ctx, points->local[k]);
    }
    mote_free(renderer->ctx, points->color);
    mote_free(renderer->ctx, points->index);
    mote_free(renderer->ctx, points->batches);
}
