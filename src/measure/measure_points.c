#include "measure/measure_points.h"

mote_status measure_open_points(mote_context *ctx, const mote_cloud *cloud, measure_points *points) {
    if (mote_cloud_on_device(cloud)) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "points on a GPU are not measured: read them to the host");
    }
    points->count = mote_cloud_count(cloud);
    for (int k = 0; k < 3; k++) {
        points->axes[k] = mote_cloud_find(cloud, mote_axis_names[k]);
        if (points->axes[k] != NULL) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "points are to be measured, but there is no %s", mote_axis_names[k]);
    }
    return MOTE_OK;
}

void measure_read_block(const measure_points *points, uint64_t first, uint64_t count, uint64_t b,
                        measure_block *block) {
    const uint64_t before = b * MEASURE_BLOCK_POINTS, left = count - before;
    block->first = first + before;
    block->count = left < MEASURE_BLOCK_POINTS ? left : MEASURE_BLOCK_POINTS;
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = points->axes[k];
        double *values = block->places[k];
        mote_column_read(axis, block->first, block->count, MOTE_FLOAT64, values);
        for (uint64_t i = 0; i < block->count; i++) values[i] = values[i] * axis->scale + axis->offset;
    }
}
