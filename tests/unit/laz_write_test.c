/* Writing LAZ: what stands in the file, the same bytes by every way, and real files. */
#include <dirent.h>
#include <sys/stat.h>

#include "core/cloud.h"
#include "io/laz/laz.h"
#include "unit/laz_write_test.h"

static uint64_t random_bits(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A value as scans have them: some dimensions run on, some keep still, some are noise. */
static uint64_t made_value(uint32_t column, uint64_t i, uint64_t *state) {
    switch (column % 4) {
    case 0: return i * (column + 3) + random_bits(state) % 16;
    case 1: return i / 1000;
    case 2: return random_bits(state) % 100 == 0 ? random_bits(state) : 5;
    default: return random_bits(state);
    }
}

static void fill_column(const mote_column *column, uint8_t *data, uint32_t number, uint64_t count, uint64_t *state) {
    const uint64_t mask = column->bit_count != 0 ? (1ull << column->bit_count) - 1 : UINT64_MAX;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t value = made_value(number, i, state) & mask;
        const double real = (double)(value % 1000000) * 0.0625;
        const float single = (float)real;
        const void *from = &value;
        if (column->type == MOTE_FLOAT64) from = &real;
        if (column->type == MOTE_FLOAT32) from = &single;
        memcpy(data + i * column->stride_bytes, from, mote_type_size(column->type));
    }
}

