/* What all ways of making an octree in parts have in common. */
#define _DEFAULT_SOURCE /* sysconf */
#include <unistd.h>

#include "device/team.h"
#include "parts/parts_notes.h"

mote_parts_params mote_parts_defaults(void) {
    mote_parts_params params;
    memset(&params, 0, sizeof params);
    return params;
}

const char *mote_lod_parts_refusal(const mote_lod_params *params, const mote_potree_params *potree) {
    (void)params; /* of every kind: but which is not for the caller to know */
    if (potree->encoding != MOTE_POTREE_DEFAULT) return "parts are joined in encoding default";
    if (potree->dry_run) return "parts are not planned";
    if (potree->begun != NULL) return "parts begin their folder themselves";
    return NULL;
}

static mote_status check(mote_context *ctx, const mote_read_params *reading, const mote_parts_params *parts,
                         const parts_run *run) {
    const char *refusal = mote_lod_parts_refusal(&run->lod, &run->potree);
    MOTE_TRY(mote_check_reserved(ctx, parts->reserved, sizeof parts->reserved, "mote_parts_params",
                                 "mote_parts_defaults()"));
    if (refusal != NULL) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "an octree in parts: %s", refusal);
    if (reading != NULL && reading->set != NULL) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "an octree in parts: points that are changed on the way are first to be converted to a file");
    }
    MOTE_TRY(mote_check_reserved(ctx, run->potree.reserved, sizeof run->potree.reserved, "mote_potree_params",
                                 "mote_potree_defaults()"));
    MOTE_TRY(potree_check_params(ctx, &run->potree));
    if (parts->part_count > MOTE_PARTS_MAX) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%llu parts are more than %d", (unsigned long long)parts->part_count,
                         MOTE_PARTS_MAX);
    }
    return lod_check_params(ctx, &run->lod);
}

static mote_status check_copc_params(const parts_run *run) {
    MOTE_TRY(mote_check_reserved(run->ctx, run->writing.reserved, sizeof run->writing.reserved, "mote_copc_params",
                                 "mote_copc_defaults()"));
    return !run->writing.dry_run ? MOTE_OK
                                 : mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED, "parts of a COPC file are not planned");
}

/* ---- begin and end */

mote_status parts_open(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                       const mote_read_params *reading, const mote_lod_params *params, const mote_potree_params *potree,
                       const mote_parts_params *parts, parts_run *run) {
    run->lod = params != NULL ? *params : mote_lod_defaults();
    run->potree = potree != NULL ? *potree : mote_potree_defaults();
    MOTE_TRY(check(ctx, reading, parts, run));
    if (run->is_copc) MOTE_TRY(check_copc_params(run));
    MOTE_TRY(parts_source_begin(ctx, inputs, input_count, reading, NULL, &run->source));
    MOTE_TRY(parts_source_unite(&run->source, NULL));
    run->begin_bytes = mote_context_memory_bytes(ctx);
    parts_set_point_bytes(run);
    lod_warn_colors(ctx, &run->lod, run->has_colors);
    return MOTE_OK;
}

void parts_set_point_bytes(parts_run *run) {
    static const char *const colors[] = {"red", "green", "blue"};
    run->has_colors = true;
    for (int k = 0; k < 3; k++) run->has_colors &= mote_cloud_find(run->source.whole, colors[k]) != NULL;
    run->number_bytes = run->has_numbers ? parts_number_bytes(run->first_number + run->source.count) : 0;
    run->record_bytes = run->source.record_bytes + run->number_bytes;
    /* As many points again around a part: parts_around.c. */
    if (parts_looks_around(run)) run->point_bytes = PARTS_AVERAGED_BYTES + run->record_bytes + PARTS_COPY_BYTES;
}

void parts_start(mote_context *ctx, mote_parts_report *report, parts_run *run) {
    memset(run, 0, sizeof *run);
    memset(report, 0, sizeof *report);
    run->ctx = run->source.ctx = ctx;
    run->point_bytes = PARTS_POINT_BYTES;
    run->workers = 1;
    run->share_bytes = ctx->params.memory_limit_bytes;
    run->report = report;
    run->scratch.file = run->scratch_file = run->output.octree.file = -1;
}

