/* random and first sampling on the GPU, for all nodes and levels at once.

   A level's cells lie within those of the next coarser level, and a point's rank is the same at all levels. So a point
   represents its cell at every level down to the one at which it first meets a better point; that level is all there
   is to find. Two points share the cells down to the least gap between them in the order, so the nearest better point
   on either side says it: the two are met by playing off neighbours, in whatever groups. A thread plays the points of
   a unit, all against all, in registers. What may still lose to a point beyond its unit is open: the best up to one of
   the unit's ends whose way out is not closed by a gap coarser than where it has lost. The open points of a block's
   tile come together, are cut into units again and played, until few are left, each of which looks for its better
   points itself. What is then open to the ends of the tile, at most one point per end and level, goes to the next
   round, in which a tile unites what some tiles left open, until one tile holds all.

   Here levels are those of nodes: of a gap the level that first chooses the worse of two neighbours, as
   mote_lod_chosen has it; a point's level is the largest by which it has lost, 0 if it has not. */
#include "backend/cuda_kernel.h"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"
#include "lod/sample/lod_sample_cuda.h"

#define LOOK_BACK   32u          /* tiles, for the open point before */
#define NOTHING_BIT (1ull << 62) /* codes that differ there share the root's cell only */

/* Open points of the tiles of a round: slots for each tile, one per end and level. */
typedef struct open_points {
    uint32_t *positions; /* [slots · tiles], ascending within a tile */
    uint8_t *level;      /* by which each has lost so far */
    uint32_t *count;     /* [tiles] */
    uint32_t tiles;
} open_points;

/* A round: the first of all points in order, each later one of those that the round before left open. */
typedef struct sample_round {
    open_points in, out;
    uint32_t slots;
    uint32_t tiles_each; /* of the round before, that a tile unites */
} sample_round;

/* The points of a tile: a stretch of the order, or a list. */
typedef struct sample_points {
    const uint32_t *list; /* positions, or NULL */
    uint64_t first;       /* without a list */
    uint32_t size;
    uint64_t code_before, code_after; /* of the points beside */
} sample_points;

template <bool LIST> static __device__ uint64_t position_at(const sample_points *points, uint32_t i) {
    return LIST ? points->list[i] : points->first + i;
}

/* ---- the points of a tile become the first players */

/* A level of cells as one of nodes; finer ones than of the leaf do not matter. */
static __device__ uint32_t node_level(const lod_cuda_contest *in, uint32_t level, uint32_t leaf) {
    const int32_t of_node = (int32_t)(level + 1 - in->grid_bits);
    return (uint32_t)max(min(of_node, (int32_t)leaf), 0);
}

template <bool LIST>
static __device__ uint64_t code_at(const lod_cuda_contest *in, const sample_points *p, uint32_t i) {
    return i < p->size ? in->codes[position_at<LIST>(p, i)] : i == UINT32_MAX ? p->code_before : p->code_after;
}

template <bool LIST>
static __device__ void load_codes(const lod_cuda_contest *in, const sample_points *p, uint32_t first,
                                  uint64_t codes[UNIT]) {
    if (!LIST && first + UNIT <= p->size) {
        const ulonglong2 *from = (const ulonglong2 *)(in->codes + p->first + first);
#pragma unroll
        for (uint32_t k = 0; k < UNIT; k += 2) {
            const ulonglong2 two = from[k / 2];
            codes[k] = two.x;
            codes[k + 1] = two.y;
        }
        return;
    }
#pragma unroll
    for (uint32_t k = 0; k < UNIT; k++) codes[k] = code_at<LIST>(in, p, first + k);
}

/* Levels of the leaves, a byte per point; where there are no leaves yet, what no point is finer than. */
template <bool LIST>
static __device__ uint64_t load_leaves(const lod_cuda_contest *in, const sample_points *p, uint32_t first) {
    uint64_t leaves = 0;
    if (in->leaf_level == NULL) return (MOTE_ORDER_BITS + 1 - in->grid_bits) * 0x0101010101010101ull;
    if (!LIST && first + UNIT <= p->size) return *(const uint64_t *)(in->leaf_level + p->first + first);
    for (uint32_t k = 0; k < UNIT; k++) {
        const uint32_t leaf = first + k < p->size ? in->leaf_level[position_at<LIST>(p, first + k)] : 0xFF;
        leaves |= (uint64_t)leaf << 8 * k;
    }
    return leaves;
}

static __device__ uint32_t leaf_of(uint64_t leaves, uint32_t k) { return (uint32_t)(leaves >> 8 * k) & 0xFF; }

