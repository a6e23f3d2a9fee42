/* Where an output goes: which file a name stands for, and under which name it is written until it is complete. */
#ifndef MOTE_OUTPUT_PLACE_H
#define MOTE_OUTPUT_PLACE_H

#include <linux/limits.h> /* those of <limits.h> are not there in plain C17 */
#include <stdbool.h>
#include <sys/stat.h>

#include "core/core.h"

/* "-" in place of a file is the standard input or output. */
bool mote_is_dash(const char *path);
/* The open descriptor that a name stands for ("-", /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N);
   -1 if it is a name of the file system. dash: what "-" is. */
int mote_path_descriptor(const char *path, int dash);

typedef enum output_kind {
    OUTPUT_CLOSED = 0,
    OUTPUT_FILE,   /* a new file beside the one that it replaces */
    OUTPUT_STREAM, /* a pipe, a device or an open descriptor, written from front to end */
    OUTPUT_SPOOL,  /* the same, once all is in a temporary file without a name */
    OUTPUT_KEPT,   /* a file that is written where it is, and stays, however that ends */
    OUTPUT_DRY_RUN /* a dry run: nothing is opened, made or written */
} output_kind;

typedef struct output_place {
    char path[PATH_MAX];    /* links followed */
    const char *name;       /* the last part of path */
    int descriptor;         /* that path stands for; -1: none */
    bool is_stream, exists; /* is_stream: it cannot be replaced, but written to */
    struct stat info;       /* of what exists */
} output_place;

/* Follows links, also to what does not exist yet. Returns 0 or errno. */
int output_place_find(const char *path, output_place *place);
/* The folder that the file lies in, open, so that it is found by any length of path; -1 and errno. */
int output_place_folder(const output_place *place);
/* The attempt-th temporary name of NAME: "NAME.PID.part", "NAME.PID-1.part" …, NAME cut where that is too long. */
void output_temporary_name(const char *name, long process, unsigned attempt, const char *ending,
                           char out[NAME_MAX + 1]);
/* Makes and opens the temporary file in the folder: a name that no other output has, the mode (and, where that is
   allowed, the owner) of the file that it is to replace. Returns it or -1 and errno. */
int output_temporary_file(int folder, const output_place *place, char temporary[NAME_MAX + 1]);
/* A temporary file without a name, in $TMPDIR or /tmp; -1 and errno. */
int output_spool_file(void);

#endif
