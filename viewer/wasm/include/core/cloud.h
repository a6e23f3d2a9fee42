/* Instead of src/core/cloud.h: what a reference system is asked for is the cloud of mote/cloud.h, which page_units.c
 * has. */
#ifndef MOTE_CLOUD_INTERNAL_H
#define MOTE_CLOUD_INTERNAL_H

#include "core/core.h"
#include "mote/cloud.h"

/* Code that speaks of it is left out when linking. */
typedef struct mote_las_origin {
    uint8_t format;
} mote_las_origin;

#endif
