/* A wave that runs through a cloud: pictures of points that move. */
#ifndef CLI_PICTURE_WAVE_H
#define CLI_PICTURE_WAVE_H

#include "session.h"

typedef struct picture_wave {
    double *rest; /* [3 · points] x y z before the wave */
    uint64_t points;
    double up[3];    /* unit length: points move along it */
    double along[3]; /* unit length, across up: the wave runs along it */
    double from[3];  /* where its phase is 0 */
    double height;   /* world units, to either side */
    double length;   /* world units of a period */
} picture_wave;

/* Takes the positions of a cloud, which from then on are doubles of its own. The wave is as high as HEIGHT, and as long
   as LENGTH, of the box's largest side (picture_wave.c). Returns an exit code. */
int picture_wave_begin(session *s, mote_cloud *cloud, const mote_box *box, const double up[3], picture_wave *wave);
/* Moves the points to where they are at a time, of which 1 is a period. */
void picture_wave_move(session *s, const picture_wave *wave, double time, mote_cloud *cloud);
void picture_wave_free(picture_wave *wave);

#endif
