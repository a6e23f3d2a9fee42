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

#include "render/screen/render_screen_math.h"

#define RENDER_FACING          0.9  /* cosine from which a surface is taken not to turn away within a splat */
#define RENDER_CONTOUR_RIDGE   1e-3 /* added to the fit's diagonal: few or collinear neighbours show no bending */
#define RENDER_CONTOUR_FIXED   1e9  /* the same for the slopes of a plane that was given: they stay 0 */
#define RENDER_CONTOUR_TERMS   5    /* of the fit: t, w, t²/2, t w, w²/2 */
#define RENDER_GRAZING         1e-4 /* sine of the least angle between ray and plane that is reckoned with */
#define RENDER_FEW_FOR_BENDING 4u   /* neighbours, with the point itself */

/* In axes of the world until a disc is turned to the camera. All zero: the surface is as large as the splat. */
typedef struct render_contour {
    float linear[3], across[3]; /* over the splat's long radius: within where linear + bend across² <= 1 */
    float bend;                 /* 1, -1, or 0 */
} render_contour;

/* Axes of a plane as the camera sees it. Returns the cosine between normal and ray; *flat is the sine. */
MOTE_HD double render_contour_axes(const render_view *view, render_place at, const float normal[3], double n[3],
                                   double t[3], double w[3], double *flat) {
    double ray[3], length2 = 0, facing = 0, flat2 = 0;
    for (int k = 0; k < 3; k++) {
        ray[k] = view->perspective ? (at.x * view->right[k] + at.y * view->down[k]) + at.z * view->forward[k]
                                   : view->forward[k];
        length2 += ray[k] * ray[k];
    }
    const double by = 1 / sqrt(length2);
    for (int k = 0; k < 3; k++) facing -= ray[k] * by * normal[k];
    const double sign = facing < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) {
        n[k] = sign * normal[k];
        t[k] = ray[k] * by + facing * normal[k];
        flat2 += t[k] * t[k];
    }
    *flat = sqrt(flat2);
    for (int k = 0; k < 3; k++) t[k] /= *flat;
    w[0] = n[1] * t[2] - n[2] * t[1];
    w[1] = n[2] * t[0] - n[0] * t[2];
    w[2] = n[0] * t[1] - n[1] * t[0];
    return sign * facing;
}

/* Solves five equations whose matrix is symmetric and positive; the last column becomes the solution. */
MOTE_HD void render_solve_contour(double m[RENDER_CONTOUR_TERMS][RENDER_CONTOUR_TERMS + 1]) {
    for (int r = 0; r < RENDER_CONTOUR_TERMS; r++) {
        for (int q = r + 1; q < RENDER_CONTOUR_TERMS; q++) {
            const double by = m[q][r] / m[r][r];
            for (int l = r; l <= RENDER_CONTOUR_TERMS; l++) m[q][l] -= by * m[r][l];
        }
    }
    for (int r = RENDER_CONTOUR_TERMS - 1; r >= 0; r--) {
        for (int q = r + 1; q < RENDER_CONTOUR_TERMS; q++) {
            m[r][RENDER_CONTOUR_TERMS] -= m[r][q] * m[q][RENDER_CONTOUR_TERMS];
        }
        m[r][RENDER_CONTOUR_TERMS] /= m[r][r];
    }
}

/* Least squares of how far neighbours are below the plane through seen point i, in units of the farthest. */
MOTE_HD void render_fit_contour(const render_screen *screen, const render_search *search, uint32_t i, double unit,
                                const double n[3], const double t[3], const double w[3], bool fixed,
                                double m[RENDER_CONTOUR_TERMS][RENDER_CONTOUR_TERMS + 1]) {
    const render_seen *seen = &screen->seen;
    for (int r = 0; r < RENDER_CONTOUR_TERMS; r++) {
        for (int q = 0; q <= RENDER_CONTOUR_TERMS; q++) m[r][q] = 0;
        m[r][r] = fixed && r < 2 ? RENDER_CONTOUR_FIXED : RENDER_CONTOUR_RIDGE;
    }
    for (uint32_t j = 0; j < search->count; j++) {
        const uint32_t other = search->list[j].seen;
        double x = 0, y = 0, below = 0;
        for (int k = 0; k < 3; k++) {
            const double offset = (seen->at[k][other] - seen->at[k][i]) / unit;
            x += offset * t[k];
            y += offset * w[k];
            below -= offset * n[k];
        }
        const double f[RENDER_CONTOUR_TERMS + 1] = {x, y, x * x / 2, x * y, y * y / 2, below};
        for (int r = 0; r < RENDER_CONTOUR_TERMS; r++) {
            for (int q = 0; q <= RENDER_CONTOUR_TERMS; q++) m[r][q] += f[r] * f[q];
        }
    }
    render_solve_contour(m);
}

/* The contour of seen point i, from its neighbours. The plane of neighbours that lie on one side only, as at a
   silhouette, is tilted: the fit tells by how much.
   fixed  the normal was given, and is exact */
MOTE_HD void render_find_contour(const render_screen *screen, const render_search *search, uint32_t i,
                                 const float normal[3], bool fixed, float long_radius, render_contour *contour) {
    const render_place at =
        render_to_camera(&screen->view, screen->seen.at[0][i], screen->seen.at[1][i], screen->seen.at[2][i]);
    const double unit = search->count < RENDER_FEW_FOR_BENDING ? 0 : sqrt(search->list[search->count - 1].distance2);
    double m[RENDER_CONTOUR_TERMS][RENDER_CONTOUR_TERMS + 1], n[3], t[3], w[3], flat;
    const double facing = render_contour_axes(&screen->view, at, normal, n, t, w, &flat);
    if (!(unit > 0) || !(facing < RENDER_FACING)) return;
    render_fit_contour(screen, search, i, unit, n, t, w, fixed, m);
    const double kt = m[2][RENDER_CONTOUR_TERMS], ktw = m[3][RENDER_CONTOUR_TERMS], kw = m[4][RENDER_CONTOUR_TERMS];
    const double up = facing - m[0][RENDER_CONTOUR_TERMS] * flat; /* sine between ray and the plane without its tilt */
    const double c = flat / (fabs(up) > RENDER_GRAZING ? up : RENDER_GRAZING) * (long_radius / unit);
    const double bend = kt * kw - ktw * ktw, across = fabs(c) * sqrt(fabs(bend));
    for (int k = 0; k < 3; k++) {
        contour->linear[k] = (float)(2 * c * (kt * t[k] + ktw * w[k]));
        contour->across[k] = (float)(across * w[k]);
    }
    contour->bend = bend < 0 ? -1.0f : 1.0f;
}

#endif
