/* Planes by what is flat nearby: memory, and the steps in order. */
#include "planes/local/planes_local.h"

#include <math.h>
#include <string.h>

#define MIN_CELLS  4096u
#define CELL_SHARE 4u /* cells of a grid to points of the sample, at most */

/* ---- memory */

void planes_local_close(planes_local *s) {
    mote_context *ctx = s->ctx;
    void *const arrays[] = {s->thinned,       s->patches,     s->planes,    s->owner,      s->likelihood,
                            s->failures,      s->growths,     s->tally,     s->renumber,   s->near_point,
                            s->near_distance, s->near_u,      s->near_v,    s->near_cell,  s->cell_in,
                            s->component,     s->cell_beside, s->cell_mark, s->cell_stack, s->cell_sum};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) mote_free(ctx, arrays[i]);
    for (uint32_t l = 0; l < PLANES_LOCAL_LEVELS; l++) mote_free(ctx, s->levels[l].boxes);
}

static void reserve_points(planes_local *s, uint64_t points) {
    mote_context *ctx = s->ctx;
    s->failures = mote_alloc(ctx, points * sizeof *s->failures, "planes search");
    /* Eight at a time. */
    s->owner = mote_alloc(ctx, (points + 8) * sizeof *s->owner, "planes search");
    s->likelihood = mote_alloc(ctx, (points + 8) * sizeof *s->likelihood, "planes search");
    s->near_point = mote_alloc(ctx, (points + 8) * sizeof *s->near_point, "planes search");
    s->near_distance = mote_alloc(ctx, (points + 8) * sizeof *s->near_distance, "planes search");
    s->near_u = mote_alloc(ctx, (points + 8) * sizeof *s->near_u, "planes search");
    s->near_v = mote_alloc(ctx, (points + 8) * sizeof *s->near_v, "planes search");
    s->near_cell = mote_alloc(ctx, (points + 8) * sizeof *s->near_cell, "planes search");
    s->component = mote_alloc(ctx, (points + 8) * sizeof *s->component, "planes search");
}

static void reserve_cells(planes_local *s, uint64_t cells) {
    mote_context *ctx = s->ctx;
    s->cell_capacity = (uint32_t)cells;
    s->cell_in = mote_alloc(ctx, cells * sizeof *s->cell_in, "planes search");
    s->cell_beside = mote_alloc(ctx, 2 * cells * sizeof *s->cell_beside, "planes search");
    s->cell_mark = mote_alloc(ctx, cells * sizeof *s->cell_mark, "planes search");
    s->cell_stack = mote_alloc(ctx, cells * sizeof *s->cell_stack, "planes search");
    s->cell_sum = mote_alloc(ctx, cells * sizeof *s->cell_sum, "planes search");
}

static void reserve_planes(planes_local *s) {
    mote_context *ctx = s->ctx;
    s->planes = mote_alloc_zero(ctx, PLANES_LOCAL_MAX * sizeof *s->planes, "planes search");
    s->growths = mote_alloc(ctx, PLANES_LOCAL_MAX * sizeof *s->growths, "planes search");
    s->tally = mote_alloc(ctx, PLANES_LOCAL_MAX * sizeof *s->tally, "planes search");
    s->renumber = mote_alloc(ctx, PLANES_LOCAL_MAX * sizeof *s->renumber, "planes search");
}

/* ---- what is known of the sample */

