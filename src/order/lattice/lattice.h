/* Lattice coordinates in blocks, for the parts of the order and the levels of detail.

     min                    min + p                         min + side      steps of scale[k], from offset[k] on
      |----|----|----|----|----*----|----|----|- ... -|----|
      0    1    2    3    4    5: the cell of p            2^21 cells       floor(p 2^21 / side)

   A cell holds many steps, or a step many cells; side and scale may differ by axis, so that the cube is one in the
   world. */
#ifndef MOTE_LATTICE_H
#define MOTE_LATTICE_H

#include "core/core.h"
#include "order/lattice/lattice_math.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LATTICE_BLOCK 512u /* points whose coordinates stay in the first-level cache */

/* Whether the positions are whole 32-bit integers with a scale, as LAS has them; axes gets their columns. */
bool lattice_is_plain(const mote_cloud *cloud, const mote_column *axes[3]);
/* The lattice of integer positions whose stored values lie in [low, high]. */
void lattice_of_box(const mote_column *const axes[3], const int64_t low[3], const int64_t high[3],
                    mote_lattice *lattice);

/* Integers with a positive scale, and finite in the world whatever is stored: else each point must be looked at. */
bool lattice_is_integer(const mote_column *const axes[3]);
/* Smallest and largest stored value of each axis; low > high if there are no points. */
void lattice_integer_bounds(const mote_context *ctx, const mote_column *const axes[3], int64_t count, int64_t low[3],
                            int64_t high[3]);
/* The lattice of other positions, whose finite points lie in [low, high] in the world.
   decimal  the step of the text that they came from; 0 if unknown */
mote_status lattice_of_real_box(mote_context *ctx, const mote_column *const axes[3], double decimal,
                                const double low[3], const double high[3], mote_lattice *lattice);

/* Coordinates of count ≤ LATTICE_BLOCK points: the first-th on, or those in indices if not NULL.
   bad[j] is 1 where a coordinate is not finite. */
void lattice_block(const mote_cloud *cloud, const mote_lattice *lattice, uint64_t first, const uint32_t *indices,
                   uint32_t count, uint32_t steps[3][LATTICE_BLOCK], uint8_t bad[LATTICE_BLOCK]);

#ifdef __cplusplus
}
#endif
#endif
