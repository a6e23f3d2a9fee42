/* The k nearest of seen points next to each other, a thread for each, for speed: the same neighbours, and as many
   windows, as render_find_near of render_screen_math.h. Threads walk around their own sample, ring by ring, so that a
   warp reads the same rows of the picture; points that are too near or far by depth alone are not read.

     2 2 2 2 2      a window of half 2 around a sample (o): ring 0, 1, 2. A ring is four sides of the same length, and
     2 1 1 1 2      step j of all four is looked at together:  (j, -r) (r, j) (-j, r) (-r, -j), j = -r..r-1
     2 1 o 1 2
     2 1 1 1 2      A window that grows looks at its new rings alone.
     2 2 2 2 2

   The list is in registers. Its end has a fixed place, so that the k-th is always the last. A neighbour is a number,
   compared as a whole; only where two have the same upper half are their distances reckoned again, in doubles:

     place        0 ... MAX - k - 1 |  MAX - k   ...   MAX - 1
     bits 63…32   0                 |  nearest   ...   k-th          squared distance, a float; all set: not found yet
     bits 31…0    0                 |  sample, and its layer

   Where points are sparse, windows become large and most samples are empty: points whose window is beyond
   RENDER_MAX_AROUND are deferred, and have a warp each (render_near_cuda.cuh). */
#ifndef MOTE_RENDER_AROUND_CUH
#define MOTE_RENDER_AROUND_CUH

#include "render/points/render_record_cuda.cuh"
#include "render/render_cuda.h"
#include "render/screen/render_near_cuda.cuh"

/* Half a window, in samples. H100, 3 / 5 / 8 / 13, ms of a frame: 14 M points 12.9 / 9.8 / 9.8 / 10.2, 424,000 points
   3.3 / 2.1 / 1.8 / 1.9, 36,000 points 0.97 / 1.04 / 1.15 / 1.24. */
#define RENDER_MAX_AROUND  8.0f
#define RENDER_LAYER_SHIFT 30u /* of a sample and its layer in one number */

typedef struct render_layer_keys {
    const uint64_t *keys[MOTE_RENDER_MAX_LAYERS]; /* each [samples]: depth and place of the point that is seen */
} render_layer_keys;

/* Half of the first window of a point from which on it is deferred at once: a larger one mostly becomes too large. Few
   points leave most of the device idle with a thread each, and nearly all have a warp then. H100, 1.5 / 2.5 / 4, ms of
   a frame: 36,000 points 0.72 / 0.82 / 0.93, 424,000 2.40 / 1.84 / 1.71. */
static __host__ __device__ inline float render_max_first(uint32_t seen) { return seen < 1u << 17 ? 1.5f : 4.0f; }

static inline render_layer_keys render_keys_of(const render_frame_cuda *frame) {
    render_layer_keys keys;
    for (uint32_t l = 0; l < MOTE_RENDER_MAX_LAYERS; l++) keys.keys[l] = frame->keys[l];
    return keys;
}

template <uint32_t MAX> struct render_around {
    uint32_t k, count, looked_at;
    double limit2; /* nothing farther counts */
    float beyond;  /* at least the distance of the k-th, or of limit2: what differs by more in depth is farther */
    uint64_t near[MAX];
};

/* What a neighbour's number stands for. */
typedef struct render_around_one {
    double distance2;
    uint32_t place; /* in the renderer's order */
} render_around_one;

/* What stays the same while a point's neighbours are searched for. */
struct render_around_point {
    int32_t u, v;
    double at[3];
    float depth;
};

static __device__ __forceinline__ render_around_one render_one_at(const render_points *points,
                                                                  const render_around_point *of, uint64_t key) {
    const uint32_t place = (uint32_t)key;
    double at[3];
    render_load_at(points, place, at);
    const double dx = at[0] - of->at[0], dy = at[1] - of->at[1], dz = at[2] - of->at[2];
    const render_around_one one = {(dx * dx + dy * dy) + dz * dz, place};
    return one;
}

