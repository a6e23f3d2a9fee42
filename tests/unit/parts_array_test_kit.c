/* Plan, parts and merge, and what they are compared with. */
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts_array_test.h"
#include "reference/potree_reference.h"
#include "support/cloud_files.h"

#if MOTE_HAVE_JANSSON

void array_begin(test_array *t) {
    memset(t, 0, sizeof *t);
    snprintf(t->output, PATH, "%s", test_path("array_out"));
    snprintf(t->plan, PATH, "%s", test_path("array_plan.json"));
    t->params = mote_lod_defaults();
    t->params.merge_points = 200;
}

/* The same for a COPC file. */
void array_begin_copc(test_array *t) {
    array_begin(t);
    t->is_copc = true;
    t->params.max_node_points = 0;
    snprintf(t->output, PATH, "%s", test_path("array_out.copc.laz"));
}

static mote_read_params reading_params(const test_array *t) {
    mote_read_params reading = mote_read_defaults();
    reading.where = t->where;
    return reading;
}

mote_potree_params array_potree(const test_array *t) {
    mote_potree_params potree = mote_potree_defaults();
    potree.name = "parts";
    potree.attributes_left_out = t->left_out;
    return potree;
}

mote_copc_params array_copc(const test_array *t) {
    mote_copc_params copc = mote_copc_defaults();
    copc.columns = t->left_out != NULL ? "x,y,z,intensity" : NULL;
    return copc;
}

void array_add(mote_context *ctx, test_array *t, const parts_kind *kind, const char *ending) {
    parts_kind own = *kind;
    char name[64], *path = t->paths[t->inputs.count];
    snprintf(name, sizeof name, "%s_%u", kind->name, t->inputs.count);
    own.name = name;
    snprintf(path, PATH, "%s", parts_cloud_file(ctx, &own, ending));
    t->inputs.paths[t->inputs.count++] = path;
}

mote_status array_plan(mote_context *ctx, const test_array *t, mote_parts_report *report) {
    mote_parts_params parts = mote_parts_defaults();
    const mote_potree_params potree = array_potree(t);
    const mote_copc_params copc = array_copc(t);
    const mote_read_params reading = reading_params(t);
    parts.part_count = t->parts;
    if (t->is_copc) {
        return mote_copc_parts_plan(ctx, t->inputs.paths, t->inputs.count, &reading, &t->params, t->output, &copc,
                                    &parts, t->plan, report);
    }
    return mote_lod_parts_plan(ctx, t->inputs.paths, t->inputs.count, &reading, &t->params, t->output, &potree, &parts,
                               t->plan, report);
}

/* All parts, the last first, the middle one twice. */
void array_make_all(mote_context *ctx, const test_array *t, uint32_t count) {
    for (uint32_t p = count; p > 0; p--) {
        mote_parts_report report;
        for (int again = 0; again < (p == count / 2 + 1 ? 2 : 1); again++) {
            const mote_status status = mote_lod_parts_make(ctx, t->plan, p, count, &report);
            if (status != MOTE_OK) fail_msg("part %u: %s", p, mote_context_message(ctx));
            if (again > 0) assert_int_equal(report.rounds, 0);
        }
    }
}

static const char *whole_path(const test_array *t) {
    return test_path(t->is_copc ? "array_one.copc.laz" : "array_one");
}

void array_make_whole(mote_context *ctx, const test_array *t) {
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    const mote_potree_params potree = array_potree(t);
    const mote_copc_params copc = array_copc(t);
    const mote_read_params reading = reading_params(t);
    assert_int_equal(mote_cloud_read_many(ctx, t->inputs.paths, t->inputs.count, &reading, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, cloud, &t->params, &lod), MOTE_OK);
    assert_int_equal(t->is_copc ? mote_copc_write(ctx, lod, whole_path(t), &copc, NULL)
                                : mote_potree_write(ctx, lod, whole_path(t), &potree, NULL),
                     MOTE_OK);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
}

void array_expect_made_whole(const test_array *t) {
    if (!t->is_copc) {
        potree_reference_same_folders(whole_path(t), t->output);
        return;
    }
    size_t sizes[2];
    char *bytes[2] = {test_load(whole_path(t), &sizes[0]), test_load(t->output, &sizes[1])};
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

void array_expect_whole(mote_context *ctx, const test_array *t) {
    array_make_whole(ctx, t);
    array_expect_made_whole(t);
}

/* Returns how many rounds there were. */
uint32_t array_compare(mote_context *ctx, const test_array *t) {
    mote_parts_report report;
    uint32_t rounds = 1;
    if (array_plan(ctx, t, &report) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    const uint32_t count = report.parts;
    assert_true(count >= 1 && count <= t->parts);
    array_make_all(ctx, t, count);
    mote_status status = mote_lod_parts_merge(ctx, t->plan, true, &report);
    if (status != MOTE_OK) {
        if (strstr(mote_context_message(ctx), "once more") == NULL) fail_msg("%s", mote_context_message(ctx));
        mote_context_clear(ctx);
        rounds = 2;
        array_make_all(ctx, t, count);
        status = mote_lod_parts_merge(ctx, t->plan, true, &report);
    }
    if (status != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    array_expect_whole(ctx, t);
    assert_int_equal(mote_lod_parts_clear(ctx, t->output), MOTE_OK);
    return rounds;
}

void array_expect(mote_context *ctx, mote_status status, mote_status expected, const char *words) {
    if (status != expected || strstr(mote_context_message(ctx), words) == NULL) {
        fail_msg("%d, expected %d and \"%s\": %s", status, expected, words, mote_context_message(ctx));
    }
    mote_context_clear(ctx);
}

char *array_read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

void array_write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

void array_change_byte(const char *path, long at) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    fputc(byte ^ 0x55, file);
    fclose(file);
}

#endif
