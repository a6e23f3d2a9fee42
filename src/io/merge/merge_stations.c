/* Scans of several E57 files are numbered from 1 in each: together they get numbers of their own. */
#include "io/e57/e57_write.h"
#include "io/merge/merge_plan.h"

#define NUMBERS 65536u /* of point_source_id */

/* The numbers of the scans of a cloud; those whose points have numbers of their own have none. */
typedef struct station_range {
    uint32_t first, last; /* first > last: there are none */
    bool is_taken;        /* one of them is another input's */
} station_range;

static station_range find_stations(const mote_cloud *cloud, const bool *taken) {
    station_range range = {NUMBERS, 0, false};
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        const uint32_t number = cloud->records[i].record_id;
        if (number == 0 || !mote_e57_is_station(&cloud->records[i])) continue;
        range.first = number < range.first ? number : range.first;
        range.last = number > range.last ? number : range.last;
        range.is_taken = range.is_taken || taken[number];
    }
    return range;
}

/* Moves the numbers of an input behind those of the others, if there is room. */
static void tell_apart(merge_plan *plan, uint32_t input, const station_range *range, uint32_t highest) {
    merge_column *column = merge_find(plan, "point_source_id");
    const mote_column *from = column != NULL ? column->sources[input].column : NULL;
    const bool is_plain = from == NULL || (from->type == MOTE_UINT16 && from->bit_count == 0);
    if (!is_plain || range->last + highest >= NUMBERS) {
        mote_warn(plan->ctx, "%s: its scans %u to %u have the numbers of another input's, and there are no others left",
                  plan->names[input], range->first, range->last);
        return;
    }
    mote_note(plan->ctx,
              "%s: the numbers of its scans, %u to %u, become %u to %u (point_source_id): other inputs have them",
              plan->names[input], range->first, range->last, range->first + highest, range->last + highest);
    plan->stations[input] = (uint16_t)highest;
    if (from != NULL) column->sources[input].shift = highest;
}

static void number_inputs(merge_plan *plan, bool *taken) {
    uint32_t highest = 0;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const mote_cloud *cloud = plan->clouds[i];
        const station_range range = find_stations(cloud, taken);
        if (range.is_taken) tell_apart(plan, i, &range, highest);
        for (uint64_t r = 0; r < cloud->record_count; r++) {
            if (cloud->records[r].record_id == 0 || !mote_e57_is_station(&cloud->records[r])) continue;
            const uint32_t number = cloud->records[r].record_id + (uint32_t)plan->stations[i];
            taken[number] = true;
            highest = number > highest ? number : highest;
        }
    }
}

mote_status merge_stations(merge_plan *plan) {
    bool *taken = mote_alloc_zero(plan->ctx, NUMBERS * sizeof *taken, "union");
    plan->stations = mote_alloc_zero(plan->ctx, plan->input_count * sizeof *plan->stations, "union");
    if (taken != NULL && plan->stations != NULL) number_inputs(plan, taken);
    const bool made = taken != NULL && plan->stations != NULL;
    mote_free(plan->ctx, taken);
    return made ? MOTE_OK : MOTE_ERROR_MEMORY;
}
