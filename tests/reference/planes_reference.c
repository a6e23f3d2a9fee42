#include "reference/planes_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/column_math.h"
#include "math/hash.h"
#include "planes/planes_extent.h"
#include "planes/planes_grid.h"
#include "reference/planes_refine_reference.h"
#include "support/support.h"

/* ---- positions and their order */

typedef struct placed {
    uint64_t code;
    uint64_t index;
    float q[3];
    uint32_t normal;
} placed;

static int compare_placed(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static uint64_t place_all(const planes_points *points, placed *out) {
    static const char *const names[6] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    uint64_t count = 0;
    for (uint64_t i = 0; i < points->cloud->count; i++) {
        bool inside = true;
        placed p = {0, i, {0, 0, 0}, 0};
        float normal[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            const double value = mote_column_value(mote_cloud_find(points->cloud, names[k]), i);
            const double q = rint((value - points->frame.centre[k]) / points->frame.step);
            inside = inside && q >= -8388608.0 && q <= 8388608.0;
            if (inside) p.q[k] = (float)q;
            if (points->normals) normal[k] = (float)mote_column_value(mote_cloud_find(points->cloud, names[3 + k]), i);
        }
        if (!inside) continue;
        p.code = planes_code(p.q[0], p.q[1], p.q[2]);
        if (points->normals) p.normal = planes_pack_normal(normal[0], normal[1], normal[2]);
        out[count++] = p;
    }
    qsort(out, count, sizeof *out, compare_placed);
    return count;
}

static void check_place(planes_run *run, placed *all, const char *what) {
    planes_sample sample;
    const uint64_t count = place_all(run->points, all);
    fail_unless(run->points->count == count, what, "count of points", run->points->count);
    assert_int_equal(planes_sample_make(run->ctx, (uint32_t)count, &sample), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) sample.place[i] = i;
    assert_int_equal(run->ops->fetch(run->points, sample.place, (uint32_t)count, &sample), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) {
        const bool same = sample.x[i] == all[i].q[0] && sample.y[i] == all[i].q[1] && sample.z[i] == all[i].q[2];
        fail_unless(same && sample.normal[i] == all[i].normal, what, "fetch", i);
    }
    planes_flatness_reference_check(run, &sample, what);
    planes_sample_free(run->ctx, &sample);
}

/* ---- votes */

static bool votes_for(const planes_table *t, uint32_t direction, uint32_t normal) {
    if (t->cone == 0 || normal == 0) return true;
    int32_t dot = 0;
    for (int k = 0; k < 3; k++) dot += planes_normal_part(normal, k) * planes_normal_part(t->normal[direction], k);
    return abs(dot) >= t->cone;
}

/* The bin in double precision; the float's may be the other one where this is near a border. */
static void check_bin(const planes_table *t, uint32_t d, const float q[3], uint32_t bin, const char *what) {
    const double rho = (double)t->a[d] * (double)q[0] + (double)t->b[d] * (double)q[1] +
                       (double)t->c[d] * (double)q[2] + (double)t->middle;
    fail_unless(fabs(rho - bin) <= 0.5 + 1e-6 * t->bins && bin < t->bins, what, "bin", d);
}

static void check_votes(planes_run *run, const planes_sample *sample, const placed *all, const char *what) {
    const planes_table *t = &run->table;
    const uint64_t cells = (uint64_t)t->directions * t->bins;
    uint32_t *mine = room_for(cells, sizeof *mine), *theirs = room_for(cells, sizeof *theirs);
    const uint32_t count = sample != NULL ? sample->count : run->points->count;
    for (uint32_t i = 0; i < count; i++) {
        const placed *p = sample != NULL ? &all[sample->place[i]] : &all[i];
        for (uint32_t d = 0; d < t->directions; d++) {
            const uint32_t bin = planes_bin(p->q[0], p->q[1], p->q[2], t->a[d], t->b[d], t->c[d], t->middle);
            if ((i + d) % 61 == 0) check_bin(t, d, p->q, bin, what);
            if (votes_for(t, d, p->normal)) mine[(uint64_t)d * t->bins + bin]++;
        }
    }
    assert_int_equal(run->ops->vote(run->points, sample, t), MOTE_OK);
    assert_int_equal(run->ops->read_votes(run->points, theirs), MOTE_OK);
    for (uint64_t c = 0; c < cells; c++) fail_unless(mine[c] == theirs[c], what, "votes", c);
    free(mine);
    free(theirs);
}

/* ---- directions and maxima */

static double cosine_of(const planes_table *t, uint32_t a, uint32_t b) {
    const double dot =
        (double)t->a[a] * (double)t->a[b] + (double)t->b[a] * (double)t->b[b] + (double)t->c[a] * (double)t->c[b];
    return dot * t->bin * t->bin;
}

/* Every pair of directions, and each with the other end of the other, must be listed if near, or not. */
static void check_table(const planes_run *run, double radius_deg, const char *what) {
    const planes_table *t = &run->table;
    const double near = cos((radius_deg + 1e-3) * 3.14159265358979323846 / 180);
    const double surely = cos((radius_deg - 1e-3) * 3.14159265358979323846 / 180);
    for (uint32_t d = 0; d < t->directions; d += 1 + t->directions / 300) {
        uint8_t *listed = room_for(2 * (uint64_t)t->directions, 1);
        for (uint32_t i = t->first[d]; i < t->first[d + 1]; i++) listed[t->near[i]]++;
        for (uint32_t other = 0; other < t->directions; other++) {
            const double cosine = cosine_of(t, d, other);
            for (int end = 0; end < 2 && other != d; end++) {
                const double c = end == 0 ? cosine : -cosine;
                fail_unless(listed[2 * other + (uint32_t)end] <= (c >= near), what, "near directions", d);
                fail_unless(listed[2 * other + (uint32_t)end] >= (c >= surely), what, "near directions", d);
            }
        }
        free(listed);
    }
}

static bool beats(uint32_t votes, uint64_t cell, uint32_t other_votes, uint64_t other_cell) {
    return other_votes > votes || (other_votes == votes && other_cell < cell);
}

static bool is_beaten(const planes_table *t, const uint32_t *counters, uint32_t d, uint32_t bin, uint32_t radius) {
    const uint64_t cell = (uint64_t)d * t->bins + bin;
    for (uint32_t i = t->first[d]; i <= t->first[d + 1]; i++) {
        const bool own = i == t->first[d + 1];
        const uint32_t other = own ? d : t->near[i] >> 1;
        const int64_t middle = !own && (t->near[i] & 1) != 0 ? (int64_t)t->bins - 1 - bin : bin;
        for (int64_t b = middle - radius; b <= middle + radius; b++) {
            const uint64_t at = (uint64_t)other * t->bins + (uint64_t)b;
            if (b < 0 || b >= t->bins || at == cell) continue;
            if (beats(counters[cell], cell, counters[at], at)) return true;
        }
    }
    return false;
}

static int compare_winners(const void *a, const void *b) {
    const planes_winner *x = a, *y = b;
    if (x->votes != y->votes) return x->votes > y->votes ? -1 : 1;
    if (x->direction != y->direction) return x->direction < y->direction ? -1 : 1;
    return x->bin < y->bin ? -1 : 1;
}

static void check_winners(planes_run *run, uint32_t radius, uint32_t least, const char *what) {
    enum { MOST = 40 };
    const planes_table *t = &run->table;
    const uint64_t cells = (uint64_t)t->directions * t->bins;
    planes_winner *mine = room_for(cells, sizeof *mine), theirs[MOST];
    uint32_t *counters = room_for(cells, sizeof *counters), count = 0, their_count;
    assert_int_equal(run->ops->read_votes(run->points, counters), MOTE_OK);
    for (uint32_t d = 0; d < t->directions; d++) {
        for (uint32_t b = 0; b < t->bins; b++) {
            const uint32_t votes = counters[(uint64_t)d * t->bins + b];
            if (votes == 0 || votes < least || is_beaten(t, counters, d, b, radius)) continue;
            mine[count++] = (planes_winner){votes, d, b};
        }
    }
    qsort(mine, count, sizeof *mine, compare_winners);
    if (count > MOST) count = MOST;
    assert_int_equal(run->ops->winners(run->points, t, radius, least, MOST, theirs, &their_count), MOTE_OK);
    fail_unless(their_count == count, what, "number of winners", their_count);
    for (uint32_t i = 0; i < count; i++) {
        const bool same = mine[i].votes == theirs[i].votes && mine[i].direction == theirs[i].direction &&
                          mine[i].bin == theirs[i].bin;
        fail_unless(same, what, "winner", i);
    }
    free(mine);
    free(counters);
}

/* ---- sums and labels */

static void random_planes(const planes_run *run, uint64_t seed, const placed *all, planes_plane *planes,
                          uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const placed *through = &all[mote_hash_pair(seed, i) % run->points->count];
        double n[3], length = 0;
        for (uint64_t k = 0; k < 3; k++) {
            n[k] = (double)(mote_hash_pair(seed + 1 + k, i) >> 40) - (double)(1 << 23);
            if (i % 3 == 0) n[k] = k == i / 3 % 3; /* along an axis */
            length += n[k] * n[k];
        }
        for (int k = 0; k < 3; k++) n[k] /= sqrt(length);
        planes[i].a = (float)n[0];
        planes[i].b = (float)n[1];
        planes[i].c = (float)n[2];
        planes[i].d = planes[i].a * through->q[0] + planes[i].b * through->q[1] + planes[i].c * through->q[2];
        planes[i].tolerance = (float)(run->scale.radius * (i % 2 == 0 ? 0.01 : 0.1));
        planes[i].guard = planes[i].tolerance * (float)(1 + i % 3);
        planes[i].normal = planes_pack_normal(planes[i].a, planes[i].b, planes[i].c);
        planes[i].cone = run->points->normals ? 150000 : 0;
    }
}

