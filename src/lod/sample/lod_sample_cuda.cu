/* random and first sampling on the GPU, for all nodes and levels at once.

   A level's cells lie within those of the next coarser level, and a point's rank is the same at all levels. So a point
   represents its cell at every level down to the one at which it first meets a better point; that level is all there
   is to find. Two points share the cells down to the least gap between them in the order, so the nearest better point
   on either side says it: the two are met by playing off neighbours, in whatever groups. A thread plays the points of
   a unit, all against all, in registers. What may still lose to a point beyond its unit is open: the best up to one of
   the unit's ends whose way out is not closed by a gap coarser than where it has lost. The open points of a block's
   tile come together, are cut into units again and played, until few remain, each of which looks for its better
   points itself. What is then open to the ends of the tile, at most one point per end and level, goes to the next
   round, in which a tile joins what some tiles left open, until one tile holds all.

   Here levels are those of nodes: of a gap the level that first chooses the worse of two neighbours, as
   mote_lod_chosen has it; a point's level is the largest by which it has lost, 0 if it has not. */
#include "device/cuda/warp.cuh"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"
#include "lod/sample/lod_sample_cuda.cuh"

static_assert(LOD_MAX_UNRESOLVED <= 2 * CUDA_WARP, "a thread for each open point");

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
    uint32_t tiles_each; /* of the round before, that a tile joins */
} sample_round;

/* What tells the cells of a point apart from those of others. */
template <bool FINE> struct sample_code { uint64_t code; };
template <> struct sample_code<true> { uint64_t code, fine; };

static __device__ uint32_t shared_level(const sample_code<false> &a, const sample_code<false> &b) {
    return mote_lod_shared_level(a.code, b.code);
}
static __device__ uint32_t shared_level(const sample_code<true> &a, const sample_code<true> &b) {
    if (a.code != b.code) return mote_lod_shared_level(a.code, b.code);
    return ORDER_FINE_FIRST + mote_lod_shared_level(a.fine, b.fine);
}

/* The level of cells that hold what is in one place. */
template <bool FINE> static __device__ constexpr uint32_t finest_level(void) {
    return FINE ? ORDER_FINE_BITS : MOTE_ORDER_BITS;
}

/* What ranks are made of. */
static __device__ uint64_t rank_code(const sample_code<false> &of) { return of.code; }
static __device__ uint64_t rank_code(const sample_code<true> &of) { return of.fine; }

/* Returns the code of a sorted position. */
template <bool FINE>
static __device__ sample_code<FINE> code_of_position(const lod_cuda_selection *in, uint64_t position) {
    sample_code<FINE> of;
    of.code = in->codes[position];
    if constexpr (FINE) of.fine = in->fine[position];
    return of;
}

/* The points of a tile: a stretch of the order, or a list. */
template <bool FINE> struct sample_points {
    const uint32_t *list; /* positions, or NULL */
    uint64_t first;       /* without a list */
    uint32_t size;
    sample_code<FINE> before, after; /* of the points beside */
};

template <bool LIST, bool FINE> static __device__ uint64_t position_at(const sample_points<FINE> *points, uint32_t i) {
    return LIST ? points->list[i] : points->first + i;
}

/* ---- the points of a tile become the first players */

/* A level of cells as one of nodes; finer ones than of the leaf do not matter. */
static __device__ uint32_t node_level(const lod_cuda_selection *in, uint32_t level, uint32_t leaf) {
    const int32_t of_node = (int32_t)(level + 1 - in->grid_bits);
    return (uint32_t)max(min(of_node, (int32_t)leaf), 0);
}

template <bool LIST, bool FINE>
static __device__ sample_code<FINE> code_at(const lod_cuda_selection *in, const sample_points<FINE> *p, uint32_t i) {
    if (i < p->size) return code_of_position<FINE>(in, position_at<LIST>(p, i));
    return i == UINT32_MAX ? p->before : p->after;
}

