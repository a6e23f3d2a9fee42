/* Outputs that are held until all that belong together are complete. */
#define _GNU_SOURCE /* setrlimit */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_test.h"

#define OLD "old content"
#define NEW "new"

static void write_new(mote_context *ctx, const char *path) {
    mote_output *output = NULL;
    assert_int_equal(mote_output_create(ctx, path, true, &output), MOTE_OK);
    assert_int_equal(mote_output_finish(ctx, output, mote_output_write(ctx, output, NEW, strlen(NEW))), MOTE_OK);
}

static void assert_content(const char *path, const char *expected) {
    if (expected == NULL) {
        assert_int_not_equal(access(path, F_OK), 0);
    } else {
        output_assert_same(&output_writers[0], path, expected, strlen(expected));
    }
}

/* Three outputs, of which the second replaces one. */
typedef struct trio {
    const char *folder;
    char paths[3][700];
} trio;

static trio make_trio(mote_context *ctx) {
    trio t = {.folder = output_fresh_folder("together")};
    for (int i = 0; i < 3; i++) snprintf(t.paths[i], sizeof t.paths[i], "%s/%d", t.folder, i);
    test_write_file(t.paths[1], OLD, strlen(OLD));
    assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
    for (int i = 0; i < 3; i++) write_new(ctx, t.paths[i]);
    return t;
}

static void assert_untouched(const trio *t) {
    assert_content(t->paths[0], NULL);
    assert_content(t->paths[1], OLD);
}

void held_outputs_appear_together(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    const trio t = make_trio(ctx);
    assert_untouched(&t);
    assert_content(t.paths[2], NULL);
    assert_int_equal(mote_outputs_release(ctx, MOTE_OK), MOTE_OK);
    for (int i = 0; i < 3; i++) assert_content(t.paths[i], NEW);
    assert_int_equal(output_entries(t.folder), 3);
    write_new(ctx, t.paths[0]); /* nothing is held any more */
    assert_content(t.paths[0], NEW);
    assert_int_equal(mote_outputs_release(ctx, MOTE_OK), MOTE_OK);
    mote_context_destroy(ctx);
}

/* What was read since outputs are held is not replaced, by whatever name it is called, and no folder that holds it. */
void held_outputs_do_not_replace_what_was_read(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    char folder[256], text[300], hard[300], soft[300];
    snprintf(folder, sizeof folder, "%s", output_fresh_folder("read"));
    snprintf(text, sizeof text, "%s/a.xyz", folder);
    snprintf(hard, sizeof hard, "%s/hard", folder);
    snprintf(soft, sizeof soft, "%s/soft", folder);
    test_write_file(text, "1 2 3\n", 6);
    assert_int_equal(link(text, hard), 0);
    assert_int_equal(symlink("a.xyz", soft), 0);
    mote_cloud_destroy(test_read(ctx, text)); /* too early to count */
    assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
    assert_int_equal(mote_outputs_check(ctx, text), MOTE_OK);
    write_new(ctx, text); /* waits */
    assert_int_equal(mote_outputs_note_input(ctx, hard), MOTE_OK);
    const char *const names[] = {text, hard, soft, folder};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mote_outputs_check(ctx, names[i]), MOTE_ERROR_ARGUMENT);
        assert_non_null(strstr(mote_context_message(ctx), i < 3 ? "is also an input" : "contains an input"));
        mote_context_clear(ctx);
    }
    assert_int_equal(mote_outputs_check(ctx, "not there"), MOTE_OK);
    mote_output *output = NULL;
    assert_int_equal(mote_output_create(ctx, soft, true, &output), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    assert_int_equal(mote_outputs_release(ctx, MOTE_OK), MOTE_ERROR_ARGUMENT);
    assert_content(text, "1 2 3\n");
    assert_int_equal(output_entries(folder), 3);
    mote_context_clear(ctx);
    write_new(ctx, text);
    assert_content(text, NEW);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* The same of what is read by the library itself, while outputs are held; what the command has just written is no
 * input.
 */
void held_outputs_may_be_read_again(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    char text[300];
    snprintf(text, sizeof text, "%s/b.xyz", output_fresh_folder("again"));
    test_write_file(text, "1 2 3\n", 6);
    assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
    mote_cloud *cloud = test_read(ctx, text);
    assert_int_equal(mote_outputs_check(ctx, text), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_outputs_release(ctx, MOTE_CANCELLED), MOTE_CANCELLED);
    mote_context_clear(ctx);
    assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
    mote_output *output = NULL;
    assert_int_equal(mote_output_create(ctx, text, true, &output), MOTE_OK);
    assert_int_equal(mote_output_finish(ctx, output, mote_output_write(ctx, output, "4 5 6\n", 6)), MOTE_OK);
    cloud = test_read(ctx, text);
    assert_true(test_value(cloud, "x", 0) == 4);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_outputs_release(ctx, MOTE_OK), MOTE_OK);
    assert_content(text, "4 5 6\n");
    mote_context_destroy(ctx);
}

void held_outputs_are_removed_after_a_failure(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    const trio t = make_trio(ctx);
    assert_int_equal(mote_outputs_release(ctx, MOTE_CANCELLED), MOTE_CANCELLED);
    assert_untouched(&t);
    assert_int_equal(output_entries(t.folder), 1);
    mote_context_destroy(ctx);
}

/* Somebody makes a folder of the name of the last one: it cannot be replaced, and the first two give their names back.
 */
