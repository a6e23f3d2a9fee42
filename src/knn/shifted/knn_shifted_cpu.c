/* Shifted sorting on CPU cores. For each space that is asked (the cube itself, or with buckets up to nine): the points
   in four orders, as leaves, and where each query stands in them; then all queries of the space, in the order in which
   they lie together. */
#include "core/cloud.h"
#include "knn/knn_cpu.h"
#include "knn/shifted/knn_shifted_math.h"
#include "math/search.h"
#include "order/sort/order_sort_cpu.h"

#define STEP_QUERIES  16384u /* between two reports of progress */
#define SHARE_QUERIES 64u    /* that a thread takes at once */

#define ALONE 4096u /* points, or queries, that are not worth waking other threads */

typedef uint32_t cell3[3];

static int threads_for(const mote_context *ctx, uint64_t count) { return count < ALONE ? 1 : ctx->threads; }

/* One of the four orders. */
typedef struct shifted_order {
    knn_points points;
    uint32_t *order;  /* [points of the cloud] */
    uint32_t *places; /* [queries] by place in the list of members */
} shifted_order;

typedef struct shifted {
    mote_knn_index *index;
    const knn_query_set *query_set;
    const knn_ellipsoids *ellipsoids; /* NULL: spheres */
    const mote_knn_params *params;
    const mote_knn_result *result;
    uint64_t points, finite; /* of the cloud */
    uint64_t queries;        /* that are somewhere */
    knn_reading reading;     /* of positions, as the tree has them */
    cell3 *cells;            /* [points] of the cube; not finite: whatever */
    cell3 *query_cells;      /* [queries] */
    uint8_t *bad;            /* [points] not finite */
    uint64_t *codes;         /* [points] of the order at hand */
    uint8_t *spaces;         /* [queries] */
    uint32_t *members;       /* [queries] those of the space at hand */
    uint64_t member_count, done;
    shifted_order orders[KNN_SHIFTS];
} shifted;

/* ---- the cube */

static bool world_of(const mote_column *const axes[3], uint64_t i, double at[3]) {
    for (int k = 0; k < 3; k++) at[k] = mote_column_value(axes[k], i);
    return isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
}

/* Widens the box to hold the finite ones of count points.
   order  which they are; NULL: all */
static void add_bounds(const mote_context *ctx, const mote_column *const axes[3], const uint32_t *order, uint64_t count,
                       double low[3], double high[3]) {
    double x0 = low[0], y0 = low[1], z0 = low[2], x1 = high[0], y1 = high[1], z1 = high[2];
#pragma omp parallel for num_threads(threads_for(ctx, count)) reduction(min : x0, y0, z0) reduction(max : x1, y1, z1)
    for (uint64_t i = 0; i < count; i++) {
        double at[3];
        if (!world_of(axes, order != NULL ? order[i] : i, at)) continue;
        x0 = at[0] < x0 ? at[0] : x0, y0 = at[1] < y0 ? at[1] : y0, z0 = at[2] < z0 ? at[2] : z0;
        x1 = at[0] > x1 ? at[0] : x1, y1 = at[1] > y1 ? at[1] : y1, z1 = at[2] > z1 ? at[2] : z1;
    }
    low[0] = x0, low[1] = y0, low[2] = z0;
    high[0] = x1, high[1] = y1, high[2] = z1;
}

/* The cells of all points, and of the queries by place. */
static void find_cells(shifted *s, const mote_column *const axes[3], const mote_column *const query_axes[3], bool own) {
    const mote_context *ctx = s->index->ctx;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    add_bounds(ctx, axes, NULL, s->points, low, high);
    if (!own) add_bounds(ctx, query_axes, s->query_set->points.order, s->queries, low, high);
    const knn_cube cube = knn_cube_make(low, high, KNN_CELLS);
#pragma omp parallel for schedule(static) num_threads(threads_for(ctx, s->points))
    for (uint64_t i = 0; i < s->points; i++) {
        double at[3];
        s->bad[i] = !world_of(axes, i, at);
        knn_cube_cell(&cube, at, s->cells[i]);
    }
#pragma omp parallel for schedule(static) num_threads(threads_for(ctx, s->queries))
    for (uint64_t q = 0; q < s->queries; q++) {
        double at[3];
        const uint64_t row = s->query_set->points.order[q];
        if (own) {
            memcpy(s->query_cells[q], s->cells[row], sizeof s->query_cells[q]);
        } else {
            world_of(query_axes, row, at);
            knn_cube_cell(&cube, at, s->query_cells[q]);
        }
    }
}

