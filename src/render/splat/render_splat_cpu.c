/* Splats on CPU cores: a square of samples at a time, whose sums stay in the cache.

     splats ──▶ tiles (a list of splats each) ──▶ each tile: limit, sums, samples

   A tile is one thread's, so nothing is locked, and what it sums are integers, so that the order of its splats does
   not matter. Sums are kept in 32 bits while no sample can have more fragments than these hold. */
#include "render/render_cpu.h"
#include "render/render_lanes_cpu.h"
#include "render/splat/render_fragment_math.h"

#define TILE         32u /* samples of a side */
#define LANES        RENDER_LANES
#define TILE_ROW     (TILE + LANES) /* lanes begin anywhere, and reach beyond the row's end */
#define TILE_SAMPLES (TILE * TILE_ROW)
#define FLUSH_AFTER  2047u /* splats whose fragments fit 32 bits: 10 bits of weight, 10 of value, a sign */
#define AT_ONCE      256

/* ---- making splats */

static mote_status make_splats(mote_renderer *renderer, const render_splat_rules *rules) {
    render_frame *frame = renderer->frame;
    const render_screen *screen = &frame->screen.screen;
#pragma omp parallel for schedule(dynamic, AT_ONCE) num_threads(renderer->ctx->threads)
    for (int64_t i = 0; i < (int64_t)render_front_count(screen); i++) {
        render_shape shape;
        if (mote_stop(renderer->ctx)) continue;
        render_find_shape(screen, &renderer->points, rules, (uint32_t)i, &shape);
        render_make_splat(screen, &renderer->points, rules, &shape, (uint32_t)i, &frame->splats[i]);
    }
    return mote_stopped(renderer->ctx);
}

/* ---- lists of tiles */

typedef struct tiling {
    uint32_t width, count; /* in tiles */
} tiling;

/* Counts the tiles of a splat into first[tile + 2], or, when first[tile + 1] is where a tile's list begins, adds it. */
static inline void to_tiles(const render_frame *frame, const tiling *tiles, bool fill, uint32_t i) {
    const render_splat *splat = &frame->splats[i];
    if (!render_is_drawn(splat)) return;
    for (uint32_t y = splat->v0 / TILE; y <= splat->v1 / TILE; y++) {
        for (uint32_t x = splat->u0 / TILE; x <= splat->u1 / TILE; x++) {
            uint64_t *at = &frame->tile_first[y * tiles->width + x + (fill ? 1 : 2)];
            const uint64_t place = __atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
            if (fill) frame->tile_splats[place] = i;
        }
    }
}

static mote_status for_tiles(const mote_renderer *renderer, const tiling *tiles, bool fill) {
    const render_frame *frame = renderer->frame;
    const uint32_t count = render_front_count(&frame->screen.screen);
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t p = 0; p < render_piece_count(count); p++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = (uint64_t)p * RENDER_PIECE; i < render_piece_end(p, count); i++) {
            to_tiles(frame, tiles, fill, (uint32_t)i);
        }
    }
    return mote_stopped(renderer->ctx);
}

static mote_status sort_into_tiles(mote_renderer *renderer, const tiling *tiles) {
    render_frame *frame = renderer->frame;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->tile_first, &frame->tile_first_capacity, tiles->count + 2,
                              sizeof(uint64_t), "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    memset(frame->tile_first, 0, (tiles->count + 2) * sizeof(uint64_t));
    MOTE_TRY(for_tiles(renderer, tiles, false));
    for (uint32_t t = 2; t < tiles->count + 2; t++) frame->tile_first[t] += frame->tile_first[t - 1];
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->tile_splats, &frame->tile_splats_capacity,
                              frame->tile_first[tiles->count + 1], sizeof(uint32_t), "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    return for_tiles(renderer, tiles, true);
}

/* ---- a tile */

