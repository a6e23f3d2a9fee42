/* The contest of a tile of points, in shared memory: which of them lose by how much to others of the tile, and which
   may still lose to points beyond it. */
#ifndef MOTE_LOD_SAMPLE_CUDA_H
#define MOTE_LOD_SAMPLE_CUDA_H

#include "device/cuda/warp.cuh"

/* The order is cut into units, and units into tiles. What may still lose to a point beyond its unit, or tile, is open:
   the best up to one of the ends, unless it has lost already at a level as fine as any gap on the way out.

   As set here: 1.23 ms for all levels of 100 M points of a city (H200); tiles of 1,024 points with a scan for each
   level took 4.6 ms (docs/history/lod.md, 0007). */
struct sample_policy {
    static constexpr uint32_t threads = 256, warps = threads / CUDA_WARP;
    static constexpr uint32_t unit = 8; /* points that a thread plays, in registers */
    static constexpr uint32_t tile = threads * unit;
    static constexpr uint32_t max_uncut = 96; /* players that are not cut into units any more */
    static constexpr uint32_t look_back = 32; /* tiles, for the open point before */
};

#define NO_GAP 63u  /* finer than any */
#define CLOSED 255u /* lost at no level that counts any more, whatever comes */

/* Points still in play, in order. A thread reads those of a unit in words of 16 bytes. */
typedef struct alignas(16) sample_players {
    uint64_t rank[sample_policy::tile];
    uint32_t rest[sample_policy::tile]; /* point of the tile; from bit 16 on the gap before it; from bit 24 on its level
                                           so far */
} sample_players;

typedef struct sample_tile {
    sample_players players;
    uint8_t level[sample_policy::tile]; /* by point */
    uint32_t sums[sample_policy::warps];
    uint32_t remaining; /* players */
    uint32_t gap_after; /* from the last player to the point beside the tile */
} sample_tile;

/* A thread's points. What lies behind the last player is closed and has no gap to its neighbour. */
typedef struct sample_unit {
    uint64_t rank[sample_policy::unit];
    uint32_t gap[sample_policy::unit + 1]; /* to the point before; the last: of the point after the unit */
    uint32_t level[sample_policy::unit];
} sample_unit;

/* What lies behind the last point beats nobody, and has lost. */
static __device__ void close_rest(sample_unit *unit, uint32_t points) {
#pragma unroll
    for (uint32_t k = 0; k < sample_policy::unit; k++) {
        if (k < points) continue;
        unit->rank[k] = UINT64_MAX;
        unit->level[k] = CLOSED;
    }
}

/* ---- units */

/* Everyone against everyone: the worse of two loses at what they share, the better at nothing. */
static __device__ void select_unit(sample_unit *unit) {
#pragma unroll
    for (uint32_t i = 0; i < sample_policy::unit; i++) {
        uint32_t shared = NO_GAP;
#pragma unroll
        for (uint32_t j = i + 1; j < sample_policy::unit; j++) {
            shared = min(shared, unit->gap[j]);
            const uint32_t of_first = unit->rank[j] < unit->rank[i] ? shared : 0;
            unit->level[i] = max(unit->level[i], of_first);
            unit->level[j] = max(unit->level[j], shared - of_first);
        }
    }
}

/* A stretch of the order: how many points are open, and the least gap since the last of them. */
typedef struct sample_range {
    uint32_t open, gap;
} sample_range;

static __device__ sample_range join(sample_range a, sample_range b) {
    a.open += b.open;
    a.gap = b.open > 0 ? b.gap : min(a.gap, b.gap);
    return a;
}

/* A bit per point that a better one beyond the unit may still beat at a finer level. Whoever has met a better one on
   the way out has lost by that already. */
static __device__ uint32_t find_open(const sample_unit *unit, sample_range *range) {
    uint32_t after[sample_policy::unit], before = NO_GAP, since = NO_GAP, open = 0;
    after[sample_policy::unit - 1] = unit->gap[sample_policy::unit];
#pragma unroll
    for (uint32_t k = sample_policy::unit - 1; k > 0; k--) after[k - 1] = min(after[k], unit->gap[k]);
#pragma unroll
    for (uint32_t k = 0; k < sample_policy::unit; k++) {
        before = min(before, unit->gap[k]);
        since = min(since, unit->gap[k]);
        if (max(before, after[k]) > unit->level[k]) {
            open |= 1u << k;
            since = NO_GAP;
        }
    }
    range->open = (uint32_t)__popc(open);
    range->gap = since;
    return open;
}

/* The stretch of the warp before the unit; sum: that of the whole warp, packed, for the last lane. */
static __device__ sample_range range_of_warp(sample_range own, uint32_t *sum) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const uint32_t count = warp_scan_inclusive(own.open);
    /* The largest is one of the units since the last open point: as many are open up to there. */
    const uint32_t last = warp_scan_max(count << 8 | (NO_GAP - own.gap)), before_last = warp_before(last);
    *sum = last;
    const sample_range before = {count - own.open, lane > 0 ? NO_GAP - (before_last & 0xFF) : NO_GAP};
    return before;
}

/* The stretch of the tile before the unit, for units of warps that play and the last. All threads of the block have
   read their units when it returns. */
