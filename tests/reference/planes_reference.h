/* Votes, maxima, sums, cells and hulls one by one: slow, short, and right. And what a room really is. */
#ifndef MOTE_PLANES_REFERENCE_H
#define MOTE_PLANES_REFERENCE_H

#include "planes/planes.h"

/* The planes that mote_generate("room") is made of: its label plane counts them. */
#define PLANES_REFERENCE_ROOM 8
typedef struct planes_reference_plane {
    double normal[3], middle[3]; /* unit length; of the rectangle */
    double area;
} planes_reference_plane;
planes_reference_plane planes_reference_room(int i);

/* What finding planes in a room gave, beside what it is. */
typedef struct planes_reference_score {
    int found, twice, false_planes;
    double angle_deg, distance; /* the largest, of a plane and at the middle of its rectangle */
    double precision, recall;   /* of labels */
} planes_reference_score;
planes_reference_score planes_reference_judge(const mote_cloud *room, const mote_planes *planes, const int32_t *labels);
/* The same of the planes that fit best, by least squares, exactly the points that each was made of. */
planes_reference_score planes_reference_oracle(const mote_cloud *room);

/* Every entry of a backend against the reference, on one cloud and one set of parameters. */
void planes_reference_check(mote_device *device, const mote_cloud *cloud, const mote_planes_params *params,
                            const char *what);

#endif
