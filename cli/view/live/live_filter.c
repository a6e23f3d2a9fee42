#include "view/live/live_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/value_range.h"

bool live_filter_is_on(const live_filter *filter) {
    return filter->range_count > 0 || memchr(filter->hidden, true, sizeof filter->hidden) != NULL;
}

bool live_filter_is_same(const live_filter *a, const live_filter *b) {
    bool is_same = a->range_count == b->range_count && memcmp(a->hidden, b->hidden, sizeof a->hidden) == 0;
    for (int i = 0; i < a->range_count && is_same; i++) {
        const live_range *p = &a->ranges[i], *q = &b->ranges[i];
        is_same = strcmp(p->name, q->name) == 0 && p->low == q->low && p->high == q->high;
    }
    return is_same;
}

/* The values that a name stands for; count 0: the cloud has none. */
static point_values values_of(const mote_cloud *cloud, const char *name, const double up[3]) {
    static const char *const axes[3] = {"x", "y", "z"};
    point_values values = {.points = mote_cloud_count(cloud), .cloud = cloud};
    const mote_column *column = mote_cloud_find(cloud, name);
    if (column != NULL) {
        values.column[0] = column;
        values.factor[0] = 1;
        values.count = 1;
    }
    const double length = sqrt(up[0] * up[0] + up[1] * up[1] + up[2] * up[2]);
    for (int k = 0; column == NULL && strcmp(name, "height") == 0 && k < 3; k++) {
        if (up[k] == 0) continue;
        values.column[values.count] = mote_cloud_find(cloud, axes[k]);
        values.factor[values.count++] = up[k] / length;
    }
    return values;
}

/* Marks points that are hidden: those whose value is not in a range (range), or of a class. */
static void mark(const point_values *values, const live_range *range, const bool *classes, int threads, uint8_t *out) {
    const int64_t blocks = (int64_t)((values->points + VALUES_BLOCK - 1) / VALUES_BLOCK);
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (int64_t b = 0; b < blocks; b++) {
        double block[VALUES_BLOCK];
        const uint64_t first = (uint64_t)b * VALUES_BLOCK, rest = values->points - first;
        const uint32_t count = rest < VALUES_BLOCK ? (uint32_t)rest : VALUES_BLOCK;
        point_values_read(values, first, count, block);
        for (uint32_t i = 0; i < count; i++) {
            const double v = block[i];
            const bool is_class = classes != NULL && v >= 0 && v < LIVE_CLASSES && classes[(int)v];
            if (is_class || (range != NULL && !(v >= range->low && v <= range->high))) out[first + i] = 1;
        }
    }
}

mote_status live_filter_apply(mote_context *ctx, const mote_cloud *cloud, const live_filter *filter, const double up[3],
                              mote_cloud **out) {
    const uint64_t points = mote_cloud_count(cloud);
    const int threads = mote_context_threads(ctx);
    const point_values classes = values_of(cloud, "classification", up);
    uint8_t *hidden = calloc(points + 1, 1);
    uint64_t *kept = malloc((points + 1) * sizeof *kept), count = 0;
    mote_status status = MOTE_ERROR_MEMORY;
    if (hidden != NULL && kept != NULL) {
        if (classes.count > 0) mark(&classes, NULL, filter->hidden, threads, hidden);
        for (int i = 0; i < filter->range_count; i++) {
            const point_values values = values_of(cloud, filter->ranges[i].name, up);
            if (values.count > 0) mark(&values, &filter->ranges[i], NULL, threads, hidden);
        }
        for (uint64_t i = 0; i < points; i++) {
            if (hidden[i] == 0) kept[count++] = i;
        }
        status = mote_cloud_select(ctx, cloud, kept, count, out);
    }
    free(hidden);
    free(kept);
    return status;
}
