/* A file mapped into memory. Another process may cut or overwrite the file meanwhile: what is read then may be zeros or
   newer bytes, and a check tells. Results that were made from a mapped file are given out only after a check. */
#ifndef MOTE_MAPPED_FILE_H
#define MOTE_MAPPED_FILE_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stat;

/* Maps a whole file, not empty, that is open for reading; info is what fstat says of it. The file may be closed then.
   Returns  MOTE_OK, MOTE_ERROR_IO, MOTE_ERROR_MEMORY */
mote_status mote_file_map(mote_context *ctx, const char *path, int file, const struct stat *info,
                          mote_mapped_file **out);
/* NULL is allowed. */
void mote_file_unmap(mote_context *ctx, mote_mapped_file *mapped);
const uint8_t *mote_mapped_bytes(const mote_mapped_file *mapped);

/* MOTE_ERROR_IO, with file and offset, if something of the file was missing, or if it is no longer what it was when it
   was mapped. A file that another one has taken the name of is still there for those who mapped it. */
mote_status mote_mapped_check(mote_context *ctx, const mote_mapped_file *mapped);
/* Checks all files that ctx has mapped now: a result must not come out of one that changed. */
mote_status mote_mapped_check_all(mote_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
