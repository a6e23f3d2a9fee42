/* The k nearest of seen points next to each other, a block of threads for a tile of the picture, for speed: the same
   neighbours as render_find_near of render_screen_math.h.

   The block brings what is seen in the tile, and around it, to shared memory (render_around_tile_cuda.cuh): coordinates
   from one of its points, in floats. Each thread has a seen point of the tile, and looks at the rows around its sample,
   or, where points are few, at all of them: then the threads of a warp look at the same.

   Its list is in registers: numbers that are compared as a whole. Floats select one more than k; doubles then put the
   k in order, and tell whether the last one is surely farther. Where it is not, as in a lattice, the thread looks at
   its window again, in doubles.

     place        0 ... MAX - k - 1 |  MAX - k   ...   MAX - 1   MAX
     bits 31…11   0                 |  nearest   ...   k-th      the next one      squared distance, upper bits of a
   float bits 10…0    0                 |  place in shared memory                      all set: not found

   Points whose window reaches beyond what the block has are deferred, and have a warp each (render_near_cuda.cuh). */
#ifndef MOTE_RENDER_AROUND_CUH
#define MOTE_RENDER_AROUND_CUH

#include "render/screen/render_around_tile_cuda.cuh"
#include "render/screen/render_near_cuda.cuh"

#define AROUND_NONE UINT32_MAX

/* Points that a warp each is needed for, in any order. */
typedef struct render_deferred {
    uint32_t *points, *count, *taken; /* in device memory; taken: those that warps took after their first */
} render_deferred;

/* ---- a point's search */

/* What stays the same while a point's neighbours are searched for, in shared memory's terms. */
typedef struct render_around_point {
    int32_t x, y; /* its sample */
    float at[3];
} render_around_point;

#define AROUND_PLACE (AROUND_MAX - 1) /* bits of a number that say where a neighbour is */

/* Calls visit(place, squared distance) for some of the points. */
template <class VISIT>
static __device__ __forceinline__ void render_for_run(const render_around_tile *tile, const render_around_point *of,
                                                      uint32_t first, uint32_t end, VISIT visit) {
    for (uint32_t at = first; at < end; at++) {
        const float dx = tile->at[0][at] - of->at[0], dy = tile->at[1][at] - of->at[1],
                    dz = tile->at[2][at] - of->at[2];
        visit(at, fmaf(dx, dx, fmaf(dy, dy, dz * dz)));
    }
}

/* Visits the points of a row from column x0 to x1. */
template <class VISIT>
static __device__ __forceinline__ void render_for_span(const render_around_tile *tile, const render_around_point *of,
                                                       uint32_t row, int32_t x0, int32_t x1, VISIT visit) {
    const uint64_t bits = tile->rows[row];
    const uint32_t first = tile->first[row], begin = first + render_popcount(bits & ((1ull << x0) - 1));
    render_for_run(tile, of, begin, first + render_popcount(bits & ((2ull << x1) - 1)), visit);
}

/* The same for a window of half samples on each side; without: those of a smaller one, or -1. From the middle row on.
   Where points are few, all are looked at: threads of a warp look at the same then. */
template <class VISIT>
static __device__ __forceinline__ void render_for_window(const render_screen *screen, const render_around_place *place,
                                                         const render_around_tile *tile, const render_around_point *of,
                                                         int32_t half, int32_t without, VISIT visit) {
    if (place->few) {
        render_for_run(tile, of, 0, without < 0 ? place->count : 0, visit);
        return;
    }
    for (int32_t n = 0; n <= 2 * half; n++) {
        const int32_t off = (n + 1) / 2, y = of->y + ((n & 1) != 0 ? -off : off);
        for (uint32_t l = 0; l < screen->layer_count; l++) {
            const uint32_t row = l * (uint32_t)place->wide + (uint32_t)y;
            if (off > without) {
                render_for_span(tile, of, row, of->x - half, of->x + half, visit);
            } else {
                render_for_span(tile, of, row, of->x - half, of->x - without - 1, visit);
                render_for_span(tile, of, row, of->x + without + 1, of->x + half, visit);
            }
        }
    }
}

