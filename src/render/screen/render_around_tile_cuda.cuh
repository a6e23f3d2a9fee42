/* Tiles: what a block of threads has in shared memory while it looks for the k nearest of the seen points of a tile of
   the picture (render_around_cuda.cuh): the tile's own, and those around it, as far as most windows reach.

   Where points are many, they are in rows:

     row    0   0 1 0 0 1 1 0 0 ...   bits: samples that show a point       first  0     what is seen in a row is a
            1   1 0 0 1 0 0 0 1                                                    3     run, and so is what is seen in
            2   0 0 0 0 1 0 1 0                                                    6     a window of it
            ...                       layer after layer

   Where they are few, whole blocks of the quadtree are taken, and their points are in any order. */
#ifndef MOTE_RENDER_AROUND_TILE_CUH
#define MOTE_RENDER_AROUND_TILE_CUH

#include "device/cuda/warp.cuh"
#include "render/render_cuda.h"

#define AROUND_THREADS    128u
#define AROUND_WARPS      (AROUND_THREADS / CUDA_WARP)
#define AROUND_HALO       4.0f  /* of the largest first radius of a tile: what most windows need in the end */
#define AROUND_MAX_WIDE   62    /* samples of a tile and what is around it; bits of a row */
#define AROUND_MAX        2048u /* points of these */
#define AROUND_FEW        400u  /* as many are looked at by all threads of a tile, whatever their windows */
#define AROUND_MAX_BLOCKS 8u    /* of the quadtree around a tile whose points are few */
#define AROUND_MIN_BLOCKS 2u
#define AROUND_OWN        (4 * RENDER_BLOCK_SAMPLES * MOTE_RENDER_MAX_LAYERS) /* points of a tile, at most */
#define AROUND_ROWS       (AROUND_MAX_WIDE * MOTE_RENDER_MAX_LAYERS)

/* What a block has in shared memory. */
typedef struct render_around_tile {
    uint64_t rows[AROUND_ROWS];
    uint32_t first[AROUND_ROWS];
    float at[3][AROUND_MAX]; /* from origin */
    uint32_t seen[AROUND_MAX];
    uint32_t buffer[AROUND_WARPS];
    uint16_t asked[AROUND_OWN]; /* the tile's points whose neighbours are wanted: which of its own */
    uint32_t radius, far;       /* the largest, as integers */
    uint32_t filled;
} render_around_tile;

/* Where a tile is, the same in all threads. */
typedef struct render_around_place {
    uint32_t block, blocks; /* of the quadtree: where its own begin, and how many it has */
    int32_t u, v, side;     /* its samples */
    int32_t halo, wide;     /* samples around it on each side; side + 2 halo */
    uint32_t count;         /* points of all these, where they are few */
    bool few;               /* and in any order: there are no rows */
    double origin[3];
} render_around_place;

static inline __host__ __device__ uint32_t render_around_log2(const render_screen *screen) {
    return screen->square_log2 < 1 ? screen->square_log2 : 1;
}

static inline uint32_t render_around_tiles(const render_screen *screen) {
    return screen->block_count >> 2 * render_around_log2(screen);
}

/* How many points a tile has in some layers, and the n-th of them, layer after layer. */
static __device__ __forceinline__ uint32_t render_own_count(const render_screen *screen,
                                                            const render_around_place *tile, uint32_t layers) {
    uint32_t count = 0;
    for (uint32_t l = 0; l < layers; l++) {
        const uint32_t *first = screen->layers[l].first + tile->block;
        count += first[tile->blocks] - first[0];
    }
    return count;
}

static __device__ __forceinline__ uint32_t render_own_seen(const render_screen *screen, const render_around_place *tile,
                                                           uint32_t n) {
    for (uint32_t l = 0;; l++) {
        const uint32_t *first = screen->layers[l].first + tile->block;
        const uint32_t count = first[tile->blocks] - first[0];
        if (n < count) return first[0] + n;
        n -= count;
    }
}

/* Eight samples of a row that are in one block of the quadtree: the points that they show, bit by bit. */
typedef struct render_around_part {
    uint32_t row, block, layer, bits; /* bits: those within the tile and its halo */
    int32_t x;                        /* of the first of eight, in the tile's columns; may be negative */
    uint32_t shift;                   /* where they are in the block's mask */
} render_around_part;

