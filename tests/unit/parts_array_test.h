/* What the parts of the test of job arrays share. */
#ifndef MOTE_PARTS_ARRAY_TEST_H
#define MOTE_PARTS_ARRAY_TEST_H

#include "support/parts_clouds.h"
#include "support/support.h"

#define PATH 512

typedef struct test_array {
    parts_inputs inputs;
    char paths[PARTS_INPUTS_MAX][PATH];
    char output[PATH], plan[PATH];
    mote_lod_params params;
    uint64_t parts;
    bool is_copc;                /* a file is made, and no folder */
    const char *const *left_out; /* attributes; NULL: none */
    const char *where;           /* points that are read; NULL: all */
} test_array;

/* ---- parts_array_test_kit.c */
void array_begin(test_array *t);
/* The same for a COPC file. */
void array_begin_copc(test_array *t);
void array_add(mote_context *ctx, test_array *t, const parts_kind *kind, const char *ending);
mote_potree_params array_potree(const test_array *t);
mote_copc_params array_copc(const test_array *t);
mote_status array_plan(mote_context *ctx, const test_array *t, mote_parts_report *report);
/* All parts, the last first, the middle one twice. */
void array_make_all(mote_context *ctx, const test_array *t, uint32_t count);
/* The output is that of one piece, which is made for it; or that has been made, once for many outputs. */
void array_expect_whole(mote_context *ctx, const test_array *t);
void array_make_whole(mote_context *ctx, const test_array *t);
void array_expect_made_whole(const test_array *t);
/* Plan, parts and merge make that output. Returns how many rounds there were. */
uint32_t array_compare(mote_context *ctx, const test_array *t);
void array_expect(mote_context *ctx, mote_status status, mote_status expected, const char *words);
/* The caller's to free. */
char *array_read_text(const char *path);
void array_write_text(const char *path, const char *text);
void array_change_byte(const char *path, long at);

/* ---- parts_array_test_checks.c */
void what_lacks_is_named(void **state);
void records_are_checked(void **state);
void inputs_may_not_change(void **state);
void a_plan_replaces_no_input(void **state);
void plans_are_checked(void **state);
void costs_are_predicted(void **state);

/* ---- parts_array_test_reads.c */
void parts_read_what_is_theirs(void **state);
void parts_check_what_they_read(void **state);
void units_are_shared(void **state);
void shared_points_are_checked(void **state);
void what_others_have_is_checked(void **state);

/* ---- parts_array_test_failures.c */
void survives_failures(void **state);
void copc_survives(void **state);
void runs_go_on(void **state);

#endif
