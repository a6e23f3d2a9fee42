/* The text of a cloud's reference system for files that hold a text and nothing else. */
#ifndef MOTE_CRS_WRITTEN_H
#define MOTE_CRS_WRITTEN_H

#include "core/cloud.h"

/* The keys of a LAS file may name a system in metres and state that the numbers are feet: the text then is well-known
   text in feet. *text: for mote_free; "" where there is no system. What cannot be kept is told. */
mote_status mote_crs_written(mote_context *ctx, const mote_cloud *cloud, char **text);

#endif