/* Calls visit(part) for the parts of all rows, each thread for some. */
template <class VISIT>
static __device__ __forceinline__ void render_for_parts_of(const render_screen *screen,
                                                           const render_around_place *place, VISIT visit) {
    const int32_t u0 = place->u - place->halo, v0 = place->v - place->halo;
    const int32_t v1 = min(v0 + place->wide, (int32_t)screen->view.height) - 1;
    const int32_t u1 = min(u0 + place->wide, (int32_t)screen->view.width) - 1;
    const uint32_t top = (uint32_t)max(v0, 0), first = (uint32_t)max(u0, 0) / RENDER_BLOCK;
    const uint32_t columns = (uint32_t)u1 / RENDER_BLOCK - first + 1, rows = (uint32_t)v1 - top + 1;
    for (uint32_t n = threadIdx.x; n < columns * rows * screen->layer_count; n += AROUND_THREADS) {
        const uint32_t column = first + n % columns, v = top + n / columns % rows;
        render_around_part part;
        part.layer = n / columns / rows;
        part.block = render_block_of(screen, column, v / RENDER_BLOCK);
        part.shift = v % RENDER_BLOCK * RENDER_BLOCK;
        part.row = part.layer * (uint32_t)place->wide + (uint32_t)((int32_t)v - v0);
        part.x = (int32_t)(column * RENDER_BLOCK) - u0;
        part.bits = (uint32_t)(screen->layers[part.layer].mask[part.block] >> part.shift) & 0xFFu;
        if (part.x < 0) part.bits &= 0xFFu << -part.x;
        if (part.x + 8 > place->wide) part.bits &= 0xFFu >> (part.x + 8 - place->wide);
        if (part.bits != 0) visit(part);
    }
}

/* Rows of the tile with a halo, and where they begin. Returns how many points they have. */
static __device__ __forceinline__ uint32_t render_make_rows(const render_screen *screen,
                                                            const render_around_place *place,
                                                            render_around_tile *tile) {
    const uint32_t all = (uint32_t)place->wide * screen->layer_count;
    uint32_t before = 0;
    for (uint32_t r = threadIdx.x; r < all; r += AROUND_THREADS) tile->rows[r] = 0;
    __syncthreads();
    render_for_parts_of(screen, place, [&](const render_around_part &part) {
        const uint64_t bits = part.x >= 0 ? (uint64_t)part.bits << part.x : part.bits >> -part.x;
        atomicOr((unsigned long long *)&tile->rows[part.row], (unsigned long long)bits);
    });
    __syncthreads();
    for (uint32_t from = 0; from < all; from += AROUND_THREADS) {
        const uint32_t r = from + threadIdx.x;
        uint32_t count = 0;
        const uint32_t begin = before + block_scan_exclusive<AROUND_WARPS>(r < all ? render_popcount(tile->rows[r]) : 0,
                                                                           tile->buffer, &count);
        if (r < all) tile->first[r] = begin;
        before += count;
        __syncthreads();
    }
    return before;
}

/* A seen point comes to a place in shared memory. Returns how far it is from the origin, along an axis. */
static __device__ __forceinline__ float render_fill_one(const render_screen *screen, const render_around_place *place,
                                                        render_around_tile *tile, uint32_t to, uint32_t seen) {
    float farthest = 0;
    tile->seen[to] = seen;
    for (int k = 0; k < 3; k++) {
        const float at = (float)(screen->seen.at[k][seen] - place->origin[k]);
        tile->at[k][to] = at;
        farthest = fmaxf(farthest, fabsf(at));
    }
    return farthest;
}

/* Coordinates of the rows' points: those of a part follow each other. */
static __device__ __forceinline__ void render_fill_rows(const render_screen *screen, const render_around_place *place,
                                                        render_around_tile *tile) {
    float farthest = 0;
    render_for_parts_of(screen, place, [&](const render_around_part &part) {
        const uint32_t skipped = render_lowest_bit(part.bits);
        const uint64_t before = (1ull << (uint32_t)(part.x + (int32_t)skipped)) - 1;
        const uint64_t mask = screen->layers[part.layer].mask[part.block];
        const uint32_t to = tile->first[part.row] + render_popcount(tile->rows[part.row] & before);
        const uint32_t seen = screen->layers[part.layer].first[part.block] +
                              render_popcount(mask & ((1ull << (part.shift + skipped)) - 1));
        const uint32_t count = render_popcount(part.bits);
        for (uint32_t n = 0; n < count; n++) {
            farthest = fmaxf(farthest, render_fill_one(screen, place, tile, to + n, seen + n));
        }
    });
    atomicMax(&tile->far, __float_as_uint(warp_max(farthest)));
}

