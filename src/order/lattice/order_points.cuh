/* The points of a cloud as the kernels of the order read them. For .cu files only. */
#ifndef MOTE_ORDER_POINTS_H
#define MOTE_ORDER_POINTS_H

#include "device/cuda/cuda_kernel.cuh"
#include "device/device_cloud.h"
#include "order/lattice/lattice_math.h"

/* How kernels may read the three axes. */
typedef enum order_reading {
    ORDER_READ_PLAIN,   /* whole 32-bit integers, aligned, in the lattice's own steps */
    ORDER_READ_ALIGNED, /* any type, aligned to its size */
    ORDER_READ_BYTES    /* anything */
} order_reading;

typedef struct order_points {
    mote_column axes[3];
    mote_lattice lattice;
    mote_cell_divisor by[3];
    order_reading reading;
} order_points;

mote_status order_points_of(const device_cloud *cloud, const mote_lattice *lattice, order_points *points);
/* What the axes allow, whatever the lattice. */
order_reading order_reading_of(const mote_column *const axes[3]);

static __device__ inline uint64_t order_load_aligned(const uint8_t *at, mote_type type) {
    switch (type) {
    case MOTE_INT8:
    case MOTE_UINT8: return *at;
    case MOTE_INT16:
    case MOTE_UINT16: return *(const uint16_t *)at;
    case MOTE_INT32:
    case MOTE_UINT32:
    case MOTE_FLOAT32: return *(const uint32_t *)at;
    default: return *(const uint64_t *)at;
    }
}

static __device__ inline uint32_t order_load_plain(const mote_column *axis, uint64_t i) {
    return __ldg((const uint32_t *)column_at(axis, i));
}

/* A column of one value, which stands in *raw. */
static __device__ inline mote_column order_view(const mote_column *axis, const uint64_t *raw) {
    mote_column view = *axis;
    view.data = raw;
    view.stride_bytes = 0;
    return view;
}

/* The integer that is stored for point i. */
template <int READING> static __device__ inline int64_t order_stored(const mote_column *axis, uint64_t i) {
    if (READING == ORDER_READ_BYTES) return column_integer(axis, i);
    if (READING == ORDER_READ_PLAIN) return (int32_t)order_load_plain(axis, i);
    const uint64_t raw = order_load_aligned(column_at(axis, i), axis->type);
    const mote_column view = order_view(axis, &raw);
    return column_integer(&view, 0);
}

/* The coordinate in the world. */
template <int READING> static __device__ inline double order_value(const mote_column *axis, uint64_t i) {
    if (READING == ORDER_READ_BYTES) return column_value(axis, i);
    const uint64_t raw = order_load_aligned(column_at(axis, i), axis->type);
    const mote_column view = order_view(axis, &raw);
    return column_value(&view, 0);
}

/* The lattice coordinates of a point; false if one is not finite. */
template <int READING>
static __device__ inline bool order_steps(const order_points *points, uint64_t i, uint32_t steps[3]) {
    const mote_lattice *lattice = &points->lattice;
    bool finite = true;
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = &points->axes[k];
        if (READING == ORDER_READ_PLAIN) {
            steps[k] = order_load_plain(axis, i) - (uint32_t)lattice->source_min[k];
        } else if (lattice->integer) {
            steps[k] = lattice_integer_step(order_stored<READING>(axis, i), lattice->source_min[k], lattice->shift);
        } else {
            const double value = order_value<READING>(axis, i);
            finite = finite && isfinite(value);
            steps[k] = lattice_real_step(value, lattice->scale[k], lattice->min[k], lattice->extent[k]);
        }
    }
    return finite;
}

static __device__ inline uint64_t order_code_of(const order_points *points, const uint32_t steps[3]) {
    return mote_morton_encode(lattice_cell(steps[0], points->by[0]), lattice_cell(steps[1], points->by[1]),
                              lattice_cell(steps[2], points->by[2]));
}

#endif
