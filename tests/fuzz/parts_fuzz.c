/* Any plan, manifest and file of a part, a zero byte between them: what is wrong with them is told, and what is merged
 * of them is a folder. In the texts @I is an input that is there, @O the output, and @@@@@@@@@@@@@@@@ the checksum of
 * the file's table of nodes or of the plan, so that what is changed in them gets past the first look. */
#define _DEFAULT_SOURCE
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz_support.h"
#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON

#define POINTS     40u
#define TEXT_MAX   (1u << 16)
#define NODE_BYTES 48u /* of the table behind the records */

/* What is beside the input in its folder, which goes at exit. */
static const char *output_path(void) {
    static char path[512];
    snprintf(path, sizeof path, "%s.out", fuzz_path("parts.las"));
    return path;
}

static void remove_outputs(void) {
    static const char *const files[] = {"metadata.json", "hierarchy.bin", "octree.bin"};
    char path[560];
    for (int f = 0; f < 3; f++) {
        snprintf(path, sizeof path, "%s/%s", output_path(), files[f]);
        unlink(path);
    }
    rmdir(output_path());
    mote_context *ctx = fuzz_context();
    mote_lod_parts_clear(ctx, output_path());
    fuzz_end(ctx, NULL);
}

static const char *input_path(void) {
    static char path[512];
    static const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.5, 0},
                                             {"y", MOTE_INT32, 0.5, 0},
                                             {"z", MOTE_INT32, 0.5, 0},
                                             {"intensity", MOTE_UINT16, 0, 0}};
    if (path[0] != '\0') return path;
    snprintf(path, sizeof path, "%s", fuzz_path("parts.las"));
    atexit(remove_outputs); /* before that of the folder */
    mote_context *ctx = fuzz_context();
    mote_cloud *cloud = NULL;
    fuzz_require(ctx, mote_cloud_create(ctx, POINTS, specs, 4, &cloud) == MOTE_OK, "a cloud");
    for (uint32_t i = 0; i < POINTS; i++) {
        for (int k = 0; k < 3; k++) {
            const int32_t at = (int32_t)(i * (7u + (uint32_t)k) % 41u);
            uint8_t *to = mote_cloud_column_data(cloud, specs[k].name);
            memcpy(to + (size_t)i * mote_cloud_column(cloud, (uint32_t)k)->stride_bytes, &at, sizeof at);
        }
    }
    fuzz_require(ctx, mote_cloud_write(ctx, cloud, path, NULL) == MOTE_OK, "an input");
    fuzz_end(ctx, cloud);
    return path;
}

/* The text with what stands for names and checksums. */
static char *fill_in(const char *text, size_t size, uint64_t hash) {
    char *out = calloc(1, TEXT_MAX + 1), digits[32];
    size_t at = 0;
    if (out == NULL) abort();
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
    for (size_t i = 0; i < size && at < TEXT_MAX - 600; i++) {
        const char *with = NULL;
        if (i + 16 <= size && memcmp(text + i, "@@@@@@@@@@@@@@@@", 16) == 0) {
            with = digits;
            i += 15;
        } else if (i + 1 < size && text[i] == '@' && (text[i + 1] == 'I' || text[i + 1] == 'O')) {
            with = text[++i] == 'I' ? input_path() : output_path();
        }
        if (with != NULL) {
            at += (size_t)snprintf(out + at, TEXT_MAX - at, "%s", with);
        } else {
            out[at++] = text[i];
        }
    }
    return out;
}

static void write_file(const char *folder, const char *name, const void *data, size_t size) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

/* The checksum of the table that a file of so many nodes ends in; the number is in the manifest, or guessed. */
static uint64_t table_hash(const char *manifest, const uint8_t *file, size_t size) {
    const char *nodes = strstr(manifest, "\"nodes\":");
    const uint64_t count = nodes != NULL ? strtoull(nodes + 8, NULL, 10) : 0;
    const size_t bytes = count <= size / NODE_BYTES ? (size_t)count * NODE_BYTES : 0;
    potree_hash hash = potree_hash_begin();
    uint8_t *table = calloc(1, bytes + 1);
    if (table == NULL) abort();
    memcpy(table, file + size - bytes, bytes);
    potree_hash_add(&hash, table, bytes);
    free(table);
    return potree_hash_end(&hash);
}

static void merge(parts_run *run, parts_job *job, const uint8_t *data, size_t size) {
    const uint8_t *end = memchr(data, 0, size);
    const size_t text = end != NULL ? (size_t)(end - data) : size, rest = end != NULL ? size - text - 1 : 0;
    char folder[520];
    snprintf(folder, sizeof folder, "%s.parts", output_path());
    if (strcmp(folder, job->folder) != 0) return; /* not a place of ours */
    mkdir(folder, 0777);
    char *typed = calloc(1, text + 1);
    if (typed == NULL) abort();
    memcpy(typed, data, text);
    char *manifest = fill_in(typed, text, table_hash(typed, rest > 0 ? end + 1 : data, rest));
    parts_json_seal(manifest);
    write_file(folder, "1.json", manifest, strlen(manifest));
    write_file(folder, "1.octree", rest > 0 ? end + 1 : data, rest);
    job->hash = 0;
    const mote_status status = parts_job_merge(run, job, false);
    fuzz_require(run->ctx, status == MOTE_OK || mote_context_message(run->ctx)[0] != '\0', "a reason");
    free(manifest);
    free(typed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_parts_report report;
    parts_job job = {.ctx = NULL};
    parts_run run;
    const uint8_t *end = memchr(data, 0, size);
    const size_t text = end != NULL ? (size_t)(end - data) : size;
    if (text > TEXT_MAX / 2) return 0;
    mote_context *ctx = fuzz_context();
    char *plan = fill_in((const char *)data, text, 0);
    parts_start(ctx, &report, &run);
    mote_status status = parts_job_parse(&run, &job, "plan.json", plan, strlen(plan), true);
    fuzz_require(ctx, status == MOTE_OK || mote_context_message(ctx)[0] != '\0', "a reason");
    if (status == MOTE_OK && end != NULL) merge(&run, &job, end + 1, size - text - 1);
    parts_end(&run, MOTE_CANCELLED);
    parts_job_close(&job);
    free(plan);
    fuzz_end(ctx, NULL);
    return 0;
}

#else

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return 0;
}
#endif
