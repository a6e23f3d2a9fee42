/* The k nearest of seen points in a dense picture, a thread for a sample, for speed: the same neighbours as
   render_find_near of render_screen_math.h.

   Where nearly each sample shows a point, the neighbours are in the samples next to it, and which samples these are is
   known before. So the block brings what a part of the picture of 32 x 8 samples shows, and what is around it, to
   shared memory, sample by sample, and its threads look at 5 x 5 samples, 7 x 7, or 9 x 9, all in step and without
   branches: candidates are sorted eight at a time by Batcher's network, and merged with the eight nearest so far.

     number   bits 31…8  squared distance, upper bits of a float     bits 7…0  which of 9 x 9 samples, and which layer

   Doubles put the k in order. A point whose neighbours may lie farther away, or of which floats do not tell the k-th
   from the next one, is left to others (render_around_cuda.cuh). */
#ifndef MOTE_RENDER_DENSE_CUH
#define MOTE_RENDER_DENSE_CUH

#include "device/cuda/warp.cuh"
#include "render/screen/render_around_cuda.cuh"
#include "render/screen/render_eight_cuda.cuh"

#define DENSE_U       32u /* samples of a block of threads, a row for each warp */
#define DENSE_V       8u
#define DENSE_THREADS (DENSE_U * DENSE_V)
#define DENSE_HALO    4 /* samples on each side */
#define DENSE_WINDOW  (2 * DENSE_HALO + 1)
#define DENSE_WIDE    (DENSE_U + 2 * DENSE_HALO)
#define DENSE_HIGH    (DENSE_V + 2 * DENSE_HALO)
#define DENSE_CELLS   (DENSE_WIDE * DENSE_HIGH)
#define DENSE_LAYERS  2u           /* at most */
#define DENSE_K       RENDER_EIGHT /* at most */
#define DENSE_PLACE   255u         /* bits of a number that say where a neighbour is */
#define DENSE_NONE    UINT32_MAX
#define DENSE_EMPTY   1e30f /* a coordinate whose square is infinite */
#define DENSE_RADIUS  2.3f  /* of the picture's density, at most */
#define DENSE_MIN     64u   /* points of a part that are so dense, or all are left to others */

typedef struct render_dense_part {
    float at[3][DENSE_LAYERS][DENSE_CELLS]; /* from origin */
    uint32_t seen[DENSE_LAYERS][DENSE_CELLS];
    double origin[3];
    uint32_t far;        /* the largest coordinate, as an integer */
    uint32_t count, any; /* points that are dense enough; one of them, and 1 */
} render_dense_part;

/* Parts of a row of the picture. */
static inline __host__ __device__ uint32_t render_dense_wide(const render_screen *screen) {
    return (screen->view.width + DENSE_U - 1) / DENSE_U;
}

static inline uint32_t render_dense_parts(const render_screen *screen) {
    return render_dense_wide(screen) * ((screen->view.height + DENSE_V - 1) / DENSE_V);
}

/* What a sample of a layer shows; DENSE_NONE: nothing. */
static __device__ __forceinline__ uint32_t render_seen_of_sample(const render_screen *screen, uint32_t layer,
                                                                 uint32_t u, uint32_t v) {
    if (u >= screen->view.width || v >= screen->view.height) return DENSE_NONE;
    const uint32_t block = render_block_of(screen, u / RENDER_BLOCK, v / RENDER_BLOCK);
    const uint32_t bit = v % RENDER_BLOCK * RENDER_BLOCK + u % RENDER_BLOCK;
    const uint64_t mask = screen->layers[layer].mask[block];
    if ((mask >> bit & 1) == 0) return DENSE_NONE;
    return screen->layers[layer].first[block] + render_popcount(mask & ((1ull << bit) - 1));
}

/* Brings all that is shown to shared memory. */
static __device__ __forceinline__ void render_fill_dense(const render_screen *screen, render_dense_part *part) {
    const uint32_t wide = render_dense_wide(screen);
    const int32_t u0 = (int32_t)(blockIdx.x % wide * DENSE_U) - DENSE_HALO;
    const int32_t v0 = (int32_t)(blockIdx.x / wide * DENSE_V) - DENSE_HALO;
    float farthest = 0;
    for (uint32_t n = threadIdx.x; n < DENSE_CELLS * screen->layer_count; n += DENSE_THREADS) {
        const uint32_t layer = n / DENSE_CELLS, cell = n % DENSE_CELLS; /* left of the first is beyond the last */
        const uint32_t seen = render_seen_of_sample(screen, layer, (uint32_t)(u0 + (int32_t)(cell % DENSE_WIDE)),
                                                    (uint32_t)(v0 + (int32_t)(cell / DENSE_WIDE)));
        part->seen[layer][cell] = seen;
        for (int k = 0; k < 3; k++) {
            float at = DENSE_EMPTY;
            if (seen != DENSE_NONE) {
                at = (float)(screen->seen.at[k][seen] - part->origin[k]);
                farthest = fmaxf(farthest, fabsf(at));
            }
            part->at[k][layer][cell] = at;
        }
    }
    atomicMax(&part->far, __float_as_uint(warp_max(farthest)));
}

