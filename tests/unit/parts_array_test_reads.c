/* What parts read of the inputs, and what the plan has read for them. */
#include <fcntl.h>
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

/* A file of points in Morton order, so that a part's are in few chunks, or records, beside each other. */
static void add_generated(mote_context *ctx, test_array *t, const char *kind, uint64_t points, bool is_ordered,
                          const char *ending) {
    char *path = t->paths[t->inputs.count], name[64];
    mote_cloud *cloud = NULL, *ordered = NULL;
    snprintf(name, sizeof name, "array_%s_%u.%s", kind, t->inputs.count, ending);
    snprintf(path, PATH, "%s", test_path(name));
    assert_int_equal(mote_generate(ctx, kind, points, NULL, &cloud), MOTE_OK);
    if (is_ordered) assert_int_equal(mote_order_cloud(ctx, cloud, &ordered), MOTE_OK);
    assert_int_equal(mote_cloud_write(ctx, is_ordered ? ordered : cloud, path, NULL), MOTE_OK);
    mote_cloud_destroy(ordered);
    mote_cloud_destroy(cloud);
    t->inputs.paths[t->inputs.count++] = path;
}

#define ORDERED_POINTS 400000u /* eight chunks of LAZ, two blocks of LAS that have a checksum */
#define SHARED_POINTS  160000u /* four chunks */

static void add_ordered(mote_context *ctx, test_array *t, const char *ending) {
    add_generated(ctx, t, "city", ORDERED_POINTS, true, ending);
}

/* Bytes of inputs that a part reads, as the plan says. */
static unsigned long long read_bytes_of(const test_array *t, uint32_t part) {
    char *text = array_read_text(t->plan), *at = strstr(text, "\"parts\": [");
    unsigned long long bytes = 0;
    for (uint32_t p = 0; p < part; p++) {
        assert_non_null(at);
        at = strstr(at + 1, "\"read_bytes\": ");
    }
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"read_bytes\": %llu", &bytes), 1);
    free(text);
    return bytes;
}

/* Of an input whose points lie beside each other a part reads what has points of it: of LAZ and LAS, of several inputs,
   with points left out; and numbers of points are those of all. */
void parts_read_what_is_theirs(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    /* Each kind of inputs as a folder or as a file, in turn; where it is watched one of all eight. */
    const uint64_t step = test_watched(8, 2), turn = test_turn(step);
    for (uint64_t variant = 0; variant < 8; variant++) {
        if (((variant ^ variant / 2) + turn) % step != 0) continue;
        mote_parts_report report;
        test_array t;
        struct stat info;
        unsigned long long sum = 0, all = 0;
        if (variant % 2 == 1) array_begin_copc(&t);
        if (variant % 2 == 0) array_begin(&t);
        t.parts = 5;
        if (variant / 2 != 1) add_ordered(ctx, &t, "laz");
        if (variant / 2 != 0) add_ordered(ctx, &t, "las");
        if (variant / 2 == 3) t.where = "classification != 2";
        array_compare(ctx, &t);
        assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
        for (uint32_t p = 1; p <= report.parts; p++) sum += read_bytes_of(&t, p);
        for (uint32_t i = 0; i < t.inputs.count; i++) {
            assert_int_equal(stat(t.inputs.paths[i], &info), 0);
            all += (unsigned long long)info.st_size;
        }
        if (variant < 6 && sum > 5 * all / 2) {
            fail_msg("variant %u: %llu bytes are read of %llu", (unsigned)variant, sum, all);
        }
        assert_true(sum >= all / 2);
    }
    mote_context_destroy(ctx);
}

