/* What a backend supplies for levels of detail. All of it works on the sorted order and the node table. */
#ifndef MOTE_LOD_OPS_H
#define MOTE_LOD_OPS_H

#include "lod/lod.h"

typedef struct mote_lod_ops {
    /* Chooses the points of all inner nodes: fills level, kept and the nodes' point_count. */
    mote_status (*sample)(mote_lod *lod);
    /* Averages the colours of all representatives: fills colors. */
    mote_status (*filter)(mote_lod *lod);
} mote_lod_ops;

extern const mote_lod_ops mote_lod_cpu;

#endif
