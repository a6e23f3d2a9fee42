/* Where the clouds of a live view come from, and when there is a new one.
 *
 *   files           one cloud; read again when one of them has changed
 *   a folder        its newest frame: the last file by name, in which numbers count as numbers
 *   a pipe          its newest frame, as frames come (live_pipe.h)
 *   photons         a map that fills up (live_photons.h)
 *
 * Used by one thread at a time. */
#ifndef CLI_LIVE_SOURCE_H
#define CLI_LIVE_SOURCE_H

#include "render/picture_up.h"
#include "session.h"
#include "view/live/live_photons.h"
#include "view/live/live_pipe.h"

#define LIVE_PATH_MAX 4096 /* bytes of a path */

typedef enum live_source_kind { LIVE_FILES, LIVE_FOLDER, LIVE_PIPE, LIVE_PHOTONS } live_source_kind;

/* What tells one state of files from another. */
typedef struct live_state {
    uint64_t hash;
    bool is_there; /* all of it */
} live_state;

typedef struct live_source {
    live_source_kind kind;
    const char *const *inputs; /* as they were typed; PHOTONS: none */
    int input_count;
    char frame[LIVE_PATH_MAX]; /* FOLDER: the newest */
    live_state read, seen;     /* FILES, FOLDER: what was read; what was seen at the last look */
    live_pipe *pipe;
    live_photons *photons;
    bool knows_up;
    picture_up up; /* found in its first cloud: what comes later does not turn the picture over */
} live_source;

/// Finds out what the inputs are.
/// scene   whose photons fly, photons in all; NULL: none, the inputs count
/// Returns an exit code
int live_source_open(session *s, const char *const *inputs, int count, const char *scene, uint64_t photons,
                     live_source *source);
void live_source_close(live_source *source);
/// How often it is to be looked at, in seconds.
double live_source_interval_s(const live_source *source);
/// Whether there is something that was not read yet. Of files: that no longer changes, as it was the same at the last
/// call.
bool live_source_has_news(live_source *source);
/// Reads what is new, in the context of s.
/// name  [size] out: for people
/// Returns an exit code
int live_source_read(live_source *source, session *s, mote_cloud **out, char *name, size_t size);
/// What is up in what was read. box: of the points, without those far from all others
picture_up live_source_up(live_source *source, session *s, const mote_cloud *cloud, const mote_box *box);
/// Something that people are to be told about it, once; "": nothing.
void live_source_trouble(live_source *source, char *why, size_t size);

#endif
