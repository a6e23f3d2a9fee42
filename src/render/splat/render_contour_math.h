/* Where the surface around a seen point turns away from the camera. One copy for C and CUDA.

   A flat splat near the silhouette of a curved surface reaches out beyond it. So the neighbours tell how the surface
   bends, and a splat is drawn only where the ray of a sample meets that bent surface:

       n ^      ___ splat ___________          along t, away from the camera, on the splat's plane
         |  .-''      \             |   ^      across w, to the side
       --+-------------\------------+---|->    the surface falls below the plane by (kt t² + 2 ktw t w + kw w²) / 2
         |              \  spills   |   t      c  the cotangent of the angle between ray and plane
         |      surface  '.         |

   A ray that meets the plane at (t, w) is c d farther along t when it is d below the plane. It meets the surface where
   a quadratic equation of d has a solution:

       2 c (kt t + ktw w) + c² (kt kw - ktw²) w² <= 1

   A linear function of the plane, and the square of another with a sign. */
#ifndef MOTE_RENDER_CONTOUR_MATH_H
#define MOTE_RENDER_CONTOUR_MATH_H

#include "render/camera/render_view.h"
#include "render/splat/render_plane_math.h"

#define RENDER_FACING          0.9f  /* cosine from which a surface is taken not to turn away within a splat */
#define RENDER_CONTOUR_RIDGE   1e-3f /* added to the fit's diagonal: few or collinear neighbours show no bending */
#define RENDER_CONTOUR_FIXED   1e9f  /* the same for the slopes of a plane that was given: they stay 0 */
#define RENDER_CONTOUR_TERMS   5     /* of the fit: t, w, t²/2, t w, w²/2 */
#define RENDER_GRAZING         1e-4f /* sine of the least angle between ray and plane that is reckoned with */
#define RENDER_FEW_FOR_BENDING 4u    /* neighbours, with the point itself */

/* Where a bent surface turns away, in the camera's axes. All zero: the surface is as large as the splat. */
typedef struct render_contour {
    float linear[3], across[3]; /* over the splat's long radius: within where linear + bend across² <= 1 */
    float bend;                 /* 1, -1, or 0 */
} render_contour;

/* Axes of a plane as the camera sees it. Returns the cosine between normal and ray; *flat is the sine. */
MOTE_HD float render_contour_axes(const render_view *view, render_place at, const float normal[3], float n[3],
                                  float t[3], float w[3], float *flat) {
    const bool perspective = view->perspective;
    const float over[3] = {perspective ? (float)(at.x / at.z) : 0.0f, perspective ? (float)(at.y / at.z) : 0.0f, 1.0f};
    const float by = 1.0f / sqrtf((over[0] * over[0] + over[1] * over[1]) + 1.0f);
    const float ray[3] = {over[0] * by, over[1] * by, by};
    const float facing = 0.0f - ((ray[0] * normal[0] + ray[1] * normal[1]) + ray[2] * normal[2]);
    const float sign = facing < 0 ? -1.0f : 1.0f;
    float flat2 = 0;
    for (int k = 0; k < 3; k++) {
        n[k] = sign * normal[k];
        t[k] = ray[k] + facing * normal[k];
        flat2 += t[k] * t[k];
    }
    *flat = sqrtf(flat2);
    for (int k = 0; k < 3; k++) t[k] /= *flat;
    w[0] = n[1] * t[2] - n[2] * t[1];
    w[1] = n[2] * t[0] - n[0] * t[2];
    w[2] = n[0] * t[1] - n[1] * t[0];
    return sign * facing;
}

/* Solves five equations whose matrix is symmetric and positive; the last column becomes the solution. */
MOTE_HD void render_solve_contour(float m[RENDER_CONTOUR_TERMS][RENDER_CONTOUR_TERMS + 1]) {
    for (int r = 0; r < RENDER_CONTOUR_TERMS; r++) {
        const float by = 1.0f / m[r][r];
        for (int l = r + 1; l <= RENDER_CONTOUR_TERMS; l++) {
            for (int q = r + 1; q < RENDER_CONTOUR_TERMS && q <= l; q++) m[q][l] -= m[r][q] * by * m[r][l];
        }
        for (int l = r + 1; l <= RENDER_CONTOUR_TERMS; l++) m[r][l] *= by;
    }
    for (int r = RENDER_CONTOUR_TERMS - 1; r >= 0; r--) {
        for (int q = r + 1; q < RENDER_CONTOUR_TERMS; q++) {
            m[r][RENDER_CONTOUR_TERMS] -= m[r][q] * m[q][RENDER_CONTOUR_TERMS];
        }
    }
}

/* Least squares of how far neighbours are below the plane through the point. Only the upper half of the matrix is
   made, and the right side. */
MOTE_HD void render_fit_contour(const render_patch *patch, const float n[3], const float t[3], const float w[3],
                                bool fixed, float m[RENDER_CONTOUR_TERMS][RENDER_CONTOUR_TERMS + 1]) {
    for (int r = 0; r < RENDER_CONTOUR_TERMS; r++) {
        for (int q = r; q <= RENDER_CONTOUR_TERMS; q++) m[r][q] = 0;
        m[r][r] = fixed && r < 2 ? RENDER_CONTOUR_FIXED : RENDER_CONTOUR_RIDGE;
    }
    for (uint32_t j = 0; j < patch->count; j++) {
        const float *at = patch->at[j];
        const float x = (at[0] * t[0] + at[1] * t[1]) + at[2] * t[2], y = (at[0] * w[0] + at[1] * w[1]) + at[2] * w[2];
        const float below = 0.0f - ((at[0] * n[0] + at[1] * n[1]) + at[2] * n[2]);
        const float f[RENDER_CONTOUR_TERMS + 1] = {x, y, x * x / 2, x * y, y * y / 2, below};
        for (int r = 0; r < RENDER_CONTOUR_TERMS; r++) {
            for (int q = r; q <= RENDER_CONTOUR_TERMS; q++) m[r][q] += f[r] * f[q];
        }
    }
    render_solve_contour(m);
}

/* The contour of a seen point, from its neighbours. The plane of neighbours that lie on one side only, as at a
   silhouette, is tilted: the fit tells by how much.
   fixed        the normal was given, and is exact
   long_radius  of its splat, in units of the patch */
MOTE_HD void render_find_contour(const render_view *view, render_place at, const render_patch *patch,
                                 const float normal[3], bool fixed, float long_radius, render_contour *contour) {
    float m[RENDER_CONTOUR_TERMS][RENDER_CONTOUR_TERMS + 1], n[3], t[3], w[3], flat;
    const float facing = render_contour_axes(view, at, normal, n, t, w, &flat);
    if (patch->count < RENDER_FEW_FOR_BENDING || !(facing < RENDER_FACING)) return;
    render_fit_contour(patch, n, t, w, fixed, m);
    const float kt = m[2][RENDER_CONTOUR_TERMS], ktw = m[3][RENDER_CONTOUR_TERMS], kw = m[4][RENDER_CONTOUR_TERMS];
    const float up = facing - m[0][RENDER_CONTOUR_TERMS] * flat; /* sine between ray and the plane without its tilt */
    const float c = flat / (fabsf(up) > RENDER_GRAZING ? up : RENDER_GRAZING) * long_radius;
    const float bend = kt * kw - ktw * ktw, across = fabsf(c) * sqrtf(fabsf(bend));
    for (int k = 0; k < 3; k++) {
        contour->linear[k] = 2 * c * (kt * t[k] + ktw * w[k]);
        contour->across[k] = across * w[k];
    }
    contour->bend = bend < 0 ? -1.0f : 1.0f;
}

#endif
