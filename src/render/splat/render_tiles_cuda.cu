/* Splats by tiles of 16 x 16 samples, for speed: a block for each tile, a thread for each sample, which keeps its limit
   and its sums in registers. No atomics on samples, and no sums in memory.

   The block brings the splats of its list to shared memory, and each quarter of a warp, which has 4 x 2 samples, picks
   those that can cover one of its own: so most threads have a fragment most of the time.

     warp   0   0   1   1        lane  0  1  2  3 |  8  9 10 11
            2   2   3   3              4  5  6  7 | 12 13 14 15
            4   4   5   5             ------------+------------
            6   6   7   7             16 17 18 19 | 24 25 26 27
                                      20 21 22 23 | 28 29 30 31

   The limits that tell which splats are hidden are asked for at the samples of points alone. Where a tile has many, all
   its samples get one, and note whose it is: it is still the limit after others were hidden, if that splat was not. */
#include <stddef.h>

#include "device/cuda/warp.cuh"
#include "render/splat/render_splat_cuda.cuh"

#define SIDE     SPLAT_TILE
#define SAMPLES  (SIDE * SIDE)
#define WARPS    (SAMPLES / CUDA_WARP)
#define QUARTERS 4u
#define QUARTER  (CUDA_WARP / QUARTERS)
#define PATCH_U  4u /* samples of a quarter */
#define PATCH_V  2u
#define FEW      64u  /* points of a tile: a warp finds the limit of one, its lanes over the splats */
#define FEW_LIST 128u /* splats of a tile whose fragments are kept from limits to sums */
#define KEPT     14u  /* fragments of a sample that are kept */
#define CHUNK    256u /* splats at once: their sums fit 32 bits, for a fragment adds up to 1023 * 1023 */
#define WORDS    (uint32_t)(sizeof(render_splat) / sizeof(uint4))
#define COLOR_AT (uint32_t)(offsetof(render_splat, color) / sizeof(uint32_t))

/* ---- a tile's splats in shared memory */

typedef struct splat_bounds {
    uint16_t u0, v0, u1, v1;
} splat_bounds;

/* What a block keeps in shared memory of at most MAX splats. */
template <uint32_t MAX> struct tile_memory_of {
    static const uint32_t max = MAX;
    uint4 words[MAX * WORDS];
    splat_bounds bounds[MAX];
    uint8_t picked[WARPS * QUARTERS][MAX];
};
typedef tile_memory_of<CHUNK> tile_memory;

/* Splats first to end of a list, as many as there is room for; returns how many. All threads of the block call it. */
template <class MEMORY>
static __device__ __forceinline__ uint32_t load_splats(const splat_pass *pass, const splat_tiles *tiles, uint32_t first,
                                                       uint32_t end, MEMORY *memory) {
    const uint32_t count = min(end - first, MEMORY::max);
    __syncthreads();
    for (uint32_t w = threadIdx.x; w < count * WORDS; w += SAMPLES) {
        const uint4 word = ((const uint4 *)&pass->splats[tiles->splats[first + w / WORDS]])[w % WORDS];
        memory->words[w] = word;
        if (w % WORDS == 0) memcpy(&memory->bounds[w / WORDS], &word, sizeof(splat_bounds));
    }
    __syncthreads();
    return count;
}

template <class MEMORY> static __device__ __forceinline__ render_splat splat_at(const MEMORY *memory, uint32_t s) {
    uint4 words[WORDS];
    render_splat splat;
    static_assert(sizeof words == sizeof splat, "splats are whole words");
#pragma unroll
    for (uint32_t w = 0; w < WORDS; w++) words[w] = memory->words[s * WORDS + w];
    memcpy(&splat, words, sizeof splat);
    return splat;
}

static __device__ __forceinline__ bool is_over(const splat_bounds *b, uint32_t u0, uint32_t v0, uint32_t u1,
                                               uint32_t v1) {
    return b->u0 <= u1 && b->u1 >= u0 && b->v0 <= v1 && b->v1 >= v0;
}

/* The sample of a thread. */
typedef struct tile_sample {
    uint32_t u, v;
    uint64_t number;
    bool inside; /* the picture */
} tile_sample;

static __device__ __forceinline__ tile_sample sample_of_thread(const splat_pass *pass, const splat_tiles *tiles) {
    const uint32_t warp = threadIdx.x / CUDA_WARP, lane = warp_lane();
    tile_sample s;
    const uint32_t column = 2 * (warp % 2) + lane / QUARTER % 2, row = 2 * (warp / 2) + lane / QUARTER / 2;
    s.u = blockIdx.x % tiles->wide * SIDE + column * PATCH_U + lane % PATCH_U;
    s.v = blockIdx.x / tiles->wide * SIDE + row * PATCH_V + lane % QUARTER / PATCH_U;
    s.number = (uint64_t)s.v * pass->view.width + s.u;
    s.inside = s.u < pass->view.width && s.v < pass->view.height;
    return s;
}

