/* Instead of src/core/core.h: the names that the headers of the LAZ codec use. Decoding calls none of these functions,
   and what does is left out when linking. */
#ifndef MOTE_CORE_H
#define MOTE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mote/context.h"

#define MOTE_TRY(call) ((void)(call))

void *mote_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure);
bool mote_reserve(mote_context *ctx, void **memory, uint64_t *capacity, uint64_t count, uint64_t element_bytes,
                  const char *structure);
void mote_free(mote_context *ctx, void *memory);

#endif
