/* What is painted over a picture: a legend of its colours, a scale bar. */
#include "render/picture_legend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/bitmap_font.h"
#include "text.h"

#define SCALE_HEIGHT 540u /* pixels of a picture for each step of the font's scale */
#define MARGIN       12u  /* around and between, pixels at scale 1; half of it inside */
#define RAMP_HEIGHT  110u
#define RAMP_WIDTH   12u
#define RAMP_LABELS  5
#define LINE_HEIGHT  (FONT_HEIGHT + 4u)
#define PANEL_ALPHA  190u /* letters are read over any picture */
#define CLASSES_MAX  24
#define BAR_SHARE    0.2 /* of the picture's width, at most */
#define BAR_HEIGHT   4u
#define LABEL_DIGITS 3

/* An overlay that is being painted, in pixels of scale 1 · scale. */
typedef struct panel {
    picture_overlay overlay;
    uint32_t scale;
    uint8_t ink[4];
} panel;

static uint32_t scale_of(uint32_t width, uint32_t height) {
    const uint32_t side = height < width ? height : width;
    return side > SCALE_HEIGHT ? side / SCALE_HEIGHT : 1;
}

static void dot(void *user, int64_t x, int64_t y) {
    panel *p = user;
    if (x < 0 || y < 0 || x >= p->overlay.width || y >= p->overlay.height) return;
    memcpy(p->overlay.rgba + 4 * ((size_t)y * p->overlay.width + (size_t)x), p->ink, 4);
}

static void fill(panel *p, uint32_t x, uint32_t y, uint32_t width, uint32_t height, const uint8_t rgb[3]) {
    const panel before = *p;
    memcpy(p->ink, rgb, 3);
    p->ink[3] = 255;
    for (uint32_t v = 0; v < height; v++) {
        for (uint32_t u = 0; u < width; u++) dot(p, x + u, y + v);
    }
    memcpy(p->ink, before.ink, 4);
}

/* A panel of a size, without a place yet; its ground lets the picture through a little. */
static bool begin_panel(panel *p, uint32_t width, uint32_t height, uint32_t scale, bool dark) {
    const uint8_t ground = dark ? 16 : 255, ink = dark ? 235 : 30;
    p->scale = scale;
    p->overlay.width = width;
    p->overlay.height = height;
    p->overlay.rgba = malloc(4 * (size_t)width * height + 1);
    if (p->overlay.rgba == NULL) return false;
    for (size_t i = 0; i < (size_t)width * height; i++) {
        memset(p->overlay.rgba + 4 * i, ground, 3);
        p->overlay.rgba[4 * i + 3] = PANEL_ALPHA;
    }
    memset(p->ink, ink, 3);
    p->ink[3] = 255;
    return true;
}

static void write_text(panel *p, const char *words, uint32_t x, uint32_t y) {
    font_draw_text(words, p->scale, x, y, dot, p);
}

/* ---- a colour map with numbers */

/* Three digits of the span. */
static text label_of(double value, double span) {
    const int decimals = span > 0 ? LABEL_DIGITS - 1 - (int)floor(log10(span)) : LABEL_DIGITS;
    return text_fixed(value, decimals < 0 ? 0 : decimals > 12 ? 12 : decimals);
}

static void title_of(const picture_colors *colors, char title[96]) {
    const bool unit = colors->unit[0] != '\0';
    snprintf(title, 96, "%.60s%s%.24s%s", colors->name, unit ? " (" : "", unit ? colors->unit : "", unit ? ")" : "");
    for (char *c = title; *c != '\0'; c++) *c = (char)(*c == '_' ? ' ' : *c);
}

static picture_overlay make_ramp(const picture_colors *colors, uint32_t scale, bool dark) {
    panel p = {.scale = scale};
    const double span = colors->range[1] - colors->range[0];
    const uint32_t pad = MARGIN / 2 * scale, bar = RAMP_HEIGHT * scale, top = pad + LINE_HEIGHT * scale + pad;
    text labels[RAMP_LABELS];
    char title[96];
    uint32_t wide = 0;
    title_of(colors, title);
    for (int i = 0; i < RAMP_LABELS; i++) {
        labels[i] = label_of(colors->range[0] + span * i / (RAMP_LABELS - 1), span);
        const uint32_t width = font_text_width(labels[i].chars, scale);
        if (width > wide) wide = width;
    }
    wide += (RAMP_WIDTH + 6) * scale;
    if (font_text_width(title, scale) > wide) wide = font_text_width(title, scale);
    if (!begin_panel(&p, wide + 2 * pad, top + bar + 2 * pad + 2 * scale, scale, dark)) return p.overlay;
    write_text(&p, title, pad, pad);
    for (uint32_t y = 0; y < bar; y++) {
        uint8_t rgb[3];
        color_map_at(colors->map, 1 - (y + 0.5) / bar, rgb);
        fill(&p, pad, top + y, RAMP_WIDTH * scale, 1, rgb);
    }
    for (uint32_t i = 0; i < RAMP_LABELS; i++) {
        const uint32_t y = top + bar - bar * i / (RAMP_LABELS - 1);
        write_text(&p, labels[i].chars, pad + (RAMP_WIDTH + 6) * scale, y - 7 * scale / 2);
        fill(&p, pad + RAMP_WIDTH * scale, y - (i > 0 ? 0 : 1), 3 * scale, 1, p.ink);
    }
    return p.overlay;
}

