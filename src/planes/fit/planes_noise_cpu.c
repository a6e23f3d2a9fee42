/* Flatness of windows, on CPU cores. */
#include "planes/planes_cpu.h"

typedef struct window {
    float xyz[PLANES_WINDOW][3]; /* of its middle point */
} window;

static void take_window(const planes_cpu *p, uint32_t windows, uint32_t which, uint64_t step, window *w) {
    const uint32_t middle = planes_window_place(p->base.count, windows, which, step, PLANES_WINDOW_MIDDLE);
    for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
        const uint32_t at = planes_window_place(p->base.count, windows, which, step, i);
        w->xyz[i][0] = p->x[at] - p->x[middle];
        w->xyz[i][1] = p->y[at] - p->y[middle];
        w->xyz[i][2] = p->z[at] - p->z[middle];
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

mote_status planes_flatness_cpu(planes_points *points, uint32_t windows, double resolution, planes_flatness *found) {
    const planes_cpu *p = planes_on_cpu(points);
    const uint32_t scales = planes_scale_count(points->count);
#pragma omp parallel for schedule(dynamic, 8) num_threads(points->ctx->threads)
    for (int64_t k = 0; k < (int64_t)windows; k++) {
        uint64_t step = 1;
        memset(&found[k], 0, sizeof found[k]);
        for (uint32_t s = 0; s < scales && !found[k].flat; s++, step *= PLANES_WIDENING) {
            window w;
            take_window(p, windows, (uint32_t)k, step, &w);
            found[k] = measure(&w, (uint32_t)k, step, resolution);
        }
    }
    return MOTE_OK;
}
