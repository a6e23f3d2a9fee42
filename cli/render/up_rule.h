/* The rule by which up is found in the points of a cloud that has no reference system. Compiled for mote render, for
   live pictures, and with viewer/wasm/page_up.c for the page, so that all three begin alike. */
#ifndef CLI_UP_RULE_H
#define CLI_UP_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include <mote/cloud.h>

#define UP_MIN_POINTS 200u /* with fewer, slices say nothing */

/* Why a direction is up. */
typedef enum up_reason {
    UP_ASKED,   /* --up */
    UP_CUSTOM,  /* nothing speaks against z */
    UP_SURVEY,  /* a reference system of the earth, or a laser's several returns: heights are along z */
    UP_CAMERA,  /* one picture of a depth camera, whose axes are x right, y down, z into the picture */
    UP_STANDING /* the largest plane that all else stands on */
} up_reason;

typedef struct up_sample {
    float *at[3]; /* [count] from the lower corner of the box */
    uint32_t count;
} up_sample;

typedef struct up_found {
    int axis;
    double sign;
    up_reason reason;
} up_found;

/* Finds it: UP_CUSTOM, UP_CAMERA or UP_STANDING.
   points     those of the cloud in the box, or a sample of them; points that stand alone are taken out of it
   is_of_pcd  of a format that programs of depth cameras write */
up_found up_rule_find(up_sample *points, const mote_box *box, bool is_of_pcd);

#endif
