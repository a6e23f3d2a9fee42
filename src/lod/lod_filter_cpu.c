/* Colours of representatives: averages over every original point of a cell, of the cell and its 26 neighbours, or of
   the same weighted by distance; across node borders, because cells are looked up over the whole order. Integer sums
   throughout: the order of adding does not matter. */
#include <math.h>

#include "lod/lod_cells.h"
#include "lod/lod_cpu.h"
#include "lod/lod_math.h"
#include "math/morton.h"

#define MOST_SIDE  4
#define HALO       (MOST_SIDE + 2) /* a block of 4³ cells with the layer around it */
#define MOST_RUN   65536u          /* points whose 16-bit colours sum up to less than 2^32 */
#define MOST_CELLS (MOST_SIDE * MOST_SIDE * MOST_SIDE)

typedef struct color_sum {
    uint64_t red, green, blue, weight;
} color_sum;

typedef struct filter {
    mote_lod *lod;
    uint32_t level;
    cell_index cells;
    const uint16_t *rgb;   /* [4 · count] sorted colours */
    uint64_t *first_color; /* [block_count + 1] representatives before a block; its own follow */
    mote_lod_weights weights;
} filter;

static mote_lod_weights gaussian_weights(void) {
    mote_lod_weights weights;
    for (int cell = 0; cell < 3; cell++) {
        for (int eighth = 0; eighth < MOTE_LOD_EIGHTHS; eighth++) {
            const double d = cell - 1 + 0.5 - (eighth + 0.5) / MOTE_LOD_EIGHTHS;
            weights.axis[cell][eighth] = (uint32_t)lrint(exp(-d * d / 0.675) * (1 << MOTE_LOD_AXIS_BITS));
        }
    }
    return weights;
}

static void add_points(const filter *f, uint64_t first, uint64_t last, color_sum *sum) {
    for (uint64_t i = first; i < last; i++) {
        sum->red += f->rgb[4 * i];
        sum->green += f->rgb[4 * i + 1];
        sum->blue += f->rgb[4 * i + 2];
    }
    sum->weight += last - first;
}

/* The neighbourhood of one block: for each cell of the halo its index, or CELLS_NONE. */
typedef struct neighborhood {
    uint32_t cell[HALO * HALO * HALO];
    uint8_t occupied[MOST_CELLS]; /* halo places of the block's own cells, ascending by Morton code */
    uint32_t occupied_count;
} neighborhood;

static uint32_t halo_place(uint32_t x, uint32_t y, uint32_t z) { return (x * HALO + y) * HALO + z; }

/* Enters those cells of a block, dx dy dz blocks away, that lie in the halo. */
static void enter_block(const filter *f, uint32_t block, const int64_t away[3], neighborhood *n) {
    const int64_t side = f->cells.side;
    uint32_t cell = f->cells.blocks[block].first;
    for (uint64_t mask = f->cells.blocks[block].mask; mask != 0; mask &= mask - 1, cell++) {
        const uint64_t code = (uint64_t)__builtin_ctzll(mask);
        const int64_t x = (int64_t)mote_morton_compact(code >> 2) + away[0] * side + 1;
        const int64_t y = (int64_t)mote_morton_compact(code >> 1) + away[1] * side + 1;
        const int64_t z = (int64_t)mote_morton_compact(code) + away[2] * side + 1;
        if (x < 0 || y < 0 || z < 0 || x > side + 1 || y > side + 1 || z > side + 1) continue;
        n->cell[halo_place((uint32_t)x, (uint32_t)y, (uint32_t)z)] = cell;
    }
}

static void gather_neighborhood(const filter *f, uint32_t block, int reach, neighborhood *n) {
    const uint64_t code = f->cells.blocks[block].code;
    const int64_t at[3] = {mote_morton_compact(code >> 2), mote_morton_compact(code >> 1), mote_morton_compact(code)};
    memset(n->cell, 0xFF, sizeof n->cell);
    for (int dx = -reach; dx <= reach; dx++) {
        for (int dy = -reach; dy <= reach; dy++) {
            for (int dz = -reach; dz <= reach; dz++) {
                const int64_t away[3] = {dx, dy, dz};
                const uint32_t found = cells_find(&f->cells, at[0] + dx, at[1] + dy, at[2] + dz);
                if (found != CELLS_NONE) enter_block(f, found, away, n);
            }
        }
    }
    n->occupied_count = 0;
    for (uint64_t mask = f->cells.blocks[block].mask; mask != 0; mask &= mask - 1) {
        const uint64_t m = (uint64_t)__builtin_ctzll(mask);
        n->occupied[n->occupied_count++] = (uint8_t)halo_place(
            mote_morton_compact(m >> 2) + 1, mote_morton_compact(m >> 1) + 1, mote_morton_compact(m) + 1);
    }
}

