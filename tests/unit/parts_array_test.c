/* Plans of parts: whatever is made where and how often, the folder is the one that one piece gives; what does not
   belong together is refused. */
#include <fcntl.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/potree_reference.h"
#include "support/cloud_files.h"
#include "support/parts_clouds.h"
#include "support/support.h"

#if MOTE_HAVE_JANSSON

#define PATH 512

typedef struct test_array {
    parts_inputs inputs;
    char paths[PARTS_INPUTS_MAX][PATH];
    char output[PATH], plan[PATH];
    mote_lod_params params;
    uint64_t parts;
    bool is_copc;                /* a file is made, and no folder */
    const char *const *left_out; /* attributes; NULL: none */
    const char *where;           /* points that are read; NULL: all */
} test_array;

static void begin(test_array *t) {
    memset(t, 0, sizeof *t);
    snprintf(t->output, PATH, "%s", test_path("array_out"));
    snprintf(t->plan, PATH, "%s", test_path("array_plan.json"));
    t->params = mote_lod_defaults();
    t->params.merge_points = 200;
}

/* The same for a COPC file. */
static void begin_copc(test_array *t) {
    begin(t);
    t->is_copc = true;
    t->params.max_node_points = 0;
    snprintf(t->output, PATH, "%s", test_path("array_out.copc.laz"));
}

static mote_read_params reading_params(const test_array *t) {
    mote_read_params reading = mote_read_defaults();
    reading.where = t->where;
    return reading;
}

static mote_potree_params potree_params(const test_array *t) {
    mote_potree_params potree = mote_potree_defaults();
    potree.name = "parts";
    potree.attributes_left_out = t->left_out;
    return potree;
}

static mote_copc_params copc_params(const test_array *t) {
    mote_copc_params copc = mote_copc_defaults();
    copc.columns = t->left_out != NULL ? "x,y,z,intensity" : NULL;
    return copc;
}

static void add_input(mote_context *ctx, test_array *t, const parts_kind *kind, const char *ending) {
    parts_kind own = *kind;
    char name[64], *path = t->paths[t->inputs.count];
    snprintf(name, sizeof name, "%s_%u", kind->name, t->inputs.count);
    own.name = name;
    snprintf(path, PATH, "%s", parts_cloud_file(ctx, &own, ending));
    t->inputs.paths[t->inputs.count++] = path;
}

