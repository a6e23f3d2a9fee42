#include "reference/knn_reference.h"

#include "reference/knn_shifted_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

__extension__ typedef __int128 wide;

typedef struct axes {
    const mote_column *column[3];
} axes;

static axes axes_of(const mote_cloud *cloud) {
    axes a = {{mote_cloud_find(cloud, "x"), mote_cloud_find(cloud, "y"), mote_cloud_find(cloud, "z")}};
    return a;
}

static bool is_finite(const axes *a, uint64_t i) {
    for (int k = 0; k < 3; k++) {
        if (!isfinite(mote_column_value(a->column[k], i))) return false;
    }
    return true;
}

static wide integer_at(const mote_column *column, uint64_t i) {
    int64_t value;
    mote_column_read(column, i, 1, column->type == MOTE_UINT64 ? MOTE_UINT64 : MOTE_INT64, &value);
    return column->type == MOTE_UINT64 ? (wide)(uint64_t)value : (wide)value;
}

static double stored_at(const mote_column *column, uint64_t i) {
    double value;
    mote_column_read(column, i, 1, MOTE_FLOAT64, &value);
    return value;
}

static bool same_columns(const axes *a, const axes *b) {
    for (int k = 0; k < 3; k++) {
        const mote_column *p = a->column[k], *q = b->column[k];
        if (p->type != q->type || p->scale != q->scale || p->offset != q->offset) return false;
    }
    return true;
}

/* Whether all finite positions are integers of one scale, less than 2^31 steps apart. */
static bool are_steps(const axes *points, uint64_t count, const axes *queries, uint64_t query_count) {
    for (int k = 0; k < 3; k++) {
        const mote_column *column = points->column[k];
        wide low = (wide)1 << 100, high = -low;
        if (mote_type_is_float(column->type) || column->scale != points->column[0]->scale) return false;
        for (uint64_t i = 0; i < count + query_count; i++) {
            const axes *from = i < count ? points : queries;
            const uint64_t at = i < count ? i : i - count;
            if (!is_finite(from, at)) continue;
            const wide value = integer_at(from->column[k], at);
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        if (high - low >= (wide)1 << 31) return false;
    }
    return true;
}

typedef struct knn_reference_ellipsoid {
    double normal[3], compression;
} knn_reference_ellipsoid;

static bool is_before(const knn_reference_neighbour *a, const knn_reference_neighbour *b) {
    if (a->steps2 != b->steps2) return a->steps2 < b->steps2;
    if (a->distance2 != b->distance2) return a->distance2 < b->distance2;
    return a->index < b->index;
}

/* Puts one where it belongs among the at most `most` that are sorted already; returns how many there are then. */
static uint64_t insert(const knn_reference_neighbour *one, knn_reference_neighbour *row, uint64_t count, uint64_t max) {
    if (count == max && (max == 0 || !is_before(one, &row[max - 1]))) return count;
    uint64_t at = count < max ? count++ : max - 1;
    for (; at > 0 && is_before(one, &row[at - 1]); at--) row[at] = row[at - 1];
    row[at] = *one;
    return count;
}

knn_reference_rule knn_reference_rule_of(const mote_cloud *cloud, const mote_cloud *queries) {
    const axes points = axes_of(cloud), query_set = axes_of(queries != NULL ? queries : cloud);
    const uint64_t query_count = queries != NULL ? mote_cloud_count(queries) : 0;
    if (!same_columns(&points, &query_set)) return KNN_REFERENCE_WORLD;
    return are_steps(&points, mote_cloud_count(cloud), &query_set, query_count) ? KNN_REFERENCE_STEPS
                                                                                : KNN_REFERENCE_STORED;
}

/* of: NULL for a sphere */
static void measure(knn_reference_rule by, const knn_reference_ellipsoid *of, const axes *queries, uint64_t query,
                    const axes *points, uint64_t i, knn_reference_neighbour *to) {
    double d[3];
    uint64_t steps2 = 0;
    for (int k = 0; k < 3; k++) {
        const mote_column *p = points->column[k], *q = queries->column[k];
        if (by == KNN_REFERENCE_STEPS) {
            const wide steps = integer_at(p, i) - integer_at(q, query);
            steps2 += (uint64_t)(steps * steps);
            d[k] = (double)steps * p->scale;
            continue;
        }
        d[k] = by == KNN_REFERENCE_STORED ? (stored_at(p, i) - stored_at(q, query)) * p->scale
                                          : mote_column_value(p, i) - mote_column_value(q, query);
    }
    const double scale = points->column[0]->scale;
    to->steps2 = steps2;
    to->distance2 =
        by == KNN_REFERENCE_STEPS ? (double)steps2 * (scale * scale) : (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
    to->index = i;
    if (of == NULL) return;
    const double *n = of->normal, along = (n[0] * d[0] + n[1] * d[1]) + n[2] * d[2];
    const double squeezed = (of->compression * of->compression - 1) * (along * along);
    const double distance2 = ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]) + squeezed;
    to->steps2 = 0;
    to->distance2 = isnan(distance2) ? INFINITY : distance2;
}

