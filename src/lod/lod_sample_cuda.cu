/* random and first sampling on the GPU, for all nodes and levels at once.

   A level's cells lie within those of the next coarser level, and a point's rank is the same at all levels. So a point
   represents its cell at every level down to the one at which it first meets a better point; that level is all there
   is to find. A warp takes a tile of the order and plays it off from the finest level on: in each cell the best stays
   for the next coarser level. Cells that reach past the tile are open: their winners, one per end and level, go with
   the level at which they have lost so far to the next round, whose tiles are made of what all tiles left open; after
   a few rounds one tile holds all. */
#include "backend/cuda_kernel.h"
#include "backend/cuda_primitives.h"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"

#define WARPS               4u    /* of a block of the first round, each with a tile of its own */
#define TILE                256u  /* points of a tile of the first round */
#define LIST_TILE           1024u /* of later rounds, which are few: a block of one warp each */
#define OPEN_SLOTS(contest) (2 * (MOTE_ORDER_BITS + 1 - (contest).grid_bits))

/* A round's points: all of the order, or a list of what was left open. */
typedef struct sample_round {
    const uint32_t *positions; /* NULL: 0, 1, 2 … */
    const uint8_t *lost;       /* with positions: the finest level at which each has lost, MOTE_LOD_NEVER if at none */
    const uint32_t *count;     /* with positions: how many */
    uint32_t tiles;
    uint32_t slots;           /* for the open points of a tile: one per end and level */
    uint32_t *open_positions; /* [slots · tiles] out */
    uint8_t *open_lost;
    uint32_t *open_count; /* [tiles + 1] out */
} sample_round;

/* Those of a tile who are left, in order. */
template <uint32_t SIZE> struct sample_players {
    uint32_t rank[SIZE]; /* the upper half, where a rank has two */
    uint16_t point[SIZE];
    uint8_t gap[SIZE + 1]; /* the finest level that a player shares with the one before; 0 at both ends */
};

template <uint32_t SIZE> struct sample_tile {
    sample_players<SIZE> players[2];
    uint8_t lost[SIZE], known[SIZE], finest[SIZE];
    uint32_t open[SIZE / CUDA_WARP]; /* a bit per point */
    uint32_t most_finest, least_finest;
    uint32_t gap_before, gap_after; /* to the points beside the tile; 0 if there are none */
};

