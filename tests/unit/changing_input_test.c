/* An input that another process cuts, overwrites or appends to while it is read: MOTE_ERROR_CHANGED that names the
   file, or the same result as without; nothing is left behind, and no signal ends the process. */
#define _GNU_SOURCE /* utimensat, glob */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "changing_input_test.h"

/* ---- the change, at the n-th moment: allocations and steps of progress are moments */

typedef enum change { CUT_TO_NOTHING, CUT_IN_HEADER, CUT_IN_THE_MIDDLE, CUT_THE_LAST_BYTE, OVERWRITTEN, GROWN } change;
#define CHANGES 6

typedef struct disturber {
    const char *path; /* the file that is changed */
    change kind;
    long at, moments; /* at 0: never */
    bool done;
} disturber;

/* In one write: a call for each byte would take longer than all that is read. */
static void overwrite(const char *path) {
    size_t size = 0;
    char *bytes = test_load(path, &size);
    for (size_t i = 300; i < size; i += 7) bytes[i] = '7';
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    free(bytes);
}

static void append(const char *path) {
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    fputs("1 2 3\n", file);
    fclose(file);
}

static void change_file(const char *path, change kind) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    const off_t sizes[] = {0, 150, info.st_size / 2 + 1, info.st_size - 1};
    if (kind == OVERWRITTEN) {
        overwrite(path);
    } else if (kind == GROWN) {
        append(path);
    } else {
        assert_int_equal(truncate(path, sizes[kind] < info.st_size ? sizes[kind] : 0), 0);
    }
}

static void moment(disturber *d) {
    const long number = __atomic_add_fetch(&d->moments, 1, __ATOMIC_RELAXED);
    if (number != d->at) return;
    change_file(d->path, d->kind);
    d->done = true;
}

static void *allocate(void *user, size_t size_bytes) {
    moment(user);
    return aligned_alloc(64, (size_bytes + 63) / 64 * 64);
}

static void release(void *user, void *memory, size_t size_bytes) {
    (void)user;
    (void)size_bytes;
    free(memory);
}

static bool step(void *user, double done, const char *stage) {
    (void)done;
    (void)stage;
    moment(user);
    return true;
}

static mote_context *disturbed_context(disturber *d) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.threads = 2;
    params.device = MOTE_DEVICE_CPU;
    params.allocator = (mote_allocator){d, allocate, release};
    params.progress = step;
    params.progress_user = d;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* ---- the inputs */

