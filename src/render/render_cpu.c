/* Pictures on CPU cores: the steps of a frame. */
#include "render/render_cpu.h"

/* ---- buffers */

static bool reserve(mote_renderer *renderer, void **memory, uint64_t *capacity, uint64_t count,
                    uint64_t element_bytes) {
    return mote_reserve_scratch(renderer->ctx, memory, capacity, count, element_bytes, "frame");
}

/* Arrays of samples that the frame needs; what it does not need is kept, but NULL in frame->samples. */
static mote_status reserve_frame(mote_renderer *renderer, const render_job *job) {
    if (renderer->frame == NULL) renderer->frame = mote_alloc_zero(renderer->ctx, sizeof(render_frame), "frame");
    render_frame *frame = renderer->frame;
    if (frame == NULL) return MOTE_ERROR_MEMORY;
    const uint64_t samples = (uint64_t)job->view.width * job->view.height;
    render_samples *s = &frame->owned;
    const bool enough =
        reserve(renderer, (void **)&frame->keys[0], &frame->keys_capacity[0], samples, sizeof(uint64_t)) &&
        reserve(renderer, (void **)&frame->batch_states, &frame->batch_states_capacity, renderer->points.batch_count,
                1) &&
        reserve(renderer, (void **)&s->depth, &frame->depth_capacity, samples, sizeof(float)) &&
        reserve(renderer, (void **)&s->color, &frame->color_capacity, 4 * samples, sizeof(uint16_t)) &&
        reserve(renderer, (void **)&s->index, &frame->index_capacity, samples, sizeof(uint32_t)) &&
        (!job->wants_normals ||
         reserve(renderer, (void **)&s->normal, &frame->normal_capacity, 3 * samples, sizeof(float)));
    const bool values =
        !job->wants_values || reserve(renderer, (void **)&s->value, &frame->value_capacity, samples, sizeof(float));
    frame->shown = !job->wants_values                             ? RENDER_VALUE_NONE
                   : job->params->show == MOTE_RENDER_SHOW_RADIUS ? RENDER_VALUE_RADIUS
                                                                  : RENDER_VALUE_ITERATIONS;
    frame->samples = frame->owned;
    if (!job->wants_normals) frame->samples.normal = NULL;
    if (!job->wants_index) frame->samples.index = NULL;
    if (!job->wants_values) frame->samples.value = NULL;
    return enough && values ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void free_frame(mote_renderer *renderer) {
    render_frame *frame = renderer->frame;
    if (frame == NULL) return;
    for (uint32_t l = 0; l < MOTE_RENDER_MAX_LAYERS; l++) mote_free(renderer->ctx, frame->keys[l]);
    mote_free(renderer->ctx, frame->depths.farthest);
    mote_free(renderer->ctx, frame->batch_states);
    mote_free(renderer->ctx, frame->owned.depth);
    mote_free(renderer->ctx, frame->owned.color);
    mote_free(renderer->ctx, frame->owned.normal);
    mote_free(renderer->ctx, frame->owned.index);
    mote_free(renderer->ctx, frame->owned.value);
    mote_free(renderer->ctx, frame->owned.edl);
    mote_free(renderer->ctx, frame->owned.light);
    mote_free(renderer->ctx, frame->limits);
    mote_free(renderer->ctx, frame->sums);
    mote_free(renderer->ctx, frame->holes);
    mote_free(renderer->ctx, frame->bands);
    render_free_screen_cpu(renderer->ctx, &frame->screen);
    mote_free(renderer->ctx, frame->splats);
    mote_free(renderer->ctx, frame->tile_first);
    mote_free(renderer->ctx, frame->tile_splats);
    mote_free(renderer->ctx, frame->tiles);
    mote_free(renderer->ctx, frame);
    renderer->frame = NULL;
}

/* ---- table */

static mote_status cpu_make_samples(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    switch (job->params->mode) {
    case MOTE_RENDER_POINTS: return render_show_points_cpu(renderer, job);
    case MOTE_RENDER_SURFACE: return render_surface_cpu(renderer, job, result);
    default: return render_average_cpu(renderer, job);
    }
}

static mote_status cpu_draw(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    const bool are_colors = render_pixels_are_colors(job, result);
    MOTE_TRY(reserve_frame(renderer, job));
    mote_stage(renderer->ctx, "points");
    MOTE_TRY(mote_progress(renderer->ctx, 0, "drawing"));
    MOTE_TRY(render_find_nearest_cpu(renderer, job, !are_colors, result));
    MOTE_TRY(mote_progress(renderer->ctx, 0.4, "drawing"));
    if (!are_colors) MOTE_TRY(cpu_make_samples(renderer, job, result));
    MOTE_TRY(mote_progress(renderer->ctx, 0.8, "shading"));
    mote_stage(renderer->ctx, "shading");
    if (are_colors) {
        MOTE_TRY(render_write_colors_cpu(renderer, job, result));
    } else {
        MOTE_TRY(render_close_cpu(renderer, job, result));
        MOTE_TRY(render_shade_cpu(renderer, job, result));
    }
    return mote_progress(renderer->ctx, 1, "shading");
}

static mote_status cpu_find_neighbors(mote_renderer *renderer, const render_job *job, uint32_t k,
                                      mote_render_neighbors *out) {
    mote_render_result ignored;
    const render_frame *frame;
    MOTE_TRY(reserve_frame(renderer, job));
    frame = renderer->frame;
    mote_stage(renderer->ctx, "points");
    MOTE_TRY(mote_progress(renderer->ctx, 0, "drawing"));
    MOTE_TRY(render_find_nearest_cpu(renderer, job, true, &ignored));
    MOTE_TRY(render_see_cpu(renderer, job));
    MOTE_TRY(mote_progress(renderer->ctx, 0.5, "finding neighbours"));
    mote_stage(renderer->ctx, "neighbours");
    MOTE_TRY(render_reserve_neighbors(renderer->ctx, frame->screen.count, k, out));
    return render_find_neighbors_cpu(renderer, k, out);
}

static void cpu_unload(mote_renderer *renderer) {
    free_frame(renderer);
    render_unload_points_cpu(renderer);
}

const mote_render_ops mote_render_cpu = {render_load_cpu, render_set_colors_cpu, render_set_normals_cpu,
                                         cpu_draw,        cpu_find_neighbors,    cpu_unload};
