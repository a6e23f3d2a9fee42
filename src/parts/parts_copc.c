/* A COPC file of a cloud that memory does not hold: the steps in order. */
#include "parts/parts.h"

/* ---- what decides the records of all */

/* The columns of all, which look at the points of one piece after the other. */
typedef struct parts_view {
    parts_run *run;
    mote_cloud *cloud;
} parts_view;

static mote_status view_begin(void *user) {
    const parts_view *view = user;
    parts_source_rewind(&view->run->source, 0, 1);
    return MOTE_OK;
}

static mote_status view_next(void *user, bool *any) {
    const parts_view *view = user;
    const mote_cloud *piece = NULL;
    const uint8_t *records = NULL;
    MOTE_TRY(parts_source_next(&view->run->source, &piece, &records));
    *any = piece != NULL;
    view->cloud->count = *any ? piece->count : 0;
    for (uint64_t c = 0; *any && c < view->cloud->column_count; c++) {
        view->cloud->columns[c].data = (uint8_t *)records + view->run->source.column_at[c];
    }
    return MOTE_OK;
}

static mote_status make_view(parts_view *view) {
    const mote_cloud *whole = view->run->source.whole;
    MOTE_TRY(mote_cloud_new(view->run->ctx, 0, &view->cloud));
    for (uint64_t c = 0; c < whole->column_count; c++) {
        MOTE_TRY(mote_cloud_add_view(view->cloud, &whole->columns[c]));
    }
    return mote_cloud_copy_extras(view->cloud, whole);
}

/* Plans the records. Where the columns' types decide all, as of LAS, no point is looked at; how long the walk takes
   otherwise is no share of its own. */
static mote_status plan_records(parts_view *view, const mote_copc_params *params, const char *output, copc_job *job) {
    parts_run *run = view->run;
    const las_pieces pieces = {view_begin, view_next, view, true};
    MOTE_TRY(make_view(view));
    const mote_progress_span whole = mote_progress_hold(run->ctx);
    const mote_status status = mote_copc_begin(job, view->cloud, &pieces, run->points - run->skipped, params, output);
    mote_progress_leave(run->ctx, whole);
    job->plan.pieces = NULL;
    /* From here on the columns' places in a record alone count. */
    view->cloud->count = 0;
    for (uint64_t c = 0; c < view->cloud->column_count; c++) {
        view->cloud->columns[c].data = run->source.whole->columns[c].data;
    }
    return status;
}

/* ---- all */

static mote_status check_copc(const parts_run *run, const char *output) {
    mote_context *ctx = run->ctx;
    if (run->lod.scheme != MOTE_LOD_ADDITIVE || run->lod.max_node_points != 0) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                         "%s: COPC holds each point once, in one node: build the octree additive, without a bound of "
                         "points per node (max_node_points 0)",
                         output);
    }
    if (!mote_is_dash(output) && !mote_input_is_read_once(output)) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: an octree in parts is written to a file, and to no pipe",
                     output);
}

static mote_status join(parts_run *run, copc_job *job, mote_copc_report *file) {
    mote_stage(run->ctx, "join");
    const mote_progress_span span = mote_progress_enter(run->ctx, 0.85, 1);
    mote_status status = mote_copc_parts_join(job, run->chunks, run->files, run->part_count, file);
    if (status == MOTE_OK) status = mote_progress(run->ctx, 1, "joining parts");
    mote_progress_leave(run->ctx, span);
    run->report->nodes = job->node_count;
    return status;
}

/* Seconds since *since, which becomes now. */
static double lap(double *since) {
    const double now = mote_seconds(), seconds = now - *since;
    *since = now;
    return seconds;
}

static mote_status write_all(parts_run *run, parts_view *view, copc_job *job, const char *output,
                             const mote_copc_params *copc, const mote_parts_params *params, mote_copc_report *file) {
    mote_parts_report *report = run->report;
    double since = mote_seconds();
    bool lacks_fine;
    MOTE_TRY(check_copc(run, output));
    MOTE_TRY(parts_find_ranges(run, params));
    MOTE_TRY(plan_records(view, copc, output, job));
    job->lattice = &run->lattice;
    job->grid = run->lod.grid;
    run->copc = job;
    MOTE_TRY(parts_make_lists(run));
    run->chunks = mote_alloc_zero(run->ctx, run->part_count * sizeof *run->chunks, "parts");
    if (run->chunks == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(mote_output_open(run->ctx, output, &job->output));
    report->count_seconds = lap(&since);
    MOTE_TRY(parts_open_scratch(run, output, &run->scratch));
    MOTE_TRY(parts_distribute(run, true));
    parts_source_rest(&run->source); /* its memory is the parts' */
    report->distribute_seconds = lap(&since);
    run->scratch_file = run->scratch.file;
    run->scratch_path = run->scratch.path;
    MOTE_TRY(parts_build(run, &lacks_fine));
    report->build_seconds = lap(&since);
    mote_output_close(run->ctx, &run->scratch, MOTE_CANCELLED); /* it is not kept */
    MOTE_TRY(join(run, job, file));
    report->join_seconds = lap(&since);
    parts_report(run);
    return MOTE_OK;
}

mote_status mote_copc_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                  const mote_read_params *reading, const mote_lod_params *params, const char *output,
                                  const mote_copc_params *copc, const mote_parts_params *parts,
                                  mote_parts_report *report, mote_copc_report *file) {
    const double started = mote_seconds();
    const mote_parts_params own = parts != NULL ? *parts : mote_parts_defaults();
    const mote_copc_params writing = copc != NULL ? *copc : mote_copc_defaults();
    mote_parts_report unread;
    mote_copc_report made;
    copc_job job;
    parts_run run;
    memset(&made, 0, sizeof made);
    memset(&job, 0, sizeof job);
    job.ctx = ctx;
    job.output.file = -1;
    parts_start(ctx, report != NULL ? report : &unread, &run);
    parts_view view = {&run, NULL};
    if (inputs == NULL || output == NULL || output[0] == '\0') {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no input, or no output");
    }
    MOTE_TRY(mote_check_reserved(ctx, writing.reserved, sizeof writing.reserved, "mote_copc_params",
                                 "mote_copc_defaults()"));
    if (own.resumes || writing.dry_run) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: parts of a COPC file are not kept to go on with, and not planned", output);
    }
    run.is_copc = run.has_numbers = true;
    mote_status status = parts_open(ctx, inputs, input_count, reading, params, NULL, &own, &run);
    if (status == MOTE_OK) status = write_all(&run, &view, &job, output, &writing, &own, &made);
    status = mote_output_close(ctx, &job.output, status);
    status = parts_end(&run, status);
    mote_copc_end(&job);
    mote_cloud_destroy(view.cloud);
    made.seconds = mote_seconds() - started;
    if (file != NULL && status == MOTE_OK) *file = made;
    return status;
}
