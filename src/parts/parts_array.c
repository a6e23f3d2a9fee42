/* Octrees of which each part is made by a process of its own: plan, part, merge. */
#include <math.h>
#include <mote_have.h>
#include <stdio.h>

#include "parts/parts_job.h"
#include "parts/parts_notes.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

/* ---- plan */

/* Bytes of all inputs. */
static double input_bytes(const parts_job *job) {
    const json_t *list = json_object_get(json_object_get(job->json, "request"), "inputs");
    double sum = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        sum += json_number_value(json_object_get(json_array_get(list, i), "bytes"));
    }
    return sum;
}

/* What a part's reading takes, by the walk that has counted the points. Of mapped files pages count as well, for as
   long as a piece of them is read. */
static void find_prices(parts_run *run, const parts_job *job, double seconds) {
    parts_prices *prices = &run->prices;
    const double record_bytes = (double)run->source.record_bytes, piece = (double)run->source.largest_piece;
    const double count = run->points > 0 ? (double)run->points : 1;
    prices->point_seconds = seconds / count;
    prices->piece_bytes = record_bytes + input_bytes(job) / count;
    prices->walk_bytes = fmax(0, (double)run->walk_bytes - piece * record_bytes);
}

static mote_status make_plan(parts_run *run, parts_job *job, const char *output, const mote_parts_params *params,
                             const char *plan, int *lock) {
    const double begin = mote_seconds(), since = parts_processor_seconds();
    MOTE_TRY(parts_job_begin(run, output, job));
    MOTE_TRY(parts_job_check_plan(job, plan));
    MOTE_TRY(parts_job_lock(job, lock));
    MOTE_TRY(parts_job_check_resumes(job));
    MOTE_TRY(parts_job_ask(run, job));
    const double bytes = input_bytes(job);
    run->prices.byte_seconds = bytes > 0 ? (parts_processor_seconds() - since) / bytes : 0;
    const double counting = parts_processor_seconds();
    MOTE_TRY(parts_notes_begin(run, true));
    MOTE_TRY(parts_find_ranges(run, params));
    find_prices(run, job, parts_processor_seconds() - counting);
    parts_source_rest(&run->source);
    if (run->is_copc) MOTE_TRY(parts_copc_begin(run, output));
    MOTE_TRY(parts_around_begin(run));
    const double counted = mote_seconds();
    MOTE_TRY(parts_sample_begin(run));
    MOTE_TRY(parts_look(run, job));
    MOTE_TRY(parts_shared_choose(run, job));
    run->report->count_seconds = counted - begin;
    run->report->distribute_seconds = mote_seconds() - counted;
    MOTE_TRY(parts_sample_make(run, plan));
    MOTE_TRY(parts_job_write(run, job, plan, false));
    MOTE_TRY(parts_note_made(run, job));
    MOTE_TRY(mote_output_close(run->ctx, &run->scratch, MOTE_OK)); /* of shared points, if there are any */
    parts_report(run);
    run->report->scratch_bytes = 0;
    for (uint32_t p = 0; p < run->part_count; p++) {
        const uint64_t limit = parts_limit_bytes(run, p);
        run->report->scratch_bytes += parts_file_bytes(run, p);
        run->report->shared_points += run->ranges[p].shared.points;
        if (limit > run->report->part_memory_bytes) run->report->part_memory_bytes = limit;
    }
    return MOTE_OK;
}

/* What the process takes beside what the context holds: the program, and what its caller has. */
static uint64_t find_floor(const mote_context *ctx) {
    const uint64_t resident = parts_resident_bytes();
    return resident > ctx->memory_bytes ? resident - ctx->memory_bytes : 0;
}

/* Of a folder, or with copc of a file. */
static mote_status write_plan(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                              const mote_read_params *reading, const mote_lod_params *params, const char *output,
                              const mote_potree_params *potree, const mote_copc_params *copc,
                              const mote_parts_params *parts, const char *plan, mote_parts_report *report) {
    const mote_parts_params own = parts != NULL ? *parts : mote_parts_defaults();
    mote_parts_report unread;
    parts_job job = {.ctx = NULL};
    parts_run run;
    int lock = -1;
    parts_start(ctx, report != NULL ? report : &unread, &run);
    run.is_copc = run.has_numbers = copc != NULL;
    if (copc != NULL) run.writing = *copc;
    run.prices.floor_bytes = find_floor(ctx);
    if (inputs == NULL || output == NULL || plan == NULL) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no input, no output, or no name of the plan");
    }
    /* The plan takes its name once it is known that no input has it. */
    const bool is_held = ctx->held != NULL;
    if (!is_held) MOTE_TRY(mote_outputs_hold(ctx));
    mote_status status = parts_open(ctx, inputs, input_count, reading, params, potree, &own, &run);
    run.prices.open_seconds = run.source.open_seconds;
    if (status == MOTE_OK && run.is_copc) status = parts_copc_check(&run, output);
    if (status == MOTE_OK) status = mote_outputs_check(ctx, plan);
    if (status == MOTE_OK) status = make_plan(&run, &job, output, &own, plan, &lock);
    status = parts_end(&run, status);
    parts_job_unlock(&job, lock);
    parts_job_close(&job);
    return is_held ? status : mote_outputs_release(ctx, status);
}

