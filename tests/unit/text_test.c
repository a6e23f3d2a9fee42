/* The text engine: numbers both ways, rows, errors with their place, threads, the locale. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/text.h"
#include "math/hash.h"
#include "support/support.h"

static bool scan(const char *text, mote_text_number *number) {
    const uint8_t *const begin = (const uint8_t *)text;
    return mote_text_scan(begin, begin + strlen(text), number) && number->end == begin + strlen(text);
}

static void check_double(const char *text) {
    mote_text_number number;
    double value = 0;
    const double expected = strtod(text, NULL);
    if (!scan(text, &number)) fail_msg("%s is a number", text);
    if (!mote_text_double(&number, &value)) fail_msg("%s fits a double", text);
    if (memcmp(&value, &expected, 8) != 0) fail_msg("%s: %.17g, not %.17g", text, value, expected);
}

static void check_float(const char *text) {
    mote_text_number number;
    float value = 0;
    const float expected = strtof(text, NULL);
    if (!scan(text, &number)) fail_msg("%s is a number", text);
    if (isinf(expected)) {
        assert_false(mote_text_float(&number, &value));
        return;
    }
    if (!mote_text_float(&number, &value)) fail_msg("%s fits a float", text);
    if (memcmp(&value, &expected, 4) != 0) fail_msg("%s: %.9g, not %.9g", text, (double)value, (double)expected);
}

static void reads_numbers_exactly(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+0.0",
                                        "1",
                                        "-1.5",
                                        ".5",
                                        "5.",
                                        "+.25e1",
                                        "1e22",
                                        "1e23",
                                        "123456789012345678",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "0.1",
                                        "1e-22",
                                        "1e-23",
                                        "1e-27",
                                        "1e-28",
                                        "179769313486231570000e288",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "2.2250738585072011e-308",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "18446744073709551615e-27",
                                        "9999999999999999999e27",
                                        "1.7976931348623157e308",
                                        "0.000000000000000000000000000000000000000000001",
                                        "00000000000000000000000000000000000012.5",
                                        "6.000000000000000000e+05",
                                        "8.490283100000000559e+05",
                                        "16777217",
                                        "16777219",
                                        "3.4028235e38",
                                        "1.17549435e-38",
                                        "0.500000029802322387695312500000000000000000001",
                                        "0.5000000298023223876953125",
                                        "0.50000002980232239",
                                        "1e-400",
                                        "0e999",
                                        "123456789.123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_double(texts[i]);
        check_float(texts[i]);
    }
    for (uint64_t i = 0; i < 200000; i++) {
        char text[64];
        const uint64_t random = mote_hash64(i), more = mote_hash64(~i);
        snprintf(text, sizeof text, "%s%llu.%0*llue%d", random & 1 ? "-" : "",
                 (unsigned long long)(random >> (1 + more % 63)), (int)(1 + more / 64 % 12),
                 (unsigned long long)(more >> 24) % 1000000000000ull /
                     (unsigned long long)pow(10, 11 - (double)(more / 64 % 12)),
                 (int)(more / 1024 % 60) - 30);
        check_double(text);
        check_float(text);
    }
}

static void refuses_what_is_no_number(void **state) {
    (void)state;
    static const char *const texts[] = {"",    "-",     "+",  ".",  "e5",   "1e",   "1e+", "0x10",   "1.2.3",
                                        "--1", "1_000", "in", "na", "nanx", "nan(", "1,5", "infinit"};
    mote_text_number number;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (scan(texts[i], &number)) fail_msg("\"%s\" was taken for a number", texts[i]);
    }
    static const char *const large[] = {"1e309", "-1e999", "1.7976931348623159e308", "99999999999999999999e300"};
    double value;
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        assert_true(scan(large[i], &number));
        assert_false(mote_text_double(&number, &value));
    }
    static const char *const special[] = {"nan", "NaN", "-nan(ind)", "inf", "+Inf", "-INFINITY"};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        assert_true(scan(special[i], &number));
        assert_true(mote_text_double(&number, &value));
        assert_false(isfinite(value));
    }
    assert_true(signbit(value) && isinf(value));
}

static void check_store(const char *text, mote_type type, bool fits, int64_t expected) {
    mote_text_number number;
    int64_t stored = 0;
    assert_true(scan(text, &number));
    if (mote_text_store(&number, type, &stored) != fits) fail_msg("%s as %s", text, mote_type_name(type));
    if (fits && memcmp(&stored, &expected, mote_type_size(type)) != 0)
        fail_msg("%s became %lld", text, (long long)stored);
}

static void stores_integers(void **state) {
    (void)state;
    check_store("255", MOTE_UINT8, true, 255);
    check_store("256", MOTE_UINT8, false, 0);
    check_store("-1", MOTE_UINT8, false, 0);
    check_store("-0", MOTE_UINT8, true, 0);
    check_store("-128", MOTE_INT8, true, -128);
    check_store("-129", MOTE_INT8, false, 0);
    check_store("128", MOTE_INT8, false, 0);
    check_store("65535.000", MOTE_UINT16, true, 65535);
    check_store("1.5e1", MOTE_INT16, true, 15);
    check_store("1.55e1", MOTE_INT16, false, 0);
    check_store("-2147483648", MOTE_INT32, true, INT32_MIN);
    check_store("9223372036854775807", MOTE_INT64, true, INT64_MAX);
    check_store("9223372036854775808", MOTE_INT64, false, 0);
    check_store("-9223372036854775808", MOTE_INT64, true, INT64_MIN);
    check_store("18446744073709551615", MOTE_UINT64, true, -1);
    check_store("18446744073709551616", MOTE_UINT64, false, 0);
    check_store("99999999999999999999", MOTE_UINT64, false, 0);
    check_store("1e30", MOTE_UINT64, false, 0);
    check_store("1e-2000", MOTE_UINT64, false, 0);
    check_store("nan", MOTE_INT32, false, 0);
}

static void check_text(const char *expected, const char *text, size_t length) {
    if (strlen(expected) != length || memcmp(expected, text, length) != 0) {
        fail_msg("%.*s, not %s", (int)length, text, expected);
    }
}

static void check_put(double value, const char *expected) {
    char text[MOTE_TEXT_NUMBER_BYTES];
    uint32_t guess = 0;
    check_text(expected, text, mote_text_put_double(text, value, &guess));
}

static void writes_short_numbers(void **state) {
    (void)state;
    check_put(0, "0");
    check_put(-0.0, "-0");
    check_put(0.1, "0.1");
    check_put(-637012.24, "-637012.24");
    check_put(1.0 / 3, "0.3333333333333333");
    check_put(5e-324, "5e-324");
    check_put(DBL_MAX, "1.7976931348623157e+308");
    check_put(123456789012345680.0, "123456789012345680");
    check_put(1e300, "1e+300");
    check_put(0.000001, "0.000001");
    check_put(9007199254740991.5, "9007199254740992");
    check_put(2251799813685248.5, "2251799813685248.5");
    check_put((double)NAN, "nan");
    check_put((double)-INFINITY, "-inf");
    char text[MOTE_TEXT_NUMBER_BYTES];
    uint32_t guess = 0;
    check_text("0.1", text, mote_text_put_float(text, 0.1f, &guess));
    check_text("3.4028235e+38", text, mote_text_put_float(text, FLT_MAX, &guess));
    check_text("16777216", text, mote_text_put_float(text, 16777216.0f, &guess));
    check_text("-9223372036854775808", text, mote_text_put_integer(text, INT64_MIN));
    check_text("18446744073709551615", text, mote_text_put_unsigned(text, UINT64_MAX));
    check_text("-0.05", text, mote_text_put_fixed(text, -5, 2));
    check_text("637012.240", text, mote_text_put_fixed(text, 637012240, 3));
    check_text("0.000", text, mote_text_put_fixed(text, 0, 3));
    check_text("-9223372036854.775808", text, mote_text_put_fixed(text, INT64_MIN, 6));
}

static void numbers_come_back(void **state) {
    (void)state;
    uint32_t guess = 0, float_guess = 0;
    for (uint64_t i = 0; i < 300000; i++) {
        char text[MOTE_TEXT_NUMBER_BYTES + 1];
        const uint64_t bits = mote_hash64(i);
        double value, back = 0;
        memcpy(&value, &bits, 8);
        if (i % 3 == 1) value = (double)(int64_t)bits / 1e13;
        if (i % 3 == 2) value = (double)((int64_t)bits >> 30) / 1e3;
        if (!isfinite(value)) continue;
        size_t length = mote_text_put_double(text, value, &guess);
        assert_true(length < MOTE_TEXT_NUMBER_BYTES);
        text[length] = '\0';
        back = strtod(text, NULL);
        if (memcmp(&back, &value, 8) != 0) fail_msg("%.17g became %s", value, text);
        uint32_t fresh = 0;
        char again[MOTE_TEXT_NUMBER_BYTES];
        assert_int_equal(mote_text_put_double(again, value, &fresh), length); /* the guess does not matter */
        assert_memory_equal(again, text, length);
        float single, single_back;
        memcpy(&single, &bits, 4);
        if (i % 3 == 2) single = (float)value;
        if (!isfinite(single)) continue;
        length = mote_text_put_float(text, single, &float_guess);
        text[length] = '\0';
        single_back = strtof(text, NULL);
        if (memcmp(&single_back, &single, 4) != 0) fail_msg("%.9g became %s", (double)single, text);
    }
}

