/* A point on a GPU: coordinates that decide, and its row. One sector of memory, where three arrays would take three. */
#ifndef MOTE_RENDER_RECORD_CUH
#define MOTE_RENDER_RECORD_CUH

#include "device/cuda/cuda_kernel.cuh"
#include "render/renderer.h"

/* render_points.at and index. */
typedef struct alignas(16) render_record {
    double x, y, z;
    uint32_t index;
} render_record;

typedef struct alignas(16) render_record_half {
    double a, b;
} render_record_half;

static __device__ __forceinline__ void render_load_at(const render_points *points, uint32_t place, double at[3]) {
    const double *record = points->at[0] + (uint64_t)place * RENDER_RECORD;
    const render_record_half first = *(const render_record_half *)record;
    at[0] = first.a;
    at[1] = first.b;
    at[2] = record[2];
}

#endif