/* ---- spaces */

typedef struct space {
    uint32_t number;
    double axis[3], stretch;
    knn_cube cube;
} space;

static void cell_in(const space *in, const uint32_t of[3], uint32_t cell[3]) {
    double at[3];
    if (in->number == KNN_PLAIN) {
        memcpy(cell, of, 3 * sizeof *cell);
        return;
    }
    knn_space_stretch(in->axis, in->stretch, of, at);
    knn_cube_cell(&in->cube, at, cell);
}

/* Widens the box to hold the stretched cells. */
static void stretched_bounds(const space *in, const uint32_t cell[3], double low[3], double high[3]) {
    double at[3];
    knn_space_stretch(in->axis, in->stretch, cell, at);
    for (int k = 0; k < 3; k++) {
        low[k] = at[k] < low[k] ? at[k] : low[k];
        high[k] = at[k] > high[k] ? at[k] : high[k];
    }
}

static void make_space(const shifted *s, uint32_t number, space *in) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    in->number = number;
    if (number == KNN_PLAIN) return;
    in->stretch = s->params->compression - 1;
    knn_space_axis(number, in->axis);
#pragma omp parallel num_threads(threads_for(s->index->ctx, s->points + s->member_count))
    {
        double min[3] = {INFINITY, INFINITY, INFINITY}, max[3] = {-INFINITY, -INFINITY, -INFINITY};
#pragma omp for schedule(static) nowait
        for (uint64_t i = 0; i < s->points; i++) {
            if (!s->bad[i]) stretched_bounds(in, s->cells[i], min, max);
        }
#pragma omp for schedule(static) nowait
        for (uint64_t m = 0; m < s->member_count; m++) {
            stretched_bounds(in, s->query_cells[s->members[m]], min, max);
        }
#pragma omp critical(shifted_bounds)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], min[k]);
            high[k] = fmax(high[k], max[k]);
        }
    }
    in->cube = knn_cube_make(low, high, KNN_CELLS - 1);
}

static void find_spaces(shifted *s) {
#pragma omp parallel for schedule(static) num_threads(threads_for(s->index->ctx, s->queries))
    for (uint64_t q = 0; q < s->queries; q++) {
        knn_ellipsoid of;
        s->spaces[q] = KNN_PLAIN;
        if (!s->params->buckets) continue;
        knn_ellipsoid_of_row(s->ellipsoids, s->query_set->points.order[q], &of);
        s->spaces[q] = (uint8_t)knn_space_of(of.normal);
    }
}

static void find_members(shifted *s, uint32_t number) {
    s->member_count = 0;
    for (uint64_t q = 0; q < s->queries; q++) {
        if (s->spaces[q] == number) s->members[s->member_count++] = (uint32_t)q;
    }
}

/* ---- orders */

static mote_status sort_points(shifted *s, const space *in, uint32_t shift) {
    mote_context *ctx = s->index->ctx;
#pragma omp parallel for schedule(static) num_threads(threads_for(ctx, s->points))
    for (uint64_t i = 0; i < s->points; i++) {
        cell3 cell;
        cell_in(in, s->cells[i], cell);
        s->codes[i] = s->bad[i] ? UINT64_MAX : knn_shifted_code(cell, shift);
    }
    const double first = ctx->progress_first, last = ctx->progress_last;
    mote_progress_share(ctx, first, first); /* short beside the search */
    const mote_status status = order_sort_cpu(ctx, s->codes, s->orders[shift].order, s->points);
    mote_progress_share(ctx, first, last);
    return status;
}

static mote_status make_order(shifted *s, const space *in, uint32_t shift) {
    mote_context *ctx = s->index->ctx;
    shifted_order *to = &s->orders[shift];
    MOTE_TRY(sort_points(s, in, shift));
    MOTE_TRY(knn_points_read(ctx, &s->reading, to->order, s->finite, &to->points));
#pragma omp parallel for schedule(static) num_threads(threads_for(ctx, s->member_count))
    for (uint64_t m = 0; m < s->member_count; m++) {
        cell3 cell;
        cell_in(in, s->query_cells[s->members[m]], cell);
        to->places[m] = (uint32_t)mote_lower_bound64(s->codes, s->finite, knn_shifted_code(cell, shift));
    }
    return MOTE_OK;
}

