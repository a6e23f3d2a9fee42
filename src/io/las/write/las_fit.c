/* Whether the values of a column are numbers that a dimension of LAS holds. */
#include <math.h>

#include "io/las/write/las_plan.h"

const mote_column *mote_las_find_chosen(const las_plan *plan, const char *name) {
    const mote_column *column = mote_cloud_find(plan->cloud, name);
    if (column == NULL || !plan->chosen[column - plan->cloud->columns]) return NULL;
    return mote_las_is_extra_of_origin(plan, column) ? NULL : column;
}

las_range mote_las_field_range(const las_field *field) {
    const int bits = field->bit_count != 0 ? field->bit_count : 8 * (int)mote_type_size(field->type);
    const bool is_signed = mote_type_is_signed(field->type) && field->bit_count == 0;
    const las_range range = {is_signed ? -ldexp(1, bits - 1) : 0, ldexp(1, is_signed ? bits - 1 : bits) - 1, true,
                             true};
    return range;
}

bool mote_las_is_within(const las_range *inner, const las_range *outer) {
    return inner->low > inner->high || (inner->low >= outer->low && inner->high <= outer->high);
}

bool mote_las_type_fits(const mote_column *column, const las_field *field) {
    if (mote_type_is_float(column->type) || column->scale != field->scale || column->offset != 0) return false;
    const las_field stored = {.type = column->type, .bit_count = column->bit_count};
    const las_range inner = mote_las_field_range(&stored), outer = mote_las_field_range(field);
    return mote_las_is_within(&inner, &outer);
}

las_range mote_las_range_of(const las_plan *plan, const mote_column *column, double divisor) {
    for (uint32_t i = 0; i < plan->scan_count; i++) {
        if (plan->scans[i].column == column && plan->scans[i].divisor == divisor) return plan->scans[i].range;
    }
    const las_range unknown = {-INFINITY, INFINITY, false, false};
    return unknown;
}

bool mote_las_integers_fit(const las_plan *plan, const mote_column *column, const las_field *field) {
    if (mote_las_type_fits(column, field)) return true;
    const las_range inner = mote_las_range_of(plan, column, field->scale), outer = mote_las_field_range(field);
    return inner.whole && mote_las_is_within(&inner, &outer);
}
