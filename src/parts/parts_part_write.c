/* The files of a part whose octree is built: its records, and when they are in place its manifest. */
#include <mote_have.h>

#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON

static mote_status write_files(parts_run *run, const parts_job *job, uint32_t part, const mote_lod *lod,
                               const char *path, potree_part_tree *tree) {
    mote_output to;
    parts_manifest manifest;
    uint64_t size_bytes;
    memset(&manifest, 0, sizeof manifest);
    MOTE_TRY(mote_output_open(run->ctx, path, &to));
    to.is_part = true;
    mote_status status = parts_write_records(run, lod, &to, &manifest.stats, tree);
    if (status == MOTE_OK) status = parts_nodes_append(run->ctx, tree, &to, &manifest.nodes_hash);
    status = mote_output_close(run->ctx, &to, status);
    manifest.node_count = tree->node_count;
    manifest.finest = tree->finest;
    manifest.records_bytes = tree->size_bytes;
    manifest.range_count = manifest.stats.range_count;
    /* Of the bytes as they are on the disk. */
    if (status == MOTE_OK) status = parts_hash_file(run->ctx, path, &size_bytes, &manifest.file_hash);
    if (status == MOTE_OK) status = parts_manifest_write(run, job, part, &manifest);
    mote_free(run->ctx, manifest.stats.ranges);
    return status;
}

mote_status parts_part_write(parts_run *run, const parts_job *job, uint32_t part, const mote_lod *lod) {
    char name[64];
    potree_part_tree tree;
    memset(&tree, 0, sizeof tree);
    parts_part_name(run, part, ".octree", name);
    char *path = parts_job_path(job, name);
    const mote_status status = path != NULL ? write_files(run, job, part, lod, path, &tree) : MOTE_ERROR_MEMORY;
    potree_part_free(run->ctx, &tree);
    mote_free(run->ctx, path);
    return status;
}
#endif
