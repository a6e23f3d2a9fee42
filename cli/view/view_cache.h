/* The cache of `mote view FILE`: files that are no Potree folder are converted once and kept. */
#ifndef MOTE_CLI_VIEW_CACHE_H
#define MOTE_CLI_VIEW_CACHE_H

#include <stddef.h>

#include "session.h"

/// Gives the folder of a file's octree, converting the file if that was not done before.
/// The folder lies in $XDG_CACHE_HOME/mote or ~/.cache/mote; its name depends on the file's absolute path,
/// size and time of change and on the options of the conversion. Older results of the same path are removed.
/// input    a point cloud in any format that `mote lod` reads
/// out_dir  [out_size] out: the folder
/// Returns  0, or an exit code of the command after a message on standard error
int view_convert_to_cache(session *s, const char *input, char *out_dir, size_t out_size);

#endif
