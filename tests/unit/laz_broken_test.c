/* LAZ: malformed files, salvage, claims without substance, failing memory, cancel. */
#include "support/laz_files.h"

typedef struct listener {
    char warnings[4096];
    int calls_left; /* of progress, before it cancels; -1: never */
} listener;

static void keep_warning(void *user, mote_log_level level, const char *message) {
    listener *l = user;
    (void)level;
    const size_t length = strlen(l->warnings);
    snprintf(l->warnings + length, sizeof l->warnings - length, "%s\n", message);
}

static bool count_down(void *user, double done, const char *stage) {
    listener *l = user;
    (void)done, (void)stage;
    return l->calls_left < 0 || l->calls_left-- > 0;
}

static mote_context *listening_context(listener *l, int threads) {
    mote_context_params params = mote_context_defaults();
    params.threads = threads;
    params.log = keep_warning;
    params.progress = count_down;
    params.log_user = params.progress_user = l;
    l->warnings[0] = '\0';
    l->calls_left = -1;
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* Reads bytes as a file of exactly that size. */
static mote_status read_bytes(mote_context *ctx, listener *l, const uint8_t *data, size_t size, bool salvage,
                              mote_cloud **cloud) {
    mote_read_params params = mote_read_defaults();
    uint8_t *exact = malloc(size > 0 ? size : 1);
    memcpy(exact, data, size);
    mote_input input = {.path = "made.laz", .data = exact, .size_bytes = size};
    params.salvage = salvage;
    l->warnings[0] = '\0';
    mote_context_clear(ctx);
    const mote_status status = mote_las_read(ctx, &input, &params, cloud);
    if (*cloud != NULL) { /* its records look at the bytes */
        uint64_t hash;
        assert_int_equal(mote_cloud_hash(ctx, *cloud, &hash), MOTE_OK);
        (*cloud)->record_count = 0;
    }
    free(exact);
    return status;
}

/* Whether the cloud has exactly these records from its point at on. */
static bool same_records(const mote_cloud *cloud, uint64_t at, const laz_made *m, uint64_t first, uint64_t count) {
    const uint8_t *records = mote_cloud_find(cloud, "x")->data;
    return at + count <= cloud->count &&
           memcmp(records + at * m->record_bytes, m->records + first * m->record_bytes, count * m->record_bytes) == 0;
}

static bool all_records(const mote_cloud *cloud, const laz_made *m) {
    return cloud->count == m->points && same_records(cloud, 0, m, 0, m->points);
}

/* One change of a made file. */
typedef struct patch {
    uint64_t at;
    uint32_t size;
    uint64_t value;
    bool works;
    const char *says; /* part of the error, or of the warnings where it works; "" and works: there must be none */
} patch;

static void check_patch(mote_context *ctx, listener *l, const laz_made *m, const patch *p, uint64_t points) {
    uint8_t *data = malloc(m->file.size);
    memcpy(data, m->file.data, m->file.size);
    las_put(data + p->at, p->value, p->size);
    mote_cloud *cloud = NULL;
    const mote_status status = read_bytes(ctx, l, data, m->file.size, false, &cloud);
    const char *message = p->works ? l->warnings : mote_context_message(ctx);
    const bool silent = p->says[0] != '\0' || message[0] == '\0';
    if ((status == MOTE_OK) != p->works || strstr(message, p->says) == NULL || !silent) {
        fail_msg("format %u, patch at %llu of %llu: %s, \"%s\", lacks \"%s\"", m->format, (unsigned long long)p->at,
                 (unsigned long long)p->value, mote_status_name(status), message, p->says);
    }
    if (p->works) {
        assert_int_equal(cloud->count, points);
        assert_true(same_records(cloud, 0, m, 0, points));
    } else {
        assert_non_null(strstr(message, "made.laz: offset "));
    }
    mote_cloud_destroy(cloud);
    free(data);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
}

static void patched_headers(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = listening_context(&l, 2);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 0, 1000, 300);
        const bool layered = formats[f] >= 6;
        const uint64_t full = layered ? 1000 : 900; /* points whose number the chunks tell */
        const uint32_t at = m.payload_at;
        const patch patches[] = {
            {104, 1, (uint64_t)m.format | 0x40, true, ""},
            {104, 1, 0x80 | 11, false, "point format 11"},
            {105, 2, m.record_bytes + 1u, false, "items"},
            {LAS_HEADER_BYTES_14 + 2, 1, 'x', false, "the record that says how (laszip encoded, 22204) is missing"},
            {LAS_HEADER_BYTES_14 + 18, 2, 22205, false, "is missing"},
            {LAS_HEADER_BYTES_14 + 20, 2, 10, false, "has 10 bytes, it needs 34"},
            {LAS_HEADER_BYTES_14 + 20, 2, 34, false, "too short for"},
            {at, 2, 9, false, "compressor 9"},
            {at, 2, 0, false, "compressor 0"},
            {at, 2, 1, false, layered ? "not for point format" : "compressor 1 has no chunks"},
            {at, 2, layered ? 2 : 3, false, "not for point format"},
            {at + 2, 2, 1, false, "coder 1"},
            {at + 12, 4, 0, false, "chunks of no points"},
            {at + 12, 4, 1, false, "the header says 1000 points, the chunks"},
            {at + 12, 4, 299, false, layered ? "the header says 1000 points" : "chunk 1 of 4"},
            {at + 12, 4, 301, false, "chunk 1 of 4"},
            {at + 32, 2, 0, false, "0 items"},
            {at + 32, 2, 65535, false, "65535 items"},
            {at + 34, 2, 99, false, "of type 99"},
            {at + 36, 2, 0, false, "0 bytes"},
            {at + 38, 2, 9, false, "version 9"},
            {247, 8, 1001, false, layered ? "the header says 1001 points" : "chunk 4 of 4, point 1001"},
            {247, 8, 1200, false, layered ? "the header says 1200 points" : "chunk 4 of 4"},
            {247, 8, 1201, false, "the header says 1201 points, the chunks in the file hold"},
            {247, 8, 0xFFFFFFFF, false, "the header says 4294967295 points"},
            {247, 8, 1ull << 63, false, "the header says 9223372036854775808 points"},
            {247, 8, UINT64_MAX, false, "the header says 18446744073709551615 points"},
            {247, 8, 999, layered, layered ? "the header says 999 points" : "chunk 4 of 4, point"},
            {247, 8, 900, true, layered ? "the header says 900 points" : "nothing says how many points the last chunk"},
            {247, 8, 1, true, "the header says 1 points"},
            {247, 8, 0, true, "was its writer interrupted?"},
        };
        for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
            check_patch(ctx, &l, &m, &patches[i], patches[i].says[0] == '\0' ? 1000 : full);
        }
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

