/* A plan that was written becomes a run again, whose ranges and facts are known. */
#include <math.h>
#include <mote_have.h>

#include "order/lattice/lattice.h"
#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define PLAN_BYTES_MAX (1ull << 30) /* of a million inputs */

static mote_status wrong(const parts_job *job, const char *list, size_t i, const char *what) {
    return mote_fail(job->ctx, MOTE_ERROR_DATA, "%s: %s[%zu]: %s is missing, or not what a plan has there", job->path,
                     list, i, what);
}

static mote_status wrong_root(const parts_job *job, const char *what) {
    return mote_fail(job->ctx, MOTE_ERROR_DATA, "%s: %s is missing, or not what a plan has there", job->path, what);
}

/* ---- box and flags */

static bool take_box(const json_t *root, parts_run *run) {
    const json_t *o = json_object_get(root, "box");
    parts_box *box = &run->box;
    const bool is_empty = json_is_object(o) && json_object_size(o) == 0;
    bool ok = is_empty;
    if (is_empty) box->points = box->skipped = 0;
    if (!ok && run->is_integer) {
        ok = parts_take_axes(json_object_get(o, "low"), box->low) &&
             parts_take_axes(json_object_get(o, "high"), box->high);
        for (int k = 0; k < 3 && ok; k++) ok = box->low[k] <= box->high[k];
    } else if (!ok) {
        ok = parts_take_place(json_object_get(o, "min"), box->world.min) &&
             parts_take_place(json_object_get(o, "max"), box->world.max);
        for (int k = 0; k < 3 && ok; k++) {
            ok = isfinite(box->world.min[k]) && isfinite(box->world.max[k]) && box->world.min[k] <= box->world.max[k];
        }
    }
    return ok;
}

static mote_status take_whole(parts_job *job, parts_run *run) {
    const json_t *root = job->json, *flags = json_object_get(root, "flags");
    const mote_column *axes[3];
    uint64_t record_bytes;
    if (!parts_take_count(root, "points", INT64_MAX, &run->points)) return wrong_root(job, "\"points\"");
    if (!parts_take_count(root, "skipped", run->points, &run->skipped)) return wrong_root(job, "\"skipped\"");
    if (!parts_take_count(root, "record_bytes", INT64_MAX, &record_bytes) || record_bytes != run->record_bytes) {
        return wrong_root(job, "\"record_bytes\"");
    }
    for (size_t f = 0; f < POTREE_MERGED; f++) {
        if (!parts_take_bits(json_array_get(flags, f), NULL, &run->flags[f])) return wrong_root(job, "\"flags\"");
    }
    MOTE_TRY(mote_cloud_positions(job->ctx, run->source.whole, axes));
    run->is_integer = lattice_is_integer(axes);
    run->box.points = run->points;
    run->box.skipped = run->skipped;
    return take_box(root, run) ? parts_lattice(run) : wrong_root(job, "\"box\"");
}

/* ---- facts */

bool parts_take_facts(const json_t *o, uint64_t columns, merge_facts *facts) {
    const json_t *colors = json_object_get(o, "colors"), *lost = json_object_get(o, "not_double");
    bool ok = parts_take_count(o, "points", INT64_MAX, &facts->points) &&
              parts_take_axes(json_object_get(o, "low"), facts->low) &&
              parts_take_axes(json_object_get(o, "high"), facts->high) &&
              parts_take_count(o, "times", INT64_MAX, &facts->times) &&
              parts_take_count(o, "no_week", INT64_MAX, &facts->no_week) &&
              parts_take_count(o, "ranks_between", INT64_MAX, &facts->ranks_between) &&
              json_array_size(lost) == columns;
    for (uint32_t g = 0; g < MERGE_COLORS && ok; g++)
        ok = parts_take_color(json_array_get(colors, g), &facts->colors[g]);
    for (uint64_t c = 0; c < columns && ok; c++) {
        ok = parts_take_count(json_array_get(lost, c), NULL, INT64_MAX, &facts->not_double[c]);
    }
    return ok;
}

/* On failure the source frees those that were begun. */
static mote_status unite(parts_job *job, parts_run *run) {
    parts_source *source = &run->source;
    const json_t *list = json_object_get(job->json, "facts");
    const uint64_t count = source->list.count;
    if (count == 1) {
        source->was_walked = true;
        return MOTE_OK;
    }
    if (json_array_size(list) != count) return wrong_root(job, "\"facts\"");
    merge_facts *facts = source->facts = mote_alloc_zero(job->ctx, count * sizeof *facts, "inputs");
    if (facts == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        MOTE_TRY(merge_facts_begin(job->ctx, source->shapes[i], &facts[i]));
        if (!parts_take_facts(json_array_get(list, i), mote_cloud_column_count(source->shapes[i]), &facts[i])) {
            return wrong(job, "facts", i, "a fact");
        }
    }
    return parts_source_unite(source, facts);
}

