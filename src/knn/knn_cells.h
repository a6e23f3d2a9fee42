/* The cells in whose order points and queries stand: 2^21 a side of the lattice's cube, as those of the Morton order,
   but found by one multiplication in doubles. */
#ifndef MOTE_KNN_CELLS_H
#define MOTE_KNN_CELLS_H

#include "math/hilbert.h"
#include "math/morton.h"
#include "mote/order.h"

#define KNN_CELLS 2097152.0 /* 2^21 a side */

typedef struct knn_cells {
    double low[3];        /* of the cube, in the world */
    double first_step[3]; /* and in steps of the lattice, from its corner */
    double per_unit[3];   /* cells per world unit */
    double per_step[3];   /* and per step of the lattice */
    mote_hilbert hilbert;
} knn_cells;

static inline void knn_cells_make(const mote_lattice *lattice, knn_cells *cells) {
    for (int k = 0; k < 3; k++) {
        cells->low[k] = (double)lattice->min[k] * lattice->scale[k] + lattice->offset[k];
        cells->first_step[k] = 0;
        cells->per_step[k] = KNN_CELLS / (double)lattice->side[k];
        cells->per_unit[k] = cells->per_step[k] / lattice->scale[k];
    }
    mote_hilbert_make(&cells->hilbert);
}

/* The cell of a value; what lies outside, or is not a number, is in the first or the last. */
MOTE_HD uint32_t knn_cell(double value, double low, double per_unit) {
    double at = (value - low) * per_unit;
    at = at > 0 ? at : 0;
    at = at < KNN_CELLS - 1 ? at : KNN_CELLS - 1;
    return (uint32_t)(int32_t)at;
}

MOTE_HD uint64_t knn_cell_code(const mote_hilbert *hilbert, uint32_t x, uint32_t y, uint32_t z) {
    return mote_hilbert_code(hilbert, mote_morton_encode(x, y, z));
}

#endif
