/* Eight points or boxes at once: distances in floats that rule out, and exact keys for the others. All functions have
   the kind as their first argument, a constant where they are called, so that the compiler makes one copy for each.

   What floats may rule out. Floats see points less a *frame's* origin: the low corner of a group of queries whose box
   has sides of at most size. Let u = 2^-24. A coordinate c - o, exact or rounded to double, becomes a float with an
   error of at most u |c - o|, so a query's has u · size and a point's within distance B of a query u (size + B); their
   difference is rounded again. Over three axes that is less than sqrt(3) u (2 size + B) + u d for a distance d, and
   the sum of squares, by two fused operations, is off by a factor of 1 + 3 u. A point at distance B or less is hence
   found at most at
       (B (1 + 2^-19) + size 2^-20)²,
   which knn_threshold gives, with room. Squares that vanish in floats only seem nearer; the smallest normal float on
   top covers their rounding. The rule's own rounding to double, 2^-51, is covered by the first term. Of squares of
   doubles that vanish the sum is off by less than 2^-1073, a distance by 2^-536 (KNN_VANISHED is twice that); beyond
   2^500, where they overflow and all are as far, floats rule out nothing. Boxes are compared by differences of stored
   values, rounded once to double and once to float, which is less.

   Units. A distance is in steps, in stored floats, or in world · norm. Where a look is at distances of doubles far
   below one unit, of which squares of floats would vanish, its frame counts in units `zoom` times finer. */
#ifndef MOTE_KNN_BOUNDS_H
#define MOTE_KNN_BOUNDS_H

#include <float.h>

#include "knn/knn_index.h"
#include "math/simd.h"

#define KNN_FAR         0x1p60f  /* floats are cut to this: nothing gets farther apart by that */
#define KNN_VANISHED    0x1p-535 /* of a distance in the world */
#define KNN_TINY        0x1p-30  /* units, below which a frame zooms */
#define KNN_FINEST_UNIT 535      /* as a power of 1/2, in the world: that of KNN_VANISHED */
#define KNN_MAX_ZOOM    1000     /* as a power of 2 */

typedef struct knn_frame {
    double low[3], high[3]; /* of the queries, as stored */
    double unit[3];         /* the frame's units per stored unit */
    double size;            /* the largest side, in the frame's units */
    double norm;            /* that of keys, times zoom */
    double zoom;            /* a power of two: the frame's units per unit of distance */
} knn_frame;

/* distance: in units, as of a key */
static inline float knn_threshold(const knn_frame *frame, double distance) {
    const double radius = distance * frame->zoom * (1 + 0x1p-19) + frame->size * 0x1p-20 + frame->norm * KNN_VANISHED;
    const double square = radius * radius * (1 + 0x1p-20);
    if (distance * frame->zoom > frame->norm * 0x1p500) return INFINITY;
    return square < FLT_MAX / 2 ? (float)square + FLT_MIN : INFINITY;
}

/* The same for ellipsoids of a compression, whose squares are |d|² + (s (n·d))² in floats, s the rounded root of c²
   - 1. Let E be the error of d above. That of n·d is below E + 5 u (d + E), for n is rounded too and three operations
   are; both as parts of a vector whose second one counts s times: less than sqrt(1 + s²) (E + 5 u (d + E)), c for the
   root. d is at most B, so all is less than c (12 u B + 5 u size) and, for the sum, a factor of 1 + 6 u. The double
   rule's own n·d is off by 2^-51 d, which counts c times as well. Offsets that are cut to KNN_FAR would change n·d: so
   far out floats rule out nothing. */
static inline float knn_threshold_ellipsoid(const knn_frame *frame, double distance, double compression) {
    const double zoomed = distance * frame->zoom, inexact = frame->size * 0x1p-20 + frame->norm * KNN_VANISHED;
    const double radius = zoomed * (1 + compression * 0x1p-19) + compression * inexact;
    const double square = radius * radius * (1 + 0x1p-20);
    if (!(zoomed + frame->size < 0x1p58)) return INFINITY;
    return square < FLT_MAX / 2 ? (float)square + FLT_MIN : INFINITY;
}

/* ---- frames */

SIMD_INLINE uint64_t knn_value_bytes(knn_kind kind) { return kind == KNN_DOUBLE ? sizeof(double) : sizeof(float); }

SIMD_INLINE const uint8_t *knn_row(knn_kind kind, const void *rows, uint64_t row) {
    return (const uint8_t *)rows + row * KNN_LEAF * knn_value_bytes(kind);
}

/* norm: that by which keys are read */
SIMD_INLINE void knn_frame_clear(knn_kind kind, const knn_metric *metric, double norm, knn_frame *frame) {
    for (uint64_t k = 0; k < 3; k++) {
        frame->low[k] = INFINITY;
        frame->high[k] = -INFINITY;
        frame->unit[k] = kind == KNN_DOUBLE ? fabs(metric->scale[k]) * metric->norm : 1;
    }
    frame->size = 0;
    frame->norm = norm;
    frame->zoom = 1;
}

/* Makes the frame's box hold the points of a leaf whose bits are set. */
SIMD_INLINE void knn_frame_add(knn_kind kind, const knn_points *queries, uint32_t leaf, uint32_t members,
                               knn_frame *frame) {
    for (uint64_t k = 0; k < 3; k++) {
        const uint8_t *row = knn_row(kind, queries->leaves, 3ull * leaf + k);
        double low = frame->low[k], high = frame->high[k];
        for (uint32_t l = 0; l < KNN_LEAF; l++) {
            const double value = kind == KNN_INT     ? ((const int32_t *)row)[l]
                                 : kind == KNN_FLOAT ? (double)((const float *)row)[l]
                                                     : ((const double *)row)[l];
            const bool counts = (members >> l & 1) != 0;
            low = counts && value < low ? value : low;
            high = counts && value > high ? value : high;
        }
        frame->low[k] = low;
        frame->high[k] = high;
        frame->size = fmax(frame->size, (high - low) * frame->unit[k]);
    }
}

