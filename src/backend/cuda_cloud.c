#include "backend/cuda_cloud.h"

#include <stdlib.h>

#define ALIGNED_TO 16u /* the widest load of a kernel */

static uintptr_t address_of(const mote_column *column) { return (uintptr_t)column->data; }

/* By stride, then by address: columns of one record follow each other. */
static int compare_places(const void *a, const void *b) {
    const mote_column *one = *(const mote_column *const *)a, *other = *(const mote_column *const *)b;
    if (one->stride_bytes != other->stride_bytes) return one->stride_bytes < other->stride_bytes ? -1 : 1;
    if (address_of(one) != address_of(other)) return address_of(one) < address_of(other) ? -1 : 1;
    return 0;
}

/* How many of columns [first, count) lie within one record that starts with the first; at least one. */
static uint32_t group_length(mote_column *const *columns, uint32_t count, uint64_t *record_bytes) {
    const mote_column *first = columns[0];
    uint32_t length = 0;
    *record_bytes = 0;
    for (; length < count; length++) {
        const mote_column *column = columns[length];
        const uint64_t end = address_of(column) - address_of(first) + mote_type_size(column->type);
        if (column->stride_bytes != first->stride_bytes || (length > 0 && end > first->stride_bytes)) break;
        if (end > *record_bytes) *record_bytes = end;
    }
    return length;
}

/* Where in a block the first value goes so that the most bytes of values are aligned: in a file they seldom are. */
static uint32_t best_shift(mote_column *const *columns, uint32_t count) {
    uint32_t best = 0, most = 0;
    for (uint32_t shift = 0; shift < ALIGNED_TO; shift++) {
        uint32_t aligned = 0;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t size_bytes = mote_type_size(columns[i]->type);
            const uint64_t at = address_of(columns[i]) - address_of(columns[0]) + shift;
            if (at % size_bytes == 0 && columns[i]->stride_bytes % size_bytes == 0) aligned += size_bytes;
        }
        if (aligned > most) best = shift, most = aligned;
    }
    return best;
}

/* Uploads a group as one block and turns its columns to it. No byte behind the last value is read. */
static mote_status upload_group(cuda_cloud *device, mote_column *const *columns, uint32_t count,
                                uint64_t record_bytes) {
    const uint32_t shift = best_shift(columns, count);
    const uint8_t *host = columns[0]->data;
    const uint64_t size_bytes = (device->count - 1) * columns[0]->stride_bytes + record_bytes;
    uint8_t *block = cuda_alloc(device->ctx, shift + size_bytes, "cloud");
    if (block == NULL) return MOTE_ERROR_MEMORY;
    device->blocks[device->block_count++] = block;
    for (uint32_t i = 0; i < count; i++) {
        columns[i]->data = block + shift + (address_of(columns[i]) - (uintptr_t)host);
    }
    return cuda_upload(device->ctx, block + shift, host, size_bytes);
}

static mote_status upload_groups(cuda_cloud *device, mote_column **sorted) {
    for (uint32_t i = 0; i < device->column_count; i++) sorted[i] = &device->columns[i];
    qsort(sorted, device->column_count, sizeof *sorted, compare_places);
    for (uint32_t i = 0; i < device->column_count;) {
        uint64_t record_bytes = 0;
        const uint32_t length = group_length(sorted + i, device->column_count - i, &record_bytes);
        MOTE_TRY(upload_group(device, sorted + i, length, record_bytes));
        i += length;
    }
    return MOTE_OK;
}

static mote_status upload(cuda_cloud *device) {
    mote_column **sorted = mote_alloc(device->ctx, device->column_count * sizeof *sorted, "cloud");
    device->blocks = mote_alloc(device->ctx, device->column_count * sizeof *device->blocks, "cloud");
    const mote_status status =
        sorted != NULL && device->blocks != NULL ? upload_groups(device, sorted) : MOTE_ERROR_MEMORY;
    mote_free(device->ctx, sorted);
    return status;
}

