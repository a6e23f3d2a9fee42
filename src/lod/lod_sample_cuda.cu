/* random and first sampling on the GPU, for all nodes and levels at once.

   A level's cells lie within those of the next coarser level, and a point's rank is the same at all levels. So a point
   represents its cell at every level down to the one at which it first meets a better point; that level is all there
   is to find. A warp takes a tile of the order and plays it off from the finest level on: in each cell the best stays
   for the next coarser level. Cells that reach past the tile are open: their winners, one per end and level, go with
   the level at which they have lost so far to the next round, in which a tile unites what some tiles left open, until
   one tile holds all. */
#include "backend/cuda_kernel.h"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"

#define WARPS     4u   /* of a block, each with a tile of its own */
#define TILE      256u /* points */
#define LOOK_BACK 32u  /* tiles, for the open point before */

/* Open points of the tiles of a round: slots for each tile, one per end and level. */
typedef struct open_points {
    uint32_t *positions; /* [slots · tiles], ascending within a tile */
    uint8_t *lost;       /* the finest level at which each has lost so far, MOTE_LOD_NEVER if at none */
    uint32_t *count;     /* [tiles] */
    uint32_t tiles;
} open_points;

/* A round: the first of all points in order, each later one of those that the round before left open. */
typedef struct sample_round {
    open_points in, out;
    uint32_t slots;
    uint32_t tiles_each; /* of the round before, that a tile unites */
} sample_round;

/* Those of a tile who are left, in order. */
typedef struct sample_players {
    uint32_t rank[TILE]; /* the upper half, where a rank has two */
    uint16_t point[TILE];
    uint8_t gap[TILE + 1]; /* the finest level that a player shares with the one before; 0 at both ends */
} sample_players;

typedef struct sample_tile {
    sample_players players;
    uint8_t lost[TILE], finest[TILE];
    uint32_t open[TILE / CUDA_WARP]; /* a bit per point */
    uint32_t most_finest, least_finest;
    uint32_t gap_before, gap_after; /* to the points beside the tile; 0 if there are none */
} sample_tile;

/* What a tile of open points has beside. */
typedef struct sample_list {
    uint32_t positions[TILE];
    uint8_t known[TILE]; /* open_points.lost */
} sample_list;

/* The points of a tile: a stretch of the order, or a list. */
typedef struct sample_points {
    const sample_list *list;
    uint64_t first; /* without a list */
    uint32_t size;
    uint64_t code_before, code_after; /* of the points beside; UINT64_MAX if there are none */
} sample_points;

template <bool LIST> static __device__ uint64_t position_at(const sample_points *points, uint32_t i) {
    return LIST ? points->list->positions[i] : points->first + i;
}

/* The level at which a point has lost in an earlier round. */
template <bool LIST> static __device__ uint32_t known_loss(const sample_points *points, uint32_t point) {
    return LIST ? points->list->known[point] : MOTE_LOD_NEVER;
}

/* The finest level of cells that choose among the points of a leaf. */
static __device__ uint32_t finest_level(const lod_cuda_contest *in, uint64_t position) {
    if (in->leaf_level == NULL) return MOTE_ORDER_BITS;
    const uint32_t level = in->leaf_level[position] + in->grid_bits - 1;
    return level < MOTE_ORDER_BITS ? level : MOTE_ORDER_BITS;
}

/* The finest level that two neighbours share; 0 if there is only one. */
static __device__ uint32_t gap_between(uint64_t a, uint64_t b) {
    return a == UINT64_MAX || b == UINT64_MAX ? 0 : mote_lod_shared_level(a, b);
}

/* Whether point a is better than b, which stands before it, though the upper halves of their ranks are equal. */
static __device__ __noinline__ bool wins_tie(const lod_cuda_contest *in, uint64_t a, uint64_t b) {
    return in->random && mote_lod_rank(in->seed, in->codes[a]) < mote_lod_rank(in->seed, in->codes[b]);
}

/* Fills the tile; returns the number of players. Of points with one code only the first plays: it is the best at every
   level. */
