/* The text of a cloud's reference system for files that hold a text and nothing else. */
#ifndef MOTE_CRS_WRITTEN_H
#define MOTE_CRS_WRITTEN_H

#include "core/cloud.h"

/* The keys of a LAS file may name a system in metres and state that the numbers are feet: the text then is well-known
   text in feet. *text: for mote_free; "" where there is no system. What cannot be kept is told. */
mote_status mote_crs_written(mote_context *ctx, const mote_cloud *cloud, char **text);

/* The same as a string of PROJ ("+proj=utm +zone=32 …"), which says x and y alone, and no more of a datum than its
   ellipsoid and a shift to WGS 84: what programs in a browser read. *text NULL: there is none, or no PROJ. */
mote_status mote_crs_written_short(mote_context *ctx, const mote_cloud *cloud, char **text);

#endif
