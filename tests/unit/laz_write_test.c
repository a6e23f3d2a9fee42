/* Writing LAZ, and writing in pieces: what stands in the file, the same bytes by every way, and what goes wrong. */
#define _GNU_SOURCE /* mount and umount of a tiny file system */
#include <dirent.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cloud.h"
#include "io/laz/laz.h"
#include "support/las_files.h"

#define POINTS_MOST 100000u

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

/* Writes a LAS file of a point format with two columns of extra bytes, a record before and one behind the points. */
static void make_las(const char *path, uint8_t format, uint64_t count) {
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
        const uint64_t first = i * LAZ_CHUNK_POINTS, left = facts->points - first;
        laz_chunk chunk = {.data = file->data + at, .size_bytes = entries[i].size_bytes, .records = decoded};
        chunk.points = left < LAZ_CHUNK_POINTS ? left : LAZ_CHUNK_POINTS;
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

/* The parts of a compressed file against the same points as LAS. */
static void check_laz(mote_context *ctx, const char *laz_path, const char *las_path) {
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

/* ---- pieces */

/* A cloud with the columns of another one that looks at records of its own, and holds some of its points at a time. */
typedef struct test_piece {
    mote_cloud *cloud;
    const mote_cloud *whole;
    uint8_t *records;
    uint32_t stride_bytes;
} test_piece;

static test_piece make_piece(mote_context *ctx, const mote_cloud *whole, uint64_t most) {
    const mote_column *x = mote_cloud_find(whole, "x");
    test_piece piece = {.whole = whole, .stride_bytes = x->stride_bytes};
    piece.records = malloc(most * x->stride_bytes + 1);
    assert_int_equal(mote_cloud_new(ctx, 0, &piece.cloud), MOTE_OK);
    for (uint64_t i = 0; i < whole->column_count; i++) {
        mote_column column = whole->columns[i];
        column.data = piece.records + ((const uint8_t *)column.data - (const uint8_t *)x->data);
        assert_int_equal(mote_cloud_add_view(piece.cloud, &column), MOTE_OK);
    }
    assert_int_equal(mote_cloud_copy_extras(piece.cloud, whole), MOTE_OK);
    return piece;
}

static void take_points(test_piece *piece, uint64_t first, uint64_t count) {
    const uint8_t *from = mote_cloud_find(piece->whole, "x")->data;
    memcpy(piece->records, from + first * piece->stride_bytes, count * piece->stride_bytes);
    piece->cloud->count = count;
}

static void free_piece(test_piece *piece) {
    mote_cloud_destroy(piece->cloud);
    free(piece->records);
}

/* Writes the whole in pieces of the sizes listed, up to a 0, again and again. */
static mote_status write_pieces(mote_context *ctx, const mote_cloud *whole, const char *path, const uint64_t *sizes) {
    mote_writer *writer = NULL;
    test_piece piece = make_piece(ctx, whole, POINTS_MOST);
    mote_status status = mote_writer_open(ctx, piece.cloud, whole->count, path, NULL, &writer);
    uint64_t turn = 0;
    for (uint64_t done = 0; status == MOTE_OK && done < whole->count;) {
        if (sizes[turn] == 0) turn = 0;
        const uint64_t left = whole->count - done, count = sizes[turn] < left ? sizes[turn] : left;
        take_points(&piece, done, count);
        status = mote_writer_add(writer);
        done += count;
        turn++;
    }
    if (writer != NULL) status = mote_writer_close(writer, status);
    free_piece(&piece);
    return status;
}

static void pieces_give_the_same_file(void **state) {
    (void)state;
    static const uint64_t sizes[][6] = {{50000, 0}, {30011, 0}, {100000, 0}, {1, 49999, 2, 50000, 0}, {7, 70001, 3, 0}};
    static const uint8_t formats[] = {3, 7};
    mote_context *ctx = test_context(2);
    for (size_t f = 0; f < sizeof formats; f++) {
        make_las(test_path("pieces.las"), formats[f], POINTS_MOST);
        mote_cloud *cloud = read_ok(ctx, test_path("pieces.las"));
        const uint64_t counts[] = {0, 1, 50000, 50001, POINTS_MOST};
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            cloud->count = counts[c];
            write_ok(ctx, cloud, test_path("whole.laz"), NULL);
            write_ok(ctx, cloud, test_path("whole.las"), NULL);
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                assert_int_equal(write_pieces(ctx, cloud, test_path("part.laz"), sizes[s]), MOTE_OK);
                assert_same_file(test_path("whole.laz"), test_path("part.laz"));
                assert_int_equal(write_pieces(ctx, cloud, test_path("part.las"), sizes[s]), MOTE_OK);
                assert_same_file(test_path("whole.las"), test_path("part.las"));
            }
        }
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* How many entries of the test folder start with name. */
static int count_entries(const char *name) {
    int found = 0;
    DIR *entries = opendir(test_folder());
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        found += strncmp(entry->d_name, name, strlen(name)) == 0;
    }
    closedir(entries);
    return found;
}

static void assert_message(mote_context *ctx, const char *part) {
    if (strstr(mote_context_message(ctx), part) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", mote_context_message(ctx), part);
    }
    mote_context_clear(ctx);
}

static void pieces_that_are_refused(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_writer *writer = NULL;
    make_las(test_path("refused_source.las"), 7, 100);
    mote_cloud *cloud = read_ok(ctx, test_path("refused_source.las"));
    mote_write_params params = mote_write_defaults();
    assert_int_equal(mote_writer_open(ctx, cloud, 100, test_path("refused.ply"), NULL, &writer),
                     MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "only .las and .laz");
    params.las_format = 3;
    assert_int_equal(mote_writer_open(ctx, cloud, 100, test_path("refused.laz"), &params, &writer),
                     MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "in pieces");
    params = mote_write_defaults();
    params.las_version_minor = 3;
    assert_int_equal(mote_writer_open(ctx, cloud, 100, test_path("refused.laz"), &params, &writer),
                     MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "in pieces");
    mote_cloud *tiny = tiny_cloud(ctx);
    tiny->las.present = false;
    assert_int_equal(mote_writer_open(ctx, tiny, 10, test_path("refused.las"), NULL, &writer), MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "in pieces");
    mote_cloud_destroy(tiny);
    const mote_column_spec angle = {"scan_angle_rank", MOTE_INT8, 0, 0};
    assert_int_equal(mote_cloud_add_column(cloud, &angle), MOTE_OK);
    assert_int_equal(mote_writer_open(ctx, cloud, 100, test_path("refused.las"), NULL, &writer),
                     MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "in pieces");
    assert_null(writer);
    assert_int_equal(count_entries("refused."), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void wrong_numbers_of_points(void **state) {
    (void)state;
    static const char *const names[] = {"number.las", "number.laz"};
    mote_context *ctx = test_context(2);
    make_las(test_path("numbers.las"), 1, 60000);
    mote_cloud *cloud = read_ok(ctx, test_path("numbers.las"));
    for (int k = 0; k < 2; k++) {
        mote_writer *writer = NULL;
        assert_int_equal(mote_writer_open(ctx, cloud, 60001, test_path(names[k]), NULL, &writer), MOTE_OK);
        assert_int_equal(mote_writer_add(writer), MOTE_OK);
        assert_int_equal(mote_writer_close(writer, MOTE_OK), MOTE_ERROR_ARGUMENT);
        assert_message(ctx, "60000 points of 60001");
        assert_int_equal(mote_writer_open(ctx, cloud, 100000, test_path(names[k]), NULL, &writer), MOTE_OK);
        assert_int_equal(mote_writer_add(writer), MOTE_OK);
        assert_int_equal(mote_writer_add(writer), MOTE_ERROR_ARGUMENT);
        assert_message(ctx, "more points");
        assert_int_equal(mote_writer_close(writer, MOTE_OK), MOTE_ERROR_ARGUMENT);
        mote_context_clear(ctx);
        assert_int_equal(mote_writer_open(ctx, cloud, 60000, test_path(names[k]), NULL, &writer), MOTE_OK);
        assert_int_equal(mote_writer_add(writer), MOTE_OK);
        assert_int_equal(mote_writer_close(writer, MOTE_CANCELLED), MOTE_CANCELLED);
    }
    assert_int_equal(count_entries("number."), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- what stands in the file */

static void chunks_of_every_format(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 49999, 50000, 50001, POINTS_MOST};
    mote_context *ctx = test_context(2);
    for (uint8_t format = 0; format < LAS_FORMATS; format++) {
        make_las(test_path("source.las"), format, POINTS_MOST);
        mote_cloud *cloud = read_ok(ctx, test_path("source.las"));
        assert_int_equal(cloud->las.format, format);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            if (counts[c] > 2 && format % 3 == 2) continue; /* the long ones of every kind, not of every format */
            cloud->count = counts[c];
            write_ok(ctx, cloud, test_path("chunks.las"), NULL);
            write_ok(ctx, cloud, test_path("chunks.laz"), NULL);
            check_laz(ctx, test_path("chunks.laz"), test_path("chunks.las"));
            check_back(ctx, test_path("chunks.laz"), test_path("chunks.las"));
        }
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* As LASzip writes a file without points. */
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
    check_laz(ctx, test_path("TINY.LAZ"), test_path("tiny.las"));
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
    check_laz(ctx, test_path("other.laz"), test_path("other.las"));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 7};
    static const uint8_t formats[] = {3, 8};
    for (size_t f = 0; f < sizeof formats; f++) {
        make_las(test_path("threads.las"), formats[f], 420001);
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            mote_context *ctx = test_context(threads[t]);
            mote_cloud *cloud = read_ok(ctx, test_path("threads.las"));
            write_ok(ctx, cloud, test_path(t == 0 ? "one.laz" : "more.laz"), NULL);
            mote_cloud_destroy(cloud);
            if (t > 0) assert_same_file(test_path("one.laz"), test_path("more.laz"));
            if (t == 0) check_laz(ctx, test_path("one.laz"), test_path("threads.las"));
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

/* ---- memory, cancel, disk */

static void every_allocation_fails_once(void **state) {
    (void)state;
    static const uint64_t sizes[] = {7000, 0};
    make_las(test_path("memory.las"), 6, 20000);
    for (int pieces = 0; pieces < 2; pieces++) {
        bool done = false;
        for (long n = 2; !done; n++) {
            test_allocator allocator = {.fail_at = n};
            mote_context *ctx = test_context_failing(&allocator, 2);
            const char *out = test_path("failing.laz");
            mote_cloud *cloud = NULL;
            unlink(out);
            mote_status status = mote_cloud_read(ctx, test_path("memory.las"), NULL, &cloud);
            if (status == MOTE_OK && pieces == 0) status = mote_cloud_write(ctx, cloud, out, NULL);
            if (status == MOTE_OK && pieces == 1) {
                mote_writer *writer = NULL;
                status = mote_writer_open(ctx, cloud, cloud->count, out, NULL, &writer);
                if (status == MOTE_OK) status = mote_writer_close(writer, mote_writer_add(writer));
            }
            assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
            assert_int_equal(count_entries("failing.laz"), status == MOTE_OK);
            done = allocator.calls < n;
            assert_int_equal(done, status == MOTE_OK);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
            assert_int_equal(allocator.open, 0);
            assert_true(n < 1000);
        }
        mote_context *ctx = test_context(1);
        check_laz(ctx, test_path("failing.laz"), test_path("memory.las"));
        mote_cloud *cloud = read_ok(ctx, test_path("memory.las"));
        assert_int_equal(write_pieces(ctx, cloud, test_path("good.laz"), sizes), MOTE_OK);
        assert_same_file(test_path("good.laz"), test_path("failing.laz"));
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static bool stop_at_zero(void *user, double done, const char *stage) {
    (void)stage;
    assert_true(done >= 0 && done <= 1);
    return (*(int *)user)-- > 0;
}

static mote_context *stopping_context(int *left) {
    mote_context_params params = mote_context_defaults();
    params.threads = 2;
    params.progress = stop_at_zero;
    params.progress_user = left;
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

static void cancel_leaves_nothing(void **state) {
    (void)state;
    static const uint64_t sizes[] = {70000, 0};
    make_las(test_path("stop.las"), 3, 400000);
    for (int pieces = 0; pieces < 2; pieces++) {
        bool finished = false;
        int calls = 0;
        for (; !finished; calls++) {
            int left = calls;
            const char *out = test_path("cancel.laz");
            unlink(out);
            mote_context *ctx = stopping_context(&left);
            mote_cloud *cloud = read_ok(ctx, test_path("stop.las"));
            const mote_status status =
                pieces == 0 ? mote_cloud_write(ctx, cloud, out, NULL) : write_pieces(ctx, cloud, out, sizes);
            finished = status == MOTE_OK;
            if (!finished) assert_int_equal(status, MOTE_CANCELLED);
            if (!finished) assert_int_equal(left, -1); /* nobody asks again after a no */
            assert_int_equal(count_entries("cancel.laz"), finished);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        assert_true(calls >= 2);
    }
}

static void full_disk_keeps_the_old_file(void **state) {
    (void)state;
    char folder[512], path[600];
    snprintf(folder, sizeof folder, "%s/tiny_disk", test_folder());
    assert_int_equal(mkdir(folder, 0700), 0);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=256k") != 0) {
        print_message("[  SKIPPED ] no right to mount a small file system\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/out.laz", folder);
    test_write_file(path, "old", 3);
    make_las(test_path("disk.las"), 1, 200000);
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = read_ok(ctx, test_path("disk.las"));
    const mote_status status = mote_cloud_write(ctx, cloud, path, NULL);
    const file_bytes old = load(path);
    DIR *entries = opendir(folder);
    int files = 0;
    while (readdir(entries) != NULL) files++;
    closedir(entries);
    umount(folder);
    assert_int_equal(status, MOTE_ERROR_DISK);
    assert_non_null(strstr(mote_context_message(ctx), path));
    assert_int_equal(files, 3); /* with . and .. */
    assert_int_equal(old.size, 3);
    assert_memory_equal(old.data, "old", 3);
    free(old.data);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
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
