/* Averages on a GPU: all points of a sample that are not farther than its nearest and a tolerance.

   A warp takes 128 points of a batch, each lane four. Steps (render_steps_cuda.cuh) tell the sample of most, and on
   which side of its limit they are; doubles decide about the others. What points of a warp add to one sample is added
   up in the warp first. */
#include "device/cuda/warp.cuh"
#include "render/points/render_groups_cuda.cuh"
#include "render/points/render_record_cuda.cuh"
#include "render/render_cuda.h"

#define THREADS 256u
#define WARPS   (THREADS / CUDA_WARP)

/* Samples of a warp's points whose sums are made before lanes add by themselves: to the memory of the GPU, or to shared
   memory, where that is cheap unless all are in one sample. */
#define SPARSE_GROUPS 8u
#define PATCH_GROUPS  1u

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

/* ---- where sums go */

/* Sums of the frame, to which a point is four atomic additions. */
typedef struct frame_sums {
    render_color_sums *sums; /* [samples] */

    __device__ __forceinline__ void operator()(uint32_t sample, color_sums from) const {
        unsigned long long *const sum = (unsigned long long *)&sums[sample];
        atomicAdd(&sum[0], (unsigned long long)(from.red_green & 0xFFFFu));
        atomicAdd(&sum[1], (unsigned long long)(from.red_green >> 16));
        atomicAdd(&sum[2], (unsigned long long)(from.blue_count & 0xFFFFu));
        atomicAdd(&sum[3], (unsigned long long)(from.blue_count >> 16));
    }
} frame_sums;

/* Sums of a patch, in shared memory: up to 1,024 points have sums of 18 bits and counts of 11. */
typedef struct patch_sums {
    uint32_t *red_count, *green, *blue; /* [RENDER_SUM_PATCH] each; red_count: bits 30…20 count, bits 19…0 red */

    __device__ __forceinline__ void operator()(uint32_t place, color_sums from) const {
        atomicAdd(&red_count[place], (from.red_green & 0xFFFFu) | from.blue_count >> 16 << 20);
        atomicAdd(&green[place], from.red_green >> 16);
        atomicAdd(&blue[place], from.blue_count & 0xFFFFu);
    }
} patch_sums;

/* Lanes of the same sample add up first, of up to GROUPS samples; of the others each lane adds by itself. sample:
   RENDER_OUTSIDE for a lane that has nothing. All lanes call it. */
template <uint32_t GROUPS, class ADD>
static __device__ __forceinline__ void add_together(uint32_t sample, color_sums mine, ADD add) {
    uint32_t rest = __ballot_sync(CUDA_ALL, sample != RENDER_OUTSIDE), same;
    bool adds = sample != RENDER_OUTSIDE;
    CUDA_ROLLED
    for (uint32_t g = 0; g < GROUPS && rest != 0; g++, rest &= ~same) {
        const uint32_t first = warp_first(rest), of = warp_value_of(rest, sample, &same);
        if ((uint32_t)__popc(same) < CUDA_WARP / 2 / GROUPS + 2) break; /* so do the others, then */
        const color_sums all = {render_warp_sum(sample == of ? mine.red_green : 0),
                                render_warp_sum(sample == of ? mine.blue_count : 0)};
        if (sample != of) continue;
        mine = all;
        adds = warp_lane() == first;
    }
    if (adds) add(sample, mine);
}

/* Returns, of four values in registers, that of the lowest bit that is set. */
static __device__ __forceinline__ uint32_t one_of(const uint32_t value[RENDER_AT_ONCE], uint32_t bits) {
    const uint32_t low = (bits & 1u) != 0 ? value[0] : value[1], high = (bits & 4u) != 0 ? value[2] : value[3];
    return (bits & 3u) != 0 ? low : high;
}

/* first: of a lane's four points, in the order */
template <uint32_t GROUPS, class ADD>
static __device__ __forceinline__ void add_within(const render_points *points, uint32_t first, const render_four *four,
                                                  bool any, ADD add) {
    color_sums mine = {0, 0};
    uint32_t sample = RENDER_OUTSIDE, others = 0;
    if (any) {
        const four_colors colors = *(const four_colors *)&points->color[first];
#pragma unroll
        for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
            if (four->sample[j] == RENDER_OUTSIDE) continue;
            if (sample == RENDER_OUTSIDE) sample = four->sample[j];
            if (four->sample[j] == sample) add_color(colors.color[j], &mine);
            if (four->sample[j] != sample) others |= 1u << j;
        }
        CUDA_ROLLED
        for (; others != 0; others &= others - 1) {
            color_sums one = {0, 0};
            add_color(one_of(colors.color, others), &one);
            add(one_of(four->sample, others), one);
        }
    }
    add_together<GROUPS>(sample, mine, add);
}

