/* Positions in sorted order, as leaves. */
#include "knn/index/knn_points_cpu.h"

#include "core/cloud.h"

#define ALONE 512u /* leaves that are not worth waking other threads */
#define AHEAD 24u  /* how many points ahead of use their memory is asked for */

int64_t knn_integer(const mote_column *axis, uint64_t i) {
    const uint64_t value = (uint64_t)mote_column_integer(axis, i);
    return (int64_t)(axis->type == MOTE_UINT64 ? value ^ 1ull << 63 : value);
}

void knn_integer_bounds(const mote_context *ctx, const mote_column *const axes[3], const uint32_t *order,
                        uint64_t count, int64_t low[3], int64_t high[3]) {
    for (int k = 0; k < 3; k++) {
        int64_t min = INT64_MAX, max = INT64_MIN;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : min) reduction(max : max)
        for (uint64_t i = 0; i < count; i++) {
            const int64_t value = knn_integer(axes[k], order[i]);
            min = value < min ? value : min;
            max = value > max ? value : max;
        }
        low[k] = min;
        high[k] = max;
    }
}

bool knn_one_scale(const mote_column *const axes[3]) {
    for (int k = 0; k < 3; k++) {
        if (mote_type_is_float(axes[k]->type) || axes[k]->scale != axes[0]->scale) return false;
    }
    return axes[0]->scale != 0 && axes[0]->scale - axes[0]->scale == 0; /* finite */
}

static bool all_of(const knn_reading *reading, mote_type type) {
    for (int k = 0; k < 3; k++) {
        if (reading->axes[k]->type != type || reading->axes[k]->bit_count != 0) return false;
    }
    return true;
}

typedef struct reader {
    const knn_reading *reading;
    const uint32_t *order;
    uint64_t count;
    bool plain; /* values of the leaves' own type: moved, not converted */
} reader;

static void ask_for(const reader *from, uint64_t place) {
    if (place >= from->count) return;
    const uint32_t i = from->order[place];
    for (int k = 0; k < 3; k++) __builtin_prefetch(mote_column_at(from->reading->axes[k], i));
}

/* Four bytes a value: floats, or integers less their origin. */
static void read_words(const reader *from, uint64_t first, uint32_t *leaf) {
    const knn_reading *reading = from->reading;
    const bool whole = reading->kind == KNN_INT;
    for (uint32_t l = 0; l < KNN_LEAF; l++) {
        const uint64_t place = first + l < from->count ? first + l : from->count - 1;
        const uint32_t i = from->order[place];
        ask_for(from, first + l + AHEAD);
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t value;
            memcpy(&value, mote_column_at(reading->axes[k], i), sizeof value);
            leaf[KNN_LEAF * k + l] = whole ? value - (uint32_t)reading->origin[k] : value;
        }
    }
}

static void read_integers(const reader *from, uint64_t first, int32_t *leaf) {
    for (uint32_t l = 0; l < KNN_LEAF; l++) {
        const uint64_t place = first + l < from->count ? first + l : from->count - 1;
        for (uint32_t k = 0; k < 3; k++) {
            const int64_t value = knn_integer(from->reading->axes[k], from->order[place]);
            leaf[KNN_LEAF * k + l] = (int32_t)((uint64_t)value - (uint64_t)from->reading->origin[k]);
        }
    }
}

static void read_doubles(const reader *from, uint64_t first, double *leaf) {
    const knn_reading *reading = from->reading;
    for (uint32_t l = 0; l < KNN_LEAF; l++) {
        const uint64_t place = first + l < from->count ? first + l : from->count - 1;
        const uint32_t i = from->order[place];
        ask_for(from, first + l + AHEAD);
        for (uint32_t k = 0; k < 3; k++) {
            const mote_column *axis = reading->axes[k];
            double value;
            if (from->plain) {
                memcpy(&value, mote_column_at(axis, i), sizeof value);
            } else {
                value = reading->world ? mote_column_value(axis, i) : mote_column_stored(axis, i);
            }
            leaf[KNN_LEAF * k + l] = value;
        }
    }
}

bool knn_points_reserve(mote_context *ctx, knn_points *points, uint64_t count, uint64_t value_bytes) {
    const uint64_t bytes = (count + KNN_LEAF - 1) / KNN_LEAF * (3 * KNN_LEAF) * value_bytes;
    return mote_reserve_scratch(ctx, &points->leaves, &points->leaf_bytes, bytes, 1, "knn positions");
}

mote_status knn_points_read(mote_context *ctx, const knn_reading *reading, const uint32_t *order, uint64_t count,
                            knn_points *points) {
    const uint64_t leaves = (count + KNN_LEAF - 1) / KNN_LEAF;
    const uint64_t value_bytes = reading->kind == KNN_DOUBLE ? sizeof(double) : sizeof(float);
    reader from = {reading, order, count, false};
    from.plain = reading->kind == KNN_INT     ? all_of(reading, MOTE_INT32)
                 : reading->kind == KNN_FLOAT ? all_of(reading, MOTE_FLOAT32)
                                              : all_of(reading, MOTE_FLOAT64) && !reading->world;
    points->order = order;
    points->count = (uint32_t)count;
    if (!knn_points_reserve(ctx, points, count, value_bytes)) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(leaves < ALONE ? 1 : ctx->threads)
    for (uint64_t i = 0; i < leaves; i++) {
        if (reading->kind == KNN_DOUBLE) {
            read_doubles(&from, KNN_LEAF * i, (double *)points->leaves + 3 * KNN_LEAF * i);
        } else if (from.plain) {
            read_words(&from, KNN_LEAF * i, (uint32_t *)points->leaves + 3 * KNN_LEAF * i);
        } else {
            read_integers(&from, KNN_LEAF * i, (int32_t *)points->leaves + 3 * KNN_LEAF * i);
        }
    }
    return MOTE_OK;
}
