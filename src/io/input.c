#define _GNU_SOURCE /* MAP_POPULATE and friends */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_internal.h"

mote_status mote_system_error(mote_context *ctx, const char *path, const char *doing) {
    const int code = errno;
    const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
    char text[128];
    if (strerror_r(code, text, sizeof text) == NULL) text[0] = '\0';
    return mote_fail(ctx, full ? MOTE_ERROR_DISK : MOTE_ERROR_IO, "%s: cannot %s: %s", path, doing,
                     strerror_r(code, text, sizeof text));
}

mote_status mote_malformed(mote_context *ctx, const mote_input *input, uint64_t offset, const char *format, ...) {
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return mote_fail(ctx, MOTE_ERROR_DATA, "%s: offset %llu: %s", input->path, (unsigned long long)offset, why);
}

/* For pipes and other things without a size: everything until the end. */
static mote_status read_all(mote_context *ctx, int file, mote_input *input) {
    void *memory = NULL;
    uint64_t capacity = 0, size = 0;
    for (;;) {
        if (!mote_reserve(ctx, &memory, &capacity, size + (1u << 16), 1, "input")) break;
        const ssize_t got = read(file, (uint8_t *)memory + size, capacity - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            mote_system_error(ctx, input->path, "read");
            break;
        }
        if (got == 0) {
            input->data = input->owned = memory;
            input->size_bytes = size;
            return MOTE_OK;
        }
        size += (uint64_t)got;
    }
    mote_free(ctx, memory);
    return mote_context_status(ctx);
}

static mote_status map_file(mote_context *ctx, int file, uint64_t size_bytes, mote_input *input) {
    void *memory = mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) return mote_system_error(ctx, input->path, "map");
    input->data = memory;
    input->size_bytes = size_bytes;
    input->mapped = true;
    input->file = file;
    return MOTE_OK;
}

mote_status mote_input_open(mote_context *ctx, const char *path, mote_input *input) {
    memset(input, 0, sizeof *input);
    input->path = path;
    input->data = (const uint8_t *)"";
    struct stat info;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return mote_system_error(ctx, path, "open");
    mote_status status = MOTE_OK;
    if (fstat(file, &info) != 0) {
        status = mote_system_error(ctx, path, "look at");
    } else if (S_ISDIR(info.st_mode)) {
        status = mote_fail(ctx, MOTE_ERROR_IO, "%s: is a directory without metadata.json", path);
    } else if (S_ISREG(info.st_mode) && info.st_size > 0) {
        status = map_file(ctx, file, (uint64_t)info.st_size, input);
    } else {
        status = read_all(ctx, file, input);
    }
    if (!input->mapped) close(file);
    return status;
}

void mote_input_close(mote_context *ctx, mote_input *input) {
    if (input->mapped) {
        munmap((void *)(uintptr_t)input->data, input->size_bytes);
        close(input->file);
    }
    mote_free(ctx, input->owned);
    input->mapped = false;
    input->owned = NULL;
}

void mote_input_forget(const mote_input *input, uint64_t first, uint64_t end) {
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    first = (first + page_bytes - 1) / page_bytes * page_bytes;
    end = end / page_bytes * page_bytes;
    if (!input->mapped || first >= end) return;
    (void)madvise((void *)(uintptr_t)(input->data + first), end - first, MADV_DONTNEED);
}

void mote_input_expect(const mote_input *input, uint64_t first, uint64_t end) {
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    first = first / page_bytes * page_bytes;
    if (!input->mapped || first >= end) return;
    (void)madvise((void *)(uintptr_t)(input->data + first), end - first, MADV_WILLNEED);
}

/* Where the file ends now says more than where a thread, one of several, found nothing; and it is always the same. */
static mote_status became_shorter(mote_context *ctx, const mote_input *input, uint64_t at) {
    struct stat info;
    const bool known = fstat(input->file, &info) == 0 && (uint64_t)info.st_size < at;
    return mote_malformed(ctx, input, known ? (uint64_t)info.st_size : at, "the file became shorter while it was read");
}

mote_status mote_input_copy(mote_context *ctx, const mote_input *input, uint64_t at, uint64_t size_bytes, void *to) {
    if (!input->mapped) memcpy(to, input->data + at, size_bytes);
    for (uint64_t done = 0; done < size_bytes && input->mapped;) {
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
    if (input->mapped) {
        close(input->file);
        status = mote_cloud_adopt(cloud, (void *)(uintptr_t)input->data, input->size_bytes);
    } else if (input->owned != NULL) {
        status = mote_cloud_adopt(cloud, input->owned, 0);
    }
    input->mapped = false;
    input->owned = NULL;
    return status;
}