/* ---- the search */

/* Which points a query has seen: a hash table with linear probing, emptied by a new number of the query. */
typedef struct seen {
    uint64_t *slots; /* query << 32 | index */
    uint32_t query, mask;
} seen;

static bool see(seen *points, uint32_t index) {
    const uint64_t mine = (uint64_t)points->query << 32 | index;
    for (uint32_t i = (index * 0x9E3779B1u >> 7) & points->mask;; i = (i + 1) & points->mask) {
        const uint64_t slot = points->slots[i];
        if (slot == mine) return false;
        if (slot >> 32 != points->query) {
            points->slots[i] = mine;
            return true;
        }
    }
}

typedef struct scratch {
    knn_best best;
    seen points;
} scratch;

/* The query at work. */
typedef struct query_point {
    knn_place at;
    knn_ellipsoid of;
    uint32_t self; /* the point that does not count; UINT32_MAX: all do */
} query_point;

/* Keys of the eight points of a leaf: as knn_key_of and knn_key_of_ellipsoid, eight at once. */
SIMD_INLINE void keys_of_leaf(knn_kind kind, bool ellipsoid, const knn_metric *metric, const knn_points *points,
                              uint64_t leaf, const query_point *query, uint64_t keys[KNN_LEAF]) {
    double d[3][KNN_LEAF], squares[KNN_LEAF];
    if (kind == KNN_INT && !ellipsoid) {
        for (uint32_t l = 0; l < KNN_LEAF; l++) {
            knn_place point;
            knn_place_of(kind, points, KNN_LEAF * leaf + l, &point);
            keys[l] = knn_key_of(kind, metric, &query->at, &point);
        }
        return;
    }
    for (uint64_t k = 0; k < 3; k++) {
        const uint8_t *row = knn_row(kind, points->leaves, 3 * leaf + k);
        for (uint32_t l = 0; l < KNN_LEAF; l++) {
            d[k][l] = kind == KNN_INT     ? (double)(((const int32_t *)row)[l] - query->at.step[k])
                      : kind == KNN_FLOAT ? (double)((const float *)row)[l] - query->at.value[k]
                                          : ((const double *)row)[l] - query->at.value[k];
            if (kind != KNN_FLOAT) d[k][l] *= metric->scale[k];
        }
    }
    for (uint32_t l = 0; l < KNN_LEAF; l++) {
        squares[l] = ellipsoid ? knn_real_ellipsoid(d[0][l], d[1][l], d[2][l], &query->of)
                               : (d[0][l] * d[0][l] + d[1][l] * d[1][l]) + d[2][l] * d[2][l];
    }
    memcpy(keys, squares, sizeof squares);
}

/* Takes what is new of the places [first, last) of an order. */
SIMD_INLINE void take_window(knn_kind kind, bool ellipsoid, const shifted *s, const knn_points *points, uint32_t first,
                             uint32_t last, const query_point *query, scratch *with) {
    const knn_metric *metric = &s->query_set->tree->metric;
    knn_best *best = &with->best;
    for (uint64_t leaf = first / KNN_LEAF; leaf * KNN_LEAF < last; leaf++) {
        const uint32_t begin = (uint32_t)(leaf * KNN_LEAF);
        uint64_t keys[KNN_LEAF];
        uint32_t hits = 0;
        keys_of_leaf(kind, ellipsoid, metric, points, leaf, query, keys);
        for (uint32_t l = 0; l < KNN_LEAF; l++) hits |= (uint32_t)(keys[l] <= best->limit) << l;
        if (begin < first) hits &= ~0u << (first - begin);
        if (last - begin < KNN_LEAF) hits &= (1u << (last - begin)) - 1;
        for (; hits != 0; hits &= hits - 1) {
            const uint32_t l = (uint32_t)__builtin_ctz(hits), index = points->order[begin + l];
            if (keys[l] > best->limit || index == query->self || !see(&with->points, index)) continue;
            knn_best_take(best, keys[l], begin + l, index);
        }
    }
}

