/* Splats on CPU cores: a square of samples at a time, whose sums stay in the cache.

     splats ──▶ tiles (a list of splats each) ──▶ each tile: limit, sums, samples

   A tile is one thread's, so nothing is locked, and what it sums are integers, so that the order of its splats does
   not matter. Sums are kept in 32 bits while no sample can have more fragments than these hold. */
#include "render/render_cpu.h"
#include "render/splat/render_splat_math.h"

#define TILE         32u /* samples of a side; whole rows of LANES */
#define TILE_SAMPLES (TILE * TILE)
#define LANES        8u
#define FLUSH_AFTER  2047u /* splats whose fragments fit 32 bits: 10 bits of weight, 10 of value, a sign */
#define AT_ONCE      256

/* ---- making splats */

static void make_splats(mote_renderer *renderer, const render_splat_rules *rules) {
    render_frame *frame = renderer->frame;
    const render_screen *screen = &frame->screen.screen;
#pragma omp parallel for schedule(dynamic, AT_ONCE) num_threads(renderer->ctx->threads)
    for (int64_t i = 0; i < (int64_t)frame->screen.count; i++) {
        render_make_splat(screen, &renderer->points, rules, (uint32_t)i, &frame->splats[i]);
    }
}

/* ---- lists of tiles */

typedef struct tiling {
    uint32_t width, count; /* in tiles */
} tiling;

/* Counts the splats of each tile into first[tile + 2], or, when first[tile + 1] is where its list begins, fills it. */
static void for_tiles(const mote_renderer *renderer, const tiling *tiles, bool fill) {
    const render_frame *frame = renderer->frame;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t i = 0; i < (int64_t)frame->screen.count; i++) {
        const render_splat *splat = &frame->splats[i];
        if (!render_is_drawn(splat)) continue;
        for (uint32_t y = splat->v0 / TILE; y <= splat->v1 / TILE; y++) {
            for (uint32_t x = splat->u0 / TILE; x <= splat->u1 / TILE; x++) {
                uint64_t *at = &frame->tile_first[y * tiles->width + x + (fill ? 1 : 2)];
                const uint64_t place = __atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
                if (fill) frame->tile_splats[place] = (uint32_t)i;
            }
        }
    }
}

static mote_status sort_into_tiles(mote_renderer *renderer, const tiling *tiles) {
    render_frame *frame = renderer->frame;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->tile_first, &frame->tile_first_capacity, tiles->count + 2,
                              sizeof(uint64_t), "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    memset(frame->tile_first, 0, (tiles->count + 2) * sizeof(uint64_t));
    for_tiles(renderer, tiles, false);
    for (uint32_t t = 2; t < tiles->count + 2; t++) frame->tile_first[t] += frame->tile_first[t - 1];
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->tile_splats, &frame->tile_splats_capacity,
                              frame->tile_first[tiles->count + 1], sizeof(uint32_t), "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    for_tiles(renderer, tiles, true);
    return MOTE_OK;
}

/* ---- a tile */

typedef struct tile {
    uint32_t u0, v0, width, height; /* in samples; width is that of whole lanes */
    bool perspective, wants_normals, wants_index;
    float near_depth, focal;
    float limit[TILE_SAMPLES];
    int32_t weight[TILE_SAMPLES], color[3][TILE_SAMPLES], normal[3][TILE_SAMPLES];
    int64_t depth[TILE_SAMPLES];
    int64_t wide[7][TILE_SAMPLES]; /* weight, color, normal: what was flushed */
    int32_t best[TILE_SAMPLES];    /* the largest weight, and whose it is */
    uint32_t splat[TILE_SAMPLES];
} tile;

/* Rows and lanes of a tile that a splat can cover. */
typedef struct span {
    uint32_t v0, v1, lane0, lane1; /* rows: both included; lanes: [lane0, lane1) in samples */
    float du, dv;                  /* of the tile's first sample, from the splat's middle */
} span;