template <bool LIST>
static __device__ void load_ranks(const lod_cuda_contest *in, const sample_points *p, uint32_t first,
                                  const uint64_t codes[UNIT], uint64_t ranks[UNIT]) {
    if (in->random) {
#pragma unroll
        for (uint32_t k = 0; k < UNIT; k++) ranks[k] = mote_lod_rank(in->seed, codes[k]);
    } else if (!LIST && first + UNIT <= p->size) {
        const uint4 *from = (const uint4 *)(in->order + p->first + first);
        const uint4 low = from[0], high = from[1];
        const uint32_t order[UNIT] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (uint32_t k = 0; k < UNIT; k++) ranks[k] = order[k];
    } else {
#pragma unroll
        for (uint32_t k = 0; k < UNIT; k++) {
            ranks[k] = first + k < p->size ? in->order[position_at<LIST>(p, first + k)] : 0;
        }
    }
}

/* Of points with one code the first is the best at every level. known: the levels by which points of a list have lost
   in earlier rounds; a byte each. */
template <bool LIST>
static __device__ void load_unit(const lod_cuda_contest *in, const sample_points *p, uint64_t known, uint64_t leaves,
                                 sample_unit *unit) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, first = threadIdx.x * UNIT;
    uint64_t codes[UNIT], before, after, beside = 0;
    if (lane == 0 || lane == CUDA_WARP - 1) beside = code_at<LIST>(in, p, lane == 0 ? first - 1 : first + UNIT);
    load_codes<LIST>(in, p, first, codes);
    load_ranks<LIST>(in, p, first, codes, unit->rank);
    before = __shfl_up_sync(CUDA_ALL, codes[UNIT - 1], 1);
    after = __shfl_down_sync(CUDA_ALL, codes[0], 1);
    if (lane == 0) before = beside;
    if (lane == CUDA_WARP - 1) after = beside;
#pragma unroll
    for (uint32_t k = 0; k < UNIT; k++) {
        const uint32_t shared = mote_lod_shared_level(before, codes[k]);
        unit->gap[k] = node_level(in, shared, leaf_of(leaves, k));
        unit->level[k] = LIST ? (uint32_t)(known >> 8 * k) & 0xFF : shared == MOTE_ORDER_BITS ? CLOSED : 0;
        before = codes[k];
    }
    unit->gap[UNIT] = node_level(in, mote_lod_shared_level(before, after), leaf_of(leaves, UNIT - 1));
    if (first + UNIT > p->size) close_rest(unit, p->size > first ? p->size - first : 0);
}

/* Plays the points of the tile in units. Returns how many are open. */
template <bool LIST>
static __device__ uint32_t play_points(sample_tile *tile, const lod_cuda_contest *in, const sample_points *p) {
    const uint32_t first = threadIdx.x * UNIT;
    uint64_t *const levels = (uint64_t *)(tile->level + first), leaves = load_leaves<LIST>(in, p, first);
    uint64_t packed = 0;
    uint32_t point[UNIT], open;
    sample_unit unit;
    sample_stretch own;
    load_unit<LIST>(in, p, LIST ? *levels : 0, leaves, &unit);
    play_unit(&unit);
#pragma unroll
    for (uint32_t k = 0; k < UNIT; k++) {
        point[k] = first + k;
        packed |= (uint64_t)min(unit.level[k], leaf_of(leaves, k)) << 8 * k;
    }
    *levels = packed;
    if (threadIdx.x == THREADS - 1) tile->gap_after = unit.gap[UNIT];
    open = find_open(&unit, &own);
    return keep_open(tile, &unit, point, open, own, true);
}

/* Settles the players that are left, and lists those that are open to the ends of the tile. */
template <bool LIST>
static __device__ void settle_players(sample_tile *tile, const sample_points *p, const sample_round *round,
                                      uint32_t left) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    uint32_t found = 0;
    for (uint32_t first = 0; first < left; first += THREADS) {
        const uint32_t i = first + threadIdx.x;
        uint32_t point = 0, level = 0;
        bool open = false;
        if (i < left) {
            point = tile->players.rest[i] & 0xFFFF;
            open = settle_player(tile, left, i, &level);
            tile->level[point] = (uint8_t)level;
        }
        const uint32_t lanes = __ballot_sync(CUDA_ALL, open);
        if (lane == 0) tile->sums[warp] = (uint32_t)__popc(lanes);
        const uint32_t all = (uint32_t)__syncthreads_count(open);
        if (open) {
            uint64_t at = (uint64_t)blockIdx.x * round->slots + found + (uint32_t)__popc(lanes & ((1u << lane) - 1));
            for (uint32_t w = 0; w < warp; w++) at += tile->sums[w];
            round->out.positions[at] = (uint32_t)position_at<LIST>(p, point);
            round->out.level[at] = (uint8_t)level;
        }
        found += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) round->out.count[blockIdx.x] = found;
}

