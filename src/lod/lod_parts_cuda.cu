/* An octree of more points than the device holds: each part is sorted and played there, the rest is the host's. */
#include "device/cuda/cuda_primitives.h"
#include "device/team.h"
#include "lod/lod_cpu.h"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"
#include "lod/lod_parts.h"

/* Memory of the device that a point of a part takes: its pair twice, the sort's scratch, its level, and whether it is
   open. */
#define PART_BYTES  40u
#define SPARE_BYTES (1u << 20)
#define PARTS_EACH  4u /* of several devices, so that one with larger parts is not waited for long */
#define SORT_STAGE  "sort and sampling"

typedef struct part_memory {
    cuda_pairs64 pairs;
    uint8_t *level;
} part_memory;

/* The device of a worker: where the octree's own context is alone at work, the octree's. */
static mote_device *device_of(const mote_lod *lod, mote_context *worker) {
    return worker == lod->ctx ? lod->device : &worker->devices[1];
}

/* What devices that share the parts work on; each part writes to places of its own. */
typedef struct parts_work {
    mote_lod *lod;
    const lod_parts *parts;
    lod_cuda_unresolved *open; /* [part_count] */
    uint64_t *weights;         /* [part_count] */
} parts_work;

/* Finds at which level of cells each point of the part loses. */
static mote_status select_part(mote_device *gpu, const parts_work *work, uint32_t p, const part_memory *m) {
    mote_lod *lod = work->lod;
    const lod_part *part = &work->parts->parts[p];
    lod_cuda_selection selection;
    memset(&selection, 0, sizeof selection);
    selection.codes = m->pairs.keys;
    selection.order = m->pairs.values;
    selection.level = m->level;
    selection.count = part->count;
    selection.seed = lod->params.seed;
    selection.code_before = part->first_code > 0 ? part->first_code - 1 : UINT64_MAX;
    selection.code_after = part->end_code < 1ull << 3 * MOTE_ORDER_BITS ? part->end_code : UINT64_MAX;
    selection.grid_bits = lod_cell_level(lod, 0);
    selection.random = lod->params.sampling != MOTE_LOD_FIRST;
    MOTE_TRY(lod_cuda_select(gpu, &selection, &work->open[p]));
    return cuda_download(gpu, lod->level + part->first, m->level, part->count);
}

static mote_status build_part(mote_device *gpu, const parts_work *work, uint32_t p, part_memory *m) {
    mote_lod *lod = work->lod;
    const lod_parts *parts = work->parts;
    const lod_part *part = &parts->parts[p];
    if (lod_part_is_duplicates(part)) {
        lod_parts_duplicates(lod, part, parts);
        work->open[p].count = 1;
        work->open[p].positions[0] = 0;
        work->open[p].lost[0] = MOTE_LOD_NEVER;
        return MOTE_OK;
    }
    /* 1: memory for the part; whoever calls frees it. */
    m->pairs.keys = (uint64_t *)cuda_alloc(gpu, part->count * sizeof(uint64_t), "codes");
    m->pairs.other_keys = (uint64_t *)cuda_alloc(gpu, part->count * sizeof(uint64_t), "codes");
    m->pairs.values = (uint32_t *)cuda_alloc(gpu, part->count * sizeof(uint32_t), "order");
    m->pairs.other_values = (uint32_t *)cuda_alloc(gpu, part->count * sizeof(uint32_t), "order");
    m->level = (uint8_t *)cuda_alloc(gpu, part->count, "levels");
    const bool all = m->pairs.keys != NULL && m->pairs.other_keys != NULL && m->pairs.values != NULL &&
                     m->pairs.other_values != NULL && m->level != NULL;
    if (!all) return MOTE_ERROR_MEMORY;
    /* 2: its points in order. */
    MOTE_TRY(cuda_upload(gpu, m->pairs.keys, parts->codes + part->first, part->count * sizeof(uint64_t)));
    MOTE_TRY(cuda_upload(gpu, m->pairs.values, parts->indices + part->first, part->count * sizeof(uint32_t)));
    MOTE_TRY(cuda_sort64(gpu, &m->pairs, part->count, 0, 3 * MOTE_ORDER_BITS));
    MOTE_TRY(cuda_download(gpu, lod->codes + part->first, m->pairs.keys, part->count * sizeof(uint64_t)));
    MOTE_TRY(cuda_download(gpu, lod->order + part->first, m->pairs.values, part->count * sizeof(uint32_t)));
    /* 3: at which level each of them loses. */
    return lod->params.sampling == MOTE_LOD_POISSON ? MOTE_OK : select_part(gpu, work, p, m);
}

