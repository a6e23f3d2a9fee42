/* random and first sampling on the GPU, for all nodes and levels at once.

   A level's cells lie within those of the next coarser level, and a point's rank is the same at all levels. So a point
   represents its cell at every level down to the one at which it first meets a better point; that level is all there
   is to find. A block takes a tile of the order and plays it off from the finest level on: in each cell the best stays
   for the next coarser level. Cells that reach past the tile are open: their winners, a few per level, go with the
   level at which they have lost so far to the next round, whose tiles are made of what all tiles left open; after a
   few rounds one tile holds all. */
#include "backend/cuda_kernel.h"
#include "backend/cuda_primitives.h"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"

#define TILE      1024u
#define THREADS   256u
#define WARPS     (TILE / CUDA_WARP) /* of points */
#define MOST_OPEN LOD_MOST_OPEN

/* A round's points: all of the order, or a list of what was left open. */
typedef struct sample_round {
    const uint32_t *positions; /* NULL: 0, 1, 2 … */
    const uint8_t *lost;       /* with positions: the finest level at which each has lost, MOTE_LOD_NEVER if at none */
    const uint32_t *count;     /* with positions: how many */
    uint32_t *open_positions;  /* [MOST_OPEN · tiles] out */
    uint8_t *open_lost;
    uint32_t *open_count; /* [tiles + 1] out */
} sample_round;

typedef struct sample_tile {
    uint64_t codes[TILE];
    uint32_t ranks[TILE]; /* the upper half, where a rank has two */
    uint16_t playing[2][TILE];
    uint8_t lost[TILE], known[TILE], finest[TILE];
    uint32_t before[WARPS + 1];
    uint64_t code_before, code_after; /* beside the tile; all ones above 63 bits if there is none */
    uint32_t most_finest, least_finest;
} sample_tile;

/* Whether point a of the tile is better than b. */
static __device__ bool better(const sample_tile *tile, const lod_cuda_contest *in, uint32_t a, uint32_t b) {
    if (tile->ranks[a] != tile->ranks[b]) return tile->ranks[a] < tile->ranks[b];
    if (in->random && tile->codes[a] != tile->codes[b]) {
        return mote_lod_rank(in->seed, tile->codes[a]) < mote_lod_rank(in->seed, tile->codes[b]);
    }
    return a < b;
}

/* Whether the j-th player has a better one in its cell. Looks to both sides at once, so that few steps decide whatever
   the order of the ranks. */
static __device__ bool loses(const sample_tile *tile, const lod_cuda_contest *in, const uint16_t *playing,
                             uint32_t players, uint32_t j, uint32_t shift) {
    const uint32_t own = playing[j];
    const uint64_t cell = tile->codes[own] >> shift;
    bool left = true, right = true;
    for (uint32_t d = 1; left || right; d++) {
        if (left) {
            left = d <= j && tile->codes[playing[j - d]] >> shift == cell;
            if (left && better(tile, in, playing[j - d], own)) return true;
        }
        if (right) {
            right = j + d < players && tile->codes[playing[j + d]] >> shift == cell;
            if (right && better(tile, in, playing[j + d], own)) return true;
        }
    }
    return false;
}