static int32_t nearest_of(const planes_plane *planes, uint32_t count, const placed *p, int32_t *first) {
    int32_t best = -1;
    float least = INFINITY;
    *first = -1;
    for (uint32_t i = 0; i < count; i++) {
        const float size = fabsf(planes_distance(&planes[i], p->q[0], p->q[1], p->q[2]));
        if (size > planes[i].tolerance || !planes_normal_allows(p->normal, planes[i].normal, planes[i].cone)) continue;
        if (*first < 0) *first = (int32_t)i;
        if (size >= least) continue;
        least = size;
        best = (int32_t)i;
    }
    return best;
}

__extension__ typedef __int128 wide;

typedef struct plain_sums {
    uint64_t count, own, inner, beside[2];
    wide first[3], products[PLANES_PRODUCTS];
} plain_sums;

static void add_point(plain_sums *to, const placed *p, int32_t times) {
    int at = 0;
    to->count += (uint64_t)times;
    for (int k = 0; k < 3; k++) {
        to->first[k] += times * (int64_t)p->q[k];
        for (int l = k; l < 3; l++) to->products[at++] += (wide)times * (int64_t)p->q[k] * (int64_t)p->q[l];
    }
}

static bool same_sums(const plain_sums *mine, const planes_sums *theirs) {
    bool same = mine->count == theirs->count && mine->own == theirs->own && mine->inner == theirs->inner &&
                mine->beside[0] == theirs->beside[0] && mine->beside[1] == theirs->beside[1];
    for (int k = 0; k < 3; k++) same = same && mine->first[k] == theirs->first[k];
    for (int k = 0; k < PLANES_PRODUCTS; k++) {
        same = same && mine->products[k] == (wide)theirs->low[k] + (wide)theirs->high[k] * ((wide)1 << 32);
    }
    return same;
}

