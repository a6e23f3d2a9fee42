/* Writing Potree folders where something goes wrong: errors, and nothing half-written. */
#define _GNU_SOURCE /* mount, symlink */
#include <dirent.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/potree_broken_test.h"

#if MOTE_HAVE_JANSSON

static bool same_set(const set_bytes *a, const set_bytes *b) {
    for (int f = 0; f < 3; f++) {
        if (a->size[f] != b->size[f] || memcmp(a->data[f], b->data[f], a->size[f]) != 0) return false;
    }
    return true;
}

static uint32_t entries_of(const char *folder) {
    uint32_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *e = readdir(directory); e != NULL; e = readdir(directory)) count += e->d_name[0] != '.';
    closedir(directory);
    return count;
}

/* A folder of its own for each test: nothing but what is expected may be left in it. */
static const char *fresh_folder(const char *name) {
    const char *path = test_path(name);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

static const char *inside(const char *folder, const char *name) {
    static char paths[4][700];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void survives_failing_allocations(void **state) {
    (void)state;
    const char *folder = fresh_folder("allocations");
    for (int brotli = 0; brotli < (potree_has_brotli() ? 2 : 1); brotli++) {
        mote_context *good = test_context(1);
        assert_int_equal(small_write(good, inside(folder, "set"), brotli), MOTE_OK);
        mote_context_destroy(good);
        const set_bytes before = set_load(inside(folder, "set"));
        bool failed = true;
        for (long n = 2; failed; n++) {
            test_allocator allocator = {.fail_at = n};
            mote_context *ctx = test_context_failing(&allocator, n % 2 ? 1 : 3);
            const mote_status status = small_write(ctx, inside(folder, "set"), brotli);
            if (status != MOTE_OK) assert_int_equal(status, MOTE_ERROR_MEMORY);
            failed = allocator.calls >= n;
            if (!failed) assert_int_equal(status, MOTE_OK);
            mote_context_destroy(ctx);
            assert_int_equal(allocator.open, 0);
            assert_int_equal(entries_of(folder), 1);
            set_bytes after = set_load(inside(folder, "set"));
            assert_true(same_set(&before, &after));
            set_free(&after);
        }
        failed = true;
        for (long n = 2; failed; n++) {
            test_allocator allocator = {.fail_at = n};
            mote_context *ctx = test_context_failing(&allocator, n % 2 ? 1 : 3);
            mote_cloud *cloud = NULL;
            const mote_status status = mote_cloud_read(ctx, inside(folder, "set"), NULL, &cloud);
            assert_true((cloud != NULL) == (status == MOTE_OK));
            if (status != MOTE_OK && status != MOTE_ERROR_MEMORY) print_message("%s\n", mote_context_message(ctx));
            if (status != MOTE_OK) assert_int_equal(status, MOTE_ERROR_MEMORY);
            failed = allocator.calls >= n;
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
            assert_int_equal(allocator.open, 0);
        }
        set_bytes last = before;
        set_free(&last);
    }
}

typedef struct canceller {
    int left;
} canceller;

static bool count_down(void *user, double done, const char *stage) {
    (void)stage;
    assert_true(done >= 0 && done <= 1);
    return ((canceller *)user)->left-- > 0;
}

void cancels(void **state) {
    (void)state;
    const char *folder = fresh_folder("cancel");
    for (int run = 0; run < 2 * (potree_has_brotli() ? 2 : 1); run++) {
        const bool brotli = run / 2, reading = run % 2;
        mote_status status = MOTE_CANCELLED;
        for (int steps = 0; status == MOTE_CANCELLED; steps++) {
            canceller user = {steps};
            mote_context_params params = mote_context_defaults();
            params.threads = 2;
            params.progress = count_down;
            params.progress_user = &user;
            mote_context *ctx = NULL;
            mote_cloud *cloud = NULL;
            assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
            status = reading ? mote_cloud_read(ctx, inside(folder, "set"), NULL, &cloud)
                             : small_write(ctx, inside(folder, "set"), brotli);
            if (steps == 0) assert_int_equal(status, MOTE_CANCELLED);
            if (!reading && status == MOTE_CANCELLED) assert_int_equal(entries_of(folder), 0);
            mote_cloud_destroy(cloud);
            assert_int_equal(mote_context_memory_bytes(ctx), 0);
            mote_context_destroy(ctx);
        }
        assert_int_equal(status, MOTE_OK);
        assert_int_equal(entries_of(folder), 1);
        if (reading) {
            for (int f = 0; f < 3; f++) {
                static const char *const names[3] = {"set/metadata.json", "set/hierarchy.bin", "set/octree.bin"};
                unlink(inside(folder, names[f]));
            }
            rmdir(inside(folder, "set"));
        }
    }
}

static mote_status try_write(const char *path) {
    mote_context *ctx = test_context(2);
    const mote_status status = small_write(ctx, path, false);
    if (status != MOTE_OK) assert_true(strlen(mote_context_message(ctx)) > 0);
    mote_context_destroy(ctx);
    return status;
}

/* What is no Potree folder stays; what is one is replaced, also through a link and with slashes at the end. */
void respects_what_is_there(void **state) {
    (void)state;
    const char *folder = fresh_folder("there");
    test_write_file(inside(folder, "file"), "mine", 4);
    assert_int_equal(try_write(inside(folder, "file")), MOTE_ERROR_IO);
    assert_int_equal(mkdir(inside(folder, "mine"), 0777), 0);
    test_write_file(inside(folder, "mine/mine.txt"), "mine", 4);
    assert_int_equal(try_write(inside(folder, "mine")), MOTE_ERROR_IO);
    assert_int_equal(mkdir(inside(folder, "empty"), 0777), 0);
    assert_int_equal(try_write(inside(folder, "empty")), MOTE_OK);
    assert_int_equal(try_write(inside(folder, "set")), MOTE_OK);
    test_write_file(inside(folder, "set/octree.bin"), "old", 3);
    assert_int_equal(try_write(inside(folder, "set///")), MOTE_OK);
    set_bytes set = set_load(inside(folder, "set"));
    assert_true(set.size[OCTREE] > 3);
    set_free(&set);
    assert_int_equal(symlink("set", inside(folder, "link")), 0);
    test_write_file(inside(folder, "set/octree.bin"), "old", 3);
    assert_int_equal(try_write(inside(folder, "link")), MOTE_OK);
    set = set_load(inside(folder, "set"));
    assert_true(set.size[OCTREE] > 3);
    set_free(&set);
    test_write_file(inside(folder, "set/mine.txt"), "mine", 4);
    assert_int_equal(try_write(inside(folder, "set")), MOTE_ERROR_IO);
    assert_int_equal(try_write(inside(folder, "no/such/folder")), MOTE_ERROR_IO);
    assert_int_equal(try_write(inside(folder, "a name with spaces \xC3\xA9")), MOTE_OK);
    assert_int_equal(entries_of(folder), 6);
}

/* What a killed writer left is removed, and an old set that lost its name gets it back; what is not ours stays. */
void cleans_up_after_the_killed(void **state) {
    (void)state;
    const char *folder = fresh_folder("killed");
    const pid_t child = fork();
    if (child == 0) _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    char part[64], half[64], old[64], foreign[64], mine[64];
    snprintf(half, sizeof half, "set.%ld.part/octree.bin.77.part", (long)child);
    snprintf(mine, sizeof mine, "other.%ld.part/mine.txt", (long)child);
    snprintf(part, sizeof part, "set.%ld.part", (long)child);
    snprintf(old, sizeof old, "lost.%ld.old", (long)child);
    snprintf(foreign, sizeof foreign, "other.%ld.part", (long)child);
    assert_int_equal(mkdir(inside(folder, part), 0777), 0);
    test_write_file(inside(folder, half), "half", 4);
    assert_int_equal(try_write(inside(folder, "lost")), MOTE_OK);
    assert_int_equal(rename(inside(folder, "lost"), inside(folder, old)), 0);
    assert_int_equal(mkdir(inside(folder, foreign), 0777), 0);
    test_write_file(inside(folder, mine), "mine", 4);
    assert_int_equal(try_write(inside(folder, "set")), MOTE_OK);
    assert_int_equal(try_write(inside(folder, "other")), MOTE_OK);
    assert_int_equal(access(inside(folder, part), F_OK), -1);
    assert_int_equal(access(inside(folder, foreign), F_OK), 0);
    canceller user = {0}; /* a run that is cancelled still gives the lost set its name back */
    mote_context_params params = mote_context_defaults();
    params.progress = count_down;
    params.progress_user = &user;
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    assert_int_equal(small_write(ctx, inside(folder, "lost"), false), MOTE_CANCELLED);
    mote_context_destroy(ctx);
    set_bytes lost = set_load(inside(folder, "lost"));
    set_free(&lost);
    assert_int_equal(entries_of(folder), 4);
}

void full_disk_leaves_the_old(void **state) {
    (void)state;
    const char *folder = fresh_folder("disk");
    if (geteuid() != 0 || mount("tmpfs", folder, "tmpfs", 0, "size=128k") != 0) {
        print_message("[  SKIPPED ] a full disk: needs the right to mount a tmpfs\n");
        return;
    }
    const mote_status first = try_write(inside(folder, "set"));
    set_bytes before = set_load(inside(folder, "set"));
    enum { MOST = 128 << 10 };
    static uint8_t zeros[MOST];
    size_t left = MOST;
    for (; left > 0; left -= 4096) { /* leaves room for a part of the next */
        FILE *file = fopen(inside(folder, "filler"), "ab");
        const bool done = file == NULL || fwrite(zeros, 1, 4096, file) != 4096 || fflush(file) != 0;
        if (file != NULL) fclose(file);
        if (done) break;
    }
    const mote_status second = try_write(inside(folder, "set"));
    set_bytes after = set_load(inside(folder, "set"));
    const bool same = same_set(&before, &after);
    const uint32_t entries = entries_of(folder);
    umount(folder);
    assert_int_equal(first, MOTE_OK);
    assert_int_equal(second, MOTE_ERROR_DISK);
    assert_true(same);
    assert_int_equal(entries, 2);
    set_free(&before);
    set_free(&after);
}

void refuses_wrong_parameters(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    small_cloud small;
    assert_int_equal(small_make(ctx, &small), MOTE_OK);
    mote_potree_params params = mote_potree_defaults();
    params.encoding = (mote_potree_encoding)9;
    assert_int_equal(potree_write_source(ctx, &small.source, test_path("wrong"), &params, NULL), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    params = mote_potree_defaults();
    static const char *const names[] = {"position", NULL};
    params.attributes_left_out = names;
    assert_int_equal(potree_write_source(ctx, &small.source, test_path("wrong"), &params, NULL), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    params = mote_potree_defaults();
    small.nodes[3].point_count = 1u << 30; /* more than 2 GiB in a node */
    assert_int_equal(potree_write_source(ctx, &small.source, test_path("wrong"), &params, NULL),
                     MOTE_ERROR_UNSUPPORTED);
    assert_int_equal(access(test_path("wrong"), F_OK), -1);
    mote_cloud_destroy(small.cloud);
    mote_context_destroy(ctx);
}

#endif