template <uint32_t MAX> static __device__ __forceinline__ void render_put_around(uint32_t list[MAX + 1], uint32_t one) {
    if (one >= list[MAX]) return;
#pragma unroll
    for (uint32_t j = 0; j <= MAX; j++) {
        const uint32_t last = max(list[j], one);
        list[j] = min(list[j], one);
        one = last;
    }
}

/* Returns at least the distance that a number stands for. slack: of coordinates as floats */
static __device__ __forceinline__ float render_around_most(uint32_t number, float slack) {
    return sqrtf(__uint_as_float(number | AROUND_PLACE)) * (1 + 0x1p-20f) + slack;
}

/* Returns at most the distance that a number stands for. */
static __device__ __forceinline__ float render_around_least(uint32_t number, float slack) {
    return sqrtf(__uint_as_float(number & ~AROUND_PLACE)) * (1 - 0x1p-20f) - slack;
}

/* The neighbours that floats select. Returns half of the window that holds them all; -1: it is larger than the tile
   with its halo. */
template <uint32_t MAX>
static __device__ __forceinline__ int32_t render_select_around(
    const render_screen *screen, const render_around_place *place, const render_around_tile *tile,
    const render_around_point *of, render_place middle, float slack, uint32_t k, float radius, uint32_t list[MAX + 1]) {
    int32_t without = -1;
    if (place->few) radius = (float)place->halo - 0.5f;
#pragma unroll
    for (uint32_t j = 0; j <= MAX; j++) list[j] = j < MAX - k ? 0 : AROUND_NONE;
    for (;;) {
        if (!(radius < (float)place->halo)) return -1;
        const int32_t half = (int32_t)radius + 1;
        if (half > without) {
            render_for_window(screen, place, tile, of, half, without, [&](uint32_t at, float distance2) {
                render_put_around<MAX>(list, (__float_as_uint(distance2) & ~AROUND_PLACE) | at);
            });
            without = half;
        }
        if (list[MAX - 1] == AROUND_NONE) {
            radius *= 1.5f;
            continue;
        }
        const float reach = render_ball_reach(&screen->view, middle, render_around_most(list[MAX - 1], slack));
        if (reach <= radius) return half;
        radius = reach < 2.0f * radius ? reach : 2.0f * radius; /* the k-th so far may be on another surface */
    }
}

static __device__ __forceinline__ bool render_is_around_before(const render_screen *screen, const render_near *one,
                                                               const render_near *other) {
    return one->distance2 < other->distance2 ||
           (one->distance2 == other->distance2 && screen->seen.place[one->seen] < screen->seen.place[other->seen]);
}

/* Doubles put the k nearest in order: they nearly are. */
template <uint32_t MAX>
static __device__ __forceinline__ void render_sort_around(const render_screen *screen, const render_around_tile *tile,
                                                          const double at[3], uint32_t k, const uint32_t list[MAX + 1],
                                                          render_near near[MAX]) {
    bool sorted = false;
#pragma unroll
    for (uint32_t j = 0; j < MAX; j++) {
        near[j].distance2 = -1;
        near[j].seen = 0;
        if (j < MAX - k) continue;
        near[j].seen = tile->seen[list[j] & AROUND_PLACE];
        near[j].distance2 = render_distance2(&screen->seen, near[j].seen, at[0], at[1], at[2]);
    }
    while (!sorted) {
        sorted = true;
#pragma unroll
        for (uint32_t j = 1; j < MAX; j++) {
            if (j <= MAX - k || !render_is_around_before(screen, &near[j], &near[j - 1])) continue;
            const render_near one = near[j];
            near[j] = near[j - 1];
            near[j - 1] = one;
            sorted = false;
        }
    }
}