static void sum_point(const planes_plane *planes, uint32_t count, const placed *p, plain_sums *sums) {
    int32_t first;
    const int32_t best = nearest_of(planes, count, p, &first);
    if (best >= 0) {
        const float distance = planes_distance(&planes[best], p->q[0], p->q[1], p->q[2]);
        add_point(&sums[best], p, 1);
        sums[best].own += best == first;
        sums[best].inner += best == first && fabsf(distance) <= 0.5f * planes[best].tolerance;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const float distance = planes_distance(&planes[i], p->q[0], p->q[1], p->q[2]);
        const float t = planes[i].tolerance;
        sums[i].beside[0] += distance < -t && distance >= -3.0f * t;
        sums[i].beside[1] += distance > t && distance <= 3.0f * t;
    }
}

static void check_sums(planes_run *run, const planes_plane *planes, uint32_t count, const placed *all,
                       const char *what) {
    plain_sums *mine = room_for(count, sizeof *mine);
    planes_sums *theirs = room_for(count, sizeof *theirs);
    for (uint32_t i = 0; i < run->points->count; i++) sum_point(planes, count, &all[i], mine);
    assert_int_equal(run->ops->sums(run->points, planes, count, theirs), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) fail_unless(same_sums(&mine[i], &theirs[i]), what, "sums", i);
    free(mine);
    free(theirs);
}

