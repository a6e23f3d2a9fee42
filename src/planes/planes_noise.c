/* How noisy a cloud's surfaces are, and how dense: from windows of the Morton order, which are small neighbourhoods.
   In each a plane is fitted that half of the points need not heed (least quantile of squares, Rousseeuw 1984). Windows
   of consecutive points are the smallest; where noise is all that can be seen at that size, every fourth point, every
   sixteenth and so on make a wider one. The noise is the median over the windows that are flat. */
#include <stdlib.h>

#include "math/hash.h"
#include "planes/planes.h"

#define WINDOWS    192u
#define WINDOW     48u /* points of one */
#define TRIALS     32u /* planes through three of them */
#define QUANTILE   16u /* the trial whose so-many-th residual is the least wins: a third of the window */
#define SCALES     12u
#define WIDENING   4u
#define FLAT       0.1 /* the noise is below so much of the size of a flat window */
#define LEAST      18u /* points in the plane of a window */
#define LEAST_FLAT 12u /* windows, or nothing is flat */

typedef struct window {
    double xyz[WINDOW][3]; /* of its middle point */
} window;

typedef struct flatness {
    double noise, spacing;
    bool flat;
} flatness;

static void take_window(const planes_sample *sample, uint32_t first, window *to) {
    const uint32_t middle = first + WINDOW / 2;
    for (uint32_t i = 0; i < WINDOW; i++) {
        to->xyz[i][0] = (double)sample->x[first + i] - sample->x[middle];
        to->xyz[i][1] = (double)sample->y[first + i] - sample->y[middle];
        to->xyz[i][2] = (double)sample->z[first + i] - sample->z[middle];
    }
}

static bool plane_through(const double a[3], const double b[3], const double c[3], planes_fit *fit) {
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    const double length = sqrt((n[0] * n[0] + n[1] * n[1]) + n[2] * n[2]);
    if (!(length > 0)) return false;
    for (int k = 0; k < 3; k++) fit->normal[k] = n[k] / length;
    fit->offset = (fit->normal[0] * a[0] + fit->normal[1] * a[1]) + fit->normal[2] * a[2];
    return true;
}

static double residual(const planes_fit *fit, const double at[3]) {
    return fabs((fit->normal[0] * at[0] + fit->normal[1] * at[1]) + (fit->normal[2] * at[2] - fit->offset));
}

