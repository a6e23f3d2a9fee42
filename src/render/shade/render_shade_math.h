/* From samples to pixels: light, eye-dome lighting, false colours, and the mean of a pixel's samples. One copy for C
   and CUDA; logarithm, exponential and arc cosine are polynomials, so that they round alike everywhere. */
#ifndef MOTE_RENDER_SHADE_MATH_H
#define MOTE_RENDER_SHADE_MATH_H

#include <math.h>
#include <string.h>

#include "mote/render.h"
#include "render/camera/render_view.h"
#include "render/shade/render_samples.h"

#define RENDER_EDL_GAIN        128.0f /* of the mean difference of logarithms: strength 1 draws a clear line */
#define RENDER_EDL_LEAST       0.3f   /* of the light: its lines are dark, and show the colour of what they lie on */
#define RENDER_EDL_NEIGHBORS   8
#define RENDER_SHOW_GREEN_DEG  22.5f /* of normal error: the thesis's scale */
#define RENDER_SHOW_RED_DEG    45.0f
#define RENDER_SHOW_ITERATIONS 8.0f
#define RENDER_ERROR_STEPS     256.0f /* of a degree, in sums of normal errors: squares of 2^30 samples fit 64 bits */

/* A light, ready for use. */
typedef struct render_lamp {
    float toward[3]; /* camera's axes, unit length */
    float half[3];   /* between it and the viewer, unit length: where highlights are */
    float color[3];  /* times strength */
} render_lamp;

typedef struct render_look {
    render_view view;
    uint32_t samples; /* a side of a pixel */
    float background[4];
    float edl_strength;
    int32_t edl_offset[RENDER_EDL_NEIGHBORS][2];
    float edl_scale; /* ORTHOGRAPHIC: 1 / height of the picture; PERSPECTIVE: 0: by logarithms */
    uint32_t lamp_count;
    render_lamp lamps[MOTE_RENDER_MAX_LIGHTS];
    float ambient, specular;
    mote_render_show show;
    float show_min, show_max;
    const float *given[3]; /* normals by row, world axes; NULL: none */
} render_look;

typedef struct render_rgba {
    float r, g, b, a; /* 0..1 */
} render_rgba;

/* ---- functions of one number */

/* Returns the logarithm of a positive, normal number: its mantissa m in [1, 2) has a series in (m - 1) / (m + 1). */
MOTE_HD float render_log2(float value) {
    uint32_t bits;
    float m;
    memcpy(&bits, &value, sizeof bits);
    const int32_t exponent = (int32_t)(bits >> 23) - 127;
    bits = (bits & 0x7FFFFFu) | 0x3F800000u;
    memcpy(&m, &bits, sizeof m);
    const float t = (m - 1.0f) / (m + 1.0f), t2 = t * t;
    const float series = t * (2.88539008f + t2 * (0.96179669f + t2 * (0.57707802f + t2 * (0.41219858f + t2 * 0.32f))));
    return (float)exponent + series;
}

/* 2 to the power of -value, value 0 or more; 0 from 100 on. */
MOTE_HD float render_exp2_minus(float value) {
    if (!(value < 100.0f)) return 0.0f;
    const int32_t whole = (int32_t)value;
    const float part = value - (float)whole, x = -0.69314718f * part;
    const float series =
        1.0f +
        x * (1.0f + x * (0.5f + x * (0.16666667f + x * (0.041666667f + x * (0.0083333333f + x * 0.0013888889f)))));
    const uint32_t bits = (uint32_t)(127 - whole) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return series * power;
}

/* Returns the angle, in degrees, of a cosine from 0 to 1 (Abramowitz, Stegun 4.4.45). */
MOTE_HD float render_acos_deg(float cosine) {
    const float c = cosine < 0.0f ? 0.0f : cosine > 1.0f ? 1.0f : cosine;
    const float series = 1.5707288f + c * (-0.2121144f + c * (0.0742610f + c * -0.0187293f));
    return sqrtf(1.0f - c) * series * 57.2957795f;
}

