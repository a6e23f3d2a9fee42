/* What stands in a block of the town: one function per use of the land. */
#include "gen/city_build.h"

#define LOT_U0 CITY_STREET
#define LOT_V0 CITY_STREET
#define LOT_U  (CITY_BLOCK_U - 2 * CITY_STREET)
#define LOT_V  (CITY_BLOCK_V - 2 * CITY_STREET)

static const city_rgb concrete = {0.72f, 0.71f, 0.68f}, steel = {0.55f, 0.57f, 0.58f};

static city_style flat_style(city_site *site, float eaves_m, uint8_t wall_look, uint8_t roof_look) {
    static const city_rgb walls[] = {
        {0.8f, 0.79f, 0.76f}, {0.66f, 0.66f, 0.66f}, {0.86f, 0.84f, 0.8f}, {0.7f, 0.6f, 0.52f}, {0.6f, 0.66f, 0.7f}};
    static const city_rgb roofs[] = {{0.58f, 0.57f, 0.55f}, {0.48f, 0.48f, 0.48f}, {0.68f, 0.67f, 0.64f}};
    city_style style;
    memset(&style, 0, sizeof style);
    style.eaves_m = eaves_m;
    style.wall_look = wall_look;
    style.roof_look = roof_look;
    style.wall = city_draw_color(site, walls, 5);
    style.roof = city_draw_color(site, roofs, 3);
    return style;
}

static void fill_houses(city_site *site) {
    const float lot_m = LOT_U / 5;
    for (int row = 0; row < 2; row++) {
        for (int i = 0; i < 5; i++) {
            const float u = LOT_U0 + lot_m * (float)i, setback = city_draw(site, 4, 7);
            const float width = city_draw(site, 8.5f, 11.5f), depth = city_draw(site, 8, 11);
            const float v = row == 0 ? LOT_V0 + setback : LOT_V0 + LOT_V - setback - depth;
            city_style style = city_house_style(site, 3, 6.2f);
            style.hipped = city_chance(site, 0.2f);
            city_house(site, city_rect(u + 1.5f, v, width, depth), &style);
            if (city_chance(site, 0.7f)) {
                const city_style garage = flat_style(site, 2.7f, CITY_WALL_PLAIN, CITY_ROOF_GRAVEL);
                city_building(site, city_rect(u + width + 2.2f, row == 0 ? v + 2 : v + depth - 8, 3.2f, 6), &garage);
            }
            if (city_chance(site, 0.4f)) city_car(site, u + width + 3.8f, row == 0 ? v - 1 : v + depth + 1, false);
        }
    }
    city_trees(site, city_rect(LOT_U0 + 1, LOT_V0 + 17, LOT_U - 2, LOT_V - 34), 7.5f, 0.55f, 4, 12);
    city_trees(site, city_rect(LOT_U0, LOT_V0, LOT_U, 5), 8, 0.25f, 2.5f, 5);
    city_trees(site, city_rect(LOT_U0, LOT_V0 + LOT_V - 5, LOT_U, 5), 8, 0.25f, 2.5f, 5);
}

/* A row of joined houses along one side of a block. */
static void house_row(city_site *site, city_rectangle row, int count, bool along_u) {
    for (int i = 0; i < count; i++) {
        const float from = (float)i / (float)count, to = (float)(i + 1) / (float)count;
        city_rectangle where = row;
        if (along_u) {
            where.u0 = city_mix(row.u0, row.u1, from), where.u1 = city_mix(row.u0, row.u1, to);
        } else {
            where.v0 = city_mix(row.v0, row.v1, from), where.v1 = city_mix(row.v0, row.v1, to);
        }
        city_style style = city_house_style(site, 11, 17);
        style.ridge_u = along_u;
        style.pitch = city_draw(site, 0.55f, 0.85f);
        city_house(site, where, &style);
    }
}

