/* The occupied cells of one level over the whole order, in blocks of up to 4³ that are found by place: what looks
   across node borders needs.

     order        . . . . . . . . . . . . . .      points by code
     cell_start   |     |   |         |            where a cell's points begin; its last are before the next cell's
     blocks       |         |                      first: cells 0, 2;  mask: which of a block's 64 cells there are */
#ifndef MOTE_LOD_CELLS_H
#define MOTE_LOD_CELLS_H

#include "lod/lod_octree.h"
#include "lod/tree/lod_block_hash.h"

typedef struct cell_block {
    uint64_t code;  /* at the level of blocks, in the window of the cells */
    uint32_t above; /* of that window */
    uint32_t first; /* index of the block's first cell; cells of a block are ascending */
    uint64_t mask;  /* bit m: the cell whose code within the block is m is occupied */
} cell_block;

/* Points by code, of which the cells are. */
typedef struct cell_points {
    const uint64_t *codes; /* [count] sorted */
    const uint64_t *fine;  /* [count] fine codes; NULL: there are none */
    uint64_t count;
    uint32_t finest; /* level of cells */
} cell_points;

typedef struct cell_index {
    lod_window window; /* of the cells, and up to three levels more, which tell places within them */
    uint32_t level, block_level;
    uint32_t side; /* cells per side of a block: 1, 2 or 4 */
    uint64_t cell_count, block_count, cell_capacity, block_capacity;
    uint32_t *cell_start;        /* [cell_count + 1] sorted position of a cell's first point */
    cell_block *blocks;          /* [block_count + 1], ascending; the last only ends the cells */
    block_hash_table block_hash; /* of the blocks */
} cell_index;

/* Indexes the cells of a level ≥ 1; blocks are at most block_bits ≤ 2 levels coarser. cells is zeroed, or one of
   these points to use again, quickest where it has few cells of a finer level; what it has is kept for cells_free also
   when this fails. */
mote_status cells_build(mote_context *ctx, const cell_points *points, uint32_t level, uint32_t block_bits,
                        cell_index *cells);
void cells_free(mote_context *ctx, cell_index *cells);

/* The first block whose points begin at a sorted position or later. */
uint32_t cells_block_at(const cell_index *cells, uint64_t position);

static inline uint64_t cells_block_first(const cell_index *cells, uint64_t block) {
    return cells->cell_start[cells->blocks[block].first];
}

#endif
