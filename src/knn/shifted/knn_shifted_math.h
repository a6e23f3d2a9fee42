/* Shifted sorting (Li et al. 2012; for ellipsoids Bergholm and Kronvall 2016): cells, shifts and spaces; one copy for C
   and CUDA. docs/knn_shifted.md has the definition in words.

   Points and queries lie in one *cube* of 2^21 cells an axis. Each of four shifts moves the cells, drawn together to
   0.7 of the cube, along its diagonal; points are sorted by the Morton codes of the moved cells, and by index. A query
   stands before the first point whose code is not below its own, and looks at `beside` points on each side of there.

   Buckets: a *space* is the cube's cells stretched along an axis, in cells of their own; a query is asked in the space
   whose axis is nearest to its normal. An axis and its opposite make the same space: 18 directions, 9 spaces. */
#ifndef MOTE_KNN_SHIFTED_MATH_H
#define MOTE_KNN_SHIFTED_MATH_H

#include <math.h>

#include "knn/knn_cells.h"
#include "math/host_device.h"
#include "math/morton.h"

#define KNN_SHIFTS 4u
#define KNN_SHIFT  104857u /* 0.05 of the cube: 0.7 and three shifts are below 1 */
#define KNN_SPACES 9u
#define KNN_PLAIN  KNN_SPACES /* the cube itself: spheres, and ellipsoids without buckets */

/* Cells of doubles: of world values, or of a space's stretched cells. */
typedef struct knn_cube {
    double low[3];
    double per_unit; /* cells; 0: all is in the first */
} knn_cube;

/* cells: KNN_CELLS for the world, KNN_CELLS - 1 for a space. low above high: there is nothing. */
MOTE_HD knn_cube knn_cube_make(const double low[3], const double high[3], double cells) {
    knn_cube cube;
    double side = 0;
    for (int k = 0; k < 3; k++) {
        side = high[k] - low[k] > side ? high[k] - low[k] : side;
        cube.low[k] = low[k] <= high[k] ? low[k] : 0;
    }
    cube.per_unit = side > 0 ? cells / side : 0;
    return cube;
}

/* What lies in a corner beyond the last cell is in that. */
MOTE_HD void knn_cube_cell(const knn_cube *cube, const double at[3], uint32_t cell[3]) {
    for (int k = 0; k < 3; k++) cell[k] = knn_cell(at[k], cube->low[k], cube->per_unit);
}

/* Cells in 21 bits an axis, x lowest. */
#define KNN_NON_FINITE UINT64_MAX /* that of a point that is not finite, and its code */

MOTE_HD uint64_t knn_cube_pack(const knn_cube *cube, const double at[3]) {
    uint32_t cell[3];
    if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2])) return KNN_NON_FINITE;
    knn_cube_cell(cube, at, cell);
    return cell[0] | (uint64_t)cell[1] << MOTE_MORTON_BITS | (uint64_t)cell[2] << 2 * MOTE_MORTON_BITS;
}

MOTE_HD void knn_cell_unpack(uint64_t packed, uint32_t cell[3]) {
    for (uint32_t k = 0; k < 3; k++)
        cell[k] = (uint32_t)(packed >> k * MOTE_MORTON_BITS) & ((1u << MOTE_MORTON_BITS) - 1);
}

MOTE_HD uint64_t knn_shifted_code(const uint32_t cell[3], uint32_t shift) {
    const uint32_t away = shift * KNN_SHIFT;
    return mote_morton_encode(cell[0] * 7 / 10 + away, cell[1] * 7 / 10 + away, cell[2] * 7 / 10 + away);
}

/* The places [*first, *last) that a query at a place looks at, `beside` on each side. */
MOTE_HD void knn_shifted_window(uint32_t place, uint32_t beside, uint32_t count, uint32_t *first, uint32_t *last) {
    *first = place > beside ? place - beside : 0;
    *last = count - place > beside ? place + beside : count;
}

/* ---- spaces */

/* The axes x, y, z, and the six through opposite vertices of an icosahedron, (0, 1, g) / sqrt(1 + g * g) with
   g = (1 + sqrt(5)) / 2, and so on. */
MOTE_HD void knn_space_axis(uint32_t space, double axis[3]) {
    const double a = 0.52573111211913359, b = 0.85065080835203988;
    const double axes[KNN_SPACES][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {0, a, b}, {0, -a, b},
                                        {a, b, 0}, {-a, b, 0}, {b, 0, a}, {b, 0, -a}};
    for (int k = 0; k < 3; k++) axis[k] = axes[space][k];
}

/* The space of a query's unit normal: the first of those whose axes are nearest. No normal: the cube itself. */
MOTE_HD uint32_t knn_space_of(const double normal[3]) {
    uint32_t best = KNN_PLAIN;
    double max = 0;
    for (uint32_t space = 0; space < KNN_SPACES; space++) {
        double axis[3];
        knn_space_axis(space, axis);
        const double along = fabs((axis[0] * normal[0] + axis[1] * normal[1]) + axis[2] * normal[2]);
        best = along > max ? space : best;
        max = along > max ? along : max;
    }
    return best;
}

typedef struct knn_space {
    uint32_t number;
    double axis[3], stretch; /* compression - 1 */
} knn_space;

MOTE_HD knn_space knn_space_make(uint32_t number, double compression) {
    knn_space space;
    space.number = number;
    space.stretch = compression - 1;
    knn_space_axis(number < KNN_SPACES ? number : 0, space.axis);
    return space;
}

/* A cell of the cube in a space: compression - 1 times farther from the cube's middle along the axis. */
MOTE_HD void knn_space_stretch(const knn_space *space, uint64_t packed, double at[3]) {
    const double *const axis = space->axis;
    uint32_t cell[3];
    knn_cell_unpack(packed, cell);
    for (int k = 0; k < 3; k++) at[k] = (double)cell[k] - KNN_CELLS / 2;
    const double along = space->stretch * ((axis[0] * at[0] + axis[1] * at[1]) + axis[2] * at[2]);
    for (int k = 0; k < 3; k++) at[k] += along * axis[k];
}

/* The code of a cell of the cube, in a space whose stretched cells lie in a cube of their own. */
MOTE_HD uint64_t knn_space_code(const knn_space *space, const knn_cube *cube, uint64_t packed, uint32_t shift) {
    uint32_t cell[3];
    if (packed == KNN_NON_FINITE) return KNN_NON_FINITE;
    knn_cell_unpack(packed, cell);
    if (space->number != KNN_PLAIN) {
        double at[3];
        knn_space_stretch(space, packed, at);
        knn_cube_cell(cube, at, cell);
    }
    return knn_shifted_code(cell, shift);
}

#endif