/* The splats that can cover samples of this thread's quarter of a warp; returns how many. */
template <class MEMORY>
static __device__ __forceinline__ uint32_t pick_splats(MEMORY *memory, uint32_t count, const tile_sample *sample) {
    const uint32_t u = warp_broadcast(sample->u, 0), v = warp_broadcast(sample->v, 0);
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    uint32_t counts[QUARTERS] = {0, 0, 0, 0}, mine = 0;
    for (uint32_t from = 0; from < count; from += CUDA_WARP) {
        const uint32_t s = from + warp_lane();
        const splat_bounds bounds = memory->bounds[min(s, count - 1)];
#pragma unroll
        for (uint32_t q = 0; q < QUARTERS; q++) {
            const uint32_t u0 = u + q % 2 * PATCH_U, v0 = v + q / 2 * PATCH_V;
            const bool over = s < count && is_over(&bounds, u0, v0, u0 + PATCH_U - 1, v0 + PATCH_V - 1);
            const uint32_t to = warp_append(over, &counts[q]);
            if (over) memory->picked[warp * QUARTERS + q][to] = (uint8_t)s;
        }
    }
    __syncwarp();
#pragma unroll
    for (uint32_t q = 0; q < QUARTERS; q++) mine = warp_lane() / QUARTER == q ? counts[q] : mine;
    return mine;
}

/* Whether a splat covers a sample. */
static __device__ __forceinline__ bool find_fragment(const splat_pass *pass, const render_splat *splat, uint32_t u,
                                                     uint32_t v, render_fragment *f) {
    if (u < splat->u0 || u > splat->u1 || v < splat->v0 || v > splat->v1) return false;
    const float du = (float)((int32_t)u - splat->u) + splat->off_u, dv = (float)((int32_t)v - splat->v) + splat->off_v;
    *f = render_fragment_at(splat, pass->view.perspective, pass->near_depth, du, dv);
    return f->inside != 0;
}

/* Calls visit(fragment, splat, its number in shared memory) for what covers the sample, of picked splats. */
template <class MEMORY, class VISIT>
static __device__ __forceinline__ void for_fragments(const splat_pass *pass, const MEMORY *memory,
                                                     const tile_sample *sample, uint32_t picked, VISIT visit) {
    const uint8_t *mine = memory->picked[threadIdx.x / QUARTER];
    for (uint32_t n = 0; n < picked; n++) {
        const uint32_t s = mine[n];
        const render_splat splat = splat_at(memory, s);
        render_fragment f;
        if (find_fragment(pass, &splat, sample->u, sample->v, &f)) visit(f, splat, s);
    }
}

/* Calls visit(first of the tile's list, how many of it) for splats that are in shared memory then. All threads of the
   block call it. */
template <class VISIT>
static __device__ __forceinline__ void for_chunks(const splat_pass *pass, const splat_tiles *tiles, tile_memory *memory,
                                                  VISIT visit) {
    const uint32_t begin = tiles->first[blockIdx.x], end = tiles->first[blockIdx.x + 1];
    for (uint32_t first = begin; first < end; first += CHUNK) {
        visit(first, load_splats(pass, tiles, first, end, memory));
    }
}

/* ---- limits */

static __device__ __forceinline__ uint32_t limit_of(const render_fragment *f, const render_splat *splat) {
    return render_ordered_float(f->depth + splat->tolerance);
}

/* The limit of a sample, and the splat that makes it. */
typedef struct tile_limit {
    uint32_t limit, splat;
} tile_limit;

/* Lowers a limit by picked splats. list: of the splats in shared memory */
static __device__ __forceinline__ void find_limit(const splat_pass *pass, const tile_memory *memory,
                                                  const tile_sample *sample, uint32_t picked, const uint32_t *list,
                                                  tile_limit *limit) {
    uint32_t least = limit->limit, best = UINT32_MAX;
    for_fragments(pass, memory, sample, picked, [&](const render_fragment &f, const render_splat &splat, uint32_t s) {
        const uint32_t mine = limit_of(&f, &splat);
        best = mine < least ? s : best;
        least = min(least, mine);
    });
    if (best == UINT32_MAX) return;
    limit->limit = least;
    limit->splat = list[best];
}

