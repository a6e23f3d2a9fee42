/* The arithmetic decoder of a warp: one coder per warp, all lanes do the same with it, and the search for a symbol is
   shared among them: each lane weighs one of the bounds, and the votes are counted. No division, no branch on what was
   read. The arithmetic is that of laz_model.c, laz_reader.h and laz_integer.h; what lies in memory is another layout.

   Lanes never part: every branch is on values that all of them have. What one lane writes and others read is ordered
   by __syncwarp; an entry of a model is read and written by the same lane only, except in laz updates. */
#ifndef MOTE_LAZ_WARP_H
#define MOTE_LAZ_WARP_H

#include "device/cuda/warp.cuh"
#include "io/laz/items/laz_format14.h"

#define WARP_INLINE static __device__ __forceinline__
#define WARP_CALLED static __device__ __noinline__

/* Numbers of the format, the same as in laz_model.h, laz_model.c and laz_integer.h. */
#define WARP_SHARE_BITS     15u
#define WARP_COUNT_MAX      (1u << WARP_SHARE_BITS)
#define WARP_BIT_SHARE_BITS 13u
#define WARP_BIT_COUNT_MAX  (1u << WARP_BIT_SHARE_BITS)
#define WARP_BIT_CYCLE_MAX  64u
#define WARP_CONTEXTS_MAX   22u
#define WARP_MODELLED_BITS  8u
#define WARP_WIDTHS_MAX     33u

/* ---- models
   A model laid out for n symbols is an array of words:
     head     symbols until the next update, their number in this cycle, total of the counts; of a bit also its share
              and the count of zeros
     coarse   where n > WARP_FLAT_MAX: the lower bound of every 16th symbol
     entries  lower bound of the symbol's share of [0, 2^15) in the low half, how often it came in the high half */
#define WARP_FLAT_MAX       33u
#define WARP_HEAD           8u
#define WARP_PADDED(n)      (((n) + 15u) / 16u * 16u)
#define WARP_COARSE(n)      ((n) > WARP_FLAT_MAX ? WARP_PADDED(WARP_PADDED(n) / 16u) : 0u)
#define WARP_ENTRIES_AT(n)  (WARP_HEAD + WARP_COARSE(n))
#define WARP_MODEL_WORDS(n) (WARP_ENTRIES_AT(n) + ((n) + 8u) / 8u * 8u) /* one entry more, which is looked at, too */

enum { WARP_LEFT, WARP_CYCLE, WARP_TOTAL, WARP_BIT_SHARE, WARP_BIT_ZEROS };

typedef uint32_t warp_model; /* the first word of one */

/* Makes the shares from the counts. */
WARP_INLINE void warp_spread_shares(warp_model *m, uint32_t n, uint32_t entries_at, uint32_t total, uint32_t lane) {
    const uint32_t scale = 0x80000000u / total;
    uint32_t *entries = m + entries_at, sum = 0;
    CUDA_ROLLED for (uint32_t first = 0; first < n; first += CUDA_WARP) {
        const uint32_t i = first + lane, count = i < n ? entries[i] >> 16 : 0;
        const uint32_t to = warp_scan_inclusive(count);
        const uint32_t low = scale * (sum + to - count) >> (31 - WARP_SHARE_BITS);
        if (i < n) entries[i] = count << 16 | low;
        if (i < n && entries_at > WARP_HEAD && i % 16 == 0) m[WARP_HEAD + i / 16] = low;
        sum += warp_broadcast(to, CUDA_WARP - 1);
    }
}

WARP_INLINE uint32_t warp_halve_counts(uint32_t *entries, uint32_t n, uint32_t lane) {
    uint32_t sum = 0;
    CUDA_ROLLED for (uint32_t i = lane; i < n; i += CUDA_WARP) {
        const uint32_t count = ((entries[i] >> 16) + 1) >> 1;
        entries[i] = count << 16;
        sum += count;
    }
    return warp_sum(sum);
}

WARP_INLINE void warp_set_head(warp_model *m, uint32_t cycle, uint32_t total, uint32_t lane) {
    __syncwarp();
    if (lane == 0) m[WARP_LEFT] = m[WARP_CYCLE] = cycle;
    if (lane == 0) m[WARP_TOTAL] = total;
    __syncwarp();
}

