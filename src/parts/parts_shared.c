/* Points that a plan has read for several parts. A chunk of LAZ has 50,000 points as they were scanned, often of many
   parts, and decoding it takes as long for one point as for all: so the plan decodes it once, for all of them. Records
   of LAS are as scattered: each part would map most of the file.

     units         0   1   2   3   4   5        of part   A   AB   B   B   BC   ABC
     OUT.parts/shared      │ A: of 1, 5 │ B: of 1, 4, 5 │ C: of 4, 5 │        records, by part
     part B reads          units 2 and 3, and its records of the file, which go where they are among its points

   Where averages look at points of other parts, units with such points are shared as well, and copies follow behind all
   records. Sampling by distance is for the plan to do, which has all points for it: all units are shared. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <mote_have.h>
#include <unistd.h>

#include "parts/parts_job.h"
#include "parts/parts_notes.h"

#if MOTE_HAVE_JANSSON

#define READ_BYTES (1u << 20) /* at once */

/* ---- the plan writes them */

static bool is_shared(const parts_run *run, const parts_unit *unit) {
    (void)run;
    return unit->is_shared;
}

/* Whether some part looks at points of it that are another's. */
static bool has_looked_at(const parts_run *run, const parts_unit *unit) {
    for (uint64_t i = 0; i < unit->count; i++) {
        const parts_note note = parts_note_of(run, unit, i);
        if (parts_around_any(run, note.first_code, note.end_code)) return true;
    }
    return false;
}

/* Says which units are shared, and how much room each part's points in them may need. Returns whether there are any. */
static bool find_shared(parts_run *run, unit_count *list) {
    uint64_t at = 0;
    bool any = false;
    for (uint64_t u = 0; u < run->notes->unit_count; u++) {
        parts_unit *unit = &run->notes->units[u];
        const uint64_t count = parts_unit_counts(run, unit, list);
        unit->is_shared = count > 1 || (count == 1 && (parts_is_by_distance(run) || has_looked_at(run, unit)));
        any = any || unit->is_shared;
        for (uint64_t i = 0; i < count && unit->is_shared; i++) {
            run->ranges[list[i].part].shared.room += list[i].points;
        }
    }
    for (uint32_t p = 0; p < run->part_count; p++) {
        parts_placing *placing = &run->ranges[p].shared;
        const uint64_t most = run->ranges[p].points;
        if (placing->room > most) placing->room = most;
        placing->at = at;
        at += placing->room;
    }
    return any;
}

static mote_status write_shared(parts_run *run, const parts_job *job) {
    parts_chosen chosen;
    char *path = parts_job_path(job, PARTS_SHARED);
    if (path == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = parts_job_make_folder(job);
    if (status == MOTE_OK) status = mote_output_open(run->ctx, path, &run->scratch);
    mote_free(run->ctx, path);
    if (status != MOTE_OK) return status;
    run->scratch.is_part = true;
    status = parts_choose_units(run, is_shared, &chosen);
    if (status == MOTE_OK) status = parts_walk(run, true);
    return parts_chosen_end(run, &chosen, status);
}

/* ---- what else is looked at */

/* Whether points of these codes are looked at: those in sampling cells that a border divides, and those of which the
   plan makes parts. */
static bool is_looked_at(const parts_run *run, const parts_note *note) {
    const uint32_t below = 3 * (MOTE_ORDER_BITS - (uint32_t)__builtin_ctz(run->lod.grid));
    const struct parts_sample *sample = run->sample;
    for (uint32_t p = 1; p < run->part_count; p++) {
        const uint64_t code = run->ranges[p].whole.low.code, first = code >> below << below;
        if (code != first && first < note->end_code && first + (1ull << below) > note->first_code) return true;
    }
    for (uint32_t w = 0; w < PARTS_WINDOWS; w++) {
        if (sample->first[w] < note->end_code && sample->end[w] > note->first_code) return true;
    }
    return false;
}

static bool is_rest(const parts_run *run, const parts_unit *unit) {
    for (uint64_t i = 0; i < unit->count && !unit->is_shared; i++) {
        const parts_note note = parts_note_of(run, unit, i);
        if (is_looked_at(run, &note)) return true;
    }
    return false;
}

static mote_status look_at_rest(parts_run *run) {
    parts_chosen chosen;
    mote_status status = parts_choose_units(run, is_rest, &chosen);
    if (status == MOTE_OK && chosen.count > 0) status = parts_walk(run, false);
    return parts_chosen_end(run, &chosen, status);
}

static mote_status look(parts_run *run, const parts_job *job) {
    unit_count *list = mote_alloc(run->ctx, run->part_count * sizeof *list, "parts");
    if (list == NULL) return MOTE_ERROR_MEMORY;
    const bool any = find_shared(run, list);
    mote_free(run->ctx, list);
    if (any) MOTE_TRY(write_shared(run, job));
    MOTE_TRY(look_at_rest(run));
    return parts_spans_find(run);
}

mote_status parts_look(parts_run *run, const parts_job *job) {
    mote_status status = parts_borders_begin(run);
    if (status == MOTE_OK) status = look(run, job);
    if (status == MOTE_OK) status = parts_borders_end(run);
    parts_borders_free(run);
    return status;
}

/* ---- a part reads its own */

/* Bytes that are beside each other in the file go to the runs, one after the other. */
typedef struct scattering {
    const placed_run *run;
    uint64_t taken; /* bytes of the run */
    uint64_t record_bytes;
    uint8_t *records; /* of the part */
} scattering;

static void scatter(scattering *s, const uint8_t *from, uint64_t size_bytes) {
    while (size_bytes > 0) {
        const uint64_t rest = s->run->count * s->record_bytes - s->taken, now = size_bytes < rest ? size_bytes : rest;
        memcpy(s->records + s->run->first * s->record_bytes + s->taken, from, now);
        from += now;
        size_bytes -= now;
        s->taken += now;
        if (now < rest) continue;
        s->run++;
        s->taken = 0;
    }
}

typedef struct shared_file {
    const parts_run *run;
    const parts_job *job;
    char *path;
    int file;
} shared_file;

static mote_status open_shared(const parts_run *run, const parts_job *job, shared_file *f) {
    *f = (shared_file){run, job, parts_job_path(job, PARTS_SHARED), -1};
    if (f->path == NULL) return MOTE_ERROR_MEMORY;
    f->file = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (f->file >= 0) return MOTE_OK;
    if (errno != ENOENT) return mote_system_error(run->ctx, f->path, "open");
    return mote_fail(run->ctx, MOTE_ERROR_CHANGED,
                     "%s: is not there, with the points that %s has read for several parts; make a new plan", f->path,
                     job->path);
}

static void close_shared(const shared_file *f) {
    if (f->file >= 0) close(f->file);
    mote_free(f->run->ctx, f->path);
}

static mote_status is_another(const shared_file *f) {
    return mote_fail(f->run->ctx, MOTE_ERROR_CHANGED, "%s: is not what %s was written with; make a new plan", f->path,
                     f->job->path);
}

/* Bytes of the file, that have this checksum. */
static mote_status read_shared(const shared_file *f, uint64_t at, uint64_t size_bytes, uint64_t hash, scattering *to) {
    const parts_run *run = f->run;
    potree_hash sum = potree_hash_begin();
    struct stat info;
    if (fstat(f->file, &info) == 0 && (uint64_t)info.st_size < at + size_bytes) return is_another(f);
    uint8_t *buffer = mote_alloc(run->ctx, READ_BYTES, "checksums");
    mote_status status = buffer != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t done = 0; done < size_bytes && status == MOTE_OK; done += READ_BYTES) {
        const uint64_t now = size_bytes - done < READ_BYTES ? size_bytes - done : READ_BYTES;
        status = parts_read_at(run->ctx, f->file, f->path, at + done, now, buffer);
        if (status != MOTE_OK) break;
        potree_hash_add(&sum, buffer, now);
        scatter(to, buffer, now);
        status = mote_progress_again(run->ctx);
    }
    mote_free(run->ctx, buffer);
    if (status != MOTE_OK || potree_hash_end(&sum) == hash) return status;
    return is_another(f);
}