void laz_write_make(const char *path, uint8_t format, uint64_t count) {
    mote_context *ctx = test_context(2);
    las_field fields[LAS_FIELDS_MAX + 2];
    const uint32_t standard = mote_las_fields(format, fields);
    const las_field more[2] = {{"reflectance", "", MOTE_UINT16, 0, 0, 0, 1}, {"ring", "", MOTE_UINT8, 0, 0, 0, 1}};
    memcpy(fields + standard, more, sizeof more);
    mote_cloud *cloud = NULL;
    uint64_t state = 88172645463325252ull + format;
    assert_int_equal(mote_cloud_new(ctx, count, &cloud), MOTE_OK);
    for (uint32_t i = 0; i < standard + 2; i++) {
        const mote_column_spec spec = {fields[i].name, fields[i].type, i < 3 ? 0.01 : fields[i].scale, 0};
        assert_int_equal(mote_cloud_add_column(cloud, &spec), MOTE_OK);
        mote_column column = *mote_cloud_find(cloud, fields[i].name);
        column.bit_count = fields[i].bit_count;
        fill_column(&column, mote_cloud_column_data(cloud, fields[i].name), i, count, &state);
    }
    mote_record record = {.user_id = "test", .record_id = 7, .size_bytes = 5, .data = "front"};
    assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
    record.extended = format >= 6;
    assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
    mote_write_params params = mote_write_defaults();
    params.las_format = format;
    write_ok(ctx, cloud, path, &params);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* What a compressed file says of itself, checked. */
typedef struct laz_facts {
    uint64_t points, chunks, table_end;
    laz_schema schema;
} laz_facts;

/* The last of the records in front of the points; returns the bytes of its payload. */
static uint64_t last_record(const file_bytes *file, const uint8_t **payload) {
    const uint8_t *at = file->data + las_u16(file->data + 94);
    uint64_t size_bytes = 0;
    for (uint32_t i = 0; i < las_u32(file->data + 100); i++) {
        size_bytes = las_u16(at + 20);
        *payload = at + LAS_VLR_BYTES;
        at += LAS_VLR_BYTES + size_bytes;
    }
    assert_string_equal((const char *)(*payload - LAS_VLR_BYTES + 2), LAS_USER_LASZIP);
    assert_int_equal(las_u16(*payload - LAS_VLR_BYTES + 18), LAS_ID_LASZIP);
    assert_ptr_equal(at, file->data + las_u32(file->data + 96));
    return size_bytes;
}

/* Decodes the chunks of the file, found by its table, and compares them with plain records. */
static void check_chunks(mote_context *ctx, const file_bytes *file, const laz_facts *facts, const uint8_t *records) {
    const uint64_t points_at = las_u32(file->data + 96), table_at = las_u64(file->data + points_at);
    const laz_selection all = {.wanted = LAZ_WANT_ALL, .stride_bytes = facts->schema.record_bytes};
    laz_entry *entries = calloc(facts->chunks + 1, sizeof *entries);
    uint8_t *decoded = malloc((size_t)LAZ_CHUNK_POINTS * facts->schema.record_bytes);
    laz_decoder *decoder = NULL;
    assert_int_equal(mote_laz_decoder_make(ctx, &facts->schema, &all, &decoder), MOTE_OK);
    if (facts->chunks > 0) {
        assert_null(mote_laz_table_decode(file->data + table_at + 8, facts->table_end - table_at - 8, false,
                                          (uint32_t)facts->chunks, entries));
    }
    uint64_t at = points_at + 8;
    for (uint64_t i = 0; i < facts->chunks; i++) {
        const uint64_t first = i * LAZ_CHUNK_POINTS, remaining = facts->points - first;
        laz_chunk chunk = {.data = file->data + at, .size_bytes = entries[i].size_bytes, .records = decoded};
        chunk.points = remaining < LAZ_CHUNK_POINTS ? remaining : LAZ_CHUNK_POINTS;
        mote_laz_decode(decoder, &chunk, 1);
        if (chunk.fault != NULL) fail_msg("chunk %d: %s", (int)i, chunk.fault);
        assert_int_equal(chunk.done, chunk.points);
        assert_int_equal(chunk.used_bytes, chunk.size_bytes);
        assert_memory_equal(decoded, records + first * facts->schema.record_bytes,
                            chunk.points * facts->schema.record_bytes);
        at += entries[i].size_bytes;
    }
    assert_int_equal(at, table_at);
    mote_laz_decoder_free(ctx, decoder);
    free(decoded);
    free(entries);
}

void laz_write_check(mote_context *ctx, const char *laz_path, const char *las_path) {
    const file_bytes laz = load(laz_path), las = load(las_path);
    const mote_input input = {.path = laz_path, .data = laz.data, .size_bytes = laz.size};
    const uint8_t minor = laz.data[25], format = las.data[104];
    const uint8_t *payload = NULL;
    const uint64_t payload_bytes = last_record(&laz, &payload);
    laz_facts facts = {.points = minor >= 4 ? las_u64(laz.data + 247) : las_u32(laz.data + 107)};
    assert_int_equal(laz.data[104], format | 0x80);
    assert_int_equal(
        mote_laz_schema_read(ctx, &input, payload, payload_bytes, format, las_u16(laz.data + 105), &facts.schema),
        MOTE_OK);
    assert_int_equal(facts.schema.compressor, format < 6 ? LAZ_POINTWISE_CHUNK : LAZ_LAYERED);
    assert_int_equal(facts.schema.chunk_points, LAZ_CHUNK_POINTS);
    assert_memory_equal(laz.data + 105, las.data + 105, 2 + 4 + 20 + 96); /* counts, scales and box */
    assert_int_equal(las_u32(laz.data + 100), las_u32(las.data + 100) + 1);
    const uint64_t table_at = las_u64(laz.data + las_u32(laz.data + 96));
    const bool behind = minor >= 4 && las_u32(laz.data + 243) > 0;
    facts.table_end = behind ? las_u64(laz.data + 235) : laz.size;
    facts.chunks = las_u32(laz.data + table_at + 4);
    assert_int_equal(las_u32(laz.data + table_at), 0);
    assert_int_equal(facts.chunks, (facts.points + LAZ_CHUNK_POINTS - 1) / LAZ_CHUNK_POINTS);
    check_chunks(ctx, &laz, &facts, las.data + las_u32(las.data + 96));
    if (behind) {
        const uint64_t las_behind = las_u64(las.data + 235);
        assert_int_equal(laz.size - facts.table_end, las.size - las_behind);
        assert_memory_equal(laz.data + facts.table_end, las.data + las_behind, las.size - las_behind);
    }
    free(laz.data);
    free(las.data);
}

/* LAZ → LAS gives the file that LAS → LAS gives. */
static void check_back(mote_context *ctx, const char *laz_path, const char *las_path) {
    mote_cloud *cloud = read_ok(ctx, laz_path);
    const char *back = test_path("back.las");
    write_ok(ctx, cloud, back, NULL);
    mote_cloud_destroy(cloud);
    assert_same_file(back, las_path);
}

/* ---- what stands in the file */

static void chunks_of_every_format(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 49999, 50000, 50001, POINTS_MAX};
    mote_context *ctx = test_context(2);
    for (uint8_t format = 0; format < LAS_FORMATS; format++) {
        const bool has_long = test_watched(format % 4 == 3, format % 3 != 2); /* of every kind, not of every format */
        laz_write_make(test_path("source.las"), format, POINTS_MAX);
        mote_cloud *cloud = read_ok(ctx, test_path("source.las"));
        assert_int_equal(cloud->las.format, format);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            if (counts[c] > 2 && !has_long) continue;
            cloud->count = counts[c];
            write_ok(ctx, cloud, test_path("chunks.las"), NULL);
            write_ok(ctx, cloud, test_path("chunks.laz"), NULL);
            laz_write_check(ctx, test_path("chunks.laz"), test_path("chunks.las"));
            check_back(ctx, test_path("chunks.laz"), test_path("chunks.las"));
        }
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* It is as LASzip writes a file without points. */
static void a_file_without_points(void **state) {
    (void)state;
    if (test_data("laz/no-points-1.3.laz") == NULL) skip();
    const file_bytes theirs = load(test_data("laz/no-points-1.3.laz"));
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = read_ok(ctx, test_data("las/no-points-1.3.las"));
    write_ok(ctx, cloud, test_path("none.laz"), NULL);
    const file_bytes ours = load(test_path("none.laz"));
    const uint64_t at = las_u32(ours.data + 96), their_at = las_u32(theirs.data + 96);
    assert_int_equal(ours.size - at, theirs.size - their_at);
    assert_int_equal(las_u64(ours.data + at), at + 8);
    assert_memory_equal(ours.data + at + 8, theirs.data + their_at + 8, theirs.size - their_at - 8);
    free(ours.data);
    free(theirs.data);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Clouds whose records are made by conversion. */
static void clouds_from_elsewhere(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = tiny_cloud(ctx);
    write_ok(ctx, cloud, test_path("tiny.las"), NULL);
    write_ok(ctx, cloud, test_path("TINY.LAZ"), NULL);
    laz_write_check(ctx, test_path("TINY.LAZ"), test_path("tiny.las"));
    mote_cloud_destroy(cloud);
    const mote_column_spec specs[] = {{"x", MOTE_FLOAT64, 0, 0},
                                      {"y", MOTE_FLOAT64, 0, 0},
                                      {"z", MOTE_FLOAT32, 0, 0},
                                      {"red", MOTE_UINT8, 0, 0},
                                      {"weight", MOTE_INT64, 0, 0}};
    assert_int_equal(mote_cloud_create(ctx, 120000, specs, 5, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < 120000; i++) {
        set_value(cloud, "x", i, 500000 + 0.001 * (double)(i % 7919));
        set_value(cloud, "z", i, 0.25 * (double)(i % 401));
        set_value(cloud, "red", i, (double)(i % 256));
        set_value(cloud, "weight", i, (double)(i * i));
    }
    write_ok(ctx, cloud, test_path("other.las"), NULL);
    write_ok(ctx, cloud, test_path("other.laz"), NULL);
    laz_write_check(ctx, test_path("other.laz"), test_path("other.las"));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 7};
    static const uint8_t formats[] = {3, 8};
    for (size_t f = 0; f < sizeof formats; f++) {
        laz_write_make(test_path("threads.las"), formats[f], 420001);
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t += test_watched(2, 1)) {
            mote_context *ctx = test_context(threads[t]);
            mote_cloud *cloud = read_ok(ctx, test_path("threads.las"));
            write_ok(ctx, cloud, test_path(t == 0 ? "one.laz" : "more.laz"), NULL);
            mote_cloud_destroy(cloud);
            if (t > 0) assert_same_file(test_path("one.laz"), test_path("more.laz"));
            if (t == 0) laz_write_check(ctx, test_path("one.laz"), test_path("threads.las"));
            mote_context_destroy(ctx);
        }
    }
}

/* ---- real files */

/* Calls check for each file of a folder of the real data whose name ends in ending; returns how many. */
static int for_each_file(const char *folder, const char *ending, void (*check)(const char *path)) {
    char folder_path[4096];
    snprintf(folder_path, sizeof folder_path, "%s", test_data(folder));
    DIR *entries = opendir(folder_path);
    int files = 0;
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[4400];
        const size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ending) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder_path, entry->d_name);
        files++;
        struct stat info;
        if (stat(path, &info) == 0 && (uint64_t)info.st_size <= test_extent(400000, UINT64_MAX)) check(path);
    }
    closedir(entries);
    return files;
}

