/* A file that is written beside the one that it replaces, and takes that one's name when complete. */
#ifndef MOTE_OUTPUT_FILE_H
#define MOTE_OUTPUT_FILE_H

#include "io/outputs.h"

typedef struct output_file {
    char *path;      /* what messages call it */
    char *name;      /* final, within the folder */
    char *temporary; /* [NAME_MAX + 1]; "": there is no such file */
    int folder;      /* where both are, open; -1: it is not */
    bool is_shared;  /* the folder is another's to close */
    bool is_swapped; /* it has the final name, and what had that before has the temporary one */
    bool is_taken;   /* it has the final name */
    bool is_lost;    /* what had that before is there no more */
} output_file;

extern const output_naming output_file_naming;

#endif
