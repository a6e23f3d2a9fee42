/* The inputs and the output of a command, and what can go wrong with them before any work is done.
   -o OUT names the output anywhere in the line, and may replace what is there. Without it the last word is the output;
   as it may as well be an input whose output was forgotten, it replaces nothing, unless --force is given. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "session.h"

typedef struct io_paths {
    const char *const *inputs; /* [input_count] files, folders and patterns */
    int input_count;
    const char *output; /* NULL: none */
    const char *format; /* of --format; NULL: as the ending of output says */
    bool may_replace;   /* what is there: the output has an option of its own, or --force was given */
} io_paths;

/* Divides the words of a command line. output_optional: a single word is an input. Returns an exit code; EXIT_USAGE,
   and why, where there is no input or no output. */
int io_paths_take(const char *command, const common_options *common, const arguments *words, bool output_optional,
                  io_paths *paths);

/* Notes, once, that two of the inputs, or files of their folders and patterns, are one file, whatever name or link
   leads to it: its points are read twice, which is seldom meant. */
void note_same_inputs(session *s, const io_paths *paths);

/* The format that the output is written in: "las" (LAZ, too), "ply", "pcd", "xyz" (all text); NULL if mote writes none
   of that name. */
const char *io_paths_format(const io_paths *paths);
/* Whether the output ends so (".npz"), or --format says so. */
bool io_paths_written_as(const io_paths *paths, const char *ending);
/* Whether a name stands for a pipe, a device or what the caller has opened ("-"): it is written to, not replaced. */
bool path_is_stream(const char *path);
/* What messages call it: "standard output" for "-". */
const char *path_title(const char *output);

/* Refuses an output file that is a folder, or an input (by name, link or inode), exists and may not be replaced, lies
   in no folder, or has an ending that mote cannot write. Returns an exit code. */
int check_output_file(session *s, const io_paths *paths);
/* Refuses what check_output_file refuses, except for the ending, which the caller knows to be right. */
int check_output_place(session *s, const io_paths *paths);
/* A file that an option names. */
typedef struct named_file {
    const char *option; /* "--depth" */
    const char *path;   /* NULL: the option is not given */
    bool is_input;
} named_file;

/* Refuses two outputs, or an input and an output, that are one file, whatever links lead there, also where it does not
   exist yet. Returns an exit code. */
int check_distinct(session *s, const named_file *files, size_t count);

/* Refuses an output folder that is an input or contains one, exists and may not be replaced, is called like a file, or
   holds anything but a Potree data set. */
int check_output_folder(session *s, const io_paths *paths);

#endif
