/* Points that most clouds have, and their keys in a few steps: whole 32-bit integers in a lattice whose sides take
   quick divisions. All are finite. For .cu files only. */
#ifndef MOTE_ORDER_QUICK_POINTS_H
#define MOTE_ORDER_QUICK_POINTS_H

#include "order/order_points.h"
#include "order/order_squeeze_math.h"

typedef struct quick_points {
    const uint8_t *axes[3];
    uint32_t stride_bytes[3];
    uint32_t source_min[3];
    lattice_divisor by[3];
} quick_points;

static inline bool quick_points_of(const order_points *points, quick_points *quick) {
    if (points->reading != ORDER_READ_PLAIN) return false;
    for (int k = 0; k < 3; k++) {
        if (!lattice_divisor_fits(points->lattice.side[k])) return false;
        quick->axes[k] = (const uint8_t *)points->axes[k].data;
        quick->stride_bytes[k] = points->axes[k].stride_bytes;
        quick->source_min[k] = (uint32_t)points->lattice.source_min[k];
        quick->by[k] = lattice_divisor_make((uint32_t)points->lattice.side[k]);
    }
    return true;
}

/* Aligned records of 16 bytes that begin with the coordinates: each is one load. */
static inline bool quick_points_are_records(const quick_points *quick) {
    bool records = (uintptr_t)quick->axes[0] % sizeof(uint4) == 0;
    for (int k = 0; k < 3; k++) {
        records = records && quick->axes[k] == quick->axes[0] + 4 * k && quick->stride_bytes[k] == sizeof(uint4);
    }
    return records;
}

/* The memory may end with the last point's z. */
template <bool RECORDS>
static __device__ inline uint4 quick_load(const quick_points *points, uint64_t i, uint64_t last) {
    if (RECORDS && i < last) {
        return __ldg((const uint4 *)points->axes[0] + i);
    } else {
        uint32_t xyz[3];
        for (int k = 0; k < 3; k++) xyz[k] = __ldg((const uint32_t *)(points->axes[k] + i * points->stride_bytes[k]));
        return make_uint4(xyz[0], xyz[1], xyz[2], 0);
    }
}

/* The cells of a point that is loaded. */
static __device__ inline void quick_cells(const quick_points *points, uint4 point, uint32_t cells[3]) {
    cells[0] = lattice_quick_cell(point.x - points->source_min[0], points->by[0]);
    cells[1] = lattice_quick_cell(point.y - points->source_min[1], points->by[1]);
    cells[2] = lattice_quick_cell(point.z - points->source_min[2], points->by[2]);
}

/* The key of the cell that is so many levels coarser, for which squeeze is. */
static __device__ inline uint64_t quick_key(const quick_points *points, uint4 point, order_squeeze squeeze,
                                            uint32_t levels) {
    uint32_t cells[3];
    quick_cells(points, point, cells);
    return order_cell_key(cells[0] >> levels, cells[1] >> levels, cells[2] >> levels, squeeze);
}

static __device__ inline uint64_t quick_code(const quick_points *points, uint4 point) {
    uint32_t cells[3];
    quick_cells(points, point, cells);
    return order_cell_code(cells[0], cells[1], cells[2]);
}

#endif
