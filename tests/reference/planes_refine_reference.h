/* Refining peaks, measuring their noise and the flatness of windows without pools, masks or batches side by side:
   every pass looks at every point, and sums are of 128 bits. */
#ifndef MOTE_PLANES_REFINE_REFERENCE_H
#define MOTE_PLANES_REFINE_REFERENCE_H

#include <stdlib.h>

#include "planes/planes.h"
#include "support/support.h"

static inline void fail_unless(bool right, const char *what, const char *entry, uint64_t at) {
    if (!right) fail_msg("%s: %s is wrong at %llu", what, entry, (unsigned long long)at);
}

static inline void *room_for(uint64_t count, size_t size) {
    void *memory = calloc(count + 16, size);
    assert_non_null(memory);
    return memory;
}

/* Compares what the sample that voted last found. */
void planes_refine_reference_check(planes_run *run, const planes_sample *sample, const char *what);
/* Of all points in their order; all has room for a multiple of 8 of them. */
void planes_flatness_reference_check(planes_run *run, const planes_sample *all, const char *what);

#endif
