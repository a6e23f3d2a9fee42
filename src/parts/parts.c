/* Octrees of clouds that memory does not hold: the steps in order. */
#define _DEFAULT_SOURCE /* sysconf */
#include <unistd.h>

#include "parts/parts.h"

mote_parts_params mote_parts_defaults(void) {
    mote_parts_params params;
    memset(&params, 0, sizeof params);
    return params;
}

const char *mote_lod_parts_refusal(const mote_lod_params *params, const mote_potree_params *potree) {
    if (params->sampling == MOTE_LOD_POISSON) return "sampling by distance looks across the borders of parts";
    if (params->filter > MOTE_LOD_FILTER_CELL) return "averages over neighbours look across the borders of parts";
    if (potree->encoding != MOTE_POTREE_DEFAULT) return "parts are joined in encoding default";
    if (potree->dry_run) return "parts are not planned";
    if (potree->begun != NULL) return "parts begin their folder themselves";
    return NULL;
}

static mote_status check(mote_context *ctx, const mote_read_params *reading, const mote_lod_params *params,
                         const mote_potree_params *potree, const mote_parts_params *parts) {
    const char *refusal = mote_lod_parts_refusal(params, potree);
    MOTE_TRY(mote_check_reserved(ctx, parts->reserved, sizeof parts->reserved, "mote_parts_params",
                                 "mote_parts_defaults()"));
    if (refusal != NULL) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "an octree in parts: %s", refusal);
    if (reading != NULL && (reading->to_crs != NULL || reading->set != NULL)) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "an octree in parts: points that are changed on the way are first to be converted to a file");
    }
    MOTE_TRY(mote_check_reserved(ctx, potree->reserved, sizeof potree->reserved, "mote_potree_params",
                                 "mote_potree_defaults()"));
    MOTE_TRY(potree_check_params(ctx, potree));
    return lod_check_params(ctx, params);
}

/* ---- how much memory there is */

/* Bytes of a point beside its record while its part is built: 24 for codes, order and sorting, 8 for fine codes, and
   half as much again for what nodes and writing take. tests/cli/lod_parts.test runs with the limit enforced. */
#define SCRATCH_BYTES 48u

static mote_status find_room(parts_run *run, const mote_parts_params *params) {
    mote_context *ctx = run->ctx;
    uint64_t room = params->memory_bytes;
    if (room == 0) room = ctx->params.memory_limit_bytes;
    if (room == 0) room = (uint64_t)sysconf(_SC_PHYS_PAGES) / 4 * (uint64_t)sysconf(_SC_PAGE_SIZE);
    const uint64_t taken =
        run->begin_bytes + 12 * run->cell_count + PARTS_FIXED_BYTES + PARTS_THREAD_BYTES * (uint64_t)ctx->threads;
    run->room_bytes = room > taken ? room - taken : 0;
    run->part_points = room > taken ? (room - taken) / (run->record_bytes + SCRATCH_BYTES) : 0;
    if (run->part_points > UINT32_MAX) run->part_points = UINT32_MAX;
    if (run->part_points >= PARTS_LEAST_POINTS) {
        if (params->part_points > 0 && params->part_points < run->part_points) run->part_points = params->part_points;
        return MOTE_OK;
    }
    return mote_fail(ctx, MOTE_ERROR_MEMORY,
                     "out of memory: %llu bytes hold no part of %u points; an octree in parts takes %llu at least",
                     (unsigned long long)room, PARTS_LEAST_POINTS,
                     (unsigned long long)(taken + PARTS_LEAST_POINTS * (run->record_bytes + SCRATCH_BYTES)));
}

/* ---- all */

static mote_status make_lists(parts_run *run) {
    run->trees = mote_alloc_zero(run->ctx, run->part_count * sizeof *run->trees, "parts");
    run->files = mote_alloc(run->ctx, run->part_count * sizeof *run->files, "parts");
    if (run->trees == NULL || run->files == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t p = 0; p < run->part_count; p++) run->files[p] = -1;
    return MOTE_OK;
}

/* Seconds since *since, which becomes now. */
static double lap(double *since) {
    const double now = mote_seconds(), seconds = now - *since;
    *since = now;
    return seconds;
}