mote_status cuda_cloud_open(mote_context *ctx, const mote_cloud *cloud, cuda_cloud *device) {
    memset(device, 0, sizeof *device);
    device->ctx = ctx;
    device->count = cloud->count;
    device->position_step = cloud->position_step;
    device->columns = mote_alloc(ctx, cloud->column_count * sizeof *device->columns, "cloud");
    if (device->columns == NULL) return MOTE_ERROR_MEMORY;
    device->column_count = (uint32_t)cloud->column_count;
    if (device->column_count == 0) return MOTE_OK;
    memcpy(device->columns, cloud->columns, device->column_count * sizeof *device->columns);
    return cloud->on_device || cloud->count == 0 ? MOTE_OK : upload(device);
}

void cuda_cloud_close(cuda_cloud *device) {
    for (uint32_t i = 0; i < device->block_count; i++) cuda_free(device->ctx, device->blocks[i]);
    mote_free(device->ctx, device->blocks);
    mote_free(device->ctx, device->columns);
    memset(device, 0, sizeof *device);
}

uint32_t cuda_cloud_reach(const cuda_cloud *cloud, const void *records, uint32_t record_bytes) {
    uint64_t reach = 0;
    for (uint32_t i = 0; i < cloud->column_count; i++) {
        const mote_column *column = &cloud->columns[i];
        const uint64_t at = address_of(column) - (uintptr_t)records; /* huge where it lies before them */
        const uint32_t size_bytes = mote_type_size(column->type);
        if (column->stride_bytes != record_bytes || at >= record_bytes || at + size_bytes > record_bytes) return 0;
        if (at + size_bytes > reach) reach = at + size_bytes;
    }
    return (uint32_t)reach;
}

mote_status cuda_cloud_move(const cuda_cloud *cloud, const void *records, void *copy, cuda_cloud *out) {
    memset(out, 0, sizeof *out);
    out->ctx = cloud->ctx;
    out->columns = mote_alloc(cloud->ctx, cloud->column_count * sizeof *out->columns, "cloud");
    out->blocks = mote_alloc(cloud->ctx, sizeof *out->blocks, "cloud");
    if (out->columns == NULL || out->blocks == NULL) {
        cuda_cloud_close(out);
        return MOTE_ERROR_MEMORY;
    }
    out->count = cloud->count;
    out->column_count = cloud->column_count;
    out->position_step = cloud->position_step;
    for (uint32_t i = 0; i < out->column_count; i++) {
        out->columns[i] = cloud->columns[i];
        out->columns[i].data = (uint8_t *)copy + (address_of(&cloud->columns[i]) - (uintptr_t)records);
    }
    out->blocks[out->block_count++] = copy;
    return MOTE_OK;
}

const mote_column *cuda_cloud_find(const cuda_cloud *device, const char *name) {
    for (uint32_t i = 0; i < device->column_count; i++) {
        if (strcmp(device->columns[i].name, name) == 0) return &device->columns[i];
    }
    return NULL;
}

/* Hands the memory and the columns over; what is left in device is still its own. */
static mote_status take_over(cuda_cloud *device, mote_cloud *cloud) {
    while (device->block_count > 0) MOTE_TRY(mote_cloud_adopt_device(cloud, device->blocks[--device->block_count]));
    for (uint32_t i = 0; i < device->column_count; i++) MOTE_TRY(mote_cloud_add_view(cloud, &device->columns[i]));
    return MOTE_OK;
}

mote_status cuda_cloud_upload(mote_context *ctx, const mote_cloud *cloud, mote_cloud **out) {
    cuda_cloud device;
    mote_cloud *copy = NULL;
    *out = NULL;
    mote_status status = cuda_cloud_open(ctx, cloud, &device);
    if (status == MOTE_OK) status = mote_cloud_new(ctx, cloud->count, &copy);
    if (status == MOTE_OK) {
        copy->on_device = true;
        status = take_over(&device, copy);
    }
    cuda_cloud_close(&device);
    if (status != MOTE_OK) {
        mote_cloud_destroy(copy);
        return status;
    }
    *out = copy;
    return MOTE_OK;
}