mote_status parts_shared_load(const parts_run *run, const parts_job *job, uint32_t part, uint8_t *records) {
    const parts_placing *placing = &run->ranges[part].shared;
    const uint64_t record_bytes = run->record_bytes;
    scattering to = {placing->runs, 0, record_bytes, records};
    shared_file f;
    if (placing->points == 0) return MOTE_OK;
    mote_status status = open_shared(run, job, &f);
    if (status == MOTE_OK) {
        status = read_shared(&f, placing->at * record_bytes, placing->points * record_bytes, placing->hash, &to);
    }
    close_shared(&f);
    return status;
}

static mote_status load_copies(parts_run *run, const shared_file *f, uint32_t part, mote_cloud **out) {
    const parts_copies *copies = &run->ranges[part].copies;
    const placed_run all = {0, copies->points};
    uint8_t *records = NULL;
    if (copies->points == 0) return MOTE_OK;
    MOTE_TRY(parts_cloud(run, copies->points, out, &records));
    scattering to = {&all, 0, run->record_bytes, records};
    return read_shared(f, copies->at * run->record_bytes, copies->points * run->record_bytes, copies->hash, &to);
}

static mote_status load_levels(parts_run *run, const shared_file *f, uint32_t part, parts_material *material) {
    const parts_levels *chosen = &run->ranges[part].chosen;
    const placed_run all = {0, chosen->count};
    material->levels = mote_alloc(run->ctx, chosen->count + 1, "levels");
    material->level_count = chosen->count;
    if (material->levels == NULL) return MOTE_ERROR_MEMORY;
    scattering to = {&all, 0, 1, material->levels};
    if (chosen->at == 0) {
        return mote_fail(run->ctx, MOTE_ERROR_DATA,
                         "%s: parts[%u]: \"chosen\" is missing, or not what a plan has there", f->job->path, part);
    }
    return chosen->count > 0 ? read_shared(f, chosen->at, chosen->count, chosen->hash, &to) : MOTE_OK;
}

mote_status parts_shared_load_rest(parts_run *run, const parts_job *job, uint32_t part, parts_material *material) {
    const bool has_levels = parts_is_by_distance(run) && run->ranges[part].points > 0;
    shared_file f;
    if (run->ranges[part].copies.points == 0 && !has_levels) return MOTE_OK;
    mote_status status = open_shared(run, job, &f);
    if (status == MOTE_OK) status = load_copies(run, &f, part, &material->around);
    if (status == MOTE_OK && has_levels) status = load_levels(run, &f, part, material);
    close_shared(&f);
    return status;
}
#endif
