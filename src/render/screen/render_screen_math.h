/* Neighbours among the points that a frame sees: one copy for C and CUDA.

   Samples that show a point are the leaves of a quadtree. Blocks of 8 x 8 samples go along the Morton curve; a block
   has a bit per sample, row after row, and the place in the list of seen points where its own begin. So a node of the
   tree is a range of blocks, and of seen points, and what it holds is a difference of two places.

     blocks, in Morton order   0  1   4  5        mask[b]   bit 8 v + u: sample (u, v) of the block shows a point
                               2  3   6  7        first[b]  where its seen points begin; first[b + 1] - first[b] of them
                               8  9  12 13        near[b], far[b]  their depths
                              10 11  14 15

   A picture that is not square is a row, or a column, of such squares. Layers of points behind each other have masks
   and places each; their seen points follow each other in one list.

   The k nearest neighbours of a seen point: the smallest node around it with at least k points tells how large a disc
   of the picture holds k. Its points are looked at, in the world: the k-th nearest tells how large a disc can be
   reached by a ball of that radius. Where that is larger, it is looked at too; then nothing that the frame sees can be
   nearer. */
#ifndef MOTE_RENDER_SCREEN_MATH_H
#define MOTE_RENDER_SCREEN_MATH_H

#include <math.h>

#include "math/pi.h"
#include "mote/render.h"
#include "render/camera/render_view.h"

#define RENDER_BLOCK         8u /* samples of a side */
#define RENDER_BLOCK_SAMPLES 64u
#define RENDER_ITERATIONS    12u /* of a radius, which doubles at most; then the whole picture is looked at */

typedef struct render_layer {
    uint64_t *mask;  /* [blocks] */
    uint32_t *first; /* [blocks + 1] */
} render_layer;

/* Seen points, layer after layer, each in the order of blocks. */
typedef struct render_seen {
    uint32_t *place;  /* in the renderer's order */
    uint32_t *sample; /* row after row of the picture */
    double *at[3];    /* world coordinates */
} render_seen;

typedef struct render_screen {
    render_view view;
    uint32_t layer_count;
    uint32_t blocks_u, blocks_v; /* of the picture */
    uint32_t square_log2;        /* blocks of a square's side, as a power of two */
    uint32_t block_count;        /* of all squares */
    render_layer layers[MOTE_RENDER_MAX_LAYERS];
    float *near_depth, *far_depth; /* [blocks], over all layers */
    render_seen seen;
} render_screen;

/* How many points are seen in front: the first of the list. */
MOTE_HD uint32_t render_front_count(const render_screen *screen) {
    return screen->layers[0].first[screen->block_count];
}

MOTE_HD uint32_t render_popcount(uint64_t bits) {
#if defined(__CUDA_ARCH__)
    return (uint32_t)__popcll(bits);
#else
    return (uint32_t)__builtin_popcountll(bits);
#endif
}

MOTE_HD uint32_t render_lowest_bit(uint64_t bits) {
#if defined(__CUDA_ARCH__)
    return (uint32_t)__ffsll((long long)bits) - 1;
#else
    return (uint32_t)__builtin_ctzll(bits);
#endif
}

/* ---- blocks */

MOTE_HD uint32_t render_spread2(uint32_t v) {
    v = (v | v << 8) & 0x00FF00FFu;
    v = (v | v << 4) & 0x0F0F0F0Fu;
    v = (v | v << 2) & 0x33333333u;
    return (v | v << 1) & 0x55555555u;
}

MOTE_HD uint32_t render_compact2(uint32_t v) {
    v &= 0x55555555u;
    v = (v | v >> 1) & 0x33333333u;
    v = (v | v >> 2) & 0x0F0F0F0Fu;
    v = (v | v >> 4) & 0x00FF00FFu;
    return (v | v >> 8) & 0x0000FFFFu;
}

MOTE_HD uint32_t render_block_of(const render_screen *screen, uint32_t u, uint32_t v) {
    const uint32_t log2 = screen->square_log2, inside = (1u << log2) - 1;
    const uint32_t square = screen->blocks_u >= screen->blocks_v ? u >> log2 : v >> log2;
    return square << 2 * log2 | render_spread2(v & inside) << 1 | render_spread2(u & inside);
}

