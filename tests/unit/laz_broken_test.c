/* LAZ: malformed files, claims without substance, failing memory, cancel. */
#include "unit/laz_broken_test.h"

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

mote_context *broken_context(listener *l, int threads) {
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

mote_status broken_read(mote_context *ctx, listener *l, const uint8_t *data, size_t size, bool salvage,
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

bool broken_same_records(const mote_cloud *cloud, uint64_t at, const laz_made *m, uint64_t first, uint64_t count) {
    const uint8_t *records = mote_cloud_find(cloud, "x")->data;
    return at + count <= cloud->count &&
           memcmp(records + at * m->record_bytes, m->records + first * m->record_bytes, count * m->record_bytes) == 0;
}

static bool all_records(const mote_cloud *cloud, const laz_made *m) {
    return cloud->count == m->points && broken_same_records(cloud, 0, m, 0, m->points);
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
    const mote_status status = broken_read(ctx, l, data, m->file.size, false, &cloud);
    const char *message = p->works ? l->warnings : mote_context_message(ctx);
    const bool silent = p->says[0] != '\0' || message[0] == '\0';
    if ((status == MOTE_OK) != p->works || strstr(message, p->says) == NULL || !silent) {
        fail_msg("format %u, patch at %llu of %llu: %s, \"%s\", lacks \"%s\"", m->format, (unsigned long long)p->at,
                 (unsigned long long)p->value, mote_status_name(status), message, p->says);
    }
    if (p->works) {
        assert_int_equal(cloud->count, points);
        assert_true(broken_same_records(cloud, 0, m, 0, points));
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
    mote_context *ctx = broken_context(&l, 2);
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
            {at + 12, 4, 0, layered,
             layered ? "does not have the points of chunks of varying size" : "without it chunks"},
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
    mote_context *ctx = broken_context(&l, 2);
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
        assert_int_equal(broken_read(ctx, &l, streamed, m.file.size + 8, false, &cloud), MOTE_OK);
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
    mote_context *ctx = broken_context(&l, 1);
    static const uint32_t formats[] = {2, 10};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 1, 200, 60);
        for (size_t size = 0; size < m.file.size; size += test_extent(5, 1)) {
            mote_cloud *cloud = NULL;
            const mote_status status = broken_read(ctx, &l, m.file.data, size, false, &cloud);
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
    mote_context *ctx = broken_context(&l, 1);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 1, 40, 15);
        for (size_t at = 0; at < m.file.size; at += test_extent(3, 1)) {
            const uint8_t before = m.file.data[at];
            for (size_t v = 0; v < 4; v++) {
                if (test_extent((at + v) % 2, 0) != 0) continue;
                mote_cloud *cloud = NULL;
                m.file.data[at] = values[v % 2];
                mote_context_memory_peak_reset(ctx);
                broken_read(ctx, &l, m.file.data, m.file.size, v >= 2, &cloud);
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
    mote_context *ctx = broken_context(&l, 2);
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
        assert_int_equal(broken_read(ctx, &l, all.file.data, all.file.size, false, &cloud), MOTE_OK);
        assert_true(all_records(cloud, &all));
        mote_cloud_destroy(cloud);
        mote_context_memory_peak_reset(ctx);
        all.file.data[m.points_at + 8 + 9 * chunk_bytes + chunk_bytes / 2] ^= 0x55;
        all.file.data[m.points_at + 8 + 9 * chunk_bytes + chunk_bytes / 2 + 1] ^= 0x55;
        assert_int_equal(broken_read(ctx, &l, all.file.data, all.file.size, false, &cloud), MOTE_ERROR_DATA);
        assert_non_null(strstr(mote_context_message(ctx), "chunk 10 of 12"));
        assert_true(mote_context_memory_peak_bytes(ctx) < all.points * m.record_bytes);
        assert_int_equal(broken_read(ctx, &l, all.file.data, all.file.size, true, &cloud), MOTE_OK);
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
    mote_context *ctx = broken_context(&l, 2);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        for (size_t c = 0; c < sizeof claims / sizeof claims[0]; c++) {
            for (uint32_t chunk_points = UINT32_MAX - 1; chunk_points > 0; chunk_points++) {
                laz_made m = laz_make(ctx, formats[f], 0, 20, 20);
                mote_cloud *cloud = NULL;
                las_put(m.file.data + m.payload_at + 12, chunk_points, 4);
                las_put(m.file.data + 247, claims[c], 8);
                mote_context_memory_peak_reset(ctx);
                assert_int_equal(broken_read(ctx, &l, m.file.data, m.file.size, false, &cloud), MOTE_ERROR_DATA);
                assert_null(cloud);
                assert_non_null(strstr(mote_context_message(ctx), "made.laz: offset "));
                assert_true(mote_context_memory_peak_bytes(ctx) < 20u << 20);
                laz_free_made(&m);
            }
        }
    }
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
    mote_context *ctx = broken_context(&l, 1);
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
