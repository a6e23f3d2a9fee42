/* Outputs of every writer: pipes and devices, links, modes, long names, limits, and several writers of one name. */
#define _GNU_SOURCE /* pipe2, setrlimit, chmod */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cloud_files.h"

#define POINTS 3000u

/* What writes, and with which parameters. */
typedef struct writer_row {
    const char *name, *ending;
    bool text, compress, big_endian;
    mote_status (*write)(mote_context *ctx, const mote_cloud *cloud, const struct writer_row *row, const char *path);
} writer_row;

static mote_status write_cloud(mote_context *ctx, const mote_cloud *cloud, const writer_row *row, const char *path) {
    mote_write_params params = mote_write_defaults();
    params.text = row->text;
    params.compress = row->compress;
    params.big_endian = row->big_endian;
    params.format = row->ending + 1;
    return mote_cloud_write(ctx, cloud, path, &params);
}

static mote_status write_pieces(mote_context *ctx, const mote_cloud *cloud, const writer_row *row, const char *path) {
    mote_write_params params = mote_write_defaults();
    mote_writer *writer = NULL;
    params.format = row->ending + 1;
    const mote_status status = mote_writer_open(ctx, cloud, mote_cloud_count(cloud), path, &params, &writer);
    if (status != MOTE_OK) return status;
    return mote_writer_close(writer, mote_writer_add(writer));
}

