/* Colour maps: those of the viewer, viewer/src/view/palettes.js. */
#include "render/color_map.h"

#include <math.h>
#include <stddef.h>

typedef struct ramp {
    int count;
    uint32_t stops[8]; /* 0xRRGGBB, evenly spaced */
} ramp;

static const ramp ramps[] = {
    {8, {0x3B2F80, 0x3F6FD9, 0x27B3C9, 0x3FD07F, 0xB6DE3C, 0xFCC02F, 0xF5702A, 0xB8201F}}, /* spectrum */
    {8, {0x440154, 0x46327E, 0x365C8D, 0x277F8E, 0x1FA187, 0x4AC16D, 0xA0DA39, 0xFDE725}}, /* viridis */
    {8, {0x120D32, 0x3B0F70, 0x721F81, 0x9E2F7F, 0xCD4071, 0xF1605D, 0xFD9668, 0xFCFDBF}}, /* magma */
    {8, {0x2C5F8A, 0x3D8F6B, 0x7FB45C, 0xD6CF7D, 0xB98A52, 0x8D6449, 0xB9ACA4, 0xFFFFFF}}, /* terrain */
    {2, {0x1C1C1C, 0xE3E3E3}}, /* grey, which ends before the white, and the black, that lies behind */
};

typedef struct class_look {
    const char *name;
    uint32_t color;
} class_look;

static const class_look classes[] = {
    {"Never classified", 0x9AA0A6},
    {"Unclassified", 0xC3C7CC},
    {"Ground", 0xA9794C},
    {"Low vegetation", 0x9BD770},
    {"Medium vegetation", 0x4CAE4F},
    {"High vegetation", 0x1B7A37},
    {"Building", 0xE8663D},
    {"Low point (noise)", 0xD81E5B},
    {"Model key point", 0xFFD23F},
    {"Water", 0x2F86E0},
    {"Rail", 0x8D6FD1},
    {"Road surface", 0x6D7480},
    {"Overlap", 0xF2E85C},
    {"Wire, guard", 0xF7B3D2},
    {"Wire, conductor", 0xF277B5},
    {"Transmission tower", 0xB04FC4},
    {"Wire connector", 0x7D3CB5},
    {"Bridge deck", 0x4FC1C9},
    {"High noise", 0xFF2E2E},
    {"Overhead structure", 0xC9A227},
    {"Ignored ground", 0x7A5A3C},
    {"Snow", 0xEEF6FF},
    {"Temporal exclusion", 0x5E548E},
};
#define CLASS_COUNT (sizeof classes / sizeof classes[0])

/* Twelve colours that are easy to tell apart, for classes without one of their own. */
static const uint32_t wheel[12] = {0x5B8FF9, 0x5AD8A6, 0xF6BD16, 0xE8684A, 0x6DC8EC, 0x9270CA,
                                   0xFF9D4D, 0x269A99, 0xFF99C3, 0xA3C25B, 0xC97B63, 0xB0B7C3};

static void unpack(uint32_t color, uint8_t rgb[3]) {
    for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)(color >> (16 - 8 * k));
}

void color_map_at(color_map map, double t, uint8_t rgb[3]) {
    const ramp *r = &ramps[map];
    const double x = fmin(fmax(t, 0), 1) * (r->count - 1);
    const int i = x < r->count - 2 ? (int)x : r->count - 2;
    uint8_t a[3], b[3];
    unpack(r->stops[i], a);
    unpack(r->stops[i + 1], b);
    for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)floor(a[k] + ((double)b[k] - a[k]) * (x - i) + 0.5);
}

const char *color_class_name(uint32_t code) { return code < CLASS_COUNT ? classes[code].name : NULL; }

void color_of_class(uint32_t code, uint8_t rgb[3]) {
    unpack(code < CLASS_COUNT ? classes[code].color : wheel[code % 12], rgb);
}

/* Hues a golden angle apart; lightness goes through three steps. */
void color_of_label(uint64_t label, uint8_t rgb[3]) {
    static const double lightness[3] = {0.58, 0.46, 0.7};
    static const double offset[3] = {0, 8, 4};
    const double hue = fmod((double)label * 137.508, 360);
    for (int k = 0; k < 3; k++) {
        const double at = fmod(offset[k] + hue / 30, 12);
        const double tooth = fmax(-1, fmin(fmin(at - 3, 9 - at), 1));
        rgb[k] = (uint8_t)floor(255 * (lightness[label % 3] - 0.25 * tooth) + 0.5);
    }
}
