/* Reading files onto the host and into the memory of a GPU, and comparing what comes of it. */
#ifndef MOTE_PARITY_READ_SUPPORT_H
#define MOTE_PARITY_READ_SUPPORT_H

#include "device/backend.h"
#include "device/cuda/cuda.h"
#include "io/las/las_upload.h"
#include "support/las_files.h"

typedef struct listener {
    char warnings[4096];
    long calls_left; /* of progress, before it cancels; -1: never */
} listener;

static inline void keep_warning(void *user, mote_log_level level, const char *message) {
    listener *l = user;
    (void)level;
    const size_t length = strlen(l->warnings);
    snprintf(l->warnings + length, sizeof l->warnings - length, "%s\n", message);
}

static inline bool count_down(void *user, double done, const char *stage) {
    listener *l = user;
    (void)stage;
    assert_true(done >= 0 && done <= 1);
    return l->calls_left < 0 || l->calls_left-- > 0;
}

static inline mote_context_params params_for(mote_device_kind device, int threads, listener *l) {
    mote_context_params params = mote_context_defaults();
    params.device = device;
    params.threads = threads;
    l->warnings[0] = '\0';
    l->calls_left = -1;
    params.log = keep_warning;
    params.progress = count_down;
    params.log_user = params.progress_user = l;
    return params;
}

static inline mote_context *context_for(mote_device_kind device, int threads, listener *l) {
    const mote_context_params params = params_for(device, threads, l);
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* Reads a file of LAS or LAZ by limits of the test's own. */
static inline mote_status read_by(mote_context *ctx, const char *path, const mote_read_params *params,
                                  const las_upload_limits *limits, mote_cloud **cloud) {
    mote_input input;
    *cloud = NULL;
    MOTE_TRY(mote_input_open(ctx, path, &input));
    const mote_status status = mote_las_read_by(ctx, &input, params, limits, cloud);
    mote_input_close(ctx, &input);
    return status;
}

static inline mote_read_params to_device(void) {
    mote_read_params params = mote_read_defaults();
    params.to_device = true;
    return params;
}

/* ---- comparing */

static inline void assert_same_column(const mote_column *a, const mote_column *b, const uint8_t *values,
                                      uint64_t count) {
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->unit, b->unit);
    assert_string_equal(a->description, b->description);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->bit_shift, b->bit_shift);
    assert_int_equal(a->bit_count, b->bit_count);
    assert_true(a->scale == b->scale && a->offset == b->offset);
    const uint32_t size = mote_type_size(a->type);
    for (uint64_t i = 0; i < count; i++) {
        if (memcmp(mote_column_at(a, i), values + i * b->stride_bytes, size) != 0) {
            fail_msg("column %s, point %llu", a->name, (unsigned long long)i);
        }
    }
}

static inline void assert_same_surroundings(const mote_cloud *a, const mote_cloud *b) {
    mote_las_facts facts_a, facts_b;
    assert_string_equal(mote_cloud_crs(a), mote_cloud_crs(b));
    assert_int_equal(mote_cloud_record_count(a), mote_cloud_record_count(b));
    for (uint32_t i = 0; i < mote_cloud_record_count(a); i++) {
        const mote_record *const one = mote_cloud_record(a, i), *const other = mote_cloud_record(b, i);
        assert_int_equal(one->size_bytes, other->size_bytes);
        assert_string_equal(one->user_id, other->user_id);
        assert_int_equal(one->record_id, other->record_id);
        assert_memory_equal(one->data, other->data, one->size_bytes);
    }
    assert_true(mote_cloud_las_facts(a, &facts_a) && mote_cloud_las_facts(b, &facts_b));
    assert_string_equal(facts_a.items, facts_b.items);
    assert_memory_equal(&a->las, &b->las, sizeof a->las);
}

/* The device's memory, as it is. */
static inline uint8_t *download(const mote_cloud *cloud, const uint8_t **base) {
    const uint64_t size_bytes = cloud->count * cloud->columns[0].stride_bytes;
    uint8_t *copy = malloc(size_bytes);
    for (uint64_t i = 0; i < cloud->block_count; i++) {
        if (cloud->blocks[i].device == NULL) continue;
        *base = cloud->blocks[i].memory;
        assert_int_equal(cuda_download(gpu_of(cloud->ctx), copy, *base, size_bytes), MOTE_OK);
        assert_int_equal(cuda_finish(gpu_of(cloud->ctx), "downloading"), MOTE_OK);
        return copy;
    }
    fail_msg("the cloud is not on the device");
    return copy;
}

static inline void assert_same_clouds(const mote_cloud *host, const mote_cloud *device) {
    const uint8_t *base = NULL;
    assert_int_equal(host->count, device->count);
    assert_int_equal(host->column_count, device->column_count);
    assert_same_surroundings(host, device);
    assert_int_equal(mote_cloud_on_device(device), host->count > 0);
    if (host->count == 0) return;
    uint8_t *copy = download(device, &base);
    for (uint64_t c = 0; c < host->column_count; c++) {
        const mote_column *column = &device->columns[c];
        assert_same_column(&host->columns[c], column, copy + ((const uint8_t *)column->data - base), host->count);
    }
    free(copy);
}

/* Both ways succeed with the same, or fail with the same; with the same warnings. */
static inline mote_status check_path(mote_context *cpu, mote_context *gpu, listener *l, const char *path,
                                     const mote_read_params *params, const las_upload_limits *limits) {
    mote_read_params on_host = *params;
    mote_cloud *host = NULL, *device = NULL;
    on_host.to_device = false;
    l[0].warnings[0] = l[1].warnings[0] = '\0';
    const mote_status expected = read_by(cpu, path, &on_host, limits, &host);
    const mote_status status = read_by(gpu, path, params, limits, &device);
    assert_int_equal(status, expected);
    assert_string_equal(mote_context_message(gpu), mote_context_message(cpu));
    assert_string_equal(l[1].warnings, l[0].warnings);
    assert_int_equal(host != NULL, device != NULL);
    if (host != NULL && strstr(l[0].warnings, "are lost with") != NULL) { /* salvaged: by the host, whole */
        uint64_t one, other;
        assert_false(mote_cloud_on_device(device));
        assert_int_equal(mote_cloud_hash(cpu, host, &one), MOTE_OK);
        assert_int_equal(mote_cloud_hash(gpu, device, &other), MOTE_OK);
        assert_int_equal(one, other);
    } else if (host != NULL) {
        assert_same_clouds(host, device);
    }
    mote_cloud_destroy(host);
    mote_cloud_destroy(device);
    mote_context_clear(cpu);
    mote_context_clear(gpu);
    assert_int_equal(mote_context_device_bytes(gpu), 0);
    return status;
}

#endif