static mote_status plan(mote_context *ctx, const test_array *t, mote_parts_report *report) {
    mote_parts_params parts = mote_parts_defaults();
    const mote_potree_params potree = potree_params(t);
    const mote_copc_params copc = copc_params(t);
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
static void make_all(mote_context *ctx, const test_array *t, uint32_t count) {
    for (uint32_t p = count; p > 0; p--) {
        mote_parts_report report;
        for (int again = 0; again < (p == count / 2 + 1 ? 2 : 1); again++) {
            const mote_status status = mote_lod_parts_make(ctx, t->plan, p, count, &report);
            if (status != MOTE_OK) fail_msg("part %u: %s", p, mote_context_message(ctx));
            if (again > 0) assert_int_equal(report.rounds, 0);
        }
    }
}

static void expect_whole(mote_context *ctx, const test_array *t) {
    char one[PATH];
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    const mote_potree_params potree = potree_params(t);
    const mote_copc_params copc = copc_params(t);
    const mote_read_params reading = reading_params(t);
    snprintf(one, PATH, "%s", test_path(t->is_copc ? "array_one.copc.laz" : "array_one"));
    assert_int_equal(mote_cloud_read_many(ctx, t->inputs.paths, t->inputs.count, &reading, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, cloud, &t->params, &lod), MOTE_OK);
    assert_int_equal(t->is_copc ? mote_copc_write(ctx, lod, one, &copc, NULL)
                                : mote_potree_write(ctx, lod, one, &potree, NULL),
                     MOTE_OK);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    if (!t->is_copc) {
        potree_reference_same_folders(one, t->output);
        return;
    }
    size_t sizes[2];
    char *bytes[2] = {test_load(one, &sizes[0]), test_load(t->output, &sizes[1])};
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* Returns how many rounds there were. */
static uint32_t compare(mote_context *ctx, const test_array *t) {
    mote_parts_report report;
    uint32_t rounds = 1;
    if (plan(ctx, t, &report) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    const uint32_t count = report.parts;
    assert_true(count >= 1 && count <= t->parts);
    make_all(ctx, t, count);
    mote_status status = mote_lod_parts_merge(ctx, t->plan, true, &report);
    if (status != MOTE_OK) {
        if (strstr(mote_context_message(ctx), "once more") == NULL) fail_msg("%s", mote_context_message(ctx));
        mote_context_clear(ctx);
        rounds = 2;
        make_all(ctx, t, count);
        status = mote_lod_parts_merge(ctx, t->plan, true, &report);
    }
    if (status != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    expect_whole(ctx, t);
    assert_int_equal(mote_lod_parts_clear(ctx, t->output), MOTE_OK);
    return rounds;
}

static void parts_are_the_whole(void **state) {
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 7};
    mote_context *ctx = test_context(2);
    uint32_t rounds[3] = {0, 0, 0};
    for (uint32_t k = 0; k < PARTS_KINDS; k++) {
        for (uint64_t c = test_extent(2, 0); c < 4; c++) {
            test_array t;
            begin(&t);
            add_input(ctx, &t, &parts_kinds[k], "las");
            t.parts = counts[c];
            if (c == 3) t.params.merge_points = 20;
            rounds[compare(ctx, &t)]++;
        }
    }
    assert_true(rounds[1] > 0 && rounds[2] > 0);
    mote_context_destroy(ctx);
}

static void other_parameters(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    for (int variant = 0; variant < 3; variant++) {
        test_array t;
        begin(&t);
        add_input(ctx, &t, &parts_kinds[0], "laz");
        t.parts = 5;
        if (variant > 0) t.params.scheme = MOTE_LOD_REPLACING;
        if (variant == 0) t.params.sampling = MOTE_LOD_FIRST;
        if (variant == 2) t.params.filter = MOTE_LOD_FILTER_CELL;
        t.params.seed = 0xfedcba9876543210ull;
        t.params.grid = 16;
        compare(ctx, &t);
    }
    mote_context_destroy(ctx);
}

static void inputs_are_united(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint64_t parts = 1; parts <= 7; parts += 3) {
        test_array t;
        begin(&t);
        add_input(ctx, &t, &parts_kinds[7], "las"); /* no points */
        add_input(ctx, &t, &parts_kinds[4], "laz");
        add_input(ctx, &t, &parts_kinds[6], "las"); /* all in one place */
        add_input(ctx, &t, &parts_kinds[1], "las");
        t.parts = parts;
        compare(ctx, &t);
    }
    mote_context_destroy(ctx);
}

/* COPC files: nodes on borders wait in the parts' files as shares; points in one place, colours that are to be looked
   at, inputs in turn. */
static void copc_files(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint32_t k = 0; k < PARTS_KINDS; k++) {
        test_array t;
        begin_copc(&t);
        add_input(ctx, &t, &parts_kinds[k], "las");
        t.parts = k % 2 == 0 ? 3 : 7;
        compare(ctx, &t);
        add_input(ctx, &t, &parts_kinds[(k + 3) % PARTS_KINDS], "laz");
        t.parts = 5;
        if (k < test_extent(PARTS_KINDS, 3)) compare(ctx, &t);
    }
    mote_context_destroy(ctx);
}

static void attributes_left_out(void **state) {
    (void)state;
    static const char *const names[] = {"gps_time", "classification", "rgb", NULL};
    mote_context *ctx = test_context(2);
    for (int copc = 0; copc < 2; copc++) {
        test_array t;
        if (copc) begin_copc(&t);
        if (!copc) begin(&t);
        t.left_out = names;
        t.parts = 4;
        add_input(ctx, &t, &parts_kinds[0], "las");
        compare(ctx, &t);
    }
    mote_context_destroy(ctx);
}

/* ---- what is refused */

static void expect(mote_context *ctx, mote_status status, mote_status expected, const char *words) {
    if (status != expected || strstr(mote_context_message(ctx), words) == NULL) {
        fail_msg("%d, expected %d and \"%s\": %s", status, expected, words, mote_context_message(ctx));
    }
    mote_context_clear(ctx);
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void change_byte(const char *path, long at) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    fputc(byte ^ 0x55, file);
    fclose(file);
}

/* What is said of memory, files and time is there for each part, and not beyond what is possible: bench/plan_parts.py
   compares with what parts take. */
static void costs_are_predicted(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (int copc = 0; copc < 2; copc++) {
        mote_parts_report report;
        test_array t;
        struct stat info;
        char file[PATH + 64];
        if (copc) begin_copc(&t);
        if (!copc) begin(&t);
        t.parts = 3;
        add_input(ctx, &t, &parts_kinds[0], "las");
        assert_int_equal(plan(ctx, &t, &report), MOTE_OK);
        char *text = read_text(t.plan), *at = strstr(text, "\"parts\": [");
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

static void what_lacks_is_named(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_parts_report report;
    test_array t;
    char file[PATH + 64];
    begin(&t);
    add_input(ctx, &t, &parts_kinds[0], "las");
    t.parts = 4;
    assert_int_equal(plan(ctx, &t, &report), MOTE_OK);
    assert_int_equal(report.parts, 4);
    expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO, "4 of 4 parts are to be made");
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 5, 0, NULL), MOTE_ERROR_ARGUMENT, "no part 5");
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 7, NULL), MOTE_ERROR_ARGUMENT, "has 4 parts, and not 7");
    make_all(ctx, &t, 4);
    snprintf(file, sizeof file, "%s.parts/3.octree", t.output);
    assert_int_equal(unlink(file), 0);
    snprintf(file, sizeof file, "%s.parts/1.json", t.output);
    assert_int_equal(unlink(file), 0);
    expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO,
           "2 of 4 parts are to be made: part 1: it has no manifest, part 3: its records are not there");
    make_all(ctx, &t, 4);
    snprintf(file, sizeof file, "%s.parts/2.octree", t.output);
    change_byte(file, 1000);
    expect(ctx, mote_lod_parts_merge(ctx, t.plan, true, NULL), MOTE_ERROR_IO, "part 2: its records are not those");
    make_all(ctx, &t, 4); /* it is seen, and made anew */
    assert_int_equal(truncate(file, 5000), 0);
    expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO, "part 2: its records are not those");
    snprintf(file, sizeof file, "%s.parts/4.json", t.output);
    write_text(file, "{\"mote_part\": 1, ");
    expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO, "part 4: its manifest is damaged");
    make_all(ctx, &t, 4);
    assert_int_equal(mote_lod_parts_merge(ctx, t.plan, true, &report), MOTE_OK);
    expect_whole(ctx, &t);
    /* Another plan's parts are not those of this one. */
    t.params.merge_points = 300;
    assert_int_equal(plan(ctx, &t, &report), MOTE_OK);
    expect(ctx, mote_lod_parts_merge(ctx, t.plan, false, NULL), MOTE_ERROR_IO, "part 1: it was made by another plan");
    assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    mote_context_destroy(ctx);
}

