/* Shifted sorting on the device: cells, the four orders of the points, and where the queries stand in them. */
#include <math.h>

#include "core/column_math.h"
#include "knn/shifted/knn_shifted_cuda.cuh"
#include "math/search.h"

#define THREADS 256u

static __device__ inline uint64_t thread_first(void) { return (uint64_t)blockIdx.x * THREADS + threadIdx.x; }

static __device__ inline uint64_t thread_step(void) { return (uint64_t)gridDim.x * THREADS; }

/* ---- boxes of doubles */

typedef struct real_box {
    double low[3], high[3];
} real_box;

static __device__ inline real_box box_of_nothing(void) {
    const real_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    return box;
}

static __device__ inline void box_add(real_box *box, const double at[3]) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = at[k] < box->low[k] ? at[k] : box->low[k];
        box->high[k] = at[k] > box->high[k] ? at[k] : box->high[k];
    }
}

static __device__ inline knn_cube cube_of(const ordered_box *box, double cells) {
    double low[3], high[3];
    ordered_box_real(box, low, high);
    return knn_cube_make(low, high, cells);
}

/* ---- cells */

typedef struct world_axes {
    mote_column axes[3];
} world_axes;

static world_axes axes_of(const device_cloud *cloud) {
    world_axes from;
    memcpy(from.axes, cloud->columns, sizeof from.axes);
    return from;
}

static __device__ inline bool world_of(const world_axes *from, uint64_t i, double at[3]) {
    for (int k = 0; k < 3; k++) at[k] = column_value(&from->axes[k], i);
    return isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
}

static __global__ void join_world(world_axes from, uint64_t count, ordered_box *box) {
    real_box mine = box_of_nothing();
    for (uint64_t i = thread_first(); i < count; i += thread_step()) {
        double at[3];
        if (world_of(&from, i, at)) box_add(&mine, at);
    }
    ordered_box_join_real<THREADS / CUDA_WARP>(mine.low, mine.high, 0, box);
}

static __global__ void make_cells(world_axes from, uint64_t count, const ordered_box *box, uint64_t *cells) {
    const uint64_t i = thread_first();
    if (i >= count) return;
    const knn_cube cube = cube_of(box, KNN_CELLS);
    double at[3];
    world_of(&from, i, at);
    cells[i] = knn_cube_pack(&cube, at);
}

static __global__ void invert_order(const uint32_t *order, uint64_t count, uint32_t *curve) {
    const uint64_t place = thread_first();
    if (place < count) curve[order[place]] = (uint32_t)place;
}

static uint32_t shared_blocks(mote_device *gpu, uint64_t count) {
    return cuda_blocks_up_to(cuda_full_blocks(gpu, THREADS), count, THREADS);
}

mote_status knn_shifted_find_cells(mote_device *gpu, const knn_shifted_args *args, const device_cloud *cloud,
                                   const device_cloud *query_cloud) {
    const knn_shifted_memory *const memory = &args->memory;
    const uint64_t points = args->point_count, queries = args->query_count;
    const world_axes axes = axes_of(cloud);
    MOTE_TRY(ordered_box_clear(gpu, memory->world));
    CUDA_LAUNCH(gpu, join_world, shared_blocks(gpu, points), THREADS, axes, points, memory->world);
    if (query_cloud != NULL) {
        const world_axes query_axes = axes_of(query_cloud);
        CUDA_LAUNCH(gpu, join_world, shared_blocks(gpu, queries), THREADS, query_axes, queries, memory->world);
        CUDA_LAUNCH(gpu, make_cells, cuda_blocks(queries, THREADS), THREADS, query_axes, queries, memory->world,
                    memory->query_cells);
    }
    CUDA_LAUNCH(gpu, make_cells, cuda_blocks(points, THREADS), THREADS, axes, points, memory->world, memory->cells);
    CUDA_LAUNCH(gpu, invert_order, cuda_blocks(points, THREADS), THREADS, args->search.tree.points.order, points,
                memory->curve);
    return cuda_launched(gpu, "cells");
}

/* ---- the space at hand, or the cube itself */

