/* Colours, infrared and intensity in a union. Where the inputs mean different things by their numbers (8 bits, also in
   16-bit fields, 16 bits, 0..1), all are brought to 16 bits, so that white stays white. */
#include "io/merge/merge_plan.h"

#define MAX_CHANNELS 3u

/* Attributes that are judged together. */
typedef struct color_group {
    const char *names[MAX_CHANNELS]; /* NULL: no more */
    const char *what;
    bool is_intensity;
} color_group;

static const color_group groups[] = {{{"red", "green", "blue"}, "colours", false},
                                     {{"nir", NULL, NULL}, "near-infrared values", false},
                                     {{"intensity", NULL, NULL}, "intensities", true}};

static uint32_t find_sources(const merge_plan *plan, const color_group *group, uint32_t input,
                             merge_column *columns[MAX_CHANNELS], const mote_column *channels[MAX_CHANNELS]) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < MAX_CHANNELS && group->names[k] != NULL; k++) {
        merge_column *column = merge_find(plan, group->names[k]);
        if (column == NULL || column->sources[input].column == NULL) continue;
        columns[count] = column;
        channels[count++] = column->sources[input].column;
    }
    return count;
}

/* What an input's values mean. */
static mote_color_rule judge_input(const merge_plan *plan, const color_group *group, uint32_t input) {
    merge_column *columns[MAX_CHANNELS];
    const mote_column *channels[MAX_CHANNELS];
    const uint32_t count = find_sources(plan, group, input, columns, channels);
    const uint64_t points = mote_cloud_count(plan->clouds[input]);
    if (!group->is_intensity) return mote_color_find(plan->ctx, channels, count, points);
    return mote_color_find_intensity(plan->ctx, count > 0 ? channels[0] : NULL, points);
}

/* Whether the inputs differ in a way that can be mended; where it cannot, a warning says so. */
static bool depths_differ(const merge_plan *plan, const color_group *group, const mote_color_rule *rules) {
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
                  group->what);
    }
    return differ && known;
}

static void widen(const merge_plan *plan, const color_group *group, uint32_t input, const mote_color_rule *rule) {
    merge_column *columns[MAX_CHANNELS];
    const mote_column *channels[MAX_CHANNELS];
    const uint32_t count = find_sources(plan, group, input, columns, channels);
    bool scaled = false;
    for (uint32_t k = 0; k < count; k++) {
        merge_source *source = &columns[k]->sources[input];
        columns[k]->type = MOTE_UINT16;
        columns[k]->world = false;
        columns[k]->scale = 1;
        columns[k]->offset = 0;
        source->is_color = mote_color_is_real(channels[k]);
        source->color = mote_color_scaled(channels[k], rule);
        if (!source->is_color) source->factor = rule->white == MOTE_COLOR_MAX_8 ? MOTE_COLOR_MAX / MOTE_COLOR_MAX_8 : 1;
        scaled = scaled || source->is_color;
    }
    if (rule->depth == MOTE_COLOR_BLACK || count == 0) return;
    if (scaled) {
        mote_color_tell(plan->ctx, plan->names[input], group->what, rule);
    } else if (rule->white == MOTE_COLOR_MAX_8) {
        mote_warn(plan->ctx, "%s: its 8-bit %s are multiplied by %d, as other inputs have 16-bit ones",
                  plan->names[input], group->what, MOTE_COLOR_MAX / MOTE_COLOR_MAX_8);
    }
}

mote_status merge_colors(merge_plan *plan) {
    mote_color_rule *rules = mote_alloc_zero(plan->ctx, plan->input_count * sizeof *rules, "union");
    if (rules == NULL) return MOTE_ERROR_MEMORY;
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        for (uint32_t i = 0; i < plan->input_count; i++) rules[i] = judge_input(plan, &groups[g], i);
        if (!depths_differ(plan, &groups[g], rules)) continue;
        for (uint32_t i = 0; i < plan->input_count; i++) widen(plan, &groups[g], i, &rules[i]);
    }
    mote_free(plan->ctx, rules);
    return MOTE_OK;
}