template <bool LIST, bool FINE>
static __device__ void load_codes(const lod_cuda_selection *in, const sample_points<FINE> *p, uint32_t first,
                                  sample_code<FINE> codes[sample_policy::unit]) {
    if (!LIST && first + sample_policy::unit <= p->size) {
        const ulonglong2 *from = (const ulonglong2 *)(in->codes + p->first + first);
#pragma unroll
        for (uint32_t k = 0; k < sample_policy::unit; k += 2) {
            const ulonglong2 two = from[k / 2];
            codes[k].code = two.x;
            codes[k + 1].code = two.y;
            if constexpr (FINE) {
                codes[k].fine = in->fine[p->first + first + k];
                codes[k + 1].fine = in->fine[p->first + first + k + 1];
            }
        }
        return;
    }
#pragma unroll
    for (uint32_t k = 0; k < sample_policy::unit; k++) codes[k] = code_at<LIST>(in, p, first + k);
}

/* Levels of the leaves, a byte per point; where there are no leaves yet, what no point is finer than. */
template <bool LIST, bool FINE>
static __device__ uint64_t load_leaves(const lod_cuda_selection *in, const sample_points<FINE> *p, uint32_t first) {
    uint64_t leaves = 0;
    if (in->leaf_level == NULL) return (MOTE_ORDER_BITS + 1 - in->grid_bits) * 0x0101010101010101ull;
    if (!LIST && first + sample_policy::unit <= p->size) return *(const uint64_t *)(in->leaf_level + p->first + first);
    for (uint32_t k = 0; k < sample_policy::unit; k++) {
        const uint32_t leaf = first + k < p->size ? in->leaf_level[position_at<LIST>(p, first + k)] : 0xFF;
        leaves |= (uint64_t)leaf << 8 * k;
    }
    return leaves;
}

static __device__ uint32_t leaf_of(uint64_t leaves, uint32_t k) { return (uint32_t)(leaves >> 8 * k) & 0xFF; }

template <bool LIST, bool FINE>
static __device__ void load_ranks(const lod_cuda_selection *in, const sample_points<FINE> *p, uint32_t first,
                                  const sample_code<FINE> codes[sample_policy::unit],
                                  uint64_t ranks[sample_policy::unit]) {
    if (in->random) {
#pragma unroll
        for (uint32_t k = 0; k < sample_policy::unit; k++) ranks[k] = mote_lod_rank(in->seed, rank_code(codes[k]));
    } else if (!LIST && first + sample_policy::unit <= p->size) {
        const uint4 *from = (const uint4 *)(in->order + p->first + first);
        const uint4 low = from[0], high = from[1];
        const uint32_t order[sample_policy::unit] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (uint32_t k = 0; k < sample_policy::unit; k++) ranks[k] = order[k];
    } else {
#pragma unroll
        for (uint32_t k = 0; k < sample_policy::unit; k++) {
            ranks[k] = first + k < p->size ? in->order[position_at<LIST>(p, first + k)] : 0;
        }
    }
}

/* Of points with one code the first is the best at every level. known: the levels by which points of a list have lost
   in earlier rounds; a byte each. */
template <bool LIST, bool FINE>
static __device__ void load_unit(const lod_cuda_selection *in, const sample_points<FINE> *p, uint64_t known,
                                 uint64_t leaves, sample_unit *unit) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, first = threadIdx.x * sample_policy::unit;
    sample_code<FINE> codes[sample_policy::unit], before, after, neighbor = {};
    if (lane == 0 || lane == CUDA_WARP - 1)
        neighbor = code_at<LIST>(in, p, lane == 0 ? first - 1 : first + sample_policy::unit);
    load_codes<LIST>(in, p, first, codes);
    load_ranks<LIST>(in, p, first, codes, unit->rank);
    before.code = warp_before(codes[sample_policy::unit - 1].code);
    after.code = warp_after(codes[0].code);
    if constexpr (FINE) {
        before.fine = warp_before(codes[sample_policy::unit - 1].fine);
        after.fine = warp_after(codes[0].fine);
    }
    if (lane == 0) before = neighbor;
    if (lane == CUDA_WARP - 1) after = neighbor;
