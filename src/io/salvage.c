/* What readers say where a file holds fewer points than it states. */
#include <inttypes.h>

#include "io/io_internal.h"

void mote_warn_of_loss(mote_context *ctx, const mote_input *input, uint64_t offset, uint64_t kept, uint64_t stated) {
    mote_warn(
        ctx, "%s: offset %" PRIu64 ": %" PRIu64 " of %" PRIu64 " points are missing from here on; %" PRIu64 " are kept",
        input->path, offset, stated - kept, stated, kept);
}

mote_status mote_nothing_whole(mote_context *ctx, const mote_input *input, uint64_t offset, uint64_t stated) {
    return mote_malformed(ctx, input, offset, "not one of %" PRIu64 " points is whole; nothing is left to be salvaged",
                          stated);
}
