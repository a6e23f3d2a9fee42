/* How much brighter dark colours are to be shown: include/mote/render.h says the rule. As a photographer exposes for
   what most of a picture is, and lets lamps be white, a percentile decides. It is found in a histogram of integers,
   which is the same for any number of threads. */
#include <math.h>

#include "core/cloud.h"
#include "core/color.h"
#include "core/core.h"
#include "render/points/render_load.h"

#define LEVELS       (MOTE_COLOR_MAX + 1)
#define CHUNK_POINTS 65536u
#define DARK         (MOTE_COLOR_MAX / 3.0) /* of scans and photographs in ../shared/data none that looks well is below */
#define SHOWN_AS     (0.8 * MOTE_COLOR_MAX) /* leaves what is a quarter brighter its differences */

static uint16_t brightest_of(const mote_column channels[3], uint64_t row) {
    uint16_t brightest = 0;
    for (int c = 0; c < 3; c++) {
        const uint16_t color = column_color(&channels[c], column_at(&channels[c], row));
        if (color > brightest) brightest = color;
    }
    return brightest;
}

/* counts: a histogram for each thread, of which the first becomes the sum of all. */
static mote_status count_levels(mote_context *ctx, const mote_column channels[3], uint64_t count, uint64_t *counts) {
    const int64_t chunks = (int64_t)((count + CHUNK_POINTS - 1) / CHUNK_POINTS);
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads)
    for (int64_t c = 0; c < chunks; c++) {
        uint64_t *own = counts + (uint64_t)mote_thread_number() * LEVELS;
        const uint64_t first = (uint64_t)c * CHUNK_POINTS, rest = count - first;
        if (mote_stop(ctx)) continue;
        for (uint64_t i = first; i < first + (rest < CHUNK_POINTS ? rest : CHUNK_POINTS); i++) {
            own[brightest_of(channels, i)]++;
        }
    }
    MOTE_TRY(mote_stopped(ctx));
    for (int thread = 1; thread < ctx->threads; thread++) {
        for (uint32_t level = 0; level < LEVELS; level++) counts[level] += counts[(uint64_t)thread * LEVELS + level];
    }
    return MOTE_OK;
}

/* The level that nine tenths of the points that are not black do not exceed; 0: all are black. */
static uint32_t find_level(const uint64_t *counts) {
    uint64_t colored = 0, below = 0;
    for (uint32_t level = 1; level < LEVELS; level++) colored += counts[level];
    for (uint32_t level = 1; level < LEVELS && colored > 0; level++) {
        below += counts[level];
        if (below >= colored - colored / 10) return level;
    }
    return 0;
}

mote_status mote_render_find_exposure(mote_context *ctx, const mote_cloud *cloud, double *exposure) {
    mote_column channels[3];
    *exposure = 1;
    if (cloud == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no cloud");
    if (mote_cloud_on_device(cloud) || !render_find_colors(ctx, cloud, 1, channels)) return MOTE_OK;
    uint64_t *counts = mote_alloc_zero(ctx, (uint64_t)ctx->threads * LEVELS * sizeof *counts, "exposure");
    if (counts == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = count_levels(ctx, channels, cloud->count, counts);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    const uint32_t level = status == MOTE_OK ? find_level(counts) : 0;
    if (level > 0 && level < DARK) *exposure = rint(100 * SHOWN_AS / level) / 100;
    mote_free(ctx, counts);
    return status;
}
