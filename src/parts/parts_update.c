/* An octree whose inputs change: the steps in order. */
#define _GNU_SOURCE /* flock, O_DIRECTORY */
#include <errno.h>
#include <fcntl.h>
#include <mote_have.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/merge/inputs.h"
#include "order/lattice/lattice.h"
#include "parts/parts_job.h"
#include "parts/parts_update.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define LOCK_ATTEMPTS 100u /* at a folder that others replace meanwhile */

/* ---- one at a time */

/* The lock is the folder's own: another update ends by putting another folder in its place. */
static mote_status take_lock(parts_update *update, int *lock) {
    struct stat own, now;
    for (unsigned attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        *lock = open(update->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (*lock < 0) return mote_system_error(update->ctx, update->folder, "open");
        if (flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            return mote_fail(update->ctx, MOTE_ERROR_IO, "%s: another update is at work on it", update->folder);
        }
        if (fstat(*lock, &own) == 0 && stat(update->folder, &now) == 0 && own.st_dev == now.st_dev &&
            own.st_ino == now.st_ino) {
            return MOTE_OK;
        }
        close(*lock);
        *lock = -1;
    }
    return mote_fail(update->ctx, MOTE_ERROR_IO, "%s: others replace it all the time", update->folder);
}

/* Opens the inputs of a list, to be read in pieces. */
static mote_status open_source(mote_context *ctx, const potree_inputs *list, parts_source *source) {
    const char **paths = mote_alloc(ctx, list->count * sizeof *paths, "inputs");
    memset(source, 0, sizeof *source); /* callers close it in either case */
    source->ctx = ctx;
    if (paths == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < list->count; i++) paths[i] = list->list[i].path;
    const mote_status status = parts_source_begin(ctx, paths, (uint32_t)list->count, &list->reading, NULL, source);
    mote_free(ctx, paths);
    return status;
}

/* ---- all anew */

static mote_status write_in_core(parts_update *update, const char *const *paths, const mote_potree_params *potree) {
    mote_context *ctx = update->ctx;
    mote_parts_report *report = &update->report->parts;
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_read_params reading = update->is.reading;
    reading.prepare_order = true;
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.4);
    mote_status status = mote_cloud_read_many(ctx, paths, (uint32_t)update->is.count, &reading, &cloud);
    mote_progress_next(ctx, whole, 0.4, 0.8);
    if (status == MOTE_OK) status = mote_lod_build(ctx, cloud, &update->is.lod, &lod);
    mote_progress_next(ctx, whole, 0.8, 1);
    if (status == MOTE_OK) status = mote_potree_write(ctx, lod, update->folder, potree, &report->folder);
    mote_progress_leave(ctx, whole);
    if (status == MOTE_OK) {
        report->points = mote_cloud_count(cloud);
        report->skipped = mote_lod_skipped(lod);
        report->nodes = mote_lod_node_count(lod);
        report->parts = 1;
    }
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return status;
}

/* Whether the list's files are all read in pieces; bytes: of memory that one piece takes. */
static mote_status find_need(parts_update *update, const char *const *paths, uint64_t *bytes, bool *in_pieces) {
    const potree_inputs *is = &update->is;
    const mote_status status =
        mote_lod_whole_bytes(update->ctx, paths, (uint32_t)is->count, &is->reading, &is->lod, bytes);
    *in_pieces = status == MOTE_OK;
    if (status != MOTE_ERROR_UNSUPPORTED) return status;
    mote_context_clear(update->ctx);
    return MOTE_OK;
}

/* In one piece where memory holds that, or where it does not go in parts. */
static mote_status write_whole(parts_update *update, const char *const *paths, bool in_parts, uint64_t bytes) {
    const potree_inputs *is = &update->is;
    const mote_potree_origin origin = {.inputs = paths, .input_count = (uint32_t)is->count, .known = is};
    mote_potree_params potree = is->potree;
    potree.origin = &origin;
    memset(&update->report->parts, 0, sizeof update->report->parts);
    update->report->kept_points = 0;
    if (!in_parts || bytes <= parts_room(update->ctx, update->params)) return write_in_core(update, paths, &potree);
    return mote_lod_write_parts(update->ctx, paths, (uint32_t)is->count, &is->reading, &is->lod, update->folder,
                                &potree, update->params, &update->report->parts);
}

/* ---- what is known */