MOTE_HD void render_place_of_block(const render_screen *screen, uint32_t block, uint32_t *u, uint32_t *v) {
    const uint32_t log2 = screen->square_log2, square = block >> 2 * log2, inside = block & ((1u << 2 * log2) - 1);
    *u = render_compact2(inside);
    *v = render_compact2(inside >> 1);
    if (screen->blocks_u >= screen->blocks_v) {
        *u += square << log2;
    } else {
        *v += square << log2;
    }
}

/* Sizes of a picture's blocks. */
MOTE_HD void render_screen_size(render_screen *screen) {
    screen->blocks_u = (screen->view.width + RENDER_BLOCK - 1) / RENDER_BLOCK;
    screen->blocks_v = (screen->view.height + RENDER_BLOCK - 1) / RENDER_BLOCK;
    const uint32_t narrow = screen->blocks_u < screen->blocks_v ? screen->blocks_u : screen->blocks_v;
    const uint32_t wide = screen->blocks_u < screen->blocks_v ? screen->blocks_v : screen->blocks_u;
    screen->square_log2 = 0;
    while (1u << screen->square_log2 < narrow) screen->square_log2++;
    const uint32_t squares = (wide + (1u << screen->square_log2) - 1) >> screen->square_log2;
    screen->block_count = squares << 2 * screen->square_log2;
}

/* ---- how many points are around */

/* The radius, in samples, of the disc that holds k points if they are as dense as in the smallest node with so many. */
MOTE_HD float render_radius_of(const render_screen *screen, uint32_t u, uint32_t v, uint32_t k) {
    const render_layer *front = &screen->layers[0];
    const uint32_t block = render_block_of(screen, u / RENDER_BLOCK, v / RENDER_BLOCK);
    const uint32_t x = u % RENDER_BLOCK, y = v % RENDER_BLOCK;
    const uint64_t mask = front->mask[block];
    uint32_t count = render_popcount(mask >> (8 * (y & 6u) + (x & 6u)) & 0x303u);
    double area = 4;
    if (count < k) {
        count = render_popcount(mask >> (8 * (y & 4u) + (x & 4u)) & 0x0F0F0F0Fu);
        area = 16;
    }
    for (uint32_t level = 0; count < k && level <= screen->square_log2; level++) {
        const uint32_t begin = block >> 2 * level << 2 * level;
        count = front->first[begin + (1u << 2 * level)] - front->first[begin];
        area = 64.0 * (double)(1u << 2 * level);
    }
    if (count < k) {
        count = front->first[screen->block_count] - front->first[0];
        area = (double)screen->view.width * screen->view.height;
    }
    if (count < 1) count = 1;
    return (float)sqrt(area / MOTE_PI * k / count);
}

/* ---- searching */

typedef struct render_near {
    double distance2;
    uint32_t seen;
} render_near;

typedef struct render_search {
    uint32_t k, count;                   /* neighbours that are wanted, and that are in the list */
    uint32_t looked_at;                  /* seen points of the last window */
    double limit2;                       /* nothing farther counts */
    render_near list[MOTE_RENDER_MAX_K]; /* by distance, then by the renderer's order */
} render_search;

MOTE_HD double render_farthest2(const render_search *search) {
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): k is at least 1, and count entries are set */
    return search->count < search->k ? search->limit2 : search->list[search->k - 1].distance2;
}

MOTE_HD bool render_is_before(const render_screen *screen, double distance2, uint32_t seen, const render_near *other) {
    if (distance2 != other->distance2) return distance2 < other->distance2;
    return screen->seen.place[seen] < screen->seen.place[other->seen];
}

MOTE_HD void render_insert(const render_screen *screen, render_search *search, double distance2, uint32_t seen) {
    uint32_t at = search->count < search->k ? search->count++ : search->k - 1;
    for (; at > 0 && render_is_before(screen, distance2, seen, &search->list[at - 1]); at--) {
        search->list[at] = search->list[at - 1];
    }
    search->list[at].distance2 = distance2;
    search->list[at].seen = seen;
}