/* Steps in the halo to the 27 cells around and including one. */
static void neighbor_steps(int32_t steps[27]) {
    for (int i = 0; i < 27; i++) steps[i] = ((i / 9 - 1) * HALO + (i / 3 % 3 - 1)) * HALO + (i % 3 - 1);
}

static void sum_cells(const filter *f, const neighborhood *n, color_sum *sums) {
    for (uint32_t h = 0; h < HALO * HALO * HALO; h++) {
        const uint32_t cell = n->cell[h];
        if (cell == CELLS_NONE) continue;
        memset(&sums[h], 0, sizeof sums[h]);
        add_points(f, f->cells.cell_start[cell], f->cells.cell_start[cell + 1], &sums[h]);
    }
}

static void average_neighbors(const filter *f, const neighborhood *n, color_sum *out) {
    color_sum sums[HALO * HALO * HALO];
    int32_t steps[27];
    neighbor_steps(steps);
    sum_cells(f, n, sums);
    for (uint32_t t = 0; t < n->occupied_count; t++) {
        memset(&out[t], 0, sizeof out[t]);
        for (int i = 0; i < 27; i++) {
            const int32_t h = n->occupied[t] + steps[i];
            if (n->cell[h] == CELLS_NONE) continue;
            out[t].red += sums[h].red;
            out[t].green += sums[h].green;
            out[t].blue += sums[h].blue;
            out[t].weight += sums[h].weight;
        }
    }
}

/* Which cells of the block a source cell reaches, and over which of the 27 directions. */
typedef struct reach_list {
    uint32_t count;
    uint8_t target[27];       /* place among the block's occupied cells */
    uint8_t direction[27][3]; /* target minus source, plus 1 */
} reach_list;

static void list_reach(const filter *f, const uint8_t *target_at, uint32_t h, reach_list *reach) {
    const int32_t x = (int32_t)(h / (HALO * HALO)), y = (int32_t)(h / HALO % HALO), z = (int32_t)(h % HALO);
    const int32_t side = (int32_t)f->cells.side;
    reach->count = 0;
    for (int i = 0; i < 27; i++) {
        const int32_t tx = x + i / 9 - 1, ty = y + i / 3 % 3 - 1, tz = z + i % 3 - 1;
        if (tx < 1 || ty < 1 || tz < 1 || tx > side || ty > side || tz > side) continue;
        const uint8_t target = target_at[halo_place((uint32_t)tx, (uint32_t)ty, (uint32_t)tz)];
        if (target == UINT8_MAX) continue;
        uint8_t *direction = reach->direction[reach->count];
        direction[0] = (uint8_t)(i / 9);
        direction[1] = (uint8_t)(i / 3 % 3);
        direction[2] = (uint8_t)(i % 3);
        reach->target[reach->count++] = target;
    }
}

/* The place of a point within its cell, in eighths; the middle where the code has no finer bits. */
static void eighths_of(uint64_t code, uint32_t level, uint32_t eighth[3]) {
    const uint32_t left = MOTE_ORDER_BITS - level;
    const uint32_t bits = left < 3 ? left : 3;
    const uint64_t within = code >> (3 * (left - bits)) & ((1u << 3 * bits) - 1);
    const uint32_t middle = (1u << (3 - bits)) >> 1;
    eighth[0] = mote_morton_compact(within >> 2) << (3 - bits) | middle;
    eighth[1] = mote_morton_compact(within >> 1) << (3 - bits) | middle;
    eighth[2] = mote_morton_compact(within) << (3 - bits) | middle;
}

