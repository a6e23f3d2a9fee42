/* What the fuzz targets of the LAZ codec share: a schema picked by bytes, selections, decoders that are used again. */
#ifndef MOTE_LAZ_FUZZ_SUPPORT_H
#define MOTE_LAZ_FUZZ_SUPPORT_H

#include "fuzz/fuzz_support.h"
#include "io/laz/laz.h"

/* The first bytes of an input. */
typedef struct laz_fuzz_head {
    uint8_t format;      /* 0 to 10 */
    uint8_t extra_bytes; /* see laz_fuzz_schema */
    uint8_t versions;    /* bit i: item i in its other version */
    uint8_t own[5];      /* the target's */
} laz_fuzz_head;

/* One context for all inputs. */
mote_context *laz_fuzz_context(void);
/* Takes the head off the input; false if it is too short. */
bool laz_fuzz_head_take(const uint8_t **data, size_t *size, laz_fuzz_head *head);
/* The schema of a head, which the reader accepts. */
void laz_fuzz_schema(const laz_fuzz_head *head, laz_schema *schema);
/* Only these LAZ_WANT_… parts, and what is always decoded, in runs packed one behind the other. */
void laz_fuzz_selection(const laz_schema *schema, uint32_t wanted, laz_selection *selection);

/* The last decoder made; inputs that follow each other are often of one schema. */
typedef struct laz_fuzz_cache {
    laz_schema schema;
    laz_selection selection;
    laz_decoder *decoder;
} laz_fuzz_cache;
laz_decoder *laz_fuzz_decoder(laz_fuzz_cache *cache, const laz_schema *schema, const laz_selection *selection);

#endif