/* One level: those who lose leave the list. Returns how many stay. */
static __device__ uint32_t play_level(sample_tile *tile, const lod_cuda_contest *in, uint32_t level, uint32_t players,
                                      const uint16_t *playing, uint16_t *staying) {
    const uint32_t shift = 3 * (MOTE_ORDER_BITS - level), lane = threadIdx.x % CUDA_WARP;
    uint32_t stays[TILE / THREADS];
    for (uint32_t k = 0; k < TILE / THREADS; k++) {
        const uint32_t j = k * THREADS + threadIdx.x;
        stays[k] = 0;
        if (k * THREADS >= players) continue; /* the whole block */
        bool stay = false;
        if (j < players) {
            const uint32_t own = playing[j];
            const bool out = tile->lost[own] != MOTE_LOD_NEVER;
            stay = !out && (level > tile->finest[own] ||
                            (tile->known[own] != level && !loses(tile, in, playing, players, j, shift)));
            if (!stay && !out) tile->lost[own] = (uint8_t)level;
        }
        stays[k] = __ballot_sync(CUDA_ALL, stay);
        if (lane == 0) tile->before[k * (THREADS / CUDA_WARP) + threadIdx.x / CUDA_WARP] = (uint32_t)__popc(stays[k]);
    }
    __syncthreads();
    const uint32_t used = (players + THREADS - 1) / THREADS * (THREADS / CUDA_WARP);
    if (threadIdx.x < CUDA_WARP) { /* WARPS = 32 counts, one per lane */
        const uint32_t own = threadIdx.x < used ? tile->before[threadIdx.x] : 0;
        uint32_t sum = own;
        for (uint32_t d = 1; d < CUDA_WARP; d *= 2) {
            const uint32_t other = __shfl_up_sync(CUDA_ALL, sum, d);
            if (threadIdx.x >= d) sum += other;
        }
        tile->before[threadIdx.x] = sum - own;
        if (threadIdx.x == CUDA_WARP - 1) tile->before[WARPS] = sum;
    }
    __syncthreads();
    for (uint32_t k = 0; k < TILE / THREADS; k++) {
        if (k * THREADS >= players || (stays[k] >> lane & 1) == 0) continue;
        const uint32_t before = tile->before[k * (THREADS / CUDA_WARP) + threadIdx.x / CUDA_WARP];
        staying[before + (uint32_t)__popc(stays[k] & ((1u << lane) - 1))] = playing[k * THREADS + threadIdx.x];
    }
    __syncthreads();
    return tile->before[WARPS];
}

/* The finest level of cells that choose among the points of a leaf. */
static __device__ uint32_t finest_level(const lod_cuda_contest *in, uint32_t position) {
    if (in->leaf_level == NULL) return MOTE_ORDER_BITS;
    const uint32_t level = in->leaf_level[position] + in->grid_bits - 1;
    return level < MOTE_ORDER_BITS ? level : MOTE_ORDER_BITS;
}

static __device__ uint32_t position_at(const sample_round *round, uint64_t i) {
    return round->positions != NULL ? round->positions[i] : (uint32_t)i;
}

static __device__ void load_tile(sample_tile *tile, const lod_cuda_contest *in, const sample_round *round,
                                 uint64_t first, uint32_t size, uint64_t count) {
    if (threadIdx.x == 0) {
        tile->most_finest = 0;
        tile->least_finest = MOTE_ORDER_BITS;
        tile->code_before = first > 0 ? in->codes[position_at(round, first - 1)] : in->code_before;
        tile->code_after = first + size < count ? in->codes[position_at(round, first + size)] : in->code_after;
    }
    __syncthreads();
    uint32_t most = 0, least = MOTE_ORDER_BITS;
    for (uint32_t i = threadIdx.x; i < size; i += THREADS) {
        const uint32_t position = position_at(round, first + i);
        const uint64_t code = in->codes[position];
        const uint32_t own = finest_level(in, position);
        tile->codes[i] = code;
        tile->ranks[i] = in->random ? (uint32_t)(mote_lod_rank(in->seed, code) >> 32) : in->order[position];
        tile->finest[i] = (uint8_t)own;
        /* Of points with one code the first is the best at every level. */
        const bool again = position > 0 && in->codes[position - 1] == code;
        tile->lost[i] = (uint8_t)(again ? MOTE_ORDER_BITS : MOTE_LOD_NEVER);
        tile->known[i] = round->positions != NULL ? round->lost[first + i] : MOTE_LOD_NEVER;
        tile->playing[0][i] = (uint16_t)i;
        most = own > most ? own : most;
        least = own < least ? own : least;
    }
    atomicMax(&tile->most_finest, most);
    atomicMin(&tile->least_finest, least);
    __syncthreads();
}

