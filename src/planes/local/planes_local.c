/* Planes by what is flat nearby: memory, and the steps in order (planes_local_find). Of docs/planes.md
   planes_find_patches does the windows, and planes_select (planes_selection.c) growth, test, bodies and selection;
   planes_locally.c gives it samples, and the planes of the vote as candidates. */
#include "planes/local/planes_local.h"

#include <math.h>
#include <string.h>

#define MIN_CELLS    4096u
#define CELL_SHARE   4u    /* cells of a grid to points of the sample, at most */
#define MAX_WORKERS  16u   /* the memory of each is used only as far as its growths are large */
#define MIN_SHARED   2048u /* points of a sample: in fewer a growth takes less time than to wake threads */
#define LIMIT_SHARE  4u    /* of the memory that a limit leaves, one part in these is for workers */
#define SCRATCH_LINE 64u   /* bytes: arrays of a scratch share no cache line */

/* ---- scratch */

/* Where the next array of a scratch begins. memory: NULL if only sizes are asked for */
static void *lay_array(uint8_t *memory, uint64_t bytes, uint64_t *at) {
    void *array = memory != NULL ? memory + *at : NULL;
    *at += (bytes + SCRATCH_LINE - 1) / SCRATCH_LINE * SCRATCH_LINE;
    return array;
}

/* Lays the arrays of a scratch out in memory; returns how many bytes they take. */
static uint64_t lay_scratch(planes_local *s, uint8_t *memory) {
    const uint64_t points = (uint64_t)s->sample->count + 8; /* eight at a time */
    const uint64_t cells = CELL_SHARE * (uint64_t)s->sample->count + MIN_CELLS;
    uint64_t bytes = 0;
    s->near_point = lay_array(memory, points * sizeof *s->near_point, &bytes);
    s->near_distance = lay_array(memory, points * sizeof *s->near_distance, &bytes);
    s->near_u = lay_array(memory, points * sizeof *s->near_u, &bytes);
    s->near_v = lay_array(memory, points * sizeof *s->near_v, &bytes);
    s->near_cell = lay_array(memory, points * sizeof *s->near_cell, &bytes);
    s->component = lay_array(memory, points * sizeof *s->component, &bytes);
    s->cell_in = lay_array(memory, 3 * cells * sizeof *s->cell_in, &bytes);
    s->cell_mark = lay_array(memory, cells * sizeof *s->cell_mark, &bytes);
    s->cell_stack = lay_array(memory, cells * sizeof *s->cell_stack, &bytes);
    s->cell_sum = lay_array(memory, cells * sizeof *s->cell_sum, &bytes);
    s->cell_capacity = (uint32_t)cells;
    return bytes;
}

static mote_status reserve_scratch(planes_local *s) {
    s->scratch = mote_alloc(s->ctx, lay_scratch(s, NULL), "planes search");
    if (s->scratch == NULL) return MOTE_ERROR_MEMORY;
    lay_scratch(s, s->scratch);
    return MOTE_OK;
}

/* ---- workers */

static uint32_t count_workers(const planes_local *s) {
    const uint64_t limit_bytes = s->ctx->params.memory_limit_bytes, taken_bytes = s->ctx->memory_bytes;
    uint64_t workers = (uint64_t)s->ctx->threads < MAX_WORKERS ? (uint64_t)s->ctx->threads : MAX_WORKERS;
    if (s->sample->count < MIN_SHARED) return 1;
    if (limit_bytes == 0) return (uint32_t)workers;
    planes_local measured = *s;
    const uint64_t free_bytes = limit_bytes > taken_bytes ? (limit_bytes - taken_bytes) / LIMIT_SHARE : 0;
    const uint64_t fit = 1 + free_bytes / lay_scratch(&measured, NULL);
    return (uint32_t)(workers < fit ? workers : fit);
}

static mote_status open_workers(planes_local *s) {
    const uint32_t count = count_workers(s);
    if (count < 2) return MOTE_OK;
    s->workers = mote_alloc(s->ctx, (count - 1) * sizeof *s->workers, "planes search");
    if (s->workers == NULL) return MOTE_ERROR_MEMORY;
    while (s->worker_count < count) {
        planes_local *worker = &s->workers[s->worker_count - 1];
        *worker = *s;
        MOTE_TRY(reserve_scratch(worker));
        s->worker_count++;
    }
    return MOTE_OK;
}

/* ---- memory */