/* label: of each place, out. */
static void check_labels(planes_run *run, const planes_plane *planes, uint32_t count, const placed *all, int32_t *label,
                         const char *what) {
    const uint64_t points = run->points->cloud->count;
    int32_t *mine = room_for(points, sizeof *mine), *theirs = room_for(points, sizeof *theirs), first;
    uint32_t *free_places = room_for(run->points->count, sizeof *free_places);
    uint64_t free_count = 0, their_free;
    memset(mine, 0xFF, points * sizeof *mine);
    for (uint32_t i = 0; i < run->points->count; i++) {
        bool held = false;
        label[i] = mine[all[i].index] = nearest_of(planes, count, &all[i], &first);
        for (uint32_t k = 0; k < count; k++) {
            const float distance = planes_distance(&planes[k], all[i].q[0], all[i].q[1], all[i].q[2]);
            held = held || (fabsf(distance) <= planes[k].guard &&
                            planes_normal_allows(all[i].normal, planes[k].normal, planes[k].cone));
        }
        if (!held) free_places[free_count++] = i;
    }
    assert_int_equal(run->ops->label(run->points, planes, count, &their_free), MOTE_OK);
    assert_int_equal(run->ops->labels(run->points, theirs), MOTE_OK);
    fail_unless(their_free == free_count, what, "number of free points", their_free);
    for (uint64_t i = 0; i < points; i++) fail_unless(mine[i] == theirs[i], what, "labels", i);
    for (uint32_t most = 1; most < 2 * run->points->count; most = 3 * most + 1) {
        planes_sample sample;
        const uint64_t wanted = most < free_count ? most : free_count;
        assert_int_equal(planes_sample_make(run->ctx, most, &sample), MOTE_OK);
        assert_int_equal(run->ops->choose(run->points, most, &sample), MOTE_OK);
        fail_unless(sample.count == wanted, what, "size of a sample", most);
        for (uint64_t i = 0; i < wanted; i++) {
            const uint64_t rank = most < free_count ? (2 * i + 1) * free_count / (2 * (uint64_t)most) : i;
            fail_unless(sample.place[i] == free_places[rank], what, "sample", i);
        }
        planes_sample_free(run->ctx, &sample);
    }
    free(mine);
    free(theirs);
    free(free_places);
}

/* ---- footprints and hulls */

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
    int64_t part;
    float strays;
} plain_cell;

