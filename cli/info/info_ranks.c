/* Percentiles of a column in bounded memory. */
#include "info/info_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL_BITS 16u
#define LAST_SHIFT 16u /* of 64-bit keys: further bits are not looked at */

const double rank_percents[RANKS_COUNT] = {1, 5, 50, 95, 99};

static uint32_t key_bits_of(mote_type type) {
    if (type == MOTE_FLOAT32) return 32;
    return 8 * mote_type_size(type);
}

static int64_t lowest_of(mote_type type) {
    switch (type) {
    case MOTE_INT8: return INT8_MIN;
    case MOTE_INT16: return INT16_MIN;
    case MOTE_INT32: return INT32_MIN;
    default: return 0;
    }
}

/* Floats in the order of their values: as unsigned numbers, negative ones turned around. */
static uint64_t key_of(const rank_search *search, double value) {
    uint64_t bits64;
    uint32_t bits32;
    if (search->key_bits == 64) {
        memcpy(&bits64, &value, sizeof bits64);
        return (bits64 >> 63) != 0 ? ~bits64 : bits64 | UINT64_C(1) << 63;
    }
    if (search->type != MOTE_FLOAT32) return (uint64_t)((int64_t)value - lowest_of(search->type));
    const float real = (float)value;
    memcpy(&bits32, &real, sizeof bits32);
    return (bits32 >> 31) != 0 ? ~bits32 : bits32 | 1u << 31;
}

/* Returns the value of a key of up to 32 bits. */
static double value_of(const rank_search *search, uint64_t key) {
    float real;
    if (search->type != MOTE_FLOAT32) return (double)((int64_t)key + lowest_of(search->type));
    const uint32_t bits = (key >> 31) != 0 ? (uint32_t)key & ~(1u << 31) : ~(uint32_t)key;
    memcpy(&real, &bits, sizeof real);
    return (double)real + 0.0; /* no "-0" */
}

static bool is_last(const rank_search *search) {
    return search->shift == 0 || (search->key_bits == 64 && search->shift <= LAST_SHIFT);
}

static bool make_bins(rank_search *search) {
    const size_t count = (size_t)search->group_count << search->width;
    free(search->bins);
    search->bins = calloc(count, sizeof *search->bins);
    if (search->key_bits == 64 && is_last(search)) search->least = malloc(count * sizeof *search->least);
    return search->bins != NULL && (search->key_bits < 64 || !is_last(search) || search->least != NULL);
}

bool ranks_open(rank_search *search, mote_type type) {
    memset(search, 0, sizeof *search);
    search->type = type;
    search->key_bits = key_bits_of(type);
    search->width = search->key_bits < LEVEL_BITS ? search->key_bits : LEVEL_BITS;
    search->shift = search->key_bits - search->width;
    search->group_count = 1;
    for (int p = 0; p < RANKS_COUNT; p++) search->values[p] = NAN;
    return make_bins(search);
}

void ranks_add(rank_search *search, const double *values, uint64_t count) {
    const uint32_t above = search->shift + search->width;
    const uint64_t mask = (UINT64_C(1) << search->width) - 1;
    for (uint64_t i = 0; i < count; i++) {
        if (isnan(values[i])) continue;
        const uint64_t key = key_of(search, values[i] + 0.0);
        const uint64_t prefix = above < 64 ? key >> above : 0;
        uint32_t group = 0;
        while (group < search->group_count && search->prefixes[group] != prefix) group++;
        if (group == search->group_count) continue;
        const uint64_t bin = ((uint64_t)group << search->width) + (key >> search->shift & mask);
        if (search->least != NULL && (search->bins[bin] == 0 || values[i] < search->least[bin])) {
            search->least[bin] = values[i];
        }
        search->bins[bin]++;
    }
}

/* The bin of a group that holds a rank, which becomes one within the bin. */
static uint64_t find_bin(const rank_search *search, uint32_t group, uint64_t *rank) {
    const uint64_t *bins = search->bins + ((uint64_t)group << search->width);
    const uint64_t last = (UINT64_C(1) << search->width) - 1;
    uint64_t bin = 0;
    for (; bin < last && bins[bin] <= *rank; bin++) *rank -= bins[bin];
    return bin;
}

/* The next bits, of values that agree with those of a percentile so far. */
static bool go_on(rank_search *search, const uint64_t prefixes[RANKS_COUNT]) {
    search->group_count = 0;
    search->shift -= LEVEL_BITS;
    for (int p = 0; p < RANKS_COUNT; p++) {
        uint32_t group = 0;
        while (group < search->group_count && search->prefixes[group] != prefixes[p]) group++;
        if (group == search->group_count) search->prefixes[search->group_count++] = prefixes[p];
        search->groups[p] = group;
    }
    return make_bins(search);
}

bool ranks_end(rank_search *search, uint64_t count, bool descending) {
    uint64_t prefixes[RANKS_COUNT];
    const bool is_first = search->shift + search->width == search->key_bits;
    if (search->is_done) return true;
    search->is_done = count == 0 || is_last(search);
    for (int p = 0; p < RANKS_COUNT && count > 0; p++) {
        const double percent = descending ? 100 - rank_percents[p] : rank_percents[p];
        if (is_first) search->ranks[p] = (uint64_t)(percent / 100 * (double)(count - 1));
        const uint64_t bin = find_bin(search, search->groups[p], &search->ranks[p]);
        prefixes[p] = search->prefixes[search->groups[p]] << search->width | bin;
        if (!search->is_done) continue;
        const uint64_t at = ((uint64_t)search->groups[p] << search->width) + bin;
        search->values[p] = search->key_bits == 64 ? search->least[at] + 0.0 : value_of(search, prefixes[p]);
    }
    if (!search->is_done) return go_on(search, prefixes);
    ranks_close(search);
    return true;
}

void ranks_close(rank_search *search) {
    free(search->bins);
    free(search->least);
    search->bins = NULL;
    search->least = NULL;
}