/* Finds the limit of a sample by a warp, of all splats in shared memory. */
static __device__ __forceinline__ uint32_t find_limit_by_warp(const splat_pass *pass, const tile_memory *memory,
                                                              uint32_t u, uint32_t v, uint32_t count) {
    uint32_t limit = UINT32_MAX;
    for (uint32_t s = warp_lane(); s < count; s += CUDA_WARP) {
        if (!is_over(&memory->bounds[s], u, v, u, v)) continue;
        const render_splat splat = splat_at(memory, s);
        render_fragment f;
        if (find_fragment(pass, &splat, u, v, &f)) limit = min(limit, limit_of(&f, &splat));
    }
    return warp_min(limit);
}

static __device__ __forceinline__ bool shows_point(const render_screen *screen, const tile_sample *sample) {
    const uint32_t block = render_block_of(screen, sample->u / RENDER_BLOCK, sample->v / RENDER_BLOCK);
    const uint32_t bit = sample->v % RENDER_BLOCK * RENDER_BLOCK + sample->u % RENDER_BLOCK;
    return sample->inside && (screen->layers[0].mask[block] >> bit & 1) != 0;
}

/* Points of a tile, in shared memory. */
typedef struct tile_points {
    uint32_t buffer[WARPS], limit[FEW];
    uint64_t number[FEW];
    uint16_t u[FEW], v[FEW];
} tile_points;

/* Where points are few, a warp for each. */
static __device__ __forceinline__ void limit_points(const splat_pass *pass, const splat_tiles *tiles,
                                                    tile_memory *memory, tile_points *points, uint32_t count) {
    if (threadIdx.x < count) points->limit[threadIdx.x] = UINT32_MAX;
    for_chunks(pass, tiles, memory, [&](uint32_t, uint32_t splats) {
        for (uint32_t n = threadIdx.x / CUDA_WARP; n < count; n += WARPS) {
            const uint32_t limit = find_limit_by_warp(pass, memory, points->u[n], points->v[n], splats);
            if (warp_lane() == 0) points->limit[n] = min(points->limit[n], limit);
        }
    });
    __syncthreads();
    if (threadIdx.x < count) pass->limits[points->number[threadIdx.x]] = points->limit[threadIdx.x];
}

/* Limits of the samples that show a point; the others are not set. Layers behind the front have no samples of their
   own. */
static __global__ void __launch_bounds__(SAMPLES)
    limit_tiles(splat_pass pass, splat_tiles tiles, render_screen screen) {
    __shared__ tile_memory memory;
    __shared__ tile_points points;
    const tile_sample sample = sample_of_thread(&pass, &tiles);
    const bool shown = shows_point(&screen, &sample);
    uint32_t count = 0;
    const uint32_t place = block_append<WARPS>(shown, points.buffer, &count);
    if (count <= FEW) {
        if (shown) {
            points.number[place] = sample.number;
            points.u[place] = (uint16_t)sample.u;
            points.v[place] = (uint16_t)sample.v;
        }
        if (threadIdx.x == 0) tiles.complete[blockIdx.x] = 0;
        if (count > 0) limit_points(&pass, &tiles, &memory, &points, count);
        return;
    }
    tile_limit limit = {UINT32_MAX, UINT32_MAX};
    for_chunks(&pass, &tiles, &memory, [&](uint32_t first, uint32_t splats) {
        find_limit(&pass, &memory, &sample, pick_splats(&memory, splats, &sample), tiles.splats + first, &limit);
    });
    if (threadIdx.x == 0) tiles.complete[blockIdx.x] = 1;
    if (!sample.inside) return;
    pass.limits[sample.number] = limit.limit;
    tiles.nearest[sample.number] = limit.splat;
}

/* ---- sums */

/* Sums of a chunk of splats. */
typedef struct run_sums {
    int32_t weight, color[3], normal[3];
    int64_t depth;
} run_sums;

static __device__ __forceinline__ void add_run(const run_sums *run, render_sums *sums) {
    sums->weight += run->weight;
    sums->depth += run->depth;
    for (int k = 0; k < 3; k++) {
        sums->color[k] += run->color[k];
        sums->normal[k] += run->normal[k];
    }
}

/* The splat that covers a sample most. */
typedef struct best_splat {
    uint64_t weight_place; /* the largest is the best */
    uint32_t splat;
} best_splat;