static void close_search(planes_local *s) {
    mote_context *ctx = s->ctx;
    void *const arrays[] = {s->thinned,  s->patches, s->planes, s->owner,    s->likelihood,
                            s->failures, s->growing, s->tally,  s->renumber, s->scratch};
    planes_drop_facing(s);
    planes_free_owners(ctx, &s->candidates);
    for (uint32_t i = 0; i + 1 < s->worker_count; i++) mote_free(ctx, s->workers[i].scratch);
    mote_free(ctx, s->workers);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) mote_free(ctx, arrays[i]);
    for (uint32_t l = 0; l < PLANES_LOCAL_LEVELS; l++) mote_free(ctx, s->levels[l].boxes);
}

/* ---- what is known of the sample */

/* Lays count boxes out in memory; returns what is behind them. */
static float *lay_boxes(planes_local_boxes *boxes, uint32_t count, float *memory) {
    const uint64_t size = ((uint64_t)count + PLANES_LOCAL_LANES - 1) / PLANES_LOCAL_LANES * PLANES_LOCAL_LANES;
    boxes->count = count;
    for (int k = 0; k < 3; k++) {
        boxes->low[k] = memory + (uint64_t)k * size;
        boxes->high[k] = memory + (uint64_t)(3 + k) * size;
    }
    return memory + 6 * size;
}

static uint32_t min_count(uint32_t a, uint32_t b) { return a < b ? a : b; }