static void fill_old_town(city_site *site) {
    const float deep = 12;
    house_row(site, city_rect(LOT_U0, LOT_V0, LOT_U, deep), 6, true);
    house_row(site, city_rect(LOT_U0, LOT_V0 + LOT_V - deep, LOT_U, deep), 6, true);
    house_row(site, city_rect(LOT_U0, LOT_V0 + deep, deep, LOT_V - 2 * deep), 3, false);
    const bool closed = city_chance(site, 0.7f);
    if (closed) house_row(site, city_rect(LOT_U0 + LOT_U - deep, LOT_V0 + deep, deep, LOT_V - 2 * deep), 3, false);
    if (city_chance(site, 0.6f)) {
        city_style style = city_house_style(site, 5, 9);
        style.ridge_u = false;
        city_house(site, city_rect(city_draw(site, 35, 60), LOT_V0 + deep, 11, 20), &style);
    }
    const city_style shed = flat_style(site, 3, CITY_WALL_PLAIN, CITY_ROOF_METAL);
    city_building(site, city_rect(city_draw(site, 75, 82), LOT_V0 + LOT_V - deep - 7, 9, 7), &shed);
    city_trees(site, city_rect(LOT_U0 + deep + 2, LOT_V0 + deep + 2, LOT_U - 2 * deep - 4, LOT_V - 2 * deep - 4), 10,
               0.5f, 6, 13);
}

static void office(city_site *site, city_rectangle where, float height_m, uint8_t look) {
    const city_style style = flat_style(site, height_m, look, CITY_ROOF_GRAVEL);
    city_building(site, where, &style);
    const float size_u = where.u1 - where.u0, size_v = where.v1 - where.v0;
    for (int i = 0; i < 4; i++) {
        const float u = where.u0 + size_u * city_draw(site, 0.12f, 0.7f),
                    v = where.v0 + size_v * city_draw(site, 0.12f, 0.7f);
        const float box_u = city_draw(site, 1.5f, size_u * 0.22f), box_v = city_draw(site, 1.5f, size_v * 0.22f);
        city_roof_box(site, city_rect(u, v, box_u, box_v), height_m, city_draw(site, 1, 3));
    }
}

static void fill_offices(city_site *site) {
    const float tower_m = city_draw(site, 24, 44), second_m = city_draw(site, 14, 30);
    office(site, city_rect(LOT_U0 + 6, LOT_V0 + 8, 22, 22), tower_m, CITY_WALL_GLASS);
    office(site, city_rect(LOT_U0 + 6, LOT_V0 + 30, 46, 18), 8, CITY_WALL_WINDOWS);
    office(site, city_rect(LOT_U0 + 60, LOT_V0 + 6, 28, 34), second_m,
           city_chance(site, 0.5f) ? CITY_WALL_GLASS : CITY_WALL_WINDOWS);
    for (int i = 0; i < 12; i++) {
        if (city_chance(site, 0.6f)) city_car(site, LOT_U0 + 58.5f + 2.8f * (float)i, LOT_V0 + 60, false);
    }
    city_trees(site, city_rect(LOT_U0 + 30, LOT_V0 + 2, 28, 26), 9, 0.5f, 5, 9);
    city_trees(site, city_rect(LOT_U0 + 2, LOT_V0 + 52, 50, 12), 10, 0.7f, 6, 11);
}

static void fill_church(city_site *site) {
    static const city_rgb stone = {0.74f, 0.66f, 0.54f}, copper = {0.38f, 0.6f, 0.52f}, slate = {0.34f, 0.36f, 0.4f};
    city_style nave = flat_style(site, 13, CITY_WALL_WINDOWS, CITY_ROOF_METAL);
    nave.pitch = 1.1f, nave.ridge_u = true, nave.wall = stone, nave.roof = slate;
    city_building(site, city_rect(42, 32, 36, 16), &nave);
    nave.eaves_m = 11, nave.ridge_u = false;
    city_building(site, city_rect(62, 25, 11, 30), &nave);
    city_style tower = nave;
    tower.eaves_m = 29, tower.pitch = 3.9f, tower.hipped = true, tower.roof = copper;
    city_building(site, city_rect(33.5f, 35.5f, 9, 9), &tower);
    city_trees(site, city_rect(LOT_U0 + 2, LOT_V0 + 2, LOT_U - 4, 12), 9, 0.6f, 7, 13);
    city_trees(site, city_rect(LOT_U0 + 2, LOT_V0 + LOT_V - 14, LOT_U - 4, 12), 9, 0.6f, 7, 13);
    for (int i = 0; i < 8; i++) {
        if (city_chance(site, 0.7f)) city_car(site, 94, 24 + 3.0f * (float)i, true);
    }
}

