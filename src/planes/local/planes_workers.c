/* Growths side by side: threads look at the same points and owners, each with a scratch of its own. None takes points
   meanwhile, so each growth becomes what it would become alone, whichever thread has it. */
#include <string.h>

#include "planes/local/planes_local.h"

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

mote_status planes_reserve_scratch(planes_local *s) {
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

mote_status planes_open_workers(planes_local *s) {
    const uint32_t count = count_workers(s);
    if (count < 2) return MOTE_OK;
    s->workers = mote_alloc(s->ctx, (count - 1) * sizeof *s->workers, "planes search");
    if (s->workers == NULL) return MOTE_ERROR_MEMORY;
    while (s->worker_count < count) {
        planes_local *worker = &s->workers[s->worker_count - 1];
        *worker = *s;
        MOTE_TRY(planes_reserve_scratch(worker));
        s->worker_count++;
    }
    return MOTE_OK;
}

void planes_close_workers(planes_local *s) {
    for (uint32_t i = 0; i + 1 < s->worker_count; i++) mote_free(s->ctx, s->workers[i].scratch);
    mote_free(s->ctx, s->workers);
}

planes_local *planes_worker(planes_local *s) {
    const int thread = mote_thread_number();
    return thread == 0 ? s : &s->workers[thread - 1];
}

/* A plane that a body was split into is known better than its points tell: where it fails for what lies to one side, as
   doors do that are set back a little, it is grown once more without that. */
static void grow_one(planes_local *s, planes_growing *one) {
    planes_patch patch = one->patch;
    planes_growth g;
    one->stands = planes_grow(s, &patch, one->max_noise, one->max_cell, one->self, &one->growth) &&
                  planes_growth_stands(s, &one->growth);
    if (one->stands || !patch.turned || patch.centred || one->growth.reason != MOTE_PLANES_STRUCTURE) return;
    patch.centred = true;
    if (!planes_grow(s, &patch, one->max_noise, one->max_cell, one->self, &g) || !planes_growth_stands(s, &g)) return;
    one->growth = g;
    one->stands = true;
}

void planes_grow_all(planes_local *s, planes_growing *growing, uint32_t count) {
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)s->worker_count)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        growing[i].stands = false;
        if (!mote_stop(s->ctx)) grow_one(planes_worker(s), &growing[i]);
    }
}