void a_name_that_is_taken_takes_all_back(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    const trio t = make_trio(ctx);
    assert_int_equal(mkdir(t.paths[2], 0755), 0);
    assert_int_equal(mote_outputs_release(ctx, MOTE_OK), MOTE_ERROR_IO);
    assert_non_null(strstr(mote_context_message(ctx), t.paths[2]));
    assert_untouched(&t);
    assert_int_equal(output_entries(t.folder), 2); /* the old one, and the folder */
    assert_int_equal(rmdir(t.paths[2]), 0);
    mote_context_destroy(ctx);
}

/* Potree folders are taken back as wholes. */
void a_folder_is_taken_back(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = output_cloud(ctx);
    const output_writer *const writer = &output_writers[OUTPUT_FILE_WRITERS];
    const char *const folder = output_fresh_folder("together");
    char fresh[700], older[700], octree[720], last[700];
    snprintf(fresh, sizeof fresh, "%s/new", folder);
    snprintf(older, sizeof older, "%s/old", folder);
    snprintf(last, sizeof last, "%s/last", folder);
    output_must(ctx, writer, writer->write(ctx, cloud, writer, older));
    snprintf(octree, sizeof octree, "%s/octree.bin", older);
    test_write_file(octree, OLD, strlen(OLD));
    assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
    output_must(ctx, writer, writer->write(ctx, cloud, writer, fresh));
    output_must(ctx, writer, writer->write(ctx, cloud, writer, older));
    write_new(ctx, last);
    assert_content(octree, OLD);
    assert_int_equal(mkdir(last, 0755), 0);
    assert_int_equal(mote_outputs_release(ctx, MOTE_OK), MOTE_ERROR_IO);
    assert_content(octree, OLD);
    assert_content(fresh, NULL);
    assert_int_equal(output_entries(folder), 2); /* old, last */
    assert_int_equal(rmdir(last), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* What was written can be read under its name before it has it. */
void a_held_output_can_be_read(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = output_cloud(ctx);
    mote_cloud *back = NULL;
    char path[700];
    snprintf(path, sizeof path, "%s/out.las", output_fresh_folder("together"));
    assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
    test_write(ctx, cloud, path, NULL);
    assert_content(path, NULL);
    assert_int_equal(mote_cloud_read(ctx, path, NULL, &back), MOTE_OK);
    assert_int_equal(mote_cloud_count(back), mote_cloud_count(cloud));
    assert_int_equal(mote_outputs_release(ctx, MOTE_OK), MOTE_OK);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* By whatever name: the second would replace the first, which nobody would see. */
void held_outputs_have_names_of_their_own(void **state) {
    (void)state;
    static const char *const names[] = {"0", "./0", "sub/../0", "link", "sub/link"};
    mote_context *const ctx = test_context(1);
    const char *const folder = output_fresh_folder("together");
    char first[700], path[700];
    snprintf(path, sizeof path, "%s/sub", folder);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/link", folder);
    assert_int_equal(symlink("0", path), 0);
    snprintf(path, sizeof path, "%s/sub/link", folder);
    assert_int_equal(symlink("../0", path), 0);
    snprintf(first, sizeof first, "%s/0", folder);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mote_output *output = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
        write_new(ctx, first);
        assert_int_equal(mote_output_create(ctx, path, true, &output), MOTE_OK);
        assert_int_equal(mote_output_finish(ctx, output, MOTE_OK), MOTE_ERROR_ARGUMENT);
        if (strstr(mote_context_message(ctx), "two outputs have this name") == NULL) fail_msg("%s", path);
        mote_context_clear(ctx);
        assert_int_equal(mote_outputs_release(ctx, MOTE_ERROR_ARGUMENT), MOTE_ERROR_ARGUMENT);
        assert_content(first, NULL);
        assert_int_equal(output_entries(folder), 2);
    }
    mote_context_destroy(ctx);
}

/* A thousand pictures, in two folders in turn, do not take a thousand descriptors. */
void many_outputs_can_be_held(void **state) {
    (void)state;
    enum { MANY = 300, FILES = 40 };
    mote_context *const ctx = test_context(1);
    const char *const folder = output_fresh_folder("together");
    struct rlimit before, few;
    char path[700];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = FILES;
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%d", folder, k);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof path, "%s/%d/%d", folder, i % 2, i);
        write_new(ctx, path);
    }
    assert_int_equal(mote_outputs_release(ctx, MOTE_OK), MOTE_OK);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%d", folder, k);
        assert_int_equal(output_entries(path), MANY / 2);
    }
    mote_context_destroy(ctx);
}

static mote_status write_three(mote_context *ctx, void *user) {
    const char *const folder = output_fresh_folder("together");
    mote_status status = mote_outputs_hold(ctx);
    (void)user;
    for (int i = 0; i < 3 && status == MOTE_OK; i++) {
        char path[700];
        mote_output *output = NULL;
        snprintf(path, sizeof path, "%s/%d", folder, i);
        status = mote_output_create(ctx, path, true, &output);
        if (status == MOTE_OK) status = mote_output_write(ctx, output, NEW, strlen(NEW));
        status = mote_output_finish(ctx, output, status);
    }
    status = mote_outputs_release(ctx, status);
    assert_int_equal(output_entries(folder), status == MOTE_OK ? 3 : 0);
    return status;
}

void held_outputs_without_memory(void **state) {
    (void)state;
    test_each_allocation_fails(write_three, NULL);
}
