/* mote lod where --memory does not hold the points: the octree is built in parts. */
#ifndef CLI_LOD_IN_PARTS_H
#define CLI_LOD_IN_PARTS_H

#include "paths.h"
#include "session.h"

/* What is to be built and where. */
typedef struct lod_in_parts {
    const io_paths *paths;
    mote_lod_params params;
    mote_potree_params potree;
    mote_copc_params writing; /* of a COPC file */
    bool copc;                /* a COPC file instead of a folder */
    bool stats;
    bool resumes;     /* --resume: what is complete is kept, and gone on with */
    uint64_t workers; /* --workers: parts that are built at once; 0: not said */
} lod_in_parts;

/* Whether it goes in parts: --memory is given, does not hold the whole, and all that is asked for can be done so. */
bool lod_goes_in_parts(session *s, const lod_in_parts *task);
/* Returns an exit code. *is_done false: memory holds no part, and the whole is to be tried in one piece. */
int lod_run_in_parts(session *s, const lod_in_parts *task, bool *is_done);

#endif
