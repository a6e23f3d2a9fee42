/* Steps: coordinates of 15 bits within a batch's box, for speed alone. They rule most points of a frame out for 6 bytes
   each, or tell the sample of a point and about how deep it is. What they cannot tell, doubles decide (as
   render_short_math.h says of floats, for CPU cores).

     steps      of 32 points eight words of x, of y and of z, each of four points, 16 bits each
                x      1 for a point that is drawn, 0 for one without a colour | 15 bits
                y, z   1 | 15 bits
                       step q stands for min + extent (q + 1/2) / 32768

   The upper bit makes 16 bits the upper mantissa of a float: 1 + q / 32768, with one byte permutation and no
   conversion. The frame's view of a batch is linear in these numbers. */
#ifndef MOTE_RENDER_STEPS_CUH
#define MOTE_RENDER_STEPS_CUH

#include "device/cuda/warp.cuh"
#include "render/points/render_depths.h"
#include "render/points/render_short_math.h"
#include "render/renderer.h"

#define RENDER_STEPS      32768.0
#define RENDER_STEP_DRAWN 0x8000u
#define RENDER_STEP_MAX   0x7FFFu
#define RENDER_AT_ONCE    4u /* points of a word: a thread takes these */

/* What rounds, in sizes of the numbers that go in: each is at least twice what is counted here, in units of 2^-24. */
#define RENDER_STEP_HALF     0x1p-15     /* of the half extents: half a step, exactly */
#define RENDER_STEP_TURNING  0x1p-18     /* of the half extents: axes (4), base (3), three sums (21) */
#define RENDER_STEP_BASE     0x1p-21     /* of the middle: base (1), three sums (3) */
#define RENDER_STEP_PROJECTS 0x1p-21     /* of the picture: reciprocal (2), product and sum (1), centers (1) */
#define RENDER_ROUNDS_UP_TO  0x1p22      /* what is less than this is rounded by adding RENDER_ROUNDING */
#define RENDER_ROUNDING      12582912.0f /* 1.5 · 2^23: its neighbours among floats are whole numbers */

/* ---- points of a batch as steps */

static __device__ __forceinline__ uint32_t render_step_of(double at, double min, double max) {
    const double step = (at - min) / (max - min) * RENDER_STEPS; /* not a number: all are in one place */
    return RENDER_STEP_DRAWN | (step >= 1 ? (step < RENDER_STEPS - 1 ? (uint32_t)step : 32767u) : 0u);
}

/* 1 + q / 32768 of one of four points. */
static __device__ __forceinline__ float render_step_float(uint64_t word, uint32_t point) {
    const uint32_t two = (uint32_t)(word >> (point < 2 ? 0 : 32));
#if defined(__CUDA_ARCH__)
    return __uint_as_float(__byte_perm(two, 0x3F000000u, point % 2 == 0 ? 0x7104u : 0x7324u));
#else
    return __uint_as_float(0x3F000000u | (two >> 16 * (point % 2) & 0xFFFFu) << 8);
#endif
}

/* ---- how a frame sees a batch */

/* right = base + turn · steps, and so on; right and down are times the focal length. */
typedef struct alignas(16) render_steps {
    float base[3], turn[3][3];
    float center_u, center_v; /* of the samples below, less half a sample: then rounding tells the sample */
    float slack;              /* in the picture, samples */
    float sure;               /* half a sample less the slack */
    float depth_slack;
    uint16_t usable;        /* 0: doubles decide about all its points */
    uint16_t patch;         /* 1: the samples below are all that the box covers, and depths are positive */
    uint16_t u0, v0;        /* of the part: where its samples begin; 0 unless they are a patch */
    uint16_t width, height; /* how many there are */
} render_steps;

