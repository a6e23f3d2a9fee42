/* The positions of a cloud, block by block. */
#ifndef MOTE_MEASURE_POINTS_H
#define MOTE_MEASURE_POINTS_H

#include "core/cloud.h"

#define MEASURE_BLOCK_POINTS 4096u
#define MEASURE_BATCH_POINTS 262144u /* between two reports of progress; whole blocks */

typedef struct measure_points {
    const mote_column *axes[3];
    uint64_t count;
} measure_points;

typedef struct measure_block {
    uint64_t first, count;
    double places[3][MEASURE_BLOCK_POINTS];
} measure_block;

mote_status measure_open_points(mote_context *ctx, const mote_cloud *cloud, measure_points *points);

static inline uint64_t measure_block_count(uint64_t count) {
    return (count + MEASURE_BLOCK_POINTS - 1) / MEASURE_BLOCK_POINTS;
}

/* Block b of the points [first, first + count). */
void measure_read_block(const measure_points *points, uint64_t first, uint64_t count, uint64_t b, measure_block *block);

#endif
