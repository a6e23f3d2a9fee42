/* The nearest point of each sample on a GPU, and averages: a block of threads for each batch; see render_nearest_cpu.c
   for which batches are drawn when. */
#include "device/cuda/warp.cuh"
#include "render/render_cuda.h"

#define THREADS      256u
#define LAST_THREADS 512u  /* of the one block that makes the last levels of depths */
#define LAST_SQUARES 4096u /* of the largest of these */

enum { OUTSIDE, DRAWN_BEFORE, NEW };

static uint64_t samples_of(const render_view *view) { return (uint64_t)view->width * view->height; }

/* ---- which batches */

static __global__ void count_known(render_points points, render_counters *counters) {
    const uint32_t b = blockIdx.x * THREADS + threadIdx.x;
    const uint32_t lanes = __ballot_sync(CUDA_ALL, b < points.batch_count && points.batches[b].drawn != 0);
    if (warp_lane() == 0 && lanes != 0) atomicAdd(&counters->known, (unsigned long long)__popc(lanes));
}

static __device__ __forceinline__ void list_batch(const render_points *points, const render_view *view, uint32_t b,
                                                  uint32_t place, const render_list *list) {
    list->batches[place] = b;
    list->shorts[place] = render_make_short(view, points->batches[b].min, points->batches[b].max);
}

/* Batches in the picture: those that the last frame shows go to known, the others are marked NEW. */
static __global__ void sort_batches(render_points points, render_view view, const render_counters *counters,
                                    uint8_t *states, render_list known) {
    const uint32_t b = blockIdx.x * THREADS + threadIdx.x;
    bool drawn = false;
    if (b < points.batch_count) {
        const render_batch *batch = &points.batches[b];
        const render_reach reach = render_box_reach(&view, batch->min, batch->max);
        drawn = !reach.outside && (counters->known == 0 || batch->drawn != 0);
        states[b] = (uint8_t)(reach.outside ? OUTSIDE : drawn ? DRAWN_BEFORE : NEW);
    }
    const uint32_t place = warp_reserve(known.count, __ballot_sync(CUDA_ALL, drawn));
    if (drawn) list_batch(&points, &view, b, place, &known);
}

/* Of some batches those that are not behind what stands there. only_new: of those marked NEW; else of all inside. */
static __global__ void list_visible(render_points points, render_view view, render_depths depths, const uint8_t *states,
                                    bool only_new, render_list list) {
    const uint32_t b = blockIdx.x * THREADS + threadIdx.x;
    bool visible = false;
    if (b < points.batch_count && (only_new ? states[b] == NEW : states[b] != OUTSIDE)) {
        const render_reach reach = render_box_reach(&view, points.batches[b].min, points.batches[b].max);
        visible = !reach.outside && !render_is_behind(&depths, &reach);
    }
    const uint32_t place = warp_reserve(list.count, __ballot_sync(CUDA_ALL, visible));
    if (visible) list_batch(&points, &view, b, place, &list);
}

static __global__ void list_inside(render_points points, render_view view, const uint8_t *states, render_list list) {
    const uint32_t b = blockIdx.x * THREADS + threadIdx.x;
    const bool inside = b < points.batch_count && states[b] != OUTSIDE;
    const uint32_t place = warp_reserve(list.count, __ballot_sync(CUDA_ALL, inside));
    if (inside) list_batch(&points, &view, b, place, &list);
}

/* Before note_drawn; and how many were read. */
static __global__ void forget_drawn(render_points points, render_list known, render_list others,
                                    render_counters *counters) {
    const uint32_t b = blockIdx.x * THREADS + threadIdx.x;
    if (b < points.batch_count) points.batches[b].drawn = 0;
    if (b == 0) counters->drawn = (unsigned long long)*known.count + *others.count;
}

static __global__ void note_drawn(const uint64_t *keys, uint64_t samples, render_points points) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= samples || keys[i] == RENDER_NO_KEY) return;
    uint32_t *drawn = &points.batches[(uint32_t)keys[i] / RENDER_BATCH].drawn;
    if (*drawn == 0) *drawn = 1;
}

/* ---- their points */

/* Whether short coordinates rule a point out. What keys show only gets nearer: an old one decides for less. */
static __device__ __forceinline__ bool is_ruled_out(const render_short *s, bool perspective,
                                                    const render_points *points, uint32_t i, const uint64_t *keys) {
    float nearest = 0;
    if (s->usable == 0) return false;
    const uint32_t sample =
        render_short_sample(s, perspective, points->local[0][i], points->local[1][i], points->local[2][i], &nearest);
    if (sample == RENDER_OUTSIDE) return true;
    return sample != RENDER_UNSURE && render_ordered_float(nearest) > render_key_depth(keys[sample]);
}

/* The threads of a block get how the frame sees its batch. */
static __device__ __forceinline__ void share_short(const render_short *from, render_short *to) {
    const uint32_t words = sizeof(render_short) / sizeof(uint32_t);
    __syncthreads(); /* the last batch is done with */
    if (threadIdx.x < words) ((uint32_t *)to)[threadIdx.x] = ((const uint32_t *)from)[threadIdx.x];
    __syncthreads();
}

