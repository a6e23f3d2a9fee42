/* Colour filters on the device: what the steps hand to each other.

   Neighbors, gaussian, and poisson's cells: all that levels need is made in one pass over the sorted points, by warps
   of a tile each. The points of a cell of some level are a source: their colours are summed up. 4³ cells are a brick,
   which knows those that are occupied by a mask; bricks of a level are the cells of a level that is two coarser.

     sorted points ──count───> marks: which cells begin at a point; how many begin before each tile
                   ──sources─> sums of cells, and their bricks, of all levels of a pass
     bricks        ──index───> the 27 bricks around each, from those of its parent
     items         ──average─> colours: the sources of the cells around an item

   Where each cell has one item (random and first), cells alone are averaged along the items: lod_filter_cuda_cells.cu.
   lod_filter_cuda.cu is the outline. */
#ifndef MOTE_LOD_FILTER_CUDA_H
#define MOTE_LOD_FILTER_CUDA_H

#include "core/column_math.h"
#include "device/cuda/warp.cuh"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"
#include "math/search.h"

/* What all filters share. Other tiles of the pass over points were tried as blocks of 8³ cells in shared memory:
   barriers and an occupancy of 49 % cost more than a third fewer instructions saved
   (docs/history/lod.md, 0010). */
struct filter_policy {
    static constexpr uint32_t threads = 256, warps = threads / CUDA_WARP;
    static constexpr uint32_t tile = 256; /* points that a warp takes */
    static constexpr uint32_t lane_points = tile / CUDA_WARP;
};

#define FILTER_LEVELS (ORDER_FINE_BITS + 1u)
#define FILTER_CROWD  65536u /* points whose sums of colours fit 32 bits */

#define SOURCE_COUNT_BITS 17u /* up to FILTER_CROWD */
#define SOURCE_LEVELS     5u  /* the last levels of its code that a source knows */

/* The sum over a cell. */
typedef struct alignas(16) filter_source {
    uint32_t sum[3]; /* red, green, blue */
    uint32_t place;  /* how many points; above, the last three bits per level of its cell's code */
} filter_source;

/* A source of a level where a cell may hold more than FILTER_CROWD points, whose sums need 64 bits. */
typedef struct alignas(16) filter_wide_source {
    unsigned long long sum[3];
    uint32_t count, place;
} filter_wide_source;

typedef struct alignas(16) filter_brick {
    unsigned long long mask; /* bit m: the cell whose code within the brick is m is occupied */
    uint32_t cell;           /* its first; cells of a brick are ascending */
    uint32_t child;          /* its first octant; they are bricks of the next finer level */
} filter_brick;

/* A colour in device memory: red, green, blue, and whether it is an average. */
typedef struct alignas(8) filter_color {
    uint16_t v[4];
} filter_color;

/* How the columns of colours can be read. */
enum { FILTER_COLORS_ANY, FILTER_COLORS_16, FILTER_COLORS_8 };

typedef struct filter_columns {
    mote_column of[3]; /* red, green, blue */
    int kind;          /* 16: aligned 16-bit numbers. 8: 8-bit numbers of one aligned 32-bit word */
} filter_columns;

/* The cells of all levels, in device memory. Rows are the bricks where there can be cells that are averaged over, and
   all coarser ones. */
typedef struct filter_cells_view {
    const uint64_t *codes;
    const uint64_t *fine; /* fine codes, or NULL */
    const uint8_t *leaf_level;
    /* Of each point: one more than the levels whose cells it shares with the one before; 0 for the first of all. So a
       cell of level t begins where this is at most t. */
    const uint8_t *marks;
    uint64_t count; /* points */
    uint32_t tiles;
    uint32_t finest;       /* level of cells */
    uint32_t finest_brick; /* level, as cells */
    uint32_t grid_bits;
    /* Bits t. What is made in a pass: */
    uint32_t visited;  /* cells of level t are looked at */
    uint32_t averaged; /* over these it is averaged */
    uint32_t summed;   /* these are sources */
    uint32_t wide;     /* and these of them are wide */
    uint32_t bricked;  /* these are bricks */
    bool placed;       /* sources know their places */
    /* [list · tiles + tile] begins before a tile, counted through all lists: cells of the levels up to finest, then
       rows of the levels up to finest_brick; and the end of all */
    const uint32_t *before;
    uint64_t cells[FILTER_LEVELS], rows[FILTER_LEVELS];
    void *sources[FILTER_LEVELS];          /* [cells] */
    uint32_t *first_source[FILTER_LEVELS]; /* [cells + 1] of a cell, among those of the level source_level */
    uint8_t source_level[FILTER_LEVELS];
    filter_brick *bricks[FILTER_LEVELS]; /* [cells + 1] up to finest_brick; the last is empty: what is not there */
    uint32_t *row_point[FILTER_LEVELS];  /* [rows] the first point */
    /* What a tile has of the cells and bricks that began before it: [tile · source levels + source level's number],
       [tile · brick levels + brick level] */
    filter_source *heads;
    unsigned long long *head_masks;
} filter_cells_view;

