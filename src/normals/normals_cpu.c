/* Normals and mean distances on CPU cores: visitors of the search for neighbours. */
#include "core/cloud.h"
#include "knn/knn_visit.h"
#include "normals/normals_math.h"
#include "normals/normals_ops.h"

/* ---- normals */

#define LANES 8u /* matrices solved at once */

typedef struct estimate {
    knn_search search;
    const mote_normals_params *params;
    const mote_normals_result *result;
    const mote_column *axes[3];
    uint32_t *graph; /* [points · graph_k] or NULL */
    double unit[3];  /* normals_unit of each axis */
    bool wants_shape;
} estimate;

/* Points whose neighbours are summed, waiting for their normals. */
typedef struct batch {
    uint32_t count;
    uint64_t row[LANES];
    double m[EIGEN3_NUMBERS][LANES];
} batch;

/* What a thread has of it. */
typedef struct estimating {
    const estimate *all;
    batch *waiting;
} estimating;

/* Each rotation for all lanes; the compiler makes vectors of them. */
static void solve_lanes(double *m) {
    for (uint32_t l = 0; l < LANES; l++) eigen3_begin(m + l, LANES);
    for (int sweep = 0; sweep < EIGEN3_SWEEPS; sweep++) {
        for (uint32_t l = 0; l < LANES; l++) eigen3_rotate_xy(m + l, LANES);
        for (uint32_t l = 0; l < LANES; l++) eigen3_rotate_xz(m + l, LANES);
        for (uint32_t l = 0; l < LANES; l++) eigen3_rotate_yz(m + l, LANES);
    }
}

static bool is_to_be_flipped(const estimate *all, uint64_t row, const double normal[3]) {
    const double *from = all->params->viewpoint;
    switch (all->params->orient) {
    case MOTE_ORIENT_UP: return normals_is_down(normal);
    case MOTE_ORIENT_VIEWPOINT:
        return normals_is_away(normal, from[0] - mote_column_value(all->axes[0], row),
                               from[1] - mote_column_value(all->axes[1], row),
                               from[2] - mote_column_value(all->axes[2], row));
    default: return false;
    }
}

static void write_shape(const estimate *all, uint64_t row, const double *m) {
    const mote_normals_result *to = all->result;
    normals_shape shape = normals_shape_of(m, LANES);
    if (is_to_be_flipped(all, row, shape.normal)) normals_flip(shape.normal);
    if (to->normal_x != NULL) {
        to->normal_x[row] = (float)shape.normal[0];
        to->normal_y[row] = (float)shape.normal[1];
        to->normal_z[row] = (float)shape.normal[2];
    }
    if (to->curvature != NULL) to->curvature[row] = (float)shape.curvature;
}

static void flush(const estimate *all, batch *waiting) {
    if (waiting->count == 0) return;
    solve_lanes(&waiting->m[0][0]);
    for (uint32_t l = 0; l < waiting->count; l++) write_shape(all, waiting->row[l], &waiting->m[0][l]);
    waiting->count = 0;
}

/* How far the neighbours reach: to the k-th, or as far as was looked. */
static void write_density(const estimate *all, uint64_t row, const knn_near *list, uint32_t count) {
    const mote_normals_result *to = all->result;
    const mote_normals_params *p = all->params;
    const bool ended = p->radius > 0 && (p->k == 0 || count < p->k);
    const double others = count > 0 ? count - 1 : 0;
    const double farthest = count > 0 ? knn_distance2(&all->search.tree->metric, list[count - 1].key) : 0;
    const double distance2 = ended ? p->radius * p->radius : farthest;
    if (to->surface_density != NULL) to->surface_density[row] = normals_surface_density(others, distance2);
    if (to->volume_density != NULL) to->volume_density[row] = normals_volume_density(others, distance2);
}

static void write_edges(const estimate *all, uint64_t row, const knn_near *list, uint32_t count) {
    const uint32_t max = all->params->graph_k;
    uint32_t *edges = all->graph + row * max, found = 0;
    for (uint32_t i = 0; i < count && found < max; i++) {
        if (list[i].index != row) edges[found++] = list[i].index;
    }
    while (found < max) edges[found++] = UINT32_MAX;
}