/* file → LAS → LAZ → LAS, where the first and the last LAS are the same. */
static void check_round_trip(const char *path) {
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = read_ok(ctx, path);
    write_ok(ctx, cloud, test_path("real.las"), NULL);
    write_ok(ctx, cloud, test_path("direct.laz"), NULL);
    mote_cloud_destroy(cloud);
    cloud = read_ok(ctx, test_path("real.las"));
    write_ok(ctx, cloud, test_path("real.laz"), NULL);
    mote_cloud_destroy(cloud);
    assert_same_file(test_path("direct.laz"), test_path("real.laz"));
    check_back(ctx, test_path("real.laz"), test_path("real.las"));
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void real_files_round_trip(void **state) {
    (void)state;
    if (test_data("las") == NULL) skip();
    assert_true(for_each_file("las", ".las", check_round_trip) > 40);
    assert_true(for_each_file("laz", ".laz", check_round_trip) > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_every_format),       cmocka_unit_test(a_file_without_points),
        cmocka_unit_test(clouds_from_elsewhere),        cmocka_unit_test(same_bytes_for_any_number_of_threads),
        cmocka_unit_test(pieces_give_the_same_file),    cmocka_unit_test(pieces_that_are_refused),
        cmocka_unit_test(wrong_numbers_of_points),      cmocka_unit_test(real_files_round_trip),
        cmocka_unit_test(every_allocation_fails_once),  cmocka_unit_test(cancel_leaves_nothing),
        cmocka_unit_test(full_disk_keeps_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
