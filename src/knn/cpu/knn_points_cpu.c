/* Positions in sorted order, as leaves. */
#include "core/cloud.h"
#include "knn/cpu/knn_build_cpu.h"
#include "math/simd.h"

#define ALONE          512u /* leaves that are not worth waking other threads */
#define AHEAD          24u  /* how many points ahead of use their memory is asked for */
#define LEAVES_AT_ONCE 512u /* by one thread, before it is asked whether to go on */

static int64_t integer_of(const mote_column *axis, uint64_t i) {
    const uint64_t value = (uint64_t)mote_column_integer(axis, i);
    return (int64_t)(axis->type == MOTE_UINT64 ? value ^ 1ull << 63 : value);
}

void knn_integer_bounds(const mote_context *ctx, const mote_column *const axes[3], const uint32_t *order,
                        uint64_t count, int64_t low[3], int64_t high[3]) {
    for (int k = 0; k < 3; k++) {
        int64_t min = INT64_MAX, max = INT64_MIN;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : min) reduction(max : max)
        for (uint64_t i = 0; i < count; i++) {
            const int64_t value = integer_of(axes[k], order[i]);
            min = value < min ? value : min;
            max = value > max ? value : max;
        }
        low[k] = min;
        high[k] = max;
    }
}

typedef struct reader {
    const knn_reading *reading;
    const uint32_t *order;
    uint64_t count;
    bool plain; /* values of the leaves' own type: moved, not converted */
} reader;

static bool is_plain(const knn_reading *reading) {
    static const mote_type own[] = {[KNN_INT] = MOTE_INT32, [KNN_FLOAT] = MOTE_FLOAT32, [KNN_DOUBLE] = MOTE_FLOAT64};
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = reading->axes[k];
        if (axis->type != own[reading->kind] || axis->bit_count != 0) return false;
    }
    return !reading->world;
}

/* The point at a place; the last leaf is filled up with the last point. */
static uint32_t point_at(const reader *from, uint64_t place) {
    return from->order[place < from->count ? place : from->count - 1];
}

static void ask_for(const reader *from, uint64_t place) {
    if (place >= from->count) return;
    const uint32_t i = from->order[place];
    for (int k = 0; k < 3; k++) __builtin_prefetch(mote_column_at(from->reading->axes[k], i));
}

/* Floats, or integers less their origin; plain is a constant. */
SIMD_INLINE void read_words(bool plain, const reader *from, uint64_t first, uint32_t *leaf) {
    const knn_reading *reading = from->reading;
    const bool whole = reading->kind == KNN_INT;
    for (uint32_t l = 0; l < KNN_LEAF; l++) {
        const uint32_t i = point_at(from, first + l);
        ask_for(from, first + l + AHEAD);
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t value;
            if (plain) {
                memcpy(&value, mote_column_at(reading->axes[k], i), sizeof value);
            } else {
                value = (uint32_t)integer_of(reading->axes[k], i);
            }
            leaf[KNN_LEAF * k + l] = whole ? value - (uint32_t)reading->origin[k] : value;
        }
    }
}

static void read_doubles(const reader *from, uint64_t first, double *leaf) {
    const knn_reading *reading = from->reading;
    for (uint32_t l = 0; l < KNN_LEAF; l++) {
        const uint32_t i = point_at(from, first + l);
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

static void read_leaves(const reader *from, uint64_t first, uint64_t end, void *leaves) {
    for (uint64_t i = first; i < end; i++) {
        if (from->reading->kind == KNN_DOUBLE) {
            read_doubles(from, KNN_LEAF * i, (double *)leaves + 3 * KNN_LEAF * i);
        } else if (from->plain) {
            read_words(true, from, KNN_LEAF * i, (uint32_t *)leaves + 3 * KNN_LEAF * i);
        } else {
            read_words(false, from, KNN_LEAF * i, (uint32_t *)leaves + 3 * KNN_LEAF * i);
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
    const reader from = {reading, order, count, is_plain(reading)};
    points->order = order;
    points->count = (uint32_t)count;
    if (!knn_points_reserve(ctx, points, count, value_bytes)) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(leaves < ALONE ? 1 : ctx->threads)
    for (uint64_t first = 0; first < leaves; first += LEAVES_AT_ONCE) {
        if (mote_stop(ctx)) continue;
        const uint64_t end = leaves - first < LEAVES_AT_ONCE ? leaves : first + LEAVES_AT_ONCE;
        read_leaves(&from, first, end, points->leaves);
    }
    return mote_stopped(ctx);
}