typedef struct tile {
    uint32_t u0, v0; /* in samples */
    bool perspective, wants_normals, wants_index;
    float near_depth, focal;
    float limit[TILE_SAMPLES];
    int32_t weight[TILE_SAMPLES], color[3][TILE_SAMPLES], normal[3][TILE_SAMPLES];
    float scale[TILE_SAMPLES];     /* of depths before the limit, in sums */
    double depth[TILE_SAMPLES];    /* whole numbers below 2^53: exact */
    int64_t wide[7][TILE_SAMPLES]; /* weight, color, normal: what was flushed */
    int32_t best[TILE_SAMPLES];    /* the largest weight, and whose it is */
    uint32_t splat[TILE_SAMPLES];
} tile;

/* Rows and lanes of a tile that a splat can cover. */
typedef struct span {
    uint32_t v0, v1, u0, u1; /* samples, both included */
    float du, dv;            /* of the tile's first sample, from the splat's middle */
} span;

static span span_of(const tile *t, const render_splat *splat) {
    const uint32_t u1 = splat->u1 - t->u0, v1 = splat->v1 - t->v0;
    span s;
    s.v0 = splat->v0 > t->v0 ? splat->v0 - t->v0 : 0;
    s.v1 = v1 < TILE - 1 ? v1 : TILE - 1;
    s.u0 = splat->u0 > t->u0 ? splat->u0 - t->u0 : 0;
    s.u1 = u1 < TILE - 1 ? u1 : TILE - 1;
    s.du = (float)((int32_t)t->u0 - splat->u);
    s.dv = (float)((int32_t)t->v0 - splat->v);
    return s;
}

/* Eight neighbouring samples at once. */
typedef render_floats lanes_f;
typedef render_ints lanes_i;
typedef int64_t lanes_pairs __attribute__((vector_size(32)));
typedef double lanes_d __attribute__((vector_size(64)));

typedef struct lanes {
    lanes_f depth, weight;
    lanes_i inside;
} lanes;

static inline void add_i(int32_t *to, lanes_i a) {
    lanes_i sum;
    memcpy(&sum, to, sizeof sum);
    sum += a;
    memcpy(to, &sum, sizeof sum);
}

static inline bool any_of(lanes_i mask) {
    const lanes_pairs p = (lanes_pairs)mask;
    return (p[0] | p[1] | p[2] | p[3]) != 0;
}

/* Computes what render_fragment_at and render_is_within_contour compute, whose comments hold, for all lanes. */
static inline lanes fragments_of(const tile *t, const render_splat *splat, float from_u, float from_v,
                                 bool perspective) {
    const lanes_f counting = {0, 1, 2, 3, 4, 5, 6, 7};
    const lanes_f du = (from_u + counting) + splat->off_u;
    const float dv = from_v + splat->off_v;
    const lanes_f u = splat->u_u * du + splat->u_v * dv, v = splat->v_u * du + splat->v_v * dv;
    const lanes_f g = splat->g_u * du + splat->g_v * dv;
    lanes f;
    lanes_f r2 = u * u + v * v;
    lanes_f linear = splat->l_u * du + splat->l_v * dv, across = splat->a_u * du + splat->a_v * dv;
    f.depth = splat->depth + g;
    f.inside = f.depth >= t->near_depth;
    if (perspective) {
        const lanes_f w = 1.0f + g, inverse = 1.0f / w;
        r2 = r2 * (inverse * inverse);
        linear = linear * inverse;
        across = across * inverse;
        f.depth = splat->depth * inverse;
        f.inside = (w > 0.0f) & (f.depth >= t->near_depth);
    }
    const lanes_f rest = 1.0f - r2, rest2 = rest * rest;
    f.inside = f.inside & (rest >= RENDER_RIM) & (linear + splat->bend * across * across <= 1.0f);
    f.weight = rest2 * rest2;
    return f;
}

static inline void limit_splat(tile *t, const render_splat *splat, bool perspective) {
    const span s = span_of(t, splat);
    const lanes_f nowhere = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    for (uint32_t v = s.v0; v <= s.v1; v++) {
        for (uint32_t u = s.u0; u <= s.u1; u += LANES) {
            float *at = &t->limit[v * TILE_ROW + u];
            const lanes f = fragments_of(t, splat, s.du + (float)u, s.dv + (float)v, perspective);
            const lanes_f limit = render_load_floats(at),
                          behind = render_select_floats(f.inside, f.depth + splat->tolerance, nowhere);
            const lanes_f nearer = render_select_floats(behind < limit, behind, limit);
            memcpy(at, &nearer, sizeof nearer);
        }
    }
}