static void fill_slabs(city_site *site) {
    for (int i = 0; i < 3; i++) {
        const float floors = (float)(int)city_draw(site, 4, 8);
        city_rectangle where = city_rect(LOT_U0 + 4, LOT_V0 + 4 + 23.0f * (float)i, 58, 11);
        if (i == 2) where.u0 += 30, where.u1 += 30;
        office(site, where, 3 * floors + 0.8f, CITY_WALL_WINDOWS);
    }
    for (int i = 0; i < 13; i++) {
        if (city_chance(site, 0.65f)) city_car(site, LOT_U0 + 72, LOT_V0 + 3 + 2.8f * (float)i, true);
        if (city_chance(site, 0.65f)) city_car(site, LOT_U0 + 83, LOT_V0 + 3 + 2.8f * (float)i, true);
    }
    city_trees(site, city_rect(LOT_U0 + 1, LOT_V0 + 1, 66, LOT_V - 2), 10, 0.5f, 6, 15);
}

static void fill_industry(city_site *site) {
    static const city_rgb boxes[] = {
        {0.6f, 0.2f, 0.15f}, {0.15f, 0.3f, 0.5f}, {0.2f, 0.42f, 0.3f}, {0.75f, 0.55f, 0.15f}};
    const bool gabled = city_chance(site, 0.5f);
    city_style hall = flat_style(site, city_draw(site, 7, 11), CITY_WALL_HALL, CITY_ROOF_METAL);
    hall.ridge_u = true, hall.pitch = gabled ? 0.18f : 0;
    city_building(site, city_rect(LOT_U0 + 3, LOT_V0 + 3, 58, 19), &hall);
    city_building(site, city_rect(LOT_U0 + 3, LOT_V0 + 22, 58, 19), &hall);
    office(site, city_rect(LOT_U0 + 66, LOT_V0 + 4, 24, 14), 10, CITY_WALL_WINDOWS);
    for (int i = 0; i < 9; i++) {
        const float u = LOT_U0 + 4 + 6.6f * (float)i, top = city_chance(site, 0.35f) ? 5.2f : 2.6f;
        const city_rgb color = city_draw_color(site, boxes, 4);
        if (city_chance(site, 0.6f)) {
            city_slab(site, city_rect(u, LOT_V0 + 54, 6.1f, 2.4f), 0, top, CITY_CLASS_OTHER, color);
        }
    }
    for (int i = 0; i < 10; i++) {
        if (city_chance(site, 0.7f)) city_car(site, LOT_U0 + 67 + 2.8f * (float)i, LOT_V0 + 30, false);
        if (city_chance(site, 0.7f)) city_car(site, LOT_U0 + 67 + 2.8f * (float)i, LOT_V0 + 42, false);
    }
    city_trees(site, city_rect(LOT_U0, LOT_V0 + 60, LOT_U, 6), 9, 0.5f, 5, 9);
}

static void fill_sports(city_site *site) {
    const city_style stand = flat_style(site, 7, CITY_WALL_PLAIN, CITY_ROOF_METAL);
    city_building(site, city_rect(26, LOT_V0 + 0.5f, 60, 6), &stand);
    for (int i = 0; i < 4; i++) {
        const float u = i % 2 == 0 ? 9 : 102.4f, v = i < 2 ? 10 : 69.4f;
        city_slab(site, city_rect(u, v, 0.6f, 0.6f), 0, 20, CITY_CLASS_TOWER, steel);
        city_slab(site, city_rect(u - 1, v - 0.2f, 2.6f, 1), 18, 20, CITY_CLASS_TOWER, steel);
    }
    city_trees(site, city_rect(LOT_U0, LOT_V0 + LOT_V - 4, LOT_U, 4), 7, 0.6f, 6, 12);
}

/* The wires between the pylons, which stand in the middle of every second block. */
#define POWER_V    16.0f
#define PYLON_M    27.0f
#define SPAN_M     (2 * CITY_BLOCK_U)
#define SAG_M      4.5f
#define WIRE_COUNT 7