#pragma unroll
    for (uint32_t k = 0; k < sample_policy::unit; k++) {
        const uint32_t shared = shared_level(before, codes[k]);
        unit->gap[k] = node_level(in, shared, leaf_of(leaves, k));
        unit->level[k] = LIST ? (uint32_t)(known >> 8 * k) & 0xFF : shared == finest_level<FINE>() ? CLOSED : 0;
        before = codes[k];
    }
    unit->gap[sample_policy::unit] =
        node_level(in, shared_level(before, after), leaf_of(leaves, sample_policy::unit - 1));
    if (first + sample_policy::unit > p->size) close_rest(unit, p->size > first ? p->size - first : 0);
}

/* Plays the points of the tile in units. Returns how many are open. */
template <bool LIST, bool FINE>
static __device__ uint32_t select_points(sample_tile *tile, const lod_cuda_selection *in,
                                         const sample_points<FINE> *p) {
    const uint32_t first = threadIdx.x * sample_policy::unit;
    uint64_t *const levels = (uint64_t *)(tile->level + first), leaves = load_leaves<LIST>(in, p, first);
    uint64_t packed = 0;
    uint32_t point[sample_policy::unit], open;
    sample_unit unit;
    sample_range own;
    load_unit<LIST>(in, p, LIST ? *levels : 0, leaves, &unit);
    select_unit(&unit);
#pragma unroll
    for (uint32_t k = 0; k < sample_policy::unit; k++) {
        point[k] = first + k;
        packed |= (uint64_t)min(unit.level[k], leaf_of(leaves, k)) << 8 * k;
    }
    *levels = packed;
    if (threadIdx.x == sample_policy::threads - 1) tile->gap_after = unit.gap[sample_policy::unit];
    open = find_open(&unit, &own);
    return keep_unresolved(tile, &unit, point, open, own, true);
}

/* Settles the remaining players, and lists those that are open to the ends of the tile. */
template <bool LIST, bool FINE>
static __device__ void settle_players(sample_tile *tile, const sample_points<FINE> *p, const sample_round *round,
                                      uint32_t remaining) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    uint32_t found = 0;
    for (uint32_t first = 0; first < remaining; first += sample_policy::threads) {
        const uint32_t i = first + threadIdx.x;
        uint32_t point = 0, level = 0;
        bool open = false;
        if (i < remaining) {
            point = tile->players.rest[i] & 0xFFFF;
            open = settle_player(tile, remaining, i, &level);
            tile->level[point] = (uint8_t)level;
        }
        const uint32_t lanes = __ballot_sync(CUDA_ALL, open);
        if (lane == 0) tile->sums[warp] = (uint32_t)__popc(lanes);
        const uint32_t all = (uint32_t)__syncthreads_count(open);
        if (open) {
            uint64_t at = (uint64_t)blockIdx.x * round->slots + found + warp_rank(lanes);
            for (uint32_t w = 0; w < warp; w++) at += tile->sums[w];
            round->out.positions[at] = (uint32_t)position_at<LIST>(p, point);
            round->out.level[at] = (uint8_t)level;
        }
        found += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) round->out.count[blockIdx.x] = found;
}

/* Where there are no leaves, that is the finest level of cells at which the point loses. */
static __device__ uint8_t final_level(const lod_cuda_selection *in, uint32_t level) {
    if (in->leaf_level != NULL) return (uint8_t)level;
    return (uint8_t)(level == 0 ? MOTE_LOD_NEVER : level + in->grid_bits - 1);
}

