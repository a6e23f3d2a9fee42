/* A pipe of frames, read by a thread of its own. */
#define _GNU_SOURCE /* memfd_create */
#include "view/live/live_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "view/live/live_frames.h"

#define PIECE_BYTES ((size_t)1 << 20) /* read at a time */
#define WAIT_MS     100               /* after which the thread looks whether it is to end */

struct live_pipe {
    int input;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below it */
    bool is_ending;
    int newest; /* a file in memory; -1: none, or taken */
    uint64_t count;
    char trouble[256];
    /* of the thread alone */
    uint8_t *buffer;
    size_t size, capacity;
    live_framer framer;
};

static bool is_ending(live_pipe *p) {
    pthread_mutex_lock(&p->lock);
    const bool is_it = p->is_ending;
    pthread_mutex_unlock(&p->lock);
    return is_it;
}

static void tell(live_pipe *p, const char *why) {
    pthread_mutex_lock(&p->lock);
    snprintf(p->trouble, sizeof p->trouble, "%s", why);
    pthread_mutex_unlock(&p->lock);
}

/* ---- frames */

/* A frame as a file in memory. Returns -1 where there is no memory for it. */
static int make_file(const uint8_t *data, size_t size) {
    const int file = memfd_create("frame", MFD_CLOEXEC);
    for (size_t at = 0; file >= 0 && at < size;) {
        const ssize_t written = write(file, data + at, size - at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            close(file);
            return -1;
        }
        at += (size_t)written;
    }
    if (file >= 0) lseek(file, 0, SEEK_SET);
    return file;
}

static void publish(live_pipe *p, size_t length) {
    const int file = make_file(p->buffer, length);
    pthread_mutex_lock(&p->lock);
    if (p->newest >= 0) close(p->newest);
    p->newest = file;
    p->count++;
    pthread_mutex_unlock(&p->lock);
}

/* Takes all whole frames out of the buffer; only the last of them is published. Returns false where the bytes are no
   frame. */
static bool take_frames(live_pipe *p, bool is_end) {
    size_t begin = live_frame_gap(p->buffer, p->size), last = 0, last_end = 0;
    live_frame_state state = FRAME_MORE;
    while (begin < p->size) {
        size_t length = 0;
        state = live_frame_end(&p->framer, p->buffer + begin, p->size - begin, is_end, &length);
        if (state != FRAME_WHOLE) break;
        if (last_end > 0) p->count++; /* replaced by the one behind it */
        last = begin;
        last_end = begin + length;
        begin = last_end + live_frame_gap(p->buffer + last_end, p->size - last_end);
        memset(&p->framer, 0, sizeof p->framer);
    }
    if (last_end > 0) {
        memmove(p->buffer, p->buffer + last, p->size - last);
        p->size -= last;
        begin -= last;
        publish(p, last_end - last);
    }
    memmove(p->buffer, p->buffer + begin, p->size - begin);
    p->size -= begin;
    if (state != FRAME_WRONG) return true;
    char why[256];
    snprintf(why, sizeof why, "Frame %" PRIu64 " of the pipe cannot be read: %s. No more are read.", p->count + 1,
             p->framer.why);
    tell(p, why);
    return false;
}

/* ---- the thread */

static bool reserve(live_pipe *p) {
    if (p->capacity - p->size >= PIECE_BYTES) return true;
    const size_t capacity = 2 * p->capacity + PIECE_BYTES;
    uint8_t *buffer = realloc(p->buffer, capacity);
    if (buffer == NULL) return false;
    p->buffer = buffer;
    p->capacity = capacity;
    return true;
}

/* Returns what read does; -1 also where it is to end. */
static ssize_t read_piece(live_pipe *p) {
    struct pollfd wait = {.fd = p->input, .events = POLLIN};
    while (!is_ending(p)) {
        if (poll(&wait, 1, WAIT_MS) <= 0) continue;
        const ssize_t got = read(p->input, p->buffer + p->size, PIECE_BYTES);
        if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return got;
    }
    return -1;
}

static void *read_all(void *user) {
    live_pipe *p = user;
    for (;;) {
        if (!reserve(p)) {
            tell(p, "Memory has run out for a frame of the pipe. No more are read.");
            break;
        }
        const ssize_t got = read_piece(p);
        if (got > 0) p->size += (size_t)got;
        if (!take_frames(p, got <= 0)) break;
        if (got > 0) continue;
        if (!is_ending(p)) tell(p, "The pipe has ended: this is its last frame.");
        break;
    }
    return NULL;
}

/* ---- begin and end */

live_pipe *live_pipe_open(const char *path) {
    live_pipe *p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    p->newest = -1;
    p->input = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    pthread_mutex_init(&p->lock, NULL);
    if (p->input >= 0 && pthread_create(&p->thread, NULL, read_all, p) == 0) return p;
    const int cause = errno;
    if (p->input >= 0) close(p->input);
    free(p);
    errno = cause;
    return NULL;
}

void live_pipe_close(live_pipe *p) {
    if (p == NULL) return;
    pthread_mutex_lock(&p->lock);
    p->is_ending = true;
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    if (p->newest >= 0) close(p->newest);
    close(p->input);
    pthread_mutex_destroy(&p->lock);
    free(p->buffer);
    free(p);
}

bool live_pipe_has_news(live_pipe *p) {
    pthread_mutex_lock(&p->lock);
    const bool is_there = p->newest >= 0;
    pthread_mutex_unlock(&p->lock);
    return is_there;
}

int live_pipe_take(live_pipe *p, uint64_t *number) {
    pthread_mutex_lock(&p->lock);
    const int file = p->newest;
    p->newest = -1;
    *number = p->count;
    pthread_mutex_unlock(&p->lock);
    return file;
}

void live_pipe_trouble(live_pipe *p, char *why, size_t size) {
    pthread_mutex_lock(&p->lock);
    snprintf(why, size, "%s", p->trouble);
    p->trouble[0] = '\0';
    pthread_mutex_unlock(&p->lock);
}