/* Whether a point of the tile may still meet a better one beyond the tile, at a finer level than it has lost at. */
static __device__ bool is_open(const sample_tile *tile, const lod_cuda_contest *in, uint32_t i) {
    uint32_t beyond = 0;
    bool any = false;
    if (tile->code_before != UINT64_MAX) {
        beyond = mote_lod_shared_level(tile->codes[i], tile->code_before);
        any = true;
    }
    if (tile->code_after != UINT64_MAX) {
        const uint32_t after = mote_lod_shared_level(tile->codes[i], tile->code_after);
        beyond = after > beyond ? after : beyond;
        any = true;
    }
    const uint32_t lost = tile->lost[i] == MOTE_LOD_NEVER ? in->grid_bits - 1 : tile->lost[i];
    return any && lost < tile->finest[i] && beyond > lost;
}

/* Writes the levels, and lists what is open in the order of the points. */
static __device__ void write_tile(sample_tile *tile, const lod_cuda_contest *in, const sample_round *round,
                                  uint64_t first, uint32_t size) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    uint32_t open[TILE / THREADS];
    for (uint32_t k = 0; k < TILE / THREADS; k++) {
        const uint32_t i = k * THREADS + threadIdx.x;
        bool is = false;
        if (i < size) {
            const uint32_t position = position_at(round, first + i);
            in->level[position] =
                (uint8_t)(in->leaf_level == NULL
                              ? tile->lost[i]
                              : mote_lod_chosen(tile->lost[i], in->leaf_level[position], in->grid_bits));
            is = is_open(tile, in, i);
        }
        open[k] = __ballot_sync(CUDA_ALL, is);
        if (lane == 0) tile->before[k * (THREADS / CUDA_WARP) + warp] = (uint32_t)__popc(open[k]);
    }
    __syncthreads();
    uint32_t before[TILE / THREADS], total = 0;
    for (uint32_t w = 0; w < WARPS; w++) {
        for (uint32_t k = 0; k < TILE / THREADS; k++) {
            if (w == k * (THREADS / CUDA_WARP) + warp) before[k] = total;
        }
        total += tile->before[w];
    }
    for (uint32_t k = 0; k < TILE / THREADS; k++) {
        if ((open[k] >> lane & 1) == 0) continue;
        const uint32_t i = k * THREADS + threadIdx.x;
        const uint64_t at =
            (uint64_t)blockIdx.x * MOST_OPEN + before[k] + (uint32_t)__popc(open[k] & ((1u << lane) - 1));
        round->open_positions[at] = position_at(round, first + i);
        round->open_lost[at] = tile->lost[i];
    }
    if (threadIdx.x == 0) round->open_count[blockIdx.x] = total;
}

static __global__ void __launch_bounds__(THREADS) sample_tiles(lod_cuda_contest in, sample_round round) {
    __shared__ sample_tile tile;
    const uint64_t count = round.positions != NULL ? *round.count : in.count;
    const uint64_t first = (uint64_t)blockIdx.x * TILE;
    if (blockIdx.x == 0 && threadIdx.x == 0) round.open_count[gridDim.x] = 0;
    if (first >= count) {
        if (threadIdx.x == 0) round.open_count[blockIdx.x] = 0;
        return;
    }
    const uint32_t size = count - first < TILE ? (uint32_t)(count - first) : TILE;
    load_tile(&tile, &in, &round, first, size, count);
    /* In the cell that holds the whole tile one is left, and coarser cells are beyond the tile's judgement. */
    const uint32_t whole = mote_lod_shared_level(tile.codes[0], tile.codes[size - 1]);
    const uint32_t least = whole < tile.least_finest ? whole : tile.least_finest;
    const uint32_t coarsest = least > in.grid_bits ? least : in.grid_bits;
    uint32_t players = size, from = 0;
    for (uint32_t level = tile.most_finest; level >= coarsest && players > 0; level--) {
        players = play_level(&tile, &in, level, players, tile.playing[from], tile.playing[1 - from]);
        from = 1 - from;
    }
    /* What is known from rounds before, at levels that were not played. */
    for (uint32_t i = threadIdx.x; i < size; i += THREADS) {
        if (tile.lost[i] == MOTE_LOD_NEVER) tile.lost[i] = tile.known[i];
    }
    __syncthreads();
    write_tile(&tile, &in, &round, first, size);
}

