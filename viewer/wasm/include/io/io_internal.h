/* Instead of src/io/io_internal.h: what the LAZ codec and what reads reference systems need of it, which is only names.
 */
#ifndef MOTE_IO_INTERNAL_H
#define MOTE_IO_INTERNAL_H

#include "core/cloud.h"

/* Used by what reads the header of a file, which is left out when linking. */
typedef struct mote_input {
    const uint8_t *data;
} mote_input;
typedef struct mote_output mote_output;
mote_status mote_malformed(mote_context *ctx, const mote_input *input, uint64_t offset, const char *format, ...);

#endif
