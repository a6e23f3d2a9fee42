/* Connected parts of planes on the GPU: union-find over the cells of their grids. Roots only ever become smaller, so in
   the end each part has its smallest cell, whatever the order was. */
#include <stdlib.h>

#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define THREADS 256u
#define HEAD    1024u /* parts that come to the host with their number, in one small copy */

/* ---- union-find: cells point to smaller ones of their part, or are roots */

static __device__ void join(uint32_t *root, uint32_t a, uint32_t b) {
    for (;;) {
        a = planes_grid_root(root, a);
        b = planes_grid_root(root, b);
        if (a == b) return;
        const uint32_t small = min(a, b), large = max(a, b);
        const uint32_t was = atomicCAS(&root[large], large, small);
        if (was == large) return;
        a = was; /* no root any more */
        b = small;
    }
}

/* Core cells side by side in a warp begin joined, where the next place is the next cell. */
static __global__ void make_roots(planes_grid g) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const bool any = i < g.cells && g.count[i] > 0;
    const bool core = any && planes_is_core(&g, &g.tracts[planes_grid_plane(&g, (uint32_t)i)], (uint32_t)i);
    const uint32_t others = ~__ballot_sync(CUDA_ALL, core) & ((1u << lane) - 1);
    const uint32_t start = g.quarters != NULL ? lane : others != 0 ? CUDA_WARP - (uint32_t)__clz((int)others) : 0;
    if (i < g.cells) g.root[i] = core ? (uint32_t)i - (lane - start) : PLANES_NO_CELL;
}

/* Joins core cells with those before them that are connected with them. */
static __global__ void join_cores(planes_grid g) {
    const uint64_t at = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= g.cells || g.root[at] == PLANES_NO_CELL) return;
    const uint32_t i = (uint32_t)at;
    const planes_tract *t = &g.tracts[planes_grid_plane(&g, i)];
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t other;
        int32_t u, v;
        planes_grid_around(k, &u, &v);
        if (planes_is_core_adjacent(&g, t, i, u, v, &other) && planes_are_connected(&g, i, other, u, v))
            join(g.root, i, other);
    }
}

/* ---- points and areas */

/* to[number] += value: lanes of the same number together. All lanes come; PLANES_NO_CELL: nothing to add. */
template <class T> static __device__ void add_together(T *to, uint32_t number, T value) {
    for (uint32_t rest = __ballot_sync(CUDA_ALL, number != PLANES_NO_CELL), same; rest != 0; rest &= ~same) {
        const uint32_t now = warp_value_of(rest, number, &same);
        const T sum = warp_sum(number == now ? value : (T)0);
        if (warp_lane() == 0) atomicAdd(&to[now], sum);
    }
}

/* Gives cells the number of their part, and parts their points. Ways to roots become shorter meanwhile, no others. */
static __global__ void settle(planes_grid g) {
    const uint64_t at = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t i = (uint32_t)at, points = at < g.cells ? g.count[at] : 0;
    uint32_t plane = PLANES_NO_CELL, number = PLANES_NO_CELL;
    if (points > 0) {
        const uint32_t mine = planes_grid_plane(&g, i);
        const planes_tract *t = &g.tracts[mine];
        number = points >= t->core ? planes_grid_root(g.root, i) : planes_first_part_around(&g, t, i);
        g.root[i] = number;
        if (number != PLANES_NO_CELL) plane = mine;
    }
    add_together(g.points, number, points);
    add_together(g.all, plane, points);
}

/* Adds up what is kept. */
static __global__ void sum_components(planes_grid g, bool by_plane, uint32_t *points, unsigned long long *area) {
    const uint64_t at = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t i = (uint32_t)at;
    uint32_t number = PLANES_NO_CELL, has_footprint = 0;
    if (at < g.cells && g.root[i] != PLANES_NO_CELL) {
        const uint32_t plane = planes_grid_plane(&g, i), min = planes_grid_min(&g, plane);
        if (planes_is_kept(&g, min, i)) {
            number = by_plane ? plane : g.root[i];
            has_footprint = planes_has_footprint(&g, &g.tracts[plane], min, i);
        }
    }
    if (by_plane) add_together(points, number, number != PLANES_NO_CELL ? g.count[i] : 0);
    add_together(area, number, (unsigned long long)has_footprint);
}

