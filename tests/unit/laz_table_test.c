/* LAZ: the LASzip record and the chunk table, both ways, damaged, and as real files have them. */
#include "io/laz/laz.h"
#include "support/las_files.h"

static void schemas_there_and_back(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (uint32_t format = 0; format < LAS_FORMATS; format++) {
        for (uint32_t extra = 0; extra < 5; extra += 4) {
            uint8_t payload[LAZ_RECORD_MAX];
            laz_schema made, read;
            mote_laz_schema_make(format, mote_las_record_bytes(format) + extra, 77, &made);
            const uint32_t size = mote_laz_schema_write(&made, payload);
            uint32_t sum = 0;
            for (uint32_t i = 0; i < made.item_count; i++) sum += made.items[i].size_bytes;
            assert_int_equal(sum, mote_las_record_bytes(format) + extra);
            const mote_input input = {.path = "schema", .data = payload, .size_bytes = size};
            assert_int_equal(mote_laz_schema_read(ctx, &input, payload, size, format, made.record_bytes, &read),
                             MOTE_OK);
            assert_memory_equal(&made, &read, sizeof made);
            assert_int_equal(made.compressor, format < 6 ? LAZ_POINTWISE_CHUNK : LAZ_LAYERED);
        }
    }
    mote_context_destroy(ctx);
}

typedef struct patch {
    uint32_t at, value;
    const char *says; /* NULL: works */
} patch;

static void check_patches(mote_context *ctx, uint32_t format, uint32_t record_bytes, const patch *patches,
                          size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t payload[LAZ_RECORD_MAX];
        laz_schema schema;
        mote_laz_schema_make(format, record_bytes, 50000, &schema);
        const uint32_t size = mote_laz_schema_write(&schema, payload);
        memcpy(payload + patches[i].at, &patches[i].value, patches[i].at == 12 ? 4 : 2);
        const mote_input input = {.path = "schema", .data = payload, .size_bytes = size};
        mote_context_clear(ctx);
        const mote_status status = mote_laz_schema_read(ctx, &input, payload, size, format, record_bytes, &schema);
        assert_int_equal(status, patches[i].says == NULL ? MOTE_OK : MOTE_ERROR_DATA);
        if (patches[i].says != NULL && strstr(mote_context_message(ctx), patches[i].says) == NULL) {
            fail_msg("patch %zu: \"%s\" lacks \"%s\"", i, mote_context_message(ctx), patches[i].says);
        }
    }
}

static void wrong_schemas(void **state) {
    (void)state;
    static const patch pointwise[] = {
        {0, 0, "offset 0: compressor 0"},
        {0, 9, "compressor 9"},
        {0, 3, "compressor 3 is not for point format 3"},
        {0, 1, NULL},
        {2, 1, "offset 2: coder 1"},
        {12, 0, NULL},
        {12, 1, NULL},
        {12, UINT32_MAX, NULL},
        {32, 0, "offset 32: 0 items"},
        {32, 65535, "65535 items"},
        {32, 3, "3 items"},
        {34, 99, "offset 34: item 1 is of type 99"},
        {36, 0, "item 1 is of type 6 and 0 bytes"},
        {40, 8, "item 2 is of type 8"},
        {44, 9, "offset 44: version 9 of item GPSTIME11"},
        {44, 0, "version 0"},
        {44, 1, NULL},
        {54, 5, "offset 52: item 4 is of type 0 and 5 bytes"},
    };
    static const patch layered[] = {
        {0, 2, "compressor 2 is not for point format 7"},
        {38, 1, "version 1 of item POINT14"},
        {38, 2, NULL},
        {38, 4, NULL},
        {38, 5, "version 5"},
        {46, 31, "bytes there"},
        {40, 12, "item 2 is of type 12"},
    };
    mote_context *ctx = test_context(1);
    check_patches(ctx, 3, 38, pointwise, sizeof pointwise / sizeof pointwise[0]);
    check_patches(ctx, 7, 37, layered, sizeof layered / sizeof layered[0]);
    uint8_t payload[LAZ_RECORD_MAX];
    laz_schema schema;
    mote_laz_schema_make(3, 38, 50000, &schema);
    const uint32_t size = mote_laz_schema_write(&schema, payload);
    for (uint32_t cut = 0; cut < size; cut++) {
        const mote_input input = {.path = "schema", .data = payload, .size_bytes = cut};
        mote_context_clear(ctx);
        assert_int_equal(mote_laz_schema_read(ctx, &input, payload, cut, 3, 38, &schema), MOTE_ERROR_DATA);
    }
    mote_context_destroy(ctx);
}

