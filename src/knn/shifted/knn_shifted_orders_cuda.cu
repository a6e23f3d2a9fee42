/* Shifted sorting on the device: cells, the four orders of the points, and where the queries stand in them. */
#include "knn/shifted/knn_shifted_orders_cuda.h"

#include <math.h>

#include "backend/cuda_primitives.h"

#define BLOCKS  1056u      /* of kernels that put together what all threads bring */
#define NOWHERE UINT64_MAX /* the cell, and the code, of a point that is not finite */
#define CELL    ((1u << MOTE_MORTON_BITS) - 1)

/* ---- boxes of doubles, as integers of the same order */

#define SIGN (1ull << 63)

static __device__ inline uint64_t ordered_of(double value) {
    const uint64_t bits = knn_bits(value);
    return (bits & SIGN) != 0 ? ~bits : bits | SIGN;
}

static __device__ inline double real_of(uint64_t ordered) {
    return knn_real((ordered & SIGN) != 0 ? ordered & ~SIGN : ~ordered);
}

static __global__ void empty_box(ordered_box *box) {
    if (threadIdx.x >= 3) return;
    box->low[threadIdx.x] = UINT64_MAX;
    box->high[threadIdx.x] = 0;
}

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

/* All lanes bring theirs. */
static __device__ inline void box_join(const real_box *mine, ordered_box *box) {
    for (int k = 0; k < 3; k++) {
        unsigned long long low = ordered_of(mine->low[k]), high = ordered_of(mine->high[k]);
        for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
            low = min(low, __shfl_xor_sync(CUDA_ALL, low, away));
            high = max(high, __shfl_xor_sync(CUDA_ALL, high, away));
        }
        if (threadIdx.x % CUDA_WARP != 0) continue;
        atomicMin(&box->low[k], low);
        atomicMax(&box->high[k], high);
    }
}

static __device__ inline knn_cube cube_of(const ordered_box *box, double cells) {
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = real_of(box->low[k]);
        high[k] = real_of(box->high[k]);
    }
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
    box_join(&mine, box);
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
    box_join(&mine, box);
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
    uint32_t *stands[KNN_SHIFTS - 1]; /* [curve place] where a point stands in the orders that others come behind */
    void *before;
} placing;