static inline double knn_length(const double d[3]) {
    const double max = fmax(d[0], fmax(d[1], d[2]));
    double square = 0;
    if (!(max > 0 && max < 0x1p400 && max > 0x1p-400)) return max * 2; /* bounds are not to vanish, nor be exact */
    for (int k = 0; k < 3; k++) square += d[k] * d[k];
    return sqrt(square);
}

static inline double knn_frame_diagonal(const knn_frame *frame) {
    double side[3];
    for (int k = 0; k < 3; k++) side[k] = (frame->high[k] - frame->low[k]) * frame->unit[k];
    return knn_length(side);
}

/* Units for a look as far as a radius: such that the larger of it and the frame is about one. */
static inline void knn_frame_zoom(knn_kind kind, double radius, knn_frame *frame) {
    const double size = frame->size / frame->zoom, larger = fmax(radius, size), norm = frame->norm / frame->zoom;
    int bits = 0;
    if (kind != KNN_DOUBLE || (larger >= KNN_TINY && frame->zoom == 1)) return;
    if (larger < KNN_TINY) {
        const int finest = KNN_FINEST_UNIT - ilogb(norm), wanted = larger > 0 ? -ilogb(larger) : finest;
        bits = wanted < finest ? wanted : finest;
        bits = bits < 0 ? 0 : bits > KNN_MAX_ZOOM ? KNN_MAX_ZOOM : bits;
    }
    const double zoom = ldexp(1, bits), change = zoom / frame->zoom;
    for (int k = 0; k < 3; k++) frame->unit[k] *= change;
    frame->size = size * zoom;
    frame->norm = norm * zoom;
    frame->zoom = zoom;
}

/* ---- eight at once */

SIMD_INLINE simd_f knn_offsets(knn_kind kind, const void *row, double origin, double unit) {
    switch (kind) {
    case KNN_INT: return simd_i_to_f(simd_i_sub(simd_i_load((const int32_t *)row), simd_i_set((int32_t)origin)));
    case KNN_FLOAT: return simd_f_sub(simd_f_load((const float *)row), simd_f_set((float)origin));
    default: break;
    }
    const simd_d away = simd_d_mul(simd_d_sub(simd_d_load((const double *)row), simd_d_set(origin)), simd_d_set(unit));
    return simd_f_max(simd_f_min(simd_d_to_f(away), simd_f_set(KNN_FAR)), simd_f_set(-KNN_FAR));
}

/* The gap between the frame and each of eight boxes along one axis; lows and highs are rows of a block. */
SIMD_INLINE simd_f knn_gaps(knn_kind kind, const void *lows, const void *highs, double low, double high, double unit) {
    if (kind == KNN_INT) {
        const simd_i above = simd_i_sub(simd_i_load((const int32_t *)lows), simd_i_set((int32_t)high));
        const simd_i below = simd_i_sub(simd_i_set((int32_t)low), simd_i_load((const int32_t *)highs));
        return simd_i_to_f(simd_i_max(simd_i_max(above, below), simd_i_set(0)));
    }
    if (kind == KNN_FLOAT) {
        const simd_f above = simd_f_sub(simd_f_load((const float *)lows), simd_f_set((float)high));
        const simd_f below = simd_f_sub(simd_f_set((float)low), simd_f_load((const float *)highs));
        return simd_f_max(simd_f_max(above, below), simd_f_set(0));
    }
    const simd_d above = simd_d_sub(simd_d_load((const double *)lows), simd_d_set(high));
    const simd_d below = simd_d_sub(simd_d_set(low), simd_d_load((const double *)highs));
    return simd_d_to_f(simd_d_mul(simd_d_max(simd_d_max(above, below), simd_d_set(0)), simd_d_set(unit)));
}

/* Which of a block of eight boxes may hold a point so near that floats find it below the threshold. */
SIMD_INLINE uint32_t knn_boxes_within(knn_kind kind, const void *boxes, uint64_t block, const knn_frame *frame,
                                      float threshold) {
    simd_f gap[3];
    for (uint64_t k = 0; k < 3; k++) {
        gap[k] = knn_gaps(kind, knn_row(kind, boxes, 6 * block + k), knn_row(kind, boxes, 6 * block + 3 + k),
                          frame->low[k], frame->high[k], frame->unit[k]);
    }
    const simd_f square = simd_f_fma(gap[2], gap[2], simd_f_fma(gap[1], gap[1], simd_f_mul(gap[0], gap[0])));
    return simd_f_at_most(square, simd_f_set(threshold));
}

/* ---- exact */

SIMD_INLINE void knn_exact_of(knn_kind kind, const knn_points *points, uint64_t at, knn_exact *place) {
    for (uint64_t k = 0; k < 3; k++) {
        const uint64_t value = (3 * (at / KNN_LEAF) + k) * KNN_LEAF + at % KNN_LEAF;
        if (kind == KNN_INT) {
            place->step[k] = ((const int32_t *)points->leaves)[value];
        } else {
            place->value[k] = kind == KNN_FLOAT ? (double)((const float *)points->leaves)[value]
                                                : ((const double *)points->leaves)[value];
        }
    }
}

#endif
