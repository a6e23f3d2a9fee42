/* Averages on CPU cores: all points of a sample that are not farther than its nearest and a tolerance. */
#include "render/points/render_project_cpu.h"
#include "render/render_cpu.h"

#define AT_ONCE 16 /* batches that a thread takes */

static mote_status reserve_sums(mote_renderer *renderer, uint64_t samples) {
    render_frame *frame = renderer->frame;
    const bool enough = mote_reserve_scratch(renderer->ctx, (void **)&frame->limits, &frame->limits_capacity, samples,
                                             sizeof *frame->limits, "frame") &&
                        mote_reserve_scratch(renderer->ctx, (void **)&frame->sums, &frame->sums_capacity, samples,
                                             sizeof *frame->sums, "frame");
    return enough ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status set_limits(mote_renderer *renderer, const render_job *job) {
    render_frame *frame = renderer->frame;
    const uint64_t width = job->view.width;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t v = 0; v < (int64_t)job->view.height; v++) {
        const uint64_t first = (uint64_t)v * width;
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = first; i < first + width; i++) {
            frame->limits[i] =
                render_average_limit(&job->view, &renderer->points, frame->keys[0][i], job->params->tolerance);
        }
        memset(frame->sums + first, 0, width * sizeof *frame->sums);
    }
    return mote_stopped(renderer->ctx);
}

static void add_batch(const render_points *points, const render_view *view, uint32_t b, const render_frame *frame) {
    render_projected block;
    for (uint32_t first = b * RENDER_BATCH; first < (b + 1) * RENDER_BATCH; first += RENDER_PROJECTED) {
        render_project_block(view, points, first, &block);
        for (uint32_t i = 0; i < RENDER_PROJECTED; i++) {
            const uint32_t sample = block.sample[i];
            if (sample == RENDER_OUTSIDE || render_ordered_float(block.depth[i]) > frame->limits[sample]) continue;
            const uint32_t color = points->color[first + i];
            if (color == RENDER_NO_COLOR) continue;
            render_color_sums *sums = &frame->sums[sample];
            for (int c = 0; c < 3; c++) {
                __atomic_fetch_add(&sums->color[c], color >> 8 * c & 255u, __ATOMIC_RELAXED);
            }
            __atomic_fetch_add(&sums->count, 1, __ATOMIC_RELAXED);
        }
    }
}

mote_status render_average_cpu(mote_renderer *renderer, const render_job *job) {
    const render_points *points = &renderer->points;
    render_frame *frame = renderer->frame;
    const uint64_t width = job->view.width;
    MOTE_TRY(reserve_sums(renderer, width * job->view.height));
    MOTE_TRY(set_limits(renderer, job));
    MOTE_TRY(render_measure_depths_cpu(renderer, &job->view, true));
#pragma omp parallel for schedule(dynamic, AT_ONCE) num_threads(renderer->ctx->threads)
    for (int64_t b = 0; b < (int64_t)points->batch_count; b++) {
        if (mote_stop(renderer->ctx)) continue;
        const render_batch *batch = &points->batches[b];
        const render_reach reach = render_box_reach(&job->view, batch->min, batch->max);
        if (reach.outside || render_is_behind(&frame->depths, &reach)) continue;
        add_batch(points, &job->view, (uint32_t)b, frame);
    }
    MOTE_TRY(mote_stopped(renderer->ctx));
    MOTE_TRY(render_show_points_cpu(renderer, job));
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads)
    for (int64_t v = 0; v < (int64_t)job->view.height; v++) {
        const uint64_t first = (uint64_t)v * width;
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = first; i < first + width; i++) {
            render_show_average(&frame->sums[i], frame->samples.color + 4 * i);
        }
    }
    return mote_stopped(renderer->ctx);
}
