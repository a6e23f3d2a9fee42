#include "reference/normals_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/knn_reference.h"

#define PI 3.14159265358979323846

static void require(bool holds, const char *what, uint64_t row, const char *of) {
    if (holds) return;
    fprintf(stderr, "%s: point %llu: %s\n", what, (unsigned long long)row, of);
    abort();
}

static void *room(uint64_t count, size_t size) {
    void *memory = malloc((count + 1) * size);
    if (memory == NULL) abort();
    memset(memory, 0x5A, (count + 1) * size);
    return memory;
}

static const mote_column *axis_of(const mote_cloud *cloud, int k) {
    return mote_cloud_find(cloud, k == 0 ? "x" : k == 1 ? "y" : "z");
}

static bool is_finite(const mote_cloud *cloud, uint64_t i) {
    for (int k = 0; k < 3; k++) {
        if (!isfinite(mote_column_value(axis_of(cloud, k), i))) return false;
    }
    return true;
}

/* ---- eigenvalues */

static void rotate(long double a[3][3], long double v[3][3], int p, int q) {
    if (a[p][q] == 0) return;
    const long double angle = 0.5L * atan2l(2 * a[p][q], a[q][q] - a[p][p]);
    const long double c = cosl(angle), s = sinl(angle);
    for (int k = 0; k < 3; k++) {
        const long double kp = a[k][p], kq = a[k][q];
        a[k][p] = c * kp - s * kq;
        a[k][q] = s * kp + c * kq;
    }
    for (int k = 0; k < 3; k++) {
        const long double pk = a[p][k], qk = a[q][k];
        a[p][k] = c * pk - s * qk;
        a[q][k] = s * pk + c * qk;
    }
    for (int k = 0; k < 3; k++) {
        const long double vp = v[p][k], vq = v[q][k];
        v[p][k] = c * vp - s * vq;
        v[q][k] = s * vp + c * vq;
    }
}

void normals_reference_eigen(long double matrix[3][3], long double value[3], long double vector[3][3]) {
    long double a[3][3];
    memcpy(a, matrix, sizeof a);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) vector[i][k] = i == k;
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        rotate(a, vector, 0, 1);
        rotate(a, vector, 0, 2);
        rotate(a, vector, 1, 2);
    }
    for (int i = 0; i < 3; i++) value[i] = a[i][i];
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2; i++) {
            if (value[i] <= value[i + 1]) continue;
            const long double kept = value[i];
            value[i] = value[i + 1];
            value[i + 1] = kept;
            for (int k = 0; k < 3; k++) {
                const long double other = vector[i][k];
                vector[i][k] = vector[i + 1][k];
                vector[i + 1][k] = other;
            }
        }
    }
}

/* ---- normals */

/* The covariance of points of a row, around their mean, of trace 1; false if they are in one place. */
static bool covariance_of(const mote_cloud *cloud, uint64_t point, const knn_reference_neighbour *row, uint64_t count,
                          long double c[3][3]) {
    long double mean[3] = {0, 0, 0}, trace = 0;
    long double *d = room(3 * count, sizeof *d);
    for (uint64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            const mote_column *axis = axis_of(cloud, k);
            double here, there;
            mote_column_read(axis, point, 1, MOTE_FLOAT64, &here);
            mote_column_read(axis, row[i].index, 1, MOTE_FLOAT64, &there);
            d[3 * i + (uint64_t)k] = ((long double)there - (long double)here) * (long double)axis->scale;
            mean[k] += d[3 * i + (uint64_t)k] / (long double)count;
        }
    }
    memset(c, 0, 9 * sizeof c[0][0]);
    for (uint64_t i = 0; i < count; i++) {
        for (uint64_t p = 0; p < 3; p++) {
            for (uint64_t q = 0; q < 3; q++) c[p][q] += (d[3 * i + p] - mean[p]) * (d[3 * i + q] - mean[q]);
        }
    }
    for (int k = 0; k < 3; k++) trace += c[k][k];
    for (int p = 0; p < 3 && trace > 0; p++) {
        for (int q = 0; q < 3; q++) c[p][q] /= trace;
    }
    free(d);
    return trace > 0;
}

/* The arrays of a run. */
typedef struct arrays {
    mote_normals_result result;
    float *all[6];
} arrays;

