/* The parts, one after the other: their records from the scratch file, their octree, its records to a file. */
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
    *file = open(path, O_RDONLY | O_CLOEXEC);
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

static mote_status write_part(parts_run *run, const mote_lod *lod, uint32_t part) {
    char name[64];
    mote_output to;
    snprintf(name, sizeof name, "octree.bin.%u.part", part + 1);
    MOTE_TRY(potree_folder_output(run->ctx, run->output.folder, name, &to));
    mote_status status = parts_write_records(run, lod, &to, &run->stats, &run->trees[part]);
    status = mote_output_close(run->ctx, &to, status);
    if (status == MOTE_OK) status = open_again(run, name, &run->files[part]);
    return status;
}

static mote_status build_part(parts_run *run, uint32_t part, bool *lacks_fine) {
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_stage(run->ctx, "read part");
    mote_status status = parts_load(run, &run->ranges[part], &cloud);
    if (status == MOTE_OK)
        status = lod_build_part(run->ctx, cloud, &run->lod, &run->ranges[part].whole, &lod, lacks_fine);
    if (status == MOTE_OK && !*lacks_fine) status = write_part(run, lod, part);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return status;
}

static void forget_parts(parts_run *run) {
    for (uint32_t p = 0; p < run->part_count; p++) {
        potree_part_free(run->ctx, &run->trees[p]);
        if (run->files[p] >= 0) close(run->files[p]);
        run->files[p] = -1;
    }
    mote_free(run->ctx, run->stats.ranges);
    memset(&run->stats, 0, sizeof run->stats);
}

/* All parts, until one needs fine codes that the others were built without. */
static mote_status build_round(parts_run *run, bool fine, bool *lacks_fine) {
    uint64_t done = 0;
    parts_choose_by(run, fine);
    *lacks_fine = false;
    run->report->rounds++;
    for (uint32_t p = 0; p < run->part_count && !*lacks_fine; p++) {
        const double share = 0.35 / (double)(run->points + 1);
        mote_progress_share(run->ctx, 0.5 + share * (double)done, 0.5 + share * (double)(done + run->ranges[p].points));
        MOTE_TRY(build_part(run, p, lacks_fine));
        done += run->ranges[p].points;
    }
    return MOTE_OK;
}

mote_status parts_build(parts_run *run) {
    bool lacks_fine;
    MOTE_TRY(build_round(run, false, &lacks_fine));
    if (!lacks_fine) return MOTE_OK;
    forget_parts(run);
    return build_round(run, true, &lacks_fine);
}