/* Adds fragments to the sums of eight samples. */
static inline void add_lanes(tile *t, const render_splat *splat, uint32_t at, const lanes *f, lanes_i shown) {
    const lanes_i whole = __builtin_convertvector(f->weight * (float)(RENDER_WEIGHT_MAX - 1), lanes_i) + 1;
    const lanes_i weight = shown & whole;
    add_i(&t->weight[at], weight);
    for (int k = 0; k < 3; k++) {
        add_i(&t->color[k][at], weight * (int32_t)(splat->color >> 8 * k & 255u));
        if (t->wants_normals) add_i(&t->normal[k][at], weight * (int32_t)splat->normal[k]);
    }
    const lanes_f most = RENDER_DEPTH_STEPS_MAX - (lanes_f){0};
    const lanes_f steps = (render_load_floats(&t->limit[at]) - f->depth) * render_load_floats(&t->scale[at]);
    const lanes_i steps_i = __builtin_convertvector(render_select_floats(steps < most, steps, most), lanes_i);
    lanes_d depth;
    memcpy(&depth, &t->depth[at], sizeof depth);
    depth += __builtin_convertvector(weight, lanes_d) * __builtin_convertvector(steps_i, lanes_d);
    memcpy(&t->depth[at], &depth, sizeof depth);
}

/* Which splat covers a sample most; of several the one whose point is first in the order. */
static void note_best(tile *t, const render_splat *splats, uint32_t i, uint32_t at, const lanes *f, lanes_i shown) {
    for (uint32_t l = 0; l < LANES; l++) {
        if (shown[l] == 0) continue;
        const int32_t weight = render_weight_of(f->weight[l]), best = t->best[at + l];
        if (weight < best) continue;
        if (weight == best && splats[i].place > splats[t->splat[at + l]].place) continue;
        t->best[at + l] = weight;
        t->splat[at + l] = i;
    }
}

static inline void add_splat(tile *t, const render_splat *splats, uint32_t i, bool perspective) {
    const render_splat *splat = &splats[i];
    const span s = span_of(t, splat);
    for (uint32_t v = s.v0; v <= s.v1; v++) {
        for (uint32_t u = s.u0; u <= s.u1; u += LANES) {
            const uint32_t at = v * TILE_ROW + u;
            const lanes f = fragments_of(t, splat, s.du + (float)u, s.dv + (float)v, perspective);
            const lanes_i shown = f.inside & (f.depth <= render_load_floats(&t->limit[at]));
            if (!any_of(shown)) continue;
            add_lanes(t, splat, at, &f, shown);
            if (t->wants_index) note_best(t, splats, i, at, &f, shown);
        }
    }
}

static void flush(tile *t) {
    for (uint32_t i = 0; i < TILE_SAMPLES; i++) {
        t->wide[0][i] += t->weight[i];
        t->weight[i] = 0;
        for (int k = 0; k < 3; k++) {
            t->wide[1 + k][i] += t->color[k][i];
            t->wide[4 + k][i] += t->normal[k][i];
            t->color[k][i] = t->normal[k][i] = 0;
        }
    }
}

static void clear_tile(tile *t) {
    for (uint32_t i = 0; i < TILE_SAMPLES; i++) {
        t->limit[i] = INFINITY;
        t->depth[i] = 0;
        t->best[i] = 0;
        t->splat[i] = UINT32_MAX;
    }
    memset(t->wide, 0, sizeof t->wide);
    memset(t->weight, 0, sizeof t->weight);
    memset(t->color, 0, sizeof t->color);
    memset(t->normal, 0, sizeof t->normal);
}

static void show_sample(const mote_renderer *renderer, const tile *t, uint32_t at, uint64_t i) {
    const render_frame *frame = renderer->frame;
    const render_samples *to = &frame->samples;
    const render_sums sums = {t->wide[0][at],
                              {t->wide[1][at], t->wide[2][at], t->wide[3][at]},
                              {t->wide[4][at], t->wide[5][at], t->wide[6][at]},
                              (int64_t)t->depth[at]};
    render_show_splat(&frame->screen.screen, &sums, t->limit[at], t->focal, frame->splats, t->splat[at],
                      &renderer->points, to, frame->shown, i);
}