mote_status mote_lod_parts_plan(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                const mote_read_params *reading, const mote_lod_params *params, const char *output,
                                const mote_potree_params *potree, const mote_parts_params *parts, const char *plan,
                                mote_parts_report *report) {
    return write_plan(ctx, inputs, input_count, reading, params, output, potree, NULL, parts, plan, report);
}

mote_status mote_copc_parts_plan(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                 const mote_read_params *reading, const mote_lod_params *params, const char *output,
                                 const mote_copc_params *copc, const mote_parts_params *parts, const char *plan,
                                 mote_parts_report *report) {
    const mote_copc_params writing = copc != NULL ? *copc : mote_copc_defaults();
    return write_plan(ctx, inputs, input_count, reading, params, output, NULL, &writing, parts, plan, report);
}

/* ---- part */

/* The points of a part that come from the inputs, between those of the shared file. */
typedef struct taking {
    const parts_run *run;
    const parts_range *range;
    uint8_t *to;
    uint64_t count; /* so far */
    uint64_t next;  /* where the next one goes */
    uint64_t run_next;
} taking;

/* Passes over places that points of the shared file have. */
static void skip_shared(taking *t) {
    const parts_placing *shared = &t->range->shared;
    while (t->run_next < shared->run_count && shared->runs[t->run_next].first == t->next) {
        t->next += shared->runs[t->run_next++].count;
    }
}

/* The records of the part that a piece has, behind those before. */
static mote_status take_piece(taking *t, const mote_cloud *piece, const uint8_t *records) {
    const parts_run *run = t->run;
    const uint64_t from_bytes = run->source.record_bytes, number = parts_source_number(&run->source);
    const uint64_t low = t->range->whole.low.code, high = t->range->whole.high.code;
    uint64_t *codes = mote_alloc(run->ctx, piece->count * sizeof *codes, "codes of a piece");
    mote_status status = codes != NULL ? parts_codes(run, piece, codes) : MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < piece->count && status == MOTE_OK; i++) {
        if (codes[i] < low || codes[i] >= high) continue; /* what has no place is beyond all codes */
        skip_shared(t);
        if (t->next == t->range->points) {
            status = parts_changed(run);
        } else {
            uint8_t *at = t->to + t->next++ * run->record_bytes;
            memcpy(at, records + i * from_bytes, from_bytes);
            if (run->number_bytes > 0) status = parts_number_put(run, number + i, at);
            t->count++;
        }
    }
    mote_free(run->ctx, codes);
    return status;
}

/* The points of a part, from the inputs that have some. */
static mote_status load_points(parts_run *run, const parts_job *job, uint32_t part, mote_cloud **out) {
    const mote_cloud *piece = NULL;
    const uint8_t *records;
    taking t = {.run = run, .range = &run->ranges[part]};
    bool *wanted = mote_alloc_zero(run->ctx, run->source.list.count, "inputs");
    bool *has = mote_alloc_zero(run->ctx, run->source.list.count, "inputs");
    const bool made = wanted != NULL && has != NULL;
    for (uint64_t s = 0; s < run->share_count && made; s++) {
        if (run->shares[s].part != part) continue;
        has[run->shares[s].input] = true;
        wanted[run->shares[s].input] = run->shares[s].points > 0;
    }
    parts_spans *spans = parts_spans_of(run, part);
    run->source.wanted = wanted;
    run->source.spans = spans;
    run->source.spans_apart = run->has_numbers;
    mote_status status = spans != NULL && made ? parts_job_check_bytes(job, &run->source, has) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = parts_cloud(run, t.range->points, out, &t.to);
    if (status == MOTE_OK) status = parts_shared_load(run, job, part, t.to);
    parts_source_rewind(&run->source, 0, 1);
    do {
        if (status == MOTE_OK) status = parts_source_next(&run->source, &piece, &records);
        if (status != MOTE_OK || piece == NULL) break;
        status = take_piece(&t, piece, records);
    } while (status == MOTE_OK);
    parts_source_rest(&run->source);
    run->source.wanted = NULL;
    run->source.spans = NULL;
    mote_free(run->ctx, spans);
    mote_free(run->ctx, wanted);
    mote_free(run->ctx, has);
    const uint64_t wanted_points = t.range->points - t.range->shared.points;
    return status == MOTE_OK && t.count != wanted_points ? parts_changed(run) : status;
}