static __device__ __forceinline__ render_around_one render_one_of(const render_points *points,
                                                                  const render_layer_keys *keys,
                                                                  const render_around_point *of, uint64_t near) {
    const uint32_t sample = (uint32_t)near & ((1u << RENDER_LAYER_SHIFT) - 1);
    return render_one_at(points, of, keys->keys[(uint32_t)near >> RENDER_LAYER_SHIFT][sample]);
}

template <uint32_t MAX>
static __device__ __forceinline__ double
render_farthest_around(const render_points *points, const render_layer_keys *keys, const render_around_point *of,
                       const render_around<MAX> *s) {
    return s->count < s->k ? s->limit2 : render_one_of(points, keys, of, s->near[MAX - 1]).distance2;
}

/* At least the root. */
static __device__ __forceinline__ float render_root_above(float square) {
    return sqrtf(square) * (1 + 0x1p-20f) + 1e-18f; /* squares below 1e-38 have no float */
}

/* Whether a candidate comes before a neighbour. TIED: the upper halves of both may be the same. */
template <bool TIED>
static __device__ __forceinline__ bool render_is_nearer(const render_points *points, const render_layer_keys *keys,
                                                        const render_around_point *of, uint64_t candidate,
                                                        const render_around_one *one, uint64_t near) {
    if (!TIED || candidate >> 32 != near >> 32) return candidate < near;
    const render_around_one other = render_one_of(points, keys, of, near);
    return one->distance2 < other.distance2 || (one->distance2 == other.distance2 && one->place < other.place);
}

/* What is behind the candidate moves on. */
template <bool TIED, uint32_t MAX>
static __device__ __forceinline__ void render_insert_around(const render_points *points, const render_layer_keys *keys,
                                                            const render_around_point *of, uint64_t candidate,
                                                            const render_around_one *one, render_around<MAX> *s) {
    bool before = render_is_nearer<TIED>(points, keys, of, candidate, one, s->near[MAX - 1]);
    if (!before) return;
    s->count = min(s->count + 1, s->k);
#pragma unroll
    for (uint32_t j = MAX - 1; j > 0; j--) {
        const bool before_next = render_is_nearer<TIED>(points, keys, of, candidate, one, s->near[j - 1]);
        s->near[j] = before_next ? s->near[j - 1] : before ? candidate : s->near[j];
        before = before_next;
    }
    s->near[0] = before ? candidate : s->near[0];
    if (s->count == s->k) s->beyond = render_root_above(render_float_of_ordered((uint32_t)(s->near[MAX - 1] >> 32)));
}

/* Puts a candidate into the list, if it belongs there. */
template <uint32_t MAX>
static __device__ __forceinline__ void render_put_around(const render_points *points, const render_layer_keys *keys,
                                                         const render_around_point *of, const render_around_one *one,
                                                         uint32_t sample, render_around<MAX> *s) {
    const uint32_t distance = render_ordered_float((float)one->distance2);
    const uint64_t candidate = (uint64_t)distance << 32 | sample;
    bool tied = false;
    if (distance > (uint32_t)(s->near[MAX - 1] >> 32)) return;
#pragma unroll
    for (uint32_t j = 0; j < MAX; j++) tied = tied || distance == (uint32_t)(s->near[j] >> 32);
    if (tied) {
        render_insert_around<true>(points, keys, of, candidate, one, s);
    } else {
        render_insert_around<false>(points, keys, of, candidate, one, s);
    }
}

/* The key of a sample of the picture; none beyond it. */
static __device__ __forceinline__ uint64_t render_key_at(const render_screen *screen, const uint64_t *keys, int32_t u,
                                                         int32_t v) {
    const uint32_t x = (uint32_t)u, y = (uint32_t)v; /* left of the first is beyond the last */
    return x < screen->view.width && y < screen->view.height ? keys[y * screen->view.width + x] : RENDER_NO_KEY;
}