static void show_tile(const mote_renderer *renderer, const render_view *view, const tile *t) {
    for (uint32_t v = 0; v < TILE && t->v0 + v < view->height; v++) {
        for (uint32_t u = 0; u < TILE && t->u0 + u < view->width; u++) {
            show_sample(renderer, t, v * TILE_ROW + u, (uint64_t)(t->v0 + v) * view->width + t->u0 + u);
        }
    }
}

static inline void limit_splats(tile *t, const render_splat *splats, const uint32_t *list, uint64_t count,
                                bool perspective) {
    for (uint64_t i = 0; i < count; i++) {
        if (render_is_drawn(&splats[list[i]])) limit_splat(t, &splats[list[i]], perspective);
    }
}

/* The sums of a tile whose limits are known. */
static inline void add_splats(tile *t, const render_splat *splats, const uint32_t *list, uint64_t count,
                              bool perspective) {
    for (uint32_t i = 0; i < TILE_SAMPLES; i++) t->scale[i] = render_depth_scale(perspective, t->focal, t->limit[i]);
    for (uint64_t i = 0; i < count; i++) {
        if (render_is_drawn(&splats[list[i]])) add_splat(t, splats, list[i], perspective);
        if (i % FLUSH_AFTER == FLUSH_AFTER - 1) flush(t);
    }
    flush(t);
}

static void place_tile(const tiling *tiles, uint32_t number, tile *t) {
    t->u0 = number % tiles->width * TILE;
    t->v0 = number / tiles->width * TILE;
}

/* The limits of all splats, for those that hide others. */
static void limit_tile(const mote_renderer *renderer, const render_view *view, const tiling *tiles, uint32_t number,
                       tile *t) {
    const render_frame *frame = renderer->frame;
    const uint64_t first = frame->tile_first[number], count = frame->tile_first[number + 1] - first;
    place_tile(tiles, number, t);
    for (uint32_t i = 0; i < TILE_SAMPLES; i++) t->limit[i] = INFINITY;
    if (t->perspective) limit_splats(t, frame->splats, frame->tile_splats + first, count, true);
    if (!t->perspective) limit_splats(t, frame->splats, frame->tile_splats + first, count, false);
    for (uint32_t v = 0; v < TILE && t->v0 + v < view->height; v++) {
        for (uint32_t u = 0; u < TILE && t->u0 + u < view->width; u++) {
            frame->limits[(uint64_t)(t->v0 + v) * view->width + t->u0 + u] =
                render_ordered_float(t->limit[v * TILE_ROW + u]);
        }
    }
}

static mote_status hide_splats(mote_renderer *renderer) {
    render_frame *frame = renderer->frame;
    const uint32_t count = render_front_count(&frame->screen.screen);
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t p = 0; p < render_piece_count(count); p++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = (uint64_t)p * RENDER_PIECE; i < render_piece_end(p, count); i++) {
            render_splat *splat = &frame->splats[i];
            if (render_is_hidden(splat, frame->limits, frame->screen.screen.seen.sample[i])) render_no_splat(splat);
        }
    }
    return mote_stopped(renderer->ctx);
}

/* Whether no splat of a list was hidden. */
static bool are_all_drawn(const render_splat *splats, const uint32_t *list, uint64_t count) {
    bool all = true;
    for (uint64_t i = 0; i < count; i++) all = all && render_is_drawn(&splats[list[i]]);
    return all;
}

/* The limits of limit_tile. */
static void read_limits(const uint32_t *limits, const render_view *view, tile *t) {
    for (uint32_t v = 0; v < TILE && t->v0 + v < view->height; v++) {
        for (uint32_t u = 0; u < TILE && t->u0 + u < view->width; u++) {
            t->limit[v * TILE_ROW + u] =
                render_float_of_ordered(limits[(uint64_t)(t->v0 + v) * view->width + t->u0 + u]);
        }
    }
}