static __device__ uint64_t position_at(const sample_round *round, uint64_t i) {
    return round->positions != NULL ? round->positions[i] : i;
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

/* Whether player a is better than b though the upper halves of their ranks are equal. */
static __device__ __noinline__ bool wins_tie(const lod_cuda_contest *in, const sample_round *round, uint64_t a,
                                             uint64_t b) {
    if (!in->random) return a < b;
    const uint64_t rank_a = mote_lod_rank(in->seed, in->codes[position_at(round, a)]);
    const uint64_t rank_b = mote_lod_rank(in->seed, in->codes[position_at(round, b)]);
    return rank_a != rank_b ? rank_a < rank_b : a < b;
}

/* Fills the tile; returns the number of players. Of points with one code only the first plays: it is the best at every
   level. */
template <uint32_t SIZE, bool LIST>
static __device__ uint32_t load_tile(sample_tile<SIZE> *tile, const lod_cuda_contest *in, const sample_round *round,
                                     uint64_t first, uint32_t size, uint64_t count) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    sample_players<SIZE> *players = &tile->players[0];
    uint32_t playing = 0, most = 0, least = MOTE_ORDER_BITS;
    for (uint32_t k = 0; k < size; k += CUDA_WARP) {
        const uint32_t i = k + lane;
        bool plays = false;
        uint32_t rank = 0, gap = 0;
        if (i < size) {
            const uint64_t position = position_at(round, first + i);
            const uint64_t code = in->codes[position];
            const uint64_t before = first + i > 0 ? in->codes[position_at(round, first + i - 1)] : in->code_before;
            const uint32_t finest = finest_level(in, position);
            gap = gap_between(before, code);
            rank = in->random ? (uint32_t)(mote_lod_rank(in->seed, code) >> 32) : in->order[position];
            plays = LIST || gap < MOTE_ORDER_BITS;
            tile->lost[i] = (uint8_t)(plays ? MOTE_LOD_NEVER : MOTE_ORDER_BITS);
            tile->finest[i] = (uint8_t)finest;
            if (LIST) tile->known[i] = round->lost[first + i];
            if (i == 0) tile->gap_before = gap;
            if (i + 1 == size) {
                const uint64_t after =
                    first + size < count ? in->codes[position_at(round, first + size)] : in->code_after;
                tile->gap_after = gap_between(code, after);
            }
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
    if (lane == 0) {
        tile->most_finest = 0;
        tile->least_finest = MOTE_ORDER_BITS;
        players->gap[playing] = 0;
    }
    for (uint32_t w = lane; w < SIZE / CUDA_WARP; w += CUDA_WARP) tile->open[w] = 0;
    __syncwarp();
    atomicMax(&tile->most_finest, most);
    atomicMin(&tile->least_finest, least);
    __syncwarp();
    return playing;
}

/* Whether player j meets a better one in its cell; head_gap: that of the cell's first player. The nearest on both sides
   are asked first: they decide most, whatever the order of the ranks. */
template <uint32_t SIZE>
static __device__ bool loses(const sample_players<SIZE> *players, const lod_cuda_contest *in, const sample_round *round,
                             uint64_t first, uint32_t j, uint32_t level, uint32_t *head_gap) {
    const uint32_t own = players->rank[j];
    if (players->gap[j + 1] >= level && players->rank[j + 1] < own) return true;
    uint32_t k = j;
    for (; players->gap[k] >= level; k--) {
        const uint32_t other = players->rank[k - 1];
        if (other < own) return true;
        if (other == own && wins_tie(in, round, first + players->point[k - 1], first + players->point[j])) return true;
    }
    *head_gap = players->gap[k];
    for (k = j + 1; players->gap[k] >= level; k++) {
        const uint32_t other = players->rank[k];
        if (other < own) return true;
        if (other == own && wins_tie(in, round, first + players->point[k], first + players->point[j])) return true;
    }
    return false;
}

/* One level: those who lose leave the list. Returns how many stay. */
template <uint32_t SIZE, bool LIST>
static __device__ uint32_t play_level(sample_tile<SIZE> *tile, const lod_cuda_contest *in, const sample_round *round,
                                      uint64_t first, uint32_t level, uint32_t count, uint32_t from) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const sample_players<SIZE> *players = &tile->players[from];
    sample_players<SIZE> *staying = &tile->players[1 - from];
    const bool all_play = tile->least_finest >= level;
    uint32_t left = 0;
    for (uint32_t k = 0; k < count; k += CUDA_WARP) {
        const uint32_t j = k + lane;
        bool stays = false;
        uint32_t gap = 0, point = 0;
        if (j < count) {
            point = players->point[j];
            gap = players->gap[j];
            stays = (!all_play && level > tile->finest[point]) ||
                    (!(LIST && tile->known[point] == level) && !loses(players, in, round, first, j, level, &gap));
            if (!stays) tile->lost[point] = (uint8_t)level;
        }
        const uint32_t lanes = __ballot_sync(CUDA_ALL, stays);
        if (stays) {
            const uint32_t at = left + (uint32_t)__popc(lanes & ((1u << lane) - 1));
            staying->rank[at] = players->rank[j];
            staying->point[at] = (uint16_t)point;
            staying->gap[at] = (uint8_t)gap;
        }
        left += (uint32_t)__popc(lanes);
    }
    if (lane == 0) staying->gap[left] = 0;
    __syncwarp();
    return left;
}

static __device__ void mark_open(uint32_t *open, uint32_t point) { open[point / CUDA_WARP] |= 1u << point % CUDA_WARP; }

/* Marks the winners of the two outermost cells if these reach past the tile: they may still lose at a level that is
   finer than the one at which they do within the tile. One lane alone. */
template <uint32_t SIZE>
static __device__ void mark_winners(sample_tile<SIZE> *tile, const sample_players<SIZE> *left, uint32_t count,
                                    uint32_t level) {
    const uint32_t low = left->point[0], high = left->point[count - 1];
    if (tile->gap_before >= level && tile->finest[low] >= level) mark_open(tile->open, low);
    if (tile->gap_after >= level && tile->finest[high] >= level) mark_open(tile->open, high);
}

template <uint32_t SIZE, bool LIST>
static __device__ void play_tile(sample_tile<SIZE> *tile, const lod_cuda_contest *in, const sample_round *round,
                                 uint64_t first, uint32_t size, uint32_t players) {
    /* In the cell that holds the whole tile one is left, and coarser cells are beyond the tile's judgement. */
    const uint32_t whole =
        mote_lod_shared_level(in->codes[position_at(round, first)], in->codes[position_at(round, first + size - 1)]);
    const uint32_t least = whole < tile->least_finest ? whole : tile->least_finest;
    const uint32_t coarsest = least > in->grid_bits ? least : in->grid_bits;
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    uint32_t from = 0;
    for (uint32_t level = tile->most_finest; level >= coarsest && players > 0; level--) {
        players = play_level<SIZE, LIST>(tile, in, round, first, level, players, from);
        from = 1 - from;
        if (lane == 0 && players > 0) mark_winners(tile, &tile->players[from], players, level);
        __syncwarp();
    }
    if (lane != 0 || players != 1) return;
    /* The one that is left of a tile in one cell may lose to others of coarser cells. */
    const uint32_t point = tile->players[from].point[0];
    const uint32_t lost = LIST && tile->known[point] != MOTE_LOD_NEVER ? tile->known[point] : in->grid_bits - 1;
    const uint32_t beyond = tile->gap_before > tile->gap_after ? tile->gap_before : tile->gap_after;
    if (lost < tile->finest[point] && beyond > lost) mark_open(tile->open, point);
}

/* Writes the levels, and lists what is open in the order of the points. */
template <uint32_t SIZE, bool LIST>
static __device__ void write_tile(const sample_tile<SIZE> *tile, const lod_cuda_contest *in, const sample_round *round,
                                  uint64_t first, uint32_t size, uint32_t number) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    uint32_t found = 0;
    for (uint32_t k = 0; k < size; k += CUDA_WARP) {
        const uint32_t i = k + lane, open = tile->open[k / CUDA_WARP];
        if (i < size) {
            const uint64_t position = position_at(round, first + i);
            uint32_t lost = tile->lost[i];
            if (LIST && lost == MOTE_LOD_NEVER) lost = tile->known[i];
            in->level[position] =
                (uint8_t)(in->leaf_level == NULL ? lost
                                                 : mote_lod_chosen(lost, in->leaf_level[position], in->grid_bits));
            if (open >> lane & 1) {
                const uint64_t at =
                    (uint64_t)number * round->slots + found + (uint32_t)__popc(open & ((1u << lane) - 1));
                round->open_positions[at] = (uint32_t)position;
                round->open_lost[at] = (uint8_t)lost;
            }
        }
        found += (uint32_t)__popc(open);
    }
    if (lane == 0) round->open_count[number] = found;
}

