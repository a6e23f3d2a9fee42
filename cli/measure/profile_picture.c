#include "measure/profile_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/bitmap_font.h"
#include "render/picture_file.h"
#include "text.h"

#define WIDTH  1600u
#define HEIGHT 800u
#define LEFT   110u
#define RIGHT  30u
#define TOP    30u
#define BOTTOM 60u
#define SCALE  2u /* of the font */
#define TICKS  6

static const uint8_t ground[4] = {255, 255, 255, 255}, ink[4] = {40, 40, 40, 255}, line[4] = {215, 215, 215, 255},
                     plain[4] = {60, 90, 140, 255};

typedef struct plot {
    uint8_t *pixels; /* [WIDTH * HEIGHT * 4] */
    const uint8_t *color;
    double low[2], high[2]; /* along, height */
} plot;

static void dot(void *user, int64_t x, int64_t y) {
    const plot *p = user;
    if (x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT) return;
    memcpy(p->pixels + 4 * ((uint64_t)y * WIDTH + (uint64_t)x), p->color, 4);
}

static void fill(plot *p, const uint8_t color[4], int64_t x, int64_t y, int64_t width, int64_t height) {
    p->color = color;
    for (int64_t v = 0; v < height; v++) {
        for (int64_t u = 0; u < width; u++) dot(p, x + u, y + v);
    }
}

static double x_of(const plot *p, double along) {
    return LEFT + (along - p->low[0]) / (p->high[0] - p->low[0]) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const plot *p, double height) {
    return HEIGHT - BOTTOM - (height - p->low[1]) / (p->high[1] - p->low[1]) * (HEIGHT - TOP - BOTTOM);
}

/* Both axes have one scale if that leaves heights room; else heights are stretched. */
static void choose_ranges(plot *p, const mote_profile *profile) {
    double low = INFINITY, high = -INFINITY;
    for (uint64_t i = 0; i < profile->count; i++) {
        low = fmin(low, profile->height[i]);
        high = fmax(high, profile->height[i]);
    }
    if (!(low <= high)) low = high = 0;
    const double pad = high > low ? (high - low) * 0.05 : 0.5;
    p->low[0] = 0;
    p->high[0] = profile->length > 0 ? profile->length : 1;
    p->low[1] = low - pad;
    p->high[1] = high + pad;
}

static double round_step(double span) {
    const double raw = span / TICKS, power = pow(10, floor(log10(raw))), ratio = raw / power;
    return power * (ratio > 5 ? 10 : ratio > 2 ? 5 : ratio > 1 ? 2 : 1);
}

static void draw_text(plot *p, const char *words, double x, double y) {
    p->color = ink;
    font_draw_text(words, SCALE, (int64_t)x, (int64_t)y, dot, p);
}

static void draw_axis(plot *p, int axis, const char *unit) {
    const double step = round_step(p->high[axis] - p->low[axis]);
    const int decimals = text_step_decimals(step);
    for (double value = ceil(p->low[axis] / step) * step; value <= p->high[axis]; value += step) {
        char label[96];
        const bool is_last = value + step > p->high[axis] || unit[0] == '\0';
        snprintf(label, sizeof label, "%s%s%s", text_fixed(fabs(value) < step / 2 ? 0 : value, decimals).chars,
                 is_last && unit[0] != '\0' ? " " : "", is_last ? unit : "");
        const double width = font_text_width(label, SCALE);
        if (axis == 0) {
            const int64_t x = (int64_t)x_of(p, value);
            fill(p, line, x, TOP, 1, HEIGHT - TOP - BOTTOM);
            draw_text(p, label, fmin((double)x - width / 2, WIDTH - width - 4), HEIGHT - BOTTOM + 12);
        } else {
            const int64_t y = (int64_t)y_of(p, value);
            fill(p, line, LEFT, y, WIDTH - LEFT - RIGHT, 1);
            draw_text(p, label, LEFT - width - 10, (double)y - FONT_HEIGHT * SCALE / 2.0);
        }
    }
}

/* How far colours of 16 bits are shifted: 8, unless none is above 255. */
static int color_shift(const mote_column *const channels[3], const mote_profile *profile) {
    for (uint64_t i = 0; i < profile->count; i++) {
        for (int k = 0; k < 3; k++) {
            if (mote_column_value(channels[k], profile->indices[i]) > 255) return 8;
        }
    }
    return 0;
}

static void draw_points(plot *p, const mote_cloud *cloud, const mote_profile *profile) {
    const mote_column *const channels[3] = {mote_cloud_find(cloud, "red"), mote_cloud_find(cloud, "green"),
                                            mote_cloud_find(cloud, "blue")};
    const bool has_colors = channels[0] != NULL && channels[1] != NULL && channels[2] != NULL;
    const int shift = has_colors ? color_shift(channels, profile) : 0;
    for (uint64_t i = 0; i < profile->count; i++) {
        uint8_t color[4];
        memcpy(color, plain, sizeof color);
        for (int k = 0; has_colors && k < 3; k++) {
            const double value = ldexp(mote_column_value(channels[k], profile->indices[i]), -shift);
            color[k] = (uint8_t)fmax(0, fmin(255, value));
        }
        fill(p, color, (int64_t)x_of(p, profile->along[i]) - 1, (int64_t)y_of(p, profile->height[i]) - 1, 2, 2);
    }
}

static void draw_frame(plot *p, const mote_units *units) {
    char words[128];
    const double exaggeration =
        (HEIGHT - TOP - BOTTOM) / (p->high[1] - p->low[1]) / ((WIDTH - LEFT - RIGHT) / (p->high[0] - p->low[0]));
    fill(p, ink, LEFT, TOP, 1, HEIGHT - TOP - BOTTOM);
    fill(p, ink, LEFT, HEIGHT - BOTTOM, WIDTH - LEFT - RIGHT, 1);
    snprintf(words, sizeof words, "heights x %.2g", exaggeration);
    if (units->horizontal.radians > 0 || units->horizontal.metres != units->vertical.metres) return;
    draw_text(p, words, WIDTH - RIGHT - font_text_width(words, SCALE), 6);
}

mote_status profile_draw(session *s, const char *path, const mote_cloud *cloud, const mote_profile *profile,
                         const mote_units *units) {
    const picture_shape shape = {.width = WIDTH, .height = HEIGHT, .kind = PIXEL_COLOR8};
    plot p = {.pixels = malloc(4ull * WIDTH * HEIGHT)};
    picture_file *file = NULL;
    if (p.pixels == NULL) return MOTE_ERROR_MEMORY;
    choose_ranges(&p, profile);
    fill(&p, ground, 0, 0, WIDTH, HEIGHT);
    draw_axis(&p, 0, mote_measure_unit(units));
    draw_axis(&p, 1, units->vertical.symbol);
    draw_points(&p, cloud, profile);
    draw_frame(&p, units);
    mote_status status = picture_file_open(s->ctx, path, PICTURE_PNG, &shape, &file);
    if (status == MOTE_OK) status = picture_file_rows(file, p.pixels, HEIGHT);
    status = picture_file_finish(file, status);
    free(p.pixels);
    return status;
}
