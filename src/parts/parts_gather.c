/* What all that write one file begin with: the points in a scratch file, part by part. */
#include "parts/parts.h"

/* Seconds since *since, which becomes now. */
static double lap(double *since) {
    const double now = mote_seconds(), seconds = now - *since;
    *since = now;
    return seconds;
}

mote_status parts_gather(parts_run *run, const char *output, const mote_parts_params *params) {
    double since = mote_seconds();
    MOTE_TRY(parts_find_ranges(run, params));
    if (run->skipped > 0) {
        return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: %llu points have no finite position: in parts all are to have one",
                         run->source.list.paths[0], (unsigned long long)run->skipped);
    }
    run->report->count_seconds = lap(&since);
    MOTE_TRY(parts_open_scratch(run, output, &run->scratch));
    MOTE_TRY(parts_distribute(run));
    parts_source_rest(&run->source); /* its memory is the parts' */
    run->scratch_file = run->scratch.file;
    run->scratch_path = run->scratch.path;
    run->report->distribute_seconds = lap(&since);
    return MOTE_OK;
}