typedef struct lod_filter {
    mote_lod *lod;
    lod_cuda *device;
    filter_columns columns;
    filter_cells_view view;
    filter_color *colors; /* [count] by sorted position; until leaves have theirs */
    uint8_t *marks;       /* [count] */
    uint32_t crowd;       /* of filter_find_crowd */
    uint32_t *before;     /* filter_cells_view.before */
    uint32_t *around[2];  /* of the rows of even and of odd levels: filter_around */
    uint64_t around_rows; /* of the finest level, that there is room for */
    uint64_t first_row;   /* from which on it is known what is around; on coarser levels all */
    void *arena;          /* sources, bricks, and what else the view speaks of */
    filter_brick *top;    /* the one brick of cells of level 1, and the empty one */
    uint16_t *weights;    /* as weight_key says in lod_filter_cuda_average.cu */
    uint32_t weight_bits;
} lod_filter;

/* Counts the cells of all levels, and decides on sources. lod_filter_cuda_count.cu */
mote_status filter_count_cells(lod_filter *f);
/* Makes what levels need, from the first given on as many as there is room for; sets the first that is left. colors are
   sorted where there is room for them. */
mote_status filter_make_cells(lod_filter *f, uint32_t first_level, uint32_t *next_level);
void filter_free_cells(lod_filter *f);

/* The bricks around rows of a level of bricks, from those of the next coarser: all rows, but on the finest level only
   around_rows from the first given on. lod_filter_cuda_index.cu */
mote_status filter_make_around(lod_filter *f, uint32_t level, uint64_t first_row);
void filter_free_around(lod_filter *f);

/* Colours of a level's items in inner nodes whose rows are among those last given to filter_make_around.
   lod_filter_cuda_average.cu */
mote_status filter_average(lod_filter *f, uint32_t level);

/* Makes all items' colours where each cell of a level's grid has one item in inner nodes. lod_filter_cuda_cells.cu */
mote_status filter_cells(lod_filter *f);

/* crowd [1] in device memory: the finest level whose cells may hold more than FILTER_CROWD points, plus one; else 0.
   lod_filter_cuda_count.cu */
mote_status filter_find_crowd(lod_filter *f, unsigned long long *crowd);

/* The level of the bricks of a level's cells. */
static inline uint32_t filter_brick_level(uint32_t cell_level) { return cell_level > 2 ? cell_level - 2 : 0; }

