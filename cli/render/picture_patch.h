/* Which points of a scene with leaves, wires or noise lie on a surface, and how far they are from their neighbours. */
#ifndef MOTE_CLI_PICTURE_PATCH_H
#define MOTE_CLI_PICTURE_PATCH_H

#include "session.h"

/* Surface variation of a point whose neighbours lie all around: of a plane it is 0, of a ball 1/3. */
#define PICTURE_SCATTERED 0.1f

/* What is known of each point of a cloud. */
typedef struct picture_points {
    const mote_cloud *cloud;
    mote_knn_index *index;
    float *normal[3];       /* zeros: none; those at edges become those of a face */
    const float *variation; /* of the eigenvalues of its neighbours: 0 of a plane, 1/3 of a ball */
    const float *distance;  /* mean, to its nearest others */
} picture_points;

/* The k nearest of some points of a cloud, themselves among them, by the cloud's index.
   near, distance2  out: [count · k], or NULL */
mote_status picture_patch_near(session *s, const mote_cloud *cloud, mote_knn_index *index, const uint64_t *rows,
                               uint64_t count, uint32_t k, uint32_t *near, float *distance2);
/* flat  [points] out: 1: on a surface, 0: on none, and what lies between
   size  [points] out: distance, of a point at an edge or apart that of its neighbours and a little more
   leaves  out: points with neighbours all around, of most of which the same is true: of folds it is not */
mote_status picture_patch_find(session *s, const picture_points *of, float *flat, float *size, uint64_t *leaves);
/* How much farther the LATE-th neighbour of a point is than the EARLY-th, as a median: 4 on a surface, whose neighbours
   grow with the square of distance, 16 on a line. Of drawings, corners of meshes and single lines of a scanner more
   than PICTURE_THIN: splats that are as wide as near neighbours say would be rings and ribbons. 0: not known. */
#define PICTURE_THIN 6.0
mote_status picture_patch_thinness(session *s, const mote_cloud *cloud, mote_knn_index *index, double *thinness);

#endif