/* How the frame sees the points of a box. */
static __device__ __forceinline__ render_steps render_make_steps(const render_view *view, const double min[3],
                                                                 const double max[3]) {
    double middle[3], extent[3], half = 0, size = 0;
    render_steps s;
    for (int k = 0; k < 3; k++) {
        const double low = render_size_of(min[k]), high = render_size_of(max[k]);
        middle[k] = render_batch_middle(min[k], max[k]);
        extent[k] = max[k] - min[k];
        half += 0.5 * extent[k];
        size += (low > high ? low : high) + render_size_of(view->eye[k]);
    }
    const render_place at = render_to_camera(view, middle[0], middle[1], middle[2]);
    const double x = render_size_of(at.x), y = render_size_of(at.y), depth = render_size_of(at.z) + half;
    const double sideways = (x > y ? x : y) + half;
    const double turned = half * (RENDER_STEP_HALF + RENDER_STEP_TURNING) + size * RENDER_BOX_SLACK;
    const double side_slack = turned + sideways * RENDER_STEP_BASE, depth_slack = turned + depth * RENDER_STEP_BASE;
    const double nearest = at.z - half - depth_slack, farthest = at.z + half + depth_slack;
    const double scale = render_scale_at(view, nearest), lean = view->perspective ? sideways / nearest : 0;
    const double center_u = view->center_u - view->left, center_v = view->center_v - view->top;
    const double across = (1 + render_size_of(center_u)) + (render_size_of(center_v) + scale * sideways);
    const double slack = scale * (side_slack + lean * depth_slack) + across * RENDER_STEP_PROJECTS;
    const double largest = (sideways + depth) * (1 + render_size_of(view->focal)) + scale;
    const double base[3] = {at.x, at.y, at.z}, *const axes[3] = {view->right, view->down, view->forward};
    for (int a = 0; a < 3; a++) {
        const double by = a < 2 ? view->focal : 1;
        double from = base[a]; /* where all steps were -1: those of the middle are 1/2, half a step before it */
        for (int k = 0; k < 3; k++) {
            from -= axes[a][k] * extent[k] * (1.5 - 0.5 / RENDER_STEPS);
            s.turn[a][k] = (float)(by * axes[a][k] * extent[k]);
        }
        s.base[a] = (float)(by * from);
    }
    s.center_u = (float)(center_u - 0.5);
    s.center_v = (float)(center_v - 0.5);
    s.slack = (float)(slack * 1.0001);
    s.sure = (float)(0.5 - slack * 1.0001);
    s.depth_slack = (float)(depth_slack * 1.0001);
    s.usable = nearest > view->near_depth && farthest < view->far_depth && slack < RENDER_MAX_SLACK &&
               turned > RENDER_SHORT_MIN && largest < RENDER_SHORT_MAX && across < RENDER_ROUNDS_UP_TO;
    s.patch = 0;
    s.u0 = s.v0 = 0;
    s.width = (uint16_t)view->width;
    s.height = (uint16_t)view->height;
    return s;
}

/* One over a positive number, within 2^-23 of it. */
static __device__ __forceinline__ float render_reciprocal(float value) {
#if defined(__CUDA_ARCH__)
    float one_over;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(one_over) : "f"(value));
    return one_over;
#else
    return 1.0f / value;
#endif
}

/* The sample that surely shows a point of a usable batch, RENDER_OUTSIDE, or RENDER_UNSURE.
   depth: within the slack */
static __device__ __forceinline__ uint32_t render_step_sample(const render_steps *s, bool perspective, float x, float y,
                                                              float z, uint32_t outside, uint32_t unsure,
                                                              float *depth) {
    const float right = fmaf(s->turn[0][2], z, fmaf(s->turn[0][1], y, fmaf(s->turn[0][0], x, s->base[0])));
    const float down = fmaf(s->turn[1][2], z, fmaf(s->turn[1][1], y, fmaf(s->turn[1][0], x, s->base[1])));
    *depth = fmaf(s->turn[2][2], z, fmaf(s->turn[2][1], y, fmaf(s->turn[2][0], x, s->base[2])));
    const float by = perspective ? render_reciprocal(*depth) : 1.0f;
    const float u = fmaf(right, by, s->center_u), v = fmaf(down, by, s->center_v);
    const float near_u = u + RENDER_ROUNDING, near_v = v + RENDER_ROUNDING;
    const float off_u = fabsf(u - (near_u - RENDER_ROUNDING)), off_v = fabsf(v - (near_v - RENDER_ROUNDING));
    const uint32_t zero = 0x4B400000u; /* RENDER_ROUNDING */
    const uint32_t column = __float_as_uint(near_u) - zero, row = __float_as_uint(near_v) - zero;
    const bool is_sure = fmaxf(off_u, off_v) < s->sure, is_inside = (column < s->width) & (row < s->height);
    const uint32_t sample = is_inside ? row * s->width + column : outside;
    return is_sure ? sample : unsure;
}

/* ---- boxes */

#define RENDER_LOOK_AT 8u /* samples a side: a box that covers no more is compared with each of them */

/* The first or last sample of count that a coordinate of the picture is in. */
static __device__ __forceinline__ uint32_t render_float_sample(float at, uint32_t count) {
    return (uint32_t)fminf(fmaxf(floorf(at + 0.5f), 0.0f), (float)(count - 1));
}

/* What the box of a usable batch in the picture can show, tighter than render_box_reach: by its corners, which are as
   right as points are. Twice the slacks: what is added to them rounds, too. */
