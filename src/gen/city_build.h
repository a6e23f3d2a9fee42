/* The bricks that blocks of the town are made of. */
#ifndef MOTE_CITY_BUILD_H
#define MOTE_CITY_BUILD_H

#include "gen/city.h"
#include "gen/gen_internal.h"

/* A block under construction and its random numbers, drawn in a fixed order. */
typedef struct city_site {
    city_block *block;
    gen_stream stream;
} city_site;

typedef struct city_rectangle {
    float u0, u1, v0, v1;
} city_rectangle;

static inline city_rectangle city_rect(float u, float v, float size_u, float size_v) {
    const city_rectangle r = {u, u + size_u, v, v + size_v};
    return r;
}

/* How a building looks. pitch 0: a flat roof. */
typedef struct city_style {
    float eaves_m; /* height of the walls */
    float pitch;   /* rise of the roof per metre */
    bool ridge_u;  /* a gable along u; else along v */
    bool hipped;
    uint8_t wall_look, roof_look;
    city_rgb wall, roof;
} city_style;

/* Uniform in [low, high). */
float city_draw(city_site *site, float low, float high);
bool city_chance(city_site *site, float probability);
/* One of count colours, a little lighter or darker. */
city_rgb city_draw_color(city_site *site, const city_rgb *colors, uint32_t count);

/* Adds a thing, cut to the block; dropped when the block is full or the thing outside. */
void city_add(city_block *block, const city_thing *thing);
/* A building on the ground under its middle. */
void city_building(city_site *site, city_rectangle where, const city_style *style);
/* A plain block of class from bottom_m to top_m above the ground. */
void city_slab(city_site *site, city_rectangle where, float bottom_m, float top_m, uint8_t class, city_rgb color);
/* A box on a flat roof of roof_m above the ground. */
void city_roof_box(city_site *site, city_rectangle where, float roof_m, float height_m);
void city_car(city_site *site, float u, float v, bool along_u);
/* A tree; left out where it would stand in something or in the river. */
void city_tree(city_site *site, float u, float v, float height_m, bool conifer);
/* Trees on a jittered grid over a rectangle, each with a chance. */
void city_trees(city_site *site, city_rectangle where, float step_m, float chance, float low_m, float high_m);

/* A residential house with chimney, and its style. */
city_style city_house_style(city_site *site, float eaves_low_m, float eaves_high_m);
void city_house(city_site *site, city_rectangle where, const city_style *style);

#endif
