/* What a frame sees, on CPU cores: layers of points, the quadtree over them, and neighbours. */
#include "render/points/render_points_math.h"
#include "render/render_cpu.h"

#define BLOCKS_AT_ONCE 256
#define SEEN_AT_ONCE   256

/* ---- the quadtree */

static mote_status reserve_screen(mote_renderer *renderer, render_screen_cpu *s) {
    mote_context *ctx = renderer->ctx;
    render_screen *screen = &s->screen;
    const uint64_t blocks = screen->block_count;
    bool enough = true;
    for (uint32_t l = 0; l < screen->layer_count; l++) {
        render_layer *layer = &screen->layers[l];
        enough =
            enough &&
            mote_reserve_scratch(ctx, (void **)&layer->mask, &s->mask_capacity[l], blocks, sizeof(uint64_t), "frame") &&
            mote_reserve_scratch(ctx, (void **)&layer->first, &s->first_capacity[l], blocks + 1, sizeof(uint32_t),
                                 "frame");
    }
    enough =
        enough &&
        mote_reserve_scratch(ctx, (void **)&screen->near_depth, &s->near_capacity, blocks, sizeof(float), "frame") &&
        mote_reserve_scratch(ctx, (void **)&screen->far_depth, &s->far_capacity, blocks, sizeof(float), "frame");
    return enough ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* Which samples of a block show a point; how deep they are is added to [near, far]. */
static uint64_t mask_of_block(const render_view *view, const uint64_t *keys, uint32_t u, uint32_t v, float *near_depth,
                              float *far_depth) {
    uint64_t mask = 0;
    for (uint32_t bit = 0; bit < RENDER_BLOCK_SAMPLES; bit++) {
        const uint32_t x = u * RENDER_BLOCK + bit % RENDER_BLOCK, y = v * RENDER_BLOCK + bit / RENDER_BLOCK;
        if (x >= view->width || y >= view->height) continue;
        const uint64_t key = keys[(uint64_t)y * view->width + x];
        if (key == RENDER_NO_KEY) continue;
        const float depth = render_float_of_ordered(render_key_depth(key));
        mask |= 1ull << bit;
        *near_depth = depth < *near_depth ? depth : *near_depth;
        *far_depth = depth > *far_depth ? depth : *far_depth;
    }
    return mask;
}

static mote_status mask_blocks(mote_renderer *renderer, render_screen *screen) {
    const render_frame *frame = renderer->frame;
#pragma omp parallel for schedule(dynamic, BLOCKS_AT_ONCE) num_threads(renderer->ctx->threads)
    for (int64_t b = 0; b < (int64_t)screen->block_count; b++) {
        float near_depth = INFINITY, far_depth = -INFINITY;
        uint32_t u, v;
        if (mote_stop(renderer->ctx)) continue;
        render_place_of_block(screen, (uint32_t)b, &u, &v);
        const bool inside = u < screen->blocks_u && v < screen->blocks_v;
        for (uint32_t l = 0; l < screen->layer_count; l++) {
            screen->layers[l].mask[b] =
                inside ? mask_of_block(&screen->view, frame->keys[l], u, v, &near_depth, &far_depth) : 0;
        }
        /* Rounded to float, a depth may be nearer or farther than the point. */
        screen->near_depth[b] = near_depth - fabsf(near_depth) * 0x1p-22f;
        screen->far_depth[b] = far_depth + fabsf(far_depth) * 0x1p-22f;
    }
    return mote_stopped(renderer->ctx);
}

static uint64_t count_seen(render_screen *screen) {
    uint64_t count = 0;
    for (uint32_t l = 0; l < screen->layer_count; l++) {
        render_layer *layer = &screen->layers[l];
        for (uint32_t b = 0; b < screen->block_count; b++) {
            layer->first[b] = (uint32_t)count;
            count += render_popcount(layer->mask[b]);
        }
        layer->first[screen->block_count] = (uint32_t)count;
    }
    return count;
}

/* ---- the list of seen points */

static mote_status reserve_seen(mote_renderer *renderer, render_screen_cpu *s, uint64_t count) {
    mote_context *ctx = renderer->ctx;
    render_seen *seen = &s->screen.seen;
    bool enough =
        mote_reserve_scratch(ctx, (void **)&seen->place, &s->place_capacity, count, sizeof(uint32_t), "frame") &&
        mote_reserve_scratch(ctx, (void **)&seen->sample, &s->sample_capacity, count, sizeof(uint32_t), "frame");
    for (int k = 0; k < 3; k++) {
        enough = enough &&
                 mote_reserve_scratch(ctx, (void **)&seen->at[k], &s->at_capacity[k], count, sizeof(double), "frame");
    }
    return enough ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void list_block(const mote_renderer *renderer, const render_screen *screen, uint32_t b, uint32_t l) {
    const render_frame *frame = renderer->frame;
    const render_points *points = &renderer->points;
    const render_seen *seen = &screen->seen;
    uint32_t u, v, to = screen->layers[l].first[b];
    render_place_of_block(screen, b, &u, &v);
    for (uint64_t rest = screen->layers[l].mask[b]; rest != 0; rest &= rest - 1, to++) {
        const uint32_t bit = render_lowest_bit(rest);
        const uint32_t sample =
            (v * RENDER_BLOCK + bit / RENDER_BLOCK) * screen->view.width + u * RENDER_BLOCK + bit % RENDER_BLOCK;
        const uint32_t place = (uint32_t)frame->keys[l][sample];
        seen->place[to] = place;
        seen->sample[to] = sample;
        for (int k = 0; k < 3; k++) seen->at[k][to] = points->at[k][place];
    }
}

static mote_status list_seen(mote_renderer *renderer, const render_screen *screen) {
#pragma omp parallel for schedule(dynamic, BLOCKS_AT_ONCE) num_threads(renderer->ctx->threads)
    for (int64_t b = 0; b < (int64_t)screen->block_count; b++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint32_t l = 0; l < screen->layer_count; l++) list_block(renderer, screen, (uint32_t)b, l);
    }
    return mote_stopped(renderer->ctx);
}

mote_status render_see_cpu(mote_renderer *renderer, const render_job *job) {
    render_frame *frame = renderer->frame;
    render_screen_cpu *s = &frame->screen;
    render_screen *screen = &s->screen;
    screen->view = job->view;
    screen->layer_count = job->params->layers;
    render_screen_size(screen);
    for (uint32_t l = 0; l + 1 < screen->layer_count; l++) MOTE_TRY(render_find_behind_cpu(renderer, job, l));
    MOTE_TRY(reserve_screen(renderer, s));
    MOTE_TRY(mask_blocks(renderer, screen));
    const uint64_t count = count_seen(screen);
    MOTE_TRY(reserve_seen(renderer, s, count));
    MOTE_TRY(list_seen(renderer, screen));
    s->count = (uint32_t)count;
    return MOTE_OK;
}

void render_free_screen_cpu(mote_context *ctx, render_screen_cpu *s) {
    for (uint32_t l = 0; l < MOTE_RENDER_MAX_LAYERS; l++) {
        mote_free(ctx, s->screen.layers[l].mask);
        mote_free(ctx, s->screen.layers[l].first);
    }
    mote_free(ctx, s->screen.near_depth);
    mote_free(ctx, s->screen.far_depth);
    mote_free(ctx, s->screen.seen.place);
    mote_free(ctx, s->screen.seen.sample);
    for (int k = 0; k < 3; k++) mote_free(ctx, s->screen.seen.at[k]);
}

/* ---- neighbours as lists */

static void write_neighbors(const render_points *points, const render_search *search, uint32_t k, uint64_t row,
                            const render_seen *seen, mote_render_neighbors *out) {
    for (uint32_t j = 0; j < k; j++) {
        const bool found = j < search->count;
        out->neighbor[row * k + j] = found ? points->index[seen->place[search->list[j].seen]] : MOTE_RENDER_NO_POINT;
        out->distance2[row * k + j] = found ? (float)search->list[j].distance2 : INFINITY;
    }
}

mote_status render_find_neighbors_cpu(mote_renderer *renderer, uint32_t k, mote_render_neighbors *out) {
    const render_frame *frame = renderer->frame;
    const render_screen *screen = &frame->screen.screen;
    const render_points *points = &renderer->points;
#pragma omp parallel for schedule(dynamic, SEEN_AT_ONCE) num_threads(renderer->ctx->threads)
    for (int64_t i = 0; i < (int64_t)frame->screen.count; i++) {
        if (mote_stop(renderer->ctx)) continue;
        const uint32_t sample = screen->seen.sample[i];
        const float radius = render_radius_of(screen, sample % screen->view.width, sample / screen->view.width, k);
        render_search search;
        search.k = k;
        search.limit2 = INFINITY;
        const uint32_t iterations = render_find_near(screen, (uint32_t)i, radius, &search);
        out->point[i] = points->index[screen->seen.place[i]];
        out->iterations[i] = (uint8_t)iterations;
        write_neighbors(points, &search, k, (uint64_t)i, &screen->seen, out);
    }
    MOTE_TRY(mote_stopped(renderer->ctx));
    return mote_progress(renderer->ctx, 1, "finding neighbours");
}
