/* Normals along with a change of the reference system. */
#ifndef MOTE_CRS_NORMAL_H
#define MOTE_CRS_NORMAL_H

#include "io/crs/crs_proj.h"

/* Turns count normals, at most CRS_BLOCK_POINTS, at points before (from) and behind (to) the transformation. A normal
   is what stays at right angles to the surface, so it goes with the inverse transpose of the derivative; in geographic
   systems it is east, north and up. One of no length stays so. */
void crs_turn_normals(const crs_transformer *t, int thread, uint32_t count, const double *const from[3],
                      const double *const to[3], double *const normals[3]);

#endif
