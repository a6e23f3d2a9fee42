/* --attributes: which columns of a cloud an octree has. */
#ifndef CLI_LOD_ATTRIBUTES_H
#define CLI_LOD_ATTRIBUTES_H

#include <mote/mote.h>

#include "session.h"

#define LOD_NAMES_MAX 512 /* columns and groups of them */

/* What --attributes (typed) does not name, for attributes_left_out, ended by NULL. Positions always stay. Returns an
   exit code. */
int lod_attributes_left_out(session *s, const char *typed, const mote_cloud *cloud,
                            const char *left_out[LOD_NAMES_MAX + 1]);
/* The names of a cloud's columns that are not in the list, separated by commas; for free, NULL without memory. */
char *lod_columns_but(const mote_cloud *cloud, const char *const *left_out);

#endif
