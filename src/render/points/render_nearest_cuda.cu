/* The nearest point of each sample on a GPU; see render_nearest_cpu.c for which batches are drawn when.

   A warp takes 128 points of a batch, each lane four. Steps (render_steps_cuda.cuh) tell the samples of most, and
   within what their depths are. What is surely behind what its sample shows is ruled out. Of the others, the least
   upper bound of depth is first found among the warp's points of a sample, and goes into the sample's key; then only
   points that can be nearer than that remain, about one for each sample. They are projected in double precision.

     bits 63…32 upper bound of depth    bits 31…0 all set     a key that says: a point is here, no deeper than that

   Such a key never stays: the point that it is of has a lesser one, and is projected. */
#include "device/cuda/warp.cuh"
#include "render/points/render_groups_cuda.cuh"
#include "render/points/render_record_cuda.cuh"
#include "render/points/render_show_cuda.cuh"
#include "render/render_cuda.h"

#define THREADS 256u
#define WARPS   (THREADS / CUDA_WARP)
#define GROUPS  6u /* samples of a warp's points that are told apart before each lane goes on by itself */

enum { OUTSIDE, DRAWN_BEFORE, NEW };

static uint64_t samples_of(const render_view *view) { return (uint64_t)view->width * view->height; }

/* ---- which batches */

/* Where this thread's item of a list goes, one atomic operation for a block. All threads call it. */
static __device__ __forceinline__ uint32_t block_reserve(uint32_t *count, bool wanted) {
    __shared__ uint32_t buffer[WARPS], first;
    uint32_t total = 0;
    const uint32_t place = block_append<WARPS>(wanted, buffer, &total);
    if (threadIdx.x == 0) first = total > 0 ? atomicAdd(count, total) : 0;
    __syncthreads();
    return first + place;
}

/* Puts the batches of those of a block's threads that want it into a list. All threads call it. */
static __device__ __forceinline__ void list_batch(const render_list *list, bool wanted, uint32_t b,
                                                  const render_steps *steps) {
    const bool patch = wanted && steps->patch != 0;
    const uint32_t front = block_reserve(&list->counts[0], wanted && !patch);
    const uint32_t back = list->capacity - 1 - block_reserve(&list->counts[1], patch);
    if (!wanted) return;
    list->batches[patch ? back : front] = b;
    list->steps[patch ? back : front] = *steps;
}

/* All threads of a launch share them out; nobody waits for these stores. */
static __device__ __forceinline__ void clear_keys(uint64_t *keys, uint64_t count) {
    const uint64_t all = (uint64_t)gridDim.x * THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += all) keys[i] = RENDER_NO_KEY;
}

/* Batches in the picture: those that the last frame shows go to known, the others are marked NEW. Before the first
   frame all are marked with its last one, 0. A mark may be of 255 frames ago: then a batch is drawn early for nothing.
   Keys become empty. */
static __global__ void __launch_bounds__(THREADS, 3) sort_batches(render_points points, render_view view, uint8_t last,
                                                                  uint8_t *states, render_list known, uint64_t *keys) {
    const uint32_t b = blockIdx.x * THREADS + threadIdx.x;
    bool drawn = false;
    render_steps steps;
    clear_keys(keys, (uint64_t)view.width * view.height);
    if (b < points.batch_count) {
        const render_batch *batch = &points.batches[b];
        const render_reach reach = render_box_reach(&view, batch->min, batch->max);
        drawn = !reach.outside && points.batch_shown[b] == last;
        states[b] = (uint8_t)(reach.outside ? OUTSIDE : drawn ? DRAWN_BEFORE : NEW);
    }
    if (drawn) {
        steps = render_make_steps(&view, points.batches[b].min, points.batches[b].max);
        const render_reach reach = render_tight_reach(&view, &steps);
        render_make_patch(&view, &reach, RENDER_PATCH, &steps);
    }
    list_batch(&known, drawn, b, &steps);
}