static mote_status make_boxes(mote_context *ctx, planes_local_level *level) {
    const float *axes[3] = {level->x, level->y, level->z};
    planes_local_boxes *blocks = &level->blocks, *groups = &level->groups;
    const uint32_t block_count = (level->count + PLANES_LOCAL_BLOCK - 1) / PLANES_LOCAL_BLOCK;
    const uint32_t group_count = (block_count + PLANES_LOCAL_LANES - 1) / PLANES_LOCAL_LANES;
    const uint64_t boxes = (uint64_t)block_count + group_count + 2 * PLANES_LOCAL_LANES;
    float unused;
    level->boxes = mote_alloc_zero(ctx, 6 * boxes * sizeof *level->boxes, "planes search");
    if (level->boxes == NULL) return MOTE_ERROR_MEMORY;
    lay_boxes(groups, group_count, lay_boxes(blocks, block_count, level->boxes));
    for (int k = 0; k < 3; k++) {
        for (uint32_t b = 0; b < block_count; b++) {
            const uint32_t first = b * PLANES_LOCAL_BLOCK, points = min_count(level->count - first, PLANES_LOCAL_BLOCK);
            planes_find_ends(axes[k] + first, points, &blocks->low[k][b], &blocks->high[k][b]);
        }
        for (uint32_t g = 0; g < group_count; g++) {
            const uint32_t first = g * PLANES_LOCAL_LANES, some = min_count(block_count - first, PLANES_LOCAL_LANES);
            planes_find_ends(blocks->low[k] + first, some, &groups->low[k][g], &unused);
            planes_find_ends(blocks->high[k] + first, some, &unused, &groups->high[k][g]);
        }
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
    s->levels[0].count = sample->count;
    s->levels[0].x = sample->x;
    s->levels[0].y = sample->y;
    s->levels[0].z = sample->z;
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
    const planes_local_boxes *groups = &all->groups;
    double volume = 1;
    for (int k = 0; k < 3; k++) {
        float low, high, unused;
        planes_find_ends(groups->low[k], groups->count, &low, &unused);
        planes_find_ends(groups->high[k], groups->count, &unused, &high);
        volume *= fmax((double)high - (double)low, 4);
    }
    return log(all->count / volume);
}

static mote_status open_search(planes_local *s, mote_context *ctx, const planes_sample *sample,
                               const planes_local_params *params) {
    const uint64_t points = sample->count;
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    s->sample = sample;
    s->params = *params;
    s->worker_count = 1;
    s->failures = mote_alloc(ctx, points * sizeof *s->failures, "planes search");
    /* Eight at a time. */
    s->owner = mote_alloc(ctx, (points + 8) * sizeof *s->owner, "planes search");
    s->likelihood = mote_alloc(ctx, (points + 8) * sizeof *s->likelihood, "planes search");
    s->planes = mote_alloc_zero(ctx, PLANES_LOCAL_MAX * sizeof *s->planes, "planes search");
    s->growing = mote_alloc(ctx, PLANES_LOCAL_MAX * sizeof *s->growing, "planes search");
    s->tally = mote_alloc(ctx, PLANES_LOCAL_MAX * sizeof *s->tally, "planes search");
    s->renumber = mote_alloc(ctx, PLANES_LOCAL_MAX * sizeof *s->renumber, "planes search");
    MOTE_TRY(mote_context_status(ctx));
    MOTE_TRY(reserve_scratch(s));
    memset(s->owner, 0xFF, points * sizeof *s->owner);
    MOTE_TRY(make_levels(s));
    s->background = background_of(&s->levels[0]);
    return MOTE_OK;
}

/* ---- all of it */

mote_status planes_local_find(mote_context *ctx, const planes_sample *sample, const planes_local_params *params,
                              planes_local_found *found) {
    planes_local search;
    memset(found, 0, sizeof *found);
    if (sample->count == 0) return MOTE_OK;
    mote_status status = open_search(&search, ctx, sample, params);
    if (status == MOTE_OK) status = planes_find_patches(&search);
    if (status == MOTE_OK) status = open_workers(&search);
    if (status == MOTE_OK) status = planes_select(&search);
    if (status == MOTE_OK) {
        found->planes = search.planes;
        found->count = search.plane_count;
        search.planes = NULL;
    }
    close_search(&search);
    return status;
}

/* ---- planes that were found in another way */

#define ONE_PIECE      0.8  /* of the points in the plane that are no strays */
#define WIDER_NOISE    1.35 /* times the noise that is claimed */
#define NARROWER_NOISE 0.5

/* Whether a plane that was measured is the one that is claimed; in: points near it, of any component. */
static bool is_as_claimed(const planes_local *s, const planes_local_claim *claim, bool pieces, uint32_t in,
                          planes_growth *g) {
    const double noise = g->measured_noise, min_pieces = ONE_PIECE * in - g->strays * s->near_count;
    const bool thick = noise > WIDER_NOISE * claim->noise, thin = noise < NARROWER_NOISE * claim->noise;
    if (thick || thin) {
        return growth_refuse(g, MOTE_PLANES_UNLIKE, noise, (thick ? WIDER_NOISE : NARROWER_NOISE) * claim->noise);
    }
    if (!pieces && g->pieces < min_pieces) return growth_refuse(g, MOTE_PLANES_SCATTERED, g->pieces, min_pieces);
    if (!planes_growth_stands(s, g)) return false;
    const double structure = planes_one_structure(g);
    return g->structure <= structure || growth_refuse(g, MOTE_PLANES_STRUCTURE, g->structure, structure);
}

/* Side by side: none takes points. The number of each is that of the points near it, of any component. */
static void confirm_all(planes_local *s, const planes_local_claim *claims, uint32_t count, bool pieces,
                        planes_growing *confirming) {
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)s->worker_count)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        planes_growing *one = &confirming[i];
        planes_local *mine = planes_worker(s);
        if (mote_stop(s->ctx)) continue;
        uint32_t in = 0;
        planes_begin_claim(&claims[i], &one->growth);
        one->stands =
            planes_measure(mine, &one->growth, &in) && is_as_claimed(mine, &claims[i], pieces, in, &one->growth);
        one->number = in;
    }
}

mote_status planes_local_confirm(mote_context *ctx, const planes_sample *sample, const planes_local_params *params,
                                 planes_local_claim *claims, uint32_t count, bool pieces, bool *all_stand) {
    planes_local search;
    *all_stand = false;
    if (sample->count == 0) return MOTE_OK;
    mote_status status = open_search(&search, ctx, sample, params);
    planes_growing *confirming = mote_alloc(ctx, count * sizeof *confirming, "planes search");
    if (status == MOTE_OK && confirming == NULL) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = open_workers(&search);
    if (status == MOTE_OK) {
        confirm_all(&search, claims, count, pieces, confirming);
        status = mote_stopped(ctx);
    }
    *all_stand = status == MOTE_OK;
    for (uint32_t i = 0; i < count && status == MOTE_OK; i++) {
        const planes_growth *g = &confirming[i].growth;
        claims[i].stands = confirming[i].stands;
        if (claims[i].stands) continue;
        planes_refuse_growth(&search, g, fmax(g->count, (double)confirming[i].number));
        *all_stand = false;
    }
    mote_free(ctx, confirming);
    close_search(&search);
    return status;
}