static __global__ void draw_list(render_points points, render_view view, render_list list, const uint64_t *before,
                                 uint64_t *keys) {
    __shared__ render_short here;
    const uint32_t count = *list.count;
    for (uint32_t at = blockIdx.x; at < count; at += gridDim.x) {
        const uint32_t first = list.batches[at] * RENDER_BATCH;
        share_short(&list.shorts[at], &here);
        for (uint32_t i = first + threadIdx.x; i < first + RENDER_BATCH; i += THREADS) {
            if (is_ruled_out(&here, view.perspective, &points, i, keys)) continue;
            const render_place place = render_to_camera(&view, points.at[0][i], points.at[1][i], points.at[2][i]);
            const uint32_t sample = render_sample_of(&view, place);
            if (sample == RENDER_OUTSIDE) continue;
            const uint64_t key = render_key((float)place.z, i);
            if (key >= keys[sample]) continue; /* may be old by now: then the atomic decides */
            if (before != NULL && render_key_depth(key) <= render_key_depth(before[sample])) continue;
            if (points.color[i] == RENDER_NO_COLOR) continue;
            atomicMin((unsigned long long *)&keys[sample], (unsigned long long)key);
        }
    }
}

static __global__ void add_list(render_points points, render_view view, render_list list, const uint32_t *limits,
                                render_color_sums *sums) {
    const uint32_t count = *list.count;
    for (uint32_t at = blockIdx.x; at < count; at += gridDim.x) {
        const uint32_t first = list.batches[at] * RENDER_BATCH;
        for (uint32_t i = first + threadIdx.x; i < first + RENDER_BATCH; i += THREADS) {
            const render_place place = render_to_camera(&view, points.at[0][i], points.at[1][i], points.at[2][i]);
            const uint32_t sample = render_sample_of(&view, place);
            if (sample == RENDER_OUTSIDE || render_ordered_float((float)place.z) > limits[sample]) continue;
            const uint32_t color = points.color[i];
            if (color == RENDER_NO_COLOR) continue;
            unsigned long long *const sum = (unsigned long long *)&sums[sample];
            for (int c = 0; c < 3; c++) atomicAdd(&sum[c], (unsigned long long)(color >> 8 * c & 255u));
            atomicAdd(&sum[3], 1ull);
        }
    }
}

/* ---- what stands in front */

static __global__ void measure_squares(render_view view, const uint64_t *keys, const uint32_t *limits,
                                       render_depths depths) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t width = depths.width[0];
    if (i >= (uint64_t)width * depths.height[0]) return;
    depths.farthest[i] = render_farthest_of_square(&view, keys, limits, (uint32_t)(i % width), (uint32_t)(i / width));
}

static __device__ __forceinline__ void measure_square(const render_depths *depths, uint32_t level, uint64_t i) {
    const uint32_t width = depths->width[level];
    depths->farthest[depths->first[level] + i] =
        render_farthest_of_four(depths, level - 1, (uint32_t)(i % width), (uint32_t)(i / width));
}

static __global__ void measure_level(render_depths depths, uint32_t level) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < (uint64_t)depths.width[level] * depths.height[level]) measure_square(&depths, level, i);
}

/* All levels from one on, which are small: one block, and one launch. */
static __global__ void measure_last_levels(render_depths depths, uint32_t level) {
    for (; level < depths.level_count; level++) {
        const uint64_t squares = (uint64_t)depths.width[level] * depths.height[level];
        for (uint64_t i = threadIdx.x; i < squares; i += LAST_THREADS) measure_square(&depths, level, i);
        __syncthreads();
    }
}

mote_status render_measure_depths_cuda(mote_renderer *renderer, const render_view *view, bool of_limits) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    render_depths *depths = &frame->depths;
    const uint64_t *keys = of_limits ? NULL : frame->keys[0];
    for (uint32_t level = 0; level < depths->level_count; level++) {
        const uint64_t squares = (uint64_t)depths->width[level] * depths->height[level];
        const uint32_t blocks = cuda_blocks(squares, THREADS);
        if (level == 0) {
            CUDA_LAUNCH(gpu, measure_squares, blocks, THREADS, *view, keys, frame->limits, *depths);
        } else if (squares > LAST_SQUARES) {
            CUDA_LAUNCH(gpu, measure_level, blocks, THREADS, *depths, level);
        } else {
            CUDA_LAUNCH(gpu, measure_last_levels, 1, LAST_THREADS, *depths, level);
            break;
        }
    }
    return cuda_launched(gpu, "measuring depths");
}

/* ---- steps */