static mote_status load_from_inputs(parts_run *run, const parts_job *job, uint32_t part, parts_material *material) {
    memset(material, 0, sizeof *material);
    MOTE_TRY(load_points(run, job, part, &material->cloud));
    return parts_shared_load_rest(run, job, part, material);
}

/* Until when a part's inputs are read, and its octree is built; then its nodes are written. */
#define SHARE_OF_READING 0.5
#define SHARE_OF_TREE    0.9

mote_status parts_job_make(parts_run *run, const parts_job *job, uint32_t part, parts_loader load, bool *lacks_fine) {
    parts_material material;
    mote_lod *lod = NULL;
    *lacks_fine = false;
    mote_stage(run->ctx, "read part");
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0, SHARE_OF_READING);
    mote_status status = load(run, job, part, &material);
    mote_progress_next(run->ctx, whole, SHARE_OF_READING, SHARE_OF_TREE);
    if (status == MOTE_OK) status = parts_material_build(run, part, &material, &lod, lacks_fine);
    mote_progress_next(run->ctx, whole, SHARE_OF_TREE, 1);
    if (status == MOTE_OK && !*lacks_fine) status = parts_part_write(run, job, part, lod);
    mote_progress_leave(run->ctx, whole);
    mote_lod_destroy(lod);
    parts_material_free(run, &material);
    return status;
}

/* Where the points of this part, or of another one, are too dense for codes, all parts choose by fine codes. */
static mote_status make_part(parts_run *run, const parts_job *job, uint32_t part) {
    bool is_made = false, lacks_fine = false;
    const uint64_t limit = run->ctx->params.memory_limit_bytes;
    const uint64_t needed = run->begin_bytes + parts_part_bytes(run, part);
    if (limit > 0 && limit < needed) {
        return mote_fail(
            run->ctx, MOTE_ERROR_MEMORY,
            "out of memory: part %u of %u takes %llu bytes, more than the %llu it may have; --memory %lluM "
            "would do, or a plan of more parts",
            part + 1, run->part_count, (unsigned long long)needed, (unsigned long long)limit, parts_as_memory(needed));
    }
    MOTE_TRY(parts_job_make_folder(job));
    if (run->is_copc) MOTE_TRY(parts_copc_begin(run, job->output));
    MOTE_TRY(parts_make_lists(run));
    MOTE_TRY(parts_job_choose(run, job));
    MOTE_TRY(parts_part_is_made(run, job, part, &is_made));
    run->report->rounds = is_made ? 0 : 1;
    if (is_made) return MOTE_OK;
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0, 0.5); /* a second round would follow */
    mote_status status = parts_job_make(run, job, part, load_from_inputs, &lacks_fine);
    mote_progress_leave(run->ctx, whole);
    if (status != MOTE_OK || !lacks_fine) return status;
    MOTE_TRY(parts_job_ask_fine(job));
    parts_choose_by(run, true);
    run->report->rounds = 2;
    mote_progress_next(run->ctx, whole, 0.5, 1);
    status = parts_job_make(run, job, part, load_from_inputs, &lacks_fine);
    mote_progress_leave(run->ctx, whole);
    return status;
}

