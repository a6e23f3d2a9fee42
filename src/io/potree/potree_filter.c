/* Which nodes of a Potree data set a reader needs: of one level, down to a spacing, in a box. */
#include <float.h>
#include <math.h>
#include <mote_have.h>

#include "io/potree/potree.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define PLACED_LEVELS 21u /* deeper nodes have the place of the one of this level: chains of equal points have none */
#define LEVELS_MAX    255u

typedef struct node_choice {
    const potree_layout *layout;
    const mote_read_params *params;
    const mote_box *bounds; /* NULL: wherever */
    double low[3], side[3]; /* of the root */
    double margin[3];
    uint32_t last;        /* level */
    uint32_t (*cells)[3]; /* [node_count] */
} node_choice;

static bool get_corner(const json_t *box, const char *key, double out[3]) {
    const json_t *corner = json_object_get(box, key);
    bool finite = json_is_array(corner) && json_array_size(corner) == 3;
    for (uint32_t k = 0; k < 3 && finite; k++) {
        out[k] = json_number_value(json_array_get(corner, k));
        finite = json_is_number(json_array_get(corner, k)) && isfinite(out[k]);
    }
    return finite;
}

/* Where the cube is not usable, nodes cannot be told apart by place; then points alone are tested. */
static void place_root(node_choice *c) {
    const json_t *box = json_object_get(c->layout->json, "boundingBox");
    double high[3];
    c->bounds = NULL;
    if (c->params->bounds == NULL || !get_corner(box, "min", c->low) || !get_corner(box, "max", high)) return;
    for (int k = 0; k < 3; k++) {
        c->side[k] = high[k] - c->low[k];
        if (!(c->side[k] >= 0) || !isfinite(c->side[k])) return;
        /* Points are rounded to their steps after they got their node. */
        c->margin[k] = fabs(c->layout->scale[k]) + 64 * DBL_EPSILON * (fabs(c->low[k]) + fabs(high[k]));
    }
    c->bounds = c->params->bounds;
}

static mote_status find_last_level(node_choice *c) {
    const json_t *spacing = json_object_get(c->layout->json, "spacing");
    const double coarsest = json_is_number(spacing) ? json_number_value(spacing) : 0;
    c->last = UINT32_MAX;
    if (!(c->params->resolution > 0)) return MOTE_OK;
    if (!isfinite(coarsest) || coarsest <= 0) {
        return mote_malformed(c->layout->ctx, &c->layout->files->metadata, 0,
                              "\"spacing\" is no number above 0: levels cannot be chosen by resolution");
    }
    for (c->last = 0; c->last < LEVELS_MAX && ldexp(coarsest, -(int)c->last) > c->params->resolution; c->last++) {}
    return MOTE_OK;
}

static bool meets(const node_choice *c, uint32_t level, const uint32_t cell[3]) {
    const uint32_t placed = level < PLACED_LEVELS ? level : PLACED_LEVELS;
    if (c->bounds == NULL) return true;
    for (int k = 0; k < 3; k++) {
        const double side = ldexp(c->side[k], -(int)placed), low = c->low[k] + cell[k] * side;
        if (low + side + c->margin[k] < c->bounds->min[k] || low - c->margin[k] > c->bounds->max[k]) return false;
    }
    return true;
}

/* Of one level, or all down to the last (additive), or what replaces the coarser ones (replacing): the leaves, and the
   nodes of the last level. */
static bool is_wanted(const node_choice *c, const potree_node *node) {
    if (c->params->level >= 0) return node->level == (uint32_t)c->params->level;
    if (node->level > c->last) return false;
    return !c->layout->replacing || node->child_mask == 0 || node->level == c->last;
}

static mote_status choose(node_choice *c, potree_node *nodes, uint32_t *count) {
    uint64_t stored = 0;
    uint32_t chosen = 0;
    c->cells = mote_alloc_zero(c->layout->ctx, *count * sizeof *c->cells, "hierarchy");
    if (c->cells == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t n = 0; n < *count; n++) {
        stored += nodes[n].points;
        /* Children are neighbours, in the order of the bits of the mask: bit 4x + 2y + z. */
        uint32_t child = nodes[n].first_child;
        const bool is_placed = nodes[n].level < PLACED_LEVELS;
        for (uint32_t mask = nodes[n].child_mask; mask != 0; mask &= mask - 1, child++) {
            const uint32_t octant = (uint32_t)__builtin_ctz(mask);
            for (uint32_t k = 0; k < 3; k++) {
                c->cells[child][k] = is_placed ? c->cells[n][k] << 1 | (octant >> (2 - k) & 1) : c->cells[n][k];
            }
        }
        if (is_wanted(c, &nodes[n]) && meets(c, nodes[n].level, c->cells[n])) nodes[chosen++] = nodes[n];
    }
    mote_free(c->layout->ctx, c->cells);
    *count = chosen;
    if (c->layout->points != UINT64_MAX && c->layout->points != stored) {
        mote_warn(c->layout->ctx, "%s: announces %llu points, its nodes hold %llu", c->layout->files->metadata.path,
                  (unsigned long long)c->layout->points, (unsigned long long)stored);
    }
    return MOTE_OK;
}

mote_status potree_filter(const potree_layout *layout, const mote_read_params *params, potree_node *nodes,
                          uint32_t *count) {
    node_choice c = {.layout = layout, .params = params};
    const uint32_t deepest = nodes[*count - 1].level;
    if (params->level >= 0 && (uint32_t)params->level > deepest) {
        return mote_fail(layout->ctx, MOTE_ERROR_ARGUMENT, "%s: has levels 0..%u, not %d", layout->files->metadata.path,
                         deepest, params->level);
    }
    place_root(&c);
    MOTE_TRY(find_last_level(&c));
    return choose(&c, nodes, count);
}
#else

mote_status potree_filter(const potree_layout *layout, const mote_read_params *params, potree_node *nodes,
                          uint32_t *count) {
    (void)params, (void)nodes, (void)count;
    return mote_fail(layout->ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_JANSSON);
}
#endif