/* ---- candidates */

/* The n-th candidate of samples whose distance along one axis at least is from FROM to TO. */
template <uint32_t LAYERS, int FROM, int TO>
static __device__ __forceinline__ uint32_t render_dense_number(const render_dense_part *part, const float of[3],
                                                               uint32_t cell, uint32_t n) {
    int32_t u = 0, v = 0;
    uint32_t count = 0;
#pragma unroll
    for (int32_t y = -TO; y <= TO; y++) {
#pragma unroll
        for (int32_t x = -TO; x <= TO; x++) {
            if (max(abs(x), abs(y)) < FROM) continue;
            if (count++ == n / LAYERS) u = x, v = y;
        }
    }
    if (n / LAYERS >= count) return DENSE_NONE;
    const uint32_t at = cell + (uint32_t)(v * (int32_t)DENSE_WIDE + u), layer = n % LAYERS;
    const float dx = part->at[0][layer][at] - of[0], dy = part->at[1][layer][at] - of[1],
                dz = part->at[2][layer][at] - of[2];
    const uint32_t which = (uint32_t)((v + DENSE_HALO) * DENSE_WINDOW + (u + DENSE_HALO)) * DENSE_LAYERS + layer;
    return (__float_as_uint(fmaf(dx, dx, fmaf(dy, dy, dz * dz))) & ~DENSE_PLACE) | which;
}

template <uint32_t LAYERS, int FROM, int TO>
static __device__ __forceinline__ void render_select_dense(const render_dense_part *part, const float of[3],
                                                           uint32_t cell, uint32_t list[DENSE_K], uint32_t *next) {
    const uint32_t wide = 2 * TO + 1, inner = FROM > 0 ? 2 * FROM - 1 : 0;
    const uint32_t count = (wide * wide - inner * inner) * LAYERS;
#pragma unroll
    for (uint32_t first = 0; first < count; first += DENSE_K) {
        uint32_t eight[DENSE_K];
#pragma unroll
        for (uint32_t i = 0; i < DENSE_K; i++) {
            eight[i] = render_dense_number<LAYERS, FROM, TO>(part, of, cell, first + i);
        }
        render_put_eight(list, next, eight);
    }
}

/* ---- a point's neighbours */

/* One of eight numbers, picked without an index. */
static __device__ __forceinline__ uint32_t render_pick_eight(const uint32_t list[DENSE_K], uint32_t n) {
    uint32_t one = list[0];
#pragma unroll
    for (uint32_t j = 1; j < DENSE_K; j++) one = n == j ? list[j] : one;
    return one;
}

/* Doubles put the k nearest in order; the others are behind all. */
static __device__ __forceinline__ void render_sort_dense(const render_screen *screen, const render_dense_part *part,
                                                         const double of[3], uint32_t cell, uint32_t k,
                                                         const uint32_t list[DENSE_K], render_near near[DENSE_K]) {
    bool sorted = false;
#pragma unroll
    for (uint32_t j = 0; j < DENSE_K; j++) {
        const uint32_t which = list[j] & DENSE_PLACE, layer = which % DENSE_LAYERS, sample = which / DENSE_LAYERS;
        const uint32_t at =
            cell + (sample / DENSE_WINDOW - DENSE_HALO) * DENSE_WIDE + sample % DENSE_WINDOW - DENSE_HALO;
        near[j].seen = 0;
        near[j].distance2 = INFINITY;
        if (j >= k) continue;
        near[j].seen = part->seen[layer][at];
        near[j].distance2 = render_distance2(&screen->seen, near[j].seen, of[0], of[1], of[2]);
    }
    while (!sorted) {
        sorted = true;
#pragma unroll
        for (uint32_t j = 1; j < DENSE_K; j++) {
            if (j >= k || !render_is_around_before(screen, &near[j], &near[j - 1])) continue;
            const render_near one = near[j];
            near[j] = near[j - 1];
            near[j - 1] = one;
            sorted = false;
        }
    }
}

/* How far a ball that holds the k nearest reaches, in samples; infinity: there are fewer. */
static __device__ __forceinline__ float render_dense_reach(const render_screen *screen, render_place middle,
                                                           uint32_t kth, float slack) {
    if (kth >= __float_as_uint(INFINITY)) return INFINITY;
    return render_ball_reach(&screen->view, middle, sqrtf(__uint_as_float(kth | DENSE_PLACE)) * (1 + 0x1p-20f) + slack);
}

