/* Groups: 32 points of a batch with a box and the sum of their colours, for speed alone. A lane of a warp looks at one
   each, before any of the points is read: most of what is hidden, or outside the picture, is left out so; and the
   average of what is far away is added up group by group.

     batch       [ group 0 | group 1 | … | group 31 ]     32 points each
     box[axis]   bits 31…16 largest step, bits 15…0 least step of the drawn points; least above largest: there are none
     sums        bits 47…42 count, bits 41…28 blue, 27…14 green, 13…0 red     (of colours up to 32 · 255)

   A warp then goes through the points of groups that are left, four groups at once: lane l has points of the
   (l / 8)-th of them. */
#ifndef MOTE_RENDER_GROUPS_CUH
#define MOTE_RENDER_GROUPS_CUH

#include "device/cuda/warp.cuh"
#include "render/points/render_steps_cuda.cuh"
#include "render/render_cuda.h"

#define RENDER_GROUP       32u
#define RENDER_GROUPS      (RENDER_BATCH / RENDER_GROUP) /* as many as a warp has lanes */
#define RENDER_GROUP_LANES (RENDER_GROUP / RENDER_AT_ONCE)
#define RENDER_GROUP_WORDS (3 * RENDER_GROUP_LANES) /* of steps: those of x, of y, of z */
#define RENDER_BATCH_WORDS (RENDER_GROUPS * RENDER_GROUP_WORDS)
#define RENDER_GROUP_LOOKS 16u /* samples: a group that covers more is not compared with them */

static __device__ __forceinline__ uint64_t render_pack_sums(uint64_t red, uint64_t green, uint64_t blue,
                                                            uint64_t count) {
    return count << 42 | blue << 28 | green << 14 | red;
}

/* What a group can show. */
typedef struct render_group {
    bool drawn;                  /* it has points to draw */
    bool known;                  /* what follows holds; else it can be anywhere */
    bool single;                 /* all its points are in one sample, (u0, v0) */
    float near_depth, far_depth; /* of its points; near is positive in a patch */
    uint32_t u0, v0, u1, v1;     /* the samples that it can cover, both ends included */
} render_group;

/* Half the extent of a linear function of steps over a group. */
static __device__ __forceinline__ float render_group_half(const float turn[3], const float half[3]) {
    return fabsf(turn[0]) * half[0] + fabsf(turn[1]) * half[1] + fabsf(turn[2]) * half[2];
}

/* u of all points is within the result of the middle's, in samples. by: one over the least depth, or 1 */
static __device__ __forceinline__ float render_group_reach(const render_steps *s, int axis, bool perspective, float u,
                                                           float by, const float half[3]) {
    float turn[3]; /* u depth - right is linear, and 0 in the middle */
    for (int k = 0; k < 3; k++) turn[k] = perspective ? fmaf(-u, s->turn[2][k], s->turn[axis][k]) : s->turn[axis][k];
    return fmaf(render_group_half(turn, half), by, 2 * s->slack);
}

/* The first and last of count samples that an interval covers; false: none. single: it is within one */
static __device__ __forceinline__ bool render_group_samples(float middle, float reach, uint32_t count, uint32_t *first,
                                                            uint32_t *last, bool *single) {
    const float low = floorf(middle - reach + 0.5f), high = floorf(middle + reach + 0.5f), end = (float)count;
    if (!(high >= 0) || !(low < end)) return false;
    *single = low == high;
    *first = (uint32_t)fmaxf(low, 0.0f);
    *last = (uint32_t)fminf(high, end - 1);
    return true;
}

/* What this lane's group of a batch can show. Twice the slacks of points: a middle and half an extent round, too. */
static __device__ __forceinline__ render_group render_see_group(const render_points *points, const render_steps *s,
                                                                bool perspective, uint32_t batch) {
    render_group group = {false, false, false, 0, 0, 0, 0, 0, 0};
    float middle[3], half[3];
    bool single_u = false, single_v = false;
    for (int k = 0; k < 3; k++) {
        const uint32_t box = points->group_box[k][batch * RENDER_GROUPS + warp_lane()];
        const float low = __uint_as_float(0x3F800000u | (box & 0x7FFFu) << 8);
        const float high = __uint_as_float(0x3F800000u | (box >> 16 & 0x7FFFu) << 8);
        middle[k] = 0.5f * (low + high);
        half[k] = 0.5f * (high - low);
        group.drawn = k == 0 ? low <= high : group.drawn;
    }
    if (!group.drawn || s->usable == 0) return group;
    float at[3];
    for (int a = 0; a < 3; a++) {
        at[a] =
            fmaf(s->turn[a][2], middle[2], fmaf(s->turn[a][1], middle[1], fmaf(s->turn[a][0], middle[0], s->base[a])));
    }
    const float deep = render_group_half(s->turn[2], half) + 2 * s->depth_slack;
    group.near_depth = at[2] - deep;
    group.far_depth = at[2] + deep;
    if (perspective && !(group.near_depth > 0.0f)) return group;
    const float by = perspective ? render_reciprocal(at[2]) : 1.0f, u = at[0] * by, v = at[1] * by;
    const float most = perspective ? render_reciprocal(group.near_depth) * 1.0001f : 1.0f;
    group.known = true;
    group.drawn = render_group_samples(s->center_u + u, render_group_reach(s, 0, perspective, u, most, half), s->width,
                                       &group.u0, &group.u1, &single_u) &&
                  render_group_samples(s->center_v + v, render_group_reach(s, 1, perspective, v, most, half), s->height,
                                       &group.v0, &group.v1, &single_v);
    group.single = single_u && single_v;
    return group;
}

