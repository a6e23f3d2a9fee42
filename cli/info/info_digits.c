/* Values with the digits that the file has. */
#include "info/info_digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MULTIPLE_TOLERANCE 1e-6  /* of a step: an offset that is off by less is meant to be a multiple of it */
#define ROUNDING           1e-13 /* of a value: what sums of doubles leave */
#define LARGE              1e15  /* no decimals are known of a double from here on */

/* Whether the offset is a multiple of the scale, so that the decimals of the scale are those of all values. */
static bool is_aligned(const mote_column *column) {
    const double steps = column->offset / column->scale;
    return fabs(steps - nearbyint(steps)) < MULTIPLE_TOLERANCE || fabs(steps) > LARGE;
}

static bool is_scaled(const mote_column *column) { return column->scale != 1 || column->offset != 0; }

text digits_of_value(const mote_column *column, double value) {
    if (column == NULL || !(fabs(column->scale) > 0)) return text_real(value);
    if (!mote_type_is_float(column->type)) return text_fixed(value, text_step_decimals(fabs(column->scale)));
    return column->type == MOTE_FLOAT32 && !is_scaled(column) ? text_float((float)value) : text_real(value);
}

text digits_exact(const mote_column *column, double value) {
    const bool exact = column == NULL || mote_type_is_float(column->type) || is_aligned(column);
    return exact ? digits_of_value(column, value) : digits_of_sum(value);
}

text digits_of_difference(const mote_column *column, double high, double low) {
    const double difference = high - low;
    const bool is_float = column != NULL && mote_type_is_float(column->type) && !is_scaled(column);
    if (!is_float || fabs(difference) > LARGE) return digits_of_value(column, difference);
    const int of_high = text_real_decimals(strtod(digits_of_value(column, high).chars, NULL));
    const int of_low = text_real_decimals(strtod(digits_of_value(column, low).chars, NULL));
    return text_fixed(difference, of_high > of_low ? of_high : of_low);
}

text digits_of_sum(double value) {
    char rounded[32];
    double near = value;
    for (int digits = 12; digits <= 15; digits++) {
        snprintf(rounded, sizeof rounded, "%.*g", digits, value);
        near = strtod(rounded, NULL);
        if (fabs(near - value) < ROUNDING * fabs(value)) break;
    }
    return text_real(near);
}
