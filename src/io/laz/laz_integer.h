/* Integers coded as the difference from a prediction: first k, the number of bits that the difference needs, in a model
   chosen by the caller's context; then the difference among those of k bits, its highest 8 bits modelled, the rest raw.
   Source: M. Isenburg, LASzip, 2013. */
#ifndef MOTE_LAZ_INTEGER_H
#define MOTE_LAZ_INTEGER_H

#include "io/laz/laz_reader.h"
#include "io/laz/laz_writer.h"

#define LAZ_CONTEXTS_MAX  22u
#define LAZ_MODELLED_BITS 8u
#define LAZ_CORRECTOR_MAX 256u /* symbols of a corrector */
#define LAZ_WIDTHS_MAX    33u  /* k is 0..32 */

/* Models of a series of integers of width bits (8, 16 or 32). */
typedef struct laz_integer {
    uint32_t width;
    _Alignas(32) laz_model widths[LAZ_CONTEXTS_MAX][LAZ_MODEL_WORDS(LAZ_WIDTHS_MAX)];
    /* Of the highest bits of the difference, by k; of k = 0, where it is 0 or 1, a bit. All laid out alike, so that
       none needs a branch of its own. */
    _Alignas(32) laz_model correctors[LAZ_WIDTHS_MAX][LAZ_MODEL_WORDS(LAZ_CORRECTOR_MAX)];
} laz_integer;

static inline uint32_t laz_corrector_symbols(uint32_t k) {
    return 1u << (k < LAZ_MODELLED_BITS ? k : LAZ_MODELLED_BITS);
}

static inline void laz_integer_start(laz_integer *m, uint32_t width, uint32_t contexts) {
    m->width = width;
    for (uint32_t c = 0; c < contexts; c++) mote_laz_model_start(m->widths[c], width + 1, LAZ_WIDTHS_MAX);
    mote_laz_bit_start(m->correctors[0], LAZ_CORRECTOR_MAX);
    for (uint32_t k = 1; k <= width; k++) {
        mote_laz_model_start(m->correctors[k], laz_corrector_symbols(k), LAZ_CORRECTOR_MAX);
    }
}

/* What differs by width: values are taken modulo 2^width. */
static inline uint32_t laz_integer_fold(uint32_t value, uint32_t width) {
    return width < 32 ? value & ((1u << width) - 1) : value;
}

/* An integer of width bits (a constant where it is called), and in *k the bits of its difference, which often serve as
   context of what follows. widths: the model of k in the caller's context. */
static inline uint32_t laz_read_integer_of(laz_reader *r, laz_integer *m, laz_model *widths, uint32_t width,
                                           uint32_t predicted, uint32_t *k_out) {
    const uint32_t k = laz_read_symbol_of(r, widths, width + 1, LAZ_WIDTHS_MAX);
    uint32_t difference;
    *k_out = k;
    if (k == 0) {
        difference = laz_read_bit(r, m->correctors[0], LAZ_CORRECTOR_MAX);
    } else if (k < 32) {
        difference = laz_read_symbol_of(r, m->correctors[k], laz_corrector_symbols(k), LAZ_CORRECTOR_MAX);
        if (k > LAZ_MODELLED_BITS) {
            const uint32_t raw = k - LAZ_MODELLED_BITS;
            difference = difference << raw | laz_read_bits(r, raw);
        }
        difference += difference >= 1u << (k - 1) ? 1u : 1u - (1u << k);
    } else {
        difference = 0x80000000u;
    }
    return laz_integer_fold(predicted + difference, width);
}

static inline uint32_t laz_read_integer(laz_reader *r, laz_integer *m, uint32_t width, uint32_t context,
                                        uint32_t predicted, uint32_t *k_out) {
    return laz_read_integer_of(r, m, m->widths[context], width, predicted, k_out);
}

/* Bits of a difference, given as two's complement of 32 bits: k such that it lies in [1 - 2^k, 2^k]. */
static inline uint32_t laz_integer_bits(uint32_t difference) {
    const uint32_t size = (int32_t)difference <= 0 ? 0u - difference : difference - 1;
    return size == 0 ? 0 : 32u - (uint32_t)__builtin_clz(size);
}

/* The inverse of laz_read_integer; returns k. */
static inline uint32_t laz_write_integer(laz_writer *w, laz_integer *m, uint32_t width, uint32_t context,
                                         uint32_t predicted, uint32_t value) {
    uint32_t difference = value - predicted;
    if (width < 32) { /* into [-2^(width-1), 2^(width-1) - 1] */
        const uint32_t half = 1u << (width - 1);
        difference = laz_integer_fold(difference + half, width) - half;
    }
    const uint32_t k = laz_integer_bits(difference);
    laz_write_symbol_of(w, m->widths[context], width + 1, LAZ_WIDTHS_MAX, k);
    if (k == 0) {
        laz_write_bit(w, m->correctors[0], LAZ_CORRECTOR_MAX, difference);
    } else if (k < 32) {
        const uint32_t place = (int32_t)difference < 0 ? difference + (1u << k) - 1 : difference - 1;
        const uint32_t raw = k > LAZ_MODELLED_BITS ? k - LAZ_MODELLED_BITS : 0;
        laz_write_symbol_of(w, m->correctors[k], laz_corrector_symbols(k), LAZ_CORRECTOR_MAX, place >> raw);
        if (raw > 0) laz_write_bits(w, raw, place & ((1u << raw) - 1));
    }
    return k;
}

#endif
