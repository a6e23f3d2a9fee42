/* Outputs behind links, with modes, long names and rivals. */
#define _GNU_SOURCE /* chmod */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_test.h"

void links_are_followed(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = output_cloud(ctx);
    for (size_t i = 0; i < OUTPUT_WRITERS; i++) {
        const output_writer *row = &output_writers[i];
        char target[700], near[700], far[700], to[700], loop[700];
        const char *const folder = output_fresh_folder("links");
        struct stat info;
        snprintf(to, sizeof to, "%s/there", folder);
        assert_int_equal(mkdir(to, 0755), 0);
        snprintf(target, sizeof target, "%s/there/target%s", folder, row->ending);
        snprintf(near, sizeof near, "%s/near%s", folder, row->ending);
        snprintf(far, sizeof far, "%s/far%s", folder, row->ending);
        snprintf(loop, sizeof loop, "%s/loop%s", folder, row->ending);
        snprintf(to, sizeof to, "there/target%s", row->ending);
        assert_int_equal(symlink(to, near), 0);
        assert_int_equal(symlink(near, far), 0);
        assert_int_equal(symlink(loop, loop), 0);
        for (int turn = 0; turn < 2; turn++) { /* the target is missing, then replaced */
            mote_context_clear(ctx);
            output_must(ctx, row, row->write(ctx, cloud, row, far));
            assert_int_equal(lstat(far, &info), 0);
            assert_true(S_ISLNK(info.st_mode));
            assert_int_equal(lstat(near, &info), 0);
            assert_true(S_ISLNK(info.st_mode));
            assert_int_equal(lstat(target, &info), 0);
            assert_true(i < OUTPUT_FILE_WRITERS ? S_ISREG(info.st_mode) : S_ISDIR(info.st_mode));
            assert_int_equal(output_entries(folder), 4);
        }
        const mote_status status = row->write(ctx, cloud, row, loop);
        if (status != MOTE_ERROR_IO) fail_msg("%s: a loop of links: status %d", row->name, status);
        assert_non_null(strstr(mote_context_message(ctx), strerror(ELOOP)));
        assert_int_equal(output_entries(folder), 4);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static mode_t mode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

void the_mode_of_a_replaced_file_is_kept(void **state) {
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0664, 0755, 0444};
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = output_cloud(ctx);
    const mode_t mask = umask(022);
    for (size_t i = 0; i < OUTPUT_WRITERS; i++) {
        const output_writer *row = &output_writers[i];
        const bool is_folder = i >= OUTPUT_FILE_WRITERS;
        char path[700], inner[800];
        snprintf(path, sizeof path, "%s/out%s", output_fresh_folder("modes"), row->ending);
        snprintf(inner, sizeof inner, "%s/octree.bin", path);
        output_must(ctx, row, row->write(ctx, cloud, row, path));
        assert_int_equal(mode_of(path), is_folder ? 0755 : 0644);
        for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
            const mode_t mode = is_folder ? modes[m] | 0700 : modes[m];
            assert_int_equal(chmod(path, mode), 0);
            if (is_folder) assert_int_equal(chmod(inner, modes[m]), 0);
            output_must(ctx, row, row->write(ctx, cloud, row, path));
            assert_int_equal(mode_of(path), mode);
            if (is_folder) assert_int_equal(mode_of(inner), modes[m]);
        }
        if (getuid() != 0) continue;
        struct stat info;
        assert_int_equal(chown(path, 65534, 65534), 0);
        output_must(ctx, row, row->write(ctx, cloud, row, path));
        assert_int_equal(stat(path, &info), 0);
        assert_true(info.st_uid == 65534 && info.st_gid == 65534);
    }
    umask(mask);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Another name of the same file keeps the old content. */
void a_hard_link_keeps_the_old_content(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = output_cloud(ctx);
    char path[700], other[700];
    const char *const folder = output_fresh_folder("hard");
    snprintf(path, sizeof path, "%s/out.las", folder);
    snprintf(other, sizeof other, "%s/other.las", folder);
    test_write_file(path, "old", 3);
    assert_int_equal(link(path, other), 0);
    test_write(ctx, cloud, path, NULL);
    output_assert_same(&output_writers[0], other, "old", 3);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- names */

void the_longest_names_work(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = output_cloud(ctx);
    for (size_t i = 0; i < OUTPUT_WRITERS; i++) {
        const output_writer *row = &output_writers[i];
        for (int letters = 0; letters < 2; letters++) { /* of one byte, of two */
            const char *const folder = output_fresh_folder("names");
            char name[NAME_MAX + 1] = "", path[1024];
            const size_t ending_bytes = strlen(row->ending);
            while (strlen(name) + 2 + ending_bytes <= NAME_MAX) strcat(name, letters == 0 ? "ab" : "ü");
            if (strlen(name) + ending_bytes < NAME_MAX) strcat(name, "c");
            strcat(name, row->ending);
            assert_int_equal(strlen(name), NAME_MAX);
            snprintf(path, sizeof path, "%s/%s", folder, name);
            output_must(ctx, row, row->write(ctx, cloud, row, path));
            output_must(ctx, row, row->write(ctx, cloud, row, path));
            assert_int_equal(access(path, F_OK), 0);
            assert_int_equal(output_entries(folder), 1);
            strcpy(path + strlen(path), "x");
            mote_context_clear(ctx);
            if (row->write(ctx, cloud, row, path) == MOTE_OK) fail_msg("%s: a name of 256 bytes", row->name);
            assert_non_null(strstr(mote_context_message(ctx), strerror(ENAMETOOLONG)));
            mote_context_clear(ctx);
        }
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A path as long as the system takes, PATH_MAX with its final zero. */
void the_longest_path_works(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = output_cloud(ctx);
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s", output_fresh_folder("paths"));
    while (strlen(path) + 200 < PATH_MAX) {
        memset(strchr(path, '\0'), 0, 1);
        strcat(path, "/");
        for (int i = 0; i < 90; i++) strcat(path, "d");
        assert_int_equal(mkdir(path, 0755), 0);
    }
    strcat(path, "/");
    while (strlen(path) + 1 + 4 < PATH_MAX) strcat(path, "f");
    strcat(path, ".las");
    assert_int_equal(strlen(path), PATH_MAX - 1);
    test_write(ctx, cloud, path, NULL);
    assert_int_equal(access(path, F_OK), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* What a killed process of the same number left is in nobody's way. */
void leftovers_are_in_nobodys_way(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = output_cloud(ctx);
    for (size_t i = 0; i < OUTPUT_WRITERS; i++) {
        const output_writer *row = &output_writers[i];
        for (int kind = 0; kind < 3; kind++) { /* a file, a folder, a link to a file of someone else */
            char path[700], leftover[800], mine[700];
            const char *const folder = output_fresh_folder("left");
            snprintf(path, sizeof path, "%s/out%s", folder, row->ending);
            snprintf(leftover, sizeof leftover, "%s.%ld.part", path, (long)getpid());
            snprintf(mine, sizeof mine, "%s/mine", folder);
            test_write_file(mine, "mine", 4);
            if (kind == 0) test_write_file(leftover, "half", 4);
            if (kind == 1) assert_int_equal(mkdir(leftover, 0755), 0);
            if (kind == 2) assert_int_equal(symlink(mine, leftover), 0);
            mote_context_clear(ctx);
            output_must(ctx, row, row->write(ctx, cloud, row, path));
            assert_int_equal(output_entries(folder), 3);
            output_assert_same(row, mine, "mine", 4);
        }
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

typedef struct rival {
    const output_writer *row;
    const char *path;
    int failures;
} rival;

static void *write_often(void *user) {
    rival *r = user;
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    mote_cloud *cloud = NULL;
    params.threads = 1;
    params.device = MOTE_DEVICE_CPU;
    mote_gen_params made = mote_gen_defaults("city");
    r->failures = mote_context_create(&params, &ctx) != MOTE_OK ||
                  mote_generate(ctx, "city", OUTPUT_POINTS, &made, &cloud) != MOTE_OK;
    for (int turn = 0; turn < 5 && r->failures == 0; turn++) {
        const mote_status status = r->row->write(ctx, cloud, r->row, r->path);
        if (status != MOTE_OK) print_message("%s: %s\n", r->row->name, mote_context_message(ctx));
        r->failures += status != MOTE_OK;
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return NULL;
}

/* Threads with contexts of their own write one name: each time a whole file, or folder, gets it. */
void writers_of_one_name_do_not_meet(void **state) {
    (void)state;
    enum { RIVALS = 3 };
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = output_cloud(ctx);
    for (size_t i = 0; i < OUTPUT_WRITERS; i++) {
        const output_writer *row = &output_writers[i];
        const char *const inside = i < OUTPUT_FILE_WRITERS ? "" : "/octree.bin";
        char path[700], alone[700], octree[720];
        pthread_t threads[RIVALS];
        rival rivals[RIVALS];
        if (row->write == output_pieces) continue; /* what is generated is no piece of a LAS file */
        const char *const folder = output_fresh_folder("rivals");
        snprintf(path, sizeof path, "%s/out%s", folder, row->ending);
        for (int k = 0; k < RIVALS; k++) {
            rivals[k] = (rival){row, path, 0};
            assert_int_equal(pthread_create(&threads[k], NULL, write_often, &rivals[k]), 0);
        }
        for (int k = 0; k < RIVALS; k++) {
            pthread_join(threads[k], NULL);
            assert_int_equal(rivals[k].failures, 0);
        }
        assert_int_equal(output_entries(folder), 1);
        snprintf(alone, sizeof alone, "%s/alone%s", folder, row->ending);
        rival last = {row, alone, 0};
        write_often(&last);
        size_t size = 0;
        snprintf(octree, sizeof octree, "%s%s", alone, inside);
        char *const bytes = test_load(octree, &size);
        snprintf(octree, sizeof octree, "%s%s", path, inside);
        output_assert_same(row, octree, bytes, size);
        free(bytes);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
