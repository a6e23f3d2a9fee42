/* The town's ground: smooth hills, and a river in a flat valley. */
#include <math.h>

#include "gen/city.h"

#define HILL_SALT  0x68696c6cull /* each use of noise has a salt of its own */
#define RIVER_SALT 0x7269766eull

#define RIVER_MIDDLE  280.0f /* within the column of blocks that is left free for it */
#define RIVER_MEANDER 15.0f
#define RIVER_BED     17.0f /* half width of the bed's floor */
#define RIVER_BANK    37.0f /* where the bank ends */
#define RIVER_DEPTH   6.0f
#define VALLEY_EDGE   320.0f /* the hills have their full height from here on */

float city_noise(uint64_t seed, double a, double b) {
    const double cell_a = floor(a), cell_b = floor(b);
    const float s = (float)(a - cell_a), t = (float)(b - cell_b);
    const int32_t i = (int32_t)cell_a, j = (int32_t)cell_b;
    const float fade_s = s * s * s * (s * (6 * s - 15) + 10), fade_t = t * t * t * (t * (6 * t - 15) + 10);
    const float v00 = city_unit(city_hash(seed, i, j), 0), v10 = city_unit(city_hash(seed, i + 1, j), 0);
    const float v01 = city_unit(city_hash(seed, i, j + 1), 0), v11 = city_unit(city_hash(seed, i + 1, j + 1), 0);
    return city_mix(city_mix(v00, v10, fade_s), city_mix(v01, v11, fade_s), fade_t);
}

float city_river(uint64_t seed, double v) {
    const float bend = city_noise(seed ^ RIVER_SALT, v / 230, 0.5) + 0.25f * city_noise(seed ^ RIVER_SALT, v / 60, 7.5);
    return RIVER_MIDDLE + RIVER_MEANDER * (2 * bend / 1.25f - 1);
}

float city_terrain(uint64_t seed, double u, double v) {
    const float away = fabsf((float)u - city_river(seed, v));
    const uint64_t salted = seed ^ HILL_SALT;
    float relief = 0;
    if (away > RIVER_BANK) {
        /* Never below the valley: only the river lies lower. */
        const float hills = 30 * city_noise(salted, u / 800, v / 800) + 8 * city_noise(salted + 1, u / 260, v / 260) +
                            1.2f * city_noise(salted + 2, u / 60, v / 60);
        relief = hills * city_step(RIVER_BANK, VALLEY_EDGE, away);
    }
    return CITY_LEVEL + relief - RIVER_DEPTH * (1 - city_step(RIVER_BED, RIVER_BANK, away));
}

float city_ground(const city_block *block, float u, float v) {
    const float a = city_clamp(u / CITY_GROUND, 0, CITY_GROUND_U - 1),
                b = city_clamp(v / CITY_GROUND, 0, CITY_GROUND_V - 1);
    const int i = a < CITY_GROUND_U - 2 ? (int)a : CITY_GROUND_U - 2,
              j = b < CITY_GROUND_V - 2 ? (int)b : CITY_GROUND_V - 2;
    const float s = a - (float)i, t = b - (float)j;
    const float *low = &block->ground[j][i], *high = &block->ground[j + 1][i];
    return city_mix(city_mix(low[0], low[1], s), city_mix(high[0], high[1], s), t);
}
