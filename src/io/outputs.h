/* How an output that is complete takes its name: at once, or together with others that belong to it. */
#ifndef MOTE_OUTPUTS_H
#define MOTE_OUTPUTS_H

#include "core/core.h"

/* What can be done with a kind of output that is complete, under its temporary name. place: of the kind, which settle
   frees. */
typedef struct output_naming {
    /* Gives it its name. together: among others, so that give_back may be called. Notes a failure. */
    mote_status (*take)(mote_context *ctx, void *place, bool together);
    /* After take: what was there before is there again; false where that cannot be. */
    bool (*give_back)(void *place);
    /* Removes what is left under the temporary name, and frees the place. */
    void (*settle)(mote_context *ctx, void *place);
    /* The final name, as the caller wrote it. */
    const char *(*path)(const void *place);
    /* What is under the temporary name, opened for reading; -1 and errno. NULL: it is no file. */
    int (*open)(const void *place);
    /* Whether the place could give up an open folder for that of another of its kind, which is settled after it. NULL:
       it has none. */
    bool (*share)(void *place, const void *other);
} output_naming;

/* The end of an output: it is removed (any status but MOTE_OK), takes its name, or waits for mote_outputs_release.
   Returns the first failure. */
mote_status mote_outputs_add(mote_context *ctx, const output_naming *naming, void *place, mote_status status);
/* The end of an output that is part of another one, which waits itself: the part takes its name at once. */
mote_status mote_outputs_end(mote_context *ctx, const output_naming *naming, void *place, mote_status status);
/* Opens a file that waits for the name path, so that a caller can read what was written; -1 if none does. */
int mote_outputs_open(const mote_context *ctx, const char *path);

struct stat;
/* Notes a file that was opened for reading, while outputs are held: none of them may take its name. info: what fstat
   says of it. */
mote_status mote_outputs_read(mote_context *ctx, const char *path, const struct stat *info);

#endif