/* Makes the shares anew and starts the next, longer cycle. */
WARP_INLINE void warp_update(warp_model *m, uint32_t n, uint32_t entries_at, uint32_t lane) {
    const uint32_t cycle_max = (n + 6) * 8;
    __syncwarp();
    const uint32_t cycle = m[WARP_CYCLE] * 5u >> 2;
    uint32_t total = m[WARP_TOTAL] + m[WARP_CYCLE];
    if (total > WARP_COUNT_MAX) total = warp_halve_counts(m + entries_at, n, lane);
    __syncwarp();
    warp_spread_shares(m, n, entries_at, total, lane);
    warp_set_head(m, cycle < cycle_max ? cycle : cycle_max, total, lane);
}

/* Starts models laid out for layout symbols, of which the first n are used. */
WARP_CALLED void warp_start_models(warp_model *m, uint32_t models, uint32_t n, uint32_t layout, uint32_t lane) {
    const uint32_t scale = 0x80000000u / n, entries_at = WARP_ENTRIES_AT(layout), words = WARP_MODEL_WORDS(layout);
    CUDA_ROLLED for (; models > 0; models--, m += words) {
        CUDA_ROLLED for (uint32_t i = lane; i <= n; i += CUDA_WARP) {
            const uint32_t low = i < n ? scale * i >> (31 - WARP_SHARE_BITS) : 0;
            m[entries_at + i] = 1u << 16 | low;
            if (entries_at > WARP_HEAD && i % 16 == 0 && i < n) m[WARP_HEAD + i / 16] = low;
        }
        warp_set_head(m, (n + 6) / 2, n, lane);
    }
}

WARP_INLINE void warp_share_bit(warp_model *m, uint32_t zeros, uint32_t total) {
    m[WARP_BIT_SHARE] = zeros * (0x80000000u / total) >> (31 - WARP_BIT_SHARE_BITS);
    m[WARP_BIT_ZEROS] = zeros;
}

WARP_INLINE void warp_start_bit(warp_model *m, uint32_t lane) {
    if (lane == 0) warp_share_bit(m, 1, 2);
    warp_set_head(m, 4, 2, lane);
}

WARP_INLINE void warp_update_bit(warp_model *m, uint32_t lane) {
    __syncwarp();
    const uint32_t cycle = m[WARP_CYCLE] * 5u >> 2;
    uint32_t total = m[WARP_TOTAL] + m[WARP_CYCLE], zeros = m[WARP_BIT_ZEROS];
    if (total > WARP_BIT_COUNT_MAX) {
        total = (total + 1) >> 1;
        zeros = (zeros + 1) >> 1;
        if (zeros == total) total++;
    }
    __syncwarp();
    if (lane == 0) warp_share_bit(m, zeros, total);
    warp_set_head(m, cycle < WARP_BIT_CYCLE_MAX ? cycle : WARP_BIT_CYCLE_MAX, total, lane);
}

/* ---- the coder */

/* value < length at all times, whatever the bytes. They come as aligned words, one of them read ahead. What lies behind
   the end of a layer is read as if it were of the layer: who takes it has a fault. */
typedef struct warp_reader {
    uint32_t lane;
    uint32_t value, length;
    uint32_t high, low, bits; /* the next `bits` bits of the stream, from the highest bit of high on */
    uint32_t ahead;           /* the word behind them */
    uint32_t next, last;      /* the number of the one behind that; of the last one of all */
    const uint32_t *words;
    bool bad; /* raw bits that no encoder writes */
    warp_model *models;
    uint32_t due, due_count; /* models that are to be updated, one a lane: see warp_settle */
} warp_reader;

/* A word, its first byte highest. */
WARP_INLINE uint32_t warp_word(const warp_reader *r, uint32_t number) {
    const uint32_t word = __ldg(r->words + (number < r->last ? number : r->last));
    return word >> 24 | (word >> 8 & 0xFF00u) | (word & 0xFF00u) << 8 | word << 24;
}

