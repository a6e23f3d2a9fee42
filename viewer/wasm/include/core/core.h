/* Instead of src/core/core.h: the names that the LAZ codec and measuring use. Decoding calls none of these functions,
   and what is not called is left out when linking; measure.c has those that measuring calls. */
#ifndef MOTE_CORE_H
#define MOTE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mote/context.h"

#define MOTE_TRY(call)                                                                                                 \
    do {                                                                                                               \
        const mote_status try_status = (call);                                                                         \
        if (try_status != MOTE_OK) return try_status;                                                                  \
    } while (0)

/* Keeps the message as it is, without the values in it. */
mote_status mote_fail(mote_context *ctx, mote_status status, const char *format, ...);
void *mote_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure);
void *mote_alloc_zero(mote_context *ctx, uint64_t size_bytes, const char *structure);
bool mote_reserve(mote_context *ctx, void **memory, uint64_t *capacity, uint64_t count, uint64_t element_bytes,
                  const char *structure);
void mote_free(mote_context *ctx, void *memory);
char *mote_strdup(mote_context *ctx, const char *text);
void mote_warn(mote_context *ctx, const char *format, ...);

#endif
