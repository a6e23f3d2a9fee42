/* Salvage of LAS: cut files, wrong counts, records that are not where they should be. */
#include "unit/salvage_test.h"

static file_bytes las_file(mote_context *ctx, int version_minor, int format) {
    mote_cloud *cloud = tiny_cloud(ctx);
    mote_write_params params = mote_write_defaults();
    params.las_version_minor = version_minor;
    params.las_format = format;
    if (version_minor < 4) {
        cloud->record_count = 0;
        params.columns = "x,y,z,ring";
        assert_int_equal(mote_cloud_set_crs(cloud, ""), MOTE_OK);
    }
    write_ok(ctx, cloud, test_path("good.las"), &params);
    mote_cloud_destroy(cloud);
    return load(test_path("good.las"));
}

void las_cut_anywhere(void **state) {
    (void)state;
    static const int versions[][2] = {{4, 7}, {2, 0}};
    mote_context *ctx = salvage_context(1);
    for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
        const file_bytes file = las_file(ctx, versions[v][0], versions[v][1]);
        const size_t from = las_u32(file.data + 96), record = las_u16(file.data + 105);
        assert_int_equal(salvage_cuts(ctx, "cut.las", &file, from + record, from + 10 * record, 1),
                         versions[v][0] == 4 ? 10 : 9);
        free(file.data);
    }
    mote_context_destroy(ctx);
}

/* What is missing is told: how many of how many, and from where on. */
void las_counts(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 5, 9, 10, 11, 1000, UINT32_MAX, 1ull << 63};
    mote_context *ctx = salvage_context(2);
    for (int version = 2; version <= 4; version += 2) {
        const file_bytes file = las_file(ctx, version, version == 4 ? 6 : 0);
        const uint32_t at = version == 4 ? 247 : 107;
        mote_cloud *whole = salvage_read(ctx, "whole.las", file.data, file.size, false);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            if (version < 4 && counts[c] > UINT32_MAX) continue;
            char says[64];
            snprintf(says, sizeof says, "%llu of %llu points are missing from here on; 10 are kept",
                     (unsigned long long)counts[c] - 10, (unsigned long long)counts[c]);
            las_put(file.data + at, counts[c], version == 4 ? 8 : 4);
            mote_cloud *part = salvage_read(ctx, "counts.las", file.data, file.size, true);
            assert_non_null(part);
            assert_int_equal(part->count, 10);
            assert_true(salvage_is_prefix(part, whole));
            if (counts[c] > 10) assert_non_null(strstr(salvage_warnings(), says));
            assert_int_equal(salvage_warnings()[0] == '\0', counts[c] == 10);
            mote_cloud_destroy(part);
            part = salvage_read(ctx, "counts.las", file.data, file.size, false);
            assert_int_equal(part == NULL, counts[c] > 10);
            if (part != NULL) assert_int_equal(part->count, counts[c] == 0 ? 10 : counts[c]);
            mote_cloud_destroy(part);
        }
        mote_cloud_destroy(whole);
        free(file.data);
    }
    /* What follows the points is no points: it lies outside of the header's box, or is no whole record. */
    file_bytes file = las_file(ctx, 2, 0);
    const size_t record = las_u16(file.data + 105);
    file.data = realloc(file.data, file.size + 5 * record);
    memset(file.data + file.size, 0x55, 5 * record);
    for (size_t more = 0; more <= 5 * record; more++) {
        mote_cloud *part = salvage_read(ctx, "more.las", file.data, file.size + more, true);
        assert_int_equal(part->count, 10);
        assert_int_equal(salvage_warnings()[0] == '\0', more < record);
        mote_cloud_destroy(part);
    }
    free(file.data);
    mote_context_destroy(ctx);
}

/* Records before and behind the points, wherever they are said to be: the points are read, with a warning. */
void las_records_are_not_needed(void **state) {
    (void)state;
    static const struct { uint32_t at, size; } places[] = {{100, 4}, {235, 8}, {243, 4}, {375 + 20, 2}};
    static const uint64_t values[] = {1, 100, 226, 376, 1000, 10000, UINT32_MAX, 1ull << 40, UINT64_MAX};
    mote_context *ctx = salvage_context(1);
    const file_bytes file = las_file(ctx, 4, 6);
    mote_cloud *whole = salvage_read(ctx, "whole.las", file.data, file.size, false);
    uint64_t good;
    for (int salvage = 0; salvage < 2; salvage++) {
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            memcpy(&good, file.data + places[p].at, 8);
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                las_put(file.data + places[p].at, values[v], places[p].size);
                mote_cloud *part = salvage_read(ctx, "records.las", file.data, file.size, salvage);
                assert_non_null(part);
                assert_int_equal(part->count, 10);
                mote_cloud_destroy(part);
            }
            las_put(file.data + places[p].at, good, 8);
        }
        /* Each place among the points, and behind them. */
        for (uint64_t at = las_u32(file.data + 96); at < file.size + 5; at++) {
            memcpy(&good, file.data + 235, 8);
            las_put(file.data + 235, at, 8);
            mote_cloud *part = salvage_read(ctx, "records.las", file.data, file.size, salvage);
            assert_non_null(part);
            assert_int_equal(part->count, 10);
            assert_true(salvage_is_prefix(part, whole));
            if (at < good) assert_string_not_equal(salvage_warnings(), "");
            if (at == good) assert_string_equal(salvage_warnings(), "");
            mote_cloud_destroy(part);
            las_put(file.data + 235, good, 8);
        }
    }
    mote_cloud_destroy(whole);
    free(file.data);
    mote_context_destroy(ctx);
}