template <bool LIST>
static __device__ uint32_t load_tile(sample_tile *tile, const lod_cuda_contest *in, const sample_points *points) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    sample_players *players = &tile->players;
    uint32_t playing = 0, most = 0, least = MOTE_ORDER_BITS;
    if (lane == 0) {
        tile->most_finest = 0;
        tile->least_finest = MOTE_ORDER_BITS;
    }
    if (lane < TILE / CUDA_WARP) tile->open[lane] = 0;
    for (uint32_t k = 0; k < points->size; k += CUDA_WARP) {
        const uint32_t i = k + lane;
        bool plays = false;
        uint32_t rank = 0, gap = 0;
        if (i < points->size) {
            const uint64_t position = position_at<LIST>(points, i), code = in->codes[position];
            const uint64_t before = i > 0 ? in->codes[position_at<LIST>(points, i - 1)] : points->code_before;
            const uint32_t finest = finest_level(in, position);
            gap = gap_between(before, code);
            rank = in->random ? (uint32_t)(mote_lod_rank(in->seed, code) >> 32) : in->order[position];
            plays = LIST || gap < MOTE_ORDER_BITS;
            tile->lost[i] = (uint8_t)(plays ? MOTE_LOD_NEVER : MOTE_ORDER_BITS);
            tile->finest[i] = (uint8_t)finest;
            if (i == 0) tile->gap_before = gap;
            if (i + 1 == points->size) tile->gap_after = gap_between(code, points->code_after);
            most = finest > most ? finest : most;
            least = finest < least ? finest : least;
        }
        const uint32_t lanes = __ballot_sync(CUDA_ALL, plays);
        if (plays) {
            const uint32_t at = playing + (uint32_t)__popc(lanes & ((1u << lane) - 1));
            players->rank[at] = rank;
            players->point[at] = (uint16_t)i;
            players->gap[at] = (uint8_t)(at > 0 ? gap : 0);
        }
        playing += (uint32_t)__popc(lanes);
    }
    if (lane == 0) players->gap[playing] = 0;
    __syncwarp();
    atomicMax(&tile->most_finest, most);
    atomicMin(&tile->least_finest, least);
    __syncwarp();
    return playing;
}

/* Plays off the cell that begins with player j; returns the winner. The others lose at the level. */
template <bool LIST>
static __device__ uint32_t play_cell(sample_tile *tile, const lod_cuda_contest *in, const sample_points *points,
                                     uint32_t level, uint32_t j, uint32_t *best_rank) {
    const sample_players *players = &tile->players;
    uint32_t best = players->point[j], rank = players->rank[j];
    for (uint32_t k = j + 1; players->gap[k] >= level; k++) {
        const uint32_t other = players->point[k], other_rank = players->rank[k];
        const bool wins = other_rank < rank || (other_rank == rank && wins_tie(in, position_at<LIST>(points, other),
                                                                               position_at<LIST>(points, best)));
        tile->lost[wins ? best : other] = (uint8_t)level;
        best = wins ? other : best;
        rank = wins ? other_rank : rank;
    }
    *best_rank = rank;
    return best;
}

/* One level: of each cell one stays, in place of its first. Returns how many. */
template <bool LIST>
static __device__ uint32_t play_level(sample_tile *tile, const lod_cuda_contest *in, const sample_points *points,
                                      uint32_t level, uint32_t count) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    sample_players *players = &tile->players;
    const bool all_play = tile->least_finest >= level;
    uint32_t left = 0;
    for (uint32_t k = 0; k < count; k += CUDA_WARP) {
        const uint32_t j = k + lane, gap = j < count ? players->gap[j] : 0;
        /* A cell that chooses among points of one leaf chooses among all of them, or none. */
        const bool plays = j < count && (all_play || level <= tile->finest[players->point[j]]);
        const bool heads = j < count && (gap < level || !plays);
        uint32_t winner = 0, rank = 0;
        if (heads && plays) {
            winner = play_cell<LIST>(tile, in, points, level, j, &rank);
        } else if (heads) {
            winner = players->point[j];
            rank = players->rank[j];
        }
        const uint32_t lanes = __ballot_sync(CUDA_ALL, heads);
        __syncwarp(); /* what is written now has been read */
        if (heads) {
            const uint32_t at = left + (uint32_t)__popc(lanes & ((1u << lane) - 1));
            players->rank[at] = rank;
            players->point[at] = (uint16_t)winner;
            players->gap[at] = (uint8_t)gap;
        }
        left += (uint32_t)__popc(lanes);
        __syncwarp();
    }
    if (lane == 0) players->gap[left] = 0;
    __syncwarp();
    return left;
}

static __device__ void mark_open(uint32_t *open, uint32_t point) { open[point / CUDA_WARP] |= 1u << point % CUDA_WARP; }

/* Marks the winner of an outermost cell that reaches past the tile: it may still lose at this level, if it has not lost
   at a finer one in an earlier round. One lane alone. */
template <bool LIST>
static __device__ void mark_winner(sample_tile *tile, const sample_points *points, uint32_t point, uint32_t level) {
    const uint32_t known = known_loss<LIST>(points, point);
    if (tile->finest[point] >= level && (known == MOTE_LOD_NEVER || known < level)) mark_open(tile->open, point);
}