static __device__ inline void place_before(const placing *to, uint64_t place, uint32_t who) {
    if (to->shift == 1) {
        ((uint32_t *)to->before)[place] = to->stands[0][who];
    } else if (to->shift == 2) {
        ((uint2 *)to->before)[place] = make_uint2(to->stands[0][who], to->stands[1][who]);
    } else if (to->shift == 3) {
        ((uint4 *)to->before)[place] = make_uint4(to->stands[0][who], to->stands[1][who], to->stands[2][who], 0);
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
    if (to.shift + 1 < KNN_SHIFTS) to.stands[to.shift][who] = (uint32_t)place;
    place_before(&to, place, who);
}

/* ---- queries */

/* order: their cells are the points' own, by index. list: which queries; NULL: all. */
static __global__ void find_stands(shifted_space space, const uint64_t *cells, const uint32_t *order,
                                   const uint32_t *list, uint64_t count, const uint64_t *codes,
                                   const knn_cuda_extent *points, uint32_t shift, uint32_t *stands) {
    const uint64_t i = thread_first();
    if (i >= count) return;
    const uint32_t place = list != NULL ? list[i] : (uint32_t)i;
    const uint64_t packed = cells[order != NULL ? order[place] : place];
    if (packed == NOWHERE) return;
    const uint64_t code = code_of(&space, packed, shift);
    uint32_t low = 0, high = points->finite;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (__ldg((const unsigned long long *)codes + middle) < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    stands[KNN_SHIFTS * (uint64_t)place + shift] = low;
}

/* ---- the steps */

static void launch_world(mote_context *ctx, const shifted_axes *from, order_reading reading, uint64_t count,
                         ordered_box *box) {
    uint32_t blocks = cuda_blocks(count, SHIFTED_THREADS);
    if (blocks > BLOCKS) blocks = BLOCKS;
    if (reading == ORDER_READ_BYTES) {
        CUDA_LAUNCH(ctx, (join_world<ORDER_READ_BYTES>), blocks, SHIFTED_THREADS, *from, count, box);
    } else {
        CUDA_LAUNCH(ctx, (join_world<ORDER_READ_ALIGNED>), blocks, SHIFTED_THREADS, *from, count, box);
    }
}

static void launch_cells(mote_context *ctx, const shifted_axes *from, order_reading reading, const uint32_t *order,
                         uint64_t count, const ordered_box *box, uint64_t *cells) {
    const uint32_t blocks = cuda_blocks(count, SHIFTED_THREADS);
    if (reading == ORDER_READ_BYTES) {
        CUDA_LAUNCH(ctx, (make_cells<ORDER_READ_BYTES>), blocks, SHIFTED_THREADS, *from, order, count, box, cells);
    } else {
        CUDA_LAUNCH(ctx, (make_cells<ORDER_READ_ALIGNED>), blocks, SHIFTED_THREADS, *from, order, count, box, cells);
    }
}

shifted_axes knn_shifted_axes(const cuda_cloud *cloud, order_reading *reading) {
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
    uint64_t *const cells = (uint64_t *)s->rooms[ROOM_CELLS].memory;
    CUDA_LAUNCH(s->ctx, empty_box, 1, CUDA_WARP, world);
    launch_world(s->ctx, &axes, reading, s->points, world);
    s->cells = cells;
    s->order = s->asked->points.order;
    if (!s->asked->own) {
        const shifted_axes query_axes = knn_shifted_axes(&s->asked->cloud, &query_reading);
        uint64_t *const query_cells = (uint64_t *)s->rooms[ROOM_QUERY_CELLS].memory;
        launch_world(s->ctx, &query_axes, query_reading, s->queries, world);
        launch_cells(s->ctx, &query_axes, query_reading, s->order, s->queries, world, query_cells);
        s->cells = query_cells;
        s->order = NULL;
    }
    launch_cells(s->ctx, &axes, reading, NULL, s->points, world, cells);
    return cuda_launched(s->ctx, "cells");
}

void knn_shifted_find_curve(const shifted_search *s) {
    CUDA_LAUNCH(s->ctx, invert_order, cuda_blocks(s->points, SHIFTED_THREADS), SHIFTED_THREADS, s->ask.points.order,
                s->points, (uint32_t *)s->rooms[ROOM_CURVE].memory);
}

static void launch_space_box(shifted_search *s, const shifted_space *space, const uint64_t *cells, const uint32_t *list,
                             uint64_t count) {
    uint32_t blocks = cuda_blocks(count, SHIFTED_THREADS);
    if (blocks > BLOCKS) blocks = BLOCKS;
    CUDA_LAUNCH(s->ctx, join_space, blocks, SHIFTED_THREADS, *space, cells, list, count, &s->small->space);
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
    const uint64_t *const point_cells = (const uint64_t *)s->rooms[ROOM_CELLS].memory;
    CUDA_LAUNCH(s->ctx, empty_box, 1, CUDA_WARP, &s->small->space);
    launch_space_box(s, space, point_cells, NULL, s->points);
    /* The points' own cells are in the box already. */
    if (s->order == NULL) launch_space_box(s, space, s->cells, s->ask.list, s->ask.asked);
    return cuda_launched(s->ctx, "bounds");
}

/* One of the four orders, and where the queries stand in it. */
static mote_status make_order(shifted_search *s, const shifted_space *space, uint32_t shift) {
    static const uint32_t before_at[KNN_SHIFTS] = {0, 6, 4, 0}; /* words of ROOM_BEFORE a point, widest first */
    const uint64_t n = s->points;
    uint32_t *const stands = (uint32_t *)s->rooms[ROOM_STANDS].memory;
    uint32_t *const before = (uint32_t *)s->rooms[ROOM_BEFORE].memory + before_at[shift] * n;
    uint4 *const near = (uint4 *)s->rooms[ROOM_NEAR].memory + shift * n;
    cuda_pairs64 pairs = {(uint64_t *)s->rooms[ROOM_CODES].memory, (uint32_t *)s->rooms[ROOM_ORDER].memory,
                          (uint64_t *)s->rooms[ROOM_OTHER_CODES].memory, (uint32_t *)s->rooms[ROOM_OTHER_ORDER].memory};
    CUDA_LAUNCH(s->ctx, make_codes, cuda_blocks(n, SHIFTED_THREADS), SHIFTED_THREADS, *space,
                (const uint64_t *)s->rooms[ROOM_CELLS].memory, n, shift, pairs.keys, pairs.values);
    MOTE_TRY(cuda_launched(s->ctx, "codes"));
    MOTE_TRY(cuda_sort64(s->ctx, &pairs, n, 0, 64));
    const placing to = {pairs.values, (const uint32_t *)s->rooms[ROOM_CURVE].memory, s->ask.points, shift,
                        near,         {stands, stands + n, stands + 2 * n},          before};
    CUDA_LAUNCH(s->ctx, place_points, cuda_blocks(n, SHIFTED_THREADS), SHIFTED_THREADS, to, n);
    CUDA_LAUNCH(s->ctx, find_stands, cuda_blocks(s->ask.asked, SHIFTED_THREADS), SHIFTED_THREADS, *space, s->cells,
                s->order, s->ask.list, s->ask.asked, pairs.keys, s->ask.points.extent, shift,
                (uint32_t *)s->rooms[ROOM_QUERY_STANDS].memory);
    s->ask.orders.near[shift] = near;
    if (shift == 1) s->ask.orders.before1 = before;
    if (shift == 2) s->ask.orders.before2 = (const uint2 *)before;
    if (shift == 3) s->ask.orders.before3 = (const uint4 *)before;
    return cuda_launched(s->ctx, "orders");
}

mote_status knn_shifted_make_orders(shifted_search *s, uint32_t group) {
    const shifted_space space = make_space(s, group);
    MOTE_TRY(find_space_box(s, &space));
    for (uint32_t shift = 0; shift < KNN_SHIFTS; shift++) MOTE_TRY(make_order(s, &space, shift));
    return MOTE_OK;
}