/* Moves what the tiles left open together. starts: the sums of the counts. */
static __global__ void gather_open(sample_round round, const uint32_t *starts, uint32_t tiles, uint32_t *positions,
                                   uint8_t *lost) {
    const uint64_t t = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t tile = (uint32_t)(t / MOST_OPEN), i = (uint32_t)(t % MOST_OPEN);
    if (tile >= tiles || i >= starts[tile + 1] - starts[tile]) return;
    positions[starts[tile] + i] = round.open_positions[t];
    lost[starts[tile] + i] = round.open_lost[t];
}

/* ---- the host's side */

/* Memory of a round, all of it for the first, largest one. */
typedef struct round_memory {
    uint32_t *open_positions, *open_count, *positions[2], *starts[2];
    uint8_t *open_lost, *lost[2];
} round_memory;

static bool allocate(mote_context *ctx, uint64_t tiles, round_memory *m) {
    static const char name[] = "sampling scratch";
    m->open_positions = (uint32_t *)cuda_alloc(ctx, tiles * MOST_OPEN * sizeof(uint32_t), name);
    m->open_lost = (uint8_t *)cuda_alloc(ctx, tiles * MOST_OPEN, name);
    m->open_count = (uint32_t *)cuda_alloc(ctx, (tiles + 1) * sizeof(uint32_t), name);
    bool all = m->open_positions != NULL && m->open_lost != NULL && m->open_count != NULL;
    for (int k = 0; k < 2 && all; k++) {
        m->positions[k] = (uint32_t *)cuda_alloc(ctx, tiles * MOST_OPEN * sizeof(uint32_t), name);
        m->lost[k] = (uint8_t *)cuda_alloc(ctx, tiles * MOST_OPEN, name);
        m->starts[k] = (uint32_t *)cuda_alloc(ctx, (tiles + 1) * sizeof(uint32_t), name);
        all = m->positions[k] != NULL && m->lost[k] != NULL && m->starts[k] != NULL;
    }
    return all;
}

static void release(mote_context *ctx, round_memory *m) {
    void *const owned[] = {m->open_positions, m->open_lost, m->open_count, m->positions[0], m->positions[1],
                           m->lost[0],        m->lost[1],   m->starts[0],  m->starts[1]};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuda_free(ctx, owned[i]);
}

/* Rounds until one tile holds all that is open. The host does not know how many that are, but how many at most. */
static mote_status play(mote_context *ctx, const lod_cuda_contest *contest, const round_memory *m) {
    sample_round round = {NULL, NULL, NULL, m->open_positions, m->open_lost, m->open_count};
    uint64_t most = contest->count;
    for (int turn = 0;; turn = 1 - turn) {
        const uint32_t tiles = cuda_blocks(most, TILE);
        CUDA_LAUNCH(ctx, sample_tiles, tiles, THREADS, *contest, round);
        if (tiles == 1) return cuda_launched(ctx, "sampling");
        MOTE_TRY(cuda_sum32(ctx, m->open_count, m->starts[turn], tiles + 1ull));
        CUDA_LAUNCH(ctx, gather_open, cuda_blocks((uint64_t)tiles * MOST_OPEN, THREADS), THREADS, round,
                    m->starts[turn], tiles, m->positions[turn], m->lost[turn]);
        round.positions = m->positions[turn];
        round.lost = m->lost[turn];
        round.count = m->starts[turn] + tiles;
        most = (uint64_t)tiles * MOST_OPEN;
    }
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
    if (allocate(ctx, cuda_blocks(contest->count, TILE), &m)) {
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