/* ---- parts */

static bool take_mask(const json_t *list, size_t i, bool wins[MOTE_ORDER_BITS + 1]) {
    uint64_t bits;
    if (!parts_take_count(json_array_get(list, i), NULL, (1ull << (MOTE_ORDER_BITS + 1)) - 1, &bits)) return false;
    for (uint32_t level = 0; level <= MOTE_ORDER_BITS; level++) wins[level] = bits >> level & 1;
    return true;
}

static bool take_wins(const json_t *part, const char *key, parts_wins *wins) {
    const json_t *list = json_object_get(part, key);
    return take_mask(list, 0, wins->low) && take_mask(list, 1, wins->high);
}

static bool take_border(const json_t *part, uint64_t least, uint64_t points, lod_border *border) {
    const json_t *list = json_object_get(part, "border_points");
    if (!parts_take_bits(part, "first_code", &border->code) || border->code >> 3 * MOTE_ORDER_BITS != 0) return false;
    if (border->code < least || json_array_size(list) > MOTE_ORDER_BITS + 1) return false;
    for (size_t level = 0; level < json_array_size(list); level++) {
        if (!parts_take_count(json_array_get(list, level), NULL, points, &border->points[level])) return false;
    }
    return true;
}

/* Whether they are units of the file is seen when it is opened. */
static mote_status take_spans(const parts_job *job, parts_run *run, const json_t *list, parts_share *share) {
    const size_t count = json_array_size(list) / 3;
    if (list == NULL) return MOTE_OK; /* all of the input */
    if (count == 0 || json_array_size(list) % 3 != 0) return wrong(job, "parts", share->part, "spans of an input");
    if (!mote_reserve(job->ctx, (void **)&run->spans, &run->span_capacity, run->span_count + count, sizeof *run->spans,
                      "spans of parts")) {
        return MOTE_ERROR_MEMORY;
    }
    share->first_span = run->span_count;
    share->span_count = count;
    for (size_t s = 0; s < count; s++) {
        reader_span span = {0, 0, 0, 0};
        if (!parts_take_count(json_array_get(list, 3 * s), NULL, INT64_MAX, &span.first) ||
            !parts_take_count(json_array_get(list, 3 * s + 1), NULL, INT64_MAX, &span.end) ||
            !parts_take_count(json_array_get(list, 3 * s + 2), NULL, run->points, &span.before)) {
            return wrong(job, "parts", share->part, "spans of an input");
        }
        run->spans[run->span_count++] = span;
    }
    return MOTE_OK;
}

static mote_status take_shares(const parts_job *job, parts_run *run, uint32_t p, const json_t *list) {
    uint64_t sum = 0, before = 0;
    for (size_t s = 0; s < json_array_size(list); s++) {
        const json_t *pair = json_array_get(list, s);
        uint64_t input, points;
        if (!parts_take_count(json_array_get(pair, 0), NULL, run->source.list.count - 1, &input) ||
            !parts_take_count(json_array_get(pair, 1), NULL, INT64_MAX - sum, &points) || (s > 0 && input <= before)) {
            return wrong(job, "parts", p, "\"inputs\"");
        }
        sum += points;
        before = input;
        if (!mote_reserve(job->ctx, (void **)&run->shares, &run->share_capacity, run->share_count + 1,
                          sizeof *run->shares, "parts")) {
            return MOTE_ERROR_MEMORY;
        }
        parts_share *share = &run->shares[run->share_count++];
        *share = (parts_share){(uint32_t)input, p, points, 0, 0};
        MOTE_TRY(take_spans(job, run, json_array_get(pair, 2), share));
    }
    sum += run->ranges[p].shared.points;
    return sum == run->ranges[p].points ? MOTE_OK : wrong(job, "parts", p, "the sum of \"inputs\"");
}

/* Where points go that the plan has read: as many places as there are points. */
static mote_status take_runs(const parts_job *job, parts_run *run, uint32_t p, const json_t *list) {
    parts_placing *shared = &run->ranges[p].shared;
    const size_t count = json_array_size(list) / 2;
    uint64_t end = 0, sum = 0;
    if (json_array_size(list) % 2 != 0) return wrong(job, "parts", p, "\"runs\"");
    shared->runs = mote_alloc(job->ctx, count * sizeof *shared->runs, "spans of parts");
    if (shared->runs == NULL) return MOTE_ERROR_MEMORY;
    for (size_t r = 0; r < count; r++) {
        placed_run *own = &shared->runs[r];
        if (!parts_take_count(json_array_get(list, 2 * r), NULL, run->ranges[p].points, &own->first) ||
            !parts_take_count(json_array_get(list, 2 * r + 1), NULL, run->ranges[p].points - own->first, &own->count) ||
            own->count == 0 || own->first < end) {
            return wrong(job, "parts", p, "\"runs\"");
        }
        end = own->first + own->count;
        sum += own->count;
    }
    shared->run_count = count;
    return sum == shared->points ? MOTE_OK : wrong(job, "parts", p, "the sum of \"runs\"");
}

