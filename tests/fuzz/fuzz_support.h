/* What the fuzz targets share: a context, clouds of any bytes, a scratch file, and "what was written reads the
   same". */
#ifndef MOTE_FUZZ_SUPPORT_H
#define MOTE_FUZZ_SUPPORT_H

#include "io/io_internal.h"
#include "mote/mote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A context of one thread. */
mote_context *fuzz_context(void);
/* A cloud whose records are three values of a type, read wherever the input lies: positions, and normals that have the
   same bytes. The type is head[0]; scales are head[2], or one an axis from head[2] on if head[1] is odd; offsets
   head[5]. most: points. */
mote_cloud *fuzz_cloud(mote_context *ctx, const uint8_t *head, const uint8_t *positions, size_t size, uint64_t max);
/* A file of that name in a scratch folder, which goes at exit. One name per target. */
const char *fuzz_path(const char *name);
/* Ends the target with a message unless holds. */
void fuzz_require(mote_context *ctx, bool holds, const char *what);
/* Reads the bytes with salvage, and looks at every value. */
typedef mote_status fuzz_reader(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out);
void fuzz_salvage(mote_context *ctx, fuzz_reader *read, const uint8_t *data, size_t size);
/* Every value of a cloud is looked at. */
void fuzz_touch(mote_context *ctx, const mote_cloud *cloud);
/* Same count, names, types, scales, offsets and values; NaN equals NaN. */
void fuzz_require_same(mote_context *ctx, const mote_cloud *a, const mote_cloud *b);
/* Destroys cloud (may be NULL) and ctx; nothing may be left. */
void fuzz_end(mote_context *ctx, mote_cloud *cloud);

#endif
