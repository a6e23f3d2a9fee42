/* E57: fields of all kinds against a naive writer; the parts are e57_test_*.c. */
#include "e57_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/e57/e57.h"

/* ---- shared */

uint64_t *e57_random(uint64_t row, uint64_t count, uint32_t bits) {
    uint64_t *const values = malloc((count + 1) * sizeof *values);
    assert_non_null(values);
    for (uint64_t i = 0; i < count; i++) values[i] = bits > 0 ? mote_hash_pair(row, i) >> (64 - bits) : 0;
    return values;
}

uint64_t *e57_singles(const float *values, uint64_t count) {
    uint64_t *const bits = calloc(count + 1, sizeof *bits);
    assert_non_null(bits);
    for (uint64_t i = 0; i < count; i++) memcpy(&bits[i], &values[i], sizeof values[i]);
    return bits;
}

uint64_t *e57_doubles(const double *values, uint64_t count) {
    uint64_t *const bits = calloc(count + 1, sizeof *bits);
    assert_non_null(bits);
    memcpy(bits, values, count * sizeof *bits);
    return bits;
}

double *e57_coordinates(uint64_t row, uint64_t count) {
    double *const values = malloc((count + 1) * sizeof *values);
    assert_non_null(values);
    for (uint64_t i = 0; i < count; i++) values[i] = 200 * test_random(row, i) - 100;
    return values;
}

