/* What is up in a cloud, where no option says it. */
#ifndef CLI_PICTURE_UP_H
#define CLI_PICTURE_UP_H

#include "render/picture_plan.h"

/* Why a direction is up. */
typedef enum up_reason {
    UP_ASKED,   /* --up */
    UP_CUSTOM,  /* nothing speaks against z */
    UP_SURVEY,  /* a reference system of the earth, or a laser's several returns: heights are along z */
    UP_CAMERA,  /* one picture of a depth camera, whose axes are x right, y down, z into the picture */
    UP_STANDING /* the largest plane that all else stands on */
} up_reason;

typedef struct picture_up {
    double direction[3];
    up_reason reason;
} picture_up;

/* Finds it. Maps have heights along z. box: of the points, without those far from all others. */
picture_up picture_up_find(session *s, const picture_plan *plan, const mote_cloud *cloud, const mote_box *box);
/* Says what was found, where that is not z or was not asked for: once for each run. */
void picture_up_tell(session *s, const picture_up *up);
/* "asked", "custom", "survey", "camera", "standing" */
const char *picture_up_reason(const picture_up *up);

#endif
