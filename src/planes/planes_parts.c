/* Footprints and connected parts. */
#include <stdlib.h>

#include "planes/planes_extent.h"

#define NO_PART    UINT32_MAX
#define NO_CELL    UINT32_MAX
#define PART_SHARE 0.01 /* of its plane's points; smaller islands are strays */
#define PART_LEAST 8u

typedef struct plane_cells {
    const planes_count *cells;
    uint32_t *root;  /* union-find, by place among these cells; NO_PART: not kept */
    uint32_t *links; /* [8 · count] see cell_around */
    uint64_t count;
    uint32_t core; /* points that a core cell has at least */
} plane_cells;

/* ---- union-find */

static uint32_t root_of(uint32_t *root, uint32_t i) {
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

/* The smaller number stays root: the order of joins does not matter. */
static void join(uint32_t *root, uint32_t a, uint32_t b) {
    a = root_of(root, a);
    b = root_of(root, b);
    if (a < b) {
        root[b] = a;
    } else {
        root[a] = b;
    }
}

/* ---- cells of a plane */

static bool is_core(const plane_cells *p, uint32_t i) { return p->cells[i].count >= p->core; }

/* Of the eight cells around one, those after it in the order of cells; the other four are the same backwards. */
static const int32_t around[4][2] = {{1, 0}, {-1, 1}, {0, 1}, {1, 1}}; /* u, v */

/* Writes links: both lists ascend, so one walk finds all cells of a kind. */
static void link_cells(plane_cells *p) {
    for (uint32_t k = 0; k < 4; k++) {
        const uint64_t away = (uint64_t)(int64_t)around[k][0] + ((uint64_t)(int64_t)around[k][1] << PLANES_CELL_BITS);
        uint32_t *after = p->links + k * p->count, *before = p->links + (k + 4) * p->count;
        uint64_t at = 0;
        for (uint64_t i = 0; i < p->count; i++) after[i] = before[i] = NO_CELL;
        for (uint64_t i = 0; i < p->count; i++) {
            const uint64_t wanted = p->cells[i].cell + away;
            while (at < p->count && p->cells[at].cell < wanted) at++;
            if (at == p->count) break;
            if (p->cells[at].cell != wanted) continue;
            after[i] = (uint32_t)at;
            before[at] = (uint32_t)i;
        }
    }
}

/* The cell around that one, 0..3 after it, 4..7 before it; NO_CELL if it has no points. */
static uint32_t cell_around(const plane_cells *p, uint32_t i, uint32_t k) { return p->links[k * p->count + i]; }

static void join_cores(plane_cells *p) {
    for (uint32_t i = 0; i < p->count; i++) p->root[i] = is_core(p, i) ? i : NO_PART;
    for (uint32_t i = 0; i < p->count; i++) {
        for (uint32_t k = 0; k < 4 && is_core(p, i); k++) {
            const uint32_t other = cell_around(p, i, k);
            if (other != NO_CELL && is_core(p, other)) join(p->root, i, other);
        }
    }
}

/* Cells around a core cell belong to it; of several, to the first part. */
static void join_rims(plane_cells *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        if (is_core(p, i)) continue;
        for (uint32_t k = 0; k < 8; k++) {
            const uint32_t other = cell_around(p, i, k);
            if (other == NO_CELL || !is_core(p, other)) continue;
            const uint32_t root = root_of(p->root, other);
            if (p->root[i] == NO_PART || root < p->root[i]) p->root[i] = root;
        }
    }
}

/* Strays in a cell, from those beside the plane, as if spread over the rectangle of all its cells; a core cell has more
   than they make likely. */
static uint32_t core_points(const planes_sums *sums, const planes_count *cells, uint64_t count) {
    const uint64_t mask = (1u << PLANES_CELL_BITS) - 1;
    uint64_t low = mask, high = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t u = cells[i].cell & mask;
        low = u < low ? u : low;
        high = u > high ? u : high;
    }
    const uint64_t rows = (cells[count - 1].cell >> PLANES_CELL_BITS) - (cells[0].cell >> PLANES_CELL_BITS) + 1;
    const double strays = 0.5 * (double)(sums->beside[0] + sums->beside[1]) / ((double)rows * (double)(high - low + 1));
    const double least = ceil(strays + 3 * sqrt(strays) + 1);
    return least > 2 ? (uint32_t)least : 2;
}

/* ---- parts */

static bool is_kept(const plane_cells *p, uint32_t i) { return i != NO_CELL && p->root[i] != NO_PART; }

/* Whether all four cells at its sides have points too. */
static bool is_inner(const plane_cells *p, uint32_t i) {
    static const uint32_t sides[4] = {0, 2, 4, 6}; /* of around, and before */
    bool all = true;
    for (int k = 0; k < 4; k++) all = all && is_kept(p, cell_around(p, i, sides[k]));
    return all;
}

