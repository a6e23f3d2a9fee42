/* The parts: their records from the scratch file, their octree, its records to a file. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "parts/parts.h"

/* Opens once more, for reading, what was written: under its name it stays for as long as it is open. */
static mote_status open_again(parts_run *run, const char *name, int *file) {
    const size_t size = strlen(run->output.folder->temporary) + strlen(name) + 2;
    char *path = mote_alloc(run->ctx, size, "output");
    if (path == NULL) return MOTE_ERROR_MEMORY;
    snprintf(path, size, "%s/%s", run->output.folder->temporary, name);
    *file = open(path, O_RDWR | O_CLOEXEC); /* what was joined is given back to the disk */
    const mote_status status = *file >= 0 ? MOTE_OK : mote_system_error(run->ctx, path, "open");
    if (*file >= 0) unlink(path);
    mote_free(run->ctx, path);
    return status;
}

mote_status parts_write_records(parts_run *run, const mote_lod *lod, mote_output *to, potree_stats *stats,
                                potree_part_tree *tree) {
    potree_source source;
    MOTE_TRY(potree_source_of_lod(run->ctx, lod, &source));
    source.flag_bits = run->flags;
    source.is_part = true;
    source.color_rules = NULL;
    return potree_part_write(run->ctx, &source, &run->potree, to, stats, tree);
}

static mote_status write_part(parts_run *run, const mote_lod *lod, uint32_t part, potree_stats *stats) {
    char name[64];
    mote_output to;
    snprintf(name, sizeof name, "octree.bin.%u.part", part + 1);
    MOTE_TRY(potree_folder_output(run->ctx, run->output.folder, name, &to));
    mote_status status = parts_write_records(run, lod, &to, stats, &run->trees[part]);
    status = mote_output_close(run->ctx, &to, status);
    if (status == MOTE_OK) status = open_again(run, name, &run->files[part]);
    return status;
}

/* From here on what a worker has made of a part is the run's. Sums, least and greatest do not depend on the order. */
static void take_results(parts_results *results, mote_context *worker, uint32_t part, potree_stats *stats) {
    parts_run *run = results->run;
    pthread_mutex_lock(&results->lock);
    mote_hand_over(worker, run->ctx, run->trees[part].nodes);
    mote_hand_over(worker, run->ctx, run->trees[part].places);
    if (run->stats.ranges == NULL) {
        mote_hand_over(worker, run->ctx, stats->ranges);
        run->stats = *stats;
        stats->ranges = NULL;
    } else if (stats->ranges != NULL) {
        potree_stats two[2] = {run->stats, *stats};
        potree_stats_join(two, 2, stats->range_count);
        run->stats = two[0];
    }
    pthread_mutex_unlock(&results->lock);
    mote_free(worker, stats->ranges);
}

static mote_status write_potree(parts_run *run, parts_results *results, const mote_lod *lod, uint32_t part) {
    potree_stats stats;
    memset(&stats, 0, sizeof stats);
    mote_stage(run->ctx, "write part");
    const mote_status status = write_part(run, lod, part, &stats);
    take_results(results, run->ctx, part, &stats);
    return status;
}

#define SHARE_OF_TREE 0.8 /* of a part's time; writing takes the rest */

static mote_status build_part(parts_run *run, void *user, uint32_t part, bool *lacks_fine) {
    parts_material material;
    mote_lod *lod = NULL;
    mote_stage(run->ctx, "read part");
    mote_status status = parts_material_load(run, part, &material);
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0, SHARE_OF_TREE);
    if (status == MOTE_OK) status = parts_material_build(run, part, &material, &lod, lacks_fine);
    mote_progress_next(run->ctx, whole, SHARE_OF_TREE, 1);
    if (status == MOTE_OK && !*lacks_fine) {
        status = (run->file != NULL ? parts_copc_write : write_potree)(run, user, lod, part);
    }
    mote_progress_leave(run->ctx, whole);
    mote_lod_destroy(lod);
    parts_material_free(run, &material);
    return status;
}

static void forget_parts(parts_run *run) {
    for (uint32_t p = 0; p < run->part_count; p++) {
        potree_part_free(run->ctx, &run->trees[p]);
        if (run->chunks != NULL) mote_copc_part_free(run->ctx, &run->chunks[p]);
        if (run->files[p] >= 0) close(run->files[p]);
        run->files[p] = -1;
    }
    mote_free(run->ctx, run->stats.ranges);
    memset(&run->stats, 0, sizeof run->stats);
}

/* ---- all */

/* The records of parts that were built are gone. */
static mote_status distribute_again(parts_run *run) {
    const mote_progress_span whole = mote_progress_hold(run->ctx);
    const mote_status status = parts_distribute(run);
    mote_progress_leave(run->ctx, whole);
    parts_source_rest(&run->source);
    return status;
}

static mote_status build_rounds(parts_run *run, parts_results *results, const bool *kept, bool *lacks_fine) {
    if (run->distance == NULL) parts_choose_by(run, false); /* else it is known */
    MOTE_TRY(parts_make_all(run, build_part, results, kept, lacks_fine));
    if (!*lacks_fine || run->old != NULL) return MOTE_OK;
    forget_parts(run);
    if (run->gives_back) MOTE_TRY(distribute_again(run));
    parts_choose_by(run, true);
    return parts_make_all(run, build_part, results, kept, lacks_fine);
}

mote_status parts_build(parts_run *run, bool *lacks_fine) {
    parts_results results = {.run = run};
    bool *kept = mote_alloc(run->ctx, run->part_count * sizeof *kept, "parts");
    if (kept == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t p = 0; p < run->part_count; p++) {
        kept[p] = run->ranges[p].is_kept || (run->old != NULL && run->ranges[p].points == 0);
    }
    pthread_mutex_init(&results.lock, NULL);
    const mote_status status = build_rounds(run, &results, kept, lacks_fine);
    pthread_mutex_destroy(&results.lock);
    mote_free(run->ctx, kept);
    return status;
}
