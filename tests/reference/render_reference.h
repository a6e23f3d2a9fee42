/* Pictures, naively: every pixel asks every point, in double precision. */
#ifndef MOTE_RENDER_REFERENCE_H
#define MOTE_RENDER_REFERENCE_H

#include "mote/render.h"

typedef struct render_reference_pixel {
    bool shown;
    double depth, color[3]; /* red, green, blue: 0..255 */
    double normal[3];       /* world axes, unit length */
    uint32_t index;
    double to_edge;     /* samples from the point's place in the picture to the nearest edge of its pixel */
    uint32_t fragments; /* surface: splats that are averaged */
    double rounding;    /* surface: what whole weights, of up to 1022, round, over their sum */
    double edge;        /* surface: how near to 1 the r² of a splat, or to its limit a depth, comes */
} render_reference_pixel;

/* The nearest point of each pixel: [width * height]. */
void render_reference_points(const mote_cloud *cloud, const mote_camera *camera, uint32_t width, uint32_t height,
                             render_reference_pixel *out);
/* The mean of all points that are not farther than the nearest and a tolerance, which the caller says for each pixel.
 */
void render_reference_average(const mote_cloud *cloud, const mote_camera *camera, uint32_t width, uint32_t height,
                              const double *tolerance, render_reference_pixel *out);
/* Surfaces: layers of points, neighbours, ellipses, weights, as docs/render.md describes them. */
void render_reference_surface(const mote_cloud *cloud, const mote_camera *camera, const mote_render_params *params,
                              render_reference_pixel *out);
/* Light and eye-dome lighting over pixels: colours of 0..1, and 1 for what shows nothing. */
void render_reference_shade(const mote_camera *camera, const mote_render_params *params,
                            const render_reference_pixel *pixels, double *rgb);

/* The k nearest of point i among those listed, itself first, by (distance, order of the list). Returns how many. */
uint32_t render_reference_neighbors(const mote_cloud *cloud, const uint32_t *points, uint32_t count, uint32_t i,
                                    uint32_t k, uint32_t *neighbors, double *distance2);

#endif
