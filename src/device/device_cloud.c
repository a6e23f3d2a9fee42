#include "device/device_cloud.h"

#include <stdlib.h>

#include "core/uploads.h"
#include "device/backend.h"

#define ALIGNED_TO 16u /* the widest load of a kernel */

static uintptr_t address_of(const mote_column *column) { return (uintptr_t)column->data; }

/* Orders columns by stride, then by address, so that those of one record follow each other. */
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
    uint32_t best = 0, max = 0;
    for (uint32_t shift = 0; shift < ALIGNED_TO; shift++) {
        uint32_t aligned = 0;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t size_bytes = mote_type_size(columns[i]->type);
            const uint64_t at = address_of(columns[i]) - address_of(columns[0]) + shift;
            if (at % size_bytes == 0 && columns[i]->stride_bytes % size_bytes == 0) aligned += size_bytes;
        }
        if (aligned > max) best = shift, max = aligned;
    }
    return best;
}

/* Consecutive entries of a sorted list of columns, within one record. */
typedef struct column_group {
    mote_column *const *columns;
    uint32_t count;
    uint64_t record_bytes; /* that they reach over */
} column_group;

static column_group first_group(mote_column *const *columns, uint32_t count) {
    column_group group = {.columns = columns};
    group.count = group_length(columns, count, &group.record_bytes);
    return group;
}

static uint64_t group_bytes(const column_group *group, uint64_t points) {
    return (points - 1) * group->columns[0]->stride_bytes + group->record_bytes;
}

static void sort_columns(mote_column *columns, uint64_t count, mote_column **sorted) {
    for (uint64_t i = 0; i < count; i++) sorted[i] = &columns[i];
    qsort(sorted, count, sizeof *sorted, compare_places);
}

/* Copies a group to memory of the device, in which its first value is at *place. No byte behind the last value is
   read. */
static mote_status copy_group(device_cloud *view, const column_group *group, void **memory, const uint8_t **place) {
    const uint32_t shift = best_shift(group->columns, group->count);
    const uint64_t size_bytes = group_bytes(group, view->count);
    uint8_t *const block = device_alloc(view->device, shift + size_bytes, "cloud");
    *memory = block;
    if (block == NULL) return MOTE_ERROR_MEMORY;
    *place = block + shift;
    mote_count_upload(view->device->ctx, size_bytes);
    return device_upload(view->device, block + shift, group->columns[0]->data, size_bytes);
}

static mote_status upload_group(device_cloud *view, const column_group *group, const uint8_t **place) {
    void *memory = NULL;
    const mote_status status = copy_group(view, group, &memory, place);
    if (memory != NULL) view->blocks[view->block_count++] = (device_block){memory, false};
    return status;
}

/* The group of all columns in whose records these are: what stays is of use to whoever wants others of them. */
static column_group whole_group(const mote_cloud *cloud, mote_column *const *sorted, const column_group *part) {
    const uint64_t part_at = address_of(part->columns[0]);
    for (uint32_t i = 0; i < cloud->column_count;) {
        const column_group group = first_group(sorted + i, (uint32_t)cloud->column_count - i);
        const uint64_t at = part_at - address_of(group.columns[0]); /* huge where it lies before */
        const bool is_alike = group.columns[0]->stride_bytes == part->columns[0]->stride_bytes;
        if (is_alike && at < group.record_bytes && at + part->record_bytes <= group.record_bytes) return group;
        i += group.count;
    }
    return *part; /* values that the caller made, of the cloud's */
}

/* The same for a cloud that keeps what is uploaded: all: its columns, sorted. */
static mote_status upload_kept(device_cloud *view, const mote_cloud *cloud, mote_column *const *all,
                               const column_group *part, const uint8_t **place) {
    const column_group group = whole_group(cloud, all, part);
    const uint8_t *const host = group.columns[0]->data;
    const uint64_t size_bytes = group_bytes(&group, view->count);
    const uint8_t *first = mote_uploads_use(cloud->uploads, part->columns[0]->data, group_bytes(part, view->count));
    *place = first;
    if (first == NULL) {
        void *memory = NULL;
        const mote_status status = copy_group(view, &group, &memory, &first);
        if (status != MOTE_OK) {
            device_free(view->device, memory);
            return status;
        }
        MOTE_TRY(mote_uploads_add(cloud->uploads, view->device, memory, first, host, size_bytes));
        *place = first + (address_of(part->columns[0]) - (uintptr_t)host);
    }
    view->blocks[view->block_count++] = (device_block){(void *)(uintptr_t)*place, true};
    return MOTE_OK;
}

