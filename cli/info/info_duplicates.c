/* How many points stand where another one stands. */
#include "info/info_duplicates.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_POINTS   4096u
#define KEY_BITS       63u
#define FILTER_BITS    8u                     /* for each point: 1 to 2 % of those that are unique become suspects */
#define WORDS_MAX      (UINT64_C(1) << 23)    /* 64 MiB: 67 million points are looked at */
#define SUSPECTS_MAX   (3 * CAPACITY_MAX / 4) /* 3.1 million */
#define CAPACITY_MAX   (UINT64_C(1) << 22)    /* 32 MiB */
#define CAPACITY_MIN   (UINT64_C(1) << 10)
#define SHARE_BITS_MAX 32u

/* Mixes the bits of three doubles into 63 (the finalizer of splitmix64, three times). */
static uint64_t position_key(const double xyz[3]) {
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        const double value = xyz[k] + 0.0; /* -0 and 0 are the same place */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        key = (key ^ bits) + 0x9E3779B97F4A7C15u;
        key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9u;
        key = (key ^ key >> 27) * 0x94D049BB133111EBu;
        key ^= key >> 31;
    }
    return key >> 1 | 1; /* never 0, which is an empty slot; the last bit tells nothing apart */
}

static bool is_in_share(const duplicate_search *search, uint64_t key) {
    return search->share_bits == 0 || key >> (KEY_BITS - search->share_bits) == 0;
}

/* ---- the filter: two bits of one word, so that a key costs one access to memory */

static uint64_t *filter_word(const duplicate_search *search, uint64_t key, uint64_t *bits) {
    *bits = UINT64_C(1) << (key >> 1 & 63) | UINT64_C(1) << (key >> 7 & 63);
    return &search->filter[key >> 13 & (search->filter_words - 1)];
}

/* ---- the suspects */

static uint64_t *find_slot(uint64_t *slots, uint64_t capacity, uint64_t key) {
    uint64_t at = key >> 5 & (capacity - 1);
    while (slots[at] != 0 && slots[at] != key) at = (at + 1) & (capacity - 1);
    return &slots[at];
}

/* Another table, of those that are in the share. */
static void move_suspects(duplicate_search *search, uint64_t capacity) {
    uint64_t *slots = calloc(capacity, sizeof *slots);
    search->has_failed = search->has_failed || slots == NULL;
    if (slots == NULL) return;
    search->suspect_count = 0;
    for (uint64_t i = 0; i < search->capacity; i++) {
        const uint64_t key = search->suspects[i];
        if (key == 0 || !is_in_share(search, key)) continue;
        *find_slot(slots, capacity, key) = key;
        search->suspect_count++;
    }
    free(search->suspects);
    search->suspects = slots;
    search->capacity = capacity;
}

static void add_suspect(duplicate_search *search, uint64_t key) {
    uint64_t *slot = find_slot(search->suspects, search->capacity, key);
    if (*slot == key) return;
    *slot = key;
    search->suspect_count++;
    if (search->suspect_count < 3 * search->capacity / 4) return;
    if (search->capacity < CAPACITY_MAX) {
        move_suspects(search, 2 * search->capacity);
        return;
    }
    while (search->suspect_count > SUSPECTS_MAX / 2 && search->share_bits < SHARE_BITS_MAX && !search->has_failed) {
        search->share_bits++;
        move_suspects(search, search->capacity);
    }
}

/* ---- passes */

bool duplicates_open(duplicate_search *search, uint64_t count) {
    memset(search, 0, sizeof *search);
    search->filter_words = 1;
    while (search->filter_words < WORDS_MAX && 64 * search->filter_words < FILTER_BITS * count) {
        search->filter_words *= 2;
    }
    while (FILTER_BITS * (count >> search->share_bits) > 64 * search->filter_words) search->share_bits++;
    search->filter = calloc(search->filter_words, sizeof *search->filter);
    search->capacity = CAPACITY_MIN;
    search->suspects = calloc(search->capacity, sizeof *search->suspects);
    if (search->filter != NULL && search->suspects != NULL) return true;
    duplicates_close(search);
    return false;
}

static void add_keys(duplicate_search *search, const uint64_t *keys, uint64_t count) {
    for (uint64_t i = 0; i < count && !search->has_failed; i++) {
        uint64_t bits;
        if (!is_in_share(search, keys[i])) continue;
        uint64_t *const word = filter_word(search, keys[i], &bits);
        const bool was_set = (*word & bits) == bits;
        if (search->pass == 0) {
            *word |= bits;
            if (was_set) add_suspect(search, keys[i]);
        } else if (was_set) {
            search->points += *find_slot(search->suspects, search->capacity, keys[i]) == keys[i];
        }
    }
}

void duplicates_add(duplicate_search *search, const mote_cloud *piece) {
    static const char *const names[3] = {"x", "y", "z"};
    const uint64_t all = mote_cloud_count(piece);
    double values[3][BLOCK_POINTS];
    uint64_t keys[BLOCK_POINTS];
    for (uint64_t first = 0; first < all; first += BLOCK_POINTS) {
        const uint64_t count = all - first < BLOCK_POINTS ? all - first : BLOCK_POINTS;
        for (int k = 0; k < 3; k++) {
            mote_column_read(mote_cloud_find(piece, names[k]), first, count, MOTE_FLOAT64, values[k]);
        }
        for (uint64_t i = 0; i < count; i++) {
            const double xyz[3] = {values[0][i], values[1][i], values[2][i]};
            uint64_t bits;
            keys[i] = position_key(xyz);
            __builtin_prefetch(filter_word(search, keys[i], &bits), 1);
        }
        add_keys(search, keys, count);
    }
}

void duplicates_end(duplicate_search *search) {
    search->pass++;
    if (search->pass != 1) return;
    memset(search->filter, 0, search->filter_words * sizeof *search->filter);
    for (uint64_t i = 0; i < search->capacity; i++) {
        uint64_t bits;
        if (search->suspects[i] == 0) continue;
        uint64_t *const word = filter_word(search, search->suspects[i], &bits);
        *word |= bits;
    }
}

uint64_t duplicates_tell(const duplicate_search *search, bool *is_estimate) {
    *is_estimate = search->share_bits > 0;
    return (search->points - search->suspect_count) << search->share_bits;
}

void duplicates_close(duplicate_search *search) {
    free(search->filter);
    free(search->suspects);
    search->filter = NULL;
    search->suspects = NULL;
}