MOTE_HD float render_unit(float value) { return !(value > 0.0f) ? 0.0f : value > 1.0f ? 1.0f : value; }
MOTE_HD uint16_t render_to_16(float value) { return (uint16_t)(render_unit(value) * 65535.0f + 0.5f); }
MOTE_HD uint8_t render_to_8(float value) { return (uint8_t)(render_unit(value) * 255.0f + 0.5f); }

/* ---- false colours */

/* Blue, cyan, green, yellow, red. */
MOTE_HD render_rgba render_rainbow(float at) {
    const float t = render_unit(at) * 4.0f;
    render_rgba c;
    c.r = render_unit(t - 2.0f);
    c.g = t < 2.0f ? render_unit(t) : render_unit(4.0f - t);
    c.b = render_unit(2.0f - t);
    c.a = 1.0f;
    return c;
}

/* Degrees between a sample's normal and that given for its point; -1 where either has none. */
MOTE_HD float render_normal_error(const render_look *look, const render_samples *samples, uint64_t i) {
    if (samples->normal == NULL || samples->index == NULL) return -1.0f;
    const float *n = samples->normal + 3 * i;
    const uint32_t row = samples->index[i];
    if (row == MOTE_RENDER_NO_POINT || (n[0] == 0.0f && n[1] == 0.0f && n[2] == 0.0f)) return -1.0f;
    float world[3], dot = 0.0f, length = 0.0f;
    for (int k = 0; k < 3; k++) {
        world[k] = (n[0] * (float)look->view.right[k] + n[1] * (float)look->view.down[k]) +
                   n[2] * (float)look->view.forward[k];
        const float given = look->given[k][row];
        dot += world[k] * given;
        length += given * given;
    }
    if (!(length > 0.0f && length < 1e30f)) return -1.0f;
    return render_acos_deg(fabsf(dot) / sqrtf(length));
}

MOTE_HD render_rgba render_false_color(const render_look *look, const render_samples *samples, uint64_t i) {
    const float range = look->show_max - look->show_min;
    render_rgba c = {0.5f, 0.5f, 0.5f, 1.0f};
    if (look->show == MOTE_RENDER_SHOW_NORMALS && samples->normal != NULL) {
        const float *n = samples->normal + 3 * i;
        c.r = 0.5f * (n[0] + 1.0f);
        c.g = 0.5f * (1.0f - n[1]);
        c.b = 0.5f * (1.0f - n[2]);
    } else if (look->show == MOTE_RENDER_SHOW_DEPTH) {
        const float at = range > 0.0f ? (samples->depth[i] - look->show_min) / range : 0.0f;
        c.r = c.g = c.b = 1.0f - 0.9f * render_unit(at);
    } else if (look->show == MOTE_RENDER_SHOW_RADIUS) {
        c = render_rainbow(range > 0.0f ? (samples->value[i] - look->show_min) / range : 0.0f);
    } else if (look->show == MOTE_RENDER_SHOW_ITERATIONS) {
        c = render_rainbow((samples->value[i] - 1.0f) / (RENDER_SHOW_ITERATIONS - 1.0f));
    } else {
        const float error = render_normal_error(look, samples, i);
        if (error >= 0.0f && error <= RENDER_SHOW_GREEN_DEG) c = render_rainbow(0.5f * error / RENDER_SHOW_GREEN_DEG);
        if (error > RENDER_SHOW_GREEN_DEG) {
            c = render_rainbow(0.75f +
                               0.25f * (error - RENDER_SHOW_GREEN_DEG) / (RENDER_SHOW_RED_DEG - RENDER_SHOW_GREEN_DEG));
        }
    }
    return c;
}

/* ---- light */

/* Depth as eye-dome lighting compares it: differences do not change with the size of things. */
MOTE_HD float render_edl_depth(const render_look *look, float depth) {
    return look->edl_scale > 0.0f ? depth * look->edl_scale : render_log2(depth);
}

MOTE_HD float render_edl_depth_at(const render_look *look, const render_samples *samples, uint64_t i) {
    return samples->edl != NULL ? samples->edl[i] : render_edl_depth(look, samples->depth[i]);
}

