/* Columns of a union: by name, and what their values are. */
#include "io/merge/merge_plan.h"

#include <math.h>

merge_column *merge_find(const merge_plan *plan, const char *name) {
    for (uint64_t i = 0; i < plan->column_count; i++) {
        if (strcmp(plan->columns[i].name, name) == 0) return &plan->columns[i];
    }
    return NULL;
}

mote_type merge_whole_type(const mote_column *column) {
    if (column->bit_count == 0) return column->type;
    return column->bit_count <= 8    ? MOTE_UINT8
           : column->bit_count <= 16 ? MOTE_UINT16
           : column->bit_count <= 32 ? MOTE_UINT32
                                     : MOTE_UINT64;
}

mote_status merge_check_double(merge_plan *plan, uint32_t input, const mote_column *column) {
    const mote_type type = merge_whole_type(column);
    if (type != MOTE_INT64 && type != MOTE_UINT64) return MOTE_OK;
    const uint64_t lost = plan->facts[input].not_double[column - mote_cloud_column(plan->clouds[input], 0)];
    if (lost == 0) return MOTE_OK;
    return mote_fail(plan->ctx, MOTE_ERROR_ARGUMENT,
                     "%s: attribute \"%s\": %llu values of type %s do not fit the double that it would take to merge "
                     "them with the other inputs",
                     plan->names[input], column->name, (unsigned long long)lost, mote_type_name(type));
}

/* ---- limits */

/* What an input states of a column, in numbers of the merged one; nothing where its values become others. */
static mote_column_limits stated_limits(const merge_plan *plan, const merge_column *column, uint32_t input) {
    const merge_source *source = &column->sources[input];
    mote_column_limits limits;
    const bool stated = mote_cloud_limits(plan->clouds[input], source->column->name, &limits);
    const bool changed = source->is_color || source->is_rank || source->factor != 1 || source->shift != 0;
    if (!stated || changed) {
        memset(&limits, 0, sizeof limits);
        return limits;
    }
    uint64_t *const numbers[] = {&limits.no_data, &limits.min, &limits.max};
    for (int k = 0; k < 3 && mote_type_is_float(column->type); k++) {
        const double stored = mote_limit_real(*numbers[k], source->column->type);
        const double value = column->world ? stored * source->column->scale + source->column->offset : stored;
        *numbers[k] = mote_limit_of_real(value, column->type);
    }
    return limits;
}

/* Widens what is stated of min and max; drops what is not stated of both. */
static void join_range(mote_column_limits *all, const mote_column_limits *more, mote_type type) {
    all->has_min = all->has_min && more->has_min;
    all->has_max = all->has_max && more->has_max;
    if (mote_limit_real(more->min, type) < mote_limit_real(all->min, type)) all->min = more->min;
    if (mote_limit_real(more->max, type) > mote_limit_real(all->max, type)) all->max = more->max;
}

static bool same_no_data(const mote_column_limits *a, const mote_column_limits *b) {
    return a->has_no_data == b->has_no_data && (!a->has_no_data || a->no_data == b->no_data);
}

/* Intensities of different scales, as their stated ranges tell, cannot be compared. */
static void tell_intensities(const merge_plan *plan, const merge_column *column) {
    double least = INFINITY, most = -INFINITY;
    const char *of_least = NULL, *of_most = NULL;
    for (uint32_t i = 0; i < plan->input_count && strcmp(column->name, "intensity") == 0; i++) {
        if (column->sources[i].column == NULL || mote_cloud_count(plan->clouds[i]) == 0) continue;
        const mote_column_limits limits = stated_limits(plan, column, i);
        const double max = mote_limit_real(limits.max, column->type);
        if (!limits.has_max) continue;
        if (max < least) of_least = plan->names[i];
        if (max > most) of_most = plan->names[i];
        least = fmin(least, max);
        most = fmax(most, max);
    }
    if (of_least == NULL || !mote_intensities_differ(least, most)) return;
    mote_warn(plan->ctx,
              "intensities are of different scales (%s: up to %g, %s: up to %g) and are kept as stored: mote convert "
              "--set \"intensity = …\" brings an input to that of the others",
              of_least, least, of_most, most);
}

void merge_limits(const merge_plan *plan, merge_column *column) {
    const char *from = NULL;
    memset(&column->limits, 0, sizeof column->limits);
    tell_intensities(plan, column);
    for (uint32_t i = 0; i < plan->input_count; i++) {
        if (column->sources[i].column == NULL || mote_cloud_count(plan->clouds[i]) == 0) continue;
        const mote_column_limits limits = stated_limits(plan, column, i);
        if (from == NULL) {
            column->limits = limits;
        } else if (!same_no_data(&column->limits, &limits)) {
            mote_warn(plan->ctx, "%s and %s differ in the no-data value of \"%s\": such values count as any other",
                      from, plan->names[i], column->name);
            memset(&column->limits, 0, sizeof column->limits);
            return;
        } else {
            join_range(&column->limits, &limits, column->type);
        }
        from = plan->names[i];
    }
}
