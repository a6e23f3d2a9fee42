/* Values changed by assignments. */
#include "where_test.h"

#include "core/cloud.h"
#include "reference/where_reference.h"

static uint64_t assign(mote_context *ctx, mote_cloud **cloud, const char *set, const char *where) {
    uint64_t changed = 0;
    const mote_status status = mote_cloud_assign(ctx, cloud, set, where, &changed);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return changed;
}

/* Random numbers to a column of doubles: all bits. */
static void check_random(mote_context *ctx, const mote_cloud *cloud, uint64_t seed) {
    where_reference *value = where_reference_number(cloud, seed);
    where_reference *condition = where_reference_condition(cloud, seed + 1000000);
    char *text = malloc(2 * WHERE_REFERENCE_TEXT + 40);
    mote_cloud *copy = NULL, *source = (mote_cloud *)(uintptr_t)cloud;
    uint64_t changed = 0, expected = 0;
    sprintf(text, "gps_time = %s where %s", where_reference_text(value), where_reference_text(condition));
    assert_int_equal(mote_cloud_join(ctx, &source, 1, &copy), MOTE_OK);
    if (mote_cloud_assign(ctx, &copy, text, NULL, &changed) != MOTE_OK) {
        assert_non_null(strstr(mote_context_message(ctx), "nothing equals nan"));
        mote_context_clear(ctx);
    } else {
        for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
            const bool meant = where_reference_holds(condition, cloud, i);
            const double should = meant ? where_reference_value(value, cloud, i) : test_value(cloud, "gps_time", i);
            const double is = test_value(copy, "gps_time", i);
            if (!(is == should || (isnan(is) && isnan(should)))) fail_msg("point %u: %s", (unsigned)i, text);
            expected += meant;
        }
        assert_int_equal(changed, expected);
    }
    mote_cloud_destroy(copy);
    free(text);
    where_reference_free(value);
    where_reference_free(condition);
}

