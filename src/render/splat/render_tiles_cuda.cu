/* Splats by tiles of 16 x 16 samples, for speed: a block for each tile, a thread for each sample, which keeps its limit
   and its sums in registers. No atomics on samples, and no sums in memory.

   The block brings the splats of its list to shared memory, and each quarter of a warp, which has 4 x 2 samples, picks
   those that can cover one of its own: so most threads have a fragment most of the time.

     warp   0   0   1   1        lane  0  1  2  3 |  8  9 10 11
            2   2   3   3              4  5  6  7 | 12 13 14 15
            4   4   5   5             ------------+------------
            6   6   7   7             16 17 18 19 | 24 25 26 27
                                      20 21 22 23 | 28 29 30 31

   The limits that tell which splats are hidden are asked for at the samples of points alone: others have none. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "render/splat/render_splat_cuda.cuh"

#define THREADS    128u /* of kernels with a thread for each splat */
#define SIDE       16u
#define SAMPLES    (SIDE * SIDE)
#define WARPS      (SAMPLES / CUDA_WARP)
#define QUARTERS   4u
#define QUARTER    (CUDA_WARP / QUARTERS)
#define PATCH_U    4u /* samples of a quarter */
#define PATCH_V    2u
#define OWN_TILES  8u /* of a splat, that its thread goes through alone; the warp helps with more */
#define GROUP      8u /* threads of a splat where there are few of these */
#define FEW_SPLATS (1u << 17)
#define MAX_MEAN   12u        /* tiles of a splat, on average */
#define MIN_TILES  (1u << 26) /* of all splats: 256 MB of lists are never too long */
#define FEW        64u        /* points of a tile: a warp finds the limit of one, its lanes over the splats */
#define CHUNK      256u       /* splats at once: their sums fit 32 bits, for a fragment adds up to 1023 * 1023 */
#define WORDS      (uint32_t)(sizeof(render_splat) / sizeof(uint4))

/* ---- lists */

#define NO_TILE UINT32_MAX

/* The tiles of a splat, row after row. */
typedef struct splat_reach {
    uint32_t u0, v0, columns, count; /* count 0: it is not drawn */
} splat_reach;

static __device__ __forceinline__ splat_reach reach_of(const splat_pass *pass, uint32_t i) {
    splat_reach r = {0, 0, 1, 0};
    if (i >= pass->count || !render_is_drawn(&pass->splats[i])) return r;
    const render_splat *splat = &pass->splats[i];
    r.u0 = splat->u0 / SIDE;
    r.v0 = splat->v0 / SIDE;
    r.columns = splat->u1 / SIDE - r.u0 + 1u;
    r.count = r.columns * (splat->v1 / SIDE - r.v0 + 1u);
    return r;
}

static __device__ __forceinline__ uint32_t tile_at(const splat_reach *r, uint32_t wide, uint32_t t) {
    return t < r->count ? (r->v0 + t / r->columns) * wide + r->u0 + t % r->columns : NO_TILE;
}

/* Calls visit(tile or NO_TILE, splat, together) for the tiles of the splats of a warp's threads: a thread for each, or
   LANES. together: many lanes may have the same tile. All lanes call it, and visit. */
template <uint32_t LANES, class VISIT>
static __device__ __forceinline__ void for_tiles(const splat_pass *pass, uint32_t wide, VISIT visit) {
    const uint32_t i = (blockIdx.x * THREADS + threadIdx.x) / LANES;
    splat_reach r = reach_of(pass, i);
    const bool large = LANES == 1 && r.count > OWN_TILES;
    if (large) r.count = 0;
    for (uint32_t t = threadIdx.x % LANES; __any_sync(CUDA_ALL, t < r.count); t += LANES) {
        visit(tile_at(&r, wide, t), i, LANES == 1);
    }
    for (uint32_t rest = __ballot_sync(CUDA_ALL, large); rest != 0; rest &= rest - 1) {
        const uint32_t one = warp_broadcast(i, warp_first(rest));
        const splat_reach all = reach_of(pass, one);
        for (uint32_t t = 0; t < all.count; t += CUDA_WARP) visit(tile_at(&all, wide, t + warp_lane()), one, false);
    }
}

/* The place of this lane's splat among those of its tile. together: lanes with the same tile ask as one. All lanes call
   it. */
static __device__ __forceinline__ uint32_t take_place(const splat_tiles *tiles, uint32_t tile, bool together) {
    uint32_t group = 1u << warp_lane(), same, place = 0;
    for (uint32_t rest = __ballot_sync(CUDA_ALL, together && tile != NO_TILE); rest != 0; rest &= ~same) {
        if (warp_value_of(rest, tile, &same) == tile) group = same;
    }
    const uint32_t leader = warp_first(group);
    if (tile != NO_TILE && warp_lane() == leader) place = atomicAdd(&tiles->filled[tile], (uint32_t)__popc(group));
    return warp_broadcast(place, leader) + warp_rank(group);
}