/* ---- the list */

/* How many there are, then as many of them as there is room for, in any order. */
typedef struct component_list {
    unsigned long long *found;
    planes_component *components;
    uint64_t capacity;
} component_list;

static __global__ void list_components(planes_grid g, bool by_plane, uint32_t numbers, uint64_t min,
                                       const uint32_t *points, const unsigned long long *area, component_list list) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= numbers || points[i] < min) return;
    planes_component component;
    component.number = (uint32_t)i;
    component.plane = by_plane ? (uint32_t)i : planes_grid_plane(&g, (uint32_t)i);
    component.points = points[i];
    component.area = area[i];
    component.label = -1;
    const unsigned long long at = atomicAdd(list.found, 1ull);
    if (at < list.capacity) list.components[at] = component;
}

static int compare_numbers(const void *a, const void *b) {
    const planes_component *x = (const planes_component *)a, *y = (const planes_component *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static mote_status list_into(planes_cuda *p, uint64_t min, uint64_t capacity, uint8_t *device, uint8_t *host) {
    mote_device *gpu = p->base.device;
    const planes_cuda_footprint *c = &p->footprint;
    const component_list list = {(unsigned long long *)(void *)device,
                                 (planes_component *)(void *)(device + sizeof *list.found), capacity};
    const uint64_t bytes = sizeof *list.found + capacity * sizeof(planes_component);
    MOTE_TRY(cuda_fill(gpu, device, 0, bytes));
    CUDA_LAUNCH(gpu, list_components, cuda_blocks(c->numbers, THREADS), THREADS, c->grid, c->by_plane, c->numbers, min,
                c->points, c->area, list);
    MOTE_TRY(cuda_launched(gpu, "parts of planes"));
    return cuda_download(gpu, host, device, bytes);
}

/* Makes a list with that room; found out: how much it takes. */
static mote_status take_list(planes_cuda *p, uint64_t min, uint64_t capacity, uint8_t **host,
                             unsigned long long *found) {
    mote_device *gpu = p->base.device;
    const uint64_t bytes = sizeof *found + capacity * sizeof(planes_component);
    uint8_t *device = (uint8_t *)cuda_alloc(gpu, bytes, "planes parts");
    *host = planes_cuda_scratch(p, bytes);
    const mote_status status =
        device != NULL && *host != NULL ? list_into(p, min, capacity, device, *host) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) memcpy(found, *host, sizeof *found);
    cuda_free(gpu, device);
    return status;
}

mote_status planes_find_components_cuda(planes_cuda *p, uint64_t min, planes_component **components, uint64_t *count) {
    mote_device *gpu = p->base.device;
    const planes_cuda_footprint *c = &p->footprint;
    const uint32_t blocks = cuda_blocks(c->grid.cells, THREADS);
    const uint64_t capacity = c->numbers < HEAD ? c->numbers : HEAD;
    uint8_t *host = NULL;
    unsigned long long found = 0;
    CUDA_LAUNCH(gpu, make_roots, blocks, THREADS, c->grid);
    CUDA_LAUNCH(gpu, join_cores, blocks, THREADS, c->grid);
    CUDA_LAUNCH(gpu, settle, blocks, THREADS, c->grid);
    CUDA_LAUNCH(gpu, sum_components, blocks, THREADS, c->grid, c->by_plane, c->points, c->area);
    MOTE_TRY(cuda_launched(gpu, "parts of planes"));
    MOTE_TRY(take_list(p, min, capacity, &host, &found));
    if (found > capacity) MOTE_TRY(take_list(p, min, found, &host, &found)); /* rare: with the room that they need */
    *components = (planes_component *)mote_alloc(gpu->ctx, found * sizeof **components, "planes parts");
    if (*components == NULL) return MOTE_ERROR_MEMORY;
    if (found > 0) memcpy(*components, host + sizeof found, found * sizeof **components);
    if (found > 0) qsort(*components, found, sizeof **components, compare_numbers);
    *count = found;
    return MOTE_OK;
}
