/* Colours of representatives: averages over every original point of a cell, of the cell and its 26 neighbours, or of
   the same weighted by distance; across node borders, because cells are looked up over the whole order. Integer sums
   throughout: the order of adding does not matter. */
#include "device/backend.h"
#include "lod/lod_cpu.h"
#include "lod/lod_math.h"
#include "lod/tree/lod_cells.h"
#include "math/morton.h"
#include "order/order_ops.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define MAX_SIDE  4
#define HALO      (MAX_SIDE + 2) /* a block of 4³ cells with the layer around it */
#define MAX_RUN   65536u         /* points whose 16-bit colours sum up to less than 2^32 */
#define MAX_CELLS (MAX_SIDE * MAX_SIDE * MAX_SIDE)

/* red, green, blue, weight */
typedef struct color_sum {
    _Alignas(32) uint64_t v[4];
} color_sum;

/* Who touches whom, for blocks of one size. Directions are numbered as in block_hash_around. */
typedef struct touch_table {
    uint64_t touched[27][MAX_CELLS]; /* [direction of a block][cell in it]: cells of the middle block around it */
    uint64_t edge[27];               /* the cells of a block in that direction that touch any */
    int8_t at[27][MAX_CELLS][4];     /* their coordinates, from the middle block's corner */
} touch_table;

typedef struct filter {
    mote_lod *lod;
    uint32_t level;
    cell_index cells;
    cell_points points; /* those of the octree; of a part, also those around it:

                          around, below │ own points: lod->order, from own on │ around, above       by code */
    uint64_t own;
    const uint16_t *rgb; /* [4 · points.count] sorted colours */
    uint64_t first_color_capacity;
    uint64_t *first_color; /* [block_count + 1] representatives before a block; its own follow */
    mote_lod_weights weights;
    touch_table touch;
} filter;

/* Whether two cells are the same or neighbours; for the filter of one cell only the same. */
static bool touches(const int8_t *a, const int8_t *b, int reach) {
    bool near = true;
    for (int k = 0; k < 3; k++) near = near && a[k] - b[k] <= reach && b[k] - a[k] <= reach;
    return near;
}

static void build_touch_table(filter *f) {
    touch_table *t = &f->touch;
    const int side = (int)f->cells.side, cells = side * side * side;
    const int reach = f->lod->params.filter == MOTE_LOD_FILTER_CELL ? 0 : 1;
    for (int d = 0; d < 27; d++) {
        const int away[3] = {d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1};
        for (uint64_t c = 0; c < (uint64_t)cells; c++) {
            for (int k = 0; k < 3; k++) {
                t->at[d][c][k] = (int8_t)((int)mote_morton_compact(c >> (2 - k)) + away[k] * side);
            }
        }
    }
    for (int d = 0; d < 27; d++) {
        t->edge[d] = 0;
        for (uint64_t c = 0; c < (uint64_t)cells; c++) {
            t->touched[d][c] = 0;
            for (uint64_t m = 0; m < (uint64_t)cells; m++) {
                if (touches(t->at[d][c], t->at[13][m], reach)) t->touched[d][c] |= 1ull << m;
            }
            if (t->touched[d][c] != 0) t->edge[d] |= 1ull << c;
        }
    }
}

static color_sum sum_points(const filter *f, uint64_t first, uint64_t last) {
    color_sum sum = {{0, 0, 0, last - first}};
    for (uint64_t i = first; i < last; i++) {
        for (int k = 0; k < 3; k++) sum.v[k] += f->rgb[4 * i + (uint64_t)k];
    }
    return sum;
}

static void add_sum(color_sum *to, const color_sum *sum) {
    for (int k = 0; k < 4; k++) to->v[k] += sum->v[k];
}

/* Adds weight times a sum whose values are below 2^32. */
static void add_weighted(color_sum *to, const color_sum *sum, uint32_t weight) {
#if defined(__AVX2__)
    const __m256i product =
        _mm256_mul_epu32(_mm256_load_si256((const __m256i *)sum->v), _mm256_set1_epi64x((int64_t)weight));
    _mm256_store_si256((__m256i *)to->v, _mm256_add_epi64(_mm256_load_si256((const __m256i *)to->v), product));
#else
    for (int k = 0; k < 4; k++) to->v[k] += (uint64_t)(uint32_t)sum->v[k] * weight;
#endif
}

