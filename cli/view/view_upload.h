/* Files dropped on the page of a local server: received, converted to a Potree folder by a thread, and served. */
#ifndef MOTE_CLI_VIEW_UPLOAD_H
#define MOTE_CLI_VIEW_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_UPLOAD_JSON_BYTES 6144u

typedef struct view_upload view_upload;

/// What becomes of a finished conversion: it takes the folder into what is served. Called from the thread.
/// Returns  the number of the cloud, or 0 where no more can be served
typedef size_t view_upload_done(void *user, const char *folder);

/// NULL where memory has run out. Nothing is written before the first file comes.
view_upload *view_upload_make(view_upload_done *done, void *user);
/// Cancels what is being converted, waits for it, and removes all that was received and made.
void view_upload_free(view_upload *upload);

/// Begins to receive a file. One at a time. view_upload_convert or view_upload_drop ends it.
/// name      as the browser says it; only its ending matters for reading
/// Returns   an HTTP status: 202; 409: another file is being worked on; 507: no place for it
int view_upload_begin(view_upload *upload, const char *name);
/// A piece of it has come. Returns false where it cannot be kept: it is to be dropped.
bool view_upload_take(view_upload *upload, const void *data, size_t size);
/// The file is whole: converts it.
void view_upload_convert(view_upload *upload);
/// It is not, or cannot be kept: forgets it.
void view_upload_drop(view_upload *upload);

/// How far it is, as JSON: {"state": "none", "receiving", "converting", "done" or "failed", "done": 0 to 1, "stage": …,
/// "error": …, "told": its warnings and notes, a line each, "untold": those that there is no room for, "cloud": its
/// number}. json      VIEW_UPLOAD_JSON_BYTES are enough
void view_upload_status(view_upload *upload, char *json, size_t size);

#endif
