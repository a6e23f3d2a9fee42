/* Shifted sorting on CPU cores. For each space (the cube itself, or with buckets all ten): the points in four orders,
   and where each query stands in them; then the queries of the space, in the order in which they lie together.

     orders[s]   [ w w w w w|w w w w w ... ]   points as places on the index's curve, by (code of shift s, index)
                     \______^______/           a query's window: its candidates
     places[w]   { 3, 17, 4, 9 }               where the point w stands in the four orders: a point of the window of
                                               an earlier order was seen there */
#include "knn/shifted/knn_shifted_math.h"

#include "core/cloud.h"
#include "knn/cpu/knn_cpu.h"
#include "math/search.h"
#include "order/sort/order_sort_cpu.h"

#define ALONE 4096u /* points, or queries, that are not worth waking other threads */

typedef uint32_t shift_places[KNN_SHIFTS];

typedef struct shifted {
    const knn_job *job;
    uint64_t points, finite; /* of the cloud */
    uint64_t queries;        /* that are finite */
    knn_cube cube;           /* of points and queries, in the world */
    uint64_t *cells;         /* [point], by row */
    uint64_t *query_cells;   /* [query], by place */
    uint64_t *codes;         /* [point] of the order at hand */
    uint32_t *curve;         /* [point] its place on the index's curve */
    uint32_t *orders[KNN_SHIFTS];
    shift_places *places;           /* [place on the curve] */
    shift_places *insertion_places; /* [query] */
    uint8_t *spaces;                /* [query] */
    uint32_t space;                 /* at hand */
} shifted;

static int threads_for(const shifted *s, uint64_t count) { return count < ALONE ? 1 : s->job->index->ctx->threads; }

/* ---- cells */

static mote_status find_cube(shifted *s) {
    mote_context *ctx = s->job->index->ctx;
    mote_box box, other;
    MOTE_TRY(mote_cloud_bounds(ctx, s->job->index->cloud, &box, NULL));
    if (s->job->queries != NULL) {
        MOTE_TRY(mote_cloud_bounds(ctx, s->job->queries, &other, NULL));
        for (int k = 0; k < 3; k++) {
            box.min[k] = fmin(box.min[k], other.min[k]);
            box.max[k] = fmax(box.max[k], other.max[k]);
        }
    }
    s->cube = knn_cube_make(box.min, box.max, KNN_CELLS);
    return MOTE_OK;
}

/* rows: of which points; NULL: all. */
static mote_status make_cells(const shifted *s, const mote_cloud *cloud, const uint32_t *rows, uint64_t count,
                              uint64_t *cells) {
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(s->job->index->ctx, cloud, axes));
#pragma omp parallel for schedule(static) num_threads(threads_for(s, count))
    for (uint64_t i = 0; i < count; i++) {
        double at[3];
        for (int k = 0; k < 3; k++) at[k] = mote_column_value(axes[k], rows != NULL ? rows[i] : i);
        cells[i] = knn_cube_pack(&s->cube, at);
    }
    return MOTE_OK;
}

static mote_status find_cells(shifted *s) {
    const knn_job *job = s->job;
    const uint32_t *order = job->index->order;
    const mote_cloud *asked = job->queries != NULL ? job->queries : job->index->cloud;
    MOTE_TRY(find_cube(s));
    MOTE_TRY(make_cells(s, job->index->cloud, NULL, s->points, s->cells));
    MOTE_TRY(make_cells(s, asked, job->query_set->points.order, s->queries, s->query_cells));
#pragma omp parallel for schedule(static) num_threads(threads_for(s, s->points))
    for (uint64_t place = 0; place < s->points; place++) s->curve[order[place]] = (uint32_t)place;
    return MOTE_OK;
}

/* ---- spaces */

static void find_spaces(const shifted *s) {
#pragma omp parallel for schedule(static) num_threads(threads_for(s, s->queries))
    for (uint64_t q = 0; q < s->queries; q++) {
        knn_ellipsoid ellipsoid;
        s->spaces[q] = KNN_PLAIN;
        if (!s->job->params->buckets) continue;
        knn_ellipsoid_of_row(s->job->ellipsoids, s->job->query_set->points.order[q], &ellipsoid);
        s->spaces[q] = (uint8_t)knn_space_of(ellipsoid.normal);
    }
}

/* Widens a box to hold a stretched cell. */
static void add_stretched(const knn_space *space, uint64_t cell, double low[3], double high[3]) {
    double at[3];
    if (cell == KNN_NON_FINITE) return;
    knn_space_stretch(space, cell, at);
    for (int k = 0; k < 3; k++) {
        low[k] = fmin(low[k], at[k]);
        high[k] = fmax(high[k], at[k]);
    }
}

/* The cube of a space: around the stretched cells of all points and of its queries. */
static knn_cube cube_of(const shifted *s, const knn_space *space) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint64_t i = 0; i < s->points && space->number != KNN_PLAIN; i++) {
        add_stretched(space, s->cells[i], low, high);
    }
    for (uint64_t q = 0; q < s->queries && space->number != KNN_PLAIN; q++) {
        if (s->spaces[q] == space->number) add_stretched(space, s->query_cells[q], low, high);
    }
    return knn_cube_make(low, high, KNN_CELLS - 1);
}

