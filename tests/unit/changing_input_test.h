/* What the parts of the test of inputs that change share. */
#ifndef MOTE_CHANGING_INPUT_TEST_H
#define MOTE_CHANGING_INPUT_TEST_H

#include "support/cloud_files.h"

#define CHANGING_POINTS 3000u

/* Makes a file or folder of the test: of which format, its ending says. */
void changing_input(const char *name, bool text, bool compress);

/* ---- changing_input_test_works.c: each reads a file and makes the file "out" of it, or a number */

/* Which inputs a work is tried with: where columns are views of the file, it is read until the very end. */
typedef enum input_kind { OF_ALL, OF_VIEWS, OF_COPC } input_kind;

typedef struct changing_work {
    const char *name, *output;
    mote_status (*run)(mote_context *ctx, const char *input, const char *output, uint64_t *number);
    input_kind inputs;
} changing_work;

#define CHANGING_WORKS 14u
extern const changing_work changing_works[CHANGING_WORKS];

/* changing_input_test_mapped.c */
void changing_replaced_by_name(void **state);
void changing_context_recovers(void **state);
void changing_handlers(void **state);

#endif
