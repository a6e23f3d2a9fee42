/* Planes: the cells that points lie in, the parts that these make, and hulls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "planes/footprint/planes_extent.h"
#include "reference/planes_reference_components.h"
#include "reference/planes_refine_reference.h"

static void make_axes(const planes_run *run, const planes_plane *planes, uint32_t count, double width,
                      planes_axes *axes) {
    for (uint32_t i = 0; i < count; i++) {
        const double n[3] = {(double)planes[i].a, (double)planes[i].b, (double)planes[i].c};
        double u[3], v[3];
        planes_perpendicular(n, u, v);
        for (int k = 0; k < 3; k++) {
            axes[i].u[k] = (float)u[k];
            axes[i].v[k] = (float)v[k];
        }
        axes[i].by = (float)(1 / fmax(2, run->scale.radius * width));
    }
}

/* A cell that has points; part: the place of its part's first core cell, -1: none. */
typedef struct plain_cell {
    uint32_t plane, u, v;
    uint64_t count;
    bool core;
    bool quarter[4][4]; /* v u: whether it has points there */
    int64_t component;
    float strays;
} plain_cell;

static int compare_cells(const void *a, const void *b) {
    const plain_cell *x = a, *y = b;
    if (x->plane != y->plane) return x->plane < y->plane ? -1 : 1;
    if (x->v != y->v) return x->v < y->v ? -1 : 1;
    return x->u < y->u ? -1 : x->u > y->u;
}

static plain_cell cell_of(const planes_axes *axes, int32_t label, const planes_placed *p) {
    plain_cell cell;
    memset(&cell, 0, sizeof cell);
    cell.plane = (uint32_t)label;
    cell.count = 1;
    cell.component = -1;
    planes_cell(&axes[label], p->q[0], p->q[1], p->q[2], &cell.u, &cell.v);
    const double u = (double)(planes_along(axes[label].u, p->q[0], p->q[1], p->q[2]) * axes[label].by);
    const double v = (double)(planes_along(axes[label].v, p->q[0], p->q[1], p->q[2]) * axes[label].by);
    /* What is next to nothing below a cell's end may be rounded up to it. */
    cell.quarter[(int)fmin(4 * (v - floor(v)), 3)][(int)fmin(4 * (u - floor(u)), 3)] = true;
    return cell;
}

static uint64_t count_cells(const planes_axes *axes, const planes_placed *all, const int32_t *label, uint32_t points,
                            plain_cell *cells) {
    uint64_t labelled = 0, found = 0;
    for (uint32_t i = 0; i < points; i++) {
        if (label[i] >= 0) cells[labelled++] = cell_of(axes, label[i], &all[i]);
    }
    qsort(cells, labelled, sizeof *cells, compare_cells);
    for (uint64_t i = 0; i < labelled; i++) {
        if (found > 0 && compare_cells(&cells[found - 1], &cells[i]) == 0) {
            cells[found - 1].count++;
            for (int k = 0; k < 16; k++) cells[found - 1].quarter[k / 4][k % 4] |= cells[i].quarter[k / 4][k % 4];
        } else {
            cells[found++] = cells[i];
        }
    }
    return found;
}

/* Of the cells of one plane: those with more points than strays make likely. */
static void find_cores(plain_cell *cells, uint64_t count, uint64_t in_bands, bool whole) {
    uint32_t low = UINT32_MAX, high = 0;
    for (uint64_t i = 0; i < count; i++) {
        low = cells[i].u < low ? cells[i].u : low;
        high = cells[i].u > high ? cells[i].u : high;
    }
    const double rows = (double)(cells[count - 1].v - cells[0].v + 1), columns = (double)(high - low + 1);
    const double strays = 0.5 * (double)in_bands / (rows * columns);
    const double min = whole ? 1 : fmax(2, ceil(strays + 3 * sqrt(strays) + 1));
    for (uint64_t i = 0; i < count; i++) {
        cells[i].strays = (float)strays;
        cells[i].core = (double)cells[i].count >= min;
        cells[i].component = cells[i].core ? (int64_t)i : -1;
    }
}

static bool are_around(const plain_cell *a, const plain_cell *b) {
    return abs((int)a->u - (int)b->u) <= 1 && abs((int)a->v - (int)b->v) <= 1;
}

/* Whether they have points at most 1.1 cells apart, as quarters of cells tell. */
static bool are_near(const plain_cell *a, const plain_cell *b) {
    for (int i = 0; i < 16; i++) {
        for (int k = 0; k < 16; k++) {
            const double u = 4.0 * ((double)b->u - (double)a->u) + k % 4 - i % 4;
            const double v = 4.0 * ((double)b->v - (double)a->v) + k / 4 - i / 4;
            if (a->quarter[i / 4][i % 4] && b->quarter[k / 4][k % 4] && u * u + v * v <= 20) return true;
        }
    }
    return false;
}

