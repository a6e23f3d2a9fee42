/* A command as a stage of a pipeline, or as something whose options are asked for.
 *
 * A command knows its table of options only while it runs, because the rows point into its own variables. So whoever
 * wants the table, or has options that are no words of a line, calls the command while a command_stage is set: it gets
 * the table in place of the words, the command reads the stage's cloud in place of files, and what it would write to a
 * file it leaves with the stage.
 */
#ifndef CLI_STAGE_H
#define CLI_STAGE_H

#include <mote/mote.h>

#include "options.h"

struct session;

#define STAGE_STOP (-1) /* in place of an exit code: all that was wanted has been done */

typedef struct command_stage {
    /* Called by options_parse with the table, in place of parsing words. */
    parse_result (*take)(struct command_stage *stage, const option_table *table, common_options *common,
                         arguments *out);
    void *user;
    const char *place;     /* of messages: "pipeline.json: /2: "; "" if there is none */
    struct session *outer; /* of the pipeline, whose context all stages share; NULL where none is needed */
    struct session *inner; /* of the command while it runs */
    bool check_only;       /* the command stops when its options are found to be right */
    bool hands_on;         /* its output is a cloud, for the next stage, and no file */
    const char *title;     /* what its only input is called: the stages before */
    mote_cloud *cloud;     /* what it reads */
    mote_cloud *result;    /* what it hands on: cloud, or another one */
    bool gives;            /* the command may change and free the cloud: it is nobody's afterwards */
} command_stage;

/* The stage that is set; NULL: commands have lines of words. The program has one, for its commands take turns. */
command_stage *stage_now(void);
void stage_set(command_stage *stage);

/* The place to name in front of an error; "" if there is none. */
const char *stage_place(void);
/* Whether the command is a stage that hands a cloud on, and so has no output file. */
bool stage_hands_on(void);
/* Leaves the output with the stage, if there is one that hands on. Returns whether it did. */
bool stage_take_result(const mote_cloud *cloud);
/* Frees a cloud of a command, unless a stage has it. */
void stage_drop(mote_cloud *cloud);

#endif
