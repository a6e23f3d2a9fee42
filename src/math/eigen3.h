/* Eigenvalues and eigenvectors of symmetric 3 x 3 matrices: Jacobi's rotations, always as many, with nothing but
   + - * / and square roots, which round alike everywhere. So C and CUDA give the same bits, and so does a loop over
   lanes, each of which is a matrix of its own.

   A matrix and its vectors are 15 numbers, element i at m[i · stride]: xx xy xz yy yz zz, then the vectors, x y z each.
   After eigen3_solve the values are xx, yy and zz, in no order, and vector c belongs to the c-th of them.
   Source: Jacobi 1846; the rotation as in Golub, Van Loan, Matrix Computations, 8.5. */
#ifndef MOTE_EIGEN3_H
#define MOTE_EIGEN3_H

#include <math.h>

#include "math/host_device.h"

#define EIGEN3_NUMBERS 15u
#define EIGEN3_SWEEPS                                                                                                  \
    4 /* of three rotations; in 3 million matrices of any shape they left 1e-18 of the trace at most */
#define EIGEN3_TINY 0x1p-1022

/* The rotation of the axes p and q that brings element pq to zero; r is the third axis. */
MOTE_HD void eigen3_rotate(double *m, uint32_t stride, uint32_t p, uint32_t q, uint32_t pp, uint32_t qq, uint32_t pq,
                           uint32_t pr, uint32_t qr) {
    const double off = m[pq * stride], app = m[pp * stride], aqq = m[qq * stride];
    const double apr = m[pr * stride], aqr = m[qr * stride];
    const double difference = aqq - app, twice = off + off;
    const double root = sqrt(difference * difference + twice * twice);
    /* The smaller of the two tangents; what is added keeps 0/0 away and changes no other number. */
    const double t = twice * copysign(1.0, difference) / (fabs(difference) + root + EIGEN3_TINY);
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    m[pp * stride] = app - t * off;
    m[qq * stride] = aqq + t * off;
    m[pq * stride] = 0;
    m[pr * stride] = c * apr - s * aqr;
    m[qr * stride] = s * apr + c * aqr;
    for (uint32_t k = 0; k < 3; k++) {
        const double vp = m[(6 + 3 * p + k) * stride], vq = m[(6 + 3 * q + k) * stride];
        m[(6 + 3 * p + k) * stride] = c * vp - s * vq;
        m[(6 + 3 * q + k) * stride] = s * vp + c * vq;
    }
}

/* The three axes' unit vectors. */
MOTE_HD void eigen3_begin(double *m, uint32_t stride) {
    for (uint32_t i = 0; i < 9; i++) m[(6 + i) * stride] = i % 4 == 0 ? 1 : 0;
}

MOTE_HD void eigen3_rotate_xy(double *m, uint32_t stride) { eigen3_rotate(m, stride, 0, 1, 0, 3, 1, 2, 4); }
MOTE_HD void eigen3_rotate_xz(double *m, uint32_t stride) { eigen3_rotate(m, stride, 0, 2, 0, 5, 2, 1, 4); }
MOTE_HD void eigen3_rotate_yz(double *m, uint32_t stride) { eigen3_rotate(m, stride, 1, 2, 3, 5, 4, 1, 2); }

/* m has the matrix, of a size whose squares neither overflow nor all vanish. */
MOTE_HD void eigen3_solve(double *m, uint32_t stride) {
    eigen3_begin(m, stride);
    for (int sweep = 0; sweep < EIGEN3_SWEEPS; sweep++) {
        eigen3_rotate_xy(m, stride);
        eigen3_rotate_xz(m, stride);
        eigen3_rotate_yz(m, stride);
    }
}

#endif
