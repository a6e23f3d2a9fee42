/* What mote info --stats learns from all points. */
#include "info/info_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_POINTS 8192

/* Partial result of one block. Sums of stored integers stay below 2^53 within a block of 32-bit values and are exact;
   blocks are added in order, so the mean does not depend on the number of threads. */
typedef struct block_sum {
    double sum, min, max;
    uint64_t values;
} block_sum;

static block_sum sum_block(const mote_cloud *cloud, const mote_column *column, uint64_t first, uint64_t count) {
    double values[BLOCK_POINTS];
    block_sum block = {0, INFINITY, -INFINITY, 0};
    mote_cloud_read_known(cloud, column, first, count, values);
    for (uint64_t i = 0; i < count; i++) {
        if (isnan(values[i])) continue;
        block.sum += values[i];
        block.min = fmin(block.min, values[i]);
        block.max = fmax(block.max, values[i]);
        block.values++;
    }
    return block;
}

static column_stats join_blocks(const mote_column *column, const block_sum *blocks, uint64_t block_count,
                                uint64_t point_count) {
    block_sum all = {0, INFINITY, -INFINITY, 0};
    for (uint64_t b = 0; b < block_count; b++) {
        all.sum += blocks[b].sum;
        all.min = fmin(all.min, blocks[b].min);
        all.max = fmax(all.max, blocks[b].max);
        all.values += blocks[b].values;
    }
    column_stats stats = {NAN, NAN, NAN, all.values, point_count - all.values};
    if (all.values == 0) return stats;
    const double a = all.min * column->scale + column->offset, b = all.max * column->scale + column->offset;
    stats.min = fmin(a, b);
    stats.max = fmax(a, b);
    stats.mean = all.sum / (double)all.values * column->scale + column->offset;
    return stats;
}

static void count_values(const mote_cloud *cloud, const char *name, histogram *out) {
    const mote_column *column = mote_cloud_find(cloud, name);
    memset(out, 0, sizeof *out);
    if (column == NULL) return;
    out->present = true;
    const uint64_t all = mote_cloud_count(cloud);
    for (uint64_t first = 0; first < all; first += BLOCK_POINTS) {
        int64_t values[BLOCK_POINTS];
        const uint64_t count = all - first < BLOCK_POINTS ? all - first : BLOCK_POINTS;
        mote_column_read(column, first, count, MOTE_INT64, values);
        for (uint64_t i = 0; i < count; i++) {
            if (values[i] >= 0 && values[i] < HISTOGRAM_BINS) {
                out->bins[values[i]]++;
            } else {
                out->beyond++;
            }
        }
    }
}

/* Mixes the bits of three doubles into 63 (the finalizer of splitmix64, three times). */
static uint64_t position_key(const double xyz[3]) {
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        const double value = xyz[k] + 0.0; /* -0 and 0 are the same place */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        key = (key ^ bits) + 0x9E3779B97F4A7C15u;
        key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9u;
        key = (key ^ key >> 27) * 0x94D049BB133111EBu;
        key ^= key >> 31;
    }
    return key >> 1;
}

static void position_keys(const session *s, const mote_column *const axes[3], uint64_t count, uint64_t *keys) {
    const int64_t blocks = (int64_t)((count + BLOCK_POINTS - 1) / BLOCK_POINTS);
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(s->ctx))
    for (int64_t b = 0; b < blocks; b++) {
        double values[3][BLOCK_POINTS];
        const uint64_t first = (uint64_t)b * BLOCK_POINTS;
        const uint64_t points = count - first < BLOCK_POINTS ? count - first : BLOCK_POINTS;
        for (int k = 0; k < 3; k++) mote_column_read(axes[k], first, points, MOTE_FLOAT64, values[k]);
        for (uint64_t i = 0; i < points; i++) {
            const double xyz[3] = {values[0][i], values[1][i], values[2][i]};
            keys[first + i] = position_key(xyz);
        }
    }
}

/* Sorts a 63-bit hash of each position and counts neighbours that are equal. */
static int count_duplicates(session *s, const mote_cloud *cloud, cloud_stats *stats) {
    const mote_column *axes[3] = {mote_cloud_find(cloud, "x"), mote_cloud_find(cloud, "y"),
                                  mote_cloud_find(cloud, "z")};
    const uint64_t count = mote_cloud_count(cloud);
    stats->duplicates_known = axes[0] != NULL && axes[1] != NULL && axes[2] != NULL && count < UINT32_MAX;
    if (!stats->duplicates_known) return EXIT_DONE;
    uint64_t *keys = malloc((size_t)count * sizeof *keys + 1);
    uint32_t *indices = malloc((size_t)count * sizeof *indices + 1);
    int code = EXIT_DONE;
    if (keys == NULL || indices == NULL) {
        code = session_error(s, EXIT_RESOURCES, "out of memory: looking for duplicates");
    } else {
        position_keys(s, axes, count, keys);
        const mote_status status = mote_order_sort(s->ctx, keys, indices, count);
        if (status != MOTE_OK) code = session_fail(s, status, false);
        for (uint64_t i = 1; i < count && status == MOTE_OK; i++) stats->duplicates += keys[i] == keys[i - 1];
    }
    free(keys);
    free(indices);
    return code;
}

static int sum_columns(session *s, const mote_cloud *cloud, cloud_stats *stats) {
    const uint64_t count = mote_cloud_count(cloud), block_count = (count + BLOCK_POINTS - 1) / BLOCK_POINTS;
    const uint32_t columns = mote_cloud_column_count(cloud);
    block_sum *blocks = malloc((size_t)block_count * sizeof *blocks + 1);
    if (blocks == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: statistics");
    for (uint32_t c = 0; c < columns && !session_cancelled(); c++) {
        const mote_column *column = mote_cloud_column(cloud, c);
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(s->ctx))
        for (int64_t b = 0; b < (int64_t)block_count; b++) {
            const uint64_t first = (uint64_t)b * BLOCK_POINTS;
            blocks[b] = sum_block(cloud, column, first, count - first < BLOCK_POINTS ? count - first : BLOCK_POINTS);
        }
        stats->columns[c] = join_blocks(column, blocks, block_count, count);
        progress_update(&s->bar, (double)(c + 1) / columns, "reading all points");
    }
    free(blocks);
    return session_cancelled() ? EXIT_CANCELLED : EXIT_DONE;
}

int cloud_stats_compute(session *s, const mote_cloud *cloud, cloud_stats *stats) {
    memset(stats, 0, sizeof *stats);
    stats->columns = calloc(mote_cloud_column_count(cloud) + 1u, sizeof *stats->columns);
    if (stats->columns == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: statistics");
    const int code = sum_columns(s, cloud, stats);
    if (code != EXIT_DONE) return code;
    count_values(cloud, "classification", &stats->classes);
    count_values(cloud, "return_number", &stats->returns);
    return count_duplicates(s, cloud, stats);
}

void cloud_stats_free(cloud_stats *stats) {
    free(stats->columns);
    stats->columns = NULL;
}
