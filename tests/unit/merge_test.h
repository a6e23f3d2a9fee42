/* What the parts of the test of merging share: clouds made in place. */
#ifndef MOTE_MERGE_TEST_H
#define MOTE_MERGE_TEST_H

#include "support/support.h"

#define COLUMNS 12
#define POINTS  4

/* A cloud of up to POINTS points with x y z as int32 of 1 mm, and room for more columns. */
typedef struct made {
    mote_context *ctx;
    mote_cloud *cloud;
    int32_t xyz[POINTS][3];
    double values[COLUMNS][POINTS]; /* memory for the columns' values, whatever their type */
    mote_column columns[COLUMNS];
    uint32_t column_count;
} made;
mote_column *made_add(made *m, const char *name, mote_type type, const void *values);
void made_add_lattice(made *m, double scale, double offset, int32_t first);

/* Two clouds on the same lattice, to which tests add a column each. */
typedef struct couple {
    mote_context *ctx;
    made a, b;
    char warnings[4096];
    mote_cloud *merged;
} couple;
void couple_open(couple *two);
mote_status couple_merge(couple *two);
void couple_close(couple *two);
/* The value of a point of the merged cloud. */
double couple_value(const couple *two, const char *name, uint64_t i);
mote_type couple_type(const couple *two, const char *name);

/* merge_test_positions.c */
void finds_the_common_lattice(void **state);
void moves_the_origin(void **state);
void falls_back_to_double(void **state);
void mixes_forms_of_positions(void **state);
void needs_positions(void **state);

/* merge_test_inputs.c */
void names_what_is_missing(void **state);
void expands_folders_and_patterns(void **state);
void lists_survive_failing_allocations(void **state);

#endif
