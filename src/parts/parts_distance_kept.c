/* What a run that was killed while points were sampled by distance goes on with. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output_calls.h"
#include "parts/parts_distance.h"

typedef enum distance_step { STEP_LISTED = 1, STEP_BEGUN, STEP_PIECE, STEP_ENDED, STEP_TAKEN } distance_step;

/* Of the journal: of whole entries of this plan, up to the first that is not. */
typedef struct distance_entry {
    uint32_t step, number; /* of a part or round */
    uint64_t values[3];
    uint64_t check;
} distance_entry;

static uint64_t check_of(const parts_run *run, const distance_entry *entry) {
    return potree_hash_chain(run->kept_id, entry, offsetof(distance_entry, check));
}

/* ---- names */

static void remove_kept(const parts_run *run, const char *name) {
    char *path = parts_kept_path(run, name);
    if (path != NULL) unlink(path); /* else it goes with the folder */
    mote_free(run->ctx, path);
}

void distance_remove(const parts_run *run, const char *what, uint32_t number) {
    static const char *const endings[] = {"", ".xyz", ".level"};
    if (run->kept_folder == NULL) return;
    for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) {
        char name[64];
        snprintf(name, sizeof name, "%s%u%s", what, number, endings[e]);
        remove_kept(run, name);
    }
}

/* The journal first: what it speaks of is there as long as it is. */
void parts_distance_forget(const parts_run *run) {
    if (run->kept_folder == NULL || run->distance == NULL) return;
    remove_kept(run, "");
    for (uint32_t r = 0; r <= run->distance->round_count; r++) {
        distance_remove(run, "list", r);
        distance_remove(run, "levels", r);
    }
}

/* ---- adding to the journal */

/* From any worker: what is added at once is beside each other. */
static mote_status add(const parts_run *run, distance_step step, uint32_t number, uint64_t a, uint64_t b, uint64_t c) {
    const struct parts_distance *d = run->distance;
    distance_entry entry = {step, number, {a, b, c}, 0};
    if (d->journal < 0) return MOTE_OK;
    entry.check = check_of(run, &entry);
    const ssize_t done = output_call_write(d->journal, &entry, sizeof entry);
    if (done == (ssize_t)sizeof entry) return MOTE_OK;
    if (done >= 0) errno = ENOSPC;
    return mote_system_error(run->ctx, run->kept_folder, "write to the journal in");
}

mote_status distance_note_listed(const parts_run *run, uint32_t part) {
    const struct parts_distance *d = run->distance;
    return add(run, STEP_LISTED, part, d->counts[part], d->finest[part], d->listed[part]);
}

mote_status distance_note_begun(const parts_run *run, const distance_cut *cut) {
    return add(run, STEP_BEGUN, cut->first, cut->room_bytes, cut->most, cut->pieces);
}

mote_status distance_note_piece(const parts_run *run, const distance_progress *progress) {
    return add(run, STEP_PIECE, 0, progress->pieces, progress->done, progress->kept);
}

mote_status distance_note_ended(const parts_run *run, uint64_t points) {
    const uint32_t round = run->distance->round_count - 1;
    const distance_round *ended = &run->distance->rounds[round];
    return add(run, STEP_ENDED, round, ended->first, ended->count, points);
}

mote_status distance_note_taken(const parts_run *run, uint32_t round) { return add(run, STEP_TAKEN, round, 0, 0, 0); }

/* ---- taking it up */

/* A part that was listed by codes is not, where others turned out to need fine codes. */
static void take_listed(const parts_run *run, const distance_entry *entry) {
    struct parts_distance *d = run->distance;
    if (entry->number >= run->part_count || entry->values[2] < d->listed[entry->number]) return;
    d->counts[entry->number] = entry->values[0];
    d->finest[entry->number] = (uint8_t)entry->values[1];
    d->listed[entry->number] = (uint8_t)entry->values[2];
}

static void take_ended(struct parts_distance *d, const distance_entry *entry) {
    if (entry->number != d->round_count || d->round_count == ROUNDS_MAX) return;
    d->rounds[d->round_count].first = (uint32_t)entry->values[0];
    d->rounds[d->round_count].count = entry->values[1];
    d->round_count++;
    d->list.count = entry->values[2];
    memset(&d->cut, 0, sizeof d->cut);
    memset(&d->progress, 0, sizeof d->progress);
}

static void take_entry(const parts_run *run, const distance_entry *entry) {
    struct parts_distance *d = run->distance;
    const uint64_t *values = entry->values;
    switch (entry->step) {
    case STEP_LISTED: take_listed(run, entry); break;
    case STEP_BEGUN:
        d->cut = (distance_cut){values[0], values[1], values[2], entry->number};
        memset(&d->progress, 0, sizeof d->progress);
        break;
    case STEP_PIECE: d->progress = (distance_progress){values[0], values[1], values[2]}; break;
    case STEP_ENDED: take_ended(d, entry); break;
    case STEP_TAKEN: d->taken = entry->number; break;
    default: break;
    }
}