static void chunk_tables(void **state) {
    (void)state;
    static const struct { uint32_t format, chunk_points; } kinds[] = {{1, 300}, {8, 300}, {6, LAZ_VARIABLE}};
    listener l;
    mote_context *ctx = listening_context(&l, 2);
    for (size_t k = 0; k < 3; k++) {
        laz_made m = laz_make(ctx, kinds[k].format, 2, 1000, kinds[k].chunk_points);
        const uint64_t at = m.points_at, table = m.table_at;
        const patch patches[] = {
            {at, 8, UINT64_MAX, true, "the chunks are looked for"}, /* nothing at the end */
            {at, 8, m.file.size, true, "behind the end of the file"},
            {at, 8, m.file.size - 7, true, "behind the end of the file"},
            {at, 8, INT64_MAX, true, "behind the end of the file"},
            {at, 8, 1ull << 63, true, "outside of the point data"},
            {at, 8, 0, true, "outside of the point data"},
            {at, 8, 100, true, "outside of the point data"},
            {at, 8, at, true, "outside of the point data"},
            {at, 8, at + 8, true, "the chunks are looked for"},
            {at, 8, table - 1, true, "the chunks are looked for"},
            {at, 8, table + 1, true, "the chunks are looked for"},
            {table, 4, 7, true, "the version of the chunk table is unknown"},
            {table + 4, 4, 0, true, "the chunk table is empty"},
            {table + 4, 4, m.chunks - 1, true, "do not fill the point data"},
            {table + 4, 4, m.chunks + 1, true, "the chunks are looked for"},
            {table + 4, 4, UINT32_MAX, true, "lists more chunks than there is room for"},
            {table + 8, 4, 0, true, "the chunks are looked for"},
            {table + 8, 4, 0xFFFFFFFF, true, "the chunks are looked for"},
        };
        for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) { check_patch(ctx, &l, &m, &patches[i], 1000); }
        /* A writer that could not go back put the offset into the last bytes. */
        uint8_t *streamed = malloc(m.file.size + 8);
        memcpy(streamed, m.file.data, m.file.size);
        las_put(streamed + at, UINT64_MAX, 8);
        las_put(streamed + m.file.size, table, 8);
        mote_cloud *cloud = NULL;
        assert_int_equal(read_bytes(ctx, &l, streamed, m.file.size + 8, false, &cloud), MOTE_OK);
        assert_string_equal(l.warnings, "");
        assert_true(all_records(cloud, &m));
        mote_cloud_destroy(cloud);
        free(streamed);
        laz_free_made(&m);
    }
    /* Pointwise chunks of varying size cannot be found without it. */
    laz_made m = laz_make(ctx, 3, 0, 1000, LAZ_VARIABLE);
    const patch gone = {m.points_at, 8, 0, false, "without it chunks of varying size cannot be found"};
    check_patch(ctx, &l, &m, &gone, 0);
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

