/* The naive octree and its samples. */
#include "reference/lod_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"

static void *must(void *memory) {
    if (memory == NULL) abort();
    return memory;
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

uint32_t reference_cell(uint64_t p, uint64_t side, uint32_t level) {
    const uint64_t cell = (p << level) / side, last = (1ull << level) - 1; /* p < 2^31, level ≤ 31: no overflow */
    return (uint32_t)(cell < last ? cell : last);
}

uint32_t reference_cell_level(const lod_reference *r, uint32_t level) {
    uint32_t cells = level;
    for (uint32_t side = r->params.grid; side > 1; side /= 2) cells++;
    return smaller(cells, r->finest);
}

/* ---- the points in Morton order */

static uint64_t interleave(const uint32_t cell[3], uint32_t bits) {
    uint64_t code = 0;
    for (uint32_t bit = bits; bit-- > 0;) {
        for (int k = 0; k < 3; k++) code = code << 1 | (cell[k] >> bit & 1);
    }
    return code;
}

static uint16_t color_of(const mote_column *column, uint64_t i) {
    if (!mote_type_is_float(column->type)) return (uint16_t)mote_column_value(column, i);
    const double value = mote_column_value(column, i);
    return isnan(value) || value <= 0 ? 0 : value >= 1 ? 65535 : (uint16_t)rint(value * 65535);
}

static int by_code_and_index(const void *a, const void *b) {
    const reference_point *p = a, *q = b;
    if (p->code != q->code) return p->code < q->code ? -1 : 1;
    if (p->fine != q->fine) return p->fine < q->fine ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

static int by_code_and_place(const void *a, const void *b) {
    const reference_point *p = a, *q = b;
    for (int k = 0; k < 3 && p->code == q->code && p->fine == q->fine; k++) {
        if (p->p[k] != q->p[k]) return p->p[k] < q->p[k] ? -1 : 1;
    }
    return by_code_and_index(a, b);
}

static void sort_points(lod_reference *r) {
    qsort(r->points, r->count, sizeof *r->points,
          r->params.sampling == MOTE_LOD_FIRST ? by_code_and_index : by_code_and_place);
}

static void order_points(lod_reference *r, const mote_cloud *cloud) {
    static const char *const names[6] = {"x", "y", "z", "red", "green", "blue"};
    const uint64_t all = mote_cloud_count(cloud);
    const mote_column *columns[6];
    for (int k = 0; k < 6; k++) columns[k] = mote_cloud_find(cloud, names[k]);
    const bool colored = columns[3] != NULL && columns[4] != NULL && columns[5] != NULL;
    r->points = must(calloc(all + 1, sizeof *r->points));
    uint32_t *xyz = must(calloc(3 * all + 1, sizeof *xyz));
    mote_order_coordinates(cloud, &r->lattice, NULL, all, xyz);
    for (uint64_t i = 0; i < all; i++) {
        reference_point *point = &r->points[r->count];
        bool finite = true;
        uint32_t cell[3];
        for (int k = 0; k < 3; k++) {
            finite = finite && isfinite(mote_column_value(columns[k], i));
            point->p[k] = xyz[3 * i + (uint64_t)k];
            cell[k] = reference_cell(point->p[k], r->lattice.side[k], MOTE_ORDER_BITS);
            point->rgb[k] = colored ? color_of(columns[3 + k], i) : 0;
        }
        point->index = (uint32_t)i;
        point->code = interleave(cell, MOTE_ORDER_BITS);
        point->rank = mote_hash_pair(r->params.seed, point->code);
        r->count += finite;
        r->skipped += !finite;
    }
    free(xyz);
    sort_points(r);
}

/* Points get a second code, of which the last bits tell them apart that the first does not. */
static void refine_points(lod_reference *r) {
    r->finest = 31;
    for (uint64_t i = 0; i < r->count; i++) {
        reference_point *point = &r->points[i];
        uint32_t cell[3];
        for (int k = 0; k < 3; k++) cell[k] = reference_cell(point->p[k], r->lattice.side[k], r->finest);
        point->fine = interleave(cell, MOTE_ORDER_BITS); /* of the last 21 bits */
        point->rank = mote_hash_pair(r->params.seed, point->fine);
    }
    sort_points(r);
}

/* ---- the tree */

static reference_node *add_node(lod_reference *r, uint32_t parent, uint32_t level, uint64_t first, uint64_t total) {
    const uint64_t count = r->node_count;
    if ((count & (count - 1)) == 0) r->nodes = must(realloc(r->nodes, (count > 0 ? 2 * count : 1) * sizeof *r->nodes));
    reference_node *node = &r->nodes[r->node_count++];
    memset(node, 0, sizeof *node);
    node->parent = parent;
    node->level = level;
    node->first = first;
    node->total = total;
    node->share = total;
    for (int k = 0; k < 3 && total > 0; k++) {
        node->cell[k] = reference_cell(r->points[first].p[k], r->lattice.side[k], smaller(level, r->finest));
    }
    return node;
}

static uint32_t octant_of(const lod_reference *r, uint64_t position, uint32_t level) {
    uint32_t octant = 0;
    if (level > r->finest) return 0;
    for (int k = 0; k < 3; k++) {
        octant = octant << 1 | (reference_cell(r->points[position].p[k], r->lattice.side[k], level) & 1);
    }
    return octant;
}

/* Gives each occupied octant of a node to a child. */
static void divide(lod_reference *r, uint32_t index) {
    const reference_node node = r->nodes[index];
    uint8_t mask = 0;
    r->nodes[index].first_child = r->node_count;
    for (uint64_t i = node.first; i < node.first + node.total;) {
        const uint32_t octant = octant_of(r, i, node.level + 1);
        uint64_t end = i;
        while (end < node.first + node.total && octant_of(r, end, node.level + 1) == octant) end++;
        add_node(r, index, node.level + 1, i, end - i);
        mask |= (uint8_t)(1u << octant);
        i = end;
    }
    r->nodes[index].child_mask = mask;
    r->nodes[index].samples = true;
    r->nodes[index].share = 0;
}

/* Equal points: the node keeps the first of them, as many as it may hold; the rest go to one child. */
static void hand_down(lod_reference *r, uint32_t index, uint64_t max) {
    const reference_node node = r->nodes[index];
    r->nodes[index].first_child = r->node_count;
    r->nodes[index].child_mask = (uint8_t)(1u << octant_of(r, node.first, node.level + 1));
    r->nodes[index].share = max;
    add_node(r, index, node.level + 1, node.first + max, node.total - max);
}

/* Whether a cell that is to be divided, or whose points are to be chosen from, asks for cells finer than codes tell. */
static bool needs_finer_cells(const lod_reference *r) {
    const uint64_t max = r->params.max_node_points > 0 ? r->params.max_node_points : UINT64_MAX;
    const uint64_t merge = r->params.merge_points < max ? r->params.merge_points : max;
    uint32_t grid_bits = 0;
    bool has_finer = false;
    for (uint32_t side = r->params.grid; side > 1; side /= 2) grid_bits++;
    for (int k = 0; k < 3; k++) has_finer = has_finer || r->lattice.side[k] > 1u << MOTE_ORDER_BITS;
    /* A cell of this level with more than merge points would be an inner node, whose sampling cells are one finer. */
    const uint32_t shift = 3 * (grid_bits - 1);
    for (uint64_t i = merge; i < r->count && has_finer; i++) {
        if (r->points[i].code >> shift == r->points[i - merge].code >> shift) return true;
    }
    return false;
}

static void grow_tree(lod_reference *r) {
    const uint64_t max = r->params.max_node_points > 0 ? r->params.max_node_points : UINT64_MAX;
    add_node(r, UINT32_MAX, 0, 0, r->count);
    for (uint32_t i = 0; i < r->node_count; i++) {
        const reference_node node = r->nodes[i];
        if (node.total <= r->params.merge_points && node.total <= max) continue;
        bool one_place = true;
        for (uint64_t j = 1; j < node.total; j++) {
            one_place = one_place && r->points[node.first + j].code == r->points[node.first].code &&
                        r->points[node.first + j].fine == r->points[node.first].fine;
        }
        if (!one_place) divide(r, i);
        if (one_place && node.total > max) {
            r->refused = r->params.scheme == MOTE_LOD_REPLACING || node.level + 1 >= 256;
            if (r->refused) return;
            hand_down(r, i, max);
        }
    }
    r->level_count = r->nodes[r->node_count - 1].level + 1;
}

/* ---- the samples, from the finest level to the root */

static uint8_t *taken_at(const lod_reference *r, uint32_t level) { return r->taken + level * r->count; }

static bool same_cell(const lod_reference *r, uint64_t i, uint64_t j, uint32_t level) {
    bool same = true;
    for (int k = 0; k < 3; k++) {
        const uint64_t side = r->lattice.side[k];
        same = same && reference_cell(r->points[i].p[k], side, level) == reference_cell(r->points[j].p[k], side, level);
    }
    return same;
}

/* The best of all original points of each cell, however deep they lie. */
static void take_best_of_cells(lod_reference *r, const reference_node *node) {
    const uint32_t cell_level = reference_cell_level(r, node->level);
    const bool by_index = r->params.sampling == MOTE_LOD_FIRST;
    const uint64_t last = node->first + node->total;
    for (uint64_t i = node->first; i < last;) {
        uint64_t best = i, j = i + 1;
        for (; j < last && same_cell(r, i, j, cell_level); j++) {
            const reference_point *a = &r->points[j], *b = &r->points[best];
            if (by_index ? a->index < b->index : a->rank < b->rank) best = j;
        }
        taken_at(r, node->level)[best] = 1;
        i = j;
    }
}

/* What a level of poisson samples chooses from, in the order of choosing. */
typedef struct candidate {
    uint32_t block[3], phase;
    uint64_t rank, position;
} candidate;

static int by_turn(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    if (p->phase != q->phase) return p->phase < q->phase ? -1 : 1;
    for (int k = 0; k < 3; k++) { /* blocks of a phase do not touch: their order does not matter */
        if (p->block[k] != q->block[k]) return p->block[k] < q->block[k] ? -1 : 1;
    }
    if (p->rank != q->rank) return p->rank < q->rank ? -1 : 1;
    return p->position < q->position ? -1 : p->position > q->position;
}

/* Blocks are as large as 8³ cells but not larger than a node; the phase is the parity of the block. */
static candidate make_candidate(const lod_reference *r, uint32_t level, uint64_t position) {
    const reference_point *point = &r->points[position];
    const uint32_t cell_level = reference_cell_level(r, level);
    const uint32_t block_level = cell_level >= level + 3 ? cell_level - 3 : level;
    candidate c = {.rank = point->rank, .position = position};
    uint32_t parity[3];
    for (int k = 0; k < 3; k++) {
        c.block[k] = reference_cell(point->p[k], r->lattice.side[k], block_level);
        parity[k] = c.block[k] & 1;
    }
    c.phase = (uint32_t)interleave(parity, 1);
    return c;
}

static uint64_t list_candidates(const lod_reference *r, uint32_t level, candidate *list) {
    uint64_t count = 0;
    for (uint32_t n = 1; n < r->node_count; n++) {
        const reference_node *node = &r->nodes[n];
        if (node->level != level + 1 || !r->nodes[node->parent].samples) continue;
        for (uint64_t i = node->first; i < node->first + node->total; i++) {
            const bool offered = node->samples ? taken_at(r, node->level)[i] == 1 : i < node->first + node->share;
            if (offered) list[count++] = make_candidate(r, level, i);
        }
    }
    return count;
}

/* The spacing of a level: the cube's side in the world, divided by the grid and halved level by level. */
double lod_reference_spacing(const lod_reference *r, uint32_t level) {
    double side = 0;
    for (int k = 0; k < 3; k++) side = fmax(side, (double)r->lattice.extent[k] * r->lattice.scale[k]);
    for (uint32_t l = 0; l < level; l++) side /= 2;
    return side / r->params.grid;
}

/* Measured in a power of two near the spacing: no square of a length that a double holds over- or underflows. */
static bool too_close(const lod_reference *r, uint64_t i, uint64_t j, double spacing) {
    int exponent;
    const double min = frexp(spacing, &exponent);
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = ((double)r->points[i].p[k] - (double)r->points[j].p[k]) * ldexp(r->lattice.scale[k], -exponent);
    }
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < min * min;
}

static void take_poisson(lod_reference *r, uint32_t level) {
    candidate *list = must(calloc(r->count + 1, sizeof *list));
    const uint64_t count = list_candidates(r, level, list);
    const double spacing = lod_reference_spacing(r, level);
    uint64_t accepted = 0;
    qsort(list, count, sizeof *list, by_turn);
    for (uint64_t c = 0; c < count; c++) {
        bool free_place = true;
        for (uint64_t a = 0; a < accepted && free_place; a++) {
            free_place = !too_close(r, list[a].position, list[c].position, spacing);
        }
        if (!free_place) continue;
        taken_at(r, level)[list[c].position] = 1;
        list[accepted++] = list[c]; /* accepted ≤ c: the accepted ones gather at the front */
    }
    free(list);
}

static void take_samples(lod_reference *r) {
    for (uint32_t level = r->level_count; level-- > 0;) {
        if (r->params.sampling == MOTE_LOD_POISSON) {
            take_poisson(r, level);
            continue;
        }
        for (uint32_t n = 0; n < r->node_count; n++) {
            if (r->nodes[n].level == level && r->nodes[n].samples) take_best_of_cells(r, &r->nodes[n]);
        }
    }
}

uint64_t lod_reference_stored(const lod_reference *r, uint32_t index, uint32_t *positions) {
    const reference_node *node = &r->nodes[index];
    uint64_t count = 0;
    for (uint64_t i = node->first; i < node->first + node->total; i++) {
        bool stored = node->samples ? taken_at(r, node->level)[i] == 1 : i < node->first + node->share;
        for (uint32_t l = 0; l < node->level && r->params.scheme == MOTE_LOD_ADDITIVE; l++) {
            stored = stored && taken_at(r, l)[i] == 0;
        }
        if (stored) positions[count++] = (uint32_t)i;
    }
    return count;
}

lod_reference *lod_reference_build(mote_context *ctx, const mote_cloud *cloud, const mote_lod_params *params) {
    lod_reference *r = must(calloc(1, sizeof *r));
    uint64_t skipped;
    r->params = *params;
    r->finest = MOTE_ORDER_BITS;
    if (mote_order_lattice(ctx, cloud, &r->lattice, &skipped) != MOTE_OK) abort();
    order_points(r, cloud);
    if (needs_finer_cells(r)) refine_points(r);
    grow_tree(r);
    if (r->refused) return r;
    r->taken = must(calloc(r->level_count * r->count + 1, 1));
    take_samples(r);
    return r;
}

void lod_reference_destroy(lod_reference *r) {
    if (r == NULL) return;
    free(r->points);
    free(r->nodes);
    free(r->taken);
    free(r);
}