/* sorted: the columns of the view; all: those of the cloud, NULL if it keeps nothing. */
static mote_status upload_groups(device_cloud *view, const mote_cloud *cloud, mote_column **sorted, mote_column **all) {
    sort_columns(view->columns, view->column_count, sorted);
    if (all != NULL) sort_columns(cloud->columns, cloud->column_count, all);
    for (uint32_t i = 0; i < view->column_count;) {
        const column_group group = first_group(sorted + i, view->column_count - i);
        const uint8_t *place = NULL, *const host = group.columns[0]->data;
        MOTE_TRY(all != NULL ? upload_kept(view, cloud, all, &group, &place) : upload_group(view, &group, &place));
        for (uint32_t k = 0; k < group.count; k++) {
            group.columns[k]->data = place + (address_of(group.columns[k]) - (uintptr_t)host);
        }
        i += group.count;
    }
    return MOTE_OK;
}

static mote_status upload(device_cloud *view, const mote_cloud *cloud, bool keeps) {
    mote_context *const ctx = view->device->ctx;
    const uint64_t all_count = keeps ? cloud->column_count : 0;
    mote_column **sorted = mote_alloc(ctx, (view->column_count + all_count) * sizeof *sorted, "cloud");
    view->blocks = mote_alloc(ctx, view->column_count * sizeof *view->blocks, "cloud");
    mote_status status = MOTE_ERROR_MEMORY;
    if (sorted != NULL && view->blocks != NULL) {
        status = upload_groups(view, cloud, sorted, keeps ? sorted + view->column_count : NULL);
    }
    mote_free(ctx, sorted);
    return status;
}

static mote_status open_columns(mote_device *device, const mote_cloud *cloud, const mote_column *columns,
                                uint64_t column_count, bool keeps, device_cloud *view) {
    memset(view, 0, sizeof *view);
    view->device = device;
    view->count = cloud->count;
    view->position_step = cloud->position_step;
    view->uploads = cloud->uploads;
    view->columns = mote_alloc(device->ctx, column_count * sizeof *view->columns, "cloud");
    if (view->columns == NULL) return MOTE_ERROR_MEMORY;
    view->column_count = (uint32_t)column_count;
    if (view->column_count == 0) return MOTE_OK;
    memcpy(view->columns, columns, view->column_count * sizeof *view->columns);
    return cloud->device != NULL || cloud->count == 0 ? MOTE_OK : upload(view, cloud, keeps);
}

mote_status device_cloud_open_columns(mote_device *device, const mote_cloud *cloud, const mote_column *columns,
                                      uint64_t column_count, device_cloud *view) {
    return open_columns(device, cloud, columns, column_count, mote_uploads_kept(cloud->uploads, device), view);
}

mote_status device_cloud_open(mote_device *device, const mote_cloud *cloud, device_cloud *view) {
    return device_cloud_open_columns(device, cloud, cloud->columns, cloud->column_count, view);
}

void device_cloud_close(device_cloud *view) {
    if (view->device == NULL) return; /* never opened, or closed */
    for (uint32_t i = 0; i < view->block_count; i++) {
        if (view->blocks[i].is_kept) {
            mote_uploads_leave(view->uploads, view->blocks[i].memory);
        } else {
            device_free(view->device, view->blocks[i].memory);
        }
    }
    mote_free(view->device->ctx, view->blocks);
    mote_free(view->device->ctx, view->columns);
    memset(view, 0, sizeof *view);
}

