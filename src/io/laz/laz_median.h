/* The median of about the last five steps. A new one pushes out the largest and the smallest by turns, as long as it
   falls on the other side of the median. Source: M. Isenburg, LASzip, 2013. */
#ifndef MOTE_LAZ_MEDIAN_H
#define MOTE_LAZ_MEDIAN_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef struct laz_median {
    int32_t sorted[5];
    uint32_t drop_low; /* 1: the smallest goes next; 0: the largest */
} laz_median;

static inline void laz_median_start(laz_median *m) { *m = (laz_median){0}; }

static inline uint32_t laz_median_get(const laz_median *m) { return (uint32_t)m->sorted[2]; }

/* Puts a step among the four that stay. No branch: where it falls is noise. */
static inline void laz_median_add(laz_median *m, uint32_t step) {
    const int32_t added = (int32_t)step, middle = m->sorted[2];
    const uint32_t drop_low = m->drop_low;
    m->drop_low = (int64_t)added - drop_low >= middle; /* after the smallest: above the median; else: not below it */
    const int32_t *kept = m->sorted + drop_low;
#if defined(__AVX2__)
    const __m128i k = _mm_loadu_si128((const __m128i *)(const void *)kept);
    const __m128i a = _mm_set1_epi32(added);
    const __m128i min = _mm_min_epi32(k, a);
    m->sorted[0] = _mm_cvtsi128_si32(min);
    _mm_storeu_si128((__m128i *)(void *)(m->sorted + 1), _mm_max_epi32(k, _mm_alignr_epi8(a, min, 4)));
#else
    const int32_t k[4] = {kept[0], kept[1], kept[2], kept[3]};
    for (uint32_t i = 0; i < 4; i++) {
        const int32_t next = i < 3 && k[i + 1] < added ? k[i + 1] : added;
        m->sorted[i + 1] = k[i] > next ? k[i] : next;
    }
    m->sorted[0] = k[0] < added ? k[0] : added;
#endif
}

#endif
