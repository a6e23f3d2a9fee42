/* The nearest point of each sample on CPU cores.

     batches ──▶ outside the picture: left out
             ──▶ drawn in the last frame: their points are projected first
             ──▶ the others: left out where their box is behind what stands there by then, else projected

   So what is left out is behind points of this very frame, and the picture is that of all points. */
#include "render/points/render_points_math.h"
#include "render/render_cpu.h"

#define BLOCK   64u /* points projected at once: their arrays stay in the first-level cache */
#define AT_ONCE 16  /* batches that a thread takes */

enum { OUTSIDE, DRAWN_BEFORE, NEW };

/* ---- points */

typedef struct projected {
    uint32_t sample[BLOCK]; /* RENDER_OUTSIDE */
    float depth[BLOCK];
} projected;

static void project_block(const render_view *view, const double *x, const double *y, const double *z, projected *to) {
    for (uint32_t i = 0; i < BLOCK; i++) {
        const render_place place = render_to_camera(view, x[i], y[i], z[i]);
        to->sample[i] = render_sample_of(view, place);
        to->depth[i] = (float)place.z;
    }
}

static void keep_least(uint64_t *key, uint64_t candidate) {
    uint64_t old = __atomic_load_n(key, __ATOMIC_RELAXED);
    while (candidate < old) {
        if (__atomic_compare_exchange_n(key, &old, candidate, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
}

/* before: keys of the layer in front, of which only points behind count; NULL: all do. */
static void draw_batch(const render_points *points, const render_view *view, uint32_t b, const uint64_t *before,
                       uint64_t *keys) {
    projected block;
    for (uint32_t first = b * RENDER_BATCH; first < (b + 1) * RENDER_BATCH; first += BLOCK) {
        project_block(view, points->at[0] + first, points->at[1] + first, points->at[2] + first, &block);
        for (uint32_t i = 0; i < BLOCK; i++) {
            const uint32_t sample = block.sample[i];
            if (sample == RENDER_OUTSIDE) continue;
            const uint64_t key = render_key(block.depth[i], first + i);
            if (key >= __atomic_load_n(&keys[sample], __ATOMIC_RELAXED)) continue;
            if (before != NULL && render_key_depth(key) <= render_key_depth(before[sample])) continue;
            if (points->color[first + i] == RENDER_NO_COLOR) continue;
            keep_least(&keys[sample], key);
        }
    }
}

/* ---- what stands in front */

static mote_status reserve_depths(mote_renderer *renderer, const render_view *view) {
    render_frame *frame = renderer->frame;
    render_depths *depths = &frame->depths;
    uint64_t total = 0;
    uint32_t width = view->width, height = view->height, level = 0;
    width = (width + RENDER_DEPTHS_SIDE - 1) / RENDER_DEPTHS_SIDE;
    height = (height + RENDER_DEPTHS_SIDE - 1) / RENDER_DEPTHS_SIDE;
    for (;; level++) {
        depths->width[level] = width;
        depths->height[level] = height;
        depths->first[level] = total;
        total += (uint64_t)width * height;
        if ((width == 1 && height == 1) || level + 1 == RENDER_DEPTHS_LEVELS) break;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    depths->level_count = level + 1;
    return mote_reserve_scratch(renderer->ctx, (void **)&depths->farthest, &depths->capacity, total,
                                sizeof *depths->farthest, "frame")
               ? MOTE_OK
               : MOTE_ERROR_MEMORY;
}

static uint32_t farthest_of_square(const render_view *view, const uint64_t *keys, uint32_t x, uint32_t y) {
    uint32_t farthest = 0;
    const uint32_t u0 = x * RENDER_DEPTHS_SIDE, v0 = y * RENDER_DEPTHS_SIDE;
    for (uint32_t v = v0; v < v0 + RENDER_DEPTHS_SIDE && v < view->height; v++) {
        for (uint32_t u = u0; u < u0 + RENDER_DEPTHS_SIDE && u < view->width; u++) {
            const uint32_t depth = render_key_depth(keys[(uint64_t)v * view->width + u]);
            farthest = depth > farthest ? depth : farthest;
        }
    }
    return farthest;
}

static uint32_t farthest_of_four(const render_depths *depths, uint32_t below, uint32_t x, uint32_t y) {
    const uint32_t *from = depths->farthest + depths->first[below];
    uint32_t farthest = 0;
    for (uint32_t j = 2 * y; j < 2 * y + 2 && j < depths->height[below]; j++) {
        for (uint32_t i = 2 * x; i < 2 * x + 2 && i < depths->width[below]; i++) {
            const uint32_t depth = from[(uint64_t)j * depths->width[below] + i];
            farthest = depth > farthest ? depth : farthest;
        }
    }
    return farthest;
}

static void measure_depths(mote_renderer *renderer, const render_view *view) {
    render_frame *frame = renderer->frame;
    render_depths *depths = &frame->depths;
    for (uint32_t level = 0; level < depths->level_count; level++) {
        uint32_t *to = depths->farthest + depths->first[level];
        const int64_t width = depths->width[level], height = depths->height[level];
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
        for (int64_t y = 0; y < height; y++) {
            for (int64_t x = 0; x < width; x++) {
                to[y * width + x] = level == 0 ? farthest_of_square(view, frame->keys[0], (uint32_t)x, (uint32_t)y)
                                               : farthest_of_four(depths, level - 1, (uint32_t)x, (uint32_t)y);
            }
        }
    }
}

/* At a level where at most four squares a side cover it. */
static bool is_behind(const render_depths *depths, const render_reach *reach) {
    const uint32_t depth = render_ordered_float((float)reach->depth);
    uint32_t level = 0, x0 = reach->u0 / RENDER_DEPTHS_SIDE, x1 = reach->u1 / RENDER_DEPTHS_SIDE;
    uint32_t y0 = reach->v0 / RENDER_DEPTHS_SIDE, y1 = reach->v1 / RENDER_DEPTHS_SIDE;
    while ((x1 - x0 > 3 || y1 - y0 > 3) && level + 1 < depths->level_count) {
        x0 /= 2, x1 /= 2, y0 /= 2, y1 /= 2;
        level++;
    }
    const uint32_t *from = depths->farthest + depths->first[level];
    for (uint32_t y = y0; y <= y1; y++) {
        for (uint32_t x = x0; x <= x1; x++) {
            if (depth <= from[(uint64_t)y * depths->width[level] + x]) return false;
        }
    }
    return true;
}

/* ---- batches */

static void clear_keys(const mote_renderer *renderer, const render_view *view, uint64_t *keys) {
    const int64_t samples = (int64_t)view->width * view->height;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t i = 0; i < samples; i++) keys[i] = RENDER_NO_KEY;
}

/* Draws those that the last frame shows, and sorts out the others. In the first frame all are drawn. */
static uint64_t draw_known(mote_renderer *renderer, const render_view *view) {
    const render_points *points = &renderer->points;
    render_frame *frame = renderer->frame;
    uint64_t known = 0, drawn = 0;
    for (uint32_t b = 0; b < points->batch_count; b++) known += points->batches[b].drawn;
#pragma omp parallel for schedule(dynamic, AT_ONCE) num_threads(renderer->ctx->threads) reduction(+ : drawn)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        const render_batch *batch = &points->batches[b];
        const render_reach reach = render_box_reach(view, batch->min, batch->max);
        frame->batch_states[b] = reach.outside ? OUTSIDE : known == 0 || batch->drawn != 0 ? DRAWN_BEFORE : NEW;
        if (frame->batch_states[b] != DRAWN_BEFORE) continue;
        draw_batch(points, view, (uint32_t)b, NULL, frame->keys[0]);
        drawn++;
    }
    return drawn;
}

static uint64_t draw_new(mote_renderer *renderer, const render_view *view) {
    const render_points *points = &renderer->points;
    render_frame *frame = renderer->frame;
    uint64_t drawn = 0;
#pragma omp parallel for schedule(dynamic, AT_ONCE) num_threads(renderer->ctx->threads) reduction(+ : drawn)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        if (frame->batch_states[b] != NEW) continue;
        const render_reach reach = render_box_reach(view, points->batches[b].min, points->batches[b].max);
        if (is_behind(&frame->depths, &reach)) continue;
        draw_batch(points, view, (uint32_t)b, NULL, frame->keys[0]);
        drawn++;
    }
    return drawn;
}

/* For the next frame: whose points this one shows. */
static void note_drawn(mote_renderer *renderer, const render_view *view) {
    render_points *points = &renderer->points;
    const render_frame *frame = renderer->frame;
    const int64_t samples = (int64_t)view->width * view->height;
    for (uint32_t b = 0; b < points->batch_count; b++) points->batches[b].drawn = 0;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t i = 0; i < samples; i++) {
        const uint64_t key = frame->keys[0][i];
        if (key == RENDER_NO_KEY) continue;
        uint32_t *drawn = &points->batches[(uint32_t)key / RENDER_BATCH].drawn;
        if (__atomic_load_n(drawn, __ATOMIC_RELAXED) == 0) __atomic_store_n(drawn, 1, __ATOMIC_RELAXED);
    }
}

