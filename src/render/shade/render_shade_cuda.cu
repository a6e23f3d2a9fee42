/* Shading on a GPU: holes are closed, and samples become pixels of the caller's. */
#include "device/cuda/warp.cuh"
#include "render/points/render_show_cuda.cuh"
#include "render/render_cuda.h"
#include "render/shade/render_close_math.h"
#include "render/shade/render_look.h"

#define THREADS 256u

/* ---- holes */

static __global__ void find_holes(render_view view, const float *depth, uint32_t max, uint8_t *holes,
                                  render_counters *counters) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const bool inside = i < (uint64_t)view.width * view.height;
    const bool hole = inside && render_is_hole(&view, depth, i, max);
    if (inside) holes[i] = hole;
    const uint32_t lanes = __ballot_sync(CUDA_ALL, hole);
    if (warp_lane() == 0 && lanes != 0) atomicAdd(&counters->closed, (unsigned long long)__popc(lanes));
}

static __global__ void fill_holes(render_view view, render_samples samples, const uint8_t *holes, uint32_t max) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < (uint64_t)view.width * view.height && holes[i] != 0) render_fill_hole(&view, &samples, holes, i, max);
}

mote_status render_close_cuda(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const uint64_t samples = (uint64_t)job->view.width * job->view.height;
    const uint32_t max = job->params->close_pixels * job->params->samples, blocks = cuda_blocks(samples, THREADS);
    if (max == 0) return MOTE_OK;
    frame->holes = (uint8_t *)render_buffer_of(renderer, samples);
    if (frame->holes == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(gpu, find_holes, blocks, THREADS, job->view, frame->samples.depth, max, frame->holes, frame->counters);
    CUDA_LAUNCH(gpu, fill_holes, blocks, THREADS, job->view, frame->samples, frame->holes, max);
    return cuda_launched(gpu, "closing holes");
}

/* ---- facts */

static __global__ void find_range(const float *depth, const float *values, uint64_t samples,
                                  render_counters *counters) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const bool shown = i < samples && depth[i] < INFINITY;
    const uint32_t value = shown ? render_ordered_float(values[i]) : 0;
    const uint32_t low = warp_min(shown ? value : UINT32_MAX), high = warp_max(value);
    if (warp_lane() != 0 || high == 0) return;
    atomicMin(&counters->min_value, low);
    atomicMax(&counters->max_value, high);
}

static __global__ void measure_errors(render_look look, render_samples samples, render_counters *counters) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    unsigned long long count = 0, steps = 0;
    if (i < (uint64_t)look.view.width * look.view.height && samples.depth[i] < INFINITY) {
        const float error = render_normal_error(&look, &samples, i);
        if (error >= 0) {
            count = 1;
            steps = (unsigned long long)(error * RENDER_ERROR_STEPS);
        }
    }
    const unsigned long long all = warp_sum(count), sum = warp_sum(steps), squares = warp_sum(steps * steps);
    if (warp_lane() != 0 || all == 0) return;
    atomicAdd(&counters->errors, all);
    atomicAdd(&counters->error_sum, sum);
    atomicAdd(&counters->error_squares, squares);
}

/* The scale of false colours, from the smallest to the largest value that the picture shows; waits. */
static mote_status set_range(mote_renderer *renderer, const float *values, render_look *look) {
    mote_device *gpu = renderer->device;
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    const uint64_t samples = (uint64_t)look->view.width * look->view.height;
    render_counters counters;
    MOTE_TRY(cuda_fill(gpu, &frame->counters->min_value, 0xFF, sizeof(uint32_t)));
    CUDA_LAUNCH(gpu, find_range, cuda_blocks(samples, THREADS), THREADS, frame->samples.depth, values, samples,
                frame->counters);
    MOTE_TRY(cuda_launched(gpu, "shading"));
    MOTE_TRY(cuda_download(gpu, &counters, frame->counters, sizeof counters));
    const bool any = counters.max_value != 0;
    look->show_min = any ? render_float_of_ordered(counters.min_value) : INFINITY;
    look->show_max = any ? render_float_of_ordered(counters.max_value) : -INFINITY;
    return MOTE_OK;
}