/* Adds a run of points that share an eighth of their cell to the cells around. */
static void weigh_run(const filter *f, const color_sum *sum, uint64_t code, const int8_t *at, uint64_t targets,
                      color_sum *out) {
    uint32_t eighth[3];
    mote_lod_eighths(code, f->cells.level - f->cells.window.first, eighth);
    for (; targets != 0; targets &= targets - 1) {
        const uint32_t target = (uint32_t)__builtin_ctzll(targets);
        const int8_t *to = f->touch.at[13][target];
        const uint32_t weight = mote_lod_weight(f->weights.axis[to[0] - at[0] + 1][eighth[0]],
                                                f->weights.axis[to[1] - at[1] + 1][eighth[1]],
                                                f->weights.axis[to[2] - at[2] + 1][eighth[2]]);
        add_weighted(&out[target], sum, weight);
    }
}

/* Points of a cell that share an eighth are consecutive, and weighed together. */
static void weigh_cell(const filter *f, uint32_t cell, const int8_t *at, uint64_t targets, color_sum *out) {
    const uint64_t *const codes = f->cells.window.codes;
    const uint32_t remaining = MOTE_ORDER_BITS + f->cells.window.first - f->cells.level;
    const uint32_t shift = 3 * (remaining > 3 ? remaining - 3 : 0);
    const uint64_t last = f->cells.cell_start[cell + 1];
    for (uint64_t i = f->cells.cell_start[cell], end; i < last; i = end) {
        const uint64_t code = codes[i];
        for (end = i + 1; end < last && end - i < MAX_RUN && codes[end] >> shift == code >> shift;) end++;
        const color_sum sum = sum_points(f, i, end);
        weigh_run(f, &sum, code, at, targets, out);
    }
}

/* Adds the cells of a block, in a direction from the middle one, to the middle block's occupied cells. */
static void add_block(const filter *f, uint32_t index, int direction, uint64_t occupied, color_sum *out) {
    const cell_block *block = &f->cells.blocks[index];
    for (uint64_t mask = block->mask & f->touch.edge[direction]; mask != 0; mask &= mask - 1) {
        const uint32_t code = (uint32_t)__builtin_ctzll(mask);
        const uint64_t targets = f->touch.touched[direction][code] & occupied;
        if (targets == 0) continue;
        const uint32_t cell = block->first + (uint32_t)__builtin_popcountll(block->mask & ((1ull << code) - 1));
        if (f->lod->params.filter == MOTE_LOD_FILTER_GAUSSIAN) {
            weigh_cell(f, cell, f->touch.at[direction][code], targets, out);
            continue;
        }
        const color_sum sum = sum_points(f, f->cells.cell_start[cell], f->cells.cell_start[cell + 1]);
        for (uint64_t t = targets; t != 0; t &= t - 1) add_sum(&out[__builtin_ctzll(t)], &sum);
    }
}

/* Sums, for each occupied cell of a block, over what it averages. */
static void sum_block(const filter *f, uint32_t block, color_sum *out) {
    const uint64_t occupied = f->cells.blocks[block].mask;
    uint32_t around[27];
    for (uint64_t mask = occupied; mask != 0; mask &= mask - 1) { memset(&out[__builtin_ctzll(mask)], 0, sizeof *out); }
    add_block(f, block, 13, occupied, out);
    if (f->lod->params.filter == MOTE_LOD_FILTER_CELL) return;
    const block_code code = {f->cells.blocks[block].code, f->cells.blocks[block].above};
    block_hash_around(&f->cells.block_hash, &code, around);
    for (int d = 0; d < 27; d++) {
        if (d != 13 && around[d] != BLOCK_NONE) add_block(f, around[d], d, occupied, out);
    }
}

/* Own points among [first, end) of all, as positions of the octree. */
typedef struct own_points {
    uint64_t first, end;
} own_points;

static own_points own_among(const filter *f, uint64_t first, uint64_t end) {
    const uint64_t own_end = f->own + f->lod->count;
    const uint64_t from = first < f->own ? f->own : first, to = end > own_end ? own_end : end;
    const own_points own = {from - f->own, to < from ? from - f->own : to - f->own};
    return own;
}

/* The first block that has points of the octree from a position on. */
static uint32_t block_at(const filter *f, uint64_t position) {
    const uint32_t block = cells_block_at(&f->cells, f->own + position);
    const bool is_divided = position == 0 && f->own > 0 && cells_block_first(&f->cells, block) > f->own;
    return is_divided ? block - 1 : block;
}

