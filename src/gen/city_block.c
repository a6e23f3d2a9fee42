/* Blocks of the town: the cache, and how a block is built. */
#include <string.h>

#include "gen/city.h"

static void build(city_block *block, uint64_t seed, int32_t at_u, int32_t at_v) {
    memset(block, 0, sizeof *block);
    block->at_u = at_u;
    block->at_v = at_v;
    block->built = true;
    block->use = (uint8_t)city_use_of(seed, at_u, at_v);
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
