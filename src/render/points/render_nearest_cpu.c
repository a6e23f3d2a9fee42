/* The nearest point of each sample on CPU cores.

     batches ──▶ outside the picture: left out
             ──▶ drawn in the last frame: their points are projected first
             ──▶ the others: left out where their box is behind what stands there by then, else projected

   So what is left out is behind points of this very frame, and the picture is that of all points. */
#include "render/points/render_points_math.h"
#include "render/points/render_project_cpu.h"
#include "render/render_cpu.h"
#include "render/shade/render_look.h"

#define AT_ONCE 16 /* batches that a thread takes */
#define FEW     12 /* of 64 points: so few are projected one by one */
#define TRIES   2  /* blocks in a row of which short coordinates ruled few points out; then they are not asked again */

enum { OUTSIDE, DRAWN_BEFORE, NEW };

/* ---- points */

static void keep_min(uint64_t *key, uint64_t candidate) {
    uint64_t old = __atomic_load_n(key, __ATOMIC_RELAXED);
    while (candidate < old) {
        if (__atomic_compare_exchange_n(key, &old, candidate, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
}

/* What points are drawn into. before: keys of the layer in front, of which only points behind count; NULL: all do. */
typedef struct key_layer {
    const uint64_t *before;
    uint64_t *keys;
} key_layer;

static inline void draw_point(const render_points *points, uint32_t place, uint32_t sample, float depth,
                              const key_layer *to) {
    if (sample == RENDER_OUTSIDE) return;
    const uint64_t key = render_key(depth, place);
    if (key >= __atomic_load_n(&to->keys[sample], __ATOMIC_RELAXED)) return;
    if (to->before != NULL && render_key_depth(key) <= render_key_depth(to->before[sample])) return;
    if (points->color[place] == RENDER_NO_COLOR) return;
    keep_min(&to->keys[sample], key);
}

static void draw_block(const render_points *points, const render_view *view, uint32_t first, const key_layer *to) {
    render_projected block;
    render_project_block(view, points, first, &block);
    for (uint32_t i = 0; i < RENDER_PROJECTED; i++) {
        draw_point(points, first + i, block.sample[i], block.depth[i], to);
    }
}

/* Which points of a block short coordinates do not rule out. */
static uint32_t list_open(const render_points *points, const render_view *view, const render_short *s, uint32_t first,
                          const key_layer *to, uint8_t open[RENDER_PROJECTED]) {
    render_projected block;
    uint32_t count = 0;
    render_project_short(s, view->perspective, points, first, &block);
    for (uint32_t i = 0; i < RENDER_PROJECTED; i++) {
        const uint32_t sample = block.sample[i];
        if (sample == RENDER_OUTSIDE) continue;
        if (sample != RENDER_UNSURE && render_ordered_float(block.depth[i]) >
                                           render_key_depth(__atomic_load_n(&to->keys[sample], __ATOMIC_RELAXED))) {
            continue;
        }
        open[count++] = (uint8_t)i;
    }
    return count;
}

static void draw_batch(const render_points *points, const render_view *view, uint32_t b, const key_layer *to) {
    const render_short s = render_make_short(view, points->batches[b].min, points->batches[b].max);
    uint8_t open[RENDER_PROJECTED];
    uint32_t tries = points->shortened && s.usable != 0 ? TRIES : 0;
    for (uint32_t first = b * RENDER_BATCH; first < (b + 1) * RENDER_BATCH; first += RENDER_PROJECTED) {
        const uint32_t count = tries > 0 ? list_open(points, view, &s, first, to, open) : RENDER_PROJECTED;
        if (count > FEW) {
            draw_block(points, view, first, to);
            tries -= tries > 0;
            continue;
        }
        tries = TRIES;
        for (uint32_t j = 0; j < count; j++) {
            const uint32_t i = first + open[j];
            const render_place place = render_to_camera(view, points->at[0][i], points->at[1][i], points->at[2][i]);
            draw_point(points, i, render_sample_of(view, place), (float)place.z, to);
        }
    }
}

/* ---- what stands in front */

mote_status render_measure_depths_cpu(mote_renderer *renderer, const render_view *view, bool of_limits) {
    render_frame *frame = renderer->frame;
    render_depths *depths = &frame->depths;
    const uint64_t *keys = of_limits ? NULL : frame->keys[0];
    render_depths_size(view, depths);
    if (!mote_reserve_scratch(renderer->ctx, (void **)&depths->farthest, &depths->capacity, depths->total,
                              sizeof *depths->farthest, "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t level = 0; level < depths->level_count; level++) {
        uint32_t *to = depths->farthest + depths->first[level];
        const int64_t width = depths->width[level], height = depths->height[level];
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
        for (int64_t y = 0; y < height; y++) {
            if (mote_stop(renderer->ctx)) continue;
            for (int64_t x = 0; x < width; x++) {
                to[y * width + x] = level == 0
                                        ? render_farthest_of_square(view, keys, frame->limits, (uint32_t)x, (uint32_t)y)
                                        : render_farthest_of_four(depths, level - 1, (uint32_t)x, (uint32_t)y);
            }
        }
        MOTE_TRY(mote_stopped(renderer->ctx));
    }
    return MOTE_OK;
}

/* ---- batches */

static mote_status clear_keys(const mote_renderer *renderer, const render_view *view, uint64_t *keys) {
    const uint64_t width = view->width;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t v = 0; v < (int64_t)view->height; v++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t u = 0; u < width; u++) keys[(uint64_t)v * width + u] = RENDER_NO_KEY;
    }
    return mote_stopped(renderer->ctx);
}

/* A first frame has nothing to rule points out by. */
static mote_status shorten_points(mote_renderer *renderer) {
    render_points *points = &renderer->points;
    if (points->shortened) return MOTE_OK;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        if (!mote_stop(renderer->ctx)) render_shorten_batch(points, (uint32_t)b);
    }
    MOTE_TRY(mote_stopped(renderer->ctx));
    points->shortened = true;
    return MOTE_OK;
}

/* Draws those that the last frame shows, and sorts out the others. In the first frame all are drawn. */
static mote_status draw_known(mote_renderer *renderer, const render_view *view, uint64_t *count) {
    const render_points *points = &renderer->points;
    render_frame *frame = renderer->frame;
    const key_layer to = {NULL, frame->keys[0]};
    uint64_t known = 0, drawn = 0;
    for (uint32_t b = 0; b < points->batch_count; b++) known += points->batches[b].drawn;
    if (known > 0) MOTE_TRY(shorten_points(renderer));
#pragma omp parallel for schedule(dynamic, AT_ONCE) num_threads(renderer->ctx->threads) reduction(+ : drawn)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        const render_batch *batch = &points->batches[b];
        const render_reach reach = render_box_reach(view, batch->min, batch->max);
        frame->batch_states[b] = reach.outside ? OUTSIDE : known == 0 || batch->drawn != 0 ? DRAWN_BEFORE : NEW;
        if (frame->batch_states[b] != DRAWN_BEFORE || mote_stop(renderer->ctx)) continue;
        draw_batch(points, view, (uint32_t)b, &to);
        drawn++;
    }
    *count = drawn;
    return mote_stopped(renderer->ctx);
}