/* Lists the batches that are not behind what stands there. only_new: of those marked NEW; else of all inside.
   keys, limits: one is NULL */
static __global__ void __launch_bounds__(THREADS, 3)
    list_visible(render_points points, render_view view, render_depths depths, const uint64_t *keys,
                 const uint32_t *limits, const uint8_t *states, bool only_new, render_list list) {
    const uint32_t b = blockIdx.x * THREADS + threadIdx.x;
    bool visible = false;
    render_steps steps;
    if (b < points.batch_count && (only_new ? states[b] == NEW : states[b] != OUTSIDE)) {
        const render_batch *batch = &points.batches[b];
        steps = render_make_steps(&view, batch->min, batch->max);
        const render_reach reach =
            steps.usable != 0 ? render_tight_reach(&view, &steps) : render_box_reach(&view, batch->min, batch->max);
        visible = !render_is_hidden_box(&view, &depths, keys, limits, &reach);
        if (visible) render_make_patch(&view, &reach, keys != NULL ? RENDER_PATCH : RENDER_SUM_PATCH, &steps);
    }
    list_batch(&list, visible, b, &steps);
}

static __global__ void note_batches(const uint64_t *keys, uint64_t samples, render_points points, uint8_t number) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < samples) render_note_batch(&points, keys[i], number);
}

/* ---- their points */

/* How deep what a sample shows is by now, at most: as the second-level cache has it, where atomic operations are done.
 */
static __device__ __forceinline__ uint32_t depth_now(const uint64_t *keys, uint32_t sample) {
#if defined(__CUDA_ARCH__)
    return render_key_depth(__ldcg((const unsigned long long *)&keys[sample]));
#else
    return render_key_depth(keys[sample]);
#endif
}

/* Lowers what a sample shows to a bound of depth. Nobody waits for it. */
static __device__ __forceinline__ void lower(uint64_t *keys, uint32_t sample, uint32_t bound) {
    atomicMin((unsigned long long *)&keys[sample], (unsigned long long)bound << 32 | UINT32_MAX);
}

/* The same for all lanes together: of lanes with the same sample one does it, to the least of their bounds.
   sample: RENDER_OUTSIDE for a lane that has nothing */
static __device__ __forceinline__ void lower_together(uint64_t *keys, uint32_t sample, uint32_t bound) {
    uint32_t rest = __ballot_sync(CUDA_ALL, sample != RENDER_OUTSIDE), same;
    bool mine = sample != RENDER_OUTSIDE;
    CUDA_ROLLED
    for (uint32_t g = 0; g < GROUPS && rest != 0; g++, rest &= ~same) {
        const uint32_t first = warp_first(rest), of = warp_value_of(rest, sample, &same);
        if ((same & (same - 1)) == 0) break; /* sparse: the others have samples of their own, too */
        const uint32_t least = render_warp_min(sample == of ? bound : UINT32_MAX);
        if (sample == of) mine = first == warp_lane(), bound = least;
    }
    if (mine) lower(keys, sample, bound);
}

/* Rules out what is surely hidden. BEHIND: what is not surely behind the layer before is unsure, or ruled out. */
template <bool BEHIND>
static __device__ __forceinline__ void rule_out(const render_steps *steps, const uint64_t *keys, const uint64_t *before,
                                                render_four *four) {
    uint32_t shown[RENDER_AT_ONCE]; /* asked for together */
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        shown[j] = four->sample[j] != RENDER_OUTSIDE ? render_key_depth(keys[four->sample[j]]) : 0;
    }
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        const uint32_t sample = four->sample[j];
        if (sample == RENDER_OUTSIDE) continue;
        bool out = render_low(steps, four->depth[j]) > shown[j];
        if (BEHIND && !out) {
            const uint32_t front = render_key_depth(before[sample]);
            out = render_low(steps, four->depth[j]) <= front;
            if (out && render_high(steps, four->depth[j]) > front) four->unsure |= 1u << j;
        }
        if (out) four->sample[j] = RENDER_OUTSIDE;
    }
}

