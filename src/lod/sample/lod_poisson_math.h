/* The rules of Poisson-disk sampling that every backend shares; the order of trials is told in lod_poisson_cpu.c. */
#ifndef MOTE_LOD_POISSON_MATH_H
#define MOTE_LOD_POISSON_MATH_H

#include "lod/lod_math.h"
#include "lod/lod_octree.h"
#include "math/morton.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POISSON_NONE       UINT32_MAX
#define POISSON_BLOCK_BITS 3 /* log2 of the most cells along a side of a block */
#define POISSON_HALO       ((1 << POISSON_BLOCK_BITS) + 2)
#define POISSON_HALO_CELLS (POISSON_HALO * POISSON_HALO * POISSON_HALO)

/* The distance that points of one level keep, and the cells and blocks in which those too close are looked for. */
typedef struct poisson_rule {
    uint32_t cell_level, block_level, block_bits;
    uint32_t first;            /* the level that its codes begin at: lod_window */
    double scale[3], spacing2; /* lengths in a power of two near the spacing */
} poisson_rule;

/* src/lod/sample/lod_poisson.c */
poisson_rule lod_poisson_rule(const mote_lod *lod, uint32_t level);

#ifdef __cplusplus
}
#endif

/* The block of a code of the rule's window. */
MOTE_HD uint64_t poisson_block(const poisson_rule *rule, uint64_t code) {
    return code >> 3 * (MOTE_ORDER_BITS + rule->first - rule->block_level);
}

/* The cell within its block. */
MOTE_HD void poisson_cell(const poisson_rule *rule, uint64_t code, uint32_t cell[3]) {
    const uint64_t at = code >> 3 * (MOTE_ORDER_BITS + rule->first - rule->cell_level);
    const uint32_t within = (1u << rule->block_bits) - 1;
    cell[0] = mote_morton_compact(at >> 2) & within;
    cell[1] = mote_morton_compact(at >> 1) & within;
    cell[2] = mote_morton_compact(at) & within;
}

/* Where a cell stands among those of a block and the cells around it: coordinates within the block, plus one. */
MOTE_HD uint32_t poisson_halo_place(uint32_t x, uint32_t y, uint32_t z) {
    return (x * POISSON_HALO + y) * POISSON_HALO + z;
}

/* Whether two points are closer than the level allows. Their differences are exact integers; only then come doubles,
   in a fixed order, so that every machine decides alike. */
MOTE_HD bool poisson_too_close(const poisson_rule *rule, const uint32_t a[3], const uint32_t b[3]) {
    const double x = (double)(int32_t)(a[0] - b[0]) * rule->scale[0];
    const double y = (double)(int32_t)(a[1] - b[1]) * rule->scale[1];
    const double z = (double)(int32_t)(a[2] - b[2]) * rule->scale[2];
    return x * x + y * y + z * z < rule->spacing2;
}

/* Candidates of a block are tried by this number, ties in sorted order. */
MOTE_HD uint32_t poisson_rank(uint64_t seed, uint64_t code) { return (uint32_t)(mote_lod_rank(seed, code) >> 32); }

#endif
