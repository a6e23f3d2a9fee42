/* What read parameters choose of a cloud by expressions, for every format. */
#ifndef MOTE_CHOICE_H
#define MOTE_CHOICE_H

#include "io/io_internal.h"
#include "where/where_expression.h"

typedef struct mote_choice {
    mote_read_params params;                /* for the format's reader */
    const char *asked;                      /* select as the caller has it */
    where_program *condition, *assignments; /* NULL: there is none */
    char *select;                           /* also what the expressions name; NULL: params.select is as asked */
    mote_box box;                           /* params.bounds, where the condition narrows them */
} mote_choice;

/* Parses the expressions of params. Close it in any case. */
mote_status mote_choice_open(mote_context *ctx, const mote_read_params *params, mote_choice *choice);
/* Whether expressions see the coordinates that the transformation makes. */
bool mote_choice_is_late(const mote_read_params *params);
void mote_choice_close(mote_context *ctx, mote_choice *choice);
/* Replaces *cloud, which choice->params read from source, by what was asked for. On failure it is still there. */
mote_status mote_choice_apply(mote_context *ctx, const mote_choice *choice, const char *source, mote_cloud **cloud);

#endif
