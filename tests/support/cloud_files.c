#define _GNU_SOURCE /* mount and umount of a tiny file system */
#include "support/cloud_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

mote_cloud *test_read(mote_context *ctx, const char *path) {
    mote_cloud *cloud = NULL;
    mote_context_clear(ctx);
    if (mote_cloud_read(ctx, path, NULL, &cloud) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    return cloud;
}

void test_write(mote_context *ctx, const mote_cloud *cloud, const char *path, const mote_write_params *params) {
    mote_context_clear(ctx);
    if (mote_cloud_write(ctx, cloud, path, params) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
}

uint64_t test_hash(mote_context *ctx, const mote_cloud *cloud) {
    uint64_t hash = 0;
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash), MOTE_OK);
    return hash;
}

const mote_column *test_column(const mote_cloud *cloud, const char *name) {
    const mote_column *const column = mote_cloud_find(cloud, name);
    if (column == NULL) fail_msg("there is no column %s", name);
    return column;
}

double test_value(const mote_cloud *cloud, const char *name, uint64_t i) {
    return mote_column_value(test_column(cloud, name), i);
}

void test_columns_are(const mote_cloud *cloud, const char *expected) {
    char text[1024] = "";
    for (uint32_t i = 0; i < mote_cloud_column_count(cloud); i++) {
        const mote_column *const column = mote_cloud_column(cloud, i);
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s:%s", i > 0 ? " " : "", column->name, mote_type_name(column->type));
    }
    assert_string_equal(text, expected);
}

void test_same_columns(const mote_cloud *a, const mote_cloud *b, bool descriptions) {
    assert_int_equal(mote_cloud_column_count(a), mote_cloud_column_count(b));
    for (uint32_t i = 0; i < mote_cloud_column_count(a); i++) {
        const mote_column *const one = mote_cloud_column(a, i), *const other = mote_cloud_column(b, i);
        assert_string_equal(one->name, other->name);
        assert_string_equal(one->unit, other->unit);
        if (descriptions) assert_string_equal(one->description, other->description);
        assert_int_equal(one->type, other->type);
    }
    assert_string_equal(mote_cloud_crs(a), mote_cloud_crs(b));
}

char *test_load(const char *path, size_t *size) {
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *const bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

void test_refused(mote_context *ctx, const char *ending, const void *bytes, size_t size, const char *message) {
    mote_cloud *cloud = NULL;
    char name[32];
    snprintf(name, sizeof name, "bad.%s", ending);
    const char *const path = test_path(name);
    test_write_file(path, bytes, size);
    mote_context_clear(ctx);
    mote_context_memory_peak_reset(ctx);
    const mote_status status = mote_cloud_read(ctx, path, NULL, &cloud);
    if (status != MOTE_ERROR_DATA) fail_msg("status %s instead of: %s", mote_status_name(status), message);
    assert_null(cloud);
    const char *const said = mote_context_message(ctx);
    if (strstr(said, message) == NULL || strstr(said, ": offset ") == NULL || strstr(said, path) != said)
        fail_msg("%s: not %s", said, message);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    assert_true(mote_context_memory_peak_bytes(ctx) < (1 << 20) + size);
}

static void keep_warning(void *user, mote_log_level level, const char *message) {
    if (level == MOTE_LOG_WARNING) snprintf(user, TEST_MESSAGE_BYTES, "%s", message);
}

mote_context *test_context_listening(char *message) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.threads = 2;
    params.device = MOTE_DEVICE_CPU;
    params.log = keep_warning;
    params.log_user = message;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

void test_full_disk(mote_context *ctx, const mote_cloud *cloud, const char *name) {
    char folder[512], path[600];
    snprintf(folder, sizeof folder, "%s/tiny_disk", test_folder());
    assert_int_equal(mkdir(folder, 0700), 0);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=256k") != 0) {
        print_message("[  SKIPPED ] no right to mount a small file system\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    test_write_file(path, "old", 3);
    const mote_status status = mote_cloud_write(ctx, cloud, path, NULL);
    size_t size = 0;
    char *old = test_load(path, &size);
    DIR *entries = opendir(folder);
    int files = 0;
    while (readdir(entries) != NULL) files++;
    closedir(entries);
    umount(folder);
    assert_int_equal(status, MOTE_ERROR_DISK);
    assert_non_null(strstr(mote_context_message(ctx), path));
    assert_int_equal(files, 3); /* with . and .. */
    assert_int_equal(size, 3);
    assert_memory_equal(old, "old", 3);
    free(old);
}