/* ---- pixels */

/* Samples of a pixel that show something. */
static __device__ __forceinline__ uint32_t covered_of(const render_look *look, const float *depth, uint32_t x,
                                                      uint32_t y) {
    const uint32_t side = look->samples;
    uint32_t covered = 0;
    for (uint32_t s = 0; s < side * side; s++) {
        covered += depth[(uint64_t)(y * side + s / side) * look->view.width + x * side + s % side] < INFINITY;
    }
    return covered;
}

/* Blocks share out the pixels, so that few of them add to the count of samples that show something. */
static __global__ void write_pixels(render_look look, render_samples samples, render_pixels to, uint32_t width,
                                    uint32_t pixels, render_counters *counters) {
    __shared__ uint32_t buffer[THREADS / CUDA_WARP];
    uint32_t covered = 0;
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < pixels; i += gridDim.x * THREADS) {
        const uint32_t x = i % width, y = i / width;
        render_write_pixel(&look, &samples, &to, x, y);
        covered += covered_of(&look, samples.depth, x, y);
    }
    covered = block_sum<THREADS / CUDA_WARP>(covered, buffer);
    if (threadIdx.x == 0 && covered != 0) atomicAdd(&counters->covered, (unsigned long long)covered);
}

/* Pixels of points or averages, from the keys of their samples. */
static __global__ void write_points(render_look look, render_shown shown, render_pixels to, uint32_t pixels,
                                    render_counters *counters) {
    __shared__ uint32_t buffer[THREADS / CUDA_WARP];
    uint32_t covered = 0;
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < pixels; i += gridDim.x * THREADS) {
        render_shown_sample sample = render_show_sample(&shown, i);
        const render_samples here = {
            &sample.depth, sample.color, shown.normals ? sample.normal : NULL, &sample.index, NULL, NULL, NULL};
        render_write_sample(&look, &here, &to, i);
        covered += sample.depth < INFINITY;
    }
    covered = block_sum<THREADS / CUDA_WARP>(covered, buffer);
    if (threadIdx.x == 0 && covered != 0) atomicAdd(&counters->covered, (unsigned long long)covered);
}

/* What a pixel shows where nothing is. */
static __device__ __forceinline__ uint32_t background_of(const render_look *look) {
    const render_rgba nothing = {0.0f, 0.0f, 0.0f, 0.0f};
    uint32_t color = 0;
    const render_pixels one = {(uint8_t *)&color, NULL, NULL, NULL, NULL};
    render_write_color(look, nothing, &one, 0);
    return color;
}

/* The colour of an average, 8 bits, as render_write_sample makes it. */
static __device__ __forceinline__ uint32_t mean_of(const render_color_sums *sums, uint32_t color) {
    uint16_t mean[3];
    uint32_t all = 0xFF000000u;
    for (int c = 0; c < 3; c++) mean[c] = (uint16_t)((color >> 8 * c & 255u) * 257u);
    render_show_average(sums, mean);
    for (int c = 0; c < 3; c++) all |= (uint32_t)render_to_8((float)mean[c] / 65535.0f) << 8 * c;
    return all;
}

/* Does what write_points does where pixels show the colours of points as they are, 8 bits, and perhaps depths. */
static __global__ void write_plain_points(render_look look, render_shown shown, render_pixels to, uint32_t pixels,
                                          render_counters *counters) {
    __shared__ uint32_t buffer[THREADS / CUDA_WARP];
    const uint32_t background = background_of(&look);
    uint32_t covered = 0;
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < pixels; i += gridDim.x * THREADS) {
        const uint64_t key = shown.keys[i];
        const float depth = key == RENDER_NO_KEY ? INFINITY : render_float_of_ordered(render_key_depth(key));
        const bool shows = depth < INFINITY;
        uint32_t color = shows ? shown.points.color[(uint32_t)key] : background;
        render_note_batch(&shown.points, key, shown.number);
        if (shown.sums != NULL && shows) color = mean_of(&shown.sums[i], color);
        render_store_four(to.color8 + 4 * (uint64_t)i, (const uint8_t *)&color);
        if (to.depth != NULL) to.depth[i] = depth;
        covered += shows;
    }
    covered = block_sum<THREADS / CUDA_WARP>(covered, buffer);
    if (threadIdx.x == 0 && covered != 0) atomicAdd(&counters->covered, (unsigned long long)covered);
}