void parts_close(parts_run *run) {
    mote_context *ctx = run->ctx;
    for (uint32_t p = 0; run->trees != NULL && p < run->part_count; p++) potree_part_free(ctx, &run->trees[p]);
    for (uint32_t p = 0; run->chunks != NULL && p < run->part_count; p++) mote_copc_part_free(ctx, &run->chunks[p]);
    for (uint32_t p = 0; run->files != NULL && p < run->part_count; p++) {
        if (run->files[p] >= 0) close(run->files[p]);
    }
    mote_free(ctx, run->trees);
    mote_free(ctx, run->chunks);
    parts_copc_end(run);
    parts_around_end(run);
    parts_sample_free(run);
    parts_notes_end(run);
    for (uint32_t p = 0; run->ranges != NULL && p < run->part_count; p++) mote_free(ctx, run->ranges[p].shared.runs);
    mote_free(ctx, run->files);
    mote_free(ctx, run->stats.ranges);
    mote_free(ctx, run->part_of);
    mote_free(ctx, run->ranges);
    mote_free(ctx, run->shares);
    mote_free(ctx, run->spans);
    for (uint64_t b = 0; b < run->block_count; b++) mote_free(ctx, run->blocks[b].first);
    mote_free(ctx, run->blocks);
    mote_free(ctx, run->first);
    parts_source_close(&run->source);
}

/* ---- how much memory there is */

/* The points of a part that a GPU holds beside those of other workers; a part of more is sorted and sampled there in
   pieces, and its tree and records are the cores' work. */
static uint64_t device_points(const parts_run *run) {
    mote_context *ctx = run->ctx;
    uint64_t room = UINT64_MAX;
    for (uint32_t d = 1; ctx->params.device == MOTE_DEVICE_CUDA && d < ctx->device_count; d++) {
        const uint64_t own = device_available(&ctx->devices[d]);
        room = own < room ? own : room;
    }
    if (room == UINT64_MAX || parts_looks_around(run) || parts_is_by_distance(run)) return UINT64_MAX;
    const uint64_t share = room / mote_team_device_sharers(ctx, run->workers);
    return share > PARTS_DEVICE_BYTES
               ? (share - PARTS_DEVICE_BYTES) / (run->record_bytes + mote_lod_device_point_bytes(&run->lod))
               : 0;
}

/* What a worker's share has beside the points of a part. */
static uint64_t take_room(parts_run *run) {
    const uint64_t taken = parts_memory_bytes(run, 0), on_gpu = device_points(run);
    run->part_points =
        run->share_bytes > taken ? (run->share_bytes - taken) / (run->record_bytes + run->point_bytes) : 0;
    if (on_gpu < run->part_points && on_gpu >= PARTS_LEAST_POINTS) run->part_points = on_gpu;
    return taken;
}

static void limit_points(parts_run *run, const mote_parts_params *params, uint64_t taken) {
    run->room_bytes = run->workers * (run->share_bytes - taken);
    if (run->part_points > UINT32_MAX) run->part_points = UINT32_MAX;
    if (params->part_points > 0 && params->part_points < run->part_points) run->part_points = params->part_points;
}

void parts_take_room(parts_run *run, const mote_parts_params *params) {
    const uint64_t taken = take_room(run);
    limit_points(run, params, taken < run->share_bytes ? taken : run->share_bytes);
}

/* As many workers as are wanted, or fewer, whose shares hold a part. */
static mote_status find_room(parts_run *run, const mote_parts_params *params) {
    mote_context *ctx = run->ctx;
    const uint64_t room = parts_room(ctx, params), point_bytes = run->record_bytes + run->point_bytes;
    const uint64_t shared = parts_shared_bytes(run), rest = room > shared ? room - shared : 0;
    const uint64_t writing = shared + parts_writing_bytes(run);
    uint64_t taken = 0;
    for (run->workers = parts_workers(ctx, params);; run->workers--) {
        run->share_bytes = rest / run->workers;
        taken = take_room(run);
        if (run->part_points >= PARTS_LEAST_POINTS || run->workers == 1) break;
    }
    if (run->part_points < PARTS_LEAST_POINTS || room < writing) {
        const uint64_t part = shared + taken + PARTS_LEAST_POINTS * point_bytes,
                       least = part > writing ? part : writing;
        run->report->part_memory_bytes = least;
        return mote_fail(ctx, MOTE_ERROR_MEMORY,
                         "out of memory: %llu bytes hold no part of %u points; --memory %lluM or more would do",
                         (unsigned long long)room, PARTS_LEAST_POINTS, parts_as_memory(least));
    }
    run->all_bytes = room;
    limit_points(run, params, taken);
    return MOTE_OK;
}

/* How many parts there are to be; 0: as few as memory allows. Where several are built at once, all workers are to have
   as many. */
static uint32_t find_wanted(const parts_run *run, const mote_parts_params *params) {
    if (params->part_count > 0 || run->workers == 1) return (uint32_t)params->part_count;
    const uint64_t least = (run->build_points + run->part_points - 1) / run->part_points;
    const uint64_t rounds = least > 0 ? (least + run->workers - 1) / run->workers : 1;
    return rounds * run->workers < MOTE_PARTS_MAX ? (uint32_t)(rounds * run->workers) : MOTE_PARTS_MAX;
}

