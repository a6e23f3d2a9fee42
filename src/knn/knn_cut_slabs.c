/* Where a cloud is cut: planes across its longest axis, between which about as many points lie. */
#include <stdlib.h>

#include "core/cloud.h"
#include "core/column_math.h"
#include "device/team.h"
#include "knn/knn_cut.h"
#include "math/hash.h"

#define SAMPLES_PER_SLAB  1024u /* shares are then even to some percent: a slab of n samples is off by √n of them */
#define SHARES_PER_THREAD 4u

typedef struct slab_planes {
    int axis;
    uint32_t count;
    double at[TEAM_MAX]; /* slab i ends before at[i] */
} slab_planes;

static int compare_reals(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finite values of an axis, of some points; returns how many. */
static uint64_t sample_axis(const mote_column *axis, uint64_t count, uint64_t wanted, double *sample) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < wanted; i++) {
        const double value = column_value(axis, mote_hash64(i + 1) % count);
        if (isfinite(value)) sample[found++] = value;
    }
    qsort(sample, found, sizeof *sample, compare_reals);
    return found;
}

/* Along the axis on which the middle half of the points reaches farthest: strays say nothing of where most are. */
static mote_status choose_planes(const knn_cut *cut, slab_planes *planes) {
    const uint64_t count = cut->cloud->count, wanted = (uint64_t)cut->slab_count * SAMPLES_PER_SLAB;
    double widest = -1;
    double *sample = mote_alloc(cut->ctx, wanted * sizeof *sample, "slabs");
    if (sample == NULL) return MOTE_ERROR_MEMORY;
    *planes = (slab_planes){.axis = 0, .count = 0};
    for (int k = 0; k < 3 && count > 0; k++) {
        const uint64_t found = sample_axis(cut->axes[k], count, wanted, sample);
        if (found == 0 || !(sample[found / 4 * 3] - sample[found / 4] > widest)) continue;
        widest = sample[found / 4 * 3] - sample[found / 4];
        planes->axis = k;
        planes->count = cut->slab_count - 1;
        for (uint32_t p = 0; p < planes->count; p++) planes->at[p] = sample[found * (p + 1) / cut->slab_count];
    }
    mote_free(cut->ctx, sample);
    return MOTE_OK;
}

/* What is not finite has no neighbours anywhere. */
static uint32_t slab_of(const slab_planes *planes, const mote_column *const axes[3], uint64_t i) {
    const double value = column_value(axes[planes->axis], i);
    uint32_t slab = 0;
    while (slab < planes->count && value >= planes->at[slab]) slab++;
    return slab;
}

/* Deals count points out to lists, in which they ascend: of each slab the first of the list, and behind the last. */
static mote_status deal_out(const knn_cut *cut, const slab_planes *planes, const mote_column *const axes[3],
                            uint64_t count, uint64_t *ids, uint64_t *firsts) {
    const uint64_t shares = SHARES_PER_THREAD * (uint64_t)cut->ctx->threads, slabs = cut->slab_count;
    uint64_t *next = mote_alloc_zero(cut->ctx, shares * slabs * sizeof *next, "slabs");
    if (next == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 1) num_threads(cut->ctx->threads)
    for (uint64_t s = 0; s < shares; s++) {
        for (uint64_t i = count * s / shares; i < count * (s + 1) / shares; i++) {
            next[s * slabs + slab_of(planes, axes, i)]++;
        }
    }
    uint64_t sum = 0;
    for (uint64_t slab = 0; slab < slabs; slab++) {
        firsts[slab] = sum;
        for (uint64_t s = 0; s < shares; s++) {
            const uint64_t own = next[s * slabs + slab];
            next[s * slabs + slab] = sum;
            sum += own;
        }
    }
    firsts[slabs] = sum;
#pragma omp parallel for schedule(dynamic, 1) num_threads(cut->ctx->threads)
    for (uint64_t s = 0; s < shares; s++) {
        for (uint64_t i = count * s / shares; i < count * (s + 1) / shares; i++) {
            ids[next[s * slabs + slab_of(planes, axes, i)]++] = i;
        }
    }
    mote_free(cut->ctx, next);
    return MOTE_OK;
}

mote_status knn_cut_slabs(knn_cut *cut) {
    slab_planes planes;
    uint64_t firsts[TEAM_MAX + 1];
    knn_slab *slabs = cut->slabs;
    MOTE_TRY(choose_planes(cut, &planes));
    slabs[0].ids = mote_alloc(cut->ctx, cut->cloud->count * sizeof *slabs->ids, "slabs");
    if (slabs[0].ids == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(deal_out(cut, &planes, cut->axes, cut->cloud->count, slabs[0].ids, firsts));
    for (uint32_t s = 0; s < cut->slab_count; s++) {
        slabs[s].ids = slabs[0].ids + firsts[s];
        slabs[s].count = firsts[s + 1] - firsts[s];
        slabs[s].query_ids = slabs[s].ids;
        slabs[s].query_count = slabs[s].count;
    }
    if (cut->is_self) return mote_progress_again(cut->ctx);
    uint64_t *ids = slabs[0].query_ids = mote_alloc(cut->ctx, cut->queries->count * sizeof *ids, "slabs");
    if (ids == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(deal_out(cut, &planes, cut->query_axes, cut->queries->count, ids, firsts));
    for (uint32_t s = 0; s < cut->slab_count; s++) {
        slabs[s].query_ids = ids + firsts[s];
        slabs[s].query_count = firsts[s + 1] - firsts[s];
    }
    return mote_progress_again(cut->ctx);
}
