/* Outputs that are pipes, devices and the like. */
#define _GNU_SOURCE /* pipe2 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output_test.h"

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
static mote_status write_to_pipe(mote_context *ctx, const mote_cloud *cloud, const output_writer *row,
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

void a_pipe_gets_the_bytes_of_the_file(void **state) {
    (void)state;
    test_progress progress = {0};
    mote_context *const ctx = test_context_watched(&progress);
    mote_cloud *const cloud = output_cloud(ctx);
    for (size_t i = 0; i < OUTPUT_FILE_WRITERS; i++) {
        const output_writer *row = &output_writers[i];
        char path[700];
        snprintf(path, sizeof path, "%s/plain%s", output_fresh_folder("pipes"), row->ending);
        output_must(ctx, row, row->write(ctx, cloud, row, path));
        pipe_reader reader = {.max = 1 << 24};
        progress = (test_progress){0};
        output_must(ctx, row, write_to_pipe(ctx, cloud, row, &reader));
        const bool is_one_call = strcmp(row->name, "COPC") != 0; /* which is built first */
        if (is_one_call && progress.backwards) fail_msg("%s: progress went back", row->name);
        output_assert_same(row, path, reader.bytes, reader.size);
        free(reader.bytes);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void a_fifo_is_written_to(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = output_cloud(ctx);
    for (size_t i = 0; i < OUTPUT_FILE_WRITERS; i++) {
        const output_writer *row = &output_writers[i];
        char path[700], fifo[700];
        const char *const folder = output_fresh_folder("fifos");
        snprintf(path, sizeof path, "%s/plain%s", folder, row->ending);
        snprintf(fifo, sizeof fifo, "%s/fifo%s", folder, row->ending);
        output_must(ctx, row, row->write(ctx, cloud, row, path));
        assert_int_equal(mkfifo(fifo, 0600), 0);
        pipe_reader reader = {.max = 1 << 24, .file = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
        assert_true(reader.file >= 0);
        fcntl(reader.file, F_SETFL, 0);
        const int kept = open(fifo, O_WRONLY | O_CLOEXEC); /* the reader sees no end before the writer came */
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, read_pipe, &reader), 0);
        output_must(ctx, row, row->write(ctx, cloud, row, fifo));
        close(kept);
        pthread_join(thread, NULL);
        output_assert_same(row, path, reader.bytes, reader.size);
        free(reader.bytes);
        struct stat info;
        assert_int_equal(stat(fifo, &info), 0);
        assert_true(S_ISFIFO(info.st_mode));
        assert_int_equal(output_entries(folder), 2);
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
void a_closed_pipe_is_an_error(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = output_cloud(ctx);
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    for (size_t i = 0; i < OUTPUT_FILE_WRITERS; i++) {
        pipe_reader reader = {.max = 100};
        mote_context_clear(ctx);
        const mote_status status = write_to_pipe(ctx, cloud, &output_writers[i], &reader);
        if (status != MOTE_ERROR_CLOSED) fail_msg("%s: status %d", output_writers[i].name, status);
        free(reader.bytes);
        assert_false(is_pending(SIGPIPE));
    }
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A caller that blocks the signal and has one pending keeps it; one that has none gets none. */
void signals_of_the_caller_stay_his(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = output_cloud(ctx);
    sigset_t pipes, before;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipes, &before);
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1) pthread_kill(pthread_self(), SIGPIPE);
        pipe_reader reader = {.max = 100};
        mote_context_clear(ctx);
        assert_int_equal(write_to_pipe(ctx, cloud, &output_writers[0], &reader), MOTE_ERROR_CLOSED);
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

/* A reader that does not read output_must not keep the writer from being cancelled. */
void a_full_pipe_can_be_cancelled(void **state) {
    (void)state;
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL, *const plain = test_context(1);
    mote_cloud *const cloud = output_cloud(plain);
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

void devices_are_written_to(void **state) {
    (void)state;
    mote_context *const ctx = test_context(2);
    mote_cloud *const cloud = output_cloud(ctx);
    struct stat before, after;
    assert_int_equal(stat("/dev/null", &before), 0);
    for (size_t i = 0; i < OUTPUT_FILE_WRITERS; i++) {
        mote_context_clear(ctx);
        output_must(ctx, &output_writers[i], output_writers[i].write(ctx, cloud, &output_writers[i], "/dev/null"));
        if (access("/dev/full", W_OK) != 0) continue;
        const mote_status status = output_writers[i].write(ctx, cloud, &output_writers[i], "/dev/full");
        if (status != MOTE_ERROR_DISK) fail_msg("%s: status %d", output_writers[i].name, status);
        assert_non_null(strstr(mote_context_message(ctx), "/dev/full: cannot write: "));
    }
    assert_int_equal(stat("/dev/null", &after), 0);
    assert_true(S_ISCHR(after.st_mode) && after.st_ino == before.st_ino);
    for (size_t i = OUTPUT_FILE_WRITERS; i < OUTPUT_WRITERS; i++) {
        mote_context_clear(ctx);
        assert_int_equal(output_writers[i].write(ctx, cloud, &output_writers[i], "/dev/null"), MOTE_ERROR_IO);
        assert_non_null(strstr(mote_context_message(ctx), "/dev/null: a Potree data set is a folder"));
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void an_output_without_an_ending_needs_a_format(void **state) {
    (void)state;
    mote_context *const ctx = test_context(1);
    mote_cloud *const cloud = output_cloud(ctx);
    mote_write_params params = mote_write_defaults();
    assert_int_equal(mote_cloud_write(ctx, cloud, "-", &params), MOTE_ERROR_ARGUMENT);
    assert_string_equal(mote_context_message(ctx),
                        "standard output: which format? las, laz, ply, pcd, e57, xyz, csv, txt, pts or asc");
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
    output_assert_same(&output_writers[1], test_path("no_ending"), bytes, size);
    free(bytes);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
