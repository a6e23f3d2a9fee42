/* Distances of a search that is cut: as the index of all points has them. */
#include "core/cloud.h"
#include "core/column_math.h"
#include "knn/cpu/knn_best.h"
#include "knn/cpu/knn_cpu.h"
#include "knn/knn_cut.h"
#include "knn/knn_rules.h"

/* Integers that are steps: then those of any slab are, too. */
static bool are_steps(const mote_lattice *points, const mote_lattice *queries) {
    int64_t low[2][3], high[2][3];
    if (!points->integer || !points->exact || !queries->integer || !queries->exact) return false;
    knn_integers_of(points, low[0], high[0]);
    knn_integers_of(queries, low[1], high[1]);
    for (int k = 0; k < 3; k++) {
        const int64_t least = low[0][k] < low[1][k] ? low[0][k] : low[1][k];
        const int64_t most = high[0][k] > high[1][k] ? high[0][k] : high[1][k];
        if ((uint64_t)most - (uint64_t)least >= KNN_STEPS) return false;
    }
    return true;
}

/* Lattices of points and queries, where there are any; without a failure. */
static bool find_lattices(mote_context *ctx, const knn_cut *cut, mote_lattice lattices[2]) {
    const mote_status before = mote_context_status(ctx);
    mote_status status = mote_order_lattice(ctx, cut->cloud, &lattices[0], NULL);
    lattices[1] = lattices[0];
    if (status == MOTE_OK && !cut->is_self) status = mote_order_lattice(ctx, cut->queries, &lattices[1], NULL);
    if (status != MOTE_OK && before == MOTE_OK) mote_context_clear(ctx);
    return status == MOTE_OK;
}

bool knn_cut_find_metric(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries, knn_cut *cut) {
    static const char *const names[3] = {"x", "y", "z"};
    mote_lattice lattices[2];
    cut->cloud = cloud;
    cut->is_self = queries == NULL;
    cut->queries = queries != NULL ? queries : cloud;
    cut->is_world = false;
    for (int k = 0; k < 3; k++) {
        cut->axes[k] = mote_cloud_find(cut->cloud, names[k]);
        cut->query_axes[k] = mote_cloud_find(cut->queries, names[k]);
        if (cut->axes[k] == NULL || cut->query_axes[k] == NULL) return false;
        cut->is_world = cut->is_world || !knn_is_same_axis(cut->axes[k], cut->query_axes[k]);
    }
    cut->metric = (knn_metric){KNN_DOUBLE, {1, 1, 1}, 1};
    if (cut->is_world) return true;
    for (int k = 0; k < 3; k++) cut->metric.scale[k] = cut->axes[k]->scale;
    if (!knn_have_one_scale(cut->axes)) return true; /* doubles, or floats, whose keys are those of doubles */
    cut->metric.kind = KNN_INT;
    return find_lattices(ctx, cut, lattices) && are_steps(&lattices[0], &lattices[1]);
}

/* ---- balls and boxes */

/* World values carry roundings of their products and sums, which keys of stored values do not: so much may two of them
   be nearer to each other than they seem, for each unit of what was rounded. */
#define ROUNDED 0x1p-50
/* The sum of squares may be rounded up: it is made smaller by more than that. */
#define SMALLER (1 - 0x1p-40)

bool knn_cut_meets(const knn_cut *cut, uint64_t query, double radius2, const knn_slab *slab) {
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double at = column_value(cut->query_axes[k], query);
        const double below = slab->low[k] - at, above = at - slab->high[k];
        const double gap = below > above ? below : above;
        const double size = fabs(at) + fabs(slab->low[k]) + fabs(slab->high[k]) + fabs(cut->axes[k]->offset) +
                            fabs(cut->query_axes[k]->offset);
        const double rest = gap - ROUNDED * size;
        if (rest > 0) square += rest * rest;
    }
    return square * SMALLER <= radius2;
}

/* ---- merging */

static uint64_t key_of(const knn_cut *cut, uint64_t query, uint64_t point) {
    double d[3];
    uint64_t steps2 = 0;
    for (int k = 0; k < 3; k++) {
        if (cut->metric.kind == KNN_INT) {
            const int64_t step = column_integer(cut->query_axes[k], query) - column_integer(cut->axes[k], point);
            steps2 += (uint64_t)(step * step);
        } else if (cut->is_world) {
            d[k] = column_value(cut->query_axes[k], query) - column_value(cut->axes[k], point);
        } else {
            d[k] = column_stored(cut->query_axes[k], query) - column_stored(cut->axes[k], point);
            d[k] *= cut->metric.scale[k];
        }
    }
    return cut->metric.kind == KNN_INT ? steps2 : knn_key_real(d[0], d[1], d[2]);
}

static uint64_t index_of(const mote_knn_result *result, uint64_t at) {
    if (result->index32 != NULL) return result->index32[at] == UINT32_MAX ? UINT64_MAX : result->index32[at];
    return (uint64_t)result->index64[at];
}

void knn_cut_merge(const knn_cut *cut, const knn_slab *slab, uint64_t query, const uint32_t *found) {
    const uint32_t k = cut->params->k;
    knn_near before[MOTE_KNN_MAX_K], merged[MOTE_KNN_MAX_K];
    uint32_t old = 0, next = 0, count = 0, at = 0;
    for (; old < k; old++) {
        const uint64_t index = index_of(&cut->result, query * k + old);
        if (index == UINT64_MAX) break;
        before[old] = (knn_near){key_of(cut, query, index), 0, (uint32_t)index};
    }
    for (; next < k && found[next] != UINT32_MAX && count < k; next++) {
        const uint64_t index = slab->ids[found[next]];
        const knn_near near = {key_of(cut, query, index), 0, (uint32_t)index};
        while (at < old && count < k && knn_before(&before[at], &near)) merged[count++] = before[at++];
        if (count < k) merged[count++] = near;
    }
    while (at < old && count < k) merged[count++] = before[at++];
    knn_row_write(&cut->result, &cut->metric, k, query, merged, count);
}
