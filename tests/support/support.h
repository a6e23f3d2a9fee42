/* What tests share. */
#ifndef MOTE_TEST_SUPPORT_H
#define MOTE_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mote/mote.h"
#include "support/call_places.h"
#include "support/random.h"

/* A context of so many threads; fails the test when there is none. */
mote_context *test_context(int threads);

/* How much is tried: few under sanitizers, which are slow and find with one case what plain tests find with many, and
   where MOTE_TEST_FEW is set (make test); otherwise all. */
uint64_t test_extent(uint64_t few, uint64_t all);

/* Where a sweep over count cases begins that takes each count-th: MOTE_TEST_SEED says it, and the test prints that. In
   make check the seed is of the commit (tests/run.py), so that each commit is tried on others. */
uint64_t test_turn(uint64_t count);

/* The same between sanitizers and all others: of cases that run the same code, on values that plain tests judge. */
uint64_t test_watched(uint64_t watched, uint64_t otherwise);

/* An allocator that fails the n-th allocation (0 = never), or one that has its turn (NULL: none), and counts what is
   open. */
typedef struct test_allocator {
    long fail_at, calls, open;
    call_places *places;
} test_allocator;
mote_context *test_context_failing(test_allocator *allocator, int threads);
mote_context *test_context_failing_watched(test_allocator *allocator, int threads, mote_progress_fn progress,
                                           void *user);

/* What is tried under failures: it gets a fresh context and returns the first status that is not MOTE_OK. What it made
   it destroys, whatever happened. */
typedef mote_status (*test_work)(mote_context *ctx, void *user);
/* Of each place that allocates two allocations of the work fail in turn (one under sanitizers), or all with
   MOTE_TEST_ALL: nothing may stay open. */
void test_each_allocation_fails(test_work work, void *user);
/* The same of reports of progress, which cancel: nothing may stay open. */
void test_each_step_cancels(test_work work, void *user);
/* What a call tells of progress, as params.progress of a context notes it; and a context of two threads that does. */
typedef struct test_progress {
    long calls;
    double last;
    bool backwards; /* less than before, more than all, or of a stage without a name */
} test_progress;
bool test_note_progress(void *progress, double done, const char *stage);
mote_context *test_context_watched(test_progress *progress);
/* A test_work: reads a file and writes another, which must be there if, and only if, all went well, with nothing
   unfinished beside it. user is a test_copy. */
typedef struct test_copy {
    const char *source, *target;
    mote_write_params params;
} test_copy;
mote_status test_copy_file(mote_context *ctx, void *user);

/* The path of a file of the real data, e.g. "las/point10.las"; NULL (and a line on the terminal) when the
   folder is absent. The text is overwritten by the next call. */
const char *test_data(const char *name);

/* A fresh empty folder for the running test; the same for the whole process. Removed at exit. */
const char *test_folder(void);
/* test_folder()/name; one of 8 buffers in turn. */
const char *test_path(const char *name);
/* Room for one more than the count elements of an array that is grown by nothing else; for free(). Fails the test when
   memory runs out. */
void *test_grow(void *array, uint64_t count, size_t size);
/* Writes bytes to a file. */
void test_write_file(const char *path, const void *data, size_t size_bytes);
/* How many files and folders are in a folder, but for those whose names begin with a dot. */
uint32_t test_entries_in(const char *path);
/* The files of a Potree folder, as mote_potree_write makes them without an origin. */
extern const char *const test_potree_files[3];
/* Removes such a folder. Fails the test where it is another. */
void test_remove_potree(const char *path);

#endif
