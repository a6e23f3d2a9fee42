/* What the page has its server work out. Points of a cloud that it asks for, cut out of all that the file has: what
 * lies in clip boxes and polygons and passes the filters, with the classes that were edited, as LAZ.
 *
 * POST /cut/N with an edit list (edits/edit_list.h) as its body is answered with the points of the N-th cloud; GET /cut
 * tells how far that is. POST /vectors with a GeoPackage is answered with its GeoJSON. One at a time: another is told
 * 503. What the page no longer waits for ends. */
#ifndef MOTE_CLI_VIEW_CUT_H
#define MOTE_CLI_VIEW_CUT_H

#include "view/http/http_server.h"

#include <stdatomic.h>

typedef struct view_cut view_cut;

/// is_ending  looked at between steps: true ends what is being cut
/// Returns    NULL where memory has run out
view_cut *view_cut_make(const atomic_bool *is_ending);
void view_cut_free(view_cut *cut);

/// Answers a request for points of a source, a file or Potree folder, when its body has come.
void view_cut_serve(view_cut *cut, http_connection *c, const char *source);
/// Answers a request with a GeoPackage, when it has come, with GeoJSON.
void view_cut_serve_vectors(view_cut *cut, http_connection *c);
/// Answers with how far it is: {"done": 0 to 1}, or {} where nothing is being cut.
void view_cut_tell(view_cut *cut, http_connection *c);

#endif
