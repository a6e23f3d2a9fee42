/* Completion for shells: scripts in which the tables of options stand. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include <stddef.h>

#include "command.h"
#include "options.h"

#define COMPLETION_PASSES 2

/* How a script for a shell is made: some shells want one table of all commands after the other. */
typedef struct completion_shell {
    const char *name;
    int passes;
    void (*begin)(const command_entry *commands, size_t count);
    void (*begin_pass)(int pass);
    void (*print[COMPLETION_PASSES])(const command_entry *of, const option_table *table);
    void (*end)(void);
} completion_shell;

/* "bash", "zsh", "fish"; NULL: another. */
const completion_shell *completion_find(const char *name);

#endif
