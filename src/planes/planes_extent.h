/* What of a plane its points cover: cells of a grid in it, connected or not, and the hull. Host only. */
#ifndef MOTE_PLANES_EXTENT_H
#define MOTE_PLANES_EXTENT_H

#include "planes/planes.h"

/* Occupied cells of all planes and what becomes of them. */
typedef struct planes_cover {
    uint64_t count;
    planes_count *cells; /* ascending */
    uint32_t *part;      /* [count] UINT32_MAX: none */
    uint32_t part_count;
} planes_cover;

/* A connected part of a plane, or all of one that is kept. */
typedef struct planes_part {
    uint32_t plane;
    uint64_t points;
    double area; /* cells */
} planes_part;

/* Finds parts among the cells of run's planes: cells with more points than strays account for, connected by sides and
   corners, and the cells around them. Without params.parts those of a plane are one.
   parts  out, from mote_alloc, [cover->part_count] */
mote_status planes_find_parts(const planes_run *run, planes_cover *cover, planes_part **parts);

/* The convex hull of corners, sorted in place, counter-clockwise from the lowest u; returns its number of corners,
   which come first. */
uint32_t planes_hull_of(planes_corner *corners, uint32_t count);
/* Its area, and the smallest rectangle around it, u and v of four corners. */
double planes_hull_area(const planes_corner *hull, uint32_t count);
void planes_hull_rectangle(const planes_corner *hull, uint32_t count, double rectangle[4][2]);

#endif