static void run(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *params, arrays *a,
                const char *what) {
    const uint64_t n = mote_cloud_count(cloud);
    uint32_t mark;
    memset(a, 0, sizeof *a);
    for (int i = 0; i < 6; i++) a->all[i] = room(n, sizeof(float));
    a->result.normal_x = a->all[0], a->result.normal_y = a->all[1], a->result.normal_z = a->all[2];
    a->result.curvature = a->all[3];
    a->result.surface_density = a->all[4], a->result.volume_density = a->all[5];
    const mote_status status = mote_normals(ctx, cloud, params, &a->result);
    require(status == MOTE_OK, what, 0, mote_context_message(ctx));
    for (int i = 0; i < 6; i++) {
        memcpy(&mark, &a->all[i][n], sizeof mark);
        require(mark == 0x5A5A5A5A, what, n, "written past the end");
    }
}

static void drop(arrays *a) {
    for (int i = 0; i < 6; i++) free(a->all[i]);
}

static bool looks_down(const float n[3]) {
    if (n[2] != 0) return n[2] < 0;
    return n[1] != 0 ? n[1] < 0 : n[0] < 0;
}

static void check_direction(const mote_cloud *cloud, const mote_normals_params *p, uint64_t i, const float n[3],
                            const char *what) {
    double along = 0, size = 0;
    if (p->orient == MOTE_ORIENT_UP) require(!looks_down(n), what, i, "looks down");
    for (int k = 0; k < 3; k++) {
        const double away = p->viewpoint[k] - mote_column_value(axis_of(cloud, k), i);
        along += away * (double)n[k];
        size += fabs(away);
    }
    if (p->orient == MOTE_ORIENT_VIEWPOINT) require(along >= -1e-6 * size, what, i, "looks away");
}

/* The smallest value and its direction: any direction will do whose variance is as small. Returns whether there is one;
 *open: too near the border to tell. */
static bool check_shape(const mote_cloud *cloud, const knn_reference_neighbour *row, uint64_t count, const arrays *a,
                        uint64_t i, bool *open, const char *what) {
    long double c[3][3], value[3], vector[3][3];
    const float n[3] = {a->all[0][i], a->all[1][i], a->all[2][i]}, curvature = a->all[3][i];
    const bool none = n[0] == 0 && n[1] == 0 && n[2] == 0;
    *open = false;
    if (!covariance_of(cloud, i, row, count, c)) {
        require(none && curvature == 0, what, i, "a normal of one place");
        return false;
    }
    normals_reference_eigen(c, value, vector);
    const long double ratio = value[1] / value[2];
    *open = ratio > 0x1p-41L && ratio < 0x1p-39L;
    if (*open) return !none;
    if (ratio <= 0x1p-41L) {
        require(none && curvature == 0, what, i, "a normal of a line");
        return false;
    }
    long double variance = 0, length2 = 0;
    for (int p = 0; p < 3; p++) {
        length2 += (long double)n[p] * (long double)n[p];
        for (int q = 0; q < 3; q++) variance += (long double)n[p] * c[p][q] * (long double)n[q];
    }
    require(fabsl(length2 - 1) < 4e-7L, what, i, "length");
    require(fabsl(variance / length2 - value[0]) < 1e-12L, what, i, "direction");
    require(fabsl((long double)curvature - value[0]) < 1e-12L + 1e-7L * value[0], what, i, "curvature");
    return true;
}

static void check_density(const mote_normals_params *p, const knn_reference_neighbour *row, uint64_t count,
                          const arrays *a, uint64_t i, const char *what) {
    const bool ended = p->radius > 0 && (p->k == 0 || count < p->k);
    const double d2 = ended ? p->radius * p->radius : row[count - 1].distance2, others = (double)(count - 1);
    const double surface = others > 0 ? others / (PI * d2) : 0;
    const double volume = others > 0 ? others / (4.0 / 3 * PI * d2 * sqrt(d2)) : 0;
    const float narrow[2] = {(float)surface, (float)volume};
    for (int t = 0; t < 2; t++) {
        const double found = (double)a->all[4 + t][i], expected = (double)narrow[t];
        require(found == expected || fabs(found - expected) <= 1e-6 * expected, what, i, "density");
    }
}

static void check_point(const mote_cloud *cloud, const mote_normals_params *p, knn_reference_rule rule, const arrays *a,
                        uint64_t i, uint64_t *without, uint64_t *open_points, const char *what) {
    const uint64_t max = p->k > 0 ? p->k : mote_cloud_count(cloud);
    const float n[3] = {a->all[0][i], a->all[1][i], a->all[2][i]};
    bool open = false;
    if (!is_finite(cloud, i)) {
        for (int t = 0; t < 6; t++) require(a->all[t][i] == 0, what, i, "a value of a point that is not finite");
        return;
    }
    knn_reference_neighbour *row = room(max, sizeof *row);
    const uint64_t count =
        knn_reference_row(cloud, NULL, i, p->radius > 0 ? p->radius : INFINITY, false, rule, max, row);
    if (check_shape(cloud, row, count, a, i, &open, what)) {
        check_direction(cloud, p, i, n, what);
    } else {
        *without += 1;
    }
    *open_points += open;
    check_density(p, row, count, a, i, what);
    free(row);
}

