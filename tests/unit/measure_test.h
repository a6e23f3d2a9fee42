#ifndef MOTE_MEASURE_TEST_H
#define MOTE_MEASURE_TEST_H

#include "measure/measure_math.h"
#include "measure/volume_grid.h"
#include "support/support.h"

mote_shapes *measure_test_shapes(mote_context *ctx, const char *text);

/* Metres and radians of x and y, metres of heights; 0: not known. */
typedef struct measure_test_units {
    double metres, radians, vertical;
} measure_test_units;
mote_units measure_test_units_of(measure_test_units set);

void profiles_have_the_points_beside_their_line(void **state);
void measuring_fails_cleanly(void **state);
void measuring_can_be_cancelled(void **state);

#endif