static mote_status run_part(void *user, mote_context *worker, uint32_t p) {
    const parts_work *work = (const parts_work *)user;
    mote_device *gpu = device_of(work->lod, worker);
    part_memory m;
    memset(&m, 0, sizeof m);
    if (worker != work->lod->ctx) mote_stage(worker, SORT_STAGE);
    const mote_status status = work->parts->parts[p].count > 0 ? build_part(gpu, work, p, &m) : MOTE_OK;
    void *const owned[] = {m.pairs.keys, m.pairs.other_keys, m.pairs.values, m.pairs.other_values, m.level};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuda_free(gpu, owned[i]);
    return status == MOTE_OK ? mote_progress(worker, 1, "sorting in parts") : status;
}

/* The parts on all devices; then what each left open, in their order. */
static mote_status run_parts(const mote_team *team, parts_work *work, lod_parts *parts) {
    mote_context *ctx = work->lod->ctx;
    team_work all;
    memset(&all, 0, sizeof all);
    work->parts = parts;
    work->open = (lod_cuda_unresolved *)mote_alloc_zero(ctx, parts->part_count * sizeof *work->open, "parts");
    work->weights = (uint64_t *)mote_alloc(ctx, parts->part_count * sizeof *work->weights, "parts");
    if (work->open == NULL || work->weights == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t p = 0; p < parts->part_count; p++) work->weights[p] = parts->parts[p].count;
    all.run = run_part;
    all.user = work;
    all.item_count = parts->part_count;
    all.weights = work->weights;
    const mote_progress_span whole = mote_progress_enter(ctx, 0.3, 0.7);
    const mote_status status = mote_team_run(team, &all);
    mote_progress_leave(ctx, whole);
    MOTE_TRY(status);
    for (uint32_t p = 0; p < parts->part_count; p++) {
        const lod_cuda_unresolved *open = &work->open[p];
        for (uint32_t i = 0; i < open->count; i++) {
            MOTE_TRY(lod_parts_open(work->lod, parts, parts->parts[p].first + open->positions[i], open->lost[i]));
        }
    }
    return MOTE_OK;
}

static mote_status build_all(mote_lod *lod, const mote_team *team, lod_parts *parts) {
    mote_context *ctx = lod->ctx;
    uint64_t available = UINT64_MAX;
    for (uint32_t w = 0; w < team->count; w++) {
        const uint64_t own = cuda_available(device_of(lod, team->workers[w]));
        available = own < available ? own : available;
    }
    const uint64_t points = available > SPARE_BYTES ? (available - SPARE_BYTES) / PART_BYTES : 0;
    MOTE_TRY(lod_parts_make(lod, points, team->count > 1 ? PARTS_EACH * team->count : 1, parts));
    lod->order = (uint32_t *)mote_alloc(ctx, lod->count * sizeof *lod->order, "order");
    lod->level = (uint8_t *)mote_alloc(ctx, lod->count, "levels");
    if (lod->order == NULL || lod->level == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(ctx, SORT_STAGE);
    parts_work work;
    memset(&work, 0, sizeof work);
    work.lod = lod;
    const mote_status status = run_parts(team, &work, parts);
    mote_free(ctx, work.open);
    mote_free(ctx, work.weights);
    return status == MOTE_OK ? lod_parts_finish(lod, parts) : status;
}

mote_status lod_cuda_build_parts(mote_lod *lod) {
    mote_context *ctx = lod->ctx;
    mote_team team;
    lod_parts parts;
    memset(&parts, 0, sizeof parts);
    mote_status status = mote_team_begin(ctx, mote_team_default(ctx), ctx->params.memory_limit_bytes, &team);
    if (status == MOTE_OK) status = build_all(lod, &team, &parts);
    lod_parts_free(ctx, &parts);
    mote_team_end(&team);
    if (status == MOTE_OK && lod->params.filter != MOTE_LOD_FILTER_NONE && lod->rgb[0] != NULL) {
        if (lod->whole == NULL) {
            mote_warn(ctx, "the memory of the GPU does not hold all points: the CPU filters their colours");
        }
        mote_stage(ctx, "filter");
        status = lod_filter_cpu(lod);
    }
    lod_drop_codes(lod);
    return status;
}
