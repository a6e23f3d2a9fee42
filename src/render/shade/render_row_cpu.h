/* Rows of samples and pixels on CPU cores, eight lanes at a time: what most frames need, to the same bits as
   render_shade_math.h, which is called for all the others. */
#ifndef MOTE_RENDER_ROW_CPU_H
#define MOTE_RENDER_ROW_CPU_H

#include "render/render_lanes_cpu.h"
#include "render/shade/render_shade_math.h"

/* Computes render_log2 for all lanes. */
static inline render_floats render_log2_lanes(render_floats value) {
    const render_ints bits = (render_ints)value;
    const render_ints exponent = (render_ints)((render_words)bits >> 23) - 127;
    const render_floats m = (render_floats)((bits & 0x7FFFFF) | 0x3F800000);
    const render_floats t = (m - 1.0f) / (m + 1.0f), t2 = t * t;
    const render_floats series =
        t * (2.88539008f + t2 * (0.96179669f + t2 * (0.57707802f + t2 * (0.41219858f + t2 * 0.32f))));
    return __builtin_convertvector(exponent, render_floats) + series;
}

/* Computes render_exp2_minus for all lanes. */
static inline render_floats render_exp2_minus_lanes(render_floats value) {
    const render_ints small = value < 100.0f;
    const render_floats least = (render_floats)((render_ints)value & small);
    const render_ints whole = __builtin_convertvector(least, render_ints);
    const render_floats part = least - __builtin_convertvector(whole, render_floats), x = -0.69314718f * part;
    const render_floats series =
        1.0f +
        x * (1.0f + x * (0.5f + x * (0.16666667f + x * (0.041666667f + x * (0.0083333333f + x * 0.0013888889f)))));
    const render_floats power = series * (render_floats)((127 - whole) << 23);
    return (render_floats)((render_ints)power & small);
}

/* Depths of samples as eye-dome lighting compares them: as render_edl_depth. */
static inline void render_compared_row(const render_look *look, const float *depth, uint32_t width, float *to) {
    uint32_t u = 0;
    for (; u + RENDER_LANES <= width; u += RENDER_LANES) {
        const render_floats own = render_load_floats(depth + u);
        render_keep_floats(to + u, look->edl_scale > 0.0f ? own * look->edl_scale : render_log2_lanes(own));
    }
    for (; u < width; u++) to[u] = render_edl_depth(look, depth[u]);
}

/* Of eight samples whose neighbours are all in the picture.
   away  how far the neighbours are in memory */
static inline render_floats render_edl_lanes(const render_look *look, const float *depth, const float *compared,
                                             const int64_t away[RENDER_EDL_NEIGHBORS]) {
    const render_floats own = render_load_floats(depth), here = render_load_floats(compared);
    render_floats sum = {0};
    for (int n = 0; n < RENDER_EDL_NEIGHBORS; n++) {
        const render_floats nearer = here - render_load_floats(compared + away[n]);
        const render_ints darkens = (render_load_floats(depth + away[n]) < own) & (nearer > 0.0f);
        sum += (render_floats)((render_ints)nearer & darkens);
    }
    return RENDER_EDL_LEAST +
           (1.0f - RENDER_EDL_LEAST) *
               render_exp2_minus_lanes(sum * (RENDER_EDL_GAIN / RENDER_EDL_NEIGHBORS) * look->edl_strength);
}

/* Eye-dome lighting of a row of samples: as render_edl. */
static inline void render_edl_row(const render_look *look, const render_samples *samples, uint32_t v, float *light) {
    const int64_t width = look->view.width, height = look->view.height;
    const float *depth = samples->depth + (uint64_t)v * look->view.width;
    const float *compared = samples->edl + (uint64_t)v * look->view.width;
    int64_t away[RENDER_EDL_NEIGHBORS], first = 0, last = width, u = 0;
    for (int n = 0; n < RENDER_EDL_NEIGHBORS; n++) {
        const int64_t x = look->edl_offset[n][0], y = look->edl_offset[n][1];
        away[n] = y * width + x;
        first = -x > first ? -x : first;
        last = width - x < last ? width - x : last;
        if (v + y < 0 || v + y >= height) last = 0; /* none has all its neighbours */
    }
    for (; u < first && u < width; u++) light[u] = render_edl(look, samples, (uint32_t)u, v);
    for (; u + RENDER_LANES <= last; u += RENDER_LANES) {
        render_keep_floats(light + u, render_edl_lanes(look, depth + u, compared + u, away));
    }
    for (; u < width; u++) light[u] = render_edl(look, samples, (uint32_t)u, v);
}

