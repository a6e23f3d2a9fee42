/* Vectors, randomness and directions: one copy for C and CUDA. Only operations that IEEE 754 rounds exactly are used
   (+ - * / and sqrt), so that a path is the same on every machine. */
#ifndef MOTE_PHOTON_MATH_H
#define MOTE_PHOTON_MATH_H

#include <math.h>

#include "math/hash.h"

#define PHOTON_PI 3.14159265358979323846

/* b if a is NaN. Not fmin and fmax: on a CPU these are calls of a library without AVX, and changing over to it and back
   costs some processors tens of cycles. */
MOTE_HD double photon_min(double a, double b) { return a < b ? a : b; }
MOTE_HD double photon_max(double a, double b) { return a > b ? a : b; }

typedef struct photon_vec {
    double x, y, z;
} photon_vec;

MOTE_HD photon_vec photon_vec_of(double x, double y, double z) {
    photon_vec v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}
MOTE_HD photon_vec photon_vec_from(const double *p) { return photon_vec_of(p[0], p[1], p[2]); }
MOTE_HD photon_vec photon_add(photon_vec a, photon_vec b) { return photon_vec_of(a.x + b.x, a.y + b.y, a.z + b.z); }
MOTE_HD photon_vec photon_sub(photon_vec a, photon_vec b) { return photon_vec_of(a.x - b.x, a.y - b.y, a.z - b.z); }
MOTE_HD photon_vec photon_scale(photon_vec a, double s) { return photon_vec_of(a.x * s, a.y * s, a.z * s); }
MOTE_HD photon_vec photon_mul(photon_vec a, photon_vec b) { return photon_vec_of(a.x * b.x, a.y * b.y, a.z * b.z); }
MOTE_HD double photon_dot(photon_vec a, photon_vec b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
MOTE_HD double photon_sum(photon_vec a) { return (a.x + a.y) + a.z; }
MOTE_HD photon_vec photon_cross(photon_vec a, photon_vec b) {
    return photon_vec_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
MOTE_HD double photon_length(photon_vec a) { return sqrt(photon_dot(a, a)); }
/* A direction of length 1; a vector of zeros stays one. */
MOTE_HD photon_vec photon_unit(photon_vec a) {
    const double length = photon_length(a);
    return length > 0 ? photon_scale(a, 1 / length) : a;
}
/* a + s b */
MOTE_HD photon_vec photon_along(photon_vec a, photon_vec b, double s) { return photon_add(a, photon_scale(b, s)); }

/* ---- randomness: a hash of (seed, stream, number) and a counter along the path (splitmix64) */

enum {
    PHOTON_STREAM_EMIT,
    PHOTON_STREAM_EYE,
    PHOTON_STREAM_LIGHT,
    PHOTON_STREAM_GATHER,
    PHOTON_STREAM_PATH,
    PHOTON_STREAM_ONWARD
};

typedef struct photon_random {
    uint64_t state;
} photon_random;

MOTE_HD photon_random photon_random_of(uint64_t seed, uint32_t stream, uint64_t number) {
    photon_random r;
    r.state = mote_hash_pair(mote_hash_pair(seed, stream), number);
    return r;
}
/* Returns the next number of the stream, in [0, 1). */
MOTE_HD double photon_next(photon_random *r) {
    r->state += MOTE_GOLDEN_GAMMA;
    return (double)(mote_hash64(r->state) >> 11) * 0x1p-53;
}

/* Places that fill the unit cube evenly, from a random start on: the n-th is n steps of 1/g, 1/g² and 1/g³ farther,
   where g to the fourth is g + 1 (Roberts 2018). */
typedef struct photon_sequence {
    photon_vec start;
    uint64_t next;
} photon_sequence;

MOTE_HD photon_sequence photon_sequence_of(photon_random *random, uint64_t first) {
    photon_sequence sequence;
    sequence.start.x = photon_next(random);
    sequence.start.y = photon_next(random);
    sequence.start.z = photon_next(random);
    sequence.next = first;
    return sequence;
}

/* Returns what is behind the point of x, which is 0 or more. */
MOTE_HD double photon_fraction(double x) { return x - floor(x); }

MOTE_HD photon_vec photon_sequence_next(photon_sequence *sequence) {
    const double n = (double)sequence->next++;
    return photon_vec_of(photon_fraction(sequence->start.x + n * 0.8191725133961645),
                         photon_fraction(sequence->start.y + n * 0.6710436067037893),
                         photon_fraction(sequence->start.z + n * 0.5497004779019703));
}

/* ---- directions */

/* Sine and cosine of a part of a turn, [0, 1): Taylor's series within an eighth. */
MOTE_HD void photon_turn(double part, double *sine, double *cosine) {
    const int quarter = (int)(part * 4 + 0.5);
    const double x = (part - quarter * 0.25) * (2 * PHOTON_PI), x2 = x * x;
    double s = -1.0 / 1307674368000.0, c = 1.0 / 20922789888000.0;
    s = s * x2 + 1.0 / 6227020800.0;
    s = s * x2 - 1.0 / 39916800.0;
    s = s * x2 + 1.0 / 362880.0;
    s = s * x2 - 1.0 / 5040.0;
    s = s * x2 + 1.0 / 120.0;
    s = s * x2 - 1.0 / 6.0;
    s = (s * x2) * x + x;
    c = c * x2 - 1.0 / 87178291200.0;
    c = c * x2 + 1.0 / 479001600.0;
    c = c * x2 - 1.0 / 3628800.0;
    c = c * x2 + 1.0 / 40320.0;
    c = c * x2 - 1.0 / 720.0;
    c = c * x2 + 1.0 / 24.0;
    c = c * x2 - 0.5;
    c = c * x2 + 1;
    *sine = quarter == 1 ? c : quarter == 2 ? -s : quarter == 3 ? -c : s;
    *cosine = quarter == 1 ? -s : quarter == 2 ? -c : quarter == 3 ? s : c;
}

/* The arc tangent of y / x, of the full turn. */
MOTE_HD double photon_angle(double y, double x) {
    const double far_x = fabs(x), far_y = fabs(y), more = photon_max(far_x, far_y);
    if (!(more > 0)) return 0;
    double z = photon_min(far_x, far_y) / more;
    z = z / (1 + sqrt(1 + z * z)); /* a quarter of the angle, in two steps */
    z = z / (1 + sqrt(1 + z * z));
    const double z2 = z * z;
    double sum = -1.0 / 15;
    sum = sum * z2 + 1.0 / 13;
    sum = sum * z2 - 1.0 / 11;
    sum = sum * z2 + 1.0 / 9;
    sum = sum * z2 - 1.0 / 7;
    sum = sum * z2 + 1.0 / 5;
    sum = sum * z2 - 1.0 / 3;
    double angle = 4 * ((sum * z2) * z + z);
    if (far_y > far_x) angle = PHOTON_PI / 2 - angle;
    if (x < 0) angle = PHOTON_PI - angle;
    return y < 0 ? -angle : angle;
}

/* A direction whose angle to an axis of unit length has this cosine, turned around it by a part of a turn. The frame
   is that of Duff et al. 2017. */
MOTE_HD photon_vec photon_around(photon_vec axis, double cosine, double turn) {
    const double sign = axis.z < 0 ? -1.0 : 1.0, a = -1 / (sign + axis.z), b = axis.x * axis.y * a;
    const photon_vec u = photon_vec_of(1 + sign * axis.x * axis.x * a, sign * b, -sign * axis.x);
    const photon_vec v = photon_vec_of(b, sign + axis.y * axis.y * a, -axis.y);
    const double square = 1 - cosine * cosine, sine = square > 0 ? sqrt(square) : 0;
    double s, c;
    photon_turn(turn, &s, &c);
    return photon_along(photon_along(photon_scale(axis, cosine), u, c * sine), v, s * sine);
}

/* Directions in proportion to their cosine, of two numbers in [0, 1). */
MOTE_HD photon_vec photon_cosine_direction(photon_vec normal, double a, double b) {
    return photon_around(normal, sqrt(1 - a), b);
}

MOTE_HD photon_vec photon_mirror(photon_vec direction, photon_vec normal) {
    return photon_along(direction, normal, -2 * photon_dot(direction, normal));
}

#endif