/* How much of a cell is covered: at the rim, going by the inner cells around it, which are covered all over. */
static double coverage(const plane_cells *p, uint32_t i) {
    double points = 0, cells = 0;
    if (is_inner(p, i)) return 1;
    for (uint32_t k = 0; k < 8; k++) {
        const uint32_t other = cell_around(p, i, k);
        if (!is_kept(p, other) || !is_inner(p, other)) continue;
        points += p->cells[other].count;
        cells++;
    }
    return cells > 0 ? fmin(1, p->cells[i].count * cells / points) : 0.5;
}

typedef struct part_list {
    planes_part *parts;
    uint64_t count, capacity;
} part_list;

static mote_status add_part(mote_context *ctx, part_list *list, uint32_t plane) {
    if (!mote_reserve(ctx, (void **)&list->parts, &list->capacity, list->count + 1, sizeof *list->parts,
                      "planes parts")) {
        return MOTE_ERROR_MEMORY;
    }
    list->parts[list->count++] = (planes_part){plane, 0, 0};
    return MOTE_OK;
}

/* Numbers the parts of one plane, by their first cell. part: of each of its cells, out. */
static mote_status number_parts(const planes_run *run, const plane_cells *p, uint32_t plane, part_list *list,
                                uint32_t *part) {
    const uint64_t first = list->count;
    if (!run->params.parts) MOTE_TRY(add_part(run->ctx, list, plane));
    for (uint32_t i = 0; i < p->count; i++) {
        part[i] = NO_PART;
        if (p->root[i] == NO_PART) continue;
        const uint32_t root = root_of(p->root, i);
        if (run->params.parts && root == i) MOTE_TRY(add_part(run->ctx, list, plane));
        /* A rim may come before the core cell that it belongs to: numbers are given to roots, then to all. */
        if (root == i) part[i] = (uint32_t)(run->params.parts ? list->count - 1 : first);
    }
    for (uint32_t i = 0; i < p->count && list->parts != NULL; i++) {
        if (p->root[i] == NO_PART) continue;
        part[i] = part[root_of(p->root, i)];
        list->parts[part[i]].points += p->cells[i].count;
        list->parts[part[i]].area += coverage(p, i);
    }
    return MOTE_OK;
}

/* Without parts: islands of few points are strays. */
static mote_status drop_islands(const planes_run *run, plane_cells *p) {
    uint64_t *points = mote_alloc_zero(run->ctx, p->count * sizeof *points, "planes parts"), all = 0;
    if (points == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->root[i] == NO_PART) continue;
        points[root_of(p->root, i)] += p->cells[i].count;
        all += p->cells[i].count;
    }
    const double least = fmax(PART_LEAST, PART_SHARE * (double)all);
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t root = p->root[i] == NO_PART ? NO_PART : root_of(p->root, i);
        if (root != NO_PART && root != i && (double)points[root] < least) p->root[i] = NO_PART;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->root[i] == i && (double)points[i] < least) p->root[i] = NO_PART;
    }
    mote_free(run->ctx, points);
    return MOTE_OK;
}

mote_status planes_find_parts(const planes_run *run, planes_cover *cover, planes_part **parts) {
    mote_context *ctx = run->ctx;
    part_list list = {NULL, 0, 0};
    mote_status status = MOTE_OK;
    uint32_t *root = mote_alloc(ctx, cover->count * sizeof *root, "planes parts");
    cover->part = mote_alloc(ctx, cover->count * sizeof *cover->part, "planes parts");
    uint32_t *links = mote_alloc(ctx, 8 * cover->count * sizeof *links, "planes parts");
    if (root == NULL || cover->part == NULL || links == NULL) status = MOTE_ERROR_MEMORY;
    for (uint64_t first = 0, last; first < cover->count && status == MOTE_OK; first = last) {
        const uint32_t plane = (uint32_t)(cover->cells[first].cell >> (2 * PLANES_CELL_BITS));
        for (last = first; last < cover->count && cover->cells[last].cell >> (2 * PLANES_CELL_BITS) == plane;) last++;
        plane_cells p = {cover->cells + first, root + first, links + 8 * first, last - first, 0};
        p.core = run->params.whole ? 1 : core_points(&run->found[plane].sums, p.cells, p.count);
        link_cells(&p);
        join_cores(&p);
        join_rims(&p);
        if (!run->params.parts && !run->params.whole) status = drop_islands(run, &p);
        if (status == MOTE_OK) status = number_parts(run, &p, plane, &list, cover->part + first);
    }
    mote_free(ctx, root);
    mote_free(ctx, links);
    cover->part_count = (uint32_t)list.count;
    *parts = list.parts;
    return status;
}
