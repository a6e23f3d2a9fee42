/* mote lod --into: a folder is brought up to date with a list of files that changes. */
#ifndef CLI_LOD_UPDATE_H
#define CLI_LOD_UPDATE_H

#include "session.h"

typedef struct lod_update {
    const char *folder;        /* --into; NULL: not given */
    text_list remove, replace; /* --remove, --replace */
} lod_update;

/* Options that do not go together; attributes: NULL: all. Returns an exit code. */
int lod_update_check(const lod_update *update, const common_options *common, const char *attributes);
/* Whether there is a folder to be changed; else files that are named become one. */
bool lod_update_is_there(const lod_update *update);
/* Returns an exit code. words: the files that join it */
int lod_update_run(session *s, const lod_update *update, uint64_t workers, bool verify, bool stats,
                   const arguments *words);

#endif