/* Adds a fragment that is not behind the limit. splat: its number, asked for if it is the best */
template <class NUMBER>
static __device__ __forceinline__ void add_fragment(float depth, int32_t weight, float limit, float scale,
                                                    uint32_t color, const int16_t normal[3], uint32_t place,
                                                    NUMBER number, run_sums *run, best_splat *best) {
    run->weight += weight;
    run->depth += (int64_t)weight * render_depth_steps(limit, depth, scale);
    for (int k = 0; k < 3; k++) {
        run->color[k] += weight * (int32_t)(color >> 8 * k & 255u);
        run->normal[k] += weight * normal[k];
    }
    const uint64_t mine = (uint64_t)weight << 32 | (uint32_t)~place;
    if (mine <= best->weight_place) return;
    best->weight_place = mine;
    best->splat = number();
}

/* Adds the fragments of picked splats up to the limit. list: of the splats in shared memory */
template <class MEMORY>
static __device__ __forceinline__ void add_fragments(const splat_pass *pass, const MEMORY *memory,
                                                     const tile_sample *sample, uint32_t picked, float limit,
                                                     const uint32_t *list, render_sums *sums, best_splat *best) {
    const float scale = render_depth_scale(pass->view.perspective, pass->focal, limit);
    run_sums run = {0, {0, 0, 0}, {0, 0, 0}, 0};
    for_fragments(pass, memory, sample, picked, [&](const render_fragment &f, const render_splat &splat, uint32_t s) {
        if (!(f.depth <= limit)) return;
        add_fragment(
            f.depth, render_weight_of(f.weight), limit, scale, splat.color, splat.normal, splat.place,
            [&] { return list[s]; }, &run, best);
    });
    add_run(&run, sums);
}

/* The limit of a thread's sample from before others were hidden. Returns whether it still holds for all samples of the
   warp. */
static __device__ __forceinline__ bool keep_limit(const splat_pass *pass, const splat_tiles *tiles,
                                                  const tile_sample *sample, tile_limit *limit) {
    if (tiles->complete[blockIdx.x] == 0) return false;
    bool holds = true;
    if (sample->inside) {
        const uint32_t nearest = tiles->nearest[sample->number];
        limit->limit = pass->limits[sample->number];
        holds = nearest == UINT32_MAX || render_is_drawn(&pass->splats[nearest]);
    }
    if (__all_sync(CUDA_ALL, holds)) return true;
    limit->limit = UINT32_MAX;
    return false;
}

/* Whether a tile's limits are found anew, and its list is so short that what was found is kept for the sums. */
static __device__ __forceinline__ bool keeps_fragments(const splat_tiles *tiles) {
    const uint32_t count = tiles->first[blockIdx.x + 1] - tiles->first[blockIdx.x];
    return tiles->complete[blockIdx.x] == 0 && count <= FEW_LIST;
}

/* Fragments of the samples of a tile: depth, and bits 31…16 weight, 15…0 splat in shared memory. */
typedef struct kept_fragment {
    float depth;
    uint32_t weight_splat;
} kept_fragment;

/* Finds the limit of a thread's sample, and keeps its fragments; returns how many it has, of which KEPT at most are
   kept. */
static __device__ __forceinline__ uint32_t keep_fragments(const splat_pass *pass,
                                                          const tile_memory_of<FEW_LIST> *memory,
                                                          const tile_sample *sample, uint32_t picked,
                                                          kept_fragment kept[KEPT][SAMPLES], uint32_t *limit) {
    uint32_t count = 0;
    for_fragments(pass, memory, sample, picked, [&](const render_fragment &f, const render_splat &splat, uint32_t s) {
        const kept_fragment one = {f.depth, (uint32_t)render_weight_of(f.weight) << 16 | s};
        *limit = min(*limit, limit_of(&f, &splat));
        if (count < KEPT) kept[count][threadIdx.x] = one;
        count++;
    });
    return count;
}

/* Adds what was kept. */
static_assert(offsetof(render_splat, normal) % sizeof(uint4) == 0 &&
                  offsetof(render_splat, place) == offsetof(render_splat, normal) + 8,
              "the last word of a splat has its normal and place");
static __device__ __forceinline__ void add_kept(const splat_pass *pass, const tile_memory_of<FEW_LIST> *memory,
                                                const kept_fragment kept[KEPT][SAMPLES], uint32_t count, float limit,
                                                const uint32_t *list, render_sums *sums, best_splat *best) {
    const float scale = render_depth_scale(pass->view.perspective, pass->focal, limit);
    run_sums run = {0, {0, 0, 0}, {0, 0, 0}, 0};
    for (uint32_t n = 0; n < count; n++) {
        const kept_fragment one = kept[n][threadIdx.x];
        if (!(one.depth <= limit)) continue;
        const uint32_t s = one.weight_splat & 0xFFFFu;
        const uint4 last = memory->words[s * WORDS + WORDS - 1]; /* normal, iterations, place, radius */
        const uint32_t color = ((const uint32_t *)memory->words)[s * WORDS * 4 + COLOR_AT];
        const int16_t normal[3] = {(int16_t)last.x, (int16_t)(last.x >> 16), (int16_t)last.y};
        add_fragment(
            one.depth, (int32_t)(one.weight_splat >> 16), limit, scale, color, normal, last.z, [&] { return list[s]; },
            &run, best);
    }
    add_run(&run, sums);
}