/* The n-th smallest, from 0. */
static double select_nth(double *values, uint32_t count, uint32_t n) {
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        const double pivot = values[low + (high - low) / 2];
        uint32_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i <= j) {
                const double kept = values[i];
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

/* The plane of the least quantile among trials, and that quantile. */
static double best_trial(const window *w, uint64_t seed, planes_fit *best) {
    double least = INFINITY, values[WINDOW];
    for (uint32_t t = 0; t < TRIALS; t++) {
        const uint64_t random = mote_hash_pair(seed, t);
        planes_fit fit;
        const uint32_t a = (uint32_t)(random & 0xFFFF) % WINDOW, b = (uint32_t)(random >> 16 & 0xFFFF) % WINDOW;
        const uint32_t c = (uint32_t)(random >> 32 & 0xFFFF) % WINDOW;
        if (!plane_through(w->xyz[a], w->xyz[b], w->xyz[c], &fit)) continue;
        for (uint32_t i = 0; i < WINDOW; i++) values[i] = residual(&fit, w->xyz[i]);
        const double quantile = select_nth(values, WINDOW, QUANTILE);
        if (quantile >= least) continue;
        least = quantile;
        *best = fit;
    }
    return least;
}

/* The plane of the points within reach, their deviation from it and size in it; returns how many. */
static uint32_t fit_within(const window *w, double reach, planes_fit *fit, double *deviation, double *size) {
    static const double origin[3] = {0, 0, 0};
    planes_moments moments;
    memset(&moments, 0, sizeof moments);
    for (uint32_t i = 0; i < WINDOW; i++) {
        if (residual(fit, w->xyz[i]) <= reach) planes_moments_add(&moments, w->xyz[i][0], w->xyz[i][1], w->xyz[i][2]);
    }
    const planes_fit next = planes_fit_moments(&moments, origin);
    if (!next.valid || moments.n < LEAST) return 0;
    double square = 0;
    for (int k = 0; k < 3; k++) square -= (moments.first[k] / moments.n) * (moments.first[k] / moments.n);
    square += (moments.products[0] + moments.products[3] + moments.products[5]) / moments.n;
    *fit = next;
    *deviation = next.rms * sqrt(moments.n / (moments.n - 3));
    *size = sqrt(square > 0 ? square : 0);
    return (uint32_t)moments.n;
}

/* Of a disc the root of the mean squared distance to its middle is its radius over sqrt(2). */
static double spacing_of(uint32_t count, double size) { return sqrt(2 * 3.14159265358979323846 / count) * size; }

static flatness measure(const window *w, uint64_t seed, double resolution) {
    flatness found = {0, 0, false};
    planes_fit fit = {{0, 0, 0}, 0, {0, 0, 0}, 0, false};
    double deviation = 0, size = 0;
    double reach = best_trial(w, seed, &fit) / 0.43 * 2.5; /* that quantile of a normal distribution, cut at 2.5 */
    if (!isfinite(reach)) return found;
    uint32_t count = 0;
    for (int turn = 0; turn < 5; turn++) {
        count = fit_within(w, fmax(reach, 0.5 * resolution), &fit, &deviation, &size);
        if (count == 0) return found;
        reach = 2.7 * deviation;
    }
    found.flat = deviation <= FLAT * size && size > 0;
    found.noise = deviation;
    found.spacing = spacing_of(count, size);
    return found;
}

/* ---- all windows of a scale */

static mote_status fetch_windows(planes_run *run, uint64_t step, uint32_t windows, planes_sample *sample) {
    const uint64_t reach = step * (WINDOW - 1), room = run->points->count - reach;
    for (uint32_t k = 0; k < windows; k++) {
        const uint64_t first = (2 * (uint64_t)k + 1) * room / (2 * windows);
        for (uint32_t i = 0; i < WINDOW; i++) sample->place[k * WINDOW + i] = (uint32_t)(first + i * step);
    }
    return run->ops->fetch(run->points, sample->place, windows * WINDOW, sample);
}

/* Measures windows that are not flat yet; a window has about the same middle at every scale. */
static mote_status measure_scale(planes_run *run, uint64_t step, uint32_t windows, planes_sample *sample,
                                 flatness *found) {
    MOTE_TRY(fetch_windows(run, step, windows, sample));
#pragma omp parallel for schedule(dynamic, 8) num_threads(run->ctx->threads)
    for (int64_t k = 0; k < (int64_t)windows; k++) {
        window w;
        if (found[k].flat) continue;
        take_window(sample, (uint32_t)k * WINDOW, &w);
        found[k] = measure(&w, (uint64_t)k, run->scale.resolution);
        /* Every step-th point: so much denser are all. */
        found[k].spacing /= sqrt((double)step);
    }
    return MOTE_OK;
}

static void take_medians(planes_run *run, const flatness *found, uint32_t windows) {
    double noise[WINDOWS], spacing[WINDOWS];
    uint32_t flat = 0;
    for (uint32_t k = 0; k < windows; k++) {
        if (!found[k].flat) continue;
        noise[flat] = found[k].noise;
        spacing[flat++] = found[k].spacing;
    }
    if (flat < LEAST_FLAT && flat < windows) return;
    run->scale.flat = true;
    run->scale.noise = select_nth(noise, flat, flat / 2);
    run->scale.spacing = select_nth(spacing, flat, flat / 2);
}

mote_status planes_measure_noise(planes_run *run) {
    const uint64_t count = run->points->count;
    const uint32_t windows = count / WINDOW < WINDOWS ? (uint32_t)(count / WINDOW) : WINDOWS;
    flatness found[WINDOWS];
    planes_sample sample;
    run->scale.noise = 0;
    run->scale.spacing = count > 0 ? run->scale.radius / sqrt((double)count) : 0;
    if (windows == 0) return MOTE_OK;
    memset(found, 0, sizeof found);
    mote_status status = planes_sample_make(run->ctx, WINDOWS * WINDOW, &sample);
    uint64_t step = 1;
    for (uint32_t s = 0; s < SCALES && step * WINDOW * 4 <= count + 4 * WINDOW * (s == 0); s++, step *= WIDENING) {
        if (status == MOTE_OK) status = measure_scale(run, step, windows, &sample, found);
    }
    if (status == MOTE_OK) take_medians(run, found, windows);
    planes_sample_free(run->ctx, &sample);
    return status;
}