/* Which of a lane's points may be the nearest of their samples, a bit for each. All lanes call it. */
static __device__ __forceinline__ uint32_t find_candidates(const render_steps *steps, uint64_t *keys,
                                                           const render_four *four) {
    uint32_t mine = RENDER_OUTSIDE, bound = UINT32_MAX, candidates = four->unsure;
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        if (four->sample[j] == RENDER_OUTSIDE) continue;
        if (mine == RENDER_OUTSIDE) mine = four->sample[j];
        if (four->sample[j] == mine) bound = min(bound, render_high(steps, four->depth[j]));
    }
    lower_together(keys, mine, bound);
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        const uint32_t sample = four->sample[j];
        if (sample != RENDER_OUTSIDE && sample != mine) lower(keys, sample, render_high(steps, four->depth[j]));
    }
    uint32_t now[RENDER_AT_ONCE]; /* asked for together */
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        now[j] = four->sample[j] != RENDER_OUTSIDE ? depth_now(keys, four->sample[j]) : 0;
    }
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        const bool open = four->sample[j] != RENDER_OUTSIDE && render_low(steps, four->depth[j]) <= now[j];
        candidates |= (open ? 1u : 0u) << j;
    }
    return candidates;
}

/* Projects a point in double precision, which decides what is nearest. */
template <bool BEHIND>
static __device__ __forceinline__ void draw_point(const render_points *points, const render_view *view, uint32_t i,
                                                  const uint64_t *before, uint64_t *keys) {
    double at[3];
    render_load_at(points, i, at);
    const render_place place = render_to_camera(view, at[0], at[1], at[2]);
    const uint32_t sample = render_sample_of(view, place);
    if (sample == RENDER_OUTSIDE) return;
    const uint64_t key = render_key((float)place.z, i);
    if (key >= keys[sample]) return; /* may be old by now: then the atomic decides */
    if (BEHIND && render_key_depth(key) <= render_key_depth(before[sample])) return;
    atomicMin((unsigned long long *)&keys[sample], (unsigned long long)key);
}

/* Groups of a batch that has no patch. */
template <bool BEHIND>
static __device__ __forceinline__ void
draw_sparse(const render_points *points, const render_view *view, const render_steps *steps, uint32_t batch,
            uint32_t groups, const uint64_t *before, uint64_t *keys, uint8_t *list, uint16_t *queue) {
    uint32_t asked = 0;
    const render_group group = render_see_group(points, steps, view->perspective, batch);
    const uint32_t nearest = render_ordered(group.near_depth);
    const bool hidden = render_is_hidden_group(&group, view->width, nearest,
                                               [&](uint32_t sample) { return render_key_depth(keys[sample]); });
    groups &= __ballot_sync(CUDA_ALL, group.drawn && !hidden);
    render_for_groups(points, batch, groups, list, [&](uint32_t first, render_words words) {
        render_four four;
        render_find_four(steps, view->perspective, words, &four);
        rule_out<BEHIND>(steps, keys, before, &four);
        bool any = four.unsure != 0;
        for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) any = any || four.sample[j] != RENDER_OUTSIDE;
        if (!__any_sync(CUDA_ALL, any)) return;
        render_ask(find_candidates(steps, keys, &four), first, queue, &asked);
    });
    render_for_asked(queue, asked,
                     [&](uint32_t i) { draw_point<BEHIND>(points, view, batch * RENDER_BATCH + i, before, keys); });
}

/* ---- patches: most points are compared in shared memory, and lower what it holds */

/* A point that may be the nearest of its sample: not if its depth is below least by now.

     bits 31…16 place in the patch, or UNSURE    bits 15…0 point of the batch */
typedef struct candidate {
    uint32_t point, least;
} candidate;

#define UNSURE         RENDER_PATCH        /* a place that rules nothing out */
#define RULED_OUT      (RENDER_PATCH + 1u) /* a place that rules all out: no least depth of a patch is 0 */
#define MAX_CANDIDATES 320u                /* more than a chunk has points */