void normals_reference_check(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *params,
                             const char *what) {
    arrays a;
    const knn_reference_rule rule = knn_reference_rule_of(cloud, NULL);
    uint64_t without = 0, skipped = 0, open = 0;
    run(ctx, cloud, params, &a, what);
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        skipped += !is_finite(cloud, i);
        check_point(cloud, params, rule, &a, i, &without, &open, what);
    }
    require(a.result.skipped == skipped, what, 0, "skipped");
    require(a.result.without == without || open > 0, what, 0, "without");
    drop(&a);
}

/* ---- orientation */

typedef struct edge {
    float cost;
    bool differ;    /* the normals do */
    uint64_t place; /* of all: its point, then its rank */
    uint64_t i, j;
} edge;

static int by_cost_sign_and_place(const void *a, const void *b) {
    const edge *p = a, *q = b;
    if (p->cost != q->cost) return p->cost < q->cost ? -1 : 1;
    if (p->differ != q->differ) return p->differ ? 1 : -1;
    return p->place < q->place ? -1 : p->place > q->place;
}

static double along(const arrays *a, uint64_t i, uint64_t j) {
    return ((double)a->all[0][i] * (double)a->all[0][j] + (double)a->all[1][i] * (double)a->all[1][j]) +
           (double)a->all[2][i] * (double)a->all[2][j];
}

static bool has_normal(const arrays *a, uint64_t i) {
    return a->all[0][i] != 0 || a->all[1][i] != 0 || a->all[2][i] != 0;
}

/* All edges, those of mutual neighbours twice. */
static uint64_t make_edges(const mote_cloud *cloud, const arrays *a, uint32_t k, edge *edges) {
    knn_reference_neighbour *row = room(k, sizeof *row);
    const knn_reference_rule rule = knn_reference_rule_of(cloud, NULL);
    uint64_t count = 0;
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        const uint64_t found = knn_reference_row(cloud, NULL, i, INFINITY, true, rule, k, row);
        for (uint64_t r = 0; r < found; r++) {
            const double agree = along(a, i, row[r].index);
            const edge e = {(float)(1 - fmin(fabs(agree), 1)), agree < 0, i * k + r, i, row[r].index};
            if (has_normal(a, i) && has_normal(a, e.j)) edges[count++] = e;
        }
    }
    qsort(edges, count, sizeof *edges, by_cost_sign_and_place);
    free(row);
    return count;
}

/* Kruskal by relabelling: keeps the edges of the tree, and returns how many. */
static uint64_t keep_tree(uint64_t points, edge *edges, uint64_t count, uint64_t *part) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < points; i++) part[i] = i;
    for (uint64_t e = 0; e < count; e++) {
        const uint64_t from = part[edges[e].i], to = part[edges[e].j];
        if (from == to) continue;
        for (uint64_t i = 0; i < points; i++) part[i] = part[i] == from ? to : part[i];
        edges[kept++] = edges[e];
    }
    return kept;
}

/* Turns the normals of one part, from its topmost point on. */
static void turn_part(const mote_cloud *cloud, arrays *a, const edge *tree, uint64_t edges, const uint64_t *part,
                      uint64_t which) {
    enum { UNKNOWN, AS_IT_IS, TURNED };
    const uint64_t points = mote_cloud_count(cloud);
    const mote_column *z = axis_of(cloud, 2);
    uint8_t *sign = calloc(points + 1, sizeof *sign);
    uint64_t top = UINT64_MAX;
    if (sign == NULL) abort();
    for (uint64_t i = 0; i < points; i++) {
        if (part[i] != which || !has_normal(a, i)) continue;
        if (top == UINT64_MAX || mote_column_value(z, i) > mote_column_value(z, top)) top = i;
    }
    const float n[3] = {a->all[0][top], a->all[1][top], a->all[2][top]};
    sign[top] = looks_down(n) ? TURNED : AS_IT_IS;
    for (bool more = true; more;) {
        more = false;
        for (uint64_t e = 0; e < edges; e++) {
            const bool forth = sign[tree[e].i] != UNKNOWN;
            const uint64_t from = forth ? tree[e].i : tree[e].j, to = forth ? tree[e].j : tree[e].i;
            if (sign[from] == UNKNOWN || sign[to] != UNKNOWN) continue;
            sign[to] = along(a, from, to) < 0 ? AS_IT_IS + TURNED - sign[from] : sign[from];
            more = true;
        }
    }
    for (uint64_t i = 0; i < points; i++) {
        for (int k = 0; k < 3 && sign[i] == TURNED; k++) a->all[k][i] = 0.0f - a->all[k][i];
    }
    free(sign);
}

