/* Eight lanes at once, for code that runs on CPUs only: AVX2, or plain loops that give the same bits.
   f: float, i: int32, d: double. */
#ifndef MOTE_SIMD_H
#define MOTE_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Functions that must become one with their caller, so that lanes stay in registers and constants are known. Not under
   sanitizers: they add to each access, and compiling what comes out takes minutes. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SIMD_SANITIZED 1
#endif
#endif
#if defined(SIMD_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define SIMD_INLINE static inline
#else
#define SIMD_INLINE static inline __attribute__((always_inline))
#endif

#if defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__) && !defined(MOTE_SIMD_PLAIN)
#include <immintrin.h>

typedef __m256 simd_f;
typedef __m256i simd_i;
typedef struct simd_d {
    __m256d low, high;
} simd_d;

SIMD_INLINE simd_f simd_f_set(float value) { return _mm256_set1_ps(value); }
SIMD_INLINE simd_f simd_f_load(const float *at) { return _mm256_loadu_ps(at); }
SIMD_INLINE void simd_f_store(float *at, simd_f a) { _mm256_storeu_ps(at, a); }
SIMD_INLINE simd_f simd_f_add(simd_f a, simd_f b) { return _mm256_add_ps(a, b); }
SIMD_INLINE simd_f simd_f_sub(simd_f a, simd_f b) { return _mm256_sub_ps(a, b); }
SIMD_INLINE simd_f simd_f_mul(simd_f a, simd_f b) { return _mm256_mul_ps(a, b); }
SIMD_INLINE simd_f simd_f_div(simd_f a, simd_f b) { return _mm256_div_ps(a, b); }
SIMD_INLINE simd_f simd_f_fma(simd_f a, simd_f b, simd_f c) { return _mm256_fmadd_ps(a, b, c); }
SIMD_INLINE simd_f simd_f_min(simd_f a, simd_f b) { return _mm256_min_ps(a, b); }
SIMD_INLINE simd_f simd_f_max(simd_f a, simd_f b) { return _mm256_max_ps(a, b); }
SIMD_INLINE simd_f simd_f_sqrt(simd_f a) { return _mm256_sqrt_ps(a); }
/* Bit i: lane i of a is at most that of b. */
SIMD_INLINE uint32_t simd_f_at_most(simd_f a, simd_f b) {
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}

/* The smallest of all lanes. */
SIMD_INLINE float simd_f_reduce_min(simd_f a) {
    __m128 m = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    m = _mm_min_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_min_ss(m, _mm_shuffle_ps(m, m, 1)));
}
SIMD_INLINE float simd_f_reduce_max(simd_f a) {
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_shuffle_ps(m, m, 1)));
}

SIMD_INLINE simd_i simd_i_set(int32_t value) { return _mm256_set1_epi32(value); }
SIMD_INLINE simd_i simd_i_load(const int32_t *at) { return _mm256_loadu_si256((const __m256i *)(const void *)at); }
SIMD_INLINE void simd_i_store(int32_t *at, simd_i a) { _mm256_storeu_si256((__m256i *)(void *)at, a); }
SIMD_INLINE simd_i simd_i_sub(simd_i a, simd_i b) { return _mm256_sub_epi32(a, b); }
SIMD_INLINE simd_i simd_i_max(simd_i a, simd_i b) { return _mm256_max_epi32(a, b); }
/* Bit i: lane i of a is above that of b. */
SIMD_INLINE uint32_t simd_i_above(simd_i a, simd_i b) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b)));
}
SIMD_INLINE uint32_t simd_i_equal(simd_i a, simd_i b) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}
SIMD_INLINE simd_f simd_i_to_f(simd_i a) { return _mm256_cvtepi32_ps(a); }
/* The bits of the lanes, as they are. */
SIMD_INLINE simd_i simd_f_bits(simd_f a) { return _mm256_castps_si256(a); }

SIMD_INLINE simd_d simd_d_set(double value) {
    const simd_d a = {_mm256_set1_pd(value), _mm256_set1_pd(value)};
    return a;
}
SIMD_INLINE simd_d simd_d_load(const double *at) {
    const simd_d a = {_mm256_loadu_pd(at), _mm256_loadu_pd(at + 4)};
    return a;
}
SIMD_INLINE simd_d simd_d_add(simd_d a, simd_d b) {
    const simd_d c = {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
    return c;
}
SIMD_INLINE simd_d simd_d_sub(simd_d a, simd_d b) {
    const simd_d c = {_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)};
    return c;
}
SIMD_INLINE simd_d simd_d_mul(simd_d a, simd_d b) {
    const simd_d c = {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
    return c;
}
SIMD_INLINE simd_d simd_d_max(simd_d a, simd_d b) {
    const simd_d c = {_mm256_max_pd(a.low, b.low), _mm256_max_pd(a.high, b.high)};
    return c;
}
/* Bit i: lane i of a is above that of b. */
SIMD_INLINE uint32_t simd_d_above(simd_d a, simd_d b) {
    const uint32_t low = (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(a.low, b.low, _CMP_GT_OQ));
    return low | (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(a.high, b.high, _CMP_GT_OQ)) << 4;
}
SIMD_INLINE simd_d simd_f_to_d(simd_f a) {
    const simd_d c = {_mm256_cvtps_pd(_mm256_castps256_ps128(a)), _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1))};
    return c;
}
SIMD_INLINE simd_f simd_d_to_f(simd_d a) { return _mm256_set_m128(_mm256_cvtpd_ps(a.high), _mm256_cvtpd_ps(a.low)); }