MOTE_HD double render_distance2(const render_seen *seen, uint32_t i, double x, double y, double z) {
    const double dx = seen->at[0][i] - x, dy = seen->at[1][i] - y, dz = seen->at[2][i] - z;
    return (dx * dx + dy * dy) + dz * dz;
}

/* Looks at the seen points of some samples of a block. */
MOTE_HD void render_search_block(const render_screen *screen, uint32_t layer, uint32_t block, uint64_t window, double x,
                                 double y, double z, render_search *search) {
    const uint64_t mask = screen->layers[layer].mask[block];
    const uint32_t first = screen->layers[layer].first[block];
    for (uint64_t rest = mask & window; rest != 0; rest &= rest - 1) {
        const uint32_t bit = render_lowest_bit(rest);
        const uint32_t seen = first + render_popcount(mask & ((1ull << bit) - 1));
        const double distance2 = render_distance2(&screen->seen, seen, x, y, z);
        if (!(distance2 <= search->limit2)) continue;
        if (search->count == search->k && !render_is_before(screen, distance2, seen, &search->list[search->k - 1])) {
            continue;
        }
        render_insert(screen, search, distance2, seen);
    }
}

/* The samples of a block within columns u0..u1 and rows v0..v1 of the picture. */
MOTE_HD uint64_t render_window_of(uint32_t block_u, uint32_t block_v, uint32_t u0, uint32_t v0, uint32_t u1,
                                  uint32_t v1) {
    const uint32_t left = block_u * RENDER_BLOCK, top = block_v * RENDER_BLOCK;
    const uint32_t x0 = u0 > left ? u0 - left : 0, x1 = u1 - left < 7 ? u1 - left : 7;
    const uint32_t y0 = v0 > top ? v0 - top : 0, y1 = v1 - top < 7 ? v1 - top : 7;
    const uint64_t columns = (uint64_t)((0xFFu >> (7 - x1)) & (0xFFu << x0) & 0xFFu) * 0x0101010101010101ull;
    return columns & (UINT64_MAX >> 8 * (7 - y1)) & (UINT64_MAX << 8 * y0);
}

/* A window of the picture: a sample in its middle and as many on each side. */
typedef struct render_window {
    uint32_t u0, v0, u1, v1;
    bool whole; /* all of the picture */
} render_window;

MOTE_HD render_window render_window_around(const render_view *view, uint32_t u, uint32_t v, float radius) {
    const uint32_t wide = view->width > view->height ? view->width : view->height;
    const uint32_t half = radius < (float)wide ? (uint32_t)radius + 1 : wide;
    render_window w;
    w.u0 = u > half ? u - half : 0;
    w.v0 = v > half ? v - half : 0;
    w.u1 = view->width - 1 - u > half ? u + half : view->width - 1;
    w.v1 = view->height - 1 - v > half ? v + half : view->height - 1;
    w.whole = w.u0 == 0 && w.v0 == 0 && w.u1 == view->width - 1 && w.v1 == view->height - 1;
    return w;
}

/* The samples of a block that a window has and the one before had not. */
MOTE_HD uint64_t render_new_samples(const render_window *w, const render_window *old, uint32_t u, uint32_t v) {
    const uint64_t all = render_window_of(u, v, w->u0, w->v0, w->u1, w->v1);
    const bool had = old->u0 <= old->u1 && u >= old->u0 / RENDER_BLOCK && u <= old->u1 / RENDER_BLOCK &&
                     v >= old->v0 / RENDER_BLOCK && v <= old->v1 / RENDER_BLOCK;
    return had ? all & ~render_window_of(u, v, old->u0, old->v0, old->u1, old->v1) : all;
}

/* The seen points of some samples of a block. */
MOTE_HD uint32_t render_count_block(const render_screen *screen, uint32_t block, uint64_t window) {
    uint32_t count = 0;
    for (uint32_t l = 0; l < screen->layer_count; l++) count += render_popcount(screen->layers[l].mask[block] & window);
    return count;
}