SIMD_INLINE void search_member(knn_kind kind, bool ellipsoid, const shifted *s, uint64_t member, scratch *with) {
    const uint32_t place = s->members[member], row = s->query_set->points.order[place];
    const uint32_t beside = s->params->lambda * s->params->k;
    query_point query;
    knn_place_of(kind, &s->query_set->points, place, &query.at);
    if (ellipsoid) knn_ellipsoid_of_row(s->ellipsoids, row, &query.of);
    query.self = s->params->exclude_self ? row : UINT32_MAX;
    knn_best_reset(&with->best, knn_limit_of(&s->query_set->tree->metric, s->ellipsoids, s->params->radius));
    with->points.query++;
    for (uint32_t shift = 0; shift < KNN_SHIFTS; shift++) {
        const shifted_order *order = &s->orders[shift];
        uint32_t first, last;
        knn_shifted_window(order->places[member], beside, (uint32_t)s->finite, &first, &last);
        take_window(kind, ellipsoid, s, &order->points, first, last, &query, with);
    }
    knn_best_finish(&with->best);
    knn_row_write(s->result, ellipsoid ? &s->ellipsoids->keys : &s->query_set->tree->metric, s->params->k, row,
                  with->best.list, with->best.count);
}

#define SEARCH(name, kind, ellipsoid)                                                                                  \
    static void name(const shifted *s, uint64_t first, uint64_t last, scratch *with) {                                 \
        for (uint64_t m = first; m < last; m++) search_member(kind, ellipsoid, s, m, with);                            \
    }
SEARCH(search_int, KNN_INT, false)
SEARCH(search_float, KNN_FLOAT, false)
SEARCH(search_double, KNN_DOUBLE, false)
SEARCH(search_int_ellipsoids, KNN_INT, true)
SEARCH(search_float_ellipsoids, KNN_FLOAT, true)
SEARCH(search_double_ellipsoids, KNN_DOUBLE, true)
#undef SEARCH

typedef void (*search_fn)(const shifted *s, uint64_t first, uint64_t last, scratch *with);

static mote_status search_members(shifted *s, scratch *scratches) {
    static const search_fn searches[2][3] = {
        {search_int, search_float, search_double},
        {search_int_ellipsoids, search_float_ellipsoids, search_double_ellipsoids}};
    const search_fn search = searches[s->ellipsoids != NULL][s->query_set->tree->metric.kind];
    mote_context *ctx = s->index->ctx;
    for (uint64_t step = 0; step < s->member_count; step += STEP_QUERIES) {
        const uint64_t end = s->member_count - step < STEP_QUERIES ? s->member_count : step + STEP_QUERIES;
#pragma omp parallel for schedule(dynamic, 1) num_threads(end - step <= SHARE_QUERIES ? 1 : ctx->threads)
        for (uint64_t m = step; m < end; m += SHARE_QUERIES) {
            search(s, m, end - m < SHARE_QUERIES ? end : m + SHARE_QUERIES, &scratches[mote_thread_number()]);
        }
        s->done += end - step;
        MOTE_TRY(mote_progress(ctx, (double)s->done / (double)s->queries, "searching neighbours"));
    }
    return MOTE_OK;
}

/* ---- memory */

/* A list for a thread, and a table of at least twice what it may see. */
static mote_status make_scratch(mote_context *ctx, const mote_knn_params *params, scratch *with) {
    const uint32_t buffer = 2 * params->k + 16, max = 2 * 2 * KNN_SHIFTS * params->lambda * params->k;
    uint32_t slots = 64;
    while (slots < max) slots *= 2;
    with->best.list = mote_alloc(ctx, buffer * sizeof *with->best.list, "knn scratch");
    with->best.capacity = buffer;
    with->best.k = params->k;
    with->points.slots = mote_alloc_zero(ctx, slots * sizeof *with->points.slots, "knn scratch");
    with->points.mask = slots - 1;
    return with->best.list != NULL && with->points.slots != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status make_scratches(mote_context *ctx, const mote_knn_params *params, scratch **scratches) {
    *scratches = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof **scratches, "knn scratch");
    if (*scratches == NULL) return MOTE_ERROR_MEMORY;
    for (int t = 0; t < ctx->threads; t++) MOTE_TRY(make_scratch(ctx, params, &(*scratches)[t]));
    return MOTE_OK;
}