/* Without leaves, that is the finest level of cells at which the point loses. */
static __device__ uint8_t final_level(const lod_cuda_contest *in, uint32_t level) {
    if (in->leaf_level != NULL) return (uint8_t)level;
    return (uint8_t)(level == 0 ? MOTE_LOD_NEVER : level + in->grid_bits - 1);
}

template <bool LIST>
static __device__ void write_levels(const sample_tile *tile, const lod_cuda_contest *in, const sample_points *p) {
    const uint32_t first = threadIdx.x * UNIT;
    if (!LIST && first + UNIT <= p->size && in->leaf_level != NULL) {
        *(uint64_t *)(in->level + p->first + first) = *(const uint64_t *)(tile->level + first);
        return;
    }
    for (uint32_t i = first; i < first + UNIT && i < p->size; i++) {
        in->level[position_at<LIST>(p, i)] = final_level(in, tile->level[i]);
    }
}

template <bool LIST>
static __device__ void play_tile(sample_tile *tile, const lod_cuda_contest *in, const sample_points *p,
                                 const sample_round *round) {
    uint32_t before = TILE, left = play_points<LIST>(tile, in, p);
    while (left > FEW && left <= before / 4 * 3) {
        before = left;
        left = play_again(tile, left);
    }
    settle_players<LIST>(tile, p, round, left);
    write_levels<LIST>(tile, in, p);
}

/* ---- rounds */

/* A code like any, that shares only the root's cell with the one at the end of all. */
static __device__ uint64_t beside_or_none(uint64_t code, uint64_t end) {
    return code != UINT64_MAX ? code : end ^ NOTHING_BIT;
}

/* The first round: a block plays a tile of the order. */
static __global__ void __launch_bounds__(THREADS, 4) play_order(lod_cuda_contest in, sample_round round) {
    __shared__ sample_tile tile;
    const uint64_t first = (uint64_t)blockIdx.x * TILE, left = in.count - first;
    sample_points points;
    points.list = NULL;
    points.first = first;
    points.size = left < TILE ? (uint32_t)left : TILE;
    points.code_before = first > 0 ? in.codes[first - 1] : beside_or_none(in.code_before, in.codes[0]);
    points.code_after = left > TILE ? in.codes[first + TILE] : beside_or_none(in.code_after, in.codes[in.count - 1]);
    play_tile<false>(&tile, &in, &points, &round);
}

/* The code of the open point next to a list, step tiles away and on; where none is near, that of the point next to it
   in the order: it shares no less, so that more stays open. */
static __device__ uint64_t code_beside(const lod_cuda_contest *in, const sample_round *round, int64_t tile,
                                       int64_t step, uint64_t position) {
    uint32_t looked = 0;
    for (; tile >= 0 && tile < round->in.tiles; tile += step) {
        const uint32_t count = round->in.count[tile];
        if (count > 0) { return in->codes[round->in.positions[tile * round->slots + (step < 0 ? count - 1 : 0)]]; }
        if (++looked == LOOK_BACK) return in->codes[(int64_t)position + step];
    }
    return beside_or_none(step < 0 ? in->code_before : in->code_after, in->codes[position]);
}

/* Unites the open points of some tiles, one per thread at most, in a list; returns how many there are. */
static __device__ uint32_t unite_tiles(sample_tile *tile, uint32_t *list, const sample_round *round, uint32_t first,
                                       uint32_t tiles) {
    uint32_t *const ends = tile->players.rest; /* of each tile's points in the list */
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    uint32_t end = threadIdx.x < tiles ? round->in.count[first + threadIdx.x] : 0;
    for (uint32_t d = 1; d < CUDA_WARP; d *= 2) {
        const uint32_t other = __shfl_up_sync(CUDA_ALL, end, d);
        if (lane >= d) end += other;
    }
    if (lane == CUDA_WARP - 1) tile->sums[warp] = end;
    __syncthreads();
    for (uint32_t w = 0; w < warp; w++) end += tile->sums[w];
    ends[threadIdx.x] = end;
    __syncthreads();
    for (uint32_t s = threadIdx.x; s < tiles * round->slots; s += THREADS) {
        const uint32_t t = s / round->slots, to = s % round->slots + (t > 0 ? ends[t - 1] : 0);
        if (to >= ends[t]) continue;
        list[to] = round->in.positions[(uint64_t)first * round->slots + s];
        tile->level[to] = round->in.level[(uint64_t)first * round->slots + s];
    }
    const uint32_t size = ends[THREADS - 1];
    __syncthreads();
    return size;
}

