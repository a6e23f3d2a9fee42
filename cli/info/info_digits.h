/* Values with the digits that the file has, not those of the sums that made them: 1177.46, not 1177.4599999999627. */
#ifndef CLI_INFO_DIGITS_H
#define CLI_INFO_DIGITS_H

#include <mote/mote.h>

#include "text.h"

/* A value of a column, with the decimals of its scale; of floats the shortest text that reads back. */
text digits_of_value(const mote_column *column, double value);
/* The digits for programs, which want them exact: more decimals where the offset is no multiple of the scale. */
text digits_exact(const mote_column *column, double value);
/* The difference of two values of a column. */
text digits_of_difference(const mote_column *column, double high, double low);
/* A value that was computed, without the digits that only rounding left. */
text digits_of_sum(double value);

#endif