static mote_status take_shared(const parts_job *job, parts_run *run, uint32_t p, const json_t *o) {
    parts_placing *shared = &run->ranges[p].shared;
    if (o == NULL) return MOTE_OK;
    if (!parts_take_count(o, "at", INT64_MAX / (run->record_bytes + 1) - run->ranges[p].points, &shared->at) ||
        !parts_take_count(o, "points", run->ranges[p].points, &shared->points) || shared->points == 0 ||
        !parts_take_bits(o, "hash", &shared->hash)) {
        return wrong(job, "parts", p, "\"shared\"");
    }
    return take_runs(job, run, p, json_object_get(o, "runs"));
}

/* Copies of points of others. */
static mote_status take_copies(const parts_job *job, parts_run *run, uint32_t p, const json_t *o) {
    parts_copies *copies = &run->ranges[p].copies;
    const uint64_t most = INT64_MAX / (run->record_bytes + 1);
    if (o == NULL && !parts_looks_around(run)) return MOTE_OK;
    if (!parts_looks_around(run) || !parts_take_count(o, "at", most - run->points, &copies->at) ||
        !parts_take_count(o, "points", run->points, &copies->points) || !parts_take_bits(o, "hash", &copies->hash)) {
        return wrong(job, "parts", p, "\"copies\"");
    }
    return MOTE_OK;
}

/* What sampling by distance has chosen. */
static mote_status take_chosen(const parts_job *job, parts_run *run, uint32_t p, const json_t *o) {
    parts_levels *chosen = &run->ranges[p].chosen;
    if (o == NULL) return MOTE_OK;
    if (!parts_is_by_distance(run) || !parts_take_count(o, "at", INT64_MAX - run->ranges[p].points, &chosen->at) ||
        !parts_take_count(o, "points", run->ranges[p].points, &chosen->count) ||
        !parts_take_bits(o, "hash", &chosen->hash)) {
        return wrong(job, "parts", p, "\"chosen\"");
    }
    return MOTE_OK;
}

static mote_status take_part(const parts_job *job, parts_run *run, uint32_t p, const json_t *part) {
    parts_range *range = &run->ranges[p];
    const uint64_t least = p > 0 ? run->ranges[p - 1].whole.low.code + 1 : 0;
    range->whole.lattice = run->lattice;
    if (!parts_take_count(part, "points", UINT32_MAX, &range->points)) return wrong(job, "parts", p, "\"points\"");
    if (!take_border(part, least, run->points, &range->whole.low) || (p == 0 && range->whole.low.code != 0)) {
        return wrong(job, "parts", p, "the border");
    }
    if (!take_wins(part, "wins", &range->wins[0]) || !take_wins(part, "fine_wins", &range->wins[1])) {
        return wrong(job, "parts", p, "\"wins\"");
    }
    MOTE_TRY(take_shared(job, run, p, json_object_get(part, "shared")));
    MOTE_TRY(take_copies(job, run, p, json_object_get(part, "copies")));
    MOTE_TRY(take_chosen(job, run, p, json_object_get(part, "chosen")));
    return take_shares(job, run, p, json_object_get(part, "inputs"));
}

static mote_status take_parts(const parts_job *job, parts_run *run) {
    const json_t *list = json_object_get(job->json, "parts");
    const size_t count = json_array_size(list);
    uint64_t sum = 0;
    if (count == 0 || count > MOTE_PARTS_MAX) return wrong_root(job, "\"parts\"");
    run->ranges = mote_alloc_zero(job->ctx, count * sizeof *run->ranges, "parts");
    if (run->ranges == NULL) return MOTE_ERROR_MEMORY;
    run->part_count = (uint32_t)count;
    for (uint32_t p = 0; p < run->part_count; p++) {
        MOTE_TRY(take_part(job, run, p, json_array_get(list, p)));
        run->ranges[p].at = sum;
        sum += run->ranges[p].points;
        if (p > 0) run->ranges[p - 1].whole.high = run->ranges[p].whole.low;
    }
    run->ranges[count - 1].whole.high.code = 1ull << 3 * MOTE_ORDER_BITS;
    return sum == run->points - run->skipped ? MOTE_OK : wrong_root(job, "the sum of the parts' \"points\"");
}

