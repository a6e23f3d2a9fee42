/* The plan: what was found of all points, so that who makes a part need not look at those of the others. */
#include <math.h>
#include <mote_have.h>

#include "parts/parts_job.h"
#include "parts/parts_notes.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

/* Of a part beside its points: mote --version takes 0.009, a part of 15,600 points 0.0167, of 62,300 points 0.0204. */
#define START_SECONDS  0.015
#define MANIFEST_BYTES 4096u /* about; most are counts of classes */
/* Who makes a part also holds the names of plan, output and folder of parts, each of PATH_MAX bytes at most. */
#define NAMES_BYTES (4u * 4096u)

static bool add_box(const parts_run *run, json_t *root) {
    json_t *o = json_object();
    const bool ok = parts_add(root, "box", o);
    if (run->box.points == 0 || (!run->is_integer && run->box.skipped == run->box.points)) return ok; /* of nothing */
    if (run->is_integer)
        return ok && parts_add_axes(o, "low", run->box.low) && parts_add_axes(o, "high", run->box.high);
    return ok && parts_add_place(o, "min", run->box.world.min) && parts_add_place(o, "max", run->box.world.max);
}

/* Of inputs that are brought to another system: where they are before. */
static bool add_boxes(const parts_run *run, json_t *root) {
    json_t *list = json_array();
    bool ok = parts_add(root, "boxes", list);
    for (uint64_t i = 0; i < run->source.list.count && ok; i++) {
        json_t *pair = json_array();
        ok = parts_add(list, NULL, pair) && parts_add_place(pair, NULL, run->source.boxes[i].min) &&
             parts_add_place(pair, NULL, run->source.boxes[i].max);
    }
    return ok;
}

/* ---- what a union needs to know of its inputs */

bool parts_add_facts(json_t *to, const char *key, const merge_facts *facts, uint64_t columns) {
    json_t *o = json_object(), *colors = json_array(), *lost = json_array();
    bool ok = parts_add(to, key, o) && parts_add(o, "points", json_integer((json_int_t)facts->points)) &&
              parts_add_axes(o, "low", facts->low) && parts_add_axes(o, "high", facts->high) &&
              parts_add(o, "colors", colors) && parts_add(o, "times", json_integer((json_int_t)facts->times)) &&
              parts_add(o, "no_week", json_integer((json_int_t)facts->no_week)) &&
              parts_add(o, "ranks_between", json_integer((json_int_t)facts->ranks_between)) &&
              parts_add(o, "not_double", lost);
    for (uint32_t g = 0; g < MERGE_COLORS && ok; g++) ok = parts_add_color(colors, &facts->colors[g]);
    for (uint64_t c = 0; c < columns && ok; c++)
        ok = parts_add(lost, NULL, json_integer((json_int_t)facts->not_double[c]));
    return ok;
}

static bool add_all_facts(const parts_run *run, json_t *root) {
    json_t *list = json_array();
    bool ok = parts_add(root, "facts", list);
    for (uint64_t i = 0; i < run->source.list.count && run->source.facts != NULL && ok; i++) {
        ok = parts_add_facts(list, NULL, &run->source.facts[i], mote_cloud_column_count(run->source.shapes[i]));
    }
    return ok;
}

/* ---- parts */

static json_int_t mask(const bool wins[MOTE_ORDER_BITS + 1]) {
    json_int_t bits = 0;
    for (uint32_t level = 0; level <= MOTE_ORDER_BITS; level++) bits |= (json_int_t)wins[level] << level;
    return bits;
}

static bool add_wins(json_t *part, const char *key, const parts_wins *wins) {
    json_t *list = json_array();
    return parts_add(part, key, list) && parts_add(list, NULL, json_integer(mask(wins->low))) &&
           parts_add(list, NULL, json_integer(mask(wins->high)));
}

static bool add_border(json_t *part, const lod_border *border) {
    json_t *list = json_array();
    bool ok = parts_add(part, "first_code", parts_put_bits(border->code)) && parts_add(part, "border_points", list);
    for (uint32_t level = 0; level <= MOTE_ORDER_BITS && border->points[level] > 0 && ok; level++) {
        ok = parts_add(list, NULL, json_integer((json_int_t)border->points[level]));
    }
    return ok;
}

