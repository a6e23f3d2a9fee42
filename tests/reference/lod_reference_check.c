/* The library's answers against the reference, and against the rules alone. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/lod_reference.h"

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_signed;

#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            snprintf(why, REFERENCE_WHY_BYTES, __VA_ARGS__);                                                           \
            return false;                                                                                              \
        }                                                                                                              \
    } while (0)

static void *must(void *memory) {
    if (memory == NULL) abort();
    return memory;
}

/* ---- the lattice */

static const mote_column *axis_of(const mote_cloud *cloud, int k) {
    static const char *const names[3] = {"x", "y", "z"};
    return mote_cloud_find(cloud, names[k]);
}

static bool finite_point(const mote_cloud *cloud, uint64_t i) {
    bool finite = true;
    for (int k = 0; k < 3; k++) finite = finite && isfinite(mote_column_value(axis_of(cloud, k), i));
    return finite;
}

/* Where a point stands in the world by its lattice coordinate, against where the cloud says; half a step is allowed. */
static bool check_place(const mote_cloud *cloud, const mote_lattice *l, uint64_t i, int k, uint32_t p, char *why) {
    const mote_column *axis = axis_of(cloud, k);
    if (l->integer) {
        int64_t stored;
        mote_column_read(axis, i, 1, MOTE_INT64, &stored);
        const wide_signed steps = (wide_signed)stored - l->source_min[k];
        const wide_signed off = steps - ((wide_signed)p << l->shift);
        REQUIRE(steps >= 0 && 2 * off <= (wide_signed)1 << l->shift && 2 * off >= -((wide_signed)1 << l->shift),
                "point %" PRIu64 ", axis %d: lattice coordinate %" PRIu32 " of stored %" PRIi64, i, k, p, stored);
        if (l->shift > 0) return true;
    }
    const double world = mote_column_value(axis, i);
    const double placed = ((double)l->min[k] + p) * l->scale[k] + l->offset[k];
    const double allowed = (l->integer ? 0 : 0.5 * (1 + 1e-9) * l->scale[k]) + 2 * DBL_EPSILON * fabs(world) +
                           2 * DBL_EPSILON * fabs(l->offset[k]);
    REQUIRE(fabs(world - placed) <= allowed, "point %" PRIu64 ", axis %d: at %.17g, lattice says %.17g", i, k, world,
            placed);
    return true;
}