static __device__ __forceinline__ render_reach render_tight_reach(const render_view *view, const render_steps *s) {
    const float first = 1 - 0x1p-16f, last = 2 - 0x1p-16f; /* half a step before and behind all */
    float low_u = INFINITY, low_v = INFINITY, high_u = -INFINITY, high_v = -INFINITY, nearest = INFINITY;
    render_reach reach;
#pragma unroll
    for (int corner = 0; corner < 8; corner++) {
        const float x = (corner & 1) != 0 ? last : first, y = (corner & 2) != 0 ? last : first;
        const float z = (corner & 4) != 0 ? last : first;
        float at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = fmaf(s->turn[a][2], z, fmaf(s->turn[a][1], y, fmaf(s->turn[a][0], x, s->base[a])));
        }
        const float by = view->perspective ? render_reciprocal(at[2]) : 1.0f;
        const float u = fmaf(at[0], by, s->center_u), v = fmaf(at[1], by, s->center_v);
        low_u = fminf(low_u, u);
        low_v = fminf(low_v, v);
        high_u = fmaxf(high_u, u);
        high_v = fmaxf(high_v, v);
        nearest = fminf(nearest, at[2]);
    }
    reach.outside = false;
    reach.depth = nearest - 2 * s->depth_slack;
    reach.u0 = render_float_sample(low_u - 2 * s->slack, view->width);
    reach.v0 = render_float_sample(low_v - 2 * s->slack, view->height);
    reach.u1 = render_float_sample(high_u + 2 * s->slack, view->width);
    reach.v1 = render_float_sample(high_v + 2 * s->slack, view->height);
    return reach;
}

/* Whether a box is behind all that its samples show: keys, or, if these are NULL, limits. Boxes of many samples are
   compared with squares of samples. */
static __device__ __forceinline__ bool render_is_hidden_box(const render_view *view, const render_depths *depths,
                                                            const uint64_t *keys, const uint32_t *limits,
                                                            const render_reach *reach) {
    if (reach->u1 - reach->u0 >= RENDER_LOOK_AT || reach->v1 - reach->v0 >= RENDER_LOOK_AT) {
        return render_is_behind(depths, reach);
    }
    const uint32_t depth = render_ordered_float((float)reach->depth);
    for (uint32_t v = reach->v0; v <= reach->v1; v++) {
        uint32_t farthest = 0; /* of a row, of which four samples are asked for together */
        for (uint32_t u = reach->u0; u <= reach->u1; u += RENDER_AT_ONCE) {
#pragma unroll
            for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
                const uint64_t i = (uint64_t)v * view->width + min(u + j, reach->u1);
                farthest = max(farthest, keys != NULL ? render_key_depth(keys[i]) : limits[i]);
            }
        }
        if (depth <= farthest) return false;
    }
    return true;
}

/* ---- patches: the samples of a batch that covers few, in shared memory

     sample of the part   (u0 + x, v0 + y)
     place in the patch   width y + x */

#define RENDER_PATCH     512u /* places, for the nearest points */
#define RENDER_SUM_PATCH 248u /* for averages, which need more memory for each: all of a block is within 48 KiB */

/* Steps then tell places in the patch, if it has at most max. Its middle is no farther from them than that of the part,
   or than the points are: so centers round within the slack, too; something more is added to it. */
static __device__ __forceinline__ void render_make_patch(const render_view *view, const render_reach *reach,
                                                         uint32_t max, render_steps *s) {
    const uint32_t width = reach->u1 - reach->u0 + 1, height = reach->v1 - reach->v0 + 1;
    if (s->usable == 0 || (uint64_t)width * height > max) return;
    if (!(reach->depth > 1.5 * s->depth_slack)) return;
    s->patch = 1;
    s->u0 = (uint16_t)reach->u0;
    s->v0 = (uint16_t)reach->v0;
    s->width = (uint16_t)width;
    s->height = (uint16_t)height;
    s->center_u = (float)(view->center_u - view->left - 0.5 - reach->u0);
    s->center_v = (float)(view->center_v - view->top - 0.5 - reach->v0);
    s->sure -= 0x1p-15f;
}

/* Steps tell samples of the part again. */
static __device__ __forceinline__ void render_leave_patch(const render_view *view, render_steps *s) {
    s->patch = 0;
    s->u0 = s->v0 = 0;
    s->width = (uint16_t)view->width;
    s->height = (uint16_t)view->height;
    s->center_u = (float)(view->center_u - view->left - 0.5);
    s->center_v = (float)(view->center_v - view->top - 0.5);
}

