/* Frames on a GPU: their buffers in device memory, and the steps that fill them. */
#ifndef MOTE_RENDER_CUDA_H
#define MOTE_RENDER_CUDA_H

#include "device/cuda/cuda.h"
#include "render/points/render_depths.h"
#include "render/points/render_points_math.h"
#include "render/render_ops.h"
#include "render/screen/render_screen_math.h"
#include "render/shade/render_samples.h"
#include "render/splat/render_fragment_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory that only grows. */
typedef struct render_buffer {
    void *memory;
    uint64_t size_bytes;
} render_buffer;

/* Lists of batches of a frame; then those of layers, or of averages. */
enum {
    RENDER_LIST_KNOWN,
    RENDER_LIST_OTHERS,
    RENDER_LIST_MORE,
    RENDER_LIST_AGAIN = RENDER_LIST_MORE + MOTE_RENDER_MAX_LAYERS, /* the known ones, for layers */
    RENDER_LISTS = RENDER_LIST_AGAIN + MOTE_RENDER_MAX_LAYERS
};

/* What kernels count, and the host is told at the end of a frame. */
typedef struct render_counters {
    uint32_t listed[RENDER_LISTS][2]; /* batches: without a patch, with one */
    uint32_t taken[RENDER_LISTS];     /* items of their work, after the first one of each warp */
    uint32_t deferred;                /* seen points that have a warp each */
    uint32_t deferred_taken;
    unsigned long long covered, closed, splats, iterations;
    unsigned long long tiles;                            /* of all splats */
    unsigned long long errors, error_sum, error_squares; /* of normals */
    uint32_t min_value, max_value;                       /* of false colours, as ordered integers */
} render_counters;

/* Batches whose points are projected. Those without a patch, which take longer, are done first.

     place   0   1   2   …                    …   capacity - 2   capacity - 1
             without a patch ──▶                           ◀── with one */
typedef struct render_list {
    uint32_t *batches;
    struct render_steps *steps; /* of render_steps_cuda.cuh: how the frame sees them */
    uint32_t capacity;
    uint32_t *counts, *taken; /* [2] and one, in device memory: of render_counters */
} render_list;

/* Sums of a sample, as atomics add them. */
typedef struct render_sums_cuda {
    unsigned long long weight, color[3], normal[3], depth;
} render_sums_cuda;

/* What frames keep from one to the next, in device memory except where it says otherwise. */
typedef struct render_frame_cuda {
    uint8_t number; /* of the frame, 1 to 255 and again: batches that show something are marked with it; 0: none yet */
    render_counters *counters;
    uint64_t *keys[MOTE_RENDER_MAX_LAYERS]; /* [samples] the nearest point of each, of each layer */
    uint8_t *batch_states;                  /* [batches] see render_nearest_cuda.cu */
    render_list known, others;              /* batches that the last frame showed; others that are not hidden */
    render_depths depths;
    render_samples samples;
    uint32_t *limits; /* AVERAGE, SURFACE: of depth, as ordered integers */
    render_color_sums *color_sums;
    render_screen screen;
    uint32_t seen_count, front_count; /* seen points, and those in front */
    uint32_t *near, *found;           /* [k · front], [front]: neighbours, see render_splat_cuda.cu */
    uint32_t *deferred;               /* [front] numbers of those that have a warp each */
    render_splat *splats;             /* [front] */
    render_sums_cuda *sums;
    uint8_t *holes;
    render_value shown;
    render_buffer buffers[48];
    uint32_t buffer_count; /* that this frame has asked for */
} render_frame_cuda;

/* The next buffer of a frame, of at least so many bytes: frames of one kind ask for the same in the same order. NULL:
   no memory. */
void *render_buffer_of(mote_renderer *renderer, uint64_t size_bytes);

/* Which of the lists of a frame it is. */
static inline void render_begin_list(const render_frame_cuda *frame, uint32_t number, render_list *list) {
    list->counts = frame->counters->listed[number];
    list->taken = &frame->counters->taken[number];
}

/* ---- points/ */
mote_status render_load_cuda(mote_renderer *renderer);
mote_status render_set_colors_cuda(mote_renderer *renderer, const uint8_t *rgba, bool on_device);
mote_status render_set_normals_cuda(mote_renderer *renderer, const float *const normal[3], const float *spacing,
                                    bool on_device);
void render_unload_points_cuda(mote_renderer *renderer);
mote_status render_find_nearest_cuda(mote_renderer *renderer, const render_job *job);
mote_status render_find_behind_cuda(mote_renderer *renderer, const render_job *job, uint32_t layer);
/* Marks the batches that the frame shows; render_show_points_cuda does, too. */
mote_status render_note_shown_cuda(mote_renderer *renderer, const render_view *view);
/* sums: of averages, or NULL: the nearest points. */
mote_status render_show_points_cuda(mote_renderer *renderer, const render_job *job);
mote_status render_average_cuda(mote_renderer *renderer, const render_job *job);
/* frame->others: the batches that are not behind frame->limits. */
mote_status render_list_within_cuda(mote_renderer *renderer, const render_view *view);
/* Fills frame->depths from a layer's keys, or, if these are NULL, from frame->limits. */
mote_status render_measure_depths_cuda(mote_renderer *renderer, const render_view *view, const uint64_t *keys);

/* ---- screen/ */
mote_status render_see_cuda(mote_renderer *renderer, const render_job *job);
mote_status render_find_neighbors_cuda(mote_renderer *renderer, uint32_t k, mote_render_neighbors *out);

/* ---- splat/ */
mote_status render_surface_cuda(mote_renderer *renderer, const render_job *job);

/* ---- shade/ */
mote_status render_close_cuda(mote_renderer *renderer, const render_job *job);
mote_status render_shade_cuda(mote_renderer *renderer, const render_job *job, mote_render_result *result);

#ifdef __cplusplus
}
#endif
#endif
