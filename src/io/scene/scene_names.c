/* Names and a number for each of them. */
#include "io/scene/scene_names.h"

#include "math/hash.h"

#define FIRST_PLACES 64u

/* Eight bytes at a time: a name may be a data: address of megabytes. */
static uint64_t hash_of(const char *name, uint64_t length) {
    uint64_t hash = mote_hash64(length + MOTE_GOLDEN_GAMMA), word;
    for (; length >= sizeof word; name += sizeof word, length -= sizeof word) {
        memcpy(&word, name, sizeof word);
        hash = mote_hash_pair(hash, word);
    }
    word = 0;
    memcpy(&word, name, length);
    return mote_hash_pair(hash, word);
}

/* The place of a name, or where it would go. */
static uint64_t place_of(const scene_names *names, const char *name, uint64_t length, uint64_t hash) {
    uint64_t at = hash & (names->place_count - 1);
    for (; names->places[at] != 0; at = (at + 1) & (names->place_count - 1)) {
        const scene_name *const entry = &names->list[names->places[at] - 1];
        if (entry->hash == hash && entry->length == length && memcmp(entry->bytes, name, length) == 0) break;
    }
    return at;
}

uint32_t scene_names_find(const scene_names *names, const char *name, uint64_t length) {
    if (names->count == 0) return SCENE_NO_NAME;
    const uint32_t entry = names->places[place_of(names, name, length, hash_of(name, length))];
    return entry != 0 ? names->list[entry - 1].value : SCENE_NO_NAME;
}

/* Room for one more. */
static mote_status grow(mote_context *ctx, scene_names *names) {
    if (!mote_reserve(ctx, (void **)&names->list, &names->capacity, names->count + 1, sizeof *names->list,
                      "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    if (2 * (names->count + 1) <= names->place_count) return MOTE_OK;
    const uint64_t count = names->place_count > 0 ? 2 * names->place_count : FIRST_PLACES;
    uint32_t *const places = mote_alloc_zero(ctx, count * sizeof *places, "scene file");
    if (places == NULL) return MOTE_ERROR_MEMORY;
    mote_free(ctx, names->places);
    names->places = places;
    names->place_count = count;
    for (uint64_t i = 0; i < names->count; i++) {
        uint64_t at = names->list[i].hash & (count - 1);
        while (places[at] != 0) at = (at + 1) & (count - 1);
        places[at] = (uint32_t)(i + 1);
    }
    return MOTE_OK;
}

mote_status scene_names_set(mote_context *ctx, scene_names *names, const char *name, uint64_t length, uint32_t value) {
    const uint64_t hash = hash_of(name, length);
    MOTE_TRY(grow(ctx, names));
    const uint64_t at = place_of(names, name, length, hash);
    if (names->places[at] != 0) {
        names->list[names->places[at] - 1].value = value;
        return MOTE_OK;
    }
    char *const bytes = mote_alloc(ctx, length, "scene file");
    if (bytes == NULL) return MOTE_ERROR_MEMORY;
    memcpy(bytes, name, length);
    const scene_name entry = {bytes, length, hash, value};
    names->list[names->count++] = entry;
    names->places[at] = (uint32_t)names->count;
    return MOTE_OK;
}

void scene_names_free(mote_context *ctx, scene_names *names) {
    for (uint64_t i = 0; i < names->count; i++) mote_free(ctx, names->list[i].bytes);
    mote_free(ctx, names->list);
    mote_free(ctx, names->places);
    memset(names, 0, sizeof *names);
}