/* Parts: the smaller number goes from neighbour to neighbour until it is everywhere; then to those around core cells.
   near: only where their points are near. */
static void spread_parts(plain_cell *cells, uint64_t count, bool near) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint64_t i = 0; i < count * count; i++) {
            plain_cell *a = &cells[i / count];
            const plain_cell *b = &cells[i % count];
            if (!a->core || !b->core || b->component >= a->component || !are_around(a, b)) continue;
            if (near && !are_near(a, b)) continue;
            a->component = b->component;
            changed = true;
        }
    }
    for (uint64_t i = 0; i < count * count; i++) {
        plain_cell *a = &cells[i / count];
        const plain_cell *b = &cells[i % count];
        if (a->core || !b->core || !are_around(a, b)) continue;
        a->component = a->component < 0 || b->component < a->component ? b->component : a->component;
    }
}

static void drop_islands(plain_cell *cells, uint64_t count) {
    uint64_t *points = room_for(count, sizeof *points), all = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (cells[i].component < 0) continue;
        points[cells[i].component] += cells[i].count;
        all += cells[i].count;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (cells[i].component < 0) continue;
        cells[i].component = (double)points[cells[i].component] < fmax(8, 0.01 * (double)all) ? -1 : 0;
    }
    free(points);
}

static bool is_inner(const plain_cell *cells, uint64_t count, const plain_cell *at) {
    int sides = 0;
    for (uint64_t i = 0; i < count; i++) {
        const int away = abs((int)at->u - (int)cells[i].u) + abs((int)at->v - (int)cells[i].v);
        sides += cells[i].component >= 0 && away == 1;
    }
    return sides == 4;
}

static uint64_t area_of(const plain_cell *cells, uint64_t count, const plain_cell *at) {
    uint64_t inner = 0, points = 0;
    if (is_inner(cells, count, at)) return PLANES_CELL_WHOLE;
    for (uint64_t i = 0; i < count; i++) {
        const plain_cell *other = &cells[i];
        if (other == at || other->component < 0 || !are_around(at, other) || !is_inner(cells, count, other)) continue;
        points += other->count;
        inner++;
    }
    const double share = inner > 0 ? fmin(1, (double)at->count * (double)inner / (double)points) : 0.5;
    return (uint64_t)(share * PLANES_CELL_WHOLE + 1e-6);
}

/* Parts of one plane, after those before; part of each cell then: its place in the list, -1: none. */
static uint64_t list_components(plain_cell *cells, uint64_t count, const planes_footprint_params *footprint_params,
                                planes_component *components, uint64_t found) {
    uint64_t *area = room_for(count, sizeof *area);
    int64_t *place = room_for(count, sizeof *place);
    for (uint64_t i = 0; i < count; i++) area[i] = area_of(cells, count, &cells[i]);
    for (uint64_t first = 0; first < count; first++) {
        planes_component component = {cells[0].plane, 0, 0, 0, -1};
        for (uint64_t i = 0; i < count; i++) {
            if (cells[i].component != (int64_t)first) continue;
            component.points += cells[i].count;
            component.area += area[i];
        }
        place[first] = component.points >= footprint_params->min ? (int64_t)found : -1;
        if (component.points >= footprint_params->min) components[found++] = component;
    }
    for (uint64_t i = 0; i < count; i++) cells[i].component = cells[i].component < 0 ? -1 : place[cells[i].component];
    free(area);
    free(place);
    return found;
}

static uint64_t find_parts(plain_cell *cells, uint64_t count, const uint64_t *in_bands,
                           const planes_footprint_params *footprint_params, planes_component *components) {
    uint64_t found = 0;
    for (uint64_t first = 0, end; first < count; first = end) {
        const uint32_t plane = cells[first].plane;
        for (end = first; end < count && cells[end].plane == plane;) end++;
        find_cores(cells + first, end - first, in_bands[plane], footprint_params->whole);
        spread_parts(cells + first, end - first, footprint_params->components);
        for (uint64_t i = first; i < end && footprint_params->whole && !footprint_params->components; i++)
            cells[i].component = 0;
        if (!footprint_params->whole && !footprint_params->components) drop_islands(cells + first, end - first);
        found = list_components(cells + first, end - first, footprint_params, components, found);
    }
    return found;
}

/* The cells of the rectangles around planes, with a rim. */
static uint64_t count_room(const plain_cell *cells, uint64_t count) {
    uint64_t room = 0;
    for (uint64_t first = 0, end; first < count; first = end) {
        uint32_t low = UINT32_MAX, high = 0;
        for (end = first; end < count && cells[end].plane == cells[first].plane; end++) {
            low = cells[end].u < low ? cells[end].u : low;
            high = cells[end].u > high ? cells[end].u : high;
        }
        room += (high - low + 3ull) * (cells[end - 1].v - cells[first].v + 3ull);
    }
    return room;
}