/* What a part reads. */
typedef struct part_reading {
    uint64_t points, most_points; /* of all its inputs; that come at once */
    double bytes;
} part_reading;

/* What all inputs have. */
typedef struct input_sums {
    uint64_t *points, *bytes; /* [input] */
} input_sums;

/* Where in the input they are: of each span the first unit, that behind it, and the points before. */
static bool add_spans(const parts_run *run, const parts_share *share, json_t *entry) {
    json_t *list = share->span_count > 0 ? json_array() : NULL;
    bool ok = share->span_count == 0 || parts_add(entry, NULL, list);
    for (uint64_t s = 0; s < share->span_count && ok; s++) {
        const reader_span *span = &run->spans[share->first_span + s];
        ok = parts_add(list, NULL, json_integer((json_int_t)span->first)) &&
             parts_add(list, NULL, json_integer((json_int_t)span->end)) &&
             parts_add(list, NULL, json_integer((json_int_t)span->before));
    }
    return ok;
}

/* That reading them gives, of all that the input has. */
static uint64_t points_of_spans(const parts_run *run, const parts_share *share, uint64_t all) {
    uint64_t points = 0;
    for (uint64_t s = 0; s < share->span_count; s++) {
        const reader_span *span = &run->spans[share->first_span + s];
        points += span->before_end - span->before;
    }
    return share->span_count > 0 ? points : all;
}

/* How many of these come at once. A piece of LAS ends with its span, as does one whose points are to be numbered;
   chunks of LAZ of several spans are decoded together. */
static uint64_t points_at_once(const parts_run *run, const parts_share *share, uint64_t points) {
    uint64_t units = 0, longest = 0;
    for (uint64_t s = 0; s < share->span_count; s++) {
        const reader_span *span = &run->spans[share->first_span + s];
        units += span->end - span->first;
        if (span->before_end - span->before > longest) longest = span->before_end - span->before;
    }
    const bool is_by_span = share->span_count > 0 && (run->has_numbers || units == points);
    return is_by_span ? longest : points;
}

/* The inputs that have points of a part, how many, and where. *read: of these inputs */
static bool add_shares(const parts_run *run, const input_sums *inputs, uint32_t p, json_t *part, part_reading *read) {
    json_t *list = json_array();
    bool ok = parts_add(part, "inputs", list);
    for (uint64_t s = 0; s < run->share_count && ok; s++) {
        const parts_share *share = &run->shares[s];
        if (share->part != p) continue;
        json_t *entry = json_array();
        ok = parts_add(list, NULL, entry) && parts_add(entry, NULL, json_integer(share->input)) &&
             parts_add(entry, NULL, json_integer((json_int_t)share->points)) && add_spans(run, share, entry);
        if (share->points == 0) continue; /* the plan has read them */
        const uint64_t all = inputs->points[share->input], points = points_of_spans(run, share, all);
        read->points += points;
        read->bytes += (double)inputs->bytes[share->input] * (double)points / (double)(all > 0 ? all : 1);
        const uint64_t at_once = points_at_once(run, share, points);
        if (at_once > read->most_points) read->most_points = at_once;
    }
    return ok;
}

/* Points that the plan has read: where they are in the file of these, and among the part's. */
static bool add_shared(const parts_run *run, uint32_t p, json_t *part, part_reading *read) {
    const parts_placing *shared = &run->ranges[p].shared;
    if (shared->points == 0) return true;
    json_t *o = json_object(), *runs = json_array();
    bool ok = parts_add(part, "shared", o) && parts_add(o, "at", json_integer((json_int_t)shared->at)) &&
              parts_add(o, "points", json_integer((json_int_t)shared->points)) &&
              parts_add(o, "hash", parts_put_bits(shared->hash)) && parts_add(o, "runs", runs);
    for (uint64_t r = 0; r < shared->run_count && ok; r++) {
        ok = parts_add(runs, NULL, json_integer((json_int_t)shared->runs[r].first)) &&
             parts_add(runs, NULL, json_integer((json_int_t)shared->runs[r].count));
    }
    read->bytes += (double)(shared->points * run->record_bytes);
    return ok;
}

