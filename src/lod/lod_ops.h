/* What a backend supplies for levels of detail. */
#ifndef MOTE_LOD_OPS_H
#define MOTE_LOD_OPS_H

#include "lod/lod_device_view.h"
#include "lod/lod_octree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_lod_ops {
    /* Builds the octree of lod->cloud with lod->params: lattice, skipped, count, nodes, and order, level and colors,
       unless they are to stay on the device. */
    mote_status (*build)(mote_lod *lod);
    /* Brings order, level and colors to the host; NULL where they always are. */
    mote_status (*fetch)(mote_lod *lod);
    /* What lod_view_device tells; NULL where nothing is on a device. */
    bool (*view)(const mote_lod *lod, lod_device_view *view);
    /* Frees what only the backend knows of; NULL if there is nothing. */
    void (*release)(mote_lod *lod);
} mote_lod_ops;

extern const mote_lod_ops mote_lod_cpu;
extern const mote_lod_ops mote_lod_on_cuda;

#ifdef __cplusplus
}
#endif
#endif