static mote_status write_octree(mote_context *ctx, const mote_cloud *cloud, const writer_row *row, const char *path) {
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

/* As a caller writes results of its own: in order, and anywhere. */
static mote_status write_own(mote_context *ctx, const mote_cloud *cloud, const writer_row *row, const char *path) {
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

static const writer_row writers[] = {
    {"LAS", ".las", false, false, false, write_cloud},
    {"LAZ", ".laz", false, false, false, write_cloud},
    {"LAS in pieces", ".las", false, false, false, write_pieces},
    {"LAZ in pieces", ".laz", false, false, false, write_pieces},
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
#define WRITERS      (sizeof writers / sizeof writers[0])
#define FILE_WRITERS (WRITERS - 2) /* the last ones write folders */

/* ---- what tests share */

static mote_cloud *cloud_of(mote_context *ctx) {
    mote_cloud *made = NULL;
    const char *const path = test_path("source.las");
    mote_gen_params params = mote_gen_defaults("city");
    assert_int_equal(mote_generate(ctx, "city", POINTS, &params, &made), MOTE_OK);
    test_write(ctx, made, path, NULL);
    mote_cloud_destroy(made);
    return test_read(ctx, path);
}

/* A fresh folder within the test's. */
static const char *fresh_folder(const char *name) {
    static char path[600];
    char command[700];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

static int entries_in(const char *folder) {
    DIR *const directory = opendir(folder);
    assert_non_null(directory);
    int count = -2; /* "." and ".." */
    while (readdir(directory) != NULL) count++;
    closedir(directory);
    return count;
}

static void must(const mote_context *ctx, const writer_row *row, mote_status status) {
    if (status != MOTE_OK) fail_msg("%s: %s", row->name, mote_context_message(ctx));
}

static void assert_same_file(const writer_row *row, const char *path, const char *expected, size_t size) {
    size_t got_bytes = 0;
    char *const got = test_load(path, &got_bytes);
    if (got_bytes != size || memcmp(got, expected, size) != 0) fail_msg("%s: other bytes in %s", row->name, path);
    free(got);
}

/* ---- pipes */

typedef struct pipe_reader {
    int file;
    size_t max; /* bytes after which it closes */
    char *bytes;
    size_t size;
} pipe_reader;

static void *read_pipe(void *user) {
    pipe_reader *r = user;
    ssize_t got = 1;
    r->bytes = malloc(1 << 24);
    while (got > 0 && r->size < r->max) {
        got = read(r->file, r->bytes + r->size, r->max - r->size < 4096 ? r->max - r->size : 4096);
        if (got > 0) r->size += (size_t)got;
    }
    close(r->file);
    return NULL;
}

/* Writes to /dev/fd/N, the end of a pipe of which some bytes are read. */
static mote_status write_to_pipe(mote_context *ctx, const mote_cloud *cloud, const writer_row *row,
                                 pipe_reader *reader) {
    int ends[2];
    char path[64];
    pthread_t thread;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0); /* less than any output */
    reader->file = ends[0];
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, reader), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    const mote_status status = row->write(ctx, cloud, row, path);
    close(ends[1]);
    pthread_join(thread, NULL);
    return status;
}

static void a_pipe_gets_the_bytes_of_the_file(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    for (size_t i = 0; i < FILE_WRITERS; i++) {
        const writer_row *row = &writers[i];
        char path[700];
        snprintf(path, sizeof path, "%s/plain%s", fresh_folder("pipes"), row->ending);
        must(ctx, row, row->write(ctx, cloud, row, path));
        pipe_reader reader = {.max = 1 << 24};
        must(ctx, row, write_to_pipe(ctx, cloud, row, &reader));
        assert_same_file(row, path, reader.bytes, reader.size);
        free(reader.bytes);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void a_fifo_is_written_to(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    for (size_t i = 0; i < FILE_WRITERS; i++) {
        const writer_row *row = &writers[i];
        char path[700], fifo[700];
        const char *const folder = fresh_folder("fifos");
        snprintf(path, sizeof path, "%s/plain%s", folder, row->ending);
        snprintf(fifo, sizeof fifo, "%s/fifo%s", folder, row->ending);
        must(ctx, row, row->write(ctx, cloud, row, path));
        assert_int_equal(mkfifo(fifo, 0600), 0);
        pipe_reader reader = {.max = 1 << 24, .file = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
        assert_true(reader.file >= 0);
        fcntl(reader.file, F_SETFL, 0);
        const int kept = open(fifo, O_WRONLY | O_CLOEXEC); /* the reader sees no end before the writer came */
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, read_pipe, &reader), 0);
        must(ctx, row, row->write(ctx, cloud, row, fifo));
        close(kept);
        pthread_join(thread, NULL);
        assert_same_file(row, path, reader.bytes, reader.size);
        free(reader.bytes);
        struct stat info;
        assert_int_equal(stat(fifo, &info), 0);
        assert_true(S_ISFIFO(info.st_mode));
        assert_int_equal(entries_in(folder), 2);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static bool is_pending(int number) {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, number) == 1;
}

/* Nobody reads on: an error, and no signal. */
static void a_closed_pipe_is_an_error(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    for (size_t i = 0; i < FILE_WRITERS; i++) {
        pipe_reader reader = {.max = 100};
        mote_context_clear(ctx);
        const mote_status status = write_to_pipe(ctx, cloud, &writers[i], &reader);
        if (status != MOTE_ERROR_CLOSED) fail_msg("%s: status %d", writers[i].name, status);
        free(reader.bytes);
        assert_false(is_pending(SIGPIPE));
    }
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A caller that blocks the signal and has one pending keeps it; one that has none gets none. */
static void signals_of_the_caller_stay_his(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = cloud_of(ctx);
    sigset_t pipes, before;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipes, &before);
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1) pthread_kill(pthread_self(), SIGPIPE);
        pipe_reader reader = {.max = 100};
        mote_context_clear(ctx);
        assert_int_equal(write_to_pipe(ctx, cloud, &writers[0], &reader), MOTE_ERROR_CLOSED);
        free(reader.bytes);
        assert_int_equal(is_pending(SIGPIPE), turn == 1);
    }
    const struct timespec at_once = {0, 0};
    assert_int_equal(sigtimedwait(&pipes, NULL, &at_once), SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static bool stop_at_once(void *user, double done, const char *stage) {
    (void)done, (void)stage;
    return ++*(int *)user < 20;
}

/* A reader that does not read must not keep the writer from being cancelled. */
static void a_full_pipe_can_be_cancelled(void **state) {
    (void)state;
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL, *const plain = test_context(1);
    mote_cloud *const cloud = cloud_of(plain);
    int calls = 0, ends[2];
    char path[64];
    params.progress = stop_at_once;
    params.progress_user = &calls;
    params.device = MOTE_DEVICE_CPU;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    mote_write_params writing = mote_write_defaults();
    writing.format = "csv";
    assert_int_equal(mote_cloud_write(ctx, cloud, path, &writing), MOTE_CANCELLED);
    close(ends[0]);
    close(ends[1]);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    mote_context_destroy(plain);
}

static void devices_are_written_to(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    struct stat before, after;
    assert_int_equal(stat("/dev/null", &before), 0);
    for (size_t i = 0; i < FILE_WRITERS; i++) {
        mote_context_clear(ctx);
        must(ctx, &writers[i], writers[i].write(ctx, cloud, &writers[i], "/dev/null"));
        if (access("/dev/full", W_OK) != 0) continue;
        const mote_status status = writers[i].write(ctx, cloud, &writers[i], "/dev/full");
        if (status != MOTE_ERROR_DISK) fail_msg("%s: status %d", writers[i].name, status);
        assert_non_null(strstr(mote_context_message(ctx), "/dev/full: cannot write: "));
    }
    assert_int_equal(stat("/dev/null", &after), 0);
    assert_true(S_ISCHR(after.st_mode) && after.st_ino == before.st_ino);
    for (size_t i = FILE_WRITERS; i < WRITERS; i++) {
        mote_context_clear(ctx);
        assert_int_equal(writers[i].write(ctx, cloud, &writers[i], "/dev/null"), MOTE_ERROR_IO);
        assert_non_null(strstr(mote_context_message(ctx), "/dev/null: a Potree data set is a folder"));
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void an_output_without_an_ending_needs_a_format(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = cloud_of(ctx);
    mote_write_params params = mote_write_defaults();
    assert_int_equal(mote_cloud_write(ctx, cloud, "-", &params), MOTE_ERROR_ARGUMENT);
    assert_string_equal(mote_context_message(ctx),
                        "standard output: which format? las, laz, ply, pcd, xyz, csv, txt, pts or asc");
    const char *const wrong[] = {"", "copc", "ptx", "las ", ".las", "la", "copc.laz", "lasss", "las .laz"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mote_context_clear(ctx);
        params.format = wrong[i];
        if (mote_cloud_write(ctx, cloud, test_path("a.las"), &params) != MOTE_ERROR_UNSUPPORTED)
            fail_msg("%s", wrong[i]);
    }
    params.format = "LAZ";
    mote_context_clear(ctx);
    test_write(ctx, cloud, test_path("no_ending"), &params);
    test_write(ctx, cloud, test_path("ending.laz"), NULL);
    size_t size = 0;
    char *const bytes = test_load(test_path("ending.laz"), &size);
    assert_same_file(&writers[1], test_path("no_ending"), bytes, size);
    free(bytes);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- links and modes */

static void links_are_followed(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    for (size_t i = 0; i < WRITERS; i++) {
        const writer_row *row = &writers[i];
        char target[700], near[700], far[700], to[700], loop[700];
        const char *const folder = fresh_folder("links");
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
            must(ctx, row, row->write(ctx, cloud, row, far));
            assert_int_equal(lstat(far, &info), 0);
            assert_true(S_ISLNK(info.st_mode));
            assert_int_equal(lstat(near, &info), 0);
            assert_true(S_ISLNK(info.st_mode));
            assert_int_equal(lstat(target, &info), 0);
            assert_true(i < FILE_WRITERS ? S_ISREG(info.st_mode) : S_ISDIR(info.st_mode));
            assert_int_equal(entries_in(folder), 4);
        }
        const mote_status status = row->write(ctx, cloud, row, loop);
        if (status != MOTE_ERROR_IO) fail_msg("%s: a loop of links: status %d", row->name, status);
        assert_non_null(strstr(mote_context_message(ctx), strerror(ELOOP)));
        assert_int_equal(entries_in(folder), 4);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static mode_t mode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void the_mode_of_a_replaced_file_is_kept(void **state) {
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0664, 0755, 0444};
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    const mode_t mask = umask(022);
    for (size_t i = 0; i < WRITERS; i++) {
        const writer_row *row = &writers[i];
        const bool is_folder = i >= FILE_WRITERS;
        char path[700], inner[800];
        snprintf(path, sizeof path, "%s/out%s", fresh_folder("modes"), row->ending);
        snprintf(inner, sizeof inner, "%s/octree.bin", path);
        must(ctx, row, row->write(ctx, cloud, row, path));
        assert_int_equal(mode_of(path), is_folder ? 0755 : 0644);
        for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
            const mode_t mode = is_folder ? modes[m] | 0700 : modes[m];
            assert_int_equal(chmod(path, mode), 0);
            if (is_folder) assert_int_equal(chmod(inner, modes[m]), 0);
            must(ctx, row, row->write(ctx, cloud, row, path));
            assert_int_equal(mode_of(path), mode);
            if (is_folder) assert_int_equal(mode_of(inner), modes[m]);
        }
        if (getuid() != 0) continue;
        struct stat info;
        assert_int_equal(chown(path, 65534, 65534), 0);
        must(ctx, row, row->write(ctx, cloud, row, path));
        assert_int_equal(stat(path, &info), 0);
        assert_true(info.st_uid == 65534 && info.st_gid == 65534);
    }
    umask(mask);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Another name of the same file keeps the old content. */
static void a_hard_link_keeps_the_old_content(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = cloud_of(ctx);
    char path[700], other[700];
    const char *const folder = fresh_folder("hard");
    snprintf(path, sizeof path, "%s/out.las", folder);
    snprintf(other, sizeof other, "%s/other.las", folder);
    test_write_file(path, "old", 3);
    assert_int_equal(link(path, other), 0);
    test_write(ctx, cloud, path, NULL);
    assert_same_file(&writers[0], other, "old", 3);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- names */

static void the_longest_names_work(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    for (size_t i = 0; i < WRITERS; i++) {
        const writer_row *row = &writers[i];
        for (int letters = 0; letters < 2; letters++) { /* of one byte, of two */
            const char *const folder = fresh_folder("names");
            char name[NAME_MAX + 1] = "", path[1024];
            const size_t ending_bytes = strlen(row->ending);
            while (strlen(name) + 2 + ending_bytes <= NAME_MAX) strcat(name, letters == 0 ? "ab" : "ü");
            if (strlen(name) + ending_bytes < NAME_MAX) strcat(name, "c");
            strcat(name, row->ending);
            assert_int_equal(strlen(name), NAME_MAX);
            snprintf(path, sizeof path, "%s/%s", folder, name);
            must(ctx, row, row->write(ctx, cloud, row, path));
            must(ctx, row, row->write(ctx, cloud, row, path));
            assert_int_equal(access(path, F_OK), 0);
            assert_int_equal(entries_in(folder), 1);
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
static void the_longest_path_works(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s", fresh_folder("paths"));
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
static void leftovers_are_in_nobodys_way(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    for (size_t i = 0; i < WRITERS; i++) {
        const writer_row *row = &writers[i];
        for (int kind = 0; kind < 3; kind++) { /* a file, a folder, a link to a file of someone else */
            char path[700], leftover[800], mine[700];
            const char *const folder = fresh_folder("left");
            snprintf(path, sizeof path, "%s/out%s", folder, row->ending);
            snprintf(leftover, sizeof leftover, "%s.%ld.part", path, (long)getpid());
            snprintf(mine, sizeof mine, "%s/mine", folder);
            test_write_file(mine, "mine", 4);
            if (kind == 0) test_write_file(leftover, "half", 4);
            if (kind == 1) assert_int_equal(mkdir(leftover, 0755), 0);
            if (kind == 2) assert_int_equal(symlink(mine, leftover), 0);
            mote_context_clear(ctx);
            must(ctx, row, row->write(ctx, cloud, row, path));
            assert_int_equal(entries_in(folder), 3);
            assert_same_file(row, mine, "mine", 4);
        }
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

typedef struct rival {
    const writer_row *row;
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
    r->failures =
        mote_context_create(&params, &ctx) != MOTE_OK || mote_generate(ctx, "city", POINTS, &made, &cloud) != MOTE_OK;
    for (int turn = 0; turn < 5 && r->failures == 0; turn++) {
        const mote_status status = r->row->write(ctx, cloud, r->row, r->path);
        if (status != MOTE_OK) print_message("%s: %s\n", r->row->name, mote_context_message(ctx));
        r->failures += status != MOTE_OK;
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return NULL;
}

/* Threads with contexts of their own write one name: each time a whole file gets it. */
static void writers_of_one_name_do_not_meet(void **state) {
    (void)state;
    enum { RIVALS = 3 };
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = cloud_of(ctx);
    for (size_t i = 0; i < FILE_WRITERS; i++) {
        const writer_row *row = &writers[i];
        char path[700], alone[700];
        pthread_t threads[RIVALS];
        rival rivals[RIVALS];
        if (row->write == write_pieces) continue; /* what is generated is no piece of a LAS file */
        const char *const folder = fresh_folder("rivals");
        snprintf(path, sizeof path, "%s/out%s", folder, row->ending);
        for (int k = 0; k < RIVALS; k++) {
            rivals[k] = (rival){row, path, 0};
            assert_int_equal(pthread_create(&threads[k], NULL, write_often, &rivals[k]), 0);
        }
        for (int k = 0; k < RIVALS; k++) {
            pthread_join(threads[k], NULL);
            assert_int_equal(rivals[k].failures, 0);
        }
        assert_int_equal(entries_in(folder), 1);
        snprintf(alone, sizeof alone, "%s/alone%s", folder, row->ending);
        rival last = {row, alone, 0};
        write_often(&last);
        size_t size = 0;
        char *const bytes = test_load(alone, &size);
        assert_same_file(row, path, bytes, size);
        free(bytes);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- limits */

static const char *old_output(const writer_row *row, mote_context *ctx, const mote_cloud *cloud) {
    static char path[700];
    snprintf(path, sizeof path, "%s/out%s", fresh_folder("limits"), row->ending);
    must(ctx, row, row->write(ctx, cloud, row, path));
    return path;
}

/* The limit of "ulimit -f", with SIGXFSZ as it is by default: it would end the process. */
static void a_limit_of_size_is_an_error(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = cloud_of(ctx);
    for (size_t i = 0; i < WRITERS; i++) {
        const writer_row *row = &writers[i];
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
            assert_int_equal(entries_in(folder), there);
            if (there == 0) continue;
            mote_cloud *read = i < 14 || i >= FILE_WRITERS ? test_read(ctx, path) : NULL; /* not what is no cloud */
            if (read != NULL) assert_int_equal(mote_cloud_count(read), POINTS);
            mote_cloud_destroy(read);
        }
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- failures */

static mote_status write_again(mote_context *ctx, void *user) {
    const writer_row *row = user;
    mote_cloud *cloud = NULL;
    char path[800], folder[700];
    snprintf(folder, sizeof folder, "%s/again", test_folder());
    snprintf(path, sizeof path, "%s/out%s", folder, row->ending);
    mote_status status = mote_cloud_read(ctx, test_path("source.las"), NULL, &cloud);
    if (status == MOTE_OK) status = row->write(ctx, cloud, row, path);
    mote_cloud_destroy(cloud);
    assert_int_equal(entries_in(folder), 1);
    return status;
}

/* Each allocation fails, each step cancels: the old output stays, and nothing beside it. */
static void failures_leave_the_old_output(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = cloud_of(ctx);
    for (size_t i = 0; i < WRITERS; i++) {
        char path[700];
        if (writers[i].write == write_octree) continue; /* tested with the octrees */
        snprintf(path, sizeof path, "%s/out%s", fresh_folder("again"), writers[i].ending);
        must(ctx, &writers[i], writers[i].write(ctx, cloud, &writers[i], path));
        test_each_allocation_fails(write_again, (void *)&writers[i]);
        test_each_step_cancels(write_again, (void *)&writers[i]);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_gets_the_bytes_of_the_file),
        cmocka_unit_test(a_fifo_is_written_to),
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
        cmocka_unit_test(a_limit_of_size_is_an_error),
        cmocka_unit_test(failures_leave_the_old_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