static void free_scratches(mote_context *ctx, scratch *scratches) {
    for (int t = 0; t < ctx->threads && scratches != NULL; t++) {
        mote_free(ctx, scratches[t].best.list);
        mote_free(ctx, scratches[t].points.slots);
    }
    mote_free(ctx, scratches);
}

static mote_status make_arrays(shifted *s) {
    mote_context *ctx = s->index->ctx;
    s->cells = mote_alloc(ctx, s->points * sizeof *s->cells, "shifted cells");
    s->query_cells = mote_alloc(ctx, s->queries * sizeof *s->query_cells, "shifted cells");
    s->bad = mote_alloc(ctx, s->points, "shifted cells");
    s->codes = mote_alloc(ctx, s->points * sizeof *s->codes, "codes");
    s->spaces = mote_alloc(ctx, s->queries, "shifted places");
    s->members = mote_alloc(ctx, s->queries * sizeof *s->members, "shifted places");
    bool all = s->cells != NULL && s->query_cells != NULL && s->bad != NULL && s->codes != NULL && s->spaces != NULL &&
               s->members != NULL;
    for (uint32_t shift = 0; shift < KNN_SHIFTS; shift++) {
        shifted_order *order = &s->orders[shift];
        order->order = mote_alloc(ctx, s->points * sizeof *order->order, "shifted orders");
        order->places = mote_alloc(ctx, s->queries * sizeof *order->places, "shifted places");
        all = all && order->order != NULL && order->places != NULL;
    }
    return all ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void free_arrays(shifted *s) {
    mote_context *ctx = s->index->ctx;
    mote_free(ctx, s->cells);
    mote_free(ctx, s->query_cells);
    mote_free(ctx, s->bad);
    mote_free(ctx, s->codes);
    mote_free(ctx, s->spaces);
    mote_free(ctx, s->members);
    for (uint32_t shift = 0; shift < KNN_SHIFTS; shift++) {
        mote_free(ctx, s->orders[shift].order);
        mote_free(ctx, s->orders[shift].places);
        mote_free(ctx, s->orders[shift].points.leaves);
    }
}

/* ---- all of it */

static mote_status search_spaces(shifted *s, scratch *scratches) {
    find_spaces(s);
    for (uint32_t number = 0; number <= KNN_PLAIN; number++) {
        space in;
        find_members(s, number);
        if (s->member_count == 0) continue;
        make_space(s, number, &in);
        for (uint32_t shift = 0; shift < KNN_SHIFTS; shift++) MOTE_TRY(make_order(s, &in, shift));
        MOTE_TRY(search_members(s, scratches));
    }
    return MOTE_OK;
}

static void set_reading(const mote_knn_index *index, const knn_query_set *query_set, knn_reading *reading) {
    reading->kind = query_set->tree->metric.kind;
    reading->world = query_set->tree == &index->other && index->other_is_world;
    memcpy(reading->origin, index->origin, sizeof reading->origin);
}

mote_status knn_search_shifted(mote_knn_index *index, const mote_cloud *queries, const knn_query_set *query_set,
                               const knn_ellipsoids *ellipsoids, const mote_knn_params *params,
                               const mote_knn_result *result) {
    mote_context *ctx = index->ctx;
    scratch *scratches = NULL;
    const mote_column *axes[3];
    shifted s;
    memset(&s, 0, sizeof s);
    s.index = index;
    s.query_set = query_set;
    s.ellipsoids = ellipsoids;
    s.params = params;
    s.result = result;
    s.points = index->cloud->count;
    s.finite = s.points - index->skipped;
    s.queries = query_set->points.count;
    MOTE_TRY(mote_cloud_positions(ctx, index->cloud, s.reading.axes));
    MOTE_TRY(mote_cloud_positions(ctx, queries != NULL ? queries : index->cloud, axes));
    set_reading(index, query_set, &s.reading);
    mote_status status = make_arrays(&s);
    if (status == MOTE_OK) status = make_scratches(ctx, params, &scratches);
    if (status == MOTE_OK) {
        find_cells(&s, s.reading.axes, axes, queries == NULL);
        status = search_spaces(&s, scratches);
    }
    free_scratches(ctx, scratches);
    free_arrays(&s);
    return status;
}