/* Writes the colours of a block's representatives. */
static void color_block(const filter *f, uint32_t block) {
    mote_lod *lod = f->lod;
    color_sum sums[MAX_CELLS];
    sum_block(f, block, sums);
    uint16_t *color = lod->colors + 3 * f->first_color[block];
    uint32_t cell = f->cells.blocks[block].first;
    for (uint64_t mask = f->cells.blocks[block].mask; mask != 0; mask &= mask - 1, cell++) {
        const color_sum *sum = &sums[__builtin_ctzll(mask)];
        uint16_t average[3];
        for (int k = 0; k < 3; k++) average[k] = mote_lod_average(sum->v[k], sum->v[3]);
        const own_points own = own_among(f, f->cells.cell_start[cell], f->cells.cell_start[cell + 1]);
        for (uint64_t i = own.first; i < own.end; i++) {
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
        const uint32_t last = cells_block_at(&f->cells, f->own + node->first + node->total);
#pragma omp parallel for schedule(static) num_threads(lod->ctx->threads) if (node->total > 100000)
        for (uint32_t b = block_at(f, node->first); b < last; b++) {
            uint64_t chosen = 0;
            const own_points own = own_among(f, cells_block_first(&f->cells, b), cells_block_first(&f->cells, b + 1));
            for (uint64_t j = own.first; j < own.end; j++) chosen += lod->level[j] <= f->level;
            f->first_color[b] = chosen;
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
    MOTE_TRY(cells_build(lod->ctx, &f->points, cell_level, bits, &f->cells));
    if (!mote_reserve_scratch(lod->ctx, (void **)&f->first_color, &f->first_color_capacity, f->cells.block_count + 1,
                              sizeof *f->first_color, "filter blocks")) {
        return MOTE_ERROR_MEMORY;
    }
    place_blocks(f);
    build_touch_table(f);
#pragma omp parallel for schedule(dynamic, 64) num_threads(lod->ctx->threads)
    for (uint32_t b = 0; b < f->cells.block_count; b++) {
        if (f->first_color[b + 1] > f->first_color[b]) color_block(f, b);
    }
    return MOTE_OK;
}

/* ---- the points */

/* Colours in sorted order, four 16-bit values a point. */
static void sort_colors(const mote_context *ctx, const mote_column *const columns[3], const uint32_t *order,
                        uint64_t count, uint16_t *rgb) {
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        if ((uint64_t)i + 16 < count) __builtin_prefetch(mote_column_at(columns[0], order[i + 16]));
        for (int k = 0; k < 3; k++) rgb[4 * i + k] = lod_color(columns[k], order[i]);
        rgb[4 * i + 3] = 0;
    }
}

/* What is known of points that are looked at, by code. */
typedef struct filter_arrays {
    uint64_t *codes, *fine;
    uint32_t *order;
    uint16_t *rgb;
} filter_arrays;

static void free_arrays(mote_context *ctx, filter_arrays *arrays) {
    mote_free(ctx, arrays->codes);
    mote_free(ctx, arrays->fine);
    mote_free(ctx, arrays->order);
    mote_free(ctx, arrays->rgb);
}

static mote_status sort_around(const mote_lod *lod, const mote_cloud *around, filter_arrays *to) {
    mote_context *ctx = lod->ctx;
    mote_device *cpu = mote_cpu_device(ctx);
    const mote_column *columns[3];
    const uint64_t count = around->count;
    to->codes = mote_alloc(ctx, count * sizeof *to->codes, "filter points around");
    to->order = mote_alloc(ctx, count * sizeof *to->order, "filter points around");
    to->rgb = mote_alloc(ctx, count * 4 * sizeof *to->rgb, "filter points around");
    if (to->codes == NULL || to->order == NULL || to->rgb == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cpu->backend->order->codes(cpu, around, &lod->lattice, to->codes));
    const mote_progress_span whole = mote_progress_hold(ctx);
    mote_status status = cpu->backend->order->sort(cpu, to->codes, to->order, count);
    mote_progress_leave(ctx, whole);
    if (status == MOTE_OK && lod->fine != NULL) {
        status = order_fine_codes(ctx, around, &lod->lattice, to->codes, to->order, count, &to->fine);
    }
    for (int k = 0; k < 3; k++) columns[k] = mote_cloud_find(around, lod->rgb[k]->name);
    if (status == MOTE_OK) sort_colors(ctx, columns, to->order, count, to->rgb);
    return status;
}

/* The points of others go below and above the own ones, whose range of codes has none of them. */
static mote_status join_around(filter *f, const filter_arrays *around, uint64_t count, filter_arrays *to) {
    const mote_lod *lod = f->lod;
    const uint64_t all = lod->count + count;
    uint64_t below = 0, end = count;
    while (below < end) {
        const uint64_t middle = below + (end - below) / 2;
        if (around->codes[middle] < lod->whole->low.code) {
            below = middle + 1;
        } else {
            end = middle;
        }
    }
    to->codes = mote_alloc(lod->ctx, all * sizeof *to->codes, "filter points");
    if (lod->fine != NULL) to->fine = mote_alloc(lod->ctx, all * sizeof *to->fine, "filter points");
    to->rgb = mote_alloc(lod->ctx, all * 4 * sizeof *to->rgb, "filter colours");
    if (to->codes == NULL || to->rgb == NULL || (lod->fine != NULL && to->fine == NULL)) return MOTE_ERROR_MEMORY;
    const uint64_t above = below + lod->count, rest = count - below;
    memcpy(to->codes, around->codes, below * sizeof *to->codes);
    memcpy(to->codes + below, lod->codes, lod->count * sizeof *to->codes);
    memcpy(to->codes + above, around->codes + below, rest * sizeof *to->codes);
    if (lod->fine != NULL) {
        memcpy(to->fine, around->fine, below * sizeof *to->fine);
        memcpy(to->fine + below, lod->fine, lod->count * sizeof *to->fine);
        memcpy(to->fine + above, around->fine + below, rest * sizeof *to->fine);
    }
    memcpy(to->rgb, around->rgb, 4 * below * sizeof *to->rgb);
    sort_colors(lod->ctx, lod->rgb, lod->order, lod->count, to->rgb + 4 * below);
    memcpy(to->rgb + 4 * above, around->rgb + 4 * below, 4 * rest * sizeof *to->rgb);
    f->own = below;
    f->points = (cell_points){to->codes, to->fine, all, lod->finest};
    f->rgb = to->rgb;
    return MOTE_OK;
}

/* Of the octree's points alone only colours are brought to their order. */
static mote_status find_points(filter *f, filter_arrays *arrays) {
    const mote_lod *lod = f->lod;
    const mote_cloud *cloud = lod->whole != NULL ? lod->whole->around : NULL;
    filter_arrays around = {NULL, NULL, NULL, NULL};
    f->points = (cell_points){lod->codes, lod->fine, lod->count, lod->finest};
    if (cloud != NULL && cloud->count > 0) {
        mote_status status = sort_around(lod, cloud, &around);
        if (status == MOTE_OK) status = join_around(f, &around, cloud->count, arrays);
        free_arrays(lod->ctx, &around);
        return status;
    }
    arrays->rgb = mote_alloc(lod->ctx, lod->count * 4 * sizeof *arrays->rgb, "filter colours");
    if (arrays->rgb == NULL) return MOTE_ERROR_MEMORY;
    sort_colors(lod->ctx, lod->rgb, lod->order, lod->count, arrays->rgb);
    f->rgb = arrays->rgb;
    return MOTE_OK;
}

mote_status lod_filter_cpu(mote_lod *lod) {
    filter_arrays arrays = {NULL, NULL, NULL, NULL};
    filter f;
    memset(&f, 0, sizeof f);
    f.lod = lod;
    f.weights = mote_lod_gaussian();
    if (lod->level_count < 2) return MOTE_OK;
    MOTE_TRY(lod_place_colors(lod));
    mote_status status = find_points(&f, &arrays);
    /* The finest level first: it needs the most scratch, which then serves all others. */
    for (f.level = lod->level_count - 1; f.level-- > 0 && status == MOTE_OK;) {
        status = filter_level(&f);
        const double done = 1 - (double)f.level / lod->level_count;
        if (status == MOTE_OK) status = mote_progress(lod->ctx, 0.8 + 0.2 * done, "filtering colours");
    }
    cells_free(lod->ctx, &f.cells);
    mote_free(lod->ctx, f.first_color);
    free_arrays(lod->ctx, &arrays);
    return status;
}