/* ---- of a COPC file */

static mote_status take_file(const parts_job *job, parts_run *run) {
    const uint64_t columns = mote_cloud_column_count(run->source.whole);
    if (!run->is_copc) return MOTE_OK;
    if (!parts_take_seen(job->ctx, json_object_get(job->json, "seen"), columns, &run->seen)) {
        const bool is_memory = mote_context_status(job->ctx) == MOTE_ERROR_MEMORY;
        return is_memory ? MOTE_ERROR_MEMORY : wrong_root(job, "\"seen\"");
    }
    return MOTE_OK;
}

/* ---- all */

mote_status parts_job_parse(parts_run *run, parts_job *job, const char *path, const void *data, uint64_t size_bytes,
                            bool is_sealed) {
    json_error_t error;
    uint64_t version;
    memset(job, 0, sizeof *job);
    job->ctx = run->ctx;
    job->path = mote_strdup(run->ctx, path);
    if (job->path == NULL) return MOTE_ERROR_MEMORY;
    job->json = json_loadb(data, size_bytes, JSON_REJECT_DUPLICATES, &error);
    if (job->json == NULL) {
        return mote_fail(run->ctx, MOTE_ERROR_DATA, "%s: line %d, column %d: no plan: %s", path, error.line,
                         error.column, error.text);
    }
    if (!parts_take_count(job->json, "mote_plan", INT64_MAX, &version)) {
        return mote_fail(run->ctx, MOTE_ERROR_DATA, "%s: no plan of parts: it has no \"mote_plan\"", path);
    }
    if (version != PARTS_PLAN_VERSION) {
        return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: a plan of version %llu; this mote knows version %d: make a new plan", path,
                         (unsigned long long)version, PARTS_PLAN_VERSION);
    }
    if (!is_sealed) {
        return mote_fail(run->ctx, MOTE_ERROR_DATA, "%s: was changed since it was written: make a new plan", path);
    }
    MOTE_TRY(parts_plan_hash(job));
    MOTE_TRY(parts_job_open_inputs(job, run));
    MOTE_TRY(unite(job, run));
    run->begin_bytes = mote_context_memory_bytes(job->ctx);
    parts_set_point_bytes(run);
    MOTE_TRY(take_whole(job, run));
    MOTE_TRY(take_parts(job, run));
    MOTE_TRY(take_file(job, run));
    for (uint32_t p = 0; p < run->part_count; p++) {
        const uint64_t bytes = parts_part_bytes(run, p);
        if (bytes > run->room_bytes) run->room_bytes = bytes;
    }
    return MOTE_OK;
}

static mote_status take_output(mote_context *ctx, const char *plan, const mote_input *input, char *path,
                               uint64_t size_bytes) {
    json_error_t error;
    json_t *json = json_loadb((const char *)input->data, input->size_bytes, JSON_REJECT_DUPLICATES, &error);
    const char *output = json_string_value(json_object_get(json_object_get(json, "request"), "output"));
    mote_status status = MOTE_OK;
    if (output == NULL) {
        status = mote_fail(ctx, MOTE_ERROR_DATA, "%s: no plan of parts: it names no output", plan);
    } else if (strlen(output) >= size_bytes) {
        status = mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: the name of its output is longer than the room for it", plan);
    } else {
        memcpy(path, output, strlen(output) + 1);
    }
    json_decref(json);
    return status;
}

mote_status parts_plan_output(mote_context *ctx, const char *plan, char *path, uint64_t size_bytes) {
    mote_input input;
    MOTE_TRY(mote_input_open_part(ctx, plan, &input));
    mote_status status = take_output(ctx, plan, &input, path, size_bytes);
    if (status == MOTE_OK) status = mote_input_check(ctx, &input);
    mote_input_close(ctx, &input);
    return status;
}

mote_status parts_job_read(parts_run *run, parts_job *job, const char *path) {
    mote_input input;
    memset(job, 0, sizeof *job);
    MOTE_TRY(mote_input_open_part(run->ctx, path, &input));
    mote_status status = MOTE_OK;
    if (input.size_bytes > PLAN_BYTES_MAX)
        status = mote_fail(run->ctx, MOTE_ERROR_DATA, "%s: too long for a plan", path);
    if (status == MOTE_OK) {
        const bool is_sealed = parts_json_is_sealed(input.data, input.size_bytes);
        status = parts_job_parse(run, job, path, input.data, input.size_bytes, is_sealed);
    }
    if (status == MOTE_OK) status = mote_input_check(run->ctx, &input);
    mote_input_close(run->ctx, &input);
    return status;
}
#endif