static void inputs_may_not_change(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_parts_report report;
    test_array t;
    begin(&t);
    add_input(ctx, &t, &parts_kinds[0], "las");
    t.parts = 2;
    assert_int_equal(plan(ctx, &t, &report), MOTE_OK);
    change_byte(t.paths[0], 5000);
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_IO, "(other bytes); make a new plan");
    assert_int_equal(truncate(t.paths[0], 4999), 0);
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_IO, "(another size); make a new plan");
    assert_int_equal(unlink(t.paths[0]), 0);
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_IO, "cloud_0.las");
    mote_context_destroy(ctx);
}

/* The plan would take the place of a file that it is made of, under whatever name; with outputs held, and without. */
static void a_plan_replaces_no_input(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (int held = 0; held < 2; held++) {
        mote_parts_report report;
        struct stat before, after;
        char link[PATH];
        test_array t;
        begin(&t);
        add_input(ctx, &t, &parts_kinds[6], "las");
        t.parts = 2;
        snprintf(link, PATH, "%s", test_path("array_link.json"));
        unlink(link);
        assert_int_equal(symlink(t.paths[0], link), 0);
        assert_int_equal(stat(t.paths[0], &before), 0);
        for (int by_link = 0; by_link < 2; by_link++) {
            snprintf(t.plan, PATH, "%s", by_link ? link : t.paths[0]);
            if (held) assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
            assert_int_equal(plan(ctx, &t, &report), MOTE_ERROR_ARGUMENT);
            assert_non_null(strstr(mote_context_message(ctx), "is also an input"));
            mote_outputs_release(ctx, MOTE_CANCELLED);
            mote_context_clear(ctx);
            assert_int_equal(stat(t.paths[0], &after), 0);
            assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
        }
    }
    mote_context_destroy(ctx);
}

