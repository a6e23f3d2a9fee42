/* What a distance is: the one definition, one copy for C and CUDA. A *key* is a squared distance as a 64-bit number
   that orders as the distances do: the number of squared steps, or the bits of a double that is not negative. */
#ifndef MOTE_KNN_METRIC_H
#define MOTE_KNN_METRIC_H

#include <math.h>
#include <string.h>

#include "math/host_device.h"

/* Functions of a kind, a constant of the caller: a copy is made for each. */
#if defined(__CUDACC__)
#define KNN_HD_OF_KIND static __forceinline__ __host__ __device__
#elif defined(__GNUC__)
#define KNN_HD_OF_KIND static inline __attribute__((always_inline))
#else
#define KNN_HD_OF_KIND static inline
#endif

typedef enum knn_kind {
    KNN_INT,   /* int32 steps from the smallest stored value; one scale on all axes */
    KNN_FLOAT, /* floats as stored, scale 1 */
    KNN_DOUBLE /* doubles: stored values, each axis with its scale, or world values */
} knn_kind;

typedef struct knn_metric {
    knn_kind kind;
    double scale[3]; /* world size of one stored unit; 1 for KNN_FLOAT; all alike for KNN_INT */
    double norm;     /* KNN_DOUBLE: a power of two; unit distances, in which floats prune, are world · norm, so that
                        their squares neither vanish nor overflow. 1 for the others */
} knn_metric;

MOTE_HD uint64_t knn_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

MOTE_HD double knn_real(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Differences below 2^31, so that the sum of the squares is below 2^64. */
MOTE_HD uint64_t knn_key_int(int32_t ax, int32_t ay, int32_t az, int32_t bx, int32_t by, int32_t bz) {
    const int64_t dx = (int64_t)ax - bx, dy = (int64_t)ay - by, dz = (int64_t)az - bz;
    return (uint64_t)(dx * dx) + (uint64_t)(dy * dy) + (uint64_t)(dz * dz);
}

/* The key of differences that are scaled already. */
MOTE_HD uint64_t knn_key_real(double dx, double dy, double dz) { return knn_bits((dx * dx + dy * dy) + dz * dz); }

/* A position as exact as it is known: steps of KNN_INT, values of the others. */
typedef struct knn_exact {
    int32_t step[3];
    double value[3];
} knn_exact;

KNN_HD_OF_KIND uint64_t knn_key_between(int kind, const knn_metric *metric, const knn_exact *a, const knn_exact *b) {
    double d[3];
    if (kind == KNN_INT) return knn_key_int(a->step[0], a->step[1], a->step[2], b->step[0], b->step[1], b->step[2]);
    for (int k = 0; k < 3; k++) {
        d[k] = a->value[k] - b->value[k];
        if (kind == KNN_DOUBLE) d[k] *= metric->scale[k];
    }
    return knn_key_real(d[0], d[1], d[2]);
}

/* ---- ellipsoids: their keys are the bits of doubles, whatever the kind

   A query's ellipsoid: its normal, and c * c - 1 for the compression c. */
typedef struct knn_ellipsoid {
    double normal[3]; /* of unit length; 0, 0, 0: a sphere */
    double normal_weight;
} knn_ellipsoid;

/* A normal without length, or with one that is not finite, is none. (Squares below 2^-1000 would lose their last bits,
   and the normal its unit length.) */
MOTE_HD void knn_unit_normal(double nx, double ny, double nz, double normal[3]) {
    const double length = sqrt((nx * nx + ny * ny) + nz * nz);
    const bool is_one = length > 0x1p-500 && length < (double)INFINITY;
    normal[0] = is_one ? nx / length : 0;
    normal[1] = is_one ? ny / length : 0;
    normal[2] = is_one ? nz / length : 0;
}

/* Scaled differences: of steps as exact integers, converted, times the scale; of the other kinds as for spheres. What
   has no number, because a difference overflows and the normal is 0 there, is infinitely far. */
MOTE_HD double knn_real_ellipsoid(double dx, double dy, double dz, const knn_ellipsoid *of) {
    const double along = (of->normal[0] * dx + of->normal[1] * dy) + of->normal[2] * dz;
    const double square = ((dx * dx + dy * dy) + dz * dz) + of->normal_weight * (along * along);
    return square == square ? square : (double)INFINITY;
}

MOTE_HD uint64_t knn_key_ellipsoid(double dx, double dy, double dz, const knn_ellipsoid *of) {
    return knn_bits(knn_real_ellipsoid(dx, dy, dz, of));
}

/* The key of a point for a query's ellipsoid. */
KNN_HD_OF_KIND uint64_t knn_key_of_ellipsoid(int kind, const knn_metric *metric, const knn_ellipsoid *of,
                                             const knn_exact *query, const knn_exact *point) {
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = kind == KNN_INT ? (double)(int32_t)((uint32_t)point->step[k] - (uint32_t)query->step[k])
                               : point->value[k] - query->value[k];
        if (kind != KNN_FLOAT) d[k] *= metric->scale[k];
    }
    return knn_key_ellipsoid(d[0], d[1], d[2], of);
}

/* How keys of ellipsoids are read, of a search whose units are those of a metric. The bound keeps a scale below the
   smallest normal double from making infinite units. */
static inline knn_metric knn_metric_ellipsoid(const knn_metric *metric) {
    knn_metric keys = *metric;
    keys.kind = KNN_DOUBLE;
    if (metric->kind == KNN_INT) keys.norm = fmin(1 / fabs(metric->scale[0]), 0x1p1000);
    return keys;
}

/* The largest key of an ellipsoid within the radius; 0 or infinite: all. */
static inline uint64_t knn_limit_ellipsoid(double radius) {
    return knn_bits(radius > 0 ? radius * radius : (double)INFINITY);
}

/* ---- */

/* A key in 31 bits, which orders as keys do except some that become equal: the head of a double, or of the float that a
   number of steps rounds to. */
MOTE_HD uint32_t knn_key_head(knn_kind kind, uint64_t key) {
    uint32_t head = (uint32_t)(key >> 32);
    if (kind == KNN_INT) {
        const float rounded = (float)(int64_t)(key >> 1);
        memcpy(&head, &rounded, sizeof head);
    }
    return head;
}

/* The squared distance in the world. */
MOTE_HD double knn_distance2(const knn_metric *metric, uint64_t key) {
    return metric->kind == KNN_INT ? (double)key * (metric->scale[0] * metric->scale[0]) : knn_real(key);
}

/* The distance in units: steps, or world · norm. */
MOTE_HD double knn_units(const knn_metric *metric, uint64_t key) {
    return metric->kind == KNN_INT ? sqrt((double)key) : sqrt(knn_real(key)) * metric->norm;
}

/* The largest key whose squared distance is at most that of radius; radius 0 or infinite: all keys. */
static inline uint64_t knn_key_limit(const knn_metric *metric, double radius) {
    const double square = radius * radius;
    if (!(radius > 0) || square == INFINITY) return metric->kind == KNN_INT ? UINT64_MAX : knn_bits(INFINITY);
    if (metric->kind != KNN_INT) return knn_bits(square);
    uint64_t max = 0; /* squared distances grow with the key: bit by bit */
    for (int bit = 63; bit >= 0; bit--) {
        if (knn_distance2(metric, max | 1ull << bit) <= square) max |= 1ull << bit;
    }
    return max;
}

#endif
