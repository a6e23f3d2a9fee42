/* Which values most points have. The bits of a double, with all of them turned where it is negative, are an integer of
   the same order. Its upper 16 bits are counted in a histogram; the wanted rank lies in one bin; the next 16 bits of
   the values in that bin are counted, and so on. */
#include "render/value_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 16
#define DIGITS     (1u << DIGIT_BITS)

void point_values_read(const point_values *values, uint64_t first, uint32_t count, double *out) {
    double one[VALUES_BLOCK];
    memset(out, 0, count * sizeof *out);
    for (int c = 0; c < values->count; c++) {
        const mote_column *column = values->column[c];
        const double factor = values->factor[c];
        mote_cloud_read_known(values->cloud, column, first, count, one);
        for (uint32_t i = 0; i < count; i++) out[i] += (one[i] * column->scale + column->offset) * factor;
    }
}

static uint64_t key_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t key) {
    const uint64_t bits = key >> 63 != 0 ? key & ~(UINT64_C(1) << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* What is known of a rank: the upper bits of the value there, and its rank among the values with these. */
typedef struct rank_search {
    uint64_t prefix, rank;
} rank_search;

/* Adds the values of a block that begin with the prefix to a histogram of their next digit. */
static void count_block(const point_values *values, uint64_t first, uint32_t count, int known_bits, uint64_t prefix,
                        uint64_t *histogram) {
    double block[VALUES_BLOCK];
    point_values_read(values, first, count, block);
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(block[i])) continue;
        const uint64_t key = key_of(block[i]);
        if (known_bits > 0 && key >> (64 - known_bits) != prefix) continue;
        histogram[key >> (64 - known_bits - DIGIT_BITS) & (DIGITS - 1)]++;
    }
}

static bool count_digits(const point_values *values, int threads, int known_bits, uint64_t prefix,
                         uint64_t *histogram) {
    const int64_t blocks = (int64_t)((values->points + VALUES_BLOCK - 1) / VALUES_BLOCK);
    int failed = 0;
    memset(histogram, 0, DIGITS * sizeof *histogram);
#pragma omp parallel num_threads(threads) reduction(max : failed)
    {
        uint64_t *own = calloc(DIGITS, sizeof *own);
        failed = own == NULL;
#pragma omp for schedule(dynamic, 16)
        for (int64_t b = 0; b < blocks; b++) {
            const uint64_t first = (uint64_t)b * VALUES_BLOCK, rest = values->points - first;
            if (own == NULL) continue;
            count_block(values, first, rest < VALUES_BLOCK ? (uint32_t)rest : VALUES_BLOCK, known_bits, prefix, own);
        }
#pragma omp critical
        for (uint32_t d = 0; own != NULL && d < DIGITS; d++) histogram[d] += own[d];
        free(own);
    }
    return failed == 0;
}

/* Goes into the bin that holds the rank. */
static void descend(const uint64_t *histogram, rank_search *search) {
    uint32_t digit = 0;
    while (digit + 1 < DIGITS && search->rank >= histogram[digit]) search->rank -= histogram[digit++];
    search->prefix = search->prefix << DIGIT_BITS | digit;
}

/* The first digits of both ranks, from one histogram. Returns how many values are finite. */
static uint64_t begin_search(const uint64_t *histogram, const double shares[2], rank_search searches[2]) {
    uint64_t finite = 0;
    for (uint32_t d = 0; d < DIGITS; d++) finite += histogram[d];
    for (int i = 0; i < 2 && finite > 0; i++) {
        searches[i].rank = (uint64_t)(shares[i] * (double)(finite - 1) + 0.5);
        descend(histogram, &searches[i]);
    }
    return finite;
}

uint64_t value_range_find(const point_values *values, int threads, const double shares[2], double range[2],
                          mote_status *status) {
    uint64_t *histogram = malloc(DIGITS * sizeof *histogram), finite = 0;
    rank_search searches[2] = {{0, 0}, {0, 0}};
    bool counted = histogram != NULL && count_digits(values, threads, 0, 0, histogram);
    if (counted) finite = begin_search(histogram, shares, searches);
    for (int known = DIGIT_BITS; known < 64 && counted && finite > 0; known += DIGIT_BITS) {
        for (int i = 0; i < 2 && counted; i++) {
            counted = count_digits(values, threads, known, searches[i].prefix, histogram);
            descend(histogram, &searches[i]);
        }
    }
    free(histogram);
    *status = counted ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (!counted || finite == 0) return 0;
    for (int i = 0; i < 2; i++) range[i] = value_of(searches[i].prefix);
    return finite;
}
