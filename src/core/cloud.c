#include "core/cloud.h"

#include <math.h>
#include <stdio.h>

#include "core/column_math.h"
#include "core/uploads.h"
#include "math/hash.h"

mote_status mote_cloud_new(mote_context *ctx, uint64_t count, mote_cloud **out) {
    *out = NULL;
    mote_cloud *cloud = mote_alloc_zero(ctx, sizeof *cloud, "cloud");
    if (cloud == NULL) return MOTE_ERROR_MEMORY;
    cloud->ctx = ctx;
    cloud->count = count;
    *out = cloud;
    return MOTE_OK;
}

static void release_block(mote_context *ctx, const mote_block *block) {
    if (block->device != NULL) {
        device_free(block->device, block->memory);
    } else {
        mote_free(ctx, block->memory);
        mote_file_unmap(ctx, block->mapped);
    }
}

void mote_cloud_forget_order(mote_cloud *cloud) {
    mote_prepared *prepared = &cloud->prepared;
    const bool keeps_order = prepared->keeps_order;
    mote_free(cloud->ctx, prepared->codes);
    mote_free(cloud->ctx, prepared->sorted_codes);
    mote_free(cloud->ctx, prepared->order);
    memset(prepared, 0, sizeof *prepared);
    prepared->keeps_order = keeps_order;
}

void mote_cloud_keep_order(mote_cloud *cloud, bool keep) {
    if (cloud == NULL) return;
    mote_cloud_forget_order(cloud);
    cloud->prepared.keeps_order = keep;
}

void mote_cloud_forget_uploads(mote_cloud *cloud) { mote_uploads_forget(cloud->uploads); }

mote_status mote_cloud_keep_uploads(mote_cloud *cloud, bool keep) {
    if (cloud == NULL) return MOTE_OK;
    mote_uploads_forget(cloud->uploads);
    mote_uploads_keep(cloud->uploads, keep);
    const bool begins = keep && cloud->uploads == NULL && cloud->device == NULL;
    return begins ? mote_uploads_begin(cloud->ctx, &cloud->uploads) : MOTE_OK;
}

void mote_cloud_destroy(mote_cloud *cloud) {
    if (cloud == NULL) return;
    mote_context *ctx = cloud->ctx;
    for (uint64_t i = 0; i < cloud->block_count; i++) release_block(ctx, &cloud->blocks[i]);
    mote_free(ctx, cloud->blocks);
    mote_free(ctx, cloud->columns);
    mote_free(ctx, cloud->records);
    mote_free(ctx, cloud->limits);
    mote_free(ctx, cloud->crs);
    mote_cloud_forget_order(cloud);
    mote_uploads_end(cloud->uploads);
    mote_free(ctx, cloud);
}

static mote_status adopt_block(mote_cloud *cloud, mote_block block) {
    if (block.memory == NULL && block.mapped == NULL) return MOTE_ERROR_MEMORY;
    if (!mote_reserve(cloud->ctx, (void **)&cloud->blocks, &cloud->block_capacity, cloud->block_count + 1,
                      sizeof *cloud->blocks, "cloud")) {
        release_block(cloud->ctx, &block);
        return MOTE_ERROR_MEMORY;
    }
    cloud->blocks[cloud->block_count++] = block;
    return MOTE_OK;
}

mote_status mote_cloud_adopt(mote_cloud *cloud, void *memory) {
    return adopt_block(cloud, (mote_block){.memory = memory});
}

mote_status mote_cloud_adopt_mapped(mote_cloud *cloud, mote_mapped_file *mapped) {
    return adopt_block(cloud, (mote_block){.mapped = mapped});
}

mote_status mote_cloud_adopt_device(mote_cloud *cloud, mote_device *device, void *memory) {
    return adopt_block(cloud, (mote_block){.memory = memory, .device = device});
}

/* ---- what stands for no data, and limits of values */

