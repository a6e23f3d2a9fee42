/* Blocks of the town: the cache, the use of the land, and the list of what stands in each cell. */
#include <math.h>
#include <string.h>

#include "gen/city.h"

#define USE_SALT    0x75736573ull
#define GROWTH_SALT 0x67726f77ull

#define RIVER_COLUMN 2
#define POWER_ROW    3 /* … and every POWER_ROWS further */
#define POWER_ROWS   16
#define CENTER_M     300.0f /* the old town reaches so far */
#define TOWN_M       2600.0f

/* Rows of a table: a use and its share. */
typedef struct use_share {
    city_use use;
    float share;
} use_share;

static const use_share center_uses[] = {
    {CITY_OLD_TOWN, 0.56f}, {CITY_OFFICES, 0.18f}, {CITY_CHURCH, 0.06f}, {CITY_PARK, 0.12f}, {CITY_SLABS, 0.08f}};
static const use_share town_uses[] = {{CITY_HOUSES, 0.44f}, {CITY_SLABS, 0.16f},  {CITY_OLD_TOWN, 0.1f},
                                      {CITY_PARK, 0.08f},   {CITY_SPORTS, 0.07f}, {CITY_INDUSTRY, 0.1f},
                                      {CITY_CHURCH, 0.02f}, {CITY_OFFICES, 0.03f}};
static const use_share country_uses[] = {
    {CITY_FIELD, 0.5f}, {CITY_FOREST, 0.35f}, {CITY_HOUSES, 0.1f}, {CITY_INDUSTRY, 0.05f}};

static city_use pick_use(const use_share *uses, size_t count, float random) {
    size_t i = 0;
    while (i + 1 < count && random >= uses[i].share) random -= uses[i++].share;
    return uses[i].use;
}

bool city_has_power(int32_t at_v) { return ((at_v - POWER_ROW) % POWER_ROWS + POWER_ROWS) % POWER_ROWS == 0; }

static city_use use_of_block(uint64_t seed, int32_t at_u, int32_t at_v) {
    if (at_u == RIVER_COLUMN) return CITY_RIVER;
    if (city_has_power(at_v)) return CITY_POWER;
    const float u = ((float)at_u + 0.5f) * CITY_BLOCK_U, v = ((float)at_v + 0.5f) * CITY_BLOCK_V;
    const float away = sqrtf(u * u + v * v);
    const float random = city_unit(city_hash(seed ^ USE_SALT, at_u, at_v), 1);
    if (away < CENTER_M) return pick_use(center_uses, sizeof center_uses / sizeof center_uses[0], random);
    const float growth = city_noise(seed ^ GROWTH_SALT, at_u * 0.21, at_v * 0.17) + 0.55f - away / TOWN_M;
    if (growth > 0.35f) return pick_use(town_uses, sizeof town_uses / sizeof town_uses[0], random);
    return pick_use(country_uses, sizeof country_uses / sizeof country_uses[0], random);
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

static void build(city_block *block, uint64_t seed, int32_t at_u, int32_t at_v) {
    memset(block, 0, sizeof *block);
    block->at_u = at_u;
    block->at_v = at_v;
    block->built = true;
    block->use = (uint8_t)use_of_block(seed, at_u, at_v);
    block->hash = (uint32_t)city_hash(seed, at_u, at_v);
    const double u = at_u * (double)CITY_BLOCK_U, v = at_v * (double)CITY_BLOCK_V;
    for (int j = 0; j < CITY_GROUND_V; j++) {
        for (int i = 0; i < CITY_GROUND_U; i++) {
            block->ground[j][i] = city_terrain(seed, u + i * (double)CITY_GROUND, v + j * (double)CITY_GROUND);
        }
    }
    city_fill_lot(block, seed);
    city_fill_streets(block, seed);
}

void city_cache_clear(city_cache *cache, uint64_t seed) {
    cache->seed = seed;
    for (int j = 0; j < CITY_CACHE_V; j++) {
        for (int i = 0; i < CITY_CACHE_U; i++) cache->blocks[j][i].built = false;
    }
}

city_block *city_find_block(city_cache *cache, int32_t at_u, int32_t at_v) {
    city_block *block =
        &cache->blocks[(uint32_t)at_v % (uint32_t)CITY_CACHE_V][(uint32_t)at_u % (uint32_t)CITY_CACHE_U];
    if (!block->built || block->at_u != at_u || block->at_v != at_v) build(block, cache->seed, at_u, at_v);
    return block;
}
