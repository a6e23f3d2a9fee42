/* What a backend supplies for levels of detail. */
#ifndef MOTE_LOD_OPS_H
#define MOTE_LOD_OPS_H

#include "core/core.h"
#include "mote/lod.h"

typedef struct mote_lod_ops {
    mote_status (*sample)(mote_context *ctx, struct mote_lod *lod);
    mote_status (*filter)(mote_context *ctx, struct mote_lod *lod);
} mote_lod_ops;

extern const mote_lod_ops mote_lod_cpu;

#endif
