/* What can go wrong with the paths of a command before any work is done. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "session.h"

/* Refuses an output file that is an input (by name, link or inode), lies in no folder, is a folder itself, or has an
   ending that mote cannot write. Inputs may be patterns and folders. Returns an exit code. */
int check_output_file(session *s, const char *const *inputs, int input_count, const char *output);
/* The same for an output whose ending the caller knows. */
int check_output_place(session *s, const char *const *inputs, int input_count, const char *output);
/* Refuses an output folder that is an input or contains one. */
int check_output_folder(session *s, const char *const *inputs, int input_count, const char *output);

#endif
