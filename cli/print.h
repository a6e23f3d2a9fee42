/* What the command prints for people, on standard output and standard error: all of it goes through here.
 *
 * Names and texts come from files, and from whoever named them: a terminal would take an ESC in one as a command, a
 * line break would look like a line of ours, and characters that turn the direction of writing would show other names
 * than there are. So what values hold is shown escaped, as \x1b, \n or \u202e; only the line breaks that stand in the
 * format are line breaks. The library hands texts on as they are, because other programs quote them in other ways. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <stdarg.h>
#include <stdio.h>

/* These print as printf and its kin do, with what values hold escaped. */
__attribute__((format(printf, 1, 2))) void print_out(const char *format, ...);
__attribute__((format(printf, 2, 3))) void print_to(FILE *to, const char *format, ...);
__attribute__((format(printf, 2, 0))) void print_values(FILE *to, const char *format, va_list values);

#endif
