/* The steps of the search for strays, which the search over pieces takes as well; see cloud_strays.c. */
#ifndef MOTE_ORDER_STRAYS_H
#define MOTE_ORDER_STRAYS_H

#include "core/cloud.h"
#include "core/core.h"

#define STRAYS_SAMPLE_POINTS 8192u

/* Places of sampled points, axis by axis. */
typedef struct strays_sample {
    double values[3][STRAYS_SAMPLE_POINTS];
    uint32_t count; /* of those with finite coordinates */
} strays_sample;

/* What is found in some of the points. */
typedef struct strays_part {
    mote_box rest;
    uint64_t finite, strays, farthest;
    double distance;       /* of the farthest to the box of what is near */
    double farthest_at[3]; /* its place */
} strays_part;

/* How many of so many points are sampled. */
uint64_t strays_sample_size(uint64_t points);
/* The i-th of them; they ascend. */
uint64_t strays_sample_point(uint64_t points, uint64_t size, uint64_t i);
/* Adds a point of the columns, if it is finite. */
void strays_sample_add(const mote_column *const axes[3], uint64_t i, strays_sample *sample);
/* What a point of the rest is in. false: the sample is too small for strays, or bounds (which may be NULL) hold none.
 */
bool strays_find_near(strays_sample *sample, const mote_box *bounds, mote_box *near);
/* Makes a part in which nothing was found yet. */
void strays_part_clear(strays_part *part);
/* Adds what is found in count points of columns that begin with point first; parts: one for each thread. */
void strays_look_at(const mote_column *const axes[3], const mote_box *near, uint64_t first, uint64_t count,
                    int64_t threads, strays_part *parts, strays_part *all);
void strays_tell(const strays_part *all, mote_strays *strays);

#endif