void sets_values(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = where_test_cloud(ctx, 600);
    const uint64_t seeds = test_extent(50, 1000);
    for (uint64_t seed = 0; seed < seeds; seed++) check_random(ctx, cloud, seed);
    /* The condition is of what was before; one assignment sees what the one before did. */
    mote_cloud *before = where_test_chosen(ctx, cloud, "classification == 5");
    const uint64_t fives = mote_cloud_count(before);
    mote_cloud_destroy(before);
    assert_int_equal(assign(ctx, &cloud, "classification = 200; intensity = classification where row >= -128; row = -1",
                            "classification == 5"),
                     fives);
    mote_cloud *part = where_test_chosen(ctx, cloud, "classification == 200 && intensity == 200 && row == -1");
    assert_int_equal(mote_cloud_count(part), fives);
    mote_cloud_destroy(part);
    /* Rounded to the nearest, in steps of the column; true is 1; what is not known becomes the no-data value. */
    assert_int_equal(assign(ctx, &cloud, "intensity = 2.6; x = 500001.004; row = 3 > 2; deviation = nan", NULL), 600);
    assert_true(test_value(cloud, "intensity", 7) == 3);
    assert_near(test_value(cloud, "x", 7), 500001, 1e-9);
    assert_true(test_value(cloud, "row", 7) == 1);
    part = where_test_chosen(ctx, cloud, "known(deviation)");
    assert_int_equal(mote_cloud_count(part), 0);
    mote_cloud_destroy(part);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void sets_by_words_of_pdal(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = where_test_cloud(ctx, 200);
    assign(ctx, &cloud, "Classification = 3 WHERE Intensity > 100", NULL);
    assign(ctx, &cloud, "Intensity = Intensity / 256 + 10;", NULL);
    mote_cloud *part = where_test_chosen(ctx, cloud, "Intensity between 10 and 12");
    assert_int_equal(mote_cloud_count(part), 200);
    mote_cloud_destroy(part);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void refuses_values(void **state) {
    (void)state;
    static const struct {
        const char *set, *message;
    } cases[] = {{"classification = 256", "classification of point 1 would be 256; it holds 0 to 255"},
                 {"row = -129", "it holds -128 to 127"},
                 {"row = 100 where gps_time < 300000100; row = row * 2 where gps_time == 300000050",
                  "row of point 51 would be 200"},
                 {"big = -1", "it holds 0 to 1.844674407370955"},
                 {"big = 2e19", "it holds 0 to 1.844674407370955"},
                 {"z = 1e300", "it holds floats of 32 bits"},
                 {"x = 1e9", "it holds -20974836"},
                 {"intensity = 0/0", "has no no-data value"},
                 {"deviation = 0", "deviation of point 1 would be 0, which the file calls no data: set nan"},
                 {"deviation = 0.01", "which the file calls no data"},
                 {"clasification = 2", "did you mean \"classification\"?"},
                 {"classification == 2", "to set a value, write \"=\""},
                 {"classification = 2 where", "it ends where"},
                 {"2 = 3", "an attribute that is to be set is expected here"},
                 {"row = 3, row = 2", "an operator, \"where\", \";\" or the end"},
                 {"", "an attribute that is to be set"}};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = where_test_cloud(ctx, 2000);
    const uint64_t before = test_hash(ctx, cloud);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t changed = 0;
        assert_int_equal(mote_cloud_assign(ctx, &cloud, cases[i].set, NULL, &changed), MOTE_ERROR_ARGUMENT);
        if (strstr(mote_context_message(ctx), cases[i].message) == NULL) fail_msg("%s", mote_context_message(ctx));
        mote_context_clear(ctx);
        assert_true(test_hash(ctx, cloud) == before);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* While a file is read, all points stay, and bits that share a byte with those that are set do, too. */
void sets_while_reading(void **state) {
    (void)state;
    static const char *const files[] = {"set.las", "set.laz", "set.ply"};
    mote_context *ctx = test_context(2);
    for (size_t f = 0; f < 3; f++) {
        for (int format = 1; format <= 6; format += 5) {
            const char *path = test_path(files[f]);
            mote_cloud *cloud = tiny_cloud(ctx), *read = NULL;
            const mote_column_spec classes = {"classification", MOTE_UINT8, 0, 0},
                                   held = {"withheld", MOTE_UINT8, 0, 0};
            assert_int_equal(mote_cloud_add_column(cloud, &classes), MOTE_OK);
            assert_int_equal(mote_cloud_add_column(cloud, &held), MOTE_OK);
            for (uint64_t i = 0; i < 10; i++) {
                set_value(cloud, "classification", i, (double)i);
                set_value(cloud, "withheld", i, i % 3 == 0);
            }
            mote_write_params writing = mote_write_defaults();
            writing.las_format = f < 2 ? format : -1;
            cloud->las.present = false;
            test_write(ctx, cloud, path, &writing);
            mote_cloud_destroy(cloud);
            uint64_t changed = 5;
            mote_read_params params = mote_read_defaults();
            params.set = "classification = 31";
            params.where = "withheld && z > 0";
            params.changed = &changed;
            assert_int_equal(mote_cloud_read(ctx, path, &params, &read), MOTE_OK);
            assert_int_equal(mote_cloud_count(read), 10);
            assert_int_equal(changed, 5 + 3);
            for (uint64_t i = 0; i < 10; i++) {
                assert_true(test_value(read, "withheld", i) == (i % 3 == 0));
                assert_true(test_value(read, "classification", i) == (i % 3 == 0 && i > 0 ? 31 : (double)i));
            }
            mote_cloud_destroy(read);
            if (f == 2 || format > 5) continue;
            params.set = "classification = 32";
            assert_int_equal(mote_cloud_read(ctx, path, &params, &read), MOTE_ERROR_ARGUMENT);
            assert_non_null(strstr(mote_context_message(ctx), "it holds 0 to 31"));
            mote_context_clear(ctx);
        }
    }
    mote_context_destroy(ctx);
}

/* Pieces with new values, written: the same file as that of the whole. Fewer points than were said, too. */
static void copy_in_pieces(mote_context *ctx, const char *from, const char *to, const mote_read_params *params) {
    mote_reader *reader = NULL;
    mote_writer *writer = NULL;
    const mote_cloud *piece = NULL;
    mote_write_params writing = mote_write_defaults();
    writing.fewer = true;
    assert_int_equal(mote_reader_open(ctx, from, params, &reader), MOTE_OK);
    assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
    assert_non_null(piece);
    assert_int_equal(mote_writer_open(ctx, piece, mote_reader_count(reader), to, &writing, &writer), MOTE_OK);
    while (piece != NULL) {
        assert_int_equal(mote_writer_add(writer), MOTE_OK);
        assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
    }
    assert_int_equal(mote_writer_close(writer, MOTE_OK), MOTE_OK);
    mote_reader_close(reader);
}

void sets_in_pieces(void **state) {
    (void)state;
    static const char *const endings[] = {".las", ".laz"};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_generate(ctx, "city", 430000, NULL, &cloud), MOTE_OK);
    for (int f = 0; f < 2; f++) {
        char from[300], to[300], whole[300];
        snprintf(from, sizeof from, "%s/from%s", test_folder(), endings[f]);
        snprintf(to, sizeof to, "%s/to%s", test_folder(), endings[f]);
        snprintf(whole, sizeof whole, "%s/whole%s", test_folder(), endings[f]);
        test_write(ctx, cloud, from, NULL);
        static const char *const conditions[] = {"z > 2", "x < -1e8", "gps_time >= 0", "intensity > 100"};
        for (size_t c = 0; c < 4; c++) {
            mote_read_params params = mote_read_defaults();
            mote_cloud *read = NULL;
            params.where = conditions[c];
            if (c == 2) params.set = "user_data = 7; z = z + 1";
            if (c == 1 || c == test_watched(3, 4)) continue;
            copy_in_pieces(ctx, from, to, &params);
            assert_int_equal(mote_cloud_read(ctx, from, &params, &read), MOTE_OK);
            test_write(ctx, read, whole, NULL);
            assert_same_file(to, whole);
            mote_cloud_destroy(read);
        }
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
