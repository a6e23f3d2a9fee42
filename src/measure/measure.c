/* Volumes, areas and profiles of clouds. */
#include "measure/area.h"
#include "measure/measure_points.h"
#include "measure/volume_grid.h"

const char *mote_measure_unit(const mote_units *units) {
    if (units->horizontal.radians > 0) return "m";
    return units->horizontal.symbol[0] != '\0' ? units->horizontal.symbol : units->horizontal.name;
}

static measure_unit unit_of(const mote_unit *unit) { return (measure_unit){unit->metres, unit->radians}; }

mote_volume_params mote_volume_defaults(void) {
    mote_volume_params params;
    memset(&params, 0, sizeof params);
    return params;
}

mote_status mote_area_measure(mote_context *ctx, const mote_shapes *shapes, uint32_t feature, const mote_units *units,
                              mote_area *area) {
    const measure_unit horizontal = unit_of(&units->horizontal), vertical = unit_of(&units->vertical);
    return area_measure(ctx, shapes, feature, &horizontal, &vertical, area);
}

/* ---- volumes */

#define OUTSIDE UINT32_MAX /* instead of a cell */

/* Places a batch of points in the grid. Returns whether one is too high. */
static bool look_at_batch(volume_grid *grid, const measure_points *points, uint64_t first, uint64_t count,
                          volume_point *out) {
    const int64_t blocks = (int64_t)measure_block_count(count);
    bool is_too_high = false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(grid->ctx->threads) reduction(|| : is_too_high)
    for (int64_t b = 0; b < blocks; b++) {
        measure_block block;
        measure_read_block(points, first, count, (uint64_t)b, &block);
        volume_point *to = out + (uint64_t)b * MEASURE_BLOCK_POINTS;
        for (uint64_t i = 0; i < block.count; i++) {
            const volume_answer answer =
                volume_grid_look(grid, block.places[0][i], block.places[1][i], block.places[2][i], &to[i]);
            if (answer != VOLUME_INSIDE) to[i].cell = OUTSIDE;
            is_too_high = is_too_high || answer == VOLUME_TOO_HIGH;
        }
    }
    return is_too_high;
}

static mote_status add_points(volume_grid *grid, const measure_points *points) {
    mote_context *ctx = grid->ctx;
    mote_status status = MOTE_OK;
    volume_point *batch = mote_alloc(ctx, MEASURE_BATCH_POINTS * sizeof *batch, "volume");
    if (batch == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t first = 0; status == MOTE_OK && first < points->count; first += MEASURE_BATCH_POINTS) {
        const uint64_t left = points->count - first, count = left < MEASURE_BATCH_POINTS ? left : MEASURE_BATCH_POINTS;
        status = mote_progress(ctx, (double)first / (double)points->count, "measure");
        if (status == MOTE_OK && look_at_batch(grid, points, first, count, batch)) {
            status = mote_fail(ctx, MOTE_ERROR_DATA,
                               "a point inside is farther than %g from the level of 0 or the base", MEASURE_MAX_HEIGHT);
        }
        for (uint64_t i = 0; status == MOTE_OK && i < count; i++) {
            if (batch[i].cell == OUTSIDE || volume_grid_add(grid, batch[i])) continue;
            status = mote_fail(ctx, MOTE_ERROR_DATA, "more than 2^32 points are inside");
        }
    }
    mote_free(ctx, batch);
    return status;
}

/* ---- corners without heights */

/* Gives corners without a height that of the nearest point. Without any point inside they get 0, and no volume. */
static mote_status drape(volume_grid *grid, const measure_points *points, uint64_t *draped) {
    mote_context *ctx = grid->ctx;
    const int64_t blocks = (int64_t)measure_block_count(points->count);
    const uint64_t n = volume_grid_nearest_count(grid), threads = (uint64_t)ctx->threads;
    *draped = 0;
    if (!volume_grid_needs_heights(grid)) return MOTE_OK;
    volume_nearest *nearest = mote_alloc(ctx, threads * n * sizeof *nearest, "volume");
    if (nearest == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t t = 0; t < threads; t++) volume_grid_start_nearest(grid, nearest + t * n);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t b = 0; b < blocks; b++) {
        measure_block block;
        volume_nearest *own = nearest + (uint64_t)mote_thread_number() * n;
        measure_read_block(points, 0, points->count, (uint64_t)b, &block);
        for (uint64_t i = 0; i < block.count; i++) {
            volume_grid_look_for_nearest(grid, block.places[0][i], block.places[1][i], block.places[2][i], own);
        }
    }
    for (uint64_t t = 1; t < threads; t++) volume_grid_join_nearest(grid, nearest + t * n, nearest);
    *draped = volume_grid_drape(grid, nearest);
    mote_free(ctx, nearest);
    return MOTE_OK;
}

static mote_status measure_volume(volume_grid *grid, const measure_points *points, mote_volume *volume) {
    uint64_t draped;
    MOTE_TRY(drape(grid, points, &draped));
    volume_grid_fit(grid);
    MOTE_TRY(add_points(grid, points));
    MOTE_TRY(volume_grid_finish(grid, volume));
    volume->draped = draped;
    return MOTE_OK;
}

mote_status mote_volume_measure(mote_context *ctx, const mote_cloud *cloud, const mote_shapes *shapes, uint32_t feature,
                                const mote_volume_params *params, mote_volume *volume) {
    const mote_volume_params p = params != NULL ? *params : mote_volume_defaults();
    const measure_unit horizontal = unit_of(&p.units.horizontal), vertical = unit_of(&p.units.vertical);
    measure_points points;
    volume_grid grid;
    memset(volume, 0, sizeof *volume);
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_volume_params", "mote_volume_defaults()"));
    if (p.base != MOTE_VOLUME_PLANE && p.base != MOTE_VOLUME_LOWEST && p.base != MOTE_VOLUME_LEVEL) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the base of a volume is %d, which is none", (int)p.base);
    }
    MOTE_TRY(measure_open_points(ctx, cloud, &points));
    mote_stage(ctx, "measure");
    mote_status status = volume_grid_start(ctx, shapes, feature, p.base, p.level, &horizontal, &vertical, &grid);
    if (status == MOTE_OK) status = measure_volume(&grid, &points, volume);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    volume_grid_free(&grid);
    mote_stage(ctx, NULL);
    return status;
}