static mote_status draw_new(mote_renderer *renderer, const render_view *view, uint64_t *count) {
    const render_points *points = &renderer->points;
    render_frame *frame = renderer->frame;
    const key_layer to = {NULL, frame->keys[0]};
    uint64_t drawn = 0;
#pragma omp parallel for schedule(dynamic, AT_ONCE) num_threads(renderer->ctx->threads) reduction(+ : drawn)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        if (frame->batch_states[b] != NEW || mote_stop(renderer->ctx)) continue;
        const render_reach reach = render_box_reach(view, points->batches[b].min, points->batches[b].max);
        if (render_is_behind(&frame->depths, &reach)) continue;
        draw_batch(points, view, (uint32_t)b, &to);
        drawn++;
    }
    *count += drawn;
    return mote_stopped(renderer->ctx);
}

/* Notes for the next frame whose points this one shows. */
static inline void note_batch(render_points *points, uint64_t key) {
    uint32_t *drawn = &points->batches[(uint32_t)key / RENDER_BATCH].drawn;
    if (__atomic_load_n(drawn, __ATOMIC_RELAXED) == 0) __atomic_store_n(drawn, 1, __ATOMIC_RELAXED);
}

static mote_status note_drawn(mote_renderer *renderer, const render_view *view) {
    const render_frame *frame = renderer->frame;
    const uint64_t width = view->width;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t v = 0; v < (int64_t)view->height; v++) {
        const uint64_t *const keys = frame->keys[0] + (uint64_t)v * width;
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t u = 0; u < width; u++) {
            if (keys[u] != RENDER_NO_KEY) note_batch(&renderer->points, keys[u]);
        }
    }
    return mote_stopped(renderer->ctx);
}

