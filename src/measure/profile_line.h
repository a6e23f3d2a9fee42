/* A line, prepared for the question which places are beside it. Compiled for the page, too
 * (viewer/wasm/page_measure.c). */
#ifndef MOTE_PROFILE_LINE_H
#define MOTE_PROFILE_LINE_H

#include "core/core.h"
#include "measure/profile_math.h"
#include "mote/measure.h"

typedef struct profile_strip {
    profile_line line;
    double min[2], max[2]; /* of all places that belong to it, and a little more */
} profile_strip;

mote_status profile_strip_make(mote_context *ctx, const double (*positions)[3], uint64_t count, double width,
                               const measure_unit *horizontal, profile_strip *out);
void profile_strip_free(mote_context *ctx, profile_strip *strip);

/* Whether a place belongs to it. */
static inline bool profile_strip_place(const profile_strip *strip, double x, double y, double *along, double *aside) {
    if (!(x >= strip->min[0] && x <= strip->max[0] && y >= strip->min[1] && y <= strip->max[1])) return false;
    return profile_place(&strip->line, region_round(x * strip->line.steps_per_unit),
                         region_round(y * strip->line.steps_per_unit), along, aside);
}

#endif