static uint64_t find_limits(const mote_cloud *cloud, const char *name) {
    uint64_t i = 0;
    while (i < cloud->limits_count && strcmp(cloud->limits[i].name, name) != 0) i++;
    return i;
}

bool mote_cloud_limits(const mote_cloud *cloud, const char *name, mote_column_limits *limits) {
    const uint64_t i = find_limits(cloud, name);
    memset(limits, 0, sizeof *limits);
    if (i == cloud->limits_count) return false;
    *limits = cloud->limits[i].limits;
    return true;
}

void mote_cloud_drop_limits(mote_cloud *cloud, const char *name) {
    const uint64_t i = find_limits(cloud, name);
    if (i == cloud->limits_count) return;
    cloud->limits[i] = cloud->limits[--cloud->limits_count];
}

mote_status mote_cloud_keep_limits(mote_cloud *cloud, const char *name, const mote_column_limits *limits) {
    mote_cloud_drop_limits(cloud, name);
    if (limits == NULL || (!limits->has_no_data && !limits->has_min && !limits->has_max)) return MOTE_OK;
    if (!mote_reserve(cloud->ctx, (void **)&cloud->limits, &cloud->limits_capacity, cloud->limits_count + 1,
                      sizeof *cloud->limits, "cloud")) {
        return MOTE_ERROR_MEMORY;
    }
    char *copy = mote_strdup(cloud->ctx, name);
    MOTE_TRY(mote_cloud_adopt(cloud, copy));
    cloud->limits[cloud->limits_count].name = copy;
    cloud->limits[cloud->limits_count++].limits = *limits;
    return MOTE_OK;
}

mote_status mote_cloud_set_limits(mote_cloud *cloud, const char *name, const mote_column_limits *limits) {
    if (mote_cloud_find(cloud, name) == NULL) {
        return mote_fail(cloud->ctx, MOTE_ERROR_ARGUMENT, "limits of column \"%s\", which is not there", name);
    }
    if (limits != NULL) {
        MOTE_TRY(
            mote_check_reserved(cloud->ctx, limits->reserved, sizeof limits->reserved, "mote_column_limits", "zeros"));
    }
    return mote_cloud_keep_limits(cloud, name, limits);
}

mote_status mote_cloud_check(const mote_cloud *cloud) {
    for (uint64_t i = 0; i < cloud->block_count; i++) {
        if (cloud->blocks[i].mapped != NULL) MOTE_TRY(mote_mapped_check(cloud->ctx, cloud->blocks[i].mapped));
    }
    return MOTE_OK;
}