/* ---- classes by name */

static picture_overlay make_classes(const picture_colors *colors, uint32_t scale, bool dark) {
    panel p = {.scale = scale};
    const uint32_t pad = MARGIN / 2 * scale, line = LINE_HEIGHT * scale;
    char names[CLASSES_MAX][40];
    uint32_t codes[CLASSES_MAX], count = 0, wide = 0;
    for (uint32_t code = 0; code < 256 && count < CLASSES_MAX; code++) {
        if (!colors->classes[code]) continue;
        const char *name = color_class_name(code);
        if (name != NULL) {
            snprintf(names[count], sizeof names[count], "%s", name);
        } else {
            snprintf(names[count], sizeof names[count], "%s %u", code < 64 ? "Reserved" : "User class", code);
        }
        const uint32_t width = font_text_width(names[count], scale);
        if (width > wide) wide = width;
        codes[count++] = code;
    }
    if (count == 0 || !begin_panel(&p, wide + 14 * scale + 2 * pad, count * line + 2 * pad, scale, dark)) {
        return p.overlay;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint8_t rgb[3];
        color_of_class(codes[i], rgb);
        fill(&p, pad, pad + i * line, 8 * scale, 8 * scale, rgb);
        write_text(&p, names[i], pad + 14 * scale, pad + i * line);
    }
    return p.overlay;
}

/* ---- both, with their places */

picture_overlay picture_legend_make(const picture_colors *colors, uint32_t width, uint32_t height, bool dark) {
    const uint32_t scale = scale_of(width, height), margin = MARGIN * scale;
    picture_overlay overlay = {0};
    if (colors->source == COLOR_RAMP) overlay = make_ramp(colors, scale, dark);
    if (colors->source == COLOR_CLASS) overlay = make_classes(colors, scale, dark);
    overlay.x = margin;
    overlay.y = height > overlay.height + margin ? height - overlay.height - margin : 0;
    return overlay;
}

/* 1, 2 or 5 times a power of ten, at most max. */
static double round_length(double max) {
    const double power = pow(10, floor(log10(max))), ratio = max / power;
    return power * (ratio >= 5 ? 5 : ratio >= 2 ? 2 : 1);
}

#define LENGTH_BYTES 128 /* a number, and a unit of up to 63 letters, as mote_unit names it */

static void name_length(double length, const char *unit, char name[LENGTH_BYTES]) {
    const bool meters = unit != NULL && strcmp(unit, "m") == 0;
    if (meters && length >= 1000) {
        snprintf(name, LENGTH_BYTES, "%s km", text_real(length / 1000).chars);
    } else if (meters && length < 1) {
        snprintf(name, LENGTH_BYTES, "%s %s", text_real(length < 0.01 ? length * 1000 : length * 100).chars,
                 length < 0.01 ? "mm" : "cm");
    } else {
        snprintf(name, LENGTH_BYTES, "%s %.63s", text_real(length).chars, unit != NULL ? unit : "units");
    }
}

picture_overlay picture_scale_bar_make(double pixel_size, const char *unit, uint32_t width, uint32_t height,
                                       bool dark) {
    const uint32_t scale = scale_of(width, height), pad = MARGIN / 2 * scale, margin = MARGIN * scale;
    panel p = {.scale = scale};
    const double max = width * BAR_SHARE * pixel_size;
    if (!(max > 0 && isfinite(max))) return p.overlay;
    const double length = round_length(max);
    const uint32_t bar = (uint32_t)lround(length / pixel_size);
    char name[LENGTH_BYTES];
    name_length(length, unit, name);
    const uint32_t text_width = font_text_width(name, scale), wide = text_width > bar ? text_width : bar;
    if (!begin_panel(&p, wide + 2 * pad, (LINE_HEIGHT + BAR_HEIGHT) * scale + 2 * pad, scale, dark)) return p.overlay;
    const uint32_t x = pad + (wide - bar) / 2, y = pad + LINE_HEIGHT * scale;
    write_text(&p, name, pad + (wide - text_width) / 2, pad);
    fill(&p, x, y + BAR_HEIGHT * scale / 2, bar, scale, p.ink);
    fill(&p, x, y, scale, BAR_HEIGHT * scale, p.ink);
    fill(&p, x + bar - scale, y, scale, BAR_HEIGHT * scale, p.ink);
    p.overlay.x = width > p.overlay.width + margin ? width - p.overlay.width - margin : 0;
    p.overlay.y = height > p.overlay.height + margin ? height - p.overlay.height - margin : 0;
    return p.overlay;
}