mote_status mote_lod_parts_make(mote_context *ctx, const char *plan, uint32_t part, uint32_t of,
                                mote_parts_report *report) {
    mote_parts_report unread;
    parts_job job = {.ctx = NULL};
    parts_run run;
    parts_start(ctx, report != NULL ? report : &unread, &run);
    if (plan == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no name of the plan");
    mote_status status = parts_job_read(&run, &job, plan);
    if (status == MOTE_OK && (part < 1 || part > run.part_count)) {
        status =
            mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: has parts 1 to %u, and no part %u", plan, run.part_count, part);
    }
    if (status == MOTE_OK && of != 0 && of != run.part_count) {
        status = mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: has %u parts, and not %u", plan, run.part_count, of);
    }
    if (status == MOTE_OK) status = make_part(&run, &job, part - 1);
    if (status == MOTE_OK) {
        run.report->parts = run.part_count;
        run.report->points = run.report->largest_part = run.ranges[part - 1].points;
    }
    status = parts_end(&run, status);
    parts_job_close(&job);
    return status;
}

/* ---- merge */

#define NAMED_PARTS 8u /* that a message names; the others are counted */

/* Opens the files of all parts, and says which are not there. */
static mote_status read_parts(parts_run *run, const parts_job *job, bool verify) {
    char list[1024] = "";
    uint32_t missing = 0;
    for (uint32_t p = 0; p < run->part_count; p++) {
        const char *why = "";
        MOTE_TRY(parts_part_read(run, job, p, verify, &why));
        if (why[0] == '\0') continue;
        const size_t length = strlen(list);
        if (missing++ >= NAMED_PARTS) continue;
        snprintf(list + length, sizeof list - length, "%spart %u: %s", length > 0 ? ", " : "", p + 1, why);
    }
    if (missing == 0) return MOTE_OK;
    const size_t length = strlen(list);
    if (missing > NAMED_PARTS) snprintf(list + length, sizeof list - length, ", and %u more", missing - NAMED_PARTS);
    return mote_fail(run->ctx, MOTE_ERROR_IO, "%s: %u of %u parts are to be made%s: %s", job->folder, missing,
                     run->part_count, run->fine ? " once more, as the points of some are too dense for one code" : "",
                     list);
}

mote_status parts_job_merge(parts_run *run, const parts_job *job, bool verify) {
    const double begin = mote_seconds();
    mote_stage(run->ctx, "read parts");
    if (run->is_copc && run->file == NULL) MOTE_TRY(parts_copc_begin(run, job->output));
    if (run->trees == NULL) MOTE_TRY(parts_make_lists(run));
    MOTE_TRY(parts_job_choose(run, job));
    MOTE_TRY(read_parts(run, job, verify));
    MOTE_TRY(parts_join(run, job->output));
    run->report->join_seconds = mote_seconds() - begin;
    run->report->rounds = run->fine ? 2 : 1;
    parts_report(run);
    return MOTE_OK;
}

mote_status mote_lod_parts_merge(mote_context *ctx, const char *plan, bool verify, mote_parts_report *report) {
    mote_parts_report unread;
    parts_job job = {.ctx = NULL};
    parts_run run;
    parts_start(ctx, report != NULL ? report : &unread, &run);
    if (plan == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no name of the plan");
    mote_status status = parts_job_read(&run, &job, plan);
    const mote_potree_origin origin = {.inputs = (const char *const *)run.source.list.paths,
                                       .input_count = (uint32_t)run.source.list.count,
                                       .reading = &run.source.reading};
    if (status == MOTE_OK && parts_job_keeps_inputs(&job)) run.potree.origin = &origin;
    if (status == MOTE_OK) status = parts_job_merge(&run, &job, verify);
    status = parts_end(&run, status);
    parts_job_close(&job);
    return status;
}

mote_status mote_lod_parts_output(mote_context *ctx, const char *plan, char *path, uint64_t size_bytes) {
    if (plan == NULL || path == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no name of the plan, or no path");
    return parts_plan_output(ctx, plan, path, size_bytes);
}

static mote_status clear(mote_context *ctx, const char *output, bool resumed) {
    parts_job job = {.ctx = ctx};
    mote_status status = parts_job_name(&job, output);
    if (status == MOTE_OK) status = parts_job_remove(&job, resumed);
    parts_job_close(&job);
    return status;
}

mote_status mote_lod_parts_clear(mote_context *ctx, const char *output) { return clear(ctx, output, false); }

mote_status mote_lod_parts_clear_resumed(mote_context *ctx, const char *output) { return clear(ctx, output, true); }

#else

static mote_status refuse(mote_context *ctx, mote_parts_report *report) {
    if (report != NULL) memset(report, 0, sizeof *report);
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_JANSSON);
}

mote_status mote_lod_parts_plan(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                const mote_read_params *reading, const mote_lod_params *params, const char *output,
                                const mote_potree_params *potree, const mote_parts_params *parts, const char *plan,
                                mote_parts_report *report) {
    (void)inputs, (void)input_count, (void)reading, (void)params, (void)output, (void)potree, (void)parts, (void)plan;
    return refuse(ctx, report);
}

mote_status mote_copc_parts_plan(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                 const mote_read_params *reading, const mote_lod_params *params, const char *output,
                                 const mote_copc_params *copc, const mote_parts_params *parts, const char *plan,
                                 mote_parts_report *report) {
    (void)inputs, (void)input_count, (void)reading, (void)params, (void)output, (void)copc, (void)parts, (void)plan;
    return refuse(ctx, report);
}

mote_status mote_lod_parts_make(mote_context *ctx, const char *plan, uint32_t part, uint32_t of,
                                mote_parts_report *report) {
    (void)plan, (void)part, (void)of;
    return refuse(ctx, report);
}

mote_status mote_lod_parts_merge(mote_context *ctx, const char *plan, bool verify, mote_parts_report *report) {
    (void)plan, (void)verify;
    return refuse(ctx, report);
}

mote_status mote_lod_parts_output(mote_context *ctx, const char *plan, char *path, uint64_t size_bytes) {
    (void)plan, (void)path, (void)size_bytes;
    return refuse(ctx, NULL);
}

mote_status mote_lod_parts_clear(mote_context *ctx, const char *output) {
    (void)output;
    return refuse(ctx, NULL);
}

mote_status mote_lod_parts_clear_resumed(mote_context *ctx, const char *output) {
    (void)output;
    return refuse(ctx, NULL);
}
#endif