static bool check_points_on_lattice(const mote_cloud *cloud, const mote_lattice *l, uint64_t skipped, char *why) {
    const uint64_t all = mote_cloud_count(cloud);
    uint64_t left_out = 0;
    uint32_t low[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, high[3] = {0, 0, 0};
    uint32_t *xyz = must(calloc(3 * all + 1, sizeof *xyz));
    bool good = true;
    mote_order_coordinates(cloud, l, NULL, all, xyz);
    for (uint64_t i = 0; i < all && good; i++) {
        if (!finite_point(cloud, i)) {
            left_out++;
            continue;
        }
        for (int k = 0; k < 3 && good; k++) {
            const uint32_t p = xyz[3 * i + (uint64_t)k];
            low[k] = p < low[k] ? p : low[k];
            high[k] = p > high[k] ? p : high[k];
            good = check_place(cloud, l, i, k, p, why);
        }
    }
    free(xyz);
    if (!good) return false;
    REQUIRE(left_out == skipped, "%" PRIu64 " points are not finite, %" PRIu64 " skipped", left_out, skipped);
    for (int k = 0; k < 3 && left_out < all; k++) {
        REQUIRE(low[k] == 0 && high[k] == l->extent[k], "axis %d: coordinates %u..%u, extent %" PRIu64, k, low[k],
                high[k], l->extent[k]);
    }
    return true;
}

bool lod_reference_check_lattice(const mote_cloud *cloud, const mote_lattice *l, uint64_t skipped, char *why) {
    double longest = 0, widest = 0;
    for (int k = 0; k < 3; k++) {
        REQUIRE(l->scale[k] > 0 && isfinite(l->scale[k]) && isfinite(l->offset[k]), "axis %d: scale %g, offset %g", k,
                l->scale[k], l->offset[k]);
        REQUIRE(l->extent[k] < 1ull << 31 && l->side[k] >= 1 && l->side[k] >= l->extent[k],
                "axis %d: extent %" PRIu64 ", side %" PRIu64, k, l->extent[k], l->side[k]);
        longest = fmax(longest, (double)l->extent[k] * l->scale[k]);
        widest = fmax(widest, (double)l->extent[k]);
    }
    REQUIRE(isfinite(longest), "the cube's side is %g", longest);
    for (int k = 0; k < 3; k++) { /* a cube in the world: the fewest steps of the axis that are as long */
        const double side = (double)l->side[k] * l->scale[k], less = (double)(l->side[k] - 1) * l->scale[k];
        REQUIRE(side >= longest * (1 - 4 * DBL_EPSILON) && (less == 0 || less < longest * (1 - DBL_EPSILON)),
                "axis %d: side %.17g of a cube of %.17g", k, side, longest);
    }
    /* As fine as 31 bits allow where the source does not say how fine it is. */
    REQUIRE(l->shift == 0 || widest >= (1u << 30) - 2, "shift %u for an extent of %g", l->shift, widest);
    return check_points_on_lattice(cloud, l, skipped, why);
}

/* ---- node by node */

/* The last 63 bits. */
static uint64_t prefix_of(const reference_node *node) {
    uint64_t prefix = 0;
    for (uint32_t bit = node->level < MOTE_ORDER_BITS ? node->level : MOTE_ORDER_BITS; bit-- > 0;) {
        for (int k = 0; k < 3; k++) prefix = prefix << 1 | (node->cell[k] >> bit & 1);
    }
    return prefix;
}

static void name_of(const lod_reference *r, const reference_node *node, char *name) {
    name[0] = 'r';
    for (uint32_t l = 1; l <= node->level; l++) {
        uint32_t digit = 0;
        for (int k = 0; k < 3 && l <= r->finest; k++) {
            const uint32_t depth = node->level < r->finest ? node->level : r->finest;
            digit = digit << 1 | (node->cell[k] >> (depth - l) & 1);
        }
        name[l] = (char)('0' + digit);
    }
    name[node->level + 1] = '\0';
}

static bool compare_entry(const lod_reference *r, const mote_lod *lod, uint32_t n, char *why) {
    const mote_lod_node *node = &mote_lod_nodes(lod)[n];
    const reference_node *expected = &r->nodes[n];
    char name[512], expected_name[512];
    mote_lod_node_name(lod, n, name);
    name_of(r, expected, expected_name);
    REQUIRE(strcmp(name, expected_name) == 0, "node %u is named %.100s, should be %.100s", n, name, expected_name);
    REQUIRE(node->level == expected->level && node->prefix == prefix_of(expected),
            "node %.100s: level %u prefix %" PRIx64, name, node->level, node->prefix);
    REQUIRE(node->first == expected->first && node->total == expected->total,
            "node %.100s: %" PRIu64 " points from %" PRIu64 ", should be %" PRIu64 " from %" PRIu64, name, node->total,
            node->first, expected->total, expected->first);
    REQUIRE(node->child_mask == expected->child_mask && node->parent == expected->parent &&
                node->first_child == expected->first_child,
            "node %.100s: children %02x from %u, parent %u; should be %02x from %u, %u", name, node->child_mask,
            node->first_child, node->parent, expected->child_mask, expected->first_child, expected->parent);
    return true;
}

static bool compare_color(const reference_filter *f, uint64_t position, const uint16_t got[3], char *why) {
    const uint32_t index = f->r->points[position].index;
    uint16_t exact[3];
    switch (f->r->params.filter) {
    case MOTE_LOD_FILTER_NONE: memcpy(exact, f->r->points[position].rgb, sizeof exact); break;
    case MOTE_LOD_FILTER_CELL: reference_average(f, position, 0, exact); break;
    case MOTE_LOD_FILTER_NEIGHBORS: reference_average(f, position, 1, exact); break;
    case MOTE_LOD_FILTER_GAUSSIAN: {
        double average[3];
        const double doubt = reference_average_weighted(f, position, true, average);
        for (int k = 0; k < 3; k++) {
            const double off = fabs(got[k] - average[k]);
            REQUIRE(off <= 0.51 + 2.1 * doubt, "point %u, level %u: colour %u, gaussian average is %.3f ± %.3f", index,
                    f->level, got[k], average[k], doubt);
        }
        return true;
    }
    }
    REQUIRE(memcmp(exact, got, sizeof exact) == 0, "point %u, level %u: colour %u %u %u, should be %u %u %u", index,
            f->level, got[0], got[1], got[2], exact[0], exact[1], exact[2]);
    return true;
}

/* Scratch of a comparison. */
typedef struct buffers {
    uint32_t *indices, *positions;
    uint16_t *colors;
} buffers;

static bool compare_points(const lod_reference *r, const mote_lod *lod, uint32_t n, const buffers *b, char *why) {
    const mote_lod_node *node = &mote_lod_nodes(lod)[n];
    const uint64_t expected = lod_reference_stored(r, n, b->positions);
    char name[512];
    name_of(r, &r->nodes[n], name);
    REQUIRE(node->point_count == expected, "node %.100s holds %" PRIu64 " points, should hold %" PRIu64, name,
            node->point_count, expected);
    mote_lod_node_points(lod, n, b->indices, b->colors);
    for (uint64_t i = 0; i < expected; i++) {
        const uint32_t index = r->points[b->positions[i]].index;
        REQUIRE(b->indices[i] == index, "node %.100s, point %" PRIu64 ": %u, should be %u", name, i, b->indices[i],
                index);
    }
    return true;
}

/* A leaf's points keep their own colours; so do all without a filter. */
static bool compare_colors(const lod_reference *r, uint32_t n, const reference_filter *f, const buffers *b, char *why) {
    const uint64_t count = lod_reference_stored(r, n, b->positions);
    reference_filter own = *f;
    lod_reference unfiltered = *r;
    if (!r->nodes[n].samples) {
        unfiltered.params.filter = MOTE_LOD_FILTER_NONE;
        own.r = &unfiltered;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!compare_color(&own, b->positions[i], b->colors + 3 * i, why)) return false;
    }
    return true;
}

