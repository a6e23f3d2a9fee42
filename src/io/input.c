#define _GNU_SOURCE /* strerror_r */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_internal.h"
#include "io/outputs.h"

#define FIRST_BYTES (1u << 16) /* for what tells no size */
#define PIECE_BYTES (1u << 26) /* read between two looks at whether to go on */
#define WAIT_MS     100        /* for the writer of an empty pipe */

mote_status mote_system_error(mote_context *ctx, const char *path, const char *doing) {
    const int code = errno;
    const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
    const mote_status status = full ? MOTE_ERROR_DISK : code == EPIPE ? MOTE_ERROR_CLOSED : MOTE_ERROR_IO;
    char text[128];
    return mote_fail(ctx, status, "%s: cannot %s: %s%s", path, doing, strerror_r(code, text, sizeof text),
                     code == EFBIG ? "; a limit of the file system, or of \"ulimit -f\"" : "");
}

mote_status mote_malformed(mote_context *ctx, const mote_input *input, uint64_t offset, const char *format, ...) {
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return mote_fail(ctx, MOTE_ERROR_DATA, "%s: offset %llu: %s", input->path, (unsigned long long)offset, why);
}

/* ---- what cannot be mapped */

/* Waits until there is something to read, but not longer than the user wants. */
static mote_status wait_for_bytes(mote_context *ctx, int file) {
    struct pollfd source = {file, POLLIN, 0};
    int ready = 0;
    while (ready == 0 || (ready < 0 && errno == EINTR)) {
        ready = poll(&source, 1, WAIT_MS);
        MOTE_TRY(mote_progress(ctx, 0, "reading"));
    }
    return MOTE_OK;
}

/* Bytes of a piece, 0 at the end, -1 and errno. A file is read where its descriptor stands, which stays there: so it
   can be read again. */
static ssize_t read_piece(int file, bool is_file, uint64_t from, void *to, uint64_t max_bytes) {
    const size_t max = max_bytes < PIECE_BYTES ? (size_t)max_bytes : PIECE_BYTES;
    return is_file ? pread(file, to, max, (off_t)from) : read(file, to, max);
}

/* Everything until the end, of a pipe, a device, or a file that cannot be mapped. */
static mote_status read_all(mote_context *ctx, int file, const struct stat *info, mote_input *input) {
    const bool is_file = S_ISREG(info->st_mode);
    const off_t here = is_file ? lseek(file, 0, SEEK_CUR) : 0;
    const uint64_t begin = here > 0 ? (uint64_t)here : 0, end = (uint64_t)info->st_size;
    const uint64_t expected = is_file && end > begin ? end - begin + 1 : FIRST_BYTES; /* one more tells the end */
    void *memory = NULL;
    uint64_t capacity = 0, size = 0;
    mote_status status = MOTE_OK;
    while (status == MOTE_OK) {
        if (!mote_reserve(ctx, &memory, &capacity, size > 0 ? size + 1 : expected, 1, "input")) {
            status = MOTE_ERROR_MEMORY;
            break;
        }
        status = wait_for_bytes(ctx, file);
        if (status != MOTE_OK) break;
        const ssize_t got = read_piece(file, is_file, begin + size, (uint8_t *)memory + size, capacity - size);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) status = mote_system_error(ctx, input->path, "read");
        if (got <= 0) break;
        size += (uint64_t)got;
    }
    if (status == MOTE_OK) {
        input->data = input->owned = memory;
        input->size_bytes = size;
        return MOTE_OK;
    }
    mote_free(ctx, memory);
    return status;
}

static mote_status map_file(mote_context *ctx, int file, const struct stat *info, mote_input *input) {
    MOTE_TRY(mote_file_map(ctx, input->path, file, info, &input->mapped));
    input->data = mote_mapped_bytes(input->mapped);
    input->size_bytes = (uint64_t)info->st_size;
    input->file = file;
    return MOTE_OK;
}

/* A pipe that nobody writes yet is waited for. *is_new: it was written just now, and is not under its name yet. */
static mote_status open_path(mote_context *ctx, const char *path, int *file, bool *is_new) {
    const int descriptor = mote_path_descriptor(path, STDIN_FILENO);
    *file = mote_outputs_open(ctx, path);
    *is_new = *file >= 0;
    if (*is_new) return MOTE_OK;
    do {
        *file = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (*file < 0 && errno == EINTR) MOTE_TRY(mote_progress(ctx, 0, "reading"));
    } while (*file < 0 && errno == EINTR);
    if (*file >= 0) return MOTE_OK;
    return mote_system_error(ctx, mote_is_dash(path) ? STANDARD_INPUT : path, "open");
}

