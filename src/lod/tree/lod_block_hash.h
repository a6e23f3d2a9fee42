/* Finds sorted blocks by place: a hash table of groups of 2³ blocks, so that the 26 neighbours of a block cost eight
   look-ups that share their cache lines with those of the next block.

     groups   | code 12: - 0 1 - - - 2 - | free | code 40: 3 - ... |     by hash of the code, then the next free entry
                     the 8 blocks of group 12 by octant: which block it is, - where there is none */
#ifndef MOTE_LOD_BLOCK_HASH_H
#define MOTE_LOD_BLOCK_HASH_H

#include "core/core.h"

#define BLOCK_NONE UINT32_MAX

typedef struct place_group {
    uint64_t code;     /* of the group; UINT64_MAX if the entry is free */
    uint32_t block[8]; /* BLOCK_NONE where there is none */
} place_group;

/* The Morton code of a block within a cell of some coarse level, and that cell's; there may be but one such cell. */
typedef struct block_code {
    uint64_t code;
    uint32_t above;
} block_code;

typedef struct block_hash_table {
    place_group *groups;
    uint32_t *above; /* [mask + 1] of the groups; NULL where all blocks have 0 */
    uint64_t mask, capacity, above_capacity;
    uint32_t level;       /* of the blocks within their cells: their coordinates are below 2^level */
    uint32_t above_level; /* of those cells */
} block_hash_table;

/* Enters blocks in Morton order. codes: that of a block and, right behind it, above; so for each, stride_bytes apart.
   table is zeroed or one to use again. */
mote_status block_hash_build(mote_context *ctx, uint32_t level, uint32_t above_level, const uint64_t *codes,
                             uint32_t stride_bytes, uint64_t count, block_hash_table *table);
void block_hash_free(mote_context *ctx, block_hash_table *table);

/* The blocks around and at a code: around[9·(dx+1) + 3·(dy+1) + dz+1], BLOCK_NONE where there is none. */
void block_hash_around(const block_hash_table *table, const block_code *code, uint32_t around[27]);

#endif