/* How much light a sample gets past nearer ones around it (Boucheny 2009). */
MOTE_HD float render_edl(const render_look *look, const render_samples *samples, uint32_t u, uint32_t v) {
    const render_view *view = &look->view;
    const uint64_t at = (uint64_t)v * view->width + u;
    const float own = samples->depth[at], here = render_edl_depth_at(look, samples, at);
    float sum = 0.0f;
    for (int n = 0; n < RENDER_EDL_NEIGHBORS; n++) {
        const int64_t x = (int64_t)u + look->edl_offset[n][0], y = (int64_t)v + look->edl_offset[n][1];
        if (x < 0 || y < 0 || x >= (int64_t)view->width || y >= (int64_t)view->height) continue;
        const uint64_t i = (uint64_t)y * view->width + (uint64_t)x;
        if (!(samples->depth[i] < own)) continue; /* darkens nothing, and needs no logarithm */
        const float nearer = here - render_edl_depth_at(look, samples, i);
        sum += nearer > 0.0f ? nearer : 0.0f;
    }
    return RENDER_EDL_LEAST +
           (1.0f - RENDER_EDL_LEAST) *
               render_exp2_minus(sum * (RENDER_EDL_GAIN / RENDER_EDL_NEIGHBORS) * look->edl_strength);
}

MOTE_HD render_rgba render_lit(const render_look *look, render_rgba base, const float normal[3]) {
    float light[3] = {look->ambient, look->ambient, look->ambient}, shine[3] = {0.0f, 0.0f, 0.0f};
    for (uint32_t l = 0; l < look->lamp_count; l++) {
        const render_lamp *lamp = &look->lamps[l];
        const float cosine = (normal[0] * lamp->toward[0] + normal[1] * lamp->toward[1]) + normal[2] * lamp->toward[2];
        float glint = (normal[0] * lamp->half[0] + normal[1] * lamp->half[1]) + normal[2] * lamp->half[2];
        glint = cosine > 0.0f && glint > 0.0f ? glint : 0.0f;
        for (int power = 0; power < 5; power++) glint *= glint; /* to the 32nd */
        for (int c = 0; c < 3; c++) {
            light[c] += (cosine > 0.0f ? cosine : 0.0f) * lamp->color[c];
            shine[c] += glint * look->specular * lamp->color[c];
        }
    }
    base.r = base.r * light[0] + shine[0];
    base.g = base.g * light[1] + shine[1];
    base.b = base.b * light[2] + shine[2];
    return base;
}

/* A sample's colour; alpha 0 where nothing is. */
MOTE_HD render_rgba render_shade(const render_look *look, const render_samples *samples, uint32_t u, uint32_t v) {
    const uint64_t i = (uint64_t)v * look->view.width + u;
    render_rgba c = {0.0f, 0.0f, 0.0f, 0.0f};
    if (!(samples->depth[i] < INFINITY)) return c;
    if (look->show != MOTE_RENDER_SHOW_COLOR) return render_false_color(look, samples, i);
    const uint16_t *color = samples->color + 4 * i;
    c.r = (float)color[0] / 65535.0f;
    c.g = (float)color[1] / 65535.0f;
    c.b = (float)color[2] / 65535.0f;
    c.a = 1.0f;
    if (look->lamp_count > 0 && samples->normal != NULL) {
        const float *n = samples->normal + 3 * i;
        if (n[0] != 0.0f || n[1] != 0.0f || n[2] != 0.0f) c = render_lit(look, c, n);
    }
    if (look->edl_strength > 0.0f) {
        const float edl = samples->light != NULL ? samples->light[i] : render_edl(look, samples, u, v);
        c.r *= edl;
        c.g *= edl;
        c.b *= edl;
    }
    c.r = render_unit(c.r);
    c.g = render_unit(c.g);
    c.b = render_unit(c.b);
    return c;
}

/* ---- pixels */

/* Where a frame's arrays are written, in memory of the device that shades. */
typedef struct render_pixels {
    uint8_t *color8;
    uint16_t *color16;
    float *depth, *normal;
    uint32_t *index;
} render_pixels;

/* Stores four bytes by one instruction where the caller's array allows it. */
MOTE_HD void render_store_four(uint8_t *to, const uint8_t from[4]) {
    if (((uintptr_t)to & 3u) == 0) {
        memcpy(__builtin_assume_aligned(to, 4), from, 4);
    } else {
        memcpy(to, from, 4);
    }
}