template <bool LIST, bool FINE>
static __device__ void write_levels(const sample_tile *tile, const lod_cuda_selection *in,
                                    const sample_points<FINE> *p) {
    const uint32_t first = threadIdx.x * sample_policy::unit;
    if (!LIST && first + sample_policy::unit <= p->size && in->leaf_level != NULL) {
        *(uint64_t *)(in->level + p->first + first) = *(const uint64_t *)(tile->level + first);
        return;
    }
    for (uint32_t i = first; i < first + sample_policy::unit && i < p->size; i++) {
        in->level[position_at<LIST>(p, i)] = final_level(in, tile->level[i]);
    }
}

template <bool LIST, bool FINE>
static __device__ void select_tile(sample_tile *tile, const lod_cuda_selection *in, const sample_points<FINE> *p,
                                   const sample_round *round) {
    uint32_t before = sample_policy::tile, remaining = select_points<LIST>(tile, in, p);
    while (remaining > sample_policy::max_uncut && remaining <= before / 4 * 3) {
        before = remaining;
        remaining = select_again(tile, remaining);
    }
    settle_players<LIST>(tile, p, round, remaining);
    write_levels<LIST>(tile, in, p);
}

/* ---- rounds */

/* A code like any, that shares only the root's cell with the one at the end of all. */
template <bool FINE>
static __device__ sample_code<FINE> neighbor_or_none(const lod_cuda_selection *in, uint64_t code, uint64_t end) {
    sample_code<FINE> of = {};
    of.code = code != UINT64_MAX ? code : in->codes[end] ^ NOTHING_BIT;
    return of;
}

/* The first round: a block plays a tile of the order. */
template <bool FINE>
static __global__ void __launch_bounds__(sample_policy::threads, 4)
    select_order(lod_cuda_selection in, sample_round round) {
    __shared__ sample_tile tile;
    const uint64_t first = (uint64_t)blockIdx.x * sample_policy::tile, remaining = in.count - first;
    sample_points<FINE> points;
    points.list = NULL;
    points.first = first;
    points.size = remaining < sample_policy::tile ? (uint32_t)remaining : sample_policy::tile;
    points.before = first > 0 ? code_of_position<FINE>(&in, first - 1) : neighbor_or_none<FINE>(&in, in.code_before, 0);
    points.after = remaining > sample_policy::tile ? code_of_position<FINE>(&in, first + sample_policy::tile)
                                                   : neighbor_or_none<FINE>(&in, in.code_after, in.count - 1);
    select_tile<false>(&tile, &in, &points, &round);
}

/* The code of the open point next to a list, step tiles away and on; where none is near, that of the point next to it
   in the order: it shares no less, so that more stays open. */
template <bool FINE>
static __device__ sample_code<FINE> neighbor_code(const lod_cuda_selection *in, const sample_round *round, int64_t tile,
                                                  int64_t step, uint64_t position) {
    uint32_t looked = 0;
    for (; tile >= 0 && tile < round->in.tiles; tile += step) {
        const uint32_t count = round->in.count[tile];
        if (count > 0) {
            return code_of_position<FINE>(in, round->in.positions[tile * round->slots + (step < 0 ? count - 1 : 0)]);
        }
        if (++looked == sample_policy::look_back)
            return code_of_position<FINE>(in, (uint64_t)((int64_t)position + step));
    }
    return neighbor_or_none<FINE>(in, step < 0 ? in->code_before : in->code_after, position);
}

/* Unites the open points of some tiles, one per thread at most, in a list; returns how many there are. */
static __device__ uint32_t merge_tiles(sample_tile *tile, uint32_t *list, const sample_round *round, uint32_t first,
                                       uint32_t tiles) {
    uint32_t *const ends = tile->players.rest; /* of each tile's points in the list */
    const uint32_t own = threadIdx.x < tiles ? round->in.count[first + threadIdx.x] : 0;
    uint32_t size;
    ends[threadIdx.x] = own + block_scan_exclusive<sample_policy::threads / CUDA_WARP>(own, tile->sums, &size);
    __syncthreads();
    for (uint32_t s = threadIdx.x; s < tiles * round->slots; s += sample_policy::threads) {
        const uint32_t t = s / round->slots, to = s % round->slots + (t > 0 ? ends[t - 1] : 0);
        if (to >= ends[t]) continue;
        list[to] = round->in.positions[(uint64_t)first * round->slots + s];
        tile->level[to] = round->in.level[(uint64_t)first * round->slots + s];
    }
    __syncthreads();
    return size;
}

