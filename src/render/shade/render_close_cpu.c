/* Closing holes on CPU cores. */
#include "render/render_cpu.h"
#include "render/shade/render_close_math.h"

mote_status render_close_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    render_frame *frame = renderer->frame;
    const render_view *view = &job->view;
    const int64_t samples = (int64_t)view->width * view->height;
    const uint32_t max = job->params->close_pixels * job->params->samples;
    uint64_t closed = 0;
    if (max == 0) return MOTE_OK;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->holes, &frame->holes_capacity, (uint64_t)samples, 1,
                              "frame")) {
        return MOTE_ERROR_MEMORY;
    }
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(+ : closed)
    for (int64_t i = 0; i < samples; i++) {
        frame->holes[i] = render_is_hole(view, frame->samples.depth, (uint64_t)i, max);
        closed += frame->holes[i];
    }
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t i = 0; i < samples; i++) {
        if (frame->holes[i] != 0) render_fill_hole(view, &frame->samples, frame->holes, (uint64_t)i, max);
    }
    result->closed = closed;
    return MOTE_OK;
}
