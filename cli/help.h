/* The help of a command, laid out for a terminal of 80 columns. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "options.h"

/* rows  [row_count] of the table, the first own_count of them the command's own */
void help_print(const command_help *help, const option *rows, int own_count, int row_count);

#endif