static int compare_cells(const void *a, const void *b) {
    const plain_cell *x = a, *y = b;
    if (x->plane != y->plane) return x->plane < y->plane ? -1 : 1;
    if (x->v != y->v) return x->v < y->v ? -1 : 1;
    return x->u < y->u ? -1 : x->u > y->u;
}

static plain_cell cell_of(const planes_axes *axes, int32_t label, const placed *p) {
    plain_cell cell = {(uint32_t)label, 0, 0, 1, false, -1, 0};
    planes_cell(&axes[label], p->q[0], p->q[1], p->q[2], &cell.u, &cell.v);
    return cell;
}

static uint64_t count_cells(const planes_axes *axes, const placed *all, const int32_t *label, uint32_t points,
                            plain_cell *cells) {
    uint64_t labelled = 0, found = 0;
    for (uint32_t i = 0; i < points; i++) {
        if (label[i] >= 0) cells[labelled++] = cell_of(axes, label[i], &all[i]);
    }
    qsort(cells, labelled, sizeof *cells, compare_cells);
    for (uint64_t i = 0; i < labelled; i++) {
        if (found > 0 && compare_cells(&cells[found - 1], &cells[i]) == 0) {
            cells[found - 1].count++;
        } else {
            cells[found++] = cells[i];
        }
    }
    return found;
}

/* Of the cells of one plane: those with more points than strays make likely. */
static void find_cores(plain_cell *cells, uint64_t count, uint64_t beside, bool whole) {
    uint32_t low = UINT32_MAX, high = 0;
    for (uint64_t i = 0; i < count; i++) {
        low = cells[i].u < low ? cells[i].u : low;
        high = cells[i].u > high ? cells[i].u : high;
    }
    const double rows = (double)(cells[count - 1].v - cells[0].v + 1), columns = (double)(high - low + 1);
    const double strays = 0.5 * (double)beside / (rows * columns);
    const double least = whole ? 1 : fmax(2, ceil(strays + 3 * sqrt(strays) + 1));
    for (uint64_t i = 0; i < count; i++) {
        cells[i].strays = (float)strays;
        cells[i].core = (double)cells[i].count >= least;
        cells[i].part = cells[i].core ? (int64_t)i : -1;
    }
}

static bool are_around(const plain_cell *a, const plain_cell *b) {
    return abs((int)a->u - (int)b->u) <= 1 && abs((int)a->v - (int)b->v) <= 1;
}

/* Parts: the smaller number goes from neighbour to neighbour until it is everywhere; then to those around core cells.
 */
static void spread_parts(plain_cell *cells, uint64_t count) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint64_t i = 0; i < count * count; i++) {
            plain_cell *a = &cells[i / count];
            const plain_cell *b = &cells[i % count];
            if (!a->core || !b->core || b->part >= a->part || !are_around(a, b)) continue;
            a->part = b->part;
            changed = true;
        }
    }
    for (uint64_t i = 0; i < count * count; i++) {
        plain_cell *a = &cells[i / count];
        const plain_cell *b = &cells[i % count];
        if (a->core || !b->core || !are_around(a, b)) continue;
        a->part = a->part < 0 || b->part < a->part ? b->part : a->part;
    }
}

static void drop_islands(plain_cell *cells, uint64_t count) {
    uint64_t *points = room_for(count, sizeof *points), all = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (cells[i].part < 0) continue;
        points[cells[i].part] += cells[i].count;
        all += cells[i].count;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (cells[i].part < 0) continue;
        cells[i].part = (double)points[cells[i].part] < fmax(8, 0.01 * (double)all) ? -1 : 0;
    }
    free(points);
}

static bool is_inner(const plain_cell *cells, uint64_t count, const plain_cell *at) {
    int sides = 0;
    for (uint64_t i = 0; i < count; i++) {
        const int away = abs((int)at->u - (int)cells[i].u) + abs((int)at->v - (int)cells[i].v);
        sides += cells[i].part >= 0 && away == 1;
    }
    return sides == 4;
}