static void finds_decimal_scales(void **state) {
    (void)state;
    mote_text_decimal d = mote_text_decimal_find(0.001, 637000);
    assert_true(d.exact && d.decimals == 3 && d.factor == 1 && d.shift == 637000000);
    d = mote_text_decimal_find(0.00025, 0.5);
    assert_true(d.exact && d.decimals == 5 && d.factor == 25 && d.shift == 50000);
    assert_false(mote_text_decimal_find(1.0 / 3, 0).exact);
    assert_false(mote_text_decimal_find(1.165e-06 / 7, 0).exact);
    assert_false(mote_text_decimal_find((double)NAN, 0).exact);
    assert_false(mote_text_decimal_find(0.01, (double)INFINITY).exact);
    int64_t scaled;
    d = mote_text_decimal_find(10, 3);
    assert_true(d.exact && d.decimals == 0);
    assert_false(mote_text_decimal_apply(&d, INT64_MAX, &scaled));
    assert_true(mote_text_decimal_apply(&d, -5, &scaled));
    assert_int_equal(scaled, -47);
}

static void escapes_words(void **state) {
    (void)state;
    char text[64];
    assert_int_equal(mote_text_escape("a b%\n\xC3\xBC", "", text), 13);
    assert_string_equal(text, "a%20b%25%0A\xC3\xBC");
    mote_text_unescape(text, strlen(text));
    assert_string_equal(text, "a b%\n\xC3\xBC");
    assert_int_equal(mote_text_escape("a#b", "#", text), 5);
    strcpy(text, "%00%4%zz%");
    mote_text_unescape(text, strlen(text));
    assert_string_equal(text, "%00%4%zz%");
}

