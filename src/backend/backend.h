/* The seam: what a backend supplies. Entries are coarse; a missing entry is MOTE_ERROR_UNSUPPORTED,
   never a silent detour. */
#ifndef MOTE_BACKEND_H
#define MOTE_BACKEND_H

#include "mote/context.h"

struct mote_order_ops;
struct mote_lod_ops;

typedef struct mote_backend {
    const char *name;
    mote_device_kind kind;
    const struct mote_order_ops *order;
    const struct mote_lod_ops *lod;
} mote_backend;

/* The backend for a wish; NULL when this build or machine has none such. */
const mote_backend *mote_backend_choose(mote_device_kind wish);

#endif
