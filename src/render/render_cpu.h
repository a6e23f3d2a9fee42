/* Frames on CPU cores: their buffers, and the steps that fill them. */
#ifndef MOTE_RENDER_CPU_H
#define MOTE_RENDER_CPU_H

#include "render/points/render_depths.h"
#include "render/points/render_points_math.h"
#include "render/render_ops.h"
#include "render/shade/render_samples.h"
#include "render/splat/render_fragment_math.h"

/* What a frame sees, and the sizes of its arrays. */
typedef struct render_screen_cpu {
    render_screen screen;
    uint32_t count; /* seen points */
    uint64_t mask_capacity[MOTE_RENDER_MAX_LAYERS], first_capacity[MOTE_RENDER_MAX_LAYERS];
    uint64_t near_capacity, far_capacity, place_capacity, sample_capacity, at_capacity[3];
} render_screen_cpu;

/* Buffers of frames on the CPU. They only grow. */
typedef struct render_frame {
    uint64_t *keys[MOTE_RENDER_MAX_LAYERS];
    uint64_t keys_capacity[MOTE_RENDER_MAX_LAYERS];
    render_depths depths;
    uint8_t *batch_states;
    uint64_t batch_states_capacity;
    render_samples owned, samples; /* all arrays, and those that this frame needs */
    uint64_t depth_capacity, color_capacity, normal_capacity, index_capacity, value_capacity, edl_capacity,
        light_capacity;
    uint32_t *limits;        /* AVERAGE: how deep a sample's surface reaches */
    render_color_sums *sums; /* AVERAGE */
    uint8_t *holes;          /* [samples] 1: to be closed */
    uint8_t *bands;          /* [threads] what samples show, while holes are looked for: render_close_cpu.c */
    uint64_t limits_capacity, sums_capacity, holes_capacity, bands_capacity;
    render_screen_cpu screen;
    render_splat *splats; /* [front], of seen points: render_splat_math.h */
    uint64_t *tile_first; /* [tiles + 2] where the list of a tile begins */
    uint32_t *tile_splats;
    void *tiles; /* one for each thread */
    uint64_t splats_capacity, tile_first_capacity, tile_splats_capacity, tiles_capacity;
    render_value shown;
} render_frame;

/* Loops over splats go piece by piece, and those over samples row by row: between two pieces a thread asks whether to
   go on, which takes as long as some hundred bytes of work. */
#define RENDER_PIECE 4096
static inline int64_t render_piece_count(uint64_t count) {
    return (int64_t)((count + RENDER_PIECE - 1) / RENDER_PIECE);
}
static inline uint64_t render_piece_end(int64_t piece, uint64_t count) {
    const uint64_t end = ((uint64_t)piece + 1) * RENDER_PIECE;
    return end < count ? end : count;
}

/* ---- points/ */
mote_status render_load_cpu(mote_renderer *renderer);
mote_status render_set_colors_cpu(mote_renderer *renderer, const uint8_t *rgba, bool on_device);
mote_status render_set_normals_cpu(mote_renderer *renderer, const float *const normal[3], const float *spacing,
                                   bool on_device);
void render_drop_normals_cpu(mote_renderer *renderer);
/* Takes the cloud's own, if it has any. */
mote_status render_own_normals_cpu(mote_renderer *renderer);
void render_unload_points_cpu(mote_renderer *renderer);
/* Coordinates of a batch from the middle of its box: points->local. */
void render_shorten_batch(render_points *points, uint32_t b);

/* The nearest point of each sample: frame->keys[0]. What stands behind is left out. notes: batches that they are of are
   marked, for the next frame; else render_write_colors_cpu does it. */
mote_status render_find_nearest_cpu(mote_renderer *renderer, const render_job *job, bool notes,
                                    mote_render_result *result);
/* The nearest point behind that of a layer: frame->keys[layer + 1]. */
mote_status render_find_behind_cpu(mote_renderer *renderer, const render_job *job, uint32_t layer);
/* Fills frame->depths from frame->keys[0], or from frame->limits. */
mote_status render_measure_depths_cpu(mote_renderer *renderer, const render_view *view, bool of_limits);
/* Samples of the nearest points. */
mote_status render_show_points_cpu(const mote_renderer *renderer, const render_job *job);
/* Whether pixels are the points of frame->keys[0] in their own colours: then no samples are made of them. */
bool render_pixels_are_colors(const render_job *job, const mote_render_result *result);
/* Writes such pixels, and marks the batches that they show. */
mote_status render_write_colors_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result);
/* Samples of averages, from frame->keys[0]. */
mote_status render_average_cpu(mote_renderer *renderer, const render_job *job);

/* ---- screen/ */
/* Makes all layers, the quadtree over them, and the list of what they show. */
mote_status render_see_cpu(mote_renderer *renderer, const render_job *job);
/* The k nearest of each seen point into arrays that are there. */
mote_status render_find_neighbors_cpu(mote_renderer *renderer, uint32_t k, mote_render_neighbors *out);
void render_free_screen_cpu(mote_context *ctx, render_screen_cpu *screen);

/* ---- splat/ */
mote_status render_surface_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result);

/* ---- shade/ */
mote_status render_close_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result);
mote_status render_shade_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result);

#endif