/* Where in the file of shared points it is, what it has, and the checksum. */
static bool add_section(json_t *part, const char *key, uint64_t at, uint64_t points, uint64_t hash) {
    json_t *o = json_object();
    return parts_add(part, key, o) && parts_add(o, "at", json_integer((json_int_t)at)) &&
           parts_add(o, "points", json_integer((json_int_t)points)) && parts_add(o, "hash", parts_put_bits(hash));
}

/* What the part gets of others: copies that the plan has made, and what sampling by distance has chosen among all. */
static bool add_of_others(const parts_run *run, uint32_t p, json_t *part, part_reading *read) {
    const parts_copies *copies = &run->ranges[p].copies;
    const parts_levels *chosen = &run->ranges[p].chosen;
    read->bytes += (double)(copies->points * run->record_bytes + chosen->count);
    return (!parts_looks_around(run) || add_section(part, "copies", copies->at, copies->points, copies->hash)) &&
           (chosen->at == 0 || add_section(part, "chosen", chosen->at, chosen->count, chosen->hash));
}

static double at_line(const double line[2], uint64_t points) { return line[0] + line[1] * (double)points; }

/* Of the pieces that inputs are read in. */
static double piece_points(const parts_run *run, const part_reading *read) {
    const uint64_t most = run->source.largest_piece;
    return (double)(read->most_points < most ? read->most_points : most);
}

/* Points in nodes that borders divide are in shares, and not in chunks of a COPC file. */
static double share_bytes_of(const parts_run *run, double shared) {
    const uint32_t record_bytes = run->is_copc ? parts_copc_job(run)->plan.record_bytes : 0;
    return shared * (double)(record_bytes + COPC_SHARE_POINT_BYTES);
}

uint64_t parts_limit_bytes(const parts_run *run, uint32_t p) {
    return run->begin_bytes + NAMES_BYTES + parts_part_bytes(run, p);
}

uint64_t parts_file_bytes(const parts_run *run, uint32_t p) {
    const double shared = run->is_copc ? parts_shared_points(run, p) : 0;
    const double chunks = at_line(run->prices.file_bytes, run->ranges[p].points) - shared * run->prices.file_bytes[1];
    return (uint64_t)(fmax(0, chunks) + share_bytes_of(run, shared) + MANIFEST_BYTES);
}

/* To read its points. Of mapped files the pages of a piece go when that is copied, before its points take theirs. */
static double reading_bytes(const parts_run *run, uint64_t points, const part_reading *read) {
    const parts_prices *prices = &run->prices;
    const double record_bytes = (double)run->record_bytes, own = (double)points * record_bytes;
    if (read->points == 0) return own;
    const double piece = piece_points(run, read), mapped_bytes = prices->piece_bytes - record_bytes;
    return prices->walk_bytes + own + piece * record_bytes + piece * fmax(0, mapped_bytes - record_bytes);
}

/* What making the part will take, as parts of a sample took it (parts_predict.c): memory that is resident, files of the
   part, bytes of inputs, which are read twice, and seconds of one core. memory_limit_bytes is what surely suffices. */