static planes_local_box box_of(const planes_local_level *level, uint32_t first, uint32_t last) {
    const float *axes[3] = {level->x, level->y, level->z};
    planes_local_box box;
    for (int k = 0; k < 3; k++) {
        float low = axes[k][first], high = low;
        for (uint32_t i = first; i < last; i++) {
            const float at = axes[k][i];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        box.low[k] = low;
        box.high[k] = high;
    }
    return box;
}

static mote_status make_boxes(mote_context *ctx, planes_local_level *level) {
    const uint32_t points = level->count;
    level->block_count = (points + PLANES_LOCAL_BLOCK - 1) / PLANES_LOCAL_BLOCK;
    level->boxes = mote_alloc(ctx, level->block_count * sizeof *level->boxes, "planes search");
    if (level->boxes == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t b = 0; b < level->block_count; b++) {
        const uint32_t first = b * PLANES_LOCAL_BLOCK;
        const uint32_t last = points - first < PLANES_LOCAL_BLOCK ? points : first + PLANES_LOCAL_BLOCK;
        level->boxes[b] = box_of(level, first, last);
    }
    return MOTE_OK;
}

static uint32_t points_of_level(uint32_t points, uint32_t level) { return (points + (1u << level) - 1) >> level; }

/* Lanes read eight at once, also the last. */
static uint64_t storage_of_level(uint32_t points, uint32_t level) {
    return ((uint64_t)points_of_level(points, level) + 7) / 8 * 8;
}

/* Thins one axis of the level before it out. */
static const float *thin_axis(const float *axis, uint32_t count, float *to) {
    for (uint32_t i = 0; i < count; i++) to[i] = axis[2 * i];
    return to;
}

static mote_status make_levels(planes_local *s) {
    const planes_sample *sample = s->sample;
    uint64_t storage = 0;
    s->levels[0] = (planes_local_level){sample->count, 0, sample->x, sample->y, sample->z, NULL};
    for (uint32_t l = 1; l < PLANES_LOCAL_LEVELS; l++) storage += 3 * storage_of_level(sample->count, l);
    s->thinned = mote_alloc_zero(s->ctx, storage * sizeof *s->thinned, "planes search");
    if (s->thinned == NULL) return MOTE_ERROR_MEMORY;
    float *to = s->thinned;
    for (uint32_t l = 1; l < PLANES_LOCAL_LEVELS; l++) {
        const planes_local_level *from = &s->levels[l - 1];
        planes_local_level *level = &s->levels[l];
        const uint64_t size = storage_of_level(sample->count, l);
        level->count = points_of_level(sample->count, l);
        level->x = thin_axis(from->x, level->count, to);
        level->y = thin_axis(from->y, level->count, to + size);
        level->z = thin_axis(from->z, level->count, to + 2 * size);
        to += 3 * size;
    }
    for (uint32_t l = 0; l < PLANES_LOCAL_LEVELS; l++) MOTE_TRY(make_boxes(s->ctx, &s->levels[l]));
    return MOTE_OK;
}

/* A point of no plane is anywhere in the box of all. */
static double background_of(const planes_local_level *all) {
    const planes_local_box box = box_of(all, 0, all->count);
    double volume = 1;
    for (int k = 0; k < 3; k++) volume *= fmax((double)box.high[k] - (double)box.low[k], 4);
    return log(all->count / volume);
}

mote_status planes_local_open(planes_local *s, mote_context *ctx, const planes_sample *sample,
                              const planes_local_params *params) {
    const uint64_t points = sample->count;
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    s->sample = sample;
    s->params = *params;
    reserve_points(s, points);
    reserve_cells(s, CELL_SHARE * points + MIN_CELLS);
    reserve_planes(s);
    MOTE_TRY(mote_context_status(ctx));
    memset(s->owner, 0xFF, points * sizeof *s->owner);
    MOTE_TRY(make_levels(s));
    s->background = background_of(&s->levels[0]);
    return MOTE_OK;
}

/* ---- all of it */

mote_status planes_local_find(mote_context *ctx, const planes_sample *sample, const planes_local_params *params,
                              planes_local_plane **planes, uint32_t *count) {
    planes_local search;
    *planes = NULL;
    *count = 0;
    if (sample->count == 0) return MOTE_OK;
    mote_status status = planes_local_open(&search, ctx, sample, params);
    if (status == MOTE_OK) status = planes_find_patches(&search);
    if (status == MOTE_OK) status = planes_select(&search);
    if (status == MOTE_OK) {
        *planes = search.planes;
        *count = search.plane_count;
        search.planes = NULL;
    }
    planes_local_close(&search);
    return status;
}

/* ---- planes that were found in another way */

#define ONE_PIECE      0.8  /* of the points in the plane that are no strays */
#define WIDER_NOISE    1.35 /* times the noise that is claimed */
#define NARROWER_NOISE 0.5
#define PEAK_SHOULDER                                                                                                  \
    0.4                  /* density at 2.25 noises, of the middle's, at most: 0.11 of normal points, 1 of even ones    \
                          */
#define PEAK_CENTRAL 0.4 /* share of points within 0.67 noises, at least: 0.5, 0.22 */

void planes_begin_claim(const planes_local_claim *claim, planes_growth *g) {
    memset(g, 0, sizeof *g);
    memcpy(g->normal, claim->normal, sizeof g->normal);
    for (int k = 0; k < 3; k++) g->at[k] = claim->normal[k] * claim->offset;
    g->self = -1;
    g->reason = MOTE_PLANES_SCATTERED;
    g->noise = claim->noise;
    g->cell = claim->cell;
}

/* Whether a plane that was measured is the one that is claimed; in: points near it, of any component. */
static bool is_as_claimed(const planes_local *s, const planes_local_claim *claim, bool pieces, uint32_t in,
                          planes_growth *g) {
    const double noise = g->measured_noise, min_pieces = ONE_PIECE * in - g->strays * s->near_count;
    const bool thick = noise > WIDER_NOISE * claim->noise, thin = noise < NARROWER_NOISE * claim->noise;
    if (thick || thin) {
        g->reason = MOTE_PLANES_UNLIKE;
        g->value = noise;
        g->limit = (thick ? WIDER_NOISE : NARROWER_NOISE) * claim->noise;
    } else if (!pieces && g->pieces < min_pieces) {
        g->reason = MOTE_PLANES_SCATTERED;
        g->value = g->pieces;
        g->limit = min_pieces;
    } else if (!planes_growth_stands(s, g)) {
        return false;
    } else if (g->structure > planes_one_structure(g)) {
        g->reason = MOTE_PLANES_STRUCTURE;
        g->value = g->structure;
        g->limit = planes_one_structure(g);
    } else {
        return true;
    }
    return false;
}

static bool confirm(planes_local *s, const planes_local_claim *claim, bool pieces) {
    planes_growth g;
    uint32_t in = 0;
    planes_begin_claim(claim, &g);
    if (planes_measure(s, &g, &in) && is_as_claimed(s, claim, pieces, in, &g)) return true;
    planes_refuse_growth(s, &g, fmax(g.count, in));
    return false;
}

mote_status planes_local_confirm(mote_context *ctx, const planes_sample *sample, const planes_local_params *params,
                                 const planes_local_claim *claims, uint32_t count, bool pieces, bool *all_stand) {
    planes_local search;
    *all_stand = false;
    if (sample->count == 0) return MOTE_OK;
    const mote_status status = planes_local_open(&search, ctx, sample, params);
    *all_stand = status == MOTE_OK;
    for (uint32_t i = 0; i < count && status == MOTE_OK; i++) {
        *all_stand = confirm(&search, &claims[i], pieces) && *all_stand;
        if (!*all_stand && params->refusals == NULL) break;
    }
    planes_local_close(&search);
    return status;
}

/* Adds a plane to what is known of all. */
static void add_worth(planes_local *s, const planes_local_claim *claim, planes_local_worth *worth) {
    planes_growth g;
    uint32_t won;
    if (s->plane_count == PLANES_LOCAL_MAX) return;
    planes_begin_claim(claim, &g);
    if (!planes_lay(s, &g)) return;
    worth->points += g.count;
    if (planes_claim_points(s, &g, -1, &won) < PLANES_LOCAL_NATS) return;
    const double gain = planes_claim_points(s, &g, (int32_t)s->plane_count++, &won) - PLANES_LOCAL_NATS;
    worth->nats += gain;
    if (g.shoulders[1] > PEAK_SHOULDER || g.central < PEAK_CENTRAL) return;
    worth->peaked_nats += gain;
    worth->peaked_points += g.count;
}

mote_status planes_local_judge(mote_context *ctx, const planes_sample *sample, const planes_local_params *params,
                               const planes_local_claim *claims, uint32_t count, planes_local_worth *worth) {
    planes_local search;
    memset(worth, 0, sizeof *worth);
    if (sample->count == 0) return MOTE_OK;
    const mote_status status = planes_local_open(&search, ctx, sample, params);
    for (uint32_t i = 0; i < count && status == MOTE_OK; i++) add_worth(&search, &claims[i], worth);
    planes_local_close(&search);
    return status;
}
