/* Reading columns in bulk: conversion, bounds, checksum. */
#include <math.h>

#include "core/cloud.h"
#include "core/column_math.h"
#include "math/hash.h"

/* Coordinates of files, mostly: without asking for each value what it is. */
static void read_integers(const mote_column *column, uint64_t first, uint64_t count, uint8_t *to) {
    for (uint64_t i = 0; i < count; i++, to += sizeof(double)) {
        int32_t value;
        memcpy(&value, mote_column_at(column, first + i), sizeof value);
        const double wide = (double)value;
        memcpy(to, &wide, sizeof wide);
    }
}

void mote_column_read(const mote_column *column, uint64_t first, uint64_t count, mote_type type, void *out) {
    const uint32_t size_bytes = mote_type_size(type);
    uint8_t *to = out;
    if (type == MOTE_FLOAT64 && column->type == MOTE_INT32 && column->bit_count == 0) {
        read_integers(column, first, count, to);
        return;
    }
    if (type == column->type && column->bit_count == 0) {
        for (uint64_t i = 0; i < count; i++, to += size_bytes) {
            memcpy(to, mote_column_at(column, first + i), size_bytes);
        }
        return;
    }
    for (uint64_t i = 0; i < count; i++, to += size_bytes) {
        const uint64_t bits = column_convert(column, mote_column_at(column, first + i), type);
        memcpy(to, &bits, size_bytes); /* little-endian hosts only, as the build checks */
    }
}

mote_status mote_cloud_bounds(mote_context *ctx, const mote_cloud *cloud, mote_box *box, uint64_t *skipped) {
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_need_host(ctx, cloud, "the box"));
    MOTE_TRY(mote_cloud_positions(ctx, cloud, axes));
    double x0 = INFINITY, y0 = INFINITY, z0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY, z1 = -INFINITY;
    uint64_t left_out = 0;
    const bool plain = column_are_plain_reals(axes);
    const int64_t count = (int64_t)cloud->count;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : x0, y0, z0) \
    reduction(max : x1, y1, z1) reduction(+ : left_out)
    for (int64_t i = 0; i < count; i++) {
        double at[3];
        for (int k = 0; k < 3; k++) {
            at[k] = plain ? column_real(column_at(axes[k], (uint64_t)i), axes[0]->type)
                          : column_value(axes[k], (uint64_t)i);
        }
        if (!(at[0] * 0 + at[1] * 0 + at[2] * 0 == 0)) { /* not finite */
            left_out++;
            continue;
        }
        x0 = at[0] < x0 ? at[0] : x0, x1 = at[0] > x1 ? at[0] : x1;
        y0 = at[1] < y0 ? at[1] : y0, y1 = at[1] > y1 ? at[1] : y1;
        z0 = at[2] < z0 ? at[2] : z0, z1 = at[2] > z1 ? at[2] : z1;
    }
    const double low[3] = {x0, y0, z0}, high[3] = {x1, y1, z1};
    memcpy(box->min, low, sizeof low);
    memcpy(box->max, high, sizeof high);
    if (skipped != NULL) *skipped = left_out;
    return mote_cloud_check(cloud);
}

/* Sum over points of hash(position, value): order within the cloud counts, the split among threads does not. */
static uint64_t column_hash(const mote_context *ctx, const mote_column *column, uint64_t count, uint64_t seed) {
    uint64_t sum = 0;
    const bool is_float = mote_type_is_float(column->type);
    const uint32_t size_bytes = mote_type_size(column->type);
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : sum)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        uint64_t bits = 0;
        if (is_float) {
            memcpy(&bits, mote_column_at(column, (uint64_t)i), size_bytes);
        } else {
            bits = (uint64_t)mote_column_integer(column, (uint64_t)i);
        }
        sum += mote_hash_pair(seed + (uint64_t)i, bits);
    }
    return sum;
}

mote_status mote_cloud_hash(mote_context *ctx, const mote_cloud *cloud, uint64_t *hash) {
    uint64_t sum = mote_hash_pair(cloud->count, cloud->column_count);
    MOTE_TRY(mote_cloud_need_host(ctx, cloud, "the checksum"));
    for (uint64_t c = 0; c < cloud->column_count; c++) {
        const mote_column *column = &cloud->columns[c];
        uint64_t seed = (uint64_t)column->type, bits[2];
        memcpy(&bits[0], &column->scale, 8);
        memcpy(&bits[1], &column->offset, 8);
        seed = mote_hash_pair(mote_hash_pair(seed, bits[0]), bits[1]);
        for (const char *p = column->name; *p != '\0'; p++) seed = mote_hash_pair(seed, (uint8_t)*p);
        sum = mote_hash_pair(sum, column_hash(ctx, column, cloud->count, seed));
        MOTE_TRY(mote_progress(ctx, (double)(c + 1) / (double)cloud->column_count, "checksumming"));
    }
    *hash = sum;
    return mote_cloud_check(cloud);
}