static bool is_plain(const render_shown *shown, const render_pixels *to) {
    return shown->radius < 1 && !shown->normals && to->color8 != NULL && to->color16 == NULL && to->normal == NULL &&
           to->index == NULL;
}

/* An array of the caller's, and where the device writes it. */
typedef struct wanted_array {
    void *wanted, *written;
    uint64_t size_bytes;
} wanted_array;

#define ARRAYS 5

static mote_status write_arrays(mote_renderer *renderer, const render_job *job, const render_look *look,
                                const render_samples *samples, bool on_device, wanted_array arrays[ARRAYS]) {
    mote_device *gpu = renderer->device;
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    const uint64_t pixels = (uint64_t)job->part.width * job->part.height;
    for (int i = 0; i < ARRAYS; i++) {
        arrays[i].written = arrays[i].wanted;
        if (arrays[i].wanted == NULL || on_device) continue;
        arrays[i].written = render_buffer_of(renderer, arrays[i].size_bytes);
        if (arrays[i].written == NULL) return MOTE_ERROR_MEMORY;
    }
    const render_pixels to = {(uint8_t *)arrays[0].written, (uint16_t *)arrays[1].written, (float *)arrays[2].written,
                              (float *)arrays[3].written, (uint32_t *)arrays[4].written};
    const uint32_t blocks = cuda_blocks_up_to(cuda_full_blocks(gpu, THREADS), pixels, THREADS);
    const render_shown shown = render_what_is_shown(renderer, job);
    if (render_pixels_are_points(job) && is_plain(&shown, &to)) {
        CUDA_LAUNCH(gpu, write_plain_points, blocks, THREADS, *look, shown, to, (uint32_t)pixels, frame->counters);
    } else if (render_pixels_are_points(job)) {
        CUDA_LAUNCH(gpu, write_points, blocks, THREADS, *look, shown, to, (uint32_t)pixels, frame->counters);
    } else {
        CUDA_LAUNCH(gpu, write_pixels, blocks, THREADS, *look, *samples, to, job->part.width, (uint32_t)pixels,
                    frame->counters);
    }
    MOTE_TRY(cuda_launched(gpu, "shading"));
    for (int i = 0; i < ARRAYS && !on_device; i++) {
        if (arrays[i].wanted == NULL) continue;
        MOTE_TRY(cuda_download(gpu, arrays[i].wanted, arrays[i].written, arrays[i].size_bytes));
    }
    return MOTE_OK;
}

mote_status render_shade_cuda(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    mote_device *gpu = renderer->device;
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    const uint64_t pixels = (uint64_t)job->part.width * job->part.height;
    const uint64_t samples = (uint64_t)job->view.width * job->view.height;
    wanted_array arrays[ARRAYS] = {{result->color8, NULL, 4 * pixels},
                                   {result->color16, NULL, 8 * pixels},
                                   {result->depth, NULL, pixels * sizeof(float)},
                                   {result->normal, NULL, 3 * pixels * sizeof(float)},
                                   {result->index, NULL, pixels * sizeof(uint32_t)}};
    render_look look;
    render_make_look(renderer, job, &look);
    const bool chosen = look.show_min != look.show_max;
    if (look.show == MOTE_RENDER_SHOW_DEPTH && !chosen) MOTE_TRY(set_range(renderer, frame->samples.depth, &look));
    if (look.show == MOTE_RENDER_SHOW_RADIUS && !chosen) MOTE_TRY(set_range(renderer, frame->samples.value, &look));
    if (look.show == MOTE_RENDER_SHOW_NORMAL_ERROR) {
        CUDA_LAUNCH(gpu, measure_errors, cuda_blocks(samples, THREADS), THREADS, look, frame->samples, frame->counters);
    }
    return write_arrays(renderer, job, &look, &frame->samples, result->on_device, arrays);
}