template <uint32_t MAX>
static __device__ __forceinline__ void render_look_at(const render_points *points, const render_layer_keys *keys,
                                                      const render_around_point *of, uint64_t key, uint32_t sample,
                                                      render_around<MAX> *s) {
    if (key == RENDER_NO_KEY) return;
    s->looked_at++;
    const float depth = render_float_of_ordered(render_key_depth(key)); /* both depths are rounded */
    if (fabsf(depth - of->depth) > s->beyond + (fabsf(depth) + fabsf(of->depth)) * 0x1p-22f) return;
    const render_around_one one = render_one_at(points, of, key);
    if (one.distance2 <= s->limit2) render_put_around(points, keys, of, &one, sample, s);
}

/* Step j of ring r: four samples of each layer, which are read together, and then looked at by the same code. */
template <uint32_t MAX>
static __device__ __forceinline__ void render_look_at_step(const render_screen *screen, const render_points *points,
                                                           const render_layer_keys *keys, const render_around_point *of,
                                                           int32_t r, int32_t j, render_around<MAX> *s) {
    const uint32_t width = screen->view.width;
    for (uint32_t l = 0; l < screen->layer_count; l++) {
        const uint64_t *layer = keys->keys[l];
        uint64_t key = render_key_at(screen, layer, of->u + j, of->v - r),
                 key1 = render_key_at(screen, layer, of->u + r, of->v + j),
                 key2 = render_key_at(screen, layer, of->u - j, of->v + r),
                 key3 = render_key_at(screen, layer, of->u - r, of->v - j);
        uint32_t sample = (uint32_t)(of->v - r) * width + (uint32_t)(of->u + j),
                 sample1 = (uint32_t)(of->v + j) * width + (uint32_t)(of->u + r),
                 sample2 = (uint32_t)(of->v + r) * width + (uint32_t)(of->u - j),
                 sample3 = (uint32_t)(of->v - j) * width + (uint32_t)(of->u - r);
        CUDA_ROLLED
        for (uint32_t side = 0; side < 4; side++) {
            render_look_at(points, keys, of, key, l << RENDER_LAYER_SHIFT | sample, s);
            key = key1, key1 = key2, key2 = key3;
            sample = sample1, sample1 = sample2, sample2 = sample3;
        }
    }
}

template <uint32_t MAX>
static __device__ __forceinline__ void
render_look_at_rings(const render_screen *screen, const render_points *points, const render_layer_keys *keys,
                     const render_around_point *of, int32_t from, int32_t to, render_around<MAX> *s) {
    for (uint32_t l = 0; from == 0 && l < screen->layer_count; l++) {
        const uint32_t sample = (uint32_t)of->v * screen->view.width + (uint32_t)of->u;
        render_look_at(points, keys, of, keys->keys[l][sample], l << RENDER_LAYER_SHIFT | sample, s);
    }
    for (int32_t r = max(from, 1); r <= to; r++) {
        CUDA_ROLLED
        for (int32_t j = -r; j < r; j++) render_look_at_step(screen, points, keys, of, r, j, s);
    }
}

template <uint32_t MAX> static __device__ __forceinline__ void render_begin_around(render_around<MAX> *s) {
    s->count = s->looked_at = 0;
    s->beyond = render_root_above((float)s->limit2);
#pragma unroll
    for (uint32_t j = 0; j < MAX; j++) { s->near[j] = j < MAX - s->k ? 0 : UINT64_MAX; }
}

/* s: k, which is at most MAX, and limit2 are set. Returns how many windows it took, as render_find_near; 0: they became
   too large. */
template <uint32_t MAX>
static __device__ __forceinline__ uint32_t render_find_around(const render_screen *screen, const render_points *points,
                                                              const render_layer_keys *keys, uint32_t i, float radius,
                                                              render_around_point *of, render_around<MAX> *s) {
    const uint32_t sample = screen->seen.sample[i], width = screen->view.width;
    of->u = (int32_t)(sample % width);
    of->v = (int32_t)(sample / width);
    for (int k = 0; k < 3; k++) of->at[k] = screen->seen.at[k][i];
    const render_place place = render_to_camera(&screen->view, of->at[0], of->at[1], of->at[2]);
    of->depth = (float)place.z;
    render_begin_around(s);
    int32_t ring = 0; /* rings before this one were looked at */
    for (uint32_t iterations = 1; iterations <= RENDER_ITERATIONS && radius < RENDER_MAX_AROUND; iterations++) {
        const int32_t half = (int32_t)radius + 1;
        render_look_at_rings(screen, points, keys, of, ring, half, s);
        ring = max(ring, half + 1);
        const render_window window = render_window_around(&screen->view, (uint32_t)of->u, (uint32_t)of->v, radius);
        if (window.whole) return iterations;
        const double farthest2 = render_farthest_around(points, keys, of, s);
        const float reach = farthest2 < INFINITY ? render_ball_reach(&screen->view, place, sqrt(farthest2)) : INFINITY;
        if (reach <= radius) return iterations;
        radius = render_wider(s->k, s->count, s->looked_at, radius, reach);
    }
    return 0;
}