/* The k nearest of a window in doubles, where floats do not tell them from others. kth: what floats say of the k-th */
static __device__ __forceinline__ void
render_find_around_exactly(const render_screen *screen, const render_around_place *place,
                           const render_around_tile *tile, const render_around_point *of, const double at[3],
                           int32_t half, float slack, uint32_t kth, render_search *search) {
    const float most = render_around_most(kth, slack) + slack, most2 = most * most * (1 + 0x1p-20f);
    search->count = 0;
    search->limit2 = INFINITY;
    render_for_window(screen, place, tile, of, half, -1, [&](uint32_t candidate, float distance2) {
        if (distance2 > most2) return;
        const uint32_t seen = tile->seen[candidate];
        const double exactly2 = render_distance2(&screen->seen, seen, at[0], at[1], at[2]);
        if (search->count == search->k && !render_is_before(screen, exactly2, seen, &search->list[search->k - 1])) {
            return;
        }
        render_insert(screen, search, exactly2, seen);
    });
}

template <class VISIT>
static __device__ __forceinline__ void render_visit_near(const render_screen *screen, uint32_t i, uint32_t j,
                                                         const render_near *near, const VISIT &visit) {
    visit.neighbor(i, j, near->distance2, screen->seen.place[near->seen], near->seen);
}

/* The k nearest of a seen point of the tile, at most MAX. Calls visit.neighbor(i, j, distance2, place, seen) for the
   j-th nearest, and visit.end(i, windows, how many, squared distance of the last). Returns false if its window is too
   large. */
template <uint32_t MAX, class VISIT>
static __device__ __forceinline__ bool render_find_around(const render_screen *screen, const render_around_place *place,
                                                          const render_around_tile *tile, uint32_t i, uint32_t k,
                                                          float radius, const VISIT &visit) {
    const uint32_t sample = screen->seen.sample[i], width = screen->view.width;
    const double at[3] = {screen->seen.at[0][i], screen->seen.at[1][i], screen->seen.at[2][i]};
    const render_place middle = render_to_camera(&screen->view, at[0], at[1], at[2]);
    const float slack = __uint_as_float(tile->far) * 0x1p-21f + 1e-18f; /* squares below 1e-38 have no float */
    render_around_point of;
    uint32_t list[MAX + 1];
    render_near near[MAX];
    double farthest2;
    of.x = (int32_t)(sample % width) - (place->u - place->halo);
    of.y = (int32_t)(sample / width) - (place->v - place->halo);
    for (int n = 0; n < 3; n++) of.at[n] = (float)(at[n] - place->origin[n]);
    const int32_t half = render_select_around<MAX>(screen, place, tile, &of, middle, slack, k, radius, list);
    if (half < 0) return false;
    render_sort_around<MAX>(screen, tile, at, k, list, near);
    const float kth = (float)sqrt(near[MAX - 1].distance2) * (1 + 0x1p-20f);
    if (list[MAX] == AROUND_NONE || render_around_least(list[MAX], slack) > kth) {
        farthest2 = near[MAX - 1].distance2;
#pragma unroll
        for (uint32_t j = 0; j < MAX; j++) {
            if (j >= MAX - k) render_visit_near(screen, i, j - (MAX - k), &near[j], visit);
        }
    } else {
        render_search search;
        search.k = k;
        render_find_around_exactly(screen, place, tile, &of, at, half, slack, list[MAX - 1], &search);
        farthest2 = search.list[k - 1].distance2;
        for (uint32_t j = 0; j < k; j++) render_visit_near(screen, i, j, &search.list[j], visit);
    }
    visit.end(i, render_count_windows(&screen->view, middle, radius, farthest2), k, farthest2);
    return true;
}

/* Which of the tile's points are searched for, and the largest first radius. Returns how many. All threads of the block
   call it. */
