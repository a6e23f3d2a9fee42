/* Outputs of every writer: limits and failures; the other parts have the rest. */
#define _GNU_SOURCE /* setrlimit, mount */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/io_internal.h"
#include "output_test.h"

static mote_status write_cloud(mote_context *ctx, const mote_cloud *cloud, const output_writer *row, const char *path) {
    mote_write_params params = mote_write_defaults();
    params.text = row->text;
    params.compress = row->compress;
    params.big_endian = row->big_endian;
    params.format = row->ending + 1;
    return mote_cloud_write(ctx, cloud, path, &params);
}

mote_status output_pieces(mote_context *ctx, const mote_cloud *cloud, const output_writer *row, const char *path) {
    mote_write_params params = mote_write_defaults();
    mote_writer *writer = NULL;
    params.format = row->ending + 1;
    const mote_status status = mote_writer_open(ctx, cloud, mote_cloud_count(cloud), path, &params, &writer);
    if (status != MOTE_OK) return status;
    return mote_writer_close(writer, mote_writer_add(writer));
}

static mote_status write_octree(mote_context *ctx, const mote_cloud *cloud, const output_writer *row,
                                const char *path) {
    mote_lod_params params = mote_lod_defaults();
    mote_potree_params potree = mote_potree_defaults();
    mote_lod *lod = NULL;
    params.max_node_points = 0;
    potree.encoding = row->compress ? MOTE_POTREE_BROTLI : MOTE_POTREE_DEFAULT;
    mote_status status = mote_lod_build(ctx, cloud, &params, &lod);
    const bool copc = strcmp(row->ending, ".copc.laz") == 0;
    if (status == MOTE_OK) {
        status = copc ? mote_copc_write(ctx, lod, path, NULL, NULL) : mote_potree_write(ctx, lod, path, &potree, NULL);
    }
    mote_lod_destroy(lod);
    return status;
}

/* Writes as a caller does results of its own: in order, and anywhere. */
static mote_status write_own(mote_context *ctx, const mote_cloud *cloud, const output_writer *row, const char *path) {
    static uint8_t bytes[1 << 17];
    mote_output *output = NULL;
    (void)cloud;
    memset(bytes, 'm', sizeof bytes);
    mote_status status = mote_output_create(ctx, path, row->text, &output);
    if (status != MOTE_OK) return status;
    if (row->text) {
        for (int i = 0; i < 4 && status == MOTE_OK; i++)
            status = mote_output_write(ctx, output, bytes, sizeof bytes / 4);
    } else {
        status = mote_output_write_at(ctx, output, bytes, 1000, sizeof bytes - 1000);
        if (status == MOTE_OK) status = mote_output_write_at(ctx, output, bytes, sizeof bytes - 1000, 0);
    }
    return mote_output_finish(ctx, output, status);
}

const output_writer output_writers[OUTPUT_WRITERS] = {
    {"LAS", ".las", false, false, false, write_cloud},
    {"LAZ", ".laz", false, false, false, write_cloud},
    {"LAS in pieces", ".las", false, false, false, output_pieces},
    {"LAZ in pieces", ".laz", false, false, false, output_pieces},
    {"PLY", ".ply", false, false, false, write_cloud},
    {"PLY, text", ".ply", true, false, false, write_cloud},
    {"PLY, big-endian", ".ply", false, false, true, write_cloud},
    {"PCD", ".pcd", false, false, false, write_cloud},
    {"PCD, text", ".pcd", true, false, false, write_cloud},
    {"PCD, compressed", ".pcd", false, true, false, write_cloud},
    {"XYZ", ".xyz", false, false, false, write_cloud},
    {"CSV", ".csv", false, false, false, write_cloud},
    {"PTS", ".pts", false, false, false, write_cloud},
    {"COPC", ".copc.laz", false, false, false, write_octree},
    {"own, in order", ".bin", true, false, false, write_own},
    {"own, anywhere", ".bin", false, false, false, write_own},
    {"Potree", ".mote", false, false, false, write_octree},
    {"Potree, brotli", ".mote", false, true, false, write_octree},
};

