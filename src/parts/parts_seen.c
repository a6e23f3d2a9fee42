/* What was seen of all values, by which the records of a COPC file are planned: found once, for the plan. */
#include <mote_have.h>

#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define SCANS_MAX 65536u

static bool add_real(json_t *list, double value) { return parts_add(list, NULL, parts_put_real(value)); }

static bool add_scans(const las_plan *plan, json_t *to) {
    json_t *list = json_array();
    bool ok = parts_add(to, "ranges", list);
    for (uint32_t i = 0; i < plan->scan_count && ok; i++) {
        const las_range *range = &plan->scans[i].range;
        json_t *o = json_array();
        ok = parts_add(list, NULL, o) && add_real(o, range->low) && add_real(o, range->high) &&
             parts_add(o, NULL, json_boolean(range->whole)) && parts_add(o, NULL, json_boolean(range->finite));
    }
    return ok;
}

bool parts_add_seen(const parts_run *run, json_t *to) {
    const las_plan *plan = &parts_copc_job(run)->plan;
    const las_seen *seen = &plan->seen;
    json_t *o = json_object(), *singles = json_array(), *colors = json_array();
    bool ok = parts_add(to, "seen", o) && add_scans(plan, o) && parts_add(o, "singles", singles) &&
              parts_add(o, "points", json_integer((json_int_t)seen->count)) &&
              parts_add_place(o, "min", seen->box.min) && parts_add_place(o, "max", seen->box.max) &&
              parts_add(o, "broken", json_integer((json_int_t)seen->broken)) && parts_add_axes(o, "low", seen->low) &&
              parts_add_axes(o, "high", seen->high) && parts_add_place(o, "steps", seen->steps) &&
              parts_add(o, "has_steps", json_boolean(seen->has_steps)) && parts_add(o, "colors", colors) &&
              parts_add_color(colors, &seen->rgb[0]) && parts_add_color(colors, &seen->rgb[1]) &&
              parts_add_color(colors, &seen->nir[0]) && parts_add_color(colors, &seen->nir[1]) &&
              parts_add_color(colors, &seen->intensity);
    for (uint64_t c = 0; c < plan->cloud->column_count && ok; c++) {
        ok = parts_add(singles, NULL, json_boolean(plan->singles[c]));
    }
    return ok;
}

static bool take_scans(const json_t *list, las_plan *plan) {
    bool ok = true;
    for (uint32_t i = 0; i < plan->scan_count && ok; i++) {
        const json_t *o = json_array_get(list, i);
        las_range *range = &plan->scans[i].range;
        ok = parts_take_real(json_array_get(o, 0), &range->low) &&
             parts_take_real(json_array_get(o, 1), &range->high) && json_is_boolean(json_array_get(o, 2)) &&
             json_is_boolean(json_array_get(o, 3));
        range->whole = json_is_true(json_array_get(o, 2));
        range->finite = json_is_true(json_array_get(o, 3));
    }
    return ok;
}

static bool take_seen(const json_t *o, las_seen *seen) {
    const json_t *colors = json_object_get(o, "colors");
    seen->has_steps = json_is_true(json_object_get(o, "has_steps"));
    return parts_take_count(o, "points", INT64_MAX, &seen->count) &&
           parts_take_place(json_object_get(o, "min"), seen->box.min) &&
           parts_take_place(json_object_get(o, "max"), seen->box.max) &&
           parts_take_count(o, "broken", INT64_MAX, &seen->broken) &&
           parts_take_axes(json_object_get(o, "low"), seen->low) &&
           parts_take_axes(json_object_get(o, "high"), seen->high) &&
           parts_take_place(json_object_get(o, "steps"), seen->steps) &&
           json_is_boolean(json_object_get(o, "has_steps")) &&
           parts_take_color(json_array_get(colors, 0), &seen->rgb[0]) &&
           parts_take_color(json_array_get(colors, 1), &seen->rgb[1]) &&
           parts_take_color(json_array_get(colors, 2), &seen->nir[0]) &&
           parts_take_color(json_array_get(colors, 3), &seen->nir[1]) &&
           parts_take_color(json_array_get(colors, 4), &seen->intensity);
}

bool parts_take_seen(mote_context *ctx, const json_t *from, uint64_t columns, las_plan *seen) {
    const json_t *scans = json_object_get(from, "ranges"), *singles = json_object_get(from, "singles");
    const size_t count = json_array_size(scans);
    if (!json_is_array(scans) || count > SCANS_MAX || json_array_size(singles) != columns) return false;
    seen->scan_count = (uint32_t)count;
    seen->scans = mote_alloc_zero(ctx, count * sizeof *seen->scans, "LAS plan");
    seen->singles = mote_alloc_zero(ctx, columns * sizeof *seen->singles, "LAS plan");
    if (seen->scans == NULL || seen->singles == NULL) return false;
    for (uint64_t c = 0; c < columns; c++) {
        if (!json_is_boolean(json_array_get(singles, c))) return false;
        seen->singles[c] = json_is_true(json_array_get(singles, c));
    }
    return take_scans(scans, seen) && take_seen(from, &seen->seen);
}
#endif
