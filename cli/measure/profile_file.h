/* The points of a profile as a file: a cloud, a drawing or a picture. */
#ifndef CLI_PROFILE_FILE_H
#define CLI_PROFILE_FILE_H

#include <mote/mote.h>

#include "paths.h"

/* Refuses an output that could not be written. Returns an exit code, as profile_write. */
int profile_check(session *s, const io_paths *paths);
int profile_write(session *s, const io_paths *paths, const mote_cloud *cloud, const mote_profile *profile,
                  const mote_units *units);

#endif