/* Which lanes come first if those of the set bits are moved together; for simd_f_compress and simd_compress_indices. */
SIMD_INLINE simd_i simd_mask(uint32_t bits) {
    const uint64_t bytes = _pdep_u64(bits, 0x0101010101010101ull) * 255;
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)_pext_u64(0x0706050403020100ull, bytes)));
}
SIMD_INLINE void simd_f_compress(float *to, simd_f a, simd_i mask) {
    _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(a, mask));
}
/* The numbers of the picked lanes, counted from first. */
SIMD_INLINE void simd_compress_indices(uint32_t *to, uint32_t first, simd_i mask) {
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_add_epi32(mask, _mm256_set1_epi32((int32_t)first)));
}

/* Rows become columns. */
SIMD_INLINE void simd_f_transpose(simd_f r[8]) {
    simd_f a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        a[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
        b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xEE);
        b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
        b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xEE);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
    }
}

/* ranks[i] = how many of keys[0..count) are less than keys[i], as signed numbers. Both have room for a multiple of 16;
   what is there behind count does not matter. */
SIMD_INLINE void simd_rank(const int32_t *keys, uint32_t count, int32_t *ranks) {
    for (uint32_t i = 0; i < count; i += 16) {
        const __m256i low = simd_i_load(keys + i), high = simd_i_load(keys + i + 8);
        __m256i low_rank = _mm256_setzero_si256(), high_rank = low_rank;
        for (uint32_t j = 0; j < count; j++) {
            const __m256i other = _mm256_set1_epi32(keys[j]);
            low_rank = _mm256_sub_epi32(low_rank, _mm256_cmpgt_epi32(low, other));
            high_rank = _mm256_sub_epi32(high_rank, _mm256_cmpgt_epi32(high, other));
        }
        _mm256_storeu_si256((__m256i *)(void *)(ranks + i), low_rank);
        _mm256_storeu_si256((__m256i *)(void *)(ranks + i + 8), high_rank);
    }
}

#else

typedef struct simd_f {
    float lane[8];
} simd_f;
typedef struct simd_i {
    int32_t lane[8];
} simd_i;
typedef struct simd_d {
    double lane[8];
} simd_d;

#define SIMD_EACH(result, expression)                                                                                  \
    result c;                                                                                                          \
    for (int l = 0; l < 8; l++) c.lane[l] = (expression);                                                              \
    return c
/* Bit l: whether the condition holds for lane l. */
#define SIMD_BITS(condition)                                                                                           \
    uint32_t bits = 0;                                                                                                 \
    for (int l = 0; l < 8; l++) bits |= (uint32_t)(condition) << l;                                                    \
    return bits

SIMD_INLINE simd_f simd_f_set(float value) { SIMD_EACH(simd_f, value); }
SIMD_INLINE simd_f simd_f_load(const float *at) { SIMD_EACH(simd_f, at[l]); }
SIMD_INLINE void simd_f_store(float *at, simd_f a) { memcpy(at, a.lane, sizeof a.lane); }
SIMD_INLINE simd_f simd_f_add(simd_f a, simd_f b) { SIMD_EACH(simd_f, a.lane[l] + b.lane[l]); }
SIMD_INLINE simd_f simd_f_sub(simd_f a, simd_f b) { SIMD_EACH(simd_f, a.lane[l] - b.lane[l]); }
SIMD_INLINE simd_f simd_f_mul(simd_f a, simd_f b) { SIMD_EACH(simd_f, a.lane[l] * b.lane[l]); }
SIMD_INLINE simd_f simd_f_div(simd_f a, simd_f b) { SIMD_EACH(simd_f, a.lane[l] / b.lane[l]); }
SIMD_INLINE simd_f simd_f_fma(simd_f a, simd_f b, simd_f c0) {
    SIMD_EACH(simd_f, fmaf(a.lane[l], b.lane[l], c0.lane[l]));
}
SIMD_INLINE simd_f simd_f_min(simd_f a, simd_f b) { SIMD_EACH(simd_f, a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l]); }
SIMD_INLINE simd_f simd_f_max(simd_f a, simd_f b) { SIMD_EACH(simd_f, a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l]); }
SIMD_INLINE simd_f simd_f_sqrt(simd_f a) { SIMD_EACH(simd_f, sqrtf(a.lane[l])); }
SIMD_INLINE uint32_t simd_f_at_most(simd_f a, simd_f b) { SIMD_BITS(a.lane[l] <= b.lane[l]); }