/* A file of points in Morton order, so that a part's are in few chunks, or records, beside each other. */
static void add_ordered(mote_context *ctx, test_array *t, const char *ending) {
    char *path = t->paths[t->inputs.count], name[64];
    mote_cloud *cloud = NULL, *ordered = NULL;
    snprintf(name, sizeof name, "array_ordered_%u.%s", t->inputs.count, ending);
    snprintf(path, PATH, "%s", test_path(name));
    assert_int_equal(mote_generate(ctx, "city", 400000, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_order_cloud(ctx, cloud, &ordered), MOTE_OK);
    assert_int_equal(mote_cloud_write(ctx, ordered, path, NULL), MOTE_OK);
    mote_cloud_destroy(ordered);
    mote_cloud_destroy(cloud);
    t->inputs.paths[t->inputs.count++] = path;
}

/* Bytes of inputs that a part reads, as the plan says. */
static unsigned long long read_bytes_of(const test_array *t, uint32_t part) {
    char *text = read_text(t->plan), *at = strstr(text, "\"parts\": [");
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
static void parts_read_what_is_theirs(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    for (int variant = 0; variant < 8; variant++) {
        mote_parts_report report;
        test_array t;
        struct stat info;
        unsigned long long sum = 0, all = 0;
        if (variant % 2 == 1) begin_copc(&t);
        if (variant % 2 == 0) begin(&t);
        t.parts = 5;
        if (variant / 2 != 1) add_ordered(ctx, &t, "laz");
        if (variant / 2 != 0) add_ordered(ctx, &t, "las");
        if (variant / 2 == 3) t.where = "classification != 2";
        compare(ctx, &t);
        assert_int_equal(plan(ctx, &t, &report), MOTE_OK);
        for (uint32_t p = 1; p <= report.parts; p++) sum += read_bytes_of(&t, p);
        for (uint32_t i = 0; i < t.inputs.count; i++) {
            assert_int_equal(stat(t.inputs.paths[i], &info), 0);
            all += (unsigned long long)info.st_size;
        }
        if (variant < 6 && sum > 5 * all / 2) fail_msg("variant %d: %llu bytes are read of %llu", variant, sum, all);
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
static void parts_check_what_they_read(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_parts_report report;
    test_array t;
    struct stat info;
    begin(&t);
    t.parts = 4;
    add_ordered(ctx, &t, "las");
    assert_int_equal(plan(ctx, &t, &report), MOTE_OK);
    assert_int_equal(stat(t.paths[0], &info), 0);
    assert_true(info.st_size > 13 << 20); /* two blocks with a checksum each: the last part reads the second alone */
    change_byte(t.paths[0], (12 << 20) + 7);
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_IO, "(other bytes); make a new plan");
    keep_time(t.paths[0], &info);
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 4, 0, NULL), MOTE_ERROR_IO, "(other bytes); make a new plan");
    assert_int_equal(mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_OK);
    change_byte(t.paths[0], (12 << 20) + 7);
    change_byte(t.paths[0], 100); /* what is of no point, all look at */
    keep_time(t.paths[0], &info);
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 2, 0, NULL), MOTE_ERROR_IO, "(other bytes); make a new plan");
    change_byte(t.paths[0], 100); /* the same bytes are right, whenever they were written */
    for (uint32_t p = 2; p <= 4; p++) assert_int_equal(mote_lod_parts_make(ctx, t.plan, p, 0, NULL), MOTE_OK);
    assert_int_equal(mote_lod_parts_merge(ctx, t.plan, true, &report), MOTE_OK);
    expect_whole(ctx, &t);
    assert_int_equal(mote_lod_parts_clear(ctx, t.output), MOTE_OK);
    mote_context_destroy(ctx);
}