/* Calls visit(first, end) for the seen points of blocks of the quadtree: those of the tile, and some around it on each
   side, layer after layer; each thread for some. */
template <class VISIT>
static __device__ __forceinline__ void
render_for_blocks_around(const render_screen *screen, const render_around_place *place, uint32_t around, VISIT visit) {
    const uint32_t u = (uint32_t)place->u / RENDER_BLOCK, v = (uint32_t)place->v / RENDER_BLOCK;
    const uint32_t side = (uint32_t)place->side / RENDER_BLOCK - 1;
    const uint32_t u0 = u > around ? u - around : 0, u1 = min(u + side + around, screen->blocks_u - 1);
    const uint32_t v0 = v > around ? v - around : 0, v1 = min(v + side + around, screen->blocks_v - 1);
    const uint32_t wide = u1 - u0 + 1, high = v1 - v0 + 1;
    for (uint32_t n = threadIdx.x; n < wide * high * screen->layer_count; n += AROUND_THREADS) {
        const uint32_t block = render_block_of(screen, u0 + n % wide, v0 + n / wide % high);
        const uint32_t *first = screen->layers[n / wide / high].first + block;
        if (first[0] < first[1]) visit(first[0], first[1]);
    }
}

/* Few points, in any order, of whole blocks; the most blocks whose points are few. Returns false if there are none. */
static __device__ __forceinline__ bool render_fill_blocks(const render_screen *screen, float wanted,
                                                          render_around_place *place, render_around_tile *tile) {
    const uint32_t wanted_blocks = (uint32_t)fminf(wanted / RENDER_BLOCK, (float)AROUND_MAX_BLOCKS - 1) + 1;
    uint32_t around = max(wanted_blocks, AROUND_MIN_BLOCKS);
    if (render_own_count(screen, place, screen->layer_count) > AROUND_FEW / 4) return false;
    for (;; around--) {
        uint32_t count = 0;
        render_for_blocks_around(screen, place, around, [&](uint32_t first, uint32_t end) { count += end - first; });
        place->count = block_sum<AROUND_WARPS>(count, tile->buffer);
        __syncthreads();
        if (place->count <= AROUND_FEW) break;
        if (around == AROUND_MIN_BLOCKS) return false;
    }
    float farthest = 0;
    place->halo = (int32_t)(around * RENDER_BLOCK);
    render_for_blocks_around(screen, place, around, [&](uint32_t first, uint32_t end) {
        uint32_t to = atomicAdd(&tile->filled, end - first);
        for (uint32_t seen = first; seen < end; seen++, to++) {
            farthest = fmaxf(farthest, render_fill_one(screen, place, tile, to, seen));
        }
    });
    atomicMax(&tile->far, __float_as_uint(warp_max(farthest)));
    return true;
}

/* Brings the tile's points, and those around, to shared memory: as far as most windows reach, or as many as fit.
   Returns whether any do. tile->radius: the largest first one */
static __device__ __forceinline__ bool render_open_tile(const render_screen *screen, render_around_place *place,
                                                        render_around_tile *tile) {
    const uint32_t one = render_own_seen(screen, place, tile->asked[0]);
    for (int axis = 0; axis < 3; axis++) place->origin[axis] = screen->seen.at[axis][one];
    if (threadIdx.x == 0) tile->far = tile->filled = 0;
    __syncthreads();
    const float wanted = AROUND_HALO * __uint_as_float(tile->radius) + 2;
    place->few = render_fill_blocks(screen, wanted, place, tile);
    if (!place->few) {
        place->halo = (int32_t)fminf(wanted, (float)((AROUND_MAX_WIDE - place->side) / 2));
        for (; place->halo > 0; place->halo -= (place->halo + 3) / 4) {
            place->wide = place->side + 2 * place->halo;
            if (render_make_rows(screen, place, tile) <= AROUND_MAX) break;
        }
        if (place->halo <= 0) return false;
        render_fill_rows(screen, place, tile);
    }
    __syncthreads();
    return true;
}

#endif