/* The table may be missing, the points may not. */
static void cut_anywhere(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = listening_context(&l, 1);
    static const uint32_t formats[] = {2, 10};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 1, 200, 60);
        for (size_t size = 0; size < m.file.size; size++) {
            mote_cloud *cloud = NULL;
            const mote_status status = read_bytes(ctx, &l, m.file.data, size, false, &cloud);
            assert_int_equal(status, size < m.table_at ? MOTE_ERROR_DATA : MOTE_OK);
            if (status != MOTE_OK) assert_non_null(strstr(mote_context_message(ctx), "made.laz: offset "));
            if (status == MOTE_OK) assert_true(all_records(cloud, &m));
            if (status == MOTE_OK) assert_string_not_equal(l.warnings, "");
            mote_cloud_destroy(cloud);
        }
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* Each byte set to a few values: anything but a crash, a leak, or memory without reason. */
static void any_byte_wrong(void **state) {
    (void)state;
    static const uint8_t values[] = {0x00, 0xFF};
    listener l;
    mote_context *ctx = listening_context(&l, 1);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 1, 40, 15);
        for (size_t at = 0; at < m.file.size; at++) {
            const uint8_t before = m.file.data[at];
            for (size_t v = 0; v < 4; v++) {
                if (test_extent((at + v) % 2, 0) != 0) continue;
                mote_cloud *cloud = NULL;
                m.file.data[at] = values[v % 2];
                mote_context_memory_peak_reset(ctx);
                read_bytes(ctx, &l, m.file.data, m.file.size, v >= 2, &cloud);
                mote_cloud_destroy(cloud);
                assert_true(mote_context_memory_peak_bytes(ctx) < 40u << 20);
                assert_int_equal(mote_context_memory_bytes(ctx), 0);
            }
            m.file.data[at] = before;
        }
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* ---- claims and memory */