/* Tiles of few points and splats. */
static __global__ void __launch_bounds__(SAMPLES, 4)
    show_few_tiles(splat_pass pass, splat_tiles tiles, render_screen screen, render_points points, render_samples to,
                   render_value shown) {
    __shared__ tile_memory_of<FEW_LIST> memory;
    __shared__ kept_fragment kept[KEPT][SAMPLES];
    if (!keeps_fragments(&tiles)) return;
    const tile_sample sample = sample_of_thread(&pass, &tiles);
    const uint32_t begin = tiles.first[blockIdx.x], *list = tiles.splats + begin;
    uint32_t ordered = UINT32_MAX;
    render_sums sums = {0, {0, 0, 0}, {0, 0, 0}, 0};
    best_splat best = {0, UINT32_MAX};
    const uint32_t splats = load_splats(&pass, &tiles, begin, tiles.first[blockIdx.x + 1], &memory);
    const uint32_t picked = splats > 0 ? pick_splats(&memory, splats, &sample) : 0;
    const uint32_t count = keep_fragments(&pass, &memory, &sample, picked, kept, &ordered);
    const float limit = render_float_of_ordered(ordered);
    if (__any_sync(CUDA_ALL, count > KEPT)) {
        add_fragments(&pass, &memory, &sample, picked, limit, list, &sums, &best);
    } else {
        add_kept(&pass, &memory, kept, count, limit, list, &sums, &best);
    }
    if (!sample.inside) return;
    render_show_splat(&screen, &sums, limit, pass.focal, pass.splats, pass.wants_best ? best.splat : UINT32_MAX,
                      &points, &to, shown, sample.number);
}

static __global__ void __launch_bounds__(SAMPLES, 3)
    show_tiles(splat_pass pass, splat_tiles tiles, render_screen screen, render_points points, render_samples to,
               render_value shown) {
    __shared__ tile_memory memory;
    if (keeps_fragments(&tiles)) return;
    const tile_sample sample = sample_of_thread(&pass, &tiles);
    const bool alone = tiles.first[blockIdx.x + 1] - tiles.first[blockIdx.x] <= CHUNK; /* all splats fit */
    uint32_t picked = 0;
    tile_limit ordered = {UINT32_MAX, UINT32_MAX};
    render_sums sums = {0, {0, 0, 0}, {0, 0, 0}, 0};
    best_splat best = {0, UINT32_MAX};
    const bool known = keep_limit(&pass, &tiles, &sample, &ordered);
    if (__syncthreads_or(!known) && !alone) {
        for_chunks(&pass, &tiles, &memory, [&](uint32_t first, uint32_t splats) {
            if (known) return;
            picked = pick_splats(&memory, splats, &sample);
            find_limit(&pass, &memory, &sample, picked, tiles.splats + first, &ordered);
        });
    }
    for_chunks(&pass, &tiles, &memory, [&](uint32_t first, uint32_t splats) {
        picked = pick_splats(&memory, splats, &sample);
        if (!known && alone) find_limit(&pass, &memory, &sample, picked, tiles.splats + first, &ordered);
        add_fragments(&pass, &memory, &sample, picked, render_float_of_ordered(ordered.limit), tiles.splats + first,
                      &sums, &best);
    });
    if (!sample.inside) return;
    render_show_splat(&screen, &sums, render_float_of_ordered(ordered.limit), pass.focal, pass.splats,
                      pass.wants_best ? best.splat : UINT32_MAX, &points, &to, shown, sample.number);
}

mote_status render_limit_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, const splat_tiles *tiles) {
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    CUDA_LAUNCH(renderer->device, limit_tiles, tiles->count, SAMPLES, *pass, *tiles, frame->screen);
    return cuda_launched(renderer->device, "drawing splats");
}

mote_status render_show_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, const splat_tiles *tiles) {
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    CUDA_LAUNCH(renderer->device, show_few_tiles, tiles->count, SAMPLES, *pass, *tiles, frame->screen, renderer->points,
                frame->samples, frame->shown);
    CUDA_LAUNCH(renderer->device, show_tiles, tiles->count, SAMPLES, *pass, *tiles, frame->screen, renderer->points,
                frame->samples, frame->shown);
    return cuda_launched(renderer->device, "drawing splats");
}
