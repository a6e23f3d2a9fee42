/* Pictures on a GPU: buffers, and the steps of a frame. */
#include "render/render_cuda.h"

#include "device/cuda/cuda_kernel.cuh"
#include "render/points/render_steps_cuda.cuh"
#include "render/shade/render_look.h"

/* ---- buffers */

void *render_buffer_of(mote_renderer *renderer, uint64_t size_bytes) {
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    render_buffer *buffer = &frame->buffers[frame->buffer_count++];
    if (buffer->memory != NULL && buffer->size_bytes >= size_bytes) return buffer->memory;
    cuda_free(renderer->device, buffer->memory);
    buffer->memory = cuda_alloc(renderer->device, size_bytes, "frame");
    buffer->size_bytes = buffer->memory != NULL ? size_bytes : 0;
    return buffer->memory;
}

/* What every frame needs; first of all, so that frames of all kinds share these buffers. */
static mote_status open_frame(mote_renderer *renderer, const render_job *job) {
    if (renderer->frame == NULL) renderer->frame = mote_alloc_zero(renderer->ctx, sizeof(render_frame_cuda), "frame");
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    if (frame == NULL) return MOTE_ERROR_MEMORY;
    const uint64_t samples = (uint64_t)job->view.width * job->view.height, batches = renderer->points.batch_count;
    frame->buffer_count = 0;
    frame->counters = (render_counters *)render_buffer_of(renderer, sizeof(render_counters));
    frame->keys[0] = (uint64_t *)render_buffer_of(renderer, samples * sizeof(uint64_t));
    frame->batch_states = (uint8_t *)render_buffer_of(renderer, batches);
    frame->known.batches = (uint32_t *)render_buffer_of(renderer, batches * sizeof(uint32_t));
    frame->others.batches = (uint32_t *)render_buffer_of(renderer, batches * sizeof(uint32_t));
    frame->known.steps = (render_steps *)render_buffer_of(renderer, batches * sizeof(render_steps));
    frame->others.steps = (render_steps *)render_buffer_of(renderer, batches * sizeof(render_steps));
    frame->samples.depth = (float *)render_buffer_of(renderer, samples * sizeof(float));
    frame->samples.color = (uint16_t *)render_buffer_of(renderer, 4 * samples * sizeof(uint16_t));
    frame->samples.index = job->wants_index ? (uint32_t *)render_buffer_of(renderer, samples * sizeof(uint32_t)) : NULL;
    frame->samples.normal =
        job->wants_normals ? (float *)render_buffer_of(renderer, 3 * samples * sizeof(float)) : NULL;
    frame->samples.value = job->wants_values ? (float *)render_buffer_of(renderer, samples * sizeof(float)) : NULL;
    frame->limits = job->params->mode != MOTE_RENDER_POINTS
                        ? (uint32_t *)render_buffer_of(renderer, samples * sizeof(uint32_t))
                        : NULL;
    frame->shown = !job->wants_values                             ? RENDER_VALUE_NONE
                   : job->params->show == MOTE_RENDER_SHOW_RADIUS ? RENDER_VALUE_RADIUS
                                                                  : RENDER_VALUE_ITERATIONS;
    for (uint32_t b = 0; b < frame->buffer_count; b++) {
        if (frame->buffers[b].memory == NULL) return MOTE_ERROR_MEMORY;
    }
    frame->known.capacity = frame->others.capacity = (uint32_t)batches;
    render_begin_list(frame, RENDER_LIST_KNOWN, &frame->known);
    render_begin_list(frame, RENDER_LIST_OTHERS, &frame->others);
    return cuda_fill(renderer->device, frame->counters, 0, sizeof *frame->counters);
}

static void free_frame(mote_renderer *renderer) {
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    if (frame == NULL) return;
    for (uint32_t b = 0; b < sizeof frame->buffers / sizeof frame->buffers[0]; b++) {
        cuda_free(renderer->device, frame->buffers[b].memory);
    }
    mote_free(renderer->ctx, frame);
    renderer->frame = NULL;
}

/* ---- table */

static mote_status draw_mode(mote_renderer *renderer, const render_job *job) {
    switch (job->params->mode) {
    case MOTE_RENDER_POINTS: return render_show_points_cuda(renderer, job);
    case MOTE_RENDER_SURFACE: return render_surface_cuda(renderer, job);
    default: return render_average_cuda(renderer, job);
    }
}

/* Waits: the facts of a frame are for the host. */
static mote_status tell_counters(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    render_counters counters;
    MOTE_TRY(cuda_download(renderer->device, &counters, frame->counters, sizeof counters));
    result->covered = counters.covered;
    result->closed = counters.closed;
    result->batches = renderer->points.batch_count;
    result->batches_drawn = 0;
    for (int list = RENDER_LIST_KNOWN; list <= RENDER_LIST_OTHERS; list++) {
        result->batches_drawn += (uint64_t)counters.listed[list][0] + counters.listed[list][1];
    }
    if (job->params->mode == MOTE_RENDER_SURFACE) {
        result->seen = frame->seen_count;
        result->splats = counters.splats;
        const uint32_t front = frame->front_count;
        result->iterations = front > 0 ? (double)counters.iterations / (double)front : 0;
    }
    if (job->params->show == MOTE_RENDER_SHOW_NORMAL_ERROR) {
        render_set_errors(counters.errors, counters.error_sum, counters.error_squares, result);
    }
    return MOTE_OK;
}

static mote_status cuda_draw(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    mote_stage(renderer->ctx, "points");
    MOTE_TRY(open_frame(renderer, job));
    MOTE_TRY(mote_progress(renderer->ctx, 0, "drawing"));
    MOTE_TRY(render_find_nearest_cuda(renderer, job));
    MOTE_TRY(mote_progress(renderer->ctx, 0.4, "drawing"));
    MOTE_TRY(draw_mode(renderer, job));
    MOTE_TRY(mote_progress(renderer->ctx, 0.8, "shading"));
    mote_stage(renderer->ctx, "shading");
    MOTE_TRY(render_close_cuda(renderer, job));
    MOTE_TRY(render_shade_cuda(renderer, job, result));
    MOTE_TRY(tell_counters(renderer, job, result));
    return mote_progress(renderer->ctx, 1, "shading");
}

static mote_status cuda_find_neighbors(mote_renderer *renderer, const render_job *job, uint32_t k,
                                       mote_render_neighbors *out) {
    MOTE_TRY(open_frame(renderer, job));
    mote_stage(renderer->ctx, "points");
    MOTE_TRY(mote_progress(renderer->ctx, 0, "drawing"));
    MOTE_TRY(render_find_nearest_cuda(renderer, job));
    MOTE_TRY(render_see_cuda(renderer, job));
    MOTE_TRY(mote_progress(renderer->ctx, 0.5, "finding neighbours"));
    mote_stage(renderer->ctx, "neighbours");
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    MOTE_TRY(render_reserve_neighbors(renderer->ctx, frame->seen_count, k, out));
    return render_find_neighbors_cuda(renderer, k, out);
}

static void cuda_unload(mote_renderer *renderer) {
    free_frame(renderer);
    render_unload_points_cuda(renderer);
}

extern "C" const mote_render_ops mote_render_on_cuda = {
    render_load_cuda, render_set_colors_cuda, render_set_normals_cuda, cuda_draw, cuda_find_neighbors, cuda_unload};
