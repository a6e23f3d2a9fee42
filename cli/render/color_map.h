/* Colour maps: those of the viewer, viewer/src/view/palettes.js, by the same names and with the same stops. */
#ifndef CLI_COLOR_MAP_H
#define CLI_COLOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

typedef enum color_map { MAP_SPECTRUM, MAP_VIRIDIS, MAP_MAGMA, MAP_TERRAIN, MAP_GREY } color_map;
#define COLOR_MAPS "spectrum|viridis|magma|terrain|grey"

/* The colour at t, 0..1. */
void color_map_at(color_map map, double t, uint8_t rgb[3]);

/* The name in ASPRS LAS 1.4, table 17; NULL: user classes have none. */
const char *color_class_name(uint32_t code);
void color_of_class(uint32_t code, uint8_t rgb[3]);
/* Colours of numbers that name things and measure nothing, as planes: neighbours differ. */
void color_of_label(uint64_t label, uint8_t rgb[3]);

#endif