/* Adds a point whose sample floats cannot tell: it is projected in doubles. */
static __device__ __forceinline__ void add_point(const render_points *points, const render_view *view, uint32_t i,
                                                 const uint32_t *limits, frame_sums add) {
    double at[3];
    render_load_at(points, i, at);
    const render_place place = render_to_camera(view, at[0], at[1], at[2]);
    const uint32_t sample = render_sample_of(view, place);
    if (sample == RENDER_OUTSIDE || render_ordered_float((float)place.z) > limits[sample]) return;
    color_sums one = {0, 0};
    add_color(points->color[i], &one);
    add(sample, one);
}

/* ---- parts of batches */

/* Which points are surely within the limits of their samples: the others become RENDER_OUTSIDE, or unsure. least, most:
   of a depth, as the limits are ordered */
template <class LEAST, class MOST>
static __device__ __forceinline__ bool keep_within(const uint32_t *limits, render_four *four, LEAST least, MOST most) {
    bool any = false;
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        const uint32_t sample = four->sample[j];
        if (sample == RENDER_OUTSIDE) continue;
        const uint32_t limit = limits[sample];
        if (most(four->depth[j]) > limit) {
            four->sample[j] = RENDER_OUTSIDE;
            if (least(four->depth[j]) <= limit) four->unsure |= 1u << j;
        } else {
            any = true;
        }
    }
    return any;
}

/* What a warp keeps in shared memory. */
typedef struct add_memory {
    uint8_t groups[RENDER_GROUPS];
    uint16_t queue[RENDER_QUEUE];                                 /* points that wait for doubles */
    uint32_t limits[RENDER_SUM_PATCH], sums[3][RENDER_SUM_PATCH]; /* limits: as positive floats */
} add_memory;

/* Groups of a batch that has no patch; returns how many points doubles are asked about. group: this lane's */
static __device__ __forceinline__ uint32_t add_sparse(const render_points *points, const render_view *view,
                                                      const render_steps *steps, uint32_t batch, uint32_t groups,
                                                      const render_group &group, const uint32_t *limits,
                                                      frame_sums sums, add_memory *memory) {
    const uint32_t begin = batch * RENDER_BATCH;
    uint32_t asked = 0;
    const uint32_t nearest = render_ordered(group.near_depth);
    const bool hidden =
        render_is_hidden_group(&group, view->width, nearest, [&](uint32_t sample) { return limits[sample]; });
    groups &= __ballot_sync(CUDA_ALL, group.drawn && !hidden);
    render_for_groups(points, batch, groups, memory->groups, [&](uint32_t first, render_words words) {
        render_four four;
        render_find_four(steps, view->perspective, words, &four);
        const bool any = keep_within(
            limits, &four, [&](float depth) { return render_low(steps, depth); },
            [&](float depth) { return render_high(steps, depth); });
        if (__any_sync(CUDA_ALL, any)) add_within<SPARSE_GROUPS>(points, begin + first, &four, any, sums);
        render_ask(four.unsure, first, memory->queue, &asked);
    });
    return asked;
}

/* ---- patches */

/* Adds the sums of a patch to those of the frame: four lanes for a sample, a number each. */
static __device__ __forceinline__ void add_patch_to_frame(const render_view *view, const render_steps *steps,
                                                          const uint32_t sums[3][RENDER_SUM_PATCH],
                                                          render_color_sums *to) {
    const uint32_t number = warp_lane() % 4;
    const float by = 1.0f / (float)steps->width;
    for (uint32_t place = warp_lane() / 4; place < render_patch_size(steps); place += CUDA_WARP / 4) {
        const uint32_t count = sums[0][place] >> 20;
        if (count == 0) continue;
        const uint32_t value = number == 3 ? count : number == 0 ? sums[0][place] & 0xFFFFFu : sums[number][place];
        const uint32_t sample = render_patch_sample(view, steps, by, place);
        atomicAdd((unsigned long long *)&to[sample] + number, (unsigned long long)value);
    }
}

/* Adds the colours of whole groups: of all lanes that have one. */
static __device__ __forceinline__ void add_groups(const render_points *points, uint32_t batch, bool mine,
                                                  uint32_t place, uint32_t sums[3][RENDER_SUM_PATCH]) {
    if (!__any_sync(CUDA_ALL, mine)) return;
    const uint64_t packed = mine ? points->group_sums[batch * RENDER_GROUPS + warp_lane()] : 0;
    const uint32_t red_count = (uint32_t)(packed >> 42) << 20 | ((uint32_t)packed & 0x3FFFu);
    const uint32_t green = (uint32_t)(packed >> 14) & 0x3FFFu, blue = (uint32_t)(packed >> 28) & 0x3FFFu;
    uint32_t rest = __ballot_sync(CUDA_ALL, mine), same;
    CUDA_ROLLED
    for (; rest != 0; rest &= ~same) {
        const uint32_t of = warp_value_of(rest, place, &same);
        same &= rest;
        const bool adds = (same >> warp_lane() & 1) != 0;
        const uint32_t all[3] = {render_warp_sum(adds ? red_count : 0), render_warp_sum(adds ? green : 0),
                                 render_warp_sum(adds ? blue : 0)};
        if (warp_lane() < 3) sums[warp_lane()][of] += all[warp_lane()];
    }
}

