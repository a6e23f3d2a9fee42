/* Which files the paths of a caller mean. */
#ifndef MOTE_INPUTS_H
#define MOTE_INPUTS_H

#include "io/io_internal.h"

typedef struct mote_input_list {
    char **paths;
    uint64_t count, capacity;
} mote_input_list;

/* The files that paths, folders and patterns name, in order. Free the list in either case. */
mote_status mote_inputs_find(mote_context *ctx, const char *const *paths, uint32_t path_count, mote_input_list *list);
void mote_inputs_free(mote_context *ctx, mote_input_list *list);

#endif
