/* Adaptive models of the arithmetic coder: how often each symbol came, and from that the share of the interval that it
   gets. The arithmetic is the format's (LASzip); the layout in memory is ours, so that a symbol is found without a
   branch: all bounds are 16 bits wide and compared 16 at a time.

   A model of n symbols is an array of 16-bit words, so that models of any size stand in one structure:
     [0] symbols until the next update, [1] their number in this cycle, [2] total of the counts,
     [3] the symbol that came most, [4] and [5] the bounds of its share, alike if it is not large
     low[n]    lower bound of the symbol's share of [0, 2^15); padded with 0xFFFF to a multiple of 16
     count[n]  how often it came
     coarse[]  every 16th of low, padded with 0xFFFF: only where n > LAZ_FLAT_MAX */
#ifndef MOTE_LAZ_MODEL_H
#define MOTE_LAZ_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define LAZ_SHARE_BITS 15u /* shares are of 2^15 */
#define LAZ_FLAT_MAX   64u /* symbols whose bounds are all compared at once */
#define LAZ_HEAD_WORDS 16u
#define LAZ_PADDED(n)  (((n) + 15u) / 16u * 16u)
#define LAZ_COARSE(n)  ((n) > LAZ_FLAT_MAX ? LAZ_PADDED(LAZ_PADDED(n) / 16u) : 0u)
/* Words of a model of n symbols. */
#define LAZ_MODEL_WORDS(n) (LAZ_HEAD_WORDS + 2u * LAZ_PADDED(n) + LAZ_COARSE(n))

typedef uint16_t laz_model; /* the first word of one; 32-byte aligned */
#define LAZ_MODEL(name, n) _Alignas(32) laz_model name[LAZ_MODEL_WORDS(n)]

enum { LAZ_LEFT, LAZ_CYCLE, LAZ_TOTAL, LAZ_LIKELY, LAZ_LIKELY_FROM, LAZ_LIKELY_TO };

static inline uint16_t *laz_low(laz_model *m) { return m + LAZ_HEAD_WORDS; }
static inline uint16_t *laz_counts(laz_model *m, uint32_t n) { return m + LAZ_HEAD_WORDS + LAZ_PADDED(n); }
static inline uint16_t *laz_coarse(laz_model *m, uint32_t n) { return m + LAZ_HEAD_WORDS + 2 * LAZ_PADDED(n); }

/* Makes the shares anew from the counts and starts the next, longer cycle. laz_model.c */
void mote_laz_model_update(laz_model *m, uint32_t n, uint32_t layout);
/* All symbols alike. layout: the number of symbols that the memory was laid out for, n or more. */
void mote_laz_model_start(laz_model *m, uint32_t n, uint32_t layout);

/* Notes that a symbol came. */
static inline void laz_model_note(laz_model *m, uint32_t n, uint32_t layout, uint32_t symbol) {
    laz_counts(m, layout)[symbol]++;
    if (__builtin_expect(--m[LAZ_LEFT] == 0, 0)) mote_laz_model_update(m, n, layout);
}

/* Twice the number of 16 bounds that are at most share. */
#if defined(__AVX2__)
typedef __m256i laz_key;
static inline laz_key laz_key_of(uint32_t share) { return _mm256_set1_epi16((short)share); }
static inline uint32_t laz_twice_below(const void *bounds, laz_key share) {
    const __m256i b = _mm256_load_si256((const __m256i *)bounds);
    const __m256i max = _mm256_cmpeq_epi16(_mm256_max_epu16(b, share), share);
    return (uint32_t)__builtin_popcount((uint32_t)_mm256_movemask_epi8(max));
}
#else
typedef uint16_t laz_key;
static inline laz_key laz_key_of(uint32_t share) { return (laz_key)share; }
static inline uint32_t laz_twice_below(const void *bounds, laz_key share) {
    const uint16_t *b = bounds;
    uint32_t twice = 0;
    for (uint32_t i = 0; i < 16; i++) twice += 2u * (b[i] <= share);
    return twice;
}
#endif

/* The symbol whose share holds the given one, below 0xFFFF. layout is a constant where it is called. */
static inline uint32_t laz_model_find(laz_model *m, uint32_t layout, uint32_t share) {
    const laz_key key = laz_key_of(share);
    const uint8_t *low = (const uint8_t *)laz_low(m);
    uint32_t twice = 0;
    if (layout > LAZ_FLAT_MAX) {
        const uint8_t *coarse = (const uint8_t *)laz_coarse(m, layout);
        for (uint32_t i = 0; i < LAZ_COARSE(layout); i += 16) twice += laz_twice_below(coarse + 2 * i, key);
        const uint32_t first = twice * 16 - 32; /* byte of the block of 16 that the symbol is in */
        return (first + laz_twice_below(low + first, key)) / 2 - 1;
    }
    for (uint32_t i = 0; i < LAZ_PADDED(layout); i += 16) twice += laz_twice_below(low + 2 * i, key);
    return twice / 2 - 1;
}

/* A model of one bit is one of two symbols that reckons otherwise: shares of 2^13, shorter cycles. Its layout is its
   caller's, so that it can stand among others. */
#define LAZ_BIT_SHARE_BITS 13u
#define LAZ_BIT_SYMBOLS    2u

void mote_laz_bit_start(laz_model *m, uint32_t layout);
void mote_laz_bit_update(laz_model *m, uint32_t layout);

static inline void laz_bit_note(laz_model *m, uint32_t layout, uint32_t bit) {
    laz_counts(m, layout)[bit]++;
    if (__builtin_expect(--m[LAZ_LEFT] == 0, 0)) mote_laz_bit_update(m, layout);
}

#endif
