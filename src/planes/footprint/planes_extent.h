/* Hulls of planes. Host only. */
#ifndef MOTE_PLANES_EXTENT_H
#define MOTE_PLANES_EXTENT_H

#include "planes/planes.h"

/* The convex hull of corners, in place, counter-clockwise from the lowest u; returns its number of corners,
   which come first. */
uint32_t planes_hull_of(planes_corner *corners, uint32_t count);
/* Its area, and the smallest rectangle around it, u and v of four corners. */
double planes_hull_area(const planes_corner *hull, uint32_t count);
void planes_hull_rectangle(const planes_corner *hull, uint32_t count, double rectangle[4][2]);

/* The hulls of planes: that of plane i is corners[first[i]] and size[i] - 1 behind it. */
typedef struct planes_hulls {
    planes_corner *corners;
    uint64_t *first; /* [planes + 1] */
    uint32_t *size;  /* [planes] */
} planes_hulls;

/* Finds those of labelled points. hulls: for planes_hulls_free, also on failure */
mote_status planes_find_hulls(planes_run *run, const planes_axes *axes, uint32_t planes, planes_hulls *hulls);
void planes_hulls_free(mote_context *ctx, planes_hulls *hulls);

#endif
