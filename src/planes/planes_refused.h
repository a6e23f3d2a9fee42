/* What looked like a plane and was refused: a list of the largest candidates, each place once. */
#ifndef MOTE_PLANES_REFUSED_H
#define MOTE_PLANES_REFUSED_H

#include "mote/planes.h"

#define PLANES_REFUSED_MAX 256u

/* A candidate. Lengths are steps. */
typedef struct planes_refused {
    mote_planes_reason reason;
    double normal[3], at[3];
    double points, noise, size;
    double value, limit;
} planes_refused;

typedef struct planes_refusals {
    double share; /* points of the cloud that a point of the sample stands for */
    uint32_t count;
    planes_refused list[PLANES_REFUSED_MAX];
} planes_refusals;

/* Adds a candidate; its points count share times. Of candidates in one place the one with the most points stays; where
   the list is full, the smallest goes. list NULL: nothing is noted. */
void planes_refuse(planes_refusals *list, const planes_refused *candidate);

#endif
