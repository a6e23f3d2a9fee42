/* Numbers of scans where several inputs have the same. */
#ifndef MOTE_MERGE_STATIONS_H
#define MOTE_MERGE_STATIONS_H

#include "io/io_internal.h"

/* Gives scans that came from different files different numbers, in the points and in what is kept of each scan. */
mote_status merge_stations(mote_context *ctx, mote_cloud **clouds, const char *const *names, uint32_t count);

#endif