mote_status render_find_nearest_cuda(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const render_points points = renderer->points;
    const render_view view = job->view;
    const uint32_t blocks = cuda_blocks(points.batch_count, THREADS), full = cuda_full_blocks(gpu, THREADS);
    render_depths_size(&view, &frame->depths);
    frame->depths.farthest = (uint32_t *)render_buffer_of(renderer, frame->depths.total * sizeof(uint32_t));
    if (frame->depths.farthest == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, frame->keys[0], 0xFF, samples_of(&view) * sizeof(uint64_t)));
    MOTE_TRY(cuda_fill(gpu, frame->known.count, 0, sizeof(uint32_t)));
    MOTE_TRY(cuda_fill(gpu, frame->others.count, 0, sizeof(uint32_t)));
    CUDA_LAUNCH(gpu, count_known, blocks, THREADS, points, frame->counters);
    CUDA_LAUNCH(gpu, sort_batches, blocks, THREADS, points, view, frame->counters, frame->batch_states, frame->known);
    CUDA_LAUNCH(gpu, draw_list, full, THREADS, points, view, frame->known, (const uint64_t *)NULL, frame->keys[0]);
    MOTE_TRY(render_measure_depths_cuda(renderer, &view, false));
    CUDA_LAUNCH(gpu, list_visible, blocks, THREADS, points, view, frame->depths, frame->batch_states, true,
                frame->others);
    CUDA_LAUNCH(gpu, draw_list, full, THREADS, points, view, frame->others, (const uint64_t *)NULL, frame->keys[0]);
    CUDA_LAUNCH(gpu, forget_drawn, blocks, THREADS, points, frame->known, frame->others, frame->counters);
    CUDA_LAUNCH(gpu, note_drawn, cuda_blocks(samples_of(&view), THREADS), THREADS, frame->keys[0], samples_of(&view),
                points);
    return cuda_launched(gpu, "drawing points");
}

mote_status render_find_behind_cuda(mote_renderer *renderer, const render_job *job, uint32_t layer) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const uint64_t size_bytes = samples_of(&job->view) * sizeof(uint64_t);
    frame->keys[layer + 1] = (uint64_t *)render_buffer_of(renderer, size_bytes);
    if (frame->keys[layer + 1] == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, frame->keys[layer + 1], 0xFF, size_bytes));
    MOTE_TRY(cuda_fill(gpu, frame->others.count, 0, sizeof(uint32_t)));
    CUDA_LAUNCH(gpu, list_inside, cuda_blocks(renderer->points.batch_count, THREADS), THREADS, renderer->points,
                job->view, frame->batch_states, frame->others);
    CUDA_LAUNCH(gpu, draw_list, cuda_full_blocks(gpu, THREADS), THREADS, renderer->points, job->view, frame->others,
                frame->keys[layer], frame->keys[layer + 1]);
    return cuda_launched(gpu, "drawing layers");
}

/* ---- samples */

static __global__ void show_points(render_view view, render_points points, const uint64_t *keys, double radius,
                                   bool normals, render_samples to) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (uint64_t)view.width * view.height) return;
    const uint64_t key = radius >= 1 ? render_key_around(&view, keys, radius, i) : keys[i];
    render_show_point(&view, &points, key, normals, &to, i);
}

static __global__ void set_limits(render_view view, render_points points, const uint64_t *keys, double tolerance,
                                  uint32_t *limits) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < (uint64_t)view.width * view.height) limits[i] = render_average_limit(&view, &points, keys[i], tolerance);
}

static __global__ void show_averages(const render_color_sums *sums, uint64_t samples, render_samples to) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < samples) render_show_average(&sums[i], to.color + 4 * i);
}

mote_status render_show_points_cuda(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    CUDA_LAUNCH(gpu, show_points, cuda_blocks(samples_of(&job->view), THREADS), THREADS, job->view, renderer->points,
                frame->keys[0], job->point_radius, job->wants_normals, frame->samples);
    return cuda_launched(gpu, "showing points");
}

mote_status render_average_cuda(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const render_points points = renderer->points;
    const uint64_t samples = samples_of(&job->view);
    const uint32_t blocks = cuda_blocks(samples, THREADS);
    frame->color_sums = (render_color_sums *)render_buffer_of(renderer, samples * sizeof(render_color_sums));
    if (frame->color_sums == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, frame->color_sums, 0, samples * sizeof(render_color_sums)));
    MOTE_TRY(cuda_fill(gpu, frame->others.count, 0, sizeof(uint32_t)));
    CUDA_LAUNCH(gpu, set_limits, blocks, THREADS, job->view, points, frame->keys[0], job->params->tolerance,
                frame->limits);
    MOTE_TRY(render_measure_depths_cuda(renderer, &job->view, true));
    CUDA_LAUNCH(gpu, list_visible, cuda_blocks(points.batch_count, THREADS), THREADS, points, job->view, frame->depths,
                frame->batch_states, false, frame->others);
    CUDA_LAUNCH(gpu, add_list, cuda_full_blocks(gpu, THREADS), THREADS, points, job->view, frame->others, frame->limits,
                frame->color_sums);
    MOTE_TRY(render_show_points_cuda(renderer, job));
    CUDA_LAUNCH(gpu, show_averages, blocks, THREADS, frame->color_sums, samples, frame->samples);
    return cuda_launched(gpu, "averaging");
}
