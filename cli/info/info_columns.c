/* What one column of a cloud that comes in pieces is like. */
#include "info/info_columns.h"

#include <math.h>
#include <string.h>

#define BLOCK_POINTS 8192u

static void add_block(column_tally *tally, const double *values, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (isnan(values[i])) continue;
        tally->block_sum += values[i];
        tally->min = fmin(tally->min, values[i]);
        tally->max = fmax(tally->max, values[i]);
        tally->values++;
    }
    tally->points += count;
    if (tally->points % BLOCK_POINTS != 0) return;
    tally->sum += tally->block_sum;
    tally->block_sum = 0;
}

bool tally_add(column_tally *tally, const mote_cloud *piece, const mote_column *column) {
    const uint64_t all = mote_cloud_count(piece);
    double values[BLOCK_POINTS];
    if (!tally->is_open) {
        tally->is_open = true;
        tally->min = INFINITY;
        tally->max = -INFINITY;
        if (!ranks_open(&tally->ranks, column->type)) return false;
    }
    if (tally->pass > 0 && tally->ranks.is_done) return true;
    for (uint64_t first = 0, count; first < all; first += count) {
        const uint64_t room = BLOCK_POINTS - (tally->pass == 0 ? tally->points % BLOCK_POINTS : 0);
        count = all - first < room ? all - first : room;
        mote_cloud_read_known(piece, column, first, count, values);
        if (tally->pass == 0) add_block(tally, values, count);
        ranks_add(&tally->ranks, values, count);
    }
    return true;
}

bool tally_end(column_tally *tally, const mote_column *column, bool *again) {
    if (!tally->is_open) return true;
    tally->sum += tally->block_sum;
    tally->block_sum = 0;
    tally->pass++;
    if (!ranks_end(&tally->ranks, tally->values, column->scale < 0)) return false;
    *again = *again || !tally->ranks.is_done;
    return true;
}

void tally_tell(const column_tally *tally, const mote_column *column, column_stats *stats) {
    stats->min = stats->max = stats->mean = NAN;
    stats->values = tally->values;
    stats->nans = tally->points - tally->values;
    for (int p = 0; p < RANKS_COUNT; p++) {
        stats->percentiles[p] = tally->is_open ? tally->ranks.values[p] * column->scale + column->offset : NAN;
    }
    if (tally->values == 0) return;
    const double a = tally->min * column->scale + column->offset, b = tally->max * column->scale + column->offset;
    stats->min = fmin(a, b);
    stats->max = fmax(a, b);
    stats->mean = tally->sum / (double)tally->values * column->scale + column->offset;
}

void tally_close(column_tally *tally) { ranks_close(&tally->ranks); }

void histogram_add(histogram *to, const mote_cloud *piece, const char *name) {
    const mote_column *column = mote_cloud_find(piece, name);
    const uint64_t all = mote_cloud_count(piece);
    double values[BLOCK_POINTS];
    to->present = column != NULL;
    for (uint64_t first = 0; first < all && column != NULL; first += BLOCK_POINTS) {
        const uint64_t count = all - first < BLOCK_POINTS ? all - first : BLOCK_POINTS;
        mote_cloud_read_known(piece, column, first, count, values);
        for (uint64_t i = 0; i < count; i++) {
            const double value = rint(values[i]);
            if (value >= 0 && value < HISTOGRAM_BINS) {
                to->bins[(uint32_t)value]++;
            } else if (!isnan(value)) {
                to->beyond++;
            }
        }
    }
}