WARP_INLINE void warp_refill(warp_reader *r) {
    const uint64_t more = (uint64_t)r->ahead << 32 >> r->bits;
    r->high |= (uint32_t)(more >> 32);
    r->low |= (uint32_t)more;
    r->bits += 32;
    r->ahead = warp_word(r, r->next++);
}

/* data: size_bytes of memory, aligned to words and whole ones; the layer begins at byte at. models: all of the
   layer. */
WARP_INLINE void warp_reader_start(warp_reader *r, const uint8_t *data, uint64_t size_bytes, uint64_t at,
                                   warp_model *models) {
    const uint32_t skipped = 8 * ((uint32_t)at & 3u);
    r->lane = threadIdx.x % CUDA_WARP;
    r->words = (const uint32_t *)(const void *)data;
    r->models = models;
    r->due = r->due_count = 0;
    r->last = (uint32_t)((size_bytes - 1) / 4);
    r->next = (uint32_t)(at / 4);
    const uint64_t first = (uint64_t)warp_word(r, r->next) << 32 | warp_word(r, r->next + 1);
    r->value = (uint32_t)(first << skipped >> 32);
    r->high = (uint32_t)(first << skipped);
    r->low = 0;
    r->bits = 32 - skipped;
    r->ahead = warp_word(r, r->next + 2);
    r->next += 3;
    if (r->bits < 32) warp_refill(r);
    r->length = UINT32_MAX;
    r->bad = r->value == UINT32_MAX;
    r->value -= r->bad;
}

/* Whether the layer was read without a fault, and to its last byte: that before byte end. */
WARP_INLINE bool warp_reader_is_sound(const warp_reader *r, uint64_t end) {
    return !r->bad && 4 * ((uint64_t)r->next - 1) - r->bits / 8 == end;
}

/* Moves bytes in until length is 2^24 or more. */
WARP_INLINE void warp_fill(warp_reader *r) {
    const uint32_t shift = (uint32_t)__clz((int)r->length) & 24u;
    r->length <<= shift;
    r->value = __funnelshift_l(r->high, r->value, shift);
    r->high = __funnelshift_l(r->low, r->high, shift);
    r->low <<= shift;
    r->bits -= shift;
    if (r->bits < 32) warp_refill(r);
}

/* Among up to 32 bounds, one a lane, the first of which is 0: the last one that the value reaches. */
WARP_INLINE uint32_t warp_last_reached(const warp_reader *r, uint32_t bound, uint32_t count) {
    return (uint32_t)__popc(__ballot_sync(CUDA_ALL, r->lane < count && bound <= r->value)) - 1;
}

/* What of a word is the bound, times step. */
WARP_INLINE uint32_t warp_bound(uint32_t word, uint32_t step) { return (word & 0xFFFFu) * step; }

/* Narrows the interval to [from, to) of it. */
WARP_INLINE void warp_narrow(warp_reader *r, uint32_t from, uint32_t to) {
    r->value -= from;
    r->length = to - from;
    warp_fill(r);
}

/* A model whose cycle has ended is not updated at once but when its point is read: it has no second symbol before, and
   so the long way is in one place of a loop. In a lane: symbols (0: a bit), where its entries are, in units of
   WARP_HEAD, and where it is, in words. */
#define WARP_DUE_SYMBOLS 10u /* bits */
#define WARP_DUE_ENTRIES 3u
#define WARP_DUE_PLACE   (32u - WARP_DUE_SYMBOLS - WARP_DUE_ENTRIES)

WARP_INLINE void warp_count_down(warp_reader *r, warp_model *m, uint32_t n, uint32_t entries_at, uint32_t remaining) {
    m[WARP_LEFT] = remaining; /* by all lanes: each reads what it wrote */
    if (remaining > 0) return;
    const uint32_t at = (uint32_t)(m - r->models);
    if (r->lane == r->due_count) r->due = (at << WARP_DUE_ENTRIES | entries_at / WARP_HEAD) << WARP_DUE_SYMBOLS | n;
    r->due_count++;
}

