/* The files of a part whose octree is built: its records, and when they are in place its manifest. */
#include <mote_have.h>

#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON

void parts_made_free(mote_context *ctx, parts_made *made) {
    potree_part_free(ctx, &made->tree);
    mote_copc_part_free(ctx, &made->chunks);
    mote_free(ctx, made->manifest.stats.ranges);
    memset(made, 0, sizeof *made);
}

static mote_status encode_folder(parts_run *run, const mote_lod *lod, mote_output *to, parts_made *made) {
    parts_manifest *manifest = &made->manifest;
    MOTE_TRY(parts_write_records(run, lod, to, &manifest->stats, &made->tree));
    manifest->node_count = made->tree.node_count;
    manifest->finest = made->tree.finest;
    manifest->records_bytes = made->tree.size_bytes;
    manifest->range_count = manifest->stats.range_count;
    return MOTE_OK;
}

static mote_status encode_copc(parts_run *run, uint32_t part, const mote_lod *lod, mote_output *to, parts_made *made) {
    parts_manifest *manifest = &made->manifest;
    const copc_part *chunks = &made->chunks;
    MOTE_TRY(parts_copc_encode(run, lod, part, to, &made->chunks));
    manifest->node_count = chunks->node_count;
    manifest->finest = chunks->finest;
    manifest->records_bytes = chunks->size_bytes;
    manifest->tally = chunks->tally;
    manifest->gps_low = chunks->gps_low;
    manifest->gps_high = chunks->gps_high;
    return MOTE_OK;
}

mote_status parts_part_encode(parts_run *run, uint32_t part, const mote_lod *lod, mote_output *to, parts_made *made) {
    MOTE_TRY(run->is_copc ? encode_copc(run, part, lod, to, made) : encode_folder(run, lod, to, made));
    return parts_nodes_append(run->ctx, made, to);
}

static mote_status write_files(parts_run *run, const parts_job *job, uint32_t part, const mote_lod *lod,
                               const char *path, parts_made *made) {
    mote_output to;
    MOTE_TRY(mote_output_open(run->ctx, path, &to));
    to.is_part = true;
    MOTE_TRY(mote_output_close(run->ctx, &to, parts_part_encode(run, part, lod, &to, made)));
    return parts_manifest_write(run, job, part, &made->manifest);
}

mote_status parts_part_write(parts_run *run, const parts_job *job, uint32_t part, const mote_lod *lod) {
    char name[64];
    parts_made made;
    memset(&made, 0, sizeof made);
    parts_part_name(run, part, ".octree", name);
    char *path = parts_job_path(job, name);
    const mote_status status = path != NULL ? write_files(run, job, part, lod, path, &made) : MOTE_ERROR_MEMORY;
    parts_made_free(run->ctx, &made);
    mote_free(run->ctx, path);
    return status;
}
#endif
