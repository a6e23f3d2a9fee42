/* GPS times in a union: seconds of the week and adjusted standard time (GPS time less 10^9 s) are two things. The week
   is not in a LAS file (its date is that of the file), so one cannot be turned into the other. */
#include <math.h>

#include "io/las/las_format.h"
#include "io/merge/merge_plan.h"

typedef enum time_kind {
    TIME_NONE,    /* no times, or all 0 */
    TIME_UNKNOWN, /* of no LAS file, and such as a week holds */
    TIME_WEEK,
    TIME_ADJUSTED
} time_kind;

static bool says_adjusted(const mote_las_origin *origin) {
    const uint16_t bits =
        origin->version_minor >= 5 ? LAS_ENCODING_ADJUSTED | LAS_ENCODING_TIME_BASE : LAS_ENCODING_ADJUSTED;
    return origin->version_minor >= 2 && (origin->global_encoding & bits) != 0;
}

/* The times themselves decide where no week holds them. */
static time_kind judge_times(merge_plan *plan, uint32_t input) {
    const merge_column *merged = merge_find(plan, "gps_time");
    const mote_column *column = merged->sources[input].column;
    const mote_las_origin *origin = &plan->clouds[input]->las;
    const merge_facts *facts = &plan->facts[input];
    if (column == NULL || facts->times == 0) return TIME_NONE;
    if (facts->no_week > 0 && origin->present && !says_adjusted(origin)) {
        mote_warn(plan->ctx,
                  "%s: its header says that GPS times are seconds of the week, but no week holds them: they are taken "
                  "as adjusted standard time",
                  plan->names[input]);
    }
    const bool is_known = !origin->present && (origin->global_encoding & LAS_ENCODING_ADJUSTED) != 0;
    if (facts->no_week > 0 || is_known || (origin->present && says_adjusted(origin))) return TIME_ADJUSTED;
    return origin->present ? TIME_WEEK : TIME_UNKNOWN;
}

mote_status merge_times(merge_plan *plan) {
    uint32_t week = plan->input_count, adjusted = plan->input_count;
    if (merge_find(plan, "gps_time") == NULL) return MOTE_OK;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const time_kind kind = judge_times(plan, i);
        if (kind == TIME_WEEK && week == plan->input_count) week = i;
        if (kind == TIME_ADJUSTED && adjusted == plan->input_count) adjusted = i;
    }
    plan->adjusted_time = adjusted < plan->input_count;
    if (week == plan->input_count || !plan->adjusted_time) return MOTE_OK;
    return mote_fail(
        plan->ctx, MOTE_ERROR_ARGUMENT,
        "%s has GPS times in seconds of the week, %s in adjusted standard time: neither becomes the other, "
        "as the week of %s is not known; select attributes without gps_time",
        plan->names[week], plan->names[adjusted], plan->names[week]);
}