template <uint32_t LANES>
static __global__ void count_tiles(splat_pass pass, splat_tiles tiles, render_counters *counters) {
    __shared__ uint32_t buffer[THREADS / CUDA_WARP];
    uint32_t mine = 0;
    for_tiles<LANES>(&pass, tiles.wide, [&](uint32_t tile, uint32_t, bool together) {
        take_place(&tiles, tile, together);
        mine += tile != NO_TILE;
    });
    mine = block_sum<THREADS / CUDA_WARP>(mine, buffer);
    if (threadIdx.x == 0 && mine != 0) atomicAdd(&counters->tiles, (unsigned long long)mine);
}

template <uint32_t LANES> static __global__ void fill_tiles(splat_pass pass, splat_tiles tiles) {
    for_tiles<LANES>(&pass, tiles.wide, [&](uint32_t tile, uint32_t i, bool together) {
        const uint32_t place = take_place(&tiles, tile, together);
        if (tile != NO_TILE) tiles.splats[tiles.first[tile] + place] = i;
    });
}

/* ---- a tile's splats in shared memory */

typedef struct splat_bounds {
    uint16_t u0, v0, u1, v1;
} splat_bounds;

typedef struct tile_memory {
    uint4 words[CHUNK * WORDS];
    splat_bounds bounds[CHUNK];
    uint8_t picked[WARPS * QUARTERS][CHUNK];
} tile_memory;

/* Splats first to end of a list, at most CHUNK; returns how many. All threads of the block call it. */
static __device__ __forceinline__ uint32_t load_splats(const splat_pass *pass, const splat_tiles *tiles, uint32_t first,
                                                       uint32_t end, tile_memory *memory) {
    const uint32_t count = min(end - first, CHUNK);
    __syncthreads();
    for (uint32_t w = threadIdx.x; w < count * WORDS; w += SAMPLES) {
        const uint4 word = ((const uint4 *)&pass->splats[tiles->splats[first + w / WORDS]])[w % WORDS];
        memory->words[w] = word;
        if (w % WORDS == 0) memcpy(&memory->bounds[w / WORDS], &word, sizeof(splat_bounds));
    }
    __syncthreads();
    return count;
}