static void add_wires(city_site *site, uint64_t seed, bool has_pylon) {
    static const float across_m[WIRE_COUNT] = {-4.2f, 4.2f, -5.4f, 5.4f, -4.2f, 4.2f, 0};
    static const float height_m[WIRE_COUNT] = {15, 15, 19, 19, 23, 23, PYLON_M};
    const int32_t at = site->block->at_u;
    const double v = site->block->at_v * (double)CITY_BLOCK_V + POWER_V;
    /* Each block holds the halves of its two spans: left and right of its middle. */
    for (int half = 0; half < 2; half++) {
        const int32_t left = has_pylon ? at - 2 + 2 * half : at - 1; /* block of the span's left pylon */
        const double foot_u = (left + 0.5) * (double)CITY_BLOCK_U;
        const float foot = city_terrain(seed, foot_u, v), next = city_terrain(seed, foot_u + (double)SPAN_M, v);
        /* t = (u + shift) / span: z = foot + t (next - foot) - 4 sag t (1 - t) */
        const float shift = ((float)(at - left) - 0.5f) * CITY_BLOCK_U;
        const float bend = 4 * SAG_M / (SPAN_M * SPAN_M), rise = (next - foot) / SPAN_M - 4 * SAG_M / SPAN_M;
        for (int i = 0; i < WIRE_COUNT; i++) {
            city_thing wire;
            memset(&wire, 0, sizeof wire);
            wire.shape = CITY_WIRE, wire.class = CITY_CLASS_WIRE;
            wire.u0 = half == 0 ? 0 : CITY_BLOCK_U / 2, wire.u1 = half == 0 ? CITY_BLOCK_U / 2 : CITY_BLOCK_U;
            wire.v0 = POWER_V + across_m[i] - 0.05f, wire.v1 = wire.v0 + 0.1f;
            wire.apex = foot + height_m[i] + rise * shift + bend * shift * shift;
            wire.slope_u = rise + 2 * bend * shift;
            wire.slope_v = bend;
            wire.top = (foot > next ? foot : next) + height_m[i] + 1;
            wire.bottom = wire.top - 40;
            wire.roof = wire.wall = steel;
            city_add(site->block, &wire);
        }
    }
}

static void fill_river(city_site *site, uint64_t seed) {
    static const city_rgb hull = {0.85f, 0.84f, 0.8f};
    const double v_base = site->block->at_v * (double)CITY_BLOCK_V;
    if (city_has_power(site->block->at_v)) add_wires(site, seed, false);
    for (float v = 12; v < CITY_BLOCK_V - 10; v += 9) {
        const float middle = city_river(seed, v_base + (double)v) - (float)site->block->at_u * CITY_BLOCK_U;
        for (int side = -1; side <= 1; side += 2) {
            const float height = city_draw(site, 6, 13), off = city_draw(site, 35, 39);
            if (city_chance(site, 0.7f)) city_tree(site, middle + (float)side * off, v, height, false);
        }
        if (city_chance(site, 0.13f)) {
            const float u = middle + city_draw(site, -9, 7), bed = city_ground(site->block, u + 1, v + 3);
            city_slab(site, city_rect(u, v, 2.4f, 7), CITY_WATER - bed - 0.2f, CITY_WATER - bed + 1.1f,
                      CITY_CLASS_OTHER, hull);
        }
    }
}

static void fill_power(city_site *site, uint64_t seed) {
    const bool has_pylon = site->block->at_u % 2 != 0;
    if (has_pylon) {
        city_thing pylon;
        memset(&pylon, 0, sizeof pylon);
        pylon.shape = CITY_PYLON, pylon.class = CITY_CLASS_TOWER;
        pylon.u0 = CITY_BLOCK_U / 2 - 3, pylon.u1 = CITY_BLOCK_U / 2 + 3;
        pylon.v0 = POWER_V - 6, pylon.v1 = POWER_V + 6;
        pylon.apex = pylon.bottom = city_ground(site->block, CITY_BLOCK_U / 2, POWER_V);
        pylon.top = pylon.bottom + PYLON_M;
        pylon.wall = pylon.roof = steel;
        city_add(site->block, &pylon);
    }
    add_wires(site, seed, has_pylon);
    city_trees(site, city_rect(LOT_U0, LOT_V0 + 2, LOT_U, 16), 9, 0.25f, 1.5f, 3.5f);
    city_trees(site, city_rect(LOT_U0, LOT_V0 + 26, LOT_U, 38), 8.5f, 0.5f, 5, 14);
}

static void fill_park(city_site *site) {
    const city_style kiosk = flat_style(site, 3.2f, CITY_WALL_WINDOWS, CITY_ROOF_METAL);
    city_building(site, city_rect(52, 44, 7, 5), &kiosk);
    city_trees(site, city_rect(LOT_U0 + 1, LOT_V0 + 1, LOT_U - 2, LOT_V - 2), 9.5f, 0.62f, 6, 18);
}

static void fill_field(city_site *site) {
    static const city_rgb hay = {0.72f, 0.62f, 0.36f};
    for (int i = 0; i < 5; i++) {
        const float u = city_draw(site, 15, 95), v = city_draw(site, 15, 65);
        if (city_chance(site, 0.3f)) city_slab(site, city_rect(u, v, 1.5f, 1.3f), 0, 1.3f, CITY_CLASS_OTHER, hay);
    }
    city_trees(site, city_rect(LOT_U0 - 4, LOT_V0 - 4, LOT_U + 8, 6), 7, 0.5f, 3, 10);
}