/* What a warp keeps in shared memory. */
typedef struct draw_memory {
    uint8_t groups[RENDER_GROUPS];
    uint32_t patch[RENDER_PATCH + 2]; /* at least how near something is, as positive floats */
    union {
        candidate candidates[MAX_CANDIDATES];
        uint16_t queue[RENDER_QUEUE];
    };
} draw_memory;

/* Four points of a lane: their places in the patch, and their least depths. A bit for each that is not ruled out.
   Without branches. */
static __device__ __forceinline__ uint32_t find_in_patch(const render_steps *s, bool perspective, const uint32_t *patch,
                                                         render_words words, uint32_t place[RENDER_AT_ONCE],
                                                         uint32_t least[RENDER_AT_ONCE]) {
    uint32_t open = 0;
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        float depth;
        place[j] = render_step_sample(s, perspective, render_step_float(words.x, j), render_step_float(words.y, j),
                                      render_step_float(words.z, j), RULED_OUT, UNSURE, &depth);
        least[j] = __float_as_uint(depth - s->depth_slack);
        const bool drawn = (words.x >> 16 * j & RENDER_STEP_DRAWN) != 0;
        open |= ((drawn & (least[j] <= patch[place[j]])) ? 1u : 0u) << j;
    }
    return open;
}

/* Puts a lane's open points behind the count candidates, and lowers the patch by all that are new. */
static __device__ __forceinline__ void add_candidates(const render_steps *steps, uint32_t open, uint32_t first,
                                                      const uint32_t place[RENDER_AT_ONCE],
                                                      const uint32_t least[RENDER_AT_ONCE], draw_memory *memory,
                                                      uint32_t *count) {
    const float both_slacks = 2.25f * steps->depth_slack; /* a sum rounds, too */
    const uint32_t before = *count;
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        const bool wanted = (open >> j & 1) != 0;
        const uint32_t to = warp_append(wanted, count);
        const candidate one = {place[j] << 16 | (first + j), least[j]};
        if (wanted) memory->candidates[to] = one;
    }
    __syncwarp();
    for (uint32_t at = before + warp_lane(); at < *count; at += CUDA_WARP) {
        const candidate one = memory->candidates[at];
        const uint32_t most = __float_as_uint(__uint_as_float(one.least) + both_slacks);
        if (one.point >> 16 != UNSURE) atomicMin(&memory->patch[one.point >> 16], most);
    }
    __syncwarp();
}

/* Keeps the candidates that nothing has ruled out since; returns how many. */
static __device__ __forceinline__ uint32_t keep_candidates(draw_memory *memory, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t from = 0; from < count; from += CUDA_WARP) {
        const uint32_t at = from + warp_lane();
        candidate one = {0, 0};
        bool wanted = at < count;
        if (wanted) {
            one = memory->candidates[at];
            wanted = one.least <= memory->patch[one.point >> 16];
        }
        __syncwarp();
        const uint32_t to = warp_append(wanted, &kept);
        if (wanted) memory->candidates[to] = one;
        __syncwarp();
    }
    return kept;
}

/* Draws those that floats do not rule out, in double precision. */
static __device__ __forceinline__ void draw_candidates(const render_points *points, const render_view *view,
                                                       uint32_t begin, uint32_t count, const draw_memory *memory,
                                                       uint64_t *keys) {
    for (uint32_t at = warp_lane(); at < count; at += CUDA_WARP) {
        draw_point<false>(points, view, begin + (memory->candidates[at].point & 0xFFFFu), NULL, keys);
    }
    __syncwarp();
}

