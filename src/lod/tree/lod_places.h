/* Finds sorted blocks by place: a hash table of groups of 2³ blocks, so that the 26 neighbours of a block cost eight
   look-ups that share their cache lines with those of the next block. */
#ifndef MOTE_LOD_PLACES_H
#define MOTE_LOD_PLACES_H

#include "core/core.h"

#define PLACE_NONE UINT32_MAX

typedef struct place_group {
    uint64_t code;     /* of the group; UINT64_MAX if the entry is free */
    uint32_t block[8]; /* PLACE_NONE where there is none */
} place_group;

typedef struct place_table {
    place_group *groups;
    uint64_t mask, capacity;
    uint32_t level; /* of the blocks: coordinates are below 2^level */
} place_table;

/* Enters blocks whose ascending Morton codes stand stride_bytes apart. table is zeroed or one to use again. */
mote_status places_build(mote_context *ctx, uint32_t level, const uint64_t *codes, uint32_t stride_bytes,
                         uint64_t count, place_table *table);
void places_free(mote_context *ctx, place_table *table);

/* The blocks around and at a code: around[9·(dx+1) + 3·(dy+1) + dz+1], PLACE_NONE where there is none. */
void places_around(const place_table *table, uint64_t code, uint32_t around[27]);

#endif
