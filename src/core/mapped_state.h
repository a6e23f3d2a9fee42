/* Whether a file that is mapped is still what it was. */
#ifndef MOTE_MAPPED_STATE_H
#define MOTE_MAPPED_STATE_H

#include <sys/stat.h>

#include "core/core.h"
#include "core/guarded_range.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mote_mapped_file {
    void *memory;
    uint64_t size_bytes;
    guarded_range *guard;
    char *path;
    dev_t device; /* which file it is, and its state when it was mapped */
    ino_t inode;
    struct timespec modified;
    mote_mapped_file *previous, *next; /* in the list of the context */
};

/* Writes what happened to the file to why, which has MOTE_MESSAGE_BYTES: MOTE_ERROR_CHANGED, MOTE_ERROR_IO (it could
   not be read), or MOTE_OK if nothing did. */
mote_status mote_mapped_explain(const struct mote_mapped_file *mapped, char *why);
/* Explains the first of the files that ctx has mapped to which something happened. The lock of ctx is held. */
mote_status mote_mapped_explains(const mote_context *ctx, char *why);

#ifdef __cplusplus
}
#endif
#endif
