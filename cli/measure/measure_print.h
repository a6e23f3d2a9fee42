/* Figures as text and as JSON. */
#ifndef CLI_MEASURE_PRINT_H
#define CLI_MEASURE_PRINT_H

#include <mote/mote.h>

#include "session.h"

void measure_print_volume(session *s, const mote_volume_params *params, const mote_volume *volume);
void measure_print_area(session *s, const mote_units *units, const mote_area *area);
/* output: NULL where the points went nowhere */
void measure_print_profile(session *s, const mote_units *units, double width, const mote_profile *profile,
                           const char *output);

#endif
