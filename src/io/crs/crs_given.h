/* What a person gives as a reference system, as a text of one. */
#ifndef MOTE_CRS_GIVEN_H
#define MOTE_CRS_GIVEN_H

#include "core/core.h"

/* A text that names or describes a system: what is given, "EPSG:n" of a number alone ("n+m", too), or what is in the
   file of that name. *text: for mote_free. Nothing is looked up. */
mote_status mote_crs_given(mote_context *ctx, const char *given, char **text);

/* The text to write to files: WKT stays as it is, all else becomes WKT where this build has PROJ. Without it codes stay
   codes, and what only PROJ understands is an error. heights: code of a vertical part for a system that has none; 0. */
mote_status mote_crs_text(mote_context *ctx, const char *given, uint32_t heights, char **text);

#endif
