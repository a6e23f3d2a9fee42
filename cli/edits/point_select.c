#include "edits/point_select.h"

#include <stdlib.h>

mote_status point_select(mote_context *ctx, const mote_cloud *cloud, const uint8_t *flags, mote_cloud **out) {
    const uint64_t points = mote_cloud_count(cloud);
    uint64_t count = 0, n = 0;
    for (uint64_t i = 0; i < points; i++) count += flags[i] != 0;
    uint64_t *indices = malloc((size_t)(count + 1) * sizeof *indices);
    if (indices == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < points; i++) {
        if (flags[i] != 0) indices[n++] = i;
    }
    const mote_status status = mote_cloud_select(ctx, cloud, indices, count, out);
    free(indices);
    return status;
}
