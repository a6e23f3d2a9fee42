/* Averages on a GPU: all points of a sample that are not farther than its nearest and a tolerance.

   A warp takes 128 points of a batch, each lane four. Steps (render_steps_cuda.cuh) tell the sample of most, and on
   which side of its limit they are; doubles decide about the others. What points of a warp add to one sample is added
   up in the warp first. */
#include "device/cuda/warp.cuh"
#include "render/points/render_steps_cuda.cuh"
#include "render/render_cuda.h"

#define THREADS 256u
#define WARPS   (THREADS / CUDA_WARP)
#define GROUPS  8u /* samples of a warp's points that are told apart before each lane goes on by itself */

/* Colours of up to 128 points, 16 bits each: 128 times 255 is below 2^16.

     red_green   bits 31…16 green   bits 15…0 red
     blue_count  bits 31…16 count   bits 15…0 blue */
typedef struct color_sums {
    uint32_t red_green, blue_count;
} color_sums;

/* The colours of four points. */
typedef struct alignas(16) four_colors {
    uint32_t color[RENDER_AT_ONCE];
} four_colors;

static __device__ __forceinline__ void add_color(uint32_t color, color_sums *to) {
    to->red_green += (color & 0xFFu) | (color << 8 & 0xFF0000u);
    to->blue_count += (color >> 16 & 0xFFu) | 0x10000u;
}

static __device__ __forceinline__ void add_sums(color_sums from, render_color_sums *to) {
    unsigned long long *const sum = (unsigned long long *)to;
    atomicAdd(&sum[0], (unsigned long long)(from.red_green & 0xFFFFu));
    atomicAdd(&sum[1], (unsigned long long)(from.red_green >> 16));
    atomicAdd(&sum[2], (unsigned long long)(from.blue_count & 0xFFFFu));
    atomicAdd(&sum[3], (unsigned long long)(from.blue_count >> 16));
}

/* Lanes of the same sample add up first. sample: RENDER_OUTSIDE for a lane that has nothing. All lanes call it. */
static __device__ __forceinline__ void add_together(uint32_t sample, color_sums mine, render_color_sums *sums) {
    uint32_t rest = __ballot_sync(CUDA_ALL, sample != RENDER_OUTSIDE), same;
    bool adds = sample != RENDER_OUTSIDE;
    for (uint32_t g = 0; g < GROUPS && rest != 0; g++, rest &= ~same) {
        const uint32_t first = warp_first(rest), of = warp_value_of(rest, sample, &same);
        if ((same & (same - 1)) == 0) break; /* sparse: the others have samples of their own, too */
        const color_sums all = {render_warp_sum(sample == of ? mine.red_green : 0),
                                render_warp_sum(sample == of ? mine.blue_count : 0)};
        if (sample != of) continue;
        mine = all;
        adds = warp_lane() == first;
    }
    if (adds) add_sums(mine, &sums[sample]);
}

/* Which points are surely within the limits of their samples: the others become RENDER_OUTSIDE, or unsure. */
static __device__ __forceinline__ bool keep_within(const render_steps *steps, const uint32_t *limits,
                                                   render_four *four) {
    bool any = false;
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        const uint32_t sample = four->sample[j];
        if (sample == RENDER_OUTSIDE) continue;
        const uint32_t limit = limits[sample];
        if (render_high(steps, four->depth[j]) > limit) {
            four->sample[j] = RENDER_OUTSIDE;
            if (render_low(steps, four->depth[j]) <= limit) four->unsure |= 1u << j;
        } else {
            any = true;
        }
    }
    return any;
}

static __device__ __forceinline__ void add_within(const render_points *points, uint32_t first, const render_four *four,
                                                  bool any, render_color_sums *sums) {
    color_sums mine = {0, 0};
    uint32_t sample = RENDER_OUTSIDE;
    if (any) {
        const four_colors colors = *(const four_colors *)&points->color[first + RENDER_AT_ONCE * warp_lane()];
#pragma unroll
        for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
            if (four->sample[j] == RENDER_OUTSIDE) continue;
            if (sample == RENDER_OUTSIDE) sample = four->sample[j];
            if (four->sample[j] == sample) {
                add_color(colors.color[j], &mine);
            } else {
                color_sums one = {0, 0};
                add_color(colors.color[j], &one);
                add_sums(one, &sums[four->sample[j]]);
            }
        }
    }
    add_together(sample, mine, sums);
}

/* In double precision. */
static __device__ __forceinline__ void add_point(const render_points *points, const render_view *view, uint32_t i,
                                                 const uint32_t *limits, render_color_sums *sums) {
    const render_place place = render_to_camera(view, points->at[0][i], points->at[1][i], points->at[2][i]);
    const uint32_t sample = render_sample_of(view, place);
    if (sample == RENDER_OUTSIDE || render_ordered_float((float)place.z) > limits[sample]) return;
    color_sums one = {0, 0};
    add_color(points->color[i], &one);
    add_sums(one, &sums[sample]);
}

static __global__ void __launch_bounds__(THREADS, 4) add_list(render_points points, render_view view, render_list list,
                                                              const uint32_t *limits, render_color_sums *sums) {
    __shared__ uint16_t queues[WARPS][RENDER_QUEUE];
    uint16_t *queue = queues[threadIdx.x / CUDA_WARP];
    const uint32_t warps = gridDim.x * WARPS, parts = render_parts_of(*list.count, warps), count = *list.count * parts;
    for (uint32_t at = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP; at < count; at += warps) {
        const render_steps steps = list.steps[at / parts];
        const uint32_t size = RENDER_BATCH / parts, begin = list.batches[at / parts] * RENDER_BATCH + at % parts * size;
        uint32_t asked = 0;
        render_words next = render_load_words(&points, begin);
        CUDA_ROLLED
        for (uint32_t first = 0; first < size; first += RENDER_CHUNK) {
            const render_words words = next;
            render_four four;
            if (first + RENDER_CHUNK < size) next = render_load_words(&points, begin + first + RENDER_CHUNK);
            render_find_four(&view, &steps, words, &four);
            const bool any = keep_within(&steps, limits, &four);
            if (__any_sync(CUDA_ALL, any)) add_within(&points, begin + first, &four, any, sums);
            render_ask(four.unsure, first, queue, &asked);
        }
        render_for_asked(queue, asked, [&](uint32_t i) { add_point(&points, &view, begin + i, limits, sums); });
    }
}

static __global__ void set_limits(render_view view, render_points points, const uint64_t *keys, double tolerance,
                                  uint32_t *limits) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < (uint64_t)view.width * view.height) limits[i] = render_average_limit(&view, &points, keys[i], tolerance);
}

mote_status render_average_cuda(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const render_points points = renderer->points;
    const uint64_t samples = (uint64_t)job->view.width * job->view.height;
    const uint32_t blocks = cuda_blocks(samples, THREADS);
    frame->color_sums = (render_color_sums *)render_buffer_of(renderer, samples * sizeof(render_color_sums));
    if (frame->color_sums == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, frame->color_sums, 0, samples * sizeof(render_color_sums)));
    CUDA_LAUNCH(gpu, set_limits, blocks, THREADS, job->view, points, frame->keys[0], job->params->tolerance,
                frame->limits);
    MOTE_TRY(render_list_within_cuda(renderer, &job->view));
    CUDA_LAUNCH(gpu, add_list, cuda_resident_blocks(gpu, (const void *)add_list, THREADS), THREADS, points, job->view,
                frame->others, frame->limits, frame->color_sums);
    MOTE_TRY(cuda_launched(gpu, "averaging"));
    return render_show_points_cuda(renderer, job, frame->color_sums);
}