static uint64_t area_of(const plain_cell *cells, uint64_t count, const plain_cell *at) {
    uint64_t inner = 0, points = 0;
    if (is_inner(cells, count, at)) return PLANES_CELL_WHOLE;
    for (uint64_t i = 0; i < count; i++) {
        const plain_cell *other = &cells[i];
        if (other == at || other->part < 0 || !are_around(at, other) || !is_inner(cells, count, other)) continue;
        points += other->count;
        inner++;
    }
    const double share = inner > 0 ? fmin(1, (double)at->count * (double)inner / (double)points) : 0.5;
    return (uint64_t)(share * PLANES_CELL_WHOLE + 1e-6);
}

/* Parts of one plane, after those before; part of each cell then: its place in the list, -1: none. */
static uint64_t list_parts(plain_cell *cells, uint64_t count, const planes_footing *footing, planes_part *parts,
                           uint64_t found) {
    uint64_t *area = room_for(count, sizeof *area);
    int64_t *place = room_for(count, sizeof *place);
    for (uint64_t i = 0; i < count; i++) area[i] = area_of(cells, count, &cells[i]);
    for (uint64_t first = 0; first < count; first++) {
        planes_part part = {cells[0].plane, 0, 0, 0};
        for (uint64_t i = 0; i < count; i++) {
            if (cells[i].part != (int64_t)first) continue;
            part.points += cells[i].count;
            part.area += area[i];
        }
        place[first] = part.points >= footing->least ? (int64_t)found : -1;
        if (part.points >= footing->least) parts[found++] = part;
    }
    for (uint64_t i = 0; i < count; i++) cells[i].part = cells[i].part < 0 ? -1 : place[cells[i].part];
    free(area);
    free(place);
    return found;
}

static uint64_t find_parts(plain_cell *cells, uint64_t count, const uint64_t *beside, const planes_footing *footing,
                           planes_part *parts) {
    uint64_t found = 0;
    for (uint64_t first = 0, end; first < count; first = end) {
        const uint32_t plane = cells[first].plane;
        for (end = first; end < count && cells[end].plane == plane;) end++;
        find_cores(cells + first, end - first, beside[plane], footing->whole);
        spread_parts(cells + first, end - first);
        for (uint64_t i = first; i < end && footing->whole && !footing->parts; i++) cells[i].part = 0;
        if (!footing->whole && !footing->parts) drop_islands(cells + first, end - first);
        found = list_parts(cells + first, end - first, footing, parts, found);
    }
    return found;
}

/* Checks parts, then gives every third of them no label and the others one by their number; label as it is then. odds:
   of each place, out. */
static void check_cover(planes_run *run, const planes_axes *axes, uint32_t planes, const planes_footing *footing,
                        const placed *all, int32_t *label, uint8_t *odds, const char *what) {
    const uint32_t points = run->points->count;
    plain_cell *cells = room_for(points, sizeof *cells);
    planes_part *mine = room_for(points, sizeof *mine), *theirs;
    uint64_t *beside = room_for(planes, sizeof *beside), count;
    for (uint32_t i = 0; i < planes; i++) beside[i] = i % 3 == 0 ? 0 : mote_hash_pair(planes, i) % (4 * points);
    const uint64_t cell_count = count_cells(axes, all, label, points, cells);
    const uint64_t found = find_parts(cells, cell_count, beside, footing, mine);
    assert_int_equal(run->ops->cover(run->points, axes, beside, planes, footing, &theirs, &count), MOTE_OK);
    fail_unless(found == count, what, "number of parts", count);
    int32_t *new_label = room_for(count, sizeof *new_label);
    for (uint64_t i = 0; i < count; i++) {
        const bool same = theirs[i].plane == mine[i].plane && theirs[i].points == mine[i].points;
        fail_unless(same && theirs[i].area == mine[i].area, what, "part", i);
        fail_unless(i == 0 || theirs[i].number > theirs[i - 1].number, what, "order of parts", i);
        new_label[i] = i % 3 == 1 ? -1 : (int32_t)(i % planes);
    }
    assert_int_equal(run->ops->relabel(run->points, theirs, count, new_label), MOTE_OK);
    for (uint32_t i = 0; i < points; i++) {
        if (label[i] < 0) continue;
        const plain_cell at = cell_of(axes, label[i], &all[i]);
        const plain_cell *cell = bsearch(&at, cells, cell_count, sizeof at, compare_cells);
        assert_non_null(cell);
        label[i] = cell->part < 0 ? -1 : new_label[cell->part];
        odds[i] = planes_odds((uint32_t)cell->count, cell->strays);
    }
    mote_free(run->ctx, theirs);
    free(new_label);
    free(beside);
    free(cells);
    free(mine);
}