MOTE_HD void render_write_color(const render_look *look, render_rgba sum, const render_pixels *to, uint64_t pixel) {
    const float all = (float)(look->samples * look->samples), back = (all - sum.a) * look->background[3];
    const float alpha = sum.a + back, by = alpha > 0.0f ? 1.0f / alpha : 0.0f;
    float c[4];
    c[0] = (sum.r + back * look->background[0]) * by;
    c[1] = (sum.g + back * look->background[1]) * by;
    c[2] = (sum.b + back * look->background[2]) * by;
    c[3] = alpha / all;
    if (to->color8 != NULL) {
        const uint8_t color[4] = {render_to_8(c[0]), render_to_8(c[1]), render_to_8(c[2]), render_to_8(c[3])};
        render_store_four(to->color8 + 4 * pixel, color);
    }
    for (int k = 0; k < 4 && to->color16 != NULL; k++) to->color16[4 * pixel + k] = render_to_16(c[k]);
}

/* Towards the camera, in the axes of the world, of unit length. */
MOTE_HD void render_write_normal(const render_view *view, const float sum[3], float *to) {
    const float length = sqrtf((sum[0] * sum[0] + sum[1] * sum[1]) + sum[2] * sum[2]);
    const float by = length > 0.0f ? 1.0f / length : 0.0f;
    for (int k = 0; k < 3; k++) {
        to[k] =
            ((sum[0] * (float)view->right[k] + sum[1] * (float)view->down[k]) + sum[2] * (float)view->forward[k]) * by;
    }
}

/* The mean of the colours of a pixel's samples, and the nearest of them. */
MOTE_HD void render_write_pixel(const render_look *look, const render_samples *samples, const render_pixels *to,
                                uint32_t x, uint32_t y) {
    const uint32_t side = look->samples, width = look->view.width;
    const uint64_t pixel = (uint64_t)y * (width / side) + x;
    render_rgba sum = {0.0f, 0.0f, 0.0f, 0.0f};
    float normal[3] = {0.0f, 0.0f, 0.0f}, depth = INFINITY;
    uint32_t index = MOTE_RENDER_NO_POINT;
    for (uint32_t s = 0; s < side * side; s++) {
        const uint32_t u = x * side + s % side, v = y * side + s / side;
        const uint64_t i = (uint64_t)v * width + u;
        if (samples->depth[i] < depth) {
            depth = samples->depth[i];
            if (samples->index != NULL) index = samples->index[i];
        }
        if (samples->normal != NULL && samples->depth[i] < INFINITY) {
            for (int k = 0; k < 3; k++) normal[k] += samples->normal[3 * i + k];
        }
        if (to->color8 == NULL && to->color16 == NULL) continue;
        const render_rgba c = render_shade(look, samples, u, v);
        sum.r += c.r;
        sum.g += c.g;
        sum.b += c.b;
        sum.a += c.a;
    }
    if (to->color8 != NULL || to->color16 != NULL) render_write_color(look, sum, to, pixel);
    if (to->depth != NULL) to->depth[pixel] = depth;
    if (to->index != NULL) to->index[pixel] = index;
    if (to->normal != NULL) render_write_normal(&look->view, normal, to->normal + 3 * pixel);
}

/* Writes a pixel that is one sample, which stands alone: here holds no other, and there is no eye-dome lighting. */
MOTE_HD void render_write_sample(const render_look *look, const render_samples *here, const render_pixels *to,
                                 uint64_t pixel) {
    const float depth = here->depth[0];
    if (to->color8 != NULL || to->color16 != NULL) render_write_color(look, render_shade(look, here, 0, 0), to, pixel);
    if (to->depth != NULL) to->depth[pixel] = depth;
    if (to->index != NULL) to->index[pixel] = depth < INFINITY ? here->index[0] : MOTE_RENDER_NO_POINT;
    if (to->normal == NULL) return;
    float normal[3] = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 3 && depth < INFINITY; k++) normal[k] += here->normal[k];
    render_write_normal(&look->view, normal, to->normal + 3 * pixel);
}

#endif