/* Whether a pixel is a sample, of 8 bits, in its own colour but for eye-dome lighting. */
static inline bool render_is_plain(const render_look *look, const render_samples *samples, const render_pixels *to) {
    const bool lit = look->lamp_count > 0 && samples->normal != NULL;
    return look->samples == 1 && look->show == MOTE_RENDER_SHOW_COLOR && !lit && to->color8 != NULL &&
           to->color16 == NULL;
}

/* Eight samples' colours, channel after channel. */
static inline void render_load_colors(const uint16_t *color, render_floats to[3]) {
    uint32_t pairs[2 * RENDER_LANES]; /* red and green, blue and alpha, red and green … */
    memcpy(pairs, color, sizeof pairs);
    const render_words low = render_load_words(pairs), high = render_load_words(pairs + RENDER_LANES);
    const render_words red_green = RENDER_EVEN_WORDS(low, high), blue_alpha = RENDER_ODD_WORDS(low, high);
    to[0] = __builtin_convertvector((render_ints)(red_green & 0xFFFFu), render_floats);
    to[1] = __builtin_convertvector((render_ints)(red_green >> 16), render_floats);
    to[2] = __builtin_convertvector((render_ints)(blue_alpha & 0xFFFFu), render_floats);
}

/* Eight opaque pixels, from channels of 0 to 1; back: what those show that are not covered */
static inline void render_keep_pixels(const render_floats channel[3], const float *depth, const uint8_t back[4],
                                      uint8_t *color8) {
    render_words pixels = {0};
    uint32_t behind;
    memcpy(&behind, back, sizeof behind);
    for (int c = 2; c >= 0; c--) {
        const render_ints whole = __builtin_convertvector(channel[c] * 255.0f + 0.5f, render_ints);
        pixels = pixels << 8 | (render_words)whole;
    }
    const render_words covered = (render_words)(render_load_floats(depth) < INFINITY);
    pixels = ((pixels | 0xFF000000u) & covered) | (behind & ~covered);
    memcpy(color8, &pixels, sizeof pixels);
}

/* Eight plain pixels: as render_write_pixel. light: NULL: none */
static inline void render_plain_pixels(const uint16_t *color, const float *depth, const float *light,
                                       const uint8_t back[4], uint8_t *color8) {
    render_floats channel[3];
    render_load_colors(color, channel);
    for (int c = 0; c < 3; c++) {
        channel[c] /= 65535.0f;
        if (light != NULL) channel[c] *= render_load_floats(light);
    }
    render_keep_pixels(channel, depth, back, color8);
}

/* A row of plain pixels.
   back  what a pixel shows that shows nothing */
static inline void render_plain_row(const render_look *look, const render_samples *samples, const uint8_t back[4],
                                    uint32_t y, uint8_t *color8) {
    const uint32_t width = look->view.width;
    const uint64_t row = (uint64_t)y * width;
    uint16_t colors[4 * RENDER_LANES] = {0};
    float depths[RENDER_LANES] = {0}, lights[RENDER_LANES] = {0};
    uint8_t pixels[4 * RENDER_LANES];
    uint32_t x = 0;
    for (; x + RENDER_LANES <= width; x += RENDER_LANES) {
        const uint64_t i = row + x;
        render_plain_pixels(samples->color + 4 * i, samples->depth + i,
                            samples->light != NULL ? samples->light + i : NULL, back, color8 + 4 * i);
    }
    if (x == width) return;
    const uint64_t i = row + x, count = width - x;
    memcpy(colors, samples->color + 4 * i, 4 * count * sizeof *colors);
    memcpy(depths, samples->depth + i, count * sizeof *depths);
    if (samples->light != NULL) memcpy(lights, samples->light + i, count * sizeof *lights);
    render_plain_pixels(colors, depths, samples->light != NULL ? lights : NULL, back, pixels);
    memcpy(color8 + 4 * i, pixels, 4 * count);
}