static void add_weighted(const filter *f, const reach_list *reach, uint64_t code, const color_sum *sum,
                         color_sum *out) {
    uint32_t eighth[3];
    eighths_of(code, f->cells.level, eighth);
    for (uint32_t r = 0; r < reach->count; r++) {
        const uint8_t *d = reach->direction[r];
        const uint64_t w = mote_lod_weight(f->weights.axis[d[0]][eighth[0]], f->weights.axis[d[1]][eighth[1]],
                                           f->weights.axis[d[2]][eighth[2]]);
        color_sum *target = &out[reach->target[r]];
        target->red += w * (uint32_t)sum->red;
        target->green += w * (uint32_t)sum->green;
        target->blue += w * (uint32_t)sum->blue;
        target->weight += w * (uint32_t)sum->weight;
    }
}

/* Points of a cell that share an eighth are consecutive, and weighed together. */
static void weigh_cell(const filter *f, uint32_t cell, const reach_list *reach, color_sum *out) {
    const uint32_t left = MOTE_ORDER_BITS - f->cells.level;
    const uint32_t shift = 3 * (left > 3 ? left - 3 : 0);
    const uint64_t last = f->cells.cell_start[cell + 1];
    for (uint64_t i = f->cells.cell_start[cell]; i < last;) {
        const uint64_t code = f->lod->codes[i];
        color_sum sum = {0, 0, 0, 0};
        uint64_t end = i + 1;
        while (end < last && end - i < MOST_RUN && f->lod->codes[end] >> shift == code >> shift) end++;
        add_points(f, i, end, &sum);
        add_weighted(f, reach, code, &sum, out);
        i = end;
    }
}

static void average_gaussian(const filter *f, const neighborhood *n, color_sum *out) {
    uint8_t target_at[HALO * HALO * HALO];
    reach_list reach;
    memset(target_at, 0xFF, sizeof target_at);
    memset(out, 0, n->occupied_count * sizeof *out);
    for (uint32_t t = 0; t < n->occupied_count; t++) target_at[n->occupied[t]] = (uint8_t)t;
    for (uint32_t h = 0; h < HALO * HALO * HALO; h++) {
        if (n->cell[h] == CELLS_NONE) continue;
        list_reach(f, target_at, h, &reach);
        if (reach.count > 0) weigh_cell(f, n->cell[h], &reach, out);
    }
}

static void average_cells(const filter *f, const neighborhood *n, color_sum *out) {
    for (uint32_t t = 0; t < n->occupied_count; t++) {
        const uint32_t cell = n->cell[n->occupied[t]];
        memset(&out[t], 0, sizeof out[t]);
        add_points(f, f->cells.cell_start[cell], f->cells.cell_start[cell + 1], &out[t]);
    }
}

/* Writes the colours of a block's representatives. */
static void color_block(const filter *f, uint32_t block) {
    mote_lod *lod = f->lod;
    color_sum out[MOST_CELLS];
    neighborhood n;
    gather_neighborhood(f, block, lod->params.filter == MOTE_LOD_FILTER_CELL ? 0 : 1, &n);
    switch (lod->params.filter) {
    case MOTE_LOD_FILTER_NEIGHBORS: average_neighbors(f, &n, out); break;
    case MOTE_LOD_FILTER_GAUSSIAN: average_gaussian(f, &n, out); break;
    default: average_cells(f, &n, out);
    }
    uint16_t *color = lod->colors + 3 * f->first_color[block];
    for (uint32_t t = 0; t < n.occupied_count; t++) {
        const uint32_t cell = f->cells.blocks[block].first + t;
        const uint16_t average[3] = {mote_lod_average(out[t].red, out[t].weight),
                                     mote_lod_average(out[t].green, out[t].weight),
                                     mote_lod_average(out[t].blue, out[t].weight)};
        for (uint64_t i = f->cells.cell_start[cell]; i < f->cells.cell_start[cell + 1]; i++) {
            if (lod->level[i] > f->level) continue;
            memcpy(color, average, sizeof average);
            color += 3;
        }
    }
}

