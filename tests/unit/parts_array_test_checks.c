/* What does not belong together is refused: inputs, plans and parts; and what a plan says that parts take. */
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts/parts_job.h"
#include "parts_array_test.h"
#include "support/cloud_files.h"

#if MOTE_HAVE_JANSSON

/* What is said of memory, files and time is there for each part, and not beyond what is possible: bench/plan_parts.py
   compares with what parts take. */
void costs_are_predicted(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (int copc = 0; copc < 2; copc++) {
        mote_parts_report report;
        test_array t;
        struct stat info;
        char file[PATH + 64];
        if (copc) array_begin_copc(&t);
        if (!copc) array_begin(&t);
        t.parts = 3;
        array_add(ctx, &t, &parts_kinds[0], "las");
        assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
        char *text = array_read_text(t.plan), *at = strstr(text, "\"parts\": [");
        uint64_t all_read = 0;
        for (uint32_t p = 1; p <= report.parts; p++) {
            unsigned long long memory, limit, scratch, read;
            double seconds;
            assert_non_null(at);
            at = strstr(at, "\"memory_bytes\": ");
            assert_non_null(at);
            assert_int_equal(sscanf(at,
                                    "\"memory_bytes\": %llu, \"memory_limit_bytes\": %llu, \"scratch_bytes\": %llu, "
                                    "\"read_bytes\": %llu, \"seconds\": %lf",
                                    &memory, &limit, &scratch, &read, &seconds),
                             5);
            /* That limit suffices. */
            mote_context_params params = mote_context_defaults();
            mote_context *bounded = NULL;
            params.threads = 2;
            params.memory_limit_bytes = limit;
            assert_int_equal(mote_context_create(&params, &bounded), MOTE_OK);
            assert_int_equal(mote_lod_parts_make(bounded, t.plan, p, 0, NULL), MOTE_OK);
            mote_context_destroy(bounded);
            snprintf(file, sizeof file, "%s.parts/%u.octree", t.output, p);
            assert_int_equal(stat(file, &info), 0);
            if (scratch < (uint64_t)info.st_size / 2 || scratch > 2 * (uint64_t)info.st_size + 8192) {
                fail_msg("%llu bytes predicted, %lld made", scratch, (long long)info.st_size);
            }
            assert_true(read > 0);
            all_read += read;
            assert_true(memory > 0 && limit > 0 && seconds > 0 && seconds < 60);
            at++;
        }
        /* Points lie anywhere: parts read their own of those that the plan has read, in a COPC file with numbers. */
        assert_int_equal(stat(t.paths[0], &info), 0);
        assert_true(all_read > (uint64_t)info.st_size / 2 && all_read < 2 * (uint64_t)info.st_size);
        free(text);
        assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    }
    mote_context_destroy(ctx);
}

void what_lacks_is_named(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_parts_report report;
    test_array t;
    char file[PATH + 64];
    array_begin(&t);
    array_add(ctx, &t, &parts_kinds[0], "las");
    t.parts = 4;
    assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
    assert_int_equal(report.parts, 4);
    array_expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO, "4 of 4 parts are to be made");
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 5, 0, NULL), MOTE_ERROR_ARGUMENT, "no part 5");
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 7, NULL), MOTE_ERROR_ARGUMENT, "has 4 parts, and not 7");
    array_make_all(ctx, &t, 4);
    snprintf(file, sizeof file, "%s.parts/3.octree", t.output);
    assert_int_equal(unlink(file), 0);
    snprintf(file, sizeof file, "%s.parts/1.json", t.output);
    assert_int_equal(unlink(file), 0);
    array_expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO,
                 "2 of 4 parts are to be made: part 1: it was not made yet, part 3: its records are not there");
    array_make_all(ctx, &t, 4);
    snprintf(file, sizeof file, "%s.parts/2.octree", t.output);
    array_change_byte(file, 1000);
    array_expect(ctx, mote_lod_parts_merge(ctx, t.plan, true, NULL), MOTE_ERROR_IO,
                 "part 2: its records are not those");
    array_make_all(ctx, &t, 4); /* it is seen, and made anew */
    assert_int_equal(truncate(file, 5000), 0);
    array_expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO,
                 "part 2: its records are not those");
    snprintf(file, sizeof file, "%s.parts/4.json", t.output);
    array_write_text(file, "{\"mote_part\": 1, ");
    array_expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO, "part 4: its manifest is damaged");
    array_make_all(ctx, &t, 4);
    assert_int_equal(mote_lod_parts_merge(ctx, t.plan, true, &report), MOTE_OK);
    array_expect_whole(ctx, &t);
    /* The same again, which may predict others, has the same parts; another plan's are not those of this one. */
    assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
    assert_int_equal(mote_lod_parts_make(ctx, t.plan, 2, 0, &report), MOTE_OK);
    assert_int_equal(report.rounds, 0);
    char *text = array_read_text(t.plan), *bytes = strstr(text, "\"memory_bytes\": ");
    assert_non_null(bytes);
    bytes[16] = bytes[16] == '1' ? '2' : '1';
    parts_json_seal(text);
    array_write_text(t.plan, text);
    assert_int_equal(mote_lod_parts_merge(ctx, t.plan, true, NULL), MOTE_OK);
    char *points = strstr(strstr(text, "\"parts\": "), "\"first_code\": \"0");
    assert_non_null(points);
    points[15] = '1';
    parts_json_seal(text);
    array_write_text(t.plan, text);
    assert_int_not_equal(mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_OK);
    mote_context_clear(ctx);
    free(text);
    t.params.merge_points = 300;
    assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
    array_expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO,
                 "part 1: it was made by another plan");
    assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    mote_context_destroy(ctx);
}

