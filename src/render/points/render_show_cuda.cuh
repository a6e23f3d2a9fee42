/* What a sample of a frame of points, or of averages, shows, for the two kernels that ask: one writes samples, for
   those that look at their neighbours later, the other writes pixels at once. */
#ifndef MOTE_RENDER_SHOW_CUH
#define MOTE_RENDER_SHOW_CUH

#include "device/cuda/cuda_kernel.cuh"
#include "render/points/render_points_math.h"
#include "render/render_cuda.h"

/* What the samples of a frame are made of. */
typedef struct render_shown {
    render_view view;
    render_points points;
    const uint64_t *keys;
    const render_color_sums *sums; /* of averages, or NULL */
    double radius;                 /* of discs, samples */
    uint8_t number;                /* of the frame, which marks the batches that it shows */
    bool normals, indices;         /* which are asked for */
} render_shown;

/* One sample, in registers. */
typedef struct render_shown_sample {
    float depth, normal[3];
    uint32_t index;
    uint16_t color[4];
} render_shown_sample;

static inline render_shown render_what_is_shown(const mote_renderer *renderer, const render_job *job) {
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    const render_color_sums *sums = job->params->mode == MOTE_RENDER_AVERAGE ? frame->color_sums : NULL;
    const render_shown shown = {job->view,         renderer->points, frame->keys[0],     sums,
                                job->point_radius, frame->number,    job->wants_normals, job->wants_index};
    return shown;
}

/* Marks the batch of what a sample shows. */
static __device__ __forceinline__ void render_note_batch(const render_points *points, uint64_t key, uint8_t number) {
    if (key != RENDER_NO_KEY) points->batch_shown[(uint32_t)key / RENDER_BATCH] = number;
}

/* Sample i; marks its batch, too. */
static __device__ __forceinline__ render_shown_sample render_show_sample(const render_shown *shown, uint64_t i) {
    const uint64_t own = shown->keys[i];
    const uint64_t key = shown->radius >= 1 ? render_key_around(&shown->view, shown->keys, shown->radius, i) : own;
    render_shown_sample sample;
    const render_samples here = {&sample.depth, sample.color, sample.normal, shown->indices ? &sample.index : NULL,
                                 NULL,          NULL,         NULL};
    render_note_batch(&shown->points, own, shown->number);
    render_show_point(&shown->view, &shown->points, key, shown->normals, &here, 0);
    if (shown->sums != NULL && key != RENDER_NO_KEY) render_show_average(&shown->sums[i], sample.color);
    return sample;
}

#endif