/* ---- lit pixels */

/* Whether a pixel is a sample, of 8 bits, in the light of lamps. */
static inline bool render_is_lit(const render_look *look, const render_samples *samples, const render_pixels *to) {
    return look->samples == 1 && look->show == MOTE_RENDER_SHOW_COLOR && look->lamp_count > 0 &&
           samples->normal != NULL && to->color8 != NULL && to->color16 == NULL;
}

/* Computes render_unit for all lanes. */
static inline render_floats render_unit_lanes(render_floats value) {
    const render_floats zero = {0}, one = 1.0f - zero;
    const render_floats low = render_select_floats(value > 0.0f, value, zero);
    return render_select_floats(low > 1.0f, one, low);
}

/* Eight samples, channel after channel. */
typedef struct render_lit_block {
    render_floats color[3], normal[3];
} render_lit_block;

static inline void render_load_lit(const uint16_t *color, const float *normal, render_lit_block *b) {
    float normals[3][RENDER_LANES];
    for (uint32_t i = 0; i < RENDER_LANES; i++) {
        for (uint32_t k = 0; k < 3; k++) normals[k][i] = normal[3 * i + k];
    }
    render_load_colors(color, b->color);
    for (uint32_t k = 0; k < 3; k++) b->normal[k] = render_load_floats(normals[k]);
}

/* Computes render_lit for all lanes; samples without a normal keep their colour. */
static inline void render_lit_lanes(const render_look *look, render_lit_block *b) {
    const render_floats *n = b->normal, zero = {0};
    const render_ints has = (n[0] != 0.0f) | (n[1] != 0.0f) | (n[2] != 0.0f);
    render_floats light[3], shine[3];
    for (int c = 0; c < 3; c++) light[c] = look->ambient + zero, shine[c] = zero;
    for (uint32_t l = 0; l < look->lamp_count; l++) {
        const render_lamp *lamp = &look->lamps[l];
        const render_floats cosine = (n[0] * lamp->toward[0] + n[1] * lamp->toward[1]) + n[2] * lamp->toward[2];
        render_floats glint = (n[0] * lamp->half[0] + n[1] * lamp->half[1]) + n[2] * lamp->half[2];
        glint = render_select_floats((cosine > 0.0f) & (glint > 0.0f), glint, zero);
        for (int power = 0; power < 5; power++) glint *= glint;
        const render_floats bright = render_select_floats(cosine > 0.0f, cosine, zero);
        for (int c = 0; c < 3; c++) {
            light[c] += bright * lamp->color[c];
            shine[c] += glint * look->specular * lamp->color[c];
        }
    }
    for (int c = 0; c < 3; c++) {
        const render_floats base = b->color[c] / 65535.0f;
        b->color[c] = render_select_floats(has, base * light[c] + shine[c], base);
    }
}

/* Eight lit pixels from sample i on: as render_write_pixel. */
static inline void render_lit_pixels(const render_look *look, const render_samples *samples, const uint8_t back[4],
                                     uint64_t i, uint8_t *color8) {
    render_lit_block b;
    render_load_lit(samples->color + 4 * i, samples->normal + 3 * i, &b);
    render_lit_lanes(look, &b);
    for (int c = 0; c < 3; c++) {
        if (samples->light != NULL) b.color[c] *= render_load_floats(samples->light + i);
        b.color[c] = render_unit_lanes(b.color[c]);
    }
    render_keep_pixels(b.color, samples->depth + i, back, color8 + 4 * i);
}

#endif
