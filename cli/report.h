/* What a command that wrote a cloud says about it. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "session.h"

/* One line on standard error; with --hash the checksum of the file as it reads back, with --json all of it, on
   standard output. Returns an exit code. */
int report_output(session *s, const char *path, uint64_t points);

#endif