mote_cloud *e57_read_bytes(mote_context *ctx, const uint8_t *bytes, size_t size, const mote_read_params *params) {
    mote_cloud *cloud = NULL;
    test_write_file(test_path("bytes.e57"), bytes, size);
    const mote_status status = mote_cloud_read(ctx, test_path("bytes.e57"), params, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return cloud;
}

uint8_t *e57_plain(uint64_t records, uint32_t cut, size_t *size) {
    uint64_t *values[5];
    for (uint64_t k = 0; k < 3; k++) {
        float *const singles = malloc((records + 1) * sizeof *singles);
        assert_non_null(singles);
        for (uint64_t i = 0; i < records; i++) singles[i] = (float)(200 * test_random(k, i) - 100);
        values[k] = e57_singles(singles, records);
        free(singles);
    }
    values[3] = e57_random(3, records, 7);
    values[4] = e57_random(4, records, 8);
    const e57_reference_field fields[] = {
        {"cartesianX", E57_SINGLE_FIELD, 32, values[0], NULL},
        {"cartesianY", E57_SINGLE_FIELD, 32, values[1], NULL},
        {"intensity", "type=\"Integer\" minimum=\"0\" maximum=\"100\"", 7, values[3], NULL},
        {"cartesianZ", E57_SINGLE_FIELD, 32, values[2], NULL},
        {"colorRed", "type=\"Integer\" minimum=\"0\" maximum=\"255\"", 8, values[4], NULL},
    };
    const e57_reference_scan scan = {"", fields, 5, records, 0, cut, false};
    const e57_reference_file file = {NULL, NULL, &scan, 1};
    uint8_t *const bytes = e57_reference_make(&file, size);
    for (int k = 0; k < 5; k++) free(values[k]);
    return bytes;
}

/* ---- integers of all widths */

#if !MOTE_HAVE_EXPAT /* then most of these are not run */
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

static void check_width(mote_context *ctx, uint32_t bits, uint32_t cut, bool foreign) {
    enum { RECORDS = 3000 };
    char attributes[120];
    const int64_t minimum = bits == 64 ? INT64_MIN : -(int64_t)(mote_hash64(bits) >> (bits < 63 ? 2 : 1) >> 1);
    const uint64_t span = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    const int64_t maximum = (int64_t)((uint64_t)minimum + span);
    uint64_t *const values = e57_random(bits, RECORDS, bits);
    double *const x = e57_coordinates(7, RECORDS);
    uint64_t *const axis = e57_doubles(x, RECORDS);
    snprintf(attributes, sizeof attributes, "type=\"Integer\" minimum=\"%lld\" maximum=\"%lld\"", (long long)minimum,
             (long long)maximum);
    const e57_reference_field fields[] = {
        {"cartesianX", E57_DOUBLE_FIELD, 64, axis, NULL}, {"e:label", "type=\"String\"", 0, NULL, "\006one\002"},
        {"e:number", attributes, bits, values, NULL},     {"cartesianY", E57_DOUBLE_FIELD, 64, axis, NULL},
        {"cartesianZ", E57_DOUBLE_FIELD, 64, axis, NULL},
    };
    const e57_reference_scan scan = {"", fields, 5, RECORDS, 0, cut, foreign};
    const e57_reference_file file = {" xmlns:e=\"urn:e\"", NULL, &scan, 1};
    size_t size = 0;
    uint8_t *const bytes = e57_reference_make(&file, &size);
    mote_cloud *const cloud = e57_read_bytes(ctx, bytes, size, NULL);
    assert_int_equal(mote_cloud_count(cloud), RECORDS);
    const mote_column *const column = test_column(cloud, "number");
    const mote_column *const axes[] = {test_column(cloud, "x"), test_column(cloud, "y"), test_column(cloud, "z")};
    for (uint64_t i = 0; i < RECORDS; i++) {
        int64_t value;
        mote_column_read(column, i, 1, MOTE_INT64, &value);
        assert_true(value == (int64_t)((uint64_t)minimum + values[i]));
        for (int k = 0; k < 3; k++) assert_true(mote_column_value(axes[k], i) == x[i]);
    }
    mote_cloud_destroy(cloud);
    free(bytes);
    free(values);
    free(axis);
    free(x);
}

static void integers_of_all_widths(void **state) {
    (void)state;
    static const uint32_t cuts[] = {1, 7, 100, 1013, 9000};
    char warning[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(warning);
    for (uint32_t bits = 0; bits <= 64; bits++) {
        for (size_t c = bits % 2; c < sizeof cuts / sizeof cuts[0]; c += (size_t)test_extent(3, 1)) {
            check_width(ctx, bits, cuts[c], bits % 3 == 0);
            assert_non_null(strstr(warning, "1 field of texts"));
        }
    }
    mote_context_destroy(ctx);
}

/* ---- coordinates as they are stored */

static void scaled_coordinates_keep_their_lattice(void **state) {
    (void)state;
    enum { RECORDS = 500 };
    static const char *const attributes[] = {
        "type=\"ScaledInteger\" minimum=\"-262144\" maximum=\"262143\" scale=\"1e-06\"",
        "type=\"ScaledInteger\" minimum=\"-262144\" maximum=\"262143\" scale=\"0.001\" offset=\"-5.5e2\"",
        "type=\"ScaledInteger\" minimum=\"-262144\" maximum=\"262143\" scale=\"0.25\" offset=\"\"",
    };
    static const double scales[] = {1e-6, 0.001, 0.25}, offsets[] = {0, -550, 0};
    mote_context *ctx = test_context(2);
    uint64_t *values[3];
    for (uint64_t k = 0; k < 3; k++) values[k] = e57_random(k, RECORDS, 19);
    const e57_reference_field fields[] = {{"cartesianX", attributes[0], 19, values[0], NULL},
                                          {"cartesianY", attributes[1], 19, values[1], NULL},
                                          {"cartesianZ", attributes[2], 19, values[2], NULL}};
    const e57_reference_scan scan = {"", fields, 3, RECORDS, 0, 77, false};
    const e57_reference_file file = {NULL, NULL, &scan, 1};
    size_t size = 0;
    uint8_t *const bytes = e57_reference_make(&file, &size);
    mote_cloud *const cloud = e57_read_bytes(ctx, bytes, size, NULL);
    test_columns_are(cloud, "x:int32 y:int32 z:int32 point_source_id:uint16");
    for (int k = 0; k < 3; k++) {
        const mote_column *const column = mote_cloud_column(cloud, (uint32_t)k);
        assert_true(column->scale == scales[k] && column->offset == offsets[k]);
        assert_string_equal(column->unit, "m");
        for (uint64_t i = 0; i < RECORDS; i++) {
            int64_t value;
            mote_column_read(column, i, 1, MOTE_INT64, &value);
            assert_int_equal(value, (int64_t)values[k][i] - 262144);
        }
        free(values[k]);
    }
    mote_cloud_destroy(cloud);
    free(bytes);
    mote_context_destroy(ctx);
}

static void numbers_that_are_empty_are_zero(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const double axis[] = {1, 2, 3};
    uint64_t *const x = e57_doubles(axis, 3);
    const uint64_t none[3] = {0};
    const e57_reference_field fields[] = {
        {"cartesianX", E57_DOUBLE_FIELD, 64, x, NULL},
        {"cartesianY", E57_DOUBLE_FIELD, 64, x, NULL},
        {"cartesianZ", E57_DOUBLE_FIELD, 64, x, NULL},
        {"intensity", "type=\"Integer\" minimum=\"\" maximum=\"\"", 0, none, NULL},
    };
    const char *const xml =
        "<pose type=\"Structure\"><rotation type=\"Structure\"><w type=\"Float\">1</w><x type=\"Float\"/>"
        "<y type=\"Float\"> </y><z type=\"Float\"></z></rotation><translation type=\"Structure\">"
        "<x type=\"Float\"/><y type=\"Float\"/><z type=\"Float\">\n 7e0 \n</z></translation></pose>\n";
    const e57_reference_scan scan = {xml, fields, 4, 3, 0, 1000, false};
    const e57_reference_file file = {NULL, NULL, &scan, 1};
    size_t size = 0;
    uint8_t *const bytes = e57_reference_make(&file, &size);
    mote_cloud *const cloud = e57_read_bytes(ctx, bytes, size, NULL);
    for (uint64_t i = 0; i < 3; i++) {
        assert_true(test_value(cloud, "x", i) == axis[i]);
        assert_true(test_value(cloud, "z", i) == axis[i] + 7);
        assert_true(test_value(cloud, "intensity", i) == 0);
    }
    mote_cloud_destroy(cloud);
    free(bytes);
    free(x);
    mote_context_destroy(ctx);
}

/* ---- the same for any number of threads, any cut, whole or in pieces */

static uint64_t hash_of_pieces(mote_context *ctx, const char *path, uint64_t *count) {
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    uint64_t hash = 0;
    *count = 0;
    assert_int_equal(mote_reader_open(ctx, path, NULL, &reader), MOTE_OK);
    for (;;) {
        assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
        if (piece == NULL) break;
        const mote_column *const x = test_column(piece, "x"), *const red = test_column(piece, "red");
        for (uint64_t i = 0; i < mote_cloud_count(piece); i++) {
            const double value = mote_column_value(x, i) + 1000 * mote_column_value(red, i);
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            hash = mote_hash_pair(hash, bits);
        }
        *count += mote_cloud_count(piece);
    }
    mote_reader_close(reader);
    return hash;
}

static void same_for_any_threads_and_cuts(void **state) {
    (void)state;
    static const uint32_t cuts[] = {60, 3000, 12000};
    const uint64_t records = test_extent(300000, 900000);
    const int least = (int)test_watched(5, 1), step = (int)test_watched(4, 2);
    uint64_t first = 0, first_pieces = 0;
    for (int c = 0; c < 3; c++) {
        size_t size = 0;
        uint8_t *const bytes = e57_plain(records, cuts[c], &size);
        for (int threads = c == 0 ? 1 : least; threads <= 5; threads += step) {
            mote_context *ctx = test_context(threads);
            mote_cloud *const cloud = e57_read_bytes(ctx, bytes, size, NULL);
            uint64_t count = 0;
            const uint64_t hash = test_hash(ctx, cloud), pieces = hash_of_pieces(ctx, test_path("bytes.e57"), &count);
            if (first == 0) first = hash, first_pieces = pieces;
            assert_int_equal(count, records);
            assert_true(hash == first && pieces == first_pieces);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        free(bytes);
    }
}

/* Only what is asked for is decoded, and it is the same. */
static void selected_columns(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    size_t size = 0;
    uint8_t *const bytes = e57_plain(5000, 500, &size);
    mote_read_params params = mote_read_defaults();
    params.select = "red,missing";
    mote_cloud *const all = e57_read_bytes(ctx, bytes, size, NULL);
    mote_cloud *const some = e57_read_bytes(ctx, bytes, size, &params);
    test_columns_are(some, "x:float y:float z:float red:uint8");
    for (uint64_t i = 0; i < 5000; i++) {
        assert_true(test_value(all, "red", i) == test_value(some, "red", i));
        assert_true(test_value(all, "z", i) == test_value(some, "z", i));
    }
    mote_cloud_destroy(all);
    mote_cloud_destroy(some);
    free(bytes);
    mote_context_destroy(ctx);
}

static void checksum_is_castagnoli(void **state) {
    (void)state;
    assert_int_equal(mote_e57_crc((const uint8_t *)"123456789", 9), 0xE3069283u); /* RFC 3720 */
    assert_int_equal(mote_e57_crc(NULL, 0), 0);
}

int main(void) {
#if MOTE_HAVE_EXPAT
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum_is_castagnoli),
        cmocka_unit_test(integers_of_all_widths),
        cmocka_unit_test(scaled_coordinates_keep_their_lattice),
        cmocka_unit_test(numbers_that_are_empty_are_zero),
        cmocka_unit_test(same_for_any_threads_and_cuts),
        cmocka_unit_test(selected_columns),
        cmocka_unit_test(poses_are_applied_or_kept),
        cmocka_unit_test(spherical_coordinates_are_converted),
        cmocka_unit_test(invalid_points_are_left_out),
        cmocka_unit_test(scans_of_different_fields_are_united),
        cmocka_unit_test(normals_turn_with_the_pose),
        cmocka_unit_test(colours_of_any_depth),
        cmocka_unit_test(time_stamps_and_returns),
        cmocka_unit_test(real_files_are_read),
        cmocka_unit_test(refuses_bad_headers),
        cmocka_unit_test(refuses_bad_xml),
        cmocka_unit_test(refuses_bad_packets),
        cmocka_unit_test(damaged_pages_are_told),
        cmocka_unit_test(salvage_loses_only_damaged_packets),
        cmocka_unit_test(any_cut_is_told),
        cmocka_unit_test(counts_that_lie_take_no_memory),
        cmocka_unit_test(comes_back_as_it_was),
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(a_scan_for_each_source),
        cmocka_unit_test(writes_what_the_standard_asks),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(cancel_leaves_nothing),
        cmocka_unit_test(full_disk_is_told),
        cmocka_unit_test(pieces_become_las_as_the_whole_does),
        cmocka_unit_test(few_and_no_points_become_las),
        cmocka_unit_test(losses_are_told_once),
        cmocka_unit_test(pieces_survive_failures),
    };
#else
    const struct CMUnitTest tests[] = {cmocka_unit_test(checksum_is_castagnoli)};
#endif
    return cmocka_run_group_tests_name("e57", tests, NULL, NULL);
}