/* Looks at what a window has and the one before had not: the nearest so far are kept. */
MOTE_HD void render_search_window(const render_screen *screen, const render_window *w, const render_window *old,
                                  double x, double y, double z, double depth, render_search *search) {
    for (uint32_t v = w->v0 / RENDER_BLOCK; v <= w->v1 / RENDER_BLOCK; v++) {
        for (uint32_t u = w->u0 / RENDER_BLOCK; u <= w->u1 / RENDER_BLOCK; u++) {
            const uint32_t block = render_block_of(screen, u, v);
            const double before = screen->near_depth[block] - depth, behind = depth - screen->far_depth[block];
            const double gap = before > behind ? before : behind;
            const uint64_t window = render_new_samples(w, old, u, v);
            if (window == 0) continue;
            search->looked_at += render_count_block(screen, block, window);
            if (gap > 0 && gap * gap > render_farthest2(search)) continue;
            for (uint32_t l = 0; l < screen->layer_count; l++) {
                render_search_block(screen, l, block, window, x, y, z, search);
            }
        }
    }
}

/* How far in the picture, in samples, from the sample of a place a ball around it can reach; infinity where it reaches
   the plane of the eye. A place moved by d, in a picture of focal f: |du| <= f d sqrt(1 + (x / z)^2) / (z - d). */
MOTE_HD float render_ball_reach(const render_view *view, render_place place, double radius) {
    if (!view->perspective) return (float)(view->focal * radius * 1.0001);
    if (!(radius < place.z)) return INFINITY;
    const double sideways = fabs(place.x) > fabs(place.y) ? fabs(place.x) : fabs(place.y);
    const double slope = sideways / place.z;
    return (float)(view->focal * radius * sqrt(1 + slope * slope) / (place.z - radius) * 1.0001);
}

/* The radius of the next window. found, looked_at: of k neighbours, and candidates, in this one; reach: of a ball that
   holds those found */
MOTE_HD float render_wider(uint32_t k, uint32_t found, uint32_t looked_at, float radius, float reach) {
    if (found < k && looked_at < k) {
        const float more = sqrtf(2.0f * (float)k / (float)(looked_at > 0 ? looked_at : 1));
        const float wider = radius * (more > 1.5f ? more : 1.5f);
        return wider < reach ? wider : reach;
    }
    return reach < 2.0f * radius ? reach : 2.0f * radius; /* the k-th nearest so far may be on another surface */
}

/* How many windows, each twice as large as the one before, it takes until one holds a ball around a place: it tells how
   far the first radius was off, however a search goes on. */
MOTE_HD uint32_t render_count_windows(const render_view *view, render_place place, float radius, double ball2) {
    const float reach = ball2 < INFINITY ? render_ball_reach(view, place, sqrt(ball2)) : INFINITY;
    uint32_t windows = 1;
    for (; windows < RENDER_ITERATIONS && radius < reach; windows++) radius *= 2.0f;
    return windows;
}

/* The k nearest of a seen point, itself among them: search->k and limit2 are set. Returns render_count_windows. */
MOTE_HD uint32_t render_find_near(const render_screen *screen, uint32_t i, float radius, render_search *search) {
    const uint32_t sample = screen->seen.sample[i], u = sample % screen->view.width, v = sample / screen->view.width;
    const double x = screen->seen.at[0][i], y = screen->seen.at[1][i], z = screen->seen.at[2][i];
    const render_place place = render_to_camera(&screen->view, x, y, z);
    const float first = radius;
    render_window old = {1, 1, 0, 0, false};
    search->count = search->looked_at = 0;
    for (uint32_t iterations = 1;; iterations++) {
        if (iterations > RENDER_ITERATIONS) radius = INFINITY;
        const render_window window = render_window_around(&screen->view, u, v, radius);
        render_search_window(screen, &window, &old, x, y, z, place.z, search);
        if (window.whole) break;
        old = window;
        const double farthest2 = render_farthest2(search);
        const float reach = farthest2 < INFINITY ? render_ball_reach(&screen->view, place, sqrt(farthest2)) : INFINITY;
        /* Whole samples of the window are looked at: a place within the sample may be that much nearer to its edge. */
        if (reach <= radius) break;
        radius = render_wider(search->k, search->count, search->looked_at, radius, reach);
    }
    return render_count_windows(&screen->view, place, first, render_farthest2(search));
}

#endif