static uint64_t row_of(const mote_cloud *cloud, const mote_cloud *queries, uint64_t query, double radius,
                       bool exclude_self, knn_reference_rule rule, const knn_reference_ellipsoid *of,
                       const uint8_t *candidates, uint64_t max, knn_reference_neighbour *row) {
    const axes points = axes_of(cloud), query_set = axes_of(queries != NULL ? queries : cloud);
    const uint64_t count = mote_cloud_count(cloud);
    uint64_t found = 0;
    if (!is_finite(&query_set, query)) return 0;
    for (uint64_t i = 0; i < count; i++) {
        knn_reference_neighbour one;
        if (!is_finite(&points, i) || (exclude_self && i == query)) continue;
        if (candidates != NULL && !candidates[i]) continue;
        measure(rule, of, &query_set, query, &points, i, &one);
        if (one.distance2 <= radius * radius) found = insert(&one, row, found, max);
    }
    return found;
}

uint64_t knn_reference_row(const mote_cloud *cloud, const mote_cloud *queries, uint64_t query, double radius,
                           bool exclude_self, knn_reference_rule rule, uint64_t max, knn_reference_neighbour *row) {
    return row_of(cloud, queries, query, radius, exclude_self, rule, NULL, NULL, max, row);
}

/* ---- checks */

#define MAX_ROWS 150u /* of larger results every second, third … row is checked */

static void require(bool holds, const char *what, uint64_t row, const char *of) {
    if (holds) return;
    fprintf(stderr, "%s: row %llu: %s\n", what, (unsigned long long)row, of);
    abort();
}

static void *room(uint64_t count, size_t size) {
    void *memory = malloc((count + 1) * size);
    if (memory == NULL) abort();
    memset(memory, 0x5A, (count + 1) * size);
    return memory;
}

static bool is_finite_in(const mote_cloud *cloud, uint64_t i) {
    const axes a = axes_of(cloud);
    return is_finite(&a, i);
}

static uint64_t bad_points(const mote_cloud *cloud) {
    uint64_t bad = 0;
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) bad += !is_finite_in(cloud, i);
    return bad;
}

/* What params ask for. */
static uint64_t asked_row(const mote_cloud *cloud, const mote_cloud *queries, uint64_t query, const mote_knn_params *p,
                          knn_reference_rule rule, const shifted_reference *shifted, uint8_t *candidates,
                          knn_reference_neighbour *row) {
    const double radius = p->radius > 0 ? p->radius : INFINITY;
    knn_reference_ellipsoid of = {.compression = p->compression};
    if (shifted != NULL) shifted_reference_candidates(shifted, query, candidates);
    if (p->compression > 1) shifted_reference_normal(queries != NULL ? queries : cloud, query, of.normal);
    return row_of(cloud, queries, query, radius, p->exclude_self, rule, p->compression > 1 ? &of : NULL,
                  shifted != NULL ? candidates : NULL, p->k, row);
}

static void check_rows(const mote_cloud *cloud, const mote_cloud *queries, const mote_knn_params *p,
                       const mote_knn_result *result, uint64_t rows, const char *what) {
    const knn_reference_rule rule = knn_reference_rule_of(cloud, queries);
    knn_reference_neighbour *row = room(p->k, sizeof *row);
    uint8_t *candidates = room(mote_cloud_count(cloud), 1);
    shifted_reference *shifted = p->method == MOTE_KNN_SHIFTED ? shifted_reference_make(cloud, queries, p) : NULL;
    for (uint64_t q = 0; q < rows; q += 1 + rows / MAX_ROWS) {
        const uint64_t found = asked_row(cloud, queries, q, p, rule, shifted, candidates, row);
        require(result->count[q] == found, what, q, "count");
        for (uint64_t i = 0; i < p->k; i++) {
            const uint64_t at = q * p->k + i;
            const int64_t index = i < found ? (int64_t)row[i].index : -1;
            const double distance2 = i < found ? row[i].distance2 : INFINITY;
            require(result->index64[at] == index, what, q, "index");
            require(result->index32[at] == (uint32_t)index, what, q, "narrow index");
            require(result->distance2_wide[at] == distance2, what, q, "distance");
            require(result->distance2[at] == (float)distance2, what, q, "narrow distance");
        }
    }
    shifted_reference_free(shifted);
    free(candidates);
    free(row);
}

void knn_reference_what(const mote_cloud *cloud, const mote_cloud *queries, const mote_knn_params *params,
                        const char *name, char what[KNN_WHAT_BYTES]) {
    snprintf(what, KNN_WHAT_BYTES, "%s, %llu points, method %d, k %u, lambda %u, c %g%s, radius %g%s%s", name,
             (unsigned long long)mote_cloud_count(cloud), (int)params->method, params->k, params->lambda,
             params->compression, params->buckets ? ", buckets" : "", params->radius,
             params->exclude_self ? ", not itself" : "", queries != NULL ? ", other queries" : "");
}