/* Lets a file be as old as it was. */
static void keep_time(const char *path, const struct stat *before) {
    const struct timespec times[2] = {before->st_atim, before->st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Other bytes are refused by the parts that read them; of a file that was written since, by all that have points of
   it. */
void parts_check_what_they_read(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_parts_report report;
    test_array t;
    struct stat info;
    array_begin(&t);
    t.parts = 4;
    add_ordered(ctx, &t, "las");
    assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
    assert_int_equal(stat(t.paths[0], &info), 0);
    assert_true(info.st_size > 13 << 20); /* two blocks with a checksum each: the last part reads the second alone */
    array_change_byte(t.paths[0], (12 << 20) + 7);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_CHANGED,
                 "(other bytes); make a new plan");
    keep_time(t.paths[0], &info);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 4, 0, NULL), MOTE_ERROR_CHANGED,
                 "(other bytes); make a new plan");
    assert_int_equal(mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_OK);
    array_change_byte(t.paths[0], (12 << 20) + 7);
    array_change_byte(t.paths[0], 100); /* what is of no point, all look at */
    keep_time(t.paths[0], &info);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 2, 0, NULL), MOTE_ERROR_CHANGED,
                 "(other bytes); make a new plan");
    array_change_byte(t.paths[0], 100); /* the same bytes are right, whenever they were written */
    for (uint32_t p = 2; p <= 4; p++) assert_int_equal(mote_lod_parts_make(ctx, t.plan, p, 0, NULL), MOTE_OK);
    assert_int_equal(mote_lod_parts_merge(ctx, t.plan, true, &report), MOTE_OK);
    array_expect_whole(ctx, &t);
    assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    mote_context_destroy(ctx);
}

/* Points of all parts that the plan has read, as it says; and in how many runs. */
static uint64_t shared_points(const test_array *t, uint64_t *runs) {
    char *text = array_read_text(t->plan);
    uint64_t sum = 0;
    *runs = 0;
    for (const char *at = strstr(text, "\"shared\": {"); at != NULL; at = strstr(at + 1, "\"shared\": {")) {
        unsigned long long points;
        const char *list = strstr(at, "\"runs\": [");
        assert_int_equal(sscanf(strstr(at, "\"points\": "), "\"points\": %llu", &points), 1);
        assert_non_null(list);
        for (const char *c = list; *c != ']'; c++) *runs += *c == ',';
        sum += points;
    }
    free(text);
    return sum;
}

/* Chunks and records as they were scanned are of several parts: the plan reads these, and no part does, in whatever
   order inputs come, for samples that go by the order of points, and where cells are many. */
void units_are_shared(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        bool is_ordered;
        const char *ending;
    } inputs[] = {{"city", false, "laz"},
                  {"city", false, "las"},
                  {"city", false, "e57"},
                  {"uniform", false, "las"},
                  {"city", true, "laz"}};
    mote_context *ctx = test_context(3);
    const uint64_t step = test_watched(5, 1), turn = test_turn(step);
    for (uint64_t i = 0; i < 2 * sizeof inputs / sizeof inputs[0]; i++) {
        const uint64_t kind = i / 2;
        if ((kind + i + turn) % step != 0) continue;
        mote_parts_report report;
        test_array t;
        struct stat info;
        unsigned long long read = 0;
        uint64_t runs;
        if (i % 2 == 1) array_begin_copc(&t);
        if (i % 2 == 0) array_begin(&t);
        t.parts = 5;
        if (i % 4 == 2) t.params.sampling = MOTE_LOD_FIRST;
        add_generated(ctx, &t, inputs[kind].kind, SHARED_POINTS, inputs[kind].is_ordered, inputs[kind].ending);
        if (kind < 3 && i % 3 == 0) add_generated(ctx, &t, "city", SHARED_POINTS, true, "laz");
        array_compare(ctx, &t);
        assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
        const uint64_t shared = shared_points(&t, &runs), points = (uint64_t)SHARED_POINTS * t.inputs.count;
        if (shared < (inputs[kind].is_ordered ? 1 : SHARED_POINTS * 3 / 4) || runs < report.parts || shared > points) {
            fail_msg("input %u: the plan has read %llu points, in %llu runs", (unsigned)i, (unsigned long long)shared,
                     (unsigned long long)runs);
        }
        /* All together, parts read what the plan has read, and the rest of the inputs once. */
        for (uint32_t p = 1; p <= report.parts; p++) read += read_bytes_of(&t, p);
        for (uint32_t f = 0; f < t.inputs.count; f++) {
            assert_int_equal(stat(t.inputs.paths[f], &info), 0);
            read -= (unsigned long long)info.st_size < read ? (unsigned long long)info.st_size : read;
        }
        assert_true(read <= shared * 60);
        assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    }
    mote_context_destroy(ctx);
}

