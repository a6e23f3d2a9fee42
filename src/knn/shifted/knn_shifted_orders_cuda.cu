/* Shifted sorting on the device: cells, the four orders of the points, and where the queries stand in them. */
#include "knn/shifted/knn_shifted_orders_cuda.cuh"

#include <math.h>

#include "device/cuda/cuda_primitives.h"
#include "math/search.h"

#define NOWHERE UINT64_MAX /* the cell, and the code, of a point that is not finite */
#define CELL    ((1u << MOTE_MORTON_BITS) - 1)

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

static __device__ inline uint64_t thread_step(void) { return (uint64_t)gridDim.x * SHIFTED_THREADS; }

/* ---- cells: in 21 bits each, x lowest */

template <int READING> static __device__ inline bool world_of(const shifted_axes *from, uint64_t i, double at[3]) {
    for (int k = 0; k < 3; k++) at[k] = order_value<READING>(&from->axes[k], i);
    return isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
}

template <int READING> static __global__ void join_world(shifted_axes from, uint64_t count, ordered_box *box) {
    real_box mine = box_of_nothing();
    for (uint64_t i = thread_first(); i < count; i += thread_step()) {
        double at[3];
        if (world_of<READING>(&from, i, at)) box_add(&mine, at);
    }
    ordered_box_join_real<SHIFTED_THREADS / CUDA_WARP>(mine.low, mine.high, 0, box);
}

/* order: in which to write them; NULL: as they are. */
template <int READING>
static __global__ void make_cells(shifted_axes from, const uint32_t *order, uint64_t count, const ordered_box *box,
                                  uint64_t *cells) {
    const uint64_t place = thread_first();
    if (place >= count) return;
    const knn_cube cube = cube_of(box, KNN_CELLS);
    double at[3];
    uint32_t cell[3];
    uint64_t packed = NOWHERE;
    if (world_of<READING>(&from, order != NULL ? order[place] : place, at)) {
        knn_cube_cell(&cube, at, cell);
        packed = cell[0] | (uint64_t)cell[1] << MOTE_MORTON_BITS | (uint64_t)cell[2] << 2 * MOTE_MORTON_BITS;
    }
    cells[place] = packed;
}

static __device__ inline void unpack_cell(uint64_t packed, uint32_t cell[3]) {
    for (uint32_t k = 0; k < 3; k++) cell[k] = (uint32_t)(packed >> k * MOTE_MORTON_BITS) & CELL;
}

/* ---- orders of a space, or of the cube itself */

typedef struct shifted_space {
    bool stretched;
    double axis[3], stretch;
    const ordered_box *box; /* of what is stretched */
} shifted_space;

/* list: of which cells; NULL: all. */
static __global__ void join_space(shifted_space space, const uint64_t *cells, const uint32_t *list, uint64_t count,
                                  ordered_box *box) {
    real_box mine = box_of_nothing();
    for (uint64_t i = thread_first(); i < count; i += thread_step()) {
        const uint64_t packed = cells[list != NULL ? list[i] : i];
        uint32_t cell[3];
        double at[3];
        unpack_cell(packed, cell);
        knn_space_stretch(space.axis, space.stretch, cell, at);
        if (packed != NOWHERE) box_add(&mine, at);
    }
    ordered_box_join_real<SHIFTED_THREADS / CUDA_WARP>(mine.low, mine.high, 0, box);
}

static __device__ inline uint64_t code_of(const shifted_space *space, uint64_t packed, uint32_t shift) {
    uint32_t cell[3];
    if (packed == NOWHERE) return NOWHERE;
    unpack_cell(packed, cell);
    if (space->stretched) {
        double at[3];
        const knn_cube cube = cube_of(space->box, KNN_CELLS - 1);
        knn_space_stretch(space->axis, space->stretch, cell, at);
        knn_cube_cell(&cube, at, cell);
    }
    return knn_shifted_code(cell, shift);
}

static __global__ void make_codes(shifted_space space, const uint64_t *cells, uint64_t count, uint32_t shift,
                                  uint64_t *codes, uint32_t *order) {
    const uint64_t i = thread_first();
    if (i >= count) return;
    codes[i] = code_of(&space, cells[i], shift);
    order[i] = (uint32_t)i;
}

/* [point] its curve place */
static __global__ void invert_order(const uint32_t *order, uint64_t count, uint32_t *places) {
    const uint64_t place = thread_first();
    if (place < count) places[order[place]] = (uint32_t)place;
}

/* What place_points reads and writes; before: of the order that is made, NULL for the first. */
typedef struct placing {
    const uint32_t *order, *curve;
    knn_cuda_points points;
    uint32_t shift;
    uint4 *near;
    uint32_t *
        insertion_places[KNN_SHIFTS - 1]; /* [curve place] where a point stands in the orders that others come behind */
    void *before;
} placing;

