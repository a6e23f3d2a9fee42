/* The use of the land: what each block of the town is for. */
#include <math.h>

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

city_use city_use_of(uint64_t seed, int32_t at_u, int32_t at_v) {
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