/* What describes extra bytes, in the file of las_file(ctx, 4, 6): two entries. */
#define ENTRY_AT (375 + 54 + 5 + 54 + (uint32_t)sizeof TINY_WKT + 54)

/* Expects the points, and one warning that has part. */
static mote_cloud *read_described(mote_context *ctx, const file_bytes *file, bool salvage, const char *part) {
    mote_cloud *cloud = salvage_read(ctx, "extra.las", file->data, file->size, salvage);
    assert_non_null(cloud);
    assert_int_equal(cloud->count, 10);
    if (strstr(salvage_warnings(), part) == NULL) fail_msg("\"%s\" lacks \"%s\"", salvage_warnings(), part);
    return cloud;
}

/* Extra bytes whose description is wrong are kept without it, asked for or not. */
void las_description_of_extra_bytes(void **state) {
    (void)state;
    mote_context *ctx = salvage_context(1);
    const file_bytes file = las_file(ctx, 4, 6);
    for (uint32_t value = 31; value < 256; value += 32) {
        for (int salvage = 0; salvage < 2; salvage++) {
            file.data[ENTRY_AT + 2] = (uint8_t)value;
            mote_cloud *part = read_described(ctx, &file, salvage, "5 extra bytes are kept without a description");
            assert_non_null(mote_cloud_find(part, "extra_0"));
            assert_non_null(mote_cloud_find(part, "extra_4"));
            mote_cloud_destroy(part);
        }
    }
    free(file.data);
    mote_context_destroy(ctx);
}

/* Extra bytes that are described, but that the records do not have, or have in part. */
void las_described_but_not_there(void **state) {
    (void)state;
    mote_context *ctx = salvage_context(1);
    for (uint16_t record = 30; record < 35; record++) {
        const file_bytes file = las_file(ctx, 4, 6);
        uint8_t *points = file.data + las_u32(file.data + 96);
        for (uint32_t i = 0; i < 10; i++) memmove(points + i * record, points + i * 35, record);
        las_put(file.data + 105, record, 2);
        mote_cloud *part = read_described(ctx, &file, false, record == 34 ? "and 0 behind it" : "and 1 behind it");
        assert_int_equal(mote_cloud_find(part, "amplitude") != NULL, record == 34);
        assert_null(mote_cloud_find(part, "ring"));
        assert_int_equal(mote_cloud_find(part, "extra_0") != NULL, record > 30 && record < 34);
        assert_near(mote_column_value(mote_cloud_find(part, "x"), 9), 500000.09, 1e-6);
        write_ok(ctx, part, test_path("described.las"), NULL);
        mote_cloud_destroy(part);
        free(file.data);
    }
    const file_bytes file = las_file(ctx, 4, 6);
    las_put(file.data + 105, 29, 2); /* shorter than the format: an error as ever */
    assert_null(salvage_read(ctx, "extra.las", file.data, file.size, false));
    assert_non_null(strstr(mote_context_message(ctx), "offset 105"));
    free(file.data);
    mote_context_destroy(ctx);
}

/* Names that are empty, equal, no UTF-8 or not ended; bytes without a type, some and none. */
void las_odd_descriptions(void **state) {
    (void)state;
    mote_context *ctx = salvage_context(1);
    const file_bytes file = las_file(ctx, 4, 6);
    uint8_t *first = file.data + ENTRY_AT, *second = first + LAS_EXTRA_BYTES;
    memset(first + 4, 0, 32);
    memcpy(second + 4, "intensity", 10);
    mote_cloud *cloud = read_described(ctx, &file, false, "");
    assert_non_null(mote_cloud_find(cloud, "unnamed"));
    assert_int_equal(mote_column_value(mote_cloud_find(cloud, "intensity_2"), 3), 18);
    mote_cloud_destroy(cloud);
    memset(first + 4, 0xE9, 32); /* as long as it may be, in Latin-1 */
    memset(second + 4, 0xE9, 32);
    cloud = read_described(ctx, &file, false, "");
    assert_int_equal(strlen(mote_cloud_column(cloud, mote_cloud_column_count(cloud) - 2)->name), 32);
    assert_int_equal(mote_column_value(mote_cloud_column(cloud, mote_cloud_column_count(cloud) - 1), 3), 18);
    write_ok(ctx, cloud, test_path("odd.las"), NULL);
    mote_cloud_destroy(cloud);
    first[2] = 0; /* four bytes of no type */
    first[3] = 4;
    cloud = read_described(ctx, &file, false, "");
    assert_int_equal(mote_column_value(mote_cloud_column(cloud, mote_cloud_column_count(cloud) - 1), 3), 18);
    mote_cloud_destroy(cloud);
    first[3] = 0; /* none: the next entry begins where it does */
    cloud = read_described(ctx, &file, false, "");
    assert_non_null(mote_cloud_find(cloud, "extra_1"));
    mote_cloud_destroy(cloud);
    /* A record that ends within an entry: what is whole counts. */
    las_put(first - 54 + 20, 200, 2);
    cloud = read_described(ctx, &file, false, "no multiple of 192");
    mote_cloud_destroy(cloud);
    free(file.data);
    mote_context_destroy(ctx);
}
