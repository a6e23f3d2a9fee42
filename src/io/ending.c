/* Which format, and which variant of it, a path or the parameters name by an ending. */
#include <strings.h>

#include "io/io_internal.h"

bool mote_path_has_ending(const char *path, const char *ending) {
    const size_t length = strlen(path), tail = strlen(ending);
    if (length < tail) return false;
    for (size_t i = 0; i < tail; i++) {
        const char c = path[length - tail + i];
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != ending[i]) return false;
    }
    return true;
}

bool mote_writes_as(const char *path, const mote_write_params *params, const char *ending) {
    return params->format != NULL ? strcasecmp(params->format, ending + 1) == 0 : mote_path_has_ending(path, ending);
}
