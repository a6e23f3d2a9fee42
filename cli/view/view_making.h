/* How far an octree is that is made while a preview of it is served: what the command tells of it and the page asks. */
#ifndef MOTE_CLI_VIEW_MAKING_H
#define MOTE_CLI_VIEW_MAKING_H

#include <stddef.h>

#define VIEW_MAKING_JSON_BYTES 8192u

typedef struct view_making view_making;

/// NULL where memory has run out.
view_making *view_making_new(void);
void view_making_free(view_making *making);

/// The command that makes it: how far it is, what is to be known of its files (a line each), or why it cannot be made.
void view_making_progress(void *making, double done, const char *stage);
void view_making_tell(void *making, const char *message);
void view_making_fail(view_making *making, const char *error);

/// For the page, from any thread: {"preview": "../preview/", "state": "making" or "failed", "done": 0 to 1,
/// "stage": …, "error": …, "told": lines, "untold": those that there is no room for}.
/// number   of the cloud, from 1
/// json     VIEW_MAKING_JSON_BYTES are enough
void view_making_json(view_making *making, size_t number, char *json, size_t size);

#endif