/* A positive depth, of an ordered integer; all that is not positive becomes 0. Its bits are ordered as it is. */
static __device__ __forceinline__ uint32_t render_positive(uint32_t ordered) {
    return (ordered & 0x80000000u) != 0 ? ordered ^ 0x80000000u : 0u;
}

static __device__ __forceinline__ uint32_t render_patch_size(const render_steps *s) {
    return (uint32_t)s->width * s->height;
}

/* The sample of a place of a patch. by: one over its width; a place is less than 2^10, so y is exact */
static __device__ __forceinline__ uint32_t render_patch_sample(const render_view *view, const render_steps *s, float by,
                                                               uint32_t place) {
    const uint32_t y = (uint32_t)(((float)place + 0.5f) * by), x = place - y * s->width;
    return (s->v0 + y) * view->width + s->u0 + x;
}

/* ---- points of a warp */

/* What steps tell of four points of each lane. */
typedef struct render_four {
    uint32_t sample[RENDER_AT_ONCE]; /* RENDER_OUTSIDE: ruled out, or unsure */
    float depth[RENDER_AT_ONCE];     /* within the slack */
    uint32_t unsure;                 /* a bit for each */
} render_four;

/* render_ordered_float in two instructions. */
static __device__ __forceinline__ uint32_t render_ordered(float value) {
    const uint32_t bits = __float_as_uint(value);
    return bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000u);
}

/* The depth of a point is at least, and at most, that, as an ordered integer. */
static __device__ __forceinline__ uint32_t render_low(const render_steps *s, float depth) {
    return render_ordered(depth - s->depth_slack);
}

static __device__ __forceinline__ uint32_t render_high(const render_steps *s, float depth) {
    return render_ordered(depth + s->depth_slack);
}

/* The steps of four points. */
typedef struct render_words {
    uint64_t x, y, z;
} render_words;

static __device__ __forceinline__ void render_find_four(const render_steps *s, bool perspective, render_words words,
                                                        render_four *four) {
    four->unsure = 0;
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        const bool drawn = (words.x >> 16 * j & RENDER_STEP_DRAWN) != 0;
        uint32_t sample = RENDER_UNSURE;
        four->depth[j] = 0;
        if (s->usable != 0) {
            sample = render_step_sample(s, perspective, render_step_float(words.x, j), render_step_float(words.y, j),
                                        render_step_float(words.z, j), RENDER_OUTSIDE, RENDER_UNSURE, &four->depth[j]);
        }
        if (drawn && sample == RENDER_UNSURE) four->unsure |= 1u << j;
        four->sample[j] = drawn && sample != RENDER_UNSURE ? sample : RENDER_OUTSIDE;
    }
}

#define RENDER_CHUNK  (CUDA_WARP * RENDER_AT_ONCE) /* points that a warp takes at once */
#define RENDER_CHUNKS (RENDER_BATCH / RENDER_CHUNK)
#define RENDER_QUEUE  RENDER_BATCH

/* Points that doubles decide about are put into a queue, so that lanes do not wait for each other. asked: a bit for
   each of a lane's four; first: of these, in the batch; queue: of this warp, in shared memory; count: the same in all
   lanes */
static __device__ __forceinline__ void render_ask(uint32_t asked, uint32_t first, uint16_t *queue, uint32_t *count) {
    if (!__any_sync(CUDA_ALL, asked != 0)) return;
#pragma unroll
    for (uint32_t j = 0; j < RENDER_AT_ONCE; j++) {
        const bool wanted = (asked >> j & 1) != 0;
        const uint32_t place = warp_append(wanted, count);
        if (wanted) queue[place] = (uint16_t)(first + j);
    }
}

/* visit(point of the batch) for all that was asked. */
template <class VISIT>
static __device__ __forceinline__ void render_for_asked(const uint16_t *queue, uint32_t count, VISIT visit) {
    __syncwarp();
    for (uint32_t at = warp_lane(); at < count; at += CUDA_WARP) visit((uint32_t)queue[at]);
    __syncwarp();
}

/* ---- what a warp adds up; all lanes call these */

static __device__ __forceinline__ uint32_t render_warp_min(uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_min_sync(CUDA_ALL, value);
#else
    return warp_min(value);
#endif
}

static __device__ __forceinline__ uint32_t render_warp_max(uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(CUDA_ALL, value);
#else
    return warp_max(value);
#endif
}

static __device__ __forceinline__ uint32_t render_warp_sum(uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(CUDA_ALL, value);
#else
    return warp_sum(value);
#endif
}

#endif