bool mote_input_is_read_once(const char *path) {
    const int descriptor = mote_path_descriptor(path, STDIN_FILENO);
    struct stat info;
    const bool known = descriptor >= 0 ? fstat(descriptor, &info) == 0 : stat(path, &info) == 0;
    return known && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* Takes what is open as the input; is_new: it is an output of the same command, and no input of it. */
static mote_status take(mote_context *ctx, int file, bool is_new, mote_input *input) {
    struct stat info;
    mote_status status = MOTE_OK;
    if (fstat(file, &info) != 0) {
        status = mote_system_error(ctx, input->path, "look at");
    } else if (S_ISDIR(info.st_mode)) {
        status = mote_fail(ctx, MOTE_ERROR_IO, "%s: is a directory without metadata.json", input->path);
    } else if (!is_new) {
        status = mote_outputs_read(ctx, input->path, &info);
    }
    if (status == MOTE_OK && S_ISREG(info.st_mode) && info.st_size > 0 && lseek(file, 0, SEEK_CUR) == 0) {
        status = map_file(ctx, file, &info, input);
    } else if (status == MOTE_OK) {
        status = read_all(ctx, file, &info, input);
    }
    if (input->mapped == NULL) close(file);
    return status;
}

static void begin(const char *path, mote_input *input) {
    memset(input, 0, sizeof *input);
    input->path = path;
    input->data = (const uint8_t *)"";
}

mote_status mote_input_open(mote_context *ctx, const char *path, mote_input *input) {
    bool is_new = false;
    int file = -1;
    begin(mote_is_dash(path) ? STANDARD_INPUT : path, input);
    MOTE_TRY(open_path(ctx, path, &file, &is_new));
    return take(ctx, file, is_new, input);
}

/* O_NONBLOCK: a pipe without a writer is not waited for. */
static mote_status open_regular(mote_context *ctx, const char *path, int flags, bool is_own, const char *rule,
                                mote_input *input) {
    struct stat info;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
    if (file < 0) return mote_system_error(ctx, input->path, "open");
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode)) return take(ctx, file, is_own, input);
    close(file);
    return mote_fail(ctx, MOTE_ERROR_IO, "%s: is a pipe, a device or a folder%s", input->path, rule);
}

mote_status mote_input_open_part(mote_context *ctx, const char *path, mote_input *input) {
    begin(path, input);
    return open_regular(ctx, path, 0, false, ", and no file", input);
}

mote_status mote_input_open_own(mote_context *ctx, const char *path, mote_input *input) {
    begin(path, input);
    return open_regular(ctx, path, 0, true, ", and no file", input);
}

mote_status mote_input_open_file(mote_context *ctx, const char *path, const char *title, mote_input *input) {
    begin(title, input);
    return open_regular(ctx, path, O_NOFOLLOW, false, "; scenes name files", input);
}

void mote_input_close(mote_context *ctx, mote_input *input) {
    if (input->mapped != NULL) close(input->file);
    mote_file_unmap(ctx, input->mapped);
    mote_free(ctx, input->owned);
    input->mapped = NULL;
    input->owned = NULL;
}

mote_status mote_input_check(mote_context *ctx, const mote_input *input) {
    return input->mapped != NULL ? mote_mapped_check(ctx, input->mapped) : MOTE_OK;
}

void mote_input_forget(const mote_input *input, uint64_t first, uint64_t end) {
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    first = (first + page_bytes - 1) / page_bytes * page_bytes;
    end = end / page_bytes * page_bytes;
    if (input->mapped == NULL || first >= end) return;
    (void)madvise((void *)(uintptr_t)(input->data + first), end - first, MADV_DONTNEED);
}

void mote_input_expect(const mote_input *input, uint64_t first, uint64_t end) {
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    first = first / page_bytes * page_bytes;
    if (input->mapped == NULL || first >= end) return;
    (void)madvise((void *)(uintptr_t)(input->data + first), end - first, MADV_WILLNEED);
}

void mote_input_scatter(const mote_input *input) {
    if (input->mapped != NULL) (void)posix_fadvise(input->file, 0, 0, POSIX_FADV_RANDOM);
}

/* Where the file ends now says more than where a thread, one of several, found nothing; and it is always the same. */
static mote_status became_shorter(mote_context *ctx, const mote_input *input, uint64_t at) {
    struct stat info;
    const bool known = fstat(input->file, &info) == 0 && (uint64_t)info.st_size < at;
    return mote_fail(ctx, MOTE_ERROR_CHANGED,
                     "%s: offset %llu: the file became shorter while it was read; it had %llu bytes", input->path,
                     (unsigned long long)(known ? (uint64_t)info.st_size : at), (unsigned long long)input->size_bytes);
}

mote_status mote_input_copy(mote_context *ctx, const mote_input *input, uint64_t at, uint64_t size_bytes, void *to) {
    const bool from_file = input->mapped != NULL;
    if (!from_file) memcpy(to, input->data + at, size_bytes);
    for (uint64_t done = 0; done < size_bytes && from_file;) {
        const ssize_t got = pread(input->file, (uint8_t *)to + done, size_bytes - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return mote_system_error(ctx, input->path, "read");
        if (got == 0) return became_shorter(ctx, input, at + done);
        done += (uint64_t)got;
    }
    return MOTE_OK;
}

mote_status mote_input_give(mote_context *ctx, mote_input *input, mote_cloud *cloud) {
    (void)ctx;
    mote_status status = MOTE_OK;
    if (input->mapped != NULL) {
        close(input->file);
        status = mote_cloud_adopt_mapped(cloud, input->mapped);
    } else if (input->owned != NULL) {
        status = mote_cloud_adopt(cloud, input->owned);
    }
    input->mapped = NULL;
    input->owned = NULL;
    return status;
}
