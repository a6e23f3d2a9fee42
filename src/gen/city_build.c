/* The bricks of the town: buildings, cars, trees; and the list of what stands in each cell of a block. */
#include "gen/city_build.h"

#include <math.h>

#define FOUNDATION_M 1.5f /* walls reach below the ground, which slopes */
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

float city_draw(city_site *site, float low, float high) {
    return low + (high - low) * ((float)(gen_next(&site->stream) >> 40) * 0x1.0p-24f);
}

bool city_chance(city_site *site, float probability) { return city_draw(site, 0, 1) < probability; }

city_rgb city_draw_color(city_site *site, const city_rgb *colors, uint32_t count) {
    city_rgb color = colors[gen_next(&site->stream) % count];
    const float light = city_draw(site, 0.9f, 1.08f);
    color.r *= light, color.g *= light, color.b *= light;
    return color;
}

static int cell_of(float coordinate, int cells) {
    const int cell = (int)(coordinate / CITY_CELL);
    return cell < 0 ? 0 : cell >= cells ? cells - 1 : cell;
}

void city_add(city_block *block, const city_thing *thing) {
    city_thing cut = *thing;
    if (cut.u0 < 0) cut.u0 = 0;
    if (cut.v0 < 0) cut.v0 = 0;
    if (cut.u1 > CITY_BLOCK_U) cut.u1 = CITY_BLOCK_U;
    if (cut.v1 > CITY_BLOCK_V) cut.v1 = CITY_BLOCK_V;
    if (block->thing_count == CITY_THINGS || cut.u0 >= cut.u1 || cut.v0 >= cut.v1) return;
    const uint32_t index = block->thing_count++;
    block->things[index] = cut;
    for (int j = cell_of(cut.v0, CITY_CELLS_V); j <= cell_of(cut.v1, CITY_CELLS_V); j++) {
        for (int i = cell_of(cut.u0, CITY_CELLS_U); i <= cell_of(cut.u1, CITY_CELLS_U); i++) {
            city_cell *cell = &block->cells[j][i];
            cell->things[index / 64] |= 1ull << index % 64;
            if (cut.top > cell->top) cell->top = cut.top;
        }
    }
}

static city_thing thing_at(city_site *site, city_rectangle where, uint8_t shape, uint8_t class) {
    city_thing thing;
    memset(&thing, 0, sizeof thing);
    thing.shape = shape;
    thing.class = class;
    thing.hash = (uint32_t)gen_next(&site->stream);
    thing.u0 = where.u0, thing.u1 = where.u1, thing.v0 = where.v0, thing.v1 = where.v1;
    return thing;
}

static float ground_under(const city_site *site, city_rectangle where) {
    return city_ground(site->block, (where.u0 + where.u1) / 2, (where.v0 + where.v1) / 2);
}

void city_building(city_site *site, city_rectangle where, const city_style *style) {
    const float ground = ground_under(site, where);
    if (ground < CITY_LEVEL - 0.5f && site->block->use == CITY_RIVER) return;
    city_thing box = thing_at(site, where, CITY_BOX, CITY_CLASS_BUILDING);
    const float half_u = (where.u1 - where.u0) / 2, half_v = (where.v1 - where.v0) / 2;
    const float half = style->hipped ? city_min(half_u, half_v) : style->ridge_u ? half_v : half_u;
    box.bottom = ground - FOUNDATION_M;
    box.apex = box.top = ground + style->eaves_m + style->pitch * half;
    /* A hipped roof stops at the shorter side's ridge; a gable has slopes across its ridge only. */
    box.slope_u = style->hipped ? style->pitch * half / half_u : style->ridge_u ? 0 : style->pitch;
    box.slope_v = style->hipped ? style->pitch * half / half_v : style->ridge_u ? style->pitch : 0;
    box.wall_look = style->wall_look, box.roof_look = style->roof_look;
    box.wall = style->wall, box.roof = style->roof;
    city_add(site->block, &box);
}

void city_slab(city_site *site, city_rectangle where, float bottom_m, float top_m, uint8_t class, city_rgb color) {
    const float ground = ground_under(site, where);
    city_thing box = thing_at(site, where, CITY_BOX, class);
    box.bottom = ground + bottom_m;
    box.apex = box.top = ground + top_m;
    box.wall = box.roof = color;
    city_add(site->block, &box);
}

void city_roof_box(city_site *site, city_rectangle where, float roof_m, float height_m) {
    static const city_rgb colors[] = {{0.62f, 0.63f, 0.64f}, {0.74f, 0.74f, 0.72f}, {0.5f, 0.52f, 0.54f}};
    city_slab(site, where, roof_m - 0.5f, roof_m + height_m, CITY_CLASS_BUILDING, city_draw_color(site, colors, 3));
}

void city_car(city_site *site, float u, float v, bool along_u) {
    static const city_rgb colors[] = {{0.75f, 0.76f, 0.78f}, {0.9f, 0.9f, 0.9f},   {0.12f, 0.12f, 0.13f},
                                      {0.3f, 0.32f, 0.35f},  {0.55f, 0.1f, 0.09f}, {0.1f, 0.2f, 0.45f},
                                      {0.5f, 0.5f, 0.48f},   {0.1f, 0.3f, 0.2f}};
    const float length = city_draw(site, 3.9f, 4.7f), width = 1.75f;
    const float size_u = along_u ? length : width, size_v = along_u ? width : length;
    const city_rectangle where = city_rect(u - size_u / 2, v - size_v / 2, size_u, size_v);
    const city_rgb color = city_draw_color(site, colors, COUNT(colors));
    city_slab(site, where, 0.25f, 0.85f, CITY_CLASS_OTHER, color);
    const float inset_u = along_u ? length * 0.2f : 0.12f, inset_v = along_u ? 0.12f : length * 0.2f;
    city_thing cabin =
        thing_at(site, city_rect(where.u0 + inset_u, where.v0 + inset_v, size_u - 2 * inset_u, size_v - 2 * inset_v),
                 CITY_BOX, CITY_CLASS_OTHER);
    cabin.bottom = ground_under(site, where) + 0.8f;
    cabin.apex = cabin.top = cabin.bottom + city_draw(site, 0.6f, 0.8f);
    cabin.wall_look = CITY_WALL_CAR;
    cabin.wall.r = 0.1f, cabin.wall.g = 0.12f, cabin.wall.b = 0.14f;
    cabin.roof = color;
    city_add(site->block, &cabin);
}

