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
#define BRIGHT_SHARE 10u                    /* one point of so many may be brighter than what decides: a lamp, a sign */
#define SHOWN_AS     (0.8 * MOTE_COLOR_MAX) /* leaves what is a quarter brighter its differences */

static uint16_t brightest_of(const mote_column channels[3], uint64_t row) {
    uint16_t brightest = 0;
    for (int c = 0; c < 3; c++) {
        const uint16_t color = column_color(&channels[c], column_at(&channels[c], row));
        if (color > brightest) brightest = color;
    }
    return brightest;
}

/* Counts points by their brightest channel. Once more than a tenth of all points are not dark, colours are not either,
   whatever the others are: then nobody looks at these. counts: a histogram for each thread, of which the first becomes
   the sum of all */
static mote_status count_levels(mote_context *ctx, const mote_column channels[3], uint64_t count, uint64_t *counts,
                                bool *is_dark) {
    const int64_t chunks = (int64_t)((count + CHUNK_POINTS - 1) / CHUNK_POINTS);
    uint64_t bright = 0;
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads)
    for (int64_t c = 0; c < chunks; c++) {
        uint64_t *own = counts + (uint64_t)mote_thread_number() * LEVELS, own_bright = 0;
        const uint64_t first = (uint64_t)c * CHUNK_POINTS, rest = count - first;
        if (mote_stop(ctx) || __atomic_load_n(&bright, __ATOMIC_RELAXED) > count / BRIGHT_SHARE) continue;
        for (uint64_t i = first; i < first + (rest < CHUNK_POINTS ? rest : CHUNK_POINTS); i++) {
            const uint16_t level = brightest_of(channels, i);
            own[level]++;
            own_bright += level >= DARK;
        }
        __atomic_fetch_add(&bright, own_bright, __ATOMIC_RELAXED);
    }
    MOTE_TRY(mote_stopped(ctx));
    *is_dark = bright <= count / BRIGHT_SHARE;
    for (int thread = 1; thread < ctx->threads && *is_dark; thread++) {
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
        if (below >= colored - colored / BRIGHT_SHARE) return level;
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
    bool is_dark = false;
    mote_status status = count_levels(ctx, channels, cloud->count, counts, &is_dark);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    const uint32_t level = status == MOTE_OK && is_dark ? find_level(counts) : 0;
    if (level > 0 && level < DARK) *exposure = rint(100 * SHOWN_AS / level) / 100;
    mote_free(ctx, counts);
    return status;
}
