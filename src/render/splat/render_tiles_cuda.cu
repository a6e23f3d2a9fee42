/* Splats by tiles of 8 x 8 samples, for speed: a block for each tile, a thread for each sample, which keeps its limit
   and its sums in registers. No atomics on samples, and no sums in memory.

   The limits that tell which splats are hidden are asked for at the samples of points alone: others have none. A tile
   is a block of the quadtree, whose mask tells its points. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "render/splat/render_splat_cuda.cuh"

#define THREADS    128u /* of kernels with a thread for each splat */
#define SIDE       8u
#define SAMPLES    (SIDE * SIDE)
#define OWN_TILES  8u /* of a splat, that its thread goes through alone; the warp helps with more */
#define GROUP      8u /* threads of a splat where there are few of these */
#define FEW_SPLATS (1u << 17)
#define MAX_MEAN   24u        /* tiles of a splat, on average */
#define MIN_TILES  (1u << 26) /* of all splats: 256 MB of lists are never too long */
#define FEW        12u        /* points of a tile: a warp finds the limit of one, its lanes over the splats */
#define RUN        1024u      /* splats whose sums fit 32 bits: a fragment adds up to 1023 · 1023 */

static __device__ __forceinline__ uint32_t tiles_of(const render_splat *splat) {
    return (splat->u1 / SIDE - splat->u0 / SIDE + 1u) * (splat->v1 / SIDE - splat->v0 / SIDE + 1u);
}

/* Calls visit(tile) for some tiles of a splat: from first on, every step-th. */
template <class VISIT>
static __device__ __forceinline__ void for_some_tiles(const render_splat *splat, uint32_t wide, uint32_t first,
                                                      uint32_t step, VISIT visit) {
    const uint32_t u0 = splat->u0 / SIDE, v0 = splat->v0 / SIDE, columns = splat->u1 / SIDE - u0 + 1u;
    const uint32_t count = tiles_of(splat);
    for (uint32_t t = first; t < count; t += step) visit((v0 + t / columns) * wide + u0 + t % columns);
}

/* Calls visit(tile, splat) for each tile of the splats of a warp's threads: a thread for each, or LANES. All lanes call
   it. */
template <uint32_t LANES, class VISIT>
static __device__ __forceinline__ void for_tiles(const splat_pass *pass, uint32_t wide, VISIT visit) {
    if (LANES > 1) {
        const uint32_t i = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
        if (i >= pass->count || !render_is_drawn(&pass->splats[i])) return;
        for_some_tiles(&pass->splats[i], wide, lane, LANES, [&](uint32_t tile) { visit(tile, i); });
        return;
    }
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    const bool drawn = i < pass->count && render_is_drawn(&pass->splats[i]);
    const bool large = drawn && tiles_of(&pass->splats[i]) > OWN_TILES;
    if (drawn && !large) for_some_tiles(&pass->splats[i], wide, 0, 1, [&](uint32_t tile) { visit(tile, i); });
    for (uint32_t rest = __ballot_sync(CUDA_ALL, large); rest != 0; rest &= rest - 1) {
        const uint32_t one = warp_broadcast(i, warp_first(rest));
        for_some_tiles(&pass->splats[one], wide, warp_lane(), CUDA_WARP, [&](uint32_t tile) { visit(tile, one); });
    }
}

template <uint32_t LANES>
static __global__ void count_tiles(splat_pass pass, splat_tiles tiles, render_counters *counters) {
    unsigned long long mine = 0;
    for_tiles<LANES>(&pass, tiles.wide, [&](uint32_t tile, uint32_t) {
        atomicAdd(&tiles.filled[tile], 1u);
        mine++;
    });
    mine = warp_sum(mine);
    if (warp_lane() == 0 && mine != 0) atomicAdd(&counters->tiles, mine);
}

template <uint32_t LANES> static __global__ void fill_tiles(splat_pass pass, splat_tiles tiles) {
    for_tiles<LANES>(&pass, tiles.wide, [&](uint32_t tile, uint32_t i) {
        tiles.splats[tiles.first[tile] + atomicAdd(&tiles.filled[tile], 1u)] = i;
    });
}

/* A splat in words of 16 bytes. */
static __device__ __forceinline__ render_splat load_splat(const render_splat *from) {
    uint4 words[sizeof(render_splat) / sizeof(uint4)];
    render_splat splat;
    static_assert(sizeof words == sizeof splat, "splats are whole words");
#pragma unroll
    for (uint32_t w = 0; w < sizeof words / sizeof words[0]; w++) words[w] = ((const uint4 *)from)[w];
    memcpy(&splat, words, sizeof splat);
    return splat;
}

