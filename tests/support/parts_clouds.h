/* Clouds that are hard to cut into parts, as files; and their octree in one piece. */
#ifndef PARTS_CLOUDS_H
#define PARTS_CLOUDS_H

#include "mote/mote.h"

typedef struct parts_kind {
    const char *name;
    uint64_t points;
    double strays;    /* share of points far away: cells of one code, and fine codes */
    uint64_t equal;   /* points in one place */
    uint32_t decades; /* of distance from a corner */
    bool is_lattice;
} parts_kind;

#define PARTS_KINDS 8u
extern const parts_kind parts_kinds[PARTS_KINDS];

#define PARTS_INPUTS_MAX 4u

typedef struct parts_inputs {
    const char *paths[PARTS_INPUTS_MAX];
    uint32_t count;
} parts_inputs;

/* Writes the cloud of a kind; the path is lent until the next call. */
const char *parts_cloud_file(mote_context *ctx, const parts_kind *kind, const char *ending);
/* Writes the folder that parts are to make. */
mote_potree_report parts_in_one(mote_context *ctx, const parts_inputs *inputs, const mote_lod_params *params,
                                const char *folder);

#endif