void knn_reference_check(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                         const mote_knn_params *params, const char *name) {
    const uint64_t rows = mote_cloud_count(queries != NULL ? queries : cloud), cells = rows * params->k;
    char what[KNN_WHAT_BYTES];
    mote_knn_result result;
    knn_reference_what(cloud, queries, params, name, what);
    memset(&result, 0, sizeof result);
    result.index32 = room(cells, sizeof *result.index32);
    result.index64 = room(cells, sizeof *result.index64);
    result.distance2 = room(cells, sizeof *result.distance2);
    result.distance2_wide = room(cells, sizeof *result.distance2_wide);
    result.count = room(rows, sizeof *result.count);
    require(mote_knn(ctx, cloud, queries, params, &result) == MOTE_OK, what, 0, mote_context_message(ctx));
    require(result.skipped == bad_points(cloud), what, 0, "skipped");
    require(result.index32[cells] == 0x5A5A5A5A && result.count[rows] == 0x5A5A5A5A, what, 0, "written past the end");
    check_rows(cloud, queries, params, &result, rows, what);
    free(result.index32);
    free(result.index64);
    free(result.distance2);
    free(result.distance2_wide);
    free(result.count);
}

void knn_reference_check_within(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries, double radius,
                                bool exclude_self, const char *what) {
    const uint64_t rows = mote_cloud_count(queries != NULL ? queries : cloud), count = mote_cloud_count(cloud);
    uint32_t *counts = room(rows, sizeof *counts);
    const knn_reference_rule rule = knn_reference_rule_of(cloud, queries);
    knn_reference_neighbour *row = room(count, sizeof *row);
    mote_knn_index *index = NULL;
    mote_knn_lists *lists = NULL;
    require(mote_knn_build(ctx, cloud, &index) == MOTE_OK, what, 0, "build");
    require(mote_knn_within(index, queries, radius, exclude_self, counts, &lists) == MOTE_OK, what, 0, "within");
    require(lists->query_count == rows && lists->first[0] == 0 && lists->skipped == bad_points(cloud), what, 0,
            "lists");
    for (uint64_t q = 0; q < rows; q += 1 + rows / MAX_ROWS) {
        const uint64_t found = knn_reference_row(cloud, queries, q, radius, exclude_self, rule, count, row);
        require(counts[q] == found && lists->first[q + 1] - lists->first[q] == found, what, q, "count");
        for (uint64_t i = 0; i < found; i++) {
            require(lists->index[lists->first[q] + i] == row[i].index, what, q, "index");
            require(lists->distance2[lists->first[q] + i] == (float)row[i].distance2, what, q, "distance");
        }
    }
    mote_knn_free_lists(ctx, lists);
    mote_knn_destroy(index);
    free(row);
    free(counts);
}

mote_cloud *knn_reference_cloud(mote_context *ctx, mote_type type, double scale, double offset, const double *stored,
                                uint64_t count) {
    const mote_column_spec specs[3] = {
        {"x", type, scale, offset}, {"y", type, scale, offset}, {"z", type, scale, offset}};
    mote_cloud *cloud = NULL;
    if (mote_cloud_create(ctx, count, specs, 3, &cloud) != MOTE_OK) abort();
    for (uint64_t i = 0; i < 3 * count; i++) {
        uint8_t *at = (uint8_t *)mote_cloud_column_data(cloud, specs[i % 3].name) +
                      i / 3 * mote_cloud_find(cloud, "x")->stride_bytes;
        const float narrow = (float)stored[i];
        const int64_t whole = type == MOTE_UINT64        ? (int64_t)(uint64_t)stored[i]
                              : mote_type_is_float(type) ? 0
                                                         : (int64_t)stored[i];
        if (type == MOTE_FLOAT64) {
            memcpy(at, &stored[i], sizeof stored[i]);
        } else if (type == MOTE_FLOAT32) {
            memcpy(at, &narrow, sizeof narrow);
        } else {
            memcpy(at, &whole, mote_type_size(type)); /* little-endian hosts, as the build checks */
        }
    }
    return cloud;
}

knn_far knn_far_make(mote_context *ctx, uint32_t i) {
    static const struct {
        mote_type type;
        double near, far;
    } cases[KNN_FAR_CASES] = {{MOTE_INT32, 1e9, -2e9},      {MOTE_INT64, 1e6, 9e15},  {MOTE_FLOAT32, 1, 3e37},
                              {MOTE_FLOAT32, 1, -1e10},     {MOTE_FLOAT64, 1, 1e140}, {MOTE_UINT64, 1e8, 1.2e19},
                              {MOTE_FLOAT64, 1e143, -3e144}};
    double points[300], far[90];
    for (uint64_t j = 0; j < 300; j++) points[j] = cases[i].near * test_random(1, j);
    for (uint64_t j = 0; j < 90; j++) far[j] = j % 7 == 0 ? cases[i].far * (1 - (double)j * 1e-3) : points[j];
    return (knn_far){knn_reference_cloud(ctx, cases[i].type, 0.5, 7, points, 100),
                     knn_reference_cloud(ctx, cases[i].type, 0.5, 7, far, 30),
                     knn_reference_cloud(ctx, cases[i].type, 0.25, 7, far, 30)};
}

void knn_far_free(knn_far *far) {
    mote_cloud_destroy(far->others);
    mote_cloud_destroy(far->queries);
    mote_cloud_destroy(far->points);
}
