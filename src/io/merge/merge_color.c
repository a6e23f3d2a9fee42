/* Colours, infrared and intensity in a union. Where the inputs mean different things by their numbers (8 bits, also in
   16-bit fields, 16 bits, 0..1), all are brought to 16 bits, so that white stays white. */
#include "io/merge/merge_plan.h"

static const char *const group_names[MERGE_COLORS] = {"colours", "near-infrared values", "intensities"};
#define INTENSITY 2u /* whole numbers of it are 16 bits whatever their range */

/* What an input's values mean. */
static mote_color_rule judge_input(const merge_plan *plan, uint32_t group, uint32_t input) {
    const mote_column *channels[3];
    const uint32_t count = merge_color_channels(plan->clouds[input], group, channels);
    const mote_color_range *range = &plan->facts[input].colors[group];
    if (group != INTENSITY) return mote_color_judge(channels, count, range);
    return mote_color_judge_intensity(count > 0 ? channels[0] : NULL, range);
}

/* Whether the inputs differ in a way that can be mended; where it cannot, a warning says so. */
static bool depths_differ(const merge_plan *plan, uint32_t group, const mote_color_rule *rules) {
    uint32_t first = plan->input_count;
    bool differ = false, known = true;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        if (rules[i].depth == MOTE_COLOR_BLACK) continue;
        if (first == plan->input_count) first = i;
        differ = differ || rules[i].depth != rules[first].depth;
        known = known && !rules[i].outside;
    }
    if (differ && !known) {
        mote_warn(plan->ctx,
                  "the %s of the inputs differ in range, and some lie outside 0..65535: they stay as they are",
                  group_names[group]);
    }
    return differ && known;
}

static void widen(const merge_plan *plan, uint32_t group, uint32_t input, const mote_color_rule *rule) {
    const mote_column *channels[3];
    const uint32_t count = merge_color_channels(plan->clouds[input], group, channels);
    bool scaled = false;
    for (uint32_t k = 0; k < count; k++) {
        merge_column *column = merge_find(plan, channels[k]->name);
        merge_source *source = &column->sources[input];
        column->type = MOTE_UINT16;
        column->world = false;
        column->scale = 1;
        column->offset = 0;
        source->is_color = mote_color_is_real(channels[k]);
        source->color = mote_color_scaled(channels[k], rule);
        if (!source->is_color) source->factor = rule->white == MOTE_COLOR_MAX_8 ? MOTE_COLOR_MAX / MOTE_COLOR_MAX_8 : 1;
        scaled = scaled || source->is_color;
    }
    if (rule->depth == MOTE_COLOR_BLACK || count == 0) return;
    if (scaled) {
        mote_color_tell(plan->ctx, plan->names[input], group_names[group], rule);
    } else if (rule->white == MOTE_COLOR_MAX_8) {
        mote_warn(plan->ctx, "%s: its 8-bit %s are multiplied by %d, as other inputs have 16-bit ones",
                  plan->names[input], group_names[group], MOTE_COLOR_MAX / MOTE_COLOR_MAX_8);
    }
}

mote_status merge_colors(merge_plan *plan) {
    mote_color_rule *rules = mote_alloc_zero(plan->ctx, plan->input_count * sizeof *rules, "union");
    if (rules == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t g = 0; g < MERGE_COLORS; g++) {
        for (uint32_t i = 0; i < plan->input_count; i++) rules[i] = judge_input(plan, g, i);
        if (!depths_differ(plan, g, rules)) continue;
        for (uint32_t i = 0; i < plan->input_count; i++) widen(plan, g, i, &rules[i]);
    }
    mote_free(plan->ctx, rules);
    return MOTE_OK;
}