/* Says where each block's representatives begin: blocks of inner nodes, in order. */
static void place_blocks(filter *f) {
    mote_lod *lod = f->lod;
    const int64_t blocks = (int64_t)f->cells.block_count;
    memset(f->first_color, 0, (uint64_t)(blocks + 1) * sizeof *f->first_color);
    uint64_t before = UINT64_MAX;
    for (uint32_t i = lod->level_first[f->level]; i < lod->level_first[f->level + 1]; i++) {
        const mote_lod_node *node = &lod->nodes[i];
        if (!lod_is_inner(node)) continue;
        if (before == UINT64_MAX) before = lod->color_first[i];
        const uint32_t last = cells_block_at(&f->cells, node->first + node->total);
#pragma omp parallel for schedule(static) num_threads(lod->ctx->threads) if (node->total > 100000)
        for (uint32_t b = cells_block_at(&f->cells, node->first); b < last; b++) {
            uint64_t own = 0;
            const uint64_t end = cells_block_first(&f->cells, b + 1);
            for (uint64_t j = cells_block_first(&f->cells, b); j < end; j++) own += lod->level[j] <= f->level;
            f->first_color[b] = own;
        }
    }
    for (int64_t b = 0; b <= blocks; b++) {
        const uint64_t own = f->first_color[b];
        f->first_color[b] = before;
        before += own;
    }
}

static mote_status filter_level(filter *f) {
    mote_lod *lod = f->lod;
    const uint32_t cell_level = lod_cell_level(lod, f->level);
    const uint32_t bits = cell_level - f->level < 2 ? cell_level - f->level : 2;
    MOTE_TRY(cells_build(lod, cell_level, bits, &f->cells));
    f->first_color = mote_alloc(lod->ctx, (f->cells.block_count + 1) * sizeof *f->first_color, "filter blocks");
    if (f->first_color == NULL) return MOTE_ERROR_MEMORY;
    place_blocks(f);
#pragma omp parallel for schedule(dynamic, 64) num_threads(lod->ctx->threads)
    for (uint32_t b = 0; b < f->cells.block_count; b++) {
        if (f->first_color[b + 1] > f->first_color[b]) color_block(f, b);
    }
    return MOTE_OK;
}

/* Colours in sorted order, four 16-bit values a point. */
static uint16_t *sorted_colors(const mote_lod *lod) {
    uint16_t *rgb = mote_alloc(lod->ctx, lod->count * 4 * sizeof *rgb, "filter colours");
    if (rgb == NULL) return NULL;
#pragma omp parallel for schedule(static) num_threads(lod->ctx->threads)
    for (int64_t i = 0; i < (int64_t)lod->count; i++) {
        if ((uint64_t)i + 16 < lod->count) __builtin_prefetch(mote_column_at(lod->rgb[0], lod->order[i + 16]));
        for (int k = 0; k < 3; k++) rgb[4 * i + k] = lod_color(lod->rgb[k], lod->order[i]);
        rgb[4 * i + 3] = 0;
    }
    return rgb;
}

static mote_status place_colors(mote_lod *lod) {
    uint64_t representatives = 0;
    lod->color_first = mote_alloc_zero(lod->ctx, lod->node_count * sizeof *lod->color_first, "nodes");
    if (lod->color_first == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < lod->node_count; i++) {
        lod->color_first[i] = representatives;
        if (lod_is_inner(&lod->nodes[i])) representatives += lod->nodes[i].point_count;
    }
    lod->colors = mote_alloc(lod->ctx, representatives * 3 * sizeof *lod->colors, "colours");
    return lod->colors != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status lod_filter_cpu(mote_lod *lod) {
    mote_status status = MOTE_OK;
    filter f;
    memset(&f, 0, sizeof f);
    f.lod = lod;
    f.weights = gaussian_weights();
    if (lod->level_count < 2) return MOTE_OK;
    MOTE_TRY(place_colors(lod));
    uint16_t *rgb = sorted_colors(lod);
    if (rgb == NULL) return MOTE_ERROR_MEMORY;
    f.rgb = rgb;
    for (f.level = 0; f.level + 1 < lod->level_count && status == MOTE_OK; f.level++) {
        status = filter_level(&f);
        cells_free(lod->ctx, &f.cells);
        mote_free(lod->ctx, f.first_color);
        f.first_color = NULL;
        const double done = (double)(f.level + 1) / lod->level_count;
        if (status == MOTE_OK) status = mote_progress(lod->ctx, 0.8 + 0.2 * done, "filtering colours");
    }
    mote_free(lod->ctx, rgb);
    return status;
}
