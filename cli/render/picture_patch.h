/* Which points of a scene with leaves, wires or noise lie on a surface, and how far they are from their neighbours. */
#ifndef MOTE_CLI_PICTURE_PATCH_H
#define MOTE_CLI_PICTURE_PATCH_H

#include "session.h"

/* What is known of each point of a cloud. */
typedef struct picture_points {
    const mote_cloud *cloud;
    mote_knn_index *index;
    float *normal[3];       /* zeros: none; those at edges become those of a face */
    const float *variation; /* of the eigenvalues of its neighbours: 0 of a plane, 1/3 of a ball */
    const float *distance;  /* mean, to its nearest others */
} picture_points;

/* flat  [points] out: 1: on a surface, 0: on none, and what lies between
   size  [points] out: distance, of a point at an edge or apart that of its neighbours and a little more */
mote_status picture_patch_find(session *s, const picture_points *of, float *flat, float *size);

#endif