/* A later round: a block plays what some tiles of the round before left open. */
static __global__ void __launch_bounds__(THREADS) play_open(lod_cuda_contest in, sample_round round) {
    __shared__ sample_tile tile;
    __shared__ uint32_t list[TILE];
    const uint32_t first = blockIdx.x * round.tiles_each, left = round.in.tiles - first;
    const uint32_t tiles = left < round.tiles_each ? left : round.tiles_each;
    sample_points points;
    points.list = list;
    points.first = 0;
    points.size = unite_tiles(&tile, list, &round, first, tiles);
    if (points.size == 0) { /* the same in the whole block */
        if (threadIdx.x == 0) round.out.count[blockIdx.x] = 0;
        return;
    }
    points.code_before = code_beside(&in, &round, (int64_t)first - 1, -1, list[0]);
    points.code_after = code_beside(&in, &round, (int64_t)first + tiles, 1, list[points.size - 1]);
    play_tile<true>(&tile, &in, &points, &round);
}

/* ---- the host's side */

static bool allocate(mote_context *ctx, uint32_t tiles, uint32_t slots, open_points *open) {
    static const char name[] = "sampling scratch";
    open->tiles = tiles;
    open->positions = (uint32_t *)cuda_alloc(ctx, (uint64_t)tiles * slots * sizeof *open->positions, name);
    open->level = (uint8_t *)cuda_alloc(ctx, (uint64_t)tiles * slots, name);
    open->count = (uint32_t *)cuda_alloc(ctx, tiles * sizeof *open->count, name);
    return open->positions != NULL && open->level != NULL && open->count != NULL;
}

static void release(mote_context *ctx, open_points *open) {
    cuda_free(ctx, open->positions);
    cuda_free(ctx, open->level);
    cuda_free(ctx, open->count);
}

/* Rounds until one tile holds all that is open; the last is in round->out. */
static mote_status play(mote_context *ctx, const lod_cuda_contest *contest, sample_round *round) {
    CUDA_LAUNCH(ctx, play_order, round->out.tiles, THREADS, *contest, *round);
    while (round->out.tiles > 1) {
        const open_points free = round->in;
        round->in = round->out;
        round->out = free;
        round->out.tiles = cuda_blocks(round->in.tiles, round->tiles_each);
        CUDA_LAUNCH(ctx, play_open, round->out.tiles, THREADS, *contest, *round);
    }
    return cuda_launched(ctx, "sampling");
}

static mote_status fetch_open(mote_context *ctx, const lod_cuda_contest *contest, const open_points *last,
                              lod_cuda_open *open) {
    if (open == NULL) return MOTE_OK;
    MOTE_TRY(cuda_download(ctx, &open->count, last->count, sizeof open->count));
    MOTE_TRY(cuda_download(ctx, open->positions, last->positions, open->count * sizeof *open->positions));
    MOTE_TRY(cuda_download(ctx, open->lost, last->level, open->count));
    for (uint32_t i = 0; i < open->count; i++) {
        open->lost[i] = (uint8_t)(open->lost[i] == 0 ? MOTE_LOD_NEVER : open->lost[i] + contest->grid_bits - 1);
    }
    return MOTE_OK;
}

mote_status lod_cuda_play(mote_context *ctx, const lod_cuda_contest *contest, lod_cuda_open *open) {
    const uint32_t tiles = cuda_blocks(contest->count, TILE);
    sample_round round;
    memset(&round, 0, sizeof round);
    round.slots = 2 * (MOTE_ORDER_BITS + 1 - contest->grid_bits);
    round.tiles_each = TILE / round.slots < THREADS ? TILE / round.slots : THREADS; /* a thread counts one */
    mote_status status = MOTE_ERROR_MEMORY;
    if (allocate(ctx, tiles, round.slots, &round.out) &&
        allocate(ctx, cuda_blocks(tiles, round.tiles_each), round.slots, &round.in)) {
        status = play(ctx, contest, &round);
        if (status == MOTE_OK) status = fetch_open(ctx, contest, &round.out, open);
    }
    release(ctx, &round.in);
    release(ctx, &round.out);
    return status;
}

mote_status lod_cuda_sample(mote_lod *lod, lod_cuda *device) {
    mote_context *ctx = lod->ctx;
    device->level = (uint8_t *)cuda_alloc(ctx, lod->count, "levels");
    if (device->level == NULL) return MOTE_ERROR_MEMORY;
    if (lod->level_count < 2) return cuda_fill(ctx, device->level, 0, lod->count);
    const lod_cuda_contest contest = {device->codes,
                                      device->order,
                                      device->leaf_level,
                                      device->level,
                                      lod->count,
                                      lod->params.seed,
                                      UINT64_MAX,
                                      UINT64_MAX,
                                      lod_cell_level(lod, 0),
                                      lod->params.sampling != MOTE_LOD_FIRST};
    return lod_cuda_play(ctx, &contest, NULL);
}
