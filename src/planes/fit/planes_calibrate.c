/* The noise of planes. What neighbours tell of it is too little where a scanner's errors or a wall's own shape are
   wider than a neighbourhood. So the planes of the most votes are looked at: starting from what neighbours tell, the
   distance that counts grows until the peak of the residuals is within it. What lies farther out says how many points
   there would be without the plane. */
#include <stdlib.h>

#include "planes/fit/planes_refine.h"

#define MEASURED_BATCH 8u
#define GROWTH         1.3
#define TURNS          24
#define EXCESS         0.12 /* of the peak may be outside */
#define WIDEST         1.5  /* bins: the distance that counts last, where no peak is within a bin */
#define FAR            4.0  /* times the distance that counts: how far is looked */
#define SHARE          0.25 /* points of a peak to votes, or it is a step of the sensor's, not the plane */

/* ---- one peak */

/* Where a start led to, and how far the points of the peak are around it. */
typedef struct measured {
    planes_fit fit;
    double noise, weight; /* as planes_calibrated has them */
    uint32_t number;      /* of the start */
} measured;

/* The distance that counts next; infinite after the widest. */
static double wider(const planes_refining *how, double t) {
    if (GROWTH * t < how->bin) return GROWTH * t;
    return t < how->bin ? WIDEST * how->bin : INFINITY;
}

/* wide: a pass with a reach of 2 t. Returns whether the peak of the residuals is within t, and enough of one. Without a
   plane there were strays points in a slab of 2 t, evenly. */
static bool is_peak_within(const planes_sums *wide, double t, double votes, measured *m) {
    const double in = (double)wide->inner, side = (double)(wide->count - wide->inner);
    const double strays = 0.5 * (double)wide->in_bands[0];
    if (side - strays > EXCESS * (in - strays) + 2 * sqrt(strays + 1) || !(in > 2 * strays)) return false;
    const double mean = planes_mean_distance(wide, &m->fit), weight = in + side - 2 * strays;
    const double squares = (in + side) * (mean * mean) - 2 * strays * (4 * t * t / 3);
    if (weight < fmax(5 * sqrt(strays + 1), SHARE * votes) || squares < 0) return false;
    m->noise = sqrt(squares / weight);
    m->weight = weight;
    return true;
}

static void measure_peak(const refine_job *job, double votes, planes_sample *near, measured *m) {
    const planes_refining *how = job->how;
    planes_sums sums;
    double t = 0.5 * how->tolerance, far = 0;
    for (int turn = 0; turn < TURNS && t < INFINITY; turn++, t = wider(how, t)) {
        const double reach = FAR * fmax(t, how->bin);
        bool valid = true;
        if (reach > far) refine_take_pool(job, &m->fit, reach, near);
        far = reach;
        for (int k = 0; k < 2 && valid; k++) { /* the first fit is of what the plane before it had */
            refine_sum_pool(job, near, &m->fit, t, &sums);
            const planes_fit next = planes_fit_sums(&sums);
            valid = next.valid;
            if (valid) m->fit = next;
        }
        if (!valid) continue;
        refine_sum_pool(job, near, &m->fit, 2 * t, &sums);
        if (is_peak_within(&sums, t, votes, m)) break;
    }
}

static void measure_batch(refine_job *job, const planes_start *starts, uint32_t count, measured *batch) {
    refine_drop_claimed(job);
#pragma omp parallel for schedule(dynamic) num_threads(job->threads) if (count > 1)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        planes_sample *near = refine_pool(job);
        memset(&batch[i], 0, sizeof batch[i]);
        batch[i].fit = refine_peak(job, &starts[i], near);
        batch[i].number = (uint32_t)i;
        if (batch[i].fit.valid) measure_peak(job, (double)starts[i].votes, near, &batch[i]);
    }
}

/* The densest peak first, of those of the same density the one of more votes. */
static int compare_measured(const void *first, const void *second) {
    const measured *a = first, *b = second;
    const double x = a->weight / (a->noise + 1e-300), y = b->weight / (b->noise + 1e-300);
    return x != y ? x > y ? -1 : 1 : a->number < b->number ? -1 : 1;
}

/* Drops what is mostly of peaks before it: a quarter of the points within the tolerance, or more, are not free. */
static void keep_own(const refine_job *job, measured *batch, uint32_t count) {
    qsort(batch, count, sizeof *batch, compare_measured);
    for (uint32_t i = 0; i < count && batch[i].weight > 0; i++) {
        const double tolerance = fmax(job->how->tolerance, 3 * batch[i].noise);
        const planes_plane plane = planes_plane_from(&batch[i].fit, tolerance,
                                                     job->how->guard / job->how->tolerance * tolerance, job->how->cone);
        planes_candidate counted;
        refine_count(job, &plane, &counted);
        if (4 * (uint64_t)counted.count >= 3 * (uint64_t)refine_count_all(job, &plane)) {
            refine_claim(job, &plane);
        } else {
            batch[i].weight = 0;
        }
    }
}

mote_status planes_measure_peaks(planes_run *run, const planes_refining *how, const planes_start *starts,
                                 uint32_t count, planes_calibrated *calibrated) {
    measured batch[MEASURED_BATCH];
    refine_job job;
    const mote_status status = refine_open(&job, run, how);
    memset(calibrated, 0, count * sizeof *calibrated);
    for (uint32_t first = 0; first < count && status == MOTE_OK; first += MEASURED_BATCH) {
        const uint32_t size = count - first < MEASURED_BATCH ? count - first : MEASURED_BATCH;
        measure_batch(&job, starts + first, size, batch);
        keep_own(&job, batch, size);
        for (uint32_t i = 0; i < size; i++) {
            calibrated[first + batch[i].number] = (planes_calibrated){batch[i].noise, batch[i].weight};
        }
    }
    refine_close(&job);
    return status;
}

/* ---- all of them */

mote_status planes_calibrate(planes_run *run, const planes_start *starts, uint32_t count, uint32_t min) {
    planes_calibrated found[PLANES_CALIBRATED];
    double noises[PLANES_CALIBRATED], weights[PLANES_CALIBRATED];
    bool any = false;
    const uint32_t looked_at = count < PLANES_CALIBRATED ? count : PLANES_CALIBRATED;
    const planes_refining how = planes_how_to_refine(run, min);
    if (run->tolerance_given || looked_at == 0) return MOTE_OK;
    MOTE_TRY(planes_measure_peaks(run, &how, starts, looked_at, found));
    for (uint32_t i = 0; i < looked_at; i++) {
        noises[i] = found[i].noise;
        weights[i] = found[i].weight;
        any = any || weights[i] > 0;
    }
    if (!any) return MOTE_OK;
    run->scale.noise = planes_weighted_median(noises, weights, looked_at);
    run->scale.flat = true;
    planes_choose_tolerance(run);
    return MOTE_OK;
}