/* A byte that is another one is seen wherever it is among a part's records: in chunks, and in what is to become one. */
/* A byte of a part's file is another, anywhere: the merge says so. */
static void expect_noticed(mote_context *ctx, const test_array *t, const char *name, bool verify, const char *word) {
    struct stat info;
    char file[PATH + 64];
    snprintf(file, sizeof file, "%s.parts/%s", t->output, name);
    assert_int_equal(stat(file, &info), 0);
    for (long k = 0; k < 16; k++) {
        const long at = (long)info.st_size * k / 16;
        array_change_byte(file, at);
        array_expect(ctx, mote_lod_parts_merge(ctx, t->plan, verify, NULL), MOTE_ERROR_IO, word);
        array_change_byte(file, at);
    }
}

void records_are_checked(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (int copc = 0; copc < 2; copc++) {
        mote_parts_report report;
        test_array t;
        if (copc) array_begin_copc(&t);
        if (!copc) array_begin(&t);
        array_add(ctx, &t, &parts_kinds[0], "las");
        t.parts = 2;
        assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
        array_make_all(ctx, &t, report.parts);
        expect_noticed(ctx, &t, "1.octree", true, "part 1: its records are not those");
        expect_noticed(ctx, &t, "1.json", false, "part 1: its manifest is damaged");
        assert_int_equal(mote_lod_parts_merge(ctx, t.plan, true, &report), MOTE_OK);
        array_expect_whole(ctx, &t);
        assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    }
    mote_context_destroy(ctx);
}

void inputs_may_not_change(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_parts_report report;
    test_array t;
    array_begin(&t);
    array_add(ctx, &t, &parts_kinds[0], "las");
    t.parts = 2;
    assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
    array_change_byte(t.paths[0], 5000);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_CHANGED,
                 "(other bytes); make a new plan");
    assert_int_equal(truncate(t.paths[0], 4999), 0);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_CHANGED,
                 "(another size); make a new plan");
    assert_int_equal(unlink(t.paths[0]), 0);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_CHANGED, "cloud_0.las");
    mote_context_destroy(ctx);
}

/* The plan would take the place of a file that it is made of, under whatever name; with outputs held, and without. */
void a_plan_replaces_no_input(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (int held = 0; held < 2; held++) {
        mote_parts_report report;
        struct stat before, after;
        char link[PATH];
        test_array t;
        array_begin(&t);
        array_add(ctx, &t, &parts_kinds[6], "las");
        t.parts = 2;
        snprintf(link, PATH, "%s", test_path("array_link.json"));
        unlink(link);
        assert_int_equal(symlink(t.paths[0], link), 0);
        assert_int_equal(stat(t.paths[0], &before), 0);
        for (int by_link = 0; by_link < 2; by_link++) {
            snprintf(t.plan, PATH, "%s", by_link ? link : t.paths[0]);
            if (held) assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
            assert_int_equal(array_plan(ctx, &t, &report), MOTE_ERROR_ARGUMENT);
            assert_non_null(strstr(mote_context_message(ctx), "is also an input"));
            mote_outputs_release(ctx, MOTE_CANCELLED);
            mote_context_clear(ctx);
            assert_int_equal(stat(t.paths[0], &after), 0);
            assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
        }
    }
    mote_context_destroy(ctx);
}

/* Each digit and each line of a plan: refused, or of no weight; never a crash. And other versions. */
static void expect_checked(bool is_copc) {
    mote_context *ctx = test_context(1);
    mote_parts_report report;
    test_array t;
    if (is_copc) array_begin_copc(&t);
    if (!is_copc) array_begin(&t);
    array_add(ctx, &t, &parts_kinds[6], "las");
    array_add(ctx, &t, &parts_kinds[6], "laz");
    t.parts = 3;
    assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
    char *text = array_read_text(t.plan), *other = calloc(1, 1 << 20);
    assert_non_null(other);
    char *version = strstr(text, "\"mote_plan\": 6");
    assert_non_null(version);
    version[13] = '4'; /* which knows nothing of copies and of what is chosen */
    array_write_text(t.plan, text);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_UNSUPPORTED, "a plan of version 4");
    version[13] = '6';
    array_write_text(t.plan, "[]");
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_DATA, "no plan of parts");
    array_write_text(t.plan, "{");
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_DATA, "line 1, column 1: no plan");
    uint32_t refused = 0;
    for (char *digit = text; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9' || digit[-1] != ' ' || digit == version + 13) continue;
        snprintf(other, 1 << 20, "%.*s%c%s", (int)(digit - text), text, *digit == '9' ? '3' : '9', digit + 1);
        array_write_text(t.plan, other);
        array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_DATA,
                     "was changed since it was written");
        parts_json_seal(other);
        array_write_text(t.plan, other);
        const mote_status status = mote_lod_parts_make(ctx, t.plan, 1, 0, NULL);
        refused += status != MOTE_OK;
        if (status != MOTE_OK) assert_true(mote_context_message(ctx)[0] != '\0');
        mote_context_clear(ctx);
    }
    print_message("%u refused\n", refused);
    assert_true(refused > 10);
    free(text);
    free(other);
    assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    mote_context_destroy(ctx);
}

void plans_are_checked(void **state) {
    (void)state;
    expect_checked(false);
    expect_checked(true);
}

#endif
