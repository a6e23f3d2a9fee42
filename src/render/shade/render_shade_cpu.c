/* Shading on CPU cores: samples become pixels of the caller's. */
#include "render/render_cpu.h"
#include "render/shade/render_look.h"
#include "render/shade/render_row_cpu.h"

static mote_status count_covered(const mote_renderer *renderer, const render_view *view, uint64_t *count) {
    const render_frame *frame = renderer->frame;
    uint64_t covered = 0;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(+ : covered)
    for (int64_t v = 0; v < (int64_t)view->height; v++) {
        const float *const depth = frame->samples.depth + (uint64_t)v * view->width;
        if (mote_stop(renderer->ctx)) continue;
        for (uint32_t u = 0; u < view->width; u++) covered += depth[u] < INFINITY;
    }
    *count = covered;
    return mote_stopped(renderer->ctx);
}

/* The scale of false colours, from the smallest to the largest value that the picture shows. */
static mote_status find_range(const mote_renderer *renderer, const float *values, render_look *look) {
    const render_frame *frame = renderer->frame;
    const uint64_t width = look->view.width;
    float min = INFINITY, max = -INFINITY;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(min : min) reduction(max : max)
    for (int64_t v = 0; v < (int64_t)look->view.height; v++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = (uint64_t)v * width; i < ((uint64_t)v + 1) * width; i++) {
            if (!(frame->samples.depth[i] < INFINITY)) continue;
            min = values[i] < min ? values[i] : min;
            max = values[i] > max ? values[i] : max;
        }
    }
    look->show_min = min;
    look->show_max = max;
    return mote_stopped(renderer->ctx);
}

/* Sums of whole steps: the same for any number of threads. */
static mote_status measure_errors(const mote_renderer *renderer, const render_look *look, mote_render_result *result) {
    const render_frame *frame = renderer->frame;
    const uint64_t width = look->view.width;
    uint64_t count = 0, sum = 0, squares = 0;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(+ : count, sum, squares)
    for (int64_t v = 0; v < (int64_t)look->view.height; v++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = (uint64_t)v * width; i < ((uint64_t)v + 1) * width; i++) {
            if (!(frame->samples.depth[i] < INFINITY)) continue;
            const float error = render_normal_error(look, &frame->samples, i);
            if (error < 0) continue;
            const uint64_t steps = (uint64_t)(error * RENDER_ERROR_STEPS);
            count++;
            sum += steps;
            squares += steps * steps;
        }
    }
    render_set_errors(count, sum, squares, result);
    return mote_stopped(renderer->ctx);
}

/* Eye-dome lighting of all samples. */
static mote_status light_samples(mote_renderer *renderer, const render_look *look, render_samples *samples) {
    render_frame *frame = renderer->frame;
    const int64_t width = look->view.width, height = look->view.height, count = width * height;
    samples->edl = samples->light = NULL;
    if (!(look->edl_strength > 0.0f) || look->show != MOTE_RENDER_SHOW_COLOR) return MOTE_OK;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->owned.edl, &frame->edl_capacity, (uint64_t)count,
                              sizeof(float), "frame") ||
        !mote_reserve_scratch(renderer->ctx, (void **)&frame->owned.light, &frame->light_capacity, (uint64_t)count,
                              sizeof(float), "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    samples->edl = frame->owned.edl;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t v = 0; v < height; v++) {
        if (mote_stop(renderer->ctx)) continue;
        render_compared_row(look, samples->depth + v * width, (uint32_t)width, samples->edl + v * width);
    }
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t v = 0; v < height; v++) {
        if (mote_stop(renderer->ctx)) continue;
        render_edl_row(look, samples, (uint32_t)v, frame->owned.light + v * width);
    }
    samples->light = frame->owned.light;
    return mote_stopped(renderer->ctx);
}

/* ---- pixels */

static bool is_empty(const render_look *look, const render_samples *samples, uint32_t x, uint32_t y) {
    const uint32_t side = look->samples;
    for (uint32_t s = 0; s < side * side; s++) {
        const uint64_t i = (uint64_t)(y * side + s / side) * look->view.width + x * side + s % side;
        if (samples->depth[i] < INFINITY) return false;
    }
    return true;
}

/* What pixels show, and what those that show nothing do. */
typedef struct pixel_rows {
    const render_look *look;
    const render_samples *samples;
    render_pixels all;
    bool plain, lit;
    uint8_t back8[4];
    uint16_t back16[4];
} pixel_rows;