/* A table of x (double), n (int32) rows made by formula, some lines blank; larger than several pieces. */
#define ROWS 150000u

static char *make_text(size_t *size) {
    char *const text = malloc(ROWS * 40u);
    assert_non_null(text);
    size_t at = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        at += (size_t)sprintf(text + at, "%s%u.%03u \t -%u%s", i % 1000 == 7 ? "  \r\n" : "", i, i % 1000, i * 7u,
                              i % 2 ? "\r\n" : "\n");
    }
    *size = at;
    return text;
}

static void same_for_any_threads(void **state) {
    (void)state;
    size_t size = 0;
    char *const text = make_text(&size);
    uint8_t *first = NULL;
    const int threads[] = {1, 2, 7};
    for (int t = 0; t < 3; t++) {
        mote_context *ctx = test_context(threads[t]);
        const mote_input input = {.path = "text", .data = (const uint8_t *)text, .size_bytes = size};
        mote_text_table table = {.input = &input, .end = size, .separator = ' '};
        uint64_t rows = 0;
        assert_int_equal(mote_text_count(ctx, &table, &rows), MOTE_OK);
        assert_int_equal(rows, ROWS);
        const mote_text_field fields[2] = {{.type = MOTE_FLOAT64, .decimals = true}, {.type = MOTE_INT32, .offset = 8}};
        uint8_t *const records = calloc(ROWS, 12);
        mote_text_rows work = {
            .first = 5, .count = ROWS - 10, .fields = fields, .field_count = 2, .record_bytes = 12, .records = records};
        assert_int_equal(mote_text_parse(ctx, &table, &work), MOTE_OK);
        assert_int_equal(work.decimals, 3);
        for (uint32_t i = 5; i < ROWS - 5; i++) {
            double x;
            int32_t n;
            memcpy(&x, records + 12ull * (i - 5), 8);
            memcpy(&n, records + 12ull * (i - 5) + 8, 4);
            if (x != (i * 1000.0 + i % 1000) / 1000 || n != -(int32_t)(i * 7u)) fail_msg("row %u", i);
        }
        mote_text_survey survey[2];
        mote_text_passed passed;
        assert_int_equal(mote_text_examine(ctx, &table, fields, 2, survey, &passed, &rows), MOTE_OK);
        assert_true(survey[0].fraction && !survey[1].fraction && survey[1].beyond_one);
        assert_int_equal(survey[0].decimals, 3);
        assert_int_equal(survey[1].max_negated, (ROWS - 1) * 7u);
        mote_text_close(ctx, &table);
        if (first != NULL) assert_memory_equal(first, records, ROWS * 12u);
        if (first == NULL)
            first = records;
        else
            free(records);
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
    free(first);
    free(text);
}

static void check_error(const char *text, char separator, uint32_t columns, const char *message) {
    mote_context *ctx = test_context(2);
    const mote_input input = {.path = "f", .data = (const uint8_t *)text, .size_bytes = strlen(text)};
    mote_text_table table = {.input = &input, .end = strlen(text), .separator = separator, .comments = true};
    uint64_t rows = 0;
    mote_text_field fields[8];
    uint8_t records[8 * 64];
    for (uint32_t i = 0; i < columns; i++) fields[i] = (mote_text_field){.type = MOTE_FLOAT32, .offset = 4 * i};
    if (columns == 2) fields[1].list = true;
    assert_int_equal(mote_text_count(ctx, &table, &rows), MOTE_OK);
    mote_text_rows work = {
        .count = rows, .fields = fields, .field_count = columns, .record_bytes = 32, .records = records};
    assert_int_equal(mote_text_parse(ctx, &table, &work), message == NULL ? MOTE_OK : MOTE_ERROR_DATA);
    char hinted[300];
    snprintf(hinted, sizeof hinted, "%s" MOTE_SALVAGE_HINT, message != NULL ? message : "");
    if (message != NULL) assert_string_equal(mote_context_message(ctx), hinted);
    mote_text_close(ctx, &table);
    mote_context_destroy(ctx);
}

static void errors_name_their_place(void **state) {
    (void)state;
    check_error("1 2 3\n# no row\n; nor this\n// or that\n4 5 6", ' ', 3, NULL);
    check_error("1, 2 ,3,\n4,5,6\n", ',', 3, NULL);
    check_error("1 2 3\n4 x5 6\n", ' ', 3, "f: offset 8: line 2, column 3: \"x5\" is no number");
    check_error("1 2 3\n\n4 5\n", ' ', 3, "f: offset 10: line 3, column 4: the row ends after 2 values, it needs 3");
    check_error("1 2 3 4\n", ' ', 3, "f: offset 6: line 1, column 7: \"4\": the row has more than 3 values");
    check_error("1 2,5 3\n", ' ', 3,
                "f: offset 2: line 1, column 3: \"2,5\" has a decimal comma; the numbers before have decimal points, "
                "or commas separate them");
    check_error("1;2,5;3\n", ';', 3,
                "f: offset 2: line 1, column 3: \"2,5\" has a decimal comma; the numbers before have decimal points, "
                "or commas separate them");
    check_error("1,,3\n", ',', 3, "f: offset 2: line 1, column 3: a value is empty");
    check_error("1 2 1e39\n", ' ', 3, "f: offset 4: line 1, column 5: \"1e39\" does not fit the type float");
    check_error("1 2 3 4\n", ' ', 2, NULL);
    check_error("1 4294967295 3 4\n", ' ', 2, "f: offset 16: line 1, column 17: the row ends within a list");
    check_error("1 -1 3\n", ' ', 2, "f: offset 2: line 1, column 3: \"-1\" is no length of a list");
    check_error("1 nan 3\n", ' ', 2, "f: offset 2: line 1, column 3: \"nan\" is no length of a list");
    check_error("1 1e0 3\n", ' ', 2, "f: offset 2: line 1, column 3: \"1e0\" is no length of a list");
    check_error("1 2 3 4\n1 0\n1\n", ' ', 2, NULL);
}

static void locale_does_not_matter(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "de_DE",
                                        "fr_FR.UTF-8", "nl_NL.UTF-8", "pt_BR.UTF-8"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && set == NULL; i++) set = setlocale(LC_ALL, names[i]);
    if (set == NULL || localeconv()->decimal_point[0] != ',') {
        setlocale(LC_ALL, "C");
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    mote_text_number number;
    double value = 0;
    assert_true(scan("123456789.12345678901234567890", &number));
    assert_true(mote_text_double(&number, &value));
    assert_true(value == 123456789.12345678901234567890);
    check_put(1.5e300, "1.5e+300");
    check_put(0.25, "0.25");
    setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_numbers_exactly),   cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(stores_integers),         cmocka_unit_test(writes_short_numbers),
        cmocka_unit_test(numbers_come_back),       cmocka_unit_test(finds_decimal_scales),
        cmocka_unit_test(escapes_words),           cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(errors_name_their_place), cmocka_unit_test(locale_does_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
