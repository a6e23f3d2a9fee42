/* The k nearest of a seen point by a warp, for speed: the same neighbours as render_find_near of render_screen_math.h,
   which does it by one thread.

     lane       0    1    2   ...   k - 1 | k ...
     nearest    1st  2nd  3rd ...   k-th  |           by distance, then by the renderer's order

   Lanes look at candidates side by side: the samples of a block, or, where a window has many blocks, a block each. A
   window that grows looks at its new samples alone: the nearest so far are kept. That leaves the same list, for it does
   not depend on the order of candidates; and the same number of windows, for that hangs on the k-th nearest of a window
   and on how many points it has. */
#ifndef MOTE_RENDER_NEAR_CUH
#define MOTE_RENDER_NEAR_CUH

#include "device/cuda/warp.cuh"
#include "render/screen/render_screen_math.h"

#define RENDER_FEW_BLOCKS 12u /* of a window: then lanes take the samples of one block after the other */

typedef struct render_warp_search {
    uint32_t k, count, looked_at;
    double limit2, farthest2; /* farthest2: of the k-th; infinity while there are fewer */
    double distance2;         /* of this lane's place in the list */
    uint32_t seen, place;
} render_warp_search;

/* Puts a candidate, the same in all lanes, into the list, if it belongs there. */
static __device__ __forceinline__ void render_warp_insert(render_warp_search *s, double distance2, uint32_t seen,
                                                          uint32_t place) {
    const uint32_t lane = warp_lane();
    const bool before =
        lane < s->count && (s->distance2 < distance2 || (s->distance2 == distance2 && s->place < place));
    const uint32_t at = (uint32_t)__popc(__ballot_sync(CUDA_ALL, before));
    if (at >= s->k) return;
    const double left2 = warp_before(s->distance2);
    const uint32_t left_seen = warp_before(s->seen), left_place = warp_before(s->place);
    if (lane >= at) {
        s->distance2 = lane == at ? distance2 : left2;
        s->seen = lane == at ? seen : left_seen;
        s->place = lane == at ? place : left_place;
    }
    if (s->count < s->k) s->count++;
    if (s->count == s->k) s->farthest2 = warp_broadcast(s->distance2, s->k - 1);
}

/* A candidate of each lane: seen; any: whether it has one. */
static __device__ __forceinline__ void render_warp_offer(const render_screen *screen, render_warp_search *s, bool any,
                                                         uint32_t seen, const double at[3]) {
    const double distance2 = any ? render_distance2(&screen->seen, seen, at[0], at[1], at[2]) : INFINITY;
    bool wanted = any && distance2 <= s->limit2 && distance2 <= s->farthest2;
    const uint32_t place = wanted ? screen->seen.place[seen] : 0;
    for (uint32_t rest = __ballot_sync(CUDA_ALL, wanted); rest != 0; rest = __ballot_sync(CUDA_ALL, wanted)) {
        const uint32_t lane = warp_first(rest);
        render_warp_insert(s, warp_broadcast(distance2, lane), warp_broadcast(seen, lane), warp_broadcast(place, lane));
        wanted = wanted && warp_lane() != lane && distance2 <= s->farthest2;
    }
}

static __device__ __forceinline__ bool render_is_beyond(const render_screen *screen, const render_warp_search *s,
                                                        uint32_t block, double depth) {
    const double before = screen->near_depth[block] - depth, behind = depth - screen->far_depth[block];
    const double gap = before > behind ? before : behind;
    return gap > 0 && gap * gap > (s->count < s->k ? s->limit2 : s->farthest2);
}

/* A lane for each sample of a block. */
static __device__ __forceinline__ void render_warp_samples(const render_screen *screen, render_warp_search *s,
                                                           uint32_t block, uint64_t samples, const double at[3]) {
    for (uint32_t l = 0; l < screen->layer_count; l++) {
        const uint64_t mask = screen->layers[l].mask[block];
        const uint32_t first = screen->layers[l].first[block];
        for (uint32_t bit = warp_lane(); bit < RENDER_BLOCK_SAMPLES; bit += CUDA_WARP) {
            const bool any = (mask & samples) >> bit & 1;
            render_warp_offer(screen, s, any, first + render_popcount(mask & ((1ull << bit) - 1)), at);
        }
    }
}

