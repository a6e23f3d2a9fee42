#ifndef MOTE_CRS_STEP_H
#define MOTE_CRS_STEP_H

#include "io/crs/crs_proj.h"

/* Metres of one unit of x, y and z at a latitude, which is in the system's unit and counts for geographic ones alone.
 */
void crs_metres(const crs_axes *axes, double latitude, double metres[3]);

/* The step for a coordinate that had another in a unit of another size: the same where that is as fine (1 % does not
   count), else a power of ten. */
double crs_step(double step, double metres, double new_metres);

/* The origin of a lattice of int32 for coordinates of a range: 0, or about its middle. */
double crs_offset(double low, double high, double step);

#endif
