/* The arithmetic decoder: [0, length) is the interval, value the place in it. Kept by the caller in registers: every
   function here is inlined, and the compiler sees the whole loop over the points.
   Source: A. Said, Introduction to Arithmetic Coding, HPL-2004-76. */
#ifndef MOTE_LAZ_READER_H
#define MOTE_LAZ_READER_H

#include "io/laz/laz_model.h"

/* Has the compiler work out a value before it chooses: a branch on a symbol would be missed often. */
#define LAZ_UNPREDICTABLE(value) __asm__("" : "+r"(value))

/* value < length holds at all times, whatever the bytes: then each share has a symbol. */
typedef struct laz_reader {
    const uint8_t *data;
    uint64_t at, size_bytes; /* at > size_bytes: read past the end, which gives zeros: a fault */
    uint32_t value, length;
    bool bad; /* raw bits that no encoder writes */
} laz_reader;

/* The next four bytes, the first one highest; zeros behind the end. */
static inline uint32_t laz_reader_peek(const laz_reader *r) {
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
    r->bad = r->value == UINT32_MAX;
    r->value -= r->bad;
}

static inline bool laz_reader_failed(const laz_reader *r) { return r->at > r->size_bytes || r->bad; }

/* Whether a writer could have ended here: its last bytes are some of the lower bound, rounded up, and then zeros.
   Chance does that to one place in 2^28. See laz_writer_finish. */
static inline bool laz_reader_at_end(const laz_reader *r) {
    if (r->bad || r->at > r->size_bytes || r->at < 4) return false;
    const uint8_t *last = r->data + r->at - 3;
    if (last[1] != 0 || last[2] != 0) return false;
    if (r->length > 1u << 25) return last[0] == 0 && r->value <= 1u << 24;
    return r->value <= 1u << 23 && r->value > (1u << 23) - (1u << 16);
}

/* Moves bytes in until length is 2^24 or more; no loop, no branch. */
static inline void laz_reader_fill(laz_reader *r) {
    const uint32_t shift = (uint32_t)__builtin_clz(r->length) & 24u;
    const uint64_t next = laz_reader_peek(r);
    r->value = r->value << shift | (uint32_t)(next >> (32 - shift));
    r->length <<= shift;
    r->at += shift >> 3;
}

/* A symbol in shares of 2^share_bits, not yet noted in the model, which is laid out for layout symbols, n of them
   used. */
static inline uint32_t laz_read_share(laz_reader *r, laz_model *m, uint32_t n, uint32_t layout, uint32_t share_bits) {
    const uint32_t step = r->length >> share_bits;
    const uint32_t symbol = laz_model_find(m, layout, r->value / step);
    const uint16_t *low = laz_low(m) + symbol;
    const uint32_t from = low[0] * step;
    uint32_t to = low[1] * step;
    LAZ_UNPREDICTABLE(to);
    to = symbol + 1 == n ? r->length : to; /* the last gets what rounding left over */
    r->length = to - from;
    r->value -= from;
    laz_reader_fill(r);
    return symbol;
}

/* A symbol of a model whose memory is laid out for layout symbols, of which the first n are used. */
static inline uint32_t laz_read_symbol_of(laz_reader *r, laz_model *m, uint32_t n, uint32_t layout) {
    const uint32_t symbol = laz_read_share(r, m, n, layout, LAZ_SHARE_BITS);
    laz_model_note(m, n, layout, symbol);
    return symbol;
}

/* A symbol of a model of n symbols; n is a constant where it is called. */
static inline uint32_t laz_read_symbol(laz_reader *r, laz_model *m, uint32_t n) {
    return laz_read_symbol_of(r, m, n, n);
}

/* The same for a model in which one symbol often has most of the interval: that one is tried first. */
static inline uint32_t laz_read_likely_of(laz_reader *r, laz_model *m, uint32_t n, uint32_t layout) {
    const uint32_t step = r->length >> LAZ_SHARE_BITS;
    const uint32_t from = m[LAZ_LIKELY_FROM] * step, length = (uint32_t)(m[LAZ_LIKELY_TO] - m[LAZ_LIKELY_FROM]) * step;
    if (r->value - from >= length) return laz_read_symbol_of(r, m, n, layout);
    const uint32_t symbol = m[LAZ_LIKELY];
    r->length = symbol + 1 == n ? r->length - from : length;
    r->value -= from;
    laz_reader_fill(r);
    laz_model_note(m, n, layout, symbol);
    return symbol;
}

static inline uint32_t laz_read_likely(laz_reader *r, laz_model *m, uint32_t n) {
    return laz_read_likely_of(r, m, n, n);
}

static inline uint32_t laz_read_bit(laz_reader *r, laz_model *m, uint32_t layout) {
    const uint32_t bit = laz_read_share(r, m, LAZ_BIT_SYMBOLS, LAZ_BIT_SYMBOLS, LAZ_BIT_SHARE_BITS);
    laz_bit_note(m, layout, bit);
    return bit;
}

/* 1 to 19 raw bits. */
static inline uint32_t laz_read_short_bits(laz_reader *r, uint32_t bits) {
    r->length >>= bits;
    uint32_t read = r->value / r->length;
    if (__builtin_expect(read >> bits != 0, 0)) {
        r->bad = true;
        read = r->value = 0;
    }
    r->value -= read * r->length;
    laz_reader_fill(r);
    return read;
}

/* 1 to 32 raw bits. */
static inline uint32_t laz_read_bits(laz_reader *r, uint32_t bits) {
    if (bits <= 19) return laz_read_short_bits(r, bits);
    const uint32_t low = laz_read_short_bits(r, 16);
    return laz_read_short_bits(r, bits - 16) << 16 | low;
}

static inline uint32_t laz_read_u32(laz_reader *r) { return laz_read_bits(r, 32); }

static inline uint64_t laz_read_u64(laz_reader *r) {
    const uint64_t low = laz_read_bits(r, 32);
    return (uint64_t)laz_read_bits(r, 32) << 32 | low;
}

#endif
