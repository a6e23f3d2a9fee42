/* The cache of `mote view`: inputs that are no octree are converted once and kept. */
#ifndef MOTE_CLI_VIEW_CACHE_H
#define MOTE_CLI_VIEW_CACHE_H

#include <limits.h>

#include "view/view_files.h"

/* An input, and where its octree is or will be. */
typedef struct view_cached {
    char title[NAME_MAX + 1]; /* of the data set */
    char folder[PATH_MAX];
    view_files files;
    bool is_made;
} view_cached;

/// Finds the folder of an input's octree, and whether it was made before; results of what the input was before are
/// removed. The folder lies in $XDG_CACHE_HOME/mote or ~/.cache/mote; its name depends on the input's absolute path,
/// the names, sizes and times of change of its files and on the options of the conversion.
/// input    a point cloud in any format that `mote lod` reads, or a folder of such files
/// cached   zeroed; view_cache_free frees it in any case
/// Returns  0, or an exit code of the command after a message on standard error
int view_cache_find(session *s, const char *input, view_cached *cached);
/// Makes the octree, where it is not made.
int view_cache_make(session *s, view_cached *cached);
void view_cache_free(view_cached *cached);

#endif
