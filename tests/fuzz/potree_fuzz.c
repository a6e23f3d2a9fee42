/* The Potree reader on arbitrary bytes: two sizes of 32 bits, then metadata.json, hierarchy.bin and octree.bin. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/potree/potree.h"

#define MAX_MEMORY (64ull << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Refuses what the input's size cannot justify, so that the sanitizer's own limits are not what is tested. */
static void *limited_allocate(void *user, size_t size_bytes) {
    (void)user;
    return size_bytes <= MAX_MEMORY ? aligned_alloc(64, (size_bytes + 63) / 64 * 64) : NULL;
}

static void limited_release(void *user, void *memory, size_t size_bytes) {
    (void)user, (void)size_bytes;
    free(memory);
}

static mote_input part(const char *name, const uint8_t **data, size_t *size, size_t part_size) {
    mote_input input;
    memset(&input, 0, sizeof input);
    const size_t taken = part_size < *size ? part_size : *size;
    uint8_t *copy = malloc(taken > 0 ? taken : 1); /* exactly as large, so that a read past the end is seen */
    if (copy != NULL && taken > 0) memcpy(copy, *data, taken);
    input.path = name;
    input.data = copy;
    input.size_bytes = copy != NULL ? taken : 0;
    *data += taken;
    *size -= taken;
    return input;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t sizes[2];
    if (size < sizeof sizes) return 0;
    memcpy(sizes, data, sizeof sizes);
    data += sizeof sizes;
    size -= sizeof sizes;
    potree_files files;
    files.metadata = part("metadata.json", &data, &size, sizes[0]);
    files.hierarchy = part("hierarchy.bin", &data, &size, sizes[1]);
    files.octree = part("octree.bin", &data, &size, size);
    mote_context_params params = mote_context_defaults();
    params.threads = 1;
    params.device = MOTE_DEVICE_CPU;
    params.allocator.allocate = limited_allocate;
    params.allocator.release = limited_release;
    mote_context *ctx = NULL;
    if (mote_context_create(&params, &ctx) == MOTE_OK) {
        static const mote_box box = {{-1, -1, -1}, {10, 10, 10}};
        for (int way = 0; way < 3; way++) {
            mote_read_params reading = mote_read_defaults();
            mote_cloud *cloud = NULL;
            uint64_t hash = 0;
            if (way == 1) reading.level = 0;
            if (way == 2) reading.bounds = &box;
            if (way == 2) reading.resolution = 0.5;
            mote_context_clear(ctx);
            if (potree_parse(ctx, &files, &reading, &cloud) == MOTE_OK) mote_cloud_hash(ctx, cloud, &hash);
            mote_cloud_destroy(cloud);
        }
        if (mote_context_memory_bytes(ctx) != 0) abort();
        mote_context_destroy(ctx);
    }
    free((void *)(uintptr_t)files.metadata.data);
    free((void *)(uintptr_t)files.hierarchy.data);
    free((void *)(uintptr_t)files.octree.data);
    return 0;
}