static void check_relabelled(planes_run *run, uint32_t planes, const placed *all, const int32_t *label,
                             const char *what) {
    plain_sums *mine = room_for(planes, sizeof *mine);
    planes_sums *theirs = room_for(planes, sizeof *theirs);
    int32_t *labels = room_for(run->points->cloud->count, sizeof *labels);
    assert_int_equal(run->ops->labels(run->points, labels), MOTE_OK);
    for (uint32_t i = 0; i < run->points->count; i++) {
        fail_unless(labels[all[i].index] == label[i], what, "relabel", i);
        if (label[i] >= 0) add_point(&mine[label[i]], &all[i], 1);
    }
    assert_int_equal(run->ops->sums_of_labels(run->points, NULL, planes, theirs), MOTE_OK);
    for (uint32_t i = 0; i < planes; i++) fail_unless(same_sums(&mine[i], &theirs[i]), what, "sums of labels", i);
    free(mine);
    free(theirs);
    free(labels);
}

/* Points of a label are not all near the plane of that number: weights from none to all. */
static void check_weighted(planes_run *run, const planes_plane *planes, uint32_t count, const placed *all,
                           const int32_t *label, const uint8_t *odds, const char *what) {
    plain_sums *mine = room_for(count, sizeof *mine);
    planes_sums *theirs = room_for(count, sizeof *theirs);
    planes_mixture *mixtures = room_for(count, sizeof *mixtures);
    for (uint32_t i = 0; i < count; i++) {
        const float deviation = planes[i].tolerance * (i % 3 == 0 ? 0.3f : 4.0f);
        mixtures[i] = (planes_mixture){planes[i], 1 / (128 * deviation * deviation), 0.01f * (float)(1 + i % 70)};
    }
    for (uint32_t i = 0; i < run->points->count; i++) {
        if (label[i] < 0) continue;
        const planes_mixture *m = &mixtures[label[i]];
        const float distance = planes_distance(&m->plane, all[i].q[0], all[i].q[1], all[i].q[2]);
        add_point(&mine[label[i]], &all[i], planes_weight(m, distance, odds[i]));
    }
    assert_int_equal(run->ops->sums_of_labels(run->points, mixtures, count, theirs), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) fail_unless(same_sums(&mine[i], &theirs[i]), what, "weighted sums", i);
    free(mixtures);
    free(mine);
    free(theirs);
}

/* The hull of what a backend lists is that of all points. */
static void check_outline(planes_run *run, const planes_axes *axes, uint32_t planes, const placed *all,
                          const int32_t *label, const char *what) {
    planes_corner *theirs, *one = room_for(run->points->count, sizeof *one), *two = NULL;
    uint64_t count;
    assert_int_equal(run->ops->outline(run->points, axes, planes, &theirs, &count), MOTE_OK);
    two = room_for(count, sizeof *two);
    for (uint32_t k = 0; k < planes; k++) {
        uint32_t a = 0, b = 0;
        for (uint32_t i = 0; i < run->points->count; i++) {
            if (label[i] != (int32_t)k) continue;
            one[a++] = planes_corner_of(&axes[k], k, all[i].q[0], all[i].q[1], all[i].q[2]);
        }
        for (uint64_t i = 0; i < count; i++) {
            if (theirs[i].plane == k) two[b++] = theirs[i];
        }
        a = planes_hull_of(one, a);
        b = planes_hull_of(two, b);
        fail_unless(a == b && memcmp(one, two, a * sizeof *one) == 0, what, "outline", k);
    }
    mote_free(run->ctx, theirs);
    free(one);
    free(two);
}