uint32_t device_cloud_record_bytes(const device_cloud *cloud, const void *records, uint32_t record_bytes) {
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

mote_status device_cloud_move(const device_cloud *cloud, const void *records, void *copy, device_cloud *out) {
    memset(out, 0, sizeof *out);
    out->device = cloud->device;
    out->columns = mote_alloc(cloud->device->ctx, cloud->column_count * sizeof *out->columns, "cloud");
    out->blocks = mote_alloc(cloud->device->ctx, sizeof *out->blocks, "cloud");
    if (out->columns == NULL || out->blocks == NULL) {
        device_cloud_close(out);
        return MOTE_ERROR_MEMORY;
    }
    out->count = cloud->count;
    out->column_count = cloud->column_count;
    out->position_step = cloud->position_step;
    for (uint32_t i = 0; i < out->column_count; i++) {
        out->columns[i] = cloud->columns[i];
        out->columns[i].data = (uint8_t *)copy + (address_of(&cloud->columns[i]) - (uintptr_t)records);
    }
    out->blocks[out->block_count++] = (device_block){copy, false};
    return MOTE_OK;
}

const mote_column *device_cloud_find(const device_cloud *view, const char *name) {
    for (uint32_t i = 0; i < view->column_count; i++) {
        if (strcmp(view->columns[i].name, name) == 0) return &view->columns[i];
    }
    return NULL;
}

mote_status device_cloud_positions(const device_cloud *view, const mote_column *axes[3]) {
    const mote_cloud columns = {.columns = view->columns, .column_count = view->column_count};
    return mote_cloud_positions(view->device->ctx, &columns, axes);
}

mote_status device_cloud_open_positions(mote_device *device, const mote_cloud *cloud, device_cloud *view) {
    const mote_column *axes[3];
    memset(view, 0, sizeof *view);
    MOTE_TRY(mote_cloud_positions(device->ctx, cloud, axes));
    const mote_column columns[3] = {*axes[0], *axes[1], *axes[2]};
    return device_cloud_open_columns(device, cloud, columns, 3, view);
}

/* Hands the memory and the columns over; the rest of device is still its own. */
static mote_status take_over(device_cloud *view, mote_cloud *cloud) {
    while (view->block_count > 0)
        MOTE_TRY(mote_cloud_adopt_device(cloud, view->device, view->blocks[--view->block_count].memory));
    for (uint32_t i = 0; i < view->column_count; i++) MOTE_TRY(mote_cloud_add_view(cloud, &view->columns[i]));
    return MOTE_OK;
}

/* A new cloud of the columns of another, in memory of the device that it owns. */
static mote_status copy_columns(mote_device *device, const mote_cloud *cloud, mote_cloud **out) {
    device_cloud view;
    mote_cloud *copy = NULL;
    *out = NULL;
    mote_status status = open_columns(device, cloud, cloud->columns, cloud->column_count, false, &view);
    if (status == MOTE_OK) status = mote_cloud_new(device->ctx, cloud->count, &copy);
    if (status == MOTE_OK) {
        copy->device = device;
        status = take_over(&view, copy);
    }
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    device_cloud_close(&view);
    if (status != MOTE_OK) {
        mote_cloud_destroy(copy);
        return status;
    }
    *out = copy;
    return MOTE_OK;
}

/* ---- public entries */

/* A GPU that was asked for by name: worth opening, however few the points. */
static mote_status find_gpu(mote_context *ctx, mote_device **gpu) {
    *gpu = mote_device_choose(ctx, UINT64_MAX);
    if ((*gpu)->ops != NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the context computes on the CPU: it has no device memory");
}

mote_status mote_cloud_wrap_device(mote_context *ctx, uint64_t count, const mote_column *columns, uint32_t column_count,
                                   mote_cloud **out) {
    mote_device *gpu = NULL;
    *out = NULL;
    MOTE_TRY(find_gpu(ctx, &gpu));
    MOTE_TRY(mote_cloud_wrap(ctx, count, columns, column_count, out));
    (*out)->device = gpu;
    return MOTE_OK;
}

mote_status mote_cloud_to_device(mote_context *ctx, const mote_cloud *cloud, mote_cloud **out) {
    mote_device *gpu = NULL;
    mote_cloud *copy = NULL;
    *out = NULL;
    if (cloud->device != NULL) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the cloud is in the memory of the GPU already");
    }
    MOTE_TRY(find_gpu(ctx, &gpu));
    mote_status status = copy_columns(gpu, cloud, &copy);
    if (status == MOTE_OK) status = mote_cloud_copy_extras(copy, cloud);
    if (status != MOTE_OK) {
        mote_cloud_destroy(copy);
        return status;
    }
    copy->grid_width = cloud->grid_width;
    copy->grid_height = cloud->grid_height;
    *out = copy;
    return MOTE_OK;
}

void *mote_device_alloc(mote_context *ctx, uint64_t size_bytes) {
    mote_device *gpu = NULL;
    return find_gpu(ctx, &gpu) == MOTE_OK ? device_alloc(gpu, size_bytes, "caller's memory") : NULL;
}

void mote_device_free(mote_context *ctx, void *device) {
    mote_device *gpu = NULL;
    if (device != NULL && find_gpu(ctx, &gpu) == MOTE_OK) device_free(gpu, device);
}

mote_status mote_device_copy(mote_context *ctx, void *to, const void *from, uint64_t size_bytes) {
    mote_device *gpu = NULL;
    MOTE_TRY(find_gpu(ctx, &gpu));
    return device_owns(gpu, to) ? device_upload(gpu, to, from, size_bytes) : device_download(gpu, to, from, size_bytes);
}