static mote_status join(parts_run *run) {
    potree_source whole;
    memset(&whole, 0, sizeof whole);
    run->source.whole->count = run->points;
    whole.cloud = run->source.whole;
    whole.lattice = &run->lattice;
    whole.params = run->params;
    whole.skipped = run->skipped;
    whole.flag_bits = run->flags;
    mote_stage(run->ctx, "join");
    mote_progress_share(run->ctx, 0.85, 1);
    MOTE_TRY(potree_folder_output(run->ctx, run->output.folder, "octree.bin", &run->output.octree));
    MOTE_TRY(potree_parts_join(run->ctx, &whole, run->trees, run->files, run->part_count, &run->stats, run->potree,
                               &run->output, &run->report->folder));
    run->report->nodes = whole.node_count;
    return MOTE_OK;
}

static mote_status write_all(parts_run *run, const char *output, const mote_parts_params *params) {
    mote_parts_report *report = run->report;
    double since = mote_seconds();
    MOTE_TRY(parts_count(run));
    MOTE_TRY(find_room(run, params));
    MOTE_TRY(parts_count_crowded(run));
    MOTE_TRY(parts_cut(run));
    MOTE_TRY(make_lists(run));
    report->count_seconds = lap(&since);
    MOTE_TRY(potree_folder_open(run->ctx, output, &run->output.folder));
    MOTE_TRY(potree_folder_output(run->ctx, run->output.folder, "octree.bin.0.part", &run->scratch));
    MOTE_TRY(parts_distribute(run));
    parts_source_rest(&run->source); /* its memory is the parts' */
    report->distribute_seconds = lap(&since);
    MOTE_TRY(parts_build(run));
    report->build_seconds = lap(&since);
    mote_output_close(run->ctx, &run->scratch, MOTE_CANCELLED); /* it is not kept */
    MOTE_TRY(join(run));
    report->join_seconds = lap(&since);
    report->points = run->points;
    report->skipped = run->skipped;
    report->parts = run->part_count;
    for (uint32_t p = 0; p < run->part_count; p++) {
        report->scratch_bytes += run->ranges[p].points * run->record_bytes + run->trees[p].size_bytes;
        if (run->ranges[p].points > report->largest_part) report->largest_part = run->ranges[p].points;
    }
    return MOTE_OK;
}

static void close_run(parts_run *run) {
    mote_context *ctx = run->ctx;
    for (uint32_t p = 0; run->trees != NULL && p < run->part_count; p++) potree_part_free(ctx, &run->trees[p]);
    for (uint32_t p = 0; run->files != NULL && p < run->part_count; p++) {
        if (run->files[p] >= 0) close(run->files[p]);
    }
    mote_free(ctx, run->trees);
    mote_free(ctx, run->files);
    mote_free(ctx, run->stats.ranges);
    mote_free(ctx, run->part_of);
    mote_free(ctx, run->ranges);
    for (uint64_t b = 0; b < run->block_count; b++) mote_free(ctx, run->blocks[b].first);
    mote_free(ctx, run->blocks);
    mote_free(ctx, run->first);
    parts_source_close(&run->source);
}

mote_status mote_lod_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                 const mote_read_params *reading, const mote_lod_params *params, const char *output,
                                 const mote_potree_params *potree, const mote_parts_params *parts,
                                 mote_parts_report *report) {
    const mote_lod_params lod = params != NULL ? *params : mote_lod_defaults();
    const mote_potree_params folder = potree != NULL ? *potree : mote_potree_defaults();
    const mote_parts_params own = parts != NULL ? *parts : mote_parts_defaults();
    mote_parts_report unread;
    parts_run run;
    memset(&run, 0, sizeof run);
    run.ctx = ctx;
    run.params = &lod;
    run.potree = &folder;
    run.report = report != NULL ? report : &unread;
    run.scratch.file = run.output.octree.file = -1;
    memset(run.report, 0, sizeof *run.report);
    if (inputs == NULL || output == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no input, or no output");
    MOTE_TRY(check(ctx, reading, &lod, &folder, &own));
    mote_status status = parts_source_open(ctx, inputs, input_count, reading, &run.source);
    run.begin_bytes = mote_context_memory_bytes(ctx);
    run.record_bytes = run.source.record_bytes;
    if (status == MOTE_OK) status = write_all(&run, output, &own);
    if (status != MOTE_OK) {
        mote_output_close(ctx, &run.scratch, status);
        mote_output_close(ctx, &run.output.octree, status);
    }
    status = potree_folder_close(ctx, run.output.folder, status);
    mote_progress_share(ctx, 0, 1);
    mote_stage(ctx, NULL);
    close_run(&run);
    return status;
}
