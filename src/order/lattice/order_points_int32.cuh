/* Points that most clouds have, and their keys in a few steps: whole 32-bit integers in a lattice whose sides take
   quick divisions. All are finite. For .cu files only. */
#ifndef MOTE_ORDER_POINTS_INT32_H
#define MOTE_ORDER_POINTS_INT32_H

#include "order/lattice/order_compact_codes_math.h"
#include "order/lattice/order_points.cuh"

typedef struct points_int32 {
    const uint8_t *axes[3];
    uint32_t stride_bytes[3];
    uint32_t source_min[3];
    lattice_divisor by[3];
} points_int32;

static inline bool points_int32_of(const order_points *points, points_int32 *as_int32) {
    if (points->reading != ORDER_READ_PLAIN) return false;
    for (int k = 0; k < 3; k++) {
        if (!lattice_divisor_fits(points->lattice.side[k])) return false;
        as_int32->axes[k] = (const uint8_t *)points->axes[k].data;
        as_int32->stride_bytes[k] = points->axes[k].stride_bytes;
        as_int32->source_min[k] = (uint32_t)points->lattice.source_min[k];
        as_int32->by[k] = lattice_divisor_make((uint32_t)points->lattice.side[k]);
    }
    return true;
}

/* Aligned records of 16 bytes that begin with the coordinates: each is one load. */
static inline bool points_int32_are_records(const points_int32 *as_int32) {
    bool records = (uintptr_t)as_int32->axes[0] % sizeof(uint4) == 0;
    for (int k = 0; k < 3; k++) {
        records =
            records && as_int32->axes[k] == as_int32->axes[0] + 4 * k && as_int32->stride_bytes[k] == sizeof(uint4);
    }
    return records;
}

/* The memory may end with the last point's z. */
template <bool RECORDS>
static __device__ inline uint4 points_int32_load(const points_int32 *points, uint64_t i, uint64_t last) {
    if (RECORDS && i < last) {
        return __ldg((const uint4 *)points->axes[0] + i);
    } else {
        uint32_t xyz[3];
        for (int k = 0; k < 3; k++) xyz[k] = __ldg((const uint32_t *)(points->axes[k] + i * points->stride_bytes[k]));
        return make_uint4(xyz[0], xyz[1], xyz[2], 0);
    }
}

/* The cells of a point that is loaded. */
static __device__ inline void points_int32_cells(const points_int32 *points, uint4 point, uint32_t cells[3]) {
    cells[0] = lattice_cell_int32(point.x - points->source_min[0], points->by[0]);
    cells[1] = lattice_cell_int32(point.y - points->source_min[1], points->by[1]);
    cells[2] = lattice_cell_int32(point.z - points->source_min[2], points->by[2]);
}

/* The key of the cell that is that number of levels coarser, for which the compaction is. */
static __device__ inline uint64_t points_int32_key(const points_int32 *points, uint4 point, order_compaction compaction,
                                                   uint32_t levels) {
    uint32_t cells[3];
    points_int32_cells(points, point, cells);
    return order_cell_key(cells[0] >> levels, cells[1] >> levels, cells[2] >> levels, compaction);
}

static __device__ inline uint64_t points_int32_code(const points_int32 *points, uint4 point) {
    uint32_t cells[3];
    points_int32_cells(points, point, cells);
    return order_cell_code(cells[0], cells[1], cells[2]);
}

#endif
