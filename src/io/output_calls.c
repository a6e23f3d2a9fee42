#define _GNU_SOURCE /* fallocate, sigtimedwait */
#include "io/output_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What is blocked on this thread during a call, and how it was before. */
typedef struct held_signals {
    sigset_t both, before, pending;
} held_signals;

static void hold(held_signals *held) {
    sigemptyset(&held->both);
    sigaddset(&held->both, SIGPIPE);
    sigaddset(&held->both, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &held->both, &held->before);
    sigemptyset(&held->pending);
    sigpending(&held->pending);
}

/* Takes away the signals that the call has sent to this thread; one that was pending before is the caller's. A pipe
   that is closed in the middle of a write sends one although the call tells of bytes that it wrote. */
static void take_new(const held_signals *held) {
    const struct timespec at_once = {0, 0};
    sigset_t new;
    sigemptyset(&new);
    if (sigismember(&held->pending, SIGPIPE) == 0) sigaddset(&new, SIGPIPE);
    if (sigismember(&held->pending, SIGXFSZ) == 0) sigaddset(&new, SIGXFSZ);
    errno = 0;
    while (sigtimedwait(&new, NULL, &at_once) > 0 || errno == EINTR) {}
}

/* errno stays as the call left it. */
static void release(const held_signals *held, bool whole) {
    const int code = errno;
    if (!whole) take_new(held);
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
    errno = code;
}

ssize_t output_call_write(int file, const void *data, size_t size_bytes) {
    held_signals held;
    hold(&held);
    const ssize_t done = write(file, data, size_bytes);
    release(&held, done == (ssize_t)size_bytes);
    return done;
}

ssize_t output_call_pwrite(int file, const void *data, size_t size_bytes, uint64_t offset) {
    held_signals held;
    hold(&held);
    const ssize_t done = pwrite(file, data, size_bytes, (off_t)offset);
    release(&held, done == (ssize_t)size_bytes);
    return done;
}

int output_call_truncate(int file, uint64_t size_bytes) {
    held_signals held;
    hold(&held);
    const int failed = ftruncate(file, (off_t)size_bytes);
    release(&held, failed == 0);
    return failed;
}

int output_call_allocate(int file, uint64_t offset, uint64_t size_bytes) {
    held_signals held;
    hold(&held);
    const int failed = fallocate(file, 0, (off_t)offset, (off_t)size_bytes);
    release(&held, failed == 0);
    return failed;
}

bool output_give_back(int file, uint64_t offset, uint64_t size_bytes) {
    return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size_bytes) == 0;
}