static __device__ sample_range range_of_tile(sample_tile *tile, sample_range own, bool plays) {
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    const sample_range none = {0, NO_GAP};
    sample_range before = none, within = none;
    uint32_t sum = 0;
    if (plays) within = range_of_warp(own, &sum);
    if (threadIdx.x % CUDA_WARP == CUDA_WARP - 1) tile->sums[warp] = sum;
    __syncthreads();
    if (!plays && warp < sample_policy::warps - 1) return none;
    for (uint32_t w = 0; w < warp; w++) {
        const sample_range there = {tile->sums[w] >> 8, NO_GAP - (tile->sums[w] & 0xFF)};
        before = join(before, there);
    }
    return join(before, within);
}

/* Puts the open points of all units in a row: the next players. point: the number of each of the unit's; plays: whether
   the warp has any. Returns how many are open. */
static __device__ uint32_t keep_unresolved(sample_tile *tile, const sample_unit *unit,
                                           const uint32_t point[sample_policy::unit], uint32_t open, sample_range own,
                                           bool plays) {
    sample_range before = range_of_tile(tile, own, plays);
    if (plays) {
        uint64_t *rank = tile->players.rank + before.open;
        uint32_t *rest = tile->players.rest + before.open;
#pragma unroll
        for (uint32_t k = 0; k < sample_policy::unit; k++) {
            before.gap = min(before.gap, unit->gap[k]);
            const uint32_t packed = point[k] | before.gap << 16 | unit->level[k] << 24;
            if (open >> k & 1) {
                *rank++ = unit->rank[k];
                *rest++ = packed;
                before.gap = NO_GAP;
            }
        }
        before.open += own.open;
    }
    if (threadIdx.x == sample_policy::threads - 1) {
        tile->remaining = before.open;
        tile->gap_after = min(tile->gap_after, before.gap);
    }
    __syncthreads();
    return tile->remaining;
}

/* ---- players */

static __device__ uint32_t gap_of(const sample_tile *tile, uint32_t player) {
    return tile->players.rest[player] >> 16 & 0xFF;
}

static __device__ void load_players(const sample_tile *tile, uint32_t remaining, sample_unit *unit,
                                    uint32_t point[sample_policy::unit]) {
    const uint32_t first = threadIdx.x * sample_policy::unit, end = first + sample_policy::unit;
#pragma unroll
    for (uint32_t k = 0; k < sample_policy::unit; k++) {
        const uint32_t rest = tile->players.rest[first + k]; /* what lies behind the last is old, and mended below */
        unit->rank[k] = tile->players.rank[first + k];
        unit->gap[k] = rest >> 16 & 0xFF;
        unit->level[k] = rest >> 24;
        point[k] = rest & 0xFFFF;
    }
    unit->gap[sample_policy::unit] = end < remaining ? gap_of(tile, end) : end == remaining ? tile->gap_after : NO_GAP;
    if (end <= remaining) return;
#pragma unroll
    for (uint32_t k = 0; k < sample_policy::unit; k++) {
        if (first + k >= remaining) unit->gap[k] = first + k == remaining ? tile->gap_after : NO_GAP;
    }
    close_rest(unit, remaining > first ? remaining - first : 0);
}

/* Cuts the open points into units again and plays them. Returns how many stay open. */
static __device__ uint32_t select_again(sample_tile *tile, uint32_t remaining) {
    const uint32_t first = threadIdx.x * sample_policy::unit;
    const bool plays = first - threadIdx.x % CUDA_WARP * sample_policy::unit < remaining; /* the warp does */
    sample_unit unit;
    uint32_t point[sample_policy::unit], open = 0;
    sample_range own = {0, NO_GAP};
    if (plays) {
        load_players(tile, remaining, &unit, point);
        select_unit(&unit);
        open = find_open(&unit, &own);
#pragma unroll
        for (uint32_t k = 0; k < sample_policy::unit; k++) {
            if (first + k < remaining && (open >> k & 1) == 0) tile->level[point[k]] = (uint8_t)unit.level[k];
        }
    }
    return keep_unresolved(tile, &unit, point, open, own, plays);
}

/* Finds the nearest better players on both sides, as far as they matter. Returns whether it stays open. */
static __device__ bool settle_player(sample_tile *tile, uint32_t remaining, uint32_t i, uint32_t *level) {
    const uint64_t rank = tile->players.rank[i];
    uint32_t lost = tile->players.rest[i] >> 24, beyond = 0;
    uint32_t gap = gap_of(tile, i);
    for (uint32_t k = i; gap > lost; gap = min(gap, gap_of(tile, k))) {
        if (k == 0) {
            beyond = gap;
            break;
        }
        k--;
        if (tile->players.rank[k] <= rank) lost = gap;
    }
    gap = NO_GAP;
    for (uint32_t k = i + 1;; k++) {
        gap = min(gap, k < remaining ? gap_of(tile, k) : tile->gap_after);
        if (gap <= lost) break;
        if (k == remaining) {
            beyond = max(beyond, gap);
            break;
        }
        if (tile->players.rank[k] < rank) lost = gap;
    }
    *level = lost;
    return beyond > lost;
}

#endif
