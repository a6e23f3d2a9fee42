#include "order/cloud_range.h"

#include "core/range.h"
#include "device/backend.h"
#include "order/order_ops.h"

mote_status order_check_range(mote_context *ctx, const mote_cloud *cloud, double max, bool alone) {
    const mote_column *axes[3];
    mote_box box;
    MOTE_TRY(mote_cloud_positions(ctx, cloud, axes));
    MOTE_TRY(range_check_axes(ctx, axes, max));
    if (range_is_sure(axes, max)) return MOTE_OK;
    mote_device *const device = cloud->device != NULL ? cloud->device : mote_cpu_device(ctx);
    MOTE_TRY(device->backend->order->bounds(device, cloud, &box));
    return range_check_box(ctx, &box, max, alone);
}