/* The k nearest of seen point i, which this thread's sample shows; as render_find_around. All lanes call it.
   wanted: whether this one has a point; false is returned where it has not. */
template <uint32_t LAYERS, class VISIT>
static __device__ __forceinline__ bool render_find_dense(const render_screen *screen, const render_dense_part *part,
                                                         bool wanted, uint32_t i, uint32_t cell, uint32_t k,
                                                         float radius, const VISIT &visit) {
    const float slack = __uint_as_float(part->far) * 0x1p-21f + 1e-18f;
    uint32_t list[DENSE_K], next = DENSE_NONE;
    float of[3], reach;
    double exact[3];
    render_near near[DENSE_K];
#pragma unroll
    for (uint32_t j = 0; j < DENSE_K; j++) list[j] = DENSE_NONE;
    for (int n = 0; n < 3; n++) of[n] = wanted ? part->at[n][0][cell] : 0.0f;
    for (int n = 0; n < 3; n++) exact[n] = wanted ? screen->seen.at[n][i] : 0.0;
    const render_place middle = render_to_camera(&screen->view, exact[0], exact[1], exact[2]);
    const auto look = [&] {
        reach = render_dense_reach(screen, middle, render_pick_eight(list, k - 1), slack);
        return wanted && reach < 2 * DENSE_HALO;
    };
    render_select_dense<LAYERS, 0, 2>(part, of, cell, list, &next);
    if (__any_sync(CUDA_ALL, look() && !(reach < 2))) {
        render_select_dense<LAYERS, 3, 3>(part, of, cell, list, &next);
        if (__any_sync(CUDA_ALL, look() && !(reach < 3))) {
            render_select_dense<LAYERS, 4, 4>(part, of, cell, list, &next);
            look();
        }
    }
    if (!wanted || !(reach < DENSE_HALO)) return false;
    render_sort_dense(screen, part, exact, cell, k, list, near);
    double farthest2 = near[0].distance2;
#pragma unroll
    for (uint32_t j = 1; j < DENSE_K; j++) farthest2 = j < k ? near[j].distance2 : farthest2;
    const uint32_t beyond = k < DENSE_K ? render_pick_eight(list, k) : next;
    const float least = sqrtf(__uint_as_float(min(beyond, __float_as_uint(INFINITY)) & ~DENSE_PLACE)) * (1 - 0x1p-20f);
    if (!(least - slack > (float)sqrt(farthest2) * (1 + 0x1p-20f))) return false;
#pragma unroll
    for (uint32_t j = 0; j < DENSE_K; j++) {
        if (j < k) render_visit_near(screen, i, j, &near[j], visit);
    }
    visit.end(i, render_count_windows(&screen->view, middle, radius, farthest2), k, farthest2);
    return true;
}

/* The k nearest of the points in front of this block's part of the picture, of those that are dense enough.
   begin, visit: as of render_find_in_tile. All threads of the block call it. */
template <uint32_t LAYERS, class BEGIN, class VISIT>
static __device__ __forceinline__ void render_find_in_part(const render_screen *screen, uint32_t k,
                                                           render_dense_part *part, BEGIN begin, const VISIT &visit) {
    const uint32_t x = threadIdx.x % DENSE_U, y = threadIdx.x / DENSE_U, wide = render_dense_wide(screen);
    const uint32_t i =
        render_seen_of_sample(screen, 0, blockIdx.x % wide * DENSE_U + x, blockIdx.x / wide * DENSE_V + y);
    float radius = 0;
    const bool wanted = i != DENSE_NONE && begin(i, &radius) && radius < DENSE_RADIUS;
    const uint32_t lanes = __ballot_sync(CUDA_ALL, wanted);
    if (threadIdx.x == 0) part->far = part->count = part->any = 0;
    __syncthreads();
    if (wanted && warp_lane() == warp_first(lanes)) {
        atomicAdd(&part->count, (uint32_t)__popc(lanes));
        atomicMax(&part->any, i + 1); /* one of them */
    }
    __syncthreads();
    if (part->count < DENSE_MIN) return;
    if (threadIdx.x < 3) part->origin[threadIdx.x] = screen->seen.at[threadIdx.x][part->any - 1];
    __syncthreads();
    render_fill_dense(screen, part);
    __syncthreads();
    if (lanes == 0) return;
    render_find_dense<LAYERS>(screen, part, wanted, i, (y + DENSE_HALO) * DENSE_WIDE + x + DENSE_HALO, k, radius,
                              visit);
}

#endif
