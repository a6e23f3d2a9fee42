/* LAZ whose chunk size is 0, which means that it varies: what is read is what the same file holds that says so in the
   usual way, by every way of reading; and tables that do not have the points of the chunks. */
#include "support/laz_files.h"

#define AT_CHUNK_POINTS 12u

static uint64_t hash_of(mote_context *ctx, const mote_cloud *cloud) {
    uint64_t hash;
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash), MOTE_OK);
    return hash;
}

static const char *write_zero(const laz_made *m) {
    las_put(m->file.data + m->payload_at + AT_CHUNK_POINTS, 0, 4);
    test_write_file(test_path("zero.laz"), m->file.data, m->file.size);
    return test_path("zero.laz");
}

static void assert_records(const mote_cloud *cloud, const laz_made *m) {
    assert_int_equal(cloud->count, m->points);
    assert_memory_equal(mote_cloud_find(cloud, "x")->data, m->records, m->points * m->record_bytes);
}

static void in_pieces(mote_context *ctx, const char *path, const laz_made *m) {
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    uint64_t done = 0;
    assert_int_equal(mote_reader_open(ctx, path, NULL, &reader), MOTE_OK);
    assert_int_equal(mote_reader_count(reader), m->points);
    for (;;) {
        assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
        if (piece == NULL) break;
        assert_memory_equal(mote_cloud_find(piece, "x")->data, m->records + done * m->record_bytes,
                            piece->count * m->record_bytes);
        done += piece->count;
    }
    assert_int_equal(done, m->points);
    mote_reader_close(reader);
}

static void zero_is_varying(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 37, 2500};
    static const mote_box box = {{4900, 0, -1e9}, {5000, 1e9, 1e9}};
    for (uint32_t format = 0; format < LAS_FORMATS; format++) {
        mote_context *ctx = test_context(1 + (int)format % 2);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            laz_made m = laz_make(ctx, format, format % 3, counts[c], LAZ_VARIABLE);
            test_write_file(test_path("varying.laz"), m.file.data, m.file.size);
            const char *path = write_zero(&m);
            mote_cloud *whole = read_ok(ctx, path);
            assert_records(whole, &m);
            mote_las_facts facts;
            assert_true(mote_cloud_las_facts(whole, &facts));
            assert_int_equal(facts.chunk_points, 0); /* it varies */
            mote_cloud_destroy(whole);
            in_pieces(ctx, path, &m);
            for (int kind = 0; kind < 3; kind++) {
                mote_read_params params = mote_read_defaults();
                mote_cloud *clouds[2] = {NULL, NULL};
                params.select = kind == 0 ? "intensity" : NULL;
                params.bounds = kind == 1 ? &box : NULL;
                params.prepare_order = params.to_device = kind == 2;
                assert_int_equal(mote_cloud_read(ctx, path, &params, &clouds[0]), MOTE_OK);
                assert_int_equal(mote_cloud_read(ctx, test_path("varying.laz"), &params, &clouds[1]), MOTE_OK);
                assert_true(hash_of(ctx, clouds[0]) == hash_of(ctx, clouds[1]));
                mote_cloud_destroy(clouds[0]);
                mote_cloud_destroy(clouds[1]);
            }
            laz_free_made(&m);
        }
        mote_context_destroy(ctx);
    }
}

static mote_status read_zero(mote_context *ctx, const laz_made *m, mote_cloud **cloud) {
    *cloud = NULL;
    mote_context_clear(ctx);
    return mote_cloud_read(ctx, write_zero(m), NULL, cloud);
}

/* The table of a fixed size has no points: layered chunks say theirs, a single one has all of them, and several have
   the usual number. Otherwise nothing tells. */
static void tables_without_points(void **state) {
    (void)state;
    static const struct {
        uint32_t format;
        uint64_t points;
        uint32_t chunk_points;
        bool works;
    } cases[] = {{3, 700, 1000, true},     {3, 1000, 1000, true},    {3, 700, 100, false},     {7, 700, 1000, true},
                 {7, 700, 100, true},      {10, 701, 100, true},     {1, 0, 100, true},        {1, 120000, 50000, true},
                 {1, 100000, 50000, true}, {0, 100001, 50000, true}, {0, 120000, 40000, false}};
    mote_context *ctx = test_context(2);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        laz_made m = laz_make(ctx, cases[c].format, 0, cases[c].points, cases[c].chunk_points);
        mote_cloud *cloud = NULL;
        const mote_status status = read_zero(ctx, &m, &cloud);
        assert_int_equal(status, cases[c].works ? MOTE_OK : MOTE_ERROR_DATA);
        if (cases[c].works) {
            assert_records(cloud, &m);
            if (m.points > 0) in_pieces(ctx, test_path("zero.laz"), &m);
        }
        mote_cloud_destroy(cloud);
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* Without a table, layered chunks are found one after the other, and a single pointwise one if it ends where the table
   should start. */
static void no_table(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint32_t format = 0; format < LAS_FORMATS; format++) {
        for (uint32_t chunk_points = 100; chunk_points <= 1000; chunk_points += 900) {
            laz_made m = laz_make(ctx, format, 1, 700, chunk_points);
            mote_cloud *cloud = NULL;
            const bool works = format >= 6 || chunk_points == 1000;
            las_put(m.file.data + m.table_at, 7, 4); /* a version that nobody knows */
            assert_int_equal(read_zero(ctx, &m, &cloud), works ? MOTE_OK : MOTE_ERROR_DATA);
            if (works) assert_records(cloud, &m);
            mote_cloud_destroy(cloud);
            las_put(m.file.data + 247, 699, 8);
            assert_int_equal(read_zero(ctx, &m, &cloud), works ? MOTE_OK : MOTE_ERROR_DATA);
            if (works) assert_int_equal(cloud->count, 700); /* more than the header says */
            mote_cloud_destroy(cloud);
            laz_free_made(&m);
        }
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_is_varying),
        cmocka_unit_test(tables_without_points),
        cmocka_unit_test(no_table),
    };
    return cmocka_run_group_tests_name("laz_zero", tests, NULL, NULL);
}
