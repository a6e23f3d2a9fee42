/* Shading on CPU cores: samples become pixels of the caller's. */
#include "render/render_cpu.h"
#include "render/shade/render_look.h"

static uint64_t count_covered(const mote_renderer *renderer, const render_view *view) {
    const render_frame *frame = renderer->frame;
    const int64_t samples = (int64_t)view->width * view->height;
    uint64_t covered = 0;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(+ : covered)
    for (int64_t i = 0; i < samples; i++) covered += frame->samples.depth[i] < INFINITY;
    return covered;
}

/* The scale of false colours, from the smallest to the largest value that the picture shows. */
static void find_range(const mote_renderer *renderer, const float *values, render_look *look) {
    const render_frame *frame = renderer->frame;
    const int64_t samples = (int64_t)look->view.width * look->view.height;
    float min = INFINITY, max = -INFINITY;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(min : min) reduction(max : max)
    for (int64_t i = 0; i < samples; i++) {
        if (!(frame->samples.depth[i] < INFINITY)) continue;
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    look->show_min = min;
    look->show_max = max;
}

/* Sums of whole steps: the same for any number of threads. */
static void measure_errors(const mote_renderer *renderer, const render_look *look, mote_render_result *result) {
    const render_frame *frame = renderer->frame;
    const int64_t samples = (int64_t)look->view.width * look->view.height;
    uint64_t count = 0, sum = 0, squares = 0;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(+ : count, sum, squares)
    for (int64_t i = 0; i < samples; i++) {
        if (!(frame->samples.depth[i] < INFINITY)) continue;
        const float error = render_normal_error(look, &frame->samples, (uint64_t)i);
        if (error < 0) continue;
        const uint64_t steps = (uint64_t)(error * RENDER_ERROR_STEPS);
        count++;
        sum += steps;
        squares += steps * steps;
    }
    render_set_errors(count, sum, squares, result);
}

/* Logarithms of all depths, each of which nine samples compare. */
static mote_status prepare_edl(mote_renderer *renderer, const render_look *look, render_samples *samples) {
    render_frame *frame = renderer->frame;
    const int64_t count = (int64_t)look->view.width * look->view.height;
    samples->edl = NULL;
    if (!(look->edl_strength > 0.0f) || look->show != MOTE_RENDER_SHOW_COLOR || look->edl_scale > 0.0f) return MOTE_OK;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->owned.edl, &frame->edl_capacity, (uint64_t)count,
                              sizeof(float), "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    samples->edl = frame->owned.edl;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t i = 0; i < count; i++) samples->edl[i] = render_edl_depth(look, samples->depth[i]);
    return MOTE_OK;
}

mote_status render_shade_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    const render_frame *frame = renderer->frame;
    render_samples samples = frame->samples;
    render_look look;
    const render_pixels to = {result->color8, result->color16, result->depth, result->normal, result->index};
    if (!job->wants_normals) samples.normal = NULL;
    render_make_look(renderer, job, &look);
    if (look.show == MOTE_RENDER_SHOW_DEPTH && look.show_min == look.show_max) {
        find_range(renderer, samples.depth, &look);
    }
    if (look.show == MOTE_RENDER_SHOW_RADIUS && look.show_min == look.show_max) {
        find_range(renderer, samples.value, &look);
    }
    MOTE_TRY(prepare_edl(renderer, &look, &samples));
#pragma omp parallel for schedule(dynamic, 4) num_threads(renderer->ctx->threads)
    for (int64_t y = 0; y < (int64_t)job->part.height; y++) {
        for (uint32_t x = 0; x < job->part.width; x++) render_write_pixel(&look, &samples, &to, x, (uint32_t)y);
    }
    result->covered = count_covered(renderer, &job->view);
    if (look.show == MOTE_RENDER_SHOW_NORMAL_ERROR) measure_errors(renderer, &look, result);
    return MOTE_OK;
}
