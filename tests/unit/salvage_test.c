/* Salvage: of a file that is cut, or whose counts are off, all points that are whole, never a wrong one, and a warning
   of what is missing; by mote_cloud_read and in pieces alike. */
#include "unit/salvage_test.h"

static char warnings[8192];

const char *salvage_warnings(void) { return warnings; }

static void keep_warning(void *user, mote_log_level level, const char *message) {
    const size_t length = strlen(warnings);
    (void)user, (void)level;
    snprintf(warnings + length, sizeof warnings - length, "%s\n", message);
}

mote_context *salvage_context(int threads) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.threads = threads;
    params.log = keep_warning;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

static bool same_value(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Whether the points of part are those of whole from its point first on. */
static bool is_part(const mote_cloud *part, const mote_cloud *whole, uint64_t first) {
    if (first + mote_cloud_count(part) > mote_cloud_count(whole)) return false;
    if (mote_cloud_column_count(part) != mote_cloud_column_count(whole)) return false;
    for (uint32_t c = 0; c < mote_cloud_column_count(part); c++) {
        const mote_column *a = mote_cloud_column(part, c), *b = mote_cloud_find(whole, a->name);
        if (b == NULL) return false;
        for (uint64_t i = 0; i < mote_cloud_count(part); i++) {
            if (!same_value(mote_column_value(a, i), mote_column_value(b, first + i))) return false;
        }
    }
    return true;
}

bool salvage_is_prefix(const mote_cloud *part, const mote_cloud *whole) { return is_part(part, whole, 0); }

/* What comes in pieces must be what comes whole (NULL: an error). */
static void assert_pieces(mote_context *ctx, const char *path, const mote_read_params *params,
                          const mote_cloud *whole) {
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    uint64_t points = 0;
    mote_context_clear(ctx);
    mote_status status = mote_reader_open(ctx, path, params, &reader);
    while (status == MOTE_OK) {
        status = mote_reader_next(reader, &piece);
        if (status != MOTE_OK || piece == NULL) break;
        if (whole == NULL) fail_msg("%s: a piece of what cannot be read", path);
        if (!is_part(piece, whole, points)) fail_msg("%s: another piece", path);
        points += mote_cloud_count(piece);
    }
    mote_reader_close(reader);
    assert_int_equal(status, whole != NULL ? MOTE_OK : MOTE_ERROR_DATA);
    if (whole != NULL) assert_int_equal(points, mote_cloud_count(whole));
}

mote_cloud *salvage_read(mote_context *ctx, const char *name, const uint8_t *data, size_t size, bool salvage) {
    const char *path = test_path(name);
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    test_write_file(path, data, size);
    params.salvage = salvage;
    mote_context_clear(ctx);
    warnings[0] = '\0';
    const mote_status status = mote_cloud_read(ctx, path, &params, &cloud);
    char message[600];
    snprintf(message, sizeof message, "%s", mote_context_message(ctx));
    assert_pieces(ctx, path, &params, cloud);
    if (status == MOTE_OK) return cloud;
    assert_string_equal(message, mote_context_message(ctx));
    assert_null(cloud);
    assert_int_equal(status, MOTE_ERROR_DATA);
    if (strstr(mote_context_message(ctx), name) == NULL || strstr(mote_context_message(ctx), ": offset ") == NULL) {
        fail_msg("%s: \"%s\"", name, mote_context_message(ctx));
    }
    return NULL;
}

uint64_t salvage_cuts(mote_context *ctx, const char *name, const file_bytes *file, size_t first, size_t last,
                      size_t step) {
    mote_cloud *whole = salvage_read(ctx, name, file->data, file->size, false);
    assert_non_null(whole);
    test_write_file(test_path("whole"), file->data, file->size);
    uint64_t before = 0;
    char cut[64];
    snprintf(cut, sizeof cut, "cut_%s", name);
    for (size_t size = 0; size < file->size; size += step) {
        mote_cloud *part = salvage_read(ctx, cut, file->data, size, true);
        const uint64_t count = part != NULL ? mote_cloud_count(part) : 0;
        if (part == NULL && size >= first) fail_msg("%s, cut at %zu: \"%s\"", name, size, mote_context_message(ctx));
        if (part != NULL && !salvage_is_prefix(part, whole)) fail_msg("%s, cut at %zu: wrong points", name, size);
        if (count < before) fail_msg("%s, cut at %zu: fewer points than before", name, size);
        if (count < whole->count && part != NULL && warnings[0] == '\0') fail_msg("%s, cut at %zu: silent", name, size);
        before = count;
        mote_cloud_destroy(part);
        part = salvage_read(ctx, cut, file->data, size, false);
        if (part != NULL && size < last) fail_msg("%s, cut at %zu: read without salvage", name, size);
        if (part == NULL && count > 0 && strstr(mote_context_message(ctx), "--salvage") == NULL) {
            fail_msg("%s, cut at %zu: \"%s\" lacks a hint", name, size, mote_context_message(ctx));
        }
        mote_cloud_destroy(part);
    }
    mote_cloud_destroy(whole);
    return before;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(las_cut_anywhere),
        cmocka_unit_test(las_counts),
        cmocka_unit_test(las_records_are_not_needed),
        cmocka_unit_test(las_description_of_extra_bytes),
        cmocka_unit_test(las_described_but_not_there),
        cmocka_unit_test(las_odd_descriptions),
        cmocka_unit_test(laz_cut_anywhere),
        cmocka_unit_test(laz_tables),
        cmocka_unit_test(laz_counts),
        cmocka_unit_test(laz_real_files),
        cmocka_unit_test(ply_cut_anywhere),
        cmocka_unit_test(ply_counts),
        cmocka_unit_test(ply_broken_faces),
        cmocka_unit_test(pcd_cut_and_counts),
        cmocka_unit_test(pcd_compressed),
        cmocka_unit_test(ptx_cut_and_counts),
        cmocka_unit_test(text_cut_and_counts),
        cmocka_unit_test(text_wrong_lines),
    };
    return cmocka_run_group_tests_name("salvage", tests, NULL, NULL);
}
