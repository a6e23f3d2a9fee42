/* How noisy a cloud's surfaces are, and how dense: from windows of the Morton order, which are small neighbourhoods.
   Windows of consecutive points are the smallest; where noise is all that can be seen at that size, every fourth point,
   every sixteenth and so on make a wider one. The noise is the median over the windows that are flat. */
#include <stdlib.h>

#include "planes/planes.h"

#define MIN_FLAT 12u /* windows, or nothing is flat */

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
    MOTE_TRY(run->ops->flatness(run->points, windows, run->scale.resolution, found));
    take_medians(run, found, windows);
    return MOTE_OK;
}
