/* A file in a file system in memory, written by all threads at once. Calls that write to one file take turns there, and
   so does what enters new pages into it: one thread does that ahead of the others, which then fill them side by side.
 */
#define _GNU_SOURCE /* fallocate, madvise */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "io/io_internal.h"

#define MAP_FROM_BYTES (64u << 20) /* smaller files are written about as fast by calls */
#define PIECE_BYTES    (16u << 20)
#if !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

typedef struct output_map {
    int file;
    uint8_t *memory;
    uint64_t size_bytes;
    pthread_t maker;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t more;
    uint64_t made_bytes; /* have their pages */
    int failure;         /* errno of what ended it */
    bool closing;
} output_map;

/* Enters the pages of the file, piece after piece. */
static void *make_pages(void *user) {
    output_map *map = user;
    bool going = true;
    for (uint64_t at = 0; going && at < map->size_bytes; at += PIECE_BYTES) {
        const uint64_t left = map->size_bytes - at, size_bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
        int failure = 0;
        while (fallocate(map->file, 0, (off_t)at, (off_t)size_bytes) != 0 && failure == 0) {
            failure = errno == EINTR ? 0 : errno;
        }
        pthread_mutex_lock(&map->lock);
        map->made_bytes = at + size_bytes;
        map->failure = failure;
        going = failure == 0 && !map->closing;
        pthread_cond_broadcast(&map->more);
        pthread_mutex_unlock(&map->lock);
    }
    return NULL;
}

static void release(mote_context *ctx, output_map *map) {
    if (map->memory != NULL) munmap(map->memory, map->size_bytes);
    pthread_cond_destroy(&map->more);
    pthread_mutex_destroy(&map->lock);
    mote_free(ctx, map);
}

static bool open_map(output_map *map, int file, uint64_t size_bytes) {
    map->file = file;
    map->size_bytes = size_bytes;
    if (ftruncate(file, (off_t)size_bytes) != 0) return false;
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return false;
    map->memory = memory;
    return pthread_create(&map->maker, NULL, make_pages, map) == 0;
}

void mote_output_expect(mote_context *ctx, mote_output *output, uint64_t size_bytes) {
    struct statfs system;
    if (size_bytes < MAP_FROM_BYTES || output->map != NULL) return;
    if (fstatfs(output->file, &system) != 0 || system.f_type != TMPFS_MAGIC) return;
    output_map *map = mote_alloc_zero(ctx, sizeof *map, "output");
    if (map == NULL) return;
    pthread_mutex_init(&map->lock, NULL);
    pthread_cond_init(&map->more, NULL);
    if (open_map(map, output->file, size_bytes)) {
        output->map = map;
    } else {
        release(ctx, map); /* by calls, then */
    }
}

/* Waits until the pages up to an offset are there. */
static bool wait_for(output_map *map, uint64_t end) {
    pthread_mutex_lock(&map->lock);
    while (map->failure == 0 && map->made_bytes < end) pthread_cond_wait(&map->more, &map->lock);
    const int failure = map->failure;
    pthread_mutex_unlock(&map->lock);
    errno = failure;
    return failure == 0;
}

bool output_map_write(output_map *map, const void *data, uint64_t size_bytes, uint64_t offset) {
    if (size_bytes == 0) return true;
    if (offset > map->size_bytes || size_bytes > map->size_bytes - offset) {
        errno = EFBIG;
        return false;
    }
    if (!wait_for(map, offset + size_bytes)) return false;
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), first = offset / page_bytes * page_bytes;
    madvise(map->memory + first, offset + size_bytes - first, MADV_POPULATE_WRITE); /* only saves time */
    memcpy(map->memory + offset, data, size_bytes);
    return true;
}

void output_map_close(mote_context *ctx, output_map *map) {
    if (map == NULL) return;
    pthread_mutex_lock(&map->lock);
    map->closing = true;
    pthread_mutex_unlock(&map->lock);
    pthread_join(map->maker, NULL);
    release(ctx, map);
}
