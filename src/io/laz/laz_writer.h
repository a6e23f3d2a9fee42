/* The arithmetic encoder, the reader's mirror. Its bytes stay in memory, so a carry simply walks back over them.
   The caller sees to room: see LAZ_SYMBOL_BYTES. Source: A. Said, Introduction to Arithmetic Coding, HPL-2004-76. */
#ifndef MOTE_LAZ_WRITER_H
#define MOTE_LAZ_WRITER_H

#include "core/core.h"
#include "io/laz/laz_model.h"

#define LAZ_SYMBOL_BYTES 2u  /* what a symbol, or 16 raw bits, adds at most */
#define LAZ_WRITER_SLACK 16u /* stored beyond what counts, and the end */

typedef struct laz_writer {
    uint8_t *data;
    uint64_t at, capacity;
    uint32_t base, length;
} laz_writer;

static inline void laz_writer_start(laz_writer *w) {
    w->at = 0;
    w->base = 0;
    w->length = UINT32_MAX;
}

/* Room for size_bytes more bytes. */
static inline mote_status laz_writer_reserve(mote_context *ctx, laz_writer *w, uint64_t size_bytes) {
    if (w->capacity - w->at >= size_bytes + LAZ_WRITER_SLACK) return MOTE_OK;
    const bool had =
        mote_reserve(ctx, (void **)&w->data, &w->capacity, w->at + size_bytes + LAZ_WRITER_SLACK, 1, "LAZ chunks");
    return had ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static inline void laz_writer_carry(laz_writer *w) {
    uint64_t i = w->at;
    while (i > 0 && ++w->data[--i] == 0) {}
}

/* Moves bytes out until length is 2^24 or more. */
static inline void laz_writer_flush(laz_writer *w) {
    const uint32_t shift = (uint32_t)__builtin_clz(w->length) & 24u;
    const uint32_t bytes = __builtin_bswap32(w->base);
    memcpy(w->data + w->at, &bytes, 4);
    w->at += shift >> 3;
    w->base <<= shift;
    w->length <<= shift;
}

/* Narrows the interval to [from, from + length). */
static inline void laz_writer_narrow(laz_writer *w, uint32_t from, uint32_t length) {
    w->base += from;
    w->length = length;
    if (__builtin_expect(w->base < from, 0)) laz_writer_carry(w);
    laz_writer_flush(w);
}

/* A symbol in shares of 2^share_bits, not yet noted in the model. */
static inline void laz_write_share(laz_writer *w, laz_model *m, uint32_t n, uint32_t share_bits, uint32_t symbol) {
    const uint32_t step = w->length >> share_bits;
    const uint16_t *low = laz_low(m) + symbol;
    const uint32_t from = low[0] * step;
    const uint32_t to = symbol + 1 == n ? w->length : low[1] * step;
    laz_writer_narrow(w, from, to - from);
}

static inline void laz_write_symbol_of(laz_writer *w, laz_model *m, uint32_t n, uint32_t layout, uint32_t symbol) {
    laz_write_share(w, m, n, LAZ_SHARE_BITS, symbol);
    laz_model_note(m, n, layout, symbol);
}

static inline void laz_write_symbol(laz_writer *w, laz_model *m, uint32_t n, uint32_t symbol) {
    laz_write_symbol_of(w, m, n, n, symbol);
}

static inline void laz_write_bit(laz_writer *w, laz_model *m, uint32_t layout, uint32_t bit) {
    laz_write_share(w, m, LAZ_BIT_SYMBOLS, LAZ_BIT_SHARE_BITS, bit);
    laz_bit_note(m, layout, bit);
}

static inline void laz_write_short_bits(laz_writer *w, uint32_t bits, uint32_t value) {
    const uint32_t step = w->length >> bits;
    laz_writer_narrow(w, value * step, step);
}

/* 1 to 32 raw bits. */
static inline void laz_write_bits(laz_writer *w, uint32_t bits, uint32_t value) {
    if (bits <= 19) {
        laz_write_short_bits(w, bits, value);
        return;
    }
    laz_write_short_bits(w, 16, value & 0xFFFFu);
    laz_write_short_bits(w, bits - 16, value >> 16);
}

static inline void laz_write_u32(laz_writer *w, uint32_t value) { laz_write_bits(w, 32, value); }

static inline void laz_write_u64(laz_writer *w, uint64_t value) {
    laz_write_bits(w, 32, (uint32_t)value);
    laz_write_bits(w, 32, (uint32_t)(value >> 32));
}

/* Writes the rest of the interval; the bytes are then [0, at). Reserve LAZ_WRITER_SLACK before. */
static inline void laz_writer_finish(laz_writer *w) {
    const bool long_end = w->length > 1u << 25;
    laz_writer_narrow(w, long_end ? 1u << 24 : 1u << 23, long_end ? 1u << 23 : 1u << 15);
    const uint32_t zeros = long_end ? 3 : 2; /* the reader is so far ahead */
    memset(w->data + w->at, 0, zeros);
    w->at += zeros;
}

#endif