/* Groups that can show something. Those within a sample lower it first, so that they rule each other out. */
static __device__ __forceinline__ uint32_t find_open_groups(const render_points *points, const render_view *view,
                                                            const render_steps *steps, uint32_t batch,
                                                            uint32_t *patch) {
    const render_group group = render_see_group(points, steps, view->perspective, batch);
    const uint32_t pitch = steps->width, nearest = __float_as_uint(group.near_depth);
    const bool known = group.known && group.near_depth > 0.0f;
    if (known && group.drawn && group.single) {
        atomicMin(&patch[group.v0 * pitch + group.u0], __float_as_uint(group.far_depth));
    }
    __syncwarp();
    const bool hidden = known && group.drawn &&
                        render_is_hidden_group(&group, pitch, nearest, [&](uint32_t place) { return patch[place]; });
    return __ballot_sync(CUDA_ALL, group.drawn && !hidden);
}

static __device__ __forceinline__ void draw_patch(const render_points *points, const render_view *view,
                                                  const render_steps *steps, uint32_t batch, uint32_t groups,
                                                  uint64_t *keys, draw_memory *memory) {
    uint32_t count = 0;
    const uint32_t begin = batch * RENDER_BATCH;
    if (warp_lane() == 0) memory->patch[UNSURE] = UINT32_MAX;
    if (warp_lane() == 0) memory->patch[RULED_OUT] = 0;
    const float by = 1.0f / (float)steps->width;
    for (uint32_t place = warp_lane(); place < render_patch_size(steps); place += CUDA_WARP) {
        memory->patch[place] = render_positive(render_key_depth(keys[render_patch_sample(view, steps, by, place)]));
    }
    __syncwarp();
    groups &= find_open_groups(points, view, steps, batch, memory->patch);
    render_for_groups(points, batch, groups, memory->groups, [&](uint32_t first, render_words words) {
        uint32_t place[RENDER_AT_ONCE], least[RENDER_AT_ONCE];
        const uint32_t open = find_in_patch(steps, view->perspective, memory->patch, words, place, least);
        if (!__any_sync(CUDA_ALL, open != 0)) return;
        add_candidates(steps, open, first, place, least, memory, &count);
        if (count <= MAX_CANDIDATES - RENDER_CHUNK) return;
        count = keep_candidates(memory, count);
        if (count <= MAX_CANDIDATES - RENDER_CHUNK) return;
        draw_candidates(points, view, begin, count, memory, keys);
        count = 0;
    });
    count = keep_candidates(memory, count);
    draw_candidates(points, view, begin, count, memory, keys);
}

template <bool BEHIND>
static __global__ void __launch_bounds__(THREADS, 4)
    draw_list(render_points points, render_view view, render_list list, const uint64_t *before, uint64_t *keys) {
    __shared__ draw_memory memories[WARPS];
    draw_memory *memory = &memories[threadIdx.x / CUDA_WARP];
    render_for_parts(&list, [&](uint32_t batch, const render_steps &steps, uint32_t groups) {
        if (!BEHIND && steps.patch != 0) {
            draw_patch(&points, &view, &steps, batch, groups, keys, memory);
        } else {
            render_steps whole = steps;
            if (BEHIND && steps.patch != 0) render_leave_patch(&view, &whole);
            draw_sparse<BEHIND>(&points, &view, &whole, batch, groups, before, keys, memory->groups, memory->queue);
        }
    });
}

/* ---- what stands in front: a block for 64 x 64 samples

     level 0   8 x 8 squares of 8 x 8 samples, a warp for each row of them
     level 1   4 x 4        level 2   2 x 2        level 3   1, in shared memory

   Larger squares are not made: a box that covers more is compared with several of these. */

#define LEVELS 4u
#define SIDE   8u /* squares of a block's side, at level 0 */

