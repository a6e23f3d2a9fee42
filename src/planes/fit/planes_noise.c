/* How noisy a cloud's surfaces are, and how dense: from windows of the Morton order, which are small neighbourhoods.
   Windows of consecutive points are the smallest; where noise is all that can be seen at that size, every fourth point,
   every sixteenth and so on make a wider one. The noise is the median over the windows that are flat. */
#include <stdlib.h>

#include "planes/planes.h"

#define MIN_FLAT   12u /* windows, or nothing is flat */
#define MIN_SHARED 16u /* looks at windows, of 5 us each: for fewer it takes longer to wake threads */

typedef struct window {
    float x[PLANES_WINDOW], y[PLANES_WINDOW], z[PLANES_WINDOW]; /* from its middle point */
} window;

static void take_window(const planes_sample *sample, uint32_t first, window *w) {
    const uint32_t middle = first + PLANES_WINDOW_MIDDLE;
    for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
        w->x[i] = sample->x[first + i] - sample->x[middle];
        w->y[i] = sample->y[first + i] - sample->y[middle];
        w->z[i] = sample->z[first + i] - sample->z[middle];
    }
}

/* The n-th smallest, from 0; a few values are sorted as fast as that one is found. */
static float select_nth(float *values, uint32_t count, uint32_t n) {
    for (uint32_t i = 1; i < count; i++) {
        const float value = values[i];
        uint32_t at = i;
        for (; at > 0 && value < values[at - 1]; at--) values[at] = values[at - 1];
        values[at] = value;
    }
    return values[n];
}

static bool trial_through(const window *w, uint32_t which, uint32_t trial, planes_plane *plane) {
    float corners[3][3];
    for (int k = 0; k < 3; k++) {
        const uint32_t i = planes_trial_corner(which, trial, k);
        corners[k][0] = w->x[i];
        corners[k][1] = w->y[i];
        corners[k][2] = w->z[i];
    }
    return planes_through(corners[0], corners[1], corners[2], plane);
}

/* The plane of the least quantile among trials, and that quantile; INFINITY: there is none. Most trials have too few
   residuals below the least quantile so far, and their own is not looked for. */
static float best_trial(const window *w, uint32_t which, planes_plane *best) {
    float min = INFINITY, values[PLANES_WINDOW];
    for (uint32_t t = 0; t < PLANES_TRIALS; t++) {
        planes_plane plane;
        uint32_t below = 0;
        if (!trial_through(w, which, t, &plane)) continue;
        for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
            values[i] = fabsf(planes_distance(&plane, w->x[i], w->y[i], w->z[i]));
            below += values[i] < min;
        }
        if (below <= PLANES_QUANTILE) continue;
        min = select_nth(values, PLANES_WINDOW, PLANES_QUANTILE);
        *best = plane;
    }
    return min;
}

static void sum_within(const window *w, const planes_plane *plane, planes_sums *sums) {
    memset(sums, 0, sizeof *sums);
    for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
        const float distance = fabsf(planes_distance(plane, w->x[i], w->y[i], w->z[i]));
        if (distance <= plane->tolerance) planes_add(sums, plane, distance, true, w->x[i], w->y[i], w->z[i]);
    }
}

/* The step between points at a scale. */
static uint64_t step_of(uint32_t scale) {
    uint64_t step = 1;
    while (scale-- > 0) step *= PLANES_WIDENING;
    return step;
}

static planes_flatness measure(const window *w, uint32_t which, uint64_t step, double resolution) {
    const planes_flatness none = {0, 0, false};
    planes_plane plane;
    const float quantile = best_trial(w, which, &plane);
    if (!isfinite(quantile)) return none;
    planes_window_fit fit = planes_window_begin(quantile, resolution);
    for (int turn = 0; turn < PLANES_WINDOW_FITS; turn++) {
        planes_sums sums;
        if (turn > 0) plane = planes_plane_from(&fit.fit, 0, 0, 0);
        plane.tolerance = (float)fit.reach;
        sum_within(w, &plane, &sums);
        if (!planes_window_next(&sums, resolution, &fit)) return none;
    }
    return planes_window_end(&fit, step);
}

/* Looks at the windows that are not flat yet, at each of some scales until they are. */
static mote_status look_at_windows(planes_run *run, uint32_t windows, uint32_t first_scale, uint32_t end_scale,
                                   planes_flatness *found) {
    const uint32_t scales = end_scale - first_scale;
    uint32_t open[PLANES_WINDOWS], count = 0;
    planes_sample sample;
    for (uint32_t k = 0; k < windows; k++) {
        if (!found[k].flat) open[count++] = k;
    }
    const uint32_t looks = count * scales;
    mote_status status = planes_sample_make(run->ctx, looks * PLANES_WINDOW, &sample);
    for (uint32_t look = 0; look < looks && status == MOTE_OK; look++) {
        const uint64_t step = step_of(first_scale + look % scales);
        for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
            sample.place[sample.count++] =
                planes_window_place(run->points->count, windows, open[look / scales], step, i);
        }
    }
    if (status == MOTE_OK) status = run->ops->read_places(run->points, &sample);
#pragma omp parallel for schedule(dynamic, 1) num_threads(run->ctx->threads) if (looks > MIN_SHARED)
    for (int64_t k = 0; k < (int64_t)count; k++) {
        const uint32_t which = open[k], first = (uint32_t)k * scales;
        for (uint32_t scale = 0; scale < scales && !found[which].flat && status == MOTE_OK; scale++) {
            window w;
            take_window(&sample, (first + scale) * PLANES_WINDOW, &w);
            found[which] = measure(&w, which, step_of(first_scale + scale), run->scale.resolution);
        }
    }
    planes_sample_free(run->ctx, &sample);
    return status;
}

/* Most windows are flat at the first scale: what is not is read at all others together. */
mote_status planes_find_flatness(planes_run *run, uint32_t windows, planes_flatness *found) {
    memset(found, 0, windows * sizeof *found);
    MOTE_TRY(look_at_windows(run, windows, 0, 1, found));
    return look_at_windows(run, windows, 1, planes_scale_count(run->points->count), found);
}

static void take_medians(planes_run *run, const planes_flatness *found, uint32_t windows) {
    double noise[PLANES_WINDOWS], spacing[PLANES_WINDOWS];
    uint32_t flat = 0;
    for (uint32_t k = 0; k < windows; k++) {
        if (!found[k].flat) continue;
        noise[flat] = found[k].noise;
        spacing[flat++] = found[k].spacing;
    }
    if (flat == 0 || (flat < MIN_FLAT && flat < windows)) return;
    qsort(noise, flat, sizeof *noise, planes_compare_doubles);
    qsort(spacing, flat, sizeof *spacing, planes_compare_doubles);
    run->scale.flat = true;
    run->scale.noise = noise[flat / 2];
    run->scale.spacing = spacing[flat / 2];
}

mote_status planes_measure_noise(planes_run *run) {
    const uint32_t count = run->points->count;
    const uint32_t windows = count / PLANES_WINDOW < PLANES_WINDOWS ? count / PLANES_WINDOW : PLANES_WINDOWS;
    planes_flatness found[PLANES_WINDOWS];
    run->scale.noise = 0;
    run->scale.spacing = count > 0 ? run->scale.radius / sqrt((double)count) : 0;
    if (windows == 0) return MOTE_OK;
    MOTE_TRY(planes_find_flatness(run, windows, found));
    take_medians(run, found, windows);
    return MOTE_OK;
}
