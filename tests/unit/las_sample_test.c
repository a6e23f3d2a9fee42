/* Samples of LAS and LAZ: the first point of each chunk, what the headers state, and inputs that cannot be read. */
#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/laz_files.h"

typedef struct left_out {
    uint32_t count;
    mote_status status;
    char path[512], message[512];
    bool goes_on;
} left_out;

static bool note_failed(void *user, const char *path, mote_status status, const char *message) {
    left_out *noted = user;
    noted->count++;
    noted->status = status;
    snprintf(noted->path, sizeof noted->path, "%s", path);
    snprintf(noted->message, sizeof noted->message, "%s", message);
    return noted->goes_on;
}

static mote_status sample_many(mote_context *ctx, const char *const *paths, uint32_t count, mote_read_sample *sample,
                               const char *select, mote_cloud **out) {
    mote_read_params params = mote_read_defaults();
    params.sample = sample;
    params.select = select;
    return mote_cloud_read_many(ctx, paths, count, &params, out);
}

static mote_cloud *sample_ok(mote_context *ctx, const char *path, mote_read_sample *sample, const char *select) {
    mote_cloud *cloud = NULL;
    *sample = mote_read_sample_defaults();
    const mote_status status = sample_many(ctx, &path, 1, sample, select, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return cloud;
}

static const char *write_made(const laz_made *m, const char *name) {
    const char *path = test_path(name);
    test_write_file(path, m->file.data, m->file.size);
    return path;
}

/* The sample has the first point of each of the first chunks, as the file was made of it. */
static void assert_first_points(const mote_cloud *cloud, const laz_made *m, uint32_t chunks) {
    assert_int_equal(mote_cloud_count(cloud), chunks);
    const mote_column *x = mote_cloud_find(cloud, "x");
    assert_int_equal(x->stride_bytes, m->record_bytes);
    for (uint32_t i = 0; i < chunks; i++) {
        assert_memory_equal((const uint8_t *)x->data + i * x->stride_bytes,
                            m->records + m->chunk_first[i] * m->record_bytes, m->record_bytes);
    }
}

static void chunks_give_their_first_point(void **state) {
    (void)state;
    static const struct {
        uint64_t points;
        uint32_t chunk_points;
    } cases[] = {{0, 100}, {1, 100}, {100, 100}, {101, 100}, {2500, 100}, {2500, LAZ_VARIABLE}, {3, 1}};
    mote_context *ctx = test_context(2);
    for (uint32_t format = 0; format < LAS_FORMATS; format++) {
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            laz_made m = laz_make(ctx, format, c % 2 != 0 ? 5 : 0, cases[c].points, cases[c].chunk_points);
            mote_read_sample sample;
            mote_cloud *cloud = sample_ok(ctx, write_made(&m, "made.laz"), &sample, NULL);
            assert_first_points(cloud, &m, m.chunks);
            assert_int_equal(sample.points, m.points);
            mote_cloud_destroy(cloud);
            laz_free_made(&m);
        }
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void chosen_columns_are_those_of_all_points(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (uint32_t format = 3; format <= 7; format += 4) {
        laz_made m = laz_make(ctx, format, 0, 950, 100);
        const char *path = write_made(&m, "chosen.laz");
        mote_read_sample sample;
        mote_cloud *some = sample_ok(ctx, path, &sample, "intensity,red"), *all = sample_ok(ctx, path, &sample, NULL);
        assert_int_equal(mote_cloud_column_count(some), 5);
        for (uint32_t c = 0; c < 5; c++) {
            const mote_column *column = mote_cloud_column(some, c), *same = mote_cloud_find(all, column->name);
            for (uint64_t i = 0; i < 10; i++) {
                assert_true(mote_column_value(column, i) == mote_column_value(same, i));
            }
        }
        mote_cloud_destroy(some);
        mote_cloud_destroy(all);
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* Of each real file: the sample has the points that are first in chunks of the whole. Returns how many. */
static uint64_t check_real(mote_context *ctx, const char *path) {
    mote_las_facts facts;
    mote_read_sample sample;
    mote_cloud *whole = NULL;
    assert_int_equal(mote_cloud_read(ctx, path, NULL, &whole), MOTE_OK);
    mote_cloud *cloud = sample_ok(ctx, path, &sample, NULL);
    assert_true(mote_cloud_las_facts(whole, &facts));
    const uint64_t count = mote_cloud_count(cloud), step = facts.chunk_points;
    assert_int_equal(sample.points, mote_cloud_count(whole));
    assert_int_equal(count, facts.chunk_count);
    for (uint32_t c = 0; c < mote_cloud_column_count(whole); c++) {
        const mote_column *all = mote_cloud_column(whole, c), *some = mote_cloud_column(cloud, c);
        assert_string_equal(all->name, some->name);
        for (uint64_t i = 0; i < count && (step > 0 || i == 0); i++) {
            const double expected = mote_column_value(all, i * step), got = mote_column_value(some, i);
            assert_true(expected == got || (isnan(expected) && isnan(got)));
        }
    }
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(whole);
    return count;
}

static void real_files_give_their_first_points(void **state) {
    (void)state;
    if (test_data("laz") == NULL) skip();
    char folder[4096], path[4400];
    snprintf(folder, sizeof folder, "%s", test_data("laz"));
    mote_context *ctx = test_context(1);
    DIR *entries = opendir(folder);
    uint64_t points = 0;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        const size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 4, ".laz") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        points += check_real(ctx, path);
    }
    closedir(entries);
    assert_true(points > 40);
    mote_context_destroy(ctx);
}

static void write_plain(mote_context *ctx, const char *path, uint64_t count) {
    const mote_column_spec specs[] = {
        {"x", MOTE_INT32, 0.01, 500}, {"y", MOTE_INT32, 0.01, 0}, {"z", MOTE_INT32, 1, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, count, specs, 3, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < count; i++) set_value(cloud, "x", i, (double)i);
    assert_int_equal(mote_cloud_write(ctx, cloud, path, NULL), MOTE_OK);
    mote_cloud_destroy(cloud);
}

static void plain_files_are_as_dense(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 50000, 50001, 100001};
    mote_context *ctx = test_context(2);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        mote_read_sample sample;
        write_plain(ctx, test_path("plain.las"), counts[c]);
        mote_cloud *cloud = sample_ok(ctx, test_path("plain.las"), &sample, NULL);
        assert_int_equal(mote_cloud_count(cloud), (counts[c] + LAZ_CHUNK_POINTS - 1) / LAZ_CHUNK_POINTS);
        assert_int_equal(sample.points, counts[c]);
        for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
            assert_near(mote_column_value(mote_cloud_find(cloud, "x"), i), 500 + 0.01 * 50000 * (double)i, 1e-9);
        }
        if (counts[c] > 0) assert_near(sample.box.max[0], 500 + 0.01 * (double)(counts[c] - 1), 1e-9);
        if (counts[c] == 0) assert_true(sample.box.min[0] > sample.box.max[0]);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Without its table a layered file tells of its chunks itself; of a pointwise one the first must do, and nothing is
   decoded to find the others. */
static void files_without_a_table_give_what_they_can(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (uint32_t format = 1; format <= 6; format += 5) {
        laz_made m = laz_make(ctx, format, 0, 950, 100);
        m.file.size = m.table_at;
        mote_read_sample sample;
        mote_cloud *cloud = sample_ok(ctx, write_made(&m, "cut.laz"), &sample, NULL);
        assert_first_points(cloud, &m, format == 1 ? 1 : m.chunks);
        assert_int_equal(sample.points, 950);
        mote_cloud_destroy(cloud);
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* A box that is none says nothing of the others. */
static void boxes_that_lie_do_not_count(void **state) {
    (void)state;
    static const double lies[][2] = {{NAN, 1}, {0, INFINITY}, {2, 1}};
    mote_context *ctx = test_context(1);
    for (size_t c = 0; c < sizeof lies / sizeof lies[0]; c++) {
        laz_made m = laz_make(ctx, 6, 0, 50, 100);
        for (uint32_t k = 0; k < 3; k++) {
            las_put_f64(m.file.data + LAS_AT_MAX_OF_AXIS(k), k == 1 ? lies[c][1] : 9);
            las_put_f64(m.file.data + LAS_AT_MIN_OF_AXIS(k), k == 1 ? lies[c][0] : 3);
        }
        mote_read_sample sample;
        mote_cloud_destroy(sample_ok(ctx, write_made(&m, "lies.laz"), &sample, NULL));
        assert_true(sample.box.min[0] > sample.box.max[0]);
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* A chunk that has no room for a point is left to those who decode it. */
static void small_chunks_are_left_out(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    laz_made m = laz_make(ctx, 6, 0, 200, 100);
    laz_entry entries[2] = {{.points = 100, .size_bytes = m.table_at - m.chunk_at[0] - 10},
                            {.points = 100, .size_bytes = 10}};
    const uint64_t at = m.table_at + 8;
    m.file.size = at + mote_laz_table_encode(entries, 2, false, m.file.data + at);
    mote_read_sample sample = mote_read_sample_defaults();
    mote_cloud *cloud = NULL;
    const char *path = write_made(&m, "small.laz");
    mote_read_params params = mote_read_defaults();
    params.sample = &sample;
    params.salvage = true;
    assert_int_equal(mote_cloud_read(ctx, path, &params, &cloud), MOTE_OK);
    assert_first_points(cloud, &m, 1);
    mote_cloud_destroy(cloud);
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

/* ---- several inputs */

static void broken_inputs_are_left_out(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    laz_made m = laz_make(ctx, 6, 0, 250, 100);
    const char *paths[] = {test_path("no.laz"), NULL, test_path("broken.laz"), NULL};
    paths[1] = write_made(&m, "a.laz");
    paths[3] = write_made(&m, "b.laz");
    test_write_file(paths[2], m.file.data, 300);
    left_out noted = {.goes_on = true};
    mote_read_sample sample = mote_read_sample_defaults();
    mote_cloud *cloud = NULL;
    /* Without a word of the caller it is an error. */
    assert_int_equal(sample_many(ctx, paths, 4, &sample, NULL, &cloud), MOTE_ERROR_IO);
    mote_context_clear(ctx);
    sample = mote_read_sample_defaults();
    sample.failed = note_failed;
    sample.failed_user = &noted;
    assert_int_equal(sample_many(ctx, paths, 4, &sample, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_count(cloud), 6);
    assert_int_equal(sample.points, 500);
    assert_int_equal(noted.count, 2);
    assert_string_equal(noted.path, paths[2]);
    assert_int_equal(noted.status, MOTE_ERROR_DATA);
    assert_non_null(strstr(noted.message, "broken.laz: offset "));
    mote_cloud_destroy(cloud);
    /* One that the caller wants, and none at all. */
    noted.goes_on = false;
    assert_int_equal(sample_many(ctx, paths + 1, 2, &sample, NULL, &cloud), MOTE_ERROR_DATA);
    mote_context_clear(ctx);
    noted.goes_on = true;
    assert_int_equal(sample_many(ctx, (const char *const[]){paths[0], paths[2]}, 2, &sample, NULL, &cloud),
                     MOTE_ERROR_DATA);
    assert_string_equal(mote_context_message(ctx), "none of the 2 inputs can be read");
    mote_context_clear(ctx);
    assert_int_equal(sample_many(ctx, paths, 1, &sample, NULL, &cloud), MOTE_ERROR_IO);
    laz_free_made(&m);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* The files are closed by then. */
static void records_outlive_the_files(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *tiny = tiny_cloud(ctx), *cloud = NULL;
    const char *paths[2] = {test_path("tiny.las"), test_path("tiny.laz")};
    write_ok(ctx, tiny, paths[0], NULL);
    write_ok(ctx, tiny, paths[1], NULL);
    mote_read_sample sample = mote_read_sample_defaults();
    assert_int_equal(sample_many(ctx, paths, 2, &sample, NULL, &cloud), MOTE_OK);
    unlink(paths[0]);
    unlink(paths[1]);
    assert_int_equal(mote_cloud_count(cloud), 2);
    assert_string_equal(mote_cloud_crs(cloud), TINY_WKT);
    bool is_there = false;
    for (uint32_t i = 0; i < mote_cloud_record_count(cloud); i++) {
        const mote_record *record = mote_cloud_record(cloud, i);
        assert_false(record->extended);
        is_there |= record->size_bytes == 5 && memcmp(record->data, "front", 5) == 0;
    }
    assert_true(is_there);
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(tiny);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void other_readers_refuse(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_read_sample sample = mote_read_sample_defaults();
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    mote_reader *reader = NULL;
    params.sample = &sample;
    test_write_file(test_path("a.xyz"), "1 2 3\n", 6);
    assert_int_equal(mote_cloud_read(ctx, test_path("a.xyz"), &params, &cloud), MOTE_ERROR_UNSUPPORTED);
    assert_non_null(strstr(mote_context_message(ctx), "a.xyz: only LAS and LAZ files are sampled"));
    mote_context_clear(ctx);
    write_plain(ctx, test_path("plain.las"), 3);
    assert_int_equal(mote_reader_open(ctx, test_path("plain.las"), &params, &reader), MOTE_ERROR_ARGUMENT);
    assert_null(reader);
    mote_context_destroy(ctx);
}

static bool note_name(void *user, const char *path) {
    char *names = user;
    const char *slash = strrchr(path, '/');
    strcat(strcat(names, slash + 1), " ");
    return strlen(names) < 20;
}

static void inputs_are_listed(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    char names[64] = "";
    assert_int_equal(mkdir(test_path("tiles"), 0777), 0);
    for (const char *name = "tiles/b.laz\0tiles/a.las\0tiles/c.md\0"; *name != '\0'; name += strlen(name) + 1) {
        test_write_file(test_path(name), "x", 1);
    }
    const char *paths[] = {test_path("tiles"), test_path("tiles/c.md")};
    assert_int_equal(mote_inputs_each(ctx, paths, 2, note_name, names), MOTE_OK);
    assert_string_equal(names, "a.las b.laz c.md ");
    assert_int_equal(mote_inputs_each(ctx, paths, 2, note_name, names), MOTE_CANCELLED);
    mote_context_destroy(ctx);
}

/* ---- what a sample is of goes into a folder of it */

static void folders_state_the_whole(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    const mote_box whole[3] = {
        {{499, 0, 0}, {501.5, 1, 2}}, {{-90000, 0, 0}, {501.5, 1, 2}}, {{-90000, 0, 0}, {501.5, 1, 2}}};
    for (int i = 0; i < 3; i++) {
        const mote_column_spec specs[] = {
            {"x", MOTE_INT32, 0.01, 500}, {"y", MOTE_INT32, 0.01, 0}, {"z", MOTE_INT32, 1, 0}};
        assert_int_equal(mote_cloud_create(ctx, 200, specs, 3, &cloud), MOTE_OK);
        for (uint64_t p = 0; p < 200; p++) set_value(cloud, "x", p, (double)p);
        if (i == 2) set_value(cloud, "x", 77, -9050000); /* the stray is in the sample */
        assert_int_equal(mote_lod_build(ctx, cloud, NULL, &lod), MOTE_OK);
        mote_potree_params params = mote_potree_defaults();
        params.whole_box = &whole[i];
        params.whole_points = 123456789;
        assert_int_equal(mote_potree_write(ctx, lod, test_path("sample.mote"), &params, NULL), MOTE_OK);
        const file_bytes text = load(test_path("sample.mote/metadata.json"));
        char *metadata = calloc(1, text.size + 1);
        memcpy(metadata, text.data, text.size);
        assert_non_null(strstr(metadata, "\"points\": 123456789"));
        assert_non_null(strstr(metadata, "\"points\": 200"));
        assert_non_null(strstr(metadata, i == 0 ? "499.0" : "-90000.0"));
        /* Where the whole is far larger than nearly all of the sample, the view begins with these. */
        assert_int_equal(strstr(metadata, "\"rest\"") != NULL, i > 0);
        if (i > 0) assert_near(strtod(strchr(strstr(metadata, "\"rest\""), '[') + 1, NULL), 500, 0.1);
        free(metadata);
        free(text.data);
        mote_lod_destroy(lod);
        mote_cloud_destroy(cloud);
    }
    test_remove_potree(test_path("sample.mote"));
    mote_context_destroy(ctx);
}

/* ---- memory and cancelling */

static mote_status sample_two(mote_context *ctx, void *user) {
    const char *const *paths = user;
    mote_read_sample sample = mote_read_sample_defaults();
    mote_cloud *cloud = NULL;
    const mote_status status = sample_many(ctx, paths, 2, &sample, "intensity", &cloud);
    mote_cloud_destroy(cloud);
    return status;
}

static void nothing_leaks(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    laz_made m = laz_make(ctx, 7, 2, 950, LAZ_VARIABLE);
    const char *paths[2] = {write_made(&m, "a.laz"), test_path("plain.las")};
    write_plain(ctx, paths[1], 70000);
    test_each_allocation_fails(sample_two, paths);
    test_each_step_cancels(sample_two, paths);
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_give_their_first_point),
        cmocka_unit_test(chosen_columns_are_those_of_all_points),
        cmocka_unit_test(real_files_give_their_first_points),
        cmocka_unit_test(plain_files_are_as_dense),
        cmocka_unit_test(files_without_a_table_give_what_they_can),
        cmocka_unit_test(boxes_that_lie_do_not_count),
        cmocka_unit_test(small_chunks_are_left_out),
        cmocka_unit_test(broken_inputs_are_left_out),
        cmocka_unit_test(records_outlive_the_files),
        cmocka_unit_test(other_readers_refuse),
        cmocka_unit_test(inputs_are_listed),
        cmocka_unit_test(folders_state_the_whole),
        cmocka_unit_test(nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
