/* Device memory of an index that is kept from one build or search to the next. */
#include "knn/knn_cuda.h"

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

void knn_cuda_point_set_free(mote_device *gpu, knn_cuda_point_set *point_set) {
    knn_cuda_buffer_release(gpu, &point_set->views);
    knn_cuda_buffer_release(gpu, &point_set->exact);
    knn_cuda_buffer_release(gpu, &point_set->order);
    knn_cuda_buffer_release(gpu, &point_set->boxes);
    knn_cuda_buffer_release(gpu, &point_set->exact_boxes);
    knn_cuda_buffer_release(gpu, &point_set->parts);
}

void knn_cuda_free_curve(mote_device *gpu, knn_cuda_curve *curve) {
    for (int i = 0; i < 3; i++) knn_cuda_buffer_release(gpu, &curve->all[i]);
    for (int i = 0; i < 2; i++) knn_cuda_buffer_release(gpu, &curve->numbers[i]);
}