/* ---- what tests share */

mote_cloud *output_cloud(mote_context *ctx) {
    mote_cloud *made = NULL;
    const char *const path = test_path("source.las");
    mote_gen_params params = mote_gen_defaults("city");
    assert_int_equal(mote_generate(ctx, "city", OUTPUT_POINTS, &params, &made), MOTE_OK);
    test_write(ctx, made, path, NULL);
    mote_cloud_destroy(made);
    return test_read(ctx, path);
}

const char *output_fresh_folder(const char *name) {
    static char path[600];
    char command[700];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

int output_entries(const char *folder) {
    DIR *const directory = opendir(folder);
    assert_non_null(directory);
    int count = -2; /* "." and ".." */
    while (readdir(directory) != NULL) count++;
    closedir(directory);
    return count;
}

void output_must(const mote_context *ctx, const output_writer *row, mote_status status) {
    if (status != MOTE_OK) fail_msg("%s: %s", row->name, mote_context_message(ctx));
}

void output_assert_same(const output_writer *row, const char *path, const char *expected, size_t size) {
    size_t got_bytes = 0;
    char *const got = test_load(path, &got_bytes);
    if (got_bytes != size || memcmp(got, expected, size) != 0) fail_msg("%s: other bytes in %s", row->name, path);
    free(got);
}

/* ---- limits */

static const char *old_output(const output_writer *row, mote_context *ctx, const mote_cloud *cloud) {
    static char path[700];
    snprintf(path, sizeof path, "%s/out%s", output_fresh_folder("limits"), row->ending);
    output_must(ctx, row, row->write(ctx, cloud, row, path));
    return path;
}

/* The limit of "ulimit -f", with SIGXFSZ as it is by default: it would end the process. */
static void a_limit_of_size_is_an_error(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = output_cloud(ctx);
    for (size_t i = 0; i < OUTPUT_WRITERS; i++) {
        const output_writer *row = &output_writers[i];
        for (int there = 0; there < 2; there++) {
            const char *const path = old_output(row, ctx, cloud);
            char folder[700], command[1600];
            snprintf(folder, sizeof folder, "%s/limits", test_folder());
            if (there == 0) {
                snprintf(command, sizeof command, "rm -rf '%s'", path);
                assert_int_equal(system(command), 0);
            }
            const pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                const struct rlimit limit = {16384, 16384};
                mote_context *const own = test_context(1);
                signal(SIGXFSZ, SIG_DFL);
                setrlimit(RLIMIT_FSIZE, &limit);
                const mote_status status = row->write(own, cloud, row, path);
                const bool said = strstr(mote_context_message(own), "ulimit -f") != NULL;
                _exit(status == MOTE_ERROR_DISK && said ? 0 : 1 + (int)status);
            }
            int ended = 0;
            assert_int_equal(waitpid(child, &ended, 0), child);
            if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
                fail_msg("%s: signal %d, exit %d", row->name, WTERMSIG(ended), WEXITSTATUS(ended));
            }
            assert_int_equal(output_entries(folder), there);
            if (there == 0) continue;
            mote_cloud *read =
                i < 14 || i >= OUTPUT_FILE_WRITERS ? test_read(ctx, path) : NULL; /* not what is no cloud */
            if (read != NULL) assert_int_equal(mote_cloud_count(read), OUTPUT_POINTS);
            mote_cloud_destroy(read);
        }
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- failures */

static mote_status write_again(mote_context *ctx, void *user) {
    const output_writer *row = user;
    mote_cloud *cloud = NULL;
    char path[800], folder[700];
    snprintf(folder, sizeof folder, "%s/again", test_folder());
    snprintf(path, sizeof path, "%s/out%s", folder, row->ending);
    mote_status status = mote_cloud_read(ctx, test_path("source.las"), NULL, &cloud);
    if (status == MOTE_OK) status = row->write(ctx, cloud, row, path);
    mote_cloud_destroy(cloud);
    assert_int_equal(output_entries(folder), 1);
    return status;
}

/* Each allocation fails, each step cancels: the old output stays, and nothing beside it. */
static void failures_leave_the_old_output(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = output_cloud(ctx);
    for (size_t i = 0; i < OUTPUT_WRITERS; i++) {
        char path[700];
        if (output_writers[i].write == write_octree) continue; /* tested with the octrees */
        snprintf(path, sizeof path, "%s/out%s", output_fresh_folder("again"), output_writers[i].ending);
        output_must(ctx, &output_writers[i], output_writers[i].write(ctx, cloud, &output_writers[i], path));
        test_each_allocation_fails(write_again, (void *)&output_writers[i]);
        test_each_step_cancels(write_again, (void *)&output_writers[i]);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Where a file system in memory has no room, the thread that makes pages ends at once, before whoever made it goes on,
   or after: nobody waits for it. */
static void no_room_for_pages(void **state) {
    (void)state;
    enum { EXPECTED = 65 << 20 };
    const char *folder = output_fresh_folder("full");
    if (geteuid() != 0 || mount("tmpfs", folder, "tmpfs", 0, "size=64k") != 0) {
        print_message("[  SKIPPED ] pages without room: needs the right to mount a tmpfs\n");
        return;
    }
    mote_context *ctx = test_context(1);
    mote_status status = MOTE_ERROR_DISK;
    char path[700];
    snprintf(path, sizeof path, "%s/file", folder);
    alarm(120); /* it would wait for ever */
    for (int i = 0; i < 500 && status == MOTE_ERROR_DISK; i++) {
        mote_output output;
        mote_context_clear(ctx);
        status = mote_output_open(ctx, path, &output);
        mote_output_expect(ctx, &output, EXPECTED);
        if (status == MOTE_OK) status = mote_output_write_at(ctx, &output, path, sizeof path, EXPECTED / 2);
        status = mote_output_close(ctx, &output, status);
    }
    alarm(0);
    mote_context_destroy(ctx);
    umount(folder);
    assert_int_equal(status, MOTE_ERROR_DISK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_gets_the_bytes_of_the_file),
        cmocka_unit_test(a_fifo_is_written_to),
        cmocka_unit_test(no_room_for_pages),
        cmocka_unit_test(a_closed_pipe_is_an_error),
        cmocka_unit_test(signals_of_the_caller_stay_his),
        cmocka_unit_test(a_full_pipe_can_be_cancelled),
        cmocka_unit_test(devices_are_written_to),
        cmocka_unit_test(an_output_without_an_ending_needs_a_format),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(the_mode_of_a_replaced_file_is_kept),
        cmocka_unit_test(a_hard_link_keeps_the_old_content),
        cmocka_unit_test(the_longest_names_work),
        cmocka_unit_test(the_longest_path_works),
        cmocka_unit_test(leftovers_are_in_nobodys_way),
        cmocka_unit_test(writers_of_one_name_do_not_meet),
        cmocka_unit_test(held_outputs_appear_together),
        cmocka_unit_test(held_outputs_have_names_of_their_own),
        cmocka_unit_test(held_outputs_do_not_replace_what_was_read),
        cmocka_unit_test(held_outputs_may_be_read_again),
        cmocka_unit_test(held_outputs_are_removed_after_a_failure),
        cmocka_unit_test(a_name_that_is_taken_takes_all_back),
        cmocka_unit_test(a_folder_is_taken_back),
        cmocka_unit_test(a_held_output_can_be_read),
        cmocka_unit_test(many_outputs_can_be_held),
        cmocka_unit_test(held_outputs_without_memory),
        cmocka_unit_test(a_limit_of_size_is_an_error),
        cmocka_unit_test(failures_leave_the_old_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
