/* Clouds in longitude and latitude are drawn in lengths: degrees, and metres of height, in one picture are a thread. */
#ifndef CLI_PICTURE_DEGREES_H
#define CLI_PICTURE_DEGREES_H

#include "render/picture_plan.h"

/* What x and y of a file are multiplied by to be drawn. */
typedef struct picture_stretch {
    double by[2]; /* units of height in a unit of x, of y; 1, 1: of lengths */
    bool is_geographic;
    mote_unit unit; /* of what is drawn, where it is geographic: that of heights, or metres where none is known */
} picture_stretch;

/* Finds it, in the middle of the cloud. Returns an exit code. */
int picture_stretch_find(session *s, const mote_cloud *cloud, picture_stretch *out);
/* Stretches what was read of the file. Returns an exit code. */
int picture_stretch_cloud(session *s, const picture_stretch *stretch, mote_cloud *cloud);
/* A place as the file says it, as it is drawn; and back. */
void picture_stretch_place(const picture_stretch *stretch, double place[3]);
void picture_unstretch_place(const picture_stretch *stretch, double place[3]);

#endif