/* Updates the models that are due. After each point, and wherever a model may have another symbol. */
WARP_INLINE void warp_settle(warp_reader *r) {
    CUDA_ROLLED while (r->due_count > 0) {
        const uint32_t due = warp_broadcast(r->due, --r->due_count);
        const uint32_t n = due % (1u << WARP_DUE_SYMBOLS), place = due >> WARP_DUE_SYMBOLS;
        warp_model *m = r->models + (place >> WARP_DUE_ENTRIES);
        if (n > 0) {
            warp_update(m, n, place % (1u << WARP_DUE_ENTRIES) * WARP_HEAD, r->lane);
        } else {
            warp_update_bit(m, r->lane);
        }
    }
}

/* Notes that a symbol came, the entry of which this lane has if mine. left: symbols until the next update. */
WARP_INLINE void warp_note(warp_reader *r, warp_model *m, uint32_t n, uint32_t entries_at, uint32_t *at, uint32_t entry,
                           bool mine, uint32_t remaining) {
    if (mine) *at = entry + (1u << 16);
    warp_count_down(r, m, n, entries_at, remaining);
}

/* A symbol of a model laid out for up to 33 symbols. layout is a constant. */
WARP_INLINE uint32_t warp_read_flat(warp_reader *r, warp_model *m, uint32_t n, uint32_t layout) {
    const uint32_t step = r->length >> WARP_SHARE_BITS, lanes = n < CUDA_WARP ? n : CUDA_WARP;
    uint32_t *at = m + WARP_ENTRIES_AT(layout) + (r->lane < lanes ? r->lane : lanes - 1);
    const uint32_t remaining = m[WARP_LEFT] - 1;
    uint32_t entry = *at, bound = warp_bound(entry, step), symbol = warp_last_reached(r, bound, lanes), owner = symbol;
    uint32_t from = warp_broadcast(bound, symbol), to = warp_broadcast(bound, symbol + 1);
    if (layout > CUDA_WARP && n > CUDA_WARP && symbol == CUDA_WARP - 1) { /* or the one that no lane has: it is 32 */
        const uint32_t last_entry = m[WARP_ENTRIES_AT(layout) + CUDA_WARP];
        to = warp_bound(last_entry, step);
        if (to <= r->value) {
            at = m + WARP_ENTRIES_AT(layout) + CUDA_WARP;
            entry = last_entry;
            from = to;
            symbol = CUDA_WARP;
        }
    }
    warp_narrow(r, from, symbol + 1 == n ? r->length : to); /* the last gets what rounding left over */
    warp_note(r, m, n, WARP_ENTRIES_AT(layout), at, entry, r->lane == owner, remaining);
    return symbol;
}

/* A symbol of a model of more; or of fewer in the same layout: n is no constant then. First its block of 16. */
WARP_INLINE uint32_t warp_read_deep(warp_reader *r, warp_model *m, uint32_t n, uint32_t layout) {
    const uint32_t step = r->length >> WARP_SHARE_BITS, remaining = m[WARP_LEFT] - 1;
    uint32_t first = 0; /* of the block */
    if (n > 16) {
        const uint32_t blocks = (n + 15) / 16, lanes = blocks < CUDA_WARP ? blocks : CUDA_WARP;
        const uint32_t low = m[WARP_HEAD + (r->lane < lanes ? r->lane : lanes - 1)];
        first = 16 * warp_last_reached(r, warp_bound(low, step), lanes);
        if (layout > 16 * CUDA_WARP && first == 16 * (CUDA_WARP - 1)) {
            if (warp_bound(m[WARP_HEAD + CUDA_WARP], step) <= r->value) first += 16;
        }
    }
    const uint32_t rest = n - first < 16 ? n - first : 16; /* symbols of the block */
    uint32_t *at = m + WARP_ENTRIES_AT(layout) + first + (r->lane < rest ? r->lane : rest);
    const uint32_t entry = *at, bound = warp_bound(entry, step);
    const uint32_t place = warp_last_reached(r, bound, rest), symbol = first + place;
    const uint32_t from = warp_broadcast(bound, place), to = warp_broadcast(bound, place + 1);
    warp_narrow(r, from, symbol + 1 == n ? r->length : to);
    warp_note(r, m, n, WARP_ENTRIES_AT(layout), at, entry, r->lane == place, remaining);
    return symbol;
}

