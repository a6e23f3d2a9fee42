/* The neighbours of a seen point, and their plane, in floats: offsets from the point over the distance of the farthest
   round to 2^-24, and a splat's normal has 11 bits. One copy for C and CUDA. */
#ifndef MOTE_RENDER_PLANE_MATH_H
#define MOTE_RENDER_PLANE_MATH_H

#include <math.h>

#include "math/host_device.h"
#include "mote/render.h"

#define RENDER_SWEEPS 3        /* of three rotations: leave 1e-7 of the largest eigenvalue */
#define RENDER_NARROW 0x1p-10f /* of the largest eigenvalue: a smaller second one is not known well enough */

/* Neighbours in the camera's axes, from the point, over the distance of the farthest. */
typedef struct render_patch {
    uint32_t count;
    double unit2; /* that distance, squared */
    float at[MOTE_RENDER_MAX_K][3];
} render_patch;

typedef struct render_plane_sums {
    float at[3], squares[3], xy, xz, yz;
} render_plane_sums;

typedef struct render_plane {
    float normal[3], along[3]; /* along: of the largest eigenvalue */
    float ratio;               /* of the standard deviations along the other axis of the plane and this one */
} render_plane;

/* A matrix, xx xy xz yy yz zz, and its vectors. */
typedef struct render_matrix {
    float m[6], vectors[3][3];
} render_matrix;

/* Rotates the axes p and q so that element pq becomes zero, like eigen3_rotate; r is the third axis. */
MOTE_HD void render_rotate(render_matrix *of, int p, int q, int pp, int qq, int pq, int pr, int qr) {
    float *m = of->m;
    const float off = m[pq], apr = m[pr], aqr = m[qr], difference = m[qq] - m[pp], twice = off + off;
    const float root = sqrtf(difference * difference + twice * twice);
    const float t = twice * copysignf(1.0f, difference) / (fabsf(difference) + root + 0x1p-126f);
    const float c = 1.0f / sqrtf(t * t + 1.0f), s = t * c;
    m[pp] -= t * off;
    m[qq] += t * off;
    m[pq] = 0;
    m[pr] = c * apr - s * aqr;
    m[qr] = s * apr + c * aqr;
    for (int k = 0; k < 3; k++) {
        const float vp = of->vectors[p][k], vq = of->vectors[q][k];
        of->vectors[p][k] = c * vp - s * vq;
        of->vectors[q][k] = s * vp + c * vq;
    }
}

MOTE_HD void render_solve_matrix(render_matrix *of) {
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) of->vectors[i][k] = i == k ? 1.0f : 0.0f;
    }
    for (int sweep = 0; sweep < RENDER_SWEEPS; sweep++) {
        render_rotate(of, 0, 1, 0, 3, 1, 2, 4);
        render_rotate(of, 0, 2, 0, 5, 2, 1, 4);
        render_rotate(of, 1, 2, 3, 5, 4, 1, 2);
    }
}

/* The plane of n neighbours. Returns false where floats do not tell: they nearly are on a line. */
MOTE_HD bool render_fit_plane(const render_plane_sums *sums, float n, render_plane *plane) {
    const float *a = sums->at, *aa = sums->squares;
    render_matrix of;
    const float xx = n * aa[0] - a[0] * a[0], yy = n * aa[1] - a[1] * a[1], zz = n * aa[2] - a[2] * a[2];
    const float by = 1.0f / ((xx + yy) + zz);
    of.m[0] = xx * by;
    of.m[1] = (n * sums->xy - a[0] * a[1]) * by;
    of.m[2] = (n * sums->xz - a[0] * a[2]) * by;
    of.m[3] = yy * by;
    of.m[4] = (n * sums->yz - a[1] * a[2]) * by;
    of.m[5] = zz * by;
    render_solve_matrix(&of);
    const float x = of.m[0], y = of.m[3], z = of.m[5];
    const float low = x < y ? x : y, high = x < y ? y : x, most = high < z ? z : high, least = low < z ? low : z;
    const float middle = z < low ? low : z < high ? z : high;
    if (!(middle > RENDER_NARROW * most)) return false;
    for (int k = 0; k < 3; k++) { /* picked without an index, which would cost a GPU its registers */
        const float vx = of.vectors[0][k], vy = of.vectors[1][k], vz = of.vectors[2][k];
        plane->normal[k] = x == least ? vx : y == least ? vy : vz;
        plane->along[k] = z == most ? vz : y == most ? vy : vx;
    }
    plane->ratio = sqrtf(middle / most);
    return true;
}

#endif