/* ---- all */

mote_status parts_cut_ranges(parts_run *run, const mote_parts_params *params) {
    run->build_points = 0;
    for (uint64_t c = 0; c < run->cell_count; c++) {
        if (!parts_keeps(run, c)) run->build_points += run->first[c + 1] - run->first[c];
    }
    MOTE_TRY(find_room(run, params));
    MOTE_TRY(parts_distance_check(run));
    run->wanted = find_wanted(run, params);
    run->even_points = run->part_points;
    if (run->wanted > 0) {
        const uint64_t share = (run->build_points + run->wanted - 1) / run->wanted;
        if (share < run->even_points) run->even_points = share > 0 ? share : 1;
    }
    MOTE_TRY(parts_count_crowded(run));
    return parts_cut(run);
}

/* That there is room is known before all points are read; how much, once it is known which of them are left out. */
mote_status parts_find_ranges(parts_run *run, const mote_parts_params *params) {
    parts_choose_level(run);
    MOTE_TRY(find_room(run, params));
    MOTE_TRY(parts_count(run));
    return parts_cut_ranges(run, params);
}

mote_status parts_make_lists(parts_run *run) {
    run->trees = mote_alloc_zero(run->ctx, run->part_count * sizeof *run->trees, "parts");
    run->files = mote_alloc(run->ctx, run->part_count * sizeof *run->files, "parts");
    if (run->files != NULL) memset(run->files, -1, run->part_count * sizeof *run->files);
    if (run->is_copc) run->chunks = mote_alloc_zero(run->ctx, run->part_count * sizeof *run->chunks, "parts");
    const bool made = run->trees != NULL && run->files != NULL && (run->chunks != NULL || !run->is_copc);
    return made ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status join_files(parts_run *run) {
    potree_source whole;
    memset(&whole, 0, sizeof whole);
    run->source.whole->count = run->points;
    whole.cloud = run->source.whole;
    whole.lattice = &run->lattice;
    whole.params = &run->lod;
    whole.skipped = run->skipped;
    whole.flag_bits = run->flags;
    MOTE_TRY(potree_folder_output(run->ctx, run->output.folder, "octree.bin", &run->output.octree));
    MOTE_TRY(potree_parts_join(run->ctx, &whole, run->trees, run->files, run->part_count, &run->stats, &run->potree,
                               &run->output, &run->report->folder));
    MOTE_TRY(run->inputs != NULL ? potree_inputs_write(run->inputs, run->output.folder)
                                 : potree_origin_write(run->ctx, &run->lod, &run->potree, run->output.folder));
    run->report->nodes = whole.node_count;
    return MOTE_OK;
}

mote_status parts_join(parts_run *run, const char *output) {
    mote_context *ctx = run->ctx;
    mote_status status = MOTE_OK;
    if (run->is_copc) return parts_copc_join(run, output);
    mote_stage(ctx, "join");
    const mote_progress_span span = mote_progress_enter(ctx, 0.85, 1);
    if (run->output.folder == NULL) status = potree_folder_open(ctx, output, &run->output.folder);
    if (status == MOTE_OK) status = join_files(run);
    if (status != MOTE_OK) mote_output_close(ctx, &run->output.octree, status);
    status = potree_folder_close(ctx, run->output.folder, status);
    run->output.folder = NULL;
    mote_progress_leave(ctx, span);
    return status;
}

void parts_report(parts_run *run) {
    mote_parts_report *report = run->report;
    report->points = run->points;
    report->skipped = run->skipped;
    report->parts = run->part_count;
    uint64_t records = 0, parts = 0;
    for (uint32_t p = 0; p < run->part_count; p++) {
        records += run->ranges[p].points * run->record_bytes;
        if (run->trees != NULL) parts += run->trees[p].size_bytes;
        if (run->chunks != NULL) parts += run->chunks[p].size_bytes;
        if (run->ranges[p].points > report->largest_part) report->largest_part = run->ranges[p].points;
    }
    /* Where records go as parts are built, and parts as they are joined, there are never both of all. */
    const uint64_t building = !run->gives_back ? records + parts : records > parts ? records : parts;
    const uint64_t listing = records + run->listed_bytes;
    report->scratch_bytes = run->around_bytes + (building > listing ? building : listing);
}

mote_status parts_end(parts_run *run, mote_status status) {
    if (status != MOTE_OK) mote_output_close(run->ctx, &run->scratch, status);
    parts_distance_end(run); /* its files are in the folder, which goes */
    status = potree_folder_close(run->ctx, run->output.folder, status);
    mote_stage(run->ctx, NULL);
    parts_close(run);
    return status;
}