/* Checks parts, then gives every third of them no label and the others one by their number; label as it is then. odds:
   of each place, out. False: the cells must be wider, and nothing was done. */
static bool check_cover(planes_run *run, const planes_axes *axes, uint32_t planes,
                        const planes_footprint_params *footprint_params, const planes_placed *all, int32_t *label,
                        uint8_t *odds, const char *what) {
    const uint32_t points = run->points->count;
    plain_cell *cells = room_for(points, sizeof *cells);
    planes_component *mine = room_for(points, sizeof *mine), *theirs;
    uint64_t *in_bands = room_for(planes, sizeof *in_bands), count;
    for (uint32_t i = 0; i < planes; i++) in_bands[i] = i % 3 == 0 ? 0 : mote_hash_pair(planes, i) % (4 * points);
    const uint64_t cell_count = count_cells(axes, all, label, points, cells);
    const uint64_t found = find_parts(cells, cell_count, in_bands, footprint_params, mine);
    assert_int_equal(run->ops->footprint(run->points, axes, in_bands, planes, footprint_params, &theirs, &count),
                     MOTE_OK);
    if (theirs == NULL) {
        fail_unless(count_room(cells, cell_count) > 4 * (uint64_t)points + (1u << 22), what, "too many cells", count);
        free(in_bands);
        free(cells);
        free(mine);
        return false;
    }
    fail_unless(found == count, what, "number of parts", count);
    for (uint64_t i = 0; i < count; i++) {
        const bool same = theirs[i].plane == mine[i].plane && theirs[i].points == mine[i].points;
        fail_unless(same && theirs[i].area == mine[i].area, what, "part", i);
        fail_unless(i == 0 || theirs[i].number > theirs[i - 1].number, what, "order of parts", i);
        theirs[i].label = i % 3 == 1 ? -1 : (int32_t)(i % planes);
    }
    assert_int_equal(run->ops->relabel(run->points, theirs, count), MOTE_OK);
    for (uint32_t i = 0; i < points; i++) {
        if (label[i] < 0) continue;
        const plain_cell at = cell_of(axes, label[i], &all[i]);
        const plain_cell *cell = bsearch(&at, cells, cell_count, sizeof at, compare_cells);
        assert_non_null(cell);
        label[i] = cell->component < 0 ? -1 : theirs[cell->component].label;
        odds[i] = planes_odds((uint32_t)cell->count, cell->strays);
    }
    mote_free(run->ctx, theirs);
    free(in_bands);
    free(cells);
    free(mine);
    return true;
}

/* The hulls are those of all points. */
static void check_outline(planes_run *run, const planes_axes *axes, uint32_t planes, const planes_placed *all,
                          const int32_t *label, const char *what) {
    planes_corner *corners = room_for(run->points->count, sizeof *corners);
    planes_hulls hulls;
    assert_int_equal(planes_find_hulls(run, axes, planes, &hulls), MOTE_OK);
    for (uint32_t k = 0; k < planes; k++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < run->points->count; i++) {
            if (label[i] != (int32_t)k) continue;
            corners[count++] = planes_corner_of(&axes[k], k, all[i].q[0], all[i].q[1], all[i].q[2]);
        }
        count = planes_hull_of(corners, count);
        const bool same =
            count == hulls.size[k] && memcmp(corners, hulls.corners + hulls.first[k], count * sizeof *corners) == 0;
        fail_unless(same, what, "outline", k);
    }
    planes_hulls_free(run->ctx, &hulls);
    free(corners);
}

void planes_reference_check_footprints(planes_run *run, const planes_plane *planes, uint32_t count,
                                       const planes_placed *all, const char *what) {
    static const struct {
        planes_footprint_params footprint_params;
        double width; /* of a cell, of the radius */
    } ways[] = {{{false, false, 1}, 0.05}, {{false, true, 3}, 0.08}, {{true, false, 2}, 0.02},
                {{false, false, 9}, 0.15}, {{false, true, 1}, 0.2},  {{true, true, 1}, 1e-5}};
    planes_axes *axes = room_for(count, sizeof *axes);
    int32_t *label = room_for(run->points->count, sizeof *label);
    uint8_t *odds = room_for(run->points->count, sizeof *odds);
    for (uint32_t i = (count + run->points->count) % 3; i < sizeof ways / sizeof ways[0]; i += 3) {
        double width = ways[i].width;
        planes_reference_check_labels(run, planes, count, all, label, what);
        do {
            make_axes(run, planes, count, width, axes);
            width *= 2;
        } while (!check_cover(run, axes, count, &ways[i].footprint_params, all, label, odds, what));
        planes_reference_check_relabelled(run, count, all, label, what);
        planes_reference_check_weighted(run, planes, count, all, label, odds, what);
        check_outline(run, axes, count, all, label, what);
    }
    free(axes);
    free(label);
    free(odds);
}
