#define _GNU_SOURCE /* nftw, mkdtemp, glob */
#include "support/support.h"

#include <dirent.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

mote_context *test_context(int threads) {
    mote_context_params params = mote_context_defaults();
    params.threads = threads;
    params.device = MOTE_DEVICE_CPU;
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

static void *failing_allocate(void *user, size_t size_bytes) {
    test_allocator *allocator = user;
    const long call = __atomic_add_fetch(&allocator->calls, 1, __ATOMIC_RELAXED);
    if (call == allocator->fail_at) return NULL;
    if (call > 1 && allocator->places != NULL && call_places_turn(allocator->places)) return NULL;
    void *memory = aligned_alloc(64, (size_bytes + 63) / 64 * 64);
    if (memory != NULL) __atomic_add_fetch(&allocator->open, 1, __ATOMIC_RELAXED);
    return memory;
}

static void failing_release(void *user, void *memory, size_t size_bytes) {
    (void)size_bytes;
    test_allocator *allocator = user;
    __atomic_sub_fetch(&allocator->open, 1, __ATOMIC_RELAXED);
    free(memory);
}

mote_context *test_context_failing(test_allocator *allocator, int threads) {
    return test_context_failing_watched(allocator, threads, NULL, NULL);
}

mote_context *test_context_failing_watched(test_allocator *allocator, int threads, mote_progress_fn progress,
                                           void *user) {
    mote_context_params params = mote_context_defaults();
    params.threads = threads;
    params.progress = progress;
    params.progress_user = user;
    params.device = MOTE_DEVICE_CPU;
    params.allocator.user = allocator;
    params.allocator.allocate = failing_allocate;
    params.allocator.release = failing_release;
    mote_context *ctx = NULL;
    const mote_status status = mote_context_create(&params, &ctx);
    if (allocator->fail_at != 1) assert_int_equal(status, MOTE_OK);
    return ctx;
}

/* How many of each place that allocates, or reports, are tried; 0: all. A sanitizer watches one of the two. */
static uint64_t turns_of_a_place(void) { return getenv("MOTE_TEST_ALL") != NULL ? 0 : test_watched(1, 2); }

static mote_status fails_once(test_work work, void *user, test_allocator *allocator) {
    mote_context *ctx = test_context_failing(allocator, 2);
    const mote_status status = work(ctx, user);
    if (status != MOTE_OK && status != MOTE_ERROR_MEMORY) fail_msg("%s", mote_context_message(ctx));
    mote_context_destroy(ctx);
    assert_int_equal(allocator->open, 0);
    return status;
}

void test_each_allocation_fails(test_work work, void *user) {
    call_places *const places = turns_of_a_place() > 0 ? call_places_make(turns_of_a_place()) : NULL;
    bool fails = true;
    for (long n = 2; fails; n++) {
        test_allocator allocator = {.fail_at = places == NULL ? n : 0, .places = places};
        if (places != NULL) call_places_begin_run(places);
        const mote_status status = fails_once(work, user, &allocator);
        fails = places != NULL ? places->has_turned : allocator.calls >= n;
        assert_int_equal(status, fails ? MOTE_ERROR_MEMORY : MOTE_OK);
        assert_true(n < 100000);
    }
    free(places);
}

typedef struct test_stop {
    long remaining;
    call_places *places;
} test_stop;

static bool stop_at(void *user, double done, const char *stage) {
    test_stop *const stop = user;
    (void)stage;
    assert_true(done >= 0 && done <= 1);
    if (stop->places == NULL) return --stop->remaining > 0;
    return !stop->places->has_turned && !call_places_turn(stop->places);
}

void test_each_step_cancels(test_work work, void *user) {
    test_stop stop = {0, turns_of_a_place() > 0 ? call_places_make(turns_of_a_place()) : NULL};
    bool is_over = false;
    for (long n = 1; !is_over; n++) {
        stop.remaining = n;
        if (stop.places != NULL) call_places_begin_run(stop.places);
        mote_context_params params = mote_context_defaults();
        params.threads = 2;
        params.device = MOTE_DEVICE_CPU;
        params.progress = stop_at;
        params.progress_user = &stop;
        mote_context *ctx = NULL;
        assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
        const mote_status status = work(ctx, user);
        if (status != MOTE_OK && status != MOTE_CANCELLED) fail_msg("%s", mote_context_message(ctx));
        is_over = stop.places != NULL ? !stop.places->has_turned : status == MOTE_OK; /* the last may cancel nothing */
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
        assert_true(n < 10000);
    }
    free(stop.places);
}

bool test_note_progress(void *user, double done, const char *stage) {
    test_progress *p = user;
    p->backwards = p->backwards || !(done >= p->last && done <= 1) || stage == NULL || stage[0] == '\0';
    p->last = done;
    p->calls++;
    return true;
}

mote_context *test_context_watched(test_progress *progress) {
    mote_context_params params = mote_context_defaults();
    params.threads = 2;
    params.device = MOTE_DEVICE_CPU;
    params.progress = test_note_progress;
    params.progress_user = progress;
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

mote_status test_copy_file(mote_context *ctx, void *user) {
    const test_copy *const copy = user;
    mote_cloud *cloud = NULL;
    char pattern[600];
    glob_t unfinished;
    remove(copy->target);
    mote_status status = mote_cloud_read(ctx, copy->source, NULL, &cloud);
    assert_int_equal(cloud != NULL, status == MOTE_OK);
    if (status == MOTE_OK) status = mote_cloud_write(ctx, cloud, copy->target, &copy->params);
    mote_cloud_destroy(cloud);
    assert_int_equal(access(copy->target, F_OK) == 0, status == MOTE_OK);
    snprintf(pattern, sizeof pattern, "%s/*.part", test_folder());
    assert_int_equal(glob(pattern, 0, NULL, &unfinished), GLOB_NOMATCH);
    globfree(&unfinished);
    return status;
}

const char *test_data(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", MOTE_SHARED_DATA, name);
    if (access(path, R_OK) == 0) return path;
    print_message("[  SKIPPED ] %s: the folder of real data is not there\n", path);
    return NULL;
}

static char folder[64];

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static void remove_folder(void) { nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

const char *test_folder(void) {
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "/tmp/mote-test-XXXXXX");
        if (mkdtemp(folder) == NULL) abort();
        atexit(remove_folder);
    }
    return folder;
}

const char *test_path(const char *name) {
    static char paths[8][512];
    static int turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

uint64_t test_extent(uint64_t few, uint64_t all) {
#ifdef MOTE_SANITIZED
    (void)all;
    return few;
#else
    return getenv("MOTE_TEST_FEW") != NULL ? few : all;
#endif
}

uint64_t test_turn(uint64_t count) {
    static uint64_t seed;
    static bool is_known;
    if (!is_known) {
        const char *const text = getenv("MOTE_TEST_SEED");
        seed = text != NULL ? strtoull(text, NULL, 10) : 0;
        is_known = true;
        print_message("MOTE_TEST_SEED=%llu\n", (unsigned long long)seed);
    }
    return mote_hash_pair(seed, count) % count;
}

uint64_t test_watched(uint64_t watched, uint64_t otherwise) {
#ifdef MOTE_SANITIZED
    (void)otherwise;
    return watched;
#else
    (void)watched;
    return otherwise;
#endif
}

void *test_grow(void *array, uint64_t count, size_t size) {
    if ((count & (count - 1)) != 0) return array; /* room doubles at powers of two */
    void *larger = realloc(array, (count > 0 ? 2 * count : 1) * size);
    assert_non_null(larger);
    return larger;
}

void test_write_file(const char *path, const void *data, size_t size_bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size_bytes, file), size_bytes);
    assert_int_equal(fclose(file), 0);
}

uint32_t test_entries_in(const char *path) {
    uint32_t count = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

const char *const test_potree_files[3] = {"metadata.json", "hierarchy.bin", "octree.bin"};

void test_remove_potree(const char *path) {
    char file[300];
    for (int f = 0; f < 3; f++) {
        snprintf(file, sizeof file, "%s/%s", path, test_potree_files[f]);
        assert_int_equal(unlink(file), 0);
    }
    assert_int_equal(rmdir(path), 0);
}