/* Each digit and each line of a plan: refused, or of no weight; never a crash. And other versions. */
static void expect_checked(bool is_copc) {
    mote_context *ctx = test_context(1);
    mote_parts_report report;
    test_array t;
    if (is_copc) begin_copc(&t);
    if (!is_copc) begin(&t);
    add_input(ctx, &t, &parts_kinds[6], "las");
    add_input(ctx, &t, &parts_kinds[6], "las");
    t.parts = 3;
    assert_int_equal(plan(ctx, &t, &report), MOTE_OK);
    char *text = read_text(t.plan), *other = calloc(1, 1 << 20);
    assert_non_null(other);
    char *version = strstr(text, "\"mote_plan\": 4");
    assert_non_null(version);
    version[13] = '3'; /* parts decoded chunks of others, and there were no shared points */
    write_text(t.plan, text);
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_UNSUPPORTED, "a plan of version 3");
    version[13] = '4';
    write_text(t.plan, "[]");
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_DATA, "no plan of parts");
    write_text(t.plan, "{");
    expect(ctx, mote_lod_parts_make(ctx, t.plan, 1, 0, NULL), MOTE_ERROR_DATA, "line 1, column 1: no plan");
    uint32_t refused = 0;
    for (char *digit = text; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9' || digit[-1] != ' ') continue;
        snprintf(other, 1 << 20, "%.*s%c%s", (int)(digit - text), text, *digit == '9' ? '3' : '9', digit + 1);
        write_text(t.plan, other);
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

static void plans_are_checked(void **state) {
    (void)state;
    expect_checked(false);
    expect_checked(true);
}

/* ---- failures */

static mote_status plan_make_merge(mote_context *ctx, void *user) {
    const test_array *t = user;
    mote_parts_report report;
    mote_status status = plan(ctx, t, &report);
    for (uint32_t p = 1; status == MOTE_OK && p <= report.parts; p++) {
        status = mote_lod_parts_make(ctx, t->plan, p, 0, NULL);
    }
    if (status == MOTE_OK) status = mote_lod_parts_merge(ctx, t->plan, true, NULL);
    return status;
}

static mote_status resume_in(mote_context *ctx, const test_array *t, uint64_t part_points, mote_parts_report *report) {
    mote_parts_params parts = mote_parts_defaults();
    const mote_potree_params potree = potree_params(t);
    const mote_copc_params copc = copc_params(t);
    parts.part_points = part_points;
    parts.resumes = true;
    if (t->is_copc) {
        return mote_copc_write_parts(ctx, t->inputs.paths, t->inputs.count, NULL, &t->params, t->output, &copc, &parts,
                                     report);
    }
    return mote_lod_write_parts(ctx, t->inputs.paths, t->inputs.count, NULL, &t->params, t->output, &potree, &parts,
                                report);
}

static mote_status resume(mote_context *ctx, void *user) { return resume_in(ctx, user, 120, NULL); }

/* As test_each_allocation_fails does, of which each run reads files and writes others: some of them, as many in all. */
static void some_allocations_fail(test_work work, void *user) {
    const long step = (long)test_extent(29, 7);
    mote_status status = MOTE_ERROR_MEMORY;
    for (long n = 2; status != MOTE_OK; n += step) {
        test_allocator allocator = {.fail_at = n};
        mote_context *ctx = test_context_failing(&allocator, 1);
        status = work(ctx, user);
        if (status != MOTE_OK && status != MOTE_ERROR_MEMORY) fail_msg("%s", mote_context_message(ctx));
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
        assert_int_equal(status == MOTE_OK, allocator.calls < n);
    }
}

static void survives_failures(void **state) {
    (void)state;
    static const parts_kind few = {"few", 300, 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    test_array t;
    begin(&t);
    t.params.merge_points = 50;
    t.parts = 3;
    add_input(ctx, &t, &few, "las");
    for (uint64_t inputs = test_extent(2, 1); inputs <= 2; inputs++) {
        if (inputs == 2) add_input(ctx, &t, &few, "laz");
        mote_lod_parts_clear(ctx, t.output);
        some_allocations_fail(plan_make_merge, &t);
        mote_lod_parts_clear(ctx, t.output);
        test_each_step_cancels(plan_make_merge, &t);
        mote_lod_parts_clear(ctx, t.output);
        some_allocations_fail(resume, &t); /* each goes on where the last one failed */
        expect_whole(ctx, &t);
        mote_lod_parts_clear(ctx, t.output);
        test_each_step_cancels(resume, &t);
        expect_whole(ctx, &t);
    }
    mote_lod_parts_clear(ctx, t.output);
    mote_context_destroy(ctx);
}

/* The same for a COPC file of two inputs. */
static void copc_survives(void **state) {
    (void)state;
    static const parts_kind few = {"few", 300, 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    test_array t;
    begin_copc(&t);
    t.params.merge_points = 50;
    t.parts = 3;
    add_input(ctx, &t, &few, "las");
    add_input(ctx, &t, &few, "laz");
    some_allocations_fail(plan_make_merge, &t);
    mote_lod_parts_clear(ctx, t.output);
    test_each_step_cancels(plan_make_merge, &t);
    expect_whole(ctx, &t);
    mote_lod_parts_clear(ctx, t.output);
    some_allocations_fail(resume, &t);
    expect_whole(ctx, &t);
    mote_lod_parts_clear(ctx, t.output);
    mote_context_destroy(ctx);
}

/* A run that ends in the middle, and one that goes on: the bytes of one piece. */
typedef struct test_stop {
    long calls_left;
} test_stop;

static bool stop_in_the_middle(void *user, double done, const char *stage) {
    (void)done, (void)stage;
    return --((test_stop *)user)->calls_left > 0;
}

static void expect_to_go_on(bool is_copc) {
    mote_context *ctx = test_context(2);
    uint64_t resumed = 0;
    test_array t;
    if (is_copc) begin_copc(&t);
    if (!is_copc) begin(&t);
    t.params.merge_points = 20;
    add_input(ctx, &t, &parts_kinds[1], "las"); /* strays, and fine codes: two rounds */
    for (long n = 8; n < 4000; n = n * 3 / 2) {
        test_stop stop = {n};
        mote_context_params params = mote_context_defaults();
        mote_context *own = NULL;
        mote_parts_report report;
        params.threads = 2;
        params.progress = stop_in_the_middle;
        params.progress_user = &stop;
        assert_int_equal(mote_context_create(&params, &own), MOTE_OK);
        const mote_status status = resume_in(own, &t, 3000, &report);
        mote_context_destroy(own);
        assert_true(status == MOTE_OK || status == MOTE_CANCELLED);
        if (resume_in(ctx, &t, 3000, &report) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
        assert_true(report.parts > 5);
        resumed += report.resumed_parts > 0 && report.resumed_parts < report.parts;
        expect_whole(ctx, &t);
        mote_lod_parts_clear(ctx, t.output);
        if (status == MOTE_OK) break;
    }
    assert_true(resumed > 0);
    mote_context_destroy(ctx);
}

static void runs_go_on(void **state) {
    (void)state;
    expect_to_go_on(false);
    expect_to_go_on(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(other_parameters),
        cmocka_unit_test(inputs_are_united),
        cmocka_unit_test(what_lacks_is_named),
        cmocka_unit_test(inputs_may_not_change),
        cmocka_unit_test(parts_read_what_is_theirs),
        cmocka_unit_test(parts_check_what_they_read),
        cmocka_unit_test(a_plan_replaces_no_input),
        cmocka_unit_test(plans_are_checked),
        cmocka_unit_test(runs_go_on),
        cmocka_unit_test(copc_files),
        cmocka_unit_test(attributes_left_out),
        cmocka_unit_test(costs_are_predicted),
        cmocka_unit_test(copc_survives),
        cmocka_unit_test(survives_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void) { return 0; }
#endif