static span span_of(const tile *t, const render_splat *splat) {
    const uint32_t u0 = splat->u0 > t->u0 ? splat->u0 - t->u0 : 0, u1 = splat->u1 - t->u0;
    const uint32_t v1 = splat->v1 - t->v0;
    span s;
    s.v0 = splat->v0 > t->v0 ? splat->v0 - t->v0 : 0;
    s.v1 = v1 < TILE - 1 ? v1 : TILE - 1;
    s.lane0 = u0 / LANES * LANES;
    s.lane1 = ((u1 < TILE - 1 ? u1 : TILE - 1) / LANES + 1) * LANES;
    s.du = (float)((int32_t)t->u0 - splat->u);
    s.dv = (float)((int32_t)t->v0 - splat->v);
    return s;
}

/* Fragments of a splat in eight neighbouring samples. */
typedef struct lanes {
    float depth[LANES], weight[LANES];
    int32_t inside[LANES]; /* 0 or -1 */
} lanes;

static inline void fragments_of(const tile *t, const render_splat *splat, float du, float dv, bool perspective,
                                lanes *out) {
    for (uint32_t l = 0; l < LANES; l++) {
        const render_fragment f =
            render_fragment_at(splat, perspective, t->near_depth, du + (float)l + splat->off_u, dv + splat->off_v);
        out->depth[l] = f.depth;
        out->weight[l] = f.weight;
        out->inside[l] = f.inside ? -1 : 0;
    }
}

static inline void limit_splat(tile *t, const render_splat *splat, bool perspective) {
    const span s = span_of(t, splat);
    lanes f;
    for (uint32_t v = s.v0; v <= s.v1; v++) {
        for (uint32_t u = s.lane0; u < s.lane1; u += LANES) {
            float *limit = &t->limit[v * TILE + u];
            fragments_of(t, splat, s.du + (float)u, s.dv + (float)v, perspective, &f);
            for (uint32_t l = 0; l < LANES; l++) {
                const float behind = f.inside[l] != 0 ? f.depth[l] + splat->tolerance : INFINITY;
                limit[l] = behind < limit[l] ? behind : limit[l];
            }
        }
    }
}

/* Adds fragments to the sums of eight samples. */
static inline void add_lanes(tile *t, const render_splat *splat, uint32_t at, const lanes *f, bool perspective) {
    int32_t weight[LANES];
    int any = 0;
    for (uint32_t l = 0; l < LANES; l++) {
        const int32_t shown = f->inside[l] & -(f->depth[l] <= t->limit[at + l]);
        weight[l] = shown & render_weight_of(f->inside[l] != 0 ? f->weight[l] : 0);
        any |= shown;
    }
    if (any == 0) return;
    for (uint32_t l = 0; l < LANES; l++) t->weight[at + l] += weight[l];
    for (int k = 0; k < 3; k++) {
        const int32_t color = (int32_t)(splat->color >> 8 * k & 255u), normal = splat->normal[k];
        for (uint32_t l = 0; l < LANES; l++) t->color[k][at + l] += weight[l] * color;
        if (!t->wants_normals) continue;
        for (uint32_t l = 0; l < LANES; l++) t->normal[k][at + l] += weight[l] * normal;
    }
    for (uint32_t l = 0; l < LANES; l++) {
        if (weight[l] == 0) continue;
        const float limit = t->limit[at + l], scale = render_depth_scale(perspective, t->focal, limit);
        t->depth[at + l] += (int64_t)weight[l] * render_depth_steps(limit, f->depth[l], scale);
    }
}