static bool compare_nodes(const lod_reference *r, const mote_lod *lod, const buffers *b, char *why) {
    reference_filter f = {NULL, UINT32_MAX, 0, NULL};
    bool good = true;
    for (uint32_t n = 0; n < r->node_count && good; n++) {
        if (r->nodes[n].level != f.level) {
            reference_filter_end(&f);
            reference_filter_begin(r, r->nodes[n].level, &f);
        }
        good = compare_entry(r, lod, n, why) && compare_points(r, lod, n, b, why) && compare_colors(r, n, &f, b, why);
    }
    reference_filter_end(&f);
    return good;
}

bool lod_reference_compare(const lod_reference *r, const mote_lod *lod, char *why) {
    REQUIRE(mote_lod_skipped(lod) == r->skipped, "%" PRIu64 " points skipped, should be %" PRIu64,
            mote_lod_skipped(lod), r->skipped);
    REQUIRE(mote_lod_node_count(lod) == r->node_count, "%u nodes, should be %u", mote_lod_node_count(lod),
            r->node_count);
    buffers b;
    b.indices = must(malloc((r->count + 1) * sizeof *b.indices));
    b.positions = must(malloc((r->count + 1) * sizeof *b.positions));
    b.colors = must(malloc((3 * r->count + 1) * sizeof *b.colors));
    const bool good = compare_nodes(r, lod, &b, why);
    free(b.indices);
    free(b.positions);
    free(b.colors);
    return good;
}

/* ---- the rules alone */

#define NOWHERE UINT32_MAX

/* What the library stored, by position in the reference's order: the coarsest level, and in how many nodes. */
typedef struct stored {
    const lod_reference *r;
    const mote_lod *lod;
    uint32_t *level, *times;
} stored;

/* In exact integers: cell ≤ p · 2^level / side ≤ cell + 1, the upper end only for the last cell. */
static bool in_box(const lod_reference *r, const char *name, const reference_point *point) {
    const uint32_t depth = (uint32_t)strlen(name) - 1, level = depth < r->finest ? depth : r->finest;
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        uint64_t cell = 0;
        for (uint32_t l = 1; l <= level; l++) cell = cell << 1 | ((uint32_t)(name[l] - '0') >> (2 - k) & 1);
        const wide scaled = (wide)point->p[k] << level, side = r->lattice.side[k];
        const bool last = cell + 1 == 1ull << level;
        inside = inside && scaled >= cell * side && (last ? scaled <= (cell + 1) * side : scaled < (cell + 1) * side);
    }
    return inside;
}