/* A block for each lane, or none. */
static __device__ __forceinline__ void render_warp_blocks(const render_screen *screen, render_warp_search *s,
                                                          uint32_t block, uint64_t samples, const double at[3]) {
    for (uint32_t l = 0; l < screen->layer_count; l++) {
        const uint64_t mask = samples != 0 ? screen->layers[l].mask[block] : 0;
        const uint32_t first = samples != 0 ? screen->layers[l].first[block] : 0;
        uint64_t rest = mask & samples;
        while (__any_sync(CUDA_ALL, rest != 0)) {
            const uint64_t below = (rest & (0 - rest)) - 1; /* its lowest bit */
            render_warp_offer(screen, s, rest != 0, first + render_popcount(mask & below), at);
            rest &= rest - 1;
        }
    }
}

static __device__ __forceinline__ void render_warp_window(const render_screen *screen, const render_window *w,
                                                          const render_window *old, const double at[3], double depth,
                                                          render_warp_search *s) {
    const uint32_t u0 = w->u0 / RENDER_BLOCK, v0 = w->v0 / RENDER_BLOCK, wide = w->u1 / RENDER_BLOCK - u0 + 1;
    const uint32_t count = wide * (w->v1 / RENDER_BLOCK - v0 + 1);
    if (count <= RENDER_FEW_BLOCKS) {
        for (uint32_t b = 0; b < count; b++) {
            const uint32_t u = u0 + b % wide, v = v0 + b / wide, block = render_block_of(screen, u, v);
            const uint64_t samples = render_new_samples(w, old, u, v);
            s->looked_at += render_count_block(screen, block, samples);
            if (samples == 0 || render_is_beyond(screen, s, block, depth)) continue;
            render_warp_samples(screen, s, block, samples, at);
        }
        return;
    }
    for (uint32_t b0 = 0; b0 < count; b0 += CUDA_WARP) {
        const uint32_t b = b0 + warp_lane(), u = u0 + b % wide, v = v0 + b / wide;
        uint32_t block = 0, seen = 0;
        uint64_t samples = 0;
        if (b < count) {
            block = render_block_of(screen, u, v);
            samples = render_new_samples(w, old, u, v);
            seen = render_count_block(screen, block, samples);
            if (samples != 0 && render_is_beyond(screen, s, block, depth)) samples = 0;
        }
        s->looked_at += warp_sum(seen);
        render_warp_blocks(screen, s, block, samples, at);
    }
}

/* s: k and limit2 are set. Returns how many windows it took, as render_find_near. All lanes call it with the same. */
static __device__ __forceinline__ uint32_t render_warp_find_near(const render_screen *screen, uint32_t i, float radius,
                                                                 render_warp_search *s) {
    const uint32_t sample = screen->seen.sample[i], u = sample % screen->view.width, v = sample / screen->view.width;
    const double at[3] = {screen->seen.at[0][i], screen->seen.at[1][i], screen->seen.at[2][i]};
    const render_place place = render_to_camera(&screen->view, at[0], at[1], at[2]);
    render_window old = {1, 1, 0, 0, false};
    s->count = s->looked_at = s->seen = s->place = 0;
    s->farthest2 = s->distance2 = INFINITY;
    for (uint32_t iterations = 1;; iterations++) {
        if (iterations > RENDER_ITERATIONS) radius = INFINITY;
        const render_window window = render_window_around(&screen->view, u, v, radius);
        render_warp_window(screen, &window, &old, at, place.z, s);
        if (window.whole) return iterations;
        old = window;
        const double farthest2 = s->count < s->k ? s->limit2 : s->farthest2;
        const float reach = farthest2 < INFINITY ? render_ball_reach(&screen->view, place, sqrt(farthest2)) : INFINITY;
        if (reach <= radius) return iterations;
        radius = render_wider(s->k, s->count, s->looked_at, radius, reach);
    }
}

#endif