/* ---- all of it */

/* Wide cells make grids side by side; narrow ones are listed. Some ways for each cloud. */
static void check_footprints(planes_run *run, const planes_plane *planes, uint32_t count, const placed *all,
                             const char *what) {
    static const struct {
        planes_footing footing;
        double width; /* of a cell, of the radius */
    } ways[] = {{{false, false, 1}, 0.05}, {{false, true, 3}, 0.08}, {{true, false, 2}, 0.02},
                {{false, false, 9}, 0.15}, {{false, true, 1}, 0.2},  {{true, true, 1}, 1e-5}};
    planes_axes *axes = room_for(count, sizeof *axes);
    int32_t *label = room_for(run->points->count, sizeof *label);
    uint8_t *odds = room_for(run->points->count, sizeof *odds);
    for (uint32_t i = (count + run->points->count) % 3; i < sizeof ways / sizeof ways[0]; i += 3) {
        make_axes(run, planes, count, ways[i].width, axes);
        check_labels(run, planes, count, all, label, what);
        check_cover(run, axes, count, &ways[i].footing, all, label, odds, what);
        check_relabelled(run, count, all, label, what);
        check_weighted(run, planes, count, all, label, odds, what);
        check_outline(run, axes, count, all, label, what);
    }
    free(axes);
    free(label);
    free(odds);
}

static void check_planes(planes_run *run, const placed *all, const char *what) {
    static const uint32_t counts[] = {0, 1, 7, 40};
    for (uint32_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const uint32_t count = counts[c];
        planes_plane *planes = room_for(count, sizeof *planes);
        int32_t *label = room_for(run->points->count, sizeof *label);
        random_planes(run, c, all, planes, count);
        check_sums(run, planes, count, all, what);
        if (count == 0) check_labels(run, planes, count, all, label, what);
        if (count > 0) check_footprints(run, planes, count, all, what);
        free(planes);
        free(label);
    }
}

void planes_reference_check(mote_context *ctx, const mote_planes_ops *ops, const mote_cloud *cloud,
                            const mote_planes_params *params, const char *what) {
    planes_run run;
    planes_sample sample;
    memset(&run, 0, sizeof run);
    run.ctx = ctx;
    run.ops = ops;
    run.params = *params;
    assert_int_equal(ops->open(ctx, cloud, true, &run.points), MOTE_OK);
    if (run.points->finite > 0) {
        placed *all = room_for(cloud->count, sizeof *all);
        assert_int_equal(planes_frame_points(&run), MOTE_OK);
        check_place(&run, all, what);
        const double bin = run.scale.radius / 20.3;
        assert_int_equal(planes_table_make(ctx, params, run.scale.radius, bin, &run.table), MOTE_OK);
        if (!run.points->normals) run.table.cone = 0;
        check_table(&run, params->suppress_deg, what);
        check_votes(&run, NULL, all, what);
        check_winners(&run, 1 + (uint32_t)cloud->count % 3, 1 + run.points->count / 50, what);
        assert_int_equal(planes_sample_make(ctx, 1 + run.points->count / 3, &sample), MOTE_OK);
        assert_int_equal(ops->choose(run.points, sample.capacity, &sample), MOTE_OK);
        check_votes(&run, &sample, all, what);
        check_winners(&run, 2, 1, what);
        planes_refine_reference_check(&run, &sample, what);
        planes_sample_free(ctx, &sample);
        check_planes(&run, all, what);
        planes_table_free(ctx, &run.table);
        free(all);
    }
    ops->release(run.points);
}
