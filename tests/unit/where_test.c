#include "where_test.h"

#include "core/cloud.h"
#include "reference/where_reference.h"

#define COLUMNS 9u

mote_cloud *where_test_cloud(mote_context *ctx, uint64_t points) {
    const mote_column_spec specs[COLUMNS] = {{"x", MOTE_INT32, 0.01, 500000},
                                             {"y", MOTE_FLOAT64, 0, 0},
                                             {"z", MOTE_FLOAT32, 0, 0},
                                             {"intensity", MOTE_UINT16, 0, 0},
                                             {"classification", MOTE_UINT8, 0, 0},
                                             {"deviation", MOTE_INT16, -0.25, 0.5},
                                             {"gps_time", MOTE_FLOAT64, 0, 0},
                                             {"row", MOTE_INT8, 0, 0},
                                             {"big", MOTE_UINT64, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, points, specs, COLUMNS, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < points; i++) {
        set_value(cloud, "x", i, floor(1000 * test_random(1, i)));
        set_value(cloud, "y", i, i % 11 == 3 ? (double)NAN : 10 * test_random(2, i) - 5);
        set_value(cloud, "z", i, i % 13 == 5 ? (double)INFINITY : floor(8 * test_random(3, i)));
        set_value(cloud, "intensity", i, floor(300 * test_random(4, i)));
        set_value(cloud, "classification", i, floor(7 * test_random(5, i)));
        set_value(cloud, "deviation", i, floor(9 * test_random(6, i)) - 4);
        set_value(cloud, "gps_time", i, 3e8 + (double)i);
        set_value(cloud, "row", i, floor(5 * test_random(7, i)) - 2);
        set_value(cloud, "big", i, floor(1e15 * test_random(8, i)));
    }
    mote_column_limits limits = {.has_no_data = true, .no_data = 2};
    assert_int_equal(mote_cloud_set_limits(cloud, "deviation", &limits), MOTE_OK);
    assert_int_equal(mote_cloud_set_limits(cloud, "classification", &limits), MOTE_OK);
    return cloud;
}

mote_cloud *where_test_chosen(mote_context *ctx, const mote_cloud *cloud, const char *condition) {
    const uint64_t count = mote_cloud_count(cloud);
    bool *chosen = calloc(count + 1, sizeof *chosen);
    uint64_t *indices = calloc(count + 1, sizeof *indices), found = 0, listed = 0;
    mote_cloud *part = NULL;
    const mote_status status = mote_cloud_where(ctx, cloud, condition, chosen, &found);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    for (uint64_t i = 0; i < count; i++) {
        if (chosen[i]) indices[listed++] = i;
    }
    assert_int_equal(listed, found);
    assert_int_equal(mote_cloud_select(ctx, cloud, indices, found, &part), MOTE_OK);
    free(indices);
    free(chosen);
    return part;
}

/* ---- what they mean */

/* A constant that is NaN is refused where it is compared; random expressions have some. */
static bool is_refused_nan(mote_context *ctx) {
    const bool refused = strstr(mote_context_message(ctx), "nothing equals nan") != NULL;
    mote_context_clear(ctx);
    return refused;
}

static void compare(mote_context *ctx, const mote_cloud *cloud, uint64_t seed, uint64_t *counts) {
    where_reference *e = where_reference_condition(cloud, seed);
    const uint64_t count = mote_cloud_count(cloud);
    bool *chosen = calloc(count + 1, sizeof *chosen);
    uint64_t found = 0, expected = 0;
    if (mote_cloud_where(ctx, cloud, where_reference_text(e), chosen, &found) != MOTE_OK) {
        if (!is_refused_nan(ctx)) fail_msg("seed %u: %s", (unsigned)seed, where_reference_text(e));
        counts[0]++;
    } else {
        for (uint64_t i = 0; i < count; i++) {
            const bool holds = where_reference_holds(e, cloud, i);
            expected += holds;
            if (holds != chosen[i]) {
                fail_msg("seed %u, point %u: %s", (unsigned)seed, (unsigned)i, where_reference_text(e));
            }
        }
        assert_int_equal(found, expected);
        counts[1] += found > 0 && found < count;
    }
    free(chosen);
    where_reference_free(e);
}

static void random_conditions_hold(void **state) {
    (void)state;
    const uint64_t seeds = test_extent(200, 6000);
    for (int threads = 1; threads <= 3; threads += 2) {
        mote_context *ctx = test_context(threads);
        mote_cloud *cloud = where_test_cloud(ctx, 1300);
        uint64_t counts[2] = {0, 0};
        for (uint64_t seed = 0; seed < seeds; seed++) compare(ctx, cloud, seed, counts);
        assert_true(counts[0] < seeds / 4);
        assert_true(counts[1] > seeds / 3); /* most tell points apart */
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Of 100 points: x, y, z and classification 0 to 9 by tens. */
static mote_cloud *plain_cloud(mote_context *ctx) {
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.5, 0},
                                      {"y", MOTE_INT32, 1, 0},
                                      {"z", MOTE_FLOAT32, 0, 0},
                                      {"classification", MOTE_UINT8, 0, 0},
                                      {"return_number", MOTE_UINT8, 0, 0},
                                      {"number_of_returns", MOTE_UINT8, 0, 0},
                                      {"scan_angle", MOTE_INT16, 0.006, 0},
                                      {"withheld", MOTE_UINT8, 0, 0},
                                      {"height above ground", MOTE_FLOAT64, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 100, specs, 9, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < 100; i++) {
        set_value(cloud, "x", i, (double)i);
        set_value(cloud, "y", i, (double)(i % 10));
        set_value(cloud, "z", i, i % 10 == 9 ? (double)NAN : (double)i);
        set_value(cloud, "classification", i, (double)(i / 10));
        set_value(cloud, "return_number", i, (double)(1 + i % 3));
        set_value(cloud, "number_of_returns", i, 3);
        set_value(cloud, "scan_angle", i, (double)i * 100);
        set_value(cloud, "withheld", i, i % 2 == 0);
        set_value(cloud, "height above ground", i, (double)i / 4);
    }
    return cloud;
}

static void conditions_mean_what_they_say(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t found;
    } cases[] = {
        {"classification == 2", 10},
        {"Classification==2", 10},
        {"(Classification == 2) && (ReturnNumber == NumberOfReturns)", 4},
        {"class in (2, 3, 5:7)", 50},
        {"classification not in (2, 3, 5:7)", 50},
        {"classification in (8:)", 20},
        {"classification in (:1)", 20},
        {"classification between 2 and 4", 30},
        {"NOT classification BETWEEN 2 AND 4", 70},
        {"not classification between 2 && 4 and y == 0", 7},
        {"X < 10", 20},
        {"x < 10 || x >= 45", 30},
        {"x + 1 < 10.5 && y*y > 15", 11},
        {"1 + 2 * 3 == 7", 100},
        {"-2 * -3 == 6 && 7 % 4 == 3 && 7 - 2 - 1 == 4 && 8 / 2 / 2 == 2", 100},
        {"true || false && false", 100},
        {"!(classification == 2)", 90},
        {"!withheld", 50},
        {"Withheld && !(y > 4)", 30},
        {"withheld == true", 50},
        {"z == z", 90},
        {"z != z", 10},
        {"z != 5", 99},
        {"known(z)", 90},
        {"!known(z) and x < 10", 2},
        {"z", 89},
        {"!z", 11},
        {"!(z < 1000)", 10},
        {"z between -1e9 and 1e9", 90},
        {"z in (:)", 90},
        {"min(z, 5) == 5 || max(z, 50) == 50", 90},
        {"`height above ground` < 1", 4},
        {"\"height above ground\" < 1 and 'height above ground' > 0", 3},
        {"height.above.ground < 1", 4},
        {"ScanAngleRank > 50 && ScanAngleRank < 52", 3},
        {"abs(y - 5) <= 1 && floor(x) == x && ceil(x) == x && round(1.5) == 2 && sqrt(4) == 2", 20},
        {".5 < x && x <> 3 && x<=1e0", 1},
    };
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = plain_cloud(ctx);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_cloud *part = where_test_chosen(ctx, cloud, cases[i].text);
        if (mote_cloud_count(part) != cases[i].found) {
            fail_msg("%s: %u points", cases[i].text, (unsigned)mote_cloud_count(part));
        }
        mote_cloud_destroy(part);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- what is wrong with them */

static void mistakes_show_their_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *message, *caret;
    } cases[] = {
        {"clasification == 2", "there is no attribute \"clasification\"; did you mean \"classification\"?",
         "^~~~~~~~~~~~~"},
        {"z > 5 && retrun_number == 1", "did you mean \"return_number\"", "         ^~~~~~~~~~~~~"},
        {"banana == 2", "there are x, y, z", "^~~~~~"},
        {"z = 5", "\"=\" sets a value; to compare, write \"==\"", "  ^"},
        {"1 < z < 5", "comparisons are not chained", "      ^"},
        {"(z > 5) + 1 == 2", "a number is needed, and this is true or false", "^~~~~~~"},
        {"z > ", "it ends where an attribute or a number is expected", "    ^"},
        {"", "it ends where an attribute or a number is expected", "^"},
        {"(z > 5", "it ends where \")\" is expected", "      ^"},
        {"z > 5)", "\"&&\", \"||\" or the end is expected here", "     ^"},
        {"z > 5 & x > 2", "\"and\" is &&", "      ^"},
        {"z[2:2]", "ranges are written", " ^"},
        {"z in 2", "\"(\" and a list", "     ^"},
        {"z in (5:2)", "this range ends before it begins", "      ^"},
        {"z in (x)", "a list holds numbers", "      ^"},
        {"z == nan", "known(", "     ^~~"},
        {"\"z > 5", "this quote has no end", "^~~~~~"},
        {"flor(z) > 5", "no such function; did you mean \"floor\"?", "^~~~"},
        {"5x > 2", "neither a number nor a name", "^~"},
        {"1.2.3 > 2", "neither a number nor a name", "^~~~~"},
        {"1e999 > z", "beyond what doubles hold", "^~~~~"},
        {"z > 5 § 3", "\"&&\"", "      ^"},
        {"z ! 5", "is expected here", "  ^"},
        {"z not 5", "\"not\" stands before", "  ^~~"},
        {"z > 5; x > 2", "is expected here", "     ^"},
        {"höhe > 5 and z = 2", "write \"==\"", "               ^"},
    };
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = plain_cloud(ctx);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool chosen[100];
        char below[256];
        uint64_t found;
        assert_int_equal(mote_cloud_where(ctx, cloud, cases[i].text, chosen, &found), MOTE_ERROR_ARGUMENT);
        const char *message = mote_context_message(ctx);
        snprintf(below, sizeof below, "\n  %s\n  %s", cases[i].text, cases[i].caret);
        const size_t length = strlen(message), tail = strlen(below);
        if (strstr(message, cases[i].message) == NULL || length < tail || strcmp(message + length - tail, below) != 0) {
            fail_msg("%s\n%s", cases[i].text, message);
        }
        mote_context_clear(ctx);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void long_ones_are_bounded(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = plain_cloud(ctx);
    bool chosen[100];
    uint64_t found;
    char *text = malloc(40000);
    assert_non_null(text);
    for (int k = 0; k < 30000; k++) text[k] = '(';
    text[30000] = '\0';
    assert_int_equal(mote_cloud_where(ctx, cloud, text, chosen, &found), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    text[10000] = '\0';
    assert_int_equal(mote_cloud_where(ctx, cloud, text, chosen, &found), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    size_t at = 0;
    for (int k = 0; k < 600; k++) at += (size_t)sprintf(text + at, "%sy == %d", k > 0 ? " || " : "", k);
    assert_int_equal(mote_cloud_where(ctx, cloud, text, chosen, &found), MOTE_OK);
    assert_int_equal(found, 100);
    at = 0;
    for (int k = 0; k < 20; k++) at += (size_t)sprintf(text + at, "y + (");
    at += (size_t)sprintf(text + at, "1");
    for (int k = 0; k < 20; k++) at += (size_t)sprintf(text + at, ")");
    sprintf(text + at, " > 3");
    assert_int_equal(mote_cloud_where(ctx, cloud, text, chosen, &found), MOTE_ERROR_ARGUMENT);
    assert_non_null(strstr(mote_context_message(ctx), "wait for others"));
    free(text);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_conditions_hold),
        cmocka_unit_test(conditions_mean_what_they_say),
        cmocka_unit_test(mistakes_show_their_place),
        cmocka_unit_test(long_ones_are_bounded),
        cmocka_unit_test(where_reads_what_it_chooses),
        cmocka_unit_test(where_skips_nodes),
        cmocka_unit_test(where_decodes_in_steps),
        cmocka_unit_test(where_reads_real_files),
        cmocka_unit_test(where_survives_failures),
        cmocka_unit_test(where_salvages),
        cmocka_unit_test(sets_values),
        cmocka_unit_test(sets_by_words_of_pdal),
        cmocka_unit_test(refuses_values),
        cmocka_unit_test(sets_while_reading),
        cmocka_unit_test(sets_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
