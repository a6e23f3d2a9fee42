/* The command mote: finds the sub-command and runs it. main is in start.c. */
#define _GNU_SOURCE /* fcntl */
#include <errno.h>
#include <fcntl.h>
#include <mote/mote.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "pages.h"
#include "print.h"
#include "text.h"

static const command_entry commands[] = {
    {"info", cmd_info, "what is in a file: points, box, attributes, CRS, density"},
    {"convert", cmd_convert, "from format to format; choose attributes, bounds, every n-th point"},
    {"gen", cmd_gen, "make a synthetic cloud: city, room, torus, …"},
    {"lod", cmd_lod, "make a level-of-detail octree (Potree 2.0, COPC) for the web"},
    {"knn", cmd_knn, "nearest neighbours of every point, as numpy arrays"},
    {"normals", cmd_normals, "normals, curvature and density of every point"},
    {"outliers", cmd_outliers, "remove or mark points that stand alone"},
    {"planes", cmd_planes, "planes of a room or a building, and the points on them"},
    {"measure", cmd_measure, "volumes, areas and profiles, of all points inside"},
    {"render", cmd_render, "pictures of a cloud, without a window"},
    {"photon", cmd_photon, "pictures of light: photon mapping"},
    {"run", cmd_run, "a pipeline of stages, in memory, as PDAL has them"},
    {"view", cmd_view, "look at a cloud in the browser"},
    {"bench", cmd_bench, "measure, beside published figures"},
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

const command_entry *commands_all(size_t *count) {
    *count = COMMAND_COUNT;
    return commands;
}

static void print_overview(FILE *to) {
    print_to(to,
             "mote %s: a point-cloud engine\n\n"
             "Usage: mote COMMAND inputs -o output [options]\n\n"
             "Examples:\n"
             "  mote info scan.las --stats\n"
             "  mote lod scan.las -o scan.mote && mote view scan.mote\n"
             "  mote convert scan.mote -o back.las\n\n"
             "Commands:\n",
             mote_version());
    for (size_t i = 0; i < COMMAND_COUNT; i++) print_to(to, "  %-10s%s\n", commands[i].name, commands[i].line);
    print_to(to, "\n\"mote help COMMAND\" explains one. \"mote --version\" prints the version.\n"
                 "\"mote help --completion bash\", zsh or fish prints what a shell completes by, and\n"
                 "\"mote help --man COMMAND\" a manual page.\n");
}

static const command_entry *find_command(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    }
    return NULL;
}

static int unknown_command(const char *name) {
    const char *names[COMMAND_COUNT + 2];
    for (size_t i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    names[COMMAND_COUNT] = "help";
    names[COMMAND_COUNT + 1] = NULL;
    const char *near = text_nearest(name, names);
    if (near != NULL) return usage_error("", "there is no command \"%s\"; did you mean \"%s\"?", name, near);
    return usage_error("", "there is no command \"%s\"", name);
}

static int show_help(int argc, char **argv) {
    if (argc == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    if (argv[0][0] == '-') return pages_print(argc, argv);
    const command_entry *found = find_command(argv[0]);
    if (found == NULL) return unknown_command(argv[0]);
    char flag[] = "--help";
    char *words[] = {argv[0], flag, NULL};
    return found->run(2, words);
}

/* Where standard input or output is closed, the next file that is opened would get its number, and be read or written
   in its place. What takes the number instead can be neither. */
static void keep_standard_files(void) {
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++) {
        if (fcntl(file, F_GETFD) >= 0 || errno != EBADF) continue;
        const int taken = open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        if (taken >= 0 && taken != file) close(taken);
    }
}

static int run_words(int argc, char **argv) {
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "help") == 0) return show_help(argc - 2, argv + 2);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return show_help(0, NULL);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        print_out("mote %s\n", mote_version());
        return EXIT_DONE;
    }
    if (word[0] == '-') return usage_error("", "the command comes first, before \"%s\"", word);
    const command_entry *found = find_command(word);
    return found != NULL ? found->run(argc - 1, argv + 1) : unknown_command(word);
}

int command_run(int argc, char **argv) {
    keep_standard_files();
    signal(SIGXFSZ, SIG_IGN); /* whatever writes past a limit of size is told so, and cleans up */
    const int code = run_words(argc, argv);
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != EXIT_DONE) return code;
    print_to(stderr, "mote: error: standard output: cannot write all of the result\n");
    return EXIT_RESOURCES;
}