mote_status render_find_nearest_cpu(mote_renderer *renderer, const render_job *job, bool notes,
                                    mote_render_result *result) {
    render_frame *frame = renderer->frame;
    MOTE_TRY(clear_keys(renderer, &job->view, frame->keys[0]));
    result->batches = renderer->points.batch_count;
    MOTE_TRY(draw_known(renderer, &job->view, &result->batches_drawn));
    if (result->batches_drawn < result->batches) {
        MOTE_TRY(render_measure_depths_cpu(renderer, &job->view, false));
        MOTE_TRY(draw_new(renderer, &job->view, &result->batches_drawn));
    }
    for (uint32_t b = 0; b < renderer->points.batch_count; b++) renderer->points.batches[b].drawn = 0;
    return notes ? note_drawn(renderer, &job->view) : MOTE_OK;
}

mote_status render_find_behind_cpu(mote_renderer *renderer, const render_job *job, uint32_t layer) {
    const render_points *points = &renderer->points;
    render_frame *frame = renderer->frame;
    const uint64_t samples = (uint64_t)job->view.width * job->view.height;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->keys[layer + 1], &frame->keys_capacity[layer + 1],
                              samples, sizeof(uint64_t), "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    const key_layer to = {frame->keys[layer], frame->keys[layer + 1]};
    MOTE_TRY(clear_keys(renderer, &job->view, to.keys));
#pragma omp parallel for schedule(dynamic, AT_ONCE) num_threads(renderer->ctx->threads)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        if (frame->batch_states[b] == OUTSIDE || mote_stop(renderer->ctx)) continue;
        draw_batch(points, &job->view, (uint32_t)b, &to);
    }
    return mote_stopped(renderer->ctx);
}

/* ---- samples */

static void show_row(const mote_renderer *renderer, const render_job *job, const uint64_t *keys, uint32_t v) {
    const render_frame *frame = renderer->frame;
    const bool is_disc = job->point_radius >= 1, wants_normals = job->wants_normals;
    const uint64_t first = (uint64_t)v * job->view.width, end = first + job->view.width;
    for (uint64_t i = first; i < end; i++) {
        const uint64_t key = is_disc ? render_key_around(&job->view, keys, job->point_radius, i) : keys[i];
        render_show_point(&job->view, &renderer->points, key, wants_normals, &frame->samples, i);
    }
}

mote_status render_show_points_cpu(const mote_renderer *renderer, const render_job *job) {
    const render_frame *frame = renderer->frame;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t v = 0; v < (int64_t)job->view.height; v++) {
        if (!mote_stop(renderer->ctx)) show_row(renderer, job, frame->keys[0], (uint32_t)v);
    }
    return mote_stopped(renderer->ctx);
}

/* ---- pixels */

bool render_pixels_are_colors(const render_job *job, const mote_render_result *result) {
    return render_pixels_are_points(job) && job->params->mode == MOTE_RENDER_POINTS && job->point_radius < 1 &&
           !job->wants_normals && result->color16 == NULL;
}

/* Pixels of a row; returns how many show something. */
static uint64_t write_row(mote_renderer *renderer, const uint64_t *keys, uint32_t width, uint32_t back, uint64_t first,
                          const mote_render_result *to) {
    render_points *points = &renderer->points;
    uint64_t covered = 0;
    for (uint64_t i = first; i < first + width; i++) {
        const uint64_t key = keys[i];
        const bool empty = key == RENDER_NO_KEY;
        const uint32_t color = empty ? back : points->color[(uint32_t)key];
        if (to->color8 != NULL) memcpy(to->color8 + 4 * i, &color, sizeof color);
        if (to->depth != NULL) to->depth[i] = empty ? INFINITY : render_float_of_ordered(render_key_depth(key));
        if (to->index != NULL) to->index[i] = empty ? MOTE_RENDER_NO_POINT : render_row(points, (uint32_t)key);
        if (empty) continue;
        note_batch(points, key);
        covered++;
    }
    return covered;
}

mote_status render_write_colors_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    const render_frame *frame = renderer->frame;
    const uint32_t width = job->view.width;
    const render_rgba nothing = {0.0f, 0.0f, 0.0f, 0.0f};
    uint8_t back8[4];
    const render_pixels behind = {back8, NULL, NULL, NULL, NULL};
    render_look look;
    uint64_t covered = 0;
    uint32_t back;
    render_make_look(renderer, job, &look);
    render_write_color(&look, nothing, &behind, 0);
    memcpy(&back, back8, sizeof back);
#pragma omp parallel for schedule(dynamic, 4) num_threads(renderer->ctx->threads) reduction(+ : covered)
    for (int64_t y = 0; y < (int64_t)job->view.height; y++) {
        if (mote_stop(renderer->ctx)) continue;
        covered += write_row(renderer, frame->keys[0], width, back, (uint64_t)y * width, result);
    }
    result->covered = covered;
    return mote_stopped(renderer->ctx);
}