/* Points that hardly take a byte each are as good as any, but must be there before memory is taken. */
static void equal_points(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = listening_context(&l, 2);
    static const uint32_t formats[] = {0, 6};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 0, 1, 50000), all = {.points = 600000, .format = formats[f]};
        all.record_bytes = m.record_bytes;
        all.records = malloc(all.points * m.record_bytes);
        for (uint64_t i = 0; i < all.points; i++) {
            memcpy(all.records + i * m.record_bytes, m.records, m.record_bytes);
        }
        laz_schema schema;
        laz_encoder *encoder = NULL;
        const uint8_t *coded;
        laz_entry entries[12];
        mote_laz_schema_make(formats[f], m.record_bytes, 50000, &schema);
        assert_int_equal(mote_laz_encoder_make(ctx, &schema, &encoder), MOTE_OK);
        assert_int_equal(mote_laz_encode(encoder, all.records, 50000, &coded, &entries[0].size_bytes), MOTE_OK);
        const uint64_t chunk_bytes = entries[0].size_bytes;
        all.file.data = calloc(1, 65536 + 12 * chunk_bytes);
        memcpy(all.file.data, m.file.data, m.points_at);
        uint64_t at = m.points_at + 8;
        for (int c = 0; c < 12; c++, at += chunk_bytes) {
            memcpy(all.file.data + at, coded, chunk_bytes);
            entries[c] = entries[0];
        }
        mote_laz_encoder_free(ctx, encoder);
        las_put(all.file.data + m.points_at, at, 8);
        las_put(all.file.data + at + 4, 12, 4);
        all.file.size = at + 8 + mote_laz_table_encode(entries, 12, false, all.file.data + at + 8);
        las_put(all.file.data + 247, all.points, 8);
        mote_cloud *cloud = NULL;
        assert_true(all.points * m.record_bytes > (1u << 20) + 128 * all.file.size); /* it must be proven */
        assert_int_equal(read_bytes(ctx, &l, all.file.data, all.file.size, false, &cloud), MOTE_OK);
        assert_true(all_records(cloud, &all));
        mote_cloud_destroy(cloud);
        mote_context_memory_peak_reset(ctx);
        all.file.data[m.points_at + 8 + 9 * chunk_bytes + chunk_bytes / 2] ^= 0x55;
        all.file.data[m.points_at + 8 + 9 * chunk_bytes + chunk_bytes / 2 + 1] ^= 0x55;
        assert_int_equal(read_bytes(ctx, &l, all.file.data, all.file.size, false, &cloud), MOTE_ERROR_DATA);
        assert_non_null(strstr(mote_context_message(ctx), "chunk 10 of 12"));
        assert_true(mote_context_memory_peak_bytes(ctx) < all.points * m.record_bytes);
        assert_int_equal(read_bytes(ctx, &l, all.file.data, all.file.size, true, &cloud), MOTE_OK);
        assert_int_equal(cloud->count, all.points - 50000);
        assert_non_null(strstr(l.warnings, "50000 points are lost with 1 damaged chunks of 12 (10)"));
        mote_cloud_destroy(cloud);
        free(all.file.data);
        free(all.records);
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

static void claims_without_points(void **state) {
    (void)state;
    static const uint64_t claims[] = {50000, 1u << 24, UINT32_MAX - 1, UINT32_MAX, 1ull << 40, 1ull << 63};
    listener l;
    mote_context *ctx = listening_context(&l, 2);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        for (size_t c = 0; c < sizeof claims / sizeof claims[0]; c++) {
            for (uint32_t chunk_points = UINT32_MAX - 1; chunk_points > 0; chunk_points++) {
                laz_made m = laz_make(ctx, formats[f], 0, 20, 20);
                mote_cloud *cloud = NULL;
                las_put(m.file.data + m.payload_at + 12, chunk_points, 4);
                las_put(m.file.data + 247, claims[c], 8);
                mote_context_memory_peak_reset(ctx);
                assert_int_equal(read_bytes(ctx, &l, m.file.data, m.file.size, false, &cloud), MOTE_ERROR_DATA);
                assert_null(cloud);
                assert_non_null(strstr(mote_context_message(ctx), "made.laz: offset "));
                assert_true(mote_context_memory_peak_bytes(ctx) < 20u << 20);
                laz_free_made(&m);
            }
        }
    }
    mote_context_destroy(ctx);
}

/* ---- salvage */

static void spoil(laz_made *m, uint32_t chunk) {
    const uint64_t from = m->chunk_at[chunk] + m->record_bytes + 4, to = m->chunk_at[chunk + 1];
    for (uint64_t at = from; at < to; at++) m->file.data[at] = 0xFF;
}