template <bool LIST>
static __device__ void mark_winners(sample_tile *tile, const sample_points *points, uint32_t count, uint32_t level) {
    const uint16_t *left = tile->players.point;
    if (tile->gap_before >= level) mark_winner<LIST>(tile, points, left[0], level);
    if (tile->gap_after >= level) mark_winner<LIST>(tile, points, left[count - 1], level);
}

/* The one that is left of a tile in one cell may lose to others of coarser cells. One lane alone. */
template <bool LIST>
static __device__ void mark_last(sample_tile *tile, const lod_cuda_contest *in, const sample_points *points) {
    const uint32_t point = tile->players.point[0], finest = tile->finest[point];
    const uint32_t beyond = tile->gap_before > tile->gap_after ? tile->gap_before : tile->gap_after;
    const uint32_t level = beyond < finest ? beyond : finest;
    if (level >= in->grid_bits) mark_winner<LIST>(tile, points, point, level);
}

template <bool LIST>
static __device__ void play_tile(sample_tile *tile, const lod_cuda_contest *in, const sample_points *points,
                                 uint32_t players) {
    /* In the cell that holds the whole tile one is left, and coarser cells are beyond the tile's judgement. */
    const uint32_t whole = mote_lod_shared_level(in->codes[position_at<LIST>(points, 0)],
                                                 in->codes[position_at<LIST>(points, points->size - 1)]);
    const uint32_t least = whole < tile->least_finest ? whole : tile->least_finest;
    const uint32_t coarsest = least > in->grid_bits ? least : in->grid_bits;
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    for (uint32_t level = tile->most_finest; level >= coarsest && players > 0; level--) {
        players = play_level<LIST>(tile, in, points, level, players);
        if (lane == 0 && players > 0) mark_winners<LIST>(tile, points, players, level);
    }
    if (lane == 0 && players == 1) mark_last<LIST>(tile, in, points);
    __syncwarp();
}

/* The finest level at which a point has lost, in this round or before. */
template <bool LIST>
static __device__ uint32_t final_loss(const sample_tile *tile, const sample_points *points, uint32_t point) {
    const uint32_t lost = tile->lost[point], known = known_loss<LIST>(points, point);
    if (lost == MOTE_LOD_NEVER || known == MOTE_LOD_NEVER) return lost == MOTE_LOD_NEVER ? known : lost;
    return lost > known ? lost : known;
}

/* Writes the levels, and lists what is open in the order of the points. */
template <bool LIST>
static __device__ void write_tile(const sample_tile *tile, const lod_cuda_contest *in, const sample_points *points,
                                  const sample_round *round, uint32_t number) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    uint32_t found = 0;
    for (uint32_t k = 0; k < points->size; k += CUDA_WARP) {
        const uint32_t i = k + lane, open = tile->open[k / CUDA_WARP];
        if (i < points->size) {
            const uint64_t position = position_at<LIST>(points, i);
            const uint32_t lost = final_loss<LIST>(tile, points, i);
            in->level[position] =
                (uint8_t)(in->leaf_level == NULL ? lost
                                                 : mote_lod_chosen(lost, in->leaf_level[position], in->grid_bits));
            if (open >> lane & 1) {
                const uint64_t at =
                    (uint64_t)number * round->slots + found + (uint32_t)__popc(open & ((1u << lane) - 1));
                round->out.positions[at] = (uint32_t)position;
                round->out.lost[at] = (uint8_t)lost;
            }
        }
        found += (uint32_t)__popc(open);
    }
    if (lane == 0) round->out.count[number] = found;
}

template <bool LIST>
static __device__ void play_points(sample_tile *tile, const lod_cuda_contest *in, const sample_points *points,
                                   const sample_round *round, uint32_t number) {
    const uint32_t players = load_tile<LIST>(tile, in, points);
    play_tile<LIST>(tile, in, points, players);
    write_tile<LIST>(tile, in, points, round, number);
}

/* The first round: a warp plays a tile of the order. */
static __global__ void __launch_bounds__(WARPS *CUDA_WARP) play_order(lod_cuda_contest in, sample_round round) {
    __shared__ sample_tile tiles[WARPS];
    const uint32_t warp = threadIdx.x / CUDA_WARP, number = blockIdx.x * WARPS + warp;
    const uint64_t first = (uint64_t)number * TILE;
    if (first >= in.count) return;
    sample_points points;
    points.list = NULL;
    points.first = first;
    points.size = in.count - first < TILE ? (uint32_t)(in.count - first) : TILE;
    points.code_before = first > 0 ? in.codes[first - 1] : in.code_before;
    points.code_after = first + points.size < in.count ? in.codes[first + points.size] : in.code_after;
    play_points<false>(&tiles[warp], &in, &points, &round, number);
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
    return step < 0 ? in->code_before : in->code_after;
}