/* Calls visit(fragment, splat, its number) for what covers a sample, of every step-th splat in a list from first on. */
template <class VISIT>
static __device__ __forceinline__ void for_fragments(const splat_pass *pass, const splat_tiles *tiles, uint32_t first,
                                                     uint32_t end, uint32_t step, uint32_t u, uint32_t v, VISIT visit) {
    for (uint32_t at = first; at < end; at += step) {
        const uint32_t i = tiles->splats[at];
        const render_splat splat = load_splat(&pass->splats[i]);
        if (u < splat.u0 || u > splat.u1 || v < splat.v0 || v > splat.v1) continue;
        const float du = (float)((int32_t)u - splat.u) + splat.off_u, dv = (float)((int32_t)v - splat.v) + splat.off_v;
        const render_fragment f = render_fragment_at(&splat, pass->view.perspective, pass->near_depth, du, dv);
        if (f.inside != 0) visit(f, splat, i);
    }
}

/* first: 0, or a lane's, which looks at every step-th splat of the tile. */
static __device__ __forceinline__ uint32_t find_limit(const splat_pass *pass, const splat_tiles *tiles, uint32_t first,
                                                      uint32_t step, uint32_t u, uint32_t v) {
    uint32_t limit = UINT32_MAX;
    const uint32_t begin = tiles->first[blockIdx.x], end = tiles->first[blockIdx.x + 1];
    for_fragments(pass, tiles, begin + first, end, step, u, v,
                  [&](const render_fragment &f, const render_splat &splat, uint32_t) {
                      limit = min(limit, render_ordered_float(f.depth + splat.tolerance));
                  });
    return limit;
}

/* The n-th sample of this block's tile; false: beyond the picture. */
static __device__ __forceinline__ bool sample_of_tile(const splat_pass *pass, const splat_tiles *tiles, uint32_t n,
                                                      uint32_t *u, uint32_t *v) {
    *u = blockIdx.x % tiles->wide * SIDE + n % SIDE;
    *v = blockIdx.x / tiles->wide * SIDE + n / SIDE;
    return *u < pass->view.width && *v < pass->view.height;
}

/* Limits of the samples that show a point; the others are not set. Layers behind the front have no samples of their
   own. */
static __global__ void limit_tiles(splat_pass pass, splat_tiles tiles, render_screen screen) {
    __shared__ uint8_t samples[SAMPLES]; /* that show a point */
    const uint64_t mask =
        screen.layers[0].mask[render_block_of(&screen, blockIdx.x % tiles.wide, blockIdx.x / tiles.wide)];
    const uint32_t count = render_popcount(mask);
    uint32_t u, v;
    if ((mask >> threadIdx.x & 1) != 0) {
        samples[render_popcount(mask & ((1ull << threadIdx.x) - 1))] = (uint8_t)threadIdx.x;
    }
    __syncthreads();
    if (count > FEW) {
        if (threadIdx.x >= count) return;
        sample_of_tile(&pass, &tiles, samples[threadIdx.x], &u, &v);
        pass.limits[(uint64_t)v * pass.view.width + u] = find_limit(&pass, &tiles, 0, 1, u, v);
        return;
    }
    for (uint32_t n = threadIdx.x / CUDA_WARP; n < count; n += SAMPLES / CUDA_WARP) {
        sample_of_tile(&pass, &tiles, samples[n], &u, &v);
        const uint32_t limit = warp_min(find_limit(&pass, &tiles, warp_lane(), CUDA_WARP, u, v));
        if (warp_lane() == 0) pass.limits[(uint64_t)v * pass.view.width + u] = limit;
    }
}

/* Sums of a run of splats. */
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

static __global__ void show_tiles(splat_pass pass, splat_tiles tiles, render_screen screen, render_points points,
                                  render_samples to, render_value shown) {
    uint32_t u, v, best_splat = UINT32_MAX;
    if (!sample_of_tile(&pass, &tiles, threadIdx.x, &u, &v)) return;
    const float limit = render_float_of_ordered(find_limit(&pass, &tiles, 0, 1, u, v));
    const float scale = render_depth_scale(pass.view.perspective, pass.focal, limit);
    render_sums sums = {0, {0, 0, 0}, {0, 0, 0}, 0};
    uint64_t best = 0;
    const uint32_t end = tiles.first[blockIdx.x + 1];
    for (uint32_t first = tiles.first[blockIdx.x]; first < end; first += RUN) {
        run_sums run = {0, {0, 0, 0}, {0, 0, 0}, 0};
        for_fragments(&pass, &tiles, first, end - first < RUN ? end : first + RUN, 1, u, v,
                      [&](const render_fragment &f, const render_splat &splat, uint32_t i) {
                          if (!(f.depth <= limit)) return;
                          const int32_t weight = render_weight_of(f.weight);
                          run.weight += weight;
                          run.depth += (int64_t)weight * render_depth_steps(limit, f.depth, scale);
                          for (int k = 0; k < 3; k++) {
                              run.color[k] += weight * (int32_t)(splat.color >> 8 * k & 255u);
                              run.normal[k] += weight * splat.normal[k];
                          }
                          const uint64_t mine = (uint64_t)weight << 32 | (uint32_t)~splat.place;
                          if (mine <= best) return;
                          best = mine;
                          best_splat = i;
                      });
        add_run(&run, &sums);
    }
    render_show_splat(&screen, &sums, limit, pass.focal, pass.splats, pass.wants_best ? best_splat : UINT32_MAX,
                      &points, &to, shown, (uint64_t)v * pass.view.width + u);
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