/* Returns the farthest depth of a square of 8 x 8 samples, two for each lane; all lanes get it. */
static __device__ __forceinline__ uint32_t farthest_of(const render_view *view, const uint64_t *keys,
                                                       const uint32_t *limits, uint32_t x, uint32_t y) {
    const uint32_t u = x * RENDER_DEPTHS_SIDE + warp_lane() % RENDER_DEPTHS_SIDE;
    uint32_t farthest = 0;
    for (uint32_t half = 0; half < 2; half++) {
        const uint32_t v = y * RENDER_DEPTHS_SIDE + half * 4 + warp_lane() / RENDER_DEPTHS_SIDE;
        if (u >= view->width || v >= view->height) continue;
        const uint64_t i = (uint64_t)v * view->width + u;
        farthest = max(farthest, keys != NULL ? render_key_depth(keys[i]) : limits[i]);
    }
    return render_warp_max(farthest);
}

static __global__ void measure_squares(render_view view, const uint64_t *keys, const uint32_t *limits,
                                       render_depths depths, uint32_t blocks_u) {
    __shared__ uint32_t squares[SIDE][SIDE];
    const uint32_t x0 = blockIdx.x % blocks_u * SIDE, y0 = blockIdx.x / blocks_u * SIDE, row = threadIdx.x / CUDA_WARP;
    for (uint32_t x = 0; x < SIDE; x++) {
        const uint32_t farthest = farthest_of(&view, keys, limits, x0 + x, y0 + row);
        if (warp_lane() == x) squares[row][x] = farthest;
    }
    for (uint32_t level = 0; level < depths.level_count; level++) {
        const uint32_t side = SIDE >> level, x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
        const bool mine = x < side && y < side;
        uint32_t farthest = 0;
        __syncthreads();
        if (mine && level == 0) farthest = squares[y][x];
        if (mine && level > 0) {
            farthest = max(max(squares[2 * y][2 * x], squares[2 * y][2 * x + 1]),
                           max(squares[2 * y + 1][2 * x], squares[2 * y + 1][2 * x + 1]));
        }
        __syncthreads();
        if (!mine) continue;
        squares[y][x] = farthest;
        const uint32_t u = (x0 >> level) + x, v = (y0 >> level) + y;
        if (u >= depths.width[level] || v >= depths.height[level]) continue;
        depths.farthest[depths.first[level] + (uint64_t)v * depths.width[level] + u] = farthest;
    }
}

mote_status render_measure_depths_cuda(mote_renderer *renderer, const render_view *view, const uint64_t *keys) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    render_depths *depths = &frame->depths;
    const uint32_t blocks_u = (depths->width[0] + SIDE - 1) / SIDE, blocks_v = (depths->height[0] + SIDE - 1) / SIDE;
    if (depths->level_count > LEVELS) depths->level_count = LEVELS;
    CUDA_LAUNCH(gpu, measure_squares, blocks_u * blocks_v, THREADS, *view, keys, frame->limits, *depths, blocks_u);
    return cuda_launched(gpu, "measuring depths");
}

/* ---- steps */

mote_status render_find_nearest_cuda(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const render_points points = renderer->points;
    const render_view view = job->view;
    const uint8_t last = frame->number;
    const uint32_t blocks = cuda_blocks(points.batch_count, THREADS),
                   clear = cuda_blocks_up_to(cuda_full_blocks(gpu, THREADS), samples_of(&view), 8 * THREADS),
                   full = cuda_resident_blocks(gpu, (const void *)draw_list<false>, THREADS);
    frame->number = (uint8_t)(last % 255 + 1);
    render_depths_size(&view, &frame->depths);
    frame->depths.farthest = (uint32_t *)render_buffer_of(renderer, frame->depths.total * sizeof(uint32_t));
    if (frame->depths.farthest == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(gpu, sort_batches, blocks > clear ? blocks : clear, THREADS, points, view, last, frame->batch_states,
                frame->known, frame->keys[0]);
    CUDA_LAUNCH(gpu, (draw_list<false>), full, THREADS, points, view, frame->known, (const uint64_t *)NULL,
                frame->keys[0]);
    MOTE_TRY(render_measure_depths_cuda(renderer, &view, frame->keys[0]));
    CUDA_LAUNCH(gpu, list_visible, blocks, THREADS, points, view, frame->depths, frame->keys[0], (const uint32_t *)NULL,
                frame->batch_states, true, frame->others);
    CUDA_LAUNCH(gpu, (draw_list<false>), full, THREADS, points, view, frame->others, (const uint64_t *)NULL,
                frame->keys[0]);
    return cuda_launched(gpu, "drawing points");
}

mote_status render_list_within_cuda(mote_renderer *renderer, const render_view *view) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    render_begin_list(frame, RENDER_LIST_MORE, &frame->others);
    MOTE_TRY(render_measure_depths_cuda(renderer, view, NULL));
    CUDA_LAUNCH(gpu, list_visible, cuda_blocks(renderer->points.batch_count, THREADS), THREADS, renderer->points, *view,
                frame->depths, (const uint64_t *)NULL, frame->limits, frame->batch_states, false, frame->others);
    return cuda_launched(gpu, "listing points");
}

