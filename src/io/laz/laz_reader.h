/* The arithmetic decoder: [0, length) is the interval, value the place in it. Kept by the caller in registers: every
   function here is inlined, and the compiler sees the whole loop over the points.
   Source: A. Said, Introduction to Arithmetic Coding, HPL-2004-76. */
#ifndef MOTE_LAZ_READER_H
#define MOTE_LAZ_READER_H

#include "io/laz/laz_model.h"

#define LAZ_INLINE static inline __attribute__((always_inline))

typedef struct laz_reader {
    const uint8_t *data;
    uint64_t at, size_bytes; /* at > size_bytes: read past the end, which gives zeros: a fault */
    uint32_t value, length;
    bool bad; /* raw bits that no encoder writes */
} laz_reader;

/* The next four bytes, the first one highest; zeros behind the end. */
LAZ_INLINE uint32_t laz_reader_peek(const laz_reader *r) {
    uint32_t next = 0;
    if (__builtin_expect(r->at + 4 <= r->size_bytes, 1)) {
        memcpy(&next, r->data + r->at, 4);
        return __builtin_bswap32(next);
    }
    for (uint64_t i = 0; i < 4; i++) next = next << 8 | (r->at + i < r->size_bytes ? r->data[r->at + i] : 0);
    return next;
}

static inline void laz_reader_start(laz_reader *r, const uint8_t *data, uint64_t size_bytes) {
    r->data = data;
    r->at = 0;
    r->size_bytes = size_bytes;
    r->value = laz_reader_peek(r);
    r->length = UINT32_MAX;
    r->at = 4;
    r->bad = false;
}

static inline bool laz_reader_failed(const laz_reader *r) { return r->at > r->size_bytes || r->bad; }

/* Moves bytes in until length is 2^24 or more; no loop, no branch. */
LAZ_INLINE void laz_reader_fill(laz_reader *r) {
    const uint32_t shift = (uint32_t)__builtin_clz(r->length) & 24u;
    const uint64_t next = laz_reader_peek(r);
    r->value = r->value << shift | (uint32_t)(next >> (32 - shift));
    r->length <<= shift;
    r->at += shift >> 3;
}

/* A symbol of a model whose memory is laid out for layout symbols, of which the first n are used. */
LAZ_INLINE uint32_t laz_read_symbol_of(laz_reader *r, laz_model *m, uint32_t n, uint32_t layout) {
    const uint32_t step = r->length >> LAZ_SHARE_BITS;
    const uint32_t share = r->value / step;
    const uint32_t symbol = laz_model_find(m, layout, share < 0x8000u ? share : 0x7FFFu);
    const uint16_t *low = laz_low(m) + symbol;
    const uint32_t from = low[0] * step;
    const uint32_t length = (uint32_t)(low[1] - low[0]) * step;
    r->length = symbol + 1 == n ? r->length - from : length; /* the last gets what rounding left over */
    r->value -= from;
    laz_reader_fill(r);
    laz_model_note(m, n, layout, symbol);
    return symbol;
}

/* A symbol of a model of n symbols; n is a constant where it is called. */
LAZ_INLINE uint32_t laz_read_symbol(laz_reader *r, laz_model *m, uint32_t n) {
    return laz_read_symbol_of(r, m, n, n);
}

LAZ_INLINE uint32_t laz_read_bit(laz_reader *r, laz_bit_model *m) {
    const uint32_t split = m->share * (r->length >> LAZ_BIT_SHARE_BITS);
    const bool one = r->value >= split;
    r->value -= one ? split : 0;
    r->length = one ? r->length - split : split;
    m->zeros = (uint16_t)(m->zeros + !one);
    laz_reader_fill(r);
    if (--m->left == 0) mote_laz_bit_update(m);
    return one;
}

/* 1 to 19 raw bits. */
LAZ_INLINE uint32_t laz_read_few_bits(laz_reader *r, uint32_t bits) {
    r->length >>= bits;
    uint32_t read = r->value / r->length;
    const uint32_t most = (1u << bits) - 1;
    r->bad |= read > most;
    read = read < most ? read : most;
    r->value -= read * r->length;
    laz_reader_fill(r);
    return read;
}

/* 1 to 32 raw bits. */
static inline uint32_t laz_read_bits(laz_reader *r, uint32_t bits) {
    if (bits <= 19) return laz_read_few_bits(r, bits);
    const uint32_t low = laz_read_few_bits(r, 16);
    return laz_read_few_bits(r, bits - 16) << 16 | low;
}

static inline uint32_t laz_read_u32(laz_reader *r) { return laz_read_bits(r, 32); }

static inline uint64_t laz_read_u64(laz_reader *r) {
    const uint64_t low = laz_read_bits(r, 32);
    return (uint64_t)laz_read_bits(r, 32) << 32 | low;
}

#endif
