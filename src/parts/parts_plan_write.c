/* The plan: what was found of all points, so that who makes a part need not look at those of the others. */
#include <mote_have.h>

#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

/* Of one core, about, to build and write a point; for the seconds that a part is told to take. */
#define BUILD_SECONDS 5e-7

bool parts_add_axes(json_t *object, const char *key, const int64_t values[3]) {
    json_t *list = json_array();
    bool ok = parts_add(object, key, list);
    for (int k = 0; k < 3 && ok; k++) ok = parts_add(list, NULL, json_integer(values[k]));
    return ok;
}

static bool add_place(json_t *object, const char *key, const double values[3]) {
    json_t *list = json_array();
    bool ok = parts_add(object, key, list);
    for (int k = 0; k < 3 && ok; k++) ok = parts_add(list, NULL, parts_put_real(values[k]));
    return ok;
}

static bool add_box(const parts_run *run, json_t *root) {
    json_t *o = json_object();
    const bool ok = parts_add(root, "box", o);
    if (run->box.points == 0 || (!run->is_integer && run->box.skipped == run->box.points)) return ok; /* of nothing */
    if (run->is_integer)
        return ok && parts_add_axes(o, "low", run->box.low) && parts_add_axes(o, "high", run->box.high);
    return ok && add_place(o, "min", run->box.world.min) && add_place(o, "max", run->box.world.max);
}

/* ---- what a union needs to know of its inputs */

static bool add_color(json_t *list, const mote_color_range *range) {
    json_t *o = json_array();
    return parts_add(list, NULL, o) && parts_add(o, NULL, parts_put_real(range->low)) &&
           parts_add(o, NULL, parts_put_real(range->high)) &&
           parts_add(o, NULL, json_integer((json_int_t)range->missing)) &&
           parts_add(o, NULL, json_integer((json_int_t)range->infinite)) &&
           parts_add(o, NULL, json_integer((json_int_t)range->fractions));
}

bool parts_add_facts(json_t *to, const char *key, const merge_facts *facts, uint64_t columns) {
    json_t *o = json_object(), *colors = json_array(), *lost = json_array();
    bool ok = parts_add(to, key, o) && parts_add(o, "points", json_integer((json_int_t)facts->points)) &&
              parts_add_axes(o, "low", facts->low) && parts_add_axes(o, "high", facts->high) &&
              parts_add(o, "colors", colors) && parts_add(o, "times", json_integer((json_int_t)facts->times)) &&
              parts_add(o, "no_week", json_integer((json_int_t)facts->no_week)) &&
              parts_add(o, "ranks_between", json_integer((json_int_t)facts->ranks_between)) &&
              parts_add(o, "not_double", lost);
    for (uint32_t g = 0; g < MERGE_COLORS && ok; g++) ok = add_color(colors, &facts->colors[g]);
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

/* The inputs that have points of a part, and how many. *read: the points of these inputs */
static bool add_shares(const parts_run *run, const uint64_t *input_points, uint32_t p, json_t *part, uint64_t *read) {
    json_t *list = json_array();
    bool ok = parts_add(part, "inputs", list);
    for (uint64_t s = 0; s < run->share_count && ok; s++) {
        const parts_share *share = &run->shares[s];
        if (share->part != p) continue;
        json_t *pair = json_array();
        ok = parts_add(list, NULL, pair) && parts_add(pair, NULL, json_integer(share->input)) &&
             parts_add(pair, NULL, json_integer((json_int_t)share->points));
        *read += input_points[share->input];
    }
    return ok;
}

static bool add_part(const parts_run *run, const uint64_t *input_points, uint32_t p, json_t *list) {
    const parts_range *range = &run->ranges[p];
    json_t *o = json_object();
    uint64_t read = 0;
    const double each = run->points > 0 ? run->report->distribute_seconds / (double)run->points : 0;
    return parts_add(list, NULL, o) && parts_add(o, "points", json_integer((json_int_t)range->points)) &&
           parts_add(o, "memory_bytes", json_integer((json_int_t)parts_memory_bytes(run, range->points))) &&
           parts_add(o, "scratch_bytes", json_integer((json_int_t)(range->points * run->record_bytes))) &&
           add_shares(run, input_points, p, o, &read) &&
           parts_add(o, "seconds", json_real(each * (double)read + BUILD_SECONDS * (double)range->points)) &&
           add_border(o, &range->whole.low) && add_wins(o, "wins", &range->wins[0]) &&
           add_wins(o, "fine_wins", &range->wins[1]);
}

static bool add_parts(const parts_run *run, const uint64_t *input_points, json_t *root) {
    json_t *list = json_array(), *flags = json_array();
    bool ok = parts_add(root, "points", json_integer((json_int_t)run->points)) &&
              parts_add(root, "skipped", json_integer((json_int_t)run->skipped)) &&
              parts_add(root, "record_bytes", json_integer((json_int_t)run->record_bytes)) &&
              parts_add(root, "flags", flags);
    for (uint32_t f = 0; f < POTREE_MERGED && ok; f++) ok = parts_add(flags, NULL, parts_put_bits(run->flags[f]));
    ok = ok && parts_add(root, "parts", list);
    for (uint32_t p = 0; p < run->part_count && ok; p++) ok = add_part(run, input_points, p, list);
    return ok;
}

mote_status parts_job_write(parts_run *run, parts_job *job, const char *path, bool at_once) {
    mote_context *ctx = run->ctx;
    uint64_t *points = mote_alloc_zero(ctx, run->source.list.count * sizeof *points, "inputs");
    if (points == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t s = 0; s < run->share_count; s++) points[run->shares[s].input] += run->shares[s].points;
    const bool ok = add_box(run, job->json) && add_all_facts(run, job->json) && add_parts(run, points, job->json);
    mote_free(ctx, points);
    if (!ok) return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: the plan");
    mote_free(ctx, job->path);
    job->path = mote_strdup(ctx, path);
    if (job->path == NULL) return MOTE_ERROR_MEMORY;
    return parts_json_write(ctx, job->json, path, at_once, &job->hash);
}
#endif