/* What the old list has learnt, or can still learn: its files are as they were. */
static mote_status know_old(parts_update *update) {
    potree_inputs *was = &update->was;
    parts_source source;
    if (parts_is_learnt(was)) {
        for (uint64_t i = 0; i < was->count; i++) {
            bool ok;
            parts_take_known(was, i, &update->known_was[i], &ok);
            if (!ok) {
                return mote_fail(update->ctx, MOTE_ERROR_DATA, "%s: what inputs.json says of %s is damaged",
                                 update->folder, was->list[i].path);
            }
        }
        return MOTE_OK;
    }
    for (uint64_t i = 0; i < was->count; i++) {
        struct stat info;
        bool is_same = stat(was->list[i].path, &info) == 0;
        if (is_same) MOTE_TRY(parts_is_same(update, &was->list[i], false, &is_same));
        if (is_same) continue;
        update->whole = "what it was made of is there no longer, and was not looked at before";
        return MOTE_OK;
    }
    bool *wanted = mote_alloc_zero(update->ctx, was->count, "inputs");
    if (wanted == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = open_source(update->ctx, was, &source);
    if (status == MOTE_OK) status = parts_learn(was, &source, wanted, update->known_was);
    parts_source_close(&source);
    mote_free(update->ctx, wanted);
    for (uint64_t i = 0; i < update->is.count && status == MOTE_OK; i++) {
        if (update->from[i] == PARTS_NEW) continue;
        json_decref(update->is.list[i].learnt);
        update->is.list[i].learnt = was->list[update->from[i]].learnt;
        json_incref(update->is.list[i].learnt);
    }
    return status;
}

static mote_status know_new(parts_update *update) {
    parts_run *run = &update->run;
    MOTE_TRY(open_source(update->ctx, &update->is, &run->source));
    MOTE_TRY(parts_learn(&update->is, &run->source, update->wanted, update->known_is));
    for (uint64_t i = 0; i < update->is.count; i++) {
        const parts_known *known = &update->known_is[i];
        run->points += known->points;
        for (size_t f = 0; f < POTREE_MERGED; f++) run->flags[f] |= known->flags[f];
        if (update->from[i] == PARTS_NEW || update->whole != NULL) continue;
        if (known->conversion != update->known_was[update->from[i]].conversion) {
            update->whole = "attributes have other units or types in the union of its files now";
        }
    }
    run->begin_bytes = mote_context_memory_bytes(update->ctx);
    run->record_bytes = run->source.record_bytes;
    return MOTE_OK;
}

static void join_box(const parts_known *known, uint64_t count, parts_box *box) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = INT64_MAX;
        box->high[k] = INT64_MIN;
        for (uint64_t i = 0; i < count; i++) {
            if (known[i].low[k] < box->low[k]) box->low[k] = known[i].low[k];
            if (known[i].high[k] > box->high[k]) box->high[k] = known[i].high[k];
        }
    }
}

/* The cube of the new list, and whether it is that of the old one. */
static mote_status compare_cubes(parts_update *update) {
    parts_run *run = &update->run;
    const mote_column *axes[3];
    parts_box was;
    mote_lattice lattice;
    MOTE_TRY(mote_cloud_positions(run->ctx, run->source.whole, axes));
    run->is_integer = lattice_is_integer(axes);
    run->box.points = run->points;
    join_box(update->known_is, update->is.count, &run->box);
    join_box(update->known_was, update->was.count, &was);
    if (!run->is_integer) {
        update->whole = "positions are no whole steps";
    } else if (was.low[0] > was.high[0] || run->box.low[0] > run->box.high[0]) {
        update->whole = "there were no points";
    } else {
        MOTE_TRY(parts_lattice(run));
        lattice_of_box(axes, was.low, was.high, &lattice);
        const bool same = memcmp(lattice.min, run->lattice.min, sizeof lattice.min) == 0 &&
                          memcmp(lattice.side, run->lattice.side, sizeof lattice.side) == 0 &&
                          lattice.shift == run->lattice.shift;
        if (!same) update->whole = "the cube around its points is another";
    }
    return MOTE_OK;
}

/* ---- what changes */

/* Cells of the root's sampling grid, or coarser where that would be one for few points. */
static void choose_level(parts_update *update) {
    parts_run *run = &update->run;
    const uint32_t grid_level = (uint32_t)__builtin_ctz(run->lod.grid);
    const uint64_t cells = run->points / PARTS_CELL_POINTS;
    while (run->level < grid_level && run->level < PARTS_LEVEL && 1ull << 3 * run->level < cells) run->level++;
    run->cell_count = 1ull << 3 * run->level;
}