template <class BEGIN>
static __device__ __forceinline__ uint32_t render_list_asked(const render_screen *screen,
                                                             const render_around_place *place, uint32_t layers,
                                                             render_around_tile *tile, BEGIN begin) {
    const uint32_t count = render_own_count(screen, place, layers);
    uint32_t asked = 0;
    float largest = 0;
    if (count == 0) return 0;
    if (threadIdx.x == 0) tile->radius = 0;
    for (uint32_t from = 0; from < count; from += AROUND_THREADS) {
        const uint32_t n = from + threadIdx.x;
        float radius = 0;
        const bool wanted = n < count && begin(render_own_seen(screen, place, n), &radius);
        __syncthreads();
        const uint32_t to = block_append<AROUND_WARPS>(wanted, tile->buffer, &asked);
        if (wanted) tile->asked[to] = (uint16_t)n;
        if (wanted) largest = fmaxf(largest, radius);
    }
    atomicMax(&tile->radius, __float_as_uint(warp_max(largest)));
    __syncthreads();
    return asked;
}

/* The k nearest of all seen points of this block's tile, in some layers from the first on; what is too far apart is
   deferred. begin(i, &radius): whether a point needs neighbours, and its first radius. All threads of the block call
   it. */
template <uint32_t MAX, class BEGIN, class VISIT>
static __device__ __forceinline__ void render_find_in_tile(const render_screen *screen, const render_deferred *deferred,
                                                           uint32_t k, uint32_t layers, render_around_tile *tile,
                                                           BEGIN begin, const VISIT &visit) {
    const uint32_t log2 = render_around_log2(screen);
    render_around_place place;
    uint32_t u, v;
    place.block = blockIdx.x << 2 * log2;
    place.blocks = 1u << 2 * log2;
    render_place_of_block(screen, place.block, &u, &v);
    place.u = (int32_t)(u * RENDER_BLOCK);
    place.v = (int32_t)(v * RENDER_BLOCK);
    place.side = (int32_t)(RENDER_BLOCK << log2);
    const uint32_t count = render_list_asked(screen, &place, layers, tile, begin);
    if (count == 0) return;
    const bool open = render_open_tile(screen, &place, tile);
    for (uint32_t n = threadIdx.x; n < count; n += AROUND_THREADS) {
        const uint32_t i = render_own_seen(screen, &place, tile->asked[n]);
        float radius = 0;
        begin(i, &radius);
        if (open && render_find_around<MAX>(screen, &place, tile, i, k, radius, visit)) continue;
        deferred->points[atomicAdd(deferred->count, 1u)] = i;
    }
}

/* ---- what was deferred */

/* The k nearest of a seen point by a warp; all lanes call it with the same. */
template <class VISIT>
static __device__ __forceinline__ void render_find_by_warp(const render_screen *screen, uint32_t i, uint32_t k,
                                                           float radius, double limit2, VISIT visit) {
    render_warp_search s;
    s.k = k;
    s.limit2 = limit2;
    const uint32_t windows = render_warp_find_near(screen, i, radius, &s);
    if (warp_lane() < s.count) visit.neighbor(i, warp_lane(), s.distance2, s.place, s.seen);
    const double farthest2 = s.count > 0 ? warp_broadcast(s.distance2, s.count - 1) : 0;
    if (warp_lane() == 0) visit.end(i, windows, s.count, farthest2);
}

/* Calls visit(i) for points that were deferred: each warp of the grid takes one after the other. */
template <class VISIT>
static __device__ __forceinline__ void render_for_deferred(const render_deferred *deferred, VISIT visit) {
    const uint32_t warps = gridDim.x * blockDim.x / CUDA_WARP, count = *deferred->count;
    const uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) / CUDA_WARP;
    uint32_t next = 0;
    for (uint32_t w = first; w < count; w = warp_broadcast(next, 0)) {
        if (warp_lane() == 0) next = warps + atomicAdd(deferred->taken, 1u);
        visit(deferred->points[w]);
    }
}

#endif