/* Reads all whole entries; *size_bytes of them. */
static mote_status read_entries(const parts_run *run, uint64_t *size_bytes) {
    distance_entry entry;
    for (*size_bytes = 0;; *size_bytes += sizeof entry) {
        const ssize_t got = pread(run->distance->journal, &entry, sizeof entry, (off_t)*size_bytes);
        if (got < 0 && errno != EINTR) return mote_system_error(run->ctx, run->kept_folder, "read the journal in");
        if (got != (ssize_t)sizeof entry || entry.check != check_of(run, &entry)) return MOTE_OK;
        take_entry(run, &entry);
    }
}

static bool has_bytes(const mote_output *file, uint64_t size_bytes) {
    struct stat info;
    return fstat(file->file, &info) == 0 && (uint64_t)info.st_size >= size_bytes;
}

/* Whether a list has the points that are to be in it: of list 0 those of each part that is listed. */
static bool has_list(const parts_run *run) {
    const struct parts_distance *d = run->distance;
    uint64_t points = d->round_count > 0 ? d->list.count : 0;
    for (uint32_t p = 0; p < run->part_count && d->round_count == 0; p++) {
        const uint64_t end = d->counts[p] > 0 ? run->ranges[p].at + d->counts[p] : 0;
        points = end > points ? end : points;
    }
    return has_bytes(&d->list.xyz, 12 * points) && has_bytes(&d->list.level, points);
}

/* Opens the levels of rounds that ended, and the list of the next one. */
static mote_status open_rounds(parts_run *run, bool *is_there) {
    struct parts_distance *d = run->distance;
    const uint64_t points = d->list.count;
    char name[64];
    *is_there = true;
    const uint32_t levels = d->taken < d->round_count ? d->taken + 1 : d->round_count;
    for (uint32_t r = 0; r < levels && *is_there; r++) {
        snprintf(name, sizeof name, "levels%u", r);
        MOTE_TRY(parts_listed_file(run, d->output, name, &d->rounds[r].levels));
        *is_there = has_bytes(&d->rounds[r].levels, d->rounds[r].count);
    }
    if (!*is_there || (d->round_count > 0 && d->rounds[d->round_count - 1].first == 0)) return MOTE_OK;
    snprintf(name, sizeof name, "list%u", d->round_count);
    MOTE_TRY(parts_listed_open(run, d->output, name, &d->list));
    d->list.count = points;
    *is_there = has_list(run);
    if (!*is_there || d->round_count == 0 || points == 0) return MOTE_OK;
    d->list.runs = mote_alloc_zero(run->ctx, sizeof *d->list.runs, "parts");
    d->list.run_count = 1;
    return d->list.runs != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* Lists that the last run was about to remove. */
static void remove_old_lists(const parts_run *run) {
    for (uint32_t r = 0; r < run->distance->round_count; r++) distance_remove(run, "list", r);
}

static mote_status begin_anew(parts_run *run) {
    struct parts_distance *d = run->distance;
    parts_listed_close(&d->list);
    for (uint32_t r = 0; r < ROUNDS_MAX; r++) mote_output_close(run->ctx, &d->rounds[r].levels, MOTE_CANCELLED);
    memset(d->rounds, 0, sizeof d->rounds);
    memset(d->counts, 0, run->part_count * sizeof *d->counts);
    memset(d->finest, 0, run->part_count);
    memset(d->listed, 0, run->part_count);
    memset(&d->cut, 0, sizeof d->cut);
    memset(&d->progress, 0, sizeof d->progress);
    d->round_count = 0;
    d->taken = UINT32_MAX;
    return parts_listed_open(run, d->output, "list0", &d->list);
}

mote_status distance_take_up(parts_run *run) {
    struct parts_distance *d = run->distance;
    uint64_t size_bytes = 0;
    bool is_there = true;
    char *path = parts_kept_path(run, "");
    if (path == NULL) return MOTE_ERROR_MEMORY;
    d->journal = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    mote_status status = d->journal >= 0 ? MOTE_OK : mote_system_error(run->ctx, path, "create");
    mote_free(run->ctx, path);
    if (status == MOTE_OK) status = read_entries(run, &size_bytes);
    if (status == MOTE_OK) status = open_rounds(run, &is_there);
    if (status == MOTE_OK && !is_there) {
        status = begin_anew(run);
        size_bytes = 0;
    }
    /* An entry that was cut goes. */
    if (status == MOTE_OK && output_call_truncate(d->journal, size_bytes) != 0) {
        status = mote_system_error(run->ctx, run->kept_folder, "cut the journal in");
    }
    if (status == MOTE_OK) remove_old_lists(run);
    return status;
}