/* A symbol of a model of n symbols; n is a constant. */
WARP_INLINE uint32_t warp_read_symbol(warp_reader *r, warp_model *m, uint32_t n) {
    return n <= WARP_FLAT_MAX ? warp_read_flat(r, m, n, n) : warp_read_deep(r, m, n, n);
}

WARP_INLINE uint32_t warp_read_bit(warp_reader *r, warp_model *m) {
    const uint32_t remaining = m[WARP_LEFT] - 1, middle = m[WARP_BIT_SHARE] * (r->length >> WARP_BIT_SHARE_BITS);
    const bool bit = r->value >= middle;
    warp_narrow(r, bit ? middle : 0, bit ? r->length : middle);
    if (r->lane == 0 && !bit) m[WARP_BIT_ZEROS]++;
    __syncwarp(); /* all have read how many are left */
    warp_count_down(r, m, 0, 0, remaining);
    return bit;
}

/* 1 to 19 raw bits. */
WARP_INLINE uint32_t warp_read_short_bits(warp_reader *r, uint32_t bits) {
    r->length >>= bits;
    uint32_t read = r->value / r->length;
    if (read >> bits != 0) {
        r->bad = true;
        read = r->value = 0;
    }
    r->value -= read * r->length;
    warp_fill(r);
    return read;
}

/* 1 to 32 raw bits. */
WARP_INLINE uint32_t warp_read_bits(warp_reader *r, uint32_t bits) {
    uint32_t read = 0, done = 0;
    CUDA_ROLLED do {
        const uint32_t count = bits - done > 19 ? 16 : bits - done;
        read |= warp_read_short_bits(r, count) << done;
        done += count;
    }
    while (done < bits)
        ;
    return read;
}

/* ---- integers */

typedef struct warp_integer {
    warp_model widths[WARP_CONTEXTS_MAX][WARP_MODEL_WORDS(WARP_WIDTHS_MAX)];
    warp_model correctors[WARP_WIDTHS_MAX][WARP_MODEL_WORDS(LAZ_BYTE_SYMBOLS)]; /* of k = 0: a bit */
} warp_integer;

WARP_INLINE uint32_t warp_corrector_symbols(uint32_t k) {
    return 1u << (k < WARP_MODELLED_BITS ? k : WARP_MODELLED_BITS);
}

WARP_CALLED void warp_start_integer(warp_integer *m, uint32_t width, uint32_t contexts, uint32_t lane) {
    warp_start_models(m->widths[0], contexts, width + 1, WARP_WIDTHS_MAX, lane);
    warp_start_bit(m->correctors[0], lane);
    CUDA_ROLLED for (uint32_t k = 1; k <= width; k++) {
        warp_start_models(m->correctors[k], 1, warp_corrector_symbols(k), LAZ_BYTE_SYMBOLS, lane);
    }
}

/* The difference of k bits. */
WARP_INLINE uint32_t warp_read_corrector(warp_reader *r, warp_integer *m, uint32_t k) {
    if (k == 0) return warp_read_bit(r, m->correctors[0]);
    if (k == 32) return 0x80000000u;
    uint32_t difference = warp_read_deep(r, m->correctors[k], warp_corrector_symbols(k), LAZ_BYTE_SYMBOLS);
    if (k > WARP_MODELLED_BITS) {
        const uint32_t raw = k - WARP_MODELLED_BITS;
        difference = difference << raw | warp_read_bits(r, raw);
    }
    return difference + (difference >= 1u << (k - 1) ? 1u : 1u - (1u << k));
}

/* An integer of width bits, 16 or 32, and in *k the bits of its difference. */
WARP_INLINE uint32_t warp_read_integer(warp_reader *r, warp_integer *m, uint32_t width, uint32_t context,
                                       uint32_t predicted, uint32_t *k) {
    *k = warp_read_flat(r, m->widths[context], width + 1, WARP_WIDTHS_MAX);
    const uint32_t value = predicted + warp_read_corrector(r, m, *k);
    return width < 32 ? value & 0xFFFFu : value;
}

#endif
