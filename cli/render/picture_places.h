/* Where the points of a cloud are. Columns store positions as the file has them; here scale and offset are applied. */
#ifndef CLI_PICTURE_PLACES_H
#define CLI_PICTURE_PLACES_H

#include "render/value_range.h"

/* The columns x, y and z. */
void picture_places_axes(const mote_cloud *cloud, const mote_column *axis[3]);
/* The place of one point. */
void picture_place_read(const mote_column *const axis[3], uint64_t row, double place[3]);
/* The places of up to VALUES_BLOCK points from the first-th on; NaN where a position has no value. */
void picture_places_read(const mote_cloud *cloud, uint64_t first, uint32_t count, double places[3][VALUES_BLOCK]);

/* A number of a place that seems to be one by chance, to choose points by where they are: their order decides nothing.
 */
uint64_t picture_place_hash(const double place[3]);

#endif
