/* Volumes, areas and profiles of clouds. */
#include <math.h>

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

/* The nearest point inside of a corner, the lowest of several. */
typedef struct nearest_point {
    double distance, height; /* distance: squared, on the ground */
} nearest_point;

static void keep_nearer(nearest_point *best, nearest_point other) {
    const bool is_nearer = other.distance < best->distance;
    if (is_nearer || (other.distance == best->distance && other.height < best->height)) *best = other;
}

static void look_for_nearest(const volume_grid *grid, const measure_block *block, nearest_point *best) {
    const mote_region *region = grid->region;
    for (uint64_t i = 0; i < block->count; i++) {
        const double x = block->places[0][i], y = block->places[1][i], z = block->places[2][i];
        if (isnan(z) || !mote_region_contains(region, x, y)) continue;
        for (uint64_t c = 0; c < grid->corner_count; c++) {
            const double *corner = grid->corners[c];
            const double u = (double)(region_steps(region, x) - region_steps(region, corner[0])) * grid->ground.x;
            const double v = (double)(region_steps(region, y) - region_steps(region, corner[1])) * grid->ground.y;
            keep_nearer(&best[c], (nearest_point){u * u + v * v, z});
        }
    }
}

/* Gives corners without a height that of the nearest point. Without any point inside they get 0, and no volume. */
static mote_status drape(volume_grid *grid, const measure_points *points, uint64_t *draped) {
    mote_context *ctx = grid->ctx;
    const int64_t blocks = (int64_t)measure_block_count(points->count);
    const uint64_t n = grid->corner_count;
    *draped = 0;
    for (uint64_t c = 0; c < n; c++) *draped += isnan(grid->corners[c][2]);
    if (*draped == 0 || grid->base != MOTE_VOLUME_PLANE) {
        *draped = 0;
        return MOTE_OK;
    }
    nearest_point *best = mote_alloc(ctx, (uint64_t)ctx->threads * n * sizeof *best, "volume");
    if (best == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < (uint64_t)ctx->threads * n; i++) best[i] = (nearest_point){INFINITY, INFINITY};
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t b = 0; b < blocks; b++) {
        measure_block block;
        measure_read_block(points, 0, points->count, (uint64_t)b, &block);
        look_for_nearest(grid, &block, best + (uint64_t)mote_thread_number() * n);
    }
    for (uint64_t c = 0; c < n; c++) {
        for (int t = 1; t < ctx->threads; t++) keep_nearer(&best[c], best[(uint64_t)t * n + c]);
        if (isnan(grid->corners[c][2])) grid->corners[c][2] = isfinite(best[c].height) ? best[c].height : 0;
    }
    mote_free(ctx, best);
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