static void damaged_chunks_are_left_out(void **state) {
    (void)state;
    listener l;
    static const uint32_t formats[] = {0, 3, 5, 6, 7, 10};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (int threads = 1; threads < 4; threads += 2) {
            mote_context *ctx = listening_context(&l, threads);
            laz_made m = laz_make(ctx, formats[f], 3, 1000, 100);
            spoil(&m, 2);
            spoil(&m, 9);
            mote_cloud *cloud = NULL;
            assert_int_equal(read_bytes(ctx, &l, m.file.data, m.file.size, false, &cloud), MOTE_ERROR_DATA);
            assert_non_null(strstr(mote_context_message(ctx), "chunk 3 of 10, point 2"));
            assert_null(cloud);
            assert_int_equal(read_bytes(ctx, &l, m.file.data, m.file.size, true, &cloud), MOTE_OK);
            assert_int_equal(cloud->count, 800);
            assert_true(same_records(cloud, 0, &m, 0, 200));
            assert_true(same_records(cloud, 200, &m, 300, 600));
            assert_non_null(strstr(l.warnings, "200 points are lost with 2 damaged chunks of 10 (3, 10)"));
            mote_cloud_destroy(cloud);
            for (uint32_t c = 0; c < m.chunks; c++) spoil(&m, c);
            cloud = NULL;
            assert_int_equal(read_bytes(ctx, &l, m.file.data, m.file.size, true, &cloud), MOTE_ERROR_DATA);
            assert_non_null(strstr(mote_context_message(ctx), "nothing is left to be salvaged"));
            laz_free_made(&m);
            mote_context_destroy(ctx);
        }
    }
}

/* All whole chunks before the end, and of a chunk that is cut the points before that: in layers, those that all layers
   still have. */
static void cut_files_keep_what_is_there(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = listening_context(&l, 2);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 0, 1000, 100);
        for (uint32_t c = 1; c <= m.chunks; c++) {
            mote_cloud *cloud = NULL;
            const uint64_t bytes = m.chunk_at[c] - m.chunk_at[c - 1];
            const uint64_t most = formats[f] == 3 ? m.chunk_at[c - 1] + bytes * 3 / 4 : m.chunk_at[c] - bytes / 20;
            assert_int_equal(read_bytes(ctx, &l, m.file.data, m.chunk_at[c], true, &cloud), MOTE_OK);
            assert_int_equal(cloud->count, m.chunk_first[c]);
            assert_true(same_records(cloud, 0, &m, 0, cloud->count));
            mote_cloud_destroy(cloud);
            cloud = NULL;
            assert_int_equal(read_bytes(ctx, &l, m.file.data, most, true, &cloud), MOTE_OK);
            assert_in_range(cloud->count, m.chunk_first[c - 1] + 10, m.chunk_first[c] - 1);
            assert_true(same_records(cloud, 0, &m, 0, cloud->count));
            assert_non_null(strstr(l.warnings, "lost"));
            mote_cloud_destroy(cloud);
        }
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* Header and table were never written: count 0, offset 0. */
static void interrupted_writes(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = listening_context(&l, 2);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 0, 1000, 300);
        las_put(m.file.data + m.points_at, 0, 8);
        las_put(m.file.data + 247, 0, 8);
        for (int cut = 0; cut < 2; cut++) {
            for (int salvage = 0; salvage < 2; salvage++) {
                const uint64_t size = m.table_at - (cut ? (m.table_at - m.chunk_at[3]) / 20 : 0);
                mote_cloud *cloud = NULL;
                assert_int_equal(read_bytes(ctx, &l, m.file.data, size, salvage, &cloud), MOTE_OK);
                assert_true(same_records(cloud, 0, &m, 0, cloud->count));
                assert_non_null(strstr(l.warnings, "was its writer interrupted?"));
                if (formats[f] == 3 || (cut && !salvage)) assert_int_equal(cloud->count, 900);
                if (formats[f] == 7 && !cut) assert_int_equal(cloud->count, 1000);
                if (formats[f] == 7 && cut && salvage) assert_in_range(cloud->count, 901, 999);
                mote_cloud_destroy(cloud);
            }
        }
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