void city_fill_lot(city_block *block, uint64_t seed) {
    city_site site = {block, {block->hash}};
    switch ((city_use)block->use) {
    case CITY_OLD_TOWN: fill_old_town(&site); break;
    case CITY_OFFICES: fill_offices(&site); break;
    case CITY_CHURCH: fill_church(&site); break;
    case CITY_SLABS: fill_slabs(&site); break;
    case CITY_HOUSES: fill_houses(&site); break;
    case CITY_INDUSTRY: fill_industry(&site); break;
    case CITY_PARK: fill_park(&site); break;
    case CITY_SPORTS: fill_sports(&site); break;
    case CITY_RIVER: fill_river(&site, seed); break;
    case CITY_POWER: fill_power(&site, seed); break;
    case CITY_FOREST: city_trees(&site, city_rect(LOT_U0 - 2, LOT_V0 - 2, LOT_U + 4, LOT_V + 4), 8, 0.9f, 9, 22); break;
    case CITY_FIELD: fill_field(&site); break;
    }
}

/* Half a bridge along the block's lower or upper street. */
static void add_bridge(city_site *site, uint64_t seed, bool upper) {
    const double v = (site->block->at_v + (upper ? 1 : 0)) * (double)CITY_BLOCK_V;
    const float middle = city_river(seed, v) - (float)site->block->at_u * CITY_BLOCK_U;
    city_thing deck;
    memset(&deck, 0, sizeof deck);
    deck.shape = CITY_BOX, deck.class = CITY_CLASS_BRIDGE, deck.roof_look = CITY_ROOF_STREET;
    deck.u0 = middle - 38, deck.u1 = middle + 38;
    deck.v0 = upper ? CITY_BLOCK_V - CITY_STREET : 0, deck.v1 = upper ? CITY_BLOCK_V : CITY_STREET;
    deck.bottom = CITY_LEVEL - 1.1f;
    deck.apex = deck.top = CITY_LEVEL + 0.05f;
    deck.wall = deck.roof = concrete;
    city_add(site->block, &deck);
    city_thing railing = deck;
    railing.roof_look = CITY_ROOF_PLAIN;
    railing.v0 = upper ? deck.v0 : deck.v1 - 0.3f, railing.v1 = railing.v0 + 0.3f;
    railing.apex = railing.top = deck.top + 1.1f;
    city_add(site->block, &railing);
}

/* Parked cars, moving cars and trees along the four half streets around a block. */
static void fill_street(city_site *site, bool along_u, bool upper, float traffic, float trees) {
    const float length = along_u ? CITY_BLOCK_U : CITY_BLOCK_V, width = along_u ? CITY_BLOCK_V : CITY_BLOCK_U;
    for (float at = 12; at < length - 12; at += 7) {
        const float driving = city_draw(site, 0, 1), parking = city_draw(site, 0, 1), planted = city_draw(site, 0, 1);
        const float lane = driving < traffic * 0.25f ? 1.3f : 3.2f, height = city_draw(site, 5, 8);
        const float across = upper ? width - lane : lane;
        const float row = upper ? width - 5.9f : 5.9f;
        if (driving < traffic * 0.25f || parking < traffic) {
            city_car(site, along_u ? at : across, along_u ? across : at, along_u);
        }
        if (planted < trees) city_tree(site, along_u ? at + 3.5f : row, along_u ? row : at + 3.5f, height, false);
    }
}

void city_fill_streets(city_block *block, uint64_t seed) {
    city_site site = {block, {block->hash ^ 0x73747265ull}};
    if (block->use == CITY_RIVER) {
        if (block->at_v % 2 == 0) add_bridge(&site, seed, false);
        if (block->at_v % 2 != 0) add_bridge(&site, seed, true);
        return;
    }
    const bool country = block->use == CITY_FIELD || block->use == CITY_FOREST;
    const float traffic = country ? 0.02f : block->use == CITY_OLD_TOWN ? 0.35f : 0.18f;
    const float trees = country ? 0 : block->use == CITY_OLD_TOWN ? 0.35f : 0.25f;
    for (int side = 0; side < 4; side++) fill_street(&site, side < 2, side % 2 == 1, traffic, trees);
}