/* order and spaces: of queries, of which those of one space count; NULL: all cells do. */
static __global__ void join_space(knn_space space, const uint64_t *cells, const uint32_t *order, const uint8_t *spaces,
                                  uint64_t count, ordered_box *box) {
    real_box mine = box_of_nothing();
    for (uint64_t i = thread_first(); i < count; i += thread_step()) {
        const uint64_t packed = cells[order != NULL ? order[i] : i];
        double at[3];
        knn_space_stretch(&space, packed, at);
        if (packed != KNN_NON_FINITE && (spaces == NULL || spaces[i] == space.number)) box_add(&mine, at);
    }
    ordered_box_join_real<THREADS / CUDA_WARP>(mine.low, mine.high, 0, box);
}

static mote_status find_space_box(mote_device *gpu, const knn_shifted_args *args, const knn_space *space) {
    const knn_shifted_memory *const memory = &args->memory;
    MOTE_TRY(ordered_box_clear(gpu, memory->space));
    if (space->number == KNN_PLAIN) return MOTE_OK;
    CUDA_LAUNCH(gpu, join_space, shared_blocks(gpu, args->point_count), THREADS, *space, memory->cells,
                (const uint32_t *)NULL, (const uint8_t *)NULL, args->point_count, memory->space);
    CUDA_LAUNCH(gpu, join_space, shared_blocks(gpu, args->query_count), THREADS, *space, memory->query_cells,
                args->search.queries.order, memory->spaces, args->query_count, memory->space);
    return cuda_launched(gpu, "bounds");
}

/* ---- orders */

static __global__ void make_codes(knn_space space, const ordered_box *box, const uint64_t *cells, uint64_t count,
                                  uint32_t shift, uint64_t *codes, uint32_t *order) {
    const uint64_t i = thread_first();
    if (i >= count) return;
    const knn_cube cube = cube_of(box, KNN_CELLS - 1);
    codes[i] = knn_space_code(&space, &cube, cells[i], shift);
    order[i] = (uint32_t)i;
}

/* places: [place on the curve][shift] */
static __global__ void place_points(const uint32_t *sorted, const uint32_t *curve, uint64_t count, uint32_t shift,
                                    uint32_t *order, uint32_t *places) {
    const uint64_t place = thread_first();
    if (place >= count) return;
    const uint32_t point = curve[sorted[place]];
    order[place] = point;
    places[KNN_SHIFTS * (uint64_t)point + shift] = (uint32_t)place;
}

static __global__ void find_insertion_places(knn_space space, const ordered_box *box, const uint64_t *cells,
                                             const uint32_t *order, uint64_t count, const uint64_t *codes,
                                             const knn_cuda_extent *points, uint32_t shift,
                                             uint32_t *insertion_places) {
    const uint64_t query = thread_first();
    if (query >= count) return;
    const knn_cube cube = cube_of(box, KNN_CELLS - 1);
    const uint64_t code = knn_space_code(&space, &cube, cells[order[query]], shift);
    insertion_places[KNN_SHIFTS * query + shift] = (uint32_t)mote_lower_bound64(codes, points->finite, code);
}

static mote_status make_order(mote_device *gpu, knn_shifted_args *args, const knn_space *space, uint32_t shift) {
    knn_shifted_memory *const memory = &args->memory;
    cuda_pairs64 *const sorted = &memory->sorted;
    const uint64_t points = args->point_count, queries = args->query_count;
    const uint32_t blocks = cuda_blocks(points, THREADS);
    CUDA_LAUNCH(gpu, make_codes, blocks, THREADS, *space, memory->space, memory->cells, points, shift, sorted->keys,
                sorted->values);
    MOTE_TRY(cuda_launched(gpu, "codes"));
    MOTE_TRY(cuda_sort64(gpu, sorted, points, 0, 64));
    CUDA_LAUNCH(gpu, place_points, blocks, THREADS, sorted->values, memory->curve, points, shift, memory->orders[shift],
                (uint32_t *)memory->places);
    CUDA_LAUNCH(gpu, find_insertion_places, cuda_blocks(queries, THREADS), THREADS, *space, memory->space,
                memory->query_cells, args->search.queries.order, queries, sorted->keys, args->search.tree.points.extent,
                shift, (uint32_t *)memory->insertion_places);
    return cuda_launched(gpu, "orders");
}

mote_status knn_shifted_make_orders(mote_device *gpu, knn_shifted_args *args) {
    const knn_space space = knn_space_make(args->space, args->search.compression);
    MOTE_TRY(find_space_box(gpu, args, &space));
    for (uint32_t shift = 0; shift < KNN_SHIFTS; shift++) MOTE_TRY(make_order(gpu, args, &space, shift));
    return MOTE_OK;
}
