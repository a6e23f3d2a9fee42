/* Lists of the splats that can cover each tile of the picture: they are counted, where lists begin is added up, and
   they are filled. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "render/splat/render_splat_cuda.cuh"

#define THREADS    128u
#define OWN_TILES  8u        /* of a splat, that its thread goes through alone; the warp helps with more */
#define GROUP      CUDA_WARP /* threads of a splat where there are few of these */
#define FEW_SPLATS (1u << 16)
#define MAX_MEAN   12u        /* tiles of a splat, on average */
#define MIN_TILES  (1u << 26) /* of all splats: 256 MB of lists are never too long */

#define NO_TILE UINT32_MAX

/* The tiles of a splat, row after row. */
typedef struct splat_reach {
    uint32_t u0, v0, columns, count; /* count 0: it is not drawn */
} splat_reach;

static __device__ __forceinline__ splat_reach reach_of(const splat_pass *pass, uint32_t i) {
    splat_reach r = {0, 0, 1, 0};
    if (i >= pass->count || !render_is_drawn(&pass->splats[i])) return r;
    const render_splat *splat = &pass->splats[i];
    r.u0 = splat->u0 / SPLAT_TILE;
    r.v0 = splat->v0 / SPLAT_TILE;
    r.columns = splat->u1 / SPLAT_TILE - r.u0 + 1u;
    r.count = r.columns * (splat->v1 / SPLAT_TILE - r.v0 + 1u);
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

static uint32_t blocks_of(const splat_pass *pass) {
    return cuda_blocks(pass->count, pass->count < FEW_SPLATS ? THREADS / GROUP : THREADS);
}

static mote_status reserve_tiles(mote_renderer *renderer, const splat_pass *pass, splat_tiles *tiles) {
    memset(tiles, 0, sizeof *tiles);
    tiles->wide = (pass->view.width + SPLAT_TILE - 1) / SPLAT_TILE;
    tiles->count = tiles->wide * ((pass->view.height + SPLAT_TILE - 1) / SPLAT_TILE);
    tiles->first = (uint32_t *)render_buffer_of(renderer, ((uint64_t)tiles->count + 1) * sizeof(uint32_t));
    tiles->filled = (uint32_t *)render_buffer_of(renderer, ((uint64_t)tiles->count + 1) * sizeof(uint32_t));
    tiles->nearest =
        (uint32_t *)render_buffer_of(renderer, (uint64_t)pass->view.width * pass->view.height * sizeof(uint32_t));
    tiles->complete = (uint8_t *)render_buffer_of(renderer, tiles->count);
    if (tiles->first == NULL || tiles->filled == NULL || tiles->nearest == NULL || tiles->complete == NULL) {
        return MOTE_ERROR_MEMORY;
    }
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