/* Whether a group is behind all that it can cover: nearest and shown(sample), ordered alike. The samples of a row are
   asked for together. */
template <class SHOWN>
static __device__ __forceinline__ bool render_is_hidden_group(const render_group *group, uint32_t pitch,
                                                              uint32_t nearest, SHOWN shown) {
    if (!group->known || (group->u1 - group->u0 + 1) * (group->v1 - group->v0 + 1) > RENDER_GROUP_LOOKS) return false;
    for (uint32_t v = group->v0; v <= group->v1; v++) {
        uint32_t farthest = 0;
#pragma unroll 2
        for (uint32_t u = group->u0; u <= group->u1; u++) farthest = max(farthest, shown(v * pitch + u));
        if (nearest <= farthest) return false;
    }
    return true;
}

/* visit(first point of this lane's four, in the batch; their steps) for the points of groups, a bit each. Steps of a
   lane that has no points are zeros: not drawn. list: [RENDER_GROUPS] of this warp, in shared memory */
template <class VISIT>
static __device__ __forceinline__ void render_for_groups(const render_points *points, uint32_t batch, uint32_t groups,
                                                         uint8_t *list, VISIT visit) {
    const uint32_t count = (uint32_t)__popc(groups), slot = warp_lane() / RENDER_GROUP_LANES;
    const uint64_t *const steps =
        points->steps + (uint64_t)batch * RENDER_BATCH_WORDS + warp_lane() % RENDER_GROUP_LANES;
    if ((groups >> warp_lane() & 1) != 0) list[warp_rank(groups)] = (uint8_t)warp_lane();
    __syncwarp();
    const auto load = [&](uint32_t at, uint32_t *group) {
        render_words words = {0, 0, 0};
        *group = 0;
        if (at + slot >= count) return words;
        *group = list[at + slot];
        const uint64_t *const from = steps + *group * RENDER_GROUP_WORDS;
        words.x = from[0];
        words.y = from[RENDER_GROUP_LANES];
        words.z = from[2 * RENDER_GROUP_LANES];
        return words;
    };
    uint32_t group = 0;
    render_words next = load(0, &group);
    CUDA_ROLLED
    for (uint32_t at = 0; at < count; at += CUDA_WARP / RENDER_GROUP_LANES) {
        const render_words words = next;
        const uint32_t first = group * RENDER_GROUP + warp_lane() % RENDER_GROUP_LANES * RENDER_AT_ONCE;
        next = load(at + CUDA_WARP / RENDER_GROUP_LANES, &group);
        visit(first, words);
    }
    __syncwarp();
}

/* Work of a list, in the order in which it is begun. An item is a warp's work: a batch, or a part of its groups.
   Batches without a patch take longer, and come first. So that warps end at about the same time, these are in two parts
   where a warp gets only a few items; of very few batches all are in more parts.

     item   0 …                      sparse · sparse_parts …                 items
            batches without a patch                        those with one               */
typedef struct render_work {
    uint32_t sparse_items, items;
    uint32_t sparse_parts, parts;
} render_work;

static __device__ __forceinline__ render_work render_work_of(const render_list *list, uint32_t warps) {
    const uint32_t sparse = list->counts[0], dense = list->counts[1], all = sparse + dense;
    const bool few = all * RENDER_CHUNKS <= warps;
    render_work work;
    work.sparse_parts = few ? RENDER_CHUNKS : all < 4 * warps ? 2 : 1;
    work.parts = few ? RENDER_CHUNKS : all < warps ? 2 : 1;
    work.sparse_items = sparse * work.sparse_parts;
    work.items = work.sparse_items + dense * work.parts;
    return work;
}

static __device__ __forceinline__ uint32_t render_part_groups(uint32_t part, uint32_t parts) {
    const uint32_t count = RENDER_GROUPS / parts;
    return count == RENDER_GROUPS ? CUDA_ALL : ((1u << count) - 1) << part * count;
}

/* The place in the list, and the groups, of an item. */
static __device__ __forceinline__ uint32_t render_find_item(const render_list *list, const render_work *work,
                                                            uint32_t item, uint32_t *groups) {
    const bool sparse = item < work->sparse_items;
    const uint32_t at = sparse ? item : item - work->sparse_items, parts = sparse ? work->sparse_parts : work->parts;
    *groups = render_part_groups(at % parts, parts);
    return sparse ? at / parts : list->capacity - 1 - at / parts;
}

/* visit(batch, its steps, groups of the part) for all items of a list. A warp begins with that of its number, and takes
   what nobody has when it is done; it asks for that an item ahead. */
template <class VISIT> static __device__ __forceinline__ void render_for_parts(const render_list *list, VISIT visit) {
    const uint32_t block_warps = blockDim.x / CUDA_WARP, warps = gridDim.x * block_warps;
    const render_work work = render_work_of(list, warps);
    uint32_t item = blockIdx.x * block_warps + threadIdx.x / CUDA_WARP, next = 0;
    for (; item < work.items; item = warp_broadcast(next, 0)) {
        uint32_t groups;
        if (warp_lane() == 0) next = warps + atomicAdd(list->taken, 1u);
        const uint32_t place = render_find_item(list, &work, item, &groups);
        const render_steps steps = list->steps[place];
        visit(list->batches[place], steps, groups);
    }
}

#endif
