/* Where the clouds of a live view come from, and when there is a new one.
 *
 *   files           one cloud; read again when one of them has changed
 *   a folder        its newest frame: the last file by name, in which numbers count as numbers
 *
 * Something that makes points itself, as photons that fly, would be one more kind. Used by one thread at a time. */
#ifndef CLI_LIVE_SOURCE_H
#define CLI_LIVE_SOURCE_H

#include <limits.h>

#include "session.h"

typedef enum live_source_kind { LIVE_FILES, LIVE_FOLDER } live_source_kind;

/* What tells one state of files from another. */
typedef struct live_state {
    uint64_t hash;
    bool is_there; /* all of it */
} live_state;

typedef struct live_source {
    live_source_kind kind;
    const char *const *inputs;
    int input_count;
    char frame[PATH_MAX]; /* FOLDER: the newest */
    const char *frame_path;
    live_state read, seen; /* what was read; what was seen at the last look */
} live_source;

/// Finds out what the inputs are. Returns an exit code.
int live_source_open(session *s, const char *const *inputs, int count, live_source *source);
/// Whether there is something to read that was not read yet, and that no longer changes: it was the same at the last
/// call.
bool live_source_has_news(live_source *source);
/// What to read: *paths, *count. Called before reading, so that a change meanwhile is news again.
void live_source_take(live_source *source, const char *const **paths, int *count);

#endif
