/* The item BYTE: extra bytes, each predicted from the same byte of the point before.
   Source: M. Isenburg, LASzip, 2013. Version 1 is only read. */
#ifndef MOTE_LAZ_BYTE_H
#define MOTE_LAZ_BYTE_H

#include "io/laz/laz_integer.h"

/* Memory that count extra bytes need behind the state: a model and the last value of each. */
#define LAZ_EXTRA_MODEL_BYTES  (LAZ_MODEL_WORDS(256) * sizeof(laz_model))
#define LAZ_EXTRA_BYTES(count) ((count) * (LAZ_EXTRA_MODEL_BYTES + 1))

typedef struct laz_byte {
    uint32_t count;
    laz_model *models; /* [count] of LAZ_MODEL_WORDS(256) words; in version 1 the models of k */
    uint8_t *last;
    laz_integer differences; /* version 1 */
} laz_byte;

static inline laz_model *laz_byte_model(const laz_byte *b, uint32_t i) {
    return b->models + (uint64_t)i * LAZ_MODEL_WORDS(256);
}

/* memory: LAZ_EXTRA_BYTES(count), 32-byte aligned. */
static inline void laz_byte_start(laz_byte *b, uint32_t version, uint32_t count, void *memory, const uint8_t *record) {
    b->count = count;
    b->models = memory;
    b->last = (uint8_t *)memory + count * LAZ_EXTRA_MODEL_BYTES;
    memcpy(b->last, record, count);
    if (version == 1) laz_integer_start(&b->differences, 8, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (version == 1) mote_laz_model_start(laz_byte_model(b, i), 9, LAZ_WIDTHS_MAX);
        if (version == 2) mote_laz_model_start(laz_byte_model(b, i), 256, 256);
    }
}

static inline void laz_byte_read_v2(laz_reader *r, laz_byte *b) {
    for (uint32_t i = 0; i < b->count; i++)
        b->last[i] = (uint8_t)(b->last[i] + laz_read_symbol(r, laz_byte_model(b, i), 256));
}

static inline void laz_byte_read_v1(laz_reader *r, laz_byte *b) {
    uint32_t bits;
    for (uint32_t i = 0; i < b->count; i++) {
        b->last[i] = (uint8_t)laz_read_integer_of(r, &b->differences, laz_byte_model(b, i), 8, b->last[i], &bits);
    }
}

static inline void laz_byte_put(const laz_byte *b, uint8_t *record) { memcpy(record, b->last, b->count); }

static inline void laz_byte_write(laz_writer *w, laz_byte *b, const uint8_t *record) {
    for (uint32_t i = 0; i < b->count; i++) {
        laz_write_symbol(w, laz_byte_model(b, i), 256, (uint8_t)(record[i] - b->last[i]));
    }
    memcpy(b->last, record, b->count);
}

#endif