mote_status mote_cloud_need_host(mote_context *ctx, const mote_cloud *cloud, const char *what) {
    if (cloud->device == NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: the points are in the memory of the GPU", what);
}

/* A copy of text that lives as long as the cloud; "" needs none. */
static mote_status keep_text(mote_cloud *cloud, const char *text, const char **kept) {
    *kept = "";
    if (text == NULL || text[0] == '\0') return MOTE_OK;
    char *copy = mote_strdup(cloud->ctx, text);
    MOTE_TRY(mote_cloud_adopt(cloud, copy));
    *kept = copy;
    return MOTE_OK;
}

mote_status mote_cloud_add_view(mote_cloud *cloud, const mote_column *column) {
    const uint32_t size_bytes = mote_type_size(column->type);
    if (column->name == NULL || column->name[0] == '\0' || size_bytes == 0 || column->bit_count >= 8 * size_bytes ||
        column->bit_shift + column->bit_count > 8 * size_bytes) {
        return mote_fail(cloud->ctx, MOTE_ERROR_ARGUMENT, "column without a name, or of no known type");
    }
    if (mote_cloud_find(cloud, column->name) != NULL) {
        return mote_fail(cloud->ctx, MOTE_ERROR_ARGUMENT, "column \"%s\" stands twice", column->name);
    }
    if (!mote_reserve(cloud->ctx, (void **)&cloud->columns, &cloud->column_capacity, cloud->column_count + 1,
                      sizeof *cloud->columns, "cloud")) {
        return MOTE_ERROR_MEMORY;
    }
    mote_column view = *column;
    MOTE_TRY(keep_text(cloud, column->name, &view.name));
    MOTE_TRY(keep_text(cloud, column->unit, &view.unit));
    MOTE_TRY(keep_text(cloud, column->description, &view.description));
    if (view.stride_bytes == 0) view.stride_bytes = size_bytes;
    if (view.scale == 0) view.scale = 1;
    cloud->columns[cloud->column_count++] = view;
    return MOTE_OK;
}

mote_status mote_cloud_wrap(mote_context *ctx, uint64_t count, const mote_column *columns, uint32_t column_count,
                            mote_cloud **out) {
    mote_cloud *cloud = NULL;
    *out = NULL;
    MOTE_TRY(mote_cloud_new(ctx, count, &cloud));
    for (uint32_t i = 0; i < column_count; i++) {
        const mote_status status = mote_cloud_add_view(cloud, &columns[i]);
        if (status != MOTE_OK) {
            mote_cloud_destroy(cloud);
            return status;
        }
    }
    *out = cloud;
    return MOTE_OK;
}

bool mote_cloud_on_device(const mote_cloud *cloud) { return cloud->device != NULL; }

/* Allocates a zeroed block of count records for the cloud. */
static mote_status add_records_block(mote_cloud *cloud, uint64_t record_bytes, uint8_t **block) {
    *block = NULL;
    if (record_bytes > UINT32_MAX || (record_bytes > 0 && cloud->count > (UINT64_MAX >> 1) / record_bytes)) {
        return mote_fail(cloud->ctx, MOTE_ERROR_MEMORY, "out of memory: %llu points of %llu bytes",
                         (unsigned long long)cloud->count, (unsigned long long)record_bytes);
    }
    const uint64_t size_bytes = cloud->count * record_bytes;
    *block = mote_alloc(cloud->ctx, size_bytes, "cloud");
    if (*block == NULL) return MOTE_ERROR_MEMORY;
    /* All threads copy, since the pages of a large block are touched here for the first time. */
    const int64_t piece = 4 << 20;
    const int64_t pieces = (int64_t)((size_bytes + (uint64_t)piece - 1) / (uint64_t)piece);
#pragma omp parallel for schedule(static) num_threads(cloud->ctx->threads) if (pieces > 1)
    for (int64_t i = 0; i < pieces; i++) {
        const uint64_t begin = (uint64_t)(i * piece);
        memset(*block + begin, 0, size_bytes - begin < (uint64_t)piece ? size_bytes - begin : (uint64_t)piece);
    }
    return mote_cloud_adopt(cloud, *block);
}

static mote_column view_of_spec(const mote_column_spec *spec, const void *data, uint32_t stride_bytes) {
    mote_column view;
    memset(&view, 0, sizeof view);
    view.name = spec->name;
    view.type = spec->type;
    view.scale = spec->scale;
    view.offset = spec->offset;
    view.data = data;
    view.stride_bytes = stride_bytes;
    return view;
}

mote_status mote_cloud_create(mote_context *ctx, uint64_t count, const mote_column_spec *specs, uint32_t spec_count,
                              mote_cloud **out) {
    mote_cloud *cloud = NULL;
    uint8_t *block = NULL;
    uint64_t record_bytes = 0;
    *out = NULL;
    for (uint32_t i = 0; i < spec_count; i++) record_bytes += mote_type_size(specs[i].type);
    MOTE_TRY(mote_cloud_new(ctx, count, &cloud));
    mote_status status = add_records_block(cloud, record_bytes, &block);
    uint64_t offset = 0;
    for (uint32_t i = 0; i < spec_count && status == MOTE_OK; i++) {
        const mote_column view = view_of_spec(&specs[i], block + offset, (uint32_t)record_bytes);
        status = mote_cloud_add_view(cloud, &view);
        offset += mote_type_size(specs[i].type);
    }
    if (status != MOTE_OK) {
        mote_cloud_destroy(cloud);
        return status;
    }
    *out = cloud;
    return MOTE_OK;
}

mote_status mote_cloud_add_column(mote_cloud *cloud, const mote_column_spec *spec) {
    uint8_t *block = NULL;
    MOTE_TRY(mote_cloud_need_host(cloud->ctx, cloud, "a column of host memory"));
    if (spec->name == NULL || mote_cloud_find(cloud, spec->name) != NULL) {
        return mote_fail(cloud->ctx, MOTE_ERROR_ARGUMENT, "column \"%s\" exists", spec->name ? spec->name : "");
    }
    const uint32_t size_bytes = mote_type_size(spec->type);
    MOTE_TRY(add_records_block(cloud, size_bytes, &block));
    const mote_column view = view_of_spec(spec, block, size_bytes);
    return mote_cloud_add_view(cloud, &view);
}

mote_status mote_cloud_put_column(mote_cloud *cloud, const mote_column_spec *spec) {
    uint64_t at = 0;
    while (at < cloud->column_count && (spec->name == NULL || strcmp(cloud->columns[at].name, spec->name) != 0)) at++;
    if (at == cloud->column_count) return mote_cloud_add_column(cloud, spec);
    uint8_t *block = NULL;
    MOTE_TRY(mote_cloud_need_host(cloud->ctx, cloud, "a column of host memory"));
    const uint32_t size_bytes = mote_type_size(spec->type);
    if (size_bytes == 0)
        return mote_fail(cloud->ctx, MOTE_ERROR_ARGUMENT, "column \"%s\" of no known type", spec->name);
    MOTE_TRY(add_records_block(cloud, size_bytes, &block));
    mote_column view = view_of_spec(spec, block, size_bytes);
    view.name = cloud->columns[at].name; /* texts are the cloud's own */
    view.unit = cloud->columns[at].unit;
    view.description = cloud->columns[at].description;
    if (view.scale == 0) view.scale = 1;
    cloud->columns[at] = view;
    mote_cloud_drop_limits(cloud, view.name);
    mote_cloud_forget_order(cloud); /* it may be of the positions that were */
    return MOTE_OK;
}

uint64_t mote_cloud_count(const mote_cloud *cloud) { return cloud->count; }
uint32_t mote_cloud_column_count(const mote_cloud *cloud) { return (uint32_t)cloud->column_count; }

const mote_column *mote_cloud_column(const mote_cloud *cloud, uint32_t i) {
    return i < cloud->column_count ? &cloud->columns[i] : NULL;
}

const mote_column *mote_cloud_find(const mote_cloud *cloud, const char *name) {
    for (uint64_t i = 0; i < cloud->column_count; i++) {
        if (strcmp(cloud->columns[i].name, name) == 0) return &cloud->columns[i];
    }
    return NULL;
}

const char *const mote_axis_names[3] = {"x", "y", "z"};

bool mote_cloud_find_positions(const mote_cloud *cloud, const mote_column *axes[3]) {
    for (int k = 0; k < 3; k++) axes[k] = mote_cloud_find(cloud, mote_axis_names[k]);
    return axes[0] != NULL && axes[1] != NULL && axes[2] != NULL;
}

mote_status mote_cloud_positions(mote_context *ctx, const mote_cloud *cloud, const mote_column *axes[3]) {
    if (mote_cloud_find_positions(cloud, axes)) return MOTE_OK;
    int missing = 0;
    while (axes[missing] != NULL) missing++;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the cloud has no column %s", mote_axis_names[missing]);
}

void *mote_cloud_column_data(mote_cloud *cloud, const char *name) {
    const mote_column *column = mote_cloud_find(cloud, name);
    if (column == NULL || cloud->device != NULL) return NULL;
    for (uint64_t i = 0; i < cloud->block_count; i++) {
        const mote_block *block = &cloud->blocks[i];
        const uint64_t from_start = (uint64_t)((const uint8_t *)column->data - (uint8_t *)block->memory);
        if (block->mapped == NULL && (const uint8_t *)column->data >= (uint8_t *)block->memory &&
            from_start < column->stride_bytes) {
            return (uint8_t *)block->memory + from_start;
        }
    }
    return NULL;
}

void mote_cloud_free_name(const mote_cloud *cloud, const char *name, char *out) {
    snprintf(out, MOTE_NAME_BYTES, "%.100s", name[0] != '\0' ? name : "unnamed");
    for (unsigned n = 2; mote_cloud_find(cloud, out) != NULL; n++) {
        snprintf(out, MOTE_NAME_BYTES, "%.100s_%u", name[0] != '\0' ? name : "unnamed", n);
    }
}

int64_t mote_column_integer(const mote_column *column, uint64_t i) { return column_integer(column, i); }
double mote_column_stored(const mote_column *column, uint64_t i) { return column_stored(column, i); }
double mote_column_value(const mote_column *column, uint64_t i) { return column_value(column, i); }

const char *mote_cloud_crs(const mote_cloud *cloud) { return cloud->crs != NULL ? cloud->crs : ""; }

mote_status mote_cloud_set_crs(mote_cloud *cloud, const char *crs) {
    char *copy = mote_strdup(cloud->ctx, crs != NULL ? crs : "");
    if (copy == NULL) return MOTE_ERROR_MEMORY;
    mote_free(cloud->ctx, cloud->crs);
    cloud->crs = copy;
    return MOTE_OK;
}

bool mote_cloud_grid(const mote_cloud *cloud, uint64_t *width, uint64_t *height) {
    *width = cloud->grid_width;
    *height = cloud->grid_height;
    return cloud->grid_width > 0;
}

mote_status mote_cloud_set_grid(mote_cloud *cloud, uint64_t width, uint64_t height) {
    const bool fits = width > 0 && height == cloud->count / width && width * height == cloud->count && height > 0;
    if (!fits && (width != 0 || height != 0)) {
        return mote_fail(cloud->ctx, MOTE_ERROR_ARGUMENT, "a grid of %llu × %llu cells does not hold %llu points",
                         (unsigned long long)width, (unsigned long long)height, (unsigned long long)cloud->count);
    }
    cloud->grid_width = width;
    cloud->grid_height = height;
    return MOTE_OK;
}

uint32_t mote_cloud_record_count(const mote_cloud *cloud) { return (uint32_t)cloud->record_count; }

const mote_record *mote_cloud_record(const mote_cloud *cloud, uint32_t i) {
    return i < cloud->record_count ? &cloud->records[i] : NULL;
}

mote_status mote_cloud_add_record(mote_cloud *cloud, const mote_record *record) {
    if (!mote_reserve(cloud->ctx, (void **)&cloud->records, &cloud->record_capacity, cloud->record_count + 1,
                      sizeof *cloud->records, "cloud")) {
        return MOTE_ERROR_MEMORY;
    }
    void *copy = mote_alloc(cloud->ctx, record->size_bytes, "records");
    MOTE_TRY(mote_cloud_adopt(cloud, copy));
    if (record->size_bytes > 0) memcpy(copy, record->data, record->size_bytes);
    cloud->records[cloud->record_count] = *record;
    cloud->records[cloud->record_count++].data = copy;
    return MOTE_OK;
}

mote_status mote_cloud_copy_extras(mote_cloud *to, const mote_cloud *from) {
    MOTE_TRY(mote_cloud_set_crs(to, mote_cloud_crs(from)));
    for (uint64_t i = 0; i < from->record_count; i++) MOTE_TRY(mote_cloud_add_record(to, &from->records[i]));
    for (uint64_t i = 0; i < from->limits_count; i++) {
        MOTE_TRY(mote_cloud_keep_limits(to, from->limits[i].name, &from->limits[i].limits));
    }
    to->las = from->las;
    to->position_step = from->position_step;
    return MOTE_OK;
}
