/* Octrees of clouds that memory does not hold: the steps in order. */
#include "parts/parts.h"
#include "io/output_calls.h"

/* Seconds since *since, which becomes now. */
static double lap(double *since) {
    const double now = mote_seconds(), seconds = now - *since;
    *since = now;
    return seconds;
}

/* Where records wait, and the parts: in the folder that is being written, or, of a file, beside it without a name. */
static mote_status open_scratch(parts_run *run, const char *output) {
    if (run->is_copc) return parts_open_scratch(run, output, &run->scratch);
    MOTE_TRY(potree_folder_open(run->ctx, output, &run->output.folder));
    return potree_folder_output(run->ctx, run->output.folder, "octree.bin.0.part", &run->scratch);
}

static mote_status write_all(parts_run *run, const char *output, const mote_parts_params *params) {
    mote_parts_report *report = run->report;
    double since = mote_seconds();
    bool lacks_fine;
    MOTE_TRY(parts_find_ranges(run, params));
    if (run->is_copc) MOTE_TRY(parts_copc_begin(run, output));
    MOTE_TRY(parts_make_lists(run));
    report->count_seconds = lap(&since);
    MOTE_TRY(open_scratch(run, output));
    MOTE_TRY(parts_around_begin(run));
    MOTE_TRY(parts_distance_begin(run, output));
    run->gives_back = output_give_back(run->scratch.file, 0, 1);
    MOTE_TRY(parts_distribute(run));
    parts_source_rest(&run->source); /* its memory is the parts' */
    report->distribute_seconds = lap(&since);
    run->scratch_file = run->scratch.file;
    run->scratch_path = run->scratch.path;
    MOTE_TRY(parts_distance_choose(run));
    MOTE_TRY(parts_build(run, &lacks_fine));
    report->build_seconds = lap(&since);
    parts_report(run);
    mote_output_close(run->ctx, &run->scratch, MOTE_CANCELLED); /* it is not kept */
    parts_around_end(run);
    parts_distance_end(run);
    MOTE_TRY(parts_join(run, output));
    report->join_seconds = lap(&since);
    return MOTE_OK;
}

/* Makes a folder, or with copc a file. */
static mote_status write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                               const mote_read_params *reading, const mote_lod_params *params, const char *output,
                               const mote_potree_params *potree, const mote_copc_params *copc,
                               const mote_parts_params *parts, mote_parts_report *report) {
    const mote_parts_params own = parts != NULL ? *parts : mote_parts_defaults();
    mote_parts_report unread;
    parts_run run;
    parts_start(ctx, report != NULL ? report : &unread, &run);
    if (inputs == NULL || output == NULL || output[0] == '\0') {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no input, or no output");
    }
    run.is_copc = run.has_numbers = copc != NULL;
    if (copc != NULL) run.writing = *copc;
    mote_status status = parts_open(ctx, inputs, input_count, reading, params, potree, &own, &run);
    if (status == MOTE_OK && run.is_copc) status = parts_copc_check(&run, output);
    if (status == MOTE_OK) status = own.resumes ? parts_resume(&run, output, &own) : write_all(&run, output, &own);
    return parts_end(&run, status);
}

mote_status mote_lod_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                 const mote_read_params *reading, const mote_lod_params *params, const char *output,
                                 const mote_potree_params *potree, const mote_parts_params *parts,
                                 mote_parts_report *report) {
    return write_parts(ctx, inputs, input_count, reading, params, output, potree, NULL, parts, report);
}

mote_status mote_copc_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                  const mote_read_params *reading, const mote_lod_params *params, const char *output,
                                  const mote_copc_params *copc, const mote_parts_params *parts,
                                  mote_parts_report *report) {
    const mote_copc_params writing = copc != NULL ? *copc : mote_copc_defaults();
    return write_parts(ctx, inputs, input_count, reading, params, output, NULL, &writing, parts, report);
}
