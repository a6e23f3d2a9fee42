/* The points of a cloud as the kernels of the order read them: found and looked at. */
#include "order/lattice/order_points.cuh"

#include "core/core.h"
#include "order/lattice/lattice.h"

order_reading order_reading_of(const mote_column *const axes[3]) {
    bool plain = true;
    for (int k = 0; k < 3; k++) {
        const uint32_t size = mote_type_size(axes[k]->type);
        if ((uintptr_t)axes[k]->data % size != 0 || axes[k]->stride_bytes % size != 0) return ORDER_READ_BYTES;
        plain = plain && lattice_axis_is_plain(axes[k]);
    }
    return plain ? ORDER_READ_PLAIN : ORDER_READ_ALIGNED;
}

mote_status order_points_of(const device_cloud *cloud, const mote_lattice *lattice, order_points *points) {
    const mote_column *axes[3];
    memset(points, 0, sizeof *points);
    MOTE_TRY(device_cloud_positions(cloud, axes));
    points->lattice = *lattice;
    points->reading = order_reading_of(axes);
    if (points->reading == ORDER_READ_PLAIN && (!lattice->integer || lattice->shift != 0)) {
        points->reading = ORDER_READ_ALIGNED;
    }
    for (int k = 0; k < 3; k++) {
        points->axes[k] = *axes[k];
        points->by[k] = mote_cell_divisor_make(lattice->side[k]);
    }
    return MOTE_OK;
}