/* ---- orders */

static mote_status make_order(shifted *s, const knn_space *space, const knn_cube *cube, uint32_t shift) {
    mote_context *ctx = s->job->index->ctx;
    uint32_t *const order = s->orders[shift];
#pragma omp parallel for schedule(static) num_threads(threads_for(s, s->points))
    for (uint64_t i = 0; i < s->points; i++) s->codes[i] = knn_space_code(space, cube, s->cells[i], shift);
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0); /* short beside the search */
    const mote_status status = order_sort_cpu(ctx, s->codes, order, s->points);
    mote_progress_leave(ctx, whole);
    if (status != MOTE_OK) return status;
#pragma omp parallel for schedule(static) num_threads(threads_for(s, s->points))
    for (uint64_t place = 0; place < s->points; place++) {
        order[place] = s->curve[order[place]];
        s->places[order[place]][shift] = (uint32_t)place;
    }
#pragma omp parallel for schedule(static) num_threads(threads_for(s, s->queries))
    for (uint64_t q = 0; q < s->queries; q++) {
        const uint64_t code = knn_space_code(space, cube, s->query_cells[q], shift);
        s->insertion_places[q][shift] = (uint32_t)mote_lower_bound64(s->codes, s->finite, code);
    }
    return MOTE_OK;
}

/* ---- the search */

/* Offers the points of four windows, each once. */
static bool offer_windows(const void *user, knn_query *query) {
    const shifted *s = user;
    const uint32_t beside = s->job->params->lambda * s->job->params->k;
    uint32_t first[KNN_SHIFTS], end[KNN_SHIFTS];
    if (s->spaces[query->place] != s->space) return false;
    for (uint32_t shift = 0; shift < KNN_SHIFTS; shift++) {
        const uint32_t stands = s->insertion_places[query->place][shift];
        knn_shifted_window(stands, beside, (uint32_t)s->finite, &first[shift], &end[shift]);
        for (uint32_t i = first[shift]; i < end[shift]; i++) {
            const uint32_t point = s->orders[shift][i];
            const uint32_t *places = s->places[point];
            bool is_seen = false;
            for (uint32_t r = 0; r < shift; r++) is_seen = is_seen || places[r] - first[r] < end[r] - first[r];
            if (!is_seen) knn_offer(query, point);
        }
    }
    return true;
}

static mote_status search_space(shifted *s, uint32_t number, double first, double last) {
    const knn_space space = knn_space_make(number, s->job->params->compression);
    const knn_cube cube = cube_of(s, &space);
    s->space = number;
    for (uint32_t shift = 0; shift < KNN_SHIFTS; shift++) MOTE_TRY(make_order(s, &space, &cube, shift));
    return knn_for_queries(s->job, offer_windows, s, first, last);
}

static mote_status search_spaces(shifted *s) {
    const uint32_t first = s->job->params->buckets ? 0 : KNN_PLAIN, count = KNN_PLAIN + 1 - first;
    MOTE_TRY(find_cells(s));
    find_spaces(s);
    for (uint32_t i = 0; i < count; i++) {
        MOTE_TRY(search_space(s, first + i, (double)i / count, (double)(i + 1) / count));
    }
    return MOTE_OK;
}

mote_status knn_search_shifted(const knn_job *job) {
    mote_context *ctx = job->index->ctx;
    const uint64_t points = job->index->cloud->count, queries = job->query_set->points.count;
    shifted s = {.job = job, .points = points, .finite = points - job->index->skipped, .queries = queries};
    s.cells = mote_alloc(ctx, points * sizeof *s.cells, "shifted cells");
    s.query_cells = mote_alloc(ctx, queries * sizeof *s.query_cells, "shifted cells");
    s.codes = mote_alloc(ctx, points * sizeof *s.codes, "codes");
    s.curve = mote_alloc(ctx, points * sizeof *s.curve, "shifted orders");
    uint32_t *orders = mote_alloc(ctx, points * KNN_SHIFTS * sizeof *orders, "shifted orders");
    s.places = mote_alloc(ctx, points * sizeof *s.places, "shifted orders");
    s.insertion_places = mote_alloc(ctx, queries * sizeof *s.insertion_places, "shifted places");
    s.spaces = mote_alloc(ctx, queries, "shifted places");
    for (uint32_t shift = 0; shift < KNN_SHIFTS && orders != NULL; shift++) s.orders[shift] = orders + shift * points;
    const bool all = s.cells != NULL && s.query_cells != NULL && s.codes != NULL && s.curve != NULL && orders != NULL &&
                     s.places != NULL && s.insertion_places != NULL && s.spaces != NULL;
    const mote_status status = all ? search_spaces(&s) : MOTE_ERROR_MEMORY;
    mote_free(ctx, s.cells);
    mote_free(ctx, s.query_cells);
    mote_free(ctx, s.codes);
    mote_free(ctx, s.curve);
    mote_free(ctx, orders);
    mote_free(ctx, s.places);
    mote_free(ctx, s.insertion_places);
    mote_free(ctx, s.spaces);
    return status;
}