static uint64_t random_next(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void tables_there_and_back(void **state) {
    (void)state;
    enum { MOST = 2000 };
    static const uint32_t counts[] = {0, 1, 2, 3, 17, MOST};
    laz_entry *entries = calloc(MOST, sizeof *entries), *back = calloc(MOST, sizeof *back);
    uint8_t *coded = malloc(16 * MOST + 64);
    uint64_t seed = 1;
    for (uint32_t kind = 0; kind < 8; kind++) {
        const bool variable = kind % 2 != 0;
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            for (uint32_t i = 0; i < counts[c]; i++) {
                const uint64_t value = random_next(&seed);
                entries[i].points = variable ? (kind < 4 ? 50000 : random_next(&seed) * 2) : 0;
                entries[i].size_bytes = kind < 2   ? 1234
                                        : kind < 4 ? 1000 + value % 50
                                        : kind < 6 ? value * 2 + i % 2
                                                   : (i % 2 != 0 ? UINT32_MAX : 0);
            }
            const uint64_t size = mote_laz_table_encode(entries, counts[c], variable, coded);
            assert_true(size <= 16 * (uint64_t)counts[c] + 64);
            assert_null(mote_laz_table_decode(coded, size, variable, counts[c], back));
            for (uint32_t i = 0; i < counts[c]; i++) {
                assert_int_equal(entries[i].points, back[i].points);
                assert_int_equal(entries[i].size_bytes, back[i].size_bytes);
            }
            if (counts[c] > 2 && kind >= 4) {
                assert_non_null(mote_laz_table_decode(coded, size / 2, variable, counts[c], back));
            }
        }
    }
    free(coded);
    free(back);
    free(entries);
}

/* The table of a real file fills the space between the points and itself. */
static void check_real_table(const char *path) {
    const file_bytes file = load(path);
    const uint32_t points_at = las_u32(file.data + 96);
    const uint64_t at = las_u64(file.data + points_at);
    const uint32_t count = las_u32(file.data + at + 4);
    laz_entry *entries = calloc(count, sizeof *entries);
    assert_int_equal(las_u32(file.data + at), 0);
    assert_null(mote_laz_table_decode(file.data + at + 8, file.size - at - 8, false, count, entries));
    uint64_t sum = points_at + 8;
    for (uint32_t i = 0; i < count; i++) sum += entries[i].size_bytes;
    assert_int_equal(sum, at);
    /* What we make of the same entries reads the same. */
    uint8_t *coded = malloc(16 * (size_t)count + 64);
    laz_entry *back = calloc(count, sizeof *back);
    const uint64_t size = mote_laz_table_encode(entries, count, false, coded);
    assert_memory_equal(coded, file.data + at + 8, size < 4 ? size : size - 4); /* ends differ among writers */
    assert_null(mote_laz_table_decode(coded, size, false, count, back));
    for (uint32_t i = 0; i < count; i++) assert_int_equal(entries[i].size_bytes, back[i].size_bytes);
    free(coded);
    free(back);
    free(entries);
    free(file.data);
}

static void real_tables(void **state) {
    (void)state;
    static const char *const names[] = {"laz/autzen2010_south_5.3M_fmt2.laz", "laz/lone-star.laz",
                                        "laz/autzen_trim.laz", "laz/ellipsoid-1.4.laz", "laz/1815.laz"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = test_data(names[i]);
        if (path == NULL) skip();
        check_real_table(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_there_and_back),
        cmocka_unit_test(wrong_schemas),
        cmocka_unit_test(tables_there_and_back),
        cmocka_unit_test(real_tables),
    };
    return cmocka_run_group_tests_name("laz_table", tests, NULL, NULL);
}
