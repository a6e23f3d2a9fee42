#include "backend/backend.h"

#include <stddef.h>

#include "lod/lod_ops.h"
#include "order/order_ops.h"

static const mote_backend cpu_backend = {"cpu", MOTE_DEVICE_CPU, &mote_order_cpu, &mote_lod_cpu};

const mote_backend *mote_backend_choose(mote_device_kind wish) {
    switch (wish) {
    case MOTE_DEVICE_AUTO:
    case MOTE_DEVICE_CPU: return &cpu_backend;
    case MOTE_DEVICE_CUDA: break;
    }
    return NULL;
}
