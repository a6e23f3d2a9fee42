/* What a command that wrote a cloud says about it. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "session.h"

/* Puts the output in place and says so: one line on standard error; with --hash the checksum of the file as it reads
   back, with --json all of it, on standard output. Returns an exit code. */
int report_output(session *s, const char *path, uint64_t points);

/* The checksum of a file's content: it is read again, for the checksum speaks of what a reader will get, not of what
   was meant. Returns an exit code. */
int report_hash(session *s, const char *path, uint64_t *hash);
/* Returns the size of a file; 0 if there is none. */
uint64_t report_bytes(const char *path);

#endif