static bool note_stored(stored *s, const uint32_t *position_of, uint32_t *indices, char *why) {
    for (uint32_t n = 0; n < mote_lod_node_count(s->lod); n++) {
        const mote_lod_node *node = &mote_lod_nodes(s->lod)[n];
        char name[512];
        REQUIRE(node->point_count <= s->r->count, "node %u claims %" PRIu64 " points", n, node->point_count);
        mote_lod_node_points(s->lod, n, indices, NULL);
        mote_lod_node_name(s->lod, n, name);
        for (uint64_t i = 0; i < node->point_count; i++) {
            const uint32_t position = position_of[indices[i]];
            REQUIRE(position != NOWHERE, "node %u holds point %u, which is not finite", n, indices[i]);
            REQUIRE(i == 0 || position > position_of[indices[i - 1]], "node %u: not in order at %" PRIu64, n, i);
            REQUIRE(in_box(s->r, name, &s->r->points[position]), "node %u: point %u is outside its box", n, indices[i]);
            if (s->times[position]++ == 0) s->level[position] = node->level;
        }
    }
    return true;
}

static bool check_counts(const stored *s, char *why) {
    const bool additive = s->r->params.scheme == MOTE_LOD_ADDITIVE;
    for (uint64_t i = 0; i < s->r->count; i++) {
        REQUIRE(additive ? s->times[i] == 1 : s->times[i] >= 1, "point %u stands in %u nodes", s->r->points[i].index,
                s->times[i]);
    }
    return true;
}

static double distance(const lod_reference *r, uint64_t i, uint64_t j) {
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = ((double)r->points[i].p[k] - (double)r->points[j].p[k]) * r->lattice.scale[k];
    }
    return hypot(hypot(d[0], d[1]), d[2]);
}

/* Of one level: no two taken points too close, and no candidate left that had room.
   taken  scratch */
static bool check_distances(const stored *s, uint32_t level, const uint8_t *candidate, uint32_t *taken, char *why) {
    const lod_reference *r = s->r;
    const double spacing = lod_reference_spacing(r, level);
    uint64_t count = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        if (candidate[i] && s->level[i] <= level) taken[count++] = i;
    }
    for (uint64_t i = 0; i < r->count; i++) {
        bool has_room = true;
        if (!candidate[i]) continue;
        for (uint64_t j = 0; j < count; j++) {
            const double d = distance(r, i, taken[j]);
            REQUIRE(s->level[i] > level || i == taken[j] || d >= spacing * (1 - 1e-12),
                    "level %u: points %u and %u are %.17g apart, spacing %.17g", level, r->points[i].index,
                    r->points[taken[j]].index, d, spacing);
            has_room = has_room && d >= spacing * (1 + 1e-12);
        }
        REQUIRE(s->level[i] <= level || !has_room, "level %u: point %u was left out although it had room", level,
                r->points[i].index);
    }
    return true;
}

/* What a level could choose from: under its sampling nodes, what the child chose, or all that the child holds. */
static bool check_poisson(const stored *s, char *why) {
    const lod_reference *r = s->r;
    uint8_t *candidate = must(malloc(r->count + 1));
    uint32_t *taken = must(malloc((r->count + 1) * sizeof *taken));
    bool good = true;
    for (uint32_t level = 0; level + 1 < r->level_count && good; level++) {
        memset(candidate, 0, r->count);
        for (uint32_t n = 1; n < r->node_count; n++) {
            const reference_node *child = &r->nodes[n];
            if (child->level != level + 1 || !r->nodes[child->parent].samples) continue;
            for (uint64_t i = child->first; i < child->first + child->total; i++) {
                candidate[i] = child->samples ? s->level[i] <= level + 1 : i < child->first + child->share;
            }
        }
        good = check_distances(s, level, candidate, taken, why);
    }
    free(candidate);
    free(taken);
    return good;
}

bool lod_reference_check_rules(const lod_reference *r, const mote_lod *lod, char *why) {
    const uint64_t all = r->count + r->skipped;
    uint32_t *position_of = must(malloc((all + 1) * sizeof *position_of));
    uint32_t *indices = must(malloc((all + 1) * sizeof *indices));
    stored s = {r, lod, must(calloc(r->count + 1, sizeof *s.level)), must(calloc(r->count + 1, sizeof *s.times))};
    memset(position_of, 0xFF, (all + 1) * sizeof *position_of);
    for (uint64_t i = 0; i < r->count; i++) position_of[r->points[i].index] = (uint32_t)i;
    bool good = note_stored(&s, position_of, indices, why) && check_counts(&s, why);
    if (good && r->params.sampling == MOTE_LOD_POISSON) good = check_poisson(&s, why);
    free(s.level);
    free(s.times);
    free(indices);
    free(position_of);
    return good;
}
