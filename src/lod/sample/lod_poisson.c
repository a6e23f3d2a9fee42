/* What Poisson-disk sampling of a level keeps to. */
#include <math.h>

#include "lod/sample/lod_poisson_math.h"

poisson_rule lod_poisson_rule(const mote_lod *lod, uint32_t level) {
    poisson_rule rule;
    const uint32_t cell_level = lod_cell_level(lod, level), below = cell_level - level;
    rule.cell_level = cell_level;
    rule.block_bits = below < POISSON_BLOCK_BITS ? below : POISSON_BLOCK_BITS;
    rule.block_level = cell_level - rule.block_bits;
    rule.first = lod_window_first(cell_level);
    /* Lengths are measured in a power of two near the spacing, so that their squares neither overflow nor vanish; a
       power of two changes no comparison. */
    const mote_lattice *lattice = &lod->lattice;
    double side = 0;
    int exponent;
    for (int k = 0; k < 3; k++) side = fmax(side, (double)lattice->extent[k] * lattice->scale[k]);
    const double spacing = frexp(side / lod->params.grid, &exponent);
    exponent -= (int)level;
    rule.spacing2 = spacing * spacing;
    for (int k = 0; k < 3; k++) rule.scale[k] = ldexp(lattice->scale[k], -exponent);
    return rule;
}