/* Whether a disc is clear of what stands already. */
static bool is_free(const city_block *block, float u, float v, float radius) {
    for (uint32_t i = 0; i < block->thing_count; i++) {
        const city_thing *thing = &block->things[i];
        const float gap = thing->shape == CITY_BOX ? radius * 0.8f : radius * 0.3f;
        if (thing->shape == CITY_WIRE) continue;
        if (u > thing->u0 - gap && u < thing->u1 + gap && v > thing->v0 - gap && v < thing->v1 + gap) return false;
    }
    return true;
}

void city_tree(city_site *site, float u, float v, float height_m, bool conifer) {
    const float spread = city_draw(site, 0.26f, 0.38f), tint = city_draw(site, -1, 1),
                light = city_draw(site, 0.8f, 1.15f);
    float radius = height_m * (conifer ? 0.2f : spread);
    const float edge = city_min(city_min(u, CITY_BLOCK_U - u), city_min(v, CITY_BLOCK_V - v)) - 0.05f;
    if (radius > edge) radius = edge; /* crowns end at the block's edge, the middle of a street */
    const float ground = city_ground(site->block, u, v);
    if (radius < 0.5f || ground < CITY_WATER + 0.4f || !is_free(site->block, u, v, radius)) return;
    city_thing tree = thing_at(site, city_rect(u - radius, v - radius, 2 * radius, 2 * radius),
                               conifer ? CITY_CONIFER : CITY_CROWN, CITY_CLASS_HIGH);
    tree.top = ground + height_m;
    tree.bottom = ground + height_m * (conifer ? 0.12f : 0.28f);
    tree.apex = ground;
    tree.slope_u = 0.06f + 0.012f * height_m;
    tree.roof.r = light * (conifer ? 0.19f : 0.32f + 0.07f * tint);
    tree.roof.g = light * (conifer ? 0.29f : 0.41f + 0.02f * tint);
    tree.roof.b = light * (conifer ? 0.19f : 0.21f);
    tree.wall.r = 0.36f, tree.wall.g = 0.29f, tree.wall.b = 0.22f;
    city_add(site->block, &tree);
}

void city_trees(city_site *site, city_rectangle where, float step_m, float chance, float low_m, float high_m) {
    for (float v = where.v0 + step_m / 2; v < where.v1; v += step_m) {
        for (float u = where.u0 + step_m / 2; u < where.u1; u += step_m) {
            const float shift_u = city_draw(site, -0.4f, 0.4f) * step_m,
                        shift_v = city_draw(site, -0.4f, 0.4f) * step_m;
            const float height = city_draw(site, low_m, high_m);
            const bool conifer = city_chance(site, 0.22f);
            if (city_chance(site, chance)) city_tree(site, u + shift_u, v + shift_v, height, conifer);
        }
    }
}

city_style city_house_style(city_site *site, float eaves_low_m, float eaves_high_m) {
    static const city_rgb walls[] = {{0.9f, 0.87f, 0.8f},   {0.86f, 0.78f, 0.62f}, {0.82f, 0.7f, 0.58f},
                                     {0.92f, 0.92f, 0.9f},  {0.72f, 0.44f, 0.35f}, {0.78f, 0.8f, 0.74f},
                                     {0.85f, 0.72f, 0.66f}, {0.7f, 0.74f, 0.8f}};
    static const city_rgb roofs[] = {{0.58f, 0.35f, 0.27f}, {0.53f, 0.31f, 0.24f}, {0.62f, 0.42f, 0.32f},
                                     {0.43f, 0.3f, 0.26f},  {0.39f, 0.39f, 0.4f},  {0.56f, 0.38f, 0.3f}};
    city_style style;
    memset(&style, 0, sizeof style);
    style.eaves_m = city_draw(site, eaves_low_m, eaves_high_m);
    style.pitch = city_draw(site, 0.6f, 1.0f);
    style.ridge_u = city_chance(site, 0.5f);
    style.wall_look = CITY_WALL_WINDOWS;
    style.roof_look = CITY_ROOF_TILES;
    style.wall = city_draw_color(site, walls, COUNT(walls));
    style.roof = city_draw_color(site, roofs, COUNT(roofs));
    return style;
}

void city_house(city_site *site, city_rectangle where, const city_style *style) {
    static const city_rgb brick = {0.5f, 0.3f, 0.24f};
    city_building(site, where, style);
    const float along = city_draw(site, 0.25f, 0.75f), beside = city_draw(site, 0.36f, 0.44f);
    const float u = city_mix(where.u0, where.u1, style->ridge_u ? along : beside);
    const float v = city_mix(where.v0, where.v1, style->ridge_u ? beside : along);
    const float half = (style->ridge_u ? where.v1 - where.v0 : where.u1 - where.u0) / 2;
    city_slab(site, city_rect(u - 0.4f, v - 0.4f, 0.8f, 0.8f), style->eaves_m,
              style->eaves_m + style->pitch * half + 0.9f, CITY_CLASS_BUILDING, brick);
}