/* A warp plays a tile. */
template <uint32_t SIZE, uint32_t WARP_COUNT, bool LIST>
static __global__ void __launch_bounds__(WARP_COUNT *CUDA_WARP) sample_tiles(lod_cuda_contest in, sample_round round) {
    __shared__ sample_tile<SIZE> tiles[WARP_COUNT];
    const uint32_t warp = threadIdx.x / CUDA_WARP, number = blockIdx.x * WARP_COUNT + warp;
    const uint64_t count = LIST ? *round.count : in.count, first = (uint64_t)number * SIZE;
    if (number == 0 && threadIdx.x == 0) round.open_count[round.tiles] = 0;
    if (number >= round.tiles) return;
    if (first >= count) {
        if (threadIdx.x % CUDA_WARP == 0) round.open_count[number] = 0;
        return;
    }
    sample_tile<SIZE> *tile = &tiles[warp];
    const uint32_t size = count - first < SIZE ? (uint32_t)(count - first) : SIZE;
    const uint32_t players = load_tile<SIZE, LIST>(tile, &in, &round, first, size, count);
    play_tile<SIZE, LIST>(tile, &in, &round, first, size, players);
    write_tile<SIZE, LIST>(tile, &in, &round, first, size, number);
}

/* Moves what the tiles left open together. starts: the sums of the counts. */
static __global__ void gather_open(sample_round round, const uint32_t *starts, uint32_t *positions, uint8_t *lost) {
    const uint64_t t = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t tile = (uint32_t)(t / round.slots), i = (uint32_t)(t % round.slots);
    if (tile >= round.tiles || i >= starts[tile + 1] - starts[tile]) return;
    positions[starts[tile] + i] = round.open_positions[t];
    lost[starts[tile] + i] = round.open_lost[t];
}

/* ---- the host's side */