/* Which splat covers a sample most; of several the one whose point is first in the order. */
static void note_best(tile *t, const render_splat *splats, uint32_t i, uint32_t at, const lanes *f) {
    for (uint32_t l = 0; l < LANES; l++) {
        if (f->inside[l] == 0 || !(f->depth[l] <= t->limit[at + l])) continue;
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
    lanes f;
    for (uint32_t v = s.v0; v <= s.v1; v++) {
        for (uint32_t u = s.lane0; u < s.lane1; u += LANES) {
            const uint32_t at = v * TILE + u;
            fragments_of(t, splat, s.du + (float)u, s.dv + (float)v, perspective, &f);
            add_lanes(t, splat, at, &f, perspective);
            if (t->wants_index) note_best(t, splats, i, at, &f);
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
                              t->depth[at]};
    render_show_splat(&sums, t->limit[at], t->perspective, t->focal, frame->splats, t->splat[at],
                      renderer->points.index, to, frame->shown, i);
}

static void show_tile(const mote_renderer *renderer, const render_view *view, const tile *t) {
    for (uint32_t v = 0; v < TILE && t->v0 + v < view->height; v++) {
        for (uint32_t u = 0; u < TILE && t->u0 + u < view->width; u++) {
            show_sample(renderer, t, v * TILE + u, (uint64_t)(t->v0 + v) * view->width + t->u0 + u);
        }
    }
}

static inline void draw_splats(tile *t, const render_splat *splats, const uint32_t *list, uint64_t count,
                               bool perspective) {
    for (uint64_t i = 0; i < count; i++) limit_splat(t, &splats[list[i]], perspective);
    for (uint64_t i = 0; i < count; i++) {
        add_splat(t, splats, list[i], perspective);
        if (i % FLUSH_AFTER == FLUSH_AFTER - 1) flush(t);
    }
    flush(t);
}

static void draw_tile(const mote_renderer *renderer, const render_job *job, const tiling *tiles, uint32_t number,
                      tile *t) {
    const render_frame *frame = renderer->frame;
    const uint64_t first = frame->tile_first[number], count = frame->tile_first[number + 1] - first;
    t->u0 = number % tiles->width * TILE;
    t->v0 = number / tiles->width * TILE;
    clear_tile(t);
    if (t->perspective) draw_splats(t, frame->splats, frame->tile_splats + first, count, true);
    if (!t->perspective) draw_splats(t, frame->splats, frame->tile_splats + first, count, false);
    show_tile(renderer, &job->view, t);
}

static mote_status draw_tiles(mote_renderer *renderer, const render_job *job, const tiling *tiles) {
    render_frame *frame = renderer->frame;
    const int threads = renderer->ctx->threads;
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
        draw_tile(renderer, job, tiles, (uint32_t)i, &all[mote_thread_number()]);
    }
    return MOTE_OK;
}

/* ---- a frame */

static void count_splats(const mote_renderer *renderer, mote_render_result *result) {
    const render_frame *frame = renderer->frame;
    uint64_t drawn = 0, iterations = 0;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(+ : drawn, iterations)
    for (int64_t i = 0; i < (int64_t)frame->screen.count; i++) {
        drawn += render_is_drawn(&frame->splats[i]);
        iterations += frame->splats[i].iterations;
    }
    result->seen = frame->screen.count;
    result->splats = drawn;
    result->iterations = result->seen > 0 ? (double)iterations / (double)result->seen : 0;
}

mote_status render_surface_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    render_frame *frame = renderer->frame;
    const render_splat_rules rules = render_rules_of(job);
    const tiling tiles = {(job->view.width + TILE - 1) / TILE,
                          (job->view.width + TILE - 1) / TILE * ((job->view.height + TILE - 1) / TILE)};
    mote_stage(renderer->ctx, "layers");
    MOTE_TRY(render_see_cpu(renderer, job));
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->splats, &frame->splats_capacity, frame->screen.count,
                              sizeof *frame->splats, "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    MOTE_TRY(mote_progress(renderer->ctx, 0.5, "finding neighbours"));
    mote_stage(renderer->ctx, "neighbours");
    make_splats(renderer, &rules);
    MOTE_TRY(mote_progress(renderer->ctx, 0.6, "drawing splats"));
    mote_stage(renderer->ctx, "splats");
    MOTE_TRY(sort_into_tiles(renderer, &tiles));
    MOTE_TRY(draw_tiles(renderer, job, &tiles));
    count_splats(renderer, result);
    return MOTE_OK;
}