static void salvage_in_pieces(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = listening_context(&l, 1);
    laz_made m = laz_make(ctx, 3, 0, 500000, 50000);
    spoil(&m, 1);
    spoil(&m, 8);
    test_write_file(test_path("spoiled.laz"), m.file.data, m.file.size);
    mote_read_params params = mote_read_defaults();
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    assert_int_equal(mote_reader_open(ctx, test_path("spoiled.laz"), &params, &reader), MOTE_OK);
    assert_int_equal(mote_reader_next(reader, &piece), MOTE_ERROR_DATA);
    assert_non_null(strstr(mote_context_message(ctx), "chunk 2 of 10"));
    mote_reader_close(reader);
    mote_context_clear(ctx);
    params.salvage = true;
    uint64_t points = 0;
    assert_int_equal(mote_reader_open(ctx, test_path("spoiled.laz"), &params, &reader), MOTE_OK);
    do {
        assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
        if (piece != NULL) points += piece->count;
    } while (piece != NULL);
    mote_reader_close(reader);
    assert_int_equal(points, 400000);
    assert_non_null(strstr(l.warnings, "100000 points are lost with 2 damaged chunks of 10 (2, 9)"));
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

/* ---- failing memory, cancel */

static void every_allocation_fails_once(void **state) {
    (void)state;
    mote_context *plain = test_context(1);
    laz_made m = laz_make(plain, 3, 3, 500, 100);
    test_write_file(test_path("memory.laz"), m.file.data, m.file.size);
    las_put(m.file.data + m.points_at, 0, 8);
    test_write_file(test_path("no_table.laz"), m.file.data, m.file.size);
    mote_context_destroy(plain);
    const mote_box box = {{0, 0, 0}, {4990, 1e9, 1e9}};
    for (int kind = 0; kind < 6; kind++) {
        bool done = false;
        for (long n = 2; !done; n++) {
            test_allocator allocator = {.fail_at = n};
            mote_context *ctx = test_context_failing(&allocator, 2);
            mote_read_params params = mote_read_defaults();
            params.select = kind % 3 == 1 ? "intensity" : NULL;
            params.bounds = kind % 3 == 2 ? &box : NULL;
            const char *path = test_path(kind < 3 ? "memory.laz" : "no_table.laz");
            mote_cloud *cloud = NULL;
            mote_reader *reader = NULL;
            const mote_cloud *piece = NULL;
            mote_status status = mote_cloud_read(ctx, path, &params, &cloud);
            if (status == MOTE_OK) status = mote_reader_open(ctx, path, &params, &reader);
            if (status == MOTE_OK) status = mote_reader_next(reader, &piece);
            assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
            done = allocator.calls < n;
            assert_int_equal(done, status == MOTE_OK);
            mote_reader_close(reader);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
            assert_int_equal(allocator.open, 0);
            assert_true(n < 10000);
        }
    }
    laz_free_made(&m);
}

static void cancel_at_each_step(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = listening_context(&l, 1);
    laz_made m = laz_make(ctx, 1, 0, 2000, 100);
    bool finished = false;
    for (int calls = 0; !finished; calls++) {
        mote_cloud *cloud = NULL;
        l.calls_left = calls;
        mote_context_clear(ctx);
        test_write_file(test_path("cancel.laz"), m.file.data, m.file.size);
        const mote_status status = mote_cloud_read(ctx, test_path("cancel.laz"), NULL, &cloud);
        finished = status == MOTE_OK;
        if (!finished) assert_int_equal(status, MOTE_CANCELLED);
        assert_int_equal(cloud != NULL, finished);
        if (finished) assert_true(calls >= 10);
        mote_cloud_destroy(cloud);
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
    }
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

/* ---- the folder of broken files */

typedef struct broken_case {
    const char *name;
    const char *says; /* part of the error; NULL: works, and then with a warning but where warned is false */
    uint64_t count;
    const char *like; /* file with the same points, where it works */
} broken_case;

static void real_broken_files(void **state) {
    (void)state;
    static const char seed[] = "laz/point-color-time.laz";
    static const broken_case cases[] = {
        {"bad-ellipsoid.copc.laz", "offset 96", 0, NULL},
        {"ign_interrupted_write_nok.laz", NULL, 0, NULL},
        {"laszip_broken_coder.laz", "coder 15", 0, NULL},
        {"laszip_broken_compressor.laz", "compressor 16", 0, NULL},
        {"laszip_broken_size.laz", "version 6", 0, NULL},
        {"laszip_broken_type.laz", "type 22", 0, NULL},
        {"laszip_broken_version.laz", "version 6", 0, NULL},
        {"gen/c01_ct_minus1.laz", NULL, 1065, seed},
        {"gen/c03_ct_in_header.laz", NULL, 1065, seed},
        {"gen/c05_ct_count_max.laz", NULL, 1065, seed},
        {"gen/c07_ct_cut.laz", NULL, 1065, seed},
        {"gen/c09_ct_count_0.laz", NULL, 1065, seed},
        {"gen/d01_half.laz", "offset 9916: chunk 1 of 1", 0, NULL},
        {"gen/d03_ff.laz", "chunk 1 of 1", 0, NULL},
        {"gen/d11_flip.laz", "chunk 1 of 1", 0, NULL},
        {"gen/d13_flip.laz", "chunk 1 of 1", 0, NULL},
        {"gen/d15_flip.laz", "chunk 1 of 1", 0, NULL},
        {"gen/h10_fmt_63.laz", "point format 63", 0, NULL},
        {"gen/h16_count64_2e63.laz", "the header says 9223372036854775808 points", 0, NULL},
        {"gen/v04_laszip_vlr_len_10.laz", "LASzip record has 10 bytes", 0, NULL},
        {"gen/v06_evlr_count_max.laz", "extended record", 0, NULL},
        {"gen/v08_eb_type_200.laz", "unknown type 200", 0, NULL},
        {"gen/v10_eb_opaque_255.laz", "need 255 bytes", 0, NULL},
        {"gen/y02_layer_size_max.laz", "chunk 1 of 4", 0, NULL},
        {"gen/y04_layers_0.laz", "chunk 1 of 4", 0, NULL},
        {"gen/y10_flip.laz", "chunk ", 0, NULL},
        {"gen/y12_flip.laz", "chunk ", 0, NULL},
        {"gen/y14_flip.laz", "chunk ", 0, NULL},
        {"gen/z01_compressor_9.laz", "compressor 9", 0, NULL},
        {"gen/z03_chunk_0.laz", "chunks of no points", 0, NULL},
        {"gen/z05_chunk_variable.laz", "chunks of varying size", 0, NULL},
        {"gen/z07_items_65535.laz", "65535 items", 0, NULL},
        {"gen/z09_item_size_0.laz", "0 bytes", 0, NULL},
        {"gen/z11_item_ver_9.laz", "version 9", 0, NULL},
        {"gen/z13_pointwise_flag.laz", "compressor 1 has no chunks", 0, NULL},
    };
    if (test_data("broken/no-points.las") == NULL) skip();
    listener l;
    mote_context *ctx = listening_context(&l, 2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[256];
        snprintf(name, sizeof name, "broken/%s", cases[i].name);
        const char *path = test_data(name);
        mote_cloud *cloud = NULL;
        mote_context_clear(ctx);
        l.warnings[0] = '\0';
        mote_context_memory_peak_reset(ctx);
        const mote_status status = mote_cloud_read(ctx, path, NULL, &cloud);
        assert_true(mote_context_memory_peak_bytes(ctx) < 64u << 20);
        const char *message = mote_context_message(ctx);
        if ((status == MOTE_OK) != (cases[i].says == NULL) ||
            (status != MOTE_OK && (strstr(message, cases[i].says) == NULL || strstr(message, path) == NULL))) {
            print_message("%s: \"%s\" lacks \"%s\"\n", name, message, cases[i].says);
            fail();
        }
        if (status != MOTE_OK) continue;
        assert_int_equal(cloud->count, cases[i].count);
        assert_string_not_equal(l.warnings, "");
        if (cases[i].like != NULL) {
            uint64_t hashes[2];
            mote_cloud *like = read_ok(ctx, test_data(cases[i].like));
            assert_int_equal(mote_cloud_hash(ctx, cloud, &hashes[0]), MOTE_OK);
            assert_int_equal(mote_cloud_hash(ctx, like, &hashes[1]), MOTE_OK);
            assert_int_equal(hashes[0], hashes[1]);
            mote_cloud_destroy(like);
        }
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patched_headers),
        cmocka_unit_test(chunk_tables),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(any_byte_wrong),
        cmocka_unit_test(equal_points),
        cmocka_unit_test(claims_without_points),
        cmocka_unit_test(damaged_chunks_are_left_out),
        cmocka_unit_test(cut_files_keep_what_is_there),
        cmocka_unit_test(interrupted_writes),
        cmocka_unit_test(salvage_in_pieces),
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(cancel_at_each_step),
        cmocka_unit_test(real_broken_files),
    };
    return cmocka_run_group_tests_name("laz_broken", tests, NULL, NULL);
}