/* Memory of a round, all of it for the first, largest one. */
typedef struct round_memory {
    uint32_t *open_positions, *open_count, *starts, *positions[2], *counts[2];
    uint8_t *open_lost, *lost[2];
} round_memory;

static bool allocate(mote_context *ctx, uint64_t tiles, uint32_t slots, round_memory *m) {
    static const char name[] = "sampling scratch";
    m->open_positions = (uint32_t *)cuda_alloc(ctx, tiles * slots * sizeof(uint32_t), name);
    m->open_lost = (uint8_t *)cuda_alloc(ctx, tiles * slots, name);
    m->open_count = (uint32_t *)cuda_alloc(ctx, (tiles + 1) * sizeof(uint32_t), name);
    m->starts = (uint32_t *)cuda_alloc(ctx, (tiles + 1) * sizeof(uint32_t), name);
    bool all = m->open_positions != NULL && m->open_lost != NULL && m->open_count != NULL && m->starts != NULL;
    for (int k = 0; k < 2 && all; k++) {
        m->positions[k] = (uint32_t *)cuda_alloc(ctx, tiles * slots * sizeof(uint32_t), name);
        m->lost[k] = (uint8_t *)cuda_alloc(ctx, tiles * slots, name);
        m->counts[k] = (uint32_t *)cuda_alloc(ctx, sizeof(uint32_t), name);
        all = m->positions[k] != NULL && m->lost[k] != NULL && m->counts[k] != NULL;
    }
    return all;
}

static void release(mote_context *ctx, round_memory *m) {
    void *const owned[] = {m->open_positions, m->open_lost, m->open_count, m->positions[0], m->positions[1],
                           m->lost[0],        m->lost[1],   m->starts,     m->counts[0],    m->counts[1]};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuda_free(ctx, owned[i]);
}

/* Rounds until one tile holds all that is open. The host does not know how many that are, but how many at most. */
static mote_status play(mote_context *ctx, const lod_cuda_contest *contest, const round_memory *m) {
    sample_round round;
    memset(&round, 0, sizeof round);
    round.slots = OPEN_SLOTS(*contest);
    round.open_positions = m->open_positions;
    round.open_lost = m->open_lost;
    round.open_count = m->open_count;
    round.tiles = cuda_blocks(contest->count, TILE);
    CUDA_LAUNCH(ctx, (sample_tiles<TILE, WARPS, false>), cuda_blocks(round.tiles, WARPS), WARPS * CUDA_WARP, *contest,
                round);
    for (int turn = 0; round.tiles > 1; turn = 1 - turn) {
        const uint64_t most = (uint64_t)round.tiles * round.slots;
        MOTE_TRY(cuda_sum32(ctx, m->open_count, m->starts, round.tiles + 1ull));
        CUDA_LAUNCH(ctx, gather_open, cuda_blocks(most, 256u), 256u, round, m->starts, m->positions[turn],
                    m->lost[turn]);
        MOTE_TRY(cuda_copy(ctx, m->counts[turn], m->starts + round.tiles, sizeof(uint32_t)));
        round.positions = m->positions[turn];
        round.lost = m->lost[turn];
        round.count = m->counts[turn];
        round.tiles = cuda_blocks(most, LIST_TILE);
        CUDA_LAUNCH(ctx, (sample_tiles<LIST_TILE, 1u, true>), round.tiles, CUDA_WARP, *contest, round);
    }
    return cuda_launched(ctx, "sampling");
}

static mote_status fetch_open(mote_context *ctx, const round_memory *m, lod_cuda_open *open) {
    if (open == NULL) return MOTE_OK;
    MOTE_TRY(cuda_download(ctx, &open->count, m->open_count, sizeof open->count));
    MOTE_TRY(cuda_download(ctx, open->positions, m->open_positions, open->count * sizeof *open->positions));
    return cuda_download(ctx, open->lost, m->open_lost, open->count);
}

mote_status lod_cuda_play(mote_context *ctx, const lod_cuda_contest *contest, lod_cuda_open *open) {
    round_memory m;
    memset(&m, 0, sizeof m);
    mote_status status = MOTE_ERROR_MEMORY;
    if (allocate(ctx, cuda_blocks(contest->count, TILE), OPEN_SLOTS(*contest), &m)) {
        status = play(ctx, contest, &m);
        if (status == MOTE_OK) status = fetch_open(ctx, &m, open);
    }
    release(ctx, &m);
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
