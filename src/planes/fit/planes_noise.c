/* How noisy a cloud's surfaces are, and how dense: from windows of the Morton order, which are small neighbourhoods.
   Windows of consecutive points are the smallest; where noise is all that can be seen at that size, every fourth point,
   every sixteenth and so on make a wider one. The noise is the median over the windows that are flat. */
#include <stdlib.h>

#include "planes/planes.h"

#define MIN_FLAT 12u /* windows, or nothing is flat */

typedef struct window {
    float xyz[PLANES_WINDOW][3]; /* of its middle point */
} window;

static void take_window(const planes_sample *sample, uint32_t first, window *w) {
    const uint32_t middle = first + PLANES_WINDOW_MIDDLE;
    for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
        w->xyz[i][0] = sample->x[first + i] - sample->x[middle];
        w->xyz[i][1] = sample->y[first + i] - sample->y[middle];
        w->xyz[i][2] = sample->z[first + i] - sample->z[middle];
    }
}

/* The n-th smallest, from 0. */
static float select_nth(float *values, uint32_t count, uint32_t n) {
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        const float pivot = values[low + (high - low) / 2];
        uint32_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i <= j) {
                const float kept = values[i];
                values[i++] = values[j];
                values[j] = kept;
                if (j == 0) break;
                j--;
            }
        }
        if (n <= j) {
            high = j;
        } else if (n >= i) {
            low = i;
        } else {
            break;
        }
    }
    return values[n];
}

/* The plane of the least quantile among trials, and that quantile; INFINITY: there is none. */
static float best_trial(const window *w, uint32_t which, planes_plane *best) {
    float min = INFINITY, values[PLANES_WINDOW];
    for (uint32_t t = 0; t < PLANES_TRIALS; t++) {
        planes_plane plane;
        const uint32_t a = planes_trial_corner(which, t, 0), b = planes_trial_corner(which, t, 1);
        const uint32_t c = planes_trial_corner(which, t, 2);
        if (!planes_through(w->xyz[a], w->xyz[b], w->xyz[c], &plane)) continue;
        for (uint32_t i = 0; i < PLANES_WINDOW; i++) values[i] = planes_residual(&plane, w->xyz[i]);
        const float quantile = select_nth(values, PLANES_WINDOW, PLANES_QUANTILE);
        if (quantile >= min) continue;
        min = quantile;
        *best = plane;
    }
    return min;
}

static void sum_within(const window *w, const planes_plane *plane, planes_sums *sums) {
    memset(sums, 0, sizeof *sums);
    for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
        const float distance = planes_residual(plane, w->xyz[i]);
        if (distance <= plane->tolerance) {
            planes_add(sums, plane, distance, true, w->xyz[i][0], w->xyz[i][1], w->xyz[i][2]);
        }
    }
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

/* Looks at the windows that are not flat yet, of every step-th point. sample: with room for all */
static mote_status look_at_windows(planes_run *run, uint32_t windows, uint64_t step, planes_sample *sample,
                                   planes_flatness *found) {
    uint32_t which[PLANES_WINDOWS], open = 0;
    for (uint32_t k = 0; k < windows; k++) {
        if (found[k].flat) continue;
        for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
            sample->place[open * PLANES_WINDOW + i] = planes_window_place(run->points->count, windows, k, step, i);
        }
        which[open++] = k;
    }
    sample->count = open * PLANES_WINDOW;
    MOTE_TRY(run->ops->read_places(run->points, sample));
#pragma omp parallel for schedule(dynamic, 8) num_threads(run->ctx->threads)
    for (int64_t k = 0; k < (int64_t)open; k++) {
        window w;
        take_window(sample, (uint32_t)k * PLANES_WINDOW, &w);
        found[which[k]] = measure(&w, which[k], step, run->scale.resolution);
    }
    return MOTE_OK;
}

mote_status planes_find_flatness(planes_run *run, uint32_t windows, planes_flatness *found) {
    planes_sample sample;
    uint64_t step = 1;
    memset(found, 0, windows * sizeof *found);
    mote_status status = planes_sample_make(run->ctx, windows * PLANES_WINDOW, &sample);
    for (uint32_t s = 0; s < planes_scale_count(run->points->count) && status == MOTE_OK; s++) {
        status = look_at_windows(run, windows, step, &sample, found);
        step *= PLANES_WIDENING;
    }
    planes_sample_free(run->ctx, &sample);
    return status;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
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
    qsort(noise, flat, sizeof *noise, compare_doubles);
    qsort(spacing, flat, sizeof *spacing, compare_doubles);
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
