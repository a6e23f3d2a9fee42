/* Sums over the mean distances of all points, of which the threshold of outliers follows: the same for any number of
   threads, and however many distances are in memory at a time. */
#ifndef MOTE_OUTLIERS_SUMS_H
#define MOTE_OUTLIERS_SUMS_H

#include <stddef.h>
#include <stdint.h>

#define OUTLIERS_BLOCK 4096u /* points that are summed one after the other; sums of blocks are added in order */

typedef struct outliers_moments {
    double count, sum;
} outliers_moments;

/* Adds up distances, or with from squared deviations from it; those below 0 are none. */
static inline outliers_moments outliers_sum_block(const double *mean, uint64_t count, const double *from) {
    outliers_moments m = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        if (mean[i] < 0) continue;
        const double d = from != NULL ? mean[i] - *from : mean[i];
        m.sum += from != NULL ? d * d : d;
        m.count++;
    }
    return m;
}

#endif
