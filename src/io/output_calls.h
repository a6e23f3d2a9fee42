/* The calls that change a file, without the signals that some of their failures raise: SIGPIPE (nobody reads the pipe)
   and SIGXFSZ (the limit of "ulimit -f"), either of which ends the program unless it handles them. These calls only
   set errno (EPIPE, EFBIG), and leave the handlers and the mask of the caller as they are. Otherwise as the calls
   whose names they carry. All writing of the library goes through them. */
#ifndef MOTE_OUTPUT_CALLS_H
#define MOTE_OUTPUT_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

ssize_t output_call_write(int file, const void *data, size_t size_bytes);
ssize_t output_call_pwrite(int file, const void *data, size_t size_bytes, uint64_t offset);
int output_call_truncate(int file, uint64_t size_bytes);
/* Gives bytes of a scratch file that nobody needs any more back to the disk; the file stays as long as it is. False:
   nothing was given back, as the file system cannot, or the file is open for reading alone, whose bytes others need. */
bool output_give_back(int file, uint64_t offset, uint64_t size_bytes);
/* fallocate of bytes [offset, offset + size_bytes). */
int output_call_allocate(int file, uint64_t offset, uint64_t size_bytes);

#endif
