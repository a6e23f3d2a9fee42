/// mote: the box and the strays of points that come in pieces, as mote_reader gives them: what mote_cloud_bounds and
/// mote_cloud_strays find in the whole cloud, in one to three passes, with memory for a sample alone.
#ifndef MOTE_STRAYS_H
#define MOTE_STRAYS_H

#include "cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_strays_search mote_strays_search;

/// Begins the first pass. count: points that will come; where there turn out to be others, one pass more is needed.
/// Returns  MOTE_OK, MOTE_ERROR_MEMORY
MOTE_API mote_status mote_strays_search_open(mote_context *ctx, uint64_t count, mote_strays_search **out);
/// Looks at the next points, in host memory. In each pass all come, in the same order.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no x, y or z), MOTE_ERROR_UNSUPPORTED (on a GPU)
MOTE_API mote_status mote_strays_search_add(mote_strays_search *search, const mote_cloud *piece);
/// Ends a pass; true: all points are to come once more.
MOTE_API bool mote_strays_search_again(mote_strays_search *search);
/// What was found, once no further pass is needed.
/// skipped  as for mote_cloud_bounds, may be NULL
MOTE_API void mote_strays_search_tell(const mote_strays_search *search, mote_box *box, uint64_t *skipped,
                                      mote_strays *strays);
/// Frees the search. NULL is allowed.
MOTE_API void mote_strays_search_close(mote_strays_search *search);

#ifdef __cplusplus
}
#endif
#endif
