/* Pages for the site of make docs. */
#ifndef CLI_MARKDOWN_H
#define CLI_MARKDOWN_H

#include <stddef.h>

#include "command.h"
#include "options.h"

/* The page of a command. */
void markdown_print(const command_entry *of, const option_table *table);
/* The page of all: a table of the commands, which links to mote-COMMAND.md. */
void markdown_print_overview(const command_entry *commands, size_t count);

#endif