SIMD_INLINE void sum_neighbours(knn_kind kind, const estimate *all, uint32_t query, const knn_near *list,
                                uint32_t count, normals_sums *sums) {
    const knn_search *search = &all->search;
    knn_exact mine, other;
    normals_sums s = {count, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    knn_exact_of(kind, search->queries, query, &mine);
    for (uint32_t i = 0; i < count; i++) {
        double d[3];
        knn_exact_of(kind, &search->tree->points, list[i].at, &other);
        for (int k = 0; k < 3; k++) {
            d[k] = kind == KNN_INT ? (double)(other.step[k] - mine.step[k]) : other.value[k] - mine.value[k];
            if (kind == KNN_DOUBLE) d[k] *= all->unit[k];
        }
        normals_add(&s, d[0], d[1], d[2]);
    }
    *sums = s;
}

static void visit_shape(const void *user, uint32_t query, const knn_near *list, uint32_t count) {
    const estimating *mine = user;
    const estimate *all = mine->all;
    const uint64_t row = all->search.queries->order[query];
    write_density(all, row, list, count);
    if (all->graph != NULL) write_edges(all, row, list, count);
    if (!all->wants_shape) return;
    batch *waiting = mine->waiting;
    normals_sums sums;
    switch (all->search.tree->metric.kind) {
    case KNN_INT: sum_neighbours(KNN_INT, all, query, list, count, &sums); break;
    case KNN_FLOAT: sum_neighbours(KNN_FLOAT, all, query, list, count, &sums); break;
    default: sum_neighbours(KNN_DOUBLE, all, query, list, count, &sums);
    }
    normals_covariance(&sums, &waiting->m[0][waiting->count], LANES);
    waiting->row[waiting->count++] = row;
    if (waiting->count == LANES) flush(all, waiting);
}

static void estimate_groups(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const estimate *all = user;
    batch waiting;
    const estimating mine = {all, &waiting};
    memset(&waiting, 0, sizeof waiting);
    knn_search_groups(&all->search, scratch, first, groups, visit_shape, &mine);
    flush(all, &waiting);
}

/* Zeros for a point that is not finite. */
static void write_nothing(const estimate *all, uint64_t row) {
    const mote_normals_result *to = all->result;
    float *const arrays[] = {to->normal_x,  to->normal_y,        to->normal_z,
                             to->curvature, to->surface_density, to->volume_density};
    for (uint32_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++) {
        if (arrays[a] != NULL) arrays[a][row] = 0;
    }
    if (all->graph != NULL) write_edges(all, row, NULL, 0);
}

/* The most neighbours of any point where the radius alone bounds them: a first walk counts, the second has room. */
static mote_status count_max(mote_knn_index *index, double radius, uint32_t *max) {
    mote_context *ctx = index->ctx;
    const uint64_t points = index->cloud->count;
    uint32_t found = 1;
    uint32_t *counts = mote_alloc(ctx, points * sizeof *counts, "neighbour counts");
    if (counts == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = knn_within_cpu(index, NULL, radius, false, counts, NULL);
    if (status == MOTE_OK) {
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(max : found)
        for (uint64_t i = 0; i < points; i++) found = counts[i] > found ? counts[i] : found;
    }
    mote_free(ctx, counts);
    *max = found;
    return status;
}

static uint64_t count_without(const mote_knn_index *index, const mote_normals_result *n) {
    const uint64_t points = index->cloud->count;
    uint64_t without = 0;
    if (n->normal_x == NULL) return 0;
#pragma omp parallel for schedule(static) num_threads(index->ctx->threads) reduction(+ : without)
    for (uint64_t i = 0; i < points; i++) {
        without += n->normal_x[i] == 0 && n->normal_y[i] == 0 && n->normal_z[i] == 0;
    }
    return without - index->skipped;
}

static mote_status cpu_estimate(mote_knn_index *index, const mote_normals_params *params, mote_normals_result *result,
                                uint32_t *graph) {
    mote_context *ctx = index->ctx;
    knn_query_set query_set;
    estimate all;
    uint32_t k = params->k;
    const double first = params->k == 0 ? 0.4 : 0;
    memset(&all, 0, sizeof all);
    MOTE_TRY(mote_cloud_positions(ctx, index->cloud, all.axes));
    if (params->k == 0) {
        const mote_progress_span whole = mote_progress_enter(ctx, 0, first);
        const mote_status status = count_max(index, params->radius, &k);
        mote_progress_leave(ctx, whole);
        MOTE_TRY(status);
    }
    mote_stage(ctx, "normals");
    MOTE_TRY(knn_query_set_make(index, NULL, &query_set));
    all.search = knn_search_of(index, &query_set, NULL, k, params->radius);
    all.params = params;
    all.result = result;
    all.graph = graph;
    all.wants_shape = result->normal_x != NULL || result->curvature != NULL;
    const knn_metric *metric = &query_set.tree->metric;
    for (int axis = 0; axis < 3; axis++) all.unit[axis] = normals_unit(metric->scale[axis], metric->norm);
    for (uint64_t i = query_set.points.count; i < query_set.rows; i++) write_nothing(&all, query_set.points.order[i]);
    const mote_status status = knn_for_batches(ctx, &all.search, estimate_groups, &all, first, 1);
    knn_query_set_free(ctx, &query_set);
    if (status == MOTE_OK) result->without = count_without(index, result);
    return status;
}

/* ---- mean distances */

typedef struct distances {
    knn_search search;
    double *mean;
    uint32_t *count;
} distances;

static void visit_distances(const void *user, uint32_t query, const knn_near *list, uint32_t count) {
    const distances *all = user;
    const uint64_t row = all->search.queries->order[query];
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += sqrt(knn_distance2(&all->search.tree->metric, list[i].key));
    if (all->mean != NULL) all->mean[row] = count > 0 ? sum / count : NORMALS_ALONE;
    if (all->count != NULL) all->count[row] = count;
}

static void measure_groups(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const distances *all = user;
    knn_search_groups(&all->search, scratch, first, groups, visit_distances, all);
}

static mote_status cpu_distances(mote_knn_index *index, uint32_t k, double radius, double *mean, uint32_t *count) {
    knn_query_set query_set;
    distances all;
    memset(&all, 0, sizeof all);
    mote_stage(index->ctx, "distances");
    MOTE_TRY(knn_query_set_make(index, NULL, &query_set));
    all.search = knn_search_of(index, &query_set, NULL, k, radius);
    all.search.exclude_self = true;
    all.mean = mean;
    all.count = count;
    for (uint64_t i = query_set.points.count; i < query_set.rows; i++) {
        if (mean != NULL) mean[query_set.points.order[i]] = NORMALS_NON_FINITE;
        if (count != NULL) count[query_set.points.order[i]] = 0;
    }
    const mote_status status = knn_for_batches(index->ctx, &all.search, measure_groups, &all, 0, 1);
    knn_query_set_free(index->ctx, &query_set);
    return status;
}

const mote_normals_ops mote_normals_cpu = {cpu_estimate, cpu_distances};