static pixel_rows rows_of(const render_look *look, const render_samples *samples, const mote_render_result *result) {
    const render_pixels all = {result->color8, result->color16, result->depth, result->normal, result->index};
    const render_rgba nothing = {0.0f, 0.0f, 0.0f, 0.0f};
    pixel_rows rows = {.look = look, .samples = samples, .all = all};
    const render_pixels back = {rows.back8, rows.back16, NULL, NULL, NULL};
    rows.plain = render_is_plain(look, samples, &all);
    rows.lit = render_is_lit(look, samples, &all);
    render_write_color(look, nothing, &back, 0);
    return rows;
}

/* Colours of a row, except where a pixel is a sample without lamps. */
static void color_row(const pixel_rows *rows, uint32_t width, uint32_t y) {
    const render_pixels colors = {rows->all.color8, rows->all.color16, NULL, NULL, NULL};
    uint32_t x = 0;
    for (; rows->lit && colors.color8 != NULL && x + RENDER_LANES <= width; x += RENDER_LANES) {
        render_lit_pixels(rows->look, rows->samples, rows->back8, (uint64_t)y * width + x, colors.color8);
    }
    for (; x < width; x++) {
        const uint64_t pixel = (uint64_t)y * width + x;
        if (!is_empty(rows->look, rows->samples, x, y)) {
            render_write_pixel(rows->look, rows->samples, &colors, x, y);
            continue;
        }
        if (colors.color8 != NULL) memcpy(colors.color8 + 4 * pixel, rows->back8, sizeof rows->back8);
        if (colors.color16 != NULL) memcpy(colors.color16 + 4 * pixel, rows->back16, sizeof rows->back16);
    }
}

/* Depths and points of a row whose pixels are samples. */
static void copy_row(const pixel_rows *rows, uint32_t width, uint32_t y) {
    const uint64_t row = (uint64_t)y * width;
    const float *depth = rows->samples->depth + row;
    for (uint32_t x = 0; x < width && rows->all.depth != NULL; x++) {
        rows->all.depth[row + x] = depth[x] < INFINITY ? depth[x] : INFINITY;
    }
    if (rows->all.index == NULL) return;
    const uint32_t *index = rows->samples->index + row;
    for (uint32_t x = 0; x < width; x++) {
        rows->all.index[row + x] = depth[x] < INFINITY ? index[x] : MOTE_RENDER_NO_POINT;
    }
}

static void write_row(const pixel_rows *rows, uint32_t width, uint32_t y) {
    const bool single = rows->look->samples == 1;
    render_pixels others = {NULL, NULL, rows->all.depth, rows->all.normal, rows->all.index};
    if (rows->plain) render_plain_row(rows->look, rows->samples, rows->back8, y, rows->all.color8);
    if (!rows->plain && (rows->all.color8 != NULL || rows->all.color16 != NULL)) color_row(rows, width, y);
    if (single) {
        copy_row(rows, width, y);
        others.depth = NULL;
        others.index = NULL;
    }
    if (others.depth == NULL && others.normal == NULL && others.index == NULL) return;
    for (uint32_t x = 0; x < width; x++) render_write_pixel(rows->look, rows->samples, &others, x, y);
}

mote_status render_shade_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    const render_frame *frame = renderer->frame;
    render_samples samples = frame->samples;
    render_look look;
    if (!job->wants_normals) samples.normal = NULL;
    render_make_look(renderer, job, &look);
    if (look.show == MOTE_RENDER_SHOW_DEPTH && look.show_min == look.show_max) {
        MOTE_TRY(find_range(renderer, samples.depth, &look));
    }
    if (look.show == MOTE_RENDER_SHOW_RADIUS && look.show_min == look.show_max) {
        MOTE_TRY(find_range(renderer, samples.value, &look));
    }
    MOTE_TRY(light_samples(renderer, &look, &samples));
    const pixel_rows rows = rows_of(&look, &samples, result);
#pragma omp parallel for schedule(dynamic, 4) num_threads(renderer->ctx->threads)
    for (int64_t y = 0; y < (int64_t)job->part.height; y++) {
        if (!mote_stop(renderer->ctx)) write_row(&rows, job->part.width, (uint32_t)y);
    }
    MOTE_TRY(mote_stopped(renderer->ctx));
    MOTE_TRY(count_covered(renderer, &job->view, &result->covered));
    return look.show == MOTE_RENDER_SHOW_NORMAL_ERROR ? measure_errors(renderer, &look, result) : MOTE_OK;
}
