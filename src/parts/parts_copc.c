/* What is another where parts become a COPC file: its records are planned for all parts, and joining makes one file. */
#include "parts/parts.h"

/* The file, and the columns of all, which look at the points of one piece after the other. */
typedef struct parts_copc {
    parts_run *run;
    mote_cloud *cloud;
    copc_job job;
} parts_copc;

const copc_job *parts_copc_job(const parts_run *run) { return &run->file->job; }

/* ---- what decides the records of all */

static mote_status view_begin(void *user) {
    const parts_copc *file = user;
    parts_source_rewind(&file->run->source, 0, 1);
    return MOTE_OK;
}

static mote_status view_next(void *user, bool *any) {
    const parts_copc *file = user;
    const mote_cloud *piece = NULL;
    const uint8_t *records = NULL;
    MOTE_TRY(parts_source_next(&file->run->source, &piece, &records));
    *any = piece != NULL;
    file->cloud->count = *any ? piece->count : 0;
    for (uint64_t c = 0; *any && c < file->cloud->column_count; c++) {
        file->cloud->columns[c].data = (uint8_t *)records + file->run->source.column_at[c];
    }
    return MOTE_OK;
}

static mote_status make_view(parts_copc *file) {
    const mote_cloud *whole = file->run->source.whole;
    MOTE_TRY(mote_cloud_new(file->run->ctx, 0, &file->cloud));
    for (uint64_t c = 0; c < whole->column_count; c++) {
        MOTE_TRY(mote_cloud_add_view(file->cloud, &whole->columns[c]));
    }
    return mote_cloud_copy_extras(file->cloud, whole);
}

/* Plans the records. Where the columns' types decide all, as of LAS, no point is looked at, nor where a plan knows what
   was seen; how long the walk takes otherwise is no share of its own. */
static mote_status plan_records(parts_copc *file, const char *output) {
    const parts_run *run = file->run;
    const las_pieces pieces = {view_begin, view_next, file, true};
    const uint64_t count = run->points - run->skipped;
    if (run->seen.singles != NULL) {
        return mote_copc_begin_again(&file->job, file->cloud, &run->seen, count, &run->writing, output);
    }
    const mote_progress_span whole = mote_progress_hold(run->ctx);
    const mote_status status = mote_copc_begin(&file->job, file->cloud, &pieces, count, &run->writing, output);
    mote_progress_leave(run->ctx, whole);
    file->job.plan.pieces = NULL;
    /* From here on the columns' places in a record alone count. */
    file->cloud->count = 0;
    for (uint64_t c = 0; c < file->cloud->column_count; c++) {
        file->cloud->columns[c].data = run->source.whole->columns[c].data;
    }
    return status;
}

mote_status parts_copc_begin(parts_run *run, const char *output) {
    parts_copc *file = run->file = mote_alloc_zero(run->ctx, sizeof *file, "COPC");
    if (file == NULL) return MOTE_ERROR_MEMORY;
    file->run = run;
    file->job.ctx = run->ctx;
    file->job.output.file = -1;
    MOTE_TRY(make_view(file));
    MOTE_TRY(plan_records(file, output));
    file->job.lattice = &run->lattice;
    file->job.grid = run->lod.grid;
    return MOTE_OK;
}

void parts_copc_end(parts_run *run) {
    parts_copc *file = run->file;
    mote_las_plan_free(run->ctx, &run->seen);
    memset(&run->seen, 0, sizeof run->seen);
    if (file == NULL) return;
    mote_copc_end(&file->job);
    mote_cloud_destroy(file->cloud);
    mote_free(run->ctx, file);
    run->file = NULL;
}

/* ---- all */

mote_status parts_copc_check(const parts_run *run, const char *output) {
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

mote_status parts_copc_join(parts_run *run, const char *output) {
    const double begin = mote_seconds();
    mote_stage(run->ctx, "join");
    copc_job *job = &run->file->job;
    const mote_progress_span span = mote_progress_enter(run->ctx, 0.85, 1);
    mote_status status = mote_output_open(run->ctx, output, &job->output);
    if (status == MOTE_OK) {
        status = mote_copc_parts_join(job, run->chunks, run->files, run->part_count, &run->report->file);
        if (status == MOTE_OK) status = mote_progress(run->ctx, 1, "joining parts");
        status = mote_output_close(run->ctx, &job->output, status);
    }
    mote_progress_leave(run->ctx, span);
    run->report->nodes = job->node_count;
    run->report->file.seconds = mote_seconds() - begin;
    return status;
}
