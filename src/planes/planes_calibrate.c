/* The noise of planes. What neighbours tell of it is too little where a scanner's errors or a wall's own shape are
   wider than a neighbourhood. So the planes of the most votes are looked at: starting from what neighbours tell, the
   distance that counts grows until the peak of the residuals is within it. What lies farther out says how many points
   there would be without the plane. */
#include <stdlib.h>

#include "planes/planes.h"

static int compare_calibrated(const void *a, const void *b) {
    const planes_calibrated *x = a, *y = b;
    if (x->noise != y->noise) return x->noise < y->noise ? -1 : 1;
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* The median by weight; below 0 if there is none. */
static double middle_noise(planes_calibrated *found, uint32_t count) {
    double all = 0, so_far = 0;
    qsort(found, count, sizeof *found, compare_calibrated);
    for (uint32_t i = 0; i < count; i++) all += found[i].weight;
    for (uint32_t i = 0; i < count; i++) {
        so_far += found[i].weight;
        if (found[i].weight > 0 && 2 * so_far >= all) return found[i].noise;
    }
    return -1;
}

mote_status planes_calibrate(planes_run *run, const planes_start *starts, uint32_t count, uint32_t min) {
    planes_calibrated found[PLANES_CALIBRATED];
    const uint32_t looked_at = count < PLANES_CALIBRATED ? count : PLANES_CALIBRATED;
    const planes_refining how = planes_how_to_refine(run, min);
    if (run->tolerance_given || looked_at == 0) return MOTE_OK;
    MOTE_TRY(planes_measure_peaks(run, &how, starts, looked_at, found));
    const double noise = middle_noise(found, looked_at);
    if (noise < 0) return MOTE_OK;
    run->scale.noise = noise;
    run->scale.flat = true;
    planes_choose_tolerance(run);
    return MOTE_OK;
}