mote_status render_find_nearest_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    render_frame *frame = renderer->frame;
    clear_keys(renderer, &job->view, frame->keys[0]);
    result->batches = renderer->points.batch_count;
    result->batches_drawn = draw_known(renderer, &job->view);
    if (result->batches_drawn < result->batches) {
        MOTE_TRY(reserve_depths(renderer, &job->view));
        measure_depths(renderer, &job->view);
        result->batches_drawn += draw_new(renderer, &job->view);
    }
    note_drawn(renderer, &job->view);
    return MOTE_OK;
}

mote_status render_find_behind_cpu(mote_renderer *renderer, const render_job *job, uint32_t layer) {
    const render_points *points = &renderer->points;
    render_frame *frame = renderer->frame;
    const uint64_t samples = (uint64_t)job->view.width * job->view.height;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->keys[layer + 1], &frame->keys_capacity[layer + 1],
                              samples, sizeof(uint64_t), "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    uint64_t *keys = frame->keys[layer + 1];
    clear_keys(renderer, &job->view, keys);
#pragma omp parallel for schedule(dynamic, AT_ONCE) num_threads(renderer->ctx->threads)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        if (frame->batch_states[b] != OUTSIDE) draw_batch(points, &job->view, (uint32_t)b, frame->keys[layer], keys);
    }
    return MOTE_OK;
}

/* ---- samples */

void render_show_points_cpu(const mote_renderer *renderer, const render_job *job) {
    const render_points *points = &renderer->points;
    const render_frame *frame = renderer->frame;
    const render_samples *to = &frame->samples;
    const int64_t samples = (int64_t)job->view.width * job->view.height;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t i = 0; i < samples; i++) {
        render_show_point(&job->view, points, frame->keys[0][i], job->wants_normals, to, (uint64_t)i);
    }
}
