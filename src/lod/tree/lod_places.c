#include "lod/tree/lod_places.h"

#include "math/hash.h"
#include "math/morton.h"

static uint64_t code_at(const uint64_t *codes, uint32_t stride_bytes, uint64_t i) {
    uint64_t code;
    memcpy(&code, (const uint8_t *)codes + i * stride_bytes, sizeof code);
    return code;
}

/* The entry of a group, or the free one where it belongs. */
static place_group *entry(const place_table *table, uint64_t code) {
    for (uint64_t at = mote_hash64(code) & table->mask;; at = (at + 1) & table->mask) {
        if (table->groups[at].code == code || table->groups[at].code == UINT64_MAX) return &table->groups[at];
    }
}

mote_status places_build(mote_context *ctx, uint32_t level, const uint64_t *codes, uint32_t stride_bytes,
                         uint64_t count, place_table *table) {
    uint64_t groups = 0;
    for (uint64_t i = 0; i < count; i++) {
        groups += i == 0 || code_at(codes, stride_bytes, i) >> 3 != code_at(codes, stride_bytes, i - 1) >> 3;
    }
    table->level = level;
    table->mask = 15;
    while (table->mask < 2 * groups) table->mask = 2 * table->mask + 1;
    if (!mote_make_room(ctx, (void **)&table->groups, &table->capacity, table->mask + 1, sizeof *table->groups,
                        "places of blocks")) {
        return MOTE_ERROR_MEMORY;
    }
    memset(table->groups, 0xFF, (table->mask + 1) * sizeof *table->groups);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t code = code_at(codes, stride_bytes, i);
        place_group *group = entry(table, code >> 3);
        group->code = code >> 3;
        group->block[code & 7] = (uint32_t)i;
    }
    return MOTE_OK;
}

void places_free(mote_context *ctx, place_table *table) {
    mote_free(ctx, table->groups);
    table->groups = NULL;
    table->capacity = 0;
}

void places_around(const place_table *table, uint64_t code, uint32_t around[27]) {
    const int64_t side = 1ll << table->level;
    const int64_t at[3] = {mote_morton_compact(code >> 2), mote_morton_compact(code >> 1), mote_morton_compact(code)};
    const place_group *last = NULL;
    for (int i = 0; i < 27; i++) {
        const int64_t x = at[0] + i / 9 - 1, y = at[1] + i / 3 % 3 - 1, z = at[2] + i % 3 - 1;
        around[i] = PLACE_NONE;
        if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) continue;
        const uint64_t neighbor = mote_morton_encode((uint32_t)x, (uint32_t)y, (uint32_t)z);
        if (last == NULL || last->code != neighbor >> 3) last = entry(table, neighbor >> 3);
        if (last->code == neighbor >> 3) around[i] = last->block[neighbor & 7];
    }
}
