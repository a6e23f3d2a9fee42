/* The commands of mote: each is one function, called with its own name as argv[0], returning the exit code. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stddef.h>

/* Exit codes; docs/command.md explains them. */
enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INPUT = 3,
    EXIT_RESOURCES = 4,
    EXIT_CANCELLED = 130,
};

/* A sub-command. */
typedef struct command_entry {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *line; /* what it does */
} command_entry;

/* Returns all sub-commands, in the order of the overview. */
const command_entry *commands_all(size_t *count);

/* Runs the sub-command that argv[1] names. */
int command_run(int argc, char **argv);

int cmd_info(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_gen(int argc, char **argv);
int cmd_lod(int argc, char **argv);
int cmd_knn(int argc, char **argv);
int cmd_normals(int argc, char **argv);
int cmd_outliers(int argc, char **argv);
int cmd_planes(int argc, char **argv);
int cmd_measure(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_photon(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_bench(int argc, char **argv);

#endif
