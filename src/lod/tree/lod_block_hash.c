#include "lod/tree/lod_block_hash.h"

#include "math/hash.h"
#include "math/morton.h"

static block_code code_at(const uint64_t *codes, uint32_t stride_bytes, uint64_t i) {
    const uint8_t *at = (const uint8_t *)codes + i * stride_bytes;
    block_code code;
    memcpy(&code.code, at, sizeof code.code);
    memcpy(&code.above, at + sizeof code.code, sizeof code.above);
    return code;
}

static bool same_group(const block_code *a, const block_code *b) {
    return a->code >> 3 == b->code >> 3 && a->above == b->above;
}

static bool is_of(const block_hash_table *table, uint64_t at, const block_code *code) {
    return table->groups[at].code == code->code >> 3 && (table->above == NULL || table->above[at] == code->above);
}

/* The entry of a block's group, or the free one where it belongs. */
static uint64_t find_entry(const block_hash_table *table, const block_code *code) {
    uint64_t at = mote_hash64((code->code >> 3) + ((uint64_t)code->above << 32)) & table->mask;
    while (!is_of(table, at, code) && table->groups[at].code != UINT64_MAX) at = (at + 1) & table->mask;
    return at;
}

static bool reserve_entries(mote_context *ctx, block_hash_table *table) {
    if (!mote_reserve_scratch(ctx, (void **)&table->groups, &table->capacity, table->mask + 1, sizeof *table->groups,
                              "places of blocks")) {
        return false;
    }
    if (table->above_level > 0) {
        return mote_reserve_scratch(ctx, (void **)&table->above, &table->above_capacity, table->mask + 1,
                                    sizeof *table->above, "places of blocks");
    }
    mote_free(ctx, table->above);
    table->above = NULL;
    table->above_capacity = 0;
    return true;
}

mote_status block_hash_build(mote_context *ctx, uint32_t level, uint32_t above_level, const uint64_t *codes,
                             uint32_t stride_bytes, uint64_t count, block_hash_table *table) {
    uint64_t groups = 0;
    block_code before = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        const block_code code = code_at(codes, stride_bytes, i);
        groups += i == 0 || !same_group(&code, &before);
        before = code;
    }
    table->level = level;
    table->above_level = above_level;
    table->mask = 15;
    while (table->mask < 2 * groups) table->mask = 2 * table->mask + 1;
    if (!reserve_entries(ctx, table)) return MOTE_ERROR_MEMORY;
    memset(table->groups, 0xFF, (table->mask + 1) * sizeof *table->groups);
    for (uint64_t i = 0; i < count; i++) {
        const block_code code = code_at(codes, stride_bytes, i);
        const uint64_t at = find_entry(table, &code);
        table->groups[at].code = code.code >> 3;
        table->groups[at].block[code.code & 7] = (uint32_t)i;
        if (table->above != NULL) table->above[at] = code.above;
    }
    return MOTE_OK;
}

void block_hash_free(mote_context *ctx, block_hash_table *table) {
    mote_free(ctx, table->groups);
    mote_free(ctx, table->above);
    table->groups = NULL;
    table->above = NULL;
    table->capacity = table->above_capacity = 0;
}

static block_code code_of(const block_hash_table *table, int64_t x, int64_t y, int64_t z) {
    const int64_t within = (1ll << table->level) - 1;
    block_code code = {mote_morton_encode((uint32_t)(x & within), (uint32_t)(y & within), (uint32_t)(z & within)), 0};
    if (table->above == NULL) return code;
    code.above = (uint32_t)mote_morton_encode((uint32_t)(x >> table->level), (uint32_t)(y >> table->level),
                                              (uint32_t)(z >> table->level));
    return code;
}

void block_hash_around(const block_hash_table *table, const block_code *code, uint32_t around[27]) {
    const int64_t side = 1ll << (table->level + table->above_level);
    int64_t at[3];
    block_code last = {UINT64_MAX, 0};
    uint64_t entry = 0;
    for (int k = 0; k < 3; k++) {
        const uint64_t above = table->above != NULL ? mote_morton_compact((uint64_t)code->above >> (2 - k)) : 0;
        at[k] = (int64_t)(above << table->level | mote_morton_compact(code->code >> (2 - k)));
    }
    for (int i = 0; i < 27; i++) {
        const int64_t x = at[0] + i / 9 - 1, y = at[1] + i / 3 % 3 - 1, z = at[2] + i % 3 - 1;
        around[i] = BLOCK_NONE;
        if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) continue;
        const block_code neighbor = code_of(table, x, y, z);
        if (!same_group(&last, &neighbor)) entry = find_entry(table, &neighbor);
        last = neighbor;
        if (is_of(table, entry, &neighbor)) around[i] = table->groups[entry].block[neighbor.code & 7];
    }
}