/* Batches that the last frame showed have most of what is behind a layer, too; of the others, those come that are not
   behind it. */
mote_status render_find_behind_cuda(mote_renderer *renderer, const render_job *job, uint32_t layer) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const uint64_t size_bytes = samples_of(&job->view) * sizeof(uint64_t);
    const uint32_t full = cuda_resident_blocks(gpu, (const void *)draw_list<true>, THREADS);
    render_list known = frame->known;
    frame->keys[layer + 1] = (uint64_t *)render_buffer_of(renderer, size_bytes);
    if (frame->keys[layer + 1] == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, frame->keys[layer + 1], 0xFF, size_bytes));
    known.taken = &frame->counters->taken[RENDER_LIST_AGAIN + layer];
    CUDA_LAUNCH(gpu, (draw_list<true>), full, THREADS, renderer->points, job->view, known, frame->keys[layer],
                frame->keys[layer + 1]);
    render_begin_list(frame, RENDER_LIST_MORE + layer, &frame->others);
    MOTE_TRY(render_measure_depths_cuda(renderer, &job->view, frame->keys[layer + 1]));
    CUDA_LAUNCH(gpu, list_visible, cuda_blocks(renderer->points.batch_count, THREADS), THREADS, renderer->points,
                job->view, frame->depths, frame->keys[layer + 1], (const uint32_t *)NULL, frame->batch_states, true,
                frame->others);
    CUDA_LAUNCH(gpu, (draw_list<true>), full, THREADS, renderer->points, job->view, frame->others, frame->keys[layer],
                frame->keys[layer + 1]);
    return cuda_launched(gpu, "drawing layers");
}

/* ---- samples */

/* A sample's colour is written by one instruction. */
static __global__ void show_points(render_shown shown, render_samples to) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (uint64_t)shown.view.width * shown.view.height) return;
    const render_shown_sample sample = render_show_sample(&shown, i);
    const uint16_t *const color = sample.color;
    to.depth[i] = sample.depth;
    ((uint64_t *)to.color)[i] =
        (uint64_t)color[3] << 48 | (uint64_t)color[2] << 32 | (uint64_t)color[1] << 16 | (uint64_t)color[0];
    if (to.index != NULL) to.index[i] = sample.index;
    for (int k = 0; k < 3 && shown.normals; k++) to.normal[3 * i + k] = sample.normal[k];
}

mote_status render_note_shown_cuda(mote_renderer *renderer, const render_view *view) {
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    CUDA_LAUNCH(renderer->device, note_batches, cuda_blocks(samples_of(view), THREADS), THREADS, frame->keys[0],
                samples_of(view), renderer->points, frame->number);
    return cuda_launched(renderer->device, "drawing points");
}

mote_status render_show_points_cuda(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    if (render_pixels_are_points(job)) return MOTE_OK; /* shading asks for them, sample by sample */
    CUDA_LAUNCH(gpu, show_points, cuda_blocks(samples_of(&job->view), THREADS), THREADS,
                render_what_is_shown(renderer, job), frame->samples);
    return cuda_launched(gpu, "showing points");
}