void changing_input(const char *name, bool text, bool compress) {
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_write_params params = mote_write_defaults();
    params.text = text;
    params.compress = compress;
    assert_int_equal(mote_generate(ctx, "city", CHANGING_POINTS, NULL, &cloud), MOTE_OK);
    if (strstr(name, ".copc.laz") == NULL && strstr(name, ".mote") == NULL) {
        test_write(ctx, cloud, test_path(name), &params);
    } else {
        assert_int_equal(mote_lod_build(ctx, cloud, NULL, &lod), MOTE_OK);
        const mote_status status = strstr(name, ".mote") != NULL
                                       ? mote_potree_write(ctx, lod, test_path(name), NULL, NULL)
                                       : mote_copc_write(ctx, lod, test_path(name), NULL, NULL);
        if (status != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
        mote_lod_destroy(lod);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Puts the bytes back, with a time of change that no other write can have. */
static void restore(const char *path, const char *bytes, size_t size) {
    const struct timespec long_ago[2] = {{1000000000, 5}, {1000000000, 5}};
    test_write_file(path, bytes, size);
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
}

/* ---- all works, disturbed */

/* The files that an output may consist of. */
static const char *const output_parts[] = {"", "/octree.bin", "/hierarchy.bin", "/metadata.json"};
#define OUTPUT_PARTS 4

static void remove_output(const char *output) {
    char path[700];
    for (int p = OUTPUT_PARTS - 1; p >= 0; p--) {
        snprintf(path, sizeof path, "%s%s", output, output_parts[p]);
        (void)remove(path);
    }
}

/* A number that any change of the output changes; 0 if there is none. */
static uint64_t output_sum(const char *output) {
    uint64_t sum = 0;
    for (int p = 0; p < OUTPUT_PARTS; p++) {
        char path[700];
        struct stat info;
        size_t size = 0;
        snprintf(path, sizeof path, "%s%s", output, output_parts[p]);
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
        char *bytes = test_load(path, &size);
        for (size_t i = 0; i < size; i++) sum = sum * 1099511628211u + (uint8_t)bytes[i] + 1;
        free(bytes);
    }
    return sum;
}

static void assert_nothing_unfinished(const char *output) {
    char pattern[700];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s.*part*", output);
    assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
}

/* Runs a work and returns its status; *sum: what came of it. */
static mote_status run_work(const changing_work *w, const char *input, disturber *d, uint64_t *sum, char *message) {
    char output[600];
    mote_context *ctx = disturbed_context(d);
    snprintf(output, sizeof output, "%s", test_path(w->output != NULL ? w->output : "none"));
    remove_output(output);
    *sum = 0;
    const mote_status status = w->run(ctx, input, output, sum);
    snprintf(message, TEST_MESSAGE_BYTES, "%s", mote_context_message(ctx));
    mote_context_trim(ctx);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
    assert_nothing_unfinished(output);
    if (status != MOTE_OK) assert_int_equal(access(output, F_OK), -1);
    if (w->output != NULL) *sum = output_sum(output);
    return status;
}

/* What a run came to. */
typedef struct outcome {
    mote_status status;
    uint64_t sum;
    char message[TEST_MESSAGE_BYTES];
} outcome;

static outcome run_once(const changing_work *w, const char *input, disturber *d) {
    outcome o;
    o.status = run_work(w, input, d, &o.sum, o.message);
    return o;
}

static bool is_same(const outcome *a, const outcome *b) {
    return a->status == b->status && a->sum == b->sum && strcmp(a->message, b->message) == 0;
}

/* The works of one input: how it is changed, and what comes of it unchanged, and changed before the work begins. */
typedef struct disturbance {
    const changing_work *work;
    const char *input, *changed, *bytes;
    size_t size;
    change kind;
    outcome unchanged, before;
} disturbance;

/* Changes the file at a moment; whether that was noticed. The file may be changed before it is opened, and after all
   was read of it: then the outcome is that of the changed file, or of the unchanged one. */
static bool change_at(const disturbance *w, long at) {
    disturber d = {.path = w->changed, .kind = w->kind, .at = at};
    restore(w->changed, w->bytes, w->size);
    const outcome now = run_once(w->work, w->input, &d);
    const bool told = now.status == MOTE_ERROR_CHANGED && strstr(now.message, w->changed) != NULL;
    if (!told && !is_same(&now, &w->before) && !is_same(&now, &w->unchanged)) {
        fail_msg("%s of %s, change %d at moment %ld: status %d, %s", w->work->name, w->input, (int)w->kind, at,
                 (int)now.status, now.message);
    }
    return told;
}

/* Some change is noticed. Which moments lie between opening and the last byte depends on how the threads run: a few
   are tried, and where these all missed, one after another. */
static void disturb_work(const changing_work *w, const char *input, const char *changed, const char *bytes,
                         size_t size) {
    const long tries = (long)test_extent(2, 3);
    disturber d = {.path = changed};
    disturbance all = {.work = w, .input = input, .changed = changed, .bytes = bytes, .size = size};
    restore(changed, bytes, size);
    all.unchanged = run_once(w, input, &d);
    const long moments = d.moments;
    if (all.unchanged.status != MOTE_OK) fail_msg("%s of %s: %s", w->name, input, all.unchanged.message);
    for (all.kind = 0; all.kind < CHANGES; all.kind++) {
        long noticed = 0;
        if ((uint64_t)(w - changing_works + all.kind) % test_watched(2, 1) != 0) continue; /* half of them, in turn */
        restore(changed, bytes, size);
        change_file(changed, all.kind);
        d = (disturber){.path = changed};
        all.before = run_once(w, input, &d);
        for (long t = 0; t < tries; t++) noticed += change_at(&all, 2 + t * (moments - 2) / tries);
        for (long at = 1; at <= moments && noticed == 0; at++) noticed += change_at(&all, at);
        if (noticed == 0) fail_msg("%s of %s: no change %d was noticed", w->name, input, (int)all.kind);
    }
}

/* input is what is read, changed the file in it that is disturbed. */
static void disturb(const char *input_name, const char *changed_name, input_kind kind) {
    char input[600], changed[600];
    size_t size = 0;
    snprintf(input, sizeof input, "%s", test_path(input_name));
    snprintf(changed, sizeof changed, "%s", test_path(changed_name));
    char *bytes = test_load(changed, &size);
    for (size_t i = 0; i < CHANGING_WORKS; i++) {
        if (changing_works[i].inputs == OF_ALL || changing_works[i].inputs == kind)
            disturb_work(&changing_works[i], input, changed, bytes, size);
    }
    free(bytes);
}

static void test_las(void **state) {
    (void)state;
    changing_input("in.las", false, false);
    disturb("in.las", "in.las", OF_VIEWS);
}

static void test_laz(void **state) {
    (void)state;
    changing_input("in.laz", false, false);
    disturb("in.laz", "in.laz", OF_ALL);
}

static void test_copc(void **state) {
    (void)state;
    changing_input("in.copc.laz", false, false);
    disturb("in.copc.laz", "in.copc.laz", OF_COPC);
}

static void test_ply(void **state) {
    (void)state;
    changing_input("in.ply", false, false);
    disturb("in.ply", "in.ply", OF_VIEWS);
    changing_input("in.ply", true, false);
    disturb("in.ply", "in.ply", OF_ALL);
}

static void test_pcd(void **state) {
    (void)state;
    changing_input("in.pcd", false, false);
    disturb("in.pcd", "in.pcd", OF_ALL);
    changing_input("in.pcd", false, true);
    disturb("in.pcd", "in.pcd", OF_ALL);
}

static void test_text(void **state) {
    (void)state;
    changing_input("in.csv", true, false);
    disturb("in.csv", "in.csv", OF_ALL);
}

static void test_folder_input(void **state) {
    (void)state;
    changing_input("in.mote", false, false);
    disturb("in.mote", "in.mote/octree.bin", OF_ALL);
}

/* The union of several files is a copy, made in a few steps: all moments are tried. */
static void test_union(void **state) {
    char input[600];
    disturber d = {.path = input};
    disturbance all = {.input = input, .changed = input, .kind = OVERWRITTEN};
    (void)state;
    for (size_t i = 0; i < CHANGING_WORKS; i++) {
        if (strcmp(changing_works[i].name, "several as one") == 0) all.work = &changing_works[i];
    }
    changing_input("in.las", false, false);
    snprintf(input, sizeof input, "%s", test_path("in.las"));
    char *bytes = test_load(input, &all.size);
    all.bytes = bytes;
    restore(input, bytes, all.size);
    all.unchanged = run_once(all.work, input, &d);
    const long moments = d.moments;
    overwrite(input);
    d = (disturber){.path = input};
    all.before = run_once(all.work, input, &d);
    for (long at = 1; at <= moments; at++) change_at(&all, at);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_las),
        cmocka_unit_test(test_laz),
        cmocka_unit_test(test_copc),
        cmocka_unit_test(test_ply),
        cmocka_unit_test(test_pcd),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_folder_input),
        cmocka_unit_test(test_union),
        cmocka_unit_test(changing_replaced_by_name),
        cmocka_unit_test(changing_context_recovers),
        cmocka_unit_test(changing_handlers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