static __device__ inline void place_before(const placing *to, uint64_t place, uint32_t who) {
    if (to->shift == 1) {
        ((uint32_t *)to->before)[place] = to->insertion_places[0][who];
    } else if (to->shift == 2) {
        ((uint2 *)to->before)[place] = make_uint2(to->insertion_places[0][who], to->insertion_places[1][who]);
    } else if (to->shift == 3) {
        ((uint4 *)to->before)[place] =
            make_uint4(to->insertion_places[0][who], to->insertion_places[1][who], to->insertion_places[2][who], 0);
    }
}

static __global__ void place_points(placing to, uint64_t count) {
    const uint64_t place = thread_first();
    if (place >= count || place >= to.points.extent->finite) return;
    const uint32_t who = to.curve[to.order[place]];
    const uint64_t at = (uint64_t)(who / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + who % KNN_CUDA_LEAF;
    float view[3];
    uint32_t bits[3];
    for (uint32_t k = 0; k < 3; k++) view[k] = __ldg(to.points.views + at + KNN_CUDA_LEAF * k);
    memcpy(bits, view, sizeof bits);
    to.near[place] = make_uint4(bits[0], bits[1], bits[2], who);
    if (to.shift + 1 < KNN_SHIFTS) to.insertion_places[to.shift][who] = (uint32_t)place;
    place_before(&to, place, who);
}

/* ---- queries */

/* order: their cells are the points' own, by index. list: which queries; NULL: all. */
static __global__ void find_insertion_places(shifted_space space, const uint64_t *cells, const uint32_t *order,
                                             const uint32_t *list, uint64_t count, const uint64_t *codes,
                                             const knn_cuda_extent *points, uint32_t shift,
                                             uint32_t *insertion_places) {
    const uint64_t i = thread_first();
    if (i >= count) return;
    const uint32_t place = list != NULL ? list[i] : (uint32_t)i;
    const uint64_t packed = cells[order != NULL ? order[place] : place];
    if (packed == NOWHERE) return;
    const uint64_t code = code_of(&space, packed, shift);
    insertion_places[KNN_SHIFTS * (uint64_t)place + shift] = (uint32_t)mote_lower_bound64(codes, points->finite, code);
}

/* ---- the steps */

static void launch_world(mote_device *gpu, const shifted_axes *from, order_reading reading, uint64_t count,
                         ordered_box *box) {
    const uint32_t full = cuda_full_blocks(gpu, SHIFTED_THREADS);
    const uint32_t blocks = cuda_blocks_up_to(full, count, SHIFTED_THREADS);
    if (reading == ORDER_READ_BYTES) {
        CUDA_LAUNCH(gpu, (join_world<ORDER_READ_BYTES>), blocks, SHIFTED_THREADS, *from, count, box);
    } else {
        CUDA_LAUNCH(gpu, (join_world<ORDER_READ_ALIGNED>), blocks, SHIFTED_THREADS, *from, count, box);
    }
}

static void launch_cells(mote_device *gpu, const shifted_axes *from, order_reading reading, const uint32_t *order,
                         uint64_t count, const ordered_box *box, uint64_t *cells) {
    const uint32_t blocks = cuda_blocks(count, SHIFTED_THREADS);
    if (reading == ORDER_READ_BYTES) {
        CUDA_LAUNCH(gpu, (make_cells<ORDER_READ_BYTES>), blocks, SHIFTED_THREADS, *from, order, count, box, cells);
    } else {
        CUDA_LAUNCH(gpu, (make_cells<ORDER_READ_ALIGNED>), blocks, SHIFTED_THREADS, *from, order, count, box, cells);
    }
}

shifted_axes knn_shifted_axes(const device_cloud *cloud, order_reading *reading) {
    const mote_column *columns[3];
    shifted_axes axes;
    for (int k = 0; k < 3; k++) {
        axes.axes[k] = cloud->columns[k];
        columns[k] = &cloud->columns[k];
    }
    *reading = order_reading_of(columns);
    return axes;
}

mote_status knn_shifted_find_cells(shifted_search *s) {
    order_reading reading, query_reading;
    const shifted_axes axes = knn_shifted_axes(&s->index->cuda->cloud, &reading);
    ordered_box *const world = &s->small->world;
    uint64_t *const cells = (uint64_t *)s->rooms[BUFFER_CELLS].memory;
    MOTE_TRY(ordered_box_clear(s->gpu, world));
    launch_world(s->gpu, &axes, reading, s->points, world);
    s->cells = cells;
    s->order = s->query_set->points.order;
    if (!s->query_set->own) {
        const shifted_axes query_axes = knn_shifted_axes(&s->query_set->cloud, &query_reading);
        uint64_t *const query_cells = (uint64_t *)s->rooms[BUFFER_QUERY_CELLS].memory;
        launch_world(s->gpu, &query_axes, query_reading, s->queries, world);
        launch_cells(s->gpu, &query_axes, query_reading, s->order, s->queries, world, query_cells);
        s->cells = query_cells;
        s->order = NULL;
    }
    launch_cells(s->gpu, &axes, reading, NULL, s->points, world, cells);
    return cuda_launched(s->gpu, "cells");
}

void knn_shifted_find_curve(const shifted_search *s) {
    CUDA_LAUNCH(s->gpu, invert_order, cuda_blocks(s->points, SHIFTED_THREADS), SHIFTED_THREADS, s->args.points.order,
                s->points, (uint32_t *)s->rooms[BUFFER_CURVE].memory);
}

static void launch_space_box(shifted_search *s, const shifted_space *space, const uint64_t *cells, const uint32_t *list,
                             uint64_t count) {
    const uint32_t full = cuda_full_blocks(s->gpu, SHIFTED_THREADS);
    const uint32_t blocks = cuda_blocks_up_to(full, count, SHIFTED_THREADS);
    CUDA_LAUNCH(s->gpu, join_space, blocks, SHIFTED_THREADS, *space, cells, list, count, &s->small->space);
}

/* The space of a group, and its box. */
static shifted_space make_space(shifted_search *s, uint32_t group) {
    shifted_space space;
    memset(&space, 0, sizeof space);
    if (group == KNN_PLAIN) return space;
    space.stretched = true;
    space.stretch = s->stretch;
    space.box = &s->small->space;
    knn_space_axis(group, space.axis);
    return space;
}

static mote_status find_space_box(shifted_search *s, const shifted_space *space) {
    if (!space->stretched) return MOTE_OK;
    const uint64_t *const point_cells = (const uint64_t *)s->rooms[BUFFER_CELLS].memory;
    MOTE_TRY(ordered_box_clear(s->gpu, &s->small->space));
    launch_space_box(s, space, point_cells, NULL, s->points);
    /* The points' own cells are in the box already. */
    if (s->order == NULL) launch_space_box(s, space, s->cells, s->args.list, s->args.query_count);
    return cuda_launched(s->gpu, "bounds");
}

/* One of the four orders, and where the queries stand in it. */
static mote_status make_order(shifted_search *s, const shifted_space *space, uint32_t shift) {
    static const uint32_t before_at[KNN_SHIFTS] = {0, 6, 4, 0}; /* words of BUFFER_BEFORE a point, widest first */
    const uint64_t n = s->points;
    uint32_t *const insertion_places = (uint32_t *)s->rooms[BUFFER_PLACES].memory;
    uint32_t *const before = (uint32_t *)s->rooms[BUFFER_BEFORE].memory + before_at[shift] * n;
    uint4 *const near = (uint4 *)s->rooms[BUFFER_NEAR].memory + shift * n;
    cuda_pairs64 pairs = {(uint64_t *)s->rooms[BUFFER_CODES].memory, (uint32_t *)s->rooms[BUFFER_ORDER].memory,
                          (uint64_t *)s->rooms[BUFFER_OTHER_CODES].memory,
                          (uint32_t *)s->rooms[BUFFER_OTHER_ORDER].memory};
    CUDA_LAUNCH(s->gpu, make_codes, cuda_blocks(n, SHIFTED_THREADS), SHIFTED_THREADS, *space,
                (const uint64_t *)s->rooms[BUFFER_CELLS].memory, n, shift, pairs.keys, pairs.values);
    MOTE_TRY(cuda_launched(s->gpu, "codes"));
    MOTE_TRY(cuda_sort64(s->gpu, &pairs, n, 0, 64));
    const placing to = {pairs.values,   (const uint32_t *)s->rooms[BUFFER_CURVE].memory,
                        s->args.points, shift,
                        near,           {insertion_places, insertion_places + n, insertion_places + 2 * n},
                        before};
    CUDA_LAUNCH(s->gpu, place_points, cuda_blocks(n, SHIFTED_THREADS), SHIFTED_THREADS, to, n);
    CUDA_LAUNCH(s->gpu, find_insertion_places, cuda_blocks(s->args.query_count, SHIFTED_THREADS), SHIFTED_THREADS,
                *space, s->cells, s->order, s->args.list, s->args.query_count, pairs.keys, s->args.points.extent, shift,
                (uint32_t *)s->rooms[BUFFER_QUERY_PLACES].memory);
    s->args.orders.near[shift] = near;
    if (shift == 1) s->args.orders.before1 = before;
    if (shift == 2) s->args.orders.before2 = (const uint2 *)before;
    if (shift == 3) s->args.orders.before3 = (const uint4 *)before;
    return cuda_launched(s->gpu, "orders");
}

mote_status knn_shifted_make_orders(shifted_search *s, uint32_t group) {
    const shifted_space space = make_space(s, group);
    MOTE_TRY(find_space_box(s, &space));
    for (uint32_t shift = 0; shift < KNN_SHIFTS; shift++) MOTE_TRY(make_order(s, &space, shift));
    return MOTE_OK;
}
