/* Device memory of an index that is kept from one build or search to the next. */
#include "knn/cuda/knn_cuda.h"

bool knn_cuda_buffer_reserve(mote_device *gpu, knn_cuda_buffer *buffer, uint64_t size_bytes, const char *structure) {
    if (buffer->memory != NULL && buffer->size_bytes >= size_bytes) return true;
    knn_cuda_buffer_release(gpu, buffer);
    buffer->memory = cuda_alloc(gpu, size_bytes, structure);
    buffer->size_bytes = buffer->memory != NULL ? size_bytes : 0;
    return buffer->memory != NULL;
}

void knn_cuda_buffer_release(mote_device *gpu, knn_cuda_buffer *buffer) {
    cuda_free(gpu, buffer->memory);
    memset(buffer, 0, sizeof *buffer);
}

#define PART_BYTES 256u /* parts begin at multiples */

void *knn_cuda_part(void *memory, uint64_t *used_bytes, uint64_t count, uint64_t each_bytes) {
    const uint64_t first = *used_bytes;
    *used_bytes = (first + count * each_bytes + PART_BYTES - 1) / PART_BYTES * PART_BYTES;
    return memory != NULL ? (uint8_t *)memory + first : NULL;
}

void knn_cuda_point_set_free(mote_device *gpu, knn_cuda_point_set *point_set) {
    knn_cuda_buffer_release(gpu, &point_set->arrays);
    knn_cuda_buffer_release(gpu, &point_set->parts);
}