static void draw_tile(const mote_renderer *renderer, const render_job *job, const tiling *tiles, uint32_t number,
                      tile *t) {
    const render_frame *frame = renderer->frame;
    const render_splat *splats = frame->splats;
    const uint64_t first = frame->tile_first[number], count = frame->tile_first[number + 1] - first;
    const uint32_t *list = frame->tile_splats + first;
    place_tile(tiles, number, t);
    clear_tile(t);
    if (are_all_drawn(splats, list, count)) {
        read_limits(frame->limits, &job->view, t);
    } else if (t->perspective) {
        limit_splats(t, splats, list, count, true);
    } else {
        limit_splats(t, splats, list, count, false);
    }
    if (t->perspective) add_splats(t, splats, list, count, true);
    if (!t->perspective) add_splats(t, splats, list, count, false);
    show_tile(renderer, &job->view, t);
}

static mote_status draw_tiles(mote_renderer *renderer, const render_job *job, const tiling *tiles) {
    render_frame *frame = renderer->frame;
    const int threads = renderer->ctx->threads;
    const uint64_t samples = (uint64_t)job->view.width * job->view.height;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->limits, &frame->limits_capacity, samples,
                              sizeof *frame->limits, "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->tiles, &frame->tiles_capacity, (uint64_t)threads,
                              sizeof(tile), "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    tile *all = frame->tiles;
    for (int i = 0; i < threads; i++) {
        all[i].perspective = job->view.perspective;
        all[i].near_depth = job->view.perspective ? (float)job->view.near_depth : -INFINITY;
        all[i].focal = (float)job->view.focal;
        all[i].wants_normals = job->wants_normals;
        all[i].wants_index = job->wants_splats;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t i = 0; i < (int64_t)tiles->count; i++) {
        if (mote_stop(renderer->ctx)) continue;
        limit_tile(renderer, &job->view, tiles, (uint32_t)i, &all[mote_thread_number()]);
    }
    MOTE_TRY(mote_stopped(renderer->ctx));
    MOTE_TRY(hide_splats(renderer));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t i = 0; i < (int64_t)tiles->count; i++) {
        if (mote_stop(renderer->ctx)) continue;
        draw_tile(renderer, job, tiles, (uint32_t)i, &all[mote_thread_number()]);
    }
    return mote_stopped(renderer->ctx);
}

/* ---- a frame */

static mote_status count_splats(const mote_renderer *renderer, mote_render_result *result) {
    const render_frame *frame = renderer->frame;
    const uint32_t front = render_front_count(&frame->screen.screen);
    uint64_t drawn = 0, iterations = 0;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(+ : drawn, iterations)
    for (int64_t p = 0; p < render_piece_count(front); p++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = (uint64_t)p * RENDER_PIECE; i < render_piece_end(p, front); i++) {
            drawn += render_is_drawn(&frame->splats[i]);
            iterations += frame->splats[i].iterations;
        }
    }
    result->seen = frame->screen.count;
    result->splats = drawn;
    result->iterations = front > 0 ? (double)iterations / (double)front : 0;
    return mote_stopped(renderer->ctx);
}

mote_status render_surface_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    render_frame *frame = renderer->frame;
    const render_splat_rules rules = render_rules_of(job);
    const tiling tiles = {(job->view.width + TILE - 1) / TILE,
                          (job->view.width + TILE - 1) / TILE * ((job->view.height + TILE - 1) / TILE)};
    mote_stage(renderer->ctx, "layers");
    MOTE_TRY(render_see_cpu(renderer, job));
    const uint32_t front = render_front_count(&frame->screen.screen);
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->splats, &frame->splats_capacity, front,
                              sizeof *frame->splats, "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    MOTE_TRY(mote_progress(renderer->ctx, 0.5, "finding neighbours"));
    mote_stage(renderer->ctx, "neighbours");
    MOTE_TRY(make_splats(renderer, &rules));
    MOTE_TRY(mote_progress(renderer->ctx, 0.6, "drawing splats"));
    mote_stage(renderer->ctx, "splats");
    MOTE_TRY(sort_into_tiles(renderer, &tiles));
    MOTE_TRY(draw_tiles(renderer, job, &tiles));
    return count_splats(renderer, result);
}
