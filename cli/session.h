/* One run of a command: its context, messages, cancellation and exit code. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <mote/mote.h>
#include <stdio.h>

#include "command.h"
#include "options.h"
#include "progress.h"

#define SESSION_INPUTS 4 /* lists of inputs that a command reads: a cloud, its queries, and a margin */

typedef struct session {
    const char *command;
    common_options options;
    mote_context *ctx;
    progress_bar bar;
    double started;
    const char *const *inputs[SESSION_INPUTS]; /* what session_read was asked for, the last time first */
    int input_counts[SESSION_INPUTS];
    bool extra_bytes;              /* a warning was of attributes that become extra bytes of LAS */
    char refusal[256];             /* why there is no context */
    char noted[400];               /* the last note of the library */
    struct message_list *messages; /* with --json: what the library told; stages share it */
    bool has_several_gpus;         /* --device names more than one */
    uint64_t enough_bytes;         /* --memory that it would go with; 0: not known */
    bool enough_in_parts;          /* in parts, that is */
    void (*watch)(void *user, double done, const char *stage); /* told of progress beside the bar; NULL: nobody is */
    void *watch_user;
    bool data_on_stdout; /* standard output is for the points or neighbours; see session_printing */
} session;

/* Makes the context from the common options and catches SIGINT, SIGTERM and SIGHUP (one that comes later kills).
   Returns EXIT_DONE or explains and returns another code; session_close is needed either way. */
int session_open(session *s, const char *command, const common_options *options);

/* From here on the outputs of the command wait, so that they appear together, and only where nothing can fail any more.
   Returns an exit code. */
int session_hold(session *s);
/* Puts all that was written in place, or, where that fails, nothing: the last step before a command says what it did.
   Returns an exit code. */
int session_commit(session *s);

/* Takes the bar away, removes outputs that still wait, prints what --verbose asks for, frees the context; makes sure
   that standard output arrived. Returns the exit code. */
int session_close(session *s, int exit_code);

/* Prints the context's error and returns the exit code for it. reading: a file error is the input's fault. */
int session_fail(session *s, mote_status status, bool reading);
/* An error of the command's own. */
__attribute__((format(printf, 3, 4))) int session_error(session *s, int exit_code, const char *format, ...);
/* "mote: note: …", unless --quiet. */
__attribute__((format(printf, 2, 3))) void session_note(session *s, const char *format, ...);
/* A plain line on standard error, unless --quiet. */
__attribute__((format(printf, 2, 3))) void session_say(session *s, const char *format, ...);

/* Before a result is printed, when the output is complete: where standard output carried that, what is printed from
   here on goes to standard error. */
void session_printing(const session *s);

/* Whether the user asked to stop; for loops of the command's own. */
bool session_cancelled(void);
/* Stops all contexts of the program at their next step, as a signal of the user does. */
void session_cancel(void);

/* Opens a file that the command reads by itself: no output of it may take its place. NULL and errno. */
FILE *session_open_file(session *s, const char *path);
/* Notes paths, which stay where they are, as inputs: a failure that begins with one of these names is theirs. */
void session_note_inputs(session *s, const char *const *paths, int count);
/* Forgets noted paths that do not stay where they are, before they go. */
void session_forget_inputs(session *s);
/* How the command reads points: of all inputs those that --where is for, in the systems
   that --crs and --to-crs ask for. */
mote_read_params session_reading(const session *s);
/* Reads one or several inputs into one cloud, and notes them; params NULL: as session_reading has it. Returns an exit
   code. */
int session_read(session *s, const char *const *paths, int count, const mote_read_params *params, mote_cloud **out);
/* Reads for a caller that tells by itself that no point was found. */
int session_read_any(session *s, const char *const *paths, int count, const mote_read_params *params, mote_cloud **out);
/* Notes that no point of the input met --where, if there is one. */
void session_note_none(session *s, const char *path, const mote_read_params *params);

#endif
