/* Manual pages. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include <stddef.h>

#include "command.h"
#include "options.h"

/* The page of a command: mote-lod(1). */
void manual_print(const command_entry *of, const option_table *table);
/* The page of all: mote(1). */
void manual_print_overview(const command_entry *commands, size_t count);

#endif