static bool add_costs(const parts_run *run, uint32_t p, const part_reading *read, json_t *part) {
    const parts_prices *prices = &run->prices;
    const parts_range *range = &run->ranges[p];
    const double share_bytes = run->is_copc ? share_bytes_of(run, parts_shared_points(run, p)) : 0;
    const uint64_t limit = parts_limit_bytes(run, p), copies = range->copies.points;
    const double reading = reading_bytes(run, range->points, read);
    /* A copy is read, coded and sorted as an own point is. */
    const double building = at_line(prices->memory_bytes, range->points + copies) + share_bytes;
    const double memory = (double)prices->floor_bytes + (building > reading ? building : reading);
    const double file = (double)parts_file_bytes(run, p);
    const double seconds = START_SECONDS + prices->open_seconds + prices->point_seconds * (double)read->points +
                           prices->byte_seconds * read->bytes + prices->seconds * (double)range->points;
    return parts_add(part, "memory_bytes", json_integer((json_int_t)memory)) &&
           parts_add(part, "memory_limit_bytes", json_integer((json_int_t)limit)) &&
           parts_add(part, "scratch_bytes", json_integer((json_int_t)file)) &&
           parts_add(part, "read_bytes", json_integer((json_int_t)read->bytes)) &&
           parts_add(part, "seconds", json_real(seconds));
}

static bool add_part(const parts_run *run, const input_sums *inputs, uint32_t p, json_t *list) {
    const parts_range *range = &run->ranges[p];
    json_t *o = json_object();
    part_reading read = {0, 0, 0};
    return parts_add(list, NULL, o) && parts_add(o, "points", json_integer((json_int_t)range->points)) &&
           add_shares(run, inputs, p, o, &read) && add_shared(run, p, o, &read) && add_of_others(run, p, o, &read) &&
           (run->prices.file_bytes[1] == 0 || add_costs(run, p, &read, o)) && add_border(o, &range->whole.low) &&
           add_wins(o, "wins", &range->wins[0]) && add_wins(o, "fine_wins", &range->wins[1]);
}

static bool add_parts(const parts_run *run, const input_sums *inputs, json_t *root) {
    json_t *list = json_array(), *flags = json_array();
    bool ok = parts_add(root, "points", json_integer((json_int_t)run->points)) &&
              parts_add(root, "skipped", json_integer((json_int_t)run->skipped)) &&
              parts_add(root, "record_bytes", json_integer((json_int_t)run->record_bytes)) &&
              parts_add(root, "flags", flags);
    for (uint32_t f = 0; f < POTREE_MERGED && ok; f++) ok = parts_add(flags, NULL, parts_put_bits(run->flags[f]));
    ok = ok && parts_add(root, "parts", list);
    for (uint32_t p = 0; p < run->part_count && ok; p++) ok = add_part(run, inputs, p, list);
    return ok;
}

static bool sum_inputs(const parts_run *run, const parts_job *job, const input_sums *inputs) {
    const json_t *list = json_object_get(json_object_get(job->json, "request"), "inputs");
    const parts_notes *notes = run->notes;
    bool ok = true;
    for (uint64_t u = 0; notes != NULL && u < notes->unit_count; u++) {
        inputs->points[notes->units[u].input] += notes->units[u].given;
    }
    for (uint64_t i = 0; i < run->source.list.count && ok; i++) {
        ok = parts_take_count(json_array_get(list, i), "bytes", INT64_MAX, &inputs->bytes[i]);
    }
    return ok;
}

mote_status parts_job_write(parts_run *run, parts_job *job, const char *path, bool at_once) {
    mote_context *ctx = run->ctx;
    const uint64_t count = run->source.list.count;
    const input_sums inputs = {mote_alloc_zero(ctx, count * sizeof *inputs.points, "inputs"),
                               mote_alloc_zero(ctx, count * sizeof *inputs.bytes, "inputs")};
    bool ok = inputs.points != NULL && inputs.bytes != NULL && sum_inputs(run, job, &inputs) &&
              add_box(run, job->json) && add_all_facts(run, job->json) && add_parts(run, &inputs, job->json);
    if (ok && run->fine) ok = parts_add(job->json, "fine", json_true());
    if (ok && run->source.boxes != NULL) ok = add_boxes(run, job->json);
    if (ok && run->is_copc) ok = parts_add_seen(run, job->json);
    mote_free(ctx, inputs.points);
    mote_free(ctx, inputs.bytes);
    if (!ok) return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: the plan");
    mote_free(ctx, job->path);
    job->path = mote_strdup(ctx, path);
    if (job->path == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(parts_plan_hash(job));
    return parts_json_write(ctx, job->json, path, at_once);
}
#endif