/* A later round: a block plays what some tiles of the round before left open. */
template <bool FINE>
static __global__ void __launch_bounds__(sample_policy::threads)
    select_unresolved(lod_cuda_selection in, sample_round round) {
    __shared__ sample_tile tile;
    __shared__ uint32_t list[sample_policy::tile];
    const uint32_t first = blockIdx.x * round.tiles_each, remaining = round.in.tiles - first;
    const uint32_t tiles = remaining < round.tiles_each ? remaining : round.tiles_each;
    sample_points<FINE> points;
    points.list = list;
    points.first = 0;
    points.size = merge_tiles(&tile, list, &round, first, tiles);
    if (points.size == 0) { /* the same in the whole block */
        if (threadIdx.x == 0) round.out.count[blockIdx.x] = 0;
        return;
    }
    points.before = neighbor_code<FINE>(&in, &round, (int64_t)first - 1, -1, list[0]);
    points.after = neighbor_code<FINE>(&in, &round, (int64_t)first + tiles, 1, list[points.size - 1]);
    select_tile<true>(&tile, &in, &points, &round);
}

/* ---- the host's side */

static bool allocate(mote_device *gpu, uint32_t tiles, uint32_t slots, open_points *open) {
    static const char name[] = "sampling scratch";
    open->tiles = tiles;
    open->positions = (uint32_t *)cuda_alloc(gpu, (uint64_t)tiles * slots * sizeof *open->positions, name);
    open->level = (uint8_t *)cuda_alloc(gpu, (uint64_t)tiles * slots, name);
    open->count = (uint32_t *)cuda_alloc(gpu, tiles * sizeof *open->count, name);
    return open->positions != NULL && open->level != NULL && open->count != NULL;
}

static void release(mote_device *gpu, open_points *open) {
    cuda_free(gpu, open->positions);
    cuda_free(gpu, open->level);
    cuda_free(gpu, open->count);
}

/* Rounds until one tile holds all that is open; the last is in round->out. */
template <bool FINE>
static mote_status launch_rounds(mote_device *gpu, const lod_cuda_selection *selection, sample_round *round) {
    CUDA_LAUNCH(gpu, select_order<FINE>, round->out.tiles, sample_policy::threads, *selection, *round);
    while (round->out.tiles > 1) {
        const open_points free = round->in;
        round->in = round->out;
        round->out = free;
        round->out.tiles = cuda_blocks(round->in.tiles, round->tiles_each);
        CUDA_LAUNCH(gpu, select_unresolved<FINE>, round->out.tiles, sample_policy::threads, *selection, *round);
    }
    return cuda_launched(gpu, "sampling");
}

static mote_status fetch_open(mote_device *gpu, const lod_cuda_selection *selection, const open_points *last,
                              lod_cuda_unresolved *open) {
    if (open == NULL) return MOTE_OK;
    MOTE_TRY(cuda_download(gpu, &open->count, last->count, sizeof open->count));
    MOTE_TRY(cuda_download(gpu, open->positions, last->positions, open->count * sizeof *open->positions));
    MOTE_TRY(cuda_download(gpu, open->lost, last->level, open->count));
    for (uint32_t i = 0; i < open->count; i++) {
        open->lost[i] = (uint8_t)(open->lost[i] == 0 ? MOTE_LOD_NEVER : open->lost[i] + selection->grid_bits - 1);
    }
    return MOTE_OK;
}