SIMD_INLINE float simd_f_reduce_min(simd_f a) {
    float min = a.lane[0];
    for (int l = 1; l < 8; l++) min = a.lane[l] < min ? a.lane[l] : min;
    return min;
}
SIMD_INLINE float simd_f_reduce_max(simd_f a) {
    float max = a.lane[0];
    for (int l = 1; l < 8; l++) max = a.lane[l] > max ? a.lane[l] : max;
    return max;
}

SIMD_INLINE simd_i simd_i_set(int32_t value) { SIMD_EACH(simd_i, value); }
SIMD_INLINE simd_i simd_i_load(const int32_t *at) { SIMD_EACH(simd_i, at[l]); }
SIMD_INLINE void simd_i_store(int32_t *at, simd_i a) { memcpy(at, a.lane, sizeof a.lane); }
SIMD_INLINE simd_i simd_i_sub(simd_i a, simd_i b) {
    SIMD_EACH(simd_i, (int32_t)((uint32_t)a.lane[l] - (uint32_t)b.lane[l]));
}
SIMD_INLINE simd_i simd_i_max(simd_i a, simd_i b) { SIMD_EACH(simd_i, a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l]); }
SIMD_INLINE uint32_t simd_i_above(simd_i a, simd_i b) { SIMD_BITS(a.lane[l] > b.lane[l]); }
SIMD_INLINE uint32_t simd_i_equal(simd_i a, simd_i b) { SIMD_BITS(a.lane[l] == b.lane[l]); }
SIMD_INLINE simd_f simd_i_to_f(simd_i a) { SIMD_EACH(simd_f, (float)a.lane[l]); }
SIMD_INLINE simd_i simd_f_bits(simd_f a) {
    simd_i bits;
    memcpy(bits.lane, a.lane, sizeof bits.lane);
    return bits;
}

SIMD_INLINE simd_d simd_d_set(double value) { SIMD_EACH(simd_d, value); }
SIMD_INLINE simd_d simd_d_load(const double *at) { SIMD_EACH(simd_d, at[l]); }
SIMD_INLINE simd_d simd_d_add(simd_d a, simd_d b) { SIMD_EACH(simd_d, a.lane[l] + b.lane[l]); }
SIMD_INLINE simd_d simd_d_sub(simd_d a, simd_d b) { SIMD_EACH(simd_d, a.lane[l] - b.lane[l]); }
SIMD_INLINE simd_d simd_d_mul(simd_d a, simd_d b) { SIMD_EACH(simd_d, a.lane[l] * b.lane[l]); }
SIMD_INLINE simd_d simd_d_max(simd_d a, simd_d b) { SIMD_EACH(simd_d, a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l]); }
SIMD_INLINE uint32_t simd_d_above(simd_d a, simd_d b) { SIMD_BITS(a.lane[l] > b.lane[l]); }
SIMD_INLINE simd_d simd_f_to_d(simd_f a) { SIMD_EACH(simd_d, (double)a.lane[l]); }
SIMD_INLINE simd_f simd_d_to_f(simd_d a) { SIMD_EACH(simd_f, (float)a.lane[l]); }

SIMD_INLINE simd_i simd_mask(uint32_t bits) {
    simd_i mask = {{0, 0, 0, 0, 0, 0, 0, 0}};
    for (int l = 0, at = 0; l < 8; l++) {
        if ((bits >> l & 1) != 0) mask.lane[at++] = l;
    }
    return mask;
}
SIMD_INLINE void simd_f_compress(float *to, simd_f a, simd_i mask) {
    for (int l = 0; l < 8; l++) to[l] = a.lane[mask.lane[l]];
}
SIMD_INLINE void simd_compress_indices(uint32_t *to, uint32_t first, simd_i mask) {
    for (int l = 0; l < 8; l++) to[l] = first + (uint32_t)mask.lane[l];
}

SIMD_INLINE void simd_f_transpose(simd_f r[8]) {
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < i; j++) {
            const float kept = r[i].lane[j];
            r[i].lane[j] = r[j].lane[i];
            r[j].lane[i] = kept;
        }
    }
}

SIMD_INLINE void simd_rank(const int32_t *keys, uint32_t count, int32_t *ranks) {
    for (uint32_t i = 0; i < count; i++) {
        ranks[i] = 0;
        for (uint32_t j = 0; j < count; j++) ranks[i] += keys[j] < keys[i];
    }
}
#endif

#endif