/* Unites the open points of some tiles in a list; returns how many there are. */
static __device__ uint32_t unite_tiles(sample_list *list, const sample_round *round, uint32_t first, uint32_t end) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    uint32_t size = 0;
    for (uint32_t t = first; t < end; t++) {
        const uint32_t count = round->in.count[t];
        for (uint32_t i = lane; i < count; i += CUDA_WARP) {
            list->positions[size + i] = round->in.positions[(uint64_t)t * round->slots + i];
            list->known[size + i] = round->in.lost[(uint64_t)t * round->slots + i];
        }
        size += count;
    }
    __syncwarp();
    return size;
}

/* A later round: a warp plays what some tiles of the round before left open. */
static __global__ void __launch_bounds__(WARPS *CUDA_WARP) play_open(lod_cuda_contest in, sample_round round) {
    __shared__ sample_tile tiles[WARPS];
    __shared__ sample_list lists[WARPS];
    const uint32_t warp = threadIdx.x / CUDA_WARP, number = blockIdx.x * WARPS + warp;
    if (number >= round.out.tiles) return;
    const uint32_t first = number * round.tiles_each, left = round.in.tiles - first;
    const uint32_t end = first + (left < round.tiles_each ? left : round.tiles_each);
    sample_points points;
    points.list = &lists[warp];
    points.first = 0;
    points.size = unite_tiles(&lists[warp], &round, first, end);
    if (points.size == 0) {
        if (threadIdx.x % CUDA_WARP == 0) round.out.count[number] = 0;
        return;
    }
    points.code_before = code_beside(&in, &round, (int64_t)first - 1, -1, position_at<true>(&points, 0));
    points.code_after = code_beside(&in, &round, end, 1, position_at<true>(&points, points.size - 1));
    play_points<true>(&tiles[warp], &in, &points, &round, number);
}

/* ---- the host's side */

static bool allocate(mote_context *ctx, uint32_t tiles, uint32_t slots, open_points *open) {
    static const char name[] = "sampling scratch";
    open->tiles = tiles;
    open->positions = (uint32_t *)cuda_alloc(ctx, (uint64_t)tiles * slots * sizeof *open->positions, name);
    open->lost = (uint8_t *)cuda_alloc(ctx, (uint64_t)tiles * slots, name);
    open->count = (uint32_t *)cuda_alloc(ctx, tiles * sizeof *open->count, name);
    return open->positions != NULL && open->lost != NULL && open->count != NULL;
}

static void release(mote_context *ctx, open_points *open) {
    cuda_free(ctx, open->positions);
    cuda_free(ctx, open->lost);
    cuda_free(ctx, open->count);
}

/* Rounds until one tile holds all that is open; the last is in round->out. */
static mote_status play(mote_context *ctx, const lod_cuda_contest *contest, sample_round *round) {
    const uint32_t threads = WARPS * CUDA_WARP;
    CUDA_LAUNCH(ctx, play_order, cuda_blocks(round->out.tiles, WARPS), threads, *contest, *round);
    while (round->out.tiles > 1) {
        const open_points free = round->in;
        round->in = round->out;
        round->out = free;
        round->out.tiles = cuda_blocks(round->in.tiles, round->tiles_each);
        CUDA_LAUNCH(ctx, play_open, cuda_blocks(round->out.tiles, WARPS), threads, *contest, *round);
    }
    return cuda_launched(ctx, "sampling");
}

static mote_status fetch_open(mote_context *ctx, const open_points *last, lod_cuda_open *open) {
    if (open == NULL) return MOTE_OK;
    MOTE_TRY(cuda_download(ctx, &open->count, last->count, sizeof open->count));
    MOTE_TRY(cuda_download(ctx, open->positions, last->positions, open->count * sizeof *open->positions));
    return cuda_download(ctx, open->lost, last->lost, open->count);
}

mote_status lod_cuda_play(mote_context *ctx, const lod_cuda_contest *contest, lod_cuda_open *open) {
    const uint32_t tiles = cuda_blocks(contest->count, TILE);
    sample_round round;
    memset(&round, 0, sizeof round);
    round.slots = 2 * (MOTE_ORDER_BITS + 1 - contest->grid_bits);
    round.tiles_each = TILE / round.slots;
    mote_status status = MOTE_ERROR_MEMORY;
    if (allocate(ctx, tiles, round.slots, &round.out) &&
        allocate(ctx, cuda_blocks(tiles, round.tiles_each), round.slots, &round.in)) {
        status = play(ctx, contest, &round);
        if (status == MOTE_OK) status = fetch_open(ctx, &round.out, open);
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