static __device__ __forceinline__ render_splat splat_at(const tile_memory *memory, uint32_t s) {
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
static __device__ __forceinline__ uint32_t pick_splats(tile_memory *memory, uint32_t count, const tile_sample *sample) {
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
template <class VISIT>
static __device__ __forceinline__ void for_fragments(const splat_pass *pass, const tile_memory *memory,
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

static __device__ __forceinline__ uint32_t find_limit(const splat_pass *pass, const tile_memory *memory,
                                                      const tile_sample *sample, uint32_t picked) {
    uint32_t limit = UINT32_MAX;
    for_fragments(pass, memory, sample, picked, [&](const render_fragment &f, const render_splat &splat, uint32_t) {
        limit = min(limit, limit_of(&f, &splat));
    });
    return limit;
}

/* By a warp, of all splats in shared memory. */
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
        if (count > 0) limit_points(&pass, &tiles, &memory, &points, count);
        return;
    }
    uint32_t limit = UINT32_MAX;
    for_chunks(&pass, &tiles, &memory, [&](uint32_t, uint32_t splats) {
        limit = min(limit, find_limit(&pass, &memory, &sample, pick_splats(&memory, splats, &sample)));
    });
    if (shown) pass.limits[sample.number] = limit;
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

/* Adds the fragments of picked splats up to the limit. list: of the splats in shared memory */
static __device__ __forceinline__ void add_fragments(const splat_pass *pass, const tile_memory *memory,
                                                     const tile_sample *sample, uint32_t picked, float limit,
                                                     const uint32_t *list, render_sums *sums, best_splat *best) {
    const float scale = render_depth_scale(pass->view.perspective, pass->focal, limit);
    run_sums run = {0, {0, 0, 0}, {0, 0, 0}, 0};
    for_fragments(pass, memory, sample, picked, [&](const render_fragment &f, const render_splat &splat, uint32_t s) {
        if (!(f.depth <= limit)) return;
        const int32_t weight = render_weight_of(f.weight);
        run.weight += weight;
        run.depth += (int64_t)weight * render_depth_steps(limit, f.depth, scale);
        for (int k = 0; k < 3; k++) {
            run.color[k] += weight * (int32_t)(splat.color >> 8 * k & 255u);
            run.normal[k] += weight * splat.normal[k];
        }
        const uint64_t mine = (uint64_t)weight << 32 | (uint32_t)~splat.place;
        if (mine <= best->weight_place) return;
        best->weight_place = mine;
        best->splat = list[s];
    });
    add_run(&run, sums);
}

static __global__ void __launch_bounds__(SAMPLES, 3)
    show_tiles(splat_pass pass, splat_tiles tiles, render_screen screen, render_points points, render_samples to,
               render_value shown) {
    __shared__ tile_memory memory;
    const tile_sample sample = sample_of_thread(&pass, &tiles);
    const bool alone = tiles.first[blockIdx.x + 1] - tiles.first[blockIdx.x] <= CHUNK; /* all splats fit */
    uint32_t ordered = UINT32_MAX, picked = 0;
    render_sums sums = {0, {0, 0, 0}, {0, 0, 0}, 0};
    best_splat best = {0, UINT32_MAX};
    for_chunks(&pass, &tiles, &memory, [&](uint32_t first, uint32_t splats) {
        picked = pick_splats(&memory, splats, &sample);
        ordered = min(ordered, find_limit(&pass, &memory, &sample, picked));
        if (!alone) return;
        add_fragments(&pass, &memory, &sample, picked, render_float_of_ordered(ordered), tiles.splats + first, &sums,
                      &best);
    });
    const float limit = render_float_of_ordered(ordered);
    if (!alone) {
        for_chunks(&pass, &tiles, &memory, [&](uint32_t first, uint32_t splats) {
            picked = pick_splats(&memory, splats, &sample);
            add_fragments(&pass, &memory, &sample, picked, limit, tiles.splats + first, &sums, &best);
        });
    }
    if (!sample.inside) return;
    render_show_splat(&screen, &sums, limit, pass.focal, pass.splats, pass.wants_best ? best.splat : UINT32_MAX,
                      &points, &to, shown, sample.number);
}

static uint32_t blocks_of(const splat_pass *pass) {
    return cuda_blocks(pass->count, pass->count < FEW_SPLATS ? THREADS / GROUP : THREADS);
}

static mote_status reserve_tiles(mote_renderer *renderer, const splat_pass *pass, splat_tiles *tiles) {
    memset(tiles, 0, sizeof *tiles);
    tiles->wide = (pass->view.width + SIDE - 1) / SIDE;
    tiles->count = tiles->wide * ((pass->view.height + SIDE - 1) / SIDE);
    tiles->first = (uint32_t *)render_buffer_of(renderer, ((uint64_t)tiles->count + 1) * sizeof(uint32_t));
    tiles->filled = (uint32_t *)render_buffer_of(renderer, ((uint64_t)tiles->count + 1) * sizeof(uint32_t));
    if (tiles->first == NULL || tiles->filled == NULL) return MOTE_ERROR_MEMORY;
    return cuda_fill(renderer->device, tiles->filled, 0, ((uint64_t)tiles->count + 1) * sizeof(uint32_t));
}

/* Where lists begin, while the host is told how long all are. */
static mote_status sum_tiles(mote_renderer *renderer, splat_tiles *tiles) {
    mote_device *gpu = renderer->device;
    MOTE_TRY(cuda_sum32(gpu, tiles->filled, tiles->first, (uint64_t)tiles->count + 1));
    return cuda_fill(gpu, tiles->filled, 0, tiles->count * sizeof(uint32_t));
}

mote_status render_count_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, splat_tiles *tiles, bool *fits) {
    mote_device *gpu = renderer->device;
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    unsigned long long *const total = (unsigned long long *)cuda_answer(gpu);
    device_transfer transfer;
    if (total == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(reserve_tiles(renderer, pass, tiles));
    const auto count = pass->count < FEW_SPLATS ? count_tiles<GROUP> : count_tiles<1>;
    CUDA_LAUNCH(gpu, count, blocks_of(pass), THREADS, *pass, *tiles, frame->counters);
    MOTE_TRY(cuda_launched(gpu, "drawing splats"));
    MOTE_TRY(cuda_download_begin(gpu, total, &frame->counters->tiles, sizeof *total, &transfer));
    const mote_status summed = sum_tiles(renderer, tiles);
    MOTE_TRY(cuda_wait(gpu, &transfer));
    tiles->total = *total;
    *fits = (*total <= MIN_TILES || *total <= MAX_MEAN * (uint64_t)pass->count) && *total < UINT32_MAX;
    return summed;
}

mote_status render_fill_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, splat_tiles *tiles) {
    mote_device *gpu = renderer->device;
    tiles->splats = (uint32_t *)render_buffer_of(renderer, tiles->total * sizeof(uint32_t));
    if (tiles->splats == NULL) return MOTE_ERROR_MEMORY;
    const auto fill = pass->count < FEW_SPLATS ? fill_tiles<GROUP> : fill_tiles<1>;
    CUDA_LAUNCH(gpu, fill, blocks_of(pass), THREADS, *pass, *tiles);
    return cuda_launched(gpu, "drawing splats");
}

mote_status render_limit_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, const splat_tiles *tiles) {
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    CUDA_LAUNCH(renderer->device, limit_tiles, tiles->count, SAMPLES, *pass, *tiles, frame->screen);
    return cuda_launched(renderer->device, "drawing splats");
}

mote_status render_show_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, const splat_tiles *tiles) {
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    CUDA_LAUNCH(renderer->device, show_tiles, tiles->count, SAMPLES, *pass, *tiles, frame->screen, renderer->points,
                frame->samples, frame->shown);
    return cuda_launched(renderer->device, "drawing splats");
}
