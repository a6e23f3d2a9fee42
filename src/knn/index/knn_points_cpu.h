/* Positions in sorted order, as leaves. */
#ifndef MOTE_KNN_POINTS_CPU_H
#define MOTE_KNN_POINTS_CPU_H

#include "knn/index/knn_index.h"

/* How the positions of a cloud are read. */
typedef struct knn_reading {
    const mote_column *axes[3];
    knn_kind kind;
    bool world;        /* KNN_DOUBLE: with scale and offset */
    int64_t origin[3]; /* KNN_INT: what counts as 0, as knn_integer gives it */
} knn_reading;

/* A stored integer of any type as one that orders and subtracts as the stored ones do. */
int64_t knn_integer(const mote_column *axis, uint64_t i);
/* Smallest and largest of the points in order. */
void knn_integer_bounds(const mote_context *ctx, const mote_column *const axes[3], const uint32_t *order,
                        uint64_t count, int64_t low[3], int64_t high[3]);
/* Whether integers of these axes are steps of one scale. */
bool knn_one_scale(const mote_column *const axes[3]);

/* Makes room for leaves of count points. */
bool knn_points_reserve(mote_context *ctx, knn_points *points, uint64_t count, uint64_t value_bytes);
/* Reads the count points of order into leaves. */
mote_status knn_points_read(mote_context *ctx, const knn_reading *reading, const uint32_t *order, uint64_t count,
                            knn_points *points);

#endif