static mote_status find_cells(parts_update *update) {
    parts_run *run = &update->run;
    mote_context *ctx = update->ctx;
    choose_level(update);
    run->first = mote_alloc_zero(ctx, (run->cell_count + 1) * sizeof *run->first, "points by cell");
    update->old.joined = mote_alloc_zero(ctx, (run->cell_count + 1) * sizeof *update->old.joined, "points by cell");
    update->cells = mote_alloc_zero(ctx, run->cell_count * sizeof *update->cells, "points by cell");
    update->changed = mote_alloc_zero(ctx, run->cell_count, "points by cell");
    if (run->first == NULL || update->old.joined == NULL || update->cells == NULL || update->changed == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    run->changed = update->changed;
    run->old = &update->old;
    run->source.wanted = update->wanted;
    update->old.is_whole = update->is_new;
    run->begin_bytes = mote_context_memory_bytes(ctx); /* with these */
    parts_old_count(&update->old, run->level, update->cells);
    MOTE_TRY(parts_old_reads(&update->old, run, &update->old.reads));
    MOTE_TRY(parts_find_changed(update));
    if (update->whole != NULL) return MOTE_OK;
    if (run->first[run->cell_count] != run->points) return parts_changed(run);
    return MOTE_OK;
}

/* ---- writing */

static mote_status keep_parts(parts_update *update) {
    parts_run *run = &update->run;
    mote_stage(run->ctx, "read parts");
    for (uint32_t p = 0; p < run->part_count; p++) {
        if (!run->ranges[p].is_kept) continue;
        MOTE_TRY(parts_old_tree(&update->old, run, &run->ranges[p], &run->trees[p], &run->files[p]));
        update->report->kept_points += run->ranges[p].points;
    }
    return MOTE_OK;
}

/* *done false: some part's points are too dense for codes, which is for all to know */
static mote_status write_changed(parts_update *update, bool *done) {
    parts_run *run = &update->run;
    mote_parts_params params = *update->params;
    bool lacks_fine = false;
    params.part_count = 0;
    MOTE_TRY(parts_cut_ranges(run, &params));
    MOTE_TRY(parts_make_lists(run));
    MOTE_TRY(potree_folder_open(run->ctx, update->folder, &run->output.folder));
    MOTE_TRY(potree_folder_output(run->ctx, run->output.folder, "octree.bin.0.part", &run->scratch));
    MOTE_TRY(parts_distribute(run));
    parts_source_rest(&run->source);
    run->scratch_file = run->scratch.file;
    run->scratch_path = run->scratch.path;
    MOTE_TRY(keep_parts(update));
    MOTE_TRY(parts_build(run, &lacks_fine));
    mote_output_close(run->ctx, &run->scratch, MOTE_CANCELLED); /* it is not kept */
    *done = !lacks_fine;
    if (lacks_fine) {
        potree_folder_close(run->ctx, run->output.folder, MOTE_CANCELLED);
        run->output.folder = NULL;
        return MOTE_OK;
    }
    MOTE_TRY(parts_check_again(update));
    run->inputs = &update->is;
    MOTE_TRY(parts_join(run, update->folder));
    parts_report(run);
    return MOTE_OK;
}

/* ---- all */

static mote_status update_folder(parts_update *update) {
    parts_run *run = &update->run;
    bool done = false;
    MOTE_TRY(know_old(update));
    if (update->whole != NULL) return MOTE_OK;
    MOTE_TRY(know_new(update));
    if (update->whole == NULL) MOTE_TRY(compare_cubes(update));
    if (update->whole != NULL) return MOTE_OK;
    MOTE_TRY(parts_check_colors(run));
    for (uint64_t i = 0; i < update->was.count; i++) update->old.points += update->known_was[i].points;
    MOTE_TRY(parts_old_compare(&update->old, run, &update->whole));
    if (update->whole != NULL) return MOTE_OK;
    MOTE_TRY(find_cells(update));
    if (update->whole != NULL) return MOTE_OK;
    MOTE_TRY(write_changed(update, &done));
    if (!done) update->whole = "its points are too dense for one code now";
    return MOTE_OK;
}

static mote_status use_folder(mote_context *ctx, const potree_files *files, void *user) {
    parts_update *update = user;
    parts_run *run = &update->run;
    parts_start(ctx, &update->report->parts, run);
    run->lod = update->is.lod;
    run->potree = update->is.potree;
    mote_status status = parts_old_open(ctx, files, &update->old);
    if (status == MOTE_OK) status = update_folder(update);
    status = parts_end(run, status);
    parts_old_close(&update->old);
    mote_free(ctx, update->cells);
    mote_free(ctx, update->changed);
    return status;
}

/* Why the parts of a folder cannot be made of those that are there. */
static const char *refusal(const mote_lod_params *params, const mote_potree_params *potree) {
    if (params->filter > MOTE_LOD_FILTER_CELL) return "averages over neighbours look at points of other parts";
    if (params->sampling == MOTE_LOD_POISSON) return "sampling by distance chooses among the points of all parts";
    return mote_lod_parts_refusal(params, potree);
}

static mote_status update_list(parts_update *update, const char *const *paths) {
    uint64_t bytes = 0;
    bool in_pieces = false;
    update->whole = refusal(&update->is.lod, &update->is.potree);
    if (update->whole == NULL) {
        MOTE_TRY(find_need(update, paths, &bytes, &in_pieces));
        if (!in_pieces) update->whole = "some files are read as a whole, and not in pieces as LAS, LAZ and E57 are";
    }
    const bool in_parts = update->whole == NULL;
    if (in_parts) MOTE_TRY(potree_with_files(update->ctx, update->folder, use_folder, update));
    update->report->whole = update->whole;
    return update->whole != NULL ? write_whole(update, paths, in_parts, bytes) : MOTE_OK;
}

static mote_status run_update(parts_update *update, const mote_lod_changes *changes) {
    mote_context *ctx = update->ctx;
    MOTE_TRY(potree_inputs_read(ctx, update->folder, &update->was));
    MOTE_TRY(potree_check_params(ctx, &update->was.potree));
    MOTE_TRY(lod_check_params(ctx, &update->was.lod));
    MOTE_TRY(parts_find_list(update, changes));
    MOTE_TRY(parts_check_kept(update, changes->verify));
    update->report->inputs = update->is.count;
    const char **paths = mote_alloc(ctx, update->is.count * sizeof *paths, "inputs");
    if (paths == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < update->is.count; i++) paths[i] = update->is.list[i].path;
    const mote_status status = update_list(update, paths);
    mote_free(ctx, paths);
    return status;
}

mote_status mote_lod_update(mote_context *ctx, const char *folder, const mote_lod_changes *changes,
                            const mote_parts_params *parts, mote_lod_update_report *report) {
    const mote_parts_params own = parts != NULL ? *parts : mote_parts_defaults();
    mote_lod_update_report unread;
    parts_update update;
    int lock = -1;
    memset(&update, 0, sizeof update);
    update.ctx = ctx;
    update.folder = folder;
    update.params = &own;
    update.report = report != NULL ? report : &unread;
    memset(update.report, 0, sizeof *update.report);
    if (folder == NULL || folder[0] == '\0' || changes == NULL) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no folder, or no changes");
    }
    if (ctx->held != NULL) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: is replaced at once, and not with outputs that are held",
                         folder);
    }
    MOTE_TRY(mote_check_reserved(ctx, own.reserved, sizeof own.reserved, "mote_parts_params", "mote_parts_defaults()"));
    MOTE_TRY(mote_check_reserved(ctx, changes->reserved, sizeof changes->reserved, "mote_lod_changes", "zeros"));
    mote_status status = take_lock(&update, &lock);
    if (status == MOTE_OK) status = run_update(&update, changes);
    if (lock >= 0) close(lock);
    mote_free(ctx, update.from);
    mote_free(ctx, update.is_new);
    mote_free(ctx, update.joins);
    mote_free(ctx, update.wanted);
    mote_free(ctx, update.is_gone);
    mote_free(ctx, update.known_was);
    mote_free(ctx, update.known_is);
    potree_inputs_free(&update.was);
    potree_inputs_free(&update.is);
    return status;
}

#else

mote_status mote_lod_update(mote_context *ctx, const char *folder, const mote_lod_changes *changes,
                            const mote_parts_params *parts, mote_lod_update_report *report) {
    (void)folder, (void)changes, (void)parts;
    if (report != NULL) memset(report, 0, sizeof *report);
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_JANSSON);
}
#endif