mote_status lod_cuda_select(mote_device *gpu, const lod_cuda_selection *selection, lod_cuda_unresolved *open) {
    const uint32_t tiles = cuda_blocks(selection->count, sample_policy::tile);
    sample_round round;
    memset(&round, 0, sizeof round);
    const uint32_t finest = selection->fine != NULL ? ORDER_FINE_BITS : MOTE_ORDER_BITS;
    round.slots = 2 * (finest + 1 - selection->grid_bits);
    round.tiles_each = sample_policy::tile / round.slots < sample_policy::threads
                           ? sample_policy::tile / round.slots
                           : sample_policy::threads; /* a thread counts one */
    mote_status status = MOTE_ERROR_MEMORY;
    if (allocate(gpu, tiles, round.slots, &round.out) &&
        allocate(gpu, cuda_blocks(tiles, round.tiles_each), round.slots, &round.in)) {
        status = (selection->fine != NULL ? launch_rounds<true> : launch_rounds<false>)(gpu, selection, &round);
        if (status == MOTE_OK) status = fetch_open(gpu, selection, &round.out, open);
    }
    release(gpu, &round.in);
    release(gpu, &round.out);
    return status;
}

/* A thread for each open point of a part: of the cells that its borders divide another part may have the better one. */
static __global__ void lose_to_others(lod_cuda_selection in, lod_whole whole, const uint32_t *positions,
                                      uint32_t count) {
    if (threadIdx.x >= count) return;
    const uint32_t position = positions[threadIdx.x], none = in.grid_bits - 1;
    const uint32_t lost = lod_whole_loss(&whole, in.codes[position], none);
    const uint32_t level = lost > none ? node_level(&in, lost, in.leaf_level[position]) : 0;
    if (level > in.level[position]) in.level[position] = (uint8_t)level;
}

static mote_status settle_open(mote_device *gpu, const lod_cuda_selection *selection, const lod_whole *whole,
                               const lod_cuda_unresolved *open) {
    if (open->count == 0) return MOTE_OK;
    uint32_t *positions = (uint32_t *)cuda_alloc(gpu, sizeof open->positions, "sampling scratch");
    mote_status status = positions != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK)
        status = cuda_upload(gpu, positions, open->positions, open->count * sizeof open->positions[0]);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, lose_to_others, 1, 2 * CUDA_WARP, *selection, *whole, (const uint32_t *)positions,
                    open->count);
        status = cuda_launched(gpu, "sampling");
    }
    cuda_free(gpu, positions);
    return status;
}

/* The code of the point beside a part, as far as the part knows it: none is nearer. */
static void look_beside(const lod_whole *whole, lod_cuda_selection *selection) {
    if (whole->low.code > 0) selection->code_before = whole->low.code - 1;
    if (whole->high.code < 1ull << 3 * MOTE_ORDER_BITS) selection->code_after = whole->high.code;
}

mote_status lod_cuda_sample(mote_lod *lod, lod_cuda *device) {
    mote_device *gpu = lod->device;
    lod_cuda_unresolved open;
    device->level = (uint8_t *)cuda_alloc(gpu, lod->count, "levels");
    if (device->level == NULL) return MOTE_ERROR_MEMORY;
    if (lod->level_count < 2) return cuda_fill(gpu, device->level, 0, lod->count);
    lod_cuda_selection selection = {device->codes,
                                    device->fine,
                                    device->order,
                                    device->leaf_level,
                                    device->level,
                                    lod->count,
                                    lod->params.seed,
                                    UINT64_MAX,
                                    UINT64_MAX,
                                    lod_cell_level(lod, 0),
                                    lod->params.sampling != MOTE_LOD_FIRST};
    if (lod->whole == NULL) return lod_cuda_select(gpu, &selection, NULL);
    look_beside(lod->whole, &selection);
    MOTE_TRY(lod_cuda_select(gpu, &selection, &open));
    return settle_open(gpu, &selection, lod->whole, &open);
}
