/* An octree in the memory of a device, for kernels that read it: which points its nodes hold, and where those are.

     items   [item_count]  sorted positions, node after node in the order of the node table (so level by level)
                |
                |  index: sorted position → row of the columns; NULL where the columns are sorted as well
                v
     columns[c] [count]    the points
*/
#ifndef MOTE_LOD_DEVICE_VIEW_H
#define MOTE_LOD_DEVICE_VIEW_H

#include "math/host_device.h"
#include "mote/cloud.h"
#include "mote/lod.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All arrays are in device memory and the octree's; they stay until it is destroyed. */
typedef struct lod_device_view {
    const mote_column *columns; /* [column_count] on the host; their data on the device */
    uint32_t column_count;
    const uint32_t *index; /* see above */
    const uint32_t *order; /* [count] sorted position → row of the caller's cloud */
    const uint8_t *level;  /* [count] by sorted position: the coarsest level at which the point was chosen */
    const uint32_t *items;
    uint64_t item_count;
    /* [4 · item_count] red, green, blue of each item, averaged where it stands in an inner node (the fourth is then 1),
       else its own (0); NULL without a filter */
    const uint16_t *item_colors;
} lod_device_view;

/* False if the octree is in the memory of the host. */
bool lod_view_device(const mote_lod *lod, lod_device_view *view);

/* The row of the view's columns that a sorted position stands for. */
MOTE_HD uint32_t lod_device_row(const uint32_t *index, uint32_t position) {
    return index != NULL ? index[position] : position;
}

#ifdef __cplusplus
}
#endif
#endif