/* Bit k: whether byte k is not 0. Of a brick's mask: which of its children there are. */
static inline __device__ uint32_t filter_bytes(unsigned long long mask) {
    uint32_t bits = 0;
    for (uint32_t half = 0; half < 2; half++) {
        const uint32_t word = (uint32_t)(mask >> 32 * half);
        const uint32_t high = (((word & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | word) & 0x80808080u;
        bits |= ((high >> 7) * 0x10204080u >> 28) << 4 * half;
    }
    return bits;
}

/* The code of a point's cell of a level: at least its last SOURCE_LEVELS levels. */
static inline __device__ uint64_t filter_code(const uint64_t *codes, const uint64_t *fine, uint64_t position,
                                              uint32_t level) {
    const uint32_t first = lod_window_first(level);
    return (first > 0 ? fine[position] : codes[position]) >> 3 * (MOTE_ORDER_BITS + first - level);
}

/* Which child of its parent that cell is. */
static inline __device__ uint32_t filter_octant(const filter_cells_view &view, uint64_t position, uint32_t level) {
    return (uint32_t)filter_code(view.codes, view.fine, position, level) & 7;
}

/* Where the bricks around a row stand, by direction 9(dx+1) + 3(dy+1) + dz+1: those of one direction lie side by side
   for that number of rows, and after them those of the next direction. */
#define FILTER_AROUND      27u
#define FILTER_AROUND_STEP 32u
static inline __device__ uint64_t filter_around(uint32_t row) {
    return (uint64_t)(row / FILTER_AROUND_STEP) * (FILTER_AROUND * FILTER_AROUND_STEP) + row % FILTER_AROUND_STEP;
}

/* The row of a point: the last of those that begin at it or before. before: the rows' list in filter_cells_view */
static inline __device__ uint32_t filter_row_at(const uint32_t *before, const uint32_t *row_point, uint32_t point) {
    const uint32_t tile = point / filter_policy::tile;
    const uint32_t first = before[tile] - before[0], rows = before[tile + 1] - before[tile];
    return first + mote_lower_bound32(row_point + first, rows, point + 1) - 1;
}

/* ---- a tile: a warp's, whose lanes take some points in a row */

static inline __device__ uint32_t filter_lane_count(uint64_t position, uint64_t count) {
    const uint64_t remaining = position < count ? count - position : 0;
    return remaining < filter_policy::lane_points ? (uint32_t)remaining : filter_policy::lane_points;
}

static inline __device__ unsigned long long filter_load_bytes(const uint8_t *from, uint32_t count) {
    if (count == filter_policy::lane_points) return *(const unsigned long long *)from;
    unsigned long long bytes = 0;
    for (uint32_t i = 0; i < filter_policy::lane_points; i++) {
        if (i < count) bytes |= (unsigned long long)from[i] << 8 * i;
    }
    return bytes;
}

#define FILTER_NO_LIMIT 31u
/* A brick that begins at a point of a leaf of some level is a row where its own level is below this. Bricks that reach
   beyond a node always are. */
static inline __device__ uint32_t filter_row_limit(uint32_t leaf_level, uint32_t grid_bits) {
    const uint32_t limit = leaf_level + grid_bits - 2;
    return grid_bits < 2 || limit > FILTER_NO_LIMIT ? FILTER_NO_LIMIT : limit;
}

/* ---- colours */

template <int KIND>
static inline __device__ filter_color filter_read_color(const filter_columns &columns, uint64_t index) {
    filter_color color;
    uint32_t word = 0;
    if (KIND == FILTER_COLORS_8) {
        const uintptr_t first = (uintptr_t)columns.of[0].data & ~(uintptr_t)3;
        word = *(const uint32_t *)(first + index * columns.of[0].stride_bytes);
    }
    for (int k = 0; k < 3; k++) {
        const uint8_t *at = column_at(&columns.of[k], index);
        if (KIND == FILTER_COLORS_8) {
            color.v[k] = (uint16_t)(word >> 8 * ((uintptr_t)columns.of[k].data & 3) & 255);
        } else {
            color.v[k] = KIND == FILTER_COLORS_16 ? *(const uint16_t *)at : column_color(&columns.of[k], at);
        }
    }
    color.v[3] = 0;
    return color;
}

/* mote_lod_average. The quotient by a reciprocal errs by less than 2^-34, for averages are below 2^16: where it is one
   off, the true one is that near to a whole number, to which the rest, below 0 or not below the weight, then rounds. */
static inline __device__ uint16_t filter_mean(uint64_t sum, uint64_t weight, double reciprocal) {
    const uint64_t quotient = (uint64_t)((double)sum * reciprocal);
    const int64_t rest = (int64_t)(sum - quotient * weight);
    return (uint16_t)(quotient + (rest >= (int64_t)weight - rest ? 1 : 0));
}

/* Divides sums of up to FILTER_CROWD points: the quotient of floats errs by less than 1 and is put right. */
static inline __device__ uint16_t filter_mean32(uint32_t sum, uint32_t weight, float reciprocal) {
    uint32_t quotient = (uint32_t)((float)sum * reciprocal);
    int32_t rest = (int32_t)(sum - quotient * weight);
    if (rest < 0) {
        quotient--;
        rest += (int32_t)weight;
    } else if (rest >= (int32_t)weight) {
        quotient++;
        rest -= (int32_t)weight;
    }
    return (uint16_t)(quotient + (rest >= (int32_t)weight - rest ? 1 : 0));
}

/* Red, green, blue, and the weight: how many points, or their weights added up. Sums of up to FILTER_CROWD points fit
   32 bits. */
template <typename T> struct alignas(16) filter_sum { T v[4]; };

static inline __device__ filter_color filter_average_of(const filter_sum<uint64_t> &sum) {
    const double reciprocal = 1.0 / (double)sum.v[3];
    filter_color color;
    for (int k = 0; k < 3; k++) color.v[k] = filter_mean(sum.v[k], sum.v[3], reciprocal);
    color.v[3] = 1;
    return color;
}

/* v[3] <= FILTER_CROWD: floats suffice for these. */
static inline __device__ filter_color filter_average_of(const filter_sum<uint32_t> &sum) {
    const float reciprocal = 1.0f / (float)sum.v[3];
    filter_color color;
    for (int k = 0; k < 3; k++) color.v[k] = filter_mean32(sum.v[k], sum.v[3], reciprocal);
    color.v[3] = 1;
    return color;
}

#endif
