/* A command that reads inputs and writes at most one output: from its words to its exit code. */
#ifndef CLI_IO_COMMAND_H
#define CLI_IO_COMMAND_H

#include "paths.h"

typedef struct io_command {
    const command_help *help;
    const option *rows;   /* their targets lie in the options */
    bool output_optional; /* a single word is an input */
    /* Whether the options go together, and what they mean: an exit code. */
    int (*check)(void *options, const common_options *common, const io_paths *paths);
    int (*run)(session *s, const void *options, const io_paths *paths);
} io_command;

/* Parses the line, checks it, opens a session, runs and closes it. argv[0] is the name of the command. */
int io_command_run(const io_command *command, void *options, int argc, char **argv);

#endif
