/* The Morton order on CPU cores. The caller makes a lattice (lattice/lattice.c); then cpu_codes makes the code of each
   point, cpu_sort sorts codes and indices (sort/order_sort_cpu.c), and cpu_permute brings columns to that order.
   build_order in lod/lod_cpu.c calls them in this order. */
#include "core/cloud.h"
#include "math/morton.h"
#include "order/lattice/lattice.h"
#include "order/order_ops.h"
#include "order/sort/order_sort_cpu.h"

static void cpu_codes_of(const mote_cloud *cloud, const mote_lattice *lattice, uint64_t first, uint64_t count,
                         uint64_t *codes) {
    mote_cell_divisor by[3];
    uint32_t steps[3][LATTICE_BLOCK];
    uint8_t bad[LATTICE_BLOCK];
    for (int k = 0; k < 3; k++) by[k] = mote_cell_divisor_make(lattice->side[k]);
    for (const uint64_t end = first + count; first < end; first += LATTICE_BLOCK) {
        const uint32_t n = end - first < LATTICE_BLOCK ? (uint32_t)(end - first) : LATTICE_BLOCK;
        lattice_block(cloud, lattice, first, NULL, n, steps, bad);
        for (uint32_t j = 0; j < n; j++) {
            const uint64_t code = mote_morton_encode(mote_cell_of(steps[0][j], by[0]), mote_cell_of(steps[1][j], by[1]),
                                                     mote_cell_of(steps[2][j], by[2]));
            codes[first + j] = bad[j] ? UINT64_MAX : code;
        }
    }
}

#define CODES_AT_ONCE (64u * LATTICE_BLOCK)

static mote_status cpu_codes(mote_device *device, const mote_cloud *cloud, const mote_lattice *lattice,
                             uint64_t *codes) {
    MOTE_TRY(mote_cloud_need_host(device->ctx, cloud, "Morton codes on the CPU"));
    const int64_t parts = (int64_t)((cloud->count + CODES_AT_ONCE - 1) / CODES_AT_ONCE);
#pragma omp parallel for schedule(dynamic, 1) num_threads(device->ctx->threads)
    for (int64_t p = 0; p < parts; p++) {
        if (mote_stop(device->ctx)) continue;
        const uint64_t first = (uint64_t)p * CODES_AT_ONCE, remaining = cloud->count - first;
        cpu_codes_of(cloud, lattice, first, remaining < CODES_AT_ONCE ? remaining : CODES_AT_ONCE, codes);
    }
    return mote_stopped(device->ctx);
}

#define AHEAD            32    /* how many records ahead of use their memory is asked for */
#define PERMUTED_AT_ONCE 8192u /* a millisecond at most, where each comes from memory */

static mote_status cpu_sort(mote_device *device, uint64_t *codes, uint32_t *indices, uint64_t count) {
    return order_sort_cpu(device->ctx, codes, indices, count);
}

/* Elements [first, end) of count. */
static void permute_piece(const uint8_t *from, uint32_t size_bytes, uint32_t stride_bytes, const uint32_t *indices,
                          uint64_t first, uint64_t end, uint64_t count, uint8_t *to) {
    for (uint64_t i = first; i < end; i++) {
        if (i + AHEAD < count) __builtin_prefetch(from + (uint64_t)indices[i + AHEAD] * stride_bytes);
        const uint8_t *source = from + (uint64_t)indices[i] * stride_bytes;
        uint8_t *target = to + i * size_bytes;
        switch (size_bytes) { /* sizes known to the compiler become single moves */
        case 1: *target = *source; break;
        case 2: memcpy(target, source, 2); break;
        case 4: memcpy(target, source, 4); break;
        case 8: memcpy(target, source, 8); break;
        case 12: memcpy(target, source, 12); break;
        default: memcpy(target, source, size_bytes);
        }
    }
}

static mote_status cpu_permute(mote_device *device, const void *values, uint32_t size_bytes, uint32_t stride_bytes,
                               const uint32_t *indices, uint64_t count, void *out) {
    const int64_t pieces = (int64_t)((count + PERMUTED_AT_ONCE - 1) / PERMUTED_AT_ONCE);
#pragma omp parallel for schedule(static) num_threads(device->ctx->threads)
    for (int64_t p = 0; p < pieces; p++) {
        if (mote_stop(device->ctx)) continue;
        const uint64_t first = (uint64_t)p * PERMUTED_AT_ONCE, remaining = count - first;
        const uint64_t end = remaining < PERMUTED_AT_ONCE ? count : first + PERMUTED_AT_ONCE;
        permute_piece(values, size_bytes, stride_bytes, indices, first, end, count, out);
    }
    return mote_stopped(device->ctx);
}

static mote_status cpu_bounds(mote_device *device, const mote_cloud *cloud, mote_box *box) {
    return mote_cloud_bounds(device->ctx, cloud, box, NULL);
}

const mote_order_ops mote_order_cpu = {cpu_codes, cpu_codes_of, cpu_sort, cpu_bounds, cpu_permute};