/* Groups that are neither behind the limits nor within: these are added at once. whole: those of this part */
static __device__ __forceinline__ uint32_t add_whole_groups(const render_points *points, const render_steps *steps,
                                                            uint32_t batch, uint32_t groups, const render_group &group,
                                                            const uint32_t *limits,
                                                            uint32_t sums[3][RENDER_SUM_PATCH]) {
    const uint32_t pitch = steps->width, place = group.v0 * pitch + group.u0;
    const uint32_t nearest = __float_as_uint(group.near_depth), farthest = __float_as_uint(group.far_depth);
    const bool mine = (groups >> warp_lane() & 1) != 0 && group.drawn;
    const bool known = mine && group.known && group.near_depth > 0.0f;
    const bool whole = known && group.single && farthest <= limits[place];
    const bool hidden =
        known && !whole && render_is_hidden_group(&group, pitch, nearest, [&](uint32_t at) { return limits[at]; });
    add_groups(points, batch, whole, place, sums);
    return __ballot_sync(CUDA_ALL, mine && !whole && !hidden);
}

static __device__ __forceinline__ uint32_t add_patch(const render_points *points, const render_view *view,
                                                     const render_steps *steps, uint32_t batch, uint32_t groups,
                                                     const render_group &group, const uint32_t *limits, frame_sums sums,
                                                     add_memory *memory) {
    const uint32_t begin = batch * RENDER_BATCH;
    const patch_sums here = {memory->sums[0], memory->sums[1], memory->sums[2]};
    uint32_t asked = 0;
    const float by = 1.0f / (float)steps->width;
    for (uint32_t place = warp_lane(); place < render_patch_size(steps); place += CUDA_WARP) {
        memory->limits[place] = render_positive(limits[render_patch_sample(view, steps, by, place)]);
        for (int k = 0; k < 3; k++) memory->sums[k][place] = 0;
    }
    __syncwarp();
    groups = add_whole_groups(points, steps, batch, groups, group, memory->limits, memory->sums);
    render_for_groups(points, batch, groups, memory->groups, [&](uint32_t first, render_words words) {
        render_four four;
        render_find_four(steps, view->perspective, words, &four);
        const bool any = keep_within(
            memory->limits, &four, [&](float depth) { return __float_as_uint(depth - steps->depth_slack); },
            [&](float depth) { return __float_as_uint(depth + steps->depth_slack); });
        if (__any_sync(CUDA_ALL, any)) add_within<PATCH_GROUPS>(points, begin + first, &four, any, here);
        render_ask(four.unsure, first, memory->queue, &asked);
    });
    add_patch_to_frame(view, steps, memory->sums, sums.sums);
    return asked;
}

static __global__ void __launch_bounds__(THREADS, 4) add_list(render_points points, render_view view, render_list list,
                                                              const uint32_t *limits, render_color_sums *sums) {
    __shared__ add_memory memories[WARPS];
    add_memory *memory = &memories[threadIdx.x / CUDA_WARP];
    const frame_sums all = {sums};
    render_for_parts(&list, [&](uint32_t batch, const render_steps &steps, uint32_t groups) {
        const render_group group = render_see_group(&points, &steps, view.perspective, batch);
        const uint32_t asked = steps.patch != 0
                                   ? add_patch(&points, &view, &steps, batch, groups, group, limits, all, memory)
                                   : add_sparse(&points, &view, &steps, batch, groups, group, limits, all, memory);
        render_for_asked(memory->queue, asked,
                         [&](uint32_t i) { add_point(&points, &view, batch * RENDER_BATCH + i, limits, all); });
    });
}

/* Sums of samples that show nothing are not set: nobody adds to them, and nobody asks. */
static __global__ void set_limits(render_view view, render_points points, const uint64_t *keys, double tolerance,
                                  uint32_t *limits, render_color_sums *sums) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (uint64_t)view.width * view.height) return;
    const render_color_sums none = {{0, 0, 0}, 0};
    limits[i] = render_average_limit(&view, &points, keys[i], tolerance);
    if (keys[i] != RENDER_NO_KEY) sums[i] = none;
}

mote_status render_average_cuda(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const render_points points = renderer->points;
    const uint64_t samples = (uint64_t)job->view.width * job->view.height;
    const uint32_t blocks = cuda_blocks(samples, THREADS);
    frame->color_sums = (render_color_sums *)render_buffer_of(renderer, samples * sizeof(render_color_sums));
    if (frame->color_sums == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(gpu, set_limits, blocks, THREADS, job->view, points, frame->keys[0], job->params->tolerance,
                frame->limits, frame->color_sums);
    MOTE_TRY(render_list_within_cuda(renderer, &job->view));
    CUDA_LAUNCH(gpu, add_list, cuda_resident_blocks(gpu, (const void *)add_list, THREADS), THREADS, points, job->view,
                frame->others, frame->limits, frame->color_sums);
    MOTE_TRY(cuda_launched(gpu, "averaging"));
    return render_show_points_cuda(renderer, job);
}
