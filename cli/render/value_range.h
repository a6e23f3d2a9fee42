/* Which values most points have: for the ends of a colour map. */
#ifndef CLI_VALUE_RANGE_H
#define CLI_VALUE_RANGE_H

#include <mote/mote.h>

/* A number of each point: factor[0] * column[0] + factor[1] * column[1] + ...; with scale and offset; NaN
   where one of them has no value. */
typedef struct point_values {
    const mote_column *column[3];
    double factor[3];
    int count; /* of columns */
    uint64_t points;
    const mote_cloud *cloud; /* what they are columns of */
} point_values;

#define VALUES_BLOCK 4096u

/* Values of up to VALUES_BLOCK points from the first-th on. */
void point_values_read(const point_values *values, uint64_t first, uint32_t count, double *out);

/* The values below which two shares of all finite ones lie, exactly: the same for points in any order. shares: 0..1.
   Returns how many values are finite; 0: range is left as it is. MOTE_ERROR_MEMORY by *status */
uint64_t value_range_find(const point_values *values, int threads, const double shares[2], double range[2],
                          mote_status *status);

#endif
