/* The rules of an index of neighbours, the same on CPU and GPU: what its positions are compared as, and which queries
   may be asked for in the same terms.

     integers of one scale, less than 2^31 apart   KNN_INT     steps from the least one
     floats as they are                            KNN_FLOAT   (each backend says how far apart)
     all else                                      KNN_DOUBLE  in units of world · norm */
#ifndef MOTE_KNN_RULES_H
#define MOTE_KNN_RULES_H

#include "core/cloud.h"
#include "knn/knn_index.h"

#define KNN_STEPS (1ull << 31) /* steps between any two points or queries are fewer */

static inline double knn_world_span(const mote_lattice *lattice) {
    double span = 0;
    for (int k = 0; k < 3; k++) span = fmax(span, (double)lattice->extent[k] * lattice->scale[k]);
    return span;
}

/* A power of two that brings a world span to about 2^20. */
static inline double knn_norm_of(double span) {
    int exponent = 20;
    if (span > 0) frexp(span, &exponent);
    return ldexp(1, 20 - (exponent < -960 ? -960 : exponent));
}

/* Whether integers of these axes are steps of one scale. */
static inline bool knn_have_one_scale(const mote_column *const axes[3]) {
    for (int k = 0; k < 3; k++) {
        if (mote_type_is_float(axes[k]->type) || axes[k]->scale != axes[0]->scale) return false;
    }
    return axes[0]->scale != 0 && isfinite(axes[0]->scale);
}

/* The least and the largest stored integer, of a lattice that knows them. */
static inline void knn_integers_of(const mote_lattice *lattice, int64_t low[3], int64_t high[3]) {
    for (int k = 0; k < 3; k++) {
        low[k] = lattice->source_min[k];
        high[k] = low[k] + (int64_t)lattice->extent[k];
    }
}

/* Takes the least integer for step 0. Whether all are steps then. */
static inline bool knn_set_steps(mote_knn_index *index, const int64_t low[3], const int64_t high[3]) {
    for (int k = 0; k < 3; k++) {
        index->origin[k] = low[k];
        index->span[k] = (uint64_t)high[k] - (uint64_t)low[k];
        if (index->span[k] >= KNN_STEPS) return false;
    }
    return true;
}

/* Whether queries from low to high are steps, too. */
static inline bool knn_are_near_steps(const mote_knn_index *index, const int64_t low[3], const int64_t high[3]) {
    for (int k = 0; k < 3; k++) {
        const int64_t first = index->origin[k], last = first + (int64_t)index->span[k];
        const int64_t min = low[k] < first ? low[k] : first, max = high[k] > last ? high[k] : last;
        if ((uint64_t)max - (uint64_t)min >= KNN_STEPS) return false;
    }
    return true;
}

/* Whether stored values of an axis mean the same places. */
static inline bool knn_is_same_axis(const mote_column *a, const mote_column *b) {
    return a->type == b->type && a->scale == b->scale && a->offset == b->offset && a->bit_count == b->bit_count &&
           a->bit_shift == b->bit_shift;
}

#endif