/* The file of shared points is the plan's: one that is not there, is cut, damaged, or another plan's is refused. */
void shared_points_are_checked(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_parts_report report;
    test_array t;
    char file[PATH + 64], first_plan[PATH + 64];
    array_begin(&t);
    t.parts = 4;
    add_generated(ctx, &t, "city", ORDERED_POINTS, false, "laz");
    assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
    snprintf(file, sizeof file, "%s.parts/shared", t.output);
    array_change_byte(file, 5000);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_CHANGED, "shared: is not what");
    assert_int_equal(mote_lod_parts_make(ctx, t.plan, 3, 0, NULL), MOTE_OK); /* it reads others */
    array_change_byte(file, 5000);
    assert_int_equal(mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_OK);
    assert_int_equal(truncate(file, 100000), 0);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 4, 0, NULL), MOTE_ERROR_CHANGED, "shared: is not what");
    assert_int_equal(unlink(file), 0);
    array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 4, 0, NULL), MOTE_ERROR_CHANGED, "shared: is not there");
    /* The same plan again writes the same file, with which parts go on; another one does not. */
    assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
    array_make_all(ctx, &t, 4);
    assert_int_equal(mote_lod_parts_merge(ctx, t.plan, true, &report), MOTE_OK);
    array_expect_whole(ctx, &t);
    snprintf(first_plan, sizeof first_plan, "%s.first", t.plan);
    assert_int_equal(rename(t.plan, first_plan), 0);
    t.parts = 3;
    assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
    snprintf(file, sizeof file, "%s.parts/2.json", t.output);
    assert_int_equal(unlink(file), 0);
    array_expect(ctx, mote_lod_parts_make(ctx, first_plan, 2, 0, NULL), MOTE_ERROR_CHANGED, "shared: is not what");
    assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    assert_int_not_equal(access(t.output, F_OK), -1);
    snprintf(file, sizeof file, "%s.parts", t.output);
    assert_int_equal(access(file, F_OK), -1); /* all is removed, the shared points too */
    mote_context_destroy(ctx);
}

/* What parts look at of others is in that file as well, behind its records: copies for averages, what sampling by
   distance has chosen; a part is refused where its own are not what the plan has written, or are not named. */
void what_others_have_is_checked(void **state) {
    (void)state;
    static const char *const names[] = {"\"chosen\": {", "\"copies\": {"};
    mote_context *ctx = test_context(2);
    for (int by_filter = 0; by_filter < 2; by_filter++) {
        mote_parts_report report;
        test_array t;
        struct stat info;
        char file[PATH + 64];
        unsigned long long at;
        array_begin(&t);
        t.parts = 4;
        if (by_filter) t.params.filter = MOTE_LOD_FILTER_NEIGHBORS;
        if (by_filter) t.params.scheme = MOTE_LOD_REPLACING;
        if (!by_filter) t.params.sampling = MOTE_LOD_POISSON;
        add_ordered(ctx, &t, "las");
        assert_int_equal(array_plan(ctx, &t, &report), MOTE_OK);
        char *text = array_read_text(t.plan), *own = strstr(strstr(text, names[by_filter]) + 1, names[by_filter]);
        assert_non_null(own); /* those of part 2 */
        assert_int_equal(sscanf(strstr(own, "\"at\": "), "\"at\": %llu", &at), 1);
        snprintf(file, sizeof file, "%s.parts/shared", t.output);
        assert_int_equal(stat(file, &info), 0);
        const uint64_t record_bytes = strtoull(strstr(text, "\"record_bytes\": ") + 16, NULL, 10);
        const long first = (long)(by_filter ? at * record_bytes : at);
        assert_true(first < info.st_size);
        array_change_byte(file, first);
        array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 2, 0, NULL), MOTE_ERROR_CHANGED, "shared: is not what");
        assert_int_equal(mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_OK);
        array_change_byte(file, first);
        memcpy(own + 1, "x", 1);
        parts_json_seal(text);
        array_write_text(t.plan, text);
        array_expect(ctx, mote_lod_parts_make(ctx, t.plan, 2, 0, NULL), MOTE_ERROR_DATA, "is missing");
        memcpy(own + 1, names[by_filter] + 1, 1);
        parts_json_seal(text);
        array_write_text(t.plan, text);
        array_make_all(ctx, &t, report.parts);
        assert_int_equal(mote_lod_parts_merge(ctx, t.plan, true, &report), MOTE_OK);
        array_expect_whole(ctx, &t);
        free(text);
        assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    }
    mote_context_destroy(ctx);
}
#endif
