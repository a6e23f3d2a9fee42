/* The first picture of what is to be converted: a sample of it is served while its octree is made. */
#ifndef MOTE_CLI_VIEW_PREVIEW_H
#define MOTE_CLI_VIEW_PREVIEW_H

#include "view/view_cache.h"
#include "view/view_server.h"

typedef struct view_preview {
    char root[PATH_MAX / 2], folder[PATH_MAX]; /* folder: a Potree folder in root, which is of this process alone */
    view_making *making;                       /* NULL: there is no preview */
} view_preview;

/// Samples what is not made yet. preview: zeroed; view_preview_drop frees it in any case
/// Returns  0, also where there is no preview, or an exit code of the command after a message on standard error
int view_preview_begin(session *s, view_cached *cached, view_preview *preview);
/// Makes the octree of a source that is served as a preview, and serves it from then on; or tells the page why not.
/// Returns  as view_cache_make
int view_preview_finish(session *s, view_cached *cached, view_preview *preview, view_server *server, size_t source);
/// Removes what was made of it, once nothing is served any more.
void view_preview_drop(view_preview *preview);

#endif