void normals_reference_check_propagate(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *params,
                                       const char *what) {
    const uint64_t n = mote_cloud_count(cloud);
    mote_normals_params plain = *params;
    arrays mine, a;
    edge *edges = room(n * params->graph_k, sizeof *edges);
    uint64_t *part = room(n, sizeof *part), parts = 0;
    plain.orient = MOTE_ORIENT_NONE;
    run(ctx, cloud, &plain, &a, what);
    run(ctx, cloud, params, &mine, what);
    const uint64_t kept = keep_tree(n, edges, make_edges(cloud, &a, params->graph_k, edges), part);
    for (uint64_t i = 0; i < n; i++) {
        if (part[i] != i || !has_normal(&a, i)) continue; /* a part is called as one of its points */
        parts++;
        turn_part(cloud, &a, edges, kept, part, i);
    }
    for (uint64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) require(a.all[k][i] == mine.all[k][i], what, i, "turned otherwise");
    }
    require(mine.result.parts == parts, what, 0, "parts");
    free(edges);
    free(part);
    drop(&a);
    drop(&mine);
}

/* ---- outliers */

static double mean_distance(const knn_reference_neighbour *row, uint64_t count) {
    double sum = 0;
    for (uint64_t r = 0; r < count; r++) sum += sqrt(row[r].distance2);
    return count > 0 ? sum / (double)count : 0;
}

static double threshold_of(const double *distance, const uint64_t *count, uint64_t n, double sigmas) {
    long double sum = 0, squares = 0, points = 0;
    for (uint64_t i = 0; i < n; i++) sum += count[i] > 0 ? (long double)distance[i] : 0, points += count[i] > 0;
    const long double mean = points > 0 ? sum / points : 0;
    for (uint64_t i = 0; i < n; i++) {
        const long double d = (long double)distance[i] - mean;
        squares += count[i] > 0 ? d * d : 0;
    }
    return (double)(mean + (long double)sigmas * (points > 1 ? sqrtl(squares / (points - 1)) : 0));
}

static void check_flags(const mote_cloud *cloud, const mote_outliers_params *p, const mote_outliers_result *result,
                        const double *distance, const uint64_t *count, const char *what) {
    const uint64_t n = mote_cloud_count(cloud);
    const bool statistical = p->method == MOTE_OUTLIERS_STATISTICAL;
    const double threshold = statistical ? threshold_of(distance, count, n, p->sigmas) : 0;
    uint64_t outliers = 0, skipped = 0;
    for (uint64_t i = 0; i < n; i++) {
        const bool non_finite = !is_finite(cloud, i), near = fabs(distance[i] - threshold) <= 1e-12 * threshold;
        const bool expected = non_finite || (statistical ? distance[i] > threshold : count[i] < p->min_neighbors);
        require((result->outlier[i] != 0) == expected || (statistical && near && !non_finite), what, i, "outlier");
        if (statistical) require(result->distance[i] == (float)distance[i], what, i, "distance");
        outliers += result->outlier[i];
        skipped += non_finite;
    }
    require(result->outlier[n] == 0x5A, what, n, "written past the end");
    require(result->count == outliers && result->skipped == skipped, what, 0, "counts");
    if (statistical) require(fabs(result->threshold - threshold) <= 1e-12 * threshold, what, 0, "threshold");
}

void normals_reference_check_outliers(mote_context *ctx, const mote_cloud *cloud, const mote_outliers_params *params,
                                      const char *what) {
    const uint64_t n = mote_cloud_count(cloud);
    const bool statistical = params->method == MOTE_OUTLIERS_STATISTICAL;
    const knn_reference_rule rule = knn_reference_rule_of(cloud, NULL);
    const uint32_t max = statistical ? params->k : params->min_neighbors;
    double *distance = room(n, sizeof *distance);
    uint64_t *count = room(n, sizeof *count);
    knn_reference_neighbour *row = room(max, sizeof *row);
    mote_outliers_result result;
    memset(&result, 0, sizeof result);
    result.outlier = room(n, 1);
    result.distance = room(n, sizeof *result.distance);
    require(mote_outliers(ctx, cloud, params, &result) == MOTE_OK, what, 0, mote_context_message(ctx));
    for (uint64_t i = 0; i < n; i++) {
        count[i] = knn_reference_row(cloud, NULL, i, statistical ? INFINITY : params->radius, true, rule, max, row);
        distance[i] = mean_distance(row, count[i]);
    }
    check_flags(cloud, params, &result, distance, count, what);
    free(distance);
    free(count);
    free(row);
    free(result.outlier);
    free(result.distance);
}
