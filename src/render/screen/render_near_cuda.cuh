/* The k nearest of a seen point by a warp, for speed: the same neighbours as render_find_near of render_screen_math.h,
   which does it by one thread.

     lane       0    1    2   ...   k - 1 | k ...
     nearest    1st  2nd  3rd ...   k-th  |           by distance, then by the renderer's order

   Lanes look at blocks of the window side by side, and then share out the points of these: 32 candidates at a time,
   however few of them a block has. Many that belong into the list are sorted and merged with it, a few are put in one
   by one.

     lane          0    1    2    3         blocks of the window
     points        3    0    1    2
     end           3    3    4    6         lane 4 looks at the first point of lane 3: 4 is behind the ends of 0, 1, 2

   A window that grows looks at its new samples alone: the nearest so far are kept. That leaves the same list, for it
   does not depend on the order of candidates. */
#ifndef MOTE_RENDER_NEAR_CUH
#define MOTE_RENDER_NEAR_CUH

#include "device/cuda/warp.cuh"
#include "render/screen/render_screen_math.h"

#define RENDER_SORTED_FROM 7u /* candidates: as many are sorted; fewer are put in one by one */

typedef struct render_warp_search {
    uint32_t k, count, looked_at;
    double limit2, farthest2; /* farthest2: of the k-th; infinity while there are fewer */
    double distance2;         /* of this lane's place in the list; infinity behind the last */
    uint32_t seen, place;     /* place: UINT32_MAX behind the last */
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

typedef struct render_warp_entry {
    double distance2;
    uint32_t seen, place;
} render_warp_entry;

static __device__ __forceinline__ bool render_is_entry_before(const render_warp_entry *a, const render_warp_entry *b) {
    return a->distance2 < b->distance2 || (a->distance2 == b->distance2 && a->place < b->place);
}

static __device__ __forceinline__ render_warp_entry render_warp_other(const render_warp_entry *mine, uint32_t bits) {
    const render_warp_entry other = {warp_exchange(mine->distance2, bits), warp_exchange(mine->seen, bits),
                                     warp_exchange(mine->place, bits)};
    return other;
}

/* Two lanes, whose numbers differ in one bit, compare what they have. first: this lane keeps what comes first. */
static __device__ __forceinline__ void render_warp_compare(render_warp_entry *mine, uint32_t bit, bool first) {
    const render_warp_entry other = render_warp_other(mine, bit);
    if (first ? render_is_entry_before(&other, mine) : render_is_entry_before(mine, &other)) *mine = other;
}

/* Sorts the warp's candidates (Batcher's bitonic sort). */
static __device__ __forceinline__ void render_warp_sort(render_warp_entry *mine) {
#pragma unroll
    for (uint32_t size = 2; size <= CUDA_WARP; size *= 2) {
#pragma unroll
        for (uint32_t bit = size / 2; bit > 0; bit /= 2) {
            render_warp_compare(mine, bit, ((warp_lane() & size) == 0) == ((warp_lane() & bit) == 0));
        }
    }
}

/* Puts the candidate of each lane into the list at once; a lane that has none brings infinity and UINT32_MAX. */
static __device__ __forceinline__ void render_warp_merge(render_warp_search *s, render_warp_entry candidate,
                                                         uint32_t candidates) {
    render_warp_sort(&candidate);
    const render_warp_entry last = render_warp_other(&candidate, CUDA_WARP - 1); /* from the other end */
    render_warp_entry mine = {s->distance2, s->seen, s->place};
    if (render_is_entry_before(&last, &mine)) mine = last;
#pragma unroll
    for (uint32_t bit = CUDA_WARP / 2; bit > 0; bit /= 2) { render_warp_compare(&mine, bit, (warp_lane() & bit) == 0); }
    s->distance2 = mine.distance2;
    s->seen = mine.seen;
    s->place = mine.place;
    s->count = min(s->count + candidates, s->k);
    if (s->count == s->k) s->farthest2 = warp_broadcast(s->distance2, s->k - 1);
}

/* A candidate of each lane: seen; any: whether it has one. */
static __device__ __forceinline__ void render_warp_offer(const render_screen *screen, render_warp_search *s, bool any,
                                                         uint32_t seen, const double at[3]) {
    const double distance2 = any ? render_distance2(&screen->seen, seen, at[0], at[1], at[2]) : INFINITY;
    bool wanted = any && distance2 <= s->limit2 && distance2 <= s->farthest2;
    const uint32_t place = wanted ? screen->seen.place[seen] : UINT32_MAX;
    uint32_t rest = __ballot_sync(CUDA_ALL, wanted);
    if ((uint32_t)__popc(rest) >= RENDER_SORTED_FROM) {
        const render_warp_entry candidate = {wanted ? distance2 : INFINITY, seen, place};
        render_warp_merge(s, candidate, (uint32_t)__popc(rest));
        return;
    }
    for (; rest != 0; rest = __ballot_sync(CUDA_ALL, wanted)) {
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

/* The n-th of some bits, from 0; there are more than n. */
static __device__ __forceinline__ uint32_t render_nth_bit(uint64_t bits, uint32_t n) {
    uint32_t at = 0;
#pragma unroll
    for (uint32_t half = RENDER_BLOCK_SAMPLES / 2; half > 0; half /= 2) {
        const uint32_t below = render_popcount(bits >> at & ((1ull << half) - 1));
        if (n < below) continue;
        n -= below;
        at += half;
    }
    return at;
}

/* The n-th of the seen points of some samples of a block, layer after layer. */
static __device__ __forceinline__ uint32_t render_nth_seen(const render_screen *screen, uint32_t block,
                                                           uint64_t samples, uint32_t n) {
    uint32_t layer = 0, count = render_popcount(screen->layers[0].mask[block] & samples);
    for (; n >= count; count = render_popcount(screen->layers[layer].mask[block] & samples)) {
        n -= count;
        layer++;
    }
    const uint64_t mask = screen->layers[layer].mask[block];
    return screen->layers[layer].first[block] +
           render_popcount(mask & ((1ull << render_nth_bit(mask & samples, n)) - 1));
}

/* Looks at some samples of each of the 32 lanes' blocks. count: of their seen points */
static __device__ __forceinline__ void render_warp_blocks(const render_screen *screen, render_warp_search *s,
                                                          uint32_t block, uint64_t samples, uint32_t count,
                                                          const double at[3]) {
    const uint32_t end = warp_scan_inclusive(count), all = warp_broadcast(end, CUDA_WARP - 1);
    for (uint32_t first = 0; first < all; first += CUDA_WARP) {
        const uint32_t n = first + warp_lane();
        uint32_t owner = 0;
#pragma unroll
        for (uint32_t step = CUDA_WARP / 2; step > 0; step /= 2) {
            if (warp_broadcast(end, owner + step - 1) <= n) owner += step;
        }
        const uint32_t its_block = warp_broadcast(block, owner);
        const uint32_t begin = warp_broadcast(end - count, owner);
        const uint64_t its_samples = warp_broadcast(samples, owner);
        const uint32_t seen = n < all ? render_nth_seen(screen, its_block, its_samples, n - begin) : 0;
        render_warp_offer(screen, s, n < all, seen, at);
    }
}

static __device__ __forceinline__ void render_warp_window(const render_screen *screen, const render_window *w,
                                                          const render_window *old, const double at[3], double depth,
                                                          render_warp_search *s) {
    const uint32_t u0 = w->u0 / RENDER_BLOCK, v0 = w->v0 / RENDER_BLOCK, wide = w->u1 / RENDER_BLOCK - u0 + 1;
    const uint32_t blocks = wide * (w->v1 / RENDER_BLOCK - v0 + 1);
    for (uint32_t b0 = 0; b0 < blocks; b0 += CUDA_WARP) {
        const uint32_t b = b0 + warp_lane(), u = u0 + b % wide, v = v0 + b / wide;
        uint32_t block = 0, count = 0;
        uint64_t samples = 0;
        if (b < blocks) {
            block = render_block_of(screen, u, v);
            samples = render_new_samples(w, old, u, v);
            count = render_count_block(screen, block, samples);
        }
        s->looked_at += warp_sum(count);
        if (count > 0 && render_is_beyond(screen, s, block, depth)) count = 0;
        render_warp_blocks(screen, s, block, samples, count, at);
    }
}

/* s: k and limit2 are set. Returns the same as render_find_near. All lanes call it with the same. */
static __device__ __forceinline__ uint32_t render_warp_find_near(const render_screen *screen, uint32_t i, float radius,
                                                                 render_warp_search *s) {
    const uint32_t sample = screen->seen.sample[i], u = sample % screen->view.width, v = sample / screen->view.width;
    const double at[3] = {screen->seen.at[0][i], screen->seen.at[1][i], screen->seen.at[2][i]};
    const render_place place = render_to_camera(&screen->view, at[0], at[1], at[2]);
    const float first = radius;
    render_window old = {1, 1, 0, 0, false};
    s->count = s->looked_at = s->seen = 0;
    s->place = UINT32_MAX;
    s->farthest2 = s->distance2 = INFINITY;
    for (uint32_t iterations = 1;; iterations++) {
        if (iterations > RENDER_ITERATIONS) radius = INFINITY;
        const render_window window = render_window_around(&screen->view, u, v, radius);
        render_warp_window(screen, &window, &old, at, place.z, s);
        if (window.whole) break;
        old = window;
        const double farthest2 = s->count < s->k ? s->limit2 : s->farthest2;
        const float reach = farthest2 < INFINITY ? render_ball_reach(&screen->view, place, sqrt(farthest2)) : INFINITY;
        if (reach <= radius) break;
        radius = render_wider(s->k, s->count, s->looked_at, radius, reach);
    }
    return render_count_windows(&screen->view, place, first, s->count < s->k ? s->limit2 : s->farthest2);
}

#endif