/* Where in the list of seen points one stands. */
static __device__ __forceinline__ uint32_t render_seen_of(const render_screen *screen, uint32_t sample_and_layer) {
    const uint32_t sample = sample_and_layer & ((1u << RENDER_LAYER_SHIFT) - 1), width = screen->view.width;
    const render_layer *layer = &screen->layers[sample_and_layer >> RENDER_LAYER_SHIFT];
    const uint32_t u = sample % width, v = sample / width;
    const uint32_t block = render_block_of(screen, u / RENDER_BLOCK, v / RENDER_BLOCK);
    const uint32_t bit = v % RENDER_BLOCK * RENDER_BLOCK + u % RENDER_BLOCK;
    return layer->first[block] + render_popcount(layer->mask[block] & ((1ull << bit) - 1));
}

/* Points that a warp each is needed for, in any order. */
typedef struct render_deferred {
    uint32_t *points, *count; /* in device memory */
} render_deferred;

/* The k nearest of a seen point by one thread, or it is deferred, at once if its first window is max_first or more.
   Calls visit.neighbor(i, j, distance2, place, seen) for the j-th nearest, and visit.end(i, windows, how many). */
template <uint32_t MAX, class VISIT>
static __device__ __forceinline__ void
render_find_by_thread(const render_screen *screen, const render_points *points, const render_layer_keys *keys,
                      const render_deferred *deferred, uint32_t i, uint32_t k, float radius, float max_first,
                      double limit2, VISIT visit) {
    render_around_point of;
    render_around<MAX> s;
    s.k = k;
    s.limit2 = limit2;
    const uint32_t windows = radius >= max_first ? 0 : render_find_around(screen, points, keys, i, radius, &of, &s);
    if (windows == 0) {
        deferred->points[atomicAdd(deferred->count, 1u)] = i;
        return;
    }
#pragma unroll
    for (uint32_t j = 0; j < MAX; j++) {
        const uint32_t to = j - (MAX - k);
        if (j < MAX - k || to >= s.count) continue;
        const render_around_one one = render_one_of(points, keys, &of, s.near[j]);
        visit.neighbor(i, to, one.distance2, one.place, render_seen_of(screen, (uint32_t)s.near[j]));
    }
    visit.end(i, windows, s.count);
}

/* The same by a warp; all lanes call it with the same. */
template <class VISIT>
static __device__ __forceinline__ void render_find_by_warp(const render_screen *screen, uint32_t i, uint32_t k,
                                                           float radius, double limit2, VISIT visit) {
    render_warp_search s;
    s.k = k;
    s.limit2 = limit2;
    const uint32_t windows = render_warp_find_near(screen, i, radius, &s);
    if (warp_lane() < s.count) visit.neighbor(i, warp_lane(), s.distance2, s.place, s.seen);
    if (warp_lane() == 0) visit.end(i, windows, s.count);
}

/* Calls visit(i) for points that were deferred: each warp of the grid for some. */
template <class VISIT>
static __device__ __forceinline__ void render_for_deferred(const render_deferred *deferred, VISIT visit) {
    const uint32_t warps = gridDim.x * blockDim.x / CUDA_WARP, count = *deferred->count;
    const uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) / CUDA_WARP;
    for (uint32_t w = first; w < count; w += warps) visit(deferred->points[w]);
}

#endif
