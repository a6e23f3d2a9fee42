/* Options of reading that mean something for some formats only: one that would do nothing for the inputs is a
   mistake. */
#ifndef CLI_READ_OPTIONS_H
#define CLI_READ_OPTIONS_H

#include "session.h"

enum {
    READ_LEVEL = 1,
    READ_RESOLUTION = 2,
    READ_COLUMNS = 4,
    READ_SEPARATOR = 8,
    READ_SALVAGE = 16,
    READ_POSES = 32,
};

/* Refuses an option among the given ones (of the enumeration above) that the inputs, files, folders and patterns, would
   ignore. Returns an exit code. */
int check_read_options(session *s, const char *const *inputs, int input_count, unsigned given);

/* "apply" or "keep", of --poses: sets *keep, which may be NULL. */
bool parse_poses(const char *word, bool *keep);

#endif
